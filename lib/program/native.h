/* Fused parts as machine code: their steps written as C, compiled by the system's compiler and loaded. Only where a
 * user asks for it; where there is no compiler, or it fails, steps are run one by one as before. */
#ifndef LAM_PROGRAM_NATIVE_H
#define LAM_PROGRAM_NATIVE_H

#include "lib/kernels/lane.h"

typedef struct lam__native lam__native;

/* Steps that are written out at most, where those of a loop count once: more take a compiler too long. */
enum { LAM__NATIVE_MOST = 1 << 16 };

/* Steps on so many bytes of registers, for `lanes` lanes; 1: registers and arguments are those of
 * lam__kernels_lane_single, otherwise of lam__kernels_lane. NULL where that cannot be done. The steps, and what they
 * point to, outlive it. */
lam__native *lam__native_new(lam_ctx *ctx, const lam__lane_step *steps, int64_t count, size_t bytes, int64_t lanes);
void lam__native_free(lam__native *n);

/* `lanes` lanes from `first` on: whole groups, or all where they are less than one. False: a number was out of the
 * common range somewhere, and what was stored may be wrong, so the steps have to be run. */
bool lam__native_run(const lam__native *n, void *memory, void *const data[], int64_t first, int64_t lanes);

#endif
