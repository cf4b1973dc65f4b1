/* Loops whose functions are compiled to parts and calls of kernels, which run on addresses too
 * (lib/program/plan_bare.c), beside loops that do not: each against the operations one by one. */
#include "tests/support.h"

#include <lamina/control.h>

enum { N = 20, TRIPS = 70 /* fewer, or on fewer numbers, are no loop in a program */ };

/* What a trip makes of x of f64[N] by w of f64[N, N] and b of f64[N]. */
typedef lam_tensor *step(lam_tensor *x, lam_tensor *w, lam_tensor *b);

static lam_tensor *layer(lam_tensor *x, lam_tensor *w, lam_tensor *b) {
    return lam_tanh(lam_add(lam_matvec(w, x), b));
}

/* The result is a view of what a kernel makes. */
static lam_tensor *product(lam_tensor *x, lam_tensor *w, lam_tensor *b) {
    (void)b;
    return lam_matvec(w, x);
}

static lam_tensor *by_columns(lam_tensor *x, lam_tensor *w, lam_tensor *b) {
    return lam_sub(lam_matvec(lam_matrix_transpose(w), x), b);
}

/* Of a matrix whose columns are made: kernels read it as it lies, and with gaps. */
static lam_tensor *by_made_columns(lam_tensor *x, lam_tensor *w, lam_tensor *b) {
    lam_tensor *m = lam_cumsum(lam_mul(w, x), 0);
    return lam_add(lam_matvec(lam_matrix_transpose(m), b), lam_cumsum(lam_index(m, 1, 2), 0));
}

static lam_tensor *statistics(lam_tensor *x, lam_tensor *w, lam_tensor *b) {
    lam_tensor *m = lam_matvec(w, x);
    return lam_add(lam_sub(lam_mul(0.5, x), lam_mean(m, NULL)), lam_mul(b, lam_max_reduce(lam_abs(m), NULL)));
}

static lam_tensor *running(lam_tensor *x, lam_tensor *w, lam_tensor *b) {
    (void)w;
    return lam_mul(0.3, lam_cumsum(lam_mul(x, b), 0));
}

/* Two results of one kernel, and a result that another kernel reads. */
static lam_tensor *sorted(lam_tensor *x, lam_tensor *w, lam_tensor *b) {
    lam_tensor *m = lam_matvec(w, x);
    return lam_add(lam_take_along_axis(m, lam_argsort(b, 0), 0), lam_mul(0.1, lam_sort(x, 0)));
}

static lam_tensor *turned(lam_tensor *x, lam_tensor *w, lam_tensor *b) {
    lam_tensor *m = lam_cumsum(lam_matvec(w, x), 0);
    return lam_add(lam_concatenate(LAM_LIST(lam_slice_axis(m, 0, 2, N), lam_slice_axis(b, 0, 0, 2)), 0),
                   lam_mul(0.1, x));
}

/* A kernel reads a part of what another one makes, and one with steps, of an input a part as well. */
static lam_tensor *parts_of_others(lam_tensor *x, lam_tensor *w, lam_tensor *b) {
    lam_tensor *m = lam_cumsum(lam_matvec(w, x), 0), *behind = lam_cumsum(lam_slice_axis(m, 0, 7, N), 0);
    lam_tensor *some = lam_cumsum(lam_slice(m, LAM_DIMS(1), LAM_DIMS(15), LAM_DIMS(2)), 0);
    return lam_concatenate(LAM_LIST(lam_mul(0.1, behind), lam_mul(0.2, lam_cumprod(lam_slice_axis(b, 0, 3, 7), 0)),
                                    lam_slice_axis(some, 0, 0, 3)),
                           0);
}

static lam_tensor *in_part(lam_tensor *x, lam_tensor *w, lam_tensor *b) {
    lam_tensor *m = lam_cumsum(lam_mul(0.3, x), 0);
    return lam_update_slice(m, lam_slice_axis(lam_matvec(w, b), 0, 0, 3), LAM_DIMS(2), LAM_DIMS(5), LAM_DIMS(1));
}

static lam_tensor *solved(lam_tensor *x, lam_tensor *w, lam_tensor *b) {
    return lam_sub(lam_solve(lam_add(w, lam_mul(2.0, lam_eye(ctx, LAM_F64, N, N))), x), b);
}

static lam_tensor *in_single(lam_tensor *x, lam_tensor *w, lam_tensor *b) {
    lam_tensor *m = lam_matvec(lam_cast(w, LAM_F32), lam_cast(x, LAM_F32));
    return lam_add(lam_cast(lam_cumsum(m, 0), LAM_F64), b);
}

static lam_tensor *counted(lam_tensor *x, lam_tensor *w, lam_tensor *b) {
    lam_tensor *k = lam_cast(lam_mul(10, lam_matvec(w, x)), LAM_I64);
    return lam_mul(0.01, lam_add(lam_cast(lam_cumsum(k, 0), LAM_F64), b));
}

/* Half precision is worked on in another one. */
static lam_tensor *in_half(lam_tensor *x, lam_tensor *w, lam_tensor *b) {
    lam_tensor *m = lam_matvec(lam_cast(w, LAM_F16), lam_cast(x, LAM_F16));
    return lam_add(lam_cast(m, LAM_F64), b);
}

/* More memory than is to stay with a plan. */
static lam_tensor *wide(lam_tensor *x, lam_tensor *w, lam_tensor *b) {
    lam_tensor *rows = lam_cumsum(lam_broadcast_to(lam_mul(x, 1e-4), LAM_DIMS(1 << 14, N)), 0);
    return lam_add(lam_matvec(w, lam_index(rows, 0, -1)), b);
}

BODY(first) {
    out[0] = lam_tanh(in[0]);
}

BODY(second) {
    out[0] = lam_sin(in[0]);
}

static lam_tensor *chosen(lam_tensor *x, lam_tensor *w, lam_tensor *b) {
    lam_tensor *y;
    lam_cond(lam_gt(lam_index(x, 0, 0), 0.1), FN(first, 1, 1), FN(second, 1, 1), LAM_LIST(lam_matvec(w, x)), &y, 1);
    return lam_add(y, b);
}

static const struct {
    const char *name;
    step *step;
    bool asks_nothing; /* for memory, from trip to trip: kernels run on addresses and need no more */
} cases[] = {
    {"a layer", layer, true},
    {"a product alone", product, true},
    {"by columns", by_columns, true},
    {"by columns that are made", by_made_columns, true},
    {"means and maxima", statistics, true},
    {"running sums", running, true},
    {"sorted", sorted, false},
    {"turned round", turned, true},
    {"parts of others", parts_of_others, true},
    {"a part is set", in_part, true},
    {"solved", solved, true},
    {"in single precision", in_single, true},
    {"integers", counted, true},
    {"in half precision", in_half, false},
    {"wide", wide, false},
    {"a choice", chosen, false},
};
enum { CASES = sizeof cases / sizeof *cases };

static int case_of(const void *env) {
    return *(const int *)env;
}

/* in: trips left, x, w, b. */
BODY(is_left) {
    out[0] = lam_gt(in[0], 0);
}

BODY(trip) {
    out[0] = lam_sub(in[0], 1);
    out[1] = cases[case_of(env)].step(in[1], in[2], in[3]);
}

BODY(by_while) {
    lam_fn *body = lam_fn_new(
        ctx,
        &(lam_fn_options){
            .name = "trip", .body = trip, .inputs = 2, .outputs = 2, .env = env, .captures = LAM_LIST(in[2], in[3])});
    lam_tensor *y[2];
    lam_while(FN(is_left, 2, 1), body, LAM_LIST(in[0], in[1]), y, 2);
    out[0] = y[1];
}

/* x, w, an element: the carry, a row of what is carried and one that is a number. */
BODY(trip_of_scan) {
    out[0] = cases[case_of(env)].step(in[0], in[2], in[1]);
    out[1] = out[0];
    out[2] = lam_sum(in[1], NULL);
}

BODY(by_scan) {
    lam_fn *body = lam_fn_new(
        ctx,
        &(lam_fn_options){
            .name = "trip", .body = trip_of_scan, .inputs = 2, .outputs = 3, .env = env, .captures = LAM_LIST(in[2])});
    lam_tensor *rows = lam_mul(in[3], lam_expand_dims(lam_linspace(ctx, LAM_F64, 0.2, 1, TRIPS), 1));
    lam_scan(body, LAM_LIST(in[1]), LAM_LIST(rows), out, 3, &(lam_scan_options){.reverse = true});
    out[0] = lam_add(out[0], in[0]);
}

static lam_list operands(int64_t trips) {
    static lam_tensor *items[4];
    items[0] = lam_array(ctx, LAM_I64, LAM_DIMS0, &trips);
    items[1] = lam_mul(0.5, lam_cos(lam_linspace(ctx, LAM_F64, 0, 7, N)));
    items[2] = lam_mul(0.15, lam_sin(lam_reshape(lam_linspace(ctx, LAM_F64, 0, 40, N * N), LAM_DIMS(N, N))));
    items[3] = lam_mul(0.4, lam_sin(lam_linspace(ctx, LAM_F64, 1, 9, N)));
    return (lam_list){4, items};
}

/* Called and compiled, twice, with other numbers of trips. */
static void compare(lam_fn *f, int64_t trips, size_t n, double tolerance) {
    lam_tensor *want[3], *got[3];
    lam_fn *jitted = lam_jit(f, NULL);
    for (int run = 0; run < 3; run++) {
        const lam_list in = operands(trips + run);
        ck_assert_msg(lam_call(f, in, want, n) == LAM_OK, "%s", lam_error(ctx));
        ck_assert_msg(lam_call(jitted, in, got, n) == LAM_OK, "%s", lam_error(ctx));
        for (size_t o = 0; o < n; o++) EXPECT_SAME(got[o], want[o], tolerance);
    }
    ck_assert_int_eq(lam_jit_report_of(jitted).direct, 0);
}

/* Kernels that are called are those that operations call; of what is fused x y + z is rounded once. */
START_TEST(whiles_of_calls) {
    for (int64_t trips = 0; trips < 7; trips += 3) compare(FN_ENV(by_while, 4, 1, &_i), trips, 1, 1e-14);
}
END_TEST

START_TEST(scans_of_calls) {
    compare(FN_ENV(by_scan, 4, 3, &_i), 0, 3, 1e-13);
}
END_TEST

BODY(measured) {
    lam_tensor *y = lam_apply(FN_ENV(by_while, 4, 1, env), (lam_list){4, in});
    out[0] = lam_sum(lam_mul(y, lam_cos(y)), NULL);
}

/* There and back. */
START_TEST(ways_back_of_calls) {
    const lam_grad_options all = {.argnums = LAM_AXES(1, 2, 3)};
    for (int64_t trips = 0; trips < 7; trips += 3)
        compare(lam_grad(FN_ENV(measured, 4, 1, &_i), &all), trips, 3, 1e-13);
}
END_TEST

/* On addresses, what a call asks for is the same for few trips and many. */
START_TEST(trips_of_calls_ask_for_no_memory) {
    lam_ctx *outside = ctx;
    memory counted_here = {0};
    const lam_ctx_options options = memory_options(&counted_here);
    ctx = lam_ctx_new(&options);
    lam_fn *made = lam_jit(FN_ENV(by_while, 4, 1, &_i), NULL);
    size_t asked[4];
    for (int call = 0; call < 4; call++) { /* the first one records */
        const lam_list in = operands(call < 2 ? 4 : 40);
        const size_t before = counted_here.requests;
        lam_tensor *y = lam_apply(made, in);
        ck_assert(!lam_failed(y));
        asked[call] = counted_here.requests - before;
    }
    EXPECT_OK();
    lam_ctx_free(ctx);
    ctx = outside;
    ck_assert_msg((asked[3] == asked[1]) == cases[_i].asks_nothing, "%s: %zu and %zu requests", cases[_i].name,
                  asked[1], asked[3]);
}
END_TEST

/* Two states, of which the older one is the younger one of the trip before: of many elements it is not copied. */
BODY(waves) {
    lam_tensor *u = in[1];
    out[0] = lam_sub(in[0], 1);
    out[1] = lam_sub(lam_mul(1.9, u), lam_cumsum(lam_mul(in[2], 1e-3), 0));
    out[2] = u;
}

BODY(waved) {
    lam_tensor *y[3];
    lam_while(FN(is_left, 3, 1), FN(waves, 3, 3), LAM_LIST(in[0], in[1], lam_mul(0.9, in[1])), y, 3);
    out[0] = y[1];
    out[1] = y[2];
}

START_TEST(states_that_move_on) {
    lam_fn *f = FN(waved, 2, 2), *jitted = lam_jit(f, NULL);
    static const int64_t sizes[] = {3, 512, 513, 20000};
    for (int k = 0; k < 4; k++)
        for (int64_t trips = 0; trips < 5; trips++) {
            lam_list in =
                LAM_LIST(lam_array(ctx, LAM_I64, LAM_DIMS0, &trips), lam_linspace(ctx, LAM_F64, 0, 1, sizes[k]));
            lam_tensor *want[2], *got[2];
            ck_assert_int_eq(lam_call(f, in, want, 2), LAM_OK);
            ck_assert_int_eq(lam_call(jitted, in, got, 2), LAM_OK);
            for (int o = 0; o < 2; o++) EXPECT_SAME(got[o], want[o], 0);
        }
    EXPECT_OK();
}
END_TEST

/* The number of trips left says which element is added. */
BODY(trip_that_takes) {
    out[0] = lam_sub(in[0], 1);
    out[1] = lam_add(lam_cumsum(in[1], 0), lam_take(in[1], lam_sub(in[2], in[0]), 0));
}

BODY(taking) {
    lam_fn *body = lam_fn_new(
        ctx, &(lam_fn_options){
                 .name = "trip", .body = trip_that_takes, .inputs = 2, .outputs = 2, .captures = LAM_LIST(in[2])});
    lam_tensor *y[2];
    lam_while(FN(is_left, 2, 1), body, LAM_LIST(in[0], in[1]), y, 2);
    out[0] = y[1];
}

/* A kernel fails in the second trip: the loop ends there, and the next call is right. */
START_TEST(a_call_that_fails) {
    lam_fn *f = FN(taking, 3, 1), *jitted = lam_jit(f, NULL);
    lam_tensor *x = lam_linspace(ctx, LAM_F64, 1, 2, N), *six = lam_array(ctx, LAM_I64, LAM_DIMS0, (int64_t[]){6});
    lam_tensor *inside = lam_array(ctx, LAM_I64, LAM_DIMS0, (int64_t[]){N});
    lam_tensor *outside = lam_array(ctx, LAM_I64, LAM_DIMS0, (int64_t[]){N + 5});
    for (int run = 0; run < 3; run++) {
        EXPECT_SAME(lam_apply(jitted, LAM_LIST(six, x, inside)), lam_apply(f, LAM_LIST(six, x, inside)), 0);
        EXPECT_OK();
        ck_assert(lam_failed(lam_apply(jitted, LAM_LIST(six, x, outside))));
        EXPECT_ERROR(LAM_ERR_INDEX, "take", "20");
    }
    ck_assert_int_eq(lam_jit_report_of(jitted).direct, 0);
}
END_TEST

/* The number of trips made says which element the condition asks. */
BODY(is_positive) {
    out[0] = lam_gt(lam_take(lam_cumsum(in[1], 0), in[0], 0), 0.0);
}

BODY(one_further) {
    out[0] = lam_add(in[0], 1);
    out[1] = lam_add(in[1], 0.0);
}

BODY(asking) {
    lam_tensor *y[2], *none = lam_cast(lam_ge(lam_index(in[0], 0, 0), 1e6), LAM_I64);
    lam_while(FN(is_positive, 2, 1), FN(one_further, 2, 2), LAM_LIST(none, in[0]), y, 2);
    out[0] = y[0];
}

/* It is asked for an element behind the last one where no sum is negative. */
START_TEST(a_condition_that_fails) {
    lam_fn *f = FN(asking, 1, 1), *jitted = lam_jit(f, NULL);
    lam_tensor *x = lam_linspace(ctx, LAM_F64, 3, -5, N);
    for (int run = 0; run < 3; run++) {
        EXPECT_SAME(apply1(jitted, x), apply1(f, x), 0);
        EXPECT_OK();
        ck_assert(lam_failed(apply1(jitted, lam_square(x))));
        EXPECT_ERROR(LAM_ERR_INDEX, "take", "20");
    }
    ck_assert_int_eq(lam_jit_report_of(jitted).direct, 0);
}
END_TEST

static void loop_of_layers(const void *env) {
    (void)lam_apply(lam_jit(FN_ENV(by_while, 4, 1, (void *)(uintptr_t)env), NULL), operands(5));
}

/* Of a kernel with a part behind it, and of kernels with views between them. */
START_TEST(memory_refused_among_calls) {
    static const int chosen[] = {0, 7};
    memory_refused_in(loop_of_layers, &chosen[_i]);
}
END_TEST

Suite *suite_transforms_nested_calls(void) {
    Suite *suite = SUITE_OF("transforms/nested_calls", states_that_move_on, a_call_that_fails, a_condition_that_fails);
    suite_loop(suite, whiles_of_calls, CASES);
    suite_loop(suite, scans_of_calls, CASES);
    suite_loop(suite, ways_back_of_calls, CASES);
    suite_loop(suite, trips_of_calls_ask_for_no_memory, CASES);
    suite_loop(suite, memory_refused_among_calls, 2);
    return suite;
}
