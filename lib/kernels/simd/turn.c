/* Moving items of one to eight bytes between layouts; compiled once per instruction set. See simd.h. Items of 16 bytes,
 * complex numbers, are moved by the general walk. SIDE is that of the squares which fit the registers of the set: eight
 * rows of eight items need eight registers of 8 items each. The types are integers of the sizes, so that no bit of a
 * float is looked at or changed. */
#include "lib/kernels/simd/simd.h"

#include "lib/kernels/simd/turn_wide.h"

/* WIDE_SIDE is that of the squares of turn_wide.h, which put items of 4 and 8 bytes together in whole vectors. */
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

#if VECTOR_BYTES >= 32
#define SIDE 8
#else
#define SIDE 4
#endif
#define T         uint32_t
#define WIDE_SIDE WIDE32
#define NAME(x)   x##_of_4
#include "lib/kernels/simd/turn_type.h"

#if VECTOR_BYTES >= 64
#define SIDE 8
#else
#define SIDE 4
#endif
#define T         uint64_t
#define WIDE_SIDE WIDE64
#define NAME(x)   x##_of_8
#include "lib/kernels/simd/turn_type.h"

/* NULL for 16 bytes. */
const lam__turn *LAM__ISA_NAME(lam__turn_of_)(int64_t bytes) {
    return bytes == 8 ? &turn_of_8 : bytes == 4 ? &turn_of_4 : bytes == 2 ? &turn_of_2 : bytes == 1 ? &turn_of_1 : NULL;
}
