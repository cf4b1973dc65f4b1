/* The incomplete gamma and beta functions undone, by Newton's method on the logarithm of the side that holds less, over
 * u = log(x) and u = logit(x). Their densities over u are log-concave, and so are both sides: every tangent lies above
 * the curve, so that from the first step on the iterates come from one side and cannot miss (Prekopa, On logarithmic
 * concave measures and functions, 1973). Steps out of a flat part are bounded. */
#include "lib/kernels/special/inverse.h"

#include "lib/kernels/special/special.h"

#include <math.h>

typedef lam__wide wide;

/* Iterations end of themselves after some ten; the bound is for what nobody has thought of. */
enum { MOST = 100 };

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

/* How far u is to move: log(part / share) over its slope. */
static wide gamma_step(double a, wide u, wide share, bool upper) {
    const double x = (double)expl(u);
    const wide part = lam__special_wide_igamma(a, x, upper), step = logl(part / share) * part;
    return (logl(x) - u) + (upper ? step : -step) / lam__special_gamma_density(a, x);
}

double lam__special_igamma_inv(double a, double p, bool upper) {
    if (!(a > 0 && p >= 0 && p <= 1) || isinf(a)) return NAN;
    if (p == 0 || p == 1) return (p == 0) == upper ? INFINITY : 0;
    const wide share = p <= 0.5 ? p : 1 - (wide)p, width = a > 1 ? 1 / sqrtl(a) : 1;
    if (p > 0.5) upper = !upper;
    wide u = gamma_start(a, share, upper);
    for (int i = 0; i < MOST && u > LEAST; i++) {
        wide step = gamma_step(a, u, share, upper);
        if (a > 1 || upper) step = fmaxl(fminl(step, 4 * width), -4 * width);
        u += step;
        if (fabsl(step) < 1e-8L * width) break;
    }
    return (double)expl(u);
}

/* ---- beta -------------------------------------------------------------------------------------------------------- */

/* A normal variable about the mode, but not left of where x^a / (a B(a, b)), which I begins with, is the share. */
static wide beta_start(double a, double b, wide share) {
    const wide log_beta = lam__special_wide_betaln(fmin(a, b), fmax(a, b));
    const wide below = (logl(share) + logl(a) + log_beta) / a;
    const wide normal = logl((wide)a / b) + normal_quantile(share) * sqrtl(1 / (wide)a + 1 / (wide)b);
    return below < 0 ? fmaxl(normal, below - logl(-expm1l(below))) : normal;
}

/* The u with I = share, at most 1/2. What Newton's step leaves is halved: from a flat part it may lead to where I is 0
 * in all formats. */
static wide beta_below(double a, double b, wide share) {
    const wide fine = 1e-8L * fminl(sqrtl(1 / (wide)a + 1 / (wide)b), 1);
    wide u = beta_start(a, b, share), low = -INFINITY, high = INFINITY;
    for (int i = 0; i < MOST && u > LEAST_WIDE; i++) {
        const wide x = 1 / (1 + expl(-u)), y = 1 / (1 + expl(u));
        const wide part = lam__special_wide_betainc(a, b, x, y, false);
        if (part < share) low = u;
        else high = u;
        wide next = u - logl(part / share) * part / lam__special_beta_density(a, b, x, y);
        if (fabsl(next - u) < fine) return next;
        if (!(next > low && next < high)) next = isinf(high) ? low + 1 : isinf(low) ? high - 1 : (low + high) / 2;
        u = next;
    }
    return u;
}

/* The side above x is that below 1 - x of the operands exchanged. */
double lam__special_betainc_inv(double a, double b, double p, bool upper, bool odd) {
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

/* The share up to k, or beyond it. */
static double share_of(lam__counts which, double a, double b, double k, bool beyond) {
    if (which == LAM__POISSON_COUNTS) return beyond ? lam__special_igamma(k + 1, a, 0) : lam__special_igammac(k + 1, a);
    if (which == LAM__WAITING_COUNTS)
        return beyond ? lam__special_betaincc(a, k + 1, b) : lam__special_betainc(a, k + 1, b, 0);
    if (k >= a) return !beyond;
    return beyond ? lam__special_betainc(k + 1, a - k, b, 0) : lam__special_betaincc(k + 1, a - k, b);
}

/* Shares are rounded, and a p that is one of them belongs to its count: a little less is asked for. */
static bool reaches(lam__counts which, double a, double b, double k, double p, bool upper) {
    const double share = share_of(which, a, b, k, upper);
    return upper ? share <= p : share >= p;
}

/* Where no chance is left to be of another mind: no trials, no mean, no failures. */
static bool is_sure(lam__counts which, double a, double b, double *k) {
    *k = which == LAM__BINOMIAL_COUNTS && b == 1 ? ceil(a) : 0;
    if (which == LAM__WAITING_COUNTS) return b == 1;
    return a == 0 || (which == LAM__BINOMIAL_COUNTS && (b == 0 || b == 1));
}

/* Doubled until it reaches, then halved between; doubles beyond 2^53 are no more looked for. */
double lam__special_count_inv(lam__counts which, double a, double b, double p, double slack, bool upper) {
    const bool valid = which == LAM__POISSON_COUNTS ? a >= 0 : a >= 0 && b >= 0 && b <= 1;
    double low = -1, high = 1, sure;
    if (!valid || !(p >= 0 && p <= 1) || isinf(a)) return NAN;
    if (is_sure(which, a, b, &sure)) return sure;
    if (p == (upper ? 0 : 1)) return which == LAM__BINOMIAL_COUNTS ? ceil(a) : INFINITY;
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
