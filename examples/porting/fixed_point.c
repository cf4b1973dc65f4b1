/* Implicit derivatives by hand: the fixed point x = step(parameters, x), found by iterating, whose derivative does not
 * go through the iterations. With x as a function of the parameters p, dx = d_p step dp + d_x step dx, so the
 * cotangent of p is w d_p step, where w = g + w d_x step is again a fixed point.
 *
 * In JAX: custom_vjp with the step as a non-differentiable argument; bwd calls the fixed-point solver again on the
 * transposed step, closed over the solution and the incoming cotangent.
 * Here: the same three functions. What a closure holds there is a parameter here: the reverse step gets the
 * parameters, the solution and the cotangent as parameters of its own, and that is all it takes to be differentiated
 * again.
 *
 * The example is sqrt(a) by Newton's step (x + a / x) / 2, and its derivatives 1 / (2 sqrt(a)), -1 / (4 a sqrt(a)). */
#include <lamina/lamina.h>

enum { STEPS = 60, MOST = 12 }; /* MOST parameters: each order of derivative adds two to those of the step */

static lam_tensor *fixed_point(lam_ctx *ctx, lam_fn *step, lam_list parameters, lam_tensor *x0);

/* Inputs: parameters, then x0. A given number of steps, since inside vmap there is no single number to test. */
static void iterate(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    lam_fn *step = env;
    int n = lam_fn_inputs(step) - 1;
    lam_tensor *args[MOST];
    (void)ctx;
    for (int k = 0; k <= n; k++) args[k] = in[k];
    for (int i = 0; i < STEPS; i++) args[n] = lam_apply(step, (lam_list){(size_t)n + 1, args});
    out[0] = args[n];
}

/* Outputs: the solution, then the residuals: parameters and solution. */
static void iterate_fwd(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    int n = lam_fn_inputs(env) - 1;
    out[0] = fixed_point(ctx, env, (lam_list){(size_t)n, in}, in[n]);
    for (int k = 0; k < n; k++) out[1 + k] = in[k];
    out[1 + n] = out[0];
}

/* Parameters, solution, g, w -> g + w d_x step. */
static void reverse_step(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    int n = lam_fn_inputs(env) - 1;
    lam_tensor *value, *g = in[n + 1], *w = in[n + 2];
    lam_fn *pullback;
    (void)ctx;
    lam_grad_options by_x = {.argnums = LAM_AXES(-1)};
    lam_vjp(env, (lam_list){(size_t)n + 1, in}, &value, 1, &pullback, &by_x);
    out[0] = lam_add(g, lam_apply(pullback, LAM_LIST(w)));
}

static void release_fn(void *f) {
    lam_fn_release(f);
}

/* A function that needs `step`, and keeps it alive. */
static lam_fn *with_step(lam_ctx *ctx, const char *name, lam_body body, int inputs, int outputs, lam_fn *step) {
    return lam_fn_new(ctx, &(lam_fn_options){.name = name,
                                             .body = body,
                                             .inputs = inputs,
                                             .outputs = outputs,
                                             .env = lam_fn_hold(step),
                                             .env_free = release_fn});
}

/* Parameters, solution, g -> cotangents of the parameters and of x0, on which the solution does not depend. */
static void iterate_bwd(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    int n = lam_fn_inputs(env) - 1;
    lam_tensor *value, *g = in[n + 1];
    lam_fn *reverse = with_step(ctx, "reverse step", reverse_step, n + 3, 1, env), *pullback;
    lam_tensor *w = fixed_point(ctx, reverse, (lam_list){(size_t)n + 2, in}, g);
    lam_grad_options by_parameters = {.argnums = LAM_AXES(LAM_RANGE(0, n))};
    lam_vjp(env, (lam_list){(size_t)n + 1, in}, &value, 1, &pullback, &by_parameters);
    lam_call(pullback, LAM_LIST(w), out, (size_t)n);
    out[n] = lam_zeros_like(in[n]);
}

static lam_tensor *fixed_point(lam_ctx *ctx, lam_fn *step, lam_list parameters, lam_tensor *x0) {
    int n = (int)parameters.count;
    lam_tensor *in[MOST];
    for (int k = 0; k < n; k++) in[k] = parameters.items[k];
    in[n] = x0;
    lam_fn *solve = lam_custom_vjp(with_step(ctx, "fixed point", iterate, n + 1, 1, step),
                                   with_step(ctx, "fixed point fwd", iterate_fwd, n + 1, n + 2, step),
                                   with_step(ctx, "fixed point bwd", iterate_bwd, n + 2, n + 1, step), NULL);
    return lam_apply(solve, (lam_list){(size_t)n + 1, in});
}

/* ---- the example ---- */

static void newton_step(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    lam_tensor *a = in[0], *x = in[1];
    (void)ctx, (void)env;
    out[0] = lam_mul(0.5, lam_add(x, lam_div(a, x)));
}

static void newton_sqrt(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    out[0] = fixed_point(ctx, env, LAM_LIST(in[0]), lam_ones_like(in[0]));
}

static void show(const char *what, lam_tensor *x) {
    printf("%-26s", what);
    lam_print(stdout, x);
}

int main(void) {
    lam_ctx *ctx = lam_ctx_new(NULL);
    lam_fn *step = lam_fn_new(ctx, &(lam_fn_options){.name = "step", .body = newton_step, .inputs = 2, .outputs = 1});
    lam_fn *root = with_step(ctx, "newton_sqrt", newton_sqrt, 1, 1, step);
    lam_fn *slope = lam_grad(root, NULL), *curvature = lam_grad(slope, NULL);
    lam_tensor *two = lam_scalar(ctx, 2), *batch = lam_array(ctx, LAM_F64, LAM_DIMS(3), (double[]){1, 2, 4});

    show("sqrt(2)", lam_apply(root, LAM_LIST(two)));
    show("derivative", lam_apply(slope, LAM_LIST(two)));
    show("second derivative", lam_apply(curvature, LAM_LIST(two)));
    show("forward mode", lam_apply(lam_jacfwd(root, NULL), LAM_LIST(two)));
    show("hessian", lam_apply(lam_hessian(root, NULL), LAM_LIST(two)));
    show("vmap", lam_apply(lam_vmap(root, NULL), LAM_LIST(batch)));
    show("vmap, derivative", lam_apply(lam_vmap(slope, NULL), LAM_LIST(batch)));
    show("vmap, second derivative", lam_apply(lam_vmap(curvature, NULL), LAM_LIST(batch)));

    int failed = lam_status_of(ctx) != LAM_OK;
    if (failed) fprintf(stderr, "%s\n", lam_error(ctx));
    lam_ctx_free(ctx);
    return failed;
}
