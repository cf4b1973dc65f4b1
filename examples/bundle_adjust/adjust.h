/* Levenberg-Marquardt for a bundle adjustment: parameters that make the cost smaller, step by step.
 *
 * The cost is half the sum of squares of all residuals; the RMS is that of one coordinate of one residual. A step is
 * taken when it brings the cost down, and the damping follows how well the linear model foretold by how much (K.
 * Madsen, H. B. Nielsen, O. Tingleff, Methods for non-linear least squares problems, 2004). */
#ifndef BUNDLE_ADJUST_ADJUST_H
#define BUNDLE_ADJUST_ADJUST_H

#include <lamina/lamina.h>

#include "problem.h"

/* One iteration: how things stand after it. */
typedef struct adjust_state {
    int64_t iteration; /* 0: the start */
    double cost, rms;  /* rms: pixels */
    double damping;    /* of the next step */
    bool is_rejected;  /* the step would have made the cost larger, and was not taken */
} adjust_state;

typedef struct adjust_options {
    int64_t iterations;                                   /* at most */
    void (*report)(void *env, const adjust_state *state); /* called for the start and each iteration; NULL: nobody */
    void *env;
} adjust_options;

typedef struct adjust_result {
    adjust_state first, last;
    const char *ending; /* why it ended: "converged", ... */
    char error[512];    /* "" without failure */
} adjust_result;

/* Improves p->camera and p->point. Running out of iterations is no failure.
 * Fails   with false and result->error: out of memory, residuals that are not finite at the start, a failure of
 *         Lamina's. The parameters are then the best ones seen. */
bool adjust_run(problem *p, const adjust_options *options, adjust_result *result);

#endif
