/* Derivatives of mish one number at a time, of any order that has a use. What is multiplied by x is the rational
 * function w = tanh(log(1 + u)) of u = exp(x), 1 - 2/d with d = 2 + 2 u + u^2, and so are its derivatives. */
#include "lib/kernels/special/special.h"

#include <math.h>

typedef lam__wide wide;

enum { MOST = LAM__MISH_ORDERS + 1 };

/* The coefficients of the n-th derivative of w times d^(n + 1), lowest first: of q/d^n the derivative by x is
 * (u q' d - n q (2 u + 2 u^2))/d^(n + 1). All are whole. */
static void numerator(int n, wide q[2 * MOST + 3]) {
    q[0] = 0, q[1] = 2, q[2] = 1;
    for (int m = 1; m <= n; m++) {
        wide next[2 * MOST + 3] = {0};
        for (int i = 0; i <= 2 * m; i++) {
            next[i] += 2 * q[i] * (wide)i;
            next[i + 1] += 2 * q[i] * (wide)(i - m);
            next[i + 2] += q[i] * (wide)(i - 2 * m);
        }
        for (int i = 0; i <= 2 * m + 2; i++) q[i] = next[i];
    }
}

/* The n-th derivative of x w is x times that of w and n times the one before. On the right numerator and denominator
 * are of 1/u, the coefficients the other way round, so that nothing overflows. */
static wide derivative(wide x, int n) {
    wide of[2 * MOST + 3], before[2 * MOST + 3];
    numerator(n, of);
    numerator(n - 1, before);
    const wide e = expl(-fabsl(x)), d = x < 0 ? 2 + e * (2 + e) : 1 + 2 * e * (1 + e);
    const int degree = 2 * n + 2;
    wide sum = 0, rest = 0, divisor = d;
    for (int i = degree; i >= 0; i--) sum = sum * e + of[x < 0 ? i : degree - i];
    for (int i = degree - 2; i >= 0; i--) rest = rest * e + before[x < 0 ? i : degree - 2 - i];
    for (int i = 0; i < n; i++) divisor *= d;
    return (x * sum + (wide)n * rest * d) / divisor;
}

double lam__special_mish_slope(double x, int64_t order) {
    if (isnan(x) || order > LAM__MISH_ORDERS) return NAN;
    if (fabs(x) > 1e4) return x > 0 && order == 0 ? 1 : x > 0 && order % 2 == 0 ? 0 : -0.0;
    return (double)derivative(x, (int)order + 1);
}
