/* What memory costs: a second pass over 16 MB temporaries against the first one, which touches fresh pages; the bytes a
 * training loop holds after each step; the cost per operation of gradients of chains of 1e3 to 1e6 operations, which
 * should not rise; and up to ten nested derivatives. Prints only. */
#define _POSIX_C_SOURCE 200809L
#include <lamina/lamina.h>
#include <stdio.h>

#include "tests/bench/timing.h"

enum { LARGE = 1 << 21, FEATURES = 32, SAMPLES = 256, STEPS = 1000, DEEPEST = 10 };

/* ---- large temporaries ----------------------------------------------------------------------------------- */

static void print_passes(lam_ctx *ctx) {
    lam_scope *scope = lam_scope_begin(ctx);
    lam_tensor *x = lam_ones(ctx, LAM_F64, LAM_DIMS(LARGE));
    printf("x * x + x on 16 MB, ns per element\n");
    for (int pass = 1; pass <= 4; pass++) {
        double start = timing_now();
        lam_tensor *square = lam_mul(x, x), *sum = lam_add(square, x);
        printf("  pass %d%10.2f\n", pass, (timing_now() - start) / LARGE);
        lam_drop(square);
        lam_drop(sum);
    }
    lam_scope_end(scope, NULL, 0);
}

/* ---- a training loop ------------------------------------------------------------------------------------- */

/* Mean squared error of tanh(X w) against targets. */
static void body_loss(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    (void)ctx, (void)env;
    out[0] = lam_mean(lam_square(lam_sub(lam_tanh(lam_matmul(in[1], in[0])), in[2])), NULL);
}

static void print_training(lam_ctx *ctx) {
    lam_scope *scope = lam_scope_begin(ctx);
    lam_fn *loss = lam_fn_new(ctx, &(lam_fn_options){.name = "loss", .body = body_loss, .inputs = 3, .outputs = 1});
    lam_fn *gradient = lam_grad(loss, NULL);
    lam_tensor *w = lam_zeros(ctx, LAM_F64, LAM_DIMS(FEATURES)),
               *x = lam_full(ctx, LAM_F64, LAM_DIMS(SAMPLES, FEATURES), 0.01);
    lam_tensor *targets = lam_full(ctx, LAM_F64, LAM_DIMS(SAMPLES), 0.5);
    printf("\ntraining, %d steps\n", STEPS);
    lam_ctx_reset_peak(ctx);
    double start = timing_now();
    for (int step = 1; step <= STEPS; step++) {
        lam_scope *inner = lam_scope_begin(ctx);
        lam_assign_(w, lam_sub(w, lam_mul(0.1, lam_apply(gradient, LAM_LIST(w, x, targets)))));
        lam_scope_end(inner, NULL, 0);
        if (step == 1 || step == 10 || step == STEPS)
            printf("  after step %-6d%10zu bytes\n", step, lam_ctx_bytes(ctx));
    }
    printf("  %.1f us per step, peak %zu bytes\n", (timing_now() - start) / 1e3 / STEPS, lam_ctx_peak_bytes(ctx));
    lam_scope_end(scope, NULL, 0);
}

/* ---- long chains ----------------------------------------------------------------------------------------- */

static void body_chain(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    (void)ctx;
    lam_tensor *x = in[0], *before = NULL;
    for (long i = 0; i < *(const long *)env; i++) {
        x = i % 2 ? lam_sub(x, in[1]) : lam_mul(x, in[1]);
        lam_drop(before);
        before = x;
    }
    out[0] = x;
}

static void print_chains(lam_ctx *ctx) {
    printf("\ngradient of a chain, ns per operation and peak bytes per operation\n");
    for (long n = 1000; n <= 1000000; n *= 10) {
        lam_scope *scope = lam_scope_begin(ctx);
        lam_fn *f = lam_fn_new(
            ctx, &(lam_fn_options){.name = "chain", .body = body_chain, .inputs = 2, .outputs = 1, .env = &n});
        lam_fn *g = lam_grad(f, NULL);
        lam_tensor *in[] = {lam_scalar(ctx, 1.0), lam_scalar(ctx, 0.5)};
        lam_drop(lam_apply(g, LAM_LIST(in[0], in[1]))); /* brings the memory */
        lam_ctx_reset_peak(ctx);
        double start = timing_now();
        lam_drop(lam_apply(g, LAM_LIST(in[0], in[1])));
        printf("  %-10ld%10.1f%10.1f\n", n, (timing_now() - start) / (double)n,
               (double)lam_ctx_peak_bytes(ctx) / (double)n);
        lam_scope_end(scope, NULL, 0);
    }
}

/* ---- nesting --------------------------------------------------------------------------------------------- */

static void body_nested(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    (void)ctx, (void)env;
    out[0] = lam_exp(lam_sin(in[0]));
}

typedef struct nest {
    lam_ctx *ctx;
    lam_fn *f;
    lam_tensor *x;
} nest;

static void run_nest(void *env) {
    nest *n = env;
    lam_scope *scope = lam_scope_begin(n->ctx);
    lam_apply(n->f, LAM_LIST(n->x));
    lam_scope_end(scope, NULL, 0);
}

static void print_nests(lam_ctx *ctx) {
    lam_scope *scope = lam_scope_begin(ctx);
    nest n = {.ctx = ctx, .x = lam_scalar(ctx, 0.0)};
    n.f = lam_fn_new(ctx, &(lam_fn_options){.name = "nested", .body = body_nested, .inputs = 1, .outputs = 1});
    printf("\nnested grads of exp(sin x), us and ratio to one less\n");
    double before = 0;
    for (int depth = 1; depth <= DEEPEST; depth++) {
        n.f = lam_grad(n.f, NULL);
        double t = timing_median(run_nest, &n, 5, 1) / 1e3;
        printf("  %-4d%14.2f", depth, t);
        if (depth > 1) printf("%8.2f", t / before);
        printf("\n");
        before = t;
    }
    lam_scope_end(scope, NULL, 0);
}

int main(void) {
    lam_ctx *ctx = lam_ctx_new(NULL);
    print_passes(ctx);
    print_training(ctx);
    print_chains(ctx);
    print_nests(ctx);
    if (lam_status_of(ctx) != LAM_OK) fprintf(stderr, "%s\n", lam_error(ctx));
    lam_ctx_free(ctx);
    return EXIT_SUCCESS;
}
