/* Convolutions and their two transposes beside matrix products of as many multiplications (weights by a matrix of
 * patches that is there already, one for each group), or beside one pass over the operand where each feature has its
 * own window; in ms, and the ratios; f32 and f64. Prints only. */
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

/* A convolution of an operand [n, c, size...] with o windows, over `rank` axes. */
typedef struct problem {
    int rank;
    int64_t n, c, size, o, window, stride, groups;
} problem;

static lam_tensor *filled(lam_ctx *ctx, lam_dtype dtype, int64_t first, int64_t second, int64_t side, int rank,
                          double value) {
    int64_t dims[5] = {first, second};
    for (int i = 0; i < rank; i++) dims[2 + i] = side;
    return lam_contiguous(lam_full(ctx, dtype, (lam_dims){2 + rank, dims}, value));
}

static void prepare(lam_ctx *ctx, lam_dtype dtype, const problem *p, job *j) {
    lam_tensor *out[1];
    j->x = filled(ctx, dtype, p->n, p->c, p->size, p->rank, 0.5);
    j->w = filled(ctx, dtype, p->o, p->c / p->groups, p->window, p->rank, 0.25);
    lam_fn *f = lam_fn_new(ctx, &(lam_fn_options){.body = body_conv, .inputs = 2, .outputs = 1, .env = j});
    for (int i = 0; i < 2; i++)
        lam_vjp(f, LAM_LIST(j->x, j->w), out, 1, &j->pullback[i], &(lam_grad_options){.argnums = {1, &i}});
    j->g = lam_contiguous(lam_add(out[0], 1.0));
    int64_t places = lam_size(out[0]) / p->o, terms = lam_size(j->w) / p->o;
    j->a = lam_contiguous(lam_full(ctx, dtype, LAM_DIMS(p->groups, p->o / p->groups, terms), 0.25));
    j->b = lam_contiguous(lam_full(ctx, dtype, LAM_DIMS(p->groups, terms, places), 0.5));
}

/* Where each group has one feature, what is compared with is one pass over the operand. */
static void negate(void *env) {
    lam_drop(lam_neg(((job *)env)->x));
}

static void compare(lam_ctx *ctx, lam_dtype dtype, const problem *p) {
    lam_scope *scope = lam_scope_begin(ctx);
    int64_t strides[] = {p->stride, p->stride, p->stride};
    job j = {.options = {.strides = {p->rank, strides}, .padding = LAM_PAD_SAME, .feature_groups = p->groups}};
    prepare(ctx, dtype, p, &j);
    const bool single = p->c > 1 && p->groups == p->c;
    double other = timing_median(single ? negate : multiply, &j, RUNS, 1), back[2];
    double forward = timing_median(convolve, &j, RUNS, 1);
    for (j.by = 0; j.by < 2; j.by++) back[j.by] = timing_median(pull, &j, RUNS, 1);
    printf("%s %3d x %3d x %6d^%d, %3d of %2d^%d by %d, %2d groups %6s %7.2f%8.2f%6.2f%8.2f%6.2f%8.2f%6.2f\n",
           lam_dtype_name(dtype), (int)p->n, (int)p->c, (int)p->size, p->rank, (int)p->o, (int)p->window, p->rank,
           (int)p->stride, (int)p->groups, single ? "neg" : "matmul", other / 1e6, forward / 1e6, forward / other,
           back[0] / 1e6, back[0] / other, back[1] / 1e6, back[1] / other);
    lam_scope_end(scope, NULL, 0);
}

static const problem problems[] = {
    {2, 4, 3, 64, 32, 3, 1, 1},    {2, 4, 32, 32, 64, 3, 1, 1},    {2, 4, 64, 28, 64, 3, 1, 1},
    {2, 8, 128, 7, 128, 3, 1, 1},  {2, 4, 64, 28, 128, 3, 2, 1},   {2, 4, 64, 28, 64, 1, 1, 1},
    {2, 4, 64, 56, 64, 3, 1, 64},  {2, 8, 512, 7, 512, 3, 1, 512}, {2, 4, 64, 28, 64, 3, 1, 4},
    {2, 4, 64, 28, 64, 3, 1, 32},  {1, 1, 1, 300000, 1, 25, 1, 1}, {1, 4, 16, 4000, 16, 25, 1, 1},
    {3, 1, 16, 20, 16, 3, 1, 1},   {2, 4, 3, 64, 32, 3, 2, 1},     {2, 4, 3, 64, 64, 4, 4, 1},
    {2, 8, 1, 28, 32, 3, 2, 1},    {2, 4, 64, 28, 1, 3, 2, 1},     {2, 4, 64, 28, 64, 3, 2, 32},
    {1, 4, 64, 1000, 64, 3, 2, 1}, {1, 8, 1, 2000, 16, 16, 8, 1},  {3, 1, 1, 32, 8, 3, 2, 1},
    {3, 1, 16, 20, 16, 3, 2, 1},
};

int main(void) {
    lam_ctx *ctx = lam_ctx_new(NULL);
    printf("%57s%8s%6s%8s%6s%8s%6s\n", "", "conv", "ratio", "by x", "ratio", "by w", "ratio");
    for (int d = 0; d < 2; d++)
        for (size_t i = 0; i < sizeof problems / sizeof *problems; i++)
            compare(ctx, d ? LAM_F64 : LAM_F32, &problems[i]);
    if (lam_status_of(ctx) != LAM_OK) fprintf(stderr, "%s\n", lam_error(ctx));
    lam_ctx_free(ctx);
    return EXIT_SUCCESS;
}
