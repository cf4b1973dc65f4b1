/* A part of one feature of x with its zeros around it, for loops whose vectors run along lines: the axes are [first,
 * second, last], or [first, strip, second, part of the last] where every second or third element is wanted, so that
 * those are neighbours: of two strips a line 0 1 2 3 4 5 lies as 0 2 4 in the one and 1 3 5 in the other. Lines begin
 * at whole vectors. */
#ifndef LAM_KERNELS_CONV_PAD_H
#define LAM_KERNELS_CONV_PAD_H

#include "lib/kernels/conv/conv.h"

typedef struct lam__conv_pad {
    const struct lam__conv_loops *loops;
    lam_dtype dtype;
    int64_t size[LAM__CONV_AXES], step[LAM__CONV_AXES]; /* of x */
    int64_t extent[LAM__CONV_AXES];                     /* of the part: elements of x, or places outside of it */
    int64_t line, plane, each;                          /* elements of a line, of a plane, of all of it */
    int64_t strips, strip;                              /* how many, up to 3; elements from one to the next */
} lam__conv_pad;

/* Sizes of x and steps from s; extents are set. */
void lam__conv_pad_layout(lam__conv_pad *p, const lam__conv_case *s, int64_t strips);

/* Copies the part that begins at element start[] of x, which may lie in front of it. Lines may be written past the end,
 * up to LAM__CONV_SLACK elements. */
void lam__conv_pad_fill(const lam__conv_pad *p, const char *x, const int64_t start[LAM__CONV_AXES], char *to);

/* Zeros. */
void lam__conv_pad_clear(const lam__conv_pad *p, char *to, int64_t elements);

/* Where element `at` of a line is. */
static inline int64_t lam__conv_pad_at(const lam__conv_pad *p, int64_t at) {
    return p->strips > 1 ? at % p->strips * p->strip + at / p->strips : at;
}

#endif
