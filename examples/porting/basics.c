/* The two kinds of rule on f(x, y) = sin(x) y, and which function runs when.
 *
 * In JAX: custom_jvp with defjvp (one rule for all tangents) or defjvps (one function per argument, None where there
 * is no dependence), custom_vjp with defvjp(fwd, bwd). A rule is ordinary Python, so prints and branches in it run
 * when it is called.
 * Here: lam_custom_jvp, lam_custom_jvps (NULL where there is no dependence), lam_custom_vjp. Rules are functions, so
 * they may print and branch too; each says below when it runs. */
#include <lamina/lamina.h>

static void f_body(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    (void)ctx, (void)env;
    puts("  f runs");
    out[0] = lam_mul(lam_sin(in[0]), in[1]);
}

/* x, y, dx, dy -> f, df. */
static void jvp_body(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    lam_tensor *x = in[0], *y = in[1], *dx = in[2], *dy = in[3];
    (void)ctx, (void)env;
    puts("  the jvp rule runs");
    out[0] = lam_mul(lam_sin(x), y);
    out[1] = lam_add(lam_mul(lam_mul(lam_cos(x), dx), y), lam_mul(lam_sin(x), dy));
}

/* dx, f, x, y -> df for dx alone; dy, f, x, y -> df for dy alone. */
static void by_x(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    (void)ctx, (void)env;
    puts("  the rule for x runs");
    out[0] = lam_mul(lam_mul(lam_cos(in[2]), in[0]), in[3]);
}

static void by_y(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    (void)ctx, (void)env;
    puts("  the rule for y runs");
    out[0] = lam_mul(lam_sin(in[2]), in[0]);
}

/* x, y -> f, then what bwd needs. */
static void fwd_body(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    (void)ctx, (void)env;
    puts("  fwd runs");
    out[1] = lam_cos(in[0]);
    out[2] = lam_sin(in[0]);
    out[3] = in[1];
    out[0] = lam_mul(out[2], in[1]);
}

/* cos(x), sin(x), y, g -> cotangents of x and y. */
static void bwd_body(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    (void)ctx, (void)env;
    puts("  bwd runs");
    out[0] = lam_mul(lam_mul(in[0], in[3]), in[2]);
    out[1] = lam_mul(in[1], in[3]);
}

static lam_fn *fn(lam_ctx *ctx, const char *name, lam_body body, int inputs, int outputs) {
    return lam_fn_new(ctx, &(lam_fn_options){.name = name, .body = body, .inputs = inputs, .outputs = outputs});
}

static void use(lam_ctx *ctx, const char *what, lam_fn *f) {
    lam_tensor *x = lam_scalar(ctx, 2), *y = lam_scalar(ctx, 3), *g[2], *value, *tangent;
    lam_grad_options both = {.argnums = LAM_AXES(0, 1)};
    printf("---- %s ----\nvalue\n", what);
    lam_print(stdout, lam_apply(f, LAM_LIST(x, y))); /* 3 sin(2) */
    puts("reverse mode");
    lam_call(lam_grad(f, &both), LAM_LIST(x, y), g, 2);
    lam_print(stdout, g[0]), lam_print(stdout, g[1]); /* 3 cos(2), sin(2) */
    puts("forward mode along x alone");
    lam_jvp(f, LAM_LIST(x, y), LAM_LIST(lam_scalar(ctx, 1), NULL), &value, &tangent, 1, NULL);
    lam_print(stdout, tangent);
}

int main(void) {
    lam_ctx *ctx = lam_ctx_new(NULL);
    lam_fn *f = fn(ctx, "f", f_body, 2, 1), *rules[] = {fn(ctx, "by x", by_x, 4, 1), fn(ctx, "by y", by_y, 4, 1)};
    use(ctx, "custom_jvp", lam_custom_jvp(f, fn(ctx, "jvp", jvp_body, 4, 2), NULL));
    use(ctx, "custom_jvps", lam_custom_jvps(f, rules, 2, NULL));
    use(ctx, "custom_vjp", lam_custom_vjp(f, fn(ctx, "fwd", fwd_body, 2, 4), fn(ctx, "bwd", bwd_body, 4, 2), NULL));

    int failed = lam_status_of(ctx) != LAM_OK;
    if (failed) fprintf(stderr, "%s\n", lam_error(ctx));
    lam_ctx_free(ctx);
    return failed;
}
