/* Custom Functions while memory is refused: each style through batches of gradients and tangents of gradients, the
 * rules of the library's own making, in-place forms, hooks and implicit derivatives. */
#include "tests/custom/callbacks.h"
#include "tests/custom/styles.h"
#include "tests/fuzz/sweep.h"

static style current;

/* The sum of sin(x) mean(x): two Functions, of one input and of two that broadcast. */
BODY(styled) {
    out[0] = lam_sum(style_mul(current, style_sin(current, in[0]), lam_mean(in[0], NULL)), NULL);
}

static double norm(lam_tensor *t) {
    return lam_item(lam_sum(lam_mul(t, t), NULL));
}

BODY(norm_of_gradient) {
    lam_tensor *g = apply1(lam_grad(FN(styled, 1, 1), NULL), in[0]);
    out[0] = lam_sum(lam_mul(g, g), NULL);
}

/* In the current style. */
static double run_style(void) {
    lam_fn *f = FN(styled, 1, 1);
    lam_tensor *rows = MAT(2, 2, 0.3, 0.9, 1.1, -0.4);
    return norm(apply1(lam_vmap(lam_grad(f, NULL), NULL), rows)) +
           norm(apply1(lam_grad(FN_ENV(sum_of, 1, 1, lam_vmap(f, NULL)), NULL), rows)) +
           norm(apply1(forward_of(lam_grad(f, NULL)), VEC(0.3, 0.9)));
}

static double run_second_order(void) {
    return norm(apply1(lam_vmap(lam_grad(FN(norm_of_gradient, 1, 1), NULL), NULL), MAT(2, 2, 0.3, 0.9, 1.1, -0.4)));
}

/* ---- everything else a Function may do --------------------------------------------------------------------------- */

/* Two inputs, of which the second may be left out; two outputs, of which the second has no derivative. */
FORWARD(rich_forward) {
    const double *factor = lam_fctx_attrs(fc);
    out[0] = lam_mul(*factor, in[1] ? lam_mul(in[0], in[1]) : in[0]);
    out[1] = lam_gt(in[0], 0.5);
}

SETUP(rich_setup) {
    lam_fctx_save_for_backward(fc, LAM_LIST(in[0], in[1], NULL, lam_mul(2.0, in[0])));
    lam_fctx_save_for_forward(fc, LAM_LIST(in[0], in[1]));
    lam_fctx_set_data(fc, "half", &(double){0.5}, sizeof(double));
    lam_fctx_set_data(fc, "rank", &(int){lam_rank(in[0])}, sizeof(int));
    lam_fctx_mark_non_differentiable(fc, LAM_LIST(out[1]));
    lam_fctx_set_materialize_grads(fc, false);
}

BACKWARD(rich_backward) {
    const double *factor = lam_fctx_attrs(fc), *half = lam_fctx_data(fc, "half", NULL);
    lam_tensor *y = lam_fctx_saved(fc, 1), *scaled = lam_mul(*factor, g[0]);
    gx[0] = y ? lam_mul(scaled, y) : scaled;
    if (y && lam_fctx_needs_input_grad(fc, 1)) gx[1] = lam_mul(scaled, lam_mul(*half, lam_fctx_saved(fc, 3)));
}

static const lam_function rich = {.name = "rich",
                                  .inputs = 2,
                                  .outputs = 2,
                                  .attrs_size = sizeof(double),
                                  .forward = rich_forward,
                                  .setup_context = rich_setup,
                                  .backward = rich_backward,
                                  .generate_vmap_rule = true};

BODY(richly) {
    lam_tensor *y[2], *z[2];
    lam_function_apply(ctx, &rich, &(double){3}, LAM_LIST(in[0], lam_sin(in[0])), y, 2);
    lam_function_apply(ctx, &rich, &(double){2}, LAM_LIST(y[0], NULL), z, 2);
    out[0] = lam_sum(lam_where(z[1], z[0], y[0]), NULL);
}

static double run_rich(void) {
    lam_fn *f = FN(richly, 1, 1);
    lam_tensor *rows = MAT(2, 2, 0.3, 0.9, 1.1, -0.4);
    return norm(apply1(lam_vmap(lam_grad(f, NULL), NULL), rows)) + norm(apply1(forward_of(f), VEC(0.3, 0.9))) +
           norm(apply1(lam_vmap(lam_vmap(forward_of(f), NULL), NULL), lam_expand_dims(rows, 2)));
}

/* A linear Function, transposed. */
FORWARD(linear_forward) {
    out[0] = lam_sub(lam_mul(3.0, in[0]), lam_reverse(in[0], (lam_axes){0, NULL}));
}

BODY(linearly) {
    const lam_function f = {.name = "linear", .inputs = 1, .outputs = 1, .forward = linear_forward, .is_linear = true};
    out[0] = lam_sum(lam_square(call_function(&f, NULL, LAM_LIST(in[0]))), NULL);
}

static double run_linear(void) {
    lam_fn *f = FN(linearly, 1, 1);
    return norm(apply1(lam_hessian(f, NULL), VEC(0.3, 0.9))) +
           norm(apply1(lam_vmap(lam_grad(f, NULL), NULL), MAT(2, 2, 0.3, 0.9, 1.1, -0.4)));
}

BODY(twice) {
    out[0] = lam_mul(2.0, in[0]);
}

BODY(with_hook) {
    lam_hook *hook, *removed;
    lam_tensor *x = lam_on_gradient(in[0], FN(twice, 1, 1), &hook);
    lam_tensor *y = lam_on_gradient(x, FN(twice, 1, 1), &removed);
    if (removed) lam_hook_remove(removed);
    out[0] = lam_sum(lam_square(y), NULL);
}

FORWARD(square_forward) {
    out[0] = lam_square(in[0]);
    lam_fctx_save_for_backward(fc, LAM_LIST(in[0]));
}

BACKWARD(square_backward) {
    gx[0] = lam_mul(lam_mul(2.0, lam_fctx_saved(fc, 0)), g[0]);
}

/* A rule without a derivative, whose gradient is recorded. */
static double run_once(void) {
    const lam_function f = {.name = "once",
                            .inputs = 1,
                            .outputs = 1,
                            .forward = square_forward,
                            .backward = square_backward,
                            .once_differentiable = true};
    lam_tensor *x = VEC(0.3, 0.9);
    lam_fn *g = lam_grad(FN_ENV(sum_of, 1, 1, fn_of(&f)), NULL);
    return norm(apply1(g, x)) + norm(apply1(lam_vmap(lam_trace(g, LAM_LIST(x)), NULL), MAT(1, 2, 0.3, 0.9)));
}

static double run_hook(void) {
    lam_fn *g = lam_grad(FN(with_hook, 1, 1), NULL);
    return norm(apply1(g, VEC(1, 2))) + norm(apply1(lam_vmap(g, NULL), MAT(2, 1, 1, 2)));
}

/* ---- implicit derivatives ---------------------------------------------------------------------------------------- */

static lam_tensor *dense_solve(lam_ctx *here, lam_fn *linear, lam_tensor *b, void *env) {
    (void)here, (void)env;
    return lam_solve(apply1(lam_jacfwd(linear, NULL), lam_zeros_like(b)), b);
}

BODY(matvec) {
    out[0] = lam_matmul(in[0], in[1]);
}

/* The sum of (A s)^-1 b over s and b. */
BODY(solved) {
    lam_custom_linear_solve_options o = {.transpose_solve = dense_solve};
    lam_tensor *a = lam_mul(MAT(2, 2, 4, 1, 2, 5), lam_index(in[0], 0, 0));
    out[0] = lam_sum(lam_custom_linear_solve(FN(matvec, 2, 1), LAM_LIST(a), in[0], dense_solve, &o), NULL);
}

static double run_solved(lam_fn *f) {
    lam_fn *g = lam_grad(f, NULL);
    return norm(apply1(g, VEC(1, 2))) + norm(apply1(lam_vmap(g, NULL), MAT(2, 2, 1, 2, 3, 4))) +
           norm(apply1(forward_of(g), VEC(1, 2)));
}

static double run_solve(void) {
    return run_solved(FN(solved, 1, 1));
}

/* b, then the captured inverse */
BODY(by_inverse) {
    out[0] = lam_matmul(in[1], in[0]);
}

/* v; env: the matrix, hidden */
BODY(matvec_hidden) {
    out[0] = lam_matmul(*(lam_tensor **)env, in[0]);
}

/* The same by an inverse that is made once; its transpose is a program with values of levels. */
BODY(solved_by_inverse) {
    lam_tensor *a = lam_mul(MAT(2, 2, 4, 1, 2, 5), lam_index(in[0], 0, 0));
    lam_fn_options by = {.name = "by_inverse", .body = by_inverse, .inputs = 1, .outputs = 1};
    by.captures = LAM_LIST(lam_inv(a));
    lam_custom_linear_solve_options o = {.solver = lam_fn_new(ctx, &by)};
    o.transpose_solver = lam_linear_transpose(o.solver, LAM_LIST(in[0]));
    lam_fn *f = FN_ENV(matvec_hidden, 1, 1, &a);
    out[0] = lam_sum(lam_custom_linear_solve(f, LAM_LIST(), in[0], NULL, &o), NULL);
}

static double run_solver(void) {
    return run_solved(FN(solved_by_inverse, 1, 1));
}

static lam_tensor *divide(lam_ctx *here, lam_fn *linear, lam_tensor *b, void *env) {
    (void)here, (void)env;
    return lam_div(b, apply1(linear, lam_ones_like(b)));
}

/* x^2 - a c, where c is captured */
BODY(gap) {
    out[0] = lam_sub(lam_square(in[0]), lam_mul(in[1], in[2]));
}

BODY(newton) {
    lam_tensor *x = in[0];
    for (int k = 0; k < 8; k++) x = lam_mul(0.5, lam_add(x, lam_div(lam_mul(2.0, in[1]), x)));
    out[0] = x;
}

BODY(root) {
    lam_fn *f = lam_fn_new(
        ctx, &(lam_fn_options){.name = "gap", .body = gap, .inputs = 2, .outputs = 1, .captures = LAM_LIST(num(2))});
    out[0] = lam_custom_root(f, num(1), LAM_LIST(in[0]), FN(newton, 2, 1), divide, NULL);
}

static double run_root(void) {
    lam_fn *f = FN(root, 1, 1);
    return norm(apply1(lam_grad(lam_grad(f, NULL), NULL), num(2))) + norm(apply1(forward_of(f), num(2))) +
           norm(apply1(lam_vmap(lam_grad(f, NULL), NULL), VEC(2, 8)));
}

BODY(bowl) {
    out[0] = lam_sum(lam_square(lam_sub(lam_square(in[0]), in[1])), NULL);
}

BODY(least) {
    lam_minimum found;
    out[0] = lam_minimize(FN(bowl, 2, 1), num(1), LAM_LIST(in[0]), &found, &(lam_minimize_options){.maxiter = 1});
}

/* A search of one step, of a batch too, and what is implicit of it. */
static double run_minimize(void) {
    return norm(apply1(lam_grad(FN(least, 1, 1), NULL), num(2))) +
           norm(apply1(lam_vmap(FN(least, 1, 1), NULL), VEC(2, 3)));
}

BODY(sinking) {
    out[0] = lam_neg(lam_mul(in[2], in[0]));
}

BODY(sunk) {
    const lam_ode_options o = {.rtol = 1, .first_step = 0.5};
    lam_ode found;
    out[0] = lam_sum(lam_odeint(FN(sinking, 3, 1), num(1), VEC(0, 0.5), LAM_LIST(in[0]), &found, &o), NULL);
}

/* One step, of a batch too, in both modes. */
static double run_odeint(void) {
    lam_fn *f = FN(sunk, 1, 1);
    return norm(apply1(lam_grad(f, NULL), num(2))) + norm(apply1(lam_vmap(lam_jacfwd(f, NULL), NULL), VEC(2, 3)));
}

BODY(exponential) {
    out[0] = lam_exp(in[0]);
}

BODY(of_matrix) {
    lam_tensor *matrix = lam_add(lam_diag(in[0], 0), lam_outer(in[0], in[0]));
    out[0] = lam_sum(apply1(lam_spectral(FN(exponential, 1, 1)), matrix), NULL);
}

/* A Function of a matrix and its first two derivatives, the first of two at once. */
static double run_spectral(void) {
    lam_fn *f = FN(of_matrix, 1, 1);
    return norm(apply1(lam_vmap(lam_grad(f, NULL), NULL), MAT(2, 2, 0.3, 0.9, 1.1, -0.4))) +
           norm(apply1(lam_hessian(f, NULL), VEC(0.3, 0.9)));
}

/* ---- the sweeps -------------------------------------------------------------------------------------------------- */

static const scenario by_style[] = {{"a style", run_style}, {"second order", run_second_order}};

static const scenario others[] = {
    {"rich", run_rich},         {"linear", run_linear}, {"once", run_once}, {"hook", run_hook},
    {"solve", run_solve},       {"solver", run_solver}, {"root", run_root}, {"spectral", run_spectral},
    {"minimize", run_minimize}, {"odeint", run_odeint},
};
enum { OTHERS = sizeof others / sizeof others[0] };

START_TEST(every_style_while_requests_are_refused) {
    current = (style)(_i + 1);
    for (int k = 0; k < 2; k++) sweep_requests(&by_style[k]);
}
END_TEST

START_TEST(every_style_under_every_limit) {
    current = (style)(_i + 1);
    sweep_limits(&by_style[0]);
}
END_TEST

START_TEST(the_rest_while_requests_are_refused) {
    sweep_requests(&others[_i]);
    sweep_limits(&others[_i]);
}
END_TEST

Suite *suite_fuzz_functions(void) {
    Suite *suite = suite_of("fuzz/functions", NULL, 0);
    suite_loop(suite, every_style_while_requests_are_refused, STYLES - 1);
    suite_loop(suite, every_style_under_every_limit, STYLES - 1);
    suite_loop(suite, the_rest_while_requests_are_refused, OTHERS);
    return suite;
}
