/* A synthetic problem: cameras in a ring around a rock see the points of its surface that face them.
 *
 * Pictures are exact but for normal noise of a known deviation, so the best fit is known in advance: its RMS. The
 * starting values are those of the scene, disturbed. The same seed gives the same problem on every machine, up to the
 * rounding of the C library. Knows nothing of Lamina. */
#ifndef BUNDLE_ADJUST_SCENE_H
#define BUNDLE_ADJUST_SCENE_H

#include "problem.h"

enum { SCENE_CAMERAS = 16, SCENE_POINTS = 2000 };

/* Standard deviation of x and of y of an observation, in pixels. */
#define SCENE_NOISE 0.5

/* Makes the problem; problem_free is due in either case.
 * Fails   with false and p->error: out of memory. */
bool scene_make(problem *p, uint64_t seed);

/* The RMS that the best fit of a scene has on average: each parameter that the pictures determine takes one residual's
 * worth of noise away. Position, direction and size of the whole (7 parameters) are not determined. */
double scene_expected_rms(const problem *p);

#endif
