/* Softmax, its logarithm, standardisation and directions along an axis. The reference goes over each lane in long
 * double. */
#include "tests/primitives/cases.h"

#include <math.h>

/* arg: axis. */
static int axis_of(const cases_use *u, const array *x) {
    return (int)(u->arg[0] < 0 ? u->arg[0] + x->rank : u->arg[0]);
}

/* What one lane of n elements, `step` from each other, becomes. */
typedef void lane(int64_t n, int64_t step, const long double *x, long double *out);

static void by_lane(const cases_use *u, const array in[], array out[], lane *f) {
    int64_t index[ARRAY_RANK], step = 1;
    int axis = axis_of(u, in);
    array_like(out, in);
    if (!array_is_float(in)) out->dtype = LAM_F64;
    for (int i = axis + 1; i < in->rank; i++) step *= in->dims[i];
    for (int64_t e = 0; e < in->count; e++) {
        array_index(in, e, index);
        if (index[axis] == 0) f(in->dims[axis], step, &in->data[e], &out->data[e]);
    }
}

static void log_softmax_lane(int64_t n, int64_t step, const long double *x, long double *out) {
    long double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += expl(x[i * step]);
    for (int64_t i = 0; i < n; i++) out[i * step] = x[i * step] - logl(sum);
}

static void softmax_lane(int64_t n, int64_t step, const long double *x, long double *out) {
    log_softmax_lane(n, step, x, out);
    for (int64_t i = 0; i < n; i++) out[i * step] = expl(out[i * step]);
}

static void standardize_lane(int64_t n, int64_t step, const long double *x, long double *out) {
    long double mean = 0, variance = 0;
    for (int64_t i = 0; i < n; i++) mean += x[i * step] / (long double)n;
    for (int64_t i = 0; i < n; i++) variance += (x[i * step] - mean) * (x[i * step] - mean) / (long double)n;
    for (int64_t i = 0; i < n; i++) out[i * step] = (x[i * step] - mean) / sqrtl(variance + 0.1L);
}

static void norm_slope_lane(int64_t n, int64_t step, const long double *x, long double *out) {
    long double square = 0;
    for (int64_t i = 0; i < n; i++) square += x[i * step] * x[i * step];
    for (int64_t i = 0; i < n; i++) out[i * step] = square > 0 ? x[i * step] / sqrtl(square) : 0;
}

static void reference_norm_slope(const cases_use *u, const array in[], array out[]) {
    by_lane(u, in, out, norm_slope_lane);
}

static void reference_softmax(const cases_use *u, const array in[], array out[]) {
    by_lane(u, in, out, softmax_lane);
}

static void reference_log_softmax(const cases_use *u, const array in[], array out[]) {
    by_lane(u, in, out, log_softmax_lane);
}

static void reference_standardize(const cases_use *u, const array in[], array out[]) {
    by_lane(u, in, out, standardize_lane);
}

static void call_softmax(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    out[0] = lam_softmax(in[0], (int)u->arg[0]);
}

static void call_log_softmax(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    out[0] = lam_log_softmax(in[0], (int)u->arg[0]);
}

static void call_norm_slope(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    out[0] = lam_norm_slope(in[0], LAM_AXES((int)u->arg[0]));
}

static void call_standardize(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    out[0] = lam_standardize(in[0], &(lam_normalize_options){.axes = LAM_AXES((int)u->arg[0]), .epsilon = 0.1});
}

static const cases_form forms[] = {
    {"[5]", {0}},   {"[2,3]", {1}}, {"[2,3]", {0}}, {"[2,3,4]", {-2}}, {"[2,37]", {1}},
    {"[0,3]", {1}}, {"[3,0]", {1}}, {"[1]", {0}},   CASES_END,
};
/* Of what is elementwise but for its slope: axes in front are added to operands. */
static const cases_form from_the_end[] = {
    {"[5]", {-1}}, {"[2,3]", {-1}}, {"[2,3]", {-2}}, {"[2,3,4]", {-2}}, {"[0,3]", {-1}}, {"[3,0]", {-1}}, CASES_END,
};
static const cases_wrong wrong[] = {
    {"[2,3]", LAM_ERR_AXIS, {2}}, {"[2,3]", LAM_ERR_AXIS, {-3}}, {"[]", LAM_ERR_AXIS, {0}}, CASES_WRONG_END};

#define LANES(op)                                                                                                      \
    .name = #op, .call = call_##op, .reference = reference_##op, .wrong = wrong, .ulps = 8, .normwise = true,          \
    .dtypes = CASES_NUMBERS, .least_rank = 1

const cases_row cases_lanes[] = {
    {LANES(softmax), .forms = forms},
    {LANES(log_softmax), .forms = forms},
    {LANES(standardize), .forms = forms},
    {LANES(norm_slope), .forms = from_the_end, .domain = {{0.3, 2}}},
    {.name = NULL},
};
