/* Reverse mode as users see it: lam_vjp and its pullback, lam_grad, lam_value_and_grad. All run the tape (tape.c,
 * pull.c).
 * y = f(x), g given:  gx_i = sum over outputs o of (dy_o/dx_i)' g_o,  for i in argnums
 * A pullback keeps the recording and may be called any number of times, at any level; lam_grad walks back once and
 * frees the tape on the way. Inside, NULL stands for a cotangent or gradient that is zero; zeros are made here, since
 * users get a tensor for each. */
#include "transforms/arguments.h"
#include "transforms/tape.h"

#include "lib/dispatch/dispatch.h"
#include "lib/tensor/dtype.h"

#include <lamina/tensor.h>

#include <string.h>

/* ---- pullback --------------------------------------------------------------------------------------------------- */

/* What a pullback owns: the recording, and its types. It outlives the level and the scopes of lam_vjp. */
typedef struct pullback_env {
    lam__recording recording;
    lam_value **types; /* of the outputs it takes cotangents for */
    int taken;         /* number of them */
    int count;         /* argnums */
    int argnums[];
} pullback_env;

/* Room is for one type at least. The env itself belongs to the function. */
static void pullback_free(lam_ctx *ctx, void *env) {
    pullback_env *e = env;
    lam__tape_forget(ctx, &e->recording);
    lam__arguments_release(e->taken, e->types);
    lam__alloc_put(&ctx->pool, e->types, (size_t)(e->taken + 1) * sizeof *e->types);
}

/* The gradient of each argnum, zeros where nothing arrived, of the type that the leaf kept. On failure out[] may be set
 * in part: lam__arguments_give releases it. once: the recording is used up, so what a node saved goes with its
 * visit. */
static lam_status gradients(lam_ctx *ctx, const lam__recording *r, int count, const int argnums[], lam_value *const g[],
                            bool once, lam_value *out[]) {
    lam__scratch_area area;
    lam_value **gx = lam__scratch_get(&area, ctx, (size_t)r->inputs * sizeof *gx);
    lam_status status = gx ? lam__tape_pull(ctx, r, g, gx, once) : LAM_ERR_MEMORY;
    for (int k = 0; k < count; k++) {
        out[k] = gx ? gx[argnums[k]] : NULL; /* also after a failure: what is given is released there */
        if (out[k] || status != LAM_OK) continue;
        out[k] = lam__arguments_zero(ctx, lam__tape_leaf_type(r, argnums[k]));
        if (!out[k]) status = LAM_ERR_MEMORY;
    }
    lam__scratch_put(&area);
    return status;
}

/* in[]: cotangents of the outputs that are not auxiliary, NULL for zero. They must have the outputs' types; the level
 * that they live at is theirs, so a pullback may be differentiated by its cotangent, and batched. once is false: the
 * recording is the function's and stays for the next call. */
static void body_pullback(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    const pullback_env *e = env;
    lam__scratch_area area;
    int n = e->recording.outputs;
    lam_value **g = lam__scratch_get(&area, ctx, (size_t)(n + e->count) * sizeof *g);
    lam_status status = g ? LAM_OK : LAM_ERR_MEMORY;
    if (g) {
        memset(g, 0, (size_t)(n + e->count) * sizeof *g);
        if (!lam__arguments_values(ctx, e->taken, in, g)) status = ctx->error.status;
        for (int o = 0; o < e->taken && status == LAM_OK; o++)
            if (!lam__arguments_fits("pullback", lam__fn_base(env), "cotangent", o, g[o], e->types[o]))
                status = LAM_ERR_SHAPE;
        if (status == LAM_OK) status = gradients(ctx, &e->recording, e->count, e->argnums, g, false, g + n);
        lam__arguments_give(ctx, status, e->count, g + n, out);
    }
    lam__scratch_put(&area);
}

/* ---- lam_vjp ----------------------------------------------------------------------------------------------------- */

/* No list of argnums: every floating input. lam_grad takes the first one instead. -1 after recording what is wrong with
 * a list; an empty choice is fine here, and gives a pullback without gradients. */
static int argnums_of(const lam_fn *f, lam_axes argnums, lam_value *const in[], int items[]) {
    if (argnums.count || argnums.items) return lam__arguments_argnums("vjp", f, argnums, 0, items);
    int count = 0;
    for (int i = 0; i < f->inputs; i++)
        if (in[i] && lam__dtype_is_inexact(in[i]->dtype)) items[count++] = i;
    return count;
}

/* Each output that is not auxiliary must have a derivative: a cotangent for an integer would go nowhere. Known only
 * when f has run, since a function does not declare the dtypes of its outputs. */
static lam_status check_outputs(const lam_fn *f, int n, lam_value *const out[]) {
    for (int o = 0; o < n; o++)
        if (!lam__arguments_floating_output("vjp", f, o, out[o])) return LAM_ERR_DTYPE;
    return LAM_OK;
}

/* Abstract values, so that the outputs themselves need not be kept. One more than there are, so that a function without
 * such outputs has a block to give back. */
static lam_status keep_types(lam_ctx *ctx, pullback_env *e, lam_value *const out[]) {
    size_t bytes = (size_t)(e->taken + 1) * sizeof *e->types;
    e->types = lam__alloc_get(&ctx->pool, bytes);
    if (!e->types) return lam__error_memory(ctx, bytes);
    memset(e->types, 0, bytes);
    for (int o = 0; o < e->taken; o++)
        if (!(e->types[o] = lam__value_abstract(ctx, (lam_dtype)out[o]->dtype, out[o]->rank, out[o]->dims)))
            return LAM_ERR_MEMORY;
    return LAM_OK;
}

/* Records f at `in`; *pullback is made on success. On failure nothing of the recording is left; out[] may hold what
 * lam__arguments_give releases. wanted[] is needed while f is recorded, and no longer. */
static lam_status run_vjp(lam_fn *f, lam_value *const in[], lam_value *out[], const lam_grad_options *o,
                          pullback_env *e, lam_fn **pullback) {
    lam_ctx *ctx = f->ctx;
    lam__scratch_area area;
    bool *wanted = lam__scratch_get(&area, ctx, (size_t)f->inputs + 1);
    if (!wanted) return LAM_ERR_MEMORY;
    memset(wanted, 0, (size_t)f->inputs);
    lam_status status = LAM_OK;
    e->count = argnums_of(f, o->argnums, in, e->argnums);
    for (int k = 0; k < e->count; k++) {
        wanted[e->argnums[k]] = true;
        if (!lam__arguments_floating("vjp", f, e->argnums[k], in[e->argnums[k]])) status = LAM_ERR_DTYPE;
    }
    if (e->count < 0) status = LAM_ERR_OPTION;
    if (status == LAM_OK) status = lam__tape_record(f, in, wanted, out, &e->recording);
    lam__scratch_put(&area);
    if (status != LAM_OK) return status;
    e->taken = f->outputs - o->has_aux;
    status = check_outputs(f, e->taken, out);
    if (status == LAM_OK) status = keep_types(ctx, e, out);
    lam__derived d = {"pullback",   f, body_pullback, e->taken, e->count, e, sizeof *e + (size_t)e->count * sizeof(int),
                      pullback_free};
    if (status == LAM_OK) *pullback = lam__fn_derive(ctx, &d);
    if (status == LAM_OK && (*pullback)->magic == LAM__FN) {
        (*pullback)->optional = true; /* NULL is a zero cotangent */
        return LAM_OK;
    }
    if (e->types) pullback_free(ctx, e); /* the function, if made at all, is the failed one */
    else lam__tape_forget(ctx, &e->recording);
    return status != LAM_OK ? status : LAM_ERR_MEMORY;
}

/* f runs here, once. Results are failed tensors, and *pullback the failed function, until all has gone well. */
lam_status lam_vjp(lam_fn *f, lam_list primals, lam_tensor **out, size_t n_out, lam_fn **pullback,
                   const lam_grad_options *options) {
    static const lam_grad_options none;
    const lam_grad_options *o = options ? options : &none;
    lam_ctx *where, *ctx = lam__fn_check_call("vjp", f, primals, &where);
    for (size_t i = 0; out && i < n_out; i++) out[i] = &where->failed;
    if (pullback) *pullback = where->failed_fn;
    if (!ctx) return where->error.status != LAM_OK ? where->error.status : LAM_ERR_NULL;
    if (!pullback) return lam__error_set(ctx, LAM_ERR_ARITY, NULL, "vjp of '%s': pullback is NULL", f->name);
    if (n_out != (size_t)f->outputs || (!out && n_out))
        return lam__error_set(ctx, LAM_ERR_ARITY, NULL, "vjp of '%s': room for %zu outputs given, %d outputs expected",
                              f->name, out ? n_out : 0, f->outputs);
    if (!lam__arguments_aux("vjp", f, o->has_aux)) return LAM_ERR_OPTION;
    lam__scratch_area area;
    size_t values = (size_t)(f->inputs + f->outputs),
           env_bytes = sizeof(pullback_env) + (size_t)f->inputs * sizeof(int);
    lam_value **in = lam__scratch_get(&area, ctx, values * sizeof *in + env_bytes);
    if (!in) return LAM_ERR_MEMORY;
    memset(in, 0, values * sizeof *in + env_bytes);
    lam__mark mark = lam__error_mark(ctx);
    lam__fn_retain(f); /* its body may drop it */
    lam_status status = lam__arguments_list("vjp", f, "primals", primals, f->inputs, f->optional, in);
    if (status == LAM_OK) status = run_vjp(f, in, in + f->inputs, o, (pullback_env *)(void *)(in + values), pullback);
    lam__arguments_give(ctx, status, f->outputs, in + f->inputs, out);
    lam__fn_release(f);
    lam__scratch_put(&area);
    return lam__error_since_or(ctx, mark, status);
}

/* ---- lam_grad ---------------------------------------------------------------------------------------------------- */

/* Options with the list of inputs made plain: numbers 0..inputs-1, `count` of them. */
typedef struct grad_env {
    bool with_value, holomorphic;
    int aux;
    int count;
    int argnums[];
} grad_env;

/* Only a number has a gradient: for more outputs there is a Jacobian, or a pullback with a cotangent of the user's
 * choice. A tensor of one element is refused as well, rather than summed unasked, but with a remedy of its own. */
static lam_status check_scalar(const lam_fn *f, bool holomorphic, const lam_value *y) {
    if (!lam__dtype_is_inexact(y->dtype))
        return lam__error_set(f->ctx, LAM_ERR_DTYPE, "cast it to f64",
                              "grad: output 0 of '%s' is %s, which has no derivative", f->name,
                              lam_dtype_name((lam_dtype)y->dtype));
    if (y->rank == 0) return lam__arguments_complex("grad", f, holomorphic, "output", 0, y) ? LAM_OK : LAM_ERR_DTYPE;
    char text[256];
    lam__text t = {text, sizeof text, 0};
    lam__error_append_type(&t, (lam_dtype)y->dtype, y->rank, y->dims);
    return lam__error_set(f->ctx, LAM_ERR_SHAPE,
                          y->count == 1 ? "it has one element: make it rank 0 with lam_squeeze or lam_sum"
                                        : "reduce it with lam_sum, or use lam_jacrev or lam_vjp",
                          "grad: output 0 of '%s' must be a scalar (rank 0), it is %s", f->name, text);
}

/* Value, gradients and auxiliary outputs in out[]; room for f's outputs at `results`. The cotangent of the value is 1;
 * what that gives for complex inputs says NOTE [complex derivatives] in lamina/complex.h. On failure out[] may be set
 * in part: lam__arguments_give releases it. */
static lam_status run_grad(const lam_fn *base, const grad_env *e, lam_value *const in[], lam_value *results[],
                           lam_value *out[], bool *wanted) {
    lam_ctx *ctx = base->ctx;
    lam_fn *f = (lam_fn *)(uintptr_t)base;
    for (int k = 0; k < e->count; k++) {
        if (!lam__arguments_floating("grad", f, e->argnums[k], in[e->argnums[k]])) return LAM_ERR_DTYPE;
        if (e->holomorphic && !lam__arguments_complex("grad", f, true, "input", e->argnums[k], in[e->argnums[k]]))
            return LAM_ERR_DTYPE;
        wanted[e->argnums[k]] = true;
    }
    lam__recording r;
    lam_status status = lam__tape_record(f, in, wanted, results, &r);
    if (status != LAM_OK) return status;
    lam_value *one = NULL;
    status = check_scalar(f, e->holomorphic, results[0]);
    if (status == LAM_OK && !(one = lam__value_scalar(ctx, (lam_dtype)results[0]->dtype, 1))) status = LAM_ERR_MEMORY;
    lam__scratch_area area;
    lam_value **g = lam__scratch_get(&area, ctx, (size_t)f->outputs * sizeof *g);
    if (!g) status = LAM_ERR_MEMORY;
    if (status == LAM_OK) {
        memset(g, 0, (size_t)f->outputs * sizeof *g);
        g[0] = one;
        status = gradients(ctx, &r, e->count, e->argnums, g, true, out + e->with_value);
    }
    lam__scratch_put(&area);
    lam__value_release(one);
    lam__tape_forget(ctx, &r); /* what the walk has not freed */
    if (e->with_value) out[0] = lam__value_hold(results[0]);
    for (int a = 0; a < e->aux; a++)
        out[e->with_value + e->count + a] = lam__value_hold(results[f->outputs - e->aux + a]);
    return status;
}

/* Outputs: the value if it is asked for, gradients by argnums, auxiliary ones. f's other results are released here. */
static void body_grad(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    const grad_env *e = env;
    const lam_fn *f = lam__fn_base(env);
    lam__scratch_area area;
    int n_out = e->with_value + e->count + e->aux, values = f->inputs + f->outputs + n_out;
    size_t bytes = (size_t)values * sizeof(lam_value *) + (size_t)f->inputs;
    lam_value **v = lam__scratch_get(&area, ctx, bytes); /* inputs, f's outputs, results; then the flags */
    if (!v) return;
    memset(v, 0, bytes);
    lam_value **results = v + f->inputs, **given = results + f->outputs;
    lam_status status = ctx->error.status;
    if (lam__arguments_values(ctx, f->inputs, in, v))
        status = run_grad(f, e, v, results, given, (bool *)(void *)(v + values));
    lam__arguments_release(f->outputs, results);
    lam__arguments_give(ctx, status, n_out, given, out);
    lam__scratch_put(&area);
}

/* What is wrong with options is said when the function is made, before anything runs. has_aux counts all outputs but
 * the first, which is the value. The env is put together in room for all inputs and copied as far as it is used. */
static lam_fn *grad_new(const char *name, lam_fn *f, const lam_grad_options *options, bool with_value) {
    static const lam_grad_options none;
    const lam_grad_options *o = options ? options : &none;
    lam_ctx *ctx = lam__fn_check(name, f);
    if (!ctx) return f ? f->ctx->failed_fn : lam__context_failed.failed_fn;
    if (!lam__arguments_aux(name, f, o->has_aux)) return ctx->failed_fn;
    if (f->outputs - o->has_aux != 1) {
        lam__error_set(ctx, LAM_ERR_OPTION, "count all outputs but the first in has_aux",
                       "%s: '%s' has %d outputs besides %d auxiliary ones, not one", name, f->name,
                       f->outputs - o->has_aux, o->has_aux);
        return ctx->failed_fn;
    }
    lam__scratch_area area;
    grad_env *e = lam__scratch_get(&area, ctx, sizeof *e + (size_t)f->inputs * sizeof(int));
    lam_fn *made = ctx->failed_fn;
    if (e) {
        e->with_value = with_value;
        e->holomorphic = o->holomorphic;
        e->aux = o->has_aux;
        e->count = lam__arguments_argnums(name, f, o->argnums, 1, e->argnums);
        lam__derived d = {name,
                          f,
                          body_grad,
                          f->inputs,
                          with_value + e->count + e->aux,
                          e,
                          sizeof *e + (size_t)(e->count < 0 ? 0 : e->count) * sizeof(int),
                          NULL};
        if (e->count > 0) made = lam__fn_derive(ctx, &d);
    }
    lam__scratch_put(&area);
    return made;
}

lam_fn *lam_grad(lam_fn *f, const lam_grad_options *options) {
    return grad_new("grad", f, options, false);
}

lam_fn *lam_value_and_grad(lam_fn *f, const lam_grad_options *options) {
    return grad_new("value_and_grad", f, options, true);
}
