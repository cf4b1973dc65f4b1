/* The trace's interpreter: see trace.h. A box holds nothing but the number of its variable: the elements are not known,
 * so they cannot be read, and C code that would branch on them fails. A call becomes one equation, by the shape rule of
 * its row alone; nothing is computed. Operands of lower levels become constants of the program. Which rows are linear
 * is not asked here: lam__program_check_linear does so when the record is complete. */
#include "transforms/trace.h"

#include "lib/dispatch/draw.h"
#include "lib/dispatch/staged.h"
#include "lib/kernels/kernels.h"
#include "lib/kernels/places.h"
#include "lib/primitives/rows.h"
#include "lib/program/application.h"
#include "lib/tensor/dtype.h"
#include "transforms/arguments.h"

static lam_status process(lam__level *level, const lam_call_site *call, lam_value *out[]);

/* The level's state is the program that is being recorded. */
static lam__program *program_of(const lam__level *level) {
    return level->state;
}

/* A box that stands for variable v, which has a type. NULL also for v < 0, of which lam__program_variable has recorded
 * that memory is lacking. */
static lam_value *box(lam__level *level, int64_t v) {
    const lam_value *type = v < 0 ? NULL : program_of(level)->types[v];
    lam_value *made = type ? lam__value_box(level, (lam_dtype)type->dtype, type->rank, type->dims, NULL) : NULL;
    if (made) lam__payload_of(made)->number = v;
    return made;
}

/* v as an operand, borrowed; NULL for one that is left out. A box of a lower level is a constant too; whoever runs the
 * program has to see that level (`boxes` in program.h). */
static lam__atom atom_of(const lam__level *level, lam_value *v) {
    return lam__level_owns(level, v) ? (lam__atom){lam__payload_of(v)->number, NULL} : (lam__atom){-1, v};
}

/* Appends an equation and boxes its results. The variables of a result that is left out (no type) exist and are not
 * boxed. On failure the variables stay in the program, which is released as a whole by then. Variables come first, so
 * that the equation knows the number of its first result. */
static lam_status record(lam__level *level, const lam_call_site *call, const lam_shape shapes[], lam__atom in[],
                         lam_value *out[]) {
    lam__program *p = program_of(level);
    int64_t first = p->variables;
    for (int i = 0; i < call->inputs; i++) in[i] = atom_of(level, call->in[i]);
    for (int o = 0; o < call->outputs; o++)
        if (lam__program_variable(p, shapes[o].dtype, shapes[o].rank, shapes[o].dims) < 0) return LAM_ERR_MEMORY;
    lam_status status = lam__program_record(p, call, in, first);
    for (int o = 0; o < call->outputs && status == LAM_OK; o++)
        if (p->types[first + o] && !(out[o] = box(level, first + o))) status = LAM_ERR_MEMORY;
    if (status != LAM_OK) lam__arguments_release(call->outputs, out);
    return status;
}

/* Of staged primitives: those that are one equation (NOTE [recorded Functions] in custom.c). NULL: not staged, or one
 * that is always run. */
static bool is_linear(const lam__level *level, const lam_call_site *call) {
    const lam__staged *staged = call->primitive->staged;
    return staged && staged->linear && staged->linear(level, call);
}

/* What the equation just recorded needs for its transpose. The stage runs user code on the variables themselves, so
 * this level is current again while it does. Only variables that can have a derivative are wanted. */
static lam_status keep_residual(lam__level *level, const lam_call_site *call, lam_value *const out[]) {
    lam_ctx *ctx = level->ctx;
    const lam__program *p = program_of(level);
    lam__scratch_area area;
    bool *needs = lam__scratch_get(&area, ctx, (size_t)call->inputs);
    if (!needs) return LAM_ERR_MEMORY;
    for (int i = 0; i < call->inputs; i++) {
        const lam_value *v = call->in[i];
        needs[i] = lam__level_owns(level, v) && lam__dtype_is_inexact(v->dtype);
    }
    ctx->current = level;
    lam_status status = call->primitive->staged->keep(call, needs, out, &p->list[p->equations - 1]->residual);
    lam__scratch_put(&area);
    return status;
}

/* One call of a row on these operands. A row without parameters. */
static lam_status record_row(lam__level *level, const lam_primitive *row, int n, lam_value *const in[],
                             lam_value **out) {
    const lam_call_site call = {.ctx = level->ctx, .primitive = row, .inputs = n, .outputs = 1, .in = in};
    return process(level, &call, out);
}

/* Makes each result a variable that was made since `first`, and that is no other result: what the call gives as it is,
 * or as a constant, may have a derivative all the same. An identity is recorded for those, which is a variable of the
 * call's own. What is left out has no number. */
static lam_status set_apart(lam__level *level, int n, int64_t first, lam_value *out[], int64_t numbers[]) {
    for (int o = 0; o < n; o++) {
        bool apart = lam__level_owns(level, out[o]) && lam__payload_of(out[o])->number >= first;
        for (int k = 0; k < o && apart; k++) apart = numbers[k] != lam__payload_of(out[o])->number;
        numbers[o] = -1;
        if (out[o] && !apart) {
            lam_value *made = NULL;
            lam_status status = record_row(level, &lam__row_contiguous, 1, &out[o], &made);
            if (status != LAM_OK) return status;
            lam__value_release(out[o]);
            out[o] = made;
        }
        if (out[o]) numbers[o] = lam__payload_of(out[o])->number;
    }
    return LAM_OK;
}

/* Runs the call; in a program that keeps rules as an application. Atoms are taken before the call, which may put other
 * things into the boxes' place. An application that has failed stays in the list and is known by nobody (`done`). */
static lam_status follow(lam__level *level, const lam_call_site *call, lam__run *run, void *env, lam_value *out[]) {
    lam__program *p = program_of(level);
    const int n = call->inputs, m = call->outputs;
    const lam__staged *staged = call->primitive->staged;
    if (!p->keeps_rules || !staged || !staged->rules || !m) return run(call, env, out);
    lam__scratch_area area;
    lam__atom *in = lam__scratch_get(&area, level->ctx, (size_t)n * sizeof *in + (size_t)m * sizeof(int64_t));
    if (!in) return LAM_ERR_MEMORY;
    int64_t *numbers = (int64_t *)(void *)(in + n);
    const int64_t first = p->variables;
    for (int i = 0; i < n; i++) in[i] = atom_of(level, call->in[i]);
    lam__application *a = lam__application_begin(p, call, in);
    lam_status status = a ? run(call, env, out) : LAM_ERR_MEMORY;
    if (status == LAM_OK && (status = set_apart(level, m, first, out, numbers)) != LAM_OK)
        lam__arguments_release(m, out);
    if (a) lam__application_end(p, a, status == LAM_OK ? numbers : NULL);
    lam__scratch_put(&area);
    return status;
}

static lam_status run_call(const lam_call_site *call, void *env, lam_value *out[]) {
    (void)env;
    return lam__eval_called(call, out);
}

/* A primitive that calls functions is not recorded but called with this level current, so that the operations inside
 * are. */
static lam_status process(lam__level *level, const lam_call_site *call, lam_value *out[]) {
    lam_ctx *ctx = level->ctx;
    for (int o = 0; o < call->outputs; o++) out[o] = NULL;
    bool linear = is_linear(level, call);
    if (call->primitive->call && !linear) { /* calls functions: what they do is recorded, here, at this level */
        ctx->current = level;
        return follow(level, call, run_call, NULL, out);
    }
    lam__scratch_area area;
    lam_shape *shapes =
        lam__scratch_get(&area, ctx, (size_t)call->outputs * sizeof *shapes + (size_t)call->inputs * sizeof(lam__atom));
    if (!shapes) return LAM_ERR_MEMORY;
    lam_status status = lam__eval_shape(call, shapes);
    if (status == LAM_OK) status = record(level, call, shapes, (lam__atom *)(void *)(shapes + call->outputs), out);
    lam__scratch_put(&area);
    /* A program of types alone is never transposed. */
    if (status == LAM_OK && linear && !program_of(level)->only_types) {
        status = keep_residual(level, call, out);
        if (status != LAM_OK) lam__arguments_release(call->outputs, out);
    }
    return status;
}

/* The sum becomes another variable, of a fused product as it would be without recording (lam__elementwise_add_product)
 * where nothing else holds the sum: so bits are the same but for sums that are held, whose products are rounded before
 * they are added there. A variable among the factors comes first, in which fma is linear. False where it has other dims
 * than the sum; what was recorded for it is then read by nobody. */
static bool accumulate_product(lam__level *level, lam_value *sum, lam_value *x, lam_value *y, int sign,
                               lam_status *status) {
    if (!lam__dtype_is_float(sum->dtype) || !lam__kernels_fuses()) return false;
    const bool swap = !lam__level_owns(level, x);
    lam_value *in[3] = {swap ? y : x, swap ? x : y, sum}, *minus = NULL, *made = NULL;
    if (sign < 0) {
        if (!lam__level_owns(level, in[0])) return false;
        *status = record_row(level, &lam__row_neg, 1, in, &minus);
        if (*status != LAM_OK) return true;
        in[0] = minus;
    }
    *status = record_row(level, &lam__row_fma, 3, in, &made);
    lam__value_release(minus);
    if (*status != LAM_OK) return true;
    const bool fits = lam__value_same_dims(made, sum);
    if (fits) lam__payload_of(sum)->number = lam__payload_of(made)->number;
    lam__value_release(made);
    return fits;
}

/* Where types alone are wanted nothing is drawn: a variable stands for it. What the levels below make of it is a
 * constant of the program otherwise. */
static lam_value *draw(lam__level *level, const lam__draw *d) {
    if (!program_of(level)->only_types) return lam__draw_make(level->ctx, d);
    program_of(level)->draws = true;
    const bool pairs = d->what.form == LAM__RANDOM_PAIRS;
    int64_t dims[LAM_INNER_RANK + 1];
    for (int i = 0; i < d->rank; i++) dims[i] = d->dims[i];
    dims[d->rank] = 2;
    return box(level, lam__program_variable(program_of(level), lam__kernels_random_dtype(d->what.form), d->rank + pairs,
                                            dims));
}

/* What was drawn below is a constant here. Nothing has to be done again. */
static lam_status drawn(lam__level *level, const lam_call_site *call, lam_random_state before, lam_value *out[],
                        bool *other) {
    (void)level, (void)call, (void)before, (void)out, (void)other;
    return LAM_OK;
}

/* What is recorded so far tells. */
static bool zero(const lam_value *box) {
    return lam__program_is_zero(program_of(lam__payload_of(box)->level), lam__payload_of(box)->number);
}

/* No `read`: whatever asks for elements fails with these words. No `accumulate` either, since sums are equations. */
const lam__interpreter lam__interpreter_trace = {
    .name = "trace",
    .process = process,
    .follow = follow,
    .draw = draw,
    .drawn = drawn,
    .accumulate_product = accumulate_product,
    .zero = zero,
    .unreadable_status = LAM_ERR_ABSTRACT,
    .unreadable = "the elements of a tensor that is being traced are not known",
    .unreadable_remedy =
        "use lam_where instead of branching on it, lam_take to index by it; tangents have no elements while a function "
        "is linearised",
};

lam_status lam__trace_push(lam_ctx *ctx, lam__level *level, lam__program *program) {
    return lam__level_push(ctx, level, &lam__interpreter_trace, program);
}

/* Inputs are made before anything is recorded, so they have the first numbers. */
lam_value *lam__trace_variable(lam__level *level, const lam_value *like) {
    return box(level, lam__program_variable(program_of(level), (lam_dtype)like->dtype, like->rank, like->dims));
}

bool lam__trace_unknown(lam_ctx *ctx, lam_dtype dtype, int rank, const int64_t *dims, lam_value **v) {
    lam__level *level = ctx->current;
    while (level && (level->interpreter != &lam__interpreter_trace || !program_of(level)->only_types))
        level = level->parent;
    if (level) *v = box(level, lam__program_variable(program_of(level), dtype, rank, dims));
    return level != NULL;
}

/* A value that does not depend on the variables is a constant of the program. v belongs to this level or a lower
 * one. v is taken over. */
void lam__trace_result(lam__level *level, int o, lam_value *v) {
    bool own = lam__level_owns(level, v);
    program_of(level)->results[o] =
        own ? (lam__atom){lam__payload_of(v)->number, NULL} : (lam__atom){-1, lam__value_hold(v)};
    lam__value_release(v);
}

/* What f captures from lower levels becomes constants. The level is popped before the program is finished: results are
 * atoms by then. `fixed` inputs in front are what they are, and no variables. */
lam_status lam__trace_fn(lam_fn *f, lam__program *p, int fixed, lam_value *const in[], lam_value **boxes,
                         lam_value **out) {
    lam__level level;
    const bool before = f->ctx->spares;
    lam_status status = lam__trace_push(f->ctx, &level, p);
    if (status != LAM_OK) return status;
    f->ctx->spares = false;
    for (int i = 0; i < f->inputs && status == LAM_OK; i++) {
        boxes[i] = i < fixed ? lam__value_hold(in[i]) : lam__trace_variable(&level, in[i]);
        if (!boxes[i]) status = LAM_ERR_MEMORY;
    }
    if (status == LAM_OK) status = lam__fn_call(f, (size_t)f->inputs, boxes, (size_t)f->outputs, out);
    for (int o = 0; o < f->outputs && status == LAM_OK; o++) {
        lam__trace_result(&level, o, out[o]);
        out[o] = NULL;
    }
    p->spares = f->ctx->spares;
    f->ctx->spares = before;
    lam__arguments_release(f->inputs, boxes);
    lam__arguments_release(f->outputs, out);
    lam__level_pop(&level);
    return status == LAM_OK ? lam__program_finish(p) : status;
}
