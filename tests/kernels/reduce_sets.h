/* The loops of reductions in every instruction set, for the tests that go through all of them. */
#ifndef LAM_TESTS_REDUCE_SETS_H
#define LAM_TESTS_REDUCE_SETS_H

#include "lib/kernels/reduce_simd.h"

enum { REDUCE_SETS = 3 };

/* The loops of every set that this machine has; the first are those that need nothing. */
static inline int reduce_sets_of(lam_dtype dtype, const lam__reduce_type *loops[REDUCE_SETS]) {
    int count = 0;
    loops[count++] = lam__reduce_simd_v1[dtype];
#if defined(LAM__HAVE_X86_64_LEVELS)
    if (__builtin_cpu_supports("avx2")) loops[count++] = lam__reduce_simd_v3[dtype];
    if (lam__elementwise_simd() == &lam__simd_v4) loops[count++] = lam__reduce_simd_v4[dtype];
#endif
    return count;
}

#endif
