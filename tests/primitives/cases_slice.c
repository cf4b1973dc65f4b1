/* Parts of tensors: slice, update_slice, concatenate. References enumerate the elements that Python's slices name. */
#include "tests/primitives/cases.h"

#include <string.h>

/* arg: number of starts, then starts, stops and steps; 0 steps of rank 0 are written as all 1. */
typedef struct part {
    lam_dims starts, stops, steps;
} part;

static part part_of(const cases_use *u) {
    int n = (int)u->arg[0];
    return (part){{n, u->arg + 1}, {n, u->arg + 1 + n}, {n, u->arg + 1 + 2 * n}};
}

/* The elements that start:stop:step names, in order, as the language reference of Python says; gives their number. */
static int elements(int64_t size, int64_t start, int64_t stop, int64_t step, int64_t at[]) {
    int n = 0;
    if (start == LAM_END) start = step > 0 ? size : size - 1;
    else if (start < 0) start += size;
    if (stop == LAM_END) stop = step > 0 ? size : -1;
    else if (stop < 0) stop = stop + size < 0 ? -1 : stop + size;
    if (start < 0) start = step > 0 ? 0 : -1;
    if (start >= size) start = step > 0 ? size : size - 1;
    for (int64_t i = start; step > 0 ? i < stop && i < size : i > stop && i >= 0; i += step) at[n++] = i;
    return n;
}

/* Dims of the part in `out`, and for each axis the elements taken. */
static void resolve(const cases_use *u, const array *x, array *out, int64_t at[][ARRAY_ELEMENTS]) {
    part p = part_of(u);
    int64_t dims[ARRAY_RANK];
    for (int i = 0; i < x->rank; i++)
        dims[i] = elements(x->dims[i], p.starts.dims[i], p.stops.dims[i], p.steps.dims[i], at[i]);
    array_shape(out, x->dtype, x->rank, dims);
}

/* ---- slice ---------------------------------------------------------------------------------------------------- */

static void call_slice(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    part p = part_of(u);
    out[0] = lam_slice(in[0], p.starts, p.stops, p.steps);
}

static void reference_slice(const cases_use *u, const array in[], array out[]) {
    int64_t at[ARRAY_RANK][ARRAY_ELEMENTS], index[ARRAY_RANK];
    resolve(u, in, out, at);
    for (int64_t e = 0; e < out->count; e++) {
        array_index(out, e, index);
        for (int i = 0; i < in->rank; i++) index[i] = at[i][index[i]];
        out->data[e] = in->data[array_position(in, index)];
    }
}

static const cases_form slice_forms[] = {
    {"[5]", {1, 1, 4, 1}},
    {"[5]", {1, 0, LAM_END, 2}},
    {"[5]", {1, -1, LAM_END, -1}},
    {"[5]", {1, LAM_END, 0, -2}},
    {"[]", {0}},
    {"[4,3]", {2, 1, 0, LAM_END, 2, 1, 1}},
    {"[4,3]", {2, -2, 5, LAM_END, -9, 1, -1}},
    {"[5]", {1, 3, 3, 1}},
    {"[0]", {1, 0, 2, 1}},
    {"[2,3,4]", {3, 0, 1, 3, 1, 3, 0, 1, 1, -2}},
    CASES_END,
};
static const cases_wrong slice_wrong[] = {{"[5]", LAM_ERR_VALUE, {1, 0, 3, 0}},
                                          {"[5]", LAM_ERR_SHAPE, {2, 0, 0, 1, 1, 1, 1}},
                                          {"[]", LAM_ERR_SHAPE, {1, 0, 1, 1}},
                                          CASES_WRONG_END};

/* ---- update_slice --------------------------------------------------------------------------------------------- */

static void call_update_slice(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    part p = part_of(u);
    out[0] = lam_update_slice(in[0], in[1], p.starts, p.stops, p.steps);
}

static void reference_update_slice(const cases_use *u, const array in[], array out[]) {
    static array named;
    int64_t at[ARRAY_RANK][ARRAY_ELEMENTS], index[ARRAY_RANK];
    resolve(u, in, &named, at);
    array_like(out, in);
    memcpy(out->data, in->data, (size_t)in->count * sizeof in->data[0]);
    for (int64_t e = 0; e < named.count; e++) {
        array_index(&named, e, index);
        for (int i = 0; i < in->rank; i++) index[i] = at[i][index[i]];
        out->data[array_position(in, index)] = cases_broadcast_element(&in[1], &named, e);
    }
}

static const cases_form update_forms[] = {
    {"[5] [2]", {1, 1, 3, 1}},
    {"[5] []", {1, 0, LAM_END, 2}},
    {"[4,3] [2,3]", {2, 3, 0, 1, LAM_END, -1, 1}},
    {"[] []", {0}},
    {"[4,3] [2]", {2, 1, 0, LAM_END, 2, 1, 1}},
    {"[5] [0]", {1, 2, 2, 1}},
    {"[0] [1]", {1, 0, LAM_END, 1}},
    CASES_END,
};
static const cases_wrong update_wrong[] = {
    {"[5] [3]", LAM_ERR_SHAPE, {1, 1, 3, 1}},
    {"[5] [2]", LAM_ERR_VALUE, {1, 1, 3, 0}},
    {"[5] [2]", LAM_ERR_SHAPE, {2, 0, 0, 1, 1, 1, 1}},
    CASES_WRONG_END,
};

/* ---- concatenate: args are the axis, and 1 for a new one (stack) ------------------------------------------------- */

static void call_concatenate(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    const lam_list list = {(size_t)u->inputs, in};
    out[0] = u->arg[1] ? lam_stack(list, (int)u->arg[0]) : lam_concatenate(list, (int)u->arg[0]);
}

static void reference_concatenate(const cases_use *u, const array in[], array out[]) {
    const int fresh = (int)u->arg[1], rank = in->rank + fresh;
    const int axis = (int)(u->arg[0] < 0 ? u->arg[0] + rank : u->arg[0]);
    int64_t dims[ARRAY_RANK], index[ARRAY_RANK], whole[ARRAY_RANK], at = 0;
    lam_dtype dtype = in[0].dtype;
    for (int i = 0; i < rank; i++) dims[i] = i == axis ? 0 : in->dims[i - (fresh && i > axis)];
    for (int n = 0; n < u->inputs; n++) {
        dims[axis] += fresh ? 1 : in[n].dims[axis];
        dtype = cases_promote(dtype, in[n].dtype);
    }
    array_shape(out, dtype, rank, dims);
    for (int n = 0; n < u->inputs; at += fresh ? 1 : in[n].dims[axis], n++)
        for (int64_t e = 0; e < in[n].count; e++) {
            array_index(&in[n], e, index);
            for (int i = 0, k = 0; i < rank; i++) whole[i] = i == axis && fresh ? 0 : index[k++];
            whole[axis] += at;
            out->data[array_position(out, whole)] = in[n].data[e];
        }
}

static const cases_form concatenate_forms[] = {
    {"[2] [3]", {0}},
    {"[2,3] [2,1]", {1}},
    {"[2,3] [1,3] [2,3]", {0}},
    {"[2,3,2] [2,1,2]", {-2}},
    {"[2] [0] [1]", {0}},
    {"[3]", {0}},
    {"[0,2] [0,3]", {1}},
    {"f32[2] f64[1]", {0}},
    {"i32[2] f32[2]", {0}},
    {"[5,1] [5,1] [5,1]", {1}},
    {"[2] [2] [2]", {0, 1}},
    {"[5] [5] [5] [5]", {-1, 1}},
    {"[2,3] [2,3]", {0, 1}},
    {"[3,2] [3,2] [3,2]", {-1, 1}},
    {"[3,0] [3,0]", {-1, 1}},
    {"f32[2] f64[2]", {-1, 1}},
    CASES_END,
};
static const cases_wrong concatenate_wrong[] = {
    {"[2,3] [2,2]", LAM_ERR_SHAPE, {0}},  {"[2] [2,2]", LAM_ERR_SHAPE, {0}},
    {"[2] [3]", LAM_ERR_AXIS, {1}},       {"[2] [3]", LAM_ERR_AXIS, {-2}},
    {"[] []", LAM_ERR_RANK, {0}},         {"[2] [3]", LAM_ERR_SHAPE, {0, 1}},
    {"[2] [1,2]", LAM_ERR_SHAPE, {0, 1}}, CASES_WRONG_END,
};

/* ---- split: args are the axis, then the sizes of the parts; none of them: parts without the axis ---------------- */

enum { PARTS = 3 };

static void call_split(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    bool parts = u->arg[1] + u->arg[2] + u->arg[3] || lam_dim(in[0], (int)u->arg[0]) != PARTS;
    if (parts) lam_split_sizes(in[0], (int)u->arg[0], u->arg + 1, out, PARTS);
    else lam_unstack(in[0], (int)u->arg[0], out, PARTS);
}

static void reference_split(const cases_use *u, const array in[], array out[]) {
    int axis = (int)(u->arg[0] < 0 ? u->arg[0] + in->rank : u->arg[0]);
    bool drop = !(u->arg[1] + u->arg[2] + u->arg[3]);
    int64_t dims[ARRAY_RANK], index[ARRAY_RANK], whole[ARRAY_RANK] = {0}, at = 0;
    for (int o = 0; o < PARTS; o++) {
        int rank = 0;
        for (int i = 0; i < in->rank; i++)
            if (i != axis || !drop) dims[rank++] = i == axis ? u->arg[1 + o] : in->dims[i];
        array_shape(&out[o], in->dtype, rank, dims);
        for (int64_t e = 0; e < out[o].count; e++) {
            array_index(&out[o], e, index);
            for (int i = 0, n = 0; i < in->rank; i++) whole[i] = i == axis && drop ? 0 : index[n++];
            whole[axis] += at;
            out[o].data[e] = in->data[array_position(in, whole)];
        }
        at += drop ? 1 : u->arg[1 + o];
    }
}

static const cases_form split_forms[] = {
    {"[3]", {0}},
    {"[3,2]", {0}},
    {"[2,3]", {-1}},
    {"[2,3,2]", {1}},
    {"[6]", {0, 1, 2, 3}},
    {"[2,4]", {1, 3, 0, 1}},
    {"[4,2]", {-2, 1, 1, 2}},
    {"[0,3]", {1, 1, 1, 1}},
    {"[3,0]", {0}},
    CASES_END,
};
static const cases_wrong split_wrong[] = {
    {"[6]", LAM_ERR_AXIS, {1, 1, 2, 3}},  {"[]", LAM_ERR_AXIS, {0, 1, 0, 0}},    {"[5]", LAM_ERR_SHAPE, {0, 1, 2, 3}},
    {"[7]", LAM_ERR_SHAPE, {0, 1, 2, 3}}, {"[5]", LAM_ERR_SHAPE, {0, 7, -2, 0}}, CASES_WRONG_END,
};

#define PART(op, list)                                                                                                 \
    .call = call_##op, .reference = reference_##op, .forms = list##_forms, .wrong = list##_wrong, .dtypes = CASES_ALL

const cases_row cases_slice[] = {
    {.name = "slice", PART(slice, slice)},
    {.name = "update_slice", PART(update_slice, update)},
    {.name = "concatenate", PART(concatenate, concatenate), .least_rank = 1},
    {.name = "split_sizes", PART(split, split), .outputs = PARTS, .least_rank = 1},
    {.name = NULL},
};
