/* Numerical stability: log(1 + exp(x)) and its derivative at large x.
 *
 * In JAX: the function is decorated with custom_jvp, and a rule that gives primal and tangent is attached by defjvp;
 * the rule writes the derivative as 1 - 1 / (1 + exp(x)), which does not divide infinity by infinity.
 * Here: lam_custom_jvp(f, rule) gives a function that is f with that rule. The rule gets the inputs, then their
 * tangents, and gives the outputs, then their tangents. As in JAX, where a derivative is wanted both come from the
 * rule, and f does not run. Reverse mode transposes it.
 * Exact: f'(x) = 1 / (1 + exp(-x)), f''(x) = f'(x) (1 - f'(x)). */
#include <lamina/lamina.h>

static void log1pexp(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    (void)ctx, (void)env;
    out[0] = lam_log(lam_add(1.0, lam_exp(in[0])));
}

static void rule(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    (void)ctx, (void)env;
    lam_tensor *x = in[0], *dx = in[1];
    out[0] = lam_log(lam_add(1.0, lam_exp(x)));
    out[1] = lam_mul(lam_sub(1.0, lam_div(1.0, lam_add(1.0, lam_exp(x)))), dx);
}

static void show(const char *what, lam_tensor *x) {
    printf("%-26s", what);
    lam_print(stdout, x);
}

int main(void) {
    lam_ctx *ctx = lam_ctx_new(NULL);
    lam_fn *plain = lam_fn_new(ctx, &(lam_fn_options){.name = "log1pexp", .body = log1pexp, .inputs = 1, .outputs = 1});
    lam_fn *by_rule = lam_fn_new(ctx, &(lam_fn_options){.name = "rule", .body = rule, .inputs = 2, .outputs = 2});
    lam_fn *stable = lam_custom_jvp(plain, by_rule, NULL), *slope = lam_grad(stable, NULL);
    lam_tensor *x = lam_array(ctx, LAM_F64, LAM_DIMS(3), (double[]){-2, 3, 1000});

    show("plain", lam_apply(lam_vmap(plain, NULL), LAM_LIST(x)));
    show("plain, derivative", lam_apply(lam_vmap(lam_grad(plain, NULL), NULL), LAM_LIST(x)));
    show("stable, derivative", lam_apply(lam_vmap(slope, NULL), LAM_LIST(x)));
    show("stable, second derivative",
         lam_apply(lam_vmap(lam_grad(slope, NULL), NULL), LAM_LIST(lam_slice_axis(x, 0, 0, 2))));

    int failed = lam_status_of(ctx) != LAM_OK;
    if (failed) fprintf(stderr, "%s\n", lam_error(ctx));
    lam_ctx_free(ctx);
    return failed;
}
