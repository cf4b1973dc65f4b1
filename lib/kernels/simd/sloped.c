/* Loops that give a function and its derivative in one pass, for one instruction set: where both are made of the same
 * exponential or logarithm. Both have the bits of their own loops, for the texts are the same. Nothing has gaps;
 * element i does not depend on its place. What a tape would do in two passes over memory, and twice that function, is
 * one. */
#define _DEFAULT_SOURCE 1 /* lgamma_r */
#include "lib/kernels/simd/simd.h"

#include <math.h>
#include <string.h>

#include "lib/kernels/simd/activation.h"
#include "lib/kernels/simd/entropy.h"
#include "lib/kernels/simd/hyperbolic.h"
#include "lib/kernels/simd/trig.h"

#define T       double
#define V       V64
#define LANES   LANES64
#define NAME(x) f64_##x
#include "lib/kernels/simd/map_vector.h"
#include "lib/kernels/simd/sloped_type.h"

/* One line each: those whose value and slope one text gives. BOTH is the loop around it (sloped_type.h). */
/* clang-format off */
#define OF_ONE_FUNCTION(f) \
    ALWAYS_INLINE f64_both f64_##f##_and_slope(V64 x) { \
        const sloped64 s = f64_sloped_##f(x); \
        return (f64_both){s.value, s.slope}; \
    } \
    BOTH(f)
OF_ONE_FUNCTION(logistic)
OF_ONE_FUNCTION(silu)
OF_ONE_FUNCTION(mish)
OF_ONE_FUNCTION(gelu)
OF_ONE_FUNCTION(gelu_tanh)
OF_ONE_FUNCTION(entr)
/* clang-format on */
#undef T
#undef V
#undef LANES
#undef NAME

/* Floats have sines, cosines and softplus alone. */
#define T       float
#define V       V32
#define LANES   LANES32
#define NAME(x) f32_##x
#undef BOTH
#include "lib/kernels/simd/map_vector.h"
#include "lib/kernels/simd/sloped_type.h"

/* NULL where both together are no less work. */
lam__pair_loop *LAM__ISA_NAME(lam__sloped_find_)(lam__loop_id id, lam_dtype dtype) {
    const bool wide = dtype == LAM_F64;
    switch (id) {
    case LAM__LOOP_sin: return wide ? f64_sin_both : f32_sin_both;
    case LAM__LOOP_cos: return wide ? f64_cos_both : f32_cos_both;
    case LAM__LOOP_softplus: return wide ? f64_softplus_both : f32_softplus_both;
    case LAM__LOOP_logistic: return wide ? f64_logistic_both : NULL;
    case LAM__LOOP_silu: return wide ? f64_silu_both : NULL;
    case LAM__LOOP_mish: return wide ? f64_mish_both : NULL;
    case LAM__LOOP_gelu: return wide ? f64_gelu_both : NULL;
    case LAM__LOOP_gelu_tanh: return wide ? f64_gelu_tanh_both : NULL;
    case LAM__LOOP_entr: return wide ? f64_entr_both : NULL;
    default: return NULL;
    }
}
