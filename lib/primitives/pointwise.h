/* Rows that go element by element through a function of one element that is long: an element has one of each operand,
 * so operands come with equal types (which the wrapper makes, lam__pointwise_call), and what is small beside the
 * function, as loads by dtype are, is not looked at. */
#ifndef LAM_PRIMITIVES_POINTWISE_H
#define LAM_PRIMITIVES_POINTWISE_H

#include "lib/base/context.h"

enum { LAM__POINTWISE_MOST = 4 }; /* operands */

/* The function; real numbers have imaginary parts of 0, and those of real results are not read. */
typedef lam_c128 lam__pointwise(const void *params, const lam_c128 in[]);

/* Rules of such rows: operands of one type, real, or complex where the row takes that; `cost` of an element in halves
 * of a nanosecond; params of `bytes`. */
lam_status lam__pointwise_shape(const lam_call_site *call, lam_shape out[]);
lam_status lam__pointwise_eval(const lam_call_site *call, lam_value *const out[], lam__pointwise *f, double cost);
void lam__pointwise_batch(const lam_rule *r, lam_tensor *out[], size_t bytes);

/* The row on operands that are brought to one real dtype and broadcast; in[] is written over. */
lam_tensor *lam__pointwise_call(const lam_primitive *row, const void *params, size_t bytes, lam_tensor *in[]);

#endif
