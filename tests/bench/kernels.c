/* What the elementwise kernels cost: nanoseconds per element of every loop at n = 1, 64, 1,000 and 1,000,000, of
 * the driver and of copies on shapes that are not contiguous. Medians of nine; prints only, nothing is judged.
 * What has no vector form is timed up to 2,000. Arguments: dtype number (default 0, f64). */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "lib/kernels/simd/simd.h"

enum { MOST = 1000000, MOST_SLOW = 2000, RUNS = 9, OPERANDS = 4 };

static const char *const names[] = {
#define LAM__LOOP(name, inputs, kind) #name,
#include "lib/kernels/elementwise.def"
#undef LAM__LOOP
};

static double memory[OPERANDS][MOST];

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* What is timed: one call and the number of elements it computes. */
typedef struct job {
    void (*call)(const struct job *);
    lam__loop *loop;
    int64_t n, parameter; /* parameter: what the loop is told */
    int rank, operands;
    int64_t dims[3], strides[OPERANDS][3];
} job;

/* Median time per element; as many calls at a time as make some 100 microseconds. */
static double measure(const job *j) {
    double times[RUNS];
    int64_t calls = 1 + 50000 / j->n;
    for (int run = 0; run < RUNS; run++) {
        double start = now();
        for (int64_t i = 0; i < calls; i++) j->call(j);
        times[run] = (now() - start) / (double)(calls * j->n);
    }
    qsort(times, RUNS, sizeof *times, compare);
    return times[RUNS / 2];
}

static void call_loop(const job *j) {
    static const int64_t ones[OPERANDS] = {1, 1, 1, 1};
    j->loop(j->n, (void *[]){memory[0], memory[1], memory[2], memory[3]}, ones, &j->parameter);
}

static void call_driver(const job *j) {
    const int64_t *strides[] = {j->strides[0], j->strides[1], j->strides[2], j->strides[3]};
    static const size_t item[OPERANDS] = {8, 8, 8, 8};
    lam__kernels_elementwise(j->loop, j->operands, j->rank, j->dims, strides,
                             (void *[]){memory[0], memory[1], memory[2], memory[3]}, item, NULL);
}

/* Numbers in (0.5, 1.5), in the domain of nearly every function; small positive integers. */
static void fill(lam_dtype dtype) {
    for (int k = 1; k < OPERANDS; k++)
        for (int i = 0; i < MOST; i++) {
            int64_t x = 1 + (i * 7919LL + k * 104729) % 97;
            double y = 0.5 + (double)x / 97;
            switch (dtype) {
            case LAM_F64: memory[k][i] = y; break;
            case LAM_F32: ((float *)memory[k])[i] = (float)y; break;
            case LAM_I64: ((int64_t *)memory[k])[i] = x; break;
            case LAM_I32: ((int32_t *)memory[k])[i] = (int32_t)x; break;
            default: ((uint8_t *)memory[k])[i] = (uint8_t)x & 1; break;
            }
        }
}

static void print_loops(lam_dtype dtype) {
    static const int64_t sizes[] = {1, 64, 1000, MOST};
    printf("ns per element, set %s\n%-12s%10s%10s%10s%10s\n", lam__elementwise_simd()->name, "", "1", "64", "1000",
           "1e6");
    for (int id = 0; id < LAM__LOOP_COUNT; id++) {
        job j = {.call = call_loop, .loop = lam__kernels_loop((lam__loop_id)id, dtype)};
        if (!j.loop) continue;
        bool slow = !lam__elementwise_simd()->loop((lam__loop_id)id, dtype); /* one by one, up to microseconds each */
        j.parameter = id == LAM__LOOP_integer_pow ? 3 : 0;
        printf("%-12s", names[id]);
        for (int k = 0; k < 4; k++) {
            j.n = slow && sizes[k] > MOST_SLOW ? MOST_SLOW : sizes[k];
            printf("%10.3f", measure(&j));
        }
        printf("\n");
    }
}

static void print_shapes(void) {
    const struct {
        const char *what;
        job j;
    } shapes[] = {
        {"rank 0", {.n = 1, .rank = 0}},
        {"[4] contiguous", {.n = 4, .rank = 1, .dims = {4}, .strides = {{1}, {1}, {1}}}},
        {"[8, 8] contiguous", {.n = 64, .rank = 2, .dims = {8, 8}, .strides = {{8, 1}, {8, 1}, {8, 1}}}},
        {"[1000, 1000] contiguous",
         {.n = MOST, .rank = 2, .dims = {1000, 1000}, .strides = {{1000, 1}, {1000, 1}, {1000, 1}}}},
        {"[1000, 1000] + row", {.n = MOST, .rank = 2, .dims = {1000, 1000}, .strides = {{1000, 1}, {1000, 1}, {0, 1}}}},
        {"[1000, 1000] + column",
         {.n = MOST, .rank = 2, .dims = {1000, 1000}, .strides = {{1000, 1}, {1000, 1}, {1, 0}}}},
        {"[1000, 1000] + transposed",
         {.n = MOST, .rank = 2, .dims = {1000, 1000}, .strides = {{1000, 1}, {1000, 1}, {1, 1000}}}},
        {"[100000, 3] + [3]", {.n = 300000, .rank = 2, .dims = {100000, 3}, .strides = {{3, 1}, {3, 1}, {0, 1}}}},
        {"[3, 100000] + [3, 1]",
         {.n = 300000, .rank = 2, .dims = {3, 100000}, .strides = {{100000, 1}, {100000, 1}, {1, 0}}}},
    };
    printf("\nns per element of the driver, two f64 operands\n%-28s%10s%10s\n", "", "add", "pow");
    for (int i = 0; i < (int)(sizeof shapes / sizeof *shapes); i++) {
        printf("%-28s", shapes[i].what);
        for (int k = 0; k < 2; k++) {
            job j = shapes[i].j;
            j.call = call_driver;
            j.operands = 3;
            j.loop = lam__kernels_loop(k ? LAM__LOOP_pow : LAM__LOOP_add, LAM_F64);
            printf("%10.3f", measure(&j));
        }
        printf("\n");
    }
}

static void call_transpose(const job *j) {
    lam__kernels_copy(2, j->dims, LAM_F64, memory[0], (int64_t[]){1000, 1}, LAM_F64, memory[1], j->strides[1]);
}

int main(int argc, char **argv) {
    int dtype = argc > 1 ? atoi(argv[1]) : LAM_F64;
    if (dtype < 0 || dtype >= LAM_DTYPE_COUNT) return EXIT_FAILURE;
    fill((lam_dtype)dtype);
    print_loops((lam_dtype)dtype);
    fill(LAM_F64);
    print_shapes();
    job copies = {.call = call_transpose, .n = MOST, .dims = {1000, 1000}, .strides = {{0}, {1000, 1}}};
    printf("\n%-28s%10.3f\n", "copy [1000, 1000]", measure(&copies));
    copies.strides[1][0] = 1;
    copies.strides[1][1] = 1000;
    printf("%-28s%10.3f\n", "copy transposed", measure(&copies));
    return EXIT_SUCCESS;
}
