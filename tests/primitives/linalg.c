/* Linear algebra beyond the case table: closed forms, residuals, operations made of others, gradients through them to
 * second order, failures that name the matrix, and that one factorisation serves value and derivatives. */
#include "tests/support.h"

/* n x n, far from singular, neither symmetric nor triangular. */
static lam_tensor *general(int n, double shift) {
    double data[400];
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++) data[i * n + k] = sin(1.0 + 3 * i + 7 * k * k + shift) + ((i + 1) % n == k ? 4 : 0);
    return lam_array(ctx, LAM_F64, LAM_DIMS(n, n), data);
}

static lam_tensor *turned(lam_tensor *x) {
    return lam_moveaxis(x, -1, -2);
}
static lam_tensor *definite(int n, double shift) {
    lam_tensor *a = general(n, shift);
    return lam_matmul(a, turned(a));
}
static lam_tensor *identity(int n) {
    return lam_eye(ctx, LAM_F64, n, n);
}

#define CHECK_GRADS(f, list, how_often)                                                                                \
    ck_assert_msg(lam_check_grads(f, list, &(lam_check_grads_options){.order = how_often}) == LAM_OK, "%s",            \
                  lam_error(ctx))

START_TEST(cholesky_closed_form_and_residual) {
    EXPECT(lam_cholesky(MAT(2, 2, 4, 2, 2, 10)), LAM_DIMS(2, 2), 2, 0, 1, 3);
    EXPECT(lam_cholesky(MAT(2, 2, 4, 0, 4, 10)), LAM_DIMS(2, 2), 2, 0, 1, 3); /* the symmetric part counts */
    lam_tensor *a = definite(20, 0), *l = lam_cholesky(a);
    EXPECT_SAME(lam_matmul(l, turned(l)), lam_mul(0.5, lam_add(a, turned(a))), 1e-13);
    EXPECT_SAME(l, lam_tril(l, 0), 0);
}
END_TEST

START_TEST(cholesky_names_the_matrix_that_fails) {
    lam_tensor *good = identity(2), *bad = MAT(2, 2, 1, 2, 2, 1);
    lam_cholesky(bad);
    EXPECT_ERROR(LAM_ERR_NUMERIC, "cholesky", "the matrix is not positive definite");
    lam_cholesky(lam_reshape(lam_stack(LAM_LIST(good, good, good, good, bad, good), 0), LAM_DIMS(2, 3, 2, 2)));
    EXPECT_ERROR(LAM_ERR_NUMERIC, "[1, 1]", "remedy");
    lam_cholesky(MAT(2, 2, 1, NAN, NAN, 1));
    EXPECT_STATUS(LAM_ERR_NUMERIC);
}
END_TEST

/* log det of a a^T by its factor, and b^T (a a^T)^-1 b: the likelihood of a Gaussian process. */
BODY(likelihood) {
    lam_tensor *l = lam_cholesky(lam_matmul(in[0], turned(in[0]))), *w = lam_cho_solve(l, in[1]);
    lam_tensor *log = lam_sum(lam_log(lam_diagonal(l, 0, -2, -1)), NULL);
    out[0] = lam_add(lam_mul(2.0, log), lam_sum(lam_mul(in[1], w), NULL));
}

START_TEST(cholesky_and_its_solves_have_derivatives) {
    lam_tensor *a = general(3, 0), *b = VEC(1, -2, 0.5);
    CHECK_GRADS(FN(likelihood, 2, 1), LAM_LIST(a, b), 2);
    lam_tensor *k = definite(3, 0);
    EXPECT_SAME(lam_matmul(k, lam_cho_solve(lam_cholesky(k), b)), b, 1e-13);
    lam_tensor *many = lam_stack(LAM_LIST(a, general(3, 1), general(3, 2)), 0);
    lam_fn *g = lam_grad(FN(likelihood, 2, 1), NULL),
           *each = lam_vmap(g, &(lam_vmap_options){.in_axes = LAM_AXES(0, LAM_UNMAPPED)});
    lam_tensor *all = lam_apply(each, LAM_LIST(many, b));
    for (int i = 0; i < 3; i++)
        EXPECT_SAME(lam_index(all, 0, i), lam_apply(g, LAM_LIST(lam_index(many, 0, i), b)), 1e-12);
}
END_TEST

/* x in the order of its rows is l u, within roundings of its size, no multiplier is above 1 (of complex numbers, by the
 * sum of their parts), and the exchanges one after the other are the order. */
static void check_lu(lam_tensor *x, double within) {
    const int64_t m = lam_dim(x, -2), n = lam_dim(x, -1), k = m < n ? m : n;
    lam_tensor *f, *pivots, *permutation;
    ck_assert_int_eq(lam_lu(x, &f, &pivots, &permutation), LAM_OK);
    int32_t order[400], swaps[400], follow[400];
    ck_assert_int_eq(lam_read(permutation, order, (size_t)m * sizeof *order), LAM_OK);
    ck_assert_int_eq(lam_read(pivots, swaps, (size_t)k * sizeof *swaps), LAM_OK);
    for (int i = 0; i < m; i++) follow[i] = i;
    for (int i = 0; i < k; i++) {
        const int32_t t = follow[i];
        follow[i] = follow[swaps[i]];
        follow[swaps[i]] = t;
    }
    for (int i = 0; i < m; i++) ck_assert_int_eq(follow[i], order[i]);
    lam_tensor *low = lam_tril(lam_slice_axis(f, -1, 0, k), -1), *u = lam_triu(lam_slice_axis(f, -2, 0, k), 0);
    lam_tensor *l = lam_add(low, lam_eye(ctx, lam_dtype_of(f), m, k)), *rows = lam_take(x, permutation, 0);
    lam_tensor *gap = lam_max_reduce(lam_abs(lam_sub(lam_matmul(l, u), rows)), NULL);
    ck_assert_double_le(lam_item(lam_cast(gap, LAM_F64)), within);
    ck_assert_double_le(lam_item(lam_cast(lam_max_reduce(lam_abs(low), NULL), LAM_F64)), 1.4143);
}

START_TEST(lu_restores_the_matrix) {
    static const int64_t sizes[][2] = {{12, 12}, {1, 7},   {7, 1},    {40, 3},   {3, 40},    {20, 17},  {17, 20},
                                       {9, 70},  {70, 33}, {300, 20}, {20, 300}, {300, 280}, {270, 330}};
    for (int i = 0; i < (int)(sizeof sizes / sizeof *sizes); i++) {
        const lam_dims dims = {2, sizes[i]};
        lam_tensor *x = lam_random_normal(lam_key(ctx, (uint64_t)i), LAM_F64, dims);
        lam_tensor *y = lam_random_normal(lam_key(ctx, 100), LAM_F64, dims), *z = lam_complex(x, y);
        check_lu(x, 1e-12);
        check_lu(lam_cast(x, LAM_F32), 1e-3);
        check_lu(z, 1e-12);
        check_lu(lam_cast(z, LAM_C64), 1e-3);
    }
}
END_TEST

/* Of a matrix without rows, or without columns, nothing is exchanged. */
START_TEST(lu_of_nothing_has_an_order) {
    lam_tensor *f, *pivots, *permutation;
    lam_lu(lam_zeros(ctx, LAM_F64, LAM_DIMS(2, 3, 0)), &f, &pivots, &permutation);
    EXPECT(permutation, LAM_DIMS(2, 3), 0, 1, 2, 0, 1, 2);
    ck_assert_int_eq(lam_dim(pivots, -1), 0);
    lam_lu(lam_zeros(ctx, LAM_F64, LAM_DIMS(0, 3)), &f, &pivots, &permutation);
    ck_assert_int_eq(lam_dim(permutation, 0), 0);
}
END_TEST

BODY(solved) {
    out[0] = lam_solve(in[0], in[1]);
}

START_TEST(solve_residuals_and_shapes) {
    lam_tensor *a = general(20, 0), *b = general(20, 5), *x = lam_solve(a, b);
    EXPECT_NEAR(lam_max_reduce(lam_abs(lam_sub(lam_matmul(a, x), b)), NULL), 1e-13, LAM_DIMS0, 0);
    EXPECT_NEAR(lam_solve(MAT(2, 2, 0, 2, 4, 0), VEC(2, 8)), 0, LAM_DIMS(2), 2, 1);
    ck_assert_int_eq(lam_dtype_of(lam_solve(lam_cast(identity(2), LAM_I32), lam_cast(VEC(1, 2), LAM_I64))), LAM_F64);
    EXPECT_NEAR(lam_matmul(lam_inv(a), a), 1e-12, LAM_DIMS(20, 20), [0] = 1, [21] = 1, [42] = 1, [63] = 1, [84] = 1,
                [105] = 1, [126] = 1, [147] = 1, [168] = 1, [189] = 1, [210] = 1, [231] = 1, [252] = 1, [273] = 1,
                [294] = 1, [315] = 1, [336] = 1, [357] = 1, [378] = 1, [399] = 1);
}
END_TEST

START_TEST(solve_names_the_matrix_that_is_singular) {
    lam_solve(lam_stack(LAM_LIST(identity(2), MAT(2, 2, 1, 2, 2, 4)), 0), VEC(1, 1));
    EXPECT_ERROR(LAM_ERR_NUMERIC, "solve", "at [1]", "singular", "operands: f64[2, 2, 2], f64[2, 2, 1]\n");
    lam_solve(MAT(2, 3, 1, 2, 3, 4, 5, 6), VEC(1, 1));
    EXPECT_ERROR(LAM_ERR_SHAPE, "solve", "square", "f64[2, 3]");
    lam_solve(identity(2), VEC(1, 2, 3));
    EXPECT_ERROR(LAM_ERR_SHAPE, "solve", "2 equations", "f64[3]");
}
END_TEST

/* The solve of one matrix for a batch of vectors is one solve with columns. */
START_TEST(vmap_of_solve_and_its_gradient) {
    lam_tensor *a = general(3, 0), *b = lam_stack(LAM_LIST(VEC(1, 2, 3), VEC(4, -5, 6)), 0);
    lam_fn *f = lam_vmap(FN(solved, 2, 1), &(lam_vmap_options){.in_axes = LAM_AXES(LAM_UNMAPPED, 0)});
    EXPECT_SAME(turned(lam_apply(f, LAM_LIST(a, b))), lam_solve(a, turned(b)), 1e-14);
    CHECK_GRADS(f, LAM_LIST(a, b), 2);
    CHECK_GRADS(FN(solved, 2, 1), LAM_LIST(a, general(3, 1)), 3);
}
END_TEST

/* Forward mode through a solve for one vector needs the factors and vectors, no second matrix: the factors themselves
 * are not differentiated. */
START_TEST(one_factorisation_serves_value_and_tangent) {
    enum { N = 100 };
    lam_tensor *a = lam_add(lam_mul(2.0, identity(N)), 0.01), *b = lam_arange(ctx, LAM_F64, 0, N, 1), *x, *dx;
    lam_fn *f = FN(solved, 2, 1);
    size_t before = lam_ctx_bytes(ctx), matrix = N * N * sizeof(double);
    lam_ctx_reset_peak(ctx);
    ck_assert_int_eq(lam_jvp(f, LAM_LIST(a, b), LAM_LIST(a, b), &x, &dx, 1, NULL), LAM_OK);
    ck_assert_uint_lt(lam_ctx_peak_bytes(ctx) - before, 2 * matrix);
    EXPECT_NEAR(lam_max_reduce(lam_abs(dx), NULL), 1e-12, LAM_DIMS0, 0); /* a (x + dx) + a x = 2 b */
}
END_TEST

BODY(determinant) {
    out[0] = lam_det(in[0]);
}
BODY(inverse) {
    out[0] = lam_inv(in[0]);
}
BODY(log_determinant) {
    lam_tensor *sign;
    lam_slogdet(in[0], &sign, &out[0]);
}

START_TEST(determinants) {
    lam_tensor *sign, *size;
    EXPECT_NEAR(lam_det(lam_mul(2.0, identity(5))), 1e-15, LAM_DIMS0, 32);
    EXPECT(lam_det(MAT(2, 2, 1, 2, 3, 4)), LAM_DIMS0, -2);
    EXPECT(lam_det(MAT(3, 3, 2, 0, 1, 1, 3, 2, 1, 1, 4)), LAM_DIMS0, 18);
    EXPECT(lam_det(MAT(4, 4, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 5)), LAM_DIMS0, -15);
    EXPECT(lam_det(lam_zeros(ctx, LAM_F64, LAM_DIMS(2, 0, 0))), LAM_DIMS(2), 1, 1);
    ck_assert_int_eq(lam_slogdet(MAT(2, 2, 0, 2, 3, 0), &sign, &size), LAM_OK);
    EXPECT_NUM(sign, -1);
    EXPECT_NEAR(size, 1e-15, LAM_DIMS0, log(6.0));
    ck_assert_int_eq(lam_slogdet(MAT(2, 2, 1, 2, 2, 4), &sign, &size), LAM_OK);
    EXPECT_NUM(sign, 0);
    EXPECT_NUM(size, -INFINITY);
    lam_det(VEC(1, 2));
    EXPECT_ERROR(LAM_ERR_SHAPE, "det", "square");
}
END_TEST

/* d det = det tr(a^-1 da); of a singular 3 x 3 matrix the cofactors. */
START_TEST(gradients_of_determinants_and_inverses) {
    for (int n = 1; n <= 5; n++) CHECK_GRADS(FN(determinant, 1, 1), LAM_LIST(general(n, 0)), n == 5 ? 2 : 1);
    CHECK_GRADS(FN(log_determinant, 1, 1), LAM_LIST(general(4, 0)), 2);
    CHECK_GRADS(FN(inverse, 1, 1), LAM_LIST(general(3, 0)), 2);
    lam_tensor *a = general(4, 0), *g = lam_apply(lam_grad(FN(log_determinant, 1, 1), NULL), LAM_LIST(a));
    EXPECT_SAME(g, turned(lam_inv(a)), 1e-13);
    lam_tensor *flat = MAT(3, 3, 1, 0, 0, 0, 1, 0, 0, 0, 0);
    EXPECT(lam_apply(lam_grad(FN(determinant, 1, 1), NULL), LAM_LIST(flat)), LAM_DIMS(3, 3), 0, 0, 0, 0, 0, 0, 0, 0, 1);
}
END_TEST

START_TEST(triangular_solve_reads_its_triangle_only) {
    lam_tensor *a = MAT(2, 2, 2, NAN, 4, 5), *b = VEC(2, 14);
    EXPECT(lam_triangular_solve(a, b, NULL), LAM_DIMS(2), 1, 2);
    EXPECT(lam_triangular_solve(MAT(2, 2, NAN, 3, NAN, NAN), b,
                                &(lam_triangular_solve_options){.upper = true, .unit_diagonal = true}),
           LAM_DIMS(2), -40, 14);
    EXPECT_NEAR(lam_matmul(VEC(3, 4), MAT(2, 2, 2, 0, 4, 5)), 0, LAM_DIMS(2), 22, 20);
    EXPECT(lam_triangular_solve(a, VEC(22, 20), &(lam_triangular_solve_options){.right_side = true}), LAM_DIMS(2), 3,
           4);
}
END_TEST

/* ---- square roots ------------------------------------------------------------------------------------------------ */

/* By hand: a turn by a quarter is twice one by an eighth; [[4, 4], [0, 4]] is the square of [[2, 1], [0, 2]]. */
START_TEST(square_roots_of_matrices) {
    const double eighth = sqrt(0.5);
    EXPECT_NEAR(lam_sqrtm(MAT(2, 2, 0, -1, 1, 0)), 1e-15, LAM_DIMS(2, 2), eighth, -eighth, eighth, eighth);
    EXPECT_NEAR(lam_sqrtm(MAT(2, 2, 4, 4, 0, 4)), 1e-15, LAM_DIMS(2, 2), 2, 1, 0, 2);
    lam_tensor *i = lam_iota(ctx, LAM_F64, LAM_DIMS(30, 30), 0), *j = lam_iota(ctx, LAM_F64, LAM_DIMS(30, 30), 1);
    lam_tensor *waves = lam_sin(lam_mul(i, lam_add(j, 1.3))), *large = lam_exp2(lam_sub(i, 5.0));
    lam_tensor *square = lam_add(waves, lam_mul(lam_add(large, 30.0), lam_eye(ctx, LAM_F64, 30, 30)));
    lam_tensor *root = lam_sqrtm(square), *gap = lam_sub(lam_matmul(root, root), square);
    ck_assert_double_le(lam_item(lam_norm(gap, NULL)), 1e-14 * lam_item(lam_norm(square, NULL)));
    lam_tensor *complex = lam_complex(square, lam_matrix_transpose(waves)), *half = lam_sqrtm(complex);
    lam_tensor *away = lam_sub(lam_matmul(half, half), complex);
    ck_assert_double_le(lam_item(lam_norm(away, NULL)), 1e-14 * lam_item(lam_norm(square, NULL)));
    lam_tensor *single = lam_sqrtm(lam_cast(square, LAM_F32));
    ck_assert_int_eq(lam_dtype_of(single), LAM_F32);
    EXPECT_SAME(lam_diagonal(lam_cast(single, LAM_F64), 0, 0, 1), lam_diagonal(root, 0, 0, 1), 1e-5);
    ck_assert(isnan(lam_item(lam_sum(lam_sqrtm(MAT(2, 2, 1, INFINITY, 0, 1)), NULL))));
    EXPECT_OK();
    lam_sqrtm(lam_stack(LAM_LIST(square, lam_neg(square)), 0));
    EXPECT_ERROR(LAM_ERR_NUMERIC, "sqrtm", "[1]", "negative");
    lam_sqrtm(MAT(2, 2, -1, 1, 0, -1));
    EXPECT_ERROR(LAM_ERR_NUMERIC, "sqrtm");
    EXPECT_NEAR(lam_sqrtm(MAT(2, 2, 1e-4, 1, 0, 1e-4)), 1e-8, LAM_DIMS(2, 2), 0.01, 50, 0, 0.01);
    lam_sqrtm(MAT(2, 2, 0, 1, 0, 0));
    EXPECT_ERROR(LAM_ERR_NUMERIC, "sqrtm");
    lam_sqrtm(MAT(3, 3, 1, 2, 0, 0, 0, 1, 0, 0, 0));
    EXPECT_ERROR(LAM_ERR_NUMERIC, "sqrtm");
}
END_TEST

/* By hand: turns have their angle; log of [[4, 4], [0, 4]] is log 4 + [[0, 1], [0, 0]]; that of 1 + u is u where u^2
 * is 0. The exponential undoes it, and the logarithm of a product of commuting matrices is a sum. */
START_TEST(logarithms_of_matrices) {
    const double quarter = 1.5707963267948966, log_4 = 1.3862943611198906;
    EXPECT_NEAR(lam_logm(MAT(2, 2, 0, -1, 1, 0)), 1e-15, LAM_DIMS(2, 2), 0, -quarter, quarter, 0);
    EXPECT_NEAR(lam_logm(MAT(2, 2, 4, 4, 0, 4)), 2e-15, LAM_DIMS(2, 2), log_4, 1, 0, log_4);
    EXPECT_NEAR(lam_logm(MAT(2, 2, 1, 1e6, 0, 1)), 1e-15, LAM_DIMS(2, 2), 0, 1e6, 0, 0);
    EXPECT_NEAR(lam_logm(MAT(2, 2, 1e300, 0, 0, 1e295)), 1e-11, LAM_DIMS(2, 2), 690.7755278982137, 0, 0,
                679.2626024332436);
    EXPECT(lam_logm(lam_eye(ctx, LAM_F64, 2, 2)), LAM_DIMS(2, 2), 0, 0, 0, 0);
    /* Of triangles to the last bits: (log b - log a)/(b - a) stands beside the diagonal. */
    const double log_2 = 0.69314718055994531, log_3 = 1.0986122886681098, beside = 0.40546510810816438;
    EXPECT_NEAR(lam_logm(MAT(2, 2, 2, 1, 0, 3)), 2e-16, LAM_DIMS(2, 2), log_2, beside, 0, log_3);
    EXPECT_NEAR(lam_logm(MAT(2, 2, 3, 0, 1, 2)), 2e-16, LAM_DIMS(2, 2), log_3, 0, beside, log_2);
    EXPECT_NEAR(lam_logm(MAT(2, 2, 8, 3, 0, 2)), 4e-16, LAM_DIMS(2, 2), 3 * log_2, log_2, 0, log_2);
    lam_tensor *i = lam_iota(ctx, LAM_F64, LAM_DIMS(30, 30), 0), *j = lam_iota(ctx, LAM_F64, LAM_DIMS(30, 30), 1);
    lam_tensor *waves = lam_sin(lam_mul(i, lam_add(j, 1.3)));
    lam_tensor *square = lam_add(waves, lam_mul(lam_add(i, 30.0), lam_eye(ctx, LAM_F64, 30, 30)));
    lam_tensor *log = lam_logm(square), *complex = lam_complex(square, lam_matrix_transpose(waves));
    lam_tensor *gap = lam_sub(lam_expm(log), square), *away = lam_sub(lam_expm(lam_logm(complex)), complex);
    const double size = lam_item(lam_norm(square, NULL));
    ck_assert_double_le(lam_item(lam_norm(gap, NULL)), 1e-13 * size);
    ck_assert_double_le(lam_item(lam_norm(away, NULL)), 1e-13 * size);
    EXPECT_SAME(lam_logm(lam_matmul(square, square)), lam_mul(2.0, log), 1e-13);
    EXPECT_SAME(lam_cast(lam_logm(lam_cast(square, LAM_F32)), LAM_F64), log, 1e-5);
    ck_assert(isnan(lam_item(lam_sum(lam_logm(MAT(2, 2, 1, INFINITY, 0, 1)), NULL))));
    EXPECT_OK();
    lam_logm(MAT(2, 2, 0, 1, 0, 0));
    EXPECT_ERROR(LAM_ERR_NUMERIC, "logm", "logarithm");
    lam_logm(MAT(2, 2, 1, 0, 0, 1e-40));
    EXPECT_ERROR(LAM_ERR_NUMERIC, "logm", "logarithm");
    lam_logm(lam_stack(LAM_LIST(square, lam_neg(square)), 0));
    EXPECT_ERROR(LAM_ERR_NUMERIC, "logm", "[1]", "negative");
}
END_TEST

/* They are those of r in x = q r: at the ends of the range, of columns of zeros, and of what is no number. */
START_TEST(singular_values_of_tall_matrices) {
    lam_tensor *x = lam_random_normal(lam_key(ctx, 3), LAM_F64, LAM_DIMS(120, 20)), *s = lam_svdvals(x),
               *none = lam_zeros(ctx, LAM_F64, LAM_DIMS(120, 20)), *u, *w, *vt;
    for (int k = -250; k <= 250; k += 500) {
        const double scale = pow(10, k);
        ck_assert_int_eq(lam_svd(lam_mul(x, scale), &u, &w, &vt, NULL), LAM_OK);
        EXPECT_SAME(lam_div(w, scale), s, 1e-13);
        lam_tensor *back = lam_matmul(lam_mul(u, lam_div(w, scale)), vt);
        ck_assert_double_le(lam_item(lam_norm(lam_sub(back, x), NULL)), 1e-12);
    }
    lam_svd(lam_concatenate(LAM_LIST(x, none), 1), &u, &w, &vt, NULL);
    EXPECT_SAME(w, lam_concatenate(LAM_LIST(s, lam_zeros(ctx, LAM_F64, LAM_DIMS(20))), 0), 1e-12);
    EXPECT_SAME(lam_matmul(turned(u), u), identity(40), 1e-12);
    EXPECT(lam_svdvals(lam_slice_axis(none, 1, 0, 2)), LAM_DIMS(2), 0, 0);
    ck_assert(isnan(lam_item(lam_sum(lam_svdvals(lam_add(none, (double)INFINITY)), NULL))));
}
END_TEST

/* The derivative of the exponential at x along e is the corner of that of [[x, e], [0, x]] (Mathias 1996). */
START_TEST(changes_of_exponentials_are_corners) {
    for (int64_t n = 1; n <= 21; n += 4)
        for (int k = 0; k < 10; k++) {
            const lam_dims dims = LAM_DIMS(n, n);
            const lam_dtype dtype = k % 2 ? LAM_F32 : LAM_F64;
            lam_tensor *x = lam_mul(pow(4, k / 2 - 3), lam_random_normal(lam_key(ctx, (uint64_t)k), dtype, dims));
            lam_tensor *e = lam_random_normal(lam_key(ctx, 99), dtype, dims), *none = lam_zeros_like(x);
            lam_tensor *top = lam_concatenate(LAM_LIST(x, e), 1), *low = lam_concatenate(LAM_LIST(none, x), 1);
            lam_tensor *whole = lam_expm(lam_concatenate(LAM_LIST(top, low), 0));
            lam_tensor *corner = lam_slice_axis(lam_slice_axis(whole, 0, 0, n), 1, n, 2 * n);
            lam_tensor *gap = lam_norm(lam_sub(lam_expm_frechet(x, e), corner), NULL);
            ck_assert_double_le(lam_item(lam_cast(lam_div(gap, lam_norm(whole, NULL)), LAM_F64)), k % 2 ? 1e-4 : 1e-12);
        }
    EXPECT_OK();
}
END_TEST

BODY(norm_below_0) {
    out[0] = lam_norm(in[0], &(lam_norm_options){.order = -1});
}

/* 1/(1/3 + 1/4 + 1/12) is 3/2, and its slopes are the squares of 3/2 over each; 1/sqrt(1/9 + 1/16) is 12/5. */
START_TEST(norms_of_negative_orders) {
    lam_fn *f = FN(norm_below_0, 1, 1);
    lam_tensor *x = VEC(3, -4, 12);
    EXPECT_NEAR(apply1(f, x), 1e-15, LAM_DIMS0, 1.5);
    EXPECT_NEAR(apply1(lam_grad(f, NULL), x), 1e-15, LAM_DIMS(3), 0.25, -0.140625, 0.015625);
    EXPECT_NEAR(lam_norm(MAT(2, 2, 3, 4, 3e300, 4e300), &(lam_norm_options){.axes = LAM_AXES(1), .order = -2}), 1e-15,
                LAM_DIMS(2), 2.4, 2.4e300);
    EXPECT_NEAR(lam_norm(VEC(3e-300, 4e-300), &(lam_norm_options){.order = -2, .keepdims = true}), 1e-15, LAM_DIMS(1),
                2.4e-300);
    EXPECT_NEAR(lam_norm(lam_complex(VEC(3, 0), VEC(4, 5)), &(lam_norm_options){.order = -1}), 1e-15, LAM_DIMS0, 2.5);
    EXPECT_NUM(apply1(f, VEC(3, 0, INFINITY)), 0);
    EXPECT(apply1(lam_grad(f, NULL), VEC(3, 0, 5)), LAM_DIMS(3), 0, 0, 0);
    EXPECT_NUM(apply1(f, VEC(INFINITY, INFINITY)), INFINITY);
    EXPECT_NUM(apply1(f, VEC(INFINITY, 2)), 2);
    EXPECT_NUM(apply1(f, VEC(NAN, 2)), NAN);
    EXPECT_NUM(apply1(f, lam_zeros(ctx, LAM_F64, LAM_DIMS(0))), INFINITY);
    ck_assert_int_eq(lam_check_grads(f, LAM_LIST(x), &(lam_check_grads_options){.order = 2}), LAM_OK);
    EXPECT_OK();
}
END_TEST

/* A weighted sum of a function of a matrix; env: which function, and the weight. */
typedef struct weighted {
    lam_tensor *(*f)(lam_tensor *);
    double weight;
} weighted;

BODY(weighted_sum) {
    const weighted *w = env;
    out[0] = lam_mul(w->weight, lam_sum(w->f(in[0]), NULL));
}

/* The change stands in one matrix with what it changes, and may be larger or smaller than that by any factor. */
START_TEST(second_derivatives_go_with_the_weight) {
    static lam_tensor *(*const functions[])(lam_tensor *) = {lam_sqrtm, lam_logm, lam_expm};
    static const double weights[] = {1e-200, 1e-9, 1e5, 1e12, 1e200};
    lam_tensor *x = MAT(2, 2, 2, 0.5, 0.1, 1.5);
    lam_fn *(*const ways[])(lam_fn *, const lam_jacobian_options *) = {lam_jacfwd, lam_jacrev};
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        for (size_t k = 0; k < sizeof weights / sizeof *weights; k++)
            for (int way = 0; way < 2; way++) {
                weighted plain = {functions[i], 1}, heavy = {functions[i], weights[k]};
                lam_fn *f = FN_ENV(weighted_sum, 1, 1, &plain), *g = FN_ENV(weighted_sum, 1, 1, &heavy);
                lam_tensor *want = apply1(ways[way](lam_grad(f, NULL), NULL), x);
                EXPECT_SAME(lam_div(apply1(ways[way](lam_grad(g, NULL), NULL), x), weights[k]), want, 1e-13);
            }
    EXPECT_OK();
}
END_TEST

START_TEST(norms_of_nothing) {
    lam_tensor *none = lam_zeros(ctx, LAM_F64, LAM_DIMS(2, 0, 3));
    for (lam_matrix_order order = LAM_NORM_DEFAULT; order <= LAM_NORM_MINUS_INF; order++) {
        const bool least = order == LAM_NORM_MINUS_2;
        lam_tensor *got = lam_matrix_norm(none, &(lam_matrix_norm_options){.order = order});
        if (order == LAM_NORM_MINUS_INF || least) EXPECT(got, LAM_DIMS(2), INFINITY, INFINITY);
        else EXPECT(got, LAM_DIMS(2), 0, 0); /* of columns of no elements the least sum is 0, too */
    }
    EXPECT_OK();
}
END_TEST

Suite *suite_primitives_linalg(void) {
    return SUITE_OF("primitives/linalg", norms_of_negative_orders, cholesky_closed_form_and_residual,
                    cholesky_names_the_matrix_that_fails, cholesky_and_its_solves_have_derivatives,
                    lu_restores_the_matrix, lu_of_nothing_has_an_order, solve_residuals_and_shapes,
                    solve_names_the_matrix_that_is_singular, vmap_of_solve_and_its_gradient,
                    one_factorisation_serves_value_and_tangent, determinants, gradients_of_determinants_and_inverses,
                    triangular_solve_reads_its_triangle_only, square_roots_of_matrices, logarithms_of_matrices,
                    singular_values_of_tall_matrices, changes_of_exponentials_are_corners,
                    second_derivatives_go_with_the_weight, norms_of_nothing);
}
