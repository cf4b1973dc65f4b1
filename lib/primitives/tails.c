/* Logarithms of shares that are no numbers any more: of the incomplete gamma and beta functions below 1e-270 (of floats
 * 1e-28), by their continued fractions. So deep in a tail few of its terms count, whatever the parameters: at 1e-28 ten
 * leave 1e-10 of the logarithm, below 1e-260 nothing. Elsewhere operands are replaced by harmless ones before.
 * Source: NIST Handbook of Mathematical Functions, 8.9.2, 8.17.22; the fraction of the lower gamma function is Gauss's,
 * 13.17.1 with a = 1. */
#include "lib/primitives/distributions.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

#include <math.h>

enum { LEVELS = 10 };

/* About 1e-271, and 2.5e-29 of floats. */
double lam__distributions_least(const lam_tensor *p) {
    return lam_dtype_of(p) == LAM_F64 ? 0x1p-900 : 0x1p-95;
}

/* Where nothing is asked 1 stands in, so that no branch is infinite there. */
static lam_tensor *only(lam_tensor *where, lam_tensor *x) {
    return lam_where(where, x, 1.0);
}

/* a log x - x - log Gamma(a) less log f: what stands before both fractions of gamma. */
static lam_tensor *gamma_tail(lam_tensor *a, lam_tensor *x, lam_tensor *f) {
    lam_tensor *power = lam_sub(lam_mul(a, lam_log(x)), x);
    return lam_sub(lam_sub(power, lam_lgamma(a)), lam_log(f));
}

/* f = a - a x / (a + 1 + x / (a + 2 - (a + 1) x / (a + 3 + 2 x / ..))) */
static lam_tensor *log_lower(lam_tensor *a, lam_tensor *x) {
    lam_tensor *f = NULL;
    for (int k = LEVELS; k > 0; k--) {
        const int m = (k + 1) / 2;
        lam_tensor *top = k % 2 ? lam_neg(lam_mul(lam_add(a, m - 1), x)) : lam_mul(m, x), *below = lam_add(a, k);
        f = lam_div(top, f ? lam_add(below, f) : below);
    }
    return gamma_tail(a, x, lam_add(a, f));
}

/* f = x + 1 - a - (1 - a) / (x + 3 - a - 2 (2 - a) / (x + 5 - a - ..)). From the innermost level outwards, as above. */
static lam_tensor *log_upper(lam_tensor *a, lam_tensor *x) {
    lam_tensor *f = NULL, *gap = lam_add(lam_sub(x, a), 1.0);
    for (int k = LEVELS; k > 0; k--) {
        lam_tensor *top = lam_mul(k, lam_sub(k, a)), *below = lam_add(gap, 2 * k);
        f = lam_div(top, f ? lam_sub(below, f) : below);
    }
    return gamma_tail(a, x, lam_sub(gap, f));
}

lam_tensor *lam__distributions_log_gamma(bool upper, lam_tensor *where, lam_tensor *a, lam_tensor *x) {
    a = only(where, a);
    x = only(where, x);
    return lam_where(where, upper ? log_upper(a, x) : log_lower(a, x), -INFINITY);
}

/* The share is x^a y^b / (a B(a, b) (1 + d1 / (1 + d2 / (1 + ..)))). */
lam_tensor *lam__distributions_log_beta(lam_tensor *where, lam_tensor *a, lam_tensor *b, lam_tensor *x, lam_tensor *y) {
    a = only(where, a);
    b = only(where, b);
    x = lam_where(where, x, 0.5);
    y = lam_where(where, y, 0.5);
    lam_tensor *f = NULL;
    for (int k = LEVELS; k > 0; k--) {
        const int m = k / 2;
        lam_tensor *first = k % 2 ? lam_neg(lam_add(a, m)) : lam_full_like(a, m);
        lam_tensor *second = k % 2 ? lam_add(lam_add(a, b), m) : lam_sub(b, m);
        lam_tensor *d = lam_mul(lam_div(first, lam_add(a, k - 1)), lam_div(second, lam_add(a, k)));
        d = lam_mul(x, d); /* of quotients, since products of large counts leave the range */
        f = f ? lam_div(d, lam_add(f, 1.0)) : d;
    }
    lam_tensor *powers = lam_add(lam_mul(a, lam_log(x)), lam_mul(b, lam_log(y)));
    lam_tensor *scale = lam_add(lam_log(a), lam_add(lam_betaln(a, b), lam_log1p(f)));
    return lam_where(where, lam_sub(powers, scale), -INFINITY);
}
