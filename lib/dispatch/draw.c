/* Draws: see draw.h. At the bottom a draw is Threefry (Salmon et al., Parallel random numbers: as easy as 1, 2, 3,
 * 2011) of a key and the numbers of its elements, so any part can be made apart and in parallel, with the same bits. */
#include "lib/dispatch/draw.h"

#include "lib/dispatch/level.h"
#include "lib/parallel/parallel.h"
#include "lib/tensor/dtype.h"

#include <lamina/context.h>

/* For what a user asks for: level by level it may become a part of a wider draw. */
lam__draw lam__draw_whole(const char *operation, const lam__random *what, lam_dims dims) {
    lam__draw d = {.operation = operation, .what = *what, .rank = dims.rank};
    for (int i = 0; i < dims.rank; i++) d.dims[i] = d.whole[i] = dims.dims[i];
    return d;
}

/* ---- the generator ----------------------------------------------------------------------------------------------- */

/* The 64 bits of a seed's key at a counter. */
static uint64_t hashed(uint64_t seed, uint64_t counter) {
    static const lam__random wide = {.form = LAM__RANDOM_WIDE};
    uint64_t bits;
    lam__kernels_random(&wide, (uint32_t[]){(uint32_t)(seed >> 32), (uint32_t)seed}, counter, 1, &bits);
    return bits;
}

/* Two steps of hashing: streams of one state differ from each other and from the draws of the state itself. */
lam_random_state lam__draw_stream(lam_random_state of, uint64_t number) {
    return (lam_random_state){.seed = hashed(hashed(of.seed, of.draws), number)};
}

/* Leading axes of which only a part may be wanted; behind them elements follow each other as in the whole. */
static int outer_axes(const lam__draw *d) {
    int outer = d->rank;
    while (outer > 0 && d->dims[outer - 1] == d->whole[outer - 1]) outer--;
    return outer;
}

/* The place in the whole of run number r, of `length` elements. */
static uint64_t place_of(const lam__draw *d, int outer, int64_t r, int64_t length) {
    uint64_t place = 0, stride = (uint64_t)length;
    for (int i = outer - 1; i >= 0; i--) {
        place += stride * (uint64_t)(d->start[i] + r % d->dims[i]);
        stride *= (uint64_t)d->whole[i];
        r /= d->dims[i];
    }
    return place;
}

/* Room for what is drawn. No primitive is applied here that a refusal could name: the operation stands in for one. */
static lam_value *room_for(lam_ctx *ctx, const lam__draw *d, lam_dtype dtype, int rank, const int64_t *dims) {
    const lam_primitive stand_in = {.name = d->operation};
    const lam_call_site site = {.ctx = ctx, .primitive = &stand_in}, *saved = ctx->calling;
    if (d->operation) ctx->calling = &site;
    lam_value *out = lam__value_new(ctx, dtype, rank, dims);
    ctx->calling = saved;
    return out;
}

/* Counts one draw, however large. Elements lie in runs that are contiguous in the whole: the axes behind outer_axes are
 * complete, so each run is one call of the kernel. Pairs have a last axis of 2 more. */
static lam_value *draw_here(lam_ctx *ctx, const lam__draw *d) {
    int64_t dims[LAM_INNER_RANK + 1], length = 1, runs = 1;
    bool pairs = d->what.form == LAM__RANDOM_PAIRS;
    for (int i = 0; i < d->rank; i++) dims[i] = d->dims[i];
    dims[d->rank] = 2;
    lam_dtype dtype = lam__kernels_random_dtype(d->what.form);
    lam_value *out = room_for(ctx, d, dtype, d->rank + pairs, dims);
    if (!out) return NULL;
    const uint64_t bits = hashed(ctx->random.seed, ctx->random.draws++);
    ctx->drawn++;
    const uint32_t key[2] = {(uint32_t)(bits >> 32), (uint32_t)bits};
    int outer = outer_axes(d);
    for (int i = 0; i < d->rank; i++) *(i < outer ? &runs : &length) *= d->dims[i];
    size_t bytes = (size_t)length * lam__dtype_bytes(dtype) * (pairs ? 2 : 1);
    for (int64_t r = 0; r < runs && length; r++)
        lam__parallel_random(ctx->team, &d->what, key, place_of(d, outer, r, length), length,
                             (char *)out->data + (size_t)r * bytes);
    return out;
}

/* ---- levels ------------------------------------------------------------------------------------------------------ */

/* An interpreter that takes the draw calls this again, with its parent current, for what it wants from below. */
lam_value *lam__draw_make(lam_ctx *ctx, const lam__draw *d) {
    lam__level *level = ctx->current;
    while (level && !level->interpreter->draw) level = level->parent;
    if (!level) return draw_here(ctx, d);
    lam__level *saved = ctx->current;
    ctx->current = level->parent;
    lam_value *out = level->interpreter->draw(level, d);
    ctx->current = saved;
    return out;
}

void lam_ctx_seed(lam_ctx *ctx, uint64_t seed) {
    lam_ctx_set_random_state(ctx, (lam_random_state){.seed = seed});
}

lam_random_state lam_ctx_random_state(const lam_ctx *ctx) {
    return ctx ? ctx->random : (lam_random_state){0};
}

/* The static failed context is in read-only memory and stays as it is. */
void lam_ctx_set_random_state(lam_ctx *ctx, lam_random_state state) {
    if (ctx && ctx != &lam__context_failed) ctx->random = state;
}
