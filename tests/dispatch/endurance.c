/* What must hold however long a program runs: bounded stack, constant memory in a training loop, and a clean end
 * whichever request for memory is refused. */
#include "tests/support.h"

#include <pthread.h>

/* ---- a long chain on a small stack ------------------------------------------------------------------------------- */

enum { CHAIN = 1000000, STACK = 256 * 1024 };

/* x + 1 + 1 + ...; by multiplication with 1 the tape also saves an operand per step. */
static void chain(lam_ctx *here, lam_tensor *const in[], lam_tensor *out[], void *env) {
    (void)here;
    out[0] = lam_mul(in[0], in[0]);
    for (int i = 0; i < *(int *)env; i++) lam_add_(out[0], in[1]);
}

static void *differentiate_chain(void *env) {
    int steps = CHAIN;
    lam_ctx *mine = lam_ctx_new(NULL);
    lam_fn *f =
        lam_fn_new(mine, &(lam_fn_options){.name = "chain", .body = chain, .inputs = 2, .outputs = 1, .env = &steps});
    lam_tensor *out[3];
    lam_fn *g = lam_value_and_grad(f, &(lam_grad_options){.argnums = LAM_AXES(0, 1)});
    lam_call(g, LAM_LIST(lam_scalar(mine, 3), lam_scalar(mine, 1)), out, 3);
    double *results = env;
    for (int i = 0; i < 3; i++) results[i] = lam_item(out[i]);
    lam_ctx_free(mine);
    return NULL;
}

/* x^2 + n y at x = 3, y = 1: value n + 9, gradients 6 and n. */
START_TEST(a_million_operations_are_differentiated_on_a_small_stack) {
    double results[3] = {0};
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    ck_assert_int_eq(pthread_attr_setstacksize(&attributes, STACK), 0);
    ck_assert_int_eq(pthread_create(&thread, &attributes, differentiate_chain, results), 0);
    pthread_join(thread, NULL);
    pthread_attr_destroy(&attributes);
    ck_assert(results[0] == CHAIN + 9.0);
    ck_assert(results[1] == 6);
    ck_assert(results[2] == CHAIN);
}
END_TEST

/* ---- a training loop --------------------------------------------------------------------------------------------- */

/* (x - 2)^2 */
BODY(loss) {
    out[0] = lam_square(lam_sub(in[0], 2.0));
}

static void train(lam_fn *g, lam_tensor *x, int steps) {
    for (int i = 0; i < steps; i++) {
        lam_scope *scope = lam_scope_begin(ctx);
        lam_assign_(x, lam_sub(x, lam_mul(0.1, apply1(g, x))));
        lam_scope_end(scope, NULL, 0);
    }
}

START_TEST(a_training_loop_runs_in_constant_memory) {
    lam_ctx *real = ctx;
    ctx = lam_ctx_new(NULL);
    lam_fn *g = lam_grad(FN(loss, 1, 1), NULL);
    lam_tensor *x = num(0);
    train(g, x, 100);
    size_t bytes = lam_ctx_bytes(ctx);
    lam_ctx_reset_peak(ctx);
    train(g, x, 1);
    size_t peak = lam_ctx_peak_bytes(ctx);
    train(g, x, 1000000 / LESS);
    ck_assert_uint_eq(lam_ctx_bytes(ctx), bytes);
    ck_assert_uint_eq(lam_ctx_peak_bytes(ctx), peak);
    EXPECT_NEAR(x, 1e-15, LAM_DIMS0, 2);
    lam_ctx_free(ctx);
    ctx = real;
}
END_TEST

BODY(fails_every_time) {
    out[0] = lam_reshape(in[0], LAM_DIMS(7));
}

START_TEST(failures_leave_nothing_behind_either) {
    lam_tensor *x = VEC(1, 2), *out;
    lam_fn *f = lam_vmap(lam_grad(FN(fails_every_time, 1, 1), NULL), NULL);
    warm_up();
    size_t bytes = 0;
    for (int i = 0; i < 200; i++) {
        ck_assert_int_eq(lam_call(f, LAM_LIST(x), &out, 1), LAM_ERR_SHAPE);
        lam_clear_error(ctx);
        if (i == 100) bytes = lam_ctx_bytes(ctx);
    }
    ck_assert_uint_eq(lam_ctx_bytes(ctx), bytes);
}
END_TEST

/* ---- every request for memory refused in turn -------------------------------------------------------------------- */

/* Rows of several kinds on tanh(W x), with an update in place. */
BODY(network) {
    lam_tensor *h = lam_tanh(lam_sum(lam_mul(in[0], in[1]), &(lam_reduce_options){.axes = LAM_AXES(1)})), *sine,
               *cosine;
    lam_sincos(lam_logistic(h), &sine, &cosine);
    h = lam_fma(sine, cosine, h);
    lam_set_(h, num(0.5), LAM_DIMS(0), LAM_DIMS(1), LAM_DIMS0);
    lam_tensor *parts = lam_concatenate(LAM_LIST(h, lam_slice_axis(in[1], 0, 0, 2)), 0);
    out[0] = lam_add(lam_sum(lam_where(lam_lt(parts, 0), lam_exp(parts), lam_square(parts)), NULL), lam_norm(h, NULL));
    out[1] = lam_transpose(lam_stack(LAM_LIST(h, h), 0), (lam_axes){0, NULL});
}

static lam_tensor *scenario_jvp(lam_fn *f, lam_tensor *w, lam_tensor *x) {
    lam_tensor *y[2] = {NULL, NULL}, *dy[2] = {NULL, NULL};
    lam_jvp(f, LAM_LIST(w, x), LAM_LIST(NULL, x), y, dy, 2, NULL);
    return lam_add(lam_sum(dy[0], NULL), lam_sum(dy[1], NULL));
}

static lam_tensor *scenario_vjp(lam_fn *f, lam_tensor *w, lam_tensor *x) {
    lam_tensor *y[2] = {NULL, NULL}, *gx[2] = {NULL, NULL};
    lam_fn *pullback = NULL;
    lam_vjp(f, LAM_LIST(w, x), y, 2, &pullback, NULL);
    lam_call(pullback, LAM_LIST(y[0], NULL), gx, 2);
    return lam_add(lam_sum(gx[0], NULL), lam_sum(gx[1], NULL));
}

/* Values, gradients and tangents of the network, mapped, nested and in chunks, in one number. */
static double scenario(void) {
    lam_scope *scope = lam_scope_begin(ctx);
    lam_tensor *w = MAT(2, 3, 0.1, -0.2, 0.3, 0.4, 0.5, -0.6), *x = VEC(1, 2, -3);
    lam_fn *f = FN(network, 2, 2);
    lam_grad_options aux = {.argnums = LAM_AXES(0, 1), .has_aux = 1};
    lam_vmap_options chunks = {.in_axes = LAM_AXES(LAM_UNMAPPED, 0), .axis_name = "rows", .chunk_size = 2};
    lam_tensor *rows = lam_stack(LAM_LIST(x, lam_neg(x), lam_mul(x, 0.5)), 0), *out[3] = {NULL, NULL, NULL};
    lam_call(lam_vmap(lam_grad(f, &aux), &chunks), LAM_LIST(w, rows), out, 3);
    lam_tensor *total = lam_add(scenario_jvp(f, w, x), scenario_vjp(f, w, x));
    for (int i = 0; i < 3; i++) lam_add_(total, lam_sum(out[i], NULL));
    double result = lam_item(total);
    lam_scope_end(scope, NULL, 0);
    return result;
}

enum { POWERS = 12 };

/* The sum of x^k, k = 1 to POWERS, handed on at once from the highest power down. */
BODY(powers) {
    lam_tensor *parts[POWERS], *x = lam_reshape(in[0], LAM_DIMS(1)), *power = x;
    for (int k = 0; k < POWERS; k++, power = lam_mul(power, x)) parts[POWERS - 1 - k] = power;
    out[0] = lam_sum(lam_concatenate((lam_list){POWERS, parts}, 0), NULL);
}

/* Derivatives of order 2 and 3, whose ways back add up many boxes and have many nodes waiting. */
static double nested_scenario(void) {
    lam_scope *scope = lam_scope_begin(ctx);
    lam_tensor *out[2] = {NULL, NULL}, *x = num(0.9);
    lam_fn *first = lam_grad(FN(powers, 1, 1), NULL), *second = lam_grad(first, NULL);
    lam_call(lam_jvp_fn(second, NULL), LAM_LIST(x, x), out, 2);
    lam_tensor *mapped = lam_sum(apply1(lam_vmap(second, NULL), lam_stack(LAM_LIST(x, x), 0)), NULL);
    double result = lam_item(lam_add(lam_add(out[0], out[1]), mapped));
    lam_scope_end(scope, NULL, 0);
    return result;
}

/* True while the n-th request was still made. A refusal is either recorded or did no harm (a block of handles that is
 * fetched early, a scope that cannot be opened): the result is right or NaN, never another number. */
static bool refuse_request(double run(void), size_t n, bool from_then_on, double want, size_t *failures) {
    memory m = {0};
    lam_ctx_options options = memory_options(&m);
    ctx = lam_ctx_new(&options);
    m.refuse = m.requests + n;
    m.from_then_on = from_then_on;
    double got = run();
    bool refused = m.requests >= m.refuse;
    if (refused) {
        lam_status status = lam_status_of(ctx);
        ck_assert_msg(status == LAM_ERR_MEMORY || status == LAM_OK, "request %zu: %s", n, lam_error(ctx));
        ck_assert_msg(got == want || (isnan(got) && status), "request %zu was refused and gives %g", n, got);
        ck_assert(!status || strstr(lam_error(ctx), "out of memory"));
        *failures += status != LAM_OK;
    }
    m.refuse = 0;
    lam_clear_error(ctx);
    ck_assert_msg(run() == want && lam_status_of(ctx) == LAM_OK, "after request %zu: %s", n, lam_error(ctx));
    lam_ctx_free(ctx);
    ck_assert_msg(m.blocks == 0 && !m.wrong_size, "request %zu: %zu blocks leak", n, m.blocks);
    return refused;
}

/* least: the part of the n requests that must have failed when refused; a second attempt often helps against one. */
static void refuse_each_in_turn(double run(void), bool from_then_on, double least) {
    double want = run();
    EXPECT_OK();
    ck_assert(isfinite(want));
    lam_ctx *real = ctx;
    size_t n = 1, failures = 0;
    while (refuse_request(run, n, from_then_on, want, &failures)) n++;
    ctx = real;
    ck_assert_uint_gt(n, 100);
    ck_assert_double_ge((double)failures, least * (double)n);
}

START_TEST(every_request_for_memory_refused_once) {
    refuse_each_in_turn(scenario, false, 0.5);
    refuse_each_in_turn(nested_scenario, false, 0.5);
}
END_TEST

START_TEST(every_request_for_memory_refused_from_then_on) {
    refuse_each_in_turn(scenario, true, 0.95);
    refuse_each_in_turn(nested_scenario, true, 0.95);
}
END_TEST

Suite *suite_dispatch_endurance(void) {
    return SUITE_OF("dispatch/endurance", a_million_operations_are_differentiated_on_a_small_stack,
                    a_training_loop_runs_in_constant_memory, failures_leave_nothing_behind_either,
                    every_request_for_memory_refused_once, every_request_for_memory_refused_from_then_on);
}
