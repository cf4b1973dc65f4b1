/* Greedy colourings: the lines and columns with most entries first, each gets the lowest colour that none forbids.
 * Source: A. H. Gebremedhin, F. Manne, A. Pothen, What color is your Jacobian? Graph coloring for computing
 * derivatives, SIAM Review 47 (2005), sections 3 and 4: distance-2 colouring, and the restricted star colouring of
 * Powell and Toint. That a Jacobian may be told partly by columns and partly by rows: T. F. Coleman, A. Verma, SIAM
 * Journal on Scientific Computing 19 (1998) 1210. */
#include "transforms/colouring.h"

#include "lib/base/alloc.h"
#include "lib/base/error.h"

#include <string.h>

/* Who is beside whom: the neighbours of v are to[start[v]] up to to[start[v + 1]]. */
typedef struct graph {
    int64_t n, ends;
    int64_t *start, *to;
} graph;

/* Entries that are given twice count twice. */
static int64_t degree(const graph *g, int64_t v) {
    return g->start[v + 1] - g->start[v];
}

/* One block: starts, then ends of edges. */
static void graph_stop(lam_ctx *ctx, graph *g) {
    if (g->start) lam__alloc_put(&ctx->pool, g->start, (size_t)(g->n + 2 + g->ends) * sizeof(int64_t));
    g->start = NULL;
}

/* From `count` pairs, twice as many with `both`, in which each pair counts both ways but those of one with itself. By
 * counting: how many each has, where its list begins, then the lists. */
static bool graph_start(lam_ctx *ctx, graph *g, int64_t n, int64_t count, const int64_t *from, const int64_t *to,
                        bool both) {
    *g = (graph){.n = n, .ends = both ? 2 * count : count};
    const size_t bytes = (size_t)(n + 2 + g->ends) * sizeof(int64_t);
    if (!(g->start = lam__alloc_get(&ctx->pool, bytes))) {
        lam__error_memory(ctx, bytes);
        return false;
    }
    g->to = g->start + n + 2;
    memset(g->start, 0, (size_t)(n + 2) * sizeof(int64_t));
    int64_t *next = g->start + 1; /* one further while they are filled in, so that no list of ends is needed */
    for (int64_t k = 0; k < count; k++) {
        if (both && from[k] == to[k]) continue;
        next[from[k] + 1]++;
        if (both) next[to[k] + 1]++;
    }
    for (int64_t v = 0; v < n; v++) next[v + 1] += next[v];
    for (int64_t k = 0; k < count; k++) {
        if (both && from[k] == to[k]) continue;
        g->to[next[from[k]]++] = to[k];
        if (both) g->to[next[to[k]]++] = from[k];
    }
    return true;
}

/* The vertices by their degree, the highest first, as counted; in `order`, with n + 1 more places behind for the
 * counts. A sort by counting, which keeps vertices of one degree in their order, so colours do not depend on a
 * library's sort. */
static void by_degree(const graph *g, int64_t *order) {
    int64_t *at = order + g->n;
    memset(at, 0, (size_t)(g->n + 1) * sizeof *at);
    for (int64_t v = 0; v < g->n; v++) at[degree(g, v) < g->n ? g->n - degree(g, v) : 0]++;
    for (int64_t d = 0, before = 0; d <= g->n; d++) {
        const int64_t here = at[d];
        at[d] = before;
        before += here;
    }
    for (int64_t v = 0; v < g->n; v++) order[at[degree(g, v) < g->n ? g->n - degree(g, v) : 0]++] = v;
}

/* forbidden[c] == v: v may not have colour c. Returns the lowest that it may. The mark is v itself, so that nothing has
 * to be cleared between vertices. */
static int64_t lowest(const int64_t *forbidden, int64_t v) {
    int64_t c = 0;
    while (forbidden[c] == v) c++;
    return c;
}

/* An order and a list of forbidden colours, for one colouring. forbidden[] has places for more colours than there are
 * vertices, so that `lowest` always finds one. */
static int64_t *room_get(lam_ctx *ctx, int64_t n, size_t *bytes) {
    *bytes = (size_t)(3 * n + 3) * sizeof(int64_t);
    int64_t *room = lam__alloc_get(&ctx->pool, *bytes);
    if (!room) lam__error_memory(ctx, *bytes);
    return room;
}

/* Colours 0, 1, ... for `across`, different where two meet in a line, -1 for those without entries. Gives their number,
 * -1 after a failure. At most `most` are wanted: more are as good as none, and what is given then is any number above
 * it. The longest line is a lower bound, and with more than `most` in it nothing is coloured. */
static int64_t keep_apart(lam_ctx *ctx, const lam__entries *e, int64_t most, int64_t colours[]) {
    graph across, lines = {0};
    size_t bytes;
    const int64_t n = e->n_across;
    int64_t count = -1, *order = room_get(ctx, n, &bytes), *forbidden = order ? order + 2 * n + 1 : NULL;
    if (!order) return -1;
    if (graph_start(ctx, &across, n, e->count, e->across, e->lines, false) &&
        graph_start(ctx, &lines, e->n_lines, e->count, e->lines, e->across, false)) {
        count = 0;
        for (int64_t i = 0; i < e->n_lines; i++)
            if (degree(&lines, i) > count) count = degree(&lines, i); /* so many meet in that line */
        const bool hopeless = count > most;
        by_degree(&across, order);
        for (int64_t v = 0; v < n; v++) colours[v] = forbidden[v] = -1;
        if (!hopeless) count = 0;
        for (int64_t i = 0; i < n && !hopeless && count <= most; i++) {
            const int64_t v = order[i];
            for (int64_t k = across.start[v]; k < across.start[v + 1]; k++)
                for (int64_t l = across.to[k], m = lines.start[l]; m < lines.start[l + 1]; m++)
                    if (colours[lines.to[m]] >= 0) forbidden[colours[lines.to[m]]] = v;
            if (degree(&across, v)) colours[v] = lowest(forbidden, v);
            if (colours[v] >= count) count = colours[v] + 1;
        }
    }
    graph_stop(ctx, &lines);
    graph_stop(ctx, &across);
    lam__alloc_put(&ctx->pool, order, bytes);
    return count;
}

/* ---- columns and rows -------------------------------------------------------------------------------------------- */

/* A way to tell the entries: lines of more than `limit` of them have colours of their own, what is left keeps `across`
 * apart. So a full line does not make all that it crosses different. */
typedef struct way {
    bool turned; /* lines are the columns of the matrix, not its rows */
    int64_t limit;
    int64_t least; /* colours that it takes at least */
} way;

/* Without a limit nothing is taken out. */
static bool is_mixed(const way *w) {
    return w->limit < INT64_MAX;
}

static lam__entries turned_of(const lam__entries *e) {
    return (lam__entries){e->count, e->across, e->lines, e->n_across, e->n_lines};
}

/* Finds the best limit, and with no limit at all. As many colours as entries in a line are needed for what keeps to the
 * limit, and as many as longer lines meet somewhere for these; the longest are taken out first. A mixed way counts one
 * more, since its derivative is taken in two passes. By the lengths alone, without a colouring: what a way takes at
 * least tells which to try first, and which not at all. */
static bool find_ways(lam_ctx *ctx, const lam__entries *e, bool turned, way ways[2]) {
    graph lines;
    size_t bytes, met_bytes = (size_t)e->n_across * sizeof(int64_t) + 1;
    int64_t *order = room_get(ctx, e->n_lines, &bytes), *met = order ? lam__alloc_get(&ctx->pool, met_bytes) : NULL;
    if (order && !met) lam__error_memory(ctx, met_bytes);
    const bool fine = met && graph_start(ctx, &lines, e->n_lines, e->count, e->lines, e->across, false);
    if (fine) {
        int64_t meeting = 0;
        by_degree(&lines, order);
        ways[0] = (way){turned, INT64_MAX, e->n_lines ? degree(&lines, order[0]) : 0};
        ways[1] = (way){turned, 0, INT64_MAX};
        memset(met, 0, met_bytes);
        for (int64_t i = 0; i < e->n_lines && degree(&lines, order[i]); i++) {
            const int64_t v = order[i], d = degree(&lines, v), least = d + meeting + 1;
            if (i && d < degree(&lines, order[i - 1]) && least < ways[1].least) ways[1] = (way){turned, d, least};
            for (int64_t k = lines.start[v]; k < lines.start[v + 1]; k++)
                if (++met[lines.to[k]] > meeting) meeting = met[lines.to[k]];
        }
        graph_stop(ctx, &lines);
    }
    if (met) lam__alloc_put(&ctx->pool, met, met_bytes);
    if (order) lam__alloc_put(&ctx->pool, order, bytes);
    return fine;
}

/* The entries of lines within the limit in front, the others behind; room: for two numbers an entry. Both parts share
 * the room, from its two ends. */
static void split(const lam__entries *e, int64_t limit, const int64_t degrees[], int64_t *room, lam__entries *kept,
                  lam__entries *out) {
    int64_t *lines = room, *across = room + e->count, front = 0, back = e->count;
    for (int64_t k = 0; k < e->count; k++) {
        const int64_t at = degrees[e->lines[k]] <= limit ? front++ : --back;
        lines[at] = e->lines[k];
        across[at] = e->across[k];
    }
    *kept = (lam__entries){front, lines, across, e->n_lines, e->n_across};
    *out = (lam__entries){e->count - front, lines + front, across + front, e->n_lines, e->n_across};
}

/* Colours for `across` and, in a mixed way, for the lines that are taken out: counts[0] and counts[1], together at most
 * `most`, or else more than that. False after a failure. room: for two numbers an entry. lines[] first counts entries
 * and then gets colours. */
static bool go(lam_ctx *ctx, const lam__entries *e, const way *w, int64_t most, int64_t across[], int64_t lines[],
               int64_t *room, int64_t counts[2]) {
    lam__entries kept = *e, out = {0};
    if (is_mixed(w)) {
        for (int64_t i = 0; i < e->n_lines; i++) lines[i] = 0;
        for (int64_t k = 0; k < e->count; k++) lines[e->lines[k]]++;
        split(e, w->limit, lines, room, &kept, &out);
    }
    for (int64_t i = 0; i < e->n_lines; i++) lines[i] = -1;
    counts[0] = keep_apart(ctx, &kept, most, across);
    counts[1] = 0;
    if (counts[0] >= 0 && counts[0] <= most && is_mixed(w)) {
        const lam__entries turned = turned_of(&out);
        counts[1] = keep_apart(ctx, &turned, most - counts[0], lines);
    }
    return counts[0] >= 0 && counts[1] >= 0;
}

/* The ways by the colours that they take at least, those of one pass first where that is the same. There are four, so
 * any sort will do, but it has to be stable in this. */
static void sort_ways(way ways[4]) {
    for (int i = 1; i < 4; i++)
        for (int k = i; k > 0; k--) {
            const way a = ways[k - 1], b = ways[k];
            if (a.least < b.least || (a.least == b.least && is_mixed(&b))) break;
            ways[k - 1] = b;
            ways[k] = a;
        }
}

/* Goes the ways one after another, each with what the best one so far leaves to win; `trial`: room for the colours of
 * both and then for two numbers an entry. `most` is how many colours a way may take to be better than the best so
 * far. */
static bool best_way(lam_ctx *ctx, const lam__entries *e, const way ways[4], int64_t columns[], int64_t rows[],
                     int64_t *trial, lam__bicolouring *b) {
    int64_t best = INT64_MAX, *trial_rows = trial + e->n_across, *room = trial_rows + e->n_lines;
    const lam__entries turned = turned_of(e);
    for (int i = 0; i < 4 && ways[i].least < best; i++) {
        const way *w = &ways[i];
        int64_t counts[2], price = is_mixed(w), most = best == INT64_MAX ? best - 1 : best - price - 1;
        if (!(w->turned ? go(ctx, &turned, w, most, trial_rows, trial, room, counts)
                        : go(ctx, e, w, most, trial, trial_rows, room, counts)))
            return false;
        if (counts[0] > most || counts[1] > most - counts[0]) continue;
        best = counts[0] + counts[1] + price;
        *b = (lam__bicolouring){counts[w->turned], counts[!w->turned], !w->turned};
        memcpy(columns, trial, (size_t)e->n_across * sizeof *columns);
        memcpy(rows, trial_rows, (size_t)e->n_lines * sizeof *rows);
    }
    return true;
}

/* The entries line by line, each once: as many as are given twice would be counted as longer lines. room: for two
 * numbers an entry, and one for each of `across`. False after a failure. */
static bool distinct(lam_ctx *ctx, const lam__entries *e, int64_t *room, lam__entries *once) {
    graph g;
    int64_t *lines = room, *across = lines + e->count, *seen = across + e->count, count = 0;
    if (!graph_start(ctx, &g, e->n_lines, e->count, e->lines, e->across, false)) return false;
    for (int64_t j = 0; j < e->n_across; j++) seen[j] = -1;
    for (int64_t i = 0; i < e->n_lines; i++)
        for (int64_t k = g.start[i]; k < g.start[i + 1]; k++) {
            if (seen[g.to[k]] == i) continue;
            seen[g.to[k]] = lines[count] = i;
            across[count++] = g.to[k];
        }
    graph_stop(ctx, &g);
    *once = (lam__entries){count, lines, across, e->n_lines, e->n_across};
    return true;
}

/* With room for the entries, each once, and for trials. */
static bool colour(lam_ctx *ctx, const lam__entries *e, int64_t *room, int64_t columns[], int64_t rows[],
                   lam__bicolouring *b) {
    way ways[4];
    lam__entries once;
    if (!distinct(ctx, e, room, &once)) return false;
    const lam__entries turned = turned_of(&once);
    if (!find_ways(ctx, &once, false, ways) || !find_ways(ctx, &turned, true, ways + 2)) return false;
    sort_ways(ways);
    return best_way(ctx, &once, ways, columns, rows, room + 2 * e->count, b);
}

bool lam__colouring_jacobian(lam_ctx *ctx, const lam__entries *e, int64_t columns[], int64_t rows[],
                             lam__bicolouring *b) {
    const size_t bytes = (size_t)(e->n_across + e->n_lines + 4 * e->count) * sizeof(int64_t) + 1;
    int64_t *room = lam__alloc_get(&ctx->pool, bytes);
    if (!room) {
        lam__error_memory(ctx, bytes);
        return false;
    }
    const bool fine = colour(ctx, e, room, columns, rows, b);
    lam__alloc_put(&ctx->pool, room, bytes);
    return fine;
}

/* ---- symmetric matrices ------------------------------------------------------------------------------------------ */

/* For a colouring of the vertices one by one: the colours that neighbours of w have are at met[start[w]] and behind,
 * count[w] of them, without those that are higher than w's own was when they came. No colour is among them twice, so
 * that a vertex with many neighbours costs them no more than there are colours. */
typedef struct star {
    graph g;
    int64_t *colours, *forbidden, *count, *met;
} star;

/* What v may not have: the colour of a neighbour, and what a neighbour has met, lest that be found twice beside it. */
static void forbid_near(const star *s, int64_t v) {
    for (int64_t k = s->g.start[v]; k < s->g.start[v + 1]; k++) {
        const int64_t w = s->g.to[k], own = s->colours[w], *met = s->met + s->g.start[w];
        if (own >= 0) s->forbidden[own] = v;
        for (int64_t m = 0; m < s->count[w]; m++)
            if (own < 0 || met[m] < own) s->forbidden[met[m]] = v;
    }
}

/* The neighbours of v meet its colour. Colours above the neighbour's own do not concern it. */
static void tell_near(const star *s, int64_t v) {
    for (int64_t k = s->g.start[v]; k < s->g.start[v + 1]; k++) {
        const int64_t w = s->g.to[k], own = s->colours[w];
        if (own < 0 || s->colours[v] < own) s->met[s->g.start[w] + s->count[w]++] = s->colours[v];
    }
}

/* Two vertices of one colour may have a neighbour in common only if its colour is lower, and that is there when the
 * second of them gets its own. */
static int64_t colour_star(const star *s, const int64_t order[]) {
    int64_t colours = 0;
    for (int64_t v = 0; v < s->g.n; v++) s->colours[v] = s->forbidden[v] = -1;
    memset(s->count, 0, (size_t)s->g.n * sizeof *s->count);
    for (int64_t i = 0; i < s->g.n; i++) {
        const int64_t v = order[i];
        forbid_near(s, v);
        s->colours[v] = lowest(s->forbidden, v);
        if (s->colours[v] >= colours) colours = s->colours[v] + 1;
        tell_near(s, v);
    }
    return colours;
}

/* One block serves for the order, for the counts that make it and later others, and for what is forbidden. Diagonal
 * entries are no edges; a vertex without edges has colour 0. */
int64_t lam__colouring_symmetric(lam_ctx *ctx, const lam__entries *e, int64_t colours[]) {
    star s = {.colours = colours};
    size_t bytes;
    const int64_t n = e->n_across;
    int64_t count = -1, *order = room_get(ctx, n, &bytes);
    if (!order) return -1;
    if (graph_start(ctx, &s.g, n, e->count, e->lines, e->across, true)) {
        const size_t met = (size_t)s.g.ends * sizeof *s.met + 1;
        s.forbidden = order + 2 * n + 1;
        s.count = order + n; /* where by_degree counts, before */
        by_degree(&s.g, order);
        if ((s.met = lam__alloc_get(&ctx->pool, met))) count = colour_star(&s, order);
        else lam__error_memory(ctx, met);
        if (s.met) lam__alloc_put(&ctx->pool, s.met, met);
    }
    graph_stop(ctx, &s.g);
    lam__alloc_put(&ctx->pool, order, bytes);
    return count;
}
