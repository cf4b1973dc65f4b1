/* What one primitive costs, in nanoseconds, on 1 and on 64 f64 elements: at the base, through one tape (recording and
 * backward pass), one dual level, one batch level, and two levels nested. The work is a chain of 1000 operations on two
 * inputs whose temporaries are dropped at once; the same chain and its gradient written in C by hand stand beside it.
 * Prints only. Arguments: mode to run (0 on; default all), repetitions of it (default: as many as a median needs). */
#define _POSIX_C_SOURCE 200809L
#include <lamina/lamina.h>
#include <stdio.h>

#include "tests/bench/timing.h"

enum { OPERATIONS = 1000, WIDEST = 64, MODES = 9, RUNS = 41 };

/* ---- the work -------------------------------------------------------------------------------------------- */

/* x <- (x y + y - y) y, a quarter of OPERATIONS times. */
static lam_tensor *chain(lam_tensor *x, lam_tensor *y) {
    lam_tensor *before = NULL;
    for (int i = 0; i < OPERATIONS / 4; i++) {
        lam_tensor *product = lam_mul(x, y), *sum = lam_add(product, y), *rest = lam_sub(sum, y);
        x = lam_mul(rest, y);
        lam_drop(product);
        lam_drop(sum);
        lam_drop(rest);
        lam_drop(before);
        before = x;
    }
    return x;
}

static void body_chain(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    (void)ctx, (void)env;
    out[0] = chain(in[0], in[1]);
}

static void body_chain_sum(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    (void)ctx, (void)env;
    out[0] = lam_sum(chain(in[0], in[1]), NULL);
}

/* The sum of all elements of both outputs of the function in env. */
static void body_total(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    (void)ctx;
    lam_tensor *parts[2];
    lam_fn *f = env;
    lam_call(f, (lam_list){(size_t)lam_fn_inputs(f), in}, parts, 2);
    out[0] = lam_add(lam_sum(parts[0], NULL), lam_sum(parts[1], NULL));
}

/* ---- by hand --------------------------------------------------------------------------------------------- */

/* noinline and one call per operation: what a C program of array functions would do. */
#if defined(__GNUC__)
#define APART __attribute__((noinline))
#else
#define APART
#endif

APART static void hand_mul(int n, double *out, const double *x, const double *y) {
    for (int i = 0; i < n; i++) out[i] = x[i] * y[i];
}

APART static void hand_add(int n, double *out, const double *x, const double *y) {
    for (int i = 0; i < n; i++) out[i] = x[i] + y[i];
}

APART static void hand_sub(int n, double *out, const double *x, const double *y) {
    for (int i = 0; i < n; i++) out[i] = x[i] - y[i];
}

typedef struct hand {
    int n;
    double x[WIDEST], y[WIDEST], gx[WIDEST], gy[WIDEST], t[WIDEST];
    double factors[OPERATIONS / 2][WIDEST]; /* what the backward pass reads: the left factors of both products */
} hand;

static void hand_value(void *env) {
    hand *h = env;
    const double *x = h->x;
    for (int i = 0; i < OPERATIONS / 4; i++) {
        hand_mul(h->n, h->t, x, h->y);
        hand_add(h->n, h->t, h->t, h->y);
        hand_sub(h->n, h->t, h->t, h->y);
        hand_mul(h->n, h->gx, h->t, h->y);
        x = h->gx;
    }
}

static void hand_forward(hand *h) {
    hand_add(h->n, h->gx, h->x, h->x);
    hand_sub(h->n, h->gx, h->gx, h->x);
    for (int i = 0; i < OPERATIONS / 4; i++) {
        for (int k = 0; k < h->n; k++) h->factors[2 * i][k] = h->gx[k];
        hand_mul(h->n, h->t, h->gx, h->y);
        hand_add(h->n, h->t, h->t, h->y);
        hand_sub(h->n, h->factors[2 * i + 1], h->t, h->y);
        hand_mul(h->n, h->gx, h->factors[2 * i + 1], h->y);
    }
}

static void hand_gradient(void *env) {
    hand *h = env;
    hand_forward(h);
    for (int k = 0; k < h->n; k++) h->gx[k] = 1, h->gy[k] = 0;
    for (int i = OPERATIONS / 4 - 1; i >= 0; i--) {
        hand_mul(h->n, h->t, h->gx, h->factors[2 * i + 1]);
        hand_add(h->n, h->gy, h->gy, h->t);
        hand_mul(h->n, h->gx, h->gx, h->y);
        hand_sub(h->n, h->gy, h->gy, h->gx);
        hand_add(h->n, h->gy, h->gy, h->gx);
        hand_mul(h->n, h->t, h->gx, h->factors[2 * i]);
        hand_add(h->n, h->gy, h->gy, h->t);
        hand_mul(h->n, h->gx, h->gx, h->y);
    }
}

/* ---- modes ----------------------------------------------------------------------------------------------- */

typedef struct mode {
    const char *name;
    lam_fn *f;
    int inputs, outputs;
    bool batched;
} mode;

static lam_fn *function(lam_ctx *ctx, const char *name, lam_body body, int inputs, int outputs, lam_fn *env) {
    return lam_fn_new(ctx,
                      &(lam_fn_options){.name = name, .body = body, .inputs = inputs, .outputs = outputs, .env = env});
}

static void make_modes(lam_ctx *ctx, mode m[MODES]) {
    lam_grad_options both = {.argnums = LAM_AXES(0, 1)};
    lam_fn *f = function(ctx, "chain", body_chain, 2, 1, NULL),
           *s = function(ctx, "chain_sum", body_chain_sum, 2, 1, NULL);
    lam_fn *gradient = lam_grad(s, &both), *tangent = lam_jvp_fn(f, NULL);
    lam_fn *of_gradient = function(ctx, "total", body_total, 2, 1, gradient);
    lam_fn *of_tangent = function(ctx, "total", body_total, 4, 1, tangent);
    const mode made[MODES] = {
        {"base", f, 2, 1, false},
        {"tape", gradient, 2, 2, false},
        {"dual", tangent, 4, 2, false},
        {"batch", lam_vmap(f, NULL), 2, 1, true},
        {"tape in tape", lam_grad(of_gradient, &both), 2, 2, false},
        {"dual in tape", lam_grad(of_tangent, &both), 4, 2, false},
        {"tape in dual", lam_jvp_fn(gradient, NULL), 4, 4, false},
        {"dual in dual", lam_jvp_fn(tangent, NULL), 8, 4, false},
        {"tape in batch", lam_vmap(gradient, NULL), 2, 2, true},
    };
    for (int i = 0; i < MODES; i++) m[i] = made[i];
}

typedef struct job {
    lam_ctx *ctx;
    const mode *m;
    lam_tensor *x[8];
} job;

static void run_mode(void *env) {
    job *j = env;
    lam_tensor *out[4];
    lam_scope *scope = lam_scope_begin(j->ctx);
    lam_call(j->m->f, (lam_list){(size_t)j->m->inputs, j->x}, out, (size_t)j->m->outputs);
    lam_scope_end(scope, NULL, 0);
}

static double per_operation(lam_ctx *ctx, const mode *m, int64_t n, int runs, int repeats) {
    double ones[WIDEST];
    for (int i = 0; i < WIDEST; i++) ones[i] = 1;
    int64_t dims[2] = {1, n};
    lam_dims plain = {n > 1, &dims[1]}, batched = {1 + (n > 1), dims};
    job j = {.ctx = ctx, .m = m};
    lam_scope *scope = lam_scope_begin(ctx);
    for (int i = 0; i < m->inputs; i++) j.x[i] = lam_array(ctx, LAM_F64, m->batched ? batched : plain, ones);
    double t = timing_median(run_mode, &j, runs, repeats) / OPERATIONS;
    lam_scope_end(scope, NULL, 0);
    return t;
}

static void print_hand(void) {
    static hand h;
    printf("%-16s", "C, value");
    for (h.n = 1; h.n <= WIDEST; h.n *= WIDEST) {
        for (int i = 0; i < h.n; i++) h.x[i] = h.y[i] = 1;
        printf("%10.1f", timing_median(hand_value, &h, RUNS, 10) / OPERATIONS);
    }
    printf("\n%-16s", "C, gradient");
    for (h.n = 1; h.n <= WIDEST; h.n *= WIDEST)
        printf("%10.1f", timing_median(hand_gradient, &h, RUNS, 10) / OPERATIONS);
    printf("\n");
}

int main(int argc, char **argv) {
    int only = argc > 1 ? atoi(argv[1]) : -1, repeats = argc > 2 ? atoi(argv[2]) : 1, runs = argc > 2 ? 1 : RUNS;
    lam_ctx *ctx = lam_ctx_new(NULL);
    mode modes[MODES];
    make_modes(ctx, modes);
    if (only < 0) printf("ns per operation\n%-16s%10s%10s\n", "elements", "1", "64");
    for (int i = 0; i < MODES; i++) {
        if (only >= 0 && i != only) continue;
        printf("%-16s%10.1f", modes[i].name, per_operation(ctx, &modes[i], 1, runs, repeats));
        if (argc <= 2) printf("%10.1f", per_operation(ctx, &modes[i], WIDEST, runs, repeats));
        printf("\n");
    }
    if (only < 0) print_hand();
    if (lam_status_of(ctx) != LAM_OK) fprintf(stderr, "%s\n", lam_error(ctx));
    lam_ctx_free(ctx);
    return EXIT_SUCCESS;
}
