/* Residuals and their derivatives by cameras and points: where Lamina differentiates.
 *
 * The residual of one observation is an ordinary function of one camera, one point and where the point was seen. vmap
 * of its value_and_jacobian gives, for every observation, the 2 x 9 and the 2 x 3 block that are all of its rows of the
 * sparse Jacobian. Both functions are made once and called at every step. */
#ifndef BUNDLE_ADJUST_PROJECTION_H
#define BUNDLE_ADJUST_PROJECTION_H

#include <lamina/lamina.h>

#include "problem.h"

/* What one evaluation gives. Residuals: pixels, seen by the model minus seen by the camera. */
typedef struct projection_blocks {
    double (*residual)[2];                  /* [observations] */
    double (*by_camera)[2][PROBLEM_CAMERA]; /* [observations] */
    double (*by_point)[2][PROBLEM_POINT];   /* [observations] */
} projection_blocks;

typedef struct projection {
    lam_ctx *ctx;     /* the caller's */
    const problem *p; /* counts and observations; its parameters are not looked at */
    lam_fn *values, *blocks;
} projection;

/* Makes the functions, in the current scope of ctx. Failures are the context's. */
void projection_open(projection *m, lam_ctx *ctx, const problem *p);

/* Residuals at the given parameters, and unless values_only their blocks. Arrays are the caller's.
 * Fails   with false; lam_error tells why. */
bool projection_evaluate(projection *m, const double *camera, const double *point, bool values_only,
                         const projection_blocks *out);

#endif
