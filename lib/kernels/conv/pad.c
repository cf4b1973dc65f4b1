/* Parts of x with zeros around them: see pad.h. What is in x is copied by whole lines, in the order of memory, so that
 * a line may be written past its end: what belongs there comes later. */
#include "lib/kernels/conv/pad.h"

#include <string.h>

#include "lib/kernels/conv/loops.h"
#include "lib/kernels/item.h"

void lam__conv_pad_layout(lam__conv_pad *p, const lam__conv_case *s, int64_t strips) {
    const int64_t lanes = p->loops->lanes, line = (p->extent[2] + strips - 1) / strips;
    for (int i = 0; i < LAM__CONV_AXES; i++) {
        p->size[i] = s->axis[i].size;
        p->step[i] = s->x_step[3 + i];
    }
    p->line = (line + lanes - 1) / lanes * lanes;
    p->strips = strips;
    p->strip = p->extent[1] * p->line;
    p->plane = p->strip * strips;
    p->each = p->extent[0] * p->plane;
}

void lam__conv_pad_clear(const lam__conv_pad *p, char *to, int64_t elements) {
    const int64_t item = lam__item_bytes(p->dtype);
    if (elements > 0) memset(to, 0, (size_t)(elements * item));
}

/* [from, to) of an axis of the part lies in x. */
static bool within(const lam__conv_pad *p, int i, int64_t start, int64_t *from, int64_t *to) {
    const int64_t extent = p->extent[i], left = p->size[i] - start;
    *from = start < 0 ? -start : 0;
    *to = left < extent ? left : extent;
    return *from < *to;
}

/* A plane of which lines [first, end), and their elements [from, to), lie in x, the first of these at `x`. All strips
 * are written at once. */
static void fill_plane(const lam__conv_pad *p, const char *x, int64_t first, int64_t end, int64_t from, int64_t to,
                       char *block) {
    const int64_t item = lam__item_bytes(p->dtype), above = first * p->line, below = p->strip - end * p->line;
    const lam__conv_lines l = {.x = x,
                               .to = block + above * item,
                               .lines = end - first,
                               .before = from,
                               .count = to - from,
                               .behind = p->line * p->strips - to,
                               .x_step = p->step[1],
                               .to_step = p->line,
                               .apart = 1,
                               .loose = true};
    for (int64_t i = 0; i < p->strips; i++) lam__conv_pad_clear(p, block + i * p->strip * item, above);
    if (p->strips == 1) p->loops->copy(&l);
    else if (p->strips == 2) p->loops->split(&l, p->strip, p->strip - above);
    else p->loops->split_three(&l, p->strip);
    for (int64_t i = 0; i < p->strips; i++)
        lam__conv_pad_clear(p, block + (i * p->strip + end * p->line) * item, below);
}

void lam__conv_pad_fill(const lam__conv_pad *p, const char *x, const int64_t start[LAM__CONV_AXES], char *to) {
    const int64_t item = lam__item_bytes(p->dtype);
    int64_t from[LAM__CONV_AXES], end[LAM__CONV_AXES];
    bool some = true;
    for (int i = 0; i < LAM__CONV_AXES; i++) some = within(p, i, start[i], &from[i], &end[i]) && some;
    for (int64_t i = 0; i < p->extent[0]; i++, to += p->plane * item) {
        const int64_t at = (start[0] + i) * p->step[0] + (start[1] + from[1]) * p->step[1] + start[2] + from[2];
        if (!some || i < from[0] || i >= end[0]) lam__conv_pad_clear(p, to, p->plane);
        else fill_plane(p, x + at * item, from[1], end[1], from[2], end[2], to);
    }
}
