/* What a graph knows of its operations: those of constants are done at once, neutral operands fall away, signs go
 * together, powers are spelled out as the products that their loops make. Bits stay as they were, but for the sign of a
 * zero that 0 is added to. */
#include "lib/program/graph.h"

#include "lib/tensor/dtype.h"

#include <string.h>

/* -0 counts as 0, so what is left of x + -0 is x, and of x + 0 too: of x = -0 that is a zero of the other sign, which
 * the file's head allows. Bits lie where an element of the dtype begins, so either number is copied from their
 * start. */
static bool is_number(const lam__graph *g, int32_t x, double value) {
    const lam__node *n = &g->nodes[x];
    if (n->kind != LAM__NODE_CONSTANT || !lam__dtype_is_float(n->dtype)) return false;
    double held;
    float narrow;
    memcpy(&held, &n->as.bits, sizeof held);
    memcpy(&narrow, &n->as.bits, sizeof narrow);
    return (n->dtype == LAM_F64 ? held : (double)narrow) == value;
}

/* x of -x; -1: it is no such. */
static int32_t negated(const lam__graph *g, int32_t x) {
    const lam__node *n = &g->nodes[x];
    return n->kind == LAM__NODE_LOOP && n->loop == LAM__LOOP_neg ? n->in[0] : -1;
}

/* Operands that are -1 make -1: a chain of folds is asked once, at its end. */
static int32_t one(lam__graph *g, lam__loop_id id, int32_t x) {
    return x < 0 ? -1 : lam__graph_loop(g, id, false, 1, &x, NULL, 0);
}

/* Folding one may fold the next, since each of these is asked for by lam__graph_loop as if it had been recorded. */
static int32_t two(lam__graph *g, lam__loop_id id, int32_t x, int32_t y) {
    const int32_t in[] = {x, y};
    return x < 0 || y < 0 ? -1 : lam__graph_loop(g, id, false, 2, in, NULL, 0);
}

/* Each of these gives a node that is the same, -1 where memory is lacking, or NONE. */
enum { NONE = LAM__GRAPH_NONE };

/* x + -y is x - y to the last bit. */
static int32_t fold_sum(lam__graph *g, int32_t x, int32_t y) {
    if (is_number(g, x, 0)) return y;
    if (is_number(g, y, 0)) return x;
    if (negated(g, y) >= 0) return two(g, LAM__LOOP_sub, x, negated(g, y));
    if (negated(g, x) >= 0) return two(g, LAM__LOOP_sub, y, negated(g, x));
    return NONE;
}

/* 0 - y is not -y, whose zero has the other sign. */
static int32_t fold_difference(lam__graph *g, int32_t x, int32_t y) {
    if (is_number(g, y, 0)) return x;
    return negated(g, y) >= 0 ? two(g, LAM__LOOP_add, x, negated(g, y)) : NONE;
}

/* 0 x stays a product: of infinities and NaN it is no 0. */
static int32_t fold_product(lam__graph *g, int32_t x, int32_t y) {
    if (is_number(g, x, 1)) return y;
    if (is_number(g, y, 1)) return x;
    if (is_number(g, x, -1)) return one(g, LAM__LOOP_neg, y);
    if (is_number(g, y, -1)) return one(g, LAM__LOOP_neg, x);
    if (negated(g, x) >= 0 && negated(g, y) >= 0) return two(g, LAM__LOOP_mul, negated(g, x), negated(g, y));
    return x == y ? one(g, LAM__LOOP_square, x) : NONE;
}

/* A factor of 1 or -1 rounds nothing, so the sum rounds once as the fma did. */
static int32_t fold_fma(lam__graph *g, const int32_t in[]) {
    if (is_number(g, in[2], 0)) return two(g, LAM__LOOP_mul, in[0], in[1]);
    for (int i = 0; i < 2; i++) {
        if (is_number(g, in[i], 1)) return two(g, LAM__LOOP_add, in[1 - i], in[2]);
        if (is_number(g, in[i], -1)) return two(g, LAM__LOOP_sub, in[2], in[1 - i]);
    }
    return NONE;
}

/* The products of NAME(power) in lib/kernels/simd/loops_float.h. The first product is one with 1, which falls away; the
 * base is not squared once more behind the last bit. */
static int32_t power_of(lam__graph *g, int32_t base, uint64_t exponent) {
    int32_t result = lam__graph_number(g, (lam_dtype)g->nodes[base].dtype, 1);
    for (; exponent && base >= 0; exponent >>= 1) {
        if (exponent & 1) result = two(g, LAM__LOOP_mul, result, base);
        if (exponent > 1) base = one(g, LAM__LOOP_square, base);
    }
    return base < 0 ? -1 : result;
}

enum { LARGEST_POWER = 64 };

/* Beyond the largest the loop is one step and its products would be many. x^0 is 1 for any x, NaN too, as it is in the
 * loop. */
static int32_t fold_integer_pow(lam__graph *g, int32_t x, const void *params) {
    int64_t exponent;
    memcpy(&exponent, params, sizeof exponent);
    if (!lam__dtype_is_float(g->nodes[x].dtype) || exponent > LARGEST_POWER || exponent < -LARGEST_POWER) return NONE;
    int32_t power = power_of(g, x, exponent < 0 ? 0 - (uint64_t)exponent : (uint64_t)exponent);
    return exponent < 0 ? one(g, LAM__LOOP_reciprocal, power) : power;
}

/* x factor y^exponent, in the order of loop_times_power. Other exponents are in the loop a power by squaring, and stay
 * one step. */
static int32_t fold_times_power(lam__graph *g, int32_t x, int32_t y, const void *params) {
    lam__power k = {1, 1};
    if (params) memcpy(&k, params, sizeof k);
    if (k.exponent < -2 || k.exponent > 3 || !k.exponent) return NONE;
    int32_t factor = lam__graph_number(g, (lam_dtype)g->nodes[y].dtype, k.factor);
    if (factor < 0) return -1;
    int32_t square = k.exponent == 1 || k.exponent == -1 ? y : one(g, LAM__LOOP_square, y);
    int32_t power = k.exponent == 3 ? two(g, LAM__LOOP_mul, y, square) : square;
    if (k.exponent < 0) return two(g, LAM__LOOP_div, two(g, LAM__LOOP_mul, x, factor), power);
    return two(g, LAM__LOOP_mul, x, two(g, LAM__LOOP_mul, factor, power));
}

/* A choice between the same is no choice; a constant one is made here. */
static int32_t fold_where(const lam__graph *g, const int32_t in[]) {
    const lam__node *c = &g->nodes[in[0]];
    if (in[1] == in[2]) return in[1];
    if (c->kind != LAM__NODE_CONSTANT) return NONE;
    uint8_t held;
    memcpy(&held, &c->as.bits, sizeof held);
    return held ? in[1] : in[2];
}

/* Of bools, where one operand is a constant: either it decides, or the other one does. */
static int32_t fold_logic(const lam__graph *g, const int32_t in[], bool decides) {
    for (int i = 0; i < 2; i++) {
        const lam__node *c = &g->nodes[in[i]];
        if (c->dtype != LAM_BOOL || c->kind != LAM__NODE_CONSTANT) continue;
        uint8_t held;
        memcpy(&held, &c->as.bits, sizeof held);
        return !held == !decides ? in[i] : in[1 - i];
    }
    return NONE;
}

/* Of floats; a choice of any dtype. */
static int32_t folded(lam__graph *g, lam__loop_id id, const int32_t in[], const void *params) {
    if (id == LAM__LOOP_where) return fold_where(g, in);
    if (id == LAM__LOOP_and || id == LAM__LOOP_or) return fold_logic(g, in, id == LAM__LOOP_or);
    if (!lam__dtype_is_float(g->nodes[in[0]].dtype)) return NONE;
    switch ((int)id) {
    case LAM__LOOP_add: return fold_sum(g, in[0], in[1]);
    case LAM__LOOP_sub: return fold_difference(g, in[0], in[1]);
    case LAM__LOOP_mul: return fold_product(g, in[0], in[1]);
    case LAM__LOOP_div: return is_number(g, in[1], 1) ? in[0] : NONE;
    case LAM__LOOP_neg: return negated(g, in[0]) >= 0 ? negated(g, in[0]) : NONE;
    case LAM__LOOP_fma: return fold_fma(g, in);
    case LAM__LOOP_integer_pow: return fold_integer_pow(g, in[0], params);
    case LAM__LOOP_times_power: return fold_times_power(g, in[0], in[1], params);
    default: return NONE;
    }
}

/* All operands are constants: the loop runs once. It is the kernel that a run would call, so a constant has the bits
 * which that would have given. */
static int32_t evaluated(lam__graph *g, lam__loop_id id, lam_dtype of, lam_dtype dtype, int inputs, const int32_t in[],
                         const void *params) {
    uint64_t bits[4] = {0};
    void *p[4] = {&bits[0], &bits[1], &bits[2], &bits[3]};
    const int64_t step[4] = {1, 1, 1, 1};
    for (int i = 0; i < inputs; i++) {
        if (g->nodes[in[i]].kind != LAM__NODE_CONSTANT) return NONE;
        bits[1 + i] = g->nodes[in[i]].as.bits;
    }
    lam__kernels_loop(id, of)(1, p, step, params);
    return lam__graph_constant(g, dtype, bits[0]);
}

/* Sums and products are the same whichever operand is first, so the node of the smaller number is: x + y and y + x are
 * one node then. The last operand tells the dtype: of a choice it is a branch, while the first one is the condition. */
int32_t lam__graph_loop(lam__graph *g, lam__loop_id id, bool predicate, int inputs, const int32_t in[],
                        const void *params, size_t params_bytes) {
    for (int i = 0; i < inputs; i++)
        if (in[i] < 0) return -1;
    const lam_dtype of = (lam_dtype)g->nodes[in[inputs - 1]].dtype, dtype = predicate ? LAM_BOOL : of;
    int32_t known = evaluated(g, id, of, dtype, inputs, in, params_bytes ? params : NULL);
    if (known == NONE) known = folded(g, id, in, params_bytes ? params : NULL);
    if (known == NONE && g->spelled) known = lam__graph_spelled(g, id, in, params_bytes ? params : NULL);
    if (known != NONE) return known;
    lam__node n = {.kind = LAM__NODE_LOOP,
                   .dtype = (uint8_t)dtype,
                   .of = (uint8_t)of,
                   .loop = (int16_t)id,
                   .in = {in[0], inputs > 1 ? in[1] : -1, inputs > 2 ? in[2] : -1},
                   .as.params = params,
                   .params_bytes = (uint32_t)params_bytes};
    if ((id == LAM__LOOP_add || id == LAM__LOOP_mul) && n.in[0] > n.in[1]) {
        n.in[0] = in[1];
        n.in[1] = in[0];
    }
    return lam__graph_node(g, &n);
}
