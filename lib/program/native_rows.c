/* Native parts: loops over rows of a grid. See native_text.h.
 *
 * NOTE [rows]
 * A part that goes along a grid does the same for each row, but for where the row and its neighbours lie. As long as
 * these go on evenly the rows are times of one loop; at the end of a plane, and where borders are joined, they do not,
 * and another loop begins, or a row of its own. All of them are written as one: its text once, and a table that says
 * how many times, and where each memory begins and by how much it goes on. A grid of three axes has a row of text then,
 * and not one for each plane. */
#include "lib/program/native_text.h"

#include <string.h>

enum { NONE = -1, LEAST_ROW = 8, LEAST_LOOPS = 6, MOST_HEADS = 64 };

bool lam__native_is_apart(const lam__native_source *s, int64_t i, int64_t period) {
    for (int64_t k = i; k < i + period; k++) {
        int first, last, made;
        lam__native_operands(&s->steps[k], &first, &last, &made);
        if (s->last[k] >= i + period || lam__native_calls(&s->steps[k])) return false;
        for (int o = first; o <= last; o++) {
            const int32_t by = s->from[3 * k + o - 1];
            if (by != NONE && by < i) return false;
        }
    }
    return true;
}

/* Whether two such times are the same steps, with the same registers from before. */
static bool is_same_row(const lam__native_source *s, int64_t a, int64_t b, int64_t period) {
    for (int64_t k = 0; k < period; k++) {
        const lam__lane_step *x = &s->steps[a + k], *y = &s->steps[b + k];
        int first, last, made;
        lam__native_operands(x, &first, &last, &made);
        if (!lam__native_same_shape(x, y) || x->inputs != y->inputs) return false;
        for (int o = first; o <= last; o++) {
            const int32_t by = s->from[3 * (a + k) + o - 1], other = s->from[3 * (b + k) + o - 1];
            if (by == NONE ? other != NONE || x->at[o] != y->at[o] : other - b != by - a) return false;
        }
    }
    return true;
}

/* Whether all times of a loop are apart and the same. */
static bool is_rows(const lam__native_source *s, const lam__native_loop *l) {
    for (int64_t t = 0; t < l->times; t++) {
        const int64_t i = l->first + t * l->period;
        if (!lam__native_is_apart(s, i, l->period) || !is_same_row(s, l->first, i, l->period)) return false;
    }
    return true;
}

/* The end of the row that begins here: behind a store, where nothing else is needed of what it has made. NONE: it has
 * none before `end`. */
static int64_t row_end(const lam__native_source *s, int64_t i, int64_t end) {
    if (end > i + LAM__NATIVE_PERIOD) end = i + LAM__NATIVE_PERIOD;
    for (int64_t k = i + LEAST_ROW; k <= end; k++)
        if (s->steps[k - 1].op == LAM__LANE_STORE && lam__native_is_apart(s, i, k - i)) return k;
    return NONE;
}

/* Rows between loops are loops of one time each: those of another plane may be the same. */
static void find_single(const lam__native_source *s, int64_t i, int64_t end, lam__native_loop *made, int64_t *count,
                        int64_t room) {
    for (int64_t next; *count < room && (next = row_end(s, i, end)) != NONE; i = next)
        made[(*count)++] = (lam__native_loop){i, next - i, 1, 0};
}

/* The loop that another one is written with; its own number where there is none. */
static int64_t head_of(const lam__native_source *s, int64_t heads[MOST_HEADS], int *count, int64_t l) {
    const lam__native_loop *own = &s->loops[l];
    for (int h = 0; h < *count; h++) {
        const lam__native_loop *head = &s->loops[heads[h]];
        if (head->period == own->period && is_same_row(s, head->first, own->first, own->period)) return heads[h];
    }
    if (*count < MOST_HEADS) heads[(*count)++] = l;
    return l;
}

/* A few loops are faster apart, with numbers in the place of the table. */
static void part_few(lam__native_source *s, int64_t head) {
    int64_t count = 0;
    for (int64_t l = head; l < s->loop_count; l++) count += s->loops[l].head == head;
    for (int64_t l = head; l < s->loop_count && count < LEAST_LOOPS; l++)
        if (s->loops[l].head == head) s->loops[l].head = l;
}

/* Of one lane there are no rows, and where no loop is one of rows there is no grid. */
void lam__native_find_rows(lam__native_source *s, int64_t room) {
    lam__native_loop *made = s->loops + room;
    int64_t count = 0, heads[MOST_HEADS], at = 0;
    int head_count = 0;
    bool grid = false;
    for (int64_t k = 0; k < s->loop_count && s->lanes > 1; k++) grid = grid || is_rows(s, &s->loops[k]);
    for (int64_t k = 0; k <= s->loop_count && grid; k++) {
        const lam__native_loop *l = k < s->loop_count ? &s->loops[k] : NULL;
        find_single(s, at, l ? l->first : s->count, made, &count, room);
        if (!l) break;
        made[count++] = *l;
        at = l->first + l->period * l->times;
    }
    if (grid) {
        memcpy(s->loops, made, (size_t)count * sizeof *made);
        s->loop_count = count;
    }
    for (int64_t l = 0; l < s->loop_count; l++)
        s->loops[l].head = grid && is_rows(s, &s->loops[l]) ? head_of(s, heads, &head_count, l) : l;
    for (int h = 0; h < head_count; h++) part_few(s, heads[h]);
}

/* NOTE [inside]
 * Lines that are put together have ends, at which each block of lanes would look where it is. Most blocks lie where no
 * line ends, around the lane in the middle: for these the text is compiled once more, as if nothing ended anywhere.
 * That is worth it where lanes are chosen, which takes steps of its own; where lines are only read, looking takes
 * less. */

static void narrow(int64_t end, int64_t middle, int64_t *from, int64_t *to) {
    if (end <= middle && end > *from) *from = end;
    if (end > middle && end < *to) *to = end;
}

bool lam__native_borders(const lam__native_source *s, int64_t i, int64_t end, int64_t *from, int64_t *to) {
    bool any = false;
    *from = 0;
    *to = s->lanes;
    for (; i < end && s->lanes > 1; i++) {
        const lam__lane_step *step = &s->steps[i];
        const lam__lane_line *line = step->op == LAM__LANE_LINE ? step->as.call.params : NULL;
        const bool some = lam__native_stores_some(s, i);
        if (some) narrow(step->as.move.end, s->lanes / 2, from, to);
        for (int64_t k = 0; line && k < line->count; k++) {
            narrow(line->runs[k].end, s->lanes / 2, from, to);
            any = any || line->runs[k].data == LAM__LANE_TRUE;
        }
        any = any || some;
    }
    return any;
}
