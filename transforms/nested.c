/* See nested.h. A row is called as the public operation of its name calls its functions, so it costs what that costs.
 * What a level that records needs of it are types, which the programs of its functions tell. Rules of the rows are in
 * nested_rules.c, their batches in nested_batch.c. */
#include "transforms/nested.h"

#include "lib/dispatch/dispatch.h"
#include "lib/primitives/apply.h"
#include "lib/program/function.h"
#include "lib/program/machine.h"
#include "lib/tensor/dtype.h"
#include "transforms/arguments.h"
#include "transforms/lanes.h"
#include "transforms/nested_trips.h"
#include "transforms/trace.h"

#include <lamina/control.h>
#include <lamina/transforms.h>

#include <stdarg.h>
#include <string.h>

const lam__program *lam__nested_program_at(const lam_value *v) {
    while (v && v->kind == LAM__BOX && lam__payload_of(v)->level) {
        const lam__interpreter *interpreter = lam__payload_of(v)->level->interpreter;
        if (interpreter == &lam__interpreter_trace) return lam__payload_of(v)->level->state;
        v = interpreter->hides_axis ? lam__payload_of(v)->inner : interpreter->read ? interpreter->read(v) : NULL;
    }
    return NULL;
}

/* ---- functions --------------------------------------------------------------------------------------------------- */

static void nested_free(lam_ctx *ctx, void *env) {
    const lam__nested *what = lam__nested_params(env);
    (void)ctx;
    for (int i = 0; i < what->count; i++) lam__fn_release(what->fns[i]);
}

/* in[]: what a function takes from the loop, then what it takes from outside. */
static void body_closed(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    lam_fn *open = env;
    (void)ctx;
    (void)lam_call(open, (lam_list){(size_t)open->inputs, in}, out, (size_t)open->outputs);
}

/* A function whose inputs from number n on are these. */
static lam_fn *closed(lam_ctx *ctx, lam_fn *open, int64_t n, lam_tensor *const captures[]) {
    const size_t captured = (size_t)(open->inputs - n);
    if (!captured) return open;
    return lam_fn_new(ctx, &(lam_fn_options){.name = open->name,
                                             .body = body_closed,
                                             .inputs = (int)n,
                                             .outputs = open->outputs,
                                             .env = open,
                                             .captures = {captured, captures}});
}

/* All trips at once. */
static void call_batch(lam_ctx *ctx, const lam__nested *what, lam_tensor *const in[], lam_tensor *out[]) {
    lam_fn *f = what->fns[0];
    int *axes = (int *)(void *)lam__apply_room(ctx, (size_t)f->inputs);
    if (!axes) return;
    for (int i = 0; i < f->inputs; i++) axes[i] = i < what->elements ? 0 : LAM_UNMAPPED;
    lam_fn *all = lam_vmap(
        f, &(lam_vmap_options){.in_axes = {f->inputs, axes}, .axis_size = what->length ? what->length : LAM_ZERO_SIZE});
    (void)lam_call(all, (lam_list){(size_t)f->inputs, in}, out, (size_t)f->outputs);
}

/* The public operation that a row stands for. */
static void body_nested(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    const lam_primitive *row = ((lam__nested_env *)env)->row;
    const lam__nested *w = lam__nested_params(env);
    const size_t outputs = (size_t)w->fns[w->count - 1]->outputs, n = (size_t)w->carries, k = (size_t)w->elements;
    if (lam__nested_as_row(ctx, row, w, in, out)) return;
    if (row == &lam__row_switch) {
        const lam_list operands = {(size_t)w->fns[0]->inputs, in + 1};
        (void)lam_switch(in[0], w->fns, (size_t)w->count, operands, out, outputs);
    } else if (row == &lam__row_while) {
        lam_fn *condition = closed(ctx, w->fns[0], w->carries, in + n);
        lam_fn *body = closed(ctx, w->fns[1], w->carries, in + n);
        (void)lam_while(condition, body, (lam_list){n, in}, out, outputs);
    } else if (w->batch) {
        call_batch(ctx, w, in, out);
    } else {
        const lam_scan_options o = {.reverse = w->reverse, .length = w->length ? w->length : LAM_ZERO_SIZE};
        lam_fn *f = closed(ctx, w->fns[0], w->carries + w->elements, in + n + k);
        (void)lam_scan(f, (lam_list){n, in}, (lam_list){k, in + n}, out, outputs, &o);
    }
}

lam_fn *lam__nested_function(lam_ctx *ctx, const lam_primitive *row, const lam__nested *what, int n, int m) {
    lam__scratch_area area;
    const size_t bytes = sizeof(lam__nested_env) + lam__nested_bytes(what->count);
    lam__nested_env *e = lam__scratch_get(&area, ctx, bytes);
    lam_fn *made = ctx->failed_fn;
    if (!e) return made;
    e->row = row;
    memcpy(e + 1, what, lam__nested_bytes(what->count));
    lam__nested_forget((lam__nested *)(void *)(e + 1));
    for (int i = 0; i < what->count; i++) lam__fn_retain(what->fns[i]);
    made = lam__fn_derive(ctx, &(lam__derived){row->name, NULL, body_nested, n, m, e, bytes, nested_free});
    if (made->magic != LAM__FN) nested_free(ctx, e);
    lam__scratch_put(&area);
    return made;
}

const lam__nested *lam__nested_while_of(const lam_fn *f) {
    const lam__nested_env *e = f->body == body_nested ? f->env : NULL;
    return e && e->row == &lam__row_while ? lam__nested_params(e) : NULL;
}

/* ---- types ------------------------------------------------------------------------------------------------------- */

/* A call that is checked; name: of the operation, as users know it. */
typedef struct checked {
    const char *name;
    const lam_call_site *call;
    const lam__nested *w;
} checked;

static LAM_PRINTF(3, 4) lam_status fail(const checked *c, lam_status status, const char *format, ...) {
    char message[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return lam__error_set(c->call->ctx, status, "let functions take the operands, and give the same types", "%s: %s",
                          c->name, message);
}

static void append_type(lam__text *text, const lam_value *v) {
    lam__error_append_type(text, (lam_dtype)v->dtype, v->rank, v->dims);
}

/* Whether the counts fit to each other. */
static bool counts_fit(const checked *c) {
    const lam__nested *w = c->w;
    const lam_primitive *row = c->call->primitive;
    const int64_t n = c->call->inputs, m = c->call->outputs;
    if (w->count < 1 || w->carries < 0 || w->elements < 0 || w->length < 0) return false;
    if (row == &lam__row_switch) return n >= 1;
    if (row == &lam__row_while) return w->count == 2 && w->carries <= n && w->carries == m;
    return w->count == 1 && w->carries <= n && w->elements <= n - w->carries && w->carries <= m &&
           !(w->batch && w->carries);
}

/* Whether the programs take the operands, of elements one. */
static lam_status check_inputs(const checked *c) {
    const lam__nested *w = c->w;
    const int skip = c->call->primitive == &lam__row_switch;
    for (int f = 0; f < w->count; f++) {
        const lam__program *p = lam__program_of(w->fns[f]);
        const char *name = w->fns[f]->name;
        if (!p || p->inputs != c->call->inputs - skip)
            return fail(c, LAM_ERR_ARITY, "'%s' has another number of inputs than there are operands", name);
        for (int i = 0; i < p->inputs; i++) {
            const lam_value *v = c->call->in[i + skip], *type = p->types[i];
            const bool element =
                c->call->primitive == &lam__row_scan && i >= w->carries && i < w->carries + w->elements;
            if (!v) return fail(c, LAM_ERR_VALUE, "operand %d is missing", i + skip);
            bool same = type->dtype == v->dtype && type->rank == v->rank - element;
            if (element && same && v->dims[0] != w->length)
                return fail(c, LAM_ERR_SHAPE, "operand %d has another length", i + skip);
            for (int axis = 0; axis < type->rank && same; axis++) same = type->dims[axis] == v->dims[axis + element];
            if (!same)
                return fail(c, type->dtype == v->dtype ? LAM_ERR_SHAPE : LAM_ERR_DTYPE,
                            "input %d of '%s' is of another type than operand %d", i, name, i + skip);
        }
    }
    return LAM_OK;
}

/* Carries that change their types are listed. */
static lam_status check_carries(const checked *c) {
    const lam_fn *f = c->w->fns[c->w->count - 1];
    const lam__program *p = lam__program_of(f);
    char text[512];
    lam__text t = {text, sizeof text, 0};
    lam_status status = LAM_OK;
    for (int o = 0; o < c->w->carries; o++) {
        const lam_value *was = c->call->in[o], *is = lam__program_result_type(p, o);
        if (lam__value_same_type(was, is)) continue;
        lam__error_append(&t, "%scarry %d is ", status == LAM_OK ? "" : ", ", o);
        append_type(&t, was);
        lam__error_append(&t, " and becomes ");
        append_type(&t, is);
        if (status != LAM_ERR_DTYPE) status = was->dtype == is->dtype ? LAM_ERR_SHAPE : LAM_ERR_DTYPE;
    }
    return status == LAM_OK ? LAM_OK : fail(c, status, "'%s' changes types of its carries: %s", f->name, text);
}

/* Whether function f gives what the first one does. */
static lam_status check_same(const checked *c, int f) {
    const lam_fn *one = c->w->fns[0], *other = c->w->fns[f];
    const lam__program *p = lam__program_of(one), *q = lam__program_of(other);
    char first[128], second[128];
    if (p->outputs != q->outputs)
        return fail(c, LAM_ERR_ARITY, "'%s' gives %d, '%s' gives %d", one->name, p->outputs, other->name, q->outputs);
    for (int o = 0; o < p->outputs; o++) {
        const lam_value *a = lam__program_result_type(p, o), *b = lam__program_result_type(q, o);
        if (lam__value_same_type(a, b)) continue;
        lam__text t = {first, sizeof first, 0}, u = {second, sizeof second, 0};
        append_type(&t, a);
        append_type(&u, b);
        return fail(c, a->dtype == b->dtype ? LAM_ERR_SHAPE : LAM_ERR_DTYPE,
                    "output %d of '%s' is %s, that of '%s' is %s", o, one->name, first, other->name, second);
    }
    return LAM_OK;
}

/* An index or condition that can be asked, carries of the types that came in, and of a choice the same from each. */
static lam_status check_functions(const checked *c) {
    const lam_value *index = c->call->primitive == &lam__row_switch ? c->call->in[0] : NULL;
    if (c->call->primitive == &lam__row_switch && (!index || index->rank || index->dtype != LAM_I64))
        return fail(c, LAM_ERR_SHAPE, "the index is not an i64 of rank 0");
    if (c->call->primitive == &lam__row_while) {
        const lam__program *p = lam__program_of(c->w->fns[0]);
        if (p->outputs != 1 || lam__program_result_type(p, 0)->rank ||
            lam__dtype_is_complex(lam__program_result_type(p, 0)->dtype))
            return fail(c, LAM_ERR_SHAPE, "'%s' gives no bool of rank 0", c->w->fns[0]->name);
    }
    lam_status status = check_carries(c);
    for (int f = 1; f < c->w->count && c->call->primitive == &lam__row_switch && status == LAM_OK; f++)
        status = check_same(c, f);
    return status;
}

/* Results are those of the last function; of a scan with an axis in front of what is no carry. */
static lam_status shapes_of(const checked *c, lam_shape out[]) {
    const lam__nested *w = c->w;
    if (!counts_fit(c)) return fail(c, LAM_ERR_ARITY, "operands, functions and results do not fit in number");
    lam_status status = check_inputs(c);
    const lam__program *last = status == LAM_OK ? lam__program_of(w->fns[w->count - 1]) : NULL;
    if (last && last->outputs != c->call->outputs)
        status = fail(c, LAM_ERR_ARITY, "'%s' has another number of outputs", w->fns[w->count - 1]->name);
    if (status == LAM_OK) status = check_functions(c);
    for (int o = 0; o < c->call->outputs && status == LAM_OK; o++) {
        const lam_value *type = lam__program_result_type(last, o);
        const int front = c->call->primitive == &lam__row_scan && o >= w->carries;
        if (type->rank + front > LAM_INNER_RANK) return fail(c, LAM_ERR_RANK, "result %d has too many axes", o);
        out[o] = (lam_shape){.dtype = (lam_dtype)type->dtype, .rank = type->rank + front, .dims = {w->length}};
        for (int i = 0; i < type->rank; i++) out[o].dims[i + front] = type->dims[i];
        if (lam__value_count(out[o].rank, out[o].dims, lam__dtype_bytes(out[o].dtype)) < 0)
            status = fail(c, LAM_ERR_OVERFLOW, "result %d has too many elements", o);
    }
    return status;
}

/* ---- as programs ------------------------------------------------------------------------------------------------- */

/* NOTE [values found outside]
 * A function may use values around it. When w -> while (condition, x -> w x) is recorded, w is a variable of the
 * program that is being recorded, and for the program of the body a constant that belongs to another level. The rules
 * of a row look at operands alone, and a program that is printed has no name for it. So the body becomes
 * (x, w) -> w x, as do all functions of the call, and w an operand behind those that the call has: one of `values`,
 * which are distinct and held. */
typedef struct recorded {
    const lam_call_site *call;
    lam__nested *what;
    lam__program **programs;
    lam_value **types, **values;
    size_t found;
    const lam__program *fused; /* for which the call is recorded, if that is to be fused; NULL */
} recorded;

/* What input i of the functions is like; held. */
static lam_value *input_type(const lam_call_site *call, int i) {
    const lam__nested *what = call->params;
    const lam_value *v = call->in[i + (call->primitive == &lam__row_switch)];
    const bool element = call->primitive == &lam__row_scan && i >= what->carries && i < what->carries + what->elements;
    return lam__value_abstract(call->ctx, (lam_dtype)v->dtype, v->rank - element, v->dims + element);
}

/* A finished program of f, one reference, which is a part of one that is to be fused, or of another one (NULL). */
static lam__program *record(lam_fn *f, lam_value *const types[], const lam__program *fused) {
    lam_ctx *ctx = f->ctx;
    lam__scratch_area area;
    const size_t n = (size_t)(f->inputs + f->outputs);
    lam_value **room = lam__scratch_get(&area, ctx, (n + 1) * sizeof *room);
    if (!room) return NULL;
    memset(room, 0, (n + 1) * sizeof *room);
    lam__program *p = lam__program_new(ctx, f->inputs, f->outputs);
    if (p) p->keeps_loops = p->keeps_rules = true;
    if (p && fused) p->unrolls = true, p->native = fused->native;
    if (p && lam__trace_fn(f, p, 0, types, room, room + f->inputs) != LAM_OK) {
        lam__program_release(p);
        p = NULL;
    }
    lam__scratch_put(&area);
    return p;
}

/* Adds the values of open levels that p has found and that no function before it has. */
static bool find(recorded *r, const lam__program *p) {
    lam__scratch_area area;
    const int64_t count = lam__program_boxes(p, NULL);
    if (count <= 0) return true;
    lam_value **boxes = lam__scratch_get(&area, p->ctx, (size_t)count * sizeof *boxes);
    if (!boxes) return false;
    lam__program_boxes(p, boxes);
    lam_value **wider = (lam_value **)(void *)lam__apply_room(p->ctx, r->found + (size_t)count);
    if (wider && r->found) memcpy(wider, r->values, r->found * sizeof *wider);
    if (wider) r->values = wider;
    for (int64_t i = 0; wider && i < count; i++) {
        size_t at = 0;
        while (at < r->found && wider[at] != boxes[i]) at++;
        if (at == r->found) wider[r->found++] = lam__value_hold(boxes[i]);
    }
    lam__scratch_put(&area);
    return wider != NULL;
}

/* Adds a value of each batch along whose axis p works, where no operand belongs to it: that batch has to take the call
 * apart while it is open. */
static bool find_batches(recorded *r, const lam__program *p) {
    lam_tensor *member;
    while ((member = lam__lanes_member(p, r->call->inputs, r->call->in, (int)r->found, r->values))) {
        lam_value **wider = (lam_value **)(void *)lam__apply_room(p->ctx, r->found + 1);
        if (lam_failed(member) || !wider) return false;
        if (r->found) memcpy(wider, r->values, r->found * sizeof *wider);
        wider[r->found++] = lam__value_hold(lam__scope_peek(member));
        r->values = wider;
    }
    return true;
}

/* Functions become programs; a program that finds nothing outside stays the one it is. */
static bool as_programs(lam_ctx *ctx, recorded *r) {
    bool fine = true;
    for (int i = 0; i < r->what->count && fine; i++) {
        lam_fn *f = r->what->fns[i];
        lam__program *p = lam__program_of(f);
        r->programs[i] = p ? NULL : record(f, r->types, r->fused);
        if (!p) p = r->programs[i];
        fine = p && find(r, p) && find_batches(r, p);
    }
    for (int i = 0; i < r->what->count && fine; i++) {
        lam__program *p = r->programs[i] ? r->programs[i] : lam__program_of(r->what->fns[i]);
        if (r->found) {
            lam__program *lifted = lam__program_lift(p, r->found, r->values);
            lam__program_release(r->programs[i]);
            r->programs[i] = lifted;
            if (!lifted) return false;
        }
        if (!r->programs[i]) continue;
        r->what->fns[i] = lam__program_fn(ctx, r->programs[i], r->what->fns[i]->name);
        r->programs[i] = NULL;
        fine = r->what->fns[i]->magic == LAM__FN;
    }
    return fine;
}

/* The call with its operands, and with what the functions found outside behind them. Types are asked for before the
 * row is dispatched: they are those that the user sees. */
static lam_status apply_recorded(const char *name, const lam_call_site *call, recorded *r, lam_value *out[]) {
    lam_ctx *ctx = call->ctx;
    const lam__mark mark = lam__error_mark(ctx);
    const size_t n = (size_t)call->inputs;
    const bool fine = as_programs(ctx, r);
    lam_value **all = fine ? (lam_value **)(void *)lam__apply_room(ctx, n + r->found) : NULL;
    const size_t shapes = (size_t)call->outputs * sizeof(lam_shape);
    lam_shape *types = all ? (lam_shape *)(void *)lam__apply_room(ctx, shapes / sizeof(void *) + 1) : NULL;
    if (!types) {
        const lam_status status = lam__error_since(ctx, mark);
        return status == LAM_OK ? LAM_ERR_MEMORY : status;
    }
    if (n) memcpy(all, call->in, n * sizeof *all);
    if (r->found) memcpy(all + n, r->values, r->found * sizeof *all);
    lam_call_site with = *call;
    with.params = r->what;
    with.inputs += (int)r->found;
    with.in = all;
    const checked c = {name, &with, r->what};
    lam_status status = shapes_of(&c, types);
    if (status == LAM_OK) status = lam__dispatch(&with, out);
    return status == LAM_OK ? lam__nested_known(&with, out) : status;
}

/* Whether the call is one for programs, as it is where an operand is traced and a level keeps loops, or nobody knows
 * which way it goes; not where types are all that is wanted. keeps, fused: of any of the levels that trace operands. */
static bool is_recorded(const lam_call_site *call, bool *keeps, const lam__program **fused) {
    bool traced = false;
    *keeps = false;
    *fused = NULL;
    for (int i = 0; i < call->inputs; i++) {
        const lam__program *p = lam__nested_program_at(call->in[i]);
        if (p && p->only_types) return false;
        traced = traced || p;
        *keeps = *keeps || (p && p->keeps_loops);
        if (p && p->unrolls) *fused = p;
    }
    return traced && (*keeps || ((const lam__nested *)call->params)->kept);
}

/* The functions become programs only where a level records: elsewhere they are called as they are, which is faster,
 * and may look at elements. */
lam_status lam__nested_apply(const char *name, const lam_call_site *call, lam_value *out[]) {
    bool keeps;
    recorded r = {.call = call};
    const lam__nested *what = call->params;
    lam_ctx *ctx = call->ctx;
    for (int i = 0; i < what->count; i++)
        if (!lam__fn_check(name, what->fns[i])) return ctx->error.status;
    if (!is_recorded(call, &keeps, &r.fused)) {
        lam_call_site plain = *call;
        return lam__dispatch(&plain, out);
    }
    lam_scope scope;
    lam_status status = LAM_ERR_MEMORY;
    const size_t count = (size_t)what->count, inputs = (size_t)what->fns[0]->inputs;
    lam__scope_open(ctx, &scope);
    r.what = (lam__nested *)(void *)lam__apply_room(ctx, lam__nested_bytes(what->count) / sizeof(void *) + 1);
    r.programs = (lam__program **)(void *)lam__apply_room(ctx, count);
    r.types = (lam_value **)(void *)lam__apply_room(ctx, inputs);
    if (r.what && r.programs && r.types) {
        memcpy(r.what, what, lam__nested_bytes(what->count));
        r.what->kept = !keeps;
        memset(r.programs, 0, count * sizeof *r.programs);
        memset(r.types, 0, inputs * sizeof *r.types);
        bool fine = true;
        for (size_t i = 0; i < inputs && fine; i++) fine = (r.types[i] = input_type(call, (int)i)) != NULL;
        if (fine) status = apply_recorded(name, call, &r, out);
        for (size_t i = 0; i < count; i++) lam__program_release(r.programs[i]);
        lam__arguments_release((int)inputs, r.types);
        lam__arguments_release((int)r.found, r.values);
    }
    lam__scope_close(&scope);
    return status;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static void hold_params(lam_ctx *ctx, void *params) {
    const lam__nested *what = params;
    (void)ctx;
    lam__machine_hold(what->machine);
    lam__trips_hold(what->trips);
    for (int i = 0; i < what->count; i++) lam__fn_retain(what->fns[i]);
}

static void release_params(lam_ctx *ctx, void *params) {
    const lam__nested *what = params;
    (void)ctx;
    lam__machine_release(what->machine);
    lam__trips_release(what->trips);
    for (int i = 0; i < what->count; i++) lam__fn_release(what->fns[i]);
}

/* The fastest way that there is: machine code of the whole, programs on plain values, or else the public operation. */
static lam_status call_nested(const lam_call_site *call, lam_value *out[]) {
    lam_ctx *ctx = call->ctx;
    lam_scope scope;
    lam__machine *machine = ((const lam__nested *)call->params)->machine;
    bool plain = machine != NULL;
    for (int i = 0; i < call->inputs && plain; i++) plain = call->in[i]->kind == LAM__CONCRETE;
    if (plain) return lam__machine_run(machine, call->in, out);
    lam_status status;
    if (lam__nested_run(call, out, &status)) return status;
    lam__scope_open(ctx, &scope);
    lam_fn *f = lam__nested_function(ctx, call->primitive, call->params, call->inputs, call->outputs);
    status = f->magic == LAM__FN ? lam__fn_call(f, (size_t)call->inputs, call->in, (size_t)call->outputs, out)
                                 : LAM_ERR_MEMORY;
    lam__scope_close(&scope);
    return status;
}

static lam_status shape_nested(const lam_call_site *call, lam_shape out[]) {
    const checked c = {call->primitive->name, call, call->params};
    return shapes_of(&c, out);
}

#define ROW(n, text)                                                                                                   \
    const lam_primitive lam__row_##n = {                                                                               \
        .name = #n,                                                                                                    \
        .inputs = LAM_VARIADIC,                                                                                        \
        .outputs = LAM_VARIADIC,                                                                                       \
        .derivative = LAM_GENERAL,                                                                                     \
        .layout = text,                                                                                                \
        .shape = shape_nested,                                                                                         \
        .call = call_nested,                                                                                           \
        .staged = &lam__nested_stages,                                                                                 \
        .params_hold = hold_params,                                                                                    \
        .params_release = release_params,                                                                              \
    }

ROW(switch, NULL);
ROW(while, "l carries");
ROW(scan, "l carries, l elements, l length, b reverse, b batch");

const lam_primitive *const lam__nested_rows[] = {&lam__row_switch, &lam__row_while, &lam__row_scan, NULL};
