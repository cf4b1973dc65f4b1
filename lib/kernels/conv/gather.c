/* Products of matrices and the places that gather them: see gather.h. An item has some places of every phase along the
 * first axis, and makes the products of all elements of x that these meet; those that two items meet are made twice.
 * Items are cut by the operands alone, so that bits do not depend on who does them. */
#include "lib/kernels/conv/gather.h"

#include <string.h>

#include "lib/kernels/conv/loops.h"
#include "lib/kernels/item.h"

enum {
    PRODUCTS = 1 << 17,      /* bytes of an item: they stay in the second cache */
    MOST_PRODUCTS = 1 << 20, /* where a few places alone have more */
    AHEAD = 4,               /* places of an item are so many times those that it meets besides */
    SOME_TERMS = 8,          /* of a product: least_terms says where each of these is meant */
    ONE_PHASE = 2,           /* times as many */
    MANY_TERMS = 16,         /* for each feature of the result */
    MOST_TERMS = 32,         /* likewise */
    MANY_PHASES = 16,        /* each of them would copy all of x */
    SOME_GATHERED = 4,       /* products that a place gathers of each feature, on average: up to these are few, */
    MANY_GATHERED = 8,       /* up to these many */
    MOST_PHASES = 1 << 10,   /* in the list */
    VECTOR = 16,             /* bytes */
    LONG = 8,                /* elements of a sum at a time */
    SIDE = LAM__CONV_SIDE,   /* lines at most that are woven */
    ALIGN = 64
};

/* The places of an item, and how the products of what they meet lie. */
typedef struct reach {
    int64_t first[3], end[3]; /* places of a phase */
    int64_t x[3];             /* the first element of x that has products */
    int64_t step[3];          /* of products, along the axes of x */
    int64_t columns;          /* products of one weight */
} reach;

/* What a line of places meets: of windows' axes 0 and 1 a range each, of the last one everything. */
typedef struct taps {
    int64_t first[2], end[2];
    int64_t count, low, high; /* places [low, high) meet all of them */
    int64_t *at, *shift;      /* products from the line's own place on; elements of x along the last axis */
} taps;

/* The places of the window along axis i that meet elements at place `at`. */
static void meets(const lam__conv_axis *a, int64_t at, int64_t *first, int64_t *end) {
    int64_t k = 0;
    while (k < a->window && at + k * a->spread < a->low) k++;
    *first = k;
    while (k < a->window && at + k * a->spread - a->low < a->size) k++;
    *end = k;
}

/* Lists what places (at[0], at[1], r->first[2] and the following) meet; neighbouring lines mostly meet the same. */
static void list_taps(taps *t, const lam__conv_gathered *g, const reach *r, const int64_t at[2], int64_t count) {
    const lam__conv_axis *a = g->shape.axis;
    const int64_t *row = g->shape.w_step + 3;
    int64_t first[2], end[2];
    for (int i = 0; i < 2; i++) meets(&a[i], at[i], &first[i], &end[i]);
    if (!memcmp(end, t->end, sizeof end) && !memcmp(first, t->first, sizeof first)) return;
    memcpy(t->first, first, sizeof first);
    memcpy(t->end, end, sizeof end);
    t->count = t->low = 0;
    t->high = count;
    for (int64_t k0 = first[0]; k0 < end[0]; k0++)
        for (int64_t k1 = first[1]; k1 < end[1]; k1++)
            for (int64_t k2 = 0; k2 < a[2].window; k2++) {
                const int64_t move = k2 * a[2].spread - a[2].low, shift = r->first[2] + move;
                t->at[t->count] = (g->row + k0 * row[0] + k1 * row[1] + k2 * row[2]) * r->columns +
                                  (k0 * a[0].spread - a[0].low) * r->step[0] +
                                  (k1 * a[1].spread - a[1].low) * r->step[1] + move;
                t->shift[t->count++] = shift;
                if (-shift > t->low) t->low = -shift;
                if (a[2].size - shift < t->high) t->high = a[2].size - shift;
            }
    if (t->low >= t->high || t->count == 0) t->low = t->high = 0;
}

#define T       double
#define NAME(f) f##_f64
#include "lib/kernels/conv/gather_type.h"

#define T       float
#define NAME(f) f##_f32
#include "lib/kernels/conv/gather_type.h"

static int64_t up(int64_t n) {
    return (n + ALIGN - 1) / ALIGN * ALIGN;
}

static int64_t floor_quotient(int64_t a, int64_t b) {
    return a / b - (a % b < 0);
}

/* Of the window's axes, as steps of rows of products. */
static lam__conv_case by_rows(const lam__conv_case *s) {
    lam__conv_case rows = *s;
    rows.w_step[5] = 1;
    rows.w_step[4] = s->axis[2].window;
    rows.w_step[3] = s->axis[1].window * s->axis[2].window;
    return rows;
}

/* Items `chunk` of p: from where to where along its axis, of places and of x. */
static void range(const lam__conv_gather *p, int64_t chunk, int64_t *first, int64_t *end, int64_t *x, int64_t *x_end) {
    const lam__conv_axis *a = &p->shape.axis[p->axis];
    *first = chunk * p->chunk;
    *end = *first + p->chunk;
    *x = *first - p->before < 0 ? 0 : *first - p->before;
    *x_end = *end + p->behind < a->size ? *end + p->behind : a->size;
    if (*x_end < *x) *x_end = *x;
}

/* out[o and the window, elements of x] = w[o and the window, c] x[c, elements]; elements [x, x_end) along the axis.
 * Weights are packed where there is room for them already. */
static lam__product product_of(const lam__conv_gather *p, int64_t group, int64_t n, int64_t x, int64_t x_end) {
    const lam__conv_case *s = &p->shape;
    const int64_t bytes = lam__item_bytes(p->dtype), at = group * s->x_step[0] + n * s->x_step[1];
    return (lam__product){.batch = 1,
                          .m = s->o * p->window,
                          .k = s->c,
                          .n = (x_end - x) * p->rest,
                          .x = p->packed ? p->packed + group * s->o * p->window * s->c * bytes : NULL,
                          .x_row = s->c,
                          .x_col = 1,
                          .y = p->x + (at + x * s->x_step[3 + p->axis]) * bytes,
                          .y_row = s->x_step[2],
                          .y_col = p->step};
}

/* The step of all axes of x taken as one; 0: they do not join. */
static int64_t joined(const lam__conv_case *s) {
    int64_t count = 1, step = 1;
    for (int i = LAM__CONV_AXES - 1; i >= 0; i--) {
        if (s->axis[i].size == 1) continue;
        if (count == 1) step = s->x_step[3 + i];
        else if (s->x_step[3 + i] != step * count) return 0;
        count *= s->axis[i].size;
    }
    return step;
}

/* Terms of a product, which are features of x, from which on that is faster than to add them up in phases, where
 * features of the result do not fill vectors:
 *   one feature, or several phases whose places gather few   SOME_TERMS; one phase copies little, and wants ONE_PHASE
 *                                                            times as many
 *   otherwise, for each feature                              MANY_TERMS; MOST_TERMS where places gather very many */
static int64_t least_terms(int64_t features, double phases, double gathered) {
    if (features == 1 || (phases > 1 && gathered <= SOME_GATHERED))
        return phases > 1 ? SOME_TERMS : ONE_PHASE * SOME_TERMS;
    return features * (gathered > MANY_GATHERED ? MOST_TERMS : MANY_TERMS);
}

/* Measured beside phases: worth it where features of the result would not fill vectors and each product is a sum of
 * some, or no place meets more than one element of a feature, so that nothing is added; and with any number of features
 * where such phases are many. */
static bool is_worth(lam_dtype dtype, const lam__conv_case *s) {
    bool single = true;
    double phases = 1, gathered = 1, met = 1; /* met: places for each element of x, in a phase */
    if (dtype != LAM_F64 && dtype != LAM_F32) return false;
    for (int i = 0; i < LAM__CONV_AXES; i++) {
        const lam__conv_axis *a = &s->axis[i];
        if (a->stride != 1 || a->size == 0) return false;
        single = single && a->window <= a->gap;
        phases *= (double)a->gap;
        gathered *= (double)a->window / (double)a->gap;
        met *= (double)a->out / (double)a->gap / (double)a->size;
    }
    if (phases > MOST_PHASES || 2 * met < 1) return false;
    if (4 * s->o < 3 * lam__conv_loops_of(dtype)->lanes)
        return (single && phases > 1) || s->c >= least_terms(s->o, phases, gathered);
    return single && phases >= MANY_PHASES;
}

/* Chunks along the first axis that has more than one place. */
static bool plan_chunks(lam__conv_gather *p) {
    const lam__conv_case *s = &p->shape;
    p->axis = 0;
    while (p->axis < 2 && s->axis[p->axis].size == 1 && s->axis[p->axis].out == 1) p->axis++;
    const lam__conv_axis *a = &s->axis[p->axis];
    p->rest = 1;
    for (int i = p->axis + 1; i < LAM__CONV_AXES; i++) p->rest *= s->axis[i].size;
    p->before = -floor_quotient(-a->low, a->gap);
    p->behind = floor_quotient(a->gap - 1 + (a->window - 1) * a->spread - a->low, a->gap);
    const int64_t places = (a->out + a->gap - 1) / a->gap, besides = p->before + p->behind;
    const double each = (double)s->o * (double)p->window * (double)p->rest * (double)lam__item_bytes(p->dtype);
    p->chunk = places;
    if ((double)(places + besides) * each > PRODUCTS) {
        const double room = PRODUCTS / each - (double)besides;
        const int64_t least = AHEAD * besides + 1;
        p->chunk = room > (double)least ? (int64_t)room : least;
        if (p->chunk > places) p->chunk = places;
        if ((double)(p->chunk + besides) * each > MOST_PRODUCTS) return false;
    }
    p->chunks = (places + p->chunk - 1) / p->chunk;
    p->items = s->groups * s->n * p->chunks;
    p->cost = 20 + (double)(p->chunk + besides) * each * ((double)s->c / 8 + 1) / (double)lam__item_bytes(p->dtype);
    return true;
}

/* Products, a line, and what the product of each chunk needs: chunks at the ends differ, and may be done otherwise. */
static void plan_room(lam__conv_gather *p) {
    const int64_t item = lam__item_bytes(p->dtype);
    int64_t columns = 0;
    size_t most = 0;
    for (int64_t i = 0; i < p->chunks; i++) {
        int64_t first, end, x, x_end;
        lam__matmul w;
        range(p, i, &first, &end, &x, &x_end);
        const lam__product product = product_of(p, 0, 0, x, x_end);
        if (product.n > columns) columns = product.n;
        if (product.n > 0 && lam__kernels_matmul_plan(p->dtype, &product, &w) && w.room > most) most = w.room;
    }
    const int64_t products = up((p->shape.o * p->window * columns + LONG) * item);
    p->room_line = (size_t)products;
    const lam__conv_axis *last = &p->shape.axis[2];
    p->line = LONG + (p->axis == 2 ? p->chunk : (last->out + last->gap - 1) / last->gap);
    p->room_matmul = p->room_line + (size_t)up(SIDE * p->line * item);
    p->room_taps = p->room_matmul + (size_t)up((int64_t)most);
    p->room = p->room_taps + (size_t)up(SIDE * 2 * p->window * (int64_t)sizeof(int64_t));
}

bool lam__conv_gather_plan(lam_dtype dtype, const lam__conv_case *s, const void *x, const void *w, void *out,
                           lam__conv_gather *plan) {
    if (!is_worth(dtype, s) || s->c == 0) return false;
    *plan = (lam__conv_gather){.shape = *s, .dtype = dtype, .x = x, .w = w, .out = out, .step = joined(s)};
    plan->window = s->axis[0].window * s->axis[1].window * s->axis[2].window;
    if (plan->step == 0 || !plan_chunks(plan)) return false;
    plan_room(plan);
    plan->packed_bytes = (size_t)up(s->groups * s->o * plan->window * s->c * lam__item_bytes(dtype));
    plan->phases_bytes = (size_t)up(lam__conv_phases(s) * (int64_t)sizeof(lam__conv_gathered));
    return true;
}

void lam__conv_gather_pack(lam__conv_gather *p) {
    const lam__conv_case *s = &p->shape, rows = by_rows(s);
    const lam__conv_axis *a = s->axis;
    const int64_t dims[6] = {s->groups, s->o, a[0].window, a[1].window, a[2].window, s->c};
    const int64_t from[6] = {s->w_step[0], s->w_step[1], s->w_step[3], s->w_step[4], s->w_step[5], s->w_step[2]};
    int64_t to[6] = {0, 0, 0, 0, 0, 1};
    for (int i = 4; i >= 0; i--) to[i] = to[i + 1] * dims[i + 1];
    lam__kernels_copy(6, dims, p->dtype, p->packed, to, p->dtype, p->w, from);
    const int64_t phases = lam__conv_phases(s);
    p->count = 0;
    for (int64_t i = 0; i < phases; i++) {
        lam__conv_gathered *g = &p->phases[p->count];
        if (lam__conv_phase(&rows, i, &g->shape, &g->row, &g->out)) p->count++;
    }
    p->gaps = p->count < phases;
    p->side = 1;
    if (a[2].gap <= SIDE && !p->gaps && s->out_step[5] == 1 && a[2].out >= a[2].gap) p->side = (int)a[2].gap;
}

void lam__conv_gather_run(const lam__conv_gather *p, int64_t begin, int64_t end, void *room) {
    const lam__conv_case *s = &p->shape;
    const int64_t bytes = lam__item_bytes(p->dtype);
    void *line = (char *)room + p->room_line;
    taps lists[SIDE];
    for (int i = 0; i < SIDE; i++) {
        lists[i].at = (int64_t *)(void *)((char *)room + p->room_taps) + 2 * i * p->window;
        lists[i].shift = lists[i].at + p->window;
    }
    for (int64_t i = begin; i < end; i++) {
        const int64_t n = i / p->chunks % s->n, group = i / p->chunks / s->n;
        reach r = {.end = {INT64_MAX, INT64_MAX, INT64_MAX}};
        lam__matmul w;
        int64_t x_end;
        range(p, i % p->chunks, &r.first[p->axis], &r.end[p->axis], &r.x[p->axis], &x_end);
        lam__product product = product_of(p, group, n, r.x[p->axis], x_end);
        product.out = room;
        r.columns = product.n;
        r.step[2] = 1;
        r.step[1] = p->axis == 2 ? 0 : s->axis[2].size;
        r.step[0] = p->axis == 2 ? 0 : r.step[1] * s->axis[1].size;
        if (product.n > 0 && lam__kernels_matmul_plan(p->dtype, &product, &w))
            lam__kernels_matmul_part(&w, 0, w.product.batch, 0, w.product.m, (char *)room + p->room_matmul);
        char *out = p->out + (group * s->out_step[0] + n * s->out_step[1]) * bytes;
        for (int64_t k = 0; k < p->count; k += p->side) {
            if (p->dtype == LAM_F64) phases_f64(p, &p->phases[k], p->side, &r, room, out, line, lists);
            else phases_f32(p, &p->phases[k], p->side, &r, room, out, line, lists);
        }
    }
}
