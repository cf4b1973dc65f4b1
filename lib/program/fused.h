/* Fused parts of a program: the graph of a region as a list of steps on registers, which stay in the first cache while
 * a block of lanes goes through all of them. Nothing is allocated when one is run. */
#ifndef LAM_PROGRAM_FUSED_H
#define LAM_PROGRAM_FUSED_H

#include "lib/kernels/lane.h"
#include "lib/program/native.h"
#include "lib/program/fused_order.h"

/* Registers lie in one memory for each worker: first what is the same in all lanes, of which the constants are set
 * once, then those of a block. */
typedef struct lam__fused {
    lam_ctx *ctx;
    int64_t lanes;
    int groups;                     /* of a block; 0: one lane, without vectors */
    bool by_rows;                   /* steps go along the data (NOTE [orders]) */
    lam__lane_step *before, *steps; /* what is the same in all lanes; what is done for each block */
    int64_t before_count, step_count;
    size_t before_bytes, step_bytes; /* as allocated */
    size_t same, each;               /* bytes of the registers of one worker */
    void *params;                    /* those of all steps */
    size_t params_bytes;
    char *memory;
    int workers;
    lam__native *native; /* NULL: steps are run one by one */
    double cost;         /* of a run on one thread, in nanoseconds; estimated */
    double called;       /* of these, what machine code does not change: calls of loops, steps before */
} lam__fused;

/* NULL, with nothing recorded, without memory. */
lam__fused *lam__fused_new(const lam__region *r, const lam__target targets[], int64_t count);
void lam__fused_free(lam__fused *f);

/* Of one lane: as machine code, where that works out. */
void lam__fused_compile(lam__fused *f);

/* The first `lanes` lanes, of which there are at least as many as a group has or the part. data: of the sources, then
 * of what is written, without gaps. */
void lam__fused_run(const lam__fused *f, void *const data[], int64_t lanes);

/* Nanoseconds that a loop takes for an element, roughly. */
double lam__fused_loop_cost(lam__loop_id id);

/* Of a lane: what a step of such a loop takes beside reading and writing. */
double lam__fused_lane_cost(lam__loop_id id, lam__lane_op op);

#endif
