/* llsq: half the squared distance of a polynomial, by its m coefficients x, from the sign of t at n points of [-1, 1].
 * Every evaluation makes the powers of t anew, in all forms. */
#include "tests/bench/gradbench/gradbench.h"

#include <string.h>

enum { BLOCK = 64 }; /* points that C takes side by side */

typedef struct llsq {
    int64_t n, m;
    const double *x;
    double *t, *s; /* of the points */
} llsq;

static void *make(gradbench_store *store, const gradbench_size *size, int64_t *values, int64_t *derivatives) {
    llsq *d = gradbench_take(store, sizeof *d);
    *d = (llsq){.n = size->n[0], .m = size->n[1]};
    d->x = gradbench_normal(store, d->m);
    d->t = gradbench_doubles(store, d->n);
    d->s = gradbench_doubles(store, d->n);
    for (int64_t i = 0; i < d->n; i++) {
        d->t[i] = -1 + 2 * (double)i / (double)(d->n - 1);
        d->s[i] = (d->t[i] > 0) - (d->t[i] < 0);
    }
    *values = 1;
    *derivatives = d->m;
    return d;
}

/* Residuals of `count` points by Horner's rule, all points at once so that the compiler uses vectors. */
static void residuals(const llsq *d, const double *t, const double *s, int64_t count, double *r) {
    double p[BLOCK] = {0};
    for (int64_t j = d->m; j--;)
        for (int64_t i = 0; i < count; i++) p[i] = p[i] * t[i] + d->x[j];
    for (int64_t i = 0; i < count; i++) r[i] = s[i] - p[i];
}

static int64_t block_at(const llsq *d, int64_t first) {
    return d->n - first < BLOCK ? d->n - first : BLOCK;
}

static void objective_c(const void *data, double *out) {
    const llsq *d = data;
    double sum = 0, r[BLOCK];
    for (int64_t first = 0; first < d->n; first += BLOCK) {
        int64_t count = block_at(d, first);
        residuals(d, d->t + first, d->s + first, count, r);
        for (int64_t i = 0; i < count; i++) sum += r[i] * r[i];
    }
    *out = sum / 2;
}

static void derivative_c(const void *data, double *out) {
    const llsq *d = data;
    double r[BLOCK];
    memset(out, 0, (size_t)d->m * sizeof *out);
    for (int64_t first = 0; first < d->n; first += BLOCK) {
        int64_t count = block_at(d, first);
        residuals(d, d->t + first, d->s + first, count, r);
        for (int64_t j = 0; j < d->m; j++) {
            double sum = 0;
            for (int64_t i = 0; i < count; i++) {
                sum += r[i];
                r[i] *= d->t[first + i];
            }
            out[j] -= sum;
        }
    }
}

/* x, t, s: the highest power comes first in lam_polyval. */
static void body_llsq(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    (void)ctx;
    (void)env;
    lam_tensor *apart = lam_sub(lam_polyval(lam_reverse(in[0], LAM_AXES(0)), in[1]), in[2]);
    out[0] = lam_mul(0.5, lam_sum(lam_square(apart), NULL));
}

static void lamina(void *data, gradbench_lamina *l) {
    const llsq *d = data;
    gradbench_input(l, LAM_DIMS(d->m), d->x);
    gradbench_input(l, LAM_DIMS(d->n), d->t);
    gradbench_input(l, LAM_DIMS(d->n), d->s);
    l->objective = gradbench_fn(l, "llsq", body_llsq, 3, 1, NULL);
    l->derivative = lam_grad(l->objective, NULL);
}

static const gradbench_size sizes[] = {
    {"m16 n4096", CHECKED, {4096, 16}},
    {"m128 n4096", CHECKED, {4096, 128}},
    {"m128 n16384", USUAL, {16384, 128}},
    {"m1024 n4096", USUAL, {4096, 1024}},
    {NULL, USUAL, {0}},
};

const gradbench_problem gradbench_llsq = {
    .name = "llsq",
    .derivative = "gradient",
    .sizes = sizes,
    .make = make,
    .objective_c = objective_c,
    .derivative_c = derivative_c,
    .lamina = lamina,
};
