/* Hypergeometric functions: series where they keep their digits, Kummer's and Pfaff's transformations to bring x there,
 * and from 1/2 on towards 1 the differential equation, followed by Taylor series that each halve what is left; none of
 * them knows exceptional differences of parameters. Derivatives by parameters come of the same steps on jets: numbers
 * with their Taylor coefficients by a, b and c up to the second order. Every series knows what it has lost to
 * cancellation, and the better one of two is taken.
 * Source: NIST Handbook of Mathematical Functions, 13.2 and 15.2, 15.8, 15.10; Pearson, Olver and Porter, Numerical
 * methods for the computation of the confluent and Gauss hypergeometric functions, 2017. */
#include "lib/kernels/special/hyper.h"

#include "lib/kernels/simd/vector.h"
#include "lib/kernels/special/hyper_twice.h"
#include "lib/kernels/special/special.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>

typedef lam__wide wide;

enum { JET = LAM__HYPER_JET, TERMS = 40000 };
#define FARTHEST   10000.0L /* of operands */
#define LEAST_LEFT 0x1p-44L /* of a result beside the largest term: 2^20 of long double's 2^64 are left */
#define MUCH_LEFT  0x1p-9L  /* the same, of what is as good as f64 */

typedef lam__hyper_jet jet;
typedef lam__hyper_sum result;

ALWAYS_INLINE jet number(wide x) {
    return (jet){{x}};
}

static jet variable(wide x, int which) {
    jet y = {{x}};
    y.x[1 + which] = 1;
    return y;
}

ALWAYS_INLINE jet sum(int live, jet a, jet b, wide by) {
    for (int k = 0; k < live; k++) a.x[k] += by * b.x[k];
    return a;
}

ALWAYS_INLINE jet shifted(jet a, wide by) {
    a.x[0] += by;
    return a;
}

ALWAYS_INLINE jet scaled(int live, jet a, wide by) {
    for (int k = 0; k < live; k++) a.x[k] *= by;
    return a;
}

ALWAYS_INLINE jet product(int live, jet a, jet b) {
    jet y = number(a.x[0] * b.x[0]);
    for (int k = 1; k < live; k++) y.x[k] = a.x[0] * b.x[k] + a.x[k] * b.x[0];
    for (int k = 4; k < live; k++) {
        const int i = lam__hyper_pairs[k - 4].i, j = lam__hyper_pairs[k - 4].j;
        y.x[k] += a.x[i] * b.x[j] + (i == j ? 0 : a.x[j] * b.x[i]);
    }
    return y;
}

/* f of a jet from f, f' and f'' / 2 at its value. */
ALWAYS_INLINE jet function(int live, jet a, wide f, wide first, wide second) {
    jet off = a, y;
    off.x[0] = 0;
    y = sum(live, number(f), off, first);
    return live > 4 ? sum(live, y, product(live, off, off), second) : y;
}

ALWAYS_INLINE jet reciprocal(int live, jet a) {
    const wide r = 1 / a.x[0];
    return function(live, a, r, -r * r, r * r * r);
}

static jet exponential(int live, jet a) {
    const wide e = expl(a.x[0]);
    return function(live, a, e, e, e / 2);
}

ALWAYS_INLINE wide size_of(int live, jet a) {
    wide size = 0;
    for (int k = 0; k < live; k++) size += fabsl(a.x[k]);
    return size;
}

static result none(void) {
    return (result){number(NAN), 0, 0, INFINITY};
}

/* A sum of which nothing is known but the sizes of jets. */
static result known(jet value, wide left, wide largest) {
    return (result){value, left, left, largest};
}

static result better(result a, result b) {
    return b.left > a.left ? b : a;
}

/* The same where the coefficients of a jet are looked at one by one. */
static result finer(result a, result b) {
    return b.least > a.least ? b : a;
}

/* Whether the factors p + n of a series reach 0, so that it ends; p is no jet then. */
static bool ends(wide p) {
    return p <= 0 && p == floorl(p);
}

/* What is left of the digits of the coefficient that has lost most. */
ALWAYS_INLINE wide least_left(int live, jet total, jet peak) {
    wide least = 1;
    for (int k = 0; k < live; k++)
        if (peak.x[k] > 0) least = fminl(least, fabsl(total.x[k]) / peak.x[k]);
    return least;
}

/* As fmaxl, which is a call, of what is no NaN. */
ALWAYS_INLINE wide larger(wide a, wide b) {
    return a > b ? a : b;
}

/* The sum of products of (top_i + n) / (bottom + n) x / (n + 1). Parameters that the series has not are NULL. `live` is
 * a constant here, so that jets are as many registers as are alive, and not memory that is copied. */
ALWAYS_INLINE result series_of(int live, const jet *top, const jet *other, jet bottom, wide x) {
    jet term = number(1), total = term, peak = term;
    wide largest = 1;
    int small = 0;
    for (int n = 0; n < TERMS; n++) {
        jet factor = product(live, shifted(*top, n), reciprocal(live, shifted(bottom, n)));
        if (other) factor = product(live, factor, shifted(*other, n));
        term = scaled(live, product(live, term, factor), x / (n + 1));
        total = sum(live, total, term, 1);
        const wide size = size_of(live, term), all = size_of(live, total);
        if (!(size < INFINITY)) return none();
        for (int k = 0; k < live; k++) peak.x[k] = larger(peak.x[k], fabsl(term.x[k]));
        largest = larger(largest, size);
        small = size <= LDBL_EPSILON / 16 * all ? small + 1 : 0;
        if (small >= 3 && n > 2) return (result){total, all / largest, least_left(live, total, peak), largest};
    }
    return none();
}

static result series(int live, const jet *top, const jet *other, jet bottom, wide x) {
    if (live == 1) return other ? series_of(1, top, other, bottom, x) : series_of(1, top, NULL, bottom, x);
    return live == 4 ? series_of(4, top, other, bottom, x) : series_of(JET, top, other, bottom, x);
}

/* ---- 1F1 --------------------------------------------------------------------------------------------------------- */

/* 1F1(a; b; x) = exp(x) 1F1(b - a; b; -x): for one sign of x or the other the terms have one sign, mostly. */
static result confluent(int live, jet a, jet b, wide x) {
    result own = series(live, &a, NULL, b, x);
    if (own.least > 0.25L) return own;
    jet rest = sum(live, b, a, -1);
    result turned = series(live, &rest, NULL, b, -x);
    turned.value = scaled(live, turned.value, expl(x));
    turned.largest *= expl(x);
    const result best = finer(own, turned);
    return best.least > MUCH_LEFT ? best : finer(best, lam__hyper_twice_1f1(live, &a, &b, (double)x));
}

/* ---- 2F1 --------------------------------------------------------------------------------------------------------- */

/* The function and its slope at z, 1 - z being u, and what is left of the digits of both together: one of them may be
 * 0 on the way. */
typedef struct point {
    jet value, slope;
    wide z, u, left;
} point;

ALWAYS_INLINE wide size_at(int live, const point *at) {
    return size_of(live, at->value) + at->u * size_of(live, at->slope);
}

/* One Taylor series of the solution of z (1 - z) F'' + (c - (a + b + 1) z) F' = a b F, to where 1 - z is `u`. With p =
 * z (1 - z), q = c - (a + b + 1) z: (k + 2) (k + 1) p f_(k+2) = (k + a) (k + b) f_k - (k + 1) (k (1 - 2 z) + q)
 * f_(k+1). */
ALWAYS_INLINE void step_of(int live, jet a, jet b, jet c, point *at, wide u) {
    const wide h = at->u - u, p = at->z * at->u;
    const jet q = sum(live, c, shifted(sum(live, a, b, 1), 1), -at->z);
    jet older = at->value, old = at->slope, value = sum(live, older, old, h), slope = old;
    wide power = h, largest = larger(size_of(live, older), size_of(live, old) * fabsl(h));
    int small = 0;
    for (int k = 0; k < TERMS && small < 3; k++) {
        jet next = product(live, product(live, shifted(a, k), shifted(b, k)), older);
        jet back = product(live, shifted(q, k * (1 - 2 * at->z)), old);
        next = scaled(live, sum(live, next, back, -(k + 1)), 1 / ((wide)(k + 2) * (k + 1) * p));
        slope = sum(live, slope, next, (k + 2) * power);
        power *= h;
        value = sum(live, value, next, power);
        const wide size = size_of(live, next) * fabsl(power);
        largest = larger(largest, size);
        small = size * (k + 2) <= LDBL_EPSILON / 16 * (size_of(live, value) + h * size_of(live, slope)) ? small + 1 : 0;
        if (!(size < INFINITY)) break;
        older = old, old = next;
    }
    const wide before = at->left;
    *at = (point){value, slope, 1 - u, u, 0};
    if (small >= 3) at->left = fminl(before, size_at(live, at) / largest);
}

static void step(int live, jet a, jet b, jet c, point *at, wide u) {
    if (live == 1) step_of(1, a, b, c, at, u);
    else if (live == 4) step_of(4, a, b, c, at, u);
    else step_of(JET, a, b, c, at, u);
}

/* For 0 <= z < 1, given with u = 1 - z. */
static result inside(int live, jet a, jet b, jet c, wide z, wide u) {
    if (z <= 0.5L) return series(live, &a, &b, c, z);
    const jet a1 = shifted(a, 1), b1 = shifted(b, 1), c1 = shifted(c, 1);
    const result value = series(live, &a, &b, c, 0.5L), slope = series(live, &a1, &b1, c1, 0.5L);
    const jet factor = product(live, product(live, a, b), reciprocal(live, c));
    point at = {value.value, product(live, factor, slope.value), 0.5L, 0.5L, 0};
    const wide largest = fmaxl(value.largest, size_of(live, factor) * slope.largest / 2);
    at.left = size_at(live, &at) / largest;
    while (at.u > u && at.left > 0) step(live, a, b, c, &at, fmaxl(u, at.u / 2));
    if (!(at.left > 0)) return none();
    const wide all = size_at(live, &at) / at.left;
    return known(at.value, size_of(live, at.value) / all, all);
}

/* (1 - z)^by 2F1(a, b; c; z) */
static result times_power(int live, jet a, jet b, jet c, wide z, wide u, jet by) {
    result r = inside(live, a, b, c, z, u);
    const jet power = exponential(live, scaled(live, by, logl(u)));
    r.value = product(live, power, r.value);
    r.largest *= fabsl(power.x[0]);
    return r;
}

/* The better of two ways to one number. Errors that steps have made of each other show in no sum; they do in what is
 * between the two. */
static result agreed(int live, result a, result b) {
    result r = better(a, b);
    if (!(a.largest < INFINITY) || !(b.largest < INFINITY)) return r;
    const wide off = size_of(live, sum(live, a.value, b.value, -1)), size = size_of(live, r.value);
    r.largest = fmaxl(r.largest, off / LDBL_EPSILON);
    if (off > 0) r.left = fminl(r.left, LDBL_EPSILON * size / off);
    for (int k = 0; k < live; k++) {
        const wide apart = fabsl(a.value.x[k] - b.value.x[k]);
        if (apart > 0) r.least = fminl(r.least, LDBL_EPSILON * fabsl(r.value.x[k]) / apart);
    }
    return r;
}

/* For x < 0 by z = x / (x - 1), 1 - z = 1 / (1 - x): (1 - z)^a 2F1(a, c - b; c; z), or with a and b exchanged. For x
 * from 0 on the function itself, or (1 - x)^(c - a - b) 2F1(c - a, c - b; c; x). */
static result two_ways(int live, jet a, jet b, jet c, wide x) {
    const jet over_a = sum(live, c, a, -1), over_b = sum(live, c, b, -1);
    if (x < 0) {
        const wide z = x / (x - 1), u = 1 / (1 - x);
        return agreed(live, times_power(live, a, over_b, c, z, u, a), times_power(live, over_a, b, c, z, u, b));
    }
    return agreed(live, inside(live, a, b, c, x, 1 - x),
                  times_power(live, over_a, over_b, c, x, 1 - x, sum(live, over_a, b, -1)));
}

/* Gamma(c) Gamma(c - a - b) / (Gamma(c - a) Gamma(c - b)) at x = 1. */
static wide at_one(wide a, wide b, wide c) {
    if (!(c - a - b > 0)) return INFINITY;
    if (ends(c - a) || ends(c - b)) return 0;
    return tgammal(c) / tgammal(c - a) * (tgammal(c - a - b) / tgammal(c - b));
}

/* Whether no derivative is taken by it. */
static bool constant(int live, jet a) {
    return live == 1 || (a.x[1] == 0 && a.x[2] == 0 && a.x[3] == 0);
}

/* The series itself near 0 and where it ends, at 1 the limit, elsewhere by one of the two ways of continuing it. Where
 * the series keeps few digits, the better of both counts. */
static result gauss_once(int live, jet a, jet b, jet c, wide x) {
    const bool finite = (ends(a.x[0]) && constant(live, a)) || (ends(b.x[0]) && constant(live, b));
    if (x == 1 && !finite) return live == 1 ? known(number(at_one(a.x[0], b.x[0], c.x[0])), 1, 1) : none();
    if (x > 1 && !finite) return none();
    if (finite || fabsl(x) <= 0.5L) {
        result own = series(live, &a, &b, c, x);
        if (own.least > 0.25L || x > 1) return own;
        return finer(own, two_ways(live, a, b, c, x));
    }
    return two_ways(live, a, b, c, x);
}

static result gauss(int live, jet a, jet b, jet c, wide x) {
    const result own = gauss_once(live, a, b, c, x);
    if (own.least > MUCH_LEFT || x > 0.98L || x < -50) return own; /* of too many terms */
    return finer(own, lam__hyper_twice_2f1(live, &a, &b, &c, (double)x));
}

/* ---- what is asked for ------------------------------------------------------------------------------------------- */

/* The coefficient that this order belongs to, times its factorials. */
static wide derivative(jet y, const int by[]) {
    const int all = by[0] + by[1] + by[2];
    for (int k = 0; all == 1 && k < 3; k++)
        if (by[k]) return y.x[1 + k];
    for (int k = 0; all == 2 && k < 6; k++) {
        const int i = lam__hyper_pairs[k].i - 1, j = lam__hyper_pairs[k].j - 1;
        if (i == j ? by[i] == 2 : by[i] && by[j]) return y.x[4 + k] * (i == j ? 2 : 1);
    }
    return y.x[0];
}

/* Derivatives by x move all parameters up: d/dx F = a b / c F(a + 1, b + 1; c + 1). `factor` is what stands before. */
static result moved(int live, int count, const jet p[], double x, int by_x, jet *factor) {
    jet y[LAM__HYPER_PARAMETERS];
    for (int i = 0; i < count; i++) y[i] = p[i];
    *factor = number(1);
    for (int k = 0; k < by_x; k++)
        for (int i = 0; i < count; i++) {
            *factor = product(live, *factor, i == count - 1 ? reciprocal(live, y[i]) : y[i]);
            y[i] = shifted(y[i], 1);
        }
    return count == 2 ? confluent(live, y[0], y[1], x) : gauss(live, y[0], y[1], y[2], x);
}

/* Whether a result with few digits is one next to a zero, whose error is small beside what x moves it by. */
static bool is_near_zero(int live, int count, const jet p[], double x, int by_x, jet factor, result r) {
    jet further;
    const result slope = moved(live, count, p, x, by_x + 1, &further);
    const wide moves = fabsl(x) * size_of(live, product(live, further, slope.value));
    return slope.left > LEAST_LEFT && moves > LEAST_LEFT * size_of(live, factor) * r.largest;
}

/* p: a, b, c or a, c. */
static double hyper(int count, const double p[], double x, lam__hyper_order order) {
    const int all = order.by[0] + order.by[1] + order.by[2], live = all == 0 ? 1 : all == 1 ? 4 : JET;
    jet y[LAM__HYPER_PARAMETERS], factor;
    if (all > LAM__HYPER_ORDERS || !(fabs(x) <= FARTHEST || (count == 3 && x < 0 && isfinite(x)))) return NAN;
    for (int i = 0; i < count; i++) {
        if (!(fabs(p[i]) <= FARTHEST)) return NAN;
        y[i] = order.by[i] ? variable(p[i], i) : number(p[i]);
    }
    if (ends(p[count - 1])) return NAN;
    const result r = moved(live, count, y, x, order.by_x, &factor);
    if (!(r.left > LEAST_LEFT) && !is_near_zero(live, count, y, x, order.by_x, factor, r)) return NAN;
    return (double)derivative(product(live, factor, r.value), order.by);
}

double lam__special_hyp1f1(double a, double b, double x, lam__hyper_order order) {
    return hyper(2, (double[]){a, b}, x, order);
}

double lam__special_hyp2f1(double a, double b, double c, double x, lam__hyper_order order) {
    return hyper(3, (double[]){a, b, c}, x, order);
}
