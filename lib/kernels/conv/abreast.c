/* Groups side by side: see abreast.h. An item has some places along the first axis, of one example and as many groups
 * as a vector has lanes; or of as many examples, which are groups here, with the same weights. All that these places
 * meet is turned into a block with its zeros around it, features of x in panels; then sums are made phase by phase, and
 * turned back into lines of the result. Cuts follow from the operands alone, so that bits do not depend on who does an
 * item. */
#include "lib/kernels/conv/abreast.h"

#include <string.h>

#include "lib/kernels/conv/loops.h"
#include "lib/kernels/item.h"

enum {
    HELD = 1 << 17,        /* bytes of x and of results of an item: they stay in the second cache */
    MOST_HELD = 1 << 20,   /* where a few places of one feature alone have more */
    AHEAD = 4,             /* places of an item are so many times those that it meets besides */
    MOST_ROWS = 512,       /* of the contraction, summed up before they are added to what is there */
    MOST_PHASES = 1 << 10, /* in the list */
    LONG_LINES = 3,        /* vectors of places */
    LONG_ENOUGH = 3,       /* halves of a vector of places of a phase, where vectors are short */
    SOME_WINDOW = 9,       /* products of a place and a feature of x, */
    LONG_WINDOW = 25,      /* many of them */
    MOST_SUMMED = 1 << 22, /* results of all features */
    ALIGN = 64
};

static int64_t up(int64_t n) {
    return (n + ALIGN - 1) / ALIGN * ALIGN;
}

static int64_t parts(int64_t n, int64_t most) {
    return (n + most - 1) / most;
}

static int64_t least(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static int64_t volume(const int64_t dims[LAM__CONV_AXES]) {
    return dims[0] * dims[1] * dims[2];
}

/* Elements of w, and of the results in an item's room, that the phase begins with. The results of all phases lie there
 * as [o, places, groups]. */
static bool phase_of(const lam__conv_abreast *p, int64_t i, lam__conv_case *phase, int64_t *w, int64_t *put) {
    lam__conv_case rooms = p->shape;
    const int64_t lanes = p->loops->lanes;
    rooms.out_step[5] = lanes;
    rooms.out_step[4] = lanes * (p->axis == 2 ? 0 : rooms.axis[2].out);
    rooms.out_step[3] = p->axis > 0 ? 0 : rooms.out_step[4] * rooms.axis[1].out;
    return lam__conv_phase(&rooms, i, phase, w, put);
}

/* Places of a phase along axis i that an item has at most. */
static int64_t places_of(const lam__conv_abreast *p, const lam__conv_case *phase, int i) {
    return i == p->axis ? least(p->chunk, phase->axis[i].out) : phase->axis[i].out;
}

/* ---- plan -------------------------------------------------------------------------------------------------------- */

/* Vectors of groups, or of examples, are as good as full, and those of features would not be. */
static bool fills(const lam__conv_loops *loops, const lam__conv_case *s, int64_t groups) {
    const lam__conv_axis *a = s->axis;
    return loops->abreast[0] && s->n * s->c * s->o * a[0].out * a[1].out * a[2].out != 0 &&
           a[0].window * a[1].window * a[2].window > 1 && lam__conv_phases(s) <= MOST_PHASES &&
           4 * groups >= 3 * loops->lanes * parts(groups, loops->lanes) && 4 * s->o < 3 * loops->lanes;
}

/* Lines of the result that two or three phases make fill short vectors, and are woven where they belong (few.c) in less
 * time than they are turned. */
static bool is_woven(const lam__conv_loops *loops, const lam__conv_axis *last) {
    const int64_t period = lam__conv_period(last);
    return loops->widest <= 2 && period > 1 && period <= LAM__CONV_WOVEN &&
           2 * parts(last->out, period) >= LONG_ENOUGH * loops->lanes;
}

/* Long lines of places fill vectors too, without being turned. */
static bool is_worth(const lam__conv_loops *loops, const lam__conv_case *s) {
    const lam__conv_axis *last = &s->axis[LAM__CONV_AXES - 1];
    return !is_woven(loops, last) && fills(loops, s, s->groups) &&
           (last->stride > 1 || last->out < LONG_LINES * loops->lanes || last->out <= last->window ||
            lam__conv_phases(s) > 1);
}

/* Measured beside the other ways: lines of places and of the window are no more than half a vector, so that most of it
 * would be empty. */
static bool examples_are_worth(const lam__conv_loops *loops, const lam__conv_case *s) {
    const lam__conv_axis *a = s->axis, *last = &a[LAM__CONV_AXES - 1];
    return s->groups == 1 && a[0].out * a[1].out * last->out > 1 && 2 * last->window <= loops->lanes &&
           2 * parts(last->out, lam__conv_period(last)) <= loops->lanes && fills(loops, s, s->n);
}

/* What all phases of the first chunk meet, along each axis. False: there is nothing. */
static bool find_extents(lam__conv_abreast *p) {
    int64_t end[LAM__CONV_AXES] = {0}, w, put;
    lam__conv_case phase;
    p->count = p->rows = 0;
    for (int64_t i = 0, n = lam__conv_phases(&p->shape); i < n; i++) {
        if (!phase_of(p, i, &phase, &w, &put)) continue;
        int64_t window = 1;
        for (int k = 0; k < LAM__CONV_AXES; k++) {
            const lam__conv_axis *a = &phase.axis[k];
            const int64_t last = (places_of(p, &phase, k) - 1) * a->stride + (a->window - 1) * a->spread - a->low;
            if (p->count == 0 || -a->low < p->first[k]) p->first[k] = -a->low;
            if (p->count == 0 || last >= end[k]) end[k] = last + 1;
            window *= a->window;
        }
        p->move = p->chunk * phase.axis[p->axis].stride;
        p->rows += window;
        p->count++;
    }
    for (int k = 0; k < LAM__CONV_AXES; k++) p->extent[k] = end[k] - p->first[k];
    return p->count > 0;
}

/* Bytes of the block of one feature, and of the results, with this many places of each phase along the axis. */
static bool sizes_of(lam__conv_abreast *p, int64_t chunk, double *block, double *results) {
    const lam__conv_axis *a = p->shape.axis;
    const double vector = (double)p->loops->lanes * (double)lam__item_bytes(p->dtype);
    p->chunk = chunk;
    if (!find_extents(p)) return false;
    *block = *results = vector;
    for (int i = 0; i < LAM__CONV_AXES; i++) {
        *block *= (double)p->extent[i];
        *results *= (double)(i == p->axis ? least(chunk * p->period, a[i].out) : a[i].out);
    }
    *results *= (double)p->shape.o;
    return true;
}

/* As many places as can be held with all features of x, if these are many times those that two items meet; else panels
 * of features. */
static bool plan_chunks(lam__conv_abreast *p) {
    const lam__conv_case *s = &p->shape;
    double one, block, results;
    p->axis = 0;
    while (p->axis < 2 && s->axis[p->axis].out == 1) p->axis++;
    const int64_t out = s->axis[p->axis].out;
    p->period = lam__conv_period(&s->axis[p->axis]);
    const int64_t places = parts(out, p->period);
    if (!sizes_of(p, places, &block, &results)) return false;
    const double all = block * (double)s->c + results;
    p->chunks = 1;
    if (all > HELD) {
        sizes_of(p, 1, &one, &one);
        const int64_t ahead = AHEAD * (p->extent[p->axis] - p->move) / p->move + 1; /* move is that of one place here */
        const int64_t chunk = (int64_t)((double)places * HELD / all) + 1;
        p->chunks = parts(places, least(chunk < ahead ? ahead : chunk, places));
        sizes_of(p, parts(places, p->chunks), &block, &results);
    }
    if (block + results > MOST_HELD) return false;
    const int64_t panel = block + results > HELD ? 1 : (int64_t)((HELD - results) / block);
    p->panel = parts(s->c, parts(s->c, panel));
    p->results = p->chunk * p->period < out ? p->chunk * p->period : out;
    for (int i = p->axis + 1; i < LAM__CONV_AXES; i++) p->results *= s->axis[i].out;
    return true;
}

/* Offsets of places and results of all phases of a chunk, and of rows of a panel; behind the list of phases. */
static size_t tables(const lam__conv_abreast *p) {
    return (size_t)(2 * p->results + p->rows * p->panel) * sizeof(int64_t);
}

/* Groups fill the lanes of a vector, a block of them at a time. The rooms of an item lie one behind the other, each
 * where the one before ends. */
static bool plan_groups(const lam__conv_loops *loops, lam_dtype dtype, const lam__conv_case *s, bool same,
                        const void *x, const void *w, void *out, lam__conv_abreast *plan) {
    const int64_t item = lam__item_bytes(dtype), lanes = loops->lanes;
    *plan = (lam__conv_abreast){.shape = *s, .dtype = dtype, .loops = loops, .x = x, .w = w, .out = out, .same = same};
    if (!plan_chunks(plan)) return false;
    plan->gaps = plan->count < lam__conv_phases(s);
    plan->blocks = parts(s->groups, lanes);
    plan->wide = parts(s->o, parts(s->o, LAM__CONV_FEW));
    plan->items = plan->blocks * s->n * plan->chunks;
    plan->packs = (same ? 1 : plan->blocks) * s->c;
    const double terms = (double)plan->rows * (double)s->c / (double)lam__conv_phases(s);
    plan->cost = 20 + (double)plan->results * (double)lanes * (double)s->o * (1 + terms / 8);
    plan->packed_bytes = (size_t)up(plan->packs * plan->rows * s->o * (same ? 1 : lanes) * item);
    plan->phases_bytes = (size_t)up(plan->count * (int64_t)sizeof(lam__conv_abreast_phase) + (int64_t)tables(plan));
    plan->room_lines = (size_t)up(plan->panel * volume(plan->extent) * lanes * item);
    plan->room_out = plan->room_lines + (size_t)up(plan->extent[1] * plan->extent[2] * lanes * item);
    plan->room = plan->room_out + (size_t)up(plan->results * s->o * lanes * item);
    return true;
}

bool lam__conv_abreast_plan(const lam__conv_loops *loops, lam_dtype dtype, const lam__conv_case *s, const void *x,
                            const void *w, void *out, lam__conv_abreast *plan) {
    if ((dtype != LAM_F64 && dtype != LAM_F32) || !is_worth(loops, s)) return false;
    return plan_groups(loops, dtype, s, false, x, w, out, plan);
}

bool lam__conv_abreast_examples(const lam__conv_loops *loops, lam_dtype dtype, const lam__conv_case *s, const void *x,
                                const void *w, void *out, lam__conv_abreast *plan) {
    lam__conv_case groups = *s;
    if ((dtype != LAM_F64 && dtype != LAM_F32) || !examples_are_worth(loops, s)) return false;
    groups.groups = s->n;
    groups.n = 1;
    groups.x_step[0] = s->x_step[1];
    groups.w_step[0] = 0;
    groups.out_step[0] = s->out_step[1];
    return plan_groups(loops, dtype, &groups, true, x, w, out, plan);
}

/* Measured beside the other ways: lines do not fill vectors, and windows are long enough to be worth the sum of what
 * all lanes have; half of the lanes are enough where lines are shorter still. */
static bool sums_are_worth(const lam__conv_loops *loops, const lam__conv_case *s) {
    const lam__conv_axis *a = s->axis, *last = &a[LAM__CONV_AXES - 1];
    const int64_t lanes = loops->lanes, window = a[0].window * a[1].window * last->window;
    if (s->groups != 1 || 2 * s->c < lanes || 4 * s->o >= 3 * lanes) return false;
    const int64_t all = lanes * parts(s->c, lanes);
    if (!loops->abreast[0] || 2 * s->c < all || lam__conv_phases(s) > 1) return false;
    if (window < SOME_WINDOW || a[1].out * last->out == 1 || last->window >= lanes || last->out >= lanes) return false;
    const bool full = 4 * s->c >= 3 * all, steps = last->stride > 1, one = s->o == 1;
    if (last->out <= 2 * last->window)
        return full ||
               (last->window >= last->out && (one ? s->n > LONG_LINES : last->spread > 1 && 2 * last->window <= lanes));
    return full && (window >= LONG_WINDOW ? steps == one : steps && one && 2 * last->out <= lanes);
}

bool lam__conv_abreast_summed(const lam__conv_loops *loops, lam_dtype dtype, const lam__conv_case *s, const void *x,
                              const void *w, void *out, lam__conv_abreast *plan) {
    lam__conv_case groups = *s;
    if ((dtype != LAM_F64 && dtype != LAM_F32) || !sums_are_worth(loops, s)) return false;
    if ((double)s->c * (double)s->n * (double)s->out_step[1] > MOST_SUMMED) return false;
    groups.groups = s->c;
    groups.c = 1;
    groups.x_step[0] = s->x_step[2];
    groups.w_step[0] = s->w_step[2];
    groups.out_step[0] = s->n * s->out_step[1];
    return plan_groups(loops, dtype, &groups, false, x, w, out, plan);
}

/* ---- tables and weights ------------------------------------------------------------------------------------------ */

/* Places along the axis that is cut come first, so a chunk with fewer of them has the first ones of the table. */
static void list_places(const lam__conv_abreast *p, const lam__conv_case *phase, const int64_t step[3], int64_t put,
                        int64_t *at, int64_t *to) {
    int64_t n[LAM__CONV_AXES], i = 0;
    for (int k = 0; k < LAM__CONV_AXES; k++) n[k] = places_of(p, phase, k);
    const lam__conv_axis *a = phase->axis;
    for (int64_t t0 = 0; t0 < n[0]; t0++)
        for (int64_t t1 = 0; t1 < n[1]; t1++)
            for (int64_t t2 = 0; t2 < n[2]; t2++, i++) {
                const int64_t t[] = {t0, t1, t2};
                at[i] = 0;
                to[i] = put;
                for (int k = 0; k < LAM__CONV_AXES; k++) {
                    at[i] += (t[k] * a[k].stride - a[k].low - p->first[k]) * step[k];
                    to[i] += t[k] * phase->out_step[3 + k];
                }
            }
}

static void list_rows(const lam__conv_abreast *p, const lam__conv_case *phase, const int64_t step[3], int64_t *row) {
    const lam__conv_axis *a = phase->axis;
    const int64_t feature = volume(p->extent) * p->loops->lanes;
    for (int64_t c = 0; c < p->panel; c++)
        for (int64_t k0 = 0; k0 < a[0].window; k0++)
            for (int64_t k1 = 0; k1 < a[1].window; k1++)
                for (int64_t k2 = 0; k2 < a[2].window; k2++)
                    *row++ = c * feature + k0 * a[0].spread * step[0] + k1 * a[1].spread * step[1] +
                             k2 * a[2].spread * step[2];
}

/* Behind the list of phases lie the tables of each: its places in the block and in the results, then its rows. */
void lam__conv_abreast_list(lam__conv_abreast *p) {
    const int64_t lanes = p->loops->lanes, step[] = {p->extent[1] * p->extent[2] * lanes, p->extent[2] * lanes, lanes};
    int64_t *table = (int64_t *)(void *)(p->phases + p->count), put, packed = 0;
    lam__conv_abreast_phase *g = p->phases;
    for (int64_t i = 0, n = lam__conv_phases(&p->shape); i < n; i++) {
        lam__conv_case phase;
        int64_t places = 1, w;
        if (!phase_of(p, i, &phase, &w, &put)) continue; /* there is no room for it in the list */
        const lam__conv_axis *a = phase.axis;
        g->shape = phase;
        g->w = w;
        for (int k = 0; k < LAM__CONV_AXES; k++) places *= places_of(p, &g->shape, k);
        g->window = a[0].window * a[1].window * a[2].window;
        g->packed = packed;
        list_places(p, &g->shape, step, put, table, table + places);
        g->at = table, g->put = table + places, g->row = table + 2 * places;
        table += 2 * places;
        list_rows(p, &g->shape, step, table);
        table += p->panel * g->window;
        packed += g->window;
        g++;
    }
}

/* Groups of a block. */
static int64_t groups_of(const lam__conv_abreast *p, int64_t block) {
    return least(p->loops->lanes, p->shape.groups - block * p->loops->lanes);
}

/* Weights of features [feature, feature + wide) of a block and phase: [c, window, features, groups], or without groups
 * where these have the same. */
static char *packed_at(const lam__conv_abreast *p, const lam__conv_abreast_phase *g, int64_t block, int64_t feature,
                       int64_t c) {
    const lam__conv_case *s = &p->shape;
    const int64_t wide = least(p->wide, s->o - feature);
    if (p->same) block = 0;
    const int64_t rows = (block * p->rows + g->packed) * s->c * s->o + g->window * (s->c * feature + c * wide);
    return p->packed + rows * (p->same ? 1 : p->loops->lanes) * lam__item_bytes(p->dtype);
}

/* One feature of both sides. Lanes without a group are zero. */
static void pack_window(const lam__conv_abreast *p, const lam__conv_abreast_phase *g, int64_t groups, int64_t wide,
                        const char *w, char *to) {
    const lam__conv_axis *a = g->shape.axis;
    const int64_t *step = g->shape.w_step, item = lam__item_bytes(p->dtype), row = wide * p->loops->lanes;
    const lam__turn *turn = p->loops->turn(item);
    const bool joined = step[4] == a[2].window * step[5];
    const int64_t lines = joined ? 1 : a[1].window, count = joined ? a[1].window * a[2].window : a[2].window;
    for (int64_t k0 = 0; k0 < a[0].window; k0++)
        for (int64_t k1 = 0; k1 < lines; k1++, to += count * row * item) {
            for (int64_t i = 0; groups < p->loops->lanes && i < count; i++)
                memset(to + i * row * item, 0, (size_t)(p->loops->lanes * item));
            turn->grid(count, groups, w + (k0 * step[3] + k1 * step[4]) * item, step[5], step[0], to, row);
        }
}

/* Features [begin, end) of x, where all groups have the same weights. */
static void pack_same(const lam__conv_abreast *p, int64_t begin, int64_t end) {
    const int64_t *step = p->shape.w_step, item = lam__item_bytes(p->dtype);
    for (const lam__conv_abreast_phase *g = p->phases; g < p->phases + p->count; g++)
        for (int64_t o = 0; o < p->shape.o; o += p->wide) {
            const lam__conv_axis *a = g->shape.axis;
            const int64_t *window = g->shape.w_step + 3, wide = least(p->wide, p->shape.o - o);
            const int64_t dims[] = {end - begin, a[0].window, a[1].window, a[2].window, wide};
            const int64_t from[] = {step[2], window[0], window[1], window[2], step[1]};
            const int64_t to[] = {g->window * wide, dims[2] * dims[3] * wide, dims[3] * wide, wide, 1};
            const char *w = p->w + (begin * step[2] + o * step[1] + g->w) * item;
            lam__kernels_copy(5, dims, p->dtype, packed_at(p, g, 0, o, begin), to, p->dtype, w, from);
        }
}

void lam__conv_abreast_pack(const lam__conv_abreast *p, int64_t begin, int64_t end) {
    if (p->same) {
        pack_same(p, begin, end);
        return;
    }
    const lam__conv_case *s = &p->shape;
    const int64_t item = lam__item_bytes(p->dtype), lanes = p->loops->lanes;
    for (int64_t i = begin; i < end; i++) {
        const int64_t block = i / s->c, c = i % s->c, first = block * lanes * s->w_step[0] + c * s->w_step[2];
        for (int64_t k = 0; k < p->count; k++)
            for (int64_t o = 0; o < s->o; o++) {
                const lam__conv_abreast_phase *g = &p->phases[k];
                const int64_t feature = o / p->wide * p->wide, wide = least(p->wide, s->o - feature);
                char *to = packed_at(p, g, block, feature, c) + (o - feature) * lanes * item;
                pack_window(p, g, groups_of(p, block), wide, p->w + (first + o * s->w_step[1] + g->w) * item, to);
            }
    }
}

/* ---- items ------------------------------------------------------------------------------------------------------- */

/* Where elements of x come from and go to: [from, to) of each axis of the block lies in x. */
typedef struct filling {
    const lam__conv_abreast *p;
    const lam__turn *turn;
    int64_t groups, start[LAM__CONV_AXES], from[LAM__CONV_AXES], to[LAM__CONV_AXES];
    char *lines;
} filling;

static char *clear(const filling *f, char *to, int64_t elements) {
    const size_t bytes = (size_t)(elements * f->p->loops->lanes * lam__item_bytes(f->p->dtype));
    if (bytes) memset(to, 0, bytes);
    return to + bytes;
}

/* Lines of x, which begin at x and have `count` elements each, into lines of the block. Where they would leave squares
 * of the machine's vectors far from full, those that follow each other in memory are turned as one. */
static void fill_lines(const filling *f, const char *x, int64_t lines, int64_t count, char *to) {
    const lam__conv_abreast *p = f->p;
    const int64_t *step = p->shape.x_step, item = lam__item_bytes(p->dtype), lanes = p->loops->lanes;
    const int64_t before = f->from[2], behind = p->extent[2] - f->to[2];
    const bool joined = step[4] == count * step[5];
    if (joined && before == 0 && behind == 0) {
        f->turn->grid(lines * count, f->groups, x, step[5], step[0], to, lanes);
        return;
    }
    const bool full = 4 * count >= 3 * lanes * parts(count, lanes);
    const bool staged = joined && !full && f->groups == lanes;
    if (staged) f->turn->grid(lines * count, f->groups, x, step[5], step[0], f->lines, lanes);
    for (int64_t i = 0; i < lines; i++) {
        const size_t line = (size_t)(count * lanes * item);
        to = clear(f, to, before);
        if (staged) memcpy(to, f->lines + (size_t)i * line, line);
        else f->turn->grid(count, f->groups, x + i * step[4] * item, step[5], step[0], to, lanes);
        to = clear(f, to + line, behind);
    }
}

/* One feature; x begins at it. */
static char *fill_feature(const filling *f, const char *x, char *to) {
    const int64_t *step = f->p->shape.x_step, *extent = f->p->extent, item = lam__item_bytes(f->p->dtype);
    const int64_t lines = f->to[1] - f->from[1], count = f->to[2] - f->from[2], plane = extent[1] * extent[2];
    const int64_t vector = f->p->loops->lanes * item;
    if (lines == 0 || count == 0) return clear(f, to, extent[0] * plane);
    to = clear(f, to, f->from[0] * plane);
    for (int64_t i = f->from[0]; i < f->to[0]; i++) {
        const int64_t at[] = {f->start[0] + i, f->start[1] + f->from[1], f->start[2] + f->from[2]};
        to = clear(f, to, f->from[1] * extent[2]);
        fill_lines(f, x + (at[0] * step[3] + at[1] * step[4] + at[2] * step[5]) * item, lines, count, to);
        to = clear(f, to + lines * extent[2] * vector, (extent[1] - f->to[1]) * extent[2]);
    }
    return clear(f, to, (extent[0] - f->to[0]) * plane);
}

static void begin_filling(filling *f, int64_t chunk) {
    for (int i = 0; i < LAM__CONV_AXES; i++) {
        const int64_t extent = f->p->extent[i], size = f->p->shape.axis[i].size;
        f->start[i] = f->p->first[i] + (i == f->p->axis ? chunk * f->p->move : 0);
        f->from[i] = f->start[i] < 0 ? least(-f->start[i], extent) : 0;
        f->to[i] = least(size - f->start[i], extent);
        if (f->to[i] < f->from[i]) f->to[i] = f->from[i];
    }
}

/* What features [c, c + features) of x add to the places of a chunk, in all phases. Rows are summed up a part at a
 * time. */
static void sum_panel(const lam__conv_abreast *p, int64_t block, int64_t chunk, int64_t c, int64_t features,
                      const char *x, char *out) {
    const int64_t item = lam__item_bytes(p->dtype), bytes = p->loops->lanes * item, weight = p->same ? item : bytes;
    for (const lam__conv_abreast_phase *g = p->phases; g < p->phases + p->count; g++) {
        const int64_t rows = features * g->window, left = g->shape.axis[p->axis].out - chunk * p->chunk;
        lam__conv_panel q = {.x = x, .at = g->at, .put = g->put, .same = p->same};
        q.step = p->results * p->loops->lanes;
        q.places = least(p->chunk, left);
        for (int i = p->axis + 1; i < LAM__CONV_AXES; i++) q.places *= g->shape.axis[i].out;
        for (int64_t o = 0; o < p->shape.o && left > 0; o += p->wide) {
            const int64_t wide = least(p->wide, p->shape.o - o);
            const char *w = packed_at(p, g, block, o, c);
            q.to = out + o * p->results * bytes;
            for (int64_t r = 0; r < rows; r += MOST_ROWS) {
                q.add = c > 0 || r > 0;
                q.w = w + r * wide * weight;
                q.row = g->row + r;
                q.rows = least(MOST_ROWS, rows - r);
                p->loops->abreast[wide - 1](&q);
            }
        }
    }
}

/* Lanes that no group fills hold what is there: the room is zero before, since numbers that are left in it may be
 * subnormal, which would cost time. */
void lam__conv_abreast_run(const lam__conv_abreast *p, int64_t begin, int64_t end, void *room) {
    const lam__conv_case *s = &p->shape;
    const int64_t item = lam__item_bytes(p->dtype), lanes = p->loops->lanes, out = s->axis[p->axis].out;
    filling f = {.p = p, .turn = p->loops->turn(item), .lines = (char *)room + p->room_lines};
    char *results = (char *)room + p->room_out;
    if (s->groups % lanes) memset(room, 0, p->room_lines);
    for (int64_t i = begin; i < end; i++) {
        const int64_t chunk = i % p->chunks, n = i / p->chunks % s->n, block = i / p->chunks / s->n;
        const int64_t first = chunk * p->chunk * p->period, left = least(out - first, p->chunk * p->period);
        const int64_t count = p->results / least(out, p->chunk * p->period) * left;
        f.groups = groups_of(p, block);
        begin_filling(&f, chunk);
        if (p->gaps) memset(results, 0, (size_t)(p->results * s->o * lanes * item));
        for (int64_t c = 0; c < s->c; c += p->panel) {
            const int64_t features = least(p->panel, s->c - c);
            char *to = room;
            for (int64_t k = c; k < c + features; k++) {
                const int64_t at = block * lanes * s->x_step[0] + n * s->x_step[1] + k * s->x_step[2];
                to = fill_feature(&f, p->x + at * item, to);
            }
            sum_panel(p, block, chunk, c, features, room, results);
        }
        for (int64_t o = 0; o < s->o; o++) {
            const int64_t at = block * lanes * s->out_step[0] + n * s->out_step[1] + o * s->out_step[2] +
                               first * s->out_step[3 + p->axis];
            f.turn->plane(f.groups, count, results + o * p->results * lanes * item, lanes, p->out + at * item,
                          s->out_step[0], false);
        }
    }
}
