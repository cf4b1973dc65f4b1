/* The Schur form of batches of contiguous row-major matrices, by LAPACK: see schur.h. Nothing here allocates; the bytes
 * that are named and the pointers that schur_type.h makes of them must agree. */
#include "lib/kernels/blas/schur.h"

#include "lib/kernels/blas/spectral.h"
#include "lib/kernels/item.h"

#include <math.h>

/* IS_COMPLEX: the form is a triangle and values are complex numbers; of reals it has blocks of two for pairs, and
 * values are two lists. */
#define R          double
#define T          double
#define NAME       f64
#define LETTER     d
#define IS_COMPLEX 0
#include "lib/kernels/blas/schur_type.h"

#define R          float
#define T          float
#define NAME       f32
#define LETTER     s
#define IS_COMPLEX 0
#include "lib/kernels/blas/schur_type.h"

#define R          double
#define T          double _Complex
#define NAME       c128
#define LETTER     z
#define IS_COMPLEX 1
#include "lib/kernels/blas/schur_type.h"

#define R          float
#define T          float _Complex
#define NAME       c64
#define LETTER     c
#define IS_COMPLEX 1
#include "lib/kernels/blas/schur_type.h"

/* What lies before LAPACK's room has the same number of numbers in all four types. */
size_t lam__kernels_schur_bytes(lam_dtype dtype, int64_t n) {
    const int room = dtype == LAM_F64    ? asked_f64(n)
                     : dtype == LAM_F32  ? asked_f32(n)
                     : dtype == LAM_C128 ? asked_c128(n)
                                         : asked_c64(n);
    return (size_t)(fixed_f64(n) + room) * (size_t)lam__item_bytes(dtype);
}

/* The number of the first matrix for which the iteration did not end, or -1. */
int64_t lam__kernels_schur(lam_dtype dtype, int64_t batch, int64_t n, const void *x, void *t, void *z, void *work) {
    switch (dtype) {
    case LAM_F64: return schur_all_f64(batch, n, x, t, z, work);
    case LAM_F32: return schur_all_f32(batch, n, x, t, z, work);
    case LAM_C128: return schur_all_c128(batch, n, x, t, z, work);
    default: return schur_all_c64(batch, n, x, t, z, work);
    }
}
