/* Operations of arrays that lie in the caches and that do not, as parts of what memory gives: elementwise ones beside
 * a copy of the C library, by bytes read and written; sums beside a sum over the same bytes in plain C. All in one
 * run, in turns; medians. Prints only. Arguments: f64 elements of the small and of the large arrays. */
#define _POSIX_C_SOURCE 200809L
#include <lamina/lamina.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/timing.h"

enum { RUNS = 15 };

typedef struct arrays {
    lam_dtype dtype;
    int64_t n, rows, columns; /* elements; n = rows * columns */
    lam_tensor *x, *y, *mask; /* [rows, columns] */
    lam_tensor *row, *column, *turned,
        *spread; /* [columns], [rows, 1], [columns, rows] as [rows, columns], every 2nd */
} arrays;

/* ---- elementwise ------------------------------------------------------------------------------------------------- */

static lam_tensor *op_neg(const arrays *a) {
    return lam_neg(a->x);
}

static lam_tensor *op_add(const arrays *a) {
    return lam_add(a->x, a->y);
}

static lam_tensor *op_mul_number(const arrays *a) {
    return lam_mul(a->x, 1.5);
}

static lam_tensor *op_fma(const arrays *a) {
    return lam_fma(a->x, a->y, a->x);
}

static lam_tensor *op_less(const arrays *a) {
    return lam_lt(a->x, a->y);
}

static lam_tensor *op_where(const arrays *a) {
    return lam_where(a->mask, a->x, a->y);
}

static lam_tensor *op_cast(const arrays *a) {
    return lam_cast(a->x, a->dtype == LAM_F64 ? LAM_F32 : LAM_F64);
}

static lam_tensor *op_add_row(const arrays *a) {
    return lam_add(a->x, a->row);
}

static lam_tensor *op_add_column(const arrays *a) {
    return lam_add(a->x, a->column);
}

static lam_tensor *op_add_turned(const arrays *a) {
    return lam_add(a->x, a->turned);
}

static lam_tensor *op_contiguous_turned(const arrays *a) {
    return lam_contiguous(a->turned);
}

static lam_tensor *op_neg_spread(const arrays *a) {
    return lam_neg(a->spread);
}

static lam_tensor *op_exp(const arrays *a) {
    return lam_exp(a->x);
}

static lam_tensor *op_tanh(const arrays *a) {
    return lam_tanh(a->x);
}

/* ---- sums -------------------------------------------------------------------------------------------------------- */

static lam_tensor *op_sum(const arrays *a) {
    return lam_sum(a->x, NULL);
}

static lam_tensor *op_sum_rows(const arrays *a) {
    return lam_sum(a->x, &(lam_reduce_options){.axes = LAM_AXES(0)});
}

static lam_tensor *op_sum_columns(const arrays *a) {
    return lam_sum(a->x, &(lam_reduce_options){.axes = LAM_AXES(1)});
}

static lam_tensor *op_sum_turned(const arrays *a) {
    return lam_sum(a->turned, &(lam_reduce_options){.axes = LAM_AXES(0)});
}

static lam_tensor *op_max(const arrays *a) {
    return lam_max_reduce(a->x, NULL);
}

static lam_tensor *op_max_columns(const arrays *a) {
    return lam_max_reduce(a->x, &(lam_reduce_options){.axes = LAM_AXES(1)});
}

static const struct {
    const char *name;
    lam_tensor *(*op)(const arrays *a);
    double moved, octets; /* elements of the dtype read and written, and bytes of others, per element of x */
    bool sum;             /* compared to the sum in C */
} rows[] = {
    {"-x", op_neg, 2, 0, false},
    {"x + y", op_add, 3, 0, false},
    {"1.5 x", op_mul_number, 2, 0, false},
    {"fma(x, y, x)", op_fma, 3, 0, false},
    {"x < y", op_less, 2, 1, false},
    {"where(mask, x, y)", op_where, 3, 1, false},
    {"cast f64, f32", op_cast, 0, 12, false},
    {"x + row", op_add_row, 2, 0, false},
    {"x + column", op_add_column, 2, 0, false},
    {"x + transpose(y)", op_add_turned, 3, 0, false},
    {"contiguous(transpose(x))", op_contiguous_turned, 2, 0, false},
    {"-x[:, ::2]", op_neg_spread, 1.5, 0, false},
    {"exp(x)", op_exp, 2, 0, false},
    {"tanh(x)", op_tanh, 2, 0, false},
    {"sum(x)", op_sum, 1, 0, true},
    {"sum(x, 0)", op_sum_rows, 1, 0, true},
    {"sum(x, 1)", op_sum_columns, 1, 0, true},
    {"sum(transpose(x), 0)", op_sum_turned, 1, 0, true},
    {"max(x)", op_max, 1, 0, true},
    {"max(x, 1)", op_max_columns, 1, 0, true},
};

enum { ROWS = sizeof rows / sizeof rows[0] };

/* ---- what memory gives ------------------------------------------------------------------------------------------- */

/* Sixteen sums side by side, which a compiler keeps in vectors. */
static double sum_in_c(const double *x, int64_t n) {
    double sums[16] = {0}, all = 0;
    for (int64_t i = 0; i + 16 <= n; i += 16)
        for (int k = 0; k < 16; k++) sums[k] += x[i + k];
    for (int k = 0; k < 16; k++) all += sums[k];
    return all;
}

/* Seconds of one call, of which a run makes so many that it lasts. */
static double time_row(lam_ctx *ctx, const arrays *a, int r, int calls) {
    double from = timing_now();
    for (int i = 0; i < calls; i++) {
        lam_scope *scope = lam_scope_begin(ctx);
        rows[r].op(a);
        lam_scope_end(scope, NULL, 0);
    }
    return (timing_now() - from) * 1e-9 / calls;
}

static double median(double *x) {
    qsort(x, RUNS, sizeof *x, timing_compare);
    return x[RUNS / 2];
}

static volatile double sink;

static void print_table(lam_ctx *ctx, const arrays *a, double *from, double *to) {
    double copy[RUNS], sum[RUNS], seconds[ROWS][RUNS];
    const size_t bytes = (size_t)a->n * (a->dtype == LAM_F64 ? 8 : 4);
    const int calls = a->n > 1000000 ? 1 : (int)(2000000 / a->n) + 1;
    for (int run = -1; run < RUNS; run++) { /* the first one warms up */
        int k = run < 0 ? 0 : run;
        double begin = timing_now();
        for (int i = 0; i < calls; i++) {
            memcpy(to, from, bytes);
            sink = to[i % 8];
        }
        copy[k] = (timing_now() - begin) * 1e-9 / calls;
        begin = timing_now();
        for (int i = 0; i < calls; i++) sink = sum_in_c(from, (int64_t)(bytes / 8));
        sum[k] = (timing_now() - begin) * 1e-9 / calls;
        for (int r = 0; r < ROWS; r++) seconds[r][k] = time_row(ctx, a, r, calls);
    }
    const double copied = 2 * (double)bytes / median(copy), summed = (double)bytes / median(sum);
    printf("%s, %lld elements: copy %.1f GB/s, sum in C %.1f GB/s\n", a->dtype == LAM_F64 ? "f64" : "f32",
           (long long)a->n, copied * 1e-9, summed * 1e-9);
    for (int r = 0; r < ROWS; r++) {
        const double element = a->dtype == LAM_F64 ? 8 : 4, s = median(seconds[r]);
        const double rate = (rows[r].moved * element + rows[r].octets) * (double)a->n / s;
        printf("  %-26s %8.3f ns   %5.2f of the %s\n", rows[r].name, s * 1e9 / (double)a->n,
               rate / (rows[r].sum ? summed : copied), rows[r].sum ? "sum" : "copy");
    }
}

static void measure(lam_ctx *ctx, lam_dtype dtype, int64_t n, double *from, double *to) {
    lam_scope *scope = lam_scope_begin(ctx);
    arrays a = {.dtype = dtype, .columns = 64};
    while (a.columns * a.columns < n) a.columns *= 2;
    a.rows = n / a.columns;
    a.n = a.rows * a.columns;
    a.x = lam_rand(ctx, dtype, LAM_DIMS(a.rows, a.columns));
    a.y = lam_rand(ctx, dtype, LAM_DIMS(a.rows, a.columns));
    a.mask = lam_lt(a.x, 0.5);
    a.row = lam_rand(ctx, dtype, LAM_DIMS(a.columns));
    a.column = lam_rand(ctx, dtype, LAM_DIMS(a.rows, 1));
    a.turned = lam_transpose(lam_rand(ctx, dtype, LAM_DIMS(a.columns, a.rows)), LAM_AXES(1, 0));
    a.spread = lam_slice(a.x, LAM_DIMS(0, 0), LAM_DIMS(a.rows, a.columns), LAM_DIMS(1, 2));
    if (lam_status_of(ctx) == LAM_OK) print_table(ctx, &a, from, to);
    lam_scope_end(scope, NULL, 0);
}

int main(int argc, char **argv) {
    const int64_t sizes[2] = {argc > 1 ? atoll(argv[1]) : 1 << 14, argc > 2 ? atoll(argv[2]) : 10000000};
    lam_ctx *ctx = lam_ctx_new(NULL);
    for (int k = 0; k < 2 && lam_status_of(ctx) == LAM_OK; k++) {
        double *from = malloc((size_t)sizes[k] * sizeof *from), *to = malloc((size_t)sizes[k] * sizeof *to);
        for (int64_t i = 0; from && to && i < sizes[k]; i++) from[i] = to[i] = (double)i;
        if (from && to) measure(ctx, LAM_F64, sizes[k], from, to);
        if (from && to) measure(ctx, LAM_F32, sizes[k], from, to);
        free(from);
        free(to);
    }
    if (lam_status_of(ctx) != LAM_OK) fprintf(stderr, "%s\n", lam_error(ctx));
    int status = lam_status_of(ctx) != LAM_OK;
    lam_ctx_free(ctx);
    return status;
}
