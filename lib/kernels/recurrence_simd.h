/* The loops that recurrence_simd.c gives, one pair for each instruction set it is compiled for. */
#ifndef LAM_RECURRENCE_SIMD_H
#define LAM_RECURRENCE_SIMD_H

#include "lib/kernels/simd/simd.h"

/* As lam__kernels_recurrence; n > 0. out overlaps neither a nor b: some lanes are read again after they have been
 * written. */
typedef struct lam__recurrence_set {
    void (*f64)(const lam__lanes *s, bool reverse, const double *a, const double *b, double *out);
    void (*f32)(const lam__lanes *s, bool reverse, const float *a, const float *b, float *out);
} lam__recurrence_set;

extern const lam__recurrence_set lam__recurrence_simd_v1;
#if defined(LAM__HAVE_X86_64_LEVELS)
extern const lam__recurrence_set lam__recurrence_simd_v3, lam__recurrence_simd_v4;
#endif

#endif
