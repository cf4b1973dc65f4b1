/* Rules for functions that exist already: lam_custom_vjp, lam_custom_jvp, lam_custom_jvps, lam_custom_vmap. Each is a
 * custom Function whose callbacks call the user's functions; what these rules may do and how they nest is therefore
 * said in custom.c. All are of the combined style: forward saves, and under vmap the callbacks of the first three are
 * mapped, so that a user's rule sees one example. Rooms for handles (lam__apply_room) belong to the callback's scope;
 * where one is NULL, or a call has failed, the failure is recorded, and a callback that returns without results passes
 * it on. */
#include "transforms/custom.h"

#include "lib/primitives/apply.h"
#include "lib/tensor/dtype.h"
#include "transforms/arguments.h"
#include "transforms/tape.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

#include <string.h>

/* The attributes of all of them. fns: f, then fwd and bwd, or the rule, or one rule per input (NULL: none); held, and
 * open: their captures are inputs. Behind them lies one flag per input.
 *
 * NOTE [captures of rules]
 * A callback runs below the level that it serves, where what the user's functions capture from that level is hidden. So
 * captures are inputs of the custom Function behind those of f, function by function, and each function is given its
 * own: a batch reaches them as it reaches inputs. They have no cotangents, so a derivative by one of them is refused as
 * that by a nondiff input is. */
typedef struct rules_attrs {
    bool symbolic_zeros;
    lam_vmap_rule vmap_rule;
    void *env;
    lam__seen *seen;      /* of f, where a rule gives its outputs; else NULL */
    int inputs, fn_count; /* inputs: of f, without captures */
    lam_fn *fns[];
} rules_attrs;

/* Behind the functions: per input, whether it is nondiff. */
static const bool *nondiff_of(const rules_attrs *a) {
    return (const bool *)(const void *)(a->fns + a->fn_count);
}

/* How many inputs come first for bwd, and how many tangents a rule does not get. */
static int nondiff_count(const rules_attrs *a) {
    int count = 0;
    for (int i = 0; i < a->inputs; i++) count += nondiff_of(a)[i];
    return count;
}

/* Called when the instance goes, or by hand where none was made. */
static void rules_release(lam_ctx *ctx, void *attrs) {
    rules_attrs *a = attrs;
    lam__seen_free(ctx, a->seen);
    for (int k = 0; k < a->fn_count; k++) lam__fn_release(a->fns[k]);
}

static int captured(lam_fn *f) {
    return f ? lam__arguments_captured(f) : 0;
}

/* Where the captures of function k begin among the Function's inputs. */
static int captures_at(const rules_attrs *a, int k) {
    int at = a->inputs;
    for (int j = 0; j < k; j++) at += captured(a->fns[j]);
    return at;
}

/* Calls function k with these inputs and its captures (NOTE [captures of rules]). */
static lam_status call_fn(lam_fctx *fc, int k, lam_list in, lam_tensor *const captures[], lam_tensor **out) {
    lam_fn *f = ((const rules_attrs *)lam_fctx_attrs(fc))->fns[k];
    const size_t more = (size_t)captured(f), count = in.count + more;
    if (!more) return lam_call(f, in, out, (size_t)f->outputs);
    lam_tensor **all = lam__apply_room(fc->ctx, count);
    if (!all) return LAM_ERR_MEMORY;
    for (size_t i = 0; i < count; i++) all[i] = i < in.count ? in.items[i] : captures[i - in.count];
    return lam_call(f, (lam_list){count, all}, out, (size_t)f->outputs);
}

/* The same of a rule whose tangents or cotangents may be NULL, whatever the user said of the function, which lies below
 * the open one if it captures: those that it gets, and the last `lacking` results, which are zero then. */
static lam_status call_rule(lam_fctx *fc, int k, lam_list in, lam_tensor *const captures[], lam_tensor **out,
                            int lacking) {
    lam_fn *f = ((const rules_attrs *)lam_fctx_attrs(fc))->fns[k], *own = captured(f) ? lam__fn_base(f->env) : f;
    const lam_fn before[] = {*f, *own};
    f->optional = own->optional = true;
    f->lacking = own->lacking = lacking;
    lam_status status = call_fn(fc, k, in, captures, out);
    own->optional = before[1].optional, own->lacking = before[1].lacking;
    f->optional = before[0].optional, f->lacking = before[0].lacking;
    return status;
}

/* Whether no derivative is wanted: then f itself has run. */
static bool ran_plain(lam_fctx *fc, lam_tensor *const in[], lam_tensor *out[]) {
    const rules_attrs *a = lam_fctx_attrs(fc);
    if (fc->derivative) return false;
    if (call_fn(fc, 0, (lam_list){(size_t)a->inputs, in}, in + captures_at(a, 0), out) == LAM_OK)
        lam__seen_note(a->seen, in, out);
    return true;
}

/* A derivative by a nondiff input or by a capture is refused rather than given as zero, which would be wrong without a
 * word. */
static lam_status check_nondiff(const lam_fctx *fc) {
    const rules_attrs *a = lam_fctx_attrs(fc);
    for (int i = a->inputs; i < lam_fctx_inputs(fc); i++)
        if (lam_fctx_needs_input_grad(fc, i))
            return lam__custom_fail(fc, LAM_ERR_CAPTURED, "pass it as an input, or apply lam_stop_gradient to it",
                                    "a derivative by capture %d is wanted, for which a rule has no cotangent",
                                    i - a->inputs);
    for (int i = 0; i < a->inputs; i++)
        if (nondiff_of(a)[i] && lam_fctx_needs_input_grad(fc, i))
            return lam__custom_fail(fc, LAM_ERR_RULE, "leave it out of nondiff, or apply lam_stop_gradient to it",
                                    "a derivative by input %d is wanted, which is nondiff", i);
    return LAM_OK;
}

/* A tangent that a rule gives of an integer output is dropped. */
static void drop_of_integers(size_t m, lam_tensor *const out[], lam_tensor *tangents[]) {
    for (size_t o = 0; o < m; o++)
        if (!lam__dtype_is_inexact((int)lam_dtype_of(out[o]))) tangents[o] = NULL;
}

/* ---- lam_custom_vjp ---------------------------------------------------------------------------------------------- */

/* Without a derivative f, with one fwd; saved are the nondiff inputs, then the residuals, in the order in which bwd
 * takes them, then its captures. So fwd must compute what f computes; of that types are compared (custom_seen.c). */
static void vjp_forward(lam_fctx *fc, lam_tensor *const in[], lam_tensor *out[]) {
    const rules_attrs *a = lam_fctx_attrs(fc);
    lam_fn *f = a->fns[0], *fwd = a->fns[1], *bwd = a->fns[2];
    const lam_list inputs = {(size_t)a->inputs, in};
    size_t m = (size_t)f->outputs, r = (size_t)fwd->outputs - m, kept = 0, own = (size_t)captured(bwd);
    if (ran_plain(fc, in, out)) return;
    lam_tensor **results = lam__apply_room(fc->ctx, m + r), **list = lam__apply_room(fc->ctx, inputs.count + r + own);
    if (!results || !list || check_nondiff(fc) != LAM_OK) return;
    if (call_fn(fc, 1, inputs, in + captures_at(a, 1), results) != LAM_OK) return;
    if (lam__seen_check(fc, a->seen, fwd, in, results) != LAM_OK) return;
    for (size_t o = 0; o < m; o++) out[o] = results[o];
    for (int i = 0; i < a->inputs; i++)
        if (nondiff_of(a)[i]) list[kept++] = in[i];
    for (size_t k = 0; k < r; k++) list[kept++] = results[m + k];
    for (size_t k = 0; k < own; k++) list[kept++] = in[(size_t)captures_at(a, 2) + k];
    lam_fctx_save_for_backward(fc, (lam_list){kept, list});
    lam_fctx_set_materialize_grads(fc, !a->symbolic_zeros);
}

/* bwd gets nondiff inputs, residuals, cotangents. Of inputs that are not floating it gives a number too, which is
 * dropped. */
static void vjp_backward(lam_fctx *fc, lam_tensor *const g[], lam_tensor *gx[]) {
    const rules_attrs *a = lam_fctx_attrs(fc);
    lam_fn *bwd = a->fns[2];
    size_t saved = (size_t)lam_fctx_saved_count(fc), own = (size_t)captured(bwd), m = (size_t)a->fns[0]->outputs;
    lam_tensor **in = lam__apply_room(fc->ctx, saved + m), **out = lam__apply_room(fc->ctx, (size_t)bwd->outputs);
    if (!in || !out) return;
    saved -= own;
    for (size_t k = 0; k < saved + own; k++) in[k < saved ? k : k + m] = lam_fctx_saved(fc, (int)k);
    for (size_t o = 0; o < m; o++) in[saved + o] = g[o];
    const lam_list list = {saved + m, in};
    if (call_rule(fc, 2, list, in + saved + m, out, bwd->outputs) != LAM_OK) return;
    for (int i = 0, k = 0; i < a->inputs; i++) {
        if (nondiff_of(a)[i]) continue;
        gx[i] = fc->floating[i] ? out[k] : NULL;
        k++;
    }
}

/* ---- lam_custom_jvp ---------------------------------------------------------------------------------------------- */

/* The rule, on inputs and one tangent each: outputs, then tangents, of which those that there cannot be are NULL. NULL
 * after a failure. x: the inputs of the Function, with captures. */
static lam_tensor **run_rule(lam_fctx *fc, lam_tensor *const x[], lam_tensor *const t[]) {
    const rules_attrs *a = lam_fctx_attrs(fc);
    size_t n = (size_t)a->inputs, m = (size_t)a->fns[0]->outputs, given = n;
    lam_tensor **in = lam__apply_room(fc->ctx, 2 * n), **out = lam__apply_room(fc->ctx, 2 * m);
    if (!in || !out) return NULL;
    for (size_t i = 0; i < n; i++) {
        in[i] = x[i];
        if (!nondiff_of(a)[i]) in[given++] = t[i];
    }
    if (call_rule(fc, 1, (lam_list){given, in}, x + captures_at(a, 1), out, (int)m) != LAM_OK) return NULL;
    drop_of_integers(m, out, out + m);
    return out;
}

/* The tangent with which the rule runs for its outputs: that of this level where it is known already, otherwise zero.
 * Where zeros are left out, reverse mode still shows those of the inputs that it differentiates by. */
static lam_tensor *tangent_of(lam_fctx *fc, int i, lam_tensor *x) {
    const rules_attrs *a = lam_fctx_attrs(fc);
    lam_value *known = fc->tangents ? fc->tangents[i] : NULL;
    if (known) return lam__scope_handle(fc->ctx, lam__value_hold(known));
    bool there = !a->symbolic_zeros || (!fc->tangents && lam_fctx_needs_input_grad(fc, i));
    return fc->floating[i] && there ? lam_zeros_like(x) : NULL;
}

/* Where a derivative is wanted the values are the rule's, so that f itself does not run. Forward mode knows the
 * tangents by then and needs no second run: saved are the tangents of the outputs. Elsewhere saved are the inputs. */
static void jvp_forward(lam_fctx *fc, lam_tensor *const in[], lam_tensor *out[]) {
    const rules_attrs *a = lam_fctx_attrs(fc);
    size_t n = (size_t)lam_fctx_inputs(fc), m = (size_t)a->fns[0]->outputs;
    if (ran_plain(fc, in, out)) return;
    lam_tensor **t = lam__apply_room(fc->ctx, n);
    if (!t || check_nondiff(fc) != LAM_OK) return;
    for (int i = 0; i < a->inputs; i++) t[i] = tangent_of(fc, i, in[i]);
    lam_tensor **results = run_rule(fc, in, t);
    if (!results || lam__seen_check(fc, a->seen, a->fns[1], in, results) != LAM_OK) return;
    for (size_t o = 0; o < m; o++) out[o] = results[o];
    fc->has_tangents = fc->tangents != NULL;
    lam_fctx_save_for_forward(fc, fc->has_tangents ? (lam_list){m, results + m} : (lam_list){n, in});
    lam_fctx_set_materialize_grads(fc, !a->symbolic_zeros);
}

/* With the tangents of the outputs saved (has_tangents) the rule does not run a second time. Otherwise it runs with the
 * tangents given, and its outputs are dropped. */
static void jvp_jvp(lam_fctx *fc, lam_tensor *const t[], lam_tensor *dout[]) {
    int n = lam_fctx_inputs(fc), m = lam_fctx_outputs(fc);
    lam_tensor **in = lam__apply_room(fc->ctx, (size_t)n), **results = NULL;
    if (!in) return;
    for (int i = 0; i < n && !fc->has_tangents; i++) in[i] = lam_fctx_saved(fc, i);
    if (!fc->has_tangents && !(results = run_rule(fc, in, t))) return;
    for (int o = 0; o < m; o++)
        if (!fc->constant[o]) dout[o] = results ? results[m + o] : lam_fctx_saved(fc, o);
}

/* ---- lam_custom_jvps --------------------------------------------------------------------------------------------- */

/* Saved are the inputs, then the outputs. The outputs are f's own at every level: own_values is off, so a level below
 * differentiates them by these rules again. What no rule can give is refused by jvps_jvp, not here: where a level below
 * wants it of a rule's results alone, as of the slope by x as a function of a capture, nothing asks for that of f. */
static void jvps_forward(lam_fctx *fc, lam_tensor *const in[], lam_tensor *out[]) {
    const rules_attrs *a = lam_fctx_attrs(fc);
    size_t n = (size_t)lam_fctx_inputs(fc), m = (size_t)a->fns[0]->outputs;
    const lam_list inputs = {(size_t)a->inputs, in};
    if (call_fn(fc, 0, inputs, in + captures_at(a, 0), out) != LAM_OK || !fc->derivative) return;
    lam_tensor **list = lam__apply_room(fc->ctx, n + m);
    if (!list) return;
    for (size_t k = 0; k < n + m; k++) list[k] = k < n ? in[k] : out[k - n];
    lam_fctx_save_for_forward(fc, (lam_list){n + m, list});
    lam_fctx_set_materialize_grads(fc, !a->symbolic_zeros);
}

/* One rule per input: tangent, outputs, inputs -> tangents; they add up: dy = sum over i of (df/dx_i) dx_i. An input
 * whose tangent nobody wants is passed over, though materialised zeros are given for it. */
static void jvps_jvp(lam_fctx *fc, lam_tensor *const t[], lam_tensor *dout[]) {
    const rules_attrs *a = lam_fctx_attrs(fc);
    const int n = lam_fctx_inputs(fc), m = a->fns[0]->outputs;
    lam_tensor **in = lam__apply_room(fc->ctx, (size_t)(1 + m + n)), **out = lam__apply_room(fc->ctx, (size_t)m);
    if (!in || !out || check_nondiff(fc) != LAM_OK) return;
    for (int o = 0; o < m; o++) in[1 + o] = lam_fctx_saved(fc, n + o);
    for (int i = 0; i < n; i++) in[1 + m + i] = lam_fctx_saved(fc, i);
    for (int i = 0; i < a->inputs; i++) {
        if (!t[i] || !fc->needs[i] || !a->fns[1 + i]) continue;
        in[0] = t[i];
        const lam_list list = {(size_t)(1 + m + a->inputs), in};
        lam_tensor *const *captures = in + 1 + m + captures_at(a, 1 + i);
        if (call_rule(fc, 1 + i, list, captures, out, m) != LAM_OK) return;
        drop_of_integers((size_t)m, in + 1, out);
        for (int o = 0; o < m; o++) dout[o] = dout[o] && out[o] ? lam_add(dout[o], out[o]) : dout[o] ? dout[o] : out[o];
    }
}

/* ---- lam_custom_vmap --------------------------------------------------------------------------------------------- */

/* The inputs are saved, since the derivative rules below run f again: they are those of f's operations. f is open, so
 * that its captures are inputs like the others, also for derivatives. */
static void vmap_forward(lam_fctx *fc, lam_tensor *const in[], lam_tensor *out[]) {
    const rules_attrs *a = lam_fctx_attrs(fc);
    size_t n = (size_t)a->fns[0]->inputs;
    lam_call(a->fns[0], (lam_list){n, in}, out, (size_t)a->fns[0]->outputs);
    lam_fctx_save_for_backward(fc, (lam_list){n, in});
    lam_fctx_set_materialize_grads(fc, false);
}

/* Values of f's saved inputs, n of them, borrowed: the handles stay in the callback's scope. */
static void saved_values(lam_fctx *fc, int n, lam_value *values[]) {
    for (int i = 0; i < n; i++) values[i] = lam__scope_peek(lam_fctx_saved(fc, i));
}

/* Records f at the saved inputs on a tape of its own and walks it back: the operations of f have rules, and levels
 * below see them. */
static void vmap_backward(lam_fctx *fc, lam_tensor *const g[], lam_tensor *gx[]) {
    lam_fn *f = ((const rules_attrs *)lam_fctx_attrs(fc))->fns[0];
    lam__scratch_area area;
    lam_value **in = lam__scratch_get(&area, fc->ctx, (size_t)(2 * (f->inputs + f->outputs)) * sizeof *in);
    if (!in) return;
    lam_value **back = in + f->inputs, **out = back + f->inputs, **cotangents = out + f->outputs;
    lam__recording r;
    saved_values(fc, f->inputs, in);
    if (lam__tape_record(f, in, fc->needs, out, &r) == LAM_OK) {
        for (int o = 0; o < f->outputs; o++) cotangents[o] = lam__scope_peek(g[o]);
        lam_status status = lam__tape_pull(fc->ctx, &r, cotangents, back, true);
        for (int i = 0; i < f->inputs && status == LAM_OK; i++)
            gx[i] = back[i] ? lam__scope_handle(fc->ctx, back[i]) : NULL;
        lam__arguments_release(f->outputs, out);
        lam__tape_forget(fc->ctx, &r);
    }
    lam__scratch_put(&area);
}

/* f again, by lam_jvp. */
static void vmap_jvp(lam_fctx *fc, lam_tensor *const t[], lam_tensor *dout[]) {
    lam_fn *f = ((const rules_attrs *)lam_fctx_attrs(fc))->fns[0];
    size_t n = (size_t)f->inputs, m = (size_t)f->outputs;
    lam_tensor **in = lam__apply_room(fc->ctx, n), **out = lam__apply_room(fc->ctx, 2 * m);
    if (!in || !out) return;
    for (size_t i = 0; i < n; i++) in[i] = lam_fctx_saved(fc, (int)i);
    if (lam_jvp(f, (lam_list){n, in}, (lam_list){n, t}, out, out + m, m, NULL) != LAM_OK) return;
    drop_of_integers(m, out, out + m);
    for (size_t o = 0; o < m; o++) dout[o] = out[m + o];
}

/* The user's rule is given batch axes in front, moved there by views, and says which results have it. */
static void vmap_vmap(lam_fctx *fc, const lam_vmap_info *info, const int in_axes[], lam_tensor *const in[],
                      lam_tensor *out[], int out_axes[]) {
    const rules_attrs *a = lam_fctx_attrs(fc);
    int n = a->fns[0]->inputs, m = a->fns[0]->outputs;
    lam_tensor **front = lam__apply_room(fc->ctx, (size_t)n);
    bool *mapped = (bool *)(void *)lam__apply_room(fc->ctx, (size_t)(n + m)), *out_mapped = mapped ? mapped + n : NULL;
    if (!front || !mapped) return;
    for (int i = 0; i < n; i++) {
        mapped[i] = in_axes[i] != LAM_UNMAPPED;
        front[i] = mapped[i] ? lam_moveaxis(in[i], in_axes[i], 0) : in[i];
    }
    for (int o = 0; o < m; o++) out_mapped[o] = false;
    a->vmap_rule(fc->ctx, info, mapped, front, out, out_mapped, a->env);
    for (int o = 0; o < m; o++) out_axes[o] = out_mapped[o] ? 0 : LAM_UNMAPPED;
}

/* ---- making ------------------------------------------------------------------------------------------------------ */

/* The callbacks of each kind; name, counts and attributes are added for each function (rules_fn). */
static const lam_function function_vjp = {.forward = vjp_forward, .backward = vjp_backward};
static const lam_function function_jvp = {.forward = jvp_forward, .jvp = jvp_jvp};
static const lam_function function_jvps = {.forward = jvps_forward, .jvp = jvps_jvp};
static const lam_function function_vmap = {
    .forward = vmap_forward, .backward = vmap_backward, .jvp = vmap_jvp, .vmap = vmap_vmap};

/* The flags of nondiff inputs; -1 after recording what is wrong, otherwise how many there are. Numbers of inputs are
 * read as argnums are: negative ones from the end, ranges, each once. */
static int collect_nondiff(const char *what, const lam_fn *f, lam_axes nondiff, bool flags[]) {
    memset(flags, 0, (size_t)f->inputs);
    if (!nondiff.count) return 0;
    lam__scratch_area area;
    int *items = lam__scratch_get(&area, f->ctx, (size_t)f->inputs * sizeof *items);
    int count = items ? lam__arguments_argnums(what, f, nondiff, 0, items) : -1;
    for (int k = 0; k < count; k++) flags[items[k]] = true;
    lam__scratch_put(&area);
    return count;
}

/* What a maker gives after a failure; of no context where there is no function to tell one. */
static lam_fn *failed_of(const lam_fn *f) {
    return f ? f->ctx->failed_fn : lam__context_failed.failed_fn;
}

/* Puts the attributes together: holds the functions, open ones of those that capture. NULL after recording what is
 * wrong; then nothing is held. They lie in the caller's scratch memory until the instance has copied them. */
static rules_attrs *attrs_new(const char *what, lam__scratch_area *area, int count, lam_fn *const fns[],
                              const lam_custom_options *o, size_t *bytes) {
    lam_ctx *ctx = fns[0]->ctx;
    *bytes = sizeof(rules_attrs) + (size_t)count * sizeof *fns + (size_t)fns[0]->inputs;
    rules_attrs *a = lam__scratch_get(area, ctx, *bytes);
    if (!a) return NULL;
    *a = (rules_attrs){.symbolic_zeros = o && o->symbolic_zeros, .inputs = fns[0]->inputs, .fn_count = count};
    if (collect_nondiff(what, fns[0], o ? o->nondiff : (lam_axes){0, NULL}, (bool *)(uintptr_t)nondiff_of(a)) < 0)
        return NULL;
    for (int k = 0; k < count; k++) {
        a->fns[k] = fns[k] ? lam__arguments_open(what, fns[k]) : NULL;
        if (a->fns[k] && a->fns[k]->magic != LAM__FN) return NULL;
    }
    for (int k = 0; k < count; k++) lam__fn_retain(a->fns[k]);
    return a;
}

/* A function around an instance with these attributes, whose references it takes over also on failure; it has the
 * captures of all. own_values: where a derivative is wanted, a rule gives the outputs, which the levels below
 * differentiate as it stands. */
static lam_fn *rules_fn(const lam_fn *base, lam_function f, rules_attrs *a, size_t bytes, bool own_values) {
    lam_ctx *ctx = base->ctx;
    const int count = captures_at(a, a->fn_count) - a->inputs;
    if (own_values && !(a->seen = lam__seen_new(ctx, a->inputs, base->outputs))) {
        rules_release(ctx, a);
        return ctx->failed_fn;
    }
    lam_tensor **captures = lam__apply_room(ctx, (size_t)count);
    for (int k = 0, at = 0; captures && k < a->fn_count; at += captured(a->fns[k++]))
        if (a->fns[k]) lam__arguments_append_captures(a->fns[k], captures, at);
    f.name = base->name;
    f.attrs_size = bytes;
    lam__instance *x = lam__custom_instance(ctx, &f, a, rules_release, a->inputs + count, base->outputs);
    if (x) {
        x->own_values = own_values;
        x->exact = f.backward == vjp_backward;
        x->runs_again = f.jvp == jvp_jvp || f.jvp == vmap_jvp;
    }
    if (captures) return lam__custom_fn(ctx, x, (lam_list){(size_t)count, captures});
    lam__custom_release(x);
    return ctx->failed_fn;
}

/* Counts are checked when the function is made, not when a derivative is wanted. */
static bool check_arity(const char *what, const char *role, const lam_fn *rule, int inputs, int outputs) {
    if (rule->inputs == inputs && rule->outputs == outputs) return true;
    lam__error_set(rule->ctx, LAM_ERR_ARITY, NULL,
                   "%s: %s '%s' takes %d inputs and gives %d outputs, expected %d and %d", what, role, rule->name,
                   rule->inputs, rule->outputs, inputs, outputs);
    return false;
}

/* Whether f and a rule for it are functions; records what is wrong with them, as far as a context is known. */
static bool check_rule(const char *what, lam_fn *f, const char *role, lam_fn *rule) {
    return lam__fn_check(what, f) && lam__custom_goes_with(what, f, role, rule);
}

/* Residuals are what fwd gives beyond f's outputs, so their number is known from the counts alone; fewer outputs than f
 * has are reported as a mistake in fwd. */
lam_fn *lam_custom_vjp(lam_fn *f, lam_fn *fwd, lam_fn *bwd, const lam_custom_options *options) {
    const char *what = "custom_vjp";
    if (!check_rule(what, f, "fwd", fwd) || !check_rule(what, f, "bwd", bwd)) return failed_of(f);
    lam__scratch_area area = {.block = NULL};
    size_t bytes;
    lam_fn *made = f->ctx->failed_fn, *const fns[] = {f, fwd, bwd};
    rules_attrs *a = attrs_new(what, &area, 3, fns, options, &bytes);
    if (a) {
        int fixed = nondiff_count(a), residuals = fwd->outputs - f->outputs;
        bool fits = check_arity(what, "fwd", fwd, f->inputs, f->outputs + (residuals < 0 ? 0 : residuals)) &&
                    check_arity(what, "bwd", bwd, fixed + residuals + f->outputs, f->inputs - fixed);
        if (fits) made = rules_fn(f, function_vjp, a, bytes, true);
        else rules_release(f->ctx, a);
    }
    lam__scratch_put(&area);
    return made;
}

/* The rule gets every input and one tangent for each that is not nondiff, and gives outputs and tangents: 2 m of
 * them. */
lam_fn *lam_custom_jvp(lam_fn *f, lam_fn *rule, const lam_custom_options *options) {
    const char *what = "custom_jvp";
    if (!check_rule(what, f, "rule", rule)) return failed_of(f);
    lam__scratch_area area = {.block = NULL};
    size_t bytes;
    lam_fn *made = f->ctx->failed_fn, *const fns[] = {f, rule};
    rules_attrs *a = attrs_new(what, &area, 2, fns, options, &bytes);
    if (a) {
        if (check_arity(what, "rule", rule, 2 * f->inputs - nondiff_count(a), 2 * f->outputs))
            made = rules_fn(f, function_jvp, a, bytes, true);
        else rules_release(f->ctx, a);
    }
    lam__scratch_put(&area);
    return made;
}

/* Rules may be NULL, so each is checked where it is there. nondiff is taken as with the others: a derivative by such an
 * input is refused, with or without a rule for it. */
lam_fn *lam_custom_jvps(lam_fn *f, lam_fn *const rules[], size_t count, const lam_custom_options *options) {
    const char *what = "custom_jvps";
    if (!lam__fn_check(what, f)) return failed_of(f);
    lam_ctx *ctx = f->ctx;
    if (count != (size_t)f->inputs || !rules) {
        lam__error_set(ctx, LAM_ERR_ARITY, "give NULL for an input without a rule",
                       "%s of '%s': %zu rules given, %d expected", what, f->name, rules ? count : 0, f->inputs);
        return ctx->failed_fn;
    }
    lam__scratch_area area = {.block = NULL}, list_area;
    lam_fn **fns = lam__scratch_get(&list_area, ctx, (count + 1) * sizeof *fns), *made = ctx->failed_fn;
    bool fits = fns != NULL;
    for (size_t i = 0; i < count && fits; i++) {
        fns[1 + i] = rules[i];
        if (rules[i])
            fits = lam__custom_goes_with(what, f, "rule", rules[i]) &&
                   check_arity(what, "rule", rules[i], 1 + f->outputs + f->inputs, f->outputs);
    }
    if (fits) {
        size_t bytes;
        fns[0] = f;
        rules_attrs *a = attrs_new(what, &area, (int)count + 1, fns, options, &bytes);
        if (a) made = rules_fn(f, function_jvps, a, bytes, false);
        lam__scratch_put(&area);
    }
    lam__scratch_put(&list_area);
    return made;
}

/* The rule is C code and not a function, since the set of mapped inputs differs from call to call. env is borrowed. */
lam_fn *lam_custom_vmap(lam_fn *f, lam_vmap_rule rule, void *env) {
    const char *what = "custom_vmap";
    if (!lam__fn_check(what, f)) return failed_of(f);
    if (!rule) {
        lam__error_set(f->ctx, LAM_ERR_NULL, NULL, "%s of '%s': the rule is NULL", what, f->name);
        return f->ctx->failed_fn;
    }
    lam__scratch_area area = {.block = NULL};
    size_t bytes;
    lam_fn *made = f->ctx->failed_fn, *const fns[] = {f};
    rules_attrs *a = attrs_new(what, &area, 1, fns, NULL, &bytes);
    if (a) {
        a->vmap_rule = rule;
        a->env = env;
        made = rules_fn(f, function_vmap, a, bytes, false);
    }
    lam__scratch_put(&area);
    return made;
}
