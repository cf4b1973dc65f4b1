/* Convolutions shared among threads. */
#ifndef LAM_PARALLEL_CONV_H
#define LAM_PARALLEL_CONV_H

#include "lib/kernels/conv/conv.h"
#include "lib/parallel/parallel.h"

/* The convolution of s into out, which has no gaps, with the contract of the other functions in parallel.h. False: no
 * scratch, of which one block is asked for. */
bool lam__parallel_conv(lam__team *team, lam_dtype dtype, const lam__conv_case *s, const void *x, const void *w,
                        void *out, lam__scratch *scratch, void *env);

/* The same by plans of lib/kernels/conv, phase by phase; `results` elements, each the sum of so many products. */
bool lam__parallel_conv_phases(lam__team *team, lam_dtype dtype, const lam__conv_case *s, double results,
                               double products, const void *x, const void *w, void *out, lam__scratch *scratch,
                               void *env);

#endif
