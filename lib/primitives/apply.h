/* From public operations to dispatch: checks handles, converts dtypes, wraps the result. Every public wrapper of a
 * primitive is one call of these. */
#ifndef LAM_PRIMITIVES_APPLY_H
#define LAM_PRIMITIVES_APPLY_H

#include "lib/base/context.h"

#include <lamina/extend.h>
#include <lamina/ops.h>

/* For shape rules: the dims of x with this dtype. Never fails. */
lam_status lam__apply_shape_as(const lam_value *x, lam_dtype dtype, lam_shape *out);

/* One operand, one result. */
lam_tensor *lam__apply1(const lam_primitive *p, const void *params, size_t bytes, lam_tensor *x);

/* Any number of operands, one result. */
lam_tensor *lam__apply(const lam_primitive *p, const void *params, size_t bytes, size_t n, lam_tensor *const in[]);

/* Elementwise: operands are brought to one dtype first (to f64 where the function is real and they are integers). */
lam_tensor *lam__apply_unary(const lam_primitive *p, lam_tensor *x);
lam_tensor *lam__apply_binary(const lam_primitive *p, lam_tensor *x, lam_tensor *y);
lam_tensor *lam__apply_ternary(const lam_primitive *p, lam_tensor *x, lam_tensor *y, lam_tensor *z);

/* The same for rows with parameters, and for those whose parameter is one number. */
lam_tensor *lam__apply_with(const lam_primitive *p, const void *params, size_t bytes, int n, lam_tensor *const in[]);
lam_tensor *lam__apply_coded(const lam_primitive *p, int64_t code, int n, lam_tensor *const in[]);

/* The in-place form: x shows the result, in its own memory if nobody else sees that. */
lam_tensor *lam__apply_binary_(const lam_primitive *p, lam_tensor *x, lam_tensor *y);

/* The value of a C number beside a tensor: its dtype is the tensor's where that can hold it. NULL after recording
 * why not. */
lam_value *lam__apply_literal(const char *operation, lam_tensor *beside, lam__operand number);

/* lam_times_power for any exponent that a derivative may need. */
lam_tensor *lam__times_integer_pow(lam_tensor *x, lam_tensor *y, int64_t exponent, double factor);

/* lam_nan_to_num of floating x with all three numbers given. */
lam_tensor *lam__nan_to_num(lam_tensor *x, double nan, double high, double low);

/* lam_reshape for inner ranks. */
lam_tensor *lam__apply_reshape(lam_tensor *x, int rank, const int64_t *dims);

/* lam_broadcast_to for inner ranks. */
lam_tensor *lam__apply_broadcast(lam_tensor *x, int rank, const int64_t *dims);

/* The dims to which all of a list broadcast together; false where they do not. */
bool lam__apply_common(lam_list list, int *rank, int64_t dims[]);

/* `part`, which goes into x, in the dtype of x. Complex numbers do not fit into others: that names the operation. */
lam_tensor *lam__apply_in_dtype_of(const char *operation, lam_tensor *x, lam_tensor *part);

/* The status of an operation that has made these results and stands by what they say: LAM_OK if none has failed. */
lam_status lam__apply_status(size_t n, lam_tensor *const made[]);

/* Operands (NULL: left out) as the floats that sums and products of them are made in: integers take the float that they
 * stand beside, f64 where there is none, and f16 and bf16 are f32 on the way. Gives the dtype that lam__apply_narrowed
 * brings the result to. What is no tensor is left for the operation itself to name. */
lam_dtype lam__apply_floats(int n, lam_tensor *io[]);
lam_tensor *lam__apply_narrowed(lam_tensor *out, lam_dtype dtype);

/* Whether n operands of an operation that is made of others can be used, so that what is wrong has its name and their
 * numbers. Otherwise records it; *failed is what the operation gives. */
bool lam__apply_given(const char *operation, size_t n, lam_tensor *const in[], lam_tensor **failed);

/* Rebinds x to `result` as lam_assign_ does; `operation` names the caller in messages. Returns x. */
lam_tensor *lam__apply_rebind(const char *operation, lam_tensor *x, lam_tensor *result);

/* Whether x may be rebound here; otherwise records that it is captured. */
bool lam__apply_may_rebind(const char *operation, lam_tensor *x);

/* Room for `lists` times `each` handles, neither of which is negative, or for n of them, that lives as long as the
 * innermost scope; NULL after recording that there is no memory. */
lam_tensor **lam__apply_rooms(lam_ctx *ctx, int64_t lists, int64_t each);
static inline lam_tensor **lam__apply_room(lam_ctx *ctx, size_t n) {
    return lam__apply_rooms(ctx, 1, (int64_t)n);
}

/* Whether a primitive is linear in operand i (rows with more operands than bits repeat the last bit). */
bool lam__rules_linear_in(const lam_primitive *p, int i);

/* Brings an axis to 0..rank-1. False after recording that it is out of range. */
bool lam__apply_axis(const char *operation, lam_tensor *x, int rank, int *axis);

#endif
