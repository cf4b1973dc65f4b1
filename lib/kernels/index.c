/* take and scatter in canonical form. Indices are resolved a chunk at a time into positions on the stack, once for all
 * outer rows; then elements move by size (take) or are combined by type (scatter), in the order of the index, so that
 * repeated indices add up in a fixed order. With LAM__INDEX_ERROR all indices have been checked before, since a kernel
 * cannot fail; the other modes look at each of them here. */
#include "lib/kernels/item.h"
#include "lib/kernels/places.h"
#include "lib/kernels/special/complex.h"

#include <math.h>
#include <string.h>

enum { CHUNK = 256, OUTSIDE = -1 };

/* OUTSIDE where distances may be negative. No distance is INT64_MIN: there is no memory so large. */
static const int64_t nowhere = INT64_MIN;

/* ---- indices ------------------------------------------------------------------------------------------------- */

/* Indices are i64 or i32 and are widened before anything is done with them. */
static int64_t index_at(lam_dtype dtype, const void *index, int64_t i) {
    return dtype == LAM_I32 ? ((const int32_t *)index)[i] : ((const int64_t *)index)[i];
}

/* Whether one of `count` indices may lie outside [-n, n): then at + n or n - 1 - at has a sign. Others have none where
 * n is below 2^62. */
static bool any_outside(lam_dtype dtype, const void *index, int64_t first, int64_t count, int64_t n) {
    const uint64_t low = (uint64_t)n;
    uint64_t signs = 0;
    if (dtype == LAM_I32) {
        const int32_t *at = (const int32_t *)index + first;
        for (int64_t i = 0; i < count; i++) signs |= ((uint64_t)at[i] + low) | (low - 1 - (uint64_t)at[i]);
    } else {
        const int64_t *at = (const int64_t *)index + first;
        for (int64_t i = 0; i < count; i++) signs |= ((uint64_t)at[i] + low) | (low - 1 - (uint64_t)at[i]);
    }
    return signs >> 63;
}

/* A pass of ors over a chunk, without a branch for each index; only a chunk in which a sign shows is gone through one
 * by one. */
int64_t lam__kernels_index_check(const lam__index_shape *s, lam_dtype index_dtype, const void *index) {
    const int64_t count = s->batch * s->k, n = s->n;
    for (int64_t first = 0; first < count; first += CHUNK) {
        const int64_t end = count - first < CHUNK ? count : first + CHUNK;
        if (!any_outside(index_dtype, index, first, end - first, n)) continue;
        for (int64_t i = first; i < end; i++) {
            int64_t at = index_at(index_dtype, index, i);
            if (at < -n || at >= n) return i;
        }
    }
    return -1;
}

/* Position in [0, n), or OUTSIDE. There is no nearest element where n is 0, so CLIP fills there too. The sign decides
 * before the bound, so an index of -n is the first place and one of -n - 1 outside. */
static int64_t resolve(int64_t at, int64_t n, lam__index_mode mode) {
    if (at < 0) at += n; /* cannot wrap: at is negative, n is not */
    if (at >= 0 && at < n) return at;
    if (mode != LAM__INDEX_CLIP || n == 0) return OUTSIDE;
    return at < 0 ? 0 : n - 1;
}

/* For modes that leave something out. Each index is looked at, so this is done once for all rows of a chunk. */
static void resolve_chunk(const lam__index_shape *s, lam__index_mode mode, lam_dtype dtype, const void *index,
                          int64_t first, int count, int64_t *to) {
    for (int j = 0; j < count; j++) to[j] = resolve(index_at(dtype, index, first + j), s->n, mode);
}

/* For whoever has few indices and does something else with them than to take or to scatter. */
int64_t lam__kernels_index_at(lam__index_mode mode, int64_t n, lam_dtype dtype, const void *index, int64_t i) {
    return resolve(index_at(dtype, index, i), n, mode);
}

/* ---- take ---------------------------------------------------------------------------------------------------- */

/* The widest item, so that one place in the frame holds the filling of any dtype. */
typedef union element {
    double f64;
    float f32;
    lam_c128 c128;
    float c64[2];
} element;

/* What lies outside: NaN of the dtype, or 0. The imaginary part of a complex NaN is 0. */
static element outside_of(lam_dtype dtype) {
    if (dtype == LAM_F64) return (element){.f64 = NAN};
    if (dtype == LAM_F32) return (element){.f32 = NAN};
    /* The other part is 0, so a complex NaN is one by its real part. */
    if (dtype == LAM_C128) return (element){.c128 = {NAN, 0}};
    if (dtype == LAM_C64) return (element){.c64 = {NAN, 0}};
    return (element){.c128 = {0, 0}};
}

/* Indices in [-n, n) as distances from the first place. */
static void known_chunk(const lam__index_shape *s, int64_t step, lam_dtype dtype, const void *index, int64_t first,
                        int count, int64_t *to) {
    const int64_t n = s->n;
    if (dtype == LAM_I64) {
        const int64_t *from = (const int64_t *)index + first;
        for (int j = 0; j < count; j++) to[j] = (from[j] + (n & -(int64_t)(from[j] < 0))) * step;
    } else {
        const int32_t *from = (const int32_t *)index + first;
        for (int j = 0; j < count; j++) to[j] = (from[j] + (n & -(int64_t)(from[j] < 0))) * step;
    }
}

/* The same of any indices, with what lies nowhere; false: nothing does. Steps may be 0 or negative; places that exist
 * are multiplied, the others never are. */
static bool distances(const lam__index_shape *s, lam__index_mode mode, int64_t step, lam_dtype dtype, const void *index,
                      int64_t first, int count, int64_t *to) {
    bool outside = false;
    if (mode == LAM__INDEX_ERROR) {
        known_chunk(s, step, dtype, index, first, count, to);
        return false;
    }
    resolve_chunk(s, mode, dtype, index, first, count, to);
    for (int j = 0; j < count; j++) {
        outside = outside || to[j] == OUTSIDE;
        to[j] = to[j] == OUTSIDE ? nowhere : to[j] * step;
    }
    return outside;
}

/* Runs at distances from x, in items; outside: what stands for those that lie nowhere, NULL: none does. What the
 * functions below are told; `at` has `count` entries. */
typedef struct taking {
    size_t item;
    int64_t inner;
    int count;
    bool together; /* the runs lie one after the other in x too, so that they are one */
    const int64_t *at;
    const element *outside;
} taking;

/* `size` is a constant in every call, so each copy becomes a single move. */
static inline void take_sized(size_t size, const taking *t, const char *x, char *out) {
    const element *outside = t->outside;
    const int64_t *at = t->at;
    const int count = t->count;
    /* Asked once and not for each place. */
    if (!outside)
        for (int j = 0; j < count; j++) memcpy(out + (size_t)j * size, x + at[j] * (int64_t)size, size);
    else
        for (int j = 0; j < count; j++)
            memcpy(out + (size_t)j * size, at[j] == nowhere ? (const char *)outside : x + at[j] * (int64_t)size, size);
}

/* By the bytes of an item alone. There are none of 2: f16 and bf16 are widened before (lib/dispatch/half.c). */
static void take_elements(const taking *t, const char *x, char *out) {
    switch (t->item) {
    case 16: take_sized(16, t, x, out); return;
    case 8: take_sized(8, t, x, out); return;
    case 4: take_sized(4, t, x, out); return;
    default: take_sized(1, t, x, out); return;
    }
}

/* Short runs: item by item, without a call for each. size is a constant in every call here too. Without anything
 * outside. */
static inline void take_few(size_t size, const taking *t, const char *x, char *out) {
    for (int j = 0; j < t->count; j++) {
        const char *from = x + t->at[j] * (int64_t)size;
        for (int64_t i = 0; i < t->inner; i++, out += size) memcpy(out, from + (size_t)i * size, size);
    }
}

/* Runs of so many bytes, a constant in every call. Without anything outside. */
static inline void take_block(size_t bytes, const taking *t, const char *x, char *out) {
    for (int j = 0; j < t->count; j++) memcpy(out + (size_t)j * bytes, x + t->at[j] * (int64_t)t->item, bytes);
}

/* Long runs, each a call of memcpy; what lies outside is filled item by item. Runs lie one after the other in out. */
static void take_runs(const taking *t, const char *x, char *out) {
    const size_t bytes = (size_t)t->inner * t->item;
    if (!t->outside && bytes == 16) take_block(16, t, x, out);
    else if (!t->outside && bytes == 32) take_block(32, t, x, out);
    else if (!t->outside && bytes == 64) take_block(64, t, x, out);
    else
        for (int j = 0; j < t->count; j++, out += bytes) {
            if (t->at[j] != nowhere) memcpy(out, x + t->at[j] * (int64_t)t->item, bytes);
            else
                for (size_t i = 0; i < bytes; i += t->item) memcpy(out + i, t->outside, t->item);
        }
}

/* Which of them: single items, a few of them, or runs. The bounds are where a call of memcpy costs as much as moving
 * the items. */
static void take_some(const taking *t, const char *x, char *out) {
    enum { FEW = 7 };
    bool few = t->inner <= FEW && !t->outside && (size_t)t->inner * t->item % 16;
    /* All of them are one run then. */
    if (t->together) memcpy(out, x + t->at[0] * (int64_t)t->item, (size_t)t->inner * t->item * (size_t)t->count);
    else if (t->inner == 1) take_elements(t, x, out);
    else if (few && t->item == 8) take_few(8, t, x, out);
    else if (few && t->item == 4) take_few(4, t, x, out);
    else take_runs(t, x, out);
}

/* Rows of a few places with indices of their own, many at a time: what their indices name lies at distances from the
 * first of these rows. `none` stands for what lies outside. CHUNK / k rows fit the lists in the frame; k is at most
 * half a chunk, so there are two at least. */
static void take_own_rows(const lam__index_shape *s, lam__index_mode mode, lam_dtype dtype, const lam__index_source *x,
                          lam_dtype index_dtype, const void *index, const element *none, char *out) {
    const int64_t item = lam__item_bytes(dtype), each = CHUNK / s->k;
    int64_t at[CHUNK];
    for (int64_t b = 0; b < s->batch; b += each) {
        const int64_t rows = s->batch - b < each ? s->batch - b : each;
        taking t = {.item = (size_t)item, .inner = 1, .count = (int)(rows * s->k), .at = at};
        t.outside = distances(s, mode, x->n, index_dtype, index, b * s->k, t.count, at) ? none : NULL;
        for (int64_t i = 0; i < rows; i++)
            for (int64_t j = i * s->k; j < (i + 1) * s->k; j++)
                at[j] = at[j] == nowhere ? nowhere : at[j] + i * x->batch;
        take_elements(&t, (const char *)x->data + b * x->batch * item, out + b * s->k * item);
    }
}

/* Rows of a few places that share their indices, the first t->count of `at`, which has room for CHUNK. The positions of
 * as many rows as fit are listed once, and then used from another start. */
static void take_alike_rows(const taking *t, int64_t rows, int64_t step, int64_t *at, const char *x, char *out) {
    const int64_t each = CHUNK / t->count, item = (int64_t)t->item;
    taking many = *t;
    /* The lists of the other rows, each a step further on. */
    for (int64_t i = 1; i < each; i++)
        for (int j = 0; j < t->count; j++) at[i * t->count + j] = at[j] + i * step;
    for (int64_t row = 0; row < rows; row += each) {
        many.count = (int)(rows - row < each ? rows - row : each) * t->count;
        take_elements(&many, x + row * step * item, out + row * t->count * item);
    }
}

/* Rows whose places lie side by side in x, as those of a transposed table do: what an index names is a run of one item
 * for each row, a column of the result. All indices are in range. False: not of this dtype. Pointers to CHUNK columns
 * lie in the frame for each call. */
static bool take_columns(const lam__index_shape *s, lam_dtype dtype, const lam__index_source *x, lam_dtype index_dtype,
                         const void *index, char *out) {
    const int64_t item = lam__item_bytes(dtype);
    const void *column[CHUNK];
    int64_t at[CHUNK], step[CHUNK];
    /* A call with nothing to do tells whether there are loops for items of this size. */
    if (!lam__kernels_columns(dtype, 0, 0, NULL, NULL, out, 0)) return false;
    for (int j = 0; j < CHUNK; j++) step[j] = 1;
    for (int64_t b = 0; b < s->batch; b++, out += s->outer * s->k * item) {
        const char *from = (const char *)x->data + b * x->batch * item;
        for (int64_t first = 0; first < s->k; first += CHUNK) {
            const int count = (int)(s->k - first < CHUNK ? s->k - first : CHUNK);
            known_chunk(s, x->n * item, index_dtype, index, b * s->k + first, count, at);
            for (int j = 0; j < count; j++) column[j] = from + at[j];
            lam__kernels_columns(dtype, s->outer, count, column, step, out + first * item, s->k);
        }
    }
    return true;
}

/* Items of a row without gaps, by indices that are known to be in [-n, n): in one go, as there is no second row for
 * which places would be kept. */
static inline void take_straight(size_t size, int64_t count, int64_t n, const int64_t *index, const char *x,
                                 char *out) {
    for (int64_t j = 0; j < count; j++) {
        const int64_t at = index[j] + (n & -(int64_t)(index[j] < 0));
        memcpy(out + (size_t)j * size, x + at * (int64_t)size, size);
    }
}

/* Rows whose items have no gaps, and indices of 64 bits. False: these are no such rows. */
static bool take_single_rows(const lam__index_shape *s, int64_t item, const lam__index_source *x, const int64_t *index,
                             char *out) {
    /* Sizes that registers move; others go the general way. */
    if (s->outer != 1 || s->inner != 1 || x->n != 1 || (item != 4 && item != 8)) return false;
    for (int64_t b = 0; b < s->batch; b++, index += s->k, out += s->k * item) {
        const char *from = (const char *)x->data + b * x->batch * item;
        if (item == 4) take_straight(4, s->k, s->n, index, from, out);
        else take_straight(8, s->k, s->n, index, from, out);
    }
    return true;
}

/* Whether the places follow each other, as those of a slice do. Where they do not, that is mostly seen at once. */
static bool lie_together(const taking *t) {
    for (int j = 1; j < t->count; j++)
        if (t->at[j] != t->at[0] + j * t->inner) return false;
    return !t->outside;
}

/* Loops over chunks of the index outside, rows inside, so each index is resolved once. Shapes whose rows hold few
 * places would spend their time in calls and go many rows at a time; whether they do changes no element. */
void lam__kernels_take_from(const lam__index_shape *s, lam__index_mode mode, lam_dtype dtype,
                            const lam__index_source *x, lam_dtype index_dtype, const void *index, void *out) {
    const int64_t item = lam__item_bytes(dtype), out_row = s->k * s->inner * item;
    /* DROP gives 0 for every dtype, where FILL gives NaN if there is one. */
    const element none = mode == LAM__INDEX_DROP ? (element){.c128 = {0, 0}} : outside_of(dtype);
    enum { LONG = 64 }; /* bytes, from which on a call of memcpy is worth while */
    int64_t at[CHUNK];
    taking t = {.item = (size_t)item, .inner = s->inner, .at = at};
    /* Half a chunk holds two rows at least. */
    const bool few = s->inner == 1 && s->k > 0 && s->k <= CHUNK / 2;
    if (s->inner == 0) return;
    if (mode == LAM__INDEX_ERROR && index_dtype == LAM_I64 && take_single_rows(s, item, x, index, out)) return;
    if (few && s->outer == 1) {
        take_own_rows(s, mode, dtype, x, index_dtype, index, &none, out);
        return;
    }
    /* A run of a column is one item long, and x is walked along its rows. */
    const bool side_by_side = s->inner == 1 && s->outer > 1 && x->outer == 1 && mode == LAM__INDEX_ERROR;
    if (side_by_side && take_columns(s, dtype, x, index_dtype, index, out)) return;
    for (int64_t b = 0; b < s->batch; b++)
        for (int64_t first = 0; first < s->k; first += CHUNK) {
            t.count = (int)(s->k - first < CHUNK ? s->k - first : CHUNK);
            t.outside = distances(s, mode, x->n, index_dtype, index, b * s->k + first, t.count, at) ? &none : NULL;
            const char *from = (const char *)x->data + b * x->batch * item;
            char *to = (char *)out + b * s->outer * out_row + first * s->inner * item;
            /* Worth a look only where runs are long enough for one call. */
            t.together = t.count * s->inner * item >= LONG && lie_together(&t);
            if (few && !t.outside && !t.together) {
                take_alike_rows(&t, s->outer, x->outer, at, from, to);
                continue;
            }
            for (int64_t row = 0; row < s->outer; row++)
                take_some(&t, from + row * x->outer * item, to + row * out_row);
        }
}

/* ---- scatter ------------------------------------------------------------------------------------------------- */

/* Combines `count` runs of `inner` elements with their places in one row. In the order of the list; what is OUTSIDE is
 * left out. `row` is where place 0 of the first row lies. */
typedef void scatter_runs(int64_t inner, int count, const int64_t *at, void *row, const void *updates);

/* What an element type is that has an order. */
enum { FLOATS, INTEGERS, BOOLS };

#define COMPLEX 0
#define T       double
#define U       double
#define NAME(f) f##_f64
#define KIND    FLOATS
#include "lib/kernels/index_scatter.h"

#define T       float
#define U       float
#define NAME(f) f##_f32
#define KIND    FLOATS
#include "lib/kernels/index_scatter.h"

#define T       int64_t
#define U       uint64_t
#define NAME(f) f##_i64
#define KIND    INTEGERS
#include "lib/kernels/index_scatter.h"

#define T       int32_t
#define U       uint32_t
#define NAME(f) f##_i32
#define KIND    INTEGERS
#include "lib/kernels/index_scatter.h"

#define T       uint8_t
#define U       uint32_t
#define NAME(f) f##_u8
#define KIND    INTEGERS
#include "lib/kernels/index_scatter.h"

#define T       uint8_t
#define U       uint32_t
#define NAME(f) f##_bool
#define KIND    BOOLS
#include "lib/kernels/index_scatter.h"

#undef COMPLEX

#define COMPLEX 1
#define T       lam_c128
#define PART    double
#define NAME(f) f##_c128
#include "lib/kernels/index_scatter.h"

#define T       lam__c64
#define PART    float
#define NAME(f) f##_c64
#include "lib/kernels/index_scatter.h"
#undef COMPLEX

/* In the order of lam_dtype, as the table below is indexed. The least and the largest have no complex loops. */
#define REALS(f) f##_f64, f##_f32, f##_i64, f##_i32, f##_u8, f##_bool

/* Positions in [0, n), or OUTSIDE. With ERROR all indices have been checked before. Places, not distances: the loops
 * know how long a run is. */
static void places_chunk(const lam__index_shape *s, lam__index_mode mode, lam_dtype dtype, const void *index,
                         int64_t first, int count, int64_t *to) {
    if (mode == LAM__INDEX_ERROR) known_chunk(s, 1, dtype, index, first, count, to);
    else resolve_chunk(s, mode, dtype, index, first, count, to);
}

/* The same places in a row that begins so far on. */
static void move_places(lam__index_mode mode, int64_t k, int64_t by, int64_t *at) {
    if (mode == LAM__INDEX_ERROR)
        for (int64_t j = 0; j < k; j++) at[j] += by;
    else
        for (int64_t j = 0; j < k; j++) at[j] = at[j] == OUTSIDE ? OUTSIDE : at[j] + by;
}

/* Items of rows without gaps that are set by indices known to be in [-n, n): in one go, as take_straight takes them. */
static inline void set_straight(size_t size, int64_t count, int64_t n, const int64_t *index, const char *updates,
                                char *out) {
    for (int64_t j = 0; j < count; j++) {
        const int64_t at = index[j] + (n & -(int64_t)(index[j] < 0));
        memcpy(out + at * (int64_t)size, updates + (size_t)j * size, size);
    }
}

/* The counterpart of take_single_rows; places that are named twice keep the last update. False: no such rows. */
static bool set_single_rows(const lam__index_shape *s, int64_t item, const int64_t *index, const char *updates,
                            char *out) {
    /* As in take_single_rows. */
    if (s->outer != 1 || s->inner != 1 || (item != 4 && item != 8)) return false;
    for (int64_t b = 0; b < s->batch; b++, index += s->k, updates += s->k * item, out += s->n * item)
        if (item == 4) set_straight(4, s->k, s->n, index, updates, out);
        else set_straight(8, s->k, s->n, index, updates, out);
    return true;
}

/* Updates are applied in the order of the index within each row, chunk after chunk, so sums of floats have the same
 * bits whatever the number of threads. Rows with few places are taken many at a time as one row with more places. */
void lam__kernels_scatter(lam__scatter_op op, const lam__index_shape *s, lam__index_mode mode, lam_dtype dtype,
                          void *out, lam_dtype index_dtype, const void *index, const void *updates) {
    static scatter_runs *const loops[][LAM_DTYPE_COUNT] = {
        [LAM__SCATTER_ADD] = {REALS(scatter_add), scatter_add_c128, scatter_add_c64},
        [LAM__SCATTER_MUL] = {REALS(scatter_mul), scatter_mul_c128, scatter_mul_c64},
        [LAM__SCATTER_MIN] = {REALS(scatter_min)},
        [LAM__SCATTER_MAX] = {REALS(scatter_max)},
        [LAM__SCATTER_SET] = {REALS(scatter_set), scatter_set_c128, scatter_set_c64},
    };
    const int64_t item = lam__item_bytes(dtype);
    const int64_t out_row = s->n * s->inner * item, update_row = s->k * s->inner * item;
    /* With one row for each list of indices, as many lists as fit go through the loop at once: move_places counts all
     * their places from the first of these rows. */
    const bool few = s->outer == 1 && s->k > 0 && s->k <= CHUNK / 2; /* many batches at a time, as one */
    const bool known = op == LAM__SCATTER_SET && mode == LAM__INDEX_ERROR && index_dtype == LAM_I64;
    if (known && set_single_rows(s, item, index, updates, out)) return;
    /* One where rows are not put together. */
    int64_t at[CHUNK], batches = few ? CHUNK / s->k : 1;
    for (int64_t b = 0; few && b < s->batch; b += batches) {
        if (s->batch - b < batches) batches = s->batch - b;
        places_chunk(s, mode, index_dtype, index, b * s->k, (int)(batches * s->k), at);
        for (int64_t i = 1; i < batches; i++) move_places(mode, s->k, i * s->n, at + i * s->k);
        loops[op][dtype](s->inner, (int)(batches * s->k), at, (char *)out + b * out_row,
                         (const char *)updates + b * update_row);
    }
    for (int64_t b = 0; !few && b < s->batch; b++)
        for (int64_t first = 0; first < s->k; first += CHUNK) {
            const int count = (int)(s->k - first < CHUNK ? s->k - first : CHUNK);
            places_chunk(s, mode, index_dtype, index, b * s->k + first, count, at);
            for (int64_t row = b * s->outer; row < (b + 1) * s->outer; row++)
                loops[op][dtype](s->inner, count, at, (char *)out + row * out_row,
                                 (const char *)updates + row * update_row + first * s->inner * item);
        }
}

/* ---- inverse -------------------------------------------------------------------------------------------------- */

/* The last one wins, as it does where SET writes, which is what this is for: the derivative of SET asks which update
 * has stayed. Without a branch: what lies outside writes to the first place what is there already. */
void lam__kernels_index_inverse(const lam__index_shape *s, lam_dtype index_dtype, const void *index, int64_t *out) {
    const int64_t n = s->n;
    /* -1: no update names the place. */
    for (int64_t i = 0; i < s->batch * n; i++) out[i] = -1;
    for (int64_t b = 0; b < s->batch && n > 0; b++, out += n)
        for (int64_t j = 0; j < s->k; j++) {
            const int64_t given = index_at(index_dtype, index, b * s->k + j), at = given + (n & -(int64_t)(given < 0));
            const int64_t inside = -(int64_t)((uint64_t)at < (uint64_t)n), old = out[at & inside];
            out[at & inside] = (j & inside) | (old & ~inside);
        }
}
