/* Saving what the derivative needs. What forward computes on the side has no known derivative, since forward is foreign
 * to the transforms: so the cube returns its slope 3 x^2 as a second output, which may then be saved for backward and
 * jvp and be differentiated itself. Two Functions of that kind: one whose forward reads raw numbers, with a batching
 * rule by hand, and one made of operations, whose batching rule is generated. (10_refusals.c shows what is wrong.) */
#include <lamina/lamina.h>

#include <stdlib.h>

/* ---- the cube in foreign code ---- */

/* x^3 and 3 x^2, from raw numbers. */
static void cube_forward(lam_fctx *fc, lam_tensor *const in[], lam_tensor *out[]) {
    lam_ctx *ctx = lam_fctx_ctx(fc);
    lam_dims dims = lam_dims_of(in[0]);
    size_t n = (size_t)lam_size(in[0]);
    const double *x = lam_data(lam_contiguous(in[0]));
    double *y = malloc(2 * n * sizeof *y + 1);
    if (!y) lam_fail(ctx, LAM_ERR_MEMORY, "no memory for %zu cubes", n);
    if (x && y) {
        for (size_t i = 0; i < n; i++) y[i] = x[i] * x[i] * x[i], y[n + i] = 3 * x[i] * x[i];
        out[0] = lam_array(ctx, LAM_F64, dims, y);
        out[1] = lam_array(ctx, LAM_F64, dims, y + n);
    }
    free(y);
}

static void cube_setup(lam_fctx *fc, lam_tensor *const in[], lam_tensor *const out[]) {
    lam_fctx_save_for_backward(fc, LAM_LIST(in[0], out[1]));
    lam_fctx_save_for_forward(fc, LAM_LIST(in[0], out[1]));
}

/* The slope is an output, so it has a cotangent too: d(3 x^2) = 6 x dx. */
static void cube_backward(lam_fctx *fc, lam_tensor *const g[], lam_tensor *gx[]) {
    lam_tensor *x = lam_fctx_saved(fc, 0), *slope = lam_fctx_saved(fc, 1);
    gx[0] = lam_add(lam_mul(g[0], slope), lam_mul(g[1], lam_mul(6.0, x)));
}

static void cube_jvp(lam_fctx *fc, lam_tensor *const dx[], lam_tensor *dout[]) {
    lam_tensor *x = lam_fctx_saved(fc, 0), *slope = lam_fctx_saved(fc, 1);
    dout[0] = lam_mul(slope, dx[0]);
    dout[1] = lam_mul(lam_mul(6.0, x), dx[0]);
}

static const lam_function cube;

/* Element by element: a batch is the same Function on one axis more, wherever that axis is. */
static void cube_vmap(lam_fctx *fc, const lam_vmap_info *info, const int in_axes[], lam_tensor *const in[],
                      lam_tensor *out[], int out_axes[]) {
    (void)info;
    lam_function_apply(lam_fctx_ctx(fc), &cube, NULL, LAM_LIST(in[0]), out, 2);
    out_axes[0] = out_axes[1] = in_axes[0];
}

static const lam_function cube = {.name = "cube",
                                  .inputs = 1,
                                  .outputs = 2,
                                  .forward = cube_forward,
                                  .setup_context = cube_setup,
                                  .backward = cube_backward,
                                  .jvp = cube_jvp,
                                  .vmap = cube_vmap};

/* ---- the cube of operations ---- */

static void generated_forward(lam_fctx *fc, lam_tensor *const in[], lam_tensor *out[]) {
    (void)fc;
    lam_tensor *square = lam_square(in[0]);
    out[0] = lam_mul(in[0], square);
    out[1] = lam_mul(3.0, square);
}

static const lam_function cube_generated = {.name = "cube_generated",
                                            .inputs = 1,
                                            .outputs = 2,
                                            .forward = generated_forward,
                                            .setup_context = cube_setup,
                                            .backward = cube_backward,
                                            .jvp = cube_jvp,
                                            .generate_vmap_rule = true};

/* ---- using them ---- */

static void first_output(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    lam_tensor *y[2];
    lam_function_apply(ctx, env, NULL, LAM_LIST(in[0]), y, 2);
    out[0] = y[0];
}

static lam_fn *first_of(lam_ctx *ctx, const lam_function *function) {
    return lam_fn_new(ctx, &(lam_fn_options){.name = function->name,
                                             .body = first_output,
                                             .inputs = 1,
                                             .outputs = 1,
                                             .env = (void *)(uintptr_t)function});
}

static void show(const char *what, lam_tensor *x) {
    printf("  %-22s", what);
    lam_print(stdout, x);
}

/* At 2: the value 8, the derivatives 12, 12 and 6. */
static void show_derivatives(lam_ctx *ctx, const lam_function *function) {
    lam_fn *f = first_of(ctx, function), *d = lam_grad(f, NULL), *dd = lam_grad(d, NULL);
    lam_tensor *x = lam_scalar(ctx, 2), *batch = lam_arange(ctx, LAM_F64, 1, 4, 1);
    printf("%s\n", function->name);
    show("f", lam_apply(f, LAM_LIST(x)));
    show("grad", lam_apply(d, LAM_LIST(x)));
    show("grad of grad", lam_apply(dd, LAM_LIST(x)));
    show("jacfwd of that", lam_apply(lam_jacfwd(dd, NULL), LAM_LIST(x)));
    show("hessian", lam_apply(lam_hessian(f, NULL), LAM_LIST(x)));
    show("vmap", lam_apply(lam_vmap(f, NULL), LAM_LIST(batch)));
    show("vmap of grad", lam_apply(lam_vmap(d, NULL), LAM_LIST(batch)));
    show("vmap of grad of grad", lam_apply(lam_vmap(dd, NULL), LAM_LIST(batch)));
}

int main(void) {
    lam_ctx *ctx = lam_ctx_new(NULL);
    show_derivatives(ctx, &cube);
    show_derivatives(ctx, &cube_generated);
    int failed = lam_status_of(ctx) != LAM_OK;
    if (failed) fprintf(stderr, "%s\n", lam_error(ctx));
    lam_ctx_free(ctx);
    return failed;
}
