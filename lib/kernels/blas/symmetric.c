/* See symmetric.h. Complex matrices are pairs of parts. */
#include "lib/kernels/symmetric.h"

#include <string.h>

#include "lib/kernels/cplx.h"
#include "lib/kernels/item.h"
#include "lib/kernels/simd/simd.h"

enum { BLOCK = 32 }; /* rows and columns of what is turned at once */

#define T        double
#define FN(name) name##_f64
#include "lib/kernels/blas/symmetric_type.h"

#define T        float
#define FN(name) name##_f32
#include "lib/kernels/blas/symmetric_type.h"

/* Matrices are replaced by (a + a^H) / 2. Halves of sums of the same two numbers are the same number, so both sides of
 * the diagonal are equal to the last bit. */
void lam__kernels_symmetric(lam_dtype dtype, int64_t batch, int64_t n, void *x) {
    const bool pairs = lam__cplx_is(dtype), wide = dtype == LAM_F64 || dtype == LAM_C128;
    for (int64_t b = 0; b < batch; b++) {
        void *a = (char *)x + b * n * n * lam__item_bytes(dtype);
        if (wide) (pairs ? mean_of_pairs_f64 : mean_f64)(n, a);
        else (pairs ? mean_of_pairs_f32 : mean_f32)(n, a);
    }
}

/* The upper triangle becomes the lower one, in place, and zeros take its place: how Cholesky's u becomes l. */
void lam__symmetric_turn_down(lam_dtype dtype, int64_t n, void *x) {
    if (dtype == LAM_F64) turn_down_f64(n, x);
    else turn_down_f32(n, x);
}
