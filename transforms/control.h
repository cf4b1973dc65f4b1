/* What control flow has in common: functions and their operands as they come in, carries that must keep their types,
 * functions that run for some examples alone. */
#ifndef LAM_TRANSFORMS_CONTROL_H
#define LAM_TRANSFORMS_CONTROL_H

#include "lib/dispatch/fn.h"
#include "transforms/lanes.h"

#include <lamina/control.h>

/* A call of one of these operations: its scope, and room for its results. */
typedef struct lam__control {
    const char *what;
    lam_ctx *ctx;
    lam_scope scope;
    lam__mark mark;
    lam_fn *const *fns; /* held */
    size_t count;
    lam_tensor **out; /* the caller's */
    size_t n_out;
} lam__control;

/* Opens the call. The functions tell the context, or where all are missing the operands. False after recording what is
 * wrong; out is failed then, and *status what the operation gives. */
bool lam__control_begin(lam__control *c, const char *what, size_t count, lam_fn *const fns[], lam_list in,
                        lam_tensor **out, size_t n_out, lam_status *status);

/* Whether f, function number i of the operation, may be called in the context; otherwise records why not. */
bool lam__control_check_fn(lam_ctx *ctx, const char *what, lam_fn *f, size_t i);

/* Closes it: results[] are given, which are NULL or failed after a failure. */
lam_status lam__control_end(lam__control *c, lam_tensor *const results[]);

/* Whether the lists hold live tensors of the context; records what is wrong. copies gets handles of the call's own: all
 * of them where this is true. */
bool lam__control_operands(lam__control *c, const char *which, lam_list list, lam_tensor *copies[]);

/* Whether f takes and gives so many; otherwise records it. */
bool lam__control_arity(lam__control *c, const lam_fn *f, size_t inputs, size_t outputs);

/* Whether x is a truth value of rank 0, brought to i64 0 or 1; otherwise records it. */
lam_tensor *lam__control_truth(lam__control *c, const lam_fn *f, lam_tensor *x);

/* Whether next[] have the types of now[]; otherwise lists all that have not, from axis `from` on (before it: lanes). */
bool lam__control_same(lam__control *c, const lam_fn *f, size_t n, lam_tensor *const now[], lam_tensor *const next[],
                       int from);

/* A function with its operands, those that go with lanes opened. in[]: inputs, then captures. */
typedef struct lam__task {
    lam_fn *f;
    lam_tensor **in;
    bool *mapped;
    size_t inputs;
} lam__task;

/* Room for a task, and its captures, opened; its inputs are set by the caller. False without memory. */
bool lam__control_task(lam__control *c, const lam__crew *crew, lam_fn *f, lam__task *task);

/* Operand i of a task as it is, or opened where it goes with lanes. False after a failure. */
bool lam__control_set(const lam__crew *crew, lam__task *task, size_t i, lam_tensor *x);

/* The captures of f, which have a say in what lanes there are. */
void lam__control_add_captures(lam__crew *crew, lam_fn *f);

/* Parts of the lanes put together in the order of all: parts[p * stride] holds lanes order[...], one part after the
 * other. place: for each lane, where it is. */
lam_tensor *lam__control_join(lam__control *c, size_t parts, lam_tensor *const part[], size_t stride,
                              const int64_t place[], int64_t size);

#endif
