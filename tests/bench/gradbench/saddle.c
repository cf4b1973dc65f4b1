/* saddle: min over x of max over y of f(x, y) = |x|^2 - |y|^2 in the plane, both by gradient steps, the inner ones
 * inside of what the outer ones differentiate: gradients in gradients. The number of steps is fixed, so that many
 * starting points go side by side by vmap. The objective is the inner maximum as found from the start; the result of
 * the descent, x and then y, stands where other problems have a derivative. */
#include "tests/bench/gradbench/gradbench.h"

#include <string.h>

enum { INNER = 12, OUTER = 12, CHUNK = 4096 };
static const double RATE = 0.2;

typedef struct saddle {
    int64_t starts;
    const double *start; /* [starts, 2] */
    lam_fn *f, *gain, *best;
} saddle;

static void *make(gradbench_store *store, const gradbench_size *size, int64_t *values, int64_t *derivatives) {
    saddle *p = gradbench_take(store, sizeof *p);
    *p = (saddle){.starts = size->n[0]};
    p->start = gradbench_normal(store, 2 * p->starts);
    *values = p->starts;
    *derivatives = 4 * p->starts;
    return p;
}

/* ---- in C -------------------------------------------------------------------------------------------------------- */

static double f_c(const double *x, const double *y) {
    return x[0] * x[0] + x[1] * x[1] - (y[0] * y[0] + y[1] * y[1]);
}

/* Slopes of f by x and by y. */
static void slopes_c(const double *x, const double *y, double *fx, double *fy) {
    for (int i = 0; i < 2; i++) {
        fx[i] = 2 * x[i];
        fy[i] = -2 * y[i];
    }
}

/* The inner ascent from start, with the Jacobian of y by x: second derivatives of f are -2 by y twice, 0 mixed. */
static void ascend_c(const double *start, const double *x, double y[2], double by_x[2][2]) {
    double fx[2], fy[2];
    memcpy(y, start, 2 * sizeof *y);
    memset(by_x, 0, 4 * sizeof(double));
    for (int k = 0; k < INNER; k++) {
        slopes_c(x, y, fx, fy);
        for (int i = 0; i < 2; i++) {
            y[i] += RATE * fy[i];
            for (int j = 0; j < 2; j++) by_x[i][j] += RATE * -2 * by_x[i][j];
        }
    }
}

static void objective_c(const void *data, double *out) {
    const saddle *p = data;
    double y[2], by_x[2][2];
    for (int64_t s = 0; s < p->starts; s++) {
        ascend_c(p->start + 2 * s, p->start + 2 * s, y, by_x);
        out[s] = f_c(p->start + 2 * s, y);
    }
}

static void derivative_c(const void *data, double *out) {
    const saddle *p = data;
    double y[2], by_x[2][2], fx[2], fy[2];
    for (int64_t s = 0; s < p->starts; s++) {
        const double *start = p->start + 2 * s;
        double *x = out + 4 * s;
        memcpy(x, start, 2 * sizeof *x);
        for (int k = 0; k < OUTER; k++) {
            ascend_c(start, x, y, by_x);
            slopes_c(x, y, fx, fy);
            for (int j = 0; j < 2; j++) x[j] -= RATE * (fx[j] + fy[0] * by_x[0][j] + fy[1] * by_x[1][j]);
        }
        ascend_c(start, x, out + 4 * s + 2, by_x);
    }
}

/* ---- in Lamina --------------------------------------------------------------------------------------------------- */

/* x, y */
static void body_f(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    (void)ctx;
    (void)env;
    out[0] = lam_sub(lam_sum(lam_square(in[0]), NULL), lam_sum(lam_square(in[1]), NULL));
}

/* y that maximises f(x, y), from start. */
static lam_tensor *ascend(const saddle *p, lam_tensor *x, lam_tensor *start) {
    lam_tensor *y = lam_alias(start);
    for (int k = 0; k < INNER; k++) {
        lam_scope *scope = lam_scope_begin(lam_ctx_of(x));
        lam_assign_(y, lam_add(y, lam_mul(RATE, lam_apply(p->gain, LAM_LIST(x, y)))));
        lam_scope_end(scope, NULL, 0);
    }
    return y;
}

/* x, start */
static void body_best(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    const saddle *p = env;
    (void)ctx;
    out[0] = lam_apply(p->f, LAM_LIST(in[0], ascend(p, in[0], in[1])));
}

static void body_objective(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    body_best(ctx, (lam_tensor *[]){in[0], in[0]}, out, env);
}

static void body_descend(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    const saddle *p = env;
    lam_fn *loss = lam_grad(p->best, NULL);
    lam_tensor *x = lam_alias(in[0]);
    for (int k = 0; k < OUTER; k++) {
        lam_scope *scope = lam_scope_begin(ctx);
        lam_assign_(x, lam_sub(x, lam_mul(RATE, lam_apply(loss, LAM_LIST(x, in[0])))));
        lam_scope_end(scope, NULL, 0);
    }
    out[0] = lam_concatenate(LAM_LIST(x, ascend(p, x, in[0])), 0);
}

static void lamina(void *data, gradbench_lamina *l) {
    saddle *p = data;
    gradbench_input(l, LAM_DIMS(p->starts, 2), p->start);
    p->f = gradbench_fn(l, "f", body_f, 2, 1, p);
    p->gain = lam_grad(p->f, &(lam_grad_options){.argnums = LAM_AXES(1)});
    p->best = gradbench_fn(l, "best", body_best, 2, 1, p);
    lam_vmap_options over = {.chunk_size = gradbench_chunk(l, CHUNK)};
    l->objective = lam_vmap(gradbench_fn(l, "objective", body_objective, 1, 1, p), &over);
    l->derivative = lam_vmap(gradbench_fn(l, "descend", body_descend, 1, 1, p), &over);
}

static const gradbench_size sizes[] = {
    {"x8", CHECKED, {8}},         {"x1", USUAL, {1}}, {"x1000", USUAL, {1000}},
    {"x100000", USUAL, {100000}}, {NULL, USUAL, {0}},
};

const gradbench_problem gradbench_saddle = {
    .name = "saddle",
    .derivative = "nested descent",
    .sizes = sizes,
    .make = make,
    .objective_c = objective_c,
    .derivative_c = derivative_c,
    .lamina = lamina,
};
