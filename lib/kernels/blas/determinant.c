/* Determinants and cofactors of batches of contiguous row-major matrices, by their LU factors, which replace them.
 * Determinants are products of pivots; cofactors det(x) x^-T, whose pivots are kept away from zero so that they exist
 * for every rank. Nothing here allocates. */
#include "lib/kernels/item.h"
#include "lib/kernels/kernels.h"

#include <complex.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>
#undef I

#define PASTE(a, b)  a##_##b
#define EXPAND(a, b) PASTE(a, b)
#define FN(name)     EXPAND(name, NAME)

#define T         double
#define R         double
#define NAME      f64
#define DTYPE     LAM_F64
#define SIZE      fabs
#define EPSILON   DBL_EPSILON
#define TINY      1e-150
#define HUGE_SIZE 1e290
#include "lib/kernels/blas/determinant_type.h"

#define T         float
#define R         float
#define NAME      f32
#define DTYPE     LAM_F32
#define SIZE      fabsf
#define EPSILON   FLT_EPSILON
#define TINY      1e-30f
#define HUGE_SIZE 1e35f
#include "lib/kernels/blas/determinant_type.h"

#define T         double _Complex
#define R         double
#define NAME      c128
#define DTYPE     LAM_C128
#define SIZE      cabs
#define EPSILON   DBL_EPSILON
#define TINY      1e-150
#define HUGE_SIZE 1e290
#include "lib/kernels/blas/determinant_type.h"

#define T         float _Complex
#define R         float
#define NAME      c64
#define DTYPE     LAM_C64
#define SIZE      cabsf
#define EPSILON   FLT_EPSILON
#define TINY      1e-30f
#define HUGE_SIZE 1e35f
#include "lib/kernels/blas/determinant_type.h"

/* What is made of the factors of one matrix, which may be overwritten. */
typedef void of_factors(int64_t n, void *factors, const int32_t *pivots, void *out);

/* Factors one matrix after the other and hands it on; results lie `step` elements apart. */
static void factor_each(of_factors *const by_dtype[LAM_DTYPE_COUNT], lam_dtype dtype, int64_t batch, int64_t n, void *x,
                        int32_t *pivots, void *out, int64_t step) {
    const int64_t item = lam__item_bytes(dtype);
    for (int64_t b = 0; b < batch; b++) {
        char *matrix = (char *)x + b * n * n * item;
        lam__kernels_lu(dtype, 1, n, matrix, pivots);
        by_dtype[dtype](n, matrix, pivots, (char *)out + b * step * item);
    }
}

void lam__kernels_det(lam_dtype dtype, int64_t batch, int64_t n, void *x, int32_t *pivots, void *out) {
    static of_factors *const det[LAM_DTYPE_COUNT] = {
        [LAM_F64] = det_f64, [LAM_F32] = det_f32, [LAM_C128] = det_c128, [LAM_C64] = det_c64};
    factor_each(det, dtype, batch, n, x, pivots, out, 1);
}

void lam__kernels_cofactor(lam_dtype dtype, int64_t batch, int64_t n, void *x, int32_t *pivots, void *out) {
    static of_factors *const cofactor[LAM_DTYPE_COUNT] = {
        [LAM_F64] = cofactor_f64, [LAM_F32] = cofactor_f32, [LAM_C128] = cofactor_c128, [LAM_C64] = cofactor_c64};
    factor_each(cofactor, dtype, batch, n, x, pivots, out, n * n);
}
