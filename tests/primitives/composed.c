/* What is made of other operations, of polynomial.h and here and there: values from the definitions by hand and from
 * the examples of NumPy's and SciPy's documentation; derivatives against differences, vmap against one call per
 * example. */
#include "tests/support.h"

#define INTEGERS(...)                                                                                                  \
    lam_array(ctx, LAM_I64, LAM_DIMS(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (int64_t[]){__VA_ARGS__})

/* ---- polynomials ------------------------------------------------------------------------------------------------- */

START_TEST(derivatives_and_integrals_of_polynomials) {
    lam_tensor *p = VEC(1, 1, 1, 1), *both = MAT(2, 3, 1, 2, 3, 4, 5, 6);
    EXPECT(lam_polyder(p, 1), LAM_DIMS(3), 3, 2, 1);
    EXPECT(lam_polyder(p, 2), LAM_DIMS(2), 6, 2);
    EXPECT(lam_polyder(p, 0), LAM_DIMS(4), 1, 1, 1, 1);
    EXPECT_EMPTY(lam_polyder(p, 9), LAM_DIMS(0));
    EXPECT(lam_polyder(both, 1), LAM_DIMS(2, 2), 2, 2, 8, 5);
    EXPECT_SAME(lam_polyder(INTEGERS(5, 4, 3), 1), INTEGERS(10, 4), 0);
    EXPECT_NEAR(lam_polyint(VEC(1, 1, 1), 2), 1e-16, LAM_DIMS(5), 1.0 / 12, 1.0 / 6, 0.5, 0, 0);
    EXPECT(lam_polyint(INTEGERS(3, 2), 1), LAM_DIMS(3), 1.5, 2, 0);
    EXPECT_SAME(lam_polyder(lam_polyint(both, 3), 3), both, 1e-15);
    EXPECT_NUM(lam_index(lam_polyint(VEC(0x1p1023, 1), 100000), 0, 0), 0);
    EXPECT_EMPTY(lam_polyint(lam_zeros(ctx, LAM_F64, LAM_DIMS(0, 3)), (int64_t)1 << 40),
                 LAM_DIMS(0, ((int64_t)1 << 40) + 3));
    EXPECT_OK();
    lam_polyder(num(1), 1);
    EXPECT_ERROR(LAM_ERR_RANK, "polyder");
    lam_polyint(p, -1);
    EXPECT_ERROR(LAM_ERR_VALUE, "polyint");
    lam_polyint(p, (int64_t)1 << 44);
    EXPECT_STATUS(LAM_ERR_MEMORY);
}
END_TEST

/* A polynomial is found from its own values; the second fit from NumPy's documentation of polyfit. */
START_TEST(fits_of_polynomials) {
    lam_tensor *x = VEC(0, 1, 2, 3, 4, 5), *p = VEC(2, -3, 0.5), *y = lam_polyval(p, x);
    EXPECT_SAME(lam_polyfit(x, y, 2, NULL), p, 1e-13);
    EXPECT_NEAR(lam_polyfit(x, VEC(0, 0.8, 0.9, 0.1, -0.8, -1), 3, NULL), 1e-7, LAM_DIMS(4), 0.08703704, -0.81349206,
                1.69312169, -0.03968254);
    lam_tensor *wrong = lam_add(y, VEC(0, 0, 0, 100, 0, 0)), *weights = VEC(1, 2, 1, 0, 3, 1);
    EXPECT_SAME(lam_polyfit(x, wrong, 2, weights), p, 1e-13);
    lam_tensor *several = lam_stack(LAM_LIST(y, wrong), 1), *expected = lam_stack(LAM_LIST(p, p), 1);
    EXPECT_SAME(lam_polyfit(x, several, 2, weights), expected, 1e-12);
    lam_tensor *far = lam_add(x, 1e6), *at = lam_polyval(lam_polyfit(far, y, 1, NULL), far);
    EXPECT_SAME(at, lam_polyval(lam_polyfit(x, y, 1, NULL), x), 1e-7);
    EXPECT_OK();
    lam_polyfit(x, VEC(1, 2), 1, NULL);
    EXPECT_ERROR(LAM_ERR_SHAPE, "polyfit");
    lam_polyfit(x, y, 1, VEC(1));
    EXPECT_ERROR(LAM_ERR_SHAPE, "polyfit");
    lam_polyfit(x, y, -1, NULL);
    EXPECT_ERROR(LAM_ERR_VALUE, "polyfit");
    lam_polyfit(x, y, INT64_MAX, NULL);
    EXPECT_ERROR(LAM_ERR_VALUE, "polyfit");
}
END_TEST

START_TEST(roots_of_polynomials) {
    lam_tensor *real = lam_sort(lam_real(lam_roots(VEC(2, -12, 22, -12))), 0);
    EXPECT_NEAR(real, 1e-13, LAM_DIMS(3), 1, 2, 3);
    lam_tensor *pair = lam_roots(VEC(3.2, 2, 1));
    EXPECT_NEAR(lam_real(pair), 1e-15, LAM_DIMS(2), -0.3125, -0.3125);
    EXPECT_NEAR(lam_imag(pair), 1e-8, LAM_DIMS(2), 0.46351241, -0.46351241);
    lam_tensor *two = lam_roots(MAT(2, 3, 1, 0, -4, 1, 0, 9));
    EXPECT_NEAR(lam_sort(lam_abs(two), -1), 1e-14, LAM_DIMS(2, 2), 2, 2, 3, 3);
    ck_assert(lam_dtype_of(lam_roots(lam_cast(VEC(1, 2), LAM_F32))) == LAM_C64);
    EXPECT_EMPTY(lam_real(lam_roots(VEC(5))), LAM_DIMS(0));
    EXPECT_OK();
    lam_roots(num(1));
    EXPECT_ERROR(LAM_ERR_RANK, "roots");
    lam_roots(lam_zeros(ctx, LAM_F64, LAM_DIMS(0)));
    EXPECT_ERROR(LAM_ERR_SHAPE, "roots");
}
END_TEST

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

START_TEST(steps_signs_and_angles) {
    EXPECT(lam_heaviside(VEC(-1.5, 0, -0.0, 2, NAN), num(0.5)), LAM_DIMS(5), 0, 0.5, 0.5, 1, NAN);
    EXPECT_SAME(lam_heaviside(INTEGERS(-3, 0, 4), INTEGERS(7)), INTEGERS(0, 7, 1), 0);
    EXPECT(lam_signbit(VEC(-1.2, 0, -0.0, 3, -INFINITY, copysign(NAN, -1))), LAM_DIMS(6), 1, 0, 1, 0, 1, 1);
    EXPECT(lam_signbit(INTEGERS(-1, 0, 1)), LAM_DIMS(3), 1, 0, 0);
    EXPECT(lam_deg2rad(VEC(180, -90)), LAM_DIMS(2), acos(-1), -acos(-1) / 2);
    EXPECT_NEAR(lam_rad2deg(VEC(acos(-1), 1)), 1e-14, LAM_DIMS(2), 180, 57.29577951308232);
    EXPECT(lam_rad2deg(INTEGERS(0)), LAM_DIMS(1), 0);
    lam_signbit(lam_cast(VEC(1), LAM_C128));
    EXPECT_ERROR(LAM_ERR_DTYPE, "signbit");
    lam_deg2rad(lam_cast(VEC(1), LAM_C128));
    EXPECT_ERROR(LAM_ERR_DTYPE, "deg2rad");
    lam_heaviside(VEC(1, 2), VEC(1, 2, 3));
    EXPECT_STATUS(LAM_ERR_SHAPE);
}
END_TEST

START_TEST(a_function_in_pieces) {
    lam_tensor *x = VEC(-2, -0.5, 0.5, 2), *low = lam_lt(x, -1.0), *left = lam_lt(x, 0.0);
    EXPECT(lam_select(LAM_LIST(low, left), LAM_LIST(num(-1), lam_mul(x, 10)), x), LAM_DIMS(4), -1, -5, 0.5, 2);
    EXPECT(lam_select((lam_list){0, NULL}, (lam_list){0, NULL}, x), LAM_DIMS(4), -2, -0.5, 0.5, 2);
    lam_select(LAM_LIST(low), LAM_LIST(x, x), x);
    EXPECT_ERROR(LAM_ERR_ARITY, "select", "1 conditions for 2 choices");
    lam_select(LAM_LIST(x), LAM_LIST(x), x);
    EXPECT_STATUS(LAM_ERR_DTYPE);
}
END_TEST

/* From NumPy's documentation of unwrap, and its rule for steps of half a period: they go the way that x went. */
START_TEST(angles_that_run_on) {
    const double pi = acos(-1);
    EXPECT(lam_unwrap(VEC(0, 1, 2, -1, 0), 4, 0), LAM_DIMS(5), 0, 1, 2, 3, 4);
    EXPECT(lam_unwrap(INTEGERS(1, 2, 3, 4, 5, 6, 1, 2, 3), 6, 0), LAM_DIMS(9), 1, 2, 3, 4, 5, 6, 7, 8, 9);
    EXPECT(lam_unwrap(VEC(2, 3, 4, 5, 2, 3, 4, 5), 4, -1), LAM_DIMS(8), 2, 3, 4, 5, 6, 7, 8, 9);
    EXPECT(lam_unwrap(MAT(2, 2, 0, 0, 3, 300), 360, 1), LAM_DIMS(2, 2), 0, 0, 3, -60);
    EXPECT(lam_unwrap(VEC(0, 3, 6, 3, 0), 2, 0), LAM_DIMS(5), 0, 1, 2, 1, 0);
    EXPECT_NEAR(lam_unwrap(VEC(0, pi, 0, 5), 0, 0), 1e-15, LAM_DIMS(4), 0, pi, 0, 5 - 2 * pi);
    lam_unwrap(VEC(1), -1, 0);
    EXPECT_ERROR(LAM_ERR_VALUE, "unwrap");
    lam_unwrap(num(1), 0, 0);
    EXPECT_ERROR(LAM_ERR_AXIS, "unwrap");
}
END_TEST

/* The value from SciPy 1.17; in one dimension it is lgamma. */
START_TEST(the_multivariate_gamma_function) {
    EXPECT_NEAR(lam_multigammaln(num(23.5), 10), 1e-12, LAM_DIMS0, 457.1766747829046);
    EXPECT_SAME(lam_multigammaln(VEC(0.3, 4), 1), lam_lgamma(VEC(0.3, 4)), 0);
    lam_multigammaln(num(1), 0);
    EXPECT_ERROR(LAM_ERR_VALUE, "multigammaln");
    lam_multigammaln(lam_cast(num(1), LAM_C128), 1);
    EXPECT_ERROR(LAM_ERR_DTYPE, "multigammaln");
}
END_TEST

/* ---- samples and sets -------------------------------------------------------------------------------------------- */

START_TEST(integrals_up_to_each_sample) {
    lam_tensor *y = VEC(1, 2, 3, 4), *x = VEC(0, 1, 3, 3.5);
    EXPECT(lam_cumulative_trapezoid(y, NULL, 2, 0), LAM_DIMS(3), 3, 8, 15);
    EXPECT(lam_cumulative_trapezoid(y, x, 1, 0), LAM_DIMS(3), 1.5, 6.5, 8.25);
    EXPECT(lam_cumulative_trapezoid(MAT(2, 2, 1, 2, 3, 4), NULL, 1, 0), LAM_DIMS(1, 2), 2, 3);
    EXPECT(lam_cumulative_trapezoid(MAT(2, 2, 1, 2, 3, 4), VEC(0, 4), 1, 1), LAM_DIMS(2, 1), 6, 14);
    EXPECT_NUM(lam_trapezoid(y, x, 1, 0), 8.25);
    lam_cumulative_trapezoid(y, NULL, 1, 1);
    EXPECT_ERROR(LAM_ERR_AXIS, "cumulative_trapezoid");
}
END_TEST

/* The first ones of each from NumPy's documentation. */
START_TEST(sets_and_orders) {
    EXPECT(lam_is_in(MAT(2, 2, 0, 2, 4, 6), VEC(1, 2, 4, 8)), LAM_DIMS(2, 2), 0, 1, 1, 0);
    EXPECT(lam_is_in(VEC(NAN, 1, 9), MAT(1, 2, 1, NAN)), LAM_DIMS(3), 0, 1, 0);
    EXPECT(lam_is_in(INTEGERS(3, 4), INTEGERS(4)), LAM_DIMS(2), 0, 1);
    EXPECT(lam_is_in(lam_cast(VEC(0, 1), LAM_BOOL), lam_cast(VEC(1), LAM_BOOL)), LAM_DIMS(2), 0, 1);
    EXPECT(lam_is_in(VEC(1, 2), lam_zeros(ctx, LAM_F64, LAM_DIMS(0))), LAM_DIMS(2), 0, 0);
    EXPECT(lam_lexsort(LAM_LIST(INTEGERS(9, 4, 0, 4, 0, 2, 1), INTEGERS(1, 5, 1, 4, 3, 4, 4)), 0), LAM_DIMS(7), 2, 0, 4,
           6, 5, 3, 1);
    EXPECT(lam_lexsort(LAM_LIST(MAT(2, 2, 4, 3, 1, 2)), 1), LAM_DIMS(2, 2), 1, 0, 0, 1);
    lam_is_in(lam_cast(VEC(1), LAM_C128), VEC(1));
    EXPECT_ERROR(LAM_ERR_DTYPE, "is_in");
    lam_lexsort(LAM_LIST(VEC(1, 2), VEC(1)), 0);
    EXPECT_ERROR(LAM_ERR_SHAPE, "lexsort", "key 1");
    lam_lexsort(LAM_LIST(num(1)), 0);
    EXPECT_ERROR(LAM_ERR_AXIS, "lexsort");
}
END_TEST

/* From NumPy's documentation. */
START_TEST(statistics_of_what_is_there) {
    lam_tensor *x = MAT(2, 2, 1, NAN, 3, 4);
    EXPECT_NEAR(lam_nanvar(x, NULL), 1e-15, LAM_DIMS0, 14.0 / 9);
    EXPECT(lam_nanvar(x, &(lam_var_options){.axes = LAM_AXES(0)}), LAM_DIMS(2), 1, 0);
    EXPECT(lam_nanvar(x, &(lam_var_options){.axes = LAM_AXES(1), .ddof = 1, .keepdims = true}), LAM_DIMS(2, 1), NAN,
           0.5);
    EXPECT_NEAR(lam_nanstd(x, NULL), 1e-15, LAM_DIMS0, 1.247219128924647);
    EXPECT(lam_nanstd(x, &(lam_var_options){.axes = LAM_AXES(1)}), LAM_DIMS(2), 0, 0.5);
    EXPECT_NUM(lam_nanprod(x, NULL), 12);
    EXPECT(lam_nanprod(MAT(1, 2, NAN, NAN), &(lam_reduce_options){.axes = LAM_AXES(1)}), LAM_DIMS(1), 1);
    EXPECT(lam_nanvar(x, &(lam_var_options){.axes = LAM_AXES(1), .ddof = 2}), LAM_DIMS(2), NAN, NAN);
    for (int ddof = 2; ddof <= 3; ddof++) {
        EXPECT_NUM(lam_var(VEC(1, 2), &(lam_var_options){.ddof = ddof}), NAN);
        EXPECT_NUM(lam_std(VEC(5, 5), &(lam_var_options){.ddof = ddof}), NAN);
    }
    lam_nanvar(x, &(lam_var_options){.axes = LAM_AXES(2)});
    EXPECT_STATUS(LAM_ERR_AXIS);
}
END_TEST

/* From SciPy's documentation. */
START_TEST(matrices_of_constant_diagonals) {
    EXPECT(lam_toeplitz(VEC(1, 2, 3), VEC(1, 4, 5, 6)), LAM_DIMS(3, 4), 1, 4, 5, 6, 2, 1, 4, 5, 3, 2, 1, 4);
    EXPECT(lam_toeplitz(VEC(1, 2), NULL), LAM_DIMS(2, 2), 1, 2, 2, 1);
    lam_tensor *turning = lam_toeplitz(lam_complex(VEC(1, 2), VEC(0, 3)), NULL);
    EXPECT(lam_imag(turning), LAM_DIMS(2, 2), 0, -3, 3, 0);
    lam_toeplitz(num(1), NULL);
    EXPECT_ERROR(LAM_ERR_RANK, "toeplitz");
    lam_toeplitz(VEC(1), lam_zeros(ctx, LAM_F64, LAM_DIMS(0)));
    EXPECT_ERROR(LAM_ERR_SHAPE, "toeplitz");
}
END_TEST

/* ---- derivatives and batches ------------------------------------------------------------------------------------- */

BODY(of_a_fit) {
    lam_tensor *x = lam_add(lam_mul(in[0], in[0]), VEC(0, 1, 2, 3, 4)), *weights = lam_add(1.0, lam_square(in[0]));
    out[0] = lam_mul(lam_polyfit(x, lam_sin(in[0]), 2, weights), lam_polyint(lam_polyder(in[0], 3), 1));
}

/* Roots near 1, 2, 3 and 4; their order is LAPACK's, so that a sum over all is what is differentiated. */
BODY(of_roots) {
    lam_tensor *p = lam_add(VEC(1, -10, 35, -50, 24), lam_mul(0.05, in[0])), *z = lam_roots(p);
    out[0] = lam_sum(lam_mul(lam_real(z), lam_sin(lam_real(z))), NULL);
}

BODY(of_turns) {
    lam_tensor *angles = lam_rad2deg(lam_unwrap(lam_mul(in[0], 9.0), 0, 0));
    lam_tensor *pieces =
        lam_select(LAM_LIST(lam_lt(in[0], 0.0)), LAM_LIST(lam_square(in[0])), lam_heaviside(in[0], in[0]));
    out[0] = lam_cumulative_trapezoid(lam_square(lam_deg2rad(angles)), lam_add(pieces, lam_cumsum(in[0], 0)), 1, 0);
}

BODY(of_statistics) {
    lam_tensor *with_gap = lam_where(lam_gt(in[0], 0.4), NAN, in[0]);
    lam_tensor *spread = lam_mul(lam_nanstd(with_gap, NULL), lam_nanprod(with_gap, NULL));
    lam_tensor *part = lam_slice_axis(in[0], 0, 0, 3);
    out[0] = lam_add(lam_mul(spread, lam_toeplitz(part, lam_sin(part))),
                     lam_sum(lam_multigammaln(lam_add(2.0, in[0]), 3), NULL));
}

static const lam_body bodies[] = {of_a_fit, of_roots, of_turns, of_statistics};

enum { BODIES = sizeof bodies / sizeof bodies[0] };

START_TEST(derivatives_agree_with_differences) {
    lam_fn *f = FN(bodies[_i], 1, 1);
    lam_tensor *x = VEC(0.31, -0.22, 0.45, -0.63, 0.17);
    ck_assert_msg(lam_check_grads(f, LAM_LIST(x), &(lam_check_grads_options){.order = 2}) == LAM_OK, "body %d: %s", _i,
                  lam_error(ctx));
}
END_TEST

START_TEST(vmap_equals_the_loop) {
    lam_fn *f = FN(bodies[_i], 1, 1);
    lam_tensor *x = VEC(0.31, -0.22, 0.45, -0.63, 0.17), *y = lam_mul(x, 0.9);
    lam_tensor *apart = lam_stack(LAM_LIST(apply1(f, x), apply1(f, y)), 0);
    EXPECT_SAME(apply1(lam_vmap(f, NULL), lam_stack(LAM_LIST(x, y), 0)), apart, 1e-12);
}
END_TEST

/* As numpy.sum and numpy.prod have it, whatever is reduced and however much there is of it. */
START_TEST(small_integers_do_not_wrap_in_sums) {
    const uint8_t bytes[] = {250, 3, 7, 200, 9, 1};
    const int32_t words[] = {2000000000, 2, -5, 2000000000, 3, 1};
    lam_tensor *b = lam_array(ctx, LAM_U8, LAM_DIMS(2, 3), bytes), *w = lam_array(ctx, LAM_I32, LAM_DIMS(2, 3), words);
    const lam_reduce_options rows = {.axes = LAM_AXES(0)}, kept = {.axes = LAM_AXES(1), .keepdims = true};
    EXPECT(lam_sum(b, NULL), LAM_DIMS0, 470);
    EXPECT(lam_sum(w, &rows), LAM_DIMS(3), 4000000000., 5, -4);
    EXPECT(lam_prod(b, &kept), LAM_DIMS(2, 1), 5250, 1800);
    EXPECT(lam_prod(w, &rows), LAM_DIMS(3), 4e18, 6, -5);
    EXPECT(lam_matrix_trace(b, 0, 0, 1), LAM_DIMS0, 259);
    ck_assert_int_eq(lam_dtype_of(lam_sum(b, &rows)), LAM_I64);
    ck_assert_int_eq(lam_dtype_of(lam_sum(lam_gt(w, 0), &kept)), LAM_I64);
    lam_tensor *many = lam_broadcast_to(b, LAM_DIMS(300000, 2, 3)),
               *mask = lam_gt(lam_reshape(many, LAM_DIMS(-1, 6)), 8);
    EXPECT(lam_sum(many, &rows), LAM_DIMS(2, 3), 75e6, 9e5, 21e5, 6e7, 27e5, 3e5);
    EXPECT(lam_sum(many, &(lam_reduce_options){.keepdims = true}), LAM_DIMS(1, 1, 1), 141e6);
    EXPECT_NUM(lam_sum(mask, NULL), 9e5);
    lam_tensor *each = lam_sum(mask, &kept);
    ck_assert(lam_dim(each, 0) == 300000 && lam_dim(each, 1) == 1);
    EXPECT_NUM(lam_min_reduce(each, NULL), 3);
    EXPECT_NUM(lam_max_reduce(each, NULL), 3);
    lam_sum(many, &(lam_reduce_options){.axes = LAM_AXES(3)});
    EXPECT_ERROR(LAM_ERR_AXIS, "sum", "u8[300000, 2, 3]");
}
END_TEST

/* A mean of integers is the quotient of their exact sum and their number, rounded once, whatever the number is. */
START_TEST(means_of_integers_are_quotients) {
    enum { ROWS = 50 };
    static const int64_t numbers[] = {1, 2, 3, 4, 5, 7, 8, 10, 16, 49, 64, 100, 1000, 1024};
    static uint8_t bytes[ROWS * 1024];
    const lam_reduce_options last = {.axes = LAM_AXES(1)};
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)(i * i / 7 + i % 251);
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
        const int64_t n = numbers[k];
        const double *mean = lam_data(lam_mean(lam_array(ctx, LAM_U8, LAM_DIMS(ROWS, n), bytes), &last));
        for (int64_t r = 0; r < ROWS; r++) {
            int64_t sum = 0;
            for (int64_t i = 0; i < n; i++) sum += bytes[r * n + i];
            ck_assert(mean[r] == (double)sum / (double)n);
        }
    }
    EXPECT_OK();
}
END_TEST

/* The mean of integers is their sum over their number; bytes are true that are not 0. */
START_TEST(means_and_truths_of_integers) {
    const lam_reduce_options last = {.axes = LAM_AXES(1)};
    lam_tensor *x = lam_array(ctx, LAM_I32, LAM_DIMS(2, 2), (int32_t[]){INT32_MAX, INT32_MAX, -3, 4});
    lam_tensor *bytes = lam_array(ctx, LAM_U8, LAM_DIMS(4, 2), (uint8_t[]){0, 0, 0, 128, 255, 0, 1, 2});
    EXPECT(lam_mean(x, &last), LAM_DIMS(2), INT32_MAX, 0.5);
    EXPECT(lam_mean(bytes, &last), LAM_DIMS(4), 0, 64, 127.5, 1.5);
    EXPECT_NUM(lam_mean(lam_gt(bytes, 0), NULL), 0.5);
    ck_assert(lam_dtype_of(lam_mean(x, NULL)) == LAM_F64 && lam_dtype_of(lam_any(bytes, NULL)) == LAM_BOOL);
    EXPECT(lam_any(bytes, &last), LAM_DIMS(4), 0, 1, 1, 1);
    EXPECT(lam_all(bytes, &last), LAM_DIMS(4), 0, 0, 0, 1);
    lam_tensor *none = lam_zeros(ctx, LAM_U8, LAM_DIMS(0));
    ck_assert(lam_item(lam_all(none, NULL)) == 1 && lam_item(lam_any(none, NULL)) == 0);
    ck_assert(isnan(lam_item(lam_mean(none, NULL))));
    EXPECT_OK();
    lam_any(bytes, &(lam_reduce_options){.axes = LAM_AXES(2)});
    EXPECT_ERROR(LAM_ERR_AXIS, "any", "u8[4, 2]");
}
END_TEST

/* 2^53 + 1 is no f64. */
START_TEST(integers_have_no_nan) {
    lam_tensor *x = lam_array(ctx, LAM_I64, LAM_DIMS(2), (int64_t[]){(INT64_C(1) << 53) + 1, 3}),
               *odd = lam_index(x, 0, 0);
    EXPECT_NUM(lam_all(lam_eq(lam_nanmax(x, NULL), odd), NULL), 1);
    EXPECT_NUM(lam_all(lam_eq(lam_nanmin(lam_neg(x), NULL), lam_neg(odd)), NULL), 1);
    EXPECT_NUM(lam_all(lam_eq(lam_nansum(x, NULL), lam_add(odd, 3)), NULL), 1);
    EXPECT_NUM(lam_all(lam_eq(lam_nanprod(odd, NULL), odd), NULL), 1);
    EXPECT_NUM(lam_nanmean(lam_array(ctx, LAM_I32, LAM_DIMS(2), (int32_t[]){1, 2}), NULL), 1.5);
    EXPECT_NUM(lam_nanvar(lam_array(ctx, LAM_U8, LAM_DIMS(2), (uint8_t[]){1, 2}), NULL), 0.25);
    EXPECT_OK();
    lam_bincount(lam_cast(VEC(1), LAM_F16), NULL, 2);
    EXPECT_ERROR(LAM_ERR_DTYPE, "bincount");
}
END_TEST

static lam_tensor *bytes(int64_t n, const uint8_t *elements) {
    return lam_array(ctx, LAM_U8, LAM_DIMS(n), elements);
}

/* Differences of u8 wrap, those of f64 do not; values are the definitions, by hand. */
START_TEST(differences_of_integers_do_not_wrap) {
    lam_tensor *down = bytes(2, (uint8_t[]){5, 2}), *ones = VEC(1, 1), *ends = VEC(0, 2), *middle = VEC(1);
    const int32_t far[] = {-2000000000, 2000000000};
    lam_tensor *places = lam_array(ctx, LAM_I32, LAM_DIMS(2), far);
    EXPECT(lam_trapezoid(ones, down, 0, 0), LAM_DIMS0, -3);
    EXPECT(lam_cumulative_trapezoid(lam_cast(ones, LAM_U8), down, 0, 0), LAM_DIMS(1), -3);
    EXPECT(lam_simpson(ones, down, 0, 0), LAM_DIMS0, -3);
    EXPECT(lam_interp(middle, ends, down), LAM_DIMS(1), 3.5);
    EXPECT(lam_interp(middle, ends, places), LAM_DIMS(1), 0);
    EXPECT(lam_interp(VEC(0), places, ends), LAM_DIMS(1), 1);
    EXPECT(lam_interp_with(VEC(4), ends, down, &(lam_interp_options){.extrapolate = true}), LAM_DIMS(1), -1);
    EXPECT(lam_interp_with(VEC(3), ends, down, &(lam_interp_options){.period = 4}), LAM_DIMS(1), 3.5);
    EXPECT_NEAR(lam_kl_div(bytes(1, (uint8_t[]){3}), bytes(1, (uint8_t[]){1})), 1e-15, LAM_DIMS(1), 3 * log(3) - 2);
    EXPECT_NEAR(lam_log_logistic(bytes(1, (uint8_t[]){2})), 1e-16, LAM_DIMS(1), -log1p(exp(-2)));
    lam_tensor *least = lam_array(ctx, LAM_I64, LAM_DIMS0, (int64_t[]){INT64_MIN});
    EXPECT(lam_log_logistic(least), LAM_DIMS0, -0x1p63);
    EXPECT(lam_softsign(least), LAM_DIMS0, -1);
    lam_tensor *feature = lam_reshape(bytes(2, (uint8_t[]){1, 5}), LAM_DIMS(2, 1));
    EXPECT_NEAR(lam_batch_norm(feature, 1, bytes(1, (uint8_t[]){3}), bytes(1, (uint8_t[]){4}), NULL, NULL, NULL), 2e-6,
                LAM_DIMS(2, 1), -1, 1);
    lam_tensor *single = lam_cast(ones, LAM_F32); /* beside a float they are of its dtype */
    ck_assert_int_eq(lam_dtype_of(lam_trapezoid(single, down, 0, 0)), LAM_F32);
    ck_assert_int_eq(lam_dtype_of(lam_interp(single, down, down)), LAM_F32);
    ck_assert_int_eq(lam_dtype_of(lam_kl_div(down, single)), LAM_F32);
    EXPECT_OK();
}
END_TEST

/* Numbers that are not negative, and truths, which are 0 and 1. */
START_TEST(bytes_and_truths_have_every_function_of_numbers) {
    lam_tensor *yes = lam_gt(VEC(1, -1), 0.0);
    EXPECT(lam_hard_tanh(bytes(2, (uint8_t[]){0, 7})), LAM_DIMS(2), 0, 1);
    EXPECT(lam_relu6(bytes(2, (uint8_t[]){5, 7})), LAM_DIMS(2), 5, 6);
    EXPECT(lam_hard_tanh(yes), LAM_DIMS(2), 1, 0);
    EXPECT(lam_relu6(yes), LAM_DIMS(2), 1, 0);
    ck_assert(lam_dtype_of(lam_hard_tanh(yes)) == LAM_BOOL && lam_dtype_of(lam_relu6(bytes(0, NULL))) == LAM_U8);
    EXPECT(lam_softsign(yes), LAM_DIMS(2), 0.5, 0);
    EXPECT_NEAR(lam_log_logistic(yes), 1e-15, LAM_DIMS(2), -log1p(exp(-1)), -log(2));
    EXPECT(lam_kl_div(yes, yes), LAM_DIMS(2), 0, 0);
    EXPECT(lam_interp(VEC(0.25), VEC(0, 1), yes), LAM_DIMS(1), 0.75);
    EXPECT(lam_trapezoid(VEC(1, 1), yes, 0, 0), LAM_DIMS0, -1);
    EXPECT_OK();
}
END_TEST

BODY(variance_of_halves) {
    out[0] = lam_var(in[0], NULL);
}

BODY(weighted_rows) {
    out[0] = lam_average(in[0], in[1], &(lam_reduce_options){.axes = LAM_AXES(0)});
}

/* As numpy has it: a vector lies along the one axis that is named, also where it would broadcast along another. */
START_TEST(averages_along_an_axis) {
    lam_tensor *x = MAT(2, 3, 1, 2, 4, 3, -1, 2), *square = MAT(2, 2, 1, 2, 3, 4), *w = VEC(1, 3);
    const lam_reduce_options rows = {.axes = LAM_AXES(0)}, kept = {LAM_AXES(-2), true};
    EXPECT(lam_average(x, w, &rows), LAM_DIMS(3), 2.5, -0.25, 2.5);
    EXPECT(lam_average(square, w, &rows), LAM_DIMS(2), 2.5, 3.5);
    EXPECT(lam_average(square, w, &kept), LAM_DIMS(1, 2), 2.5, 3.5);
    EXPECT(lam_average(square, w, NULL), LAM_DIMS0, 2.75);
    EXPECT_OK();
    lam_fn *f = FN(weighted_rows, 2, 1);
    ck_assert_int_eq(lam_check_grads(f, LAM_LIST(x, w), &(lam_check_grads_options){.order = 2}), LAM_OK);
    lam_tensor *both = lam_stack(LAM_LIST(w, lam_exp(w)), 0);
    lam_fn *each = lam_vmap(f, &(lam_vmap_options){.in_axes = LAM_AXES(LAM_UNMAPPED, 0)});
    EXPECT_SAME(apply2(each, x, both), lam_stack(LAM_LIST(apply2(f, x, w), apply2(f, x, lam_exp(w))), 0), 1e-15);
    lam_average(x, VEC(1, 2, 3), &rows);
    EXPECT_ERROR(LAM_ERR_SHAPE, "average", "axis that is named");
    lam_average(x, w, &(lam_reduce_options){.axes = LAM_AXES(2)});
    EXPECT_ERROR(LAM_ERR_AXIS, "average");
}
END_TEST

/* 40 and 60 in turn, whose sum is beyond the largest f16 though mean and variance are not, and quantiles of elements
 * whose difference or sum is. */
START_TEST(sums_of_halves_leave_their_range) {
    lam_tensor *k = lam_iota(ctx, LAM_I64, LAM_DIMS(4000), 0), *odd = lam_cast(lam_rem(k, 2), LAM_F16);
    lam_tensor *x = lam_add(lam_mul(20, odd), 40), *rows = lam_reshape(x, LAM_DIMS(2, 2000));
    EXPECT_NUM(lam_mean(x, NULL), 50);
    EXPECT_NUM(lam_var(x, NULL), 100);
    EXPECT_NUM(lam_std(x, NULL), 10);
    EXPECT_NUM(lam_nanmean(x, NULL), 50);
    EXPECT_NUM(lam_nanvar(x, NULL), 100);
    EXPECT_NUM(lam_nanstd(x, NULL), 10);
    EXPECT_NUM(lam_average(x, lam_ones_like(x), NULL), 50);
    EXPECT(lam_cov(rows, 0), LAM_DIMS(2, 2), 100, 100, 100, 100);
    EXPECT(lam_corrcoef(rows), LAM_DIMS(2, 2), 1, 1, 1, 1);
    ck_assert_int_eq(lam_dtype_of(lam_cov(rows, 0)), LAM_F16);
    lam_tensor *slope = lam_apply(lam_grad(FN(variance_of_halves, 1, 1), NULL), LAM_LIST(x));
    EXPECT_SAME(slope, lam_div(lam_sub(x, 50), 2000), 1e-5);
    lam_tensor *wide = lam_cast(VEC(-60000, 60000), LAM_F16), *high = lam_cast(VEC(60000, 62048), LAM_F16);
    EXPECT(lam_quantile(wide, VEC(0.5, 0.25), NULL), LAM_DIMS(2), 0, -30000);
    EXPECT_NUM(lam_quantile(high, num(0.5), &(lam_quantile_options){.method = LAM_QUANTILE_MIDPOINT}), 61024);
    EXPECT_NUM(lam_nanquantile(wide, num(0.5), NULL), 0);
    EXPECT_OK();
}
END_TEST

static lam_tensor *halves(lam_tensor *x) {
    return lam_cast(x, LAM_F16);
}

BODY(length_of_rms) {
    out[0] = lam_sum(lam_mul(lam_rms_norm(in[0], NULL, NULL), in[1]), NULL);
}

/* What is composed of sums, squares and differences is worked out in f32: these leave the range of f16 (65504, 6e-8),
 * results do not. By the definitions, which of 300, -400, 500, 600 have a mean square of 215000. */
START_TEST(compositions_of_halves_leave_their_range) {
    const double root = sqrt(215000);
    lam_tensor *x = halves(VEC(300, -400, 500, 600)), *column = lam_reshape(x, LAM_DIMS(4, 1)),
               *w = halves(VEC(1, 2, 3, 4));
    EXPECT_NEAR(lam_rms_norm(x, NULL, NULL), 1e-3, LAM_DIMS(4), 300 / root, -400 / root, 500 / root, 600 / root);
    EXPECT_SAME(lam_batch_norm(column, 1, NULL, NULL, NULL, NULL, NULL),
                lam_reshape(lam_layer_norm(x, NULL, NULL, NULL), LAM_DIMS(4, 1)), 1e-3);
    lam_tensor *slopes =
        lam_apply(lam_grad(FN(length_of_rms, 2, 1), NULL), LAM_LIST(x, w)); /* (w - x mean(w x)/ms)/root */
    EXPECT_NEAR(slopes, 1e-3, LAM_DIMS(4), (1 - 300 * 850 / 215e3) / root, (2 + 400 * 850 / 215e3) / root,
                (3 - 500 * 850 / 215e3) / root, (4 - 600 * 850 / 215e3) / root);
    const lam_normalize_options small = {.epsilon = 1e-8};
    lam_tensor *none = halves(MAT(2, 1, 0, 0));
    EXPECT(lam_rms_norm(none, NULL, &small), LAM_DIMS(2, 1), 0, 0);
    EXPECT(lam_batch_norm(none, 1, NULL, NULL, NULL, NULL, &small), LAM_DIMS(2, 1), 0, 0);
    lam_tensor *many = lam_broadcast_to(halves(num(400)), LAM_DIMS(196)), *ends = halves(VEC(-60000, 60000));
    const lam_window_options all = {.window = LAM_DIMS(196), .exclude_padding = true};
    EXPECT(lam_avg_pool(many, &(lam_window_options){.window = LAM_DIMS(196)}), LAM_DIMS(1), 400);
    EXPECT(lam_avg_pool(many, &all), LAM_DIMS(1), 400);
    EXPECT(lam_trapezoid(many, NULL, 0.125, 0), LAM_DIMS0, 9752); /* 9750, to 11 bits */
    EXPECT(lam_index(lam_cumulative_trapezoid(many, NULL, 0.125, 0), 0, -1), LAM_DIMS0, 9752);
    EXPECT(lam_simpson(halves(VEC(20000, 20000, 20000)), NULL, 0.125, 0), LAM_DIMS0, 5000);
    EXPECT(lam_interp(halves(VEC(0.5)), halves(VEC(0, 1)), ends), LAM_DIMS(1), 0);
    EXPECT(lam_gradient_at(ends, halves(VEC(0, 8)), 0), LAM_DIMS(2), 15000, 15000);
    EXPECT(lam_gradient(ends, 8, 0), LAM_DIMS(2), 15000, 15000);
    EXPECT(lam_unwrap(ends, 100000, 0), LAM_DIMS(2), -60000, -40000);
    lam_tensor *near_singular = halves(MAT(2, 2, 3, 1, 1, 342.0 / 1024)), *right = halves(VEC(4, 1366.0 / 1024));
    EXPECT(lam_solve(near_singular, right), LAM_DIMS(2), 1, 1); /* 1/3 of 11 bits would make 4/3 of it */
    EXPECT(lam_solve(near_singular, lam_cast(VEC(1, 0), LAM_I32)), LAM_DIMS(2), 171, -512);
    EXPECT(lam_inv(near_singular), LAM_DIMS(2, 2), 171, -512, -512, 1536);
    lam_tensor *pair = halves(MAT(2, 1, 300, 299)); /* scores of 90000 and 89700 */
    EXPECT(lam_attention(halves(MAT(1, 1, 300)), pair, halves(MAT(2, 1, 1, 2)), NULL), LAM_DIMS(1, 1), 1);
    ck_assert(lam_dtype_of(lam_attention(pair, pair, pair, NULL)) == LAM_F16 &&
              lam_dtype_of(lam_gradient(ends, 8, 0)) == LAM_F16 && lam_dtype_of(lam_unwrap(ends, 0, 0)) == LAM_F16);
    ck_assert(lam_dtype_of(lam_simpson(ends, NULL, 1, 0)) == LAM_F16 &&
              lam_dtype_of(lam_rms_norm(x, w, NULL)) == LAM_F16);
    ck_assert(lam_dtype_of(lam_avg_pool(many, &all)) == LAM_F16 && lam_dtype_of(lam_kl_div(w, w)) == LAM_F16);
    EXPECT_OK();
}
END_TEST

Suite *suite_primitives_composed(void) {
    Suite *s =
        SUITE_OF("primitives/composed", small_integers_do_not_wrap_in_sums, derivatives_and_integrals_of_polynomials,
                 fits_of_polynomials, roots_of_polynomials, steps_signs_and_angles, a_function_in_pieces,
                 angles_that_run_on, the_multivariate_gamma_function, integrals_up_to_each_sample, sets_and_orders,
                 statistics_of_what_is_there, matrices_of_constant_diagonals, means_and_truths_of_integers,
                 means_of_integers_are_quotients, integers_have_no_nan, sums_of_halves_leave_their_range,
                 averages_along_an_axis, differences_of_integers_do_not_wrap,
                 bytes_and_truths_have_every_function_of_numbers, compositions_of_halves_leave_their_range);
    suite_loop(s, derivatives_agree_with_differences, BODIES);
    suite_loop(s, vmap_equals_the_loop, BODIES);
    return s;
}
