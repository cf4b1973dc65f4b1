/* Matrices that vectors or a size make, polar factors, symmetric tridiagonal matrices: values from the examples of
 * SciPy's documentation and from definitions, derivatives against differences, vmap against one call per example. */
#include "tests/support.h"

#define DIMS33 LAM_DIMS(3, 3)

BODY(circulant) {
    out[0] = lam_circulant(in[0]);
}
BODY(hankel) {
    out[0] = lam_hankel(in[0], lam_square(in[0]));
}
BODY(companion) {
    out[0] = lam_companion(in[0]);
}
BODY(leslie) {
    out[0] = lam_leslie(in[0], lam_slice_axis(in[0], 0, 1, 4));
}
BODY(fiedler) {
    out[0] = lam_fiedler(in[0]);
}
BODY(convolution) {
    out[0] = lam_convolution_matrix(in[0], 3, LAM_CONVOLVE_SAME);
}

START_TEST(matrices_of_vectors) {
    EXPECT(lam_circulant(VEC(1, 2, 3)), DIMS33, 1, 3, 2, 2, 1, 3, 3, 2, 1);
    EXPECT(lam_hankel(VEC(1, 17, 99), NULL), DIMS33, 1, 17, 99, 17, 99, 0, 99, 0, 0);
    EXPECT(lam_hankel(VEC(1, 2), VEC(9, 7, 8)), LAM_DIMS(2, 3), 1, 2, 7, 2, 7, 8);
    EXPECT(lam_companion(VEC(2, -20, 62, -60)), DIMS33, 10, -31, 30, 1, 0, 0, 0, 1, 0);
    EXPECT(lam_companion(VEC(2, 6)), LAM_DIMS(1, 1), -3);
    EXPECT(lam_leslie(VEC(0.5, 2, 1), VEC(0.25, 0.75)), DIMS33, 0.5, 2, 1, 0.25, 0, 0, 0, 0.75, 0);
    EXPECT(lam_fiedler(VEC(1, 4, 12)), DIMS33, 0, 3, 11, 3, 0, 8, 11, 8, 0);
    EXPECT(lam_fiedler(lam_cast(VEC(1, 4, 12), LAM_U8)), DIMS33, 0, 3, 11, 3, 0, 8, 11, 8, 0);
    EXPECT(lam_convolution_matrix(VEC(-1, 4, -2), 5, LAM_CONVOLVE_SAME), LAM_DIMS(5, 5), 4, -1, 0, 0, 0, -2, 4, -1, 0,
           0, 0, -2, 4, -1, 0, 0, 0, -2, 4, -1, 0, 0, 0, -2, 4);
    lam_tensor *a = VEC(1, -2, 3, 0.5), *v = VEC(2, 1, -1);
    for (int mode = LAM_CONVOLVE_FULL; mode <= LAM_CONVOLVE_VALID; mode++) {
        lam_convolve_mode m = (lam_convolve_mode)mode;
        EXPECT_SAME(lam_matmul(lam_convolution_matrix(a, 3, m), v), lam_convolve(a, v, m), 1e-15);
        EXPECT_SAME(lam_matmul(lam_convolution_matrix(v, 4, m), a), lam_convolve(v, a, m), 1e-15);
    }
    lam_tensor *whole = lam_array(ctx, LAM_I64, LAM_DIMS(3), (int64_t[]){1, 2, 3});
    ck_assert_int_eq(lam_dtype_of(lam_circulant(whole)), LAM_I64);
    ck_assert_int_eq(lam_dtype_of(lam_companion(whole)), LAM_F64);
    ck_assert_int_eq(lam_dtype_of(lam_hankel(lam_cast(v, LAM_C64), NULL)), LAM_C64);
    EXPECT_EMPTY(lam_circulant(lam_zeros(ctx, LAM_F64, LAM_DIMS(0))), LAM_DIMS(0, 0));
    EXPECT_EMPTY(lam_fiedler(lam_zeros(ctx, LAM_F64, LAM_DIMS(0))), LAM_DIMS(0, 0));
    EXPECT_OK();
    lam_fn *all[] = {FN(circulant, 1, 1), FN(hankel, 1, 1),  FN(companion, 1, 1),
                     FN(leslie, 1, 1),    FN(fiedler, 1, 1), FN(convolution, 1, 1)};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        ck_assert_int_eq(lam_check_grads(all[i], LAM_LIST(a), &(lam_check_grads_options){.order = 2}), LAM_OK);
        lam_tensor *both = lam_stack(LAM_LIST(a, lam_exp(a)), 0), *second = apply1(all[i], lam_exp(a));
        EXPECT_SAME(apply1(lam_vmap(all[i], NULL), both), lam_stack(LAM_LIST(apply1(all[i], a), second), 0), 0);
    }
}
END_TEST

START_TEST(matrices_of_a_size) {
    EXPECT_NEAR(lam_hilbert(ctx, LAM_F64, 3), 1e-16, DIMS33, 1, 1. / 2, 1. / 3, 1. / 2, 1. / 3, 1. / 4, 1. / 3, 1. / 4,
                1. / 5);
    EXPECT(lam_pascal(ctx, LAM_F64, 4, false), LAM_DIMS(4, 4), 1, 1, 1, 1, 1, 2, 3, 4, 1, 3, 6, 10, 1, 4, 10, 20);
    EXPECT(lam_pascal(ctx, LAM_F64, 3, true), DIMS33, 1, 0, 0, 1, 1, 0, 1, 2, 1);
    lam_tensor *lower = lam_pascal(ctx, LAM_F64, 20, true);
    EXPECT_SAME(lam_matmul(lower, lam_matrix_transpose(lower)), lam_pascal(ctx, LAM_F64, 20, false), 0);
    EXPECT(lam_hadamard(ctx, LAM_F64, 4), LAM_DIMS(4, 4), 1, 1, 1, 1, 1, -1, 1, -1, 1, 1, -1, -1, 1, -1, -1, 1);
    EXPECT(lam_hadamard(ctx, LAM_F64, 1), LAM_DIMS(1, 1), 1);
    lam_tensor *f = lam_dft(ctx, LAM_C128, 4);
    EXPECT_NEAR(lam_add(lam_real(f), 2.0), 1e-15, LAM_DIMS(4, 4), 3, 3, 3, 3, 3, 2, 1, 2, 3, 1, 3, 1, 3, 2, 1, 2);
    EXPECT_NEAR(lam_add(lam_imag(f), 2.0), 1e-15, LAM_DIMS(4, 4), 2, 2, 2, 2, 2, 1, 2, 3, 2, 2, 2, 2, 2, 3, 2, 1);
    ck_assert_int_eq(lam_dtype_of(lam_hilbert(ctx, LAM_F32, 2)), LAM_F32);
    ck_assert_int_eq(lam_dtype_of(lam_dft(ctx, LAM_C64, 2)), LAM_C64);
    EXPECT_EMPTY(lam_hilbert(ctx, LAM_F64, 0), LAM_DIMS(0, 0));
    EXPECT_EMPTY(lam_real(lam_dft(ctx, LAM_C128, 0)), LAM_DIMS(0, 0));
    EXPECT_OK();
    EXPECT(lam_invhilbert(ctx, LAM_F64, 3), DIMS33, 9, -36, 30, -36, 192, -180, 30, -180, 180);
    EXPECT(lam_invpascal(ctx, LAM_F64, 3, true), DIMS33, 1, 0, 0, -1, 1, 0, 1, -2, 1);
    EXPECT(lam_invpascal(ctx, LAM_F64, 3, false), DIMS33, 3, -3, 1, -3, 5, -2, 1, -2, 1);
    lam_tensor *one = lam_eye(ctx, LAM_F64, 12, 12), *h = lam_helmert(ctx, LAM_F64, 12, true);
    EXPECT_SAME(lam_matmul(lam_pascal(ctx, LAM_F64, 12, false), lam_invpascal(ctx, LAM_F64, 12, false)), one, 0);
    EXPECT_SAME(lam_add(lam_matmul(h, lam_matrix_transpose(h)), 1.0), lam_add(one, 1.0), 1e-15);
    EXPECT_SAME(lam_helmert(ctx, LAM_F64, 12, false), lam_slice_axis(h, 0, 1, 12), 0);
    EXPECT_NEAR(lam_helmert(ctx, LAM_F64, 3, false), 1e-15, LAM_DIMS(2, 3), sqrt(0.5), -sqrt(0.5), 0, 1 / sqrt(6),
                1 / sqrt(6), -2 / sqrt(6));
    EXPECT_NEAR(lam_mul(1e-12, lam_index(lam_index(lam_invhilbert(ctx, LAM_F64, 10), 0, 6), 0, 6)), 1e-15, LAM_DIMS0,
                3.4806739968); /* of 10 rows the largest: from Python's whole numbers */
    EXPECT_EMPTY(lam_invhilbert(ctx, LAM_F64, 0), LAM_DIMS(0, 0));
    EXPECT_EMPTY(lam_invpascal(ctx, LAM_F64, 0, false), LAM_DIMS(0, 0));
    EXPECT_EMPTY(lam_helmert(ctx, LAM_F64, 1, false), LAM_DIMS(0, 1));
    ck_assert_int_eq(lam_dtype_of(lam_invhilbert(ctx, LAM_F32, 2)), LAM_F32);
    EXPECT_OK();
}
END_TEST

START_TEST(matrices_that_there_are_not) {
    lam_invhilbert(ctx, LAM_I64, 2);
    EXPECT_ERROR(LAM_ERR_DTYPE, "invhilbert");
    lam_invpascal(ctx, LAM_BOOL, 2, true);
    EXPECT_ERROR(LAM_ERR_DTYPE, "invpascal");
    lam_helmert(ctx, LAM_I32, 2, true);
    EXPECT_ERROR(LAM_ERR_DTYPE, "helmert");
    lam_helmert(ctx, LAM_F64, 0, true);
    EXPECT_ERROR(LAM_ERR_VALUE, "helmert");
    lam_hadamard(ctx, LAM_F64, 6);
    EXPECT_ERROR(LAM_ERR_VALUE, "hadamard");
    lam_hilbert(ctx, LAM_I64, 2);
    EXPECT_ERROR(LAM_ERR_DTYPE, "hilbert");
    lam_pascal(ctx, LAM_BOOL, 2, false);
    EXPECT_ERROR(LAM_ERR_DTYPE, "pascal");
    lam_dft(ctx, LAM_F64, 2);
    EXPECT_ERROR(LAM_ERR_DTYPE, "dft");
    lam_hilbert(ctx, LAM_F64, -1);
    EXPECT_ERROR(LAM_ERR_VALUE, "hilbert: there is none of -1 rows");
    lam_invhilbert(ctx, LAM_F64, -1);
    EXPECT_ERROR(LAM_ERR_VALUE, "invhilbert: there is none of -1 rows");
    lam_pascal(ctx, LAM_F64, -1, true);
    EXPECT_ERROR(LAM_ERR_VALUE, "pascal: there is none of -1 rows");
    lam_invpascal(ctx, LAM_F64, -1, true);
    EXPECT_ERROR(LAM_ERR_VALUE, "invpascal: there is none of -1 rows");
    lam_dft(ctx, LAM_C128, -1);
    EXPECT_ERROR(LAM_ERR_VALUE, "dft: there is none of -1 rows");
}
END_TEST

/* ---- factors ----------------------------------------------------------------------------------------------------- */

BODY(right_factors) {
    lam_polar_factors(in[0], false, &out[0], &out[1]);
}
BODY(left_factor) {
    lam_polar_factors(in[0], true, NULL, &out[0]);
}

/* A turn times a stretch comes apart into these again, also where both stretches are equal. */
START_TEST(polar_factors) {
    lam_tensor *turn = MAT(2, 2, 0.6, -0.8, 0.8, 0.6), *stretch = MAT(2, 2, 3, 1, 1, 2), *u, *p;
    ck_assert_int_eq(lam_polar_factors(lam_matmul(turn, stretch), false, &u, &p), LAM_OK);
    EXPECT_SAME(u, turn, 1e-14);
    EXPECT_SAME(p, stretch, 1e-14);
    lam_polar_factors(lam_matmul(stretch, turn), true, &u, &p);
    EXPECT_SAME(u, turn, 1e-14);
    EXPECT_SAME(p, stretch, 1e-14);
    lam_tensor *wide = MAT(2, 3, 1, 2, 3, 4, 5, 7), *z = lam_complex(wide, lam_sin(wide));
    lam_polar_factors(wide, true, &u, &p);
    EXPECT_SAME(lam_matmul(p, u), wide, 1e-13);
    EXPECT_SAME(lam_add(lam_matmul(u, lam_matrix_transpose(u)), 1.0), lam_add(lam_eye(ctx, LAM_F64, 2, 2), 1.0), 1e-14);
    lam_polar_factors(z, false, &u, &p);
    ck_assert_double_le(lam_item(lam_norm(lam_sub(lam_matmul(u, p), z), NULL)), 1e-13);
    EXPECT_OK();
    lam_tensor *x = MAT(2, 2, 3, 1, 0.5, 2), *both = lam_stack(LAM_LIST(x, lam_exp(x)), 0), *o[2];
    lam_fn *right = FN(right_factors, 1, 2), *left = FN(left_factor, 1, 1);
    ck_assert_int_eq(lam_check_grads(right, LAM_LIST(x), &(lam_check_grads_options){.order = 2}), LAM_OK);
    ck_assert_int_eq(lam_check_grads(left, LAM_LIST(x), NULL), LAM_OK);
    ck_assert_int_eq(lam_check_grads(right, LAM_LIST(lam_mul(2.0, turn)), NULL), LAM_OK);
    lam_call(lam_vmap(right, NULL), LAM_LIST(both), o, 2);
    lam_polar_factors(both, false, &u, &p);
    EXPECT_SAME(o[0], u, 1e-14);
    EXPECT_SAME(o[1], p, 1e-14);
    lam_polar_factors(VEC(1, 2), false, &u, &p);
    EXPECT_STATUS(LAM_ERR_RANK);
    ck_assert(lam_failed(u) && lam_failed(p));
}
END_TEST

BODY(eigenvalues) {
    lam_eigh_tridiagonal(in[0], in[1], &out[0], NULL);
}

/* Of the second difference they are 2 - 2 cos(pi k / (n + 1)). */
START_TEST(tridiagonal_eigenvalues) {
    lam_tensor *w, *v, *d = VEC(2, 2, 2), *e = VEC(-1, -1), *far = VEC(3, 1, -2, 0.5), *near = VEC(0.3, 0.7, 1.1);
    ck_assert_int_eq(lam_eigh_tridiagonal(d, e, &w, &v), LAM_OK);
    EXPECT_NEAR(w, 1e-14, LAM_DIMS(3), 2 - sqrt(2), 2, 2 + sqrt(2));
    lam_tensor *x = lam_matmul(v, lam_mul(lam_expand_dims(w, 1), lam_matrix_transpose(v)));
    EXPECT_NEAR(lam_add(x, 3.0), 1e-14, DIMS33, 5, 2, 3, 2, 5, 2, 3, 2, 5);
    lam_eigh_tridiagonal(VEC(7), lam_zeros(ctx, LAM_F64, LAM_DIMS(0)), &w, NULL);
    EXPECT(w, LAM_DIMS(1), 7);
    EXPECT_OK();
    lam_fn *f = FN(eigenvalues, 2, 1);
    ck_assert_int_eq(lam_check_grads(f, LAM_LIST(far, near), &(lam_check_grads_options){.order = 2}), LAM_OK);
    lam_fn *each = lam_vmap(f, &(lam_vmap_options){.in_axes = LAM_AXES(0, LAM_UNMAPPED)});
    lam_tensor *fars = lam_stack(LAM_LIST(far, lam_cos(far)), 0), *second = apply2(f, lam_cos(far), near);
    EXPECT_SAME(apply2(each, fars, near), lam_stack(LAM_LIST(apply2(f, far, near), second), 0), 1e-13);
    lam_eigh_tridiagonal(d, d, &w, &v);
    EXPECT_ERROR(LAM_ERR_SHAPE, "eigh_tridiagonal");
    lam_eigh_tridiagonal(lam_eye(ctx, LAM_F64, 2, 2), e, &w, &v);
    EXPECT_ERROR(LAM_ERR_RANK, "eigh_tridiagonal");
    lam_eigh_tridiagonal(lam_cast(d, LAM_C128), e, &w, &v);
    EXPECT_ERROR(LAM_ERR_DTYPE, "eigh_tridiagonal");
}
END_TEST

START_TEST(wrong_matrices) {
    lam_tensor *x = MAT(2, 2, 1, 2, 3, 4), *v = VEC(1, 2, 3), *none = lam_zeros(ctx, LAM_F64, LAM_DIMS(0));
    lam_circulant(x);
    EXPECT_ERROR(LAM_ERR_RANK, "circulant");
    lam_hankel(v, none);
    EXPECT_ERROR(LAM_ERR_SHAPE, "hankel");
    lam_hankel(v, num(1));
    EXPECT_ERROR(LAM_ERR_RANK, "hankel");
    lam_companion(VEC(1));
    EXPECT_ERROR(LAM_ERR_SHAPE, "companion");
    lam_leslie(v, v);
    EXPECT_ERROR(LAM_ERR_SHAPE, "leslie");
    lam_fiedler(lam_cast(v, LAM_C128));
    EXPECT_ERROR(LAM_ERR_DTYPE, "fiedler");
    lam_convolution_matrix(v, 0, LAM_CONVOLVE_FULL);
    EXPECT_ERROR(LAM_ERR_VALUE, "convolution_matrix");
    lam_convolution_matrix(v, INT64_MAX, LAM_CONVOLVE_FULL);
    EXPECT_ERROR(LAM_ERR_VALUE, "convolution_matrix");
    lam_convolution_matrix(none, 2, LAM_CONVOLVE_FULL);
    EXPECT_ERROR(LAM_ERR_SHAPE, "convolution_matrix");
    lam_convolution_matrix(v, 2, (lam_convolve_mode)5);
    EXPECT_ERROR(LAM_ERR_OPTION, "convolution_matrix");
}
END_TEST

Suite *suite_primitives_structured(void) {
    return SUITE_OF("primitives/structured", matrices_of_vectors, matrices_of_a_size, matrices_that_there_are_not,
                    polar_factors, tridiagonal_eigenvalues, wrong_matrices);
}
