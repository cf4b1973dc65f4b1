/* Schur forms: what they are made of, forms that are known, derivatives where vectors keep their phases. That products
 * of the factors are right is the case table's. */
#include "tests/support.h"

static double largest(lam_tensor *x) {
    return lam_item(lam_max_reduce(lam_abs(x), NULL));
}

static lam_tensor *adjoint(lam_tensor *x) {
    return lam_conj(lam_matrix_transpose(x));
}

/* Eigenvalues 1, 2 +- i and 4, in a basis that is not orthogonal. */
static lam_tensor *turning(void) {
    lam_tensor *d = MAT(4, 4, 1, 0, 0, 0, 0, 2, -1, 0, 0, 1, 2, 0, 0, 0, 0, 4);
    lam_tensor *p = MAT(4, 4, 1, 0.5, -0.3, 0.2, -0.4, 1.2, 0.1, 0.6, 0.3, -0.2, 0.9, 0.4, 0.7, 0.1, -0.5, 1.1);
    return lam_matmul(p, lam_matmul(d, lam_inv(p)));
}

START_TEST(factors_are_what_they_should_be) {
    lam_tensor *x = turning(), *t, *z, *one = lam_eye(ctx, LAM_F64, 4, 4);
    for (int complex = 0; complex < 2; complex++) {
        lam_schur(x, &t, &z, &(lam_schur_options){.complex_form = complex});
        ck_assert_int_eq(lam_dtype_of(t), complex ? LAM_C128 : LAM_F64);
        ck_assert_double_le(largest(lam_sub(lam_matmul(z, lam_matmul(t, adjoint(z))), x)), 1e-13);
        ck_assert_double_le(largest(lam_sub(lam_matmul(z, adjoint(z)), one)), 1e-13);
        ck_assert_double_eq(largest(lam_tril(t, complex ? -1 : -2)), 0);
        if (!complex) ck_assert_double_gt(largest(lam_tril(t, -1)), 0.1); /* the pair is a block */
    }
    lam_tensor *w = lam_diagonal(t, 0, 0, 1), *sum = lam_sum(lam_mul(w, lam_mul(w, w)), NULL);
    EXPECT_NEAR(lam_real(sum), 1e-13, LAM_DIMS0, 1 + 64 + 2 * 2); /* (2 + i)^3 = 2 + 11 i */
    lam_tensor *triangle = MAT(3, 3, 3, 1, 2, 0, 2, 5, 0, 0, 1);
    lam_schur(triangle, &t, &z, NULL);
    EXPECT_SAME(t, triangle, 0);
    EXPECT_SAME(z, lam_eye(ctx, LAM_F64, 3, 3), 0);
    lam_schur(MAT(2, 2, 1, NAN, 0, 1), &t, NULL, NULL);
    EXPECT_NUM(lam_all(lam_is_nan(t), NULL), 1);
    EXPECT_OK();
}
END_TEST

/* With vectors turned so that their first elements are real and positive, which fixes phases; each element of both
 * factors, real and imaginary, with a weight of its own. */
static lam_tensor *weighed(lam_tensor *x) {
    const int64_t n = lam_dim(x, -1);
    lam_tensor *i = lam_iota(ctx, LAM_F64, LAM_DIMS(n, n), 0), *j = lam_iota(ctx, LAM_F64, LAM_DIMS(n, n), 1);
    lam_tensor *c = lam_cos(lam_add(lam_mul(1.7, i), lam_square(j))), *s = lam_sin(lam_add(i, lam_mul(2.1, j)));
    return lam_add(lam_sum(lam_mul(c, lam_real(x)), NULL), lam_sum(lam_mul(s, lam_imag(x)), NULL));
}

static lam_tensor *both(lam_tensor *x, bool complex) {
    lam_tensor *t, *z;
    lam_schur(x, &t, &z, &(lam_schur_options){.complex_form = complex});
    lam_tensor *first = lam_slice_axis(z, 0, 0, 1), *turn = lam_conj(lam_div(first, lam_abs(first)));
    z = lam_mul(z, turn);
    t = lam_mul(lam_mul(adjoint(turn), t), turn);
    return lam_add(weighed(t), lam_mul(0.7, weighed(z)));
}

BODY(of_real) {
    out[0] = both(in[0], false);
}
BODY(of_real_as_complex) {
    out[0] = both(in[0], true);
}
BODY(of_complex) {
    out[0] = both(lam_complex(in[0], in[1]), true);
}

START_TEST(derivatives_hold_phases) {
    lam_tensor *apart = MAT(3, 3, 5, 1, -0.5, 0.3, 2, 0.8, 0.4, -0.6, -1), *x = turning();
    lam_check_grads_options second = {.order = 2};
    ck_assert(lam_check_grads(FN(of_real, 1, 1), LAM_LIST(apart), &second) == LAM_OK);
    ck_assert(lam_check_grads(FN(of_real_as_complex, 1, 1), LAM_LIST(apart), &second) == LAM_OK);
    ck_assert(lam_check_grads(FN(of_real_as_complex, 1, 1), LAM_LIST(x), &second) == LAM_OK);
    ck_assert(lam_check_grads(FN(of_complex, 2, 1), LAM_LIST(x, lam_sin(x)), &second) == LAM_OK);
    lam_tensor *stack = lam_stack(LAM_LIST(apart, lam_matrix_transpose(apart)), 0);
    lam_fn *slope = lam_grad(FN(of_real_as_complex, 1, 1), NULL);
    lam_tensor *each = lam_stack(LAM_LIST(apply1(slope, apart), apply1(slope, lam_matrix_transpose(apart))), 0);
    EXPECT_SAME(apply1(lam_vmap(slope, NULL), stack), each, 1e-12);
    EXPECT_OK();
}
END_TEST

/* The real form with a block has no such derivative, and says so. */
START_TEST(blocks_have_no_derivative) {
    EXPECT_NUM(lam_all(lam_is_nan(apply1(lam_grad(FN(of_real, 1, 1), NULL), turning())), NULL), 1);
    lam_tensor *value, *change;
    lam_jvp(FN(of_real, 1, 1), LAM_LIST(turning()), LAM_LIST(lam_eye(ctx, LAM_F64, 4, 4)), &value, &change, 1, NULL);
    EXPECT_NUM(lam_is_nan(change), 1);
}
END_TEST

/* Triangular coefficients with elements as large as the gaps: x t - t x is p again beside the diagonal. */
START_TEST(triangles_are_solved_exactly) {
    lam_tensor *t = MAT(4, 4, 1, 3, -2, 4, 0, 2, 5, -3, 0, 0, 3.5, 2, 0, 0, 0, -1), *p = lam_sin(turning());
    for (int turned = 0; turned < 2; turned++) {
        lam_tensor *w = turned ? lam_matrix_transpose(t) : t, *x = lam_gap_solve(w, p, -1);
        lam_tensor *left = lam_sub(lam_sub(lam_matmul(x, w), lam_matmul(w, x)), p);
        lam_tensor *beside = lam_sub(1.0, lam_eye(ctx, LAM_F64, 4, 4));
        ck_assert_double_le(largest(lam_mul(left, beside)), 1e-12 * (1 + largest(x)));
        ck_assert_double_eq(largest(lam_diagonal(x, 0, 0, 1)), 0);
        lam_tensor *y = lam_gap_solve(w, p, 0);
        ck_assert_double_le(largest(lam_sub(lam_matmul(y, w), p)), 1e-13 * (1 + largest(y)));
    }
    EXPECT_OK();
}
END_TEST

Suite *suite_primitives_schur(void) {
    return SUITE_OF("primitives/schur", factors_are_what_they_should_be, derivatives_hold_phases,
                    blocks_have_no_derivative, triangles_are_solved_exactly);
}
