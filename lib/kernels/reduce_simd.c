/* One instruction set's reductions, scans and arg-reductions, made from reduce_type.h; compiled once per set with the
 * flags of lib/kernels/simd and collected in a table by element type. Sets differ in the width of vectors only: groups
 * of 64 bytes are one, two or four of them and are folded in the same order, so all give the same bits. Here are those
 * of floats; reduce_simd_integers.c and reduce_simd_complex.c are apart because they take as long to compile. */
#include "lib/kernels/reduce_limits.h"

/* T is the element, U its arithmetic, S that of running sums, M the lanes of a comparison, VECTOR what equal_in takes
 * (reduce_type.h). Running sums of f64 carry their errors; those of f32 run in double. */
#define T           double
#define LANE        double
#define PARTS       1
#define U           double
#define S           double
#define M           int64_t
#define NAME        f64
#define VECTOR      V64
#define COMPENSATED 1
#define ORDERED     FLOATS_ORDERED
#define FLOATING    1
#define LIST        LIST64
#define SPREADS     SPREAD64
#include "lib/kernels/reduce_type.h"

#define T           float
#define LANE        float
#define PARTS       1
#define U           float
#define S           double
#define M           int32_t
#define NAME        f32
#define VECTOR      V32
#define COMPENSATED 0
#define ORDERED     FLOATS_ORDERED
#define FLOATING    1
#define LIST        LIST32
#define SPREADS     SPREAD32
#include "lib/kernels/reduce_type.h"

/* i64 as f64: sums alone. Elements (E) are converted as they are read and all else is what sums of f64 do, so a sum
 * of i64 has the bits that its elements as f64 would have. */
#define T           double
#define E           int64_t
#define WITHIN      f64
#define LANE        double
#define PARTS       1
#define U           double
#define M           int64_t
#define NAME        r64
#define COMPENSATED 0
#define ORDERED     0
#define FLOATING    1
#define LIST        LIST64
#define SPREADS     SPREAD64
#include "lib/kernels/reduce_type.h"

void LAM__ISA_NAME(lam__reduce_rounds_)(const lam__reduce_block *block, void *out) {
    leaf_r64(LAM__REDUCE_OP_SUM, block, out);
}

/* NULL: tallies, rounded sums and shares are those of integers. */
static const lam__reduce_type loops_f64 = {leaf_f64, merge_f64, scan_f64, arg_f64, NULL, NULL, NULL};
static const lam__reduce_type loops_f32 = {leaf_f32, merge_f32, scan_f32, arg_f32, NULL, NULL, NULL};

/* Bools are bytes of 0 and 1, with the loops of u8; what their operations are says lam__reduce_op_of. Narrow floats
 * come here as f32. */
const lam__reduce_type *const LAM__ISA_NAME(lam__reduce_simd_)[LAM_DTYPE_COUNT] = {
    [LAM_F64] = &loops_f64,
    [LAM_F32] = &loops_f32,
    [LAM_I64] = &LAM__ISA_NAME(lam__reduce_i64_),
    [LAM_I32] = &LAM__ISA_NAME(lam__reduce_i32_),
    [LAM_U8] = &LAM__ISA_NAME(lam__reduce_u8_),
    [LAM_BOOL] = &LAM__ISA_NAME(lam__reduce_u8_),
    [LAM_C128] = &LAM__ISA_NAME(lam__reduce_c128_),
    [LAM_C64] = &LAM__ISA_NAME(lam__reduce_c64_),
};
