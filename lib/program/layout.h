/* Layouts: what the parameters of a row are, as its `layout` says (lamina/extend.h). A walk gives one parameter after
 * the other, for printing and for reading. */
#ifndef LAM_PROGRAM_LAYOUT_H
#define LAM_PROGRAM_LAYOUT_H

#include <lamina/extend.h>

enum { LAM__LAYOUT_NAMES = 16 }; /* parameters of a row, at most */

/* A parameter: a number, or a list of `count`. Elements lie `step` bytes apart, the first one at `at`. */
typedef struct lam__parameter {
    char kind;
    bool hidden; /* the count of a list, which is not printed */
    bool list;
    const char *name; /* in the layout */
    int length;       /* of the name */
    size_t at, step;
    int64_t count;
} lam__parameter;

typedef struct lam__layout {
    const char *text; /* what is left */
    int known;        /* numbers met so far */
    lam__parameter number[LAM__LAYOUT_NAMES];
    size_t at, align, end; /* where the next one begins; the largest alignment; where a list ended, 0 for none */
    const char *group;     /* within `{}`: where it began */
    size_t group_at, group_size;
} lam__layout;

/* Of a row; false: it has none that could be printed. */
bool lam__layout_open(lam__layout *l, const lam_primitive *row);

/* The next parameter; counts of lists are read from params. False behind the last one. */
bool lam__layout_next(lam__layout *l, const void *params, lam__parameter *out);

/* Bytes of the parameters; behind the last one. */
size_t lam__layout_bytes(const lam__layout *l);

/* Element i of a parameter that is a whole number in memory: of any kind but d and s. */
int64_t lam__layout_integer(const lam__parameter *p, const void *params, int64_t i);
void lam__layout_set_integer(const lam__parameter *p, void *params, int64_t i, int64_t value);

#endif
