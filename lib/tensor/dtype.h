/* dtypes as a table: bytes, name, order of promotion. Promotion: bool < integers < floats; among integers and among
 * floats the wider one; an integer with a float takes the float's dtype. */
#ifndef LAM_TENSOR_DTYPE_H
#define LAM_TENSOR_DTYPE_H

#include <lamina/base.h>

extern const uint8_t lam__dtype_sizes[LAM_DTYPE_COUNT];

static inline size_t lam__dtype_bytes(int dtype) {
    return lam__dtype_sizes[dtype];
}

static inline bool lam__dtype_is_float(int dtype) {
    return dtype == LAM_F64 || dtype == LAM_F32;
}

bool lam__dtype_valid(int dtype);
lam_dtype lam__dtype_promote(int a, int b);

/* One element as a double (integers beyond 2^53 are rounded). */
double lam__dtype_load(int dtype, const void *at);
void lam__dtype_store(int dtype, void *at, double value);

#endif
