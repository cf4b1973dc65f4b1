/* Elementwise primitives of two and three operands, which broadcast. References are those of libm in long double, or
 * closed forms. Domains keep away from ties and poles, whose derivatives singular.c looks at. */
#include "tests/primitives/cases.h"

#include <math.h>

static const cases_form two[] = {
    {"[2,3] [2,3]", {0}},   {"[2,3] [3]", {0}}, {"[3] [2,1]", {0}},   {"[] [4]", {0}},
    {"[2,3] []", {0}},      {"[] []", {0}},     {"[0,3] [3]", {0}},   {"[1] [0]", {0}},
    {"[2,1,3] [4,1]", {0}}, {"[1,1] [3]", {0}}, {"[1] [1,1,1]", {0}}, CASES_END,
};
/* Operands of two dtypes are promoted. */
static const cases_form mixed[] = {
    {"[2,3] [3]", {0}}, {"[] [4]", {0}},    {"f32[3] f64[2,3]", {0}}, {"i32[3] f32[3]", {0}}, {"i64[2] i32[2]", {0}},
    {"[] []", {0}},     {"[2,1] [0]", {0}}, {"[17] [17]", {0}},       {"[3,1] [1,3]", {0}},   CASES_END,
};
static const cases_form select[] = {
    {"bool[2,3] [2,3] [2,3]", {0}}, {"bool[3] [2,3] []", {0}},
    {"bool[] [4] [4]", {0}},        {"bool[2,1] [3] [1]", {0}},
    {"bool[] [] []", {0}},          {"bool[0] [1] []", {0}},
    {"bool[3] f32[3] f64[]", {0}},  CASES_END,
};
static const cases_form three[] = {
    {"[2,3] [2,3] [2,3]", {0}}, {"[2,3] [] []", {0}}, {"[3] [2,1] []", {0}},
    {"[] [] []", {0}},          {"[0] [] [1]", {0}},  CASES_END,
};
static const cases_form logic[] = {
    {"bool[2,3] bool[2,3]", {0}}, {"bool[] bool[3]", {0}},  {"i64[2,3] i64[3]", {0}}, {"i32[3] i32[2,1]", {0}},
    {"u8[5] u8[]", {0}},          {"bool[0] bool[1]", {0}}, {"u8[] u8[]", {0}},       CASES_END,
};

static const cases_wrong no_fit[] = {
    {"[2,3] [4]", LAM_ERR_SHAPE, {0}}, {"[2,3] [2]", LAM_ERR_SHAPE, {0}}, CASES_WRONG_END};
static const cases_wrong no_fit_of_sub[] = {
    {"[2,3] [2]", LAM_ERR_SHAPE, {0}}, {"bool[2] bool[2]", LAM_ERR_DTYPE, {0}}, CASES_WRONG_END};
static const cases_wrong bad_select[] = {
    {"f64[3] [3] [3]", LAM_ERR_DTYPE, {0}},
    {"i32[3] [3] []", LAM_ERR_DTYPE, {0}},
    {"bool[2] [3] []", LAM_ERR_SHAPE, {0}},
    CASES_WRONG_END,
};
static const cases_wrong bad_three[] = {
    {"[2] [3] []", LAM_ERR_SHAPE, {0}}, {"[2,3] [] [2]", LAM_ERR_SHAPE, {0}}, CASES_WRONG_END};
static const cases_wrong bad_logic[] = {
    {"f64[3] f64[3]", LAM_ERR_DTYPE, {0}},
    {"bool[2] bool[3]", LAM_ERR_SHAPE, {0}},
    {"f32[] bool[]", LAM_ERR_DTYPE, {0}},
    CASES_WRONG_END,
};

static long double add(long double x, long double y) {
    return x + y;
}

static long double sub(long double x, long double y) {
    return x - y;
}

static long double mul(long double x, long double y) {
    return x * y;
}

static long double div_(long double x, long double y) {
    return x / y;
}

static long double larger(long double x, long double y) {
    return x > y ? x : y;
}

static long double smaller(long double x, long double y) {
    return x < y ? x : y;
}

static long double eq(long double x, long double y) {
    return x == y;
}

static long double ne(long double x, long double y) {
    return x != y;
}

static long double lt(long double x, long double y) {
    return x < y;
}

static long double le(long double x, long double y) {
    return x <= y;
}

static long double gt(long double x, long double y) {
    return x > y;
}

static long double ge(long double x, long double y) {
    return x >= y;
}

static long double and_(long double x, long double y) {
    return (long double)((int64_t)x & (int64_t)y);
}

static long double or_(long double x, long double y) {
    return (long double)((int64_t)x | (int64_t)y);
}

static long double xor_(long double x, long double y) {
    return (long double)((int64_t)x ^ (int64_t)y);
}

static long double where(long double c, long double x, long double y) {
    return c != 0 ? x : y;
}

static long double product_over(long double x, long double y, long double z) {
    return x * y / z;
}

static long double product_and_sum(long double x, long double y, long double z) {
    return x * y + z;
}

static long double clamp(long double x, long double lo, long double hi) {
    return smaller(larger(x, lo), hi);
}

/* An integer by 0 gives 0. */
static long double rem_(long double x, long double y) {
    return y == 0 ? 0 : fmodl(x, y);
}

/* Some of the elements agree with the other operand's. */
static void put_equals(const cases_use *u, int i, array *x) {
    (void)u, (void)i;
    for (int64_t e = 0; e < x->count; e += 2) x->data[e] = 1.25L;
    if (!array_is_float(x))
        for (int64_t e = 0; e < x->count; e += 2) x->data[e] = 1;
}

static const cases_form powers[] = {
    {"[2,3] [2,3]", {1, 2}},     {"[2,3] [3]", {2, -1}},     {"[] [4]", {3, -2}},    {"[2,3] []", {-1, 1}},
    {"[] []", {-2, 3}},          {"[5] [5]", {0, 2}},        {"[0,3] [3]", {-1, 2}}, {"[7] [7]", {5, 1}},
    {"f32[3] f32[2,3]", {3, 1}}, {"f32[9] f32[9]", {-1, 1}}, {"[3] [2,1]", {2, 3}},  CASES_END,
};

static void call_times_power(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    out[0] = lam_times_power(in[0], in[1], (int)u->arg[0], (double)u->arg[1] / 2);
}

static void times_power_reference(const cases_use *u, const array in[], array out[]) {
    cases_broadcast(2, in, out);
    for (int64_t e = 0; e < out->count; e++) {
        long double x = cases_broadcast_element(&in[0], out, e), y = cases_broadcast_element(&in[1], out, e);
        out->data[e] = x * u->arg[1] / 2 * powl(y, (long double)u->arg[0]);
    }
}

static long double squareplus(long double x, long double b) {
    return (x + sqrtl(x * x + b)) / 2;
}

/* At the kink it is the 0 of relu. */
static long double squareplus_slope(long double x, long double b) {
    return x == 0 && b == 0 ? 0 : (1 + x / sqrtl(x * x + b)) / 2;
}

static long double weigh(long double x, long double y) {
    return x == 0 ? 0 : x * y;
}

static const cases_form ramps[] = {
    {"[2,3] [2,3]", {0}}, {"[2,3] [3]", {1}},       {"[] [4]", {-3}},         {"[2,3] []", {1}},  {"[] []", {0}},
    {"[0,3] [3]", {1}},   {"f32[40] f32[40]", {1}}, {"f32[3] f32[2,3]", {0}}, {"[3] [2,1]", {1}}, CASES_END,
};

static void call_ramp(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    out[0] = lam_ramp(in[0], in[1], (double)u->arg[0] / 4);
}

static void ramp_reference(const cases_use *u, const array in[], array out[]) {
    cases_broadcast(2, in, out);
    for (int64_t e = 0; e < out->count; e++) {
        long double x = cases_broadcast_element(&in[0], out, e), y = cases_broadcast_element(&in[1], out, e);
        out->data[e] = x > 0 ? y : y * u->arg[0] / 4;
    }
}

/* Differences are from 0.5 to 4: beyond 1/4, or within 8. */
static const cases_form hubers[] = {
    {"[2,3] [2,3]", {1}},     {"[2,3] [3]", {32}},       {"[] [4]", {1}},    {"[2,3] []", {32}}, {"[] []", {32}},
    {"f32[40] f32[40]", {1}}, {"f32[3] f32[2,3]", {32}}, {"[0,3] [3]", {1}}, {"[3] [2,1]", {1}}, CASES_END,
};

static void call_huber(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    out[0] = lam_huber_loss(in[0], in[1], (double)u->arg[0] / 4);
}

static void huber_reference(const cases_use *u, const array in[], array out[]) {
    const long double delta = u->arg[0] / 4.0L;
    cases_broadcast(2, in, out);
    for (int64_t e = 0; e < out->count; e++) {
        const long double d = fabsl(cases_broadcast_element(&in[0], out, e) - cases_broadcast_element(&in[1], out, e));
        out->data[e] = d <= delta ? d * d / 2 : delta * (d - delta / 2);
    }
}

static long double hard_gate(long double x, long double y) {
    return y * (x <= -3 ? 0 : x >= 3 ? 1 : (x + 3) / 6);
}

#define BINARY(operation, oracle, list) .binary = operation, .binary_reference = oracle, .forms = list, .wrong = no_fit
#define ORDERED(operation, oracle, list)                                                                               \
    BINARY(operation, oracle, list), .wrong_calls = {{"[2] [2]", LAM_ERR_DTYPE, cases_call_complex}}
#define REAL    .gives = CASES_REAL, .dtypes = CASES_NUMBERS
#define NUMBERS .dtypes = CASES_NUMBERS
#define FLAT    .no_gradient = true
#define COMPARE .gives = CASES_BOOL, .dtypes = CASES_ALL, .fill = put_equals, FLAT

const cases_row cases_binary[] = {
    {.name = "add", BINARY(lam_add, add, two), NUMBERS},
    {.name = "add", BINARY(lam_add, add, mixed)},
    {.name = "sub", .binary = lam_sub, .binary_reference = sub, .forms = two, .wrong = no_fit_of_sub, NUMBERS},
    {.name = "mul", BINARY(lam_mul, mul, two), NUMBERS},
    {.name = "mul", BINARY(lam_mul, mul, mixed)},
    {.name = "div", BINARY(lam_div, div_, two), REAL, .domain = {{0, 0}, {0.6, 3}}},
    {.name = "rem", ORDERED(lam_rem, rem_, two), .domain = {{-5, 5}, {2.1, 3}}},
    {.name = "rem", ORDERED(lam_rem, rem_, two), NUMBERS, .domain = {{-9, 9}, {2, 5}}},
    {.name = "pow", BINARY(lam_pow, powl, two), REAL, .domain = {{0.3, 2.5}, {-2, 2.5}}},
    {.name = "max", ORDERED(lam_max, larger, two), NUMBERS},
    {.name = "min", ORDERED(lam_min, smaller, two), NUMBERS},
    {.name = "atan2", ORDERED(lam_atan2, atan2l, two), REAL, .domain = {{-2, 2}, {0.3, 2}}},
    {.name = "hypot", ORDERED(lam_hypot, hypotl, two), REAL},
    {.name = "copysign", ORDERED(lam_copysign, copysignl, two), REAL},
    {.name = "eq", BINARY(lam_eq, eq, two), COMPARE},
    {.name = "ne", BINARY(lam_ne, ne, two), COMPARE},
    {.name = "lt", ORDERED(lam_lt, lt, two), COMPARE},
    {.name = "le", ORDERED(lam_le, le, two), COMPARE},
    {.name = "gt", ORDERED(lam_gt, gt, two), COMPARE},
    {.name = "ge", ORDERED(lam_ge, ge, two), COMPARE},
    {.name = "and",
     .binary = lam_and,
     .binary_reference = and_,
     .forms = logic,
     .wrong = bad_logic,
     .domain = {{0, 9}, {0, 9}}},
    {.name = "or",
     .binary = lam_or,
     .binary_reference = or_,
     .forms = logic,
     .wrong = bad_logic,
     .domain = {{0, 9}, {0, 9}}},
    {.name = "xor",
     .binary = lam_xor,
     .binary_reference = xor_,
     .forms = logic,
     .wrong = bad_logic,
     .domain = {{0, 9}, {0, 9}}},
    {.name = "where",
     .ternary = lam_where,
     .ternary_reference = where,
     .forms = select,
     .wrong = bad_select,
     .dtypes = CASES_ALL},
    {.name = "clamp",
     .ternary = lam_clamp,
     .ternary_reference = clamp,
     .forms = three,
     .wrong = bad_three,
     .dtypes = CASES_NUMBERS,
     .domain = {{0, 0}, {-1.4, -0.6}, {0.6, 1.4}}},
    {.name = "times_power",
     .call = call_times_power,
     .reference = times_power_reference,
     .forms = powers,
     .wrong = no_fit,
     .ulps = 4,
     .domain = {{0, 0}, {0.4, 2.4}}},
    {.name = "ramp",
     .call = call_ramp,
     .reference = ramp_reference,
     .forms = ramps,
     .wrong = no_fit,
     .wrong_calls = {{"[2] [2]", LAM_ERR_DTYPE, cases_call_complex}},
     .domain = {{-2, -0.1}}},
    {.name = "ramp",
     .call = call_ramp,
     .reference = ramp_reference,
     .forms = ramps,
     .wrong = no_fit,
     .domain = {{0.1, 2}}},
    {.name = "huber_loss",
     .call = call_huber,
     .reference = huber_reference,
     .forms = hubers,
     .wrong = no_fit,
     .wrong_calls = {{"[2] [2]", LAM_ERR_DTYPE, cases_call_complex}},
     .ulps = 8,
     .domain = {{0.5, 2}, {-2, 0}}},
    {.name = "hard_gate", ORDERED(lam_hard_gate, hard_gate, two), REAL, .ulps = 4, .domain = {{-2.5, 2.5}, {-2, 2}}},
    {.name = "hard_gate", BINARY(lam_hard_gate, hard_gate, two), .domain = {{3.1, 9}, {-2, 2}}},
    {.name = "hard_gate", BINARY(lam_hard_gate, hard_gate, two), .domain = {{-9, -3.1}, {-2, 2}}},
    {.name = "squareplus_with",
     ORDERED(lam_squareplus_with, squareplus, two),
     REAL,
     .ulps = 4,
     .domain = {{-2, 2}, {0.3, 3}}},
    {.name = "squareplus_slope",
     ORDERED(lam_squareplus_slope, squareplus_slope, two),
     REAL,
     .ulps = 4,
     .domain = {{-2, 2}, {0.3, 3}}},
    {.name = "weigh", ORDERED(lam_weigh, weigh, two), REAL, .domain = {{0.3, 3}}},
    {.name = "mul_div",
     .ternary = lam_mul_div,
     .ternary_reference = product_over,
     .forms = three,
     .wrong = bad_three,
     .gives = CASES_REAL,
     .dtypes = CASES_NUMBERS,
     .ulps = 4,
     .domain = {{0, 0}, {0, 0}, {0.4, 2.4}}},
    {.name = "fma",
     .ternary = lam_fma,
     .ternary_reference = product_and_sum,
     .forms = three,
     .wrong = bad_three,
     .gives = CASES_REAL,
     .dtypes = CASES_NUMBERS},
    {.name = NULL},
};
