/* Equations of two matrices, a x + x b = c: what is left of them, Lyapunov's equation, stacks, dtypes, slopes. */
#include "tests/support.h"

/* Elements without a pattern. */
static lam_tensor *mixed(int64_t m, int64_t n, double phase) {
    lam_tensor *i = lam_iota(ctx, LAM_F64, LAM_DIMS(m, n), 0), *j = lam_iota(ctx, LAM_F64, LAM_DIMS(m, n), 1);
    return lam_sin(lam_add(lam_mul(2.3, i), lam_mul(lam_add(lam_square(i), phase), lam_add(j, 0.5))));
}

static lam_tensor *one(int64_t n) {
    return lam_eye(ctx, LAM_F64, n, n);
}

static double size_of(lam_tensor *x) {
    return sqrt(lam_item(lam_cast(lam_sum(lam_square(lam_abs(x)), NULL), LAM_F64)));
}

/* What is left of the equation is some roundings of (|a| + |b|) |x| however ill conditioned it is: Higham, Accuracy and
 * Stability of Numerical Algorithms, 16.1. */
static void expect_solved(lam_tensor *a, lam_tensor *b, lam_tensor *c, double rounding) {
    lam_tensor *x = lam_solve_sylvester(a, b, c);
    lam_tensor *left = lam_sub(lam_add(lam_matmul(a, x), lam_matmul(x, b)), c);
    ck_assert_double_le(size_of(left), 8 * rounding * (size_of(a) + size_of(b)) * size_of(x));
}

START_TEST(solutions_solve) {
    for (int k = 0; k < 4; k++) {
        lam_tensor *a = mixed(40, 40, 1), *b = lam_add(mixed(30, 30, 2), lam_mul(20.0, one(30))), *c = mixed(40, 30, 5);
        if (k % 2) a = lam_complex(a, mixed(40, 40, 3)), b = lam_complex(b, mixed(30, 30, 4));
        if (k < 2) expect_solved(a, b, c, 0x1p-53);
        else
            expect_solved(lam_cast(a, k % 2 ? LAM_C64 : LAM_F32), lam_cast(b, k % 2 ? LAM_C64 : LAM_F32),
                          lam_cast(c, k % 2 ? LAM_C64 : LAM_F32), 0x1p-24);
    }
    ck_assert_int_eq(lam_dtype_of(lam_solve_sylvester(lam_cast(one(2), LAM_F32), lam_complex(one(2), one(2)), one(2))),
                     LAM_C128);
    EXPECT_OK();
}
END_TEST

/* scipy.linalg.solve_sylvester's example, and a x + x a^T = -1, whose solution is symmetric and positive definite for a
 * stable a. The symmetric part of a is at most 5 - 12 here, so that rounding of a moves x by 17 / 7 of it: x is judged
 * in its norm. */
START_TEST(known_solutions) {
    lam_tensor *x = lam_solve_sylvester(MAT(3, 3, -3, -2, 0, -1, -1, 3, 3, -5, -1), MAT(1, 1, 1), MAT(3, 1, 1, 2, 3));
    EXPECT_NEAR(x, 1e-14, LAM_DIMS(3, 1), 0.0625, -0.5625, 0.6875);
    lam_tensor *a = lam_sub(mixed(5, 5, 1), lam_mul(12.0, one(5)));
    x = lam_solve_sylvester(a, lam_matrix_transpose(a), lam_neg(one(5)));
    ck_assert_double_le(size_of(lam_sub(x, lam_matrix_transpose(x))), 1e-14 * size_of(x));
    ck_assert(!lam_failed(lam_cholesky(x)));
    EXPECT_OK();
}
END_TEST

START_TEST(stacks_and_nothing) {
    lam_tensor *a = lam_add(mixed(5, 5, 1), lam_mul(12.0, one(5))), *both = lam_stack(LAM_LIST(a, lam_mul(2.0, a)), 0);
    lam_tensor *stack = lam_solve_sylvester(both, one(5), lam_stack(LAM_LIST(one(5)), 0));
    ck_assert_int_eq(lam_rank(stack), 3);
    EXPECT_SAME(lam_index(stack, 0, 1), lam_solve_sylvester(lam_mul(2.0, a), one(5), one(5)), 0);
    EXPECT_EMPTY(
        lam_solve_sylvester(lam_zeros(ctx, LAM_F64, LAM_DIMS(0, 0)), one(5), lam_zeros(ctx, LAM_F64, LAM_DIMS(0, 5))),
        LAM_DIMS(0, 5));
    EXPECT_OK();
}
END_TEST

BODY(weighed) {
    lam_tensor *x = lam_solve_sylvester(lam_complex(in[0], in[1]), in[2], in[3]);
    out[0] = lam_sum(lam_add(lam_square(lam_real(x)), lam_mul(0.7, lam_imag(x))), NULL);
}

START_TEST(slopes_by_all_three) {
    lam_tensor *a = lam_add(mixed(3, 3, 1), lam_mul(4.0, one(3))), *b = lam_add(mixed(2, 2, 2), lam_mul(3.0, one(2)));
    lam_list at = LAM_LIST(a, mixed(3, 3, 2), b, mixed(3, 2, 3));
    ck_assert(lam_check_grads(FN(weighed, 4, 1), at, &(lam_check_grads_options){.order = 2}) == LAM_OK);
    EXPECT_OK();
}
END_TEST

START_TEST(bad_input) {
    lam_solve_sylvester(one(2), lam_neg(one(3)), mixed(2, 3, 1));
    EXPECT_ERROR(LAM_ERR_NUMERIC, "solve_sylvester", "eigenvalue");
    lam_solve_sylvester(one(2), one(3), mixed(3, 2, 1));
    EXPECT_ERROR(LAM_ERR_SHAPE, "solve_sylvester");
    lam_solve_sylvester(one(2), mixed(2, 3, 1), mixed(2, 3, 1));
    EXPECT_ERROR(LAM_ERR_SHAPE, "solve_sylvester");
    lam_solve_sylvester(one(2), one(3), VEC(1, 2));
    EXPECT_ERROR(LAM_ERR_RANK, "solve_sylvester");
    /* an infinity or a NaN gives NaN, as everywhere */
    lam_tensor *x = lam_solve_sylvester(MAT(2, 2, 1, NAN, 0, 1), MAT(1, 1, 1), MAT(2, 1, 1, 2));
    EXPECT_NUM(lam_all(lam_is_nan(x), NULL), 1);
    EXPECT_OK();
}
END_TEST

Suite *suite_primitives_sylvester(void) {
    return SUITE_OF("primitives/sylvester", solutions_solve, known_solutions, stacks_and_nothing, slopes_by_all_three,
                    bad_input);
}
