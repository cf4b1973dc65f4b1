/* Convolutions and their two transposes beside matrix products of as many multiplications (weights by a matrix of
 * patches that is there already), in ms, and the ratios; f32 and f64. Prints only. */
#define _POSIX_C_SOURCE 200809L
#include <lamina/lamina.h>
#include <stdio.h>

#include "tests/bench/timing.h"

enum { RUNS = 7 };

typedef struct job {
    lam_tensor *x, *w, *a, *b, *g;
    lam_fn *pullback[2];
    lam_conv_options options;
    int by;
} job;

static void convolve(void *env) {
    job *j = env;
    lam_drop(lam_conv_general(j->x, j->w, &j->options));
}

static void multiply(void *env) {
    job *j = env;
    lam_drop(lam_matmul(j->a, j->b));
}

static void pull(void *env) {
    job *j = env;
    lam_drop(lam_apply(j->pullback[j->by], LAM_LIST(j->g)));
}

static void body_conv(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    (void)ctx;
    out[0] = lam_conv_general(in[0], in[1], &((job *)env)->options);
}

/* n examples of c features and size^2 places, o output features, window^2. */
static void compare(lam_ctx *ctx, lam_dtype dtype, int64_t n, int64_t c, int64_t size, int64_t o, int64_t window,
                    int64_t stride) {
    lam_scope *scope = lam_scope_begin(ctx);
    int64_t strides[] = {stride, stride};
    job j = {.options = {.strides = {2, strides}, .padding = LAM_PAD_SAME}};
    lam_tensor *out[1];
    j.x = lam_contiguous(lam_full(ctx, dtype, LAM_DIMS(n, c, size, size), 0.5));
    j.w = lam_full(ctx, dtype, LAM_DIMS(o, c, window, window), 0.25);
    lam_fn *f = lam_fn_new(ctx, &(lam_fn_options){.body = body_conv, .inputs = 2, .outputs = 1, .env = &j});
    for (int i = 0; i < 2; i++)
        lam_vjp(f, LAM_LIST(j.x, j.w), out, 1, &j.pullback[i], &(lam_grad_options){.argnums = {1, &i}});
    j.g = lam_contiguous(lam_add(out[0], 1.0));
    int64_t places = lam_size(out[0]) / o;
    j.a = lam_full(ctx, dtype, LAM_DIMS(o, c * window * window), 0.25);
    j.b = lam_full(ctx, dtype, LAM_DIMS(c * window * window, places), 0.5);
    double product = timing_median(multiply, &j, RUNS, 1), forward = timing_median(convolve, &j, RUNS, 1), back[2];
    for (j.by = 0; j.by < 2; j.by++) back[j.by] = timing_median(pull, &j, RUNS, 1);
    printf("%s %3d x %3d x %3d^2, %3d of %d^2 by %d %9.2f%9.2f%7.2f%9.2f%7.2f%9.2f%7.2f\n", lam_dtype_name(dtype),
           (int)n, (int)c, (int)size, (int)o, (int)window, (int)stride, product / 1e6, forward / 1e6, forward / product,
           back[0] / 1e6, back[0] / product, back[1] / 1e6, back[1] / product);
    lam_scope_end(scope, NULL, 0);
}

int main(void) {
    lam_ctx *ctx = lam_ctx_new(NULL);
    printf("%33s%11s%9s%7s%9s%7s%9s%7s\n", "", "matmul", "conv", "ratio", "by x", "ratio", "by w", "ratio");
    for (int d = 0; d < 2; d++) {
        lam_dtype dtype = d ? LAM_F64 : LAM_F32;
        compare(ctx, dtype, 4, 3, 64, 32, 3, 1);
        compare(ctx, dtype, 4, 32, 32, 64, 3, 1);
        compare(ctx, dtype, 4, 64, 28, 64, 3, 1);
        compare(ctx, dtype, 8, 128, 7, 128, 3, 1);
        compare(ctx, dtype, 4, 64, 28, 128, 3, 2);
        compare(ctx, dtype, 4, 64, 28, 64, 1, 1);
    }
    if (lam_status_of(ctx) != LAM_OK) fprintf(stderr, "%s\n", lam_error(ctx));
    lam_ctx_free(ctx);
    return EXIT_SUCCESS;
}
