/* See sets.h. */
#include "tests/kernels/sets.h"

#include <math.h>
#include <string.h>

#include "tests/kernels/oracle.h"

const loop_row sets_rows[LAM__LOOP_COUNT] = {
#define LAM__LOOP(name, inputs, kind) {#name, inputs, KIND_##kind},
#include "lib/kernels/elementwise.def"
#undef LAM__LOOP
};

/* A machine that runs a wide set runs the narrower ones. */
int sets_of_machine(const lam__simd *sets[SETS]) {
    int count = 0;
    const lam__simd *widest = lam__elementwise_simd();
    sets[count++] = &lam__simd_v1;
#if defined(LAM__HAVE_X86_64_LEVELS)
    if (widest != &lam__simd_v1) sets[count++] = &lam__simd_v3;
    if (widest == &lam__simd_v4) sets[count++] = &lam__simd_v4;
#endif
    return sets[count - 1] == widest ? count : 0;
}

lam__loop *sets_loop(const lam__simd *set, lam__loop_id id, lam_dtype dtype) {
    return set->loop(id, dtype);
}

size_t sets_item(lam_dtype dtype) {
    return dtype == LAM_C128                                          ? 16
           : dtype == LAM_F64 || dtype == LAM_I64 || dtype == LAM_C64 ? 8
           : dtype == LAM_F32 || dtype == LAM_I32                     ? 4
                                                                      : 1;
}

lam_dtype sets_input(lam__loop_id id, lam_dtype dtype, int input) {
    return sets_rows[id].kind == KIND_SELECT && input == 0 ? LAM_BOOL : dtype;
}

lam_dtype sets_output(lam__loop_id id, lam_dtype dtype) {
    return sets_rows[id].kind == KIND_COMPARE || sets_rows[id].kind == KIND_TEST ? LAM_BOOL : dtype;
}

/* Extremes, small numbers, any bits. */
static int64_t draw_integer(uint64_t *state) {
    static const int64_t edges[] = {
        0, 1, -1, 2, -2, INT64_MAX, INT64_MIN, INT32_MAX, INT32_MIN, UINT8_MAX, INT64_MIN + 1, INT32_MIN + 1, 128, 3};
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    uint64_t choice = *state >> 33;
    if (choice % 3 == 0) return edges[choice / 3 % (sizeof edges / sizeof *edges)];
    return choice % 3 == 1 ? (int64_t)(choice / 3 % 41) - 20 : (int64_t)(*state ^ choice);
}

void sets_fill(lam_dtype dtype, void *x, int64_t n, uint64_t *state) {
    for (int64_t i = 0; i < n; i++) {
        oracle_range range = (oracle_range)(*state >> 40) % ORACLE_RANGES;
        switch (dtype) {
        case LAM_F64: ((double *)x)[i] = oracle_draw(range, dtype, state); break;
        case LAM_F32: ((float *)x)[i] = (float)oracle_draw(range, dtype, state); break;
        case LAM_I64: ((int64_t *)x)[i] = draw_integer(state); break;
        case LAM_I32: ((int32_t *)x)[i] = (int32_t)(uint32_t)draw_integer(state); break;
        case LAM_U8: ((uint8_t *)x)[i] = (uint8_t)draw_integer(state); break;
        default: ((uint8_t *)x)[i] = draw_integer(state) & 1; break;
        }
    }
}

double sets_show(lam_dtype dtype, const void *x) {
    switch (dtype) {
    case LAM_F64: return *(const double *)x;
    case LAM_F32: return *(const float *)x;
    case LAM_I64: return (double)*(const int64_t *)x;
    case LAM_I32: return *(const int32_t *)x;
    default: return *(const uint8_t *)x;
    }
}

bool sets_same(lam_dtype dtype, const void *x, const void *y) {
    if (isnan(sets_show(dtype, x)) && isnan(sets_show(dtype, y))) return true;
    return memcmp(x, y, sets_item(dtype)) == 0;
}
