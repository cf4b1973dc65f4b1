/* Elementwise loops on f16 and bf16: blocks of the operands become f32, which stays in the first cache, the loop of f32
 * runs on them, and its results are rounded once. So every element has the bits that conversion of whole operands
 * would give, without their memory. */
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

static void run(lam__loop_id id, lam_dtype half, int operands, int boolean, int64_t n, void *const p[],
                const int64_t step[], const void *params) {
    for (int64_t first = 0; first < n; first += BLOCK)
        run_block(id, half, operands, boolean, first, n - first < BLOCK ? n - first : BLOCK, p, step, params);
}

/* A loop knows neither its own number nor its dtype, so each pair has a function; what they do is in `run`. */
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

/* There is a loop of the narrow dtype wherever there is one of f32. The one of f32 is looked up again for each
 * block. */
lam__loop *lam__elementwise_half_loop(lam__loop_id id, lam_dtype dtype) {
    if (!lam__kernels_loop(id, LAM_F32)) return NULL;
    return dtype == LAM_F16 ? loops[id].f16 : loops[id].bf16;
}
