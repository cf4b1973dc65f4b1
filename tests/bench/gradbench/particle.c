/* particle: a charged particle falls past two fixed charges, at (10, 10 - w) and (10, 0); the squared distance from the
 * origin at which it meets the first axis, and its derivative by the control w. Force is minus the gradient of a
 * potential, so the derivative is one through gradients. Euler steps of fixed number; the crossing is interpolated.
 * Many controls side by side, by vmap. */
#include "tests/bench/gradbench/gradbench.h"

#include <math.h>

enum { STEPS = 160, CHUNK = 2048 };
static const double DT = 0.25;

typedef struct particle {
    int64_t controls;
    const double *w;
    lam_fn *force;
} particle;

static void *make(gradbench_store *store, const gradbench_size *size, int64_t *values, int64_t *derivatives) {
    particle *p = gradbench_take(store, sizeof *p);
    *p = (particle){.controls = size->n[0]};
    p->w = gradbench_uniform(store, p->controls, -1, 1);
    *values = *derivatives = p->controls;
    return p;
}

/* ---- in C -------------------------------------------------------------------------------------------------------- */

/* A number and its derivative by w. */
typedef struct pair {
    double v, d;
} pair;

/* Adds what one charge at distance (x, y) contributes: (x, y) / r^3. */
static void add_force(pair x, pair y, pair *fx, pair *fy) {
    double square = x.v * x.v + y.v * y.v, r = sqrt(square), cube = 1 / (r * square);
    double dcube = -3 * cube / square * (x.v * x.d + y.v * y.d);
    fx->v += x.v * cube;
    fx->d += x.d * cube + x.v * dcube;
    fy->v += y.v * cube;
    fy->d += y.d * cube + y.v * dcube;
}

static pair fall(double w) {
    pair x = {0, 0}, y = {8, 0}, u = {0.75, 0}, v = {0, 0}, met = {0, 0};
    for (int k = 0; k < STEPS; k++) {
        pair fx = {0, 0}, fy = {0, 0}, next = {y.v + DT * v.v, y.d + DT * v.d};
        add_force((pair){x.v - 10, x.d}, (pair){y.v - (10 - w), y.d + 1}, &fx, &fy);
        add_force((pair){x.v - 10, x.d}, y, &fx, &fy);
        if (y.v > 0 && next.v <= 0) { /* after y / (y - next) of the step */
            double part = y.v / (y.v - next.v), gap = y.v - next.v;
            double dpart = (y.d * gap - y.v * (y.d - next.d)) / (gap * gap);
            met.v = x.v + part * DT * u.v;
            met.d = x.d + DT * (dpart * u.v + part * u.d);
        }
        x.v += DT * u.v;
        x.d += DT * u.d;
        y = next;
        u.v += DT * fx.v;
        u.d += DT * fx.d;
        v.v += DT * fy.v;
        v.d += DT * fy.d;
    }
    return (pair){met.v * met.v, 2 * met.v * met.d};
}

static void objective_c(const void *data, double *out) {
    const particle *p = data;
    for (int64_t i = 0; i < p->controls; i++) out[i] = fall(p->w[i]).v;
}

static void derivative_c(const void *data, double *out) {
    const particle *p = data;
    for (int64_t i = 0; i < p->controls; i++) out[i] = fall(p->w[i]).d;
}

/* ---- in Lamina --------------------------------------------------------------------------------------------------- */

/* x, y, w -> minus the potential of a charge */
static void body_potential(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    (void)ctx;
    (void)env;
    lam_tensor *x2 = lam_square(lam_sub(in[0], 10.0)), *y = in[1], *other = lam_sub(y, lam_sub(10.0, in[2]));
    out[0] = lam_neg(lam_add(lam_rsqrt(lam_add(x2, lam_square(y))), lam_rsqrt(lam_add(x2, lam_square(other)))));
}

/* The state before the step that crosses the axis is chosen as it goes by; where it crosses is found afterwards. */
static void body_fall(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    enum { X, Y, U, V, STATE };
    static const double start[STATE] = {0, 8, 0.75, 0}, nowhere[STATE] = {0, 0, 0, -1};
    const particle *p = env;
    lam_tensor *now[STATE], *last[STATE];
    for (int i = 0; i < STATE; i++) {
        now[i] = lam_scalar(ctx, start[i]);
        last[i] = lam_scalar(ctx, nowhere[i]);
    }
    for (int k = 0; k < STEPS; k++) {
        lam_scope *scope = lam_scope_begin(ctx);
        lam_tensor *force[2], *next = lam_fma(now[V], DT, now[Y]);
        lam_call(p->force, LAM_LIST(now[X], now[Y], in[0]), force, 2);
        lam_tensor *crosses = lam_and(lam_gt(now[Y], 0.0), lam_le(next, 0.0));
        for (int i = 0; i < STATE; i++) lam_assign_(last[i], lam_where(crosses, now[i], last[i]));
        lam_assign_(now[X], lam_fma(now[U], DT, now[X]));
        lam_assign_(now[Y], next);
        for (int i = 0; i < 2; i++) lam_assign_(now[U + i], lam_fma(force[i], DT, now[U + i]));
        lam_scope_end(scope, NULL, 0);
    }
    out[0] = lam_square(lam_sub(last[X], lam_mul(lam_div(last[Y], last[V]), last[U])));
}

/* w -> the derivative: one input, so forward mode. */
static void body_slope(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    lam_tensor *value;
    lam_jvp(env, LAM_LIST(in[0]), LAM_LIST(lam_scalar(ctx, 1)), &value, out, 1, NULL);
}

static void lamina(void *data, gradbench_lamina *l) {
    particle *p = data;
    gradbench_input(l, LAM_DIMS(p->controls), p->w);
    lam_fn *potential = gradbench_fn(l, "potential", body_potential, 3, 1, p);
    p->force = lam_grad(potential, &(lam_grad_options){.argnums = LAM_AXES(0, 1)});
    lam_fn *f = gradbench_fn(l, "fall", body_fall, 1, 1, p);
    lam_vmap_options over = {.chunk_size = gradbench_chunk(l, CHUNK)};
    l->objective = lam_vmap(f, &over);
    l->derivative = lam_vmap(gradbench_fn(l, "slope", body_slope, 1, 1, f), &over);
}

static const gradbench_size sizes[] = {
    {"x8", CHECKED, {8}}, {"x1", USUAL, {1}}, {"x1000", USUAL, {1000}}, {"x10000", USUAL, {10000}}, {NULL, USUAL, {0}},
};

const gradbench_problem gradbench_particle = {
    .name = "particle",
    .derivative = "derivative",
    .sizes = sizes,
    .make = make,
    .objective_c = objective_c,
    .derivative_c = derivative_c,
    .lamina = lamina,
};
