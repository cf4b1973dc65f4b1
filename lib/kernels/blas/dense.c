/* Factorisations and solves of real matrices of any size. Small ones are done by the loops for this machine; of larger
 * ones these do panels and blocks of the diagonal, and what is left, products with a panel, goes to CBLAS. Panels have
 * fixed sizes, so the bits of a result depend on the sizes of the matrix and on the instruction set alone. */
#include "lib/kernels/blas/dense.h"

#include <cblas.h>

#include "lib/kernels/item.h"

enum {
    PANEL = 64,   /* columns or rows of a panel */
    WHOLE = 256,  /* matrices up to this size are one panel, */
    SOLVED = 128, /* and those of substitutions */
    WIDE_QR = 26, /* vectors, */
    TALL_QR = 1 << 20
};

/* The set of the elementwise loops: all of a factorisation is done by one set. */
const lam__dense_loops *lam__dense_loops_of(lam_dtype dtype) {
#if defined(LAM__HAVE_X86_64_LEVELS)
    const lam__simd *simd = lam__elementwise_simd();
    if (simd == &lam__simd_v4) return &lam__dense_loops_v4[dtype == LAM_F32];
    if (simd == &lam__simd_v3) return &lam__dense_loops_v3[dtype == LAM_F32];
#endif
    return &lam__dense_loops_v1[dtype == LAM_F32];
}

static char *at(lam_dtype dtype, const void *a, int64_t elements) {
    return (char *)(uintptr_t)a + elements * lam__item_bytes(dtype);
}

/* c -= op(a) b by CBLAS; a is transposed where its columns lie side by side. */
static void take_product(lam_dtype dtype, const lam__dense_product *p) {
    const CBLAS_TRANSPOSE turn = p->a_col == 1 ? CblasNoTrans : CblasTrans;
    const int m = (int)p->m, n = (int)p->n, k = (int)p->k, lead = (int)(p->a_col == 1 ? p->a_row : p->a_col);
    if (dtype == LAM_F64)
        cblas_dgemm(CblasRowMajor, turn, CblasNoTrans, m, n, k, -1.0, p->a, lead, p->b, (int)p->b_row, 1.0, p->c,
                    (int)p->c_row);
    else
        cblas_sgemm(CblasRowMajor, turn, CblasNoTrans, m, n, k, -1.0f, p->a, lead, p->b, (int)p->b_row, 1.0f, p->c,
                    (int)p->c_row);
}

/* The upper triangle of c[n, n] -= a^T a, where a has k rows. */
static void take_square(lam_dtype dtype, int64_t n, int64_t k, int64_t lead, const void *a, void *c) {
    const int size = (int)n, rows = (int)k, step = (int)lead;
    if (dtype == LAM_F64) cblas_dsyrk(CblasRowMajor, CblasUpper, CblasTrans, size, rows, -1.0, a, step, 1.0, c, step);
    else cblas_ssyrk(CblasRowMajor, CblasUpper, CblasTrans, size, rows, -1.0f, a, step, 1.0f, c, step);
}

/* The block on the diagonal, what it makes of the rows to its right, and what those take from the rest. */
bool lam__dense_cholesky(lam_dtype dtype, int64_t n, void *a) {
    const lam__dense_loops *loops = lam__dense_loops_of(dtype);
    /* The block is seen as its transpose: u_kk^T is lower, so rows to the right are solved forwards. */
    const lam__dense_solve turned = {1, n, n, true, false};
    if (n <= WHOLE) return loops->cholesky(n, n, a);
    for (int64_t k = 0; k < n; k += PANEL) {
        const int64_t rows = n - k < PANEL ? n - k : PANEL, next = k + rows;
        char *block = at(dtype, a, k * n + k), *right = at(dtype, block, rows);
        if (!loops->cholesky(rows, n, block)) return false;
        if (next == n) break;
        loops->solve(&turned, rows, n - next, block, right);
        take_square(dtype, n - next, rows, n, right, at(dtype, a, next * n + next));
    }
    return true;
}

/* By panels of columns, looking to the right: the loops factor a panel over all rows below and exchange whole rows,
 * then the rows beside the block are solved for, and CBLAS takes their product from the rest. */
void lam__dense_lu(lam_dtype dtype, int64_t m, int64_t n, void *a, int32_t *pivots) {
    const lam__dense_loops *loops = lam__dense_loops_of(dtype);
    const lam__dense_solve lower = {n, 1, n, true, true};
    const int64_t all = m < n ? m : n, panel = all <= WHOLE ? all : PANEL;
    for (int64_t k = 0; k < all; k += panel) {
        const int64_t columns = all - k < panel ? all - k : panel, next = k + columns, rest = n - next;
        char *block = at(dtype, a, k * n + k), *right = at(dtype, block, columns);
        loops->lu(m, n, k, columns, a, pivots);
        if (rest == 0) break;
        loops->solve(&lower, columns, rest, block, right);
        if (next == m) break;
        take_product(dtype, &(lam__dense_product){m - next, rest, columns, at(dtype, a, next * n + k), right,
                                                  at(dtype, a, next * n + next), n, 1, n, n});
    }
}

/* Blocks of the solution: what those before contribute is taken away, then each is solved. */
void lam__dense_substitute(lam_dtype dtype, const lam__dense_solve *s, int64_t n, int64_t m, const void *a, void *b) {
    const lam__dense_loops *loops = lam__dense_loops_of(dtype);
    const int64_t panel = n <= SOLVED ? n : PANEL;
    for (int64_t done = 0; done < n; done += panel) {
        const int64_t rows = n - done < panel ? n - done : panel, first = s->forward ? done : n - done - rows;
        const int64_t known = s->forward ? 0 : first + rows;
        char *block = at(dtype, b, first * s->b_row);
        if (done)
            take_product(dtype, &(lam__dense_product){rows, m, done, at(dtype, a, first * s->row + known * s->col),
                                                      at(dtype, b, known * s->b_row), block, s->row, s->col, s->b_row,
                                                      s->b_row});
        loops->solve(s, rows, m, at(dtype, a, first * (s->row + s->col)), block);
    }
}

/* Measured against LAPACK, which wants columns: up to WIDE_QR vectors on the shorter side. */
bool lam__dense_fits_qr(lam_dtype dtype, int64_t m, int64_t n) {
    const int64_t columns = lam__dense_loops_of(dtype)->columns, k = m < n ? m : n, longer = m < n ? n : m;
    return k <= WIDE_QR * columns && longer <= TALL_QR;
}
