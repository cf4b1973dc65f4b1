/* What other files share with the reductions. */
#ifndef LAM_PRIMITIVES_REDUCE_H
#define LAM_PRIMITIVES_REDUCE_H

#include "lib/kernels/kernels.h"
#include "lib/primitives/axes.h"

#include <lamina/extend.h>
#include <lamina/ops.h>

/* The parameter of a reduction, and whether it names an axis. */
static inline lam__axis_set lam__reduce_set(const void *params) {
    return *(const lam__axis_set *)params;
}

static inline bool lam__reduce_has(lam__axis_set set, int axis) {
    return set >> axis & 1u;
}

/* Whether sums of a dtype are counted in i64. */
bool lam__reduce_is_tallied(int dtype);

/* x as f64 if it is no float. What is no tensor is left for the operation itself to name. */
lam_tensor *lam__reduce_real(lam_tensor *x);

/* x as f32 if it is f16 or bf16: of many elements a mean is in range where their sum, which it is made of, is not. */
lam_tensor *lam__reduce_wide(lam_tensor *x);

/* The shape rule of reductions of f64 and f32. */
lam_status lam__reduce_shape_real(const lam_call_site *call, lam_shape out[]);

/* A row whose parameter is the set of axes, applied as the options say. */
lam_tensor *lam__reduce_apply(const lam_primitive *row, lam_tensor *x, const lam_reduce_options *options);

/* For rules, which have a set and no options: the sum over it. */
lam_tensor *lam__reduce_sum(lam_tensor *x, lam__axis_set set);

/* r with the reduced axes back as axes of one element, so that it broadcasts against an operand of dims `like`. */
lam_tensor *lam__reduce_restore(lam_tensor *r, lam__axis_set set, lam_dims like);

/* The root of the sum of |x|^2 of floats and complex numbers, without squares that leave the range. */
lam_tensor *lam__norm_length(lam_tensor *x, const lam_reduce_options *over);

/* t, which lies as the results of a rule's reduction do, for each of their elements: a view. */
lam_tensor *lam__reduce_repeated(const lam_rule *r, lam_tensor *t);

/* The kernels, into contiguous memory. Means are sums by n, of integers in f64. Sums of squares are of f64 or
 * f32, of x less centres that lie like the results; NULL: 0. */
void lam__reduce_into(lam__reduce_id id, lam__axis_set set, const lam_value *x, void *out);
void lam__reduce_mean_into(lam__axis_set set, const lam_value *x, double n, void *out);
void lam__reduce_squares(lam__axis_set set, const lam_value *x, const void *centres, void *out);

#endif
