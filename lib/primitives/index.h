/* What operations by index share: their parameters, the type of what indices take, and calls for rules.
 *
 * NOTE [geometry]  x is [batch..., outer..., n, inner...], indices are [batch..., k...], what is taken or scattered is
 * [batch..., outer..., k..., inner...]; `axis` is where n stands in x. The kernels see each group as one number. */
#ifndef LAM_PRIMITIVES_INDEX_H
#define LAM_PRIMITIVES_INDEX_H

#include "lib/base/context.h"
#include "lib/kernels/kernels.h"

#include <lamina/indexing.h>

typedef struct lam__index_params {
    int32_t axis;
    int32_t batch; /* axes that x and the indices share, in front of both */
    int32_t mode;  /* lam__index_mode: ERROR, CLIP or DROP, which are linear; FILL is made of DROP */
} lam__index_params;

/* ---- for rows ------------------------------------------------------------------------------------------------- */

lam__index_shape lam__index_geometry(const lam__index_params *p, const lam_value *x, const lam_value *indices);

/* The type of what is taken. Fails where dtype or dims do not fit. */
lam_status lam__index_taken_shape(const lam_call_site *call, lam_shape *out);

/* Every index must name an element. `indices` is contiguous. */
lam_status lam__index_check(const lam_call_site *call, int64_t count, int64_t n, const lam_value *indices);

/* The step between the neighbours that axes [from, to) of x make, seen as one axis, 0 where there is one place; false:
 * the steps differ. */
bool lam__index_step(const lam_value *x, int from, int to, int64_t *step);

/* ---- for rules and public operations --------------------------------------------------------------------------- */

lam_tensor *lam__index_take(lam_tensor *x, lam_tensor *indices, const lam__index_params *p);
lam_tensor *lam__index_scatter(const lam_primitive *row, lam_tensor *x, lam_tensor *indices, lam_tensor *updates,
                               const lam__index_params *p);

/* x is [batch..., n], indices and updates are [batch..., k]. An index of n or more takes 0, and is left out when
 * adding. */
lam_tensor *lam__index_take_rows(lam_tensor *x, lam_tensor *indices);
lam_tensor *lam__index_add_rows(lam_tensor *x, lam_tensor *indices, lam_tensor *updates);

/* For each of n places of the last axis, which index names it last; -1 where none does, or only one outside. */
lam_tensor *lam__index_last(lam_tensor *indices, int64_t n);

/* Indices as i64 in [0, n): negative ones count from the end. Fails for one outside (-n - 1, limit). */
lam_tensor *lam__index_wrap(lam_tensor *indices, int64_t n, int64_t limit);

/* Integers of other dtypes as i64; what is no tensor or no integer is left for the operation itself to name. */
lam_tensor *lam__index_integers(lam_tensor *indices);

/* Parameters for a call of a user's; false after recording what is wrong with them. */
bool lam__index_params_for(const char *operation, lam_tensor *x, int axis, lam_index_mode mode, lam__index_params *p);

/* `flags`, of the dims of the indices, with an axis of one element for each of the `behind` axes that stand behind. */
lam_tensor *lam__index_spread(lam_tensor *flags, int behind);

/* An axis moved to the end, and the other axes broadcast to `common`. */
lam_tensor *lam__index_axis_last(lam_tensor *x, int axis, const int64_t *common);

/* The dims that all but one axis of x and the indices have in common, where they have as many axes and broadcast. False
 * after recording that they do not. */
bool lam__index_common(const char *operation, lam_tensor *x, lam_tensor *indices, int axis, int64_t *common);

#endif
