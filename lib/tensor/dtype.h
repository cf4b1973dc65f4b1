/* dtypes as a table: bytes, name, promotion. Promotion: bool < integers < floats < complex; among integers and among
 * floats the wider one, f32 for f16 with bf16; an integer with a float or complex takes the other's dtype; a float with
 * a complex gives the complex whose parts are as wide as the wider of the two. */
#ifndef LAM_TENSOR_DTYPE_H
#define LAM_TENSOR_DTYPE_H

#include <lamina/base.h>

extern const uint8_t lam__dtype_sizes[LAM_DTYPE_COUNT];

static inline size_t lam__dtype_bytes(int dtype) {
    return lam__dtype_sizes[dtype];
}

/* The real numbers that are computed with. */
static inline bool lam__dtype_is_float(int dtype) {
    return dtype == LAM_F64 || dtype == LAM_F32;
}

/* Real numbers that are only stored: evaluation takes them as f32 (lib/dispatch/half.h). */
static inline bool lam__dtype_is_half(int dtype) {
    return dtype == LAM_F16 || dtype == LAM_BF16;
}

static inline bool lam__dtype_is_complex(int dtype) {
    return dtype == LAM_C128 || dtype == LAM_C64;
}

/* Real, complex or half: what can be differentiated. */
static inline bool lam__dtype_is_inexact(int dtype) {
    return lam__dtype_is_float(dtype) || lam__dtype_is_complex(dtype) || lam__dtype_is_half(dtype);
}

/* The dtype of the real and imaginary parts; a dtype that is not complex is its own. */
static inline lam_dtype lam__dtype_part(int dtype) {
    return dtype == LAM_C128 ? LAM_F64 : dtype == LAM_C64 ? LAM_F32 : (lam_dtype)dtype;
}

/* The largest finite number of a real floating dtype. */
double lam__dtype_largest(int dtype);

/* Whether a number from outside is one of lam_dtype; and the dtype that two have in common, by the order above. */
bool lam__dtype_valid(int dtype);
lam_dtype lam__dtype_promote(int a, int b);

/* One element as a double: integers beyond 2^53 are rounded, of a complex number it is the real part. */
double lam__dtype_load(int dtype, const void *at);
void lam__dtype_store(int dtype, void *at, double value);

/* One element of any dtype as a complex number. */
lam_c128 lam__dtype_load_complex(int dtype, const void *at);

#endif
