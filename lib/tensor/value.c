/* Values: see value.h. References are plain counters (a context has one thread at a time). A value is freed the
 * moment its last reference goes; what it holds is freed with it, without recursion where users decide the depth. */
#include "lib/tensor/value.h"

#include "lib/dispatch/interpreter.h"
#include "lib/kernels/kernels.h"
#include "lib/tensor/dtype.h"

#include <string.h>

/* ---- types -------------------------------------------------------------------------------------------- */

int64_t lam__value_count(int rank, const int64_t *dims, size_t item) {
    int64_t count = 1, limit = ((int64_t)1 << 62) / (int64_t)item;
    bool empty = false;
    for (int i = 0; i < rank; i++) {
        if (dims[i] == 0) empty = true;
        else if (count > limit / dims[i]) return -1;
        else count *= dims[i];
    }
    return empty ? 0 : count;
}

/* ---- making ------------------------------------------------------------------------------------------- */

static size_t axes_bytes(int rank) {
    return 2 * (size_t)rank * sizeof(int64_t);
}

static size_t bytes_of(enum lam__kind kind) {
    size_t head = offsetof(lam__value, as);
    if (kind == LAM__CONCRETE) return sizeof(lam__value);
    return kind == LAM__ABSTRACT ? head : head + sizeof(lam__payload);
}

/* A value with its head set; the caller sets data. Strides are row-major where `strides` is NULL. */
static lam__value *value_make(lam_ctx *ctx, enum lam__kind kind, lam_dtype dtype, int rank, const int64_t *dims,
                              const int64_t *strides) {
    int64_t count = lam__value_count(rank, dims, lam__dtype_bytes(dtype));
    if (count < 0) {
        char text[512];
        lam__text type = {text, sizeof text, 0};
        lam__error_append_type(&type, dtype, rank, dims);
        lam__error_set(ctx, LAM_ERR_OVERFLOW, "split the work", "the size of %s overflows", text);
        return NULL;
    }
    lam__value *v = lam__alloc_get(&ctx->pool, bytes_of(kind));
    int64_t *axes = v ? v->axes : NULL;
    if (v && rank > LAM__INLINE_AXES && !(axes = lam__alloc_get(&ctx->pool, axes_bytes(rank)))) {
        lam__alloc_put(&ctx->pool, v, bytes_of(kind));
        v = NULL;
    }
    if (!v) {
        lam__error_memory(ctx, bytes_of(kind));
        return NULL;
    }
    v->ctx = ctx;
    int64_t row_major = 1, *own = axes + rank;
    bool contiguous = true;
    for (int i = rank - 1; i >= 0; i--) {
        axes[i] = dims[i];
        own[i] = strides ? strides[i] : row_major;
        if (own[i] != row_major && dims[i] != 1) contiguous = false;
        row_major *= dims[i];
    }
    v->head = (lam_value){.kind = (uint8_t)kind,
                          .dtype = (uint8_t)dtype,
                          .rank = (uint8_t)rank,
                          .refs = 1,
                          .count = count,
                          .contiguous = contiguous || count == 0,
                          .dims = axes,
                          .strides = own};
    return v;
}

static void value_discard(lam__value *v) {
    lam_ctx *ctx = v->ctx;
    if (v->head.rank > LAM__INLINE_AXES)
        lam__alloc_put(&ctx->pool, (void *)(uintptr_t)v->head.dims, axes_bytes(v->head.rank));
    lam__alloc_put(&ctx->pool, v, bytes_of(v->head.kind == LAM__ENDED ? LAM__BOX : (enum lam__kind)v->head.kind));
}

static lam__buffer *buffer_new(lam_ctx *ctx, size_t bytes) {
    lam__buffer *b = lam__alloc_get(&ctx->pool, sizeof *b);
    void *data = b ? lam__alloc_get(&ctx->pool, bytes) : NULL;
    if (data) {
        *b = (lam__buffer){.refs = 1, .writable = true, .data = data, .bytes = bytes, .ours = true};
        return b;
    }
    if (b) lam__alloc_put(&ctx->pool, b, sizeof *b);
    lam__error_memory(ctx, bytes);
    return NULL;
}

static void buffer_release(lam_ctx *ctx, lam__buffer *b) {
    if (!b || --b->refs) return;
    if (b->ours) lam__alloc_put(&ctx->pool, b->data, b->bytes);
    else if (b->release) b->release(b->env, b->data);
    lam__alloc_put(&ctx->pool, b, sizeof *b);
}

lam_value *lam__value_new(lam_ctx *ctx, lam_dtype dtype, int rank, const int64_t *dims) {
    lam__value *v = value_make(ctx, LAM__CONCRETE, dtype, rank, dims, NULL);
    if (!v) return NULL;
    size_t bytes = (size_t)v->head.count * lam__dtype_bytes(dtype);
    v->as.concrete.buffer = NULL;
    v->head.data = v->as.concrete.small;
    if (bytes <= LAM__INLINE_BYTES) return &v->head;
    if (!(v->as.concrete.buffer = buffer_new(ctx, bytes))) {
        value_discard(v);
        return NULL;
    }
    v->head.data = v->as.concrete.buffer->data;
    return &v->head;
}

lam_value *lam__value_like(const lam_value *x, lam_dtype dtype) {
    lam_ctx *ctx = lam__full(x)->ctx;
    size_t bytes = (size_t)x->count * lam__dtype_bytes(dtype);
    lam__value *v = lam__alloc_get(&ctx->pool, sizeof *v);
    if (!v) return NULL;
    v->head = *x;
    v->head.refs = 1;
    v->head.dtype = (uint8_t)dtype;
    v->head.dims = v->axes;
    v->head.strides = v->axes + x->rank;
    v->ctx = ctx;
    memcpy(v->axes, lam__full(x)->axes, sizeof v->axes);
    v->as.concrete.buffer = NULL;
    v->head.data = v->as.concrete.small;
    if (bytes <= LAM__INLINE_BYTES) return &v->head;
    lam__buffer *b = lam__alloc_get(&ctx->pool, sizeof *b);
    void *data = b ? lam__alloc_get(&ctx->pool, bytes) : NULL;
    if (!data) {
        if (b) lam__alloc_put(&ctx->pool, b, sizeof *b);
        lam__alloc_put(&ctx->pool, v, sizeof *v);
        return NULL;
    }
    *b = (lam__buffer){.refs = 1, .writable = true, .data = data, .bytes = bytes, .ours = true};
    v->as.concrete.buffer = b;
    v->head.data = data;
    return &v->head;
}

lam_value *lam__value_abstract(lam_ctx *ctx, lam_dtype dtype, int rank, const int64_t *dims) {
    lam__value *v = value_make(ctx, LAM__ABSTRACT, dtype, rank, dims, NULL);
    return v ? &v->head : NULL;
}

lam_value *lam__value_wrap(lam_ctx *ctx, lam_dtype dtype, int rank, const int64_t *dims, const int64_t *strides,
                           lam__buffer *buffer) {
    lam__value *v = value_make(ctx, LAM__CONCRETE, dtype, rank, dims, strides);
    if (!v) {
        buffer_release(ctx, buffer);
        return NULL;
    }
    v->as.concrete.buffer = buffer;
    v->head.data = buffer->data;
    return &v->head;
}

/* Data inside the value cannot be shared: a view of a small value copies what little there is. */
static lam_value *view_of_small(lam_value *x, int rank, const int64_t *dims, const int64_t *strides,
                                const char *first) {
    lam_ctx *ctx = lam__full(x)->ctx;
    int64_t count = lam__value_count(rank, dims, lam__dtype_bytes(x->dtype));
    bool fits = count >= 0 && (size_t)count * lam__dtype_bytes(x->dtype) <= LAM__INLINE_BYTES;
    lam__value *v = fits ? NULL : value_make(ctx, LAM__CONCRETE, x->dtype, rank, dims, strides);
    if (fits) { /* also keeps small things contiguous */
        lam_value *copy = lam__value_new(ctx, x->dtype, rank, dims);
        int64_t row_major[LAM_INNER_RANK];
        for (int i = 0; copy && i < rank; i++) row_major[i] = copy->strides[i];
        if (copy && count) lam__kernels_copy(rank, dims, x->dtype, copy->data, row_major, x->dtype, first, strides);
        return copy;
    }
    if (!v) return NULL;
    /* A broadcast of a small value: the elements move to the view's own inline space, at the same offsets. */
    memcpy(v->as.concrete.small, lam__full(x)->as.concrete.small, LAM__INLINE_BYTES);
    v->as.concrete.buffer = NULL;
    v->head.data = (char *)v->as.concrete.small + (first - (const char *)lam__full(x)->as.concrete.small);
    return &v->head;
}

lam_value *lam__value_view(lam_value *x, int rank, const int64_t *dims, const int64_t *strides, int64_t offset) {
    const char *first = (const char *)x->data + offset * (int64_t)lam__dtype_bytes(x->dtype);
    lam__buffer *buffer = lam__full(x)->as.concrete.buffer;
    if (!buffer) return view_of_small(x, rank, dims, strides, first);
    buffer->refs++;
    lam_value *v = lam__value_wrap(lam__full(x)->ctx, x->dtype, rank, dims, strides, buffer);
    if (v) v->data = (char *)buffer->data + (first - (const char *)buffer->data);
    return v;
}

lam_value *lam__value_scalar(lam_ctx *ctx, lam_dtype dtype, double value) {
    lam_value *v = lam__value_new(ctx, dtype, 0, NULL);
    if (v) lam__dtype_store(dtype, v->data, value);
    return v;
}

lam_value *lam__value_filled(lam_ctx *ctx, lam_dtype dtype, int rank, const int64_t *dims, double value) {
    lam_value *v = lam__value_new(ctx, dtype, rank, dims);
    char element[8];
    lam__dtype_store(dtype, element, value);
    if (v) lam__kernels_fill(dtype, v->data, v->count, element);
    return v;
}

lam_value *lam__value_integer(lam_ctx *ctx, lam_dtype dtype, int64_t value) {
    lam_value *v = lam__value_new(ctx, dtype, 0, NULL);
    if (v) lam__kernels_copy(0, NULL, dtype, v->data, NULL, LAM_I64, &value, NULL);
    return v;
}

lam_value *lam__value_contiguous(lam_value *x) {
    if (x->contiguous) return lam__value_hold(x);
    lam_value *copy = lam__value_new(lam__full(x)->ctx, (lam_dtype)x->dtype, x->rank, x->dims);
    if (copy) lam__kernels_copy(x->rank, x->dims, x->dtype, copy->data, copy->strides, x->dtype, x->data, x->strides);
    return copy;
}

/* ---- boxes ---------------------------------------------------------------------------------------------- */

/* A box of few axes around elements of at least as many as its own: counting them cannot overflow. Nothing reads the
 * strides of a box. */
static lam__value *box_around(lam_ctx *ctx, lam_dtype dtype, int rank, const int64_t *dims) {
    lam__value *v = lam__alloc_get(&ctx->pool, bytes_of(LAM__BOX));
    if (!v) return NULL;
    int64_t count = 1;
    for (int i = 0; i < rank; i++) {
        v->axes[i] = dims[i];
        count *= dims[i];
    }
    v->head = (lam_value){.kind = LAM__BOX,
                          .dtype = (uint8_t)dtype,
                          .rank = (uint8_t)rank,
                          .contiguous = true,
                          .refs = 1,
                          .count = count,
                          .dims = v->axes};
    v->ctx = ctx;
    return v;
}

lam_value *lam__value_box(lam__level *level, lam_dtype dtype, int rank, const int64_t *dims, lam_value *inner) {
    bool few = inner && inner->count && rank <= LAM__INLINE_AXES;
    lam__value *v = few ? box_around(level->ctx, dtype, rank, dims) : NULL;
    if (!v) v = value_make(level->ctx, LAM__BOX, dtype, rank, dims, NULL);
    if (!v) {
        lam__value_release(inner);
        return NULL;
    }
    v->as.box = (lam__payload){.level = level,
                               .serial = level->serial,
                               .interpreter = level->interpreter,
                               .inner = inner,
                               .next = level->boxes};
    if (level->boxes) lam__payload_of(level->boxes)->prev = &v->head;
    level->boxes = &v->head;
    return &v->head;
}

static void box_unlink(lam__payload *p) {
    if (p->next) lam__payload_of(p->next)->prev = p->prev;
    if (p->prev) lam__payload_of(p->prev)->next = p->next;
    else p->level->boxes = p->next;
}

void lam__value_end(lam_value *v) {
    lam__payload *p = lam__payload_of(v);
    box_unlink(p);
    if (p->interpreter->drop) p->interpreter->drop(v);
    lam__value_release(p->inner);
    p->level = NULL;
    p->inner = NULL;
    p->extra = NULL;
    v->kind = LAM__ENDED;
}

/* ---- ending ---------------------------------------------------------------------------------------------- */

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

void lam__value_free(lam_value *v) {
    if (v->kind == LAM__CONCRETE && v->rank <= LAM__INLINE_AXES && !lam__full(v)->as.concrete.buffer) {
        lam__alloc_put(&lam__full(v)->ctx->pool, v, sizeof(lam__value)); /* most are like this */
        return;
    }
    if (v->kind == LAM__BOX) lam__value_end(v);
    else if (v->kind == LAM__CONCRETE) buffer_release(lam__full(v)->ctx, lam__full(v)->as.concrete.buffer);
    value_discard(lam__full(v));
}

bool lam__value_is_zero(const lam_value *v) {
    if (v->kind != LAM__CONCRETE) return false;
    const int64_t *dims = v->dims, *strides = v->strides;
    size_t item = lam__dtype_bytes(v->dtype);
    int64_t index[LAM_INNER_RANK] = {0};
    for (int64_t n = 0; n < v->count; n++) {
        int64_t at = 0;
        for (int i = 0; i < v->rank; i++) at += index[i] * strides[i];
        if (lam__dtype_load(v->dtype, (const char *)v->data + at * (int64_t)item) != 0) return false;
        for (int i = v->rank - 1; i >= 0 && ++index[i] == dims[i]; i--) index[i] = 0;
    }
    return true;
}
