/* Hypergeometric series whose terms cancel, in numbers that are sums of two long doubles: twice the digits, so twice as
 * many may go. Slow, and only where the way of hyper_series.c leaves too few.
 * Source: Dekker, A floating-point technique for extending the available precision, 1971; DLMF 13.2.39, 15.8.1. */
#include "lib/kernels/special/hyper_twice.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>

typedef long double wide;

enum { LIVE = LAM__LIVE, TERMS = 5000 };
static const double LEFTMOST = -0.9; /* of x in series that end by its powers */
static const wide ENOUGH = 0x1p-6L;  /* left of 64 digits: more than f64 has */

typedef struct twice {
    wide hi, lo;
} twice;

static twice single(wide x) {
    return (twice){x, 0};
}

/* Knuth's, of numbers of any size. */
static twice exact_sum(wide a, wide b) {
    const wide s = a + b, part = s - a;
    return (twice){s, (a - (s - part)) + (b - part)};
}

/* Dekker's, in half as many steps: hi is the larger number. */
static twice joined(wide hi, wide lo) {
    const wide s = hi + lo;
    return (twice){s, lo - (s - hi)};
}

/* Veltkamp's: each factor is cut in two of half the digits, whose products are exact. A fused product would be one
 * step, but of long doubles few machines have it. */
static twice exact_product(wide a, wide b) {
    const wide split = ldexpl(1, (LDBL_MANT_DIG + 1) / 2) + 1;
    const wide ca = split * a, cb = split * b, ah = ca - (ca - a), bh = cb - (cb - b), al = a - ah, bl = b - bh;
    const wide p = a * b;
    return (twice){p, ((ah * bh - p) + ah * bl + al * bh) + al * bl};
}

static twice plus(twice a, twice b) {
    const twice s = exact_sum(a.hi, b.hi), t = exact_sum(a.lo, b.lo);
    const twice u = joined(s.hi, s.lo + t.hi);
    return joined(u.hi, u.lo + t.lo);
}

static twice minus(twice a, twice b) {
    return plus(a, (twice){-b.hi, -b.lo});
}

static twice times(twice a, twice b) {
    const twice p = exact_product(a.hi, b.hi);
    return joined(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}

/* The quotient of the leading parts, and what one step of a long division adds. */
static twice over(twice a, twice b) {
    const wide first = a.hi / b.hi;
    const twice rest = minus(a, times(b, single(first)));
    return joined(first, rest.hi / b.hi);
}

/* ---- jets of them ------------------------------------------------------------------------------------------------ */

typedef struct jet {
    twice x[LIVE];
} jet;

static jet number(twice x) {
    return (jet){{x}};
}

static jet jet_of(const lam__hyper_jet *a) {
    jet y;
    for (int k = 0; k < LIVE; k++) y.x[k] = single(a->x[k]);
    return y;
}

static jet difference(const jet *a, const jet *b) {
    jet y;
    for (int k = 0; k < LIVE; k++) y.x[k] = minus(a->x[k], b->x[k]);
    return y;
}

static jet shifted(const jet *a, int by) {
    jet y = *a;
    const twice s = exact_sum(a->x[0].hi, by);
    y.x[0] = joined(s.hi, s.lo + a->x[0].lo);
    return y;
}

/* What products and quotients share: by + a_i b_j + a_j b_i for the two of coefficient k. */
static twice crossed(const jet *a, const jet *b, int k, twice by) {
    const int i = lam__hyper_pairs[k - 4].i, j = lam__hyper_pairs[k - 4].j;
    by = plus(by, times(a->x[i], b->x[j]));
    return i == j ? by : plus(by, times(a->x[j], b->x[i]));
}

static jet product(const jet *a, const jet *b) {
    jet y = number(times(a->x[0], b->x[0]));
    for (int k = 1; k < LIVE; k++) y.x[k] = plus(times(a->x[0], b->x[k]), times(a->x[k], b->x[0]));
    for (int k = 4; k < LIVE; k++) y.x[k] = crossed(a, b, k, y.x[k]);
    return y;
}

/* y with y b = a, coefficient by coefficient. */
static jet quotient(const jet *a, const jet *b) {
    jet y = number(over(a->x[0], b->x[0]));
    for (int k = 1; k < LIVE; k++) {
        twice known = times(y.x[0], b->x[k]);
        if (k >= 4) known = crossed(&y, b, k, known);
        y.x[k] = over(minus(a->x[k], known), b->x[0]);
    }
    return y;
}

static jet scaled(const jet *a, twice by) {
    jet y = {{{0}}};
    for (int k = 0; k < LIVE; k++) y.x[k] = times(a->x[k], by);
    return y;
}

/* ---- series ------------------------------------------------------------------------------------------------------ */

/* A sum, and the largest term of each coefficient. */
typedef struct running {
    jet sum;
    wide largest[LIVE];
} running;

/* Adds a term; whether it was nothing beside what other terms were, and beside the sum. */
static bool added(running *r, const jet *term) {
    bool small = true;
    for (int k = 0; k < LIVE; k++) {
        const wide size = fabsl(term->x[k].hi);
        r->sum.x[k] = plus(r->sum.x[k], term->x[k]);
        r->largest[k] = fmaxl(r->largest[k], size);
        small = small && (size <= LDBL_EPSILON * LDBL_EPSILON / 16 * r->largest[k] ||
                          size <= LDBL_EPSILON / 64 * fabsl(r->sum.x[k].hi));
    }
    return small;
}

/* Terms after the last one of a series that ends. */
static bool is_none(const jet *term) {
    for (int k = 0; k < LIVE; k++)
        if (term->x[k].hi != 0) return false;
    return true;
}

/* There is no sum: all of it is error. */
static lam__hyper_sum none(void) {
    return (lam__hyper_sum){.value = {{NAN}}, .largest = INFINITY};
}

/* What was rounded away is at most half an ulp of the largest term; `left` and `least` say how much of the sum is
 * beyond that, of all coefficients and of the worst one. */
static lam__hyper_sum ended(const running *r) {
    lam__hyper_sum s = {.least = 1};
    wide all = 0;
    for (int k = 0; k < LIVE; k++) {
        s.value.x[k] = r->sum.x[k].hi;
        all += fabsl(s.value.x[k]);
        s.largest += r->largest[k] * (LDBL_EPSILON / 2);
        if (r->largest[k] > 0) s.least = fminl(s.least, fabsl(s.value.x[k]) / r->largest[k] / (LDBL_EPSILON / 2));
    }
    s.left = fminl(1, all / s.largest);
    return s;
}

/* Terms beyond this are given up, before what they are multiplied by next takes them out of the range. */
#if LDBL_MAX_10_EXP > 4000
static const wide MOST = 1e4000L;
#else
static const wide MOST = LDBL_MAX / 1e50L;
#endif

/* The sum of products of (a + n) (b + n) x / ((c + n) (n + 1)); without b of (a + n) x / ((c + n) (n + 1)). */
static lam__hyper_sum series(const jet *a, const jet *b, const jet *c, twice x) {
    jet term = number(single(1));
    running r = {term, {1}};
    const wide turns = fmaxl(-c->x[0].hi, fmaxl(-a->x[0].hi, b ? -b->x[0].hi : 0));
    int small = 0;
    for (int n = 0; n < TERMS && fabsl(term.x[0].hi) < MOST; n++) {
        const jet one = shifted(a, n), other = b ? shifted(b, n) : one, below = shifted(c, n);
        const jet bottom = scaled(&below, single(n + 1));
        const wide factor = one.x[0].hi * (b ? other.x[0].hi : 1) * x.hi / bottom.x[0].hi;
        term = product(&term, &one);
        if (b) term = product(&term, &other);
        term = scaled(&term, x);
        term = quotient(&term, &bottom);
        small = added(&r, &term) ? small + 1 : 0;
        /* Until factors have their last signs and are below 1, small terms may grow again. */
        if (small >= 3 && (is_none(&term) || (n > turns && fabsl(factor) < 1))) return ended(&r);
    }
    return none();
}

static lam__hyper_sum multiplied(lam__hyper_sum s, wide by) {
    for (int k = 0; k < LIVE; k++) s.value.x[k] *= by;
    s.largest *= fabsl(by);
    return s;
}

static lam__hyper_sum better(lam__hyper_sum a, lam__hyper_sum b) {
    return b.least > a.least ? b : a;
}

lam__hyper_sum LAM__HYPER(lam__hyper_twice_1f1_)(const lam__hyper_jet *a, const lam__hyper_jet *c, double x) {
    const jet top = jet_of(a), bottom = jet_of(c), rest = difference(&bottom, &top);
    const lam__hyper_sum own = series(&top, NULL, &bottom, single(x));
    if (own.least >= ENOUGH) return own;
    return better(own, multiplied(series(&rest, NULL, &bottom, single(-x)), expl(x)));
}

/* (1 - x)^by times the sum, in long double: where the coefficients of the product cancel, `least` says so. */
static lam__hyper_sum powered(lam__hyper_sum s, const jet *by, double x) {
    const wide log = log1pl(-(wide)x), value = expl(by->x[0].hi * log);
    jet power = number(single(value)), sizes, sum = jet_of(&s.value), all;
    for (int k = 1; k < LIVE && k < 4; k++) power.x[k] = single(value * log * by->x[k].hi);
    for (int k = 4; k < LIVE; k++) {
        const int i = lam__hyper_pairs[k - 4].i, j = lam__hyper_pairs[k - 4].j;
        power.x[k] = single(value * log * log * by->x[i].hi * by->x[j].hi / (i == j ? 2 : 1));
    }
    for (int k = 0; k < LIVE; k++) sizes.x[k] = single(fabsl(power.x[k].hi)), all.x[k] = single(fabsl(sum.x[k].hi));
    sum = product(&sum, &power);
    all = product(&all, &sizes);
    for (int k = 0; k < LIVE; k++) {
        s.value.x[k] = sum.x[k].hi;
        if (all.x[k].hi > 0) s.least = fminl(s.least, fabsl(sum.x[k].hi) / all.x[k].hi);
    }
    s.largest *= value;
    return s;
}

/* (1 - x)^(-a) 2F1(a, c - b; c; x / (x - 1)), or that with a and b exchanged. */
static lam__hyper_sum pfaff(const jet *a, const jet *b, const jet *c, double x) {
    const jet zero = {{{0}}}, other = difference(c, b), by = difference(&zero, a);
    return powered(series(a, &other, c, over(single(x), exact_sum(x, -1))), &by, x);
}

/* (1 - x)^(c - a - b) 2F1(c - a, c - b; c; x). */
static lam__hyper_sum euler(const jet *a, const jet *b, const jet *c, double x) {
    const jet first = difference(c, a), second = difference(c, b), by = difference(&first, b);
    return powered(series(&first, &second, c, single(x)), &by, x);
}

/* Whether a series ends by it. */
static bool is_last(const jet *p) {
    for (int k = 1; k < LIVE; k++)
        if (p->x[k].hi != 0) return false;
    return p->x[0].hi <= 0 && p->x[0].hi == floorl(p->x[0].hi);
}

lam__hyper_sum LAM__HYPER(lam__hyper_twice_2f1_)(const lam__hyper_jet *a, const lam__hyper_jet *b,
                                                 const lam__hyper_jet *c, double x) {
    const jet first = jet_of(a), second = jet_of(b), bottom = jet_of(c);
    lam__hyper_sum best = none();
    if (x > LEFTMOST || is_last(&first) || is_last(&second)) best = series(&first, &second, &bottom, single(x));
    if (best.least < ENOUGH && x > LEFTMOST && x < 1) best = better(best, euler(&first, &second, &bottom, x));
    if (best.least < ENOUGH && x < 0) best = better(best, pfaff(&first, &second, &bottom, x));
    if (best.least < ENOUGH && x < 0) best = better(best, pfaff(&second, &first, &bottom, x));
    return best;
}
