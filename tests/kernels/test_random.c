/* Random bits: the published answers of Threefry-2x32-20, the same from every instruction set, and pieces of an array
 * that are those of the whole, also where the lower word of the counter wraps. */
#include <math.h>
#include <string.h>

#include "tests/unmarked.h"
#include "lib/kernels/keys.h"
#include "tests/kernels/sets.h"

/* From the known-answer file of Random123, the library of the paper's authors: key, counter, result. */
START_TEST(known_answers) {
    static const struct {
        uint32_t key[2], counter[2], want[2];
    } rows[] = {
        {{0, 0}, {0, 0}, {0x6b200159, 0x99ba4efe}},
        {{0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}, {0x1cb996fc, 0xbb002be7}},
        {{0x13198a2e, 0x03707344}, {0x243f6a88, 0x85a308d3}, {0xc4923a9c, 0x483df7a0}},
    };
    const lam__simd *sets[SETS];
    int count = sets_of_machine(sets);
    for (int s = 0; s < count; s++)
        for (int i = 0; i < (int)(sizeof rows / sizeof *rows); i++) {
            uint64_t out[2], first = (uint64_t)rows[i].counter[0] << 32 | rows[i].counter[1];
            sets[s]->threefry(LAM__RANDOM_PAIRS, rows[i].key, first, 1, out);
            ck_assert_msg(out[0] == rows[i].want[0] && out[1] == rows[i].want[1], "%s, row %d: %llx %llx",
                          sets[s]->name, i, (unsigned long long)out[0], (unsigned long long)out[1]);
        }
}
END_TEST

enum { MANY = 600, LARGEST = 16 };

static const size_t bytes_of[] = {
    [LAM__RANDOM_PAIRS] = 16, [LAM__RANDOM_WIDE] = 8,   [LAM__RANDOM_WORDS] = 4,  [LAM__RANDOM_NARROW] = 4,
    [LAM__RANDOM_BYTES] = 1,  [LAM__RANDOM_UNIT64] = 8, [LAM__RANDOM_UNIT32] = 4,
};

/* _i is the form. */
START_TEST(pieces_are_those_of_the_whole) {
    static unsigned char whole[MANY * LARGEST], piece[MANY * LARGEST];
    const uint32_t key[2] = {7, 0x80000001};
    const uint64_t starts[] = {0, (UINT64_C(1) << 32) - 300, UINT64_MAX - MANY + 1};
    const lam__simd *sets[SETS];
    int count = sets_of_machine(sets);
    size_t item = bytes_of[_i];
    for (int k = 0; k < 3; k++) {
        sets[0]->threefry((lam__random_form)_i, key, starts[k], MANY, whole);
        for (int s = 0; s < count; s++) {
            sets[s]->threefry((lam__random_form)_i, key, starts[k], MANY, piece);
            ck_assert_msg(memcmp(whole, piece, MANY * item) == 0, "%s and %s differ", sets[0]->name, sets[s]->name);
            for (int64_t at = 0, n = 1; at + n < MANY; at += n, n = n * 3 % 67) {
                sets[s]->threefry((lam__random_form)_i, key, starts[k] + (uint64_t)at, n, piece);
                ck_assert_msg(memcmp(whole + (size_t)at * item, piece, (size_t)n * item) == 0, "%s: %lld from %lld",
                              sets[s]->name, (long long)n, (long long)at);
            }
        }
    }
}
END_TEST

/* Every range is hit from its least to its largest element and nowhere else. */
START_TEST(ranges_are_kept) {
    static int64_t out[20000];
    static const struct {
        int64_t low;
        uint64_t span;
    } rows[] = {{-3, 7}, {0, 1}, {INT64_MAX - 1, 2}, {INT64_MIN, 3}, {250, 6}};
    for (int r = 0; r < 5; r++) {
        const lam__random what = {.form = LAM__RANDOM_RANGE64, .low = rows[r].low, .span = rows[r].span};
        unsigned seen = 0;
        lam__kernels_random(&what, (const uint32_t[]){1, 2}, 0, 20000, out);
        for (int i = 0; i < 20000; i++) {
            uint64_t place = (uint64_t)out[i] - (uint64_t)rows[r].low;
            ck_assert_msg(place < rows[r].span, "row %d: %lld", r, (long long)out[i]);
            seen |= 1u << place;
        }
        ck_assert_uint_eq(seen, (1u << rows[r].span) - 1);
    }
}
END_TEST

/* Words of both keys that the key of a range is split into: the upper ones, then the lower. */
static void draw_halves(lam__random_form form, const uint32_t key[2], int64_t n, void *high, void *low) {
    uint64_t keys[4];
    lam__kernels_random(&(lam__random){.form = LAM__RANDOM_PAIRS}, key, 0, 2, keys);
    const uint32_t upper[2] = {(uint32_t)keys[0], (uint32_t)keys[1]}, lower[2] = {(uint32_t)keys[2], (uint32_t)keys[3]};
    lam__kernels_random(&(lam__random){.form = form}, upper, 0, n, high);
    lam__kernels_random(&(lam__random){.form = form}, lower, 0, n, low);
}

/* The definition in NOTE [ranges], by division, in words of `mask`. */
static uint64_t place_of(uint64_t high, uint64_t low, uint64_t span, uint64_t mask) {
    const uint64_t root = (mask >> (mask == UINT64_MAX ? 32 : 16)) + 1;
    const uint64_t factor = span ? (root % span * (root % span) & mask) % span : 0;
    const uint64_t sum = (span ? high % span * factor + low % span : low) & mask;
    return span ? sum % span : sum;
}

/* Powers of 2 and their neighbours, the least and the largest, odd ones, and all of the type: _i is the span. */
static const uint64_t spans[] = {
    0,
    1,
    2,
    3,
    7,
    10,
    1000,
    0xffff,
    0x10000,
    0x10001,
    0x3ffff,
    0x40000,
    0x40001,
    0x7fffffff,
    0x80000000,
    0x80000001,
    0xfffffffe,
    0xffffffff,
    UINT64_C(0x100000000),
    UINT64_C(0x100000001),
    UINT64_C(10000000000000007),
    UINT64_C(0x7fffffffffffffff),
    UINT64_C(0x8000000000000000),
    UINT64_C(0x8000000000000001),
    UINT64_MAX - 1,
    UINT64_MAX,
};

START_TEST(ranges_are_remainders) {
    static uint64_t high[MANY], low[MANY], wide[MANY];
    static uint32_t high32[MANY], low32[MANY], narrow[MANY];
    const uint64_t span = spans[_i];
    const uint32_t key[2] = {3, 0x9abcdef0};
    draw_halves(LAM__RANDOM_WIDE, key, MANY, high, low);
    lam__kernels_random(&(lam__random){.form = LAM__RANDOM_RANGE64, .low = -5, .span = span}, key, 0, MANY, wide);
    for (int i = 0; i < MANY; i++) ck_assert_uint_eq(wide[i] + 5, place_of(high[i], low[i], span, UINT64_MAX));
    if (span > UINT32_MAX) return;
    draw_halves(LAM__RANDOM_NARROW, key, MANY, high32, low32);
    lam__kernels_random(&(lam__random){.form = LAM__RANDOM_RANGE32, .low = -5, .span = span}, key, 0, MANY, narrow);
    for (int i = 0; i < MANY; i++) ck_assert_uint_eq(narrow[i] + 5, place_of(high32[i], low32[i], span, UINT32_MAX));
}
END_TEST

/* Each of many keys gives the element that it gives alone; _i is the form. */
START_TEST(keys_of_their_own) {
    static unsigned char out[MANY * LARGEST], alone[LARGEST];
    static uint64_t keys[MANY], places[MANY];
    const lam__keys_set *const sets[] = {lam__kernels_keys(), &lam__keys_v1};
    const uint64_t starts[] = {0, 2, (UINT64_C(1) << 32) - 5};
    const size_t item = bytes_of[_i];
    for (uint64_t i = 0; i < MANY; i++) keys[i] = i * UINT64_C(0x9e3779b97f4a7c15), places[i] = i * i * i;
    for (int k = 0; k < 12; k++) {
        const uint64_t start = starts[k % 3], *more = k < 6 ? NULL : places;
        sets[k / 3 % 2]->each((lam__random_form)_i, MANY, keys, start, more, out);
        for (int i = 0; i < MANY; i++) {
            const uint32_t words[2] = {(uint32_t)(keys[i] >> 32), (uint32_t)keys[i]};
            lam__kernels_random(&(lam__random){.form = (lam__random_form)_i}, words, start + (more ? more[i] : 0), 1,
                                alone);
            ck_assert_msg(memcmp(out + (size_t)i * item, alone, item) == 0, "key %d", i);
        }
    }
}
END_TEST

/* A sample is the same alone and among others, which are rejected in other rounds; _i: whether of the logarithm. */
START_TEST(samples_do_not_depend_on_others) {
    static double a[MANY], wide[MANY], one;
    static float a32[MANY], rate[MANY], narrow[MANY], one32;
    static int64_t counts[MANY], count;
    static double trials[MANY], share[MANY], successes[MANY];
    const uint32_t key[2] = {11, 12};
    const double special[] = {NAN, INFINITY, 0, -2, 1e-3, 1, 1e6};
    for (int i = 0; i < MANY; i++) a[i] = i % 9 ? 0.05 * (i % 100) + 0.02 : special[i / 9 % 7];
    for (int i = 0; i < MANY; i++) a32[i] = (float)a[i], rate[i] = (float)(i % 2 ? 3 * a[i] : 20 * a[i]);
    lam__kernels_random_gamma(LAM_F64, key, 0, MANY, a, _i, wide);
    lam__kernels_random_gamma(LAM_F32, key, 0, MANY, a32, _i, narrow);
    for (int i = 0; i < MANY; i++) share[i] = i % 23 / 20.0 - 0.02;
    for (int i = 0; i < MANY; i++) trials[i] = i % 50 ? i % 70 : special[i / 50 % 7];
    lam__kernels_random_poisson(key, 0, MANY, rate, counts);
    lam__kernels_random_binomial(LAM_F64, key, 0, MANY, trials, share, successes);
    for (int i = 0; i < MANY; i++) {
        lam__kernels_random_gamma(LAM_F64, key, i, 1, a + i, _i, &one);
        lam__kernels_random_gamma(LAM_F32, key, i, 1, a32 + i, _i, &one32);
        lam__kernels_random_poisson(key, i, 1, rate + i, &count);
        ck_assert(isnan(one) ? isnan(wide[i]) : one == wide[i]);
        ck_assert(isnan(one32) ? isnan(narrow[i]) : one32 == narrow[i]);
        ck_assert_int_eq(count, counts[i]);
        lam__kernels_random_binomial(LAM_F64, key, i, 1, trials + i, share + i, &one);
        ck_assert(isnan(one) ? isnan(successes[i]) : one == successes[i]);
    }
}
END_TEST

Suite *suite_kernels_test_random(void) {
    Suite *suite = suite_create("kernels/random");
    TCase *tests = tcase_create("random");
    tcase_add_test(tests, known_answers);
    tcase_add_test(tests, ranges_are_kept);
    tcase_add_loop_test(tests, ranges_are_remainders, 0, (int)(sizeof spans / sizeof *spans));
    tcase_add_loop_test(tests, pieces_are_those_of_the_whole, 0, LAM__RANDOM_UNIT32 + 1);
    tcase_add_loop_test(tests, keys_of_their_own, 0, LAM__RANDOM_UNIT32 + 1);
    tcase_add_loop_test(tests, samples_do_not_depend_on_others, 0, 2);
    suite_add_tcase(suite, tests);
    return suite;
}
