/* Numbers with their derivatives by the parameters of a hypergeometric function, and sums of such: what hyper.c and
 * hyper_twice.c share. */
#ifndef LAM_KERNELS_SPECIAL_HYPER_JET_H
#define LAM_KERNELS_SPECIAL_HYPER_JET_H

enum { LAM__HYPER_JET = 10 };

/* Taylor coefficients of 1, a, b, c, aa, ab, ac, bb, bc, cc. Functions are told how many are `live`: 1, 4 or all. */
typedef struct lam__hyper_jet {
    long double x[LAM__HYPER_JET];
} lam__hyper_jet;

/* The first-order coefficients that the ones from 4 on are of. */
static const struct lam__hyper_pair { int i, j; } lam__hyper_pairs[] = {{1, 1}, {1, 2}, {1, 3}, {2, 2}, {2, 3}, {3, 3}};

/* A sum with what is left of the digits of a long double, which is the sum beside its largest term: in the sizes of
 * jets, `least` that of the coefficient which has lost most. 0: the series did not end. */
typedef struct lam__hyper_sum {
    lam__hyper_jet value;
    long double left, least, largest;
} lam__hyper_sum;

#endif
