/* Batched matrix products. A product is first made as large as its strides allow (a shared operand lets the batch
 * become rows or columns), then goes by size to the kernels of small.h or to CBLAS. Operands are read where they
 * lie; only a matrix with neither stride 1 is copied, into scratch, and only where CBLAS is worth it. */
#include "lib/kernels/blas/small.h"
#include "lib/kernels/cplx.h"
#include "lib/kernels/item.h"

#include <cblas.h>
#include <stdatomic.h>
#include <string.h>

enum {
    THIN = 128,
    THIN_ELEMENTS = 4096, /* k, n and k n up to which rows are given to CBLAS a few at a time */
    ROWS = 192,
    LONG = 16 * ROWS,  /* NOTE [rows of a product] */
    WORTH = 1 << 22,   /* products of numbers that a part of a matrix should have at least */
    AT_ONCE = 1000000, /* NOTE [long contractions]: products of numbers up to which CBLAS takes a product as small, */
    DEEPEST = 2048,    /* terms of a piece, */
    RESULTS = 4096     /* and elements of the result up to which there are pieces */
};

/* ---- operands as CBLAS sees them ----------------------------------------------------------------------------- */

/* A matrix [rows, cols] stored row by row, or transposed, with `lead` elements from one line to the next. CBLAS is
 * always told that memory is row-major; a transposed matrix is one whose lines are its columns. */
typedef struct matrix {
    const void *data;
    CBLAS_TRANSPOSE stored; /* CblasTrans: the lines in memory are columns */
    int lead;
} matrix;

/* Lines of `length` elements side by side, `lead` apart: they may not overlap, as those of a broadcast matrix do. */
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

/* out = x y, or out + x y. */
static void gemm(lam_dtype dtype, const lam__product *p, const matrix *x, const matrix *y, bool add, void *out) {
    /* Complex factors go by address, as two parts; of reals the first of them is all. */
    const double one[2] = {1, 0}, kept[2] = {add, 0};
    const float one_f32[2] = {1, 0}, kept_f32[2] = {add, 0};
    const int m = (int)p->m, k = (int)p->k, n = (int)p->n;
    if (dtype == LAM_C128)
        cblas_zgemm(CblasRowMajor, x->stored, y->stored, m, n, k, one, x->data, x->lead, y->data, y->lead, kept, out,
                    n);
    else if (dtype == LAM_C64)
        cblas_cgemm(CblasRowMajor, x->stored, y->stored, m, n, k, one_f32, x->data, x->lead, y->data, y->lead, kept_f32,
                    out, n);
    else if (dtype == LAM_F64)
        cblas_dgemm(CblasRowMajor, x->stored, y->stored, m, n, k, 1.0, x->data, x->lead, y->data, y->lead, kept[0], out,
                    n);
    else
        cblas_sgemm(CblasRowMajor, x->stored, y->stored, m, n, k, 1.0f, x->data, x->lead, y->data, y->lead, kept_f32[0],
                    out, n);
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

/* One element, from two vectors with any positive steps. */
static void dot(lam_dtype dtype, const lam__product *p, const void *x, const void *y, void *out) {
    const int k = (int)p->k, x_step = (int)p->x_col, y_step = (int)p->y_row;
    if (dtype == LAM_F64) *(double *)out = cblas_ddot(k, x, x_step, y, y_step);
    else *(float *)out = cblas_sdot(k, x, x_step, y, y_step);
}

/* ---- one product after the other ----------------------------------------------------------------------------- */

/* The set of the elementwise loops. */
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

/* False: CBLAS takes none of them, since all products of a batch lie alike; nothing has been written then. */
static bool run_vectors(lam_dtype dtype, const lam__product *p) {
    const int64_t out_step = p->m * p->n;
    lam__product_place in = {.left = p->left};
    for (int64_t b = 0; b < p->batch; b++, lam__product_next(p, &in)) {
        const void *x = at(p->x, in.x, dtype), *y = at(p->y, in.y, dtype);
        if (!try_vectors(dtype, p, x, y, (char *)p->out + b * out_step * lam__item_bytes(dtype))) return false;
    }
    return true;
}

/* Bytes of a copy of an operand, which is needed where CBLAS cannot read it in place. */
static size_t copy_bytes(lam_dtype dtype, int64_t rows, int64_t cols, int64_t row, int64_t col) {
    matrix unused;
    if (matrix_view(rows, cols, row, col, NULL, &unused)) return 0;
    return ((size_t)rows * (size_t)cols * (size_t)lam__item_bytes(dtype) + 63) & ~(size_t)63;
}

/* An operand whose matrices CBLAS is given one after the other: where they lie, or as copies in `copy`. */
typedef struct operand {
    int64_t rows, cols, row, col;
    void *copy;
    const void *last; /* what was copied */
    matrix view;
} operand;

static operand operand_of(int64_t rows, int64_t cols, int64_t row, int64_t col, void *copy) {
    operand o = {rows, cols, row, col, copy, NULL, {copy, CblasNoTrans, (int)cols}};
    if (!copy) matrix_view(rows, cols, row, col, NULL, &o.view);
    return o;
}

/* The view of the matrix at `data`, which is copied first unless it is the last one again. */
static inline matrix view_at(lam_dtype dtype, operand *o, const void *data) {
    matrix view = o->view;
    if (!o->copy) view.data = data;
    else if (data != o->last) copy_matrix(dtype, o->rows, o->cols, o->row, o->col, data, o->copy);
    o->last = data;
    return view;
}

/* NOTE [rows of a product]
 * A product of many rows goes to CBLAS in blocks that begin at multiples of LONG rows, and thin ones (k and n small) at
 * multiples of ROWS, which is up to twice as fast where CBLAS has kernels for small matrices. So products that begin at
 * such rows have the bits that they have in the whole. Within blocks of LONG rows OpenBLAS goes by groups of rows, a
 * few times a power of two of them, counted from the first; ROWS is a multiple of what it has. So it gives the same
 * bits too to parts that begin at multiples of ROWS and are not small, which `look` has seen on this machine before
 * anything is cut so. */
static bool is_thin(const lam__product *p) {
    return p->k <= THIN && p->n <= THIN && p->k * p->n <= THIN_ELEMENTS;
}

/* NOTE [long contractions]
 * OpenBLAS packs the operands of what is not small to it, which costs more than the product where the result has few
 * elements: such sums, of a Gram matrix of tall columns for instance, are made of pieces that are small. Measured with
 * OpenBLAS 0.3.21 and AVX-512, results of 9 to 4,096 elements: 1.3 to 8 times as fast; the same with its kernels for
 * AVX2. That is for whole results, whose rows nothing cuts: of up to ROWS rows. */
static int64_t terms_at_once(lam_dtype dtype, const lam__product *p) {
    const int64_t results = p->m * p->n;
    if (lam__cplx_is(dtype) || p->m > ROWS || results > RESULTS || results * p->k <= AT_ONCE) return p->k;
    return AT_ONCE / results < DEEPEST ? AT_ONCE / results : DEEPEST;
}

/* All pieces but the first are added to what is there. */
static void gemm_by_pieces(lam_dtype dtype, const lam__product *p, matrix x, matrix y, void *out) {
    const int64_t most = terms_at_once(dtype, p);
    lam__product piece = *p;
    for (int64_t left = p->k; left > 0; left -= piece.k) {
        piece.k = left < most ? left : most;
        gemm(dtype, &piece, &x, &y, left < p->k, out);
        x.data = at(x.data, piece.k * (x.stored == CblasNoTrans ? 1 : x.lead), dtype);
        y.data = at(y.data, piece.k * (y.stored == CblasNoTrans ? y.lead : 1), dtype);
    }
}

/* `first` is the number of the first row within the whole product. */
static void run_gemm(lam_dtype dtype, const lam__product *p, int64_t first, char *room) {
    const size_t x_copy = copy_bytes(dtype, p->m, p->k, p->x_row, p->x_col);
    const bool y_copy = copy_bytes(dtype, p->k, p->n, p->y_row, p->y_col) > 0;
    const int64_t block = is_thin(p) ? ROWS : LONG, item = lam__item_bytes(dtype), lead = block - first % block;
    char *out = p->out;
    lam__product part = *p;
    lam__product_place in = {.left = p->left};
    operand left_one = operand_of(p->m, p->k, p->x_row, p->x_col, x_copy ? room : NULL);
    operand right_one = operand_of(p->k, p->n, p->y_row, p->y_col, y_copy ? room + x_copy : NULL);
    for (int64_t b = 0; b < p->batch; b++, lam__product_next(p, &in)) {
        matrix x = view_at(dtype, &left_one, at(p->x, in.x, dtype));
        const matrix y = view_at(dtype, &right_one, at(p->y, in.y, dtype));
        for (int64_t left = p->m, rows = lead; left > 0; left -= part.m, rows = block) {
            part.m = rows < left ? rows : left;
            gemm_by_pieces(dtype, &part, x, y, out);
            x.data = at(x.data, part.m * (x.stored == CblasNoTrans ? x.lead : 1), dtype);
            out += part.m * p->n * item;
        }
    }
}

/* Whether CBLAS gives each of the rows of x y, and of x times a vector, the same bits when they are cut at multiples of
 * ROWS. The numbers are of both signs and have no digits to spare. */
static bool rows_agree(lam_dtype dtype, char *room, int64_t m) {
    enum { K = LAM__MATMUL_CHECK_K, N = LAM__MATMUL_CHECK_N };
    const int64_t item = lam__item_bytes(dtype), x_count = m * K, count = x_count + K * N;
    char *x = room, *y = x + x_count * item, *whole = y + K * N * item, *parts = whole + m * N * item;
    for (int64_t i = 0; i < count; i++) {
        const double v = 1.0 / (double)(i % 1009 + 3) - (double)(i % 7) / 9;
        if (dtype == LAM_F64) ((double *)(void *)x)[i] = v;
        else ((float *)(void *)x)[i] = (float)v;
    }
    const matrix mx = {x, CblasNoTrans, K}, my = {y, CblasNoTrans, N};
    const lam__product p = {.batch = 1, .m = m, .k = K, .n = N};
    gemm(dtype, &p, &mx, &my, false, whole);
    for (int64_t r = 0, rows; r < m; r += rows) {
        rows = m - r < 2 * ROWS ? m - r : ROWS;
        const matrix part = {x + r * K * item, CblasNoTrans, K};
        gemm(dtype, &(lam__product){.batch = 1, .m = rows, .k = K, .n = N}, &part, &my, false, parts + r * N * item);
    }
    return memcmp(whole, parts, (size_t)(m * N * item)) == 0;
}

/* The same of a matrix times a vector, the matrix stored by rows or by columns. The numbers are there already. */
static bool results_agree(lam_dtype dtype, char *room, int64_t m, CBLAS_TRANSPOSE stored) {
    enum { K = LAM__MATMUL_CHECK_K, N = LAM__MATMUL_CHECK_N };
    const int64_t item = lam__item_bytes(dtype), step = stored == CblasNoTrans ? K : 1;
    char *x = room, *y = x + m * K * item, *whole = y + K * N * item, *parts = whole + m * N * item;
    const int lead = stored == CblasNoTrans ? K : (int)m;
    const matrix all = {x, stored, lead};
    gemv(dtype, false, m, K, &all, y, 1, whole);
    for (int64_t r = 0, rows; r < m; r += rows) {
        rows = m - r < 2 * ROWS ? m - r : ROWS;
        const matrix part = {x + r * step * item, stored, lead};
        gemv(dtype, false, rows, K, &part, y, 1, parts + r * item);
    }
    return memcmp(whole, parts, (size_t)(m * item)) == 0;
}

/* What may be cut, for each dtype: rows of products and of matrices times vectors; the same where a matrix is stored by
 * columns and a vector follows, which OpenBLAS's kernels for f32 do not give everywhere. */
enum { LOOKED = 1, ROWS_APART = 2, COLUMNS_APART = 4 };
static _Atomic int known_of_f64, known_of_f32;

/* With tails of rows of every kind: CBLAS's kernels go by several at a time, and the rest has code of its own. */
static int look(lam_dtype dtype, void *room) {
    static const int tails[] = {1, 6, 12, 20};
    bool rows = true, columns = true;
    for (size_t i = 0; i < sizeof tails / sizeof *tails; i++) {
        const int64_t m = 3 * ROWS + tails[i];
        rows = rows_agree(dtype, room, m) && results_agree(dtype, room, m, CblasNoTrans) && rows;
        columns = results_agree(dtype, room, m, CblasTrans) && columns;
    }
    return LOOKED + (rows ? ROWS_APART : 0) + (columns ? COLUMNS_APART : 0);
}

void lam__kernels_matmul_check(void *room) {
    if (!atomic_load(&known_of_f64)) atomic_store(&known_of_f64, look(LAM_F64, room));
    if (!atomic_load(&known_of_f32)) atomic_store(&known_of_f32, look(LAM_F32, room));
}

/* Whether rows of p may be cut at multiples of ROWS. */
static bool rows_are_apart(lam_dtype dtype, const lam__product *p, bool vector) {
    if (lam__cplx_is(dtype)) return false;
    const int known = atomic_load(dtype == LAM_F64 ? &known_of_f64 : &known_of_f32);
    const bool by_columns = vector && !lines_fit(p->m, p->k, p->x_row, p->x_col);
    return known & (by_columns ? COLUMNS_APART : ROWS_APART);
}

/* ---- making products large ----------------------------------------------------------------------------------- */

/* NOTE [runs of products]
 * A batch that one stride does not walk, because it is made of axes of which an operand lacks the inner ones or of
 * axes that do not nest, is walked in runs: product b of operand x begins at b x_batch + (b / run) x_turn. What folds,
 * folds within its runs, whose results lie side by side; then the runs are the batch. */

/* out[b, m, 1] = x[m, k] y[b, k, 1] is the product y[b, k] x[k, m]; `count` of them. */
static void swap_vectors(lam__product *p, int64_t count) {
    const lam__product q = *p;
    p->m = count;
    p->n = q.m;
    p->x = q.y, p->x_row = q.y_batch, p->x_col = q.y_row;
    p->y = q.x, p->y_row = q.x_col, p->y_col = q.x_row;
    p->x_batch = q.y_batch, p->y_batch = q.x_batch;
    p->x_turn = q.y_turn, p->y_turn = q.x_turn;
}

/* Turns `count` products into one of more rows or columns where they share an operand and the strides permit. */
static bool fold(lam__product *p, int64_t count) {
    if (count == 1) return false;
    if (p->y_batch == 0 && (p->m == 1 || p->x_batch == p->m * p->x_row)) {
        if (p->m == 1) p->x_row = p->x_batch;
        p->m *= count;
    } else if (p->x_batch == 0 && p->n == 1) {
        swap_vectors(p, count);
    } else if (p->x_batch == 0 && p->m == 1 && p->y_batch == p->n * p->y_col) {
        p->n *= count;
    } else {
        return false;
    }
    return true;
}

/* First within the runs, so that the batch may consist of whole runs afterwards. */
static void fold_batch(lam__product *p) {
    if (p->run) {
        if (!fold(p, p->run)) return;
        p->batch /= p->run;
        p->x_batch = p->x_batch * p->run + p->x_turn; /* swapped by now where the operands are */
        p->y_batch = p->y_batch * p->run + p->y_turn;
        p->run = p->x_turn = p->y_turn = 0;
    }
    if (fold(p, p->batch)) p->batch = 1;
}

/* ---- choice by size ------------------------------------------------------------------------------------------ */

/* CBLAS counts in int; what it cannot count goes by plain loops. */
static bool fits_cblas(const lam__product *p) {
    return p->m <= INT_MAX && p->k <= INT_MAX && p->n <= INT_MAX;
}

enum { BY_LOOP = LAM__SMALL_WAYS, BY_VECTOR, BY_GEMM }; /* who computes a product, beside the ways of small.h */

/* A vector and a matrix of a few columns that lie side by side, of which OpenBLAS's products of matrices make twice as
 * much as those of vectors, where it has the former for vectors of 64 bytes. */
static bool has_few_columns(lam_dtype dtype, const lam__product *p) {
    enum { FEWEST = 5, WIDE = 64 };
    const int64_t item = lam__item_bytes(dtype), columns = p->m * p->n, most = dtype == LAM_F64 ? 8 : 7;
    const bool side_by_side = p->n == 1 ? p->x_row == 1 : p->m == 1 && p->y_col == 1;
    return side_by_side && columns >= FEWEST && columns <= most && loops(dtype)->lanes * item == WIDE;
}

static int way_of_float(lam_dtype dtype, const lam__product *p) {
    const int way = lam__small_way(dtype, loops(dtype), p);
    if (way < LAM__SMALL_WAYS) return way;
    if (p->k == 1 || !fits_cblas(p)) return BY_LOOP;
    return (p->m > 1 && p->n > 1) || has_few_columns(dtype, p) ? BY_GEMM : BY_VECTOR;
}

/* Integers and bools have plain loops alone. Complex vectors are products of matrices: gemv above is of reals. */
static int way_of(lam_dtype dtype, const lam__product *p) {
    if (dtype == LAM_F64 || dtype == LAM_F32) return way_of_float(dtype, p);
    if (!lam__cplx_is(dtype)) return BY_LOOP;
    const int way = lam__small_way(dtype, loops(dtype), p);
    if (way < LAM__SMALL_WAYS) return way;
    return fits_cblas(p) && p->k > 1 ? BY_GEMM : BY_LOOP;
}

/* A vector times a matrix becomes the turned matrix times the vector where that is known to be fast: rows of two to
 * four elements, of which several lie in a vector of the machine. */
static void lie_short(lam_dtype dtype, lam__product *p) {
    if (p->m != 1 || p->n == 1 || p->k > LAM__SMALL_TINY || loops(dtype)->lanes == 0) return;
    const lam__product q = lam__product_turned(p);
    const int parts = lam__cplx_is(dtype) ? 2 : 1, lanes = loops(dtype)->lanes;
    if (lam__product_is_short(&q, lanes * parts, parts, lanes * (int)lam__item_bytes(dtype))) *p = q;
}

/* Rows of which multiples may be cut at; 0: none. Our own loops compute each row for itself. */
static int64_t rows_of(const lam__matmul *w) {
    const lam__product *p = &w->product;
    if (w->way <= BY_LOOP) return 16;
    const bool known = rows_are_apart(w->dtype, p, w->way == BY_VECTOR);
    if (w->way == BY_VECTOR) return known && p->n == 1 ? ROWS : 0;
    int64_t rows = ROWS;
    while (!is_thin(p) && rows < LONG && (!known || rows * p->k * p->n < WORTH)) rows *= 2;
    return rows;
}

bool lam__kernels_matmul_plan(lam_dtype dtype, const lam__product *product, lam__matmul *w) {
    *w = (lam__matmul){.dtype = dtype, .product = *product};
    lam__product *p = &w->product;
    if (p->batch == 0 || p->m == 0 || p->n == 0) return false;
    if (p->k == 0) {
        memset(p->out, 0, (size_t)(p->batch * p->m * p->n) * (size_t)lam__item_bytes(dtype));
        return false;
    }
    fold_batch(p);
    p->left = p->run;
    lie_short(dtype, p);
    w->way = way_of(dtype, p);
    /* The same for CBLAS, and then it has rows. */
    if (w->way == BY_VECTOR && p->batch == 1 && p->m == 1 && p->n > 1) *p = lam__product_turned(p);
    w->rows = rows_of(w);
    if (w->way == BY_GEMM)
        w->room = copy_bytes(dtype, p->m, p->k, p->x_row, p->x_col) + copy_bytes(dtype, p->k, p->n, p->y_row, p->y_col);
    return true;
}

void lam__kernels_matmul_part(const lam__matmul *w, int64_t begin, int64_t end, int64_t first, int64_t last,
                              void *room) {
    lam__product p = w->product;
    /* The part as a product of its own: `left` says how many products its first run still has. */
    const int64_t turns = p.run ? begin / p.run : 0;
    p.out = (char *)p.out + (begin * p.m + first) * p.n * lam__item_bytes(w->dtype);
    p.x = at(p.x, begin * p.x_batch + turns * p.x_turn + first * p.x_row, w->dtype);
    p.y = at(p.y, begin * p.y_batch + turns * p.y_turn, w->dtype);
    p.left = p.run - (p.run ? begin % p.run : 0);
    p.batch = end - begin;
    p.m = last - first;
    if (w->way == BY_GEMM) run_gemm(w->dtype, &p, first, room);
    else if (w->way < LAM__SMALL_WAYS) loops(w->dtype)->by[w->way](&p);
    else if (w->way == BY_LOOP || !run_vectors(w->dtype, &p)) loops(w->dtype)->plain(&p);
}

bool lam__kernels_matmul(lam_dtype dtype, const lam__product *p, lam__scratch *scratch, void *env) {
    lam__matmul w;
    if (!lam__kernels_matmul_plan(dtype, p, &w)) return true;
    void *room = w.room && scratch ? scratch(env, w.room) : NULL;
    if (w.room && !room) return false;
    lam__kernels_matmul_part(&w, 0, w.product.batch, 0, w.product.m, room);
    return true;
}
