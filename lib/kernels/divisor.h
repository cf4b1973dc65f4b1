/* What strides and gaps have in common: after so many places the elements that a window meets are the same again. */
#ifndef LAM_KERNELS_DIVISOR_H
#define LAM_KERNELS_DIVISOR_H

#include <stdint.h>

/* The greatest common divisor, by Euclid; of numbers from 1 on. */
static inline int64_t lam__divisor_common(int64_t a, int64_t b) {
    while (b) {
        const int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

#endif
