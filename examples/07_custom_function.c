/* A custom Function: the values come from foreign C code that reads raw numbers, the derivative from a rule of our own.
 * It is then an operation like any other: grad, jvp and vmap apply to it, nested in any order. The function is
 * log(1 + exp(x)), which must not overflow; its derivative is logistic(x). */
#include <lamina/lamina.h>

#include <math.h>

static double foreign(double x) {
    return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x));
}

/* Sees plain values at every level, so numbers may be read. */
static void forward(lam_fctx *fc, lam_tensor *const in[], lam_tensor *out[]) {
    out[0] = lam_scalar(lam_fctx_ctx(fc), foreign(lam_item(in[0])));
}

static void setup_context(lam_fctx *fc, lam_tensor *const in[], lam_tensor *const out[]) {
    (void)out;
    lam_fctx_save_for_backward(fc, LAM_LIST(in[0]));
}

/* Made of operations, so it can be differentiated again, and forward mode is its transpose. */
static void backward(lam_fctx *fc, lam_tensor *const g[], lam_tensor *gx[]) {
    gx[0] = lam_mul(g[0], lam_logistic(lam_fctx_saved(fc, 0)));
}

int main(void) {
    static const lam_function softplus = {.name = "softplus",
                                          .inputs = 1,
                                          .outputs = 1,
                                          .forward = forward,
                                          .setup_context = setup_context,
                                          .backward = backward,
                                          .vmap_by_loop = true};
    lam_ctx *ctx = lam_ctx_new(NULL);
    lam_fn *f = lam_function_fn(ctx, &softplus, NULL, 1, 1);
    lam_tensor *x = lam_scalar(ctx, 0.5), *batch = lam_array(ctx, LAM_F64, LAM_DIMS(3), (double[]){-1000, 0.5, 1000});
    lam_tensor *value, *tangent;

    lam_print(stdout, lam_apply(f, LAM_LIST(x)));
    lam_print(stdout, lam_apply(lam_grad(f, NULL), LAM_LIST(x)));
    lam_print(stdout, lam_apply(lam_grad(lam_grad(f, NULL), NULL), LAM_LIST(x)));
    lam_print(stdout, lam_apply(lam_vmap(lam_grad(f, NULL), NULL), LAM_LIST(batch)));
    lam_jvp(f, LAM_LIST(x), LAM_LIST(lam_scalar(ctx, 2)), &value, &tangent, 1, NULL);
    lam_print(stdout, tangent);

    if (lam_status_of(ctx)) fprintf(stderr, "%s\n", lam_error(ctx));
    int failed = lam_status_of(ctx) != LAM_OK;
    lam_ctx_free(ctx);
    return failed;
}
