/* Tensors from nothing. They belong to no level, so they are values made directly, not primitives: to every transform
 * they are constants. Dims come from users and are checked here, as no shape rule does it. While memory is asked for,
 * the context is told the maker's name (`calling`), so that a failure of memory names it. */
#include "lib/primitives/apply.h"
#include "lib/primitives/axes.h"
#include "lib/primitives/create.h"

#include "lib/dispatch/dispatch.h"
#include "lib/parallel/parallel.h"
#include "lib/tensor/dtype.h"
#include "lib/tensor/value.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

#include <math.h>

/* Checks what a maker is given; gives the context to use, which for NULL is the failed one. A NULL context cannot say
 * what is wrong with it, so its failure is that of the static one. `fine` says whether to go on; the context is there
 * in any case, to take its failed tensor from. */
static lam_ctx *checked(const char *operation, lam_ctx *ctx, lam_dtype dtype, lam_dims dims, bool *fine) {
    *fine = false;
    if (!ctx || ctx == &lam__context_failed) return &lam__context_failed;
    if (!lam__dtype_valid((int)dtype))
        lam__error_set(ctx, LAM_ERR_DTYPE, "give one of the names in lam_dtype", "%s: there is no dtype %d", operation,
                       (int)dtype);
    else *fine = lam__create_dims_valid(operation, ctx, dims);
    *fine = *fine && lam__create_countable(operation, ctx, dtype, dims);
    return ctx;
}

/* Sizes whose product leaves 2^62 bytes are refused before any arithmetic on them could wrap. */
bool lam__create_countable(const char *operation, lam_ctx *ctx, lam_dtype dtype, lam_dims dims) {
    if (lam__value_count(dims.rank, dims.dims, lam__dtype_bytes(dtype)) >= 0) return true;
    char text[512];
    lam__text t = {text, sizeof text, 0};
    lam__error_append_type(&t, dtype, dims.rank, dims.dims);
    lam__error_set(ctx, LAM_ERR_OVERFLOW, "split the work", "%s: the sizes of %s overflow", operation, text);
    return false;
}

/* For makers, whose users have no tensor to show in the message. Levels inside a rule have axes beside the user's, for
 * which there is room (lam__eval_most_axes). */
bool lam__create_dims_valid(const char *operation, lam_ctx *ctx, lam_dims dims) {
    const int most = lam__eval_most_axes(ctx);
    if (dims.rank < 0 || dims.rank > most) {
        lam__error_set(ctx, LAM_ERR_RANK, "give some axes as one", "%s: rank %d is not in [0, %d]", operation,
                       dims.rank, most);
        return false;
    }
    if (dims.rank && !dims.dims) {
        lam__error_set(ctx, LAM_ERR_NULL, "write LAM_DIMS(...)", "%s: dims has a rank but no sizes", operation);
        return false;
    }
    for (int i = 0; i < dims.rank; i++)
        if (dims.dims[i] < 0) {
            lam__error_set(ctx, LAM_ERR_VALUE, "sizes are 0 or more", "%s: axis %d has the negative size %lld",
                           operation, i, (long long)dims.dims[i]);
            return false;
        }
    return true;
}

/* A contiguous tensor of one element, taken over, repeated, or of anything. Without memory for the element there is
 * none for more; lam__scope_handle of NULL is the failed tensor. */
static lam_tensor *filled(lam_ctx *ctx, lam_dims dims, lam_value *element, bool anything) {
    lam_value *out = element ? lam__value_new(ctx, (lam_dtype)element->dtype, dims.rank, dims.dims) : NULL;
    if (out && !anything)
        lam__parallel_fill(ctx->team, (lam_dtype)element->dtype, out->data, out->count, element->data);
    lam__value_release(element);
    return lam__scope_handle(ctx, out);
}

/* What is told of a maker while it asks for memory: a row with nothing but its name. These are no rows of the registry:
 * nothing is ever dispatched to them. `calling` is put back in any case, as makers run inside other calls. */
static const lam_primitive full = {.name = "full"}, zeros = {.name = "zeros"}, ones = {.name = "ones"},
                           empty = {.name = "empty"}, eye = {.name = "eye"}, arange = {.name = "arange"},
                           linspace = {.name = "linspace"};

/* The element is made as a value of the dtype, so that conversion of a C number is the same as everywhere. */
static lam_tensor *repeated(const lam_primitive *maker, lam_ctx *ctx, lam_dtype dtype, lam_dims dims, double value) {
    bool fine;
    ctx = checked(maker->name, ctx, dtype, dims, &fine);
    if (!fine) return &ctx->failed;
    const lam_call_site call = {.ctx = ctx, .primitive = maker}, *caller = ctx->calling;
    ctx->calling = &call;
    bool anything = maker == &empty && dtype != LAM_BOOL; /* bools stay false or true */
    lam_tensor *out = filled(ctx, dims, lam__value_scalar(ctx, dtype, value), anything);
    ctx->calling = caller;
    return out;
}

/* The four below are fills of one element, repeated. */
lam_tensor *lam_full(lam_ctx *ctx, lam_dtype dtype, lam_dims dims, double value) {
    return repeated(&full, ctx, dtype, dims, value);
}

lam_tensor *lam_zeros(lam_ctx *ctx, lam_dtype dtype, lam_dims dims) {
    return repeated(&zeros, ctx, dtype, dims, 0);
}

lam_tensor *lam_ones(lam_ctx *ctx, lam_dtype dtype, lam_dims dims) {
    return repeated(&ones, ctx, dtype, dims, 1);
}

/* What stands in it is not defined. */
lam_tensor *lam_empty(lam_ctx *ctx, lam_dtype dtype, lam_dims dims) {
    return repeated(&empty, ctx, dtype, dims, 0);
}

/* One element seen with the dims of x: stride 0 along all axes, no memory, whatever the size. Dims are those that the
 * user sees, per example inside vmap. Rules use these for cotangents that are absent. */
static lam_tensor *like(const char *operation, lam_tensor *x, double value) {
    static const int64_t zero[LAM_INNER_RANK];
    lam_value *v, *out = NULL;
    lam_tensor *failed;
    lam_ctx *ctx = lam__scope_operands(operation, 1, &x, &v, &failed);
    if (!ctx) return failed;
    if (!lam__level_lives(ctx, operation, 1, &v, 0)) return &ctx->failed;
    lam_value *element = lam__value_scalar(ctx, (lam_dtype)v->dtype, value);
    if (element) out = lam__value_view(element, v->rank, v->dims, zero, 0);
    lam__value_release(element);
    return lam__scope_handle(ctx, out);
}

/* Below vmap the dims are those of one example, and so is the result, a constant that belongs to no level. */
lam_tensor *lam_full_like(lam_tensor *x, double value) {
    return like("full_like", x, value);
}

/* No memory but for one element, so rules use it without a thought. */
lam_tensor *lam_zeros_like(lam_tensor *x) {
    return like("zeros_like", x, 0);
}

/* With this and zeros a rule needs no memory for constants of any size. */
lam_tensor *lam_ones_like(lam_tensor *x) {
    return like("ones_like", x, 1);
}

/* Zeros, since a view of one element has nothing that could be left unset. */
lam_tensor *lam_empty_like(lam_tensor *x) {
    return like("empty_like", x, 0);
}

/* ---- counting --------------------------------------------------------------------------------------------- */

/* Zeros with a 1 stored at each (i, first + i): as many stores as rows, whatever the dtype. */
lam_tensor *lam__create_eye(lam_ctx *ctx, lam_dtype dtype, int64_t first, int64_t rows, int64_t columns) {
    int64_t dims[2] = {rows, columns};
    lam_tensor *out = repeated(&eye, ctx, dtype, (lam_dims){2, dims}, 0);
    size_t item = lam__dtype_bytes(dtype);
    for (int64_t i = 0; i < rows && i < columns - first && !lam_failed(out); i++)
        lam__dtype_store(dtype, (char *)out->value->data + (size_t)(i * columns + first + i) * item, 1);
    return out;
}

/* The dims are checked here, before anything is counted on them. */
lam_tensor *lam_eye(lam_ctx *ctx, lam_dtype dtype, int64_t rows, int64_t columns) {
    bool fine;
    ctx = checked("eye", ctx, dtype, (lam_dims){2, (int64_t[]){rows, columns}}, &fine);
    return fine ? lam__create_eye(ctx, dtype, 0, rows, columns) : &ctx->failed;
}

/* first + step * i in dtype, i = 0..count-1, along one axis; a `last` that is no NaN is given exactly. Element i is
 * worked out from i, not from the one before it, so errors do not add up. */
static lam_tensor *counted(const lam_primitive *maker, lam_ctx *ctx, lam_dtype dtype, int64_t count, double first,
                           double step, double last) {
    static const int64_t one[] = {1};
    const lam_call_site call = {.ctx = ctx, .primitive = maker}, *caller = ctx->calling;
    ctx->calling = &call;
    lam_value *out = lam__value_new(ctx, dtype, 1, &count);
    ctx->calling = caller;
    if (out && count > 0) {
        lam__parallel_count_up(ctx->team, dtype, first, step, count, out->data);
        char *end = (char *)out->data + (count - 1) * (int64_t)lam__dtype_bytes(dtype);
        if (!isnan(last)) lam__kernels_copy(1, one, dtype, end, one, LAM_F64, &last, one);
    }
    return lam__scope_handle(ctx, out);
}

/* The number of elements is ceil((stop - start) / step), as in NumPy, with NumPy's surprise that stop may be reached
 * where the quotient is rounded up. Up to 2^53, beyond which i is no exact double; NaN and division by a step of 0 fail
 * too. */
lam_tensor *lam_arange(lam_ctx *ctx, lam_dtype dtype, double start, double stop, double step) {
    bool fine;
    ctx = checked("arange", ctx, dtype, (lam_dims){0, NULL}, &fine);
    if (!fine) return &ctx->failed;
    double count = ceil((stop - start) / step);
    if (!(fabs(count) < 0x1p53))
        return lam__error_fail(ctx, LAM_ERR_VALUE, "arange: from %g to %g by %g is not a finite count", start, stop,
                               step);
    return counted(&arange, ctx, dtype, count > 0 ? (int64_t)count : 0, start, step, (double)NAN);
}

/* Both ends are exact: the last is set, not worked out. One point is the start. Points between ends that are further
 * apart than the largest number are those of quarters of them, four times as large: neither step rounds. */
lam_tensor *lam_linspace(lam_ctx *ctx, lam_dtype dtype, double start, double stop, int64_t count) {
    bool fine;
    ctx = checked("linspace", ctx, dtype, (lam_dims){1, &count}, &fine);
    if (!fine) return &ctx->failed;
    const bool whole = !lam__dtype_is_inexact((int)dtype);
    uint64_t since = lam__scope_now_in(ctx);
    if (whole && fmin(start, stop) < 0) /* a cast alone goes towards 0 */
        return lam__scope_only(lam_cast(lam_floor(lam_linspace(ctx, LAM_F64, start, stop, count)), dtype), since);
    if (!whole && isinf(stop - start) && isfinite(start) && isfinite(stop))
        return lam__scope_only(lam_mul(4.0, lam_linspace(ctx, dtype, start / 4, stop / 4, count)), since);
    return counted(&linspace, ctx, dtype, count, start, count > 1 ? (stop - start) / (double)(count - 1) : 0,
                   count > 1 ? stop : start);
}

/* A line that is broadcast and then made contiguous, since makers give memory of their own. */
lam_tensor *lam_iota(lam_ctx *ctx, lam_dtype dtype, lam_dims dims, int axis) {
    bool fine;
    ctx = checked("iota", ctx, dtype, dims, &fine);
    if (!fine) return &ctx->failed;
    if (axis < -dims.rank || axis >= dims.rank)
        return lam__error_fail(ctx, LAM_ERR_AXIS, "iota: axis %d is out of range [-%d, %d)", axis, dims.rank,
                               dims.rank);
    if (axis < 0) axis += dims.rank;
    int64_t narrow[LAM_INNER_RANK];
    for (int i = 0; i < dims.rank; i++) narrow[i] = i == axis ? dims.dims[i] : 1;
    uint64_t since = lam__scope_now_in(ctx);
    lam_tensor *line = lam_arange(ctx, dtype, 0, (double)dims.dims[axis], 1);
    lam_tensor *whole = lam_broadcast_to(lam_reshape(line, (lam_dims){dims.rank, narrow}), dims);
    return lam__scope_only(lam_contiguous(whole), since);
}
