/* Column pivots of batches of contiguous row-major matrices, by LAPACK: see pivots.h. Nothing here allocates; the bytes
 * that are named and the pointers that pivots_type.h makes of them must agree. */
#include "lib/kernels/blas/pivots.h"

#include "lib/kernels/blas/spectral.h"
#include "lib/kernels/item.h"

#include <math.h>

/* geqp3 has one argument more for complex numbers, the room for real ones. */
#define REALS(x)
#define R      double
#define T      double
#define NAME   f64
#define LETTER d
#include "lib/kernels/blas/pivots_type.h"

#define R      float
#define T      float
#define NAME   f32
#define LETTER s
#include "lib/kernels/blas/pivots_type.h"

#undef REALS
#define REALS(x) x,
#define R        double
#define T        double _Complex
#define NAME     c128
#define LETTER   z
#include "lib/kernels/blas/pivots_type.h"

#define R      float
#define T      float _Complex
#define NAME   c64
#define LETTER c
#include "lib/kernels/blas/pivots_type.h"

/* What LAPACK asks for in this type, behind numbers whose count is the same in all four. */
size_t lam__kernels_pivots_bytes(lam_dtype dtype, int64_t m, int64_t n) {
    const int room = dtype == LAM_F64    ? asked_f64(m, n)
                     : dtype == LAM_F32  ? asked_f32(m, n)
                     : dtype == LAM_C128 ? asked_c128(m, n)
                                         : asked_c64(m, n);
    return (size_t)(fixed_f64(m, n) + room) * (size_t)lam__item_bytes(dtype);
}

/* One matrix after the other, in the same work. Of the four dtypes that LAPACK has. */
void lam__kernels_pivots(lam_dtype dtype, int64_t batch, int64_t m, int64_t n, const void *x, int32_t *order,
                         void *work) {
    switch (dtype) {
    case LAM_F64: pivots_all_f64(batch, m, n, x, order, work); break;
    case LAM_F32: pivots_all_f32(batch, m, n, x, order, work); break;
    case LAM_C128: pivots_all_c128(batch, m, n, x, order, work); break;
    default: pivots_all_c64(batch, m, n, x, order, work); break;
    }
}
