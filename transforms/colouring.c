/* Greedy colourings: the lines and columns with most entries first, each gets the lowest colour that none forbids.
 * Source: A. H. Gebremedhin, F. Manne, A. Pothen, What color is your Jacobian? Graph coloring for computing
 * derivatives, SIAM Review 47 (2005), sections 3 and 4: distance-2 colouring, and the restricted star colouring of
 * Powell and Toint. */
#include "transforms/colouring.h"

#include "lib/base/alloc.h"
#include "lib/base/error.h"

#include <string.h>

/* Who is beside whom: the neighbours of v are to[start[v]] up to to[start[v + 1]]. */
typedef struct graph {
    int64_t n, ends;
    int64_t *start, *to;
} graph;

static int64_t degree(const graph *g, int64_t v) {
    return g->start[v + 1] - g->start[v];
}

static void graph_stop(lam_ctx *ctx, graph *g) {
    if (g->start) lam__alloc_put(&ctx->pool, g->start, (size_t)(g->n + 2 + g->ends) * sizeof(int64_t));
    g->start = NULL;
}

/* From `count` pairs, twice as many with `both`, in which each pair counts both ways but those of one with itself. */
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
 * counts. */
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

/* forbidden[c] == v: v may not have colour c. Returns the lowest that it may. */
static int64_t lowest(const int64_t *forbidden, int64_t v) {
    int64_t c = 0;
    while (forbidden[c] == v) c++;
    return c;
}

/* An order and a list of forbidden colours, for one colouring. */
static int64_t *room_get(lam_ctx *ctx, int64_t n, size_t *bytes) {
    *bytes = (size_t)(3 * n + 3) * sizeof(int64_t);
    int64_t *room = lam__alloc_get(&ctx->pool, *bytes);
    if (!room) lam__error_memory(ctx, *bytes);
    return room;
}

int64_t lam__colouring_apart(lam_ctx *ctx, const lam__entries *e, int64_t most, int64_t colours[]) {
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

/* The neighbours of v meet its colour. */
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
