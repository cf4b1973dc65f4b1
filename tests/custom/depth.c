/* Depth: what calls itself, or is called in long chains, on a stack of 256 KiB. What counts is that the stack is never
 * overrun (the guard page would end the test): a call that no longer fits fails with a message. */
#define _GNU_SOURCE /* pthread_attr_setstack */

#include "tests/custom/callbacks.h"

#include <pthread.h>
#include <sys/resource.h>

/* Frames that a sanitizer watches are ten times as large. */
enum { DEEP = 8193, STACK = LESS > 1 ? 4096 << 10 : 256 << 10 };

static int depth, deepest;

static bool deeper(void) {
    if (depth > deepest) deepest = depth;
    return ++depth < DEEP;
}

/* ---- recursive callbacks ----------------------------------------------------------------------------------------- */

static const lam_function nested_backward, nested_forward, nested_combined, nested_jvp;

static lam_fn *of(lam_fctx *fc, const lam_function *f) {
    return lam_function_fn(lam_fctx_ctx(fc), f, NULL, 1, 1);
}

FORWARD(square) {
    out[0] = lam_square(in[0]);
    lam_fctx_save_for_backward(fc, LAM_LIST(in[0]));
}

SETUP(saves_input) {
    lam_fctx_save_for_backward(fc, LAM_LIST(in[0]));
}

/* The gradient of a Function whose backward asks for the gradient of the same Function, and so on. */
BACKWARD(recursive_backward) {
    gx[0] = g[0];
    if (deeper()) gx[0] = lam_apply(lam_grad(of(fc, &nested_backward), NULL), LAM_LIST(lam_stop_gradient(g[0])));
    depth--;
}

JVP(recursive_jvp) {
    lam_tensor *y;
    dout[0] = t[0];
    if (deeper()) lam_jvp(of(fc, &nested_jvp), LAM_LIST(t[0]), LAM_LIST(t[0]), &y, &dout[0], 1, NULL);
    depth--;
}

FORWARD(recursive_forward) {
    out[0] = in[0];
    if (deeper()) out[0] = lam_apply(of(fc, &nested_forward), LAM_LIST(in[0]));
    depth--;
}

FORWARD(recursive_combined) {
    out[0] = in[0];
    if (deeper()) out[0] = lam_apply(of(fc, &nested_combined), LAM_LIST(in[0]));
    lam_fctx_save_for_backward(fc, LAM_LIST(in[0]));
    depth--;
}

BACKWARD(plain_backward) {
    gx[0] = lam_mul(g[0], lam_fctx_saved(fc, 0));
}

#define NESTED(...)                                                                                                    \
    { .name = "nested", .inputs = 1, .outputs = 1, __VA_ARGS__ }

static const lam_function nested_backward = NESTED(.forward = square, .backward = recursive_backward);
static const lam_function nested_jvp = NESTED(.forward = square, .jvp = recursive_jvp);
static const lam_function nested_forward = NESTED(.forward = recursive_forward, .setup_context = saves_input,
                                                  .backward = plain_backward, .generate_vmap_rule = true);
static const lam_function nested_combined = NESTED(.forward = recursive_combined, .backward = plain_backward);

/* ---- on a small stack -------------------------------------------------------------------------------------------- */

typedef enum how { GRAD, JVP_FN, VALUE, VMAP_OF_GRAD } how;

typedef struct job {
    const lam_function *f;
    how how;
    char text[512]; /* the failure */
    double after;   /* 1 + 1, when it is over */
} job;

static void *run(void *env) {
    job *j = env;
    lam_ctx *own = lam_ctx_new(NULL);
    lam_fn *f = lam_function_fn(own, j->f, NULL, 1, 1);
    lam_tensor *x = lam_scalar(own, 1), *out[2];
    depth = deepest = 0;
    if (j->how == GRAD) lam_apply(lam_grad(f, NULL), LAM_LIST(x));
    if (j->how == JVP_FN) lam_call(lam_jvp_fn(f, NULL), LAM_LIST(x, x), out, 2);
    if (j->how == VALUE) lam_apply(f, LAM_LIST(x));
    if (j->how == VMAP_OF_GRAD) lam_apply(lam_vmap(lam_grad(f, NULL), NULL), LAM_LIST(lam_expand_dims(x, 0)));
    snprintf(j->text, sizeof j->text, "%s", lam_error(own));
    lam_clear_error(own);
    j->after = lam_item(lam_add(lam_scalar(own, 1), x));
    lam_ctx_free(own);
    return NULL;
}

/* In `room`, else on a stack with a guard page. */
static void on_stack(void *room, size_t bytes, void *(*work)(void *), void *env) {
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    if (room) ck_assert_int_eq(pthread_attr_setstack(&attributes, room, bytes), 0);
    else ck_assert_int_eq(pthread_attr_setstacksize(&attributes, bytes), 0);
    ck_assert_int_eq(pthread_create(&thread, &attributes, work, env), 0);
    pthread_join(thread, NULL);
    pthread_attr_destroy(&attributes);
}

static void on_small_stack(void *(*work)(void *), void *env) {
    on_stack(NULL, STACK, work, env);
}

START_TEST(recursive_callbacks_in_a_small_stack) {
    job jobs[] = {{.f = &nested_backward, .how = GRAD},         {.f = &nested_jvp, .how = JVP_FN},
                  {.f = &nested_forward, .how = VALUE},         {.f = &nested_forward, .how = VMAP_OF_GRAD},
                  {.f = &nested_combined, .how = VALUE},        {.f = &nested_combined, .how = GRAD},
                  {.f = &nested_combined, .how = VMAP_OF_GRAD}, {.f = &nested_backward, .how = VMAP_OF_GRAD}};
    for (size_t k = 0; k < sizeof jobs / sizeof *jobs; k++) {
        on_small_stack(run, &jobs[k]);
        ck_assert(jobs[k].after == 2);
        ck_assert_msg(deepest > 2, "job %zu: depth %d only: %s", k, deepest, jobs[k].text);
        ck_assert_msg(deepest == DEEP - 1 || strstr(jobs[k].text, "calls within calls"), "job %zu, depth %d: %s", k,
                      deepest, jobs[k].text);
    }
}
END_TEST

/* ---- what the deepest call does ---------------------------------------------------------------------------------- */

/* What takes most of a stack: operands that lie across each other, sums in blocks, LAPACK. */
static lam_tensor *demanding(lam_ctx *own) {
    lam_tensor *x = lam_reshape(lam_linspace(own, LAM_F64, -1, 1, 120000), LAM_DIMS(300, 400)), *u, *s, *vt, *w, *v;
    lam_tensor *y = lam_reshape(x, LAM_DIMS(400, 300)), *square = lam_slice_axis(lam_slice_axis(x, 1, 0, 40), 0, 0, 40);
    lam_tensor *layers = lam_reshape(x, LAM_DIMS(30, 8, 500));
    const lam_reduce_options middle = {.axes = LAM_AXES(1)};
    const lam_var_options middle_of_var = {.axes = LAM_AXES(1)};
    lam_tensor *across = lam_sum(lam_mul(x, lam_transpose(y, LAM_AXES(1, 0))), NULL);
    lam_tensor *means = lam_sum(lam_mean(lam_cast(lam_mul(100.0, layers), LAM_I64), &middle), NULL);
    lam_tensor *spread = lam_sum(lam_var(layers, &middle_of_var), NULL);
    lam_svd(square, &u, &s, &vt, NULL);
    lam_eigh(lam_add(square, lam_matrix_transpose(square)), &w, &v);
    lam_tensor *places = lam_cast(lam_sum(lam_argmax(lam_cast(layers, LAM_I64), 1), NULL), LAM_F64);
    lam_tensor *found = lam_add(lam_sum(s, NULL), lam_add(lam_sum(w, NULL), lam_sum(lam_matmul(x, y), NULL)));
    return lam_add(lam_add(across, means), lam_add(lam_add(spread, places), found));
}

/* Calls itself until that is refused, and then works. */
static void body_downwards(lam_ctx *own, lam_tensor *const in[], lam_tensor *out[], void *env) {
    lam_fn **self = env;
    if (deeper()) out[0] = lam_apply(*self, LAM_LIST(in[0]));
    if (depth-- <= deepest) return;
    lam_clear_error(own);
    out[0] = lam_add(in[0], demanding(own));
}

static void *run_downwards(void *env) {
    lam_ctx *own = lam_ctx_new(NULL);
    lam_fn *self;
    const lam_fn_options options = {.name = "down", .body = body_downwards, .inputs = 1, .outputs = 1, .env = &self};
    self = lam_fn_new(own, &options);
    depth = deepest = 0;
    double *got = env;
    got[0] = lam_item(lam_apply(self, LAM_LIST(lam_scalar(own, 0))));
    got[1] = lam_item(demanding(own));
    lam_ctx_free(own);
    return NULL;
}

START_TEST(the_deepest_call_has_room_for_any_operation) {
    double got[2] = {0};
    on_small_stack(run_downwards, got);
    ck_assert_int_gt(deepest, 2);
    ck_assert(got[0] == got[1]);
}
END_TEST

/* ---- long chains ------------------------------------------------------------------------------------------------- */

static lam_tensor *one_of(lam_ctx *own, const lam_function *f, lam_tensor *x) {
    lam_tensor *y = NULL;
    lam_function_apply(own, f, NULL, LAM_LIST(x), &y, 1);
    return y;
}

FORWARD(same_forward) {
    out[0] = lam_mul(1.0, in[0]);
}

BACKWARD(same_backward) {
    gx[0] = g[0];
}

static const lam_function same = NESTED(.forward = same_forward, .backward = same_backward);

/* x^2, applied once, then DEEP times the identity. */
static void chain(lam_ctx *own, lam_tensor *const in[], lam_tensor *out[], void *env) {
    (void)env;
    out[0] = lam_square(in[0]);
    for (int k = 0; k < DEEP; k++) out[0] = one_of(own, &same, out[0]);
}

static void *run_chain(void *env) {
    lam_ctx *own = lam_ctx_new(NULL);
    lam_fn *f = lam_fn_new(own, &(lam_fn_options){.name = "chain", .body = chain, .inputs = 1, .outputs = 1});
    *(double *)env = lam_item(lam_apply(lam_grad(f, NULL), LAM_LIST(lam_scalar(own, 3))));
    lam_ctx_free(own);
    return NULL;
}

START_TEST(long_chains_of_functions_in_a_small_stack) {
    double slope = 0;
    on_small_stack(run_chain, &slope);
    ck_assert(slope == 6);
}
END_TEST

/* ---- a stack that is too small ----------------------------------------------------------------------------------- */

static bool ran;

static void body_runs(lam_ctx *own, lam_tensor *const in[], lam_tensor *out[], void *env) {
    (void)own, (void)env;
    ran = true;
    out[0] = in[0];
}

static void *run_refused(void *env) {
    job *j = env;
    lam_ctx *own = lam_ctx_new(NULL);
    const lam_fn_options options = {.name = "runs", .body = body_runs, .inputs = 1, .outputs = 1};
    lam_apply(lam_fn_new(own, &options), LAM_LIST(lam_scalar(own, 1)));
    snprintf(j->text, sizeof j->text, "%s", lam_error(own));
    lam_ctx_free(own);
    return NULL;
}

/* What is kept for kernels is more than all of it: the first call is refused already. In memory of its own, since the C
 * library gives the larger stack of an earlier thread again. */
START_TEST(a_stack_too_small_for_kernels_is_refused) {
    static _Alignas(64) char room[112 << 10];
    job j = {.after = 0};
    ran = false;
    on_stack(room, sizeof room, run_refused, &j);
    ck_assert_msg(!ran && strstr(j.text, "a thread with a larger stack"), "%s", j.text);
}
END_TEST

/* The limit of the main thread's stack is the process's. */
START_TEST(the_main_threads_stack_ends_at_its_limit) {
    struct rlimit usual, lower;
    job j = {.f = &nested_forward, .how = VALUE};
    ck_assert_int_eq(getrlimit(RLIMIT_STACK, &usual), 0);
    lower = usual;
    lower.rlim_cur = STACK;
    ck_assert_int_eq(setrlimit(RLIMIT_STACK, &lower), 0);
    run(&j);
    ck_assert_int_eq(setrlimit(RLIMIT_STACK, &usual), 0);
    ck_assert_msg(deepest > 10 && strstr(j.text, "a thread with a larger stack"), "%d: %s", deepest, j.text);
}
END_TEST

Suite *suite_custom_depth(void) {
    return SUITE_OF("custom/depth", recursive_callbacks_in_a_small_stack, the_deepest_call_has_room_for_any_operation,
                    long_chains_of_functions_in_a_small_stack, a_stack_too_small_for_kernels_is_refused,
                    the_main_threads_stack_ends_at_its_limit);
}
