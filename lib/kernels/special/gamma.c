/* digamma, polygamma and zeta. Right of 0 the argument is moved up to where the asymptotic series serves (Abramowitz
 * and Stegun 6.3.18, 6.4.11); left of it the reflection formulas do, by the distance to the nearest pole, which is
 * exact. Near its positive zero digamma is taken from its Taylor series there, so that the relative error stays small,
 * and near negative zeros all come from digamma.c. */
#define _DEFAULT_SOURCE 1 /* lgamma_r: lgamma itself writes a global */
#include "lib/kernels/special/special.h"

#include <math.h>

typedef lam__wide wide;

#define PI 3.14159265358979323846264338327950288L

/* The sign comes back through a pointer; the magnitude is what is asked for. */
wide lam__special_wide_lgamma(wide x) {
    int sign;
    return lgammal_r(x, &sign);
}

double lam__special_lgamma(double x) {
    return (double)lam__special_wide_lgamma(x);
}

/* Bernoulli numbers B2, B4, ... As many as the tails below use. */
static const wide bernoulli[] = {
    1.0L / 6,        -1.0L / 30,
    1.0L / 42,       -1.0L / 30,
    5.0L / 66,       -691.0L / 2730,
    7.0L / 6,        -3617.0L / 510,
    43867.0L / 798,  -174611.0L / 330,
    854513.0L / 138, -236364091.0L / 2730,
    8553103.0L / 6,  -23749461029.0L / 870,
};
enum { BERNOULLIS = sizeof bernoulli / sizeof *bernoulli };

/* ---- digamma ----------------------------------------------------------------------------------------------------- */

/* psi at x0 + d, where x0 is its positive zero, for |d| <= 1/4: coefficients psi^(k)(x0)/k!, the rest below 2^-66. */
static wide near_root(wide d) {
    static const wide c[] = {
        0.967672245447621170427445L,     -0.442763168983592106092865L,     0.258499760955651010624401L,
        -0.163942705442406527504251L,    0.107824050691262365757183L,      -0.0721995612564547109261218L,
        0.0488042881641431072250925L,    -0.0331611264748473592922584L,    0.0225976482322181046596248L,
        -0.0154247659049489591388003L,   0.010538791616612175388124L,      -0.00720453438635686824097047L,
        0.00492678139572985344635427L,   -0.00336980165543932808279286L,   0.00230512632673492783693838L,
        -0.00157693677143019725927093L,  0.00107882520191629658069192L,    -0.000738070938996005129566047L,
        0.000504953265834602035177398L,  -0.000345468025106307699555568L,  0.000236356015640270527923696L,
        -0.000161706220919748034493583L, 0.000110633727687474109040872L,   -0.0000756917958219506591923771L,
        0.0000517857579522208086899327L, -0.0000354300709476596063156988L,
    };
    wide sum = 0;
    for (int i = (int)(sizeof c / sizeof *c) - 1; i >= 0; i--) sum = sum * d + c[i];
    return sum * d;
}

/* For x > 0: psi(x) = psi(x + m) - (1/x + ... + 1/(x + m - 1)), the sum kept as one fraction. 16 is where ten Bernoulli
 * numbers give 64 digits. */
static wide digamma_right(wide x) {
    const wide root = 0x1.762d86356be3f6e2p+0L, root_rest = -1.8257096315963484215e-20L;
    wide away = (x - root) - root_rest;
    if (fabsl(away) < 0.25L) return near_root(away);
    wide top = 0, bottom = 1;
    for (; x < 16; x += 1) {
        top = top * x + bottom;
        bottom *= x;
    }
    wide square = 1 / (x * x), sum = 0;
    for (int k = 10; k > 0; k--) sum = (sum + bernoulli[k - 1] / (2 * k)) * square;
    return logl(x) - 0.5L / x - sum - top / bottom;
}

static wide digamma(wide x) {
    if (x > 0) return digamma_right(x);
    if (x == 0) return signbit(x) ? INFINITY : -INFINITY;
    wide away = x - rintl(x);
    return away == 0 || isinf(x) ? (wide)NAN : digamma_right(1 - x) - PI / tanl(PI * away);
}

/* What is left of terms that cancel is worked out with more digits. */
double lam__special_digamma(double x) {
    wide r = digamma(x);
    return x < 0 && fabsl(r) < 0.125L ? lam__special_digamma_left(x) : (double)r;
}

/* ---- polygamma --------------------------------------------------------------------------------------------------- */

/* By squares: n may be any order that a user derives to. */
static wide power(wide x, int64_t n) {
    wide result = 1;
    for (; n; n >>= 1, x *= x)
        if (n & 1) result *= x;
    return result;
}

/* What the sum of (y + k)^-s over k = 0, 1, ... is to y^-s, for large y and s > 1: Euler's and Maclaurin's formula. */
static wide zeta_tail(wide s, wide y) {
    wide factor = s, square = 1 / (y * y), series = 0;
    wide term = 1 / y; /* s (s+1) ... / (2j)! y^-(2j-1) */
    for (int j = 1; j <= BERNOULLIS; j++) {
        term *= factor / (2 * j);
        series += bernoulli[j - 1] * term;
        term *= (factor + 1) / (2 * j + 1) * square;
        factor += 2;
    }
    return y / (s - 1) + 0.5L + series;
}

/* The sum of (x + k)^-s over k = 0, 1, ..., for x > 0 and whole s > 1. The sum goes on to where the tail's terms fall
 * for as many Bernoulli numbers as there are. */
static wide zeta(int64_t s, wide x) {
    wide sum = 0, y = x;
    for (; y < (wide)s + 14; y += 1) sum += 1 / power(y, s);
    return sum + zeta_tail((wide)s, y) / power(y, s);
}

/* At 0, -1, ... an even power is inf from both sides; an odd one only at a zero, which has a sign. */
static wide zeta_at_pole(int64_t s, wide x) {
    if (!(s & 1)) return INFINITY;
    return x == 0 ? copysignl(INFINITY, x) : (wide)NAN;
}

/* The same for all x: what lies left of 0 is the sum over all integers less the other side of it. Where terms cancel,
 * what is left is worked out with more digits. */
static wide zeta_anywhere(int64_t s, wide x) {
    if (isinf(x)) return x > 0 ? 0 : (wide)NAN;
    if (x > 0) return zeta(s, x);
    wide away = x - rintl(x), sign = s & 1 ? -1 : 1;
    if (away == 0) return zeta_at_pole(s, x);
    wide first = 1 / power(away, s);
    wide sum = first + zeta(s, 1 + away) + sign * (zeta(s, 1 - away) - zeta(s, 1 - x));
    return s & 1 && fabsl(sum) < 0.125L * fabsl(first) ? lam__special_zeta_left(s, x) : sum;
}

wide lam__special_psi(int64_t n, wide x) {
    if (n == 0 || isnan(x)) return n == 0 && !isnan(x) ? digamma(x) : x;
    wide factorial = 1;
    for (int64_t k = 2; k <= n; k++) factorial *= (wide)k;
    wide z = zeta_anywhere(n + 1, x) * factorial;
    return n & 1 ? z : -z;
}

double lam__special_polygamma(double x, int64_t n) {
    return n == 0 ? lam__special_digamma(x) : (double)lam__special_psi(n, x);
}

/* ---- differences ------------------------------------------------------------------------------------------------- */

/* (x + b)^-e - x^-e where log is that of (x + b)/x. */
static wide power_gap(wide x, wide log, wide e) {
    return powl(x, -e) * expm1l(-e * log);
}

/* The same of what is left of the sum of (x + k)^-s over k = 0, 1, ...: zeta_tail times x^-s, term by term; of s = 1,
 * whose sum is infinite, the difference is a number. */
static wide tail_gap(int64_t s, wide x, wide b) {
    const wide log = log1pl(b / x);
    wide sum = s == 1 ? -log : power_gap(x, log, (wide)s - 1) / (wide)(s - 1), factor = (wide)s / 2;
    sum += power_gap(x, log, (wide)s) / 2;
    for (int64_t j = 1; j <= BERNOULLIS; j++) {
        sum += bernoulli[j - 1] * factor * power_gap(x, log, (wide)(s + 2 * j - 1));
        factor *= (wide)(s + 2 * j - 1) / (2 * j + 1) * (wide)(s + 2 * j) / (2 * j + 2);
    }
    return sum;
}

/* (-1)^(n+1) n! times the difference of the sums of powers n + 1. */
double lam__special_polygamma_gap(double a, double b, int64_t n) {
    if (a == INFINITY && isfinite(b)) return 0;
    if (!(a > 0 && b >= 0) || isinf(a) || isinf(b))
        return (double)(lam__special_psi(n, (wide)a + b) - lam__special_psi(n, a));
    if (b == 0) return 0;
    wide sum = 0, x = a, factorial = 1;
    for (; x < (wide)n + 15; x += 1) sum += power_gap(x, log1pl(b / x), (wide)n + 1);
    sum += tail_gap(n + 1, x, b);
    for (int64_t k = 2; k <= n; k++) factorial *= (wide)k;
    return (double)(n & 1 ? factorial * sum : -factorial * sum);
}

/* ---- zeta -------------------------------------------------------------------------------------------------------- */

/* A function of s + e as a power series in e, up to the order that is asked for. */
typedef struct series {
    int order;
    wide c[LAM__SPECIAL_ORDERS + 1];
} series;

/* f (a + b e) Powers of e above the order are dropped here and below. */
static void multiply(series *f, wide a, wide b) {
    for (int i = f->order; i >= 0; i--) f->c[i] = f->c[i] * a + (i > 0 ? f->c[i - 1] * b : 0);
}

/* f / (a + e) From the lowest power up, as long division has it. */
static void divide(series *f, wide a) {
    for (int i = 0; i <= f->order; i++) f->c[i] = (f->c[i] - (i > 0 ? f->c[i - 1] : 0)) / a;
}

static void add(series *f, const series *g, wide by) {
    for (int i = 0; i <= f->order; i++) f->c[i] += by * g->c[i];
}

/* The last coefficient of f y^-(s + e). y^-e = exp(-e log(y)) is a power series too. */
static wide times_power(const series *f, wide s, wide y) {
    wide less = -logl(y), factor = 1, sum = 0;
    for (int i = 0; i <= f->order; i++) {
        sum += f->c[f->order - i] * factor;
        factor *= less / (i + 1);
    }
    return sum * powl(y, -s);
}

/* f times what zeta_tail is, for s + e. The same steps with series in e, where s stands for s + e. */
static series tail_series(const series *f, wide s, wide y) {
    series sum = *f, term = *f;
    multiply(&sum, y, 0);
    multiply(&term, 1 / y, 0);
    divide(&sum, s - 1);
    add(&sum, f, 0.5L);
    for (int j = 1; j <= BERNOULLIS; j++) {
        multiply(&term, (s + (2 * j - 2)) / (2 * j), 1 / (wide)(2 * j));
        add(&sum, &term, bernoulli[j - 1]);
        multiply(&term, (s + (2 * j - 1)) / (2 * j + 1) / (y * y), 1 / ((2 * j + 1) * y * y));
    }
    return sum;
}

/* zeta(s, x) differentiated `order` times by s and n times by x, which makes it -s (-s - 1) ... zeta(s + n, x), for
 * s > 1 and x > 0; what is added when nothing changes any more is left out. */
static wide real_zeta(wide s, wide x, int order, int64_t n) {
    series front = {order, {1}};
    wide sum = 0, y = x, factorial = 1;
    for (int i = 2; i <= order; i++) factorial *= i;
    for (int64_t j = 0; j < n; j++, s += 1) multiply(&front, -s, -1);
    for (; y < s + 16; y += 1) {
        wide term = times_power(&front, s, y);
        sum += term;
        if (y > 2 && fabsl(term) <= fabsl(sum) * 0x1p-80L) return sum * factorial;
    }
    series tail = tail_series(&front, s, y);
    return (sum + times_power(&tail, s, y)) * factorial;
}

static double zeta_at_infinity(double q, int64_t code) {
    if (q < 1) return INFINITY;
    return q == 1 && code == 0 ? 1 : 0;
}

/* At the pole of s: by q alone there is a derivative. */
static double zeta_at_one(double q, int order, int64_t n) {
    if (order > 0 || n == 0) return order & 1 ? -INFINITY : INFINITY;
    return q > 0 ? (double)real_zeta(1, q, 0, n) : NAN;
}

/* Left of 0 powers are real for whole s only. */
static double zeta_left(double s, double q, int order, int64_t n) {
    if (order > 0 || isinf(q)) return NAN;
    if (q == floor(q)) return n & 1 ? -INFINITY : INFINITY;
    if (s != floor(s) || s + (double)n >= 1e4) return NAN;
    wide factor = 1;
    for (int64_t j = 0; j < n; j++) factor *= -(wide)s - (wide)j;
    return (double)(factor * zeta_anywhere((int64_t)s + n, q));
}

/* Domains are tested in the order in which they exclude others: s first, then q; what is left is s > 1 and q > 0. */
double lam__special_zeta(double s, double q, int64_t code) {
    const int order = (int)(code & 63);
    const int64_t n = code >> 6;
    if (isnan(s) || isnan(q) || s < 1 || order > LAM__SPECIAL_ORDERS) return NAN;
    if (s == 1) return zeta_at_one(q, order, n);
    if (q == 0) return n & 1 ? -INFINITY : INFINITY;
    if (q < 0) return zeta_left(s, q, order, n);
    if (isinf(s)) return zeta_at_infinity(q, code);
    return isinf(q) ? 0 : (double)real_zeta(s, q, order, n);
}
