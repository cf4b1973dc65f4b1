/* Values: what a handle shows. Counted, immutable, and either concrete (strided memory in a counted buffer, or
 * inside the value when small), a box (belongs to a level, carries its payload), or abstract (a type without data). */
#ifndef LAM_TENSOR_VALUE_H
#define LAM_TENSOR_VALUE_H

#include "lib/base/context.h"
#include "lib/tensor/dtype.h"

#include <string.h>

/* What a value is. Only the kinds of boxes change: a box becomes an ended one. */
enum lam__kind {
    LAM__CONCRETE,
    LAM__BOX,
    LAM__ENDED, /* a box whose level has ended: the payload is gone, the serial remains for the message */
    LAM__ABSTRACT,
    LAM__BROKEN /* the value of the failed tensor */
};

/* Up to so many axes, and bytes of elements, lie in the value itself. */
enum { LAM__INLINE_AXES = 4, LAM__INLINE_BYTES = 64 };

/* Memory that values share, apart from the value so that views need no copy. refs: values that show it. release and
 * env: of the lender, called with the last reference, when the memory is not ours. Data of our own that are not small
 * come from the pool together with their buffer, as a lump. */
typedef struct lam__buffer {
    lam__lump lump; /* lump.data: the data, however they came */
    uint32_t refs;
    bool writable; /* ours, or lent as writable */
    bool ours;
    size_t bytes; /* with `ours`: as allocated */
    void (*release)(void *env, void *data);
    void *env;
} lam__buffer;
_Static_assert(sizeof(lam__buffer) <= LAM__ALLOC_STEP, "a buffer is the header of its data");

/* The payload of a box. The core moves it about; the interpreter of its level gives it meaning:
 * batch {value, -, axis}, dual {primal, tangent}, tape {primal, node, output number}, trace {-, -, variable},
 * checkpoint {value, -} or {-, call that was put off, output number}. `inner` is the core's to release, `extra` the
 * interpreter's. */
typedef struct lam__payload {
    struct lam__level *level;
    lam_value *inner;
    void *extra;
    int64_t number;
    lam_value *prev, *next; /* boxes of the level that are alive */
} lam__payload;

/* What messages say of the level of a box, also when it has ended. */
typedef struct lam__origin {
    uint64_t serial;
    const struct lam__interpreter *interpreter;
} lam__origin;

/* The payload of an ended box. */
typedef struct lam__ended {
    struct lam__level *level; /* NULL; where that of a box stands */
    lam__origin origin;
} lam__ended;

/* NOTE [two sizes]
 * Most values inside a nest of transforms are boxes and numbers. They take two cache lines; a value with more than one
 * word of elements in itself takes three. Elements beyond LAM__INLINE_BYTES lie in a buffer. */
typedef struct lam__value {
    lam_value head;
    lam_ctx *ctx;
    int64_t axes[LAM__INLINE_AXES]; /* dims; beyond rank 4, head.dims points to a block of dims and strides */
    union {
        struct {
            int64_t strides[LAM__INLINE_AXES];
            lam__buffer *buffer; /* NULL: data lies in `small` */
            double small[LAM__INLINE_BYTES / 8];
        } concrete;
        lam__payload box;
        lam__ended ended;
    } as;
} lam__value;

enum { LAM__VALUE_NARROW = 128, LAM__VALUE_WIDE = sizeof(lam__value), LAM__WORD = 8 };
_Static_assert(offsetof(lam__value, as.concrete.small) + LAM__WORD <= LAM__VALUE_NARROW, "a number takes two lines");
_Static_assert(offsetof(lam__value, as.box) + sizeof(lam__payload) <= LAM__VALUE_NARROW, "a box takes two lines");

static inline lam__value *lam__full(const lam_value *v) {
    return (lam__value *)(uintptr_t)v; /* the head is its first member */
}

/* The threads that loops over the elements of v are shared among. */
static inline lam__team *lam__value_team(const lam_value *v) {
    return lam__full(v)->ctx->team;
}

static inline lam__payload *lam__payload_of(const lam_value *v) {
    return &lam__full(v)->as.box;
}

/* Whether v belongs, or belonged, to a level. */
static inline bool lam__value_is_box(const lam_value *v) {
    return v->kind == LAM__BOX || v->kind == LAM__ENDED;
}

static inline lam_value *lam__value_hold(lam_value *v) {
    v->refs++;
    return v;
}

/* The same where there may be none. */
static inline lam_value *lam__value_hold_any(lam_value *v) {
    return v ? lam__value_hold(v) : NULL;
}

/* Frees a value that has no reference any more; for lam__value_release. */
void lam__value_free(lam_value *v);

/* Gives up one reference; NULL is accepted. */
static inline void lam__value_release(lam_value *v) {
    if (v && --v->refs == 0) lam__value_free(v);
}

/* Where a box comes from. */
lam__origin lam__value_origin(const lam_value *v);

/* A concrete, contiguous value with memory for its elements, not cleared. All makers: NULL after recording
 * LAM_ERR_MEMORY or LAM_ERR_OVERFLOW. */
lam_value *lam__value_new(lam_ctx *ctx, lam_dtype dtype, int rank, const int64_t *dims);
lam_value *lam__value_abstract(lam_ctx *ctx, lam_dtype dtype, int rank, const int64_t *dims);

/* Shares the memory of x. offset in elements from x's first. */
lam_value *lam__value_view(lam_value *x, int rank, const int64_t *dims, const int64_t *strides, int64_t offset);

/* The elements of a new contiguous value lie in this order of its axes, the slowest first. */
void lam__value_reorder(lam_value *v, const int order[]);

/* Wraps a buffer, taking over its reference (also on failure). */
lam_value *lam__value_wrap(lam_ctx *ctx, lam_dtype dtype, int rank, const int64_t *dims, const int64_t *strides,
                           lam__buffer *buffer);

/* A box of `level` with the dtype and dims that the user sees there, which are those of inner or some of them; takes
 * over inner (also on failure; may be NULL). extra and number are for the caller to set in the payload. The short ways
 * are in lib/dispatch/level.h. */
lam_value *lam__value_box(struct lam__level *level, lam_dtype dtype, int rank, const int64_t *dims, lam_value *inner);

/* Turns a box into an ended one: its payload is released, what messages need stays. */
void lam__value_end(lam_value *v);

/* Contiguous, every element 0. */
lam_value *lam__value_zeros(lam_ctx *ctx, lam_dtype dtype, int rank, const int64_t *dims);

/* A rank-0 constant of any dtype. */
lam_value *lam__value_scalar(lam_ctx *ctx, lam_dtype dtype, double value);
lam_value *lam__value_integer(lam_ctx *ctx, lam_dtype dtype, int64_t value);

/* x itself (one more reference) or a contiguous copy. x is concrete. */
lam_value *lam__value_contiguous(lam_value *x);

/* Whether nobody else can see the memory of v, so that it may be overwritten. */
static inline bool lam__value_unshared(const lam_value *v) {
    if (v->kind != LAM__CONCRETE || v->refs != 1 || !v->contiguous) return false;
    const lam__buffer *b = lam__full(v)->as.concrete.buffer;
    return !b || (b->refs == 1 && b->writable);
}

/* What holds the elements of v, if need be within boxes; NULL where nothing does yet, as of a variable of a trace. */
const lam_value *lam__value_seen(const lam_value *v);

/* Whether every element is zero, also of what lies in a box; false where there are none to look at. */
bool lam__value_is_zero(const lam_value *v);

static inline bool lam__value_same_dims(const lam_value *a, const lam_value *b) {
    if (a == b) return true;
    if (a->rank != b->rank || a->count != b->count) return false;
    for (int i = 0; i < a->rank; i++)
        if (a->dims[i] != b->dims[i]) return false;
    return true;
}

static inline bool lam__value_same_type(const lam_value *a, const lam_value *b) {
    return a->dtype == b->dtype && lam__value_same_dims(a, b);
}

/* NOTE [no recursion]
 * What a box holds belongs to the levels below its own, so freeing boxes nests as deep as levels do and no deeper. What
 * forms chains as long as a user's program (tape nodes) begins with this link and is freed through lam__value_defer,
 * one after the other. */
typedef struct lam__deferred {
    struct lam__deferred *next;
    void (*free)(lam_ctx *ctx, struct lam__deferred *self);
} lam__deferred;
void lam__value_defer(lam_ctx *ctx, lam__deferred *d);

/* Elements of dims, or -1 when that does not fit 2^62 bytes at `item` bytes each; 2^30 where addresses have 32 bits. */
int64_t lam__value_count(int rank, const int64_t *dims, size_t item);

/* A contiguous value with the dims of the contiguous concrete x, rank up to 4; NULL without memory, which it does
 * not record: the caller has a slower way that does. */
lam_value *lam__value_like(const lam_value *x, lam_dtype dtype);

/* NOTE [word by word]
 * Heads are copied by their fields, not as structs: the processor makes a load wait that takes up several stores which
 * are still on their way to memory, and a value is mostly read right after it was made. */

/* What stands before the count of references: kind, dtype, rank and contiguity, as one. */
static inline uint32_t lam__value_lead(const lam_value *v) {
    _Static_assert(offsetof(lam_value, refs) == sizeof(uint32_t), "four bytes lead a value");
    uint32_t lead;
    memcpy(&lead, v, sizeof lead);
    return lead;
}

/* Makes head, dims and strides of v those of x, which is concrete, contiguous and of few axes, but for the dtype. */
static inline void lam__value_copy_head(lam__value *v, const lam_value *x, int dtype) {
    uint32_t lead = lam__value_lead(x);
    memcpy(&v->head, &lead, sizeof lead);
    if (dtype != x->dtype) v->head.dtype = (uint8_t)dtype;
    v->head.refs = 1;
    v->head.count = x->count;
    v->head.dims = v->axes;
    v->head.strides = v->as.concrete.strides;
    v->ctx = lam__full(x)->ctx;
    for (int i = 0; i < x->rank; i++) {
        v->axes[i] = lam__full(x)->axes[i];
        v->as.concrete.strides[i] = lam__full(x)->as.concrete.strides[i];
    }
}

/* Like lam__value_like for a number of x's dtype; NULL also where there is no room at once. Inline, because most
 * results in a nest of transforms are numbers. */
static inline lam_value *lam__value_like_number(const lam_value *x) {
    lam__value *v = lam__alloc_try(&lam__full(x)->ctx->pool, LAM__VALUE_NARROW);
    if (!v) return NULL;
    lam__value_copy_head(v, x, x->dtype);
    v->as.concrete.buffer = NULL;
    v->head.data = v->as.concrete.small;
    return &v->head;
}

#endif
