/* Loops that give a function and its derivative in one pass: each has the bits of its own loop, which accuracy.c
 * judges, for any number of elements and in every instruction set. */
#include <string.h>

#include "tests/unmarked.h"
#include "tests/kernels/sets.h"

static const struct {
    lam__loop_id function, slope;
    bool negative; /* the slope is minus that of the loop */
} sloped[] = {{LAM__LOOP_logistic, LAM__LOOP_logistic_slope, false},
              {LAM__LOOP_silu, LAM__LOOP_silu_slope, false},
              {LAM__LOOP_mish, LAM__LOOP_mish_slope, false},
              {LAM__LOOP_gelu, LAM__LOOP_gelu_slope, false},
              {LAM__LOOP_gelu_tanh, LAM__LOOP_gelu_tanh_slope, false},
              {LAM__LOOP_entr, LAM__LOOP_entr_slope, false},
              {LAM__LOOP_softplus, LAM__LOOP_logistic, false},
              {LAM__LOOP_sin, LAM__LOOP_cos, false},
              {LAM__LOOP_cos, LAM__LOOP_sin, true}};

/* Element by element what two loops give that are judged in accuracy.c; and no byte behind the last. */
static void compare_sloped(lam__pair_loop *both, lam__loop *const own[3], lam_dtype dtype, int64_t n, double x[]) {
    static const int64_t ones[] = {1, 1, 1};
    double got[2][101], want[2][101];
    memset(got, 0x5a, sizeof got);
    memset(want, 0x5a, sizeof want);
    both(n, x, got[0], got[1]);
    for (int k = 0; k < 2; k++) {
        own[k](n, (void *[]){want[k], x}, ones, NULL);
        if (k && own[2]) own[2](n, (void *[]){want[k], want[k]}, ones, NULL);
        for (int64_t i = 0; i < n; i++) {
            const char *a = (char *)got[k] + i * (int64_t)sets_item(dtype), *b = a - (char *)got[k] + (char *)want[k];
            ck_assert_msg(sets_same(dtype, a, b), "%d: element %d of %d: %g, not %g", k, (int)i, (int)n,
                          sets_show(dtype, a), sets_show(dtype, b));
        }
        const size_t end = (size_t)n * sets_item(dtype);
        ck_assert_mem_eq((char *)got[k] + end, (char *)want[k] + end, sizeof got[k] - end);
    }
}

START_TEST(functions_and_slopes_together_have_the_bits_of_each) {
    const lam__simd *sets[SETS];
    double x[100];
    uint64_t state = 5;
    for (int s = sets_of_machine(sets) - 1; s >= 0; s--)
        for (int i = 0; i < (int)(sizeof sloped / sizeof *sloped); i++)
            for (lam_dtype dtype = LAM_F64; dtype <= LAM_F32; dtype++) {
                lam__pair_loop *both = sets[s]->sloped(sloped[i].function, dtype);
                lam__loop *const own[3] = {sets[s]->loop(sloped[i].function, dtype),
                                           sets[s]->loop(sloped[i].slope, dtype),
                                           sloped[i].negative ? sets[s]->loop(LAM__LOOP_neg, dtype) : NULL};
                if (dtype == LAM_F64) ck_assert_int_eq(both != NULL, own[0] != NULL);
                for (int64_t n = 0; both && n <= 100; n += n < 34 ? 1 : 33) {
                    sets_fill(dtype, x, n, &state);
                    compare_sloped(both, own, dtype, n, x);
                }
            }
}
END_TEST

START_TEST(functions_with_slopes_are_known_here) {
    const lam__simd *set = lam__elementwise_simd();
    for (int id = 0; id < LAM__LOOP_COUNT; id++) {
        bool known = false;
        for (int i = 0; i < (int)(sizeof sloped / sizeof *sloped); i++) known = known || (int)sloped[i].function == id;
        ck_assert_msg(known || !set->sloped((lam__loop_id)id, LAM_F64), "%s", sets_rows[id].name);
    }
}
END_TEST

Suite *suite_kernels_sloped(void);
Suite *suite_kernels_sloped(void) {
    Suite *s = suite_create("kernels/sloped");
    TCase *tests = tcase_create("sloped");
    tcase_add_test(tests, functions_and_slopes_together_have_the_bits_of_each);
    tcase_add_test(tests, functions_with_slopes_are_known_here);
    suite_add_tcase(s, tests);
    return s;
}
