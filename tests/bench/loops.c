/* What programs with loops take, in microseconds: function and gradient by the first operand, called, compiled and as
 * machine code. Loops that end by a condition (the first five), steps on a line, Sinkhorn's iteration, recurrences,
 * filters and integrators; all numbers are f64. An argument: the name of one problem. The last number of a line is the
 * sum of the results, each times its place from 1 on. peers.py has the same in JAX, and compares these. */
#define _POSIX_C_SOURCE 200809L
#include <lamina/lamina.h>
#include <stdio.h>
#include <string.h>

#include "tests/bench/timing.h"

enum { ROUNDS = 9, WAYS = 3, MOST = 6 };

#ifdef __GNUC__
#define UNUSED __attribute__((unused))
#else
#define UNUSED
#endif

#define BODY(name)                                                                                                     \
    static void name(UNUSED lam_ctx *ctx, UNUSED lam_tensor *const in[], lam_tensor *out[], UNUSED void *env)
#define FN(body, inputs, outputs, captures) function(ctx, #body, body, inputs, outputs, captures)
#define NONE                                ((lam_list){0})

/* eye times the identity, and shift + scale sin(angle t), t from 0 to 3, as in peers.py; or these values. */
typedef struct operand {
    double eye, shift, scale, angle;
    int64_t dims[3];
    const double *values;
} operand;

#define NUMBER(x)                                                                                                      \
    { 0, x, 0, 0, {0}, NULL }
#define EYE(by, n)                                                                                                     \
    { by, 0, 0, 0, {n, n}, NULL }
#define WAVE(height, turn, ...)                                                                                        \
    { 0, 0, height, turn, {__VA_ARGS__}, NULL }
#define LIFTED(shift, turn, ...)                                                                                       \
    { 0, shift, 1, turn, {__VA_ARGS__}, NULL }
#define BESIDE_EYE(height, turn, n)                                                                                    \
    { 1, 0, height, turn, {n, n}, NULL }
#define VALUES(x)                                                                                                      \
    { 0, 0, 0, 0, {sizeof(x) / sizeof *(x)}, x }

typedef struct problem {
    const char *name;
    lam_body f;
    int64_t trips; /* 0: by a condition, or as many as there are elements */
    int inputs;
    operand in[MOST];
} problem;

static lam_fn *function(lam_ctx *ctx, const char *name, lam_body body, int inputs, int outputs, lam_list captures) {
    return lam_fn_new(
        ctx, &(lam_fn_options){.name = name, .body = body, .inputs = inputs, .outputs = outputs, .captures = captures});
}

static int64_t trips_of(const void *env) {
    return ((const problem *)env)->trips;
}

static lam_tensor *squares(lam_tensor *x) {
    return lam_sum(lam_square(x), NULL);
}

static lam_tensor *sum_along(lam_tensor *x, int axis) {
    return lam_sum(x, &(lam_reduce_options){.axes = LAM_AXES(axis)});
}

static lam_tensor *logsumexp_along(lam_tensor *x, int axis) {
    return lam_logsumexp(x, &(lam_reduce_options){.axes = LAM_AXES(axis)});
}

static lam_tensor *largest(lam_tensor *x) {
    return lam_max_reduce(lam_abs(x), NULL);
}

/* ---- until a condition ends them --------------------------------------------------------------------------------- */

/* An angle, its speed, gravity: steps of a millisecond until the pendulum is down. */
BODY(pendulum_is_up) {
    out[0] = lam_gt(in[0], 0.0);
}

BODY(pendulum_step) {
    out[1] = lam_sub(in[1], lam_mul(1e-3, lam_mul(in[3], lam_sin(in[0]))));
    out[0] = lam_add(in[0], lam_mul(1e-3, out[1]));
    out[2] = lam_add(in[2], 1e-3);
}

BODY(pendulum) {
    lam_tensor *o[3];
    lam_fn *more = FN(pendulum_is_up, 3, 1, NONE), *step = FN(pendulum_step, 3, 3, LAM_LIST(in[2]));
    lam_while(more, step, LAM_LIST(in[0], in[1], lam_scalar(ctx, 0.0)), o, 3);
    out[0] = lam_add(lam_square(o[1]), o[2]);
}

/* Square roots by a tenth of Newton's step. */
BODY(newton_is_far) {
    out[0] = lam_gt(largest(lam_sub(lam_square(in[0]), in[1])), 1e-6);
}

BODY(newton_step) {
    lam_tensor *x = in[0];
    out[0] = lam_sub(x, lam_mul(0.1, lam_div(lam_sub(lam_square(x), in[1]), lam_mul(2.0, x))));
}

BODY(newton) {
    lam_tensor *x;
    lam_fn *more = FN(newton_is_far, 1, 1, LAM_LIST(in[0])), *step = FN(newton_step, 1, 1, LAM_LIST(in[0]));
    lam_while(more, step, LAM_LIST(lam_ones_like(in[0])), &x, 1);
    out[0] = squares(x);
}

/* x = tanh(W x + b), by putting it in until it stays. */
BODY(fixed_point_moves) {
    out[0] = lam_gt(in[1], 1e-8);
}

BODY(fixed_point_step) {
    out[0] = lam_tanh(lam_add(lam_matvec(in[2], in[0]), in[3]));
    out[1] = largest(lam_sub(out[0], in[0]));
}

BODY(fixed_point) {
    lam_tensor *o[2];
    lam_fn *more = FN(fixed_point_moves, 2, 1, NONE), *step = FN(fixed_point_step, 2, 2, LAM_LIST(in[0], in[1]));
    lam_while(more, step, LAM_LIST(lam_zeros_like(in[1]), lam_scalar(ctx, 1.0)), o, 2);
    out[0] = squares(o[0]);
}

/* Lotka and Volterra's system to t = 2: steps of the third order, whose lengths come from those of the second. */
static lam_tensor *slope(lam_tensor *state, lam_tensor *parameters) {
    lam_tensor *y[2], *p[4];
    lam_unstack(state, 0, y, 2), lam_unstack(parameters, 0, p, 4);
    lam_tensor *both = lam_mul(y[0], y[1]);
    return lam_stack(
        LAM_LIST(lam_sub(lam_mul(p[0], y[0]), lam_mul(p[1], both)), lam_sub(lam_mul(p[2], both), lam_mul(p[3], y[1]))),
        0);
}

BODY(prey_is_early) {
    out[0] = lam_lt(in[0], 2.0 - 1e-12);
}

BODY(prey_step) {
    lam_tensor *t = in[0], *y = in[1], *h = lam_min(in[2], lam_sub(2.0, t)), *p = in[3];
    lam_tensor *k1 = slope(y, p), *k2 = slope(lam_add(y, lam_mul(h, k1)), p), *ends = lam_add(k1, k2);
    lam_tensor *k3 = slope(lam_add(y, lam_mul(lam_mul(0.25, h), ends)), p);
    lam_tensor *ahead = lam_add(y, lam_mul(lam_div(h, 6.0), lam_add(ends, lam_mul(4.0, k3))));
    lam_tensor *error = lam_norm(lam_mul(lam_div(h, 3.0), lam_sub(ends, lam_mul(2.0, k3))), NULL);
    lam_tensor *holds = lam_le(error, 1e-3), *by = lam_pow(lam_div(1e-3, lam_stop_gradient(error)), 1.0 / 3);
    out[0] = lam_where(holds, lam_add(t, h), t);
    out[1] = lam_where(holds, ahead, y);
    out[2] = lam_mul(h, lam_clamp(lam_mul(0.9, by), 0.3, 3.0));
}

BODY(prey) {
    lam_tensor *o[3];
    lam_fn *more = FN(prey_is_early, 3, 1, NONE), *step = FN(prey_step, 3, 3, LAM_LIST(in[0]));
    lam_while(more, step, LAM_LIST(lam_scalar(ctx, 0.0), in[1], lam_scalar(ctx, 0.1)), o, 3);
    out[0] = squares(o[1]);
}

/* ---- a number of steps ------------------------------------------------------------------------------------------- */

/* The heat equation on a line whose ends are held. */
BODY(heat_step) {
    lam_tensor *u = in[1];
    const int64_t n = lam_dim(u, 0);
    lam_tensor *left = lam_slice_axis(u, 0, 0, n - 2), *middle = lam_slice_axis(u, 0, 1, n - 1);
    lam_tensor *curve = lam_add(lam_sub(left, lam_mul(2.0, middle)), lam_slice_axis(u, 0, 2, n));
    lam_tensor *inside = lam_add(middle, lam_mul(in[2], curve));
    out[0] = lam_concatenate(LAM_LIST(lam_slice_axis(u, 0, 0, 1), inside, lam_slice_axis(u, 0, n - 1, n)), 0);
}

BODY(heat) {
    lam_tensor *u;
    lam_fori(0, trips_of(env), FN(heat_step, 2, 1, LAM_LIST(in[1])), LAM_LIST(in[0]), &u, 1);
    out[0] = squares(u);
}

/* What it costs to bring softmax(a) to softmax(b), by Sinkhorn's iteration of logarithms with costs C. */
BODY(sinkhorn_step) {
    lam_tensor *f = lam_sub(in[3], logsumexp_along(lam_sub(in[1], in[2]), 1));
    out[0] = lam_sub(in[4], logsumexp_along(lam_sub(lam_expand_dims(f, 1), in[2]), 0));
}

BODY(sinkhorn) {
    lam_tensor *c = in[0], *a = lam_log_softmax(in[1], -1), *b = lam_log_softmax(in[2], -1), *g;
    lam_fori(0, trips_of(env), FN(sinkhorn_step, 2, 1, LAM_LIST(c, a, b)), LAM_LIST(lam_zeros_like(b)), &g, 1);
    lam_tensor *f = lam_sub(a, logsumexp_along(lam_sub(g, c), 1));
    out[0] = lam_sum(lam_mul(lam_exp(lam_sub(lam_add(lam_expand_dims(f, 1), g), c)), c), NULL);
}

/* Bodies that attract each other: the leapfrog rule from places and speeds. */
static lam_tensor *pull(lam_tensor *q, lam_tensor *masses) {
    lam_tensor *d = lam_sub(lam_expand_dims(q, 0), lam_expand_dims(q, 1));
    lam_tensor *w = lam_mul(masses, lam_pow(lam_add(sum_along(lam_square(d), 2), 0.05), -1.5));
    return sum_along(lam_mul(lam_expand_dims(w, 2), d), 1);
}

BODY(bodies_step) {
    out[0] = lam_add(in[1], lam_mul(0.01, in[2]));
    out[1] = lam_add(in[2], lam_mul(0.01, pull(out[0], in[3])));
}

BODY(bodies) {
    lam_tensor *o[2];
    lam_fori(0, trips_of(env), FN(bodies_step, 3, 2, LAM_LIST(in[2])), LAM_LIST(in[0], in[1]), o, 2);
    out[0] = squares(o[0]);
}

/* y' = V tanh(W y + b), by the classical rule of Runge and Kutta. */
static lam_tensor *network(lam_tensor *const in[], lam_tensor *y) {
    return lam_matvec(in[4], lam_tanh(lam_add(lam_matvec(in[2], y), in[3])));
}

BODY(neural_step) {
    const double h = 0.05;
    lam_tensor *y = in[1], *k1 = network(in, y), *k2 = network(in, lam_add(y, lam_mul(h / 2, k1)));
    lam_tensor *k3 = network(in, lam_add(y, lam_mul(h / 2, k2))), *k4 = network(in, lam_add(y, lam_mul(h, k3)));
    lam_tensor *sum = lam_add_all(LAM_LIST(k1, lam_mul(2.0, k2), lam_mul(2.0, k3), k4));
    out[0] = lam_add(y, lam_mul(h / 6, sum));
}

BODY(neural) {
    lam_tensor *y;
    lam_fori(0, trips_of(env), FN(neural_step, 2, 1, LAM_LIST(in[0], in[1], in[2])), LAM_LIST(in[3]), &y, 1);
    out[0] = squares(y);
}

/* Least squares by gradient descent with momentum; the gradient is that by the length of a step. */
BODY(descent_step) {
    lam_tensor *rest = lam_sub(lam_matvec(in[3], in[1]), in[4]);
    out[1] = lam_add(lam_mul(0.9, in[2]), lam_matvec(lam_matrix_transpose(in[3]), rest));
    out[0] = lam_sub(in[1], lam_mul(in[5], out[1]));
}

BODY(descent) {
    lam_tensor *o[2], *zeros = lam_zeros(ctx, LAM_F64, LAM_DIMS(lam_dim(in[1], 1)));
    lam_fn *step = FN(descent_step, 3, 2, LAM_LIST(in[1], in[2], in[0]));
    lam_fori(0, trips_of(env), step, LAM_LIST(zeros, zeros), o, 2);
    out[0] = squares(lam_sub(lam_matvec(in[1], o[0]), in[2]));
}

/* Riccati's equation of a controller. */
BODY(riccati_step) {
    lam_tensor *p = in[1], *a = in[2], *b = in[3], *pa = lam_matmul(p, a), *bt = lam_matrix_transpose(b);
    lam_tensor *bpa = lam_matmul(bt, pa), *s = lam_add(in[5], lam_matmul(bt, lam_matmul(p, b)));
    lam_tensor *gain = lam_matmul(lam_matrix_transpose(bpa), lam_solve(s, bpa));
    out[0] = lam_sub(lam_add(in[4], lam_matmul(lam_matrix_transpose(a), pa)), gain);
}

BODY(riccati) {
    lam_tensor *p;
    lam_fn *step = FN(riccati_step, 2, 1, LAM_LIST(in[0], in[1], in[2], in[3]));
    lam_fori(0, trips_of(env), step, LAM_LIST(in[2]), &p, 1);
    out[0] = lam_sum(p, NULL);
}

/* ---- along a sequence -------------------------------------------------------------------------------------------- */

/* h = tanh(W h + V x + b). */
BODY(recurrent_step) {
    out[0] = lam_tanh(lam_add_all(LAM_LIST(lam_matvec(in[2], in[0]), lam_matvec(in[3], in[1]), in[4])));
    out[1] = squares(out[0]);
}

BODY(recurrent) {
    lam_tensor *o[2];
    lam_fn *step = FN(recurrent_step, 2, 2, LAM_LIST(in[0], in[1], in[2]));
    lam_scan(step, LAM_LIST(lam_zeros_like(in[2])), LAM_LIST(in[3]), o, 2, NULL);
    out[0] = lam_sum(o[1], NULL);
}

/* Gated recurrent units on several sequences at once. */
static lam_tensor *mix(lam_tensor *h, lam_tensor *w, lam_tensor *x, lam_tensor *v) {
    return lam_add(lam_matmul(h, w), lam_matmul(x, v));
}

BODY(gated_step) {
    lam_tensor *h = in[0], *x = in[1], *z = lam_logistic(mix(h, in[2], x, in[3]));
    lam_tensor *r = lam_logistic(mix(h, in[4], x, in[5])), *c = lam_tanh(mix(lam_mul(r, h), in[2], x, in[5]));
    out[0] = lam_add(lam_mul(lam_sub(1.0, z), h), lam_mul(z, c));
}

BODY(gated) {
    lam_tensor *h;
    lam_fn *step = FN(gated_step, 2, 1, LAM_LIST(in[0], in[1], in[2], in[3]));
    lam_scan(step, LAM_LIST(in[5]), LAM_LIST(in[4]), &h, 1, NULL);
    out[0] = squares(h);
}

/* Kalman's filter; the sum of -2 log of the likelihoods, without the constant. */
BODY(kalman_step) {
    lam_tensor *a = in[3], *h = in[5], *x = lam_matvec(a, in[0]);
    lam_tensor *p = lam_add(lam_matmul(lam_matmul(a, in[1]), lam_matrix_transpose(a)), in[4]), *hp = lam_matmul(h, p);
    lam_tensor *s = lam_add(lam_matmul(hp, lam_matrix_transpose(h)), in[6]), *e = lam_sub(in[2], lam_matvec(h, x));
    lam_tensor *gain = lam_matrix_transpose(lam_solve(s, hp));
    out[0] = lam_add(x, lam_matvec(gain, e));
    out[1] = lam_sub(p, lam_matmul(gain, hp));
    out[2] = lam_add(lam_vecdot(e, lam_solve(s, e), 0), lam_log(lam_det(s)));
}

BODY(kalman) {
    lam_tensor *o[3], *q = in[1];
    const int64_t n = lam_dim(q, 0);
    lam_fn *step = FN(kalman_step, 3, 3, LAM_LIST(in[0], q, in[2], in[3]));
    lam_list start = LAM_LIST(lam_zeros(ctx, LAM_F64, LAM_DIMS(n)), lam_eye(ctx, LAM_F64, n, n));
    lam_scan(step, start, LAM_LIST(in[4]), o, 3, NULL);
    out[0] = lam_sum(o[2], NULL);
}

/* The forward algorithm of a hidden Markov model, in logarithms. */
BODY(markov_step) {
    out[0] = lam_add(logsumexp_along(lam_add(lam_expand_dims(in[0], 1), in[2]), 0), in[1]);
}

BODY(markov) {
    lam_tensor *a, *start = lam_zeros(ctx, LAM_F64, LAM_DIMS(lam_dim(in[0], 0)));
    lam_fn *step = FN(markov_step, 2, 1, LAM_LIST(lam_log_softmax(in[0], -1)));
    lam_scan(step, LAM_LIST(start), LAM_LIST(in[1]), &a, 1, NULL);
    out[0] = lam_logsumexp(a, NULL);
}

/* ---- all of them ------------------------------------------------------------------------------------------------- */

static const double rates[] = {1.1, 0.4, 0.1, 0.4}, animals[] = {10, 5};

static const problem problems[] = {
    {"pendulum", pendulum, 0, 3, {NUMBER(1), NUMBER(0.5), NUMBER(9.8)}},
    {"Newton, 3", newton, 0, 1, {LIFTED(1.5, 1, 3)}},
    {"Newton, 100", newton, 0, 1, {LIFTED(1.5, 1, 100)}},
    {"fixed point, 32", fixed_point, 0, 2, {WAVE(0.1, 100. / 3, 32, 32), WAVE(1, 1, 32)}},
    {"prey, own steps", prey, 0, 2, {VALUES(rates), VALUES(animals)}},
    {"heat, 30 x 50", heat, 50, 2, {WAVE(1, 1, 30), NUMBER(0.2)}},
    {"heat, 1000 x 50", heat, 50, 2, {WAVE(1, 1, 1000), NUMBER(0.2)}},
    {"heat, 1000 x 1000", heat, 1000, 2, {WAVE(1, 1, 1000), NUMBER(0.2)}},
    {"heat, 10000 x 50", heat, 50, 2, {WAVE(1, 1, 10000), NUMBER(0.2)}},
    {"Sinkhorn, 6 x 7", sinkhorn, 100, 3, {LIFTED(1, 9, 6, 7), WAVE(1, 1, 6), WAVE(1, 1, 7)}},
    {"Sinkhorn, 50 x 50", sinkhorn, 100, 3, {LIFTED(1, 9, 50, 50), WAVE(1, 1, 50), WAVE(1, 1, 50)}},
    {"bodies, 5", bodies, 100, 3, {WAVE(1, 8, 5, 3), WAVE(0.1, 3, 5, 3), LIFTED(1, 1, 5)}},
    {"neural ODE", neural, 50, 4, {WAVE(0.3, 40, 32, 8), WAVE(1, 1, 32), WAVE(0.3, 30, 8, 32), WAVE(1, 2, 8)}},
    {"descent, 50 x 10", descent, 100, 3, {NUMBER(1e-3), WAVE(1, 200, 50, 10), WAVE(1, 9, 50)}},
    {"Riccati, 6 x 6", riccati, 100, 4, {WAVE(0.3, 11, 6, 6), WAVE(1, 5, 6, 2), EYE(1, 6), EYE(1, 2)}},
    {"recurrent, 32",
     recurrent,
     0,
     4,
     {WAVE(0.2, 40, 32, 32), WAVE(0.2, 30, 32, 16), WAVE(1, 1, 32), WAVE(1, 90, 100, 16)}},
    {"gated, 8 x 32",
     gated,
     0,
     6,
     {WAVE(0.2, 40, 32, 32), WAVE(0.2, 30, 16, 32), WAVE(0.2, 20, 32, 32), WAVE(0.2, 33, 16, 32),
      WAVE(1, 90, 50, 8, 16), WAVE(1, 5, 8, 32)}},
    {"Kalman, 4",
     kalman,
     0,
     5,
     {BESIDE_EYE(0.1, 9, 4), EYE(0.1, 4), WAVE(1, 7, 2, 4), EYE(0.2, 2), WAVE(1, 70, 100, 2)}},
    {"Markov, 8", markov, 0, 2, {WAVE(1, 20, 8, 8), WAVE(1, 99, 100, 8)}},
};

static lam_tensor *make(lam_ctx *ctx, const operand *o) {
    int rank = 0;
    int64_t count = 1;
    while (rank < 3 && o->dims[rank]) count *= o->dims[rank++];
    const lam_dims dims = {rank, o->dims};
    if (o->values) return lam_array(ctx, LAM_F64, dims, o->values);
    lam_tensor *wave = lam_sin(lam_mul(o->angle, lam_linspace(ctx, LAM_F64, 0, 3, count)));
    lam_tensor *x = lam_reshape(lam_add(o->shift, lam_mul(o->scale, wave)), dims);
    return o->eye ? lam_add(x, lam_mul(o->eye, lam_eye(ctx, LAM_F64, o->dims[0], o->dims[1]))) : x;
}

typedef struct run {
    lam_ctx *ctx;
    lam_fn *f;
    lam_list in;
} run;

static void once(const run *r) {
    lam_tensor *out;
    lam_scope *scope = lam_scope_begin(r->ctx);
    (void)lam_call(r->f, r->in, &out, 1);
    (void)lam_scope_end(scope, NULL, 0);
}

/* The least time of a call in some runs, each long enough for the clock. */
static double least(const run *r) {
    double start = timing_now();
    once(r);
    double best = timing_now() - start;
    const int repeats = 1 + (int)(1e5 / best), runs = best > 1e6 ? 3 : 9;
    for (int i = 0; i < runs; i++) {
        start = timing_now();
        for (int k = 0; k < repeats; k++) once(r);
        const double time = (timing_now() - start) / repeats;
        if (time < best) best = time;
    }
    return best;
}

/* Elements times their places, so that two that are swapped show. */
static double total(const run *r) {
    lam_scope *scope = lam_scope_begin(r->ctx);
    lam_tensor *x = lam_reshape(lam_apply(r->f, r->in), LAM_DIMS(-1));
    const double sum = lam_item(lam_vecdot(x, lam_arange(r->ctx, LAM_F64, 1, (double)lam_size(x) + 1, 1), 0));
    (void)lam_scope_end(scope, NULL, 0);
    return sum;
}

static void measure(lam_ctx *ctx, const char *name, lam_fn *f, lam_list in) {
    lam_fn *ways[WAYS] = {f, lam_jit(f, NULL), lam_jit(f, &(lam_jit_options){.native = true})};
    double best[WAYS] = {0}, sum = 0;
    for (int way = 0; way < WAYS; way++) sum = total(&(run){ctx, ways[way], in});
    for (int round = 0; round < ROUNDS; round++)
        for (int way = 0; way < WAYS; way++) {
            const double time = least(&(run){ctx, ways[way], in});
            if (!round || time < best[way]) best[way] = time;
        }
    printf("%-18s %10.1f %10.1f %10.1f %19.12g\n", name, best[0] / 1e3, best[1] / 1e3, best[2] / 1e3, sum);
    fflush(stdout);
}

int main(int argc, char **argv) {
    lam_ctx *ctx = lam_ctx_new(NULL);
    bool found = false;
    printf("%-18s %10s %10s %10s %19s\n", "us", "called", "compiled", "native", "results");
    for (size_t k = 0; k < sizeof problems / sizeof *problems; k++) {
        const problem *p = &problems[k];
        if (argc > 1 && strcmp(argv[1], p->name) != 0) continue;
        found = true;
        lam_scope *scope = lam_scope_begin(ctx);
        lam_tensor *in[MOST];
        for (int i = 0; i < p->inputs; i++) in[i] = make(ctx, &p->in[i]);
        lam_fn *f = lam_fn_new(
            ctx, &(lam_fn_options){
                     .name = p->name, .body = p->f, .inputs = p->inputs, .outputs = 1, .env = (void *)(uintptr_t)p});
        measure(ctx, p->name, f, (lam_list){(size_t)p->inputs, in});
        measure(ctx, "  gradient", lam_grad(f, NULL), (lam_list){(size_t)p->inputs, in});
        (void)lam_scope_end(scope, NULL, 0);
    }
    const bool failed = !found || lam_status_of(ctx);
    if (failed) fprintf(stderr, "%s\n", found ? lam_error(ctx) : "there is no problem of this name");
    lam_ctx_free(ctx);
    return failed;
}
