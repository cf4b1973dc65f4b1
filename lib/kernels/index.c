/* take and scatter in canonical form. Indices are resolved a chunk at a time into positions on the stack, once
 * for all outer rows; then elements move by size (take) or are combined by type (scatter), in the order of the
 * index, so that repeated indices add up in a fixed order. */
#include "lib/kernels/item.h"
#include "lib/kernels/kernels.h"

#include <math.h>
#include <string.h>

enum { CHUNK = 256, OUTSIDE = -1 };

/* ---- indices ------------------------------------------------------------------------------------------------- */

static int64_t index_at(lam_dtype dtype, const void *index, int64_t i) {
    return dtype == LAM_I32 ? ((const int32_t *)index)[i] : ((const int64_t *)index)[i];
}

int64_t lam__kernels_index_check(const lam__index_shape *s, lam_dtype index_dtype, const void *index) {
    const int64_t count = s->batch * s->k;
    for (int64_t i = 0; i < count; i++) {
        int64_t at = index_at(index_dtype, index, i);
        if (at < -s->n || at >= s->n) return i;
    }
    return -1;
}

/* Position in [0, n), or OUTSIDE. There is no nearest element where n is 0, so CLIP fills there too. */
static int64_t resolve(int64_t at, int64_t n, lam__index_mode mode) {
    if (at < 0) at += n; /* cannot wrap: at is negative, n is not */
    if (at >= 0 && at < n) return at;
    if (mode != LAM__INDEX_CLIP || n == 0) return OUTSIDE;
    return at < 0 ? 0 : n - 1;
}

static void resolve_chunk(const lam__index_shape *s, lam__index_mode mode, lam_dtype dtype, const void *index,
                          int64_t first, int count, int64_t *to) {
    for (int j = 0; j < count; j++) to[j] = resolve(index_at(dtype, index, first + j), s->n, mode);
}

int64_t lam__kernels_index_at(lam__index_mode mode, int64_t n, lam_dtype dtype, const void *index, int64_t i) {
    return resolve(index_at(dtype, index, i), n, mode);
}

/* ---- take ---------------------------------------------------------------------------------------------------- */

typedef union element {
    double f64;
    float f32;
    lam_c128 c128;
    float c64[2];
} element;

/* What lies outside: NaN of the dtype, or 0. */
static element outside_of(lam_dtype dtype) {
    if (dtype == LAM_F64) return (element){.f64 = NAN};
    if (dtype == LAM_F32) return (element){.f32 = NAN};
    if (dtype == LAM_C128) return (element){.c128 = {NAN, 0}};
    if (dtype == LAM_C64) return (element){.c64 = {NAN, 0}};
    return (element){.c128 = {0, 0}};
}

/* `size` is a constant in every call, so each copy becomes a single move. */
static inline void take_sized(size_t size, int count, const int64_t *at, const char *x, const element *outside,
                              char *out) {
    for (int j = 0; j < count; j++)
        memcpy(out + (size_t)j * size, at[j] == OUTSIDE ? (const char *)outside : x + (size_t)at[j] * size, size);
}

static void take_elements(size_t item, int count, const int64_t *at, const char *x, const element *outside, char *out) {
    switch (item) {
    case 16: take_sized(16, count, at, x, outside, out); return;
    case 8: take_sized(8, count, at, x, outside, out); return;
    case 4: take_sized(4, count, at, x, outside, out); return;
    default: take_sized(1, count, at, x, outside, out); return;
    }
}

static void take_runs(size_t item, int64_t inner, int count, const int64_t *at, const char *x, const element *outside,
                      char *out) {
    const size_t bytes = (size_t)inner * item;
    for (int j = 0; j < count; j++, out += bytes) {
        if (at[j] != OUTSIDE) memcpy(out, x + (size_t)at[j] * bytes, bytes);
        else
            for (size_t i = 0; i < bytes; i += item) memcpy(out + i, outside, item);
    }
}

void lam__kernels_take(const lam__index_shape *s, lam__index_mode mode, lam_dtype dtype, const void *x,
                       lam_dtype index_dtype, const void *index, void *out) {
    const int64_t item = lam__item_bytes(dtype);
    const int64_t x_row = s->n * s->inner * item, out_row = s->k * s->inner * item;
    const element outside = mode == LAM__INDEX_DROP ? (element){.c128 = {0, 0}} : outside_of(dtype);
    int64_t at[CHUNK];
    if (s->inner == 0) return;
    for (int64_t b = 0; b < s->batch; b++)
        for (int64_t first = 0; first < s->k; first += CHUNK) {
            const int count = (int)(s->k - first < CHUNK ? s->k - first : CHUNK);
            resolve_chunk(s, mode, index_dtype, index, b * s->k + first, count, at);
            for (int64_t row = b * s->outer; row < (b + 1) * s->outer; row++) {
                const char *from = (const char *)x + row * x_row;
                char *to = (char *)out + row * out_row + first * s->inner * item;
                if (s->inner == 1) take_elements((size_t)item, count, at, from, &outside, to);
                else take_runs((size_t)item, s->inner, count, at, from, &outside, to);
            }
        }
}

/* ---- scatter ------------------------------------------------------------------------------------------------- */

/* Combines `count` runs of `inner` elements with their places in one row. */
typedef void scatter_runs(int64_t inner, int count, const int64_t *at, void *row, const void *updates);

/* What an element type is. */
enum { FLOATS, INTEGERS, BOOLS };

#define PARTS   1
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

#undef PARTS

/* Of complex numbers only sums: part by part. */
#define PARTS   2
#define T       double
#define U       double
#define NAME(f) f##_c128
#define KIND    FLOATS
#include "lib/kernels/index_scatter.h"

#define T       float
#define U       float
#define NAME(f) f##_c64
#define KIND    FLOATS
#include "lib/kernels/index_scatter.h"
#undef PARTS

#define REALS(f) f##_f64, f##_f32, f##_i64, f##_i32, f##_u8, f##_bool

void lam__kernels_scatter(lam__scatter_op op, const lam__index_shape *s, lam__index_mode mode, lam_dtype dtype,
                          void *out, lam_dtype index_dtype, const void *index, const void *updates) {
    static scatter_runs *const loops[][LAM_DTYPE_COUNT] = {
        [LAM__SCATTER_ADD] = {REALS(scatter_add), scatter_add_c128, scatter_add_c64},
        [LAM__SCATTER_MUL] = {REALS(scatter_mul)},
        [LAM__SCATTER_MIN] = {REALS(scatter_min)},
        [LAM__SCATTER_MAX] = {REALS(scatter_max)},
    };
    const int64_t item = lam__item_bytes(dtype);
    const int64_t out_row = s->n * s->inner * item, update_row = s->k * s->inner * item;
    int64_t at[CHUNK];
    for (int64_t b = 0; b < s->batch; b++)
        for (int64_t first = 0; first < s->k; first += CHUNK) {
            const int count = (int)(s->k - first < CHUNK ? s->k - first : CHUNK);
            resolve_chunk(s, mode, index_dtype, index, b * s->k + first, count, at);
            for (int64_t row = b * s->outer; row < (b + 1) * s->outer; row++)
                loops[op][dtype](s->inner, count, at, (char *)out + row * out_row,
                                 (const char *)updates + row * update_row + first * s->inner * item);
        }
}

/* ---- inverse -------------------------------------------------------------------------------------------------- */

void lam__kernels_index_inverse(const lam__index_shape *s, lam_dtype index_dtype, const void *index, int64_t *out) {
    for (int64_t i = 0; i < s->batch * s->n; i++) out[i] = -1;
    for (int64_t b = 0; b < s->batch; b++)
        for (int64_t j = 0; j < s->k; j++) {
            int64_t at = resolve(index_at(index_dtype, index, b * s->k + j), s->n, LAM__INDEX_DROP);
            if (at != OUTSIDE) out[b * s->n + at] = j;
        }
}
