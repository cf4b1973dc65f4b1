/* lam_scan and lam_map: values and derivatives are those of the same loop in C. */
#include "tests/support.h"

/* (s, x) -> s x + 1, and sin of that. */
BODY(step) {
    out[0] = lam_add(lam_mul(in[0], in[1]), 1.0);
    out[1] = lam_sin(out[0]);
}

/* The same by C's own for; results lie as the elements do. */
static void plain(lam_tensor *s, lam_tensor *x, bool reverse, lam_tensor *out[2]) {
    lam_tensor *rows[8];
    int n = (int)lam_dim(x, 0);
    for (int i = 0; i < n; i++) {
        int at = reverse ? n - 1 - i : i;
        s = lam_add(lam_mul(s, lam_index(x, 0, at)), 1.0);
        rows[at] = lam_sin(s);
    }
    out[0] = s;
    out[1] = lam_stack((lam_list){(size_t)n, rows}, 0);
}

/* env: whether to go backwards. */
BODY(plainly) {
    plain(in[0], in[1], *(bool *)env, out);
}

BODY(scanned) {
    lam_scan_options o = {.reverse = *(bool *)env, .unroll = 2};
    lam_scan(FN(step, 2, 2), LAM_LIST(in[0]), LAM_LIST(in[1]), out, 2, &o);
}

/* One scalar of all results, for gradients. */
BODY(summed) {
    lam_tensor *y[2];
    lam_call(env, LAM_LIST(in[0], in[1]), y, 2);
    out[0] = lam_add(lam_square(lam_sum(y[0], NULL)), lam_sum(lam_mul(y[1], y[1]), NULL));
}

static const lam_grad_options both = {.argnums = {2, (const int[]){0, 1}}};

/* Each of the transforms, once over the scan and once over the loop. */
static lam_fn *transformed(int which, lam_fn *f) {
    lam_fn *g = FN_ENV(summed, 2, 1, f);
    lam_jacobian_options j = {.argnums = both.argnums};
    switch (which) {
    case 0: return f;
    case 1: return lam_grad(g, &both);
    case 2: return lam_jacfwd(f, &j);
    case 3: return lam_jacrev(f, &j);
    case 4: return lam_hessian(g, &j);
    case 5: return lam_grad(lam_checkpoint(g, NULL), &both);
    default: return lam_jacrev(lam_jacfwd(f, &j), &j);
    }
}

START_TEST(a_scan_is_the_loop_under_every_transform) {
    lam_tensor *s = num(0.5), *x = VEC(0.3, -0.7, 1.1), *a[8], *b[8];
    for (int which = 0; which < 7; which++)
        for (int reverse = 0; reverse < 2; reverse++) {
            bool backwards = reverse;
            lam_fn *f = transformed(which, FN_ENV(scanned, 2, 2, &backwards));
            lam_fn *g = transformed(which, FN_ENV(plainly, 2, 2, &backwards));
            size_t n = (size_t)lam_fn_outputs(f);
            ck_assert_int_eq(lam_call(f, LAM_LIST(s, x), a, n), LAM_OK);
            ck_assert_int_eq(lam_call(g, LAM_LIST(s, x), b, n), LAM_OK);
            for (size_t o = 0; o < n; o++) EXPECT_SAME(a[o], b[o], 1e-14);
            lam_vmap_options front = {.in_axes = LAM_AXES(LAM_UNMAPPED, 0)}, back = {.in_axes = LAM_AXES(0, 1)};
            lam_tensor *rows = MAT(2, 3, 0.3, -0.7, 1.1, 0.2, 0.9, -0.4),
                       *columns = lam_transpose(rows, (lam_axes){0, NULL});
            lam_call(lam_vmap(f, &front), LAM_LIST(s, rows), a, n);
            lam_call(lam_vmap(g, &front), LAM_LIST(s, rows), b, n);
            for (size_t o = 0; o < n; o++) EXPECT_SAME(a[o], b[o], 1e-14);
            lam_call(lam_vmap(f, &back), LAM_LIST(VEC(0.5, 0.25), columns), a, n);
            lam_call(lam_vmap(g, &back), LAM_LIST(VEC(0.5, 0.25), columns), b, n);
            for (size_t o = 0; o < n; o++) EXPECT_SAME(a[o], b[o], 1e-14);
        }
    EXPECT_OK();
}
END_TEST

START_TEST(a_scan_under_linearize) {
    bool backwards = false;
    lam_tensor *s = num(0.5), *x = VEC(0.3, -0.7, 1.1), *y[2], *a[2], *b[2];
    lam_fn *linear, *plain_linear;
    lam_linearize(FN_ENV(scanned, 2, 2, &backwards), LAM_LIST(s, x), y, 2, &linear, NULL);
    lam_linearize(FN_ENV(plainly, 2, 2, &backwards), LAM_LIST(s, x), y, 2, &plain_linear, NULL);
    lam_call(linear, LAM_LIST(num(1), VEC(1, 2, 3)), a, 2);
    lam_call(plain_linear, LAM_LIST(num(1), VEC(1, 2, 3)), b, 2);
    for (int o = 0; o < 2; o++) EXPECT_SAME(a[o], b[o], 1e-14);
}
END_TEST

BODY(scanned_checkpoint) {
    lam_scan(lam_checkpoint(FN(step, 2, 2), NULL), LAM_LIST(in[0]), LAM_LIST(in[1]), out, 2, NULL);
}

START_TEST(a_checkpointed_step) {
    bool backwards = false;
    lam_tensor *s = num(0.5), *x = VEC(0.3, -0.7, 1.1), *a[2], *b[2];
    lam_fn *f = FN_ENV(summed, 2, 1, FN(scanned_checkpoint, 2, 2));
    lam_fn *g = FN_ENV(summed, 2, 1, FN_ENV(plainly, 2, 2, &backwards));
    for (int jitted = 0; jitted < 2; jitted++) {
        lam_fn *slope = lam_grad(f, &both);
        lam_call(jitted ? lam_jit(slope, NULL) : slope, LAM_LIST(s, x), a, 2);
        lam_call(lam_grad(g, &both), LAM_LIST(s, x), b, 2);
        for (int o = 0; o < 2; o++) EXPECT_SAME(a[o], b[o], 1e-14);
    }
}
END_TEST

/* Long enough to stay a loop in a program; env: how many trips. */
BODY(long_scan) {
    lam_tensor *x = lam_linspace(ctx, LAM_F64, -1, 1, *(int64_t *)env * 20), *y[2];
    lam_tensor *rows = lam_reshape(x, LAM_DIMS(*(int64_t *)env, 20));
    lam_scan(FN(step, 2, 2), LAM_LIST(lam_mul(in[0], lam_ones(ctx, LAM_F64, LAM_DIMS(20)))), LAM_LIST(rows), y, 2,
             &(lam_scan_options){.reverse = true});
    out[0] = lam_add(lam_sum(y[0], NULL), lam_sum(lam_square(y[1]), NULL));
}

BODY(add_sine) {
    out[0] = lam_add(in[1], lam_sin(lam_mul(in[1], lam_cast(in[0], LAM_F64))));
}

BODY(long_fori) {
    lam_fori(3, 3 + *(int64_t *)env, FN(add_sine, 2, 1), LAM_LIST(lam_mul(in[0], lam_linspace(ctx, LAM_F64, 0, 1, 20))),
             out, 1);
    out[0] = lam_sum(out[0], NULL);
}

START_TEST(long_loops_stay_loops_in_what_jit_records) {
    int64_t few = 30, many = 200, equations[2];
    lam_body bodies[] = {long_scan, long_fori};
    for (int b = 0; b < 2; b++) {
        lam_fn *f = FN_ENV(bodies[b], 1, 1, &few), *g = FN_ENV(bodies[b], 1, 1, &many);
        lam_fn *kinds[] = {g, lam_grad(g, NULL), lam_hessian(g, NULL), lam_vmap(lam_grad(g, NULL), NULL)};
        for (int k = 0; k < 4; k++) {
            lam_tensor *x = k < 3 ? num(0.3) : VEC(0.3, -0.2);
            lam_fn *jitted = lam_jit(kinds[k], NULL);
            EXPECT_SAME(apply1(jitted, x), apply1(kinds[k], x), 1e-12);
            if (!k) equations[1] = lam_jit_report_of(jitted).equations;
        }
        lam_fn *jitted = lam_jit(f, NULL);
        EXPECT_SAME(apply1(jitted, num(0.3)), apply1(f, num(0.3)), 1e-12);
        equations[0] = lam_jit_report_of(jitted).equations;
        ck_assert_int_gt(equations[0], few);
        ck_assert_int_lt(equations[1], 20);
    }
}
END_TEST

/* 1, 1, 2, 3, 5, ...: carries and a length, no elements. */
BODY(fibonacci) {
    out[0] = in[1];
    out[1] = lam_add(in[0], in[1]);
    out[2] = in[0];
}

START_TEST(length_alone) {
    lam_tensor *y[3], *one = num(1);
    lam_scan_options six = {.length = 6};
    lam_scan(FN(fibonacci, 2, 3), LAM_LIST(one, one), LAM_LIST(), y, 3, &six);
    EXPECT_NUM(y[0], 13);
    EXPECT_NUM(y[1], 21);
    EXPECT(y[2], LAM_DIMS(6), 1, 1, 2, 3, 5, 8);
}
END_TEST

static int calls;

BODY(counted) {
    calls++;
    out[0] = lam_mul(in[0], 2.0);
    out[1] = lam_stack(LAM_LIST(in[1], in[1]), 0);
}

START_TEST(no_trips_give_the_first_carries_and_empty_results) {
    lam_tensor *y[3];
    lam_scan(FN(counted, 2, 2), LAM_LIST(num(3)), LAM_LIST(lam_zeros(ctx, LAM_F32, LAM_DIMS(0, 4))), y, 2, NULL);
    EXPECT_NUM(y[0], 3);
    EXPECT_EMPTY(y[1], LAM_DIMS(0, 2, 4));
    ck_assert_int_eq(lam_dtype_of(y[1]), LAM_F32);
    lam_scan(FN(fibonacci, 2, 3), LAM_LIST(num(3), num(4)), LAM_LIST(), y, 3,
             &(lam_scan_options){.length = LAM_ZERO_SIZE});
    EXPECT_NUM(y[1], 4);
    EXPECT_EMPTY(y[2], LAM_DIMS(0));
}
END_TEST

/* Elements are matrices' rows; several of each kind, and an integer carry. */
BODY(several) {
    out[0] = lam_add(in[0], 1);
    out[1] = lam_add(in[1], lam_mul(in[2], in[3]));
    out[2] = lam_sum(out[1], NULL);
    out[3] = in[0];
}

START_TEST(several_carries_elements_and_results) {
    lam_tensor *y[4], *i = lam_cast(num(5), LAM_I32), *x = MAT(3, 2, 1, 2, 3, 4, 5, 6);
    lam_scan(FN(several, 4, 4), LAM_LIST(i, VEC(0, 0)), LAM_LIST(x, VEC(1, 10, 100)), y, 4, NULL);
    EXPECT_NUM(lam_cast(y[0], LAM_F64), 8);
    EXPECT(y[1], LAM_DIMS(2), 531, 642);
    EXPECT(y[2], LAM_DIMS(3), 3, 73, 1173);
    EXPECT(lam_cast(y[3], LAM_F64), LAM_DIMS(3), 5, 6, 7);
    ck_assert_int_eq(lam_dtype_of(y[3]), LAM_I32);
}
END_TEST

/* A capture is differentiated, and held once by all trips. */
BODY(linear_step) {
    out[0] = lam_tanh(lam_matmul(in[1], in[0]));
}

BODY(recurrent) {
    lam_fn *f = lam_fn_new(
        ctx, &(lam_fn_options){
                 .name = "linear_step", .body = linear_step, .inputs = 1, .outputs = 1, .captures = LAM_LIST(in[0])});
    lam_tensor *y;
    lam_scan(f, LAM_LIST(in[1]), LAM_LIST(), &y, 1, &(lam_scan_options){.length = *(int64_t *)env});
    out[0] = lam_sum(y, NULL);
}

BODY(recurrent_plain) {
    lam_tensor *y = in[1];
    for (int64_t i = 0; i < *(int64_t *)env; i++) y = lam_tanh(lam_matmul(in[0], y));
    out[0] = lam_sum(y, NULL);
}

START_TEST(captures_are_differentiated) {
    int64_t n = 5;
    lam_tensor *w = MAT(2, 2, 0.5, -0.3, 0.8, 0.2), *x = VEC(1, 2), *a[2], *b[2];
    lam_call(lam_grad(FN_ENV(recurrent, 2, 1, &n), &both), LAM_LIST(w, x), a, 2);
    lam_call(lam_grad(FN_ENV(recurrent_plain, 2, 1, &n), &both), LAM_LIST(w, x), b, 2);
    for (int o = 0; o < 2; o++) EXPECT_SAME(a[o], b[o], 1e-14);
}
END_TEST

static size_t peak_of(int64_t n, lam_tensor *w, lam_tensor *x) {
    lam_scope *scope = lam_scope_begin(ctx);
    lam_ctx_reset_peak(ctx);
    size_t before = lam_ctx_bytes(ctx);
    lam_apply(lam_grad(FN_ENV(recurrent, 2, 1, &n), NULL), LAM_LIST(w, x));
    size_t peak = lam_ctx_peak_bytes(ctx) - before;
    ck_assert_int_eq(lam_scope_end(scope, NULL, 0), LAM_OK);
    return peak;
}

START_TEST(what_does_not_change_is_kept_once_for_all_trips) {
    lam_tensor *w = lam_full(ctx, LAM_F64, LAM_DIMS(200, 200), 0.01), *x = lam_ones(ctx, LAM_F64, LAM_DIMS(200));
    peak_of(4, w, x);
    size_t few = peak_of(4, w, x), many = peak_of(24, w, x);
    ck_assert_uint_lt(many - few, 20 * 200 * 200 * sizeof(double) / 8);
}
END_TEST

/* ---- map --------------------------------------------------------------------------------------------------------- */

BODY(square_sum) {
    calls++;
    out[0] = lam_sum(lam_square(in[0]), NULL);
    out[1] = lam_mul(in[0], in[1]);
}

BODY(mapped) {
    lam_map(FN(square_sum, 2, 2), LAM_LIST(in[0], in[1]), out, 2, env);
}

START_TEST(map_one_by_one_and_by_batches_with_a_remainder) {
    lam_tensor *x = MAT(5, 2, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10), *w = VEC(1, 2, 3, 4, 5), *y[2];
    int64_t sizes[] = {0, 1, 2, 3, 5, 9};
    int wanted[] = {5, 5, 3, 2, 1, 1};
    for (int i = 0; i < 6; i++) {
        lam_map_options o = {.batch_size = sizes[i]};
        calls = 0;
        lam_call(FN_ENV(mapped, 2, 2, &o), LAM_LIST(x, w), y, 2);
        ck_assert_int_eq(calls, wanted[i]);
        EXPECT(y[0], LAM_DIMS(5), 5, 25, 61, 113, 181);
        EXPECT(y[1], LAM_DIMS(5, 2), 1, 2, 6, 8, 15, 18, 28, 32, 45, 50);
        lam_tensor *g[2];
        lam_call(lam_grad(FN_ENV(summed, 2, 1, FN_ENV(mapped, 2, 2, &o)), &both), LAM_LIST(x, w), g, 2);
        EXPECT(lam_index(g[0], 0, 4), LAM_DIMS(2), 2 * 385.0 * 18 + 2 * 9 * 25, 2 * 385.0 * 20 + 2 * 10 * 25);
        EXPECT(g[1], LAM_DIMS(5), 10, 100, 366, 904, 1810);
    }
}
END_TEST

START_TEST(a_map_over_nothing) {
    lam_tensor *y[2], *x = lam_zeros(ctx, LAM_F64, LAM_DIMS(0, 2)), *w = lam_zeros(ctx, LAM_F64, LAM_DIMS(0));
    for (int64_t size = 0; size < 3; size++) {
        lam_map(FN(square_sum, 2, 2), LAM_LIST(x, w), y, 2, &(lam_map_options){.batch_size = size});
        EXPECT_EMPTY(y[0], LAM_DIMS(0));
        EXPECT_EMPTY(y[1], LAM_DIMS(0, 2));
    }
}
END_TEST

/* ---- refusals ---------------------------------------------------------------------------------------------------- */

BODY(changing) {
    out[0] = lam_stack(LAM_LIST(in[0], in[0]), 0);
    out[1] = lam_cast(in[1], LAM_F32);
    out[2] = in[2];
}

START_TEST(a_carry_that_changes_is_refused_with_a_list) {
    lam_tensor *y[3], *xs[] = {VEC(1, 2), lam_zeros(ctx, LAM_F64, LAM_DIMS(0))};
    for (int k = 0; k < 2; k++) { /* without trips too */
        ck_assert_int_eq(lam_scan(FN(changing, 3, 3), LAM_LIST(num(1), num(2)), LAM_LIST(xs[k]), y, 3, NULL),
                         LAM_ERR_DTYPE);
        EXPECT_ERROR(LAM_ERR_DTYPE, "scan: 'changing'", "carry 0 is f64[] and becomes f64[2]",
                     "carry 1 is f64[] and becomes f32[]");
    }
}
END_TEST

/* env: how often it has been called. From the second time on results have another type. */
BODY(fickle) {
    bool first = !(*(int *)env)++;
    out[0] = in[0];
    out[1] = first ? in[1] : lam_stack(LAM_LIST(in[1], in[1]), 0);
    out[2] = in[1];
}

BODY(fickle_dtype) {
    out[0] = (*(int *)env)++ ? lam_cast(in[0], LAM_I64) : in[0];
}

/* Results of trips are rows of one tensor: none is promoted, and the message names the function. */
START_TEST(a_result_that_changes_is_refused) {
    lam_tensor *y[3], *x = VEC(1, 2, 3);
    int runs = 0;
    lam_fn *f = FN_ENV(fickle, 2, 3, &runs);
    ck_assert_int_eq(lam_scan(f, LAM_LIST(num(1)), LAM_LIST(x), y, 3, NULL), LAM_ERR_SHAPE);
    EXPECT_ERROR(LAM_ERR_SHAPE, "scan of 'fickle'", "result 0 is f64[] of the first element and f64[2] of element 1");
    runs = 0;
    lam_fn *half = FN_ENV(fickle_dtype, 1, 1, &runs);
    ck_assert_int_eq(lam_map(half, LAM_LIST(x), y, 1, NULL), LAM_ERR_DTYPE);
    EXPECT_ERROR(LAM_ERR_DTYPE, "map of 'fickle_dtype'", "result 0 is f64[] of the first element and i64[]");
    runs = 0;
    ck_assert_int_eq(lam_scan(f, LAM_LIST(num(1)), LAM_LIST(x), y, 3, &(lam_scan_options){.reverse = true}),
                     LAM_ERR_SHAPE);
    EXPECT_ERROR(LAM_ERR_SHAPE, "scan of 'fickle'", "and f64[2] of element 0");
}
END_TEST

START_TEST(refusals_of_scan_and_map) {
    lam_tensor *y[4], *x = VEC(1, 2), *z = VEC(1, 2, 3);
    lam_fn *f = FN(several, 4, 4);
    lam_scan(f, LAM_LIST(x, x), LAM_LIST(x, z), y, 4, NULL);
    EXPECT_ERROR(LAM_ERR_SHAPE, "scan of 'several'", "number 0 has 2, number 1 has 3");
    lam_scan(f, LAM_LIST(x, x), LAM_LIST(x, x), y, 4, &(lam_scan_options){.length = 7});
    EXPECT_ERROR(LAM_ERR_SHAPE, "`length` is 7, number 0 has 2");
    lam_scan(f, LAM_LIST(x, x), LAM_LIST(x, x), y, 4, &(lam_scan_options){.length = LAM_ZERO_SIZE});
    EXPECT_ERROR(LAM_ERR_SHAPE, "`length` is 0, number 0 has 2");
    lam_scan(f, LAM_LIST(x, x), LAM_LIST(x, num(1)), y, 4, NULL);
    EXPECT_ERROR(LAM_ERR_SHAPE, "number 1 of xs has rank 0");
    lam_scan(f, LAM_LIST(x), LAM_LIST(x), y, 4, NULL);
    EXPECT_ERROR(LAM_ERR_ARITY, "takes 4 and gives 4", "1 carries, 1 of xs");
    lam_scan(FN(fibonacci, 2, 3), LAM_LIST(x, x), LAM_LIST(), y, 3, NULL);
    EXPECT_ERROR(LAM_ERR_OPTION, "length");
    lam_scan(f, LAM_LIST(x, x), LAM_LIST(x, x), y, 4, &(lam_scan_options){.unroll = -1});
    EXPECT_ERROR(LAM_ERR_OPTION, "unroll");
    lam_scan(FN(fibonacci, 2, 3), LAM_LIST(x, x), LAM_LIST(), y, 3, &(lam_scan_options){.length = INT64_MAX});
    EXPECT_ERROR(LAM_ERR_OVERFLOW, "scan of 'fibonacci'", "too many");
    lam_map(FN(square_sum, 2, 2), LAM_LIST(x, x), y, 2, &(lam_map_options){.batch_size = -1});
    EXPECT_ERROR(LAM_ERR_OPTION, "map", "batch_size");
    lam_map(FN(square_sum, 2, 2), LAM_LIST(x, z), y, 2, NULL);
    EXPECT_ERROR(LAM_ERR_SHAPE, "map of 'square_sum'", "lengths differ");
    lam_map(FN(square_sum, 2, 2), LAM_LIST(x, NULL), y, 2, NULL);
    EXPECT_ERROR(LAM_ERR_NULL, "map", "number 1 of the xs");
}
END_TEST

Suite *suite_transforms_scan(void) {
    return SUITE_OF("transforms/scan", a_scan_is_the_loop_under_every_transform, a_scan_under_linearize,
                    a_checkpointed_step, long_loops_stay_loops_in_what_jit_records, length_alone,
                    no_trips_give_the_first_carries_and_empty_results, several_carries_elements_and_results,
                    captures_are_differentiated, what_does_not_change_is_kept_once_for_all_trips,
                    map_one_by_one_and_by_batches_with_a_remainder, a_map_over_nothing,
                    a_carry_that_changes_is_refused_with_a_list, a_result_that_changes_is_refused,
                    refusals_of_scan_and_map);
}
