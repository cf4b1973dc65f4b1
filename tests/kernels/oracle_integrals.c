/* See oracle.h: integrals of elementary functions and quotients of gamma functions, from their power series with as
 * many digits more as the terms cancel, and from MPFR's own functions. */
#include "tests/kernels/oracle.h"

#include <math.h>
#include <stdlib.h>

#include "lib/kernels/special/special.h"

/* What a sum is worth whose largest term is exp(size) times the result. */
static mpfr_prec_t digits(double size) {
    return 460 + (mpfr_prec_t)(1.5 * size);
}

/* The sum of c_j t^j / ((2j + odd)! (2j + odd + 0)) and the like: terms go on by factor(j), each divided by divisor(j),
 * until they no longer count. `first` says where to begin. */
typedef struct power_series {
    mpfr_t step, term, part, sum;
    int j;
} power_series;

static void series_begin(power_series *s, mpfr_prec_t bits) {
    mpfr_inits2(bits, s->step, s->term, s->part, s->sum, (mpfr_ptr)NULL);
    mpfr_set_zero(s->sum, 1);
    mpfr_set_ui(s->term, 1, MPFR_RNDN);
    s->j = 0;
}

/* Adds term/divisor; then term *= step/quotient. False where the rest counts no more. */
static bool series_add(power_series *s, double divisor, double quotient) {
    if (divisor != 0) {
        mpfr_div_d(s->part, s->term, divisor, MPFR_RNDN);
        mpfr_add(s->sum, s->sum, s->part, MPFR_RNDN);
    }
    mpfr_mul(s->term, s->term, s->step, MPFR_RNDN);
    mpfr_div_d(s->term, s->term, quotient, MPFR_RNDN);
    s->j++;
    return mpfr_zero_p(s->term) == 0 &&
           (mpfr_zero_p(s->sum) || mpfr_get_exp(s->term) > mpfr_get_exp(s->sum) - mpfr_get_prec(s->sum));
}

static void series_end(power_series *s, mpfr_t value) {
    mpfr_set(value, s->sum, MPFR_RNDN);
    mpfr_clears(s->step, s->term, s->part, s->sum, (mpfr_ptr)NULL);
}

/* Si, and Ci less the logarithm and Euler's number: x^(2j + odd) / ((2j + odd)! (2j + odd)) with signs. */
static void trigonometric(mpfr_t value, const mpfr_t x, int odd) {
    power_series s;
    series_begin(&s, digits(fabs(mpfr_get_d(x, MPFR_RNDN))));
    mpfr_sqr(s.step, x, MPFR_RNDN);
    mpfr_neg(s.step, s.step, MPFR_RNDN);
    if (odd) mpfr_set(s.term, x, MPFR_RNDN);
    for (int n = odd; series_add(&s, n, (n + 1.0) * (n + 2.0)); n += 2) continue;
    series_end(&s, value);
}

static void cosine_integral(mpfr_t value, const mpfr_t x) {
    mpfr_t t;
    mpfr_init2(t, mpfr_get_prec(value));
    trigonometric(value, x, 0);
    mpfr_abs(t, x, MPFR_RNDN);
    mpfr_log(t, t, MPFR_RNDN);
    mpfr_add(value, value, t, MPFR_RNDN);
    mpfr_const_euler(t, MPFR_RNDN);
    mpfr_add(value, value, t, MPFR_RNDN);
    mpfr_clear(t);
}

/* S (odd = 1) and C: with a = pi/2 x^2, x a^n / (n! (2n + 1)) for every second n. */
static void fresnel(mpfr_t value, const mpfr_t x, int odd) {
    const double size = mpfr_get_d(x, MPFR_RNDN);
    power_series s;
    series_begin(&s, digits(2 * size * size));
    mpfr_t a;
    mpfr_init2(a, mpfr_get_prec(s.sum));
    mpfr_const_pi(a, MPFR_RNDN);
    mpfr_mul(a, a, x, MPFR_RNDN);
    mpfr_mul(a, a, x, MPFR_RNDN);
    mpfr_div_ui(a, a, 2, MPFR_RNDN);
    mpfr_sqr(s.step, a, MPFR_RNDN);
    mpfr_neg(s.step, s.step, MPFR_RNDN);
    mpfr_set(s.term, x, MPFR_RNDN);
    if (odd) mpfr_mul(s.term, s.term, a, MPFR_RNDN);
    for (int n = odd; series_add(&s, 2 * n + 1, (n + 1.0) * (n + 2.0)); n += 2) continue;
    mpfr_clear(a);
    series_end(&s, value);
}

/* 1/(2x) times the sum of (2j - 1)!!/(2x^2)^j, whose least term is exp(-x^2) of the first. */
static void dawson_beyond(mpfr_t sum, const mpfr_t x) {
    mpfr_t step, term;
    mpfr_inits2(mpfr_get_prec(sum), step, term, (mpfr_ptr)NULL);
    mpfr_sqr(step, x, MPFR_RNDN);
    mpfr_mul_ui(step, step, 2, MPFR_RNDN);
    mpfr_ui_div(step, 1, step, MPFR_RNDN);
    mpfr_mul(term, step, x, MPFR_RNDN);
    mpfr_set_zero(sum, 1);
    const mpfr_exp_t last = mpfr_get_exp(term) - (mpfr_exp_t)mpfr_get_prec(sum);
    for (unsigned long j = 1; j < 2000 && mpfr_get_exp(term) > last; j += 2) {
        mpfr_add(sum, sum, term, MPFR_RNDN);
        mpfr_mul(term, term, step, MPFR_RNDN);
        mpfr_mul_ui(term, term, j, MPFR_RNDN);
    }
    mpfr_clears(step, term, (mpfr_ptr)NULL);
}

/* The kth derivative by F^(k+1) = -2 x F^(k) - 2 k F^(k-1), F' = 1 - 2 x F, each of which cancels by x^2; F of terms
 * (-2)^j x^(2j+1) / (2j+1)!! */
static void dawson(mpfr_t value, const mpfr_t x, int k) {
    const double size = fabs(mpfr_get_d(x, MPFR_RNDN));
    const bool far = size > 30;
    power_series s;
    series_begin(&s, far ? 1400 + 3 * k * (mpfr_prec_t)mpfr_get_exp(x) : digits(2 * size * size));
    mpfr_t before, next;
    mpfr_inits2(mpfr_get_prec(s.sum), before, next, (mpfr_ptr)NULL);
    mpfr_sqr(s.step, x, MPFR_RNDN);
    mpfr_mul_si(s.step, s.step, -2, MPFR_RNDN);
    mpfr_set(s.term, x, MPFR_RNDN);
    if (far) dawson_beyond(s.sum, x);
    for (int j = 0; !far && series_add(&s, 1, 2 * j + 3.0); j++) continue;
    for (int i = 0; i < k; i++) {
        mpfr_mul(next, s.sum, x, MPFR_RNDN);
        mpfr_mul_si(next, next, -2, MPFR_RNDN);
        if (i == 0) mpfr_add_ui(next, next, 1, MPFR_RNDN);
        else {
            mpfr_mul_ui(before, before, 2 * (unsigned long)i, MPFR_RNDN);
            mpfr_sub(next, next, before, MPFR_RNDN);
        }
        mpfr_set(before, s.sum, MPFR_RNDN);
        mpfr_set(s.sum, next, MPFR_RNDN);
    }
    mpfr_clears(before, next, (mpfr_ptr)NULL);
    series_end(&s, value);
}

/* E_n for n >= 1, up from E_1 = -Ei(-x) by n E_(n+1) = exp(-x) - x E_n; down from E_0 = exp(-x)/x. */
static void expn(mpfr_t value, const mpfr_t x, int n) {
    mpfr_t e, t, sum;
    mpfr_inits2(digits(4 * mpfr_get_d(x, MPFR_RNDN) + 20 * abs(n)), e, t, sum, (mpfr_ptr)NULL);
    mpfr_neg(t, x, MPFR_RNDN);
    mpfr_exp(e, t, MPFR_RNDN);
    if (n <= 0) mpfr_div(sum, e, x, MPFR_RNDN);
    else {
        mpfr_eint(sum, t, MPFR_RNDN);
        mpfr_neg(sum, sum, MPFR_RNDN);
    }
    for (int i = 1; i < n; i++) {
        mpfr_mul(t, sum, x, MPFR_RNDN);
        mpfr_sub(t, e, t, MPFR_RNDN);
        mpfr_div_ui(sum, t, (unsigned long)i, MPFR_RNDN);
    }
    for (int i = 0; i > n; i--) {
        mpfr_mul_si(t, sum, -i + 1, MPFR_RNDN);
        mpfr_add(t, e, t, MPFR_RNDN);
        mpfr_div(sum, t, x, MPFR_RNDN);
    }
    mpfr_set(value, sum, MPFR_RNDN);
    mpfr_clears(e, t, sum, (mpfr_ptr)NULL);
}

/* log(x)/(1 - x), and twice that derived where k = 2: (1/x + g)/(1 - x). */
static void spence_slope(mpfr_t value, const mpfr_t x, int k) {
    mpfr_t u, g;
    mpfr_inits2(900, u, g, (mpfr_ptr)NULL);
    mpfr_ui_sub(u, 1, x, MPFR_RNDN);
    mpfr_log(g, x, MPFR_RNDN);
    mpfr_div(g, g, u, MPFR_RNDN);
    if (k == 2) {
        mpfr_t inverse;
        mpfr_init2(inverse, 900);
        mpfr_ui_div(inverse, 1, x, MPFR_RNDN);
        mpfr_add(g, g, inverse, MPFR_RNDN);
        mpfr_div(g, g, u, MPFR_RNDN);
        mpfr_clear(inverse);
    }
    mpfr_set(value, g, MPFR_RNDN);
    mpfr_clears(u, g, (mpfr_ptr)NULL);
}

/* The kth derivative of (exp(x) - 1)/x as the sum of x^j / (j! (j + k + 1)). */
static void exprel(mpfr_t value, const mpfr_t x, int k) {
    power_series s;
    series_begin(&s, digits(2 * fabs(mpfr_get_d(x, MPFR_RNDN))));
    mpfr_set(s.step, x, MPFR_RNDN);
    for (int j = 0; series_add(&s, j + k + 1, j + 1); j++) continue;
    series_end(&s, value);
}

/* Newton's method on w exp(w) - x from a double; exp(-w)/(1 + w). */
static void lambertw(mpfr_t value, const mpfr_t x, int slope) {
    mpfr_t w, e, f;
    mpfr_inits2(460, w, e, f, (mpfr_ptr)NULL);
    const double start = mpfr_get_d(x, MPFR_RNDN);
    mpfr_set_d(w, start < 0 ? sqrt(fmax(0, 2 + 2 * exp(1) * start)) - 0.999 : log1p(start), MPFR_RNDN);
    for (int i = 0; i < 60; i++) {
        mpfr_exp(e, w, MPFR_RNDN);
        mpfr_div(f, x, e, MPFR_RNDN);
        mpfr_sub(f, w, f, MPFR_RNDN); /* (w exp(w) - x) / exp(w) */
        mpfr_add_ui(e, w, 1, MPFR_RNDN);
        mpfr_div(f, f, e, MPFR_RNDN);
        mpfr_sub(w, w, f, MPFR_RNDN);
    }
    if (slope) {
        mpfr_add_ui(f, w, 1, MPFR_RNDN);
        mpfr_exp(e, w, MPFR_RNDN);
        mpfr_mul(f, f, e, MPFR_RNDN);
        mpfr_ui_div(w, 1, f, MPFR_RNDN);
    }
    mpfr_set(value, w, MPFR_RNDN);
    mpfr_clears(w, e, f, (mpfr_ptr)NULL);
}

/* sin (turn = 0) or cos of pi/2 x^2. */
static void of_square(mpfr_t value, const mpfr_t x, int turn) {
    mpfr_t t;
    mpfr_init2(t, 1200);
    mpfr_const_pi(t, MPFR_RNDN);
    mpfr_mul(t, t, x, MPFR_RNDN);
    mpfr_mul(t, t, x, MPFR_RNDN);
    mpfr_div_ui(t, t, 2, MPFR_RNDN);
    if (turn) mpfr_cos(value, t, MPFR_RNDN);
    else mpfr_sin(value, t, MPFR_RNDN);
    mpfr_clear(t);
}

bool oracle_integral(int64_t member, mpfr_t value, const mpfr_t x) {
    const int order = (int)(member >> 4);
    switch ((enum lam__integral)(member & 15)) {
    case LAM__EXPN: expn(value, x, order); break;
    case LAM__EXPI:
        if (order) {
            mpfr_exp(value, x, MPFR_RNDN);
            mpfr_div(value, value, x, MPFR_RNDN);
        } else mpfr_eint(value, x, MPFR_RNDN);
        break;
    case LAM__SIN_INT:
        if (order > 1) return false;
        if (!order) trigonometric(value, x, 1);
        else {
            mpfr_sin(value, x, MPFR_RNDN);
            mpfr_div(value, value, x, MPFR_RNDN);
        }
        break;
    case LAM__COS_INT: cosine_integral(value, x); break;
    case LAM__SIN_FRES: (order ? of_square : fresnel)(value, x, !order); break;
    case LAM__COS_FRES: (order ? of_square : fresnel)(value, x, order); break;
    case LAM__DAWSON: dawson(value, x, order); break;
    case LAM__SPENCE:
        if (order) spence_slope(value, x, order);
        else {
            mpfr_ui_sub(value, 1, x, MPFR_RNDN);
            mpfr_li2(value, value, MPFR_RNDN);
        }
        break;
    case LAM__EXPREL: exprel(value, x, order); break;
    case LAM__LAMBERT: lambertw(value, x, order); break;
    case LAM__GAMMA: mpfr_gamma(value, x, MPFR_RNDN); break;
    case LAM__BESSEL_J: mpfr_jn(value, order, x, MPFR_RNDN); break;
    }
    return true;
}

/* The mth derivative by y of (x^y - 1)/y, as log(x)^(m + 1) times that of exprel, or x^(y - 1); of 1 + x where it is
 * said so. */
void oracle_box(int64_t member, mpfr_t value, const mpfr_t x, const mpfr_t y) {
    const int plus = (int)(member & 1), m = (int)(member >> 1 & 63);
    mpfr_t log, z;
    mpfr_inits2(1400, log, z, (mpfr_ptr)NULL);
    (plus ? mpfr_log1p : mpfr_log)(log, x, MPFR_RNDN);
    if (member >> 7) {
        mpfr_sub_ui(z, y, 1, MPFR_RNDN);
        mpfr_mul(z, z, log, MPFR_RNDN);
        mpfr_exp(value, z, MPFR_RNDN);
    } else {
        mpfr_mul(z, log, y, MPFR_RNDN);
        exprel(value, z, m);
        mpfr_pow_ui(log, log, (unsigned long)m + 1, MPFR_RNDN);
        mpfr_mul(value, value, log, MPFR_RNDN);
    }
    mpfr_clears(log, z, (mpfr_ptr)NULL);
}

/* Gamma(x + y)/Gamma(x), B(x, y), or 1/((x + 1) B(x - y + 1, y + 1)). */
bool oracle_quotient(int64_t member, mpfr_t value, const mpfr_t x, const mpfr_t y) {
    mpfr_t a, b;
    mpfr_inits2(600, a, b, (mpfr_ptr)NULL);
    if (member == LAM__QUOTIENT_BETA) mpfr_beta(value, x, y, MPFR_RNDN);
    else if (member == LAM__QUOTIENT_POCH) {
        mpfr_add(a, x, y, MPFR_RNDN);
        mpfr_gamma(a, a, MPFR_RNDN);
        mpfr_gamma(b, x, MPFR_RNDN);
        mpfr_div(value, a, b, MPFR_RNDN);
    } else {
        mpfr_sub(a, x, y, MPFR_RNDN);
        mpfr_add_ui(a, a, 1, MPFR_RNDN);
        mpfr_add_ui(b, y, 1, MPFR_RNDN);
        mpfr_beta(a, a, b, MPFR_RNDN);
        mpfr_add_ui(b, x, 1, MPFR_RNDN);
        mpfr_mul(a, a, b, MPFR_RNDN);
        mpfr_ui_div(value, 1, a, MPFR_RNDN);
    }
    mpfr_clears(a, b, (mpfr_ptr)NULL);
    return true;
}
