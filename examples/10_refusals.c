/* What a custom Function must not do, and what it is told. Elsewhere most of this is undefined behaviour and may give
 * wrong numbers; here each is a failure that names the Function, the callback, the levels and what to do. The Functions
 * below are cubes, each with one mistake. */
#include <lamina/lamina.h>

/* ---- a right cube, of which the others differ by one part ---- */

static void forward(lam_fctx *fc, lam_tensor *const in[], lam_tensor *out[]) {
    (void)fc;
    out[0] = lam_integer_pow(in[0], 3);
}

static void setup_context(lam_fctx *fc, lam_tensor *const in[], lam_tensor *const out[]) {
    (void)out;
    lam_fctx_save_for_backward(fc, LAM_LIST(in[0]));
}

static void backward(lam_fctx *fc, lam_tensor *const g[], lam_tensor *gx[]) {
    gx[0] = lam_mul(lam_mul(3.0, lam_square(lam_fctx_saved(fc, 0))), g[0]);
}

static const lam_function cube = {.name = "cube",
                                  .inputs = 1,
                                  .outputs = 1,
                                  .forward = forward,
                                  .setup_context = setup_context,
                                  .backward = backward};

/* ---- 1. a tensor hidden in the attributes (or in a variable outside): forward gets it at the wrong level ---- */

typedef struct scaled_attrs {
    lam_tensor *scale; /* make it an input instead */
} scaled_attrs;

static void scaled_forward(lam_fctx *fc, lam_tensor *const in[], lam_tensor *out[]) {
    const scaled_attrs *attrs = lam_fctx_attrs(fc);
    out[0] = lam_mul(attrs->scale, in[0]);
}

static void apply_scaled(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    (void)env;
    lam_function scaled = cube;
    scaled.name = "scaled";
    scaled.attrs_size = sizeof(scaled_attrs);
    scaled.forward = scaled_forward;
    lam_function_apply(ctx, &scaled, &(scaled_attrs){in[0]}, LAM_LIST(in[0]), out, 1);
}

/* ---- 2. an intermediate kept behind the system's back: its derivative is not known any more ---- */

static lam_tensor *square_kept;

static void sly_forward(lam_fctx *fc, lam_tensor *const in[], lam_tensor *out[]) {
    (void)fc;
    lam_release(square_kept);
    square_kept = lam_hold(lam_square(in[0]));
    out[0] = lam_mul(in[0], square_kept);
}

static void sly_setup(lam_fctx *fc, lam_tensor *const in[], lam_tensor *const out[]) {
    (void)in, (void)out;
    lam_fctx_save_for_backward(fc, LAM_LIST(square_kept));
}

static void sly_backward(lam_fctx *fc, lam_tensor *const g[], lam_tensor *gx[]) {
    gx[0] = lam_mul(lam_mul(3.0, lam_fctx_saved(fc, 0)), g[0]);
}

/* ---- 3. a backward in foreign code: no derivative of it exists, and no batch of it ---- */

/* Raw data of a box is refused. (lam_item is not: it is there for C control flow, and what C computes from it is a
 * constant. So a rule that computes in C should say once_differentiable.) */
static void raw_backward(lam_fctx *fc, lam_tensor *const g[], lam_tensor *gx[]) {
    const double *x = lam_data(lam_fctx_saved(fc, 0)), *gy = lam_data(g[0]);
    if (x && gy) gx[0] = lam_scalar(lam_fctx_ctx(fc), 3 * *x * *x * *gy);
}

/* ---- 4. a forward that saves in the separate style ---- */

static void early_forward(lam_fctx *fc, lam_tensor *const in[], lam_tensor *out[]) {
    lam_fctx_save_for_backward(fc, LAM_LIST(in[0]));
    out[0] = lam_integer_pow(in[0], 3);
}

/* ---- 5. a gradient that does not fit ---- */

static void long_backward(lam_fctx *fc, lam_tensor *const g[], lam_tensor *gx[]) {
    (void)fc;
    gx[0] = lam_stack(LAM_LIST(g[0], g[0], g[0]), -1);
}

/* ---- each in turn ---- */

static void refused(lam_ctx *ctx, const char *what, lam_fn *f, lam_tensor *x) {
    lam_apply(f, LAM_LIST(x));
    printf("%s\n%s: %s\n\n", what, lam_status_name(lam_status_of(ctx)), lam_error(ctx));
    lam_clear_error(ctx);
}

static lam_fn *fn_of(lam_ctx *ctx, const lam_function *function) {
    return lam_function_fn(ctx, function, NULL, 1, 1);
}

static lam_fn *second_derivative(lam_ctx *ctx, const lam_function *function) {
    return lam_grad(lam_grad(fn_of(ctx, function), NULL), NULL);
}

int main(void) {
    lam_ctx *ctx = lam_ctx_new(NULL);
    lam_tensor *x = lam_scalar(ctx, 2), *vector = lam_ones(ctx, LAM_F64, LAM_DIMS(2));
    lam_fn *scaled =
        lam_fn_new(ctx, &(lam_fn_options){.name = "apply_scaled", .body = apply_scaled, .inputs = 1, .outputs = 1});
    refused(ctx, "---- 1. a tensor hidden in the attributes ----", lam_grad(scaled, NULL), x);

    lam_function sly = cube;
    sly.name = "sly", sly.forward = sly_forward, sly.setup_context = sly_setup, sly.backward = sly_backward;
    refused(ctx, "---- 2. an intermediate kept aside ----", second_derivative(ctx, &sly), x);

    lam_function raw = cube;
    raw.name = "raw", raw.backward = raw_backward;
    refused(ctx, "---- 3. a derivative of a backward in foreign code ----", second_derivative(ctx, &raw), x);
    raw.once_differentiable = true;
    refused(ctx, "---- 3. the same, with once_differentiable ----", second_derivative(ctx, &raw), x);
    raw.generate_vmap_rule = true;
    refused(ctx, "---- 3. a batch of it ----", lam_vmap(lam_grad(fn_of(ctx, &raw), NULL), NULL), vector);

    lam_function early = cube;
    early.name = "early", early.forward = early_forward;
    refused(ctx, "---- 4. saving in forward, though there is a setup_context ----", fn_of(ctx, &early), x);

    lam_function long_one = cube;
    long_one.name = "long", long_one.backward = long_backward, long_one.generate_vmap_rule = true;
    refused(ctx, "---- 5. a gradient that does not fit ----", lam_jacrev(fn_of(ctx, &long_one), NULL), vector);

    refused(ctx, "---- 6. a batch, without a batching rule ----", lam_vmap(fn_of(ctx, &cube), NULL), vector);
    puts("which rules there are, and what is missing:");
    lam_function_print_rules(stdout, &cube);

    lam_release(square_kept);
    int failed = lam_status_of(ctx) != LAM_OK;
    lam_ctx_free(ctx);
    return failed;
}
