/* QR, eigenvalues and singular values of single complex matrices, by LAPACK: what spectral.c does for each matrix of a
 * batch. Work is complex numbers, then real ones, then ints. Nothing here allocates. The bytes that each function here
 * names and the pointers that its namesake in spectral_complex_type.h makes of them must agree. */
#include "lib/kernels/blas/spectral.h"

#include <math.h>
#include <string.h>

/* Numbers of each kind. Complex ones, real ones and ints. As LAPACK is asked for them, or as its documentation says. */
typedef struct work_sizes {
    int numbers, reals, ints;
} work_sizes;

#define R      double
#define T      double _Complex
#define NAME   c128
#define LETTER z
#include "lib/kernels/blas/spectral_complex_type.h"

#define R      float
#define T      float _Complex
#define NAME   c64
#define LETTER c
#include "lib/kernels/blas/spectral_complex_type.h"

/* Bytes of the work and of `more` complex numbers, up to a multiple of 8. */
static size_t bytes_of(lam_dtype dtype, work_sizes sizes, int64_t more) {
    const size_t real = dtype == LAM_C128 ? sizeof(double) : sizeof(float);
    const size_t numbers = 2 * (size_t)(sizes.numbers + more) + (size_t)sizes.reals;
    return (numbers * real + (size_t)sizes.ints * sizeof(int) + 7) & ~(size_t)7;
}

/* A copy of the matrix, with vectors in its place afterwards. */
size_t lam__spectral_complex_eigh_bytes(lam_dtype dtype, int64_t n, bool vectors) {
    return bytes_of(dtype, dtype == LAM_C128 ? eigh_sizes_c128(n, vectors) : eigh_sizes_c64(n, vectors), n * n + SPARE);
}

/* The matrix is copied, here and below, because of NOTE [spare numbers]; results are copied back. */
bool lam__spectral_complex_eigh(lam_dtype dtype, int64_t n, bool vectors, void *x, void *values, void *work) {
    return dtype == LAM_C128 ? eigh_c128(n, vectors, x, values, work) : eigh_c64(n, vectors, x, values, work);
}

/* Copies of the matrix and of both factors, each with numbers to spare. What is not asked for takes room too, which is
 * little beside the rest. */
size_t lam__spectral_complex_svd_bytes(lam_dtype dtype, const lam__rectangle *r) {
    return bytes_of(dtype, dtype == LAM_C128 ? svd_sizes_c128(r) : svd_sizes_c64(r),
                    r->m * r->n + svd_columns(r) * r->m + svd_rows(r) * r->n + 3 * SPARE);
}

bool lam__spectral_complex_svd(lam_dtype dtype, const lam__rectangle *r, const void *x, void *u, void *s, void *vt,
                               void *work) {
    return dtype == LAM_C128 ? svd_c128(r, x, u, s, vt, work) : svd_c64(r, x, u, s, vt, work);
}

/* A number for each reflector, and copies of x and of q. */
size_t lam__spectral_complex_qr_bytes(lam_dtype dtype, const lam__rectangle *r) {
    return bytes_of(dtype, dtype == LAM_C128 ? qr_sizes_c128(r) : qr_sizes_c64(r),
                    (r->m < r->n ? r->m : r->n) + r->m * r->n + r->m * (r->full || r->m < r->n ? r->m : r->n) +
                        2 * SPARE);
}

void lam__spectral_complex_qr(lam_dtype dtype, const lam__rectangle *how, void *x, void *q, void *r, void *work) {
    if (dtype == LAM_C128) qr_c128(how, x, q, r, work);
    else qr_c64(how, x, q, r, work);
}

/* A copy of the matrix, and one of the vectors where they are wanted. */
size_t lam__spectral_complex_eig_bytes(lam_dtype dtype, int64_t n, bool vectors) {
    return bytes_of(dtype, dtype == LAM_C128 ? eig_sizes_c128(n, vectors) : eig_sizes_c64(n, vectors),
                    n * n + SPARE + (vectors ? n * n + SPARE : 0));
}

/* x is read only, unlike that of the real namesake. */
bool lam__spectral_complex_eig(lam_dtype dtype, int64_t n, const void *x, void *values, void *vectors, void *work) {
    return dtype == LAM_C128 ? eig_c128(n, x, values, vectors, work) : eig_c64(n, x, values, vectors, work);
}
