/* Convolutions shared among threads. */
#ifndef LAM_PARALLEL_CONV_H
#define LAM_PARALLEL_CONV_H

#include "lib/kernels/conv/conv.h"
#include "lib/parallel/parallel.h"

/* The convolution of s into out, which has no gaps, with the contract of the other functions in parallel.h. False: no
 * scratch, of which a few blocks are asked for. */
bool lam__parallel_conv(lam__team *team, lam_dtype dtype, const lam__conv_case *s, const void *x, const void *w,
                        void *out, lam__scratch *scratch, void *env);

/* The same where places have no element of x in common, NOTE [convolutions apart]; no size of the result or the sum is
 * 0. False: it is not done this way; else *done says whether there was scratch, of which it takes a few blocks. */
bool lam__parallel_conv_apart(lam__team *team, lam_dtype dtype, const lam__conv_case *s, const void *x, const void *w,
                              void *out, lam__scratch *scratch, void *env, bool *done);

/* Whether windows have one element and examples so few places that one product of all examples, for which x and the
 * result are exchanged, takes less time than one of each, for which CBLAS packs the weights each time. */
bool lam__parallel_conv_exchanges(const lam__conv_case *s);

/* The step of axes [first, end) taken as one, which has `count` elements; 0: they do not join. */
int64_t lam__parallel_conv_join(const int64_t dims[], const int64_t step[], int first, int end, int64_t *count);

/* The same by plans of lib/kernels/conv, phase by phase; `results` elements, each the sum of so many products. */
bool lam__parallel_conv_phases(lam__team *team, lam_dtype dtype, const lam__conv_case *s, double results,
                               double products, const void *x, const void *w, void *out, lam__scratch *scratch,
                               void *env);

#endif
