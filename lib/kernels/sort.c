/* Sorting along the middle axis of [outer, n, inner]: a merge sort of indices, stable, whose runs start as
 * insertions, and binary search. Each lane is copied out first, so that all comparisons read consecutive memory.
 * Floats are ordered with NaN beyond all else; the two zeros are equal. */
#include "lib/kernels/item.h"
#include "lib/kernels/kernels.h"

#include <string.h>

enum { RUN = 16 }; /* elements that insertion sorts faster than merging */

size_t lam__kernels_argsort_bytes(int64_t n) {
    return (size_t)n * 3 * sizeof(int64_t);
}

/* Sorts one lane; search finds the places of m values. */
typedef void sort_lanes(const lam__lanes *s, bool descending, const void *x, int64_t *out, void *work);
typedef void search_row(int64_t n, int64_t m, bool right, const void *sorted, const void *values, int64_t *out);

#define T        double
#define FN(name) name##_f64
#include "lib/kernels/sort_type.h"

#define T        float
#define FN(name) name##_f32
#include "lib/kernels/sort_type.h"

#define T        int64_t
#define FN(name) name##_i64
#include "lib/kernels/sort_type.h"

#define T        int32_t
#define FN(name) name##_i32
#include "lib/kernels/sort_type.h"

#define T        uint8_t
#define FN(name) name##_u8
#include "lib/kernels/sort_type.h"

void lam__kernels_argsort(lam_dtype dtype, const lam__lanes *s, bool descending, const void *x, int64_t *out,
                          void *work) {
    static sort_lanes *const sorts[LAM_DTYPE_COUNT] = {sort_f64, sort_f32, sort_i64, sort_i32, sort_u8, sort_u8};
    sorts[dtype](s, descending, x, out, work);
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
