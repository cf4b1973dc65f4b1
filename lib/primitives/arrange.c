/* Elements left out, put in, repeated and put around at places that are known when called, and axes brought together:
 * reshapes, slices, and takes by indices that are made here. No rows, no rules. Values that come from two tensors are
 * brought to the dtype of the one that they go into. */
#include "lib/primitives/apply.h"
#include "lib/primitives/axes.h"
#include "lib/primitives/matrices.h"
#include "lib/primitives/reduce.h"

#include "lib/tensor/dtype.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

/* The dims of x with another size on one axis. Written to the caller's room, as dims are not copied before they are
 * used. */
static lam_dims resized(lam_tensor *x, int axis, int64_t size, int64_t dims[LAM_INNER_RANK]) {
    lam_dims own = lam_dims_of(x);
    for (int i = 0; i < own.rank; i++) dims[i] = i == axis ? size : own.dims[i];
    return (lam_dims){own.rank, dims};
}

/* 0, 1, ..., n - 1. i64, since they are compared with places and become indices. */
static lam_tensor *numbers_to(lam_tensor *x, int64_t n) {
    return lam_iota(lam_ctx_of(x), LAM_I64, LAM_DIMS(n), 0);
}

/* ---- axes -------------------------------------------------------------------------------------------------------- */

/* Axes of one element where the result has more, then one broadcast. As lax has it. */
lam_tensor *lam_broadcast_in_dim(lam_tensor *x, lam_dims dims, lam_axes axes) {
    uint64_t since = lam__scope_now(x);
    lam_dims own = lam_dims_of(x);
    int64_t narrow[LAM_MAX_RANK];
    int list[LAM_INNER_RANK];
    const char *name = "broadcast_in_dim";
    if (!lam__scope_peek(x)) return lam__axes_fail(name, x, LAM_ERR_NULL, "the operand is NULL");
    if (dims.rank < 0 || dims.rank > LAM_MAX_RANK || (dims.rank && !dims.dims))
        return lam__axes_fail(name, x, LAM_ERR_RANK, "%d axes are not in [0, %d]", dims.rank, LAM_MAX_RANK);
    if (lam__axes_expand(axes, LAM_INNER_RANK, list) != own.rank)
        return lam__axes_fail(name, x, LAM_ERR_AXIS, "one axis of the result is needed for each of x");
    /* Axes that are not listed stay 1: the reshape inserts them and nothing moves, since the list ascends. */
    for (int i = 0; i < dims.rank; i++) narrow[i] = 1;
    for (int i = 0; i < own.rank; i++) {
        if (list[i] < 0) list[i] += dims.rank;
        if (list[i] < 0 || list[i] >= dims.rank || (i > 0 && list[i] <= list[i - 1]))
            return lam__axes_fail(name, x, LAM_ERR_AXIS, "axes must ascend and be less than %d", dims.rank);
        narrow[list[i]] = own.dims[i];
    }
    return lam__scope_only(lam_broadcast_to(lam__apply_reshape(x, dims.rank, narrow), dims), since);
}

/* Views of stride 0 along what is repeated. Every result is the failed tensor until it is something else, so that who
 * looks at no status meets no garbage. Values lie in the C frame, hence the limit; messages show four operands. */
lam_status lam_broadcast_arrays(lam_list list, lam_tensor **out, size_t n_out) {
    enum { MOST = 64 };
    const char *name = "broadcast_arrays";
    lam_tensor *first = list.count && list.items ? list.items[0] : NULL, *failed = lam__axes_failed(first);
    lam_value *values[MOST];
    int64_t dims[LAM_INNER_RANK];
    int rank;
    for (size_t i = 0; out && i < n_out; i++) out[i] = failed;
    if (!out || !list.items || !list.count || list.count > MOST || n_out != list.count)
        return lam__error_fail(lam_ctx_of(failed), LAM_ERR_ARITY, "%s: %zu tensors and %zu results", name, list.count,
                               n_out),
               LAM_ERR_ARITY;
    if (!lam__scope_operands(name, list.count, list.items, values, &failed)) return lam__apply_status(1, &failed);
    uint64_t since = lam__scope_now(first);
    if (!lam__apply_common(list, &rank, dims))
        return lam__matrices_fail(name, list.count < 4 ? list.count : 4, list.items, LAM_ERR_SHAPE, NULL,
                                  "sizes must be equal or 1"),
               LAM_ERR_SHAPE;
    for (size_t i = 0; i < n_out; i++) out[i] = lam__apply_broadcast(list.items[i], rank, dims);
    lam__scope_only_these(n_out, out, since);
    return lam__apply_status(n_out, out);
}

/* Axes first to last become one. They are neighbours, so nothing moves but where strides cannot say it. */
lam_tensor *lam_collapse(lam_tensor *x, int first, int last) {
    lam_dims own = lam_dims_of(x);
    int64_t dims[LAM_INNER_RANK];
    if (!lam__apply_axis("collapse", x, own.rank, &first) || !lam__apply_axis("collapse", x, own.rank, &last))
        return lam__axes_failed(x);
    if (!lam__scope_peek(x)) return lam__axes_fail("collapse", x, LAM_ERR_NULL, "the operand is NULL");
    if (first > last) return lam__axes_fail("collapse", x, LAM_ERR_AXIS, "axis %d is behind axis %d", first, last);
    for (int i = 0; i < own.rank; i++) {
        if (i <= first) dims[i] = own.dims[i];
        else if (i <= last) dims[first] *= own.dims[i]; /* no more than x has elements, or 0 */
        else dims[i - (last - first)] = own.dims[i];
    }
    return lam__apply_reshape(x, own.rank - (last - first), dims);
}

/* Blocks side by side, then rows of blocks one below the other. All blocks of a row have one height; concatenation says
 * so where they have not. */
lam_tensor *lam_block(lam_list blocks, size_t rows, size_t columns) {
    lam_tensor *first = blocks.count && blocks.items ? blocks.items[0] : NULL;
    if (!first || !rows || !columns || rows > blocks.count || blocks.count != rows * columns)
        return lam__axes_fail("block", first, LAM_ERR_ARITY, "%zu blocks for %zu rows of %zu", blocks.count, rows,
                              columns);
    uint64_t since = lam__scope_now(first);
    lam_tensor **lines = lam__apply_room(lam_ctx_of(first), rows);
    if (!lines) return lam__axes_failed(first);
    for (size_t i = 0; i < rows; i++) lines[i] = lam_concatenate((lam_list){columns, blocks.items + i * columns}, -1);
    return lam__scope_only(lam_concatenate((lam_list){rows, lines}, -2), since);
}

/* ---- one axis of a slice that moves ------------------------------------------------------------------------------ */

/* The other axes start at 0. So a slice along one axis needs no number of the user's for them. */
static bool starts_of(const char *operation, lam_tensor *x, lam_tensor *start, int *axis, lam_tensor *starts[]) {
    if (!lam__apply_axis(operation, x, lam_rank(x), axis)) return false;
    lam_tensor *none = lam_rank(x) > 1 ? lam_zeros(lam_ctx_of(x), LAM_I64, LAM_DIMS0) : NULL;
    for (int i = 0; i < lam_rank(x); i++) starts[i] = i == *axis ? start : none;
    return true;
}

/* The other axes are taken whole. size is a C number, as dims of results are known when called. */
lam_tensor *lam_dynamic_slice_axis(lam_tensor *x, lam_tensor *start, int64_t size, int axis) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *starts[LAM_INNER_RANK];
    int64_t dims[LAM_INNER_RANK];
    lam_tensor *failed;
    if (!lam__apply_given("dynamic_slice_axis", 2, (lam_tensor *[]){x, start}, &failed)) return failed;
    if (!starts_of("dynamic_slice_axis", x, start, &axis, starts)) return lam__axes_failed(x);
    const lam_list list = {(size_t)lam_rank(x), starts};
    return lam__scope_only(lam_dynamic_slice(x, list, resized(x, axis, size, dims)), since);
}

/* Whether sizes fit is said by the operation that takes a start for each axis. Value and start may be traced. */
lam_tensor *lam_dynamic_update_slice_axis(lam_tensor *x, lam_tensor *update, lam_tensor *start, int axis) {
    uint64_t since = lam__scope_now(x);
    const char *name = "dynamic_update_slice_axis";
    lam_tensor *starts[LAM_INNER_RANK], *failed;
    if (!lam__apply_given(name, 3, (lam_tensor *[]){x, update, start}, &failed)) return failed;
    if (!starts_of(name, x, start, &axis, starts)) return lam__axes_failed(x);
    const lam_list list = {(size_t)lam_rank(x), starts};
    return lam__scope_only(lam_dynamic_update_slice(x, update, list), since);
}

/* ---- elements out and in ----------------------------------------------------------------------------------------- */

/* Whether each number names one of n places, counted from either end. `beyond` is 1 where the place behind the last
 * element is one too. Numbers are C numbers, and every one is looked at before anything is made. */
static bool in_range(const char *operation, lam_tensor *x, lam_dims numbers, int64_t n, int64_t beyond) {
    if (numbers.rank < 0 || (numbers.rank && !numbers.dims))
        return lam__axes_fail(operation, x, LAM_ERR_NULL, "a count without numbers"), false;
    if (numbers.rank > LAM_MAX_RANK)
        return lam__axes_fail(operation, x, LAM_ERR_RANK, "%d numbers are more than %d", numbers.rank, LAM_MAX_RANK),
               false;
    for (int i = 0; i < numbers.rank; i++)
        if (numbers.dims[i] < -n || numbers.dims[i] >= n + beyond)
            return lam__axes_fail(operation, x, LAM_ERR_INDEX, "%lld is out of range [%lld, %lld)",
                                  (long long)numbers.dims[i], (long long)-n, (long long)(n + beyond)),
                   false;
    return true;
}

/* Marks decide what stays; they depend on numbers alone, so that their sum can be read here at any level. A place that
 * is named twice goes once. */
lam_tensor *lam_delete(lam_tensor *x, lam_dims numbers, int axis) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *places;
    if (!lam__apply_axis("delete", x, lam_rank(x), &axis)) return lam__axes_failed(x);
    if (!lam__scope_peek(x)) return lam__axes_fail("delete", x, LAM_ERR_NULL, "the operand is NULL");
    const int64_t n = lam_dim(x, axis);
    if (!in_range("delete", x, numbers, n, 0)) return lam__axes_failed(x);
    if (!numbers.rank) return lam_alias(x);
    lam_tensor *gone = lam_array(lam_ctx_of(x), LAM_I64, LAM_DIMS(numbers.rank), numbers.dims);
    lam_tensor *stays = lam_put(lam_ones_like(numbers_to(x, n)), gone, lam_zeros(lam_ctx_of(x), LAM_I64, LAM_DIMS0), 0);
    lam_tensor *left = places = lam_sum(stays, NULL);
    if (lam_failed(left)) return left;
    /* lam_nonzero is told how many there are, since the dims of a result may not depend on elements. */
    lam_nonzero(stays, (int64_t)lam_item(left), &places);
    return lam__scope_only(lam_take(x, places, axis), since);
}

/* Keys of 2 i + 1 for the elements of x and 2 k for what comes before element k: in their order, which is stable, old
 * and new ones stand as they shall. A stable order keeps those before one element in the order given. */
lam_tensor *lam_insert(lam_tensor *x, lam_dims numbers, lam_tensor *values, int axis) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *in[2] = {x, values}, *failed;
    lam_value *v[2];
    int64_t dims[LAM_INNER_RANK];
    if (!lam__scope_operands("insert", 2, in, v, &failed)) return failed;
    if (!lam__apply_axis("insert", x, lam_rank(x), &axis)) return lam__axes_failed(x);
    const int64_t n = lam_dim(x, axis);
    if (!in_range("insert", x, numbers, n, 1)) return lam__axes_failed(x);
    if (!numbers.rank) return lam_alias(x);
    const int behind = lam_rank(x) - axis;
    /* One number may take any number of values, as many as the axis of theirs that lines up with that of x. */
    const bool many = numbers.rank == 1 && lam_rank(values) >= behind;
    const int64_t count = many ? lam_dim(values, -behind) : numbers.rank;
    values = lam__apply_in_dtype_of("insert", x, values);
    if (lam_failed(values)) return values;
    values = lam_broadcast_to(values, resized(x, axis, count, dims));
    lam_tensor *at = lam_array(lam_ctx_of(x), LAM_I64, LAM_DIMS(numbers.rank), numbers.dims);
    /* Negative numbers count from the end before they are keys. */
    at = lam_broadcast_to(lam_mul(2, lam_where(lam_lt(at, 0), lam_add(at, n), at)), LAM_DIMS(count));
    lam_tensor *own = lam_add(lam_mul(2, numbers_to(x, n)), 1);
    lam_tensor *order = lam_argsort(lam_concatenate(LAM_LIST(own, at), 0), 0);
    return lam__scope_only(lam_take(lam_concatenate(LAM_LIST(x, values), axis), order, axis), since);
}

/* Repeated as a whole and cut, so that the way back is a sum over repetitions, without indices. */
lam_tensor *lam_resize(lam_tensor *x, lam_dims dims) {
    uint64_t since = lam__scope_now(x);
    x = lam__scope_alias("resize", x); /* looks at it, as no operation does where nothing is repeated */
    if (lam_failed(x)) return x;
    lam_tensor *like = lam_zeros(lam_ctx_of(x), lam_dtype_of(x), dims);
    const int64_t n = lam_size(x), total = lam_size(like);
    if (lam_failed(like) || !n || !total) return lam__scope_only(like, since);
    lam_tensor *all = lam_tile(lam__apply_reshape(x, 1, &n), LAM_DIMS(total / n + (total % n > 0)));
    return lam__scope_only(lam_reshape(lam_slice_axis(all, 0, 0, total), dims), since);
}

/* ---- windows ----------------------------------------------------------------------------------------------------- */

/* Whether so many windows fit; `first` is the axis of the first size, counts[] how many there are along each. The
 * number of places stops at INT64_MAX, for which there is no memory. */
static bool windows_fit(lam_tensor *x, lam_dims sizes, lam_dims strides, int64_t counts[], int64_t *places) {
    const char *name = "sliding_windows";
    const int rank = lam_rank(x);
    *places = 1;
    if (sizes.rank < 0 || sizes.rank > rank || rank + sizes.rank > LAM_MAX_RANK || (sizes.rank && !sizes.dims))
        return lam__axes_fail(name, x, LAM_ERR_RANK, "%d sizes for %d axes", sizes.rank, rank), false;
    if (strides.rank && (strides.rank != sizes.rank || !strides.dims))
        return lam__axes_fail(name, x, LAM_ERR_SHAPE, "%d strides for %d sizes", strides.rank, sizes.rank), false;
    for (int i = 0; i < sizes.rank; i++) {
        const int64_t stride = strides.rank ? strides.dims[i] : 1, size = sizes.dims[i];
        const int64_t n = lam_dim(x, rank - sizes.rank + i);
        if (size < 1 || stride < 1)
            return lam__axes_fail(name, x, LAM_ERR_VALUE, "a window of %lld elements every %lld", (long long)size,
                                  (long long)stride),
                   false;
        if (size > n)
            return lam__axes_fail(name, x, LAM_ERR_SHAPE, "a window of %lld elements on an axis of %lld",
                                  (long long)size, (long long)n),
                   false;
        counts[i] = (n - size) / stride + 1;
        *places = *places > INT64_MAX / size ? INT64_MAX : *places * size;
    }
    return true;
}

/* For each place in a window the elements that stand there in all windows, a strided view; these side by side.
 * Cotangents of slices are added where they lie; a take by indices would scatter them one by one. */
lam_tensor *lam_sliding_windows(lam_tensor *x, lam_dims sizes, lam_dims strides) {
    uint64_t since = lam__scope_now(x);
    int64_t counts[LAM_MAX_RANK], starts[LAM_INNER_RANK], stops[LAM_INNER_RANK], steps[LAM_INNER_RANK], places;
    int64_t dims[2 * LAM_INNER_RANK];
    if (!lam__scope_peek(x)) return lam__axes_fail("sliding_windows", x, LAM_ERR_NULL, "the operand is NULL");
    if (!windows_fit(x, sizes, strides, counts, &places)) return lam__axes_failed(x);
    const int rank = lam_rank(x), first = rank - sizes.rank;
    lam_tensor **parts = lam__apply_room(lam_ctx_of(x), (size_t)places);
    if (!parts) return lam__axes_failed(x);
    for (int i = 0; i < rank; i++) starts[i] = 0, stops[i] = lam_dim(x, i), steps[i] = 1;
    for (int64_t place = 0; place < places; place++) {
        /* The last axis of a window goes fastest, as the reshape below reads them. */
        int64_t left = place;
        for (int i = sizes.rank - 1; i >= 0; left /= sizes.dims[i--]) {
            steps[first + i] = strides.rank ? strides.dims[i] : 1;
            starts[first + i] = left % sizes.dims[i];
            stops[first + i] = starts[first + i] + (counts[i] - 1) * steps[first + i] + 1;
        }
        parts[place] = lam_slice(x, (lam_dims){rank, starts}, (lam_dims){rank, stops}, (lam_dims){rank, steps});
        if (lam_failed(parts[place])) return parts[place];
    }
    for (int i = 0; i < rank; i++) dims[i] = i < first ? lam_dim(x, i) : counts[i - first];
    for (int i = 0; i < sizes.rank; i++) dims[rank + i] = sizes.dims[i];
    lam_tensor *all = lam_stack((lam_list){(size_t)places, parts}, rank);
    return lam__scope_only(lam__apply_reshape(all, rank + sizes.rank, dims), since);
}

/* ---- around ------------------------------------------------------------------------------------------------------ */

/* Which element stands at each place from -low to n + high. Mirrors repeat with a period of the axis there and back.
 * With one element a mirror that does not repeat its edge has nothing else to show: its period is 1. */
static lam_tensor *sources(lam_ctx *ctx, int64_t n, int64_t low, int64_t high, lam_pad_mode mode) {
    lam_tensor *at = lam_sub(lam_iota(ctx, LAM_I64, LAM_DIMS(low + n + high), 0), low);
    const int64_t period = mode == LAM_PAD_WRAP ? n : mode == LAM_PAD_SYMMETRIC ? 2 * n : n > 1 ? 2 * n - 2 : 1;
    if (mode == LAM_PAD_EDGE) return lam_clamp(at, 0, n - 1);
    at = lam_mod(at, period);
    return lam_where(lam_lt(at, n), at, lam_sub(mode == LAM_PAD_SYMMETRIC ? 2 * n - 1 : 2 * n - 2, at));
}

/* `count` elements that rise from 0 to the edge, which is not reached; `fall`: that come from there. Shares are real
 * also where the edge is complex. count 0 gives no elements, and divides by nothing. */
static lam_tensor *ramp(lam_tensor *edge, int axis, int64_t count, bool fall) {
    const lam_dtype dtype = lam__matrices_real(lam_dtype_of(edge));
    lam_tensor *share =
        lam_mul(lam_iota(lam_ctx_of(edge), LAM_F64, LAM_DIMS(count), 0), 1.0 / (double)(count ? count : 1));
    if (fall) share = lam_reverse(share, LAM_AXES(0));
    share = lam_cast(share, dtype);
    for (int i = axis + 1; i < lam_rank(edge); i++) share = lam_expand_dims(share, -1);
    return lam_mul(edge, share);
}

/* Each side rises or falls along its own edge. */
static lam_tensor *with_ramps(lam_tensor *x, int axis, int64_t low, int64_t high) {
    lam_tensor *first = lam_slice_axis(x, axis, 0, 1), *last = lam_slice_axis(x, axis, -1, LAM_END);
    lam_tensor *parts[3] = {ramp(first, axis, low, false), x, ramp(last, axis, high, true)};
    return lam_concatenate((lam_list){3, parts}, axis);
}

/* One axis: taken by indices, or with what the axis has on average or at most on both sides. x itself is handed back
 * where nothing is put around it. */
static lam_tensor *padded(lam_tensor *x, int axis, int64_t low, int64_t high, lam_pad_mode mode) {
    const int64_t n = lam_dim(x, axis);
    if (low == 0 && high == 0) return x;
    if (n == 0) return lam__axes_fail("pad_with", x, LAM_ERR_SHAPE, "axis %d has no elements to repeat", axis);
    /* Modes below this one show elements of the axis itself, which are taken by number. */
    if (mode < LAM_PAD_MEAN) return lam_take(x, sources(lam_ctx_of(x), n, low, high, mode), axis);
    if (mode == LAM_PAD_LINEAR_RAMP) return with_ramps(x, axis, low, high);
    const lam_reduce_options over = {.axes = {1, &axis}, .keepdims = true};
    lam_tensor *level = mode == LAM_PAD_MEAN      ? lam_mean(x, &over)
                        : mode == LAM_PAD_MEDIAN  ? lam_median(x, &over)
                        : mode == LAM_PAD_MAXIMUM ? lam_max_reduce(x, &over)
                                                  : lam_min_reduce(x, &over);
    lam_tensor *parts[3] = {lam_repeat(level, low, axis), x, lam_repeat(level, high, axis)};
    return lam_concatenate((lam_list){3, parts}, axis);
}

/* Later axes see what was put around the earlier ones, as in NumPy, so corners are padded too. */
lam_tensor *lam_pad_with(lam_tensor *x, lam_dims low, lam_dims high, lam_pad_mode mode) {
    uint64_t since = lam__scope_now(x);
    const char *name = "pad_with";
    const int rank = lam_rank(x);
    if (!lam__scope_peek(x)) return lam__axes_fail(name, x, LAM_ERR_NULL, "the operand is NULL");
    if (low.rank != rank || high.rank != rank || (rank && (!low.dims || !high.dims)))
        return lam__axes_fail(name, x, LAM_ERR_SHAPE, "%d and %d numbers for %d axes", low.rank, high.rank, rank);
    if ((unsigned)mode > LAM_PAD_LINEAR_RAMP)
        return lam__axes_fail(name, x, LAM_ERR_OPTION, "there is no mode %d", mode);
    /* Where something is divided integers become floats, whatever the numbers are, so that the dtype of the result
     * hangs on the mode alone. */
    const bool divides = mode == LAM_PAD_MEAN || mode == LAM_PAD_MEDIAN || mode == LAM_PAD_LINEAR_RAMP;
    if (mode > LAM_PAD_MEAN && mode < LAM_PAD_LINEAR_RAMP && lam__dtype_is_complex((int)lam_dtype_of(x)))
        return lam__axes_fail(name, x, LAM_ERR_DTYPE, "complex numbers have no order");
    lam_tensor *out = divides ? lam__reduce_real(x) : lam_alias(x);
    /* The length of the result is a sum of three of these. */
    for (int i = 0; i < rank && !lam_failed(out); i++) {
        const int64_t most = INT64_MAX / 4, n = lam_dim(x, i);
        if (low.dims[i] < 0 || high.dims[i] < 0)
            return lam__axes_fail(name, x, LAM_ERR_VALUE, "a negative number for axis %d", i);
        if (low.dims[i] > most || high.dims[i] > most || n > most)
            return lam__axes_fail(name, x, LAM_ERR_OVERFLOW, "the sizes overflow");
        out = padded(out, i, low.dims[i], high.dims[i], mode);
    }
    return lam__scope_only(out, since);
}

/* A mask of the diagonal, by the difference of column and row, chooses. */
lam_tensor *lam_fill_diagonal(lam_tensor *x, lam_tensor *value, int64_t offset) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *in[2] = {x, value}, *failed;
    lam_value *v[2];
    if (!lam__scope_operands("fill_diagonal", 2, in, v, &failed)) return failed;
    if (lam_rank(x) < 2) return lam__axes_fail("fill_diagonal", x, LAM_ERR_RANK, "a matrix is needed");
    value = lam__apply_in_dtype_of("fill_diagonal", x, value);
    if (lam_failed(value)) return value;
    const int64_t rows = lam_dim(x, -2), columns = lam_dim(x, -1);
    lam_tensor *column = numbers_to(x, columns), *row = lam_expand_dims(numbers_to(x, rows), 1);
    lam_dims own = lam_dims_of(x);
    lam_tensor *on =
        lam_eq(lam_sub(column, row), lam_full_like(lam_zeros(lam_ctx_of(x), LAM_I64, LAM_DIMS0), (double)offset));
    return lam__scope_only(lam_where(on, lam__apply_broadcast(value, own.rank, own.dims), x), since);
}
