/* Implicit derivatives: lam_custom_linear_solve and lam_custom_root. Expected values: closed forms of the solutions and
 * of their derivatives. The rules read no derivative from their own operations, which iterate or factorise. */
#include "tests/custom/callbacks.h"

/* ---- linear systems ---------------------------------------------------------------------------------------------- */

/* matrix, v -> matrix v */
BODY(matvec) {
    out[0] = lam_matmul(in[0], in[1]);
}

/* The matrix of a linear function, by its Jacobian, solved directly. */
static lam_tensor *dense_solve(lam_ctx *here, lam_fn *linear, lam_tensor *b, void *env) {
    (void)here;
    ++*(int *)env;
    return lam_solve(lam_apply(lam_jacfwd(linear, NULL), LAM_LIST(lam_zeros_like(b))), b);
}

/* Gauss-Seidel is no option for a black box; Richardson iteration is: v += (b - A v) / 8, run to the last bit. */
static lam_tensor *iterated_solve(lam_ctx *here, lam_fn *linear, lam_tensor *b, void *env) {
    (void)here;
    ++*(int *)env;
    lam_tensor *v = lam_zeros_like(b);
    for (int k = 0; k < 400; k++) v = lam_add(v, lam_mul(0.125, lam_sub(b, apply1(linear, v))));
    return v;
}

typedef struct system {
    lam_solve_rule rule;
    lam_custom_linear_solve_options options;
} system_of;

static int solves;

/* b -> w . A^-1 b, with A = [[4, 1], [2, 5]] scaled by in[1]. */
BODY(solved) {
    const system_of *s = env;
    lam_tensor *a = lam_mul(in[1], MAT(2, 2, 4, 1, 2, 5));
    lam_tensor *x = lam_custom_linear_solve(FN(matvec, 2, 1), LAM_LIST(a), in[0], s->rule, &s->options);
    out[0] = lam_sum(lam_mul(VEC(1, 2), x), NULL);
}

static const lam_solve_rule rules[] = {dense_solve, iterated_solve};

/* A^-1 = [[5, -1], [-2, 4]] / 18; w A^-1 = [1, 7] / 18. */
START_TEST(linear_solve_and_its_derivatives) {
    for (int k = 0; k < 2; k++) {
        system_of s = {rules[k], {.transpose_solve = rules[k], .env = &solves}};
        lam_fn *f = FN_ENV(solved, 2, 1, &s), *by_b = lam_grad(f, NULL),
               *by_scale = lam_grad(f, &(lam_grad_options){.argnums = LAM_AXES(1)});
        lam_tensor *b = VEC(3, 9), *one = num(1);
        EXPECT_NEAR(apply2(f, b, one), 1e-13, LAM_DIMS0, 66. / 18);
        EXPECT_NEAR(apply2(by_b, b, one), 1e-13, LAM_DIMS(2), 1. / 18, 7. / 18);
        EXPECT_NEAR(apply2(by_scale, b, one), 1e-13, LAM_DIMS0, -66. / 18);
        EXPECT_NEAR(apply2(lam_grad(by_scale, &(lam_grad_options){.argnums = LAM_AXES(1)}), b, one), 1e-13, LAM_DIMS0,
                    2 * 66. / 18);
        EXPECT_NEAR(apply2(lam_jacfwd(by_scale, NULL), b, one), 1e-13, LAM_DIMS(2), -1. / 18, -7. / 18);
        EXPECT_NEAR(apply2(lam_jacfwd(lam_jacfwd(f, &(lam_jacobian_options){.argnums = LAM_AXES(1)}), NULL), b, one),
                    1e-13, LAM_DIMS(2), -1. / 18, -7. / 18);
    }
}
END_TEST

START_TEST(linear_solve_under_vmap) {
    system_of s = {iterated_solve, {.transpose_solve = iterated_solve, .env = &solves}};
    lam_fn *f = FN_ENV(solved, 2, 1, &s);
    lam_vmap_options o = {.in_axes = LAM_AXES(0, LAM_UNMAPPED)};
    EXPECT_NEAR(apply2(lam_vmap(f, &o), MAT(2, 2, 3, 9, 18, 0), num(1)), 1e-13, LAM_DIMS(2), 66. / 18, 1);
    EXPECT_NEAR(apply2(lam_vmap(lam_grad(f, NULL), &o), MAT(2, 2, 3, 9, 18, 0), num(1)), 1e-13, LAM_DIMS(2, 2), 1. / 18,
                7. / 18, 1. / 18, 7. / 18);
    lam_vmap_options scales = {.in_axes = LAM_AXES(LAM_UNMAPPED, 0)};
    solves = 0;
    EXPECT_NEAR(apply2(lam_vmap(f, &scales), VEC(18, 0), VEC(1, 0.5)), 1e-12, LAM_DIMS(2), 1, 2);
    ck_assert_int_eq(solves, 1); /* one run for the batch */
}
END_TEST

/* ---- symmetric, and without a rule for the transpose ------------------------------------------------------------- */

BODY(symmetric_matvec) {
    out[0] = lam_matmul(MAT(2, 2, 4, 1, 1, 3), in[0]);
}

BODY(symmetric_solved) {
    const system_of *s = env;
    out[0] = lam_sum(lam_mul(VEC(1, 2), lam_custom_linear_solve(FN(symmetric_matvec, 1, 1), LAM_LIST(), in[0], s->rule,
                                                                &s->options)),
                     NULL);
}

/* The inverse of [[4, 1], [1, 3]] is [[3, -1], [-1, 4]] / 11. */
START_TEST(symmetric_operator_needs_one_rule) {
    system_of s = {dense_solve, {.symmetric = true, .env = &solves}};
    lam_fn *f = FN_ENV(symmetric_solved, 1, 1, &s);
    EXPECT_NEAR(apply1(f, VEC(11, 0)), 1e-14, LAM_DIMS0, 1);
    EXPECT_NEAR(apply1(reverse_of(f), VEC(11, 0)), 1e-14, LAM_DIMS(2), 1. / 11, 7. / 11);
    s.options.symmetric = false;
    EXPECT_NEAR(apply1(lam_jacfwd(f, NULL), VEC(11, 0)), 1e-14, LAM_DIMS(2), 1. / 11, 7. / 11);
    apply1(reverse_of(f), VEC(11, 0));
    EXPECT_ERROR(LAM_ERR_RULE, "linear_solve", "backward", "transpose_solve");
}
END_TEST

/* ---- factorisations and a real iteration ------------------------------------------------------------------------- */

static lam_tensor *dense(lam_fn *linear, lam_tensor *b) {
    return lam_apply(lam_jacfwd(linear, NULL), LAM_LIST(lam_zeros_like(b)));
}

static lam_tensor *by_cholesky(lam_ctx *here, lam_fn *linear, lam_tensor *b, void *env) {
    (void)here, (void)env;
    return lam_cho_solve(lam_cholesky(dense(linear, b)), b);
}

static lam_tensor *by_lu(lam_ctx *here, lam_fn *linear, lam_tensor *b, void *env) {
    (void)here, (void)env;
    lam_tensor *factors, *pivots, *order;
    if (lam_lu(dense(linear, b), &factors, &pivots, &order) != LAM_OK) return factors;
    lam_triangular_solve_options unit = {.unit_diagonal = true};
    lam_tensor *y = lam_triangular_solve(factors, lam_take(b, order, 0), &unit);
    return lam_triangular_solve(factors, y, &(lam_triangular_solve_options){.upper = true});
}

/* Hestenes and Stiefel's method, two steps for two unknowns; a system that is solved leaves r = 0, so that its
 * quotients are guarded. */
static lam_tensor *by_conjugate_gradients(lam_ctx *here, lam_fn *linear, lam_tensor *b, void *env) {
    (void)here, (void)env;
    lam_tensor *x = lam_zeros_like(b), *r = b, *p = b;
    for (int k = 0; k < 2; k++) {
        lam_tensor *ap = apply1(linear, p), *rr = lam_vecdot(r, r, -1), *curve = lam_vecdot(p, ap, -1);
        lam_tensor *step = lam_where(lam_gt(curve, 0), lam_div(rr, lam_where(lam_gt(curve, 0), curve, 1)), 0.0);
        x = lam_add(x, lam_mul(step, p));
        r = lam_sub(r, lam_mul(step, ap));
        lam_tensor *turn =
            lam_where(lam_gt(rr, 0), lam_div(lam_vecdot(r, r, -1), lam_where(lam_gt(rr, 0), rr, 1)), 0.0);
        p = lam_add(r, lam_mul(turn, p));
    }
    return x;
}

/* b, scale -> the sum of [[4, 1], [1, 3]]^-1 b / scale, weighted 1 and 2. */
BODY(definite_solved) {
    lam_custom_linear_solve_options o = {.symmetric = true};
    lam_tensor *a = lam_mul(in[1], MAT(2, 2, 4, 1, 1, 3));
    lam_tensor *x = lam_custom_linear_solve(FN(matvec, 2, 1), LAM_LIST(a), in[0], *(const lam_solve_rule *)env, &o);
    out[0] = lam_sum(lam_mul(VEC(1, 2), x), NULL);
}

BODY(definite_solution) {
    lam_custom_linear_solve_options o = {.symmetric = true};
    out[0] = lam_custom_linear_solve(FN(symmetric_matvec, 1, 1), LAM_LIST(), in[0], *(const lam_solve_rule *)env, &o);
}

/* The inverse is [[3, -1], [-1, 4]] / 11, and (1, 2) times it (1, 7) / 11. */
START_TEST(cholesky_lu_and_conjugate_gradients) {
    lam_solve_rule all[] = {by_cholesky, by_lu, by_conjugate_gradients};
    lam_vmap_options only_b = {.in_axes = LAM_AXES(0, LAM_UNMAPPED)}, both = {.in_axes = LAM_AXES(1, 0)};
    for (int k = 0; k < 3; k++) {
        lam_fn *f = FN_ENV(definite_solved, 2, 1, &all[k]), *g = lam_grad(f, NULL),
               *by_scale = lam_grad(f, &(lam_grad_options){.argnums = LAM_AXES(1)});
        lam_tensor *b = VEC(11, 22), *rows = MAT(2, 2, 11, 22, 0, 11), *one = num(1);
        EXPECT_NEAR(apply2(f, b, one), 1e-14, LAM_DIMS0, 15);
        EXPECT_NEAR(apply2(g, b, one), 1e-14, LAM_DIMS(2), 1. / 11, 7. / 11);
        EXPECT_NEAR(apply2(by_scale, b, one), 1e-14, LAM_DIMS0, -15);
        EXPECT_NEAR(apply2(lam_jacfwd(g, &(lam_jacobian_options){.argnums = LAM_AXES(1)}), b, one), 1e-14, LAM_DIMS(2),
                    -1. / 11, -7. / 11);
        EXPECT_NEAR(apply2(lam_vmap(f, &only_b), rows, one), 1e-14, LAM_DIMS(2), 15, 7);
        EXPECT_NEAR(apply2(lam_vmap(g, &both), rows, VEC(1, 2)), 1e-14, LAM_DIMS(2, 2), 1. / 11, 7. / 11, 0.5 / 11,
                    3.5 / 11);
        EXPECT_NEAR(apply2(lam_vmap(by_scale, &both), lam_transpose(rows, (lam_axes){0, NULL}), VEC(1, 1)), 1e-14,
                    LAM_DIMS(2), -15, -7);
        lam_fn *solution = FN_ENV(definite_solution, 1, 1, &all[k]);
        EXPECT_NEAR(apply1(lam_jacrev(solution, NULL), b), 1e-14, LAM_DIMS(2, 2), 3. / 11, -1. / 11, -1. / 11, 4. / 11);
        EXPECT_NEAR(apply1(lam_vmap(lam_jacfwd(solution, NULL), NULL), rows), 1e-14, LAM_DIMS(2, 2, 2), 3. / 11,
                    -1. / 11, -1. / 11, 4. / 11, 3. / 11, -1. / 11, -1. / 11, 4. / 11);
    }
}
END_TEST

/* Solving is linear in b: its transpose is the other rule, as lam_vjp finds it. */
BODY(plain_solution) {
    lam_custom_linear_solve_options o = {.transpose_solve = dense_solve, .env = &solves};
    out[0] = lam_custom_linear_solve(FN(matvec, 2, 1), LAM_LIST(MAT(2, 2, 4, 1, 2, 5)), in[0], dense_solve, &o);
}

START_TEST(transposition) {
    lam_fn *f = FN(plain_solution, 1, 1), *pullback, *linear;
    lam_tensor *x, *b = VEC(3, 9);
    lam_vjp(f, LAM_LIST(b), &x, 1, &pullback, NULL);
    EXPECT_NEAR(apply1(pullback, VEC(18, 0)), 1e-14, LAM_DIMS(2), 5, -1); /* A' w = g */
    EXPECT_NEAR(apply1(lam_vmap(pullback, NULL), MAT(2, 2, 18, 0, 0, 18)), 1e-14, LAM_DIMS(2, 2), 5, -1, -2, 4);
    EXPECT_NEAR(apply1(lam_jacrev(pullback, NULL), VEC(1, 1)), 1e-14, LAM_DIMS(2, 2), 5. / 18, -2. / 18, -1. / 18,
                4. / 18);
    lam_linearize(f, LAM_LIST(b), &x, 1, &linear, NULL);
    EXPECT_NEAR(apply1(linear, VEC(18, 0)), 1e-14, LAM_DIMS(2), 5, -2);
    EXPECT_NEAR(apply1(lam_linear_transpose(linear, LAM_LIST(b)), VEC(18, 0)), 1e-14, LAM_DIMS(2), 5, -1);
}
END_TEST

/* ---- captures ---------------------------------------------------------------------------------------------------- */

/* v, then the captured scale. */
BODY(scaled) {
    out[0] = lam_mul(in[1], in[0]);
}

/* Scalars: the matrix of a linear function of rank 0 has rank 0, and solving is dividing. */
static lam_tensor *divide(lam_ctx *here, lam_fn *linear, lam_tensor *b, void *env) {
    (void)here;
    (void)env;
    return lam_div(b, apply1(linear, lam_ones_like(b)));
}

BODY(division_by_rule) {
    lam_fn *f = lam_fn_new(
        ctx,
        &(lam_fn_options){.name = "scaled", .body = scaled, .inputs = 1, .outputs = 1, .captures = LAM_LIST(in[0])});
    out[0] =
        lam_custom_linear_solve(f, LAM_LIST(), num(6), divide, &(lam_custom_linear_solve_options){.symmetric = true});
}

START_TEST(captures_of_the_operator_are_differentiated) {
    lam_fn *f = FN(division_by_rule, 1, 1);
    EXPECT_NUM(apply1(f, num(2)), 3);
    EXPECT_NUM(apply1(reverse_of(f), num(2)), -1.5);
    EXPECT_NUM(apply1(forward_of(f), num(2)), -1.5);
    EXPECT_NUM(apply1(reverse_of(reverse_of(f)), num(2)), 1.5);
    EXPECT_NUM(apply1(forward_of(reverse_of(f)), num(2)), 1.5);
    EXPECT(apply1(lam_vmap(reverse_of(f), NULL), VEC(1, 2)), LAM_DIMS(2), -6, -1.5);
}
END_TEST

/* w and a, then the captured c -> c w^4 / 4 + w^2 / 2 - a w, least where c w^3 + w = a. */
BODY(bowl) {
    lam_tensor *w = in[0], *w2 = lam_square(w);
    out[0] = lam_sub(lam_add(lam_mul(0.25, lam_mul(in[2], lam_square(w2))), lam_mul(0.5, w2)), lam_mul(in[1], w));
}

static lam_fn *bowl_with(lam_tensor *c) {
    return lam_fn_new(
        ctx, &(lam_fn_options){.name = "bowl", .body = bowl, .inputs = 2, .outputs = 1, .captures = LAM_LIST(c)});
}

/* w, a, then the captured c */
BODY(descent) {
    lam_fn *slope = lam_value_and_jacobian(lam_grad(bowl_with(in[2]), NULL), NULL);
    lam_tensor *w = in[0], *at[2];
    for (int k = 0; k < 30; k++) {
        lam_call(slope, LAM_LIST(w, in[1]), at, 2);
        w = lam_sub(w, lam_div(at[0], at[1]));
    }
    out[0] = w;
}

/* What the gradient captures is what `bowl` captures. */
BODY(lowest) {
    lam_fn *solve = lam_fn_new(
        ctx,
        &(lam_fn_options){.name = "descent", .body = descent, .inputs = 2, .outputs = 1, .captures = LAM_LIST(in[1])});
    out[0] = lam_custom_root(lam_grad(bowl_with(in[1]), NULL), num(1), LAM_LIST(in[0]), solve, divide, NULL);
}

/* With s = 1 / (3 c w^2 + 1): dw/da = s, dw/dc = -w^3 s, d2w/da2 = -6 c w s^3. */
START_TEST(captures_below_a_transform_are_differentiated) {
    lam_fn *f = FN(lowest, 2, 1), *g = lam_grad(f, &(lam_grad_options){.argnums = LAM_AXES(0, 1)});
    lam_tensor *out[2]; /* w = 1 and 2 */
    lam_call(lam_vmap(g, NULL), LAM_LIST(VEC(3, 6), VEC(2, 0.5)), out, 2);
    EXPECT_NEAR(out[0], 1e-14, LAM_DIMS(2), 1 / 7.0, 1 / 7.0);
    EXPECT_NEAR(out[1], 1e-14, LAM_DIMS(2), -1 / 7.0, -8 / 7.0);
    EXPECT_NEAR(apply2(lam_vmap(lam_grad(lam_grad(f, NULL), NULL), NULL), VEC(3, 6), VEC(2, 0.5)), 1e-14, LAM_DIMS(2),
                -12 / 343.0, -6 / 343.0);
}
END_TEST

/* ---- roots ------------------------------------------------------------------------------------------------------- */

/* x^2 - a */
BODY(gap) {
    out[0] = lam_sub(lam_square(in[0]), in[1]);
}

/* Newton's iteration, each step cut off from derivatives and reading nothing. */
BODY(newton) {
    lam_tensor *x = in[0];
    for (int k = 0; k < 60; k++) x = lam_mul(0.5, lam_add(x, lam_div(in[1], x)));
    out[0] = lam_stop_gradient(x);
}

BODY(square_root) {
    out[0] = lam_custom_root(FN(gap, 2, 1), num(1), LAM_LIST(in[0]), FN(newton, 2, 1), divide, NULL);
}

/* sqrt' = 1 / (2 sqrt), sqrt'' = -1 / (4 a sqrt), sqrt''' = 3 / (8 a^2 sqrt), at 4: 1/4, -1/32, 3/256. */
START_TEST(scalar_root_to_the_third_derivative) {
    lam_fn *(*const mode[2])(lam_fn *) = {reverse_of, forward_of}, *f = FN(square_root, 1, 1);
    EXPECT_NUM(apply1(f, num(4)), 2);
    for (int path = 0; path < 8; path++) {
        lam_fn *first = mode[path & 1](f), *second = mode[path >> 1 & 1](first), *third = mode[path >> 2 & 1](second);
        EXPECT_NEAR(apply1(first, num(4)), 1e-14, LAM_DIMS0, 0.25);
        EXPECT_NEAR(apply1(second, num(4)), 1e-14, LAM_DIMS0, -1. / 32);
        EXPECT_NEAR(apply1(third, num(4)), 1e-14, LAM_DIMS0, 3. / 256);
        EXPECT_NEAR(apply1(lam_vmap(second, NULL), VEC(4, 1)), 1e-14, LAM_DIMS(2), -1. / 32, -0.25);
    }
}
END_TEST

/* x + x^3 / 10 - A b = 0, element by element coupled by A: the root's Jacobian by b is (I + 3 x^2 / 10)^-1 A. */
BODY(coupled) {
    lam_tensor *cubic = lam_add(in[0], lam_mul(0.1, lam_integer_pow(in[0], 3)));
    out[0] = lam_sub(cubic, lam_matmul(MAT(2, 2, 1, 0.5, 0.25, 1), in[1]));
}

BODY(iterate) {
    lam_tensor *x = in[0], *right = lam_matmul(MAT(2, 2, 1, 0.5, 0.25, 1), in[1]);
    for (int k = 0; k < 200; k++) x = lam_sub(right, lam_mul(0.1, lam_integer_pow(x, 3)));
    out[0] = x;
}

BODY(vector_root) {
    out[0] = lam_custom_root(FN(coupled, 2, 1), lam_zeros_like(in[0]), LAM_LIST(in[0]), FN(iterate, 2, 1), dense_solve,
                             &solves);
}

START_TEST(root_of_a_vector_equation) {
    lam_fn *f = FN(vector_root, 1, 1);
    lam_tensor *b = VEC(0.5, 0.25), *x = apply1(f, b);
    double root[2];
    ck_assert_int_eq(lam_read(x, root, sizeof root), LAM_OK);
    double p = 1 / (1 + 0.3 * root[0] * root[0]), q = 1 / (1 + 0.3 * root[1] * root[1]);
    EXPECT_NEAR(lam_add(x, lam_mul(0.1, lam_integer_pow(x, 3))), 1e-14, LAM_DIMS(2), 0.625, 0.375);
    EXPECT_NEAR(apply1(lam_jacrev(f, NULL), b), 1e-13, LAM_DIMS(2, 2), p, p / 2, q / 4, q);
    EXPECT_NEAR(apply1(lam_jacfwd(f, NULL), b), 1e-13, LAM_DIMS(2, 2), p, p / 2, q / 4, q);
    EXPECT_SAME(apply1(lam_jacfwd(lam_jacrev(f, NULL), NULL), b), apply1(lam_jacrev(lam_jacfwd(f, NULL), NULL), b),
                1e-12);
}
END_TEST

/* ---- rules that do not do what is asked -------------------------------------------------------------------------- */

static lam_tensor *too_long(lam_ctx *here, lam_fn *linear, lam_tensor *b, void *env) {
    (void)here, (void)linear, (void)b, (void)env;
    return VEC(1, 2, 3);
}

static lam_tensor *gives_nothing(lam_ctx *here, lam_fn *linear, lam_tensor *b, void *env) {
    (void)here, (void)linear, (void)b, (void)env;
    return NULL;
}

static lam_tensor *gives_up(lam_ctx *here, lam_fn *linear, lam_tensor *b, void *env) {
    (void)linear, (void)b, (void)env;
    return lam_fail(here, LAM_ERR_USER, "no convergence");
}

BODY(square_root_by) {
    out[0] =
        lam_custom_root(FN(gap, 2, 1), num(1), LAM_LIST(in[0]), FN(newton, 2, 1), *(const lam_solve_rule *)env, NULL);
}

START_TEST(rules_that_do_not_solve) {
    lam_custom_linear_solve_options o = {.symmetric = true};
    const struct {
        lam_solve_rule rule;
        lam_status status;
        const char *text;
    } rows[] = {{too_long, LAM_ERR_SHAPE, "f64[3]"},
                {gives_nothing, LAM_ERR_ARITY, "not set"},
                {gives_up, LAM_ERR_USER, "no convergence"}};
    for (int k = 0; k < 3; k++) {
        lam_custom_linear_solve(FN(symmetric_matvec, 1, 1), LAM_LIST(), VEC(1, 2), rows[k].rule, &o);
        EXPECT_ERROR(rows[k].status, "linear_solve", rows[k].text);
        lam_tensor *root =
            lam_custom_root(FN(gap, 2, 1), num(1), LAM_LIST(num(4)), FN(newton, 2, 1), rows[k].rule, NULL);
        EXPECT_NUM(root, 2); /* the value does not need it */
        lam_solve_rule bad = rows[k].rule;
        apply1(reverse_of(FN_ENV(square_root_by, 1, 1, &bad)), num(4));
        EXPECT_ERROR(rows[k].status, "root", rows[k].text);
        apply1(forward_of(FN_ENV(square_root_by, 1, 1, &bad)), num(4));
        EXPECT_ERROR(rows[k].status, "root", rows[k].text);
    }
}
END_TEST

START_TEST(impossible_systems) {
    lam_tensor *b = num(1);
    lam_custom_linear_solve(FN(matvec, 2, 1), LAM_LIST(), b, divide, NULL);
    EXPECT_ERROR(LAM_ERR_ARITY, "custom_linear_solve", "matvec", "takes 2 inputs", "expected 1");
    lam_custom_linear_solve(FN(scaled, 1, 1), LAM_LIST(), b, NULL, NULL);
    EXPECT_ERROR(LAM_ERR_NULL, "custom_linear_solve", "solve is NULL");
    lam_custom_root(FN(gap, 2, 1), b, LAM_LIST(b), FN(newton, 3, 1), divide, NULL);
    EXPECT_ERROR(LAM_ERR_ARITY, "custom_root", "newton");
    lam_custom_root(FN(gap, 2, 1), NULL, LAM_LIST(b), FN(newton, 2, 1), divide, NULL);
    EXPECT_ERROR(LAM_ERR_NULL, "custom_root", "x0 is NULL");
    lam_custom_root(FN(gap, 2, 1), b, LAM_LIST(b), FN(newton, 2, 1), NULL, NULL);
    EXPECT_ERROR(LAM_ERR_NULL, "custom_root", "tangent_solve is NULL");
    lam_custom_root(FN(gap, 2, 1), b, LAM_LIST(b), NULL, divide, NULL);
    EXPECT_ERROR(LAM_ERR_NULL, "custom_root of 'gap'", "solve is NULL");
}
END_TEST

/* Where there is no function, the tensor tells whose failure it is. */
START_TEST(functions_that_are_not_there) {
    lam_tensor *b = num(1);
    lam_custom_root(NULL, b, LAM_LIST(b), FN(newton, 2, 1), divide, NULL);
    EXPECT_ERROR(LAM_ERR_NULL, "custom_root", "the function is NULL");
    lam_custom_linear_solve(NULL, LAM_LIST(), b, divide, NULL);
    EXPECT_ERROR(LAM_ERR_NULL, "custom_linear_solve", "the function is NULL");
    lam_cg(NULL, LAM_LIST(), b, NULL);
    EXPECT_ERROR(LAM_ERR_NULL, "cg", "the function is NULL");
    ck_assert(lam_failed(lam_custom_root(NULL, NULL, LAM_LIST(), NULL, NULL, NULL)));
    EXPECT_OK();
}
END_TEST

START_TEST(functions_of_another_context) {
    lam_ctx *other = lam_ctx_new(NULL);
    lam_fn *theirs = lam_fn_new(other, &(lam_fn_options){.name = "theirs", .body = newton, .inputs = 2, .outputs = 1});
    ck_assert(lam_failed(lam_custom_root(FN(gap, 2, 1), num(1), LAM_LIST(num(4)), theirs, divide, NULL)));
    EXPECT_ERROR(LAM_ERR_CONTEXT, "custom_root of 'gap'", "mixed contexts: solve 'theirs'");
    lam_fn *failed = lam_grad(theirs, &(lam_grad_options){.argnums = LAM_AXES(7)});
    ck_assert(lam_failed(lam_custom_root(FN(gap, 2, 1), num(1), LAM_LIST(num(4)), failed, divide, NULL)));
    EXPECT_ERROR(LAM_ERR_CONTEXT, "custom_root of 'gap'", "mixed contexts: solve 'failed'");
    lam_ctx_free(other);
}
END_TEST

/* x^2 less what is found by env, and its root by steps that have no derivative. */
BODY(gap_to_found) {
    out[0] = lam_sub(lam_square(in[0]), *(lam_tensor **)env);
}

BODY(newton_to_found) {
    newton(ctx, (lam_tensor *[]){in[0], *(lam_tensor **)env}, out, NULL);
}

BODY(root_of_found) {
    void *found = (void *)(uintptr_t)&in[0];
    out[0] = lam_custom_root(FN_ENV(gap_to_found, 1, 1, found), num(1), LAM_LIST(),
                             FN_ENV(newton_to_found, 1, 1, found), divide, NULL);
}

/* The derivative by it would be zero without a word; a batch of it is none of that. */
START_TEST(derivatives_by_what_is_not_declared) {
    lam_fn *f = FN(root_of_found, 1, 1);
    EXPECT_NUM(apply1(f, num(4)), 2);
    EXPECT(apply1(lam_vmap(f, NULL), VEC(4, 9)), LAM_DIMS(2), 2, 3);
    ck_assert(lam_failed(apply1(lam_grad(f, NULL), num(4))));
    EXPECT_ERROR(LAM_ERR_CAPTURED, "custom_root of 'gap_to_found'", "none of its parameters and captures");
    ck_assert(lam_failed(apply1(lam_vmap(lam_jacfwd(f, NULL), NULL), VEC(4, 9))));
    EXPECT_ERROR(LAM_ERR_CAPTURED, "custom_root of 'gap_to_found'", "none of its parameters and captures");
}
END_TEST

/* A derivative of a root, whose function is asked for types first. */
static void differentiate(const void *env) {
    (void)env;
    apply1(lam_grad(FN(square_root, 1, 1), NULL), num(4));
}

START_TEST(memory_refused_to_a_root) {
    memory_refused_in(differentiate, NULL);
}
END_TEST

Suite *suite_custom_solve(void) {
    return SUITE_OF("custom/solve", linear_solve_and_its_derivatives, linear_solve_under_vmap,
                    symmetric_operator_needs_one_rule, cholesky_lu_and_conjugate_gradients, transposition,
                    captures_of_the_operator_are_differentiated, captures_below_a_transform_are_differentiated,
                    scalar_root_to_the_third_derivative, root_of_a_vector_equation, rules_that_do_not_solve,
                    impossible_systems, functions_that_are_not_there, functions_of_another_context,
                    derivatives_by_what_is_not_declared, memory_refused_to_a_root);
}
