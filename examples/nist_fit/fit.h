/* Nonlinear least squares: the parameters b that minimise the sum of (y_i - f_i(b))^2.
 *
 * The fit asks a model for values and Jacobians and for nothing else; where they come from is not its business.
 * Knows nothing of Lamina. Numbers of parameters and observations stay as the problem says from start to end. */
#ifndef NIST_FIT_FIT_H
#define NIST_FIT_FIT_H

#include <stdbool.h>

/* One evaluation at b: f[observations], and if jacobian is not NULL, jacobian[observations][parameters].
 * false: the model itself failed and the fit cannot go on (values that are not finite are no failure). */
typedef bool (*fit_evaluate)(void *env, const double *b, double *f, double *jacobian);

typedef struct fit_problem {
    int observations, parameters; /* observations > parameters */
    const double *y;              /* [observations] */
    fit_evaluate evaluate;
    void *env;
} fit_problem;

typedef struct fit_result {
    double *parameters;       /* [parameters]: given by the caller, holds the start before and the estimate after */
    double *deviations;       /* [parameters]: given by the caller */
    double sum_of_squares;    /* of the residuals */
    int value_evaluations;    /* calls of evaluate for f alone */
    int jacobian_evaluations; /* calls for f and jacobian */
    const char *failure;      /* NULL, or why there is no estimate */
} fit_result;

/* Fits from result->parameters. With a failure the parameters are the best ones seen.
 * Fails   with false and result->failure: out of memory, model failed, not finite at the start, no convergence,
 *         parameters that the data do not determine. */
bool fit_run(const fit_problem *problem, fit_result *result);

#endif
