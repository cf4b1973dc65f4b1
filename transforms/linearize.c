/* lam_linearize and lam_linear_transpose. Linearising runs the dual interpreter with tangents that are variables of a
 * trace below it: primal work is evaluated, tangent work is recorded, and the record is the linear function.
 * The stack is dual -> trace -> whatever was current. Primals do not belong to the trace, so they are computed as
 * usual; what the tangent rules compute from them alone becomes constants of the program. So the linear function holds
 * the linearisation point (what derivatives read there) and costs no primal work when it is called. The transpose walks
 * the same program backwards. */
#include "transforms/arguments.h"
#include "transforms/dual.h"
#include "transforms/linear.h"
#include "transforms/trace.h"

#include "lib/tensor/dtype.h"

#include <lamina/tensor.h>

#include <string.h>

/* The env of both kinds of functions; it owns one reference to the program. */
typedef struct linear_env {
    lam__program *program;
} linear_env;

static void linear_free(lam_ctx *ctx, void *env) {
    (void)ctx;
    lam__program_release(((linear_env *)env)->program);
}

/* ---- the linear function ----------------------------------------------------------------------------------------- */

/* NULL among the tangents is zero, and takes no part. The types are those of the linearisation point, whatever level
 * calls the function now. *all: none is NULL. */
static lam_status check_tangents(const lam_fn *f, const lam__program *p, lam_value *const in[], bool *all) {
    *all = true;
    for (int i = 0; i < p->inputs; i++) {
        if (!lam__arguments_fits("linearize", f, "tangent", i, in[i], p->types[i])) return LAM_ERR_SHAPE;
        *all = *all && in[i];
    }
    return LAM_OK;
}

/* Zeros are made for results that are zero by their operands, since a function has to give each of its outputs. */
static lam_status run_present(const lam__program *p, lam_value *const in[], lam_value *out[]) {
    lam_status status = lam__program_run_linear(p, in, out);
    for (int o = 0; o < p->outputs && status == LAM_OK; o++)
        if (!out[o] && !(out[o] = lam__arguments_zero(p->ctx, lam__program_result_type(p, o)))) status = LAM_ERR_MEMORY;
    return status;
}

/* An operation of the program is an ordinary one, so the function may be differentiated and batched like any other. */
static void run_linear(const lam_fn *f, const lam__program *p, lam_tensor *const in[], lam_tensor *out[]) {
    lam_ctx *ctx = p->ctx;
    lam__scratch_area area;
    size_t values = (size_t)(p->inputs + p->outputs);
    lam_value **v = lam__scratch_get(&area, ctx, values * sizeof *v);
    if (!v) return;
    memset(v, 0, values * sizeof *v);
    lam_value **results = v + p->inputs;
    bool all = false;
    lam_status status =
        lam__arguments_values(ctx, p->inputs, in, v) ? check_tangents(f, p, v, &all) : ctx->error.status;
    if (status == LAM_OK) status = all ? lam__program_run(p, v, results) : run_present(p, v, results);
    lam__arguments_give(ctx, status, p->outputs, results, out);
    lam__scratch_put(&area);
}

static void body_linear(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    (void)ctx;
    run_linear(lam__fn_base(env), ((linear_env *)env)->program, in, out);
}

/* A function of the library's own around p, whose reference is taken over, also on failure. `f` is held for its name in
 * messages. `optional`: such a function takes NULL among its inputs. */
static lam_fn *linear_new(const char *name, lam_fn *f, lam_body body, lam__program *p, int inputs, int outputs) {
    linear_env env = {p};
    lam__derived d = {name, f, body, inputs, outputs, &env, sizeof env, linear_free};
    lam_fn *made = lam__fn_derive(f->ctx, &d);
    if (made->magic == LAM__FN) made->optional = true;
    else lam__program_release(p);
    return made;
}

/* ---- lam_linearize ----------------------------------------------------------------------------------------------- */

/* Makes the tangents of the argnums variables, runs f, and hands its tangents to the program; dx, dout: room per input
 * and output. An output that does not depend on them gets a zero as its result, which is a constant of the program.
 * Auxiliary outputs have no place among the results. Whatever is left in dx and dout after a failure goes in the
 * caller. */
static lam_status record(lam_fn *f, lam__level *level, int count, const int argnums[], int aux, lam_value *const in[],
                         lam_value *out[], lam_value **dx, lam_value **dout) {
    lam_status status = LAM_OK;
    for (int k = 0; k < count && status == LAM_OK; k++)
        if (!(dx[argnums[k]] = lam__trace_variable(level, in[argnums[k]]))) status = LAM_ERR_MEMORY;
    if (status == LAM_OK) status = lam__dual_run(f, in, dx, out, dout);
    for (int o = 0; o < f->outputs && status == LAM_OK; o++) {
        if (o >= f->outputs - aux) lam__value_release(dout[o]);
        else if (!dout[o] && !(dout[o] = lam__arguments_zero(f->ctx, out[o]))) status = LAM_ERR_MEMORY;
        else lam__trace_result(level, o, dout[o]);
        dout[o] = NULL;
    }
    lam__arguments_release(f->inputs, dx);
    return status;
}

/* The trace is popped before the program is finished: results are atoms by then, and no box of it is left. From there
 * on the program belongs to the function made around it. dual runs within the trace's level, so tangents are variables
 * there while primals stay below. */
static lam_status linearize(lam_fn *f, int count, const int argnums[], int aux, lam_value *const in[], lam_value *out[],
                            lam_fn **linear) {
    lam_ctx *ctx = f->ctx;
    lam__scratch_area area;
    lam__level level;
    size_t values = (size_t)(f->inputs + f->outputs);
    lam_value **dx = lam__scratch_get(&area, ctx, values * sizeof *dx);
    lam__program *p = dx ? lam__program_new(ctx, count, f->outputs - aux) : NULL;
    lam_status status = p ? lam__trace_push(ctx, &level, p) : LAM_ERR_MEMORY;
    if (status == LAM_OK) {
        memset(dx, 0, values * sizeof *dx); /* NULL: not differentiated, and no tangent yet */
        status = record(f, &level, count, argnums, aux, in, out, dx, dx + f->inputs);
        lam__arguments_release(f->outputs, dx + f->inputs);
        lam__level_pop(&level);
    }
    if (status == LAM_OK) status = lam__program_finish(p);
    lam__scratch_put(&area);
    if (status == LAM_OK) {
        *linear = linear_new("linear", f, body_linear, p, count, f->outputs - aux);
        if ((*linear)->magic != LAM__FN) status = LAM_ERR_MEMORY;
    } else {
        lam__program_release(p);
    }
    return status;
}

/* No list: every floating input. Unlike lam_grad, since a linearisation is of all of f. -1 after recording what is
 * wrong with the list. */
static int argnums_of(const lam_fn *f, lam_axes argnums, lam_value *const in[], int items[]) {
    int count = 0;
    if (argnums.count || argnums.items) return lam__arguments_argnums("linearize", f, argnums, 0, items);
    for (int i = 0; i < f->inputs; i++)
        if (in[i] && lam__dtype_is_inexact(in[i]->dtype)) items[count++] = i;
    return count;
}

/* Everything about argnums, which takes values to decide. items: room for f's inputs. On success out[] and *linear are
 * set; on failure out[] may hold what lam__arguments_give releases. Whether an input can be differentiated is known by
 * its value, so it is asked here. */
static lam_status run_linearize(lam_fn *f, const lam_grad_options *o, lam_value *const in[], lam_value *out[],
                                int items[], lam_fn **linear) {
    int count = argnums_of(f, o->argnums, in, items);
    if (count < 0) return LAM_ERR_OPTION;
    for (int k = 0; k < count; k++)
        if (!lam__arguments_floating("linearize", f, items[k], in[items[k]])) return LAM_ERR_DTYPE;
    return linearize(f, count, items, o->has_aux, in, out, linear);
}

/* *linear is a function of the argnums inputs' tangents; auxiliary outputs are given and not linearised. Statuses that
 * were recorded during the call come first: f may fail and give its outputs all the same. */
lam_status lam_linearize(lam_fn *f, lam_list primals, lam_tensor **out, size_t n_out, lam_fn **linear,
                         const lam_grad_options *options) {
    static const lam_grad_options none;
    const lam_grad_options *o = options ? options : &none;
    lam_ctx *where, *ctx = lam__fn_check_call("linearize", f, primals, &where);
    for (size_t i = 0; out && i < n_out; i++) out[i] = &where->failed;
    if (linear) *linear = where->failed_fn;
    if (!ctx) return where->error.status != LAM_OK ? where->error.status : LAM_ERR_NULL;
    if (n_out != (size_t)f->outputs || (!out && n_out) || !linear)
        return lam__error_set(
            ctx, LAM_ERR_ARITY, NULL,
            "linearize of '%s': room for %zu outputs and %d function given, %d outputs and one expected", f->name,
            out ? n_out : 0, linear != NULL, f->outputs);
    if (!lam__arguments_aux("linearize", f, o->has_aux)) return LAM_ERR_OPTION;
    lam__scratch_area area;
    size_t values = (size_t)(f->inputs + f->outputs),
           bytes = values * sizeof(lam_value *) + (size_t)f->inputs * sizeof(int);
    lam_value **in = lam__scratch_get(&area, ctx, bytes);
    if (!in) return LAM_ERR_MEMORY;
    memset(in, 0, bytes);
    lam__mark mark = lam__error_mark(ctx);
    lam__fn_retain(f); /* its body may drop it */
    lam_status status = lam__arguments_list("linearize", f, "primals", primals, f->inputs, f->optional, in);
    if (status == LAM_OK) status = run_linearize(f, o, in, in + f->inputs, (int *)(void *)(in + values), linear);
    lam__arguments_give(ctx, status, f->outputs, in + f->inputs, out);
    lam__fn_release(f);
    lam__scratch_put(&area);
    return lam__error_since_or(ctx, mark, status);
}

/* ---- lam_linear_transpose ---------------------------------------------------------------------------------------- */

/* <g, A dx> = <A' g, dx>: cotangents of the outputs to those of the inputs. NULL is zero, and zeros are made for inputs
 * that nothing reaches, since a function has to give each of its outputs. Types of cotangents are those of the
 * program's results, whatever f was called with. */
static void run_transposed(const lam_fn *f, const lam__program *p, lam_tensor *const in[], lam_tensor *out[]) {
    lam_ctx *ctx = p->ctx;
    lam__scratch_area area;
    size_t values = (size_t)(p->inputs + p->outputs);
    lam_value **g = lam__scratch_get(&area, ctx, values * sizeof *g);
    if (!g) return;
    memset(g, 0, values * sizeof *g);
    lam_value **gx = g + p->outputs;
    lam_status status = lam__arguments_values(ctx, p->outputs, in, g) ? LAM_OK : ctx->error.status;
    for (int o = 0; o < p->outputs && status == LAM_OK; o++)
        if (!lam__arguments_fits("linear_transpose", f, "cotangent", o, g[o], lam__program_result_type(p, o)))
            status = LAM_ERR_SHAPE;
    if (status == LAM_OK) status = lam__program_transpose(p, g, gx);
    for (int i = 0; i < p->inputs && status == LAM_OK; i++)
        if (!gx[i] && !(gx[i] = lam__arguments_zero(ctx, p->types[i]))) status = LAM_ERR_MEMORY;
    lam__arguments_give(ctx, status, p->inputs, gx, out);
    lam__scratch_put(&area);
}

static void body_transpose(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    (void)ctx;
    run_transposed(lam__fn_base(env), ((linear_env *)env)->program, in, out);
}

/* f is linear if each equation is: sums of terms, products with constants, linear rows. */
static lam_status record_linear(lam_fn *f, int fixed, lam_value *const in[], lam_value **boxes, lam_value **out,
                                lam__program *p) {
    lam_status status = lam__trace_fn(f, p, fixed, in, boxes, out);
    return status == LAM_OK ? lam__program_check_linear(p, f->name, false) : status;
}

/* The program of a function that lam_linearize made, once more held, if the examples are of its types: recording it
 * would give the same again. NULL for others. So lam_linear_transpose of a linearisation shares its constants. A
 * transposed function is recorded like any other, as its program runs backwards. */
static lam__program *program_of(const lam_fn *f, lam_value *const in[]) {
    if (f->body != body_linear) return NULL;
    lam__program *p = ((linear_env *)f->env)->program;
    for (int i = 0; i < p->inputs; i++)
        if (!lam__value_same_type(in[i], p->types[i])) return NULL;
    p->refs++;
    return p;
}

/* examples tell types only; their elements are not looked at. Whether f is linear is found out here, by its program, so
 * that a mistake is reported before the function made is called. */
lam_fn *lam_linear_transpose(lam_fn *f, lam_list examples) {
    lam_ctx *ctx = lam__fn_check("linear_transpose", f);
    if (!ctx) return f ? f->ctx->failed_fn : lam__context_failed.failed_fn;
    lam__scratch_area area;
    size_t values = (size_t)(2 * f->inputs + f->outputs);
    lam_fn *made = ctx->failed_fn;
    lam_value **in = lam__scratch_get(&area, ctx, values * sizeof *in);
    if (!in) return made;
    memset(in, 0, values * sizeof *in);
    lam__fn_retain(f); /* its body may drop it */
    lam_status status = lam__arguments_list("linear_transpose", f, "examples", examples, f->inputs, false, in);
    for (int i = 0; i < f->inputs && status == LAM_OK; i++)
        if (!lam__arguments_floating("linear_transpose", f, i, in[i])) status = LAM_ERR_DTYPE;
    lam__program *p = status == LAM_OK ? program_of(f, in) : NULL;
    bool recorded = p != NULL;
    if (!p && status == LAM_OK) p = lam__program_new(ctx, f->inputs, f->outputs);
    if (p)
        status = recorded ? lam__program_check_linear(p, f->name, true)
                          : record_linear(f, 0, in, in + f->inputs, in + 2 * f->inputs, p);
    if (p && status == LAM_OK) made = linear_new("linear_transpose", f, body_transpose, p, f->outputs, f->inputs);
    else lam__program_release(p);
    lam__fn_release(f);
    lam__scratch_put(&area);
    return made;
}

/* ---- programs whose constants are inputs ------------------------------------------------------------------------- */

lam__program *lam__linear_program(const lam_fn *f, bool *transposed) {
    *transposed = f->body == body_transpose;
    return f->body == body_linear || *transposed ? ((linear_env *)f->env)->program : NULL;
}

/* The first inputs are fixed and the last one is the variable, as a solver's operator has them. */
lam__program *lam__linear_record(lam_fn *f, lam_value *const in[]) {
    lam__scratch_area area;
    size_t values = (size_t)(f->inputs + f->outputs);
    lam_value **room = lam__scratch_get(&area, f->ctx, values * sizeof *room);
    if (!room) return NULL;
    memset(room, 0, values * sizeof *room);
    lam__program *p = lam__program_new(f->ctx, 1, f->outputs);
    if (p && record_linear(f, f->inputs - 1, in, room, room + f->inputs, p) != LAM_OK) {
        lam__program_release(p);
        p = NULL;
    }
    lam__scratch_put(&area);
    return p;
}

/* The env of an opened function: the program, one reference, and how many of its constants come as inputs. */
typedef struct opened_env {
    lam__program *program; /* first, for linear_free */
    int boxes;
    bool transposed;
} opened_env;

/* in[] is the inputs (transposed: cotangents), then what is to stand in the place of the boxes: a program with these
 * for once. Made anew in each call, since the values in the place of the boxes are those of that call. */
static void body_opened(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    const opened_env *e = env;
    lam__scratch_area area;
    int inputs = e->transposed ? e->program->outputs : e->program->inputs;
    lam_value **values = lam__scratch_get(&area, ctx, (size_t)e->boxes * sizeof *values);
    if (!values) return;
    lam__program *p =
        lam__arguments_values(ctx, e->boxes, in + inputs, values) ? lam__program_with(e->program, values) : NULL;
    if (p && e->transposed) run_transposed(lam__fn_base(env), p, in, out);
    else if (p) run_linear(lam__fn_base(env), p, in, out);
    lam__program_release(p);
    lam__scratch_put(&area);
}

/* p is held once more: f holds it for itself. */
lam_fn *lam__linear_open(lam_fn *f, lam__program *p, bool transposed, int boxes) {
    opened_env env = {p, boxes, transposed};
    int inputs = transposed ? p->outputs : p->inputs, outputs = transposed ? p->inputs : p->outputs;
    lam__derived d = {"solve", f, body_opened, inputs + boxes, outputs, &env, sizeof env, linear_free};
    p->refs++;
    lam_fn *made = lam__fn_derive(f->ctx, &d);
    if (made->magic != LAM__FN) lam__program_release(p);
    return made;
}
