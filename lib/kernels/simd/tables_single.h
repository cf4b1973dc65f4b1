/* Tables of f32's functions in pieces (simd/single.h), as tables.h has those of f64: coefficients at 60 digits rounded
 * to floats, a row for each power, highest first; the last row holds the values in the middles, the one before what
 * these lack. Aligned to the widest vectors. */
#ifndef LAM_KERNELS_SIMD_TABLES_SINGLE_H
#define LAM_KERNELS_SIMD_TABLES_SINGLE_H

#include "lib/kernels/simd/tables.h"

enum { LAM__SINGLE_ERF_INV_ROWS = 11 };

/* tanh(x) for x from 0 to 9.375, in pieces whose widths double, from 0.625/4 on; in the first two tanh(x)/x - 1;
 * the rest below 2^-29 of the result. */
extern const float lam__single_tanh[8][LAM__PIECES];

/* erf(x) in 3.75 |x|, in the first three pieces erf(x)/x - 1; the rest below 2^-27 */
extern const float lam__single_erf[7][LAM__PIECES];

/* erfcx(x) for x from 0 to 10.3, in pieces whose widths double, from 0.6875/4 on; the rest below 2^-27 of it */
extern const float lam__single_erfcx[8][LAM__PIECES];

/* exp(x^2/2) ndtr(-x) for x from 0 to 14.5 likewise, from 0.96875/4 on */
extern const float lam__single_ndtr[8][LAM__PIECES];

/* erf_inv(x)/x for x from 0 to 3/4 in the first six pieces; from the eighth on erf_inv(1 - q) in q 2^k - 1.5, by the
 * exponent of q; the rest below 2^-27 of it */
extern const float lam__single_erf_inv[LAM__SINGLE_ERF_INV_ROWS][2 * LAM__PIECES];

/* 2^(k/16): what the last row lacks, and the values. */
extern const float lam__single_exp[2][LAM__PIECES];

/* 1/c as in lam__table_log, and minus the logarithm of that in two parts, of which the first is a multiple of 2^-16; in
 * units of 1, log(2) and log(10). */
extern const float lam__single_log[3][LAM__PIECES], lam__single_log2[3][LAM__PIECES], lam__single_log10[3][LAM__PIECES];

/* Tangents next to k/15, of ten bits behind the point, and their arcs as two numbers. */
extern const float lam__single_atan[3][LAM__PIECES];

/* As lam__table_cbrt. */
extern const float lam__single_cbrt[3][LAM__PIECES];

#endif
