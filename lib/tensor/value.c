/* Values: see value.h. References are plain counters (a context has one thread at a time). A value is freed the moment
 * its last reference goes; what it holds is freed with it, without recursion where users decide the depth. Nearly every
 * value of a nest of transforms is made and freed here, so for each maker there is a way that takes a block from a free
 * list and fills it, and one that allocates, lays out any number of axes and records failures. A short way gives NULL
 * where it does not apply and never records. */
#include "lib/tensor/value.h"

#include "lib/base/inline.h"
#include "lib/dispatch/level.h"
#include "lib/parallel/parallel.h"
#include "lib/tensor/dtype.h"

#include <string.h>

/* ---- types -------------------------------------------------------------------------------------------- */

/* Bytes of a type have at most MOST_BITS bits, so that they are a size_t everywhere below. Counts of FEW_BITS are below
 * that whatever the dtype, and products of two of them do not overflow. */
enum {
    MOST_BITS = sizeof(size_t) < sizeof(int64_t) ? 30 : 62,
    FEW_BITS = sizeof(size_t) < sizeof(int64_t) ? 26 : 31,
};

/* Elements of large dims, with a division for each, or -1. A dim of 0 makes the count 0 but does not excuse the others:
 * dims whose product overflows would make strides that do. */
LAM__APART static int64_t count_large(int rank, const int64_t *dims, size_t item) {
    int64_t count = 1, limit = ((int64_t)1 << MOST_BITS) / (int64_t)item;
    bool empty = false;
    for (int i = 0; i < rank; i++) {
        if (dims[i] == 0) empty = true;
        else if (count > limit / dims[i]) return -1;
        else count *= dims[i];
    }
    return empty ? 0 : count;
}

/* Small numbers are multiplied without a division, which every value would pay. A dim of 0 counts as 1 until the end,
 * so that the others are looked at as well. */
int64_t lam__value_count(int rank, const int64_t *dims, size_t item) {
    uint64_t count = 1;
    bool empty = false;
    for (int i = 0; i < rank; i++) {
        const uint64_t size = (uint64_t)dims[i];
        empty = empty || size == 0;
        if ((count | size) >> FEW_BITS) return count_large(rank, dims, item);
        count *= size ? size : 1;
    }
    return count >> FEW_BITS ? count_large(rank, dims, item) : empty ? 0 : (int64_t)count;
}

/* ---- making ------------------------------------------------------------------------------------------- */

/* The block of dims and strides that a value of more than LAM__INLINE_AXES axes has beside it. */
static size_t axes_bytes(int rank) {
    return 2 * (size_t)rank * sizeof(int64_t);
}

/* Bytes of the block that a value lies in; NOTE [two sizes]. A value that broadcasts what lies in another one's block
 * has more elements than bytes, and its size by that rule is right too. */
static size_t block_of(const lam_value *v) {
    bool inside = v->kind == LAM__CONCRETE && !lam__full(v)->as.concrete.buffer;
    return inside && (size_t)v->count * lam__dtype_bytes(v->dtype) > LAM__WORD ? LAM__VALUE_WIDE : LAM__VALUE_NARROW;
}

/* Said before anything is allocated; the dims in the message are those that the maker was asked for. */
static lam__value *fail_overflow(lam_ctx *ctx, lam_dtype dtype, int rank, const int64_t *dims) {
    char text[512];
    lam__text type = {text, sizeof text, 0};
    lam__error_append_type(&type, dtype, rank, dims);
    lam__error_set(ctx, LAM_ERR_OVERFLOW, "split the work", "the size of %s overflows", text);
    return NULL;
}

/* Sets dims and strides and finds out whether v is contiguous. The stride of an axis of one element does not matter,
 * nor does any where there are no elements. dims and strides may be those of v itself (lam__value_reorder): each entry
 * is read before it is written. */
static void set_axes(lam__value *v, int64_t *axes, int64_t *own, const int64_t *dims, const int64_t *strides) {
    int64_t row_major = 1;
    for (int i = v->head.rank - 1; i >= 0; i--) {
        axes[i] = dims[i];
        own[i] = strides ? strides[i] : row_major;
        if (own[i] != row_major && dims[i] != 1 && v->head.count) v->head.contiguous = false;
        row_major *= dims[i];
    }
    v->head.dims = axes;
    v->head.strides = own;
}

/* Strides are made of the dims alone, so v must be new: what lies in its memory is not moved. */
void lam__value_reorder(lam_value *v, const int order[]) {
    int64_t strides[LAM_INNER_RANK], step = 1;
    for (int i = v->rank - 1; i >= 0; i--) {
        strides[order[i]] = step;
        step *= v->dims[order[i]];
    }
    set_axes(lam__full(v), (int64_t *)(uintptr_t)v->dims, (int64_t *)(uintptr_t)v->strides, v->dims, strides);
}

/* A concrete value of `count` elements, by lam__value_count, in a block of `bytes`, with its head set; the caller sets
 * data. Strides are row-major where `strides` is NULL. */
static lam__value *value_make(lam_ctx *ctx, size_t bytes, lam_dtype dtype, int64_t count, int rank, const int64_t *dims,
                              const int64_t *strides) {
    if (count < 0) return fail_overflow(ctx, dtype, rank, dims);
    lam__value *v = lam__alloc_get(&ctx->pool, bytes);
    int64_t *axes = v ? v->axes : NULL;
    if (v && rank > LAM__INLINE_AXES && !(axes = lam__alloc_get(&ctx->pool, axes_bytes(rank)))) {
        lam__alloc_put(&ctx->pool, v, bytes);
        v = NULL;
    }
    if (!v) {
        lam__error_memory(ctx, bytes);
        return NULL;
    }
    v->ctx = ctx;
    v->head = (lam_value){.kind = LAM__CONCRETE,
                          .dtype = (uint8_t)dtype,
                          .rank = (uint8_t)rank,
                          .refs = 1,
                          .count = count,
                          .contiguous = true};
    set_axes(v, axes, rank > LAM__INLINE_AXES ? axes + rank : v->as.concrete.strides, dims, strides);
    v->as.concrete.buffer = NULL;
    return v;
}

/* The same without elements, and so without strides; the caller sets the payload. */
static lam__value *value_without_data(lam_ctx *ctx, enum lam__kind kind, lam_dtype dtype, int rank,
                                      const int64_t *dims) {
    int64_t count = lam__value_count(rank, dims, lam__dtype_bytes(dtype));
    lam__value *v = value_make(ctx, LAM__VALUE_NARROW, dtype, count, rank, dims, NULL);
    if (!v) return NULL;
    v->head.kind = (uint8_t)kind;
    v->head.strides = NULL;
    v->head.data = NULL;
    return v;
}

/* The short way of both: few axes of fewer than 2^FEW_BITS elements, all in the value, and a block at hand. NULL, with
 * nothing recorded, where it is not so. */
static inline lam__value *value_few(lam_ctx *ctx, enum lam__kind kind, lam_dtype dtype, int rank, const int64_t *dims) {
    uint64_t count = 1;
    for (int i = 0; i < rank; i++) {
        count *= (uint64_t)dims[i];
        if (i == LAM__INLINE_AXES || (count | (uint64_t)dims[i]) >> FEW_BITS) return NULL;
    }
    const size_t bytes = kind == LAM__CONCRETE ? (size_t)count * lam__dtype_bytes(dtype) : 0;
    if (bytes > LAM__INLINE_BYTES) return NULL;
    lam__value *v = lam__alloc_try(&ctx->pool, bytes > LAM__WORD ? LAM__VALUE_WIDE : LAM__VALUE_NARROW);
    if (!v) return NULL;
    const uint8_t lead[4] = {(uint8_t)kind, (uint8_t)dtype, (uint8_t)rank, true};
    memcpy(&v->head, lead, sizeof lead);
    v->head.refs = 1;
    v->head.count = (int64_t)count;
    v->head.dims = v->axes;
    v->ctx = ctx;
    int64_t step = 1;
    for (int i = rank - 1; i >= 0; i--) {
        v->axes[i] = dims[i];
        if (kind == LAM__CONCRETE) v->as.concrete.strides[i] = step;
        step *= dims[i];
    }
    return v;
}

/* Gives back the blocks of a value whose buffer or payload has been released. `bytes` is the size of the value's own
 * block. */
static void value_discard(lam__value *v, size_t bytes) {
    lam_ctx *ctx = v->ctx;
    if (v->head.rank > LAM__INLINE_AXES)
        lam__alloc_put(&ctx->pool, (void *)(uintptr_t)v->head.dims, axes_bytes(v->head.rank));
    lam__alloc_put(&ctx->pool, v, bytes);
}

/* ---- buffers ------------------------------------------------------------------------------------------ */

/* Small data lie in one block with their buffer, a step behind it, which saves an allocation; the buffer's size tells
 * later whether it is so. A plain pool shows each block to the allocator, so that a write beyond the data is seen. */
static bool together(const lam__pool *pool, size_t bytes) {
    return bytes + LAM__ALLOC_STEP <= LAM__ALLOC_SMALL && !pool->plain;
}

/* Makes the data of a buffer, which are ours, what v shows. */
static inline void own_buffer(lam__value *v, lam__buffer *b, size_t bytes) {
    b->refs = 1;
    b->writable = b->ours = true;
    b->bytes = bytes;
    b->release = NULL;
    v->as.concrete.buffer = b;
    v->head.data = b->lump.data;
}

/* A buffer with its data, nothing else of it set; NULL without memory, which is not recorded. */
static lam__buffer *buffer_new(lam__pool *pool, size_t bytes) {
    const bool one = together(pool, bytes);
    if (!one && bytes > LAM__ALLOC_SMALL) return (lam__buffer *)lam__alloc_lump(pool, bytes);
    lam__buffer *b = lam__alloc_get(pool, one ? LAM__ALLOC_STEP + bytes : LAM__ALLOC_STEP);
    if (!b) return NULL;
    b->lump.data = one ? (char *)b + LAM__ALLOC_STEP : lam__alloc_get(pool, bytes);
    if (b->lump.data) return b;
    lam__alloc_put(pool, b, LAM__ALLOC_STEP);
    return NULL;
}

/* Gives v a buffer of its own; false without memory, which is not recorded. */
static inline bool give_buffer(lam__value *v, size_t bytes) {
    lam__buffer *b = buffer_new(&v->ctx->pool, bytes);
    if (b) own_buffer(v, b, bytes);
    return b != NULL;
}

/* Memory that was lent, and our own of the few sizes that are neither small with their buffer nor a lump. */
LAM__APART static void buffer_end(lam_ctx *ctx, lam__buffer *b) {
    if (!b->ours && b->release) b->release(b->env, b->lump.data);
    if (b->ours) lam__alloc_put(&ctx->pool, b->lump.data, b->bytes);
    lam__alloc_put(&ctx->pool, b, sizeof *b);
}

/* The last value that shares the memory is gone. Borrowed memory goes back to its owner by the owner's function. */
static inline void buffer_release(lam_ctx *ctx, lam__buffer *b) {
    if (!b || --b->refs) return;
    if (b->ours && together(&ctx->pool, b->bytes)) lam__alloc_put(&ctx->pool, b, LAM__ALLOC_STEP + b->bytes);
    else if (b->ours && b->bytes > LAM__ALLOC_SMALL) lam__alloc_lump_put(&ctx->pool, &b->lump, b->bytes);
    else buffer_end(ctx, b);
}

/* Any rank and size. Elements lie in the value up to LAM__INLINE_BYTES, beyond that in a buffer. */
LAM__APART static lam_value *new_any(lam_ctx *ctx, lam_dtype dtype, int rank, const int64_t *dims) {
    int64_t count = lam__value_count(rank, dims, lam__dtype_bytes(dtype));
    size_t bytes = count < 0 ? 0 : (size_t)count * lam__dtype_bytes(dtype);
    bool wide = bytes > LAM__WORD && bytes <= LAM__INLINE_BYTES;
    lam__value *v = value_make(ctx, wide ? LAM__VALUE_WIDE : LAM__VALUE_NARROW, dtype, count, rank, dims, NULL);
    if (!v) return NULL;
    v->head.data = v->as.concrete.small;
    if (bytes <= LAM__INLINE_BYTES || give_buffer(v, bytes)) return &v->head;
    value_discard(v, LAM__VALUE_NARROW);
    lam__error_memory(ctx, bytes);
    return NULL;
}

/* The short way: few axes and few elements, one block. */
lam_value *lam__value_new(lam_ctx *ctx, lam_dtype dtype, int rank, const int64_t *dims) {
    lam__value *v = value_few(ctx, LAM__CONCRETE, dtype, rank, dims);
    if (!v) return new_any(ctx, dtype, rank, dims);
    v->head.strides = v->as.concrete.strides;
    v->head.data = v->as.concrete.small;
    v->as.concrete.buffer = NULL;
    return &v->head;
}

/* What lam__value_like falls back to; x has up to LAM__INLINE_AXES axes. */
LAM__APART static lam_value *like_any(const lam_value *x, lam_dtype dtype, size_t bytes) {
    lam_ctx *ctx = lam__full(x)->ctx;
    size_t block = bytes > LAM__WORD && bytes <= LAM__INLINE_BYTES ? LAM__VALUE_WIDE : LAM__VALUE_NARROW;
    lam__value *v = lam__alloc_get(&ctx->pool, block);
    if (!v) return NULL;
    lam__value_copy_head(v, x, dtype);
    v->as.concrete.buffer = NULL;
    v->head.data = v->as.concrete.small;
    if (bytes <= LAM__INLINE_BYTES || give_buffer(v, bytes)) return &v->head;
    lam__alloc_put(&ctx->pool, v, block);
    return NULL;
}

/* What lies in the value; NULL without a block at hand. */
static inline lam_value *like_inside(const lam_value *x, lam_dtype dtype, size_t bytes) {
    lam__pool *pool = &lam__full(x)->ctx->pool;
    lam__value *v = lam__alloc_try(pool, bytes > LAM__WORD ? LAM__VALUE_WIDE : LAM__VALUE_NARROW);
    if (!v) return NULL;
    lam__value_copy_head(v, x, dtype);
    v->as.concrete.buffer = NULL;
    v->head.data = v->as.concrete.small;
    return &v->head;
}

/* A buffer that waits for reuse, with its data; NULL without one. */
static inline lam__buffer *buffer_again(lam__pool *pool, size_t bytes) {
    const size_t block = LAM__ALLOC_STEP + bytes;
    lam__buffer *b;
    if (bytes > LAM__ALLOC_SMALL) return (lam__buffer *)lam__alloc_lump_try(pool, bytes);
    b = block <= LAM__ALLOC_SMALL ? lam__alloc_try(pool, block) : NULL;
    if (b) b->lump.data = (char *)b + LAM__ALLOC_STEP;
    return b;
}

/* Arrays have the value and the buffer from free lists, mostly; a plain pool has none. */
lam_value *lam__value_like(const lam_value *x, lam_dtype dtype) {
    size_t bytes = (size_t)x->count * lam__dtype_bytes(dtype);
    lam__pool *pool = &lam__full(x)->ctx->pool;
    lam_value *inside = bytes <= LAM__INLINE_BYTES ? like_inside(x, dtype, bytes) : NULL;
    if (inside) return inside;
    lam__value *v = bytes > LAM__INLINE_BYTES ? lam__alloc_try(pool, LAM__VALUE_NARROW) : NULL;
    lam__buffer *b = v ? buffer_again(pool, bytes) : NULL;
    if (v && !b) lam__alloc_put(pool, v, LAM__VALUE_NARROW);
    if (!b) return like_any(x, dtype, bytes);
    lam__value_copy_head(v, x, dtype);
    own_buffer(v, b, bytes);
    return &v->head;
}

/* What a tape or program keeps of a value whose elements no rule reads: a few words, whatever the size of the tensor
 * was. */
lam_value *lam__value_abstract(lam_ctx *ctx, lam_dtype dtype, int rank, const int64_t *dims) {
    lam__value *v = value_few(ctx, LAM__ABSTRACT, dtype, rank, dims);
    if (!v) v = value_without_data(ctx, LAM__ABSTRACT, dtype, rank, dims);
    if (!v) return NULL;
    v->head.strides = NULL;
    v->head.data = NULL;
    return &v->head;
}

/* Where the value cannot be made, the buffer's reference is given up, and with the last one borrowed memory. */
lam_value *lam__value_wrap(lam_ctx *ctx, lam_dtype dtype, int rank, const int64_t *dims, const int64_t *strides,
                           lam__buffer *buffer) {
    int64_t count = lam__value_count(rank, dims, lam__dtype_bytes(dtype));
    lam__value *v = value_make(ctx, LAM__VALUE_NARROW, dtype, count, rank, dims, strides);
    if (!v) {
        buffer_release(ctx, buffer);
        return NULL;
    }
    v->as.concrete.buffer = buffer;
    v->head.data = buffer->lump.data;
    return &v->head;
}

/* Data inside the value cannot be shared: a view of a small value copies what little there is. */
static lam_value *view_of_small(lam_value *x, int rank, const int64_t *dims, const int64_t *strides,
                                const char *first) {
    lam_ctx *ctx = lam__full(x)->ctx;
    int64_t count = lam__value_count(rank, dims, lam__dtype_bytes(x->dtype));
    bool fits = count >= 0 && (size_t)count * lam__dtype_bytes(x->dtype) <= LAM__INLINE_BYTES;
    lam__value *v = fits ? NULL : value_make(ctx, LAM__VALUE_WIDE, x->dtype, count, rank, dims, strides);
    if (fits) { /* also keeps small things contiguous */
        lam_value *copy = lam__value_new(ctx, x->dtype, rank, dims);
        int64_t row_major[LAM_INNER_RANK];
        for (int i = 0; copy && i < rank; i++) row_major[i] = copy->strides[i];
        if (copy && count) lam__kernels_copy(rank, dims, x->dtype, copy->data, row_major, x->dtype, first, strides);
        return copy;
    }
    if (!v) return NULL;
    /* A broadcast of a small value: the elements move to the view's own inline space, at the same offsets. */
    size_t own = block_of(x) == LAM__VALUE_WIDE ? LAM__INLINE_BYTES : LAM__WORD;
    memcpy(v->as.concrete.small, lam__full(x)->as.concrete.small, own);
    v->head.data = (char *)v->as.concrete.small + (first - (const char *)lam__full(x)->as.concrete.small);
    return &v->head;
}

/* Moves `data` to the first element of the view; it stays within the buffer, whose `data` is what is freed. No copy but
 * for elements that lie in the value itself. */
lam_value *lam__value_view(lam_value *x, int rank, const int64_t *dims, const int64_t *strides, int64_t offset) {
    const char *first = (const char *)x->data + offset * (int64_t)lam__dtype_bytes(x->dtype);
    lam__buffer *buffer = lam__full(x)->as.concrete.buffer;
    if (!buffer) return view_of_small(x, rank, dims, strides, first);
    buffer->refs++;
    lam_value *v = lam__value_wrap(lam__full(x)->ctx, x->dtype, rank, dims, strides, buffer);
    if (v) v->data = (char *)buffer->lump.data + (first - (const char *)buffer->lump.data);
    return v;
}

/* The number is rounded to the dtype; one that counts exactly goes through lam__value_integer. */
lam_value *lam__value_scalar(lam_ctx *ctx, lam_dtype dtype, double value) {
    lam_value *v = lam__value_new(ctx, dtype, 0, NULL);
    if (v) lam__dtype_store(dtype, v->data, value);
    return v;
}

/* The element is made once in its dtype and written as bytes, whichever that is. */
lam_value *lam__value_zeros(lam_ctx *ctx, lam_dtype dtype, int rank, const int64_t *dims) {
    lam_value *v = lam__value_new(ctx, dtype, rank, dims);
    char element[16]; /* of any dtype */
    lam__dtype_store(dtype, element, 0);
    if (v) lam__parallel_fill(ctx->team, dtype, v->data, v->count, element);
    return v;
}

lam_value *lam__value_integer(lam_ctx *ctx, lam_dtype dtype, int64_t value) {
    lam_value *v = lam__value_new(ctx, dtype, 0, NULL);
    if (v) lam__kernels_copy(0, NULL, dtype, v->data, NULL, LAM_I64, &value, NULL);
    return v;
}

/* The copy is dense and row-major; x stays as it is, since others may see it. */
lam_value *lam__value_contiguous(lam_value *x) {
    if (x->contiguous) return lam__value_hold(x);
    lam_value *copy = lam__value_new(lam__full(x)->ctx, (lam_dtype)x->dtype, x->rank, x->dims);
    if (copy)
        lam__parallel_copy(lam__value_team(x), x->rank, x->dims, x->dtype, copy->data, copy->strides, x->dtype, x->data,
                           x->strides);
    return copy;
}

/* ---- boxes ---------------------------------------------------------------------------------------------- */

/* The way for any rank. With no memory `inner` is released, so that a caller that made it for this box has nothing to
 * do. */
lam_value *lam__value_box(lam__level *level, lam_dtype dtype, int rank, const int64_t *dims, lam_value *inner) {
    lam__value *v = value_without_data(level->ctx, LAM__BOX, dtype, rank, dims);
    if (v) return lam__level_link(level, v, inner, NULL, 0);
    lam__value_release(inner);
    return NULL;
}

/* Takes v out of its level's list of boxes and releases what it holds: `extra` by the interpreter, `inner` here. */
static inline void box_empty(lam_value *v) {
    lam__payload *p = lam__payload_of(v);
    if (p->next) lam__payload_of(p->next)->prev = p->prev;
    if (p->prev) lam__payload_of(p->prev)->next = p->next;
    else p->level->boxes = p->next;
    if (p->level->interpreter->drop) p->level->interpreter->drop(v);
    lam__value_release(p->inner);
}

/* Called for each box that is alive when its level is popped. What it holds goes now: a box that somebody keeps would
 * otherwise keep a whole tape alive. Handles to it find an ended box and can say where it came from. */
void lam__value_end(lam_value *v) {
    lam__origin origin = lam__value_origin(v);
    box_empty(v);
    v->kind = LAM__ENDED;
    lam__full(v)->as.ended = (lam__ended){NULL, origin};
}

/* `level` stands at one place in the payloads of boxes and ended boxes, so it may be read before the kind is known. */
lam__origin lam__value_origin(const lam_value *v) {
    const lam__level *level = lam__payload_of(v)->level;
    return v->kind == LAM__ENDED ? lam__full(v)->as.ended.origin : (lam__origin){level->serial, level->interpreter};
}

/* ---- ending ---------------------------------------------------------------------------------------------- */

/* The outermost caller frees one after the other; what these release comes to the list in place of the C stack. Chains
 * of a million nodes take no more stack than one. */
void lam__value_defer(lam_ctx *ctx, lam__deferred *d) {
    d->next = ctx->deferred;
    ctx->deferred = d;
    if (ctx->draining) return;
    ctx->draining = true;
    while ((d = ctx->deferred)) {
        ctx->deferred = d->next;
        d->free(ctx, d);
    }
    ctx->draining = false;
}

/* Values of many axes, and those without a way of their own below. */
LAM__APART static void free_any(lam_value *v) {
    lam__value *full = lam__full(v);
    size_t bytes = block_of(v);
    if (v->kind == LAM__BOX) box_empty(v);
    else if (v->kind == LAM__CONCRETE) buffer_release(full->ctx, full->as.concrete.buffer);
    value_discard(full, bytes);
}

/* The common end of a box: few axes, so one block. free_buffered below is that of a large tensor. */
LAM__APART static void free_box(lam_value *v) {
    lam_ctx *ctx = lam__full(v)->ctx;
    box_empty(v);
    lam__alloc_put(&ctx->pool, v, LAM__VALUE_NARROW);
}

LAM__APART static void free_buffered(lam_value *v) {
    lam_ctx *ctx = lam__full(v)->ctx;
    buffer_release(ctx, lam__full(v)->as.concrete.buffer);
    lam__alloc_put(&ctx->pool, v, LAM__VALUE_NARROW);
}

/* Most values are small and concrete and hold nothing: for these it is one block back to its free list. */
void lam__value_free(lam_value *v) {
    lam__value *full = lam__full(v);
    bool concrete = v->kind == LAM__CONCRETE;
    if (v->rank > LAM__INLINE_AXES || (!concrete && v->kind != LAM__BOX)) free_any(v);
    else if (!concrete) free_box(v);
    else if (full->as.concrete.buffer) free_buffered(v);
    else lam__alloc_put(&full->ctx->pool, v, block_of(v)); /* most are like this */
}

const lam_value *lam__value_seen(const lam_value *v) {
    while (v && v->kind == LAM__BOX) v = lam__payload_of(v)->inner;
    return v && v->kind == LAM__CONCRETE ? v : NULL;
}

/* Looks through boxes: what is zero below is zero at each level. Elements are compared one by one, NaN is not zero;
 * this is for the few constants of a program, not for large tensors in a loop. */
bool lam__value_is_zero(const lam_value *v) {
    v = lam__value_seen(v);
    if (!v) return false;
    const int64_t *dims = v->dims, *strides = v->strides;
    size_t item = lam__dtype_bytes(v->dtype);
    int64_t index[LAM_INNER_RANK] = {0};
    for (int64_t n = 0; n < v->count; n++) {
        int64_t at = 0;
        for (int i = 0; i < v->rank; i++) at += index[i] * strides[i];
        lam_c128 element = lam__dtype_load_complex(v->dtype, (const char *)v->data + at * (int64_t)item);
        if (element.re != 0 || element.im != 0) return false;
        for (int i = v->rank - 1; i >= 0 && ++index[i] == dims[i]; i--) index[i] = 0;
    }
    return true;
}
