/* Bags of rows: products with a matrix of which a few entries in each row are given, by the columns where they stand
 * (indices [bags..., terms]) and their weights. With x [rows, items...] and y [bags..., items...] the sum of
 * w[b, t] x[index[b, t], i] y[b, i] is linear in each of x, y and w, and its derivative by one of them is a row here:
 * embedding_bag by y, bag_spread by x, bag_dots by w. So each of the three has the other two for its derivatives, of
 * any order. In front of all operands stand the axes of a batch. */
#include "lib/primitives/apply.h"
#include "lib/primitives/axes.h"
#include "lib/primitives/index.h"
#include "lib/primitives/lent.h"
#include "lib/primitives/matrices.h"
#include "lib/primitives/params.h"
#include "lib/primitives/rows.h"
#include "lib/primitives/rules.h"

#include "lib/parallel/bag.h"
#include "lib/tensor/dtype.h"
#include "lib/tensor/value.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

typedef lam__bag_params bag_params;

enum { INDEX = 2 }; /* the operand, of each of the three */

/* Operands of each row, in its order: what is linear first, the indices last. */
static lam_tensor *apply_bag(const lam_primitive *row, lam_tensor *first, lam_tensor *second, lam_tensor *indices,
                             const bag_params *p) {
    lam_tensor *in[3] = {first, second, indices};
    return lam__apply(row, p, sizeof *p, 3, in);
}

/* ---- shape ------------------------------------------------------------------------------------------------------- */

/* The axes of operand i from `from` on must be those of operand k from `at` on, `count` of them. */
static lam_status same_dims(const lam_call_site *call, int i, int from, int k, int at, int count) {
    for (int a = 0; a < count; a++)
        if (call->in[i]->dims[from + a] != call->in[k]->dims[at + a])
            return lam__error_call(
                call, LAM_ERR_SHAPE, NULL, "axis %d of operand %d has %lld elements, axis %d of operand %d has %lld",
                from + a, i, (long long)call->in[i]->dims[from + a], at + a, k, (long long)call->in[k]->dims[at + a]);
    return LAM_OK;
}

/* What holds for all three. extra[i]: axes that operand i has at least, besides the batch. What it leaves open is how
 * bags and items go together, which differs from row to row. The indices are no operand of a derivative, but everything
 * hangs on their dims. */
static lam_status check_types(const lam_call_site *call, const int extra[3]) {
    const bag_params *p = call->params;
    const lam_value *index = call->in[INDEX];
    if (index->dtype != LAM_I64 && index->dtype != LAM_I32)
        return lam__error_call(call, LAM_ERR_DTYPE, "cast them to LAM_I64", "the indices are not integers");
    if (call->in[0]->dtype != call->in[1]->dtype)
        return lam__error_call(call, LAM_ERR_DTYPE, "cast one of them", "the operands have two dtypes");
    if (call->in[0]->dtype != LAM_F64 && call->in[0]->dtype != LAM_F32)
        return lam__error_call(call, LAM_ERR_DTYPE, "cast them to LAM_F64", "the operands are not floating-point");
    for (int i = 0; i < 3; i++) {
        if (call->in[i]->rank < p->batch + extra[i])
            return lam__error_call(call, LAM_ERR_RANK, NULL, "operand %d has too few axes", i);
        lam_status status = same_dims(call, i, 0, 0, 0, p->batch);
        if (status != LAM_OK) return status;
    }
    return LAM_OK;
}

/* Appends dims of x to those of the result. */
static void add_dims(lam_shape *out, const lam_value *x, int from, int to) {
    for (int i = from; i < to; i++) out->dims[out->rank++] = x->dims[i];
}

/* x [batch, rows, items...], w and index [batch, bags..., terms] -> [batch, bags..., items...]. Bags may have any
 * number of axes, terms are the last one of the indices. */
static lam_status shape_embedding_bag(const lam_call_site *call, lam_shape out[]) {
    const lam_value *x = call->in[0], *w = call->in[1], *index = call->in[INDEX];
    const int batch = ((const bag_params *)call->params)->batch;
    lam_status status = check_types(call, (const int[]){1, 1, 1});
    if (status != LAM_OK) return status;
    if (w->rank != index->rank)
        return lam__error_call(call, LAM_ERR_SHAPE, NULL, "each index needs a weight of its own");
    status = same_dims(call, 1, batch, INDEX, batch, index->rank - batch);
    if (status != LAM_OK) return status;
    /* Ranks add up, as in a take, and out->dims has room for so many. */
    if (x->rank + index->rank - batch - 2 > LAM_INNER_RANK)
        return lam__error_call(call, LAM_ERR_RANK, NULL, "the result would have more than %d axes", LAM_MAX_RANK);
    *out = (lam_shape){.dtype = (lam_dtype)x->dtype};
    add_dims(out, index, 0, index->rank - 1);
    add_dims(out, x, batch + 1, x->rank);
    return LAM_OK;
}

/* y [batch, bags..., items...], w and index [batch, bags..., terms] -> [batch, rows, items...]. `rows` comes from the
 * parameters: indices do not say how large the table is. */
static lam_status shape_bag_spread(const lam_call_site *call, lam_shape out[]) {
    const lam_value *y = call->in[0], *w = call->in[1], *index = call->in[INDEX];
    const bag_params *p = call->params;
    const int items = index->rank - 1;
    lam_status status = check_types(call, (const int[]){0, 1, 1});
    if (status != LAM_OK) return status;
    if (w->rank != index->rank || y->rank < items)
        return lam__error_call(call, LAM_ERR_SHAPE, NULL,
                               w->rank != index->rank ? "each index needs a weight of its own"
                                                      : "each bag of indices needs a row of its own");
    status = same_dims(call, 1, p->batch, INDEX, p->batch, index->rank - p->batch);
    if (status == LAM_OK) status = same_dims(call, 0, p->batch, INDEX, p->batch, items - p->batch);
    *out = (lam_shape){.dtype = (lam_dtype)y->dtype};
    if (status != LAM_OK) return status;
    add_dims(out, y, 0, p->batch);
    out->dims[out->rank++] = p->rows;
    add_dims(out, y, items, y->rank);
    return LAM_OK;
}

/* x [batch, rows, items...], y [batch, bags..., items...], index [batch, bags..., terms] -> dims of index. A product
 * for each index: of the row that it names with the row of its bag. */
static lam_status shape_bag_dots(const lam_call_site *call, lam_shape out[]) {
    const lam_value *x = call->in[0], *y = call->in[1], *index = call->in[INDEX];
    const int batch = ((const bag_params *)call->params)->batch, bags = index->rank - 1 - batch;
    lam_status status = check_types(call, (const int[]){1, 0, 1});
    if (status != LAM_OK) return status;
    if (y->rank != x->rank - 1 + bags)
        return lam__error_call(call, LAM_ERR_SHAPE, NULL, "each bag of indices needs a row of its own");
    status = same_dims(call, 1, batch, INDEX, batch, bags);
    if (status == LAM_OK) status = same_dims(call, 1, batch + bags, 0, batch + 1, x->rank - batch - 1);
    *out = (lam_shape){.dtype = (lam_dtype)x->dtype};
    if (status == LAM_OK) add_dims(out, index, 0, index->rank);
    return status;
}

/* ---- eval -------------------------------------------------------------------------------------------------------- */

/* Elements of the axes from up to, without, to. */
static int64_t product(const lam_value *x, int from, int to) {
    int64_t count = 1;
    for (int i = from; i < to; i++) count *= x->dims[i];
    return count;
}

/* Whether axes from `from` on lie as one without gaps, the last one fastest. An axis of one element has any step. */
static bool has_no_gaps(const lam_value *x, int from) {
    int64_t step;
    return lam__index_step(x, from, x->rank, &step) && (step == 1 || product(x, from, x->rank) <= 1);
}

/* Where an operand lies: elements between its batches, and between its rows, bags or rows of weights. */
typedef struct place {
    lam_value *value; /* held; NULL: no memory */
    int64_t batch, row;
} place;

/* The axes from `lead` on are a row, which has no gaps unless `loose`. What lies otherwise is copied. Tables are large
 * and rarely lie otherwise, so the copy is the exception. A held value has to be released by the caller. Rows without a
 * common step would cost the loops a division for each. */
static place place_of(lam_value *x, int batch, int lead, bool loose) {
    place at = {.value = x};
    const bool dense = loose || has_no_gaps(x, lead);
    if (dense && lam__index_step(x, 0, batch, &at.batch) && lam__index_step(x, batch, lead, &at.row)) {
        lam__value_hold(x);
        return at;
    }
    at.value = lam__value_contiguous(x);
    if (at.value) lam__index_step(at.value, 0, batch, &at.batch), lam__index_step(at.value, batch, lead, &at.row);
    return at;
}

/* Indices as i64. The loops know one index dtype; i32 is widened, which is small beside the rows that are read. They
 * are always contiguous within a batch entry: the loops read them one after the other. */
static place place_of_index(lam_ctx *ctx, lam_value *x, int batch) {
    if (x->dtype == LAM_I64) {
        place at = {.value = x};
        if (lam__index_step(x, 0, batch, &at.batch) && has_no_gaps(x, batch)) {
            lam__value_hold(x);
            return at;
        }
    }
    place at = {.value = lam__value_new(ctx, LAM_I64, x->rank, x->dims)};
    if (at.value && x->count)
        lam__parallel_copy(ctx->team, x->rank, x->dims, LAM_I64, at.value->data, at.value->strides, (lam_dtype)x->dtype,
                           x->data, x->strides);
    if (at.value) lam__index_step(at.value, 0, batch, &at.batch);
    return at;
}

/* The failure of an index that lies outside, which the loops have met. Loops check indices as they go and stop; only
 * then is it worth finding the first wrong one. Of embedding_bag, results so far are given up with the failure. */
static lam_status say_which(const lam_call_site *call, int64_t rows) {
    lam_value *indices = lam__value_contiguous(call->in[INDEX]);
    if (!indices) return LAM_ERR_MEMORY;
    const lam_status status = lam__index_check(call, indices->count, rows, indices);
    lam__value_release(indices);
    return status;
}

/* All bags of a batch as one where they lie so and share x. One call then shares all bags among threads, where a small
 * batch entry alone would not be worth it. Weights and results then go on from one entry to the next as from bag to
 * bag. */
static void fold_batch(lam__bag *bag, int64_t *batches, const place *x, const place *y, const place *w,
                       const place *index) {
    const int64_t n = bag->bags;
    if (*batches < 2 || x->batch != 0 || index->batch != n * bag->terms) return;
    if (n == 1) bag->y_row = y->batch, bag->w_bag = w->batch;
    else if (y->batch != n * y->row || w->batch != n * w->row) return;
    bag->bags = n * *batches;
    *batches = 1;
}

/* Batches one after the other. Where sums read x many times over, it is copied to scratch in which rows begin with a
 * cache line, if the kernel finds that worth it (room 0: it does not). A bag of a table without rows is an index
 * outside. */
static lam_status run_bags(const lam_call_site *call, lam__bag_op op, lam__bag *bag, const place at[3],
                           const place *index, int64_t batches) {
    const lam_dtype dtype = (lam_dtype)call->in[0]->dtype;
    const int64_t item = (int64_t)lam__dtype_bytes((int)dtype);
    const place *x = &at[0], *y = &at[1], *w = &at[2];
    lam__lent memory = {.ctx = call->ctx};
    fold_batch(bag, &batches, x, y, w, index);
    const size_t room = op == LAM__BAG_SUMS ? lam__kernels_bag_room(dtype, bag) : 0;
    void *aligned = room ? lam__lent_get(&memory, room) : NULL;
    /* With no rows nothing is inside, but where nothing is looked for. */
    bool inside = bag->rows > 0 || bag->bags * bag->terms == 0;
    for (int64_t b = 0; b < batches && inside && (aligned || !room); b++) {
        lam__bag one = *bag;
        one.x = (char *)x->value->data + b * x->batch * item;
        one.y = (char *)y->value->data + b * y->batch * item;
        one.w = (char *)w->value->data + b * w->batch * item;
        one.index = (const int64_t *)index->value->data + b * index->batch;
        if (room) lam__kernels_bag_align(dtype, &one, aligned);
        inside = lam__parallel_bag(call->ctx->team, op, dtype, &one);
    }
    lam__lent_return(&memory);
    if (!aligned && room) return LAM_ERR_MEMORY;
    return inside ? LAM_OK : say_which(call, bag->rows);
}

/* x, y and w: operands, or the result, which has no gaps. A result without elements still has its indices checked. The
 * three differ in which of x, y and w is written. Values that could not be had are NULL, and nothing is run then. */
static lam_status eval_bags(const lam_call_site *call, lam__bag_op op, lam_value *x, lam_value *y, lam_value *w) {
    const int batch = ((const bag_params *)call->params)->batch;
    lam_value *indices = call->in[INDEX];
    const int last = indices->rank - 1;
    place at[3] = {place_of(x, batch, batch + 1, false), place_of(y, batch, last, false),
                   place_of(w, batch, last, true)};
    place index = place_of_index(call->ctx, indices, batch);
    lam__bag bag = {.bags = product(indices, batch, last),
                    .terms = indices->dims[last],
                    .rows = x->dims[batch],
                    .width = product(x, batch + 1, x->rank),
                    .x_row = at[0].row,
                    .y_row = at[1].row,
                    .w_bag = at[2].row};
    const lam_value *out = op == LAM__BAG_SUMS ? y : op == LAM__BAG_SPREAD ? x : w;
    int64_t batches = product(indices, 0, batch);
    if (!out->count && (!indices->count || !index.batch)) batches = indices->count != 0; /* only indices are seen */
    bool there = index.value;
    for (int i = 0; i < 3; i++) there = there && at[i].value;
    lam_status status = there ? LAM_OK : LAM_ERR_MEMORY;
    if (there) bag.w_term = at[2].value->strides[last];
    if (there && batches) status = run_bags(call, op, &bag, at, &index, batches);
    for (int i = 0; i < 3; i++) lam__value_release(at[i].value);
    lam__value_release(index.value);
    return status;
}

static lam_status eval_embedding_bag(const lam_call_site *call, lam_value *const out[]) {
    return eval_bags(call, LAM__BAG_SUMS, call->in[0], out[0], call->in[1]);
}

/* Adds into zeros; an index that occurs often gets all its rows. */
static lam_status eval_bag_spread(const lam_call_site *call, lam_value *const out[]) {
    static const double zero;
    lam__parallel_fill(call->ctx->team, (lam_dtype)out[0]->dtype, out[0]->data, out[0]->count, &zero);
    return eval_bags(call, LAM__BAG_SPREAD, out[0], call->in[0], call->in[1]);
}

static lam_status eval_bag_dots(const lam_call_site *call, lam_value *const out[]) {
    return eval_bags(call, LAM__BAG_DOTS, call->in[0], call->in[1], out[0]);
}

/* ---- derivative and batch ---------------------------------------------------------------------------------------- */

/* embedding_bag with the rule's own indices; `dots` likewise. Parameters are those of the rule, whose rows are not read
 * here. */
static lam_tensor *sums(const lam_rule *r, lam_tensor *x, lam_tensor *w) {
    return apply_bag(&lam__row_embedding_bag, x, w, r->in[INDEX], r->params);
}

/* bag_dots with the rule's own indices. */
static lam_tensor *dots(const lam_rule *r, lam_tensor *x, lam_tensor *y) {
    return apply_bag(&lam__row_bag_dots, x, y, r->in[INDEX], r->params);
}

/* For operand 0, which has the rows. Also from bag_dots, whose parameters say nothing of rows. */
static lam_tensor *spread(const lam_rule *r, lam_tensor *y, lam_tensor *w) {
    bag_params p = *(const bag_params *)r->params;
    p.rows = lam_dim(r->in[0], p.batch);
    return apply_bag(&lam__row_bag_spread, y, w, r->in[INDEX], &p);
}

/* out[b] = sum over t of w[b, t] x[index[b, t]]: by x a spread of g, by w the products of rows of x with g. */
static void vjp_embedding_bag(const lam_rule *r, lam_tensor *const g[], lam_tensor *gx[]) {
    if (r->needs[0]) gx[0] = spread(r, g[0], r->in[1]);
    if (r->needs[1]) gx[1] = dots(r, r->in[0], g[0]);
}

/* The transpose of that by x: by y a sum of rows, by w products again. */
static void vjp_bag_spread(const lam_rule *r, lam_tensor *const g[], lam_tensor *gx[]) {
    if (r->needs[0]) gx[0] = sums(r, g[0], r->in[1]);
    if (r->needs[1]) gx[1] = dots(r, g[0], r->in[0]);
}

/* out[b, t] = x[index[b, t]] . y[b]: by x a spread of y with weights g, by y a sum of rows with weights g. */
static void vjp_bag_dots(const lam_rule *r, lam_tensor *const g[], lam_tensor *gx[]) {
    if (r->needs[0]) gx[0] = spread(r, r->in[1], g[0]);
    if (r->needs[1]) gx[1] = sums(r, r->in[0], g[0]);
}

/* One more axis in front of all three, whichever had it. What all share is repeated by a view, which the loops walk
 * with a step of 0. */
static void batch_bags(const lam_rule *r, lam_tensor *out[]) {
    bag_params p = *(const bag_params *)r->params;
    p.batch++;
    out[0] = apply_bag(r->primitive, lam__rules_with_batch(r, 0), lam__rules_with_batch(r, 1),
                       lam__rules_with_batch(r, INDEX), &p);
}

/* Linear in the table and in the weights; the indices are kept in any case, of the other two what a gradient reads. */
#define BAG_ROW(word)                                                                                                  \
    const lam_primitive lam__row_##word = {                                                                            \
        .name = #word,                                                                                                 \
        .inputs = 3,                                                                                                   \
        .derivative = LAM_BILINEAR,                                                                                    \
        .linear = 3u,                                                                                                  \
        .bilinear = true,                                                                                              \
        .saves = LAM_SAVE_IN(INDEX),                                                                                   \
        .saves_for = {LAM_SAVE_IN(1), LAM_SAVE_IN(0)},                                                                 \
        .shape = shape_##word,                                                                                         \
        .eval = eval_##word,                                                                                           \
        .vjp = vjp_##word,                                                                                             \
        .batch = batch_bags,                                                                                           \
        .layout = "i batch, l rows",                                                                                   \
    }
BAG_ROW(embedding_bag);
BAG_ROW(bag_spread);
BAG_ROW(bag_dots);
#undef BAG_ROW

/* ---- public ------------------------------------------------------------------------------------------------------ */

/* Two operands in one floating dtype, and the indices. The row's name is that of the public operation, so messages
 * fit. Weights may be integers: they are brought to the dtype of the rows. */
static lam_tensor *bags_of(const lam_primitive *row, lam_tensor *first, lam_tensor *second, lam_tensor *indices,
                           int64_t rows) {
    lam_tensor *in[2] = {first, second}, *failed;
    const bag_params p = {.rows = rows};
    if (!lam__matrices_operands(row->name, true, 2, in, in, &failed)) return failed;
    return apply_bag(row, in[0], in[1], lam__index_integers(indices), &p);
}

/* Weights as the indices have them; what does not broadcast is for the shape rule to refuse. So a single weight, or one
 * for each term, serves all bags; broadcasting adds its gradient up again. */
static lam_tensor *weights_for(lam_tensor *w, lam_tensor *indices) {
    if (!lam__scope_peek(w) || !lam__scope_peek(indices)) return w;
    lam_dims own = lam_dims_of(w), all = lam_dims_of(indices);
    bool same = own.rank == all.rank;
    for (int i = 0, lead = all.rank - own.rank; i < own.rank; i++) {
        if (lead < 0 || (own.dims[i] != 1 && own.dims[i] != all.dims[lead + i])) return w;
        same = same && own.dims[i] == all.dims[lead + i];
    }
    return same ? w : lam__apply_broadcast(w, all.rank, all.dims);
}

/* Weights broadcast to the indices; each gets its gradient summed back to its own dims. */
lam_tensor *lam_embedding_bag(lam_tensor *x, lam_tensor *indices, lam_tensor *weights) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_only(bags_of(&lam__row_embedding_bag, x, weights_for(weights, indices), indices, 0), since);
}

lam_tensor *lam_bag_spread(lam_tensor *y, lam_tensor *indices, lam_tensor *weights, int64_t rows) {
    uint64_t since = lam__scope_now(y);
    if (rows < 0)
        return lam__axes_fail(lam__row_bag_spread.name, y, LAM_ERR_VALUE, "there cannot be %lld rows", (long long)rows);
    return lam__scope_only(bags_of(&lam__row_bag_spread, y, weights_for(weights, indices), indices, rows), since);
}

/* What attention over given places is made of: a score for each place of each query. */
lam_tensor *lam_bag_dots(lam_tensor *x, lam_tensor *indices, lam_tensor *y) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_only(bags_of(&lam__row_bag_dots, x, y, indices, 0), since);
}
