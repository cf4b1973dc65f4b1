/* LU factors and what they solve. A solve factors its matrix once and differentiates implicitly: its row is given the
 * matrix and the factors, reads the factors, and says how the result depends on the matrix; the factors are constants
 * to it. So the tape keeps them, and the way back, forward mode and second order solve with the same factors. */
#include "lib/primitives/apply.h"
#include "lib/primitives/axes.h"
#include "lib/primitives/create.h"
#include "lib/primitives/matrices.h"
#include "lib/primitives/params.h"
#include "lib/primitives/rows.h"
#include "lib/primitives/solve.h"

#include "lib/dispatch/dispatch.h"
#include "lib/parallel/parallel.h"
#include "lib/tensor/dtype.h"
#include "lib/tensor/value.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

#include <string.h>

/* ---- lu ---------------------------------------------------------------------------------------------------------- */

enum { FACTORS, PIVOTS, PERMUTATION, LU_OUTPUTS };

/* Of a matrix with m rows and n columns the shorter side is factored, and what lies beside or below goes along. Pivots
 * and permutation are i32, as LAPACK counts; both say the same in two ways, of which users need one or the other. */
static lam_status shape_lu(const lam_call_site *call, lam_shape out[]) {
    const lam_value *x = call->in[0];
    const lam_status typed = lam__matrices_typed(call, false);
    if (typed != LAM_OK) return typed;
    const int64_t m = x->dims[x->rank - 2], n = x->dims[x->rank - 1];
    for (int o = 0; o < LU_OUTPUTS; o++) {
        out[o].dtype = o == FACTORS ? (lam_dtype)x->dtype : LAM_I32;
        out[o].rank = o == FACTORS ? x->rank : x->rank - 1;
        for (int k = 0; k < out[o].rank; k++) out[o].dims[k] = x->dims[k];
    }
    out[PIVOTS].dims[x->rank - 2] = m < n ? m : n;
    return lam__matrices_fit(call, false);
}

/* Row i of the permuted matrix is row order[i] of the matrix, which has m. LAPACK gives the k exchanges one after the
 * other; the order is what they come to. An exchange of a row with itself leaves it. */
static void follow_exchanges(int64_t m, int64_t k, const int32_t *pivots, int32_t *order) {
    for (int64_t i = 0; i < m; i++) order[i] = (int32_t)i;
    for (int64_t i = 0; i < k; i++) {
        int32_t moved = order[i];
        order[i] = order[pivots[i]];
        order[pivots[i]] = moved;
    }
}

/* In place on the copy in the result. Singular matrices have factors too: they are found by who solves with them. */
static int64_t factor_part(const void *env, int64_t begin, int64_t end, void *room) {
    lam_value *const *out = env;
    const lam_value *f = out[FACTORS];
    const int64_t m = f->dims[f->rank - 2], n = f->dims[f->rank - 1], k = m < n ? m : n;
    const int64_t matrix = m * n * (int64_t)lam__dtype_bytes(f->dtype);
    int32_t *pivots = (int32_t *)out[PIVOTS]->data;
    lam__kernels_lu((lam_dtype)f->dtype, end - begin, m, n, (char *)f->data + begin * matrix, pivots + begin * k, room);
    for (int64_t b = begin; b < end; b++)
        follow_exchanges(m, k, pivots + b * k, (int32_t *)out[PERMUTATION]->data + b * m);
    return -1;
}

/* Rows of matrices without columns stay where they are. LAPACK is not asked about them. */
static void keep_order(lam_value *order) {
    const int64_t m = order->dims[order->rank - 1];
    for (int64_t i = 0; i < order->count; i++) ((int32_t *)order->data)[i] = (int32_t)(i % m);
}

/* The cost in units of lam__team_run is about that of n^3 / 8 and something per row. */
static lam_status eval_lu(const lam_call_site *call, lam_value *const out[]) {
    const lam_value *x = call->in[0];
    lam_value *f = out[FACTORS];
    lam_dtype dtype = (lam_dtype)x->dtype;
    const int64_t m = x->dims[x->rank - 2], n = x->dims[x->rank - 1];
    int64_t bad;
    if (x->count == 0) return keep_order(out[PERMUTATION]), LAM_OK;
    lam__parallel_copy(lam__value_team(x), x->rank, x->dims, dtype, f->data, f->strides, dtype, x->data, x->strides);
    return lam__matrices_each(call->ctx, lam__matrices_count(x),
                              (double)m * (double)n * ((double)(m < n ? m : n) / 8 + 2),
                              lam__kernels_lu_bytes(dtype, m, n), factor_part, out, &bad);
}

/* The square part of factors, and the rows of l below it or the columns of u beside it (NULL: none). One of the two is
 * NULL at least. */
typedef struct lu_parts {
    lam_tensor *square, *below, *beside;
} lu_parts;

/* Slices are views: nothing is copied before a solve needs it. */
static lu_parts parts_of(lam_tensor *x) {
    const int64_t m = lam_dim(x, -2), n = lam_dim(x, -1);
    lu_parts p = {.square = x};
    if (m > n) p = (lu_parts){lam_slice_axis(x, -2, 0, n), lam_slice_axis(x, -2, n, LAM_END), NULL};
    if (m < n) p = (lu_parts){lam_slice_axis(x, -1, 0, m), NULL, lam_slice_axis(x, -1, m, LAM_END)};
    return p;
}

/* The parts side by side again, as they were cut. */
static lam_tensor *joined(const lu_parts *p) {
    if (p->below) return lam_concatenate(LAM_LIST(p->square, p->below), -2);
    return p->beside ? lam_concatenate(LAM_LIST(p->square, p->beside), -1) : p->square;
}

/* l^-1 x, or l^-T x, of square factors. */
static lam_tensor *under_l(lam_tensor *f, lam_tensor *x, bool transpose) {
    return lam_triangular_solve(f, x, &(lam_triangular_solve_options){.unit_diagonal = true, .transpose = transpose});
}

/* x u^-1, or x u^-T. */
static lam_tensor *over_u(lam_tensor *f, lam_tensor *x, bool transpose) {
    return lam_triangular_solve(
        f, x, &(lam_triangular_solve_options){.right_side = true, .upper = true, .transpose = transpose});
}

/* With m = l^-1 p dx u^-1 of the square part: dl = l tril(m, -1), du = triu(m) u. The permutation is constant between
 * its jumps. `factors` hold l below the diagonal and u from it on, so both changes are added into one. Rows l2 below:
 * from dx2 = dl2 u + l2 du comes dl2 = dx2 u^-1 - l2 triu(m); columns u2 beside: du2 = l^-1 dx2 - tril(m, -1) u2. */
static void jvp_lu(const lam_rule *r, lam_tensor *const dx[], lam_tensor *dout[]) {
    const lu_parts f = parts_of(r->out[FACTORS]),
                   d = parts_of(lam__matrices_permute(dx[0], r->out[PERMUTATION], false));
    lam_tensor *m = over_u(f.square, under_l(f.square, d.square, false), false), *low = lam_tril(m, -1),
               *up = lam_triu(m, 0), *dl = lam_add(lam_matmul(lam_tril(f.square, -1), low), low);
    lu_parts change = {.square = lam_add(dl, lam_matmul(up, lam_triu(f.square, 0)))};
    if (f.below) change.below = lam_sub(over_u(f.square, d.below, false), lam_matmul(f.below, up));
    if (f.beside) change.beside = lam_sub(under_l(f.square, d.beside, false), lam_matmul(low, f.beside));
    dout[FACTORS] = joined(&change);
}

/* gx = p^T l^-T (tril(l^T gl - g2 u2^T, -1) + triu(gu u^T - l2^T g2)) u^-T, where g2 is that of l2 or u2, of which the
 * rows below have g2 u^-T and the columns beside l^-T g2. The transpose of that; l has ones on its diagonal, hence the
 * sums with gl and below. */
static void vjp_lu(const lam_rule *r, lam_tensor *const g[], lam_tensor *gx[]) {
    if (!g[FACTORS]) return;
    const lu_parts f = parts_of(r->out[FACTORS]), part = parts_of(g[FACTORS]);
    lam_tensor *gl = lam_tril(part.square, -1), *gu = lam_triu(part.square, 0);
    lam_tensor *lower = lam_add(lam_matmul(lam__matrices_turn(lam_tril(f.square, -1)), gl), gl),
               *upper = lam_matmul(gu, lam__matrices_turn(lam_triu(f.square, 0)));
    if (f.below) upper = lam_sub(upper, lam_matmul(lam__matrices_turn(f.below), part.below));
    if (f.beside) lower = lam_sub(lower, lam_matmul(part.beside, lam__matrices_turn(f.beside)));
    lam_tensor *middle = lam_add(lam_tril(lower, -1), lam_triu(upper, 0));
    lu_parts back = {.square = over_u(f.square, under_l(f.square, middle, true), true)};
    if (f.below) back.below = over_u(f.square, part.below, true);
    if (f.beside) back.beside = under_l(f.square, part.beside, true);
    gx[0] = lam__matrices_permute(joined(&back), r->out[PERMUTATION], true);
}

/* A stack with one more leading axis. */
static void batch_lu(const lam_rule *r, lam_tensor *out[]) {
    lam_bind(r->ctx, r->primitive, NULL, 0, (lam_list){1, r->in}, out, LU_OUTPUTS);
}

/* Derivatives are made of the factors and the order; x is not kept. */
const lam_primitive lam__row_lu = {
    .name = "lu",
    .inputs = 1,
    .takes_complex = true,
    .outputs = LU_OUTPUTS,
    .derivative = LAM_GENERAL,
    .saves = LAM_SAVE_OUT(FACTORS) | LAM_SAVE_OUT(PERMUTATION),
    .shape = shape_lu,
    .eval = eval_lu,
    .jvp = jvp_lu,
    .vjp = vjp_lu,
    .batch = batch_lu,
};

/* Fills out[]; failed tensors on failure. x is a stack of matrices of a floating dtype. Also what lam_solve and
 * lam_inv begin with. The three results belong to the innermost scope. */
static lam_status factor(lam_tensor *x, lam_tensor *out[LU_OUTPUTS]) {
    return lam_bind(x->ctx, &lam__row_lu, NULL, 0, LAM_LIST(x), out, LU_OUTPUTS);
}

/* No check for singular matrices: their factors are as good as any. */
lam_status lam_lu(lam_tensor *x, lam_tensor **factors, lam_tensor **pivots, lam_tensor **permutation) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *failed, *out[LU_OUTPUTS];
    lam_tensor **const places[] = {[FACTORS] = factors, [PIVOTS] = pivots, [PERMUTATION] = permutation};
    if (!lam__matrices_stack("lu", &x, &failed)) return lam__matrices_give_failed(failed, LU_OUTPUTS, places);
    return lam__matrices_give(factor(x, out), since, LU_OUTPUTS, out, places);
}

/* ---- solve ------------------------------------------------------------------------------------------------------- */

enum { MATRIX, ITS_FACTORS, ITS_ORDER, RIGHT, SOLVE_INPUTS };

typedef lam__solve_params solve_params;

/* `factored` is {matrix, factors, order}, as in the row's operands, so r->in serves too. The order is i32, and takes no
 * part in derivatives. */
static lam_tensor *apply_solve(lam_tensor *const factored[3], lam_tensor *b, solve_params p) {
    lam_tensor *in[SOLVE_INPUTS] = {factored[MATRIX], factored[ITS_FACTORS], factored[ITS_ORDER], b};
    return lam__apply(&lam__row_solve, &p, sizeof p, SOLVE_INPUTS, in);
}

/* The public form has brought all leading axes to one list. */
static lam_status shape_solve(const lam_call_site *call, lam_shape out[]) {
    const lam_value *b = call->in[RIGHT];
    return lam__apply_shape_as(b, (lam_dtype)b->dtype, out);
}

/* Both parts of a complex number. A NaN is none, so its matrix counts as regular and its solution is NaN. */
static bool is_zero(int dtype, const char *at) {
    const int parts = lam__dtype_is_complex(dtype) ? 2 : 1;
    const bool wide = lam__dtype_part(dtype) == LAM_F64;
    for (int i = 0; i < parts; i++)
        if (wide ? ((const double *)(const void *)at)[i] != 0 : ((const float *)(const void *)at)[i] != 0) return false;
    return true;
}

/* An exact 0 on the diagonal of u is what LAPACK reports; a matrix that is singular up to rounding passes, with large
 * results. */
static bool is_singular(const lam_value *f, const char *factors, int64_t n) {
    const size_t item = lam__dtype_bytes(f->dtype);
    for (int64_t i = 0; i < n; i++)
        if (is_zero(f->dtype, factors + (size_t)(i * n + i) * item)) return true;
    return false;
}

/* Rows of every matrix in the order given: dst[i] = src[order[i]], or back: dst[order[i]] = src[i]. Whole rows are
 * copied, so this is the cost of reading b once. */
static void permute_rows(bool back, const lam_value *like, const int32_t *order, const char *src, char *dst) {
    int64_t n = like->dims[like->rank - 2], rows = n * lam__matrices_count(like);
    size_t bytes = (size_t)like->dims[like->rank - 1] * lam__dtype_bytes(like->dtype);
    for (int64_t i = 0; i < rows; i++) {
        int64_t other = i - i % n + order[i];
        memcpy(dst + (size_t)(back ? other : i) * bytes, src + (size_t)(back ? i : other) * bytes, bytes);
    }
}

/* p a = l u: x = u^-1 l^-1 p b, and for the transpose x = p^T l^-T u^-T b, which overwrites b. */
static void substitute(bool transpose, const void *factors, const int32_t *order, lam_value *b, lam_value *x) {
    const lam__triangular lower = {.transpose = transpose, .unit_diagonal = true},
                          upper = {.transpose = transpose, .upper = true};
    int64_t n = x->dims[x->rank - 2], m = x->dims[x->rank - 1];
    void *on = transpose ? b->data : x->data;
    if (!transpose) permute_rows(false, x, order, b->data, x->data);
    lam__matrices_substitute(transpose ? &upper : &lower, n, m, factors, x, on);
    lam__matrices_substitute(transpose ? &lower : &upper, n, m, factors, x, on);
    if (transpose) permute_rows(true, x, order, b->data, x->data);
}

/* x in memory of its own; NULL if that is lacking. The kernel overwrites it, and the operand is somebody else's. Of the
 * same dims, so whatever is written over it leaves the operand alone. */
static lam_value *copy_of(const lam_value *x) {
    lam_value *copy = lam__value_new(lam__full(x)->ctx, (lam_dtype)x->dtype, x->rank, x->dims);
    if (copy) lam__matrices_copy(x, copy->data);
    return copy;
}

/* The failure is told of what users gave: the matrix and the right-hand side. The row has four operands, of which its
 * users know two. */
static lam_status refuse_singular(const lam_call_site *call, const lam_value *factors, int64_t at) {
    lam_value *given[] = {call->in[MATRIX], call->in[RIGHT]};
    lam_call_site told = *call;
    told.in = given;
    told.inputs = 2;
    return lam__matrices_bad(&told, factors, at, "is singular", "a least-squares or regularised problem may be meant");
}

/* What a solve is about: contiguous, b its own where it is overwritten. */
typedef struct linear_system {
    solve_params how;
    lam_value *factors, *order, *b, *x;
} linear_system;

/* Solves again with matrix number `at`, of which parts may have left the range, where `room` holds the solution and
 * what that takes. Gives whether it is singular. */
static bool solve_extreme(const linear_system *s, const lam_value *matrix, const lam_value *b, int64_t at, char *room) {
    const lam_dtype dtype = (lam_dtype)s->x->dtype;
    const int64_t n = s->x->dims[s->x->rank - 2], m = s->x->dims[s->x->rank - 1],
                  item = (int64_t)lam__dtype_bytes(dtype), bytes = n * m * item;
    bool singular;
    memcpy(room, (const char *)b->data + at * bytes, (size_t)bytes);
    if (lam__kernels_solve_extreme(dtype, s->how.transpose, n, m, (const char *)matrix->data + at * n * n * item, room,
                                   room + (bytes + 7) / 8 * 8, &singular))
        memcpy((char *)s->x->data + at * bytes, room, (size_t)bytes);
    return singular;
}

/* The first matrix that is singular, -1 for none; those with extreme pivots are asked themselves, in `room`. From the
 * last to the first, so that the number that stays is the least; all extreme ones are solved on the way. */
static int64_t first_singular(const linear_system *s, const lam_value *matrix, const lam_value *b, char *room) {
    const lam_value *f = s->factors;
    const int64_t n = f->dims[f->rank - 1], bytes = n * n * (int64_t)lam__dtype_bytes(f->dtype);
    int64_t first = -1;
    for (int64_t at = lam__matrices_count(f) - 1; at >= 0; at--) {
        const char *factors = (const char *)f->data + at * bytes;
        const bool extreme = room && lam__kernels_solve_is_extreme((lam_dtype)f->dtype, n, factors);
        if (extreme ? solve_extreme(s, matrix, b, at, room) : is_singular(f, factors, n)) first = at;
    }
    return first;
}

/* Only pivots are looked at, so for most stacks this is all that extreme matrices cost. */
static bool has_extremes(const lam_value *f) {
    const int64_t n = f->dims[f->rank - 1], bytes = n * n * (int64_t)lam__dtype_bytes(f->dtype);
    for (int64_t at = lam__matrices_count(f) - 1; at >= 0; at--)
        if (lam__kernels_solve_is_extreme((lam_dtype)f->dtype, n, (const char *)f->data + at * bytes)) return true;
    return false;
}

/* The same for what needs the matrices themselves. */
static lam_status find_with_extremes(const lam_call_site *call, const linear_system *s, int64_t *bad) {
    const lam_value *x = s->x;
    const int64_t n = x->dims[x->rank - 2], m = x->dims[x->rank - 1];
    const size_t bytes = (size_t)(n * m) * lam__dtype_bytes(x->dtype);
    lam_value *matrix = lam__value_contiguous(call->in[MATRIX]), *b = lam__value_contiguous(call->in[RIGHT]);
    lam__work work = {.room = NULL};
    const bool ready =
        matrix && b &&
        lam__matrices_work(call->ctx, bytes + 8 + lam__kernels_solve_extreme_bytes((lam_dtype)x->dtype, n, m), &work);
    if (ready) *bad = first_singular(s, matrix, b, work.room);
    lam__matrices_work_end(&work);
    lam__value_release(matrix);
    lam__value_release(b);
    return ready ? LAM_OK : LAM_ERR_MEMORY;
}

/* Whether each of the orders of n rows names all of them. `seen` has a bit for each row, all 0: an order turns every
 * one of them over, so the next one needs no clearing. */
static bool is_order(const lam_value *order, int64_t n, uint8_t seen[]) {
    const int32_t *row = order->data;
    unsigned before = 0;
    for (int64_t first = 0; first < order->count; first += n, before ^= 1)
        for (int64_t i = first; i < first + n; i++) {
            if (row[i] < 0 || row[i] >= n || (seen[row[i] / 8] >> row[i] % 8 & 1u) != before) return false;
            seen[row[i] / 8] ^= (uint8_t)(1u << row[i] % 8);
        }
    return true;
}

/* The order of rows may come from a program that somebody wrote, which has it as any other operand. Memory depends on
 * its range, and where it names a row twice, another one of the result would be left unwritten. Bits, so that up to
 * some thousand rows no memory is asked for: a trip of a loop may be one such call. */
static lam_status check_order(const lam_call_site *call, const lam_value *order) {
    const int64_t n = order->rank ? order->dims[order->rank - 1] : 0;
    const size_t bytes = (size_t)n / 8 + 1;
    lam__scratch_area area;
    uint8_t *seen = lam__scratch_get(&area, call->ctx, bytes);
    if (!seen) return LAM_ERR_MEMORY;
    memset(seen, 0, bytes);
    const bool fits = is_order(order, n, seen);
    lam__scratch_put(&area);
    return fits ? LAM_OK
                : lam__error_call(call, LAM_ERR_INDEX, "lam_lu gives it", "the order of rows is not a permutation");
}

/* Everything is solved at once; what was extreme is then solved again, one matrix at a time, over that. The failure
 * names the first singular one. */
static lam_status solve_all(const lam_call_site *call, const linear_system *s) {
    int64_t bad = -1;
    lam_status status = check_order(call, s->order);
    if (status != LAM_OK) return status;
    if (!s->factors->count) return LAM_OK; /* however many matrices without rows: none is singular */
    if (s->x->count) substitute(s->how.transpose, s->factors->data, s->order->data, s->b, s->x);
    if (has_extremes(s->factors)) status = find_with_extremes(call, s, &bad);
    else bad = first_singular(s, NULL, NULL, NULL);
    return status != LAM_OK || bad < 0 || s->how.singular ? status : refuse_singular(call, s->factors, bad);
}

/* For the transpose the permutation comes last and needs b in memory of its own to be read from. */
static lam_status eval_solve(const lam_call_site *call, lam_value *const out[]) {
    const solve_params *p = call->params;
    const linear_system s = {*p, lam__value_contiguous(call->in[ITS_FACTORS]),
                             lam__value_contiguous(call->in[ITS_ORDER]),
                             p->transpose ? copy_of(call->in[RIGHT]) : lam__value_contiguous(call->in[RIGHT]), out[0]};
    lam_status status = s.factors && s.order && s.b ? solve_all(call, &s) : LAM_ERR_MEMORY;
    lam__value_release(s.factors);
    lam__value_release(s.order);
    lam__value_release(s.b);
    return status;
}

/* op(a) dx = db - op(da) x. From a x = b. Both terms are solved together, by the factors that are there. */
static void jvp_solve(const lam_rule *r, lam_tensor *const dx[], lam_tensor *dout[]) {
    const solve_params *p = r->params;
    lam_tensor *change = dx[RIGHT];
    if (dx[MATRIX]) {
        lam_tensor *da = p->transpose ? lam__matrices_turn(dx[MATRIX]) : dx[MATRIX], *moved = lam_matmul(da, r->out[0]);
        change = change ? lam_sub(change, moved) : lam_neg(moved);
    }
    if (change) dout[0] = apply_solve(r->in, change, *p);
}

/* gb = op(a)^-T g; ga = -gb x^T, turned for the transpose. One more solve with the factors, transposed, and a product
 * of x and gb. */
static void vjp_solve(const lam_rule *r, lam_tensor *const g[], lam_tensor *gx[]) {
    const solve_params *p = r->params;
    /* The same tolerance for singular matrices: what was let pass on the way there is let pass back. */
    const solve_params back = {!p->transpose, p->singular};
    lam_tensor *gb = gx[RIGHT] = apply_solve(r->in, g[0], back);
    if (!r->needs[MATRIX]) return;
    lam_tensor *left = p->transpose ? r->out[0] : gb, *right = p->transpose ? gb : r->out[0];
    gx[MATRIX] = lam_neg(lam_matmul(left, lam__matrices_turn(right)));
}

/* Right-hand sides of one matrix join as columns. With a matrix for each example everything gets the batch axis. */
static void batch_solve(const lam_rule *r, lam_tensor *out[]) {
    const solve_params *p = r->params;
    /* Factors of one matrix for all: the order has come with them. */
    if (!r->mapped[MATRIX] && !r->mapped[ITS_FACTORS]) {
        lam_tensor *wide = apply_solve(r->in, lam__matrices_widen(r, RIGHT, false), *p);
        out[0] = lam__matrices_narrow(r, RIGHT, wide, false);
        return;
    }
    lam_tensor *in[SOLVE_INPUTS];
    for (int i = 0; i < SOLVE_INPUTS; i++) in[i] = lam__matrices_with_batch(r, i);
    out[0] = apply_solve(in, in[RIGHT], *p);
}

/* By the right-hand side the row is linear; by the matrix the solution is needed too. */
const lam_primitive lam__row_solve = {
    .name = "solve",
    .inputs = SOLVE_INPUTS,
    .takes_complex = true,
    .derivative = LAM_GENERAL,
    .linear = 1u << RIGHT,
    .saves = LAM_SAVE_IN(MATRIX) | LAM_SAVE_IN(ITS_FACTORS) | LAM_SAVE_IN(ITS_ORDER),
    .saves_for = {LAM_SAVE_OUT(0)},
    .shape = shape_solve,
    .eval = eval_solve,
    .jvp = jvp_solve,
    .vjp = vjp_solve,
    .batch = batch_solve,
    .layout = "b transpose, b singular",
};

/* x repeated to `rank` leading sizes `lead` of which it has the last. A broadcast, so a kernel that needs no copy makes
 * none. */
static lam_tensor *repeated(lam_tensor *x, int own, int rank, const int64_t *lead) {
    lam_dims d = lam_dims_of(x);
    int64_t dims[LAM_INNER_RANK];
    for (int k = 0; k < rank; k++) dims[k] = lead[k];
    for (int k = 0; k < own; k++) dims[rank + k] = d.dims[d.rank - own + k];
    return lam__apply_broadcast(x, rank + own, dims);
}

/* The matrix is factored as the user gave it and the factors are repeated to the leading axes of b, not the other way
 * round: one matrix with a stack of right-hand sides is factored once. Factors come from a matrix cut off from
 * derivatives, since the row differentiates by the matrix itself. Where no axis was added or repeated, in[0] is still
 * the handle that was factored. */
static lam_tensor *solution(const char *operation, lam_tensor *a, lam_tensor *b, bool singular) {
    lam_tensor *in[2] = {a, b}, *failed, *lu[LU_OUTPUTS];
    bool vector = lam__scope_peek(b) && lam_rank(b) == 1;
    if (!lam__matrices_right_sides(operation, false, in, &failed)) return failed;
    if (factor(lam_stop_gradient(in[0]), lu) != LAM_OK) return failed;
    lam_tensor *matrix = in[0];
    if (!lam__matrices_lead(operation, in)) return failed;
    lam_dims all = lam_dims_of(in[0]);
    bool same = in[0] == matrix;
    lam_tensor *factored[3] = {in[0], same ? lu[FACTORS] : repeated(lu[FACTORS], 2, all.rank - 2, all.dims),
                               same ? lu[PERMUTATION] : repeated(lu[PERMUTATION], 1, all.rank - 2, all.dims)};
    lam_tensor *x = apply_solve(factored, in[1], (solve_params){false, singular});
    return vector ? lam_squeeze(x, LAM_AXES(-1)) : x;
}

/* Systems of halves are solved in f32: their factors have more digits than they. */
lam_tensor *lam_solve(lam_tensor *a, lam_tensor *b) {
    uint64_t since = lam__scope_now(a);
    lam_tensor *in[2] = {a, b};
    const lam_dtype dtype = lam__apply_floats(2, in);
    return lam__scope_only(lam__apply_narrowed(solution("solve", in[0], in[1], false), dtype), since);
}

/* For lam_inv, and for rules that at a singular matrix want infinities and no failure. The right-hand side has as many
 * columns as rows, and no batch: leading axes come of x. */
static lam_tensor *inverse(lam_tensor *x, bool singular) {
    int64_t n = lam_dim(x, -1);
    return solution("inv", x, lam__create_eye(x->ctx, lam_dtype_of(x), 0, n, n), singular);
}

/* For rules: of a singular matrix it has infinities, and does not fail. */
lam_tensor *lam__solve_inverse(lam_tensor *x) {
    return inverse(x, true);
}

/* Solved for the identity, so one row and its rules serve both. */
lam_tensor *lam_inv(lam_tensor *x) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *failed;
    if (!lam__matrices_operands("inv", true, 1, &x, &x, &failed)) return failed;
    if (!lam__matrices_square("inv", x)) return lam__axes_failed(x);
    const lam_dtype dtype = lam__apply_floats(1, &x);
    return lam__scope_only(lam__apply_narrowed(inverse(x, false), dtype), since);
}
