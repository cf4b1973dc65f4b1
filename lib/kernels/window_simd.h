/* The loops that window_simd.c gives, one set for each instruction set it is compiled for. */
#ifndef LAM_WINDOW_SIMD_H
#define LAM_WINDOW_SIMD_H

#include "lib/kernels/simd/simd.h"

/* One window axis of [outer, n, inner], which gives [outer, a->out, inner]. */
typedef void lam__window_loop(const lam__lanes *s, const lam__window_axis *a, const void *x, void *out);

/* The positions of the best elements of the windows over x [outer, dims...]. */
typedef void lam__window_search(int64_t outer, const lam__windows *w, const void *x, int64_t *out);

/* By reduction and dtype, and by dtype; NULL where there is none. */
typedef struct lam__window_set {
    lam__window_loop *loop[LAM__REDUCE_COUNT][LAM_DTYPE_COUNT];
    lam__window_search *least[LAM_DTYPE_COUNT], *greatest[LAM_DTYPE_COUNT];
} lam__window_set;

extern const lam__window_set lam__window_simd_v1;
#if defined(LAM__HAVE_X86_64_LEVELS)
extern const lam__window_set lam__window_simd_v3, lam__window_simd_v4;
#endif

#endif
