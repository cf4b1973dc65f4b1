/* Contractions. All of them are one primitive, dot_general: any axes of two tensors paired off as batch axes or as
 * axes summed over. It is bilinear, its derivatives are dot_generals, and so is its batched form: a mapped operand has
 * one axis more, which is a batch axis if both have it and a free axis otherwise. Nothing here is ever a loop over
 * examples. */
#include "lib/primitives/apply.h"
#include "lib/primitives/axes.h"
#include "lib/primitives/contract.h"
#include "lib/primitives/matrices.h"
#include "lib/primitives/rows.h"

#include "lib/tensor/value.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

#include <string.h>

typedef lam__pairing pairing;

/* The axes of one side, to be written. batch and contract must be set, since they say where the second side begins. The
 * second side's come right behind. */
static int8_t *named(pairing *p, int side) {
    return p->axes + side * lam__contract_pairs(p);
}

/* Only the pairs in use become parameters: programs compare the bytes of calls, and a tape copies them. */
lam_tensor *lam__contract(const pairing *p, lam_tensor *x, lam_tensor *y) {
    lam_tensor *in[2] = {x, y};
    return lam__apply(&lam__row_dot_general, p, offsetof(pairing, axes) + 2 * (size_t)lam__contract_pairs(p), 2, in);
}

/* ---- shape ------------------------------------------------------------------------------------------------------- */

/* The result has the batch axes, then the free axes of x, then those of y. Axes are there and named once: whoever makes
 * a pairing sees to it. */
static lam_status shape_dot_general(const lam_call_site *call, lam_shape out[]) {
    const pairing *p = call->params;
    const lam_value *x = call->in[0], *y = call->in[1];
    if (x->dtype != y->dtype)
        return lam__error_call(call, LAM_ERR_DTYPE, "cast one of them", "the operands have two dtypes");
    for (int i = 0; i < lam__contract_pairs(p); i++) {
        int a = lam__contract_axes(p, 0)[i], b = lam__contract_axes(p, 1)[i];
        if (x->dims[a] != y->dims[b])
            return lam__error_call(call, LAM_ERR_SHAPE, "paired axes must have equal sizes",
                                   "axis %d of the first operand has %lld elements, axis %d of the second has %lld", a,
                                   (long long)x->dims[a], b, (long long)y->dims[b]);
    }
    /* Inside rules there are axes of levels beside the user's, for which there is room; the message has the user's
     * bound. */
    if (x->rank + y->rank - p->batch - 2 * p->contract > LAM_INNER_RANK)
        return lam__error_call(call, LAM_ERR_RANK, NULL, "the result would have more than %d axes", LAM_MAX_RANK);
    out->dtype = (lam_dtype)x->dtype;
    out->rank = 0;
    for (int i = 0; i < p->batch; i++) out->dims[out->rank++] = x->dims[lam__contract_axes(p, 0)[i]];
    for (int side = 0; side < 2; side++) {
        const lam_value *z = call->in[side];
        const uint32_t taken = lam__contract_named(p, side);
        for (int axis = 0; axis < z->rank; axis++)
            if (!(taken >> axis & 1u)) out->dims[out->rank++] = z->dims[axis];
    }
    return LAM_OK;
}

/* ---- derivative -------------------------------------------------------------------------------------------------- */

/* Where axis a of an operand comes among its contracted axes, by number. Numbers are all different, so places are
 * too. */
static int place_among(const int8_t *contracted, int n, int8_t a) {
    int place = 0;
    for (int i = 0; i < n; i++) place += contracted[i] < a;
    return place;
}

/* The cotangent times the other operand, summed over that one's free axes. The product keeps the order x, y: its axes
 * are batch, free axes of the left factor, of the right; they are then put where the operand has them. With out[b, m,
 * n] = sum over k of x[b, m, k] y[b, k, n], gx[b, m, k] = sum over n of g[b, m, n] y[b, k, n], and gy likewise: one
 * more dot_general, whose contracted axes are the free ones of the other operand. No copy is made of either; only the
 * order of the result's axes may have to be changed, which `loose` lets the kernel do at once. */
static lam_tensor *gradient(const lam_rule *r, lam_tensor *g, int side) {
    const pairing *p = r->params;
    int own_free[LAM_INNER_RANK], far_free[LAM_INNER_RANK], order[LAM_INNER_RANK] = {0}, far = 1 - side;
    int rank = lam_rank(r->in[side]), n = lam__contract_free(p, side, rank, own_free);
    int m = lam__contract_free(p, far, lam_rank(r->in[far]), far_free);
    pairing q = {.batch = p->batch, .contract = (int8_t)m};
    for (int i = 0; i < p->batch; i++) {
        named(&q, side)[i] = (int8_t)i;
        named(&q, far)[i] = lam__contract_axes(p, far)[i];
        order[lam__contract_axes(p, side)[i]] = i;
    }
    for (int i = 0; i < m; i++) {
        named(&q, side)[p->batch + i] = (int8_t)(p->batch + (side ? 0 : n) + i);
        named(&q, far)[p->batch + i] = (int8_t)far_free[i];
    }
    for (int i = 0; i < n; i++) order[own_free[i]] = p->batch + (side ? p->contract : 0) + i;
    const int8_t *own = lam__contract_axes(p, side) + p->batch, *other = lam__contract_axes(p, far) + p->batch;
    for (int i = 0; i < p->contract; i++)
        order[own[i]] = p->batch + (side ? 0 : n) + place_among(other, p->contract, other[i]);
    bool there = true;
    for (int i = 0; i < rank; i++) there = there && order[i] == i;
    q.loose = !there;
    lam_tensor *product = side ? lam__contract(&q, r->in[0], g) : lam__contract(&q, g, r->in[1]);
    return there ? product : lam_transpose(product, (lam_axes){rank, order});
}

/* The transpose does not conjugate: complex operands need no other rule. The sides are done apart, since one may need
 * nothing. */
static void vjp_dot_general(const lam_rule *r, lam_tensor *const g[], lam_tensor *gx[]) {
    for (int side = 0; side < 2; side++)
        if (r->needs[side]) gx[side] = gradient(r, g[0], side);
}

/* ---- batch ------------------------------------------------------------------------------------------------------- */

/* Mapped on both sides the batch axis is a pair more, in front; on one side it is that operand's first free axis, which
 * comes behind the pairs of the batch (and behind the free axes of x), and is moved to the front of the result. No
 * example is ever gone through alone. */
static void batch_dot_general(const lam_rule *r, lam_tensor *out[]) {
    const pairing *p = r->params;
    int both = r->mapped[0] && r->mapped[1], unused[LAM_INNER_RANK];
    pairing q = {.batch = (int8_t)(p->batch + both), .contract = p->contract};
    for (int side = 0; side < 2; side++) {
        if (both) named(&q, side)[0] = 0;
        for (int i = 0; i < lam__contract_pairs(p); i++)
            named(&q, side)[both + i] = (int8_t)(lam__contract_axes(p, side)[i] + r->mapped[side]);
    }
    int at = both ? 0 : p->batch + (r->mapped[0] ? 0 : lam__contract_free(p, 0, lam_rank(r->in[0]), unused));
    q.loose = at > 0 || p->loose;
    lam_tensor *product = lam__contract(&q, r->in[0], r->in[1]);
    out[0] = at ? lam_moveaxis(product, at, 0) : product;
}

/* A product with a constant keeps the constant alone. */
const lam_primitive lam__row_dot_general = {
    .name = "dot_general",
    .inputs = 2,
    .takes_complex = true,
    .derivative = LAM_BILINEAR,
    .linear = 3u,
    .bilinear = true,
    .saves_for = {LAM_SAVE_IN(1), LAM_SAVE_IN(0)},
    .shape = shape_dot_general,
    .eval = lam__contract_eval,
    .vjp = vjp_dot_general,
    .batch = batch_dot_general,
    .layout = "c batch, c contract, b loose, c x[batch+contract], c y[batch+contract]",
};

/* ---- by axis lists ----------------------------------------------------------------------------------------------- */

/* Adds the named axes of one operand to its side; false after recording a list that is impossible or an axis that is
 * there already. No list is an empty one here: unlike in a reduction, nothing is contracted that is not named. */
static bool collect(const char *operation, lam_tensor *x, lam_axes axes, uint32_t *seen, int *count, int8_t *out) {
    int list[LAM_INNER_RANK];
    if (!lam__axes_collect(operation, x, axes, lam_rank(x), count, list)) return false;
    if (*count < 0) *count = 0;
    for (int i = 0; i < *count; i++) {
        if (*seen >> list[i] & 1u) {
            lam__axes_fail(operation, x, LAM_ERR_AXIS, "axis %d is both a batch axis and contracted", list[i]);
            return false;
        }
        *seen |= 1u << list[i];
        out[i] = (int8_t)list[i];
    }
    return true;
}

/* Contracts two operands of one dtype over axis lists. Batch axes first, then contracted ones, which is the order of
 * the row's parameter. */
static lam_tensor *contracted(const char *operation, lam_tensor *in[2], const lam_dot_general_options *o) {
    int8_t axes[2][2 * LAM_INNER_RANK];
    int batch[2], contract[2];
    for (int side = 0; side < 2; side++) {
        uint32_t seen = 0;
        if (!collect(operation, in[side], side ? o->batch_y : o->batch_x, &seen, &batch[side], axes[side]))
            return lam__axes_failed(in[0]);
        if (!collect(operation, in[side], side ? o->contract_y : o->contract_x, &seen, &contract[side],
                     axes[side] + batch[side]))
            return lam__axes_failed(in[0]);
    }
    if (batch[0] != batch[1] || contract[0] != contract[1])
        return lam__matrices_fail(operation, 2, in, LAM_ERR_AXIS, "name as many axes of one operand as of the other",
                                  "%d and %d batch axes, %d and %d contracted ones cannot be paired", batch[0],
                                  batch[1], contract[0], contract[1]);
    pairing p = {.batch = (int8_t)batch[0], .contract = (int8_t)contract[0]};
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < lam__contract_pairs(&p); i++) named(&p, side)[i] = axes[side][i];
    return lam__contract(&p, in[0], in[1]);
}

/* As lax.dot_general: pairs by position in the lists. */
lam_tensor *lam_dot_general(lam_tensor *x, lam_tensor *y, const lam_dot_general_options *options) {
    uint64_t since = lam__scope_now(x);
    static const lam_dot_general_options none;
    lam_tensor *in[2] = {x, y}, *failed;
    if (!lam__matrices_operands("dot_general", false, 2, in, in, &failed)) return failed;
    return lam__scope_only(contracted("dot_general", in, options ? options : &none), since);
}

/* Without lists the last two axes of x pair with the first two of y, as in NumPy. */
lam_tensor *lam_tensordot(lam_tensor *x, lam_tensor *y, lam_axes axes_x, lam_axes axes_y) {
    uint64_t since = lam__scope_now(x);
    static const int last[2] = {-2, -1}, first[2] = {0, 1};
    lam_tensor *in[2] = {x, y}, *failed;
    if (!lam__matrices_operands("tensordot", false, 2, in, in, &failed)) return failed;
    lam_dot_general_options o = {.contract_x = axes_x, .contract_y = axes_y};
    if (!axes_x.count && !axes_x.items && !axes_y.count && !axes_y.items) {
        o.contract_x = (lam_axes){2, last};
        o.contract_y = (lam_axes){2, first};
    }
    return lam__scope_only(contracted("tensordot", in, &o), since);
}

/* The last axis of x with the last but one of y, or its only one; with a scalar it is a product. Leading axes do not
 * pair up, which is what lam_matmul is for: dot of two matrices is their product, dot of two stacks has the leading
 * axes of both. */
lam_tensor *lam_dot(lam_tensor *x, lam_tensor *y) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *in[2] = {x, y}, *failed;
    if (!lam__matrices_operands("dot", false, 2, in, in, &failed)) return failed;
    if (lam_rank(in[0]) == 0 || lam_rank(in[1]) == 0) return lam__scope_only(lam_mul(in[0], in[1]), since);
    int last = -1, inner = lam_rank(in[1]) == 1 ? 0 : -2;
    return lam__scope_only(
        contracted("dot", in, &(lam_dot_general_options){.contract_x = {1, &last}, .contract_y = {1, &inner}}), since);
}

/* Both as vectors of all their elements. A broadcast product is faster than a contraction over nothing. */
lam_tensor *lam_outer(lam_tensor *x, lam_tensor *y) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *in[2] = {x, y}, *failed;
    if (!lam__matrices_operands("outer", false, 2, in, in, &failed)) return failed;
    return lam__scope_only(lam_mul(lam_reshape(in[0], LAM_DIMS(-1, 1)), lam_reshape(in[1], LAM_DIMS(1, -1))), since);
}
