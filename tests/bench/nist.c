/* Values and Jacobian of two NIST models over all their observations: Lamina's vmap of value_and_jacobian against the
 * derivatives written in C by hand and against central differences of the C model. Misra1a has 2 parameters and 14
 * observations, Gauss1 has 8 and 250. Microseconds per evaluation and ratios to the hand-written code, and the largest
 * difference of the Jacobians from it, relative to its largest entry. Prints only. */
#define _POSIX_C_SOURCE 200809L
#include <lamina/lamina.h>
#include <math.h>
#include <stdio.h>

#include "tests/bench/timing.h"

enum { MOST_POINTS = 250, MOST_PARAMETERS = 8, RUNS = 31, SETS = 2 };

typedef struct set {
    const char *name;
    int points, parameters;
    double first, step; /* of x */
    double b[MOST_PARAMETERS];
    double (*value)(const double *b, double x);
    double (*row)(const double *b, double x, double *gradient); /* gives the value too */
    lam_tensor *(*formula)(lam_tensor *const b[], lam_tensor *x);
} set;

/* ---- Misra1a: b0 (1 - exp(-b1 x)) ------------------------------------------------------------------------ */

static double value_misra(const double *b, double x) {
    return b[0] * (1 - exp(-b[1] * x));
}

static double row_misra(const double *b, double x, double *g) {
    double e = exp(-b[1] * x);
    g[0] = 1 - e;
    g[1] = b[0] * x * e;
    return b[0] * g[0];
}

static lam_tensor *formula_misra(lam_tensor *const b[], lam_tensor *x) {
    return lam_mul(b[0], lam_sub(1.0, lam_exp(lam_neg(lam_mul(b[1], x)))));
}

/* ---- Gauss1: b0 exp(-b1 x) + two bells b2 exp(-((x - b3) / b4)^2) ---------------------------------------- */

static double value_gauss(const double *b, double x) {
    double u = (x - b[3]) / b[4], v = (x - b[6]) / b[7];
    return b[0] * exp(-b[1] * x) + b[2] * exp(-u * u) + b[5] * exp(-v * v);
}

static double row_bell(const double *b, double x, double *g) {
    double u = (x - b[1]) / b[2];
    g[0] = exp(-u * u);
    g[1] = b[0] * g[0] * 2 * u / b[2];
    g[2] = g[1] * u;
    return b[0] * g[0];
}

static double row_gauss(const double *b, double x, double *g) {
    g[0] = exp(-b[1] * x);
    g[1] = -b[0] * x * g[0];
    return b[0] * g[0] + row_bell(b + 2, x, g + 2) + row_bell(b + 5, x, g + 5);
}

static lam_tensor *bell(lam_tensor *const b[], lam_tensor *x) {
    return lam_mul(b[0], lam_exp(lam_neg(lam_square(lam_div(lam_sub(x, b[1]), b[2])))));
}

static lam_tensor *formula_gauss(lam_tensor *const b[], lam_tensor *x) {
    lam_tensor *decay = lam_mul(b[0], lam_exp(lam_neg(lam_mul(b[1], x))));
    return lam_add(lam_add(decay, bell(b + 2, x)), bell(b + 5, x));
}

/* ---- the three ways -------------------------------------------------------------------------------------- */

typedef struct job {
    const set *s;
    double x[MOST_POINTS], values[MOST_POINTS], jacobian[MOST_POINTS * MOST_PARAMETERS];
    lam_ctx *ctx;
    lam_fn *f;
    lam_tensor *tensor;
} job;

static void by_hand(void *env) {
    job *j = env;
    for (int i = 0; i < j->s->points; i++)
        j->values[i] = j->s->row(j->s->b, j->x[i], j->jacobian + i * j->s->parameters);
}

static void by_differences(void *env) {
    job *j = env;
    const set *s = j->s;
    double b[MOST_PARAMETERS];
    for (int k = 0; k < s->parameters; k++) b[k] = s->b[k];
    for (int i = 0; i < s->points; i++) j->values[i] = s->value(b, j->x[i]);
    for (int k = 0; k < s->parameters; k++) {
        double step = 6e-6 * fabs(s->b[k]); /* the third root of the rounding unit */
        for (int i = 0; i < s->points; i++) {
            b[k] = s->b[k] + step;
            double up = s->value(b, j->x[i]);
            b[k] = s->b[k] - step;
            j->jacobian[i * s->parameters + k] = (up - s->value(b, j->x[i])) / (2 * step);
        }
        b[k] = s->b[k];
    }
}

static void by_lamina(void *env) {
    job *j = env;
    const set *s = j->s;
    size_t points = (size_t)s->points, parameters = (size_t)s->parameters;
    lam_tensor *out[2];
    lam_scope *scope = lam_scope_begin(j->ctx);
    lam_tensor *b = lam_array(j->ctx, LAM_F64, LAM_DIMS(s->parameters), s->b);
    if (lam_call(j->f, LAM_LIST(b, j->tensor), out, 2) != LAM_OK ||
        lam_read(out[0], j->values, points * sizeof(double)) != LAM_OK ||
        lam_read(out[1], j->jacobian, points * parameters * sizeof(double)) != LAM_OK)
        fprintf(stderr, "%s\n", lam_error(j->ctx));
    lam_scope_end(scope, NULL, 0);
}

static void body_model(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    (void)ctx;
    const set *s = env;
    lam_tensor *b[MOST_PARAMETERS];
    for (int k = 0; k < s->parameters; k++) b[k] = lam_squeeze(lam_slice_axis(in[0], 0, k, k + 1), LAM_AXES(0));
    out[0] = s->formula(b, in[1]);
}

/* ---- comparison ------------------------------------------------------------------------------------------ */

static double difference(const job *a, const job *b) {
    double most = 0, scale = 0;
    for (int i = 0; i < a->s->points * a->s->parameters; i++) {
        most = fmax(most, fabs(a->jacobian[i] - b->jacobian[i]));
        scale = fmax(scale, fabs(a->jacobian[i]));
    }
    return most / scale;
}

static void compare(lam_ctx *ctx, const set *s) {
    static job hand, differences, lamina;
    job *jobs[] = {&hand, &differences, &lamina};
    void (*const ways[])(void *) = {by_hand, by_differences, by_lamina};
    static const char *const names[] = {"C by hand", "C, differences", "Lamina"};
    lam_scope *scope = lam_scope_begin(ctx);
    lam_fn *model = lam_fn_new(
        ctx, &(lam_fn_options){.name = s->name, .body = body_model, .inputs = 2, .outputs = 1, .env = (void *)s});
    double base = 0;
    for (int way = 0; way < 3; way++) {
        job *j = jobs[way];
        j->s = s;
        j->ctx = ctx;
        for (int i = 0; i < s->points; i++) j->x[i] = s->first + s->step * i;
        j->tensor = lam_array(ctx, LAM_F64, LAM_DIMS(s->points), j->x);
        j->f = lam_vmap(lam_value_and_jacobian(model, NULL), &(lam_vmap_options){.in_axes = LAM_AXES(LAM_UNMAPPED, 0)});
        double t = timing_median(ways[way], j, RUNS, 20);
        if (!way) base = t;
        printf("%-10s%-16s%10.2f us%8.2f x%12.1e\n", s->name, names[way], t / 1e3, t / base, difference(&hand, j));
    }
    lam_scope_end(scope, NULL, 0);
}

int main(void) {
    static const set sets[SETS] = {
        {"Misra1a", 14, 2, 77.6, 52.5, {238.94, 5.5015e-4}, value_misra, row_misra, formula_misra},
        {"Gauss1",
         250,
         8,
         1,
         1,
         {98.778, 0.010497, 100.49, 67.481, 23.129, 71.994, 178.998, 18.389},
         value_gauss,
         row_gauss,
         formula_gauss},
    };
    lam_ctx *ctx = lam_ctx_new(NULL);
    printf("%-26s%13s%10s%12s\n", "", "time", "by hand", "difference");
    for (int i = 0; i < SETS; i++) compare(ctx, &sets[i]);
    lam_ctx_free(ctx);
    return EXIT_SUCCESS;
}
