/* The first program: a function, its gradient, its Hessian, and its gradient at many points at once.
 *
 * Transforms take functions and give functions, so they nest in any order: lam_vmap(lam_grad(f)) is the gradient over a
 * batch. No operation needs a check of its own: a failed one gives a failed tensor, which every other operation passes
 * on, and one look at the context at the end tells all. */
#include <lamina/lamina.h>

/* The Rosenbrock function, sum of 100 (b - a^2)^2 + (1 - a)^2 over neighbours a, b; its minimum is at (1, ..., 1). */
static void rosenbrock(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    (void)ctx, (void)env;
    lam_tensor *a = lam_slice_axis(in[0], 0, 0, -1), *b = lam_slice_axis(in[0], 0, 1, LAM_END);
    lam_tensor *valley = lam_mul(100.0, lam_square(lam_sub(b, lam_square(a))));
    out[0] = lam_sum(lam_add(valley, lam_square(lam_sub(1.0, a))), NULL);
}

int main(void) {
    lam_ctx *ctx = lam_ctx_new(NULL);
    lam_fn *f = lam_fn_new(ctx, &(lam_fn_options){.name = "rosenbrock", .body = rosenbrock, .inputs = 1, .outputs = 1});
    lam_tensor *x = lam_array(ctx, LAM_F64, LAM_DIMS(4), (double[]){-1.2, 1, 0.5, 2});

    printf("value: ");
    lam_print(stdout, lam_apply(f, LAM_LIST(x)));
    printf("gradient: ");
    lam_print(stdout, lam_apply(lam_grad(f, NULL), LAM_LIST(x)));
    printf("Hessian: ");
    lam_print(stdout, lam_apply(lam_hessian(f, NULL), LAM_LIST(x)));

    /* Three points, one per row. The last one is the minimum. */
    lam_tensor *points = lam_array(ctx, LAM_F64, LAM_DIMS(3, 4), (double[]){-1.2, 1, 0.5, 2, 0, 0, 0, 0, 1, 1, 1, 1});
    printf("gradient of each row: ");
    lam_print(stdout, lam_apply(lam_vmap(lam_grad(f, NULL), NULL), LAM_LIST(points)));

    int failed = lam_status_of(ctx) != LAM_OK;
    if (failed) fprintf(stderr, "%s\n", lam_error(ctx));
    lam_ctx_free(ctx); /* frees all that is still alive */
    return failed;
}
