/* A trip through a while and the way back through one, split so that the one keeps what the other would compute again
 * (lib/program/residuals.h): for loops of which carries are kept as they run (nested_unwound.c). */
#include "transforms/nested.h"

#include "lib/base/context.h"
#include "lib/primitives/apply.h"
#include "lib/program/function.h"
#include "lib/program/plan.h"
#include "lib/program/prune.h"
#include "lib/program/residuals.h"
#include "lib/tensor/dtype.h"
#include "transforms/trace.h"

#include <string.h>

/* A guess, and what so many may keep. A loop may turn out to be long: then it is twenty kilobytes for each trip. */
enum { USUAL_TRIPS = 100, MOST_BYTES = 1 << 21 };

/* The trip back as a program without calls with rules, one reference; NULL where it cannot be recorded, or draws, or
 * reads values of open levels: lam_jit, which is asked then, finds the same and says so. */
static lam_status record(lam_fn *back, lam_value *const types[], const lam_jit_options *options, lam__program **made) {
    lam_ctx *ctx = back->ctx;
    const lam_random_state before = ctx->random;
    const lam__mark mark = lam__error_mark(ctx);
    const size_t values = (size_t)(back->inputs + back->outputs);
    lam_value **room = (lam_value **)(void *)lam__apply_room(ctx, values);
    lam__program *p = room ? lam__program_new(ctx, back->inputs, back->outputs) : NULL;
    *made = NULL;
    if (!p) return LAM_ERR_MEMORY;
    memset(room, 0, values * sizeof *room);
    p->keeps_loops = p->unrolls = true;
    p->native = options && options->native;
    const lam_status status = lam__trace_fn(back, p, 0, types, room, room + back->inputs);
    const bool draws = memcmp(&before, &ctx->random, sizeof before) != 0;
    ctx->random = before;
    if (status == LAM_OK && !draws && !p->sees_batch && lam__plan_fits(p)) {
        *made = lam__program_plain(p);
        return *made ? LAM_OK : LAM_ERR_MEMORY;
    }
    lam__program_release(p);
    if (status == LAM_ERR_MEMORY) return status;
    lam__error_roll_back(ctx, mark);
    return LAM_OK;
}

/* Of carries and operands behind them the trip back takes what they were before the trip, behind `taken` inputs that
 * depend on cotangents. */
static lam_status split(lam__program *there, const lam__program *back, int carries, int taken, lam__residuals *r) {
    lam__arena arena;
    lam__arena_open(&arena, there->ctx);
    lam__atom *link = lam__arena_get(&arena, (size_t)back->inputs * sizeof *link);
    for (int i = 0; link && i < back->inputs; i++)
        link[i] = (lam__atom){i < taken ? (int64_t)LAM__RESIDUALS_NONE : i - taken, NULL};
    const lam__mark mark = lam__error_mark(there->ctx);
    const bool fine =
        link && lam__residuals_split(&arena, there, back, link, USUAL_TRIPS, MOST_BYTES, taken + carries, r);
    if (!fine && lam__error_since(there->ctx, mark) == LAM_OK) lam__error_memory(there->ctx, arena.bytes);
    lam__arena_close(&arena);
    return fine ? LAM_OK : LAM_ERR_MEMORY;
}

/* *f is a function of p, which is taken over. */
static lam_status become(lam_fn **f, lam__program *p) {
    *f = lam__program_fn(p->ctx, p, (*f)->name);
    return (*f)->magic == LAM__FN ? LAM_OK : LAM_ERR_MEMORY;
}

lam_status lam__nested_split(lam_fn **body, lam_fn **back, lam_value *const types[], int carries,
                             const lam_jit_options *options, int *kept) {
    lam__program *program = NULL, *there = lam__program_of(*body);
    lam__residuals r = {NULL, NULL, 0};
    *kept = 0;
    there->refs++;
    if (!(there = lam__program_plain(there))) return LAM_ERR_MEMORY;
    lam_status status = record(*back, types, options, &program);
    if (status == LAM_OK && program) status = split(there, program, carries, (*back)->inputs - there->inputs, &r);
    *kept = r.count;
    lam__program_release(there);
    if (status != LAM_OK || !program) {
        lam__program_release(program);
        return status;
    }
    if (!r.there) return become(back, program);
    lam__program_release(program);
    status = become(body, r.there);
    const lam_status also = become(back, r.back);
    return status == LAM_OK ? also : status;
}
