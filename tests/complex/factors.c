/* Factorisations of complex matrices: what defines them, derivatives of what no choice of phases changes against
 * differences, and functions of matrices against closed forms. */
#include "tests/support.h"

static lam_tensor *matrix(int64_t rows, int64_t columns, double phase) {
    lam_tensor *i = lam_reshape(lam_arange(ctx, LAM_F64, 0, (double)(rows * columns), 1), LAM_DIMS(rows, columns));
    lam_tensor *re = lam_sin(lam_add(lam_mul(1.7, i), phase)), *im = lam_cos(lam_add(lam_mul(2.3, i), 2 * phase));
    return lam_complex(lam_add(re, lam_eye(ctx, LAM_F64, rows, columns)), im);
}

static lam_tensor *adjoint(lam_tensor *x) {
    return lam_conj(lam_matrix_transpose(x));
}

static lam_tensor *columns_of(lam_tensor *x, lam_tensor *w) {
    return lam_mul(x, lam_expand_dims(w, -2));
}

#define EXPECT_CLOSE(x, y, tolerance)                                                                                  \
    do {                                                                                                               \
        double far = lam_item(lam_max_reduce(lam_abs(lam_sub(x, y)), NULL));                                           \
        EXPECT_OK();                                                                                                   \
        ck_assert_msg(far <= (tolerance), "line %d: %g apart", __LINE__, far);                                         \
    } while (0)

#define EXPECT_UNITARY(x, tolerance)                                                                                   \
    EXPECT_CLOSE(lam_matmul(adjoint(x), x), lam_eye(ctx, LAM_F64, lam_dim(x, -1), lam_dim(x, -1)), tolerance)

static const lam_dtype dtypes[] = {LAM_C128, LAM_C64};
static const double errors[] = {1e-14, 1e-5};

BODY(cofactors_of) {
    out[0] = lam_cofactor(in[0]);
}

BODY(determinant_of) {
    out[0] = lam_det(in[0]);
}

START_TEST(eigenvalues_of_hermitian_matrices) {
    lam_tensor *z = lam_cast(matrix(4, 4, 0.3), dtypes[_i]), *h = lam_add(z, adjoint(z)), *w, *v;
    ck_assert(lam_eigh(h, &w, &v) == LAM_OK);
    ck_assert_int_eq(lam_dtype_of(w), _i ? LAM_F32 : LAM_F64);
    EXPECT_CLOSE(lam_matmul(h, v), columns_of(v, w), 10 * errors[_i]);
    EXPECT_UNITARY(v, errors[_i]);
    EXPECT_CLOSE(lam_eigvalsh(h), w, 10 * errors[_i]);
    EXPECT_NUM(lam_all(lam_gt(lam_diff(w, 1, 0), 0.0), NULL), 1);
}
END_TEST

/* Vectors have length 1; values sum to the trace and multiply to the determinant. A real matrix counts as a complex one
 * whose imaginary part is 0, up to the order of its values. */
START_TEST(eigenvalues_of_general_matrices) {
    lam_tensor *z = lam_cast(matrix(4, 4, 0.3), dtypes[_i]), *all = lam_stack(LAM_LIST(z, lam_neg(z)), 0), *w, *v;
    ck_assert(lam_eig(all, &w, &v) == LAM_OK);
    ck_assert_int_eq(lam_dtype_of(w), dtypes[_i]);
    EXPECT_CLOSE(lam_matmul(all, v), columns_of(v, w), 10 * errors[_i]);
    EXPECT_CLOSE(lam_sum(lam_square(lam_abs(v)), &(lam_reduce_options){LAM_AXES(-2), true}), num(1), errors[_i]);
    EXPECT_CLOSE(lam_eigvals(z), lam_index(w, 0, 0), 10 * errors[_i]);
    EXPECT_CLOSE(lam_sum(lam_index(w, 0, 0), NULL), lam_matrix_trace(z, 0, -2, -1), 10 * errors[_i]);
    EXPECT_CLOSE(lam_prod(lam_index(w, 0, 1), NULL), lam_det(z), 20 * errors[_i]);
    lam_tensor *x = lam_real(z), *real = lam_eigvals(x), *same = lam_eigvals(lam_complex(x, lam_zeros_like(x)));
    EXPECT_CLOSE(lam_sum(lam_mul(real, lam_mul(real, real)), NULL), lam_sum(lam_mul(same, lam_mul(same, same)), NULL),
                 100 * errors[_i]);
    lam_tensor *bad = lam_mul(z, lam_scalar_complex(ctx, NAN, 0));
    lam_eig(bad, &w, &v);
    EXPECT_NUM(lam_all(lam_is_nan(lam_real(w)), NULL), 1);
    EXPECT_NUM(lam_all(lam_is_nan(lam_real(v)), NULL), 1);
}
END_TEST

/* Of matrices that are not Hermitian their Hermitian part is taken, whatever the size. */
START_TEST(hermitian_parts_are_taken) {
    for (int k = 0; k < 2; k++) {
        lam_tensor *z = lam_add(matrix(37, 37, 0.4), lam_mul(40.0, lam_eye(ctx, LAM_F64, 37, 37)));
        if (k) z = lam_real(z);
        lam_tensor *part = lam_mul(0.5, lam_add(z, adjoint(z))), *l = lam_cholesky(z), *w, *v;
        EXPECT_CLOSE(lam_matmul(l, adjoint(l)), part, 1e-13);
        EXPECT_CLOSE(lam_eigvalsh(z), lam_eigvalsh(part), 1e-13);
        ck_assert(lam_eigh(z, &w, &v) == LAM_OK);
        EXPECT_CLOSE(lam_matmul(part, v), columns_of(v, w), 1e-12);
    }
}
END_TEST

START_TEST(singular_values) {
    const int64_t sizes[][2] = {{4, 3}, {3, 4}, {3, 3}};
    for (int s = 0; s < 3; s++)
        for (int full = 0; full < 2; full++) {
            lam_tensor *z = lam_cast(matrix(sizes[s][0], sizes[s][1], 0.2 + s), dtypes[_i]), *u, *w, *vt;
            ck_assert(lam_svd(z, &u, &w, &vt, &(lam_svd_options){.full_matrices = full}) == LAM_OK);
            lam_tensor *first = lam_slice_axis(u, -1, 0, 3), *rows = lam_slice_axis(vt, -2, 0, 3);
            EXPECT_CLOSE(lam_matmul(columns_of(first, w), rows), z, 10 * errors[_i]);
            EXPECT_UNITARY(u, 2 * errors[_i]);
            EXPECT_UNITARY(adjoint(vt), 2 * errors[_i]);
            EXPECT_CLOSE(lam_svdvals(z), w, 10 * errors[_i]);
        }
}
END_TEST

START_TEST(orthogonal_factors) {
    const int64_t sizes[][2] = {{4, 3}, {3, 4}, {3, 3}};
    for (int s = 0; s < 3; s++)
        for (int full = 0; full < 2; full++) {
            lam_tensor *z = lam_cast(matrix(sizes[s][0], sizes[s][1], 0.7 + s), dtypes[_i]), *q, *r;
            ck_assert(lam_qr(z, &q, &r, &(lam_qr_options){.full_matrices = full}) == LAM_OK);
            EXPECT_CLOSE(lam_matmul(q, r), z, 10 * errors[_i]);
            EXPECT_UNITARY(q, 2 * errors[_i]);
            EXPECT_CLOSE(lam_triu(r, 0), r, 0);
            EXPECT_CLOSE(lam_imag(lam_diagonal(r, 0, -2, -1)), lam_zeros(ctx, LAM_F64, LAM_DIMS(3)), 0);
        }
}
END_TEST

/* The conditions of Moore and Penrose, also of rank 1; the solution of least length. */
START_TEST(pseudo_inverses) {
    lam_tensor *wide = matrix(2, 4, 0.4), *thin = lam_matmul(matrix(4, 1, 0.1), matrix(1, 3, 0.9));
    lam_tensor *all[] = {matrix(4, 3, 0.2), wide, thin};
    for (int i = 0; i < 3; i++) {
        lam_tensor *z = all[i], *p = lam_pinv(z, NULL), *zp = lam_matmul(z, p), *pz = lam_matmul(p, z);
        EXPECT_CLOSE(lam_matmul(zp, z), z, 1e-13);
        EXPECT_CLOSE(lam_matmul(pz, p), p, 1e-13);
        EXPECT_CLOSE(zp, adjoint(zp), 1e-13);
        EXPECT_CLOSE(pz, adjoint(pz), 1e-13);
    }
    EXPECT(lam_matrix_rank(thin, NULL), LAM_DIMS0, 1);
    lam_tensor *b = lam_index(matrix(4, 3, 1.1), 1, 0), *x = lam_lstsq(all[0], b, NULL);
    lam_tensor *left = lam_matmul(adjoint(all[0]), lam_sub(lam_matmul(all[0], x), b));
    EXPECT_CLOSE(left, lam_zeros(ctx, LAM_F64, LAM_DIMS(3)), 1e-13);
}
END_TEST

/* exp(i t [[0, 1], [1, 0]]) = cos t + i sin t [[0, 1], [1, 0]] */
START_TEST(exponentials_and_sizes) {
    double t = 0.8;
    lam_tensor *swap = MAT(2, 2, 0, 1, 1, 0), *none = lam_zeros_like(swap), *x = lam_complex(none, lam_mul(t, swap));
    lam_tensor *want = lam_complex(lam_mul(cos(t), lam_eye(ctx, LAM_F64, 2, 2)), lam_mul(sin(t), swap));
    EXPECT_CLOSE(lam_expm(x), want, 1e-15);
    EXPECT_CLOSE(lam_expm_frechet(x, x), lam_matmul(x, want), 1e-15);
    lam_tensor *z = matrix(3, 3, 0.5), *s = lam_svdvals(z);
    double largest = lam_item(lam_index(s, 0, 0)), least = lam_item(lam_index(s, 0, 2));
    EXPECT_NEAR(lam_matrix_cond(z, LAM_NORM_2), 1e-13, LAM_DIMS0, largest / least);
    EXPECT_CLOSE(lam_matrix_power(z, 3), lam_matmul(z, lam_matmul(z, z)), 1e-13);
    EXPECT_CLOSE(lam_matmul(lam_matrix_power(z, -1), z), lam_eye(ctx, LAM_F64, 3, 3), 1e-14);
}
END_TEST

START_TEST(polar_factors_and_norms) {
    lam_tensor *z = matrix(4, 3, 0.8), *u, *p, *s = lam_svdvals(z);
    ck_assert(lam_polar(z, &u, &p) == LAM_OK);
    EXPECT_CLOSE(lam_matmul(u, p), z, 1e-13);
    EXPECT_UNITARY(u, 1e-14);
    EXPECT_CLOSE(p, adjoint(p), 0);
    EXPECT_CLOSE(lam_eigvalsh(p), lam_reverse(s, (lam_axes){0, NULL}), 1e-13);
    EXPECT_CLOSE(lam_square(lam_matrix_norm(z, NULL)), lam_sum(lam_square(s), NULL), 1e-13);
    EXPECT_CLOSE(lam_matrix_norm(z, &(lam_matrix_norm_options){.order = LAM_NORM_NUCLEAR}), lam_sum(s, NULL), 1e-13);
}
END_TEST

/* By hand: (1 + i, 2) with (i, 1 - i) is (-1 + i, 2 + 2 i, 2 - 2 i); correlation conjugates its second operand. */
START_TEST(convolutions_and_windows) {
    lam_tensor *x = lam_complex(VEC(1, 2), VEC(1, 0)), *y = lam_complex(VEC(0, 1), VEC(1, -1));
    EXPECT_CLOSE(lam_convolve(x, y, LAM_CONVOLVE_FULL), lam_complex(VEC(-1, 2, 2), VEC(1, 2, -2)), 1e-15);
    lam_tensor *turned = lam_conj(lam_reverse(y, LAM_AXES(0)));
    EXPECT_CLOSE(lam_correlate(x, y, LAM_CONVOLVE_FULL), lam_convolve(x, turned, LAM_CONVOLVE_FULL), 1e-15);
    lam_window_options pairs = {.window = LAM_DIMS(2), .strides = LAM_DIMS(1)};
    EXPECT_CLOSE(lam_reduce_window_sum(x, &pairs), lam_complex(VEC(3), VEC(1)), 0);
    EXPECT_CLOSE(lam_avg_pool(x, &pairs), lam_complex(VEC(1.5), VEC(0.5)), 0);
}
END_TEST

/* By hand: of diag(i, 2, 3, 0) the only cofactor that is not zero is 6 i; of diag(0, i, 3, 0) there is none, and along
 * the identity the outer two change by 3 i. Below rank n - 1 the derivative is zero, not NaN. */
START_TEST(determinants_of_singular_matrices_have_derivatives) {
    lam_tensor *eye = lam_eye(ctx, LAM_F64, 4, 4), *none = lam_zeros_like(eye), *dy;
    lam_tensor *x = lam_complex(lam_mul(eye, VEC(0, 2, 3, 0)), lam_mul(eye, VEC(1, 0, 0, 0)));
    EXPECT_CLOSE(lam_cofactor(x), lam_complex(none, lam_mul(eye, VEC(0, 0, 0, 6))), 1e-14);
    lam_tensor *two = lam_complex(lam_mul(eye, VEC(0, 0, 3, 0)), lam_mul(eye, VEC(0, 1, 0, 0))), *y;
    lam_fn *f = FN(cofactors_of, 1, 1);
    ck_assert_int_eq(lam_jvp(f, LAM_LIST(two), LAM_LIST(lam_complex(eye, none)), &y, &dy, 1, NULL), LAM_OK);
    EXPECT_CLOSE(y, none, 1e-14);
    EXPECT_CLOSE(dy, lam_complex(none, lam_mul(eye, VEC(3, 0, 0, 3))), 1e-14);
    lam_fn *g = lam_grad(FN(determinant_of, 1, 1), &(lam_grad_options){.holomorphic = true});
    EXPECT_CLOSE(apply1(g, x), lam_complex(none, lam_mul(eye, VEC(0, 0, 0, 6))), 1e-14);
    EXPECT_CLOSE(apply1(g, lam_complex(none, none)), none, 0);
}
END_TEST

/* ---- derivatives: of functions of a vector of 6 real numbers --------------------------------------------------- */

static lam_tensor *moved(lam_tensor *x, int64_t rows, int64_t columns) {
    lam_tensor *along = lam_reshape(lam_slice_axis(x, 0, 0, 3), LAM_DIMS(3, 1));
    lam_tensor *part = lam_slice_axis(lam_concatenate(LAM_LIST(along, lam_sin(along)), 0), 0, 0, rows);
    lam_tensor *row = lam_slice_axis(lam_slice_axis(x, 0, 2, 6), 0, 0, columns);
    return lam_add(matrix(rows, columns, 0.6), lam_complex(lam_mul(part, row), lam_sub(part, lam_square(row))));
}

/* A number that all entries of z have a say in. */
static lam_tensor *summed(lam_tensor *z) {
    lam_tensor *weights = matrix(lam_dim(z, -2), lam_dim(z, -1), 1.3);
    return lam_sum(lam_real(lam_mul(weights, z)), NULL);
}

/* v1 v1^H and the values: no phase of the vectors changes these. */
BODY(of_eigenvectors) {
    lam_tensor *z = moved(in[0], 3, 3), *w, *v;
    lam_eigh(lam_add(z, adjoint(z)), &w, &v);
    lam_tensor *first = lam_slice_axis(v, 1, 0, 1);
    out[0] = lam_add(summed(lam_matmul(first, adjoint(first))), lam_sum(lam_mul(w, VEC(1, -2, 0.5)), NULL));
}

BODY(of_eigenvalues) {
    lam_tensor *z = moved(in[0], 3, 3);
    out[0] = lam_sum(lam_sin(lam_eigvalsh(lam_add(z, adjoint(z)))), NULL);
}

static void singular(lam_tensor *z, lam_tensor **out) {
    lam_tensor *u, *s, *vt;
    lam_svd(z, &u, &s, &vt, NULL);
    lam_tensor *left = lam_slice_axis(u, 1, 0, 1), *right = lam_slice_axis(vt, 0, 0, 1);
    lam_tensor *all = lam_add(summed(lam_matmul(left, right)), summed(lam_matmul(left, adjoint(left))));
    *out = lam_add(lam_add(all, summed(lam_matmul(adjoint(right), right))), lam_sum(lam_cos(s), NULL));
}

BODY(of_tall_singular_vectors) {
    singular(moved(in[0], 4, 3), out);
}

BODY(of_wide_singular_vectors) {
    singular(moved(in[0], 3, 4), out);
}

BODY(of_singular_values) {
    out[0] = lam_sum(lam_sin(lam_svdvals(moved(in[0], 4, 3))), NULL);
}

static void triangular(lam_tensor *z, bool full, lam_tensor **out) {
    lam_tensor *q, *r;
    lam_qr(z, &q, &r, &(lam_qr_options){.full_matrices = full});
    lam_tensor *rest = lam_slice_axis(q, 1, 3, LAM_END), *own = lam_slice_axis(q, 1, 0, 3);
    *out = lam_add(summed(own), summed(r));
    if (lam_dim(rest, 1)) *out = lam_add(*out, summed(lam_matmul(rest, adjoint(rest))));
}

BODY(of_tall_factors) {
    triangular(moved(in[0], 4, 3), false, out);
}

BODY(of_complete_factors) {
    triangular(moved(in[0], 4, 3), true, out);
}

BODY(of_wide_factors) {
    triangular(moved(in[0], 3, 4), false, out);
}

BODY(of_pseudo_inverse) {
    out[0] = summed(lam_pinv(moved(in[0], 4, 3), NULL));
}

BODY(of_exponential) {
    out[0] = summed(lam_expm(moved(in[0], 3, 3)));
}

BODY(of_convolution) {
    lam_tensor *x = lam_reshape(moved(in[0], 3, 4), LAM_DIMS(1, 1, 12)), *w = moved(in[0], 2, 2);
    lam_conv_options options = {.strides = LAM_DIMS(2), .padding = LAM_PAD_SAME};
    lam_tensor *y = lam_conv_general(x, lam_reshape(w, LAM_DIMS(2, 1, 2)), &options);
    out[0] = summed(lam_index(y, 0, 0));
}

/* What no phase of the vectors changes: v1 (v^-1)1, a projector, and the values. */
BODY(of_general_eigenvectors) {
    lam_tensor *z = moved(in[0], 3, 3), *w, *v;
    lam_eig(z, &w, &v);
    lam_tensor *pick = lam_div(lam_square(w), lam_add(w, 3.0)), *all = lam_matmul(columns_of(v, pick), lam_inv(v));
    out[0] = lam_add(summed(all), lam_real(lam_sum(lam_exp(w), NULL)));
    out[0] = lam_add(out[0], lam_sum(lam_mul(lam_square(lam_abs(v)), lam_expand_dims(lam_real(w), 0)), NULL));
}

BODY(of_general_eigenvalues) {
    out[0] = lam_sum(lam_abs(lam_eigvals(moved(in[0], 3, 3))), NULL);
}

/* Of rank 2 along all of x: the second derivative of the determinant is not zero, the first is. */
BODY(of_singular_determinant) {
    lam_tensor *low = lam_matmul(matrix(4, 2, 0.1), matrix(2, 4, 0.5)), *change = matrix(4, 4, 0.9);
    lam_tensor *x = lam_add(low, lam_mul(change, lam_sub(lam_index(in[0], 0, 0), 0.3)));
    lam_tensor *other = lam_mul(matrix(4, 4, 1.9), lam_add(lam_index(in[0], 0, 1), 0.4));
    out[0] = lam_real(lam_mul(lam_scalar_complex(ctx, 0.6, -0.8), lam_det(lam_add(x, other))));
}

/* Both results: the direction of the determinant moves too. */
BODY(of_log_determinant) {
    lam_tensor *sign, *log_size;
    lam_slogdet(moved(in[0], 3, 3), &sign, &log_size);
    out[0] = lam_add(lam_sin(log_size), lam_real(lam_mul(lam_scalar_complex(ctx, 0.6, -0.8), sign)));
}

static const lam_body bodies[] = {of_convolution,           of_eigenvectors,          of_eigenvalues,
                                  of_tall_singular_vectors, of_wide_singular_vectors, of_singular_values,
                                  of_tall_factors,          of_complete_factors,      of_wide_factors,
                                  of_pseudo_inverse,        of_exponential,           of_general_eigenvectors,
                                  of_general_eigenvalues,   of_singular_determinant,  of_log_determinant};

enum { BODIES = sizeof bodies / sizeof bodies[0] };

START_TEST(derivatives_agree_with_differences) {
    lam_tensor *x = VEC(0.3, -0.4, 0.7, 0.2, -0.5, 0.6);
    lam_fn *f = FN(bodies[_i], 1, 1);
    ck_assert_msg(lam_check_grads(f, LAM_LIST(x), &(lam_check_grads_options){.order = 2}) == LAM_OK, "body %d: %s", _i,
                  lam_error(ctx));
    lam_tensor *y = lam_mul(x, 0.8), *apart = lam_stack(LAM_LIST(apply1(f, x), apply1(f, y)), 0);
    EXPECT_SAME(apply1(lam_vmap(f, NULL), lam_stack(LAM_LIST(x, y), 0)), apart, 1e-12);
}
END_TEST

Suite *suite_complex_factors(void) {
    Suite *suite =
        SUITE_OF("complex/factors", hermitian_parts_are_taken, pseudo_inverses, exponentials_and_sizes,
                 polar_factors_and_norms, convolutions_and_windows, determinants_of_singular_matrices_have_derivatives);
    suite_loop(suite, eigenvalues_of_hermitian_matrices, 2);
    suite_loop(suite, eigenvalues_of_general_matrices, 2);
    suite_loop(suite, singular_values, 2);
    suite_loop(suite, orthogonal_factors, 2);
    suite_loop(suite, derivatives_agree_with_differences, BODIES);
    return suite;
}
