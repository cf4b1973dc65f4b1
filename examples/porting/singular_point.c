/* A convention at a singular point: f(x) = x / (1 + sqrt(x)) on x >= 0. At 0 its derivative from the right is 1, but
 * the derivatives of its operations are infinite there and give NaN.
 *
 * In JAX: custom_jvp with a rule that writes the derivative in one formula, (sqrt(x) + 2) / (2 (sqrt(x) + 1)^2).
 * Here: lam_custom_jvps takes one rule per input. It gets the tangent of that input, then the outputs, then the
 * inputs, and gives the tangents of the outputs. */
#include <lamina/lamina.h>

static void f_body(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    (void)ctx, (void)env;
    out[0] = lam_div(in[0], lam_add(1.0, lam_sqrt(in[0])));
}

static void by_x(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    (void)ctx, (void)env;
    lam_tensor *dx = in[0], *root = lam_sqrt(in[2]); /* in[1] is f(x) */
    lam_tensor *slope = lam_div(lam_add(root, 2.0), lam_mul(2.0, lam_square(lam_add(root, 1.0))));
    out[0] = lam_mul(slope, dx);
}

static void show(const char *what, lam_tensor *x) {
    printf("%-24s", what);
    lam_print(stdout, x);
}

int main(void) {
    lam_ctx *ctx = lam_ctx_new(NULL);
    lam_fn *plain = lam_fn_new(ctx, &(lam_fn_options){.name = "f", .body = f_body, .inputs = 1, .outputs = 1});
    lam_fn *rules[] = {lam_fn_new(ctx, &(lam_fn_options){.name = "by_x", .body = by_x, .inputs = 3, .outputs = 1})};
    lam_fn *f = lam_custom_jvps(plain, rules, 1, NULL);
    lam_tensor *x = lam_array(ctx, LAM_F64, LAM_DIMS(3), (double[]){0, 1, 4}), *value, *tangent;

    show("plain", lam_apply(lam_vmap(lam_grad(plain, NULL), NULL), LAM_LIST(x)));
    show("with the rule", lam_apply(lam_vmap(lam_grad(f, NULL), NULL), LAM_LIST(x))); /* 1, 3/8, 2/9 */
    lam_jvp(f, LAM_LIST(lam_scalar(ctx, 0)), LAM_LIST(lam_scalar(ctx, 1)), &value, &tangent, 1, NULL);
    show("forward mode at 0", tangent);
    show("second derivative at 4", lam_apply(lam_hessian(f, NULL), LAM_LIST(lam_scalar(ctx, 4)))); /* -5/216 */

    int failed = lam_status_of(ctx) != LAM_OK;
    if (failed) fprintf(stderr, "%s\n", lam_error(ctx));
    lam_ctx_free(ctx);
    return failed;
}
