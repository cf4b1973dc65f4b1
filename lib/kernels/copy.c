/* Copies and fills. A copy is an elementwise loop of one input: the driver's merging and tiling serve it too, so a
 * transposed copy goes in squares. Contiguous runs of one dtype move as bytes. */
#include "lib/kernels/item.h"
#include "lib/kernels/kernels.h"

#include <string.h>

#include "lib/kernels/simd/simd.h"

void lam__kernels_copy(int rank, const int64_t *dims, lam_dtype dst_dtype, void *dst, const int64_t *dst_strides,
                       lam_dtype src_dtype, const void *src, const int64_t *src_strides) {
    lam__loop *loop = lam__elementwise_simd()->convert(dst_dtype, src_dtype);
    const int64_t *strides[] = {dst_strides, src_strides};
    void *p[] = {dst, (void *)(uintptr_t)src}; /* a lam__loop writes p[0] only */
    size_t item[] = {(size_t)lam__item_bytes(dst_dtype), (size_t)lam__item_bytes(src_dtype)};
    lam__kernels_elementwise(loop, 2, rank, dims, strides, p, item, NULL);
}

static void fill16(uint64_t *dst, int64_t n, const void *item) {
    uint64_t bits[2];
    memcpy(bits, item, sizeof bits);
    for (int64_t i = 0; i < n; i++) dst[2 * i] = bits[0], dst[2 * i + 1] = bits[1];
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

static void fill2(uint16_t *dst, int64_t n, const void *item) {
    uint16_t bits;
    memcpy(&bits, item, sizeof bits);
    for (int64_t i = 0; i < n; i++) dst[i] = bits;
}

void lam__kernels_fill(lam_dtype dtype, void *dst, int64_t n, const void *item) {
    const int64_t bytes = lam__item_bytes(dtype);
    if (bytes == 16) fill16(dst, n, item);
    else if (bytes == 8) fill8(dst, n, item);
    else if (bytes == 4) fill4(dst, n, item);
    else if (bytes == 2) fill2(dst, n, item);
    else if (n > 0) memset(dst, *(const unsigned char *)item, (size_t)n);
}
