/* Eigenvalues and singular values that repeat: with a full set of eigenvectors what treats equal ones alike has its
 * derivative, without one the derivative is infinite, and comes out so. Oracles are the same functions without
 * eigenvalues: sums of powers are traces of powers, whose derivative is n x^(n-1), turned; spans of vectors are
 * functions of matrices, by lam_spectral, lam_sqrtm and lam_inv. */
#include "tests/support.h"

enum { SUMS = 3 };

/* The real part of the sum of the powers number `env` of the eigenvalues. */
BODY(sum_of_powers) {
    const int n = *(const int *)env;
    out[0] = lam_real(lam_sum(lam_integer_pow(lam_eigvals(in[0]), n), NULL));
}

/* p d p^-1 has the eigenvalues of d, and a full set of vectors where d has. */
static lam_tensor *similar(lam_tensor *d) {
    lam_tensor *p = MAT(4, 4, 1, 0.5, -0.3, 0.2, -0.4, 1.2, 0.1, 0.6, 0.3, -0.2, 0.9, 0.4, 0.7, 0.1, -0.5, 1.1);
    return lam_matmul(p, lam_matmul(d, lam_inv(p)));
}

static lam_tensor *diagonal(double a, double b, double c, double d) {
    return lam_mul(lam_eye(ctx, LAM_F64, 4, 4), VEC(a, b, c, d));
}

static void expect_gradient(lam_tensor *x, int n, double tolerance) {
    lam_fn *f = FN_ENV(sum_of_powers, 1, 1, &n), *forms[] = {lam_jacrev(f, NULL), lam_jacfwd(f, NULL)};
    lam_tensor *want = lam_mul(n, lam_matrix_transpose(lam_matrix_power(x, n - 1)));
    for (int mode = 0; mode < 2; mode++) {
        lam_tensor *far = lam_max_reduce(lam_abs(lam_sub(apply1(forms[mode], x), want)), NULL);
        EXPECT_OK();
        ck_assert_msg(lam_item(far) <= tolerance, "power %d, mode %d: %g", n, mode, lam_item(far));
    }
}

START_TEST(sums_over_eigenvalues_that_repeat) {
    lam_tensor *turns = MAT(4, 4, 3, -4, 0, 0, 4, 3, 0, 0, 0, 0, 3, -4, 0, 0, 4, 3);
    lam_tensor *all[] = {lam_mul(2.0, lam_eye(ctx, LAM_F64, 4, 4)),
                         lam_zeros(ctx, LAM_F64, LAM_DIMS(4, 4)),
                         similar(diagonal(2, 2, 3, -1)),
                         similar(diagonal(2, 2, 2, -1)),
                         similar(diagonal(1, 1, -2, -2)),
                         similar(turns),
                         MAT(3, 3, 1, 1, 1, 0, 2, 1, 0, 0, 1)};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        for (int n = 1; n <= SUMS; n++) expect_gradient(all[i], n, n == 3 ? 1e-10 : 1e-12);
}
END_TEST

/* Exactly, and moved by a similarity that rounds nothing. */
START_TEST(missing_eigenvectors_have_infinite_derivatives) {
    lam_tensor *all[] = {MAT(2, 2, 1, 1, 0, 1), MAT(2, 2, 0, 1, 0, 0), MAT(3, 3, 2, 1, 0, 0, 2, 1, 0, 0, 2),
                         MAT(3, 3, 3, 0, 0, 0, 2, 1, 0, 0, 2), MAT(2, 2, 2, -1, 1, 0)};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        for (int n = 1; n <= SUMS; n++) {
            lam_fn *f = FN_ENV(sum_of_powers, 1, 1, &n), *forms[] = {lam_jacrev(f, NULL), lam_jacfwd(f, NULL)};
            for (int mode = 0; mode < 2; mode++) {
                lam_tensor *g = apply1(forms[mode], all[i]);
                EXPECT_OK();
                ck_assert_msg(lam_item(lam_all(lam_is_finite(g), NULL)) == 0, "matrix %d, power %d, mode %d: finite",
                              (int)i, n, mode);
            }
        }
}
END_TEST

/* ---- spans of vectors, to the third derivative ------------------------------------------------------------------- */

/* Vectors of a value that stands alone, and their partners, beside others that repeat; and the span of these. */
BODY(alone) {
    lam_tensor *v;
    lam_eigh(in[0], NULL, &v);
    v = lam_slice_axis(v, 1, 2, 3);
    out[0] = lam_matmul(v, lam_matrix_transpose(v));
}
BODY(together) {
    lam_tensor *v;
    lam_eigh(in[0], NULL, &v);
    v = lam_slice_axis(v, 1, 0, 2);
    out[0] = lam_matmul(v, lam_matrix_transpose(v));
}
BODY(largest) {
    out[0] = lam_slice_axis(lam_eigvalsh(in[0]), 0, 2, 3);
}
BODY(right_alone) {
    lam_tensor *w, *v;
    lam_eig(in[0], &w, &v);
    lam_tensor *at = lam_gt(lam_real(w), 0.5);
    out[0] = lam_real(lam_matmul(lam_mul(v, at), lam_inv(v)));
}
BODY(nearest_orthogonal) {
    lam_polar(in[0], &out[0], NULL);
}
BODY(span_of_columns) {
    lam_tensor *u;
    lam_svd(in[0], &u, NULL, NULL, NULL);
    out[0] = lam_matmul(u, lam_matrix_transpose(u));
}

BODY(step) {
    out[0] = lam_cast(lam_gt(in[0], 0.5), LAM_F64);
}
BODY(low) {
    out[0] = lam_cast(lam_le(in[0], 0.5), LAM_F64);
}
BODY(kept) {
    out[0] = lam_mul(in[0], lam_gt(in[0], 0.5));
}
static lam_tensor *of_symmetric(lam_body f, lam_tensor *x) {
    return lam_apply(lam_spectral(FN(f, 1, 1)), LAM_LIST(x));
}
BODY(step_of_matrix) {
    out[0] = of_symmetric(step, in[0]);
}
BODY(low_of_matrix) {
    out[0] = of_symmetric(low, in[0]);
}
BODY(kept_of_matrix) {
    out[0] = lam_expand_dims(lam_matrix_trace(of_symmetric(kept, in[0]), 0, 0, 1), 0);
}
/* (1 + y (y^2)^(-1/2)) / 2 for y = x - 1/2. */
BODY(sign_of_matrix) {
    lam_tensor *one = lam_eye(ctx, LAM_F64, 3, 3), *y = lam_sub(in[0], lam_mul(0.5, one));
    out[0] = lam_mul(0.5, lam_add(one, lam_matmul(y, lam_inv(lam_sqrtm(lam_matmul(y, y))))));
}
BODY(over_root) {
    out[0] = lam_rsqrt(in[0]);
}
BODY(over_root_of_squares) {
    out[0] = lam_matmul(in[0], of_symmetric(over_root, lam_matmul(lam_matrix_transpose(in[0]), in[0])));
}
BODY(projection) {
    lam_tensor *xt = lam_matrix_transpose(in[0]);
    out[0] = lam_matmul(in[0], lam_solve(lam_matmul(xt, in[0]), xt));
}

/* q diag(w) p^T with orthonormal columns that have no zeros. */
static lam_tensor *turned(lam_tensor *w, int64_t rows) {
    const int64_t n = lam_size(w);
    lam_tensor *i = lam_iota(ctx, LAM_F64, LAM_DIMS(rows, n), 0), *j = lam_iota(ctx, LAM_F64, LAM_DIMS(rows, n), 1), *q;
    lam_qr(lam_sin(lam_add(lam_mul(2.3, i), lam_mul(lam_add(i, 1.0), j))), &q, NULL, NULL);
    lam_tensor *p = lam_slice_axis(q, 0, 0, n);
    if (rows != n) lam_qr(p, &p, NULL, NULL);
    return lam_matmul(lam_mul(q, w), lam_matrix_transpose(p));
}

/* The elements of what env gives, each with a weight of its own. */
BODY(weighed) {
    lam_tensor *y = lam_apply(env, LAM_LIST(in[0]));
    y = lam_reshape(y, LAM_DIMS(lam_size(y)));
    lam_tensor *i = lam_iota(ctx, LAM_F64, LAM_DIMS(lam_size(y)), 0);
    out[0] = lam_sum(lam_mul(lam_cos(lam_square(lam_add(i, 1.0))), y), NULL);
}

static void expect_all_orders(lam_fn *got, lam_fn *want, lam_tensor *x, int most) {
    typedef lam_fn *transform(lam_fn * f, const lam_jacobian_options *options);
    transform *const modes[] = {lam_jacfwd, lam_jacrev};
    for (int order = 0; order <= most; order++)
        for (int m = 0; m < 1 << order; m++) {
            lam_fn *f = FN_ENV(weighed, 1, 1, got), *g = FN_ENV(weighed, 1, 1, want);
            for (int k = 0; k < order; k++) f = modes[m >> k & 1](f, NULL), g = lam_jacfwd(g, NULL);
            lam_tensor *a = apply1(f, x), *b = apply1(g, x), *size = lam_max_reduce(lam_abs(b), NULL);
            lam_tensor *far = lam_max_reduce(lam_abs(lam_sub(a, b)), NULL);
            EXPECT_OK();
            ck_assert_msg(lam_item(far) <= 1e-12 * (1 + lam_item(size)), "%s, order %d, modes %d: %g of %g",
                          lam_fn_name(got), order, m, lam_item(far), lam_item(size));
        }
}

START_TEST(spans_where_others_repeat) {
    lam_tensor *x = turned(VEC(-1, -1, 2), 3), *general;
    expect_all_orders(FN(alone, 1, 1), FN(step_of_matrix, 1, 1), x, 3);
    expect_all_orders(FN(together, 1, 1), FN(low_of_matrix, 1, 1), x, 3);
    expect_all_orders(FN(largest, 1, 1), FN(kept_of_matrix, 1, 1), x, 3);
    expect_all_orders(FN(alone, 1, 1), FN(step_of_matrix, 1, 1), lam_mul(lam_eye(ctx, LAM_F64, 3, 3), VEC(0, 0, 5)), 3);
    lam_tensor *p = MAT(3, 3, 1, 0.5, -0.3, -0.4, 1.2, 0.1, 0.3, -0.2, 0.9);
    general = lam_matmul(p, lam_matmul(lam_mul(lam_eye(ctx, LAM_F64, 3, 3), VEC(-1, 2, -1)), lam_inv(p)));
    expect_all_orders(FN(right_alone, 1, 1), FN(sign_of_matrix, 1, 1), general, 2);
}
END_TEST

START_TEST(singular_vectors_where_values_repeat) {
    lam_tensor *all[] = {turned(VEC(2, 2, 2), 3), turned(VEC(3, 3, 1), 3), lam_eye(ctx, LAM_F64, 3, 3),
                         turned(VEC(2, 2), 3)};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        const int most = i < 3 ? 2 : 3;
        expect_all_orders(FN(nearest_orthogonal, 1, 1), FN(over_root_of_squares, 1, 1), all[i], most);
    }
    expect_all_orders(FN(span_of_columns, 1, 1), FN(projection, 1, 1), turned(VEC(2, 2), 4), 3);
    expect_all_orders(FN(span_of_columns, 1, 1), FN(projection, 1, 1), turned(VEC(2, 1, 2), 4), 2);
}
END_TEST

BODY(over_square_root) {
    out[0] = lam_matmul(in[0], lam_inv(lam_sqrtm(lam_matmul(lam_matrix_transpose(in[0]), in[0]))));
}

/* The polar factor does not depend on gaps, however small. */
START_TEST(polar_factors_where_values_nearly_repeat) {
    for (double gap = 1e-3; gap > 1e-15; gap /= 10) {
        lam_tensor *square = turned(VEC(2, 2 + gap, 2 - 3 * gap), 3), *tall = turned(VEC(2, 2 + gap), 4);
        lam_fn *f = FN(nearest_orthogonal, 1, 1), *g = FN(over_square_root, 1, 1);
        expect_all_orders(f, g, square, 2);
        expect_all_orders(f, g, tall, 2);
    }
}
END_TEST

Suite *suite_primitives_repeated(void) {
    return SUITE_OF("primitives/repeated", sums_over_eigenvalues_that_repeat,
                    missing_eigenvectors_have_infinite_derivatives, spans_where_others_repeat,
                    singular_vectors_where_values_repeat, polar_factors_where_values_nearly_repeat);
}
