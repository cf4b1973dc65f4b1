/* Running fused parts: blocks of lanes, by steps or as machine code. See fused.h. Blocks do not depend on each other,
 * so a team shares them, each worker with registers of its own. A part never writes over what it reads, so a block can
 * be run again. */
#include "lib/program/fused.h"

/* What workers are given: lanes of the whole run. */
typedef struct job {
    const lam__fused *f;
    void *const *data;
    int64_t lanes;
} job;

/* Where machine code meets a number that it does not know, steps make all of it once more: what they read is still
 * there, since no part writes over what it reads. */
static void run_lanes(const lam__fused *f, char *memory, void *const data[], int64_t first, int64_t lanes) {
    if (f->native && lam__native_run(f->native, memory, data, first, lanes)) return;
    lam__kernels_lane(f->steps, f->step_count, memory, data, first, lanes,
                      (int)((lanes + LAM__LANE_GROUP - 1) / LAM__LANE_GROUP));
}

/* Lanes of all groups of a block; of machine code the last whole group once more, up to the last lane, where some are
 * left: it knows whole groups only. */
static void run_block(const lam__fused *f, char *memory, void *const data[], int64_t first, int64_t lanes) {
    const int64_t block = (int64_t)f->groups * LAM__LANE_GROUP;
    while (lanes > 0) {
        int64_t now = lanes < block ? lanes : block;
        if (f->native && now > LAM__LANE_GROUP) now -= now % LAM__LANE_GROUP;
        run_lanes(f, memory, data, first, now);
        first += now;
        lanes -= now;
        if (f->native && lanes && lanes < LAM__LANE_GROUP) {
            first -= LAM__LANE_GROUP - lanes;
            lanes = LAM__LANE_GROUP;
        }
    }
}

/* Of machine code, what is less than a group goes to the block before it. A block of its own would have no whole group
 * to be done with. */
static int64_t blocks_of(const lam__fused *f, int64_t lanes) {
    const int64_t block = (int64_t)f->groups * LAM__LANE_GROUP, blocks = (lanes + block - 1) / block;
    return blocks > 1 && f->native && lanes - (blocks - 1) * block < LAM__LANE_GROUP ? blocks - 1 : blocks;
}

/* All workers begin with what the first one has of what is the same in all lanes: constants, and what the steps before
 * the blocks have made. */
static void run_blocks(void *env, int64_t begin, int64_t end, int worker) {
    const job *j = env;
    const lam__fused *f = j->f;
    const int64_t block = (int64_t)f->groups * LAM__LANE_GROUP, blocks = blocks_of(f, j->lanes);
    char *memory = f->memory + (size_t)worker * (f->same + f->each);
    if (worker) memcpy(memory, f->memory, f->same);
    for (int64_t b = begin; b < end; b++)
        run_block(f, memory, j->data, b * block, b + 1 < blocks ? block : j->lanes - b * block);
}

/* A team counts in halves of nanoseconds. Without steps the run before has done all there is. */
void lam__fused_run(const lam__fused *f, void *const data[], int64_t lanes) {
    if (!f->groups) {
        if (f->native && lam__native_run(f->native, f->memory, data, 0, 1)) return;
        lam__kernels_lane_single(f->steps, f->step_count, f->memory, data);
        return;
    }
    job j = {f, data, lanes};
    const int64_t blocks = blocks_of(f, lanes);
    lam__kernels_lane(f->before, f->before_count, f->memory, data, 0, LAM__LANE_GROUP, 1);
    if (f->step_count)
        lam__team_run(f->ctx->team, blocks, 2 * f->cost / (double)blocks_of(f, f->lanes), run_blocks, &j);
}
