/* Kernels that see where elements lie in memory: taking from strided tensors, and writing past the caches. Apart from
 * kernels.h, which every loop includes. */
#ifndef LAM_KERNELS_PLACES_H
#define LAM_KERNELS_PLACES_H

#include "lib/kernels/kernels.h"

/* Where x of a take lies, in elements: steps between its batches, its outer rows and its n places; a run of `inner` has
 * no gaps. */
typedef struct lam__index_source {
    const void *data;
    int64_t batch, outer, n;
} lam__index_source;

/* out = x at index; CLIP takes the nearest element, FILL gives NaN (0 for integers), DROP 0. With ERROR all indices
 * have been checked before. */
void lam__kernels_take_from(const lam__index_shape *s, lam__index_mode mode, lam_dtype dtype,
                            const lam__index_source *x, lam_dtype index_dtype, const void *index, void *out);

/* Rows that lie at a distance of `step` items from each other, each of `width` items without gaps. */
typedef struct lam__rows {
    const void *from;
    int64_t step, width;
} lam__rows;

enum { LAM__ROWS_HELD = 1 << 14 }; /* bytes of rows that are written in turns: NOTE [joined rows] in copy.c */

/* Puts the rows of n parts side by side: row i of dst, `to_step` items behind the one before, begins with the items of
 * row i of the first part. False: not for items of this size. */
bool lam__kernels_rows(lam_dtype dtype, int64_t rows, int64_t n, const lam__rows parts[], void *dst, int64_t to_step);

/* Sums of squares of f64 or f32 over the axes with reduced[axis], of x or of x less its centre: centres lie like the
 * results, contiguous over the kept axes. Or sums of products of x and y, which lies as x does. */
typedef struct lam__squares {
    lam_dtype dtype;
    int rank;
    const int64_t *dims, *strides; /* elements */
    const bool *reduced;
    const void *x, *centres; /* centres: NULL: 0 */
    const void *y;           /* NULL: squares; else without centres */
} lam__squares;

/* out = the part of each sum that `leaves` leaves from `first` on make (NOTE [parts] in kernels.h; 0 and INT64_MAX: all
 * of it). Returns the number of leaves; out may be NULL. */
int64_t lam__kernels_squares(const lam__squares *s, int64_t first, int64_t leaves, void *out);

/* Copies bytes past the caches, where the machine can: for places that are not read soon, in memory that is larger than
 * the caches. It writes whole lines, so these are not fetched first. Other threads see them
 * behind lam__kernels_stream_end only: it waits until they are written, so it is called once, after the last part. */
void lam__kernels_stream(size_t bytes, void *dst, const void *src);
void lam__kernels_stream_end(void);

/* Whether the loop of fma costs no more than that of mul: an instruction of this machine. */
bool lam__kernels_fuses(void);

#endif
