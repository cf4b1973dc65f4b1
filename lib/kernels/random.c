/* Random numbers as arrays: the bits of simd/threefry.c for this machine, and integers of a range made of them. Element
 * i is a function of the key and of its counter first + i, so any part of a draw can be made alone and the blocks here
 * change nothing. */
#include "lib/kernels/kernels.h"

#include "lib/kernels/simd/simd.h"

enum { BLOCK = 256 };

lam_dtype lam__kernels_random_dtype(lam__random_form form) {
    static const lam_dtype dtypes[] = {
        [LAM__RANDOM_PAIRS] = LAM_I64,  [LAM__RANDOM_WIDE] = LAM_I64,    [LAM__RANDOM_WORDS] = LAM_I64,
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
 * unsigned numbers are. These are the results of jax.random. A span of 0 is the whole range of the type. */
static uint64_t modulo(uint64_t x, uint64_t span) {
    return span ? x % span : x;
}

static uint64_t place(uint64_t high, uint64_t low, uint64_t span, uint64_t factor, uint64_t mask) {
    uint64_t sum = (modulo(high, span) * factor & mask) + modulo(low, span);
    return modulo(sum & mask, span);
}

/* Bytes of an element, and bits that it is made of; bytes are made of 32, to keep the bias small. */
typedef struct width {
    int bytes, bits;
    lam__random_form form;
} width;

static width width_of(lam__random_form form) {
    if (form == LAM__RANDOM_RANGE64) return (width){8, 64, LAM__RANDOM_WIDE};
    return (width){form == LAM__RANDOM_RANGE32 ? 4 : 1, 32, LAM__RANDOM_WORDS};
}

static void store(const width *w, void *out, int64_t i, uint64_t x) {
    if (w->bytes == 8) ((uint64_t *)out)[i] = x;
    else if (w->bytes == 4) ((uint32_t *)out)[i] = (uint32_t)x;
    else ((uint8_t *)out)[i] = (uint8_t)x;
}

/* The key is split in two as jax.random.randint does, one for the upper and one for the lower bits. The sum with `low`
 * is formed without a sign and wraps into the range. */
static void range(const lam__random *what, const uint32_t key[2], uint64_t first, int64_t n, void *out) {
    uint64_t keys[4], high[BLOCK], low[BLOCK];
    const lam__simd *simd = lam__elementwise_simd();
    simd->threefry(LAM__RANDOM_PAIRS, key, 0, 2, keys);
    const uint32_t upper[2] = {(uint32_t)keys[0], (uint32_t)keys[1]};
    const uint32_t lower[2] = {(uint32_t)keys[2], (uint32_t)keys[3]};
    const width w = width_of(what->form);
    const uint64_t mask = UINT64_MAX >> (64 - w.bits), span = what->span;
    uint64_t factor = modulo(UINT64_C(1) << w.bits / 2, span);
    factor = modulo(factor * factor & mask, span);
    for (int64_t start = 0, m; start < n; start += m) {
        m = n - start < BLOCK ? n - start : BLOCK;
        simd->threefry(w.form, upper, first + (uint64_t)start, m, high);
        simd->threefry(w.form, lower, first + (uint64_t)start, m, low);
        for (int64_t i = 0; i < m; i++) {
            uint64_t x = place(high[i], low[i], span, factor, mask);
            store(&w, out, start + i, (uint64_t)what->low + x);
        }
    }
}

void lam__kernels_random(const lam__random *what, const uint32_t key[2], uint64_t first, int64_t n, void *out) {
    if (what->form >= LAM__RANDOM_RANGE64) range(what, key, first, n, out);
    else lam__elementwise_simd()->threefry(what->form, key, first, n, out);
}
