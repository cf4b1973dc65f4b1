/* What the transforms have in common: see arguments.h. Messages here name the transform and the function, and count
 * inputs and outputs as the user does, because what is wrong is an argument of the user's and not what some level makes
 * of it. Each function records what is wrong and says so; its caller releases what it has and passes that on. */
#include "transforms/arguments.h"

#include "lib/primitives/axes.h"
#include "lib/tensor/dtype.h"
#include "transforms/linear.h"

#include <lamina/tensor.h>

/* "No list" is neither count nor items; an empty list is a mistake, since a derivative by nothing is none. Numbers may
 * be negative or ranges (LAM_RANGE). Each input once: a second mention would ask for the same gradient twice. The
 * comparison of each with those before it is quadratic, for a few inputs. -1 in any case where something was wrong,
 * also of an empty list. */
int lam__arguments_argnums(const char *transform, const lam_fn *f, lam_axes argnums, int fallback, int items[]) {
    if (!argnums.count && !argnums.items) {
        for (int i = 0; i < fallback; i++) items[i] = i;
        if (fallback <= f->inputs) return fallback;
        lam__error_set(f->ctx, LAM_ERR_ARITY, NULL, "%s: function '%s' has no input to differentiate", transform,
                       f->name);
        return -1;
    }
    /* -1 for what cannot be a list of inputs; room for each once is enough, since none may be named twice. */
    int count = lam__axes_expand(argnums, f->inputs, items);
    if (count == 0)
        lam__error_set(f->ctx, LAM_ERR_OPTION, "name at least one input", "%s: argnums of '%s' is an empty list",
                       transform, f->name);
    if (count < 0)
        lam__error_set(
            f->ctx, LAM_ERR_OPTION, "write LAM_AXES(...), with each input once",
            "%s: argnums of '%s' names more than its %d inputs, is a count without items, or has an impossible "
            "count or LAM_RANGE",
            transform, f->name, f->inputs);
    for (int i = 0; i < count; i++) {
        int given = items[i];
        if (given < -f->inputs || given >= f->inputs) {
            lam__error_set(f->ctx, LAM_ERR_OPTION, "inputs count from 0, from the end from -1",
                           "%s: argnum %d of '%s' is out of range [-%d, %d)", transform, given, f->name, f->inputs,
                           f->inputs);
            return -1;
        }
        if (given < 0) items[i] += f->inputs;
        for (int k = 0; k < i; k++)
            if (items[k] == items[i]) {
                lam__error_set(f->ctx, LAM_ERR_OPTION, "name each input once", "%s: argnum %d of '%s' is named twice",
                               transform, given, f->name);
                return -1;
            }
    }
    return count > 0 ? count : -1;
}

/* Auxiliary outputs are the last ones: they are passed through and have no derivative. */
bool lam__arguments_aux(const char *transform, const lam_fn *f, int has_aux) {
    if (has_aux >= 0 && has_aux < f->outputs) return true;
    lam__error_set(f->ctx, LAM_ERR_OPTION, "has_aux counts the last outputs; one must be left to differentiate",
                   "%s: has_aux is %d, and '%s' has %d outputs", transform, has_aux, f->name, f->outputs);
    return false;
}

/* 0 is the default of the field, and means all at once. */
bool lam__arguments_chunk(const char *transform, const lam_fn *f, int64_t chunk_size) {
    if (chunk_size >= 0) return true;
    lam__error_set(f->ctx, LAM_ERR_OPTION, "give a positive number, or 0 for all at once",
                   "%s: chunk_size of '%s' is %lld", transform, f->name, (long long)chunk_size);
    return false;
}

/* Values are borrowed from the handles; NULL handles give NULL values, which functions with optional inputs take. What
 * is wrong with a handle is recorded as with any operand. On failure what comes behind the one that is wrong is not
 * set. */
bool lam__arguments_values(lam_ctx *ctx, int n, lam_tensor *const in[], lam_value *values[]) {
    for (int i = 0; i < n; i++) {
        values[i] = in[i] ? lam__scope_operand_in(ctx, "input of a function", (size_t)i, in[i]) : NULL;
        if (in[i] && !values[i]) return false;
    }
    return true;
}

/* `which` is what the list holds: "primals", "tangents". values[] has room for `want`. A list of the wrong count is not
 * looked into: its other entries may lie anywhere. A handle of another context is named by its place in the list, which
 * the check of a single operand does not know. */
lam_status lam__arguments_list(const char *transform, const lam_fn *f, const char *which, lam_list list, int want,
                               bool optional, lam_value *values[]) {
    lam_ctx *ctx = f->ctx;
    if (list.count != (size_t)want || (want && !list.items))
        return lam__error_set(ctx, LAM_ERR_ARITY, "give one for each, in their order",
                              list.count == (size_t)want ? "%s of '%s': no items given with a count of %zu %s"
                                                         : "%s of '%s': %zu %s given, %d expected",
                              transform, f->name, list.count, which, want);
    lam__mark mark = lam__error_mark(ctx);
    for (int i = 0; i < want; i++)
        if (!list.items[i] && !optional)
            return lam__error_set(ctx, LAM_ERR_NULL, NULL, "%s of '%s': number %d of the %s is NULL", transform,
                                  f->name, i, which);
        else if (lam__scope_is_foreign(ctx, list.items[i]))
            return lam__error_set(ctx, LAM_ERR_CONTEXT, "copy the data over with lam_read and lam_array",
                                  "%s of '%s': mixed contexts: number %d of the %s belongs to another one", transform,
                                  f->name, i, which);
    if (lam__arguments_values(ctx, want, list.items, values)) return LAM_OK;
    return lam__error_since_or(ctx, mark, ctx->error.status);
}

/* Nothing is left in values[]: what is not given is released, so that after a failure the caller has nothing to do.
 * Every out[i] is set in any case. */
lam_status lam__arguments_give(lam_ctx *ctx, lam_status status, int n, lam_value *values[], lam_tensor *out[]) {
    for (int i = 0; i < n; i++) {
        if (status == LAM_OK && values[i]) {
            out[i] = lam__scope_handle(ctx, values[i]);
        } else {
            lam__value_release(values[i]);
            out[i] = &ctx->failed;
        }
        values[i] = NULL;
    }
    return status;
}

/* Integers and bools have no derivative; to differentiate by one is a mistake rather than a zero. f is for the message:
 * it is an input of this function, by whatever transform. */
bool lam__arguments_floating(const char *transform, const lam_fn *f, int i, const lam_value *v) {
    if (v && lam__dtype_is_inexact(v->dtype)) return true;
    lam__error_set(f->ctx, LAM_ERR_DTYPE, "cast it to f64, or leave it out of argnums",
                   "%s: input %d of '%s' is %s, which has no derivative", transform, i, f->name,
                   v ? lam_dtype_name((lam_dtype)v->dtype) : "NULL");
    return false;
}

/* Outputs have another remedy than inputs, so there are two of these. */
bool lam__arguments_floating_output(const char *transform, const lam_fn *f, int o, const lam_value *v) {
    if (lam__dtype_is_inexact(v->dtype)) return true;
    lam__error_set(f->ctx, LAM_ERR_DTYPE, "put it last and count it in has_aux",
                   "%s: output %d of '%s' is %s, which has no derivative", transform, o, f->name,
                   lam_dtype_name((lam_dtype)v->dtype));
    return false;
}

/* A real function of complex numbers is not differentiated by accident: the user says holomorphic, and then inputs and
 * outputs must all be complex; without, none may be. */
bool lam__arguments_complex(const char *transform, const lam_fn *f, bool holomorphic, const char *which, int i,
                            const lam_value *v) {
    if (lam__dtype_is_complex(v->dtype) == holomorphic) return true;
    lam__error_set(f->ctx, LAM_ERR_DTYPE,
                   holomorphic ? "leave the option holomorphic out, or make it complex"
                               : "work on lam_real and lam_imag, or set the option holomorphic",
                   "%s: %s %d of '%s' is %s", transform, which, i, f->name, lam_dtype_name((lam_dtype)v->dtype));
    return false;
}

/* No broadcasting here: a tangent of other dims is mostly a mistake, and would silently change what a derivative means.
 * The message has both types, of which the dtype is the more telling where both differ. */
bool lam__arguments_fits(const char *transform, const lam_fn *f, const char *which, int i, const lam_value *v,
                         const lam_value *like) {
    if (!v || lam__value_same_type(v, like)) return true;
    char text[512];
    lam__text t = {text, sizeof text, 0};
    lam__error_append_type(&t, (lam_dtype)v->dtype, v->rank, v->dims);
    lam__error_append(&t, " given, ");
    lam__error_append_type(&t, (lam_dtype)like->dtype, like->rank, like->dims);
    bool shape = v->dtype == like->dtype;
    lam__error_set(f->ctx, shape ? LAM_ERR_SHAPE : LAM_ERR_DTYPE,
                   shape ? "bring it to these dims, with lam_reshape or lam_broadcast_to" : "convert it with lam_cast",
                   "%s of '%s': %s %d does not fit: %s expected", transform, f->name, which, i, text);
    return false;
}

/* A function of the user's may give other types on another day; a derivative that was put together of both would be of
 * neither. */
lam_status lam__arguments_again(const lam_fn *f, lam_value *const before[], lam_value *const again[]) {
    for (int o = 0; o < f->outputs; o++) {
        const lam_value *a = before[o], *b = again[o];
        if (!a || !b || lam__value_same_type(a, b)) continue;
        char text[512];
        lam__text t = {text, sizeof text, 0};
        lam__error_append_type(&t, (lam_dtype)b->dtype, b->rank, b->dims);
        lam__error_append(&t, ", and was ");
        lam__error_append_type(&t, (lam_dtype)a->dtype, a->rank, a->dims);
        return lam__error_set(f->ctx, a->dtype == b->dtype ? LAM_ERR_SHAPE : LAM_ERR_DTYPE,
                              "let it give the same types whenever it is given the same inputs",
                              "'%s' was run again for a derivative: output %d is %s", f->name, o, text);
    }
    return LAM_OK;
}

/* Concrete, of no level. `like` may be abstract. */
lam_value *lam__arguments_zero(lam_ctx *ctx, const lam_value *like) {
    return lam__value_zeros(ctx, (lam_dtype)like->dtype, like->rank, like->dims);
}

/* NULL entries are accepted, and all are NULL afterwards, so that a second call does no harm. */
void lam__arguments_release(int n, lam_value *values[]) {
    for (int i = 0; i < n; i++) {
        lam__value_release(values[i]);
        values[i] = NULL;
    }
}

/* ---- captures as inputs ------------------------------------------------------------------------------------------ */

/* A program holds its constants itself. Of a function that is derived it is the one at the bottom that captures. */
int lam__arguments_captured(lam_fn *f) {
    bool transposed;
    return lam__linear_program(f, &transposed) ? 0 : lam__fn_captor(f)->captured;
}

/* Borrowed where it is f itself, the scope's where it is made. */
lam_fn *lam__arguments_open(const char *prefix, lam_fn *f) {
    return lam__arguments_captured(f) ? lam__fn_open(prefix, f) : f;
}

/* In the order of the captures, which is that of the inputs that lam__fn_open adds. */
void lam__arguments_append_captures(lam_fn *f, lam_tensor **list, int n) {
    const lam_fn *captor = lam__fn_captor(f);
    for (int k = 0; k < lam__arguments_captured(f); k++)
        list[n + k] = lam__scope_handle(f->ctx, lam__value_hold(captor->captures[k]));
}
