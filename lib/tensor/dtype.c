/* dtypes as a table: see dtype.h. Tables are in the order of lam_dtype. One element at a time is converted by the
 * kernel for copies, so that a conversion rounds in one way wherever it happens. */
#include "lib/tensor/dtype.h"

#include "lib/kernels/kernels.h"

#include <lamina/tensor.h>

#include <float.h>
#include <string.h>

/* Bytes of one element. */
const uint8_t lam__dtype_sizes[LAM_DTYPE_COUNT] = {8, 4, 8, 4, 1, 1, 16, 8, 2, 2};

static const char *const names[LAM_DTYPE_COUNT] = {"f64",  "f32",  "i64", "i32", "u8",
                                                   "bool", "c128", "c64", "f16", "bf16"};

/* Place in the order of promotion; of two dtypes the one further on wins. */
static const uint8_t order[LAM_DTYPE_COUNT] = {
    [LAM_BOOL] = 0, [LAM_U8] = 1,  [LAM_I32] = 2, [LAM_I64] = 3, [LAM_F16] = 4,
    [LAM_BF16] = 4, [LAM_F32] = 5, [LAM_F64] = 6, [LAM_C64] = 7, [LAM_C128] = 8};

bool lam__dtype_valid(int dtype) {
    return dtype >= 0 && dtype < LAM_DTYPE_COUNT;
}

/* As in JAX, not as in NumPy: an integer does not widen a float (i64 with f32 is f32). c64 has parts of 24 bits, so
 * with f64 it takes c128. */
lam_dtype lam__dtype_promote(int a, int b) {
    if ((a == LAM_C64 && b == LAM_F64) || (a == LAM_F64 && b == LAM_C64)) return LAM_C128;
    if (order[a] == order[b] && a != b) return LAM_F32; /* f16 and bf16: neither holds the other */
    return (lam_dtype)(order[a] >= order[b] ? a : b);
}

double lam__dtype_largest(int dtype) {
    if (lam__dtype_is_half(dtype)) return dtype == LAM_F16 ? 65504 : 0x1.fep127;
    return dtype == LAM_F32 ? (double)FLT_MAX : DBL_MAX;
}

/* f64 is what most callers have, so it takes no kernel. */
double lam__dtype_load(int dtype, const void *at) {
    double value = 0;
    if (dtype == LAM_F64) memcpy(&value, at, sizeof value);
    else lam__kernels_copy(0, NULL, LAM_F64, &value, NULL, (lam_dtype)dtype, at, NULL);
    return value;
}

void lam__dtype_store(int dtype, void *at, double value) {
    if (dtype == LAM_F64) *(double *)at = value;
    else lam__kernels_copy(0, NULL, (lam_dtype)dtype, at, NULL, LAM_F64, &value, NULL);
}

lam_c128 lam__dtype_load_complex(int dtype, const void *at) {
    lam_c128 value = {0, 0};
    lam__kernels_copy(0, NULL, LAM_C128, &value, NULL, (lam_dtype)dtype, at, NULL);
    return value;
}

const char *lam_dtype_name(lam_dtype dtype) {
    return lam__dtype_valid((int)dtype) ? names[dtype] : "?";
}

size_t lam_dtype_bytes(lam_dtype dtype) {
    return lam__dtype_valid((int)dtype) ? lam__dtype_sizes[dtype] : 0;
}
