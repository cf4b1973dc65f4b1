/* Reductions. The reference visits every element and adds it to the place that its index has without the reduced axes. */
#include "tests/primitives/cases.h"

#define END {NULL, {0}}
#define WRONG_END {NULL, LAM_OK, {0}}

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
    {"[2,3]", {0, -1}}, {"[2,3]", {0, 1, 0}}, {"[2,3]", {0, 1, -1}}, {"[2,3]", {1, 1, 1}}, {"[2,3,4]", {0, 2, 0, 2}}, {"[2,3,4]", {1, 1, 1}},
    {"[]", {0, -1}}, {"[3]", {0, 0}}, {"[37]", {0, -1}}, END,
};
static const cases_form empty_forms[] = {{"[0,3]", {0, 1, 0}}, {"[0]", {0, -1}}, {"[0,3]", {1, 1, 1}}, {"[]", {0, -1}}, END};
static const cases_wrong wrong[] = {
    {"[2,3]", LAM_ERR_AXIS, {0, 1, 2}}, {"[2,3]", LAM_ERR_AXIS, {0, 1, -3}}, {"[2,3]", LAM_ERR_AXIS, {0, 2, 1, -1}}, {"[]", LAM_ERR_AXIS, {0, 1, 0}}, WRONG_END,
};

/* ---- sum ----------------------------------------------------------------------------------------------------------- */

static void call_sum(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    int items[CASES_ARGS] = {0};
    lam_reduce_options o = options_of(u, items);
    out[0] = lam_sum(in[0], &o);
}

static void reference_sum(const cases_use *u, const array in[], array out[]) {
    static array kept;
    int64_t index[ARRAY_RANK];
    shape_of(u, in, &kept, out);
    if (in->dtype == LAM_BOOL) out->dtype = LAM_I64;
    for (int64_t e = 0; e < out->count; e++) out->data[e] = 0;
    for (int64_t e = 0; e < in->count; e++) {
        array_index(in, e, index);
        for (int i = 0; i < in->rank; i++) index[i] = kept.dims[i] == 1 ? 0 : index[i];
        out->data[array_position(&kept, index)] += in->data[e];
    }
}

#define SUM .call = call_sum, .reference = reference_sum, .wrong = wrong, .dtypes = CASES_ALL, .ulps = 8, .normwise = true

const cases_row cases_reduce[] = {
    {.name = "sum", SUM, .forms = forms},
    {.name = "sum", SUM, .forms = empty_forms},
    {.name = NULL},
};
