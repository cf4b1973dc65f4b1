/* Sums, maxima, places and means over the middle axis of [n, rows, columns], for many numbers of rows and columns, as
 * parts of what memory gives: bytes read and written per second beside those of a sum over the same memory in plain C,
 * or of a copy where results are more than a quarter of what is read, in turns. A number is the median of the ratios of
 * some turns, in processor time, so that what else runs on the machine counts less. Says how many shapes of each
 * operation and dtype are below 0.7 of that, and the slowest. Prints only. Arguments: `all` prints the table of all
 * shapes as well; bytes of the operand (64 MB); then a dtype, then an operation, for these alone. */
#define _DEFAULT_SOURCE /* clock_gettime, madvise */
#include <lamina/lamina.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "tests/bench/timing.h"

enum { RUNS = 9, WORST = 8, LANES = 64, PAGE = 2 << 20, ROWS = 9, COLUMNS = 11 };

static const int64_t rows_of[ROWS] = {2, 3, 5, 8, 16, 32, 64, 256, 1024};
static const int64_t columns_of[COLUMNS] = {1, 2, 3, 4, 5, 8, 16, 32, 64, 128, 512};

typedef enum operation { SUM, MAX, PLACE, MEAN, OPERATIONS } operation;
static const char *const operation_names[OPERATIONS] = {"sum", "max", "argmax", "mean"};

typedef struct job {
    lam_ctx *ctx;
    lam_tensor *elements, *x; /* of all shapes; those of one */
    operation op;
    const uint64_t *words; /* the elements, and where a copy of half of them goes */
    uint64_t *copied;
    int64_t bytes;
} job;

static lam_tensor *reduced(const job *j) {
    const lam_reduce_options middle = {.axes = LAM_AXES(1)};
    switch (j->op) {
    case SUM: return lam_sum(j->x, &middle);
    case MAX: return lam_max_reduce(j->x, &middle);
    case PLACE: return lam_argmax(j->x, 1);
    default: return lam_mean(j->x, &middle);
    }
}

static void reduce(void *env) {
    lam_drop(reduced(env));
}

static volatile uint64_t sink;

/* As many sums side by side as keep the loads busy. */
static void sum_in_c(void *env) {
    const job *j = env;
    uint64_t sums[LANES] = {0}, all = 0;
    for (int64_t i = 0; i + LANES <= j->bytes / 8; i += LANES)
        for (int k = 0; k < LANES; k++) sums[k] += j->words[i + k];
    for (int k = 0; k < LANES; k++) all += sums[k];
    sink = all;
}

/* Reads and writes as many bytes as the sum reads. */
static void copy_in_c(void *env) {
    const job *j = env;
    memcpy(j->copied, j->words, (size_t)j->bytes / 2);
    sink = j->copied[0];
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double time_of(void (*work)(void *env), job *j, int repeats) {
    const double start = now();
    for (int i = 0; i < repeats; i++) work(j);
    return (now() - start) / repeats;
}

static double median_of(int n, double *x) {
    qsort(x, (size_t)n, sizeof *x, timing_compare);
    return x[n / 2];
}

typedef struct table {
    int cases, copies;
    double part[ROWS * COLUMNS], plain[2][ROWS * COLUMNS]; /* plain: bytes per nanosecond of a sum, of a copy */
} table;

static int64_t bytes_of(lam_tensor *x) {
    static const int64_t item[] = {[LAM_F64] = 8, [LAM_F32] = 4, [LAM_I64] = 8, [LAM_I32] = 4, [LAM_U8] = 1};
    return lam_size(x) * item[lam_dtype_of(x)];
}

/* One shape; -1 where there is none. */
static void measure(job *j, int64_t rows, int64_t columns, table *t, double *part) {
    const int64_t layer = rows * columns, n = lam_size(j->elements) / layer;
    const int repeats = (int)(8000000 / j->bytes) + 1;
    double ratios[RUNS], times[RUNS];
    *part = -1;
    if (n < 1) return;
    lam_ctx_trim(j->ctx); /* so that there is room for the results to wait for reuse */
    lam_scope *scope = lam_scope_begin(j->ctx);
    j->x = lam_reshape(lam_slice_axis(j->elements, 0, 0, n * layer), LAM_DIMS(n, rows, columns));
    const int64_t read = bytes_of(j->x), written = bytes_of(reduced(j));
    const bool copy = 4 * written > read;
    for (int i = 0; i < RUNS; i++) {
        times[i] = (double)j->bytes / time_of(copy ? copy_in_c : sum_in_c, j, repeats);
        ratios[i] = (double)(read + written) / time_of(reduce, j, repeats) / times[i];
    }
    *part = median_of(RUNS, ratios);
    t->plain[copy][copy ? t->copies : t->cases - t->copies] = median_of(RUNS, times);
    t->cases++, t->copies += copy;
    lam_scope_end(scope, NULL, 0);
}

static void print_worst(const table *t) {
    double least = 0;
    for (int k = 0; k < WORST; k++) {
        int at = -1;
        for (int i = 0; i < ROWS * COLUMNS; i++)
            if (t->part[i] > least && (at < 0 || t->part[i] < t->part[at])) at = i;
        if (at < 0) break;
        least = t->part[at];
        printf("  %d x %d %.2f", (int)rows_of[at / COLUMNS], (int)columns_of[at % COLUMNS], least);
    }
    printf("\n");
}

static void print_table(const table *t) {
    printf("%16s", "");
    for (int c = 0; c < COLUMNS; c++) printf("%6d", (int)columns_of[c]);
    for (int i = 0; i < ROWS * COLUMNS; i++) {
        if (i % COLUMNS == 0) printf("\n%11d rows", (int)rows_of[i / COLUMNS]);
        if (t->part[i] < 0) printf("%6s", "-");
        else printf("%6.2f", t->part[i]);
    }
    printf("\n");
}

static void measure_all(job *j, lam_dtype dtype, bool whole) {
    table t = {0};
    double sorted[ROWS * COLUMNS];
    int below = 0, count = 0;
    for (int i = 0; i < ROWS * COLUMNS; i++) {
        measure(j, rows_of[i / COLUMNS], columns_of[i % COLUMNS], &t, &t.part[i]);
        if (t.part[i] < 0) continue;
        below += t.part[i] < 0.7;
        sorted[count++] = t.part[i];
    }
    const int sums = t.cases - t.copies;
    printf("%-4s%-7s%3d of %2d below 0.7, median %.2f", lam_dtype_name(dtype), operation_names[j->op], below, count,
           count ? median_of(count, sorted) : 0);
    if (sums) printf(", of %.0f GB/s", median_of(sums, t.plain[0]));
    if (t.copies) printf(", of %.0f of a copy", median_of(t.copies, t.plain[1]));
    printf(":");
    print_worst(&t);
    if (whole) print_table(&t);
    fflush(stdout);
}

/* Elements of 0 to 99. */
static lam_tensor *draw(const job *j, lam_dtype dtype, int64_t item) {
    return lam_cast(lam_mul(lam_rand(j->ctx, LAM_F32, LAM_DIMS(j->bytes / item)), 100.0), dtype);
}

static bool is_wanted(int argc, char **argv, int at, const char *name) {
    return argc <= at || strcmp(argv[at], name) == 0;
}

static int run(job *j, bool whole, int argc, char **argv) {
    static const struct {
        lam_dtype dtype;
        int64_t bytes;
    } dtypes[] = {{LAM_F64, 8}, {LAM_F32, 4}, {LAM_I64, 8}, {LAM_I32, 4}, {LAM_U8, 1}};
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
        if (!is_wanted(argc, argv, 2, lam_dtype_name(dtypes[d].dtype))) continue;
        lam_scope *scope = lam_scope_begin(j->ctx);
        j->elements = draw(j, dtypes[d].dtype, dtypes[d].bytes);
        j->words = lam_data(j->elements);
        for (j->op = SUM; j->op < OPERATIONS; j->op++)
            if (is_wanted(argc, argv, 3, operation_names[j->op])) measure_all(j, dtypes[d].dtype, whole);
        lam_scope_end(scope, NULL, 0);
    }
    if (lam_status_of(j->ctx) != LAM_OK) fprintf(stderr, "%s\n", lam_error(j->ctx));
    return lam_status_of(j->ctx) != LAM_OK;
}

/* On pages as large as those of the library. */
static void *pages(int64_t bytes) {
    const int64_t whole = (bytes + PAGE - 1) / PAGE * PAGE;
    void *x = aligned_alloc(PAGE, (size_t)whole);
#if defined(MADV_HUGEPAGE)
    if (x) madvise(x, (size_t)whole, MADV_HUGEPAGE);
#endif
    return x;
}

int main(int argc, char **argv) {
    const bool whole = argc > 1 && strcmp(argv[1], "all") == 0;
    if (whole) argc--, argv++;
    const int64_t bytes = argc > 1 ? atoll(argv[1]) : 64 << 20;
    job j = {.ctx = lam_ctx_new(NULL), .bytes = bytes, .copied = pages(bytes / 2)};
    const int status = j.copied ? run(&j, whole, argc, argv) : 1;
    lam_ctx_free(j.ctx);
    free(j.copied);
    return status;
}
