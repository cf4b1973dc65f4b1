/* QR, eigenvalues and singular values of batches of contiguous row-major matrices, by LAPACK. It is never shown what it
 * does not accept: sizes are checked before (LAM__LAPACK_MOST), work has the size it asks for, and a matrix with an
 * infinity or a NaN is answered with NaN here, since some of its iterations would not end. Nothing here allocates. */
#include "lib/kernels/blas/spectral.h"
#include "lib/kernels/blas/dense.h"
#include "lib/kernels/item.h"
#include "lib/kernels/kernels.h"

#include <math.h>
#include <string.h>

enum { TALL = 1000 }; /* elements from which singular values go by a QR of their own */

/* Room for LAPACK: numbers of the matrix's type, then ints. LAPACK is asked for them each time anew, which is a call
 * without work; the sizes that fix the caller's memory and those that LAPACK is told come from the same function, so
 * they cannot differ. */
typedef struct work_sizes {
    int numbers, ints;
} work_sizes;

#define T      double
#define NAME   f64
#define DTYPE  LAM_F64
#define LETTER d
#include "lib/kernels/blas/turn_type.h"
#include "lib/kernels/blas/spectral_type.h"

#define T      float
#define NAME   f32
#define DTYPE  LAM_F32
#define LETTER s
#include "lib/kernels/blas/turn_type.h"
#include "lib/kernels/blas/spectral_type.h"

/* The real kinds stand in this file, the complex ones in spectral_complex.c: their LAPACK calls take other
 * arguments. */
static bool is_f64(lam_dtype dtype) {
    return dtype == LAM_F64;
}

/* The narrow floats do not come here. */
static bool is_complex(lam_dtype dtype) {
    return dtype == LAM_C128 || dtype == LAM_C64;
}

/* Places in a batch; the outputs may be NULL where they are not asked for. A NULL stays NULL. */
static const void *item_at(const void *x, int64_t elements, lam_dtype dtype) {
    return (const char *)x + elements * lam__item_bytes(dtype);
}
static void *room_at(void *x, int64_t elements, lam_dtype dtype) {
    return x ? (char *)x + elements * lam__item_bytes(dtype) : NULL;
}

/* Of eigenvalues and singular values. A Hermitian matrix and a product with its conjugate have real ones. */
static lam_dtype real_of(lam_dtype dtype) {
    return dtype == LAM_C128 ? LAM_F64 : dtype == LAM_C64 ? LAM_F32 : dtype;
}

/* Bytes of these sizes and of `more` numbers. Rounded up to 8. */
static size_t bytes_of(lam_dtype dtype, work_sizes sizes, int64_t more) {
    size_t numbers = (size_t)(sizes.numbers + more) * (size_t)lam__item_bytes(dtype);
    return (numbers + (size_t)sizes.ints * sizeof(int) + 7) & ~(size_t)7;
}

/* ---- symmetric eigenvalues ------------------------------------------------------------------------------------- */

/* LAPACK is asked for each call, not for each matrix. */
static work_sizes eigh_sizes(lam_dtype dtype, int64_t n, bool vectors) {
    return is_f64(dtype) ? eigh_sizes_f64(n, vectors) : eigh_sizes_f32(n, vectors);
}

size_t lam__kernels_eigh_bytes(lam_dtype dtype, int64_t n, bool vectors) {
    if (is_complex(dtype)) return lam__spectral_complex_eigh_bytes(dtype, n, vectors);
    return bytes_of(dtype, eigh_sizes(dtype, n, vectors), 0);
}

/* Gives the number of the first matrix for which the iteration did not end, or -1. Vectors replace x. */
int64_t lam__kernels_eigh(lam_dtype dtype, int64_t batch, int64_t n, bool vectors, void *x, void *values, void *work) {
    const work_sizes sizes = is_complex(dtype) ? (work_sizes){0, 0} : eigh_sizes(dtype, n, vectors);
    for (int64_t b = 0; b < batch; b++) {
        void *a = room_at(x, b * n * n, dtype), *w = room_at(values, b * n, real_of(dtype));
        bool done = is_complex(dtype) ? lam__spectral_complex_eigh(dtype, n, vectors, a, w, work)
                    : is_f64(dtype)   ? eigh_f64(n, vectors, sizes, a, w, work)
                                      : eigh_f32(n, vectors, sizes, a, w, work);
        if (!done) return b;
    }
    return -1;
}

/* ---- singular values ------------------------------------------------------------------------------------------- */

/* Complex matrices have sizes of their own and never come here. */
static work_sizes svd_sizes(lam_dtype dtype, const lam__rectangle *r) {
    return is_f64(dtype) ? svd_sizes_f64(r) : svd_sizes_f32(r);
}

/* The matrix is copied, since LAPACK overwrites it and x is the caller's. So x may be any operand. */
size_t lam__kernels_svd_bytes(lam_dtype dtype, const lam__rectangle *r) {
    if (is_complex(dtype)) return lam__spectral_complex_svd_bytes(dtype, r);
    return bytes_of(dtype, svd_sizes(dtype, r), r->m * r->n);
}

/* u and vt may be NULL, where only values are wanted; room_at leaves them so. */
int64_t lam__kernels_svd(lam_dtype dtype, const lam__rectangle *r, int64_t batch, const void *x, void *u, void *s,
                         void *vt, void *work) {
    const work_sizes sizes = is_complex(dtype) ? (work_sizes){0, 0} : svd_sizes(dtype, r);
    const int64_t k = r->m < r->n ? r->m : r->n, u_step = r->m * svd_columns(r), vt_step = r->n * svd_rows(r);
    for (int64_t b = 0; b < batch; b++) {
        const void *a = item_at(x, b * r->m * r->n, dtype);
        void *ub = room_at(u, b * u_step, dtype), *sb = room_at(s, b * k, real_of(dtype)),
             *vb = room_at(vt, b * vt_step, dtype);
        bool done = is_complex(dtype) ? lam__spectral_complex_svd(dtype, r, a, ub, sb, vb, work)
                    : is_f64(dtype)   ? svd_f64(r, sizes, a, ub, sb, vb, work)
                                      : svd_f32(r, sizes, a, ub, sb, vb, work);
        if (!done) return b;
    }
    return -1;
}

/* ---- QR ---------------------------------------------------------------------------------------------------------- */

/* Behind the work lies one number for each reflector. */
static work_sizes qr_sizes(lam_dtype dtype, const lam__rectangle *r) {
    return is_f64(dtype) ? qr_sizes_f64(r) : qr_sizes_f32(r);
}

size_t lam__kernels_qr_bytes(lam_dtype dtype, const lam__rectangle *r) {
    if (is_complex(dtype)) return lam__spectral_complex_qr_bytes(dtype, r);
    return bytes_of(dtype, qr_sizes(dtype, r), r->m < r->n ? r->m : r->n);
}

void lam__kernels_qr(lam_dtype dtype, const lam__rectangle *how, int64_t batch, void *x, void *q, void *r, void *work) {
    const work_sizes sizes = is_complex(dtype) ? (work_sizes){0, 0} : qr_sizes(dtype, how);
    /* Columns of q: all m for full factors, else those of the shorter side. */
    const int64_t m = how->m, n = how->n, columns = how->full || m < n ? m : n;
    for (int64_t b = 0; b < batch; b++) {
        void *a = room_at(x, b * m * n, dtype), *qb = room_at(q, b * m * columns, dtype),
             *rb = room_at(r, b * columns * n, dtype);
        if (is_complex(dtype)) lam__spectral_complex_qr(dtype, how, a, qb, rb, work);
        else if (is_f64(dtype)) qr_f64(how, sizes, a, qb, rb, work);
        else qr_f32(how, sizes, a, qb, rb, work);
    }
}

/* ---- eigenvalues ------------------------------------------------------------------------------------------------- */

/* LAPACK gives real and imaginary parts apart, and vectors of pairs as two reals: room for both behind the work. */
static work_sizes eig_sizes(lam_dtype dtype, int64_t n, bool vectors) {
    return is_f64(dtype) ? eig_sizes_f64(n, vectors) : eig_sizes_f32(n, vectors);
}

size_t lam__kernels_eig_bytes(lam_dtype dtype, int64_t n, bool vectors) {
    if (is_complex(dtype)) return lam__spectral_complex_eig_bytes(dtype, n, vectors);
    return bytes_of(dtype, eig_sizes(dtype, n, vectors), 2 * n + (vectors ? n * n : 0));
}

/* Values are complex whatever the matrix is; LAPACK's pairs of reals become complex numbers there. x is overwritten. */
int64_t lam__kernels_eig(lam_dtype dtype, int64_t batch, int64_t n, void *x, void *values, void *vectors, void *work) {
    const work_sizes sizes = is_complex(dtype) ? (work_sizes){0, 0} : eig_sizes(dtype, n, vectors != NULL);
    const lam_dtype out = real_of(dtype) == LAM_F64 ? LAM_C128 : LAM_C64;
    for (int64_t b = 0; b < batch; b++) {
        void *a = room_at(x, b * n * n, dtype), *w = room_at(values, b * n, out), *v = room_at(vectors, b * n * n, out);
        bool done = is_complex(dtype) ? lam__spectral_complex_eig(dtype, n, a, w, v, work)
                    : is_f64(dtype)   ? eig_f64(n, sizes, a, w, v, work)
                                      : eig_f32(n, sizes, a, w, v, work);
        if (!done) return b;
    }
    return -1;
}
