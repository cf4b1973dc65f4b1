/* Sorting along the middle axis of [outer, n, inner], and binary search. A lane is copied out as keys: unsigned numbers
 * whose order is the one wanted, so that floats have NaN beyond all else, the two zeros are equal, and descending is
 * ascending of the complement. Long lanes are sorted by their bytes, short ones by merging runs of a
 * few; both are stable. Where only the first of the order are wanted, a heap of those seen so far is kept. */
#include "lib/kernels/sort.h"
#include "lib/kernels/item.h"

#include <string.h>

enum {
    RUN = 8,           /* elements whose places are counted faster than they are merged */
    BYTEWISE = 24,     /* elements for each byte of a key from which on these sort faster than merging */
    FEW = 8,           /* a heap is worth it where at most one of so many is wanted */
    SIDE_BY_SIDE = 16, /* searches whose loads wait together */
};

/* For the widest keys and either algorithm: two lists of keys and positions, which are half as wide for one of them. */
size_t lam__kernels_argsort_bytes(int64_t n) {
    return (size_t)n * 4 * sizeof(int64_t);
}

/* Sorts lanes; search finds the places of m values. */
typedef void sort_lanes(const lam__lanes *s, bool descending, int64_t count, const void *x, int64_t *out, void *work);
typedef void search_row(int64_t n, int64_t m, bool right, const void *sorted, const void *values, int64_t *out);

/* K is a key, FLIP makes one of the bits of an element so that keys have the order of elements: of negative floats
 * all bits are turned over, of others the sign; of integers the sign alone. */
#define T        double
#define K        uint64_t
#define FLIP(u)  ((u) >> 63 ? ~(u) : (u) | (uint64_t)1 << 63)
#define FN(name) name##_f64
#include "lib/kernels/sort_type.h"

#define T        float
#define K        uint32_t
#define FLIP(u)  ((u) >> 31 ? ~(u) : (u) | (uint32_t)1 << 31)
#define FN(name) name##_f32
#include "lib/kernels/sort_type.h"

#define T        int64_t
#define K        uint64_t
#define FLIP(u)  ((u) ^ (uint64_t)1 << 63)
#define FN(name) name##_i64
#include "lib/kernels/sort_type.h"

#define T        int32_t
#define K        uint32_t
#define FLIP(u)  ((u) ^ (uint32_t)1 << 31)
#define FN(name) name##_i32
#include "lib/kernels/sort_type.h"

#define T        uint8_t
#define K        uint8_t
#define FLIP(u)  (u)
#define FN(name) name##_u8
#include "lib/kernels/sort_type.h"

void lam__kernels_argsort_first(lam_dtype dtype, const lam__lanes *s, bool descending, int64_t count, const void *x,
                                int64_t *out, void *work) {
    static sort_lanes *const sorts[LAM_DTYPE_COUNT] = {sort_f64, sort_f32, sort_i64, sort_i32, sort_u8, sort_u8};
    sorts[dtype](s, descending, count, x, out, work);
}

void lam__kernels_searchsorted(lam_dtype dtype, int64_t batch, int64_t n, int64_t m, bool right, const void *sorted,
                               const void *values, int64_t *out) {
    static search_row *const searches[LAM_DTYPE_COUNT] = {search_f64, search_f32, search_i64,
                                                          search_i32, search_u8,  search_u8};
    const int64_t item = lam__item_bytes(dtype);
    for (int64_t b = 0; b < batch; b++)
        searches[dtype](n, m, right, (const char *)sorted + b * n * item, (const char *)values + b * m * item,
                        out + b * m);
}
