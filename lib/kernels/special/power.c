/* Derivatives of powers, Box and Cox's function, logarithms times a number or of a ratio, and slopes of distances and
 * angles, one number at a time in long double, whose range on x86-64 holds every power and square that is met on the
 * way. */
#include "lib/kernels/special/special.h"

#include <math.h>
#include <stdbool.h>

typedef lam__wide wide;

/* ---- derivatives of x^y ------------------------------------------------------------------------------------------ */

/* The factor of x^(y - n): by y that of x^y is log(x)^m, and each derivative by x multiplies with y - j, of which that
 * of order k by y has k times the one before. */
static wide factor_of_power(wide log, wide y, int64_t n, int m) {
    wide c[LAM__POWER_ORDERS + 1] = {1};
    for (int k = 1; k <= m; k++) c[k] = c[k - 1] * log;
    for (int64_t j = 0; j < n; j++) {
        for (int k = m; k > 0; k--) c[k] = c[k] * (y - (wide)j) + k * c[k - 1];
        c[0] *= y - (wide)j;
    }
    return c[m];
}

/* At x = 0, from the right: nothing above the n-th power; below, the highest power of log x that counts. */
static wide slope_at_zero(wide y, int64_t n, int m) {
    if (y > (wide)n || (n == 0 && y == 0 && m > 0)) return 0;
    if (n == 0 && m > 0) return NAN; /* no value of log(0) times an infinite power is agreed on */
    wide c = factor_of_power(0, y, n, 0), powers = m;
    if (c == 0 && m > 0) { /* y is one of the n whole numbers: the derivative of their product counts */
        c = factor_of_power(0, y, n, 1);
        powers = m - 1;
    }
    if (powers > 0) return (m > 0 && fmodl(powers, 2) == 1 ? -c : c) * INFINITY;
    return c == 0 || y == (wide)n ? c : c * INFINITY;
}

/* (-1)^(y - n), NaN unless y is whole; 1 for an infinite y, as pow has it. */
static wide sign_of_power(wide y, int64_t n) {
    if (isinf(y)) return 1;
    if (y != floorl(y)) return NAN;
    return fmodl(fabsl(y), 2) == (n & 1) ? 1 : -1;
}

/* Where the power vanishes so does its product with the factor, however large that is. */
static wide slope_of_size(wide size, wide y, int64_t n, int m) {
    wide power = powl(size, y - (wide)n), c = factor_of_power(logl(size), y, n, m);
    return (power == 0 && !isnan(c)) || c == 0 ? 0 : c * power;
}

double lam__special_pow_slope(double x, double y, int64_t code) {
    const int64_t n = code >> 6;
    const int m = (int)(code & 63);
    if (isnan(x) || isnan(y) || m > LAM__POWER_ORDERS) return NAN;
    if (x > 0) return (double)slope_of_size(x, y, n, m);
    if (m > 0) return x < 0 ? NAN : (double)slope_at_zero(y, n, m);
    const bool whole = y == floor(y), positive = !signbit(x) || (!whole && (x == 0 || isinf(x))); /* as pow has it */
    wide sign = positive ? 1 : sign_of_power(y, n);
    return (double)(sign * (x == 0 ? slope_at_zero(y, n, 0) : slope_of_size(-(wide)x, y, n, 0)));
}

/* ---- Box and Cox's function -------------------------------------------------------------------------------------- */

/* The mth derivative by y where x^y is 0 or infinite: that of -1/y, or nothing where the function is infinite. */
static wide box_at_end(wide log, wide y, int m) {
    if (y == 0 || (y > 0) == (log > 0)) return m == 0 ? log : 0;
    wide r = -1 / y;
    for (int k = 1; k <= m; k++) r *= -(wide)k / y;
    return r;
}

/* The nth derivative by base and the mth by w of base^w, where that is 0 or infinite. */
static wide power_at_end(wide log, wide w, int64_t n, int m) {
    if (log > 0) return w < (wide)n ? 0 : w == (wide)n && m == 0 ? factor_of_power(0, w, n, 0) : INFINITY;
    if (n > 0) return slope_at_zero(w, n, m);
    return w > 0 ? 0 : w == 0 && m == 0 ? 1 : m % 2 == 1 ? -INFINITY : INFINITY;
}

static wide power_of_log(wide log, wide w, int64_t n, int m) {
    const wide c = factor_of_power(log, w, n, m), power = log == 0 ? 1 : expl((w - (wide)n) * log);
    return (power == 0 && !isnan(c)) || c == 0 ? 0 : c * power;
}

/* For l = log(x) it is l exprel(y l), whose mth derivative by y is l^(m+1) times that of exprel; by x it is x^(y-1). */
double lam__special_box_cox(double x, double y, int64_t code) {
    const int64_t n = code >> 7;
    const int m = (int)(code >> 1 & 63);
    const wide log = code & 1 ? log1pl(x) : logl(x == 0 ? 0 : x);
    if (isnan(x) || isnan(y) || isnan(log) || m > LAM__POWER_ORDERS) return NAN;
    if (n > 0) return (double)(isinf(log) ? power_at_end : power_of_log)(log, (wide)y - 1, n - 1, m);
    if (isinf(log)) return (double)box_at_end(log, y, m);
    if (log == 0) return m == 0 ? (double)log : 0;
    wide r = lam__special_exprel(y * log, m);
    for (int k = 0; k <= m; k++) r *= log;
    return (double)r;
}

/* ---- logarithms -------------------------------------------------------------------------------------------------- */

static wide log_ratio(double x, double y) {
    wide ratio = (wide)x / y;
    return ratio > 0.5L && ratio < 2 ? log1pl(((wide)x - y) / y) : logl(ratio);
}

double lam__special_log_ratio(double x, double y) {
    return (double)log_ratio(x, y);
}

double lam__special_xlogy(double x, double y) {
    return x == 0 && !isnan(y) ? 0 : (double)(x * logl(y));
}

double lam__special_xlog1py(double x, double y) {
    return x == 0 && !isnan(y) ? 0 : (double)(x * log1pl(y));
}

double lam__special_rel_entr(double x, double y) {
    if (isnan(x) || isnan(y)) return NAN;
    if (x < 0 || y < 0 || (y == 0 && x > 0)) return INFINITY;
    return x == 0 ? 0 : (double)(x * log_ratio(x, y));
}

/* Next to its zero the sum would cancel. */
double lam__special_rel_entr_slope(double x, double y) {
    const wide e = 2.718281828459045235360287471352662498L;
    if ((x <= 0 || y <= 0) && !isnan(x) && !isnan(y)) return 0;
    return (double)logl(e * x / y);
}

/* ---- hypot, atan2 ------------------------------------------------------------------------------------------------ */

double lam__special_hypot_slope(double x, double y) {
    if (x == 0 && y == 0) return x;
    if (isinf(x) && isfinite(y)) return copysign(1, x);
    return (double)(x / hypotl(x, y));
}

/* The real part of 1/z, z = x + i y, whose derivatives by x are -1 (-2) ... (-n) z^-(n+1); by y there is an i more. The
 * powers of 1/z = c - i s are the imaginary and real parts below. */
double lam__special_atan2_slope(double x, double y, int64_t code) {
    if ((isinf(x) && !isnan(y)) || (isinf(y) && !isnan(x))) return 0;
    const int64_t n = (code >> 6) + (code & 63);
    const wide square = (wide)x * x + (wide)y * y, c = x / square, s = y / square;
    wide real = c, imaginary = -s, factor = 1;
    for (int64_t k = 1; k <= n; k++) {
        const wide next = real * c + imaginary * s;
        imaginary = imaginary * c - real * s;
        real = next;
        factor *= -(wide)k;
    }
    return (double)(factor * (code & 63 ? -imaginary : real));
}
