/* Hessenberg forms, three diagonals of symmetric matrices, complex Schur forms from real ones: what the factors are
 * made of, and derivatives of each element of each factor. */
#include "tests/support.h"

static double largest(lam_tensor *x) {
    return lam_size(x) ? lam_item(lam_max_reduce(lam_abs(x), NULL)) : 0;
}

static lam_tensor *adjoint(lam_tensor *x) {
    return lam_conj(lam_matrix_transpose(x));
}

/* Elements without a pattern. */
static lam_tensor *mixed(int64_t n, double phase) {
    lam_tensor *i = lam_iota(ctx, LAM_F64, LAM_DIMS(n, n), 0), *j = lam_iota(ctx, LAM_F64, LAM_DIMS(n, n), 1);
    return lam_sin(lam_add(lam_mul(2.3, i), lam_mul(lam_add(lam_square(i), phase), lam_add(j, 0.5))));
}

static void expect_unitary(lam_tensor *q) {
    lam_tensor *one = lam_eye(ctx, lam_dtype_of(q), lam_dim(q, -1), lam_dim(q, -1));
    ck_assert_double_le(largest(lam_sub(lam_matmul(q, adjoint(q)), one)), 1e-13);
}

/* Of sides from none to more than a block of LAPACK's. */
START_TEST(factors_are_what_they_should_be) {
    static const int64_t sides[] = {0, 1, 2, 3, 7, 150};
    for (int k = 0; k < 12; k++) {
        const int64_t n = sides[k / 2];
        lam_tensor *x = k % 2 ? lam_complex(mixed(n, 1), mixed(n, 2)) : mixed(n, 1), *h, *q;
        ck_assert_int_eq(lam_hessenberg(x, &h, &q), LAM_OK);
        ck_assert_int_eq(lam_dtype_of(h), lam_dtype_of(x));
        ck_assert_double_le(largest(lam_sub(lam_matmul(q, lam_matmul(h, adjoint(q))), x)), 1e-12);
        expect_unitary(q);
        ck_assert_double_eq(largest(lam_tril(h, -2)), 0);
        ck_assert_double_eq(largest(lam_imag(lam_diagonal(h, -1, 0, 1))), 0);
        if (n)
            ck_assert_double_eq(
                largest(lam_sub(lam_slice_axis(q, 0, 0, 1), lam_slice_axis(lam_eye(ctx, LAM_F64, n, n), 0, 0, 1))), 0);
    }
    lam_tensor *h;
    lam_hessenberg(MAT(3, 3, 1, NAN, 0, 2, 1, 1, 3, 4, 5), &h, NULL);
    EXPECT_NUM(lam_any(lam_is_nan(h), NULL), 1);
    EXPECT_OK();
}
END_TEST

/* scipy.linalg.hessenberg. */
START_TEST(known_form) {
    lam_tensor *h, *x = MAT(4, 4, 2, 5, 8, 7, 5, 2, 2, 8, 7, 5, 6, 6, 5, 4, 4, 8);
    lam_hessenberg(x, &h, NULL);
    EXPECT_NEAR(h, 1e-8, LAM_DIMS(4, 4), 2, -11.65843866, 1.42005301, 0.25349066, -9.94987437, 14.53535354, -5.31022304,
                2.43081618, 0, -1.83299243, 0.38969961, -0.51527034, 0, 0, -3.83189513, 1.07494686);
    EXPECT_OK();
}
END_TEST

/* Every element of a factor, real and imaginary, with a weight of its own. */
static lam_tensor *weighed(lam_tensor *x) {
    const int64_t n = lam_size(x);
    lam_tensor *i = lam_iota(ctx, LAM_F64, LAM_DIMS(n), 0), *all = lam_reshape(x, LAM_DIMS(n));
    return lam_add(lam_sum(lam_mul(lam_cos(lam_mul(1.7, i)), lam_real(all)), NULL),
                   lam_sum(lam_mul(lam_sin(lam_add(lam_square(i), 1.0)), lam_imag(all)), NULL));
}

static lam_tensor *of_hessenberg(lam_tensor *x) {
    lam_tensor *h, *q;
    lam_hessenberg(x, &h, &q);
    return lam_add(weighed(h), lam_mul(0.7, weighed(q)));
}

static lam_tensor *of_tridiagonal(lam_tensor *x) {
    lam_tensor *d, *e, *q;
    lam_tridiagonal(x, &d, &e, &q);
    return lam_add(lam_add(weighed(d), lam_mul(1.3, weighed(e))), lam_mul(0.7, weighed(q)));
}

BODY(real_hessenberg) {
    out[0] = of_hessenberg(in[0]);
}
BODY(complex_hessenberg) {
    out[0] = of_hessenberg(lam_complex(in[0], in[1]));
}
BODY(real_tridiagonal) {
    out[0] = of_tridiagonal(in[0]);
}
BODY(complex_tridiagonal) {
    out[0] = of_tridiagonal(lam_complex(in[0], in[1]));
}

START_TEST(derivatives) {
    const lam_check_grads_options second = {.order = 2};
    for (int64_t n = 1; n < 6; n++) {
        lam_tensor *x = mixed(n, 1), *y = mixed(n, 2);
        ck_assert(lam_check_grads(FN(real_hessenberg, 1, 1), LAM_LIST(x), &second) == LAM_OK);
        ck_assert(lam_check_grads(FN(complex_hessenberg, 2, 1), LAM_LIST(x, y), &second) == LAM_OK);
        ck_assert(lam_check_grads(FN(real_tridiagonal, 1, 1), LAM_LIST(x), &second) == LAM_OK);
        ck_assert(lam_check_grads(FN(complex_tridiagonal, 2, 1), LAM_LIST(x, y), &second) == LAM_OK);
    }
    lam_tensor *a = mixed(4, 1), *b = mixed(4, 2);
    lam_fn *slope = lam_grad(FN(complex_hessenberg, 2, 1), NULL);
    lam_tensor *each = lam_stack(LAM_LIST(apply2(slope, a, b), apply2(slope, b, a)), 0);
    EXPECT_SAME(apply2(lam_vmap(slope, NULL), lam_stack(LAM_LIST(a, b), 0), lam_stack(LAM_LIST(b, a), 0)), each, 1e-11);
    EXPECT_OK();
}
END_TEST

/* What the choice of vectors has no say in has its derivative also where the subdiagonal has zeros. */
BODY(trace_of_square) {
    lam_tensor *h;
    lam_hessenberg(in[0], &h, NULL);
    out[0] = lam_matrix_trace(lam_matmul(h, h), 0, 0, 1);
}

START_TEST(zeros_below_the_diagonal) {
    lam_tensor *x = MAT(4, 4, 1, 2, 0, 0, 0, 3, 1, 0, 0, 2, 1, 0, 0, 0, 0, 5);
    EXPECT_SAME(apply1(lam_grad(FN(trace_of_square, 1, 1), NULL), x), lam_mul(2.0, lam_matrix_transpose(x)), 1e-14);
    EXPECT_OK();
}
END_TEST

START_TEST(three_diagonals) {
    for (int k = 0; k < 6; k++) {
        const int64_t n = k / 2 * 3;
        lam_tensor *x = k % 2 ? lam_complex(mixed(n, 1), mixed(n, 2)) : mixed(n, 1), *d, *e, *q;
        ck_assert_int_eq(lam_tridiagonal(x, &d, &e, &q), LAM_OK);
        ck_assert_int_eq(lam_dtype_of(d), LAM_F64);
        EXPECT_EMPTY(lam_slice_axis(e, 0, n ? n - 1 : 0, LAM_END), LAM_DIMS(0));
        expect_unitary(q);
        if (!n) continue;
        lam_tensor *one = lam_eye(ctx, LAM_F64, n, n), *t = lam_mul(d, one);
        t = lam_add(t, lam_pad(lam_mul(e, lam_eye(ctx, LAM_F64, n - 1, n - 1)), LAM_DIMS(1, 0), LAM_DIMS(0, 1), NULL));
        t = lam_add(t, lam_matrix_transpose(lam_tril(t, -1)));
        lam_tensor *want = lam_mul(0.5, lam_add(x, adjoint(x)));
        ck_assert_double_le(largest(lam_sub(lam_matmul(q, lam_matmul(t, adjoint(q))), want)), 1e-13);
    }
    EXPECT_OK();
}
END_TEST

START_TEST(complex_schur_forms) {
    lam_tensor *x = mixed(5, 1), *t, *z, *c, *y;
    lam_schur(x, &t, &z, NULL);
    ck_assert_double_gt(largest(lam_tril(t, -1)), 0.1);
    ck_assert_int_eq(lam_rsf2csf(t, z, &c, &y), LAM_OK);
    ck_assert_int_eq(lam_dtype_of(c), LAM_C128);
    ck_assert_double_eq(largest(lam_tril(c, -1)), 0);
    ck_assert_double_le(largest(lam_sub(lam_matmul(y, lam_matmul(c, adjoint(y))), x)), 1e-13);
    expect_unitary(y);
    lam_rsf2csf(c, y, &t, &z);
    EXPECT_SAME(lam_real(t), lam_real(c), 1e-14);
    EXPECT_SAME(lam_imag(z), lam_imag(y), 1e-14);
    EXPECT_OK();
}
END_TEST

START_TEST(bad_input) {
    lam_tensor *a, *b, *c;
    lam_hessenberg(MAT(2, 3, 1, 2, 3, 4, 5, 6), &a, &b);
    EXPECT_ERROR(LAM_ERR_SHAPE, "hessenberg");
    lam_tridiagonal(VEC(1, 2), &a, &b, &c);
    ck_assert(lam_failed(a) && lam_failed(b) && lam_failed(c));
    EXPECT_ERROR(LAM_ERR_SHAPE, "tridiagonal");
    lam_rsf2csf(MAT(2, 2, 1, 2, 0, 3), MAT(1, 1, 1), &a, &b);
    EXPECT_ERROR(LAM_ERR_SHAPE, "rsf2csf", "one size");
    const lam_dims two = LAM_DIMS(2, 2, 2), three = LAM_DIMS(3, 2, 2);
    lam_rsf2csf(lam_ones(ctx, LAM_F64, two), lam_ones(ctx, LAM_F64, three), &a, &b);
    ck_assert(lam_failed(a) && lam_failed(b));
    EXPECT_ERROR(LAM_ERR_SHAPE, "rsf2csf: ");
    lam_rsf2csf(MAT(2, 2, 1, 2, 0, 3), VEC(1, 2), &a, NULL);
    EXPECT_ERROR(LAM_ERR_SHAPE, "rsf2csf");
}
END_TEST

Suite *suite_primitives_hessenberg(void) {
    return SUITE_OF("primitives/hessenberg", factors_are_what_they_should_be, known_form, derivatives,
                    zeros_below_the_diagonal, three_diagonals, complex_schur_forms, bad_input);
}
