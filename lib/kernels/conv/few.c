/* Few products for each place: see few.h. An item has all features of some lines of one example. Cuts follow from the
 * operands alone. */
#include "lib/kernels/conv/few.h"

#include <string.h>

#include "lib/kernels/conv/loops.h"
#include "lib/kernels/item.h"

enum {
    HELD = 1 << 16,      /* bytes of x of an item: much of it stays in the first cache */
    MOST_HELD = 1 << 19, /* where a few places alone have more */
    AHEAD = 8,           /* places of an item are so many times those that it meets besides */
    MOST_TERMS = 512,    /* of a feature, in all phases; */
    STEP_TERMS = 192,    /* where there is one phase and strides are short; */
    MANY_TERMS = 96,     /* where there are neither strides nor gaps; */
    SOME_TERMS = 64,     /* of each phase, where features fill vectors; */
    FEW_TERMS = 16,      /* where lines do not */
    MOST_FEATURES = 16,  /* of x: products of more are gathered faster, where there is one feature and several phases */
    ALIGN = 64
};

static int64_t up(int64_t n) {
    return (n + ALIGN - 1) / ALIGN * ALIGN;
}

static int64_t least(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* Places of a phase along an axis. */
static int64_t places(const lam__conv_few *p, int i, int64_t phase) {
    const int64_t out = p->shape.axis[i].out, period = p->axis[i].period;
    return period == 1 ? out : (out - phase + period - 1) / period;
}

/* ---- plan -------------------------------------------------------------------------------------------------------- */

/* Taps of an axis. Place t meets element (t + k spread - low) / gap at tap k, if that is a whole number: its phase is
 * the least t for which it is. `rest` is what (k spread - low) is above a multiple of the gap, so no tap divides.
 *
 * With a gap of 2, low 1 and a window of 3, place t meets element (t + k - 1) / 2: taps 0 and 2 belong to odd places,
 * which are phase 1, and tap 1 to even ones, phase 0. */
static bool plan_axis(lam__conv_few *p, int i) {
    const lam__conv_axis *s = &p->shape.axis[i];
    lam__conv_few_axis *a = &p->axis[i];
    if (s->window > LAM__CONV_FEW_TAPS || (s->gap > 1 && (s->stride > 1 || s->gap > s->out))) return false;
    int64_t at = -s->low, rest = 0, more = s->spread, more_rest = 0, end = 0;
    if (s->gap > 1) {
        at = s->low > 0 ? -((s->low + s->gap - 1) / s->gap) : -s->low / s->gap;
        rest = -s->low - at * s->gap;
        more = s->spread / s->gap;
        more_rest = s->spread % s->gap;
    }
    a->period = s->gap;
    a->stride = s->stride;
    a->window = s->window;
    for (int64_t k = 0; k < s->window; k++) {
        lam__conv_tap *t = &a->tap[k];
        t->phase = rest ? s->gap - rest : 0;
        t->at = at + (rest > 0);
        if (k == 0 || t->at < a->first) a->first = t->at;
        if (k == 0 || t->at >= end) end = t->at + 1;
        at += more;
        rest += more_rest;
        if (rest >= s->gap) rest -= s->gap, at++;
    }
    a->extent = end - a->first + (places(p, i, 0) - 1) * s->stride; /* all phases as long as the first one */
    for (int64_t k = 0; k < s->window; k++) a->tap[k].at -= a->first;
    return true;
}

/* The block of so many places of each phase along the axis that is cut; its bytes. */
static double size_block(lam__conv_few *p, int64_t chunk) {
    const lam__conv_few_axis *a = p->axis;
    for (int i = 0; i < LAM__CONV_AXES; i++) p->pad.extent[i] = a[i].extent;
    p->pad.extent[p->cut] -= (places(p, p->cut, 0) - chunk) * a[p->cut].stride;
    p->chunk = chunk;
    lam__conv_pad_layout(&p->pad, &p->shape, a[2].stride);
    return (double)p->pad.each * (double)p->shape.c * (double)lam__item_bytes(p->dtype);
}

/* Cuts along the first axis that has more than one place. Chunks hold HELD bytes, but so many places at least that most
 * of a block is not the edge which it shares with its neighbours, and are of one length as nearly as can be. */
static bool plan_chunks(lam__conv_few *p) {
    const lam__conv_case *s = &p->shape;
    p->cut = 0;
    while (p->cut < 2 && s->axis[p->cut].out == 1) p->cut++;
    const int64_t all = places(p, p->cut, 0), stride = p->axis[p->cut].stride;
    const int64_t besides = p->axis[p->cut].extent - all * stride;
    int64_t chunk = all;
    const double bytes = size_block(p, all);
    if (bytes > HELD) {
        const int64_t ahead = besides > 0 ? AHEAD * besides / stride + 1 : 1;
        chunk = (int64_t)((double)all * HELD / bytes) + 1;
        if (chunk < ahead) chunk = ahead;
        p->chunks = (all + chunk - 1) / least(chunk, all);
        chunk = (all + p->chunks - 1) / p->chunks;
    }
    p->chunks = (all + chunk - 1) / chunk;
    return size_block(p, chunk) <= MOST_HELD;
}

/* Measured beside the other ways: where features fill vectors, or lines of the window are shared, long sums are done
 * faster with those; where lines of the result leave most of a vector empty, all but short ones of several phases. */
static bool is_worth(const lam__conv_loops *loops, const lam__conv_case *s) {
    const lam__conv_axis *a = s->axis;
    if (!loops->few || s->x_step[5] != 1 || s->out_step[5] != 1) return false;
    int64_t terms = s->c, phases = 1;
    bool steps = false; /* without phases */
    for (int i = 0; i < LAM__CONV_AXES; i++) {
        if (a[i].window == 0 || a[i].out == 0 || a[i].size == 0 || a[i].window > MOST_TERMS) return false;
        terms *= a[i].window;
        phases *= a[i].gap;
        steps = steps || a[i].stride > 1;
        if (terms > MOST_TERMS || phases > LAM__CONV_FEW_PHASES) return false;
    }
    if (4 * s->o >= 3 * loops->lanes) {
        if (terms > SOME_TERMS * phases || a[2].stride > 2) return false;
        const bool empty = loops->widest > 2 || phases > 1 ? 2 * a[2].out < loops->lanes
                                                           : 4 * a[2].out <= 3 * loops->lanes; /* short vectors */
        if (empty && (phases == 1 || terms > FEW_TERMS * phases)) return false;
    }
    if (phases > 1 && s->o == 1 && s->c >= MOST_FEATURES) return false;
    if (phases == 1 && a[2].stride <= 2 && terms > (steps ? STEP_TERMS : MANY_TERMS)) return false;
    return terms > 0 && a[2].gap * a[2].stride <= LAM__CONV_WOVEN;
}

bool lam__conv_few_plan(const lam__conv_loops *loops, lam_dtype dtype, const lam__conv_case *s, const void *x,
                        const void *w, void *out, lam__conv_few *plan) {
    if ((dtype != LAM_F64 && dtype != LAM_F32) || s->c > MOST_TERMS || !is_worth(loops, s)) return false;
    plan->shape = *s;
    plan->dtype = plan->pad.dtype = dtype;
    plan->loops = plan->pad.loops = loops;
    plan->x = x;
    plan->w = w;
    plan->out = out;
    for (int i = 0; i < LAM__CONV_AXES; i++)
        if (!plan_axis(plan, i)) return false;
    if (!plan_chunks(plan)) return false;
    const lam__conv_few_axis *a = plan->axis;
    const int64_t item = lam__item_bytes(dtype);
    plan->side = (int)a[2].period;
    plan->wide = (s->o + LAM__CONV_FEW - 1) / LAM__CONV_FEW;
    plan->wide = (s->o + plan->wide - 1) / plan->wide;
    plan->phases = a[0].period * a[1].period * a[2].period;
    plan->terms = s->c * a[0].window * a[1].window * a[2].window;
    plan->items = s->groups * s->n * plan->chunks;
    const double block = (double)plan->pad.each * (double)s->c, features = (double)s->groups * (double)s->o;
    const double each = (double)a[0].period * (double)a[1].period * (double)a[2].period;
    double results = (double)s->o * (double)plan->chunk * (double)a[plan->cut].period;
    for (int i = plan->cut + 1; i < LAM__CONV_AXES; i++) results *= (double)s->axis[i].out;
    plan->cost = 20 + block / 4 + results * (1 + (double)plan->terms / each / 8);
    if (features * (double)plan->terms > MOST_HELD) return false;
    plan->tables = (size_t)up(s->groups * s->o * plan->terms * item);
    plan->packed_bytes = plan->tables + (size_t)up(2 * plan->terms * (int64_t)sizeof(int64_t));
    plan->room = (size_t)up((plan->pad.each * s->c + LAM__CONV_SLACK) * item);
    return true;
}

/* ---- tables and weights ------------------------------------------------------------------------------------------ */

/* Offsets of the block, and of weights: rows of one phase, and in front of them those of the phases before it. */
typedef struct terms {
    const lam__conv_few *p;
    int64_t *row, *from;
    int64_t count;
} terms;

/* The terms of one phase, in the order in which they are added: features of x, then the window, row-major. */
static void list_phase(terms *t, const int64_t phase[LAM__CONV_AXES]) {
    const lam__conv_few *p = t->p;
    const lam__conv_few_axis *a = p->axis;
    const int64_t *step = p->shape.w_step;
    for (int64_t c = 0; c < p->shape.c; c++)
        for (int64_t i = 0; i < a[0].window; i++) {
            if (a[0].tap[i].phase != phase[0]) continue;
            for (int64_t j = 0; j < a[1].window; j++) {
                if (a[1].tap[j].phase != phase[1]) continue;
                const int64_t line = c * p->pad.each + a[0].tap[i].at * p->pad.plane + a[1].tap[j].at * p->pad.line;
                const int64_t w = c * step[2] + i * step[3] + j * step[4];
                for (int64_t k = 0; k < a[2].window; k++) {
                    if (a[2].tap[k].phase != phase[2]) continue;
                    t->row[t->count] = line + lam__conv_pad_at(&p->pad, a[2].tap[k].at);
                    t->from[t->count++] = w + k * step[5];
                }
            }
        }
}

/* Where packed weights of some features begin, those of term `term`. */
static char *weights(const lam__conv_few *p, int64_t group, int64_t o, int64_t term) {
    const int64_t wide = least(p->wide, p->shape.o - o);
    return p->packed + ((group * p->shape.o + o) * p->terms + term * wide) * lam__item_bytes(p->dtype);
}

/* Of `wide` features, which are `step` apart. */
static void pack_f64(const terms *t, int64_t wide, int64_t step, const double *w, void *packed) {
    double *to = packed;
    for (int64_t k = 0; k < t->count; k++)
        for (int64_t f = 0; f < wide; f++) *to++ = w[t->from[k] + f * step];
}

static void pack_f32(const terms *t, int64_t wide, int64_t step, const float *w, void *packed) {
    float *to = packed;
    for (int64_t k = 0; k < t->count; k++)
        for (int64_t f = 0; f < wide; f++) *to++ = w[t->from[k] + f * step];
}

void lam__conv_few_pack(lam__conv_few *p) {
    const lam__conv_case *s = &p->shape;
    const lam__conv_few_axis *a = p->axis;
    int64_t *row = (int64_t *)(void *)(p->packed + p->tables), i = 0;
    terms t = {p, row, row + p->terms, 0};
    for (int64_t first = 0; first < a[0].period; first++)
        for (int64_t second = 0; second < a[1].period; second++)
            for (int64_t last = 0; last < a[2].period; last++) {
                p->begin[i++] = t.count;
                list_phase(&t, (int64_t[]){first, second, last});
            }
    p->begin[i] = t.count;
    for (int64_t group = 0; group < s->groups; group++)
        for (int64_t o = 0; o < s->o; o += p->wide) {
            const int64_t first = group * s->w_step[0] + o * s->w_step[1], wide = least(p->wide, s->o - o);
            char *to = weights(p, group, o, 0);
            if (p->dtype == LAM_F64) pack_f64(&t, wide, s->w_step[1], (const double *)(const void *)p->w + first, to);
            else pack_f32(&t, wide, s->w_step[1], (const float *)(const void *)p->w + first, to);
        }
}

/* ---- items ------------------------------------------------------------------------------------------------------- */

/* All features of x, of which the first begins at `x`, for a chunk. */
static void fill(const lam__conv_few *p, int64_t chunk, const char *x, char *to) {
    const int64_t item = lam__item_bytes(p->dtype);
    int64_t start[LAM__CONV_AXES];
    for (int i = 0; i < LAM__CONV_AXES; i++) start[i] = p->axis[i].first;
    start[p->cut] += chunk * p->chunk * p->axis[p->cut].stride;
    for (int64_t c = 0; c < p->shape.c; c++, to += p->pad.each * item)
        lam__conv_pad_fill(&p->pad, x + c * p->shape.x_step[2] * item, start, to);
    lam__conv_pad_clear(&p->pad, to, LAM__CONV_SLACK);
}

/* What a chunk of one example is made from and goes to. */
typedef struct piece {
    const lam__conv_few *p;
    int64_t group, chunk;
    const char *block;
    char *out;
} piece;

/* Lines of features from `o` on that belong to phases `phase` of the first two axes. */
static void run_phase(const piece *t, int64_t o, const int64_t phase[2]) {
    const lam__conv_few *p = t->p;
    const int64_t *step = p->shape.out_step, *row = (const int64_t *)(const void *)(p->packed + p->tables);
    const int64_t item = lam__item_bytes(p->dtype);
    const int64_t *begin = p->begin + (phase[0] * p->axis[1].period + phase[1]) * p->side;
    int64_t first[LAM__CONV_AXES] = {0}, count[LAM__CONV_AXES] = {0};
    lam__conv_near q = {.side = p->side, .features = (int)least(p->wide, p->shape.o - o), .to_feature = step[2]};
    for (int i = 0; i < LAM__CONV_AXES; i++) {
        const int64_t all = i < 2 ? places(p, i, phase[i]) : p->shape.axis[2].out, period = i < 2 ? 1 : p->side;
        first[i] = i == p->cut ? t->chunk * p->chunk : 0;
        count[i] = i == p->cut ? least(all - first[i] * period, p->chunk * period) : all;
    }
    for (int j = 0; j < p->side; j++) {
        q.row[j] = row + begin[j];
        q.w[j] = weights(p, t->group, o, begin[j]);
        q.rows[j] = begin[j + 1] - begin[j];
    }
    q.x_line = p->axis[1].stride * p->pad.line;
    q.to_line = p->axis[1].period * step[4];
    q.lines = count[1];
    q.count = count[2];
    int64_t at = phase[1] + first[1] * p->axis[1].period;
    at = o * step[2] + at * step[4] + first[2] * p->side;
    for (int64_t i = 0; i < count[0]; i++) {
        q.x = t->block + i * p->axis[0].stride * p->pad.plane * item;
        q.to = t->out + ((phase[0] + (first[0] + i) * p->axis[0].period) * step[3] + at) * item;
        p->loops->few(&q);
    }
}

void lam__conv_few_run(const lam__conv_few *p, int64_t begin, int64_t end, void *room) {
    const lam__conv_case *s = &p->shape;
    const int64_t item = lam__item_bytes(p->dtype);
    for (int64_t i = begin; i < end; i++) {
        const int64_t n = i / p->chunks % s->n, group = i / p->chunks / s->n;
        const piece t = {.p = p,
                         .group = group,
                         .chunk = i % p->chunks,
                         .block = room,
                         .out = p->out + (group * s->out_step[0] + n * s->out_step[1]) * item};
        fill(p, t.chunk, p->x + (group * s->x_step[0] + n * s->x_step[1]) * item, room);
        for (int64_t o = 0; o < s->o; o += p->wide)
            for (int64_t first = 0; first < p->axis[0].period; first++)
                for (int64_t second = 0; second < p->axis[1].period; second++)
                    run_phase(&t, o, (int64_t[]){first, second});
    }
}
