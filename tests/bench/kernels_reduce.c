/* Speed of reductions, scans, indexing, matrix products and factorisations: prints nanoseconds per element (or per
 * call), the median of many repetitions. Prints only; nothing asserts on time. */
#define _DEFAULT_SOURCE /* clock_gettime */

#include "lib/kernels/kernels.h"
#include "lib/kernels/places.h"

#include <cblas.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { REPEATS = 21, ELEMENTS = 10000000 };

static double *x, *out, *y;
static int64_t *index_of;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b) {
    const double d = *(const double *)a - *(const double *)b;
    return (d > 0) - (d < 0);
}

/* Median time of one call in nanoseconds; as many calls per reading as take about a millisecond. */
static double time_of(void (*run)(const void *), const void *what) {
    double times[REPEATS];
    double start = now();
    run(what);
    const double once = now() - start;
    const int calls = once > 1e6 ? 1 : 1 + (int)(1e6 / (once + 1));
    for (int r = 0; r < REPEATS; r++) {
        start = now();
        for (int i = 0; i < calls; i++) run(what);
        times[r] = (now() - start) / calls;
    }
    qsort(times, REPEATS, sizeof times[0], by_value);
    return times[REPEATS / 2];
}

/* ---- reductions and scans ------------------------------------------------------------------------------------ */

typedef enum kind { REDUCE, ARG, SCAN } kind;

typedef struct shape {
    const char *name;
    kind kind;
    lam__reduce_id id;
    lam_dtype dtype;
    int rank;
    int64_t dims[3], strides[3];
    bool reduced[3]; /* for ARG and SCAN the axis */
} shape;

static int axis_of(const shape *s) {
    return s->reduced[0] ? 0 : s->reduced[1] ? 1 : 2;
}

static void run_shape(const void *what) {
    const shape *s = what;
    switch (s->kind) {
    case REDUCE: lam__kernels_reduce(s->id, s->dtype, s->rank, s->dims, s->reduced, x, s->strides, out); return;
    case ARG:
        lam__kernels_arg(s->id == LAM__REDUCE_MAX, s->dtype, s->rank, s->dims, axis_of(s), x, s->strides,
                         (int64_t *)(void *)out);
        return;
    case SCAN: lam__kernels_cumulate(s->id, s->dtype, s->rank, s->dims, axis_of(s), false, x, s->strides, out); return;
    }
}

#define SUM REDUCE, LAM__REDUCE_SUM
static const shape shapes[] = {
    {"sum 1", SUM, LAM_F64, 1, {1}, {1}, {true}},
    {"sum 3", SUM, LAM_F64, 1, {3}, {1}, {true}},
    {"sum 10", SUM, LAM_F64, 1, {10}, {1}, {true}},
    {"sum 100", SUM, LAM_F64, 1, {100}, {1}, {true}},
    {"sum 1e3", SUM, LAM_F64, 1, {1000}, {1}, {true}},
    {"sum 1e5", SUM, LAM_F64, 1, {100000}, {1}, {true}},
    {"sum 1e7", SUM, LAM_F64, 1, {10000000}, {1}, {true}},
    {"sum 1e5 f32", SUM, LAM_F32, 1, {100000}, {1}, {true}},
    {"sum 1e5 i32", SUM, LAM_I32, 1, {100000}, {1}, {true}},
    {"sum 1e5 u8", SUM, LAM_U8, 1, {100000}, {1}, {true}},
    {"sum 1e5 step 2", SUM, LAM_F64, 1, {100000}, {2}, {true}},
    {"max 1e5", REDUCE, LAM__REDUCE_MAX, LAM_F64, 1, {100000}, {1}, {true}},
    {"prod 1e5", REDUCE, LAM__REDUCE_PROD, LAM_F64, 1, {100000}, {1}, {true}},
    {"sum 1000x1000 axis 0", SUM, LAM_F64, 2, {1000, 1000}, {1000, 1}, {true, false}},
    {"sum 1000x1000 axis 1", SUM, LAM_F64, 2, {1000, 1000}, {1000, 1}, {false, true}},
    {"sum 3000x3000 axis 0", SUM, LAM_F64, 2, {3000, 3000}, {3000, 1}, {true, false}},
    {"sum 100000x10 axis 0", SUM, LAM_F64, 2, {100000, 10}, {10, 1}, {true, false}},
    {"sum 100000x10 axis 1", SUM, LAM_F64, 2, {100000, 10}, {10, 1}, {false, true}},
    {"sum 300000x3 axis 0", SUM, LAM_F64, 2, {300000, 3}, {3, 1}, {true, false}},
    {"sum 300000x3 axis 1", SUM, LAM_F64, 2, {300000, 3}, {3, 1}, {false, true}},
    {"sum 500000x2 axis 1", SUM, LAM_F64, 2, {500000, 2}, {2, 1}, {false, true}},
    {"sum 30000x33 axis 1", SUM, LAM_F64, 2, {30000, 33}, {33, 1}, {false, true}},
    {"sum 10x100000 axis 0", SUM, LAM_F64, 2, {10, 100000}, {100000, 1}, {true, false}},
    {"sum 100x100x100 axis 1", SUM, LAM_F64, 3, {100, 100, 100}, {10000, 100, 1}, {false, true, false}},
    {"sum 100x100x100 axes 0 2", SUM, LAM_F64, 3, {100, 100, 100}, {10000, 100, 1}, {true, false, true}},
    {"sum 1000x100x8 axes 0 2", SUM, LAM_F64, 3, {1000, 100, 8}, {800, 8, 1}, {true, false, true}},
    {"sum 300000x2x3 axis 1", SUM, LAM_F64, 3, {300000, 2, 3}, {6, 3, 1}, {false, true, false}},
    {"sum 300000x2x3 axis 1 f32", SUM, LAM_F32, 3, {300000, 2, 3}, {6, 3, 1}, {false, true, false}},
    {"sum 1000x300x3 axis 1", SUM, LAM_F64, 3, {1000, 300, 3}, {900, 3, 1}, {false, true, false}},
    {"sum 50000x4x5 axis 1", SUM, LAM_F64, 3, {50000, 4, 5}, {20, 5, 1}, {false, true, false}},
    {"sum 1000x10 of x20", SUM, LAM_F64, 2, {1000, 10}, {20, 1}, {true, true}},
    {"sum 8x8 axis 0", SUM, LAM_F64, 2, {8, 8}, {8, 1}, {true, false}},
    {"argmax 1e5", ARG, LAM__REDUCE_MAX, LAM_F64, 1, {100000}, {1}, {true}},
    {"argmax 1000x1000 axis 0", ARG, LAM__REDUCE_MAX, LAM_F64, 2, {1000, 1000}, {1000, 1}, {true, false}},
    {"argmax 100000x10 axis 1", ARG, LAM__REDUCE_MAX, LAM_F64, 2, {100000, 10}, {10, 1}, {false, true}},
    {"argmax 100x30000 axis 0", ARG, LAM__REDUCE_MAX, LAM_F64, 2, {100, 30000}, {30000, 1}, {true, false}},
    {"argmax 300000x2x3 axis 1", ARG, LAM__REDUCE_MAX, LAM_F64, 3, {300000, 2, 3}, {6, 3, 1}, {false, true, false}},
    {"cumsum 1e5", SCAN, LAM__REDUCE_SUM, LAM_F64, 1, {100000}, {1}, {true}},
    {"cumsum 1e5 f32", SCAN, LAM__REDUCE_SUM, LAM_F32, 1, {100000}, {1}, {true}},
    {"cumsum 1000x1000 axis 0", SCAN, LAM__REDUCE_SUM, LAM_F64, 2, {1000, 1000}, {1000, 1}, {true, false}},
    {"cumsum 1000x1000 axis 1", SCAN, LAM__REDUCE_SUM, LAM_F64, 2, {1000, 1000}, {1000, 1}, {false, true}},
    {"cummax 1000x1000 axis 1", SCAN, LAM__REDUCE_MAX, LAM_F64, 2, {1000, 1000}, {1000, 1}, {false, true}},
};

static void print_shapes(void) {
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        double elements = 1, time = time_of(run_shape, &shapes[i]);
        for (int a = 0; a < shapes[i].rank; a++) elements *= (double)shapes[i].dims[a];
        printf("%-28s %12.1f ns %9.3f ns/el\n", shapes[i].name, time, time / elements);
    }
}

/* ---- indexing ------------------------------------------------------------------------------------------------ */

static void run_take(const void *what) {
    const lam__index_shape *s = what;
    const int64_t row = s->n * s->inner;
    const lam__index_source source = {x, s->outer * row, row, s->inner};
    lam__kernels_take_from(s, LAM__INDEX_CLIP, LAM_F64, &source, LAM_I64, index_of, out);
}

static void run_scatter(const void *what) {
    lam__kernels_scatter(LAM__SCATTER_ADD, what, LAM__INDEX_CLIP, LAM_F64, out, LAM_I64, index_of, x);
}

static void print_indexing(void) {
    static const lam__index_shape cases[] = {{1, 1, 1000, 100000, 1}, {1, 1, 1000, 10000, 10}, {1, 100, 1000, 1000, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const double elements = (double)(cases[i].outer * cases[i].k * cases[i].inner);
        printf("outer %3d k %6d inner %2d: take %.3f ns/el, scatter_add %.3f ns/el\n", (int)cases[i].outer,
               (int)cases[i].k, (int)cases[i].inner, time_of(run_take, &cases[i]) / elements,
               time_of(run_scatter, &cases[i]) / elements);
    }
}

/* ---- products ------------------------------------------------------------------------------------------------ */

typedef struct product {
    int64_t batch, m, k, n;
    bool shared; /* one y for the batch */
} product;

static void *no_scratch(void *env, size_t bytes) {
    (void)env, (void)bytes;
    return NULL;
}

static void run_product(const void *what) {
    const product *p = what;
    const lam__product all = {.batch = p->batch,
                              .m = p->m,
                              .k = p->k,
                              .n = p->n,
                              .x = x,
                              .x_batch = p->m * p->k,
                              .x_row = p->k,
                              .x_col = 1,
                              .y = y,
                              .y_batch = p->shared ? 0 : p->k * p->n,
                              .y_row = p->n,
                              .y_col = 1,
                              .out = out};
    lam__kernels_matmul(LAM_F64, &all, no_scratch, NULL);
}

static void run_cblas(const void *what) {
    const product *p = what;
    const int m = (int)p->m, k = (int)p->k, n = (int)p->n;
    for (int64_t b = 0; b < p->batch; b++)
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1, x + b * m * k, k,
                    y + (p->shared ? 0 : b * k * n), n, 0, out + b * m * n, n);
}

static void print_products(void) {
    static const product cases[] = {
        {1, 1, 1, 1, 0},       {1, 2, 2, 2, 0},     {1, 3, 3, 3, 0},       {1, 4, 4, 4, 0},       {1, 6, 6, 6, 0},
        {1, 8, 8, 8, 0},       {1, 12, 12, 12, 0},  {1, 16, 16, 16, 0},    {1, 24, 24, 24, 0},    {1, 64, 64, 64, 0},
        {1000, 2, 2, 2, 0},    {1000, 3, 3, 3, 0},  {1000, 4, 4, 4, 0},    {1000, 8, 8, 8, 0},    {1000, 12, 12, 12, 0},
        {1000, 16, 16, 16, 0}, {1000, 3, 3, 1, 0},  {1000, 1, 3, 3, 1},    {1000, 1, 64, 64, 1},  {1000, 1, 8, 1, 0},
        {1, 100, 100, 1, 0},   {1, 1, 100, 100, 0}, {1, 1, 1000, 1, 0},    {1, 1000, 1, 1000, 0}, {1, 10000, 3, 3, 0},
        {1, 3, 3, 10000, 0},   {1, 3, 10000, 3, 0}, {1, 8, 8, 10000, 0},   {1, 10000, 8, 8, 0},   {1, 10000, 4, 12, 0},
        {1, 10000, 12, 4, 0},  {1, 4, 100, 4, 0},   {1, 500, 500, 500, 0},
    };
    printf("%-28s %12s %12s  (ns per product)\n", "product", "here", "cblas_dgemm");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const product *p = &cases[i];
        char name[64];
        snprintf(name, sizeof name, "%d x %dx%dx%d%s", (int)p->batch, (int)p->m, (int)p->k, (int)p->n,
                 p->shared ? " shared" : "");
        printf("%-28s %12.1f %12.1f\n", name, time_of(run_product, p) / (double)p->batch,
               time_of(run_cblas, p) / (double)p->batch);
    }
}

/* ---- factorisations ------------------------------------------------------------------------------------------ */

static int64_t order;

static void fill_definite(void) {
    for (int64_t i = 0; i < order; i++)
        for (int64_t j = 0; j < order; j++) out[i * order + j] = i == j ? (double)order + 1 : x[i * order + j] - 0.5;
}

static void run_copy(const void *unused) {
    (void)unused;
    memcpy(y, out, (size_t)(order * order) * sizeof *y);
}

static void run_cholesky(const void *unused) {
    run_copy(unused);
    lam__kernels_cholesky(LAM_F64, 1, order, y);
}

static void run_lu(const void *unused) {
    static int32_t pivots[1000];
    run_copy(unused);
    lam__kernels_lu(LAM_F64, 1, order, order, y, pivots, NULL);
}

static void run_solve(const void *columns) {
    static const lam__triangular how = {0};
    lam__kernels_triangular_solve(LAM_F64, &how, 1, order, *(const int64_t *)columns, out, y + 1000000);
}

static void print_factorisations(void) {
    static const int64_t orders[] = {2, 3, 4, 8, 12, 16, 20, 24, 32, 64, 200, 500}, columns[] = {1, 8};
    for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++) {
        order = orders[i];
        fill_definite();
        const double copy = time_of(run_copy, NULL);
        printf("n %3d: cholesky %10.0f ns, lu %10.0f ns, solve of 1 %8.0f ns, of 8 %8.0f ns\n", (int)order,
               time_of(run_cholesky, NULL) - copy, time_of(run_lu, NULL) - copy, time_of(run_solve, &columns[0]),
               time_of(run_solve, &columns[1]));
    }
}

int main(void) {
    x = malloc(ELEMENTS * sizeof *x), y = malloc(ELEMENTS * sizeof *y), out = malloc(ELEMENTS * sizeof *out);
    index_of = malloc(ELEMENTS / 10 * sizeof *index_of);
    if (!x || !y || !out || !index_of || !lam__kernels_start()) return EXIT_FAILURE;
    for (int i = 0; i < ELEMENTS; i++) x[i] = (double)rand() / RAND_MAX, y[i] = x[i] - 0.5, out[i] = 0;
    for (int i = 0; i < ELEMENTS / 10; i++) index_of[i] = rand() % 1000;
    print_shapes();
    print_indexing();
    print_products();
    print_factorisations();
    free(x), free(y), free(out), free(index_of);
    return EXIT_SUCCESS;
}
