/* The logarithm of gamma and its derivatives in the complex plane, one number at a time. Stirling's series where |z| is
 * large and z far from the negative axis; from there downwards by recurrence, upwards into it by reflection. Near the
 * zeros at 1 and 2 of the logarithm its Taylor series. The branch is continued from the positive axis on, with its cut
 * along the negative one, from which the sign of a zero imaginary part tells the side.
 * Source: Hare, Computing the principal branch of log-Gamma, 1997, (3.1), (3.2) and 4; DLMF 5.5, 5.7.3, 5.11, 5.15. */
#include "lib/kernels/special/plane.h"

#include "lib/kernels/special/plane_wide.h"

#include <complex.h>
#include <math.h>
#include <stdbool.h>

static const wide PI = 3.141592653589793238462643383279503L, LOG_PI = 1.144729885849400174143427351353059L;
static const wide HALF_LOG_TURN = 0.9189385332046727417803297364056176L, EULER = 0.5772156649015328606065120900824024L;

/* (-1)^k zeta(k) / k from k = 2 on. */
static const wide taylor[] = {
    0.8224670334241132182362L,  -0.4006856343865314284666L,  0.270580808427784547879L,   -0.2073855510286739852663L,
    0.1695571769974081899524L,  -0.14404989676884611812L,    0.1255096695247430424223L,  -0.1113342658695646904909L,
    0.1000994575127818085337L,  -0.09095401714582904223261L, 0.08335384054610900402489L, -0.07693251641135219147283L,
    0.07143294629536133605923L, -0.0666687058824204680329L,  0.06250095514121304074198L, -0.05882397865868458233896L,
    0.05555576762740361110221L, -0.05263167937961666073363L, 0.05000004769810169363981L, -0.04761907033014222799078L,
    0.04545455629320466944241L, -0.04347826605304025936135L, 0.04166666915034121046914L, -0.04000000119214014058609L,
    0.03846153903467518570635L, -0.03703703731298932554946L, 0.03571428584733335802816L, -0.03448275868491930081079L,
    0.03333333336437758108066L, -0.03225806453115041633882L, 0.03125000000727597448024L, -0.03030303030655804550688L};
/* Bernoulli's numbers of even index from 2 on. */
static const wide bernoulli[] = {0.1666666666666666666667L,   -0.03333333333333333333333L, 0.02380952380952380952381L,
                                 -0.03333333333333333333333L, 0.07575757575757575757576L,  -0.2531135531135531135531L,
                                 1.166666666666666666667L,    -7.092156862745098039216L,   54.97117794486215538847L,
                                 -529.1242424242424242424L,   6192.123188405797101449L,    -86580.25311355311355311L,
                                 1425517.166666666666667L,    -27298231.06781609195402L};
enum { TAYLOR = sizeof taylor / sizeof *taylor, BERNOULLI = sizeof bernoulli / sizeof *bernoulli };

/* The least real or imaginary part from which Stirling's series of a derivative has all digits. */
static wide enough(int order) {
    return 12 + order;
}

/* ---- order 0 ----------------------------------------------------------------------------------------------------- */

static cwide stirling(cwide z) {
    const cwide inverse = 1 / z, square = inverse * inverse;
    cwide sum = 0;
    for (int k = BERNOULLI; k >= 1; k--) sum = sum * square + bernoulli[k - 1] / (2 * k * (2 * k - 1));
    return (z - 0.5L) * clogl(z) - z + HALF_LOG_TURN + sum * inverse;
}

/* log Gamma(1 + x) for small x. */
static cwide near_one(cwide x) {
    cwide sum = 0;
    for (int k = TAYLOR; k >= 1; k--) sum = (sum + taylor[k - 1]) * x;
    return (sum - EULER) * x;
}

/* log (1 + x) for small x. */
static cwide log_one(cwide x) {
    const wide a = creall(x), b = cimagl(x);
    return pair(0.5L * log1pl(a * (2 + a) + b * b), atan2l(b, 1 + a));
}

/* log Gamma(z + n) less the logarithm of z (z + 1) .. (z + n - 1), whose branch is that of the sum of logarithms: with
 * im z >= 0 a turn is full whenever the product crosses the negative axis downwards. */
static cwide lowered(cwide z) {
    cwide product = z;
    int turns = 0;
    bool below = false;
    for (z += 1; creall(z) < enough(0); z += 1) {
        product *= z;
        const bool now = signbit(cimagl(product));
        turns += now && !below;
        below = now;
    }
    return stirling(z) - clogl(product) - pair(0, 2 * PI * turns);
}

/* sin(pi z), of which whole periods of the real part are taken away first. */
static cwide sine(cwide z) {
    const wide x = creall(z), whole = roundl(x), y = PI * cimagl(z), part = PI * (x - whole);
    const cwide s = pair(sinl(part) * coshl(y), cosl(part) * sinhl(y));
    return fmodl(whole, 2) == 0 ? s : -s;
}

/* im z >= 0, or +0. */
static cwide upper(cwide z) {
    const wide x = creall(z), y = cimagl(z);
    if (x >= enough(0) || y >= enough(0)) return stirling(z);
    if (cabsl(z - 1) <= 0.2L) return near_one(z - 1);
    if (cabsl(z - 2) <= 0.2L) return log_one(z - 2) + near_one(z - 2);
    if (x > 0.1L) return lowered(z);
    return pair(LOG_PI, 2 * PI * floorl(0.5L * x + 0.25L)) - clogl(sine(z)) - conjl(upper(conjl(1 - z)));
}

/* ---- derivatives ------------------------------------------------------------------------------------------------- */

/* The derivative of order n of digamma, n >= 0, from the series of log z - 1 / 2z - the sum of B_2k / (2k z^2k). */
static cwide series(cwide z, int n) {
    const cwide inverse = 1 / z, square = inverse * inverse;
    cwide power = 1, sum = 0;
    wide factorial = 1;
    for (int k = 1; k <= n; k++) factorial *= k, power *= inverse;
    cwide term = power * square;
    wide factor = factorial * (n + 1) / 2; /* (2k + n - 1)! / (2k)! */
    for (int k = 1; k <= BERNOULLI; k++) {
        sum += bernoulli[k - 1] * factor * term;
        factor *= (wide)(2 * k + n) * (2 * k + n + 1) / ((wide)(2 * k + 1) * (2 * k + 2));
        term *= square;
    }
    sum += 0.5L * factorial * power * inverse;
    if (n == 0) return clogl(z) - sum;
    sum += factorial / n * power;
    return n % 2 ? sum : -sum;
}

/* The same by recurrence from where the series holds: (-1)^(n + 1) n! / (z + k)^(n + 1) for each step. */
static cwide raised(cwide z, int n) {
    cwide sum = 0;
    wide factorial = n % 2 ? 1 : -1;
    for (int k = 2; k <= n; k++) factorial *= k;
    for (; creall(z) < enough(n); z += 1) {
        const cwide inverse = 1 / z;
        cwide power = inverse;
        for (int k = 0; k < n; k++) power *= inverse;
        sum += power;
    }
    return factorial * sum + series(z, n);
}

/* The derivative of order n of cot, at pi z: with c = cot and s = 1 / sin^2, which for n > 0 is -s q(c) where q is 1,
 * then -(2 c q + (1 + c^2) q'). */
static cwide cotangent(cwide z, int n) {
    const cwide sin = sine(z), s = 1 / (sin * sin), c = sine(z + 0.5L) / sin;
    wide q[LAM__LOGGAMMA_ORDERS + 1] = {1};
    cwide sum = 0;
    if (n == 0) return c;
    for (int d = 0; d < n - 1; d++) {
        wide next[LAM__LOGGAMMA_ORDERS + 1] = {0};
        for (int k = 0; k <= d; k++) {
            next[k + 1] -= (2 + k) * q[k];
            if (k) next[k - 1] -= k * q[k];
        }
        for (int k = 0; k <= d + 1; k++) q[k] = next[k];
    }
    for (int k = n - 1; k >= 0; k--) sum = sum * c + q[k];
    return -s * sum;
}

static cwide psi(cwide z, int n) {
    const wide x = creall(z), y = cimagl(z);
    if (x >= enough(n) || fabsl(y) >= enough(n)) return series(z, n);
    if (x >= 0) return raised(z, n);
    const cwide far = raised(1 - z, n);
    wide power = PI;
    for (int k = 0; k < n; k++) power *= PI;
    return (n % 2 ? -far : far) - power * cotangent(z, n);
}

lam_c128 lam__special_loggamma(lam_c128 x, int order) {
    const bool pole = x.re <= 0 && x.re == floor(x.re) && x.im == 0;
    cwide w = pair(NAN, NAN);
    if (!pole && !isnan(x.re) && !isnan(x.im)) {
        const bool below = signbit(x.im);
        w = pair(x.re, below ? -x.im : x.im);
        w = order ? psi(w, order - 1) : upper(w);
        if (below) w = conjl(w);
    }
    return (lam_c128){(double)creall(w), (double)cimagl(w)};
}
