/* What lam_odeint takes, in microseconds: value, and gradient of the sum of squares by the start and the parameters, of
 * Lotka and Volterra's system at 21 and at 201 times and of a linear one of 100 unknowns, called, compiled and as
 * machine code. All of it to a tolerance of 1.4e-8. peers.py has the same in JAX. */
#define _POSIX_C_SOURCE 200809L
#include <lamina/lamina.h>
#include <math.h>
#include <stdio.h>

#include "tests/bench/timing.h"

enum { RUNS = 15, UNKNOWNS = 100 };

typedef struct problem {
    const char *name;
    lam_body f;
    double end;
    int64_t times;
} problem;

static void prey(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    lam_tensor *y[2], *p[4];
    (void)ctx, (void)env;
    lam_unstack(in[0], 0, y, 2), lam_unstack(in[2], 0, p, 4);
    lam_tensor *both = lam_mul(y[0], y[1]);
    out[0] = lam_stack(
        LAM_LIST(lam_sub(lam_mul(p[0], y[0]), lam_mul(p[1], both)), lam_sub(lam_mul(p[3], both), lam_mul(p[2], y[1]))),
        0);
}

static void linear(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    (void)ctx, (void)env;
    out[0] = lam_matvec(in[2], in[0]);
}

static const problem problems[] = {
    {"prey, 21 times", prey, 20, 21}, {"prey, 201 times", prey, 20, 201}, {"linear, 21 times", linear, 5, 21}};

static void loss(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    const problem *p = env;
    lam_fn *f = lam_fn_new(ctx, &(lam_fn_options){.name = "f", .body = p->f, .inputs = 3, .outputs = 1});
    lam_tensor *ts = lam_linspace(ctx, LAM_F64, 0, p->end, p->times);
    lam_tensor *y = lam_odeint(f, in[0], ts, LAM_LIST(in[1]), NULL, NULL);
    out[0] = lam_sum(lam_square(lam_slice_axis(y, 0, 1, LAM_END)), NULL);
}

/* Eigenvalues near -1: the same elements as in peers.py. */
static lam_tensor *matrix(lam_ctx *ctx) {
    double a[UNKNOWNS * UNKNOWNS];
    for (int i = 0; i < UNKNOWNS * UNKNOWNS; i++) a[i] = 0.1 * sin(i) - (i % (UNKNOWNS + 1) == 0);
    return lam_array(ctx, LAM_F64, LAM_DIMS(UNKNOWNS, UNKNOWNS), a);
}

typedef struct run {
    lam_ctx *ctx;
    lam_fn *f;
    lam_tensor *in[2];
    size_t outputs;
} run;

static void once(void *env) {
    run *r = env;
    lam_tensor *out[2];
    lam_scope *scope = lam_scope_begin(r->ctx);
    (void)lam_call(r->f, (lam_list){2, r->in}, out, r->outputs);
    (void)lam_scope_end(scope, NULL, 0);
}

int main(void) {
    lam_ctx *ctx = lam_ctx_new(NULL);
    printf("%-18s %10s %10s %10s   us\n", "", "called", "compiled", "native");
    for (size_t k = 0; k < sizeof problems / sizeof *problems; k++) {
        const bool small = problems[k].f == prey;
        lam_fn *f = lam_fn_new(
            ctx, &(lam_fn_options){
                     .name = "loss", .body = loss, .inputs = 2, .outputs = 1, .env = (void *)(uintptr_t)&problems[k]});
        lam_tensor *start = small ? lam_array(ctx, LAM_F64, LAM_DIMS(2), (double[]){10, 5})
                                  : lam_sin(lam_arange(ctx, LAM_F64, 1, UNKNOWNS + 1, 1));
        lam_tensor *parameters =
            small ? lam_array(ctx, LAM_F64, LAM_DIMS(4), (double[]){1.1, 0.4, 0.4, 0.1}) : matrix(ctx);
        for (int gradient = 0; gradient < 2; gradient++) {
            lam_fn *g = gradient ? lam_grad(f, &(lam_grad_options){.argnums = LAM_AXES(0, 1)}) : f;
            lam_fn *ways[] = {g, lam_jit(g, NULL), lam_jit(g, &(lam_jit_options){.native = true})};
            printf("%-18s", gradient ? "  gradient" : problems[k].name);
            for (int way = 0; way < 3; way++) {
                run r = {ctx, ways[way], {start, parameters}, (size_t)gradient + 1};
                printf(" %10.1f", timing_median(once, &r, RUNS, 1) / 1000);
                fflush(stdout);
            }
            printf("\n");
        }
    }
    if (lam_status_of(ctx)) fprintf(stderr, "%s\n", lam_error(ctx));
    lam_ctx_free(ctx);
    return 0;
}
