/* Hooks on gradients: an identity Function whose backward is the user's callback, until it is removed. A hook is a
 * lam_fn inside, so that the scope owns it and a use after its end is seen. The instance holds the hook, so pullbacks
 * work on after the user's scope has ended. Under vmap the combined style is mapped, so the callback sees the gradient
 * of one example at a time. What the callback captures is an input behind x, without which it would be hidden from
 * backward: batches reach it there. */
#include "transforms/custom.h"

#include "lib/primitives/apply.h"
#include "transforms/arguments.h"

#include <lamina/tensor.h>

/* The env of a hook; its base is the callback, open. */
typedef struct hook_env {
    bool removed;
} hook_env;

/* The attributes of the Function, released by hook_release with the instance. */
typedef struct hook_attrs {
    lam_fn *hook; /* held */
} hook_attrs;

static void hook_release(lam_ctx *ctx, void *attrs) {
    (void)ctx;
    lam__fn_release(((hook_attrs *)attrs)->hook);
}

/* An alias, so that the output is another tensor than the input to those who compare. */
static void hook_forward(lam_fctx *fc, lam_tensor *const in[], lam_tensor *out[]) {
    out[0] = lam_alias(in[0]);
    lam_fctx_save_for_backward(fc, (lam_list){(size_t)lam_fctx_inputs(fc) - 1, in + 1});
}

/* A hook that has been removed is passed through here rather than taken out of tapes, which nobody could find. */
static void hook_backward(lam_fctx *fc, lam_tensor *const g[], lam_tensor *gx[]) {
    const lam_fn *hook = ((const hook_attrs *)lam_fctx_attrs(fc))->hook;
    const hook_env *e = hook->env;
    const int n = lam_fctx_inputs(fc);
    lam_tensor **list = e->removed ? NULL : lam__apply_room(fc->ctx, (size_t)n);
    for (int k = 0; list && k < n; k++) list[k] = k ? lam_fctx_saved(fc, k - 1) : g[0];
    gx[0] = list ? lam_apply(lam__fn_base(e), (lam_list){(size_t)n, list}) : g[0];
}

/* Forward mode has no cotangents to show; that is said by a rule, since the transpose of backward would call the
 * callback. */
static void hook_jvp(lam_fctx *fc, lam_tensor *const t[], lam_tensor *dout[]) {
    (void)fc;
    dout[0] = t[0];
}

/* Calling a hook is calling its callback. So a hook that a user calls does what it would do to a gradient. */
static void body_hook(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    lam_fn *callback = lam__fn_base(env);
    (void)ctx;
    out[0] = lam_apply(callback, (lam_list){(size_t)callback->inputs, in});
}

/* The name is that of the callback and set for each hook. */
static const lam_function function_hook = {
    .inputs = LAM_VARIADIC,
    .outputs = 1,
    .attrs_size = sizeof(hook_attrs),
    .forward = hook_forward,
    .backward = hook_backward,
    .jvp = hook_jvp,
};

/* The instance goes with the application; a tape that has recorded it holds it further. only_passes: the user's
 * callback may read elements, which is what many hooks are for. */
lam_tensor *lam_on_gradient(lam_tensor *x, lam_fn *callback, lam_hook **hook) {
    if (hook) *hook = NULL;
    lam_ctx *ctx;
    if (!lam__fn_check_call("lam_on_gradient", callback, LAM_LIST(x), &ctx)) return &ctx->failed;
    if (callback->inputs != 1 || callback->outputs != 1) {
        lam__error_set(ctx, LAM_ERR_ARITY, NULL,
                       "lam_on_gradient: callback '%s' takes %d inputs and gives %d outputs, not one and one",
                       callback->name, callback->inputs, callback->outputs);
        return &ctx->failed;
    }
    hook_env env = {false};
    lam_fn *open = lam__arguments_open("on_gradient", callback);
    const int inputs = 1 + lam__arguments_captured(callback);
    lam__derived d = {"gradient hook", open, body_hook, inputs, 1, &env, sizeof env, NULL};
    lam_fn *made = open->magic == LAM__FN ? lam__fn_derive(ctx, &d) : open;
    lam_tensor **list = lam__apply_room(ctx, (size_t)inputs);
    if (made->magic != LAM__FN || !list) return &ctx->failed;
    list[0] = x;
    lam__arguments_append_captures(callback, list, 1);
    lam_function f = function_hook;
    f.name = made->name;
    hook_attrs attrs = {lam__fn_retain(made)};
    lam__instance *instance = lam__custom_instance(ctx, &f, &attrs, hook_release, inputs, 1);
    if (!instance) return &ctx->failed;
    instance->only_passes = true;
    lam_tensor *out = &ctx->failed;
    if (x) lam__custom_apply(instance, (lam_list){(size_t)inputs, list}, &out);
    else lam__error_set(ctx, LAM_ERR_NULL, NULL, "lam_on_gradient: the tensor is NULL");
    lam__custom_release(instance);
    if (hook) *hook = (lam_hook *)(void *)made;
    return out;
}

/* A hook that has ended has nobody left to call it, and its memory may be another function by now. */
void lam_hook_remove(lam_hook *hook) {
    lam_fn *f = (lam_fn *)(void *)hook;
    if (f && f->magic == LAM__FN && f->body == body_hook) ((hook_env *)f->env)->removed = true;
}
