/* Truth for the elementary functions: MPFR at 192 bits, from which errors are measured in units in the last place
 * of the result's own type, subnormals and the overflow threshold included. Also the samples the functions are
 * tried on: whole-range bit patterns, ranges around the interesting places, and a list of special values. */
#ifndef TESTS_KERNELS_ORACLE_H
#define TESTS_KERNELS_ORACLE_H

#include <mpfr.h>

#include "lib/kernels/kernels.h"

/* MPFR's value of the operation, or false if the operation is not one that MPFR judges. */
bool oracle_value(lam__loop_id id, mpfr_t value, double x, double y);

/* The same at any precision of the operands, in the precision of `value`. */
bool oracle_at(lam__loop_id id, mpfr_t value, const mpfr_t x, const mpfr_t y);

/* The same for any loop and its parameter, where members of families are judged too (oracle_special.c). */
bool oracle_member(lam__loop_id id, int64_t member, mpfr_t value, mpfr_t x[]);

/* The members of the loops `integrals`, `gamma_quotient` and `box_cox` (oracle_integrals.c). */
bool oracle_integral(int64_t member, mpfr_t value, const mpfr_t x);
bool oracle_quotient(int64_t member, mpfr_t value, const mpfr_t x, const mpfr_t y);
void oracle_box(int64_t member, mpfr_t value, const mpfr_t x, const mpfr_t y);

/* What the incomplete functions are undone by (oracle_inverse.c). */
bool oracle_inverse(lam__loop_id id, int64_t member, mpfr_t value, mpfr_t x[]);

/* |got - value| in ulps of f64 or f32; 0 if both are NaN or both the same infinity, infinite where they disagree
 * about that or about the sign of zero. */
double oracle_error(lam_dtype dtype, double got, const mpfr_t value);

/* Ways to draw an operand. */
typedef enum oracle_range {
    ORACLE_BITS,    /* any bit pattern: every exponent, both signs, infinities and NaN */
    ORACLE_UNIT,    /* (-1, 1), uniform */
    ORACLE_NEAR,    /* (-20, 20), uniform */
    ORACLE_WIDE,    /* up to where exp overflows and beyond, uniform */
    ORACLE_MIDDLE,  /* 1e-10 to 1e10, logarithmic, both signs */
    ORACLE_ONE,     /* within 2^-8 to 2^-50 of 1 or -1 */
    ORACLE_SPECIAL, /* from the list of special values, and their neighbours; the last */
    ORACLE_RANGES
} oracle_range;

/* One operand, exact in dtype; `state` is the generator's, any start. */
double oracle_draw(oracle_range range, lam_dtype dtype, uint64_t *state);

/* The special values and their neighbours one by one, 0 <= i < oracle_specials(). */
int oracle_specials(void);
double oracle_special(lam_dtype dtype, int i);

/* The normal distribution and the inverse of erf (oracle_normal.c). */
int oracle_ndtr(mpfr_t out, const mpfr_t x, mpfr_rnd_t rounding);
int oracle_log_ndtr(mpfr_t out, const mpfr_t x, mpfr_rnd_t rounding);
int oracle_erf_inv(mpfr_t out, const mpfr_t x, mpfr_rnd_t rounding);
int oracle_ndtri(mpfr_t out, const mpfr_t p, mpfr_rnd_t rounding);
int oracle_ndtri_slope(mpfr_t out, const mpfr_t p, mpfr_rnd_t rounding);

/* The logistic function, silu, mish, both forms of gelu, their derivatives and those of tanh and logaddexp, exp of a
 * difference and log_cosh, in the digits of `out`. */
int oracle_logistic(mpfr_t out, const mpfr_t x, mpfr_rnd_t rounding);
int oracle_logistic_slope(mpfr_t out, const mpfr_t x, mpfr_rnd_t rounding);
int oracle_silu(mpfr_t out, const mpfr_t x, mpfr_rnd_t rounding);
int oracle_silu_slope(mpfr_t out, const mpfr_t x, mpfr_rnd_t rounding);
int oracle_mish(mpfr_t out, const mpfr_t x, mpfr_rnd_t rounding);
int oracle_mish_slope(mpfr_t out, const mpfr_t x, mpfr_rnd_t rounding);
int oracle_gelu(mpfr_t out, const mpfr_t x, mpfr_rnd_t rounding);
int oracle_gelu_slope(mpfr_t out, const mpfr_t x, mpfr_rnd_t rounding);
int oracle_gelu_tanh(mpfr_t out, const mpfr_t x, mpfr_rnd_t rounding);
int oracle_gelu_tanh_slope(mpfr_t out, const mpfr_t x, mpfr_rnd_t rounding);
int oracle_logaddexp_slope(mpfr_t out, const mpfr_t x, const mpfr_t y, mpfr_rnd_t rounding);
int oracle_logaddexp2_slope(mpfr_t out, const mpfr_t x, const mpfr_t y, mpfr_rnd_t rounding);
int oracle_exp_gap(mpfr_t out, const mpfr_t x, const mpfr_t y, mpfr_rnd_t rounding);
int oracle_log_cosh(mpfr_t out, const mpfr_t x, const mpfr_t y, mpfr_rnd_t rounding);
int oracle_tanh_slope(mpfr_t out, const mpfr_t x, mpfr_rnd_t rounding);

#endif
