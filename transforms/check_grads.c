/* lam_check_grads: derivatives against differences, and the two modes against each other. Along random directions v of
 * the inputs and w of the outputs, with entries in [-1, 1), so that one number tells: <w, J v> by forward mode against
 * the difference, and against <J' w, v> by reverse mode. A wrong derivative passes only where both directions happen to
 * be orthogonal to what is wrong with it.
 * Central differences have an error of h^2 from the curvature and of epsilon / h from rounding, which are equal for h =
 * epsilon^(1/3); both are then epsilon^(2/3), and the default tolerance is 2000 times that. */
#include "transforms/arguments.h"

#include "lib/dispatch/dispatch.h"
#include "lib/primitives/apply.h"
#include "lib/tensor/dtype.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

#include <math.h>

enum { MOST = 16 /* orders */ };

/* One comparison. x: inputs moved along v; y: outputs; dy: their tangents; w: the cotangent; g: gradients. */
typedef struct check {
    lam_ctx *ctx;
    lam_fn *f;
    lam_tensor *const *at;
    double step, tolerance;
    lam__mark begun;         /* failures from before are not its own */
    uint64_t state;          /* of the generator of directions */
    lam_random_state random; /* where the context's stood: f draws the same each time */
    int *argnums;            /* floating inputs */
    int count;
    lam_tensor **x, **v, **y, **dy, **w, **g;
} check;

/* Marsaglia's xorshift64*, to a number in [-1, 1): directions need no more than that. */
static double draw(check *c) {
    c->state ^= c->state >> 12, c->state ^= c->state << 25, c->state ^= c->state >> 27;
    return (double)(int64_t)(c->state * 2685821657736338717u) * 0x1p-63;
}

/* Random numbers of f64 in the dims of `like`. */
static lam_tensor *reals(check *c, lam_tensor *like) {
    int64_t n = lam_size(like);
    lam_dims dims = lam_dims_of(like);
    lam_value *v = lam__value_new(c->ctx, LAM_F64, dims.rank, dims.dims);
    for (int64_t i = 0; v && i < n; i++) ((double *)v->data)[i] = draw(c);
    return lam__scope_handle(c->ctx, v);
}

/* Of the dtype of `like`: complex ones have a real and an imaginary part drawn apart. */
static lam_tensor *direction(check *c, lam_tensor *like) {
    lam_tensor *v = reals(c, like);
    if (lam__dtype_is_complex((int)lam_dtype_of(like))) v = lam_complex(v, reals(c, like));
    return lam_cast(v, lam_dtype_of(like));
}

/* The step is relative to the size of an input, but not below 1: near 0 functions do not change any faster. */
static lam_tensor *direction_of_input(check *c, lam_tensor *x) {
    lam_tensor *v = direction(c, x);
    if (lam_size(x) == 0) return v;
    const double size = lam_item(lam_cast(lam_max_reduce(lam_abs(x), NULL), LAM_F64));
    return size > 1 && isfinite(size) ? lam_cast(lam_mul(size, v), lam_dtype_of(x)) : v;
}

/* Re(a b): the pairing of tangents with cotangents, without a conjugate. */
static double dot(lam_tensor *a, lam_tensor *b) {
    lam_dtype wide = lam__dtype_is_complex((int)lam_dtype_of(b)) ? LAM_C128 : LAM_F64;
    return lam_item(lam_real(lam_sum(lam_mul(lam_cast(a, wide), lam_cast(b, wide)), NULL)));
}

/* <w, f(x + h v)> summed over the outputs. The generator goes back to where it stood, so that f is the same function of
 * x each time. A failure gives what it gives; compare() finds the record. */
static double along(check *c, double h) {
    double sum = 0;
    for (int i = 0; i < c->f->inputs; i++) c->x[i] = c->at[i];
    for (int k = 0; k < c->count; k++) c->x[c->argnums[k]] = lam_add(c->at[c->argnums[k]], lam_mul(h, c->v[k]));
    c->ctx->random = c->random;
    lam_call(c->f, (lam_list){(size_t)c->f->inputs, c->x}, c->y, (size_t)c->f->outputs);
    for (int o = 0; o < c->f->outputs; o++)
        if (lam__dtype_is_inexact((int)lam_dtype_of(c->y[o]))) sum += dot(c->w[o], c->y[o]);
    return sum;
}

/* A NaN or an infinity fails: neither can be told from another one. */
static lam_status compare(const check *c, const char *what, double a, double b) {
    lam_status status = lam__error_since(c->ctx, c->begun);
    if (status != LAM_OK) return status;
    if (isfinite(a) && isfinite(b) && fabs(a - b) <= c->tolerance * fmax(1, fmax(fabs(a), fabs(b)))) return LAM_OK;
    return lam__error_set(c->ctx, LAM_ERR_VALUE, "look at the derivative rules of what the function uses",
                          "check_grads of '%s': %s: %.12g against %.12g", c->f->name, what, a, b);
}

/* Outputs at the end that have no derivative are auxiliary. Reverse mode is compared with forward mode, not with the
 * difference: both are exact but for rounding, so that test is sharper. */
static lam_status compare_modes(check *c) {
    int outputs = c->f->outputs, aux = 0;
    lam_fn *pullback;
    double forward = 0, reverse = 0;
    lam_grad_options options = {.argnums = {c->count, c->argnums}};
    lam_list primals = {(size_t)c->f->inputs, c->at};
    lam_call(c->f, primals, c->y, (size_t)outputs);
    while (aux < outputs && !lam__dtype_is_inexact((int)lam_dtype_of(c->y[outputs - 1 - aux]))) aux++;
    options.has_aux = aux;
    for (int o = 0; o < outputs; o++) c->w[o] = direction(c, c->y[o]);
    for (int k = 0; k < c->count; k++) c->v[k] = direction_of_input(c, c->at[c->argnums[k]]);
    c->ctx->random = c->random;
    lam_jvp(c->f, primals, (lam_list){(size_t)c->count, c->v}, c->y, c->dy, (size_t)outputs, &options);
    for (int o = 0; o < outputs - aux; o++) forward += dot(c->w[o], c->dy[o]);
    double difference = (along(c, c->step) - along(c, -c->step)) / (2 * c->step);
    lam_status status = compare(c, "forward mode against a central difference", forward, difference);
    if (status != LAM_OK) return status;
    c->ctx->random = c->random;
    lam_vjp(c->f, primals, c->y, (size_t)outputs, &pullback, &options);
    lam_call(pullback, (lam_list){(size_t)(outputs - aux), c->w}, c->g, (size_t)c->count);
    for (int k = 0; k < c->count; k++) reverse += dot(c->g[k], c->v[k]);
    return compare(c, "reverse mode against forward mode", reverse, forward);
}

/* The rounding unit of a dtype, twice: the distance from 1 to the next number. */
static double epsilon_of(int dtype) {
    if (dtype == LAM_F16) return 0x1p-10;
    if (dtype == LAM_BF16) return 0x1p-7;
    return lam__dtype_part(dtype) == LAM_F32 ? 0x1p-23 : 0x1p-52;
}

/* Lists and defaults. The input of the fewest digits sets the step for all. A tolerance of a quarter is the most: with
 * digits as few as those of f16 a difference is off by some per cent, and a wrong rule by more, as a rule. */
static bool start(check *c, const lam_check_grads_options *o) {
    size_t in = (size_t)c->f->inputs, out = (size_t)c->f->outputs;
    lam_tensor **room = lam__apply_room(c->ctx, 4 * in + 3 * out);
    if (!room) return false;
    c->x = room, c->v = c->x + in, c->g = c->v + in, c->y = c->g + in, c->dy = c->y + out, c->w = c->dy + out;
    c->argnums = (int *)(void *)(c->w + out);
    double epsilon = 0x1p-52;
    for (int i = 0; i < c->f->inputs; i++) {
        int dtype = (int)lam_dtype_of(c->at[i]);
        if (!lam__dtype_is_inexact(dtype)) continue;
        c->argnums[c->count++] = i;
        epsilon = fmax(epsilon, epsilon_of(dtype));
    }
    c->step = o->step > 0 ? o->step : cbrt(epsilon);
    c->tolerance = o->tolerance > 0 ? o->tolerance : fmin(2000 * pow(epsilon, 2.0 / 3), 0.25);
    c->state = o->seed * 0x9e3779b97f4a7c15u + 0x2545f4914f6cdd1du;
    if (!c->state) c->state = 1; /* zero would stay zero */
    return true;
}

/* Without an input to differentiate by there is nothing to compare, but f may fail. */
static lam_status run_once(lam_fn *f, lam_tensor *const at[]) {
    lam_tensor **out = lam__apply_room(f->ctx, (size_t)f->outputs);
    return out ? lam_call(f, (lam_list){(size_t)f->inputs, at}, out, (size_t)f->outputs) : LAM_ERR_MEMORY;
}

/* Recursion over the order: the function x, v -> f(x), df(x) v is checked like f itself. */
static lam_status run(lam_fn *f, lam_tensor *const at[], const lam_check_grads_options *o, int order) {
    check c = {.ctx = f->ctx, .f = f, .at = at, .begun = lam__error_mark(f->ctx), .random = f->ctx->random};
    if (!start(&c, o)) return LAM_ERR_MEMORY;
    if (!c.count) return run_once(f, at);
    const lam_status status = compare_modes(&c);
    if (status != LAM_OK || order <= 1) return status;
    /* The next order: the derivative of f along a direction that is held constant. */
    lam_fn *push = lam_jvp_fn(f, &(lam_grad_options){.argnums = {c.count, c.argnums}});
    lam_tensor **wider = lam__apply_room(c.ctx, (size_t)(f->inputs + c.count));
    if (!wider) return LAM_ERR_MEMORY;
    for (int i = 0; i < f->inputs; i++) wider[i] = at[i];
    for (int k = 0; k < c.count; k++) wider[f->inputs + k] = c.v[k];
    return run(push, wider, o, order - 1);
}

/* A failure that is not a comparison's is f's own, and is found by the mark. */
lam_status lam_check_grads(lam_fn *f, lam_list at, const lam_check_grads_options *options) {
    static const lam_check_grads_options none;
    const lam_check_grads_options *o = options ? options : &none;
    lam_ctx *where, *ctx = lam__fn_check_call("check_grads", f, at, &where);
    if (!ctx) return where->error.status != LAM_OK ? where->error.status : LAM_ERR_NULL;
    if (o->order < 0 || !(o->step >= 0) || !(o->tolerance >= 0))
        return lam__error_set(ctx, LAM_ERR_OPTION, NULL,
                              "check_grads of '%s': order, step and tolerance cannot be negative or NaN", f->name);
    if (o->order > MOST) /* each takes twice the time of the one before: INT_MAX of them would not end */
        return lam__error_set(ctx, LAM_ERR_OPTION, NULL, "check_grads of '%s': order %d is more than %d", f->name,
                              o->order, MOST);
    lam__scratch_area area;
    lam_value **values = lam__scratch_get(&area, ctx, (size_t)f->inputs * sizeof *values);
    if (!values) return LAM_ERR_MEMORY;
    lam__mark mark = lam__error_mark(ctx);
    lam_status status = lam__arguments_list("check_grads", f, "inputs", at, f->inputs, false, values);
    lam__scratch_put(&area);
    lam_scope scope;
    lam__scope_open(ctx, &scope);
    lam__fn_retain(f); /* its body may drop it */
    if (status == LAM_OK) status = run(f, at.items, o, o->order);
    lam__fn_release(f);
    lam__scope_close(&scope);
    return status != LAM_OK ? status : lam__error_since(ctx, mark);
}
