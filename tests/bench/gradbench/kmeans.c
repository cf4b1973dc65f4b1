/* kmeans: the sum over n points of the squared distance to the nearest of k centroids; its gradient by the centroids
 * and the diagonal of its Hessian, which is diagonal: one Hessian-vector product with ones. */
#include "tests/bench/gradbench/gradbench.h"

#include <float.h>
#include <string.h>

enum { BLOCK_BYTES = 1 << 17, LEAST_ROWS = 128 }; /* of scores that go side by side */

typedef struct kmeans {
    int64_t k, n, d;
    const double *centroids, *points; /* [k, d], [n, d] */
} kmeans;

static void *make(gradbench_store *store, const gradbench_size *size, int64_t *values, int64_t *derivatives) {
    kmeans *p = gradbench_take(store, sizeof *p);
    *p = (kmeans){.k = size->n[0], .n = size->n[1], .d = size->n[2]};
    p->points = gradbench_uniform(store, p->n * p->d, 0, 1);
    double *centroids = gradbench_doubles(store, p->k * p->d);
    for (int64_t c = 0; c < p->k; c++) /* among the points, so that none is left alone */
        memcpy(centroids + c * p->d, p->points + c * (p->n / p->k) * p->d, (size_t)p->d * sizeof *centroids);
    p->centroids = centroids;
    *values = 1;
    *derivatives = 2 * p->k * p->d;
    return p;
}

static int64_t nearest(const kmeans *p, const double *point, double *distance) {
    int64_t best = 0;
    *distance = DBL_MAX;
    for (int64_t c = 0; c < p->k; c++) {
        double sum = 0;
        for (int64_t j = 0; j < p->d; j++) {
            double apart = point[j] - p->centroids[c * p->d + j];
            sum += apart * apart;
        }
        if (sum < *distance) {
            *distance = sum;
            best = c;
        }
    }
    return best;
}

static void objective_c(const void *data, double *out) {
    const kmeans *p = data;
    double sum = 0, distance;
    for (int64_t i = 0; i < p->n; i++) {
        nearest(p, p->points + i * p->d, &distance);
        sum += distance;
    }
    *out = sum;
}

static void derivative_c(const void *data, double *out) {
    const kmeans *p = data;
    double *hessian = out + p->k * p->d, distance;
    memset(out, 0, 2 * (size_t)(p->k * p->d) * sizeof *out);
    for (int64_t i = 0; i < p->n; i++) {
        const double *point = p->points + i * p->d;
        int64_t row = nearest(p, point, &distance) * p->d;
        for (int64_t j = 0; j < p->d; j++) {
            out[row + j] += 2 * (p->centroids[row + j] - point[j]);
            hessian[row + j] += 2;
        }
    }
}

/* Which centroid is nearest is found without a derivative and without the squares of the points, which are the same
 * for all; the cost is then that of the chosen ones. */
static void body_cost(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    (void)ctx;
    (void)env;
    lam_tensor *c = lam_stop_gradient(in[0]), *points = in[1];
    lam_reduce_options last = {.axes = LAM_AXES(-1), .keepdims = true};
    lam_tensor *half = lam_mul(0.5, lam_sum(lam_square(c), &last));
    lam_tensor *scores = lam_sub(half, lam_matmul(c, lam_transpose(points, LAM_AXES(1, 0))));
    lam_tensor *chosen = lam_take(in[0], lam_argmin(scores, 0), 0);
    out[0] = lam_sum(lam_square(lam_sub(chosen, points)), NULL);
}

/* Gradient and diagonal: the gradient's derivative along ones. */
static void body_direction(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    (void)ctx;
    lam_fn *gradient = lam_grad(env, NULL);
    lam_jvp(gradient, LAM_LIST(in[0], in[1]), LAM_LIST(lam_ones_like(in[0]), NULL), out, out + 1, 1, NULL);
}

static void lamina(void *data, gradbench_lamina *l) {
    const kmeans *p = data;
    gradbench_input(l, LAM_DIMS(p->k, p->d), p->centroids);
    gradbench_input(l, LAM_DIMS(p->n, p->d), p->points);
    lam_fn *cost = gradbench_fn(l, "cost", body_cost, 2, 1, NULL);
    int64_t rows = BLOCK_BYTES / (8 * p->k) + LEAST_ROWS;
    l->objective = gradbench_blocks(l, cost, 1, rows);
    l->derivative = gradbench_blocks(l, gradbench_fn(l, "direction", body_direction, 2, 2, cost), 1, rows);
}

static const gradbench_size sizes[] = {
    {"k10 n1000 d8", CHECKED, {10, 1000, 8}},     {"k10 n10000 d8", USUAL, {10, 10000, 8}},
    {"k50 n10000 d16", USUAL, {50, 10000, 16}},   {"k100 n10000 d64", USUAL, {100, 10000, 64}},
    {"k200 n50000 d32", USUAL, {200, 50000, 32}}, {NULL, USUAL, {0}},
};

const gradbench_problem gradbench_kmeans = {
    .name = "kmeans",
    .derivative = "gradient, Hessian diagonal",
    .sizes = sizes,
    .make = make,
    .objective_c = objective_c,
    .derivative_c = derivative_c,
    .lamina = lamina,
};
