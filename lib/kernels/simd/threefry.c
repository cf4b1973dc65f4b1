/* Random bits from counters: the block cipher Threefry-2x32 with 20 rounds (Salmon, Moraes, Dror, Shaw, "Parallel
 * random numbers: as easy as 1, 2, 3", 2011), compiled once per instruction set. Element i is a function of the key and
 * of the counter first + i alone, so an array may be made in any pieces. How a counter is laid out, and how 64 bits
 * become an element, is that of jax.random in its partitionable form. */
#include "lib/kernels/keys.h"
#include "lib/kernels/simd/simd.h"

#include "lib/kernels/simd/vector.h"

/* Words of a block stay in the first cache until elements are made of them. */
enum { BLOCK = 256 };

/* Counters and, in their place, what they are hashed to. The upper words of the counters are all the same within a
 * block. */
typedef struct words {
    uint32_t high[BLOCK], low[BLOCK];
} words;

/* 0 < by < 32. */
ALWAYS_INLINE uint32_t rotated(uint32_t x, int by) {
    return x << by | x >> (32 - by);
}

/* Four rounds; then words of the key schedule are added, the second with the number of the group. */
#define ROUND(by)                                                                                                      \
    x += y;                                                                                                            \
    y = rotated(y, by) ^ x;
#define GROUP(a, b, c, d, key_x, key_y, number)                                                                        \
    ROUND(a)                                                                                                           \
    ROUND(b)                                                                                                           \
    ROUND(c)                                                                                                           \
    ROUND(d)                                                                                                           \
    x += key_x;                                                                                                        \
    y += key_y + number;

/* Element i of w, from the counter's words, to which those of the key are added. The key schedule has a third word made
 * of the other two and a constant; it is written out, so that all 20 rounds are straight code on vectors of x and y. */
ALWAYS_INLINE void encrypt(uint32_t k0, uint32_t k1, uint32_t x, uint32_t y, words *w, int i) {
    /* The constant of the paper, so that a key of zeros is none. */
    const uint32_t k2 = k0 ^ k1 ^ 0x1bd11bda;
    GROUP(13, 15, 26, 6, k1, k2, 1)
    GROUP(17, 29, 16, 24, k2, k0, 2)
    GROUP(13, 15, 26, 6, k0, k1, 3)
    GROUP(17, 29, 16, 24, k1, k2, 4)
    GROUP(13, 15, 26, 6, k2, k0, 5)
    w->high[i] = x;
    w->low[i] = y;
}

/* m elements of w, the counters from `first`; none of their low words wraps. */
static void hash(const uint32_t key[2], uint64_t first, int m, words *w) {
    const uint32_t high = (uint32_t)(first >> 32) + key[0], low = (uint32_t)first + key[1];
    INDEPENDENT for (int i = 0; i < m; i++) encrypt(key[0], key[1], high, low + (uint32_t)i, w, i);
}

ALWAYS_INLINE uint64_t whole(const words *w, int i) {
    return (uint64_t)w->high[i] << 32 | w->low[i];
}

/* A number in [1, 2) with these bits behind the point, less 1: 52 bits, each of which counts. */
ALWAYS_INLINE double unit64(uint64_t bits) {
    double x;
    bits = bits >> 12 | UINT64_C(0x3ff) << 52;
    memcpy(&x, &bits, sizeof x);
    return x - 1;
}

/* The same of 23 bits. */
ALWAYS_INLINE float unit32(uint32_t bits) {
    float x;
    bits = bits >> 9 | UINT32_C(0x7f) << 23;
    memcpy(&x, &bits, sizeof x);
    return x - 1;
}

/* Writes m elements of the form at out and gives where the next ones go. Of two words one is enough for 32 bits; both
 * go into it, as in jax.random. */
static void *put(lam__random_form form, const words *w, int m, void *out) {
    uint64_t *wide = out;
    double *unit = out;
    float *narrow_unit = out;
    uint32_t *narrow = out;
    uint8_t *byte = out;
    switch (form) {
    case LAM__RANDOM_PAIRS:
        INDEPENDENT for (int i = 0; i < m; i++) {
            wide[2 * i] = w->high[i];
            wide[2 * i + 1] = w->low[i];
        }
        return wide + 2 * m;
    case LAM__RANDOM_WIDE: INDEPENDENT for (int i = 0; i < m; i++) wide[i] = whole(w, i); return wide + m;
    case LAM__RANDOM_WORDS:
        INDEPENDENT for (int i = 0; i < m; i++) narrow[i] = w->high[i] ^ w->low[i] ^ UINT32_C(0x80000000);
        return narrow + m;
    case LAM__RANDOM_NARROW:
        INDEPENDENT for (int i = 0; i < m; i++) narrow[i] = w->high[i] ^ w->low[i];
        return narrow + m;
    case LAM__RANDOM_BYTES:
        INDEPENDENT for (int i = 0; i < m; i++) byte[i] = (uint8_t)(w->high[i] ^ w->low[i]);
        return byte + m;
    case LAM__RANDOM_UNIT64: INDEPENDENT for (int i = 0; i < m; i++) unit[i] = unit64(whole(w, i)); return unit + m;
    default:
        INDEPENDENT for (int i = 0; i < m; i++) narrow_unit[i] = unit32(w->high[i] ^ w->low[i]);
        return narrow_unit + m;
    }
}

/* Blocks end where the low word of the counter wraps, so that the loop over a block has one high word. Any part of the
 * numbers of a key can be made alone. */
void LAM__ISA_NAME(lam__threefry_)(lam__random_form form, const uint32_t key[2], uint64_t first, int64_t n, void *out) {
    words w;
    while (n > 0) {
        /* 2^32 less the low word. */
        int64_t until_wrap = INT64_C(0x100000000) - (int64_t)(uint32_t)first, m = n < BLOCK ? n : BLOCK;
        if (m > until_wrap) m = until_wrap;
        hash(key, first, (int)m, &w);
        out = put(form, &w, (int)m, out);
        first += (uint64_t)m;
        n -= m;
    }
}

/* m elements of w, each of a key of its own. Whether there are places is a constant of the call. */
ALWAYS_INLINE void hash_keys(int m, const uint64_t *keys, uint64_t counter, const uint64_t *places, words *w) {
    INDEPENDENT for (int i = 0; i < m; i++) {
        const uint64_t at = places ? counter + places[i] : counter;
        const uint32_t k0 = (uint32_t)(keys[i] >> 32), k1 = (uint32_t)keys[i];
        encrypt(k0, k1, (uint32_t)(at >> 32) + k0, (uint32_t)at + k1, w, i);
    }
}

/* A block is hashed before its elements are written, so they may take the place of the keys. */
static void each(lam__random_form form, int64_t n, const uint64_t *keys, uint64_t counter, const uint64_t *places,
                 void *out) {
    words w;
    for (int64_t at = 0; at < n; at += BLOCK) {
        const int m = (int)(n - at < BLOCK ? n - at : BLOCK);
        if (places) hash_keys(m, keys + at, counter, places + at, &w);
        else hash_keys(m, keys + at, counter, NULL, &w);
        out = put(form, &w, m, out);
    }
}

/* ---- integers of a range ----------------------------------------------------------------------------------------- */

/* x modulo span, for x < 2^52: doubles hold it, and the product that is taken away is a whole number no larger, so
 * nothing is rounded but the quotient, by less than one. */
ALWAYS_INLINE uint64_t modulo(uint64_t x, double span, double inverse) {
    double whole, rest;
    /* By the bits of a double: conversions of 64-bit integers are not instructions of all sets. */
    x |= UINT64_C(0x433) << 52; /* 2^52 + x */
    memcpy(&whole, &x, sizeof x);
    whole -= 0x1p52;
    /* Adding 2^52 and taking it off rounds to a whole number, up or down. */
    rest = whole - (whole * inverse + 0x1p52 - 0x1p52) * span;
    rest = (rest < 0 ? rest + span : rest) + 0x1p52;
    memcpy(&x, &rest, sizeof x);
    return x & (UINT64_MAX >> 12);
}

/* Halves of words count 2^32, 2^64 and 2^96 times, of which the remainders are taken beforehand. */
static void remainders(bool wide, uint32_t span, int64_t n, void *high, const void *low) {
    /* For spans up to LAM__KEYS_SPAN64 all sums of products stay below 2^52. */
    const uint64_t half = (UINT64_C(1) << 32) % span, word = half * half % span, more = word * half % span;
    const double whole = span, inverse = 1 / whole;
    uint64_t *h = high;
    const uint64_t *l = low;
    uint32_t *h32 = high;
    const uint32_t *l32 = low;
    if (wide) INDEPENDENT for (int64_t i = 0; i < n; i++) {
            const uint64_t upper = (h[i] >> 32) * more + (h[i] & UINT32_MAX) * word;
            h[i] = modulo(upper + (l[i] >> 32) * half + (l[i] & UINT32_MAX), whole, inverse);
        }
    else INDEPENDENT for (int64_t i = 0; i < n; i++) h32[i] = (uint32_t)modulo(h32[i] * half + l32[i], whole, inverse);
}

const lam__keys_set LAM__ISA_NAME(lam__keys_) = {each, remainders};
