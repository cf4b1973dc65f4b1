/* Reductions. The reference visits every element and folds it into the place that its index has without the reduced
 * axes. */
#include "tests/primitives/cases.h"

#include <math.h>

/* arg: keepdims, number of axes (-1: no list), axes. */
static lam_reduce_options options_of(const cases_use *u, int items[]) {
    int n = (int)u->arg[1];
    for (int i = 0; i < n; i++) items[i] = (int)u->arg[2 + i];
    return (lam_reduce_options){.axes = n < 0 ? (lam_axes){0, NULL} : (lam_axes){n, items}, .keepdims = u->arg[0]};
}

static bool is_reduced(const cases_use *u, int rank, int axis) {
    for (int i = 0; i < u->arg[1]; i++)
        if (u->arg[2 + i] == axis || u->arg[2 + i] == axis - rank) return true;
    return u->arg[1] < 0;
}

/* Dims of the result, with the reduced axes as axes of one element in `kept`. */
static void shape_of(const cases_use *u, const array *x, array *kept, array *out) {
    int64_t dims[ARRAY_RANK], left[ARRAY_RANK];
    int rank = 0;
    for (int i = 0; i < x->rank; i++) {
        dims[i] = is_reduced(u, x->rank, i) ? 1 : x->dims[i];
        if (!is_reduced(u, x->rank, i)) left[rank++] = x->dims[i];
    }
    array_shape(kept, x->dtype, x->rank, dims);
    array_shape(out, x->dtype, u->arg[0] ? x->rank : rank, u->arg[0] ? dims : left);
}

static const cases_form forms[] = {
    {"[2,3]", {0, -1}},        {"[2,3]", {0, 1, 0}},
    {"[2,3]", {0, 1, -1}},     {"[2,3]", {1, 1, 1}},
    {"[2,3,4]", {0, 2, 0, 2}}, {"[2,3,4]", {1, 1, 1}},
    {"[]", {0, -1}},           {"[3]", {0, 0}},
    {"[37]", {0, -1}},         CASES_END,
};
static const cases_form empty_forms[] = {
    {"[0,3]", {0, 1, 0}}, {"[0]", {0, -1}}, {"[0,3]", {1, 1, 1}}, {"[]", {0, -1}}, CASES_END};
static const cases_wrong wrong[] = {
    {"[2,3]", LAM_ERR_AXIS, {0, 1, 2}},
    {"[2,3]", LAM_ERR_AXIS, {0, 1, -3}},
    {"[2,3]", LAM_ERR_AXIS, {0, 2, 1, -1}},
    {"[]", LAM_ERR_AXIS, {0, 1, 0}},
    CASES_WRONG_END,
};

/* ---- folds: what a result is made of, element after element --------------------------------------------------- */

typedef long double fold(long double sum, long double x);
typedef lam_tensor *operation(lam_tensor *x, const lam_reduce_options *options);

static void call_of(const cases_use *u, lam_tensor *const in[], lam_tensor *out[], operation *op) {
    int items[CASES_ARGS] = {0};
    lam_reduce_options o = options_of(u, items);
    out[0] = op(in[0], &o);
}

static void reference_of(const cases_use *u, const array in[], array out[], long double start, fold *step) {
    static array kept;
    int64_t index[ARRAY_RANK];
    shape_of(u, in, &kept, out);
    for (int64_t e = 0; e < out->count; e++) out->data[e] = start;
    for (int64_t e = 0; e < in->count; e++) {
        array_index(in, e, index);
        for (int i = 0; i < in->rank; i++) index[i] = kept.dims[i] == 1 ? 0 : index[i];
        long double *at = &out->data[array_position(&kept, index)];
        *at = step(*at, in->data[e]);
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

static long double either(long double s, long double x) {
    return s != 0 || x != 0;
}

static long double both(long double s, long double x) {
    return s != 0 && x != 0;
}

static long double add_exp(long double s, long double x) {
    return s + expl(x);
}

static void call_sum(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    call_of(u, in, out, lam_sum);
}

static void call_prod(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    call_of(u, in, out, lam_prod);
}

static void call_max(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    call_of(u, in, out, lam_max_reduce);
}

static void call_min(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    call_of(u, in, out, lam_min_reduce);
}

static void call_mean(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    call_of(u, in, out, lam_mean);
}

static void call_any(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    call_of(u, in, out, lam_any);
}

static void call_all(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    call_of(u, in, out, lam_all);
}

static void call_logsumexp(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    call_of(u, in, out, lam_logsumexp);
}

/* Of bools, the number of trues. */
static void reference_sum(const cases_use *u, const array in[], array out[]) {
    reference_of(u, in, out, 0, add);
    if (!array_is_float(out)) out->dtype = LAM_I64;
}

static void reference_prod(const cases_use *u, const array in[], array out[]) {
    reference_of(u, in, out, 1, multiply);
    if (!array_is_float(out)) out->dtype = LAM_I64;
}

static void reference_max(const cases_use *u, const array in[], array out[]) {
    reference_of(u, in, out, -INFINITY, larger);
}

static void reference_min(const cases_use *u, const array in[], array out[]) {
    reference_of(u, in, out, INFINITY, smaller);
}

/* Of integers, whose sums are exact: one rounding. */
static void reference_mean(const cases_use *u, const array in[], array out[]) {
    reference_of(u, in, out, 0, add);
    for (int64_t e = 0; e < out->count; e++) out->data[e] /= (long double)(in->count / out->count);
    if (in->dtype != LAM_F32) out->dtype = LAM_F64;
}

static void reference_any(const cases_use *u, const array in[], array out[]) {
    reference_of(u, in, out, 0, either);
    out->dtype = LAM_BOOL;
}

static void reference_all(const cases_use *u, const array in[], array out[]) {
    reference_of(u, in, out, 1, both);
    out->dtype = LAM_BOOL;
}

static void reference_logsumexp(const cases_use *u, const array in[], array out[]) {
    reference_of(u, in, out, 0, add_exp);
    for (int64_t e = 0; e < out->count; e++) out->data[e] = logl(out->data[e]);
    if (!array_is_float(out)) out->dtype = LAM_F64;
}

static lam_tensor *norm(lam_tensor *x, const lam_reduce_options *o) {
    return lam_norm(x, &(lam_norm_options){.axes = o->axes, .keepdims = o->keepdims});
}

static void call_norm(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    call_of(u, in, out, norm);
}

static void call_no_order(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    (void)u;
    out[0] = lam_norm(in[0], &(lam_norm_options){.order = NAN});
}

static long double add_square(long double sum, long double x) {
    return sum + x * x;
}

static void reference_norm(const cases_use *u, const array in[], array out[]) {
    reference_of(u, in, out, 0, add_square);
    for (int64_t e = 0; e < out->count; e++) out->data[e] = sqrtl(out->data[e]);
    if (!array_is_float(out)) out->dtype = LAM_F64;
}

static lam_tensor *norm_of_order(lam_tensor *x, const lam_reduce_options *o) {
    return lam_norm(x, &(lam_norm_options){.axes = o->axes, .keepdims = o->keepdims, .order = 2.5});
}

static void call_norm_of_order(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    call_of(u, in, out, norm_of_order);
}

static long double add_power(long double sum, long double x) {
    return sum + powl(fabsl(x), 2.5L);
}

static void reference_norm_of_order(const cases_use *u, const array in[], array out[]) {
    reference_of(u, in, out, 0, add_power);
    for (int64_t e = 0; e < out->count; e++) out->data[e] = powl(out->data[e], 0.4L);
    if (!array_is_float(out)) out->dtype = LAM_F64;
}

static lam_tensor *var(lam_tensor *x, const lam_reduce_options *o) {
    return lam_var(x, &(lam_var_options){.axes = o->axes, .keepdims = o->keepdims});
}

static void call_var(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    call_of(u, in, out, var);
}

/* Of numbers less one of them the mean square less the square of the mean, in more digits than are compared. */
static long double one_of_them;

static long double add_distance(long double sum, long double x) {
    return sum + (x - one_of_them);
}

static long double add_square_of_distance(long double sum, long double x) {
    return sum + (x - one_of_them) * (x - one_of_them);
}

static void reference_var(const cases_use *u, const array in[], array out[]) {
    static array sum;
    one_of_them = in->data[0];
    reference_of(u, in, &sum, 0, add_distance);
    reference_of(u, in, out, 0, add_square_of_distance);
    for (int64_t e = 0; e < out->count; e++) {
        const long double n = (long double)in->count / (long double)out->count, mean = sum.data[e] / n;
        out->data[e] = out->data[e] / n - mean * mean;
    }
    if (!array_is_float(out)) out->dtype = LAM_F64;
}

/* ---- where the largest is: arg is the axis -------------------------------------------------------------------- */

static void call_argmax(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    out[0] = lam_argmax(in[0], (int)u->arg[0]);
}

static void call_argmin(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    out[0] = lam_argmin(in[0], (int)u->arg[0]);
}

/* The first of those that sign times x makes largest. */
static void first_largest(const cases_use *u, const array in[], array out[], int sign) {
    int axis = (int)(u->arg[0] < 0 ? u->arg[0] + in->rank : u->arg[0]);
    int64_t dims[ARRAY_RANK], index[ARRAY_RANK], left[ARRAY_RANK];
    for (int i = 0, n = 0; i < in->rank; i++)
        if (i != axis) dims[n++] = in->dims[i];
    array_shape(out, LAM_I64, in->rank - 1, dims);
    for (int64_t e = 0; e < out->count; e++) {
        long double best = 0;
        array_index(out, e, left);
        for (int64_t k = 0; k < in->dims[axis]; k++) {
            for (int i = 0; i < in->rank; i++) index[i] = i == axis ? k : left[i - (i > axis)];
            long double x = sign * in->data[array_position(in, index)];
            if (k == 0 || x > best) {
                best = x;
                out->data[e] = (long double)k;
            }
        }
    }
}

static void reference_argmax(const cases_use *u, const array in[], array out[]) {
    first_largest(u, in, out, 1);
}

static void reference_argmin(const cases_use *u, const array in[], array out[]) {
    first_largest(u, in, out, -1);
}

static const cases_form arg_forms[] = {{"[5]", {0}},   {"[2,3]", {0}}, {"[2,3]", {-1}}, {"[2,3,4]", {1}},
                                       {"[0,3]", {1}}, {"[37]", {0}},  CASES_END};
static const cases_wrong arg_wrong[] = {
    {"[2,3]", LAM_ERR_AXIS, {2}}, {"[]", LAM_ERR_AXIS, {0}}, {"[0,3]", LAM_ERR_SHAPE, {0}}, CASES_WRONG_END};
static const cases_form float_empty_forms[] = {
    {"f64[0,3]", {0, 1, 0}}, {"f64[3,0]", {0, 1, 0}}, {"f32[0]", {1, -1}}, CASES_END};

static const cases_form mean_empty_forms[] = {{"[3,0]", {0, 1, 0}}, {"[2,0,3]", {1, 1, 2}}, CASES_END};
static const cases_form no_result_forms[] = {{"f64[3,0]", {0, 1, 0}}, {"f32[2,0,3]", {0, 1, 2}}, CASES_END};

#define REDUCE(op) .call = call_##op, .reference = reference_##op, .wrong = wrong
#define WHOLE      CASES_INTEGERS | CASES_BIT(LAM_BOOL)
#define SUMS       .ulps = 8, .normwise = true

const cases_row cases_reduce[] = {
    {.name = "sum", REDUCE(sum), SUMS, .forms = forms, .dtypes = CASES_ALL},
    {.name = "sum", REDUCE(sum), .forms = empty_forms, .dtypes = CASES_ALL},
    {.name = "prod", REDUCE(prod), .ulps = 40, .forms = forms, .dtypes = CASES_ALL},
    {.name = "prod", REDUCE(prod), .forms = empty_forms, .dtypes = CASES_ALL},
    {.name = "max_reduce", REDUCE(max), .forms = forms, .dtypes = CASES_NUMBERS},
    {.name = "max_reduce", REDUCE(max), .forms = float_empty_forms},
    {.name = "min_reduce", REDUCE(min), .forms = forms, .dtypes = CASES_NUMBERS},
    {.name = "min_reduce", REDUCE(min), .forms = float_empty_forms},
    {.name = "mean", REDUCE(mean), SUMS, .forms = forms},
    {.name = "mean", REDUCE(mean), .ulps = 1, .forms = forms, .dtypes = WHOLE},
    {.name = "mean", REDUCE(mean), .forms = mean_empty_forms, .dtypes = WHOLE},
    {.name = "any", REDUCE(any), .forms = forms, .dtypes = CASES_ALL},
    {.name = "any", REDUCE(any), .forms = empty_forms, .dtypes = CASES_ALL},
    {.name = "all", REDUCE(all), .forms = forms, .dtypes = CASES_ALL},
    {.name = "all", REDUCE(all), .forms = empty_forms, .dtypes = CASES_ALL},
    {.name = "argmax",
     .call = call_argmax,
     .reference = reference_argmax,
     .forms = arg_forms,
     .wrong = arg_wrong,
     .dtypes = CASES_NUMBERS,
     .least_rank = 1},
    {.name = "argmin",
     .call = call_argmin,
     .reference = reference_argmin,
     .forms = arg_forms,
     .wrong = arg_wrong,
     .dtypes = CASES_NUMBERS,
     .least_rank = 1},
    {.name = "logsumexp", REDUCE(logsumexp), .ulps = 8, .normwise = true, .forms = forms, .dtypes = CASES_NUMBERS},
    {.name = "logsumexp", REDUCE(logsumexp), .forms = float_empty_forms},
    {.name = "norm",
     REDUCE(norm),
     .ulps = 4,
     .forms = forms,
     .wrong_calls = {{"[2]", LAM_ERR_OPTION, call_no_order}},
     .dtypes = CASES_NUMBERS,
     .domain = {{0.3, 2}}},
    {.name = "norm", REDUCE(norm), .forms = float_empty_forms},
    {.name = "norm", REDUCE(norm_of_order), .ulps = 4, .forms = forms, .dtypes = CASES_NUMBERS, .domain = {{0.3, 2}}},
    {.name = "norm", REDUCE(norm_of_order), .forms = float_empty_forms},
    {.name = "var",
     REDUCE(var),
     .ulps = 16,
     .normwise = true,
     .forms = forms,
     .dtypes = CASES_NUMBERS,
     .domain = {{0.3, 2}}},
    {.name = "var", REDUCE(var), .forms = no_result_forms},
    {.name = NULL},
};
