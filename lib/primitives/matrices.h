/* What the contractions and the matrix factorisations share: operands brought to one dtype, failures that show all of
 * them, the axes of a matrix. A "stack" is a tensor [..., rows, columns]; whatever lies in front of the last two axes
 * is a batch. */
#ifndef LAM_PRIMITIVES_MATRICES_H
#define LAM_PRIMITIVES_MATRICES_H

#include "lib/base/context.h"

/* Checks n operands and brings them to their common dtype in out[] (a floating one where `real`). False: *failed is
 * what the operation returns. */
bool lam__matrices_operands(const char *operation, bool real, size_t n, lam_tensor *const in[], lam_tensor *out[],
                            lam_tensor **failed);

/* The same for what needs an order: complex operands are refused. `in` and what comes back are one array. */
bool lam__matrices_ordered(const char *operation, bool real, size_t n, lam_tensor *in[], lam_tensor **failed);

/* Records a failure of `operation` on live operands, whose types are shown; gives the failed tensor. */
lam_tensor *lam__matrices_fail(const char *operation, size_t n, lam_tensor *const in[], lam_status status,
                               const char *remedy, const char *format, ...) LAM_PRINTF(6, 7);

/* Whether x is a stack of square matrices; otherwise records that it is not. */
bool lam__matrices_square(const char *operation, lam_tensor *x);

/* Brings *x to a floating dtype and sees that it is a stack of matrices. False: *failed is what the operation
 * returns. */
bool lam__matrices_stack(const char *operation, lam_tensor **x, lam_tensor **failed);

/* The last two axes exchanged; the adjoint of complex matrices is conjugated too. */
lam_tensor *lam__matrices_turn(lam_tensor *x);
lam_tensor *lam__matrices_adjoint(lam_tensor *x);

/* The dtype of sizes of elements: c128 gives f64, c64 f32. */
lam_dtype lam__matrices_real(lam_dtype dtype);

/* x with the batch axis of a batch rule in front: as it is, or repeated r->size times. */
lam_tensor *lam__matrices_with_batch(const lam_rule *r, int i);

/* The batch axis of r->in[i] moved into the columns (or rows) of its matrices, so that a batch of right-hand sides
 * becomes one: [size, ..., n, m] to [..., n, m * size], or with `rows` [size, ..., m, n] to [..., size * m, n]; and
 * back. */
lam_tensor *lam__matrices_widen(const lam_rule *r, int i, bool rows);
lam_tensor *lam__matrices_narrow(const lam_rule *r, int i, lam_tensor *x, bool rows);

/* x repeated to the dims [batch..., own last two], where batch is the broadcast of the leading axes of x and y. False
 * after recording that these do not fit. */
bool lam__matrices_lead(const char *operation, lam_tensor *io[2]);

/* The operands {a, b} of a solve: in one floating dtype, a square, b a vector (which becomes a matrix of one column;
 * one row for the right side) or a stack with as many equations. False: *failed is what the operation returns. */
bool lam__matrices_right_sides(const char *operation, bool right_side, lam_tensor *io[2], lam_tensor **failed);

/* Hands n results out where the caller wants them; NULL is a place for one that is not wanted. What else was made since
 * goes (NOTE [composed operations]). Gives status, or why one of them has failed. */
lam_status lam__matrices_give(lam_status status, uint64_t since, int n, lam_tensor *const made[],
                              lam_tensor **const places[]);

/* The same after a failure: all are `failed`, and the status is that of the failure. */
lam_status lam__matrices_give_failed(lam_tensor *failed, int n, lam_tensor **const places[]);

/* The number of matrices in a stack. */
int64_t lam__matrices_count(const lam_value *x);

/* Records that matrix number `at` of the stack x `is` something that the operation cannot do with. */
lam_status lam__matrices_bad(const lam_call_site *call, const lam_value *x, int64_t at, const char *is,
                             const char *remedy);

/* What shape rules of rows with f64 and f32 kernels ask first: whether operand 0 is a stack of (square) matrices of
 * such a dtype; and whether LAPACK has room for their sizes. Otherwise it is recorded. */
lam_status lam__matrices_typed(const lam_call_site *call, bool square);
lam_status lam__matrices_fit(const lam_call_site *call, bool full);

/* Memory for a kernel; false after recording that there is none. */
typedef struct lam__work {
    lam_ctx *ctx;
    void *room;
    size_t bytes;
} lam__work;
bool lam__matrices_work(lam_ctx *ctx, size_t bytes, lam__work *work);
void lam__matrices_work_end(lam__work *work);

/* Matrices [begin, end) of a stack, with scratch of their own; gives the number of the first that failed, or -1.
 * Called by several threads at once. */
typedef int64_t lam__matrices_part(const void *env, int64_t begin, int64_t end, void *room);

/* Runs it over `count` matrices, which take `cost` units each (lam__team_run), with `bytes` of scratch for each call.
 * *bad is the first that failed, or -1. Fails if memory is lacking. */
lam_status lam__matrices_each(lam_ctx *ctx, int64_t count, double cost, size_t bytes, lam__matrices_part *part,
                              const void *env, int64_t *bad);

/* Solves with the triangular matrices at a, n x n each, in place on b, of as many matrices as x has, m vectors each. */
void lam__matrices_substitute(const lam__triangular *how, int64_t n, int64_t m, const void *a, const lam_value *x,
                              void *b);

/* The elements of x, copied row-major into memory for as many. */
void lam__matrices_copy(const lam_value *x, void *to);

/* The rows of x in the order of a permutation, i32 [..., rows], or back. */
lam_tensor *lam__matrices_permute(lam_tensor *x, lam_tensor *permutation, bool back);

/* x with its columns multiplied by the entries of w: x diag(w). */
lam_tensor *lam__matrices_scale(lam_tensor *x, lam_tensor *w);

/* diag(w) that changes as left x right does, which has that value: for lam_gap_solve, see NOTE [blocks of values] in
 * gaps.c. */
lam_tensor *lam__gaps_values(lam_tensor *w, lam_tensor *left, lam_tensor *x, lam_tensor *right);

/* (x - x^H) / 2, and (x + x^H) / 2. */
lam_tensor *lam__matrices_skew(lam_tensor *x);
lam_tensor *lam__matrices_symmetric(lam_tensor *x);

/* x + y, where NULL stands for zero. */
lam_tensor *lam__matrices_plus(lam_tensor *x, lam_tensor *y);

/* x y - y x. */
lam_tensor *lam__matrices_commutator(lam_tensor *x, lam_tensor *y);

#endif
