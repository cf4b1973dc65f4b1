/* One item of a convolution: for each panel of the contraction a block of x (or x itself) and tables of where its
 * elements are, then the loops, which add to sums in scratch; at last the sums go to where they belong. */
#include "lib/kernels/conv/conv.h"

#include <string.h>

#include "lib/kernels/conv/block.h"
#include "lib/kernels/conv/loops.h"
#include "lib/kernels/item.h"

/* What one call of the loops has at hand: some features of one group at a box of places, with a worker's room. */
typedef struct item {
    const lam__conv *plan;
    int64_t group, feature, features; /* features from `feature` on */
    lam__conv_box places;
    char *block, *sums;
    int64_t *at, *row;
    int64_t step;      /* of sums, from place to place */
    lam__conv_block b; /* layout of the block, and */
    bool listed;       /* the tables, are those of the panel and the places */
    bool in_place;
} item;

/* Places that neighbours in memory make a span, which vectors run along. */
typedef struct spans {
    bool flat;            /* a span has all lines of a plane */
    int64_t spans, count; /* of a box; places of a span */
} spans;

/* Lines of the result that lie side by side in the block may be run through as one, with sums between them that nobody
 * asked for: worth it where these are fewer than the lanes that single lines would leave empty. */
static spans spans_of(const lam__conv *p, const lam__conv_block *b, const lam__conv_box *places) {
    const int64_t *dims = places->dims, lanes = p->loops->lanes, line = (dims[3] + lanes - 1) / lanes * lanes;
    const spans lines = {false, dims[0] * dims[1] * dims[2], dims[3]};
    if (p->direct || p->rows.count[3] > 1) return lines; /* there, lines of panels differ in length */
    const int64_t plane = (dims[2] - 1) * b->axis[2].count + dims[3];
    return plane <= dims[2] * line ? (spans){true, dims[0] * dims[1], plane} : lines;
}

/* Features of a place in the sums, filled up to whole vectors. */
static int64_t step_of(const lam__conv *p) {
    const int64_t lanes = p->loops->lanes;
    const int64_t features = p->shape.o < p->features ? p->shape.o : p->features;
    return (features + lanes - 1) / lanes * lanes;
}

/* Elements of sums that an item needs, for the larger of the two ways in which spans may be laid. */
int64_t lam__conv_sums(const lam__conv *p, const lam__conv_block *b, const lam__conv_box *places) {
    if (p->way != LAM__CONV_ALONG) return p->places.volume * step_of(p);
    if (p->direct) return 0;
    const int64_t *dims = places->dims, line = dims[3];
    const int64_t plane = (dims[2] - 1) * b->axis[2].count + line, lines = dims[2] * line;
    return dims[0] * dims[1] * (plane > lines ? plane : lines) * (p->shape.o < p->features ? p->shape.o : p->features);
}

/* ---- tables ------------------------------------------------------------------------------------------------------ */

/* Sums of one offset for each axis, the last axis counted through first. offsets(env, axis, i). */
typedef int64_t offset_of(const void *env, int axis, int64_t i);

/* Each axis repeats what the axes after it have given, moved by its own offset. So a table of n entries costs n
 * additions, whatever the number of axes, and the order is that of nested loops. */
static void list(const int64_t dims[4], int axes, offset_of *offset, const void *env, int64_t *to) {
    int64_t done = 1;
    to[0] = 0;
    for (int a = axes - 1; a >= 0; done *= dims[a], a--)
        for (int64_t i = dims[a] - 1; i > 0; i--) {
            const int64_t add = offset(env, a, i);
            for (int64_t k = 0; k < done; k++) to[i * done + k] = to[k] + add;
        }
}

/* Where offsets are counted: in the block, or in x itself. */
typedef struct source {
    const lam__conv *plan;
    const lam__conv_block *block; /* NULL: x itself */
} source;

/* Of places: axis 0 counts examples, the others those of the convolution. */
static int64_t offset_at(const void *env, int axis, int64_t i) {
    const source *s = env;
    const lam__conv_case *shape = &s->plan->shape;
    if (axis == 0) return i * (s->block ? s->block->n_step : shape->x_step[1]);
    if (s->block) return lam__conv_block_at(s->block, shape, s->plan->way, axis - 1, i);
    return i * shape->axis[axis - 1].stride * shape->x_step[2 + axis];
}

/* Of the contraction: axis 0 counts features of x, the others the window. An element is at the sum of both offsets. */
static int64_t offset_row(const void *env, int axis, int64_t i) {
    const source *s = env;
    const lam__conv_case *shape = &s->plan->shape;
    if (axis == 0) return i * (s->block ? s->block->c_step : shape->x_step[2]);
    if (s->block) return lam__conv_block_row(s->block, shape, s->plan->way, axis - 1, i);
    return i * shape->axis[axis - 1].spread * shape->x_step[2 + axis];
}

/* Elements of x, from the start of the group to where the boxes meet. */
static int64_t place_in_x(const lam__conv_case *s, const lam__conv_box *places, const lam__conv_box *rows) {
    int64_t at = places->start[0] * s->x_step[1] + rows->start[0] * s->x_step[2];
    for (int i = 0; i < LAM__CONV_AXES; i++) {
        const lam__conv_axis *a = &s->axis[i];
        at += (places->start[1 + i] * a->stride + rows->start[1 + i] * a->spread - a->low) * s->x_step[3 + i];
    }
    return at;
}

/* ---- panels ------------------------------------------------------------------------------------------------------ */

/* Elements of a box. */
static int64_t volume(const lam__conv_box *b) {
    return b->dims[0] * b->dims[1] * b->dims[2] * b->dims[3];
}

/* Vectors of features: each block of them meets all places. The last block may be narrower, so its number of vectors
 * picks the loop. */
static void run_across(const item *t, int64_t panel, lam__conv_panel *p) {
    const lam__conv *plan = t->plan;
    const int64_t bytes = lam__item_bytes(plan->dtype);
    for (int64_t f = 0; f < t->features; f += plan->wide) {
        p->w = lam__conv_weights(plan, t->group, panel, t->feature + f, t->block);
        p->to = t->sums + f * bytes;
        plan->loops->across[lam__conv_width(plan, t->feature + f) / plan->loops->lanes - 1](p);
    }
}

/* Vectors of the window's last axis: the tables then list lines of it, and `run` is their length. */
static void run_dots(const item *t, int64_t panel, const lam__conv_box *rows, lam__conv_panel *p) {
    const lam__conv *plan = t->plan;
    const int64_t lanes = plan->loops->lanes, bytes = lam__item_bytes(plan->dtype);
    p->run = rows->dims[3];
    p->rows /= p->run;
    p->w_step = p->rows * ((p->run + lanes - 1) / lanes * lanes);
    for (int64_t f = 0; f < t->features; f += plan->wide) {
        p->w = lam__conv_weights(plan, t->group, panel, t->feature + f, t->block);
        p->to = t->sums + f * bytes;
        p->features = t->features - f < plan->wide ? t->features - f : plan->wide;
        plan->loops->dots(p);
    }
}

/* Elements from the start of the result to feature `feature` of span i, a line of it. */
static int64_t line_of(const item *t, int64_t feature, int64_t i) {
    const int64_t *step = t->plan->shape.out_step, *start = t->places.start, *dims = t->places.dims;
    const int64_t line = i / dims[2], second = i % dims[2], n = dims[0] == 1 ? 0 : line / dims[1];
    const int64_t first = line - n * dims[1];
    return t->group * step[0] + (start[0] + n) * step[1] + feature * step[2] + (start[1] + first) * step[3] +
           (start[2] + second) * step[4] + start[3];
}

/* Vectors of neighbouring places, span by span, into the sums or straight into lines of the result. */
static void run_along(const item *t, int64_t panel, lam__conv_panel *p) {
    const lam__conv *plan = t->plan;
    const spans s = spans_of(plan, &t->b, &t->places);
    const int64_t bytes = lam__item_bytes(plan->dtype);
    const char *x = p->x;
    p->places = s.count;
    p->step = plan->direct ? plan->shape.out_step[2] : s.count;
    p->lines = t->places.dims[2];
    p->x_line = p->lines > 1 ? t->at[1] - t->at[0] : 0;
    p->to_line = plan->shape.out_step[4];
    for (int i = 0; i < 2; i++) p->window[i] = plan->rows.dims[2 + i];
    for (int64_t f = 0; f < t->features; f += plan->wide) {
        const int64_t features = t->features - f < plan->wide ? t->features - f : plan->wide;
        const bool lines = plan->by_lines && features == 1 && t->places.dims[2] >= LAM__CONV_LINES;
        p->w = lam__conv_weights(plan, t->group, panel, t->feature + f, t->block);
        for (int64_t i = 0; i < s.spans; i += lines ? t->places.dims[2] : 1) {
            p->x = x + t->at[i] * bytes;
            p->to = plan->direct ? plan->out + line_of(t, t->feature + f, i) * bytes
                                 : t->sums + (i * t->features + f) * s.count * bytes;
            (lines ? plan->loops->along_lines : plan->loops->along[features - 1])(p);
        }
    }
}

/* Whether vectors of neighbours may be read where they are: also those that loops read past the last line. Loops read
 * up to LAM__CONV_SLACK elements past a line: `end` counts the farthest one from the start of the group, `last` that of
 * the last element of x, and beyond the latter the memory may end. Negative steps would turn that around, so they go
 * through the block. */
static bool reads_in_place(const item *t, const lam__conv_box *rows) {
    const lam__conv_case *s = &t->plan->shape;
    int64_t end = LAM__CONV_SLACK, last = 0;
    if (t->plan->way != LAM__CONV_ALONG) return t->plan->in_place;
    if (!t->plan->direct || s->axis[2].stride != 1 || s->x_step[5] != 1) return false;
    for (int i = 0; i < 2; i++) {
        if (s->x_step[1 + i] < 0) return false;
        end += ((i ? rows : &t->places)->start[0] + (i ? rows : &t->places)->dims[0] - 1) * s->x_step[1 + i];
        last += ((i ? s->c : s->n) - 1) * s->x_step[1 + i];
    }
    for (int i = 0; i < LAM__CONV_AXES; i++) {
        const lam__conv_axis *a = &s->axis[i];
        const int64_t first = t->places.start[1 + i] * a->stride + rows->start[1 + i] * a->spread - a->low;
        const int64_t reach = (t->places.dims[1 + i] - 1) * a->stride + (rows->dims[1 + i] - 1) * a->spread;
        if (first < 0 || first + reach >= a->size || s->x_step[3 + i] < 0) return false;
        end += (first + reach) * s->x_step[3 + i];
        last += (a->size - 1) * s->x_step[3 + i];
    }
    return end <= last;
}

/* Where elements are, of x or of the block, in the order in which loops ask for them. */
static void list_panel(item *t, const lam__conv_box *rows) {
    const lam__conv *plan = t->plan;
    t->in_place = reads_in_place(t, rows);
    if (!t->in_place) lam__conv_block_layout(&plan->shape, plan->way, &t->places, rows, &t->b);
    const source from = {plan, t->in_place ? NULL : &t->b};
    int axes = 4;
    if (plan->way == LAM__CONV_ALONG) axes = spans_of(plan, &t->b, &t->places).flat ? 2 : 3;
    list(t->places.dims, axes, offset_at, &from, t->at);
    list(rows->dims, plan->way == LAM__CONV_DOTS ? 3 : 4, offset_row, &from, t->row);
}

/* The first panel writes the sums and the others add to them, in this order whatever thread does it. What lies behind
 * the block is set to zero: loops read it, though nothing that they make of it is stored, and numbers left there from
 * before may be subnormal, which would cost time. */
static void run_panel(item *t, int64_t panel) {
    const lam__conv *plan = t->plan;
    const lam__conv_case *s = &plan->shape;
    const int64_t bytes = lam__item_bytes(plan->dtype);
    const lam__conv_box rows = lam__conv_box_of(&plan->rows, panel);
    const char *x = plan->x + t->group * s->x_step[0] * bytes;
    lam__conv_panel p = {.x = t->block, .to = t->sums, .at = t->at, .row = t->row, .add = panel > 0};
    if (!t->listed) list_panel(t, &rows);
    if (t->in_place) {
        p.x = x + place_in_x(s, &t->places, &rows) * bytes;
    } else {
        lam__conv_block_fill(&t->b, plan, x, &t->places, &rows, t->block);
        memset(t->block + t->b.elements * bytes, 0, (size_t)(LAM__CONV_SLACK * bytes));
    }
    p.places = volume(&t->places);
    p.rows = volume(&rows);
    p.step = t->step;
    if (plan->way == LAM__CONV_ACROSS) run_across(t, panel, &p);
    else if (plan->way == LAM__CONV_DOTS) run_dots(t, panel, &rows, &p);
    else run_along(t, panel, &p);
}

/* ---- results ----------------------------------------------------------------------------------------------------- */

/* Copies [n, features, places...] with these steps of the sums. */
static void put(const item *t, const int64_t dims[5], const int64_t from[5], const char *sums, char *out) {
    const lam_dtype dtype = t->plan->dtype;
    lam__kernels_copy(5, dims, dtype, out, t->plan->shape.out_step + 1, dtype, sums, from);
}

/* The same line by line, where elements are neighbours on both sides and fill a vector. */
static void put_lines(const item *t, const int64_t dims[5], const int64_t from[5], const char *sums, char *out) {
    const lam__conv *plan = t->plan;
    const int64_t *step = plan->shape.out_step, bytes = lam__item_bytes(plan->dtype);
    lam__conv_lines lines = {.lines = dims[3], .count = dims[4], .x_step = from[3], .to_step = step[4], .apart = 1};
    for (int64_t n = 0; n < dims[0]; n++)
        for (int64_t f = 0; f < dims[1]; f++)
            for (int64_t i = 0; i < dims[2]; i++) {
                lines.x = sums + (n * from[0] + f * from[1] + i * from[2]) * bytes;
                lines.to = out + (n * step[1] + f * step[2] + i * step[3]) * bytes;
                plan->loops->copy(&lines);
            }
}

/* The sums have the axes [n, first, second, last, features] or, where they were run along, [n, first, features, second,
 * last] or [n, first, second, features, last]; the copy puts them into the order of the result. */
static void put_item(const item *t) {
    const lam__conv *plan = t->plan;
    const int64_t *d = t->places.dims, *step = plan->shape.out_step, bytes = lam__item_bytes(plan->dtype);
    const int64_t dims[5] = {d[0], t->features, d[1], d[2], d[3]};
    int64_t at = t->group * step[0] + t->feature * step[2], from[5] = {0, 1, 0, 0, t->step};
    at += t->places.start[0] * step[1];
    for (int i = 1; i < 4; i++) at += t->places.start[i] * step[2 + i];
    for (int i = 3; i > 1; i--) from[i] = from[i + 1] * d[i];
    from[0] = from[2] * d[1];
    if (plan->way == LAM__CONV_ALONG) {
        const spans s = spans_of(plan, &t->b, &t->places);
        const int64_t lines = s.count * t->features;
        from[4] = 1;
        from[3] = s.flat ? t->b.axis[2].count : lines;
        from[2] = s.flat ? lines : lines * d[2];
        from[0] = from[2] * d[1];
        from[1] = s.count;
    }
    const bool lines = plan->loops->copy && from[4] == 1 && step[5] == 1 && d[3] >= plan->loops->lanes;
    (lines ? put_lines : put)(t, dims, from, t->sums, plan->out + at * bytes);
}

/* Items count through groups, then chunks of features, then boxes of places: items that follow each other read the same
 * weights. Tables and block are made anew for each item and panel, at a cost of its places and rows, not of their
 * product; where there is one box and one panel, tables serve all items. */
void lam__conv_run(const lam__conv *plan, int64_t begin, int64_t end, void *room) {
    const int64_t boxes = plan->places.boxes;
    item t = {.plan = plan, .block = room, .sums = (char *)room + plan->room_sums, .step = step_of(plan)};
    t.at = (void *)((char *)room + plan->room_at);
    t.row = t.at + plan->places.volume;
    for (int64_t i = begin; i < end; i++) {
        const int64_t chunk = i / boxes;
        t.places = lam__conv_box_of(&plan->places, i % boxes);
        t.group = chunk / plan->chunks;
        t.feature = chunk % plan->chunks * plan->features;
        t.features = plan->shape.o - t.feature;
        if (t.features > plan->features) t.features = plan->features;
        for (int64_t panel = 0; panel < plan->rows.boxes; panel++) run_panel(&t, panel);
        t.listed = boxes == 1 && plan->rows.boxes == 1;
        if (!plan->direct) put_item(&t);
    }
}
