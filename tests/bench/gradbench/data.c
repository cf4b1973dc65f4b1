/* Data of the benchmark problems: memory that is freed at once, and a seeded generator (xoshiro256++ of Blackman and
 * Vigna, started by splitmix64), so that every run and every machine sees the same numbers. */
#include "tests/bench/gradbench/gradbench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

void *gradbench_take(gradbench_store *store, size_t bytes) {
    void *block = calloc(bytes ? bytes : 1, 1);
    if (!block || store->count == (int)(sizeof store->blocks / sizeof *store->blocks)) {
        fprintf(stderr, "gradbench: no memory for %zu bytes\n", bytes);
        exit(2);
    }
    store->blocks[store->count++] = block;
    store->bytes += bytes;
    return block;
}

void gradbench_free(gradbench_store *store) {
    while (store->count) free(store->blocks[--store->count]);
}

double *gradbench_doubles(gradbench_store *store, int64_t count) {
    return gradbench_take(store, (size_t)count * sizeof(double));
}

static uint64_t rotate(uint64_t x, int k) {
    return (x << k) | (x >> (64 - k));
}

void gradbench_seed(gradbench_store *store, uint64_t seed) {
    for (int i = 0; i < 4; i++) {
        uint64_t z = seed += 0x9e3779b97f4a7c15u;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
        z = (z ^ z >> 27) * 0x94d049bb133111ebu;
        store->state[i] = z ^ z >> 31;
    }
}

static uint64_t next_bits(gradbench_store *store) {
    uint64_t *s = store->state, result = rotate(s[0] + s[3], 23) + s[0], t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate(s[3], 45);
    return result;
}

static double next_uniform(gradbench_store *store) {
    return (double)(next_bits(store) >> 11) * 0x1p-53;
}

double *gradbench_uniform(gradbench_store *store, int64_t count, double low, double high) {
    double *x = gradbench_doubles(store, count);
    for (int64_t i = 0; i < count; i++) x[i] = low + (high - low) * next_uniform(store);
    return x;
}

/* Box and Muller's pairs; of each the first. */
double *gradbench_normal(gradbench_store *store, int64_t count) {
    double *x = gradbench_doubles(store, count);
    for (int64_t i = 0; i < count; i++) {
        double radius = sqrt(-2 * log(1 - next_uniform(store)));
        x[i] = radius * cos(6.283185307179586477 * next_uniform(store));
    }
    return x;
}

int64_t gradbench_below(gradbench_store *store, int64_t limit) {
    return (int64_t)(next_uniform(store) * (double)limit);
}

lam_fn *gradbench_fn(const gradbench_lamina *l, const char *name, lam_body body, int inputs, int outputs, void *env) {
    return lam_fn_new(l->ctx,
                      &(lam_fn_options){.name = name, .body = body, .inputs = inputs, .outputs = outputs, .env = env});
}

void gradbench_input(gradbench_lamina *l, lam_dims dims, const double *data) {
    l->in[l->inputs++] = lam_borrow(l->ctx, LAM_F64, dims, (void *)(uintptr_t)data, NULL);
}
