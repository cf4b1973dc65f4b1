/* Matrices whose rows and columns are of very different sizes: r b c with diagonal r and c, powers of 2, so that what
 * is true of b says exactly what is true of them, as long as it is in the range. */
#include "tests/support.h"

#include <math.h>

enum { MOST = 6 };

/* Exponents of rows or columns; their sums are 0 for each number of rows from 2 on. */
static const int exponents[][MOST] = {
    {600, -600}, {-500, 600, -100}, {300, -600, 600, -300}, {-100, 600, -600, 0, 100}, {600, 0, -600, 500, -500, 0}};

static const struct {
    lam_dtype dtype;
    double tolerance, unit; /* of the exponents */
} types[] = {{LAM_F64, 1e-12, 1}, {LAM_F32, 1e-4, 0.1}, {LAM_C128, 1e-12, 1}, {LAM_C64, 1e-4, 0.1}};
enum { TYPES = sizeof types / sizeof types[0], SIZES = MOST - 1, PLACES = 2 };

static bool is_complex(lam_dtype dtype) {
    return dtype == LAM_C128 || dtype == LAM_C64;
}

/* Neither symmetric nor triangular, with pivots beside the diagonal. */
static lam_tensor *wild(int type, int n, double shift) {
    double data[2][MOST * MOST];
    for (int e = 0; e < n * n; e++) {
        data[0][e] = sin(1.0 + 3.0 * (e / n) + 7.0 * (e % n) * (e % n) + shift) + ((e / n + 1) % n == e % n ? 4 : 0);
        data[1][e] = cos(2.0 + 5.0 * e + shift);
    }
    lam_tensor *re = lam_array(ctx, LAM_F64, LAM_DIMS(n, n), data[0]);
    lam_tensor *im = lam_array(ctx, LAM_F64, LAM_DIMS(n, n), data[1]);
    return lam_cast(is_complex(types[type].dtype) ? lam_complex(re, im) : re, types[type].dtype);
}

/* Powers of 2 for n rows, as a column (place 0) or a row (place 1), of a share of the exponents. */
static lam_tensor *powers(int type, int n, int place, double share) {
    double data[MOST];
    for (int i = 0; i < n; i++) data[i] = ldexp(1, (int)(share * types[type].unit * exponents[n - 2][i]));
    lam_tensor *x = lam_array(ctx, LAM_F64, LAM_DIMS(n), data);
    return lam_cast(lam_expand_dims(x, place == 0 ? -1 : -2), types[type].unit == 1 ? LAM_F64 : LAM_F32);
}

/* clang-format off */
BODY(inverse) { out[0] = lam_matrix_transpose(lam_inv(in[0])); }
BODY(cofactors) { out[0] = lam_cofactor(in[0]); }
BODY(determinant) { out[0] = lam_det(in[0]); }
BODY(solved) { out[0] = lam_solve(in[0], in[1]); }
/* clang-format on */

BODY(logarithm) {
    lam_tensor *sign;
    (void)lam_slogdet(in[0], &sign, &out[0]);
}
BODY(slope_of_log) {
    out[0] = apply1(lam_grad(FN(logarithm, 1, 1), NULL), in[0]);
}
BODY(slope_of_det) {
    const lam_grad_options o = {.holomorphic = is_complex(lam_dtype_of(in[0]))};
    out[0] = apply1(lam_grad(FN(determinant, 1, 1), &o), in[0]);
}

/* The largest of |x scale - want| is small beside that of want. */
static void expect_moved(int line, lam_tensor *x, lam_tensor *scale, lam_tensor *want, double tolerance) {
    lam_tensor *far = lam_max_reduce(lam_abs(lam_sub(lam_mul(x, scale), want)), NULL);
    EXPECT_OK();
    ck_assert_msg(lam_item(far) <= tolerance * lam_item(lam_max_reduce(lam_abs(want), NULL)), "line %d: %g apart", line,
                  lam_item(far));
}
#define EXPECT_MOVED(x, scale, want, tolerance) expect_moved(__LINE__, x, scale, want, tolerance)

/* All of these are f(r b c) = r^-1 f(b) c^-1. So along r e c they change by r^-1 f'(b; e) c^-1, and the pullback of
 * r g c is r^-1 times that of g, times c^-1. Half way to the change of an inverse lie quotients of elements of r, which
 * must be in the range too. */
START_TEST(what_moves_against_its_operand) {
    static const struct {
        lam_body body;
        double share;
    } cases[] = {{inverse, 0.8}, {cofactors, 1}, {slope_of_det, 1}, {slope_of_log, 0.8}};
    const int type = _i % TYPES, n = 2 + _i / TYPES % SIZES, place = _i / TYPES / SIZES;
    const double tolerance = types[type].tolerance;
    lam_tensor *b = wild(type, n, 0), *e = wild(type, n, 1), *y, *dy, *z, *dz;
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        lam_tensor *scale = powers(type, n, place, cases[k].share), *x = lam_mul(b, scale), *moved = lam_mul(e, scale);
        lam_fn *f = FN(cases[k].body, 1, 1), *back, *graded_back;
        ck_assert_int_eq(lam_jvp(f, LAM_LIST(b), LAM_LIST(e), &y, &dy, 1, NULL), LAM_OK);
        ck_assert_int_eq(lam_jvp(f, LAM_LIST(x), LAM_LIST(moved), &z, &dz, 1, NULL), LAM_OK);
        EXPECT_MOVED(z, scale, y, tolerance);
        EXPECT_MOVED(dz, scale, dy, tolerance);
        ck_assert_int_eq(lam_vjp(f, LAM_LIST(b), &y, 1, &back, NULL), LAM_OK);
        ck_assert_int_eq(lam_vjp(f, LAM_LIST(x), &z, 1, &graded_back, NULL), LAM_OK);
        EXPECT_MOVED(apply1(graded_back, moved), scale, apply1(back, e), tolerance);
    }
}
END_TEST

START_TEST(determinants_and_their_logarithms) {
    const int type = _i % TYPES, n = 2 + _i / TYPES % SIZES, place = _i / TYPES / SIZES;
    const double tolerance = types[type].tolerance;
    lam_tensor *b = wild(type, n, 0), *x = lam_mul(b, powers(type, n, place, 1)), *sign[2], *log[2];
    EXPECT_MOVED(lam_det(x), lam_ones_like(lam_real(lam_det(b))), lam_det(b), tolerance);
    ck_assert_int_eq(lam_slogdet(b, &sign[0], &log[0]), LAM_OK);
    ck_assert_int_eq(lam_slogdet(x, &sign[1], &log[1]), LAM_OK);
    EXPECT_MOVED(sign[1], lam_ones_like(log[1]), sign[0], tolerance);
    EXPECT_MOVED(log[1], lam_ones_like(log[1]), log[0], tolerance);
}
END_TEST

/* Far beyond the range of the determinant itself. */
START_TEST(logarithms_of_determinants_beyond_the_range) {
    lam_tensor *b = wild(0, 6, 0), *sign, *log_size, *want;
    ck_assert_int_eq(lam_slogdet(b, &sign, &want), LAM_OK);
    for (int k = -900; k <= 900; k += 300) {
        ck_assert_int_eq(lam_slogdet(lam_mul(b, ldexp(1, k)), &sign, &log_size), LAM_OK);
        EXPECT_SAME(log_size, lam_add(want, 6 * k * log(2.0)), 1e-14);
    }
}
END_TEST

/* (r b c)^-1 (r y) = c^-1 b^-1 y, along (r e c, r h) likewise; what comes back to an operand moves against it. */
START_TEST(solutions) {
    const int type = _i % TYPES, n = 2 + _i / TYPES % SIZES, place = _i / TYPES / SIZES;
    const double tolerance = types[type].tolerance;
    lam_tensor *scale = powers(type, n, place, 1), *b = wild(type, n, 0), *e = wild(type, n, 1), *y = wild(type, n, 2);
    lam_tensor *column = powers(type, n, 0, 1), *one = lam_ones_like(column), *x[2], *dx[2], *g[2], *h[2];
    lam_tensor *of_y = place == 0 ? column : one, *of_x = place == 0 ? one : column;
    lam_tensor *graded = lam_mul(b, scale), *right = lam_mul(y, of_y);
    lam_fn *f = FN(solved, 2, 1), *back;
    ck_assert_int_eq(lam_jvp(f, LAM_LIST(b, y), LAM_LIST(e, y), &x[0], &dx[0], 1, NULL), LAM_OK);
    ck_assert_int_eq(lam_jvp(f, LAM_LIST(graded, right), LAM_LIST(lam_mul(e, scale), right), &x[1], &dx[1], 1, NULL),
                     LAM_OK);
    EXPECT_MOVED(x[1], of_x, x[0], tolerance);
    EXPECT_MOVED(dx[1], of_x, dx[0], tolerance);
    ck_assert_int_eq(lam_vjp(f, LAM_LIST(b, y), x, 1, &back, NULL), LAM_OK);
    ck_assert_int_eq(lam_call(back, LAM_LIST(e), g, 2), LAM_OK);
    ck_assert_int_eq(lam_vjp(f, LAM_LIST(graded, right), x, 1, &back, NULL), LAM_OK);
    ck_assert_int_eq(lam_call(back, LAM_LIST(lam_mul(e, of_x)), h, 2), LAM_OK);
    EXPECT_MOVED(h[0], scale, g[0], tolerance);
    EXPECT_MOVED(h[1], of_y, g[1], tolerance);
}
END_TEST

/* One of a batch is graded, one singular. */
START_TEST(others_of_a_batch) {
    lam_tensor *b = wild(0, 4, 0), *graded = lam_mul(b, powers(0, 4, 0, 1)), *y = wild(0, 4, 2),
               *flat = lam_ones_like(b);
    lam_tensor *x = lam_solve(lam_stack(LAM_LIST(b, graded, b), 0), y);
    EXPECT_SAME(lam_index(x, 0, 0), lam_solve(b, y), 0);
    EXPECT_SAME(lam_index(x, 0, 1), lam_solve(graded, y), 0);
    EXPECT_SAME(lam_index(x, 0, 2), lam_solve(b, y), 0);
    lam_solve(lam_stack(LAM_LIST(b, graded, lam_mul(flat, powers(0, 4, 0, 1))), 0), y);
    EXPECT_ERROR(LAM_ERR_NUMERIC, "solve", "at [2]", "singular");
    lam_solve(lam_stack(LAM_LIST(b, flat, graded), 0), y);
    EXPECT_ERROR(LAM_ERR_NUMERIC, "solve", "at [1]", "singular");
}
END_TEST

/* No failure, since others of the batch have a derivative. */
START_TEST(logarithms_at_singular_matrices) {
    lam_tensor *b = wild(0, 4, 0), *all = lam_stack(LAM_LIST(b, lam_ones(ctx, LAM_F64, LAM_DIMS(4, 4))), 0);
    lam_tensor *g = apply1(lam_vmap(lam_grad(FN(logarithm, 1, 1), NULL), NULL), all);
    EXPECT_SAME(lam_index(g, 0, 0), lam_matrix_transpose(lam_inv(b)), 1e-14);
    EXPECT_NUM(lam_any(lam_is_finite(lam_index(g, 0, 1)), NULL), 0);
}
END_TEST

/* A right side that is infinite has no size to be brought to; what it does not reach stays. */
START_TEST(infinite_right_sides) {
    lam_tensor *x = lam_solve(lam_diag(VEC(1e-250, 1e250, 1, 1), 0), VEC(INFINITY, 1, 1, 1));
    EXPECT_OK();
    ck_assert(!isfinite(lam_item(lam_index(x, 0, 0))));
}
END_TEST

/* At 0 the exponential moves as its operand does, however little: the size of this has no reciprocal. */
START_TEST(directions_next_to_nothing) {
    lam_tensor *zero = lam_zeros(ctx, LAM_F64, LAM_DIMS(2, 2)), *e = lam_mul(1e-310, MAT(2, 2, 1, 2, 3, 4));
    EXPECT_SAME(lam_expm_frechet(zero, e), e, 1e-322);
    EXPECT_NEAR(lam_expm_frechet(MAT(1, 1, 100), MAT(1, 1, 5e-307)), 1e-12, LAM_DIMS(1, 1), 5e-307 * exp(100));
}
END_TEST

/* As LAPACK has them, for whom a zero is positive: columns of one example, of a few, and complex ones. */
START_TEST(signs_of_factors_where_columns_begin_with_zero) {
    static const lam_dtype dtypes[] = {LAM_F64, LAM_F32, LAM_C128, LAM_C64};
    for (int i = 0; i < 4; i++) {
        lam_tensor *q, *r;
        ck_assert_int_eq(lam_qr(lam_cast(MAT(2, 2, 0, 1, 1, 0), dtypes[i]), &q, &r, NULL), LAM_OK);
        EXPECT(lam_cast(lam_real(r), LAM_F64), LAM_DIMS(2, 2), -1, 0, 0, -1);
        ck_assert_int_eq(lam_qr(lam_cast(MAT(2, 1, 0, 2), dtypes[i]), &q, &r, NULL), LAM_OK);
        EXPECT(lam_cast(lam_real(r), LAM_F64), LAM_DIMS(1, 1), -2);
    }
}
END_TEST

Suite *suite_primitives_graded(void) {
    Suite *suite = SUITE_OF("primitives/graded", logarithms_of_determinants_beyond_the_range, others_of_a_batch,
                            logarithms_at_singular_matrices, infinite_right_sides, directions_next_to_nothing,
                            signs_of_factors_where_columns_begin_with_zero);
    suite_loop(suite, what_moves_against_its_operand, TYPES * SIZES * PLACES);
    suite_loop(suite, determinants_and_their_logarithms, TYPES * SIZES * PLACES);
    suite_loop(suite, solutions, TYPES * SIZES * PLACES);
    return suite;
}
