/* Arguments that are not differentiated: a function to be applied, an integer, a plain number.
 *
 * In JAX: nondiff_argnums of custom_jvp and custom_vjp says which arguments are Python values; bwd gets them first,
 * then the residuals, then the cotangents.
 * Here: what is no tensor is in env, as for every C callback: the function below. What is a tensor, an integer here,
 * is named in `nondiff`; bwd gets it first, too, and a derivative by it is refused. */
#include <lamina/lamina.h>

static lam_fn *fn(lam_ctx *ctx, const char *name, lam_body body, int inputs, int outputs, void *env) {
    lam_fn_options options = {.name = name, .body = body, .inputs = inputs, .outputs = outputs, .env = env};
    return lam_fn_new(ctx, &options);
}

/* ---- a function as an argument: app(f)(x) = f(x), with 5 g as its cotangent so that the rule can be seen ---- */

static void app(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    (void)ctx;
    out[0] = lam_apply(env, LAM_LIST(in[0]));
}

static void five_times(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    (void)ctx, (void)env;
    out[0] = lam_mul(5.0, in[0]);
}

static lam_fn *app_of(lam_ctx *ctx, lam_fn *f) {
    return lam_custom_vjp(fn(ctx, "app", app, 1, 1, f), fn(ctx, "app fwd", app, 1, 1, f),
                          fn(ctx, "app bwd", five_times, 1, 1, NULL), NULL);
}

static void cube(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    (void)ctx, (void)env;
    out[0] = lam_integer_pow(in[0], 3);
}

/* ---- an integer tensor as an argument: x^n ---- */

static void power(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    (void)ctx, (void)env;
    out[0] = lam_pow(in[1], lam_cast(in[0], LAM_F64));
}

static void power_fwd(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    power(ctx, in, out, env);
    out[1] = in[1];
}

/* n (first, as it is not differentiated), x (the residual), g. */
static void power_bwd(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    lam_tensor *n = lam_cast(in[0], LAM_F64), *x = in[1], *g = in[2];
    (void)ctx, (void)env;
    out[0] = lam_mul(lam_mul(n, lam_pow(x, lam_sub(n, 1.0))), g);
}

static void show(const char *what, lam_tensor *x) {
    printf("%-26s", what);
    lam_print(stdout, x);
}

int main(void) {
    lam_ctx *ctx = lam_ctx_new(NULL);
    lam_tensor *x = lam_scalar(ctx, 2), *n = lam_array(ctx, LAM_I64, LAM_DIMS0, (int64_t[]){4});
    lam_fn *f = app_of(ctx, fn(ctx, "cube", cube, 1, 1, NULL));
    show("app(cube)(2)", lam_apply(f, LAM_LIST(x)));
    show("its derivative", lam_apply(lam_grad(f, NULL), LAM_LIST(x)));

    lam_custom_options options = {.nondiff = LAM_AXES(0)};
    lam_fn *g = lam_custom_vjp(fn(ctx, "power", power, 2, 1, NULL), fn(ctx, "power fwd", power_fwd, 2, 2, NULL),
                               fn(ctx, "power bwd", power_bwd, 3, 1, NULL), &options);
    lam_grad_options by_x = {.argnums = LAM_AXES(1)};
    lam_fn *slope = lam_grad(g, &by_x);
    show("2^4", lam_apply(g, LAM_LIST(n, x)));
    show("4 2^3", lam_apply(slope, LAM_LIST(n, x)));
    show("12 2^2", lam_apply(lam_grad(slope, &by_x), LAM_LIST(n, x)));
    lam_tensor *powers = lam_arange(ctx, LAM_I64, 1, 5, 1);
    lam_vmap_options over_n = {.in_axes = LAM_AXES(0, LAM_UNMAPPED)};
    show("n 2^(n - 1), n to 4", lam_apply(lam_vmap(slope, &over_n), LAM_LIST(powers, x)));

    int failed = lam_status_of(ctx) != LAM_OK;
    if (failed) fprintf(stderr, "%s\n", lam_error(ctx));
    lam_apply(lam_grad(g, NULL), LAM_LIST(lam_scalar(ctx, 4), x)); /* by n: refused */
    printf("%s: %s\n", lam_status_name(lam_status_of(ctx)), lam_error(ctx));
    lam_ctx_free(ctx);
    return failed;
}
