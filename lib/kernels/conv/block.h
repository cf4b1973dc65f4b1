/* The part of x that a box of places and a panel of rows meet: where its elements are, and copying it with zeros for
 * what lies outside of x. Internal to conv. */
#ifndef LAM_KERNELS_CONV_BLOCK_H
#define LAM_KERNELS_CONV_BLOCK_H

#include "lib/kernels/conv/conv.h"

/* Who lies side by side in vectors. */
enum { LAM__CONV_ACROSS, LAM__CONV_ALONG, LAM__CONV_DOTS };

/* An axis of a block: strips, each of elements that are `step` places apart in x, with `between` places from where one
 * strip begins to where the next does. Place t and row k meet in the element that lies lam__conv_block_at of t and
 * lam__conv_block_row of k behind the first one. */
typedef struct lam__conv_strips {
    int64_t strips, count;        /* elements of a strip */
    int64_t first, between, step; /* places of x: of the first strip, from strip to strip, within a strip */
    int64_t strip_step, step_in;  /* elements of the block */
    bool apart;                   /* no element is shared by two places: a strip for each row, or place */
    int64_t fold;                 /* else: elements so many places apart are neighbours */
} lam__conv_strips;

typedef struct lam__conv_block {
    lam__conv_strips axis[LAM__CONV_AXES];
    int64_t n_step, c_step; /* elements of the block */
    int64_t elements;
} lam__conv_block;

/* The layout of the block of these boxes; places are counted from their starts. */
void lam__conv_block_layout(const lam__conv_case *s, int way, const lam__conv_box *places, const lam__conv_box *rows,
                            lam__conv_block *b);

/* Copies the part of x that the boxes meet into the block, where x begins at the group, and zeros for what lies
 * outside. */
void lam__conv_block_fill(const lam__conv_block *b, const lam__conv *p, const char *x, const lam__conv_box *places,
                          const lam__conv_box *rows, char *block);

/* Elements from the start of the block to place t of axis i, and what place k of the window adds; both count from the
 * start of their box. */
int64_t lam__conv_block_at(const lam__conv_block *b, const lam__conv_case *s, int way, int i, int64_t t);
int64_t lam__conv_block_row(const lam__conv_block *b, const lam__conv_case *s, int way, int i, int64_t k);

/* ---- parts of a plan --------------------------------------------------------------------------------------------- */

lam__conv_box lam__conv_box_of(const lam__conv_grid *g, int64_t number);

/* Packed weights of a panel from a feature on that begins a block of them, which may be packed in a worker's room; the
 * width of that block. */
const char *lam__conv_weights(const lam__conv *p, int64_t group, int64_t panel, int64_t feature, char *room);
int64_t lam__conv_width(const lam__conv *p, int64_t feature);

/* Elements of sums that an item needs. */
int64_t lam__conv_sums(const lam__conv *p, const lam__conv_block *b, const lam__conv_box *places);

#endif
