/* What loops are in simpler operations, to the last bit, for graphs that become machine code: there a step is an
 * instruction or two, but a loop is a call, before which all that others will read goes to memory. */
#include "lib/program/graph.h"

#include "lib/tensor/dtype.h"

#include <math.h>
#include <string.h>

/* The graph and the dtype of what is spelled. */
typedef struct speller {
    lam__graph *g;
    lam_dtype dtype;
} speller;

/* Rounded to the dtype, as the kernels round the constants of theirs. */
static int32_t number(const speller *s, double value) {
    return lam__graph_number(s->g, s->dtype, value);
}

/* What is -1, for want of memory, goes through all of these up to the end, so nothing below looks at what it was
 * given. */
static int32_t one(const speller *s, lam__loop_id id, int32_t x) {
    return lam__graph_loop(s->g, id, false, 1, &x, NULL, 0);
}

static int32_t two(const speller *s, lam__loop_id id, int32_t x, int32_t y) {
    return lam__graph_loop(s->g, id, false, 2, (int32_t[]){x, y}, NULL, 0);
}

/* A comparison with a number, and a choice by it. */
static int32_t against(const speller *s, lam__loop_id id, int32_t x, double value) {
    return lam__graph_loop(s->g, id, true, 2, (int32_t[]){x, number(s, value)}, NULL, 0);
}

static int32_t choice(const speller *s, int32_t c, int32_t yes, int32_t no) {
    return lam__graph_loop(s->g, LAM__LOOP_where, false, 3, (int32_t[]){c, yes, no}, NULL, 0);
}

/* As in the kernel of clamp: where low is above high, it is high. */
static int32_t between(const speller *s, int32_t x, int32_t low, int32_t high) {
    return two(s, LAM__LOOP_min, two(s, LAM__LOOP_max, x, low), high);
}

/* Parameters may lie anywhere in bytes of a row; without any the number is 0. */
static double parameter(const void *params) {
    double x = 0;
    if (params) memcpy(&x, params, sizeof x);
    return x;
}

/* As those of lib/kernels/simd/elements.h and loops_float.h, from here on. Zeros and NaN have the sign that they
 * have. */
static int32_t sign(const speller *s, int32_t x) {
    const int32_t left = choice(s, against(s, LAM__LOOP_lt, x, 0), number(s, -1), x);
    return choice(s, against(s, LAM__LOOP_gt, x, 0), number(s, 1), left);
}

/* y beyond 0, slope y up to there: relu and its like, and their slopes. A slope of 0 makes 0 of anything, where a
 * product would make NaN of infinities. */
static int32_t ramp(const speller *s, int32_t x, int32_t y, double slope) {
    const int32_t left = slope == 0 ? number(s, 0) : two(s, LAM__LOOP_mul, number(s, slope), y);
    return choice(s, against(s, LAM__LOOP_le, x, 0), left, y);
}

/* y times the gate of x, min(max(x + 3, 0), 6) / 6. NaN is neither below 0 nor above 6, and so goes through both
 * choices. */
static int32_t hard_gate(const speller *s, int32_t x, int32_t y) {
    const int32_t up = two(s, LAM__LOOP_add, x, number(s, 3)), six = number(s, 6);
    const int32_t open = choice(s, against(s, LAM__LOOP_lt, up, 0), number(s, 0), up);
    const int32_t gate = choice(s, against(s, LAM__LOOP_gt, open, 6), six, open);
    return two(s, LAM__LOOP_mul, y, two(s, LAM__LOOP_div, gate, six));
}

/* (2 x + 3) / 6 between the ends. Doubling is exact, so rounding is that of the sum and of the quotient. */
static int32_t hard_silu_slope(const speller *s, int32_t x) {
    const int32_t sum = two(s, LAM__LOOP_add, two(s, LAM__LOOP_add, x, x), number(s, 3));
    const int32_t inside = two(s, LAM__LOOP_div, sum, number(s, 6));
    const int32_t low = choice(s, against(s, LAM__LOOP_le, x, -3), number(s, 0), inside);
    return choice(s, against(s, LAM__LOOP_ge, x, 3), number(s, 1), low);
}

/* x / (1 + |x|); at infinity, where that is NaN, its limit. Only infinities get to the end, so a comparison tells the
 * sign that the kernel copies. */
static int32_t softsign(const speller *s, int32_t x) {
    const int32_t size = one(s, LAM__LOOP_abs, x), unit = number(s, 1);
    const int32_t share = two(s, LAM__LOOP_div, x, two(s, LAM__LOOP_add, unit, size));
    const int32_t end = choice(s, against(s, LAM__LOOP_gt, x, 0), unit, number(s, -1));
    return choice(s, against(s, LAM__LOOP_eq, size, INFINITY), end, share);
}

/* With c, the difference clamped to delta, both branches are one formula: c (d - c) + c^2 / 2. */
static int32_t huber_loss(const speller *s, int32_t x, int32_t y, double delta) {
    const int32_t d = two(s, LAM__LOOP_sub, x, y), c = between(s, d, number(s, -delta), number(s, delta));
    const int32_t beyond = two(s, LAM__LOOP_mul, c, two(s, LAM__LOOP_sub, d, c));
    return two(s, LAM__LOOP_add, beyond, two(s, LAM__LOOP_mul, number(s, 0.5), one(s, LAM__LOOP_square, c)));
}

/* NaN equals neither infinity and passes the inner choices, so that it is chosen last. */
static int32_t nan_to_num(const speller *s, int32_t x, const void *params) {
    lam__replacements r = {0, 0, 0};
    if (params) memcpy(&r, params, sizeof r);
    const int32_t low = choice(s, against(s, LAM__LOOP_eq, x, -INFINITY), number(s, r.low), x);
    const int32_t high = choice(s, against(s, LAM__LOOP_eq, x, INFINITY), number(s, r.high), low);
    return choice(s, lam__graph_loop(s->g, LAM__LOOP_ne, true, 2, (int32_t[]){x, x}, NULL, 0), number(s, r.nan), high);
}

/* x y, but 0 where x is 0, whatever y is. */
static int32_t weigh(const speller *s, int32_t x, int32_t y) {
    return choice(s, against(s, LAM__LOOP_eq, x, 0), number(s, 0), two(s, LAM__LOOP_mul, x, y));
}

/* Tests give bools. The largest number of the dtype is the bound, and of NaN no comparison is true. */
static int32_t is_finite(const speller *s, int32_t x) {
    const double most = s->dtype == LAM_F64 ? 0x1.fffffffffffffp+1023 : 0x1.fffffep+127;
    return against(s, LAM__LOOP_le, one(s, LAM__LOOP_abs, x), most);
}

/* The first operand says the dtype of all. Other dtypes stay calls of loops, as do all loops that are not named
 * here. */
int32_t lam__graph_spelled(lam__graph *g, lam__loop_id id, const int32_t in[], const void *params) {
    const speller s = {g, (lam_dtype)g->nodes[in[0]].dtype};
    if (s.dtype != LAM_F64 && s.dtype != LAM_F32) return LAM__GRAPH_NONE;
    switch ((int)id) {
    case LAM__LOOP_sign: return sign(&s, in[0]);
    case LAM__LOOP_clamp: return between(&s, in[0], in[1], in[2]);
    case LAM__LOOP_ramp: return ramp(&s, in[0], in[1], parameter(params));
    case LAM__LOOP_hard_gate: return hard_gate(&s, in[0], in[1]);
    case LAM__LOOP_hard_silu: return hard_gate(&s, in[0], in[0]);
    case LAM__LOOP_hard_silu_slope: return hard_silu_slope(&s, in[0]);
    case LAM__LOOP_softsign: return softsign(&s, in[0]);
    case LAM__LOOP_huber_loss: return huber_loss(&s, in[0], in[1], parameter(params));
    case LAM__LOOP_nan_to_num: return nan_to_num(&s, in[0], params);
    case LAM__LOOP_weigh: return weigh(&s, in[0], in[1]);
    case LAM__LOOP_is_finite: return is_finite(&s, in[0]);
    case LAM__LOOP_is_nan: return lam__graph_loop(g, LAM__LOOP_ne, true, 2, (int32_t[]){in[0], in[0]}, NULL, 0);
    default: return LAM__GRAPH_NONE;
    }
}
