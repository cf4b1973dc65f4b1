/* Square roots and logarithms of matrices, their derivatives, and polar factors. References of the former are power
 * series about 16 times the identity, next to which the operands lie, in long double; the library iterates. */
#include "tests/primitives/cases_matrix.h"

#include <math.h>

static const cases_form square_forms[] = {{"[3,3]", {0}}, {"[1,1]", {0}},   {"[2,2,2]", {0}}, {"[2,1,3,3]", {0}},
                                          {"[0,0]", {0}}, {"[0,2,2]", {0}}, CASES_END};
static const cases_wrong square_wrong[] = {
    {"[3]", LAM_ERR_SHAPE, {0}}, {"[]", LAM_ERR_SHAPE, {0}}, {"[2,3]", LAM_ERR_SHAPE, {0}}, CASES_WRONG_END};
static const cases_form frechet_forms[] = {{"[3,3] [3,3]", {0}},
                                           {"[1,1] [1,1]", {0}},
                                           {"[2,2,2] [2,2]", {0}},
                                           {"[0,0] [0,0]", {0}},
                                           {"[0,2,2] [2,2]", {0}},
                                           {"f32[2,2] f64[2,2]", {0}},
                                           CASES_END};
static const cases_wrong frechet_wrong[] = {{"[3] [3]", LAM_ERR_SHAPE, {0}},
                                            {"[2,2] [2,3]", LAM_ERR_SHAPE, {0}},
                                            {"[3,3] [2,2]", LAM_ERR_SHAPE, {0}},
                                            CASES_WRONG_END};

static void call_sqrtm(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    (void)u;
    out[0] = lam_sqrtm(in[0]);
}

static void call_sqrtm_frechet(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    (void)u;
    out[0] = lam_sqrtm_frechet(in[0], in[1]);
}

static void call_logm(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    (void)u;
    out[0] = lam_logm(in[0]);
}

static void call_logm_frechet(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    (void)u;
    out[0] = lam_logm_frechet(in[0], in[1]);
}

/* sqrt(16) (1 + y)^(1/2), or log(16) + log(1 + y), with y = x/16 - 1, by its power series; or what that becomes along
 * e, term by term. */
static matrix series(matrix x, matrix e, bool log, bool along) {
    matrix power = identity(x.n), change = {.m = x.n, .n = x.n}, sum = along ? change : power;
    long double c = 1, largest = 1;
    for (int64_t i = 0; log && i < x.n; i++) sum.x[i][i] *= logl(16);
    for (int64_t i = 0; i < x.n; i++)
        for (int64_t j = 0; j < x.n; j++) x.x[i][j] = x.x[i][j] / 16 - (i == j), e.x[i][j] /= 16;
    for (int k = 1; k < 100 && largest > 1e-22L; k++) {
        matrix a = times(&change, &x), b = times(&power, &e);
        power = times(&power, &x);
        c = log ? (k % 2 ? 1 : -1) / (long double)k : c * (1.5L - k) / k;
        largest = 0;
        for (int64_t i = 0; i < x.n * x.n; i++) {
            long double *t = &change.x[i / x.n][i % x.n];
            *t = a.x[i / x.n][i % x.n] + b.x[i / x.n][i % x.n];
            largest = fmaxl(largest, fmaxl(fabsl(*t), fabsl(power.x[i / x.n][i % x.n])));
            sum.x[i / x.n][i % x.n] += c * (along ? *t : power.x[i / x.n][i % x.n]);
        }
    }
    for (int64_t i = 0; !log && i < x.n * x.n; i++) sum.x[i / x.n][i % x.n] *= 4;
    return sum;
}

/* As the dtype holds it: the library sees no more. */
static void fill_near_sixteen(const cases_use *u, int i, array *x) {
    const int64_t n = x->rank ? x->dims[x->rank - 1] : 0;
    (void)u;
    for (int64_t e = 0; i == 0 && n && e < x->count; e++)
        if (e % n == e / n % n) x->data[e] = x->dtype == LAM_F32 ? (float)(x->data[e] + 16) : (double)(x->data[e] + 16);
}

static void reference_of(const array in[], array out[], bool log) {
    int64_t n = in->dims[in->rank - 1], batch = shape_like(in, &out[0], n, n);
    for (int64_t b = 0; b < batch; b++) {
        matrix x = matrix_of(in, b), value = series(x, x, log, false);
        put(&out[0], b, &value);
    }
}

static void reference_along(const array in[], array out[], bool log) {
    const array *longer = in[0].rank < in[1].rank ? &in[1] : &in[0];
    int64_t n = in->dims[in->rank - 1], batch = shape_like(longer, &out[0], n, n);
    out[0].dtype = cases_promote(in[0].dtype, in[1].dtype);
    for (int64_t b = 0; b < batch; b++) {
        matrix x = matrix_of(&in[0], in[0].rank < longer->rank ? 0 : b),
               e = matrix_of(&in[1], in[1].rank < longer->rank ? 0 : b), l = series(x, e, log, true);
        put(&out[0], b, &l);
    }
}

static void reference_sqrtm(const cases_use *u, const array in[], array out[]) {
    (void)u;
    reference_of(in, out, false);
}

static void reference_sqrtm_frechet(const cases_use *u, const array in[], array out[]) {
    (void)u;
    reference_along(in, out, false);
}

static void reference_logm(const cases_use *u, const array in[], array out[]) {
    (void)u;
    reference_of(in, out, true);
}

static void reference_logm_frechet(const cases_use *u, const array in[], array out[]) {
    (void)u;
    reference_along(in, out, true);
}

static void call_negative_root(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    (void)u;
    out[0] = lam_sqrtm(lam_neg(lam_square(in[0])));
}

static void call_zero_root(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    (void)u;
    out[0] = lam_sqrtm(lam_zeros_like(in[0]));
}

static void call_negative_frechet(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    (void)u;
    out[0] = lam_sqrtm_frechet(lam_neg(lam_square(in[0])), in[0]);
}

static void call_negative_log(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    (void)u;
    out[0] = lam_logm(lam_neg(lam_square(in[0])));
}

static void call_zero_log(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    (void)u;
    out[0] = lam_logm(lam_zeros_like(in[0]));
}

static void call_negative_log_frechet(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    (void)u;
    out[0] = lam_logm_frechet(lam_neg(lam_square(in[0])), in[0]);
}

/* ---- the polar factor -------------------------------------------------------------------------------------------- */

static const cases_form polar_forms[] = {{"[3,3]", {0}}, {"[4,3]", {0}},   {"[3,4]", {0}},     {"[1,1]", {0}},
                                         {"[3,1]", {0}}, {"[2,3,2]", {0}}, {"[2,1,2,3]", {0}}, {"[0,3]", {0}},
                                         {"[3,0]", {0}}, {"[0,2,2]", {0}}, {"f32[3,3]", {0}},  CASES_END};
static const cases_wrong polar_wrong[] = {{"[3]", LAM_ERR_RANK, {0}}, {"[]", LAM_ERR_RANK, {0}}, CASES_WRONG_END};

/* Singular values near 16, so near each other. */
static void fill_beside_sixteen(const cases_use *u, int i, array *x) {
    const int64_t n = x->rank > 1 ? x->dims[x->rank - 1] : 0, m = n ? x->dims[x->rank - 2] : 0;
    (void)u;
    for (int64_t e = 0; i == 0 && m && e < x->count; e++)
        if (e % n == e / n % m) x->data[e] = x->dtype == LAM_F32 ? (float)(x->data[e] + 16) : (double)(x->data[e] + 16);
}

static void call_polar(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    (void)u;
    lam_polar(in[0], &out[0], NULL);
}

/* Newton's iteration (Higham, "Computing the polar decomposition", 1986) for tall matrices: x becomes the mean of
 * itself and x (x^T x)^-1. */
static void reference_polar(const cases_use *u, const array in[], array out[]) {
    (void)u;
    const int64_t m = in->dims[in->rank - 2], n = in->dims[in->rank - 1], batch = shape_like(in, &out[0], m, n);
    for (int64_t b = 0; b < batch; b++) {
        matrix x = matrix_of(in, b);
        if (m < n) x = turned(&x);
        for (int k = 0; k < 40; k++) {
            const matrix xt = turned(&x), inverse = solved(times(&xt, &x), xt), other = turned(&inverse);
            for (int64_t i = 0; i < x.m * x.n; i++) {
                long double *at = &x.x[i / x.n][i % x.n];
                *at = (*at + other.x[i / x.n][i % x.n]) / 2;
            }
        }
        if (m < n) x = turned(&x);
        put(&out[0], b, &x);
    }
}

#define ROOT(op, list)                                                                                                 \
    .name = #op, .call = call_##op, .reference = reference_##op, .forms = list##_forms, .wrong = list##_wrong,         \
    .fill = fill_near_sixteen, .ulps = 32, .normwise = true, .least_rank = 2

const cases_row cases_roots[] = {
    {ROOT(sqrtm, square),
     .wrong_calls = {{"[1,1]", LAM_ERR_NUMERIC, call_negative_root}, {"[2,2]", LAM_ERR_NUMERIC, call_zero_root}}},
    {ROOT(sqrtm_frechet, frechet), .wrong_calls = {{"[1,1]", LAM_ERR_NUMERIC, call_negative_frechet}}},
    {ROOT(logm, square),
     .wrong_calls = {{"[1,1]", LAM_ERR_NUMERIC, call_negative_log}, {"[2,2]", LAM_ERR_NUMERIC, call_zero_log}}},
    {ROOT(logm_frechet, frechet), .wrong_calls = {{"[1,1]", LAM_ERR_NUMERIC, call_negative_log_frechet}}},
    {.name = "polar",
     .call = call_polar,
     .reference = reference_polar,
     .forms = polar_forms,
     .wrong = polar_wrong,
     .fill = fill_beside_sixteen,
     .ulps = 32,
     .normwise = true,
     .least_rank = 2},
    {.name = NULL},
};
