/* Sums over data in blocks: what a user writes who wants the sum, or its gradient, without holding what all of the data
 * would need at once. */
#include "tests/bench/gradbench/gradbench.h"

#include <stdlib.h>

typedef struct blocks {
    lam_fn *f;
    int first;
    int64_t rows;
} blocks;

static void body_blocks(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    const blocks *b = env;
    int inputs = lam_fn_inputs(b->f), outputs = lam_fn_outputs(b->f);
    int64_t all = lam_dim(in[b->first], 0);
    for (int64_t at = 0; at < all; at += b->rows) {
        lam_scope *scope = lam_scope_begin(ctx);
        lam_tensor *part[GRADBENCH_INPUTS], *sum[GRADBENCH_OUTPUTS];
        for (int i = 0; i < inputs; i++)
            part[i] = i < b->first ? in[i] : lam_slice_axis(in[i], 0, at, at + b->rows < all ? at + b->rows : all);
        lam_call(b->f, (lam_list){(size_t)inputs, part}, sum, (size_t)outputs);
        for (int o = 0; o < outputs; o++) {
            if (at) lam_add_(out[o], sum[o]);
            else out[o] = sum[o];
        }
        lam_scope_end(scope, out, at ? 0 : (size_t)outputs);
    }
}

static void release(void *env) {
    lam_fn_release(((blocks *)env)->f);
    free(env);
}

lam_fn *gradbench_blocks(const gradbench_lamina *l, lam_fn *f, int first, int64_t rows) {
    blocks *b = malloc(sizeof *b);
    if (!b) abort();
    *b = (blocks){lam_fn_hold(f), first, rows};
    return lam_fn_new(l->ctx, &(lam_fn_options){.name = lam_fn_name(f),
                                                .body = body_blocks,
                                                .inputs = lam_fn_inputs(f),
                                                .outputs = lam_fn_outputs(f),
                                                .env = b,
                                                .env_free = release});
}
