/* Eigenvalues that repeat, of general matrices: with a full set of eigenvectors what treats equal ones alike has its
 * derivative, without one the derivative is infinite, and comes out so. Oracles are the same functions without
 * eigenvalues: sums of powers are traces of powers, whose derivative is n x^(n-1), turned. */
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

Suite *suite_primitives_repeated(void) {
    return SUITE_OF("repeated", sums_over_eigenvalues_that_repeat, missing_eigenvectors_have_infinite_derivatives);
}
