/* What a torch::autograd::Function in C++ looks like here, side by side.
 *
 *   PyTorch (C++)                                Lamina
 *   struct F : Function<F> with static methods   static const lam_function with callbacks
 *   forward(ctx, Tensor, optional, int64_t)      .forward; optional tensors come as NULL, plain arguments in attrs
 *   F::apply(x, w, b, 2.0)                       lam_function_apply(ctx, &f, &attrs, LAM_LIST(x, w, b), out, n_out)
 *   ctx->save_for_backward({x, w})               lam_fctx_save_for_backward(fc, LAM_LIST(x, w))
 *   ctx->saved_data["scale"] = scale             lam_fctx_set_data(fc, "scale", &scale, sizeof scale)
 *   ctx->get_saved_variables()[0]                lam_fctx_saved(fc, 0)
 *   ctx->mark_non_differentiable({y})            lam_fctx_mark_non_differentiable(fc, LAM_LIST(y))
 *   ctx->mark_dirty({x})                         lam_fctx_mark_dirty(fc, LAM_LIST(x))
 *   ctx->needs_input_grad(1)                     lam_fctx_needs_input_grad(fc, 1)
 *   backward returns one gradient per argument,  .backward sets one per tensor; what is left NULL is zero, and plain
 *     undefined ones for plain arguments           arguments have none
 *
 * There the C++ form is refused by every function transform. Here this combined style, in which forward saves, works
 * under all of them; its batching rule is generated. */
#include <lamina/lamina.h>

/* ---- tensors, an optional one, a plain number: scale (x w + b), and a mask that has no derivative ---- */

typedef struct affine_attrs {
    double scale;
} affine_attrs;

static void affine_forward(lam_fctx *fc, lam_tensor *const in[], lam_tensor *out[]) {
    const affine_attrs *attrs = lam_fctx_attrs(fc);
    lam_tensor *x = in[0], *w = in[1], *b = in[2], *y = lam_matmul(x, w);
    if (b) y = lam_add(y, b);
    out[0] = lam_mul(attrs->scale, y);
    out[1] = lam_cast(lam_gt(y, 0.0), LAM_F64);
    lam_fctx_save_for_backward(fc, LAM_LIST(x, w));
    lam_fctx_set_data(fc, "scale", &attrs->scale, sizeof attrs->scale);
    lam_fctx_set_data(fc, "has_bias", &(bool){b != NULL}, sizeof(bool));
    lam_fctx_mark_non_differentiable(fc, LAM_LIST(out[1]));
}

static void affine_backward(lam_fctx *fc, lam_tensor *const g[], lam_tensor *gx[]) {
    lam_tensor *x = lam_fctx_saved(fc, 0), *w = lam_fctx_saved(fc, 1);
    const double *scale = lam_fctx_data(fc, "scale", NULL);
    const bool *has_bias = lam_fctx_data(fc, "has_bias", NULL);
    lam_tensor *gy = lam_mul(*scale, g[0]); /* g[1], of what is not differentiable, is NULL */
    if (lam_fctx_needs_input_grad(fc, 0)) gx[0] = lam_matmul(gy, lam_transpose(w, (lam_axes){0}));
    if (lam_fctx_needs_input_grad(fc, 1)) gx[1] = lam_matmul(lam_transpose(x, (lam_axes){0}), gy);
    if (*has_bias) gx[2] = gy; /* larger than b by its rows: they are summed */
}

static const lam_function affine = {.name = "affine",
                                    .inputs = 3,
                                    .outputs = 2,
                                    .attrs_size = sizeof(affine_attrs),
                                    .forward = affine_forward,
                                    .backward = affine_backward};

/* ---- lists in, lists out: all tensors divided by the root of their summed squares ---- */

static void normalise_forward(lam_fctx *fc, lam_tensor *const in[], lam_tensor *out[]) {
    int n = lam_fctx_inputs(fc);
    lam_tensor *sum = lam_scalar(lam_fctx_ctx(fc), 0), *saved[16];
    for (int i = 0; i < n; i++) sum = lam_add(sum, lam_sum(lam_square(in[i]), NULL));
    saved[n] = lam_rsqrt(sum);
    for (int i = 0; i < n; i++) saved[i] = out[i] = lam_mul(in[i], saved[n]);
    lam_fctx_save_for_backward(fc, (lam_list){(size_t)n + 1, saved}); /* outputs, and an intermediate */
}

/* With outputs y and r = 1 / norm: dx = r (g - y (sum of g y)). */
static void normalise_backward(lam_fctx *fc, lam_tensor *const g[], lam_tensor *gx[]) {
    int n = lam_fctx_outputs(fc);
    lam_tensor *r = lam_fctx_saved(fc, n), *along = lam_scalar(lam_fctx_ctx(fc), 0);
    for (int i = 0; i < n; i++) along = lam_add(along, lam_sum(lam_mul(g[i], lam_fctx_saved(fc, i)), NULL));
    for (int i = 0; i < n; i++) gx[i] = lam_mul(r, lam_sub(g[i], lam_mul(lam_fctx_saved(fc, i), along)));
}

static const lam_function normalise = {.name = "normalise",
                                       .inputs = LAM_VARIADIC,
                                       .outputs = LAM_VARIADIC,
                                       .forward = normalise_forward,
                                       .backward = normalise_backward};

/* ---- in place: the caller's tensor shows the new value ---- */

static void exp_forward(lam_fctx *fc, lam_tensor *const in[], lam_tensor *out[]) {
    out[0] = lam_assign_(in[0], lam_exp(in[0]));
    lam_fctx_mark_dirty(fc, LAM_LIST(in[0]));
    lam_fctx_save_for_backward(fc, LAM_LIST(out[0]));
}

static void exp_backward(lam_fctx *fc, lam_tensor *const g[], lam_tensor *gx[]) {
    gx[0] = lam_mul(g[0], lam_fctx_saved(fc, 0));
}

static const lam_function exp_in_place = {
    .name = "exp_", .inputs = 1, .outputs = 1, .forward = exp_forward, .backward = exp_backward};

/* ---- using them ---- */

/* The sum of squares of affine(x, w, b), and the mask. env: whether there is a bias. */
static void energy(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    lam_tensor *y[2];
    lam_function_apply(ctx, &affine, &(affine_attrs){0.5}, LAM_LIST(in[0], in[1], env ? in[2] : NULL), y, 2);
    out[0] = lam_sum(lam_square(y[0]), NULL);
    out[1] = y[1];
}

/* The first element of the first of two normalised vectors. */
static void first_normal(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    lam_tensor *y[2];
    (void)env;
    lam_function_apply(ctx, &normalise, NULL, LAM_LIST(in[0], in[1]), y, 2);
    out[0] = lam_index(y[0], 0, 0);
}

static void exp_of_alias(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    lam_tensor *x = lam_alias(in[0]), *y;
    (void)env;
    lam_function_apply(ctx, &exp_in_place, NULL, LAM_LIST(x), &y, 1);
    out[0] = x; /* x itself has changed, and y is the same */
}

static lam_fn *fn(lam_ctx *ctx, const char *name, lam_body body, int inputs, int outputs, void *env) {
    lam_fn_options options = {.name = name, .body = body, .inputs = inputs, .outputs = outputs, .env = env};
    return lam_fn_new(ctx, &options);
}

static void show(const char *what, lam_tensor *x) {
    printf("%-32s", what);
    lam_print(stdout, x);
}

/* y = 0.5 (x w + b) is (-0.125, 0.625), so the gradients of the sum of squares are x' y = (1.75, 2.25) and 0.5. */
static void show_affine(lam_ctx *ctx) {
    lam_tensor *x = lam_array(ctx, LAM_F64, LAM_DIMS(2, 2), (double[]){1, 2, 3, 4});
    lam_tensor *w = lam_array(ctx, LAM_F64, LAM_DIMS(2, 1), (double[]){2, -1.25}),
               *b = lam_full(ctx, LAM_F64, LAM_DIMS(1), 0.25);
    lam_fn *f = fn(ctx, "energy", energy, 3, 2, &(bool){true}), *without = fn(ctx, "energy", energy, 3, 2, NULL);
    lam_grad_options by_w_and_b = {.argnums = LAM_AXES(1, 2), .has_aux = 1};
    lam_jacobian_options hessian_by_w = {.argnums = LAM_AXES(1), .has_aux = 1};
    lam_vmap_options rows = {.in_axes = LAM_AXES(0, LAM_UNMAPPED, LAM_UNMAPPED)};
    lam_tensor *out[3], *batch = lam_stack(LAM_LIST(x, lam_mul(2.0, x)), 0);
    lam_call(lam_grad(f, &by_w_and_b), LAM_LIST(x, w, b), out, 3);
    show("affine: by w", out[0]), show("by b", out[1]), show("the mask", out[2]);
    lam_call(lam_grad(without, &by_w_and_b), LAM_LIST(x, w, b), out, 3);
    show("without bias: by w", out[0]), show("by b", out[1]);
    lam_call(lam_hessian(f, &hessian_by_w), LAM_LIST(x, w, b), out, 2);
    show("hessian by w", lam_reshape(out[0], LAM_DIMS(2, 2))); /* x' x / 2 */
    lam_call(lam_vmap(lam_grad(f, &by_w_and_b), &rows), LAM_LIST(batch, w, b), out, 3);
    show("vmap of grad: by b", out[1]);
}

int main(void) {
    lam_ctx *ctx = lam_ctx_new(NULL);
    show_affine(ctx);

    lam_tensor *p = lam_array(ctx, LAM_F64, LAM_DIMS(2), (double[]){2, 1}), *q = lam_full(ctx, LAM_F64, LAM_DIMS(1), 2);
    lam_fn *normal = fn(ctx, "first_normal", first_normal, 2, 1, NULL);
    show("normalise: value", lam_apply(normal, LAM_LIST(p, q))); /* 2 / 3 */
    show("gradient", lam_apply(lam_grad(normal, NULL), LAM_LIST(p, q)));
    show("hessian", lam_apply(lam_hessian(normal, NULL), LAM_LIST(p, q)));

    lam_fn *grown = fn(ctx, "exp_of_alias", exp_of_alias, 1, 1, NULL);
    show("exp in place", lam_apply(grown, LAM_LIST(lam_scalar(ctx, 1))));
    show("second derivative", lam_apply(lam_grad(lam_grad(grown, NULL), NULL), LAM_LIST(lam_scalar(ctx, 1))));

    int failed = lam_status_of(ctx) != LAM_OK;
    if (failed) fprintf(stderr, "%s\n", lam_error(ctx));
    lam_ctx_free(ctx);
    return failed;
}
