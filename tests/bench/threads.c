/* Large operations in contexts of one and of several threads (the first argument, 2 by default): ms, and the time of
 * one thread by that of several. Bits are compared too. The two are timed in turns, since the machine is shared. */
#define _POSIX_C_SOURCE 200809L
#include <lamina/lamina.h>

#include <stdio.h>
#include <string.h>

#include "tests/bench/timing.h"

static lam_tensor *numbers(lam_ctx *c, lam_dims dims) {
    return lam_random_normal(lam_key(c, 1), LAM_F64, dims);
}

static lam_tensor *add(lam_tensor *x) {
    return lam_add(x, x);
}

static lam_tensor *add_turned(lam_tensor *x) {
    return lam_add(x, lam_transpose(x, LAM_AXES(1, 0)));
}

static lam_tensor *tanh_of(lam_tensor *x) {
    return lam_tanh(x);
}

static lam_tensor *sum(lam_tensor *x) {
    return lam_sum(x, NULL);
}

static lam_tensor *sum_columns(lam_tensor *x) {
    return lam_sum(x, &(lam_reduce_options){.axes = LAM_AXES(0)});
}

static lam_tensor *copy_turned(lam_tensor *x) {
    return lam_contiguous(lam_transpose(x, LAM_AXES(1, 0)));
}

static lam_tensor *multiply(lam_tensor *x) {
    return lam_matmul(x, x);
}

static lam_tensor *multiply_thin(lam_tensor *x) {
    return lam_matmul(x, lam_slice_axis(x, 0, 0, 32));
}

static lam_tensor *multiply_each(lam_tensor *x) {
    return lam_matmul(x, x);
}

static lam_tensor *solve(lam_tensor *x) {
    return lam_solve(x, x);
}

static lam_tensor *sort(lam_tensor *x) {
    return lam_sort(x, 1);
}

static lam_tensor *soft(lam_tensor *x) {
    return lam_softmax(x, 1);
}

static lam_tensor *run_down(lam_tensor *x) {
    return lam_cumsum(x, 0);
}

#if defined(LAM__HAVE_FFTW)
static lam_tensor *transform(lam_tensor *x) {
    return lam_rfft(x, NULL);
}
#endif

static const struct {
    const char *name;
    lam_tensor *(*work)(lam_tensor *x);
    int64_t dims[3];
} works[] = {
    {"x + x", add, {2000, 2000}},
    {"x + x, in cache", add, {300, 300}},
    {"x + x'", add_turned, {2000, 2000}},
    {"copy of x'", copy_turned, {2000, 2000}},
    {"tanh", tanh_of, {1000, 1000}},
    {"tanh", tanh_of, {100, 200}},
    {"sum", sum, {2000, 2000}},
    {"sum of columns", sum_columns, {2000, 2000}},
    {"sum of columns", sum_columns, {400000, 10}},
    {"softmax", soft, {1000, 1000}},
    {"sort", sort, {1000, 1000}},
    {"cumsum along axis 0", run_down, {1000, 1000}},
#if defined(LAM__HAVE_FFTW)
    {"rfft of rows", transform, {1000, 1000}},
#endif
    {"matmul", multiply, {128, 128}},
    {"matmul", multiply, {256, 256}},
    {"matmul", multiply, {512, 512}},
    {"matmul", multiply, {1000, 1000}},
    {"matmul, 32 columns", multiply_thin, {50000, 32}},
    {"matmul", multiply_each, {1000, 32, 32}},
    {"solve", solve, {200, 60, 60}},
};

enum { COUNT = sizeof works / sizeof works[0], RUNS = 21 };

static double once(lam_tensor *(*work)(lam_tensor *x), lam_ctx *c, lam_tensor *x) {
    lam_scope *scope = lam_scope_begin(c);
    double start = timing_now();
    work(x);
    double time = timing_now() - start;
    lam_scope_end(scope, NULL, 0);
    return time;
}

static bool same(lam_tensor *(*work)(lam_tensor *x), lam_tensor *const x[2]) {
    lam_tensor *a = work(x[0]), *b = work(x[1]);
    size_t bytes = 8;
    for (int i = 0; i < lam_rank(a); i++) bytes *= (size_t)lam_dim(a, i);
    return memcmp(lam_data(lam_contiguous(a)), lam_data(lam_contiguous(b)), bytes) == 0;
}

static void compare(int number, int threads) {
    const int64_t *dims = works[number].dims;
    double times[2][RUNS];
    lam_ctx *c[2];
    lam_tensor *x[2];
    for (int k = 0; k < 2; k++) {
        c[k] = lam_ctx_new(&(lam_ctx_options){.threads = k ? threads : 1});
        x[k] = numbers(c[k], (lam_dims){dims[2] ? 3 : 2, dims});
        once(works[number].work, c[k], x[k]);
    }
    for (int run = 0; run < RUNS; run++)
        for (int k = 0; k < 2; k++) times[k][run] = once(works[number].work, c[k], x[k]);
    for (int k = 0; k < 2; k++) qsort(times[k], RUNS, sizeof **times, timing_compare);
    printf("%-20s %6lld x %-5lld %6lld %10.3f %10.3f %8.2f%s\n", works[number].name, (long long)dims[0],
           (long long)dims[1], (long long)dims[2], times[0][RUNS / 2] * 1e-6, times[1][RUNS / 2] * 1e-6,
           times[0][RUNS / 2] / times[1][RUNS / 2], same(works[number].work, x) ? "" : "  OTHER BITS");
    for (int k = 0; k < 2; k++) lam_ctx_free(c[k]);
}

int main(int count, char **argument) {
    const int threads = count > 1 ? atoi(argument[1]) : 2;
    printf("%-20s %22s %10s %7d threads, ms %s\n", "", "", "one", threads, "ratio");
    for (int i = 0; i < COUNT; i++) compare(i, threads);
    return 0;
}
