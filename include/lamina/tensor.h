/* Tensors: handles to immutable dense values. A handle belongs to the innermost open scope of its context; its value is
 * reference-counted, so views, tapes and results share storage. */
#ifndef LAMINA_TENSOR_H
#define LAMINA_TENSOR_H

#include <lamina/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- making tensors from memory ----------------------------------------------------------------------- */

/* A tensor with a copy of row-major data.
 * Shape   dims.
 * Units   data holds one element of dtype (bool and u8: 1 byte) per element.
 * Fails   LAM_ERR_NULL if data is NULL and there are elements to copy; LAM_ERR_VALUE for negative dims; LAM_ERR_RANK;
 *         LAM_ERR_OVERFLOW; LAM_ERR_MEMORY.
 * Owner   current scope. */
LAM_API lam_tensor *lam_array(lam_ctx *ctx, lam_dtype dtype, lam_dims dims, const void *data);

/* A rank-0 f64 tensor.
 * Fails   LAM_ERR_MEMORY.
 * Owner   current scope. */
LAM_API lam_tensor *lam_scalar(lam_ctx *ctx, double value);

typedef struct lam_borrow_options {
    lam_dims strides; /* elements, one per axis, may be 0 or negative; rank 0: row-major contiguous */
    void (*release)(void *env, void *data); /* called once, when the memory is no longer used; NULL: nothing is
                                               called */
    void *env;                              /* for release */
    bool writable;                          /* in-place forms may write to this memory */
} lam_borrow_options;

/* Wraps the caller's memory without a copy; it must not change until `release` is called or the context is freed.
 * Shape   dims.
 * Fails   like lam_array; LAM_ERR_SHAPE if strides and dims differ in rank. After a failure release has been called.
 * Owner   current scope; the memory stays the caller's. */
LAM_API lam_tensor *lam_borrow(lam_ctx *ctx, lam_dtype dtype, lam_dims dims, void *data,
                               const lam_borrow_options *options);

/* ---- reading -------------------------------------------------------------------------------------------- */

/* Copies the elements out, row-major, without conversion.
 * Units   bytes: the size of dst, which must be exactly the number of elements times the size of one.
 * Fails   LAM_ERR_VALUE for a wrong size; LAM_ERR_BATCHED for a batched tensor inside vmap; LAM_ERR_ABSTRACT while
 *         tracing; LAM_ERR_RULE in a callback of a custom Function for a tensor that carries derivatives, which would
 *         be lost. */
LAM_API LAM_MUST_USE lam_status lam_read(lam_tensor *t, void *dst, size_t bytes);

/* Copies the elements out to strided memory; LAM_DIMS(1, m) writes an m x n matrix column-major.
 * Units   strides in elements, one per axis.
 * Fails   like lam_read; LAM_ERR_SHAPE if the number of strides is not the rank. */
LAM_API LAM_MUST_USE lam_status lam_read_strided(lam_tensor *t, void *dst, lam_dims strides);

/* The only element of a tensor, as a double (a bool gives 0 or 1). Under grad and jvp, and in callbacks of custom
 * Functions, it is the value, so C control flow can use it; anything that C computes from it is a constant to them, as
 * after lam_stop_gradient.
 * Fails   LAM_ERR_SHAPE unless it has exactly one element; LAM_ERR_DTYPE for a complex one (lam_item_complex);
 *         LAM_ERR_BATCHED, LAM_ERR_ABSTRACT like lam_read. A failure gives NaN. */
LAM_API double lam_item(lam_tensor *t);

/* The data of a contiguous concrete tensor, row-major; NULL otherwise (boxed, strided, failed).
 * Fails   never. Records LAM_ERR_ABSTRACT for a box that is being traced; in a callback of a custom Function, as
 *         lam_read.
 * Owner   borrowed from t until its handle is dropped or rebound. */
LAM_API const void *lam_data(const lam_tensor *t);

/* Number of axes. Fails never: 0 for a failed tensor. */
LAM_API int lam_rank(const lam_tensor *t);

/* Size of one axis; negative axes count from the end.
 * Units   elements.
 * Fails   never: -1 for an invalid axis. */
LAM_API int64_t lam_dim(const lam_tensor *t, int axis);

/* All sizes. Fails never. Owner: borrowed from t. */
LAM_API lam_dims lam_dims_of(const lam_tensor *t);

/* Number of elements. Fails never: 1 for a failed tensor. */
LAM_API int64_t lam_size(const lam_tensor *t);

/* Element type. Fails never: LAM_F64 for a failed tensor. */
LAM_API lam_dtype lam_dtype_of(const lam_tensor *t);

/* The context a tensor belongs to. Fails never. */
LAM_API lam_ctx *lam_ctx_of(const lam_tensor *t);

/* "f64", "i32", ... Fails never: "?" for no dtype. Owner: static storage. */
LAM_API const char *lam_dtype_name(lam_dtype dtype);

/* Bytes of one element. Fails never: 0 for no dtype. */
LAM_API size_t lam_dtype_bytes(lam_dtype dtype);

/* Prints dtype, dims and elements (long axes are shortened), for a box also its level, axis and contents. Ends with a
 * newline.
 * Fails   never: a failed tensor prints as such. */
LAM_API void lam_print(FILE *file, lam_tensor *t);

/* ---- life --------------------------------------------------------------------------------------------------- */

/* Releases a tensor before its scope ends.
 * Fails   LAM_ERR_FREED if it was released already; NULL is accepted. */
LAM_API void lam_drop(lam_tensor *t);

/* Makes the tensor outlive its scopes until lam_release (counted).
 * Fails   like any use of a handle. Owner: caller and scope. Returns t. */
LAM_API lam_tensor *lam_hold(lam_tensor *t);

/* Undoes one lam_hold; the last one frees the tensor if its scope has ended.
 * Fails   LAM_ERR_VALUE if it is not held. */
LAM_API void lam_release(lam_tensor *t);

/* A new handle to the same value.
 * Fails   like any use of a handle. Owner: current scope. Derivative: identity. */
LAM_API lam_tensor *lam_alias(lam_tensor *t);

/* Makes the handle x show the value of `value` (same dtype and dims), which may be at any level; a loop that rebinds
 * its variables this way does not accumulate tensors.
 * Fails   LAM_ERR_SHAPE, LAM_ERR_DTYPE if the types differ; LAM_ERR_CAPTURED if x was made outside the function that is
 *         being called (x is then unchanged). Any other failure makes x a failed tensor.
 * Owner   x keeps its scope. Returns x. Derivative: that of value. */
LAM_API lam_tensor *lam_assign_(lam_tensor *x, lam_tensor *value);

#ifdef __cplusplus
}
#endif
#endif
