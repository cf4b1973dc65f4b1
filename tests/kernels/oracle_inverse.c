/* What undoes the incomplete functions: one step of Newton's method in MPFR, from the double that the library's
 * function for one number gives. What that double misses by is the length of the step; if it is more than rounding
 * explains, there is no truth, and whatever is judged by it fails. The slope need not be exact, so it is one of long
 * doubles. */
#include <math.h>

#include "lib/kernels/special/inverse.h"
#include "tests/kernels/oracle.h"

enum { BITS = 240, NEAR = -30 }; /* NEAR: the logarithm of what a step may be relative to where it begins */

/* v where the function of x[0], x[1] and v in the place of x[last] is x[last], from v on. */
static void step(mpfr_t v, mpfr_t x[], int last, lam__loop_id id, bool upper, long double slope) {
    mpfr_t z[3], value;
    mpfr_inits2(BITS, z[0], z[1], z[2], value, (mpfr_ptr)NULL);
    for (int i = 0; i < last; i++) mpfr_set(z[i], x[i], MPFR_RNDN);
    mpfr_set(z[last], v, MPFR_RNDN);
    oracle_member(id, 0, value, z);
    if (upper) mpfr_ui_sub(z[0], 1, x[last], MPFR_RNDN);
    else mpfr_set(z[0], x[last], MPFR_RNDN);
    mpfr_sub(value, z[0], value, MPFR_RNDN);
    mpfr_set_ld(z[0], slope, MPFR_RNDN);
    mpfr_div(value, value, z[0], MPFR_RNDN);
    mpfr_div(z[0], value, v, MPFR_RNDN);
    if (mpfr_zero_p(z[0]) || mpfr_get_exp(z[0]) < NEAR) mpfr_add(v, v, value, MPFR_RNDN);
    else mpfr_set_nan(v);
    mpfr_clears(z[0], z[1], z[2], value, (mpfr_ptr)NULL);
}

/* Where x is less than doubles hold: P is x^a / Gamma(a + 1) there. */
static void undo_first_term(mpfr_t v, mpfr_t x[], bool upper) {
    mpfr_t t;
    int sign;
    mpfr_init2(t, BITS);
    if (upper) mpfr_ui_sub(v, 1, x[1], MPFR_RNDN);
    else mpfr_set(v, x[1], MPFR_RNDN);
    mpfr_log(v, v, MPFR_RNDN);
    mpfr_add_ui(t, x[0], 1, MPFR_RNDN);
    mpfr_lgamma(t, &sign, t, MPFR_RNDN);
    mpfr_add(v, v, t, MPFR_RNDN);
    mpfr_div(v, v, x[0], MPFR_RNDN);
    mpfr_exp(v, v, MPFR_RNDN);
    mpfr_clear(t);
}

/* By the side that holds less. */
static void undo_gamma(mpfr_t v, mpfr_t x[], bool upper) {
    const double a = mpfr_get_d(x[0], MPFR_RNDN), p = mpfr_get_d(x[1], MPFR_RNDN);
    const double start = lam__special_igamma_inv(a, p, upper ? LAM__INVERSE_UPPER : 0);
    const bool above = upper == (p < 0.5);
    if (start == 0) {
        undo_first_term(v, x, upper);
        return;
    }
    const long double density = expl((a - 1) * logl(start) - start - lgammal(a));
    mpfr_set_d(v, start, MPFR_RNDN);
    step(v, x, 1, above ? LAM__LOOP_igammac : LAM__LOOP_igamma, above != upper, above ? -density : density);
}

/* The z up to 1/2 with I_z(a, b) = p or, `upper`, 1 - p. */
static void undo_lower_beta(mpfr_t v, mpfr_t x[], double start, bool upper) {
    const double a = mpfr_get_d(x[0], MPFR_RNDN), b = mpfr_get_d(x[1], MPFR_RNDN);
    const long double log_beta = lgammal(a) + lgammal(b) - lgammal((long double)a + b);
    mpfr_set_d(v, start, MPFR_RNDN);
    step(v, x, 2, LAM__LOOP_betainc, upper, expl((a - 1) * logl(start) + (b - 1) * log1pl(-start) - log_beta));
}

/* Beyond the middle it is 1 less that of the parameters exchanged. */
static void undo_beta(mpfr_t v, mpfr_t x[], bool upper) {
    const double a = mpfr_get_d(x[0], MPFR_RNDN), b = mpfr_get_d(x[1], MPFR_RNDN), p = mpfr_get_d(x[2], MPFR_RNDN);
    const double start = lam__special_betainc_inv(a, b, p, upper ? LAM__INVERSE_UPPER : 0);
    if (start <= 0.5) {
        undo_lower_beta(v, x, start, upper);
        return;
    }
    mpfr_t other[3];
    mpfr_inits2(BITS, other[0], other[1], other[2], (mpfr_ptr)NULL);
    for (int i = 0; i < 3; i++) mpfr_set(other[i], x[i == 2 ? 2 : 1 - i], MPFR_RNDN);
    undo_lower_beta(v, other, lam__special_betainc_inv(b, a, p, upper ? 0 : LAM__INVERSE_UPPER), !upper);
    mpfr_ui_sub(v, 1, v, MPFR_RNDN);
    mpfr_clears(other[0], other[1], other[2], (mpfr_ptr)NULL);
}

bool oracle_inverse(lam__loop_id id, int64_t member, mpfr_t value, mpfr_t x[]) {
    if (member > LAM__INVERSE_UPPER) return false;
    if (id == LAM__LOOP_igamma_inv) undo_gamma(value, x, member);
    else undo_beta(value, x, member);
    return true;
}
