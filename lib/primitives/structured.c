/* Matrices that vectors or a size make, and factors made of lam_svd and lam_eigh. Elements are gathered by constant
 * indices, so derivatives and batches are those of lam_take. */
#include "lib/primitives/axes.h"
#include "lib/primitives/cplx.h"
#include "lib/primitives/matrices.h"
#include "lib/tensor/dtype.h"

#include <lamina/ops.h>
#include <lamina/structured.h>
#include <lamina/tensor.h>

/* n operands of one dtype (a floating one where `real`), all vectors. False: *failed is the result. Stacks of them are
 * for vmap, as the message says. */
static bool vectors(const char *operation, bool real, size_t n, lam_tensor *x[], lam_tensor **failed) {
    if (!lam__matrices_operands(operation, real, n, x, x, failed)) return false;
    for (size_t i = 0; i < n; i++)
        if (lam_rank(x[i]) != 1) {
            *failed =
                lam__matrices_fail(operation, n, x, LAM_ERR_RANK, "map over stacks of them", "vectors are needed");
            return false;
        }
    return true;
}

/* Whether x is complex where an order or a real eigenvalue is asked for; recorded then. */
static bool is_complex(const char *operation, lam_tensor *x, lam_tensor **failed) {
    if (!lam__dtype_is_complex((int)lam_dtype_of(x))) return false;
    *failed = lam__axes_fail_with(operation, x, LAM_ERR_DTYPE, "work on lam_real, lam_imag or lam_abs of it",
                                  "not defined for complex numbers");
    return true;
}

/* Row or column numbers of a matrix. i64, since they become indices: floats would have to be rounded. */
static lam_tensor *numbers(lam_ctx *ctx, int64_t rows, int64_t columns, int axis) {
    return lam_iota(ctx, LAM_I64, LAM_DIMS(rows, columns), axis);
}

/* ---- matrices of vectors ----------------------------------------------------------------------------------------- */

/* c[(i - j) mod n]. The remainder has the divisor's sign, so differences below 0 come round the end. */
lam_tensor *lam_circulant(lam_tensor *c) {
    uint64_t since = lam__scope_now(c);
    lam_tensor *failed;
    if (!vectors("circulant", false, 1, &c, &failed)) return failed;
    const int64_t n = lam_size(c);
    if (n == 0) return lam__scope_only(lam_reshape(c, LAM_DIMS(0, 0)), since);
    lam_tensor *i = numbers(lam_ctx_of(c), n, n, 0), *j = numbers(lam_ctx_of(c), n, n, 1);
    return lam__scope_only(lam_take(c, lam_mod(lam_sub(i, j), n), 0), since);
}

/* Element i + j of the column and, behind its last one, the row, whose first is not used. Without a row it is zeros, as
 * in SciPy. */
lam_tensor *lam_hankel(lam_tensor *c, lam_tensor *r) {
    uint64_t since = lam__scope_now(c);
    lam_tensor *in[2] = {c, r}, *failed;
    if (!vectors("hankel", false, r ? 2 : 1, in, &failed)) return failed;
    if (!r) in[1] = lam_zeros_like(in[0]);
    const int64_t m = lam_size(in[0]), n = lam_size(in[1]);
    if (m == 0 || n == 0)
        return lam__matrices_fail("hankel", r ? 2 : 1, in, LAM_ERR_SHAPE, NULL, "column and row are not empty");
    lam_tensor *all = lam_concatenate(LAM_LIST(in[0], lam_slice_axis(in[1], 0, 1, n)), 0);
    lam_tensor *i = numbers(lam_ctx_of(c), m, n, 0), *j = numbers(lam_ctx_of(c), m, n, 1);
    return lam__scope_only(lam_take(all, lam_add(i, j), 0), since);
}

/* Its eigenvalues are the roots of a[0] x^n + ... + a[n]: the quotients with minus in the first row, ones below the
 * diagonal. The subdiagonal has n - 1 rows, none for degree 1. */
lam_tensor *lam_companion(lam_tensor *a) {
    uint64_t since = lam__scope_now(a);
    lam_tensor *failed;
    if (!vectors("companion", true, 1, &a, &failed)) return failed;
    const int64_t n = lam_size(a) - 1;
    if (n < 1) return lam__axes_fail("companion", a, LAM_ERR_SHAPE, "a polynomial of degree 1 at least is needed");
    lam_tensor *top = lam_neg(lam_div(lam_slice_axis(a, 0, 1, n + 1), lam_slice_axis(a, 0, 0, 1)));
    lam_tensor *below = lam_eye(lam_ctx_of(a), lam_dtype_of(a), n - 1, n);
    return lam__scope_only(lam_concatenate(LAM_LIST(lam_expand_dims(top, 0), below), 0), since);
}

/* Births in the first row, survivals below the diagonal. The last column has no survival, hence the zeros beside it. */
lam_tensor *lam_leslie(lam_tensor *f, lam_tensor *s) {
    uint64_t since = lam__scope_now(f);
    lam_tensor *in[2] = {f, s}, *failed;
    if (!vectors("leslie", false, 2, in, &failed)) return failed;
    if (lam_size(in[0]) == 0 || lam_size(in[1]) != lam_size(in[0]) - 1)
        return lam__matrices_fail("leslie", 2, in, LAM_ERR_SHAPE, "give one survival less than births",
                                  "the sizes do not fit");
    lam_tensor *below = lam_pad(lam_diag(in[1], 0), LAM_DIMS(0, 0), LAM_DIMS(0, 1), NULL);
    return lam__scope_only(lam_concatenate(LAM_LIST(lam_expand_dims(in[0], 0), below), 0), since);
}

/* |a[i] - a[j]|. Of unsigned numbers the larger minus the smaller. */
lam_tensor *lam_fiedler(lam_tensor *a) {
    uint64_t since = lam__scope_now(a);
    lam_tensor *failed;
    if (!vectors("fiedler", false, 1, &a, &failed) || is_complex("fiedler", a, &failed)) return failed;
    lam_tensor *column = lam_expand_dims(a, 1);
    const bool wraps = !lam__dtype_is_inexact((int)lam_dtype_of(a)); /* the differences of u8 below 0 */
    lam_tensor *size = wraps ? lam_sub(lam_max(column, a), lam_min(column, a)) : lam_abs(lam_sub(column, a));
    return lam__scope_only(size, since);
}

/* Element i - j of a, from zeros put around it; then the rows that the mode keeps. Zeros make the bounds of an index
 * unnecessary: each i - j lies within them. */
lam_tensor *lam_convolution_matrix(lam_tensor *a, int64_t n, lam_convolve_mode mode) {
    uint64_t since = lam__scope_now(a);
    lam_tensor *failed;
    if (!vectors("convolution_matrix", false, 1, &a, &failed)) return failed;
    const int64_t m = lam_size(a), least = m < n ? m : n;
    if (m == 0) return lam__axes_fail("convolution_matrix", a, LAM_ERR_SHAPE, "there are no elements");
    if (n < 1 || n > INT64_MAX / 4)
        return lam__axes_fail("convolution_matrix", a, LAM_ERR_VALUE, "%lld columns are impossible", (long long)n);
    if ((int)mode < 0 || mode > LAM_CONVOLVE_VALID)
        return lam__axes_fail("convolution_matrix", a, LAM_ERR_OPTION, "there is no mode %d", (int)mode);
    /* As NumPy's modes: all places, those of the longer one about the middle, those where both overlap wholly. */
    int64_t first = 0, rows = m + n - 1;
    if (mode == LAM_CONVOLVE_SAME) first = (least - 1) / 2, rows -= least - 1;
    if (mode == LAM_CONVOLVE_VALID) first = least - 1, rows -= 2 * (least - 1);
    lam_tensor *all = lam_pad(a, LAM_DIMS(n - 1), LAM_DIMS(n - 1), NULL);
    lam_tensor *i = numbers(lam_ctx_of(a), rows, n, 0), *j = numbers(lam_ctx_of(a), rows, n, 1);
    return lam__scope_only(lam_take(all, lam_add(lam_sub(i, j), first + n - 1), 0), since);
}

/* ---- matrices of a size ------------------------------------------------------------------------------------------ */

/* The failed tensor where there is no context, the dtype is none of those wanted or there are less than `least` rows;
 * NULL otherwise. Without a context nothing can be recorded. */
static lam_tensor *refused(const char *operation, lam_ctx *ctx, lam_dtype dtype, bool wanted, int64_t n,
                           int64_t least) {
    if (ctx && wanted && n >= least) return NULL;
    if (!ctx || !wanted)
        return lam__error_fail(ctx, LAM_ERR_DTYPE, "%s: not to be had in %s", operation, lam_dtype_name(dtype));
    return lam__error_fail(ctx, LAM_ERR_VALUE, "%s: there is none of %lld rows", operation, (long long)n);
}

/* 1 / (i + j + 1). Divided in f64, then rounded once. */
lam_tensor *lam_hilbert(lam_ctx *ctx, lam_dtype dtype, int64_t n) {
    lam_tensor *failed = refused("hilbert", ctx, dtype, lam__dtype_is_inexact((int)dtype), n, 0);
    if (failed) return failed;
    uint64_t since = lam__scope_now_in(ctx);
    lam_tensor *i = numbers(ctx, n, n, 0);
    lam_tensor *sum = lam_add(lam_add(i, numbers(ctx, n, n, 1)), 1);
    return lam__scope_only(lam_cast(lam_reciprocal(lam_cast(sum, LAM_F64)), dtype), since);
}

/* i over j, or for the symmetric one i + j over i. */
lam_tensor *lam_pascal(lam_ctx *ctx, lam_dtype dtype, int64_t n, bool lower) {
    lam_tensor *failed = refused("pascal", ctx, dtype, lam__dtype_is_inexact((int)dtype), n, 0);
    if (failed) return failed;
    uint64_t since = lam__scope_now_in(ctx);
    lam_tensor *i = numbers(ctx, n, n, 0);
    lam_tensor *j = numbers(ctx, n, n, 1), *ways = lower ? lam_comb(i, j) : lam_comb(lam_add(i, j), i);
    return lam__scope_only(lam_cast(ways, dtype), since);
}

/* 1 or -1 as row and column differ by an even number or an odd one. */
static lam_tensor *turning(lam_tensor *i, lam_tensor *j) {
    return lam_where(lam_eq(lam_rem(lam_add(i, j), 2), 0), 1.0, -1.0);
}

/* (-1)^(i + j) (i + j + 1) times n + i over n - j - 1, n + j over n - i - 1, and i + j over i twice. All of them are
 * whole numbers. */
lam_tensor *lam_invhilbert(lam_ctx *ctx, lam_dtype dtype, int64_t n) {
    lam_tensor *failed = refused("invhilbert", ctx, dtype, lam__dtype_is_inexact((int)dtype), n, 0);
    if (failed) return failed;
    uint64_t since = lam__scope_now_in(ctx);
    lam_tensor *i = numbers(ctx, n, n, 0), *j = numbers(ctx, n, n, 1);
    lam_tensor *ways = lam_mul(lam_comb(lam_add(i, n), lam_sub(n - 1, j)), lam_comb(lam_add(j, n), lam_sub(n - 1, i)));
    lam_tensor *factor = lam_mul(lam_square(lam_comb(lam_add(i, j), i)), lam_cast(lam_add(lam_add(i, j), 1), LAM_F64));
    return lam__scope_only(lam_cast(lam_mul(turning(i, j), lam_mul(ways, factor)), dtype), since);
}

/* The lower one has the signs of a chessboard; the symmetric one is the product of two such, in the other order. */
lam_tensor *lam_invpascal(lam_ctx *ctx, lam_dtype dtype, int64_t n, bool lower) {
    lam_tensor *failed = refused("invpascal", ctx, dtype, lam__dtype_is_inexact((int)dtype), n, 0);
    if (failed) return failed;
    uint64_t since = lam__scope_now_in(ctx);
    lam_tensor *i = numbers(ctx, n, n, 0), *j = numbers(ctx, n, n, 1), *ways = lam_comb(i, j);
    if (!lower) ways = lam_matmul(lam_matrix_transpose(ways), ways);
    return lam__scope_only(lam_cast(lam_mul(turning(i, j), ways), dtype), since);
}

/* Row i has i ones and then -i, over the root of i (i + 1); row 0 is 1/sqrt(n). The sum of squares of a row is what
 * stands under its root. */
lam_tensor *lam_helmert(lam_ctx *ctx, lam_dtype dtype, int64_t n, bool full) {
    lam_tensor *failed = refused("helmert", ctx, dtype, lam__dtype_is_inexact((int)dtype), n, 1);
    if (failed) return failed;
    uint64_t since = lam__scope_now_in(ctx);
    lam_tensor *i = numbers(ctx, n, n, 0), *j = numbers(ctx, n, n, 1), *row = lam_cast(i, LAM_F64);
    lam_tensor *before = lam_where(lam_lt(j, i), 1.0, 0.0), *x = lam_where(lam_eq(i, j), lam_neg(row), before);
    lam_tensor *first = lam_eq(i, 0), *square = lam_where(first, (double)n, lam_mul(row, lam_add(row, 1.0)));
    x = lam_div(lam_where(first, 1.0, x), lam_sqrt(square));
    return lam__scope_only(lam_cast(full ? x : lam_slice_axis(x, 0, 1, n), dtype), since);
}

/* [[h, h], [h, -h]], from one element on. Sylvester's construction; parts of it go with the scope, since each is as
 * large as all before it. */
lam_tensor *lam_hadamard(lam_ctx *ctx, lam_dtype dtype, int64_t n) {
    if (ctx && (n < 1 || (n & (n - 1)) || n > INT64_C(1) << 20))
        return lam__error_fail(ctx, LAM_ERR_VALUE, "hadamard: %lld is not a power of two from 1 to 2^20", (long long)n);
    uint64_t since = lam__scope_now_in(ctx);
    lam_tensor *h = lam_ones(ctx, dtype, LAM_DIMS(1, 1));
    for (int64_t size = 1; size < n && !lam_failed(h); size *= 2) {
        lam_tensor *above = lam_concatenate(LAM_LIST(h, h), 1), *below = lam_concatenate(LAM_LIST(h, lam_neg(h)), 1);
        h = lam__scope_only(lam_concatenate(LAM_LIST(above, below), 0), since);
    }
    return lam__scope_named(h, since);
}

/* The product of row and column is brought below n before it becomes an angle. So angles stay below one turn, however
 * large n is. */
lam_tensor *lam_dft(lam_ctx *ctx, lam_dtype dtype, int64_t n) {
    lam_tensor *failed = refused("dft", ctx, dtype, lam__dtype_is_complex((int)dtype), n, 0);
    if (failed) return failed;
    uint64_t since = lam__scope_now_in(ctx);
    lam_tensor *i = numbers(ctx, n, n, 0), *s, *c;
    lam_tensor *turns = lam_rem(lam_mul(i, numbers(ctx, n, n, 1)), n > 0 ? n : 1);
    lam_sincos(lam_mul(-2 * 3.14159265358979323846 / (double)(n > 0 ? n : 1), lam_cast(turns, LAM_F64)), &s, &c);
    return lam__scope_only(lam_cast(lam_complex(c, s), dtype), since);
}

/* ---- factors ----------------------------------------------------------------------------------------------------- */

/* As a whole matrix, which has the derivatives of lam_eigh and costs what that does. */
lam_status lam_eigh_tridiagonal(lam_tensor *d, lam_tensor *e, lam_tensor **values, lam_tensor **vectors_) {
    uint64_t since = lam__scope_now(d);
    lam_tensor *in[2] = {d, e}, *failed, *made[2], **const places[2] = {values, vectors_};
    bool good = vectors("eigh_tridiagonal", true, 2, in, &failed) && !is_complex("eigh_tridiagonal", in[0], &failed);
    if (good && (lam_size(in[0]) == 0 || lam_size(in[1]) != lam_size(in[0]) - 1)) {
        failed = lam__matrices_fail("eigh_tridiagonal", 2, in, LAM_ERR_SHAPE, "beside n numbers lie n - 1",
                                    "the sizes do not fit");
        good = false;
    }
    if (!good) return lam__matrices_give_failed(failed, 2, places);
    lam_tensor *sides = lam_add(lam_diag(in[1], 1), lam_diag(in[1], -1)), *x = lam_add(lam_diag(in[0], 0), sides);
    lam_status status = lam_eigh(x, &made[0], &made[1]);
    return lam__matrices_give(status, since, 2, made, places);
}
