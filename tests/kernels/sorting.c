/* Orders and searches of every dtype against the C library's qsort and counting. Lengths lie on both sides of what is
 * merged, sorted by bytes and picked with a heap; elements repeat, so that orders that are not stable are seen. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unmarked.h"
#include "lib/kernels/sort.h"
#include "tests/kernels/sets.h"
#include "tests/kernels/strided.h"

enum { LONGEST = 700, LANES = 3, INNER = 2, MOST = LONGEST * LANES * INNER };

/* Whether a comes before b in rising order: NaN is beyond all else, the zeros are equal. */
static bool is_less(long double a, long double b) {
    return isnan(b) ? !isnan(a) : a < b;
}

static long double values[LONGEST];
static bool falling;

static int compare(const void *a, const void *b) {
    const int64_t i = *(const int64_t *)a, j = *(const int64_t *)b;
    if (is_less(values[i], values[j])) return falling ? 1 : -1;
    if (is_less(values[j], values[i])) return falling ? -1 : 1;
    return (i > j) - (i < j);
}

/* Every third element repeats one in front of it. */
static void draw(lam_dtype dtype, char *x, int64_t n, uint64_t *state) {
    const size_t item = strided_item[dtype];
    sets_fill(dtype, x, n, state);
    for (int64_t i = 3; i < n; i += 3)
        memcpy(x + (size_t)i * item, x + (size_t)(*state >> 20) % (size_t)i * item, item);
}

static void check_lane(const int64_t *out, int64_t n, int64_t count) {
    int64_t order[LONGEST];
    for (int64_t i = 0; i < n; i++) order[i] = i;
    qsort(order, (size_t)n, sizeof *order, compare);
    for (int64_t i = 0; i < count; i++)
        EXPECT_THAT(out[i * INNER] == order[i], "place %d of %d, the first %d: %d, not %d", (int)i, (int)n, (int)count,
                    (int)out[i * INNER], (int)order[i]);
}

START_TEST(orders_are_those_of_qsort) {
    static const int64_t lengths[] = {1, 2, 7, 8, 9, 17, 23, 24, 25, 63, 95, 97, 130, 191, 193, LONGEST};
    static double x[MOST];
    static int64_t out[MOST + 1], work[4 * LONGEST];
    const lam_dtype dtype = (lam_dtype)_i;
    uint64_t state = (uint64_t)_i + 3;
    for (int k = 0; k < 16 * 2 * 4; k++) {
        const int64_t n = lengths[k / 8], counts[] = {n, 0, (n + 9) / 10, n / 2}, count = counts[k % 4];
        const lam__lanes s = {LANES, n, INNER};
        falling = k / 4 % 2;
        draw(dtype, (char *)x, LANES * n * INNER, &state);
        out[LANES * count * INNER] = -7;
        ck_assert(lam__kernels_argsort_bytes(n) <= sizeof work);
        lam__kernels_argsort_first(dtype, &s, falling, count, x, out, work);
        ck_assert_int_eq(out[LANES * count * INNER], -7);
        for (int64_t lane = 0; lane < LANES * INNER; lane++) {
            const int64_t o = lane / INNER, j = lane % INNER;
            for (int64_t i = 0; i < n; i++) values[i] = strided_get(dtype, x, (o * n + i) * INNER + j);
            check_lane(out + o * count * INNER + j, n, count);
        }
    }
}
END_TEST

START_TEST(places_are_those_of_counting) {
    enum { SOUGHT = 21 };
    static double x[LONGEST], sorted[LONGEST], v[SOUGHT];
    static int64_t order[LONGEST], work[4 * LONGEST], out[SOUGHT];
    const lam_dtype dtype = (lam_dtype)_i;
    const size_t item = strided_item[dtype];
    uint64_t state = (uint64_t)_i + 11;
    for (int64_t n = 0; n < 40; n++) {
        draw(dtype, (char *)x, n, &state);
        draw(dtype, (char *)v, SOUGHT, &state);
        if (n) memcpy(v, x, item);
        lam__kernels_argsort_first(dtype, &(lam__lanes){1, n, 1}, false, n, x, order, work);
        for (int64_t i = 0; i < n; i++)
            memcpy((char *)sorted + (size_t)i * item, (char *)x + (size_t)order[i] * item, item);
        for (int right = 0; right < 2; right++) {
            lam__kernels_searchsorted(dtype, 1, n, SOUGHT, right, sorted, v, out);
            for (int64_t i = 0; i < SOUGHT; i++) {
                const long double sought = strided_get(dtype, v, i);
                int64_t count = 0;
                for (int64_t j = 0; j < n; j++) {
                    const long double at = strided_get(dtype, sorted, j);
                    count += right ? !is_less(sought, at) : is_less(at, sought);
                }
                EXPECT_THAT(out[i] == count, "value %d: %d, not %d", (int)i, (int)out[i], (int)count);
            }
        }
    }
}
END_TEST

Suite *suite_kernels_sorting(void) {
    Suite *suite = suite_create("kernels/sorting");
    TCase *tests = tcase_create("sorting");
    tcase_add_loop_test(tests, orders_are_those_of_qsort, 0, REAL_DTYPES);
    tcase_add_loop_test(tests, places_are_those_of_counting, 0, REAL_DTYPES);
    suite_add_tcase(suite, tests);
    return suite;
}
