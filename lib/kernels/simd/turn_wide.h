/* Squares as wide as the machine's vectors, turned by half the shuffles that whole rows would take: vectors are put
 * together from 16-byte pieces of several rows, which loads do, so that only items within 16 bytes are left to be
 * exchanged. Whole vectors are written: parts of a line that are read in one piece must not have been written in two,
 * since such a read waits until the writes are done. */
#ifndef LAM_KERNELS_SIMD_TURN_WIDE_H
#define LAM_KERNELS_SIMD_TURN_WIDE_H

#include "lib/kernels/simd/registers.h"
#include "lib/kernels/simd/vector.h"

typedef uint32_t W32 __attribute__((vector_size(VECTOR_BYTES)));
/* 16 bytes, the unit within which shuffles are cheap. */
typedef uint64_t turn_piece __attribute__((vector_size(16)));
#define WIDE32 (VECTOR_BYTES / 4) /* items; numbers the preprocessor knows */
#define WIDE64 (VECTOR_BYTES / 8)
enum { PIECES = VECTOR_BYTES / 16 };

/* A list of items with one part for each 16 bytes. Shuffles take constants, so a list is written out; `items` is how
 * many lie in 16 bytes. */
#if VECTOR_BYTES == 64
#define EACH_PIECE(list, items) list(0), list(items), list(2 * items), list(3 * items)
#elif VECTOR_BYTES == 32
#define EACH_PIECE(list, items) list(0), list(items)
#else
#define EACH_PIECE(list, items) list(0)
#endif
/* The first or the last two of the four items (of two the first or the last) of each 16 bytes, of both vectors in
 * turn. */
#define LOW32(i)  (i), (i) + WIDE32, (i) + 1, (i) + 1 + WIDE32
#define HIGH32(i) (i) + 2, (i) + 2 + WIDE32, (i) + 3, (i) + 3 + WIDE32
#define LOW64(i)  (i), (i) + WIDE64
#define HIGH64(i) (i) + 1, (i) + 1 + WIDE64

ALWAYS_INLINE U64 low32(U64 a, U64 b) {
    return (U64)__builtin_shufflevector((W32)a, (W32)b, EACH_PIECE(LOW32, 4));
}

ALWAYS_INLINE U64 high32(U64 a, U64 b) {
    return (U64)__builtin_shufflevector((W32)a, (W32)b, EACH_PIECE(HIGH32, 4));
}

ALWAYS_INLINE U64 low64(U64 a, U64 b) {
    return __builtin_shufflevector(a, b, EACH_PIECE(LOW64, 2));
}

ALWAYS_INLINE U64 high64(U64 a, U64 b) {
    return __builtin_shufflevector(a, b, EACH_PIECE(HIGH64, 2));
}

/* At any alignment. */
ALWAYS_INLINE turn_piece piece_at(const char *from) {
    turn_piece v;
    memcpy(&v, from, sizeof v);
    return v;
}

/* Pieces at from + at[0], from + at[each] and so on, in bytes. */
ALWAYS_INLINE U64 join_pieces(const char *from, const int64_t *at, int each) {
#if VECTOR_BYTES == 16
    (void)each;
    return piece_at(from + at[0]);
#else
    typedef uint64_t two __attribute__((vector_size(32)));
    const two front = __builtin_shufflevector(piece_at(from + at[0]), piece_at(from + at[each]), 0, 1, 2, 3);
#if VECTOR_BYTES == 32
    return front;
#else
    const turn_piece third = piece_at(from + at[2 * each]), last = piece_at(from + at[3 * each]);
    return __builtin_shufflevector(front, __builtin_shufflevector(third, last, 0, 1, 2, 3), 0, 1, 2, 3, 4, 5, 6, 7);
#endif
#endif
}

/* The other way: each piece of v to its place. */
ALWAYS_INLINE void part_pieces(U64 v, char *to, const int64_t *at, int each) {
    turn_piece piece[PIECES];
    memcpy(piece, &v, sizeof v);
    for (int i = 0; i < PIECES; i++) memcpy(to + at[i * each], &piece[i], sizeof piece[i]);
}

/* Of each four items of four bytes in four vectors: item k of vector j becomes item j of vector k. Low and high halves
 * are exchanged twice, first items, then pairs. */
ALWAYS_INLINE void exchange_32(const U64 v[4], U64 row[4]) {
    row[0] = low64(low32(v[0], v[1]), low32(v[2], v[3]));
    row[1] = high64(low32(v[0], v[1]), low32(v[2], v[3]));
    row[2] = low64(high32(v[0], v[1]), high32(v[2], v[3]));
    row[3] = high64(high32(v[0], v[1]), high32(v[2], v[3]));
}

/* The same of two items of eight bytes: one exchange is enough. */
ALWAYS_INLINE void exchange_64(const U64 v[2], U64 row[2]) {
    row[0] = low64(v[0], v[1]);
    row[1] = high64(v[0], v[1]);
}

/* to[r * to_step + c] = from[c * from_step + r]; steps in bytes. Each round makes four rows out of one column of
 * 16-byte pieces. */
ALWAYS_INLINE void wide_square_of_4(const char *from, int64_t from_step, char *to, int64_t to_step) {
    const int64_t at[4] = {0, 4 * from_step, 8 * from_step, 12 * from_step};
    for (int piece = 0; piece < PIECES; piece++, from += 16, to += 4 * to_step) {
        U64 v[4], row[4];
        UNROLLED for (int k = 0; k < 4; k++) v[k] = join_pieces(from + k * from_step, at, 1);
        exchange_32(v, row);
        UNROLLED for (int k = 0; k < 4; k++) memcpy(to + k * to_step, &row[k], sizeof row[k]);
    }
}

/* The same of items of eight bytes, two rows a round. */
ALWAYS_INLINE void wide_square_of_8(const char *from, int64_t from_step, char *to, int64_t to_step) {
    const int64_t at[4] = {0, 2 * from_step, 4 * from_step, 6 * from_step};
    for (int piece = 0; piece < PIECES; piece++, from += 16, to += 2 * to_step) {
        const U64 v[2] = {join_pieces(from, at, 1), join_pieces(from + from_step, at, 1)};
        U64 row[2];
        exchange_64(v, row);
        UNROLLED for (int k = 0; k < 2; k++) memcpy(to + k * to_step, &row[k], sizeof row[k]);
    }
}

#endif
