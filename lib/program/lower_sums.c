/* Sums and products of few elements, spelled out: reductions of axes that are no lanes, also of exponentials,
 * contractions, and sums at known places. Reductions go by pairs; contractions as fused products one after the other,
 * where the machine has them. */
#include "lib/program/region.h"

#include "lib/kernels/places.h"
#include "lib/primitives/contract.h"
#include "lib/primitives/index.h"
#include "lib/primitives/reduce.h"
#include "lib/primitives/rows.h"
#include "lib/tensor/dtype.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Terms of one result, and products of one contraction: larger ones are what kernels are made for, and drafts that
 * spell them out take long to make and are not chosen. */
enum { MOST_TERMS = 1024, MOST_PRODUCTS = 512 };

/* -1 passes through from either node, so that who joins many may look once. */
static int32_t join(lam__region *r, lam__loop_id id, int32_t x, int32_t y) {
    const int32_t in[] = {x, y};
    return lam__graph_loop(&r->graph, id, false, 2, in, NULL, 0);
}

/* Strides of the nodes of a piece along its axes; 0 along lanes. */
static void node_steps(const lam_value *type, int first, int last, int64_t step[]) {
    int64_t next = 1;
    for (int axis = type->rank - 1; axis >= 0; axis--) {
        const bool lane = axis >= first && axis < last;
        step[axis] = lane ? 0 : next;
        if (!lane) next *= type->dims[axis];
    }
}

/* Walks axes of given sizes, the last one fastest. Two lists of nodes may be walked at once, each by steps of its
 * own. */
typedef struct walk {
    int rank;
    int64_t size[LAM_INNER_RANK], at[LAM_INNER_RANK];
    int64_t step[2][LAM_INNER_RANK], where[2];
} walk;

/* False behind the last place, and at the first again. */
static bool walk_on(walk *w) {
    for (int axis = w->rank - 1; axis >= 0; axis--) {
        for (int k = 0; k < 2; k++) w->where[k] += w->step[k][axis];
        if (++w->at[axis] < w->size[axis]) return true;
        for (int k = 0; k < 2; k++) w->where[k] -= w->step[k][axis] * w->size[axis];
        w->at[axis] = 0;
    }
    return false;
}

static void walk_add(walk *w, int64_t size, int64_t step0, int64_t step1) {
    w->size[w->rank] = size;
    w->step[0][w->rank] = step0;
    w->step[1][w->rank++] = step1;
}

/* ---- reductions -------------------------------------------------------------------------------------------------- */

/* The loop that takes two terms of a reduction together; LAM__LOOP_COUNT: none is spelled out. */
static lam__loop_id joined_by(const lam_primitive *row) {
    return row == &lam__row_sum          ? LAM__LOOP_add
           : row == &lam__row_mean       ? LAM__LOOP_add
           : row == &lam__row_prod       ? LAM__LOOP_mul
           : row == &lam__row_max_reduce ? LAM__LOOP_max
           : row == &lam__row_min_reduce ? LAM__LOOP_min
                                         : LAM__LOOP_COUNT;
}

/* Terms in place: neighbours first. An odd one out waits for the next round. */
static int32_t by_pairs(lam__region *r, lam__loop_id id, int32_t *terms, int64_t n) {
    for (; n > 1; n = (n + 1) / 2) {
        for (int64_t i = 0; i < n / 2; i++)
            if ((terms[i] = join(r, id, terms[2 * i], terms[2 * i + 1])) < 0) return -1;
        if (n % 2) terms[n / 2] = terms[n - 1];
    }
    return terms[0];
}

/* The nodes of x in lanes of which none is reduced. A sum across lanes would be a step between them, of which there is
 * none. */
static const int32_t *seen_outside(lam__region *r, lam__piece *x, lam__axis_set set, int *first, int *last) {
    const lam_value *type = x->type;
    *first = *last = -1;
    while (lam__region_range(r, type->rank, type->dims, first, last)) {
        bool free = true;
        for (int axis = *first; axis < *last; axis++) free = free && !lam__reduce_has(set, axis);
        const int32_t *nodes = free ? lam__region_nodes(r, x, *first, *last) : NULL;
        if (nodes) return nodes;
    }
    return NULL;
}

/* A reduction of few elements: the nodes of its operand, how they are walked, those of one result and results. */
typedef struct reduction {
    const int32_t *nodes;
    walk kept, summed;
    int64_t results, count;
    int first, last; /* lanes of the operand */
} reduction;

/* Terms of each result; -1: they are too many. Asked at each axis, so that the product cannot overflow. */
static int64_t reduced_count(const lam_value *type, lam__axis_set set) {
    int64_t count = 1;
    for (int axis = 0; axis < type->rank; axis++) {
        if (lam__reduce_has(set, axis)) count *= type->dims[axis];
        if (count > MOST_TERMS) return -1;
    }
    return count;
}

/* Axes that lanes go along are kept; those in front of them that are summed shift them: out gets the lanes of a
 * result. Long sums are left to the kernel, and their elements are not looked at. */
static bool see_reduction(lam__region *r, lam__axis_set set, lam__piece *x, reduction *see, lam__piece *out) {
    const lam_value *type = x->type;
    int64_t step[LAM_INNER_RANK];
    *see = (reduction){.results = 1, .count = reduced_count(type, set)};
    if (see->count < 0) return false;
    see->nodes = seen_outside(r, x, set, &see->first, &see->last);
    if (!see->nodes) return false;
    node_steps(type, see->first, see->last, step);
    int before = 0;
    for (int axis = 0; axis < type->rank; axis++) {
        if (axis >= see->first && axis < see->last) continue;
        const bool reduced = lam__reduce_has(set, axis);
        if (!reduced) see->results *= type->dims[axis];
        walk_add(reduced ? &see->summed : &see->kept, type->dims[axis], step[axis], 0);
        before += reduced && axis < see->first;
    }
    out->first = see->first - before;
    out->last = see->last - before;
    return see->results <= r->graph.most;
}

/* The nodes that the next result is made of, and where they are among those of the operand. */
static void next_terms(reduction *see, int32_t terms[], int64_t at[]) {
    for (int64_t k = 0; k < see->count; k++) {
        at[k] = see->kept.where[0] + see->summed.where[0];
        terms[k] = see->nodes[at[k]];
        walk_on(&see->summed);
    }
    walk_on(&see->kept);
}

/* A mean is a sum until the end. Terms are joined by pairs and not as the kernel's leaves would: what lam_jit says of
 * the order of sums. */
bool lam__lower_reduction(lam__region *r, const lam__equation *e, lam__piece *x, lam__piece *out) {
    const lam__loop_id id = joined_by(e->primitive);
    int32_t terms[MOST_TERMS];
    int64_t at[MOST_TERMS];
    reduction see;
    if (id == LAM__LOOP_COUNT || !lam__dtype_is_float(x->type->dtype)) return false;
    if (!see_reduction(r, lam__reduce_set(e->params), x, &see, out)) return false;
    const bool mean = e->primitive == &lam__row_mean;
    const int32_t divisor = mean ? lam__graph_number(&r->graph, (lam_dtype)x->type->dtype, (double)see.count) : -1;
    if (mean && divisor < 0) return false;
    out->nodes = lam__arena_get(r->graph.arena, (size_t)see.results * sizeof *out->nodes);
    for (int64_t i = 0; out->nodes && i < see.results; i++) {
        next_terms(&see, terms, at);
        int32_t made = by_pairs(r, id, terms, see.count);
        if (divisor >= 0) made = join(r, LAM__LOOP_div, made, divisor);
        if ((out->nodes[i] = made) < 0) return false;
    }
    return out->nodes != NULL;
}

/* ---- sums of exponentials ---------------------------------------------------------------------------------------- */

/* where(x by y, then, otherwise); -1 passes through from any of the nodes. */
static int32_t chosen(lam__region *r, lam__loop_id by, int32_t x, int32_t y, int32_t then, int32_t otherwise) {
    const int32_t pair[] = {x, y};
    const int32_t in[] = {lam__graph_loop(&r->graph, by, true, 2, pair, NULL, 0), then, otherwise};
    return lam__graph_loop(&r->graph, LAM__LOOP_where, false, 3, in, NULL, 0);
}

/* One result, as NOTE [shifted terms] in logsumexp.c has it: what is largest counts 1, also where it is inf. terms[]
 * are those of x, and become the exponentials; made[]: result and sum. */
static bool join_exponentials(lam__region *r, lam_dtype dtype, int64_t count, int32_t terms[], int32_t made[2]) {
    int32_t pairs[MOST_TERMS];
    lam__graph *g = &r->graph;
    const int32_t zero = lam__graph_number(g, dtype, 0), one = lam__graph_number(g, dtype, 1);
    const int32_t least = lam__graph_number(g, dtype, dtype == LAM_F64 ? DBL_MIN : (double)FLT_MIN);
    memcpy(pairs, terms, (size_t)count * sizeof *pairs);
    const int32_t largest = by_pairs(r, LAM__LOOP_max, pairs, count);
    const int32_t shift = chosen(r, LAM__LOOP_eq, largest, lam__graph_number(g, dtype, -INFINITY), zero, largest);
    for (int64_t k = 0; k < count; k++) {
        const int32_t gap = join(r, LAM__LOOP_exp_gap, terms[k], shift);
        pairs[k] = chosen(r, LAM__LOOP_eq, terms[k], shift, one, gap);
        terms[k] = chosen(r, LAM__LOOP_lt, pairs[k], least, zero, pairs[k]);
        if (terms[k] < 0) return false;
    }
    const int32_t sum = by_pairs(r, LAM__LOOP_add, pairs, count);
    const int32_t logarithm = lam__graph_loop(g, LAM__LOOP_log, false, 1, &sum, NULL, 0);
    made[0] = join(r, LAM__LOOP_add, shift, logarithm);
    made[1] = chosen(r, LAM__LOOP_eq, sum, zero, one, sum);
    return made[0] >= 0 && made[1] >= 0;
}

/* Terms below normal are left in the sum, which is at least 1 then and does not notice. */
bool lam__lower_exponentials(lam__region *r, const lam__equation *e, lam__piece *x, lam_value *const types[],
                             lam__piece *out[]) {
    lam__piece lanes;
    reduction see;
    int32_t terms[MOST_TERMS], made[2];
    int64_t at[MOST_TERMS];
    if (!see_reduction(r, lam__reduce_set(e->params), x, &see, &lanes)) return false;
    for (int o = 0; o < 3; o++) {
        const bool whole = o == 1; /* the terms, beside a result and its sum */
        out[o] = lam__region_piece(r, types[o], whole ? see.first : lanes.first, whole ? see.last : lanes.last);
        if (!out[o]) return false;
    }
    for (int64_t i = 0; i < see.results; i++) {
        next_terms(&see, terms, at);
        if (!join_exponentials(r, (lam_dtype)x->type->dtype, see.count, terms, made)) return false;
        for (int64_t k = 0; k < see.count; k++) out[1]->nodes[at[k]] = terms[k];
        out[0]->nodes[i] = made[0];
        out[2]->nodes[i] = made[1];
    }
    return true;
}

/* ---- contractions ------------------------------------------------------------------------------------------------ */

/* Where the axes of the result come from: those of both operands, -1 for none. */
typedef struct origin {
    int rank;
    int axis[2][LAM_INNER_RANK];
} origin;

/* The batch, what is left of x, what is left of y: the order of a contraction's axes. The shape rule of the row puts
 * them so. */
static origin origin_of(const lam__pairing *p, lam__piece *const in[]) {
    origin o = {.rank = p->batch};
    for (int i = 0; i < p->batch; i++)
        for (int side = 0; side < 2; side++) o.axis[side][i] = lam__contract_axes(p, side)[i];
    for (int side = 0; side < 2; side++) {
        int own[LAM_INNER_RANK], n = lam__contract_free(p, side, in[side]->type->rank, own);
        for (int i = 0; i < n; i++, o.rank++) {
            o.axis[side][o.rank] = own[i];
            o.axis[1 - side][o.rank] = -1;
        }
    }
    return o;
}

/* One operand in the lanes [first, last) of the result; NULL where they are no neighbours there, or are no such. An
 * operand that none of them comes from is the same in all lanes (from == to). */
static const int32_t *side_nodes(lam__region *r, const origin *o, int side, lam__piece *x, int first, int last,
                                 int64_t step[]) {
    int from = 0, to = 0;
    for (int axis = first; axis < last; axis++) {
        const int own = o->axis[side][axis];
        if (axis == first && own >= 0) from = to = own;
        if ((own < 0) != (o->axis[side][first] < 0) || (own >= 0 && own != to++)) return NULL;
    }
    node_steps(x->type, from, to, step);
    return lam__region_nodes(r, x, from, to);
}

/* The walk is back at its beginning behind the last product, ready for the next result. Rounding is that of the
 * machine's kernels: with fma where these have it, apart where they do not. */
static int32_t sum_of_products(lam__region *r, const int32_t *x, const int32_t *y, walk *w, int64_t count) {
    int32_t sum = -1;
    for (int64_t k = 0; k < count; k++, walk_on(w)) {
        const int32_t in[] = {x[w->where[0]], y[w->where[1]], sum};
        if (k && lam__kernels_fuses()) sum = lam__graph_loop(&r->graph, LAM__LOOP_fma, false, 3, in, NULL, 0);
        else if (!k) sum = join(r, LAM__LOOP_mul, in[0], in[1]);
        else sum = join(r, LAM__LOOP_add, sum, join(r, LAM__LOOP_mul, in[0], in[1]));
        if (sum < 0) return -1;
    }
    return sum;
}

/* Products of each result; none where they are too many. */
static int64_t terms_of(const lam__pairing *p, lam__piece *const in[]) {
    int64_t count = 1;
    for (int i = p->batch; i < lam__contract_pairs(p); i++) {
        count *= in[0]->type->dims[lam__contract_axes(p, 0)[i]];
        if (count > MOST_TERMS) return 0;
    }
    return count;
}

/* All results, given the nodes of both operands. */
static bool contract(lam__region *r, const lam__pairing *p, const origin *o, lam__piece *const in[],
                     const int32_t *const nodes[], int64_t step[2][LAM_INNER_RANK], int64_t count, lam__piece *out) {
    walk kept = {0}, summed = {0};
    const int64_t results = lam__region_count(out->type, out->first, out->last);
    for (int axis = 0; axis < o->rank; axis++) {
        const int x = o->axis[0][axis], y = o->axis[1][axis];
        if (axis >= out->first && axis < out->last) continue;
        walk_add(&kept, out->type->dims[axis], x < 0 ? 0 : step[0][x], y < 0 ? 0 : step[1][y]);
    }
    for (int i = p->batch; i < lam__contract_pairs(p); i++) {
        const int x = lam__contract_axes(p, 0)[i], y = lam__contract_axes(p, 1)[i];
        walk_add(&summed, in[0]->type->dims[x], step[0][x], step[1][y]);
    }
    out->nodes = lam__arena_get(r->graph.arena, (size_t)results * sizeof *out->nodes);
    for (int64_t i = 0; out->nodes && i < results; i++, walk_on(&kept))
        if ((out->nodes[i] = sum_of_products(r, nodes[0] + kept.where[0], nodes[1] + kept.where[1], &summed, count)) <
            0)
            return false;
    return out->nodes != NULL;
}

/* In the first lanes of the result in which both operands can be seen. A single result may have as many terms as a sum;
 * of several all products count. What would be too many is not looked at: the elements of a large matrix would fill the
 * graph, and nobody would read them there. */
bool lam__lower_contraction(lam__region *r, const lam__equation *e, lam__piece *const in[], lam__piece *out) {
    const lam__pairing *p = e->params;
    const int64_t count = terms_of(p, in);
    if (!lam__dtype_is_float(out->type->dtype) || !count) return false;
    const origin o = origin_of(p, in);
    int64_t step[2][LAM_INNER_RANK];
    out->first = out->last = -1;
    while (lam__region_range(r, out->type->rank, out->type->dims, &out->first, &out->last)) {
        const int64_t results = lam__region_count(out->type, out->first, out->last);
        const int32_t *nodes[2];
        if (results > 1 && results > MOST_PRODUCTS / count) continue;
        for (int side = 0; side < 2; side++)
            nodes[side] =
                side && !nodes[0] ? NULL : side_nodes(r, &o, side, in[side], out->first, out->last, step[side]);
        if (nodes[0] && nodes[1]) return contract(r, p, &o, in, nodes, step, count, out);
    }
    return false;
}

/* ---- sums at places ---------------------------------------------------------------------------------------------- */

/* Elements of axes [from, to) that are no lanes. */
static int64_t product_of(const int64_t *dims, int from, int to, int first, int last) {
    int64_t count = 1;
    for (int axis = from; axis < to; axis++)
        if (axis < first || axis >= last) count *= dims[axis];
    return count;
}

/* x[outer, n, inner] with updates[outer, k, inner] added at indices[k], all less lanes; NOTE [geometry] in index.h. The
 * indexed axis itself cannot be among the lanes. Axes behind it are `more` axes further on in the updates. */
bool lam__lower_scatter(lam__region *r, const lam__equation *e, lam__piece *const in[], lam__piece *out) {
    const lam__index_params *p = e->params;
    const lam_value *type = in[0]->type;
    const int64_t n = type->dims[p->axis], k = in[1]->type->count, *at = lam__lower_index(r, in[1], n);
    const int more = in[1]->type->rank - 1; /* axes of the indices in the place of one */
    if (p->batch || !at || !lam__dtype_is_float(type->dtype)) return false;
    out->first = out->last = -1;
    while (lam__region_range(r, type->rank, type->dims, &out->first, &out->last)) {
        const int first = out->first, last = out->last, shift = first > p->axis ? more : 0;
        if (first <= p->axis && p->axis < last) continue;
        const int32_t *x = lam__region_nodes(r, in[0], first, last);
        const int32_t *u =
            x ? lam__region_nodes(r, in[2], first + (first < last ? shift : 0), last + (first < last ? shift : 0))
              : NULL;
        if (!u) continue;
        const int64_t outer = product_of(type->dims, 0, p->axis, first, last),
                      inner = product_of(type->dims, p->axis + 1, type->rank, first, last);
        out->nodes = lam__arena_get(r->graph.arena, (size_t)(outer * n * inner) * sizeof *out->nodes);
        for (int64_t i = 0; out->nodes && i < outer * n * inner; i++) out->nodes[i] = x[i];
        for (int64_t i = 0; out->nodes && i < outer * k * inner; i++) {
            const int64_t to = at[i / inner % k] + (at[i / inner % k] < 0 ? n : 0);
            int32_t *sum = &out->nodes[(i / (k * inner) * n + to) * inner + i % inner];
            if ((*sum = join(r, LAM__LOOP_add, *sum, u[i])) < 0) return false;
        }
        return out->nodes != NULL;
    }
    return false;
}
