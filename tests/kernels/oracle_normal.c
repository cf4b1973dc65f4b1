/* See oracle.h: the normal distribution and the inverse of erf. */
#include "tests/kernels/oracle.h"

#include <math.h>
#include <stdbool.h>

int oracle_ndtr(mpfr_t out, const mpfr_t x, mpfr_rnd_t rounding) {
    mpfr_sqrt_ui(out, 2, rounding);
    mpfr_div(out, x, out, rounding);
    mpfr_neg(out, out, rounding);
    mpfr_erfc(out, out, rounding);
    return mpfr_div_2ui(out, out, 1, rounding);
}

/* ndtr is exp(-x^2/2)/(-x sqrt(2 pi)) (1 - 1/x^2) here but for 3/x^4 of it. */
static int log_ndtr_far_left(mpfr_t out, const mpfr_t x, mpfr_rnd_t rounding) {
    mpfr_t square, log;
    mpfr_inits2(256, square, log, (mpfr_ptr)NULL);
    mpfr_sqr(square, x, rounding);
    mpfr_const_pi(log, rounding);
    mpfr_mul_2ui(log, log, 1, rounding);
    mpfr_mul(log, log, square, rounding);
    mpfr_log(log, log, rounding);
    mpfr_add(log, log, square, rounding);
    mpfr_ui_div(square, 2, square, rounding);
    mpfr_add(out, log, square, rounding);
    mpfr_div_si(out, out, -2, rounding);
    mpfr_clears(square, log, (mpfr_ptr)NULL);
    return 0;
}

int oracle_log_ndtr(mpfr_t out, const mpfr_t x, mpfr_rnd_t rounding) {
    if (mpfr_cmp_d(x, -1e4) < 0) return log_ndtr_far_left(out, x, rounding);
    mpfr_t z, tail;
    mpfr_inits2(256, z, tail, (mpfr_ptr)NULL);
    mpfr_abs(z, x, rounding);
    mpfr_neg(z, z, rounding);
    oracle_ndtr(tail, z, rounding);
    mpfr_neg(z, tail, rounding);
    if (mpfr_sgn(x) > 0) mpfr_log1p(out, z, rounding);
    else mpfr_log(out, tail, rounding);
    mpfr_clears(z, tail, (mpfr_ptr)NULL);
    return 0;
}

/* out = y with erf(y) = x, for |x| <= 1/2: Newton's method from the first term of the series. */
static void invert_erf(mpfr_t out, const mpfr_t x) {
    mpfr_t e, slope;
    mpfr_inits2(256, e, slope, (mpfr_ptr)NULL);
    mpfr_set_d(out, 0.886, MPFR_RNDN);
    mpfr_mul(out, out, x, MPFR_RNDN);
    for (int i = 0; i < 8; i++) {
        mpfr_const_pi(slope, MPFR_RNDN);
        mpfr_div_2ui(slope, slope, 2, MPFR_RNDN);
        mpfr_sqrt(slope, slope, MPFR_RNDN);
        mpfr_sqr(e, out, MPFR_RNDN);
        mpfr_exp(e, e, MPFR_RNDN);
        mpfr_mul(slope, slope, e, MPFR_RNDN); /* 1 / erf'(y) */
        mpfr_erf(e, out, MPFR_RNDN);
        mpfr_sub(e, e, x, MPFR_RNDN);
        mpfr_mul(e, e, slope, MPFR_RNDN);
        mpfr_sub(out, out, e, MPFR_RNDN);
    }
    mpfr_clears(e, slope, (mpfr_ptr)NULL);
}

/* out = y > 0 with erfc(y) = q < 1/2: the logarithm of erfc is concave, so that Newton's method cannot fail. */
static void invert_erfc(mpfr_t out, const mpfr_t q) {
    mpfr_t value, slope, step, log_q;
    mpfr_inits2(256, value, slope, step, log_q, (mpfr_ptr)NULL);
    mpfr_log(log_q, q, MPFR_RNDN);
    mpfr_neg(step, log_q, MPFR_RNDN);
    mpfr_sqrt(out, step, MPFR_RNDN);
    for (int i = 0; i < 9; i++) {
        mpfr_erfc(value, out, MPFR_RNDN);
        mpfr_const_pi(slope, MPFR_RNDN);
        mpfr_div_2ui(slope, slope, 2, MPFR_RNDN);
        mpfr_sqrt(slope, slope, MPFR_RNDN);
        mpfr_sqr(step, out, MPFR_RNDN);
        mpfr_exp(step, step, MPFR_RNDN);
        mpfr_mul(slope, slope, step, MPFR_RNDN); /* -1 / erfc'(y) */
        mpfr_mul(slope, slope, value, MPFR_RNDN);
        mpfr_log(value, value, MPFR_RNDN);
        mpfr_sub(value, value, log_q, MPFR_RNDN);
        mpfr_mul(step, value, slope, MPFR_RNDN);
        mpfr_add(out, out, step, MPFR_RNDN);
    }
    mpfr_clears(value, slope, step, log_q, (mpfr_ptr)NULL);
}

/* out = y with erf(y) = x. */
static void invert(mpfr_t out, const mpfr_t x) {
    mpfr_t q;
    mpfr_init2(q, 1200);
    mpfr_abs(q, x, MPFR_RNDN);
    mpfr_ui_sub(q, 1, q, MPFR_RNDN);
    if (mpfr_cmp_d(q, 0.5) >= 0) invert_erf(out, x);
    else invert_erfc(out, q);
    mpfr_setsign(out, out, mpfr_signbit(x), MPFR_RNDN);
    mpfr_clear(q);
}

int oracle_erf_inv(mpfr_t out, const mpfr_t x, mpfr_rnd_t rounding) {
    int against_1 = mpfr_cmpabs_ui(x, 1);
    if (mpfr_nan_p(x) || against_1 > 0) mpfr_set_nan(out);
    else if (against_1 == 0) mpfr_set_inf(out, mpfr_sgn(x));
    else if (mpfr_zero_p(x)) mpfr_set(out, x, rounding);
    else invert(out, x);
    return 0;
}

int oracle_ndtri(mpfr_t out, const mpfr_t p, mpfr_rnd_t rounding) {
    mpfr_t x, root;
    mpfr_init2(x, 1200); /* 2 p - 1 for every p */
    mpfr_init2(root, 256);
    mpfr_mul_2ui(x, p, 1, rounding);
    mpfr_sub_ui(x, x, 1, rounding);
    oracle_erf_inv(out, x, rounding);
    mpfr_sqrt_ui(root, 2, rounding);
    mpfr_mul(out, out, root, rounding);
    mpfr_clears(x, root, (mpfr_ptr)NULL);
    return 0;
}

/* sqrt(2 pi) exp(y^2/2) */
int oracle_ndtri_slope(mpfr_t out, const mpfr_t p, mpfr_rnd_t rounding) {
    mpfr_t y, pi;
    mpfr_inits2(256, y, pi, (mpfr_ptr)NULL);
    oracle_ndtri(y, p, rounding);
    mpfr_sqr(y, y, rounding);
    mpfr_div_2ui(y, y, 1, rounding);
    mpfr_exp(y, y, rounding);
    mpfr_const_pi(pi, rounding);
    mpfr_mul_2ui(pi, pi, 1, rounding);
    mpfr_sqrt(pi, pi, rounding);
    mpfr_mul(out, y, pi, rounding);
    mpfr_clears(y, pi, (mpfr_ptr)NULL);
    return 0;
}
