/* How a convolution is cut: which loops do it, the panels of the contraction, the boxes of places, and the weights in
 * the order in which loops read them. Panels follow from the operands alone; boxes and their number change no bits. */
#include "lib/kernels/conv/conv.h"

#include <string.h>

#include "lib/kernels/conv/block.h"
#include "lib/kernels/conv/loops.h"
#include "lib/kernels/item.h"

enum {
    PANEL_BYTES = 1 << 15, /* of packed weights of one block of features: they stay in the first cache */
    LONG_PANEL = 4096,     /* elements of the contraction where no weights are read again */
    FEATURES = 256,        /* of an item */
    FEW_FEATURES = 16,     /* the same where they are not side by side in vectors */
    SHORT_SUMS = 64,       /* vectors of products in the sums of a place: what makes them short */
    HELD = 3 << 13,        /* bytes of x and of sums that an item has: they stay in the first cache */
    LEAST_HELD = 1024,     /* places of it, where that is more */
    LEAST_PLACES = 32,     /* of an item that is made smaller for more threads */
    ITEMS_EACH = 4,
    ALIGN = 64
};

/* Places of an item, by way. */
static const int64_t most_places[] = {[LAM__CONV_ACROSS] = 1024, [LAM__CONV_ALONG] = 4096, [LAM__CONV_DOTS] = 128};

/* Up to the next multiple. */
static int64_t up(int64_t n, int64_t unit) {
    return (n + unit - 1) / unit * unit;
}

/* How many parts of at most so many. */
static int64_t parts(int64_t n, int64_t most) {
    return (n + most - 1) / most;
}

/* Vectors of floats on this machine; other dtypes have vectors of one element, along places only. */
const lam__conv_loops *lam__conv_loops_of(lam_dtype dtype) {
    if (dtype != LAM_F64 && dtype != LAM_F32) return &lam__conv_loops_plain[dtype];
#if defined(LAM__HAVE_X86_64_LEVELS)
    const lam__simd *simd = lam__elementwise_simd();
    if (simd == &lam__simd_v4) return &lam__conv_loops_v4[dtype == LAM_F32];
    if (simd == &lam__simd_v3) return &lam__conv_loops_v3[dtype == LAM_F32];
#endif
    return &lam__conv_loops_v1[dtype == LAM_F32];
}

/* Whether lines of the result fill vectors well enough to be written one by one, which needs no sums in between. */
static bool fills_lines(const lam__conv_case *s, int64_t line, int64_t least, int64_t lanes) {
    return s->out_step[5] == 1 && line >= least && 4 * line >= 3 * up(line, lanes);
}

/* Whether several lines of places can share what they read of x: worth it where there is one feature at a time. */
static bool shares_lines(const lam__conv *p) {
    const lam__conv_axis *second = &p->shape.axis[1];
    return p->loops->along_lines && p->shape.o % LAM__CONV_FEW == 1 && second->stride == 1 && second->spread == 1 &&
           second->window > 1 && p->places.size[2] >= LAM__CONV_LINES;
}

/* Features fill vectors where there are enough of them; else what is longer does, a line of the result or of the
 * window. Where sums are short, what counts is that the result is written as it lies. */
static int way_of(const lam__conv_case *s, const lam__conv_loops *loops) {
    const lam__conv_axis *last = &s->axis[LAM__CONV_AXES - 1];
    if (!loops->dots) return LAM__CONV_ALONG;
    const int64_t sums = s->c * s->axis[0].window * s->axis[1].window * last->window;
    if (last->stride == 1 && fills_lines(s, last->out, 2 * loops->lanes, loops->lanes) &&
        sums * parts(s->o, loops->lanes) <= SHORT_SUMS)
        return LAM__CONV_ALONG;
    /* One short vector of features has a load for each product. */
    if (s->o <= LAM__CONV_FEW && last->stride == 1 && fills_lines(s, last->out, 2 * loops->lanes, loops->lanes))
        return LAM__CONV_ALONG;
    if (4 * s->o >= 3 * loops->lanes) return LAM__CONV_ACROSS;
    return last->window > last->out ? LAM__CONV_DOTS : LAM__CONV_ALONG;
}

/* Boxes of about `most` elements, full along the last axes, of one size but for what is left over. */
static void cut(lam__conv_grid *g, int64_t most) {
    g->volume = g->boxes = 1;
    for (int i = 3; i >= 0; i--) {
        g->count[i] = 1;
        g->size[i] = g->dims[i];
        if (g->dims[i] > most || g->dims[i] * g->volume > most) { /* most often not, and divisions are slow */
            const int64_t room = most / g->volume;
            g->count[i] = parts(g->dims[i], room > 1 ? room : 1);
            g->size[i] = parts(g->dims[i], g->count[i]);
        }
        g->volume *= g->size[i];
        g->boxes *= g->count[i];
    }
}

lam__conv_box lam__conv_box_of(const lam__conv_grid *g, int64_t number) {
    lam__conv_box b;
    for (int i = 3; i >= 0; i--) {
        b.start[i] = 0;
        b.dims[i] = g->dims[i];
        if (g->count[i] == 1) continue;
        b.start[i] = number % g->count[i] * g->size[i];
        b.dims[i] -= b.start[i];
        if (b.dims[i] > g->size[i]) b.dims[i] = g->size[i];
        number /= g->count[i];
    }
    return b;
}

/* Whether all that places meet lies in x. */
static bool lies_in_x(const lam__conv_case *s) {
    for (int i = 0; i < LAM__CONV_AXES; i++) {
        const lam__conv_axis *a = &s->axis[i];
        if (a->low > 0 || (a->out - 1) * a->stride + (a->window - 1) * a->spread - a->low >= a->size) return false;
    }
    return true;
}

/* Panels, and features side by side. */
static void plan_rows(lam__conv *p) {
    const lam__conv_case *s = &p->shape;
    const int64_t item = lam__item_bytes(p->dtype), lanes = p->loops->lanes, vectors = parts(s->o, lanes);
    int64_t most = PANEL_BYTES / (item * lanes * p->loops->widest);
    if (p->way == LAM__CONV_DOTS) most = LONG_PANEL;
    p->rows = (lam__conv_grid){.dims = {s->c, s->axis[0].window, s->axis[1].window, s->axis[2].window}};
    cut(&p->rows, most);
    p->run = up(p->rows.size[3], lanes);
    p->wide = p->way == LAM__CONV_ACROSS ? parts(vectors, parts(vectors, p->loops->widest)) * lanes : LAM__CONV_FEW;
    p->features = p->way == LAM__CONV_ACROSS ? FEATURES / p->wide * p->wide : FEW_FEATURES;
    if (p->features < p->wide) p->features = p->wide;
    p->chunks = parts(s->o, p->features);
}

/* Boxes of places, smaller ones where there would be too few items for the threads; what an item costs decides how many
 * a thread takes at a time. */
static void plan_places(lam__conv *p, int threads) {
    const lam__conv_case *s = &p->shape;
    const lam__conv_axis *a = s->axis;
    const int64_t all = s->n * a[0].out * a[1].out * a[2].out;
    int64_t most = most_places[p->way];
    if (p->way == LAM__CONV_ALONG) {
        const int64_t features = s->o < p->features ? s->o : p->features, item = lam__item_bytes(p->dtype);
        const int64_t held = HELD / (item * (p->rows.size[0] + features));
        most = held < LEAST_HELD ? LEAST_HELD : held < most ? held : most;
    }
    if (threads > 1) {
        const int64_t each = all / parts((int64_t)threads * ITEMS_EACH, s->groups * p->chunks);
        if (each < most) most = each > LEAST_PLACES ? each : LEAST_PLACES;
    }
    p->places = (lam__conv_grid){.dims = {s->n, a[0].out, a[1].out, a[2].out}};
    cut(&p->places, most);
    p->items = s->groups * p->chunks * p->places.boxes;
    const double features = (double)(s->o < p->features ? s->o : p->features);
    const double window = (double)s->c * (double)a[0].window * (double)a[1].window * (double)a[2].window;
    p->cost = 20 + (double)p->places.volume * features * window / 8; /* eight products in half a nanosecond */
}

/* A box of full size, of which room is made; those at the ends may be smaller. */
static lam__conv_box largest(const lam__conv_grid *g) {
    lam__conv_box b = {{0}, {0}};
    for (int i = 0; i < 4; i++) b.dims[i] = g->size[i];
    return b;
}

/* Elements of packed weights of one panel and feature. */
static int64_t packed_rows(const lam__conv *p) {
    return p->way == LAM__CONV_DOTS ? p->rows.volume / p->rows.size[3] * p->run : p->rows.volume;
}

/* Features in vectors are packed with zeros behind the last one, so that loops need not count them. */
static int64_t packed_features(const lam__conv *p) {
    return p->way == LAM__CONV_ACROSS ? up(p->shape.o, p->loops->lanes) : p->shape.o;
}

/* Packed weights, shared, and for each worker one room: the block of x with what loops may read beyond it, the sums,
 * the two tables of offsets, and weights that the item packs itself. */
static void plan_memory(lam__conv *p) {
    const int64_t item = lam__item_bytes(p->dtype), panels = p->shape.groups * p->rows.boxes;
    const lam__conv_box places = largest(&p->places), rows = largest(&p->rows);
    lam__conv_block block = {.elements = 0};
    if (!p->in_place) lam__conv_block_layout(&p->shape, p->way, &places, &rows, &block);
    p->packs = p->own ? 0 : panels * parts(p->shape.o, p->wide);
    p->packed_bytes = p->own ? 0 : (size_t)(up(panels * packed_features(p) * packed_rows(p) * item, ALIGN) + ALIGN);
    p->room_sums = (size_t)up((block.elements + LAM__CONV_SLACK) * item, ALIGN);
    p->room_at = p->room_sums + (size_t)up(lam__conv_sums(p, &block, &places) * item, ALIGN);
    p->room_own = p->room_at + (size_t)up((p->places.volume + p->rows.volume) * (int64_t)sizeof(int64_t), ALIGN);
    p->room = p->room_own + (size_t)(p->own ? up(p->wide * packed_rows(p) * item, ALIGN) : 0);
}

/* False: the result has no elements. An empty contraction is planned like any other and gives zeros. */
bool lam__conv_plan(const lam__conv_loops *loops, lam_dtype dtype, const lam__conv_case *s, int threads, const void *x,
                    const void *w, void *out, lam__conv *plan) {
    *plan = (lam__conv){.shape = *s, .dtype = dtype, .x = x, .w = w, .out = out, .loops = loops};
    if (s->groups * s->n * s->o * s->axis[0].out * s->axis[1].out * s->axis[2].out == 0) return false;
    plan->way = way_of(s, plan->loops);
    plan->in_place = plan->way == LAM__CONV_ACROSS && lies_in_x(s);
    plan_rows(plan);
    plan_places(plan, threads);
    if (plan->way == LAM__CONV_ALONG && plan->rows.boxes == 1) {
        const int64_t lanes = plan->loops->lanes;
        const bool lines = shares_lines(plan);
        plan->direct = fills_lines(s, plan->places.size[3], lines ? 1 : 2 * lanes, lanes);
        plan->by_lines = plan->direct && lines;
    }
    plan->own = plan->places.boxes == 1;
    plan_memory(plan);
    return true;
}

/* ---- weights ----------------------------------------------------------------------------------------------------- */

/* NOTE [weights that are used once]
 * Where one item has all places, as in gradients by the window and in the last layers of networks for images, it packs
 * its weights itself, those of a panel just before they meet the places: so they stay in the first cache and are not
 * written to memory, which may take longer than the products. */

/* Where the weights of these features begin: panels of a group one after the other, each with all its features. */
static char *packed(const lam__conv *p, int64_t group, int64_t panel, int64_t feature) {
    const int64_t at = (group * p->rows.boxes + panel) * packed_features(p) + feature;
    return p->packed + at * packed_rows(p) * lam__item_bytes(p->dtype);
}

/* How many features are packed together from this one on. */
int64_t lam__conv_width(const lam__conv *p, int64_t feature) {
    const int64_t left = p->shape.o - feature;
    const int64_t width = p->way == LAM__CONV_ACROSS ? up(left, p->loops->lanes) : left;
    return width < p->wide ? width : p->wide;
}

/* Lines of the window, filled up to whole vectors with zeros, by the copy that loops have for them. */
static void pack_lines(const lam__conv *p, const int64_t dims[5], const int64_t to[5], const int64_t from[5],
                       const char *w, char *dst) {
    const int64_t item = lam__item_bytes(p->dtype);
    lam__conv_lines l = {.lines = dims[3],
                         .count = dims[4],
                         .behind = to[3] - dims[4],
                         .x_step = from[3],
                         .to_step = to[3],
                         .apart = (int)from[4],
                         .loose = true}; /* no further than to the next line, which begins at a whole vector */
    for (int64_t f = 0; f < dims[0]; f++)
        for (int64_t c = 0; c < dims[1]; c++)
            for (int64_t i = 0; i < dims[2]; i++) {
                l.x = w + (f * from[0] + c * from[1] + i * from[2]) * item;
                l.to = dst + (f * to[0] + c * to[1] + i * to[2]) * item;
                p->loops->copy(&l);
            }
}

/* Features from `feature` on of one panel: [rows, features], or [features, lines] for dots. */
static void pack(const lam__conv *p, int64_t group, int64_t panel, int64_t feature, char *dst) {
    const lam__conv_case *s = &p->shape;
    const lam__conv_box rows = lam__conv_box_of(&p->rows, panel);
    const int64_t width = lam__conv_width(p, feature), left = s->o - feature, item = lam__item_bytes(p->dtype);
    const bool dots = p->way == LAM__CONV_DOTS;
    int64_t dims[5] = {left < width ? left : width}, to[5] = {1}, from[5] = {s->w_step[1]};
    int64_t step = dots ? 1 : width, first = group * s->w_step[0] + feature * s->w_step[1];
    for (int i = 3; i >= 0; i--) {
        dims[1 + i] = rows.dims[i];
        from[1 + i] = s->w_step[2 + i];
        to[1 + i] = step;
        step *= dots && i == 3 ? up(rows.dims[i], p->loops->lanes) : rows.dims[i];
        first += rows.start[i] * s->w_step[2 + i];
    }
    if (dots) to[0] = step;
    if (dots && (from[4] == 1 || from[4] == 2)) {
        pack_lines(p, dims, to, from, p->w + first * item, dst);
        return;
    }
    if (dots || dims[0] < width) memset(dst, 0, (size_t)((dots ? dims[0] * step : step) * item));
    lam__kernels_copy(5, dims, p->dtype, dst, to, p->dtype, p->w + first * item, from);
}

void lam__conv_pack(const lam__conv *p, int64_t begin, int64_t end) {
    const int64_t blocks = parts(p->shape.o, p->wide);
    for (int64_t i = begin; i < end; i++) {
        const int64_t panel = i / blocks;
        const int64_t group = panel / p->rows.boxes, part = panel % p->rows.boxes, feature = i % blocks * p->wide;
        pack(p, group, part, feature, packed(p, group, part, feature));
    }
}

const char *lam__conv_weights(const lam__conv *p, int64_t group, int64_t panel, int64_t feature, char *room) {
    if (!p->own) return packed(p, group, panel, feature);
    pack(p, group, panel, feature, room + p->room_own);
    return room + p->room_own;
}
