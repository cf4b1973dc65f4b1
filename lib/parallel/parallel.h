/* The kernels with their work shared among the threads of a team (NULL: done by the caller alone, as are small ones).
 * Each function has the contract of the kernel it is named after. A piece is a kernel call on a part of the operands,
 * cut where the kernel computes each side as it would have within the whole: along a batch, between results, at
 * multiples of blocks that do not depend on the number of threads. So bits of results do not depend on that number
 * either. Callers use these for whatever can be large, and the kernels for what cannot. */
#ifndef LAM_PARALLEL_H
#define LAM_PARALLEL_H

#include "lib/base/team.h"
#include "lib/kernels/panels.h"
#include "lib/kernels/places.h"

/* ---- cutting ----------------------------------------------------------------------------------------------------- */

/* The elements from start[] on, dims[] of them: a part of a larger array. */
typedef void lam__parallel_box(void *env, const int64_t *start, const int64_t *dims, int worker);

/* Shares an array of these dims, cut along its first `axes` axes; `cost` is that of all of it, in units of
 * lam__team_run. */
void lam__parallel_boxes(lam__team *team, int axes, int rank, const int64_t *dims, double cost,
                         lam__parallel_box *visit, void *env);

/* Elements that `strides` puts in front of element start[]. */
int64_t lam__parallel_offset(int rank, const int64_t *start, const int64_t *strides);

double lam__parallel_count(int rank, const int64_t *dims);

/* ---- elementwise ------------------------------------------------------------------------------------------------- */

/* loop, which is that of id and dtype, over n elements without axes: see lam__loop. */
void lam__parallel_loop(lam__team *team, lam__loop_id id, lam_dtype dtype, lam__loop *loop, int64_t n, void *const p[],
                        const int64_t step[], const void *params);

/* The loop that lam__kernels_sloped gives for id and dtype, over n elements. */
void lam__parallel_sloped(lam__team *team, lam__loop_id id, lam_dtype dtype, lam__pair_loop *loop, int64_t n,
                          const void *x, void *out, void *slope);

void lam__parallel_elementwise(lam__team *team, lam__loop_id id, lam__loop *loop, int operands, int rank,
                               const int64_t *dims, const int64_t *const strides[], void *const p[],
                               const size_t item[], const void *params);

void lam__parallel_sincos(lam__team *team, lam_dtype dtype, int64_t n, const void *x, void *sine, void *cosine);

void lam__parallel_copy(lam__team *team, int rank, const int64_t *dims, lam_dtype dst_dtype, void *dst,
                        const int64_t *dst_strides, lam_dtype src_dtype, const void *src, const int64_t *src_strides);

void lam__parallel_fill(lam__team *team, lam_dtype dtype, void *dst, int64_t n, const void *item);

void lam__parallel_count_up(lam__team *team, lam_dtype dtype, double first, double step, int64_t n, void *out);

void lam__parallel_random(lam__team *team, const lam__random *what, const uint32_t key[2], uint64_t first, int64_t n,
                          void *out);

/* ---- along axes -------------------------------------------------------------------------------------------------- */

void lam__parallel_reduce(lam__team *team, lam__reduce_id id, lam_dtype dtype, int rank, const int64_t *dims,
                          const bool *reduced, const void *x, const int64_t *strides, void *out);

void lam__parallel_squares(lam__team *team, const lam__squares *s, void *out);

void lam__parallel_arg(lam__team *team, bool maximum, lam_dtype dtype, int rank, const int64_t *dims, int axis,
                       const void *x, const int64_t *strides, int64_t *out);

void lam__parallel_cumulate(lam__team *team, lam__reduce_id id, lam_dtype dtype, int rank, const int64_t *dims,
                            int axis, bool reverse, const void *x, const int64_t *strides, void *out);

void lam__parallel_recurrence(lam__team *team, lam_dtype dtype, const lam__lanes *s, bool reverse, const void *a,
                              const void *b, void *out);

void lam__parallel_cumlogsumexp(lam__team *team, lam_dtype dtype, const lam__lanes *s, bool reverse, const void *x,
                                void *out);

void lam__parallel_panels(lam__team *team, const lam__panels *how, const void *x, void *out, void *steepness);

bool lam__parallel_window(lam__team *team, lam__reduce_id id, lam_dtype dtype, const lam__lanes *s,
                          const lam__window_axis *a, const void *x, void *out);

/* ---- order and indices ------------------------------------------------------------------------------------------- */

/* lam__kernels_argsort_first; `work` has lam__parallel_argsort_bytes. */
size_t lam__parallel_argsort_bytes(const lam__team *team, const lam__lanes *s);
void lam__parallel_argsort(lam__team *team, lam_dtype dtype, const lam__lanes *s, bool descending, int64_t count,
                           const void *x, int64_t *out, void *work);

void lam__parallel_searchsorted(lam__team *team, lam_dtype dtype, int64_t batch, int64_t n, int64_t m, bool right,
                                const void *sorted, const void *values, int64_t *out);

void lam__parallel_take(lam__team *team, const lam__index_shape *s, lam__index_mode mode, lam_dtype dtype,
                        const lam__index_source *x, lam_dtype index_dtype, const void *index, void *out);

void lam__parallel_scatter(lam__team *team, lam__scatter_op op, const lam__index_shape *s, lam__index_mode mode,
                           lam_dtype dtype, void *out, lam_dtype index_dtype, const void *index, const void *updates);

void lam__parallel_random_gamma(lam__team *team, lam_dtype dtype, const uint32_t key[2], int64_t n, const void *a,
                                bool logarithm, void *out);

void lam__parallel_random_poisson(lam__team *team, const uint32_t key[2], int64_t n, const float *rate, int64_t *out);

void lam__parallel_random_binomial(lam__team *team, lam_dtype dtype, const uint32_t key[2], int64_t n,
                                   const void *count, const void *probability, void *out);

/* ---- contractions ------------------------------------------------------------------------------------------------ */

bool lam__parallel_matmul(lam__team *team, lam_dtype dtype, const lam__product *product, lam__scratch *scratch,
                          void *env);

/* How such a product would be done, which its addresses do not tell; false where it needs scratch or a team, or there
 * is nothing to be done. */
bool lam__parallel_matmul_alone(lam__team *team, lam_dtype dtype, const lam__product *product, lam__matmul *w);

#endif
