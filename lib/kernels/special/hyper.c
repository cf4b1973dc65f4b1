/* Hypergeometric functions: where they have values, and which of the three compilations of hyper_series.c knows as many
 * derivatives by parameters as are asked for. */
#include "lib/kernels/special/hyper.h"

#include <math.h>

static const double FARTHEST = 10000; /* of operands */

/* p: a, b, c or a, c. The series divides by c + n. */
static double hyper(int count, const double p[], double x, lam__hyper_order order) {
    const int all = order.by[0] + order.by[1] + order.by[2];
    const double c = p[count - 1];
    if (all > LAM__HYPER_ORDERS || (c <= 0 && c == floor(c))) return NAN;
    if (!(fabs(x) <= FARTHEST || (count == 3 && x < 0 && isfinite(x)))) return NAN;
    for (int i = 0; i < count; i++)
        if (!(fabs(p[i]) <= FARTHEST)) return NAN;
    /* Without a or b nothing is left of the series but 1, wherever x is. */
    if (all == 0 && (p[0] == 0 || (count == 3 && p[1] == 0))) return order.by_x == 0;
    return all == 0   ? lam__hyper_1(count, p, x, order)
           : all == 1 ? lam__hyper_4(count, p, x, order)
                      : lam__hyper_10(count, p, x, order);
}

double lam__special_hyp1f1(double a, double b, double x, lam__hyper_order order) {
    return hyper(2, (double[]){a, b}, x, order);
}

double lam__special_hyp2f1(double a, double b, double c, double x, lam__hyper_order order) {
    return hyper(3, (double[]){a, b, c}, x, order);
}
