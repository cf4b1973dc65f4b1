/* Elementary functions of complex numbers, one at a time; of c64 they are rounded once. Like the rest of this room, see
 * special.h; special values are those of C's Annex G. */
#ifndef LAM_KERNELS_SPECIAL_COMPLEX_H
#define LAM_KERNELS_SPECIAL_COMPLEX_H

#include <stdint.h>

#include <lamina/base.h>

/* A product that is rounded by itself. GCC 12 fuses products with sums and differences that take turns, in loops that
 * it makes vectors of, also where -ffp-contract=off forbids it (bug 107647): the numbers of such a vector then have
 * other bits than those that are left over, so that results depend on how threads share the work. */
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12
#define LAM__ROUNDED(product) __builtin_assoc_barrier(product)
#else
#define LAM__ROUNDED(product) (product)
#endif

/* The textbook formula, for operands whose squares are in range. Inline, since the loops of complex numbers make
 * vectors of it, which have the same bits. */
static inline lam_c128 lam__complex_quotient(lam_c128 x, lam_c128 y) {
    const double size = y.re * y.re + y.im * y.im;
    const double re = LAM__ROUNDED(x.re * y.re) + LAM__ROUNDED(x.im * y.im);
    const double im = LAM__ROUNDED(x.im * y.re) - LAM__ROUNDED(x.re * y.im);
    return (lam_c128){re / size, im / size};
}

/* x / y, 1 / x and x y / z, where only the result may leave the range. */
lam_c128 lam__complex_div(lam_c128 x, lam_c128 y);
lam_c128 lam__complex_reciprocal(lam_c128 x);
lam_c128 lam__complex_mul_div(lam_c128 x, lam_c128 y, lam_c128 z);

/* 0 to the power of 0 is 1. */
lam_c128 lam__complex_pow(lam_c128 x, lam_c128 y);
lam_c128 lam__complex_integer_pow(lam_c128 x, int64_t exponent);

lam_c128 lam__complex_sqrt(lam_c128 x);
lam_c128 lam__complex_rsqrt(lam_c128 x);
lam_c128 lam__complex_exp(lam_c128 x);
lam_c128 lam__complex_exp2(lam_c128 x);
lam_c128 lam__complex_expm1(lam_c128 x);
lam_c128 lam__complex_log(lam_c128 x);
lam_c128 lam__complex_log2(lam_c128 x);
lam_c128 lam__complex_log10(lam_c128 x);
lam_c128 lam__complex_log1p(lam_c128 x);
lam_c128 lam__complex_sin(lam_c128 x);
lam_c128 lam__complex_cos(lam_c128 x);
lam_c128 lam__complex_tan(lam_c128 x);
lam_c128 lam__complex_asin(lam_c128 x);
lam_c128 lam__complex_acos(lam_c128 x);
lam_c128 lam__complex_atan(lam_c128 x);
lam_c128 lam__complex_sinh(lam_c128 x);
lam_c128 lam__complex_cosh(lam_c128 x);
lam_c128 lam__complex_tanh(lam_c128 x);
lam_c128 lam__complex_asinh(lam_c128 x);
lam_c128 lam__complex_acosh(lam_c128 x);
lam_c128 lam__complex_atanh(lam_c128 x);
lam_c128 lam__complex_logistic(lam_c128 x);
lam_c128 lam__complex_tanh_slope(lam_c128 x);
lam_c128 lam__complex_logistic_slope(lam_c128 x);

#endif
