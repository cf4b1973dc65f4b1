/* Windows: convolutions and reductions over windows. References look at every element of the dilated and padded operand
 * that a window meets, one by one. */
#include "tests/primitives/cases.h"

#include <math.h>
#include <string.h>

enum { AXES = 3 };

/* arg: groups (negative: batch groups), then for each of 3 axes strides, low, high, gaps and spreads; 0 stands for 1
 * where nothing else is possible. */
typedef struct windows {
    int64_t stride[AXES], low[AXES], high[AXES], gap[AXES], spread[AXES];
} windows;

static windows windows_of(const int64_t *arg) {
    windows w;
    for (int i = 0; i < AXES; i++) {
        w.stride[i] = arg[i] ? arg[i] : 1;
        w.low[i] = arg[3 + i];
        w.high[i] = arg[6 + i];
        w.gap[i] = arg[9 + i] ? arg[9 + i] : 1;
        w.spread[i] = arg[12 + i] ? arg[12 + i] : 1;
    }
    return w;
}

static int64_t places(const windows *w, int i, int64_t size, int64_t window) {
    int64_t have = size ? (size - 1) * w->gap[i] + 1 : 0, room = have + w->low[i] + w->high[i];
    room -= window ? (window - 1) * w->spread[i] + 1 : 0;
    return room < 0 ? 0 : room / w->stride[i] + 1;
}

/* The element of an axis that place t meets at place k of the window; -1: padding, or a gap. */
static int64_t met(const windows *w, int i, int64_t size, int64_t t, int64_t k) {
    int64_t at = t * w->stride[i] + k * w->spread[i] - w->low[i];
    return at >= 0 && at % w->gap[i] == 0 && at / w->gap[i] < size ? at / w->gap[i] : -1;
}

/* ---- conv_general ------------------------------------------------------------------------------------------------ */

static void call_conv_general(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    windows w = windows_of(u->arg + 1);
    int n = lam_rank(in[0]) - 2;
    if (n < 0 || n > AXES) n = 0;
    lam_conv_options o = {.strides = {n, w.stride},
                          .pad_low = {n, w.low},
                          .pad_high = {n, w.high},
                          .input_dilation = {n, w.gap},
                          .window_dilation = {n, w.spread}};
    if (u->arg[0] > 0) o.feature_groups = u->arg[0];
    if (u->arg[0] < 0) o.batch_groups = -u->arg[0];
    out[0] = lam_conv_general(in[0], in[1], &o);
}

/* One element of the result: the sum over input features of its group and over the window. */
static long double product_at(const cases_use *u, const array in[], const windows *w, const array *out,
                              const int64_t index[]) {
    int64_t features = u->arg[0] > 0 ? u->arg[0] : 1, batches = u->arg[0] < 0 ? -u->arg[0] : 1, k[ARRAY_RANK];
    int64_t group = index[1] / (out->dims[1] / (features * batches));
    long double sum = 0;
    for (int64_t e = 0; e < in[1].count; e++) {
        int64_t at[ARRAY_RANK];
        bool inside = true;
        array_index(&in[1], e, k);
        if (k[0] != index[1]) continue;
        at[0] = batches > 1 ? group * out->dims[0] + index[0] : index[0];
        at[1] = features > 1 ? group * in[1].dims[1] + k[1] : k[1];
        for (int i = 2; i < in->rank; i++) {
            at[i] = met(w, i - 2, in->dims[i], index[i], k[i]);
            inside = inside && at[i] >= 0;
        }
        if (inside) sum += in[0].data[array_position(&in[0], at)] * in[1].data[e];
    }
    return sum;
}

static void reference_conv_general(const cases_use *u, const array in[], array out[]) {
    windows w = windows_of(u->arg + 1);
    int64_t dims[ARRAY_RANK], index[ARRAY_RANK];
    dims[0] = in[0].dims[0] / (u->arg[0] < 0 ? -u->arg[0] : 1);
    dims[1] = in[1].dims[0];
    for (int i = 2; i < in->rank; i++) dims[i] = places(&w, i - 2, in[0].dims[i], in[1].dims[i]);
    array_shape(out, cases_promote(in[0].dtype, in[1].dtype), in->rank, dims);
    for (int64_t e = 0; e < out->count; e++) {
        array_index(out, e, index);
        out->data[e] = product_at(u, in, &w, out, index);
    }
}

static const cases_form conv_forms[] = {
    {"[1,1,5] [1,1,3]", {0}},
    {"[2,2,4] [3,2,2]", {0, 1, 0, 0, 1, 0, 0, 1}},                    /* padded on both sides */
    {"[1,2,7] [2,2,3]", {0, 2, 0, 0, 1, 0, 0, 2}},                    /* strided */
    {"[1,1,3] [1,1,2]", {0, 1, 0, 0, 2, 0, 0, 1, 0, 0, 2}},           /* dilated operand */
    {"[1,1,6] [2,1,2]", {0, 2, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 3}},  /* dilated window */
    {"[1,1,5] [1,1,2]", {0, 2, 0, 0, -1, 0, 0, 3, 0, 0, 3, 0, 0, 2}}, /* all of it, cut off in front */
    {"[1,4,3] [6,2,2]", {2}},                                         /* feature groups */
    {"[1,3,3] [3,1,2]", {3, 1, 0, 0, 1}},                             /* one feature per group */
    {"[4,2,3] [2,2,2]", {-2}},                                        /* batch groups */
    {"[1,2,3,4] [2,2,2,3]", {0, 1, 2, 0, 0, 1, 0, 1, 1}},
    {"[1,1,2,2,3] [1,1,1,2,2]", {0, 1, 1, 2, 0, 1, 1}},
    {"[2,3] [4,3]", {0}}, /* no window axes: a product of matrices */
    {"[0,2,3] [2,2,2]", {0}},
    {"[1,0,3] [2,0,2]", {0}},
    {"[1,1,2] [1,1,4]", {0}}, /* no place for the window */
    {"f32[1,1,3] f64[1,1,2]", {0}},
    CASES_END,
};
static void call_no_groups(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    (void)u;
    out[0] = lam_conv_general(in[0], in[1], &(lam_conv_options){.feature_groups = -1});
}

static const cases_wrong conv_wrong[] = {
    {"[1,2,5] [1,3,2]", LAM_ERR_SHAPE, {0}},
    {"[1,4,5] [3,2,2]", LAM_ERR_SHAPE, {2}},
    {"[3,4,5] [2,4,2]", LAM_ERR_SHAPE, {-2}},
    {"[1,2,5] [1,2]", LAM_ERR_RANK, {0}},
    {"[5] [2]", LAM_ERR_RANK, {0}},
    {"[1,1,5] [1,1,2]", LAM_ERR_VALUE, {0, -1}},
    {"[1,1,5] [1,1,2]", LAM_ERR_VALUE, {0, 1, 0, 0, 0, 0, 0, 0, 0, 0, -2}},
    {"[1,1,5] [1,1,2]", LAM_ERR_VALUE, {0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, -1}},
    {"[1,1,5] [1,1,2]", LAM_ERR_OVERFLOW, {0, 1, 0, 0, 0, 0, 0, INT64_MAX}},
    {"[1,1,5] [1,1,2]", LAM_ERR_OVERFLOW, {0, 1, 0, 0, 0, 0, 0, 0, 0, 0, INT64_MAX / 18}},
    CASES_WRONG_END,
};

/* ---- reduce_window_* --------------------------------------------------------------------------------------------- */

/* arg: number of windowed axes and window (two numbers), then strides, low, high, gaps, spreads of two axes. */
static lam_window_options options_of(const cases_use *u, windows *w) {
    int64_t wide[15] = {0};
    for (int i = 0; i < 10; i++) wide[i / 2 * 3 + i % 2] = u->arg[3 + i];
    *w = windows_of(wide);
    int n = (int)u->arg[0];
    return (lam_window_options){.window = {n, u->arg + 1},
                                .strides = {n, w->stride},
                                .pad_low = {n, w->low},
                                .pad_high = {n, w->high},
                                .input_dilation = {n, w->gap},
                                .window_dilation = {n, w->spread}};
}

/* Calls visit for each element of x that the window at place `index` of the result meets. */
static void each_met(const cases_use *u, const array *x, const int64_t index[],
                     void (*visit)(long double value, int64_t position, long double result[]), long double result[]) {
    windows w;
    int lead = x->rank - (int)u->arg[0];
    options_of(u, &w);
    for (int64_t k0 = 0; k0 < u->arg[1]; k0++)
        for (int64_t k1 = 0; k1 < (u->arg[0] > 1 ? u->arg[2] : 1); k1++) {
            int64_t at[ARRAY_RANK], position = 0;
            bool inside = true;
            for (int i = 0; i < x->rank; i++) {
                at[i] = i < lead ? index[i] : met(&w, i - lead, x->dims[i], index[i], i == lead ? k0 : k1);
                inside = inside && at[i] >= 0;
                if (i >= lead) position = position * x->dims[i] + at[i];
            }
            if (inside) visit(x->data[array_position(x, at)], position, result);
        }
}

static void window_shape(const cases_use *u, const array *x, lam_dtype dtype, array *out) {
    windows w;
    int64_t dims[ARRAY_RANK];
    int lead = x->rank - (int)u->arg[0];
    options_of(u, &w);
    for (int i = 0; i < x->rank; i++)
        dims[i] = i < lead ? x->dims[i] : places(&w, i - lead, x->dims[i], u->arg[1 + i - lead]);
    array_shape(out, dtype, x->rank, dims);
}

static void add(long double value, int64_t position, long double result[]) {
    (void)position;
    result[0] += value;
}

static void largest(long double value, int64_t position, long double result[]) {
    if (result[1] >= 0 && value <= result[0]) return;
    result[0] = value;
    result[1] = (long double)position;
}

static void smallest(long double value, int64_t position, long double result[]) {
    if (result[1] >= 0 && value >= result[0]) return;
    result[0] = value;
    result[1] = (long double)position;
}

/* The least and the greatest number of a dtype: what the maximum and the minimum of nothing are. */
static long double bound(lam_dtype dtype, bool least) {
    switch (dtype) {
    case LAM_I64: return (long double)(least ? INT64_MIN : INT64_MAX);
    case LAM_I32: return (long double)(least ? INT32_MIN : INT32_MAX);
    case LAM_U8: return least ? 0 : UINT8_MAX;
    case LAM_BOOL: return least ? 0 : 1;
    default: return least ? -INFINITY : INFINITY;
    }
}

static void reference_sum(const cases_use *u, const array in[], array out[]) {
    int64_t index[ARRAY_RANK];
    window_shape(u, in, in->dtype == LAM_BOOL ? LAM_I64 : in->dtype, out);
    for (int64_t e = 0; e < out->count; e++) {
        long double result[2] = {0, -1};
        array_index(out, e, index);
        each_met(u, in, index, add, result);
        out->data[e] = result[0];
    }
}

static void extreme(const cases_use *u, const array in[], array out[], bool maximum) {
    int64_t index[ARRAY_RANK];
    window_shape(u, in, in->dtype, out);
    for (int64_t e = 0; e < out->count; e++) {
        long double result[2] = {bound(in->dtype, maximum), -1};
        array_index(out, e, index);
        each_met(u, in, index, maximum ? largest : smallest, result);
        out->data[e] = result[0];
    }
}

static void reference_max(const cases_use *u, const array in[], array out[]) {
    extreme(u, in, out, true);
}

static void reference_min(const cases_use *u, const array in[], array out[]) {
    extreme(u, in, out, false);
}

static void position(const cases_use *u, const array in[], array out[], bool maximum) {
    int64_t index[ARRAY_RANK], count = 1;
    window_shape(u, in, LAM_I64, out);
    for (int i = in->rank - (int)u->arg[0]; i < in->rank; i++) count *= in->dims[i];
    for (int64_t e = 0; e < out->count; e++) {
        long double result[2] = {0, -1};
        array_index(out, e, index);
        each_met(u, in, index, maximum ? largest : smallest, result);
        out->data[e] = result[1] < 0 ? (long double)count : result[1];
    }
}

static void reference_argmax(const cases_use *u, const array in[], array out[]) {
    position(u, in, out, true);
}

static void reference_argmin(const cases_use *u, const array in[], array out[]) {
    position(u, in, out, false);
}

static void window_with(const cases_use *u, lam_tensor *const in[], lam_tensor *out[], const lam_window_options *o) {
    static const struct {
        const char *name;
        lam_tensor *(*operation)(lam_tensor *, const lam_window_options *);
    } operations[] = {{"reduce_window_sum", lam_reduce_window_sum},
                      {"reduce_window_max", lam_reduce_window_max},
                      {"reduce_window_min", lam_reduce_window_min},
                      {"reduce_window_argmax", lam_reduce_window_argmax},
                      {"reduce_window_argmin", lam_reduce_window_argmin}};
    for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++)
        if (strcmp(operations[i].name, u->row->name) == 0) out[0] = operations[i].operation(in[0], o);
}

static void call_window(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    windows w;
    lam_window_options o = options_of(u, &w);
    window_with(u, in, out, &o);
}

static void call_few_strides(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    window_with(u, in, out, &(lam_window_options){.window = LAM_DIMS(1, 1), .strides = LAM_DIMS(1)});
}

static const cases_form window_forms[] = {
    {"[5]", {1, 3}},
    {"[2,7]", {1, 2, 0, 2, 0, 1, 0, 1}}, /* strided and padded, behind a leading axis */
    {"[4,5]", {2, 2, 3, 1, 2}},
    {"[3,4]", {2, 3, 1, 1, 1, -1, 0, 1, 0, 2, 1, 1, 2}}, /* dilated, cut off */
    {"[2,3,4]", {2, 2, 2, 2, 2}},
    {"[3]", {1, 2, 0, 3, 0, 4, 0, 2}}, /* windows in the padding only */
    {"[0,3]", {1, 2}},
    {"[0]", {1, 2, 0, 1, 0, 1, 0, 1}},
    {"[2]", {1, 5}}, /* no place for the window */
    CASES_END,
};
/* A maximum over nothing is infinite, which differences cannot see: for derivatives each window has an element. */
static const cases_form max_forms[] = {
    {"[5]", {1, 3}},
    {"[2,7]", {1, 2, 0, 2, 0, 1, 0, 1}},
    {"[4,5]", {2, 2, 3, 1, 2}},
    {"[3,4]", {2, 3, 1, 1, 1, 0, 0, 0, 0, 2, 1}},
    {"[2,3,4]", {2, 2, 2, 2, 2}},
    {"[0,3]", {1, 2}},
    {"[2]", {1, 5}},
    CASES_END,
};
static const cases_wrong window_wrong[] = {
    {"[5]", LAM_ERR_RANK, {2, 1, 1}},
    {"[]", LAM_ERR_RANK, {1, 1}},
    {"[5]", LAM_ERR_OPTION, {0}},
    {"[5]", LAM_ERR_VALUE, {1, 0}},
    {"[5]", LAM_ERR_VALUE, {1, 2, 0, -1}},
    {"[5]", LAM_ERR_OVERFLOW, {1, INT64_MAX}},
    {"[5]", LAM_ERR_OVERFLOW, {1, 2, 0, 1, 0, INT64_MAX}},
    {"[5]", LAM_ERR_OVERFLOW, {1, INT64_MAX / 40, 0, 1, 0, 0, 0, 0, 0, 1, 0, 8}},
    CASES_WRONG_END,
};

#define WINDOW(op, list)                                                                                               \
    .call = call_window, .reference = reference_##op, .forms = list##_forms, .wrong = window_wrong,                    \
    .wrong_calls = {{"[5,5]", LAM_ERR_SHAPE, call_few_strides}}, .dtypes = CASES_ALL, .least_rank = 1

const cases_row cases_conv[] = {
    {.name = "conv_general",
     .call = call_conv_general,
     .reference = reference_conv_general,
     .forms = conv_forms,
     .wrong = conv_wrong,
     .wrong_calls = {{"[1,1,5] [1,1,2]", LAM_ERR_OPTION, call_no_groups}},
     .dtypes = CASES_NUMBERS,
     .ulps = 8,
     .normwise = true,
     .least_rank = 2},
    {.name = "reduce_window_sum", WINDOW(sum, window), .ulps = 4, .normwise = true},
    {.name = "reduce_window_max", WINDOW(max, max)},
    {.name = "reduce_window_min", WINDOW(min, max)},
    {.name = "reduce_window_argmax", WINDOW(argmax, window)},
    {.name = "reduce_window_argmin", WINDOW(argmin, window)},
    {.name = NULL},
};
