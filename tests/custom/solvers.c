/* lam_custom_linear_solve by solvers with factors that are made once, beside the system, and captured. Expected values
 * are those of lam_solve at the same matrices and of its derivatives, which know nothing of rules or captures. */
#include "tests/custom/callbacks.h"
#include "tests/transforms/build.h"

#include <stdlib.h>

enum { N = 3 };

/* ---- ways to solve ----------------------------------------------------------------------------------------------- */

/* matrix, v -> matrix v */
BODY(product) {
    out[0] = lam_matmul(in[0], in[1]);
}

/* v, then the captured matrix */
BODY(product_of_captured) {
    out[0] = lam_matmul(in[1], in[0]);
}

BODY(product_of_transposed) {
    out[0] = lam_matmul(in[0], in[1]);
}

/* b, then the lower factor */
BODY(by_triangles) {
    lam_tensor *y = lam_triangular_solve(in[1], in[0], NULL);
    out[0] = lam_triangular_solve(in[1], y, &(lam_triangular_solve_options){.transpose = true});
}

/* b, then factors and permutation */
BODY(by_lu) {
    out[0] = lam_lu_solve(in[1], in[2], in[0], false);
}

BODY(by_transposed_lu) {
    out[0] = lam_lu_solve(in[1], in[2], in[0], true);
}

static lam_fn *capturing(lam_body body, lam_list captures) {
    return lam_fn_new(
        ctx, &(lam_fn_options){.name = "factored", .body = body, .inputs = 1, .outputs = 1, .captures = captures});
}

enum way { TRIANGLES, INVERSE, PIVOTS, TRANSPOSED_PROGRAM, WAYS };

/* The matrix, for triangles its symmetric part, which is definite where the tests ask for it. */
static lam_tensor *matrix_of(int way, lam_tensor *a) {
    return way == TRIANGLES ? lam_mul(0.5, lam_add(a, lam_matrix_transpose(a))) : a;
}

static lam_custom_linear_solve_options factored(int way, lam_tensor *a) {
    lam_tensor *factors, *pivots, *order;
    if (way == TRIANGLES)
        return (lam_custom_linear_solve_options){.symmetric = true,
                                                 .solver = capturing(by_triangles, LAM_LIST(lam_cholesky(a)))};
    if (way == PIVOTS) {
        lam_lu(a, &factors, &pivots, &order);
        return (lam_custom_linear_solve_options){.solver = capturing(by_lu, LAM_LIST(factors, order)),
                                                 .transpose_solver =
                                                     capturing(by_transposed_lu, LAM_LIST(factors, order))};
    }
    lam_list inverse = LAM_LIST(lam_inv(a));
    lam_custom_linear_solve_options o = {.solver = capturing(product_of_captured, inverse)};
    o.transpose_solver = way == INVERSE ? capturing(product_of_transposed, inverse)
                                        : lam_linear_transpose(o.solver, LAM_LIST(lam_index(a, 0, 0)));
    return o;
}

/* Where the operator has its matrix. */
enum place { PARAMETER, CAPTURE, HIDDEN, PLACES };

typedef struct solution_of {
    int way, place;
} solution_of;

/* v; env: the matrix */
BODY(product_of_hidden) {
    out[0] = lam_matmul(*(lam_tensor **)env, in[0]);
}

/* matrix, b -> solution */
BODY(by_factors) {
    const solution_of *s = env;
    lam_tensor *a = matrix_of(s->way, in[0]);
    lam_custom_linear_solve_options o = factored(s->way, a);
    if (s->place == PARAMETER) out[0] = lam_custom_linear_solve(FN(product, 2, 1), LAM_LIST(a), in[1], NULL, &o);
    else {
        lam_fn *f =
            s->place == CAPTURE ? capturing(product_of_captured, LAM_LIST(a)) : FN_ENV(product_of_hidden, 1, 1, &a);
        out[0] = lam_custom_linear_solve(f, LAM_LIST(), in[1], NULL, &o);
    }
}

BODY(directly) {
    const solution_of *s = env;
    out[0] = lam_solve(matrix_of(s->way, in[0]), in[1]);
}

/* f by factors and directly: all results of both. */
static void same_results(lam_fn *own, lam_fn *direct, lam_list in, int count) {
    lam_tensor *got[4], *expected[4];
    ck_assert_int_eq(lam_call(own, in, got, (size_t)count), LAM_OK);
    ck_assert_int_eq(lam_call(direct, in, expected, (size_t)count), LAM_OK);
    for (int i = 0; i < count; i++) EXPECT_SAME(got[i], expected[i], 1e-11);
}

/* ---- data -------------------------------------------------------------------------------------------------------- */

/* Far enough from symmetric that a transposed one would be noticed, and definite in their symmetric part. */
static lam_tensor *matrices(void) {
    return lam_stack(
        LAM_LIST(MAT(N, N, 4, 1, -0.5, 0.2, 3, 0.7, 1, -1, 5), MAT(N, N, 2, -0.3, 0.4, 1, 4, 0.1, -0.6, 0.5, 3)), 0);
}

static lam_tensor *sides(void) {
    return MAT(2, N, 1, -2, 3, 0.5, 4, -1);
}

/* A matrix and a right side, or a batch of two. */
typedef struct systems {
    lam_tensor *in[2];
} systems;

static systems one(void) {
    return (systems){{lam_index(matrices(), 0, 0), lam_index(sides(), 0, 0)}};
}

static systems two(void) {
    return (systems){{matrices(), sides()}};
}

/* The number of a loop as way and place, by factors and directly. */
typedef struct both {
    solution_of s;
    lam_fn *own, *direct;
} both;

static void both_of(both *p, int number) {
    p->s = (solution_of){number / PLACES, number % PLACES};
    p->own = FN_ENV(by_factors, 2, 1, &p->s);
    p->direct = FN_ENV(directly, 2, 1, &p->s);
}

static const int argnums[] = {0, 1};
static const lam_jacobian_options by_both = {.argnums = {2, argnums}};

/* ---- derivatives and batches ------------------------------------------------------------------------------------- */

START_TEST(solvers_give_solutions_and_derivatives) {
    both p;
    both_of(&p, _i);
    systems s = one();
    lam_list in = {2, s.in};
    same_results(p.own, p.direct, in, 1);
    same_results(lam_jacfwd(p.own, &by_both), lam_jacfwd(p.direct, &by_both), in, 2);
    same_results(lam_jacrev(p.own, &by_both), lam_jacrev(p.direct, &by_both), in, 2);
    same_results(lam_hessian(p.own, &by_both), lam_hessian(p.direct, &by_both), in, 4);
    same_results(lam_jacrev(lam_jacrev(p.own, &by_both), &by_both),
                 lam_jacrev(lam_jacrev(p.direct, &by_both), &by_both), in, 4);
    EXPECT_OK();
    ck_assert_int_eq(lam_check_grads(p.own, in, &(lam_check_grads_options){.order = 2}), LAM_OK);
}
END_TEST

/* f mapped over the matrices, the sides or both, of which those that are not mapped are one. */
static void same_batches(lam_fn *own, lam_fn *direct, int count) {
    for (int k = 1; k < 4; k++) {
        lam_vmap_options o = {.in_axes = LAM_AXES(k & 1 ? 0 : LAM_UNMAPPED, k & 2 ? 0 : LAM_UNMAPPED)};
        lam_tensor *in[] = {k & 1 ? two().in[0] : one().in[0], k & 2 ? two().in[1] : one().in[1]};
        same_results(lam_vmap(own, &o), lam_vmap(direct, &o), (lam_list){2, in}, count);
    }
}

START_TEST(batches_of_factors) {
    both p;
    both_of(&p, _i);
    same_batches(p.own, p.direct, 1);
    same_batches(lam_jacrev(p.own, &by_both), lam_jacrev(p.direct, &by_both), 2);
    same_batches(lam_jacfwd(p.own, &by_both), lam_jacfwd(p.direct, &by_both), 2);
    same_batches(lam_hessian(p.own, &by_both), lam_hessian(p.direct, &by_both), 4);
}
END_TEST

START_TEST(batches_of_batches_of_factors) {
    both p;
    both_of(&p, _i);
    lam_vmap_options a = {.in_axes = LAM_AXES(0, LAM_UNMAPPED)}, b = {.in_axes = LAM_AXES(LAM_UNMAPPED, 0)};
    systems s = two();
    lam_list in = {2, s.in};
    lam_fn *own = lam_jacrev(p.own, &by_both), *direct = lam_jacrev(p.direct, &by_both);
    same_results(lam_vmap(lam_vmap(own, &b), &a), lam_vmap(lam_vmap(direct, &b), &a), in, 2);
    same_results(lam_vmap(lam_vmap(own, &a), &b), lam_vmap(lam_vmap(direct, &a), &b), in, 2);
}
END_TEST

/* Derivatives of batches, rather than batches of derivatives. */
START_TEST(derivatives_of_batches_of_factors) {
    both p;
    both_of(&p, _i);
    systems s = two();
    lam_list in = {2, s.in};
    lam_fn *own = lam_vmap(p.own, NULL), *direct = lam_vmap(p.direct, NULL);
    same_results(lam_jacrev(own, &by_both), lam_jacrev(direct, &by_both), in, 2);
    same_results(lam_jacfwd(own, &by_both), lam_jacfwd(direct, &by_both), in, 2);
    lam_fn *sum = FN_ENV(sum_of_pair, 2, 1, own), *direct_sum = FN_ENV(sum_of_pair, 2, 1, direct);
    same_results(lam_hessian(sum, &by_both), lam_hessian(direct_sum, &by_both), in, 4);
}
END_TEST

/* ---- programs, checkpoints, pullbacks, loops --------------------------------------------------------------------- */

START_TEST(solvers_in_programs) {
    both p;
    both_of(&p, _i);
    systems s = one(), more = two();
    lam_list in = {2, s.in}, batch = {2, more.in};
    lam_fn *back = lam_jacrev(p.own, &by_both), *direct = lam_jacrev(p.direct, &by_both);
    same_results(lam_jit(p.own, NULL), p.direct, in, 1);
    same_results(lam_jit(back, NULL), direct, in, 2);
    same_results(lam_jit(lam_vmap(back, NULL), NULL), lam_vmap(direct, NULL), batch, 2);
    lam_program *recorded = lam_trace(p.own, in);
    same_results(recorded, p.direct, in, 1);
    same_results(lam_jacrev(recorded, &by_both), direct, in, 2);
    same_results(lam_vmap(lam_jacfwd(recorded, &by_both), NULL), lam_vmap(direct, NULL), batch, 2);
    same_results(lam_trace(lam_vmap(back, NULL), batch), lam_vmap(direct, NULL), batch, 2);
}
END_TEST

START_TEST(checkpointed_solvers) {
    both p;
    both_of(&p, _i);
    systems s = one(), more = two();
    lam_fn *own = lam_checkpoint(p.own, NULL);
    same_results(lam_jacrev(own, &by_both), lam_jacrev(p.direct, &by_both), (lam_list){2, s.in}, 2);
    same_results(lam_hessian(own, &by_both), lam_hessian(p.direct, &by_both), (lam_list){2, s.in}, 4);
    same_results(lam_vmap(lam_jacrev(own, &by_both), NULL), lam_vmap(lam_jacrev(p.direct, &by_both), NULL),
                 (lam_list){2, more.in}, 2);
}
END_TEST

/* The scope in which the factors were made has ended, and so has the level. */
START_TEST(pullbacks_keep_factors) {
    both p;
    both_of(&p, _i);
    systems s = one();
    lam_fn *pullback[2], *both_ways[] = {p.own, p.direct};
    lam_tensor *x, *got[2][2];
    lam_grad_options o = {.argnums = LAM_AXES(0, 1)};
    for (int k = 0; k < 2; k++) {
        lam_scope *scope = lam_scope_begin(ctx);
        lam_vjp(both_ways[k], (lam_list){2, s.in}, &x, 1, &pullback[k], &o);
        lam_fn_hold(pullback[k]);
        lam_scope_end(scope, NULL, 0);
        lam_call(pullback[k], LAM_LIST(s.in[1]), got[k], 2);
    }
    for (int k = 0; k < 2; k++) EXPECT_SAME(got[0][k], got[1][k], 1e-11);
    for (int k = 0; k < 2; k++) lam_fn_drop(pullback[k]);
}
END_TEST

/* carry, side, then the captured matrix -> carry + A^-1 (carry + side), twice; env: the solution */
BODY(step) {
    out[0] = lam_add(in[0], lam_apply(env, LAM_LIST(in[2], lam_add(in[0], in[1]))));
    out[1] = out[0];
}

/* matrix, sides -> all carries */
BODY(steps) {
    lam_fn *each = lam_fn_new(
        ctx, &(lam_fn_options){
                 .name = "step", .body = step, .inputs = 2, .outputs = 2, .env = env, .captures = LAM_LIST(in[0])});
    lam_tensor *end[2];
    lam_scan(each, LAM_LIST(lam_zeros(ctx, LAM_F64, LAM_DIMS(N))), LAM_LIST(in[1]), end, 2, NULL);
    out[0] = end[1];
}

START_TEST(solvers_in_loops) {
    both p;
    both_of(&p, _i);
    lam_fn *own = FN_ENV(steps, 2, 1, p.own), *direct = FN_ENV(steps, 2, 1, p.direct);
    lam_tensor *in[] = {one().in[0], two().in[1]};
    same_results(own, direct, (lam_list){2, in}, 1);
    same_results(lam_jacrev(own, &by_both), lam_jacrev(direct, &by_both), (lam_list){2, in}, 2);
    same_results(lam_jacfwd(own, &by_both), lam_jacfwd(direct, &by_both), (lam_list){2, in}, 2);
    lam_vmap_options o = {.in_axes = LAM_AXES(0, LAM_UNMAPPED)};
    in[0] = two().in[0];
    same_results(lam_vmap(lam_jacrev(own, &by_both), &o), lam_vmap(lam_jacrev(direct, &by_both), &o), (lam_list){2, in},
                 2);
}
END_TEST

/* The text of a program has the solver's operations, and what is read of it their derivatives. */
START_TEST(solvers_as_text) {
    both p;
    both_of(&p, _i);
    systems s = one();
    lam_list in = {2, s.in};
    char *text = printed_text(lam_trace(p.own, in));
    lam_program *read = lam_program_read(ctx, text);
    free(text);
    same_results(read, p.direct, in, 1);
    same_results(lam_jacrev(read, &by_both), lam_jacrev(p.direct, &by_both), in, 2);
}
END_TEST

/* ---- other solvers ----------------------------------------------------------------------------------------------- */

/* b, then the inverse of a matrix: by foreign code, which no derivative looks into. */
BODY(by_foreign_code) {
    double a[N][N], b[N], x[N] = {0};
    if (lam_read(in[1], a, sizeof a) || lam_read(in[0], b, sizeof b)) {
        out[0] = lam_fail(ctx, LAM_ERR_USER, "no raw data");
        return;
    }
    for (int i = 0; i < N; i++)
        for (int k = 0; k < N; k++) x[i] += a[i][k] * b[k];
    out[0] = lam_array(ctx, LAM_F64, LAM_DIMS(N), x);
}

/* matrix, b; the transposed system by a rule, or by another function */
static lam_tensor *by_lam_solve(UNUSED lam_ctx *here, lam_fn *linear, lam_tensor *b, UNUSED void *env) {
    return lam_solve(lam_apply(lam_jacfwd(linear, NULL), LAM_LIST(lam_zeros_like(b))), b);
}

BODY(solved_by_foreign_code) {
    lam_custom_linear_solve_options o = {.solver = capturing(by_foreign_code, LAM_LIST(lam_inv(in[0]))),
                                         .transpose_solve = by_lam_solve};
    out[0] = lam_custom_linear_solve(FN(product, 2, 1), LAM_LIST(in[0]), in[1], NULL, &o);
}

BODY(transposed_by_foreign_code) {
    lam_tensor *inverse = lam_matrix_transpose(lam_inv(in[0]));
    lam_custom_linear_solve_options o = {.transpose_solver = capturing(by_foreign_code, LAM_LIST(inverse))};
    out[0] = lam_custom_linear_solve(FN(product, 2, 1), LAM_LIST(in[0]), in[1], by_lam_solve, &o);
}

START_TEST(solvers_of_foreign_code_beside_rules) {
    solution_of plain = {INVERSE, PARAMETER};
    lam_fn *direct = FN_ENV(directly, 2, 1, &plain);
    lam_fn *sum = FN_ENV(sum_of_pair, 2, 1, direct);
    lam_grad_options o = {.argnums = LAM_AXES(0, 1)};
    systems s = one();
    lam_list in = {2, s.in};
    lam_fn *own[] = {FN(solved_by_foreign_code, 2, 1), FN(transposed_by_foreign_code, 2, 1)};
    for (int k = 0; k < 2; k++) {
        same_results(own[k], direct, in, 1);
        same_results(lam_grad(FN_ENV(sum_of_pair, 2, 1, own[k]), &o), lam_grad(sum, &o), in, 2);
    }
}
END_TEST

/* b, then a number */
BODY(scaled_by) {
    out[0] = lam_mul(in[0], in[1]);
}

/* s -> 3 s: the solver is wrong on purpose, and it alone depends on the variable. */
BODY(wrongly_solved) {
    lam_custom_linear_solve_options o = {.symmetric = true,
                                         .solver = capturing(scaled_by, LAM_LIST(lam_mul(3.0, in[0])))};
    out[0] = lam_custom_linear_solve(FN(product, 2, 1), LAM_LIST(lam_stop_gradient(in[0])), num(1), NULL, &o);
}

START_TEST(nothing_is_differentiated_through_solvers) {
    lam_fn *f = FN(wrongly_solved, 1, 1);
    EXPECT_NUM(apply1(f, num(2)), 6);
    EXPECT_NUM(apply1(reverse_of(f), num(2)), 0);
    EXPECT_NUM(apply1(forward_of(f), num(2)), 0);
}
END_TEST

/* ---- what is refused --------------------------------------------------------------------------------------------- */

BODY(three_copies) {
    out[0] = lam_stack(LAM_LIST(in[0], in[0], in[0]), 0);
}

BODY(halves) {
    out[0] = lam_cast(in[0], LAM_F32);
}

BODY(gives_up) {
    out[0] = lam_fail(ctx, LAM_ERR_USER, "singular");
}

static void refuse(lam_solve_rule solve, lam_custom_linear_solve_options o) {
    ck_assert(lam_failed(lam_custom_linear_solve(FN(product, 2, 1), LAM_LIST(num(2)), num(1), solve, &o)));
}

START_TEST(solvers_that_cannot_be_told_apart) {
    lam_fn *two = FN(product, 2, 1), *one_way = FN(halves, 1, 1);
    refuse(NULL, (lam_custom_linear_solve_options){.transpose_solver = one_way});
    EXPECT_ERROR(LAM_ERR_NULL, "custom_linear_solve of 'product'", "solve is NULL", "no solver");
    refuse(by_lam_solve, (lam_custom_linear_solve_options){.solver = one_way});
    EXPECT_ERROR(LAM_ERR_OPTION, "custom_linear_solve of 'product'", "solve and solver");
    refuse(NULL, (lam_custom_linear_solve_options){
                     .solver = one_way, .transpose_solve = by_lam_solve, .transpose_solver = one_way});
    EXPECT_ERROR(LAM_ERR_OPTION, "custom_linear_solve of 'product'", "transpose_solve and transpose_solver");
    refuse(NULL, (lam_custom_linear_solve_options){.solver = two});
    EXPECT_ERROR(LAM_ERR_ARITY, "custom_linear_solve of 'product'", "solver 'product' takes 2 inputs");
    refuse(NULL, (lam_custom_linear_solve_options){.solver = one_way, .transpose_solver = two});
    EXPECT_ERROR(LAM_ERR_ARITY, "custom_linear_solve of 'product'", "transpose_solver 'product' takes 2 inputs");
    lam_cg(two, LAM_LIST(num(2)), num(1), &(lam_iterative_options){.preconditioner = two});
    EXPECT_ERROR(LAM_ERR_ARITY, "cg of 'product'", "preconditioner 'product' takes 2 inputs");
}
END_TEST

/* env: the solver */
BODY(solved_by) {
    lam_custom_linear_solve_options o = {.solver = env};
    out[0] = lam_custom_linear_solve(FN(product, 2, 1), LAM_LIST(num(2)), in[0], NULL, &o);
}

START_TEST(solvers_that_do_not_solve) {
    apply1(FN_ENV(solved_by, 1, 1, FN(three_copies, 1, 1)), num(1));
    EXPECT_ERROR(LAM_ERR_SHAPE, "linear_solve", "expected f64[], got f64[3]");
    apply1(FN_ENV(solved_by, 1, 1, FN(halves, 1, 1)), num(1));
    EXPECT_ERROR(LAM_ERR_DTYPE, "linear_solve", "expected f64[], got f32[]");
    apply1(FN_ENV(solved_by, 1, 1, FN(gives_up, 1, 1)), num(1));
    EXPECT_ERROR(LAM_ERR_USER, "singular", "linear_solve");
    lam_fn *f = FN_ENV(solved_by, 1, 1, capturing(scaled_by, LAM_LIST(num(0.5))));
    EXPECT_NUM(apply1(f, num(3)), 1.5);
    EXPECT_NUM(apply1(forward_of(f), num(3)), 0.5);
    apply1(reverse_of(f), num(3));
    EXPECT_ERROR(LAM_ERR_RULE, "linear_solve", "backward", "transpose_solver");
    lam_ctx *other = lam_ctx_new(NULL);
    lam_fn *theirs = lam_fn_new(other, &(lam_fn_options){.name = "theirs", .body = halves, .inputs = 1, .outputs = 1});
    refuse(NULL, (lam_custom_linear_solve_options){.solver = theirs});
    EXPECT_ERROR(LAM_ERR_CONTEXT, "custom_linear_solve of 'product'", "mixed contexts: solver 'theirs'");
    lam_ctx_free(other);
}
END_TEST

Suite *suite_custom_solvers(void) {
    Suite *suite =
        SUITE_OF("custom/solvers", solvers_of_foreign_code_beside_rules, nothing_is_differentiated_through_solvers,
                 solvers_that_cannot_be_told_apart, solvers_that_do_not_solve);
    suite_loop(suite, solvers_give_solutions_and_derivatives, WAYS * PLACES);
    suite_loop(suite, batches_of_factors, WAYS * PLACES);
    suite_loop(suite, batches_of_batches_of_factors, WAYS * PLACES);
    suite_loop(suite, derivatives_of_batches_of_factors, WAYS * PLACES);
    suite_loop(suite, solvers_in_programs, WAYS * PLACES);
    suite_loop(suite, solvers_as_text, WAYS * PLACES);
    suite_loop(suite, checkpointed_solvers, WAYS * PLACES);
    suite_loop(suite, pullbacks_keep_factors, WAYS * PLACES);
    suite_loop(suite, solvers_in_loops, WAYS * PLACES);
    return suite;
}
