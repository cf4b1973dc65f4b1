/* Lowering: what an equation makes of its operands, element by element. See region.h. The rows known here are the
 * elementwise class, conversions, sine with cosine, what only moves elements, small sums and products, and small sums
 * of exponentials; an equation of another row, or of more elements, is a call. */
#include "lib/program/region.h"

#include "lib/primitives/rows.h"
#include "lib/tensor/dtype.h"

enum { MOST_OPERANDS = 3 };

/* Real numbers of eight bytes at most. Registers have eight bytes for a lane, and steps no arithmetic of 16 bits. */
static bool is_scalar_dtype(int dtype) {
    return lam__dtype_is_float(dtype) || dtype == LAM_I64 || dtype == LAM_I32 || dtype == LAM_U8 || dtype == LAM_BOOL;
}

/* ---- elementwise ------------------------------------------------------------------------------------------------- */

/* Where the nodes of an operand are: those of the result are walked by its axes that are no lanes, and the operand's
 * number goes along by `step`. */
typedef struct operand {
    const int32_t *nodes;
    int64_t step[LAM_INNER_RANK];
} operand;

/* Sees an operand so that its lanes are those of the result, [first, last), or that it has none there. Axes line up
 * from the last one on. An operand that has all of the lane axes is seen in them, one that is broadcast along all of
 * them has the same nodes in every lane; one that has some of them can be neither. */
static bool see_operand(lam__region *r, lam__piece *x, const lam_value *like, int first, int last, operand *o) {
    const lam_value *type = x->type;
    const int shift = like->rank - type->rank;
    int own_first = first - shift, own_last = last - shift;
    bool all = first < last && own_first >= 0, none = true;
    for (int axis = first; axis < last; axis++) {
        const int64_t own = axis - shift < 0 ? 1 : type->dims[axis - shift];
        all = all && own == like->dims[axis];
        none = none && own == 1;
    }
    if (first < last && !all && !none) return false;
    if (!all) own_first = own_last = 0;
    o->nodes = lam__region_nodes(r, x, own_first, own_last);
    int64_t step = 1;
    for (int axis = like->rank - 1; axis >= 0; axis--) {
        const int own = axis - shift;
        const bool lane = own >= own_first && own < own_last;
        o->step[axis] = own < 0 || lane || type->dims[own] == 1 ? 0 : step;
        if (own >= 0 && !lane) step *= type->dims[own];
    }
    return o->nodes != NULL;
}

/* The lanes that the operands have among them already, as axes of the result; the first that fit it where they have
 * none. False: two of them differ. What is data or codes still has none and follows. */
static bool common_lanes(lam__region *r, int n, lam__piece *const in[], const lam_value *like, int *first, int *last) {
    *first = *last = -1;
    for (int i = 0; i < n; i++) {
        const lam__piece *x = in[i];
        if (x->kind != LAM__PIECE_NODES || x->first == x->last) continue;
        const int shift = like->rank - x->type->rank;
        if (*first >= 0 && (*first != x->first + shift || *last != x->last + shift)) return false;
        *first = x->first + shift;
        *last = x->last + shift;
    }
    if (*first < 0) return lam__region_range(r, like->rank, like->dims, first, last);
    return lam__region_fits(r, like->dims, *first, *last);
}

/* The node of the result's element from those of the operands. */
typedef int32_t make_node(lam__region *r, const lam__equation *e, const int32_t in[]);

/* A row has the number of its loop and one more, so that 0 is none. */
static int32_t make_loop(lam__region *r, const lam__equation *e, const int32_t in[]) {
    return lam__graph_loop(&r->graph, (lam__loop_id)(e->primitive->loop - 1), e->primitive->predicate, e->inputs, in,
                           e->params, e->params_bytes);
}

static int32_t make_cast(lam__region *r, const lam__equation *e, const int32_t in[]) {
    return lam__graph_cast(&r->graph, (lam_dtype)((const lam__cast_params *)e->params)->dtype, in[0]);
}

static int32_t make_sine(lam__region *r, const lam__equation *e, const int32_t in[]) {
    (void)e;
    return lam__graph_wave(&r->graph, LAM__NODE_SINE, in[0]);
}

static int32_t make_cosine(lam__region *r, const lam__equation *e, const int32_t in[]) {
    (void)e;
    return lam__graph_wave(&r->graph, LAM__NODE_COSINE, in[0]);
}

/* The next element of the axes that are no lanes; moves the operands along. */
static void step_on(const lam_value *like, int first, int last, int n, const operand o[], int64_t at[],
                    int64_t where[]) {
    for (int axis = like->rank - 1; axis >= 0; axis--) {
        if (axis >= first && axis < last) continue;
        for (int i = 0; i < n; i++) where[i] += o[i].step[axis];
        if (++at[axis] < like->dims[axis]) return;
        for (int i = 0; i < n; i++) where[i] -= o[i].step[axis] * like->dims[axis];
        at[axis] = 0;
    }
}

/* One node for each element of one lane. Operands are read by strides of their own, which broadcasts them. */
static bool lower_each(lam__region *r, const lam__equation *e, lam__piece *const in[], const lam_value *like,
                       make_node *make, lam__piece **out) {
    int first, last, n = e->inputs;
    operand o[MOST_OPERANDS];
    if (n > MOST_OPERANDS || !common_lanes(r, n, in, like, &first, &last)) return false;
    const int64_t count = lam__region_count(like, first, last);
    if (count > r->graph.most || (first == last && !lam__region_may_be_same(r, count))) return false;
    if (lam__region_is_short(r, like->dims, first, last) && lam__region_is_rare(e->primitive->loop - 1)) return false;
    for (int i = 0; i < n; i++)
        if (!see_operand(r, in[i], like, first, last, &o[i])) return false;
    lam__piece *made = lam__region_piece(r, like, first, last);
    if (!made) return false;
    int64_t at[LAM_INNER_RANK] = {0}, where[MOST_OPERANDS] = {0};
    for (int64_t i = 0; i < count; i++) {
        int32_t nodes[MOST_OPERANDS];
        for (int k = 0; k < n; k++) nodes[k] = o[k].nodes[where[k]];
        if ((made->nodes[i] = make(r, e, nodes)) < 0) return false;
        step_on(like, first, last, n, o, at, where);
    }
    *out = made;
    return true;
}

/* ---- any row ----------------------------------------------------------------------------------------------------- */

/* What has no elements is left to calls: a node would be one of nothing. */
static bool types_fit(const lam__equation *e, lam__piece *const in[], lam_value *const types[]) {
    for (int i = 0; i < e->inputs; i++)
        if (!in[i] || !is_scalar_dtype(in[i]->type->dtype) || !in[i]->type->count) return false;
    for (int o = 0; o < e->outputs; o++)
        if (!types[o] || !is_scalar_dtype(types[o]->dtype) || !types[o]->count) return false;
    return e->inputs > 0;
}

/* The rows that fill in one piece. */
static bool lower_sums(lam__region *r, const lam__equation *e, lam__piece *const in[], lam__piece *out) {
    if (e->primitive == &lam__row_dot_general) return lam__lower_contraction(r, e, in, out);
    if (e->primitive == &lam__row_scatter_add) return lam__lower_scatter(r, e, in, out);
    return e->inputs == 1 && lam__lower_reduction(r, e, in[0], out);
}

/* False: the equation stays a call. What a reduction makes of a piece is put together on the C stack first, since it
 * may turn out not to be possible. */
bool lam__lower(lam__region *r, const lam__equation *e, lam__piece *const in[], lam_value *const types[],
                lam__piece *out[]) {
    const lam_primitive *row = e->primitive;
    if (!types_fit(e, in, types)) return false;
    if (row->elementwise && row->loop) return lower_each(r, e, in, types[0], make_loop, &out[0]);
    if (row == &lam__row_cast) return lower_each(r, e, in, types[0], make_cast, &out[0]);
    /* Two nodes, of which one step is made later (find_twins in fused.c). */
    if (row == &lam__row_sincos)
        return lower_each(r, e, in, types[0], make_sine, &out[0]) &&
               lower_each(r, e, in, types[0], make_cosine, &out[1]);
    /* Both are there for levels and for memory, of which a region has neither. */
    if (row == &lam__row_stop_gradient || row == &lam__row_contiguous) {
        out[0] = in[0];
        return true;
    }
    if (row == &lam__row_logsumexp) return lam__lower_exponentials(r, e, in[0], types, out);
    if (lam__lower_is_move(row)) return lam__lower_move(r, e, in, types, out);
    lam__piece made = {.kind = LAM__PIECE_NODES, .type = types[0]};
    if (e->outputs != 1 || !lower_sums(r, e, in, &made)) return false;
    out[0] = lam__arena_get(r->graph.arena, sizeof made);
    if (out[0]) *out[0] = made;
    return out[0] != NULL;
}
