/* Initial value problems: a scan over the times, each of which lets a loop take steps that end there. So there are as
 * many results as times, however many steps there are, and a program has f in it once. Examples of a batch take steps
 * of their own, as lam_while lets them.
 * NOTE [ends at times]  The way back takes the steps between two times again, from what was kept of the first. Compiled
 * otherwise it rounds otherwise, which the estimate of the error magnifies by the inverse of the tolerance, and it may
 * take others. What comes back belongs to a place: that must not depend on steps, so it is the time itself. Other steps
 * then lead to a y that differs by less than its error.
 * What chooses steps has no derivative. Times have: a step that ends at one of those asked for is as long as that says,
 * and those of a length that was chosen begin where the last one ended. */
#include "transforms/ode.h"

#include "lib/base/error.h"
#include "lib/primitives/apply.h"
#include "lib/tensor/dtype.h"
#include "transforms/arguments.h"

#include <lamina/arrange.h>
#include <lamina/control.h>
#include <lamina/numeric.h>
#include <lamina/ode.h>
#include <lamina/ops.h>
#include <lamina/reductions.h>
#include <lamina/tensor.h>

#include <float.h>
#include <math.h>

enum { MOST_STEPS = 100000 };

/* What lam_ode calls a status. */
enum { FINE = 0, TOO_MANY = 1, TOO_SMALL = 2, NOT_IN_ORDER = 3 };

/* The next step is h / (error^(0.2 - 0.75 beta) / last_error^beta / safety), within these factors. Numbers of DOPRI5,
 * by Hairer and Wanner; its FAC1 and FAC2 are the inverses of the last two. */
static const double safety = 0.9, beta = 0.04, most_shrunk = 5, most_grown = 0.1;

/* The carries: where the integration is, which changes if a step is taken; what the next one depends on, and counts,
 * which change with each. */
enum {
    Y,
    SLOPE,
    TIME, /* the last of those */
    NEXT,
    LAST_ERROR,
    AFTER_REJECTION,
    STEPS,
    REJECTED,
    TRIES,
    STATUS,
    CARRIES
};

/* What functions of the loop have behind the carries: the time to reach, 1 or -1, then parameters and captures of f. */
enum { TARGET = CARRIES, DIRECTION, OTHERS };

typedef struct problem {
    lam_fn *f; /* with captures as inputs */
    lam__instance *step;
    size_t n; /* parameters and captures */
    lam_dtype dtype;
    double rtol, atol, first, longest, epsilon;
    int64_t most;
} problem;

/* Counts are i64 whatever the dtype of y. */
static lam_tensor *integer(lam_ctx *ctx, int64_t number) {
    return lam_array(ctx, LAM_I64, LAM_DIMS0, &number);
}

/* Whether `to` lies ahead of t. By the direction, since times may fall. */
static lam_tensor *is_ahead(lam_tensor *direction, lam_tensor *to, lam_tensor *t) {
    return lam_gt(lam_mul(direction, lam_sub(to, t)), 0.0);
}

/* ---- one step ---------------------------------------------------------------------------------------------------- */

/* The factor by which the length is divided next, as in DOPRI5. An error that is no number is a large one. After a
 * rejection the next step may not grow. */
static lam_tensor *factor(lam_tensor *error, lam_tensor *taken, lam_tensor *const in[]) {
    lam_tensor *known = lam_where(lam_is_nan(error), (double)INFINITY, error);
    lam_tensor *plain = lam_div(lam_pow(known, 0.2 - 0.75 * beta), safety);
    lam_tensor *least = lam_where(in[AFTER_REJECTION], 1.0, lam_full_like(error, most_grown));
    lam_tensor *steady = lam_div(plain, lam_pow(in[LAST_ERROR], beta));
    lam_tensor *good = lam_max(least, lam_min(most_shrunk, steady));
    return lam_where(taken, good, lam_min(most_shrunk, plain));
}

/* What a step with this error means for the next ones. One that was cut, since a time was near, says little of longer
 * ones: these may grow by it, and the one that had been meant is tried next at least. One that reaches its time leaves
 * nothing to be done before that, whatever comes next. 1e-4 is the least error that is remembered, and a tenth of a
 * step has to be seen beside the time, both as in DOPRI5. */
static void control(const problem *p, lam_tensor *error, lam_tensor *length, lam_tensor *reaches,
                    lam_tensor *const in[], lam_tensor *out[]) {
    lam_tensor *taken = lam_le(error, 1.0), *next = lam_div(length, factor(error, taken, in));
    lam_tensor *cut = lam_and(reaches, lam_lt(lam_abs(length), lam_abs(in[NEXT])));
    lam_tensor *less = lam_and(lam_and(taken, cut), lam_lt(lam_abs(next), lam_abs(in[NEXT])));
    next = lam_clamp(lam_where(less, in[NEXT], next), -p->longest, p->longest);
    out[NEXT] = next;
    out[LAST_ERROR] = lam_where(lam_and(taken, lam_not(cut)), lam_max(error, 1e-4), in[LAST_ERROR]);
    out[AFTER_REJECTION] = lam_not(taken);
    out[STEPS] = lam_add(in[STEPS], lam_cast(taken, LAM_I64));
    out[REJECTED] = lam_add(in[REJECTED], lam_cast(out[AFTER_REJECTION], LAM_I64));
    out[TRIES] = lam_add(in[TRIES], 1);
    lam_tensor *small = lam_le(lam_mul(0.1, lam_abs(next)), lam_mul(p->epsilon, lam_abs(in[TIME])));
    lam_tensor *stuck = lam_and(small, lam_not(reaches));
    lam_tensor *spent = lam_and(lam_ge(out[TRIES], p->most), is_ahead(in[DIRECTION], in[TARGET], out[TIME]));
    out[STATUS] = lam_where(stuck, TOO_SMALL, lam_where(spent, TOO_MANY, in[STATUS]));
}

/* Tries one step, which is taken if its error is small enough. It ends at the time to reach at most; one that would
 * leave next to nothing of the way goes there too. Its length is what lies between two numbers, not what was asked
 * for. */
static void body_try(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    const problem *p = env;
    const size_t count = p->n + LAM__ODE_OTHERS;
    lam_tensor *made[LAM__ODE_OUTPUTS], **list = lam__apply_room(ctx, count);
    if (!list) return;
    lam_tensor *left = lam_abs(lam_sub(in[TARGET], in[TIME]));
    lam_tensor *reaches = lam_not(lam_lt(lam_mul(1.01, lam_abs(in[NEXT])), left));
    lam_tensor *until = lam_where(reaches, in[TARGET], lam_add(in[TIME], in[NEXT]));
    list[LAM__ODE_Y] = in[Y], list[LAM__ODE_SLOPE] = in[SLOPE];
    list[LAM__ODE_FROM] = in[TIME], list[LAM__ODE_UNTIL] = until;
    for (size_t k = 0; k < p->n; k++) list[LAM__ODE_OTHERS + k] = in[OTHERS + k];
    if (lam__custom_apply(p->step, (lam_list){count, list}, made) != LAM_OK) return;
    lam_tensor *error = made[LAM__ODE_ERROR], *taken = lam_le(error, 1.0);
    lam_tensor *there[] = {[Y] = made[LAM__ODE_END], [SLOPE] = made[LAM__ODE_END_SLOPE], [TIME] = until};
    for (int k = 0; k <= TIME; k++) out[k] = lam_where(taken, there[k], in[k]);
    control(p, error, lam_stop_gradient(lam_sub(until, in[TIME])), reaches, in, out);
}

/* One step is made in any case: of no length to a time that repeats, for y has a derivative by that too. */
static void body_before(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    (void)ctx, (void)env;
    lam_tensor *wanted = lam_or(lam_eq(in[TRIES], 0), is_ahead(in[DIRECTION], in[TARGET], in[TIME]));
    out[0] = lam_and(lam_eq(in[STATUS], FINE), wanted);
}

/* Steps to the time in[TARGET], and y there. */
static void body_reach(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    problem *p = env;
    lam_tensor *c[CARRIES];
    for (int k = 0; k < CARRIES; k++) c[k] = in[k];
    c[TRIES] = integer(ctx, 0);
    lam_fn_options o = {.inputs = CARRIES, .env = p};
    o.name = "before", o.body = body_before, o.outputs = 1, o.captures = (lam_list){2, in + TARGET};
    lam_fn *before = lam_fn_new(ctx, &o);
    o.name = "step", o.body = body_try, o.outputs = CARRIES,
    o.captures = (lam_list){p->n + OTHERS - TARGET, in + TARGET};
    if (lam_while(before, lam_fn_new(ctx, &o), (lam_list){CARRIES, c}, out, CARRIES) != LAM_OK) return;
    out[CARRIES] = lam_where(lam_eq(out[STATUS], FINE), out[Y], (double)NAN);
}

/* ---- the start --------------------------------------------------------------------------------------------------- */

/* The algorithm of II.4: a step of Euler's method tells how fast the slope changes. It goes no further than `end`.
 * Where either norm is too small to say anything, 1e-6 is as good as any other beginning. */
static lam_tensor *first_length(const problem *p, lam_tensor *y, lam_tensor *slope, lam_tensor *t, lam_tensor *end,
                                lam_tensor *direction, lam_tensor *const others[]) {
    lam_tensor *reach = lam_abs(y), *room = lam_abs(lam_sub(end, t));
    lam_tensor *d0 = lam__ode_size(y, reach, p->rtol, p->atol);
    lam_tensor *d1 = lam__ode_size(slope, reach, p->rtol, p->atol);
    lam_tensor *flat = lam_or(lam_lt(d0, 1e-5), lam_lt(d1, 1e-5));
    lam_tensor *h0 = lam_min(lam_where(flat, 1e-6, lam_div(lam_mul(0.01, d0), d1)), room);
    lam_tensor *h = lam_mul(direction, h0), *until = lam_where(lam_lt(h0, room), lam_add(t, h), end);
    lam_tensor *there = lam__ode_slope(p->f, lam_add(y, lam_mul(h, slope)), until, p->n, others);
    lam_tensor *d2 = lam_div(lam__ode_size(lam_sub(there, slope), reach, p->rtol, p->atol), h0);
    lam_tensor *most = lam_max(d1, d2);
    lam_tensor *h1 = lam_where(lam_le(most, 1e-15), 1e-6, lam_pow(lam_div(0.01, most), 0.2));
    return lam_min(lam_mul(100.0, h0), h1);
}

/* The carries at the first of the times, and what stands behind them but for a target: that is then TARGET's place,
 * where a scan puts it. What chooses lengths is taken from y and times without their derivatives. A first length has to
 * be seen beside the time that it begins at. Without a finite one nothing can be integrated, unless there is no way to
 * go. */
static bool start(const problem *p, lam_tensor *const in[], lam_tensor *ts, lam_tensor *c[], lam_tensor *behind[]) {
    lam_ctx *ctx = p->f->ctx;
    lam_tensor *y = in[0], *t = lam_index(ts, 0, 0), *fixed = lam_stop_gradient(ts);
    lam_tensor **held = lam__apply_room(ctx, p->n);
    if (!held) return false;
    for (size_t k = 0; k < p->n; k++)
        behind[OTHERS - DIRECTION + k] = in[k + 1], held[k] = lam_stop_gradient(in[k + 1]);
    lam_tensor *begin = lam_index(fixed, 0, 0), *end = lam_index(fixed, 0, -1), *room = lam_abs(lam_sub(end, begin));
    lam_tensor *one = lam_ones_like(begin), *direction = lam_where(lam_lt(end, begin), -1.0, one);
    lam_tensor *ordered = lam_all(lam_ge(lam_mul(direction, lam_diff(fixed, 1, 0)), 0.0), NULL);
    behind[0] = direction;
    lam_tensor *slope = lam__ode_slope(p->f, y, t, p->n, in + 1);
    lam_tensor *length = lam_full_like(begin, p->first);
    if (p->first == 0)
        length = first_length(p, lam_stop_gradient(y), lam_stop_gradient(slope), begin, end, direction, held);
    lam_tensor *shortest = lam_mul(100 * p->epsilon, lam_abs(begin));
    length = lam_min(lam_max(length, shortest), p->longest);
    c[Y] = y;
    c[SLOPE] = slope;
    c[TIME] = t;
    c[NEXT] = lam_mul(direction, length);
    /* What DOPRI5 begins with, which is also the least that is remembered. */
    c[LAST_ERROR] = lam_full_like(begin, 1e-4);
    c[AFTER_REJECTION] = lam_zeros(ctx, LAM_BOOL, LAM_DIMS0);
    c[STEPS] = c[REJECTED] = c[TRIES] = integer(ctx, 0);
    lam_tensor *known = lam_or(lam_is_finite(length), lam_eq(room, 0.0));
    lam_tensor *status = lam_where(known, integer(ctx, FINE), TOO_SMALL);
    c[STATUS] = lam_where(ordered, status, NOT_IN_ORDER);
    return true;
}

/* ---- the operation ----------------------------------------------------------------------------------------------- */

/* Whether this can be integrated; records what is wrong. Failed operands pass the questions about types, and fail at
 * the end: they are on record already. */
static bool check(lam_fn *f, lam_tensor *y0, lam_tensor *ts, lam_list parameters, const lam_ode_options *o) {
    const lam_value *y = lam__scope_peek(y0), *t = lam__scope_peek(ts);
    lam_ctx *ctx = f->ctx;
    if (f->outputs != 1 || (size_t)f->inputs != parameters.count + 2 || (parameters.count && !parameters.items))
        lam__error_set(ctx, LAM_ERR_ARITY, NULL,
                       "odeint: function '%s' takes %d inputs and gives %d outputs, expected %zu (y, t and the "
                       "parameters) and 1",
                       f->name, f->inputs, f->outputs, parameters.count + 2);
    else if (!y0 || !ts)
        lam__error_set(ctx, LAM_ERR_NULL, NULL, "odeint of '%s': %s is NULL", f->name, y0 ? "ts" : "y0");
    else if (y && y->dtype != LAM_F32 && y->dtype != LAM_F64)
        lam__error_set(ctx, LAM_ERR_DTYPE, "cast it", "odeint of '%s': y0 must be f32 or f64", f->name);
    else if (t && (lam__dtype_is_complex(t->dtype) || t->dtype == LAM_BOOL))
        lam__error_set(ctx, LAM_ERR_DTYPE, "cast it", "odeint of '%s': ts must be real", f->name);
    else if (t && lam_rank(ts) != 1)
        lam__error_set(ctx, LAM_ERR_SHAPE, "it is the vector of all times, of which the first is that of y0",
                       "odeint of '%s': ts has rank %d, expected 1", f->name, lam_rank(ts));
    else if (y && lam_rank(y0) >= LAM_MAX_RANK)
        lam__error_set(ctx, LAM_ERR_RANK, NULL, "odeint of '%s': y0 has no room for the axis of times", f->name);
    else if (!(o->rtol >= 0) || !(o->atol >= 0) || !(o->first_step >= 0) || !(o->max_step >= 0) || o->max_steps < 0)
        lam__error_set(ctx, LAM_ERR_VALUE, NULL,
                       "odeint of '%s': rtol %g, atol %g, first_step %g, max_step %g or max_steps %lld is not in range",
                       f->name, o->rtol, o->atol, o->first_step, o->max_step, (long long)o->max_steps);
    else return y && t;
    return false;
}

/* in[]: y0, then parameters and captures. Gives the carries at the end, and y at all times but the first. A scan has as
 * many results as there are times, whatever steps lie between them. What stands behind the carries is captured, since
 * no trip changes it. */
static lam_status integrate(problem *p, lam_tensor *const in[], lam_tensor *ts, lam_tensor *end[]) {
    lam_tensor *c[CARRIES], **behind = lam__apply_room(p->f->ctx, p->n + OTHERS - DIRECTION);
    if (!behind || !start(p, in, ts, c, behind)) return LAM_ERR_MEMORY;
    lam_fn *reach = lam_fn_new(p->f->ctx, &(lam_fn_options){.name = "reach",
                                                            .body = body_reach,
                                                            .inputs = CARRIES + 1,
                                                            .outputs = CARRIES + 1,
                                                            .env = p,
                                                            .captures = {p->n + OTHERS - DIRECTION, behind}});
    lam_tensor *rest = lam_slice_axis(ts, 0, 1, LAM_END);
    return lam_scan(reach, (lam_list){CARRIES, c}, LAM_LIST(rest), end, CARRIES + 1, NULL);
}

/* 0 stands for the usual tolerance, for any length of a step and for MOST_STEPS; a first step of 0 is looked for where
 * the integration starts. */
static problem problem_of(lam_fn *open, lam_dtype dtype, const lam_ode_options *o) {
    const double usual = dtype == LAM_F64 ? 1.4e-8 : 1e-5;
    return (problem){.f = open,
                     .n = (size_t)open->inputs - 2,
                     .dtype = dtype,
                     .rtol = o->rtol > 0 ? o->rtol : usual,
                     .atol = o->atol > 0 ? o->atol : usual,
                     .first = o->first_step,
                     .longest = o->max_step > 0 ? o->max_step : INFINITY,
                     .epsilon = dtype == LAM_F64 ? DBL_EPSILON : (double)FLT_EPSILON,
                     .most = o->max_steps ? o->max_steps : MOST_STEPS};
}

/* Of two times or more. */
static lam_tensor *odeint(lam_fn *f, lam_tensor *y0, lam_tensor *ts, lam_list parameters, lam_ode *found,
                          const lam_ode_options *o) {
    lam_ctx *ctx = f->ctx;
    lam_fn *open = lam__arguments_open("odeint", f);
    const size_t n = parameters.count;
    lam_tensor **in = lam__apply_room(ctx, n + 1 + (size_t)lam__arguments_captured(f)), *end[CARRIES + 1];
    if (lam_failed(open) || !in) return &ctx->failed;
    for (size_t k = 0; k <= n; k++) in[k] = k ? parameters.items[k - 1] : y0;
    lam__arguments_append_captures(f, in, (int)n + 1);
    problem p = problem_of(open, lam_dtype_of(y0), o);
    p.step = lam__ode_step(open, p.rtol, p.atol);
    lam_status status = p.step ? integrate(&p, in, lam_cast(ts, p.dtype), end) : LAM_ERR_MEMORY;
    lam__custom_release(p.step);
    if (status != LAM_OK) return &ctx->failed;
    lam_tensor *tried = lam_add(end[STEPS], end[REJECTED]);
    /* A step that was tried costs six evaluations, since its first slope is known; there is one at the beginning, and
     * one more where a first length is looked for. */
    *found = (lam_ode){.status = end[STATUS],
                       .steps = end[STEPS],
                       .rejected = end[REJECTED],
                       .evaluations = lam_add(lam_mul(6, tried), p.first == 0 ? 2 : 1)};
    return lam_concatenate(LAM_LIST(lam_expand_dims(y0, 0), end[CARRIES]), 0);
}

/* Of one time, or none: f is not asked. */
static lam_tensor *nothing_to_do(lam_tensor *y0, lam_tensor *ts, lam_ode *found) {
    lam_ctx *ctx = y0->ctx;
    *found = (lam_ode){integer(ctx, 0), integer(ctx, 0), integer(ctx, 0), integer(ctx, 0)};
    return lam_slice_axis(lam_expand_dims(y0, 0), 0, 0, lam_dim(ts, 0));
}

/* Results fail together, so that none is taken for good beside one that is not. The evaluations are made of the other
 * counts, and fail with them. */
lam_tensor *lam_odeint(lam_fn *f, lam_tensor *y0, lam_tensor *ts, lam_list parameters, lam_ode *found,
                       const lam_ode_options *options) {
    static const lam_ode_options none;
    lam_ode unwanted, *at = found ? found : &unwanted;
    lam_ctx *ctx;
    const uint64_t since = lam__scope_now(y0);
    const bool given = lam__fn_check_call("odeint", f, LAM_LIST(y0, ts), &ctx) != NULL;
    const lam_ode failed = {&ctx->failed, &ctx->failed, &ctx->failed, &ctx->failed};
    *at = failed;
    if (!given || !check(f, y0, ts, parameters, options ? options : &none)) return &ctx->failed;
    lam_tensor *y =
        lam_dim(ts, 0) > 1 ? odeint(f, y0, ts, parameters, at, options ? options : &none) : nothing_to_do(y0, ts, at);
    if (lam_failed(y) || lam_failed(at->evaluations)) *at = failed, y = &ctx->failed;
    lam_tensor *results[] = {y, at->status, at->steps, at->rejected, at->evaluations};
    lam__scope_only_these(found ? sizeof results / sizeof *results : 1, results, since);
    return y;
}
