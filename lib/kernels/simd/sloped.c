/* Loops that give a function and its derivative in one pass, for one instruction set: where both are made of the same
 * exponential. Both have the bits of their own loops, for the texts are the same. Nothing has gaps; element i does not
 * depend on its place. */
#define _DEFAULT_SOURCE 1 /* lgamma_r */
#include "lib/kernels/simd/simd.h"

#if defined(LAM__HAVE_SLEEF)
#include <math.h>
#include <string.h>

#include "lib/kernels/simd/pow.h"

#define T       double
#define V       V64
#define LANES   LANES64
#define NAME(x) f64_##x
#include "lib/kernels/simd/map_vector.h"

ALWAYS_INLINE void f64_both(int64_t n, const double *x, double *out, double *slope, sloped64 f(V64)) {
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        __builtin_prefetch(x + i + f64_AHEAD);
        const sloped64 s = f(f64_load(x + i));
        memcpy(out + i, &s.value, sizeof s.value);
        memcpy(slope + i, &s.slope, sizeof s.slope);
    }
    if (i == n) return;
    const sloped64 s = f(f64_load_part(x + i, n - i));
    f64_store_part(out + i, s.value, n - i);
    f64_store_part(slope + i, s.slope, n - i);
}

static void f64_logistic_both(int64_t n, const void *x, void *out, void *slope) {
    f64_both(n, x, out, slope, f64_sloped_logistic);
}

lam__pair_loop *LAM__ISA_NAME(lam__sloped_find_)(lam__loop_id id, lam_dtype dtype) {
    return id == LAM__LOOP_logistic && dtype == LAM_F64 ? f64_logistic_both : NULL;
}
#else
lam__pair_loop *LAM__ISA_NAME(lam__sloped_find_)(lam__loop_id id, lam_dtype dtype) {
    (void)id, (void)dtype;
    return NULL;
}
#endif
