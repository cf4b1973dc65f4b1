/* One instruction set's reductions, scans and arg-reductions of integers: see reduce_simd.c. */
#include "lib/kernels/reduce_pairs.h"

/* Names as in reduce_simd.c. Integers wrap, in U; they have no NaN and no instruction that orders it. */
#define T           int64_t
#define LANE        int64_t
#define PARTS       1
#define U           uint64_t
#define S           uint64_t
#define M           int64_t
#define NAME        i64
#define VECTOR      U64
#define LIST        LIST64
#define COMPENSATED 0
#define ORDERED     0
#define FLOATING    0
#include "lib/kernels/reduce_type.h"

/* H is what the sums of 256 of them fit into. */
#define T           int32_t
#define LANE        int32_t
#define PARTS       1
#define U           uint32_t
#define S           uint32_t
#define M           int32_t
#define NAME        i32
#define VECTOR      U64
#define LIST        LIST32
#define H           int64_t
#define COMPENSATED 0
#define ORDERED     0
#define FLOATING    0
#include "lib/kernels/reduce_type.h"

#define T           uint8_t
#define LANE        uint8_t
#define PARTS       1
#define U           uint8_t
#define S           uint8_t
#define M           int8_t
#define NAME        u8
#define VECTOR      U64
#define H           uint16_t
#define COMPENSATED 0
#define ORDERED     0
#define FLOATING    0
#include "lib/kernels/reduce_type.h"

/* Sums where they lie, divided by n; with r the quotient needs no division and is rounded as if it had one
 * (reduce_rounded.h). The last ones, which fill no vector, are divided with zeros behind them. */
static void share_sums(int64_t count, double n, void *sums) {
    /* One division for all of them. */
    const double r = 1 / n;
    char *sum = sums;
    int64_t i = 0;
    for (; i + LANES64 <= count; i += LANES64) {
        const V64 shares = share(rounded((U64) * (const word_vec *)(const void *)(sum + 8 * i)), n, r);
        memcpy(sum + 8 * i, &shares, sizeof shares);
    }
    /* Zeros behind the last sums; what is made of these is not stored. */
    U64 last = {0};
    memcpy(&last, sum + 8 * i, (size_t)(8 * (count - i)));
    const V64 shares = share(rounded(last), n, r);
    memcpy(sum + 8 * i, &shares, (size_t)(8 * (count - i)));
}

/* i64 are rounded to f64 for their means; the sums of smaller integers fit into i64 and are tallied. */
const lam__reduce_type LAM__ISA_NAME(lam__reduce_i64_) = {
    leaf_i64, merge_i64, scan_i64, arg_i64, NULL, LAM__ISA_NAME(lam__reduce_rounds_), share_sums};
const lam__reduce_type LAM__ISA_NAME(lam__reduce_i32_) = {leaf_i32,  merge_i32, scan_i32, arg_i32,
                                                          tally_i32, NULL,      NULL};
const lam__reduce_type LAM__ISA_NAME(lam__reduce_u8_) = {leaf_u8, merge_u8, scan_u8, arg_u8, tally_u8, NULL, NULL};
