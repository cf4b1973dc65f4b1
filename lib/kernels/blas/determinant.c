/* Determinants, their logarithms and cofactors of batches of contiguous row-major matrices: written out up to three
 * rows, above that by LU factors. Determinants are products of pivots; cofactors det(x) x^-T, whose pivots are kept
 * away from zero so that they exist for every rank. What would leave the range on the way is made of balanced matrices.
 * Nothing here allocates. Zeros, infinities and NaN need no branches: a zero pivot makes the product zero, and what is
 * not finite is never balanced and spreads as it does in products. */
#include "lib/kernels/blas/balance.h"
#include "lib/kernels/cplx.h"
#include "lib/kernels/item.h"
#include "lib/kernels/kernels.h"

#include <complex.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>
#undef I

/* For these a factorisation would cost more than the polynomial, which has at most six terms. */
enum { WRITTEN_OUT = 3 }; /* rows */

#define PASTE(a, b)  a##_##b
#define EXPAND(a, b) PASTE(a, b)
#define FN(name)     EXPAND(name, NAME)

#define T       double
#define R       double
#define NAME    f64
#define DTYPE   LAM_F64
#define SIZE    fabs
#define EPSILON DBL_EPSILON
/* TINY stands for the pivots of a matrix of zeros, which has no size of which a share could be taken. A product that
 * has been beyond HUGE_SIZE, or below 1 over it, is made again with its exponent apart, before it can have lost
 * digits. */
#define TINY      1e-150
#define HUGE_SIZE 1e290
#define LEAST     0x1p-300
/* Of reals the sign, of complex numbers the number over its size. */
#define DIRECTION(x, size) ((x) > 0 ? 1 : -1)
#include "lib/kernels/blas/determinant_type.h"

#define T                  float
#define R                  float
#define NAME               f32
#define DTYPE              LAM_F32
#define SIZE               fabsf
#define EPSILON            FLT_EPSILON
#define TINY               1e-30f
#define HUGE_SIZE          1e35f
#define LEAST              0x1p-36f
#define DIRECTION(x, size) ((x) > 0 ? 1 : -1)
#include "lib/kernels/blas/determinant_type.h"

#define T                  double _Complex
#define R                  double
#define NAME               c128
#define DTYPE              LAM_C128
#define SIZE               cabs
#define EPSILON            DBL_EPSILON
#define TINY               1e-150
#define HUGE_SIZE          1e290
#define LEAST              0x1p-300
#define DIRECTION(x, size) (x) / (size)
#include "lib/kernels/blas/determinant_type.h"

#define T                  float _Complex
#define R                  float
#define NAME               c64
#define DTYPE              LAM_C64
#define SIZE               cabsf
#define EPSILON            FLT_EPSILON
#define TINY               1e-30f
#define HUGE_SIZE          1e35f
#define LEAST              0x1p-36f
#define DIRECTION(x, size) (x) / (size)
#include "lib/kernels/blas/determinant_type.h"

/* What is made of one matrix. `second` is the other result of those that have two. The room is that of one balanced
 * matrix and serves all matrices of a batch in turn. NULL where there is none. */
typedef void of_matrix(int64_t n, const void *x, const lam__balanced *room, void *out, void *second);

/* One matrix after the other; results lie `step` and 1 elements apart. Logarithms are real, so they lie half as far
 * apart as complex signs do. */
static void each(of_matrix *const by_dtype[LAM_DTYPE_COUNT], lam_dtype dtype, int64_t batch, int64_t n, const void *x,
                 void *out, int64_t step, void *second, void *room) {
    const int64_t item = lam__item_bytes(dtype), part = lam__cplx_is(dtype) ? item / 2 : item;
    const lam__balanced parts = lam__balance_parts(dtype, n, room);
    for (int64_t b = 0; b < batch; b++)
        by_dtype[dtype](n, (const char *)x + b * n * n * item, &parts, (char *)out + b * step * item,
                        second ? (char *)second + b * part : NULL);
}

/* Room for one matrix; those of up to three rows need it only where they have to be balanced. */
size_t lam__kernels_det_bytes(lam_dtype dtype, int64_t n) {
    return lam__balance_bytes(dtype, n);
}

void lam__kernels_det(lam_dtype dtype, int64_t batch, int64_t n, const void *x, void *out, void *room) {
    /* Whoever calls has one of these four. */
    static of_matrix *const det[LAM_DTYPE_COUNT] = {
        [LAM_F64] = det_f64, [LAM_F32] = det_f32, [LAM_C128] = det_c128, [LAM_C64] = det_c64};
    each(det, dtype, batch, n, x, out, 1, NULL, room);
}

void lam__kernels_log_det(lam_dtype dtype, int64_t batch, int64_t n, const void *x, void *sign, void *log, void *room) {
    static of_matrix *const log_det[LAM_DTYPE_COUNT] = {
        [LAM_F64] = log_det_f64, [LAM_F32] = log_det_f32, [LAM_C128] = log_det_c128, [LAM_C64] = log_det_c64};
    each(log_det, dtype, batch, n, x, sign, 1, log, room);
}

void lam__kernels_cofactor(lam_dtype dtype, int64_t batch, int64_t n, const void *x, void *out, void *room) {
    static of_matrix *const cofactor[LAM_DTYPE_COUNT] = {
        [LAM_F64] = cofactor_f64, [LAM_F32] = cofactor_f32, [LAM_C128] = cofactor_c128, [LAM_C64] = cofactor_c64};
    each(cofactor, dtype, batch, n, x, out, n * n, NULL, room);
}
