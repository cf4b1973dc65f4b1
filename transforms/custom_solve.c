/* Implicit derivatives: lam_custom_linear_solve and lam_custom_root. Both are custom Functions whose rules solve again,
 * so that no derivative goes through a solver, and a derivative of any order costs solves and products of the same
 * kind.
 * Linear, A(p) x = b:  A dx = db - (dA) x;  A' w = g;  gb = w;  gp = pullback of p -> A(p) x at -w.
 * Root, f(x, p) = 0:   F dx = -(df/dp) dp;  F' w = g;  gp = pullback of p -> f(x, p) at -w, where F = df/dx.
 * The second is the implicit function theorem; see Blondel et al., Efficient and Modular Implicit Differentiation
 * (2022). A and F need not be matrices: they are functions, linear in one input. Captures of the functions given become
 * operands, so that levels and gradients see them. */
#include "transforms/custom_solve.h"

#include "lib/primitives/apply.h"
#include "lib/tensor/dtype.h"
#include "transforms/arguments.h"
#include "transforms/lanes.h"
#include "transforms/linear.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

#include <string.h>

/* ---- linear systems ---------------------------------------------------------------------------------------------- */

/* The one reference of the attributes; whoever copies them holds once more. */
static void solve_release(lam_ctx *ctx, void *attrs) {
    (void)ctx;
    lam__custom_release_solve(attrs);
}

/* b as one for each example that the operator has one for: so a rule's loop is told from the beginning which examples
 * there are. */
static lam_tensor *spread(const lam_fn *linear, lam_tensor *b) {
    for (int k = 0; k < linear->captured; k++) {
        lam_tensor lent;
        lam__scope_lend(&lent, linear->ctx, linear->captures[k]);
        b = lam__lanes_spread(b, &lent);
    }
    return b;
}

/* By the rule of the user or of an iteration. A symmetric operator is its own transpose, and a rule for it serves
 * both. */
static lam_tensor *by_rule(lam_fctx *fc, const lam__solve_attrs *a, lam_tensor *const in[]) {
    lam__operator_env env;
    lam_solve_rule rule = a->transposed && !a->symmetric ? a->transpose_solve : a->solve;
    lam_fn *linear = lam__custom_operator(a, &env, in, in[a->n]);
    lam_iterative_options settings = a->settings;
    settings.preconditioner = lam__custom_beside(a, in, LAM__PRECONDITIONER);
    lam_tensor *b = linear->captured && !a->iterative ? spread(linear, in[a->n]) : in[a->n];
    return lam_failed(linear) ? &fc->ctx->failed : rule(fc->ctx, linear, b, a->iterative ? &settings : a->env);
}

/* What a solver or a rule gives, as it is. */
static void solve_forward(lam_fctx *fc, lam_tensor *const in[], lam_tensor *out[]) {
    const lam__solve_attrs *a = lam_fctx_attrs(fc);
    lam_tensor *b = in[a->n];
    lam_fn *solver = lam__custom_beside(a, in, a->transposed ? LAM__TRANSPOSE_SOLVER : LAM__SOLVER);
    lam_tensor *x = solver ? lam_apply(solver, LAM_LIST(b)) : by_rule(fc, a, in);
    out[0] = lam__custom_of_type(fc, "the solution", x, b);
}

/* Inputs but for those of functions beside the system, by which nothing is differentiated. */
static int own_inputs(const lam__solve_attrs *a) {
    return a->n + 1 + a->extra;
}

/* Saved are the inputs, with the solution in the place of b: rules need A, of b nothing, and x where another derivative
 * than that by b is wanted. In a linear program, where x is a variable, none is. Zeros are not made: a tangent that is
 * NULL saves a product. */
static void solve_setup(lam_fctx *fc, lam_tensor *const in[], lam_tensor *const out[]) {
    const lam__solve_attrs *a = lam_fctx_attrs(fc);
    int count = lam_fctx_inputs(fc);
    bool others = false;
    lam_tensor **list = lam__apply_room(fc->ctx, (size_t)count);
    for (int k = 0; k < own_inputs(a); k++) others = others || (k != a->n && lam_fctx_needs_input_grad(fc, k));
    for (int k = 0; list && k < count; k++) list[k] = k != a->n ? in[k] : others ? out[0] : NULL;
    if (list) lam_fctx_save_for_backward(fc, (lam_list){(size_t)count, list});
    lam_fctx_set_materialize_grads(fc, false);
}

/* The system's inputs -> the value of matvec (transposed: of the transposed operator): what is differentiated by the
 * parameters. */
static void body_product(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    const lam__solve_attrs *a = env;
    lam__operator_env operator;
    (void)ctx;
    lam_fn *linear = lam__custom_operator(a, &operator, in, in[a->n]);
    out[0] = lam_apply(linear, LAM_LIST(in[a->n]));
}

/* p -> A(p) x with x among its inputs. env is the attributes of the running instance, which live as long as the
 * callback. */
static lam_fn *product_of(lam_fctx *fc) {
    const lam__solve_attrs *a = lam_fctx_attrs(fc);
    return lam_fn_new(fc->ctx, &(lam_fn_options){.name = a->matvec->name,
                                                 .body = body_product,
                                                 .inputs = own_inputs(a),
                                                 .outputs = 1,
                                                 .env = (void *)(uintptr_t)a});
}

/* Handles of the inputs as solve_setup or root_setup has saved them, in the callback's scope. */
static lam_tensor **saved_list(lam_fctx *fc) {
    int count = lam_fctx_saved_count(fc);
    lam_tensor **list = lam__apply_room(fc->ctx, (size_t)count);
    for (int k = 0; list && k < count; k++) list[k] = lam_fctx_saved(fc, k);
    return list;
}

/* Applies an instance with b in its place among the saved inputs. It is the Function again, so its own derivative is by
 * these rules: second derivatives need nothing further. */
static lam_tensor *solve_again(lam_fctx *fc, lam__instance *x, lam_tensor *const saved[], lam_tensor *b) {
    const lam__solve_attrs *a = x->attrs;
    lam_tensor **list = lam__apply_room(fc->ctx, (size_t)x->inputs), *out = &fc->ctx->failed;
    for (int k = 0; list && k < x->inputs; k++) list[k] = k == a->n ? b : saved[k];
    if (list) lam__custom_apply(x, (lam_list){(size_t)x->inputs, list}, &out);
    return out;
}

/* A dx = db - (dA) x: the product is differentiated by everything but x, which holds still. */
static void solve_jvp(lam_fctx *fc, lam_tensor *const t[], lam_tensor *dout[]) {
    const lam__solve_attrs *a = lam_fctx_attrs(fc);
    int count = own_inputs(a);
    lam_tensor **saved = saved_list(fc), **tangents = lam__apply_room(fc->ctx, (size_t)count), *rest = t[a->n];
    bool any = false;
    if (!saved || !tangents) return;
    for (int k = 0; k < count; k++) {
        tangents[k] = k == a->n ? NULL : t[k];
        any = any || tangents[k];
    }
    if (any) {
        lam_tensor *value, *change;
        lam_list primals = {(size_t)count, saved};
        if (lam_jvp(product_of(fc), primals, (lam_list){(size_t)count, tangents}, &value, &change, 1, NULL) != LAM_OK)
            return;
        rest = rest ? lam_sub(rest, change) : lam_neg(change);
    }
    if (rest) dout[0] = solve_again(fc, fc->instance, saved, rest);
}

/* x has the type of b. */
static void solve_shape(lam_fctx *fc, const lam_type in[], lam_type out[]) {
    out[0] = in[((const lam__solve_attrs *)lam_fctx_attrs(fc))->n];
}

static const lam_function function_solve;

/* Takes over the references of the attributes. A solution is linear in b. NULL without memory. */
static lam__instance *solve_instance(lam_ctx *ctx, const lam__solve_attrs *a, int inputs) {
    lam__instance *x = lam__custom_instance(ctx, &function_solve, a, solve_release, inputs, 1);
    if (x) x->linear_in = a->n;
    return x;
}

/* The Function that solves the transposed system: the same with `transposed` turned, so the transpose of it is the
 * first again. NULL after recording that there is no rule for it. */
static lam__instance *transposed_of(lam_fctx *fc) {
    lam__solve_attrs a = *(const lam__solve_attrs *)lam_fctx_attrs(fc);
    if (!a.transposed && !a.transpose_solve && !a.beside[LAM__TRANSPOSE_SOLVER] && !a.symmetric) {
        lam__custom_fail(fc, LAM_ERR_RULE, "give transpose_solve or transpose_solver, or say symmetric",
                         "reverse mode needs the transposed system solved, and there is no rule for that");
        return NULL;
    }
    a.transposed = !a.transposed && !a.symmetric;
    lam__custom_retain_solve(&a);
    return solve_instance(fc->ctx, &a, fc->instance->inputs);
}

/* Gradients by everything but input `skip`: the pullback of the product at -w. Only those that are needed are asked
 * for. */
static void parameter_gradients(lam_fctx *fc, int skip, lam_fn *product, lam_tensor *const primals[], lam_tensor *w,
                                lam_tensor *gx[]) {
    int count = product->inputs, wanted = 0;
    int *argnums = (int *)(void *)lam__apply_room(fc->ctx, (size_t)count);
    lam_tensor **back = lam__apply_room(fc->ctx, (size_t)count), *value;
    lam_fn *pullback;
    if (!argnums || !back) return;
    for (int k = 0; k < count; k++)
        if (k != skip && lam_fctx_needs_input_grad(fc, k)) argnums[wanted++] = k;
    lam_grad_options o = {.argnums = {wanted, argnums}};
    if (!wanted || lam_vjp(product, (lam_list){(size_t)count, primals}, &value, 1, &pullback, &o) != LAM_OK) return;
    if (lam_call(pullback, LAM_LIST(lam_neg(w)), back, (size_t)wanted) != LAM_OK) return;
    for (int k = 0; k < wanted; k++) gx[argnums[k]] = back[k];
}

/* A' w = g, gb = w, gp = pullback of A(p) x at -w. g NULL is zero, and so is all else. */
static void solve_backward(lam_fctx *fc, lam_tensor *const g[], lam_tensor *gx[]) {
    const lam__solve_attrs *a = lam_fctx_attrs(fc);
    lam_tensor **saved = saved_list(fc);
    lam__instance *other = saved && g[0] ? transposed_of(fc) : NULL;
    if (!other) return;
    lam_tensor *w = solve_again(fc, other, saved, g[0]);
    lam__custom_release(other);
    gx[a->n] = w;
    parameter_gradients(fc, a->n, product_of(fc), saved, w, gx);
}

static const lam_function function_solve = {
    .name = "linear_solve",
    .inputs = LAM_VARIADIC,
    .outputs = 1,
    .attrs_size = sizeof(lam__solve_attrs),
    .forward = solve_forward,
    .setup_context = solve_setup,
    .backward = solve_backward,
    .jvp = solve_jvp,
    .shape = solve_shape,
    .generate_vmap_rule = true,
};

/* The solution with the operator that `a` describes; takes over a's references. list: the Function's
 * inputs. */
static lam_tensor *solve_with(lam_ctx *ctx, const lam__solve_attrs *a, lam_tensor *const list[]) {
    int inputs = own_inputs(a);
    for (int k = 0; k < LAM__BESIDES; k++) inputs += a->captured[k];
    lam__instance *x = solve_instance(ctx, a, inputs);
    lam_tensor *out = &ctx->failed;
    if (x) lam__custom_apply(x, (lam_list){(size_t)inputs, list}, &out);
    lam__custom_release(x);
    return out;
}

/* The same with the open function `matvec`, of which one reference more is taken, and functions beside it that are
 * still the caller's. Their captures go behind all. */
static lam_tensor *solve_open(lam_ctx *ctx, lam_fn *matvec, lam_tensor *const list[], lam__solve_attrs a) {
    lam_list captures, given = {(size_t)own_inputs(&a), list};
    a.matvec = matvec;
    if (lam_failed(matvec) || !lam__custom_open_beside(ctx, &a, &captures)) return &ctx->failed;
    lam_tensor **all = lam__apply_room(ctx, given.count + captures.count);
    if (!all) return &ctx->failed;
    for (size_t k = 0; k < given.count; k++) all[k] = list[k];
    for (size_t k = 0; k < captures.count; k++) all[given.count + k] = captures.items[k];
    lam__custom_retain_solve(&a);
    return solve_with(ctx, &a, all);
}

/* The solution where matvec is program p, whose boxes become operands behind list[]. */
static lam_tensor *solve_program(lam_ctx *ctx, lam_fn *matvec, lam__program *p, bool transposed, lam_list list,
                                 lam__solve_attrs a) {
    int boxes = (int)lam__program_boxes(p, NULL), n = (int)list.count;
    lam_tensor **all = lam__apply_room(ctx, list.count + (size_t)boxes);
    lam_value **values = (lam_value **)(void *)lam__apply_room(ctx, (size_t)boxes);
    if (!all || !values) return &ctx->failed;
    lam__program_boxes(p, values);
    for (int k = 0; k < n + boxes; k++)
        all[k] = k < n ? list.items[k] : lam__scope_handle(ctx, lam__value_hold(values[k - n]));
    a.n = n - 1;
    a.extra = boxes;
    return solve_open(ctx, lam__linear_open(matvec, p, transposed, boxes), all, a);
}

/* The solution where matvec calls functions that hide what callbacks cannot see: it is recorded here, where all of it
 * can be seen, in x alone. list: the parameters and b. */
static lam_tensor *solve_recorded(lam_ctx *ctx, lam_fn *matvec, lam_list list, lam__solve_attrs a) {
    lam_value **in = (lam_value **)(void *)lam__apply_room(ctx, list.count);
    if (!in || !lam__arguments_values(ctx, (int)list.count, list.items, in)) return &ctx->failed;
    lam__program *p = lam__linear_record(matvec, in);
    if (!p) return &ctx->failed;
    lam_tensor *out = &ctx->failed;
    if (lam__program_boxes(p, NULL) >= 0)
        out = solve_program(ctx, matvec, p, false, LAM_LIST(list.items[list.count - 1]), a);
    else lam__error_set(ctx, LAM_ERR_CAPTURED, NULL, "'%s' calls functions that hide values of a level", matvec->name);
    lam__program_release(p);
    return out;
}

/* The solution by the rules in `a`, whose matvec is still the caller's. A function that hides values is found out by
 * its failure, which is the first thing that it does in a callback; a solver does not call it there. */
static lam_tensor *solve_by(lam_ctx *ctx, lam_fn *matvec, lam_list parameters, lam_tensor *b, lam__solve_attrs a) {
    int n = (int)parameters.count;
    bool transposed;
    lam_tensor **list = lam__apply_room(ctx, (size_t)(n + 1 + lam__arguments_captured(matvec)));
    if (!list) return &ctx->failed;
    for (int k = 0; k <= n; k++) list[k] = k < n ? parameters.items[k] : b;
    lam_list given = {(size_t)n + 1, list};
    lam__program *p = lam__linear_program(matvec, &transposed);
    if (p && lam__program_boxes(p, NULL) > 0) return solve_program(ctx, matvec, p, transposed, given, a);
    lam__arguments_append_captures(matvec, list, n + 1);
    a.n = n;
    a.extra = lam__arguments_captured(matvec);
    lam_fn *open = lam__arguments_open("solve", matvec);
    lam_list operands = {(size_t)own_inputs(&a), list};
    bool hides = false;
    if (lam_failed(open) || (a.beside[LAM__SOLVER] && lam__custom_hides(open, operands, &hides) != LAM_OK))
        return &ctx->failed;
    if (hides) return solve_recorded(ctx, matvec, given, a);
    lam__mark before = lam__error_mark(ctx);
    lam_tensor *out = solve_open(ctx, open, list, a);
    if (lam__error_since(ctx, before) != LAM_ERR_CAPTURED) return out;
    lam__error_roll_back(ctx, before);
    return solve_recorded(ctx, matvec, given, a);
}

/* Whether a function beside f is one of one input and one output; records what is wrong. NULL is none. */
static bool check_beside(const char *what, const lam_fn *f, const char *role, lam_fn *g) {
    if (!g) return true;
    if (!lam__custom_goes_with(what, f, role, g)) return false;
    if (g->inputs == 1 && g->outputs == 1) return true;
    lam__error_set(f->ctx, LAM_ERR_ARITY, NULL,
                   "%s of '%s': %s '%s' takes %d inputs and gives %d outputs, expected 1 and 1", what, f->name, role,
                   g->name, g->inputs, g->outputs);
    return false;
}

/* One way to solve each system: a rule or a function. */
static bool check_ways(const char *what, const lam_fn *f, lam_solve_rule solve,
                       const lam_custom_linear_solve_options *o) {
    bool twice = solve && o->solver, transpose_twice = o->transpose_solve && o->transpose_solver;
    if (!solve && !o->solver)
        lam__error_set(f->ctx, LAM_ERR_NULL, "give a rule, or the option solver",
                       "%s of '%s': solve is NULL, and there is no solver", what, f->name);
    else if (twice || transpose_twice)
        lam__error_set(f->ctx, LAM_ERR_OPTION, "give one of them", "%s of '%s': %s are both given", what, f->name,
                       twice ? "solve and solver" : "transpose_solve and transpose_solver");
    else
        return check_beside(what, f, "solver", o->solver) &&
               check_beside(what, f, "transpose_solver", o->transpose_solver);
    return false;
}

lam_tensor *lam_custom_linear_solve(lam_fn *matvec, lam_list parameters, lam_tensor *b, lam_solve_rule solve,
                                    const lam_custom_linear_solve_options *options) {
    static const lam_custom_linear_solve_options none;
    const lam_custom_linear_solve_options *o = options ? options : &none;
    const char *what = "custom_linear_solve";
    lam_ctx *ctx;
    if (!lam__custom_check_solve(what, matvec, parameters, b, &ctx)) return &ctx->failed;
    if (!b) return lam__error_fail(ctx, LAM_ERR_NULL, "%s of '%s': b is NULL", what, matvec->name);
    if (!check_ways(what, matvec, solve, o)) return &ctx->failed;
    lam__solve_attrs a = {.beside = {[LAM__SOLVER] = o->solver, [LAM__TRANSPOSE_SOLVER] = o->transpose_solver},
                          .solve = solve,
                          .transpose_solve = o->transpose_solve,
                          .env = o->env,
                          .symmetric = o->symmetric};
    return solve_by(ctx, matvec, parameters, b, a);
}

lam_tensor *lam__custom_solve_iterative(const char *what, lam_fn *matvec, lam_list parameters, lam_tensor *b,
                                        lam_solve_rule rule, bool symmetric, const lam_iterative_options *settings) {
    lam_ctx *ctx;
    if (!lam__custom_check_solve(what, matvec, parameters, b, &ctx) ||
        !check_beside(what, matvec, "preconditioner", settings->preconditioner))
        return &ctx->failed;
    lam__solve_attrs a = {.beside = {[LAM__PRECONDITIONER] = settings->preconditioner},
                          .solve = rule,
                          .transpose_solve = rule,
                          .symmetric = symmetric,
                          .iterative = true,
                          .settings = *settings};
    a.settings.x0 = NULL;
    a.settings.preconditioner = NULL;
    return solve_by(ctx, matvec, parameters, b, a);
}

/* ---- roots ------------------------------------------------------------------------------------------------------- */

/* Inputs of the Function: x0, n parameters, the captures of f, the captures of solve. */
typedef struct root_attrs {
    lam_fn *f, *solve; /* with captures as inputs; held */
    int n;
    lam_solve_rule tangent_solve;
    void *env;
} root_attrs;

static void root_release(lam_ctx *ctx, void *attrs) {
    root_attrs *a = attrs;
    (void)ctx;
    lam__fn_release(a->f);
    lam__fn_release(a->solve);
}

/* solve gets x0, the parameters and its own captures, which lie behind those of f. */
static void root_forward(lam_fctx *fc, lam_tensor *const in[], lam_tensor *out[]) {
    const root_attrs *a = lam_fctx_attrs(fc);
    lam_tensor **list = lam__apply_room(fc->ctx, (size_t)a->solve->inputs);
    for (int k = 0; list && k < a->solve->inputs; k++) list[k] = k <= a->n ? in[k] : in[k + a->f->inputs - 1 - a->n];
    if (list)
        out[0] =
            lam__custom_of_type(fc, "the root", lam_apply(a->solve, (lam_list){(size_t)a->solve->inputs, list}), in[0]);
}

/* Saved are f's inputs, at the root. */
static void root_setup(lam_fctx *fc, lam_tensor *const in[], lam_tensor *const out[]) {
    const root_attrs *a = lam_fctx_attrs(fc);
    size_t count = (size_t)a->f->inputs;
    lam_tensor **list = lam__apply_room(fc->ctx, count);
    for (size_t k = 0; list && k < count; k++) list[k] = k ? in[k] : out[0];
    if (list) lam_fctx_save_for_backward(fc, (lam_list){count, list});
    lam_fctx_set_materialize_grads(fc, false);
}

/* f's inputs, then v -> F v, the derivative of f by x along v: linear in v. The env of this function is empty, its base
 * is f. */
static void body_slope(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    lam_fn *f = lam__fn_base(env);
    lam_tensor **tangents = lam__apply_room(ctx, (size_t)f->inputs), *value;
    for (int k = 0; tangents && k < f->inputs; k++) tangents[k] = k ? NULL : in[f->inputs];
    if (tangents)
        lam_jvp(f, (lam_list){(size_t)f->inputs, in}, (lam_list){(size_t)f->inputs, tangents}, &value, out, 1, NULL);
}

/* v with F v = b, or F' v = b, at the saved point: a linear system as above, whose parameters are all inputs of f. So
 * its derivative has second derivatives of f in it, as it must. */
static lam_tensor *solve_slope(lam_fctx *fc, lam_tensor *const saved[], lam_tensor *b, bool transposed) {
    const root_attrs *r = lam_fctx_attrs(fc);
    int n = r->f->inputs;
    lam__derived d = {"slope", r->f, body_slope, n + 1, 1, NULL, 0, NULL};
    lam_fn *slope = lam__fn_derive(fc->ctx, &d);
    lam_tensor **list = lam__apply_room(fc->ctx, (size_t)n + 1);
    if (!list || lam_failed(slope)) return &fc->ctx->failed;
    for (int k = 0; k <= n; k++) list[k] = k < n ? saved[k] : b;
    lam__solve_attrs a = {.matvec = lam__fn_retain(slope),
                          .n = n,
                          .solve = r->tangent_solve,
                          .transpose_solve = r->tangent_solve,
                          .env = r->env,
                          .transposed = transposed};
    return solve_with(fc->ctx, &a, list);
}

/* F dx = -(df/dp) dp. x0 is where the search began and has no part in it: solve gave x whatever the tangent of x0
 * is. */
static void root_jvp(lam_fctx *fc, lam_tensor *const t[], lam_tensor *dout[]) {
    const root_attrs *a = lam_fctx_attrs(fc);
    size_t count = (size_t)a->f->inputs;
    lam_tensor **saved = saved_list(fc), **tangents = lam__apply_room(fc->ctx, count), *value, *change;
    bool any = false;
    if (!saved || !tangents) return;
    for (size_t k = 0; k < count; k++) {
        tangents[k] = k ? t[k] : NULL;
        any = any || tangents[k];
    }
    if (!any ||
        lam_jvp(a->f, (lam_list){count, saved}, (lam_list){count, tangents}, &value, &change, 1, NULL) != LAM_OK)
        return;
    dout[0] = solve_slope(fc, saved, lam_neg(change), false);
}

/* F' w = g, gp = pullback of p -> f(x, p) at -w. Input 0 is x0, whose gradient is zero. */
static void root_backward(lam_fctx *fc, lam_tensor *const g[], lam_tensor *gx[]) {
    const root_attrs *a = lam_fctx_attrs(fc);
    lam_tensor **saved = saved_list(fc);
    if (!saved || !g[0]) return;
    parameter_gradients(fc, 0, a->f, saved, solve_slope(fc, saved, g[0], true), gx);
}

static const lam_function function_root = {
    .name = "root",
    .inputs = LAM_VARIADIC,
    .outputs = 1,
    .attrs_size = sizeof(root_attrs),
    .forward = root_forward,
    .setup_context = root_setup,
    .backward = root_backward,
    .jvp = root_jvp,
    .generate_vmap_rule = true,
};

/* x0 enters without its derivatives, so a level that differentiates by it sees a constant. */
lam_tensor *lam_custom_root(lam_fn *f, lam_tensor *x0, lam_list parameters, lam_fn *solve, lam_solve_rule tangent_solve,
                            void *env) {
    lam_ctx *ctx;
    if (!lam__custom_check_solve("custom_root", f, parameters, x0, &ctx)) return &ctx->failed;
    if (!lam__custom_goes_with("custom_root", f, "solve", solve) ||
        !lam__custom_check_counts("custom_root", solve, parameters))
        return &ctx->failed;
    if (!x0 || !tangent_solve)
        return lam__error_fail(ctx, LAM_ERR_NULL, "custom_root of '%s': %s is NULL", f->name,
                               x0 ? "tangent_solve" : "x0");
    int n = (int)parameters.count, inputs = n + 1 + lam__arguments_captured(f) + lam__arguments_captured(solve);
    lam_tensor **list = lam__apply_room(ctx, (size_t)inputs), *out = &ctx->failed;
    lam_fn *opened = lam__arguments_open("root", f), *opened_solve = lam__arguments_open("root", solve);
    if (!list || lam_failed(opened) || lam_failed(opened_solve)) return &ctx->failed;
    for (int k = 0; k <= n; k++) list[k] = k ? parameters.items[k - 1] : lam_stop_gradient(x0);
    lam__arguments_append_captures(f, list, n + 1);
    if (!lam__custom_declares("custom_root", f, opened, (lam_list){(size_t)opened->inputs, list})) return out;
    lam__arguments_append_captures(solve, list, n + 1 + lam__arguments_captured(f));
    root_attrs a = {lam__fn_retain(opened), lam__fn_retain(opened_solve), n, tangent_solve, env};
    lam__instance *x = lam__custom_instance(ctx, &function_root, &a, root_release, inputs, 1);
    if (x) lam__custom_apply(x, (lam_list){(size_t)inputs, list}, &out);
    lam__custom_release(x);
    return out;
}
