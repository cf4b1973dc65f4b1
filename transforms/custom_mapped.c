/* The generated batching rule: a Function that applies another one to every example of a batch. Its callbacks push a
 * batch level and run those of the base on it, one level below the batch that is being taken apart; nesting recurses.
 * What holds here: values are physical outside and per example inside; what the base saves is kept physical with the
 * batch axis in front and one bit that says whether it has one; gradients of unmapped inputs are summed over the batch.
 * The batch level ends with each callback, so nothing of it may be kept: saved values are unboxed behind forward and
 * boxed again for each run of a rule. */
#include "transforms/custom.h"

#include "transforms/arguments.h"
#include "transforms/batch.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

#include <string.h>

/* The attributes of a mapped Function. */
typedef struct mapped {
    lam__instance *base; /* held */
    lam__batch batch;
    int axes[]; /* per input; behind them the name of the axis, if batch has one */
} mapped;

/* The instance copies attributes as bytes; the reference that lam__custom_mapped took goes with the copy. */
static void mapped_release(lam_ctx *ctx, void *attrs) {
    (void)ctx;
    lam__custom_release(((mapped *)attrs)->base);
}

/* One run of a callback of the base on the batch level. In the caller's frame: the batch level that its body runs on
 * ends before it does. */
typedef struct run {
    lam_fctx *fc, *base; /* of the mapped Function; of the base */
    bool *given;         /* per result: the callback gave one */
    lam_status status;
} run;

/* Borrowed values; NULL stays NULL. Handles of a callback hold them for as long as that runs. */
static void peek_all(int n, lam_tensor *const in[], lam_value *values[]) {
    for (int i = 0; i < n; i++) values[i] = lam__scope_peek(in[i]);
}

/* Hands results of a callback, taken over, to the batch level: a function has no holes, so a number stands for what
 * there is not. `given` tells the numbers apart afterwards, behind the batch level. */
static void give(const run *r, lam_status status, int m, lam_value *results[], lam_tensor *out[]) {
    lam_ctx *ctx = r->fc->ctx;
    for (int k = 0; k < m; k++) {
        r->given[k] = status == LAM_OK && results[k];
        if (status != LAM_OK) {
            lam__value_release(results[k]);
            out[k] = &ctx->failed;
        } else out[k] = results[k] ? lam__scope_handle(ctx, results[k]) : lam_scalar(ctx, 0);
    }
}

/* Calls body on the batch level: operand k of n has its batch axis at axes[k]; results come with it in front, NULL
 * where the callback gave none. The function around body lives in this frame: nothing derives from it or keeps it. A
 * result that is the same for all examples is repeated along the batch axis, since out_axes says front for all. */
static lam_status run_batch(run *r, lam_body body, int n, lam_value *const in[], const int axes[], int m,
                            lam_value *out[]) {
    const mapped *a = r->fc->instance->attrs;
    lam_fn f = {.magic = LAM__FN,
                .refs = 1,
                .ctx = r->fc->ctx,
                .name = (char *)(uintptr_t)r->fc->instance->fn.name,
                .body = body,
                .inputs = n,
                .outputs = m,
                .env = r,
                .optional = true};
    lam__scratch_area area;
    int *front = lam__scratch_get(&area, r->fc->ctx, (size_t)m * sizeof *front);
    if (!front) return LAM_ERR_MEMORY;
    for (int o = 0; o < m; o++) front[o] = 0;
    lam__batch batch = a->batch;
    if (batch.axis_name) batch.axis_name = (const char *)(a->axes + a->base->inputs); /* wherever the copy lies */
    lam_status status = lam__batch_run(&f, &batch, in, axes, out, front);
    for (int o = 0; o < m && status == LAM_OK; o++) {
        if (r->given[o]) continue;
        lam__value_release(out[o]);
        out[o] = NULL;
    }
    lam__scratch_put(&area);
    return status;
}

/* ---- saved values ------------------------------------------------------------------------------------------------ */

/* Of both modes together: the order of `batched`, and of operands behind those of a rule. The innermost context has all
 * of them. */
static int saved_count(const lam_fctx *fc) {
    return fc->saved[LAM__FOR_BACKWARD].count + fc->saved[LAM__FOR_JVP].count;
}

/* A value saved on the batch level, made physical; *has: it has the batch axis, in front now. Takes v over. NULL after
 * a failure to move it, which the caller tells from a NULL that was saved by *has. */
static lam_value *physical(const lam__level *level, lam_value *v, bool *has) {
    *has = v && lam__level_owns(level, v);
    if (!*has) return v;
    lam_value *moved = lam__batch_move(level->ctx, lam__payload_of(v)->inner, (int)lam__payload_of(v)->number, 0);
    lam__value_release(v);
    return moved;
}

/* The types of one example, by which the checks of tangents and gradients go: a rule that runs later gets operands and
 * results of the whole batch, or none. base owns them from the first one on, so nothing is to be undone. */
static lam_status keep_types(lam_fctx *base, int n, lam_value *const in[], int m, lam_value *const out[]) {
    size_t bytes = (size_t)(n + m) * sizeof *base->types;
    base->types = lam__alloc_get(&base->ctx->pool, bytes ? bytes : 1);
    if (!base->types) return lam__error_memory(base->ctx, bytes);
    memset(base->types, 0, bytes);
    for (int k = 0; k < n + m; k++) {
        const lam_value *v = k < n ? in[k] : out[k - n];
        if (v && !(base->types[k] = lam__value_abstract(base->ctx, (lam_dtype)v->dtype, v->rank, v->dims)))
            return LAM_ERR_MEMORY;
    }
    return LAM_OK;
}

/* Moves what the base's context holds over to the mapped one; runs on the batch level. Only a derivative level needs
 * it. The mapped context then has the base's as `inner`, so that with nested batches the innermost holds what was saved
 * and each one around it one bit per saved value. */
static lam_status adopt(run *r, lam_value *const in[], lam_value *const out[]) {
    lam_fctx *fc = r->fc, *base = r->base, *holder = lam__context_innermost(base);
    const lam__instance *x = base->instance;
    fc->batched_count = saved_count(holder);
    fc->batched = lam__alloc_get(&fc->ctx->pool, (size_t)fc->batched_count + 1);
    if (!fc->batched) return lam__error_memory(fc->ctx, (size_t)fc->batched_count + 1);
    lam_status status = keep_types(base, x->inputs, in, x->outputs, out);
    for (int mode = 0, number = 0; mode < LAM__FOR_BOTH; mode++)
        for (int k = 0; k < holder->saved[mode].count; k++, number++) {
            lam_value **v = &holder->saved[mode].values[k];
            *v = physical(fc->ctx->current, *v, &fc->batched[number]);
            if (fc->batched[number] && !*v) status = fc->ctx->error.status;
        }
    fc->inner = base;
    base->refs++;
    for (int o = 0; o < x->outputs; o++) fc->constant[o] = base->constant[o];
    fc->materialize = false; /* the base does that, per example */
    return status;
}

/* A context of the base for this application. Which inputs need a gradient is the same for every example. From and
 * until go along, for what setup_context of the base may not use. */
static lam_fctx *base_context(lam_fctx *fc, lam_tensor *const in[]) {
    const mapped *a = fc->instance->attrs;
    lam__scratch_area area;
    int n = a->base->inputs;
    lam_value **values = lam__scratch_get(&area, fc->ctx, (size_t)n * sizeof *values);
    lam_fctx *base = NULL;
    if (values) {
        peek_all(n, in, values);
        base = lam__context_new(a->base, fc->derivative ? fc->needs : NULL, values);
    }
    if (base) {
        base->from = fc->from;
        base->until = fc->until;
    }
    lam__scratch_put(&area);
    return base;
}

/* ---- forward and setup_context ----------------------------------------------------------------------------------- */

/* On the batch level. A separate forward saves nothing; what setup_context saves is adopted in body_setup. r->status is
 * looked at by nobody else: failures are on record, and give() hands on failed tensors. */
static void body_forward(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    run *r = env;
    lam__instance *x = r->base->instance;
    lam__scratch_area area;
    lam_value **values = lam__scratch_get(&area, ctx, (size_t)(x->inputs + x->outputs) * sizeof *values),
              **results = values + x->inputs;
    if (!values) return;
    peek_all(x->inputs, in, values);
    r->status = lam__custom_forward(r->base, values, results);
    if (r->status == LAM_OK && r->fc->derivative && !x->fn.setup_context) {
        lam__context_note_absent(r->base, results);
        r->status = adopt(r, values, results);
    }
    give(r, r->status, x->outputs, results, out);
    lam__scratch_put(&area);
}

/* in[] are those of the Function that is mapped, with their batch axes where `axes` says. The run's `given` lies behind
 * the values, a byte for each result. */
static void mapped_forward(lam_fctx *fc, lam_tensor *const in[], lam_tensor *out[]) {
    const mapped *a = fc->instance->attrs;
    lam__scratch_area area;
    int n = a->base->inputs, m = a->base->outputs;
    lam_value **values = lam__scratch_get(&area, fc->ctx, (size_t)(n + m) * sizeof *values + (size_t)m),
              **results = values + n;
    run r = {.fc = fc, .base = base_context(fc, in), .given = (bool *)(void *)(results + m)};
    if (values && r.base) {
        peek_all(n, in, values);
        lam_status status = run_batch(&r, body_forward, n, values, a->axes, m, results);
        for (int o = 0; o < m; o++) fc->absent[o] = status == LAM_OK && !results[o];
        for (int o = 0; o < m; o++) out[o] = fc->absent[o] ? NULL : lam__scope_handle(fc->ctx, results[o]);
    }
    lam__context_release(r.base);
    lam__scratch_put(&area);
}

/* A function without outputs: what it leaves behind is what it has saved. */
static void body_setup(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    run *r = env;
    const lam__instance *x = r->base->instance;
    lam__scratch_area area;
    (void)out;
    lam_value **values = lam__scratch_get(&area, ctx, (size_t)(x->inputs + x->outputs) * sizeof *values);
    if (!values) return;
    peek_all(x->inputs + x->outputs, in, values);
    lam__context_note_absent(r->base, values + x->inputs);
    r->status = lam__custom_setup(r->base, values, values + x->inputs);
    if (r->status == LAM_OK) r->status = adopt(r, values, values + x->inputs);
    lam__scratch_put(&area);
}

/* Operands of the run are the inputs, with their batch axes, and the outputs, which have it in front. */
static void mapped_setup(lam_fctx *fc, lam_tensor *const in[], lam_tensor *const out[]) {
    const mapped *a = fc->instance->attrs;
    lam__scratch_area area;
    int n = a->base->inputs, m = a->base->outputs;
    lam_value **values = lam__scratch_get(&area, fc->ctx, (size_t)(n + m) * (sizeof *values + sizeof(int)));
    run r = {.fc = fc, .base = base_context(fc, in)};
    if (values && r.base) {
        int *axes = (int *)(void *)(values + n + m);
        peek_all(n, in, values);
        peek_all(m, out, values + n);
        for (int k = 0; k < n + m; k++) axes[k] = k < n ? a->axes[k] : 0;
        run_batch(&r, body_setup, n + m, values, axes, 0, NULL);
    }
    lam__context_release(r.base);
    lam__scratch_put(&area);
}

/* ---- derivative rules -------------------------------------------------------------------------------------------- */

/* A rule gets n tangents or cotangents and then the saved values, and gives m: NULL where it gives none. */
typedef struct rule_run {
    run run; /* first: the env of the body */
    int n, m;
    lam_status (*rule)(lam_fctx *fc, lam_value *const in[], lam_value *const results[], lam_value *const given[],
                       lam_value *wanted[]);
} rule_run;

/* Operands and results are not lent to a rule: what it needs of them it has saved, and their types are in the
 * context. Copies of the contexts are needed for one run, in which saved values are boxes of its level. */
static void body_rule(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    rule_run *r = env;
    lam__scratch_area area;
    int saved = saved_count(lam__context_innermost(r->run.base));
    lam_value **given = lam__scratch_get(&area, ctx, (size_t)(r->n + saved + r->m) * sizeof *given),
              **wanted = given + r->n + saved;
    if (!given) return;
    peek_all(r->n + saved, in, given);
    for (int k = 0; k < r->m; k++) wanted[k] = NULL;
    lam_fctx *with = lam__context_with(r->run.base, given + r->n);
    lam_status status = with ? r->rule(with, NULL, NULL, given, wanted) : LAM_ERR_MEMORY;
    give(&r->run, status, r->m, wanted, out);
    lam__context_release(with);
    lam__scratch_put(&area);
}

/* Runs a rule on the batch level; results physical, the batch axis in front, NULL where the rule gave none. axes NULL:
 * all given values have the batch axis in front. */
static lam_status run_rule(lam_fctx *fc, rule_run *r, lam_tensor *const given[], const int axes[],
                           lam_value *wanted[]) {
    lam__scratch_area area;
    const lam_fctx *holder = lam__context_innermost(fc);
    int saved = saved_count(holder), n = r->n + saved;
    lam_value **values = lam__scratch_get(&area, fc->ctx, (size_t)n * (sizeof *values + sizeof(int)) + (size_t)r->m);
    if (!values) return LAM_ERR_MEMORY;
    int *all_axes = (int *)(void *)(values + n);
    r->run = (run){.fc = fc, .base = fc->inner, .given = (bool *)(void *)(all_axes + n)};
    peek_all(r->n, given, values);
    for (int k = 0; k < r->n; k++) all_axes[k] = axes ? axes[k] : 0;
    for (int mode = 0, k = r->n; mode < LAM__FOR_BOTH; mode++)
        for (int i = 0; i < holder->saved[mode].count; i++, k++) {
            values[k] = holder->saved[mode].values[i];
            all_axes[k] = fc->batched[k - r->n] ? 0 : LAM_UNMAPPED;
        }
    lam_status status = run_batch(&r->run, body_rule, n, values, all_axes, r->m, wanted);
    lam__scratch_put(&area);
    return status;
}

/* Tangents have their batch axes where the inputs have them. Outputs have the batch axis in front already, and so have
 * their tangents. */
static void mapped_jvp(lam_fctx *fc, lam_tensor *const tangents_in[], lam_tensor *tangents_out[]) {
    const mapped *a = fc->instance->attrs;
    lam__scratch_area area;
    int m = a->base->outputs;
    lam_value **wanted = lam__scratch_get(&area, fc->ctx, (size_t)m * sizeof *wanted);
    rule_run r = {.n = a->base->inputs, .m = m, .rule = lam__custom_jvp};
    if (wanted && run_rule(fc, &r, tangents_in, a->axes, wanted) == LAM_OK)
        for (int o = 0; o < m; o++) tangents_out[o] = wanted[o] ? lam__scope_handle(fc->ctx, wanted[o]) : NULL;
    lam__scratch_put(&area);
}

/* Gradients go back to where the input has its batch axis; an input without one belongs to all examples. A sum over the
 * examples, since each of them has used that input. */
static void mapped_backward(lam_fctx *fc, lam_tensor *const grad_out[], lam_tensor *grad_in[]) {
    const mapped *a = fc->instance->attrs;
    lam__scratch_area area;
    int n = a->base->inputs;
    lam_value **wanted = lam__scratch_get(&area, fc->ctx, (size_t)n * sizeof *wanted);
    rule_run r = {.n = a->base->outputs, .m = n, .rule = lam__custom_backward};
    if (wanted && run_rule(fc, &r, grad_out, NULL, wanted) == LAM_OK)
        for (int i = 0; i < n; i++) {
            if (!wanted[i]) continue;
            lam_tensor *g = lam__scope_handle(fc->ctx, wanted[i]);
            grad_in[i] = a->axes[i] == LAM_UNMAPPED ? lam_sum(g, &(lam_reduce_options){.axes = LAM_AXES(0)})
                                                    : lam_moveaxis(g, 0, a->axes[i]);
        }
    lam__scratch_put(&area);
}

/* The type of one example. rank -1 is an input that is left out. */
static lam_type without_axis(const lam_type *t, int axis) {
    lam_type one = {.dtype = t->dtype, .rank = t->rank};
    if (axis == LAM_UNMAPPED || t->rank < 0) return *t;
    one.rank = 0;
    for (int a = 0; a < t->rank; a++)
        if (a != axis) one.dims[one.rank++] = t->dims[a];
    return one;
}

/* That of a batch, with its axis in front; one with more axes than a type has room for is refused by who asked. */
static lam_type with_axis(const lam_type *one, int64_t size) {
    lam_type t = {.dtype = one->dtype, .rank = one->rank + 1, .dims = {size}};
    if (one->rank < 0) return *one;
    for (int a = 1; a < t.rank && a < LAM_MAX_RANK; a++) t.dims[a] = one->dims[a - 1];
    return t;
}

/* The shape callback is about one example: it is asked with the types of one, and its answer gets the batch axis in
 * front. In a visitor, since shapes are asked for without an application. */
static void mapped_shape(lam_fctx *fc, const lam_type in[], lam_type out[]) {
    const mapped *a = fc->instance->attrs;
    const lam__instance *x = a->base;
    lam__scratch_area area;
    lam__visitor v;
    lam_type *types = lam__scratch_get(&area, fc->ctx, (size_t)(x->inputs + 1) * sizeof *types);
    if (types && lam__context_begin(&v, a->base)) {
        for (int i = 0; i < x->inputs; i++) types[i] = without_axis(&in[i], a->axes[i]);
        lam_status status = lam__custom_shape(&v.fc, types, out);
        for (int o = 0; o < x->outputs && status == LAM_OK; o++) {
            out[o] = with_axis(&out[o], a->batch.size);
            fc->absent[o] = v.fc.absent[o];
        }
        lam__context_end(&v);
    }
    lam__scratch_put(&area);
}

/* NULL after recording that memory is lacking. Each application makes one: its attributes hold a reference, so it
 * cannot wait in a slot. One that is linear in all its inputs has no shape callback, so inside a batch it is recorded
 * by its operations. */
lam__instance *lam__custom_mapped(lam__instance *x, const int axes[], const lam__batch *batch) {
    lam__scratch_area area;
    size_t fixed = sizeof(mapped) + (size_t)x->inputs * sizeof(int),
           bytes = fixed + (batch->axis_name ? strlen(batch->axis_name) + 1 : 0);
    mapped *a = lam__scratch_get(&area, x->ctx, bytes);
    if (!a) return NULL;
    *a = (mapped){.base = x, .batch = *batch};
    a->batch.crew = NULL; /* rules may run when those are gone, and the vmap that the name is of */
    if (batch->axis_name) memcpy((char *)a + fixed, batch->axis_name, bytes - fixed);
    for (int i = 0; i < x->inputs; i++) a->axes[i] = axes[i];
    lam__custom_hold(x);
    lam_function f = {.name = x->fn.name,
                      .inputs = x->inputs,
                      .outputs = x->outputs,
                      .attrs_size = bytes,
                      .forward = mapped_forward,
                      .setup_context = x->fn.setup_context ? mapped_setup : NULL,
                      .backward = x->fn.backward ? mapped_backward : NULL,
                      .jvp = x->fn.jvp ? mapped_jvp : NULL,
                      .shape = x->linear_in >= 0 ? mapped_shape : NULL,
                      .generate_vmap_rule = true,
                      .once_differentiable = x->fn.once_differentiable,
                      .is_linear = x->fn.is_linear};
    lam__instance *made = lam__custom_instance(x->ctx, &f, a, mapped_release, x->inputs, x->outputs);
    if (made) {
        made->only_passes = true;
        made->own_values = x->own_values;
        made->linear_in = x->linear_in;
    }
    lam__scratch_put(&area);
    return made;
}
