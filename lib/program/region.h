/* Regions: parts of a program that are lowered to graphs of scalars. A region has so many lanes; what its equations
 * make lies in it as pieces, until something outside needs a variable as a value in memory. */
#ifndef LAM_PROGRAM_REGION_H
#define LAM_PROGRAM_REGION_H

#include "lib/primitives/axes.h"
#include "lib/program/graph.h"
#include "lib/program/program.h"

/* NOTE [pieces]
 * How a variable lies in a region:
 *   DATA   as it is in memory; element i is data[i]
 *   CODES  a code for each element, of things that were moved about and not looked at yet
 *   NODES  a node for each element that is left when the lane axes [first, last) are taken out, row-major; where there
 *          are none, a node for each element
 *
 * Which axes are the lanes is not a property of memory: DATA and CODES are read as whoever needs them wants to, as long
 * as each node is then one thing in all lanes, or elements at even steps. What is put together of lanes and of other
 * elements before and behind them has no lane axes at all: such codes are mixed, and are there to be written.
 *
 * With five lanes, data of dims [5, 3] have lanes [0, 1) and three nodes: loads from 0, 1 and 2 on at steps of 3. Its
 * transpose is codes of dims [3, 5], which have lanes [1, 2) and the same three nodes. A constant of dims [3] has no
 * lanes, first == last, and three nodes that are the same in all of them. */
typedef enum lam__piece_kind { LAM__PIECE_DATA, LAM__PIECE_CODES, LAM__PIECE_NODES } lam__piece_kind;

typedef struct lam__piece {
    lam__piece_kind kind;
    bool mixed;      /* codes of lanes that lie between other elements */
    int first, last; /* of the nodes that are known, also where the kind is another */
    int32_t data;
    const lam_value *type; /* dtype and dims */
    int32_t *nodes;        /* NULL: not known */
    const int64_t *codes;
} lam__piece;

/* What a region reads from memory: a variable, or a constant of the program. */
typedef struct lam__source {
    int64_t variable;    /* -1: `constant` */
    lam_value *constant; /* without gaps where it is read in lanes */
    int64_t count;       /* elements */
} lam__source;

typedef struct lam__region {
    lam__graph graph;
    lam_ctx *ctx;
    int64_t lanes;
    /* Of axes that may be lanes the last is taken; shorter axes may be lanes too, and what has many elements has some,
     * or is not taken (NOTE [short axes]). */
    bool last, shorter;
    lam__source *sources;
    int64_t source_count, source_room;
} lam__region;

void lam__region_open(lam__region *r, lam_ctx *ctx, lam__arena *arena, int64_t lanes, int64_t most_nodes);

/* The piece that a variable or a constant from outside is; NULL without memory. */
lam__piece *lam__region_source(lam__region *r, int64_t variable, lam_value *constant, const lam_value *type);

/* A piece of nodes with room for them; NULL without memory. */
lam__piece *lam__region_piece(lam__region *r, const lam_value *type, int first, int last);

/* The nodes of a piece with the lane axes [first, last), none where they are equal; NULL where it cannot be seen so. */
const int32_t *lam__region_nodes(lam__region *r, lam__piece *x, int first, int last);

/* Whether axes of these sizes may be in the same lanes. */
static inline bool lam__region_may_share(int64_t a, int64_t b) {
    enum { LEAST = 8 };
    return a >= LEAST && b >= LEAST && 2 * a >= b && 2 * b >= a;
}

/* Whether the axes [first, last) of dims may be the lanes. */
bool lam__region_fits(const lam__region *r, const int64_t *dims, int first, int last);

/* The next range of axes of dims that may be the lanes, from the front or the back, without axes
 * of one element at its ends; begin with first = last = -1. The last one is that of no axes (first = last = 0); false
 * behind it. */
bool lam__region_range(const lam__region *r, int rank, const int64_t *dims, int *first, int *last);

/* A range in which a piece can be seen, and its nodes; NULL: none. */
const int32_t *lam__region_seen(lam__region *r, lam__piece *x, int *first, int *last);

/* Whether so many elements may be nodes without lanes. */
static inline bool lam__region_may_be_same(const lam__region *r, int64_t count) {
    enum { FEW = 64 };
    return !r->shorter || count <= FEW;
}

/* Whether nobody reads some of the lanes of such axes. */
static inline bool lam__region_is_short(const lam__region *r, const int64_t *dims, int first, int last) {
    return first < last && lam__axes_product(dims, first, last) < r->lanes;
}

/* How many nodes a type has, given its lane axes. */
static inline int64_t lam__region_count(const lam_value *type, int first, int last) {
    return first < last ? type->count / lam__axes_product(type->dims, first, last) : type->count;
}

/* shift.c: NOTE [short axes]. The node whose lane l is lane l - by of this one, where there is such a lane; -1: that is
 * not to be computed once more. */
int32_t lam__region_shifted(lam__region *r, int32_t node, int64_t by);

/* Whether a loop leaves rare numbers to steps, and so may not be run on lanes that nobody reads. */
bool lam__region_is_rare(int loop);

/* A bool that is true in the lanes [from, to) and false in the others; -1 without memory. */
int32_t lam__region_within(lam__region *r, int64_t from, int64_t to);

/* Elements base + l step of a source in the lanes l of [from, to), and anything in the others; -1 without memory. */
int32_t lam__region_read(lam__region *r, lam_dtype dtype, int32_t source, int64_t base, int64_t step, int64_t from,
                         int64_t to);

/* The codes of all elements, written to memory of the caller's; false where they are too many. Code 0 is the number
 * 0. */
bool lam__region_may_code(const lam__piece *x);
void lam__region_codes(const lam__region *r, const lam__piece *x, int64_t *codes);

/* What codes say: nodes where there are lanes among them. NULL where they do not fit, or without memory. codes stay the
 * caller's. mixed: lanes that lie between other elements are kept as codes, to be written. */
lam__piece *lam__region_decoded(lam__region *r, const lam_value *type, const int64_t *codes, bool mixed);

/* Element i of a piece that is codes, to be written: a node for it alone, of *step 0; or, where it is the first lane of
 * one that differs, that node and the step from lane to lane; -1 where it is another lane of such a one. False: it can
 * be neither. */
bool lam__region_code_at(lam__region *r, const lam__piece *x, int64_t i, int32_t *node, int64_t *step);

/* lower.c: the pieces of an equation's results from those of its operands. False, with nothing recorded, where the
 * region does not take it. types: of the results. */
bool lam__lower(lam__region *r, const lam__equation *e, lam__piece *const in[], lam_value *const types[],
                lam__piece *out[]);

/* lower_moves.c: rows that only move elements. */
bool lam__lower_is_move(const lam_primitive *row);
bool lam__lower_move(lam__region *r, const lam__equation *e, lam__piece *const in[], lam_value *const types[],
                     lam__piece *out[]);

/* lower_sums.c: reductions and contractions of few elements, sums at known places. They fill in `out`. */
bool lam__lower_reduction(lam__region *r, const lam__equation *e, lam__piece *x, lam__piece *out);
bool lam__lower_exponentials(lam__region *r, const lam__equation *e, lam__piece *x, lam_value *const types[],
                             lam__piece *out[]);
bool lam__lower_contraction(lam__region *r, const lam__equation *e, lam__piece *const in[], lam__piece *out);
bool lam__lower_scatter(lam__region *r, const lam__equation *e, lam__piece *const in[], lam__piece *out);

/* The elements of a constant index, in memory of the arena; NULL where it is none, or one names no place in [-n, n). */
const int64_t *lam__lower_index(lam__region *r, const lam__piece *x, int64_t n);

#endif
