/* Moving items of one to eight bytes between layouts; compiled once per instruction set. See simd.h. Items of 16 bytes,
 * complex numbers, are moved by the general walk. SIDE is that of the squares which fit the registers of the set: eight
 * rows of eight items need eight registers of 8 items each. The types are integers of the sizes, so that no bit of a
 * float is looked at or changed. */
#include "lib/kernels/simd/simd.h"

#include "lib/kernels/simd/turn_wide.h"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

/* WIDE_SIDE is that of the squares of turn_wide.h, which put items of 4 and 8 bytes together in whole vectors.
 * Bytes and pairs of bytes have no wide squares. */
#define T         uint8_t
#define SIDE      4
#define WIDE_SIDE 0
#define NAME(x)   x##_of_1
#include "lib/kernels/simd/turn_type.h"

#define T         uint16_t
#define SIDE      8
#define WIDE_SIDE 0
#define NAME(x)   x##_of_2
#include "lib/kernels/simd/turn_type.h"

/* Eight items of four bytes are a vector of 32. */
#if VECTOR_BYTES >= 32
#define SIDE 8
#else
#define SIDE 4
#endif
#define T         uint32_t
#define WIDE_SIDE WIDE32
#define NAME(x)   x##_of_4
#include "lib/kernels/simd/turn_type.h"

/* And eight of eight bytes one of 64. */
#if VECTOR_BYTES >= 64
#define SIDE 8
#else
#define SIDE 4
#endif
#define T         uint64_t
#define WIDE_SIDE WIDE64
#define NAME(x)   x##_of_8
#include "lib/kernels/simd/turn_type.h"

/* NULL for 16 bytes, which no integer type of C holds. */
const lam__turn *LAM__ISA_NAME(lam__turn_of_)(int64_t bytes) {
    return bytes == 8 ? &turn_of_8 : bytes == 4 ? &turn_of_4 : bytes == 2 ? &turn_of_2 : bytes == 1 ? &turn_of_1 : NULL;
}

enum { LINE = 64 };

/* A line past the caches: in as few stores as the set has, since each waits for its turn there. */
ALWAYS_INLINE void put_line(char *to, const char *from) {
#if defined(__AVX512F__)
    _mm512_stream_si512((__m512i *)(void *)to, _mm512_loadu_si512(from));
#elif defined(__AVX__)
    for (int i = 0; i < LINE; i += 32)
        _mm256_stream_si256((__m256i *)(void *)(to + i), _mm256_loadu_si256((const __m256i *)(const void *)(from + i)));
#elif defined(__SSE2__)
    for (int i = 0; i < LINE; i += 16)
        _mm_stream_si128((__m128i *)(void *)(to + i), _mm_loadu_si128((const __m128i *)(const void *)(from + i)));
#else
    memcpy(to, from, LINE);
#endif
}

/* Whole lines of dst; what lies before the first and behind the last goes through the caches. */
void LAM__ISA_NAME(lam__turn_stream_)(size_t bytes, void *dst, const void *src) {
    char *to = dst;
    const char *from = src;
    size_t at = (LINE - (uintptr_t)to % LINE) % LINE;
    /* Fewer bytes than there are before the first line. */
    if (at > bytes) at = bytes;
    memcpy(to, from, at);
    for (; at + LINE <= bytes; at += LINE) put_line(to + at, from + at);
    memcpy(to + at, from + at, bytes - at);
}
