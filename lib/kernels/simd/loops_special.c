/* One instruction set's loops of special functions and of families with parameters (polygamma, zeta, beta, the
 * incomplete functions, integrals, derivatives of pow) of which some members have vector forms (simd/zeta.h,
 * simd/dawson.h, simd/incomplete.h, simd/incomplete_inverse.h, simd/integrals.h, simd/gap.h, simd/logs.h,
 * simd/slopes.h); the others are done one by one. Compiled once per set, apart from loops.c because it takes as long. A
 * vector in which all lanes are rare costs what its elements cost one by one. */
#define _DEFAULT_SOURCE 1 /* lgamma_r */
#include "lib/kernels/simd/simd.h"

#include <math.h>
#include <string.h>

#include "lib/kernels/reference/reference.h"
/* The vector functions; each of these is static and becomes part of its loops. */
#include "lib/kernels/simd/box.h"
#include "lib/kernels/simd/dawson.h"
#include "lib/kernels/simd/incomplete.h"
#include "lib/kernels/simd/incomplete_inverse.h"
#include "lib/kernels/simd/gap.h"
#include "lib/kernels/simd/integrals.h"
#include "lib/kernels/simd/logs.h"
#include "lib/kernels/simd/slopes.h"
#include "lib/kernels/simd/zeta.h"

#define LOOP_ARGS int64_t n, void *const p[], const int64_t step[], __attribute__((unused)) const void *params

/* Which member of a family is meant; none given is the first. Parameters are an int64_t at the start of what loops are
 * given. */
static int64_t member_of(const void *params) {
    int64_t k = 0;
    if (params) memcpy(&k, params, sizeof k);
    return k;
}

/* The vectors of a polygamma loop, whose order goes along as a vector. All lanes hold the same order, so the first says
 * it. */
ALWAYS_INLINE V64 f64_polygamma(V64 x, V64 order) {
    return polygamma_of(x, (int64_t)order[0]);
}

ALWAYS_INLINE V32 f32_polygamma(V32 x, V32 order) {
    return f32_through2(x, order, f64_polygamma);
}

/* Floats go through the same families; their members are made of those of doubles. LANES and V are those of the
 * type, DTYPE is what the plain loops of rare members are told. */
#define T       double
#define DTYPE   LAM_F64
#define V       V64
#define LANES   LANES64
#define NAME(x) f64_##x
#include "lib/kernels/simd/map_vector.h"
#include "lib/kernels/simd/loops_special.h"
#undef T
#undef DTYPE
#undef V
#undef LANES
#undef NAME

#define T       float
#define DTYPE   LAM_F32
#define V       V32
#define LANES   LANES32
#define NAME(x) f32_##x
#include "lib/kernels/simd/map_vector.h"
#include "lib/kernels/simd/loops_special.h"
#undef T
#undef DTYPE
#undef V
#undef LANES
#undef NAME

/* NULL for operations of other kinds: loops.c looks for them in its own table. KEEP IN STEP: loop-kinds */
lam__loop *LAM__ISA_NAME(lam__special_find_)(lam__loop_id id, lam_dtype dtype) {
    switch (id) {
    case LAM__LOOP_polygamma: return dtype == LAM_F64 ? f64_loop_polygamma : f32_loop_polygamma;
    case LAM__LOOP_zeta: return dtype == LAM_F64 ? f64_loop_zeta : f32_loop_zeta;
    case LAM__LOOP_polygamma_gap: return dtype == LAM_F64 ? f64_loop_polygamma_gap : f32_loop_polygamma_gap;
    case LAM__LOOP_betaln: return dtype == LAM_F64 ? f64_loop_betaln : f32_loop_betaln;
    case LAM__LOOP_igamma: return dtype == LAM_F64 ? f64_loop_igamma : f32_loop_igamma;
    case LAM__LOOP_igammac: return dtype == LAM_F64 ? f64_loop_igammac : f32_loop_igammac;
    case LAM__LOOP_betainc: return dtype == LAM_F64 ? f64_loop_betainc : f32_loop_betainc;
    case LAM__LOOP_betaincc: return dtype == LAM_F64 ? f64_loop_betaincc : f32_loop_betaincc;
    case LAM__LOOP_igamma_inv: return dtype == LAM_F64 ? f64_loop_igamma_inv : f32_loop_igamma_inv;
    case LAM__LOOP_betainc_inv: return dtype == LAM_F64 ? f64_loop_betainc_inv : f32_loop_betainc_inv;
    case LAM__LOOP_integrals: return dtype == LAM_F64 ? f64_loop_integrals : f32_loop_integrals;
    case LAM__LOOP_xlogy: return dtype == LAM_F64 ? f64_loop_xlogy : f32_loop_xlogy;
    case LAM__LOOP_xlog1py: return dtype == LAM_F64 ? f64_loop_xlog1py : f32_loop_xlog1py;
    case LAM__LOOP_rel_entr: return dtype == LAM_F64 ? f64_loop_rel_entr : f32_loop_rel_entr;
    case LAM__LOOP_log_ratio: return dtype == LAM_F64 ? f64_loop_log_ratio : f32_loop_log_ratio;
    case LAM__LOOP_rel_entr_slope: return dtype == LAM_F64 ? f64_loop_rel_entr_slope : f32_loop_rel_entr_slope;
    case LAM__LOOP_pow_slope: return dtype == LAM_F64 ? f64_loop_pow_slope : f32_loop_pow_slope;
    case LAM__LOOP_box_cox: return dtype == LAM_F64 ? f64_loop_box_cox : f32_loop_box_cox;
    case LAM__LOOP_atan2_slope: return dtype == LAM_F64 ? f64_loop_atan2_slope : f32_loop_atan2_slope;
    case LAM__LOOP_hypot_slope: return dtype == LAM_F64 ? f64_loop_hypot_slope : f32_loop_hypot_slope;
    default: return NULL;
    }
}
