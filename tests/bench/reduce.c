/* Sums, maxima and places over the middle axis of [n, rows, columns], for many numbers of rows and columns, as parts of
 * what memory gives: bytes read and written per second beside those of a sum over as many bytes in plain C vectors, in
 * turns. Says how many shapes of each operation and dtype are below 0.7 of that, and the slowest. Prints only.
 * Argument: bytes of the operand (64 MB). */
#define _POSIX_C_SOURCE 200809L
#include <lamina/lamina.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/bench/timing.h"

enum { RUNS = 7, WORST = 8, LANES = 64 };

typedef enum operation { SUM, MAX, PLACE, OPERATIONS } operation;

typedef struct job {
    lam_ctx *ctx;
    lam_tensor *x;
    operation op;
    const double *numbers;
    int64_t count;
} job;

static lam_tensor *reduced(const job *j) {
    const lam_reduce_options middle = {.axes = LAM_AXES(1)};
    if (j->op == PLACE) return lam_argmax(j->x, 1);
    return j->op == SUM ? lam_sum(j->x, &middle) : lam_max_reduce(j->x, &middle);
}

static void reduce(void *env) {
    lam_drop(reduced(env));
}

static volatile double sink;

/* As many sums side by side as keep the loads busy. */
static void sum_in_c(void *env) {
    const job *j = env;
    double sums[LANES] = {0}, all = 0;
    for (int64_t i = 0; i + LANES <= j->count; i += LANES)
        for (int k = 0; k < LANES; k++) sums[k] += j->numbers[i + k];
    for (int k = 0; k < LANES; k++) all += sums[k];
    sink = all;
}

typedef struct tally {
    int cases, below;
    double fastest; /* bytes per nanosecond of the sum in C */
    double worst[WORST];
    int64_t rows[WORST], columns[WORST];
} tally;

static void count(tally *t, int64_t rows, int64_t columns, double plain, double part) {
    int at = t->cases < WORST ? t->cases : WORST;
    t->cases++;
    t->below += part < 0.7;
    if (plain > t->fastest) t->fastest = plain;
    for (; at > 0 && part < t->worst[at - 1]; at--)
        if (at < WORST) {
            t->worst[at] = t->worst[at - 1];
            t->rows[at] = t->rows[at - 1], t->columns[at] = t->columns[at - 1];
        }
    if (at < WORST) t->worst[at] = part, t->rows[at] = rows, t->columns[at] = columns;
}

static int64_t bytes_of(lam_tensor *x) {
    static const int64_t item[] = {[LAM_F64] = 8, [LAM_F32] = 4, [LAM_I64] = 8, [LAM_I32] = 4, [LAM_U8] = 1};
    return lam_size(x) * item[lam_dtype_of(x)];
}

static void measure(job *j, lam_dtype dtype, int64_t item, int64_t rows, int64_t columns, tally *t) {
    const int64_t bytes = j->count * 8, n = bytes / item / (rows * columns);
    if (n < 1) return;
    lam_scope *scope = lam_scope_begin(j->ctx);
    j->x = lam_cast(lam_mul(lam_rand(j->ctx, LAM_F32, LAM_DIMS(n, rows, columns)), 100.0), dtype);
    const double moved = (double)(bytes_of(j->x) + bytes_of(reduced(j)));
    const int repeats = (int)(8000000 / bytes) + 1;
    const double plain = (double)bytes / timing_median(sum_in_c, j, RUNS, repeats);
    count(t, rows, columns, plain, moved / timing_median(reduce, j, RUNS, repeats) / plain);
    lam_scope_end(scope, NULL, 0);
}

int main(int argc, char **argv) {
    static const int64_t rows[] = {2, 3, 5, 8, 16, 32, 64, 256, 1024}, columns[] = {1, 2, 3, 4, 8, 16, 64, 512};
    static const struct {
        lam_dtype dtype;
        int64_t bytes;
    } dtypes[] = {{LAM_F64, 8}, {LAM_F32, 4}, {LAM_I32, 4}, {LAM_U8, 1}};
    static const char *const names[OPERATIONS] = {"sum", "max", "argmax"};
    const int64_t bytes = argc > 1 ? atoll(argv[1]) : 64 << 20;
    double *numbers = malloc((size_t)bytes);
    job j = {.ctx = lam_ctx_new(NULL), .numbers = numbers, .count = bytes / 8};
    for (int64_t i = 0; numbers && i < j.count; i++) numbers[i] = 1;
    for (size_t d = 0; numbers && d < sizeof dtypes / sizeof *dtypes; d++)
        for (j.op = SUM; j.op < OPERATIONS; j.op++) {
            tally t = {0};
            for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
                for (size_t c = 0; c < sizeof columns / sizeof *columns; c++)
                    measure(&j, dtypes[d].dtype, dtypes[d].bytes, rows[r], columns[c], &t);
            printf("%-4s%-7s%3d of %2d below 0.7 of up to %3.0f GB/s:", lam_dtype_name(dtypes[d].dtype), names[j.op],
                   t.below, t.cases, t.fastest);
            for (int i = 0; i < WORST && i < t.cases; i++)
                printf("  %d x %d %.2f", (int)t.rows[i], (int)t.columns[i], t.worst[i]);
            printf("\n");
        }
    if (lam_status_of(j.ctx) != LAM_OK) fprintf(stderr, "%s\n", lam_error(j.ctx));
    const int status = lam_status_of(j.ctx) != LAM_OK;
    lam_ctx_free(j.ctx);
    free(numbers);
    return status;
}
