/* Tensors in and out of the library: copy in, borrow, copy out, accessors. Numbers enter here as concrete values of no
 * level and leave from what a box shows, if its interpreter lets them be read. Accessors of types never fail: they
 * answer for a failed tensor as for a number (rank 0, one element), so that code behind a failure runs on. */
#include "lib/tensor/value.h"

#include "lib/dispatch/fn.h"
#include "lib/dispatch/interpreter.h"
#include "lib/parallel/parallel.h"
#include "lib/primitives/apply.h"
#include "lib/primitives/create.h"
#include "lib/primitives/rows.h"
#include "lib/tensor/dtype.h"

#include <lamina/complex.h>
#include <lamina/ops.h>
#include <lamina/tensor.h>

#include <math.h>
#include <string.h>

/* ---- in ------------------------------------------------------------------------------------------------------ */

/* What is wrong with a type or with data from outside, before anything is allocated; *count gets the elements. */
static lam_status type_check(lam_ctx *ctx, const char *operation, lam_dtype dtype, lam_dims dims, const void *data,
                             int64_t *count) {
    *count = 0;
    if (!lam__dtype_valid((int)dtype))
        return lam__error_set(ctx, LAM_ERR_DTYPE, "give one of the names in lam_dtype", "%s: there is no dtype %d",
                              operation, (int)dtype);
    if (!lam__create_dims_valid(operation, ctx, dims) || !lam__create_countable(operation, ctx, dtype, dims))
        return lam__error_last(ctx);
    *count = lam__value_count(dims.rank, dims.dims, lam__dtype_bytes(dtype));
    if (!data && *count) return lam__error_set(ctx, LAM_ERR_NULL, NULL, "%s: data is NULL", operation);
    return LAM_OK;
}

/* For failures of memory: they name what is being applied. */
static const lam_primitive array = {.name = "lam_array"};

/* The elements are copied, so the caller's memory is free at once. */
lam_tensor *lam_array(lam_ctx *ctx, lam_dtype dtype, lam_dims dims, const void *data) {
    if (!ctx || ctx == &lam__context_failed) return &lam__context_failed.failed;
    int64_t count;
    if (type_check(ctx, array.name, dtype, dims, data, &count) != LAM_OK) return &ctx->failed;
    const lam_call_site call = {.ctx = ctx, .primitive = &array}, *caller = ctx->calling;
    ctx->calling = &call;
    lam_value *v = lam__value_new(ctx, dtype, dims.rank, dims.dims);
    ctx->calling = caller;
    if (v && count && dtype == LAM_BOOL) /* whatever the caller takes for true becomes 1 */
        lam__parallel_copy(lam__value_team(v), v->rank, v->dims, LAM_BOOL, v->data, v->strides, LAM_U8, data,
                           v->strides);
    else if (v && count) memcpy(v->data, data, (size_t)count * lam__dtype_bytes(dtype));
    return lam__scope_handle(ctx, v);
}

/* A number that a user makes is f64; lam_array makes one of another dtype. */
lam_tensor *lam_scalar(lam_ctx *ctx, double value) {
    return lam_array(ctx, LAM_F64, (lam_dims){0, NULL}, &value);
}

/* From here on the memory is given back exactly once: by the last value that shares it, or at once after a failure. A
 * value that cannot be made gives the buffer up itself (lam__value_wrap). */
lam_tensor *lam_borrow(lam_ctx *ctx, lam_dtype dtype, lam_dims dims, void *data, const lam_borrow_options *options) {
    static const lam_borrow_options none;
    const lam_borrow_options *o = options ? options : &none;
    if (!ctx || ctx == &lam__context_failed) {
        if (o->release) o->release(o->env, data);
        return &lam__context_failed.failed;
    }
    int64_t count;
    lam_status status = type_check(ctx, "lam_borrow", dtype, dims, data, &count);
    if (status == LAM_OK && o->strides.rank && (o->strides.rank != dims.rank || !o->strides.dims))
        status = lam__error_set(ctx, LAM_ERR_SHAPE, "give one stride for each axis, in elements",
                                "lam_borrow: %d strides for %d axes", o->strides.rank, dims.rank);
    lam__buffer *b = status == LAM_OK ? lam__alloc_get(&ctx->pool, sizeof *b) : NULL;
    if (!b) {
        if (status == LAM_OK) lam__error_memory(ctx, sizeof *b);
        if (o->release) o->release(o->env, data);
        return &ctx->failed;
    }
    *b = (lam__buffer){.refs = 1, .lump.data = data, .writable = o->writable, .release = o->release, .env = o->env};
    return lam__scope_handle(
        ctx, lam__value_wrap(ctx, dtype, dims.rank, dims.dims, o->strides.rank ? o->strides.dims : NULL, b));
}

lam_tensor *lam_scalar_complex(lam_ctx *ctx, double re, double im) {
    return lam_array(ctx, LAM_C128, (lam_dims){0, NULL}, &(lam_c128){re, im});
}

/* ---- out ----------------------------------------------------------------------------------------------------- */

/* NOTE [raw data]
 * A callback of a custom Function that takes the elements of a box to foreign code would lose the derivatives, or the
 * batch, that the box carries; results made of them would be wrong without a word. So whole arrays are not read there,
 * unless the level was made inside the callback or knows nothing of them (transparent); a single number is, as a
 * constant for C's own control flow. Serials of levels rise, so a level that was pushed before the callback began is
 * recognised by its number. */
static const char *raw_remedy(const lam_ctx *ctx, const lam_value *box) {
    const lam__frame *frame = ctx->frame;
    while (frame && !frame->raw_remedy) frame = frame->parent;
    return frame && lam__value_origin(box).serial <= frame->levels ? frame->raw_remedy : NULL;
}

/* `box` is the outermost that carries something; the remedy is that of the callback that runs. */
static void refuse_raw(const lam_call_site *call, const lam_value *box, const char *remedy) {
    lam__error_call(call, LAM_ERR_RULE, remedy,
                    "raw data of a box of level %llu (%s): what that level knows of it would be lost",
                    (unsigned long long)lam__value_origin(box).serial, lam__value_origin(box).interpreter->name);
}

/* What lies in a box, borrowed; NULL after recording why it is not to be seen. number: one element is wanted. */
static lam_value *look_into(const lam_call_site *call, lam_value *box, bool number) {
    const lam__interpreter *interpreter = lam__payload_of(box)->level->interpreter;
    lam_value *inner = interpreter->read ? interpreter->read(box) : NULL;
    const char *remedy = number || interpreter->transparent ? NULL : raw_remedy(call->ctx, box);
    if (inner && !remedy) return inner;
    if (inner) refuse_raw(call, box, remedy);
    else
        lam__error_call(call, interpreter->unreadable_status, remedy ? remedy : interpreter->unreadable_remedy, "%s",
                        interpreter->unreadable);
    return NULL;
}

/* The concrete value that t shows, borrowed; NULL after recording why there is none. Boxes are opened from the outside
 * in, each by its interpreter: a tape and a dual show their primal, a batch shows nothing, since it has one value per
 * example. Messages name the box that could not be opened, not the handle's own. */
static lam_value *shown(const char *operation, lam_tensor *t, bool number) {
    lam_value *v;
    lam_tensor *failed;
    lam_ctx *ctx = lam__scope_operands(operation, 1, &t, &v, &failed);
    if (!ctx) return NULL;
    lam_primitive row = {.name = operation};
    lam_call_site call = {.ctx = ctx, .primitive = &row, .inputs = 1, .in = &v};
    while (v->kind == LAM__BOX) {
        lam_value *inner = look_into(&call, v, number);
        if (!inner) return NULL;
        v = inner;
    }
    if (v->kind == LAM__CONCRETE) return v;
    if (v->kind == LAM__ENDED)
        lam__error_call(&call, LAM_ERR_ESCAPED, "return it as an output of the function instead of keeping it",
                        "operand 0 escaped: its level %llu (%s) has ended",
                        (unsigned long long)lam__value_origin(v).serial, lam__value_origin(v).interpreter->name);
    else lam__error_call(&call, LAM_ERR_ABSTRACT, NULL, "only the type of this tensor is known here");
    return NULL;
}

/* The same as a status: a failed tensor has that of the first failure, others that of what was wrong here. */
static lam_status look(const char *operation, lam_tensor *t, lam_value **v) {
    const lam_ctx *ctx = t ? t->ctx : &lam__context_failed;
    const lam__mark mark = lam__error_mark(ctx);
    *v = shown(operation, t, false);
    return *v ? LAM_OK : t ? lam__error_since_or(ctx, mark, ctx->error.status) : LAM_ERR_NULL;
}

/* Copies in the order of the axes, whatever the strides of the value are. */
lam_status lam_read(lam_tensor *t, void *dst, size_t bytes) {
    lam_value *v;
    const lam_status status = look("lam_read", t, &v);
    if (status != LAM_OK) return status;
    size_t want = (size_t)v->count * lam__dtype_bytes(v->dtype);
    if (bytes != want)
        return lam__error_set(t->ctx, LAM_ERR_VALUE, "give the bytes of all elements",
                              "lam_read: %zu bytes for a tensor of %zu", bytes, want);
    if (!dst && want) return lam__error_set(t->ctx, LAM_ERR_NULL, NULL, "lam_read: the destination is NULL");
    int64_t strides[LAM_INNER_RANK], step = 1;
    for (int i = v->rank - 1; i >= 0; i--) {
        strides[i] = step;
        step *= v->dims[i];
    }
    if (want)
        lam__parallel_copy(lam__value_team(v), v->rank, v->dims, (lam_dtype)v->dtype, dst, strides, (lam_dtype)v->dtype,
                           v->data, v->strides);
    return LAM_OK;
}

/* The strides are the caller's to choose: elements outside them are not touched. */
lam_status lam_read_strided(lam_tensor *t, void *dst, lam_dims strides) {
    lam_value *v;
    const lam_status status = look("lam_read_strided", t, &v);
    if (status != LAM_OK) return status;
    if (strides.rank != v->rank || (strides.rank && !strides.dims))
        return lam__error_set(t->ctx, LAM_ERR_SHAPE, "give one stride for each axis, in elements",
                              "lam_read_strided: %d strides for %d axes", strides.rank, v->rank);
    if (!dst && v->count)
        return lam__error_set(t->ctx, LAM_ERR_NULL, NULL, "lam_read_strided: the destination is NULL");
    if (v->count)
        lam__parallel_copy(lam__value_team(v), v->rank, v->dims, (lam_dtype)v->dtype, dst, strides.dims,
                           (lam_dtype)v->dtype, v->data, v->strides);
    return LAM_OK;
}

/* lam_item of a tensor of several elements, or of none. */
static void fail_many(const char *operation, lam_tensor *t, const lam_value *v) {
    lam__error_set(t->ctx, LAM_ERR_SHAPE, "use lam_read, or index first", "%s: the tensor has %lld elements, not one",
                   operation, (long long)v->count);
}

/* A failure gives NaN, which goes on through arithmetic in C as a failed tensor does through operations. */
double lam_item(lam_tensor *t) {
    lam_value *v = shown("lam_item", t, true);
    if (!v) return (double)NAN;
    if (v->count == 1 && !lam__dtype_is_complex(v->dtype)) return lam__dtype_load(v->dtype, v->data);
    if (v->count == 1)
        lam__error_set(t->ctx, LAM_ERR_DTYPE, "use lam_item_complex, or take lam_real of it",
                       "lam_item: the tensor is %s", lam_dtype_name((lam_dtype)v->dtype));
    else fail_many("lam_item", t, v);
    return (double)NAN;
}

/* Any dtype: a real number has an imaginary part of 0. */
lam_c128 lam_item_complex(lam_tensor *t) {
    lam_value *v = shown("lam_item_complex", t, true);
    if (v && v->count == 1) return lam__dtype_load_complex(v->dtype, v->data);
    if (v) fail_many("lam_item_complex", t, v);
    return (lam_c128){(double)NAN, (double)NAN};
}

/* Whether lam_data looks into a box, or says what is wrong with that. Elsewhere a box just has no memory. */
static bool has_say(const lam_ctx *ctx, const lam_value *box) {
    const lam__interpreter *interpreter = lam__payload_of(box)->level->interpreter;
    return interpreter->transparent || interpreter->unreadable_status == LAM_ERR_ABSTRACT || raw_remedy(ctx, box);
}

/* Only memory that is just the elements in their order is shown. A box has none; in a callback of a custom Function,
 * where looking for one is a mistake (NOTE [raw data]), and of what is being traced, so that who records f can call it
 * instead, that is recorded. */
const void *lam_data(const lam_tensor *t) {
    lam_value *v = lam__scope_peek(t);
    lam_primitive row = {.name = "lam_data"};
    while (v && v->kind == LAM__BOX) {
        const lam_call_site call = {.ctx = t->ctx, .primitive = &row, .inputs = 1, .in = &v};
        v = has_say(t->ctx, v) ? look_into(&call, v, false) : NULL;
    }
    return v && v->kind == LAM__CONCRETE && v->contiguous ? v->data : NULL;
}

/* ---- accessors ----------------------------------------------------------------------------------------------- */

/* The accessors look at the type that the handle shows at its level, which boxes have as concrete values do. */
int lam_rank(const lam_tensor *t) {
    const lam_value *v = lam__scope_peek(t);
    return v ? v->rank : 0;
}

/* -1 is no size, so a loop up to it does nothing. */
int64_t lam_dim(const lam_tensor *t, int axis) {
    const lam_value *v = lam__scope_peek(t);
    int rank = v ? v->rank : 0;
    return axis >= -rank && axis < rank ? v->dims[axis < 0 ? axis + rank : axis] : -1;
}

/* The dims are borrowed from the value: they go when the handle shows another one or is freed. */
lam_dims lam_dims_of(const lam_tensor *t) {
    const lam_value *v = lam__scope_peek(t);
    return v ? (lam_dims){v->rank, v->dims} : (lam_dims){0, NULL};
}

/* A failed tensor counts as a number. */
int64_t lam_size(const lam_tensor *t) {
    const lam_value *v = lam__scope_peek(t);
    return v ? v->count : 1;
}

lam_dtype lam_dtype_of(const lam_tensor *t) {
    const lam_value *v = lam__scope_peek(t);
    return v ? (lam_dtype)v->dtype : LAM_F64;
}

/* A freed handle still knows its context: its memory never becomes anything else. */
lam_ctx *lam_ctx_of(const lam_tensor *t) {
    return t ? t->ctx : &lam__context_failed;
}
