/* The way back along the tape: for y = f(x) each node turns the cotangent of its results into (dy/dx)' g for its
 * operands, where they are added up. Nodes that have received a cotangent wait, the one with the highest id next: it
 * has heard from all its consumers, which have higher ids, so it passes its cotangent on and is done. Only what carries
 * a cotangent is visited; leaves keep what they get until the end.
 * The walk runs under whatever levels are current, and all it does to values are operations of these: so a pullback
 * that is called inside another transform is differentiated, batched or recorded like any function. Most nodes are
 * products, sums and rows of one operand whose dims are those of the result; they have ways of their own here, on
 * values and without handles. All others go through lam__rules_cotangents. */
#include "transforms/queue.h"

#include "lib/dispatch/part.h"
#include "lib/primitives/reduce.h"
#include "lib/primitives/rows.h"
#include "lib/primitives/rules.h"

#include <string.h>

/* id: of this walk, in the nodes that it has reached, so that a pullback called by one of its own rules is found. once:
 * no other walk follows, so nodes are freed behind the visit. */
typedef struct walk {
    lam_ctx *ctx;
    uint64_t id;
    bool once;
    lam__queue waiting;
} walk;

/* ---- cotangents ---------------------------------------------------------------------------------------------- */

/* NOTE [signs]
 * Differences send a cotangent back with a minus. Nothing is multiplied by it: it is written down at the node that the
 * cotangent waits for, and goes on from there to its operands, where it decides between adding and taking away. Only
 * what need not be linear in its cotangent (rules that users write), and leaves at the end, see it carried out; and a
 * number that is about to become elements or a box, since it costs least while it is one. Where nothing is written down
 * it is plus. */
static inline int sign_of(const lam__node *n) {
    return n->minus ? -1 : 1;
}

/* The first cotangent of a node, moved in and not added to zeros. A minus can be written down for a node of one output
 * only; one of several has it carried out, into the slot, which is empty. */
static lam_status move_in(walk *w, lam__node *n, lam_value **slot, lam_value *g, int sign) {
    n->run = w->id;
    n->minus = sign < 0 && n->outputs == 1;
    if (sign < 0 && !n->minus) return lam__rules_accumulate(w->ctx, slot, g, sign);
    *slot = g;
    return LAM_OK;
}

/* Carries out the sign of a node's cotangent. By adding it with a minus to what is not there, which writes over it
 * where nobody else sees it. */
LAM__APART static lam_status settle(walk *w, lam__node *n) {
    lam_value *g = n->output[0].cotangent;
    n->minus = 0;
    n->output[0].cotangent = NULL;
    return lam__rules_accumulate(w->ctx, &n->output[0].cotangent, g, -1);
}

/* Two walks cannot use one node: its cotangent has one place. */
LAM__APART static lam_status fail_busy(walk *w, lam_value *g) {
    lam__value_release(g);
    return lam__error_set(w->ctx, LAM_ERR_VALUE, "call it when the rule is through",
                          "a pullback was called by a rule that it is itself calling");
}

/* The queue holds the node until its visit. */
LAM__APART static lam_status move_in_far(walk *w, lam__node *n, lam_value **slot, lam_value *g, int sign) {
    if (lam__queue_push(w->ctx, &w->waiting, n) == LAM_OK) return move_in(w, n, slot, g, sign);
    lam__value_release(g);
    return LAM_ERR_MEMORY;
}

/* The first cotangent for a node: it waits for its visit from now on, unless it is a leaf, which keeps what it gets. */
LAM__APART static lam_status deliver_first(walk *w, lam__node *n, lam_value **slot, lam_value *g, int sign) {
    if (n->run) return fail_busy(w, g);
    if (n->primitive && !lam__queue_join(&w->waiting, n)) return move_in_far(w, n, slot, g, sign);
    return move_in(w, n, slot, g, sign);
}

/* Gives g with its sign, taken over, to the place an edge names. */
static inline lam_status deliver(walk *w, const lam__edge *to, lam_value *g, int sign) {
    lam__node *n = to->node;
    lam_value **slot = &n->output[to->index].cotangent;
    return n->run == w->id ? lam__rules_accumulate(w->ctx, slot, g, sign * sign_of(n))
                           : deliver_first(w, n, slot, g, sign);
}

/* ---- one node -------------------------------------------------------------------------------------------------- */

/* What a visited node that lives on saved goes. The edges go with it, so what hangs on them may be freed too. */
LAM__APART static void forget_saved(walk *w, lam__node *node) {
    lam__node_input *input = lam__node_inputs(node, node->outputs);
    for (int i = 0; i < node->inputs; i++) {
        lam__value_release(input[i].saved);
        input[i].saved = NULL;
        lam__node_release(w->ctx, input[i].parent.node);
        input[i].parent.node = NULL;
    }
}

/* Ends the visit of a node, and gives up the reference that it waited with. With `once` nothing needs it any more: it
 * is freed while it is at hand, and if something else holds it, what it saved goes. */
LAM__UNROLLED void let_go(walk *w, lam__node *node, int m) {
    for (int o = 0; o < m; o++) {
        lam__value_release(node->output[o].cotangent);
        node->output[o].cotangent = NULL;
    }
    node->run = 0;
    if (node->refs > 1 && w->once) forget_saved(w, node);
    if (--node->refs == 0) lam__node_end(w->ctx, node);
}

/* Applies the rule of a node and passes its results on. in[], needs[] and gx[] are room for n; results[] and g[] lie in
 * the node or are copies. An operand that nobody saved is taken from its own node, which has its value or its type. */
LAM__UNROLLED lam_status pass_on(walk *w, lam__node *node, int n, int m, lam_value *in[], bool needs[], lam_value *gx[],
                                 lam_value *const results[], lam_value *const g[]) {
    const lam__node_input *input = lam__node_inputs(node, m);
    for (int i = 0; i < n; i++) {
        lam__edge up = input[i].parent;
        needs[i] = up.node != NULL;
        in[i] = input[i].saved ? input[i].saved : up.node ? up.node->output[up.index].value : NULL;
    }
    lam_call_site call = {.ctx = w->ctx,
                          .primitive = node->primitive,
                          .params = lam__node_params(node),
                          .params_bytes = node->params_bytes,
                          .inputs = n,
                          .outputs = m,
                          .in = in,
                          .residual = node->residual};
    lam_status status = lam__rules_cotangents(&call, results, needs, g, gx);
    for (int i = 0; i < n; i++) {
        if (gx[i] && status == LAM_OK) status = deliver(w, &input[i].parent, gx[i], sign_of(node));
        else lam__value_release(gx[i]);
    }
    return status;
}

/* Back through a sum with signs of operands that have its dims: each gets the cotangent as it is. The row's own signs
 * say which operand was taken away. */
LAM__UNROLLED lam_status pass_signed(walk *w, lam__node *node, int n, lam_value *g) {
    lam_status status = LAM_OK;
    const lam__node_input *input = lam__node_inputs(node, 1);
    for (int i = 0; i < n && status == LAM_OK; i++)
        if (input[i].parent.node)
            status = deliver(w, &input[i].parent, lam__value_hold(g), node->primitive->signs[i] * sign_of(node));
    return status;
}

/* Gives the product of x and y, with a sign, to an operand that wants it: into what is there already, in one pass and
 * without making the product, else as its first cotangent. */
static inline lam_status deliver_times(walk *w, const lam__edge *to, const lam_primitive *row, lam_value *x,
                                       lam_value *y, int sign) {
    lam__node *n = to->node;
    if (!n) return LAM_OK;
    if (n->run == w->id && n->output[to->index].cotangent)
        return lam__rules_accumulate_times(w->ctx, row, &n->output[to->index].cotangent, x, y, sign * sign_of(n));
    lam_value *gx;
    lam_status status = lam__rules_times(w->ctx, row, x, y, &gx);
    return status == LAM_OK ? deliver(w, to, gx, sign) : status;
}

/* Whether an operand wants no gradient or has the dims of the result, whose type it then mostly shares. */
static inline bool like_result(const lam__edge *up, const lam_value *result) {
    if (!up->node) return true;
    const lam_value *x = up->node->output[up->index].value;
    return x == result || lam__value_same_dims(x, result);
}

/* NOTE [last use]
 * A node's cotangent is its own, mostly, and is not read after its last use. So that one writes over it, or hands it
 * on, instead of making another value. */
static inline lam_value *give_away(lam__node *node) {
    lam_value *g = node->output[0].cotangent;
    node->output[0].cotangent = NULL;
    return g;
}

/* The last use of a node's cotangent: its product with y, over itself where nobody else sees it. */
static inline lam_status times_last(walk *w, lam__node *node, const lam_primitive *row, lam_value *y, lam_value **gx) {
    lam_status status;
    lam_value *g = node->output[0].cotangent;
    if (!lam__rules_times_into(row, g, y, &status)) return lam__rules_times(w->ctx, row, g, y, gx);
    if (status == LAM_OK) *gx = give_away(node);
    return status;
}

/* Whether an operand is to get a value, and not to have it added to what is there already. */
static inline bool wants_value(const walk *w, const lam__edge *to) {
    const lam__node *n = to->node;
    return n && !(n->run == w->id && n->output[to->index].cotangent);
}

/* Whether nobody else sees a cotangent that can be written over. A level that multiplies in its boxes has a way for
 * that. */
static inline bool is_own(const lam_value *g) {
    if (g->refs != 1) return false;
    return g->kind == LAM__CONCRETE || (g->kind == LAM__BOX && lam__payload_of(g)->level->interpreter->multiply);
}

/* The product of a node's cotangent and y, its last use, goes to an operand that wants a value. */
static inline lam_status deliver_last(walk *w, const lam__edge *to, lam__node *node, lam_value *y) {
    lam_value *gx;
    lam_status status = times_last(w, node, &lam__row_mul, y, &gx);
    return status == LAM_OK ? deliver(w, to, gx, sign_of(node)) : status;
}

/* One operand of a product gets the cotangent times the other one, then the operand `last` likewise, over it. */
static inline lam_status pass_over(walk *w, lam__node *node, const lam__node_input input[], int last) {
    lam_value *g = node->output[0].cotangent;
    lam_status status = deliver_times(w, &input[1 - last].parent, &lam__row_mul, g, input[last].saved, sign_of(node));
    return status == LAM_OK ? deliver_last(w, &input[last].parent, node, input[1 - last].saved) : status;
}

/* Back through a product of two whose operands have its dims: each gets the cotangent times the other one, ga = g b and
 * gb = g a. Where nobody else sees g and one of the two wants a value, that one is written over g, and therefore last.
 * Both operands may be one node (x x): then the second product is added to the first. */
static inline lam_status pass_product(walk *w, lam__node *node, const lam__node_input input[]) {
    const lam_primitive *row = &lam__row_mul;
    const lam__edge *a = &input[0].parent, *b = &input[1].parent;
    lam_value *g = node->output[0].cotangent;
    if (is_own(g) && a->node != b->node) {
        if (wants_value(w, a)) return pass_over(w, node, input, 0);
        if (wants_value(w, b)) return pass_over(w, node, input, 1);
    }
    lam_status status = deliver_times(w, a, row, g, input[1].saved, sign_of(node));
    return status == LAM_OK ? deliver_times(w, b, row, input[0].saved, g, sign_of(node)) : status;
}

/* Back through a b + c, all of whose operands have its dims: ga = g b, gb = g a, gc = g, which is handed on. */
LAM__APART static lam_status pass_fma(walk *w, lam__node *node) {
    const lam_primitive *row = &lam__row_mul;
    const lam__node_input *input = lam__node_inputs(node, 1);
    if (!input[2].parent.node) return pass_product(w, node, input);
    const int sign = sign_of(node);
    lam_value *g = node->output[0].cotangent;
    lam_status status = deliver_times(w, &input[0].parent, row, g, input[1].saved, sign);
    if (status == LAM_OK) status = deliver_times(w, &input[1].parent, row, input[0].saved, g, sign);
    return status == LAM_OK ? deliver(w, &input[2].parent, give_away(node), sign) : status;
}

/* Back through a b, or a b + c, of which some operands were broadcast: what goes to these is summed, and comes first,
 * since it needs the cotangent as it is. */
LAM__APART static lam_status pass_uneven(walk *w, lam__node *node) {
    const lam__node_input *input = lam__node_inputs(node, 1);
    const lam_value *result = node->output[0].value;
    lam_value *g = node->output[0].cotangent, *gx;
    lam_status status = LAM_OK;
    for (int i = 0; i < node->inputs && status == LAM_OK; i++) {
        const lam__edge *to = &input[i].parent;
        lam_value *factor = i < 2 ? input[1 - i].saved : NULL;
        if (like_result(to, result)) continue;
        status = lam__rules_times_summed(w->ctx, g, factor, to->node->output[to->index].value, &gx);
        if (status == LAM_OK) status = deliver(w, to, gx, sign_of(node));
    }
    for (int i = 0; i < node->inputs && status == LAM_OK; i++) {
        const lam__edge *to = &input[i].parent;
        if (!to->node || !like_result(to, result)) continue;
        status = i < 2 ? deliver_times(w, to, &lam__row_mul, g, input[1 - i].saved, sign_of(node))
                       : deliver(w, to, give_away(node), sign_of(node));
    }
    return status;
}

/* Back through y = a / b whose operands have its dims: ga = g / b, gb = -g y / b = -ga y. Where the numerator gets
 * nothing its part need not be made, which may leave the range: g y / b is done by one row then. */
LAM__APART static lam_status pass_quotient(walk *w, lam__node *node) {
    const int sign = sign_of(node);
    const lam__node_input *input = lam__node_inputs(node, 1);
    lam_value *part, *result = node->output[0].value;
    if (!input[0].parent.node) {
        lam_value *in[3] = {node->output[0].cotangent, result, input[1].saved};
        const lam_status status = lam__rules_of_three(w->ctx, &lam__row_mul_div, in, &part);
        return status == LAM_OK ? deliver(w, &input[1].parent, part, -sign) : status;
    }
    lam_status status = times_last(w, node, &lam__row_div, input[1].saved, &part);
    if (status != LAM_OK) return status;
    status = deliver_times(w, &input[1].parent, &lam__row_mul, part, result, -sign);
    if (status == LAM_OK) return deliver(w, &input[0].parent, part, sign);
    lam__value_release(part);
    return status;
}

/* Back through a sum that the tape has gathered itself (NOTE [sums in place]): each term gets the cotangent with its
 * sign. */
LAM__APART static lam_status visit_sum(walk *w, lam__node *node) {
    lam_status status = LAM_OK;
    lam_value *g = node->output[0].cotangent;
    const lam__node_input *term = lam__node_inputs(node, 1);
    for (int i = 0; i < node->inputs && status == LAM_OK; i++)
        if (term[i].parent.node)
            status = deliver(w, &term[i].parent, lam__value_hold(g), term[i].parent.sign * sign_of(node));
    let_go(w, node, 1);
    return status;
}

/* The general way for one result from n operands, where n is a constant. */
LAM__UNROLLED lam_status pass_few(walk *w, lam__node *node, int n) {
    lam_value *in[2], *gx[2];
    bool needs[2];
    return pass_on(w, node, n, 1, in, needs, gx, &node->output[0].value, &node->output[0].cotangent);
}

/* Apart, so that the ways above it stay short. */
LAM__APART static lam_status pass_two(walk *w, lam__node *node) {
    return pass_few(w, node, 2);
}

/* Whether a row is the product of two elements and has what pass_product reads; if not, the general way says so. */
static inline bool is_product(const lam_primitive *p, const lam__node_input input[]) {
    return p == &lam__row_mul && (input[1].saved || !input[0].parent.node) && (input[0].saved || !input[1].parent.node);
}

/* `even`: no operand that wants a gradient was broadcast, so no cotangent has to be summed. */
static inline lam_status visit_two(walk *w, lam__node *node) {
    const lam_primitive *p = node->primitive;
    const lam__node_input *input = lam__node_inputs(node, 1);
    lam_value *g = node->output[0].cotangent, *result = node->output[0].value;
    bool even = like_result(&input[0].parent, result) && like_result(&input[1].parent, result);
    lam_status status = even && p->signs[0]            ? pass_signed(w, node, 2, g)
                        : even && is_product(p, input) ? pass_product(w, node, input)
                        : is_product(p, input)         ? pass_uneven(w, node)
                        : even && p == &lam__row_div   ? pass_quotient(w, node)
                                                       : pass_two(w, node);
    let_go(w, node, 1);
    return status;
}

/* Back through a row of one operand that was recorded as the product with its derivative. */
static inline lam_status pass_sloped(walk *w, lam__node *node) {
    const lam__node_input *input = lam__node_inputs(node, 1);
    return deliver_last(w, &input->parent, node, input->saved);
}

/* Back through a slice: its cotangent is added where it lies, to what is there already or to zeros, so that many small
 * parts of one tensor cost what they have, not what it has. */
LAM__APART static lam_status pass_slice(walk *w, lam__node *node, lam_value *g) {
    lam_status status;
    const lam__slice_params *part = lam__node_params(node);
    const lam__edge *to = &lam__node_inputs(node, 1)->parent;
    lam__node_output *up = &to->node->output[to->index];
    if (to->node->run == w->id && up->cotangent) {
        const int sign = sign_of(node) * sign_of(to->node);
        return lam__dispatch_accumulate_part(up->cotangent, part, g, sign, &status) ? status : pass_few(w, node, 1);
    }
    if (g->kind != LAM__CONCRETE) return pass_few(w, node, 1);
    lam_value *zeros = lam__value_zeros(w->ctx, (lam_dtype)g->dtype, up->value->rank, up->value->dims);
    if (!zeros) return LAM_ERR_MEMORY;
    if (lam__dispatch_accumulate_part(zeros, part, g, 1, &status)) return deliver(w, to, zeros, sign_of(node));
    lam__value_release(zeros);
    return pass_few(w, node, 1);
}

/* Back through a sum: each element gets the cotangent of its sum, which is seen as often as there are elements. A view
 * of stride 0 along what was summed, so nothing is copied before somebody adds to it. */
LAM__APART static lam_status pass_sum(walk *w, lam__node *node, lam_value *g) {
    const lam__edge *to = &lam__node_inputs(node, 1)->parent;
    const lam_value *x = to->node->output[to->index].value;
    const lam__axis_set set = lam__reduce_set(lam__node_params(node));
    int64_t strides[LAM_INNER_RANK];
    if (g->kind != LAM__CONCRETE) return pass_few(w, node, 1);
    for (int i = 0, kept = 0; i < x->rank; i++) strides[i] = lam__reduce_has(set, i) ? 0 : g->strides[kept++];
    lam_value *gx = lam__value_view(g, x->rank, x->dims, strides, 0);
    return gx ? deliver(w, to, gx, sign_of(node)) : LAM_ERR_MEMORY;
}

LAM__APART static lam_status visit_one(walk *w, lam__node *node) {
    const lam_primitive *p = node->primitive;
    lam_value *g = node->output[0].cotangent;
    bool direct = p->signs[0] && like_result(&lam__node_inputs(node, 1)->parent, node->output[0].value);
    lam_status status = direct                 ? pass_signed(w, node, 1, g)
                        : p->sloped == p       ? pass_sloped(w, node)
                        : p == &lam__row_slice ? pass_slice(w, node, g)
                        : p == &lam__row_sum   ? pass_sum(w, node, g)
                                               : pass_few(w, node, 1);
    let_go(w, node, 1);
    return status;
}

/* Any node: lists as long as it has inputs and outputs. An output that no cotangent has reached is NULL, which is
 * zero. */
LAM__APART static lam_status visit_lists(walk *w, lam__node *node) {
    lam__scratch_area area;
    size_t n = (size_t)node->inputs, m = (size_t)node->outputs;
    lam_value **in = lam__scratch_get(&area, w->ctx, 2 * (n + m) * sizeof *in + n * sizeof(bool));
    lam_status status = in ? LAM_OK : LAM_ERR_MEMORY;
    if (in) {
        lam_value **gx = in + n, **results = gx + n, **g = results + m;
        for (size_t o = 0; o < m; o++) {
            results[o] = node->output[o].value;
            g[o] = node->output[o].cotangent;
        }
        status = pass_on(w, node, node->inputs, node->outputs, in, (bool *)(void *)(g + m), gx, results, g);
    }
    let_go(w, node, node->outputs);
    lam__scratch_put(&area);
    return status;
}

/* Three operands are a multiplication with an addition, mostly, or a select. */
LAM__APART static lam_status visit_three(walk *w, lam__node *node) {
    const lam__node_input *input = lam__node_inputs(node, 1);
    const lam_value *result = node->output[0].value;
    bool even = true;
    for (int i = 0; i < 3; i++) even = even && like_result(&input[i].parent, result);
    if (node->primitive != &lam__row_fma) return visit_lists(w, node);
    lam_status status = even ? pass_fma(w, node) : pass_uneven(w, node);
    let_go(w, node, 1);
    return status;
}

/* Whether a row's rules are linear in the cotangent, so that its sign may go on behind them. */
static inline bool passes_sign(const lam_primitive *p) {
    return p->derivative != LAM_GENERAL && !p->staged;
}

/* Whether the cotangent is a number that is about to become more than that, elements or a box: then its minus is best
 * carried out while it is one. What it meets is what the node saved, or the operand itself. */
LAM__APART static bool grows(lam__node *node) {
    const lam_value *g = node->output[0].cotangent, *result = node->output[0].value;
    const lam__node_input *input = lam__node_inputs(node, 1);
    if (g->kind != LAM__CONCRETE || g->count != 1) return false;
    bool more = result->kind == LAM__BOX;
    for (int i = 0; i < node->inputs && !more; i++) {
        const lam__edge *up = &input[i].parent;
        const lam_value *x = input[i].saved ? input[i].saved : up->node ? up->node->output[up->index].value : NULL;
        more = x && (x->kind == LAM__BOX || x->count > 1);
    }
    return more;
}

/* One node, by what it is. A minus is carried out first where the row's rules need not be linear in the cotangent. */
static lam_status visit(walk *w, lam__node *node) {
    if (node->minus && (!passes_sign(node->primitive) || grows(node)) && settle(w, node) != LAM_OK) {
        let_go(w, node, 1);
        return w->ctx->error.status;
    }
    if (node->outputs != 1) return visit_lists(w, node);
    if (node->primitive == &lam__node_sum) return visit_sum(w, node);
    if (node->inputs == 2) return visit_two(w, node);
    if (node->inputs == 1) return visit_one(w, node);
    if (node->inputs == 3) return visit_three(w, node);
    return visit_lists(w, node);
}

/* Leaves end their part in the walk: what they got is moved to gx[], NULL where nothing arrived. After a failure
 * nothing is given, but every leaf is cleared for the next walk. Gradients that were made before a failure are released
 * here. */
static lam_status take_leaves(walk *w, const lam__recording *r, lam_status status, lam_value *gx[]) {
    for (int i = 0; i < r->inputs; i++) {
        lam__node *leaf = r->leaves[i].node;
        gx[i] = NULL;
        if (!leaf || leaf->run != w->id) continue;
        if (leaf->minus && status == LAM_OK) status = settle(w, leaf);
        gx[i] = leaf->output[0].cotangent;
        leaf->output[0].cotangent = NULL;
        leaf->run = 0;
    }
    for (int i = 0; i < r->inputs && status != LAM_OK; i++) {
        lam__value_release(gx[i]);
        gx[i] = NULL;
    }
    return status;
}

/* After a failure the walk goes on without rules, so that every node that waits is let go. An input that is an output
 * has its leaf as its end, so what is given there arrives at once. */
lam_status lam__tape_pull(lam_ctx *ctx, const lam__recording *r, lam_value *const g[], lam_value *gx[], bool once) {
    walk w;
    w.ctx = ctx;
    w.id = ++ctx->clock;
    w.once = once;
    lam__queue_start(&w.waiting);
    lam_status status = LAM_OK;
    for (int o = 0; o < r->outputs && status == LAM_OK; o++)
        if (g[o] && r->ends[o].node) status = deliver(&w, &r->ends[o], lam__value_hold(g[o]), 1);
    for (lam__node *n; (n = lam__queue_next(&w.waiting));) {
        if (status == LAM_OK) status = visit(&w, n);
        else let_go(&w, n, n->outputs);
    }
    lam__queue_stop(ctx, &w.waiting);
    return take_leaves(&w, r, status, gx);
}
