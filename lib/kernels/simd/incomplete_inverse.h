/* The incomplete gamma and beta functions undone, as vector functions: the root of log(side/share), the side being the
 * one that holds less, over u = log(x) or u = logit(x), by Halley's steps, for which the integral relative to the
 * density (simd/incomplete.h) is all that is needed. Steps on the way ask for a float's share of digits, the last one
 * for all; a lane that has settled waits for the others. Next to 0 the gamma function is a power and a short series.
 * Rare lanes, and those that do not settle, are done one by one (lib/kernels/special/inverse.c). */
#ifndef LAM_KERNELS_SIMD_INCOMPLETE_INVERSE_H
#define LAM_KERNELS_SIMD_INCOMPLETE_INVERSE_H

#include "lib/kernels/simd/incomplete.h"

#include "lib/kernels/special/inverse.h"

/* Steps on the way; two are what most lanes take. */
enum { MOST_STEPS = 12 };

/* A step after which a lane has settled and what the last one may be, in units of the width of the density: the error
 * is about the cube of the step. */
static const double SETTLED = 0x1p-8, LAST_STEP = 0x1p-19;

/* done: the value has all its digits; other lanes are to be done one by one. */
typedef struct undone64 {
    V64 value;
    M64 done;
} undone64;

ALWAYS_INLINE V64 size64(V64 x) {
    return most_of(x, -x);
}

/* log(x) for x normal and positive. */
ALWAYS_INLINE V64 plain_log64(V64 x) {
    return log_of_parts(parts_of(x), (V64){0}).hi;
}

/* The normal quantile of a share up to 1/2, to three digits: Abramowitz and Stegun 26.2.23. */
ALWAYS_INLINE V64 rough_quantile(V64 log_share) {
    const V64 t = root64(-2 * log_share);
    return (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308))) - t;
}

/* log(part/share), with all digits where both are next to each other. */
ALWAYS_INLINE V64 log_over(sum64 part, V64 share) {
    /* (part - share)/share, whose logarithm is a series where it is small; the largest lane decides whether more is
     * done. */
    const V64 less = ((part.hi - share) + part.lo) / share;
    const V64 near = less * madd(less, madd(less, splat64(1.0 / 3), splat64(-0.5)), splat64(1));
    const M64 is_near = (M64)(size64(less) < 0x1p-17);
    if (!any64(~is_near)) return near;
    /* A side that has vanished moves as far as a step may. */
    return either(is_near, near, plain_log64(most_of(part.hi / share, splat64(0x1p-1000))));
}

/* How far u is to move for a side that is density times `over`, or 1 less that in the lanes that are not `asked`. L =
 * log(side) has L'' = L' (bend - L'), bend being the slope of the logarithm of the density; `sign` is that of L'. */
static __attribute__((noinline)) V64 side_move(scaled64 density, sum64 over, M64 asked, V64 sign, V64 bend, V64 share) {
    const sum64 side = product_of_sums(density.value, over);
    sum64 part = {scaled(side.hi, density.k), scaled(side.lo, density.k)};
    /* 1 over the derivative of log(side) by u: the side over the density. */
    V64 ratio = over.hi;
    if (any64(~asked)) {
        sum64 rest = any_sum(splat64(1), -part.hi);
        rest.lo -= part.lo;
        ratio = either(asked, ratio, rest.hi / scaled(density.value.hi, density.k));
        part = either_sum(asked, part, rest);
    }
    /* Halley's divisor, kept between 1/2 and 2 so that a bad start does not throw a lane far out. */
    const V64 log = log_over(part, share), newton = -sign * log * ratio, slow = 1 + 0.5 * (log + newton * bend);
    return newton / most_of(least_of(slow, splat64(2)), splat64(0.5));
}

/* A step within so many widths. */
ALWAYS_INLINE V64 step_within(V64 step, V64 width) {
    /* Beyond the derivatives say nothing. */
    return most_of(least_of(step, 4 * width), -4 * width);
}

/* ---- gamma ------------------------------------------------------------------------------------------------------ */

/* The step from x towards the place where I is the share: of each lane by the side on which its integral is small. */
static __attribute__((noinline)) V64 gamma_move(V64 a, V64 x, V64 share, M64 upper, const lam__nodes *nodes) {
    const V64 zero = {0};
    const sum64 none = {zero, zero};
    const scaled64 density = gamma_density(a, x, false).density;
    /* As in incomplete_gamma. */
    const M64 below = (M64)(x < a);
    sum64 lower = none, higher = none;
    if (any64(below)) lower = gamma_below_of(a, x, below, none, false, nodes);
    if (any64(~below)) higher = gamma_above_of(a, x, ~below, none, false, nodes);
    const V64 sign = either(upper, zero - 1, zero + 1);
    /* What is wanted is the side that has been integrated, or the other. */
    return side_move(density, either_sum(below, lower, higher), below ^ upper, sign, a - x, share);
}

/* For a >= 1 Wilson and Hilferty's cube of a normal variable or, where that has no root, what P begins with, x^a exp(-x
 * a/(a + 1)) / Gamma(a + 1); below it what Q ends with, x^(a-1) exp(-x) / Gamma(a). */
static __attribute__((noinline)) V64 gamma_first(V64 a, V64 share, M64 upper) {
    const V64 log_share = plain_log64(share), z = rough_quantile(log_share);
    /* Wilson and Hilferty: (x/a)^(1/3) is about normal with mean 1 - 1/(9 a) and variance 1/(9 a). */
    const V64 base = 1 - 1 / (9 * a) + either(upper, -z, z) / (3 * root64(a));
    const M64 none = (M64)(base < 0.2), less = (M64)(a < 1);
    V64 x = a * base * base * base;
    if (any64(none)) {
        /* Stirling's formula with one term, for a first guess. It is log Gamma(a + 1). */
        const V64 log_gamma = (a + 0.5) * plain_log64(a) - a + 0.91893853320467274 + 1 / (12 * a);
        /* exp(-690) is still a normal number. */
        const V64 begin = plain_exp(most_of((log_share + log_gamma) / a, splat64(-690)));
        x = either(none, begin * plain_exp(least_of(begin / (a + 1), splat64(1))), x);
    }
    if (!any64(less)) return x;
    /* Q ends with x^(a-1) exp(-x)/Gamma(a), so x + (1 - a) log(x) is known; one step of it is enough. */
    const V64 inside = either(less, a, splat64(0.5));
    const V64 end = plain_log64(inside) - log_gamma_inside(inside).hi - log_share, far = most_of(end, splat64(1));
    return either(less, most_of(far - (1 - inside) * plain_log64(far), splat64(1)), x);
}

/* From x where it has settled. */
static __attribute__((noinline)) undone64 gamma_search(V64 a, V64 share, M64 upper, V64 x, M64 settled,
                                                       const lam__nodes *nodes) {
    /* In units of log(x), since steps are of it. */
    const V64 width = 1 / root64(most_of(a, splat64(1)));
    if (any64(~settled)) x = either(settled, x, gamma_first(a, share, upper));
    for (int i = 0; i < MOST_STEPS && any64(~settled); i++) {
        const V64 step = step_within(gamma_move(a, x, share, upper, &lam__nodes_f32), width);
        /* x moves by a factor and stays positive. */
        x = either(settled, x, x * plain_exp(step));
        settled |= (M64)(size64(step) < SETTLED * width);
    }
    const V64 step = gamma_move(a, x, share, upper, nodes);
    /* exp(step) - 1 by its series: the last step is small. */
    return (undone64){madd(x, madd(0.5 * step, step, step), x), settled & (M64)(size64(step) < LAST_STEP * width)};
}

/* For a < 1: log(P) = a y - log Gamma(1 + a) + log(1 - a t) for y = log(x), with t as in small_gamma, which is short up
 * to x = 1. Found for y + log(1 - a t)/a, whose slope is exp(-x)/(1 - a t); done where x is below 1. */
static __attribute__((noinline)) undone64 small_gamma_search(V64 a, V64 share, M64 upper) {
    enum { STEPS = 6, TERMS = 20 };
    const V64 zero = {0};
    const sum64 rest = any_sum(splat64(1), -share);
    /* The logarithm of P, of which share or 1 - share is given. */
    const sum64 log = either_sum(upper, log_of(rest), log_of_parts(parts_of(share), zero));
    /* (log(P) + log Gamma(1 + a))/a, which is y + log(1 - a t)/a. */
    const sum64 goal = quotient(plus(log, log_gamma_inside(a)), (sum64){a, zero});
    V64 y = zero, by_series = zero;
    /* None at first. */
    M64 inside = (M64)(a != a);
    for (int i = 0; i < STEPS; i++) {
        /* For smaller x t is nothing beside 1. */
        const V64 x = plain_exp(most_of(y, splat64(-700)));
        V64 t = zero, term = -x;
        for (int n = 1; n <= TERMS; n++) {
            t -= term / (a + n);
            term *= x * (-1.0 / (n + 1));
        }
        by_series = log_of(any_sum(splat64(1), -a * t)).hi / a;
        const V64 off = (y - goal.hi) + by_series;
        if (i == 0) inside = (M64)(off >= 0);
        y = either(inside, y - off * (1 - a * t) / plain_exp(-x), zero);
        /* by_series is not positive, so log(x) is at least the goal. */
        if (i == 0) y = most_of(y, goal.hi);
    }
    V64 k;
    const sum64 log_x = plus(goal, (sum64){-by_series, zero});
    /* Below that the result is 0 in any case. */
    const M64 near = (M64)(log_x.hi > -1400);
    const sum64 e = exp_of((sum64){either(near & inside, log_x.hi, zero - 1400), either(near, log_x.lo, zero)}, &k);
    return (undone64){scaled(e.hi + e.lo, k), inside};
}

/* Lanes `where` one by one. */
static __attribute__((noinline)) V64 patched_gamma_inverse(V64 r, V64 a, V64 p, M64 where, int64_t form) {
    for (int i = 0; i < LANES64; i++)
        if (where[i]) r[i] = lam__special_igamma_inv(a[i], p[i], form);
    return r;
}

/* Lanes that have no place stand for the median of a = 2. What comes of the series beyond 1/4 is rounded more often and
 * gets a last step too. */
static __attribute__((noinline)) V64 gamma_undone(V64 a, V64 p, bool upper, const lam__nodes *nodes) {
    const V64 zero = {0};
    const M64 plain = (M64)(a >= 0x1p-20) & (M64)(a <= 0x1p40) & (M64)(p >= 0x1p-900) & (M64)(p < 1);
    const M64 more = plain & (M64)(p > 0.5), above = upper ? ~more : more;
    /* The smaller tail; 1 - p is exact from 1/2 on. */
    const V64 share = either(plain, either(more, 1 - p, p), zero + 0.5);
    const M64 less = plain & (M64)(a < 1);
    /* About the median of a = 2. */
    undone64 r = {zero + 1.7, ~plain};
    M64 near = r.done;
    if (any64(less)) {
        r = small_gamma_search(either(less, a, zero + 0.5), share, above);
        near = (r.done & less) | ~plain;
        /* What comes of the series beyond 1/4 starts a search that has settled already. */
        r.done = near & ~(less & (M64)(r.value > 0.25));
    }
    if (any64(~r.done)) {
        const V64 of = either(r.done, zero + 2, a), side = either(r.done, zero + 0.5, share);
        const undone64 found =
            gamma_search(of, side, above & ~r.done, either(r.done, zero + 1.7, r.value), near, nodes);
        r = (undone64){either(r.done, r.value, found.value), r.done | found.done};
    }
    const M64 rare = ~(plain & r.done);
    return any64(rare) ? patched_gamma_inverse(r.value, a, p, rare, upper ? LAM__INVERSE_UPPER : 0) : r.value;
}

/* ---- beta ------------------------------------------------------------------------------------------------------- */

/* The step from x, on its logit, towards the place where I is the share; 1 - x is the variable beyond the mean. */
static __attribute__((noinline)) V64 beta_move(V64 a, V64 b, V64 x, V64 share, const lam__nodes *nodes) {
    const sum64 y = any_sum(splat64(1), -x), own = {x, (V64){0}};
    const sum64 off = minus(product_of(y, a), product(b, x));
    const scaled64 density = beta_density(a, b, x, y, BETA_P).density;
    /* NaN turns a lane too, as in incomplete_beta. */
    const M64 turned = ~(M64)(off.hi > 0);
    const sum64 inverse = inverse_of(either_sum(turned, own, y));
    const side64 q = beta_side(a, b, either_sum(turned, y, own), inverse, turned, off, 1);
    const sum64 over = product_of_sums(beta_below(&q, nodes), inverse);
    /* a y - b x, the slope of the logarithm of the density on the logit. */
    return side_move(density, over, ~turned, splat64(1), off.hi, share);
}

/* logit(x). Where both parameters are above 1 Carter's approximation (Abramowitz and Stegun 26.5.22); else, and far
 * out, where I is about what it begins with, x^a / (a B(a, b)). A normal variable about the mode is better where its
 * logarithm falls less steeply than that, by a. */
static __attribute__((noinline)) V64 beta_first(V64 a, V64 b, V64 share) {
    const V64 log_share = plain_log64(share), z = -rough_quantile(log_share), middle = plain_log64(a / b);
    const M64 flat = (M64)(least_of(a, b) <= 1) | (M64)(share < 0x1p-20);
    /* Where Carter's formula has no roots 1 stands for them. */
    const V64 s = 1 / either(flat, splat64(1), 2 * a - 1), t = 1 / either(flat, splat64(1), 2 * b - 1);
    const V64 h = 2 / (s + t), bow = (z * z - 3) / 6;
    const V64 w = z * root64(h + bow) / h - (t - s) * (bow + 5.0 / 6 - 2 / (3 * h));
    const V64 u = middle - 2 * w;
    if (!any64(flat)) return u;
    const V64 begin = (log_share + plain_log64(a) + f64_betaln(a, b)) / a;
    /* That of the logit of x: the root of 1/a + 1/b. */
    const V64 width = root64(1 / a + 1 / b), normal = middle - z * width, low = least_of(begin, splat64(-0x1p-30));
    const V64 bound = low - plain_log64(1 - plain_exp(most_of(low, splat64(-690))));
    const V64 start = either((M64)(begin < 0), most_of(normal, bound), normal);
    return either(flat, either((M64)(begin < 0) & (M64)(z > 0.5 * a * width), bound, start), u);
}

/* The x with I = share, at most 1/2, and 1 - x. */
typedef struct parted64 {
    V64 x, rest;
    M64 done;
} parted64;

/* The last step for parameters so small that what I is rounded by would be many ulps of x, with more digits. */
static __attribute__((noinline)) parted64 finished_one_by_one(parted64 r, V64 a, V64 b, V64 share, M64 where) {
    for (int i = 0; i < LANES64; i++) {
        if (!where[i]) continue;
        /* The logit, on which the root is looked for. */
        const long double near = logl(r.x[i]) - log1pl(-r.x[i]);
        const long double u = lam__special_beta_root(a[i], b[i], share[i], near);
        r.x[i] = (double)(1 / (1 + expl(-u)));
        r.rest[i] = (double)(1 / (1 + expl(u)));
    }
    r.done |= where;
    return r;
}

/* Steps on the logit of x with the nodes of f32, which are cheaper and enough to come near, and one last step with
 * those of the dtype. Where a parameter is small (flat), that step is taken lane by lane instead. Lanes that have
 * settled keep what they have. */
static __attribute__((noinline)) parted64 beta_search(V64 a, V64 b, V64 share, const lam__nodes *nodes) {
    const V64 width = root64(1 / a + 1 / b);
    /* f32 has digits to spare, so no lane is flat there. */
    const M64 flat = nodes == &lam__nodes_f64 ? (M64)(least_of(a, b) < 0.5) : (M64)(a != a);
    /* logit(x) between -600 and 20, so that neither x nor 1 - x vanishes. */
    const V64 first = most_of(least_of(beta_first(a, b, share), splat64(20)), splat64(-600));
    V64 x = 1 / (1 + plain_exp(-first));
    /* NaN alone at first. */
    M64 settled = (M64)(x != x);
    for (int i = 0; i < MOST_STEPS && any64(~settled); i++) {
        const V64 step = step_within(beta_move(a, b, x, share, &lam__nodes_f32), width), grown = x * plain_exp(step);
        /* x stays inside (0, 1). */
        const V64 next = most_of(least_of(grown / (1 - x + grown), splat64(1 - 0x1p-30)), splat64(0x1p-900));
        x = either(settled, x, next);
        settled |= (M64)(size64(step) < SETTLED * width);
    }
    parted64 r = {x, 1 - x, settled & flat};
    if (any64(~flat)) {
        const sum64 y = any_sum(splat64(1), -x);
        const V64 step = beta_move(a, b, x, share, nodes);
        /* x' = x y step and x'' by the step's square: 1 - x moves by the same, with its second part kept. */
        const V64 move = x * y.hi * madd(0.5 * step * (y.hi - x), step, step);
        r.x = either(flat, x, x + move);
        r.rest = either(flat, r.rest, y.hi + (y.lo - move));
        r.done |= ~flat & settled & (M64)(size64(step) < LAST_STEP * width);
    }
    return any64(settled & flat) ? finished_one_by_one(r, a, b, share, settled & flat) : r;
}

/* Lanes `where` one by one. */
static __attribute__((noinline)) V64 patched_beta_inverse(V64 r, V64 a, V64 b, V64 p, M64 where, int64_t form) {
    for (int i = 0; i < LANES64; i++)
        if (where[i]) r[i] = lam__special_betainc_inv(a[i], b[i], p[i], form);
    return r;
}

/* The side above x is that below 1 - x of the operands exchanged. */
static __attribute__((noinline)) V64 beta_undone(V64 a, V64 b, V64 p, bool upper, const lam__nodes *nodes) {
    const V64 zero = {0};
    /* The median of equal parameters is 1/2 to the last bit, which the function of single numbers gives. */
    const M64 plain = (M64)(least_of(a, b) >= 0x1p-7) & (M64)(most_of(a, b) <= 0x1p30) & (M64)(p >= 0x1p-900) &
                      (M64)(p < 1) & ~((M64)(a == b) & (M64)(p == 0.5));
    const M64 more = plain & (M64)(p > 0.5), above = upper ? ~more : more;
    /* 1/4 stands for what has no place. */
    const V64 share = either(plain, either(more, 1 - p, p), zero + 0.25);
    const V64 first = either(plain, a, zero + 2), second = either(plain, b, zero + 2);
    parted64 r = {zero, zero, ~plain};
    if (any64(plain)) r = beta_search(either(above, second, first), either(above, first, second), share, nodes);
    const V64 x = either(above, r.rest, r.x);
    const M64 rare = ~(plain & r.done);
    return any64(rare) ? patched_beta_inverse(x, a, b, p, rare, upper ? LAM__INVERSE_UPPER : 0) : x;
}

/* One line per member. */
/* clang-format off */
#define UNDONE2(name, upper) \
    ALWAYS_INLINE V64 f64_##name(V64 a, V64 p) { return gamma_undone(a, p, upper, &lam__nodes_f64); } \
    ALWAYS_INLINE V64 quick_##name(V64 a, V64 p) { return gamma_undone(a, p, upper, &lam__nodes_f32); } \
    ALWAYS_INLINE V32 f32_##name(V32 a, V32 p) { return f32_through2(a, p, quick_##name); }
UNDONE2(igamma_inv, false)
UNDONE2(igammac_inv, true)
#undef UNDONE2

#define UNDONE3(name, upper) \
    ALWAYS_INLINE V64 f64_##name(V64 a, V64 b, V64 p) { return beta_undone(a, b, p, upper, &lam__nodes_f64); } \
    ALWAYS_INLINE V64 quick_##name(V64 a, V64 b, V64 p) { return beta_undone(a, b, p, upper, &lam__nodes_f32); } \
    ALWAYS_INLINE V32 f32_##name(V32 a, V32 b, V32 p) { return f32_through3(a, b, p, quick_##name); }
UNDONE3(betainc_inv, false)
UNDONE3(betaincc_inv, true)
#undef UNDONE3
/* clang-format on */

#endif
