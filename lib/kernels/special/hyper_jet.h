/* Numbers with their derivatives by the parameters of a hypergeometric function, and sums of such: what hyper_series.c
 * and hyper_twice.c share. Both are compiled three times, for LAM__LIVE coefficients: 1, the value alone; 4; or 10. */
#ifndef LAM_KERNELS_SPECIAL_HYPER_JET_H
#define LAM_KERNELS_SPECIAL_HYPER_JET_H

#include <stdbool.h>

/* A name of this compilation: LAM__HYPER(lam__hyper_) is lam__hyper_4 and so on. */
#define LAM__HYPER_JOIN_(name, live) name##live
#define LAM__HYPER_JOIN(name, live)  LAM__HYPER_JOIN_(name, live)
#define LAM__HYPER(name)             LAM__HYPER_JOIN(name, LAM__LIVE)

/* Taylor coefficients of 1, a, b, c, aa, ab, ac, bb, bc, cc, or the first of these. */
typedef struct lam__hyper_jet {
    long double x[LAM__LIVE];
} lam__hyper_jet;

/* The first-order coefficients that the ones from 4 on are of. */
static const struct lam__hyper_pair { int i, j; } lam__hyper_pairs[] = {{1, 1}, {1, 2}, {1, 3}, {2, 2}, {2, 3}, {3, 3}};

/* A sum with what is left of the digits of a long double, which is the sum beside its largest term: in the sizes of
 * jets, `least` that of the coefficient which has lost most. 0: the series did not end. `sound`: nothing but that has
 * been lost, and that is little. */
typedef struct lam__hyper_sum {
    lam__hyper_jet value;
    long double left, least, largest;
    bool sound;
} lam__hyper_sum;

#endif
