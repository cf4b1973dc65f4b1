/* Truths of functions that the oracle of tests/kernels does not know, as long sums in MPFR with digits to spare. */
#ifndef TESTS_ACCURACY_SERIES_H
#define TESTS_ACCURACY_SERIES_H

#include <mpfr.h>

/* T(h, a) of x = h, a, for |a| up to 1.5. */
void series_owens_t(mpfr_t v, mpfr_t x[]);

/* 1F1(a; b; x), and 2F1(a, b; SERIES_HYPER_C; x) of x = a, b, x. */
#define SERIES_HYPER_C 2.5
void series_hyp1f1(mpfr_t v, mpfr_t x[]);
void series_hyp2f1(mpfr_t v, mpfr_t x[]);

#endif
