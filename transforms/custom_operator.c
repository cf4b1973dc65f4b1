/* The functions that rules of solves are given: the operator, or its transpose, as a function of one vector, and a
 * preconditioner. What holds here: all else that they depend on is among their captures. A rule may call them in a loop
 * that goes on for some examples alone, whose functions cannot declare those captures, since the rule does not know
 * them; so a call takes the part of its captures that belongs to the examples at work (lam__lanes_here). */
#include "transforms/custom_solve.h"

#include "lib/primitives/apply.h"
#include "transforms/arguments.h"
#include "transforms/lanes.h"
#include "transforms/linear.h"

#include <lamina/tensor.h>

/* in[] is v, then the captures: parameters first. matvec takes v in place n. */
static void body_operator(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    const lam__operator_env *e = env;
    int count = e->matvec->inputs;
    lam_tensor **list = lam__apply_room(ctx, (size_t)count);
    for (int k = 0; list && k < count; k++) list[k] = k == e->n ? in[0] : lam__lanes_here(k < e->n ? in[1 + k] : in[k]);
    if (list) out[0] = lam_apply(e->matvec, (lam_list){(size_t)count, list});
}

/* v, then the captures; env is the function that takes all of them as inputs. */
static void body_at_captures(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    lam_fn *f = env;
    lam_tensor **list = lam__apply_room(ctx, (size_t)f->inputs);
    for (int k = 0; list && k < f->inputs; k++) list[k] = k ? lam__lanes_here(in[k]) : in[0];
    if (list) out[0] = lam_apply(f, (lam_list){(size_t)f->inputs, list});
}

/* A function of v that calls `open` with these captures behind it. */
static lam_fn *at_captures(lam_fn *open, const char *name, lam_list captures) {
    return lam_fn_new(
        open->ctx,
        &(lam_fn_options){
            .name = name, .body = body_at_captures, .inputs = 1, .outputs = 1, .env = open, .captures = captures});
}

/* The transpose of f. It is a program whose constants no call could put others in the place of: where levels own some
 * of them they become captures. */
static lam_fn *transpose_of(lam_fn *f, lam_tensor *like) {
    lam_fn *back = lam_linear_transpose(f, LAM_LIST(like));
    bool transposed;
    lam__program *p = lam_failed(back) ? NULL : lam__linear_program(back, &transposed);
    int boxes = p ? (int)lam__program_boxes(p, NULL) : 0;
    if (boxes <= 0) return back;
    lam_tensor **captures = lam__apply_room(f->ctx, (size_t)boxes);
    lam_value **values = (lam_value **)(void *)lam__apply_room(f->ctx, (size_t)boxes);
    if (!captures || !values) return f->ctx->failed_fn;
    lam__program_boxes(p, values);
    for (int k = 0; k < boxes; k++) captures[k] = lam__scope_handle(f->ctx, lam__value_hold(values[k]));
    lam_fn *open = lam__linear_open(f, p, transposed, boxes);
    return lam_failed(open) ? open : at_captures(open, back->name, (lam_list){(size_t)boxes, captures});
}

lam_fn *lam__custom_operator(const lam__solve_attrs *a, lam__operator_env *env, lam_tensor *const in[],
                             lam_tensor *like) {
    lam_ctx *ctx = a->matvec->ctx;
    int fixed = a->n + a->extra;
    *env = (lam__operator_env){a->matvec, a->n};
    lam_tensor **captures = lam__apply_room(ctx, (size_t)fixed);
    if (!captures) return ctx->failed_fn;
    for (int k = 0; k < fixed; k++) captures[k] = k < a->n ? in[k] : in[k + 1];
    lam_fn *f = lam_fn_new(ctx, &(lam_fn_options){.name = a->matvec->name,
                                                  .body = body_operator,
                                                  .inputs = 1,
                                                  .outputs = 1,
                                                  .env = env,
                                                  .captures = {(size_t)fixed, captures}});
    return a->transposed ? transpose_of(f, like) : f;
}

lam_iterative_options lam__custom_settings(const lam__solve_attrs *a, lam_tensor *const in[]) {
    lam_iterative_options o = a->settings;
    if (!a->aside) return o;
    o.preconditioner =
        at_captures(o.preconditioner, o.preconditioner->name, (lam_list){(size_t)a->aside, in + a->n + 1 + a->extra});
    return o;
}
