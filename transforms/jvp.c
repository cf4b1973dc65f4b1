/* Forward mode as users see it: lam_jvp and lam_jvp_fn. Both run f once under a dual level (dual.h) and differ in when
 * f is called. A tangent is NULL inside where it is zero; zeros are made here for outputs that do not depend on the
 * inputs named, since users get a tensor for each. Auxiliary outputs come without tangents.
 * dy = sum over i in argnums of (df/dx_i) dx_i
 * Cost: that of f and of its derivative rules along one direction; nothing is kept for a way back. */
#include "transforms/arguments.h"
#include "transforms/dual.h"

#include "lib/dispatch/dispatch.h"
#include "lib/tensor/dtype.h"

#include <lamina/tensor.h>

#include <string.h>

/* Options with the list of inputs made plain: numbers 0..inputs-1, `count` of them. */
typedef struct jvp_env {
    int aux;
    int count;
    int argnums[];
} jvp_env;

/* Runs f; out[] gets its outputs, dout[] the tangents of those that are not auxiliary, zeros made. dx: per argnum. On
 * failure some of out[] and dout[] may be set: lam__arguments_give releases them. A tangent is checked only where it is
 * given, so an integer input may be named with NULL. */
static lam_status run_jvp(lam_fn *f, const jvp_env *e, lam_value *const in[], lam_value *const dx[], lam_value *out[],
                          lam_value *dout[]) {
    lam__scratch_area area;
    lam_status status = LAM_OK;
    lam_value **tangents = lam__scratch_get(&area, f->ctx, (size_t)f->inputs * sizeof *tangents);
    if (!tangents) return LAM_ERR_MEMORY;
    memset(tangents, 0, (size_t)f->inputs * sizeof *tangents);
    for (int k = 0; k < e->count && status == LAM_OK; k++) {
        int i = e->argnums[k];
        tangents[i] = dx[k];
        if (dx[k] && (!lam__arguments_floating("jvp", f, i, in[i]) ||
                      !lam__arguments_fits("jvp", f, "tangent", k, dx[k], in[i])))
            status = LAM_ERR_SHAPE;
    }
    if (status == LAM_OK) status = lam__dual_run(f, in, tangents, out, dout);
    const int kept = f->outputs - e->aux;
    lam__arguments_release(e->aux, dout + kept);
    for (int o = 0; o < kept && status == LAM_OK; o++)
        if (!dout[o] && !(dout[o] = lam__arguments_zero(f->ctx, out[o]))) status = LAM_ERR_MEMORY;
    lam__scratch_put(&area);
    return status;
}

/* The options as an env of f's size; NULL after recording what is wrong. All inputs are the default of argnums, unlike
 * for gradients. `area` may be put back in any case. */
static jvp_env *env_of(lam_fn *f, const lam_grad_options *options, lam__scratch_area *area) {
    static const lam_grad_options none;
    const lam_grad_options *o = options ? options : &none;
    area->block = NULL;
    if (!lam__arguments_aux("jvp", f, o->has_aux)) return NULL;
    jvp_env *e = lam__scratch_get(area, f->ctx, sizeof *e + (size_t)f->inputs * sizeof(int));
    if (!e) return NULL;
    e->aux = o->has_aux;
    e->count = lam__arguments_argnums("jvp", f, o->argnums, f->inputs, e->argnums);
    return e->count < 0 ? NULL : e;
}

/* Primals for all inputs, tangents for argnums. Results are failed tensors until all has gone well. A handle for which
 * memory is lacking has no status but its record, which lam__error_since finds. */
lam_status lam_jvp(lam_fn *f, lam_list primals, lam_list tangents, lam_tensor **out, lam_tensor **tangents_out,
                   size_t n_out, const lam_grad_options *options) {
    lam_ctx *where, *ctx = lam__fn_check_call("jvp", f, primals, &where);
    size_t aux = options && options->has_aux > 0 ? (size_t)options->has_aux : 0;
    for (size_t i = 0; out && i < n_out; i++) out[i] = &where->failed;
    for (size_t i = 0; tangents_out && i + aux < n_out; i++) tangents_out[i] = &where->failed;
    if (!ctx) return where->error.status != LAM_OK ? where->error.status : LAM_ERR_NULL;
    if (out && !tangents_out && n_out)
        return lam__error_set(ctx, LAM_ERR_ARITY, "use lam_call where no tangents are wanted",
                              "jvp of '%s': there is no room for tangents", f->name);
    if (n_out != (size_t)f->outputs || !out || !tangents_out)
        return lam__error_set(ctx, LAM_ERR_ARITY, NULL, "jvp of '%s': room for %zu outputs given, %d expected", f->name,
                              out ? n_out : 0, f->outputs);
    lam__scratch_area area, area_env;
    size_t values = 2 * (size_t)(f->inputs + f->outputs);
    /* Before the options are looked at: what is wrong with them is this call's failure. */
    lam__mark mark = lam__error_mark(ctx);
    jvp_env *e = env_of(f, options, &area_env);
    lam_status status = e ? LAM_OK : LAM_ERR_OPTION;
    lam__fn_retain(f); /* its body may drop it */
    lam_value **v = lam__scratch_get(&area, ctx, values * sizeof *v);
    if (!v) status = LAM_ERR_MEMORY;
    if (v) memset(v, 0, values * sizeof *v);
    lam_value **dx = v + f->inputs, **results = dx + f->inputs, **dout = results + f->outputs; /* one block */
    if (status == LAM_OK) status = lam__arguments_list("jvp", f, "primals", primals, f->inputs, f->optional, v);
    if (status == LAM_OK) status = lam__arguments_list("jvp", f, "tangents", tangents, e->count, true, dx);
    if (status == LAM_OK) status = run_jvp(f, e, v, dx, results, dout);
    /* Also after a failure: results that are there are released by this. */
    if (v) lam__arguments_give(ctx, status, f->outputs, results, out);
    if (v && e) lam__arguments_give(ctx, status, f->outputs - e->aux, dout, tangents_out);
    lam__fn_release(f);
    lam__scratch_put(&area);
    lam__scratch_put(&area_env);
    return lam__error_since_or(ctx, mark, status);
}

/* Inputs: those of f, then tangents. Outputs: values, tangents, auxiliary ones. There is room for tangents of all
 * outputs, since f gives one for each; run_jvp drops those of auxiliary ones. */
static void body_jvp(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    const jvp_env *e = env;
    lam_fn *f = lam__fn_base(env);
    lam__scratch_area area;
    int taken = f->inputs + e->count, values = taken + 2 * f->outputs, kept = f->outputs - e->aux;
    lam_value **v = lam__scratch_get(&area, ctx, (size_t)values * sizeof *v);
    if (!v) return;
    memset(v, 0, (size_t)values * sizeof *v);
    lam_value **results = v + taken, **dout = results + f->outputs;
    lam_status status = ctx->error.status;
    if (lam__arguments_values(ctx, taken, in, v)) status = run_jvp(f, e, v, v + f->inputs, results, dout);
    lam__arguments_give(ctx, status, kept, results, out);                     /* values, then */
    lam__arguments_give(ctx, status, kept, dout, out + kept);                 /* tangents, then */
    lam__arguments_give(ctx, status, e->aux, results + kept, out + 2 * kept); /* auxiliary ones */
    lam__scratch_put(&area);
}

/* The env is copied without the room that argnums did not need. `optional`: tangents may be NULL. */
lam_fn *lam_jvp_fn(lam_fn *f, const lam_grad_options *options) {
    lam_ctx *ctx = lam__fn_check("jvp", f);
    if (!ctx) return f ? f->ctx->failed_fn : lam__context_failed.failed_fn;
    lam__scratch_area area;
    jvp_env *e = env_of(f, options, &area);
    lam_fn *made = ctx->failed_fn;
    if (e) {
        lam__derived d = {"jvp",
                          f,
                          body_jvp,
                          f->inputs + e->count,
                          2 * (f->outputs - e->aux) + e->aux,
                          e,
                          sizeof *e + (size_t)e->count * sizeof(int),
                          NULL};
        made = lam__fn_derive(ctx, &d);
        if (made->magic == LAM__FN) made->optional = true;
    }
    lam__scratch_put(&area);
    return made;
}
