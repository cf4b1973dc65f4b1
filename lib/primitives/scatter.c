/* Scattering by index: updates are combined with the elements that indices name. The rows share everything but how they
 * combine and their derivative: adding is linear, the least and the largest are chosen, and a product is differentiated
 * by the products of all others, without division; setting is linear, and of a place that is named twice only the last
 * update counts. See NOTE [geometry]. */
#include "lib/primitives/index.h"

#include "lib/dispatch/dispatch.h"
#include "lib/parallel/parallel.h"
#include "lib/primitives/apply.h"
#include "lib/primitives/axes.h"
#include "lib/primitives/rows.h"
#include "lib/primitives/rules.h"

#include "lib/tensor/dtype.h"
#include "lib/tensor/value.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

typedef lam__index_params index_params;

/* For rules and public forms whose operands fit; the row checks them all the same. */
lam_tensor *lam__index_scatter(const lam_primitive *row, lam_tensor *x, lam_tensor *indices, lam_tensor *updates,
                               const index_params *p) {
    lam_tensor *in[3] = {x, indices, updates};
    return lam__apply(row, p, sizeof *p, 3, in);
}

/* scatter_add at the rule's own indices: what derivatives of the other rows are made of. Linear, so what is made of it
 * can be differentiated again. */
static lam_tensor *add_to(lam_tensor *x, const lam_rule *r, lam_tensor *updates) {
    return lam__index_scatter(&lam__row_scatter_add, x, r->in[1], updates, r->params);
}

/* ---- shape, eval, batch ------------------------------------------------------------------------------------------ */

/* Updates must have the type that taking at the indices would give, out of which `out` is made twice: first as that
 * type, to compare, then as that of x. */
static lam_status shape_scatter(const lam_call_site *call, lam_shape out[]) {
    const lam_value *x = call->in[0], *updates = call->in[2];
    lam_status status = lam__index_taken_shape(call, out);
    if (status != LAM_OK) return status;
    bool fits = updates->rank == out->rank && updates->dtype == x->dtype;
    for (int i = 0; fits && i < out->rank; i++) fits = updates->dims[i] == out->dims[i];
    if (!fits)
        return lam__error_call(call, LAM_ERR_SHAPE, "cast or broadcast them",
                               "the updates are not of the type that taking at the indices gives");
    return lam__apply_shape_as(x, (lam_dtype)x->dtype, out);
}

/* A copy of x, into which the kernel combines. Indices are checked before that, so that a failure has done no work. */
static lam_status eval_scatter(const lam_call_site *call, lam_value *out, lam__scatter_op op) {
    const index_params *p = call->params;
    const lam_value *x = call->in[0];
    const lam_dtype dtype = (lam_dtype)x->dtype;
    lam__index_shape s = lam__index_geometry(p, x, call->in[1]);
    lam_value *indices = lam__value_contiguous(call->in[1]);
    lam_value *updates = indices ? lam__value_contiguous(call->in[2]) : NULL;
    lam_status status = updates ? LAM_OK : LAM_ERR_MEMORY;
    if (updates && p->mode == LAM__INDEX_ERROR) status = lam__index_check(call, s.batch * s.k, s.n, indices);
    if (status == LAM_OK && x->count) {
        lam__parallel_copy(call->ctx->team, x->rank, x->dims, dtype, out->data, out->strides, dtype, x->data,
                           x->strides);
        lam__parallel_scatter(call->ctx->team, op, &s, (lam__index_mode)p->mode, dtype, out->data,
                              (lam_dtype)indices->dtype, indices->data, updates->data);
    }
    lam__value_release(indices);
    lam__value_release(updates);
    return status;
}

/* The rows differ in what the kernel does with an update and what is there. */
static lam_status eval_scatter_add(const lam_call_site *call, lam_value *const out[]) {
    return eval_scatter(call, out[0], LAM__SCATTER_ADD);
}

/* The neutral update is 1; of min and max there is none that every dtype has. */
static lam_status eval_scatter_mul(const lam_call_site *call, lam_value *const out[]) {
    return eval_scatter(call, out[0], LAM__SCATTER_MUL);
}

static lam_status eval_scatter_min(const lam_call_site *call, lam_value *const out[]) {
    return eval_scatter(call, out[0], LAM__SCATTER_MIN);
}

static lam_status eval_scatter_max(const lam_call_site *call, lam_value *const out[]) {
    return eval_scatter(call, out[0], LAM__SCATTER_MAX);
}

/* As batch_take, but x and the updates always get the batch axis: the result has it, whichever operand has. Updates
 * that all examples share are repeated, each into an x of its own. */
static void batch_scatter(const lam_rule *r, lam_tensor *out[]) {
    const index_params *p = r->params;
    bool shared = !r->mapped[1] && p->batch == 0;
    index_params q = {p->axis + 1, shared ? 0 : p->batch + 1, p->mode};
    lam_tensor *indices = shared ? r->in[1] : lam__rules_with_batch(r, 1);
    out[0] = lam__index_scatter(r->primitive, lam__rules_with_batch(r, 0), indices, lam__rules_with_batch(r, 2), &q);
}

/* ---- scatter_add ------------------------------------------------------------------------------------------------- */

/* Linear in x and the updates together: by x it is the identity, by the updates a take at the same indices. Only the
 * indices are saved. g by x is handed on as it is, not copied. */
static void vjp_scatter_add(const lam_rule *r, lam_tensor *const g[], lam_tensor *gx[]) {
    gx[0] = g[0];
    if (r->needs[2]) gx[2] = lam__index_take(g[0], r->in[1], r->params);
}

const lam_primitive lam__row_scatter_add = {
    .name = "scatter_add",
    .inputs = 3,
    .takes_complex = true,
    .derivative = LAM_LINEAR,
    .linear = 5u,
    .saves = LAM_SAVE_IN(1),
    .shape = shape_scatter,
    .eval = eval_scatter_add,
    .vjp = vjp_scatter_add,
    .batch = batch_scatter,
    .layout = "i axis, i batch, i mode",
};

/* ---- scatter_min, scatter_max ------------------------------------------------------------------------------------ */

/* Which elements of x and which updates are the result, and how many of them share it. Ties are shared equally, as for
 * the reductions max and min. */
typedef struct choice {
    lam_tensor *x, *updates, *count;
} choice;

/* An update counts where it equals the result at its place. The count is at least 1: where the result is NaN nothing
 * equals it, and 0/0 would make NaN of gradients that are zero. Taking the result at the indices compares each update
 * with what came of it. */
static choice choice_of(const lam_rule *r) {
    lam_dtype dtype = lam_dtype_of(r->in[0]);
    choice c = {.x = lam_eq(r->in[0], r->out[0]),
                .updates = lam_eq(r->in[2], lam__index_take(r->out[0], r->in[1], r->params))};
    c.count = lam_max(add_to(lam_cast(c.x, dtype), r, lam_cast(c.updates, dtype)), 1.0);
    return c;
}

/* out' = (sum of the tangents of all that are the result) / count. */
static void jvp_scatter_choice(const lam_rule *r, lam_tensor *const dx[], lam_tensor *dout[]) {
    choice c = choice_of(r);
    lam_tensor *own = dx[0] ? lam_where(c.x, dx[0], 0.0) : lam_zeros_like(r->in[0]);
    dout[0] = lam_div(dx[2] ? add_to(own, r, lam_where(c.updates, dx[2], 0.0)) : own, c.count);
}

/* The transpose: a share of g for each of them. What is left out takes 0 from the share. */
static void vjp_scatter_choice(const lam_rule *r, lam_tensor *const g[], lam_tensor *gx[]) {
    choice c = choice_of(r);
    lam_tensor *share = lam_div(g[0], c.count);
    if (r->needs[0]) gx[0] = lam_where(c.x, share, 0.0);
    if (r->needs[2]) gx[2] = lam_where(c.updates, lam__index_take(share, r->in[1], r->params), 0.0);
}

/* General, as which update is chosen depends on all of them. */
const lam_primitive lam__row_scatter_min = {
    .name = "scatter_min",
    .inputs = 3,
    .derivative = LAM_GENERAL,
    .saves = LAM_SAVE_ALL_IN | LAM_SAVE_OUT(0),
    .shape = shape_scatter,
    .eval = eval_scatter_min,
    .jvp = jvp_scatter_choice,
    .vjp = vjp_scatter_choice,
    .batch = batch_scatter,
    .layout = "i axis, i batch, i mode",
};

/* The same rules serve both: where operand and result are equal tells all. */
const lam_primitive lam__row_scatter_max = {
    .name = "scatter_max",
    .inputs = 3,
    .derivative = LAM_GENERAL,
    .saves = LAM_SAVE_ALL_IN | LAM_SAVE_OUT(0),
    .shape = shape_scatter,
    .eval = eval_scatter_max,
    .jvp = jvp_scatter_choice,
    .vjp = vjp_scatter_choice,
    .batch = batch_scatter,
    .layout = "i axis, i batch, i mode",
};

/* ---- scatter_mul ------------------------------------------------------------------------------------------------- */

/* The indices as [batch, k] numbers of places, what lies outside as place n: rules cannot look at elements, so all
 * modes are brought to one form that later steps understand. In mode ERROR nothing is outside. */
static lam_tensor *places(const lam_rule *r, int64_t n) {
    const index_params *p = r->params;
    lam_dims own = lam_dims_of(r->in[1]);
    const int64_t dims[2] = {lam__axes_product(own.dims, 0, p->batch), lam__axes_product(own.dims, p->batch, own.rank)};
    lam_tensor *at = lam__apply_reshape(lam_cast(r->in[1], LAM_I64), 2, dims);
    at = lam_where(lam_lt(at, 0), lam_add(at, n), at);
    if (p->mode == LAM__INDEX_CLIP) return lam_clamp(at, 0, n - 1);
    /* Behind the last place, where sorting puts them behind all others. */
    return lam_where(lam_and(lam_ge(at, 0), lam_lt(at, n)), at, n);
}

/* x one place further along axis 2 of [batch, outer, k, inner], the first place 0; or back, the last one 0. The first
 * and the last update of a place are told apart by flags, so what comes in is never used. */
static lam_tensor *shifted(lam_tensor *x, bool back) {
    lam_tensor *zero = lam_zeros_like(lam_slice_axis(x, 2, 0, 1));
    return back ? lam_concatenate(LAM_LIST(lam_slice_axis(x, 2, 1, LAM_END), zero), 2)
                : lam_concatenate(LAM_LIST(zero, lam_slice_axis(x, 2, 0, -1)), 2);
}

/* For each update the product of the others that go to its place: of those before it times those behind it, where
 * updates are sorted by place. A recurrence that begins anew at each place gives these products, also with zeros, for
 * which dividing the product by the update would give 0/0. Updates outside count as 1 and get products nobody reads.
 * Cost: a sort of the indices and two passes over the updates. */
static lam_tensor *others(const lam_rule *r) {
    const index_params *p = r->params;
    lam_dims own = lam_dims_of(r->in[0]), full = lam_dims_of(r->in[2]);
    int64_t n = own.dims[p->axis], k;
    lam_tensor *at = places(r, n);
    k = lam_dim(at, 1);
    const int64_t dims[4] = {lam__axes_product(own.dims, 0, p->batch), lam__axes_product(own.dims, p->batch, p->axis),
                             k, lam__axes_product(own.dims, p->axis + 1, own.rank)};
    /* Without updates there is nothing to sort, and no first one for the flags. */
    if (k == 0) return lam_zeros_like(r->in[2]);
    lam_tensor *order = lam_argsort(at, 1), *back = lam_index_inverse(order, k);
    const int64_t column[4] = {dims[0], 1, k, 1};
    order = lam__apply_reshape(order, 4, column);
    at = lam_take_along_axis(lam__apply_reshape(at, 4, column), order, 2);
    lam_tensor *u = lam_take_along_axis(lam__apply_reshape(r->in[2], 4, dims), order, 2);
    u = lam_where(lam_eq(at, n), 1.0, u);
    lam_tensor *same = lam_eq(lam_slice_axis(at, 2, 1, LAM_END), lam_slice_axis(at, 2, 0, -1));
    /* A column of false, in the dims of the flags. */
    lam_tensor *no = lam_zeros_like(lam_eq(lam_slice_axis(at, 2, 0, 1), 0));
    lam_tensor *before = lam_concatenate(LAM_LIST(no, same), 2), *behind = lam_concatenate(LAM_LIST(same, no), 2);
    lam_tensor *one = lam_ones_like(u);
    lam_tensor *left =
        lam_linear_recurrence(lam_where(before, shifted(u, false), 0.0), lam_where(before, 0.0, one), 2, false);
    lam_tensor *right =
        lam_linear_recurrence(lam_where(behind, shifted(u, true), 0.0), lam_where(behind, 0.0, one), 2, true);
    lam_tensor *out = lam_take_along_axis(lam_mul(left, right), lam__apply_reshape(back, 4, column), 2);
    return lam__apply_reshape(out, full.rank, full.dims);
}

/* By x it is the product of dx with the same updates, by u the sum of u'_j times the others, times x. */
static void jvp_scatter_mul(const lam_rule *r, lam_tensor *const dx[], lam_tensor *dout[]) {
    lam_tensor *first = NULL, *second = NULL;
    if (dx[0]) first = lam__index_scatter(r->primitive, dx[0], r->in[1], r->in[2], r->params);
    if (dx[2]) second = lam_mul(r->in[0], add_to(lam_zeros_like(r->in[0]), r, lam_mul(dx[2], others(r))));
    dout[0] = !first ? second : !second ? first : lam_add(first, second);
}

/* The transpose: by x it is the product of g with the same updates, for which x need not be known; by u_j it is g x at
 * its place, times the others. */
static void vjp_scatter_mul(const lam_rule *r, lam_tensor *const g[], lam_tensor *gx[]) {
    if (r->needs[0]) gx[0] = lam__index_scatter(r->primitive, g[0], r->in[1], r->in[2], r->params);
    if (r->needs[2]) gx[2] = lam_mul(lam__index_take(lam_mul(g[0], r->in[0]), r->in[1], r->params), others(r));
}

/* Linear in x where the updates are fixed. The result is not saved: dividing by it is what its rules avoid. */
const lam_primitive lam__row_scatter_mul = {
    .name = "scatter_mul",
    .inputs = 3,
    .takes_complex = true,
    .derivative = LAM_GENERAL,
    .linear = 1u,
    .saves = LAM_SAVE_IN(1) | LAM_SAVE_IN(2),
    .saves_for = {0, 0, LAM_SAVE_IN(0)},
    .shape = shape_scatter,
    .eval = eval_scatter_mul,
    .jvp = jvp_scatter_mul,
    .vjp = vjp_scatter_mul,
    .batch = batch_scatter,
    .layout = "i axis, i batch, i mode",
};

/* ---- put --------------------------------------------------------------------------------------------------------- */

/* The kernel goes through the updates in their order, so the last one for a place stays. */
static lam_status eval_put(const lam_call_site *call, lam_value *const out[]) {
    return eval_scatter(call, out[0], LAM__SCATTER_SET);
}

/* Which updates stay: setting their own numbers shows it. Of the dims of the updates, 1 where all share an index.
 * Numbers and not updates are compared: two updates for a place may be equal. */
static lam_tensor *staying(const lam_rule *r) {
    const index_params *p = r->params;
    lam_dims own = lam_dims_of(r->in[0]), at = lam_dims_of(r->in[1]);
    int64_t places[LAM_INNER_RANK], dims[2 * LAM_INNER_RANK];
    /* Places of one lane of x alone: all outer and inner elements have the same indices. */
    int rank = 0;
    for (int i = 0; i < p->batch; i++) places[i] = own.dims[i];
    places[p->batch] = own.dims[p->axis];
    const lam_dims each = {at.rank - p->batch, at.dims + p->batch};
    lam_tensor *number = lam_arange(r->ctx, LAM_I64, 0, (double)lam__axes_product(each.dims, 0, each.rank), 1);
    number = lam__apply_broadcast(lam__apply_reshape(number, each.rank, each.dims), at.rank, at.dims);
    const index_params q = {p->batch, p->batch, p->mode};
    /* -1 is no number of an update, so places that none names are told apart. */
    lam_tensor *none = lam_full(r->ctx, LAM_I64, (lam_dims){p->batch + 1, places}, -1);
    lam_tensor *last = lam__index_scatter(r->primitive, none, r->in[1], number, &q);
    lam_tensor *stays = lam_eq(lam__index_take(last, r->in[1], &q), number);
    for (int i = 0; i < p->batch; i++) dims[rank++] = at.dims[i];
    for (int i = p->batch; i < p->axis; i++) dims[rank++] = 1;
    for (int i = 0; i < each.rank; i++) dims[rank++] = each.dims[i];
    for (int i = p->axis + 1; i < own.rank; i++) dims[rank++] = 1;
    return lam__apply_reshape(stays, rank, dims);
}

/* Linear in x and the updates together: by x 0 where an update stays, by the updates a take where they do. */
static void vjp_put(const lam_rule *r, lam_tensor *const g[], lam_tensor *gx[]) {
    if (r->needs[0]) gx[0] = lam__index_scatter(r->primitive, g[0], r->in[1], lam_zeros_like(r->in[2]), r->params);
    if (r->needs[2]) gx[2] = lam_where(staying(r), lam__index_take(g[0], r->in[1], r->params), 0.0);
}

/* Linear in x and the updates for fixed indices, whose elements alone are kept; the dims of both operands are read,
 * also where one of them wants no gradient. Complex numbers are moved whole. */
const lam_primitive lam__row_put = {
    .name = "put",
    .inputs = 3,
    .takes_complex = true,
    .derivative = LAM_LINEAR,
    .linear = 5u,
    .saves = LAM_SAVE_IN(1) | LAM_SAVE_TYPES,
    .shape = shape_scatter,
    .eval = eval_put,
    .vjp = vjp_put,
    .batch = batch_scatter,
    .layout = "i axis, i batch, i mode",
};

/* ---- public ------------------------------------------------------------------------------------------------------ */

/* Updates as they are to be: the dtype of x, and the dims that taking at the indices gives. Broadcast here so that the
 * row's two types can be compared exactly. In vmap the dims are those of an example. */
static lam_tensor *fitted(const char *operation, lam_tensor *x, lam_tensor *indices, lam_tensor *updates, int axis) {
    lam_dims own = lam_dims_of(x), at = lam_dims_of(indices);
    int64_t dims[2 * LAM_INNER_RANK];
    int rank = 0;
    if (!lam__scope_peek(x) || !lam__scope_peek(indices) || !lam__scope_peek(updates)) return updates;
    for (int i = 0; i < axis; i++) dims[rank++] = own.dims[i];
    for (int i = 0; i < at.rank; i++) dims[rank++] = at.dims[i];
    for (int i = axis + 1; i < own.rank; i++) dims[rank++] = own.dims[i];
    lam_dims given = lam_dims_of(updates);
    int most = lam__eval_most_axes(x->ctx);
    if (rank > most)
        return lam__axes_fail(operation, updates, LAM_ERR_RANK, "what the indices name has %d axes, more than %d", rank,
                              most);
    lam_tensor *cast = lam__apply_in_dtype_of(operation, x, updates);
    for (int i = 0, lead = rank - given.rank; i < given.rank;
         i++) /* what does not fit is for the shape rule to refuse */
        if (lead < 0 || (given.dims[i] != 1 && given.dims[i] != dims[lead + i])) return cast;
    return lam__apply_broadcast(cast, rank, dims);
}

/* u8 indices are widened, updates converted and broadcast, and the row does the rest. What is no tensor is left for the
 * row to name. */
static lam_tensor *scatter(const lam_primitive *row, lam_tensor *x, lam_tensor *indices, lam_tensor *updates, int axis,
                           lam_index_mode mode) {
    index_params p;
    if (!lam__index_params_for(row->name, x, axis, mode, &p)) return lam__axes_failed(x);
    indices = lam__index_integers(indices);
    return lam__index_scatter(row, x, indices, fitted(row->name, x, indices, updates, p.axis), &p);
}

/* What is added to one place twice is added twice, in the order of the indices, so the result does not depend on
 * threads. */
lam_tensor *lam_scatter_add_mode(lam_tensor *x, lam_tensor *indices, lam_tensor *updates, int axis,
                                 lam_index_mode mode) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_only(scatter(&lam__row_scatter_add, x, indices, updates, axis, mode), since);
}

/* With mode ERROR, as all forms without a mode. */
lam_tensor *lam_scatter_add(lam_tensor *x, lam_tensor *indices, lam_tensor *updates, int axis) {
    return lam_scatter_add_mode(x, indices, updates, axis, LAM_INDEX_ERROR);
}

/* Exact gradients also where updates are 0; NOTE [geometry] says which update goes where. */
lam_tensor *lam_scatter_mul(lam_tensor *x, lam_tensor *indices, lam_tensor *updates, int axis, lam_index_mode mode) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_only(scatter(&lam__row_scatter_mul, x, indices, updates, axis, mode), since);
}

/* An index outside is as its mode says; an update that does not win gets the gradient 0. */
lam_tensor *lam_scatter_min(lam_tensor *x, lam_tensor *indices, lam_tensor *updates, int axis, lam_index_mode mode) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_only(scatter(&lam__row_scatter_min, x, indices, updates, axis, mode), since);
}

lam_tensor *lam_scatter_max(lam_tensor *x, lam_tensor *indices, lam_tensor *updates, int axis, lam_index_mode mode) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_only(scatter(&lam__row_scatter_max, x, indices, updates, axis, mode), since);
}

/* An update outside is left out or goes to the edge, as the mode says. */
lam_tensor *lam_put_mode(lam_tensor *x, lam_tensor *indices, lam_tensor *updates, int axis, lam_index_mode mode) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_only(scatter(&lam__row_put, x, indices, updates, axis, mode), since);
}

/* Sets; of several updates for one place the last one counts. */
lam_tensor *lam_put(lam_tensor *x, lam_tensor *indices, lam_tensor *updates, int axis) {
    return lam_put_mode(x, indices, updates, axis, LAM_INDEX_ERROR);
}

/* As lam_take_along_axis: all other axes are a batch. The updates broadcast to what the indices name. x is in the order
 * of axes that the row has, and goes back at the end. */
lam_tensor *lam_put_along_axis(lam_tensor *x, lam_tensor *indices, lam_tensor *updates, int axis) {
    uint64_t since = lam__scope_now(x);
    const char *name = "put_along_axis";
    int64_t common[LAM_INNER_RANK];
    lam_tensor *in[3] = {x, indices, updates}, *failed;
    lam_value *values[3];
    if (!lam__scope_operands(name, 3, in, values, &failed)) return failed;
    int rank = lam_rank(x);
    if (!lam__apply_axis(name, x, rank, &axis)) return lam__axes_failed(x);
    if (!lam__index_common(name, x, indices, axis, common)) return lam__axes_failed(x);
    /* Along the axis itself as many as the indices have. */
    for (int i = 0; i < rank; i++) common[i] = i == axis ? lam_dim(indices, i) : common[i];
    updates = lam_broadcast_to(lam__apply_in_dtype_of(name, x, updates), (lam_dims){rank, common});
    if (lam_failed(updates)) return lam__scope_only(updates, since);
    index_params p = {rank - 1, rank - 1, LAM__INDEX_ERROR};
    lam_tensor *at = lam__index_axis_last(lam__index_integers(indices), axis, common);
    lam_tensor *set = lam__index_scatter(&lam__row_put, lam__index_axis_last(x, axis, common), at,
                                         lam_moveaxis(updates, axis, rank - 1), &p);
    return lam__scope_only(lam_moveaxis(set, rank - 1, axis), since);
}
