/* Sylvester's equation for batches of contiguous row-major matrices, by LAPACK: see sylvester.h. Nothing here
 * allocates; the bytes that are named and the pointers that sylvester_type.h makes of them must agree. */
#include "lib/kernels/blas/sylvester.h"

#include "lib/kernels/blas/spectral.h"
#include "lib/kernels/item.h"

#include <math.h>

/* IS_COMPLEX: gees, which both forms are made by, has other arguments for complex numbers. */
#define R          double
#define T          double
#define NAME       f64
#define LETTER     d
#define IS_COMPLEX 0
#include "lib/kernels/blas/sylvester_type.h"

#define R          float
#define T          float
#define NAME       f32
#define LETTER     s
#define IS_COMPLEX 0
#include "lib/kernels/blas/sylvester_type.h"

#define R          double
#define T          double _Complex
#define NAME       c128
#define LETTER     z
#define IS_COMPLEX 1
#include "lib/kernels/blas/sylvester_type.h"

#define R          float
#define T          float _Complex
#define NAME       c64
#define LETTER     c
#define IS_COMPLEX 1
#include "lib/kernels/blas/sylvester_type.h"

/* What one Schur form of n rows needs of LAPACK. */
static int room_for(lam_dtype dtype, int64_t n) {
    switch (dtype) {
    case LAM_F64: return asked_f64(n);
    case LAM_F32: return asked_f32(n);
    case LAM_C128: return asked_c128(n);
    default: return asked_c64(n);
    }
}

/* The two Schur forms are made one after the other, in the same room. */
size_t lam__kernels_sylvester_bytes(lam_dtype dtype, int64_t m, int64_t n) {
    const int first = room_for(dtype, m), second = room_for(dtype, n);
    return (size_t)(fixed_f64(m, n) + (first > second ? first : second)) * (size_t)lam__item_bytes(dtype);
}

/* The number of the first equation that has no one solution, or for which an iteration did not end; -1: none. */
int64_t lam__kernels_sylvester(lam_dtype dtype, int64_t batch, int64_t m, int64_t n, const void *a, const void *b,
                               const void *c, void *x, void *work) {
    switch (dtype) {
    case LAM_F64: return sylvester_all_f64(batch, m, n, a, b, c, x, work);
    case LAM_F32: return sylvester_all_f32(batch, m, n, a, b, c, x, work);
    case LAM_C128: return sylvester_all_c128(batch, m, n, a, b, c, x, work);
    default: return sylvester_all_c64(batch, m, n, a, b, c, x, work);
    }
}
