/* Operations by index. References follow each index to the element that it names. */
#include "tests/primitives/cases.h"

#include <math.h>
#include <string.h>

/* arg: axis, mode. */
static int axis_of(const cases_use *u, const array *x) {
    return (int)(u->arg[0] < 0 ? u->arg[0] + x->rank : u->arg[0]);
}

/* The element that an index names: negatives count from the end, what lies outside is clipped; -1: it is left out. */
static int64_t named(const cases_use *u, long double index, int64_t size) {
    int64_t i = (int64_t)index;
    if (i >= -size && i < size) return i < 0 ? i + size : i;
    return u->arg[1] == LAM_INDEX_FILL ? -1 : i < 0 ? 0 : size - 1;
}

/* Dims of x with the axis replaced by the dims of the indices. */
static void taken_shape(const cases_use *u, const array *x, const array *indices, array *out) {
    int64_t dims[ARRAY_RANK];
    int axis = axis_of(u, x), rank = 0;
    for (int i = 0; i < x->rank; i++) {
        if (i != axis) dims[rank++] = x->dims[i];
        for (int k = 0; i == axis && k < indices->rank; k++) dims[rank++] = indices->dims[k];
    }
    array_shape(out, x->dtype, rank, dims);
}

/* The element of x that belongs to place e of what is taken; -1: none. */
static int64_t place_in(const cases_use *u, const array *x, const array *indices, const array *taken, int64_t e) {
    int64_t index[ARRAY_RANK], at[ARRAY_RANK];
    int axis = axis_of(u, x);
    array_index(taken, e, index);
    for (int i = 0; i < x->rank; i++) at[i] = i < axis ? index[i] : i > axis ? index[i - 1 + indices->rank] : 0;
    at[axis] = named(u, indices->data[array_position(indices, index + axis)], x->dims[axis]);
    return at[axis] < 0 ? -1 : array_position(x, at);
}

/* ---- take ----------------------------------------------------------------------------------------------------- */

static void call_take(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    out[0] = lam_take_mode(in[0], in[1], (int)u->arg[0], (lam_index_mode)u->arg[1]);
}

static void reference_take(const cases_use *u, const array in[], array out[]) {
    taken_shape(u, &in[0], &in[1], out);
    for (int64_t e = 0; e < out->count; e++) out->data[e] = in[0].data[place_in(u, &in[0], &in[1], out, e)];
}

static const cases_form take_forms[] = {
    {"[5] i64[3]", {0}}, {"[2,3] i32[4]", {1}}, {"[3,2] i64[2,2]", {0}}, {"[2,3,2] i64[2]", {-2}},
    {"[4] i64[]", {0}},  {"[3,2] i32[0]", {0}}, {"[3,0] i64[2]", {0}},   {"[4] u8[3]", {0, LAM_INDEX_CLIP}},
    CASES_END,
};
static const cases_form clip_forms[] = {
    {"[3,2] i64[5]", {0, LAM_INDEX_CLIP}}, {"[2,3] i64[2,3]", {1, LAM_INDEX_CLIP}}, CASES_END};
static const cases_wrong take_wrong[] = {
    {"[5] f64[3]", LAM_ERR_DTYPE, {0}}, {"[5] i64[3]", LAM_ERR_AXIS, {1}},      {"[] i64[3]", LAM_ERR_AXIS, {0}},
    {"[1] i64[5]", LAM_ERR_INDEX, {0}}, {"[5] i64[3]", LAM_ERR_OPTION, {0, 7}}, CASES_WRONG_END,
};

/* ---- scatter_add ---------------------------------------------------------------------------------------------- */

static void call_scatter_add(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    out[0] = lam_scatter_add_mode(in[0], in[1], in[2], (int)u->arg[0], (lam_index_mode)u->arg[1]);
}

static void reference_scatter_add(const cases_use *u, const array in[], array out[]) {
    static array taken;
    taken_shape(u, &in[0], &in[1], &taken);
    array_like(out, &in[0]);
    memcpy(out->data, in[0].data, (size_t)in[0].count * sizeof in[0].data[0]);
    for (int64_t e = 0; e < taken.count; e++) {
        int64_t at = place_in(u, &in[0], &in[1], &taken, e);
        if (at >= 0) out->data[at] += cases_broadcast_element(&in[2], &taken, e);
    }
}

/* The reference of scatter_mul, _min and _max: each update in its turn. */
static void scatter_by(const cases_use *u, const array in[], array out[],
                       long double (*combine)(long double, long double)) {
    static array taken;
    taken_shape(u, &in[0], &in[1], &taken);
    array_like(out, &in[0]);
    memcpy(out->data, in[0].data, (size_t)in[0].count * sizeof in[0].data[0]);
    for (int64_t e = 0; e < taken.count; e++) {
        int64_t at = place_in(u, &in[0], &in[1], &taken, e);
        if (at >= 0) out->data[at] = combine(out->data[at], cases_broadcast_element(&in[2], &taken, e));
    }
}

static long double times(long double x, long double y) {
    return x * y;
}

static void call_scatter_mul(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    out[0] = lam_scatter_mul(in[0], in[1], in[2], (int)u->arg[0], (lam_index_mode)u->arg[1]);
}

static void reference_scatter_mul(const cases_use *u, const array in[], array out[]) {
    scatter_by(u, in, out, times);
}

static void call_scatter_min(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    out[0] = lam_scatter_min(in[0], in[1], in[2], (int)u->arg[0], (lam_index_mode)u->arg[1]);
}

static void reference_scatter_min(const cases_use *u, const array in[], array out[]) {
    scatter_by(u, in, out, fminl);
}

static void call_scatter_max(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    out[0] = lam_scatter_max(in[0], in[1], in[2], (int)u->arg[0], (lam_index_mode)u->arg[1]);
}

static void reference_scatter_max(const cases_use *u, const array in[], array out[]) {
    scatter_by(u, in, out, fmaxl);
}

static long double last_of(long double x, long double y) {
    (void)x;
    return y;
}

static void call_put(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    out[0] = lam_put_mode(in[0], in[1], in[2], (int)u->arg[0], (lam_index_mode)u->arg[1]);
}

static void reference_put(const cases_use *u, const array in[], array out[]) {
    scatter_by(u, in, out, last_of);
}

static const cases_form scatter_forms[] = {
    {"[5] i64[3] [3]", {0}},
    {"[2,3] i32[4] [2,4]", {1}},
    {"[3,2] i64[2,2] [2,2,2]", {0}},
    {"[4] i64[3] []", {0}},
    {"[4] i64[] []", {0}},
    {"[3,2] i64[0] [0,2]", {0}},
    CASES_END,
};
static const cases_form scatter_mode_forms[] = {
    {"[3] i64[6] [6]", {0, LAM_INDEX_CLIP}}, {"[3,2] i64[5] [5,2]", {0, LAM_INDEX_FILL}}, CASES_END};
static const cases_wrong scatter_wrong[] = {
    {"[5] f64[3] [3]", LAM_ERR_DTYPE, {0}},     {"[5] i64[3] [3]", LAM_ERR_AXIS, {1}},
    {"[5] i64[3] [4]", LAM_ERR_SHAPE, {0}},     {"[1] i64[5] [5]", LAM_ERR_INDEX, {0}},
    {"[5] i64[3] [3]", LAM_ERR_OPTION, {0, 7}}, CASES_WRONG_END,
};

/* ---- index_inverse: arg is the number of places --------------------------------------------------------------- */

static void call_index_inverse(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    out[0] = lam_index_inverse(in[0], u->arg[0]);
}

static void reference_index_inverse(const cases_use *u, const array in[], array out[]) {
    int64_t dims[ARRAY_RANK], last = in->dims[in->rank - 1], n = u->arg[0];
    memcpy(dims, in->dims, sizeof dims);
    dims[in->rank - 1] = n;
    array_shape(out, LAM_I64, in->rank, dims);
    for (int64_t e = 0; e < out->count; e++) out->data[e] = -1;
    for (int64_t e = 0; e < in->count; e++) {
        int64_t i = (int64_t)in->data[e];
        out->data[e / last * n + (i < 0 ? i + n : i)] = (long double)(e % last);
    }
}

static const cases_form inverse_forms[] = {
    {"i64[5]", {2}}, {"i32[2,3]", {4}}, {"i64[0]", {3}}, {"i64[2,0]", {2}}, CASES_END};
static const cases_wrong inverse_wrong[] = {{"i64[]", LAM_ERR_RANK, {3}},
                                            {"i64[3]", LAM_ERR_VALUE, {-1}},
                                            {"f64[3]", LAM_ERR_DTYPE, {3}},
                                            {"i64[5]", LAM_ERR_INDEX, {1}},
                                            CASES_WRONG_END};

/* ---- wrap_index: arg is the number of places ------------------------------------------------------------------- */

static void call_wrap_index(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    out[0] = lam_wrap_index(in[0], u->arg[0]);
}

static void reference_wrap_index(const cases_use *u, const array in[], array out[]) {
    array_shape(out, LAM_I64, in->rank, in->dims);
    for (int64_t e = 0; e < in->count; e++) out->data[e] = in->data[e] < 0 ? in->data[e] + u->arg[0] : in->data[e];
}

static const cases_form wrap_forms[] = {{"i64[5]", {2}}, {"i32[2,3]", {4}}, {"i64[]", {2}},
                                        {"u8[3]", {5}},  {"i64[0]", {0}},   CASES_END};
static const cases_wrong wrap_wrong[] = {{"i64[3]", LAM_ERR_VALUE, {-1}},
                                         {"f64[3]", LAM_ERR_DTYPE, {3}},
                                         {"bool[3]", LAM_ERR_DTYPE, {3}},
                                         {"i64[5]", LAM_ERR_INDEX, {0}},
                                         CASES_WRONG_END};

/* Indices of operand 1 name the first and the last two elements; far ones lie outside as well. */
#define NEAR .domain = {{0, 0}, {-2, 2}}
#define FAR  .domain = {{0, 0}, {-6, 7}}

const cases_row cases_index[] = {
    {.name = "take",
     .call = call_take,
     .reference = reference_take,
     .forms = take_forms,
     .wrong = take_wrong,
     NEAR,
     .dtypes = CASES_ALL,
     .least_rank = 1},
    {.name = "take", .call = call_take, .reference = reference_take, .forms = clip_forms, FAR, .least_rank = 1},
    {.name = "scatter_add",
     .call = call_scatter_add,
     .reference = reference_scatter_add,
     .forms = scatter_forms,
     .wrong = scatter_wrong,
     NEAR,
     .dtypes = CASES_NUMBERS,
     .ulps = 4,
     .normwise = true,
     .least_rank = 1},
    {.name = "scatter_add",
     .call = call_scatter_add,
     .reference = reference_scatter_add,
     .forms = scatter_mode_forms,
     FAR,
     .ulps = 4,
     .normwise = true,
     .least_rank = 1},
    {.name = "put",
     .call = call_put,
     .reference = reference_put,
     .forms = scatter_forms,
     .wrong = scatter_wrong,
     NEAR,
     .dtypes = CASES_NUMBERS,
     .least_rank = 1},
    {.name = "put", .call = call_put, .reference = reference_put, .forms = scatter_mode_forms, FAR, .least_rank = 1},
    {.name = "index_inverse",
     .call = call_index_inverse,
     .reference = reference_index_inverse,
     .forms = inverse_forms,
     .wrong = inverse_wrong,
     .domain = {{-2, 2}},
     .least_rank = 1},
    {.name = "scatter_mul",
     .call = call_scatter_mul,
     .reference = reference_scatter_mul,
     .forms = scatter_forms,
     .wrong = scatter_wrong,
     NEAR,
     .dtypes = CASES_FLOATS,
     .ulps = 16,
     .normwise = true,
     .least_rank = 1},
    {.name = "scatter_mul",
     .call = call_scatter_mul,
     .reference = reference_scatter_mul,
     .forms = scatter_mode_forms,
     FAR,
     .ulps = 16,
     .normwise = true,
     .least_rank = 1},
    {.name = "scatter_min",
     .call = call_scatter_min,
     .reference = reference_scatter_min,
     .forms = scatter_forms,
     .wrong = scatter_wrong,
     NEAR,
     .dtypes = CASES_NUMBERS,
     .least_rank = 1},
    {.name = "scatter_min",
     .call = call_scatter_min,
     .reference = reference_scatter_min,
     .forms = scatter_mode_forms,
     FAR,
     .least_rank = 1},
    {.name = "scatter_max",
     .call = call_scatter_max,
     .reference = reference_scatter_max,
     .forms = scatter_forms,
     .wrong = scatter_wrong,
     NEAR,
     .dtypes = CASES_NUMBERS,
     .least_rank = 1},
    {.name = "scatter_max",
     .call = call_scatter_max,
     .reference = reference_scatter_max,
     .forms = scatter_mode_forms,
     FAR,
     .least_rank = 1},
    {.name = "wrap_index",
     .call = call_wrap_index,
     .reference = reference_wrap_index,
     .forms = wrap_forms,
     .wrong = wrap_wrong,
     .domain = {{-2, 2}}},
    {.name = NULL},
};
