/* Linear functions as programs whose constants are inputs. What a function hides, in the program that it runs or in the
 * functions that it calls, no level can see when it is called below the one that it belongs to, as callbacks of custom
 * Functions are; as inputs they are operands like others. */
#ifndef LAM_TRANSFORMS_LINEAR_H
#define LAM_TRANSFORMS_LINEAR_H

#include "lib/dispatch/fn.h"
#include "lib/program/program.h"

/* The program that f runs if lam_linearize or lam_linear_transpose has made f, borrowed; NULL for others. transposed:
 * it is run backwards. */
lam__program *lam__linear_program(const lam_fn *f, bool *transposed);

/* The program of f in its last input, the others held fixed, one reference; what is computed of those alone becomes its
 * constants. in[]: f's inputs, of the last one the type counts. NULL after recording why there is none: f may look at
 * elements, or not be linear. */
lam__program *lam__linear_record(lam_fn *f, lam_value *const in[]);

/* The function that runs p, with one more input for each of its boxes (lam__program_boxes), behind the others; f gives
 * its name. */
lam_fn *lam__linear_open(lam_fn *f, lam__program *p, bool transposed, int boxes);

#endif
