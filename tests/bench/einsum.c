/* lam_einsum beside the one call that does the same, on small operands, where what is not arithmetic decides: medians
 * of nanoseconds per call, in turns, and the ratio. `two sizes`: operands of two sizes take turns at one line of the
 * program, as in a model whose layers share a function. Prints only. */
#define _POSIX_C_SOURCE 200809L
#include <lamina/lamina.h>
#include <stdio.h>

#include "tests/bench/timing.h"

enum { ROUNDS = 101, REPEATS = 2000, MOST = 3 };

static lam_tensor *product(lam_tensor *const x[2]) {
    return lam_matmul(x[0], x[1]);
}

static lam_tensor *by_axes(lam_tensor *const x[2]) {
    return lam_dot_general(x[0], x[1],
                           &(lam_dot_general_options){.contract_x = LAM_AXES(1), .contract_y = LAM_AXES(0)});
}

static lam_tensor *elements(lam_tensor *const x[2]) {
    return lam_mul(x[0], x[1]);
}

static lam_tensor *rows(lam_tensor *const x[2]) {
    return lam_sum(x[0], &(lam_reduce_options){.axes = LAM_AXES(1)});
}

static lam_tensor *all(lam_tensor *const x[2]) {
    return lam_sum(x[0], NULL);
}

static lam_tensor *turned(lam_tensor *const x[2]) {
    return lam_transpose(x[0], LAM_AXES(1, 0));
}

typedef struct way {
    const char *name, *text;
    lam_tensor *(*explicit_one)(lam_tensor *const x[2]);
    int operands, rank[2];
} way;

static const way ways[] = {
    {"matmul", "ij,jk->ik", product, 2, {2, 2}},      {"matmul, a vector", "ij,j->i", product, 2, {2, 1}},
    {"matmul, vectors", "i,i->", product, 2, {1, 1}}, {"matmul, stacks", "bij,bjk->bik", product, 2, {3, 3}},
    {"dot_general", "ij,jk->ik", by_axes, 2, {2, 2}}, {"mul", "ij,ij->ij", elements, 2, {2, 2}},
    {"mul, vectors", "i,i->i", elements, 2, {1, 1}},  {"sum", "ij->i", rows, 1, {2, 0}},
    {"sum of all", "ij->", all, 1, {2, 0}},           {"transpose", "ij->ji", turned, 1, {2, 0}},
};

/* Nanoseconds of calls of both kinds, in turns. x: `sizes` pairs of operands. */
static void measure(const way *w, lam_tensor *x[][2], int sizes, double median[2]) {
    double times[2][ROUNDS];
    for (int round = 0; round < 2 * ROUNDS; round++) {
        const double start = timing_now();
        for (int i = 0; i < REPEATS; i++) {
            lam_tensor *const *in = x[i % sizes];
            lam_drop(round % 2 ? lam_einsum(w->text, (lam_list){(size_t)w->operands, in}) : w->explicit_one(in));
        }
        times[round % 2][round / 2] = (timing_now() - start) / REPEATS;
    }
    for (int kind = 0; kind < 2; kind++) {
        qsort(times[kind], ROUNDS, sizeof **times, timing_compare);
        median[kind] = times[kind][ROUNDS / 2];
    }
}

static lam_tensor *filled(lam_ctx *ctx, int rank, int64_t n) {
    const int64_t dims[MOST] = {n, n, n};
    return lam_contiguous(lam_full(ctx, LAM_F64, (lam_dims){rank, dims}, 0.5));
}

int main(void) {
    static const int64_t sizes[][2] = {{2, 2}, {4, 4}, {8, 8}, {16, 16}, {4, 3}};
    lam_ctx *ctx = lam_ctx_new(NULL);
    printf("%-18s%-14s%12s%10s%10s%8s\n", "", "subscripts", "n", "one call", "einsum", "ratio");
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            const way *w = &ways[i];
            lam_scope *scope = lam_scope_begin(ctx);
            lam_tensor *x[2][2];
            for (int k = 0; k < 4; k++) x[k / 2][k % 2] = filled(ctx, w->rank[k % 2], sizes[s][k / 2]);
            const bool same = sizes[s][0] == sizes[s][1];
            double ns[2];
            measure(w, x, same ? 1 : 2, ns);
            printf("%-18s%-14s%6d%6s%10.1f%10.1f%8.2f\n", w->name, w->text, (int)sizes[s][0], same ? "" : "and 3",
                   ns[0], ns[1], ns[1] / ns[0]);
            lam_scope_end(scope, NULL, 0);
        }
    if (lam_status_of(ctx) != LAM_OK) fprintf(stderr, "%s\n", lam_error(ctx));
    lam_ctx_free(ctx);
    return EXIT_SUCCESS;
}
