/* Choices and loops as equations: the rows switch, while and scan, whose parameters are functions
 * (lib/program/nested.h). Their derivatives and batches are applications of the same rows to derivatives and batches of
 * the functions, so that a program of a gradient is again one that can be printed, read, compiled and written as C.
 * Only the way back through a loop that ends when it wants is left to the run. */
#ifndef LAM_TRANSFORMS_NESTED_H
#define LAM_TRANSFORMS_NESTED_H

#include "lib/program/nested.h"

#include <lamina/program.h>

extern const lam_primitive lam__row_switch, lam__row_while, lam__row_scan;

/* All of them, up to a NULL. */
extern const lam_primitive *const lam__nested_rows[];

/* The program that x is a variable of, as far as its elements are concerned; boxes are opened as for reading. NULL:
 * none. */
const lam__program *lam__nested_program_at(const lam_value *x);

/* Applies a row; name: of the operation, as its user knows it. Where an operand is traced the functions are made
 * programs first: NOTE [values found outside]. One reference per result. */
lam_status lam__nested_apply(const char *name, const lam_call_site *call, lam_value *out[]);

/* The call as a function of its operands, made of calls of the functions as the public operations make them. */
lam_fn *lam__nested_function(lam_ctx *ctx, const lam_primitive *row, const lam__nested *what, int n, int m);

/* Its env, behind which the parameters lie. */
typedef struct lam__nested_env {
    const lam_primitive *row;
} lam__nested_env;

static inline const lam__nested *lam__nested_params(const void *env) {
    return (const lam__nested *)(const void *)((const lam__nested_env *)env + 1);
}

/* The parameters of such a function that is a while; NULL for others. */
const lam__nested *lam__nested_while_of(const lam_fn *f);

/* What of the derivative of a loop may differ from zero: NOTE [idle carries] in nested_idle.c. types[]: of operands.
 * Forward: in[] are inputs of a trip that have tangents, to which carries are added; out[]: its results that have. */
lam_status lam__nested_pushed(const lam__nested *what, lam_value *const types[], bool in[], bool out[]);

/* Reverse: wanted[] are operands that want a gradient, given[] results of a trip that have a cotangent; active[]: its
 * inputs that have one on the way back. */
lam_status lam__nested_pulled(lam_ctx *ctx, const lam__nested *what, lam_value *const types[], const bool wanted[],
                              const bool given[], bool active[]);

/* The way back through one trip of a while, as a scan makes it. It takes cotangents of the carries with active[], sums
 * of gradients of such operands behind the carries, carries before the trip, and the operands behind them; it gives the
 * first two anew (nested_rules.c). */
lam_fn *lam__nested_trip_back(lam_fn *body, int carries, const bool active[]);

/* The body of a while, a program, and the way back through one trip of it, others in their place where something is
 * worth keeping: the body has *kept results more, behind its carries, which the way back takes behind these. types[]:
 * of what that takes; functions belong to the scope (nested_residuals.c). */
lam_status lam__nested_split(lam_fn **body, lam_fn **back, lam_value *const types[], int carries,
                             const lam_jit_options *options, int *kept);

/* Whether a rule in it gives values of its own; NOTE [values of rules] in nested_rules.c. p: NULL has none. */
bool lam__nested_gives_values(const lam__program *p);

/* Compiles the way back through a while: *made is a function that stands for `back`, which lam__row_control calls, or
 * NULL where `back` is no such way or cannot be compiled so. Of in[], the operands of the call, types are looked at
 * (nested_unwound.c). */
lam_status lam__nested_unwound(lam_fn *back, lam_value *const in[], const lam_jit_options *options, lam_fn **made);

/* The loop that such a function goes back through, where its functions are those of this one; NULL: it is another one,
 * or there is none. */
struct lam__trips *lam__nested_trips_of(const lam_fn *made, const lam__nested *loop);

/* Whether such a function is machine code. */
bool lam__nested_unwound_is_machine(const lam_fn *made);

/* As lam__nested_unwound where `back` is a batch of such a way whose examples differ (nested_unwound_each.c); *made is
 * NULL before. */
lam_status lam__nested_unwound_each(lam_fn *back, lam_value *const in[], const lam_jit_options *options, lam_fn **made);

/* Puts results in the place of those of a call whose functions are programs, where these tell them (nested_known.c). On
 * failure out[] is NULL. */
lam_status lam__nested_known(const lam_call_site *call, lam_value *out[]);

/* f with other inputs: it gets those at places[], of `inputs`. */
lam_fn *lam__nested_pick(lam_fn *f, int inputs, const int places[]);

/* Whether all of these are there and have elements at hand. */
static inline bool lam__nested_is_plain(int n, lam_value *const v[]) {
    for (int i = 0; i < n; i++)
        if (!v[i] || v[i]->kind != LAM__CONCRETE) return false;
    return true;
}

/* Runs a call whose operands are plain values (nested_run.c); false: it has to be done by handles. */
bool lam__nested_run(const lam_call_site *call, lam_value *out[], lam_status *status);

/* The same of loops whose functions are compiled to one part each (nested_bare.c). */
bool lam__nested_run_bare(const lam_call_site *call, lam_value *out[], lam_status *status);

/* A function that stands for that of a scan over examples of which each runs a while, which lets them run abreast;
 * NULL: the loop is not of that kind (nested_abreast.c). */
lam_status lam__nested_abreast(const lam__nested *what, const lam_jit_options *options, lam_fn **made);

/* Runs a scan over such a function; false: it has none, or has to be done otherwise. */
bool lam__nested_run_abreast(const lam_call_site *call, lam_value *out[], lam_status *status);

/* Applies the row of a choice, or of a loop that ends by a condition, where a level finds out what depends on what:
 * that has to see which functions there are, not what one of them does. False: there is none, and nothing is done. */
bool lam__nested_as_row(lam_ctx *ctx, const lam_primitive *row, const lam__nested *what, lam_tensor *const in[],
                        lam_tensor *out[]);

/* Stages (nested_rules.c). */
extern const lam__staged lam__nested_stages;

#endif
