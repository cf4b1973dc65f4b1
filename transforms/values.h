/* The values that a function has where a derivative of it is wanted, without the derivative. A custom Function may give
 * other values there than when it is called, so rows that take a function apart for its derivative have to run it
 * so. */
#ifndef LAM_TRANSFORMS_VALUES_H
#define LAM_TRANSFORMS_VALUES_H

#include "lib/dispatch/fn.h"
#include "lib/dispatch/level.h"

/* "values(f)": f as it runs at a level that differentiates by the inputs with wanted[], which are copied. What has
 * rules of its own gives the values of these there (lam_custom_vjp, lam_custom_jvp), and levels below differentiate
 * what they have done. Nothing is kept. */
lam_fn *lam__values_fn(lam_fn *f, const bool wanted[]);

/* The same by hand: such a level, which the caller pops; boxes[] of the inputs of what is run at it, one reference
 * each; and what comes out taken out of its boxes. */
lam_status lam__values_push(lam_ctx *ctx, lam__level *level);
lam_status lam__values_box(lam__level *level, int n, const bool wanted[], lam_value *const in[], lam_value *boxes[]);
void lam__values_unbox(const lam__level *level, size_t n, lam_value *values[]);

#endif
