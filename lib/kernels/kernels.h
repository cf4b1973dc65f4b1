/* The kernels: plain loops over memory. They see shapes, strides and pointers, never tensors, contexts or
 * levels, allocate nothing but through the scratch they are given, and cannot fail except as stated.
 * All strides are in elements of the operand's own dtype, may be 0 or negative; dims may hold 0.
 * Results depend neither on alignment nor on how a range is split: element i of a loop is computed by the same
 * instruction sequence whether it lies in a vector body, in a tail, or alone. */
#ifndef LAM_KERNELS_H
#define LAM_KERNELS_H

#include <lamina/base.h>

/* Axes of a tensor, one for each of as many nested batch levels, and one for the parts of complex numbers. */
enum { LAM__MAX_AXES = 2 * LAM_MAX_RANK + 1 };

/* ---- elementwise -------------------------------------------------------------------------------------- */

/* Inner loop: p[0] output, p[1..] inputs; n elements; step[k] elements between neighbours of operand k (0: the
 * same element each time). The output may be exactly an input (same pointer and step), never overlap otherwise.
 * params: the operation's plain parameters (integer_pow: int64_t exponent; times_power: lam__power; ramp: double
 * slope; huber_loss: double delta; nan_to_num: lam__replacements; reduce_precision: int64_t, bits of the exponent
 * times 256 plus bits of the fraction), else NULL. */
typedef void lam__loop(int64_t n, void *const p[], const int64_t step[], const void *params);

/* Of times_power, which is x times factor y^exponent. */
typedef struct lam__power {
    int64_t exponent;
    double factor;
} lam__power;

/* Of nan_to_num: what stands for NaN, inf and -inf. */
typedef struct lam__replacements {
    double nan, high, low;
} lam__replacements;

typedef enum lam__loop_id {
#define LAM__LOOP(name, inputs, kind) LAM__LOOP_##name,
#include "lib/kernels/elementwise.def"
#undef LAM__LOOP
    LAM__LOOP_COUNT
} lam__loop_id;

/* The loop for an operation on inputs of `dtype` (for `where`: of its two branches), chosen for this machine; NULL
 * where the operation has no meaning for the dtype. Comparisons and logic give bool, all else gives dtype. On f16 and
 * bf16 the arithmetic is that of f32, rounded once. */
lam__loop *lam__kernels_loop(lam__loop_id id, lam_dtype dtype);

/* Sine and cosine of n numbers, f64 or f32, none of them with gaps; within the bounds of their loops. */
void lam__kernels_sincos(lam_dtype dtype, int64_t n, const void *x, void *sine, void *cosine);

/* Two results for each of n elements of x, all without gaps. */
typedef void lam__pair_loop(int64_t n, const void *x, void *first, void *second);

/* The loop of an elementary function of one operand that gives its derivative too, each with the bits of its own loop.
 * NULL where both together are no less work. */
lam__pair_loop *lam__kernels_sloped(lam__loop_id id, lam_dtype dtype);

/* Runs a loop over operands of one shape: coalesces axes, walks the outer ones, hands inner runs to `loop`.
 * strides[k] has `rank` entries for operand k (0: output); operands <= 4. */
void lam__kernels_elementwise(lam__loop *loop, int operands, int rank, const int64_t *dims,
                              const int64_t *const strides[], void *const p[], const size_t item[], const void *params);

/* ---- copies ------------------------------------------------------------------------------------------- */

/* Strided copy with conversion (C semantics; float to integer saturates and NaN gives 0; anything to bool is != 0).
 * dst and src do not overlap. */
void lam__kernels_copy(int rank, const int64_t *dims, lam_dtype dst_dtype, void *dst, const int64_t *dst_strides,
                       lam_dtype src_dtype, const void *src, const int64_t *src_strides);

/* Columns side by side: dst[i * to_step + j] = columns[j][i * step[j]], steps in elements. False: not for this
 * dtype. */
bool lam__kernels_columns(lam_dtype dtype, int64_t rows, int64_t n, const void *const columns[], const int64_t step[],
                          void *dst, int64_t to_step);

/* Fills a contiguous array with one element (`item` points to an element of dtype). */
void lam__kernels_fill(lam_dtype dtype, void *dst, int64_t n, const void *item);

/* dst[j] = first + step (begin + j), j = 0..n-1, worked out in f64; numbers up to 2^53. */
void lam__kernels_count_up(lam_dtype dtype, double first, double step, int64_t begin, int64_t n, void *dst);

/* ---- reductions --------------------------------------------------------------------------------------- */

typedef enum lam__reduce_id {
    LAM__REDUCE_SUM, /* blocked pairwise; bool and integers wrap in their own dtype */
    LAM__REDUCE_PROD,
    LAM__REDUCE_MAX, /* NaN wins; the empty maximum is -inf or the least integer */
    LAM__REDUCE_MIN,
    LAM__REDUCE_ANY,   /* bool */
    LAM__REDUCE_ALL,   /* bool */
    LAM__REDUCE_TALLY, /* the sum of bool, u8 or i32, in i64 */
    LAM__REDUCE_ROUND, /* the sum of i64, each rounded to f64, as that of f64 */
    LAM__REDUCE_COUNT
} lam__reduce_id;

/* The dtype of what `id` makes of `dtype`. */
static inline lam_dtype lam__reduce_result(lam__reduce_id id, lam_dtype dtype) {
    return id == LAM__REDUCE_TALLY ? LAM_I64 : id == LAM__REDUCE_ROUND ? LAM_F64 : dtype;
}

/* out[kept axes, contiguous in their order] = op over the axes with reduced[axis] of x. A reduction over no
 * elements gives the neutral element. Output dtype: lam__reduce_result. */
void lam__kernels_reduce(lam__reduce_id id, lam_dtype dtype, int rank, const int64_t *dims, const bool *reduced,
                         const void *x, const int64_t *strides, void *out);

/* NOTE [parts]
 * A reduction is a tree over leaves, whose order follows from dims and strides. What 2^k leaves from a multiple of 2^k
 * on give is a node of that tree, or its last ones. So each result can be made of parts: `leaves` (a power of two)
 * leaves from `first` (a multiple of it) on, into out, and then joined as the whole would have: parts[parts][results],
 * the first of which becomes the result. */
int64_t lam__kernels_reduce_leaves(lam__reduce_id id, lam_dtype dtype, int rank, const int64_t *dims,
                                   const bool *reduced, const int64_t *strides); /* 0: there is nothing to reduce */
void lam__kernels_reduce_part(lam__reduce_id id, lam_dtype dtype, int rank, const int64_t *dims, const bool *reduced,
                              const void *x, const int64_t *strides, int64_t first, int64_t leaves, void *out);
void lam__kernels_reduce_join(lam__reduce_id id, lam_dtype dtype, int64_t results, int64_t parts, void *out);

/* out (i64, contiguous over the kept axes) = index of the first maximum (or minimum) along `axis`; a NaN counts
 * as larger (for argmin: smaller) than everything. dims[axis] > 0. */
void lam__kernels_arg(bool maximum, lam_dtype dtype, int rank, const int64_t *dims, int axis, const void *x,
                      const int64_t *strides, int64_t *out);

/* Running sum, product, maximum or minimum along `axis` (id: SUM, PROD, MAX, MIN), from the front, or from the back
 * where `reverse`; out contiguous in x's order. */
void lam__kernels_cumulate(lam__reduce_id id, lam_dtype dtype, int rank, const int64_t *dims, int axis, bool reverse,
                           const void *x, const int64_t *strides, void *out);

/* [outer, n, inner], contiguous: the middle axis is the one that is run along. */
typedef struct lam__lanes {
    int64_t outer, n, inner; /* elements */
} lam__lanes;

/* out_i = a_i out_(i-1) + b_i along the lanes, out_0 = b_0 (a_0 has no say); from the back where `reverse`. f64,
 * f32. */
void lam__kernels_recurrence(lam_dtype dtype, const lam__lanes *s, bool reverse, const void *a, const void *b,
                             void *out);

/* out_i = log(exp(x_0) + ... + exp(x_i)) without overflow; from the back where `reverse`. f64, f32. */
void lam__kernels_cumlogsumexp(lam_dtype dtype, const lam__lanes *s, bool reverse, const void *x, void *out);

/* ---- indexing ----------------------------------------------------------------------------------------- */

typedef enum lam__index_mode { LAM__INDEX_ERROR, LAM__INDEX_CLIP, LAM__INDEX_FILL, LAM__INDEX_DROP } lam__index_mode;

/* Geometry of take and scatter in canonical form: x is [batch, outer, n, inner], index is [batch, k],
 * out or updates is [batch, outer, k, inner], all contiguous. Negative indices count from the end. */
typedef struct lam__index_shape {
    int64_t batch, outer, n, k, inner; /* elements */
} lam__index_shape;

/* Position of the first index outside [-n, n), or -1. index_dtype is LAM_I64 or LAM_I32. */
int64_t lam__kernels_index_check(const lam__index_shape *s, lam_dtype index_dtype, const void *index);

typedef enum lam__scatter_op {
    LAM__SCATTER_ADD, /* integers wrap; of bools or */
    LAM__SCATTER_MUL,
    LAM__SCATTER_MIN, /* NaN wins */
    LAM__SCATTER_MAX,
    LAM__SCATTER_SET /* the last update of a place stays */
} lam__scatter_op;

/* out (already holding the base) combined with updates at index, in the order of the index; CLIP goes to the nearest
 * element, FILL and DROP leave out what lies outside. */
void lam__kernels_scatter(lam__scatter_op op, const lam__index_shape *s, lam__index_mode mode, lam_dtype dtype,
                          void *out, lam_dtype index_dtype, const void *index, const void *updates);

/* Position in [0, n) of index number i, -1 for what lies outside and is not clipped. */
int64_t lam__kernels_index_at(lam__index_mode mode, int64_t n, lam_dtype dtype, const void *index, int64_t i);

/* out[batch, n] (i64) = position among index[batch, k] of the last that names each place, -1 where none does. What lies
 * outside is left out. */
void lam__kernels_index_inverse(const lam__index_shape *s, lam_dtype index_dtype, const void *index, int64_t *out);

/* ---- sorting --------------------------------------------------------------------------------------------------- */

/* out[batch, m] (i64) = number of elements of the ascending sorted[batch, n] before each of values[batch, m], or up to
 * and with the equal ones (right). NaN is beyond all else. */
void lam__kernels_searchsorted(lam_dtype dtype, int64_t batch, int64_t n, int64_t m, bool right, const void *sorted,
                               const void *values, int64_t *out);

/* ---- random numbers -------------------------------------------------------------------------------------------- */

/* What becomes of the 64 bits that a key and a counter give: an upper and a lower word. */
typedef enum lam__random_form {
    LAM__RANDOM_PAIRS,   /* both words, as two i64 */
    LAM__RANDOM_WIDE,    /* all 64, as i64 */
    LAM__RANDOM_WORDS,   /* one word xor the other, less 2^31, as i32: in the order of the words */
    LAM__RANDOM_NARROW,  /* the word itself as i32 */
    LAM__RANDOM_BYTES,   /* its low 8 bits, as u8 */
    LAM__RANDOM_UNIT64,  /* the upper 52 bits as f64 in [0, 1) */
    LAM__RANDOM_UNIT32,  /* the upper 23 bits of the word as f32 in [0, 1) */
    LAM__RANDOM_RANGE64, /* integers of a range, as i64; those below too */
    LAM__RANDOM_RANGE32, /* as i32 */
    LAM__RANDOM_RANGE8   /* as u8 */
} lam__random_form;

typedef struct lam__random {
    lam__random_form form;
    int64_t low;   /* of a range */
    uint64_t span; /* its elements; 0: as many as the dtype has */
} lam__random;

lam_dtype lam__kernels_random_dtype(lam__random_form form);

/* out = n elements (pairs are one), of the counters first, first + 1, ... */
void lam__kernels_random(const lam__random *what, const uint32_t key[2], uint64_t first, int64_t n, void *out);

/* ---- windows ----------------------------------------------------------------------------------------------------- */

/* How a window moves along an axis: place k of it at place t of the result stands at t stride + k spread - low, where
 * element e of the operand stands at e gap. Sizes and steps are at least 1, low may be negative. */
typedef struct lam__window_axis {
    int64_t window, stride, low, gap, spread, out; /* out: places of the result */
} lam__window_axis;

/* out[outer, a->out, inner] = SUM, MAX or MIN over the elements in each window along the lanes of x; the neutral
 * element where there are none. False: not for this dtype. */
bool lam__kernels_window(lam__reduce_id id, lam_dtype dtype, const lam__lanes *s, const lam__window_axis *a,
                         const void *x, void *out);

/* Windows over the axes of x [outer, dims...], contiguous. */
typedef struct lam__windows {
    int rank;
    const int64_t *dims;
    const lam__window_axis *axis;
} lam__windows;

/* out[outer, places...] (i64) = position among the elements of dims of the first largest (smallest) element in each
 * window, the number of these elements where the window has none; NaN is beyond all else. False: not for this
 * dtype. */
bool lam__kernels_window_arg(bool maximum, lam_dtype dtype, int64_t outer, const lam__windows *w, const void *x,
                             int64_t *out);

/* Samples of Gamma(a), or their logarithms, for n a of f64 or f32; sample i has a key of its own, of number first +
 * i. */
void lam__kernels_random_gamma(lam_dtype dtype, const uint32_t key[2], int64_t first, int64_t n, const void *a,
                               bool logarithm, void *out);

/* Poisson samples; -1 for rates that are negative, infinite or NaN. */
void lam__kernels_random_poisson(const uint32_t key[2], int64_t first, int64_t n, const float *rate, int64_t *out);

/* Binomial samples of counts and probabilities of f64 or f32; NaN where a count is negative or NaN or a probability is
 * outside [0, 1]. */
void lam__kernels_random_binomial(lam_dtype dtype, const uint32_t key[2], int64_t first, int64_t n, const void *count,
                                  const void *probability, void *out);

/* ---- contractions and factorisations (OpenBLAS, LAPACK) -------------------------------------------------- */

/* `batch` products out[m, n] = x[m, k] * y[k, n]; strides in elements; out contiguous. Where one stride does not walk
 * the batch, it is made of runs of `run` products, and from one run to the next operands move by their turns besides:
 * NOTE [runs of products] in blas/matmul.c. */
typedef struct lam__product {
    int64_t batch, m, k, n;
    const void *x;
    int64_t x_batch, x_row, x_col;
    const void *y;
    int64_t y_batch, y_row, y_col;
    void *out;
    int64_t run; /* 0: all are one */
    int64_t x_turn, y_turn;
    int64_t left; /* products of the first run; the plan sets it */
} lam__product;

/* Each operand has any strides. f64 and f32 go to unrolled, blocked or CBLAS code by size; other dtypes to plain loops
 * (integers wrap, bool is or of ands). `scratch(env, bytes)` gives memory that lives until the call returns, or NULL;
 * then the result is false and out undefined. It is not asked where rows or columns of both operands lie without gaps,
 * and may be NULL there. */
typedef void *lam__scratch(void *env, size_t bytes);
bool lam__kernels_matmul(lam_dtype dtype, const lam__product *p, lam__scratch *scratch, void *env);

/* The same product in parts, for whoever shares it: how it will be done, where it may be cut, and one part of it. */
typedef struct lam__matmul {
    lam__product product; /* batch, m and n may have changed places, so that it is as large as can be */
    lam_dtype dtype;
    int way;      /* matmul.c knows */
    int64_t rows; /* parts begin at multiples of so many rows, the last one has at least as many; 0: not cut */
    size_t room;  /* bytes of scratch for each part, aligned to 8 */
} lam__matmul;

/* False: nothing is left to be done. */
bool lam__kernels_matmul_plan(lam_dtype dtype, const lam__product *p, lam__matmul *w);

/* Products [begin, end) of w->product.batch, rows [first, last) of w->product.m; of one product if not of all rows. */
void lam__kernels_matmul_part(const lam__matmul *w, int64_t begin, int64_t end, int64_t first, int64_t last,
                              void *room);

/* Looks, once in a process, whether OpenBLAS lets rows be cut (NOTE [rows of a product] in blas/matmul.c). */
enum {
    LAM__MATMUL_CHECK_K = 72,
    LAM__MATMUL_CHECK_N = 80,
    LAM__MATMUL_CHECK_BYTES = (600 * (72 + 2 * 80) + 72 * 80) * 8
};
void lam__kernels_matmul_check(void *room);

/* In place on contiguous row-major [batch, n, n]: the lower Cholesky factor, zeros above the diagonal. Reads one
 * triangle: see lam__kernels_symmetric. Returns the number of the first matrix that is not positive definite, or -1. */
int64_t lam__kernels_cholesky(lam_dtype dtype, int64_t batch, int64_t n, void *x);

/* In place on b, contiguous row-major [batch, n, m] (left) or [batch, m, n] (right side): solves op(a) x = b or
 * x op(a) = b; a contiguous row-major [batch, n, n], only the named triangle is read. */
typedef struct lam__triangular {
    bool right_side, upper, transpose, unit_diagonal;
} lam__triangular;
void lam__kernels_triangular_solve(lam_dtype dtype, const lam__triangular *how, int64_t batch, int64_t n, int64_t m,
                                   const void *a, void *b);

/* LU with partial pivoting, in place on contiguous row-major [batch, m, n]; pivots i32 [batch, min(m, n)], 0-based row
 * exchanged with row i. A singular matrix leaves a zero on the diagonal of U; nothing fails. `room` has the bytes that
 * the first says, none for square matrices. */
size_t lam__kernels_lu_bytes(lam_dtype dtype, int64_t m, int64_t n);
void lam__kernels_lu(lam_dtype dtype, int64_t batch, int64_t m, int64_t n, void *x, int32_t *pivots, void *room);

/* Determinants out [batch], their signs (of complex ones x / |x|, 0 at 0) and the logarithms of their sizes (-inf at 0,
 * real), and cofactors out [batch, n, n] (det(x) x^-T, whose polynomials exist for every rank), of contiguous row-major
 * x; `room` has the bytes that the first says, aligned to 8. */
size_t lam__kernels_det_bytes(lam_dtype dtype, int64_t n);
void lam__kernels_det(lam_dtype dtype, int64_t batch, int64_t n, const void *x, void *out, void *room);
void lam__kernels_log_det(lam_dtype dtype, int64_t batch, int64_t n, const void *x, void *sign, void *log, void *room);
void lam__kernels_cofactor(lam_dtype dtype, int64_t batch, int64_t n, const void *x, void *out, void *room);

/* For pivots of factors that say (first) that parts of their matrix x may have left the range: the m right-hand sides
 * in b, contiguous row-major [n, m], solved with x (or x^T) brought to sizes near 1; the last gives false, and leaves
 * b, where x is not finite, or singular. */
bool lam__kernels_solve_is_extreme(lam_dtype dtype, int64_t n, const void *factors);
size_t lam__kernels_solve_extreme_bytes(lam_dtype dtype, int64_t n, int64_t m);
bool lam__kernels_solve_extreme(lam_dtype dtype, bool transpose, int64_t n, int64_t m, const void *x, void *b,
                                void *room, bool *singular);

/* Matrices of m rows and n columns, contiguous row-major. full: square orthogonal factors; otherwise they have as many
 * columns as the shorter side, k. vectors false (singular values): u and vt are NULL. */
typedef struct lam__rectangle {
    int64_t m, n; /* elements */
    bool full, vectors;
} lam__rectangle;

/* What goes to LAPACK: `work` has the bytes that the function before says, aligned to 8. A matrix with an infinity or a
 * NaN gives NaN. Those that iterate return the number of the first matrix for which that does not converge, or -1. */
enum { LAM__LAPACK_MOST = 16384 }; /* rows or columns, of the shorter side, or of both where factors are full */

/* x [batch, n, n], of which the lower triangle is read, becomes eigenvectors in columns (or is lost); values [batch, n]
 * ascend. */
size_t lam__kernels_eigh_bytes(lam_dtype dtype, int64_t n, bool vectors);
int64_t lam__kernels_eigh(lam_dtype dtype, int64_t batch, int64_t n, bool vectors, void *x, void *values, void *work);

/* x = u diag(s) vt, s descending. */
size_t lam__kernels_svd_bytes(lam_dtype dtype, const lam__rectangle *r);
int64_t lam__kernels_svd(lam_dtype dtype, const lam__rectangle *r, int64_t batch, const void *x, void *u, void *s,
                         void *vt, void *work);

/* x = q r; x is lost. */
size_t lam__kernels_qr_bytes(lam_dtype dtype, const lam__rectangle *r);
void lam__kernels_qr(lam_dtype dtype, const lam__rectangle *how, int64_t batch, void *x, void *q, void *r, void *work);

/* x [batch, n, n] is lost; values [batch, n] and vectors (in columns, of length 1; NULL: none) are complex: c128
 * where dtype is f64 or c128, otherwise c64. */
size_t lam__kernels_eig_bytes(lam_dtype dtype, int64_t n, bool vectors);
int64_t lam__kernels_eig(lam_dtype dtype, int64_t batch, int64_t n, void *x, void *values, void *vectors, void *work);

/* out = exp(x) of [batch, n, n], both contiguous; work has lam__kernels_expm_bytes. */
size_t lam__kernels_expm_bytes(lam_dtype dtype, int64_t n);
void lam__kernels_expm(lam_dtype dtype, int64_t batch, int64_t n, const void *x, void *out, void *work);

/* The derivative of exp at x along e. */
size_t lam__kernels_expm_frechet_bytes(lam_dtype dtype, int64_t n);
void lam__kernels_expm_frechet(lam_dtype dtype, int64_t batch, int64_t n, const void *x, const void *e, void *out,
                               void *work);

/* Makes OpenBLAS's buffers and holds it to one thread; true unless memory for them is lacking. Called when a context
 * is made. */
bool lam__kernels_start(void);

/* How many of `threads` more threads OpenBLAS has addresses for; and what each of them calls first. */
int lam__kernels_start_room(int threads);
void lam__kernels_start_thread(void);

#endif
