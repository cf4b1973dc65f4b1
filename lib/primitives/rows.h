/* The rows of the registry (one extern each, from primitives.def), and the parameters that several files know. */
#ifndef LAM_PRIMITIVES_ROWS_H
#define LAM_PRIMITIVES_ROWS_H

#include <lamina/extend.h>

#define LAM__PRIMITIVE(name) extern const lam_primitive lam__row_##name;
#include "lib/primitives/primitives.def"
#undef LAM__PRIMITIVE

typedef struct lam__cast_params {
    int32_t dtype;
} lam__cast_params;

#endif
