/* One instruction set's reductions, scans and arg-reductions, made from reduce_type.h; compiled once per set with the
 * flags of lib/kernels/simd and collected in a table by element type. Sets differ in the width of vectors only: groups
 * of 64 bytes are one, two or four of them and are folded in the same order, so all give the same bits. Sums of complex
 * numbers are made of these. */
#include "lib/kernels/reduce_simd.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/kernels/reduce_vectors.h"
#include "lib/kernels/simd/registers.h"

enum {
    GROUP_BYTES = 64,    /* of a row */
    AHEAD_BYTES = 4096,  /* how far ahead rows in memory are asked for */
    FETCH_BYTES = 256,   /* from here on, rows of columns are copied instead */
    BRING_BYTES = 8192,  /* as many at once: a part of the first cache */
    LAYER_BYTES = 16384, /* the largest of many layers */
    ROOM_BYTES = 8192,   /* of short rows that are folded at once */
    APART_ROWS = 512,    /* of columns that are brought side by side */
    LONG_BYTES = 1024,   /* rows that are taken several at a time */
    WIDE_BYTES = 512,    /* a row made of several short ones */
    FEW_ROWS = 8,
    /* What bounds arrays in the frame: columns and rows at once, and what is looked through before it is looked at. */
    TALLY_COLUMNS = 2048,
    ARG_ROWS = 256,
    ARG_NEAR = 16384, /* of short rows: they stay in the first cache until they are searched */
    ARG_BYTES = 2048,
    ARG_COLUMNS = 2048,
    SCAN_BLOCK = 64,
    SCAN_COLUMNS = 64,
};

/* What is compiled once for all its callers. */
#if defined(__clang__)
#define ONE_TEXT __attribute__((noinline))
#else
#define ONE_TEXT __attribute__((noinline, noclone))
#endif

/* T is the element, U its arithmetic, S that of running sums, M the lanes of a comparison, VECTOR what equal_in takes
 * (reduce_type.h). Running sums of f64 carry their errors; those of f32 run in double. */
#define T           double
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

/* Integers wrap, in U; they have no NaN and no instruction that orders it. */
#define T           int64_t
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

#define T           int32_t
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

/* Bools are bytes of 0 and 1, with the loops of u8; what their operations are says lam__reduce_op_of. Complex numbers
 * and narrow floats come here as reals. */
const lam__reduce_type LAM__ISA_NAME(lam__reduce_simd_)[LAM_DTYPE_COUNT] = {
    [LAM_F64] = {leaf_f64, merge_f64, scan_f64, arg_f64, NULL},
    [LAM_F32] = {leaf_f32, merge_f32, scan_f32, arg_f32, NULL},
    [LAM_I64] = {leaf_i64, merge_i64, scan_i64, arg_i64, NULL},
    [LAM_I32] = {leaf_i32, merge_i32, scan_i32, arg_i32, tally_i32},
    [LAM_U8] = {leaf_u8, merge_u8, scan_u8, arg_u8, tally_u8},
    [LAM_BOOL] = {leaf_u8, merge_u8, scan_u8, arg_u8, tally_u8},
};
