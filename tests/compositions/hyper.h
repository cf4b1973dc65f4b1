/* Numbers with nilpotent units: a + sum of a_S e_S over the sets S of up to UNITS units e_k, with e_k e_k = 0.
 * Evaluated at x + u e_1, the coefficient of e_1 is the derivative along u, exactly; that of {e_1, e_2} a mixed second
 * one, and so on (J. A. Fike and J. J. Alonso, AIAA 2011-886). Independent of the library: the oracle of the
 * compositions. */
#ifndef LAM_TESTS_HYPER_H
#define LAM_TESTS_HYPER_H

enum { UNITS = 6, SETS = 1 << UNITS };

typedef struct hyper {
    long double at[SETS]; /* by the bits of S */
} hyper;

hyper hyper_number(long double v);
hyper hyper_add(hyper x, hyper y);
hyper hyper_scale(long double s, hyper x);
hyper hyper_mul(hyper x, hyper y);
hyper hyper_reciprocal(hyper x);
hyper hyper_exp(hyper x);
hyper hyper_sin(hyper x);
hyper hyper_log(hyper x);

/* The coefficient of unit k: a number without that unit. */
hyper hyper_part(hyper x, int k);

#endif
