/* The way back through a recorded while, on plain values. A checkpoint, which it is to everybody else, runs the loop on
 * a tape; here the functions of the loop are compiled and go forward once more, of which the carries before each trip
 * are kept, one behind the other, and the way back is a scan over these from the last one on, in which each trip is run
 * again on a tape that was compiled away (nested_rules.c). Of a batch of cotangents, as rows of a Jacobian are, there
 * is one way forward, and on the way back each trip is that of all. What turns out not to be plain is left to the
 * checkpoint. */
#include "transforms/nested_draft.h"

#include "lib/base/context.h"
#include "lib/primitives/apply.h"
#include "lib/program/function.h"
#include "lib/tensor/dtype.h"
#include "transforms/arguments.h"
#include "transforms/batch.h"
#include "transforms/jit.h"
#include "transforms/rematerialise.h"

#include <string.h>

enum { CONDITION, BODY, BACK, PROGRAM, FUNCTIONS };

/* What the function has beside its base, which is the checkpoint's, or that mapped: the functions of the loop, compiled
 * and held, the program of the body, which tells types, and how many trips the last run has made, for which there is
 * room at once the next time. What belongs to the base lives as long. */
typedef struct unwound_env {
    lam_fn *fns[FUNCTIONS];
    int carries, operands;
    int kept; /* results of the body behind the carries, of which the way back has those of each trip */
    const lam__pull *pull;
    const lam__batch *batch; /* of cotangents; NULL: there is one of each result */
    const int *axes;         /* where inputs of the base have the batch */
    int64_t trips;
} unwound_env;

/* ---- running ----------------------------------------------------------------------------------------------------- */

/* in[]: operands of the loop, then cotangents. x[]: what the functions are given; y[]: what the body gives. rows[]: of
 * each carry what it was before each trip, and of each value that is kept what it was in it, with room for so many;
 * trips: made so far. All of these are held. types[]: of one row. */
typedef struct unwinding {
    lam_ctx *ctx;
    unwound_env *env;
    lam_value *const *in;
    lam_value **x, **y, **rows;
    const lam_value **types;
    void **from, **to;
    int64_t room, trips;
    bool plain;
} unwinding;

static size_t row_bytes(const unwinding *u, int k) {
    return (size_t)u->types[k]->count * lam__dtype_bytes(u->types[k]->dtype);
}

static void *row(const unwinding *u, int k, int64_t trip) {
    return (char *)u->rows[k]->data + (size_t)trip * row_bytes(u, k);
}

/* Carries, and what is kept beside them. */
static int rows_of(const unwound_env *e) {
    return e->carries + e->kept;
}

/* Room for so many trips, of which those made so far are there already. */
static bool make_room(unwinding *u, int64_t room) {
    bool fine = true;
    for (int k = 0; k < rows_of(u->env) && fine; k++) {
        const lam_value *x = u->types[k];
        int64_t dims[LAM_INNER_RANK + 1] = {room};
        for (int axis = 0; axis < x->rank; axis++) dims[axis + 1] = x->dims[axis];
        lam_value *wider = lam__value_new(u->ctx, (lam_dtype)x->dtype, x->rank + 1, dims), *had = u->rows[k];
        const size_t bytes = (size_t)u->room * row_bytes(u, k);
        fine = wider != NULL;
        if (fine && had && bytes) memcpy(wider->data, had->data, bytes);
        u->rows[k] = wider;
        lam__value_release(had);
    }
    u->room = room;
    return fine;
}

/* The functions run on addresses: rows are where carries are made. What the body gives as it gets it stays where it is,
 * and its rows are copies. */
static lam_status run_bare(unwinding *u, lam__plan *condition, lam__plan *body) {
    bool holds;
    void *const truth[] = {&holds};
    const int carries = u->env->carries, rows = rows_of(u->env);
    for (int i = 0; i < u->env->operands; i++) u->from[i] = u->x[i]->data;
    for (int k = 0; k < carries; k++)
        if (row_bytes(u, k)) memcpy(row(u, k, 0), u->x[k]->data, row_bytes(u, k));
    for (;; u->trips++) {
        if (u->trips + 1 == u->room && !make_room(u, 2 * u->room)) return LAM_ERR_MEMORY;
        for (int k = 0; k < rows; k++) u->to[k] = row(u, k, u->trips + (k < carries));
        for (int k = 0; k < carries; k++) u->from[k] = row(u, k, u->trips);
        lam_status status = lam__plan_run_bare(condition, u->from, truth);
        if (status != LAM_OK || !holds) return status;
        status = lam__plan_run_bare(body, u->from, u->to);
        if (status != LAM_OK) return status;
        for (int k = 0; k < rows; k++)
            if (!lam__plan_bare_type(body, k) && row_bytes(u, k)) memcpy(u->to[k], u->from[k], row_bytes(u, k));
    }
}

/* Puts v, one of the rows of this trip, where it belongs; false without memory. */
static bool put_row(const unwinding *u, int k, lam_value *v) {
    lam_value *x = lam__value_contiguous(v);
    if (x && row_bytes(u, k)) memcpy(row(u, k, u->trips), x->data, row_bytes(u, k));
    lam__value_release(x);
    return x != NULL;
}

/* One trip; what the body gives is left in y[], and of that the carries in x[]. */
static lam_status make_trip(unwinding *u) {
    const int carries = u->env->carries, rows = rows_of(u->env);
    for (int k = 0; k < carries; k++)
        if (!put_row(u, k, u->x[k])) return LAM_ERR_MEMORY;
    lam_status status = lam__jit_call(u->env->fns[BODY], u->x, u->y);
    u->plain = status == LAM_OK && lam__nested_is_plain(rows, u->y);
    if (!u->plain) return status;
    for (int k = carries; k < rows; k++)
        if (!put_row(u, k, u->y[k])) return LAM_ERR_MEMORY;
    for (int k = 0; k < carries; k++) {
        lam__value_release(u->x[k]);
        u->x[k] = lam__value_contiguous(u->y[k]);
        if (!u->x[k]) return LAM_ERR_MEMORY;
    }
    lam__arguments_release(rows, u->y);
    memset(u->y, 0, (size_t)rows * sizeof *u->y);
    return LAM_OK;
}

/* Any other functions, value by value. */
static lam_status run_called(unwinding *u) {
    for (;; u->trips++) {
        lam_value *holds = NULL;
        lam_status status = lam__jit_call(u->env->fns[CONDITION], u->x, &holds);
        if (status != LAM_OK) return status;
        u->plain = lam__nested_is_plain(1, &holds) && holds->dtype == LAM_BOOL;
        const bool ends = !u->plain || !*(const bool *)holds->data;
        lam__value_release(holds);
        if (ends) return LAM_OK;
        if (u->trips == u->room && !make_room(u, 2 * u->room)) return LAM_ERR_MEMORY;
        status = make_trip(u);
        if (status != LAM_OK || !u->plain) return status;
    }
}

/* Whether the results of the body can be made where rows are, and the condition asked. */
static bool are_bare(const unwinding *u, lam__plan *condition, lam__plan *body) {
    if (!condition || !body || !lam__plan_is_bare(condition) || !lam__plan_is_bare(body)) return false;
    const lam_value *truth = lam__plan_bare_type(condition, 0);
    for (int k = 0; k < rows_of(u->env); k++) {
        const lam_value *type = lam__plan_bare_type(body, k);
        if (type && !lam__value_same_type(type, u->types[k])) return false;
    }
    return truth && truth->dtype == LAM_BOOL && truth->rank == 0;
}

/* Forward: all carries that there were, and what is kept. There is room for as many trips as the last time from the
 * beginning. */
static lam_status run_forward(unwinding *u) {
    enum { LEAST = 16 };
    lam__plan *condition = NULL, *body = NULL;
    for (int i = 0; i < u->env->operands; i++)
        if (!(u->x[i] = lam__value_contiguous(u->in[i]))) return LAM_ERR_MEMORY;
    for (int k = 0; k < rows_of(u->env); k++)
        u->types[k] = lam__program_result_type(lam__program_of(u->env->fns[PROGRAM]), k);
    if (!make_room(u, (u->env->trips > LEAST ? u->env->trips : LEAST) + 2)) return LAM_ERR_MEMORY;
    lam_status status = lam__jit_plan(u->env->fns[BODY], u->x, &body);
    if (status == LAM_OK) status = lam__jit_plan(u->env->fns[CONDITION], u->x, &condition);
    if (status == LAM_OK) status = are_bare(u, condition, body) ? run_bare(u, condition, body) : run_called(u);
    if (status == LAM_OK) u->env->trips = u->trips;
    return status;
}

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
    const int operands = u->env->operands, looped = u->env->carries;
    const lam__pull *p = u->env->pull;
    int n = 0;
    for (int i = 0; i < operands; i++) at[i] = i < looped && lam__dtype_is_inexact(u->in[i]->dtype) ? 0 : -1;
    for (int k = 0; k < p->wanted; k++) at[p->numbers[k]] = 0;
    for (int i = 0; i < operands; i++) {
        if (at[i] < 0) continue;
        int g = -1;
        for (int k = 0; k < p->given && i < looped; k++)
            if (p->numbers[p->wanted + k] == i) g = operands + k;
        at[i] = n;
        taken[n] = g < 0 ? zero_for_batch(u, u->in[i]) : for_batch(u, u->in[g], u->env->axes ? u->env->axes[g] : 0);
        if (!taken[n++]) return -1;
    }
    *carries = n;
    for (int k = 0; k < rows_of(u->env); k++) {
        const lam_value *all = u->rows[k];
        int64_t dims[LAM_INNER_RANK + 1] = {u->trips};
        for (int axis = 1; axis < all->rank; axis++) dims[axis] = all->dims[axis];
        taken[n] = lam__value_view(u->rows[k], all->rank, dims, all->strides, 0);
        if (!taken[n++]) return -1;
    }
    for (int i = looped; i < operands; i++) taken[n++] = lam__value_hold(u->in[i]);
    return n;
}

/* Of no trips gradients are what has come in. */
static lam_status scan_back(unwinding *u, int n, int carries, lam_value *taken[], lam_value *out[]) {
    lam__scratch_area area;
    lam_status status = LAM_OK;
    if (!u->trips) {
        for (int k = 0; k < carries; k++) out[k] = lam__value_hold(taken[k]);
        return LAM_OK;
    }
    lam__nested *what = lam__scratch_get(&area, u->ctx, lam__nested_bytes(1));
    if (!what) return LAM_ERR_MEMORY;
    *what =
        (lam__nested){.carries = carries, .elements = rows_of(u->env), .length = u->trips, .reverse = true, .count = 1};
    what->fns[0] = u->env->fns[BACK];
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
    const int operands = u->env->operands, most = 2 * operands + u->env->kept;
    lam_value **taken =
        lam__scratch_get(&area, u->ctx, (size_t)(most + operands + 1) * sizeof *taken + (size_t)operands * sizeof(int));
    if (!taken) return LAM_ERR_MEMORY;
    lam_value **given = taken + most;
    int *at = (int *)(void *)(given + operands + 1), carries = 0;
    memset(taken, 0, (size_t)(most + operands + 1) * sizeof *taken);
    const int n = take_back(u, taken, at, &carries);
    const lam_status status = n < 0 ? LAM_ERR_MEMORY : scan_back(u, n, carries, taken, given);
    for (int k = 0; k < u->env->pull->wanted && status == LAM_OK && u->plain; k++)
        out[k] = lam__value_hold(given[at[u->env->pull->numbers[k]]]);
    lam__arguments_release(carries, given);
    lam__arguments_release(most, taken);
    lam__scratch_put(&area);
    return status;
}

/* Forward and back; what is not plain leaves no results. */
static lam_status run(unwinding *u, lam_value *out[]) {
    lam__scratch_area area;
    const size_t operands = (size_t)u->env->operands, rows = (size_t)rows_of(u->env);
    const size_t pointers = 2 * operands + 4 * rows + 1;
    u->x = lam__scratch_get(&area, u->ctx, pointers * sizeof *u->x);
    if (!u->x) return LAM_ERR_MEMORY;
    memset(u->x, 0, pointers * sizeof *u->x);
    u->y = u->x + operands;
    u->rows = u->y + rows;
    u->types = (const lam_value **)(u->rows + rows);
    u->from = (void **)(u->types + rows);
    u->to = u->from + operands;
    lam_status status = run_forward(u);
    lam__arguments_release((int)operands, u->x);
    lam__arguments_release((int)rows, u->y);
    if (status == LAM_OK && u->plain) status = run_back(u, out);
    lam__arguments_release((int)rows, u->rows);
    lam__scratch_put(&area);
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

/* The way back through one trip. Its results are those that come first of what it takes. */
static lam_fn *trip_back(const unwound_env *e, lam_fn *body, lam_value *const in[], const bool wanted[]) {
    lam_fn *trip = lam__nested_trip_back(body, e->carries, in, wanted);
    if (!e->batch || trip->magic != LAM__FN) return trip;
    int *axes = (int *)(void *)lam__apply_room(body->ctx, (size_t)trip->inputs);
    if (!axes) return body->ctx->failed_fn;
    for (int i = 0; i < trip->inputs; i++) axes[i] = i < trip->outputs ? 0 : LAM_UNMAPPED;
    return lam__batch_mapped(trip, e->batch, axes, NULL);
}

/* Types of what the way back takes, one reference each: gradients, with the batch in front, and operands of the loop;
 * false without memory. */
static bool find_types(lam_ctx *ctx, const unwound_env *e, lam_value *const in[], const bool wanted[],
                       lam_value *types[]) {
    bool fine = true;
    for (int i = 0; i < e->operands; i++) {
        const lam_value *x = in[i];
        int64_t dims[LAM_INNER_RANK + 1] = {0};
        int rank = 0;
        if (i < e->carries ? !lam__dtype_is_inexact(x->dtype) : !wanted[i]) continue;
        if (e->batch) dims[rank++] = e->batch->size;
        for (int axis = 0; axis < x->rank; axis++) dims[rank++] = x->dims[axis];
        *types = lam__value_abstract(ctx, (lam_dtype)x->dtype, rank, dims);
        fine = *types++ && fine;
    }
    for (int i = 0; i < e->operands; i++) *types++ = lam__value_hold(in[i]);
    return fine;
}

/* Which operands want a gradient; NULL without memory. */
static bool *wanted_of(lam_ctx *ctx, const lam__pull *pull, int operands) {
    bool *wanted = (bool *)(void *)lam__apply_room(ctx, (size_t)operands);
    if (!wanted) return NULL;
    memset(wanted, 0, (size_t)operands);
    for (int k = 0; k < pull->wanted; k++) wanted[pull->numbers[k]] = true;
    return wanted;
}

/* The env's own references; the base is released by whoever frees the function. */
static void unwound_free(lam_ctx *ctx, void *env) {
    const unwound_env *e = env;
    (void)ctx;
    for (int f = 0; f < FUNCTIONS; f++) lam__fn_release(e->fns[f]);
}

/* What the way back would compute again is kept by the body, where that is cheaper. */
static bool split(unwound_env *e, lam_fn **body, lam_fn **back, lam_value *const in[], const bool wanted[],
                  const lam_jit_options *options) {
    lam_ctx *ctx = (*body)->ctx;
    const int n = (*back)->inputs;
    lam_value **types = lam__nested_values(ctx, n);
    lam_status status = types && find_types(ctx, e, in, wanted, types) ? LAM_OK : LAM_ERR_MEMORY;
    if (status == LAM_OK) status = lam__nested_split(body, back, types, e->carries, options, &e->kept);
    if (types) lam__arguments_release(n, types);
    return status == LAM_OK;
}

/* The functions of the loop, compiled; each is held, or none. */
static bool compile_functions(unwound_env *e, const lam__nested *what, lam_value *const in[],
                              const lam_jit_options *options) {
    lam_fn *body = what->fns[BODY];
    const bool *wanted = wanted_of(body->ctx, e->pull, e->operands);
    lam_fn *back = wanted ? trip_back(e, body, in, wanted) : body->ctx->failed_fn;
    if (back->magic != LAM__FN || !split(e, &body, &back, in, wanted, options)) return false;
    e->fns[CONDITION] = lam_jit(what->fns[CONDITION], options);
    e->fns[BODY] = lam_jit(body, options);
    e->fns[BACK] = lam_jit(back, options);
    e->fns[PROGRAM] = body;
    for (int f = 0; f < FUNCTIONS; f++)
        if (e->fns[f]->magic != LAM__FN) return false;
    for (int f = 0; f < FUNCTIONS; f++) lam__fn_retain(e->fns[f]);
    return true;
}

/* What cannot be compiled so is no failure. Functions with rules that give values of their own have other values on a
 * tape. */
lam_status lam__nested_unwound(lam_fn *back, lam_value *const in[], const lam_jit_options *options, lam_fn **made) {
    unwound_env e = {.carries = 0};
    e.axes = lam__batch_axes_of(back, &e.batch);
    lam_fn *f = e.axes ? lam__fn_base(back->env) : back;
    e.pull = lam__checkpoint_pull_of(f);
    const lam__nested *what = e.pull && !e.pull->kept ? lam__nested_while_of(lam__fn_base(f->env)) : NULL;
    *made = NULL;
    for (int i = 0; what && i < 2; i++) {
        const lam__program *p = lam__program_of(what->fns[i]);
        if (!p || lam__nested_gives_values(p)) return LAM_OK;
    }
    if (!what) return LAM_OK;
    e.carries = (int)what->carries;
    e.operands = what->fns[BODY]->inputs;
    if (e.batch && !maps_cotangents(back, e.batch, e.axes, e.operands))
        return lam__nested_unwound_each(back, in, options, made);
    if (!has_room(e.batch ? e.operands : e.carries, in)) return LAM_OK;
    if (!compile_functions(&e, what, in, options)) return LAM_ERR_MEMORY;
    *made = lam__fn_derive(back->ctx, &(lam__derived){"unwound", back, body_unwound, back->inputs, back->outputs, &e,
                                                      sizeof e, unwound_free});
    if ((*made)->magic == LAM__FN) return LAM_OK;
    unwound_free(back->ctx, &e);
    return LAM_ERR_MEMORY;
}
