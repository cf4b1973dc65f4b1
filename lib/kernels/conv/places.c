/* Few places: see places.h. An item has all features of one example, whose sums lie as [o, places] vectors; parts of
 * the contraction, some lines of one feature of x, are summed up by themselves and then added, in their order. */
#include "lib/kernels/conv/places.h"

#include "lib/kernels/conv/loops.h"
#include "lib/kernels/item.h"

enum {
    HELD = 1 << 16,      /* bytes of a block: much of it stays in the first cache */
    MOST_HELD = 1 << 19, /* where a few lines have more */
    AHEAD = 4,           /* lines of a block are so many times those that two blocks have */
    MOST_PLACES = 128,
    MOST_SUMS = 1 << 16, /* bytes of sums */
    FEW_PRODUCTS = 32,   /* of an element with one feature, */
    FEW_EXAMPLES = 3,    /* and how many examples these are at most */
    LONG_SUMS = 1024,    /* products of a place */
    ALIGN = 64
};

static int64_t up(int64_t n) {
    return (n + ALIGN - 1) / ALIGN * ALIGN;
}

static int64_t least(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* ---- plan -------------------------------------------------------------------------------------------------------- */

/* The block of so many places of the window along the axis that is cut; its bytes. */
static double size_block(lam__conv_places *p, int64_t chunk) {
    for (int i = 0; i < LAM__CONV_AXES; i++) {
        const lam__conv_axis *a = &p->shape.axis[i];
        p->pad.extent[i] = (a->out - 1) * a->stride + ((i == p->cut ? chunk : a->window) - 1) * a->spread + 1;
    }
    p->chunk = chunk;
    lam__conv_pad_layout(&p->pad, &p->shape, p->shape.axis[2].spread);
    return (double)p->pad.each * (double)lam__item_bytes(p->dtype);
}

/* Cuts the window along its first axis that has more than one place, as few.c does the result. */
static bool plan_chunks(lam__conv_places *p) {
    p->cut = 0;
    while (p->cut < 2 && p->shape.axis[p->cut].window == 1) p->cut++;
    const lam__conv_axis *a = &p->shape.axis[p->cut];
    const double bytes = size_block(p, a->window);
    p->chunks = 1;
    if (bytes > HELD) {
        const int64_t ahead = AHEAD * (a->out - 1) * a->stride / a->spread + 1;
        int64_t chunk = (int64_t)((double)a->window * HELD / bytes) + 1;
        if (chunk < ahead) chunk = ahead;
        p->chunks = (a->window + chunk - 1) / chunk;
    }
    return size_block(p, (a->window + p->chunks - 1) / p->chunks) <= MOST_HELD;
}

/* Where features fill vectors, many products of each element of x, or few in all, are done faster with those. */
static bool features_serve(const lam__conv_loops *loops, const lam__conv_case *s, int64_t places) {
    const lam__conv_axis *a = s->axis;
    const double terms = (double)s->c * (double)a[0].window * (double)a[1].window * (double)a[2].window;
    return 4 * s->o >= 3 * loops->lanes && (s->n > least(FEW_PRODUCTS / places, FEW_EXAMPLES) || terms < LONG_SUMS);
}

/* Measured beside the other ways: lines that fill vectors, and few places. */
static bool is_worth(const lam__conv_loops *loops, lam_dtype dtype, const lam__conv_case *s) {
    const lam__conv_axis *a = s->axis, *last = &a[2];
    if (!loops->far || s->x_step[5] != 1 || s->w_step[5] != 1 || last->spread > LAM__CONV_WOVEN || s->o > MOST_SUMS)
        return false;
    int64_t places = 1;
    for (int i = 0; i < LAM__CONV_AXES; i++) {
        if (a[i].gap > 1 || a[i].out == 0 || a[i].size == 0 || a[i].out > MOST_PLACES) return false;
        places *= a[i].out;
    }
    const int64_t line = (last->window + loops->lanes - 1) / loops->lanes * loops->lanes;
    const bool fills = 4 * last->window >= 3 * line || (2 * last->window >= line && 4 * s->o < 3 * loops->lanes);
    return last->window > last->out && fills && places <= MOST_PLACES &&
           places * s->o * loops->lanes * lam__item_bytes(dtype) <= MOST_SUMS && s->c > 0 &&
           !features_serve(loops, s, places);
}

bool lam__conv_places_plan(const lam__conv_loops *loops, lam_dtype dtype, const lam__conv_case *s, const void *x,
                           const void *w, void *out, lam__conv_places *plan) {
    if ((dtype != LAM_F64 && dtype != LAM_F32) || !is_worth(loops, dtype, s)) return false;
    const lam__conv_axis *a = s->axis;
    const int64_t item = lam__item_bytes(dtype);
    *plan = (lam__conv_places){.shape = *s, .dtype = dtype, .loops = loops, .x = x, .w = w, .out = out};
    plan->pad.loops = loops;
    plan->pad.dtype = dtype;
    if (!plan_chunks(plan)) return false;
    plan->places = a[0].out * a[1].out * a[2].out;
    plan->items = s->groups * s->n;
    const double window = (double)a[0].window * (double)a[1].window * (double)a[2].window;
    plan->cost = 20 + (double)s->c * window * (1 + (double)plan->places * (double)s->o / 8);
    plan->at_bytes = (size_t)up(plan->places * (int64_t)sizeof(int64_t));
    plan->room_block = (size_t)up(plan->places * s->o * loops->lanes * item);
    plan->room = plan->room_block + (size_t)up((plan->pad.each + LAM__CONV_SLACK) * item);
    return true;
}

void lam__conv_places_list(lam__conv_places *p) {
    const lam__conv_axis *a = p->shape.axis;
    int64_t *at = p->at;
    for (int64_t i = 0; i < a[0].out; i++)
        for (int64_t j = 0; j < a[1].out; j++)
            for (int64_t k = 0; k < a[2].out; k++)
                *at++ = i * a[0].stride * p->pad.plane + j * a[1].stride * p->pad.line +
                        lam__conv_pad_at(&p->pad, k * a[2].stride);
}

/* ---- items ------------------------------------------------------------------------------------------------------- */

/* Adds what one feature of x, which begins at x, gives with w, at the same feature, in one chunk of the window. */
static void sum_chunk(const lam__conv_places *p, int64_t chunk, const char *x, const char *w, bool add, char *block,
                      char *sums) {
    const lam__conv_case *s = &p->shape;
    const int64_t item = lam__item_bytes(p->dtype), from = chunk * p->chunk, *step = s->w_step + 3;
    int64_t start[LAM__CONV_AXES], window[LAM__CONV_AXES];
    for (int i = 0; i < LAM__CONV_AXES; i++) {
        start[i] = (i == p->cut ? from * s->axis[i].spread : 0) - s->axis[i].low;
        window[i] = i == p->cut ? least(p->chunk, s->axis[i].window - from) : s->axis[i].window;
    }
    lam__conv_pad_fill(&p->pad, x, start, block);
    lam__conv_pad_clear(&p->pad, block + p->pad.each * item, LAM__CONV_SLACK);
    lam__conv_panel q = {.to = sums, .at = p->at, .places = p->places, .features = s->o, .w_step = s->w_step[1]};
    q.lines = window[1];
    q.run = window[2];
    q.x_line = s->axis[1].spread * p->pad.line;
    q.to_line = step[1];
    for (int64_t i = 0; i < window[0]; i++) {
        q.add = add || i > 0;
        q.x = block + i * s->axis[0].spread * p->pad.plane * item;
        q.w = w + (from * step[p->cut] + i * step[0]) * item;
        p->loops->far(&q);
    }
}

/* Vectors of sums to where they belong, of one example. */
static void put(const lam__conv_places *p, char *sums, char *out) {
    const lam__conv_axis *a = p->shape.axis;
    const int64_t *step = p->shape.out_step, dims[4] = {p->shape.o, a[0].out, a[1].out, a[2].out};
    const int64_t from[4] = {p->places, a[1].out * a[2].out, a[2].out, 1};
    p->loops->fold(sums, sums, p->shape.o * p->places);
    lam__kernels_copy(4, dims, p->dtype, out, step + 2, p->dtype, sums, from);
}

void lam__conv_places_run(const lam__conv_places *p, int64_t begin, int64_t end, void *room) {
    const lam__conv_case *s = &p->shape;
    const int64_t item = lam__item_bytes(p->dtype);
    char *block = (char *)room + p->room_block;
    for (int64_t i = begin; i < end; i++) {
        const int64_t group = i / s->n, n = i % s->n;
        const char *x = p->x + (group * s->x_step[0] + n * s->x_step[1]) * item;
        const char *w = p->w + group * s->w_step[0] * item;
        for (int64_t c = 0; c < s->c; c++)
            for (int64_t k = 0; k < p->chunks; k++)
                sum_chunk(p, k, x + c * s->x_step[2] * item, w + c * s->w_step[2] * item, c > 0 || k > 0, block, room);
        put(p, room, p->out + (group * s->out_step[0] + n * s->out_step[1]) * item);
    }
}
