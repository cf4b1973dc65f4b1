/* Hypergeometric series in sums of two long doubles, for what cancels (hyper_series.c): what is left of their digits is
 * said in those of one long double, so it is 2^64 times as much, at most 1. */
#ifndef LAM_KERNELS_SPECIAL_HYPER_TWICE_H
#define LAM_KERNELS_SPECIAL_HYPER_TWICE_H

#include "lib/kernels/special/hyper_jet.h"

/* 1F1(a; c; x) with its derivatives by a and c, by the better of the series and Kummer's; numbers within double. */
lam__hyper_sum LAM__HYPER(lam__hyper_twice_1f1_)(const lam__hyper_jet *a, const lam__hyper_jet *c, double x);

/* 2F1(a, b; c; x) likewise for x < 1, or where the series ends, by the best of it, Euler's and Pfaff's. */
lam__hyper_sum LAM__HYPER(lam__hyper_twice_2f1_)(const lam__hyper_jet *a, const lam__hyper_jet *b,
                                                 const lam__hyper_jet *c, double x);

#endif
