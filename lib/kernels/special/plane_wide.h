/* Complex numbers of the wide type, in which functions of them are computed. */
#ifndef LAM_KERNELS_SPECIAL_PLANE_WIDE_H
#define LAM_KERNELS_SPECIAL_PLANE_WIDE_H

#include "lib/kernels/special/special.h"

typedef lam__wide wide;
typedef long double _Complex cwide;

/* CMPLXL of C11, which glibc gives to gcc only. */
static inline cwide pair(wide re, wide im) {
    cwide z;
    __real__ z = re;
    __imag__ z = im;
    return z;
}

#endif
