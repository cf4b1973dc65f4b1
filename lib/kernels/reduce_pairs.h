/* Small layers of few columns of bytes. Sums and places of no more than 256 rows, which 16 bits hold: as many pairs of
 * rows as have room lie in each 16 bytes of a vector; they are turned so that both elements of a pair lie in a lane of
 * 16 bits, where they become their sum, or the greater of two keys, the element above the number of its row counted
 * down, so that the first of equals is the greatest. What the lanes of a column hold meets in halves, of as many layers
 * at a time as a vector has times 16 bytes. Zeros change neither. Maxima of few rows: NOTE [slides of bytes].
 * Static helpers only. */
#ifndef LAM_REDUCE_PAIRS_H
#define LAM_REDUCE_PAIRS_H

#include "lib/kernels/reduce_limits.h"

enum {
    SIXTEENS = VECTOR_BYTES / 16,
    PAIRED_COLUMNS = 8, /* lanes of 16 bits in 16 bytes */
    PAIRED_ROWS = 256,  /* whose largest sum, and whose numbers beside an element, 16 bits hold */
    PAIRED_LEAST = 24,  /* rows of more bytes; shorter ones are words */
};

#if TURNS_BYTES
typedef uint8_t byte_vec __attribute__((vector_size(VECTOR_BYTES)));
typedef int16_t lane16_vec __attribute__((vector_size(VECTOR_BYTES)));

/* How layers lie in vectors. A vector holds `each` of them, or a layer is several vectors; `beyond` layers are read or
 * written with the last ones. */
typedef struct pairs {
    int64_t columns, rows;
    int64_t at[SIXTEENS]; /* where each 16 bytes begin */
    int64_t step, beyond; /* step: from a vector of a layer to the next */
    int each, vectors;
    int chunk, beside, side; /* rows in 16 bytes; how many of these are of one layer; rows of it in a vector */
    bool dense;              /* the 16 bytes are a vector in memory */
    U64 turn, last;          /* where pairs come from; those of the last vector */
    U64 row, own;            /* 255 less the number of the row: of a byte as it lies; of one of `last` in its place */
    U64 keep, flip;          /* of bytes as they lie: those of the last vector; all where the least is looked for */
    int levels;
    U64 meets[3], pack;
} pairs;

/* x / n of numbers below 32. */
ALWAYS_INLINE lane16_vec by_columns(lane16_vec x, int n) {
    return x * (int16_t)(256 / n + 1) >> 8;
}

/* The lower bytes where `there` is all ones, else those of `none`. */
ALWAYS_INLINE lane16_vec byte_where(lane16_vec there, lane16_vec x, int16_t none) {
    return (there & x & 0xff) | (~there & none);
}

/* The number of each lane of 16 bits. */
ALWAYS_INLINE lane16_vec lane_numbers(void) {
    lane16_vec v;
    int16_t at[VECTOR_BYTES / 2];
    for (int i = 0; i < VECTOR_BYTES / 2; i++) at[i] = (int16_t)i;
    memcpy(&v, at, sizeof v);
    return v;
}

/* The turn of a vector whose first row is number `first`, and 255 less the number of each row in its place. */
ALWAYS_INLINE U64 turn_of_pairs(const pairs *p, int first, U64 *own) {
    const int n = (int)p->columns;
    const lane16_vec lane = lane_numbers() & 7, two = by_columns(lane, n) * 2;
    const lane16_vec from = two * (int16_t)n + lane - two / 2 * (int16_t)n;
    const lane16_vec row =
        ((lane_numbers() >> 3) & (int16_t)(p->beside - 1)) * (int16_t)p->chunk + two + (int16_t)first;
    const lane16_vec whole = two < (int16_t)p->chunk;
    const lane16_vec even = whole & (row < (int16_t)p->rows), odd = whole & (row + 1 < (int16_t)p->rows);
    *own = (U64)(byte_where(even, UINT8_MAX - row, 0) | byte_where(odd, UINT8_MAX - 1 - row, 0) << 8);
    return (U64)(byte_where(even, from, 0x80) | byte_where(odd, from + (int16_t)n, 0x80) << 8);
}

/* The same of bytes as they lie: which of them are rows of the last vector, 255 less the row of each in the first. */
ALWAYS_INLINE void rows_as_they_lie(pairs *p) {
    const int n = (int)p->columns, before = (p->vectors - 1) * p->side;
    const lane16_vec lane = (lane_numbers() & 7) * 2, first = (lane_numbers() >> 3) * (int16_t)p->chunk;
    const lane16_vec even = by_columns(lane, n), odd = by_columns(lane + 1, n);
    const int16_t chunk = (int16_t)p->chunk, left = (int16_t)(p->rows - before);
    const lane16_vec has_even = (even < chunk) & (even + first < left), has_odd = (odd < chunk) & (odd + first < left);
    const lane16_vec all = {0};
    p->keep = (U64)(byte_where(has_even, ~all, 0) | byte_where(has_odd, ~all, 0) << 8);
    p->row = (U64)(((UINT8_MAX - even - first) & 0xff) | (UINT8_MAX - odd - first) << 8);
}

/* How the pairs of a column meet in the first lanes of each 16 bytes, and where these lie side by side. */
ALWAYS_INLINE void meets_of_pairs(pairs *p, int groups) {
    const int n = (int)p->columns;
    const lane16_vec lane = lane_numbers() & 7, at = by_columns(lane_numbers(), n);
    for (int left = groups, half; left > 1; left = half, p->levels++) {
        half = (left + 1) / 2;
        const lane16_vec some = lane < (int16_t)(n * (left - half)), from = (lane + (int16_t)(n * half)) * 2;
        p->meets[p->levels] = (U64)(byte_where(some, from, 0x80) | byte_where(some, from + 1, 0x80) << 8);
    }
    p->pack = (U64)(at * 8 + lane_numbers() - at * (int16_t)n);
}

/* Of layers of so many rows without gaps, which begin `step` bytes from each other. */
ALWAYS_INLINE pairs pairs_of(bool least, int64_t n, int64_t rows, int64_t step) {
    pairs p = {.columns = n, .rows = rows, .chunk = 2 * (PAIRED_COLUMNS / (int)n), .dense = true};
    const int chunks = ((int)rows + p.chunk - 1) / p.chunk;
    p.each = chunks == 1 ? SIXTEENS : 2 * chunks <= SIXTEENS ? SIXTEENS / 2 : 1;
    p.beside = SIXTEENS / p.each;
    p.side = p.beside * p.chunk, p.step = p.side * n;
    p.vectors = ((int)rows + p.side - 1) / p.side;
    for (int i = 0; i < SIXTEENS; i++) {
        p.at[i] = i / p.beside * step + i % p.beside * p.chunk * n;
        p.dense = p.dense && p.at[i] == 16 * i;
    }
    p.turn = turn_of_pairs(&p, 0, &p.own);
    p.last = turn_of_pairs(&p, (p.vectors - 1) * p.side, &p.own);
    if (p.vectors > 1) rows_as_they_lie(&p);
    if (least) memset(&p.flip, 0xff, sizeof p.flip);
    meets_of_pairs(&p, (int)(rows < p.chunk ? rows + 1 : p.chunk) / 2);
    const int64_t read = (p.vectors - 1) * p.step + (p.beside - 1) * p.chunk * n + 16 - rows * n;
    const int64_t layers = read > 0 ? (read + step - 1) / step : 0, written = (LANES64 - 1 + n - 1) / n;
    p.beyond = layers > written ? layers : written;
    return p;
}

ALWAYS_INLINE U64 sixteens_at(const pairs *p, const uint8_t *x) {
    if (p->dense) return (U64) * (const word_vec *)(const void *)x;
#define SIXTEEN(i) _mm_loadu_si128((const __m128i *)(const void *)(x + p->at[i]))
    const __m256i low = _mm256_inserti128_si256(_mm256_castsi128_si256(SIXTEEN(0)), SIXTEEN(1), 1);
#if VECTOR_BYTES == 64
    const __m256i high = _mm256_inserti128_si256(_mm256_castsi128_si256(SIXTEEN(2)), SIXTEEN(3), 1);
    return (U64)_mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
#else
    return (U64)low;
#endif
#undef SIXTEEN
}

/* In lanes of 16 bits. */
ALWAYS_INLINE U64 join_pairs(bool sums, U64 a, U64 b) {
    if (sums) return (U64)((pair_vec)a + (pair_vec)b);
#if VECTOR_BYTES == 64
    return (U64)_mm512_max_epu16((__m512i)a, (__m512i)b);
#else
    return (U64)_mm256_max_epu16((__m256i)a, (__m256i)b);
#endif
}

ALWAYS_INLINE U64 sums_of_pairs(U64 v) {
#if VECTOR_BYTES == 64
    return (U64)_mm512_maddubs_epi16((__m512i)v, _mm512_set1_epi8(1));
#else
    return (U64)_mm256_maddubs_epi16((__m256i)v, _mm256_set1_epi8(1));
#endif
}

/* The greater key of each pair. */
ALWAYS_INLINE U64 keys_of_pairs(U64 v, U64 number) {
    const pair_vec first = (pair_vec)v << 8 | ((pair_vec)number & 0xff);
    const pair_vec second = ((pair_vec)v & 0xff00) | (pair_vec)number >> 8;
    return join_pairs(false, (U64)first, (U64)second);
}

/* The bytes at x that are better than those before, and the numbers of their rows. */
ALWAYS_INLINE void see_bytes(U64 v, U64 row, U64 *best, U64 *where) {
#if VECTOR_BYTES == 64
    *where = numbered_u8(v, *best, row, *where);
    *best = greater_u8(*best, v);
#else
    const __m256i old = (__m256i)*best, most = _mm256_max_epu8(old, (__m256i)v);
    *where = (U64)_mm256_blendv_epi8((__m256i)row, (__m256i)*where, _mm256_cmpeq_epi8(old, most));
    *best = (U64)most;
#endif
}

/* A vector of layers, or a layer of several vectors. */
ALWAYS_INLINE U64 pairs_at(bool sums, bool several, const pairs *p, const uint8_t *x) {
    if (!several && sums) return sums_of_pairs(turned(sixteens_at(p, x), p->last));
    if (!several) return keys_of_pairs(turned(sixteens_at(p, x) ^ p->flip, p->last), p->own);
    const int last = p->vectors - 1;
    if (sums) {
        U64 all = sums_of_pairs(turned(sixteens_at(p, x), p->turn));
        for (int i = 1; i < last; i++)
            all = join_pairs(true, all, sums_of_pairs(turned(sixteens_at(p, x + i * p->step), p->turn)));
        return join_pairs(true, all, sums_of_pairs(turned(sixteens_at(p, x + last * p->step), p->last)));
    }
    U64 best = sixteens_at(p, x) ^ p->flip, row = p->row, where = row;
    const byte_vec side = (uint8_t)p->side - (byte_vec){0};
    for (int i = 1; i < last; i++) {
        row = (U64)((byte_vec)row - side);
        see_bytes(sixteens_at(p, x + i * p->step) ^ p->flip, row, &best, &where);
    }
    row = (U64)((byte_vec)row - side);
    see_bytes((sixteens_at(p, x + last * p->step) ^ p->flip) & p->keep, row, &best, &where);
    return keys_of_pairs(turned(best, p->turn), turned(where, p->turn));
}

/* What halves of vectors hold, and what neighbours of 16 bytes do, meets: of a first, then of b. */
#define FAR_16(i, h)  (((i) / 4 * 8 + (i) % 4 + (h)) % (2 * LANES64))
#define NEAR_16(i, h) ((i) / 2 * 4 + (i) % 2 + (h))
ALWAYS_INLINE U64 meet_far(bool sums, U64 a, U64 b) {
    return join_pairs(sums, __builtin_shufflevector(a, b, LIST64(FAR_16, 0)),
                      __builtin_shufflevector(a, b, LIST64(FAR_16, 4)));
}

ALWAYS_INLINE U64 meet_near(bool sums, U64 a, U64 b) {
    return join_pairs(sums, __builtin_shufflevector(a, b, LIST64(NEAR_16, 0)),
                      __builtin_shufflevector(a, b, LIST64(NEAR_16, 2)));
}

/* As many layers as a vector has times 16 bytes, each in one of these. `each` is a constant. */
ALWAYS_INLINE U64 layers_of_pairs(bool sums, int each, bool several, const pairs *p, const uint8_t *x, int64_t step) {
    const U64 first = pairs_at(sums, several, p, x);
    if (each == SIXTEENS) return first;
    const U64 second = pairs_at(sums, several, p, x + each * step);
    if (2 * each == SIXTEENS) return meet_near(sums, first, second);
    const U64 third = pairs_at(sums, several, p, x + 2 * step);
    return meet_near(sums, meet_far(sums, first, second),
                     meet_far(sums, third, pairs_at(sums, several, p, x + 3 * step)));
}

/* The first lanes of each 16 bytes, side by side in i64. */
ALWAYS_INLINE void put_pairs(const pairs *p, U64 v, int64_t *restrict out) {
    const int64_t n = p->columns;
#if VECTOR_BYTES == 64
    const __m512i side = _mm512_permutexvar_epi16((__m512i)p->pack, (__m512i)v);
#define WORDS(k) _mm512_storeu_si512(out + 8 * (k), _mm512_cvtepu16_epi64(_mm512_extracti32x4_epi32(side, k)))
    WORDS(0);
    if (n > 2) WORDS(1);
    if (n > 4) WORDS(2);
    if (n > 6) WORDS(3);
#else
    for (int k = 0; k < SIXTEENS; k++, out += n) {
        const __m128i some = _mm256_extracti128_si256((__m256i)v, 0);
        v = (U64)_mm256_permute4x64_epi64((__m256i)v, 0xee);
        _mm256_storeu_si256((__m256i *)(void *)out, _mm256_cvtepu16_epi64(some));
        if (n > 4) _mm256_storeu_si256((__m256i *)(void *)(out + 4), _mm256_cvtepu16_epi64(_mm_srli_si128(some, 8)));
    }
#endif
#undef WORDS
}

/* Loads of some layers that compilers leave where they are: NOTE [bringing] in reduce_columns.h. */
ALWAYS_INLINE void touch_layers(const uint8_t *x, int64_t bytes) {
    for (int64_t i = 0; i < bytes; i += (int64_t)sizeof(touched_vec))
        (void)*(const volatile touched_vec *)(const void *)(x + i);
}

ALWAYS_INLINE int64_t each_pairs(bool sums, int each, bool several, const pairs *p, const lam__reduce_block *b,
                                 int64_t *restrict out) {
    const int64_t count = b->layers + b->behind - p->beyond, layers = count < b->layers ? count : b->layers;
    const int64_t step = b->layer_step, bytes = SIXTEENS * step;
    const bool brought = b->far == LAM__REDUCE_MEMORY && bytes <= BRING_BYTES && bytes >= BRING_LEAST;
    int64_t k = 0;
    for (; k + SIXTEENS <= layers; k += SIXTEENS) {
        const uint8_t *x = (const uint8_t *)b->x + k * step;
        if (brought) touch_layers(x, bytes & -32);
        U64 v = layers_of_pairs(sums, each, several, p, x, step);
        for (int i = 0; i < p->levels; i++) v = join_pairs(sums, v, turned(v, p->meets[i]));
        if (!sums) v = (U64)(~(pair_vec)v & 0xff);
        put_pairs(p, v, out + k * p->columns);
    }
    return k;
}

/* Gives how many layers are done; their results lie side by side. */
ALWAYS_INLINE int64_t by_pairs(bool sums, const pairs *p, const lam__reduce_block *b, int64_t *restrict out) {
    if (p->vectors > 1) return each_pairs(sums, 1, true, p, b, out);
    if (p->each == SIXTEENS) return each_pairs(sums, SIXTEENS, false, p, b, out);
    if (2 * p->each == SIXTEENS) return each_pairs(sums, SIXTEENS / 2, false, p, b, out);
    return each_pairs(sums, 1, false, p, b, out);
}

static ONE_TEXT int64_t tally_pairs(const lam__reduce_block *b, int64_t *restrict out) {
    const pairs p = pairs_of(false, b->columns, b->rows, b->layer_step);
    return by_pairs(true, &p, b, out);
}

static ONE_TEXT int64_t arg_pairs(bool least, const lam__reduce_block *b, int64_t *restrict out) {
    const pairs p = pairs_of(least, b->columns, b->rows, b->layer_step);
    return by_pairs(false, &p, b, out);
}

/* Rows of more than a few words, which are layers of one column. Gives how many are done. */
ALWAYS_INLINE int64_t arg_paired_rows(bool least, const lam__reduce_block *b, const lam__reduce_target *to) {
    const lam__reduce_block column = {b->x, 1, 1, b->rows, 1, b->far, b->columns, b->step, false, 0};
    const bool paired = b->rows > PAIRED_LEAST && b->rows <= PAIRED_ROWS && b->step >= b->rows && to->step == 1;
    return paired ? arg_pairs(least, &column, to->out) : 0;
}

#endif

#if VECTOR_BYTES == 64
/* NOTE [slides of bytes]
 * As in reduce_slides.h (NOTE [slides]), but bytes are moved together in three steps: two lanes of 16 bits for each
 * layer, four layers to 16 bytes; their bytes; what these 16 bytes hold. */
typedef struct slides {
    int64_t count; /* layers in a vector */
    U64 lanes, bytes, pack;
} slides;

ALWAYS_INLINE slides slides_of(int n, int step) {
    const lane16_vec lane = lane_numbers(), even = (lane & 7) * 2, q = by_columns(even, n), r = by_columns(even + 1, n);
    const lane16_vec first = (lane >> 3) * 4, s = (int16_t)step - (lane16_vec){0};
    const lane16_vec from = 4 * q + ((first + q) * s & 1) + even - q * (int16_t)n;
    const lane16_vec next = 4 * r + ((first + r) * s & 1) + even + 1 - r * (int16_t)n;
    const M32 at = (M32){0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, by = at * (256 / n + 1) >> 8;
    return (slides){64 / step < 16 ? 64 / step : 16, (U64)(((lane >> 1) * s >> 1) + (lane & 1)),
                    (U64)(byte_where(even < (int16_t)(4 * n), from, 0x80) |
                          byte_where(even + 1 < (int16_t)(4 * n), next, 0x80) << 8),
                    (U64)(by * 4 + at - by * n)};
}

ALWAYS_INLINE U64 slides_together(const slides *p, U64 v) {
    const __m512i lanes = _mm512_permutexvar_epi16((__m512i)p->lanes, (__m512i)v);
    return lanes_moved(turned((U64)lanes, p->bytes), p->pack);
}
#endif

/* Whether layers are of this kind. */
ALWAYS_INLINE bool are_paired(const lam__reduce_block *b) {
    const int64_t n = b->columns, rows = b->rows;
    const bool few = n > 1 && n <= PAIRED_COLUMNS && rows > 1 && rows <= PAIRED_ROWS;
    return TURNS_BYTES && few && b->step == 1 && b->row_step == n && b->layer_step >= n * rows;
}

#if !TURNS_BYTES
ALWAYS_INLINE int64_t tally_pairs(const lam__reduce_block *b, int64_t *restrict out) {
    (void)b, (void)out;
    return 0;
}

ALWAYS_INLINE int64_t arg_pairs(bool least, const lam__reduce_block *b, int64_t *restrict out) {
    (void)least, (void)b, (void)out;
    return 0;
}

ALWAYS_INLINE int64_t arg_paired_rows(bool least, const lam__reduce_block *b, const lam__reduce_target *to) {
    (void)least, (void)b, (void)to;
    return 0;
}
#endif

#endif
