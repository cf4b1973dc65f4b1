/* The clock of the benchmarks: a warm-up, then the median of some runs of a piece of work. Medians, because the
 * machines that this runs on are shared; ratios of medians taken in one run, because their speeds differ. */
#ifndef LAM_TESTS_BENCH_TIMING_H
#define LAM_TESTS_BENCH_TIMING_H

#include <stdlib.h>
#include <time.h>

enum { TIMING_MOST = 101 };

static inline double timing_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static inline int timing_compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Median nanoseconds of `runs` calls of work(env), each of which repeats it `repeats` times. */
static inline double timing_median(void (*work)(void *env), void *env, int runs, int repeats) {
    double times[TIMING_MOST];
    if (runs > TIMING_MOST) runs = TIMING_MOST;
    work(env);
    for (int run = 0; run < runs; run++) {
        double start = timing_now();
        for (int i = 0; i < repeats; i++) work(env);
        times[run] = (timing_now() - start) / repeats;
    }
    qsort(times, (size_t)runs, sizeof *times, timing_compare);
    return times[runs / 2];
}

#endif
