/* Factorisations and solves of real matrices whose rows lie side by side, one set of loops for each instruction set
 * (dense_simd.c). All of them are made of two tiles that keep a part of the result in registers: a product that is
 * taken away, and a substitution. Nothing is packed, so that is for matrices that stay in the second cache; larger ones
 * go through dense.c, where what lies outside of narrow panels is left to CBLAS. */
#ifndef LAM_KERNELS_BLAS_DENSE_H
#define LAM_KERNELS_BLAS_DENSE_H

#include "lib/kernels/kernels.h"
#include "lib/kernels/simd/simd.h"

/* c[m, n] -= a[m, k] b[k, n]; element (i, q) of a is a[i * a_row + q * a_col], rows of b and c are `b_row` and `c_row`
 * apart. */
typedef struct lam__dense_product {
    int64_t m, n, k;
    const void *a, *b;
    void *c;
    int64_t a_row, a_col, b_row, c_row;
} lam__dense_product;

/* x with A x = b for m right sides b[n, m], in their place, rows of them `b_row` apart: A(i, q) is
 * a[i * row + q * col], lower (forward) or upper. */
typedef struct lam__dense_solve {
    int64_t row, col, b_row;
    bool forward, unit_diagonal;
} lam__dense_solve;

/*   minus     see above
 *   solve     see above
 *   cholesky  the upper triangle of a[n, n], rows `lead` apart, becomes u with u^T u = a; what lies below is lost where
 *             it is in a block on the diagonal, and else not looked at; false: a pivot is not positive
 *   lu        columns [first, first + width) of a[m, n], in whose rows from `first` on elimination goes on; whole rows
 *             are exchanged, row i with pivots[i]; no more columns than there are rows
 *   qr        a[m, n], which is lost, is q[m, columns] r[columns, n]: columns of q (NULL: not wanted) are orthonormal,
 *             r has an upper triangle, signs are LAPACK's; room for qr_room numbers
 *   columns   of a panel that lu takes without cutting it in two: the elements of a vector */
typedef struct lam__dense_loops {
    int columns;
    void (*minus)(const lam__dense_product *p);
    void (*solve)(const lam__dense_solve *s, int64_t n, int64_t m, const void *a, void *b);
    bool (*cholesky)(int64_t n, int64_t lead, void *a);
    void (*lu)(int64_t m, int64_t n, int64_t first, int64_t width, void *a, int32_t *pivots);
    int64_t (*qr_room)(int64_t m, int64_t n, int64_t columns);
    void (*qr)(int64_t m, int64_t n, int64_t columns, void *a, void *q, void *r, void *room);
} lam__dense_loops;

/* Of f64 and of f32. */
extern const lam__dense_loops lam__dense_loops_v1[2];
#if defined(LAM__HAVE_X86_64_LEVELS)
extern const lam__dense_loops lam__dense_loops_v3[2], lam__dense_loops_v4[2];
#endif

/* For this machine. */
const lam__dense_loops *lam__dense_loops_of(lam_dtype dtype);

/* The same for any size, of f64 and f32. lu: of all of a[m, n]. */
bool lam__dense_cholesky(lam_dtype dtype, int64_t n, void *a);
void lam__dense_lu(lam_dtype dtype, int64_t m, int64_t n, void *a, int32_t *pivots);
void lam__dense_substitute(lam_dtype dtype, const lam__dense_solve *s, int64_t n, int64_t m, const void *a, void *b);

/* Whether the loops' qr is the fastest way for m x n: not for large matrices. */
bool lam__dense_fits_qr(lam_dtype dtype, int64_t m, int64_t n);

#endif
