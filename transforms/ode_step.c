/* One step of Dormand and Prince, as a Function of the library's own: levels see a step as one operation, of which the
 * inputs are kept, and its rules run it again.
 * NOTE [rejected steps]  A step that is too long may lead to where f is NaN; it is then tried again with a shorter one,
 * and nothing that it gave is used. Derivatives of it would be NaN times the zero that comes back: so rules let it end
 * where it begins, which leads nowhere. */
#include "transforms/ode.h"

#include "lib/base/error.h"
#include "lib/base/scope.h"
#include "lib/primitives/apply.h"
#include "lib/tensor/value.h"

#include <lamina/ops.h>
#include <lamina/reductions.h>
#include <lamina/tensor.h>

enum { STAGES = 7, LAST = STAGES - 1, TYPE_TEXT = 256 };

/* The Function's own copy of what it was asked for; it lives as long as a derivative may be asked for. */
typedef struct step_attrs {
    lam_fn *f; /* held */
    double rtol, atol;
} step_attrs;

/* Times of the stages as parts of the step, and what the slopes before count in each; the last stage is the end. Then
 * what slopes count in the error. Dormand and Prince 1980, as in Hairer, Norsett and Wanner, Solving Ordinary
 * Differential Equations I, table II.5.2. The last row of weights is y at the end, so the last slope is the first one
 * of the next step; the error is what the formula of order 4 gives less than that of order 5. */
static const double times[STAGES] = {0, 1.0 / 5, 3.0 / 10, 4.0 / 5, 8.0 / 9, 1, 1};
static const double weights[STAGES][STAGES] = {
    {0},
    {1.0 / 5},
    {3.0 / 40, 9.0 / 40},
    {44.0 / 45, -56.0 / 15, 32.0 / 9},
    {19372.0 / 6561, -25360.0 / 2187, 64448.0 / 6561, -212.0 / 729},
    {9017.0 / 3168, -355.0 / 33, 46732.0 / 5247, 49.0 / 176, -5103.0 / 18656},
    {35.0 / 384, 0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784, 11.0 / 84},
};
static const double error_weights[STAGES] = {71.0 / 57600,      0,          -71.0 / 16695, 71.0 / 1920,
                                             -17253.0 / 339200, 22.0 / 525, -1.0 / 40};

static const char *type_text(const lam_value *v, char text[TYPE_TEXT]) {
    lam__text t = {text, TYPE_TEXT, 0};
    lam__error_append_type(&t, (lam_dtype)v->dtype, v->rank, v->dims);
    return text;
}

/* f is a function of the user's, and may give another type in any call, so each is looked at. Failed slopes have been
 * recorded. */
lam_tensor *lam__ode_slope(lam_fn *f, lam_tensor *y, lam_tensor *t, size_t count, lam_tensor *const others[]) {
    lam_ctx *ctx = f->ctx;
    lam_tensor **in = lam__apply_room(ctx, count + 2);
    if (!in) return &ctx->failed;
    in[0] = y, in[1] = t;
    for (size_t k = 0; k < count; k++) in[k + 2] = others[k];
    lam_tensor *slope = lam_apply(f, (lam_list){count + 2, in});
    const lam_value *v = lam__scope_peek(slope), *want = lam__scope_peek(y);
    if (!v || !want || lam__value_same_type(v, want)) return slope;
    char got[TYPE_TEXT], expected[TYPE_TEXT];
    return lam__error_fail(ctx, v->dtype == want->dtype ? LAM_ERR_SHAPE : LAM_ERR_DTYPE,
                           "'%s' gives %s, expected %s, the type of y", f->name, type_text(v, got),
                           type_text(want, expected));
}

/* The norm of (4.11) in II.4: the root of the mean square of x, each element in units of what it may be wrong by. 1 is
 * as much as is allowed. */
lam_tensor *lam__ode_size(lam_tensor *x, lam_tensor *reach, double rtol, double atol) {
    lam_tensor *ratio = lam_div(x, lam_add(atol, lam_mul(rtol, reach)));
    const int64_t n = lam_size(x);
    return lam_sqrt(lam_div(lam_sum(lam_square(ratio), NULL), (double)(n ? n : 1)));
}

/* Slopes that do not count are no operations. The first one counts in every row, so there is a sum. */
static lam_tensor *weighted(const double w[], int count, lam_tensor *const k[]) {
    lam_tensor *sum = NULL;
    for (int j = 0; j < count; j++) {
        if (w[j] == 0) continue;
        lam_tensor *term = lam_mul(w[j], k[j]);
        sum = sum ? lam_add(sum, term) : term;
    }
    return sum;
}

/* All slopes of a step; gives y at its end. What is asked for at the end is asked for at that number. A slope that is
 * asked for at `until` has that very number, not one that rounding has moved beside it. */
static lam_tensor *stages(lam_fn *f, lam_tensor *const in[], lam_tensor *length, lam_tensor *k[STAGES]) {
    const size_t others = (size_t)f->inputs - 2;
    lam_tensor *y = in[LAM__ODE_Y];
    k[0] = in[LAM__ODE_SLOPE];
    for (int s = 1; s < STAGES; s++) {
        lam_tensor *t = in[LAM__ODE_UNTIL];
        y = lam_add(in[LAM__ODE_Y], lam_mul(length, weighted(weights[s], s, k)));
        if (times[s] < 1) t = lam_add(in[LAM__ODE_FROM], lam_mul(times[s], length));
        k[s] = lam__ode_slope(f, y, t, others, in + LAM__ODE_OTHERS);
    }
    return y;
}

/* Derivatives by both ends go through this. */
static lam_tensor *length_of(lam_tensor *const in[]) {
    return lam_sub(in[LAM__ODE_UNTIL], in[LAM__ODE_FROM]);
}

/* The error only chooses, so it has no derivative; it is saved for NOTE [rejected steps]. Gradients that are zero stay
 * NULL, and what is zero altogether runs nothing on the way back. */
static void step_forward(lam_fctx *fc, lam_tensor *const in[], lam_tensor *out[]) {
    const step_attrs *a = lam_fctx_attrs(fc);
    lam_tensor *k[STAGES], *length = length_of(in), *y = stages(a->f, in, length, k);
    out[LAM__ODE_END] = y, out[LAM__ODE_END_SLOPE] = k[LAST];
    lam_tensor *error = lam_mul(length, weighted(error_weights, STAGES, k));
    lam_tensor *reach = lam_max(lam_abs(in[LAM__ODE_Y]), lam_abs(y));
    out[LAM__ODE_ERROR] = lam__ode_size(error, reach, a->rtol, a->atol);
    if (!fc->derivative) return;
    const size_t n = (size_t)lam_fctx_inputs(fc);
    lam_tensor **list = lam__apply_room(fc->ctx, n + 1);
    for (size_t i = 0; list && i <= n; i++) list[i] = i < n ? in[i] : out[LAM__ODE_ERROR];
    if (list) lam_fctx_save_for_backward(fc, (lam_list){n + 1, list});
    lam_fctx_mark_non_differentiable(fc, LAM_LIST(out[LAM__ODE_ERROR]));
    lam_fctx_set_materialize_grads(fc, false);
}

/* ---- rules ------------------------------------------------------------------------------------------------------- */

/* What has derivatives, as a function of the inputs. */
static void body_step(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    const step_attrs *a = env;
    (void)ctx;
    lam_tensor *k[STAGES];
    out[LAM__ODE_END] = stages(a->f, in, length_of(in), k), out[LAM__ODE_END_SLOPE] = k[LAST];
}

/* The attributes live as long as the callback. f's name stands for it in messages of the rules. */
static lam_fn *step_fn(lam_fctx *fc) {
    const step_attrs *a = lam_fctx_attrs(fc);
    return lam_fn_new(fc->ctx, &(lam_fn_options){.name = lam_fn_name(a->f),
                                                 .body = body_step,
                                                 .inputs = lam_fctx_inputs(fc),
                                                 .outputs = LAM__ODE_ERROR,
                                                 .env = (void *)(uintptr_t)a});
}

/* The inputs, but for NOTE [rejected steps]. Chosen by lam_where, since in a batch some examples are rejected and
 * others are not. */
static lam_tensor **saved_inputs(lam_fctx *fc) {
    const int n = lam_fctx_inputs(fc);
    lam_tensor **list = lam__apply_room(fc->ctx, (size_t)n), *error = lam_fctx_saved(fc, n);
    for (int i = 0; list && i < n; i++) list[i] = lam_fctx_saved(fc, i);
    if (list) list[LAM__ODE_UNTIL] = lam_where(lam_le(error, 1.0), list[LAM__ODE_UNTIL], list[LAM__ODE_FROM]);
    return list;
}

/* Forward mode runs the step again beside its tangents; its values are thrown away, those of forward count. */
static void step_jvp(lam_fctx *fc, lam_tensor *const dx[], lam_tensor *dout[]) {
    const size_t n = (size_t)lam_fctx_inputs(fc);
    lam_tensor **in = saved_inputs(fc), *out[LAM__ODE_ERROR];
    if (in) lam_jvp(step_fn(fc), (lam_list){n, in}, (lam_list){n, dx}, out, dout, LAM__ODE_ERROR, NULL);
}

/* Only inputs whose gradient somebody wants are differentiated by. Where the cotangent of both results is zero there is
 * nothing to do. */
static void step_backward(lam_fctx *fc, lam_tensor *const g[], lam_tensor *gx[]) {
    const int n = lam_fctx_inputs(fc);
    int wanted = 0, *argnums = (int *)(void *)lam__apply_room(fc->ctx, (size_t)n);
    lam_tensor **in = saved_inputs(fc), **back = lam__apply_room(fc->ctx, (size_t)n), *out[LAM__ODE_ERROR];
    lam_fn *pullback;
    if (!in || !argnums || !back || (!g[LAM__ODE_END] && !g[LAM__ODE_END_SLOPE])) return;
    for (int i = 0; i < n; i++)
        if (lam_fctx_needs_input_grad(fc, i)) argnums[wanted++] = i;
    if (!wanted) return;
    lam_grad_options o = {.argnums = {wanted, argnums}};
    if (lam_vjp(step_fn(fc), (lam_list){(size_t)n, in}, out, LAM__ODE_ERROR, &pullback, &o) != LAM_OK) return;
    if (lam_call(pullback, (lam_list){LAM__ODE_ERROR, g}, back, (size_t)wanted) != LAM_OK) return;
    for (int i = 0; i < wanted; i++) gx[argnums[i]] = back[i];
}

/* The attributes go with the instance that has copied them. */
static void step_release(lam_ctx *ctx, void *attrs) {
    (void)ctx;
    lam__fn_release(((step_attrs *)attrs)->f);
}

static const lam_function function_step = {
    .name = "odeint",
    .inputs = LAM_VARIADIC,
    .outputs = LAM__ODE_OUTPUTS,
    .attrs_size = sizeof(step_attrs),
    .forward = step_forward,
    .backward = step_backward,
    .jvp = step_jvp,
};

/* y and t of f are four inputs of the step: y, its slope, and where the step begins and ends. */
lam__instance *lam__ode_step(lam_fn *f, double rtol, double atol) {
    step_attrs a = {lam__fn_retain(f), rtol, atol};
    return lam__custom_instance(f->ctx, &function_step, &a, step_release, f->inputs + LAM__ODE_OTHERS - 2,
                                LAM__ODE_OUTPUTS);
}
