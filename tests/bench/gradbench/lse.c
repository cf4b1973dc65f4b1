/* lse: log of the sum of exponentials of a vector, and its gradient. */
#include "tests/bench/gradbench/gradbench.h"

#include <math.h>

typedef struct lse {
    int64_t n;
    const double *x;
} lse;

static void *make(gradbench_store *store, const gradbench_size *size, int64_t *values, int64_t *derivatives) {
    lse *d = gradbench_take(store, sizeof *d);
    *d = (lse){size->n[0], gradbench_normal(store, size->n[0])};
    *values = 1;
    *derivatives = d->n;
    return d;
}

static void objective_c(const void *data, double *out) {
    const lse *d = data;
    double largest = d->x[0], sum = 0;
    for (int64_t i = 1; i < d->n; i++) largest = d->x[i] > largest ? d->x[i] : largest;
    for (int64_t i = 0; i < d->n; i++) sum += exp(d->x[i] - largest);
    *out = largest + log(sum);
}

/* The exponentials are kept in the gradient, so that each is computed once. */
static void derivative_c(const void *data, double *out) {
    const lse *d = data;
    double largest = d->x[0], sum = 0;
    for (int64_t i = 1; i < d->n; i++) largest = d->x[i] > largest ? d->x[i] : largest;
    for (int64_t i = 0; i < d->n; i++) sum += out[i] = exp(d->x[i] - largest);
    for (int64_t i = 0; i < d->n; i++) out[i] *= 1 / sum;
}

static void body_lse(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    (void)ctx;
    (void)env;
    out[0] = lam_logsumexp(in[0], NULL);
}

static void lamina(void *data, gradbench_lamina *l) {
    const lse *d = data;
    gradbench_input(l, LAM_DIMS(d->n), d->x);
    l->objective = gradbench_fn(l, "lse", body_lse, 1, 1, NULL);
    l->derivative = lam_grad(l->objective, NULL);
}

static const gradbench_size sizes[] = {
    {"n2500", CHECKED, {2500}},     {"n10000", USUAL, {10000}}, {"n100000", USUAL, {100000}},
    {"n1000000", USUAL, {1000000}}, {NULL, USUAL, {0}},
};

const gradbench_problem gradbench_lse = {
    .name = "lse",
    .derivative = "gradient",
    .sizes = sizes,
    .make = make,
    .objective_c = objective_c,
    .derivative_c = derivative_c,
    .lamina = lamina,
};
