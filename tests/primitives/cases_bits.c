/* Operations on bits and digits. References count bit by bit, divide by Euclid's algorithm, scale by powers of two in
 * long double, and read bytes of arrays that C itself lays out. */
#include "tests/primitives/cases.h"

#include <math.h>
#include <string.h>

static const cases_form integers[] = {{"i64[]", {0}}, {"i64[5]", {0}}, {"i32[2,3]", {0}}, {"u8[7]", {0}},
                                      {"i32[]", {0}}, {"u8[0]", {0}},  {"i64[2,0]", {0}}, CASES_END};
static const cases_form pairs[] = {
    {"i64[2,3] i64[3]", {0}}, {"i32[3] i32[2,1]", {0}}, {"u8[5] u8[]", {0}}, {"i64[] i32[2]", {0}},
    {"i64[0] i64[1]", {0}},   {"i32[] i32[]", {0}},     CASES_END,
};
static const cases_wrong no_integers[] = {
    {"f64[3]", LAM_ERR_DTYPE, {0}}, {"bool[2]", LAM_ERR_DTYPE, {0}}, CASES_WRONG_END};
static const cases_wrong no_pairs[] = {
    {"f64[3] f64[3]", LAM_ERR_DTYPE, {0}},
    {"bool[2] bool[2]", LAM_ERR_DTYPE, {0}},
    {"i64[2] i64[3]", LAM_ERR_SHAPE, {0}},
    CASES_WRONG_END,
};

/* ---- bits of integers -------------------------------------------------------------------------------------------- */

static int width_of(lam_dtype dtype) {
    return 8 * (int)lam_dtype_bytes(dtype);
}

static bool bit(const array *x, int64_t e, int place) {
    return (uint64_t)(int64_t)x->data[e] >> place & 1;
}

static void call_population_count(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    (void)u;
    out[0] = lam_population_count(in[0]);
}

static void population_count_reference(const cases_use *u, const array in[], array out[]) {
    (void)u;
    array_like(out, in);
    for (int64_t e = 0; e < in->count; e++) {
        out->data[e] = 0;
        for (int i = 0; i < width_of(in->dtype); i++) out->data[e] += bit(in, e, i);
    }
}

static void call_clz(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    (void)u;
    out[0] = lam_clz(in[0]);
}

static void clz_reference(const cases_use *u, const array in[], array out[]) {
    (void)u;
    array_like(out, in);
    for (int64_t e = 0; e < in->count; e++) {
        int place = width_of(in->dtype);
        while (place > 0 && !bit(in, e, place - 1)) place--;
        out->data[e] = width_of(in->dtype) - place;
    }
}

/* The largest number that divides both. */
static long double gcd(long double x, long double y) {
    for (long double d = fmaxl(fabsl(x), fabsl(y)); d > 0; d--)
        if (fmodl(x, d) == 0 && fmodl(y, d) == 0) return d;
    return 0;
}

/* ---- powers of two, fewer digits --------------------------------------------------------------------------------- */

static const cases_form moved[] = {
    {"[2,3] i64[3]", {0}}, {"[4] i32[]", {0}},       {"[] u8[]", {0}},      {"[] i64[3]", {0}},
    {"[2,0] i64[0]", {0}}, {"i64[3] i32[2,1]", {0}}, {"[3] i64[2,3]", {0}}, CASES_END};
static const cases_wrong not_moved[] = {{"[3] f64[3]", LAM_ERR_DTYPE, {0}},
                                        {"[3] bool[3]", LAM_ERR_DTYPE, {0}},
                                        {"[3] i64[2]", LAM_ERR_SHAPE, {0}},
                                        CASES_WRONG_END};

static void call_ldexp(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    (void)u;
    out[0] = lam_ldexp(in[0], in[1]);
}

static void ldexp_reference(const cases_use *u, const array in[], array out[]) {
    out->dtype = array_is_float(&in[0]) ? in[0].dtype : LAM_F64;
    cases_broadcast(u->inputs, in, out);
    for (int64_t e = 0; e < out->count; e++)
        out->data[e] = ldexpl(cases_broadcast_element(&in[0], out, e), (int)cases_broadcast_element(&in[1], out, e));
}

/* With all digits, so that there is a derivative to compare with: what rounding does is looked at bit by bit by
 * tests/kernels, and number by number in parts.c. */
static lam_tensor *whole_precision(lam_tensor *x) {
    return lam_reduce_precision(x, 11, 52);
}

static long double itself(long double x) {
    return x;
}

static void call_no_bits(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    (void)u;
    out[0] = lam_reduce_precision(in[0], 0, 5);
}

static const cases_form one[] = {{"[]", {0}}, {"[5]", {0}}, {"[2,3]", {0}}, {"[0]", {0}}, {"[2,0,3]", {0}}, CASES_END};

/* ---- the same bits ----------------------------------------------------------------------------------------------- */

/* The argument is the dtype that comes out. */
static const cases_form casts[] = {
    {"i64[3]", {LAM_I64}},   {"i32[2,3]", {LAM_U8}},
    {"u8[2,4]", {LAM_I32}},  {"i64[2,2]", {LAM_I32}},
    {"i32[3,2]", {LAM_I64}}, {"u8[3,8]", {LAM_I64}},
    {"i64[]", {LAM_I32}},    {"u8[0,4]", {LAM_I32}},
    {"i64[0]", {LAM_U8}},    CASES_END,
};
static const cases_wrong no_casts[] = {
    {"bool[4]", LAM_ERR_DTYPE, {LAM_U8}},
    {"u8[4]", LAM_ERR_DTYPE, {LAM_BOOL}},
    {"u8[3]", LAM_ERR_SHAPE, {LAM_I32}},
    {"i32[2,3]", LAM_ERR_SHAPE, {LAM_I64}},
    {"i32[]", LAM_ERR_SHAPE, {LAM_I64}},
    {"u8[4]", LAM_ERR_DTYPE, {99}},
    CASES_WRONG_END,
};

static void call_bitcast(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    out[0] = lam_bitcast(in[0], (lam_dtype)u->arg[0]);
}

/* A new axis where there is no room for one more. */
static void call_many_axes(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    int64_t ones[LAM_MAX_RANK];
    (void)u;
    for (int i = 0; i < LAM_MAX_RANK; i++) ones[i] = 1;
    out[0] = lam_bitcast(lam_reshape(in[0], (lam_dims){LAM_MAX_RANK, ones}), LAM_U8);
}

/* Integers as bytes, little end first, and back. */
static void bitcast_reference(const cases_use *u, const array in[], array out[]) {
    const int from = (int)lam_dtype_bytes(in->dtype), to = (int)lam_dtype_bytes((lam_dtype)u->arg[0]);
    int64_t dims[ARRAY_RANK];
    int rank = in->rank;
    memcpy(dims, in->dims, sizeof dims);
    if (from > to) dims[rank++] = from / to;
    if (from < to) rank--;
    array_shape(out, (lam_dtype)u->arg[0], rank, dims);
    for (int64_t e = 0; e < out->count; e++) {
        uint64_t bits = 0;
        for (int i = 0; i < to; i++) {
            const int64_t at = e * to + i;
            bits |= ((uint64_t)(int64_t)in->data[at / from] >> (8 * (at % from)) & 255) << (8 * i);
        }
        out->data[e] = to == 8 ? (int64_t)bits : to == 4 ? (int32_t)(uint32_t)bits : (int64_t)bits;
    }
}

const cases_row cases_bits[] = {
    {.name = "population_count",
     .call = call_population_count,
     .reference = population_count_reference,
     .forms = integers,
     .wrong = no_integers,
     .domain = {{-9, 200}}},
    {.name = "clz",
     .call = call_clz,
     .reference = clz_reference,
     .forms = integers,
     .wrong = no_integers,
     .domain = {{-3, 90}}},
    {.name = "gcd",
     .binary = lam_gcd,
     .binary_reference = gcd,
     .forms = pairs,
     .wrong = no_pairs,
     .domain = {{-24, 36}, {0, 60}}},
    {.name = "ldexp",
     .call = call_ldexp,
     .reference = ldexp_reference,
     .forms = moved,
     .wrong = not_moved,
     .domain = {{0, 0}, {-9, 12}}},
    {.name = "reduce_precision",
     .unary = whole_precision,
     .unary_reference = itself,
     .gives = CASES_REAL,
     .dtypes = CASES_ALL,
     .forms = one,
     .wrong_calls = {{"[2]", LAM_ERR_VALUE, call_no_bits}, {"[2]", LAM_ERR_DTYPE, cases_call_complex}}},
    {.name = "bitcast",
     .call = call_bitcast,
     .reference = bitcast_reference,
     .forms = casts,
     .wrong = no_casts,
     .wrong_calls = {{"i64[1]", LAM_ERR_RANK, call_many_axes}},
     .domain = {{-40, 90}}},
    {.name = NULL},
};
