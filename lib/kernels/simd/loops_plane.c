/* One instruction set's loops of elementary functions of complex numbers, made of the vector functions of plane.h.
 * Compiled once per set, apart from the other loops because it takes as long. */
#define _DEFAULT_SOURCE 1 /* lgamma_r */
#include "lib/kernels/simd/simd.h"

#include <math.h>
#include <string.h>

#include "lib/kernels/simd/lists.h"
#include "lib/kernels/simd/plane.h"

#define LOOP_ARGS int64_t n, void *const p[], const int64_t step[], __attribute__((unused)) const void *params

/* ---- between numbers side by side and vectors of their parts ---------------------------------------------------- */

/* Where lane i of a vector of pairs comes from in those of real and of imaginary parts: half h of both. */
#define ZIPPED(i, h) ((i) / 2 + (h) * (LANES64 / 2) + (i) % 2 * LANES64)

/* NEIGHBOUR: the lanes of even number, and those of odd number. */
ALWAYS_INLINE plane64 parts_of_pairs(V64 a, V64 b) {
    return (plane64){__builtin_shufflevector(a, b, LIST64(NEIGHBOUR, 0)),
                     __builtin_shufflevector(a, b, LIST64(NEIGHBOUR, 1))};
}

/* LANES64 numbers. */
ALWAYS_INLINE plane64 f64_parts(const double *x) {
    V64 a, b;
    memcpy(&a, x, sizeof a);
    memcpy(&b, x + LANES64, sizeof b);
    return parts_of_pairs(a, b);
}

/* The way back: lane i of both parts side by side. */
ALWAYS_INLINE void f64_put(double *out, plane64 z) {
    const V64 a = __builtin_shufflevector(z.re, z.im, LIST64(ZIPPED, 0)),
              b = __builtin_shufflevector(z.re, z.im, LIST64(ZIPPED, 1));
    memcpy(out, &a, sizeof a);
    memcpy(out + LANES64, &b, sizeof b);
}

/* Floats are doubles in between, so that they neither leave the range on the way nor are rounded twice. */
ALWAYS_INLINE plane64 f32_parts(const float *x) {
    halves h;
    memcpy(&h, x, sizeof h);
    return parts_of_pairs(__builtin_convertvector(h.half[0], V64), __builtin_convertvector(h.half[1], V64));
}

/* By doubles again, narrowed one by one. */
ALWAYS_INLINE void f32_put(float *out, plane64 z) {
    double wide[2 * LANES64];
    f64_put(wide, z);
    for (int i = 0; i < 2 * LANES64; i++) out[i] = (float)wide[i];
}

/* ---- loops ------------------------------------------------------------------------------------------------------ */

#define T       double
#define NAME(x) f64_##x
#include "lib/kernels/simd/map_plane.h"
#undef T
#undef NAME

#define T       float
#define NAME(x) f32_##x
#include "lib/kernels/simd/map_plane.h"
#undef T
#undef NAME

/* The order does not matter: ids are indices. */
#define ROW(name) [LAM__LOOP_##name] = {f64_loop_##name, f32_loop_##name}

static lam__loop *const loops[LAM__LOOP_COUNT][2] = {
    ROW(sqrt),  ROW(rsqrt), ROW(exp),   ROW(exp2),     ROW(expm1), ROW(log),        ROW(log2),           ROW(log10),
    ROW(sin),   ROW(cos),   ROW(tan),   ROW(log1p),    ROW(asin),  ROW(acos),       ROW(atan),           ROW(sinh),
    ROW(cosh),  ROW(tanh),  ROW(asinh), ROW(logistic), ROW(acosh), ROW(tanh_slope), ROW(logistic_slope), ROW(atanh),
    ROW(logit), ROW(pow),
};

/* NULL for what is no elementary function: loops_complex.c looks in its own table. */
lam__loop *LAM__ISA_NAME(lam__plane_find_)(lam__loop_id id, lam_dtype dtype) {
    return loops[id][dtype == LAM_C64];
}
