/* Sorting and searching. References count: the place of an element in the order is the number of elements before it. */
#include "tests/primitives/cases.h"

/* ---- argsort: arg is the axis ------------------------------------------------------------------------------------ */

static void call_argsort(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    out[0] = lam_argsort(in[0], (int)u->arg[0]);
}

/* The place of e on its line: how many there are smaller, or equal and in front. */
static int64_t place_of(const array *x, int axis, int64_t e) {
    int64_t index[ARRAY_RANK], place = 0;
    array_index(x, e, index);
    const int64_t own = index[axis];
    for (int64_t k = 0; k < x->dims[axis]; k++) {
        index[axis] = k;
        const long double other = x->data[array_position(x, index)];
        if (other < x->data[e] || (other == x->data[e] && k < own)) place++;
    }
    return place;
}

static void reference_argsort(const cases_use *u, const array in[], array out[]) {
    int axis = (int)(u->arg[0] < 0 ? u->arg[0] + in->rank : u->arg[0]);
    array_shape(out, LAM_I64, in->rank, in->dims);
    for (int64_t e = 0; e < in->count; e++) {
        int64_t index[ARRAY_RANK];
        array_index(in, e, index);
        const int64_t own = index[axis];
        index[axis] = place_of(in, axis, e);
        out->data[array_position(in, index)] = (long double)own;
    }
}

static const cases_form argsort_forms[] = {{"[5]", {0}},   {"[2,3]", {0}}, {"[3,4]", {-1}}, {"[2,3,4]", {1}},
                                           {"[0,3]", {0}}, {"[0]", {0}},   {"[67]", {0}},   CASES_END};
static const cases_wrong argsort_wrong[] = {{"[2,3]", LAM_ERR_AXIS, {2}}, {"[]", LAM_ERR_AXIS, {0}}, CASES_WRONG_END};

/* ---- searchsorted: arg is whether to stand behind equal ones ----------------------------------------------------- */

static void call_searchsorted(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    out[0] = lam_searchsorted(in[0], in[1], u->arg[0]);
}

static void reference_searchsorted(const cases_use *u, const array in[], array out[]) {
    array_shape(out, LAM_I64, in[1].rank, in[1].dims);
    for (int64_t e = 0; e < out->count; e++) {
        out->data[e] = 0;
        for (int64_t k = 0; k < in[0].count; k++) {
            bool equal = in[0].data[k] == in[1].data[e];
            if (in[0].data[k] < in[1].data[e] || (equal && u->arg[0])) out->data[e]++;
        }
    }
}

/* What is searched must be in order. */
static void in_order(const cases_use *u, int i, array *x) {
    (void)u;
    for (int64_t k = 1; i == 0 && k < x->count; k++)
        for (int64_t j = k; j > 0 && x->data[j] < x->data[j - 1]; j--) {
            long double swapped = x->data[j];
            x->data[j] = x->data[j - 1];
            x->data[j - 1] = swapped;
        }
}

static const cases_form search_forms[] = {{"[5] [3]", {0}}, {"[9] [2,3]", {1}}, {"[9] [2,3]", {0}},  {"[4] []", {1}},
                                          {"[0] [3]", {0}}, {"[3] [0,2]", {0}}, {"i64[6] [4]", {1}}, CASES_END};
static const cases_wrong search_wrong[] = {
    {"[2,3] [3]", LAM_ERR_RANK, {0}}, {"[] [3]", LAM_ERR_RANK, {0}}, CASES_WRONG_END};

const cases_row cases_sort[] = {
    {.name = "argsort",
     .call = call_argsort,
     .reference = reference_argsort,
     .no_gradient = true, /* a difference may pass a step */
     .forms = argsort_forms,
     .wrong = argsort_wrong,
     .dtypes = CASES_ALL,
     .least_rank = 1},
    {.name = "searchsorted",
     .call = call_searchsorted,
     .reference = reference_searchsorted,
     .fill = in_order,
     .forms = search_forms,
     .wrong = search_wrong,
     .dtypes = CASES_NUMBERS,
     .least_rank = 1},
    {.name = NULL},
};
