/* How a contraction is computed: both operands as stacks of matrices, in their own memory where that can be, and
 * products of those by the kernels. What a contraction means is in contract.c. */
#include "lib/primitives/contract.h"
#include "lib/primitives/lent.h"

#include "lib/parallel/parallel.h"
#include "lib/tensor/value.h"

typedef lam__pairing pairing;

/* Of x rows are the free axes and columns the contracted ones, of y the other way round, so that the columns of the one
 * and the rows of the other are what is summed over. RUN is the faster part of a batch that one stride does not
 * walk. Groups are in the order in which a copy has them, slowest first. */
enum { BATCH, RUN, ROWS, COLUMNS, GROUPS };

/* An operand as a stack of matrices: its axes in groups, each walked by one stride. */
typedef struct stack {
    const lam_value *x;
    const void *data;
    int order[LAM_INNER_RANK], at[GROUPS + 1]; /* the axes of group g are order[at[g]..at[g + 1]) */
    int64_t size[GROUPS], stride[GROUPS];      /* elements */
    lam_value *copy;                           /* NULL: the operand's own memory serves */
} stack;

/* The axes order[0..n) as one axis: its size, and its stride if they nest; axes of one element have no say. An operand
 * that does not nest can still be seen in two parts, or copied. */
static bool nest(const lam_value *x, const int order[], int n, int64_t *size, int64_t *stride) {
    bool fits = true;
    *size = *stride = 1;
    for (int i = n - 1, seen = 0; i >= 0; i--) {
        int64_t dim = x->dims[order[i]], step = x->strides[order[i]];
        if (dim == 1) continue;
        if (!seen++) *stride = step;
        else fits = fits && step == *stride * *size;
        *size *= dim;
    }
    return fits;
}

/* x with its axes in this order, row-major. One pass over the operand, shared among threads. Within the order of the
 * groups, so one stride walks each of them then. */
static lam_value *ordered(lam_ctx *ctx, const lam_value *x, const int order[]) {
    int64_t dims[LAM_INNER_RANK], strides[LAM_INNER_RANK];
    for (int i = 0; i < x->rank; i++) {
        dims[i] = x->dims[order[i]];
        strides[i] = x->strides[order[i]];
    }
    lam_dtype dtype = (lam_dtype)x->dtype;
    lam_value *copy = lam__value_new(ctx, dtype, x->rank, dims);
    if (copy && x->count)
        lam__parallel_copy(ctx->team, x->rank, dims, dtype, copy->data, copy->strides, dtype, x->data, strides);
    return copy;
}

/* Where no group has more than one axis, as in products of matrices, nothing need nest. False: one has. It fills what
 * the product needs, and no order, of which there would be nothing to say. */
static bool stack_up_few(const pairing *p, int side, const lam_value *x, stack *s) {
    const int8_t *axes = lam__contract_axes(p, side);
    int free = x->rank - lam__contract_pairs(p),
        last = x->rank * (x->rank - 1) / 2; /* in the end the axis that is not named */
    if (p->batch > 1 || p->contract > 1 || free > 1) return false;
    s->data = x->data;
    for (int g = 0; g < GROUPS; g++) s->size[g] = s->stride[g] = 1;
    for (int i = 0; i < x->rank; i++) {
        const int group = i == lam__contract_pairs(p) ? (side ? COLUMNS : ROWS)
                          : i < p->batch              ? BATCH
                          : side                      ? ROWS
                                                      : COLUMNS;
        const int axis = i == lam__contract_pairs(p) ? last : axes[i];
        s->size[group] = x->dims[axis];
        if (x->dims[axis] != 1) s->stride[group] = x->strides[axis];
        last -= axis;
    }
    return true;
}

/* The axes of each operand form groups: those of the batch, in one or two parts, free and contracted ones. Where a
 * group is not one axis in memory, a batch may be walked in runs, and the outer free axes of one operand may be walked
 * like a batch that the other one shares; else the operand is copied. That takes the outer free axes of y past those
 * of x, so it is done where whoever asked for the product brings them to the front anyhow (`loose`): the elements of
 * the result then lie in that order at once, and its strides tell. */

/* Sizes and strides of all groups; false: one of them is not one axis in memory, and its stride means nothing. */
static bool fits(stack *s) {
    bool fine = true;
    for (int g = 0; g < GROUPS; g++)
        fine = nest(s->x, s->order + s->at[g], s->at[g + 1] - s->at[g], &s->size[g], &s->stride[g]) && fine;
    return fine;
}

/* Batch, then free and contracted axes (the other way round on side 1); no runs. Runs are empty until somebody cuts the
 * batch. */
static void arrange(const pairing *p, int side, stack *s) {
    const int rank = s->x->rank, first = p->batch, other = side ? lam__contract_pairs(p) : rank - p->contract;
    for (int i = 0; i < p->batch; i++) s->order[i] = lam__contract_axes(p, side)[i];
    for (int i = 0; i < p->contract; i++)
        s->order[(side ? first : other) + i] = lam__contract_axes(p, side)[p->batch + i];
    lam__contract_free(p, side, rank, s->order + (side ? other : first));
    s->at[BATCH] = 0, s->at[RUN] = s->at[ROWS] = first, s->at[COLUMNS] = other, s->at[GROUPS] = rank;
}

/* Whether the batch is made of runs in both operands. Every place to cut the batch is tried; both must fit at the same
 * one, since they are walked together. */
static bool fit_in_runs(const pairing *p, stack s[2]) {
    for (int cut = p->batch - 1; cut > 0; cut--) {
        s[0].at[RUN] = s[1].at[RUN] = cut;
        const bool fine = fits(&s[0]);
        if (fits(&s[1]) && fine) return true;
    }
    for (int side = 0; side < 2; side++) {
        s[side].at[RUN] = p->batch;
        fits(&s[side]);
    }
    return false;
}

/* Whether many products of these sizes are as good as one with as many rows or columns. */
static bool is_worth(int side, int64_t m, int64_t k, int64_t n) {
    enum { TINY = 8, WIDE = 16 };
    return (k <= TINY && n <= TINY) || (side ? n >= WIDE || m <= 4 : m >= WIDE || n <= 4);
}

/* Whether the operand fits when its first `lead` free axes are a run; the other one shares it. */
static bool fit_apart(const pairing *p, int side, int lead, stack s[2]) {
    stack *own = &s[side], *far = &s[1 - side];
    arrange(p, side, own);
    if (side) { /* batch, first free axes, contracted ones, the other free axes */
        int first[LAM_INNER_RANK];
        for (int i = 0; i < lead; i++) first[i] = own->order[lam__contract_pairs(p) + i];
        for (int i = p->contract - 1; i >= 0; i--) own->order[p->batch + lead + i] = own->order[p->batch + i];
        for (int i = 0; i < lead; i++) own->order[p->batch + i] = first[i];
        own->at[COLUMNS] += lead;
    }
    own->at[ROWS] += lead;
    if (!fits(own)) return false;
    far->size[RUN] = own->size[RUN];
    far->stride[RUN] = 0;
    return is_worth(side, s[0].size[ROWS], s[0].size[COLUMNS], s[1].size[COLUMNS]);
}

/* How many outer free axes of an operand that does not fit as it is are a run; 0: none. A shorter lead leaves the
 * larger matrices, so the shortest one that fits is taken. */
static int set_apart(const pairing *p, int side, stack s[2]) {
    const int free = s[side].x->rank - lam__contract_pairs(p);
    for (int lead = 1; lead < free; lead++)
        if (fit_apart(p, side, lead, s)) return lead;
    arrange(p, side, &s[side]);
    arrange(p, 1 - side, &s[1 - side]);
    fits(&s[1 - side]);
    return 0;
}

/* Copies the operand row-major in the order of its groups, unless it fits as it is. Of a copy the strides are known. It
 * is the last resort: one pass over the operand in memory. */
static lam_status copy_ordered(lam_ctx *ctx, stack *s) {
    if (fits(s)) return LAM_OK;
    s->copy = ordered(ctx, s->x, s->order);
    if (!s->copy) return LAM_ERR_MEMORY;
    s->data = s->copy->data;
    s->stride[COLUMNS] = 1;
    s->stride[ROWS] = s->size[COLUMNS];
    s->stride[BATCH] = s->size[ROWS] * s->size[COLUMNS];
    return LAM_OK;
}

/* Both operands as stacks; `lead`: how many free axes of y stand before those of x. From the cheapest to the dearest:
 * as it lies, in runs, one operand apart, and only then by copying. */
static lam_status stack_up(const lam_call_site *call, stack s[2], int *lead) {
    const pairing *p = call->params;
    bool few = stack_up_few(p, 0, call->in[0], &s[0]), fine[2];
    if (stack_up_few(p, 1, call->in[1], &s[1]) && few) return LAM_OK;
    for (int side = 0; side < 2; side++) {
        s[side].x = call->in[side];
        s[side].data = s[side].x->data;
        arrange(p, side, &s[side]);
        fine[side] = fits(&s[side]);
    }
    if ((fine[0] && fine[1]) || fit_in_runs(p, s)) return LAM_OK;
    if (fine[1] && set_apart(p, 0, s)) return LAM_OK;
    if (fine[0] && p->loose && (*lead = set_apart(p, 1, s))) return LAM_OK;
    lam_status status = copy_ordered(call->ctx, &s[0]);
    return status == LAM_OK ? copy_ordered(call->ctx, &s[1]) : status;
}

/* RUN is 1 where no runs are needed; then BATCH is what one stride walks. With runs a turn is what is added to come
 * from the end of one to the begin of the next. */
static lam__product product_of(const stack s[2]) {
    const int64_t batch = s[0].size[BATCH], run = s[0].size[RUN];
    const int of = run == 1 ? BATCH : RUN; /* what one stride walks */
    lam__product p = {.batch = batch * run,
                      .m = s[0].size[ROWS],
                      .k = s[0].size[COLUMNS],
                      .n = s[1].size[COLUMNS],
                      .x = s[0].data,
                      .x_batch = s[0].stride[of],
                      .x_row = s[0].stride[ROWS],
                      .x_col = s[0].stride[COLUMNS],
                      .y = s[1].data,
                      .y_batch = s[1].stride[of],
                      .y_row = s[1].stride[ROWS],
                      .y_col = s[1].stride[COLUMNS]};
    if (batch > 1 && run > 1) {
        p.run = run;
        p.x_turn = s[0].stride[BATCH] - run * s[0].stride[RUN];
        p.y_turn = s[1].stride[BATCH] - run * s[1].stride[RUN];
    }
    return p;
}

/* The kernel may pack operands, for which it asks for room while it runs. */
static lam_status multiply(lam_ctx *ctx, const stack s[2], lam_value *out) {
    lam__product p = product_of(s);
    p.out = out->data;
    lam__lent memory = {.ctx = ctx};
    bool done = lam__parallel_matmul(ctx->team, (lam_dtype)out->dtype, &p, lam__lent_get, &memory);
    lam__lent_return(&memory);
    return done ? LAM_OK : LAM_ERR_MEMORY;
}

/* Addresses stand for operands until it is known which of them has become which. */
bool lam__contract_plan(const lam_call_site *call, lam_dtype dtype, lam__contraction *made) {
    static const char first, second;
    const pairing *p = call->params;
    stack s[2];
    if (!stack_up_few(p, 0, call->in[0], &s[0]) || !stack_up_few(p, 1, call->in[1], &s[1])) return false;
    s[0].data = &first;
    s[1].data = &second;
    const lam__product product = product_of(s);
    if (!lam__parallel_matmul_alone(call->ctx->team, dtype, &product, &made->product)) return false;
    made->turned = made->product.product.x != &first;
    return true;
}

/* The plan is not changed but for the three addresses, so it serves again. */
void lam__contract_run(lam__contraction *c, const void *x, const void *y, void *out) {
    lam__product *p = &c->product.product;
    p->x = c->turned ? y : x;
    p->y = c->turned ? x : y;
    p->out = out;
    lam__kernels_matmul_part(&c->product, 0, p->batch, 0, p->m, NULL);
}

/* The first `lead` free axes of y lie in front of those of x. Only their strides change. The whole result was made, in
 * another order than its dims say; a tensor may lie so. */
static void lay_out(const pairing *p, const lam_value *x, int lead, lam_value *out) {
    const int rows = x->rank - lam__contract_pairs(p);
    int order[LAM_INNER_RANK], n = 0;
    for (int axis = 0; axis < p->batch; axis++) order[n++] = axis;
    for (int i = 0; i < lead; i++) order[n++] = p->batch + rows + i;
    for (int i = 0; i < rows; i++) order[n++] = p->batch + i;
    for (; n < out->rank; n++) order[n] = n;
    lam__value_reorder(out, order);
}

/* Copies live until the product is there. The result's elements are reordered by strides alone. */
lam_status lam__contract_eval(const lam_call_site *call, lam_value *const out[]) {
    stack s[2];
    int lead = 0;
    s[0].copy = s[1].copy = NULL;
    lam_status status = stack_up(call, s, &lead);
    if (status == LAM_OK) status = multiply(call->ctx, s, out[0]);
    if (lead) lay_out(call->params, call->in[0], lead, out[0]);
    for (int side = 0; side < 2; side++) lam__value_release(s[side].copy);
    return status;
}
