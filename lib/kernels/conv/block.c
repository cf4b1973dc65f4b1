/* Blocks of x: see block.h. Along each axis a block holds strips of x. Usually one strip has all places from the first
 * to the last that is met; where vectors need neighbours that are a stride apart in x, there is a strip for each
 * remainder; and where windows do not overlap, one for each row of the window. */
#include "lib/kernels/conv/block.h"

#include <string.h>

#include "lib/kernels/conv/loops.h"
#include "lib/kernels/item.h"

/* Places or rows of whom vectors want neighbours, and of whom each may have a strip of its own. t places and k rows
 * meet t k elements at most, with repetitions; where that is less than all places between the first and the last, as
 * with strides or dilations larger than the window, each row (or place) is copied for itself. */
static lam__conv_strips strips_of(const lam__conv_axis *a, int way, bool inner, const lam__conv_box *places,
                                  const lam__conv_box *rows, int i) {
    const int64_t t = places->dims[i], k = rows->dims[i], first = places->start[i] * a->stride - a->low;
    const int64_t start = first + rows->start[i] * a->spread, length = (t - 1) * a->stride + (k - 1) * a->spread + 1;
    const int64_t fold = !inner ? 1 : way == LAM__CONV_ALONG ? a->stride : way == LAM__CONV_DOTS ? a->spread : 1;
    const bool dots = way == LAM__CONV_DOTS;
    lam__conv_strips s = {
        .strips = fold, .count = (length + fold - 1) / fold, .first = start, .between = 1, .step = fold, .fold = fold};
    if ((double)t * (double)k < (double)s.strips * (double)s.count)
        s = (lam__conv_strips){.strips = dots ? t : k,
                               .count = dots ? k : t,
                               .first = start,
                               .between = dots ? a->stride : a->spread,
                               .step = dots ? a->spread : a->stride,
                               .apart = true};
    return s;
}

/* From the last axis outwards: [n, c, first strips, first, second strips, last strips, second, last], without gaps. */
void lam__conv_block_layout(const lam__conv_case *s, int way, const lam__conv_box *places, const lam__conv_box *rows,
                            lam__conv_block *b) {
    for (int i = 0; i < LAM__CONV_AXES; i++) b->axis[i] = strips_of(&s->axis[i], way, i > 0, places, rows, i + 1);
    lam__conv_strips *a = b->axis;
    a[2].step_in = 1;
    a[1].step_in = a[2].count;
    a[2].strip_step = a[1].count * a[2].count;
    a[1].strip_step = a[2].strips * a[2].strip_step;
    a[0].step_in = a[1].strips * a[1].strip_step;
    a[0].strip_step = a[0].count * a[0].step_in;
    b->c_step = a[0].strips * a[0].strip_step;
    b->n_step = rows->dims[0] * b->c_step;
    b->elements = places->dims[0] * b->n_step;
}

/* Of a place that is so many elements of x behind the first one: which strip by the remainder, where in it by the
 * rest. */
static int64_t offset(const lam__conv_strips *a, int64_t places) {
    if (a->fold == 1) return places * a->step_in;
    return places % a->fold * a->strip_step + places / a->fold * a->step_in;
}

int64_t lam__conv_block_at(const lam__conv_block *b, const lam__conv_case *s, int way, int i, int64_t t) {
    const lam__conv_strips *a = &b->axis[i];
    if (a->apart) return t * (way == LAM__CONV_DOTS ? a->strip_step : a->step_in);
    return offset(a, t * s->axis[i].stride);
}

int64_t lam__conv_block_row(const lam__conv_block *b, const lam__conv_case *s, int way, int i, int64_t k) {
    const lam__conv_strips *a = &b->axis[i];
    if (a->apart) return k * (way == LAM__CONV_DOTS ? a->step_in : a->strip_step);
    return offset(a, k * s->axis[i].spread);
}

/* ---- copying ----------------------------------------------------------------------------------------------------- */

/* Elements of a strip that lie within x: from the first to the end. The quotients are rounded towards the inside:
 * nothing in front of x or behind it is named. A strip that lies outside altogether has the same first and end, which
 * are its own in any case: in front of x they would be far behind it, where windows are larger than x. */
static void within(const lam__conv_strips *a, int64_t strip, int64_t size, int64_t *first, int64_t *end) {
    const int64_t start = a->first + strip * a->between;
    *first = start < 0 ? (-start + a->step - 1) / a->step : 0;
    if (*first > a->count) *first = a->count;
    *end = start < size ? (size - 1 - start) / a->step + 1 : 0;
    if (*end > a->count) *end = a->count;
    if (*end < *first) *end = *first;
}

/* Copies strips strip[] of the three axes, of all examples and features. Zeros around them are there already. */
static void copy_strips(const lam__conv_block *b, const lam__conv_case *s, lam_dtype dtype, const char *x,
                        const lam__conv_box *places, const lam__conv_box *rows, const int64_t strip[], char *block) {
    int64_t dims[5] = {places->dims[0], rows->dims[0]}, to[5] = {b->n_step, b->c_step};
    int64_t from[5] = {s->x_step[1], s->x_step[2]}, first, end, block_at = 0;
    int64_t x_at = places->start[0] * s->x_step[1] + rows->start[0] * s->x_step[2];
    for (int i = 0; i < LAM__CONV_AXES; i++) {
        const lam__conv_strips *a = &b->axis[i];
        within(a, strip[i], s->axis[i].size, &first, &end);
        dims[2 + i] = end - first;
        to[2 + i] = a->step_in;
        from[2 + i] = a->step * s->x_step[3 + i];
        block_at += strip[i] * a->strip_step + first * a->step_in;
        x_at += (a->first + strip[i] * a->between + first * a->step) * s->x_step[3 + i];
        if (end == first) return;
    }
    const int64_t item = lam__item_bytes(dtype);
    lam__kernels_copy(5, dims, dtype, block + block_at * item, to, dtype, x + x_at * item, from);
}

/* Whether some of it is not in x. Strips of one axis are looked at as a whole, so a block may be cleared though each of
 * its strips lies inside. */
static bool has_zeros(const lam__conv_block *b, const lam__conv_case *s) {
    for (int i = 0; i < LAM__CONV_AXES; i++) {
        const lam__conv_strips *a = &b->axis[i];
        if (a->first < 0 || a->first + (a->strips - 1) * a->between + (a->count - 1) * a->step >= s->axis[i].size)
            return true;
    }
    return false;
}

/* Where elements of x lie in memory, from its group's first on, and in the block. */
typedef struct filling {
    const lam__conv_block *b;
    const lam__conv *p;
    char *block;
    const char *x;
} filling;

static void clear(const filling *f, int64_t at, int64_t elements) {
    const int64_t item = lam__item_bytes(f->p->dtype);
    if (elements > 0) memset(f->block + at * item, 0, (size_t)(elements * item));
}

/* Strips number i of the second axis and j of the last one. Where the last one has two, of every second element, both
 * are written as x is read: j is 0 then. */
static void fill_strips(const filling *f, int64_t i, int64_t j, bool both, int64_t x, int64_t at) {
    const lam__conv_strips *second = &f->b->axis[1], *last = &f->b->axis[2];
    const lam__conv_case *s = &f->p->shape;
    const int64_t item = lam__item_bytes(f->p->dtype), odd = last->strip_step;
    lam__conv_strips all = *last;
    int64_t first, end, from, to;
    if (both) all.count *= 2, all.step = 1;
    within(second, i, s->axis[1].size, &first, &end);
    within(&all, j, s->axis[2].size, &from, &to);
    if (from == to) end = first;
    for (int k = 0; k <= both; k++) clear(f, at + k * odd, first * last->count);
    if (end > first) {
        const int64_t line = second->first + i * second->between + first * second->step;
        const int64_t start = last->first + j * last->between + from * all.step;
        const lam__conv_lines lines = {
            .x = f->x + (x + line * s->x_step[4] + start * s->x_step[5]) * item,
            .to = f->block + (at + first * last->count) * item,
            .lines = end - first,
            .before = from,
            .count = to - from,
            .behind = all.count - to,
            .x_step = second->step * s->x_step[4],
            .to_step = last->count,
            .apart = (int)(all.step * s->x_step[5]),
            .loose = true,
        };
        if (both) f->p->loops->split(&lines, odd, odd - first * last->count);
        else f->p->loops->copy(&lines);
    }
    for (int k = 0; k <= both; k++) clear(f, at + k * odd + end * last->count, (second->count - end) * last->count);
}

/* One place of the first axis, of one example and feature, which begin there: all strips of the other two, line by
 * line, each with its zeros; in the order of memory, and behind the last one there is room. */
static void fill_plane(const filling *f, int64_t x, int64_t at) {
    const lam__conv_strips *second = &f->b->axis[1], *last = &f->b->axis[2];
    const bool both = last->strips == 2 && last->fold == 2 && f->p->shape.x_step[5] == 1;
    for (int64_t i = 0; i < second->strips; i++)
        for (int64_t j = 0; j < last->strips; j += 1 + both, at += (1 + both) * last->strip_step)
            fill_strips(f, i, j, both, x, at);
}

/* Plane by plane, in the order of the block. */
static void fill_planes(const filling *f, const lam__conv_box *places, const lam__conv_box *rows) {
    const lam__conv_strips *a = &f->b->axis[0];
    const lam__conv_case *s = &f->p->shape;
    int64_t at = 0;
    for (int64_t n = 0; n < places->dims[0]; n++)
        for (int64_t c = 0; c < rows->dims[0]; c++)
            for (int64_t i = 0; i < a->strips; i++)
                for (int64_t k = 0; k < a->count; k++, at += a->step_in) {
                    const int64_t place = a->first + i * a->between + k * a->step;
                    const int64_t x = (places->start[0] + n) * s->x_step[1] + (rows->start[0] + c) * s->x_step[2];
                    if (place < 0 || place >= s->axis[0].size) clear(f, at, a->step_in);
                    else fill_plane(f, x + place * s->x_step[3], at);
                }
}

/* What lies outside of x is zero. By lines where they are such as the loops copy; else the block is cleared if some of
 * it is outside, and strips are copied as wholes, however x lies. */
void lam__conv_block_fill(const lam__conv_block *b, const lam__conv *p, const char *x, const lam__conv_box *places,
                          const lam__conv_box *rows, char *block) {
    const lam__conv_strips *a = b->axis;
    const int64_t apart = a[2].step * p->shape.x_step[5];
    int64_t strip[3];
    if (p->loops->copy && (apart == 1 || apart == 2)) {
        fill_planes(&(filling){b, p, block, x}, places, rows);
        return;
    }
    if (has_zeros(b, &p->shape)) memset(block, 0, (size_t)(b->elements * lam__item_bytes(p->dtype)));
    for (strip[0] = 0; strip[0] < a[0].strips; strip[0]++)
        for (strip[1] = 0; strip[1] < a[1].strips; strip[1]++)
            for (strip[2] = 0; strip[2] < a[2].strips; strip[2]++)
                copy_strips(b, &p->shape, p->dtype, x, places, rows, strip, block);
}
