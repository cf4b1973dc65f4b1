/* What a function sees while transforms run it: boxes, and the stack of levels they belong to.
 *
 * Each transform pushes a level and runs the body once, with its inputs boxed at that level. An operation on a box
 * is done by the interpreter of the box's level, which calls the operation again one level below. lam_print shows a
 * box from the outside in; lam_print_levels shows the chain of open levels, innermost first. The last part does
 * what cannot work, to show the message: a box outlives its level. */
#include <lamina/lamina.h>

static void cube(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    lam_tensor *square = lam_mul(in[0], in[0]);
    printf("levels: ");
    lam_print_levels(stdout, ctx);
    printf("x is ");
    lam_print(stdout, in[0]);
    printf("x * x is ");
    lam_print(stdout, square);
    putchar('\n');
    if (env) *(lam_tensor **)env = lam_hold(square); /* wrong: its level ends when the transform is done */
    out[0] = lam_mul(square, in[0]);
}

static lam_fn *cube_fn(lam_ctx *ctx, lam_tensor **leak) {
    return lam_fn_new(ctx, &(lam_fn_options){.name = "cube", .body = cube, .inputs = 1, .outputs = 1, .env = leak});
}

int main(void) {
    lam_ctx *ctx = lam_ctx_new(NULL);
    lam_tensor *x = lam_scalar(ctx, 2), *xs = lam_arange(ctx, LAM_F64, 1, 4, 1), *leak = NULL, *out[2];
    lam_fn *f = cube_fn(ctx, NULL);

    puts("---- called as it is ----");
    lam_apply(f, LAM_LIST(x));
    puts("---- grad: a tape records ----");
    lam_apply(lam_grad(f, NULL), LAM_LIST(x));
    puts("---- the derivative of grad: a tape within forward mode ----");
    lam_call(lam_jvp_fn(lam_grad(f, NULL), NULL), LAM_LIST(x, lam_scalar(ctx, 1)), out, 2);
    printf("second derivative: ");
    lam_print(stdout, out[1]);
    putchar('\n');
    puts("---- grad of each element of a batch ----");
    lam_fn *each = lam_vmap(lam_grad(f, NULL), &(lam_vmap_options){.axis_name = "batch"});
    lam_tensor *gradients = lam_apply(each, LAM_LIST(xs));
    printf("gradients: ");
    lam_print(stdout, gradients);

    puts("\n---- a box that escaped ----");
    lam_apply(lam_grad(cube_fn(ctx, &leak), NULL), LAM_LIST(x));
    printf("it is now ");
    lam_print(stdout, leak);
    printf("and using it gives a ");
    lam_print(stdout, lam_add(leak, 1.0));
    printf("%s: %s\n", lam_status_name(lam_status_of(ctx)), lam_error(ctx));
    lam_release(leak);
    lam_clear_error(ctx); /* expected: the context is as good as new */
    printf("afterwards: ");
    lam_print(stdout, lam_mul(x, 3.0));
    int failed = lam_status_of(ctx) != LAM_OK;
    lam_ctx_free(ctx);
    return failed;
}
