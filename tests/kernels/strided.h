/* Random arrays with any strides (permuted axes, gaps, negative, zero) for the tests of kernels, elements as long
 * double so that one oracle serves every dtype, and a walk over all indices. The generator is a fixed linear
 * congruence: every run sees the same arrays. */
#ifndef LAM_TESTS_STRIDED_H
#define LAM_TESTS_STRIDED_H

#include "tests/sanitized.h"
#include "tests/unmarked.h"
#include "tests/kernels/real.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STRIDED_RANK = 5 };

typedef struct strided {
    lam_dtype dtype;
    int rank;
    int64_t dims[STRIDED_RANK], strides[STRIDED_RANK]; /* elements */
    void *memory;                                      /* free() it */
    char *x;                                           /* element 0, ..., 0 */
} strided;

static const size_t strided_item[LAM_DTYPE_COUNT] = {8, 4, 8, 4, 1, 1, 16, 8, 2, 2};

static inline uint64_t strided_random(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

static inline int strided_below(uint64_t *state, int limit) {
    return (int)(strided_random(state) % (uint64_t)limit);
}

/* Reads element i of a contiguous array. */
static inline long double strided_get(lam_dtype dtype, const void *x, int64_t i) {
    switch (dtype) {
    case LAM_F64: return ((const double *)x)[i];
    case LAM_F32: return ((const float *)x)[i];
    case LAM_I64: return ((const int64_t *)x)[i];
    case LAM_I32: return ((const int32_t *)x)[i];
    default: return ((const uint8_t *)x)[i];
    }
}

/* Writes element i of a contiguous array of floats. */
static inline void strided_put(lam_dtype dtype, void *x, int64_t i, double v) {
    if (dtype == LAM_F64) ((double *)x)[i] = v;
    else ((float *)x)[i] = (float)v;
}

/* Writes a random element: floats in [-1, 1), integers with all bits, bool 0 or 1. */
static inline void strided_put_random(lam_dtype dtype, void *x, int64_t i, uint64_t *state) {
    const uint64_t high = strided_random(state), low = strided_random(state);
    const double whole = (double)(high << 20 ^ low) / (double)((uint64_t)1 << 50) - 1.0;
    const double unit =
        (whole - (double)(int)whole) * 0.9; /* full mantissas: multiples of 2^-50 would add up exactly */
    switch (dtype) {
    case LAM_F64: ((double *)x)[i] = unit; return;
    case LAM_F32: ((float *)x)[i] = (float)unit; return;
    case LAM_I64: ((int64_t *)x)[i] = (int64_t)(high << 33 ^ low); return;
    case LAM_I32: ((int32_t *)x)[i] = (int32_t)(uint32_t)(high << 7 ^ low); return;
    case LAM_U8: ((uint8_t *)x)[i] = (uint8_t)low; return;
    default: ((uint8_t *)x)[i] = low & 1; return;
    }
}

/* Contiguous random elements; free() them. */
static inline void *strided_fill(lam_dtype dtype, int64_t count, uint64_t *state) {
    void *x = calloc((size_t)count + 1, strided_item[dtype]);
    for (int64_t i = 0; i < count; i++) strided_put_random(dtype, x, i, state);
    return x;
}

/* Lays the axes out in random order and fills the memory. */
static inline strided strided_make(lam_dtype dtype, int rank, const int64_t *dims, uint64_t *state) {
    strided a = {.dtype = dtype, .rank = rank};
    int order[STRIDED_RANK];
    int64_t extent = 1, lowest = 0;
    for (int i = 0; i < rank; i++) {
        int at = strided_below(state, i + 1);
        order[i] = order[at], order[at] = i;
    }
    for (int i = 0; i < rank; i++) {
        int axis = order[i], kind = strided_below(state, 10);
        a.dims[axis] = dims[axis];
        a.strides[axis] = kind == 0 ? 0 : extent;
        if (kind == 1) a.strides[axis] += extent * strided_below(state, 3);
        if (strided_below(state, 4) == 0) a.strides[axis] = -a.strides[axis];
        if (dims[axis] > 0 && a.strides[axis] < 0) lowest += (dims[axis] - 1) * a.strides[axis];
        if (kind != 0 && dims[axis] > 0) extent = llabs(a.strides[axis]) * dims[axis];
    }
    const int64_t shift = strided_below(state, 8), count = extent + shift;
    a.memory = strided_fill(dtype, count, state);
    a.x = (char *)a.memory + (shift - lowest) * (int64_t)strided_item[dtype];
    return a;
}

/* Random dims with at most `limit` elements in all; now and then a zero. */
static inline int strided_random_dims(int64_t *dims, int64_t limit, uint64_t *state) {
    static const int sizes[] = {1, 2, 3, 4, 5, 7, 8, 9, 12, 17, 31, 33, 40, 64, 65, 130, 300, 1025, 2500};
    const int rank = strided_below(state, STRIDED_RANK + 1);
    int64_t count = 1;
    for (int i = 0; i < rank; i++) {
        dims[i] = sizes[strided_below(state, (int)(sizeof sizes / sizeof sizes[0]))];
        if (count * dims[i] > limit) dims[i] = 1 + strided_below(state, 3);
        if (strided_below(state, 60) == 0) dims[i] = 0;
        count *= dims[i] ? dims[i] : 1;
    }
    return rank;
}

static inline int64_t strided_count(int rank, const int64_t *dims) {
    int64_t count = 1;
    for (int i = 0; i < rank; i++) count *= dims[i];
    return count;
}

/* Like an assertion, without Check's note of every one that holds: these are asked millions of times. */
#define STRIDED_CHECK(condition, ...)                                                                                  \
    do {                                                                                                               \
        if (!(condition)) ck_abort_msg(__VA_ARGS__);                                                                   \
    } while (0)

/* Next index in row-major order; false after the last. */
static inline bool strided_next(int rank, const int64_t *dims, int64_t *index) {
    for (int i = rank - 1; i >= 0; i--) {
        if (++index[i] < dims[i]) return true;
        index[i] = 0;
    }
    return false;
}

static inline int64_t strided_offset(const strided *a, const int64_t *index) {
    int64_t offset = 0;
    for (int i = 0; i < a->rank; i++) offset += index[i] * a->strides[i];
    return offset;
}

#endif
