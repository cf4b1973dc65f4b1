/* Fused parts of one lane as machine code: their steps written as C, compiled by the system's compiler and loaded. Only
 * where a user asks for it; where there is no compiler, or it fails, steps are run one by one as before. */
#ifndef LAM_PROGRAM_NATIVE_H
#define LAM_PROGRAM_NATIVE_H

#include "lib/kernels/lane.h"

typedef struct lam__native lam__native;

/* Steps on so many bytes of registers, with their arguments as in lam__kernels_lane_single. NULL where that cannot be
 * done. The steps, and what they point to, outlive it. */
lam__native *lam__native_new(lam_ctx *ctx, const lam__lane_step *steps, int64_t count, size_t bytes);
void lam__native_free(lam__native *n);
void lam__native_run(const lam__native *n, void *memory, void *const data[]);

#endif
