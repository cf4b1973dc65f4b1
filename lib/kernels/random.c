/* Random numbers as arrays: the bits of simd/threefry.c for this machine, and integers of a range made of them. Element
 * i is a function of the key and of its counter first + i, so any part of a draw can be made alone and the blocks here
 * change nothing. */
#include "lib/kernels/kernels.h"

#include "lib/kernels/keys.h"
#include "lib/kernels/simd/simd.h"

enum { BLOCK = 256 };

lam_dtype lam__kernels_random_dtype(lam__random_form form) {
    /* Pairs are two i64 each: a key has two words and there is no dtype for both. */
    static const lam_dtype dtypes[] = {
        [LAM__RANDOM_PAIRS] = LAM_I64,  [LAM__RANDOM_WIDE] = LAM_I64,    [LAM__RANDOM_WORDS] = LAM_I32,
        [LAM__RANDOM_NARROW] = LAM_I32, [LAM__RANDOM_BYTES] = LAM_U8,    [LAM__RANDOM_UNIT64] = LAM_F64,
        [LAM__RANDOM_UNIT32] = LAM_F32, [LAM__RANDOM_RANGE64] = LAM_I64, [LAM__RANDOM_RANGE32] = LAM_I32,
        [LAM__RANDOM_RANGE8] = LAM_U8,
    };
    return dtypes[form];
}

/* NOTE [ranges]
 * A range whose size is no power of 2 cannot be hit evenly by a fixed number of bits. Twice the bits of the type are
 * taken modulo the size, which leaves a bias of at most size / 2^(2 bits). The upper half counts 2^bits times, so the
 * sum of the two remainders is formed with that factor, itself reduced in two steps; everything is modulo 2^bits as
 * unsigned numbers are. These are the results of jax.random. A span of 0 is the whole range of the type.
 *
 * No element is divided. With inverse = floor((2^bits - 1) / span) the upper half of x inverse is x / span rounded
 * down, or one less: 2^bits / span - inverse <= 1, and x < 2^bits of these are less than one. So at most one span is
 * left to take away. An inverse of 0 leaves x as it is, which is what a span of 0 wants.
 *
 * For small spans nothing wraps, and the remainder is that of upper 2^bits + lower; see lam__keys_set. */
typedef struct divisor {
    uint64_t span, inverse, factor;
} divisor;

/* The words are those of 32 bits, or of 64. */
static divisor divisor_of(uint64_t span, int bits) {
    const uint64_t mask = UINT64_MAX >> (64 - bits);
    if (!span) return (divisor){0, 0, 0};
    const uint64_t root = (UINT64_C(1) << bits / 2) % span;
    return (divisor){span, mask / span, (root * root & mask) % span};
}

#ifdef __SIZEOF_INT128__
/* x y / 2^64, rounded down. Without 128 bits from four products of halves, whose sums here stay below 2^64. */
static uint64_t upper_half(uint64_t x, uint64_t y) {
    return (uint64_t)(__extension__(unsigned __int128) x * y >> 64);
}
#else
static uint64_t upper_half(uint64_t x, uint64_t y) {
    const uint64_t mask = UINT32_MAX, low = (x & mask) * (y & mask);
    const uint64_t first = (x >> 32) * (y & mask) + (low >> 32), second = (x & mask) * (y >> 32) + (first & mask);
    return (x >> 32) * (y >> 32) + (first >> 32) + (second >> 32);
}
#endif

/* x modulo span, for every x (NOTE [ranges]). */
static uint64_t modulo64(uint64_t x, const divisor *d) {
    const uint64_t rest = x - upper_half(x, d->inverse) * d->span;
    return rest >= d->span ? rest - d->span : rest;
}

static uint32_t modulo32(uint32_t x, uint32_t span, uint32_t inverse) {
    const uint32_t rest = x - (uint32_t)((uint64_t)x * inverse >> 32) * span;
    return rest >= span ? rest - span : rest;
}

/* The places of n elements, from 0, take those of their upper halves. */
static void places64(int64_t n, uint64_t *high, const uint64_t *low, const divisor *d) {
    for (int64_t i = 0; i < n; i++) high[i] = modulo64(modulo64(high[i], d) * d->factor + modulo64(low[i], d), d);
}

static void places32(int64_t n, uint32_t *high, const uint32_t *low, const divisor *d) {
    const uint32_t span = (uint32_t)d->span, inverse = (uint32_t)d->inverse, factor = (uint32_t)d->factor;
    for (int64_t i = 0; i < n; i++) {
        const uint32_t sum = modulo32(high[i], span, inverse) * factor + modulo32(low[i], span, inverse);
        high[i] = modulo32(sum, span, inverse);
    }
}

/* What a block is drawn into, of words of 64 bits or of 32; bytes are made of 32, to keep the bias small. */
typedef union words {
    uint64_t wide[BLOCK];
    uint32_t narrow[BLOCK];
} words;

/* The sum with `low` is formed without a sign and wraps into the range. */
static void store(const lam__random *what, int64_t n, const words *places, int64_t start, void *out) {
    const uint64_t low = (uint64_t)what->low;
    if (what->form == LAM__RANDOM_RANGE64)
        for (int64_t i = 0; i < n; i++) ((uint64_t *)out)[start + i] = low + places->wide[i];
    else if (what->form == LAM__RANDOM_RANGE32)
        for (int64_t i = 0; i < n; i++) ((uint32_t *)out)[start + i] = (uint32_t)low + places->narrow[i];
    else
        for (int64_t i = 0; i < n; i++) ((uint8_t *)out)[start + i] = (uint8_t)(low + places->narrow[i]);
}

/* The key is split in two as jax.random.randint does, one for the upper and one for the lower bits. */
static void range(const lam__random *what, const uint32_t key[2], uint64_t first, int64_t n, void *out) {
    /* Bytes are drawn as words of 32 bits. */
    const bool wide = what->form == LAM__RANDOM_RANGE64;
    const lam__random_form form = wide ? LAM__RANDOM_WIDE : LAM__RANDOM_NARROW;
    const divisor d = divisor_of(what->span, wide ? 64 : 32);
    const bool small = d.span && d.span <= (wide ? LAM__KEYS_SPAN64 : LAM__KEYS_SPAN32);
    const lam__simd *simd = lam__elementwise_simd();
    uint64_t keys[4];
    words high, low;
    simd->threefry(LAM__RANDOM_PAIRS, key, 0, 2, keys);
    const uint32_t upper[2] = {(uint32_t)keys[0], (uint32_t)keys[1]};
    const uint32_t lower[2] = {(uint32_t)keys[2], (uint32_t)keys[3]};
    for (int64_t start = 0, m; start < n; start += m) {
        m = n - start < BLOCK ? n - start : BLOCK;
        simd->threefry(form, upper, first + (uint64_t)start, m, &high);
        simd->threefry(form, lower, first + (uint64_t)start, m, &low);
        if (small) lam__kernels_keys()->remainders(wide, (uint32_t)d.span, m, &high, &low);
        else if (wide) places64(m, high.wide, low.wide, &d);
        else places32(m, high.narrow, low.narrow, &d);
        store(what, m, &high, start, out);
    }
}

void lam__kernels_random(const lam__random *what, const uint32_t key[2], uint64_t first, int64_t n, void *out) {
    if (what->form >= LAM__RANDOM_RANGE64) range(what, key, first, n, out);
    else lam__elementwise_simd()->threefry(what->form, key, first, n, out);
}

const lam__keys_set *lam__kernels_keys(void) {
#if defined(LAM__HAVE_X86_64_LEVELS)
    const lam__simd *simd = lam__elementwise_simd();
    if (simd == &lam__simd_v4) return &lam__keys_v4;
    if (simd == &lam__simd_v3) return &lam__keys_v3;
#endif
    return &lam__keys_v1;
}
