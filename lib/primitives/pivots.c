/* QR with column pivoting. One row says in which order the columns are taken; the factors are those of the matrix in
 * that order, so that their derivatives are lam_qr's, the order held. */
#include "lib/primitives/apply.h"
#include "lib/primitives/axes.h"
#include "lib/primitives/matrices.h"
#include "lib/primitives/rows.h"

#include "lib/kernels/blas/pivots.h"
#include "lib/tensor/dtype.h"
#include "lib/tensor/value.h"

#include <lamina/ops.h>
#include <lamina/structured.h>
#include <lamina/tensor.h>

/* A number for each column, also of those that a matrix with fewer rows has beyond its rank: the columns are taken by
 * all of it. An i32 counts them, as lam__matrices_fit sees to. */
static lam_status shape_qr_pivots(const lam_call_site *call, lam_shape out[]) {
    const lam_value *x = call->in[0];
    const lam_status typed = lam__matrices_typed(call, false);
    if (typed != LAM_OK) return typed;
    out->dtype = LAM_I32;
    out->rank = x->rank - 1;
    for (int k = 0; k < x->rank - 2; k++) out->dims[k] = x->dims[k];
    out->dims[x->rank - 2] = x->dims[x->rank - 1];
    return lam__matrices_fit(call, false);
}

/* What the workers share. The order is dense, so that it is found by the number of a matrix. */
typedef struct stack {
    const lam_value *x;
    int32_t *order;
    int64_t m, n;
} stack;

/* Pivoting cannot fail. Where an element is infinite or NaN the columns stay in their order. So all of a part is done,
 * and no number of a bad one is given. */
static int64_t order_part(const void *env, int64_t begin, int64_t end, void *room) {
    const stack *s = env;
    const int64_t at = begin * s->m * s->n * (int64_t)lam__dtype_bytes(s->x->dtype);
    lam__kernels_pivots((lam_dtype)s->x->dtype, end - begin, s->m, s->n, (const char *)s->x->data + at,
                        s->order + begin * s->n, room);
    return -1;
}

/* The work is that of the factorisation, by which teams cut the stack; nothing of it is kept but the order. */
static lam_status eval_qr_pivots(const lam_call_site *call, lam_value *const out[]) {
    if (out[0]->count == 0) return LAM_OK;
    lam_value *x = lam__value_contiguous(call->in[0]);
    if (!x) return LAM_ERR_MEMORY;
    const stack s = {x, out[0]->data, x->dims[x->rank - 2], x->dims[x->rank - 1]};
    const double m = (double)s.m, n = (double)s.n;
    int64_t bad;
    lam_status status =
        lam__matrices_each(call->ctx, lam__matrices_count(x), m * n * ((m < n ? m : n) + 20),
                           lam__kernels_pivots_bytes((lam_dtype)x->dtype, s.m, s.n), order_part, &s, &bad);
    lam__value_release(x);
    return status;
}

/* A stack with one more leading axis. Each matrix has an order of its own. */
static void batch_qr_pivots(const lam_rule *r, lam_tensor *out[]) {
    out[0] = lam__apply1(r->primitive, NULL, 0, r->in[0]);
}

/* An order is a set of integers, so it has no derivative. */
const lam_primitive lam__row_qr_pivots = {
    .name = "qr_pivots",
    .inputs = 1,
    .takes_complex = true,
    .derivative = LAM_NOT_DIFFERENTIABLE,
    .shape = shape_qr_pivots,
    .eval = eval_qr_pivots,
    .batch = batch_qr_pivots,
};

/* The order alone, for those who take the factors elsewhere. */
lam_tensor *lam_qr_pivots(lam_tensor *x) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *failed;
    if (!lam__matrices_stack("qr_pivots", &x, &failed)) return failed;
    return lam__scope_only(lam__apply1(&lam__row_qr_pivots, NULL, 0, x), since);
}

/* Columns are taken by an operation with a derivative, so that gradients of q and r reach the columns of x that they
 * come from; the order is a constant to them. Nothing is looked at in between: a failed order makes all that follows
 * fail, and the status at the end says why. */
lam_status lam_qr_pivoted(lam_tensor *x, lam_tensor **q, lam_tensor **r, lam_tensor **permutation,
                          const lam_qr_options *options) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *failed, *made[3], **const places[3] = {q, r, permutation};
    if (!lam__matrices_stack("qr_pivoted", &x, &failed)) return lam__matrices_give_failed(failed, 3, places);
    made[2] = lam_qr_pivots(x);
    lam_tensor *ordered = lam_take_along_axis(x, lam_expand_dims(made[2], -2), -1);
    lam_status status = lam_qr(ordered, &made[0], &made[1], options);
    return lam__matrices_give(status, since, 3, made, places);
}
