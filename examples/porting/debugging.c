/* Looking at a cotangent on its way back, and changing it.
 *
 * In JAX: the identity with a custom_vjp whose bwd prints its cotangent, or stops in the debugger. In PyTorch:
 * tensor.register_hook(callback), which may return another gradient; the handle removes it.
 * Here: lam_on_gradient(x, callback, &hook) gives x as a new tensor; the callback, a function of one tensor, gets the
 * cotangent that passes it and gives what goes on. lam_hook_remove makes it the identity, in existing pullbacks too. */
#include <lamina/lamina.h>

static void print_and_halve(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    (void)ctx, (void)env;
    printf("  passing: ");
    lam_print(stdout, in[0]);
    out[0] = lam_mul(0.5, in[0]);
}

typedef struct watch {
    lam_fn *callback;
    lam_hook *hook;
} watch;

/* sin(x)^2, with the hook at sin(x). The hook lives as long as the pullback that may still call it. */
static void f_body(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    watch *w = env;
    (void)ctx;
    out[0] = lam_square(lam_on_gradient(lam_sin(in[0]), w->callback, &w->hook));
}

int main(void) {
    lam_ctx *ctx = lam_ctx_new(NULL);
    lam_fn_options options = {.name = "print_and_halve", .body = print_and_halve, .inputs = 1, .outputs = 1};
    watch w = {lam_fn_new(ctx, &options), NULL};
    lam_fn *f = lam_fn_new(ctx, &(lam_fn_options){.name = "f", .body = f_body, .inputs = 1, .outputs = 1, .env = &w});
    lam_tensor *x = lam_scalar(ctx, 1), *batch = lam_arange(ctx, LAM_F64, 1, 4, 1), *y;
    lam_fn *pullback;

    puts("gradient: 2 sin(1) passes, half of it goes on to cos(1)");
    lam_print(stdout, lam_apply(lam_grad(f, NULL), LAM_LIST(x)));
    puts("of a batch: what passes is a value of the batch");
    lam_print(stdout, lam_apply(lam_vmap(lam_grad(f, NULL), NULL), LAM_LIST(batch)));
    puts("a pullback, and once more after the hook is removed: 2 sin(1) cos(1)");
    lam_vjp(f, LAM_LIST(x), &y, 1, &pullback, NULL);
    lam_print(stdout, lam_apply(pullback, LAM_LIST(lam_scalar(ctx, 1))));
    lam_hook_remove(w.hook);
    lam_print(stdout, lam_apply(pullback, LAM_LIST(lam_scalar(ctx, 1))));

    int failed = lam_status_of(ctx) != LAM_OK;
    if (failed) fprintf(stderr, "%s\n", lam_error(ctx));
    lam_ctx_free(ctx);
    return failed;
}
