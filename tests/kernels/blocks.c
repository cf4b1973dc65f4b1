/* Moving items between layouts in every instruction set, and elementwise walks in blocks: rows too short for a loop and
 * transposed operands, in all the layouts an operand can have beside the output. The oracle is plain index arithmetic;
 * nothing but the output is written. */
#include <stdlib.h>
#include <string.h>

#include "tests/unmarked.h"
#include "lib/kernels/elementwise_walk.h"
#include "tests/kernels/sets.h"
#include "tests/kernels/strided.h"

enum { ROOM = 80 * 80 * 3, GUARD = 99 };

/* ---- turns ------------------------------------------------------------------------------------------------------- */

/* Items whose bytes tell where they came from. */
static void mark(char *items, int64_t n, int64_t bytes) {
    for (int64_t i = 0; i < n * bytes; i++) items[i] = (char)(i / bytes * 31 + i % bytes * 7 + i / bytes / 256);
}

static const int64_t item_sizes[] = {1, 2, 4, 8};
enum { KINDS = sizeof item_sizes / sizeof *item_sizes };

typedef struct layout {
    int64_t rows, n, row_step, item_step, dst_step;
} layout;

static char from[ROOM * 8], to[ROOM * 8];

static void check_layout(const char *set, int64_t bytes, const layout *l) {
    for (int64_t i = 0; i < l->rows; i++)
        for (int64_t j = 0; j < l->n; j++) {
            const char *x = from + (i * l->row_step + j * l->item_step) * bytes,
                       *y = to + (i * l->dst_step + j) * bytes;
            EXPECT_THAT(memcmp(x, y, (size_t)bytes) == 0, "%s, %d bytes: item %d, %d of %d x %d", set, (int)bytes,
                        (int)i, (int)j, (int)l->rows, (int)l->n);
        }
    for (int64_t i = 0; i < l->rows; i++)
        for (int64_t k = l->n * bytes; k < l->dst_step * bytes && (i + 1 < l->rows || l->dst_step > l->n); k++)
            EXPECT_THAT(to[i * l->dst_step * bytes + k] == GUARD, "%s: wrote behind row %d", set, (int)i);
    ck_assert_int_eq(to[((l->rows - 1) * l->dst_step + l->n) * bytes], GUARD);
}

/* Runs to steps: nothing between them is written. */
static void check_spread(const lam__simd *set, int64_t bytes, int64_t rows, int64_t n, int64_t step) {
    const int64_t line = n * step + 1, from_step = n + step % 2;
    memset(to, GUARD, (size_t)(rows * line * bytes));
    set->turn(bytes)->spread(rows, n, from, from_step, to, line, step);
    for (int64_t i = 0; i < rows * line; i++) {
        const int64_t row = i / line, at = i % line;
        const char *x = from + (row * from_step + at / step) * bytes;
        const bool written = at % step == 0 && at / step < n;
        for (int64_t k = 0; k < bytes; k++)
            EXPECT_THAT(to[i * bytes + k] == (written ? x[k] : GUARD), "%s, %d bytes, step %d: item %d of %d x %d",
                        set->name, (int)bytes, (int)step, (int)i, (int)rows, (int)n);
    }
}

static void check_turns(const lam__simd *set, int64_t bytes, int64_t rows, int64_t n) {
    const lam__turn *turn = set->turn(bytes);
    const size_t most = (size_t)((rows * (n + 2) + 4) * bytes);
    for (int64_t gap = 0; gap < 3; gap++) {
        const layout plane = {rows, n, 1, rows + gap, n + gap}, packed = {rows, n, 1, rows + gap, n};
        const layout row = {rows, n, n + gap, 1, n}, apart = {rows, n, n + 2, 1, n + gap};
        const layout steps = {rows, n, 2 * n + gap, 2, n + gap}, repeated = {rows, n, gap, 0, n};
        const layout *each[] = {&plane, &packed, &row, &apart, &steps};
        for (int k = 0; k < 5; k++) {
            memset(to, GUARD, most);
            turn->grid(rows, n, from, each[k]->row_step, each[k]->item_step, to, each[k]->dst_step);
            check_layout(set->name, bytes, each[k]);
        }
        memset(to, GUARD, most);
        turn->plane(rows, n, from, plane.item_step, to, plane.dst_step, true);
        check_layout(set->name, bytes, &plane);
        memset(to, GUARD, most);
        turn->repeat(rows, n, from, gap, to);
        memset(to + rows * n * bytes, GUARD, (size_t)(3 * bytes)); /* these it may write */
        check_layout(set->name, bytes, &repeated);
        check_spread(set, bytes, rows, n, 1 + gap);
    }
}

START_TEST(turns_in_every_set) {
    static const int64_t sizes[] = {1, 2, 3, 4, 5, 7, 8, 9, 12, 13, 16, 17, 31, 40, 67};
    enum { SIZES = sizeof sizes / sizeof *sizes };
    const lam__simd *sets[SETS];
    const int count = sets_of_machine(sets);
    mark(from, ROOM, item_sizes[_i]);
    for (int s = 0; s < count; s++)
        for (int a = 0; a < SIZES; a++)
            for (int b = 0; b < SIZES; b++) check_turns(sets[s], item_sizes[_i], sizes[a], sizes[b]);
}
END_TEST

/* Every step-th item, in both directions. */
START_TEST(steps_in_every_set) {
    const lam__simd *sets[SETS];
    const int count = sets_of_machine(sets);
    const int64_t item = item_sizes[_i];
    mark(from, ROOM, item);
    for (int s = 0; s < count; s++)
        for (int64_t step = -5; step <= 5; step++)
            for (int64_t n = 1; n < 150; n += 1 + n / 20) {
                const char *start = from + (step < 0 ? -step * (n - 1) : 0) * item;
                memset(to, GUARD, sizeof to);
                sets[s]->turn(item)->grid(n, 1, start, step, 1, to, 1);
                for (int64_t i = 0; i < n; i++)
                    EXPECT_THAT(memcmp(to + i * item, start + i * step * item, (size_t)item) == 0,
                                "%s, %d bytes, step %d: item %d of %d", sets[s]->name, (int)item, (int)step, (int)i,
                                (int)n);
                ck_assert_int_eq(to[n * item], GUARD);
            }
}
END_TEST

START_TEST(only_items_of_some_sizes_are_turned) {
    ck_assert_ptr_null(lam__elementwise_simd()->turn(3));
    ck_assert_ptr_null(lam__elementwise_simd()->turn(16));
}
END_TEST

/* ---- walks ------------------------------------------------------------------------------------------------------- */

/* An operand of three axes: in order, a part of each axis only, one element for all of it, axes exchanged, steps. */
enum { LAYOUTS = 14 };
static void strides_of(int which, const int64_t d[3], int64_t s[3]) {
    const int64_t all[LAYOUTS][3] = {
        {d[1] * d[2], d[2], 1},
        {0, 0, 1},
        {0, 1, 0},
        {1, 0, 0},
        {d[1], 1, 0},
        {d[2], 0, 1},
        {0, d[2], 1},
        {0, 0, 0},
        {d[1] * (d[2] + 2), d[2] + 2, 1},
        {1, d[0], d[0] * d[1]},
        {d[1] * d[2], 1, d[1]},
        {1, d[0] * d[2], d[0]},
        {2 * d[1] * d[2], 2 * d[2], 2},
        {0, 0, 3},
    };
    memcpy(s, all[which], sizeof all[which]);
}

static char memory[3][2 * ROOM * 8];

static void check_walk(lam__loop_id id, lam_dtype dtype, const int64_t d[3], const int layouts[3], bool gaps) {
    static char out[ROOM * 8], before[ROOM * 8];
    const int inputs = sets_rows[id].inputs;
    int64_t s[OPERANDS][3] = {{d[1] * d[2], d[2], 1}};
    const int64_t *strides[OPERANDS] = {s[0], s[1], s[2], s[3]};
    void *p[OPERANDS] = {out};
    size_t item[OPERANDS] = {sets_item(sets_output(id, dtype))};
    if (gaps) s[0][0] = d[1] * (d[2] + 1), s[0][1] = d[2] + 1;
    for (int k = 0; k < inputs; k++) {
        item[k + 1] = sets_item(sets_input(id, dtype, k));
        strides_of(layouts[k], d, s[k + 1]);
        p[k + 1] = memory[k];
    }
    const size_t most = (size_t)(d[0] * d[1] * (d[2] + 1) + 8) * item[0];
    memset(out, GUARD, most);
    memset(before, GUARD, most);
    lam__kernels_elementwise(lam__kernels_loop(id, dtype), inputs + 1, 3, d, strides, p, item, NULL);
    for (int64_t i = 0; i < d[0] * d[1] * d[2]; i++) {
        const int64_t at[3] = {i / (d[1] * d[2]), i / d[2] % d[1], i % d[2]};
        const void *x[3];
        int64_t offset[OPERANDS] = {0};
        for (int k = 0; k <= inputs; k++)
            for (int a = 0; a < 3; a++) offset[k] += at[a] * s[k][a] * (int64_t)item[k];
        for (int k = 0; k < inputs; k++) x[k] = memory[k] + offset[k + 1];
        lam__reference_element(id, dtype, before + offset[0], x, NULL);
        EXPECT_THAT(sets_same(sets_output(id, dtype), before + offset[0], out + offset[0]),
                    "%s of layouts %d %d %d, element %d of %d x %d x %d", sets_rows[id].name, layouts[0], layouts[1],
                    layouts[2], (int)i, (int)d[0], (int)d[1], (int)d[2]);
        memcpy(before + offset[0], out + offset[0], item[0]);
    }
    EXPECT_THAT(memcmp(before, out, most) == 0, "wrote beside the output");
}

static const struct {
    lam__loop_id id;
    lam_dtype dtype;
} operations[] = {
    {LAM__LOOP_sub, LAM_F64},   {LAM__LOOP_sub, LAM_F32}, {LAM__LOOP_neg, LAM_F64},
    {LAM__LOOP_where, LAM_F64}, {LAM__LOOP_lt, LAM_F32},  {LAM__LOOP_sub, LAM_U8},
};
enum { OPERATIONS = sizeof operations / sizeof *operations };

START_TEST(walks_in_blocks) {
    static const int64_t shapes[][3] = {{1, 700, 3}, {50, 5, 2},  {7, 3, 3},   {3, 40, 31}, {1, 9, 100}, {20, 1, 140},
                                        {5, 7, 130}, {2, 130, 4}, {600, 2, 5}, {17, 33, 1}, {2, 1, 12},  {4, 2, 300}};
    const lam__loop_id id = operations[_i].id;
    uint64_t state = (uint64_t)_i + 5;
    for (int k = 0; k < sets_rows[id].inputs; k++)
        sets_fill(sets_input(id, operations[_i].dtype, k), memory[k], 2 * ROOM, &state);
    for (int c = 0; c < (int)(sizeof shapes / sizeof *shapes); c++)
        for (int x = 0; x < LAYOUTS; x++)
            for (int y = 0; y < (sets_rows[id].inputs > 1 ? LAYOUTS : 1); y++)
                check_walk(id, operations[_i].dtype, shapes[c], (int[]){x, y, (x + y) % LAYOUTS}, (x + y) % 4 == 3);
}
END_TEST

/* ---- far tiles --------------------------------------------------------------------------------------------------- */

/* Results large enough to go past the caches: rows that begin at any place of a line, last tiles of every size, axes
 * around and between. Operand k has axes in the order given, outermost first. */
typedef struct far_case {
    lam__loop_id id;
    lam_dtype dtype;
    int64_t dims[3], gap, skip; /* behind each row, in front of the output: elements */
    int orders[2][3];
} far_case;

static const far_case far_cases[] = {
    {LAM__LOOP_neg, LAM_F32, {1, 1500, 1601}, 0, 0, {{0, 2, 1}}},
    {LAM__LOOP_sub, LAM_F32, {1, 1601, 1500}, 0, 0, {{0, 1, 2}, {0, 2, 1}}},
    {LAM__LOOP_sub, LAM_F64, {3, 611, 613}, 3, 5, {{0, 2, 1}, {0, 1, 2}}},
    {LAM__LOOP_sub, LAM_F64, {129, 97, 101}, 0, 1, {{2, 1, 0}, {2, 1, 0}}},
    {LAM__LOOP_sub, LAM_F64, {97, 129, 101}, 0, 0, {{2, 1, 0}, {1, 2, 0}}},
    {LAM__LOOP_sub, LAM_F32, {1, 7, 300007}, 0, 7, {{0, 2, 1}, {0, 2, 1}}},
    {LAM__LOOP_sub, LAM_F32, {1, 70001, 33}, 0, 3, {{0, 2, 1}, {0, 1, 2}}},
    {LAM__LOOP_lt, LAM_F64, {1, 2903, 2901}, 0, 9, {{0, 1, 2}, {0, 2, 1}}},
    {LAM__LOOP_sub, LAM_U8, {1, 2903, 2901}, 1, 0, {{0, 1, 2}, {0, 2, 1}}},
};
enum { FAR_CASES = sizeof far_cases / sizeof *far_cases };

static void dense_strides(const int64_t d[3], const int order[3], int64_t s[3]) {
    int64_t step = 1;
    for (int a = 2; a >= 0; a--) s[order[a]] = step, step *= d[order[a]];
}

START_TEST(far_tiles) {
    const far_case *c = &far_cases[_i];
    const int64_t *d = c->dims, count = d[0] * d[1] * d[2];
    const int inputs = sets_rows[c->id].inputs;
    int64_t s[3][3] = {{d[1] * (d[2] + c->gap), d[2] + c->gap, 1}};
    const int64_t *strides[3] = {s[0], s[1], s[2]};
    size_t item[3] = {sets_item(sets_output(c->id, c->dtype))};
    char *x[3] = {calloc((size_t)(count + c->skip + d[0] * d[1] * c->gap + 64), item[0])};
    uint64_t state = (uint64_t)_i + 1;
    ck_assert_int_ge(count * (int64_t)item[0], LAM__WALK_FAR);
    for (int k = 1; k <= inputs; k++) {
        dense_strides(d, c->orders[k - 1], s[k]);
        item[k] = sets_item(sets_input(c->id, c->dtype, k - 1));
        x[k] = malloc((size_t)count * item[k]);
        ck_assert_ptr_nonnull(x[k]);
        sets_fill(sets_input(c->id, c->dtype, k - 1), x[k], (int)count, &state);
    }
    ck_assert_ptr_nonnull(x[0]);
    char *out = x[0] + c->skip * (int64_t)item[0];
    void *p[3] = {out, x[1], x[2]};
    lam__kernels_elementwise(lam__kernels_loop(c->id, c->dtype), inputs + 1, 3, d, strides, p, item, NULL);
    char *row = malloc((size_t)(d[2] + c->gap) * item[0]);
    ck_assert_ptr_nonnull(row);
    for (int64_t i = 0; i < d[0] * d[1]; i++) {
        const int64_t a = i / d[1], b = i % d[1], step[3] = {1, s[1][2], s[2][2]};
        memset(row, 0, (size_t)(d[2] + c->gap) * item[0]);
        for (int k = 1; k <= inputs; k++) p[k] = x[k] + (a * s[k][0] + b * s[k][1]) * (int64_t)item[k];
        p[0] = row;
        lam__kernels_loop(c->id, c->dtype)(d[2], p, step, NULL);
        EXPECT_THAT(memcmp(row, out + i * (d[2] + c->gap) * (int64_t)item[0], (size_t)(d[2] + c->gap) * item[0]) == 0,
                    "%s, case %d: row %d", sets_rows[c->id].name, _i, (int)i);
    }
    for (int64_t i = 0; i < c->skip * (int64_t)item[0]; i++) ck_assert_int_eq(x[0][i], 0);
    free(row);
    for (int k = 0; k <= inputs; k++) free(x[k]);
}
END_TEST

Suite *suite_kernels_blocks(void) {
    Suite *suite = suite_create("kernels/blocks");
    TCase *tests = tcase_create("blocks");
    tcase_set_timeout(tests, 120);
    tcase_add_loop_test(tests, turns_in_every_set, 0, KINDS);
    tcase_add_loop_test(tests, steps_in_every_set, 0, KINDS);
    tcase_add_test(tests, only_items_of_some_sizes_are_turned);
    tcase_add_loop_test(tests, walks_in_blocks, 0, OPERATIONS);
    tcase_add_loop_test(tests, far_tiles, 0, FAR_CASES);
    suite_add_tcase(suite, tests);
    return suite;
}
