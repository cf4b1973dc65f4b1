/* Native parts: steps are told apart into pieces, among them loops. A simulation that is recorded step by step is the
 * same steps again and again: written as a loop they take less text, less time to compile and less room in the caches
 * of instructions. See native_text.h. */
#include "lib/program/native_text.h"

#include <string.h>

/* CHUNK: steps of a function. WINDOW: steps by whose operations a repetition is found. LEAST_: times, and steps of all
 * times, that a loop is worth. DEPTH: times before this one that a step may read of. LOOKED_UP: one register in so many
 * steps may be looked up in a table. FEW, FEW_OF_LANES: fewer steps than that between two calls are run as steps. */
enum {
    NONE = -1,
    CHUNK = 250,
    WINDOW = 16,
    LEAST_TIMES = 4,
    LEAST_STEPS = 2 * WINDOW,
    DEPTH = 2,
    LOOKED_UP = 2,
    FEW = 8,
    FEW_OF_LANES = 4
};

/* ---- what reads what --------------------------------------------------------------------------------------------- */

void lam__native_operands(const lam__lane_step *s, int *first, int *last, int *made) {
    *first = 1;
    *made = 1;
    *last = s->inputs;
    if (s->op == LAM__LANE_LOAD) *last = 0;
    if (s->op == LAM__LANE_STORE) {
        *last = 1;
        *made = 0;
    }
    if (s->op == LAM__LANE_SINCOS) {
        *first = *last = 2;
        *made = 2;
    }
}

/* By walking along: whoever wrote a register last made what is read from it. Registers begin at multiples of 8 bytes,
 * so an eighth of the offset is a number of one. */
static void find_sources(lam__native_source *s) {
    memset(s->last, 0xff, (size_t)s->count * sizeof *s->last);
    memset(s->from, 0xff, 3 * (size_t)s->count * sizeof *s->from);
    memset(s->made_by, 0xff, s->registers * sizeof *s->made_by);
    memset(s->seen, 0xff, s->registers * sizeof *s->seen);
    for (int64_t i = 0; i < s->count; i++) {
        const lam__lane_step *step = &s->steps[i];
        int first, last, made;
        lam__native_operands(step, &first, &last, &made);
        for (int k = first; k <= last; k++) {
            const int32_t by = s->made_by[step->at[k] / 8];
            s->from[3 * i + k - 1] = by;
            if (by != NONE) s->last[by] = (int32_t)i;
        }
        for (int k = 0; k < made; k++) s->made_by[step->at[k] / 8] = (int32_t)i;
    }
}

/* ---- loops ------------------------------------------------------------------------------------------------------- */

static const lam__lane_line *line_of(const lam__lane_step *s) {
    return s->op == LAM__LANE_LINE ? s->as.call.params : NULL;
}

/* Runs of the same lanes from the same memory. */
static bool same_runs(const lam__lane_line *a, const lam__lane_line *b) {
    bool same = a->count == b->count;
    for (int64_t k = 0; k < a->count && same; k++)
        same = a->runs[k].end == b->runs[k].end && a->runs[k].step == b->runs[k].step &&
               a->runs[k].data == b->runs[k].data;
    return same;
}

/* Registers need not be the same: what counts is who made what lies in them (operand_goes_on), and the rest is for
 * tables. Where elements are moved the memory has to be the same, and how far lanes are apart. */
bool lam__native_same_shape(const lam__lane_step *a, const lam__lane_step *b) {
    if (a->op != b->op || a->same != b->same || memcmp(a->item, b->item, sizeof a->item)) return false;
    if (a->op == LAM__LANE_LINE) return same_runs(line_of(a), line_of(b));
    if (a->op == LAM__LANE_LOAD) return a->at[1] == b->at[1] && a->as.move.step == b->as.move.step;
    if (a->op == LAM__LANE_STORE)
        return a->at[0] == b->at[0] && a->as.move.step == b->as.move.step && a->as.move.end == b->as.move.end;
    return true;
}

/* The base of what is moved goes on by the same step each time. */
static bool moves_on(const lam__native_source *s, int64_t of_first, int64_t i, int64_t period) {
    const lam__lane_step *steps = s->steps;
    const lam__lane_line *now = line_of(&steps[i]);
    for (int64_t k = 0; now && k < now->count; k++)
        if (line_of(&steps[i + period])->runs[k].base - now->runs[k].base !=
            line_of(&steps[of_first + period])->runs[k].base - line_of(&steps[of_first])->runs[k].base)
            return false;
    if (steps[i].op != LAM__LANE_LOAD && steps[i].op != LAM__LANE_STORE) return true;
    return steps[i + period].as.move.base - steps[i].as.move.base ==
           steps[of_first + period].as.move.base - steps[of_first].as.move.base;
}

/* As the first two times tell: the makers are a period apart. Of one time, what it makes itself. */
bool lam__native_carried(const lam__native_source *s, const lam__native_loop *l, int64_t i, int k) {
    const int64_t a = s->from[3 * i + k - 1];
    if (l->times == 1) return a >= l->first;
    const int64_t b = s->from[3 * (i + l->period) + k - 1];
    return a != NONE && b - a == l->period && i - a < DEPTH * l->period;
}

/* What operand k of step i is, compared with that of the step one period later: made by steps that are a period apart
 * too, or by none of the loop. As the first two times are, so are all. */
static bool operand_goes_on(const lam__native_source *s, const lam__native_loop *l, int64_t of_first, int64_t i,
                            int k) {
    const int64_t x = s->from[3 * i + k - 1], y = s->from[3 * (i + l->period) + k - 1];
    if (lam__native_carried(s, l, of_first, k)) return y - x == l->period;
    return x < l->first && y < l->first;
}

/* Whether step i and the one a period later are the same step of two times. */
static bool goes_on(const lam__native_source *s, const lam__native_loop *l, int64_t i) {
    const lam__lane_step *step = &s->steps[i];
    const int64_t of_first = l->first + (i - l->first) % l->period;
    int first, last, made;
    if (lam__native_calls(step) || !lam__native_same_shape(step, step + l->period) ||
        !moves_on(s, of_first, i, l->period))
        return false;
    lam__native_operands(step, &first, &last, &made);
    for (int k = first; k <= last; k++)
        if (!operand_goes_on(s, l, of_first, i, k)) return false;
    return true;
}

/* The last DEPTH times are in variables when the loop ends, and are set behind it. */
bool lam__native_sets(const lam__native_source *s, const lam__native_loop *l, int64_t i) {
    const int64_t end = l->first + l->times * l->period;
    for (int64_t k = i; k < end - DEPTH * l->period; k += l->period)
        if (s->last[k] >= end) return true;
    return false;
}

/* Then a sum says where it is; otherwise each time has an entry of a table. */
bool lam__native_even(const lam__native_source *s, const lam__native_loop *l, int64_t i, int k) {
    const lam__lane_step *step = &s->steps[i];
    if (l->times == 1) return true;
    const int64_t by = (int64_t)step[l->period].at[k] - (int64_t)step->at[k];
    for (int64_t t = 2; t < l->times; t++)
        if ((int64_t)step[t * l->period].at[k] != step->at[k] + t * by) return false;
    return true;
}

/* Operands of a loop's steps, three to a step, whose registers are to be looked up in a table each time. */
typedef struct tables {
    uint8_t is[3 * LAM__NATIVE_PERIOD];
    int64_t count;
} tables;

/* Notes for what operands of step i + period, which goes on, tables are needed. */
static void note_tables(const lam__native_source *s, const lam__native_loop *l, int64_t i, tables *t) {
    const int64_t place = (i - l->first) % l->period, time = (i - l->first) / l->period + 1;
    const lam__lane_step *step = &s->steps[l->first + place];
    int first, last, made;
    lam__native_operands(step, &first, &last, &made);
    for (int k = first; k <= last; k++) {
        const int64_t at = step->at[k], by = (int64_t)step[l->period].at[k] - at;
        uint8_t *is = &t->is[3 * place + k - 1];
        if (*is || (int64_t)step[time * l->period].at[k] == at + time * by) continue;
        if (lam__native_carried(s, l, l->first + place, k)) continue;
        *is = 1;
        t->count++;
    }
}

/* Whether a loop begins here with this period. It ends where steps do not go on, or tables would be too many to be
 * worth it: other registers may belong to the same steps of something else. */
static bool find_loop(const lam__native_source *s, int64_t first, int64_t period, lam__native_loop *l) {
    tables t;
    *l = (lam__native_loop){first, period, LEAST_TIMES, 0}; /* as what it is looked at */
    memset(t.is, 0, 3 * (size_t)period);
    t.count = 0;
    int64_t i = first;
    for (; i + period < s->count && goes_on(s, l, i); i++) {
        note_tables(s, l, i, &t);
        if (t.count > period / LOOKED_UP) break;
    }
    l->times = (i - first) / period + 1;
    return l->times >= LEAST_TIMES && l->times * period >= LEAST_STEPS;
}

/* The same with this period or, where it is short, a multiple: operations alone do not tell steps apart that take
 * turns, and what a step remembers of the times before reaches further back then. */
static bool find_any_loop(const lam__native_source *s, int64_t first, int64_t period, lam__native_loop *l) {
    if (period > LAM__NATIVE_PERIOD) return false;
    for (int64_t p = period; p == period || p < 2 * WINDOW; p += period)
        if (find_loop(s, first, p, l)) return true;
    return false;
}

/* As in graph.c. */
static uint64_t mixed(uint64_t h, uint64_t x) {
    h = (h ^ x) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 29;
}

/* A loop that begins within a row of a grid reads of the time before what the row has made already: it begins behind
 * the store that is the row's last instead, where the next row does. */
static void align(const lam__native_source *s, lam__native_loop *l) {
    lam__native_loop other;
    if (s->lanes == 1 || lam__native_is_apart(s, l->first, l->period)) return;
    for (int64_t i = l->first; i < l->first + l->period; i++)
        if (s->steps[i].op == LAM__LANE_STORE && i + 1 + l->period <= s->count &&
            lam__native_is_apart(s, i + 1, l->period)) {
            if (find_loop(s, i + 1, l->period, &other)) *l = other;
            return;
        }
}

/* The step that was the last to begin such a window; NONE. Its slot is this one's from now on. */
static int32_t before(lam__native_source *s, int64_t i) {
    uint64_t h = 0;
    for (int64_t k = i; k < i + WINDOW; k++) h = mixed(h, s->steps[k].op);
    int32_t *slot = &s->slots[h & (uint64_t)(s->slot_count - 1)], was = *slot;
    *slot = (int32_t)i;
    return was;
}

/* One walk: where the operations of the next WINDOW steps were met before, the distance may be a period. Loops do not
 * overlap, and behind one the walk goes on at its end. */
static void find_loops(lam__native_source *s) {
    int64_t free = 0; /* what no loop has yet begins here */
    memset(s->slots, 0xff, (size_t)s->slot_count * sizeof *s->slots);
    for (int64_t i = 0; i + WINDOW < s->count;) {
        const int64_t was = before(s, i);
        lam__native_loop l;
        i++;
        if (was == NONE || was < free || !find_any_loop(s, was, i - 1 - was, &l)) continue;
        align(s, &l);
        s->loops[s->loop_count++] = l;
        i = free = l.first + l.times * l.period;
    }
}

/* ---- pieces ------------------------------------------------------------------------------------------------------ */

/* Steps from here on that are no loop and call none. What is in between two calls is a function of the text. */
static int64_t written_from(const lam__native_source *s, int64_t i, int64_t end) {
    const int64_t from = i;
    while (i < end && !lam__native_calls(&s->steps[i])) i++;
    return i - from;
}

/* Which of the steps before `end`, where a loop begins, are run as steps: those that call loops over elements, and a
 * few between these, which a function is not worth. */
static void find_runs(lam__native_source *s, int64_t i, int64_t end) {
    const int64_t least = s->lanes == 1 ? FEW : FEW_OF_LANES;
    for (bool called = false; i < end; called = true) {
        const int64_t few = written_from(s, i, end);
        const bool run = few < least && (called || i + few < end);
        memset(s->is_run + i, run, (size_t)few);
        i += few;
        for (; i < end && lam__native_calls(&s->steps[i]); i++) s->is_run[i] = 1;
    }
}

/* Neighbouring steps that are run are a piece; other steps make pieces of at most CHUNK, since compilers take longer
 * for long functions. */
static void find_pieces_before(lam__native_source *s, int64_t i, int64_t end) {
    const int64_t first = i;
    find_runs(s, i, end);
    for (int64_t length = 0; i < end; i++) {
        if (i == first || s->is_run[i] != s->is_run[i - 1] || (!s->is_run[i] && length == CHUNK)) {
            s->pieces++;
            length = 0;
        }
        length++;
        s->written += !s->is_run[i];
        s->piece[i] = (int32_t)s->pieces - 1;
    }
}

/* A loop is a piece of its own, with those that are written with it. */
static void find_pieces(lam__native_source *s) {
    int64_t i = 0;
    for (const lam__native_loop *l = s->loops, *last = l + s->loop_count; l < last; l++) {
        const bool own = l->head == l - s->loops;
        find_pieces_before(s, i, l->first);
        const int64_t end = l->first + l->period * l->times;
        const int32_t piece = own ? (int32_t)s->pieces++ : s->piece[s->loops[l->head].first];
        for (i = l->first; i < end; i++) {
            s->piece[i] = piece;
            s->is_run[i] = 0;
        }
        if (own) s->written += l->period;
    }
    find_pieces_before(s, i, s->count);
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

/* Twice as many as there are steps, and a power of 2, for a mask. */
static int64_t slots_of(const lam__native_source *s) {
    int64_t slots = 256;
    while (slots < 2 * s->count) slots *= 2;
    return slots;
}

/* Of LEAST_STEPS steps, or rows of half a WINDOW. */
static int64_t loops_of(const lam__native_source *s) {
    return s->count / (WINDOW / 2) + 1;
}

/* What lam__native_read gives out. Six for each step: its piece, its last reader, three makers, and is_run, which has
 * bytes at the end. */
int64_t lam__native_words(const lam__native_source *s) {
    return 2 * loops_of(s) * (int64_t)(sizeof(lam__native_loop) / sizeof(int32_t)) + 6 * s->count +
           2 * (int64_t)s->registers + slots_of(s);
}

/* Loops lie first, since their numbers are wider, bytes last. */
void lam__native_read(lam__native_source *s, int32_t *words) {
    s->loops = (void *)words;
    words += 2 * loops_of(s) * (int64_t)(sizeof *s->loops / sizeof *words);
    s->piece = words;
    s->last = words + s->count;
    s->from = words + 2 * s->count;
    s->made_by = words + 5 * s->count;
    s->seen = s->made_by + s->registers;
    s->slots = s->seen + s->registers;
    s->slot_count = slots_of(s);
    s->is_run = (uint8_t *)(s->slots + s->slot_count);
    s->loop_count = s->pieces = s->written = 0;
    find_sources(s);
    find_loops(s);
    lam__native_find_rows(s, loops_of(s));
    find_pieces(s);
}
