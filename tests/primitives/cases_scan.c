/* Scans along an axis. The reference walks each line of the axis, from the start or from the end. */
#include "tests/primitives/cases.h"

#include <math.h>

/* arg: axis, whether from the end. */
static int axis_of(const cases_use *u, const array *x) {
    return (int)(u->arg[0] < 0 ? u->arg[0] + x->rank : u->arg[0]);
}

/* Place of the element before e on its line, -1 for the first. */
static int64_t before(const cases_use *u, const array *x, int64_t e) {
    int64_t index[ARRAY_RANK];
    int axis = axis_of(u, x);
    array_index(x, e, index);
    index[axis] += u->arg[1] ? 1 : -1;
    return index[axis] < 0 || index[axis] == x->dims[axis] ? -1 : array_position(x, index);
}

typedef long double fold(long double sum, long double x);

/* Elements in the order of memory, or backwards, so that the one before is always there. */
static void scan(const cases_use *u, const array in[], array out[], fold *step) {
    array_like(out, in);
    for (int64_t k = 0; k < in->count; k++) {
        int64_t e = u->arg[1] ? in->count - 1 - k : k, previous = before(u, in, e);
        out->data[e] = previous < 0 ? in->data[e] : step(out->data[previous], in->data[e]);
    }
}

static long double add(long double s, long double x) {
    return s + x;
}

static long double multiply(long double s, long double x) {
    return s * x;
}

static long double larger(long double s, long double x) {
    return x > s ? x : s;
}

static long double smaller(long double s, long double x) {
    return x < s ? x : s;
}

static long double log_add_exp(long double s, long double x) {
    return logl(expl(s) + expl(x));
}

typedef lam_tensor *operation(lam_tensor *x, int axis);

static void call_of(const cases_use *u, lam_tensor *const in[], lam_tensor *out[], operation *forward,
                    operation *back) {
    out[0] = (u->arg[1] ? back : forward)(in[0], (int)u->arg[0]);
}

static void call_cumsum(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    call_of(u, in, out, lam_cumsum, lam_cumsum_reverse);
}

static void call_cumprod(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    call_of(u, in, out, lam_cumprod, lam_cumprod_reverse);
}

static void call_cummax(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    call_of(u, in, out, lam_cummax, lam_cummax_reverse);
}

static void call_cummin(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    call_of(u, in, out, lam_cummin, lam_cummin_reverse);
}

static void call_cumlogsumexp(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    call_of(u, in, out, lam_cumlogsumexp, lam_cumlogsumexp_reverse);
}

/* Bools are counted as i64. */
static void reference_cumsum(const cases_use *u, const array in[], array out[]) {
    scan(u, in, out, add);
    if (in->dtype == LAM_BOOL) out->dtype = LAM_I64;
}

static void reference_cumprod(const cases_use *u, const array in[], array out[]) {
    scan(u, in, out, multiply);
    if (in->dtype == LAM_BOOL) out->dtype = LAM_I64;
}

static void reference_cummax(const cases_use *u, const array in[], array out[]) {
    scan(u, in, out, larger);
}

static void reference_cummin(const cases_use *u, const array in[], array out[]) {
    scan(u, in, out, smaller);
}

static void reference_cumlogsumexp(const cases_use *u, const array in[], array out[]) {
    scan(u, in, out, log_add_exp);
    if (!array_is_float(in)) out->dtype = LAM_F64;
}

static const cases_form forms[] = {
    {"[5]", {0, 0}},      {"[5]", {0, 1}},      {"[2,3]", {1, 0}}, {"[2,3]", {0, 1}},
    {"[2,3,4]", {-2, 0}}, {"[2,3,2]", {-2, 1}}, {"[0,3]", {1, 0}}, {"[3,0]", {1, 1}},
    {"[1]", {0, 0}},      {"[37]", {0, 0}},     CASES_END,
};
static const cases_wrong wrong[] = {
    {"[2,3]", LAM_ERR_AXIS, {2}}, {"[2,3]", LAM_ERR_AXIS, {-3}}, {"[]", LAM_ERR_AXIS, {0}}, CASES_WRONG_END};

/* ---- linear_recurrence ---------------------------------------------------------------------------------------- */

static void call_recurrence(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    out[0] = lam_linear_recurrence(in[0], in[1], (int)u->arg[0], u->arg[1] != 0);
}

static void reference_recurrence(const cases_use *u, const array in[], array out[]) {
    const array *a = &in[0], *b = &in[1];
    lam_dtype dtype = cases_promote(a->dtype, b->dtype);
    array_like(out, b);
    out->dtype = array_epsilon(dtype) > 0 ? dtype : LAM_F64;
    for (int64_t k = 0; k < b->count; k++) {
        int64_t e = u->arg[1] ? b->count - 1 - k : k, previous = before(u, b, e);
        out->data[e] = b->data[e] + (previous < 0 ? 0 : a->data[e] * out->data[previous]);
    }
}

static const cases_form recurrence_forms[] = {
    {"[5] [5]", {0, 0}},          {"[4] [4]", {0, 1}}, {"[2,3] [2,3]", {1, 0}}, {"[3,2] [3,2]", {0, 1}},
    {"[2,3,2] [2,3,2]", {-2, 0}}, {"[0] [0]", {0, 0}}, {"[2,0] [2,0]", {0, 1}}, CASES_END,
};
static const cases_wrong recurrence_wrong[] = {{"[2,3] [2,3]", LAM_ERR_AXIS, {2}},
                                               {"[2,3] [2,2]", LAM_ERR_SHAPE, {0}},
                                               {"[] []", LAM_ERR_AXIS, {0}},
                                               CASES_WRONG_END};

#define SCAN(op)                                                                                                       \
    .name = #op, .call = call_##op, .reference = reference_##op, .forms = forms, .wrong = wrong, .least_rank = 1

const cases_row cases_scan[] = {
    {SCAN(cumsum), .ulps = 8, .normwise = true, .dtypes = CASES_ALL},
    {SCAN(cumprod), .ulps = 40, .dtypes = CASES_ALL},
    {SCAN(cummax), .dtypes = CASES_NUMBERS},
    {SCAN(cummin), .dtypes = CASES_NUMBERS},
    {SCAN(cumlogsumexp), .ulps = 8, .normwise = true, .dtypes = CASES_NUMBERS},
    {.name = "linear_recurrence",
     .call = call_recurrence,
     .reference = reference_recurrence,
     .forms = recurrence_forms,
     .wrong = recurrence_wrong,
     .ulps = 16,
     .normwise = true,
     .dtypes = CASES_FLOATS | CASES_BIT(LAM_I64),
     .least_rank = 1},
    {.name = NULL},
};
