/* Digits and tables. Digits are printed cut, not rounded, to one place, so that 9.0 means at least nine. */
#include "report.h"

#include <math.h>

static const double MOST_DIGITS = 11; /* NIST certifies 11 */

double report_digits_of(double value, double certified) {
    double error = fabs(value - certified);
    if (certified != 0) error /= fabs(certified);
    double digits = -log10(error);
    if (!(digits > 0)) return 0; /* no digit, or not a number */
    return fmin(digits, MOST_DIGITS);
}

report_digits report_digits_all(const dataset *set, const fit_result *result) {
    if (result->failure) return (report_digits){0};
    report_digits least = {MOST_DIGITS, MOST_DIGITS, report_digits_of(result->sum_of_squares, set->sum_of_squares)};
    for (int j = 0; j < set->parameters; j++) {
        least.parameters = fmin(least.parameters, report_digits_of(result->parameters[j], set->certified[j]));
        least.deviations = fmin(least.deviations, report_digits_of(result->deviations[j], set->deviation[j]));
    }
    return least;
}

static double cut(double digits) {
    return floor(10 * digits) / 10;
}

void report_fit(FILE *file, const dataset *set, int start, const fit_result *result) {
    int freedom = set->observations - set->parameters;
    report_digits least = report_digits_all(set, result);
    fprintf(file, "%s from start %d: %d parameters, %d observations\n\n", set->name, start, set->parameters,
            set->observations);
    fprintf(file, "     %18s %6s   %18s %6s\n", "estimate", "digits", "standard deviation", "digits");
    for (int j = 0; j < set->parameters; j++) {
        double b = result->parameters[j], deviation = result->deviations[j];
        fprintf(file, "b%-3d %18.10e %6.1f   %18.10e %6.1f\n", j + 1, b, cut(report_digits_of(b, set->certified[j])),
                deviation, cut(report_digits_of(deviation, set->deviation[j])));
    }
    fprintf(file, "\nresidual sum of squares      %18.10e %6.1f\n", result->sum_of_squares, cut(least.sum_of_squares));
    fprintf(file, "residual standard deviation  %18.10e, %d degrees of freedom\n",
            sqrt(result->sum_of_squares / freedom), freedom);
    fprintf(file, "evaluations                  %d of the values, %d of values and Jacobian\n",
            result->value_evaluations, result->jacobian_evaluations);
    fprintf(file, "correct digits               at least %.1f of every parameter\n", cut(least.parameters));
}

/* ---- the summary ---- */

void report_summary_title(FILE *file) {
    fprintf(file,
            "Correct digits of parameters, their standard deviations, residual sum of squares; evaluations of\n"
            "values alone and of values with Jacobian.\n\n%-9s",
            "set");
    for (int s = 1; s <= DATASET_STARTS; s++) fprintf(file, " | start %d: par  dev  sum values jacobian", s);
    fputc('\n', file);
}

void report_summary_row(FILE *file, const dataset *set, const fit_result results[DATASET_STARTS]) {
    fprintf(file, "%-9s", set->name);
    for (int s = 0; s < DATASET_STARTS; s++) {
        const fit_result *r = &results[s];
        report_digits d = report_digits_all(set, r);
        if (r->failure) fprintf(file, " | %-38.38s", r->failure);
        else
            fprintf(file, " |         %4.1f %4.1f %4.1f %6d %8d", cut(d.parameters), cut(d.deviations),
                    cut(d.sum_of_squares), r->value_evaluations, r->jacobian_evaluations);
    }
    fputc('\n', file);
}
