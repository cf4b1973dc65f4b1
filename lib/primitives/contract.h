/* Contractions whose axes are known: what dot_general takes as its parameter. Products and sums that know their axes
 * come here straight, without lists that have to be checked. */
#ifndef LAM_PRIMITIVES_CONTRACT_H
#define LAM_PRIMITIVES_CONTRACT_H

#include "lib/base/context.h"
#include "lib/kernels/kernels.h"

#include <lamina/extend.h>

/* The paired axes of operand 0, batch axes first, then those of operand 1; axes that are not named are free. */
typedef struct lam__pairing {
    int8_t batch, contract; /* pairs */
    bool loose;             /* the result is to be transposed: its elements may lie in any order */
    int8_t axes[2 * LAM_INNER_RANK];
} lam__pairing;

static inline int lam__contract_pairs(const lam__pairing *p) {
    return p->batch + p->contract;
}

/* Those of one operand. */
static inline const int8_t *lam__contract_axes(const lam__pairing *p, int side) {
    return p->axes + side * lam__contract_pairs(p);
}

/* Bit a: axis a is named. */
static inline uint32_t lam__contract_named(const lam__pairing *p, int side) {
    const int8_t *axes = lam__contract_axes(p, side);
    uint32_t taken = 0;
    for (int i = 0; i < lam__contract_pairs(p); i++) taken |= 1u << axes[i];
    return taken;
}

/* The axes of one operand that are not named, in their order; gives their number. */
static inline int lam__contract_free(const lam__pairing *p, int side, int rank, int out[]) {
    const uint32_t taken = lam__contract_named(p, side);
    int n = 0;
    for (int axis = 0; axis < rank; axis++)
        if (!(taken >> axis & 1u)) out[n++] = axis;
    return n;
}

/* eval of dot_general. */
lam_status lam__contract_eval(const lam_call_site *call, lam_value *const out[]);

/* A contraction that is done again and again, of operands that lie in the same way at other addresses. */
typedef struct lam__contraction {
    lam__matmul product;
    bool turned; /* operands have changed places */
} lam__contraction;

/* How the call is to be done; false where that depends on more, which lam__contract_eval knows. Elements are not looked
 * at. */
bool lam__contract_plan(const lam_call_site *call, lam_dtype dtype, lam__contraction *made);
void lam__contract_run(lam__contraction *c, const void *x, const void *y, void *out);

/* The contraction of live operands of one context and dtype; the axes are there and named once. */
lam_tensor *lam__contract(const lam__pairing *p, lam_tensor *x, lam_tensor *y);

#endif
