/* Regions: sources, pieces and the ways to see them. See region.h. How a piece is seen is found out when it is first
 * asked for and then kept. Where something does not fit, nothing is recorded: the equation is called instead. */
#include "lib/program/region.h"

#include "lib/tensor/dtype.h"

#include <string.h>

/* Elements of a tensor whose codes are looked at one by one. */
static const int64_t MOST_CODES = (int64_t)1 << 22;

/* NOTE [codes]
 * Of an element: 0 the number 0; 1 + node lanes + lane, of a node that differs between lanes; -1 - node, of one that
 * does not; or DATA_CODES (1 + source) + its place there. They do not meet: there are less than 2^17 nodes, and what
 * has lanes and is coded has at least an element for each of them, so those of nodes end below 2^17 MOST_CODES = 2^39.
 * Nor do they overflow: a source takes 64 bytes of the draft's arena at least, so there are no more than 2^22. */
#define DATA_CODES ((int64_t)1 << 40)

void lam__region_open(lam__region *r, lam_ctx *ctx, lam__arena *arena, int64_t lanes, int64_t most_nodes) {
    *r = (lam__region){.ctx = ctx, .lanes = lanes};
    lam__graph_open(&r->graph, arena, most_nodes);
}

/* NULL without memory, which the arena notes and nobody records. */
static lam__piece *piece_new(lam__region *r, lam__piece_kind kind, const lam_value *type) {
    lam__piece *x = lam__arena_get(r->graph.arena, sizeof *x);
    if (x) *x = (lam__piece){.kind = kind, .type = type, .first = -1, .last = -1};
    return x;
}

/* No axes of lanes (first == last) where all lanes have the same nodes. */
lam__piece *lam__region_piece(lam__region *r, const lam_value *type, int first, int last) {
    lam__piece *x = piece_new(r, LAM__PIECE_NODES, type);
    if (!x) return NULL;
    x->first = first;
    x->last = last;
    x->nodes = lam__arena_get(r->graph.arena, (size_t)lam__region_count(type, first, last) * sizeof *x->nodes);
    return x->nodes ? x : NULL;
}

/* Sources are few, but for programs that read many constants, which mostly are numbers: those become nodes and are not
 * looked for. Variables are not looked for: the draft asks once for each (`outside` in draft.h). */
lam__piece *lam__region_source(lam__region *r, int64_t variable, lam_value *constant, const lam_value *type) {
    lam__piece *x = piece_new(r, LAM__PIECE_DATA, type);
    if (!x) return NULL;
    for (int64_t i = r->source_count - 1; i >= 0 && i >= r->source_count - 16 && variable < 0; i--)
        if (r->sources[i].constant == constant) {
            x->data = (int32_t)i;
            return x;
        }
    lam__source *sources =
        lam__arena_grow(r->graph.arena, r->sources, r->source_count, &r->source_room, sizeof *sources);
    if (!sources) return NULL;
    r->sources = sources;
    x->data = (int32_t)r->source_count;
    sources[r->source_count++] = (lam__source){variable, constant, type->count};
    return x;
}

/* ---- lanes ------------------------------------------------------------------------------------------------------- */

bool lam__region_fits(const lam__region *r, const int64_t *dims, int first, int last) {
    const int64_t count = lam__axes_product(dims, first, last);
    if (count == r->lanes) return true;
    return r->shorter && last - first == 1 && count < r->lanes && lam__region_may_share(count, r->lanes);
}

/* The widest first of those that begin at an axis. Where lanes are one, or no range is left, comes the empty one, by
 * which all lanes are alike. */
bool lam__region_range(const lam__region *r, int rank, const int64_t *dims, int *first, int *last) {
    if (*first >= 0 && *first == *last) return false;
    int from = *first >= 0 ? *first : r->last ? rank - 1 : 0, to = *first < 0 ? rank : *last - 1;
    for (; from >= 0 && from < rank && r->lanes > 1; from += r->last ? -1 : 1, to = rank)
        for (; to > from; to--) {
            if (dims[from] == 1 || dims[to - 1] == 1 || !lam__region_fits(r, dims, from, to)) continue;
            *first = from;
            *last = to;
            return true;
        }
    *first = *last = 0;
    return true;
}

/* A constant's element, row-major number i. */
static uint64_t bits_at(const lam_value *v, int64_t i) {
    const size_t item = lam__dtype_bytes(v->dtype);
    int64_t at = 0;
    for (int axis = v->rank - 1; axis >= 0; axis--) {
        at += i % v->dims[axis] * v->strides[axis];
        i /= v->dims[axis];
    }
    uint64_t bits = 0;
    memcpy(&bits, (const char *)v->data + at * (int64_t)item, item);
    return bits;
}

/* Of the elements from `base` on at `step`, one for each of so many lanes: what all of them are. -1: they differ, and
 * are loaded like those of any other source. */
static int32_t constant_lanes(lam__region *r, const lam_value *v, int64_t base, int64_t step, int64_t lanes) {
    const uint64_t bits = bits_at(v, base);
    for (int64_t l = 1; l < lanes && step; l++)
        if (bits_at(v, base + l * step) != bits) return -1;
    return lam__graph_constant(&r->graph, (lam_dtype)v->dtype, bits);
}

/* The node of source elements at a step, one for each of so many lanes; of constants the number, where it is one in all
 * of them. */
static int32_t load_node(lam__region *r, int dtype, int32_t source, int64_t base, int64_t step, int64_t lanes) {
    const lam_value *v = r->sources[source].constant;
    int32_t same = v ? constant_lanes(r, v, base, step, lanes) : -1;
    if (same >= 0 || (v && !step)) return same;
    if (!step) return lam__graph_load(&r->graph, (lam_dtype)dtype, source, base, 0);
    return lam__region_read(r, (lam_dtype)dtype, source, base, step, 0, lanes);
}

/* Lanes [first, end) of a line: code in the first of them, and by how much it goes on. */
typedef struct run {
    int64_t first, end, code, by;
} run;

/* Whether a code is of the same source, or of a lane of the same node, as another one. */
static bool is_alike(const lam__region *r, int64_t code, int64_t other) {
    if (code >= DATA_CODES || other >= DATA_CODES) return code / DATA_CODES == other / DATA_CODES;
    return code > 0 && other > 0 ? (code - 1) / r->lanes == (other - 1) / r->lanes : code == other;
}

/* The run that begins at a lane. Lanes of a node are in order; of data two elements far apart are two runs, since the
 * second is the beginning of another one. */
static run run_at(const lam__region *r, const int64_t *codes, int64_t step, int64_t first, int64_t lanes) {
    run x = {first, first + 1, codes[first * step], 0};
    if (x.code >= DATA_CODES) x.by = first + 1 < lanes ? codes[(first + 1) * step] - x.code : 0;
    else x.by = x.code > 0;
    for (; x.end < lanes; x.end++) {
        const int64_t code = codes[x.end * step];
        if (code != x.code + (x.end - first) * x.by || !is_alike(r, code, x.code)) break;
    }
    if (x.code >= DATA_CODES && x.end - first == 2 && (x.by < -1 || x.by > 1)) x.end--;
    if (x.end - first == 1) x.by = 0;
    return x;
}

/* A line with one run more: of data, or of zeros where something else will be. Zeros that follow what is made elsewhere
 * are one run with it, since that will be put there by a choice. */
static bool add_run(const lam__region *r, lam__lane_line *line, const run *x) {
    const bool data = x->code >= DATA_CODES;
    if (!data && line->count && line->runs[line->count - 1].data == LAM__LANE_ZEROS) line->count--;
    if (line->count == LAM__LANE_RUNS) return false;
    line->runs[line->count].end = x->end;
    line->runs[line->count].base = data ? x->code % DATA_CODES - x->first * x->by : 0;
    line->runs[line->count].step = data ? x->by : 0;
    line->runs[line->count].count = data ? r->sources[x->code / DATA_CODES - 1].count : 0;
    line->runs[line->count++].data = data ? x->code / DATA_CODES - 1 : LAM__LANE_ZEROS;
    return true;
}

/* The lanes of a run from a node, all others from `rest`. */
static int32_t chosen_in(lam__region *r, const run *x, int32_t rest) {
    const int64_t lane = x->code > 0 ? (x->code - 1) % r->lanes : 0;
    const int32_t node = x->code < 0 ? (int32_t)(-1 - x->code) : (int32_t)((x->code - 1) / r->lanes),
                  shifted = lam__region_shifted(r, node, x->first - lane);
    const int32_t in[3] = {lam__region_within(r, x->first, x->end), shifted, rest};
    return shifted < 0 ? -1 : lam__graph_loop(&r->graph, LAM__LOOP_where, false, 3, in, NULL, 0);
}

/* Lanes in a few runs, as of a line whose ends are joined or padded; -1: they are not. At most two runs may be nodes: a
 * line has two ends. */
static int32_t line_node(lam__region *r, int dtype, const int64_t *codes, int64_t step, int64_t lanes) {
    enum { LEAST_LANES = 8, MOST_MADE = 2 };
    lam__lane_line line;
    run made[MOST_MADE];
    int made_count = 0;
    bool data = false;
    memset(&line, 0, sizeof line);
    if (lanes < LEAST_LANES) return -1;
    for (int64_t first = 0; first < lanes;) {
        const run x = run_at(r, codes, step, first, lanes);
        const bool is_made = x.code && x.code < DATA_CODES;
        if (!add_run(r, &line, &x) || (is_made && (!r->shorter || made_count == MOST_MADE))) return -1;
        if (is_made) made[made_count++] = x;
        data = data || x.code >= DATA_CODES;
        first = x.end;
    }
    const run behind = {lanes, r->lanes, 0, 0}; /* which nobody reads */
    if (lanes < r->lanes && !add_run(r, &line, &behind)) return -1;
    int32_t node =
        data ? lam__graph_line(&r->graph, (lam_dtype)dtype, &line) : lam__graph_number(&r->graph, (lam_dtype)dtype, 0);
    for (int i = 0; i < made_count && node >= 0; i++) node = chosen_in(r, &made[i], node);
    return node;
}

/* Of memory at even steps, which may go back, a load; -1: the lanes are not. */
static int32_t memory_node(lam__region *r, int dtype, const int64_t *codes, int64_t step, int64_t lanes) {
    const int64_t code = codes[0], by = lanes > 1 ? codes[step] - code : 0, source = code / DATA_CODES;
    for (int64_t l = 1; l < lanes; l++)
        if (codes[l * step] != code + l * by || codes[l * step] / DATA_CODES != source) return -1;
    return load_node(r, dtype, (int32_t)(source - 1), code % DATA_CODES, by, lanes);
}

/* One thing in lanes that do not come from memory: a node that differs, its lanes in their order, or the same code
 * everywhere; -1: they are not. */
static int32_t made_node(lam__region *r, int dtype, const int64_t *codes, int64_t step, int64_t lanes) {
    const int64_t code = codes[0];
    const int64_t by = code > 0, lane = by ? (code - 1) % r->lanes : 0;
    if (by && (lanes == 1 || lane + lanes > r->lanes || (lane && !r->shorter))) return -1;
    for (int64_t l = 1; l < lanes; l++)
        if (codes[l * step] != code + l * by) return -1;
    if (!code) return lam__graph_number(&r->graph, (lam_dtype)dtype, 0);
    if (!by) return (int32_t)(-1 - code);
    return lam__region_shifted(r, (int32_t)((code - 1) / r->lanes), -lane);
}

/* One thing in all lanes, which are at codes[l * step]; -1: they are not. */
static int32_t lanes_node(lam__region *r, int dtype, const int64_t *codes, int64_t step, int64_t lanes) {
    const int32_t node =
        codes[0] >= DATA_CODES ? memory_node(r, dtype, codes, step, lanes) : made_node(r, dtype, codes, step, lanes);
    return node >= 0 ? node : line_node(r, dtype, codes, step, lanes);
}

/* How the elements of a type lie around its lanes, by which a node for each element of one lane is found. */
typedef struct view {
    int64_t before, inside, behind; /* elements of the axes in front of the lanes, of these, and of those behind */
} view;

/* first == last: there are no axes of lanes, so all elements are in front. */
static view view_of(const lam_value *type, int first, int last) {
    view v = {1, 1, 1};
    for (int axis = 0; axis < type->rank; axis++) {
        if (axis < first || first == last) v.before *= type->dims[axis];
        else if (axis < last) v.inside *= type->dims[axis];
        else v.behind *= type->dims[axis];
    }
    return v;
}

/* Reads a piece without lanes, of which nodes are known, as if it had them. Nodes that differ along what are to be the
 * lanes cannot be one node. */
static bool uniform_in_lanes(const int32_t *all, const view *v, int32_t *nodes) {
    for (int64_t i = 0; i < v->before; i++)
        for (int64_t j = 0; j < v->behind; j++) {
            const int32_t *at = all + i * v->inside * v->behind + j;
            for (int64_t l = 1; l < v->inside; l++)
                if (at[l * v->behind] != at[0]) return false;
            nodes[i * v->behind + j] = at[0];
        }
    return true;
}

/* Elements of the lanes lie `behind` apart, as the dims say: sources are without gaps. */
static bool read_data(lam__region *r, const lam__piece *x, const view *v, int32_t *nodes) {
    for (int64_t i = 0; i < v->before; i++)
        for (int64_t j = 0; j < v->behind; j++) {
            const int64_t base = i * v->inside * v->behind + j;
            int32_t node = load_node(r, x->type->dtype, x->data, base, v->inside > 1 ? v->behind : 0, v->inside);
            if (node < 0) return false;
            nodes[i * v->behind + j] = node;
        }
    return true;
}

/* Each element has to be one thing in all lanes, or the piece cannot be looked at so. */
static bool read_codes(lam__region *r, const lam__piece *x, const view *v, int32_t *nodes) {
    for (int64_t i = 0; i < v->before; i++)
        for (int64_t j = 0; j < v->behind; j++) {
            const int64_t *at = x->codes + i * v->inside * v->behind + j;
            int32_t node = lanes_node(r, x->type->dtype, at, v->behind, v->inside);
            if (node < 0) return false;
            nodes[i * v->behind + j] = node;
        }
    return true;
}

/* What was found out is kept, so that the next one who asks for the same lanes need not look again. A piece of nodes
 * has the lanes that it was made with, and cannot be looked at in others. */
const int32_t *lam__region_nodes(lam__region *r, lam__piece *x, int first, int last) {
    if (x->nodes && (x->first == first || first == last) && x->last - x->first == last - first) return x->nodes;
    const int64_t count = lam__region_count(x->type, first, last);
    if (count > r->graph.most) return NULL;
    if (x->kind == LAM__PIECE_NODES && x->first < x->last) return NULL;
    int32_t *nodes = lam__arena_get(r->graph.arena, (size_t)count * sizeof *nodes);
    if (!nodes) return NULL;
    const view v = view_of(x->type, first, last);
    bool fits = x->kind == LAM__PIECE_NODES  ? uniform_in_lanes(x->nodes, &v, nodes)
                : x->kind == LAM__PIECE_DATA ? read_data(r, x, &v, nodes)
                                             : read_codes(r, x, &v, nodes);
    if (!fits) return NULL;
    if (x->kind != LAM__PIECE_NODES) {
        x->nodes = nodes;
        x->first = first;
        x->last = last;
    }
    return nodes;
}

/* As it is looked at already, or in the first way that works. */
const int32_t *lam__region_seen(lam__region *r, lam__piece *x, int *first, int *last) {
    if (x->nodes) {
        *first = x->first;
        *last = x->last;
        return x->nodes;
    }
    *first = *last = -1;
    while (lam__region_range(r, x->type->rank, x->type->dims, first, last)) {
        const int32_t *nodes = lam__region_nodes(r, x, *first, *last);
        if (nodes) return nodes;
    }
    return NULL;
}

/* ---- codes ------------------------------------------------------------------------------------------------------- */

/* Constants and what is made of them alone have one code in all lanes, so that such elements may be moved across
 * lanes. */
static void codes_of_nodes(const lam__region *r, const lam__piece *x, int64_t *codes) {
    const view v = view_of(x->type, x->first, x->last);
    for (int64_t i = 0; i < v.before; i++)
        for (int64_t l = 0; l < v.inside; l++)
            for (int64_t j = 0; j < v.behind; j++) {
                const int32_t node = x->nodes[i * v.behind + j];
                codes[(i * v.inside + l) * v.behind + j] =
                    r->graph.nodes[node].laned ? 1 + node * r->lanes + l : -1 - (int64_t)node;
            }
}

/* Codes take 8 bytes and a visit for each element. */
bool lam__region_may_code(const lam__piece *x) {
    return x->type->count <= MOST_CODES;
}

/* They are explained at DATA_CODES (NOTE [codes]). */
void lam__region_codes(const lam__region *r, const lam__piece *x, int64_t *codes) {
    if (x->kind == LAM__PIECE_NODES) codes_of_nodes(r, x, codes);
    else if (x->kind == LAM__PIECE_CODES) memcpy(codes, x->codes, (size_t)x->type->count * sizeof *codes);
    else if (lam__program_is_zeros(&(lam__atom){r->sources[x->data].variable, r->sources[x->data].constant}))
        memset(codes, 0, (size_t)x->type->count * sizeof *codes);
    else
        for (int64_t i = 0; i < x->type->count; i++) codes[i] = DATA_CODES * (1 + (int64_t)x->data) + i;
}

/* Whether an element is known to differ between lanes. */
static bool any_lanes(const int64_t *codes, int64_t count) {
    for (int64_t i = 0; i < count; i++)
        if (codes[i] > 0 && codes[i] < DATA_CODES) return true;
    return false;
}

/* How far the second lane is from the first says the step, and all others have to lie so too. */
bool lam__region_code_at(lam__region *r, const lam__piece *x, int64_t i, int32_t *node, int64_t *step) {
    const int64_t code = x->codes[i], count = x->type->count;
    *step = 0;
    if (code <= 0 || code >= DATA_CODES) return (*node = lanes_node(r, x->type->dtype, &code, 0, 1)) >= 0;
    *node = -1;
    if ((code - 1) % r->lanes) return true;
    int64_t next = i + 1;
    while (next < count && x->codes[next] != code + 1) next++;
    *step = next - i;
    for (int64_t l = 1; l < r->lanes; l++)
        if (i + l * *step >= count || x->codes[i + l * *step] != code + l) return false;
    *node = (int32_t)((code - 1) / r->lanes);
    return true;
}

/* Codes without lanes are kept, since it is not known yet how they will be looked at. */
lam__piece *lam__region_decoded(lam__region *r, const lam_value *type, const int64_t *codes, bool mixed) {
    lam__piece *x = piece_new(r, LAM__PIECE_CODES, type);
    if (!x) return NULL;
    x->codes = codes;
    if (any_lanes(codes, type->count)) {
        int first, last;
        const bool seen = lam__region_seen(r, x, &first, &last) != NULL;
        if (!seen && !mixed) return NULL;
        x->codes = NULL;
        x->mixed = !seen;
        if (seen) x->kind = LAM__PIECE_NODES;
        if (seen) return x;
    }
    int64_t *own = lam__arena_get(r->graph.arena, (size_t)type->count * sizeof *own);
    if (own) memcpy(own, codes, (size_t)type->count * sizeof *own);
    x->codes = own;
    return own ? x : NULL;
}
