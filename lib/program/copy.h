/* Programs recorded again, with other numbers for their variables, since the ones that they were may be shared by
 * functions and equations: without some of their inputs and results, and with choices and loops that have others. */
#ifndef LAM_PROGRAM_COPY_H
#define LAM_PROGRAM_COPY_H

#include "lib/program/arena.h"
#include "lib/program/nested.h"

/* What becomes of an equation with programs in it: other parameters, which operands and results it keeps, the results
 * that it has behind these, and the ones of another equation, before it, that it takes as operands. */
typedef struct lam__edit {
    lam__nested *what;       /* NULL: it stays as it is */
    bool *in, *out;          /* NULL: all */
    int given, taken;        /* results more, operands more */
    lam_value *const *types; /* of those results */
    int at;                  /* where those operands stand among all */
    struct lam__edit *from;  /* whose results they are */
    int64_t first;           /* its first one's variable in the copy, once it is there */
} lam__edit;

/* p without some inputs and results (NULL: with all), and with its equations changed (NULL: as they are), finished;
 * NULL without memory. plain: calls with rules are left out. */
lam__program *lam__program_copy(lam__arena *arena, const lam__program *p, bool plain, const bool inputs[],
                                const bool results[], lam__edit changed[]);

#endif
