/* See series.h. */
#include "tests/accuracy/series.h"

enum { BITS = 240 };

/* 2 pi T(h, a) = atan(a) - the sum over j of (-1)^j a^(2j + 1) / (2j + 1) (1 - exp(-z) times the first j + 1 terms of
 * the series of exp(z)), z = h^2 / 2 (Owen 1956), in digits to spare. */
void series_owens_t(mpfr_t v, mpfr_t x[]) {
    enum { SPARE = 1200, ENOUGH = -600 };
    mpfr_t z, term, tail, power, part, sum;
    mpfr_inits2(SPARE, z, term, tail, power, part, sum, (mpfr_ptr)NULL);
    mpfr_sqr(z, x[0], MPFR_RNDN);
    mpfr_div_2ui(z, z, 1, MPFR_RNDN);
    mpfr_neg(term, z, MPFR_RNDN);
    mpfr_exp(term, term, MPFR_RNDN);
    mpfr_ui_sub(tail, 1, term, MPFR_RNDN);
    mpfr_set(power, x[1], MPFR_RNDN);
    mpfr_atan(sum, x[1], MPFR_RNDN);
    for (unsigned long j = 0; j == 0 || mpfr_get_exp(part) > ENOUGH; j++) {
        mpfr_mul(part, tail, power, MPFR_RNDN);
        mpfr_div_ui(part, part, 2 * j + 1, MPFR_RNDN);
        mpfr_sub(sum, sum, part, MPFR_RNDN);
        mpfr_mul(term, term, z, MPFR_RNDN);
        mpfr_div_ui(term, term, j + 1, MPFR_RNDN);
        mpfr_sub(tail, tail, term, MPFR_RNDN);
        mpfr_mul(power, power, x[1], MPFR_RNDN);
        mpfr_mul(power, power, x[1], MPFR_RNDN);
        mpfr_neg(power, power, MPFR_RNDN);
    }
    mpfr_const_pi(z, MPFR_RNDN);
    mpfr_mul_2ui(z, z, 1, MPFR_RNDN);
    mpfr_div(v, sum, z, MPFR_RNDN);
    mpfr_clears(z, term, tail, power, part, sum, (mpfr_ptr)NULL);
}

/* The sum of products of (a + n) (b + n) / (c + n) x / (n + 1), without b where that is NULL, in digits to spare. */
static void hyper_series(mpfr_t v, mpfr_srcptr a, mpfr_srcptr b, mpfr_srcptr c, mpfr_srcptr x) {
    enum { SPARE = 800 };
    mpfr_t term, sum, factor;
    mpfr_inits2(SPARE, term, sum, factor, (mpfr_ptr)NULL);
    mpfr_set_ui(term, 1, MPFR_RNDN);
    mpfr_set_ui(sum, 1, MPFR_RNDN);
    for (unsigned long n = 0; n < 40000 && (n < 100 || mpfr_get_exp(term) > mpfr_get_exp(sum) - BITS); n++) {
        mpfr_add_ui(factor, a, n, MPFR_RNDN);
        mpfr_mul(term, term, factor, MPFR_RNDN);
        if (b) mpfr_add_ui(factor, b, n, MPFR_RNDN);
        if (b) mpfr_mul(term, term, factor, MPFR_RNDN);
        mpfr_add_ui(factor, c, n, MPFR_RNDN);
        mpfr_div(term, term, factor, MPFR_RNDN);
        mpfr_mul(term, term, x, MPFR_RNDN);
        mpfr_div_ui(term, term, n + 1, MPFR_RNDN);
        if (mpfr_zero_p(term)) break;
        mpfr_add(sum, sum, term, MPFR_RNDN);
    }
    mpfr_set(v, sum, MPFR_RNDN);
    mpfr_clears(term, sum, factor, (mpfr_ptr)NULL);
}

void series_hyp1f1(mpfr_t v, mpfr_t x[]) {
    hyper_series(v, x[0], NULL, x[1], x[2]);
}

/* 2F1(a, b; SERIES_HYPER_C; x), for x < 0 as (1 - x)^(-a) 2F1(a, c - b; c; x / (x - 1)). */
void series_hyp2f1(mpfr_t v, mpfr_t x[]) {
    mpfr_t c, other, z, power;
    mpfr_inits2(2 * BITS, c, other, z, power, (mpfr_ptr)NULL);
    mpfr_set_d(c, SERIES_HYPER_C, MPFR_RNDN);
    mpfr_sub_ui(z, x[2], 1, MPFR_RNDN);
    mpfr_neg(power, z, MPFR_RNDN);
    mpfr_div(z, x[2], z, MPFR_RNDN);
    mpfr_neg(other, x[0], MPFR_RNDN);
    mpfr_pow(power, power, other, MPFR_RNDN);
    mpfr_sub(other, c, x[1], MPFR_RNDN);
    if (mpfr_sgn(x[2]) < 0) hyper_series(v, x[0], other, c, z);
    else hyper_series(v, x[0], x[1], c, x[2]);
    if (mpfr_sgn(x[2]) < 0) mpfr_mul(v, v, power, MPFR_RNDN);
    mpfr_clears(c, other, z, power, (mpfr_ptr)NULL);
}
