/* Gradient clipping: the identity, whose cotangent is clipped on the way back.
 *
 * In JAX: custom_vjp on a function of lo, hi and x that returns x; its fwd keeps the bounds as residuals, and its bwd
 * returns None for the bounds, which means zero, and the clipped cotangent for x.
 * Here: lam_custom_vjp(f, fwd, bwd). fwd gives the outputs, then the residuals; bwd gets the residuals, then the
 * cotangents of the outputs, and gives one cotangent per input, zeros for the bounds. */
#include <lamina/lamina.h>

static void pass_x(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    (void)ctx, (void)env;
    out[0] = in[2];
}

static void pass_x_and_bounds(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    (void)ctx, (void)env;
    out[0] = in[2];
    out[1] = in[0];
    out[2] = in[1];
}

static void clip_cotangent(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    (void)ctx, (void)env;
    lam_tensor *lo = in[0], *hi = in[1], *g = in[2];
    out[0] = lam_zeros_like(lo);
    out[1] = lam_zeros_like(hi);
    out[2] = lam_clamp(g, lo, hi);
}

static void sine(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    (void)ctx, (void)env;
    out[0] = lam_sin(in[2]);
}

/* sin(clip(lo, hi, x)): the value is sin(x), the derivative by x is cos(x) clipped to [lo, hi]. */
static void clipped_sine(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    (void)ctx;
    out[0] = lam_sin(lam_apply(env, LAM_LIST(in[0], in[1], in[2])));
}

static lam_fn *fn(lam_ctx *ctx, const char *name, lam_body body, int outputs, void *env) {
    return lam_fn_new(ctx, &(lam_fn_options){.name = name, .body = body, .inputs = 3, .outputs = outputs, .env = env});
}

static void show(const char *what, lam_tensor *x) {
    printf("%-26s", what);
    lam_print(stdout, x);
}

int main(void) {
    lam_ctx *ctx = lam_ctx_new(NULL);
    lam_fn *clip = lam_custom_vjp(fn(ctx, "clip", pass_x, 1, NULL), fn(ctx, "clip fwd", pass_x_and_bounds, 3, NULL),
                                  fn(ctx, "clip bwd", clip_cotangent, 3, NULL), NULL);
    lam_fn *plain = fn(ctx, "sine", sine, 1, NULL), *clipped = fn(ctx, "clipped sine", clipped_sine, 1, clip);
    lam_grad_options by_x = {.argnums = LAM_AXES(2)}, by_bounds = {.argnums = LAM_AXES(0, 1)};
    lam_vmap_options over_x = {.in_axes = LAM_AXES(LAM_UNMAPPED, LAM_UNMAPPED, 0)};
    lam_tensor *lo = lam_scalar(ctx, -0.75), *hi = lam_scalar(ctx, 0.75), *g[2];
    lam_tensor *x = lam_linspace(ctx, LAM_F64, 0, 4, 5);
    lam_list in = LAM_LIST(lo, hi, x);

    show("derivative of sin(x)", lam_apply(lam_vmap(lam_grad(plain, &by_x), &over_x), in));
    show("clipped", lam_apply(lam_vmap(lam_grad(clipped, &by_x), &over_x), in));
    lam_call(lam_grad(clipped, &by_bounds), LAM_LIST(lo, hi, lam_scalar(ctx, 3)), g, 2);
    show("derivative by the bounds", g[0]), show("", g[1]);

    int failed = lam_status_of(ctx) != LAM_OK;
    if (failed) fprintf(stderr, "%s\n", lam_error(ctx));
    lam_ctx_free(ctx);
    return failed;
}
