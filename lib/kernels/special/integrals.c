/* Functions that are integrals of elementary ones, and relatives: exponential, sine and cosine integrals, Fresnel's,
 * Dawson's and Spence's, exprel, Lambert's W. In long double, one number at a time: power series where they do not
 * cancel, continued fractions and asymptotic series beyond. Where a derivative would be a difference that cancels, it
 * is a member of its own here, of any order, and so are zeros: Ei is taken from its distance to its positive zero. */
#include "lib/kernels/special/special.h"

#include <math.h>
#include <stdbool.h>

typedef lam__wide wide;

#define PI    3.14159265358979323846264338327950288L
#define EULER 0.577215664901532860606512090082402431L

/* Beyond the last digit of what is summed. */
#define TINY 0x1p-68L

/* A complex number as a pair: what is needed of them is a line each. */
typedef struct pair {
    wide re, im;
} pair;

static pair reciprocal(pair z) {
    const wide square = z.re * z.re + z.im * z.im;
    return (pair){z.re / square, -z.im / square};
}

static pair times(pair x, pair y) {
    return (pair){x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};
}

/* ---- exponential integrals --------------------------------------------------------------------------------------- */

/* E_n(x) for n >= 1 and 0 < x <= 1: A&S 5.1.12, where the logarithm stands for the term that would be 1/0. */
static wide expn_series(int64_t n, wide x) {
    wide psi = -EULER, power = 1, sum = n == 1 ? 0 : 1 / (wide)(n - 1);
    for (int64_t k = 1; k < n; k++) psi += 1 / (wide)k;
    for (int64_t m = 1; m < n || fabsl(power) > TINY * fabsl(sum); m++) {
        power *= -x / (wide)m; /* (-x)^m / m! */
        sum -= m == n - 1 ? power * (logl(x) - psi) : power / (wide)(m - n + 1);
        if (m > n + 40 || fabsl(power) < 0x1p-1000L) break;
    }
    return n == 1 ? sum - EULER - logl(x) : sum;
}

/* The same for x > 1: the continued fraction A&S 5.1.22 in its even form, by Lentz's method. */
static wide expn_fraction(int64_t n, wide x) {
    wide b = x + (wide)n, c = 0x1p+500L, d = 1 / b, h = d;
    for (int64_t k = 1; k < 1000; k++) {
        const wide a = -(wide)k * (wide)(n - 1 + k);
        b += 2;
        d = 1 / (a * d + b);
        c = b + a / c;
        h *= c * d;
        if (fabsl(c * d - 1) < TINY) break;
    }
    return h * expl(-x);
}

/* For n <= 0 a finite sum of terms of one sign: exp(-x) k!/x^(k+1) times the sum of x^j/j! for j <= k = -n. */
static wide expn_below(int64_t k, wide x) {
    wide term = expl(-x) / x, sum = term;
    for (int64_t j = k; j > 0; j--) {
        term *= (wide)j / x;
        sum += term;
    }
    return sum;
}

static wide expn(int64_t n, wide x) {
    if (x < 0) return NAN;
    if (x == 0) return n <= 1 ? (wide)INFINITY : 1 / (wide)(n - 1);
    if (isinf(x)) return 0;
    if (n <= 0) return expn_below(-n, x);
    return x <= 1 ? expn_series(n, x) : expn_fraction(n, x);
}

/* Ei by its distance d to its zero, in two parts: log(x/zero) and the sum of (x^k - zero^k) / (k k!), where each
 * difference is x times the last one and d times a power of the zero. */
static wide expi_near_zero(wide x) {
    const wide zero = 0xbeb94a95a5afe1e5p-65L, rest = -5.767927000713061412e-21L, d = (x - zero) - rest;
    wide gap = d, power = 1, factorial = 1, sum = log1pl(d / zero);
    for (int k = 1; k < 30; k++) {
        factorial *= k;
        sum += gap / (k * factorial);
        power *= zero;
        gap = x * gap + power * d;
    }
    return sum;
}

/* Ei(x): left of 0 it is -E_1; A&S 5.1.10; from 50 on the asymptotic series, whose least term is below 2^-70. */
static wide expi(wide x) {
    if (x < 0) return -expn(1, -x);
    if (x == 0) return -INFINITY;
    if (isinf(x)) return x;
    if (fabsl(x - 0.3725L) < 0.2L) return expi_near_zero(x);
    wide term = 1, sum = 0;
    if (x < 50) {
        for (int k = 1; k < 300 && term > TINY * sum; k++) {
            term *= x / k;
            sum += term / k;
        }
        return EULER + logl(x) + sum;
    }
    for (int k = 1; k <= 50 && term > TINY; k++) {
        sum += term;
        term *= k / x;
    }
    return sum * expl(x) / x;
}

/* ---- sine and cosine integrals ----------------------------------------------------------------------------------- */

/* E_1(i x) exp(i x) for x > 4, by the fraction of expn_fraction for a purely imaginary argument. */
static pair auxiliary(wide x) {
    pair b = {1, x}, c = {0x1p+500L, 0}, d = reciprocal(b), h = d;
    for (int k = 1; k < 1000; k++) {
        const wide a = -(wide)k * k;
        b.re += 2;
        d = reciprocal((pair){a * d.re + b.re, a * d.im + b.im});
        const pair over = reciprocal(c);
        c = (pair){b.re + a * over.re, b.im + a * over.im};
        const pair step = times(c, d);
        h = times(h, step);
        if (fabsl(step.re - 1) + fabsl(step.im) < TINY) break;
    }
    return h;
}

/* The sum of (-1)^j x^(2j + odd) / ((2j + odd)! (2j + odd)) from j = first on. */
static wide trigonometric_series(wide x, int first, int odd) {
    wide power = odd ? x : 1, sum = first ? 0 : power;
    for (int j = 1; j < 40; j++) {
        const int n = 2 * j + odd;
        power *= -x * x / (n * (n - 1));
        sum += power / n;
    }
    return sum;
}

/* Si and Ci for x >= 0. */
static wide sine_integral(wide x) {
    if (isinf(x)) return PI / 2;
    if (x <= 4) return trigonometric_series(x, 0, 1);
    return PI / 2 + times((pair){cosl(x), -sinl(x)}, auxiliary(x)).im;
}

static wide cosine_integral(wide x) {
    if (isinf(x)) return 0;
    if (x <= 4) return EULER + logl(x) + trigonometric_series(x, 1, 0);
    return -times((pair){cosl(x), -sinl(x)}, auxiliary(x)).re;
}

/* sin(x + n pi/2), where n turns choose the function and no angle is rounded. */
static wide turned(wide x, int64_t n) {
    const wide value = n & 1 ? cosl(x) : sinl(x);
    return n & 2 ? -value : value;
}

/* The kth derivative of sin(x)/x, the integral of t^k cos(x t + k pi/2) over [0, 1]: of the power series where it
 * cancels little, else by k f_(k-1) + x f_k = sin(x + k pi/2), which does not for x beyond k. */
static wide sinc(wide x, int64_t k) {
    if (isinf(x)) return 0;
    if (fabsl(x) <= (wide)(k > 2 ? k : 2)) {
        wide power = 1, sum = 0;
        for (int64_t j = 0; j < 60 + 2 * k; j++) {
            const int64_t turn = (j + k) & 3;
            if (turn == 0) sum += power / (wide)(k + j + 1);
            if (turn == 2) sum -= power / (wide)(k + j + 1);
            power *= x / (wide)(j + 1);
        }
        return sum;
    }
    wide value = sinl(x) / x;
    for (int64_t i = 1; i <= k; i++) value = (turned(x, i) - (wide)i * value) / x;
    return value;
}

/* ---- Fresnel's integrals ----------------------------------------------------------------------------------------- */

/* sin or cos of pi/2 x^2: the square in two parts, whole turns taken off exactly of both, then the nearest quarter. */
static wide turned_square(wide x, int64_t n) {
    if (!isfinite(x)) return NAN;
    const wide square = x * x, rest = fmodl(fmal(x, x, -square), 4), part = fmodl(square, 4);
    const wide quarter = rintl(part + rest);
    return turned(PI / 2 * ((part - quarter) + rest), (int64_t)quarter + n);
}

/* S (odd = 1) and C: for x <= 1.5 the power series; beyond, with the continued fraction of erfc (A&S 7.1.14) at an
 * imaginary square, C + i S = (1 + i)/2 (1 - exp(i pi/2 x^2) h). */
static wide fresnel(wide x, int odd) {
    if (isinf(x)) return 0.5L;
    const wide square = x * x, angle = PI / 2 * square;
    if (x <= 1.5L) {
        wide power = odd ? x * angle : x, sum = power / (odd ? 3 : 1);
        for (int j = 1; j < 30; j++) {
            const int n = 2 * j + odd;
            power *= -angle * angle / (n * (n - 1));
            sum += power / (2 * n + 1);
        }
        return sum;
    }
    if (x > 0x1p+60L) return 0.5L;
    pair b = {1, -PI * square}, c = {0x1p+500L, 0}, d = reciprocal(b), h = d;
    for (int k = 1; k < 1000; k++) {
        const wide a = -(wide)(2 * k - 1) * (2 * k);
        b.re += 4;
        d = reciprocal((pair){a * d.re + b.re, a * d.im + b.im});
        const pair over = reciprocal(c);
        c = (pair){b.re + a * over.re, b.im + a * over.im};
        const pair step = times(c, d);
        h = times(h, step);
        if (fabsl(step.re - 1) + fabsl(step.im) < TINY) break;
    }
    h = times(times(h, (pair){x, -x}), (pair){turned_square(x, 1), turned_square(x, 0)});
    h = times((pair){0.5L, 0.5L}, (pair){1 - h.re, -h.im});
    return odd ? h.im : h.re;
}

/* ---- Dawson's integral ------------------------------------------------------------------------------------------- */

/* The kth derivative of the power series, whose terms are (-2)^j / (2j + 1)!! x^(2j + 1). */
static wide dawson_near(wide x, int64_t k) {
    const int64_t first = k / 2; /* those before have none */
    wide factor = 1, power = k & 1 ? 1 : x, sum = 0;
    for (int64_t j = 1; j <= first; j++) factor *= -2 / (wide)(2 * j + 1);
    for (int64_t j = first; j < 40 + k; j++) {
        wide term = factor * power;
        for (int64_t i = 0; i < k; i++) term *= (wide)(2 * j + 1 - i);
        sum += term;
        if (fabsl(term) < fabsl(sum) * TINY) break;
        factor *= -2 / (wide)(2 * j + 3);
        power *= x * x;
    }
    return sum;
}

/* The real part of value/(u - i a)^n. */
static wide share_of_line(pair value, wide u, wide a, int64_t n) {
    const wide inverse = 1 / (u * u + a * a);
    pair power = {u * inverse, a * inverse};
    for (; n > 1; n >>= 1) {
        if (n & 1) value = times(value, power);
        power = times(power, power);
    }
    return value.re * power.re - value.im * power.im;
}

/* F(x) is the real part of the integral of exp(-z^2)/(x - z) along a line above the real axis, over 2 sqrt(pi), so that
 * the kth derivative has (-1)^k k!/(x - z)^(k + 1) in the place of 1/(x - z): nothing cancels but exp(a^2), which the
 * height a of the line brings in. The error of the trapezoidal rule is exp(-2 pi a/h) times what is at the pole, which
 * derivatives raise where x is small beside their order; there the line is higher (Matta and Reichel, On the evaluation
 * of the error function for complex arguments, 1971). From one point to the next the ratio of exp(-z^2) changes by a
 * constant factor. */
static wide dawson_between(wide x, int64_t k) {
    enum { LEFT = 34 };                                     /* points left of 0 that count */
    const wide h = 0.2L, change = 0.923116346386635782908L; /* exp(-2 h^2) */
    const wide a = x * x > 3 * (wide)k ? 2 : fmaxl(2, sqrtl((wide)(k + 1) / 2));
    const pair turn = {cosl(2 * a * h), -sinl(2 * a * h)};
    const int right = (int)(sqrtl(47 + x * x) / h);
    pair value = {expl(a * a), 0};
    wide ratio = 0.960789439152323209438L, sum = 0; /* exp(-h^2) */
    for (int n = 0; n <= right; n++) {
        sum += share_of_line(value, x - n * h, a, k + 1);
        if (n > 0 && n <= LEFT) sum += share_of_line((pair){value.re, -value.im}, x + n * h, a, k + 1);
        value = times(value, (pair){ratio * turn.re, ratio * turn.im});
        ratio *= change;
    }
    for (int64_t i = 1; i <= k; i++) sum *= -(wide)i;
    return sum * h * 0.282094791773878143474039725780386293L; /* 1/(2 sqrt(pi)) */
}

/* The kth derivative for x >= 0. Below 1 the power series; from 7 on the asymptotic one (A&S 7.1.23 turned), for higher
 * derivatives later, since its least term grows with them; between the two an integral along a line. */
static wide dawson(wide x, int64_t k) {
    wide sum = 0;
    if (isinf(x)) return 0;
    if (x < 1) return dawson_near(x, k);
    if (x < 7 + 0.25L * (wide)k) return dawson_between(x, k);
    wide term = 0.5L / x;
    for (int64_t i = 1; i <= k; i++) term *= -(wide)i / x;
    for (int m = 1; m < 50 && fabsl(term) > fabsl(sum) * TINY; m++) {
        sum += term;
        const wide odd = (wide)(2 * m - 1), rise = (odd + (wide)k) * (odd + 1 + (wide)k) / (odd * (odd + 1));
        term *= odd / (2 * x * x) * rise;
    }
    return sum;
}

/* ---- Spence's function ------------------------------------------------------------------------------------------- */

/* Li2(z) for 0 <= z <= 1/2. */
static wide dilogarithm(wide z) {
    wide power = 1, sum = 0;
    for (int k = 1; k < 80; k++) {
        power *= z;
        sum += power / ((wide)k * k);
    }
    return sum;
}

/* The integral of log(t)/(1 - t) from 1 to x, which is Li2(1 - x), brought to [0, 1/2] by A&S 27.7.4 and 27.7.5. */
static wide spence(wide x) {
    const wide sixth = PI * PI / 6;
    if (x < 0) return NAN;
    if (x == 0) return sixth;
    if (isinf(x)) return -INFINITY;
    const wide l = logl(x);
    if (x < 0.5L) return sixth - l * log1pl(-x) - dilogarithm(x);
    if (x <= 1) return dilogarithm(1 - x);
    if (x <= 2) return -0.5L * l * l - dilogarithm((x - 1) / x);
    return -sixth - 0.5L * l * l - l * log1pl(-1 / x) + dilogarithm(1 / x);
}

/* The kth derivative, k >= 1: of log(x)/(1 - x) the series in x - 1 where that is small, else by
 * (1 - x) g_k = log_k + k g_(k-1), with log_k the kth derivative of log(x). */
static wide spence_slope(wide x, int64_t k) {
    if (x < 0) return NAN;
    if (x == 0) return k & 1 ? -(wide)INFINITY : (wide)INFINITY; /* of log_k, which outgrows the rest */
    const wide u = x - 1;
    if (fabsl(u) < 0.25L) {
        wide power = k & 1 ? -1 : 1, sum = 0; /* (-1)^(n+1) u^(n-k+1) */
        for (int64_t n = k - 1; n < k + 60; n++) {
            wide term = power / (wide)(n + 1);
            for (int64_t i = 0; i < k - 1; i++) term *= (wide)(n - i);
            sum += term;
            power *= -u;
        }
        return sum;
    }
    if (isinf(x)) return 0;
    wide of_log = 1 / x, value = -logl(x) / u;
    for (int64_t i = 1; i < k; i++) {
        value = -(of_log + (wide)i * value) / u;
        of_log *= -(wide)i / x;
    }
    return value;
}

/* ---- exprel ------------------------------------------------------------------------------------------------------ */

/* The kth derivative of (exp(x) - 1)/x, the integral of t^k exp(x t) over [0, 1]: a series of terms of one sign, for
 * x < 0 with exp(x) taken out; far out by parts, x f_k = exp(x) - k f_(k-1), where that loses nothing. */
lam__wide lam__special_exprel(lam__wide x, int64_t k) {
    if (isinf(x)) return x < 0 ? 0 : x;
    if (fabsl(x) < (wide)(40 + 2 * k)) {
        wide term = 1 / (wide)(k + 1), sum = 0;
        for (int64_t j = 1; term > TINY * sum; j++) {
            sum += term;
            term *= x < 0 ? -x / (wide)(k + 1 + j) : x * (wide)(k + j) / ((wide)j * (wide)(k + 1 + j));
        }
        return x < 0 ? sum * expl(x) : sum;
    }
    wide e = expl(x), value = (e - 1) / x;
    if (isinf(e)) return e;
    for (int64_t i = 1; i <= k; i++) value = (e - (wide)i * value) / x;
    return value;
}

/* ---- Lambert's W ------------------------------------------------------------------------------------------------- */

/* 1 + W(x) where that is small: q > 0 with the sum of (k - 1)/k! q^k over k >= 2, which is (q - 1) exp(q) + 1, equal to
 * 1 + e x. The latter is made of e in two parts, since most of it cancels next to the branch point; Newton's method
 * comes from the right and cannot pass the zero of a convex function. */
static wide lambert_branch(wide x) {
    const wide e = 0xadf85458a2bb4a9bp-62L, rest = -6.788063664127784117e-20L;
    const wide product = e * x, lost = fmal(e, x, -product) + rest * x, rise = (1 + product) + lost;
    if (rise <= 0) return rise == 0 || x >= -0x1.78b56362cef38p-2L ? 0 : (wide)NAN;
    wide q = sqrtl(2 * rise);
    for (int i = 0; i < 30; i++) {
        wide power = q, value = 0, factorial = 1;
        for (int k = 2; k < 40; k++) {
            power *= q;
            factorial *= k;
            value += (wide)(k - 1) * power / factorial;
        }
        const wide step = (value - rise) / (q * expl(q));
        q -= step;
        if (fabsl(step) < 0x1p-66L * q) break;
    }
    return q;
}

/* W(x) right of that: near 0 from x, far out from two logarithms; Halley's method on w exp(w) - x, all of it divided by
 * exp(w), which would overflow. */
static wide lambert_right(wide x) {
    wide w = x < 3 ? x / (1 + x) : logl(x) - logl(logl(x));
    for (int i = 0; i < 40; i++) {
        const wide gap = w - x * expl(-w), step = gap / (1 + w - (2 + w) * gap / (2 * (1 + w)));
        w -= step;
        if (fabsl(step) <= 0x1p-64L * fabsl(w)) break;
    }
    return w;
}

/* W(x), or its derivative exp(-W)/(1 + W) = W/(x (1 + W)): by the form that loses nothing. */
static wide lambert(wide x, int64_t slope) {
    if (x == 0) return slope ? 1 : x;
    if (isinf(x)) return x < 0 ? (wide)NAN : slope ? 0 : x;
    const bool near = x < -0.2L;
    const wide q = near ? lambert_branch(x) : 1 + lambert_right(x), w = near ? q - 1 : lambert_right(x);
    return !slope ? w : x > 1 ? w / (x * q) : expl(-w) / q;
}

/* ---- all of them ------------------------------------------------------------------------------------------------- */

/* Odd functions by their right half. */
static wide odd(wide f(wide), wide x) {
    return x < 0 ? -f(-x) : f(x);
}

/* The slope of Ei, which grows without bound. */
static wide expi_slope(wide x) {
    return x == INFINITY ? x : expl(x) / x;
}

/* Parity of derivatives alternates. */
static wide dawson_anywhere(wide x, int64_t k) {
    return x < 0 && !(k & 1) ? -dawson(-x, k) : dawson(fabsl(x), k);
}

double lam__special_integrals(double x, int64_t code) {
    const int64_t order = code >> 4;
    if (isnan(x)) return x;
    switch ((enum lam__integral)(code & 15)) {
    case LAM__EXPN: return (double)expn(order, x);
    case LAM__EXPI: return (double)(order ? expi_slope(x) : expi(x));
    case LAM__SIN_INT: return (double)(x == 0 && !order ? x : order ? sinc(x, order - 1) : odd(sine_integral, x));
    case LAM__COS_INT: return (double)cosine_integral(fabsl((wide)x));
    case LAM__SIN_FRES: return (double)(order ? turned_square(x, 0) : copysignl(fresnel(fabsl((wide)x), 1), x));
    case LAM__COS_FRES: return (double)(order ? turned_square(x, 1) : copysignl(fresnel(fabsl((wide)x), 0), x));
    case LAM__DAWSON: return (double)(x == 0 && !order ? x : dawson_anywhere(x, order));
    case LAM__SPENCE: return (double)(order ? spence_slope(x, order) : spence(x));
    case LAM__LAMBERT: return (double)lambert(x, order);
    case LAM__EXPREL: return (double)lam__special_exprel(x, order);
    case LAM__GAMMA: return (double)tgammal(x);
    case LAM__BESSEL_J: return (double)lam__special_bessel_j(x, order);
    }
    return NAN;
}
