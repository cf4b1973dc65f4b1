/* Determinants, their logarithms and cofactors. References are sums of minors, in long double. */
#include "tests/primitives/cases.h"

#include <math.h>

/* Far from singular, with one right choice of pivots. */
static void fill_pivoting(const cases_use *u, int i, array *x) {
    const int64_t n = x->rank ? x->dims[x->rank - 1] : 0;
    (void)u;
    for (int64_t e = 0; i == 0 && n && e < x->count; e++)
        if (e % n == (e / n + 1) % n) x->data[e] += 8;
}

static void call_det(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    (void)u;
    out[0] = lam_det(in[0]);
}

static void call_cofactor(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    (void)u;
    out[0] = lam_cofactor(in[0]);
}

static void call_slogdet(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    (void)u;
    (void)lam_slogdet(in[0], &out[0], &out[1]);
}

/* The determinant of these rows and columns, along the first of the rows; calls itself as deep as there are any. */
static long double minor_of(int64_t n, const long double *x, unsigned rows, unsigned columns) {
    long double sum = rows == 0, sign = 1;
    int64_t row = 0;
    while (rows && !(rows >> row & 1u)) row++;
    for (int64_t k = 0; rows && k < n; k++) {
        if (!(columns >> k & 1u)) continue;
        sum += sign * x[row * n + k] * minor_of(n, x, rows & ~(1u << row), columns & ~(1u << k));
        sign = -sign;
    }
    return sum;
}

static void reference_det(const cases_use *u, const array in[], array out[]) {
    (void)u;
    int64_t n = in->dims[in->rank - 1];
    unsigned all = (1u << n) - 1;
    array_shape(out, in->dtype, in->rank - 2, in->dims);
    for (int64_t b = 0; b < out->count; b++) out->data[b] = minor_of(n, in->data + b * n * n, all, all);
}

static void reference_cofactor(const cases_use *u, const array in[], array out[]) {
    (void)u;
    int64_t n = in->dims[in->rank - 1];
    unsigned all = (1u << n) - 1;
    array_like(out, in);
    for (int64_t e = 0; e < in->count; e++) {
        int64_t i = e / n % n, k = e % n;
        const long double *x = in->data + e / (n * n) * n * n;
        out->data[e] = ((i + k) % 2 ? -1 : 1) * minor_of(n, x, all & ~(1u << i), all & ~(1u << k));
    }
}

static void reference_slogdet(const cases_use *u, const array in[], array out[]) {
    reference_det(u, in, &out[0]);
    array_like(&out[1], &out[0]);
    for (int64_t b = 0; b < out->count; b++) {
        out[1].data[b] = logl(fabsl(out[0].data[b]));
        out[0].data[b] = out[0].data[b] < 0 ? -1 : 1;
    }
}

/* Up to three rows, and beyond. */
static const cases_form forms[] = {{"[4,4]", {0}},   {"[2,5,5]", {0}},   {"[2,1,3,3]", {0}},
                                   {"[3,2,2]", {0}}, {"[2,1,1]", {0}},   {"[0,4,4]", {0}},
                                   {"[0,0]", {0}},   {"[2,1,4,4]", {0}}, {NULL, {0}}};
static const cases_wrong square_wrong[] = {
    {"[3]", LAM_ERR_SHAPE, {0}}, {"[]", LAM_ERR_SHAPE, {0}}, {"[2,3]", LAM_ERR_SHAPE, {0}}, CASES_WRONG_END};

#define DETERMINANT(op)                                                                                                \
    .name = #op, .call = call_##op, .reference = reference_##op, .forms = forms, .wrong = square_wrong,                \
    .fill = fill_pivoting, .ulps = 32, .normwise = true, .least_rank = 2

const cases_row cases_determinant[] = {
    {DETERMINANT(det)},
    {DETERMINANT(cofactor)},
    {DETERMINANT(slogdet), .outputs = 2},
    {.name = NULL},
};
