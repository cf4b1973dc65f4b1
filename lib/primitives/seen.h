/* What operations can say of the elements of operands: nothing depends on them, at whatever level, but that a mistake
 * is named where they are at hand. In a batch or a trace they are not, and nothing is refused there. */
#ifndef LAM_PRIMITIVES_SEEN_H
#define LAM_PRIMITIVES_SEEN_H

#include <lamina/base.h>

/* Whether every element of x lies in [low, high], or in (low, high] where `open`; true also where the elements cannot
 * be seen. Otherwise records that parameter `name` does not. */
bool lam__seen_in_range(const char *operation, const char *name, lam_tensor *x, double low, bool open, double high);

/* Whether every element of a bool tensor is true, or cannot be seen. Records nothing. */
bool lam__seen_true(lam_tensor *x);

#endif
