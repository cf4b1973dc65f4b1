/* What a fit is worth, and how it is printed: digits in common with the certified values, a table for one fit, one row
 * for each in the summary of many. Knows nothing of Lamina.
 *
 * NOTE [Lanczos1] The residuals of this set are 1e-13 and its responses about 1, each rounded at 1e-16: three digits of
 * the residual sum of squares and of the standard deviations are all that arithmetic in double can give. */
#ifndef NIST_FIT_REPORT_H
#define NIST_FIT_REPORT_H

#include <stdio.h>

#include "dataset.h"
#include "fit.h"

/* Correct digits against the certified values: the smallest over the parameters, the smallest over their standard
 * deviations, that of the residual sum of squares. All 0 when the fit failed. */
typedef struct report_digits {
    double parameters, deviations, sum_of_squares;
} report_digits;

/* Log relative error: -log10(|value - certified| / |certified|), with |value| alone where the certified value is 0.
 * Never below 0 and never above 11, the number of digits that are certified. Not a number: 0. */
double report_digits_of(double value, double certified);

report_digits report_digits_all(const dataset *set, const fit_result *result);

/* Prints parameters, standard deviations, sums of squares, digits and evaluation counts; start is 1 or 2. */
void report_fit(FILE *file, const dataset *set, int start, const fit_result *result);

/* The summary: a title line, then one row for each set with the fits from all starts. */
void report_summary_title(FILE *file);
void report_summary_row(FILE *file, const dataset *set, const fit_result results[DATASET_STARTS]);

#endif
