/* Functions that MPFR has not, of its own ones, series and differences, at 400 bits: oracle.h, oracle_member. */
#include "tests/kernels/oracle.h"

#include <stdlib.h>

enum { BITS = 400 };

/* The sum of (q + k)^-s by Euler and Maclaurin, of 60 terms and 40 of the series, whose coefficients are
 * B_2j/(2j)! = -2 zeta(2j) (-1)^j (2 pi)^-2j (A&S 23.2.16). */
static void zeta_rest(mpfr_t value, const mpfr_t s, const mpfr_t y) {
    enum { MOST = 40 };
    mpfr_t term, t, circle;
    mpfr_inits2(BITS, term, t, circle, (mpfr_ptr)NULL);
    mpfr_const_pi(circle, MPFR_RNDN);
    mpfr_mul_2ui(circle, circle, 1, MPFR_RNDN);
    mpfr_mul(circle, circle, y, MPFR_RNDN);
    mpfr_sub_ui(t, s, 1, MPFR_RNDN);
    mpfr_div(value, y, t, MPFR_RNDN);
    mpfr_add_d(value, value, 0.5, MPFR_RNDN);
    mpfr_mul(term, s, y, MPFR_RNDN); /* s (s + 1) ... (s + 2j - 2) y (2 pi y)^-2j */
    for (unsigned long j = 1; j <= MOST; j++) {
        mpfr_div(term, term, circle, MPFR_RNDN);
        mpfr_div(term, term, circle, MPFR_RNDN);
        mpfr_zeta_ui(t, 2 * j, MPFR_RNDN);
        mpfr_mul(t, t, term, MPFR_RNDN);
        mpfr_mul_si(t, t, j & 1 ? 2 : -2, MPFR_RNDN);
        mpfr_add(value, value, t, MPFR_RNDN);
        for (unsigned long k = 2 * j - 1; k <= 2 * j; k++) {
            mpfr_add_ui(t, s, k, MPFR_RNDN);
            mpfr_mul(term, term, t, MPFR_RNDN);
        }
    }
    mpfr_clears(term, t, circle, (mpfr_ptr)NULL);
}

static void zeta(mpfr_t value, const mpfr_t s, const mpfr_t q) {
    mpfr_t y, power, less, sum;
    mpfr_inits2(BITS, y, power, less, sum, (mpfr_ptr)NULL);
    mpfr_set_zero(sum, 1);
    mpfr_neg(less, s, MPFR_RNDN);
    for (unsigned long k = 0; k <= 60; k++) {
        mpfr_add_ui(y, q, k, MPFR_RNDN);
        mpfr_pow(power, y, less, MPFR_RNDN);
        if (k < 60) mpfr_add(sum, sum, power, MPFR_RNDN);
    }
    zeta_rest(value, s, y);
    mpfr_mul(value, value, power, MPFR_RNDN);
    mpfr_add(value, value, sum, MPFR_RNDN);
    mpfr_clears(y, power, less, sum, (mpfr_ptr)NULL);
}

/* (-1)^(n+1) n! zeta(n + 1, x) (A&S 6.4.10). */
static void polygamma(mpfr_t value, unsigned long n, const mpfr_t x) {
    mpfr_t s;
    mpfr_init2(s, BITS);
    mpfr_set_ui(s, n + 1, MPFR_RNDN);
    zeta(value, s, x);
    mpfr_fac_ui(s, n, MPFR_RNDN);
    mpfr_mul(value, value, s, MPFR_RNDN);
    if (n % 2 == 0) mpfr_neg(value, value, MPFR_RNDN);
    mpfr_clear(s);
}

static void log_gamma(mpfr_t value, const mpfr_t x) {
    int sign;
    mpfr_lgamma(value, &sign, x, MPFR_RNDN);
}

/* psi^(n)(a + b) - psi^(n)(a), n = 0 to 2, at a precision that its cancellation leaves enough of. */
static void polygamma_gap(mpfr_t value, const mpfr_t a, const mpfr_t b, unsigned long n) {
    mpfr_t sum, less;
    mpfr_inits2(2 * BITS, sum, less, (mpfr_ptr)NULL);
    mpfr_add(sum, a, b, MPFR_RNDN);
    if (n == 0) {
        mpfr_digamma(sum, sum, MPFR_RNDN);
        mpfr_digamma(less, a, MPFR_RNDN);
    } else {
        polygamma(sum, n, sum);
        polygamma(less, n, a);
    }
    mpfr_sub(value, sum, less, MPFR_RNDN);
    mpfr_clears(sum, less, (mpfr_ptr)NULL);
}

static void betaln(mpfr_t value, const mpfr_t a, const mpfr_t b) {
    mpfr_t sum;
    mpfr_init2(sum, BITS);
    mpfr_add(sum, a, b, MPFR_RNDN);
    log_gamma(value, sum);
    mpfr_neg(value, value, MPFR_RNDN);
    log_gamma(sum, a);
    mpfr_add(value, value, sum, MPFR_RNDN);
    log_gamma(sum, b);
    mpfr_add(value, value, sum, MPFR_RNDN);
    mpfr_clear(sum);
}

static void igammac(mpfr_t value, const mpfr_t a, const mpfr_t x) {
    mpfr_t whole;
    mpfr_init2(whole, BITS);
    mpfr_gamma_inc(value, a, x, MPFR_RNDN);
    mpfr_gamma(whole, a, MPFR_RNDN);
    mpfr_div(value, value, whole, MPFR_RNDN);
    mpfr_clear(whole);
}

/* Whether a sum goes on behind its first term. Where either is 0 or no number, neither has an exponent. */
static bool goes_on(const mpfr_t term, const mpfr_t sum) {
    return mpfr_regular_p(term) && mpfr_regular_p(sum) && mpfr_get_exp(term) > mpfr_get_exp(sum) - BITS;
}

/* x^a exp(-x)/Gamma(a + 1) times the sum of x^n/((a+1)(a+2)...): A&S 6.5.29. */
static void igamma(mpfr_t value, const mpfr_t a, const mpfr_t x) {
    mpfr_t term, t;
    mpfr_inits2(BITS, term, t, (mpfr_ptr)NULL);
    mpfr_pow(term, x, a, MPFR_RNDN);
    mpfr_neg(t, x, MPFR_RNDN);
    mpfr_exp(t, t, MPFR_RNDN);
    mpfr_mul(term, term, t, MPFR_RNDN);
    mpfr_add_ui(t, a, 1, MPFR_RNDN);
    mpfr_gamma(t, t, MPFR_RNDN);
    mpfr_div(term, term, t, MPFR_RNDN);
    mpfr_set_zero(value, 1);
    for (unsigned n = 1; n < 4000 && (n == 1 || goes_on(term, value)); n++) {
        mpfr_add(value, value, term, MPFR_RNDN);
        mpfr_add_ui(t, a, n, MPFR_RNDN);
        mpfr_mul(term, term, x, MPFR_RNDN);
        mpfr_div(term, term, t, MPFR_RNDN);
    }
    mpfr_clears(term, t, (mpfr_ptr)NULL);
}

/* x^a (1-x)^b / (a B(a, b)) times the sum of (a+b)(a+b+1).../((a+1)(a+2)...) x^n: A&S 26.5.4. */
static void beta_below(mpfr_t value, const mpfr_t a, const mpfr_t b, const mpfr_t x) {
    mpfr_t term, t, sum;
    mpfr_inits2(BITS, term, t, sum, (mpfr_ptr)NULL);
    betaln(sum, a, b);
    mpfr_log(t, x, MPFR_RNDN);
    mpfr_mul(t, t, a, MPFR_RNDN);
    mpfr_sub(sum, t, sum, MPFR_RNDN);
    mpfr_neg(t, x, MPFR_RNDN);
    mpfr_log1p(t, t, MPFR_RNDN);
    mpfr_mul(t, t, b, MPFR_RNDN);
    mpfr_add(sum, sum, t, MPFR_RNDN);
    mpfr_exp(term, sum, MPFR_RNDN);
    mpfr_div(term, term, a, MPFR_RNDN);
    mpfr_set_zero(value, 1);
    for (unsigned n = 1; n == 1 || goes_on(term, value); n++) {
        mpfr_add(value, value, term, MPFR_RNDN);
        mpfr_add(t, a, b, MPFR_RNDN);
        mpfr_add_ui(t, t, n - 1, MPFR_RNDN);
        mpfr_mul(term, term, t, MPFR_RNDN);
        mpfr_mul(term, term, x, MPFR_RNDN);
        mpfr_add_ui(t, a, n, MPFR_RNDN);
        mpfr_div(term, term, t, MPFR_RNDN);
    }
    mpfr_clears(term, t, sum, (mpfr_ptr)NULL);
}

/* Right of the mean a/(a + b), where terms would grow at first, as 1 - I_(1-x)(b, a); next to an end from there, since
 * from the other one the series would not end. */
static void betainc(mpfr_t value, const mpfr_t a, const mpfr_t b, const mpfr_t x) {
    mpfr_t t;
    mpfr_init2(t, BITS);
    mpfr_add(t, a, b, MPFR_RNDN);
    mpfr_mul(t, t, x, MPFR_RNDN);
    const bool right = mpfr_cmp(t, a) > 0, above = mpfr_cmp_d(x, 0.99) > 0 || (right && mpfr_cmp_d(x, 0.01) > 0);
    mpfr_ui_sub(t, 1, x, MPFR_RNDN);
    if (above) beta_below(value, b, a, t);
    else beta_below(value, a, b, x);
    if (above) mpfr_ui_sub(value, 1, value, MPFR_RNDN);
    mpfr_clear(t);
}

/* Its complement likewise: right of the mean as it is, of 1 - x, which is exact here. */
static void betaincc(mpfr_t value, const mpfr_t a, const mpfr_t b, const mpfr_t x) {
    mpfr_t y;
    mpfr_init2(y, BITS);
    mpfr_ui_sub(y, 1, x, MPFR_RNDN);
    betainc(value, b, a, y);
    mpfr_clear(y);
}

/* A&S 9.6.10. */
static void bessel(mpfr_t value, unsigned long order, const mpfr_t x, bool scaled) {
    mpfr_t term, quarter;
    mpfr_inits2(BITS, term, quarter, (mpfr_ptr)NULL);
    mpfr_sqr(quarter, x, MPFR_RNDN);
    mpfr_div_2ui(quarter, quarter, 2, MPFR_RNDN);
    mpfr_set_ui(term, 1, MPFR_RNDN);
    for (unsigned long k = 1; k <= order; k++) {
        mpfr_mul(term, term, x, MPFR_RNDN);
        mpfr_div_ui(term, term, 2 * k, MPFR_RNDN);
    }
    mpfr_set_zero(value, 1);
    for (unsigned long k = 1; k < 3000 && (k == 1 || goes_on(term, value)); k++) {
        mpfr_add(value, value, term, MPFR_RNDN);
        mpfr_mul(term, term, quarter, MPFR_RNDN);
        mpfr_div_ui(term, term, k * (k + order), MPFR_RNDN);
    }
    mpfr_abs(term, x, MPFR_RNDN);
    mpfr_neg(term, term, MPFR_RNDN);
    mpfr_exp(term, term, MPFR_RNDN);
    if (scaled) mpfr_mul(value, value, term, MPFR_RNDN);
    mpfr_clears(term, quarter, (mpfr_ptr)NULL);
}

/* The derivatives of exp(-x) I_n(x) for x > 0: sums of those of neighbouring orders, with binomial coefficients, since
 * I_n' = (I_(n-1) + I_(n+1))/2 (A&S 9.6.29): (S - 1)^k of them, where S is that mean. */
static void scaled_bessel(mpfr_t value, int order, int derivatives, const mpfr_t x) {
    if (derivatives == 0) {
        bessel(value, (unsigned long)abs(order), x, true);
        return;
    }
    mpfr_t part;
    mpfr_init2(part, BITS);
    scaled_bessel(value, order - 1, derivatives - 1, x);
    scaled_bessel(part, order + 1, derivatives - 1, x);
    mpfr_add(value, value, part, MPFR_RNDN);
    mpfr_div_2ui(value, value, 1, MPFR_RNDN);
    scaled_bessel(part, order, derivatives - 1, x);
    mpfr_sub(value, value, part, MPFR_RNDN);
    mpfr_clear(part);
}

/* exp(x^2) erfc(x), or the integral of that times exp(-x^2) from x on, likewise scaled: 1/sqrt(pi) less x times it. */
static void erfcx(mpfr_t value, const mpfr_t x, bool integral) {
    mpfr_t e;
    mpfr_init2(e, BITS);
    mpfr_sqr(e, x, MPFR_RNDN);
    mpfr_exp(e, e, MPFR_RNDN);
    mpfr_erfc(value, x, MPFR_RNDN);
    mpfr_mul(value, value, e, MPFR_RNDN);
    if (integral) {
        mpfr_mul(value, value, x, MPFR_RNDN);
        mpfr_const_pi(e, MPFR_RNDN);
        mpfr_rec_sqrt(e, e, MPFR_RNDN);
        mpfr_sub(value, e, value, MPFR_RNDN);
    }
    mpfr_clear(e);
}

/* x log(y + shift), 0 where x is. */
static void times_log(mpfr_t value, const mpfr_t x, const mpfr_t y, unsigned long shift) {
    mpfr_add_ui(value, y, shift, MPFR_RNDN);
    mpfr_log(value, value, MPFR_RNDN);
    mpfr_mul(value, value, x, MPFR_RNDN);
    if (mpfr_zero_p(x)) mpfr_set_zero(value, 1);
}

static void log_ratio(mpfr_t value, const mpfr_t x, const mpfr_t y) {
    mpfr_div(value, x, y, MPFR_RNDN);
    mpfr_log(value, value, MPFR_RNDN);
}

/* x / hypot(x, y) */
static void share(mpfr_t value, const mpfr_t x, const mpfr_t y) {
    mpfr_hypot(value, x, y, MPFR_RNDN);
    mpfr_div(value, x, value, MPFR_RNDN);
}

/* Of x/d, d = x^2 + y^2, itself and its first derivatives, (y^2 - x^2)/d^2 and -2 x y/d^2; the second one by x, -2 x
 * (3 y^2 - x^2)/d^3. */
static void atan2_slope(mpfr_t value, const mpfr_t x, const mpfr_t y, int by_x, int by_y) {
    mpfr_t a, b, d;
    mpfr_inits2(BITS, a, b, d, (mpfr_ptr)NULL);
    mpfr_sqr(a, x, MPFR_RNDN);
    mpfr_sqr(b, y, MPFR_RNDN);
    mpfr_add(d, a, b, MPFR_RNDN);
    mpfr_set(value, x, MPFR_RNDN);
    if (by_y) mpfr_mul(value, value, y, MPFR_RNDN);
    if (by_x == 2) mpfr_mul_ui(b, b, 3, MPFR_RNDN);
    if (by_x) mpfr_sub(a, b, a, MPFR_RNDN);
    if (by_x == 1) mpfr_set(value, a, MPFR_RNDN);
    if (by_x == 2) mpfr_mul(value, value, a, MPFR_RNDN);
    if (by_x == 2 || by_y) mpfr_mul_si(value, value, -2, MPFR_RNDN);
    for (int i = 0; i <= by_x + by_y; i++) mpfr_div(value, value, d, MPFR_RNDN);
    mpfr_clears(a, b, d, (mpfr_ptr)NULL);
}

/* The mth derivative by e of (y + e) (y + e - 1) ... x^(y + e - n), from the coefficients of powers of e. */
static void pow_slope(mpfr_t value, const mpfr_t x, const mpfr_t y, int n, int m) {
    enum { MOST = 4 };
    mpfr_t c[MOST], t, log, power;
    mpfr_inits2(BITS, c[0], c[1], c[2], c[3], t, log, power, (mpfr_ptr)NULL);
    for (int k = 0; k < MOST; k++) mpfr_set_ui(c[k], k == 0, MPFR_RNDN);
    for (int j = 0; j < n; j++) {
        mpfr_sub_ui(t, y, (unsigned long)j, MPFR_RNDN);
        for (int k = m; k >= 0; k--) {
            mpfr_mul(c[k], c[k], t, MPFR_RNDN);
            if (k > 0) mpfr_add(c[k], c[k], c[k - 1], MPFR_RNDN);
        }
    }
    mpfr_log(log, x, MPFR_RNDN);
    mpfr_set_ui(power, 1, MPFR_RNDN);
    mpfr_set_zero(value, 1);
    for (int k = m; k >= 0; k--) {
        mpfr_mul(t, c[k], power, MPFR_RNDN);
        mpfr_add(value, value, t, MPFR_RNDN);
        mpfr_mul(power, power, log, MPFR_RNDN);
        mpfr_div_ui(power, power, (unsigned long)(m - k + 1), MPFR_RNDN);
    }
    mpfr_fac_ui(t, (unsigned long)m, MPFR_RNDN);
    mpfr_mul(value, value, t, MPFR_RNDN);
    mpfr_sub_ui(t, y, (unsigned long)n, MPFR_RNDN);
    mpfr_pow(power, x, t, MPFR_RNDN);
    mpfr_mul(value, value, power, MPFR_RNDN);
    mpfr_clears(c[0], c[1], c[2], c[3], t, log, power, (mpfr_ptr)NULL);
}

/* -s (-s - 1) ... zeta(s + n, q) */
static void zeta_by_q(mpfr_t value, const mpfr_t s, const mpfr_t q, int n) {
    mpfr_t t;
    mpfr_init2(t, BITS);
    mpfr_add_ui(t, s, (unsigned long)n, MPFR_RNDN);
    zeta(value, t, q);
    for (int j = 0; j < n; j++) {
        mpfr_add_ui(t, s, (unsigned long)j, MPFR_RNDN);
        mpfr_mul(value, value, t, MPFR_RNDN);
        mpfr_neg(value, value, MPFR_RNDN);
    }
    mpfr_clear(t);
}

/* The n-th central difference of the slope, with steps of 2^-60: the next power of them is below 2^-119. */
static void mish_slope(mpfr_t value, const mpfr_t x, int n) {
    mpfr_t at, term;
    mpfr_inits2(BITS, at, term, (mpfr_ptr)NULL);
    mpfr_set_zero(value, 1);
    unsigned long ways = 1;
    for (int k = 0; k <= n; k++) {
        mpfr_set_si_2exp(at, n - 2 * k, -61, MPFR_RNDN);
        mpfr_add(at, at, x, MPFR_RNDN);
        oracle_mish_slope(term, at, MPFR_RNDN);
        mpfr_mul_si(term, term, (k & 1 ? -1 : 1) * (long)ways, MPFR_RNDN);
        mpfr_add(value, value, term, MPFR_RNDN);
        ways = ways * (unsigned long)(n - k) / (unsigned long)(k + 1);
    }
    mpfr_mul_2ui(value, value, (unsigned long)(60 * n), MPFR_RNDN);
    mpfr_clears(at, term, (mpfr_ptr)NULL);
}

bool oracle_member(lam__loop_id id, int64_t member, mpfr_t value, mpfr_t x[]) {
    switch (id) {
    case LAM__LOOP_erfcx:
        if (member > 1) return false;
        erfcx(value, x[0], member == 1);
        break;
    case LAM__LOOP_mish_slope: mish_slope(value, x[0], (int)member); break;
    case LAM__LOOP_polygamma:
        if (member == 0) return oracle_at(LAM__LOOP_digamma, value, x[0], x[0]);
        polygamma(value, (unsigned long)member, x[0]);
        break;
    case LAM__LOOP_zeta: zeta_by_q(value, x[0], x[1], (int)(member / 64)); break;
    case LAM__LOOP_xlogy: times_log(value, x[0], x[1], 0); break;
    case LAM__LOOP_xlog1py: times_log(value, x[0], x[1], 1); break;
    case LAM__LOOP_log_ratio: log_ratio(value, x[0], x[1]); break;
    case LAM__LOOP_rel_entr:
        log_ratio(value, x[0], x[1]);
        mpfr_mul(value, value, x[0], MPFR_RNDN);
        break;
    case LAM__LOOP_rel_entr_slope:
        log_ratio(value, x[0], x[1]);
        mpfr_add_ui(value, value, 1, MPFR_RNDN);
        break;
    case LAM__LOOP_hypot_slope: share(value, x[0], x[1]); break;
    case LAM__LOOP_atan2_slope: atan2_slope(value, x[0], x[1], (int)(member / 64), (int)(member % 64)); break;
    case LAM__LOOP_pow_slope: pow_slope(value, x[0], x[1], (int)(member / 64), (int)(member % 64)); break;
    case LAM__LOOP_box_cox: oracle_box(member, value, x[0], x[1]); break;
    case LAM__LOOP_polygamma_gap: polygamma_gap(value, x[0], x[1], (unsigned long)member); break;
    case LAM__LOOP_betaln: betaln(value, x[0], x[1]); break;
    case LAM__LOOP_igamma: igamma(value, x[0], x[1]); break;
    case LAM__LOOP_igammac: igammac(value, x[0], x[1]); break;
    case LAM__LOOP_betainc: betainc(value, x[0], x[1], x[2]); break;
    case LAM__LOOP_betaincc: betaincc(value, x[0], x[1], x[2]); break;
    case LAM__LOOP_bessel_i:
        if (member & 1) scaled_bessel(value, (int)(member & 255) / 2, (int)(member >> 8), x[0]);
        else bessel(value, (unsigned long)member / 2, x[0], false);
        break;
    case LAM__LOOP_igamma_inv:
    case LAM__LOOP_betainc_inv: return oracle_inverse(id, member, value, x);
    case LAM__LOOP_integrals: return oracle_integral(member, value, x[0]);
    case LAM__LOOP_gamma_quotient: return oracle_quotient(member, value, x[0], x[1]);
    default: return oracle_at(id, value, x[0], x[1]);
    }
    return true;
}
