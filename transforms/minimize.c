/* Minima by quasi-Newton steps. The search is one loop of lam_while, each trip of which evaluates the function once, so
 * examples of a batch never wait for each other's line searches, and a program has the function in it once. Everything
 * that it reads has no derivative; that of the result is the implicit one of lam_custom_root, for which the place that
 * was found is the root of the gradient. */
#include "transforms/arguments.h"

#include "lib/base/error.h"
#include "lib/base/scope.h"
#include "lib/primitives/apply.h"
#include "lib/tensor/dtype.h"
#include "lib/tensor/value.h"

#include <lamina/control.h>
#include <lamina/function.h>
#include <lamina/linalg.h>
#include <lamina/ops.h>
#include <lamina/optimize.h>
#include <lamina/reductions.h>
#include <lamina/tensor.h>

#include <math.h>

/* How many iterations there are at most by default, and tries of a line: as long as it goes down, and once a minimum is
 * within. */
enum { STEPS_PER_ELEMENT = 200, DOUBLINGS = 10, NARROWINGS = 30 };

/* What lam_minimum calls a status. */
enum { SEARCHING = -1, DONE = 0, NO_MORE_STEPS = 1, NO_STEP_WITHIN = 3, NO_STEP_BEYOND = 5 };

/* Nocedal and Wright, Numerical Optimization, 3.1; their numbers for quasi-Newton methods. */
static const double decrease = 1e-4, curvature = 0.9; /* c1 and c2 of Wolfe's conditions */

/* The carries: where the search is, the line from there, what is known of the minimum on it, and counts.
 * NOTE [interval]  LOW and HIGH are steps with value and slope, [3]. LOW is the best so far, HIGH the other end of an
 * interval with a good step in it; infinite as long as all steps went down. LAST is the step and value that one of them
 * had before, [2], NaN at first. */
enum {
    X,
    VALUE,
    GRADIENT,
    INVERSE,
    DIRECTION,
    SLOPE,
    STEP,
    LOW,
    HIGH,
    LAST,
    TRIES,
    ITERATIONS,
    EVALUATIONS,
    STATUS,
    CARRIES
};

/* A running search: the function with its gradient, which takes a point, the parameters and captures of f. */
typedef struct search {
    lam_fn *value_and_grad;
    size_t n; /* parameters and captures, which the loop's functions capture */
    lam_dims dims;
    lam_dtype dtype;
    double gtol, norm;
    int64_t most, doublings;
} search;

static lam_tensor *dot(lam_tensor *x, lam_tensor *y) {
    return lam_sum(lam_mul(x, y), NULL);
}

/* Counts are i64 whatever the dtype of x. */
static lam_tensor *integer(lam_ctx *ctx, int64_t number) {
    return lam_array(ctx, LAM_I64, LAM_DIMS0, &number);
}

/* f and its gradient, a vector, at the vector x. The search goes through vectors, whatever the dims of x are to f.
 * After a failure both are failed tensors, which carry that on. */
static void evaluate(const search *s, lam_tensor *x, lam_tensor *const fixed[], lam_tensor **value,
                     lam_tensor **slope) {
    lam_ctx *ctx = s->value_and_grad->ctx;
    lam_tensor *out[2] = {&ctx->failed, &ctx->failed}, **in = lam__apply_room(ctx, s->n + 1);
    for (size_t k = 0; in && k <= s->n; k++) in[k] = k ? fixed[k - 1] : lam_reshape(x, s->dims);
    if (in) lam_call(s->value_and_grad, (lam_list){s->n + 1, in}, out, 2);
    *value = lam_cast(out[0], s->dtype);
    *slope = lam_reshape(out[1], LAM_DIMS(lam_size(x)));
}

/* The norm is an option, the largest element by default. NaN is not short. */
static lam_tensor *is_short(const search *s, lam_tensor *gradient) {
    return lam_lt(lam_norm(gradient, &(lam_norm_options){.order = s->norm}), s->gtol);
}

/* A new line from x, with a first step that would lower the value by what the one before did, at most the whole one.
 * Rounding may leave a direction that does not go down: then all that was known of curvature is forgotten. 2.02 is 1.01
 * times twice the decrease over the slope, (3.60) there: the minimum of the parabola that loses as much. */
static void set_out(const search *s, lam_tensor *less, lam_tensor *c[]) {
    lam_tensor *x = c[X], *g = c[GRADIENT], *p = lam_neg(lam_matvec(c[INVERSE], g)), *slope = dot(g, p);
    lam_tensor *down = lam_lt(slope, 0.0), *none = lam_full_like(slope, INFINITY);
    c[INVERSE] = lam_where(down, c[INVERSE], lam_eye(x->ctx, s->dtype, lam_size(x), lam_size(x)));
    c[DIRECTION] = lam_where(down, p, lam_neg(g));
    c[SLOPE] = lam_where(down, slope, lam_neg(dot(g, g)));
    lam_tensor *first = lam_div(lam_mul(-2.02, less), c[SLOPE]);
    c[STEP] = lam_where(lam_and(lam_gt(first, 0.0), lam_lt(first, 1.0)), first, 1.0);
    c[LOW] = lam_stack(LAM_LIST(lam_zeros_like(slope), c[VALUE], c[SLOPE]), 0);
    c[HIGH] = lam_stack(LAM_LIST(none, none, none), 0);
    c[LAST] = lam_full_like(lam_slice_axis(c[LOW], 0, 0, 2), NAN);
    c[TRIES] = integer(x->ctx, 0);
}

/* The inverse of the Hessian after a step s that changed the gradient by y (6.17 there, multiplied out). Where both are
 * orthogonal, as where the gradient did not change, rho is infinite, and the inverse stays what it was. */
static lam_tensor *updated(lam_tensor *inverse, lam_tensor *step, lam_tensor *change) {
    lam_tensor *rho = lam_reciprocal(dot(change, step)), *hy = lam_matvec(inverse, change);
    lam_tensor *mixed = lam_outer(step, hy), *size = lam_add(1.0, lam_mul(rho, dot(change, hy)));
    lam_tensor *more = lam_sub(lam_mul(size, lam_outer(step, step)), lam_add(mixed, lam_matrix_transpose(mixed)));
    return lam_where(lam_is_finite(rho), lam_add(inverse, lam_mul(rho, more)), inverse);
}

/* The place of the least value of the parabola through two values and the slope at the first. Without a bend, or one
 * that goes down, it lies nowhere near, which is_within finds. */
static lam_tensor *least_of_parabola(lam_tensor *const low[], lam_tensor *b, lam_tensor *above) {
    lam_tensor *bend = lam_div(lam_sub(above, lam_mul(low[2], b)), lam_square(b));
    return lam_sub(low[0], lam_div(low[2], lam_mul(2.0, bend)));
}

/* The same of the cubic through a third value, c further on, more by `higher`. The root of the derivative at which it
 * bends upwards. All is counted from the first point. */
static lam_tensor *least_of_cubic(lam_tensor *const low[], lam_tensor *b, lam_tensor *above, lam_tensor *c,
                                  lam_tensor *higher) {
    lam_tensor *eb = lam_div(lam_sub(above, lam_mul(low[2], b)), lam_square(b));
    lam_tensor *ec = lam_div(lam_sub(higher, lam_mul(low[2], c)), lam_square(c)), *gap = lam_sub(b, c);
    lam_tensor *cube = lam_div(lam_sub(eb, ec), gap);
    lam_tensor *square = lam_div(lam_sub(lam_mul(b, ec), lam_mul(c, eb)), gap);
    lam_tensor *root = lam_sqrt(lam_sub(lam_square(square), lam_mul(3.0, lam_mul(cube, low[2]))));
    return lam_add(low[0], lam_div(lam_sub(root, square), lam_mul(3.0, cube)));
}

/* Whether `step` lies between low and low + width, this part of the width away from both. NaN is not between
 * anything. */
static lam_tensor *is_within(lam_tensor *step, lam_tensor *low, lam_tensor *width, double part) {
    lam_tensor *at = lam_div(lam_sub(step, low), width);
    return lam_and(lam_gt(at, part), lam_lt(at, 1 - part));
}

/* The next step to try in the interval: by the cubic, else by the parabola, else the middle. Where formulas have no
 * numbers to work with they give NaN, which lies nowhere. A fifth and a tenth of the interval at either end are left
 * out, so that it shrinks by as much. */
static lam_tensor *narrowed(lam_tensor *low, lam_tensor *high, lam_tensor *last) {
    lam_tensor *l[3], *h[3], *z[2];
    lam_unstack(low, 0, l, 3), lam_unstack(high, 0, h, 3), lam_unstack(last, 0, z, 2);
    lam_tensor *width = lam_sub(h[0], l[0]), *above = lam_sub(h[1], l[1]);
    lam_tensor *cubic = least_of_cubic(l, width, above, lam_sub(z[0], l[0]), lam_sub(z[1], l[1]));
    lam_tensor *parabola = least_of_parabola(l, width, above), *middle = lam_add(l[0], lam_mul(0.5, width));
    lam_tensor *other = lam_where(is_within(parabola, l[0], width, 0.1), parabola, middle);
    return lam_where(is_within(cubic, l[0], width, 0.2), cubic, other);
}

/* What a step that was tried means for the interval. NOTE [interval]. A step that went down while the slope still
 * points on replaces LOW and leaves HIGH; one that turned has passed the minimum, so the old LOW is the other end.
 * While nothing is beyond, steps double. */
static void narrow(const search *s, lam_tensor *trial, lam_tensor *high, lam_tensor *c[]) {
    lam_tensor *low = c[LOW], *end = c[HIGH], *open = lam_is_inf(lam_index(end, 0, 0));
    lam_tensor *beyond = lam_ge(lam_index(end, 0, 0), lam_index(low, 0, 0));
    lam_tensor *turned = lam_eq(lam_ge(lam_index(trial, 0, 2), 0.0), beyond);
    c[LOW] = lam_where(high, low, trial);
    c[HIGH] = lam_where(high, trial, lam_where(turned, low, end));
    c[LAST] = lam_slice_axis(lam_where(lam_or(high, turned), end, low), 0, 0, 2);
    lam_tensor *still = lam_is_inf(lam_index(c[HIGH], 0, 0)), *began = lam_and(open, lam_not(still));
    c[TRIES] = lam_where(began, 0, lam_add(c[TRIES], 1));
    lam_tensor *at = lam_index(c[LOW], 0, 0), *to = lam_index(c[HIGH], 0, 0);
    c[STEP] = lam_where(still, lam_mul(2.0, at), narrowed(c[LOW], c[HIGH], c[LAST]));
    lam_tensor *closed = lam_le(lam_abs(lam_sub(to, at)), lam_mul(1e-10, lam_max(at, to)));
    lam_tensor *spent = lam_or(closed, lam_ge(c[TRIES], NARROWINGS));
    lam_tensor *within = lam_where(spent, NO_STEP_WITHIN, SEARCHING);
    c[STATUS] = lam_where(still, lam_where(lam_ge(c[TRIES], s->doublings), NO_STEP_BEYOND, SEARCHING), within);
}

/* Tries one step. It is taken if it lowers the value and its slope enough; else the interval shrinks. Near the minimum
 * values differ by rounding alone; then the slope tells, as in Hager and Zhang's approximate condition (`level`). */
static void body_try(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    const search *s = env;
    lam_tensor *step = lam_mul(in[STEP], in[DIRECTION]), *x = lam_add(in[X], step), *value, *g;
    (void)ctx;
    evaluate(s, x, in + CARRIES, &value, &g);
    lam_tensor *slope = dot(g, in[DIRECTION]), *trial = lam_stack(LAM_LIST(in[STEP], value, slope), 0);
    lam_tensor *line = lam_add(in[VALUE], lam_mul(decrease, lam_mul(in[STEP], in[SLOPE])));
    lam_tensor *rounding = lam_mul(s->dtype == LAM_F64 ? 1e-10 : 1e-5, lam_abs(in[VALUE]));
    lam_tensor *bent = lam_le(slope, lam_mul(2 * decrease - 1, in[SLOPE]));
    lam_tensor *level = lam_and(lam_le(value, lam_add(in[VALUE], rounding)), bent);
    lam_tensor *first = lam_and(lam_is_inf(lam_index(in[HIGH], 0, 0)), lam_eq(in[TRIES], 0));
    lam_tensor *lower = lam_or(first, lam_lt(value, lam_index(in[LOW], 0, 1)));
    lam_tensor *high = lam_not(lam_and(lam_le(value, line), lower));
    lam_tensor *flat = lam_le(lam_abs(slope), lam_mul(-curvature, in[SLOPE]));
    lam_tensor *taken = lam_and(flat, lam_or(lam_not(high), level)), *there[CARRIES], *here[CARRIES];
    for (int k = 0; k < CARRIES; k++) there[k] = here[k] = in[k];
    narrow(s, trial, high, here);
    there[X] = x, there[VALUE] = value, there[GRADIENT] = g;
    there[INVERSE] = updated(in[INVERSE], step, lam_sub(g, in[GRADIENT]));
    set_out(s, lam_sub(in[VALUE], value), there);
    there[ITERATIONS] = lam_add(in[ITERATIONS], 1);
    lam_tensor *enough = lam_ge(there[ITERATIONS], s->most);
    there[STATUS] = lam_where(is_short(s, g), DONE, lam_where(enough, NO_MORE_STEPS, SEARCHING));
    /* A carry that neither way changes is not chosen either. */
    for (int k = 0; k < CARRIES; k++) out[k] = there[k] == here[k] ? in[k] : lam_where(taken, there[k], here[k]);
    out[EVALUATIONS] = lam_add(in[EVALUATIONS], 1);
}

/* A search that is done leaves the loop by itself in a batch. */
static void body_searching(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    (void)ctx, (void)env;
    out[0] = lam_eq(in[STATUS], SEARCHING);
}

/* Where the search ends that starts at the vector x. The first step is meant to lower the value by half the length of
 * the gradient, of which nothing better is known. */
static lam_status run(search *s, lam_tensor *x, lam_tensor *const fixed[], lam_tensor *out[]) {
    lam_ctx *ctx = x->ctx;
    lam_tensor *c[CARRIES] = {[X] = x, [INVERSE] = lam_eye(ctx, s->dtype, lam_size(x), lam_size(x))};
    evaluate(s, x, fixed, &c[VALUE], &c[GRADIENT]);
    set_out(s, lam_mul(0.5, lam_norm(c[GRADIENT], NULL)), c);
    c[ITERATIONS] = integer(ctx, 0);
    c[EVALUATIONS] = integer(ctx, 1);
    c[STATUS] = lam_where(is_short(s, c[GRADIENT]), DONE, SEARCHING);
    lam_fn_options o = {.inputs = CARRIES, .env = s, .captures = {s->n, fixed}};
    o.name = "searching", o.body = body_searching, o.outputs = 1;
    lam_fn *searching = lam_fn_new(ctx, &o);
    o.name = "try", o.body = body_try, o.outputs = CARRIES;
    return lam_while(searching, lam_fn_new(ctx, &o), (lam_list){CARRIES, c}, out, CARRIES);
}

/* ---- derivatives ------------------------------------------------------------------------------------------------- */

/* The root is where the search has ended. As the rule of lam_custom_root asks for one: it gives the root, which is
 * known. */
static void body_found(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    (void)ctx, (void)env;
    out[0] = in[0];
}

/* By the matrix of the Hessian, which is its own transpose. All columns at once, as a batch of products with it. The
 * axis of the batch is one more than b has. */
static lam_tensor *solve_hessian(lam_ctx *ctx, lam_fn *linear, lam_tensor *b, void *env) {
    const int64_t n = lam_size(b);
    lam_dims dims = lam_dims_of(b);
    int64_t rows[LAM_MAX_RANK + 1] = {n};
    (void)env;
    if (dims.rank == LAM_MAX_RANK)
        return lam__error_fail(ctx, LAM_ERR_RANK, "minimize of '%s': derivatives need one axis more", linear->name);
    for (int k = 0; k < dims.rank; k++) rows[k + 1] = dims.dims[k];
    lam_tensor *unit = lam_reshape(lam_eye(ctx, lam_dtype_of(b), n, n), (lam_dims){dims.rank + 1, rows});
    lam_tensor *matrix = lam_reshape(lam_apply(lam_vmap(linear, NULL), LAM_LIST(unit)), LAM_DIMS(n, n));
    return lam_reshape(lam_solve(matrix, lam_reshape(b, LAM_DIMS(n))), dims);
}

/* ---- the operation ----------------------------------------------------------------------------------------------- */

/* Whether these can be searched with; records what is wrong. A failed x0 is on record and gives false as well. */
static bool check(lam_fn *f, const lam_tensor *x0, lam_list parameters, const lam_minimize_options *o) {
    const lam_value *v = lam__scope_peek(x0);
    lam_ctx *ctx = f->ctx;
    if (f->outputs != 1 || (size_t)f->inputs != parameters.count + 1 || (parameters.count && !parameters.items))
        lam__error_set(ctx, LAM_ERR_ARITY, NULL,
                       "minimize: function '%s' takes %d inputs and gives %d outputs, expected %zu (x and the "
                       "parameters) and 1",
                       f->name, f->inputs, f->outputs, parameters.count + 1);
    else if (!x0) lam__error_set(ctx, LAM_ERR_NULL, NULL, "minimize of '%s': x0 is NULL", f->name);
    else if (v && (!lam__dtype_is_inexact(v->dtype) || lam__dtype_is_complex(v->dtype)))
        lam__error_set(ctx, LAM_ERR_DTYPE, "cast it", "minimize of '%s': x0 must be real and floating", f->name);
    else if (!(o->gtol >= 0) || isnan(o->norm) || o->maxiter < 0 || o->line_tries < 0)
        lam__error_set(ctx, LAM_ERR_VALUE, NULL,
                       "minimize of '%s': gtol %g, norm %g, maxiter %lld or line_tries %lld is not in range", f->name,
                       o->gtol, o->norm, (long long)o->maxiter, (long long)o->line_tries);
    else return v != NULL;
    return false;
}

/* in[]: x0, then what is fixed. Gives the carries where the search ends, which have no derivatives. Parameters are
 * constants while it is searched, so no level keeps anything of the steps. */
static lam_status search_from(lam_fn *open, lam_tensor *const in[], const lam_minimize_options *o, lam_tensor *end[]) {
    const size_t n = (size_t)open->inputs - 1;
    lam_tensor **fixed = lam__apply_room(open->ctx, n);
    if (!fixed) return LAM_ERR_MEMORY;
    for (size_t k = 0; k < n; k++) fixed[k] = lam_stop_gradient(in[k + 1]);
    search s = {.value_and_grad = lam_value_and_grad(open, NULL),
                .n = n,
                .dims = lam_dims_of(in[0]),
                .dtype = lam_dtype_of(in[0]),
                .gtol = o->gtol > 0 ? o->gtol : 1e-5,
                .norm = o->norm != 0 ? o->norm : INFINITY,
                .most = o->maxiter ? o->maxiter : STEPS_PER_ELEMENT * lam_size(in[0]),
                .doublings = o->line_tries ? o->line_tries : DOUBLINGS};
    return run(&s, lam_reshape(lam_stop_gradient(in[0]), LAM_DIMS(lam_size(in[0]))), fixed, end);
}

/* The search is no part of any derivative: x0 is taken as a constant there (stop_gradient), and what comes out is made
 * the root of the gradient, whose derivative by parameters and captures is the implicit one. The value is asked for
 * once more at that root, so that it follows x. Captures of f are parameters like others, since the minimum depends on
 * them too. */
static lam_tensor *minimize(lam_fn *f, lam_tensor *x0, lam_list parameters, lam_minimum *found,
                            const lam_minimize_options *o) {
    lam_ctx *ctx = f->ctx;
    lam_fn *open = lam__arguments_open("minimize", f);
    const size_t n = parameters.count, all = n + (size_t)lam__arguments_captured(f);
    lam_tensor **in = lam__apply_room(ctx, all + 1), *end[CARRIES];
    if (lam_failed(open) || !in) return &ctx->failed;
    for (size_t k = 0; k <= n; k++) in[k] = k ? parameters.items[k - 1] : x0;
    lam__arguments_append_captures(f, in, (int)n + 1);
    if (search_from(open, in, o, end) != LAM_OK) return &ctx->failed;
    lam_fn *last =
        lam_fn_new(ctx, &(lam_fn_options){.name = "found", .body = body_found, .inputs = (int)all + 1, .outputs = 1});
    lam_tensor *x = lam_custom_root(lam_grad(open, NULL), lam_reshape(end[X], lam_dims_of(x0)), (lam_list){all, in + 1},
                                    last, solve_hessian, NULL);
    in[0] = x;
    *found = (lam_minimum){.value = lam_apply(open, (lam_list){all + 1, in}),
                           .gradient = lam_reshape(end[GRADIENT], lam_dims_of(x0)),
                           .inverse_hessian = end[INVERSE],
                           .status = end[STATUS],
                           .iterations = end[ITERATIONS],
                           .evaluations = end[EVALUATIONS]};
    return x;
}

static lam_minimum none_found(lam_ctx *ctx) {
    lam_tensor *f = &ctx->failed;
    return (lam_minimum){f, f, f, f, f, f};
}

/* What is not wanted is computed all the same, but for programs, which drop it. Results are failed all together, so
 * that none is looked at by itself. */
lam_tensor *lam_minimize(lam_fn *f, lam_tensor *x0, lam_list parameters, lam_minimum *found,
                         const lam_minimize_options *options) {
    static const lam_minimize_options none;
    const lam_minimize_options *o = options ? options : &none;
    lam_minimum unwanted, *at = found ? found : &unwanted;
    lam_ctx *ctx;
    const uint64_t since = lam__scope_now(x0);
    const bool given = lam__fn_check_call("minimize", f, LAM_LIST(x0), &ctx) != NULL;
    *at = none_found(ctx);
    if (!given || !check(f, x0, parameters, o)) return &ctx->failed;
    lam_tensor *x = minimize(f, x0, parameters, at, o);
    if (lam_failed(x) || lam_failed(at->value)) *at = none_found(ctx);
    lam_tensor *results[] = {x,          at->value,      at->gradient,   at->inverse_hessian,
                             at->status, at->iterations, at->evaluations};
    lam__scope_only_these(found ? sizeof results / sizeof *results : 1, results, since);
    return x;
}
