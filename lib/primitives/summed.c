/* Cotangents of operands that were broadcast: what reaches them is summed over the axes along which they were seen
 * again and again. Of a product, here and in other rules, the terms are made where they are summed, in the first cache,
 * and not as a value. */
#include "lib/primitives/axes.h"
#include "lib/primitives/reduce.h"
#include "lib/primitives/rules.h"

#include "lib/parallel/parallel.h"
#include "lib/tensor/dtype.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

enum { SHORT = 32 }; /* elements of a row that is summed faster as it lies */

/* Sums leave out the axes that they run over; reshaping puts those of one element back, where `like` has them. */
lam_tensor *lam__rules_sum_to(lam_tensor *x, lam_dims like) {
    lam_dims own = lam_dims_of(x);
    int lead = own.rank - like.rank, count = 0, axes[LAM_INNER_RANK];
    for (int axis = 0; axis < own.rank; axis++)
        if (axis < lead || (like.dims[axis - lead] == 1 && own.dims[axis] != 1)) axes[count++] = axis;
    if (!count && !lead) return x;
    lam_tensor *sum = lam_sum(x, &(lam_reduce_options){.axes = {count, axes}});
    return lam_rank(sum) == like.rank ? sum : lam_reshape(sum, like);
}

/* The axes of g that `like` lacks, or has one element of where g has others. So a scalar has all of them lacking. */
static lam__axis_set lacking(const lam_value *g, lam_dims like) {
    lam__axis_set set = 0;
    const int lead = g->rank - like.rank;
    for (int axis = 0; axis < g->rank; axis++)
        if (axis < lead || (like.dims[axis - lead] == 1 && g->dims[axis] != 1)) set |= 1u << axis;
    return set;
}

/* Whether x and y are numbers that lie in the same way. Only f64 and f32 have the kernel; others, and boxes, are
 * multiplied and summed as a user would. */
static bool lie_alike(const lam_value *x, const lam_value *y) {
    if (x->kind != LAM__CONCRETE || y->kind != LAM__CONCRETE || x->dtype != y->dtype) return false;
    return lam__dtype_is_float(x->dtype) && x->contiguous && y->contiguous && lam__value_same_dims(x, y);
}

/* Whether what is summed are not short rows. Where the last axis stays, columns are summed, for which rows of any
 * length will do. */
static bool is_long(const lam_value *g, lam__axis_set set) {
    int64_t row = 1;
    for (int axis = g->rank - 1; axis >= 0 && (lam__reduce_has(set, axis) || g->dims[axis] == 1); axis--)
        row *= g->dims[axis];
    return row == 1 || row >= SHORT;
}

/* The kernel of sums of squares, with y as the other factor. */
static lam_status sum_products(const lam_value *g, const lam_value *y, lam_dims like, lam__axis_set set,
                               lam_value **out) {
    bool reduced[LAM_INNER_RANK];
    for (int axis = 0; axis < g->rank; axis++) reduced[axis] = lam__reduce_has(set, axis);
    lam_ctx *ctx = lam__full(g)->ctx;
    *out = lam__value_new(ctx, (lam_dtype)g->dtype, like.rank, like.dims);
    if (!*out) return LAM_ERR_MEMORY;
    const lam__squares s = {(lam_dtype)g->dtype, g->rank, g->dims, g->strides, reduced, g->data, NULL, y->data};
    lam__parallel_squares(ctx->team, &s, (*out)->data);
    return LAM_OK;
}

/* At any level. The handles are lent: they live in the C frame and own nothing. */
static lam_status sum_any(lam_ctx *ctx, lam_value *g, lam_value *y, lam_dims like, lam_value **out) {
    lam_scope scope;
    lam_tensor t, factor;
    lam__scope_open(ctx, &scope);
    scope.of_rule = true;
    lam__scope_lend(&t, ctx, g);
    lam_tensor *x = &t;
    if (y) {
        lam__scope_lend(&factor, ctx, y);
        x = lam_mul(x, &factor);
    }
    /* A failed product has no value, and its error is recorded already. */
    if (lam__scope_peek(x)) x = lam__rules_sum_to(x, like);
    *out = lam__value_hold_any(lam__scope_peek(x));
    lam__scope_close(&scope);
    return *out ? LAM_OK : ctx->error.status;
}

/* y NULL: g itself is summed. */
lam_status lam__rules_times_summed(lam_ctx *ctx, lam_value *g, lam_value *y, const lam_value *like, lam_value **out) {
    const lam_dims dims = {like->rank, like->dims};
    const lam__axis_set set = lacking(g, dims);
    if (y && lie_alike(g, y) && is_long(g, set)) return sum_products(g, y, dims, set, out);
    return sum_any(ctx, g, y, dims, out);
}

/* The same for rules, which have handles. */
lam_tensor *lam__rules_product_summed(lam_tensor *x, lam_tensor *y, lam_dims like) {
    const lam_value *g = lam__scope_peek(x), *h = lam__scope_peek(y);
    lam_value *sum;
    if (!g || !h || !lie_alike(g, h) || !is_long(g, lacking(g, like))) return lam__rules_sum_to(lam_mul(x, y), like);
    if (sum_products(g, h, like, lacking(g, like), &sum) != LAM_OK) return lam__axes_failed(x);
    return lam__scope_handle(lam__full(g)->ctx, sum);
}
