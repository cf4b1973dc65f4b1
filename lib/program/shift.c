/* Regions: lanes that begin elsewhere. See region.h.
 *
 * NOTE [short axes]
 * The inside of a grid has fewer elements in a line than the grid. Where such axes may be in the lanes too, element j
 * of one is in lane j, and nobody reads the lanes behind the last: what is stored stops there, and what is put together
 * of several things takes of each the lanes that it has. So it does not matter what they hold; but they are computed
 * with the others, so nothing is read for them from beyond the memory of a source.
 *
 * What is put elsewhere, as the inside into the grid, needs lane l to be what lane l - 1 was. Lanes do not move: what a
 * node is made of is computed once more, of memory that begins one element earlier. That is a few instructions more in
 * the place of a tensor that is written and read again; where it would be more than a few, the equation waits for the
 * region behind, which reads memory.
 *
 * v = c (u[2:] - u[:-2]), w = pad(v, 1, 1) on 64 elements: v has 62, in lanes 0 to 61, of u from elements 2 and 0 on. w
 * is c (u from element 1 on - u from element -1 on) in the lanes 1 to 62, and 0 in the others. */
#include "lib/program/fused.h"

#include <string.h>

enum { MOST_AGAIN = 24 }; /* nodes */

/* Nanoseconds of a lane that a loop may take which is run again. */
static const double LEAST_DEAR = 0.5;

/* One run in the lanes [from, to), whose end is set here, and zeros in the others. */
static int32_t among_zeros(lam__region *r, lam_dtype dtype, const lam__lane_line *one, int64_t from, int64_t to) {
    lam__lane_line line;
    memset(&line, 0, sizeof line);
    if (from > 0) {
        line.runs[line.count].end = from;
        line.runs[line.count++].data = LAM__LANE_ZEROS;
    }
    line.runs[line.count] = one->runs[0];
    line.runs[line.count++].end = to;
    if (to < r->lanes) {
        line.runs[line.count].end = r->lanes;
        line.runs[line.count++].data = LAM__LANE_ZEROS;
    }
    return lam__graph_line(&r->graph, dtype, &line);
}

int32_t lam__region_within(lam__region *r, int64_t from, int64_t to) {
    return among_zeros(r, LAM_BOOL, &(lam__lane_line){.runs[0].data = LAM__LANE_TRUE}, from, to);
}

/* As a load, if all lanes find something there; otherwise with zeros where nobody looks. */
int32_t lam__region_read(lam__region *r, lam_dtype dtype, int32_t source, int64_t base, int64_t step, int64_t from,
                         int64_t to) {
    const int64_t last = base + (r->lanes - 1) * step, least = base < last ? base : last,
                  most = base < last ? last : base;
    if (least >= 0 && most < r->sources[source].count) return lam__graph_load(&r->graph, dtype, source, base, step);
    const lam__lane_line one = {
        .runs[0] = {.base = base, .step = step, .data = source, .count = r->sources[source].count}};
    return among_zeros(r, dtype, &one, from, to);
}

/* Runs that leave the lanes are gone; lanes that none reaches are zeros. */
static int32_t shifted_line(lam__region *r, lam_dtype dtype, const lam__lane_line *of, int64_t by) {
    lam__lane_line line;
    memset(&line, 0, sizeof line);
    if (by > 0 && of->runs[0].data != LAM__LANE_ZEROS) {
        line.runs[line.count].end = by;
        line.runs[line.count++].data = LAM__LANE_ZEROS;
    }
    for (int64_t k = 0; k < of->count; k++) {
        const bool beyond = k && of->runs[k - 1].end + by >= r->lanes;
        if (beyond || of->runs[k].end + by <= 0) continue;
        if (line.count == LAM__LANE_RUNS) return -1;
        line.runs[line.count] = of->runs[k];
        line.runs[line.count].base -= by * of->runs[k].step;
        line.runs[line.count].end += by;
        if (line.runs[line.count].end > r->lanes) line.runs[line.count].end = r->lanes;
        line.count++;
    }
    const bool ends = line.count && line.runs[line.count - 1].data == LAM__LANE_ZEROS;
    if (line.count && line.runs[line.count - 1].end < r->lanes && !ends) {
        if (line.count == LAM__LANE_RUNS) return -1;
        line.runs[line.count++].data = LAM__LANE_ZEROS;
    }
    if (!line.count) return -1;
    line.runs[line.count - 1].end = r->lanes;
    return lam__graph_line(&r->graph, dtype, &line);
}

/* Of a load: lanes that it had are read. */
static int32_t shifted_load(lam__region *r, const lam__node *n, int64_t by) {
    const int64_t step = n->as.load.step, from = by > 0 ? by : 0, to = by > 0 ? r->lanes : r->lanes + by;
    return lam__region_read(r, (lam_dtype)n->dtype, n->in[0], n->as.load.base - by * step, step, from, to);
}

bool lam__region_is_rare(int loop) {
    return loop == LAM__LOOP_rsqrt || loop == LAM__LOOP_mul_div;
}

/* Whether a node may be computed again. */
static bool may_repeat(const lam__node *n) {
    if (n->kind != LAM__NODE_LOOP) return n->kind == LAM__NODE_CAST;
    return !lam__region_is_rare(n->loop) && lam__fused_loop_cost((lam__loop_id)n->loop) < LEAST_DEAR;
}

/* Nodes move in memory when others are made. */
static int32_t shifted(lam__region *r, int32_t node, int64_t by, int *left) {
    const lam__node of = r->graph.nodes[node];
    if (!of.laned) return node;
    if (--*left < 0) return -1;
    if (of.kind == LAM__NODE_LOAD) return shifted_load(r, &of, by);
    if (of.kind == LAM__NODE_LINE) return shifted_line(r, (lam_dtype)of.dtype, of.as.params, by);
    if (!may_repeat(&of)) return -1;
    lam__node made = of;
    for (int k = 0; k < 3 && of.in[k] >= 0; k++)
        if ((made.in[k] = shifted(r, of.in[k], by, left)) < 0) return -1;
    return lam__graph_node(&r->graph, &made);
}

int32_t lam__region_shifted(lam__region *r, int32_t node, int64_t by) {
    int left = MOST_AGAIN;
    return by ? shifted(r, node, by, &left) : node;
}
