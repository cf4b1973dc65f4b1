/* Enforcing a convention on a sum of inputs, and looking only at what is there. The distance |x + y| has no derivative
 * where the sum is 0; the convention enforced here is 1, as seen from above. The rule needs the tangents of x and y
 * only as their sum, and where one of them is absent there is nothing to add.
 *
 * In JAX: custom_jvp or custom_vjp with symbolic_zeros=True; absent tangents and cotangents come as a zero object that
 * a rule tests for.
 * Here: .symbolic_zeros, and they come as NULL. Without it they come as zeros, and a rule need not care. */
#include <lamina/lamina.h>

static void distance(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    (void)ctx, (void)env;
    out[0] = lam_abs(lam_add(in[0], in[1]));
}

static lam_tensor *sign_from_above(lam_tensor *sum) {
    return lam_where(lam_ge(sum, 0.0), lam_ones_like(sum), lam_neg(lam_ones_like(sum)));
}

static lam_tensor *sum_of_present(lam_tensor *x, lam_tensor *y) {
    return x && y ? lam_add(x, y) : x ? x : y;
}

static const char *presence(const lam_tensor *x) {
    return x ? "given" : "absent";
}

/* ---- forward rule: x, y, dx, dy -> f, df; at least one tangent is there, otherwise it is not called ---- */

static void rule(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    lam_tensor *sum = lam_add(in[0], in[1]);
    (void)ctx, (void)env;
    printf("  rule: dx %s, dy %s\n", presence(in[2]), presence(in[3]));
    out[0] = lam_abs(sum);
    out[1] = lam_mul(sign_from_above(sum), sum_of_present(in[2], in[3]));
}

/* ---- reverse rule for a function of two outputs: the sum and the distance ---- */

static void both(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    (void)ctx, (void)env;
    out[0] = lam_add(in[0], in[1]);
    out[1] = lam_abs(out[0]);
}

static void both_fwd(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    both(ctx, in, out, env);
    out[2] = out[0];
}

/* sum (the residual), cotangents of both outputs -> cotangents of x and y, which are the same. */
static void both_bwd(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    (void)ctx, (void)env;
    printf("  bwd: of the sum %s, of the distance %s\n", presence(in[1]), presence(in[2]));
    lam_tensor *of_distance = in[2] ? lam_mul(sign_from_above(in[0]), in[2]) : NULL;
    out[0] = out[1] = sum_of_present(in[1], of_distance);
}

static lam_fn *fn(lam_ctx *ctx, const char *name, lam_body body, int inputs, int outputs) {
    return lam_fn_new(ctx, &(lam_fn_options){.name = name, .body = body, .inputs = inputs, .outputs = outputs});
}

int main(void) {
    lam_ctx *ctx = lam_ctx_new(NULL);
    lam_tensor *x = lam_scalar(ctx, 2), *y = lam_scalar(ctx, -2), *one = lam_scalar(ctx, 1), *value, *tangent;
    lam_custom_options options = {.symbolic_zeros = true};

    lam_fn *plain = fn(ctx, "distance", distance, 2, 1);
    lam_fn *f = lam_custom_jvp(plain, fn(ctx, "rule", rule, 4, 2), &options);
    puts("derivative of |x + y| by x at (2, -2), plain and by the convention");
    lam_print(stdout, lam_apply(lam_grad(plain, NULL), LAM_LIST(x, y)));
    lam_print(stdout, lam_apply(lam_grad(f, NULL), LAM_LIST(x, y)));
    puts("forward mode along y, and along both");
    lam_jvp(f, LAM_LIST(x, y), LAM_LIST(NULL, one), &value, &tangent, 1, NULL);
    lam_print(stdout, tangent);
    lam_jvp(f, LAM_LIST(x, y), LAM_LIST(one, one), &value, &tangent, 1, NULL);
    lam_print(stdout, tangent);

    lam_tensor *out[2], *g[2];
    lam_fn *pullback;
    lam_fn *h = lam_custom_vjp(fn(ctx, "both", both, 2, 2), fn(ctx, "both fwd", both_fwd, 2, 3),
                               fn(ctx, "both bwd", both_bwd, 3, 2), &options);
    puts("sum and distance, pulled back from one and from both");
    lam_vjp(h, LAM_LIST(x, y), out, 2, &pullback, NULL);
    lam_call(pullback, LAM_LIST(NULL, one), g, 2);
    lam_print(stdout, g[0]);
    lam_call(pullback, LAM_LIST(one, one), g, 2);
    lam_print(stdout, g[0]);

    int failed = lam_status_of(ctx) != LAM_OK;
    if (failed) fprintf(stderr, "%s\n", lam_error(ctx));
    lam_ctx_free(ctx);
    return failed;
}
