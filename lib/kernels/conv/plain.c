/* The loops of convolutions for integers, which wrap, and bools (or of ands): one element at a time. Only `along` is
 * there, so plan.c chooses it whatever the sizes are. Unsigned types wrap without undefined behaviour, and bits of sums
 * are those of signed ones. */
#include "lib/kernels/conv/loops.h"

enum { LONG = 16 }; /* places of a tile */

#define T         uint64_t
#define NAME(f)   f##_u64
#define SUM(a, b) ((a) + (b))
#define MUL(a, b) ((a) * (b))
#include "lib/kernels/conv/plain_type.h"

#define T         uint32_t
#define NAME(f)   f##_u32
#define SUM(a, b) ((a) + (b))
#define MUL(a, b) ((a) * (b))
#include "lib/kernels/conv/plain_type.h"

#define T         uint8_t
#define NAME(f)   f##_u8
#define SUM(a, b) (uint8_t)((a) + (b))
#define MUL(a, b) (uint8_t)((a) * (b))
#include "lib/kernels/conv/plain_type.h"

#define T         uint8_t
#define NAME(f)   f##_bool
#define SUM(a, b) ((a) | (b))
#define MUL(a, b) ((a) & (b))
#include "lib/kernels/conv/plain_type.h"

/* A vector of one element: lengths are never rounded up for lack of lanes. */
#define LOOPS(type)                                                                                                    \
    {                                                                                                                  \
        .lanes = 1, .widest = 1, .along = { along_1_##type, along_2_##type, along_3_##type, along_4_##type }           \
    }

const lam__conv_loops lam__conv_loops_plain[LAM_DTYPE_COUNT] = {
    [LAM_I64] = LOOPS(u64), [LAM_I32] = LOOPS(u32), [LAM_U8] = LOOPS(u8), [LAM_BOOL] = LOOPS(bool)};
