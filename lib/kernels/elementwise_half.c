/* Elementwise loops on f16 and bf16: blocks of the operands become f32, which stays in the first cache, the loop of f32
 * runs on them, and its results are rounded once. So every element has the bits that conversion of whole operands
 * would give, without their memory. nextafter alone steps in the narrow dtype. */
#include <string.h>

#include "lib/kernels/kinds.h"
#include "lib/kernels/simd/simd.h"

enum { BLOCK = 512, OPERANDS = 4 };

/* n elements of operand k from `first` on, as the f32 loop sees them: in place where they are bools. */
typedef struct view {
    void *at;
    int64_t step;
} view;

/* A number, whose step is 0, is converted once for each block. `room` gets the converted elements side by side, however
 * they lie in memory. The operand is not written, though its pointer allows it. */
static view block_of(lam_dtype half, void *p, int64_t step, int64_t first, int64_t n, bool boolean, float *room) {
    if (boolean) return (view){(char *)p + first * step, step};
    const int64_t apart[2] = {1, step};
    uint16_t *from = (uint16_t *)p + first * step;
    lam__elementwise_simd()->convert(LAM_F32, half)(step ? n : 1, (void *const[]){room, from}, apart, NULL);
    return (view){room, step != 0};
}

/* boolean: the operand that holds bools, counted from 1 with the result first, or 0. A bool result is written in place;
 * any other is rounded from room[0], the only rounding to the narrow dtype. */
static void run_block(lam__loop_id id, lam_dtype half, int operands, int boolean, int64_t first, int64_t n,
                      void *const p[], const int64_t step[], const void *params) {
    float room[OPERANDS][BLOCK];
    void *at[OPERANDS] = {room[0]};
    int64_t near[OPERANDS] = {1};
    for (int k = 1; k < operands; k++) {
        view v = block_of(half, p[k], step[k], first, n, boolean == k + 1, room[k]);
        at[k] = v.at;
        near[k] = v.step;
    }
    void *out = (char *)p[0] + first * step[0] * (boolean == 1 ? 1 : 2);
    if (boolean == 1) {
        at[0] = out;
        near[0] = step[0];
    }
    lam__kernels_loop(id, LAM_F32)(n, at, near, params);
    if (boolean != 1)
        lam__elementwise_simd()->convert(half, LAM_F32)(n, (void *const[]){out, room[0]}, (const int64_t[]){step[0], 1},
                                                        NULL);
}

/* Blocks of all operands are 8 KB at most, so they stay in the first cache until their results have been rounded. */
static void run(lam__loop_id id, lam_dtype half, int operands, int boolean, int64_t n, void *const p[],
                const int64_t step[], const void *params) {
    for (int64_t first = 0; first < n; first += BLOCK)
        run_block(id, half, operands, boolean, first, n - first < BLOCK ? n - first : BLOCK, p, step, params);
}

/* A loop knows neither its own number nor its dtype, so each pair has a function; what they do is in `run`. Loops
 * that f32 does not have are written too, but never given out. */
#define LAM__LOOP(name, inputs, kind)                                                                                  \
    static void f16_##name(int64_t n, void *const p[], const int64_t step[], const void *params) {                     \
        run(LAM__LOOP_##name, LAM_F16, inputs + 1, LAM__BOOL_##kind, n, p, step, params);                              \
    }                                                                                                                  \
    static void bf16_##name(int64_t n, void *const p[], const int64_t step[], const void *params) {                    \
        run(LAM__LOOP_##name, LAM_BF16, inputs + 1, LAM__BOOL_##kind, n, p, step, params);                             \
    }
#include "lib/kernels/elementwise.def"
#undef LAM__LOOP

static const struct {
    lam__loop *f16, *bf16;
} loops[LAM__LOOP_COUNT] = {
#define LAM__LOOP(name, inputs, kind) [LAM__LOOP_##name] = {f16_##name, bf16_##name},
#include "lib/kernels/elementwise.def"
#undef LAM__LOOP
};

/* ---- neighbours -------------------------------------------------------------------------------------------------- */

/* What must not be widened: the neighbour of an f32 rounds back to where it was. Bits of one sign are ordered as the
 * numbers are; equal operands give the second, 0 the least number of y's sign, NaN comes through. */
static uint16_t neighbour(uint16_t x, uint16_t y, uint16_t infinity) {
    const int size = x & 0x7fff, other = y & 0x7fff, from = x >> 15 ? -size : size, to = y >> 15 ? -other : other;
    if (size > infinity) return x;
    if (other > infinity || from == to) return y;
    if (size == 0) return (uint16_t)((y & 0x8000) | 1);
    return (uint16_t)((from < to) == (from > 0) ? x + 1 : x - 1);
}

/* infinity: its bits. Above them there is only NaN, and in nothing else do the two dtypes differ here. */
static void neighbours(uint16_t infinity, int64_t n, void *const p[], const int64_t step[]) {
    uint16_t *out = p[0];
    const uint16_t *x = p[1], *y = p[2];
    for (int64_t i = 0; i < n; i++) out[i * step[0]] = neighbour(x[i * step[1]], y[i * step[2]], infinity);
}

static void f16_neighbours(int64_t n, void *const p[], const int64_t step[], const void *params) {
    (void)params;
    neighbours(0x7c00, n, p, step);
}

static void bf16_neighbours(int64_t n, void *const p[], const int64_t step[], const void *params) {
    (void)params;
    neighbours(0x7f80, n, p, step);
}

/* There is a loop of the narrow dtype wherever there is one of f32. The one of f32 is looked up again for each
 * block. */
lam__loop *lam__elementwise_half_loop(lam__loop_id id, lam_dtype dtype) {
    if (id == LAM__LOOP_nextafter) return dtype == LAM_F16 ? f16_neighbours : bf16_neighbours;
    if (!lam__kernels_loop(id, LAM_F32)) return NULL;
    return dtype == LAM_F16 ? loops[id].f16 : loops[id].bf16;
}
