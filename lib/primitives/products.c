/* Products made of the contractions: inner, Kronecker and cross products, powers and chains of matrices; and what is
 * solved with factors that are there already. No rows, no rules: derivatives are those of the parts. Operands of
 * different dtypes are brought to one first, so that messages name the operation that the user called. */
#include "lib/primitives/apply.h"
#include "lib/primitives/axes.h"
#include "lib/primitives/create.h"
#include "lib/primitives/matrices.h"
#include "lib/primitives/seen.h"

#include "lib/tensor/dtype.h"
#include "lib/tensor/value.h"

#include <lamina/context.h>
#include <lamina/ops.h>
#include <lamina/tensor.h>

/* Exchanges the last two axes only, where lam_transpose turns all of them round. A vector has no last two axes, so it
 * is refused. */
lam_tensor *lam_matrix_transpose(lam_tensor *x) {
    lam_tensor *failed;
    if (!lam__matrices_operands("matrix_transpose", false, 1, &x, &x, &failed)) return failed;
    if (lam_rank(x) < 2) return lam__axes_fail("matrix_transpose", x, LAM_ERR_RANK, "a matrix is needed");
    return lam__matrices_turn(x);
}

/* Sums over the last axis of both; with a scalar it is a plain product, as numpy.inner has it. */
lam_tensor *lam_inner(lam_tensor *x, lam_tensor *y) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *in[2] = {x, y}, *failed;
    if (!lam__matrices_operands("inner", false, 2, in, in, &failed)) return failed;
    if (lam_rank(in[0]) == 0 || lam_rank(in[1]) == 0) return lam__scope_only(lam_mul(in[0], in[1]), since);
    if (lam_dim(in[0], -1) != lam_dim(in[1], -1))
        return lam__matrices_fail("inner", 2, in, LAM_ERR_SHAPE, NULL, "the last axes differ in size");
    return lam__scope_only(lam_tensordot(in[0], in[1], LAM_AXES(-1), LAM_AXES(-1)), since);
}

/* Vectors as matrices of one column or row, so that leading axes broadcast as in lam_matmul. */
static lam_tensor *with_vectors(const char *operation, lam_tensor *x, lam_tensor *y, bool vector_first) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *in[2] = {x, y}, *failed;
    if (!lam__matrices_operands(operation, false, 2, in, in, &failed)) return failed;
    if (lam_rank(in[vector_first]) < 2 || lam_rank(in[!vector_first]) < 1)
        return lam__matrices_fail(operation, 2, in, LAM_ERR_RANK, NULL, "matrices and vectors are needed");
    if (lam_dim(in[0], -1) != lam_dim(in[1], vector_first ? -2 : -1))
        return lam__matrices_fail(operation, 2, in, LAM_ERR_SHAPE, NULL, "sizes that are summed over differ");
    /* The vector is conjugated, as numpy.vecmat has it, so that it is a product of rows by columns. */
    if (vector_first) in[0] = lam_expand_dims(lam_conj(in[0]), -2);
    else in[1] = lam_expand_dims(in[1], -1);
    lam_tensor *product = lam_matmul(in[0], in[1]);
    return lam__scope_only(lam_failed(product) ? product : lam_squeeze(product, LAM_AXES(vector_first ? -2 : -1)),
                           since);
}

/* The two names of one function, which tells by the place of the vector. */
lam_tensor *lam_matvec(lam_tensor *x, lam_tensor *y) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_named(with_vectors("matvec", x, y, false), since);
}

lam_tensor *lam_vecmat(lam_tensor *x, lam_tensor *y) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_named(with_vectors("vecmat", x, y, true), since);
}

/* Of all elements in their order, the first factor conjugated, as numpy.vdot. */
lam_tensor *lam_vdot(lam_tensor *x, lam_tensor *y) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *in[2] = {x, y}, *failed;
    if (!lam__matrices_operands("vdot", false, 2, in, in, &failed)) return failed;
    const int64_t n = lam_size(in[0]);
    if (n != lam_size(in[1]))
        return lam__matrices_fail("vdot", 2, in, LAM_ERR_SHAPE, NULL, "the numbers of elements differ");
    return lam__scope_only(lam_vecdot(lam__apply_reshape(in[0], 1, &n), lam__apply_reshape(in[1], 1, &n), 0), since);
}

/* x with leading axes of one element up to `rank`, and each axis followed (or preceded) by one of one element. The
 * broadcast product of two of these has each axis of x next to that of y, which a reshape makes one. */
static lam_tensor *interleaved(lam_tensor *x, int rank, bool after) {
    lam_dims own = lam_dims_of(x);
    int64_t dims[2 * LAM_MAX_RANK];
    for (int k = 0; k < rank; k++) {
        int axis = k - (rank - own.rank);
        dims[2 * k + after] = 1;
        dims[2 * k + !after] = axis < 0 ? 1 : own.dims[axis];
    }
    return lam__apply_reshape(x, 2 * rank, dims);
}

/* Ranks double on the way, so half of the possible axes may be used. Cost: one product of the size of the result. Of
 * two matrices that is the block matrix of x[i, k] y. */
lam_tensor *lam_kron(lam_tensor *x, lam_tensor *y) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *in[2] = {x, y}, *failed;
    if (!lam__matrices_operands("kron", false, 2, in, in, &failed)) return failed;
    int m = lam_rank(in[0]), n = lam_rank(in[1]), rank = m > n ? m : n;
    if (rank > LAM_MAX_RANK / 2)
        return lam__matrices_fail("kron", 2, in, LAM_ERR_RANK, NULL, "more than %d axes", LAM_MAX_RANK / 2);
    int64_t dims[LAM_MAX_RANK];
    for (int k = 0; k < rank; k++) {
        int a = k - (rank - m), b = k - (rank - n);
        dims[k] = (a < 0 ? 1 : lam_dim(in[0], a)) * (b < 0 ? 1 : lam_dim(in[1], b));
    }
    lam_tensor *product = lam_mul(interleaved(in[0], rank, true), interleaved(in[1], rank, false));
    return lam__scope_only(lam__apply_reshape(product, rank, dims), since);
}

/* Six products of slices that keep their axis, so that leading axes broadcast. The axis is looked for in each operand
 * by itself, and stands in the result where it does in x. */
lam_tensor *lam_cross(lam_tensor *x, lam_tensor *y, int axis) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *in[2] = {x, y}, *failed, *part[2][3];
    if (!lam__matrices_operands("cross", false, 2, in, in, &failed)) return failed;
    for (int side = 0; side < 2; side++) {
        int at = axis;
        if (!lam__apply_axis("cross", in[side], lam_rank(in[side]), &at)) return lam__axes_failed(in[0]);
        if (lam_dim(in[side], at) != 3)
            return lam__matrices_fail("cross", 2, in, LAM_ERR_SHAPE, NULL, "an axis of 3 elements is needed");
        for (int k = 0; k < 3; k++) part[side][k] = lam_slice_axis(in[side], at, k, k + 1);
    }
    lam_tensor *out[3];
    for (int k = 0; k < 3; k++) {
        int a = (k + 1) % 3, b = (k + 2) % 3;
        out[k] = lam_sub(lam_mul(part[0][a], part[1][b]), lam_mul(part[0][b], part[1][a]));
    }
    /* Counted from the end, where the results line up, which may have more axes in front. */
    int from_end = axis < 0 ? axis : axis - lam_rank(in[0]);
    return lam__scope_only(lam_concatenate((lam_list){3, out}, from_end), since);
}

/* All diagonals in one line, the lowest first: row i begins i places before its first element of r. Element [i, k] is
 * place k - i + m - 1 of that line. Taking by index makes the gradient a sum along diagonals. */
static lam_tensor *toeplitz(lam_tensor *c, lam_tensor *r) {
    const int64_t m = lam_dim(c, 0), n = lam_dim(r, 0), dims[2] = {m, n};
    lam_ctx *ctx = lam_ctx_of(c);
    lam_tensor *line = lam_concatenate(LAM_LIST(lam_reverse(c, LAM_AXES(0)), lam_slice_axis(r, 0, 1, LAM_END)), 0);
    lam_tensor *rows = lam_iota(ctx, LAM_I64, (lam_dims){2, dims}, 0);
    lam_tensor *columns = lam_iota(ctx, LAM_I64, (lam_dims){2, dims}, 1);
    return lam_take(line, lam_add(lam_sub(columns, rows), m - 1), 0);
}

/* Without a row the matrix is symmetric, of complex numbers Hermitian, as in SciPy. The first element of the row is not
 * used where both are given: c[0] is on the diagonal. */
lam_tensor *lam_toeplitz(lam_tensor *c, lam_tensor *r) {
    uint64_t since = lam__scope_now(c);
    lam_tensor *in[2] = {c, r}, *failed;
    const size_t n = r ? 2 : 1;
    if (!lam__matrices_operands("toeplitz", false, n, in, in, &failed)) return failed;
    if (!r) in[1] = lam__dtype_is_complex((int)lam_dtype_of(in[0])) ? lam_conj(in[0]) : in[0];
    if (lam_rank(in[0]) != 1 || lam_rank(in[1]) != 1)
        return lam__matrices_fail("toeplitz", n, in, LAM_ERR_RANK, NULL,
                                  "a column and a row, both vectors, are needed");
    if (lam_dim(in[0], 0) == 0 || lam_dim(in[1], 0) == 0)
        return lam__matrices_fail("toeplitz", n, in, LAM_ERR_SHAPE, NULL, "the first column and row are not empty");
    return lam__scope_only(toeplitz(in[0], in[1]), since);
}

/* Powers by a running product, whose derivative is exact at x = 0 and which costs one product for each element. Columns
 * are powers 0 to n - 1, or from the highest down as in NumPy unless `increasing`. */
lam_tensor *lam_vander(lam_tensor *x, int64_t n, bool increasing) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *failed;
    if (!lam__matrices_operands("vander", false, 1, &x, &x, &failed)) return failed;
    if (lam_rank(x) == 0) return lam__axes_fail("vander", x, LAM_ERR_RANK, "a vector is needed");
    if (n < 0) return lam__axes_fail("vander", x, LAM_ERR_VALUE, "%lld columns are impossible", (long long)n);
    lam_dims own = lam_dims_of(x);
    int64_t dims[LAM_INNER_RANK];
    for (int k = 0; k < own.rank; k++) dims[k] = own.dims[k];
    dims[own.rank] = n;
    lam_tensor *column = lam_expand_dims(x, -1), *ones = lam_ones(x->ctx, lam_dtype_of(x), LAM_DIMS(1));
    if (n == 0)
        return lam__scope_only(lam__apply_broadcast(lam_slice_axis(column, -1, 0, 0), own.rank + 1, dims), since);
    /* The power 0 of anything is 1, also of NaN, as in NumPy. */
    dims[own.rank] = 1;
    ones = lam__apply_broadcast(ones, own.rank + 1, dims);
    dims[own.rank] = n - 1;
    lam_tensor *powers = lam_cumprod(lam__apply_broadcast(column, own.rank + 1, dims), -1);
    lam_tensor *out = lam_concatenate(LAM_LIST(ones, powers), -1);
    return lam__scope_only(increasing ? out : lam_reverse(out, LAM_AXES(-1)), since);
}

/* ---- powers and chains ------------------------------------------------------------------------------------------- */

/* By squaring: 2 log2(n) products at most. A negative power is one of the inverse, of which as many digits are lost as
 * the matrix is ill conditioned. Products in between go with the scope, so no more than a few matrices are alive. The
 * power 0 is the identity, also of a singular matrix. */
lam_tensor *lam_matrix_power(lam_tensor *x, int64_t n) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *failed, *out = NULL;
    if (!lam__matrices_operands("matrix_power", n < 0, 1, &x, &x, &failed)) return failed;
    if (!lam__matrices_square("matrix_power", x)) return lam__axes_failed(x);
    lam_dims own = lam_dims_of(x);
    int64_t size = lam_dim(x, -1);
    if (n == 0)
        return lam__scope_only(
            lam__apply_broadcast(lam__create_eye(x->ctx, lam_dtype_of(x), 0, size, size), own.rank, own.dims), since);
    lam_scope *scope = lam_scope_begin(x->ctx);
    /* Unsigned, since the least i64 has no positive counterpart. */
    uint64_t left = n < 0 ? 0 - (uint64_t)n : (uint64_t)n;
    lam_tensor *square = n < 0 ? lam_inv(x) : x;
    for (;; square = lam_matmul(square, square)) {
        if (left & 1u) out = out ? lam_matmul(out, square) : square;
        if (!(left >>= 1)) break;
    }
    /* A power of 1 is x itself, and a result is never an operand. */
    if (out == x) out = lam_alias(x);
    lam_scope_end(scope, &out, 1);
    return lam__scope_only(out, since);
}

/* Factors of one chain: the table and the recursion are bounded by it. */
enum { CHAIN = 64 };

/* Where to part the factors first..last so that the fewest multiplications are needed: the textbook's table, filled by
 * the length of the chain. split[i][k] is the last factor of the left part. Costs are floating, so sizes may be as
 * large as they come. The method is dynamic programming over parts of the chain, n^3/6 steps (Cormen et al.,
 * Introduction to Algorithms, 15.2). */
static void plan(int n, const double size[], uint8_t split[CHAIN][CHAIN]) {
    double cost[CHAIN][CHAIN];
    for (int i = 0; i < n; i++) cost[i][i] = 0;
    for (int length = 2; length <= n; length++)
        for (int i = 0; i + length <= n; i++) {
            int k = i + length - 1;
            cost[i][k] = -1;
            for (int s = i; s < k; s++) {
                /* Ties go to the first place. */
                double c = cost[i][s] + cost[s + 1][k] + size[i] * size[s + 1] * size[k + 1];
                if (cost[i][k] >= 0 && c >= cost[i][k]) continue;
                cost[i][k] = c;
                split[i][k] = (uint8_t)s;
            }
        }
}

/* The product of factors i..k; calls itself at most CHAIN deep. Views and products belong to the scope that
 * lam_multi_dot has opened. */
static lam_tensor *chain(lam_tensor *const x[], int i, int k, uint8_t split[CHAIN][CHAIN]) {
    if (i == k) return x[i];
    int s = split[i][k];
    return lam_matmul(chain(x, i, s, split), chain(x, s + 1, k, split));
}

/* A vector at either end is a matrix of one row or column for the plan, and its axis goes at the end. The order of
 * products is all that is chosen; each is a lam_matmul. Factors meet as they are: their dtypes are promoted by each
 * product. */
lam_tensor *lam_multi_dot(lam_list factors) {
    uint64_t since = lam__scope_now(factors.count && factors.items ? factors.items[0] : NULL);
    lam_tensor *x[CHAIN], *failed;
    lam_value *values[CHAIN];
    double size[CHAIN + 1];
    uint8_t split[CHAIN][CHAIN];
    const int n = (int)factors.count;
    if (!factors.count || !factors.items) return lam__axes_failed(NULL);
    if (factors.count < 2 || factors.count > CHAIN)
        return lam__axes_fail("multi_dot", factors.items[0], LAM_ERR_ARITY, "%zu factors: it takes 2 to %d",
                              factors.count, CHAIN);
    if (!lam__scope_operands("multi_dot", factors.count, factors.items, values, &failed)) return failed;
    bool row = values[0]->rank == 1, column = values[n - 1]->rank == 1;
    for (int i = 0; i < n; i++) {
        x[i] = factors.items[i];
        if (i == 0 && row) x[i] = lam_expand_dims(x[i], 0);
        else if (i == n - 1 && column) x[i] = lam_expand_dims(x[i], 1);
        if (lam_rank(x[i]) != 2) return lam__axes_fail("multi_dot", x[i], LAM_ERR_RANK, "factor %d is not a matrix", i);
        if (i && lam_dim(x[i], 0) != lam_dim(x[i - 1], 1))
            return lam__matrices_fail("multi_dot", 2, &x[i - 1], LAM_ERR_SHAPE, NULL,
                                      "factor %d does not have as many rows as the one before has columns", i);
        /* n matrices that fit have n + 1 sizes between them. */
        size[i] = (double)lam_dim(x[i], 0);
        size[i + 1] = (double)lam_dim(x[i], 1);
    }
    plan(n, size, split);
    lam_scope *scope = lam_scope_begin(x[0]->ctx); /* products in between go at once */
    lam_tensor *out = chain(x, 0, n - 1, split);
    if (column) out = lam_squeeze(out, LAM_AXES(1));
    if (row) out = lam_squeeze(out, LAM_AXES(0));
    lam_scope_end(scope, &out, 1);
    return lam__scope_only(out, since);
}

/* ---- with factors that are there --------------------------------------------------------------------------------- */

/* p a = l u, so a x = b is l u x = p b; transposed it is u^T l^T (p x) = b, whose permutation is undone last. Both
 * triangles lie in one matrix; the ones on the lower one's diagonal are not stored. */
lam_tensor *lam_lu_solve(lam_tensor *factors, lam_tensor *permutation, lam_tensor *b, bool transpose) {
    uint64_t since = lam__scope_now(factors);
    const lam_triangular_solve_options lower = {.unit_diagonal = true, .transpose = transpose},
                                       upper = {.upper = true, .transpose = transpose};
    lam_tensor *in[2] = {factors, b}, *failed;
    if (!lam__apply_given("lu_solve", 3, (lam_tensor *[]){factors, permutation, b}, &failed)) return failed;
    bool vector = lam__scope_peek(b) && lam_rank(b) == 1;
    if (!lam__matrices_right_sides("lu_solve", false, in, &failed)) return failed;
    if (!lam__matrices_lead("lu_solve", in)) return failed;
    lam_tensor *x = in[1];
    /* Rows of b in the order that the factors are in, or, of the transpose, the result put back. */
    if (!transpose) x = lam__matrices_permute(x, permutation, false);
    x = lam_triangular_solve(in[0], x, transpose ? &upper : &lower);
    x = lam_triangular_solve(in[0], x, transpose ? &lower : &upper);
    if (transpose) x = lam__matrices_permute(x, permutation, true);
    return lam__scope_only(vector ? lam_squeeze(x, LAM_AXES(-1)) : x, since);
}

/* ---- groups of rows ---------------------------------------------------------------------------------------------- */

/* Whether sizes are a vector of integers, one for each matrix of y, and x and y fit. */
static bool groups_fit(const char *name, lam_tensor *x, lam_tensor *y, lam_tensor *sizes) {
    if (lam_rank(x) != 2 || lam_rank(y) != 3)
        return lam__axes_fail(name, x, LAM_ERR_RANK, "a matrix and a stack of matrices are needed"), false;
    if (lam_dim(x, 1) != lam_dim(y, 1))
        return lam__axes_fail(name, x, LAM_ERR_SHAPE, "rows of %lld elements times matrices of %lld rows",
                              (long long)lam_dim(x, 1), (long long)lam_dim(y, 1)),
               false;
    /* A scalar or a matrix would say nothing of rows. */
    if (lam_rank(sizes) != 1 || lam_dim(sizes, 0) != lam_dim(y, 0))
        return lam__axes_fail(name, sizes, LAM_ERR_SHAPE, "%lld sizes are needed", (long long)lam_dim(y, 0)), false;
    if (lam__dtype_is_inexact((int)lam_dtype_of(sizes)) || lam_dtype_of(sizes) == LAM_BOOL)
        return lam__axes_fail(name, sizes, LAM_ERR_DTYPE, "sizes are integers"), false;
    return lam__seen_in_range(name, "sizes", sizes, 0, false, 0x1p63);
}

/* The sizes are elements, which vmap maps, so no operand can be cut by them: every row meets every matrix, and where
 * products are chosen from, what other rows hold has no part in them. */
lam_tensor *lam_ragged_dot(lam_tensor *x, lam_tensor *y, lam_tensor *sizes) {
    uint64_t since = lam__scope_now(x);
    const char *name = "ragged_dot";
    lam_tensor *in[3] = {x, y, sizes}, *failed;
    if (!lam__apply_given(name, 3, in, &failed)) return failed;
    if (!lam__matrices_operands(name, false, 2, in, in, &failed)) return failed;
    if (!groups_fit(name, in[0], in[1], sizes)) return lam__axes_failed(x);
    const int64_t rows = lam_dim(in[0], 0), groups = lam_dim(in[1], 0);
    lam_ctx *ctx = lam_ctx_of(x);
    /* Rows behind the last group belong to none and stay 0. */
    lam_tensor *out = lam_zeros(ctx, lam_dtype_of(in[0]), LAM_DIMS(rows, lam_dim(in[1], 2)));
    lam_tensor *ends = lam_cumsum(lam_cast(sizes, LAM_I64), 0);
    lam_tensor *group = lam_searchsorted(ends, lam_iota(ctx, LAM_I64, LAM_DIMS(rows), 0), true);
    /* What was there before is given up at once: only two results are alive at a time. */
    for (int64_t g = 0; g < groups && !lam_failed(out); g++) {
        lam_tensor *own = lam_expand_dims(lam_eq(group, g), 1), *before = out;
        lam_tensor *part = lam_matmul(lam_where(own, in[0], lam_zeros_like(in[0])), lam_index(in[1], 0, g));
        out = lam_where(own, part, before);
        lam_drop(before);
        lam_drop(part);
    }
    return lam__scope_only(out, since);
}
