/* Lists of lanes for __builtin_shufflevector: LIST64(f, h) and LIST32(f, h) are f(i, h) for each lane i of a vector. */
#ifndef LAM_KERNELS_SIMD_LISTS_H
#define LAM_KERNELS_SIMD_LISTS_H

#include "lib/kernels/simd/vector.h"

/* Shuffles take their lanes as constants, one argument for each, so lists are written out: LIST_n(f, i, h) is f(i, h)
 * to f(i + n - 1, h). Their length depends on the width of vectors. */
#define LIST_2(f, i, h)  f(i, h), f((i) + 1, h)
#define LIST_4(f, i, h)  LIST_2(f, i, h), LIST_2(f, (i) + 2, h)
#define LIST_8(f, i, h)  LIST_4(f, i, h), LIST_4(f, (i) + 4, h)
#define LIST_16(f, i, h) LIST_8(f, i, h), LIST_8(f, (i) + 8, h)
#if VECTOR_BYTES == 64
#define LIST64(f, h) LIST_8(f, 0, h)
#define LIST32(f, h) LIST_16(f, 0, h)
#elif VECTOR_BYTES == 32
#define LIST64(f, h) LIST_4(f, 0, h)
#define LIST32(f, h) LIST_8(f, 0, h)
#else
#define LIST64(f, h) LIST_2(f, 0, h)
#define LIST32(f, h) LIST_4(f, 0, h)
#endif
/* The even lanes of two vectors, or the odd ones. */
#define NEIGHBOUR(i, h) (2 * (i) + (h))
/* The other lane of a pair. */
#define PARTNER(i, h) ((i) ^ 1)

#endif
