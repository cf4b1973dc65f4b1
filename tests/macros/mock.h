/* Stand-ins for the operations, to see what the macros of literals.h call. A mock tensor is the text of the expression
 * that made it: lam_mul(2.0, x) is "mul(2r, x)", where r marks a floating number, i an integer and u an unsigned one
 * that long long may not hold. The names are spelled out here, so that a name missing in the header shows. Texts live
 * in static slots, taken in turn and begun anew by mock_reset. One file of each program includes this, as C or C++. */
#ifndef LAM_TESTS_MACROS_MOCK_H
#define LAM_TESTS_MACROS_MOCK_H

#include <lamina/base.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { MOCK_TEXT = 256, MOCK_SLOTS = 256 };

struct lam_tensor {
    char text[MOCK_TEXT];
};

static lam_tensor mock_slots[MOCK_SLOTS];
static size_t mock_used;

static void mock_reset(void) {
    mock_used = 0;
}

/* What does not fit is left out, and then texts compare unequal. */
static void mock_append(lam_tensor *x, const char *more) {
    size_t used = strlen(x->text), room = MOCK_TEXT - 1 - used, length = strlen(more);
    if (length > room) length = room;
    memcpy(x->text + used, more, length);
    x->text[used + length] = '\0';
}

/* The next slot; when they run out the last one is used again, and then texts compare unequal. */
static lam_tensor *mock_slot(void) {
    return &mock_slots[mock_used + 1 < MOCK_SLOTS ? mock_used++ : mock_used];
}

static lam_tensor *mock_new(const char *text) {
    lam_tensor *made = mock_slot();
    made->text[0] = '\0';
    mock_append(made, text);
    return made;
}

static const char *mock_text(const lam_tensor *x) {
    return x ? x->text : "NULL";
}

static lam_tensor *mock_two(const char *op, lam_tensor *x, lam_tensor *y) {
    const char *parts[] = {"(", mock_text(x), ", ", mock_text(y), ")"};
    lam_tensor *made = mock_new(op);
    for (size_t i = 0; i < 5; i++) mock_append(made, parts[i]);
    return made;
}

static lam_tensor *mock_three(const char *op, lam_tensor *x, lam_tensor *y, lam_tensor *z) {
    const char *parts[] = {"(", mock_text(x), ", ", mock_text(y), ", ", mock_text(z), ")"};
    lam_tensor *made = mock_new(op);
    for (size_t i = 0; i < 7; i++) mock_append(made, parts[i]);
    return made;
}

static lam_tensor *mock_floating(double x) {
    char text[64];
    snprintf(text, sizeof text, "%gr", x);
    return mock_new(text);
}

static lam_tensor *mock_integer(long long x) {
    char text[64];
    snprintf(text, sizeof text, "%lldi", x);
    return mock_new(text);
}

static lam_tensor *mock_unsigned(unsigned long long x) {
    char text[64];
    snprintf(text, sizeof text, "%lluu", x);
    return mock_new(text);
}

/* Prototypes first, as in ops.h; then the bodies, before the macros take the names. */
#define LAMINA_OPS_H
lam_tensor *lam_add(lam_tensor *x, lam_tensor *y);
lam_tensor *lam_sub(lam_tensor *x, lam_tensor *y);
lam_tensor *lam_mul(lam_tensor *x, lam_tensor *y);
lam_tensor *lam_div(lam_tensor *x, lam_tensor *y);
lam_tensor *lam_rem(lam_tensor *x, lam_tensor *y);
lam_tensor *lam_pow(lam_tensor *x, lam_tensor *y);
lam_tensor *lam_max(lam_tensor *x, lam_tensor *y);
lam_tensor *lam_min(lam_tensor *x, lam_tensor *y);
lam_tensor *lam_atan2(lam_tensor *x, lam_tensor *y);
lam_tensor *lam_hypot(lam_tensor *x, lam_tensor *y);
lam_tensor *lam_eq(lam_tensor *x, lam_tensor *y);
lam_tensor *lam_ne(lam_tensor *x, lam_tensor *y);
lam_tensor *lam_lt(lam_tensor *x, lam_tensor *y);
lam_tensor *lam_le(lam_tensor *x, lam_tensor *y);
lam_tensor *lam_gt(lam_tensor *x, lam_tensor *y);
lam_tensor *lam_ge(lam_tensor *x, lam_tensor *y);
lam_tensor *lam_logaddexp(lam_tensor *x, lam_tensor *y);
lam_tensor *lam_xlogy(lam_tensor *x, lam_tensor *y);
lam_tensor *lam_copysign(lam_tensor *x, lam_tensor *y);
lam_tensor *lam_logaddexp2(lam_tensor *x, lam_tensor *y);
lam_tensor *lam_xlog1py(lam_tensor *x, lam_tensor *y);
lam_tensor *lam_nextafter(lam_tensor *x, lam_tensor *y);
lam_tensor *lam_igamma(lam_tensor *x, lam_tensor *y);
lam_tensor *lam_igammac(lam_tensor *x, lam_tensor *y);
lam_tensor *lam_betaln(lam_tensor *x, lam_tensor *y);
lam_tensor *lam_shift_left(lam_tensor *x, lam_tensor *y);
lam_tensor *lam_shift_right_logical(lam_tensor *x, lam_tensor *y);
lam_tensor *lam_shift_right_arithmetic(lam_tensor *x, lam_tensor *y);
lam_tensor *lam_mod(lam_tensor *x, lam_tensor *y);
lam_tensor *lam_floor_divide(lam_tensor *x, lam_tensor *y);
lam_tensor *lam_and(lam_tensor *x, lam_tensor *y);
lam_tensor *lam_or(lam_tensor *x, lam_tensor *y);
lam_tensor *lam_xor(lam_tensor *x, lam_tensor *y);
lam_tensor *lam_fmax(lam_tensor *x, lam_tensor *y);
lam_tensor *lam_fmin(lam_tensor *x, lam_tensor *y);
lam_tensor *lam_heaviside(lam_tensor *x, lam_tensor *y);
lam_tensor *lam_gcd(lam_tensor *x, lam_tensor *y);
lam_tensor *lam_lcm(lam_tensor *x, lam_tensor *y);
lam_tensor *lam_float_power(lam_tensor *x, lam_tensor *y);
lam_tensor *lam_zeta(lam_tensor *x, lam_tensor *y);
lam_tensor *lam_comb(lam_tensor *x, lam_tensor *y);
lam_tensor *lam_beta(lam_tensor *x, lam_tensor *y);
lam_tensor *lam_boxcox(lam_tensor *x, lam_tensor *y);
lam_tensor *lam_boxcox1p(lam_tensor *x, lam_tensor *y);
lam_tensor *lam_poch(lam_tensor *x, lam_tensor *y);
lam_tensor *lam_add_(lam_tensor *x, lam_tensor *y);
lam_tensor *lam_sub_(lam_tensor *x, lam_tensor *y);
lam_tensor *lam_mul_(lam_tensor *x, lam_tensor *y);
lam_tensor *lam_div_(lam_tensor *x, lam_tensor *y);
lam_tensor *lam_where(lam_tensor *c, lam_tensor *x, lam_tensor *y);
lam_tensor *lam_clamp(lam_tensor *x, lam_tensor *lo, lam_tensor *hi);
lam_tensor *lam_fma(lam_tensor *x, lam_tensor *y, lam_tensor *z);

lam_tensor *lam_add(lam_tensor *x, lam_tensor *y) {
    return mock_two("add", x, y);
}

lam_tensor *lam_sub(lam_tensor *x, lam_tensor *y) {
    return mock_two("sub", x, y);
}

lam_tensor *lam_mul(lam_tensor *x, lam_tensor *y) {
    return mock_two("mul", x, y);
}

lam_tensor *lam_div(lam_tensor *x, lam_tensor *y) {
    return mock_two("div", x, y);
}

lam_tensor *lam_rem(lam_tensor *x, lam_tensor *y) {
    return mock_two("rem", x, y);
}

lam_tensor *lam_pow(lam_tensor *x, lam_tensor *y) {
    return mock_two("pow", x, y);
}

lam_tensor *lam_max(lam_tensor *x, lam_tensor *y) {
    return mock_two("max", x, y);
}

lam_tensor *lam_min(lam_tensor *x, lam_tensor *y) {
    return mock_two("min", x, y);
}

lam_tensor *lam_atan2(lam_tensor *x, lam_tensor *y) {
    return mock_two("atan2", x, y);
}

lam_tensor *lam_hypot(lam_tensor *x, lam_tensor *y) {
    return mock_two("hypot", x, y);
}

lam_tensor *lam_eq(lam_tensor *x, lam_tensor *y) {
    return mock_two("eq", x, y);
}

lam_tensor *lam_ne(lam_tensor *x, lam_tensor *y) {
    return mock_two("ne", x, y);
}

lam_tensor *lam_lt(lam_tensor *x, lam_tensor *y) {
    return mock_two("lt", x, y);
}

lam_tensor *lam_le(lam_tensor *x, lam_tensor *y) {
    return mock_two("le", x, y);
}

lam_tensor *lam_gt(lam_tensor *x, lam_tensor *y) {
    return mock_two("gt", x, y);
}

lam_tensor *lam_ge(lam_tensor *x, lam_tensor *y) {
    return mock_two("ge", x, y);
}

lam_tensor *lam_logaddexp(lam_tensor *x, lam_tensor *y) {
    return mock_two("logaddexp", x, y);
}

lam_tensor *lam_xlogy(lam_tensor *x, lam_tensor *y) {
    return mock_two("xlogy", x, y);
}

lam_tensor *lam_copysign(lam_tensor *x, lam_tensor *y) {
    return mock_two("copysign", x, y);
}

lam_tensor *lam_logaddexp2(lam_tensor *x, lam_tensor *y) {
    return mock_two("logaddexp2", x, y);
}

lam_tensor *lam_xlog1py(lam_tensor *x, lam_tensor *y) {
    return mock_two("xlog1py", x, y);
}

lam_tensor *lam_nextafter(lam_tensor *x, lam_tensor *y) {
    return mock_two("nextafter", x, y);
}

lam_tensor *lam_igamma(lam_tensor *x, lam_tensor *y) {
    return mock_two("igamma", x, y);
}

lam_tensor *lam_igammac(lam_tensor *x, lam_tensor *y) {
    return mock_two("igammac", x, y);
}

lam_tensor *lam_betaln(lam_tensor *x, lam_tensor *y) {
    return mock_two("betaln", x, y);
}

lam_tensor *lam_shift_left(lam_tensor *x, lam_tensor *y) {
    return mock_two("shift_left", x, y);
}

lam_tensor *lam_shift_right_logical(lam_tensor *x, lam_tensor *y) {
    return mock_two("shift_right_logical", x, y);
}

lam_tensor *lam_shift_right_arithmetic(lam_tensor *x, lam_tensor *y) {
    return mock_two("shift_right_arithmetic", x, y);
}

lam_tensor *lam_mod(lam_tensor *x, lam_tensor *y) {
    return mock_two("mod", x, y);
}

lam_tensor *lam_floor_divide(lam_tensor *x, lam_tensor *y) {
    return mock_two("floor_divide", x, y);
}

lam_tensor *lam_and(lam_tensor *x, lam_tensor *y) {
    return mock_two("and", x, y);
}

lam_tensor *lam_or(lam_tensor *x, lam_tensor *y) {
    return mock_two("or", x, y);
}

lam_tensor *lam_xor(lam_tensor *x, lam_tensor *y) {
    return mock_two("xor", x, y);
}

lam_tensor *lam_fmax(lam_tensor *x, lam_tensor *y) {
    return mock_two("fmax", x, y);
}

lam_tensor *lam_fmin(lam_tensor *x, lam_tensor *y) {
    return mock_two("fmin", x, y);
}

lam_tensor *lam_heaviside(lam_tensor *x, lam_tensor *y) {
    return mock_two("heaviside", x, y);
}

lam_tensor *lam_gcd(lam_tensor *x, lam_tensor *y) {
    return mock_two("gcd", x, y);
}

lam_tensor *lam_lcm(lam_tensor *x, lam_tensor *y) {
    return mock_two("lcm", x, y);
}

lam_tensor *lam_float_power(lam_tensor *x, lam_tensor *y) {
    return mock_two("float_power", x, y);
}

lam_tensor *lam_zeta(lam_tensor *x, lam_tensor *y) {
    return mock_two("zeta", x, y);
}

lam_tensor *lam_comb(lam_tensor *x, lam_tensor *y) {
    return mock_two("comb", x, y);
}

lam_tensor *lam_beta(lam_tensor *x, lam_tensor *y) {
    return mock_two("beta", x, y);
}

lam_tensor *lam_boxcox(lam_tensor *x, lam_tensor *y) {
    return mock_two("boxcox", x, y);
}

lam_tensor *lam_boxcox1p(lam_tensor *x, lam_tensor *y) {
    return mock_two("boxcox1p", x, y);
}

lam_tensor *lam_poch(lam_tensor *x, lam_tensor *y) {
    return mock_two("poch", x, y);
}

lam_tensor *lam_add_(lam_tensor *x, lam_tensor *y) {
    return mock_two("add_", x, y);
}

lam_tensor *lam_sub_(lam_tensor *x, lam_tensor *y) {
    return mock_two("sub_", x, y);
}

lam_tensor *lam_mul_(lam_tensor *x, lam_tensor *y) {
    return mock_two("mul_", x, y);
}

lam_tensor *lam_div_(lam_tensor *x, lam_tensor *y) {
    return mock_two("div_", x, y);
}

lam_tensor *lam_where(lam_tensor *c, lam_tensor *x, lam_tensor *y) {
    return mock_three("where", c, x, y);
}

lam_tensor *lam_clamp(lam_tensor *x, lam_tensor *lo, lam_tensor *hi) {
    return mock_three("clamp", x, lo, hi);
}

lam_tensor *lam_fma(lam_tensor *x, lam_tensor *y, lam_tensor *z) {
    return mock_three("fma", x, y, z);
}

#ifdef __cplusplus
} /* extern "C" */
#endif

#include <lamina/literals.h>

#ifdef __cplusplus
extern "C" {
#endif

lam_tensor *lam__literals_td(lam__binary *op, lam_tensor *x, double y) {
    return op(x, mock_floating(y));
}

lam_tensor *lam__literals_dt(lam__binary *op, double x, lam_tensor *y) {
    return op(mock_floating(x), y);
}

lam_tensor *lam__literals_ti(lam__binary *op, lam_tensor *x, long long y) {
    return op(x, mock_integer(y));
}

lam_tensor *lam__literals_it(lam__binary *op, long long x, lam_tensor *y) {
    return op(mock_integer(x), y);
}

lam_tensor *lam__literals_tu(lam__binary *op, lam_tensor *x, unsigned long long y) {
    return op(x, mock_unsigned(y));
}

lam_tensor *lam__literals_ut(lam__binary *op, unsigned long long x, lam_tensor *y) {
    return op(mock_unsigned(x), y);
}

static lam_tensor *mock_operand(lam__operand x) {
    switch (x.kind) {
    case LAM__TENSOR: return x.as.tensor;
    case LAM__FLOATING: return mock_floating(x.as.floating);
    case LAM__INTEGER: return mock_integer(x.as.integer);
    case LAM__UNSIGNED: return mock_unsigned(x.as.natural);
    }
    return mock_new("no such kind");
}

lam_tensor *lam__where_operands(lam_tensor *c, lam__operand x, lam__operand y) {
    return (lam_where)(c, mock_operand(x), mock_operand(y));
}

lam_tensor *lam__clamp_operands(lam_tensor *x, lam__operand lo, lam__operand hi) {
    return (lam_clamp)(x, mock_operand(lo), mock_operand(hi));
}

lam_tensor *lam__fma_operands(lam_tensor *x, lam__operand y, lam__operand z) {
    return (lam_fma)(x, mock_operand(y), mock_operand(z));
}

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif
