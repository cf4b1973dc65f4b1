/* Solves in programs that are to be linear: lam_linear_transpose, lam_linearize, lam_jacobian where it transposes, and
 * rules whose transpose is derived. A solve is linear in its right side however it is done: by iterations, by a loop
 * whose length depends on it, in foreign code. Expected values by hand, from
 *     A = (4 1; 2 3),  10 A^-1 = (3 -1; -2 4),  10 A^-T = (3 -2; -1 4). */
#include "tests/custom/callbacks.h"

/* s, v -> s A v */
BODY(product) {
    out[0] = lam_mul(in[0], lam_matmul(MAT(2, 2, 4, 1, 2, 3), in[1]));
}

/* ---- ways to solve ----------------------------------------------------------------------------------------------- */

/* x, residual, b: the residual is longer than 1e-14 of b */
BODY(is_off) {
    lam_tensor *length = lam_max_reduce(lam_abs(in[1]), NULL);
    out[0] = lam_gt(length, lam_mul(1e-14, lam_max_reduce(lam_abs(in[2]), NULL)));
}

/* One step of Richardson's iteration, for eigenvalues s (2, 5) with s near 1; env: the operator. */
BODY(nearer) {
    out[0] = lam_add(in[0], lam_mul(0.25, in[1]));
    out[1] = lam_sub(in[2], apply1(env, out[0]));
    out[2] = in[2];
}

static lam_tensor *by_loop(UNUSED lam_ctx *here, lam_fn *linear, lam_tensor *b, UNUSED void *env) {
    lam_tensor *state[3] = {lam_zeros_like(b), b, b}, *end[3];
    lam_while(FN(is_off, 3, 1), FN_ENV(nearer, 3, 3, linear), (lam_list){3, state}, end, 3);
    return end[0];
}

/* Reads the columns of the operator, and b. */
static lam_tensor *by_foreign_code(lam_ctx *here, lam_fn *linear, lam_tensor *b, UNUSED void *env) {
    double c[2][2] = {{0}}, r[2] = {0};
    if (lam_read(apply1(linear, VEC(1, 0)), c[0], sizeof c[0]) ||
        lam_read(apply1(linear, VEC(0, 1)), c[1], sizeof c[1]) || lam_read(b, r, sizeof r))
        return lam_fail(here, LAM_ERR_USER, "no raw data");
    double d = c[0][0] * c[1][1] - c[0][1] * c[1][0];
    return VEC((r[0] * c[1][1] - r[1] * c[1][0]) / d, (r[1] * c[0][0] - r[0] * c[0][1]) / d);
}

static const lam_iterative_options fine = {.tol = 1e-15};

static lam_tensor *by_gmres(UNUSED lam_ctx *here, lam_fn *linear, lam_tensor *b, UNUSED void *env) {
    return lam_gmres(linear, LAM_LIST(), b, &fine);
}

/* foreign: it reads elements, so it cannot be batched. */
typedef struct way {
    lam_solve_rule rule;
    bool foreign;
} way;
static const way ways[] = {{by_loop, false}, {by_foreign_code, true}, {by_gmres, false}};

#define EACH_WAY(w) for (const way *w = ways; w < ways + sizeof ways / sizeof *ways; w++)

/* s, b -> (s A)^-1 b; env: the way */
BODY(solved) {
    const way *w = env;
    out[0] = lam_custom_linear_solve(FN(product, 2, 1), LAM_LIST(in[0]), in[1], w->rule,
                                     &(lam_custom_linear_solve_options){.transpose_solve = w->rule});
}

/* b -> A^-1 b */
BODY(solved_b) {
    lam_tensor *both[] = {num(1), in[0]};
    solved(ctx, both, out, env);
}

BODY(sum_of_solved) {
    solved_b(ctx, in, out, env);
    out[0] = lam_sum(out[0], NULL);
}

static lam_fn *of(lam_body body, int inputs, const way *w) {
    return FN_ENV(body, inputs, 1, (void *)(uintptr_t)w);
}

/* ---- programs ---------------------------------------------------------------------------------------------------- */

START_TEST(a_solve_is_transposed) {
    EACH_WAY(w) {
        lam_fn *f = of(solved_b, 1, w), *back = lam_linear_transpose(f, LAM_LIST(VEC(0, 0)));
        EXPECT_NEAR(apply1(back, VEC(10, 20)), 1e-13, LAM_DIMS(2), -1, 7);
        lam_fn *again = lam_linear_transpose(back, LAM_LIST(VEC(0, 0)));
        EXPECT_NEAR(apply1(again, VEC(10, 20)), 1e-13, LAM_DIMS(2), 1, 6);
        if (w->foreign) continue;
        EXPECT_NEAR(apply1(lam_vmap(back, NULL), MAT(2, 2, 10, 0, 0, 10)), 1e-13, LAM_DIMS(2, 2), 3, -1, -2, 4);
        EXPECT_NEAR(apply1(lam_jacrev(back, NULL), VEC(0, 0)), 1e-13, LAM_DIMS(2, 2), 0.3, -0.2, -0.1, 0.4);
    }
}
END_TEST

/* By s at s = 1 the derivative is -x. */
START_TEST(a_solve_is_linearized) {
    EACH_WAY(w) {
        lam_fn *linear;
        lam_tensor *x, *g[2];
        lam_linearize(of(solved, 2, w), LAM_LIST(num(1), VEC(10, 20)), &x, 1, &linear, NULL);
        EXPECT_NEAR(x, 1e-12, LAM_DIMS(2), 1, 6);
        EXPECT_NEAR(apply2(linear, num(2), VEC(10, 0)), 1e-12, LAM_DIMS(2), 1, -14);
        lam_call(lam_linear_transpose(linear, LAM_LIST(num(0), VEC(0, 0))), LAM_LIST(VEC(10, 20)), g, 2);
        EXPECT_NEAR(g[0], 1e-12, LAM_DIMS0, -130);
        EXPECT_NEAR(g[1], 1e-12, LAM_DIMS(2), -1, 7);
    }
}
END_TEST

START_TEST(jacobians_of_solves) {
    lam_jacobian_options both = {.argnums = LAM_AXES(0, 1)};
    EACH_WAY(w) {
        if (w->foreign) continue;
        lam_tensor *blocks[2];
        lam_call(lam_jacobian(of(solved, 2, w), &both), LAM_LIST(num(1), VEC(10, 20)), blocks, 2);
        EXPECT_NEAR(blocks[0], 1e-13, LAM_DIMS(2), -1, -6);
        EXPECT_NEAR(blocks[1], 1e-13, LAM_DIMS(2, 2), 0.3, -0.1, -0.2, 0.4);
        EXPECT_NEAR(apply1(lam_jacobian(of(sum_of_solved, 1, w), NULL), VEC(10, 20)), 1e-13, LAM_DIMS(2), 0.1, 0.3);
        lam_fn *rows = lam_vmap(of(solved_b, 1, w), NULL);
        EXPECT_NEAR(apply1(lam_jacobian(FN_ENV(sum_of, 1, 1, rows), NULL), MAT(2, 2, 1, 2, 3, 4)), 1e-13,
                    LAM_DIMS(2, 2), 0.1, 0.3, 0.1, 0.3);
    }
}
END_TEST

/* b, tangent: five times the true derivative */
BODY(solved_rule) {
    solved_b(ctx, in, out, env);
    solved_b(ctx, in + 1, out + 1, env);
    out[1] = lam_mul(5.0, out[1]);
}

START_TEST(rules_that_solve_are_transposed) {
    EACH_WAY(w) {
        lam_fn *f = lam_custom_jvp(of(solved_b, 1, w), FN_ENV(solved_rule, 2, 2, (void *)(uintptr_t)w), NULL);
        EXPECT_NEAR(apply1(forward_of(f), VEC(10, 20)), 1e-13, LAM_DIMS(2), 1, 1);
        EXPECT_NEAR(apply1(lam_grad(FN_ENV(sum_of, 1, 1, f), NULL), VEC(10, 20)), 1e-13, LAM_DIMS(2), 0.5, 1.5);
    }
}
END_TEST

/* ---- programs that depend on values of levels -------------------------------------------------------------------- */

/* s -> sum((s A)^-T (10, 20)) by the transpose of b -> (s A)^-1 b, whose operator belongs to a level */
BODY(solved_at) {
    lam_tensor *both[] = {*(lam_tensor **)((void **)env)[0], in[0]};
    solved(ctx, both, out, ((void **)env)[1]);
}

BODY(transposed_at) {
    lam_tensor *s = in[0];
    void *at[] = {&s, env};
    lam_fn *back = lam_linear_transpose(FN_ENV(solved_at, 1, 1, at), LAM_LIST(VEC(0, 0)));
    out[0] = lam_sum(apply1(back, VEC(10, 20)), NULL);
}

/* 6 / s */
START_TEST(transposes_depend_on_the_operator) {
    EACH_WAY(w) {
        lam_fn *f = of(transposed_at, 1, w);
        EXPECT_NEAR(apply1(f, num(1)), 1e-13, LAM_DIMS0, 6);
        EXPECT_NEAR(apply1(lam_grad(f, NULL), num(1)), 1e-13, LAM_DIMS0, -6);
        EXPECT_NEAR(apply1(forward_of(f), num(1)), 1e-13, LAM_DIMS0, -6);
        EXPECT_NEAR(apply1(lam_grad(lam_grad(f, NULL), NULL), num(1)), 1e-13, LAM_DIMS0, 12);
    }
}
END_TEST

/* ---- batches of operators ---------------------------------------------------------------------------------------- */

/* A way of its own for each example: at the level of a batched choice, for the examples that take it. */
BODY(many_steps) {
    lam_tensor *x = lam_zeros_like(in[0]);
    for (int i = 0; i < 150; i++) x = lam_add(x, lam_mul(0.25, lam_sub(in[0], apply1(env, x))));
    out[0] = x;
}

BODY(gives_zero) {
    out[0] = lam_zeros_like(in[0]);
}

/* 0 for a right side of zeros. */
static lam_tensor *by_choice(UNUSED lam_ctx *here, lam_fn *linear, lam_tensor *b, UNUSED void *env) {
    lam_tensor *x, *any = lam_gt(lam_max_reduce(lam_abs(b), NULL), 0.0);
    lam_cond(any, FN_ENV(many_steps, 1, 1, linear), FN(gives_zero, 1, 1), LAM_LIST(b), &x, 1);
    return x;
}

static const way batched_ways[] = {{by_loop, false}, {by_choice, false}, {by_gmres, false}};

#define EACH_BATCHED_WAY(w)                                                                                            \
    for (const way *w = batched_ways; w < batched_ways + sizeof batched_ways / sizeof *batched_ways; w++)

/* A rule calls the operator in loops and choices that examples leave at different times, though it cannot declare what
 * the operator captures. (10, 20) gives (1, 6) / s and zeros give zeros. */
START_TEST(rules_call_operators_of_batches) {
    lam_vmap_options outer = {.in_axes = LAM_AXES(0, LAM_UNMAPPED)}, inner = {.in_axes = LAM_AXES(LAM_UNMAPPED, 0)};
    lam_tensor *s = VEC(1, 0.5), *b = VEC(10, 20), *bs = MAT(3, 2, 10, 20, 0, 0, 10, 0);
    EACH_BATCHED_WAY(w) {
        lam_fn *f = of(solved, 2, w);
        EXPECT_NEAR(apply2(lam_vmap(f, &outer), s, b), 1e-12, LAM_DIMS(2, 2), 1, 6, 2, 12);
        EXPECT_NEAR(apply2(lam_vmap(f, NULL), VEC(1, 0.5, 1), bs), 1e-12, LAM_DIMS(3, 2), 1, 6, 0, 0, 3, -2);
        EXPECT_NEAR(apply2(lam_vmap(lam_vmap(f, &inner), &outer), s, bs), 1e-12, LAM_DIMS(2, 3, 2), 1, 6, 0, 0, 3, -2,
                    2, 12, 0, 0, 6, -4);
        EXPECT_NEAR(apply2(lam_vmap(lam_vmap(f, &outer), &inner), s, bs), 1e-12, LAM_DIMS(3, 2, 2), 1, 6, 2, 12, 0, 0,
                    0, 0, 3, -2, 6, -4);
    }
}
END_TEST

/* By s: -x / s, of which the sum is -7 / s^2; by b: A^-T (1, 1) = (0.1, 0.3) over s. */
START_TEST(derivatives_of_batches_of_solves) {
    lam_grad_options both = {.argnums = LAM_AXES(0, 1)};
    lam_vmap_options outer = {.in_axes = LAM_AXES(0, LAM_UNMAPPED)};
    EACH_BATCHED_WAY(w) {
        lam_tensor *g[2];
        lam_fn *f = FN_ENV(sum_of_pair, 2, 1, of(solved, 2, w)), *by_s = lam_grad(f, NULL);
        lam_call(lam_vmap(lam_grad(f, &both), &outer), LAM_LIST(VEC(1, 0.5), VEC(10, 20)), g, 2);
        EXPECT_NEAR(g[0], 1e-12, LAM_DIMS(2), -7, -28);
        EXPECT_NEAR(g[1], 1e-12, LAM_DIMS(2, 2), 0.1, 0.3, 0.2, 0.6);
        EXPECT_NEAR(apply2(lam_vmap(lam_grad(by_s, NULL), &outer), VEC(1, 0.5), VEC(10, 20)), 1e-12, LAM_DIMS(2), 14,
                    112);
        lam_fn *back = of(transposed_at, 1, w);
        EXPECT_NEAR(apply1(lam_vmap(back, NULL), VEC(1, 0.5)), 1e-12, LAM_DIMS(2), 6, 12);
        EXPECT_NEAR(apply1(lam_vmap(lam_grad(back, NULL), NULL), VEC(1, 0.5)), 1e-12, LAM_DIMS(2), -6, -24);
    }
}
END_TEST

/* ---- solves in operators ----------------------------------------------------------------------------------------- */

/* s, b -> x with (b -> (s A)^-1 b linearized)(x) = b, which is s A b: a solve whose operator is a program with one. */
BODY(solved_inversely) {
    lam_fn *linear;
    lam_tensor *value;
    lam_linearize(of(solved, 2, env), LAM_LIST(in[0], lam_zeros_like(in[1])), &value, 1, &linear,
                  &(lam_grad_options){.argnums = LAM_AXES(1)});
    out[0] = lam_gmres(linear, LAM_LIST(), in[1], &fine);
}

START_TEST(a_solve_within_the_operator_of_a_solve) {
    lam_fn *f = of(solved_inversely, 2, &ways[2]);
    lam_tensor *b = VEC(1, 2);
    EXPECT_NEAR(apply2(f, num(1), b), 1e-12, LAM_DIMS(2), 6, 8);
    EXPECT_NEAR(apply2(lam_vmap(f, &(lam_vmap_options){.in_axes = LAM_AXES(0, LAM_UNMAPPED)}), VEC(1, 2), b), 1e-12,
                LAM_DIMS(2, 2), 6, 8, 12, 16);
    EXPECT_NEAR(apply2(lam_grad(FN_ENV(sum_of_pair, 2, 1, f), NULL), num(1), b), 1e-11, LAM_DIMS0, 14);
    EXPECT_NEAR(apply2(lam_jacobian(f, NULL), num(1), b), 1e-11, LAM_DIMS(2), 6, 8);
}
END_TEST

Suite *suite_custom_linear_solve(void) {
    return SUITE_OF("custom/linear_solve", a_solve_is_transposed, a_solve_is_linearized, jacobians_of_solves,
                    rules_that_solve_are_transposed, transposes_depend_on_the_operator, rules_call_operators_of_batches,
                    derivatives_of_batches_of_solves, a_solve_within_the_operator_of_a_solve);
}
