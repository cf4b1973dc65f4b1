/* The loops for small products of every instruction set, each way of small.h, on small whole numbers: every sum is
 * exact, so that every bit is compared. Sizes, layouts and walks over the batch are drawn; between the elements of
 * operands lies NaN, now and then one of them is no number, and in front of operands and results or behind them lies
 * memory that may not be touched: sanitizers do not see masked loads and stores. */
#define _DEFAULT_SOURCE /* mmap */
#include "tests/unmarked.h"
#include "lib/kernels/blas/small.h"

#include "tests/kernels/sets.h"
#include "tests/kernels/strided.h"

#include <math.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { REALS = 2, DTYPES = 4, DRAWS = 600, GUARD = 70, LONGEST = 70, AREA = 1 << 20 };
static const lam_dtype dtypes[DTYPES] = {LAM_F64, LAM_F32, LAM_C128, LAM_C64};

/* NULL: this machine has not the set. */
static const lam__small_type *loops_of(int set, lam_dtype dtype) {
    const lam__simd *sets[SETS];
    if (set >= sets_of_machine(sets)) return NULL;
#if defined(LAM__HAVE_X86_64_LEVELS)
    if (sets[set] == &lam__simd_v4) return &lam__small_simd_v4[dtype];
    if (sets[set] == &lam__simd_v3) return &lam__small_simd_v3[dtype];
#endif
    return &lam__small_simd_v1[dtype];
}

static int64_t draw(uint64_t *state, int64_t low, int64_t high) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return low + (int64_t)((*state >> 33) % (uint64_t)(high - low + 1));
}

/* Memory between two pages that fault. */
static char *make_area(void) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *p = mmap(NULL, AREA + 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(p, MAP_FAILED);
    ck_assert_int_eq(mprotect(p, page, PROT_NONE), 0);
    ck_assert_int_eq(mprotect(p + page + AREA, page, PROT_NONE), 0);
    return p + page;
}

static void free_area(char *area) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    munmap(area - page, AREA + 2 * page);
}

/* A stack of matrices: parts of elements in the dtype and as doubles. Complex ones have two parts. */
typedef struct stack {
    int64_t batch, row, col, turn, count;
    void *data;
    double *parts;
} stack;

static bool is_complex(lam_dtype dtype) {
    return dtype == LAM_C128 || dtype == LAM_C64;
}

enum { BESIDE = 3 }; /* a layout */

/* Steps of [rows, cols]: by rows, by columns, either with gaps, or no axis without. */
static void draw_steps(uint64_t *state, int layout, int64_t rows, int64_t cols, stack *s) {
    const int64_t gap = draw(state, 0, 1) * 3;
    s->row = layout == 1 ? 1 : layout == 2 ? 2 * cols + gap : cols + gap;
    s->col = layout == 1 ? rows + gap : layout == 2 ? 2 : 1;
    s->count = (rows - 1) * s->row + (cols - 1) * s->col + 1;
}

/* Products side by side: their elements follow each other, so that rows of the batch are further apart than it is
 * long. */
static void draw_beside(uint64_t *state, int64_t terms, const lam__product *p, stack *s) {
    s->row = s->col = p->batch + (p->run ? p->batch / p->run : 0) * 2 + draw(state, 0, 2);
    s->count = (terms - 1) * s->col + 1;
}

/* Elements that products read; run as in lam__product. */
static void draw_stack(uint64_t *state, lam_dtype dtype, int layout, int64_t rows, int64_t cols, const lam__product *p,
                       char *area, stack *s) {
    static const double odd[] = {INFINITY, -INFINITY, NAN, -0.0};
    const int64_t width = is_complex(dtype) ? 2 : 1;
    const bool single = dtype == LAM_F32 || dtype == LAM_C64;
    if (layout == BESIDE) draw_beside(state, rows * cols, p, s);
    else draw_steps(state, layout, rows, cols, s);
    s->batch = layout == BESIDE ? 1 : draw(state, 0, 3) ? s->count : 0;
    s->turn = p->run ? draw(state, 0, 2) : 0;
    const int64_t all = (p->batch - 1) * s->batch + (p->run ? p->batch / p->run : 0) * s->turn + s->count;
    s->parts = malloc((size_t)(all * width) * sizeof(double));
    for (int64_t i = 0; i < all * width; i++) s->parts[i] = NAN;
    for (int64_t b = 0; b < p->batch; b++)
        for (int64_t i = 0; i < rows * cols * width; i++) {
            const int64_t e = i / width, from = b * s->batch + (p->run ? b / p->run * s->turn : 0);
            s->parts[(from + e / cols * s->row + e % cols * s->col) * width + i % width] = (double)draw(state, -4, 4);
        }
    if (draw(state, 0, 3) == 0)
        s->parts[(draw(state, 0, rows - 1) * s->row + draw(state, 0, cols - 1) * s->col) * width] =
            odd[draw(state, 0, 3)];
    const size_t bytes = (size_t)(all * width) * (single ? sizeof(float) : sizeof(double));
    ck_assert_uint_le(bytes, AREA);
    s->data = draw(state, 0, 1) ? area + AREA - bytes : area;
    for (int64_t i = 0; i < all * width; i++)
        if (single) ((float *)s->data)[i] = (float)s->parts[i];
        else ((double *)s->data)[i] = s->parts[i];
}

/* Part `part` of element (i, j) of product b. */
static double wanted(const lam__product *p, bool pairs, const double *x, const double *y, int64_t b, int64_t i,
                     int64_t j, int part) {
    const int64_t turns = p->run ? b / p->run : 0, from_x = b * p->x_batch + turns * p->x_turn + i * p->x_row,
                  from_y = b * p->y_batch + turns * p->y_turn + j * p->y_col;
    double sum = 0;
    for (int64_t q = 0; q < p->k; q++) {
        const double *a = x + (from_x + q * p->x_col) * (pairs ? 2 : 1);
        const double *c = y + (from_y + q * p->y_row) * (pairs ? 2 : 1);
        if (!pairs) sum += a[0] * c[0];
        else sum += part ? a[0] * c[1] + a[1] * c[0] : a[0] * c[0] - a[1] * c[1];
    }
    return sum;
}

static void draw_sizes(uint64_t *state, int way, lam__product *p) {
    static const int64_t around[] = {1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 23, 24, 25, 31, 32};
    enum { SIZES = sizeof around / sizeof around[0] };
    const int64_t most = way == LAM__BY_TINY ? 3 : SIZES - 1;
    p->batch = draw(state, 1, 4);
    p->run = draw(state, 0, 2) ? 0 : draw(state, 1, 3);
    p->left = p->run;
    p->m = around[draw(state, 0, SIZES - 1)];
    p->k = around[draw(state, 0, most)];
    p->n = around[draw(state, way == LAM__BY_TINY, most)];
    if (way == LAM__BY_TILES && draw(state, 0, 3) == 0) p->n = draw(state, 33, LONGEST);
    if (way != LAM__BY_TURNED && draw(state, 0, 3) == 0) p->m = draw(state, 33, LONGEST);
    if (way == LAM__BY_TURNED && draw(state, 0, 3) == 0) p->n = 1, p->m = draw(state, 33, LONGEST);
    if (way == LAM__BY_DOTS && draw(state, 0, 3) == 0) p->k = draw(state, 2, 4), p->n = 1;
    if (way == LAM__BY_DOTS && draw(state, 0, 3) == 0)
        p->m = p->n = 1, p->batch = draw(state, 1, 9), p->run = p->left = 0;
    if (way == LAM__BY_BESIDE) {
        p->m = p->n = 1, p->batch = draw(state, 0, 7) ? draw(state, 1, 40) : draw(state, 500, 530);
        if (p->run) p->run = p->left = draw(state, 1, p->batch);
        if (draw(state, 0, 3) == 0) p->k = draw(state, 60, 140);
    }
}

/* Where no matrix is moved lines may be longer, and dots have any number of columns; what dots move has a room.
 * layout: of y. */
static void draw_longer(uint64_t *state, int way, int layout, lam__product *p) {
    if (draw(state, 0, 2)) return;
    if (way == LAM__BY_TILES && layout == 0) p->k = draw(state, 33, LONGEST);
    if (way != LAM__BY_DOTS) return;
    if (layout == 1 && draw(state, 0, 1)) p->n = draw(state, 33, LONGEST);
    if (layout == 1 || p->n * LONGEST <= LAM__SMALL_K * LAM__SMALL_TURNED) p->k = draw(state, 33, LONGEST);
}

static void compare(const lam__small_type *loops, lam_dtype dtype, int way, char *const area[3], uint64_t *state) {
    const bool pairs = is_complex(dtype), single = dtype == LAM_F32 || dtype == LAM_C64;
    const uint64_t seed = *state;
    lam__product p = {0};
    stack x, y;
    draw_sizes(state, way, &p);
    const int any = (int)draw(state, 0, 2), other = (int)draw(state, 0, 2);
    const int layouts[LAM__SMALL_WAYS] = {any, any, 1, 0, BESIDE}; /* of x */
    draw_longer(state, way, other, &p);
    draw_stack(state, dtype, layouts[way], p.m, p.k, &p, area[0], &x);
    draw_stack(state, dtype, way == LAM__BY_BESIDE ? BESIDE : other, p.k, p.n, &p, area[1], &y);
    p.x = x.data, p.x_batch = x.batch, p.x_row = x.row, p.x_col = x.col, p.x_turn = x.turn;
    p.y = y.data, p.y_batch = y.batch, p.y_row = y.row, p.y_col = y.col, p.y_turn = y.turn;
    const int64_t parts = p.batch * p.m * p.n * (pairs ? 2 : 1);
    const size_t bytes = (size_t)parts * (single ? sizeof(float) : sizeof(double));
    const size_t guard = draw(state, 0, 1) ? GUARD : 0;
    unsigned char *out = (unsigned char *)area[2] + (guard ? 0 : AREA - bytes);
    memset(out, 0xff, bytes + guard);
    p.out = out;
    loops->by[way](&p);
    for (int64_t i = 0; i < parts; i++) {
        const int64_t e = pairs ? i / 2 : i;
        const double got = single ? (double)((const float *)(const void *)out)[i] : ((const double *)(void *)out)[i];
        const double want =
            wanted(&p, pairs, x.parts, y.parts, e / p.n / p.m, e / p.n % p.m, e % p.n, pairs ? (int)(i % 2) : 0);
        STRIDED_CHECK(got == want || (isnan(got) && isnan(want)),
                      "dtype %d way %d seed %llu [%d, %d, %d] part %d: %g instead of %g", (int)dtype, way,
                      (unsigned long long)seed, (int)p.m, (int)p.k, (int)p.n, (int)i, got, want);
    }
    for (size_t i = bytes; i < bytes + guard; i++) STRIDED_CHECK(out[i] == 0xff, "wrote beyond the end");
    free(x.parts), free(y.parts);
}

START_TEST(small_products_are_their_sums) {
    const lam_dtype dtype = dtypes[_i / SETS];
    const lam__small_type *loops = loops_of(_i % SETS, dtype);
    char *area[] = {make_area(), make_area(), make_area()};
    uint64_t state = (uint64_t)_i + 1;
    for (int way = 0; loops && way < LAM__SMALL_WAYS; way++)
        for (int i = 0; loops->by[way] && i < DRAWS; i++) compare(loops, dtype, way, area, &state);
    for (int i = 0; i < 3; i++) free_area(area[i]);
}
END_TEST

/* Short rows times one vector, whose elements lie side by side or apart: however many there are, each has the bits that
 * it has alone, also where it is a zero. Elements are no whole numbers, so sums are rounded. */
START_TEST(rows_times_a_vector_do_not_depend_on_each_other) {
    enum { ROWS = 40, K = 4 };
    const lam_dtype dtype = dtypes[_i / SETS];
    const lam__small_type *loops = loops_of(_i % SETS, dtype);
    const bool single = dtype == LAM_F32 || dtype == LAM_C64;
    const int parts = is_complex(dtype) ? 2 : 1;
    const size_t item = (single ? sizeof(float) : sizeof(double)) * (size_t)parts;
    uint64_t state = 5;
    double x[2 * ROWS * K], y[4 * K], all[2 * ROWS], one[2];
    for (int round = 0; loops && round < 200; round++) {
        for (int i = 0; i < (ROWS + 2) * K * parts; i++) {
            const double v = draw(&state, 0, 3) ? (double)draw(&state, -999, 999) / 7 : -0.0;
            double *to = i < ROWS * K * parts ? x : y;
            const int at = i % (ROWS * K * parts);
            if (single) ((float *)(void *)to)[at] = (float)v;
            else to[at] = v;
        }
        const int64_t k = draw(&state, 2, K);
        lam__product p = {.batch = 1, .m = draw(&state, 1, ROWS), .k = k, .n = 1, .x = x, .y = y, .out = all};
        p.x_row = k, p.x_col = 1, p.y_col = 1, p.y_row = draw(&state, 1, 2);
        loops->by[LAM__BY_DOTS](&p);
        lam__product alone = p;
        alone.m = 1, alone.out = one;
        for (int64_t i = 0; i < p.m; i++) {
            alone.x = (const char *)x + (size_t)(i * k) * item;
            loops->by[LAM__BY_DOTS](&alone);
            ck_assert_mem_eq((const char *)all + (size_t)i * item, one, item);
        }
    }
}
END_TEST

/* Fractions of seven, which sums round. */
static void fill_sevenths(lam_dtype dtype, void *to, int64_t parts, uint64_t *state) {
    const bool single = dtype == LAM_F32 || dtype == LAM_C64;
    for (int64_t i = 0; i < parts; i++) {
        const double v = (double)draw(state, -999, 999) / 7;
        if (single) ((float *)to)[i] = (float)v;
        else ((double *)to)[i] = v;
    }
}

/* A dot has the bits that it has alone, whatever panel it is in: all numbers of rows and columns. */
START_TEST(dots_do_not_depend_on_each_other) {
    enum { MOST = 40, PARTS = 2 * MOST * MOST };
    const lam_dtype dtype = dtypes[_i / SETS];
    const lam__small_type *loops = loops_of(_i % SETS, dtype);
    const size_t item = strided_item[dtype];
    static double x[PARTS], y[PARTS], all[PARTS], one[2];
    uint64_t state = 6;
    fill_sevenths(dtype, x, PARTS, &state);
    fill_sevenths(dtype, y, PARTS, &state);
    for (int64_t n = 1; loops && n <= MOST; n++)
        for (int64_t m = 1; m <= MOST; m += draw(&state, 1, 5)) {
            const int64_t k = draw(&state, 5, MOST);
            lam__product p = {.batch = 1, .m = m, .k = k, .n = n, .x = x, .y = y, .out = all};
            p.x_row = k, p.x_col = 1, p.y_col = k, p.y_row = 1;
            loops->by[LAM__BY_DOTS](&p);
            lam__product alone = p;
            alone.m = alone.n = 1, alone.out = one;
            for (int64_t i = 0; i < m * n; i++) {
                alone.x = (const char *)x + (size_t)(i / n * k) * item;
                alone.y = (const char *)y + (size_t)(i % n * k) * item;
                loops->by[LAM__BY_DOTS](&alone);
                ck_assert_mem_eq((const char *)all + (size_t)i * item, one, item);
            }
        }
}
END_TEST

/* Columns left over have the bits of those in tiles, which they are where rows of x have no gaps and columns have. */
START_TEST(columns_left_over_are_summed_as_others) {
    enum { MOST = 70, K = 32 };
    const lam_dtype dtype = dtypes[_i / SETS];
    const lam__small_type *loops = loops_of(_i % SETS, dtype);
    const size_t item = strided_item[dtype];
    static double x[MOST * K], turned[MOST * K], y[MOST * K], out[MOST * MOST], want[MOST * MOST];
    uint64_t state = 7;
    int edges = 0;
    for (int64_t n = 1; loops && n <= MOST; n++)
        for (int64_t m = 1; m <= MOST; m += draw(&state, 1, 9)) {
            const int64_t k = draw(&state, 1, K);
            fill_sevenths(dtype, x, m * k, &state);
            fill_sevenths(dtype, y, k * n, &state);
            for (int64_t i = 0; i < m * k; i++)
                memcpy((char *)turned + (size_t)i * item, (char *)x + (size_t)(i % k * m + i / k) * item, item);
            lam__product p = {.batch = 1, .m = m, .k = k, .n = n, .x = x, .y = y, .out = out};
            p.x_row = 1, p.x_col = m, p.y_row = n, p.y_col = 1;
            loops->by[LAM__BY_TILES](&p);
            edges += lam__product_edge(&p, loops->lanes, loops->halves) > 0;
            p.x = turned, p.x_row = k, p.x_col = 1, p.out = want;
            if (k > 1) ck_assert_int_eq(lam__product_edge(&p, loops->lanes, loops->halves), 0);
            loops->by[LAM__BY_TILES](&p);
            ck_assert_mem_eq(out, want, (size_t)(m * n) * item);
        }
    if (loops) ck_assert_int_gt(edges, 20);
}
END_TEST

/* What is given to CBLAS and what is not: NOTE [large products of our own]. Columns of y lie side by side, or its lines
 * do; with vectors of 64 bytes, of which `wide` is the way for the first, CBLAS has all of the others. */
START_TEST(products_that_are_our_own) {
    static const struct {
        int64_t m, k, n;
        int rows, lines, wide; /* the way for y by rows and for y by columns */
    } cases[] = {{2, 64, 256, LAM__BY_TILES, LAM__BY_DOTS, LAM__BY_TILES},
                 {256, 64, 5, LAM__BY_DOTS, LAM__BY_DOTS, LAM__SMALL_WAYS},
                 {16, 100, 100, LAM__BY_TILES, LAM__SMALL_WAYS, LAM__BY_TILES},
                 {100, 100, 100, LAM__BY_TILES, LAM__SMALL_WAYS, LAM__BY_TILES},
                 {300, 300, 300, LAM__SMALL_WAYS, LAM__SMALL_WAYS, LAM__SMALL_WAYS},
                 {4, 1025, 8, LAM__SMALL_WAYS, LAM__SMALL_WAYS, LAM__SMALL_WAYS},
                 {1, 64, 64, LAM__SMALL_WAYS, LAM__SMALL_WAYS, LAM__SMALL_WAYS}};
    const lam_dtype dtype = dtypes[_i / SETS];
    const lam__small_type *loops = loops_of(_i % SETS, dtype);
    const int64_t bytes = loops ? loops->lanes * (int64_t)strided_item[dtype] : 0;
    if (bytes < 32) return;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        lam__product p = {
            .batch = 1, .m = cases[k].m, .k = cases[k].k, .n = cases[k].n, .x_col = 1, .x_row = cases[k].k};
        p.y_row = p.n, p.y_col = 1;
        ck_assert_int_eq(lam__small_way(dtype, loops, &p), bytes == 32 ? cases[k].rows : cases[k].wide);
        p.y_row = 1, p.y_col = p.k;
        ck_assert_int_eq(lam__small_way(dtype, loops, &p), bytes == 32 ? cases[k].lines : LAM__SMALL_WAYS);
    }
}
END_TEST

Suite *suite_kernels_products(void);
Suite *suite_kernels_products(void) {
    Suite *suite = suite_create("kernels/products");
    TCase *tests = tcase_create("products");
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, small_products_are_their_sums, 0, DTYPES * SETS);
    tcase_add_loop_test(tests, rows_times_a_vector_do_not_depend_on_each_other, 0, DTYPES * SETS);
    tcase_add_loop_test(tests, dots_do_not_depend_on_each_other, 0, DTYPES * SETS);
    tcase_add_loop_test(tests, products_that_are_our_own, 0, REALS * SETS);
    tcase_add_loop_test(tests, columns_left_over_are_summed_as_others, 0, REALS * SETS);
    suite_add_tcase(suite, tests);
    return suite;
}
