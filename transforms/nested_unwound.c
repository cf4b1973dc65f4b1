/* The way back through a recorded while, on plain values. A checkpoint, which it is to everybody else, runs the loop on
 * a tape; here the functions of the loop are compiled and go forward, once more if nobody has kept what they did
 * (nested_trips.h), and the way back is a scan over the carries before each trip from the last one on, in which each
 * trip is run again on a tape that was compiled away (nested_rules.c). Of a batch of cotangents, as rows of a Jacobian
 * are, there is one way forward, and on the way back each trip is that of all. What turns out not to be plain is left
 * to the checkpoint. */
#include "transforms/nested_draft.h"
#include "transforms/nested_trips.h"

#include "lib/base/context.h"
#include "lib/primitives/apply.h"
#include "lib/program/function.h"
#include "lib/tensor/dtype.h"
#include "transforms/arguments.h"
#include "transforms/batch.h"
#include "transforms/jit.h"
#include "transforms/rematerialise.h"

#include <string.h>

enum { CONDITION, BODY };

/* What the function has beside its base, which is the checkpoint's, or that mapped: the loop, and the way back through
 * one trip, compiled; both are held. What belongs to the base lives as long. */
typedef struct unwound_env {
    lam__trips *trips;
    lam_fn *back;
    const lam__pull *pull;
    const lam__batch *batch; /* of cotangents; NULL: there is one of each result */
    const int *axes;         /* where inputs of the base have the batch */
    bool active[];           /* operands of the loop that have a gradient on the way back */
} unwound_env;

/* ---- running ----------------------------------------------------------------------------------------------------- */

/* in[]: operands of the loop, then cotangents. */
typedef struct unwinding {
    lam_ctx *ctx;
    const unwound_env *env;
    lam_value *const *in;
    bool plain;
} unwinding;

/* v, which has the batch at an axis or not at all, with the batch in front; one reference. */
static lam_value *for_batch(const unwinding *u, lam_value *v, int axis) {
    int64_t dims[LAM_INNER_RANK + 1], strides[LAM_INNER_RANK + 1] = {0};
    if (!u->env->batch) return lam__value_hold(v);
    if (axis != LAM_UNMAPPED) return lam__batch_move(u->ctx, v, axis, 0);
    dims[0] = u->env->batch->size;
    for (int i = 0; i < v->rank; i++) dims[i + 1] = v->dims[i], strides[i + 1] = v->strides[i];
    return lam__value_view(v, v->rank + 1, dims, strides, 0);
}

static lam_value *zero_for_batch(const unwinding *u, const lam_value *like) {
    lam_value *zero = lam__arguments_zero(u->ctx, like), *made = zero ? for_batch(u, zero, LAM_UNMAPPED) : NULL;
    lam__value_release(zero);
    return made;
}

/* What the scan takes, as lam__nested_trip_back says, one reference each; how many, -1 without memory. *carries: of it.
 * at[]: of operands that have a gradient which result of the scan it is. */
static int take_back(const unwinding *u, lam_value *taken[], int at[], int *carries) {
    const lam__trips *t = u->env->trips;
    const int operands = t->operands, looped = t->carries;
    const lam__pull *p = u->env->pull;
    int n = 0;
    for (int i = 0; i < operands; i++) {
        int g = -1;
        at[i] = -1;
        if (!u->env->active[i]) continue;
        for (int k = 0; k < p->given && i < looped; k++)
            if (p->numbers[p->wanted + k] == i) g = operands + k;
        at[i] = n;
        taken[n] = g < 0 ? zero_for_batch(u, u->in[i]) : for_batch(u, u->in[g], u->env->axes ? u->env->axes[g] : 0);
        if (!taken[n++]) return -1;
    }
    *carries = n;
    for (int k = 0; k < lam__trips_rows(t); k++) {
        const lam_value *all = t->rows[k];
        int64_t dims[LAM_INNER_RANK + 1] = {t->made};
        for (int axis = 1; axis < all->rank; axis++) dims[axis] = all->dims[axis];
        taken[n] = lam__value_view(t->rows[k], all->rank, dims, all->strides, 0);
        if (!taken[n++]) return -1;
    }
    for (int i = looped; i < operands; i++) taken[n++] = lam__value_hold(u->in[i]);
    return n;
}

/* Room for gradients, one reference each, and where it is; false without memory. */
static bool make_room(lam_ctx *ctx, int count, lam_value *const like[], lam_value *room[], void *at[]) {
    bool fine = true;
    for (int k = 0; k < count; k++) {
        const lam_value *x = like[k];
        room[k] = lam__value_new(ctx, (lam_dtype)x->dtype, x->rank, x->dims);
        fine = room[k] && fine;
        at[k] = room[k] ? room[k]->data : NULL;
    }
    return fine;
}

/* By machine code. */
static lam_status machine_back(const unwinding *u, int n, int carries, lam_value *const taken[], lam_value *out[]) {
    lam__scratch_area area;
    const lam__trips *t = u->env->trips;
    const size_t values = (size_t)(n + carries), pointers = 2 * values + (size_t)carries + 1;
    lam_value **held = lam__scratch_get(&area, u->ctx, pointers * sizeof *held);
    if (!held) return LAM_ERR_MEMORY;
    memset(held, 0, pointers * sizeof *held);
    lam_value **spare = held + n;
    void **from = (void **)(spare + carries), **to = from + n, **other = to + carries;
    bool fine = make_room(u->ctx, carries, taken, out, to);
    fine = make_room(u->ctx, carries, taken, spare, other) && fine;
    for (int i = 0; i < n && fine; i++) {
        held[i] = lam__value_contiguous(taken[i]);
        fine = held[i] != NULL;
        from[i] = fine ? held[i]->data : NULL;
    }
    if (fine) lam__machine_trips_back(t->machine, from, t->made, to, other);
    else lam__arguments_release(carries, out);
    lam__arguments_release((int)values, held);
    lam__scratch_put(&area);
    return fine ? LAM_OK : LAM_ERR_MEMORY;
}

/* Of no trips gradients are what has come in. */
static lam_status scan_back(unwinding *u, int n, int carries, lam_value *taken[], lam_value *out[]) {
    lam__scratch_area area;
    const lam__trips *t = u->env->trips;
    lam_status status = LAM_OK;
    if (!t->made) {
        for (int k = 0; k < carries; k++) out[k] = lam__value_hold(taken[k]);
        return LAM_OK;
    }
    if (t->machine) return machine_back(u, n, carries, taken, out);
    lam__nested *what = lam__scratch_get(&area, u->ctx, lam__nested_bytes(1));
    if (!what) return LAM_ERR_MEMORY;
    *what = (lam__nested){
        .carries = carries, .elements = lam__trips_rows(t), .length = t->made, .reverse = true, .count = 1};
    what->fns[0] = u->env->back;
    const lam_call_site call = {.ctx = u->ctx,
                                .primitive = &lam__row_scan,
                                .params = what,
                                .params_bytes = lam__nested_bytes(1),
                                .inputs = n,
                                .outputs = carries,
                                .in = taken};
    u->plain = lam__nested_run(&call, out, &status);
    lam__scratch_put(&area);
    return status;
}

/* out[]: gradients that are wanted, in their order. */
static lam_status run_back(unwinding *u, lam_value *out[]) {
    lam__scratch_area area;
    const int operands = u->env->trips->operands, most = 2 * operands + u->env->trips->kept;
    lam_value **taken =
        lam__scratch_get(&area, u->ctx, (size_t)(most + operands + 1) * sizeof *taken + (size_t)operands * sizeof(int));
    if (!taken) return LAM_ERR_MEMORY;
    lam_value **given = taken + most;
    int *at = (int *)(void *)(given + operands + 1), carries = 0;
    memset(taken, 0, (size_t)(most + operands + 1) * sizeof *taken);
    const int n = take_back(u, taken, at, &carries);
    lam_status status = n < 0 ? LAM_ERR_MEMORY : scan_back(u, n, carries, taken, given);
    for (int k = 0; k < u->env->pull->wanted && status == LAM_OK && u->plain; k++) {
        const int i = u->env->pull->numbers[k];
        out[k] = at[i] < 0 ? zero_for_batch(u, u->in[i]) : lam__value_hold(given[at[i]]);
        if (!out[k]) status = LAM_ERR_MEMORY;
    }
    lam__arguments_release(carries, given);
    lam__arguments_release(most, taken);
    lam__scratch_put(&area);
    return status;
}

/* Forward, unless the loop has been made for this, and back; what is not plain leaves no results. */
static lam_status run(unwinding *u, lam_value *out[]) {
    lam__trips *t = u->env->trips;
    lam_status status = LAM_OK;
    if (!lam__trips_are_of(t, u->in)) status = lam__trips_run(t, u->in, NULL, &u->plain);
    if (status == LAM_OK && u->plain) status = run_back(u, out);
    lam__trips_forget(t);
    return status;
}

/* Where an operand or something on the way is not plain, the checkpoint's function is called, as if nothing had been
 * tried: run has recorded no failure then and given no results. */
static void body_unwound(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    lam_fn *f = lam__fn_base(env);
    unwinding u = {.ctx = ctx, .env = env};
    lam__scratch_area area;
    const size_t n = (size_t)f->inputs, m = (size_t)f->outputs;
    lam_value **v = lam__scratch_get(&area, ctx, (n + m + 1) * sizeof *v);
    if (!v) return;
    memset(v, 0, (n + m + 1) * sizeof *v);
    u.in = v;
    lam_status status = lam__arguments_values(ctx, f->inputs, in, v) ? LAM_OK : ctx->error.status;
    u.plain = status == LAM_OK && lam__nested_is_plain(f->inputs, v);
    if (u.plain) status = run(&u, v + n);
    if (status == LAM_OK && !u.plain) (void)lam_call(f, (lam_list){n, in}, out, m);
    else lam__arguments_give(ctx, status, f->outputs, v + n, out);
    lam__scratch_put(&area);
}

/* ---- making ------------------------------------------------------------------------------------------------------ */

/* Kept carries have an axis in front, and so have gradients of a batch. */
static bool has_room(int count, lam_value *const in[]) {
    for (int i = 0; i < count; i++)
        if (in[i]->rank >= LAM_INNER_RANK) return false;
    return true;
}

/* Whether cotangents alone are batched: operands are the same for all, and results have the batch in front. */
static bool maps_cotangents(const lam_fn *back, const lam__batch *batch, const int axes[], int operands) {
    bool fits = !batch->axis_name && !batch->whole && !batch->crew && batch->size > 0;
    for (int i = 0; i < operands; i++) fits = fits && axes[i] == LAM_UNMAPPED;
    for (int o = 0; o < back->outputs; o++) fits = fits && axes[back->inputs + o] == 0;
    return fits;
}

/* A loop whose way back is being compiled: its functions and operands, of which types are looked at. */
typedef struct source {
    lam_ctx *ctx;
    const lam__nested *what;
    lam_value *const *in;
    int operands, carries;
    const unwound_env *env;
    const lam_jit_options *options;
} source;

/* The way back through one trip. Its results are those that come first of what it takes. */
static lam_fn *trip_back(const source *s) {
    lam_fn *trip = lam__nested_trip_back(s->what->fns[BODY], s->carries, s->env->active);
    if (!s->env->batch || trip->magic != LAM__FN) return trip;
    int *axes = (int *)(void *)lam__apply_room(s->ctx, (size_t)trip->inputs);
    if (!axes) return s->ctx->failed_fn;
    for (int i = 0; i < trip->inputs; i++) axes[i] = i < trip->outputs ? 0 : LAM_UNMAPPED;
    return lam__batch_mapped(trip, s->env->batch, axes, NULL);
}

/* Types of what that takes, one reference each: gradients, with the batch in front, and operands of the loop; false
 * without memory. */
static bool find_types(const source *s, lam_value *types[]) {
    bool fine = true;
    for (int i = 0; i < s->operands; i++) {
        const lam_value *x = s->in[i];
        int64_t dims[LAM_INNER_RANK + 1] = {0};
        int rank = 0;
        if (!s->env->active[i]) continue;
        if (s->env->batch) dims[rank++] = s->env->batch->size;
        for (int axis = 0; axis < x->rank; axis++) dims[rank++] = x->dims[axis];
        *types = lam__value_abstract(s->ctx, (lam_dtype)x->dtype, rank, dims);
        fine = *types++ && fine;
    }
    for (int i = 0; i < s->operands; i++) *types++ = lam__value_hold(s->in[i]);
    return fine;
}

/* What the way back would compute again is kept by the body, where that is cheaper: *kept values. */
static bool split(const source *s, lam_fn **body, lam_fn **back, int *kept) {
    const int n = (*back)->inputs;
    lam_value **types = lam__nested_values(s->ctx, n);
    lam_status status = types && find_types(s, types) ? LAM_OK : LAM_ERR_MEMORY;
    if (status == LAM_OK) status = lam__nested_split(body, back, types, s->carries, s->options, kept);
    if (types) lam__arguments_release(n, types);
    return status == LAM_OK;
}

/* Fills e->active; false without memory. */
static bool find_active(const source *s, unwound_env *e) {
    const lam__pull *pull = e->pull;
    const size_t n = (size_t)s->operands, m = (size_t)s->carries;
    bool *wanted = (bool *)(void *)lam__apply_room(s->ctx, (n + m) / sizeof(void *) + 1);
    if (!wanted) return false;
    memset(wanted, 0, n + m);
    for (int k = 0; k < pull->wanted; k++) wanted[pull->numbers[k]] = true;
    for (int k = 0; k < pull->given; k++) wanted[n + (size_t)pull->numbers[pull->wanted + k]] = true;
    return lam__nested_pulled(s->ctx, s->what, s->in, wanted, wanted + n, e->active) == LAM_OK;
}

/* The env's own references; the base is released by whoever frees the function. */
static void unwound_free(lam_ctx *ctx, void *env) {
    const unwound_env *e = env;
    (void)ctx;
    lam__trips_release(e->trips);
    lam__fn_release(e->back);
}

/* The functions of the loop and its way back, compiled; both are held, or none. */
static bool compile_functions(source *s, unwound_env *e) {
    lam_fn *body = s->what->fns[BODY], *back = find_active(s, e) ? trip_back(s) : s->ctx->failed_fn;
    int kept;
    if (back->magic != LAM__FN || !split(s, &body, &back, &kept)) return false;
    lam_fn *const plain[LAM__MACHINE_FUNCTIONS] = {s->what->fns[CONDITION], body, back};
    lam_fn *fns[LAM__TRIPS_FUNCTIONS] = {lam__jit_trip(s->what->fns[CONDITION], s->options),
                                         lam__jit_trip(body, s->options), body};
    e->back = lam__jit_trip(back, s->options);
    bool fine = e->back->magic == LAM__FN;
    for (int f = 0; f < LAM__TRIPS_FUNCTIONS; f++) fine = fine && fns[f]->magic == LAM__FN;
    e->trips = fine ? lam__trips_new(s->ctx, fns, s->operands, s->carries, kept) : NULL;
    if (!e->trips) return false;
    lam__fn_retain(e->back);
    if (s->options->native && s->options->fusion != LAM_JIT_NONE)
        e->trips->machine = lam__machine_trips_new(s->ctx, plain, s->carries);
    return true;
}

/* The while that a checkpoint's way back goes through, of which nothing is kept; NULL: it is another function. */
static const lam__nested *loop_of(const lam__pull *pull, const lam_fn *f) {
    return pull && !pull->kept ? lam__nested_while_of(lam__fn_base(f->env)) : NULL;
}

/* What cannot be compiled so is no failure. Functions with rules that give values of their own have other values on a
 * tape. */
lam_status lam__nested_unwound(lam_fn *back, lam_value *const in[], const lam_jit_options *options, lam_fn **made) {
    const lam__batch *batch = NULL;
    const int *axes = lam__batch_axes_of(back, &batch);
    lam_fn *f = axes ? lam__fn_base(back->env) : back;
    const lam__pull *pull = lam__checkpoint_pull_of(f);
    source s = {.ctx = back->ctx, .what = loop_of(pull, f), .in = in, .options = options};
    *made = NULL;
    for (int i = 0; s.what && i < 2; i++) {
        const lam__program *p = lam__program_of(s.what->fns[i]);
        if (!p || lam__nested_gives_values(p)) return LAM_OK;
    }
    if (!s.what) return LAM_OK;
    s.carries = (int)s.what->carries;
    s.operands = s.what->fns[BODY]->inputs;
    if (axes && !maps_cotangents(back, batch, axes, s.operands))
        return lam__nested_unwound_each(back, in, options, made);
    if (!has_room(axes ? s.operands : s.carries, in)) return LAM_OK;
    const size_t bytes = sizeof(unwound_env) + (size_t)s.operands;
    unwound_env *e = (unwound_env *)(void *)lam__apply_room(s.ctx, bytes / sizeof(void *) + 1);
    if (!e) return LAM_ERR_MEMORY;
    *e = (unwound_env){.pull = pull, .batch = batch, .axes = axes};
    s.env = e;
    if (!compile_functions(&s, e)) return LAM_ERR_MEMORY;
    *made = lam__fn_derive(
        back->ctx, &(lam__derived){"unwound", back, body_unwound, back->inputs, back->outputs, e, bytes, unwound_free});
    if ((*made)->magic == LAM__FN) return LAM_OK;
    unwound_free(back->ctx, e);
    return LAM_ERR_MEMORY;
}

lam__trips *lam__nested_trips_of(const lam_fn *made, const lam__nested *loop) {
    if (made->body != body_unwound) return NULL;
    const unwound_env *e = made->env;
    const lam_fn *back = lam__fn_base(made->env), *f = e->axes ? lam__fn_base(back->env) : back;
    const lam__nested *what = loop_of(e->pull, f);
    bool same = what->carries == loop->carries;
    for (int i = 0; i < 2; i++) same = same && lam__program_of(what->fns[i]) == lam__program_of(loop->fns[i]);
    return same ? e->trips : NULL;
}

bool lam__nested_unwound_is_machine(const lam_fn *made) {
    return made->body == body_unwound && ((const unwound_env *)made->env)->trips->machine;
}
