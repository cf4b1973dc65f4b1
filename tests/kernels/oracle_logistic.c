/* The logistic function, activations, and what is made of them, by MPFR: each in as many digits as the result has, with
 * room for what cancels, which oracle.h's callers give. */
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

/* x tanh(log(1 + exp(x))) */
int oracle_mish(mpfr_t out, const mpfr_t x, mpfr_rnd_t rounding) {
    if (mpfr_inf_p(x) && mpfr_sgn(x) < 0) return mpfr_set_d(out, -0.0, rounding);
    mpfr_t share;
    mpfr_init2(share, mpfr_get_prec(out));
    mpfr_exp(share, x, rounding);
    mpfr_log1p(share, share, rounding);
    mpfr_tanh(share, share, rounding);
    int inexact = mpfr_mul(out, x, share, rounding);
    mpfr_clear(share);
    return inexact;
}

/* w + x w' for w = tanh(log(1 + e)), e = exp(x), and w' = (1 - w^2) e/(1 + e); beyond the bounds 1 and a negative 0. */
int oracle_mish_slope(mpfr_t out, const mpfr_t x, mpfr_rnd_t rounding) {
    if (mpfr_cmpabs_ui(x, 1000000) > 0) return mpfr_set_d(out, mpfr_sgn(x) < 0 ? -0.0 : 1, rounding);
    mpfr_t w, steep;
    mpfr_inits2(2 * mpfr_get_prec(out), w, steep, (mpfr_ptr)NULL);
    mpfr_exp(w, x, rounding);
    mpfr_log1p(w, w, rounding);
    mpfr_sech(steep, w, rounding);
    mpfr_sqr(steep, steep, rounding);
    mpfr_tanh(w, w, rounding);
    oracle_logistic(out, x, rounding);
    mpfr_mul(steep, steep, out, rounding);
    mpfr_mul(steep, steep, x, rounding);
    int inexact = mpfr_add(out, w, steep, rounding);
    mpfr_clears(w, steep, (mpfr_ptr)NULL);
    return inexact;
}

/* erfc(-x/sqrt(2))/2 */
static void below(mpfr_t out, const mpfr_t x, mpfr_rnd_t rounding) {
    mpfr_sqrt_ui(out, 2, rounding);
    mpfr_div(out, x, out, rounding);
    mpfr_neg(out, out, rounding);
    mpfr_erfc(out, out, rounding);
    mpfr_div_2ui(out, out, 1, rounding);
}

int oracle_gelu(mpfr_t out, const mpfr_t x, mpfr_rnd_t rounding) {
    if (mpfr_inf_p(x) && mpfr_sgn(x) < 0) return mpfr_set_d(out, -0.0, rounding);
    mpfr_t share;
    mpfr_init2(share, mpfr_get_prec(out));
    below(share, x, rounding);
    int inexact = mpfr_mul(out, x, share, rounding);
    mpfr_clear(share);
    return inexact;
}

/* The share below x and x exp(-x^2/2)/sqrt(2 pi). */
int oracle_gelu_slope(mpfr_t out, const mpfr_t x, mpfr_rnd_t rounding) {
    if (mpfr_cmpabs_ui(x, 10000) > 0) return mpfr_set_d(out, mpfr_sgn(x) < 0 ? -0.0 : 1, rounding);
    mpfr_t density, root;
    mpfr_inits2(mpfr_get_prec(out), density, root, (mpfr_ptr)NULL);
    mpfr_sqr(density, x, rounding);
    mpfr_div_si(density, density, -2, rounding);
    mpfr_exp(density, density, rounding);
    mpfr_mul(density, density, x, rounding);
    mpfr_const_pi(root, rounding);
    mpfr_mul_2ui(root, root, 1, rounding);
    mpfr_sqrt(root, root, rounding);
    mpfr_div(density, density, root, rounding);
    below(root, x, rounding);
    int inexact = mpfr_add(out, root, density, rounding);
    mpfr_clears(density, root, (mpfr_ptr)NULL);
    return inexact;
}

/* c(x) = 2 sqrt(2/pi) (x + 0.044715 x^3), and its derivative times x. */
static void of_cubic(mpfr_t c, mpfr_t w, const mpfr_t x, mpfr_rnd_t rounding) {
    mpfr_t cube;
    mpfr_init2(cube, mpfr_get_prec(c));
    mpfr_sqr(cube, x, rounding);
    mpfr_mul(cube, cube, x, rounding);
    mpfr_mul_ui(cube, cube, 44715, rounding);
    mpfr_div_ui(cube, cube, 1000000, rounding);
    mpfr_add(c, x, cube, rounding);
    mpfr_mul_ui(w, cube, 3, rounding);
    mpfr_add(w, w, x, rounding);
    mpfr_const_pi(cube, rounding);
    mpfr_ui_div(cube, 8, cube, rounding);
    mpfr_sqrt(cube, cube, rounding);
    mpfr_mul(c, c, cube, rounding);
    mpfr_mul(w, w, cube, rounding);
    mpfr_clear(cube);
}

int oracle_gelu_tanh(mpfr_t out, const mpfr_t x, mpfr_rnd_t rounding) {
    if (mpfr_inf_p(x) && mpfr_sgn(x) < 0) return mpfr_set_d(out, -0.0, rounding);
    mpfr_t c, w;
    mpfr_inits2(mpfr_get_prec(out), c, w, (mpfr_ptr)NULL);
    of_cubic(c, w, x, rounding);
    oracle_logistic(w, c, rounding);
    int inexact = mpfr_mul(out, x, w, rounding);
    mpfr_clears(c, w, (mpfr_ptr)NULL);
    return inexact;
}

/* s(c) (1 + x c' s(-c)) */
int oracle_gelu_tanh_slope(mpfr_t out, const mpfr_t x, mpfr_rnd_t rounding) {
    if (mpfr_cmpabs_ui(x, 1000) > 0) return mpfr_set_d(out, mpfr_sgn(x) < 0 ? -0.0 : 1, rounding);
    mpfr_t c, w, other;
    mpfr_inits2(mpfr_get_prec(out), c, w, other, (mpfr_ptr)NULL);
    of_cubic(c, w, x, rounding);
    mpfr_neg(other, c, rounding);
    oracle_logistic(other, other, rounding);
    mpfr_mul(w, w, other, rounding);
    mpfr_add_ui(w, w, 1, rounding);
    oracle_logistic(other, c, rounding);
    int inexact = mpfr_mul(out, other, w, rounding);
    mpfr_clears(c, w, other, (mpfr_ptr)NULL);
    return inexact;
}

/* The logistic function of x - y in units of log(base); that of nothing between equal operands. */
static int share_of(mpfr_t out, const mpfr_t x, const mpfr_t y, bool binary, mpfr_rnd_t rounding) {
    if (mpfr_equal_p(x, y)) return mpfr_set_d(out, 0.5, rounding);
    mpfr_t lead, unit;
    mpfr_inits2(300, lead, unit, (mpfr_ptr)NULL);
    mpfr_sub(lead, x, y, rounding);
    mpfr_const_log2(unit, rounding);
    if (binary) mpfr_mul(lead, lead, unit, rounding);
    int inexact = oracle_logistic(out, lead, rounding);
    mpfr_clears(lead, unit, (mpfr_ptr)NULL);
    return inexact;
}

int oracle_logaddexp_slope(mpfr_t out, const mpfr_t x, const mpfr_t y, mpfr_rnd_t rounding) {
    return share_of(out, x, y, false, rounding);
}

int oracle_logaddexp2_slope(mpfr_t out, const mpfr_t x, const mpfr_t y, mpfr_rnd_t rounding) {
    return share_of(out, x, y, true, rounding);
}

int oracle_exp_gap(mpfr_t out, const mpfr_t x, const mpfr_t y, mpfr_rnd_t rounding) {
    mpfr_t gap;
    mpfr_init2(gap, 300);
    mpfr_sub(gap, x, y, rounding);
    int inexact = mpfr_exp(out, gap, rounding);
    mpfr_clear(gap);
    return inexact;
}

/* |d| - log(2) + log(1 + exp(-2 |d|)) for d = x - y; below 1 log(1 + 2 sinh(d/2)^2). */
int oracle_log_cosh(mpfr_t out, const mpfr_t x, const mpfr_t y, mpfr_rnd_t rounding) {
    mpfr_t d, unit;
    mpfr_inits2(300, d, unit, (mpfr_ptr)NULL);
    mpfr_sub(d, x, y, rounding);
    mpfr_abs(d, d, rounding);
    if (mpfr_cmp_ui(d, 1) < 0) {
        mpfr_div_2ui(d, d, 1, rounding);
        mpfr_sinh(d, d, rounding);
        mpfr_sqr(d, d, rounding);
        mpfr_mul_2ui(d, d, 1, rounding);
        mpfr_log1p(out, d, rounding);
    } else {
        mpfr_mul_si(out, d, -2, rounding);
        mpfr_exp(out, out, rounding);
        mpfr_log1p(out, out, rounding);
        mpfr_const_log2(unit, rounding);
        mpfr_sub(d, d, unit, rounding);
        mpfr_add(out, out, d, rounding);
    }
    mpfr_clears(d, unit, (mpfr_ptr)NULL);
    return 0;
}
