/* Polynomials and sums of powers, by the definition: each power is a product of its own, and so is no step of Horner's
 * rule. Sizes reach beyond a block of points of every instruction set. */
#include "tests/primitives/cases.h"

static long double power(long double x, int64_t n) {
    long double y = 1;
    while (n--) y *= x;
    return y;
}

static lam_dtype real_of(const array in[]) {
    lam_dtype dtype = cases_promote(in[0].dtype, in[1].dtype);
    return array_epsilon(dtype) > 0 ? dtype : LAM_F64;
}

/* ---- polyval ----------------------------------------------------------------------------------------------------- */

static void call_polyval(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    (void)u;
    out[0] = lam_polyval(in[0], in[1]);
}

static void reference_polyval(const cases_use *u, const array in[], array out[]) {
    const array *p = &in[0], *x = &in[1];
    (void)u;
    array_like(out, x);
    out->dtype = real_of(in);
    for (int64_t e = 0; e < x->count; e++) {
        out->data[e] = 0;
        for (int64_t k = 0; k < p->count; k++) out->data[e] += p->data[k] * power(x->data[e], p->count - 1 - k);
    }
}

static const cases_form polyval_forms[] = {
    {"[3] [4]", {0}}, {"[1] [2,3]", {0}}, {"[0] [3]", {0}},  {"[4] []", {0}},
    {"[2] [0]", {0}}, {"[5] [67]", {0}},  {"[12] [2]", {0}}, CASES_END,
};
static const cases_wrong polyval_wrong[] = {
    {"[] [2]", LAM_ERR_RANK, {0}}, {"[2,2] [3]", LAM_ERR_RANK, {0}}, CASES_WRONG_END};

/* ---- power_sums: arg is the number of powers --------------------------------------------------------------------- */

static void call_power_sums(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    out[0] = lam_power_sums(in[0], in[1], u->arg[0]);
}

static void reference_power_sums(const cases_use *u, const array in[], array out[]) {
    int64_t count = u->arg[0];
    array_shape(out, real_of(in), 1, &count);
    for (int64_t k = 0; k < count; k++) {
        out->data[k] = 0;
        for (int64_t i = 0; i < in[0].count; i++) out->data[k] += in[0].data[i] * power(in[1].data[i], count - 1 - k);
    }
}

static const cases_form power_sums_forms[] = {
    {"[4] [4]", {3}}, {"[2,3] [2,3]", {4}}, {"[0] [0]", {2}},   {"[] []", {3}},
    {"[3] [3]", {0}}, {"[3] [3]", {1}},     {"[67] [67]", {2}}, CASES_END,
};
static const cases_wrong power_sums_wrong[] = {
    {"[2] [3]", LAM_ERR_SHAPE, {2}}, {"[2] [2]", LAM_ERR_VALUE, {-1}}, CASES_WRONG_END};

const cases_row cases_polynomial[] = {
    {.name = "polyval",
     .call = call_polyval,
     .reference = reference_polyval,
     .forms = polyval_forms,
     .wrong = polyval_wrong,
     .ulps = 40,
     .normwise = true,
     .least_rank = 1},
    {.name = "power_sums",
     .call = call_power_sums,
     .reference = reference_power_sums,
     .forms = power_sums_forms,
     .wrong = power_sums_wrong,
     .wrong_calls = {{"[2] [2]", LAM_ERR_DTYPE, cases_call_complex}},
     .ulps = 40,
     .normwise = true},
    {.name = NULL},
};
