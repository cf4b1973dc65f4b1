/* Errors of public functions and of their derivatives in units in the last place, against MPFR at 240 bits. A row says
 * which function, where it is sampled and what it promises; the test holds it to that, the table program prints what
 * was found. The truth of a derivative is a central difference at that precision, whose error is below 2^-90. */
#ifndef TESTS_ACCURACY_MEASURE_H
#define TESTS_ACCURACY_MEASURE_H

#include <lamina/lamina.h>

#include <mpfr.h>

#include "lib/kernels/kernels.h"

enum { MEASURE_OPERANDS = 3 };

typedef struct measure_row {
    const char *name;
    int inputs;
    lam_body body;
    lam__loop_id oracle;                      /* what tests/kernels/oracle.h judges */
    int64_t member;                           /* the loop's parameter */
    void (*truth)(mpfr_t value, mpfr_t x[]);  /* instead of these two */
    void (*slopes)(mpfr_t value, mpfr_t x[]); /* what has the same derivatives, where differences of values cancel */
    bool costly;                              /* the truth takes long: a tenth of the points do */
    struct {
        double low, high; /* of operand i, drawn evenly, or evenly in the logarithm where low > 0 */
    } range[MEASURE_OPERANDS];
    double bound;         /* of values in f64, ulps */
    double relative_to_1; /* errors are of the larger of this and the result */
    unsigned derivatives; /* bit i: the derivative by operand i is measured */
    double condition;     /* of derivatives that are looked at; 0: 4. Powers of x, which lose nothing, have more */
} measure_row;

/* Derivatives, where their condition number is at most 4. */
#define MEASURE_SLOPE_BOUND 4.0

extern const measure_row measure_rows[];
extern const int measure_count;

/* The largest error met among `samples` points, MEASURE_MOST at most, and the first operand there: of values (by = -1)
 * or of the derivative by operand `by`. */
typedef struct measure_result {
    double ulps, at;
    int looked; /* points that were judged and raised it: 0 where no point counts */
} measure_result;

enum { MEASURE_MOST = 10000 };

measure_result measure(lam_ctx *ctx, const measure_row *row, lam_dtype dtype, int by, int samples);

#endif
