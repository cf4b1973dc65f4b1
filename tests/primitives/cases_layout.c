/* Primitives that give the same elements under other dims or another dtype. References move elements by index. */
#include "tests/primitives/cases.h"

#include <math.h>
#include <string.h>

/* arg: rank, then sizes. */
static lam_dims dims_of(const cases_use *u) {
    return (lam_dims){(int)u->arg[0], u->arg + 1};
}

/* ---- cast: arg is the dtype ----------------------------------------------------------------------------------- */

static void call_cast(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    out[0] = lam_cast(in[0], (lam_dtype)u->arg[0]);
}

/* As C converts; towards zero, anything but 0 is true. */
static void reference_cast(const cases_use *u, const array in[], array out[]) {
    array_shape(out, (lam_dtype)u->arg[0], in->rank, in->dims);
    for (int64_t e = 0; e < in->count; e++) {
        long double x = in->data[e];
        out->data[e] = out->dtype == LAM_BOOL ? x != 0 : array_is_float(out) ? x : truncl(x);
    }
}

static const cases_form cast_forms[] = {
    {"f64[2,3]", {LAM_F32}}, {"f32[5]", {LAM_F64}},
    {"f64[7]", {LAM_I64}},   {"i32[]", {LAM_F64}},
    {"f64[0,2]", {LAM_F32}}, {"bool[5]", {LAM_F64}},
    {"f32[4]", {LAM_BOOL}},  {"i64[4]", {LAM_U8}},
    {"u8[3]", {LAM_I32}},    CASES_END,
};
static const cases_wrong cast_wrong[] = {
    {"f64[2]", LAM_ERR_DTYPE, {-1}}, {"f64[2]", LAM_ERR_DTYPE, {LAM_DTYPE_COUNT}}, CASES_WRONG_END};

/* ---- broadcast_to --------------------------------------------------------------------------------------------- */

static void call_broadcast_to(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    out[0] = lam_broadcast_to(in[0], dims_of(u));
}

static void reference_broadcast_to(const cases_use *u, const array in[], array out[]) {
    array_shape(out, in->dtype, (int)u->arg[0], u->arg + 1);
    for (int64_t e = 0; e < out->count; e++) out->data[e] = cases_broadcast_element(in, out, e);
}

static const cases_form broadcast_forms[] = {
    {"[3]", {2, 2, 3}},
    {"[]", {1, 4}},
    {"[]", {0}},
    {"[2,1]", {2, 2, 3}},
    {"[1,3]", {3, 2, 4, 3}},
    {"[2,3]", {2, 2, 3}},
    {"[1]", {1, 0}},
    {"[1,2]", {3, 0, 3, 2}},
    {"[0,1]", {2, 0, 3}},
    CASES_END,
};
static const cases_wrong broadcast_wrong[] = {
    {"[3]", LAM_ERR_SHAPE, {2, 2, 4}},
    {"[2,3]", LAM_ERR_SHAPE, {1, 3}},
    {"[2]", LAM_ERR_VALUE, {2, -1, 2}},
    {"[2]", LAM_ERR_RANK, {LAM_MAX_RANK * 3}},
    {"[2]", LAM_ERR_RANK, {-1}},
    {"[1]", LAM_ERR_OVERFLOW, {2, INT64_MAX, INT64_MAX}},
    CASES_WRONG_END,
};

/* ---- reshape -------------------------------------------------------------------------------------------------- */

static void call_reshape(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    out[0] = lam_reshape(in[0], dims_of(u));
}

/* -1 is what is left of the elements. */
static void reference_reshape(const cases_use *u, const array in[], array out[]) {
    int64_t dims[ARRAY_RANK], known = 1;
    for (int i = 0; i < u->arg[0]; i++)
        if (u->arg[1 + i] != -1) known *= u->arg[1 + i];
    for (int i = 0; i < u->arg[0]; i++) dims[i] = u->arg[1 + i] == -1 ? in->count / known : u->arg[1 + i];
    array_shape(out, in->dtype, (int)u->arg[0], dims);
    memcpy(out->data, in->data, (size_t)in->count * sizeof in->data[0]);
}

static const cases_form reshape_forms[] = {
    {"[2,3]", {1, 6}},       {"[6]", {2, 3, 2}},   {"[2,3,2]", {2, 2, -1}}, {"[]", {2, 1, 1}},          {"[1,1]", {0}},
    {"[4,3]", {3, 2, 2, 3}}, {"[0,3]", {2, 5, 0}}, {"[2,1,3]", {2, 2, 3}},  {"[2,3]", {4, 1, 2, 1, 3}}, CASES_END,
};
static const cases_wrong reshape_wrong[] = {
    {"[2,3]", LAM_ERR_SHAPE, {1, 5}},
    {"[2,3]", LAM_ERR_SHAPE, {2, 4, -1}},
    {"[6]", LAM_ERR_VALUE, {2, -1, -1}},
    {"[6]", LAM_ERR_VALUE, {2, -2, -3}},
    {"[6]", LAM_ERR_RANK, {LAM_MAX_RANK * 3}},
    {"[6]", LAM_ERR_OVERFLOW, {2, INT64_MAX, INT64_MAX}},
    CASES_WRONG_END,
};

/* ---- transpose: arg: count, then axes; count -1: no list ------------------------------------------------------ */

static void axes_of(const cases_use *u, int items[]) {
    for (int i = 0; i < u->arg[0]; i++) items[i] = (int)u->arg[1 + i];
}

static void call_transpose(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    int items[CASES_ARGS] = {0};
    axes_of(u, items);
    out[0] = lam_transpose(in[0], u->arg[0] < 0 ? (lam_axes){0, NULL} : (lam_axes){(int)u->arg[0], items});
}

static int source_axis(const cases_use *u, int rank, int i) {
    if (u->arg[0] < 0) return rank - 1 - i;
    return (int)(u->arg[1 + i] < 0 ? u->arg[1 + i] + rank : u->arg[1 + i]);
}

static void from_transposed(const cases_use *u, const array *x, const array *out, const int64_t index[],
                            int64_t from[]) {
    (void)out;
    for (int i = 0; i < x->rank; i++) from[source_axis(u, x->rank, i)] = index[i];
}

static void reference_transpose(const cases_use *u, const array in[], array out[]) {
    int64_t dims[ARRAY_RANK];
    for (int i = 0; i < in->rank; i++) dims[i] = in->dims[source_axis(u, in->rank, i)];
    array_shape(out, in->dtype, in->rank, dims);
    cases_gather(u, in, out, from_transposed);
}

static const cases_form transpose_forms[] = {
    {"[2,3]", {-1}}, {"[2,3,4]", {3, 2, 0, 1}}, {"[2,3,4]", {3, -2, 2, 0}}, {"[]", {-1}},
    {"[3]", {1, 0}}, {"[0,2]", {-1}},           {"[2,1,3]", {3, 0, 2, 1}},  CASES_END,
};
static const cases_wrong transpose_wrong[] = {
    {"[2,3]", LAM_ERR_AXIS, {2, 0, 0}},
    {"[2,3]", LAM_ERR_AXIS, {2, 0, 2}},
    {"[2,3]", LAM_ERR_AXIS, {1, 0}},
    {"[2,3]", LAM_ERR_AXIS, {2, 0, -3}},
    CASES_WRONG_END,
};

/* ---- identities ----------------------------------------------------------------------------------------------- */

static long double same(long double x) {
    return x;
}

/* arg: which name. */
static void call_checkpoint_name(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    static const char *const names[] = {"kept", "", "a name of more than thirty-one bytes"};
    out[0] = lam_checkpoint_name(in[0], names[u->arg[0]]);
}

static void reference_checkpoint_name(const cases_use *u, const array in[], array out[]) {
    (void)u;
    *out = *in;
}

static const cases_wrong name_wrong[] = {
    {"[3]", LAM_ERR_VALUE, {1}},
    {"[3]", LAM_ERR_VALUE, {2}},
    CASES_WRONG_END,
};

static const cases_form same_forms[] = {{"[]", {0}}, {"[2,3]", {0}}, {"[0]", {0}}, {"[2,3,2]", {0}}, CASES_END};

#define LAYOUT(op, list) .call = call_##op, .reference = reference_##op, .forms = list##_forms, .wrong = list##_wrong

const cases_row cases_layout[] = {
    {.name = "cast", LAYOUT(cast, cast)},
    {.name = "broadcast_to", LAYOUT(broadcast_to, broadcast), .dtypes = CASES_ALL},
    {.name = "reshape", LAYOUT(reshape, reshape), .dtypes = CASES_ALL},
    {.name = "transpose", LAYOUT(transpose, transpose), .dtypes = CASES_ALL},
    {.name = "checkpoint_name",
     .call = call_checkpoint_name,
     .reference = reference_checkpoint_name,
     .forms = same_forms,
     .wrong = name_wrong,
     .dtypes = CASES_ALL},
    {.name = "contiguous", .unary = lam_contiguous, .unary_reference = same, .forms = same_forms, .dtypes = CASES_ALL},
    {.name = "stop_gradient",
     .unary = lam_stop_gradient,
     .unary_reference = same,
     .forms = same_forms,
     .dtypes = CASES_ALL,
     .no_gradient = true},
    {.name = NULL},
};
