/* Complex tensors as values: dtypes, memory in and out, literals, promotion, what is refused, special values, and that
 * what only moves elements moves both parts. The operations themselves are in tests/primitives/cases_complex.c. */
#include "tests/support.h"

#include <float.h>

#define C128(...)                                                                                                      \
    complex_of((const lam_c128[]){__VA_ARGS__}, sizeof((const lam_c128[]){__VA_ARGS__}) / sizeof(lam_c128))

static lam_tensor *complex_of(const lam_c128 *x, size_t count) {
    return lam_array(ctx, LAM_C128, LAM_DIMS((int64_t)count), x);
}

#define EXPECT_COMPLEX(t, tolerance, re, im) expect_complex(__LINE__, t, tolerance, re, im)
static void expect_complex(int line, lam_tensor *t, double tolerance, double re, double im) {
    lam_c128 got = lam_item_complex(t);
    bool fine = (fabs(got.re - re) <= tolerance || got.re == re || (isnan(got.re) && isnan(re))) &&
                (fabs(got.im - im) <= tolerance || got.im == im || (isnan(got.im) && isnan(im)));
    ck_assert_msg(fine, "line %d: %.17g %+.17g i, not %.17g %+.17g i", line, got.re, got.im, re, im);
}

/* ---- dtypes ------------------------------------------------------------------------------------------------------ */

START_TEST(dtypes_have_names_and_sizes) {
    ck_assert_str_eq(lam_dtype_name(LAM_C128), "c128");
    ck_assert_str_eq(lam_dtype_name(LAM_C64), "c64");
    ck_assert_uint_eq(lam_dtype_bytes(LAM_C128), 16);
    ck_assert_uint_eq(lam_dtype_bytes(LAM_C64), 8);
}
END_TEST

/* As numpy.result_type: the parts are as wide as the wider float; integers and bools have no say. */
START_TEST(promotion) {
    static const lam_dtype with_c64[] = {
        [LAM_F64] = LAM_C128, [LAM_F32] = LAM_C64,  [LAM_I64] = LAM_C64,   [LAM_I32] = LAM_C64,
        [LAM_U8] = LAM_C64,   [LAM_BOOL] = LAM_C64, [LAM_C128] = LAM_C128, [LAM_C64] = LAM_C64};
    for (int d = 0; d <= LAM_C64; d++) {
        lam_tensor *x = lam_ones(ctx, (lam_dtype)d, LAM_DIMS(2));
        lam_tensor *narrow = lam_ones(ctx, LAM_C64, LAM_DIMS(2)), *wide = lam_ones(ctx, LAM_C128, LAM_DIMS(2));
        ck_assert_int_eq(lam_dtype_of(lam_add(x, narrow)), with_c64[d]);
        ck_assert_int_eq(lam_dtype_of(lam_add(narrow, x)), with_c64[d]);
        ck_assert_int_eq(lam_dtype_of(lam_mul(wide, x)), LAM_C128);
    }
    lam_tensor *none = lam_complex(lam_ones(ctx, LAM_F64, LAM_DIMS(1, 0)), lam_ones(ctx, LAM_F64, LAM_DIMS(5, 0)));
    ck_assert_int_eq(lam_dim(none, 0), 5);
}
END_TEST

START_TEST(c_numbers_beside_complex_tensors) {
    lam_tensor *z = lam_scalar_complex(ctx, 1, 2);
    EXPECT_COMPLEX(lam_mul(2.5, z), 0, 2.5, 5);
    EXPECT_COMPLEX(lam_sub(z, 3), 0, -2, 2);
    EXPECT_COMPLEX(lam_div(5, z), 0, 1, -2);
    ck_assert_int_eq(lam_dtype_of(lam_mul(2.5, lam_cast(z, LAM_C64))), LAM_C64);
}
END_TEST

/* sin(1 + 2i) and cos(1 + 2i) by mpmath. */
START_TEST(sine_and_cosine_at_once) {
    lam_tensor *sine, *cosine;
    ck_assert_int_eq(lam_sincos(lam_scalar_complex(ctx, 1, 2), &sine, &cosine), LAM_OK);
    EXPECT_COMPLEX(sine, 1e-15, 3.165778513216168, 1.959601041421606);
    EXPECT_COMPLEX(cosine, 1e-15, 2.0327230070196656, -3.0518977991517997);
}
END_TEST

/* ---- memory ------------------------------------------------------------------------------------------------------ */

START_TEST(in_and_out) {
    const lam_c128 x[] = {{1, 2}, {3, 4}, {5, 6}, {7, 8}};
    lam_c128 back[4];
    lam_tensor *z = lam_array(ctx, LAM_C128, LAM_DIMS(2, 2), x);
    ck_assert_int_eq(lam_read(lam_transpose(z, (lam_axes){0}), back, sizeof back), LAM_OK);
    const lam_c128 turned[] = {{1, 2}, {5, 6}, {3, 4}, {7, 8}};
    ck_assert_mem_eq(back, turned, sizeof back);
    ck_assert_int_eq(lam_read_strided(z, back, LAM_DIMS(1, 2)), LAM_OK);
    ck_assert_mem_eq(back, turned, sizeof back);
    ck_assert_ptr_nonnull(lam_data(z));
}
END_TEST

START_TEST(borrowed_memory_with_strides) {
    lam_c128 x[] = {{1, 2}, {3, 4}, {5, 6}};
    lam_tensor *z = lam_borrow(ctx, LAM_C128, LAM_DIMS(3), &x[2], &(lam_borrow_options){.strides = LAM_DIMS(-1)});
    EXPECT(lam_real(z), LAM_DIMS(3), 5, 3, 1);
    EXPECT(lam_imag(z), LAM_DIMS(3), 6, 4, 2);
    EXPECT(lam_imag(lam_sum(z, NULL)), LAM_DIMS0, 12);
}
END_TEST

START_TEST(creation) {
    EXPECT_COMPLEX(lam_sum(lam_ones(ctx, LAM_C64, LAM_DIMS(3)), NULL), 0, 3, 0);
    EXPECT_COMPLEX(lam_sum(lam_eye(ctx, LAM_C128, 3, 4), NULL), 0, 3, 0);
    EXPECT_COMPLEX(lam_sum(lam_arange(ctx, LAM_C128, 0, 4, 1), NULL), 0, 6, 0);
    EXPECT_COMPLEX(lam_full_like(lam_scalar_complex(ctx, 1, 2), 4), 0, 4, 0);
}
END_TEST

START_TEST(one_element) {
    EXPECT_COMPLEX(num(2.5), 0, 2.5, 0);
    ck_assert(isnan(lam_item(lam_scalar_complex(ctx, 1, 0))));
    EXPECT_ERROR(LAM_ERR_DTYPE, "lam_item", "c128", "lam_item_complex");
    ck_assert(isnan(lam_item_complex(VEC(1, 2)).im));
    EXPECT_ERROR(LAM_ERR_SHAPE, "lam_item_complex", "2 elements");
}
END_TEST

static void expect_printed(lam_tensor *t, const char *want) {
    char text[256];
    FILE *file = tmpfile();
    lam_print(file, t);
    rewind(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    ck_assert_str_eq(text, want);
}

START_TEST(printing) {
    expect_printed(C128({1, -2.5}, {0, 0}, {(double)NAN, (double)-INFINITY}),
                   "c128[3]: [  1-2.5i,     0+0i, nan-infi]\n");
    expect_printed(lam_cast(lam_scalar_complex(ctx, 0.1, 100), LAM_C64), "c64[]: 0.1+100i\n");
}
END_TEST

/* ---- parts ------------------------------------------------------------------------------------------------------- */

START_TEST(real_tensors_have_parts_too) {
    lam_tensor *x = VEC(1, -2);
    EXPECT(lam_real(x), LAM_DIMS(2), 1, -2);
    EXPECT(lam_imag(x), LAM_DIMS(2), 0, 0);
    EXPECT(lam_conj(x), LAM_DIMS(2), 1, -2);
    EXPECT_NEAR(lam_angle(x), 1e-15, LAM_DIMS(2), 0, 3.14159265358979323846);
}
END_TEST

/* What only moves elements moves both parts: f(a + ib) = f(a) + i f(b). */
static lam_tensor *moved(lam_tensor *x, int which) {
    lam_tensor *index = lam_array(ctx, LAM_I64, LAM_DIMS(3), (int64_t[]){2, 0, -1});
    switch (which) {
    case 0: return lam_transpose(x, (lam_axes){0});
    case 1: return lam_slice(x, LAM_DIMS(1, 3), LAM_DIMS(LAM_END, 0), LAM_DIMS(1, -2));
    case 2: return lam_concatenate(LAM_LIST(x, lam_mul(2.0, x)), 1);
    case 3: return lam_take(x, index, 1);
    case 4: return lam_scatter_add(lam_zeros_like(x), index, lam_slice_axis(x, 1, 0, 3), 1);
    case 5: return lam_pad(x, LAM_DIMS(1, 0), LAM_DIMS(0, 2), NULL);
    case 6: return lam_diagonal(x, 0, 0, 1);
    case 7: return lam_roll(x, 1, 1);
    case 8: return lam_where(lam_gt(lam_iota(ctx, LAM_I64, LAM_DIMS(3, 4), 1), 1), x, 0.0);
    case 9: return lam_update_slice(x, lam_slice_axis(x, 0, 0, 1), LAM_DIMS(1, 0), LAM_DIMS(2, 4), LAM_DIMS(1, 1));
    case 10: return lam_cumsum(x, 1);
    case 11: return lam_mean(x, NULL);
    case 12: return lam_tril(x, 0);
    default: return NULL;
    }
}

START_TEST(what_moves_elements_moves_both_parts) {
    double values[24];
    for (int i = 0; i < 24; i++) values[i] = i * i - 7.25 * i;
    lam_tensor *a = lam_array(ctx, LAM_F64, LAM_DIMS(3, 4), values);
    lam_tensor *b = lam_array(ctx, LAM_F64, LAM_DIMS(3, 4), values + 12), *want;
    for (int i = 0; (want = moved(a, i)); i++)
        for (int narrow = 0; narrow < 2; narrow++) {
            lam_tensor *z = lam_complex(a, b), *got = lam_cast(moved(narrow ? lam_cast(z, LAM_C64) : z, i), LAM_C128);
            EXPECT_OK();
            EXPECT_SAME(lam_real(got), want, narrow ? 1e-6 : 1e-14);
            EXPECT_SAME(lam_imag(got), moved(b, i), narrow ? 1e-6 : 1e-14);
        }
}
END_TEST

START_TEST(an_index_outside_fills_with_nan) {
    lam_tensor *index = lam_array(ctx, LAM_I64, LAM_DIMS(1), (int64_t[]){7});
    lam_tensor *got = lam_take_mode(C128({1, 2}), index, 0, LAM_INDEX_FILL);
    EXPECT(lam_is_nan(got), LAM_DIMS(1), 1);
}
END_TEST

START_TEST(in_place_forms) {
    lam_tensor *z = C128({1, 2}, {3, 4});
    lam_mul_(z, C128({0, 1}, {0, 1}));
    EXPECT(lam_real(z), LAM_DIMS(2), -2, -4);
    EXPECT(lam_imag(z), LAM_DIMS(2), 1, 3);
}
END_TEST

/* Large enough for CBLAS and LAPACK; (A B)^-1 A B = 1, A = L L^H. */
START_TEST(matrices) {
    enum { N = 24 };
    for (int narrow = 0; narrow < 2; narrow++) {
        double tolerance = narrow ? 1e-4 : 1e-12;
        double re[N * N], im[N * N];
        for (int i = 0; i < N * N; i++) re[i] = sin(7.0 * i + i / N), im[i] = cos(3.0 * i * i);
        lam_tensor *a =
            lam_complex(lam_array(ctx, LAM_F64, LAM_DIMS(N, N), re), lam_array(ctx, LAM_F64, LAM_DIMS(N, N), im));
        a = lam_cast(lam_add(a, lam_mul(9.0, lam_eye(ctx, LAM_F64, N, N))), narrow ? LAM_C64 : LAM_C128);
        lam_tensor *eye = lam_eye(ctx, LAM_F64, N, N), *adjoint = lam_conj(lam_transpose(a, (lam_axes){0}));
        lam_tensor *hermitian = lam_matmul(a, adjoint), *l = lam_cholesky(hermitian);
        lam_tensor *one = lam_solve(a, a), *two = lam_matmul(lam_inv(a), a), *three = lam_cho_solve(l, hermitian);
        lam_tensor *zero = lam_sub(lam_matmul(l, lam_conj(lam_transpose(l, (lam_axes){0}))), hermitian);
        lam_tensor *all[] = {lam_sub(one, eye), lam_sub(two, eye), lam_sub(three, eye), lam_div(zero, 100.0)};
        for (int i = 0; i < 4; i++)
            ck_assert_msg(lam_item(lam_max_reduce(lam_abs(all[i]), NULL)) < tolerance, "%d: %g", i,
                          lam_item(lam_max_reduce(lam_abs(all[i]), NULL)));
        /* det(A A^H) = |det A|^2, which slogdet gives by its logarithm and a number of size 1. */
        lam_tensor *sign, *log, *sign2, *log2;
        ck_assert_int_eq(lam_slogdet(a, &sign, &log), LAM_OK);
        ck_assert_int_eq(lam_slogdet(hermitian, &sign2, &log2), LAM_OK);
        ck_assert_double_eq_tol(lam_item(log2), 2 * lam_item(log), 1e3 * tolerance);
        ck_assert_double_eq_tol(lam_item(lam_abs(sign)), 1, tolerance);
        ck_assert_double_eq_tol(lam_item(lam_real(sign2)), 1, 1e2 * tolerance);
        lam_tensor *scaled = lam_div(lam_det(a), lam_mul(sign, lam_exp(log)));
        ck_assert_double_eq_tol(lam_item(lam_real(scaled)), 1, 10 * tolerance);
    }
}
END_TEST

START_TEST(a_singular_matrix_is_named) {
    lam_tensor *a = lam_array(ctx, LAM_C128, LAM_DIMS(2, 2), (lam_c128[]){{0, 1}, {0, 2}, {1, 0}, {2, 0}});
    lam_solve(a, C128({1, 0}, {1, 0}));
    EXPECT_ERROR(LAM_ERR_NUMERIC, "solve", "singular");
    /* A diagonal that is only imaginary is not singular. */
    a = lam_array(ctx, LAM_C128, LAM_DIMS(2, 2), (lam_c128[]){{0, 2}, {0, 0}, {0, 0}, {0, 4}});
    EXPECT(lam_imag(lam_solve(a, C128({1, 0}, {1, 0}))), LAM_DIMS(2), -0.5, -0.25);
}
END_TEST

START_TEST(norms_are_real) {
    lam_tensor *z = C128({3, 4}, {0, 12});
    EXPECT_NUM(lam_norm(z, NULL), 13);
    EXPECT_NUM(lam_norm(z, &(lam_norm_options){.order = 1}), 17);
    EXPECT_NUM(lam_norm(z, &(lam_norm_options){.order = INFINITY}), 12);
    EXPECT_NUM(lam_var(z, NULL), 18.25); /* mean 1.5 + 8i: both are 1.5, 4 away */
}
END_TEST

/* ---- special values ---------------------------------------------------------------------------------------------- */

START_TEST(division_neither_overflows_nor_underflows_on_the_way) {
    static const struct {
        lam_c128 x, y, want;
    } cases[] = {
        {{1e300, 1e300}, {1e300, 1e300}, {1, 0}},
        {{1e-300, 2e-300}, {1e-300, 0}, {1, 2}},
        {{1e-310, 1e-310}, {1e-310, -1e-310}, {0, 1}},
        {{DBL_MAX, DBL_MAX}, {0, 2}, {DBL_MAX / 2, -DBL_MAX / 2}},
        {{DBL_MAX, -DBL_MAX}, {1, 1}, {0, -DBL_MAX}},
        {{1, 0}, {1e308, 1e308}, {5e-309, -5e-309}},
        {{1, 1}, {INFINITY, 1}, {0, 0}},
        {{4, 0}, {1e-320, 1e-320}, {INFINITY, -INFINITY}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        lam_c128 got = lam_item_complex(lam_div(C128(cases[i].x), C128(cases[i].y))), want = cases[i].want;
        double size = fmax(fabs(want.re), fabs(want.im)), most = isinf(size) ? 0 : 1e-3 * size * (size < 1e-300);
        if (size >= 1e-300 && isfinite(size)) most = 4 * DBL_EPSILON * size;
        ck_assert_msg((got.re == want.re || fabs(got.re - want.re) <= most) &&
                          (got.im == want.im || fabs(got.im - want.im) <= most),
                      "%zu: %g %g", i, got.re, got.im);
    }
}
END_TEST

START_TEST(powers_at_zero) {
    EXPECT_COMPLEX(lam_pow(C128({0, 0}), C128({0, 0})), 0, 1, 0);
    EXPECT_COMPLEX(lam_pow(C128({0, 0}), C128({2.5, 1})), 0, 0, 0);
    EXPECT_COMPLEX(lam_pow(C128({0, 0}), C128({2, 0})), 0, 0, 0);
    EXPECT_COMPLEX(lam_pow(C128({0, 1}), C128({2, 0})), 0, -1, 0);
    EXPECT_COMPLEX(lam_pow(C128({-1, 0}), C128({0.5, 0})), 1e-16, 0, 1);
}
END_TEST

/* The sides of a branch cut are told by the sign of zero, as in C. */
START_TEST(branch_cuts) {
    EXPECT_COMPLEX(lam_log(C128({-1, 0})), 1e-15, 0, 3.14159265358979323846);
    EXPECT_COMPLEX(lam_log(C128({-1, -0.0})), 1e-15, 0, -3.14159265358979323846);
    EXPECT_COMPLEX(lam_sqrt(C128({-4, 0})), 0, 0, 2);
    EXPECT_COMPLEX(lam_sqrt(C128({-4, -0.0})), 0, 0, -2);
}
END_TEST

/* log1p and expm1 near 0, where 1 + z loses z: their series. */
START_TEST(small_arguments_keep_their_digits) {
    EXPECT_COMPLEX(lam_log1p(C128({1e-20, 1e-12})), 1e-35, 1e-20 + 0.5e-24, 1e-12);
    EXPECT_COMPLEX(lam_expm1(C128({1e-20, 1e-12})), 1e-35, 1e-20 - 0.5e-24, 1e-12);
}
END_TEST

START_TEST(finite_and_nan_look_at_both_parts) {
    lam_tensor *z = C128({1, 2}, {(double)NAN, 0}, {0, (double)NAN}, {0, (double)INFINITY});
    EXPECT(lam_is_nan(z), LAM_DIMS(4), 0, 1, 1, 0);
    EXPECT(lam_is_finite(z), LAM_DIMS(4), 1, 0, 0, 0);
    EXPECT(lam_any(C128({0, 0}, {0, 1}), NULL), LAM_DIMS0, 1);
}
END_TEST

START_TEST(comparisons) {
    lam_tensor *x = C128({1, 2}, {1, 2}, {1, 2}), *y = C128({1, 2}, {1, 3}, {0, 2});
    EXPECT(lam_eq(x, y), LAM_DIMS(3), 1, 0, 0);
    EXPECT(lam_ne(x, y), LAM_DIMS(3), 0, 1, 1);
}
END_TEST

/* Worked by hand: the rows less their means are (1-i)/2, (i-1)/2 and -1, 1. As numpy.cov and numpy.corrcoef. */
START_TEST(covariances_are_hermitian) {
    const lam_c128 rows[] = {{1, 0}, {0, 1}, {0, 0}, {2, 0}};
    lam_tensor *x = lam_array(ctx, LAM_C128, LAM_DIMS(2, 2), rows), *c = lam_cov(x, 1), *r = lam_corrcoef(x);
    EXPECT_NEAR(lam_real(c), 1e-15, LAM_DIMS(2, 2), 1, -1, -1, 2);
    EXPECT_NEAR(lam_imag(c), 1e-15, LAM_DIMS(2, 2), 0, 1, -1, 0);
    const double half = 0.70710678118654752;
    EXPECT_NEAR(lam_real(r), 1e-15, LAM_DIMS(2, 2), 1, -half, -half, 1);
    EXPECT_NEAR(lam_imag(r), 1e-15, LAM_DIMS(2, 2), 0, half, -half, 0);
}
END_TEST

/* ---- refusals ---------------------------------------------------------------------------------------------------- */

/* Both parts of all elements, whatever the dims. */
static void expect_parts(lam_tensor *got, lam_tensor *want) {
    got = lam_reshape(got, LAM_DIMS(-1));
    EXPECT_SAME(lam_real(got), lam_real(want), 1e-14);
    EXPECT_SAME(lam_imag(got), lam_imag(want), 1e-14);
}

/* numpy.nansum and its kin, and numpy.interp: an element of which a part is NaN is absent. */
START_TEST(absent_numbers_and_values_between) {
    lam_tensor *z = C128({1, 2}, {NAN, 1}, {3, -4}, {2, NAN}, {5, 0});
    expect_parts(lam_nansum(z, NULL), C128({9, -2}));
    expect_parts(lam_nanmean(z, NULL), C128({3, -2 / 3.0}));
    expect_parts(lam_nanprod(z, NULL), C128({55, 10}));
    expect_parts(lam_nancumsum(z, 0), C128({1, 2}, {1, 2}, {4, -2}, {4, -2}, {9, -2}));
    expect_parts(lam_nancumprod(z, 0), C128({1, 2}, {1, 2}, {11, 2}, {11, 2}, {55, 10}));
    EXPECT_NEAR(lam_nanvar(z, NULL), 1e-14, LAM_DIMS0, 80 / 9.0);
    EXPECT_NEAR(lam_nanstd(z, NULL), 1e-14, LAM_DIMS0, sqrt(80 / 9.0));
    lam_tensor *xp = VEC(0, 1, 3), *fp = C128({0, 1}, {2, 0}, {4, 8});
    expect_parts(lam_interp(VEC(0.5, 2, 9), xp, fp), C128({1, 0.5}, {3, 4}, {4, 8}));
    lam_nanmax(z, NULL);
    EXPECT_ERROR(LAM_ERR_DTYPE, "max_reduce", "complex");
    lam_interp(z, xp, VEC(0, 1, 2));
    EXPECT_STATUS(LAM_ERR_DTYPE);
}
END_TEST

START_TEST(what_needs_an_order_is_refused) {
    lam_tensor *z = C128({1, 2}, {3, 4});
    static lam_tensor *(*const unary[])(lam_tensor *) = {lam_floor, lam_erf, lam_cbrt, lam_not};
    for (size_t i = 0; i < sizeof unary / sizeof unary[0]; i++) {
        ck_assert(lam_failed(unary[i](z)));
        EXPECT_STATUS(LAM_ERR_DTYPE);
    }
    lam_lt(z, z);
    EXPECT_ERROR(LAM_ERR_DTYPE, "lt", "c128[2]", "take lam_real");
    lam_max_reduce(z, NULL);
    EXPECT_ERROR(LAM_ERR_DTYPE, "max_reduce", "complex", "lam_abs");
    lam_argmax(z, 0);
    EXPECT_ERROR(LAM_ERR_DTYPE, "argmax", "complex");
    lam_sort(z, 0);
    EXPECT_STATUS(LAM_ERR_DTYPE);
    lam_cumlogsumexp(z, 0);
    EXPECT_STATUS(LAM_ERR_DTYPE);
}
END_TEST

START_TEST(no_part_is_dropped_in_silence) {
    for (int d = 0; d <= LAM_BOOL; d++) {
        ck_assert(lam_failed(lam_cast(lam_scalar_complex(ctx, 1, 2), (lam_dtype)d)));
        EXPECT_ERROR(LAM_ERR_DTYPE, "cast", "c128", "lam_real");
    }
    lam_assign_(num(1), lam_scalar_complex(ctx, 1, 2));
    EXPECT_STATUS(LAM_ERR_DTYPE);
}
END_TEST

START_TEST(parts_of_complex_numbers_are_real) {
    lam_complex(C128({1, 2}), VEC(1));
    EXPECT_ERROR(LAM_ERR_DTYPE, "complex");
    lam_complex(VEC(1, 2), VEC(1, 2, 3));
    EXPECT_STATUS(LAM_ERR_SHAPE);
}
END_TEST

Suite *suite_complex_numbers(void) {
    return SUITE_OF("complex/numbers", dtypes_have_names_and_sizes, promotion, c_numbers_beside_complex_tensors,
                    in_and_out, sine_and_cosine_at_once, borrowed_memory_with_strides, creation, one_element, printing,
                    real_tensors_have_parts_too, what_moves_elements_moves_both_parts, an_index_outside_fills_with_nan,
                    in_place_forms, matrices, a_singular_matrix_is_named, norms_are_real,
                    division_neither_overflows_nor_underflows_on_the_way, powers_at_zero, branch_cuts,
                    small_arguments_keep_their_digits, finite_and_nan_look_at_both_parts, comparisons,
                    covariances_are_hermitian, absent_numbers_and_values_between, what_needs_an_order_is_refused,
                    no_part_is_dropped_in_silence, parts_of_complex_numbers_are_real);
}
