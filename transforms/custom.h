/* Custom Functions inside: instances (a Function with its attributes) and contexts (one application at one level).
 * An instance carries the row that dispatch sees, so that messages and programs show the Function's name. A context is
 * the residual of that row: what a level keeps of an application for its derivative. Both are counted. Rooms:
 * custom_instance.c instances, custom.c the row and its stages, custom_context.c contexts, custom_call.c running a
 * user's callback, custom_derive.c rules that are missing, custom_once.c those without a derivative, custom_batch.c and
 * custom_mapped.c batching, custom_apply.c what users call; custom_rules.c with custom_seen.c, custom_solve.c with
 * custom_operator.c, and custom_hook.c are Functions of the library's own. */
#ifndef LAM_TRANSFORMS_CUSTOM_H
#define LAM_TRANSFORMS_CUSTOM_H

#include "lib/dispatch/dispatch.h"
#include "lib/dispatch/fn.h"
#include "lib/dispatch/staged.h"
#include "transforms/batch.h"

#include <lamina/function.h>

/* What one application says of its inputs: the output that shows the new value of an input that forward has
 * overwritten, or -1. */
typedef struct lam__overwritten {
    bool any; /* by[] is set */
    int *by;  /* per input */
} lam__overwritten;

/* A Function as applied: a copy of it with attributes and counts. Counted: applications, contexts and programs hold
 * one. */
typedef struct lam__instance {
    lam__idle idle; /* first; NOTE [kept instances] */
    uint32_t refs;
    bool in_slot;
    bool only_passes; /* its callbacks pass values on to others and compute nothing: they may read what they see */
    bool own_values;  /* outputs at a derivative level are those of forward on its values, not of the level below */
    bool exact;       /* a cotangent has the dims of its input: none is summed */
    bool runs_again;  /* jvp and backward run the function that forward has run: its draws are the same again */
    int inputs, outputs;
    int linear_in; /* the floating input in which it is linear while the others are held still; -1: none is known */
    lam_ctx *ctx;
    size_t bytes; /* of the block: instance, attributes, name */
    lam_primitive row;
    lam_function fn;
    void *attrs;
    void (*attrs_release)(lam_ctx *ctx, void *attrs); /* for attributes that own something; NULL: plain */
    lam__overwritten *overwritten;                    /* of the innermost application that runs; NULL: nobody asks */
} lam__instance;

/* The parameters of a row. */
typedef struct lam__custom_params {
    lam__instance *instance;
} lam__custom_params;

/* The callback that runs, as a bit, so that a set of them is a number. */
enum lam__part {
    LAM__PART_NONE = 0,
    LAM__PART_FORWARD = 1,  /* of the separate style */
    LAM__PART_COMBINED = 2, /* forward of the combined style */
    LAM__PART_SETUP = 4,
    LAM__PART_BACKWARD = 8,
    LAM__PART_JVP = 16,
    LAM__PART_VMAP = 32,
    LAM__PART_SHAPE = 64
};

/* Values saved for one of the modes. */
typedef struct lam__saved {
    bool done;
    int count;
    lam_value **values;   /* NULL where NULL was saved */
    lam_tensor **handles; /* beside values: those given, compared while the callback runs */
    int *outputs;         /* beside values: the output that it is, or -1; the inputs are this level's as they come */
} lam__saved;

/* What lam_fctx_set_data keeps: a list, the youngest in front. One block each; the name lies behind the data. */
typedef struct lam__datum {
    struct lam__datum *next;
    size_t bytes, size; /* of the block; of the data */
    char *name;
    _Alignas(max_align_t) char data[];
} lam__datum;

/* The two modes, and how many there are. */
enum { LAM__FOR_BACKWARD, LAM__FOR_JVP, LAM__FOR_BOTH };

/* One application at one level: what callbacks are given, and what is kept from one to the next. Flags and the lists in
 * saved[] are the context's own; in, out and tangents are those of the visit that runs. */
struct lam_fctx {
    uint32_t refs;
    bool copy;           /* shares everything but inner and the saved values with the context it was copied from */
    bool derivative;     /* a derivative is wanted: without, nothing is saved */
    bool materialize;    /* what lam_fctx_set_materialize_grads said */
    bool marks;          /* marked[] has something */
    bool has_tangents;   /* of rules for functions: forward has saved the tangents of its outputs */
    enum lam__part part; /* the callback that runs */
    int batched_count;
    lam_ctx *ctx;
    lam__instance *instance; /* held */
    lam_fctx *inner;         /* of a mapped Function: the context of the Function that it maps; held */
    bool *batched; /* beside inner: which of the innermost context's saved values have this batch axis, at 0 */
    lam__saved saved[LAM__FOR_BOTH];
    lam__datum *data;
    bool *needs;                /* per input; NULL in a visitor */
    bool *floating;             /* per input: it has a derivative; NULL in a visitor */
    bool *constant;             /* per output: it has none */
    bool *absent;               /* per output: it is left out */
    bool *marked;               /* per input: forward says that it has overwritten it */
    lam_value **types;          /* inputs, then outputs, as seen inside a batch; NULL: the level's own */
    lam_value **kept;           /* per input: what a linear Function is applied to beside tangents; NULL: nothing */
    lam_value *const *tangents; /* while forward runs where they are known: those of the inputs; otherwise NULL */
    lam_tensor *const *in;      /* handles of the callback that runs */
    lam_tensor *const *out;
    uint64_t from, until;    /* birth of what forward hid; setup_context must not use it; 0, 0: nothing */
    lam_random_state random; /* where the generator stood before forward; nothing in a visitor */
};

/* ---- custom_instance.c --------------------------------------------------------------------------------------- */

/* An instance with a copy of `function` and attrs; attrs_release then owns what they own (also on failure). NULL
 * without memory. */
lam__instance *lam__custom_instance(lam_ctx *ctx, const lam_function *function, const void *attrs,
                                    void (*attrs_release)(lam_ctx *ctx, void *attrs), int inputs, int outputs);
void lam__custom_hold(lam__instance *x);
void lam__custom_release(lam__instance *x);
void lam__custom_params_hold(lam_ctx *ctx, void *params);
void lam__custom_params_release(lam_ctx *ctx, void *params);

/* The instance that an earlier application left for one of this Function: one reference. NULL if there is none. */
lam__instance *lam__custom_find(lam_ctx *ctx, const lam_function *f, const void *attrs, size_t inputs, size_t outputs);

/* Leaves an instance for the next application. Its attributes are plain. */
void lam__custom_keep(lam__instance *x);

static inline const char *lam__custom_name(const lam_function *f) {
    return f->name ? f->name : "anonymous";
}

/* The instance that a call of such a row is of; borrowed from its parameters. */
lam__instance *lam__custom_of(const lam_call_site *call);

/* ---- custom.c ------------------------------------------------------------------------------------------------ */

extern const lam_primitive lam__custom_row; /* what the rows of all instances have in common */

/* Applies an instance to values at whatever levels they live; one reference per output. */
lam_status lam__custom_dispatch(lam__instance *x, lam_value *const in[], lam_value *out[]);

/* ---- custom_context.c ---------------------------------------------------------------------------------------- */

/* A context for an application; needs NULL: no derivative is wanted. NULL without memory. */
lam_fctx *lam__context_new(lam__instance *x, const bool needs[], lam_value *const in[]);
void lam__context_release(lam_fctx *fc);

/* Frees what a context has collected. */
void lam__context_free_parts(lam_fctx *fc);

/* Notes which outputs are left out: those without a value. They have no derivative. */
void lam__context_note_absent(lam_fctx *fc, lam_value *const out[]);

/* Keeps what a linear Function is applied to beside tangents. */
lam_status lam__context_keep(lam_fctx *fc, lam_value *const in[]);

/* The context that holds the saved values: fc, or the innermost of what it maps. */
lam_fctx *lam__context_innermost(lam_fctx *fc);

/* Finds which of the saved values are outputs; the handles are still those of the callback that has saved them. */
void lam__context_find_outputs(const lam_fctx *fc, lam_value *const in[], lam_value *const out[]);

/* Puts the level's own outputs in the place of those that forward made and saved. */
void lam__context_replace_outputs(lam_fctx *fc, lam_value *const out[]);

/* The chain of contexts below and with fc, with other saved values in the innermost (both lists one after the other,
 * borrowed until release). NULL without memory. */
lam_fctx *lam__context_with(lam_fctx *fc, lam_value *const values[]);

/* ---- custom_context.c: short ways ---------------------------------------------------------------------------- */

static inline void lam__context_saves_none(lam__saved *s) {
    s->done = false;
    s->count = 0;
    s->values = NULL;
}

/* Everything but the flags; field by field, since this is done at each application (NOTE [word by word] in
 * lib/tensor/value.h). */
static inline void lam__context_set_fields(lam_fctx *fc, lam__instance *x, bool derivative) {
    fc->refs = 1;
    fc->copy = fc->marks = fc->has_tangents = false;
    fc->derivative = derivative;
    fc->materialize = true;
    fc->part = LAM__PART_NONE;
    fc->batched_count = 0;
    fc->ctx = x->ctx;
    fc->instance = x;
    fc->inner = NULL;
    fc->batched = NULL;
    lam__context_saves_none(&fc->saved[LAM__FOR_BACKWARD]);
    lam__context_saves_none(&fc->saved[LAM__FOR_JVP]);
    fc->data = NULL;
    fc->types = fc->kept = NULL;
    fc->tangents = NULL;
    fc->in = fc->out = NULL;
    fc->from = fc->until = 0;
}

/* What callbacks mark. flags: room for x->inputs + 2 * x->outputs. */
static inline void lam__context_set_marks(lam_fctx *fc, bool *flags, const lam__instance *x) {
    fc->marked = flags;
    fc->constant = fc->marked + x->inputs;
    fc->absent = fc->constant + x->outputs;
    for (bool *end = fc->absent + x->outputs; flags < end; flags++) *flags = false;
}

/* Most contexts have collected nothing. */
static inline void lam__context_release_parts(lam_fctx *fc) {
    if (fc->saved[LAM__FOR_BACKWARD].values || fc->saved[LAM__FOR_JVP].values || fc->data || fc->types || fc->batched ||
        fc->kept)
        lam__context_free_parts(fc);
}

/* A context in the caller's frame, without a derivative, for a visit after which nothing is kept. False without memory:
 * then there is nothing to end. */
typedef struct lam__visitor {
    lam_fctx fc;
    lam__scratch_area area;
} lam__visitor;

static inline bool lam__context_begin(lam__visitor *v, lam__instance *x) {
    bool *flags = lam__scratch_get(&v->area, x->ctx, (size_t)(x->inputs + 2 * x->outputs));
    if (!flags) return false;
    lam__context_set_fields(&v->fc, x, false);
    v->fc.needs = v->fc.floating = NULL;
    lam__context_set_marks(&v->fc, flags, x);
    return true;
}

static inline void lam__context_end(lam__visitor *v) {
    lam__context_release_parts(&v->fc);
    lam__scratch_put(&v->area);
}

/* ---- custom_call.c ------------------------------------------------------------------------------------------- */

/* Records a failure: "Function 'name', backward: ...". Returns status. */
lam_status lam__custom_fail(const lam_fctx *fc, lam_status status, const char *remedy, const char *format, ...)
    LAM_PRINTF(4, 5);

/* x, which must have the type of `like`; `what` x is. A failed x passes, since its failure is recorded. */
lam_tensor *lam__custom_of_type(lam_fctx *fc, const char *what, lam_tensor *x, lam_tensor *like);

/* The callbacks, on values of the level below the one served, which is current. */
lam_status lam__custom_forward(lam_fctx *fc, lam_value *const in[], lam_value *out[]);
lam_status lam__custom_setup(lam_fctx *fc, lam_value *const in[], lam_value *const out[]);
lam_status lam__custom_backward(lam_fctx *fc, lam_value *const in[], lam_value *const results[], lam_value *const g[],
                                lam_value *gx[]);
lam_status lam__custom_jvp(lam_fctx *fc, lam_value *const in[], lam_value *const results[], lam_value *const dx[],
                           lam_value *dout[]);
lam_status lam__custom_vmap(lam_fctx *fc, const lam_vmap_info *info, const int axes[], lam_value *const in[],
                            lam_value *out[], int out_axes[]);
lam_status lam__custom_shape(lam_fctx *fc, const lam_type in[], lam_type out[]);

/* custom.c: a linear Function applied to tangents; NOTE [linear Functions]. */
lam_status lam__custom_linear(lam_fctx *fc, lam_value *const dx[], lam_value *dout[]);

/* ---- the rest ------------------------------------------------------------------------------------------------- */

/* custom_derive.c: the rule that is missing, made from the one that is there. */
lam_status lam__derive_cotangents(lam_fctx *fc, lam_value *const in[], lam_value *const results[], lam_value *const g[],
                                  lam_value *gx[]);
lam_status lam__derive_tangents(lam_fctx *fc, lam_value *const in[], lam_value *const results[], lam_value *const dx[],
                                lam_value *dout[]);

/* custom_batch.c: the batching stage of the row. */
lam_status lam__custom_batched(const lam_call_site *call, const int axes[], const lam__batch *batch, lam_value *out[],
                               int out_axes[]);

/* A rule: what it gives for tangents or cotangents `given`. */
typedef lam_status lam__custom_rule(lam_fctx *fc, lam_value *const in[], lam_value *const results[],
                                    lam_value *const given[], lam_value *wanted[]);

/* custom_once.c: applies the rule of this name, of a once_differentiable Function, to n given values for a call; fails
 * where a further level differentiates one of them or of those that were saved. */
lam_status lam__custom_once(const lam_call_site *call, lam_value *const results[], int n, lam_value *const given[],
                            const char *name, lam__custom_rule *rule, lam_value *wanted[]);

/* Whether v lives on batch levels only: no derivative below can be lost by running forward here. */
bool lam__custom_only_batches(const lam_value *v);

/* custom_mapped.c: the Function that applies x to every example of a batch; its outputs have the batch axis in
 * front. */
lam__instance *lam__custom_mapped(lam__instance *x, const int axes[], const lam__batch *batch);

/* Whether a Function without batching rule of its own is mapped. */
static inline bool lam__custom_generates(const lam_function *f) {
    return !f->vmap && !f->vmap_by_loop && (f->generate_vmap_rule || !f->setup_context);
}

/* custom_apply.c: applies an instance to handles (NULL: left out). */
lam_status lam__custom_apply(lam__instance *x, lam_list in, lam_tensor **out);

/* A function of fixed arity around an instance, whose reference it takes over (also on failure). The last inputs of the
 * instance are captures of the function. */
lam_fn *lam__custom_fn(lam_ctx *ctx, lam__instance *x, lam_list captures);

/* custom_apply.c: whether `rule`, which the docstring of `what` calls `role`, is a function that goes with f, which is
 * one; otherwise records what is wrong. */
bool lam__custom_goes_with(const char *what, const lam_fn *f, const char *role, lam_fn *rule);

/* custom_seen.c: the types with which a function ran last, for the rule that stands in for it. NULL without memory. */
typedef struct lam__seen lam__seen;
lam__seen *lam__seen_new(lam_ctx *ctx, int inputs, int outputs);
void lam__seen_free(lam_ctx *ctx, lam__seen *s);
void lam__seen_note(lam__seen *s, lam_tensor *const in[], lam_tensor *const out[]);
/* Whether a rule gives what the function gave, as far as that is known; records the first output of another type. */
lam_status lam__seen_check(const lam_fctx *fc, const lam__seen *s, const lam_fn *rule, lam_tensor *const in[],
                           lam_tensor *const out[]);

/* lam_custom_linear_solve with a rule of the library's own for the system and the transposed one, whose env is a copy
 * of the settings that lives as long as a derivative may be asked for (custom_solve.c, iterative.c). x0 is not read. */
lam_tensor *lam__custom_solve_iterative(const char *what, lam_fn *matvec, lam_list parameters, lam_tensor *b,
                                        lam_solve_rule rule, bool symmetric, const lam_iterative_options *settings);

#endif
