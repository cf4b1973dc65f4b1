/* Implicit derivatives: lam_custom_linear_solve and lam_custom_root. Expected values: closed forms of the solutions and
 * of their
 * derivatives. The rules read no derivative from their own operations, which iterate or factorise. */
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
    lam_linear_solve_options options;
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
START_TEST(test_linear_solve_and_its_derivatives) {
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

START_TEST(test_linear_solve_under_vmap) {
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
START_TEST(test_symmetric_operator_needs_one_rule) {
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
    out[0] = lam_custom_linear_solve(f, LAM_LIST(), num(6), divide, &(lam_linear_solve_options){.symmetric = true});
}

START_TEST(test_captures_of_the_operator_are_differentiated) {
    lam_fn *f = FN(division_by_rule, 1, 1);
    EXPECT_NUM(apply1(f, num(2)), 3);
    EXPECT_NUM(apply1(reverse_of(f), num(2)), -1.5);
    EXPECT_NUM(apply1(forward_of(f), num(2)), -1.5);
    EXPECT_NUM(apply1(reverse_of(reverse_of(f)), num(2)), 1.5);
    EXPECT_NUM(apply1(forward_of(reverse_of(f)), num(2)), 1.5);
    EXPECT(apply1(lam_vmap(reverse_of(f), NULL), VEC(1, 2)), LAM_DIMS(2), -6, -1.5);
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
START_TEST(test_scalar_root_to_the_third_derivative) {
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

START_TEST(test_vector_root) {
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

START_TEST(test_impossible_systems) {
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
}
END_TEST

Suite *suite_custom_solve(void) {
    return SUITE_OF("custom/solve", test_linear_solve_and_its_derivatives, test_linear_solve_under_vmap,
                    test_symmetric_operator_needs_one_rule, test_captures_of_the_operator_are_differentiated,
                    test_scalar_root_to_the_third_derivative, test_vector_root, test_impossible_systems);
}
