/* The tables that reduce_simd.c gives, one for each instruction set it is compiled for. By dtype. lam__reduce_loops
 * chooses among them. */
#ifndef LAM_REDUCE_SIMD_H
#define LAM_REDUCE_SIMD_H

#include "lib/kernels/reduce_loops.h"
#include "lib/kernels/simd/simd.h"

extern const lam__reduce_type *const lam__reduce_simd_v1[LAM_DTYPE_COUNT];
#if defined(LAM__HAVE_X86_64_LEVELS)
extern const lam__reduce_type *const lam__reduce_simd_v3[LAM_DTYPE_COUNT], *const lam__reduce_simd_v4[LAM_DTYPE_COUNT];
#endif

#endif
