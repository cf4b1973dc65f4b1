/* What a custom Function with empty rules costs beside a primitive, in nanoseconds on one f64 element: at the base,
 * through one tape (recording and backward pass), one dual level, one batch level, and two levels nested. The work is a
 * chain of 1000 applications whose temporaries are dropped at once. Prints only; the last column is the ratio.
 * Arguments: row to run (default all), 0 for the primitive or 1 for the Function, repetitions. */
#define _POSIX_C_SOURCE 200809L
#include <lamina/lamina.h>
#include <stdio.h>

#include "tests/bench/timing.h"

enum { APPLICATIONS = 1000, ROWS = 6, RUNS = 41 };

/* ---- a Function that does nothing -------------------------------------------------------------------------------- */

static void same_forward(lam_fctx *fc, lam_tensor *const in[], lam_tensor *out[]) {
    (void)fc;
    out[0] = in[0];
}

static void same_setup(lam_fctx *fc, lam_tensor *const in[], lam_tensor *const out[]) {
    (void)fc, (void)in, (void)out;
}

static void same_vmap(lam_fctx *fc, const lam_vmap_info *info, const int in_axes[], lam_tensor *const in[],
                      lam_tensor *out[], int out_axes[]) {
    (void)fc, (void)info;
    out[0] = in[0];
    out_axes[0] = in_axes[0];
}

static const lam_function same = {.name = "same",
                                  .inputs = 1,
                                  .outputs = 1,
                                  .forward = same_forward,
                                  .setup_context = same_setup,
                                  .backward = same_forward,
                                  .jvp = same_forward,
                                  .vmap = same_vmap};

/* ---- the work ---------------------------------------------------------------------------------------------------- */

static void body_primitive(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    (void)ctx, (void)env;
    lam_tensor *x = in[0], *before = NULL;
    for (int i = 0; i < APPLICATIONS; i++) {
        x = lam_mul(x, in[1]);
        lam_drop(before);
        before = x;
    }
    out[0] = x;
}

static void body_function(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    (void)env;
    lam_tensor *x = in[0], *before = NULL;
    for (int i = 0; i < APPLICATIONS; i++) {
        lam_function_apply(ctx, &same, NULL, LAM_LIST(x), &x, 1);
        lam_drop(before);
        before = x;
    }
    out[0] = lam_mul(x, in[1]);
}

static void body_first(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    lam_tensor *parts[2];
    (void)ctx;
    lam_call(env, (lam_list){(size_t)lam_fn_inputs(env), in}, parts, (size_t)lam_fn_outputs(env));
    out[0] = parts[lam_fn_outputs(env) - 1];
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static const char *const names[ROWS] = {"base", "tape", "dual", "batch", "tape in batch", "tape in tape"};

static lam_fn *function(lam_ctx *ctx, lam_body body, int inputs, void *env) {
    return lam_fn_new(ctx,
                      &(lam_fn_options){.name = "chain", .body = body, .inputs = inputs, .outputs = 1, .env = env});
}

/* The function of a row; *inputs: how many it has. */
static lam_fn *row(lam_ctx *ctx, int number, lam_body body, int *inputs) {
    lam_fn *f = function(ctx, body, 2, NULL);
    *inputs = number == 2 ? 4 : 2;
    switch (number) {
    case 0: return f;
    case 1: return lam_grad(f, NULL);
    case 2: return function(ctx, body_first, 4, lam_jvp_fn(f, NULL));
    case 3: return lam_vmap(f, NULL);
    case 4: return lam_vmap(lam_grad(f, NULL), NULL);
    default: return lam_grad(function(ctx, body_first, 2, lam_grad(f, NULL)), NULL);
    }
}

typedef struct job {
    lam_ctx *ctx;
    lam_fn *f;
    int inputs;
    lam_tensor *x[4];
} job;

static void run(void *env) {
    job *j = env;
    lam_scope *scope = lam_scope_begin(j->ctx);
    lam_apply(j->f, (lam_list){(size_t)j->inputs, j->x});
    lam_scope_end(scope, NULL, 0);
}

static double per_application(lam_ctx *ctx, int number, bool custom, int runs, int repeats) {
    lam_scope *scope = lam_scope_begin(ctx);
    job j = {.ctx = ctx};
    j.f = row(ctx, number, custom ? body_function : body_primitive, &j.inputs);
    bool batched = number == 3 || number == 4;
    for (int i = 0; i < j.inputs; i++)
        j.x[i] = batched ? lam_ones(ctx, LAM_F64, LAM_DIMS(1)) : lam_ones(ctx, LAM_F64, LAM_DIMS0);
    double t = timing_median(run, &j, runs, repeats) / APPLICATIONS;
    lam_scope_end(scope, NULL, 0);
    return t;
}

int main(int argc, char **argv) {
    lam_ctx *ctx = lam_ctx_new(NULL);
    if (argc > 3) {
        per_application(ctx, atoi(argv[1]), atoi(argv[2]), 1, atoi(argv[3]));
    } else {
        printf("ns per application\n%-16s%10s%10s%10s\n", "", "primitive", "Function", "ratio");
        for (int i = 0; i < ROWS; i++) {
            if (argc > 1 && i != atoi(argv[1])) continue;
            double primitive = per_application(ctx, i, false, RUNS, 1), custom = per_application(ctx, i, true, RUNS, 1);
            printf("%-16s%10.1f%10.1f%10.2f\n", names[i], primitive, custom, custom / primitive);
        }
    }
    if (lam_status_of(ctx) != LAM_OK) fprintf(stderr, "%s\n", lam_error(ctx));
    lam_ctx_free(ctx);
    return EXIT_SUCCESS;
}
