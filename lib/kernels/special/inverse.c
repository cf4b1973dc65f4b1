/* The incomplete gamma and beta functions undone, by Halley's method on the logarithm of the side that holds less, over
 * u = log(x) and u = logit(x). Their densities over u are log-concave, and so are both sides (Prekopa, On logarithmic
 * concave measures and functions, 1973): every tangent lies above the curve, so that Newton's steps cannot miss, and
 * what Halley's make of them is between half and twice as long. Steps out of a flat part are bounded. */
#include "lib/kernels/special/inverse.h"

#include "lib/kernels/special/special.h"

#include <math.h>
#include <stdbool.h>

typedef lam__wide wide;

/* Iterations end of themselves after three or four; the bound is for what nobody has thought of. */
enum { MOST = 100 };

/* A step whose cube is below rounding. */
static const wide ENOUGH = 1e-7L;

/* Where the least doubles are, and the least wide numbers. */
static const wide LEAST = -745.2L, LEAST_WIDE = -11000;

/* The normal quantile of a share up to 1/2, to three digits: Abramowitz and Stegun 26.2.23. */
static wide normal_quantile(wide share) {
    wide t = sqrtl(-2 * logl(share));
    return (2.515517L + t * (0.802853L + t * 0.010328L)) / (1 + t * (1.432788L + t * (0.189269L + t * 0.001308L))) - t;
}

/* ---- gamma ------------------------------------------------------------------------------------------------------- */

/* For a above 1 Wilson and Hilferty's cube of a normal variable; below it, or where that has no root, what P begins
 * with, x^a / Gamma(a + 1), and what Q ends with, exp(-x) / Gamma(a) about. */
static wide gamma_start(double a, wide share, bool upper) {
    const wide z = normal_quantile(share), base = 1 - 1 / (9 * (wide)a) + (upper ? -z : z) / (3 * sqrtl(a));
    if (a > 1 && base > 0.2L) return logl(a) + 3 * logl(base);
    const wide below = ((upper ? log1pl(-share) : logl(share)) + lam__special_wide_lgamma(1 + (wide)a)) / a;
    if (!upper || below < -1) return below;
    const wide above = -logl(share) - lam__special_wide_lgamma(a);
    return above > 0.4L ? logl(above) : below < 0 ? below : 0;
}

/* Halley's step from Newton's, for L = log(side) with L'' = L' (bend - L'), bend being the slope of the logarithm of
 * the density: what is left is about the cube of it. */
static wide halley(wide log, wide newton, wide bend) {
    return newton / fminl(fmaxl(1 + (log + newton * bend) / 2, 0.5L), 2);
}

/* How far u is to move: log(part / share) over its slope. */
static wide gamma_step(double a, wide u, wide share, bool upper) {
    const double x = (double)expl(u);
    const wide part = lam__special_wide_igamma(a, x, upper), log = logl(part / share), step = log * part;
    const wide newton = (upper ? step : -step) / lam__special_gamma_density(a, x);
    return (logl(x) - u) + halley(log, newton, a - x);
}

/* Halley's steps on u = log x. The smaller of both shares is searched for, since it has the digits. Steps are held to a
 * few widths of the density where it is a bump: far from it a step may overshoot. */
static double gamma_inverse(double a, double p, bool upper) {
    if (!(a > 0 && p >= 0 && p <= 1) || isinf(a)) return NAN;
    if (p == 0 || p == 1) return (p == 0) == upper ? INFINITY : 0;
    const wide share = p <= 0.5 ? p : 1 - (wide)p, width = a > 1 ? 1 / sqrtl(a) : 1;
    if (p > 0.5) upper = !upper;
    wide u = gamma_start(a, share, upper);
    for (int i = 0; i < MOST && u > LEAST; i++) {
        wide step = gamma_step(a, u, share, upper);
        if (a > 1 || upper) step = fmaxl(fminl(step, 4 * width), -4 * width);
        u += step;
        if (fabsl(step) < ENOUGH * width) break;
    }
    return (double)expl(u);
}

/* ---- beta -------------------------------------------------------------------------------------------------------- */

/* Carter's approximation, Abramowitz and Stegun 26.5.22, for parameters above 1. */
static wide carter(double a, double b, wide z) {
    const wide s = 1 / (2 * (wide)a - 1), t = 1 / (2 * (wide)b - 1), h = 2 / (s + t), bow = (z * z - 3) / 6;
    const wide w = z * sqrtl(h + bow) / h - (t - s) * (bow + 5 / 6.0L - 2 / (3 * h));
    return logl((wide)a / b) - 2 * w;
}

/* Else a normal variable about the mode, but not left of where x^a / (a B(a, b)), which I begins with, is the share. */
static wide beta_start(double a, double b, wide share) {
    if (fmin(a, b) > 1 && share > 1e-6L) return carter(a, b, -normal_quantile(share));
    const wide log_beta = lam__special_wide_betaln(fmin(a, b), fmax(a, b));
    const wide below = (logl(share) + logl(a) + log_beta) / a;
    const wide normal = logl((wide)a / b) + normal_quantile(share) * sqrtl(1 / (wide)a + 1 / (wide)b);
    return below < 0 ? fmaxl(normal, below - logl(-expm1l(below))) : normal;
}

/* Where x or 1 - x, whichever is less, is a double, which is what the integrals take; u goes there. */
static void to_double(wide *u, wide *x, wide *y) {
    const wide near = 1 / (1 + expl(fabsl(*u))), least = fabsl(*u) < 700 ? (wide)(double)near : near;
    const wide logit = logl(least) - log1pl(-least);
    *x = *u < 0 ? least : 1 - least;
    *y = *u < 0 ? 1 - least : least;
    *u = *u < 0 ? logit : -logit;
}

/* I over the density, x^a y^b / B(a, b), by the series of a^-1 y^-b (1 + a (1 - b) x / (a + 1) + ...), A&S 6.6.8, with
 * all digits also where I hardly depends on x. 0 where that is long or its terms large. */
static wide short_series(wide a, wide b, wide x) {
    if (x > 0.5L || b * x > 3) return 0;
    wide term = 1, sum = 1;
    for (int n = 1; fabsl(term) > 0x1p-66L; n++) {
        term *= (n - b) * x / n;
        sum += term * a / (a + n);
    }
    return sum / a * expl(-b * log1pl(-x));
}

/* I, also over the density. */
static wide part_below(double a, double b, wide x, wide y, wide *over) {
    const wide density = lam__special_beta_density(a, b, x, y), rest = 1 - density * short_series(b, a, y);
    wide part = density * (*over = short_series(a, b, x));
    if (*over > 0) return part;
    part = rest < 1 && rest > 0x1p-8L ? rest : lam__special_wide_betainc(a, b, x, y, false);
    *over = part / density;
    return part;
}

/* What a step leaves is halved: from a flat part it may lead to where I is 0 in all formats. */
wide lam__special_beta_root(double a, double b, wide share, wide near) {
    const wide fine = ENOUGH * fminl(sqrtl(1 / (wide)a + 1 / (wide)b), 1);
    wide u = near, low = -INFINITY, high = INFINITY;
    for (int i = 0; i < MOST && u > LEAST_WIDE; i++) {
        wide x, y, over;
        to_double(&u, &x, &y);
        const wide part = part_below(a, b, x, y, &over), log = logl(part / share), newton = -log * over;
        if (part < share) low = u;
        else high = u;
        wide next = u + halley(log, newton, a * y - b * x);
        if (fabsl(next - u) < fine) return next;
        if (!(next > low && next < high)) next = isinf(high) ? low + 1 : isinf(low) ? high - 1 : (low + high) / 2;
        u = next;
    }
    return u;
}

static wide beta_below(double a, double b, wide share) {
    return lam__special_beta_root(a, b, share, beta_start(a, b, share));
}

/* The side above x is that below 1 - x of the operands exchanged. */
static double beta_inverse(double a, double b, double p, bool upper, bool odd) {
    if (!(a > 0 && b > 0 && p >= 0 && p <= 1) || isinf(a) || isinf(b)) return NAN;
    const bool first = (p == 0) != upper;
    if (p == 0 || p == 1) return odd ? (first ? -INFINITY : INFINITY) : !first;
    if (a == b && p == 0.5) return odd ? 0 : 0.5;
    const wide share = p <= 0.5 ? p : 1 - (wide)p;
    const bool above = (p > 0.5) != upper;
    const wide u = above ? -beta_below(b, a, share) : beta_below(a, b, share);
    return (double)(odd ? sinhl(u / 2) : 1 / (1 + expl(-u)));
}

/* ---- counts ------------------------------------------------------------------------------------------------------ */

/* The least count that no more than p lies beyond (upper), or at least p up to. What misses p by less than the part
 * `slack` of it counts as p. */
typedef enum counts { POISSON, BINOMIAL, WAITING } counts;

/* The share up to k, or beyond it. */
static double share_of(counts which, double a, double b, double k, bool beyond) {
    if (which == POISSON) return beyond ? lam__special_igamma(k + 1, a, 0) : lam__special_igammac(k + 1, a);
    if (which == WAITING) return beyond ? lam__special_betaincc(a, k + 1, b) : lam__special_betainc(a, k + 1, b, 0);
    if (k >= a) return !beyond;
    return beyond ? lam__special_betainc(k + 1, a - k, b, 0) : lam__special_betaincc(k + 1, a - k, b);
}

/* Shares are rounded, and a p that is one of them belongs to its count: a little less is asked for. */
static bool reaches(counts which, double a, double b, double k, double p, bool upper) {
    const double share = share_of(which, a, b, k, upper);
    return upper ? share <= p : share >= p;
}

/* Where no chance is left to be of another mind: no trials, no mean, no failures. */
static bool is_sure(counts which, double a, double b, double *k) {
    *k = which == BINOMIAL && b == 1 ? ceil(a) : 0;
    if (which == WAITING) return b == 1;
    return a == 0 || (which == BINOMIAL && (b == 0 || b == 1));
}

/* Doubled until it reaches, then halved between; doubles beyond 2^53 are no more looked for. */
static double count_inverse(counts which, double a, double b, double p, int64_t form) {
    const bool upper = form & LAM__INVERSE_UPPER;
    const double slack = form & LAM__INVERSE_NARROW ? 0x1p-21 : 0x1p-48;
    const bool valid = which == POISSON ? a >= 0 : a >= 0 && b >= 0 && b <= 1;
    double low = -1, high = 1, sure;
    if (!valid || !(p >= 0 && p <= 1) || isinf(a)) return NAN;
    if (is_sure(which, a, b, &sure)) return sure;
    if (p == (upper ? 0 : 1)) return which == BINOMIAL ? ceil(a) : INFINITY;
    if (p == (upper ? 1 : 0)) return 0;
    p += upper ? slack * p : -slack * p;
    if (reaches(which, a, b, 0, p, upper)) return 0;
    while (!reaches(which, a, b, high, p, upper)) {
        low = high, high *= 2;
        if (high > 0x1p53) return INFINITY;
    }
    while (high - low > 1) {
        const double middle = floor((low + high) / 2);
        if (reaches(which, a, b, middle, p, upper)) high = middle;
        else low = middle;
    }
    return high;
}

/* ---- the forms --------------------------------------------------------------------------------------------------- */

double lam__special_igamma_inv(double a, double p, int64_t form) {
    return form & LAM__INVERSE_STEPS ? count_inverse(POISSON, a, 0, p, form)
                                     : gamma_inverse(a, p, form & LAM__INVERSE_UPPER);
}

double lam__special_betainc_inv(double a, double b, double p, int64_t form) {
    const counts which = form & LAM__INVERSE_WAITING ? WAITING : BINOMIAL;
    return form & LAM__INVERSE_STEPS ? count_inverse(which, a, b, p, form)
                                     : beta_inverse(a, b, p, form & LAM__INVERSE_UPPER, (form & LAM__INVERSE_ODD) != 0);
}
