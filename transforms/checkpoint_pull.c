/* The way back of a checkpointed function (checkpoint.c) as a function: from its inputs, what was kept of its results,
 * and cotangents to gradients. It goes there and back at once, so that nothing of the way is left behind it. */
#include "transforms/arguments.h"
#include "transforms/rematerialise.h"
#include "transforms/tape.h"

#include "lib/dispatch/dispatch.h"

#include <string.h>

/* Runs f on a tape over a level that gives what was kept, and back at once. v: all inputs, then room for f's outputs
 * and gx. While f runs its calls are put off; the rules of the way back read what they need of them, which is then
 * computed. Gradients come out of the level's boxes, since the level ends behind this. */
static lam_status pull(lam_fn *f, const lam__pull *e, lam__level *level, lam_value **v, lam_value **g, bool *wanted) {
    int taken = f->inputs + e->kept + e->given;
    lam_value **results = v + taken, **gx = results + f->outputs;
    lam__recording recording;
    lam__rematerialise *state = level->state;
    lam_fn *again = e->kept ? lam__rematerialise_finder(f, state) : f;
    if (!lam__fn_check("checkpoint", again)) return f->ctx->error.status;
    for (int k = 0; k < e->wanted; k++) wanted[e->numbers[k]] = true;
    for (int k = 0; k < e->given; k++) g[e->numbers[e->wanted + k]] = v[f->inputs + e->kept + k];
    lam_status status = lam__tape_record(again, v, wanted, results, &recording);
    if (status != LAM_OK) return status;
    state->mode = LAM__PASS;
    status = lam__arguments_again(f, g, results);
    if (status == LAM_OK) status = lam__tape_pull(f->ctx, &recording, g, gx, true);
    lam__tape_forget(f->ctx, &recording);
    lam__arguments_release(f->outputs, results);
    lam__rematerialise_unbox(level, f->inputs, gx);
    return status;
}

/* Whether the level sees what is computed from v. To put a call off costs more than to do one on few elements; only
 * where results were kept must every call be seen, to be given them. */
static bool worth_putting_off(const lam__pull *e, const lam_value *v) {
    enum { LEAST = 512 };
    return e->kept || lam__value_count(v->rank, v->dims, 1) >= LEAST;
}

/* Boxes the inputs that the level is to see; v[] is changed for that and cleared behind it. */
static lam_status pull_over_level(lam_fn *f, const lam__pull *e, lam_value **v, lam_value **g, bool *wanted) {
    lam__kept kept = {v + f->inputs, (size_t)e->kept, 0};
    lam__rematerialise state = {.policy = &e->policy, .mode = LAM__REPLAY, .kept = &kept};
    lam__level level;
    lam_status status = lam__level_push(f->ctx, &level, &lam__interpreter_rematerialise, &state);
    if (status != LAM_OK) return status;
    for (int i = 0; i < f->inputs; i++) {
        lam__value_hold(v[i]);
        if (worth_putting_off(e, v[i]) && status == LAM_OK) status = lam__rematerialise_box(&level, 1, &v[i]);
    }
    if (status == LAM_OK) status = pull(f, e, &level, v, g, wanted);
    lam__arguments_release(f->inputs, v);
    lam__level_pop(&level);
    return status;
}

/* Gradients that are zero are made, of the types of the inputs, since a function has to give each of its outputs. */
static void body_pull(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    const lam__pull *e = env;
    lam_fn *f = lam__fn_base(env);
    int taken = f->inputs + e->kept + e->given, values = taken + 2 * f->outputs + f->inputs;
    size_t bytes = (size_t)values * sizeof(lam_value *) + (size_t)f->inputs;
    lam__scratch_area area;
    lam_value **v = lam__scratch_get(&area, ctx, bytes);
    if (!v) return;
    memset(v, 0, bytes);
    lam_value **gx = v + taken + f->outputs, **g = gx + f->inputs;
    lam_status status = lam__arguments_values(ctx, taken, in, v) ? LAM_OK : ctx->error.status;
    if (status == LAM_OK) status = pull_over_level(f, e, v, g, (bool *)(void *)(v + values));
    for (int k = 0; k < e->wanted; k++) {
        lam_value *one = gx[e->numbers[k]], *like = lam__scope_peek(in[e->numbers[k]]);
        if (!one && status == LAM_OK && !(one = lam__arguments_zero(ctx, like))) status = LAM_ERR_MEMORY;
        lam__arguments_give(ctx, status, 1, &one, &out[k]);
    }
    lam__scratch_put(&area);
}

const lam__pull *lam__checkpoint_pull_of(const lam_fn *f) {
    return f->body == body_pull ? f->env : NULL;
}

lam_fn *lam__checkpoint_pull_new(const lam_call_site *call, lam_fn *f, const lam__policy *policy, int kept,
                                 const bool needs[], lam_value *const g[], lam__pull *e) {
    *e = (lam__pull){.policy = *policy, .kept = kept};
    for (int i = 0; i < call->inputs; i++)
        if (needs[i]) e->numbers[e->wanted++] = i;
    for (int o = 0; o < call->outputs; o++)
        if (g[o]) e->numbers[e->wanted + e->given++] = o;
    lam__derived d = {"pull",
                      f,
                      body_pull,
                      call->inputs + e->kept + e->given,
                      e->wanted,
                      e,
                      sizeof *e + (size_t)(e->wanted + e->given) * sizeof(int),
                      NULL};
    return lam__fn_derive(call->ctx, &d);
}
