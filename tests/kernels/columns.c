/* Columns put side by side (lib/kernels/simd/turn_type.h), by every instruction set: of any number and length, without
 * gaps, with gaps, turned round, and of one item that stands for all rows, which is read in a way of its own. */
#include <stdlib.h>
#include <string.h>

#include "tests/unmarked.h"
#include "tests/kernels/sets.h"

enum { ROWS = 150, STEP = 3, MOST = 150, GAP = 5 };

typedef struct sheet {
    unsigned char memory[ROWS * STEP * 8], out[(MOST + GAP) * ROWS * 8];
    const void *column[MOST];
    int64_t step[MOST];
} sheet;

static uint64_t next(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

/* kinds: of how many of the steps 1, 0, -1, 2, 3 the columns are drawn. */
static void draw(sheet *s, int64_t bytes, int64_t n, int kinds, uint64_t *state) {
    static const int64_t steps[] = {1, 0, -1, 2, STEP};
    for (size_t i = 0; i < sizeof s->memory; i++) s->memory[i] = (unsigned char)next(state);
    for (int64_t j = 0; j < n; j++) {
        s->step[j] = next(state) % 4 ? 1 : steps[next(state) % (uint64_t)kinds];
        const int64_t first = s->step[j] < 0 ? ROWS - 1 : (int64_t)(next(state) % 4);
        s->column[j] = s->memory + (s->step[j] == STEP ? 0 : first) * bytes;
    }
}

/* Items between rows stay what they were. */
static void check_sheet(const lam__simd *set, sheet *s, int64_t bytes, int64_t rows, int64_t n, int64_t to_step) {
    static const unsigned char untouched[8] = {0xa5, 0xa5, 0xa5, 0xa5, 0xa5, 0xa5, 0xa5, 0xa5};
    memset(s->out, untouched[0], sizeof s->out);
    set->turn(bytes)->columns(rows, n, s->column, s->step, s->out, to_step);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < to_step; j++) {
            const void *want = j < n ? (const char *)s->column[j] + i * s->step[j] * bytes : (const void *)untouched;
            EXPECT_THAT(!memcmp(s->out + (i * to_step + j) * bytes, want, (size_t)bytes),
                        "%s, items of %d: row %d of %d, column %d of %d", set->name, (int)bytes, (int)i, (int)rows,
                        (int)j, (int)n);
        }
}

/* _i is the logarithm of the size of an item. */
START_TEST(columns_side_by_side) {
    static const int64_t lengths[] = {0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 31, 32, 33, 64, 70, 140};
    static const int64_t counts[] = {1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 30, 128, 129, MOST};
    const lam__simd *sets[SETS];
    const int count = sets_of_machine(sets);
    const int64_t bytes = (int64_t)1 << _i;
    sheet *s = malloc(sizeof *s);
    uint64_t state = 7;
    for (int k = 0; k < count; k++)
        for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++)
            for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
                for (int kinds = 1; kinds <= 5; kinds++) {
                    draw(s, bytes, counts[c], kinds, &state);
                    check_sheet(sets[k], s, bytes, lengths[l], counts[c], counts[c] + (kinds % 2 ? 0 : GAP));
                }
    free(s);
}
END_TEST

Suite *suite_kernels_columns(void);
Suite *suite_kernels_columns(void) {
    Suite *s = suite_create("kernels/columns");
    TCase *tests = tcase_create("columns");
    tcase_add_loop_test(tests, columns_side_by_side, 0, 4);
    suite_add_tcase(s, tests);
    return s;
}
