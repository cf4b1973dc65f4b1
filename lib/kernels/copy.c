/* Copies and fills. A copy is an elementwise loop of one input: the driver's merging and tiling serve it too, so a
 * transposed copy goes in squares. Contiguous runs of one dtype move as bytes. */
#include "lib/kernels/kernels.h"

#include <string.h>

#include "lib/kernels/simd/simd.h"

static const size_t item_size[LAM_DTYPE_COUNT] = {
    [LAM_F64] = 8, [LAM_F32] = 4, [LAM_I64] = 8, [LAM_I32] = 4, [LAM_U8] = 1, [LAM_BOOL] = 1,
};

void lam__kernels_copy(int rank, const int64_t *dims, lam_dtype dst_dtype, void *dst, const int64_t *dst_strides,
                       lam_dtype src_dtype, const void *src, const int64_t *src_strides) {
    lam__loop *loop = lam__elementwise_simd()->convert(dst_dtype, src_dtype);
    const int64_t *strides[] = {dst_strides, src_strides};
    void *p[] = {dst, (void *)(uintptr_t)src}; /* a lam__loop writes p[0] only */
    size_t item[] = {item_size[dst_dtype], item_size[src_dtype]};
    lam__kernels_elementwise(loop, 2, rank, dims, strides, p, item, NULL);
}

static void fill8(uint64_t *dst, int64_t n, const void *item) {
    uint64_t bits;
    memcpy(&bits, item, sizeof bits);
    for (int64_t i = 0; i < n; i++) dst[i] = bits;
}

static void fill4(uint32_t *dst, int64_t n, const void *item) {
    uint32_t bits;
    memcpy(&bits, item, sizeof bits);
    for (int64_t i = 0; i < n; i++) dst[i] = bits;
}

void lam__kernels_fill(lam_dtype dtype, void *dst, int64_t n, const void *item) {
    if (item_size[dtype] == 8) fill8(dst, n, item);
    else if (item_size[dtype] == 4) fill4(dst, n, item);
    else if (n > 0) memset(dst, *(const unsigned char *)item, (size_t)n);
}
