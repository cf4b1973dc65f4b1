/* The logistic function and what is made of it, by MPFR: each in as many digits as the result has, with room for what
 * cancels, which oracle.h's callers give. */
#include "tests/kernels/oracle.h"

int oracle_logistic(mpfr_t out, const mpfr_t x, mpfr_rnd_t rounding) {
    mpfr_neg(out, x, rounding);
    mpfr_exp(out, out, rounding);
    mpfr_add_ui(out, out, 1, rounding);
    return mpfr_ui_div(out, 1, out, rounding);
}

/* s(x) s(-x), in digits enough for both factors. */
int oracle_logistic_slope(mpfr_t out, const mpfr_t x, mpfr_rnd_t rounding) {
    mpfr_t other;
    mpfr_init2(other, mpfr_get_prec(out));
    mpfr_neg(other, x, rounding);
    oracle_logistic(other, other, rounding);
    oracle_logistic(out, x, rounding);
    int inexact = mpfr_mul(out, out, other, rounding);
    mpfr_clear(other);
    return inexact;
}

int oracle_silu(mpfr_t out, const mpfr_t x, mpfr_rnd_t rounding) {
    mpfr_t share;
    if (mpfr_inf_p(x) && mpfr_sgn(x) < 0) return mpfr_set_d(out, -0.0, rounding);
    mpfr_init2(share, mpfr_get_prec(out));
    oracle_logistic(share, x, rounding);
    int inexact = mpfr_mul(out, x, share, rounding);
    mpfr_clear(share);
    return inexact;
}

/* s(x) (1 + x s(-x)) */
int oracle_silu_slope(mpfr_t out, const mpfr_t x, mpfr_rnd_t rounding) {
    mpfr_t other;
    if (mpfr_inf_p(x)) return mpfr_set_d(out, mpfr_sgn(x) < 0 ? -0.0 : 1, rounding);
    mpfr_init2(other, mpfr_get_prec(out));
    mpfr_neg(other, x, rounding);
    oracle_logistic(other, other, rounding);
    mpfr_mul(other, other, x, rounding);
    mpfr_add_ui(other, other, 1, rounding);
    oracle_logistic(out, x, rounding);
    int inexact = mpfr_mul(out, out, other, rounding);
    mpfr_clear(other);
    return inexact;
}

int oracle_tanh_slope(mpfr_t out, const mpfr_t x, mpfr_rnd_t rounding) {
    mpfr_cosh(out, x, rounding);
    mpfr_sqr(out, out, rounding);
    return mpfr_ui_div(out, 1, out, rounding);
}
