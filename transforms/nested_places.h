/* Derivatives of choices and loops in both modes: how functions are made whose inputs and outputs are those of another
 * one with what belongs to them, and the call of such functions in forward mode. */
#ifndef LAM_TRANSFORMS_NESTED_PLACES_H
#define LAM_TRANSFORMS_NESTED_PLACES_H

#include "transforms/nested_draft.h"

/* Where values stand among the inputs and outputs of a function made of another one; -1: nowhere. One list behind the
 * other in one block. x, dx, gx, sum: per input of the base; y, dy: per output. Of the way back through a trip x w of a
 * loop over x with w from outside, which takes (g, sum, x, w) and gives (gx, gw + sum): DY is 0, SUM of w 1, X 2 and 3,
 * and GX 0 and 1. */
typedef struct lam__places {
    int inputs, outputs; /* of the base */
    int taken, given;    /* of the function */
    int list[];
} lam__places;

enum { LAM__X, LAM__DX, LAM__GX, LAM__SUM, LAM__Y, LAM__DY };

/* One of the lists. */
static inline int *lam__places_of(const lam__places *p, int which) {
    int *at = (int *)p->list + (which < LAM__Y ? which : LAM__Y) * p->inputs;
    return which < LAM__Y ? at : at + (which - LAM__Y) * p->outputs;
}

/* All nowhere; NULL without memory. Lives as long as the scope. */
lam__places *lam__places_new(lam_ctx *ctx, int inputs, int outputs);

/* A function with this body, whose env begins with f (lam__fn_base) and then has a copy of p. */
lam_fn *lam__places_fn(const char *prefix, lam_fn *f, lam_body body, const lam__places *p);

/* The inputs of the base and what belongs to them, then room for outputs and what belongs to those. */
typedef struct lam__room {
    lam__scratch_area area;
    lam_value **in, **out;
} lam__room;

/* Values of the inputs and, behind them, of what belongs to each: those in the list `second`, which may be the inputs
 * once more. False without memory; the area is to be put back in any case. */
bool lam__places_room(lam_ctx *ctx, const lam__places *p, lam_tensor *const in[], int second, lam__room *r);

/* Gives v, taken over, as output `at`; -1: it is none. */
void lam__places_give(lam_ctx *ctx, lam_status status, lam_value *v, lam_tensor *out[], int at);

/* The call with its tangents dx[] (NULL: zero) in forward mode: dy[] of its results, and y[], where that is not NULL,
 * their values. One reference each (nested_forward.c). */
lam_status lam__nested_push(const lam_call_site *call, lam_value *const dx[], lam_value *y[], lam_value *dy[]);

/* Whether values come with the tangents; NOTE [values and tangents] in nested_forward.c. */
bool lam__nested_are_together(const lam_call_site *call, lam_value *const dx[]);

#endif
