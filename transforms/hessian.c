/* Second derivatives, made of first ones by public calls: Hessians, value with gradient and Hessian, Hessian-vector
 * products. Nothing here knows levels; that derivatives nest is the machine's matter. */
#include "transforms/arguments.h"

#include "lib/dispatch/dispatch.h"
#include "lib/primitives/apply.h"

#include <lamina/tensor.h>

/* The function; if it has failed, under the name of the one that was asked for. */
static lam_fn *named(const char *function, lam_fn *made, uint64_t since) {
    if (lam_failed(made)) lam__error_within(made->ctx, since, function);
    return made;
}

/* Without a function there is nothing to look for behind it. */
static uint64_t now(const lam_fn *f) {
    return f ? lam__scope_now_in(f->ctx) : UINT64_MAX;
}

/* Forward over reverse: the gradient is one value of as many elements as x, whose Jacobian takes one forward pass per
 * element at once (vmap); reverse over reverse would keep a tape of the tape. */
lam_fn *lam_hessian(lam_fn *f, const lam_jacobian_options *options) {
    uint64_t since = now(f);
    return named(__func__, lam_jacfwd(lam_jacrev(f, options), options), since);
}

/* ---- outputs in another order ------------------------------------------------------------------------------------ */

/* Outputs of the base that the function gives, in its order; some may be left out. */
typedef struct order_env {
    int count;
    int order[]; /* output i is output order[i] of the base */
} order_env;

/* f is called for all of its outputs, whichever are wanted. */
static void body_order(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    const order_env *e = env;
    lam_fn *f = lam__fn_base(env);
    lam_tensor **all = lam__apply_room(ctx, (size_t)f->outputs);
    if (!all) return;
    lam_call(f, (lam_list){(size_t)f->inputs, in}, all, (size_t)f->outputs);
    for (int i = 0; i < e->count; i++) out[i] = all[e->order[i]];
}

/* Outputs that stand one behind the other. A list of these ends with a count below 0; a run may be empty. */
typedef struct run {
    int first, count;
} run;

/* f with the outputs of these runs, in their order; one may be there twice. */
static lam_fn *reordered(const char *name, lam_fn *f, const run runs[]) {
    lam_ctx *ctx = lam__fn_check(name, f);
    if (!ctx) return f ? f->ctx->failed_fn : lam__context_failed.failed_fn;
    int count = 0, total = 0;
    for (const run *r = runs; r->count >= 0; r++) total += r->count;
    lam__scratch_area area;
    order_env *e = lam__scratch_get(&area, ctx, sizeof *e + (size_t)total * sizeof(int));
    if (!e) return ctx->failed_fn;
    for (const run *r = runs; r->count >= 0; r++)
        for (int i = 0; i < r->count; i++) e->order[count++] = r->first + i;
    e->count = count;
    lam__derived d = {name, f, body_order, f->inputs, count, e, sizeof *e + (size_t)count * sizeof(int), NULL};
    lam_fn *made = lam__fn_derive(ctx, &d);
    lam__scratch_put(&area);
    return made;
}

/* value_and_grad gives   value, gradients, aux
 * turned                 gradients, value, aux: what is differentiated comes first, the value counts as auxiliary
 * value_and_jacobian     gradients, their Jacobians (a block for each pair of inputs), value, aux
 * and the last order is value, gradients, blocks, aux. All of it is one run of f. */
lam_fn *lam_value_grad_and_hessian(lam_fn *f, const lam_jacobian_options *options) {
    uint64_t since = now(f);
    static const lam_jacobian_options none;
    const lam_jacobian_options *o = options ? options : &none;
    lam_fn *both = lam_value_and_grad(
        f, &(lam_grad_options){.argnums = o->argnums, .has_aux = o->has_aux, .holomorphic = o->holomorphic});
    if (lam_failed(both)) return named(__func__, both, since);
    int aux = o->has_aux, grads = both->outputs - 1 - aux;
    lam_fn *turned = reordered("gradient", both, (run[]){{1, grads}, {0, 1}, {1 + grads, aux}, {0, -1}});
    lam_jacobian_options inner = *o;
    inner.has_aux = 1 + aux;
    lam_fn *all = lam_value_and_jacobian(turned, &inner);
    int blocks = grads * grads;
    return reordered("value_grad_and_hessian", all,
                     (run[]){{grads + blocks, 1}, {0, grads}, {grads, blocks}, {grads + blocks + 1, aux}, {0, -1}});
}

/* Forward over reverse: H v = d/de grad f(x + e v), at the cost of a few gradients whatever the size of x. The outputs
 * of lam_jvp_fn are value, gradients, then the tangents of these; that of the value is grad f . v and is left out. */
lam_fn *lam_hvp(lam_fn *f, const lam_grad_options *options) {
    uint64_t since = now(f);
    static const lam_grad_options none;
    const lam_grad_options *o = options ? options : &none;
    lam_fn *both = lam_value_and_grad(f, o);
    if (lam_failed(both)) return named(__func__, both, since);
    int aux = o->has_aux, grads = both->outputs - 1 - aux;
    int first = 0;
    lam_axes argnums = o->argnums.count || o->argnums.items ? o->argnums : (lam_axes){1, &first};
    lam_fn *push = lam_jvp_fn(both, &(lam_grad_options){.argnums = argnums, .has_aux = aux});
    return reordered("hvp", push, (run[]){{0, 1 + grads}, {2 + grads, grads}, {2 + 2 * grads, aux}, {0, -1}});
}
