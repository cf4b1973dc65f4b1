/* Bags of rows of every instruction set against the sums that they stand for, in long double: every width up to some
 * vectors more than registers hold, rows with gaps, indices from the end, weights with steps of their own. */
#include "tests/unmarked.h"
#include "lib/kernels/bag.h"
#include "lib/kernels/simd/simd.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { ROWS = 7, BAGS = 5, TERMS = 3, WIDEST = 230, GAP = 3, LINE = 64, ROOM = ROWS * (WIDEST + GAP) + LINE };

typedef struct numbers {
    double f64[ROOM];
    float f32[ROOM];
    long double exact[ROOM];
} numbers;

static numbers x, y, w, got;
static int64_t indices[BAGS * TERMS];

static void fill(numbers *to, int count, int phase) {
    for (int i = 0; i < count; i++) {
        to->f32[i] = (float)sin(1.7 * i + phase);
        to->exact[i] = to->f64[i] = to->f32[i];
    }
}

static int64_t named(int e) {
    return indices[e] < 0 ? indices[e] + ROWS : indices[e];
}

/* What op makes of the numbers; the steps of rows of x are width + GAP. */
static void expect(lam__bag_op op, int64_t width, long double out[], int *count) {
    const int64_t step = width + GAP;
    *count = op == LAM__BAG_SUMS ? (int)(BAGS * width) : op == LAM__BAG_SPREAD ? (int)(ROWS * step) : BAGS * TERMS;
    for (int i = 0; i < *count; i++) out[i] = op == LAM__BAG_SPREAD ? x.exact[i] : 0;
    for (int e = 0; e < BAGS * TERMS; e++)
        for (int64_t i = 0; i < width; i++) {
            const int64_t at = named(e) * step + i, own = e / TERMS * width + i;
            if (op == LAM__BAG_SUMS) out[own] += w.exact[e] * x.exact[at];
            if (op == LAM__BAG_SPREAD) out[at] += w.exact[e] * y.exact[own];
            if (op == LAM__BAG_DOTS) out[e] += x.exact[at] * y.exact[own];
        }
}

/* padded: x is a copy whose rows are whole lines. */
static void check_op(const lam__bag_set *set, lam__bag_op op, int64_t width, bool wide, bool padded) {
    static _Alignas(LINE) char lines[ROWS * (WIDEST * sizeof(double) + LINE)];
    char untouched[LINE];
    static long double want[ROOM];
    int count;
    const size_t item = wide ? sizeof(double) : sizeof(float);
    void *const result = wide ? (void *)got.f64 : (void *)got.f32, *const rows = wide ? (void *)x.f64 : (void *)x.f32;
    lam__bag bag = {.bags = BAGS, .terms = TERMS, .rows = ROWS, .width = width, .x = rows, .index = indices};
    bag.y = wide ? (void *)y.f64 : (void *)y.f32;
    bag.w = wide ? (void *)w.f64 : (void *)w.f32;
    bag.x_row = width + GAP;
    bag.y_row = width;
    bag.w_bag = TERMS;
    bag.w_term = 1;
    expect(op, width, want, &count);
    if (op == LAM__BAG_SPREAD) memcpy(result, rows, (size_t)count * item);
    if (op == LAM__BAG_SUMS) bag.y = result;
    else if (op == LAM__BAG_SPREAD) bag.x = result;
    else bag.w = result;
    memset(untouched, 0x55, LINE);
    memcpy((char *)result + (size_t)count * item, untouched, LINE);
    if (padded) lam__kernels_bag_align(wide ? LAM_F64 : LAM_F32, &bag, lines);
    ck_assert((wide ? set->f64 : set->f32)[op](&bag));
    for (int i = 0; i < count; i++) {
        const long double value = wide ? got.f64[i] : got.f32[i];
        const long double room = 2 * (wide ? DBL_EPSILON : FLT_EPSILON) * (long double)(width + 4);
        ck_assert_msg(fabsl(value - want[i]) <= room, "operation %d of width %d, %s: element %d is %Lg, not %Lg",
                      (int)op, (int)width, wide ? "f64" : "f32", i, value, want[i]);
    }
    ck_assert_mem_eq((char *)result + (size_t)count * item, untouched, LINE);
}

static void check_set(const lam__bag_set *set) {
    for (int e = 0; e < BAGS * TERMS; e++) indices[e] = (e * 5 + 2) % (2 * ROWS) - ROWS;
    fill(&w, BAGS * TERMS, 5);
    for (int64_t width = 0; width <= WIDEST; width++) {
        fill(&x, (int)(ROWS * (width + GAP)), 1);
        fill(&y, (int)(BAGS * width), 3);
        for (int op = 0; op < 3; op++)
            for (int wide = 0; wide < 2; wide++) check_op(set, (lam__bag_op)op, width, wide, false);
        for (int wide = 0; wide < 2; wide++) check_op(set, LAM__BAG_SUMS, width, wide, true);
    }
}

START_TEST(bags_follow_the_formula_in_every_set) {
    check_set(&lam__bag_simd_v1);
#if defined(LAM__HAVE_X86_64_LEVELS)
    if (lam__elementwise_simd() != &lam__simd_v1) check_set(&lam__bag_simd_v3);
    if (lam__elementwise_simd() == &lam__simd_v4) check_set(&lam__bag_simd_v4);
#endif
}
END_TEST

START_TEST(an_index_outside_is_told_and_touches_nothing) {
    static const int64_t outside[] = {ROWS, -ROWS - 1, INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++)
        for (int op = 0; op < 3; op++) {
            lam__bag bag = {1, 2, ROWS, 1, x.f64, y.f64, w.f64, 1, 1, 2, 1, (const int64_t[]){1, outside[i]}, false};
            ck_assert(!lam__kernels_bag((lam__bag_op)op, LAM_F64, &bag));
        }
}
END_TEST

static void check_many(const lam__bag_set *set, int64_t width) {
    enum { MANY = 1300, WIDTH = 220 };
    static int64_t many[2 * MANY];
    static double sums[2 * WIDTH];
    for (int e = 0; e < 2 * MANY; e++) many[e] = e % ROWS;
    for (int i = 0; i < ROWS * WIDTH; i++) x.f64[i] = i % WIDTH;
    lam__bag bag = {2, MANY, ROWS, width, x.f64, sums, (double[]){0.5}, WIDTH, WIDTH, 0, 0, many, false};
    ck_assert(set->f64[LAM__BAG_SUMS](&bag));
    for (int i = 0; i < 2 * WIDTH; i++)
        if (i % WIDTH < width) ck_assert_double_eq(sums[i], 0.5 * MANY * (i % WIDTH));
}

/* Sums of 1/2 are exact, however they are cut. */
START_TEST(a_bag_of_many_entries_is_one_sum) {
    for (int64_t width = 1; width <= 220; width++) {
        check_many(&lam__bag_simd_v1, width);
#if defined(LAM__HAVE_X86_64_LEVELS)
        if (lam__elementwise_simd() != &lam__simd_v1) check_many(&lam__bag_simd_v3, width);
        if (lam__elementwise_simd() == &lam__simd_v4) check_many(&lam__bag_simd_v4, width);
#endif
    }
}
END_TEST

/* A copy on lines of the cache changes no bit; it is made where rows are read often. */
START_TEST(rows_brought_to_lines_give_the_same_bits) {
    enum { WIDTH = 21, MANY = 40 };
    static int64_t many[MANY * TERMS];
    static double plain[MANY * WIDTH], aligned[MANY * WIDTH], weights[MANY * TERMS];
    _Alignas(64) static char room[ROWS * 24 * sizeof(double)];
    fill(&x, ROWS * WIDTH, 2);
    for (int e = 0; e < MANY * TERMS; e++) {
        many[e] = (e * 11) % ROWS;
        weights[e] = cos(e);
    }
    lam__bag bag = {MANY, TERMS, ROWS, WIDTH, x.f64, plain, weights, WIDTH, WIDTH, TERMS, 1, many, false};
    ck_assert(lam__kernels_bag(LAM__BAG_SUMS, LAM_F64, &bag));
    ck_assert_uint_eq(lam__kernels_bag_room(LAM_F64, &bag), sizeof room);
    bag.y = aligned;
    lam__kernels_bag_align(LAM_F64, &bag, room);
    ck_assert(lam__kernels_bag(LAM__BAG_SUMS, LAM_F64, &bag));
    ck_assert_int_eq(memcmp(plain, aligned, sizeof plain), 0);
    bag.bags = 1;
    bag.x_row = WIDTH;
    ck_assert_uint_eq(lam__kernels_bag_room(LAM_F64, &bag), 0);
}
END_TEST

Suite *suite_kernels_bags(void);

Suite *suite_kernels_bags(void) {
    Suite *suite = suite_create("kernels/bags");
    TCase *tests = tcase_create("bags");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, bags_follow_the_formula_in_every_set);
    tcase_add_test(tests, an_index_outside_is_told_and_touches_nothing);
    tcase_add_test(tests, a_bag_of_many_entries_is_one_sum);
    tcase_add_test(tests, rows_brought_to_lines_give_the_same_bits);
    suite_add_tcase(suite, tests);
    return suite;
}
