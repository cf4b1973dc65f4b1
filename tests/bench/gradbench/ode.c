/* ode: y_0' = x_0, y_i' = x_i y_(i-1) from y = 0, to t = 2 by s steps of the classical Runge-Kutta rule; all of y, and
 * the gradient of its last component by x. A number of such systems side by side: vmap's case. */
#include "tests/bench/gradbench/gradbench.h"

#include <string.h>

enum { STAGES = 4, CHUNK = 2048 }; /* numbers of all systems that go side by side */

typedef struct ode {
    int64_t n, steps, systems;
    const double *x; /* [systems, n] */
    double *stages;  /* of the C form: [steps, 4, n], where the slope was taken */
    double *room;    /* [8, n] */
} ode;

static const double END = 2, AHEAD[STAGES] = {0, 0.5, 0.5, 1}, WEIGHT[STAGES] = {1. / 6, 1. / 3, 1. / 3, 1. / 6};

static void *make(gradbench_store *store, const gradbench_size *size, int64_t *values, int64_t *derivatives) {
    ode *p = gradbench_take(store, sizeof *p);
    *p = (ode){.n = size->n[0], .steps = size->n[1], .systems = size->n[2]};
    p->x = gradbench_uniform(store, p->systems * p->n, 0.5, 1.5);
    size_t data = store->bytes;
    p->stages = gradbench_doubles(store, p->steps * STAGES * p->n);
    p->room = gradbench_doubles(store, 8 * p->n);
    store->bytes = data;
    *values = *derivatives = p->systems * p->n;
    return p;
}

/* ---- in C -------------------------------------------------------------------------------------------------------- */

static void slope(int64_t n, const double *restrict x, const double *restrict y, double *restrict k) {
    k[0] = x[0];
    for (int64_t i = 1; i < n; i++) k[i] = x[i] * y[i - 1];
}

/* y after all steps; where slopes were taken goes to stages, if wanted. */
static void run(const ode *p, const double *x, double *y, double *stages) {
    double h = END / (double)p->steps, *z = p->room, *k = p->room + p->n, *sum = p->room + 2 * p->n;
    memset(y, 0, (size_t)p->n * sizeof *y);
    for (int64_t step = 0; step < p->steps; step++) {
        memcpy(sum, y, (size_t)p->n * sizeof *y);
        for (int s = 0; s < STAGES; s++) {
            for (int64_t i = 0; i < p->n; i++) z[i] = y[i] + (s ? h * AHEAD[s] * k[i] : 0);
            slope(p->n, x, z, k);
            for (int64_t i = 0; i < p->n; i++) sum[i] += h * WEIGHT[s] * k[i];
            if (stages) memcpy(stages + (step * STAGES + s) * p->n, z, (size_t)p->n * sizeof *z);
        }
        memcpy(y, sum, (size_t)p->n * sizeof *y);
    }
}

static void objective_c(const void *data, double *out) {
    const ode *p = data;
    for (int64_t j = 0; j < p->systems; j++) run(p, p->x + j * p->n, out + j * p->n, NULL);
}

/* The way back: g is the slope by y, that by k of the stage ahead comes through z = y + h a k. */
static void back(const ode *p, const double *x, double *gx) {
    double h = END / (double)p->steps, *g = p->room, *gk = p->room + p->n, *gz = p->room + 2 * p->n,
           *sum = p->room + 3 * p->n;
    int64_t n = p->n;
    memset(g, 0, (size_t)n * sizeof *g);
    memset(gx, 0, (size_t)n * sizeof *gx);
    g[n - 1] = 1;
    for (int64_t step = p->steps; step--;) {
        memcpy(sum, g, (size_t)n * sizeof *g);
        memset(gz, 0, (size_t)n * sizeof *gz);
        for (int s = STAGES; s--;) {
            const double *z = p->stages + (step * STAGES + s) * n;
            double ahead = s + 1 < STAGES ? h * AHEAD[s + 1] : 0;
            for (int64_t i = 0; i < n; i++) gk[i] = h * WEIGHT[s] * g[i] + ahead * gz[i];
            gx[0] += gk[0];
            for (int64_t i = 1; i < n; i++) gx[i] += gk[i] * z[i - 1];
            for (int64_t i = 0; i + 1 < n; i++) gz[i] = gk[i + 1] * x[i + 1];
            gz[n - 1] = 0;
            for (int64_t i = 0; i < n; i++) sum[i] += gz[i];
        }
        memcpy(g, sum, (size_t)n * sizeof *g);
    }
}

static void derivative_c(const void *data, double *out) {
    const ode *p = data;
    for (int64_t j = 0; j < p->systems; j++) {
        run(p, p->x + j * p->n, p->room + 7 * p->n, p->stages);
        back(p, p->x + j * p->n, out + j * p->n);
    }
}

/* ---- in Lamina --------------------------------------------------------------------------------------------------- */

/* What each component's slope is a multiple of: 1, then y but for its last. */
static lam_tensor *before(lam_tensor *one, lam_tensor *y) {
    return lam_concatenate(LAM_LIST(one, lam_slice_axis(y, 0, 0, -1)), 0);
}

/* With the step's length and weights in x, a stage is one product and sum; (z1 + 2 z2 + z3 - y) / 3 is y plus the first
 * three of the four weighted slopes. */
static void body_run(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    const ode *p = env;
    double h = END / (double)p->steps;
    lam_tensor *one = lam_ones(ctx, LAM_F64, LAM_DIMS(1)), *y = lam_zeros(ctx, LAM_F64, LAM_DIMS(p->n)), *x[STAGES];
    x[0] = x[1] = lam_mul(h * AHEAD[1], in[0]);
    x[2] = lam_mul(h * AHEAD[3], in[0]);
    x[3] = lam_mul(h * WEIGHT[3], in[0]);
    for (int64_t step = 0; step < p->steps; step++) {
        lam_scope *scope = lam_scope_begin(ctx);
        lam_tensor *z[STAGES] = {y};
        for (int s = 1; s < STAGES; s++) z[s] = lam_fma(x[s - 1], before(one, z[s - 1]), y);
        lam_tensor *sum = lam_add(lam_fma(z[2], 2.0, z[1]), lam_sub(z[3], y));
        lam_assign_(y, lam_fma(x[3], before(one, z[3]), lam_mul(1. / 3, sum)));
        lam_scope_end(scope, NULL, 0);
    }
    out[0] = y;
}

static void body_last(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    lam_tensor *y[1];
    body_run(ctx, in, y, env);
    out[0] = lam_index(y[0], 0, -1);
}

static void lamina(void *data, gradbench_lamina *l) {
    ode *p = data;
    gradbench_input(l, LAM_DIMS(p->systems, p->n), p->x);
    lam_vmap_options over = {.chunk_size = gradbench_chunk(l, CHUNK / p->n)};
    l->objective = lam_vmap(gradbench_fn(l, "run", body_run, 1, 1, p), &over);
    l->derivative = lam_vmap(lam_grad(gradbench_fn(l, "last", body_last, 1, 1, p), NULL), &over);
}

static const gradbench_size sizes[] = {
    {"n20 s10 x50", CHECKED, {20, 10, 50}},     {"n100 s20 x1", USUAL, {100, 20, 1}},
    {"n100 s20 x100", USUAL, {100, 20, 100}},   {"n20 s20 x1000", USUAL, {20, 20, 1000}},
    {"n100 s100 x100", USUAL, {100, 100, 100}}, {NULL, USUAL, {0}},
};

const gradbench_problem gradbench_ode = {
    .name = "ode",
    .derivative = "gradient",
    .sizes = sizes,
    .make = make,
    .objective_c = objective_c,
    .derivative_c = derivative_c,
    .lamina = lamina,
};
