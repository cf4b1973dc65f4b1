/* The text of native parts, and what it is made of: for native*.c alone. A native source is what is known of a list of
 * steps before anything is written; the text is C on vectors of lanes, whose functions stand for pieces of that
 * list. */
#ifndef LAM_PROGRAM_NATIVE_TEXT_H
#define LAM_PROGRAM_NATIVE_TEXT_H

#include "lib/kernels/lane.h"

#include <stdio.h>

/* `times` times the same steps, on what they made this time, the time before and the time before that, and on registers
 * that were set before the loop, of which most are the same each time. */
typedef struct lam__native_loop {
    int64_t first, period, times;
    int64_t head; /* the first of those loops that are written as one (NOTE [rows]); its own number where it is that */
} lam__native_loop;

enum { LAM__NATIVE_PERIOD = 1 << 12 }; /* steps of a loop at most */

/* Steps in pieces, which are functions of the text, or steps that are run. */
typedef struct lam__native_source {
    const lam__lane_step *steps;
    int64_t count, lanes;
    size_t registers;
    int64_t pieces, written; /* steps that are written out */
    lam__native_loop *loops; /* each a piece */
    int64_t loop_count;
    int32_t *piece;          /* by step */
    uint8_t *is_run;         /* by step: it is none of the text */
    int32_t *last;           /* by step: the last one that reads what it makes; -1: none */
    int32_t *from;           /* by step and operand, three to a step: the step that made it; -1: it is there before */
    int32_t *made_by, *seen; /* by register */
    int32_t *slots;          /* for those who look for loops */
    int64_t slot_count;
} lam__native_source;

/* Steps, their count, lanes and registers are set, and memory for all lists of as many entries as lam__native_words
 * says lies at words. */
int64_t lam__native_words(const lam__native_source *s);
void lam__native_read(lam__native_source *s, int32_t *words);

/* The registers that a step reads are at[first..last], those that it makes at[0..made - 1]. */
void lam__native_operands(const lam__lane_step *s, int *first, int *last, int *made);

/* Whether operand k of a step of the loop's first time is what the loop makes, this time or before, and not what a
 * register holds. */
bool lam__native_carried(const lam__native_source *s, const lam__native_loop *l, int64_t i, int k);

/* Whether register k of a step of the loop's first time goes on by the same each time. */
bool lam__native_even(const lam__native_source *s, const lam__native_loop *l, int64_t i, int k);

/* Whether what a step of the loop's first time makes is needed behind the loop of more times than the last two. */
bool lam__native_sets(const lam__native_source *s, const lam__native_loop *l, int64_t i);

/* native_rows.c: finds loops that are written as one. The list has room for `room` loops, and behind it there is as
 * much again. */
void lam__native_find_rows(lam__native_source *s, int64_t room);

/* Whether a step stores fewer lanes than there are. */
static inline bool lam__native_stores_some(const lam__native_source *s, int64_t i) {
    const lam__lane_step *step = &s->steps[i];
    return step->op == LAM__LANE_STORE && step->as.move.step && step->as.move.end < s->lanes;
}

/* The lanes around the middle between which no line of the steps [i, end) ends. False: blocks there are not worth a
 * text of their own (NOTE [inside] in native_rows.c). */
bool lam__native_borders(const lam__native_source *s, int64_t i, int64_t end, int64_t *from, int64_t *to);

/* Whether the steps from i on, one time of a loop, read only what they make themselves or what is there before all
 * steps, and nobody else reads what they make. */
bool lam__native_is_apart(const lam__native_source *s, int64_t i, int64_t period);

/* Whether two steps do the same with memory, but for where in it. */
bool lam__native_same_shape(const lam__lane_step *a, const lam__lane_step *b);

/* Whether a step calls a loop over elements, so that it cannot be text. */
bool lam__native_calls(const lam__lane_step *s);

/* Functions int lamina_N(char *registers, void *const *data, int64_t first, int64_t lanes), which say whether there was
 * something that they do not do right, so that the steps have to be run again. The part is one of `lanes` lanes: where
 * they are a group or more, whole groups are given; 1: registers are of eight bytes. */
void lam__native_write(FILE *file, lam__native_source *s);

/* native_words.c: what stands before the functions; an expression of a step's operands, %1 to %3, or NULL where it has
 * none. */
void lam__native_write_words(FILE *file, int64_t lanes, bool lines);
const char *lam__native_expression(const lam__lane_step *s);

#endif
