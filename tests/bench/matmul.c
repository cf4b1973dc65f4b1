/* lam_matmul against a plain cblas_dgemm into memory that is there already, by size; and batches of 1000 small products
 * under vmap against a loop of dgemm and against a plain C loop; three ways to write one product; and products of tall
 * matrices, transposed, with themselves. Nanoseconds per product and ratios. Prints only. */
#define _POSIX_C_SOURCE 200809L
#include <cblas.h>
#include <lamina/lamina.h>
#include <stdio.h>

#include "tests/bench/timing.h"

enum { BATCH = 1000, LARGEST = 512, RUNS = 15 };

typedef struct job {
    int n, batch;
    double *a, *b, *c;
    lam_ctx *ctx;
    lam_fn *f;
    lam_tensor *x, *y;
} job;

static void body_matmul(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    (void)ctx, (void)env;
    out[0] = lam_matmul(in[0], in[1]);
}

static void by_lamina(void *env) {
    job *j = env;
    if (j->batch > 1) {
        lam_drop(lam_apply(j->f, LAM_LIST(j->x, j->y)));
        return;
    }
    lam_drop(lam_matmul(j->x, j->y));
}

static void by_axes(void *env) {
    job *j = env;
    lam_drop(
        lam_dot_general(j->x, j->y, &(lam_dot_general_options){.contract_x = LAM_AXES(1), .contract_y = LAM_AXES(0)}));
}

static void by_letters(void *env) {
    job *j = env;
    lam_drop(lam_einsum("ij,jk->ik", LAM_LIST(j->x, j->y)));
}

static void by_other_letters(void *env) {
    job *j = env;
    lam_drop(lam_einsum("...ij,...jk", LAM_LIST(j->x, j->y)));
}

static void by_dgemm(void *env) {
    job *j = env;
    int n = j->n;
    for (int i = 0; i < j->batch; i++) {
        size_t at = (size_t)i * (size_t)n * (size_t)n;
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, j->a + at, n, j->b + at, n, 0, j->c + at, n);
    }
}

static void product(int n, const double *a, const double *b, double *c) {
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < n; k++) c[i * n + k] = 0;
        for (int l = 0; l < n; l++)
            for (int k = 0; k < n; k++) c[i * n + k] += a[i * n + l] * b[l * n + k];
    }
}

static void by_loops(void *env) {
    job *j = env;
    for (int i = 0; i < j->batch; i++) {
        size_t at = (size_t)i * (size_t)j->n * (size_t)j->n;
        product(j->n, j->a + at, j->b + at, j->c + at);
    }
}

static void compare(job *j, int n, int batch) {
    lam_scope *scope = lam_scope_begin(j->ctx);
    j->n = n;
    j->batch = batch;
    lam_dims dims = batch > 1 ? LAM_DIMS(batch, n, n) : LAM_DIMS(n, n);
    j->x = lam_array(j->ctx, LAM_F64, dims, j->a);
    j->y = lam_array(j->ctx, LAM_F64, dims, j->b);
    double work = (double)batch * n * n * n;
    int repeats = work > 1e6 ? 1 : (int)(1 + 2e6 / (work + 1000));
    double lamina = timing_median(by_lamina, j, RUNS, repeats) / batch;
    double dgemm = timing_median(by_dgemm, j, RUNS, repeats) / batch;
    double loops = n <= 64 ? timing_median(by_loops, j, RUNS, repeats) / batch : 0;
    printf("%5d%12.0f%12.0f%9.2f", n, lamina, dgemm, lamina / dgemm);
    if (loops > 0) printf("%12.0f%9.2f", loops, lamina / loops);
    printf("\n");
    lam_scope_end(scope, NULL, 0);
}

static void compare_ways(job *j, int n) {
    lam_scope *scope = lam_scope_begin(j->ctx);
    j->batch = 1;
    j->x = lam_array(j->ctx, LAM_F64, LAM_DIMS(n, n), j->a);
    j->y = lam_array(j->ctx, LAM_F64, LAM_DIMS(n, n), j->b);
    const int repeats = (int)(1 + 2e6 / ((double)n * n * n + 1000));
    printf("%5d%12.0f%14.0f%14.0f%14.0f\n", n, timing_median(by_lamina, j, RUNS, repeats),
           timing_median(by_axes, j, RUNS, repeats), timing_median(by_letters, j, RUNS, repeats),
           timing_median(by_other_letters, j, RUNS, repeats));
    lam_scope_end(scope, NULL, 0);
}

/* transpose(x) x, of an x of `rows` rows. */
static void by_gram(void *env) {
    job *j = env;
    lam_drop(lam_matmul(lam_transpose(j->x, LAM_AXES(1, 0)), j->x));
}

static void by_gram_dgemm(void *env) {
    job *j = env;
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, j->n, j->n, j->batch, 1, j->a, j->n, j->a, j->n, 0, j->c,
                j->n);
}

static void compare_gram(job *j, int n, int rows) {
    lam_scope *scope = lam_scope_begin(j->ctx);
    j->n = n, j->batch = rows;
    j->x = lam_array(j->ctx, LAM_F64, LAM_DIMS(rows, n), j->a);
    const double lamina = timing_median(by_gram, j, RUNS, 1), dgemm = timing_median(by_gram_dgemm, j, RUNS, 1);
    printf("%5d%10d%12.0f%12.0f%9.2f\n", n, rows, lamina, dgemm, lamina / dgemm);
    lam_scope_end(scope, NULL, 0);
}

int main(void) {
    static const int sizes[] = {1, 2, 3, 4, 6, 8, 12, 16, 32, 64, 128, 256, LARGEST},
                     small[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32};
    size_t room = (size_t)BATCH * 32 * 32;
    job j = {.ctx = lam_ctx_new(NULL)};
    double *memory = malloc(3 * room * sizeof *memory);
    if (!memory) return EXIT_FAILURE;
    j.a = memory, j.b = memory + room, j.c = memory + 2 * room;
    for (size_t i = 0; i < 3 * room; i++) memory[i] = 1.0 / (double)(1 + i % 97);
    lam_fn *f = lam_fn_new(j.ctx, &(lam_fn_options){.name = "matmul", .body = body_matmul, .inputs = 2, .outputs = 1});
    j.f = lam_vmap(f, NULL);
    printf("one product, ns\n%5s%12s%12s%9s%12s%9s\n", "n", "lamina", "dgemm", "ratio", "C loops", "ratio");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) compare(&j, sizes[i], 1);
    printf("\nvmap over %d, ns per product\n", BATCH);
    for (size_t i = 0; i < sizeof small / sizeof *small; i++) compare(&j, small[i], BATCH);
    printf("\none product, ns\n%5s%12s%14s%14s%14s\n", "n", "matmul", "dot_general", "ij,jk->ik", "...ij,...jk");
    for (size_t i = 0; i < 9; i++) compare_ways(&j, sizes[i]);
    printf("\ntranspose(x) x, ns\n%5s%10s%12s%12s%9s\n", "n", "rows", "lamina", "dgemm", "ratio");
    for (size_t i = 4; i < 10; i++)
        for (int rows = 1000; rows * sizes[i] <= (int)room; rows *= 5) compare_gram(&j, sizes[i], rows);
    if (lam_status_of(j.ctx) != LAM_OK) fprintf(stderr, "%s\n", lam_error(j.ctx));
    lam_ctx_free(j.ctx);
    free(memory);
    return EXIT_SUCCESS;
}
