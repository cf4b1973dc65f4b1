/* The loops of convolutions, one set for each instruction set. All of them add up a panel of the contraction for some
 * places and features; they differ in what lies side by side in a vector. */
#ifndef LAM_KERNELS_CONV_LOOPS_H
#define LAM_KERNELS_CONV_LOOPS_H

#include "lib/kernels/simd/simd.h"

/* What loops may read past a line; features and lines at most; phases that are woven from memory, and in registers,
 * which is also how many strips a part of x has at most. */
enum { LAM__CONV_SLACK = 128, LAM__CONV_FEW = 4, LAM__CONV_LINES = 4, LAM__CONV_SIDE = 8, LAM__CONV_WOVEN = 3 };

/* Element `row` of the contraction meets place `at` at x[at + row]; offsets in elements. */
typedef struct lam__conv_panel {
    const void *x, *w;
    void *to;
    const int64_t *at, *row; /* places and rows of them */
    int64_t places, rows;
    int64_t step;            /* of `to` */
    int64_t run, features;   /* of dots */
    int64_t w_step;          /* of dots: from feature to feature */
    bool add;                /* to what is there */
    int64_t lines;           /* of along_lines: LAM__CONV_LINES at least, */
    const int64_t *put;      /* of abreast: where sums of places go, */
    bool same;               /* and whether w has one weight for all groups */
    int64_t window[2];       /* the last two axes of the window, of two lines at least, */
    int64_t x_line, to_line; /* and steps from line to line */
} lam__conv_panel;

/* Lines whose places are sums of few products: `lines` of `count` elements each, from x and to `to` on, of up to
 * LAM__CONV_FEW features. Elements of phase j of the last axis, of `side` (1 to LAM__CONV_WOVEN), are every `side`-th
 * one, and each the sum over r of w[j][r, feature] times the element of x at row[j][r] behind its own place in the
 * line; x is read up to LAM__CONV_SLACK elements past these. */
typedef struct lam__conv_near {
    const void *x;
    void *to;
    int64_t x_line, to_line, to_feature; /* steps from line to line, from feature to feature */
    int64_t lines, count;
    int side, features;
    const int64_t *row[LAM__CONV_WOVEN];
    const void *w[LAM__CONV_WOVEN];
    int64_t rows[LAM__CONV_WOVEN];
} lam__conv_near;

/* Pieces of pictures, for windows of one element: what lies where in each of them. A vector of places is picked out of
 * up to four vectors of x; for dilated operands it is spread over four of the result, with zeros between. */
typedef struct lam__conv_pick {
    int sources, targets;                 /* vectors: 1 (as it lies), 2 or 4; 1 (as it is) or 4 */
    int64_t source[4], target[4];         /* elements from the piece's own to each of them */
    int8_t index[2][16];                  /* lanes of the first two sources, and of the others */
    int8_t spread[4][16];                 /* lanes of a sum in each target, or -1: zero */
    uint32_t read, second, kept, written; /* lanes of the first two sources that may be read; of the other two; of the
                                           * result; of a target */
} lam__conv_pick;

/* Where it begins in x and in the result, or in the cotangent; lanes that count in sums of places. */
typedef struct lam__conv_piece {
    int64_t x, to;
    uint32_t lanes;
} lam__conv_piece;

/* `terms` features of x times as many weights as each of `features` of the result has; steps from one to the next. */
typedef struct lam__conv_pointed {
    const void *x, *w;
    void *to;
    int64_t terms, features, x_step, to_step, w_term, w_feature;
    bool add; /* to the sums that are there */
} lam__conv_pointed;

/* Lines of x that are copied: `count` elements of each, which are `apart` (1 or 2) from each other in x, with zeros
 * before and behind them. Steps are from line to line. */
typedef struct lam__conv_lines {
    const void *x;
    void *to;
    int64_t lines, before, count, behind, x_step, to_step;
    int apart;
    bool loose; /* up to LAM__CONV_SLACK elements behind a line may be written: what belongs there is written later */
} lam__conv_lines;

/*   across[v - 1]  v vectors of features beside each other: w [rows, v lanes], to[place * step + feature]
 *   along[f - 1]   f features and places that are neighbours in x, from x on (`at` is not read): w [rows, f],
 *                  to[feature * step + place]; reads x past the places, up to LAM__CONV_SLACK elements
 *   along_lines    the same of one feature and several lines of places, which lie in x as those of the window do; it
 *                  does not add
 *   dots           rows are lines of `run` elements that are neighbours in x: w [features, rows, run], lines rounded up
 *                  to vectors with zeros; to[place * step + feature]; reads x past a line as above
 *   abreast[f - 1] f features of as many groups as there are lanes: an element of x or w is a vector of them, w [rows,
 *                  f], to[feature * step + put[place]]; offsets count lanes; `same`: an element of w is a number
 *   few            lines of few products: see lam__conv_near
 *   far            few places, of which each meets `lines` lines of `run` neighbours, x_line and to_line elements from
 *                  one to the next in x and in w [features, lines, run]; to[feature, place] is a vector of sums
 *   points         pieces of pictures: see lam__conv_pointed; NULL without vectors of 64 bytes
 *   sums           of the places of pieces, each element of x times that of the cotangent, w: vectors [terms, features]
 *   fold           to[k], the sum of the lanes of vector k of `count`; in place, or elsewhere
 *   split          two strips of loose lines, of even elements and, `odd` elements further on, of odd ones, whose
 *                  strip begins after `room`; before, count and behind are of x, neighbours, an even number in all
 *   split_three    three strips, each `strip` elements behind the one before, of lines that are whole vectors in each;
 *                  else as split
 *   weave          lines of phases: to[k] = from[k % side][k / side], count of them; side up to LAM__CONV_SIDE */
typedef struct lam__conv_loops {
    int lanes, widest; /* elements of a vector; vectors of `across` */
    void (*across[4])(const lam__conv_panel *p);
    void (*along[4])(const lam__conv_panel *p);
    void (*along_lines)(const lam__conv_panel *p);
    void (*dots)(const lam__conv_panel *p);
    void (*copy)(const lam__conv_lines *l); /* NULL, as along_lines, dots and what follows: there is none */
    void (*split)(const lam__conv_lines *l, int64_t odd, int64_t room);
    void (*split_three)(const lam__conv_lines *l, int64_t strip);
    void (*weave)(void *to, const void *const from[], int64_t count, int side);
    void (*abreast[4])(const lam__conv_panel *p);
    void (*few)(const lam__conv_near *p);
    void (*far)(const lam__conv_panel *p);
    void (*points)(const lam__conv_pointed *p, const lam__conv_pick *pick, const lam__conv_piece *pieces,
                   int64_t count);
    void (*sums)(const lam__conv_pointed *p, const lam__conv_pick *pick, const lam__conv_piece *pieces, int64_t count);
    void (*fold)(void *to, const void *sums, int64_t count);
    const lam__turn *(*turn)(int64_t bytes); /* of the same set */
} lam__conv_loops;

/* Of f64 and of f32. */
extern const lam__conv_loops lam__conv_loops_v1[2];
extern const lam__conv_loops lam__conv_loops_plain[LAM_DTYPE_COUNT]; /* of integers and bools: only along */
#if defined(LAM__HAVE_X86_64_LEVELS)
extern const lam__conv_loops lam__conv_loops_v3[2], lam__conv_loops_v4[2];
#endif

#endif
