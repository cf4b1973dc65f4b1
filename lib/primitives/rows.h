/* The rows of the registry (one extern each, from primitives.def), and the parameters that several files know. */
#ifndef LAM_PRIMITIVES_ROWS_H
#define LAM_PRIMITIVES_ROWS_H

#include <lamina/extend.h>

#define LAM__PRIMITIVE(name) extern const lam_primitive lam__row_##name;
#include "lib/primitives/primitives.def"
#undef LAM__PRIMITIVE

/* What `sloped` of a row is: the product with the derivative that its kernel gives beside the value. */
lam_tensor *lam__unary_times_slope(const lam_rule *r, int i, lam_tensor *t);

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

typedef struct lam__cast_params {
    int32_t dtype;
} lam__cast_params;

#endif
