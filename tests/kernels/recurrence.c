/* Linear recurrences of every instruction set against the formula, lane by lane: rows shorter, as long as and longer
 * than the groups that are kept in registers, from both ends. One product and one sum each, so that bits are equal;
 * nothing but the output is written. */
#include <stdlib.h>
#include <string.h>

#include "tests/unmarked.h"
#include "lib/kernels/recurrence_simd.h"
#include "tests/kernels/strided.h"

enum { MOST_LANES = 70, MOST_STEPS = 6, MOST_ROWS = 8, ROOM = MOST_LANES * MOST_STEPS * MOST_ROWS };

typedef struct recurrence_case {
    lam__lanes s;
    bool reverse;
} recurrence_case;

static double wide[4][ROOM + 1];
static float narrow[4][ROOM + 1];

/* Fills a, b and what is beyond the end of the result. */
static void fill(int64_t count, uint64_t *state) {
    for (int64_t i = 0; i < count; i++)
        for (int k = 0; k < 2; k++) {
            wide[k][i] = (double)strided_below(state, 4001) / 1000 - 2;
            narrow[k][i] = (float)wide[k][i];
        }
    wide[2][count] = narrow[2][count] = 77;
}

static void expect(const recurrence_case *c) {
    const lam__lanes *s = &c->s;
    for (int64_t o = 0; o < s->outer; o++)
        for (int64_t j = 0; j < s->inner; j++) {
            double x = 0;
            float y = 0;
            for (int64_t i = 0; i < s->n; i++) {
                const int64_t at = (o * s->n + (c->reverse ? s->n - 1 - i : i)) * s->inner + j;
                wide[3][at] = x = i ? wide[0][at] * x + wide[1][at] : wide[1][at];
                narrow[3][at] = y = i ? narrow[0][at] * y + narrow[1][at] : narrow[1][at];
            }
        }
}

static void check_case(const lam__recurrence_set *set, const recurrence_case *c) {
    const size_t count = (size_t)(c->s.outer * c->s.n * c->s.inner);
    set->f64(&c->s, c->reverse, wide[0], wide[1], wide[2]);
    set->f32(&c->s, c->reverse, narrow[0], narrow[1], narrow[2]);
    if (memcmp(wide[2], wide[3], count * sizeof(double)) || memcmp(narrow[2], narrow[3], count * sizeof(float)))
        ck_abort_msg("[%d, %d, %d], reverse %d", (int)c->s.outer, (int)c->s.n, (int)c->s.inner, c->reverse);
    if (wide[2][count] != 77 || narrow[2][count] != 77) ck_abort_msg("written beyond the end");
}

static void check_set(const lam__recurrence_set *set) {
    uint64_t state = 9;
    for (int64_t lanes = 0; lanes <= MOST_LANES; lanes++)
        for (int64_t steps = 1; steps <= MOST_STEPS; steps++)
            for (int64_t rows = 0; rows < MOST_ROWS; rows++)
                for (int reverse = 0; reverse < 2; reverse++) {
                    const recurrence_case c = {{rows, steps, lanes}, reverse};
                    fill(rows * steps * lanes, &state);
                    expect(&c);
                    check_case(set, &c);
                }
}

START_TEST(recurrences_follow_the_formula_in_every_set) {
    check_set(&lam__recurrence_simd_v1);
#if defined(LAM__HAVE_X86_64_LEVELS)
    if (lam__elementwise_simd() != &lam__simd_v1) check_set(&lam__recurrence_simd_v3);
    if (lam__elementwise_simd() == &lam__simd_v4) check_set(&lam__recurrence_simd_v4);
#endif
}
END_TEST

Suite *suite_kernels_recurrence(void);

Suite *suite_kernels_recurrence(void) {
    Suite *suite = suite_create("kernels/recurrence");
    TCase *tests = tcase_create("recurrence");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, recurrences_follow_the_formula_in_every_set);
    suite_add_tcase(suite, tests);
    return suite;
}
