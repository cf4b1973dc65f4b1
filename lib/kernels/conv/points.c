/* Windows of one element: see points.h. A piece has as many places of a line as a vector has lanes, or some whole short
 * lines; those at the end have some places of the piece before them again, so that all are alike. Cuts follow from the
 * operands alone. */
#include "lib/kernels/conv/points.h"

#include <string.h>

#include "lib/kernels/item.h"

enum {
    TOGETHER = 64, /* pieces that are listed at a time: what they read of some features stays in the first cache */
    PART = 64,     /* times as many, of an item whose places are summed up */
    MOST_LANES = 16,
    SOURCES = 4,        /* vectors of x, or of the result, of a piece */
    SHORT = 2,          /* pieces of a line */
    FEW_TERMS = 4,      /* of a product */
    MOST_FEATURES = 16, /* of the result */
    MOST_SUMS = 192     /* of places */
};

static int64_t least(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static int64_t parts(int64_t n, int64_t most) {
    return (n + most - 1) / most;
}

/* ---- places ------------------------------------------------------------------------------------------------------ */

/* Windows of one element in x as it is, or dilated: all of its elements meet one place each. */
static bool is_pointed(const lam__conv_case *s) {
    for (int i = 0; i < LAM__CONV_AXES; i++) {
        const lam__conv_axis *a = &s->axis[i];
        if (a->window != 1 || a->low != 0 || (a->gap > 1 && a->stride > 1)) return false;
        if (a->gap == 1 && (a->out - 1) * a->stride >= a->size) return false;
        if (a->gap > 1 && (a->out <= (a->size - 1) * a->gap || a->out > a->size * a->gap)) return false;
    }
    const int64_t gap = s->axis[1].gap, side = s->axis[2].gap; /* a place has no more than SOURCES vectors */
    return s->axis[0].gap == 1 && (side == 2 ? gap <= 2 && s->axis[1].stride == 1 : side == 1 && gap == 1);
}

/* Those that are done as products of matrices, as they lie: of large pictures, with one term each, or many results. */
static bool is_product(const lam__conv_loops *loops, const lam__conv_case *s) {
    const lam__conv_axis *a = s->axis;
    if (a[2].gap > 1) return false;
    return s->o > MOST_FEATURES || (a[2].stride == 1 && (s->n == 1 || s->c == 1 || 2 * s->o > MOST_FEATURES ||
                                                         a[0].out * a[1].out * a[2].out > SOURCES * loops->lanes));
}

/* One place, which meets all of the window in x: what a gradient by such a window is. */
static bool is_summed(const lam__conv_case *s) {
    for (int i = 0; i < LAM__CONV_AXES; i++) {
        const lam__conv_axis *a = &s->axis[i];
        if (a->out != 1 || a->low != 0 || a->gap != 1 || (a->window - 1) * a->spread >= a->size) return false;
    }
    return true;
}

/* Where places are in x and in the result. */
static void plan_places(lam__conv_points *p) {
    const lam__conv_case *s = &p->shape;
    p->dims[0] = s->n;
    p->x_step[0] = s->x_step[1];
    p->to_step[0] = s->out_step[1];
    for (int i = 0; i < LAM__CONV_AXES; i++) {
        const lam__conv_axis *a = &s->axis[i];
        p->dims[1 + i] = a->gap > 1 ? a->size : a->out;
        p->x_step[1 + i] = s->x_step[3 + i] * a->stride;
        p->to_step[1 + i] = s->out_step[3 + i] * a->gap;
    }
    p->side = s->axis[2].gap;
    p->gap = s->axis[1].gap;
    p->end[0] = s->axis[1].out;
    p->end[1] = s->axis[2].out;
}

/* The same of what is summed up, where the part of the result is the cotangent's, w. */
static void plan_sums(lam__conv_points *p) {
    const lam__conv_case *s = &p->shape;
    p->dims[0] = s->c;
    p->x_step[0] = s->x_step[2];
    p->to_step[0] = s->w_step[2];
    for (int i = 0; i < LAM__CONV_AXES; i++) {
        p->dims[1 + i] = s->axis[i].window;
        p->x_step[1 + i] = s->x_step[3 + i] * s->axis[i].spread;
        p->to_step[1 + i] = s->w_step[3 + i];
    }
    p->side = p->gap = 1;
}

/* Lines that follow each other on both sides are one. */
static void join_lines(lam__conv_points *p) {
    for (int i = 2; i > 0 && p->apart == 1 && p->side == 1; i--) {
        if (p->dims[i] > 1 && (p->x_step[i] != p->dims[3] || p->to_step[i] != p->dims[3])) return;
        p->dims[3] *= p->dims[i];
        p->dims[i] = 1;
    }
}

/* ---- pieces ------------------------------------------------------------------------------------------------------ */

/* Elements of x from the first to the last one of a piece of so many lines. */
static int64_t reach(const lam__conv_points *p, int64_t lines) {
    return (lines - 1) * p->x_step[2] + (p->places - 1) * p->apart + 1;
}

/* How many lines a piece has: several that follow each other in the result, and none too far from the first in x; what
 * is spread is one vector of x. */
static void plan_pieces(lam__conv_points *p) {
    const int64_t lanes = p->loops->lanes, out = p->side == 1 ? p->dims[3] : p->end[1] * p->gap;
    p->places = least(p->dims[3], lanes);
    p->across = parts(p->dims[3], lanes);
    p->lines = 1;
    if (p->across == 1 && p->to_step[2] == out && (p->side == 1 ? p->x_step[2] > 0 : p->x_step[2] == p->places)) {
        p->lines = least(lanes / p->places, p->dims[2]);
        while (p->lines > 1 && reach(p, p->lines) > SOURCES * lanes) p->lines--;
    }
    p->down = parts(p->dims[2], p->lines);
}

static uint32_t first_lanes(int64_t count) {
    return count < 32 ? (1u << count) - 1 : ~0u;
}

/* Where vector `i` of those that lie over `count` elements begins: the last one ends with them. */
static int64_t vector_at(const lam__conv_points *p, int i, int64_t count) {
    const int64_t lanes = p->loops->lanes, last = count > lanes ? count - lanes : 0;
    return least(i * lanes, last);
}

/* Vectors of x, and where the lanes are in them. */
static void plan_sources(const lam__conv_points *p, lam__conv_pick *pick) {
    const int64_t lanes = p->loops->lanes, count = reach(p, p->lines), last = parts(count, lanes) - 1;
    int lane = 0;
    pick->second = 0;
    pick->sources = count > 2 * lanes ? 4 : count == p->lines * p->places ? 1 : 2;
    for (int i = 0; i < SOURCES; i++) pick->source[i] = vector_at(p, i, count);
    for (int64_t line = 0; line < p->lines; line++)
        for (int64_t place = 0; place < p->places; place++, lane++) {
            const int64_t at = line * p->x_step[2] + place * p->apart;
            const int64_t source = least((at >= lanes) + (at >= 2 * lanes) + (at >= 3 * lanes), last);
            pick->index[source / 2][lane] = (int8_t)(source % 2 * lanes + at - pick->source[source]);
            if (source > 1) pick->second |= 1u << lane;
        }
    pick->read = first_lanes(least(count, lanes));
    pick->kept = first_lanes(lane);
}

/* Vectors of a dilated operand's result, `rows` lines for those of a piece: all of these lines, which follow each
 * other, or `count` elements of each. */
static void plan_targets(const lam__conv_points *p, int64_t rows, int64_t count, lam__conv_pick *pick) {
    const int64_t lanes = p->loops->lanes;
    const bool whole = p->across == 1;
    int8_t lane[(SOURCES + 1) * MOST_LANES];
    memset(lane, -1, sizeof lane);
    for (int64_t line = 0; line < p->lines; line++)
        for (int64_t place = 0; place < p->places; place++)
            lane[line * p->gap * p->end[1] + place * p->side] = (int8_t)(line * p->places + place);
    if (whole) count = rows * p->end[1];
    pick->targets = SOURCES;
    pick->written = first_lanes(least(count, lanes));
    for (int i = 0; i < SOURCES; i++) {
        const int64_t row = whole ? 0 : least(i / 2, rows - 1), first = vector_at(p, whole ? i : i % 2, count);
        pick->target[i] = row * p->end[1] + first;
        memcpy(pick->spread[i], lane + (row > 0 ? SOURCES * lanes : first), (size_t)lanes);
    }
}

/* The kinds: those at the end of a line write an element less where that is of odd length, those at the end of a
 * picture no lines behind their own where it has none. */
static void plan_picks(lam__conv_points *p) {
    const int64_t below = p->dims[2] * p->gap - p->end[0], behind = p->dims[3] * p->side - p->end[1];
    p->pick[0].targets = 1;
    plan_sources(p, &p->pick[0]);
    p->last_kind = p->lowest_kind = 0;
    if (p->side == 1) return;
    p->last_kind = behind > 0 && p->across > 1 ? 1 : 0;
    p->lowest_kind = below > 0 ? 2 : 0;
    for (int kind = 0; kind <= p->last_kind + p->lowest_kind; kind++) {
        if (kind % 2 > p->last_kind) continue;
        p->pick[kind] = p->pick[0];
        plan_targets(p, p->lines * p->gap - (kind / 2 ? below : 0), p->places * p->side - (kind % 2 ? behind : 0),
                     &p->pick[kind]);
    }
}

/* ---- plan -------------------------------------------------------------------------------------------------------- */

/* Measured beside the other ways: a copy and a product of matrices are faster where most of the time goes to products,
 * and where there are very few for each element, unless pieces have several lines each; or, of a dilated operand, lines
 * are short. */
static bool is_worth(const lam__conv_points *p) {
    const lam__conv_case *s = &p->shape;
    const bool brief = p->lines > 1, many = s->o > MOST_FEATURES;
    if (p->sums) {
        const int64_t sums = s->n * s->o, places = p->dims[1] * p->dims[2] * p->dims[3];
        if (p->apart == 1) return places <= MOST_LANES * p->loops->lanes && sums > 1 && sums <= MOST_SUMS;
        return brief ? sums <= MOST_SUMS : sums > 1 && (s->c > 1 ? sums <= MOST_SUMS : sums < MOST_FEATURES);
    }
    if (p->side > 1 && p->across <= SHORT) return !many || s->c <= FEW_TERMS;
    if (p->side > 1) return !many && s->c >= FEW_TERMS;
    if (p->apart == 1) return true;
    if (brief) return !many && (s->c < MOST_FEATURES || s->o < MOST_FEATURES);
    return s->c > 1 && 2 * s->o <= MOST_FEATURES;
}

/* Chunks, of as many whole pictures as are listed together, or parts of a picture; and items. */
static void plan_items(lam__conv_points *p) {
    const lam__conv_case *s = &p->shape;
    const int64_t pieces = p->down * p->across;
    p->pictures = p->dims[0] * p->dims[1];
    p->cuts = parts(pieces, TOGETHER);
    p->together = p->cuts == 1 ? TOGETHER / pieces : 1;
    p->chunks = p->cuts == 1 ? parts(p->pictures, p->together) : p->pictures * p->cuts;
    p->each = p->sums ? PART : 1;
    p->parts = parts(p->chunks, p->each);
    p->items = s->groups * p->parts;
    const double products = (double)least(p->each, p->chunks) * TOGETHER * (double)p->loops->lanes * (double)s->o;
    p->cost = 20 + products * (double)(p->sums ? s->n : s->c) / 8;
    p->sum_bytes = (size_t)(s->n * s->o * p->loops->lanes * lam__item_bytes(p->dtype));
}

bool lam__conv_points_plan(const lam__conv_loops *loops, lam_dtype dtype, const lam__conv_case *s, const void *x,
                           const void *w, void *out, lam__conv_points *plan) {
    if (!loops->points || s->x_step[5] != 1) return false;
    const bool sums = !is_pointed(s);
    if (sums ? s->n * s->o > MOST_SUMS : is_product(loops, s)) return false;
    if (sums && (s->w_step[5] != 1 || !is_summed(s))) return false;
    plan->shape = *s;
    plan->dtype = dtype;
    plan->loops = loops;
    plan->x = x;
    plan->w = w;
    plan->out = out;
    plan->sums = sums;
    plan->apart = sums ? s->axis[2].spread : s->axis[2].stride;
    if (plan->apart > SOURCES - 1) return false;
    if (sums) plan_sums(plan);
    else plan_places(plan);
    join_lines(plan);
    plan_pieces(plan);
    if (!is_worth(plan)) return false;
    plan_picks(plan);
    plan_items(plan);
    return true;
}

/* ---- items ------------------------------------------------------------------------------------------------------- */

/* Pieces by kind. */
typedef struct listed {
    lam__conv_piece pieces[LAM__CONV_POINTS_KINDS][TOGETHER];
    int64_t count[LAM__CONV_POINTS_KINDS];
} listed;

static void clear(listed *l) {
    for (int kind = 0; kind < LAM__CONV_POINTS_KINDS; kind++) l->count[kind] = 0;
}

/* Pieces [first, end) of line `line` down a picture. */
static void list_line(const lam__conv_points *p, int64_t line, int64_t first, int64_t end, listed *l) {
    const int64_t lanes = p->loops->lanes, before = line * p->lines, lowest = line == p->down - 1;
    const int64_t from = lowest ? p->dims[2] - p->lines : before, across = lanes * p->apart, along = lanes * p->side;
    int kind = lowest ? p->lowest_kind : 0;
    lam__conv_piece next = {.x = from * p->x_step[2] + first * across,
                            .to = from * p->to_step[2] + first * along,
                            .lanes = p->pick->kept & ~first_lanes((before - from) * p->places)};
    lam__conv_piece *to = l->pieces[kind] + l->count[kind];
    int64_t plain = least(end, p->across - 1) - first;
    l->count[kind] += plain;
    for (; plain > 0; plain--, next.x += across, next.to += along) *to++ = next;
    if (end < p->across) return;
    const int64_t again = p->across * lanes - p->dims[3]; /* places of a line that is not short */
    if (p->across > 1) {
        next.x -= again * p->apart;
        next.to -= again * p->side;
        next.lanes &= ~first_lanes(again);
    }
    kind += p->last_kind;
    l->pieces[kind][l->count[kind]++] = next;
}

/* Pieces [first, end) of a picture. */
static void list(const lam__conv_points *p, int64_t first, int64_t end, listed *l) {
    int64_t line = first / p->across, at = first - line * p->across;
    clear(l);
    for (int64_t left = end - first; left > 0; line++) {
        const int64_t count = least(p->across - at, left);
        list_line(p, line, at, at + count, l);
        left -= count;
        at = 0;
    }
}

/* The same of one picture more. */
static void append(const lam__conv_points *p, const listed *one, int64_t picture, listed *l) {
    const int64_t example = p->dims[1] == 1 ? picture : picture / p->dims[1], plane = picture - example * p->dims[1];
    const int64_t x = example * p->x_step[0] + plane * p->x_step[1];
    const int64_t to = example * p->to_step[0] + plane * p->to_step[1];
    for (int kind = 0; kind < LAM__CONV_POINTS_KINDS; kind++) {
        const lam__conv_piece *from = one->pieces[kind];
        lam__conv_piece *next = l->pieces[kind] + l->count[kind];
        for (int64_t i = 0; i < one->count[kind]; i++)
            next[i] = (lam__conv_piece){from[i].x + x, from[i].to + to, from[i].lanes};
        l->count[kind] += one->count[kind];
    }
}

static void run_listed(const lam__conv_points *p, lam__conv_pointed *q, const listed *l) {
    for (int kind = 0; kind < LAM__CONV_POINTS_KINDS; kind++) {
        if (l->count[kind] == 0) continue;
        (p->sums ? p->loops->sums : p->loops->points)(q, &p->pick[kind], l->pieces[kind], l->count[kind]);
        q->add = true;
    }
}

/* A chunk: some whole pictures, whose pieces are those of `one`, or a part of a picture. */
static void run_chunk(const lam__conv_points *p, int64_t chunk, listed *one, lam__conv_pointed *q) {
    const int64_t picture = p->cuts == 1 ? chunk * p->together : chunk / p->cuts;
    listed l;
    clear(&l);
    if (p->cuts > 1) {
        const int64_t first = (chunk - picture * p->cuts) * TOGETHER;
        list(p, first, least(first + TOGETHER, p->down * p->across), one);
    }
    for (int64_t i = picture; i < least(picture + p->together, p->pictures); i++) append(p, one, i, &l);
    run_listed(p, q, &l);
}

/* What an item has, from chunk *first on. */
static lam__conv_pointed operands(const lam__conv_points *p, int64_t i, int64_t *first) {
    const lam__conv_case *s = &p->shape;
    const int64_t item = lam__item_bytes(p->dtype), group = s->groups == 1 ? 0 : i / p->parts;
    lam__conv_pointed q = {.x = p->x + group * s->x_step[0] * item,
                           .w = p->w + group * s->w_step[0] * item,
                           .to = p->out + group * s->out_step[0] * item,
                           .terms = p->sums ? s->n : s->c,
                           .features = s->o,
                           .x_step = s->x_step[p->sums ? 1 : 2],
                           .to_step = s->out_step[2],
                           .w_term = s->w_step[2],
                           .w_feature = s->w_step[1]};
    if (p->sums) q.to = p->room + (size_t)i * p->sum_bytes;
    *first = (i - group * p->parts) * p->each;
    return q;
}

void lam__conv_points_run(const lam__conv_points *p, int64_t begin, int64_t end) {
    listed one;
    if (p->cuts == 1) list(p, 0, p->down * p->across, &one);
    for (int64_t i = begin; i < end; i++) {
        int64_t chunk;
        lam__conv_pointed q = operands(p, i, &chunk);
        const int64_t last = least(chunk + p->each, p->chunks);
        for (; chunk < last; chunk++) run_chunk(p, chunk, &one, &q);
    }
}

/* Adds vectors `from` to vectors `to`. */
static void add(const lam__conv_points *p, char *to, const char *from) {
    const int64_t count = (int64_t)p->sum_bytes / lam__item_bytes(p->dtype);
    for (int64_t i = 0; i < count; i++) {
        if (p->dtype == LAM_F64) ((double *)(void *)to)[i] += ((const double *)(const void *)from)[i];
        else ((float *)(void *)to)[i] += ((const float *)(const void *)from)[i];
    }
}

void lam__conv_points_fold(const lam__conv_points *p) {
    const lam__conv_case *s = &p->shape;
    for (int64_t group = 0; group < s->groups; group++) {
        char *sums = p->room + (size_t)(group * p->parts) * p->sum_bytes;
        for (int64_t i = 1; i < p->parts; i++) add(p, sums, sums + (size_t)i * p->sum_bytes);
        p->loops->fold(p->out + group * s->out_step[0] * lam__item_bytes(p->dtype), sums, s->n * s->o);
    }
}
