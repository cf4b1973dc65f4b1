/* Elements chosen by tensors: where a condition holds, as often as counts say, by the number of a choice, in groups of
 * rows; and several tensors in one order. Made of searches, counts and takes: no rows, no rules. Sizes of results are
 * given, as in sets.c. */
#include "lib/primitives/apply.h"
#include "lib/primitives/axes.h"
#include "lib/primitives/matrices.h"
#include "lib/primitives/seen.h"

#include "lib/tensor/dtype.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

/* A vector as an axis: [n, 1, ..., 1], to stand beside axis `axis` of `rank` axes. */
static lam_tensor *along_axis(lam_tensor *x, int axis, int rank) {
    int64_t dims[LAM_INNER_RANK];
    for (int i = 0; i < rank - axis; i++) dims[i] = i ? 1 : lam_size(x);
    return lam__apply_reshape(x, rank - axis, dims);
}

/* Of signed and unsigned ones; bools are conditions, and no numbers of places. */
static bool is_integer(lam_tensor *x) {
    return !lam__dtype_is_inexact((int)lam_dtype_of(x)) && lam_dtype_of(x) != LAM_BOOL;
}

/* ---- conditions, counts ------------------------------------------------------------------------------------------ */

/* Places of what is true, -1 behind them, where the first element stands in until it is replaced. */
lam_tensor *lam_compress(lam_tensor *condition, lam_tensor *x, int64_t size, double fill, int axis) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *in[2] = {condition, x}, *failed, *places;
    if (!lam__apply_given("compress", 2, in, &failed)) return failed;
    if (!lam__apply_axis("compress", x, lam_rank(x), &axis)) return lam__axes_failed(x);
    if (lam_rank(condition) != 1)
        return lam__axes_fail("compress", condition, LAM_ERR_RANK, "the condition is not a vector");
    if (size < 0) return lam__axes_fail("compress", x, LAM_ERR_VALUE, "%lld elements", (long long)size);
    const int64_t n = lam_dim(x, axis), known = lam_dim(condition, 0) < n ? lam_dim(condition, 0) : n;
    /* Places are named by the condition, so what it has beyond the axis is left out. */
    lam_tensor *holds = places = lam_slice_axis(condition, 0, 0, known); /* what lam_nonzero leaves if it has failed */
    lam_nonzero(holds, size, &places);
    if (lam_failed(places)) return lam__scope_only(places, since);
    /* An axis without elements gets one, which nothing shows. */
    if (n == 0) {
        int64_t low[LAM_INNER_RANK] = {0}, high[LAM_INNER_RANK] = {0};
        high[axis] = 1;
        x = lam_pad(x, (lam_dims){lam_rank(x), low}, (lam_dims){lam_rank(x), high}, NULL);
    }
    lam_tensor *none = along_axis(lam_lt(places, 0), axis, lam_rank(x));
    lam_tensor *taken = lam_take(x, lam_max(places, 0), axis);
    /* The number goes through the dtype of x, which stays. */
    lam_tensor *filled = lam_cast(lam_scalar(lam_ctx_of(x), fill), lam_dtype_of(x));
    return lam__scope_only(lam_where(none, filled, taken), since);
}

/* Element i stands at the places from the sum of the counts before it on: a search in the running sums finds it. The
 * search goes behind equal ends, so an element whose count is 0 stands nowhere; places beyond the sum show the last
 * one. */
lam_tensor *lam_repeat_each(lam_tensor *x, lam_tensor *counts, int64_t total, int axis) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *in[2] = {x, counts}, *failed;
    lam_value *v[2];
    const char *name = "repeat_each";
    if (!lam__scope_operands(name, 2, in, v, &failed)) return failed;
    if (!lam__apply_axis(name, x, lam_rank(x), &axis)) return lam__axes_failed(x);
    const int64_t n = lam_dim(x, axis);
    if (lam_rank(counts) != 1 || lam_dim(counts, 0) != n)
        return lam__axes_fail(name, counts, LAM_ERR_SHAPE, "%lld counts are needed", (long long)n);
    if (!is_integer(counts)) return lam__axes_fail(name, counts, LAM_ERR_DTYPE, "counts are integers");
    if (total < 0 || (total > 0 && n == 0))
        return lam__axes_fail(name, x, LAM_ERR_VALUE, "%lld of %lld elements", (long long)total, (long long)n);
    if (!lam__seen_in_range(name, "counts", counts, 0, false, 0x1p63)) return lam__axes_failed(x);
    lam_tensor *ends = lam_cumsum(lam_cast(counts, LAM_I64), 0);
    lam_tensor *places = lam_searchsorted(ends, lam_iota(lam_ctx_of(x), LAM_I64, LAM_DIMS(total), 0), true);
    return lam__scope_only(lam_take_mode(x, places, axis, LAM_INDEX_CLIP), since);
}

/* ---- choices, places --------------------------------------------------------------------------------------------- */

/* Compared with the number of each choice, one after the other. */
lam_tensor *lam_choose(lam_tensor *indices, lam_list choices) {
    uint64_t since = lam__scope_now(indices);
    if (!choices.count || !choices.items)
        return lam__axes_fail("choose", indices, LAM_ERR_ARITY, "there are no choices");
    if (lam__scope_peek(indices) && !is_integer(indices))
        return lam__axes_fail("choose", indices, LAM_ERR_DTYPE, "indices are integers");
    lam_tensor *at = lam_wrap_index(indices, (int64_t)choices.count);
    if (lam_failed(at)) return lam__scope_only(at, since);
    /* The first choice on both sides: it takes the dims of the indices without being repeated by hand. */
    lam_tensor *out = lam_where(lam_eq(at, 0), choices.items[0], choices.items[0]);
    for (size_t i = 1; i < choices.count; i++) out = lam_where(lam_eq(at, (int64_t)i), choices.items[i], out);
    return lam__scope_only(out, since);
}

/* Coordinates of lam_nonzero as the columns of one matrix. */
lam_tensor *lam_argwhere(lam_tensor *x, int64_t size) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *along[LAM_INNER_RANK] = {NULL};
    if (lam_nonzero(x, size, along) != LAM_OK) return lam__scope_named(lam__axes_failed(x), since);
    return lam__scope_only(lam_stack((lam_list){(size_t)lam_rank(x), along}, 1), since);
}

/* x, or the bound that it lies beyond. */
static int64_t between(int64_t low, int64_t x, int64_t high) {
    return x < low ? low : x > high ? high : x;
}

/* How many places of a rows x columns matrix lie at and below a diagonal; at and above it are all but those below the
 * one before. Row i has i + offset + 1 of them, from none in rows before `first` to all columns from `full` on: a sum
 * without a loop, since millions of rows may have none. */
static int64_t places_below(int64_t rows, int64_t columns, int64_t offset) {
    const int64_t first = between(0, -offset, rows), full = between(first, columns - offset - 1, rows);
    return (full - first) * (first + full + 2 * offset + 1) / 2 + (rows - full) * columns;
}

/* Of the mask of the triangle, in row-major order. */
static lam_status triangle(const char *name, lam_ctx *ctx, int64_t rows, int64_t columns, int64_t offset, bool upper,
                           lam_tensor **row, lam_tensor **column) {
    /* Sizes up to 2^31 keep the number of places within an i64. */
    const int64_t most = (int64_t)1 << 31;
    lam_tensor *out[2], **const places[2] = {row, column};
    uint64_t since = lam__scope_now_in(ctx);
    /* lam_zeros of no context is the static failed tensor. */
    if (!ctx) return lam__matrices_give_failed(lam_zeros(ctx, LAM_I64, LAM_DIMS0), 2, places);
    if (rows < 0 || columns < 0 || rows > most || columns > most || offset > most || offset < -most) {
        lam_status status = rows < 0 || columns < 0 ? LAM_ERR_VALUE : LAM_ERR_OVERFLOW;
        lam_tensor *failed =
            lam__error_fail(ctx, status, "%s: %lld rows, %lld columns and diagonal %lld are out of range", name,
                            (long long)rows, (long long)columns, (long long)offset);
        return lam__matrices_give_failed(failed, 2, places);
    }
    lam_tensor *row_number = lam_iota(ctx, LAM_I64, LAM_DIMS(rows, 1), 0);
    lam_tensor *from_diagonal = lam_sub(lam_sub(lam_iota(ctx, LAM_I64, LAM_DIMS(1, columns), 1), row_number), offset);
    lam_tensor *mask = upper ? lam_ge(from_diagonal, 0) : lam_le(from_diagonal, 0);
    const int64_t count =
        upper ? rows * columns - places_below(rows, columns, offset - 1) : places_below(rows, columns, offset);
    if (lam_failed(mask)) return lam__matrices_give_failed(mask, 2, places);
    return lam__matrices_give(lam_nonzero(mask, count, out), since, 2, out, places);
}

lam_status lam_tril_indices(lam_ctx *ctx, int64_t rows, int64_t columns, int64_t offset, lam_tensor **row,
                            lam_tensor **column) {
    return triangle("tril_indices", ctx, rows, columns, offset, false, row, column);
}

lam_status lam_triu_indices(lam_ctx *ctx, int64_t rows, int64_t columns, int64_t offset, lam_tensor **row,
                            lam_tensor **column) {
    return triangle("triu_indices", ctx, rows, columns, offset, true, row, column);
}

/* ---- groups of rows ---------------------------------------------------------------------------------------------- */

typedef enum kind { SUM, PROD, MAX, MIN } kind;

/* What a reduction of no elements gives, in the dtype of x. Of maxima and minima it is what the reduction itself makes
 * of none, so that every dtype has its own. */
static lam_tensor *neutral(lam_tensor *x, kind what) {
    lam_tensor *none = lam_zeros(lam_ctx_of(x), lam_dtype_of(x), LAM_DIMS(0));
    return what == SUM    ? lam_zeros(lam_ctx_of(x), lam_dtype_of(x), LAM_DIMS0)
           : what == PROD ? lam_ones(lam_ctx_of(x), lam_dtype_of(x), LAM_DIMS0)
           : what == MAX  ? lam_max_reduce(none, NULL)
                          : lam_min_reduce(none, NULL);
}

/* Scattered into neutral elements. Negative numbers would count from the end: they are moved behind it, where they are
 * left out. */
static lam_tensor *segments_of(const char *name, lam_tensor *x, lam_tensor *segments, int64_t count, kind what) {
    lam_tensor *in[2] = {x, segments}, *failed;
    lam_value *v[2];
    int64_t dims[LAM_INNER_RANK];
    if (!lam__scope_operands(name, 2, in, v, &failed)) return failed;
    lam_dims own = lam_dims_of(x);
    if (lam_rank(segments) != 1 || own.rank == 0 || own.dims[0] != lam_dim(segments, 0))
        return lam__matrices_fail(name, 2, in, LAM_ERR_SHAPE, NULL, "one segment is needed for each row");
    if (!is_integer(segments)) return lam__axes_fail(name, segments, LAM_ERR_DTYPE, "segments are integers");
    if (count < 0) return lam__axes_fail(name, x, LAM_ERR_VALUE, "%lld segments", (long long)count);
    /* Bools are counted. */
    if (lam_dtype_of(x) == LAM_BOOL) x = lam_cast(x, LAM_I64);
    for (int i = 0; i < own.rank; i++) dims[i] = i ? own.dims[i] : count;
    lam_tensor *at = lam_cast(segments, LAM_I64), *base = lam__apply_broadcast(neutral(x, what), own.rank, dims);
    /* LAM_INDEX_FILL leaves out what lies behind the end, as `count` does. */
    at = lam_where(lam_lt(at, 0), count, at);
    if (what == SUM) return lam_scatter_add_mode(base, at, x, 0, LAM_INDEX_FILL);
    if (what == PROD) return lam_scatter_mul(base, at, x, 0, LAM_INDEX_FILL);
    return (what == MAX ? lam_scatter_max : lam_scatter_min)(base, at, x, 0, LAM_INDEX_FILL);
}

lam_tensor *lam_segment_sum(lam_tensor *x, lam_tensor *segments, int64_t count) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_only(segments_of("segment_sum", x, segments, count, SUM), since);
}

lam_tensor *lam_segment_prod(lam_tensor *x, lam_tensor *segments, int64_t count) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_only(segments_of("segment_prod", x, segments, count, PROD), since);
}

lam_tensor *lam_segment_max(lam_tensor *x, lam_tensor *segments, int64_t count) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_only(segments_of("segment_max", x, segments, count, MAX), since);
}

lam_tensor *lam_segment_min(lam_tensor *x, lam_tensor *segments, int64_t count) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_only(segments_of("segment_min", x, segments, count, MIN), since);
}

/* ---- several tensors in one order -------------------------------------------------------------------------------- */

/* lam_lexsort takes the key that counts most last. Every result is the failed tensor until it is made, so that what
 * returns early leaves no garbage. */
lam_status lam_sort_together(lam_list operands, size_t keys, int axis, lam_tensor **out, size_t n_out) {
    const char *name = "sort_together";
    lam_tensor *first = operands.count && operands.items ? operands.items[0] : NULL, *failed = lam__axes_failed(first);
    for (size_t i = 0; out && i < n_out; i++) out[i] = failed;
    if (!first || !out || n_out != operands.count || !keys || keys > n_out)
        return lam__error_fail(lam_ctx_of(failed), LAM_ERR_ARITY, "%s: %zu tensors, %zu keys and %zu results", name,
                               operands.count, keys, n_out),
               LAM_ERR_ARITY;
    uint64_t since = lam__scope_now(first);
    if (!lam__apply_axis(name, first, lam_rank(first), &axis)) return lam__error_last(lam_ctx_of(first));
    lam_tensor **turned = lam__apply_room(lam_ctx_of(first), keys);
    if (!turned) return LAM_ERR_MEMORY;
    for (size_t i = 0; i < keys; i++) turned[i] = operands.items[keys - 1 - i];
    lam_tensor *order = lam_lexsort((lam_list){keys, turned}, axis);
    /* Dims are compared one by one, since lam_take_along_axis would broadcast an operand of one element. */
    for (size_t i = 0; i < n_out; i++) {
        lam_dims own = lam_dims_of(operands.items[i]), like = lam_dims_of(first);
        bool same = own.rank == like.rank;
        for (int k = 0; same && k < own.rank; k++) same = own.dims[k] == like.dims[k];
        out[i] = same || lam_failed(operands.items[i])
                     ? lam_take_along_axis(operands.items[i], order, axis)
                     : lam__axes_fail(name, operands.items[i], LAM_ERR_SHAPE, "operand %zu has other dims", i);
        if (lam_failed(out[i])) return lam__error_last(lam_ctx_of(first));
    }
    lam__scope_only_these(n_out, out, since);
    return LAM_OK;
}
