/* What the files of random numbers share. Samplers are written with public operations on what lam__random_draw gives,
 * whether its bits come of a key or of the context's generator: the same arithmetic serves both. */
#ifndef LAM_PRIMITIVES_RANDOM_H
#define LAM_PRIMITIVES_RANDOM_H

#include "lib/base/context.h"

#include <lamina/random.h>

/* Parameters of random_bits: what each key gives. */
typedef struct lam__bits_params {
    lam__random what;
    int32_t rank;
    int64_t dims[LAM_INNER_RANK]; /* the first `rank` */
} lam__bits_params;

/* Where random elements come from, and how many. */
typedef struct lam__source {
    const char *operation; /* for messages */
    lam_ctx *ctx;
    lam_tensor *key; /* NULL: the context's generator */
    lam_dtype dtype; /* f64 or f32: of what is sampled */
    lam_dims dims;
} lam__source;

/* Checks key, dtype and dims of a sampler of floats; *failed is what it returns if this is false. */
bool lam__random_source(const char *operation, lam_tensor *key, lam_dtype dtype, lam_dims dims, lam__source *s,
                        lam_tensor **failed);

/* The same for a sampler whose dtype is that of its n parameters together, at most 3 (integers count as f64), which are
 * brought to it in place and must broadcast to dims; the last `own` axes of each are its own, not of dims. */
bool lam__random_parameters(const char *operation, lam_tensor *key, int n, lam_tensor *parameters[], int own,
                            lam_dims dims, lam__source *s, lam_tensor **failed);

/* Whether dtype is f64 or f32; otherwise records it. */
bool lam__random_floating(const char *operation, lam_ctx *ctx, lam_dtype dtype);

/* A draw from the context's generator. */
lam_tensor *lam__random_of_context(const lam__source *s, const lam__random *what);

/* Elements as `what` says; uniform in [0, 1); uniform in [low, high). */
lam_tensor *lam__random_draw(const lam__source *s, const lam__random *what);
lam_tensor *lam__random_unit(const lam__source *s);
lam_tensor *lam__random_between(const lam__source *s, double low, double high);

/* Standard normal; standard exponential; the logarithm of Gamma(a). */
lam_tensor *lam__random_normal(const lam__source *s);
lam_tensor *lam__random_exponential(const lam__source *s);
lam_tensor *lam__random_loggamma(const lam__source *s, lam_tensor *a);

/* dims of `s` and one axis of n behind them, in `wide`. False after recording that these are too many axes. */
bool lam__random_append(lam__source *s, int64_t n, int64_t wide[LAM_MAX_RANK]);

/* The same source with another key; element `i` of keys [n, 2]. */
lam__source lam__random_with(const lam__source *s, lam_tensor *keys, int64_t i);

/* What a range of integers is for the kernel. False after recording why it is impossible. */
bool lam__random_range(const char *operation, lam_ctx *ctx, lam_dtype dtype, int64_t low, int64_t high,
                       lam__random *what);

/* ---- rows of keys [keys..., 2] and parameters [keys..., dims] -> [keys..., dims] --------------------------------- */

/* dims and dtype of the first parameter; the others must be like it. */
lam_status lam__random_keyed_shape(const lam_call_site *call, lam_shape out[]);

/* The kernel of one key on n elements of each parameter. */
typedef void lam__random_kernel(const lam_call_site *call, const uint32_t key[2], int64_t n,
                                const void *const parameters[], void *out);

lam_status lam__random_keyed_eval(const lam_call_site *call, lam_value *out, lam__random_kernel *run);

#endif
