/* The rows of the registry (one extern each, from primitives.def), and the parameters that several files know. Whoever
 * names a row, lam__row_<name>, includes this; the row is defined in its family file. */
#ifndef LAM_PRIMITIVES_ROWS_H
#define LAM_PRIMITIVES_ROWS_H

#include <lamina/extend.h>

#define LAM__PRIMITIVE(name) extern const lam_primitive lam__row_##name;
#include "lib/primitives/primitives.def"
#undef LAM__PRIMITIVE

/* What `sloped` of a row is: the product with the derivative that its kernel gives beside the value. */
lam_tensor *lam__unary_times_slope(const lam_rule *r, int i, lam_tensor *t);

/* A second row for an elementwise one whose kernel gives its derivative beside the value: one operand, which is that
 * derivative, one slope, no loop, since it is never evaluated. It names itself as `sloped`, by which the walk back
 * knows such nodes. */
#define LAM__SLOPED_ROW(row)                                                                                           \
    static const lam_primitive sloped_##row = {                                                                        \
        .name = #row,                                                                                                  \
        .inputs = 1,                                                                                                   \
        .elementwise = true,                                                                                           \
        .derivative = LAM_ELEMENTWISE,                                                                                 \
        .slope = lam__unary_times_slope,                                                                               \
        .saves = LAM_SAVE_IN(0),                                                                                       \
        .sloped = &sloped_##row,                                                                                       \
    }

/* Of cast: the lam_dtype to convert to. */
typedef struct lam__cast_params {
    int32_t dtype;
} lam__cast_params;

#endif
