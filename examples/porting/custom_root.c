/* Implicit derivatives, ready made: x with f(x, parameters) = 0. The solver may do anything, no derivative goes
 * through it; derivatives of any order come from the implicit function theorem.
 *
 * In JAX: lax.custom_root(f, guess, solve, tangent_solve), where f and tangent_solve are closures, and what they close
 * over is differentiated.
 * Here: lam_custom_root, with the parameters as a list. tangent_solve gets a linear function and a right-hand side; it
 * is asked with the derivative of f by x, and with the transpose of that. For one number the linear function is a
 * factor; for a vector its Jacobian is the matrix.
 *
 * The examples: x^2 = a (as in fixed_point.c), and the x with A x + x^3 = b for a vector x. */
#include <lamina/lamina.h>

enum { STEPS = 60 };

/* ---- one number ---- */

static void square_minus_a(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    lam_tensor *x = in[0], *a = in[1];
    (void)ctx, (void)env;
    out[0] = lam_sub(lam_square(x), a);
}

/* Guess and parameter -> root. */
static void heron(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    (void)ctx, (void)env;
    lam_tensor *x = in[0], *a = in[1];
    for (int i = 0; i < STEPS; i++) x = lam_mul(0.5, lam_add(x, lam_div(a, x)));
    out[0] = x;
}

static lam_tensor *divide(lam_ctx *ctx, lam_fn *linear, lam_tensor *b, void *env) {
    (void)ctx, (void)env;
    return lam_div(b, lam_apply(linear, LAM_LIST(lam_ones_like(b))));
}

static void square_root(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    (void)env;
    lam_fn *f =
        lam_fn_new(ctx, &(lam_fn_options){.name = "x^2 - a", .body = square_minus_a, .inputs = 2, .outputs = 1});
    lam_fn *solve = lam_fn_new(ctx, &(lam_fn_options){.name = "heron", .body = heron, .inputs = 2, .outputs = 1});
    out[0] = lam_custom_root(f, lam_ones_like(in[0]), LAM_LIST(in[0]), solve, divide, NULL);
}

/* ---- a vector ---- */

static void residual(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    lam_tensor *x = in[0], *matrix = in[1], *b = in[2];
    (void)ctx, (void)env;
    out[0] = lam_sub(lam_add(lam_matmul(matrix, x), lam_integer_pow(x, 3)), b);
}

/* Solves with the matrix of a linear function, which is its Jacobian anywhere. */
static lam_tensor *solve_dense(lam_ctx *ctx, lam_fn *linear, lam_tensor *b, void *env) {
    (void)ctx, (void)env;
    return lam_solve(lam_apply(lam_jacfwd(linear, NULL), LAM_LIST(lam_zeros_like(b))), b);
}

/* Newton's method in full: its steps need the Jacobian of the residual, env. */
static void newton(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    lam_tensor *x = in[0], *matrix = in[1], *b = in[2];
    lam_fn *jacobian = lam_jacfwd(env, NULL);
    (void)ctx;
    for (int i = 0; i < 20; i++) {
        lam_list at = LAM_LIST(x, matrix, b);
        x = lam_sub(x, lam_solve(lam_apply(jacobian, at), lam_apply(env, at)));
    }
    out[0] = x;
}

static void equilibrium(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    lam_fn *f = env;
    lam_fn_options options = {.name = "newton", .body = newton, .inputs = 3, .outputs = 1, .env = f};
    lam_fn *solve = lam_fn_new(ctx, &options);
    out[0] = lam_custom_root(f, lam_zeros_like(in[1]), LAM_LIST(in[0], in[1]), solve, solve_dense, NULL);
}

static void show(const char *what, lam_tensor *x) {
    printf("%-26s", what);
    lam_print(stdout, x);
}

int main(void) {
    lam_ctx *ctx = lam_ctx_new(NULL);
    lam_fn *root = lam_fn_new(ctx, &(lam_fn_options){.name = "sqrt", .body = square_root, .inputs = 1, .outputs = 1});
    lam_fn *slope = lam_grad(root, NULL), *curvature = lam_grad(slope, NULL);
    lam_tensor *two = lam_scalar(ctx, 2), *batch = lam_array(ctx, LAM_F64, LAM_DIMS(3), (double[]){1, 2, 4});
    show("sqrt(2)", lam_apply(root, LAM_LIST(two)));
    show("derivative", lam_apply(slope, LAM_LIST(two)));
    show("second derivative", lam_apply(curvature, LAM_LIST(two)));
    show("third derivative", lam_apply(lam_jacfwd(curvature, NULL), LAM_LIST(two)));
    show("vmap, second derivative", lam_apply(lam_vmap(curvature, NULL), LAM_LIST(batch)));

    /* At x = (1, 1) with A = [[2, 1], [1, 2]] and b = (4, 4): dx = (A + 3 diag(x^2))^-1 db = [[5, 1], [1, 5]]^-1 db. */
    lam_fn *f = lam_fn_new(ctx, &(lam_fn_options){.name = "residual", .body = residual, .inputs = 3, .outputs = 1});
    lam_fn_options options = {.name = "equilibrium", .body = equilibrium, .inputs = 2, .outputs = 1, .env = f};
    lam_fn *x_of = lam_fn_new(ctx, &options);
    lam_tensor *matrix = lam_array(ctx, LAM_F64, LAM_DIMS(2, 2), (double[]){2, 1, 1, 2});
    lam_list at = LAM_LIST(matrix, lam_array(ctx, LAM_F64, LAM_DIMS(2), (double[]){4, 4}));
    lam_jacobian_options by_b = {.argnums = LAM_AXES(1)};
    show("x with A x + x^3 = b", lam_apply(x_of, at));
    show("its Jacobian by b", lam_apply(lam_jacrev(x_of, &by_b), at));
    show("the same, forward mode", lam_apply(lam_jacfwd(x_of, &by_b), at));
    show("by A", lam_apply(lam_jacrev(x_of, NULL), at));

    int failed = lam_status_of(ctx) != LAM_OK;
    if (failed) fprintf(stderr, "%s\n", lam_error(ctx));
    lam_ctx_free(ctx);
    return failed;
}
