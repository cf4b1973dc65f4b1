/* Determinants, made of the LU factors: the product of u's diagonal and the sign of the row exchanges. Up to three
 * rows the determinant is written out, so that it has its derivatives at singular matrices too. */
#include "lib/primitives/axes.h"
#include "lib/primitives/matrices.h"

#include "lib/tensor/value.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

static lam_tensor *sum_last(lam_tensor *x) {
    return lam_sum(x, &(lam_reduce_options){.axes = LAM_AXES(-1)});
}

/* 1 or -1 by whether `count` is even, in dtype. */
static lam_tensor *parity(lam_tensor *count, lam_dtype dtype) {
    return lam_cast(lam_sub(1, lam_mul(2, lam_rem(count, 2))), dtype);
}

/* How many rows were exchanged with another. */
static lam_tensor *exchanges(lam_tensor *pivots) {
    return sum_last(lam_ne(pivots, lam_arange(lam_ctx_of(pivots), LAM_I32, 0, (double)lam_dim(pivots, -1), 1)));
}

static lam_tensor *at(lam_tensor *x, int row, int column) {
    return lam_index(lam_index(x, -1, column), -1, row);
}

/* The minor of a 3 x 3 matrix without row 0 and column c, signed by going around. */
static lam_tensor *minor(lam_tensor *x, int c) {
    int a = (c + 1) % 3, b = (c + 2) % 3;
    return lam_sub(lam_mul(at(x, 1, a), at(x, 2, b)), lam_mul(at(x, 1, b), at(x, 2, a)));
}

static lam_tensor *written_out(lam_tensor *x, int64_t n) {
    if (n == 0) return lam_prod(lam_diagonal(x, 0, -2, -1), &(lam_reduce_options){.axes = LAM_AXES(-1)});
    if (n == 1) return at(x, 0, 0);
    if (n == 2) return lam_sub(lam_mul(at(x, 0, 0), at(x, 1, 1)), lam_mul(at(x, 0, 1), at(x, 1, 0)));
    lam_tensor *sum = lam_mul(at(x, 0, 0), minor(x, 0));
    return lam_add(lam_add(sum, lam_mul(at(x, 0, 1), minor(x, 1))), lam_mul(at(x, 0, 2), minor(x, 2)));
}

/* The factors of x, its u's diagonal, and its exchanges; false: *failed is what the operation returns. */
static bool factors(const char *operation, lam_tensor **x, lam_tensor **diagonal, lam_tensor **swaps,
                    lam_tensor **failed) {
    lam_tensor *f, *pivots, *permutation;
    if (!lam__matrices_operands(operation, true, 1, x, x, failed)) return false;
    *failed = lam__axes_failed(*x);
    if (!lam__matrices_square(operation, *x)) return false;
    if (lam_lu(*x, &f, &pivots, &permutation) != LAM_OK) return false;
    *diagonal = lam_diagonal(f, 0, -2, -1);
    *swaps = exchanges(pivots);
    return true;
}

lam_tensor *lam_det(lam_tensor *x) {
    lam_tensor *diagonal, *swaps, *failed;
    if (!lam__matrices_operands("det", true, 1, &x, &x, &failed)) return failed;
    if (!lam__matrices_square("det", x)) return lam__axes_failed(x);
    if (lam_dim(x, -1) <= 3) return written_out(x, lam_dim(x, -1));
    if (!factors("det", &x, &diagonal, &swaps, &failed)) return failed;
    return lam_mul(lam_prod(diagonal, &(lam_reduce_options){.axes = LAM_AXES(-1)}), parity(swaps, lam_dtype_of(x)));
}

lam_status lam_slogdet(lam_tensor *x, lam_tensor **sign, lam_tensor **log) {
    lam_tensor *diagonal, *swaps, *failed;
    if (!factors("slogdet", &x, &diagonal, &swaps, &failed)) {
        *sign = *log = failed;
        return lam_status_of(lam_ctx_of(failed));
    }
    lam_tensor *negative = sum_last(lam_lt(diagonal, 0.0)), *zeros = sum_last(lam_eq(diagonal, 0.0));
    *sign = lam_where(lam_gt(zeros, 0), 0.0, parity(lam_add(swaps, negative), lam_dtype_of(x)));
    *log = sum_last(lam_log(lam_abs(diagonal)));
    return lam_failed(*log) ? lam_status_of(lam_ctx_of(x)) : LAM_OK;
}
