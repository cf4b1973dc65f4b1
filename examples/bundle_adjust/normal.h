/* The damped normal equations (J'J + damping D) step = -J'r of a bundle adjustment, solved as sparse as they are.
 *
 * J'J has a block for each camera, one for each point, and one for each observation, where a camera meets a point. So
 * the points are eliminated one by one (the Schur complement), the cameras remain as a dense system, a Cholesky
 * factorisation of Lamina's solves that, and each point follows from the cameras that see it. D is the diagonal of J'J:
 * the step then does not depend on the units of the parameters, and what observations do not determine (position,
 * direction and size of the whole) stays where it is. */
#ifndef BUNDLE_ADJUST_NORMAL_H
#define BUNDLE_ADJUST_NORMAL_H

#include "projection.h"

typedef struct normal {
    lam_ctx *ctx; /* the caller's */
    const problem *p;
    projection_blocks blocks; /* filled by the caller, before normal_form */
    int64_t *first, *sorted;  /* observations of point i: sorted[first[i]] to sorted[first[i + 1] - 1] */
    double *gradient;         /* J'r: [cameras][9], then [points][3], as the two below */
    double *scale;            /* D */
    double *step;
    double (*camera_block)[PROBLEM_CAMERA * PROBLEM_CAMERA]; /* [cameras] of J'J, row by row */
    double (*point_block)[PROBLEM_POINT * PROBLEM_POINT];    /* [points] of J'J; only lower triangles are kept */
    double (*met)[PROBLEM_POINT * PROBLEM_CAMERA]; /* [most observations of one point]: see reduce in normal.c */
    double *system, *right;                        /* [9 cameras][9 cameras] and [9 cameras]: the reduced system */
} normal;

/* Allocates everything, blocks included; normal_close is due in either case.
 * Fails   with false: out of memory. */
bool normal_open(normal *n, lam_ctx *ctx, const problem *p);

/* Gradient, scale and blocks of J'J from n->blocks. */
void normal_form(normal *n);

/* n->step for this damping, which is positive. false: the reduced system is not positive definite in the precision of
 * its numbers, and more damping is needed; or the context has failed, which lam_status_of tells. */
bool normal_solve(normal *n, double damping);

/* What the linear model promises n->step to take off the cost |r|^2 / 2. */
double normal_promise(const normal *n, double damping);

void normal_close(normal *n);

#endif
