/* The functions that solve: the operator, or its transpose, as a function of one vector, and those that stand beside
 * it, solvers and preconditioners. What holds here: all else that they depend on is among their captures. A rule may
 * call them in a loop that goes on for some examples alone, whose functions cannot declare those captures, since the
 * rule does not know them; so a call takes the part of its captures that belongs to the examples at work
 * (lam__lanes_here). */
#include "transforms/custom_solve.h"

#include "lib/primitives/apply.h"
#include "transforms/arguments.h"
#include "transforms/dual.h"
#include "transforms/lanes.h"
#include "transforms/linear.h"
#include "transforms/tape.h"

#include <lamina/program.h>
#include <lamina/tensor.h>

/* in[] is v, then the captures: parameters first. matvec takes v in place n. v comes from the rule and belongs where
 * the rule runs, so it is not looked for in lanes. */
static void body_operator(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    const lam__operator_env *e = env;
    int count = e->matvec->inputs;
    lam_tensor **list = lam__apply_room(ctx, (size_t)count);
    for (int k = 0; list && k < count; k++) list[k] = k == e->n ? in[0] : lam__lanes_here(k < e->n ? in[1 + k] : in[k]);
    if (list) out[0] = lam_apply(e->matvec, (lam_list){(size_t)count, list});
}

/* v, then the captures; env is the function that takes all of them as inputs. The list is the scope's: the call may be
 * one of many in a loop. */
static void body_at_captures(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    lam_fn *f = env;
    lam_tensor **list = lam__apply_room(ctx, (size_t)f->inputs);
    for (int k = 0; list && k < f->inputs; k++) list[k] = k ? lam__lanes_here(in[k]) : in[0];
    if (list) out[0] = lam_apply(f, (lam_list){(size_t)f->inputs, list});
}

/* A function of v that calls `open` with these captures behind it. `open` is not held by it. */
static lam_fn *at_captures(lam_fn *open, const char *name, lam_list captures) {
    return lam_fn_new(
        open->ctx,
        &(lam_fn_options){
            .name = name, .body = body_at_captures, .inputs = 1, .outputs = 1, .env = open, .captures = captures});
}

/* Handles to the boxes of a program, as captures of a function that has inputs for them. In the order in which
 * lam__program_with takes others for them. */
static bool boxes_of(lam_ctx *ctx, lam__program *p, size_t boxes, lam_list *captures) {
    lam_tensor **items = lam__apply_room(ctx, boxes);
    lam_value **values = (lam_value **)(void *)lam__apply_room(ctx, boxes);
    if (!items || !values) return false;
    lam__program_boxes(p, values);
    for (size_t k = 0; k < boxes; k++) items[k] = lam__scope_handle(ctx, lam__value_hold(values[k]));
    *captures = (lam_list){boxes, items};
    return true;
}

/* f with all that its calls depend on as further inputs, of which *captures are those of now: handles to its captures,
 * or to the boxes of the program that it is. The constants of a program are no captures, since no call could put others
 * in their place: where levels own some of them they become inputs. */
static lam_fn *open_fn(lam_fn *f, lam_list *captures) {
    bool transposed;
    lam__program *p = lam__linear_program(f, &transposed);
    int64_t boxes = p ? lam__program_boxes(p, NULL) : 0;
    *captures = LAM_LIST();
    if (boxes > 0)
        return boxes_of(f->ctx, p, (size_t)boxes, captures) ? lam__linear_open(f, p, transposed, (int)boxes)
                                                            : f->ctx->failed_fn;
    int count = lam__arguments_captured(f);
    lam_tensor **items = lam__apply_room(f->ctx, (size_t)count);
    if (!items) return f->ctx->failed_fn;
    lam__arguments_append_captures(f, items, 0);
    *captures = (lam_list){(size_t)count, items};
    return lam__arguments_open("solve", f);
}

/* The transpose of f, with what levels own of it as captures. A function that has nothing to open is used as it is. */
static lam_fn *transpose_of(lam_fn *f, lam_tensor *like) {
    lam_list captures;
    lam_fn *back = lam_linear_transpose(f, LAM_LIST(like));
    lam_fn *open = lam_failed(back) ? back : open_fn(back, &captures);
    return open == back || lam_failed(open) ? open : at_captures(open, back->name, captures);
}

/* in[]: parameters, the right-hand side, then what matvec captures; all but the right-hand side are captures of the
 * function of a vector. The right-hand side is number n among the inputs, which is why the captures behind it move
 * up. */
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

/* It is called for types alone where that level is and none above. What else fails there is the business of whoever
 * calls it in earnest, but for memory, without which nothing is known. What cannot be run there, for a value that is
 * hidden, depends on more than it says. */
static lam_status hides_above(lam__level *level, lam_fn *open, lam_list in, bool *hides) {
    lam_ctx *ctx = open->ctx;
    lam__level *current = ctx->current;
    *hides = false;
    if (current == level) return LAM_OK;
    lam_type type;
    lam__mark before = lam__error_mark(ctx);
    ctx->current = level;
    lam_status status = lam_eval_shape(open, in, &type, 1);
    ctx->current = current;
    if (status == LAM_ERR_MEMORY) return status;
    *hides = status == LAM_ERR_CAPTURED;
    lam__error_roll_back(ctx, before);
    return LAM_OK;
}

lam_status lam__custom_hides(lam_fn *open, lam_list in, bool *hides) {
    return hides_above(open->ctx->ground, open, in, hides);
}

/* The root is a constant to a level that differentiates by nothing that was declared, so a derivative by something else
 * would be zero without a word. The level below the outermost that differentiates sees nothing that any of these
 * owns. */
bool lam__custom_declares(const char *what, const lam_fn *f, lam_fn *open, lam_list in) {
    lam_ctx *ctx = open->ctx;
    lam__level *below = ctx->current;
    for (lam__level *level = below; level; level = level->parent)
        if (level->interpreter == &lam__interpreter_vjp || level->interpreter == &lam__interpreter_jvp)
            below = level->parent;
    bool hides;
    if (hides_above(below, open, in, &hides) != LAM_OK) return false;
    if (hides)
        lam__error_set(ctx, LAM_ERR_CAPTURED, "give it as a parameter, or declare it in the function's captures",
                       "%s of '%s': the function uses a tensor of a level that differentiates, which is none of its "
                       "parameters and captures",
                       what, f->name);
    return !hides;
}

/* ---- what is given --------------------------------------------------------------------------------------------- */

/* Counts are checked at the call, where the message can name the function; types by of_type when there is a
 * solution. */
bool lam__custom_check_counts(const char *what, const lam_fn *f, lam_list parameters) {
    if (f->outputs == 1 && (size_t)f->inputs == parameters.count + 1 && (parameters.items || !parameters.count))
        return true;
    lam__error_set(
        f->ctx, LAM_ERR_ARITY, NULL,
        "%s: function '%s' takes %d inputs and gives %d outputs, expected %zu (the parameters and one more) and 1",
        what, f->name, f->inputs, f->outputs, parameters.count + 1);
    return false;
}

/* Whether f is a function that fits, and operands are tensors; *where: whose failed tensor the result is. Without f the
 * tensor tells. A b that is NULL is the caller's to refuse. */
bool lam__custom_check_solve(const char *what, lam_fn *f, lam_list parameters, lam_tensor *b, lam_ctx **where) {
    bool fine = lam__fn_check_call(what, f, LAM_LIST(b), where) && lam__custom_check_counts(what, f, parameters);
    for (size_t k = 0; k < parameters.count && fine; k++)
        fine = lam__scope_operand_in(*where, what, k, parameters.items[k]);
    return fine && (!b || lam__scope_operand_in(*where, what, parameters.count, b));
}

/* ---- functions beside the system --------------------------------------------------------------------------------- */

void lam__custom_retain_solve(const lam__solve_attrs *a) {
    lam__fn_retain(a->matvec);
    for (int k = 0; k < LAM__BESIDES; k++)
        if (a->beside[k]) lam__fn_retain(a->beside[k]);
}

void lam__custom_release_solve(const lam__solve_attrs *a) {
    lam__fn_release(a->matvec);
    for (int k = 0; k < LAM__BESIDES; k++)
        if (a->beside[k]) lam__fn_release(a->beside[k]);
}

/* One behind the other in one list, with counts by which lam__custom_beside finds them again among the operands.
 * beside[] holds the opened functions from here on. */
bool lam__custom_open_beside(lam_ctx *ctx, lam__solve_attrs *a, lam_list *captures) {
    lam_list own[LAM__BESIDES];
    size_t count = 0;
    for (int k = 0; k < LAM__BESIDES; k++) {
        own[k] = LAM_LIST();
        if (a->beside[k]) a->beside[k] = open_fn(a->beside[k], &own[k]);
        if (a->beside[k] && lam_failed(a->beside[k])) return false;
        a->captured[k] = (int)own[k].count;
        count += own[k].count;
    }
    lam_tensor **next = lam__apply_room(ctx, count);
    *captures = (lam_list){count, next};
    for (int k = 0; k < LAM__BESIDES && next; k++)
        for (size_t c = 0; c < own[k].count; c++) *next++ = own[k].items[c];
    return captures->items != NULL;
}

/* In front of its captures are the parameters, the right-hand side, those of the operator, and those of functions
 * before it. */
lam_fn *lam__custom_beside(const lam__solve_attrs *a, lam_tensor *const in[], enum lam__beside which) {
    lam_fn *f = a->beside[which];
    if (!f || !a->captured[which]) return f;
    in += a->n + 1 + a->extra;
    for (int k = 0; k < (int)which; k++) in += a->captured[k];
    return at_captures(f, f->name, (lam_list){(size_t)a->captured[which], in});
}
