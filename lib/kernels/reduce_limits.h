/* What the files of one instruction set's reductions begin with: reduce_simd.c, whose table names the rows that
 * reduce_simd_integers.c and reduce_simd_complex.c give. */
#ifndef LAM_REDUCE_LIMITS_H
#define LAM_REDUCE_LIMITS_H

#include "lib/kernels/reduce_simd.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/kernels/reduce_rounded.h"
#include "lib/kernels/reduce_vectors.h"
#include "lib/kernels/reduce_widened.h"
#include "lib/kernels/simd/registers.h"
#include "lib/kernels/simd/turn_wide.h"

void LAM__ISA_NAME(lam__reduce_rounds_)(const lam__reduce_block *block, void *out); /* lam__reduce_type.round of i64 */
extern const lam__reduce_type LAM__ISA_NAME(lam__reduce_i64_), LAM__ISA_NAME(lam__reduce_i32_),
    LAM__ISA_NAME(lam__reduce_u8_), LAM__ISA_NAME(lam__reduce_c128_), LAM__ISA_NAME(lam__reduce_c64_);

enum {
    GROUP_BYTES = 64,   /* of a row */
    AHEAD_BYTES = 4096, /* how far ahead rows in memory are asked for */
    NEAR_BYTES = 8192,  /* rows of columns that are brought at once, if eight of them are fewer */
    BROUGHT_ROW = 64,   /* of rows and of columns of layers that are brought, at least */
    BROUGHT_COLUMN = 32,
    BROUGHT_LONG = 512,  /* of rows, whatever the columns */
    BRING_BYTES = 16384, /* eight rows that are brought at once, and layers abreast, at most */
    BRING_LEAST = 256,   /* of layers abreast */
    LAYER_BYTES = 16384, /* the largest of many layers */
    SLIDE_ROWS = 5,      /* of layers of which a vector holds several: NOTE [slides] in reduce_slides.h */
    SLIDE_BYTES = 12,    /* the same of bytes, of a layer: NOTE [slides of bytes] in reduce_pairs.h */
    PART_ROWS = 64,      /* of layers of bytes of which several rows are summed as one, at least */
    THIN_COLUMNS = 5,    /* of bytes that are taken apart, where rows are so many times as many */
    THIN_ROWS = 16,
    THIN_ROWS_IN_ONE = 4, /* the same of layers of no more than a vector */
    THIN_BYTES = 256,     /* of a layer of few columns whose places are found a vector of rows at a time, at least */
    THIN_BYTES_8 = 320,   /* the same of bytes */
    ASK_BYTES = 2048,     /* rows that are asked for at once */
    BRINGS_ROWS = VECTOR_BYTES > 32, /* 1: short rows in memory are brought; narrower vectors gain nothing by it */
    ASKED_BYTES = 2048,              /* of layers of two or four columns that are asked for, at least */
    ROOM_BYTES = 8192,               /* of short rows that are folded at once */
    APART_ROWS = 512,                /* of columns that are brought side by side */
    LONG_BYTES = 1024,               /* rows that are taken several at a time */
    WIDE_BYTES = 512,                /* a row made of several short ones */
    FEW_ROWS = 8,
    /* What bounds arrays in the frame: columns and rows at once, and what is looked through before it is looked at. */
    TALLY_COLUMNS = 2048,
    ARG_ROWS = 256,
    ARG_NEAR = 16384, /* of short rows: they stay in the first cache until they are searched */
    ARG_BYTES = 2048,
    ARG_COLUMNS = 2048,
    SCAN_BLOCK = 64,
    SCAN_COLUMNS = 1024, /* so long a piece of a row is read as memory gives it */
};

/* Half a line, or what a vector has of it: what reads ahead (NOTE [bringing] in reduce_columns.h). */
typedef uint64_t touched_vec __attribute__((vector_size(VECTOR_BYTES < 32 ? VECTOR_BYTES : 32), aligned(1), may_alias));

/* What is compiled once for all its callers. */
#if defined(__clang__)
#define ONE_TEXT __attribute__((noinline))
#else
#define ONE_TEXT __attribute__((noinline, noclone))
#endif

#endif
