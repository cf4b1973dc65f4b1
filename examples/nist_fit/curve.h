/* A model over many observations: where Lamina does the work of this program.
 *
 * values   = vmap(model), mapped over x and not over the parameters;
 * jacobian = vmap(value_and_jacobian(model)): the Jacobian of one observation is a row, vmap stacks the rows.
 * Both are made once and called at every step of a fit. */
#ifndef NIST_FIT_CURVE_H
#define NIST_FIT_CURVE_H

#include "models.h"

typedef struct curve {
    lam_ctx *ctx;
    lam_fn *values, *jacobian;
    int points, parameters;
    lam_tensor *x; /* [points][predictors] */
} curve;

/* Makes the functions and copies x[points][predictors]. curve_close is due in either case.
 * Fails   with false; curve_error tells why. */
bool curve_open(curve *c, const model *row, int points, const double *x);

/* f[points] at the parameters b, and jacobian[points][parameters] unless NULL: the fit_evaluate of fit.h.
 * Fails   with false; curve_error tells why. */
bool curve_evaluate(void *c, const double *b, double *f, double *jacobian);

/* Lamina's message of the first failure; "" without one. Borrowed until curve_close. */
const char *curve_error(const curve *c);

void curve_close(curve *c);

#endif
