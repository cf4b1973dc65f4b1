/* Control flow whose condition is traced: it becomes one equation of the program, which chooses when it is run. */
#ifndef LAM_TRANSFORMS_DEFERRED_H
#define LAM_TRANSFORMS_DEFERRED_H

#include "transforms/control.h"

/* How much is known of a condition. */
typedef enum lam__known {
    LAM__KNOWN,    /* its elements are there, if need be for each example */
    LAM__TRACED,   /* they will be when a program is run */
    LAM__NOT_ASKED /* never: types are all that is wanted */
} lam__known;

lam__known lam__deferred_known(const lam_tensor *condition);

/* Of a loop that makes so many trips with these operands, n and behind them `elements` that have an element for each
 * trip, and what f captures: LAM__TRACED where it is to be one equation, since its operations would be too many for a
 * program that is to be compiled, or better not fused with others. */
lam__known lam__deferred_loop(lam_fn *f, size_t n, size_t elements, lam_tensor *const operands[], int64_t trips);

/* What a program that is to be fused has recorded so far: operations, -1 where there is none, and elements of what
 * is no small array. Loops that are one equation count as many, and choices where they become machine code:
 * each of them is compiled by itself. */
typedef struct lam__extent {
    int64_t operations, wide;
} lam__extent;

/* Of the program which these belong to. */
lam__extent lam__deferred_recorded(lam_fn *f, size_t n, lam_tensor *const operands[]);

/* Whether so many trips are too many for it, if each leaves as much as has been added to `before`. */
bool lam__deferred_is_long(lam__extent before, lam__extent now, int64_t trips);

/* As lam__deferred_loop, of a loop that has made so many trips and goes on, and whose condition depends on nothing that
 * is traced. */
bool lam__deferred_trips(lam_fn *f, size_t n, lam_tensor *const operands[], int64_t trips);

typedef enum lam__deferral { LAM__SWITCH, LAM__WHILE, LAM__SCAN } lam__deferral;

/* What is to be done then. */
typedef struct lam__later {
    lam__deferral kind;
    size_t n;       /* operands; of LAM__SWITCH behind the index */
    size_t carries; /* of these, the first; LAM__SWITCH has none */
    int64_t length; /* LAM__SCAN */
    bool reverse;   /* LAM__SCAN */
    bool counted;   /* LAM__SCAN of a function that takes and gives no number, which is the first carry */
} lam__later;

/* Does it. results[] as of the operation; false after recording a failure. */
bool lam__deferred_call(lam__control *c, const lam__later *what, lam_tensor *const operands[], lam_tensor *results[]);

/* The same, if the functions can do without elements. *reads: they cannot, and nothing is recorded; what was drawn in
 * vain is forgotten. Trip by trip they may, since the first carries and the number of a trip are known there. */
bool lam__deferred_try(lam__control *c, const lam__later *what, lam_tensor *const operands[], lam_tensor *results[],
                       bool *reads);

#endif
