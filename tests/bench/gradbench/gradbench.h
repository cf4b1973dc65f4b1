/* The problems by which the field measures automatic differentiation (ADBench, GradBench), each written three times: as
 * a Lamina program, as a plain C objective, and as a derivative of it in C by hand. The last two are the oracle and the
 * opponent. A problem is one const struct in a file of its own; driver.c runs them all and knows none of them. */
#ifndef LAM_TESTS_BENCH_GRADBENCH_H
#define LAM_TESTS_BENCH_GRADBENCH_H

#include <lamina/lamina.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GRADBENCH_SIZES = 6, GRADBENCH_INPUTS = 8, GRADBENCH_OUTPUTS = 8 };

/* When a size runs: always; also as a test, being small; with --all or by its label only. */
typedef enum gradbench_when { USUAL, CHECKED, ASKED } gradbench_when;

/* One size of a problem: what the numbers mean is the problem's. */
typedef struct gradbench_size {
    const char *label; /* "d10 k25 n1000"; NULL ends a list */
    gradbench_when when;
    int64_t n[GRADBENCH_SIZES];
} gradbench_size;

/* Memory and random numbers of one instance. What is taken from it is freed with it. */
typedef struct gradbench_store {
    void *blocks[64];
    int count;
    size_t bytes; /* of data handed out so far */
    uint64_t state[4];
} gradbench_store;

void gradbench_free(gradbench_store *store);
void gradbench_seed(gradbench_store *store, uint64_t seed);
void *gradbench_take(gradbench_store *store, size_t bytes); /* zeroed; ends the program when memory is lacking */
double *gradbench_doubles(gradbench_store *store, int64_t count);
double *gradbench_normal(gradbench_store *store, int64_t count);                           /* standard normal */
double *gradbench_uniform(gradbench_store *store, int64_t count, double low, double high); /* [low, high) */
int64_t gradbench_below(gradbench_store *store, int64_t limit);                            /* 0 .. limit - 1 */

/* What a problem hands to the driver of its Lamina form. Outputs of each function, one after the other, are what the C
 * form writes. Scope and context are the driver's. */
typedef struct gradbench_lamina {
    lam_ctx *ctx;
    lam_fn *objective, *derivative;
    lam_tensor *in[GRADBENCH_INPUTS];
    int inputs;
    bool compiled; /* the functions will be compiled: batches are not to be cut for the caches */
} gradbench_lamina;

typedef struct gradbench_problem {
    const char *name;
    const char *derivative; /* what is computed: "gradient" */
    const gradbench_size *sizes;

    /* The data of one size. values and derivatives: doubles that the functions below write. */
    void *(*make)(gradbench_store *store, const gradbench_size *size, int64_t *values, int64_t *derivatives);
    void (*objective_c)(const void *data, double *out);
    void (*derivative_c)(const void *data, double *out);
    void (*lamina)(void *data, gradbench_lamina *l);
    bool (*places)(const void *data, const double *derivative); /* sparse ones: they are where they belong; or NULL */
} gradbench_problem;

extern const gradbench_problem gradbench_gmm, gradbench_ba, gradbench_lstm, gradbench_ht, gradbench_lse, gradbench_llsq,
    gradbench_kmeans, gradbench_det, gradbench_ode, gradbench_saddle, gradbench_particle;

/* ---- for the problems -------------------------------------------------------------------------------------------- */

/* A function of the given body over the instance's data. */
lam_fn *gradbench_fn(const gradbench_lamina *l, const char *name, lam_body body, int inputs, int outputs, void *env);

/* The C data as an input, without a copy. */
void gradbench_input(gradbench_lamina *l, lam_dims dims, const double *data);

/* Examples of a batch to be done at once: `rows`, or all (0) in functions that are compiled. */
static inline int64_t gradbench_chunk(const gradbench_lamina *l, int64_t rows) {
    return l->compiled ? 0 : rows;
}

/* A function that sums the outputs of f over blocks of `rows` along axis 0 of its inputs from `first` on. */
lam_fn *gradbench_blocks(const gradbench_lamina *l, lam_fn *f, int first, int64_t rows);

#endif
