/* Standardisation over a set of axes, for the public operations that are made of it (layer.c). The rows of lanes.c see
 * neighbouring axes only; this takes any set. */
#ifndef LAM_PRIMITIVES_LANES_H
#define LAM_PRIMITIVES_LANES_H

#include "lib/primitives/axes.h"

/* (x - mean) / sqrt(variance + epsilon) for x of a floating dtype. */
lam_tensor *lam__lanes_standardize(lam_tensor *x, lam__axis_set set, double epsilon);

#endif
