/* Faddeeva's function, one number at a time. In the upper half plane
 *   w(z) = i / pi times the integral over all t of exp(-t^2) / (z - t),
 * by the trapezoidal rule, whose nodes lie at k H or (k + 1/2) H, with the residue of the pole at z where that is
 * nearer to the axis than pi / H: 2 exp(-z^2) / (1 -+ exp(-2 pi i z / H)). Of the two sets of nodes the one is taken
 * from which z is farther, so no term is large. With 13 nodes on either side all digits are there. The derivative is
 * that of the rule, -1 / (z - t)^2 for 1 / (z - t). Below the axis w(z) = 2 exp(-z^2) - w(-z), on the left
 * w(-conj z) = conj w(z).
 * Source: Chiarella and Reichel, 1968; Al Azah and Chandler-Wilde, Computation of the complex error function using
 * modified trapezoidal rules, 2021, (1.9) to (1.14). */
#include "lib/kernels/special/plane.h"

#include "lib/kernels/special/plane_wide.h"

#include <complex.h>
#include <math.h>
#include <stdbool.h>

enum { NODES = 13 }; /* and one at 0 of the first set */

static const wide PI = 3.141592653589793238462643383279503L, ROOT_PI = 1.772453850905516027298167483341145L;
static const wide STEP = 0.4737082174254673014953308753693536L; /* H, which is sqrt(pi / (NODES + 1)) */
static const wide FAR = 1e4L;  /* beyond it the first terms of the series in 1 / z are all */
static const wide NEAR = 1.5L; /* squared; w' = 2 i / sqrt(pi) - 2 z w, which cancels beyond */

/* exp(-t^2) at t = k H / 2. */
static const wide bell[] = {
    /* clang-format off */
    1.0L, 0.9454447107333492005478L, 0.798995891520162411224L, 0.6035666416166700962727L,
    0.4075474542126483230122L, 0.2459820482385517758597L, 0.1327091646230728410465L, 0.06399863193343148247389L,
    0.02758752491970790187872L, 0.01062984812693605914876L, 0.003661117386112640311683L, 0.001127126137988451090737L,
    3.101727650124500110557e-4L, 7.629693204557746313415e-5L, 1.677578152422578708247e-5L, 3.297089385194170171075e-6L,
    5.792298755962697458166e-7L, 9.095853557654857501816e-8L, 1.276756973164377377448e-8L, 1.601936476206536152955e-9L,
    1.796613320915124291008e-10L, 1.801093311724838547784e-11L, 1.613950031421835941718e-12L,
    1.292755008081411998561e-13L,
    9.255814586551103243811e-15L, 5.923594709687703501714e-16L, 3.388662370545722370331e-17L,
    1.732780438785617667868e-18L,
    /* clang-format on */
};

/* 1 / z; a long double's exponents have room for the square. */
static cwide inverse(cwide z) {
    const wide x = creall(z), y = cimagl(z), size = 1 / (x * x + y * y);
    return pair(x * size, -y * size);
}

/* exp(-z^2) where the parts of z are exact. */
static cwide gauss(cwide z) {
    const wide x = creall(z), y = cimagl(z), size = expl((y - x) * (y + x)), turn = -2 * x * y;
    if (!isfinite((double)turn)) return size == 0 ? 0 : pair(NAN, NAN);
    return pair(size * cosl(turn), size * sinl(turn));
}

/* The rule without residue: sums of exp(-t^2) / (z - t) over t and -t, or of the derivative of that by z. */
static cwide rule(cwide z, bool half, int order) {
    const cwide zz = z * z, first = half ? 0 : inverse(z);
    cwide sum = order ? -first * first : first;
    for (int k = half ? 1 : 2; k <= 2 * NODES + half; k += 2) {
        const wide tt = k * k * PI / (4 * (NODES + 1));
        const cwide d = inverse(zz - tt);
        sum += bell[k] * (order ? -2 * (zz + tt) * (d * d) : 2 * z * d);
    }
    return pair(0, STEP / PI) * sum;
}

/* The residue, q exp(-z^2) with q = 2 / (1 + s e), e = exp(-2 pi i z / H), s = 1 for halves and -1 otherwise. Above the
 * axis e is large: everything in terms of 1 / e. */
static cwide residue(cwide z, bool half, int order) {
    const wide s = half ? 1 : -1;
    const cwide rate = pair(0, 2 * PI / STEP), less = cexpl(rate * z), q = less * inverse(less + s), g = gauss(z);
    return 2 * g * (order ? -2 * z * q + rate * q * (1 - q) : q);
}

/* For z in the first quadrant. */
static cwide quadrant(cwide z, int order) {
    const wide x = creall(z), y = cimagl(z);
    if (x > FAR || y > FAR) {
        const cwide first = inverse(z), square = first * first;
        return order ? pair(0, -1 / ROOT_PI) * square * (1 + square * (1.5L + square * 3.75L))
                     : pair(0, 1 / ROOT_PI) * first * (1 + square * (0.5L + square * 0.75L));
    }
    if (order && x * x + y * y < NEAR) return -2 * z * quadrant(z, 0) + pair(0, 2 / ROOT_PI);
    if (y >= fmaxl(x, PI / STEP)) return rule(z, true, order);
    const wide places = x / STEP, part = places - floorl(places);
    const bool half = !(y < x && part >= 0.25L && part <= 0.75L);
    cwide w = rule(z, half, order);
    if (y < PI / STEP) w += residue(z, half, order);
    return w;
}

/* Conjugated where z lies on the left: w'(-conj z) = -conj w'(z). */
static cwide above(cwide z, int order) {
    if (creall(z) >= 0) return quadrant(z, order);
    const cwide w = conjl(quadrant(pair(-creall(z), cimagl(z)), order));
    return order ? -w : w;
}

lam_c128 lam__special_wofz(lam_c128 x, int order) {
    const cwide z = pair(x.re, x.im);
    cwide w;
    if (isnan(x.re) || isnan(x.im)) w = pair(NAN, NAN);
    else if (x.im >= 0) w = above(z, order);
    else w = order ? -4 * z * gauss(z) + above(-z, 1) : 2 * gauss(z) - above(-z, 0);
    return (lam_c128){(double)creall(w), (double)cimagl(w)};
}
