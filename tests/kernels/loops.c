/* The elementwise loops of every instruction set: bit for bit those of the reference where results are exact; the
 * same bits for an element wherever it lies; not one byte written beyond the n elements. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unmarked.h"
#include "tests/kernels/sets.h"

enum { MOST = 700, ROOM = MOST * 8 };

static const lam__simd *sets[SETS];
static int set_count;

static void setup(void) {
    set_count = sets_of_machine(sets);
    ck_assert_int_gt(set_count, 0);
}

/* One operation on contiguous random operands, with room for results. */
typedef struct fixture {
    lam__loop_id id;
    lam_dtype dtype, in[3], out;
    int inputs;
    size_t item[OPERANDS]; /* bytes; 0 the output */
    union {
        lam__power power; /* the exponent is the parameter of integer_pow, too */
        lam__replacements numbers;
    } params;
    double memory[OPERANDS][MOST];
    void *p[OPERANDS];
} fixture;

static void make(fixture *f, int id, lam_dtype dtype) {
    uint64_t state = (uint64_t)id * 31 + dtype;
    f->id = (lam__loop_id)id;
    f->dtype = dtype;
    f->out = sets_output(f->id, dtype);
    f->inputs = sets_rows[id].inputs;
    f->item[0] = sets_item(f->out);
    f->params.numbers = (lam__replacements){-0.75, 2.5, -3};
    if (id == LAM__LOOP_huber_loss) f->params.numbers.nan = 0.75;
    else if (id != LAM__LOOP_ramp && id != LAM__LOOP_nan_to_num) f->params.power = (lam__power){3, -0.5};
    f->p[0] = f->memory[0];
    for (int k = 0; k < f->inputs; k++) {
        f->in[k] = sets_input(f->id, dtype, k);
        f->item[k + 1] = sets_item(f->in[k]);
        f->p[k + 1] = f->memory[k + 1];
        sets_fill(f->in[k], f->p[k + 1], MOST, &state);
    }
}

static char *element(const fixture *f, int operand, int64_t i) {
    return (char *)f->p[operand] + i * (int64_t)f->item[operand];
}

static const int64_t ones[OPERANDS] = {1, 1, 1, 1};

/* ---- values ---------------------------------------------------------------------------------------------- */

/* Rounded in more than one step, so no two ways of computing need agree: measured in tests/kernels/accuracy.c. */
static bool is_exact(int id, lam_dtype dtype) {
    bool powers = id == LAM__LOOP_integer_pow && dtype <= LAM_F32;
    loop_kind kind = sets_rows[id].kind;
    bool rounded = kind == KIND_ELEMENTARY || kind == KIND_FAMILY || kind == KIND_SPECIAL;
    const bool twice = id == LAM__LOOP_hard_gate || id == LAM__LOOP_softsign || id == LAM__LOOP_huber_loss ||
                       id == LAM__LOOP_hard_silu || id == LAM__LOOP_hard_silu_slope;
    return !rounded && !(twice && dtype == LAM_F32) && id != LAM__LOOP_rsqrt && id != LAM__LOOP_times_power &&
           id != LAM__LOOP_mul_div && !powers;
}

static void compare_with_reference(fixture *f, const lam__simd *set) {
    lam__loop *loop = sets_loop(set, f->id, f->dtype);
    double scratch;
    const void *x[3] = {f->p[1], f->p[2], f->p[3]};
    bool defined = lam__reference_element(f->id, f->dtype, &scratch, x, &f->params);
    EXPECT_THAT(defined == (loop != NULL), "%s on dtype %d", sets_rows[f->id].name, f->dtype);
    if (!loop || !is_exact(f->id, f->dtype)) return;
    loop(MOST, f->p, ones, &f->params);
    for (int64_t i = 0; i < MOST; i++) {
        for (int k = 0; k < f->inputs; k++) x[k] = element(f, k + 1, i);
        lam__reference_element(f->id, f->dtype, &scratch, x, &f->params);
        EXPECT_THAT(sets_same(f->out, &scratch, element(f, 0, i)), "%s %s dtype %d of %g, ...: %g, should be %g",
                    set->name, sets_rows[f->id].name, f->dtype, sets_show(f->in[0], x[0]),
                    sets_show(f->out, element(f, 0, i)), sets_show(f->out, &scratch));
    }
}

START_TEST(exact_loops_equal_the_reference) {
    static const int64_t exponents[] = {0, 1, 2, 3, 7, 64, -1, -2, -3, INT64_MAX, INT64_MIN};
    static const int64_t formats[] = {5 << 8 | 10, 8 << 8 | 7, 8 << 8 | 23, 11 << 8 | 52,
                                      4 << 8 | 3,  1 << 8 | 1, 40 << 8 | 60};
    fixture f;
    for (lam_dtype dtype = 0; dtype < REAL_DTYPES; dtype++) {
        make(&f, _i, dtype);
        int runs = _i == LAM__LOOP_integer_pow        ? (int)(sizeof exponents / sizeof *exponents)
                   : _i == LAM__LOOP_reduce_precision ? (int)(sizeof formats / sizeof *formats)
                                                      : 1;
        for (int e = 0; e < runs; e++)
            for (int s = 0; s < set_count; s++) {
                if (_i == LAM__LOOP_integer_pow) f.params.power.exponent = exponents[e];
                if (_i == LAM__LOOP_reduce_precision) f.params.power.exponent = formats[e];
                compare_with_reference(&f, sets[s]);
            }
    }
}
END_TEST

/* A product halfway between two floats, and what decides between them too small for a double to hold beside it. */
START_TEST(sums_with_products_are_rounded_once) {
    const float x = 1 + 0x1p-12f, z[] = {0x1p-60f, -0x1p-60f}, want[] = {1 + 0x1p-11f + 0x1p-23f, 1 + 0x1p-11f};
    for (int k = 0; k < 2; k++) {
        float got;
        const void *in[] = {&x, &x, &z[k]};
        lam__reference_element(LAM__LOOP_fma, LAM_F32, &got, in, NULL);
        ck_assert_float_eq(got, want[k]);
        for (int s = 0; s < set_count; s++) {
            float minus = -x, sum = z[k], operand = x;
            sets[s]->loop(LAM__LOOP_fma, LAM_F32)(1, (void *[]){&got, &operand, &operand, &sum}, ones, NULL);
            ck_assert_float_eq(got, want[k]);
            sets[s]->loop(LAM__LOOP_fnma, LAM_F32)(1, (void *[]){&got, &minus, &operand, &sum}, ones, NULL);
            ck_assert_float_eq(got, want[k]);
        }
    }
}
END_TEST

/* Each of at most 2 log2|k| + 1 products and the division adds half an ulp, relative errors multiplied by at most k:
 * |k| ulps is the bound of repeated squaring. long double carries 11 bits more. */
START_TEST(float_powers_are_within_their_exponent) {
    static const int64_t exponents[] = {1, 2, 3, 4, 5, 10, 15, 31, -1, -2, -3, -8, -20};
    for (int s = 0; s < set_count; s++)
        for (int e = 0; e < (int)(sizeof exponents / sizeof *exponents); e++)
            for (int i = 0; i < 200; i++) {
                double x = (i % 2 ? -1 : 1) * (0.1 + i * 0.0317), got;
                float xf = (float)x, gotf;
                int64_t k = exponents[e], size = k < 0 ? -k : k;
                sets[s]->loop(LAM__LOOP_integer_pow, LAM_F64)(1, (void *[]){&got, &x}, ones, &k);
                sets[s]->loop(LAM__LOOP_integer_pow, LAM_F32)(1, (void *[]){&gotf, &xf}, ones, &k);
                long double truth = powl(x, k), truthf = powl(xf, k);
                EXPECT_THAT(fabsl(got - truth) <= size * DBL_EPSILON * fabsl(truth), "%g^%d", x, (int)k);
                EXPECT_THAT(fabsl(gotf - truthf) <= size * FLT_EPSILON * fabsl(truthf), "%g^%d", x, (int)k);
            }
}
END_TEST

/* ---- position -------------------------------------------------------------------------------------------- */

/* Bytes far enough apart for any step used here, filled with a pattern that must survive between elements. */
static char spread[OPERANDS][ROOM * 3 + 64];

static void check_layout(const fixture *f, lam__loop *loop, const char *whole, int64_t n, const int64_t step[],
                         size_t shift) {
    void *p[OPERANDS];
    memset(spread, 0x5a, sizeof spread);
    for (int k = 0; k <= f->inputs; k++) {
        char *start = spread[k] + shift * f->item[k];
        p[k] = start + (step[k] < 0 ? (n - 1) * -step[k] : 0) * (int64_t)f->item[k];
        for (int64_t i = 0; k > 0 && i < n; i++)
            memcpy((char *)p[k] + i * step[k] * (int64_t)f->item[k], element(f, k, i), f->item[k]);
    }
    loop(n, p, step, &f->params);
    int64_t written = 0;
    for (int64_t i = 0; i < n; i++) {
        const char *at = (char *)p[0] + i * step[0] * (int64_t)f->item[0];
        EXPECT_THAT(sets_same(f->out, at, whole + i * (int64_t)f->item[0]), "%s dtype %d element %d of %d, step %d",
                    sets_rows[f->id].name, f->dtype, (int)i, (int)n, (int)step[0]);
    }
    for (size_t i = 0; i < sizeof spread[0]; i++) written += spread[0][i] != 0x5a;
    ck_assert_int_le(written, n * (int64_t)f->item[0]);
}

static void check_in_place(const fixture *f, lam__loop *loop, const char *whole) {
    for (int k = 0; k < f->inputs; k++) {
        if (f->in[k] != f->out) continue;
        double copy[MOST];
        void *p[OPERANDS] = {copy, f->p[1], f->p[2], f->p[3]};
        memcpy(copy, f->p[k + 1], sizeof copy);
        p[k + 1] = copy;
        loop(MOST, p, ones, &f->params);
        for (int64_t i = 0; i < MOST; i++)
            EXPECT_THAT(sets_same(f->out, (char *)copy + i * (int64_t)f->item[0], whole + i * (int64_t)f->item[0]),
                        "%s dtype %d in place of operand %d", sets_rows[f->id].name, f->dtype, k);
    }
}

/* A scalar operand (step 0) gives what the same element repeated gives. */
static void check_scalar_operands(const fixture *f, lam__loop *loop) {
    for (int fixed = 1; fixed < 1 << f->inputs; fixed++) {
        double repeated[OPERANDS][MOST], out[2][MOST];
        int64_t step[OPERANDS] = {1, 1, 1, 1};
        void *p[OPERANDS] = {out[0], f->p[1], f->p[2], f->p[3]}, *q[OPERANDS] = {out[1], p[1], p[2], p[3]};
        for (int k = 1; k <= f->inputs; k++) {
            if (!(fixed >> (k - 1) & 1)) continue;
            step[k] = 0;
            q[k] = repeated[k];
            for (int64_t i = 0; i < MOST; i++) memcpy((char *)q[k] + i * (int64_t)f->item[k], f->p[k], f->item[k]);
        }
        loop(MOST, p, step, &f->params);
        loop(MOST, q, ones, &f->params);
        for (int64_t i = 0; i < MOST; i++)
            EXPECT_THAT(
                sets_same(f->out, (char *)out[0] + i * (int64_t)f->item[0], (char *)out[1] + i * (int64_t)f->item[0]),
                "%s dtype %d scalar operands %d", sets_rows[f->id].name, f->dtype, fixed);
    }
}

/* Neighbours are drawn from all ranges at once, so a lane that looked at another would show here. */
static void check_alone(const fixture *f, lam__loop *loop, const char *whole) {
    for (int64_t i = 0; i < MOST; i++) {
        double out;
        void *p[OPERANDS] = {&out};
        for (int k = 1; k <= f->inputs; k++) p[k] = element(f, k, i);
        loop(1, p, ones, &f->params);
        EXPECT_THAT(sets_same(f->out, &out, whole + i * (int64_t)f->item[0]), "%s dtype %d of %g alone",
                    sets_rows[f->id].name, f->dtype, sets_show(f->in[0], p[1]));
    }
}

/* Operands that end where their memory ends: under AddressSanitizer or valgrind a tail that reads on is an error. */
static void check_exact_memory(const fixture *f, lam__loop *loop, const char *whole, int64_t n) {
    void *p[OPERANDS] = {NULL};
    for (int k = 0; k <= f->inputs; k++) {
        p[k] = malloc((size_t)n * f->item[k] + (n == 0));
        ck_assert_ptr_nonnull(p[k]);
        if (k > 0) memcpy(p[k], f->p[k], (size_t)n * f->item[k]);
    }
    loop(n, p, ones, &f->params);
    for (int64_t i = 0; i < n * (int64_t)f->item[0]; i += (int64_t)f->item[0])
        EXPECT_THAT(sets_same(f->out, (char *)p[0] + i, whole + i), "%s of %d", sets_rows[f->id].name, (int)n);
    for (int k = 0; k <= f->inputs; k++) free(p[k]);
}

static void check_sizes(const fixture *f, lam__loop *loop, const char *whole) {
    static const int64_t steps[][OPERANDS] = {
        {1, 1, 1, 1}, {2, 1, 1, 1}, {1, 3, 1, 2}, {-1, -1, -1, -1}, {3, -2, 1, -3}};
    static const int64_t sizes[] = {0, 1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 33, 63, 65, 127, 129, 255, 257, MOST};
    for (int n = 0; n < (int)(sizeof sizes / sizeof *sizes); n++) {
        check_exact_memory(f, loop, whole, sizes[n]);
        for (int k = 0; k < (int)(sizeof steps / sizeof *steps); k++)
            check_layout(f, loop, whole, sizes[n], steps[k], (size_t)(n + k) % 5);
    }
}

START_TEST(bits_do_not_depend_on_position) {
    fixture f;
    double whole[MOST];
    for (lam_dtype dtype = 0; dtype < REAL_DTYPES; dtype++) {
        make(&f, _i, dtype);
        f.p[0] = whole;
        for (int s = 0; s < set_count; s++) {
            lam__loop *loop = sets_loop(sets[s], f.id, dtype);
            if (!loop) continue;
            loop(MOST, f.p, ones, &f.params);
            check_alone(&f, loop, (char *)whole);
            check_in_place(&f, loop, (char *)whole);
            check_scalar_operands(&f, loop);
            check_sizes(&f, loop, (char *)whole);
        }
    }
}
END_TEST

/* ---- choice and integers ---------------------------------------------------------------------------------------- */

#define OP(name) LAM__LOOP_##name

static double clamp(const lam__simd *set, double x, double lo, double hi) {
    double out;
    set->loop(OP(clamp), LAM_F64)(1, (void *[]){&out, &x, &lo, &hi}, ones, NULL);
    return out;
}

START_TEST(clamp_is_min_of_max) {
    for (int k = 0; k < set_count; k++) {
        ck_assert(clamp(sets[k], 5, 0, 1) == 1 && clamp(sets[k], -5, 0, 1) == 0 && clamp(sets[k], 0.5, 0, 1) == 0.5);
        ck_assert(clamp(sets[k], 5, 3, 1) == 1); /* crossed bounds: the upper one wins */
        ck_assert(isnan(clamp(sets[k], NAN, 0, 1)) && isnan(clamp(sets[k], 0, NAN, 1)) &&
                  isnan(clamp(sets[k], 0, 0, NAN)));
    }
}
END_TEST

static int32_t on_i32(const lam__simd *set, lam__loop_id id, int32_t x, int32_t y, int64_t k) {
    int32_t out;
    set->loop(id, LAM_I32)(1, (void *[]){&out, &x, &y}, ones, &k);
    return out;
}

START_TEST(integers_wrap_and_never_trap) {
    for (int s = 0; s < set_count; s++) {
        const lam__simd *set = sets[s];
        ck_assert_int_eq(on_i32(set, OP(neg), INT32_MIN, 0, 0), INT32_MIN);
        ck_assert_int_eq(on_i32(set, OP(abs), INT32_MIN, 0, 0), INT32_MIN);
        ck_assert_int_eq(on_i32(set, OP(add), INT32_MAX, 1, 0), INT32_MIN);
        ck_assert_int_eq(on_i32(set, OP(square), 65536, 0, 0), 0);
        ck_assert_int_eq(on_i32(set, OP(rem), 7, 0, 0), 0);
        ck_assert_int_eq(on_i32(set, OP(rem), INT32_MIN, -1, 0), 0);
        ck_assert_int_eq(on_i32(set, OP(rem), -7, 3, 0), -1);
        ck_assert_int_eq(on_i32(set, OP(rem), 7, -3, 0), 1);
        ck_assert_int_eq(on_i32(set, OP(integer_pow), -3, 0, 3), -27);
        ck_assert_int_eq(on_i32(set, OP(integer_pow), 0, 0, 0), 1);
        ck_assert_int_eq(on_i32(set, OP(integer_pow), 0, 0, -1), 0);
        ck_assert_int_eq(on_i32(set, OP(integer_pow), -1, 0, -3), -1);
        ck_assert_int_eq(on_i32(set, OP(integer_pow), -1, 0, INT64_MIN), 1);
        ck_assert_int_eq(on_i32(set, OP(integer_pow), 2, 0, -1), 0);
        ck_assert_int_eq(on_i32(set, OP(integer_pow), 3, 0, 40), 0x291fe821); /* 3^40 mod 2^32 */
    }
}
END_TEST

Suite *suite_kernels_loops(void) {
    Suite *suite = suite_create("kernels/loops");
    TCase *tests = tcase_create("loops");
    tcase_set_timeout(tests, 120);
    tcase_add_unchecked_fixture(tests, setup, NULL);
    tcase_add_loop_test(tests, exact_loops_equal_the_reference, 0, LAM__LOOP_COUNT);
    tcase_add_test(tests, sums_with_products_are_rounded_once);
    tcase_add_test(tests, float_powers_are_within_their_exponent);
    tcase_add_loop_test(tests, bits_do_not_depend_on_position, 0, LAM__LOOP_COUNT);
    tcase_add_test(tests, clamp_is_min_of_max);
    tcase_add_test(tests, integers_wrap_and_never_trap);
    suite_add_tcase(suite, tests);
    return suite;
}
