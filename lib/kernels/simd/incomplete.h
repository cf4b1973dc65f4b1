/* The incomplete gamma and beta functions and their first derivatives by the parameters as vector functions: the side
 * of x that holds less is integrated relative to the density at x, whose logarithm is a sum of two doubles
 * (simd/stirling.h). The integrand is stretched by s = 3/2 exp(u/2 - exp(-u)) (Takahasi and Mori 1974, with half the
 * growth, which suits decay like exp(-s) and like exp(-s^2) alike), so that the trapezoidal rule of step 1/4 has 53
 * bits for all parameters; the nodes are a table, and a vector stops when the integrands of all its lanes have died
 * away, from where on a lane takes nothing more.
 * Rare lanes and higher derivatives are done one by one (lib/kernels/special/incomplete.c). f32 goes through f64 with
 * wider steps. */
#ifndef LAM_KERNELS_SIMD_INCOMPLETE_H
#define LAM_KERNELS_SIMD_INCOMPLETE_H

#include "lib/kernels/simd/stirling.h"
#include "lib/kernels/simd/gap.h"

/* ---- exponentials and logarithms of single doubles -------------------------------------------------------------- */

/* exp(x) = 2^k (1 + r + rest). */
ALWAYS_INLINE reduced_exp plain_exp_parts(V64 x) {
    /* k is the nearest whole number, r at most log(2)/2. */
    const V64 k = madd(x, splat64(LOG_2_INVERSE), splat64(ROUNDER)) - ROUNDER;
    const V64 r = madd(k, splat64(-LOG_2_REST), madd(k, splat64(-LOG_2), x));
    return (reduced_exp){r, r * r * POWERS(r, EXP_REST), k};
}

/* (atanh(q) - q) / q^3 in q^2, for q <= 1/6, the rest below 2^-52 */
static const double ATANH_REST[] = {1.0 / 21, 1.0 / 19, 1.0 / 17, 1.0 / 15, 1.0 / 13,
                                    1.0 / 11, 1.0 / 9,  1.0 / 7,  1.0 / 5,  1.0 / 3};

/* log(1 + z), what that lacks where it is large, and z - log(1 + z), for 0 <= z < 2^1000 and `more`, which
 * is below an ulp of it: with q = z/(2 + z) the last is z q - 2 (atanh(q) - q). */
typedef struct plain_log {
    V64 log, lacks, gap;
} plain_log;

ALWAYS_INLINE plain_log plain_log_of(V64 z, V64 more) {
    const M64 large = (M64)(z > 0.4);
    /* z q - 2 (atanh(q) - q) has no difference of large numbers: both are of the size of z^2. */
    const V64 q = z / (2 + z), square = q * q, less = 2 * square * POWERS(square, ATANH_REST), gap = (z - less) * q;
    if (!any64(large)) return (plain_log){z - gap, (V64){0}, gap};
    const sum64 whole = any_sum(z, splat64(1));
    const parts64 p = parts_of(whole.hi);
    const V64 inverse = pick(lam__table_log[0], p.at);
    /* The second parts go in before the subtraction of 1, which is exact. */
    const V64 r = madd((whole.lo + more) * inverse, two_to(-p.k), madd(p.z, inverse, splat64(-1)));
    const V64 base = madd(p.k, splat64(LOG_2), pick(lam__table_log[1], p.at));
    const V64 rest = madd(p.k, splat64(LOG_2_REST), pick(lam__table_log[2], p.at));
    const sum64 log = any_sum(base, madd(r * r, madd(r, POWERS(r, LOG_REST), splat64(-0.5)), rest) + r);
    return (plain_log){either(large, log.hi, z - gap), either(large, log.lo, (V64){0}), either(large, z - log.hi, gap)};
}

/* ---- integrals -------------------------------------------------------------------------------------------------- */

/* value 2^k. For numbers whose factors leave the range though their product is a number. */
typedef struct scaled64 {
    sum64 value;
    V64 k;
} scaled64;

/* The product, rounded once. Where the result is subnormal too. */
ALWAYS_INLINE V64 scaled_product(scaled64 x, sum64 y) {
    const sum64 p = product_of_sums(x.value, y);
    return scaled(p.hi + p.lo, x.k);
}

/* exp(x) down to where nothing can make it a number again. */
ALWAYS_INLINE scaled64 scaled_exp(sum64 x) {
    const M64 near = (M64)(x.hi > -1400);
    scaled64 e;
    e.value = exp_of((sum64){either(near, x.hi, splat64(-1400)), either(near, x.lo, (V64){0})}, &e.k);
    return e;
}

/* The variable is s = log(x/t) below x, as it is of both functions, or s = t/x - 1 above. Relative to its value at x
 * the density is exp(-e) with
 *   GAMMA_BELOW   e = rate s + x (exp(-s) - 1 + s)
 *   GAMMA_ABOVE   e = rate s + m (z - log(1 + z)), z = s
 *   BETA_BELOW    e = rate s + m (ratio (exp(-s) - 1 + s) + z - log(1 + z)), z = (1 - exp(-s)) times ratio
 * where m = power - 1; for m < 0 the last two are steady s - m log(1 + z), since the other form would cancel. What
 * would be off alike at all nodes is a sum: rate and ratio. */
typedef enum side_kind { GAMMA_BELOW, GAMMA_ABOVE, BETA_BELOW } side_kind;

/* The integral is that of exp(-e). With a derivative by a parameter the density is multiplied by constant - s, or by
 * constant + log(1 + z) in the lanes `other`: the derivative of its logarithm, which has one sign on this side, since
 * that where it vanishes is in the other one. */
typedef struct side64 {
    sum64 rate, ratio, constant;
    V64 x, m, steady, scale;
    M64 other;
} side64;

/* e, what it lacks, and log(1 + z): where that hardly changes any more from node to node, what it is rounded by is off
 * alike too. */
typedef struct exponent64 {
    V64 e, lacks;
    plain_log log;
} exponent64;

/* exp(-s) - 1 + s. `fall` becomes 1 - exp(-s). */
ALWAYS_INLINE V64 exp_gap_of(V64 s, V64 *fall) {
    /* Beyond 700 exp(-s) is nothing beside s - 1. */
    const reduced_exp e = plain_exp_parts(-either((M64)(s < 700), s, splat64(700)));
    /* exp(-s) - 1, by the power of 2 that the reduction has taken out. */
    const V64 power = two_to(e.k), far = madd(power, e.tail, madd(power, e.r, power - 1));
    const M64 near = (M64)(e.k == 0);
    *fall = either(near, -e.r - e.tail, -far);
    return either(near, e.tail, far + s);
}

/* `kind` is a constant in every call; log is what the slopes need of it. */
ALWAYS_INLINE exponent64 exponent_of(side_kind kind, const side64 *q, V64 s) {
    V64 fall = s, bend = {0};
    if (kind != GAMMA_ABOVE) bend = exp_gap_of(s, &fall);
    const V64 rest = q->rate.lo * s, zero = {0};
    /* Slopes of this kind need s alone. */
    if (kind == GAMMA_BELOW) return (exponent64){madd(q->rate.hi, s, madd(q->x, bend, rest)), zero, {zero, zero, zero}};
    const bool is_beta = kind == BETA_BELOW;
    const sum64 z = is_beta ? product_of(q->ratio, fall) : (sum64){s, zero};
    const plain_log log = plain_log_of(z.hi, z.lo);
    const V64 bends = is_beta ? madd(q->ratio.hi, bend, madd(q->ratio.lo, bend, log.gap)) : log.gap;
    const V64 convex = madd(q->rate.hi, s, madd(q->m, bends, rest));
    /* For m < 0 convex forms would be a difference; then e is a sum of two. */
    const M64 slow = (M64)(q->m < 0);
    const sum64 part = product_of((sum64){log.log, log.lacks}, -q->m);
    const sum64 e = any_sum(part.hi, q->steady * s);
    return (exponent64){either(slow, e.hi, convex), either(slow, e.lo + part.lo, zero), log};
}

/* A sum of terms of one sign by Knuth's sums, so the error is that of the nodes. Whether all lanes are dead is looked
 * at after every fourth node. */
ALWAYS_INLINE sum64 side_integral(side_kind kind, bool slope, const side64 *q, const lam__nodes *nodes) {
    sum64 sum = {{0}, {0}};
    for (int i = 0; i < nodes->count; i++) {
        const V64 s = q->scale * nodes->at[i];
        const exponent64 x = exponent_of(kind, q, s);
        /* exp(-44) is 2^-63: nothing beside the sum, whose first terms are of size 1. */
        const M64 alive = (M64)(x.e < 44);
        V64 weight = either(alive, nodes->weight[i] * plain_exp(-x.e), (V64){0});
        if (kind != GAMMA_BELOW) weight = madd(-x.lacks, weight, weight);
        /* The derivative's factor has one sign on this side, so the sum still does not cancel. */
        if (slope) {
            const V64 lo = q->constant.lo + either(q->other, x.log.lacks, (V64){0});
            weight *= (q->constant.hi + either(q->other, x.log.log, -s)) + lo;
        }
        /* The error of a sum of up to 208 terms would be 208 roundings without the second part. */
        const sum64 next = any_sum(sum.hi, weight);
        sum = (sum64){next.hi, sum.lo + next.lo};
        if ((i & 3) == 3 && !any64(alive)) break;
    }
    return product_of(sum, q->scale);
}

/* One line per member. */
/* clang-format off */
#define SIDE(name, kind, slope) \
    static __attribute__((noinline)) sum64 name(const side64 *q, const lam__nodes *nodes) { \
        return side_integral(kind, slope, q, nodes); \
    }
SIDE(gamma_below, GAMMA_BELOW, false)
SIDE(gamma_above, GAMMA_ABOVE, false)
SIDE(beta_below, BETA_BELOW, false)
SIDE(gamma_below_slope, GAMMA_BELOW, true)
SIDE(gamma_above_slope, GAMMA_ABOVE, true)
SIDE(beta_below_slope, BETA_BELOW, true)
#undef SIDE
/* clang-format on */

/* ---- gamma ------------------------------------------------------------------------------------------------------ */

/* x^a exp(-x)/Gamma(a), and log(x) - digamma(a) where that is wanted. */
typedef struct density64 {
    scaled64 density;
    sum64 slope;
} density64;

/* The root of x/(2 pi) for what Stirling's formula lacks. */
ALWAYS_INLINE sum64 root_by_circle(sum64 x) {
    const V64 zero = {0};
    return root_of(product_of_sums(x, (sum64){zero + 0x1.45f306dc9c883p-3, zero - 0x1.6b01ec5417056p-57}));
}

/* exp(-(a (r - log(1 + r)) + what Stirling's formula lacks)) sqrt(a/(2 pi)) for r = x/a - 1. */
static __attribute__((noinline)) density64 gamma_density(V64 a, V64 x, bool slope) {
    const V64 zero = {0};
    /* r - log(1 + r), with all its digits where x is next to a. */
    const log_gap g = log_gap_of(quotient((sum64){x, zero}, (sum64){a, zero}));
    const sum64 down = plus(product_of(g.gap, a), stirling_rest(a));
    density64 d = {.density = scaled_exp((sum64){-down.hi, -down.lo})};
    d.density.value = product_of_sums(d.density.value, root_by_circle((sum64){a, zero}));
    if (slope) d.slope = plus(g.log, digamma_gap(a));
    return d;
}

/* Lanes of which there are none, or whose value does not matter, have a = 2, x = 1 below and the reverse above. */
static __attribute__((noinline)) sum64 gamma_below_of(V64 a, V64 x, M64 where, sum64 c, bool slope,
                                                      const lam__nodes *nodes) {
    a = either(where, a, splat64(2));
    x = either(where, x, splat64(1));
    /* a - x, exactly. */
    side64 q = {.rate = any_sum(a, -x), .x = x, .constant = c};
    /* How wide the integrand is: 1/rate where it falls like an exponential, 1/root(x) where like a normal density. */
    q.scale = least_of(splat64(1), 1 / (q.rate.hi + least_of(x, root64(x))));
    return slope ? gamma_below_slope(&q, nodes) : gamma_below(&q, nodes);
}

/* Lanes that are not asked for are given operands that do no harm. */
static __attribute__((noinline)) sum64 gamma_above_of(V64 a, V64 x, M64 where, sum64 c, bool slope,
                                                      const lam__nodes *nodes) {
    a = either(where, a, splat64(1));
    x = either(where, x, splat64(2));
    const V64 m = a - 1;
    /* x - a + 1 as a sum: it may be small. */
    side64 q = {.rate = plus(any_sum(x, -a), (sum64){splat64(1), (V64){0}}), .m = m, .steady = x, .constant = c};
    /* In all lanes. */
    q.other = (M64)(x == x);
    const V64 steep = 1 / (q.rate.hi + root64(most_of(m, (V64){0})));
    /* For a < 1 the density falls like exp(-x s) from the start. */
    q.scale = either((M64)(a < 1), least_of(splat64(1), 1 / x), steep);
    return slope ? gamma_above_slope(&q, nodes) : gamma_above(&q, nodes);
}

/* P(a, x) or Q(a, x) for 0 < a, x < 1: with P = exp(u) (1 - a t) and t = x/(1 + a) - x^2/(2! (2 + a)) + ... (A&S
 * 6.5.29) both are had without loss, Q as 1 - exp(u) + exp(u) a t. */
static __attribute__((noinline)) V64 small_gamma(V64 a, V64 x, bool upper) {
    const V64 zero = {0};
    /* log(x^a / Gamma(a + 1)). */
    const sum64 u = minus(product_of(log_of_parts(parts_of(x), zero), a), log_gamma_inside(a));
    V64 rest = zero, term = -x;
    /* x^20/20! is 2^-61 for x < 1. */
    for (int n = 2; n <= 20; n++) {
        term *= x * (-1.0 / n);
        rest -= term / (a + n);
    }
    sum64 t = quotient((sum64){x, zero}, any_sum(splat64(1), a));
    t = product_of(fast_sum(t.hi, t.lo + rest), a);
    V64 k;
    const sum64 e = exp_of(u, &k);
    if (!upper) return scaled(e.hi + (e.lo - (e.hi * t.hi + e.hi * t.lo)), k);
    const sum64 whole = {scaled(e.hi, k), scaled(e.lo, k)}, part = product_of_sums(whole, t);
    /* exp(u) - 1 without the 1, where u is near 0. */
    const reduced_exp near = reduced_exp_of(u);
    const sum64 grown =
        either_sum((M64)(near.k == 0), fast_sum(near.r, near.tail), plus(whole, (sum64){zero - 1, zero}));
    const sum64 q = minus(part, grown);
    return q.hi + q.lo;
}

/* What is asked of a vector of arguments. */
typedef enum gamma_part { GAMMA_P, GAMMA_Q, GAMMA_P_BY_A } gamma_part;

/* Arguments at which nothing on the way leaves the range; the derivative by a needs an x that is not next to nothing,
 * less so for a < 1. */
ALWAYS_INLINE M64 is_plain_incomplete_gamma(V64 a, V64 x, gamma_part part) {
    const M64 inside = (M64)(a <= 0x1p100) & (M64)(x <= 0x1p300);
    const V64 slope = either((M64)(a < 1), splat64(0x1p-10), splat64(0x1p-20));
    return inside & (M64)(a >= 0x1p-300) & (M64)(x >= (part == GAMMA_P_BY_A ? slope : splat64(0x1p-300)));
}

/* Both sides are integrated only where a vector has lanes on both; the side is chosen lane by lane, so a lane does not
 * see the others. */
static __attribute__((noinline)) V64 incomplete_gamma(V64 a, V64 x, gamma_part part, const lam__nodes *nodes) {
    const bool slope = part == GAMMA_P_BY_A;
    const M64 none = (M64)(V64){0};
    /* Integrals relative to the density lose digits where a and x are both small; there are series. */
    const M64 small = slope ? none : (M64)(a < 1) & (M64)(x < 1);
    V64 r = {0};
    if (any64(~small)) {
        const density64 d = gamma_density(a, x, slope);
        /* The side that holds less: about half of the integral lies below x = a. */
        const M64 left = slope ? (M64)(d.slope.hi < 0) : (M64)(x < a), below = ~small & left, above = ~small & ~left;
        sum64 lower = {{0}, {0}}, upper = {{0}, {0}};
        if (any64(below)) lower = gamma_below_of(a, x, below, d.slope, slope, nodes);
        if (any64(above)) upper = gamma_above_of(a, x, above, d.slope, slope, nodes);
        r = scaled_product(d.density, either_sum(below, lower, upper));
        if (slope) r = either(below, r, -r);
        /* Of the larger side, which is at least about 1/2. */
        else r = either(part == GAMMA_P ? above : below, 1 - r, r);
    }
    if (!any64(small)) return r;
    return either(small, small_gamma(either(small, a, splat64(0.5)), either(small, x, splat64(0.5)), part == GAMMA_Q),
                  r);
}

/* Lanes `where` one by one. */
static __attribute__((noinline)) V64 patched_gamma(V64 r, V64 a, V64 x, M64 where, bool upper, int64_t code) {
    for (int i = 0; i < LANES64; i++)
        if (where[i]) r[i] = upper ? lam__special_igammac(a[i], x[i]) : lam__special_igamma(a[i], x[i], code);
    return r;
}

/* Lanes that are not plain stand for (2, 1) until they are patched. */
ALWAYS_INLINE V64 gamma_part_of(V64 a, V64 x, gamma_part part, const lam__nodes *nodes) {
    const M64 plain = is_plain_incomplete_gamma(a, x, part);
    const int64_t code = part == GAMMA_P_BY_A ? LAM__SPECIAL_CODE(1, 0, 0) : 0;
    V64 r = {0};
    if (any64(plain)) r = incomplete_gamma(either(plain, a, splat64(2)), either(plain, x, splat64(1)), part, nodes);
    return any64(~plain) ? patched_gamma(r, a, x, ~plain, part == GAMMA_Q, code) : r;
}

/* The density t^(a-1) exp(-t)/Gamma(a) at x, or its derivative by a. */
ALWAYS_INLINE V64 gamma_density_of(V64 a, V64 x, bool slope) {
    const M64 plain = is_plain_incomplete_gamma(a, x, GAMMA_P);
    V64 r = {0};
    if (any64(plain)) {
        const V64 y = either(plain, x, splat64(1));
        const density64 d = gamma_density(either(plain, a, splat64(2)), y, slope);
        const sum64 inverse = inverse_of((sum64){y, (V64){0}});
        r = scaled_product(d.density, slope ? product_of_sums(d.slope, inverse) : inverse);
    }
    return any64(~plain) ? patched_gamma(r, a, x, ~plain, false, LAM__SPECIAL_CODE(slope, 0, 1)) : r;
}

/* One line per member. */
/* clang-format off */
#define GAMMA(name, expression) \
    ALWAYS_INLINE V64 f64_##name(V64 a, V64 x) { \
        const lam__nodes *nodes = &lam__nodes_f64; \
        (void)nodes; \
        return expression; \
    } \
    ALWAYS_INLINE V64 quick_##name(V64 a, V64 x) { \
        const lam__nodes *nodes = &lam__nodes_f32; \
        (void)nodes; \
        return expression; \
    } \
    ALWAYS_INLINE V32 f32_##name(V32 a, V32 x) { return f32_through2(a, x, quick_##name); }
GAMMA(igamma, gamma_part_of(a, x, GAMMA_P, nodes))
GAMMA(igammac, gamma_part_of(a, x, GAMMA_Q, nodes))
GAMMA(igamma_by_a, gamma_part_of(a, x, GAMMA_P_BY_A, nodes))
GAMMA(igamma_by_x, gamma_density_of(a, x, false))
GAMMA(igamma_by_both, gamma_density_of(a, x, true))
#undef GAMMA
/* clang-format on */

/* ---- beta ------------------------------------------------------------------------------------------------------- */

/* The function itself, 1 less it, or its derivative by a or by b. */
typedef enum beta_part { BETA_P, BETA_Q, BETA_BY_A, BETA_BY_B } beta_part;

/* psi(a + b) - psi(a) - log(1 + b/y) for y = a + GAP_STEPS: the sum of b/(p (p + b)) for p = a, a + 1, ... below y, and
 * what psi(a + b) - log(a + b) and psi(y) - log(y) differ by. */
enum { GAP_STEPS = 10 };

static __attribute__((noinline)) sum64 stepped_gap(V64 a, V64 b, V64 rest) {
    sum64 sum = {rest, (V64){0}};
    for (int j = GAP_STEPS - 1; j >= 0; j--) {
        const sum64 p = any_sum(a, splat64(j)), q = plus(p, (sum64){b, (V64){0}});
        sum = plus(sum, quotient((sum64){b, (V64){0}}, product_of_sums(p, q)));
    }
    return sum;
}

/* log(x) + psi(a + b) - psi(a), the derivative by a of the logarithm of the density, where by_log = log(x (a + b)/a):
 * exact also where b is next to nothing and the psi are nearly equal, as is x to 1. */
static __attribute__((noinline)) sum64 beta_density_slope(V64 a, V64 b, sum64 x, sum64 by_log) {
    const V64 zero = {0};
    const M64 inside = (M64)(a < 9);
    /* Below 9 the series of psi does not hold yet: steps bring it up. */
    const sum64 y = any_sum(a, either(inside, zero + GAP_STEPS, zero)), z = plus(y, (sum64){b, zero});
    const V64 s = 1 / y.hi, t = 1 / z.hi, rest = b * s * t * (0.5 + series_gap(s, t, PSI_SERIES, 2));
    if (!any64(inside)) return plus(by_log, (sum64){rest, zero});
    const V64 c = either(inside, a, zero + 2);
    const sum64 logs = plus(log_of(x), log_of(quotient(z, y))), gap = stepped_gap(c, b, rest);
    return either_sum(inside, plus(logs, gap), plus(by_log, (sum64){rest, zero}));
}

/* x^a y^b / B(a, b) with x + y = 1, and the derivative of its logarithm that is asked for. */
static __attribute__((noinline)) density64 beta_density(V64 a, V64 b, V64 x, sum64 y, beta_part part) {
    const V64 zero = {0};
    /* a + b as a sum: B(a, b) is made of three Stirling formulas. */
    const sum64 s = any_sum(a, b);
    const log_gap by_x = log_gap_of(quotient(product_of(s, x), (sum64){a, zero}));
    const log_gap by_y = log_gap_of(quotient(product_of_sums(s, y), (sum64){b, zero}));
    sum64 down = plus(product_of(by_x.gap, a), product_of(by_y.gap, b));
    down = plus(down, minus(plus(stirling_rest(a), stirling_rest(b)), stirling_rest(s.hi)));
    density64 d = {.density = scaled_exp((sum64){-down.hi, -down.lo})};
    d.density.value = product_of_sums(d.density.value, root_by_circle(quotient(product(a, b), s)));
    if (part == BETA_BY_A) d.slope = beta_density_slope(a, b, (sum64){x, zero}, by_x.log);
    if (part == BETA_BY_B) d.slope = beta_density_slope(b, a, y, by_y.log);
    return d;
}

/* The side below x, with off = a y - b x; in the lanes `turned` everything has changed places. */
static __attribute__((noinline)) side64 beta_side(V64 a, V64 b, sum64 near, sum64 inverse, M64 turned, sum64 off,
                                                  double slow) {
    /* The power of 1 - x that is left. */
    const V64 m = either(turned, a, b) - 1, sign = either(turned, splat64(-1), splat64(1));
    side64 q = {.m = m, .ratio = product_of_sums(near, inverse), .steady = either(turned, b, a)};
    q.rate = product_of_sums(plus((sum64){sign * off.hi, sign * off.lo}, near), inverse);
    q.scale = slow / most_of(splat64(1), q.rate.hi + root64(most_of(m, (V64){0}) * near.hi) * inverse.hi);
    return q;
}

/* I_x(a, b) = 1 - I_(1-x)(b, a): the lanes in which the other side holds less are turned round, and all go through one
 * integral. 1 - x is a sum, so nothing is lost by it. */
static __attribute__((noinline)) V64 incomplete_beta(V64 a, V64 b, V64 x, beta_part part, const lam__nodes *nodes) {
    const sum64 y = any_sum(splat64(1), -x);
    const sum64 off = minus(product_of(y, a), product(b, x)), own = {x, (V64){0}};
    const bool whole = part == BETA_P || part == BETA_Q;
    const density64 d = beta_density(a, b, x, y, part);
    /* NaN turns a lane too, which is harmless. */
    const M64 turned = ~(M64)((whole ? off.hi : part == BETA_BY_A ? -d.slope.hi : d.slope.hi) > 0);
    const sum64 inverse = inverse_of(either_sum(turned, own, y));
    side64 q = beta_side(a, b, either_sum(turned, y, own), inverse, turned, off, whole ? 1 : 0.625);
    q.constant = d.slope;
    q.other = part == BETA_BY_A ? turned : ~turned;
    const sum64 sum = whole ? beta_below(&q, nodes) : beta_below_slope(&q, nodes);
    const V64 r = scaled_product(d.density, product_of_sums(sum, inverse));
    if (part == BETA_Q) return either(turned, r, 1 - r);
    /* What is wanted of the other side is 1 less it, or the slope with its sign turned. */
    return either(turned, part == BETA_P ? 1 - r : -r, r);
}

/* As for gamma; x = 1 is left out, since 1 - x has to be positive. */
ALWAYS_INLINE M64 is_plain_incomplete_beta(V64 a, V64 b, V64 x) {
    /* Within these nothing on the way leaves the range, and the smaller parameter is not lost in a + b. */
    const V64 least = least_of(a, b), most = most_of(a, b);
    return (M64)(least >= 0x1p-20) & (M64)(most <= 0x1p60) & (M64)(x >= 0x1p-500) & (M64)(x < 1);
}

/* What is taken from a series one by one: KEEP IN STEP: small beta (special/small.c). */
ALWAYS_INLINE M64 is_small_beta(V64 a, V64 b, V64 x) {
    const M64 left = (M64)(x <= 0.5);
    const V64 p = either(left, a, b), q = either(left, b, a), z = either(left, x, 1 - x);
    return (M64)(least_of(a, b) < 0.1) & (M64)(p < 0.5) & (M64)(q * z <= 1);
}

/* Lanes `where` one by one. */
static __attribute__((noinline)) V64 patched_beta(V64 r, V64 a, V64 b, V64 x, M64 where, bool upper, int64_t code) {
    for (int i = 0; i < LANES64; i++)
        if (where[i])
            r[i] = upper ? lam__special_betaincc(a[i], b[i], x[i]) : lam__special_betainc(a[i], b[i], x[i], code);
    return r;
}

/* As gamma_part_of; 2, 2 and 1/2 stand for lanes that are not plain. */
ALWAYS_INLINE V64 beta_part_of(V64 a, V64 b, V64 x, beta_part part, const lam__nodes *nodes) {
    const M64 plain = is_plain_incomplete_beta(a, b, x) & ~is_small_beta(a, b, x);
    V64 r = {0};
    if (any64(plain))
        r = incomplete_beta(either(plain, a, splat64(2)), either(plain, b, splat64(2)), either(plain, x, splat64(0.5)),
                            part, nodes);
    const int64_t code = LAM__SPECIAL_CODE(part == BETA_BY_A, part == BETA_BY_B, 0);
    return any64(~plain) ? patched_beta(r, a, b, x, ~plain, part == BETA_Q, code) : r;
}

/* The density at x, or its derivative by a or by b. */
ALWAYS_INLINE V64 beta_density_of(V64 a, V64 b, V64 x, beta_part part) {
    const M64 plain = is_plain_incomplete_beta(a, b, x);
    V64 r = {0};
    if (any64(plain)) {
        const V64 z = either(plain, x, splat64(0.5));
        /* 1 - x is exact as a sum. */
        const sum64 y = any_sum(splat64(1), -z);
        const density64 d = beta_density(either(plain, a, splat64(2)), either(plain, b, splat64(2)), z, y, part);
        const sum64 inverse = inverse_of(product_of(y, z));
        r = scaled_product(d.density, part == BETA_P ? inverse : product_of_sums(d.slope, inverse));
    }
    const int64_t code = LAM__SPECIAL_CODE(part == BETA_BY_A, part == BETA_BY_B, 1);
    return any64(~plain) ? patched_beta(r, a, b, x, ~plain, false, code) : r;
}

/* One line per member. */
/* clang-format off */
#define BETA(name, expression) \
    ALWAYS_INLINE V64 f64_##name(V64 a, V64 b, V64 x) { \
        const lam__nodes *nodes = &lam__nodes_f64; \
        (void)nodes; \
        return expression; \
    } \
    ALWAYS_INLINE V64 quick_##name(V64 a, V64 b, V64 x) { \
        const lam__nodes *nodes = &lam__nodes_f32; \
        (void)nodes; \
        return expression; \
    } \
    ALWAYS_INLINE V32 f32_##name(V32 a, V32 b, V32 x) { return f32_through3(a, b, x, quick_##name); }
BETA(betainc, beta_part_of(a, b, x, BETA_P, nodes))
BETA(betaincc, beta_part_of(a, b, x, BETA_Q, nodes))
BETA(betainc_by_a, beta_part_of(a, b, x, BETA_BY_A, nodes))
BETA(betainc_by_b, beta_part_of(a, b, x, BETA_BY_B, nodes))
BETA(betainc_by_x, beta_density_of(a, b, x, BETA_P))
BETA(betainc_by_xa, beta_density_of(a, b, x, BETA_BY_A))
BETA(betainc_by_xb, beta_density_of(a, b, x, BETA_BY_B))
#undef BETA
/* clang-format on */

#endif
