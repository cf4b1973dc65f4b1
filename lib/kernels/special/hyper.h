/* The hypergeometric functions 1F1(a; b; x) and 2F1(a, b; c; x) with derivatives. Like the rest of this room, see
 * special.h. */
#ifndef LAM_KERNELS_SPECIAL_HYPER_H
#define LAM_KERNELS_SPECIAL_HYPER_H

enum { LAM__HYPER_PARAMETERS = 3, LAM__HYPER_ORDERS = 2 };

/* How often the derivative is taken by each parameter, LAM__HYPER_ORDERS times in all, and by x any number of times. */
typedef struct lam__hyper_order {
    int by[LAM__HYPER_PARAMETERS];
    int by_x;
} lam__hyper_order;

/* NaN where b (c) is 0 or a negative integer, for 2F1 where x > 1 unless the series ends, where an operand is beyond
 * 10000, and where cancellation leaves less than some six digits. At x = 1 derivatives by parameters are NaN. */
double lam__special_hyp1f1(double a, double b, double x, lam__hyper_order order);
double lam__special_hyp2f1(double a, double b, double c, double x, lam__hyper_order order);

/* The same for p = a, b, c or a, c where it is defined, by the number of coefficients that jets need: of no derivative
 * by parameters, of one, of two. */
double lam__hyper_1(int count, const double p[], double x, lam__hyper_order order);
double lam__hyper_4(int count, const double p[], double x, lam__hyper_order order);
double lam__hyper_10(int count, const double p[], double x, lam__hyper_order order);

#endif
