/* Trees in and out of a Function, with holes: what NestedIOFunction is in PyTorch.
 *
 * In PyTorch (legacy Python form): NestedIOFunction flattens nested lists and tuples of tensors, keeps None where
 * there is none, and gives forward_extended and backward_extended the nested form; mark_dirty and
 * mark_non_differentiable take nested values too.
 * Here: a struct made of lam_tensor * is a tree whose leaves are its list, so a Function takes it as it is; inputs
 * that are NULL are holes, and so are gradients left NULL. The callbacks look at the list as the struct by one cast.
 *
 * The example is a residual block y = x + out tanh(in x + shift), whose shift may be missing, with parameters and
 * results as trees. */
#include <lamina/lamina.h>

typedef struct block {
    struct {
        lam_tensor *in, *out; /* matrices */
    } weights;
    lam_tensor *shift; /* vector, or NULL */
    lam_tensor *x;
} block;

typedef struct result {
    lam_tensor *y;
    struct {
        lam_tensor *active, *saturated; /* tanh; where it is above 0.9, as a mask: not differentiable */
    } inner;
} result;

enum { IN = LAM_LEAF_COUNT(block), OUT = LAM_LEAF_COUNT(result) };

static void block_forward(lam_fctx *fc, lam_tensor *const in[], lam_tensor *out[]) {
    const block *b = (const block *)(const void *)in;
    result *r = (result *)(void *)out;
    lam_tensor *z = lam_matmul(b->weights.in, b->x);
    r->inner.active = lam_tanh(b->shift ? lam_add(z, b->shift) : z);
    r->inner.saturated = lam_cast(lam_gt(lam_abs(r->inner.active), 0.9), LAM_F64);
    r->y = lam_add(b->x, lam_matmul(b->weights.out, r->inner.active));
    lam_fctx_mark_non_differentiable(fc, LAM_LIST(r->inner.saturated));
    lam_fctx_save_for_backward(fc, LAM_LIST(b->weights.in, b->weights.out, b->shift, b->x, r->inner.active));
}

static void block_backward(lam_fctx *fc, lam_tensor *const g[], lam_tensor *gx[]) {
    const result *of = (const result *)(const void *)g; /* of->inner.saturated is NULL */
    block *to = (block *)(void *)gx;
    lam_tensor *in = lam_fctx_saved(fc, 0), *out = lam_fctx_saved(fc, 1), *shift = lam_fctx_saved(fc, 2);
    lam_tensor *x = lam_fctx_saved(fc, 3), *active = lam_fctx_saved(fc, 4);
    lam_tensor *of_active = lam_add(lam_matmul(of->y, out), of->inner.active);
    lam_tensor *of_sum = lam_mul(of_active, lam_sub(1.0, lam_square(active)));
    to->weights.in = lam_outer(of_sum, x);
    to->weights.out = lam_outer(of->y, active);
    to->x = lam_add(of->y, lam_matmul(of_sum, in));
    if (shift) to->shift = of_sum;
}

static const lam_function residual_block = {
    .name = "residual_block", .inputs = IN, .outputs = OUT, .forward = block_forward, .backward = block_backward};

/* The sum of squares of y, of a block without or with a shift (env). */
static void loss(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    block b = *(const block *)(const void *)in;
    result r;
    if (!env) b.shift = NULL;
    lam_function_apply(ctx, &residual_block, NULL, LAM_TREE(&b), LAM_OUT(&r));
    out[0] = lam_sum(lam_square(r.y), NULL);
}

static void show(const char *what, lam_tensor *x) {
    printf("%-22s", what);
    lam_print(stdout, x);
}

int main(void) {
    lam_ctx *ctx = lam_ctx_new(NULL);
    bool with_shift = true;
    lam_fn_options options = {.name = "loss", .body = loss, .inputs = IN, .outputs = 1, .env = &with_shift};
    lam_fn *f = lam_fn_new(ctx, &options);
    options.env = NULL;
    lam_fn *without_shift = lam_fn_new(ctx, &options);
    lam_tensor *eye = lam_eye(ctx, LAM_F64, 2, 2);
    lam_dims two = LAM_DIMS(2);
    block b = {{eye, lam_mul(0.5, eye)}, lam_array(ctx, LAM_F64, two, (double[]){0.5, 0}), lam_ones(ctx, LAM_F64, two)};
    block gradient;
    result r;
    lam_grad_options all = {.argnums = LAM_AXES(LAM_RANGE(0, IN))};

    lam_function_apply(ctx, &residual_block, NULL, LAM_TREE(&b), LAM_OUT(&r));
    show("y", r.y), show("saturated", r.inner.saturated);
    lam_call(lam_grad(f, &all), LAM_TREE(&b), LAM_OUT(&gradient));
    show("by weights.in", gradient.weights.in), show("by weights.out", gradient.weights.out);
    show("by shift", gradient.shift), show("by x", gradient.x);
    lam_call(lam_grad(without_shift, &all), LAM_TREE(&b), LAM_OUT(&gradient));
    show("a hole: by shift", gradient.shift), show("by x", gradient.x);

    lam_check_grads_options twice = {.order = 2};
    lam_status agree = lam_check_grads(f, LAM_TREE(&b), &twice);
    printf("against differences, to the second order: %s\n", lam_status_name(agree));

    int failed = lam_status_of(ctx) != LAM_OK;
    if (failed) fprintf(stderr, "%s\n", lam_error(ctx));
    lam_ctx_free(ctx);
    return failed;
}
