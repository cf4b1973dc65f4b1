/* The incomplete gamma and beta functions where a parameter is next to 0: much of them lies next to the ends then, in
 * no integral of one scale. With p, z = a, x the first is P(p, z); of the second p, q, z are a, b, x, or b, a, 1 - x
 * where x > 1/2. Both are r exp(u) g (A&S 6.5.29 and 26.5.4, DLMF 8.17.7):
 *
 *   gamma  r = 1,            u = p log(z) - log Gamma(1 + p),  c_n = (-z)^n / n!
 *   beta   r = q / (p + q),  u = p log(z) - log Gamma(1 + p) + log(Gamma(1 + p + q) / Gamma(1 + q)),
 *          c_n = (1 - q)_n z^n / n!
 *
 * with g = 1 + p times the sum of c_n / (p + n) from n = 1 on, which converges at once. Derivatives are those of the
 * factors, none of which has terms that cancel. */
#include "lib/kernels/special/special.h"

#include <math.h>
#include <stdbool.h>

typedef lam__wide wide;

enum { ORDERS = LAM__SPECIAL_ORDERS, MOST_TERMS = 100 };

static const wide NOTHING = 0x1p-68L; /* beside 1 */

/* log Gamma(1 + a) for 0 <= a < 1/2, with small relative error: from the series of log Gamma(2 + a), A&S 6.1.33. */
static wide lgamma_near_1(wide a) {
    const wide euler = 0.577215664901532860606512090082402431L;
    /* zeta(k) - 1 for k = 2, 3, ... */
    static const wide c[] = {
        0.6449340668482264364724L,     0.2020569031595942853997L,      0.082323233711138191516L,
        0.03692775514336992633137L,    0.01734306198444913971452L,     0.008349277381922826839798L,
        0.004077356197944339378685L,   0.002008392826082214417853L,    0.000994575127818085337146L,
        0.0004941886041194645587023L,  0.000246086553308048298638L,    0.0001227133475784891467518L,
        0.00006124813505870482925855L, 0.00003058823630702049355173L,  0.00001528225940865187173257L,
        0.0000076371976378997622736L,  0.000003817293264999839856462L, 0.000001908212716553938925657L,
        9.53962033872796113152e-7L,    4.769329867878064631167e-7L,    2.384505027277329900036e-7L,
        1.192199259653110730678e-7L,   5.960818905125947961244e-8L,    2.980350351465228018606e-8L,
        1.490155482836504123466e-8L,   7.450711789835429491981e-9L,    3.725334024788457054819e-9L,
        1.862659723513049006404e-9L,   9.313274324196681828718e-10L,   4.656629065033784072989e-10L,
        2.328311833676505492001e-10L,  1.164155017270051977593e-10L,
    };
    wide sum = 0;
    for (int k = (int)(sizeof c / sizeof *c) + 1; k >= 2; k--) sum = (c[k - 2] / k - sum) * a;
    return sum * a + a * (1 - euler) - log1pl(a);
}

static wide lgamma_above_1(wide a) {
    return a < 0.5L ? lgamma_near_1(a) : lam__special_wide_lgamma(1 + a);
}

/* log Gamma(1 + p + q) - log Gamma(1 + q), for small p a Taylor series. */
static wide lgamma_gap(wide p, wide q) {
    wide power = p, step = p, sum = 0;
    if (p >= 0.1L) return lam__special_wide_lgamma(1 + p + q) - lam__special_wide_lgamma(1 + q);
    for (int k = 1; k < 3 || fabsl(step) > 0x1p-66L * p; k++) { /* the first one may be next to 0 */
        step = power * lam__special_psi(k - 1, 1 + q);
        sum += step;
        power *= p / (k + 1);
    }
    return sum;
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

/* KEEP IN STEP: small beta (is_small_beta of simd/incomplete.h). */
bool lam__special_is_small_beta(double p, double q, wide z) {
    return fmin(p, q) < 0.1 && p < 0.5 && q * z <= 1;
}

/* exp(u) g, or 1 less it, for g = 1 + rest. */
static wide whole_or_rest(wide u, wide rest, bool upper) {
    return upper ? -expm1l(u) - expl(u) * rest : expl(u) * (1 + rest);
}

wide lam__special_small_beta(double p, double q, wide z, bool rest) {
    const wide u = p * logl(z) - lgamma_above_1(p) + lgamma_gap(p, q) - log1pl((wide)p / q);
    wide term = 1, sum = 0;
    for (int n = 1; n < MOST_TERMS && fabsl(term) > NOTHING; n++) {
        term *= (n - (wide)q) / n * z;
        sum += term / ((wide)p + n);
    }
    return whole_or_rest(u, p * sum, rest);
}

wide lam__special_small_gamma(double a, double x, bool upper) {
    wide term = 1, sum = 0;
    for (int n = 1; n < MOST_TERMS && fabsl(term) > NOTHING; n++) {
        term *= -(wide)x / n;
        sum += term / ((wide)a + n);
    }
    return whole_or_rest(a * logl(x) - lgamma_above_1(a), a * sum, upper);
}

/* ---- derivatives ------------------------------------------------------------------------------------------------- */

/* Taylor coefficients by p and q, as many as `orders` of each. */
typedef struct jet {
    wide x[ORDERS + 1][ORDERS + 1];
} jet;

typedef struct orders {
    int p, q;
} orders;

static void multiply(orders o, const jet *a, const jet *b, jet *out) {
    for (int i = 0; i <= o.p; i++)
        for (int j = 0; j <= o.q; j++) {
            wide sum = 0;
            for (int k = 0; k <= i; k++)
                for (int m = 0; m <= j; m++) sum += a->x[k][m] * b->x[i - k][j - m];
            out->x[i][j] = sum;
        }
}

/* Of exp(u - u(p, q)), by exp(u)' = u' exp(u). */
static void expand_exponential(orders o, const jet *u, jet *e) {
    for (int i = 0; i <= o.p; i++)
        for (int j = 0; j <= o.q; j++) {
            wide sum = 0;
            for (int k = 0; k <= i; k++)
                for (int m = 0; m <= j; m++)
                    if (k + m > 0) sum += (i ? k : m) * u->x[k][m] * e->x[i - k][j - m];
            e->x[i][j] = i + j == 0 ? 1 : sum / (i ? i : j);
        }
}

/* Adds the term of g that has these coefficients of c_n by q: times those of p / (p + n) = 1 - n / (p + n). */
static void add_term(orders o, wide p, int n, const wide c[], jet *g) {
    const wide inverse = 1 / (p + n);
    wide by_p = p * inverse, power = n * inverse * inverse;
    for (int i = 0; i <= o.p; i++) {
        for (int j = 0; j <= o.q; j++) g->x[i][j] += by_p * c[j];
        by_p = power;
        power *= -inverse;
    }
}

/* Of u = p log(z) - log Gamma(1 + p), but for its value. */
static void add_gamma(orders o, wide p, wide log_z, jet *u) {
    wide factorial = 1;
    for (int i = 1; i <= o.p; i++) {
        factorial *= i;
        u->x[i][0] += ((i == 1 ? log_z : 0) - lam__special_psi(i - 1, 1 + p)) / factorial;
    }
}

/* Of log(Gamma(1 + p + q) / Gamma(1 + q)). By q alone it is a difference of psi that may be nearly equal. */
static void add_beta(orders o, double p, double q, jet *u) {
    wide factorial = 1; /* of i + j */
    for (int n = 1; n <= o.p + o.q; n++) {
        factorial *= n;
        wide ways = 1; /* n over j */
        for (int j = 0; j <= n && j <= o.q; ways = ways * (n - j) / (j + 1), j++)
            if (j == n) u->x[0][j] += lam__special_polygamma_gap(1 + q, p, n - 1) / factorial;
            else if (n - j <= o.p) u->x[n - j][j] += lam__special_psi(n - 1, 1 + (wide)p + q) * ways / factorial;
    }
}

/* Of r = (q + dq) / (s + dp + dq), s = p + q: by q alone what cancels is left out. */
static void expand_ratio(orders o, wide p, wide q, jet *r) {
    wide ways[2 * ORDERS + 1] = {1}, power = 1 / (p + q); /* n over i; (-1)^n / s^(n + 1) */
    for (int n = 0; n <= o.p + o.q; n++) {
        for (int i = 0; i <= n && i <= o.p; i++) {
            if (n - i > o.q) continue;
            const wide before = i ? ways[i - 1] : 0, own = i < n ? ways[i] : 0; /* n - 1 over i - 1 and i */
            r->x[i][n - i] = n == 0 ? q * power : (q * before - p * own) * power;
        }
        for (int i = n; n > 0 && i > 0; i--) ways[i] = (i < n ? ways[i] : 0) + ways[i - 1];
        power /= -(p + q);
    }
}

/* Of the last coefficient, whose value exp(u) has been left out until here. */
static wide derivative(orders o, const jet *x, wide u) {
    wide value = x->x[o.p][o.q];
    for (int k = 2; k <= o.p; k++) value *= k;
    for (int k = 2; k <= o.q; k++) value *= k;
    return value * expl(u);
}

/* The factors become series in dp and dq, whose product has the derivatives as its coefficients. c[m] is coefficient m
 * of c_n by q, which a step brings from n - 1 to n. */
wide lam__special_small_beta_slope(double p, double q, wide z, int i, int j) {
    const orders o = {i, j};
    jet u = {{{0}}}, e = {{{0}}}, g = {{{1}}}, r = {{{0}}}, eg, all;
    add_gamma(o, p, logl(z), &u);
    add_beta(o, p, q, &u);
    expand_exponential(o, &u, &e);
    wide c[ORDERS + 1] = {1}, size = 1;
    for (int n = 1; n < MOST_TERMS && size > NOTHING; n++) {
        size = 0;
        for (int m = j; m >= 0; m--) {
            c[m] = ((n - (wide)q) * c[m] - (m ? c[m - 1] : 0)) * z / n;
            size += fabsl(c[m]);
        }
        add_term(o, p, n, c, &g);
    }
    expand_ratio(o, p, q, &r);
    multiply(o, &e, &g, &eg);
    multiply(o, &r, &eg, &all);
    return derivative(o, &all, p * logl(z) - lgamma_above_1(p) + lgamma_gap(p, q));
}

wide lam__special_small_gamma_slope(double a, double x, int k) {
    const orders o = {k, 0};
    jet u = {{{0}}}, e = {{{0}}}, g = {{{1}}}, all;
    add_gamma(o, a, logl(x), &u);
    expand_exponential(o, &u, &e);
    wide term = 1;
    for (int n = 1; n < MOST_TERMS && fabsl(term) > NOTHING; n++) {
        term *= -(wide)x / n;
        add_term(o, a, n, &term, &g);
    }
    multiply(o, &e, &g, &all);
    return derivative(o, &all, a * logl(x) - lgamma_above_1(a));
}
