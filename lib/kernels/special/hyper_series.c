/* Hypergeometric functions: series where they keep their digits, Kummer's and Pfaff's transformations to bring x there,
 * and towards 1 series around 1, or where these cancel (c - a - b next to a whole number) the differential equation,
 * followed by Taylor series that each halve what is left. Derivatives by parameters come of the same steps on jets:
 * numbers with their Taylor coefficients by a, b and c up to the second order. Every series knows what it has lost to
 * cancellation; of two ways the better one is taken, and the second is not gone where the first is sound. Compiled
 * three times (hyper_jet.h).
 * Source: NIST Handbook of Mathematical Functions, 13.2 and 15.2, 15.8, 15.10; Pearson, Olver and Porter, Numerical
 * methods for the computation of the confluent and Gauss hypergeometric functions, 2017. */
#include "lib/kernels/simd/vector.h"
#include "lib/kernels/special/hyper.h"
#include "lib/kernels/special/hyper_twice.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>

typedef long double wide;

enum { LIVE = LAM__LIVE, TERMS = 40000 };
#define LEAST_LEFT  0x1p-44L /* of a result beside the largest term: 2^20 of long double's 2^64 are left */
#define MUCH_LEFT   0x1p-7L  /* the same, of what is as good as f64, since terms have errors of some dozen products */
#define FEW_LOST    0x1p-4L  /* the same, of what another way could better by hundredths of an ulp of f64 */
#define MANY_POWERS 64       /* of which digits are lost */
#define FEW_GAMMAS  50       /* up to which the gamma function loses few */

typedef lam__hyper_jet jet;
typedef lam__hyper_sum result;

ALWAYS_INLINE jet number(wide x) {
    return (jet){{x}};
}

static jet variable(wide x, int which) {
    jet y = {{x}};
    if (1 + which < LIVE) y.x[1 + which] = 1;
    return y;
}

ALWAYS_INLINE jet sum(jet a, jet b, wide by) {
    jet y = number(a.x[0] + by * b.x[0]);
    for (int k = 1; k < LIVE; k++) y.x[k] = a.x[k] + by * b.x[k];
    return y;
}

ALWAYS_INLINE jet shifted(jet a, wide by) {
    a.x[0] += by;
    return a;
}

ALWAYS_INLINE jet scaled(jet a, wide by) {
    jet y = number(a.x[0] * by);
    for (int k = 1; k < LIVE; k++) y.x[k] = a.x[k] * by;
    return y;
}

ALWAYS_INLINE jet product(jet a, jet b) {
    jet y = number(a.x[0] * b.x[0]);
    for (int k = 1; k < LIVE; k++) y.x[k] = a.x[0] * b.x[k] + a.x[k] * b.x[0];
    for (int k = 4; k < LIVE; k++) {
        const int i = lam__hyper_pairs[k - 4].i, j = lam__hyper_pairs[k - 4].j;
        y.x[k] += a.x[i] * b.x[j] + (i == j ? 0 : a.x[j] * b.x[i]);
    }
    return y;
}

/* f of a jet from f, f' and f'' / 2 at its value. */
ALWAYS_INLINE jet function(jet a, wide f, wide first, wide second) {
    jet y = number(f);
    for (int k = 1; k < LIVE; k++) y.x[k] = first * a.x[k];
    for (int k = 4; k < LIVE; k++) {
        const int i = lam__hyper_pairs[k - 4].i, j = lam__hyper_pairs[k - 4].j;
        y.x[k] += second * (i == j ? 1 : 2) * (a.x[i] * a.x[j]);
    }
    return y;
}

ALWAYS_INLINE jet reciprocal(jet a) {
    const wide r = 1 / a.x[0];
    return function(a, r, -r * r, r * r * r);
}

static jet exponential(jet a) {
    const wide e = expl(a.x[0]);
    return function(a, e, e, e / 2);
}

static jet sizes(jet a) {
    for (int k = 0; k < LIVE; k++) a.x[k] = fabsl(a.x[k]);
    return a;
}

ALWAYS_INLINE wide size_of(jet a) {
    wide size = 0;
    for (int k = 0; k < LIVE; k++) size += fabsl(a.x[k]);
    return size;
}

static result none(void) {
    return (result){number(NAN), 0, 0, INFINITY, false};
}

/* A sum of which nothing is known but the sizes of jets. */
static result known(jet value, wide left, wide largest) {
    return (result){value, left, left, largest, false};
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

static bool is_apart(wide p) {
    return fabsl(p - rintl(p)) > 0x1p-6L;
}

/* Whether p - q has no rounding, or one that nothing depends on: where it is next to 0 or a negative integer, what it
 * differs by is a factor of all further terms. */
static bool is_known(wide p, wide q) {
    const wide rest = p - q, part = rest - p;
    return (p - (rest - part)) - (q + part) == 0 || rest > 0.5L || is_apart(rest);
}

/* What is left of the digits of the coefficient that has lost most. */
ALWAYS_INLINE wide least_left(jet total, jet peak) {
    wide least = 1;
    for (int k = 0; k < LIVE; k++)
        if (peak.x[k] > 0) least = fminl(least, fabsl(total.x[k]) / peak.x[k]);
    return least;
}

/* As fmaxl, which is a call, of what is no NaN. */
ALWAYS_INLINE wide larger(wide a, wide b) {
    return a > b ? a : b;
}

/* by / (share a), by one division where there are no derivatives. */
ALWAYS_INLINE jet quotient(wide by, wide share, jet a) {
    const wide q = by / (share * a.x[0]), r = LIVE > 1 ? 1 / a.x[0] : 0;
    return function(a, q, -q * r, q * r * r);
}

/* The sum of products of (top_i + n) / (bottom + n) x / (n + 1). Parameters that the series has not are NULL, and so is
 * `rise`, which becomes x times the slope, where nobody asks. */
ALWAYS_INLINE result series_of(const jet *top, const jet *other, jet bottom, wide x, result *rise) {
    jet term = number(1), total = term, peak = term, climb = number(0);
    wide largest = 1, steepest = 0;
    const wide turns = larger(larger(2, -bottom.x[0]), larger(-top->x[0], other ? -other->x[0] : 0));
    int small = 0;
    for (int n = 0; n < TERMS; n++) {
        jet factor = product(shifted(*top, n), quotient(x, n + 1, shifted(bottom, n)));
        if (other) factor = product(factor, shifted(*other, n));
        term = product(term, factor);
        total = sum(total, term, 1);
        if (rise) climb = sum(climb, term, n + 1);
        const wide size = size_of(term), all = size_of(total), step = rise ? (n + 1) * size : size;
        if (!(size < INFINITY)) return none();
        largest = larger(largest, size);
        if (rise) steepest = larger(steepest, step);
        for (int k = 0; LIVE > 1 && k < LIVE; k++) peak.x[k] = larger(peak.x[k], fabsl(term.x[k]));
        small = step <= LDBL_EPSILON / 16 * all ? small + 1 : 0;
        /* Before all of the factors' signs are settled, and where they are above 1, terms that are small grow again. */
        if (small >= 3 && (size == 0 || (n > turns && fabsl(factor.x[0]) < 1))) {
            if (rise) *rise = known(climb, size_of(climb) / steepest, steepest);
            const wide left = all / largest, least = LIVE > 1 ? least_left(total, peak) : fminl(1, left);
            return (result){total, left, least, largest, least > FEW_LOST};
        }
    }
    return none();
}

static result series(const jet *top, const jet *other, jet bottom, wide x) {
    return other ? series_of(top, other, bottom, x, NULL) : series_of(top, NULL, bottom, x, NULL);
}

/* ---- 1F1 --------------------------------------------------------------------------------------------------------- */

/* 1F1(a; b; x), or exp(x) 1F1(b - a; b; -x). */
static result confluent_way(jet a, jet b, wide x, bool turned) {
    if (!turned) return series(&a, NULL, b, x);
    const jet rest = sum(b, a, -1);
    result r = series(&rest, NULL, b, -x);
    r.value = scaled(r.value, expl(x));
    r.largest *= expl(x);
    r.sound = r.sound && is_known(b.x[0], a.x[0]);
    return r;
}

/* For one sign of x or the other the terms have one sign, mostly: that way first. */
static result confluent(jet a, jet b, wide x) {
    const bool turned = a.x[0] * x < 0 && (b.x[0] - a.x[0]) * x <= 0;
    const result first = confluent_way(a, b, x, turned);
    if (first.sound) return first;
    const result best = finer(first, confluent_way(a, b, x, !turned));
    return best.least > MUCH_LEFT ? best : finer(best, LAM__HYPER(lam__hyper_twice_1f1_)(&a, &b, (double)x));
}

/* ---- 2F1 --------------------------------------------------------------------------------------------------------- */

/* The function and its slope at z, 1 - z being u, and what is left of the digits of both together: one of them may be
 * 0 on the way. */
typedef struct point {
    jet value, slope;
    wide z, u, left;
} point;

ALWAYS_INLINE wide size_at(const point *at) {
    return size_of(at->value) + at->u * size_of(at->slope);
}

/* One Taylor series of the solution of z (1 - z) F'' + (c - (a + b + 1) z) F' = a b F, to where 1 - z is `u`. With p =
 * z (1 - z), q = c - (a + b + 1) z: (k + 2) (k + 1) p f_(k+2) = (k + a) (k + b) f_k - (k + 1) (k (1 - 2 z) + q)
 * f_(k+1). Terms have the powers of the step h in them. */
static void step(jet a, jet b, jet c, point *at, wide u) {
    const wide h = at->u - u, p = at->z * at->u, square = h * h / p, turn = (1 - 2 * at->z) * h / p;
    const jet q = scaled(sum(c, shifted(sum(a, b, 1), 1), -at->z), h / p);
    jet older = at->value, old = scaled(at->slope, h), value = sum(older, old, 1), climb = old;
    wide largest = larger(size_of(older), size_of(old));
    int small = 0;
    for (int k = 0; k < TERMS && small < 3; k++) {
        const wide share = 1 / ((wide)(k + 2) * (k + 1));
        const jet next = scaled(product(product(shifted(a, k), shifted(b, k)), older), square * share);
        const jet back = product(shifted(q, k * turn), old);
        older = old, old = sum(next, back, -share * (k + 1));
        value = sum(value, old, 1);
        climb = sum(climb, old, k + 2);
        const wide size = size_of(old);
        largest = larger(largest, size);
        small = size * (k + 2) <= LDBL_EPSILON / 16 * (size_of(value) + size_of(climb)) ? small + 1 : 0;
        if (!(size < INFINITY)) break;
    }
    const wide before = at->left;
    *at = (point){value, scaled(climb, 1 / h), 1 - u, u, 0};
    if (small >= 3) at->left = fminl(before, size_at(at) / largest);
}

/* Whether errors stay what they are beside the function and its slope: where a b >= 0, the equation takes numbers that
 * are not negative to such again (where the slope would end, the second derivative is a b F / p), so that what is small
 * beside both at one place is so at the next. */
static bool is_growing(jet a, jet b, const point *at) {
    return LIVE == 1 && a.x[0] * b.x[0] >= 0 && at->value.x[0] * at->slope.x[0] >= 0;
}

/* Gamma(c) Gamma(s) / (Gamma(p) Gamma(q)) */
static wide gammas(wide c, wide s, wide p, wide q) {
    return ends(p) || ends(q) ? 0 : tgammal(c) / tgammal(p) * (tgammal(s) / tgammal(q));
}

/* Parameters, and c - a, c - b and c - a - b, which may be known better than by these differences; whether all are. */
typedef struct task {
    jet a, b, c, over_a, over_b;
    wide excess;
    bool known;
} task;

/* By series in u = 1 - z (15.8.4), whose sum cancels where c - a - b is next to a whole number. Of numbers for which
 * the gamma function has all of its digits. */
static result from_one(const task *t, wide u) {
    const wide a = t->a.x[0], b = t->b.x[0], c = t->c.x[0], over_a = t->over_a.x[0], over_b = t->over_b.x[0];
    const wide s = t->excess, most = larger(larger(fabsl(a), fabsl(b)), fabsl(c));
    if (!t->known || !(most < FEW_GAMMAS) || !is_apart(s)) return none();
    const result constant = series(&t->a, &t->b, number(1 - s), u);
    const result power = series(&t->over_a, &t->over_b, number(1 + s), u);
    const wide first = gammas(c, s, over_a, over_b) * constant.value.x[0];
    const wide second = gammas(c, -s, a, b) * powl(u, s) * power.value.x[0], all = fabsl(first) + fabsl(second);
    result r = known(number(first + second), fabsl(first + second) / all, all);
    r.sound = constant.sound && power.sound && r.left > FEW_LOST && all < INFINITY;
    return r;
}

/* For 0 <= z < 1, given with u = 1 - z: by series around the nearer end, up to 0.9 around 0, where its terms are hardly
 * more than those of steps; by steps where series lose more. */
static result inside(const task *t, wide z, wide u) {
    if (LIVE == 1 && z > 0.75L) {
        const result other = from_one(t, u);
        if (other.sound) return other;
    }
    if (z <= 0.9L) {
        const result own = series(&t->a, &t->b, t->c, z);
        if (own.sound || z <= 0.5L) return own;
    }
    result rise = none();
    const result value = series_of(&t->a, &t->b, t->c, 0.5L, &rise);
    point at = {value.value, scaled(rise.value, 2), 0.5L, 0.5L, 0};
    at.left = size_at(&at) / larger(value.largest, rise.largest);
    const bool grows = value.sound && rise.left > FEW_LOST && is_growing(t->a, t->b, &at);
    while (at.u > u && at.left > 0) step(t->a, t->b, t->c, &at, fmaxl(u, at.u / 2));
    if (!(at.left > 0)) return none();
    const wide all = size_at(&at) / at.left;
    result r = known(at.value, size_of(at.value) / all, all);
    r.sound = grows && r.left > FEW_LOST;
    return r;
}

/* (1 - z)^by 2F1(a, b; c; z) */
static result times_power(const task *t, wide z, wide u, jet by) {
    result r = inside(t, z, u);
    const jet exponent = scaled(by, logl(u)), power = exponential(exponent), value = product(power, r.value);
    const bool exact = fabsl(by.x[0]) < MANY_POWERS && fabsl(exponent.x[0]) < MANY_POWERS;
    r.sound = r.sound && exact && least_left(value, product(sizes(power), sizes(r.value))) > FEW_LOST;
    r.value = value;
    r.largest *= fabsl(power.x[0]);
    return r;
}

/* The better of two ways to one number. Errors that steps have made of each other show in no sum; they do in what is
 * between the two. */
static result agreed(result a, result b) {
    result r = better(a, b);
    if (!(a.largest < INFINITY) || !(b.largest < INFINITY)) return r;
    const wide off = size_of(sum(a.value, b.value, -1)), size = size_of(r.value);
    r.largest = fmaxl(r.largest, off / LDBL_EPSILON);
    if (off > 0) r.left = fminl(r.left, LDBL_EPSILON * size / off);
    for (int k = 0; k < LIVE; k++) {
        const wide apart = fabsl(a.value.x[k] - b.value.x[k]);
        if (apart > 0) r.least = fminl(r.least, LDBL_EPSILON * fabsl(r.value.x[k]) / apart);
    }
    return r;
}

/* For x < 0 by z = x / (x - 1), 1 - z = 1 / (1 - x): (1 - z)^a 2F1(a, c - b; c; z), or `other`, with a and b exchanged.
 * For x from 0 on the function itself, or (1 - x)^(c - a - b) 2F1(c - a, c - b; c; x). */
static result one_way(jet a, jet b, jet c, wide x, bool other) {
    const bool knows_a = is_known(c.x[0], a.x[0]), knows_b = is_known(c.x[0], b.x[0]), known = knows_a && knows_b;
    const jet over_a = sum(c, a, -1), over_b = sum(c, b, -1), rest = sum(over_a, b, -1);
    const wide between = b.x[0] - a.x[0], excess = rest.x[0];
    result r;
    if (x < 0) {
        const wide z = x / (x - 1), u = 1 / (1 - x);
        r = other ? times_power(&(task){over_a, b, c, a, over_b, -between, known}, z, u, b)
                  : times_power(&(task){a, over_b, c, over_a, b, between, known}, z, u, a);
    } else
        r = other ? times_power(&(task){over_a, over_b, c, a, b, -excess, known}, x, 1 - x, rest)
                  : inside(&(task){a, b, c, over_a, over_b, excess, known}, x, 1 - x);
    r.sound = r.sound && (x < 0 ? other ? knows_a : knows_b : known || !other);
    return r;
}

/* The way whose parameters have one sign first; it does where it is sound. */
static result two_ways(jet a, jet b, jet c, wide x) {
    const bool turned = !(a.x[0] * (x < 0 ? c.x[0] - b.x[0] : b.x[0]) >= 0);
    const result first = one_way(a, b, c, x, turned);
    if (first.sound) return first;
    const result second = one_way(a, b, c, x, !turned);
    return second.sound ? second : agreed(first, second);
}

/* The value at x = 1. */
static wide at_one(wide a, wide b, wide c) {
    return c - a - b > 0 ? gammas(c, c - a - b, c - a, c - b) : INFINITY;
}

/* Whether no derivative is taken by it. */
static bool constant(jet a) {
    for (int k = 1; k < LIVE && k < 4; k++)
        if (a.x[k] != 0) return false;
    return true;
}

/* Whether the series ends by it. */
static bool is_last(jet p) {
    return ends(p.x[0]) && constant(p);
}

/* The series itself near 0 and where it ends, at 1 the limit, elsewhere by one of the two ways of continuing it. Where
 * the series keeps few digits, the better of both counts. */
static result gauss_once(jet a, jet b, jet c, wide x) {
    const bool finite = is_last(a) || is_last(b);
    if (x == 1 && !finite) return LIVE == 1 ? known(number(at_one(a.x[0], b.x[0], c.x[0])), 1, 1) : none();
    if (x > 1 && !finite) return none();
    if (finite || fabsl(x) <= 0.5L) {
        result own = series(&a, &b, c, x);
        if (own.least > FEW_LOST || x > 1) return own;
        return finer(own, two_ways(a, b, c, x));
    }
    return two_ways(a, b, c, x);
}

/* With twice the digits where too few are left and terms are not too many: next to 1 and far left of 0 only series that
 * end. */
static result gauss(jet a, jet b, jet c, wide x) {
    const result own = gauss_once(a, b, c, x);
    if (own.least > MUCH_LEFT) return own;
    const bool far = x > 0.98L || x < -50, finite = is_last(a) || is_last(b);
    if (far && !finite && (x >= 1 || (!is_last(sum(c, a, -1)) && !is_last(sum(c, b, -1))))) return own;
    return finer(own, LAM__HYPER(lam__hyper_twice_2f1_)(&a, &b, &c, (double)x));
}

/* ---- what is asked for ------------------------------------------------------------------------------------------- */

/* The coefficient that this order belongs to, times its factorials. */
static wide derivative(jet y, const int by[]) {
    const int all = by[0] + by[1] + by[2];
    for (int k = 1; all == 1 && k < LIVE && k < 4; k++)
        if (by[k - 1]) return y.x[k];
    for (int k = 4; all == 2 && k < LIVE; k++) {
        const int i = lam__hyper_pairs[k - 4].i - 1, j = lam__hyper_pairs[k - 4].j - 1;
        if (i == j ? by[i] == 2 : by[i] && by[j]) return y.x[k] * (i == j ? 2 : 1);
    }
    return y.x[0];
}

/* Derivatives by x move all parameters up: d/dx F = a b / c F(a + 1, b + 1; c + 1). `factor` is what stands before. */
static result moved(int count, const jet p[], double x, int by_x, jet *factor) {
    jet y[LAM__HYPER_PARAMETERS];
    for (int i = 0; i < count; i++) y[i] = p[i];
    *factor = number(1);
    for (int k = 0; k < by_x; k++)
        for (int i = 0; i < count; i++) {
            *factor = product(*factor, i == count - 1 ? reciprocal(y[i]) : y[i]);
            y[i] = shifted(y[i], 1);
        }
    return count == 2 ? confluent(y[0], y[1], x) : gauss(y[0], y[1], y[2], x);
}

/* Whether a result with few digits is one next to a zero, whose error is small beside what x moves it by. */
static bool is_near_zero(int count, const jet p[], double x, int by_x, jet factor, result r) {
    jet further;
    const result slope = moved(count, p, x, by_x + 1, &further);
    const wide moves = fabsl(x) * size_of(product(further, slope.value));
    return slope.left > LEAST_LEFT && moves > LEAST_LEFT * size_of(factor) * r.largest;
}

double LAM__HYPER(lam__hyper_)(int count, const double p[], double x, lam__hyper_order order) {
    jet y[LAM__HYPER_PARAMETERS], factor;
    for (int i = 0; i < count; i++) y[i] = order.by[i] ? variable(p[i], i) : number(p[i]);
    const result r = moved(count, y, x, order.by_x, &factor);
    if (!(r.left > LEAST_LEFT) && !is_near_zero(count, y, x, order.by_x, factor, r)) return NAN;
    return (double)derivative(product(factor, r.value), order.by);
}
