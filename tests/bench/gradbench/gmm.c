/* gmm: log posterior of a Gaussian mixture with full precision factors and a Wishart prior on them, and its gradient by
 * weights, means and factors. With Q_k lower triangular, exp(q_k) on its diagonal,
 *
 *   sum_i log sum_k exp(alpha_k + sum(q_k) - |Q_k (x_i - mu_k)|^2 / 2) - n (log sum_k exp(alpha_k) + d log(2 pi) / 2)
 *     + sum_k (m sum(q_k) - gamma^2 |Q_k|^2 / 2) - k log(normalisation of the Wishart density)
 *
 * A row of factors holds the d logarithms of the diagonal, then the columns below it. Here gamma = 1 and m = 0. */
#include "tests/bench/gradbench/gradbench.h"

#include <math.h>
#include <string.h>

enum { BLOCK_BYTES = 1 << 16, LEAST_ROWS = 64 };

typedef struct gmm {
    int64_t d, k, n, packed;                        /* packed: d (d + 1) / 2 */
    const double *alphas, *means, *factors, *x;     /* [k], [k, d], [k, packed], [n, d] */
    int64_t *places;                                /* [d * d]: where an entry of Q lies in a row of exp(q), l, 0 */
    double *columns, *slopes, *row;                 /* room of the C form: Q, its gradient, one point */
    lam_fn *components, *points, *slopes_of_points; /* of the Lamina form */
} gmm;

static const double PI = 3.14159265358979323846;

static void place_factors(gmm *p) {
    int64_t next = p->d;
    for (int64_t e = 0; e < p->d * p->d; e++) p->places[e] = p->packed;
    for (int64_t c = 0; c < p->d; c++) {
        p->places[c * p->d + c] = c;
        for (int64_t r = c + 1; r < p->d; r++) p->places[r * p->d + c] = next++;
    }
}

static void *make(gradbench_store *store, const gradbench_size *size, int64_t *values, int64_t *derivatives) {
    gmm *p = gradbench_take(store, sizeof *p);
    *p = (gmm){.d = size->n[0], .k = size->n[1], .n = size->n[2]};
    p->packed = p->d * (p->d + 1) / 2;
    p->alphas = gradbench_normal(store, p->k);
    p->means = gradbench_uniform(store, p->k * p->d, 0, 1);
    p->factors = gradbench_normal(store, p->k * p->packed);
    p->x = gradbench_normal(store, p->n * p->d);
    size_t data = store->bytes;
    p->places = gradbench_take(store, (size_t)(p->d * p->d) * sizeof *p->places);
    p->columns = gradbench_doubles(store, p->k * p->d * p->d);
    p->slopes = gradbench_doubles(store, p->k * p->d * p->d);
    p->row = gradbench_doubles(store, p->k * (p->d + 1));
    store->bytes = data;
    place_factors(p);
    *values = 1;
    *derivatives = p->k * (1 + p->d + p->packed);
    return p;
}

/* log of the multivariate gamma function. */
static double log_gamma_of(double a, int64_t d) {
    double sum = 0.25 * (double)(d * (d - 1)) * log(PI);
    for (int64_t j = 1; j <= d; j++) sum += lgamma(a + 0.5 * (double)(1 - j));
    return sum;
}

/* What does not depend on the parameters. */
static double constant(const gmm *p) {
    double freedom = (double)p->d + 1;
    double wishart = freedom * (double)p->d * -0.5 * log(2) - log_gamma_of(0.5 * freedom, p->d);
    return -0.5 * (double)(p->n * p->d) * log(2 * PI) + (double)p->k * wishart;
}

/* ---- in C -------------------------------------------------------------------------------------------------------- */

/* Q column by column, with the logarithms taken off. */
static void unpack(const gmm *p) {
    for (int64_t k = 0; k < p->k; k++) {
        const double *from = p->factors + k * p->packed, *l = from + p->d;
        double *q = p->columns + k * p->d * p->d;
        for (int64_t c = 0; c < p->d; c++) {
            q[c * p->d + c] = exp(from[c]);
            for (int64_t r = c + 1; r < p->d; r++) q[c * p->d + r] = *l++;
        }
    }
}

/* The term of component k at one point; y = Q (x - mu). */
static double term(const gmm *p, int64_t k, double bias, const double *x, double *restrict y) {
    const double *mu = p->means + k * p->d, *q = p->columns + k * p->d * p->d;
    double sum = 0;
    memset(y, 0, (size_t)p->d * sizeof *y);
    for (int64_t c = 0; c < p->d; c++) {
        double apart = x[c] - mu[c];
        for (int64_t r = c; r < p->d; r++) y[r] += q[c * p->d + r] * apart;
    }
    for (int64_t r = 0; r < p->d; r++) sum += y[r] * y[r];
    return bias - 0.5 * sum;
}

static double log_sum_exp(int64_t n, const double *x) {
    double largest = x[0], sum = 0;
    for (int64_t i = 1; i < n; i++) largest = x[i] > largest ? x[i] : largest;
    for (int64_t i = 0; i < n; i++) sum += exp(x[i] - largest);
    return largest + log(sum);
}

/* Terms of all components at point i, in row[]; room for their y behind them. */
static double point_value(const gmm *p, int64_t i, const double *biases) {
    for (int64_t k = 0; k < p->k; k++) p->row[k] = term(p, k, biases[k], p->x + i * p->d, p->row + p->k + k * p->d);
    return log_sum_exp(p->k, p->row);
}

static void biases_of(const gmm *p, double *biases) {
    for (int64_t k = 0; k < p->k; k++) {
        biases[k] = p->alphas[k];
        for (int64_t c = 0; c < p->d; c++) biases[k] += p->factors[k * p->packed + c];
    }
}

static void objective_c(const void *data, double *out) {
    const gmm *p = data;
    double biases[256], sum = 0, square = 0;
    unpack(p);
    biases_of(p, biases);
    for (int64_t i = 0; i < p->n; i++) sum += point_value(p, i, biases);
    for (int64_t e = 0; e < p->k * p->d * p->d; e++) square += p->columns[e] * p->columns[e];
    *out = sum - (double)p->n * log_sum_exp(p->k, p->alphas) - 0.5 * square + constant(p);
}

/* Adds what one point contributes through component k, whose share of the point is w. */
static void add_slopes(const gmm *p, int64_t k, double w, const double *x, const double *restrict y,
                       double *restrict gmu) {
    const double *mu = p->means + k * p->d, *q = p->columns + k * p->d * p->d;
    double *restrict gq = p->slopes + k * p->d * p->d;
    for (int64_t c = 0; c < p->d; c++) {
        double apart = w * (x[c] - mu[c]), sum = 0;
        for (int64_t r = c; r < p->d; r++) {
            gq[c * p->d + r] -= y[r] * apart;
            sum += q[c * p->d + r] * y[r];
        }
        gmu[c] += w * sum;
    }
}

/* The slopes by Q, with those of the prior and of sum(q), as slopes by the packed factors. */
static void pack(const gmm *p, const double *shares, double *out) {
    for (int64_t k = 0; k < p->k; k++) {
        const double *q = p->columns + k * p->d * p->d, *gq = p->slopes + k * p->d * p->d;
        double *to = out + k * p->packed, *l = to + p->d;
        for (int64_t c = 0; c < p->d; c++) {
            double diagonal = q[c * p->d + c];
            to[c] = shares[k] + diagonal * (gq[c * p->d + c] - diagonal);
            for (int64_t r = c + 1; r < p->d; r++) *l++ = gq[c * p->d + r] - q[c * p->d + r];
        }
    }
}

static void derivative_c(const void *data, double *out) {
    const gmm *p = data;
    double biases[256], *shares = out, *gmeans = out + p->k, all = log_sum_exp(p->k, p->alphas), share[256];
    unpack(p);
    biases_of(p, biases);
    memset(out, 0, (size_t)(p->k * (1 + p->d)) * sizeof *out);
    memset(p->slopes, 0, (size_t)(p->k * p->d * p->d) * sizeof *p->slopes);
    for (int64_t i = 0; i < p->n; i++) {
        double sum = point_value(p, i, biases);
        for (int64_t k = 0; k < p->k; k++) {
            double w = exp(p->row[k] - sum);
            shares[k] += w;
            add_slopes(p, k, w, p->x + i * p->d, p->row + p->k + k * p->d, gmeans + k * p->d);
        }
    }
    memcpy(share, shares, (size_t)p->k * sizeof *share);
    pack(p, share, gmeans + p->k * p->d);
    for (int64_t k = 0; k < p->k; k++) shares[k] -= (double)p->n * exp(p->alphas[k] - all);
}

/* ---- in Lamina --------------------------------------------------------------------------------------------------- */

/* Rows (Q, -Q mu) [k * d, d + 1], biases [k], rows (x, 1) [b, d + 1] -> the sum over the points. */
static void body_block(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    const gmm *p = env;
    (void)ctx;
    lam_tensor *y = lam_matmul(in[2], lam_transpose(in[0], LAM_AXES(1, 0)));
    lam_tensor *squares = lam_square(lam_reshape(y, LAM_DIMS(lam_dim(y, 0), p->k, p->d)));
    lam_tensor *terms = lam_sub(in[1], lam_mul(0.5, lam_sum(squares, &(lam_reduce_options){.axes = LAM_AXES(-1)})));
    out[0] = lam_sum(lam_logsumexp(terms, &(lam_reduce_options){.axes = LAM_AXES(-1)}), NULL);
}

/* Rows of packed factors -> [k, d, d]. */
static lam_tensor *unpacked(const gmm *p, lam_tensor *logarithms, lam_tensor *rest, lam_ctx *ctx) {
    lam_tensor *zero = lam_zeros(ctx, LAM_F64, LAM_DIMS(p->k, 1));
    lam_tensor *row = lam_concatenate(LAM_LIST(lam_exp(logarithms), rest, zero), 1);
    lam_tensor *places = lam_array(ctx, LAM_I64, LAM_DIMS(p->d, p->d), p->places);
    return lam_take(row, places, 1);
}

/* alphas, means, factors -> maps and biases of the blocks, and what does not depend on points. */
static void body_components(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    const gmm *p = env;
    lam_reduce_options last = {.axes = LAM_AXES(-1)};
    lam_tensor *logarithms = lam_slice_axis(in[2], 1, 0, p->d), *rest = lam_slice_axis(in[2], 1, p->d, LAM_END);
    lam_tensor *q = unpacked(p, logarithms, rest, ctx);
    lam_tensor *centres = lam_neg(lam_matmul(q, lam_expand_dims(in[1], -1)));
    out[0] = lam_reshape(lam_concatenate(LAM_LIST(q, centres), 2), LAM_DIMS(p->k * p->d, p->d + 1));
    out[1] = lam_add(in[0], lam_sum(logarithms, &last));
    lam_tensor *all = lam_mul((double)p->n, lam_logsumexp(in[0], NULL));
    out[2] = lam_sub(lam_sub(constant(p), all), lam_mul(0.5, lam_sum(lam_square(q), NULL)));
}

/* Points [n, d] with 1 behind each. */
static lam_tensor *extended(const gmm *p, lam_tensor *x) {
    return lam_concatenate(LAM_LIST(x, lam_ones(lam_ctx_of(x), LAM_F64, LAM_DIMS(p->n, 1))), 1);
}

/* alphas, means, factors, x. The points go through in blocks. */
static void body_posterior(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    const gmm *p = env;
    lam_tensor *parts[3], *sum;
    (void)ctx;
    lam_call(p->components, LAM_LIST(in[0], in[1], in[2]), parts, 3);
    lam_call(p->points, LAM_LIST(parts[0], parts[1], extended(p, in[3])), &sum, 1);
    out[0] = lam_add(sum, parts[2]);
}

/* The same -> its gradients by alphas, means, factors: those by maps and biases, summed over blocks, go back through
 * the making of them once. */
static void body_gradient(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    const gmm *p = env;
    lam_tensor *parts[3], *slopes[2];
    lam_fn *back;
    lam_vjp(p->components, LAM_LIST(in[0], in[1], in[2]), parts, 3, &back, NULL);
    lam_call(p->slopes_of_points, LAM_LIST(parts[0], parts[1], extended(p, in[3])), slopes, 2);
    lam_call(back, LAM_LIST(slopes[0], slopes[1], lam_scalar(ctx, 1)), out, 3);
}

static void lamina(void *data, gradbench_lamina *l) {
    gmm *p = data;
    gradbench_input(l, LAM_DIMS(p->k), p->alphas);
    gradbench_input(l, LAM_DIMS(p->k, p->d), p->means);
    gradbench_input(l, LAM_DIMS(p->k, p->packed), p->factors);
    gradbench_input(l, LAM_DIMS(p->n, p->d), p->x);
    int64_t rows = BLOCK_BYTES / (8 * p->k * p->d) + LEAST_ROWS;
    lam_fn *block = gradbench_fn(l, "block", body_block, 3, 1, p);
    p->components = gradbench_fn(l, "components", body_components, 3, 3, p);
    p->points = gradbench_blocks(l, block, 2, rows);
    p->slopes_of_points = gradbench_blocks(l, lam_grad(block, &(lam_grad_options){.argnums = LAM_AXES(0, 1)}), 2, rows);
    l->objective = gradbench_fn(l, "posterior", body_posterior, 4, 1, p);
    l->derivative = gradbench_fn(l, "gradient", body_gradient, 4, 3, p);
}

/* All sizes of the field, those of 5, 25, 50, 100 and 200 components in a row. */
/* clang-format off */
#define SIZE(d, k, n, when) {"d" #d " k" #k " n" #n, when, {d, k, n}}
/* clang-format on */
#define SIZES(d, n, a, b, c, e, f)                                                                                     \
    SIZE(d, 5, n, a), SIZE(d, 25, n, b), SIZE(d, 50, n, c), SIZE(d, 100, n, e), SIZE(d, 200, n, f)

static const gradbench_size sizes[] = {
    SIZES(2, 1000, CHECKED, ASKED, ASKED, ASKED, ASKED),
    SIZES(10, 1000, CHECKED, USUAL, ASKED, USUAL, ASKED),
    SIZES(20, 1000, ASKED, ASKED, USUAL, ASKED, ASKED),
    SIZES(32, 1000, ASKED, ASKED, USUAL, ASKED, ASKED),
    SIZES(64, 1000, ASKED, USUAL, ASKED, ASKED, ASKED),
    SIZES(128, 1000, ASKED, ASKED, ASKED, ASKED, USUAL),
    SIZES(2, 10000, ASKED, ASKED, ASKED, ASKED, USUAL),
    SIZES(10, 10000, ASKED, USUAL, ASKED, ASKED, ASKED),
    SIZES(20, 10000, ASKED, ASKED, ASKED, ASKED, ASKED),
    SIZES(32, 10000, ASKED, ASKED, ASKED, ASKED, ASKED),
    SIZES(64, 10000, ASKED, USUAL, ASKED, ASKED, ASKED),
    SIZES(128, 10000, ASKED, ASKED, ASKED, ASKED, ASKED),
    {NULL, USUAL, {0}},
};

const gradbench_problem gradbench_gmm = {
    .name = "gmm",
    .derivative = "gradient",
    .sizes = sizes,
    .make = make,
    .objective_c = objective_c,
    .derivative_c = derivative_c,
    .lamina = lamina,
};
