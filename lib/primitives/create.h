/* Makers that other rooms need. */
#ifndef LAM_PRIMITIVES_CREATE_H
#define LAM_PRIMITIVES_CREATE_H

#include "lib/base/context.h"

/* Rows first..first+rows-1 of the identity of `columns` columns. */
lam_tensor *lam__create_eye(lam_ctx *ctx, lam_dtype dtype, int64_t first, int64_t rows, int64_t columns);

/* Whether dims of a user are possible; otherwise records it, naming `operation`. */
bool lam__create_dims_valid(const char *operation, lam_ctx *ctx, lam_dims dims);

/* Whether the bytes of so many elements can be counted; otherwise records it. */
bool lam__create_countable(const char *operation, lam_ctx *ctx, lam_dtype dtype, lam_dims dims);

#endif
