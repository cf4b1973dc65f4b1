/* The size of an element of each dtype, for kernels that walk memory in bytes, and the type of c64's, which has no
 * public name. The one place in lib/kernels that says so; it must agree with the element types named in lamina/base.h.
 * A table of bytes: it is looked at for every operand of every call. */
#ifndef LAM_KERNELS_ITEM_H
#define LAM_KERNELS_ITEM_H

#include <lamina/base.h>

typedef struct lam__c64 {
    float re, im;
} lam__c64;

static inline int64_t lam__item_bytes(lam_dtype dtype) {
    static const uint8_t bytes[LAM_DTYPE_COUNT] = {
        [LAM_F64] = 8,  [LAM_F32] = 4,   [LAM_I64] = 8, [LAM_I32] = 4, [LAM_U8] = 1,
        [LAM_BOOL] = 1, [LAM_C128] = 16, [LAM_C64] = 8, [LAM_F16] = 2, [LAM_BF16] = 2,
    };
    return bytes[dtype];
}

#endif
