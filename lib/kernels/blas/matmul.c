/* Batched matrix products. A product is first made as large as its strides allow (a shared operand lets the batch
 * become rows or columns), then goes by size to the kernels of small.h or to CBLAS. Operands are read where they
 * lie; only a matrix with neither stride 1 is copied, into scratch, and only where CBLAS is worth it. */
#include "lib/kernels/blas/small.h"
#include "lib/kernels/cplx.h"
#include "lib/kernels/item.h"

#include <cblas.h>
#include <string.h>

enum {
    NARROW = 8, /* k and n up to here are for the small kernel whatever m is */
    SMALL = 16, /* and all dims up to here where CBLAS has no path for small matrices */
};

/* ---- operands as CBLAS sees them ----------------------------------------------------------------------------- */

/* A matrix [rows, cols] stored row by row, or transposed, with `lead` elements from one line to the next. */
typedef struct matrix {
    const void *data;
    CBLAS_TRANSPOSE stored; /* CblasTrans: the lines in memory are columns */
    int lead;
} matrix;

static bool lines_fit(int64_t lines, int64_t length, int64_t lead, int64_t step) {
    return (length == 1 || step == 1) && (lines == 1 || (lead >= length && lead <= INT_MAX));
}

/* Whether CBLAS can read it in place. Strides of axes with one element say nothing. */
static bool matrix_view(int64_t rows, int64_t cols, int64_t row, int64_t col, const void *data, matrix *view) {
    if (lines_fit(rows, cols, row, col)) *view = (matrix){data, CblasNoTrans, (int)(rows == 1 ? cols : row)};
    else if (lines_fit(cols, rows, col, row)) *view = (matrix){data, CblasTrans, (int)(cols == 1 ? rows : col)};
    else return false;
    return true;
}

static CBLAS_TRANSPOSE other(CBLAS_TRANSPOSE t) {
    return t == CblasTrans ? CblasNoTrans : CblasTrans;
}

/* ---- CBLAS by dtype ------------------------------------------------------------------------------------------ */

static void gemm(lam_dtype dtype, const lam__product *p, const matrix *x, const matrix *y, void *out) {
    static const double one[2] = {1, 0}, zero[2] = {0, 0};
    static const float one_f32[2] = {1, 0}, zero_f32[2] = {0, 0};
    const int m = (int)p->m, k = (int)p->k, n = (int)p->n;
    if (dtype == LAM_C128)
        cblas_zgemm(CblasRowMajor, x->stored, y->stored, m, n, k, one, x->data, x->lead, y->data, y->lead, zero, out,
                    n);
    else if (dtype == LAM_C64)
        cblas_cgemm(CblasRowMajor, x->stored, y->stored, m, n, k, one_f32, x->data, x->lead, y->data, y->lead, zero_f32,
                    out, n);
    else if (dtype == LAM_F64)
        cblas_dgemm(CblasRowMajor, x->stored, y->stored, m, n, k, 1.0, x->data, x->lead, y->data, y->lead, 0.0, out, n);
    else
        cblas_sgemm(CblasRowMajor, x->stored, y->stored, m, n, k, 1.0f, x->data, x->lead, y->data, y->lead, 0.0f, out,
                    n);
}

/* out = matrix * vector, or transpose(matrix) * vector; [rows, cols] are the matrix's own. Adds to zeros, because not
 * every CBLAS leaves out unread when beta is 0. */
static void gemv(lam_dtype dtype, bool transpose, int64_t rows, int64_t cols, const matrix *a, const void *v,
                 int64_t step, void *out) {
    const bool lines_are_rows = a->stored == CblasNoTrans;
    const int lines = (int)(lines_are_rows ? rows : cols), length = (int)(lines_are_rows ? cols : rows);
    const CBLAS_TRANSPOSE t = transpose ? other(a->stored) : a->stored;
    const size_t count = (size_t)(transpose ? cols : rows);
    if (dtype == LAM_F64) {
        memset(out, 0, count * sizeof(double));
        cblas_dgemv(CblasRowMajor, t, lines, length, 1.0, a->data, a->lead, v, (int)step, 1.0, out, 1);
    } else {
        memset(out, 0, count * sizeof(float));
        cblas_sgemv(CblasRowMajor, t, lines, length, 1.0f, a->data, a->lead, v, (int)step, 1.0f, out, 1);
    }
}

static void dot(lam_dtype dtype, const lam__product *p, const void *x, const void *y, void *out) {
    const int k = (int)p->k, x_step = (int)p->x_col, y_step = (int)p->y_row;
    if (dtype == LAM_F64) *(double *)out = cblas_ddot(k, x, x_step, y, y_step);
    else *(float *)out = cblas_sdot(k, x, x_step, y, y_step);
}

/* ---- one product after the other ----------------------------------------------------------------------------- */

static const lam__small_type *loops(lam_dtype dtype) {
#if defined(LAM__HAVE_X86_64_LEVELS)
    const lam__simd *simd = lam__elementwise_simd();
    if (simd == &lam__simd_v4) return &lam__small_simd_v4[dtype];
    if (simd == &lam__simd_v3) return &lam__small_simd_v3[dtype];
#endif
    return &lam__small_simd_v1[dtype];
}

static const void *at(const void *base, int64_t elements, lam_dtype dtype) {
    return (const char *)base + elements * lam__item_bytes(dtype);
}

/* CBLAS counts in int, and steps of vectors below 1 mean something else there. */
static bool is_step(int64_t step) {
    return step >= 1 && step <= INT_MAX;
}

/* A matrix copied row by row into `to`. */
static void copy_matrix(lam_dtype dtype, int64_t rows, int64_t cols, int64_t row, int64_t col, const void *from,
                        void *to) {
    const int64_t dims[2] = {rows, cols}, strides[2] = {row, col}, packed[2] = {cols, 1};
    lam__kernels_copy(2, dims, dtype, to, packed, dtype, from, strides);
}

/* Runs vectors where they are in a form that CBLAS takes; false if not. */
static bool try_vectors(lam_dtype dtype, const lam__product *p, const void *x, const void *y, void *out) {
    matrix a;
    if (p->m == 1 && p->n == 1) {
        if (!is_step(p->x_col) || !is_step(p->y_row)) return false;
        dot(dtype, p, x, y, out);
    } else if (p->m == 1) {
        if (!is_step(p->x_col) || !matrix_view(p->k, p->n, p->y_row, p->y_col, y, &a)) return false;
        gemv(dtype, true, p->k, p->n, &a, x, p->x_col, out);
    } else {
        if (!is_step(p->y_row) || !matrix_view(p->m, p->k, p->x_row, p->x_col, x, &a)) return false;
        gemv(dtype, false, p->m, p->k, &a, y, p->y_row, out);
    }
    return true;
}

static bool run_vectors(lam_dtype dtype, const lam__product *p) {
    const int64_t out_step = p->m * p->n;
    for (int64_t b = 0; b < p->batch; b++) {
        const void *x = at(p->x, b * p->x_batch, dtype), *y = at(p->y, b * p->y_batch, dtype);
        if (!try_vectors(dtype, p, x, y, (char *)p->out + b * out_step * lam__item_bytes(dtype))) return false;
    }
    return true;
}

/* Room for a copy of an operand that CBLAS cannot read in place; false if there is none. */
typedef struct packing {
    bool needed;
    void *copy;
} packing;

static bool make_room(lam_dtype dtype, int64_t rows, int64_t cols, int64_t row, int64_t col, lam__scratch *scratch,
                      void *env, packing *p) {
    matrix unused;
    p->needed = !matrix_view(rows, cols, row, col, NULL, &unused);
    p->copy = p->needed ? scratch(env, (size_t)rows * (size_t)cols * (size_t)lam__item_bytes(dtype)) : NULL;
    return !p->needed || p->copy;
}

/* The view of matrix number b, copied first if needed; a shared operand is copied once. */
static matrix view_of(lam_dtype dtype, const packing *pack, int64_t b, int64_t rows, int64_t cols, int64_t batch,
                      int64_t row, int64_t col, const void *base) {
    matrix view = {0};
    const void *data = at(base, b * batch, dtype);
    if (!pack->needed) {
        matrix_view(rows, cols, row, col, data, &view);
        return view;
    }
    if (b == 0 || batch != 0) copy_matrix(dtype, rows, cols, row, col, data, pack->copy);
    return (matrix){pack->copy, CblasNoTrans, (int)cols};
}

static bool run_gemm(lam_dtype dtype, const lam__product *p, lam__scratch *scratch, void *env) {
    packing px, py;
    if (!make_room(dtype, p->m, p->k, p->x_row, p->x_col, scratch, env, &px)) return false;
    if (!make_room(dtype, p->k, p->n, p->y_row, p->y_col, scratch, env, &py)) return false;
    const int64_t out_bytes = p->m * p->n * lam__item_bytes(dtype);
    for (int64_t b = 0; b < p->batch; b++) {
        matrix x = view_of(dtype, &px, b, p->m, p->k, p->x_batch, p->x_row, p->x_col, p->x);
        matrix y = view_of(dtype, &py, b, p->k, p->n, p->y_batch, p->y_row, p->y_col, p->y);
        gemm(dtype, p, &x, &y, (char *)p->out + b * out_bytes);
    }
    return true;
}

/* ---- making products large ----------------------------------------------------------------------------------- */

/* out[b, m, 1] = x[m, k] y[b, k, 1] is the product y[b, k] x[k, m]. */
static void swap_vectors(lam__product *p) {
    *p = (lam__product){.batch = 1,
                        .m = p->batch,
                        .k = p->k,
                        .n = p->m,
                        .out = p->out,
                        .x = p->y,
                        .x_row = p->y_batch,
                        .x_col = p->y_row,
                        .y = p->x,
                        .y_row = p->x_col,
                        .y_col = p->x_row};
}

/* Turns the batch into rows or columns where an operand is shared and the strides permit. */
static void fold_batch(lam__product *p) {
    if (p->batch == 1) return;
    if (p->y_batch == 0 && (p->m == 1 || p->x_batch == p->m * p->x_row)) {
        if (p->m == 1) p->x_row = p->x_batch;
        p->m *= p->batch, p->batch = 1;
    } else if (p->x_batch == 0 && p->n == 1) {
        swap_vectors(p);
    } else if (p->x_batch == 0 && p->m == 1 && p->y_batch == p->n * p->y_col) {
        p->n *= p->batch, p->batch = 1;
    }
}

/* ---- choice by size ------------------------------------------------------------------------------------------ */

static bool is_narrow(const lam__product *p) {
    return p->k <= NARROW && p->n <= NARROW;
}

/* CBLAS on machines with AVX-512 has kernels for small matrices; elsewhere it costs a fixed 60 to 100 ns. */
static bool is_small(const lam__product *p) {
    if (is_narrow(p)) return true;
#if defined(LAM__HAVE_X86_64_LEVELS)
    if (lam__elementwise_simd() == &lam__simd_v4) return false;
#endif
    return p->m <= SMALL && p->k <= SMALL && p->n <= SMALL;
}

static bool fits_cblas(const lam__product *p) {
    return p->m <= INT_MAX && p->k <= INT_MAX && p->n <= INT_MAX;
}

static bool run_float(lam_dtype dtype, const lam__product *p, lam__scratch *scratch, void *env) {
    if (is_small(p)) {
        loops(dtype)->small(p);
        return true;
    }
    if (p->k == 1 || !fits_cblas(p)) {
        loops(dtype)->plain(p);
        return true;
    }
    if (p->m > 1 && p->n > 1) return run_gemm(dtype, p, scratch, env);
    if (!run_vectors(dtype, p)) loops(dtype)->plain(p);
    return true;
}

/* Below this many products CBLAS costs more than it saves. */
enum { FEW_PRODUCTS = 512 };

static bool run_complex(lam_dtype dtype, const lam__product *p, lam__scratch *scratch, void *env) {
    if (fits_cblas(p) && p->k > 1 && p->m * p->k * p->n > FEW_PRODUCTS) return run_gemm(dtype, p, scratch, env);
    loops(dtype)->plain(p);
    return true;
}

bool lam__kernels_matmul(lam_dtype dtype, int64_t batch, int64_t m, int64_t k, int64_t n, const void *x,
                         const int64_t x_strides[3], const void *y, const int64_t y_strides[3], void *out,
                         lam__scratch *scratch, void *env) {
    if (batch == 0 || m == 0 || n == 0) return true;
    if (k == 0) {
        memset(out, 0, (size_t)(batch * m * n) * (size_t)lam__item_bytes(dtype));
        return true;
    }
    lam__product p = {.batch = batch,
                      .m = m,
                      .k = k,
                      .n = n,
                      .out = out,
                      .x = x,
                      .x_batch = x_strides[0],
                      .x_row = x_strides[1],
                      .x_col = x_strides[2],
                      .y = y,
                      .y_batch = y_strides[0],
                      .y_row = y_strides[1],
                      .y_col = y_strides[2]};
    fold_batch(&p);
    if (dtype == LAM_F64 || dtype == LAM_F32) return run_float(dtype, &p, scratch, env);
    if (lam__cplx_is(dtype)) return run_complex(dtype, &p, scratch, env);
    loops(dtype)->plain(&p);
    return true;
}
