/* What the contractions and the matrix factorisations share: see matrices.h. The first half serves public operations
 * and rules and works on handles; the second serves shape and eval rules and works on values. What fails here has
 * recorded it, with the types of the operands that users gave. */
#include "lib/primitives/matrices.h"

#include "lib/primitives/apply.h"
#include "lib/primitives/axes.h"

#include "lib/dispatch/dispatch.h"
#include "lib/parallel/parallel.h"
#include "lib/tensor/dtype.h"
#include "lib/tensor/value.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

#include <stdarg.h>
#include <stdatomic.h>

enum { FEW = 4 }; /* operands that a message names */

/* The operands, as many as values[] has room for, in one dtype. */
static bool brought(const char *operation, bool real, size_t n, lam_tensor *const in[], lam_value *values[],
                    lam_tensor *out[], lam_tensor **failed) {
    lam_ctx *ctx = lam__scope_operands(operation, n, in, values, failed);
    if (!ctx) return false;
    lam_dtype dtype = (lam_dtype)values[0]->dtype;
    for (size_t i = 1; i < n; i++) dtype = lam__dtype_promote(dtype, values[i]->dtype);
    if (real && !lam__dtype_is_inexact(dtype)) dtype = LAM_F64;
    for (size_t i = 0; i < n; i++) {
        out[i] = values[i]->dtype == dtype ? in[i] : lam_cast(in[i], dtype);
        if (!lam__scope_peek(out[i])) return *failed = &ctx->failed, false;
    }
    return true;
}

/* `in` and `out` may be one array. A conversion is an application of cast, so gradients come back in the operand's
 * dtype. A list may be of any length, so the room for its values is the frame's only while they are few. What could not
 * be converted is a failed tensor, and the context's is handed on in its place. */
bool lam__matrices_operands(const char *operation, bool real, size_t n, lam_tensor *const in[], lam_tensor *out[],
                            lam_tensor **failed) {
    lam_ctx *ctx = in[0] ? in[0]->ctx : &lam__context_failed;
    lam__scratch_area area;
    lam_value **values = lam__scratch_get(&area, ctx, n * sizeof *values);
    if (!values) return *failed = &ctx->failed, false;
    bool usable = brought(operation, real, n, in, values, out, failed);
    lam__scratch_put(&area);
    return usable;
}

/* The operands must be live: only wrappers that have checked them come here. There are no more than FEW of them. */
lam_tensor *lam__matrices_fail(const char *operation, size_t n, lam_tensor *const in[], lam_status status,
                               const char *remedy, const char *format, ...) {
    char text[512];
    lam_value *values[FEW];
    lam_ctx *ctx = in[0]->ctx;
    for (size_t i = 0; i < n; i++) values[i] = in[i]->value;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    lam_primitive row = {.name = operation};
    lam_call_site call = {.ctx = ctx, .primitive = &row, .inputs = (int)n, .outputs = 1, .in = values};
    lam__error_call(&call, status, remedy, "%s", text);
    return &ctx->failed;
}

/* For operations that compare. */
bool lam__matrices_ordered(const char *operation, bool real, size_t n, lam_tensor *in[], lam_tensor **failed) {
    if (!lam__matrices_operands(operation, real, n, in, in, failed)) return false;
    if (!lam__dtype_is_complex((int)lam_dtype_of(in[0]))) return true;
    *failed = lam__matrices_fail(operation, n, in, LAM_ERR_DTYPE, "take lam_real, lam_imag or lam_abs of them",
                                 "complex numbers have no order");
    return false;
}

/* Matrices of a stack have one size, so looking at the axes is enough. */
bool lam__matrices_square(const char *operation, lam_tensor *x) {
    lam_dims d = lam_dims_of(x);
    if (d.rank >= 2 && d.dims[d.rank - 2] == d.dims[d.rank - 1]) return true;
    lam__matrices_fail(operation, 1, &x, LAM_ERR_SHAPE, "its last two axes must be there and have equal sizes",
                       "a square matrix is needed");
    return false;
}

/* Any floating dtype, also complex: whether the row has a kernel for that its shape rule says. */
bool lam__matrices_stack(const char *operation, lam_tensor **x, lam_tensor **failed) {
    if (!lam__matrices_operands(operation, true, 1, x, x, failed)) return false;
    if (lam_rank(*x) >= 2) return true;
    *failed = lam__matrices_fail(operation, 1, x, LAM_ERR_RANK, "give it at least two axes", "a matrix is needed");
    return false;
}

/* All results are kept from being freed first, and those not wanted are dropped then; the caller's places are written
 * last. So a place may be that of an operand. */
lam_status lam__matrices_give(lam_status status, uint64_t since, int n, lam_tensor *const made[],
                              lam_tensor **const places[]) {
    if (status == LAM_OK) status = lam__apply_status((size_t)n, made);
    lam__scope_only_these((size_t)n, made, since);
    for (int i = 0; i < n; i++) {
        if (places[i]) *places[i] = made[i];
        else lam_drop(made[i]);
    }
    return status;
}

/* Without a call that could have recorded something more: the failure is the context's first. */
lam_status lam__matrices_give_failed(lam_tensor *failed, int n, lam_tensor **const places[]) {
    for (int i = 0; i < n; i++)
        if (places[i]) *places[i] = failed;
    return lam__apply_status(1, &failed);
}

/* A view: the kernels of products take strides, those of LAPACK copy. */
lam_tensor *lam__matrices_turn(lam_tensor *x) {
    return lam_moveaxis(x, -1, -2);
}

/* conj of real ones would be an alias more for nothing. */
lam_tensor *lam__matrices_adjoint(lam_tensor *x) {
    return lam__matrices_turn(lam__dtype_is_complex((int)lam_dtype_of(x)) ? lam_conj(x) : x);
}

/* Real dtypes stay. */
lam_dtype lam__matrices_real(lam_dtype dtype) {
    return dtype == LAM_C128 ? LAM_F64 : dtype == LAM_C64 ? LAM_F32 : dtype;
}

/* ---- batch rules ------------------------------------------------------------------------------------------------- */

/* The repetition is a broadcast, which takes no memory until a kernel needs it without gaps. It is the way for rows
 * whose kernels take a matrix of the one operand for each of the other. */
lam_tensor *lam__matrices_with_batch(const lam_rule *r, int i) {
    lam_dims own = lam_dims_of(r->in[i]);
    int64_t dims[LAM_INNER_RANK];
    if (r->mapped[i]) return r->in[i];
    dims[0] = r->size;
    for (int k = 0; k < own.rank; k++) dims[1 + k] = own.dims[k];
    return lam__apply_broadcast(r->in[i], own.rank + 1, dims);
}

/* One factorisation then serves all examples where only the right-hand sides are mapped, which is what vmap over solve
 * with one matrix mostly is. Columns of a matrix are solved for one by one anyway, so nothing is computed twice. */
lam_tensor *lam__matrices_widen(const lam_rule *r, int i, bool rows) {
    lam_tensor *x = lam_moveaxis(r->in[i], 0, rows ? -3 : -1);
    lam_dims own = lam_dims_of(x);
    int64_t dims[LAM_INNER_RANK];
    /* The axis that the batch is put beside: it comes in front of the columns, or behind the rows. */
    int merged = own.rank - (rows ? 3 : 2);
    for (int k = 0, n = 0; k < own.rank; k++, n++) {
        dims[n] = own.dims[k];
        if (k == merged) dims[n] *= own.dims[++k];
    }
    return lam__apply_reshape(x, own.rank - 1, dims);
}

/* Undoes lam__matrices_widen on the result x, whose merged axis has as many elements as that of r->in[i] times the
 * batch. */
lam_tensor *lam__matrices_narrow(const lam_rule *r, int i, lam_tensor *x, bool rows) {
    lam_dims own = lam_dims_of(x);
    int64_t dims[LAM_INNER_RANK];
    int split = own.rank - (rows ? 2 : 1);
    int64_t single = lam_dim(r->in[i], rows ? -2 : -1); /* the merged axis without the batch */
    for (int k = 0, n = 0; k < own.rank; k++) {
        if (k == split && rows) dims[n++] = r->size;
        dims[n++] = k == split ? single : own.dims[k];
        if (k == split && !rows) dims[n++] = r->size;
    }
    return lam_moveaxis(lam__apply_reshape(x, own.rank + 1, dims), rows ? -3 : -1, 0);
}

/* ---- leading axes ------------------------------------------------------------------------------------------------ */

/* Size of leading axis k, of `rank` of them lined up at the end; 1 where x has none. The last two axes, those of the
 * matrix, are not counted. */
static int64_t lead_of(lam_dims own, int rank, int k) {
    int at = k - (rank - (own.rank - 2));
    return at < 0 ? 1 : own.dims[at];
}

/* x itself where it has these leading axes already. */
static lam_tensor *repeated(lam_tensor *x, int rank, const int64_t *lead) {
    lam_dims own = lam_dims_of(x);
    int64_t dims[LAM_INNER_RANK];
    bool same = own.rank == rank + 2;
    for (int k = 0; k < rank; k++) {
        dims[k] = lead[k];
        same = same && lead[k] == own.dims[k];
    }
    dims[rank] = own.dims[own.rank - 2];
    dims[rank + 1] = own.dims[own.rank - 1];
    return same ? x : lam__apply_broadcast(x, rank + 2, dims);
}

/* Leading axes broadcast as NumPy's stacks of matrices do. Operands that failed before are passed over in silence. What
 * is repeated is a view, and its cotangent is summed back. */
bool lam__matrices_lead(const char *operation, lam_tensor *io[2]) {
    if (lam_failed(io[0]) || lam_failed(io[1])) return false;
    lam_dims x = lam_dims_of(io[0]), y = lam_dims_of(io[1]);
    int rank = (x.rank > y.rank ? x.rank : y.rank) - 2;
    int64_t lead[LAM_INNER_RANK];
    for (int k = 0; k < rank; k++) {
        int64_t a = lead_of(x, rank, k), b = lead_of(y, rank, k);
        if (a != b && a != 1 && b != 1) {
            lam__matrices_fail(operation, 2, io, LAM_ERR_SHAPE,
                               "sizes in front of the matrices must be equal or 1, lined up at their end",
                               "the batches do not broadcast");
            return false;
        }
        lead[k] = a == 1 ? b : a;
    }
    io[0] = repeated(io[0], rank, lead);
    io[1] = repeated(io[1], rank, lead);
    return !lam_failed(io[0]) && !lam_failed(io[1]);
}

/* A vector is one column or one row. A stack of vectors cannot be told from a matrix, so it is taken for one, and the
 * remedy says how to write it. */
bool lam__matrices_right_sides(const char *operation, bool right_side, lam_tensor *io[2], lam_tensor **failed) {
    if (!lam__matrices_operands(operation, true, 2, io, io, failed)) return false;
    *failed = &io[0]->ctx->failed;
    if (!lam__matrices_square(operation, io[0])) return false;
    int rank = lam_rank(io[1]);
    int64_t have = rank == 0 ? -1 : lam_dim(io[1], right_side || rank == 1 ? -1 : -2);
    if (have != lam_dim(io[0], -1)) {
        lam__matrices_fail(
            operation, 2, io, LAM_ERR_SHAPE, "write a batch of vectors as a batch of matrices of one column",
            "the right-hand side does not have the %lld equations of the matrix", (long long)lam_dim(io[0], -1));
        return false;
    }
    if (rank == 1) io[1] = lam_expand_dims(io[1], right_side ? 0 : 1);
    return !lam_failed(io[1]);
}

/* For values of two axes at least. A stack with an axis of none in front has none. */
int64_t lam__matrices_count(const lam_value *x) {
    int64_t count = 1;
    for (int k = 0; k + 2 < x->rank; k++) count *= x->dims[k];
    return count;
}

/* ---- factorisations ---------------------------------------------------------------------------------------------- */

/* Where entry `at` of the leading axes of x lies, for example " at [2, 0]"; a single matrix needs no place. */
static void append_place(const lam_value *x, int64_t at, lam__text *text) {
    int64_t index[LAM_INNER_RANK];
    int rank = x->rank - 2;
    for (int k = rank - 1; k >= 0; k--) {
        index[k] = at % x->dims[k];
        at /= x->dims[k];
    }
    for (int k = 0; k < rank; k++) lam__error_append(text, "%s%lld", k ? ", " : " at [", (long long)index[k]);
    if (rank > 0) lam__error_append(text, "]");
}

/* A user with a stack of a thousand matrices learns which of them it was. The place is that in the operand as the row
 * sees it, batch axes of vmap in front. */
lam_status lam__matrices_bad(const lam_call_site *call, const lam_value *x, int64_t at, const char *is,
                             const char *remedy) {
    char place[128] = "";
    lam__text text = {place, sizeof place, 0};
    append_place(x, at, &text);
    return lam__error_call(call, LAM_ERR_NUMERIC, remedy, "the matrix%s %s", place, is);
}

/* Complex matrices pass where the row says so, since LAPACK has kernels of its own for them. */
lam_status lam__matrices_typed(const lam_call_site *call, bool square) {
    const lam_value *x = call->in[0];
    bool complex = lam__dtype_is_complex(x->dtype) && call->primitive->takes_complex;
    if (x->dtype != LAM_F64 && x->dtype != LAM_F32 && !complex)
        return lam__error_call(call, LAM_ERR_DTYPE, "cast it to f64 or f32", "there is no kernel for this dtype");
    if (x->rank < 2) return lam__error_call(call, LAM_ERR_RANK, "give it at least two axes", "a matrix is needed");
    if (square && x->dims[x->rank - 2] != x->dims[x->rank - 1])
        return lam__error_call(call, LAM_ERR_SHAPE, "for other matrices see lam_lstsq, lam_pinv and lam_svd",
                               "a square matrix is needed");
    return LAM_OK;
}

/* LAPACK counts in 32 bits, also inside, where it multiplies sizes; results that are square in the longer side (`full`)
 * need it to be bounded too. */
lam_status lam__matrices_fit(const lam_call_site *call, bool full) {
    const lam_value *x = call->in[0];
    int64_t m = x->dims[x->rank - 2], n = x->dims[x->rank - 1], shorter = m < n ? m : n, longer = m < n ? n : m;
    if (shorter <= LAM__LAPACK_MOST && longer <= (full ? LAM__LAPACK_MOST : INT_MAX)) return LAM_OK;
    return lam__error_call(call, LAM_ERR_OVERFLOW, NULL, "matrices of more than %d rows or columns are too large",
                           LAM__LAPACK_MOST);
}

/* Eight bytes more, so that a request for none is a block too. */
bool lam__matrices_work(lam_ctx *ctx, size_t bytes, lam__work *work) {
    *work = (lam__work){ctx, lam__alloc_get(&ctx->pool, bytes + 8), bytes + 8};
    if (!work->room) lam__error_memory(ctx, bytes);
    return work->room;
}

/* Where there was no memory there is nothing to give back. */
void lam__matrices_work_end(lam__work *work) {
    if (work->room) lam__alloc_put(&work->ctx->pool, work->room, work->bytes);
}

/* What the workers of one call have in common. Each has scratch of its own, by its number. */
typedef struct sharing {
    lam__matrices_part *part;
    const void *env;
    char *rooms;
    size_t bytes; /* of each */
    atomic_int_fast64_t bad;
} sharing;

/* The least number is kept: the one that would have stopped a single thread. */
static void run_part(void *env, int64_t begin, int64_t end, int worker) {
    sharing *s = env;
    int_fast64_t bad = s->part(s->env, begin, end, s->rooms ? s->rooms + (size_t)worker * s->bytes : NULL);
    int_fast64_t least = atomic_load(&s->bad);
    while (bad >= 0 && bad < least && !atomic_compare_exchange_weak(&s->bad, &least, bad)) continue;
}

/* Scratch for all workers is made before they start, since a worker allocates nothing. Without memory for that one
 * thread does all of it, in one room; only without that is it a failure. */
lam_status lam__matrices_each(lam_ctx *ctx, int64_t count, double cost, size_t bytes, lam__matrices_part *part,
                              const void *env, int64_t *bad) {
    /* Rooms end with a cache line, so that no two workers write into one. */
    sharing s = {.part = part, .env = env, .bytes = (bytes + 63) & ~(size_t)63};
    lam__team *team = lam__team_pieces(ctx->team, count, cost) > 1 ? ctx->team : NULL;
    size_t all = s.bytes * (size_t)lam__team_size(team);
    lam__work work = {.room = NULL};
    atomic_init(&s.bad, INT64_MAX);
    if (team && bytes && !(s.rooms = lam__alloc_get(&ctx->pool, all))) team = NULL; /* one room may be had still */
    if (team && bytes) work = (lam__work){ctx, s.rooms, all};
    if (!team && bytes && !lam__matrices_work(ctx, s.bytes, &work)) return LAM_ERR_MEMORY;
    s.rooms = work.room;
    lam__team_run(team, count, cost, run_part, &s);
    lam__matrices_work_end(&work);
    /* Every thread has ended by now; the number is read as it is. */
    *bad = s.bad == INT64_MAX ? -1 : (int64_t)s.bad;
    return LAM_OK;
}

/* What the workers share. */
typedef struct substitution {
    const lam__triangular *how;
    lam_dtype dtype;
    int64_t n, m;
    const char *a;
    char *b;
} substitution;

/* Whole matrices are shared, never parts of one: then each has the bits that it has alone. It cannot fail: a 0 on the
 * diagonal gives inf. */
static int64_t substitute_part(const void *env, int64_t begin, int64_t end, void *room) {
    const substitution *s = env;
    const int64_t item = (int64_t)lam__dtype_bytes(s->dtype);
    (void)room;
    lam__kernels_triangular_solve(s->dtype, s->how, end - begin, s->n, s->m, s->a + begin * s->n * s->n * item,
                                  s->b + begin * s->n * s->m * item);
    return -1;
}

/* About n^2 m / 8 units of work for each matrix, which decides whether threads share them. */
void lam__matrices_substitute(const lam__triangular *how, int64_t n, int64_t m, const void *a, const lam_value *x,
                              void *b) {
    const substitution s = {how, (lam_dtype)x->dtype, n, m, a, b};
    /* It stays -1: there is nothing that could be bad. */
    int64_t bad;
    lam__matrices_each(lam__full(x)->ctx, lam__matrices_count(x), (double)(n * n) * (double)m / 8, 0, substitute_part,
                       &s, &bad);
}

/* For kernels that work in place on a copy of their operand. Whatever strides x has: the copy has none of them. */
void lam__matrices_copy(const lam_value *x, void *to) {
    int64_t strides[LAM_INNER_RANK], step = 1;
    lam_dtype dtype = (lam_dtype)x->dtype;
    for (int k = x->rank - 1; k >= 0; k--) {
        strides[k] = step;
        step *= x->dims[k];
    }
    if (x->count)
        lam__parallel_copy(lam__value_team(x), x->rank, x->dims, dtype, to, strides, dtype, x->data, x->strides);
}

/* The order as a column broadcasts against the columns of x and its leading axes. Rows of all columns move together. */
lam_tensor *lam__matrices_permute(lam_tensor *x, lam_tensor *permutation, bool back) {
    lam_tensor *order = back ? lam_index_inverse(permutation, lam_dim(x, -2)) : permutation;
    order = lam_expand_dims(order, -1);
    /* Permutations may have fewer leading axes than x, as where many right sides meet one matrix. */
    for (int k = lam_rank(order); k < lam_rank(x); k++) order = lam_expand_dims(order, 0);
    return lam_take_along_axis(x, order, -2);
}

/* By a broadcast product instead of a matrix product with diag(w). */
lam_tensor *lam__matrices_scale(lam_tensor *x, lam_tensor *w) {
    return lam_mul(x, lam_expand_dims(w, -2));
}

/* Of complex matrices the skew-Hermitian part, and below the Hermitian one. */
lam_tensor *lam__matrices_skew(lam_tensor *x) {
    return lam_mul(0.5, lam_sub(x, lam__matrices_adjoint(x)));
}

lam_tensor *lam__matrices_symmetric(lam_tensor *x) {
    return lam_mul(0.5, lam_add(x, lam__matrices_adjoint(x)));
}

/* Either may be absent (NULL), as cotangents and tangents may. */
lam_tensor *lam__matrices_plus(lam_tensor *x, lam_tensor *y) {
    return x && y ? lam_add(x, y) : x ? x : y;
}

/* x y - y x, which is 0 for matrices that commute. */
lam_tensor *lam__matrices_commutator(lam_tensor *x, lam_tensor *y) {
    return lam_sub(lam_matmul(x, y), lam_matmul(y, x));
}
