/* The Hessenberg form of batches of contiguous row-major matrices, by LAPACK: see hessenberg.h. Nothing here allocates;
 * the bytes that are named and the pointers that hessenberg_type.h makes of them must agree. */
#include "lib/kernels/blas/hessenberg.h"

#include "lib/kernels/blas/spectral.h"
#include "lib/kernels/item.h"

/* Real reflections make an orthogonal q (orghr), complex ones a unitary one (unghr). */
#define R      double
#define T      double
#define NAME   f64
#define LETTER d
#define MAKE   orghr
#include "lib/kernels/blas/hessenberg_type.h"

#define R      float
#define T      float
#define NAME   f32
#define LETTER s
#define MAKE   orghr
#include "lib/kernels/blas/hessenberg_type.h"

#define R      double
#define T      double _Complex
#define NAME   c128
#define LETTER z
#define MAKE   unghr
#include "lib/kernels/blas/hessenberg_type.h"

#define R      float
#define T      float _Complex
#define NAME   c64
#define LETTER c
#define MAKE   unghr
#include "lib/kernels/blas/hessenberg_type.h"

/* What LAPACK asks for in this type, behind numbers whose count is the same in all four. Asked here and again when
 * it is run: by the same function, so the answers agree. */
size_t lam__kernels_hessenberg_bytes(lam_dtype dtype, int64_t n) {
    const int room = dtype == LAM_F64    ? asked_f64(n)
                     : dtype == LAM_F32  ? asked_f32(n)
                     : dtype == LAM_C128 ? asked_c128(n)
                                         : asked_c64(n);
    return (size_t)(fixed_f64(n) + room) * (size_t)lam__item_bytes(dtype);
}

/* There are four dtypes: others have been brought to one of these, or refused. */
void lam__kernels_hessenberg(lam_dtype dtype, int64_t batch, int64_t n, const void *x, void *h, void *q, void *work) {
    switch (dtype) {
    case LAM_F64: hessenberg_all_f64(batch, n, x, h, q, work); break;
    case LAM_F32: hessenberg_all_f32(batch, n, x, h, q, work); break;
    case LAM_C128: hessenberg_all_c128(batch, n, x, h, q, work); break;
    default: hessenberg_all_c64(batch, n, x, h, q, work); break;
    }
}
