/* Linear systems by iteration: cg, bicgstab and gmres, as rules of lam_custom_linear_solve, which gives them their
 * derivatives. A rule runs at any level, so what it does to one system it does to each of a batch: numbers that steer
 * the iteration are tensors, a system that is done is held still by zeros in their place, and the loop ends when all
 * are, or at `maxiter`. While a program is recorded nobody knows when that is, and the loop is one of the program. */
#include "transforms/custom.h"

#include "lib/base/context.h"
#include "lib/base/error.h"
#include "lib/base/scope.h"
#include "lib/dispatch/fn.h"
#include "lib/primitives/apply.h"
#include "lib/primitives/cplx.h"
#include "lib/tensor/dtype.h"
#include "lib/tensor/value.h"

#include <lamina/control.h>
#include <lamina/ops.h>
#include <lamina/tensor.h>

#include <math.h>

/* Defaults, but for MOST_RESTART, which is what there is room for in arnoldi. */
enum { RESTART = 20, MOST_RESTART = 64, STEPS_PER_ELEMENT = 10 };

/* A running iteration: the operator, what it is to reach, and how often it may be asked. */
typedef struct iteration {
    lam_fn *linear, *preconditioner;
    lam_tensor *b, *limit; /* the right side; of the residual's length */
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

/* Without one it is the identity. */
static lam_tensor *preconditioned(const iteration *it, lam_tensor *x) {
    return it->preconditioner ? apply(it->preconditioner, x) : x;
}

/* The product of conj(x) and y, over all elements; a number. Complex systems have it too; of real ones conj is
 * nothing. */
static lam_tensor *inner(lam_tensor *x, lam_tensor *y) {
    return lam_sum(lam_mul(lam_conj(x), y), NULL);
}

/* A real number, also of complex x. */
static lam_tensor *length(lam_tensor *x) {
    return lam_norm(x, NULL);
}

/* x/y, and 0 where y is 0: a step that is not taken. The divisor is 1 where it is not used, so that no derivative and
 * no other example sees a NaN. */
static lam_tensor *ratio(lam_tensor *x, lam_tensor *y) {
    lam_tensor *none = lam_eq(y, 0.0);
    return lam_where(none, 0.0, lam_div(x, lam_where(none, 1.0, y)));
}

/* What is known of a bool that all examples of all batches have. */
typedef enum answer { NO, YES, UNKNOWN } answer;

/* Whether this bool is true in all examples of all batches: it is looked at below the levels that it belongs to. Where
 * there are no elements yet, as in a trace, nobody knows; after a failure true. */
static answer holds(lam_tensor *condition) {
    uint8_t is = 0;
    for (;;) {
        const lam_value *v = lam__scope_peek(condition);
        if (!v) return YES;
        if (v->kind == LAM__ABSTRACT) return UNKNOWN;
        if (v->kind != LAM__BOX) return lam_read(lam_all(condition, NULL), &is, 1) == LAM_OK && is ? YES : NO;
        lam_value *below = lam__payload_of(v)->inner;
        if (!below) return UNKNOWN;
        condition = lam__scope_handle(condition->ctx, lam__value_hold(below));
    }
}

/* The iteration of these settings towards b. tol below 0 asks for none, as 0 is the default of the field. */
static iteration begin(lam_fn *linear, lam_tensor *b, const lam_iterative_options *o) {
    lam_tensor *size = length(b);
    double tol = o->tol > 0 ? o->tol : o->tol < 0 ? 0 : 1e-5;
    lam_tensor *limit = lam_max(lam_mul(tol, size), o->atol);
    return (iteration){.linear = linear,
                       .b = b,
                       .preconditioner = o->preconditioner,
                       .limit = limit,
                       .most = o->maxiter ? o->maxiter : STEPS_PER_ELEMENT * lam_size(b),
                       .restart = o->restart ? o->restart : RESTART,
                       .must_converge = o->must_converge};
}

/* The last iterate, NaN where the residual is, as from a right side with NaN; a failure if that is asked for and a
 * residual is not short enough, or NaN too where nobody knows yet. Where examples differ each has its own NaN, while a
 * failure would be one for all. */
static lam_tensor *outcome(const iteration *it, const char *what, lam_tensor *x, lam_tensor *residual) {
    lam_tensor *size = length(residual), *enough = lam_le(size, it->limit);
    const answer all = it->must_converge ? holds(enough) : YES;
    if (all == UNKNOWN) return lam_where(enough, x, (double)NAN);
    if (all == YES) return lam_where(lam_is_nan(size), (double)NAN, x);
    lam_ctx *ctx = it->linear->ctx;
    lam__error_set(ctx, LAM_ERR_NUMERIC, "precondition it, or allow more iterations",
                   "%s of '%s': the residual is longer than the tolerance after %lld iterations at most", what,
                   it->linear->name, (long long)it->most);
    return &ctx->failed;
}

/* Short enough, or no number, from which nothing comes back. NaN is not greater than anything. */
static lam_tensor *is_done(const iteration *it, lam_tensor *residual) {
    return lam_not(lam_gt(length(residual), it->limit));
}

/* x where the system is not done, else 0; done NULL: none is that takes part. */
static lam_tensor *unless(lam_tensor *done, lam_tensor *x) {
    return done ? lam_where(done, 0.0, x) : x;
}

/* The state that an iteration goes on with: in front the iterate and its residual. */
enum { X, R, OTHERS, MOST_STATE = 5 };

/* One step: s[] gets what comes next. */
typedef void one_step(const iteration *it, lam_tensor *done, lam_tensor *s[]);

/* A step, after which what it leaves behind goes with its scope, and then the state before it, but for b. Entries may
 * be one tensor before the first step only, when they are b. False after a failure. So an iteration holds the tensors
 * of two steps at most, however long it is. */
static bool step_alone(const iteration *it, one_step *step, lam_tensor *done, lam_tensor *s[], int count) {
    lam_tensor *before[MOST_STATE];
    lam_scope *scope = lam_scope_begin(it->linear->ctx);
    for (int i = 0; i < count; i++) before[i] = s[i];
    step(it, done, s);
    if (lam_scope_end(scope, s, (size_t)count) != LAM_OK) return false;
    for (int i = 0; i < count; i++)
        if (before[i] != it->b && before[i] != s[i]) lam_drop(before[i]);
    return true;
}

/* The iteration as a loop of a program: its carries are the state and how many steps there were. */
typedef struct loop {
    const iteration *it;
    one_step *step;
    int count;
} loop;

/* The iteration as a function of the loop sees it, which has its tensors behind the carries. The limit and b may be
 * variables of the program, and so are captures of its functions. */
static iteration of_loop(const loop *l, lam_tensor *const in[]) {
    iteration it = *l->it;
    it.limit = in[l->count + 1];
    it.b = in[l->count + 2];
    return it;
}

/* While a residual is too long and there are steps left. */
static void body_goes_on(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    const loop *l = env;
    const iteration it = of_loop(l, in);
    (void)ctx;
    out[0] = lam_and(lam_not(is_done(&it, in[R])), lam_lt(in[l->count], it.most));
}

/* A step that keeps nothing back: systems that are done leave the loop of their own, so `done` is not asked. */
static void body_step(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    const loop *l = env;
    const iteration it = of_loop(l, in);
    (void)ctx;
    for (int i = 0; i < l->count; i++) out[i] = in[i];
    l->step(&it, NULL, out);
    out[l->count] = lam_add(in[l->count], 1);
}

/* The steps behind the first k. Systems of a batch end each for itself there. l lives in this frame, which lam_while
 * does not outlast. */
static bool iterate_later(const iteration *it, one_step *step, lam_tensor *s[], int count, int64_t k) {
    lam_ctx *ctx = it->linear->ctx;
    const int n = count + 1;
    loop l = {it, step, count};
    lam_fn_options o = {.inputs = n, .env = &l, .captures = LAM_LIST(it->limit, it->b)};
    o.name = "goes on", o.body = body_goes_on, o.outputs = 1;
    lam_fn *goes_on = lam_fn_new(ctx, &o);
    o.name = "step", o.body = body_step, o.outputs = n;
    lam_fn *body = lam_fn_new(ctx, &o);
    lam_tensor *now[MOST_STATE + 1], *last[MOST_STATE + 1];
    for (int i = 0; i < count; i++) now[i] = s[i];
    now[count] = lam_array(ctx, LAM_I64, LAM_DIMS0, &k);
    if (lam_while(goes_on, body, (lam_list){(size_t)n, now}, last, (size_t)n) != LAM_OK) return false;
    for (int i = 0; i < count; i++) s[i] = last[i];
    return true;
}

/* Steps until all systems are done, or as many as there may be. False after a failure. As long as one system of a batch
 * is not done, all are in the loop. */
static bool iterate(const iteration *it, one_step *step, lam_tensor *s[], int count) {
    for (int64_t k = 0; k < it->most; k++) {
        lam_tensor *done = is_done(it, s[R]);
        if (lam_failed(done)) return false;
        const answer all = holds(done);
        if (all == UNKNOWN) return iterate_later(it, step, s, count, k);
        if (all == YES) return true;
        if (!step_alone(it, step, done, s, count)) return false;
    }
    return true;
}

/* ---- conjugate gradients ----------------------------------------------------------------------------------------- */

enum { CG_P = OTHERS, CG_GAMMA, CG_STATE };

/* Hestenes and Stiefel's step with a preconditioner. Systems that are done get 0 for both factors and stay. gamma is r
 * z, of which the next direction takes the ratio. */
static void cg_step(const iteration *it, lam_tensor *done, lam_tensor *s[]) {
    lam_tensor *p = s[CG_P], *gamma = s[CG_GAMMA];
    lam_tensor *ap = apply(it->linear, p), *alpha = unless(done, ratio(gamma, inner(p, ap)));
    s[X] = lam_add(s[X], lam_mul(alpha, p));
    s[R] = lam_sub(s[R], lam_mul(alpha, ap));
    lam_tensor *z = preconditioned(it, s[R]);
    s[CG_GAMMA] = inner(s[R], z);
    s[CG_P] = lam_add(z, lam_mul(unless(done, ratio(s[CG_GAMMA], gamma)), p));
}

/* From x = 0, whose residual is b. env: the settings, a copy that the solve holds. */
static lam_tensor *solve_cg(lam_ctx *ctx, lam_fn *linear, lam_tensor *b, void *env) {
    iteration it = begin(linear, b, env);
    lam_tensor *s[CG_STATE] = {lam_zeros_like(b), b, preconditioned(&it, b)};
    s[CG_GAMMA] = inner(s[R], s[CG_P]);
    return iterate(&it, cg_step, s, CG_STATE) ? outcome(&it, "cg", s[X], s[R]) : &ctx->failed;
}

/* ---- stabilised bi-conjugate gradients --------------------------------------------------------------------------- */

enum { BI_SHADOW = OTHERS, BI_P, BI_RHO, BI_STATE };

/* Where the shadow residual has become orthogonal to the residual, the iteration starts anew from there: rho is then
 * small beside both, and the next direction would be noise. Van der Vorst 1992, preconditioned from the right. */
static void bicgstab_step(const iteration *it, lam_tensor *done, lam_tensor *s[]) {
    lam_tensor *p = preconditioned(it, s[BI_P]), *v = apply(it->linear, p);
    lam_tensor *alpha = unless(done, ratio(s[BI_RHO], inner(s[BI_SHADOW], v)));
    lam_tensor *half = lam_sub(s[R], lam_mul(alpha, v)), *z = preconditioned(it, half), *t = apply(it->linear, z);
    lam_tensor *omega = unless(done, ratio(inner(t, half), inner(t, t)));
    s[X] = lam_add(s[X], lam_add(lam_mul(alpha, p), lam_mul(omega, z)));
    s[R] = lam_sub(half, lam_mul(omega, t));
    lam_tensor *rho = inner(s[BI_SHADOW], s[R]), *beta = lam_mul(ratio(rho, s[BI_RHO]), ratio(alpha, omega));
    lam_tensor *next = lam_add(s[R], lam_mul(beta, lam_sub(s[BI_P], lam_mul(omega, v))));
    lam_tensor *anew = lam_le(lam_abs(rho), lam_mul(1e-12, lam_mul(length(s[BI_SHADOW]), length(s[R]))));
    s[BI_SHADOW] = lam_where(anew, s[R], s[BI_SHADOW]);
    s[BI_P] = lam_where(anew, s[R], next);
    s[BI_RHO] = lam_where(anew, inner(s[R], s[R]), rho);
}

/* From x = 0; the shadow residual is b, too. */
static lam_tensor *solve_bicgstab(lam_ctx *ctx, lam_fn *linear, lam_tensor *b, void *env) {
    iteration it = begin(linear, b, env);
    lam_tensor *s[BI_STATE] = {lam_zeros_like(b), b, b, b};
    s[BI_RHO] = inner(b, b);
    return iterate(&it, bicgstab_step, s, BI_STATE) ? outcome(&it, "bicgstab", s[X], s[R]) : &ctx->failed;
}

/* ---- generalised minimal residuals ------------------------------------------------------------------------------- */

/* A matrix whose rows are an orthonormal basis of the space reached so far, and the columns of the operator on it. */
typedef struct arnoldi {
    lam_tensor *basis[MOST_RESTART + 1], *columns[MOST_RESTART];
    int64_t steps;
} arnoldi;

/* One more vector: A times the last one without its share in the others, taken away twice, since what rounding leaves
 * of the first time is gone after the second. A space that is closed gives zeros. A vector below rounding of what it
 * was made from counts as none. */
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

/* y with H y nearest to `size` e_1: with H = q r that of r y = size times q's conjugated first row. Where the space is
 * closed H may be singular, and columns behind that are zeros: what has no pivot takes no part. A pivot of 1 stands in
 * for one that is missing, with 0 on its right side. */
static lam_tensor *nearest(lam_tensor *h, lam_tensor *size) {
    lam_tensor *q, *r;
    if (lam_qr(h, &q, &r, NULL) != LAM_OK) return q;
    const lam_dtype dtype = lam_dtype_of(r);
    lam_tensor *pivots = lam_abs(lam_diagonal(r, 0, -2, -1)), *most = lam_max_reduce(pivots, NULL);
    lam_tensor *none = lam_le(pivots, lam_mul(lam_dtype_of(pivots) == LAM_F64 ? 1e-14 : 1e-6, most));
    lam_tensor *side = lam_where(none, 0.0, lam_mul(size, lam_conj(lam_index(q, 0, 0))));
    lam_tensor *ones = lam_mul(lam_eye(h->ctx, dtype, lam_dim(r, 0), lam_dim(r, 0)), lam_cast(none, dtype));
    return lam_triangular_solve(lam_add(r, ones), side, &(lam_triangular_solve_options){.upper = true});
}

/* The correction of least residual in the space of A's powers on r. While a program is recorded nobody knows whether
 * the space is closed, and all steps are made; what is closed adds zeros. */
static lam_tensor *correction(const iteration *it, lam_tensor *r, int64_t steps) {
    arnoldi a = {.steps = 0};
    lam_dims dims = lam_dims_of(r);
    lam_tensor *size = length(r);
    a.basis[0] = lam_reshape(ratio(r, size), LAM_DIMS(lam_size(r)));
    while (a.steps < steps) {
        extend(it, &a, dims, steps);
        lam_tensor *closed = lam_eq(lam_norm(a.basis[a.steps], NULL), 0.0);
        if (lam_failed(closed)) return closed;
        if (holds(closed) == YES) break;
    }
    lam_tensor *y = nearest(lam_stack((lam_list){(size_t)a.steps, a.columns}, 1), size),
               *basis = lam_stack((lam_list){(size_t)a.steps, a.basis}, 0);
    return preconditioned(it, lam_reshape(lam_matmul(y, basis), dims));
}

/* One restart: the best correction within the space of so many steps. The residual is computed anew, since what
 * rounding left in the old one would stay. More steps than elements would find a closed space. */
static void gmres_step(const iteration *it, lam_tensor *done, lam_tensor *s[]) {
    const int64_t size = lam_size(s[R]), steps = it->restart < size ? it->restart : size;
    s[X] = lam_add(s[X], unless(done, correction(it, s[R], steps)));
    s[R] = lam_sub(it->b, apply(it->linear, s[X]));
}

static lam_tensor *solve_gmres(lam_ctx *ctx, lam_fn *linear, lam_tensor *b, void *env) {
    iteration it = begin(linear, b, env);
    lam_tensor *s[OTHERS] = {lam_zeros_like(b), b};
    return iterate(&it, gmres_step, s, OTHERS) ? outcome(&it, "gmres", s[X], s[R]) : &ctx->failed;
}

/* ---- the operations ---------------------------------------------------------------------------------------------- */

/* b - matvec(parameters, x0). So the iteration begins at 0 in any case, and x0 is added at the end. */
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
    if (f && f->ctx == &lam__context_failed)
        lam__error_set(ctx, LAM_ERR_NULL, NULL, "%s: the preconditioner is the failed function of no context", what);
    if (own && own != ctx)
        lam__error_set(ctx, LAM_ERR_CONTEXT, NULL, "%s: the preconditioner '%s' belongs to another context", what,
                       f->name);
    return own == ctx;
}

/* Checks what concerns iterations; custom_solve.c does the rest. Symmetric and real systems are their own transposed
 * ones; of Hermitian ones the transposed is the conjugate, which is positive definite too. x0 has no derivative: the
 * solution does not depend on where one begins. */
static lam_tensor *solve(const char *what, lam_solve_rule rule, bool symmetric, lam_fn *matvec, lam_list parameters,
                         lam_tensor *b, const lam_iterative_options *options) {
    static const lam_iterative_options none;
    const lam_iterative_options *o = options ? options : &none;
    lam_ctx *ctx;
    if (!lam__fn_check_call(what, matvec, LAM_LIST(b), &ctx)) return &ctx->failed;
    if (!b) return lam__error_fail(ctx, LAM_ERR_NULL, "%s of '%s': b is NULL", what, matvec->name);
    const lam_value *v = lam__scope_operand_in(ctx, what, parameters.count, b);
    if (!v) return &ctx->failed;
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
