/* Native parts: the text of native_text.c, compiled and loaded. Pieces of it and calls of loops take turns. See
 * native.h. */
#include "lib/program/native.h"

#include "lib/base/context.h"
#include "lib/program/library.h"
#include "lib/program/native_text.h"

#include <stdio.h>
#include <string.h>

typedef int native_run(char *memory, void *const data[], int64_t first, int64_t lanes);

/* A function, or NULL: steps that are run. */
typedef struct piece {
    native_run *run;
    const lam__lane_step *steps;
    int64_t count;
} piece;

struct lam__native {
    lam_ctx *ctx;
    lam__library *library;
    bool single; /* one lane: registers are of eight bytes */
    int64_t count;
    size_t bytes; /* as allocated */
    piece pieces[];
};

/* Whether the file took it is asked by the library. The shape that lam__library_get asks for. */
static bool write_steps(FILE *file, void *env) {
    lam__native_write(file, env);
    return true;
}

/* False: a function is not there. Steps of one piece follow one another, so the first of them says where it begins, and
 * the rest is counted. */
static bool find_pieces(lam__native *n, const lam__native_source *s) {
    for (int64_t i = 0; i < s->count; i++) {
        piece *p = &n->pieces[s->piece[i]];
        char name[32];
        if (p->count++) continue;
        p->steps = &s->steps[i];
        if (s->is_run[i]) continue;
        snprintf(name, sizeof name, "lamina_%d", (int)s->piece[i]);
        void *found = lam__library_find(n->library, name);
        memcpy(&p->run, &found, sizeof found);
        if (!found) return false;
    }
    return true;
}

/* ---- public ------------------------------------------------------------------------------------------------------ */

/* Code and pieces belong together: without one of the functions there is no code at all, and steps are run one by
 * one. */
static lam__native *make(lam_ctx *ctx, lam__native_source *s) {
    const size_t bytes = sizeof(lam__native) + (size_t)s->pieces * sizeof(piece);
    lam__native *n = lam__alloc_get(&ctx->pool, bytes);
    if (!n) return NULL;
    memset(n, 0, bytes);
    *n = (lam__native){.ctx = ctx, .single = s->lanes == 1, .count = s->pieces, .bytes = bytes};
    n->library = lam__library_get(ctx, write_steps, s);
    if (n->library && find_pieces(n, s)) return n;
    lam__native_free(n);
    return NULL;
}

/* Steps and operands of steps are numbered in 32 bits. Without a step to write there is nothing to gain. */
lam__native *lam__native_new(lam_ctx *ctx, const lam__lane_step *steps, int64_t count, size_t bytes, int64_t lanes) {
    if (count < 1 || count > INT32_MAX / 16) return NULL;
    lam__native_source s = {.steps = steps, .count = count, .lanes = lanes, .registers = bytes / 8 + 1};
    const size_t room = (size_t)lam__native_words(&s) * sizeof(int32_t);
    int32_t *words = lam__alloc_get(&ctx->pool, room);
    if (!words) return NULL;
    lam__native_read(&s, words);
    lam__native *made = s.written && s.written <= LAM__NATIVE_MOST ? make(ctx, &s) : NULL;
    lam__alloc_put(&ctx->pool, words, room);
    return made;
}

/* Nothing of it may be running: the library goes with its last holder. */
void lam__native_free(lam__native *n) {
    if (!n) return;
    lam__library_release(n->ctx, n->library);
    lam__alloc_put(&n->ctx->pool, n, n->bytes);
}

/* To the end in any case: whatever odd numbers have made of the results, steps will write them again. */
bool lam__native_run(const lam__native *n, void *memory, void *const data[], int64_t first, int64_t lanes) {
    int odd = 0;
    for (const piece *p = n->pieces, *end = p + n->count; p < end; p++) {
        if (p->run) odd |= p->run(memory, data, first, lanes);
        else if (n->single) lam__kernels_lane_single(p->steps, p->count, memory, data);
        else
            lam__kernels_lane(p->steps, p->count, memory, data, first, lanes,
                              (int)((lanes + LAM__LANE_GROUP - 1) / LAM__LANE_GROUP));
    }
    return !odd;
}
