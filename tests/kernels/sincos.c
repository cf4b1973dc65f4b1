/* Sine and cosine at once, in every instruction set: within 1 ULP of MPFR over whole ranges and at special values, and
 * the same bits wherever an element lies, whatever the range of its neighbours in the vector. */
#include <string.h>

#include "tests/unmarked.h"
#include "tests/kernels/oracle.h"
#include "tests/kernels/sets.h"

enum { MOST = 300 };

typedef union numbers {
    double f64[MOST];
    float f32[MOST];
} numbers;

static double element(lam_dtype dtype, const numbers *x, int i) {
    return dtype == LAM_F64 ? x->f64[i] : (double)x->f32[i];
}

static void set_element(lam_dtype dtype, numbers *x, int i, double value) {
    if (dtype == LAM_F64) x->f64[i] = value;
    else x->f32[i] = (float)value;
}

/* Every kind of argument beside every other. */
static void draw(lam_dtype dtype, numbers *x, uint64_t *state) {
    for (int i = 0; i < MOST; i++)
        set_element(dtype, x, i, oracle_draw((oracle_range)(i % ORACLE_RANGES), dtype, state));
}

static void judge(const lam__simd *set, lam__loop_id id, lam_dtype dtype, double x, double got) {
    mpfr_t truth;
    mpfr_init2(truth, 192);
    oracle_value(id, truth, x, 0);
    const double error = oracle_error(dtype, got, truth);
    mpfr_clear(truth);
    EXPECT_THAT(error <= 1, "%s %s of %.17g: %g ULP", set->name, id == LAM__LOOP_sin ? "sine" : "cosine", x, error);
}

/* _i is the dtype. */
START_TEST(errors_stay_below_one_ulp) {
    const lam__simd *sets[SETS];
    const lam_dtype dtype = (lam_dtype)_i;
    uint64_t state = 5;
    numbers x, sine, cosine;
    for (int k = sets_of_machine(sets) - 1; k >= 0; k--)
        for (int round = 0; round < 30 && sets[k]->sincos(dtype); round++) {
            draw(dtype, &x, &state);
            sets[k]->sincos(dtype)(MOST, &x, &sine, &cosine);
            for (int i = 0; i < MOST; i++) {
                judge(sets[k], LAM__LOOP_sin, dtype, element(dtype, &x, i), element(dtype, &sine, i));
                judge(sets[k], LAM__LOOP_cos, dtype, element(dtype, &x, i), element(dtype, &cosine, i));
            }
        }
}
END_TEST

/* Alone in a vector and among others; nothing is written behind the last one. */
START_TEST(an_element_has_the_same_bits_everywhere) {
    const lam__simd *sets[SETS];
    const lam_dtype dtype = (lam_dtype)_i;
    const size_t item = sets_item(dtype);
    uint64_t state = 6;
    numbers x, sine, cosine, alone[2];
    draw(dtype, &x, &state);
    for (int k = sets_of_machine(sets) - 1; k >= 0; k--)
        for (int64_t n = 0; n < MOST && sets[k]->sincos(dtype); n += 1 + n / 20) {
            memset(&sine, 0x5a, sizeof sine);
            memset(&cosine, 0x5a, sizeof cosine);
            sets[k]->sincos(dtype)(n, &x, &sine, &cosine);
            for (int64_t i = 0; i <= n; i++) {
                const char *first = (char *)&sine + (size_t)i * item, *second = (char *)&cosine + (size_t)i * item;
                memset(alone, 0x5a, sizeof alone);
                if (i < n) sets[k]->sincos(dtype)(1, (char *)&x + (size_t)i * item, &alone[0], &alone[1]);
                EXPECT_THAT(sets_same(dtype, first, &alone[0]) && sets_same(dtype, second, &alone[1]), "%s: %d of %d",
                            sets[k]->name, (int)i, (int)n);
            }
        }
}
END_TEST

/* Whatever the build: the kernel, not the loop of a set. */
START_TEST(the_kernel_gives_both) {
    const double x[5] = {0, 0.5, -1, 3, 100};
    double sine[5], cosine[5];
    lam__kernels_sincos(LAM_F64, 5, x, sine, cosine);
    for (int i = 0; i < 5; i++) {
        ck_assert_double_eq_tol(sine[i], sin(x[i]), 1e-15);
        ck_assert_double_eq_tol(cosine[i], cos(x[i]), 1e-15);
    }
}
END_TEST

Suite *suite_kernels_sincos(void);

Suite *suite_kernels_sincos(void) {
    Suite *s = suite_create("kernels/sincos");
    TCase *tests = tcase_create("sincos");
    tcase_add_loop_test(tests, errors_stay_below_one_ulp, LAM_F64, LAM_F32 + 1);
    tcase_add_loop_test(tests, an_element_has_the_same_bits_everywhere, LAM_F64, LAM_F32 + 1);
    tcase_add_test(tests, the_kernel_gives_both);
    suite_add_tcase(s, tests);
    return s;
}
