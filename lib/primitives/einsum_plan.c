/* The plan of an einsum: each operand becomes a tensor with a label per axis, none repeated, and is then contracted
 * with another, pair by pair, until one is left. The order of the pairs is the cheapest there is for up to 5 operands;
 * beyond, the cheapest pair goes first until 5 are left. */
#include "lib/primitives/einsum.h"

#include "lib/primitives/reduce.h"
#include "lib/tensor/value.h"

#include <string.h>

enum { EXHAUSTIVE = 5 };

typedef lam__einsum_term term;
typedef lam__labels labels;

/* A step more, whose parameters are to be filled in. Where there is no room for it, those before it are done first. So
 * a sum of any length needs room for a few steps only; one that fits is a list that can be kept. */
static lam__einsum_step *add_step(lam__einsum *s, const lam_primitive *row, const term *x, const term *y,
                                  size_t bytes) {
    if (s->steps == LAM__EINSUM_STEPS) {
        s->failed = s->failed || !lam__einsum_run(s->ctx, s->step, s->steps, s->values);
        s->steps = 0;
        s->begun = true;
    }
    lam__einsum_step *step = &s->step[s->steps++];
    step->row = row;
    step->x = (uint8_t)x->at;
    step->y = (uint8_t)y->at;
    step->bytes = (uint16_t)bytes;
    step->known = false;
    return step;
}

/* Gives the tensor of a term the axes order[0..rank), if they are not that already. Transposing is a view, but one that
 * is not made is not dispatched either. */
static void add_transpose(lam__einsum *s, const term *t, const int order[]) {
    bool there = true;
    for (int i = 0; i < t->rank; i++) there = there && order[i] == i;
    if (there) return;
    lam__order_params *p =
        &add_step(s, &lam__row_transpose, t, t, offsetof(lam__order_params, order) + (size_t)t->rank)->params.order;
    p->rank = t->rank;
    for (int i = 0; i < t->rank; i++) p->order[i] = (int8_t)order[i];
}

static void add_reshape(lam__einsum *s, const term *t, int rank, const int64_t dims[]) {
    lam__dims_params *p = &add_step(s, &lam__row_reshape, t, t, lam__axes_dims_bytes(rank))->params.dims;
    p->rank = rank;
    for (int i = 0; i < rank; i++) p->dims[i] = dims[i];
}

/* ---- one operand ------------------------------------------------------------------------------------------------- */

/* Its label is no longer there, or once less. A label that stands twice stays in the set, which is made anew. */
static void remove_axis(term *t, int axis) {
    const uint8_t l = t->label[axis];
    t->rank--;
    t->set &= ~((labels)1 << l);
    for (int i = axis; i < t->rank; i++) t->label[i] = t->label[i + 1];
    for (int i = 0; i < t->rank; i++) t->set |= (labels)1 << t->label[i];
}

/* Axes of one element under the ellipsis that others have longer go. Others broadcast against them, and a product of
 * matrices knows no axis that one operand has one element of. */
static void drop_axes(lam__einsum *s, term *t) {
    const lam_value *x = s->values->x[t->at];
    int64_t dims[LAM_INNER_RANK];
    int rank = 0;
    bool stays[LAM_INNER_RANK];
    for (int i = 0; i < t->rank; i++) {
        const int l = t->label[i];
        stays[i] = s->letter[l] != '.' || x->dims[i] != 1 || s->size[l] == 1;
        if (stays[i]) dims[rank++] = x->dims[i];
    }
    if (rank == t->rank) return;
    for (int i = t->rank - 1; i >= 0; i--)
        if (!stays[i]) remove_axis(t, i);
    add_reshape(s, t, rank, dims);
}

/* Of axes with one label the diagonal is taken. The diagonal is the last axis of what the row gives. */
static void make_distinct(lam__einsum *s, term *t) {
    if (t->distinct) return;
    drop_axes(s, t);
    for (int i = 0; i < t->rank; i++)
        for (int k = i + 1; k < t->rank; k++)
            if (t->label[i] == t->label[k]) {
                const uint8_t l = t->label[i];
                add_step(s, &lam__row_diagonal, t, t, sizeof(lam__diagonal_params))->params.diagonal =
                    (lam__diagonal_params){.offset = 0, .row = i, .column = k};
                remove_axis(t, k);
                remove_axis(t, i);
                t->label[t->rank++] = l;
                t->set |= (labels)1 << l;
                i = k = -1; /* the axes have moved: look at all of them again */
                break;
            }
}

/* Sums over the axes whose labels nobody else needs. Sums have the dtype of their operand: bool stays bool, any of
 * them. What is tallied comes as i64 and is brought back. */
static void sum_out(lam__einsum *s, term *t, labels needed) {
    lam__axis_set set = 0;
    if (!(t->set & ~needed)) return;
    for (int i = t->rank - 1; i >= 0; i--) {
        if (needed >> t->label[i] & 1u) continue;
        set |= (lam__axis_set)1 << i;
        remove_axis(t, i);
    }
    add_step(s, &lam__row_sum, t, t, sizeof set)->params.set = set;
    if (lam__reduce_is_tallied(s->dtype))
        add_step(s, &lam__row_cast, t, t, sizeof(lam__cast_params))->params.cast.dtype = s->dtype;
}

/* -1: the term does not have this label. */
static int axis_of(const term *t, int l) {
    for (int i = 0; i < t->rank; i++)
        if (t->label[i] == l) return i;
    return -1;
}

/* The labels that the result, or a term other than i and k, needs. i and k may be one. */
static labels needed_outside(const lam__einsum *s, int i, int k) {
    labels set = s->wanted;
    for (int n = 0; n < s->count; n++)
        if (n != i && n != k) set |= s->terms[n].set;
    return set;
}

/* ---- two operands ------------------------------------------------------------------------------------------------ */

/* Which axes of a and b are paired: those that are needed later stay, others are summed over. Those that stay come
 * first in *out. Both operands name their axes in one order, as dot_general pairs them. */
static void pair_axes(const term *a, const term *b, labels needed, lam__pairing *p, term *out) {
    int8_t axes[2][LAM_INNER_RANK];
    int8_t *to = p->axes;
    int n = 0;
    p->batch = p->contract = 0;
    for (int i = 0; i < a->rank; i++) { /* from both ends: batch axes, and those summed over */
        const labels l = (labels)1 << a->label[i];
        if (!(b->set & l)) continue;
        const bool stays = needed & l;
        if (stays) out->label[out->rank++] = a->label[i];
        const int at = stays ? p->batch++ : LAM_INNER_RANK - ++p->contract;
        axes[0][at] = (int8_t)i;
        axes[1][at] = (int8_t)axis_of(b, a->label[i]);
        n++;
    }
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < n; i++) *to++ = axes[side][i < p->batch ? i : LAM_INNER_RANK - 1 - (i - p->batch)];
}

/* The labels of `from` that are in `set`, behind those of *out; false after recording that they are too many. */
static bool add_labels(const lam__einsum *s, labels set, int n, const uint8_t from[], term *out) {
    for (int i = 0; i < n; i++) {
        if (!(set >> from[i] & 1u)) continue;
        if (out->rank == LAM_INNER_RANK) return lam__einsum_refuse(s, LAM_ERR_RANK, "a product has too many axes");
        out->label[out->rank++] = from[i];
    }
    return true;
}

/* Whether the labels of a term begin those of the result. Then nothing needs to be transposed for it later. */
static bool is_in_order(const lam__einsum *s, const term *t) {
    return t->rank <= s->result_rank && memcmp(t->label, s->result, (size_t)t->rank * sizeof *t->label) == 0;
}

/* The order of a product's axes: that of an operand that has all of them, as it lies then, the order of the result if
 * there is a choice, and else that. */
static bool order_axes(const lam__einsum *s, const term *a, const term *b, term *out) {
    const labels all = a->set | b->set;
    const bool by_b = b->set == all && (a->set != all || is_in_order(s, b));
    if (by_b) return add_labels(s, all, b->rank, b->label, out);
    if (a->set == all) return add_labels(s, all, a->rank, a->label, out);
    return add_labels(s, all & s->wanted, s->result_rank, s->result, out) &&
           add_labels(s, all & ~s->wanted, a->rank, a->label, out) &&
           add_labels(s, all & ~s->wanted & ~a->set, b->rank, b->label, out);
}

/* Lines the axes of t up with those of the product *out: one element where t has no such label, nothing in front of its
 * first. Elementwise operands broadcast from the last axis, so that leading ones need not be written. */
static void line_up(lam__einsum *s, const term *t, const term *out) {
    int order[LAM_INNER_RANK], n = 0, rank = 0;
    int64_t dims[LAM_INNER_RANK];
    for (int i = 0; i < out->rank; i++) {
        const int axis = axis_of(t, out->label[i]);
        if (axis >= 0) order[n++] = axis;
        if (n) dims[rank++] = axis < 0 ? 1 : s->size[out->label[i]];
    }
    add_transpose(s, t, order);
    if (rank != t->rank) add_reshape(s, t, rank, dims);
}

/* The product of terms a and b, summed over what only they have. Nothing to sum over: an elementwise product. The
 * product has the place of a, and its labels: those paired first, then what each has alone. */
static bool contract(lam__einsum *s, const term *a, const term *b, labels needed, term *out) {
    lam__pairing p; /* most of it stays unused */
    const labels common = a->set & b->set;
    out->rank = 0;
    out->at = a->at;
    out->set = (a->set | b->set) & (needed | ~common);
    if (!(common & ~needed)) {
        if (!order_axes(s, a, b, out)) return false;
        line_up(s, a, out);
        line_up(s, b, out);
        add_step(s, &lam__row_mul, a, b, 0);
        return true;
    }
    pair_axes(a, b, needed, &p, out);
    if (!add_labels(s, ~common, a->rank, a->label, out) || !add_labels(s, ~common, b->rank, b->label, out))
        return false;
    /* The last product may lie in any order if it is to be transposed anyway. */
    p.loose = s->count == 2 && !is_in_order(s, out);
    const size_t bytes = offsetof(lam__pairing, axes) + 2 * (size_t)lam__contract_pairs(&p);
    memcpy(&add_step(s, &lam__row_dot_general, a, b, bytes)->params, &p, bytes);
    return true;
}

/* ---- order of the pairs ------------------------------------------------------------------------------------------ */

/* Multiplications that it takes to go through these labels. As a double: it is an estimate, and sizes may multiply
 * beyond integers. */
static double cost_of(const lam__einsum *s, lam__labels set) {
    double cost = 1;
    for (int l = 0; set; l++, set >>= 1)
        if (set & 1u) cost *= (double)s->size[l];
    return cost;
}

/* The sets that are left when i and k > i are contracted, whose product takes the place of the first. A label stays as
 * long as the result or another set has it. */
static void joined(const lam__einsum *s, const lam__labels set[], int n, int i, int k, lam__labels rest[]) {
    lam__labels needed = s->wanted;
    for (int o = 0; o < n; o++)
        if (o != i && o != k) needed |= set[o];
    for (int o = 0; o < n; o++)
        if (o != k) rest[o - (o > k)] = o == i ? (set[i] | set[k]) & needed : set[o];
}

/* The least cost of contracting n <= EXHAUSTIVE sets, and the pairs in their order. Calls itself n - 2 deep. There are
 * few enough pairs of so few sets to try all but those that alone cost more than the best order. */
static double cheapest(const lam__einsum *s, const lam__labels set[], int n, int pairs[][2]) {
    double best = -1;
    for (int i = 0; i < n; i++)
        for (int k = i + 1; k < n; k++) {
            lam__labels rest[EXHAUSTIVE];
            int after[EXHAUSTIVE][2];
            double cost = cost_of(s, set[i] | set[k]);
            if (best >= 0 && cost >= best) continue;
            joined(s, set, n, i, k, rest);
            if (n > 2) cost += cheapest(s, rest, n - 1, after);
            if (best >= 0 && cost >= best) continue;
            best = cost;
            pairs[0][0] = i, pairs[0][1] = k;
            if (n > 2) memcpy(pairs + 1, after, (size_t)(n - 2) * sizeof *after);
        }
    return best;
}

/* The pair whose product has the least cost by itself, without a look at what comes after. Ties go to the first
 * pair. */
static void greediest(const lam__einsum *s, const lam__labels set[], int n, int pair[2]) {
    double best = -1;
    for (int i = 0; i < n; i++)
        for (int k = i + 1; k < n; k++) {
            double cost = cost_of(s, set[i] | set[k]);
            if (best < 0 || cost < best) best = cost, pair[0] = i, pair[1] = k;
        }
}

/* Leaves one term. A product takes the place of its first term. Two terms are one pair, of which nothing need be looked
 * for; of few enough the order is looked for once and followed. */
static bool contract_all(lam__einsum *s) {
    labels set[LAM__EINSUM_OPERANDS];
    int pairs[EXHAUSTIVE][2] = {{0, 1}}, next = 0; /* those that are known */
    for (bool known = s->count == 2; s->count > 1; s->count--) {
        for (int n = 0; !known && n < s->count; n++) set[n] = s->terms[n].set;
        if (!known && s->count > EXHAUSTIVE) greediest(s, set, s->count, pairs[0]);
        else if (!known) cheapest(s, set, s->count, pairs);
        known = known || s->count <= EXHAUSTIVE;
        const int *pair = pairs[known ? next++ : 0];
        term made;
        if (!contract(s, &s->terms[pair[0]], &s->terms[pair[1]], needed_outside(s, pair[0], pair[1]), &made))
            return false;
        s->terms[pair[0]] = made;
        for (int n = pair[1] + 1; n < s->count; n++) s->terms[n - 1] = s->terms[n];
    }
    return true;
}

/* Axes that nobody else needs are summed over before any product, as that can only make products smaller. */
bool lam__einsum_plan(lam__einsum *s) {
    int order[LAM_INNER_RANK] = {0};
    const term *t = &s->terms[0];
    s->steps = 0;
    s->begun = s->failed = false;
    for (int n = 0; n < s->count; n++) make_distinct(s, &s->terms[n]);
    for (int n = 0; n < s->count; n++) sum_out(s, &s->terms[n], needed_outside(s, n, n));
    if (!contract_all(s)) return false;
    for (int i = 0; i < s->result_rank; i++) order[i] = axis_of(t, s->result[i]);
    add_transpose(s, t, order);
    return !s->failed;
}
