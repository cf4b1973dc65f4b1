/* What steps of fused parts take, in nanoseconds of a lane: rough numbers, measured once, by which drafts are compared
 * with each other and with calls. See fused.h. */
#include "lib/program/fused.h"

double lam__fused_loop_cost(lam__loop_id id) {
    enum { REAL, FLOAT, INTEGER, COMPARE, LOGIC, TEST, SELECT, COMPLEX, ELEMENTARY, FAMILY, SPECIAL };
    /* elementwise.def says what each kind is. */
    static const uint8_t kinds[] = {
#define LAM__LOOP(name, inputs, kind) [LAM__LOOP_##name] = kind,
#include "lib/kernels/elementwise.def"
#undef LAM__LOOP
    };
    switch (id) { /* special in which file they are, but made of vectors as the elementary ones */
    case LAM__LOOP_zeta:
    case LAM__LOOP_xlogy:
    case LAM__LOOP_xlog1py:
    case LAM__LOOP_rel_entr:
    case LAM__LOOP_rel_entr_slope:
    case LAM__LOOP_log_ratio:
    case LAM__LOOP_pow_slope:
    case LAM__LOOP_hypot_slope:
    case LAM__LOOP_atan2_slope: return 3;
    default: break;
    }
    /* Of a family the first members are as fast as elementary functions and the others go one by one; 5 lies between.
     * The kinds that are not asked for are an instruction or a few. */
    const int kind = kinds[id];
    return kind == SPECIAL ? 30 : kind == FAMILY ? 5 : kind == ELEMENTARY ? 1.2 : 0.06;
}

/* Only quotients and roots take longer than the reading and writing of registers, which is counted elsewhere; rsqrt is
 * one of each, and mul_div looks at its product's range as well. */
double lam__fused_lane_cost(lam__loop_id id, lam__lane_op op) {
    if (op == LAM__LANE_LOOP) return lam__fused_loop_cost(id);
    return id == LAM__LOOP_rsqrt || id == LAM__LOOP_mul_div                            ? 1.6
           : id == LAM__LOOP_div || id == LAM__LOOP_sqrt || id == LAM__LOOP_reciprocal ? 0.6
                                                                                       : 0;
}
