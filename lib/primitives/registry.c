/* The registry: all rows in the order of primitives.def. */
#include "lib/primitives/rows.h"

static const lam_primitive *const all[] = {
#define LAM__PRIMITIVE(name) &lam__row_##name,
#include "lib/primitives/primitives.def"
#undef LAM__PRIMITIVE
    NULL,
};

const lam_primitive *const *lam_primitives(void) {
    return all;
}
