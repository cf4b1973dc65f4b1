/* Linear systems by iteration: cg, bicgstab and gmres, as rules of lam_custom_linear_solve, which gives them their
 * derivatives. A rule runs at any level, so what it does to one system it does to each of a batch: numbers that steer
 * the iteration are tensors, a system that is done is held still by zeros in their place, and the loop ends when all
 * are, or at `maxiter`. */
#include "transforms/custom.h"

#include "lib/base/context.h"
#include "lib/base/error.h"
#include "lib/base/scope.h"
#include "lib/dispatch/fn.h"
#include "lib/primitives/apply.h"
#include "lib/primitives/cplx.h"
#include "lib/tensor/dtype.h"
#include "lib/tensor/value.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

#include <math.h>

enum { RESTART = 20, MOST_RESTART = 64, STEPS_PER_ELEMENT = 10 };

/* A running iteration: the operator, what it is to reach, and how often it may be asked. */
typedef struct iteration {
    lam_fn *linear, *preconditioner;
    lam_tensor *limit; /* of the residual's length */
    int64_t most, restart;
    bool must_converge;
} iteration;

/* What would broadcast against x is refused: the solution would be one of another system. */
static lam_tensor *apply(lam_fn *f, lam_tensor *x) {
    lam_tensor *y = lam_apply(f, LAM_LIST(x));
    const lam_value *from = lam__scope_peek(x), *to = lam__scope_peek(y);
    if (!from || !to || lam__value_same_type(from, to)) return y;
    return lam__error_fail(f->ctx, LAM_ERR_SHAPE, "'%s' gives another type than that of its operand", f->name);
}

static lam_tensor *preconditioned(const iteration *it, lam_tensor *x) {
    return it->preconditioner ? apply(it->preconditioner, x) : x;
}

/* The product of conj(x) and y, over all elements; a number. */
static lam_tensor *inner(lam_tensor *x, lam_tensor *y) {
    return lam_sum(lam_mul(lam_conj(x), y), NULL);
}

static lam_tensor *length(lam_tensor *x) {
    return lam_norm(x, NULL);
}

/* x/y, and 0 where y is 0: a step that is not taken. */
static lam_tensor *ratio(lam_tensor *x, lam_tensor *y) {
    lam_tensor *none = lam_eq(y, 0.0);
    return lam_where(none, 0.0, lam_div(x, lam_where(none, 1.0, y)));
}

/* Whether this bool is true in all examples of all batches: it is looked at below the levels that it belongs to. Where
 * there are no elements yet, as in a trace, nobody knows, and the answer is `unknown`; after a failure true. */
static bool holds(lam_tensor *condition, bool unknown) {
    uint8_t is = 0;
    for (;;) {
        const lam_value *v = lam__scope_peek(condition);
        if (!v) return true;
        if (v->kind == LAM__ABSTRACT) return unknown;
        if (v->kind != LAM__BOX) return lam_read(lam_all(condition, NULL), &is, 1) == LAM_OK && is;
        lam_value *below = lam__payload_of(v)->inner;
        if (!below) return unknown;
        condition = lam__scope_handle(condition->ctx, lam__value_hold(below));
    }
}

static bool settled(lam_tensor *done) {
    return holds(done, false);
}

/* The iteration of these settings towards b. */
static iteration begin(lam_fn *linear, lam_tensor *b, const lam_iterative_options *o) {
    lam_tensor *size = length(b);
    double tol = o->tol > 0 ? o->tol : o->tol < 0 ? 0 : 1e-5;
    lam_tensor *limit = lam_max(lam_mul(tol, size), o->atol);
    return (iteration){.linear = linear,
                       .preconditioner = o->preconditioner,
                       .limit = limit,
                       .most = o->maxiter ? o->maxiter : STEPS_PER_ELEMENT * lam_size(b),
                       .restart = o->restart ? o->restart : RESTART,
                       .must_converge = o->must_converge};
}

/* The last iterate, NaN where the residual is, as from a right side with NaN; a failure if that is asked for and a
 * residual is not short enough. */
static lam_tensor *outcome(const iteration *it, const char *what, lam_tensor *x, lam_tensor *residual) {
    lam_tensor *size = length(residual);
    if (!it->must_converge || holds(lam_le(size, it->limit), true)) return lam_where(lam_is_nan(size), (double)NAN, x);
    lam_ctx *ctx = it->linear->ctx;
    lam__error_set(ctx, LAM_ERR_NUMERIC, "precondition it, or allow more iterations",
                   "%s of '%s': the residual is longer than the tolerance after %lld iterations at most", what,
                   it->linear->name, (long long)it->most);
    return &ctx->failed;
}

/* Short enough, or no number, from which nothing comes back. */
static lam_tensor *is_done(const iteration *it, lam_tensor *residual) {
    return lam_not(lam_gt(length(residual), it->limit));
}

/* The state that an iteration goes on with, a copy of what it was before the step, and the step's scope. */
enum { MOST_STATE = 5 };
typedef struct step {
    lam_scope *scope;
    lam_tensor *before[MOST_STATE];
} step;

static step step_begin(lam_ctx *ctx, lam_tensor *const state[], int count) {
    step s = {lam_scope_begin(ctx), {NULL}};
    for (int i = 0; i < count; i++) s.before[i] = state[i];
    return s;
}

/* What a step leaves behind goes with its scope; then the state before it goes, but for b. Entries may be one tensor
 * before the first step only, when they are b. False after a failure. */
static bool step_end(step *s, lam_tensor *const state[], int count, const lam_tensor *b) {
    if (lam_scope_end(s->scope, state, (size_t)count) != LAM_OK) return false;
    for (int i = 0; i < count; i++)
        if (s->before[i] != b && s->before[i] != state[i]) lam_drop(s->before[i]);
    return true;
}

/* ---- conjugate gradients ----------------------------------------------------------------------------------------- */

static lam_tensor *solve_cg(lam_ctx *ctx, lam_fn *linear, lam_tensor *b, void *env) {
    iteration it = begin(linear, b, env);
    enum { X, R, P, GAMMA, STATE };
    lam_tensor *s[STATE] = {lam_zeros_like(b), b, preconditioned(&it, b)};
    s[GAMMA] = inner(s[R], s[P]);
    for (int64_t k = 0; k < it.most; k++) {
        lam_tensor *done = is_done(&it, s[R]);
        if (lam_failed(done) || settled(done)) break;
        step now = step_begin(ctx, s, STATE);
        lam_tensor *ap = apply(linear, s[P]), *alpha = lam_where(done, 0.0, ratio(s[GAMMA], inner(s[P], ap)));
        s[X] = lam_add(s[X], lam_mul(alpha, s[P]));
        s[R] = lam_sub(s[R], lam_mul(alpha, ap));
        lam_tensor *z = preconditioned(&it, s[R]), *gamma = inner(s[R], z);
        s[P] = lam_add(z, lam_mul(lam_where(done, 0.0, ratio(gamma, s[GAMMA])), s[P]));
        s[GAMMA] = gamma;
        if (!step_end(&now, s, STATE, b)) return &ctx->failed;
    }
    return outcome(&it, "cg", s[X], s[R]);
}

/* ---- stabilised bi-conjugate gradients --------------------------------------------------------------------------- */

/* Where the shadow residual has become orthogonal to the residual, the iteration starts anew from there: rho is then
 * small beside both, and the next direction would be noise. */
static lam_tensor *solve_bicgstab(lam_ctx *ctx, lam_fn *linear, lam_tensor *b, void *env) {
    iteration it = begin(linear, b, env);
    enum { X, R, SHADOW, P, RHO, STATE };
    lam_tensor *s[STATE] = {lam_zeros_like(b), b, b, b};
    s[RHO] = inner(b, b);
    for (int64_t k = 0; k < it.most; k++) {
        lam_tensor *done = is_done(&it, s[R]);
        if (lam_failed(done) || settled(done)) break;
        step now = step_begin(ctx, s, STATE);
        lam_tensor *p = preconditioned(&it, s[P]), *v = apply(linear, p);
        lam_tensor *alpha = lam_where(done, 0.0, ratio(s[RHO], inner(s[SHADOW], v)));
        lam_tensor *half = lam_sub(s[R], lam_mul(alpha, v)), *z = preconditioned(&it, half), *t = apply(linear, z);
        lam_tensor *omega = lam_where(done, 0.0, ratio(inner(t, half), inner(t, t)));
        s[X] = lam_add(s[X], lam_add(lam_mul(alpha, p), lam_mul(omega, z)));
        s[R] = lam_sub(half, lam_mul(omega, t));
        lam_tensor *rho = inner(s[SHADOW], s[R]), *beta = lam_mul(ratio(rho, s[RHO]), ratio(alpha, omega));
        lam_tensor *next = lam_add(s[R], lam_mul(beta, lam_sub(s[P], lam_mul(omega, v))));
        lam_tensor *anew = lam_le(lam_abs(rho), lam_mul(1e-12, lam_mul(length(s[SHADOW]), length(s[R]))));
        s[SHADOW] = lam_where(anew, s[R], s[SHADOW]);
        s[P] = lam_where(anew, s[R], next);
        s[RHO] = lam_where(anew, inner(s[R], s[R]), rho);
        if (!step_end(&now, s, STATE, b)) return &ctx->failed;
    }
    return outcome(&it, "bicgstab", s[X], s[R]);
}

/* ---- generalised minimal residuals ------------------------------------------------------------------------------- */

/* A matrix whose rows are an orthonormal basis of the space reached so far, and the columns of the operator on it. */
typedef struct arnoldi {
    lam_tensor *basis[MOST_RESTART + 1], *columns[MOST_RESTART];
    int64_t steps;
} arnoldi;

/* One more vector: A times the last one without its share in the others, taken away twice, since what rounding leaves
 * of the first time is gone after the second. A space that is closed gives zeros. */
static void extend(const iteration *it, arnoldi *a, lam_dims dims, int64_t most) {
    const int64_t k = a->steps++;
    lam_tensor *v = lam_reshape(a->basis[k], dims);
    lam_tensor *w = lam_reshape(apply(it->linear, preconditioned(it, v)), LAM_DIMS(lam_size(v)));
    lam_tensor *basis = lam_stack((lam_list){(size_t)k + 1, a->basis}, 0), *first = length(w);
    lam_tensor *h = lam_matmul(lam_conj(basis), w);
    w = lam_sub(w, lam_matmul(h, basis));
    lam_tensor *again = lam_matmul(lam_conj(basis), w);
    w = lam_sub(w, lam_matmul(again, basis));
    h = lam_add(h, again);
    lam_tensor *rest = length(w);
    rest = lam_where(lam_le(rest, lam_mul(lam_dtype_of(rest) == LAM_F64 ? 1e-14 : 1e-6, first)), 0.0, rest);
    a->basis[k + 1] = ratio(w, rest);
    lam_tensor *below = lam_expand_dims(lam_cast(rest, lam_dtype_of(w)), 0);
    lam_tensor *filled = lam_concatenate(LAM_LIST(h, below), 0);
    a->columns[k] = lam_pad(filled, LAM_DIMS(0), LAM_DIMS(most + 1 - (k + 2)), NULL);
}

/* The correction of least residual in the space of A's powers on r: y with H y nearest to |r| e_1, by least squares
 * since H may be singular where the space is closed. */
static lam_tensor *correction(const iteration *it, lam_tensor *r, int64_t steps) {
    arnoldi a = {.steps = 0};
    lam_dims dims = lam_dims_of(r);
    lam_tensor *size = length(r);
    a.basis[0] = lam_reshape(ratio(r, size), LAM_DIMS(lam_size(r)));
    while (a.steps < steps) {
        extend(it, &a, dims, steps);
        lam_tensor *closed = lam_eq(lam_norm(a.basis[a.steps], NULL), 0.0);
        if (lam_failed(closed)) return closed;
        if (settled(closed)) break;
    }
    lam_tensor *h = lam_stack((lam_list){(size_t)a.steps, a.columns}, 1);
    lam_tensor *first =
        lam_pad(lam_expand_dims(lam_cast(size, lam_dtype_of(r)), 0), LAM_DIMS(0), LAM_DIMS(steps), NULL);
    lam_tensor *y = lam_lstsq(h, first, NULL), *basis = lam_stack((lam_list){(size_t)a.steps, a.basis}, 0);
    return preconditioned(it, lam_reshape(lam_matmul(y, basis), dims));
}

static lam_tensor *solve_gmres(lam_ctx *ctx, lam_fn *linear, lam_tensor *b, void *env) {
    iteration it = begin(linear, b, env);
    enum { X, R, STATE };
    lam_tensor *s[STATE] = {lam_zeros_like(b), b};
    int64_t steps = it.restart < lam_size(b) ? it.restart : lam_size(b);
    for (int64_t k = 0; k < it.most; k++) {
        lam_tensor *done = is_done(&it, s[R]);
        if (lam_failed(done) || settled(done)) break;
        step now = step_begin(ctx, s, STATE);
        s[X] = lam_add(s[X], lam_where(done, 0.0, correction(&it, s[R], steps)));
        s[R] = lam_sub(b, apply(linear, s[X]));
        if (!step_end(&now, s, STATE, b)) return &ctx->failed;
    }
    return outcome(&it, "gmres", s[X], s[R]);
}

/* ---- the operations ---------------------------------------------------------------------------------------------- */

/* b - matvec(parameters, x0). */
static lam_tensor *what_is_left(lam_fn *matvec, lam_list parameters, lam_tensor *b, lam_tensor *x0) {
    lam_ctx *ctx = matvec->ctx;
    lam_tensor **list = lam__apply_room(ctx, parameters.count + 1);
    if (!list) return &ctx->failed;
    for (size_t i = 0; i < parameters.count; i++) list[i] = parameters.items[i];
    list[parameters.count] = x0;
    return lam_sub(b, lam_apply(matvec, (lam_list){parameters.count + 1, list}));
}

/* Whether the preconditioner, where there is one, can be called. */
static bool preconditions(const char *what, lam_ctx *ctx, lam_fn *f) {
    const lam_ctx *own = f ? lam__fn_check(what, f) : ctx;
    if (own && own != ctx)
        lam__error_set(ctx, LAM_ERR_CONTEXT, NULL, "%s: the preconditioner '%s' belongs to another context", what,
                       f->name);
    return own == ctx;
}

/* Checks what concerns iterations; custom_solve.c does the rest. Symmetric and real systems are their own transposed
 * ones; of Hermitian ones the transposed is the conjugate, which is positive definite too. */
static lam_tensor *solve(const char *what, lam_solve_rule rule, bool symmetric, lam_fn *matvec, lam_list parameters,
                         lam_tensor *b, const lam_iterative_options *options) {
    static const lam_iterative_options none;
    const lam_iterative_options *o = options ? options : &none;
    lam_ctx *ctx;
    if (!lam__fn_check_call(what, matvec, LAM_LIST(b), &ctx)) return &ctx->failed;
    const lam_value *v = lam__scope_peek(b);
    if (b && !v) return b;
    if (!b) return lam__error_fail(ctx, LAM_ERR_NULL, "%s of '%s': b is NULL", what, matvec->name);
    if (!lam__dtype_is_inexact(v->dtype))
        return lam__error_fail(ctx, LAM_ERR_DTYPE, "%s of '%s': b must be floating; cast it", what, matvec->name);
    if (o->maxiter < 0 || o->restart < 0 || o->restart > MOST_RESTART)
        return lam__error_fail(ctx, LAM_ERR_VALUE, "%s of '%s': maxiter %lld or restart %lld is not in range", what,
                               matvec->name, (long long)o->maxiter, (long long)o->restart);
    if (isnan(o->tol) || isnan(o->atol))
        return lam__error_fail(ctx, LAM_ERR_VALUE, "%s of '%s': a tolerance is NaN", what, matvec->name);
    if (!preconditions(what, ctx, o->preconditioner)) return &ctx->failed;
    const lam_value *start = lam__scope_peek(o->x0);
    if (start && !lam__value_same_type(start, v))
        return lam__error_fail(ctx, LAM_ERR_SHAPE, "%s of '%s': x0 has not the type of b", what, matvec->name);
    const bool own = symmetric && !lam__dtype_is_complex(v->dtype);
    if (!o->x0) return lam__custom_solve_iterative(what, matvec, parameters, b, rule, own, o);
    lam_tensor *x0 = lam_stop_gradient(o->x0), *left = what_is_left(matvec, parameters, b, x0);
    return lam_add(x0, lam__custom_solve_iterative(what, matvec, parameters, left, rule, own, o));
}

lam_tensor *lam_cg(lam_fn *matvec, lam_list parameters, lam_tensor *b, const lam_iterative_options *options) {
    return solve("cg", solve_cg, true, matvec, parameters, b, options);
}

lam_tensor *lam_bicgstab(lam_fn *matvec, lam_list parameters, lam_tensor *b, const lam_iterative_options *options) {
    return solve("bicgstab", solve_bicgstab, false, matvec, parameters, b, options);
}

lam_tensor *lam_gmres(lam_fn *matvec, lam_list parameters, lam_tensor *b, const lam_iterative_options *options) {
    return solve("gmres", solve_gmres, false, matvec, parameters, b, options);
}
