/* What spectral.c and spectral_complex.c share, and the complex side of the former: the same functions for c128 and
 * c64, of which symmetric eigenvalues and singular values are real. */
#ifndef LAM_KERNELS_BLAS_SPECTRAL_H
#define LAM_KERNELS_BLAS_SPECTRAL_H

#include "lib/kernels/kernels.h"

#include <limits.h>

/* LAPACK gives the size as a floating number, which single precision may have rounded down. A number too large for
 * f32's 24 digits comes back smaller than was meant, and the work would be too short. */
static inline int as_asked(double size) {
    const double whole = size * (1 + 0x1p-22) + 1;
    return whole < INT_MAX ? (int)whole : INT_MAX;
}

/* The same, but at least so much: what LAPACK asks for is a multiple of a side, which it works out in an int that wraps
 * where the side is long. With less than it asked for it works, column by column. */
static inline int at_least(int least, double size) {
    const int asked = as_asked(size > 0 ? size : 0);
    return asked > least ? asked : least;
}

/* NOTE [spare numbers]  OpenBLAS's kernels for complex matrices times vectors read a little beyond the end of a matrix.
 * So LAPACK works on copies with this many numbers behind each, never on memory that may end where a page does. */
enum { SPARE = 8 };

static inline const char *svd_job(const lam__rectangle *r) {
    return !r->vectors ? "N" : r->full ? "A" : "S";
}

/* Columns of u, rows of vt. The former is also the leading dimension that LAPACK is told. */
static inline int svd_columns(const lam__rectangle *r) {
    return (int)(r->full || r->m < r->n ? r->m : r->n);
}
static inline int svd_rows(const lam__rectangle *r) {
    return (int)(r->full || r->n < r->m ? r->n : r->m);
}

/* Names in spectral_type.h and spectral_complex_type.h: of functions by NAME, of LAPACK's by LETTER. LAPACK's symbols
 * end in an underscore. */
#define PASTE2(a, b)     a##_##b
#define EXPAND2(a, b)    PASTE2(a, b)
#define PASTE3(a, b, c)  a##b##c
#define EXPAND3(a, b, c) PASTE3(a, b, c)
#define FN(name)         EXPAND2(name, NAME)
#define LAPACK(name)     EXPAND3(LETTER, name, _)

size_t lam__spectral_complex_eigh_bytes(lam_dtype dtype, int64_t n, bool vectors);
bool lam__spectral_complex_eigh(lam_dtype dtype, int64_t n, bool vectors, void *x, void *values, void *work);
size_t lam__spectral_complex_svd_bytes(lam_dtype dtype, const lam__rectangle *r);
bool lam__spectral_complex_svd(lam_dtype dtype, const lam__rectangle *r, const void *x, void *u, void *s, void *vt,
                               void *work);
size_t lam__spectral_complex_qr_bytes(lam_dtype dtype, const lam__rectangle *r);
void lam__spectral_complex_qr(lam_dtype dtype, const lam__rectangle *how, void *x, void *q, void *r, void *work);
size_t lam__spectral_complex_eig_bytes(lam_dtype dtype, int64_t n, bool vectors);
bool lam__spectral_complex_eig(lam_dtype dtype, int64_t n, const void *x, void *values, void *vectors, void *work);

#endif
