/* The incomplete gamma and beta functions and all their derivatives by the parameters, as integrals of the density and
 * of its derivatives: the side of x that holds less is integrated, relative to the density at x, which is made of its
 * distance from the mode (Loader, Fast and accurate computation of binomial probabilities, 2000), so that neither
 * large parameters nor tails cost digits; of first derivatives by a parameter the side on which the integrand has one
 * sign. The variable is stretched by s = exp(u - exp(-u)) (Takahasi and Mori 1974) and the step of the trapezoidal rule
 * halved until it has settled; a step that agrees to eleven digits with the one before has all of them. */
#include "lib/kernels/special/special.h"

#include <math.h>
#include <stdbool.h>

typedef lam__wide wide;

#define TWO_PI 6.28318530717958647692528676655900577L

enum { ORDERS = LAM__SPECIAL_ORDERS };

/* ---- logarithms without cancellation ----------------------------------------------------------------------------- */

/* m (r - log(1 + r)) for r = off/m, where 1 + r is `ratio`, known better than by that sum. Near r = 0 it is about m
 * r^2/2: with q = r/(2 + r), r - log(1 + r) = r q - 2 (q^3/3 + q^5/5 + ...). */
static wide deviance(wide off, wide m, wide ratio) {
    wide r = off / m;
    if (r < -0.4L || r > 0.7L) return off - m * logl(ratio);
    wide q = r / (2 + r), square = q * q, sum = 0;
    for (int k = 45; k >= 3; k -= 2) sum = sum * square + 1 / (wide)k;
    return m * (r * q - 2 * sum * square * q);
}

/* x - log(1 + x) likewise to 53 bits, in a hurry. */
static double quick_log_gap(double x) {
    if (x < -0.3 || x > 0.4) return x - log1p(x);
    double r = x / (2 + x), square = r * r, sum = 0;
    for (int k = 23; k >= 3; k -= 2) sum = sum * square + 1.0 / k;
    return x * r - 2 * sum * square * r;
}

/* exp(s) - 1 - s. */
static double exp_gap(double s) {
    if (s < -0.5 || s > 0.5) return exp(s) - 1 - s;
    double sum = 1;
    for (int k = 15; k >= 3; k--) sum = 1 + sum * s / k;
    return s * s / 2 * sum;
}

/* log Gamma(a) - ((a - 1/2) log(a) - a + log(2 pi)/2) for a >= 10: Stirling's series. */
static wide stirling_rest(wide a) {
    static const wide c[] = {
        1.0L / 12,  -1.0L / 360,       1.0L / 1260,       -1.0L / 1680,        1.0L / 1188,     -691.0L / 360360,
        1.0L / 156, -3617.0L / 122400, 43867.0L / 244188, -174611.0L / 125400, 77683.0L / 5796, -236364091.0L / 1506960,
    };
    wide square = 1 / (a * a), sum = 0;
    for (int i = (int)(sizeof c / sizeof *c) - 1; i >= 0; i--) sum = sum * square + c[i];
    return sum / a;
}

/* ---- integrals --------------------------------------------------------------------------------------------------- */

/* A density relative to its value at the border, exp(-exponent(s)) at distance s from there, and what makes its
 * derivatives by the parameters: the logarithm has mixed derivatives c[i][j], of which those of total order 1 depend on
 * s; `move` brings them up to date. The orders by the parameters are i and j, `rate` is the slope of the exponent at
 * the border and `scale` the distance by which the variable is stretched; both only decide how many points are
 * needed. For a next to 0 the terms of the derivatives of 1/Gamma(a) would cancel, and those of a/Gamma(a + 1) do
 * not. */
typedef struct side {
    double a, b, x, y, rate, scale;
    int i, j;
    enum { FALLEN, RISEN_A, RISEN_B } risen;    /* by which parameter, that is below 1, the density was divided */
    double c[ORDERS + 2][ORDERS + 2], c10, c01; /* c10, c01: at the border */
    double (*exponent)(const struct side *q, double s);
    void (*move)(struct side *q, double s);
} side;

/* Small n: as exact in doubles as the table would be. */
static double binomial(int n, int k) {
    double value = 1;
    for (int m = 1; m <= k; m++) value = value * (n - k + m) / m;
    return value;
}

/* What the density is multiplied by when it is differentiated: f = exp(g) has f^(i+1,j) = the sum of
 * C(i,m) C(j,n) g^(m+1,n) f^(i-m,j-n). */
static double factor(const side *q) {
    double f[ORDERS + 1][ORDERS + 1] = {{1}};
    for (int i = 0; i <= q->i; i++)
        for (int j = 0; j <= q->j; j++) {
            int di = i > 0, dj = !di, ri = i - di, rj = j - dj;
            for (int m = 0; i + j > 0 && m <= ri; m++)
                for (int n = 0; n <= rj; n++)
                    f[i][j] += binomial(ri, m) * binomial(rj, n) * q->c[m + di][n + dj] * f[ri - m][rj - n];
        }
    const int i = q->i, j = q->j;
    if (q->risen == RISEN_A) return q->a * f[i][j] + (i ? i * f[i - 1][j] : 0);
    if (q->risen == RISEN_B) return q->b * f[i][j] + (j ? j * f[i][j - 1] : 0);
    return f[i][j];
}

/* The sum of the integrand at u = first, first + step, ... until it has died away. */
static wide points(side *q, double first, double step) {
    enum { DEAD = 80 };
    wide sum = 0;
    for (double u = first; u < 700; u += step) {
        double back = exp(-u), s = q->scale * exp(u - back), exponent = q->exponent(q, s);
        if (!(exponent < DEAD)) break;
        double weight = exp(-exponent) * s * (1 + back);
        if (q->i + q->j > 0) {
            q->move(q, s);
            weight *= factor(q);
        }
        sum += weight;
    }
    return sum;
}

/* From u = -3.9 the weight exp(-exp(3.9)) is below rounding. Each halving keeps the points there are and adds those
 * between. */
static wide integral(side *q) {
    const double first = -3.9;
    double step = 0.25;
    wide value = step * points(q, first, step);
    for (int halvings = 0; halvings < 5; halvings++) {
        wide finer = 0.5L * (value + step * points(q, first + step / 2, step));
        bool settled = fabsl(finer - value) <= 1e-11L * fabsl(finer);
        value = finer;
        step /= 2;
        if (settled) break;
    }
    return value;
}

/* ---- gamma ------------------------------------------------------------------------------------------------------- */

/* x^a exp(-x) / Gamma(a). */
static wide gamma_density(wide a, wide x) {
    if (a < 10) return expl(a * logl(x) - x - lam__special_wide_lgamma(a));
    return sqrtl(a / TWO_PI) * expl(-deviance(x - a, a, x / a) - stirling_rest(a));
}

/* Below x the variable is s = log(x/t). */
static double below_gamma(const side *q, double s) {
    return q->rate * s + q->x * exp_gap(-s);
}

static void move_below_gamma(side *q, double s) {
    q->c[1][0] = q->c10 - s;
}

/* Above x it is s = t - x. */
static double above_gamma(const side *q, double s) {
    if (q->a < 1) return s - (q->a - 1) * log1p(s / q->x);
    return q->rate * s + (q->a - 1) * quick_log_gap(s / q->x);
}

static void move_above_gamma(side *q, double s) {
    q->c[1][0] = q->c10 + log1p(s / q->x);
}

/* The logarithm of the density is a log(x) - x - log Gamma(a): all but its first derivative by a are constants. */
static void set_gamma_derivatives(side *q, int k) {
    q->i = k;
    q->risen = k > 0 && q->a < 1 ? RISEN_A : FALLEN;
    const wide a = q->risen ? q->a + 1 : q->a;
    for (int i = 2; i <= k; i++) q->c[i][0] = (double)-lam__special_psi(i - 1, a);
    if (k > 0) q->c10 = (double)(logl(q->x) - lam__special_psi(0, a));
}

/* What the derivatives are relative to. */
static wide gamma_unit(const side *q) {
    return q->risen ? expl(q->a * logl(q->x) - q->x - lam__special_wide_lgamma(1 + (wide)q->a))
                    : gamma_density(q->a, q->x);
}

/* The integral of the density below x, differentiated k times by a; of gamma_above, that above. */
static wide gamma_below(double a, double x, int k) {
    side q = {.a = a, .x = x, .rate = a - x, .exponent = below_gamma, .move = move_below_gamma};
    q.scale = 1 / (q.rate + fmin(x, sqrt(x)));
    set_gamma_derivatives(&q, k);
    return gamma_unit(&q) * integral(&q);
}

static wide gamma_above(double a, double x, int k) {
    side q = {.a = a, .x = x, .rate = (x - a + 1) / x, .exponent = above_gamma, .move = move_above_gamma};
    q.scale = a < 1 ? 1 : 1 / (q.rate + sqrt(a - 1) / x);
    set_gamma_derivatives(&q, k);
    return gamma_unit(&q) / x * integral(&q);
}

/* P(a, x) for x < a: by its series (A&S 6.5.29) where that is short, of some 5 sqrt(a) terms at most. */
static wide lower_gamma(double a, double x) {
    if (a > 100) return gamma_below(a, x, 0);
    wide term = 1 / (wide)a, sum = 0;
    for (int n = 1; term > sum * 0x1p-66L; n++) {
        sum += term;
        term *= x / ((wide)a + n);
    }
    return gamma_density(a, x) * sum;
}

/* The density differentiated k times by a. */
static wide gamma_slope(double a, double x, int k) {
    side q = {.a = a, .x = x};
    set_gamma_derivatives(&q, k);
    q.c[1][0] = q.c10;
    return gamma_unit(&q) / x * factor(&q);
}

/* At x = 0. */
static double gamma_slope_at_0(double a, int k) {
    if (a == 1) return k ? -INFINITY : 1;
    return a > 1 ? 0 : k & 1 ? -INFINITY : INFINITY;
}

static double gamma_derivative(double a, double x, int k, bool by_x) {
    if (by_x) return x == 0 ? gamma_slope_at_0(a, k) : isinf(x) ? 0 : (double)gamma_slope(a, x, k);
    if (x == 0 || isinf(x)) return 0;
    if (a < 1 && x < 1) return (double)lam__special_small_gamma_slope(a, x, k);
    const bool below = k == 1 ? logl(x) < lam__special_psi(0, a) : x < a;
    return (double)(below ? gamma_below(a, x, k) : -gamma_above(a, x, k));
}

lam__wide lam__special_wide_igamma(double a, double x, bool upper) {
    if (a < 1 && x < 1) return lam__special_small_gamma(a, x, upper);
    const bool below = x < a;
    const wide part = below ? lower_gamma(a, x) : gamma_above(a, x, 0);
    return below == upper ? 1 - part : part;
}

lam__wide lam__special_gamma_density(double a, double x) {
    return gamma_density(a, x);
}

double lam__special_igamma(double a, double x, int64_t code) {
    if (!(a >= 0 && x >= 0) || (a == 0 && x == 0) || (isinf(a) && isinf(x)) || (code >> 4 & 15) > LAM__SPECIAL_ORDERS)
        return NAN;
    if (code && isinf(a)) return 0;
    if (code) return gamma_derivative(a, x, (int)(code >> 4 & 15), code >> 8);
    if (x == 0 || isinf(a)) return 0;
    if (a == 0 || isinf(x)) return 1;
    return (double)lam__special_wide_igamma(a, x, false);
}

double lam__special_igammac(double a, double x) {
    if (!(a >= 0 && x >= 0) || (a == 0 && x == 0) || (isinf(a) && isinf(x))) return NAN;
    if (x == 0 || isinf(a)) return 1;
    if (a == 0 || isinf(x)) return 0;
    return (double)lam__special_wide_igamma(a, x, true);
}

/* ---- beta -------------------------------------------------------------------------------------------------------- */

/* log Gamma(a + b) - log Gamma(b) for b >= 10. */
static wide lgamma_step(wide b, wide a) {
    return (b - 0.5L) * log1pl(a / b) + a * (logl(a + b) - 1) + stirling_rest(a + b) - stirling_rest(b);
}

/* log B(a, b) for a <= b. */
lam__wide lam__special_wide_betaln(lam__wide a, lam__wide b) {
    if (b < 10) return lam__special_wide_lgamma(a) + (lam__special_wide_lgamma(b) - lam__special_wide_lgamma(a + b));
    if (a < 10) return lam__special_wide_lgamma(a) - lgamma_step(b, a);
    wide sum = a + b, rest = stirling_rest(a) + stirling_rest(b) - stirling_rest(sum);
    return 0.5L * logl(TWO_PI / b) + (a - 0.5L) * logl(a / sum) - b * log1pl(a / b) + rest;
}

double lam__special_betaln(double a, double b) {
    if (isnan(a) || isnan(b)) return NAN;
    const double least = fmin(a, b), most = fmax(a, b);
    return least > 0 && isinf(most) ? -INFINITY : (double)lam__special_wide_betaln(least, most);
}

/* x^a y^b / B(a, b), y = 1 - x. */
lam__wide lam__special_beta_density(lam__wide a, lam__wide b, lam__wide x, lam__wide y) {
    if (a < 10 || b < 10) {
        wide log_x = x < 0.5L ? logl(x) : log1pl(-y), log_y = y < 0.5L ? logl(y) : log1pl(-x);
        return expl(a * log_x + b * log_y - lam__special_wide_betaln(fminl(a, b), fmaxl(a, b)));
    }
    wide off = b * x - a * y, rest = stirling_rest(a + b) - stirling_rest(a) - stirling_rest(b);
    return sqrtl(a / (a + b) * b / TWO_PI) *
           expl(rest - deviance(off, a, (a + b) * x / a) - deviance(-off, b, (a + b) * y / b));
}

/* log(y + x exp(-s)), which is -log((1 - t)/y). */
static double beta_log(const side *q, double s) {
    return q->x < q->y ? log1p(q->x * expm1(-s)) : log(q->y + q->x * exp(-s));
}

/* The same and s, which is -log(t/x). */
static double beta_fall(const side *q, double s) {
    return q->x < q->y || s > 700 ? beta_log(q, s) + s : log1p(q->y * expm1(s));
}

/* The first and x s, which begins with s^2. */
static double beta_bend(const side *q, double s) {
    if (s > 0.5) return q->x < q->y ? beta_log(q, s) + q->x * s : beta_fall(q, s) - q->y * s;
    if (q->x < q->y) return q->x * exp_gap(-s) - quick_log_gap(q->x * expm1(-s));
    return q->y * exp_gap(s) - quick_log_gap(q->y * expm1(s));
}

/* The variable is s = logit(x) - logit(t). */
static double below_beta(const side *q, double s) {
    return q->rate * s + (q->a + q->b) * beta_bend(q, s);
}

static void move_below_beta(side *q, double s) {
    q->c[1][0] = q->c10 - beta_fall(q, s);
    q->c[0][1] = q->c01 - beta_log(q, s);
}

/* Derivatives of the logarithm of the density by a and b, up to the order that is asked for. Where a parameter is below
 * 1 the density was divided by the smaller one (`risen`), whose psi functions are then those of one more. */
static void set_beta_derivatives(side *q, wide x, wide y) {
    const double least = fmin(q->a, q->b);
    q->risen = q->i + q->j == 0 || least >= 1 ? FALLEN : q->a == least ? RISEN_A : RISEN_B;
    const wide a = (wide)q->a + (q->risen == RISEN_A), b = (wide)q->b + (q->risen == RISEN_B);
    for (int i = 0; i <= q->i; i++)
        for (int j = 0; j <= q->j; j++) {
            if (i + j == 0) continue;
            wide value = lam__special_psi(i + j - 1, (wide)q->a + q->b);
            if (j == 0) value -= lam__special_psi(i - 1, a);
            if (i == 0) value -= lam__special_psi(j - 1, b);
            if (i == 1 && j == 0) q->c10 = (double)(value + logl(x));
            if (i == 0 && j == 1) q->c01 = (double)(value + logl(y));
            q->c[i][j] = (double)value;
        }
}

/* What the derivatives are relative to. */
static wide beta_unit(const side *q, wide x, wide y) {
    return lam__special_beta_density(q->a, q->b, x, y) / (q->risen == RISEN_A ? q->a : q->risen == RISEN_B ? q->b : 1);
}

/* For x below the mean a/(a + b), or not far above. */
static wide beta_below(double a, double b, wide x, wide y, int i, int j) {
    side q = {.a = a, .b = b, .x = (double)x, .y = (double)y, .i = i, .j = j};
    q.rate = (double)(a * y - b * x);
    q.exponent = below_beta;
    q.move = move_below_beta;
    double spread = (a + b) * q.x * q.y;
    q.scale = 1 / (fmax(q.rate, 0.5 * fmin(1, a)) + fmin(spread, sqrt(spread)));
    set_beta_derivatives(&q, x, y);
    return beta_unit(&q, x, y) * integral(&q);
}

/* ---- beta and its derivatives ------------------------------------------------------------------------------------ */

/* The density differentiated by a and b. */
static wide beta_slope(double a, double b, wide x, wide y, int i, int j) {
    side q = {.a = a, .b = b, .x = (double)x, .y = (double)y, .i = i, .j = j};
    set_beta_derivatives(&q, x, y);
    q.c[1][0] = q.c10;
    q.c[0][1] = q.c01;
    return beta_unit(&q, x, y) / (x * y) * factor(&q);
}

/* On which side of x the first derivative by a or b is integrated: where that of the logarithm of the density has one
 * sign, so that nothing cancels. */
static bool is_below(double a, double b, wide x, wide y, int i, int j) {
    if (i + j != 1) return a * y > b * x;
    if (i == 1) return logl(x) < lam__special_psi(0, a) - lam__special_psi(0, (wide)a + b);
    return logl(y) > lam__special_psi(0, b) - lam__special_psi(0, (wide)a + b);
}

/* At an end where the density is about near^(power - 1). */
static double beta_slope_at_end(double power, double other, int derivatives) {
    if (power == 1) return derivatives ? NAN : other;
    return power > 1 ? 0 : derivatives & 1 ? -INFINITY : INFINITY;
}

/* I_x(a, b), or 1 less it. */
lam__wide lam__special_wide_betainc(double a, double b, lam__wide x, lam__wide y, bool rest) {
    const bool left = x <= 0.5L;
    if (left ? lam__special_is_small_beta(a, b, x) : lam__special_is_small_beta(b, a, y))
        return left ? lam__special_small_beta(a, b, x, rest) : lam__special_small_beta(b, a, y, !rest);
    const bool below = is_below(a, b, x, y, 0, 0);
    const wide part = below ? beta_below(a, b, x, y, 0, 0) : beta_below(b, a, y, x, 0, 0);
    return below == rest ? 1 - part : part;
}

/* The derivative by a and b, of order 1 at least. */
static wide whole_beta_slope(double a, double b, wide x, wide y, int i, int j) {
    const bool left = x <= 0.5L, high = i + j > 1; /* where integrands have more than one sign */
    if (left && (lam__special_is_small_beta(a, b, x) || (high && b < 0.1)))
        return lam__special_small_beta_slope(a, b, x, i, j);
    if (!left && (lam__special_is_small_beta(b, a, y) || (high && a < 0.1)))
        return -lam__special_small_beta_slope(b, a, y, j, i);
    return is_below(a, b, x, y, i, j) ? beta_below(a, b, x, y, i, j) : -beta_below(b, a, y, x, j, i);
}

double lam__special_betainc(double a, double b, double x, int64_t code) {
    int i = (int)(code >> 4 & 15), j = (int)(code & 15);
    bool by_x = code >> 8;
    wide y = 1 - (wide)x;
    if (!(a > 0 && b > 0 && x >= 0 && x <= 1) || isinf(a) || isinf(b) || i + j > LAM__SPECIAL_ORDERS) return NAN;
    if (by_x && x == 0) return beta_slope_at_end(a, b, i);
    if (by_x && x == 1) return beta_slope_at_end(b, a, j);
    if (x == 0 || x == 1) return code ? 0 : x;
    if (by_x) return (double)beta_slope(a, b, x, y, i, j);
    if (code == 0) return (double)lam__special_wide_betainc(a, b, x, y, false);
    return (double)whole_beta_slope(a, b, x, y, i, j);
}

/* 1 - I_x(a, b), of which nothing is lost by 1 - x, which is a wide number. */
double lam__special_betaincc(double a, double b, double x) {
    if (!(a > 0 && b > 0 && x >= 0 && x <= 1) || isinf(a) || isinf(b)) return NAN;
    return x == 0 || x == 1 ? 1 - x : (double)lam__special_wide_betainc(a, b, x, 1 - (wide)x, true);
}
