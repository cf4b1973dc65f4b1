/* Loops that take their operands in blocks: those of f16 and bf16, which are f32's, rounded once, wherever elements
 * lie; and remainders of floats, which are exact whether quotients have all their digits or not. */
#include <math.h>
#include <string.h>

#include "tests/unmarked.h"
#include "tests/kernels/sets.h"

enum { N = 1300, STEPS = 3, ROOM = N * STEPS };

static lam_dtype input_dtype(lam__loop_id id, lam_dtype dtype, int k) {
    return sets_input(id, LAM_F32, k) == LAM_BOOL ? LAM_BOOL : dtype;
}

/* Same bits, or both NaN. */
static bool same(lam_dtype half, uint16_t a, uint16_t b) {
    const uint16_t infinity = half == LAM_F16 ? 0x7c00 : 0x7f80;
    return a == b || ((a & 0x7fff) > infinity && (b & 0x7fff) > infinity);
}

/* Every element of the loop on f16 or bf16 beside conversion, the loop on f32 and conversion. */
static void check_half(lam__loop_id id, lam_dtype half, const int64_t step[OPERANDS]) {
    static uint16_t memory[OPERANDS][ROOM];
    const lam__simd *simd = lam__elementwise_simd();
    static const int64_t ones[OPERANDS] = {1, 1, 1, 1};
    const bool of_numbers = id == LAM__LOOP_ramp || id == LAM__LOOP_nan_to_num || id == LAM__LOOP_huber_loss;
    const lam__power power = {3, -0.5};
    const lam__replacements numbers = {-0.75, 2.5, -3};
    const void *params = of_numbers ? (const void *)&numbers : &power;
    const bool truth = sets_output(id, LAM_F32) == LAM_BOOL;
    void *p[OPERANDS];
    uint64_t state = (uint64_t)id * 2 + (half == LAM_F16);
    for (int k = 0; k < OPERANDS; k++) {
        p[k] = memory[k];
        bool boolean = k > 0 && k <= sets_rows[id].inputs && input_dtype(id, half, k - 1) == LAM_BOOL;
        sets_fill(boolean ? LAM_BOOL : LAM_I32, p[k], boolean ? ROOM : ROOM / 2, &state);
    }
    lam__kernels_loop(id, half)(N, p, step, params);
    for (int64_t i = 0; i < N; i++) {
        float x[OPERANDS];
        uint16_t want;
        void *at[OPERANDS] = {x};
        for (int k = 1; k <= sets_rows[id].inputs; k++) {
            bool boolean = input_dtype(id, half, k - 1) == LAM_BOOL;
            char *from = (char *)p[k] + i * step[k] * (boolean ? 1 : 2);
            at[k] = boolean ? (void *)from : &x[k];
            if (!boolean) simd->convert(LAM_F32, half)(1, (void *[]){at[k], from}, ones, NULL);
        }
        lam__kernels_loop(id, LAM_F32)(1, at, ones, params);
        if (truth) {
            ck_assert_uint_eq(((uint8_t *)p[0])[i * step[0]], *(uint8_t *)x);
            continue;
        }
        simd->convert(half, LAM_F32)(1, (void *[]){&want, x}, ones, NULL);
        EXPECT_THAT(same(half, memory[0][i * step[0]], want), "%s: element %d is %#x, not %#x", sets_rows[id].name,
                    (int)i, memory[0][i * step[0]], want);
    }
}

START_TEST(half_loops_are_those_of_f32) {
    static const int64_t steps[][OPERANDS] = {{1, 1, 1, 1}, {2, 3, 1, 0}, {1, 0, 2, 1}, {3, 1, 0, 2}};
    static const lam_dtype halves[] = {LAM_F16, LAM_BF16};
    lam__loop_id id = (lam__loop_id)_i;
    for (int h = 0; h < 2; h++) {
        ck_assert_int_eq(lam__kernels_loop(id, LAM_F32) != NULL, lam__kernels_loop(id, halves[h]) != NULL);
        if (id == LAM__LOOP_nextafter) continue; /* steps of its own: tests/tensor/half.c */
        for (size_t k = 0; k < sizeof steps / sizeof *steps && lam__kernels_loop(id, LAM_F32); k++)
            check_half(id, halves[h], steps[k]);
    }
}
END_TEST

/* Of quotients up to 2^bits; C's fmod, which is exact, says what they leave. */
static void check_remainders(const lam__simd *set, int bits) {
    double x[N], y[N], out[N];
    float xf[N], yf[N], outf[N];
    static const int64_t ones[3] = {1, 1, 1};
    uint64_t state = (uint64_t)bits + 1;
    sets_fill(LAM_I64, x, N, &state);
    sets_fill(LAM_I64, y, N, &state);
    for (int i = 0; i < N; i++) {
        int64_t a, b;
        memcpy(&a, &x[i], 8);
        memcpy(&b, &y[i], 8);
        y[i] = ldexp((double)(b | 1), (int)(a & 63) - 32 - 63);
        x[i] = i % 3 ? y[i] * ldexp((double)a, bits - 63) : y[i] * rint(ldexp((double)a, bits - 63));
        if (i % 7 == 0) x[i] = nextafter(x[i], i % 2 ? INFINITY : -INFINITY);
        xf[i] = (float)x[i], yf[i] = (float)y[i];
    }
    set->loop(LAM__LOOP_rem, LAM_F64)(N, (void *[]){out, x, y}, ones, NULL);
    set->loop(LAM__LOOP_rem, LAM_F32)(N, (void *[]){outf, xf, yf}, ones, NULL);
    for (int i = 0; i < N; i++) {
        double want = fmod(x[i], y[i]);
        float wantf = fmodf(xf[i], yf[i]);
        EXPECT_THAT(sets_same(LAM_F64, &out[i], &want), "%s: %a rem %a is %a", set->name, x[i], y[i], out[i]);
        EXPECT_THAT(sets_same(LAM_F32, &outf[i], &wantf), "%s: %a rem %a is %a", set->name, xf[i], yf[i], outf[i]);
    }
}

START_TEST(remainders_are_exact) {
    const lam__simd *sets[SETS];
    int count = sets_of_machine(sets);
    for (int s = 0; s < count; s++)
        for (int bits = 0; bits < 60; bits++) check_remainders(sets[s], bits);
}
END_TEST

Suite *suite_kernels_narrow(void);
Suite *suite_kernels_narrow(void) {
    Suite *s = suite_create("kernels/narrow");
    TCase *tests = tcase_create("narrow");
    tcase_add_loop_test(tests, half_loops_are_those_of_f32, 0, LAM__LOOP_COUNT);
    tcase_add_test(tests, remainders_are_exact);
    suite_add_tcase(s, tests);
    return s;
}
