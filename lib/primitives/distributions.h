/* What a distribution is to stats.c: a row of functions of the standardised variable and the shape parameters. */
#ifndef LAM_PRIMITIVES_DISTRIBUTIONS_H
#define LAM_PRIMITIVES_DISTRIBUTIONS_H

#include <lamina/stats.h>

/* z is (x - loc)/scale, or x - loc of a discrete distribution, s[] the shape parameters, all of one floating dtype.
 * Outside the support an operand is replaced before a function sees it, so that no derivative is NaN. */
typedef lam_tensor *lam__distribution_of(lam_tensor *z, lam_tensor *const s[]);

/* The logarithm of a share where `deep`, which is below lam__distributions_least; elsewhere anything. */
typedef lam_tensor *lam__distribution_tail(lam_tensor *deep, lam_tensor *z, lam_tensor *const s[]);

/* Values of an operand, z (of = 0) or a shape parameter (from 1 on), at which the logarithm of the density may be
 * infinite though the density is smooth: there it is given as a product of powers, whose derivatives are numbers where
 * they exist. Where there is one such value both are it; 0.5 is none. */
typedef struct lam__distribution_ends {
    int of;
    double first, second;
    lam__distribution_of *density;
} lam__distribution_ends;

typedef struct lam__distribution {
    const char *name;
    const char *shapes; /* the parameters besides loc and scale, one letter each: + above 0, 0 not below 0, 1 in [0, 1],
                           p in (0, 1], c in [0, 1), * any, > above the one before */
    bool discrete;      /* there is no scale */
    lam__distribution_of *logpdf;
    lam__distribution_of *cdf, *sf; /* NULL: none */
    lam__distribution_of *logcdf,
        *logsf;                         /* NULL: the logarithm of cdf, sf, or of 1 less the other where that is small */
    lam__distribution_of *ppf, *isf;    /* NULL ppf: none; NULL isf: ppf(1 - q) */
    lam__distribution_tail *low, *high; /* with logcdf, logsf NULL: of cdf, sf where that is deep; NULL: -inf */
    const lam__distribution_ends *ends; /* NULL: none */
} lam__distribution;

/* Which row belongs to which number: two halves of one table. NULL where the other half has it. */
const lam__distribution *lam__distributions_continuous(lam_distribution which);
const lam__distribution *lam__distributions_bounded(lam_distribution which);
const lam__distribution *lam__distributions_discrete(lam_distribution which);

/* The least share whose logarithm is taken as it is, in the dtype of p. */
double lam__distributions_least(const lam_tensor *p);

/* Logarithms of deep shares, -inf but `where`: of the incomplete gamma function, and of the incomplete beta function
 * at x with y = 1 - x. */
lam_tensor *lam__distributions_log_gamma(bool upper, lam_tensor *where, lam_tensor *a, lam_tensor *x);
lam_tensor *lam__distributions_log_beta(lam_tensor *where, lam_tensor *a, lam_tensor *b, lam_tensor *x, lam_tensor *y);

/* (x - 1/2) / sqrt(x (1 - x)) of the x with I_x(a, b) = p, or with 1 - I_x(a, b) = p. */
lam_tensor *lam__distributions_odd_beta(bool upper, lam_tensor *a, lam_tensor *b, lam_tensor *p);

/* The least count that at least p lies up to, or that at most p lies beyond: of Poisson's distribution; of the binomial
 * one, or `waiting` the negative binomial one. No derivatives. */
lam_tensor *lam__distributions_poisson_count(bool upper, lam_tensor *mean, lam_tensor *p);
lam_tensor *lam__distributions_count(bool waiting, bool upper, lam_tensor *n, lam_tensor *chance, lam_tensor *p);

#endif
