/* A call of a row of nested.h while it is put together from another one. All of it lives as long as the scope. */
#ifndef LAM_TRANSFORMS_NESTED_DRAFT_H
#define LAM_TRANSFORMS_NESTED_DRAFT_H

#include "transforms/nested.h"

/* own[i]: nobody else holds in[i]. */
typedef struct lam__nested_draft {
    lam_ctx *ctx;
    lam__nested *what;
    lam_value **in;
    bool *own;
    int n;
} lam__nested_draft;

/* A copy of the call's parameters, and room for so many operands; false without memory. */
bool lam__nested_draft_open(const lam_call_site *call, int room, lam__nested_draft *d);
void lam__nested_draft_close(lam__nested_draft *d);

/* Another operand: its number. */
int lam__nested_append(lam__nested_draft *d, lam_value *v);

/* The same of one that is taken over; -1 for NULL, which is none after recording a failure. */
int lam__nested_append_own(lam__nested_draft *d, lam_value *v);

lam_status lam__nested_draft_apply(lam__nested_draft *d, const lam_primitive *row, int m, lam_value *out[]);

/* Room for n values, cleared; NULL without memory. */
lam_value **lam__nested_values(lam_ctx *ctx, int n);

/* Operands of the functions: how many stand before them in the call, how many there are, and where carries, elements
 * and the rest end among them. */
typedef struct lam__nested_shape {
    int skip, inputs;
    int ends[3];
} lam__nested_shape;

lam__nested_shape lam__nested_shape_of(const lam_call_site *call);

/* The stage of a batch level (nested_batch.c). */
lam_status lam__nested_batched(const lam_call_site *call, const int axes[], const struct lam__batch *batch,
                               lam_value *out[], int out_axes[]);

#endif
