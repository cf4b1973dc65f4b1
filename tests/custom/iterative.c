/* Linear systems by iteration: lam_cg, lam_bicgstab, lam_gmres. Expected values come from the direct solution, closed
 * forms of single steps, and differences; a preconditioner is seen by the steps that it saves. */
#include "tests/custom/callbacks.h"

typedef lam_tensor *solver(lam_fn *matvec, lam_list parameters, lam_tensor *b, const lam_iterative_options *options);
static solver *const solvers[] = {lam_cg, lam_bicgstab, lam_gmres};

enum { N = 12 };

BODY(product) {
    out[0] = lam_matmul(in[0], in[1]);
}

/* A symmetric positive definite matrix with eigenvalues from 1 to about 13, or with `lean` an unsymmetric one. */
static lam_tensor *matrix(double lean) {
    lam_tensor *i = lam_iota(ctx, LAM_F64, LAM_DIMS(N, N), 0), *j = lam_iota(ctx, LAM_F64, LAM_DIMS(N, N), 1);
    lam_tensor *near = lam_reciprocal(lam_add(1.0, lam_square(lam_sub(i, j))));
    lam_tensor *skew = lam_mul(lean, lam_sin(lam_sub(i, j)));
    return lam_add(lam_add(near, skew), lam_mul(lam_add(i, 1.0), lam_eye(ctx, LAM_F64, N, N)));
}

static lam_tensor *side(void) {
    return lam_cos(lam_iota(ctx, LAM_F64, LAM_DIMS(N), 0));
}

static const lam_iterative_options fine = {.tol = 1e-13};

START_TEST(systems_are_solved) {
    for (int k = 0; k < 3; k++) {
        lam_tensor *a = matrix(k ? 0.4 : 0), *b = side(), *x = lam_solve(a, b);
        EXPECT_SAME(solvers[k](FN(product, 2, 1), LAM_LIST(a), b, &fine), x, 1e-12);
        lam_tensor *rough = solvers[k](FN(product, 2, 1), LAM_LIST(a), b, NULL);
        ck_assert_double_le(lam_item(lam_norm(lam_sub(lam_matmul(a, rough), b), NULL)),
                            1e-5 * lam_item(lam_norm(b, NULL)));
        lam_tensor *soon = solvers[k](FN(product, 2, 1), LAM_LIST(a), b, &(lam_iterative_options){.tol = 0.1});
        const double away = lam_item(lam_max_reduce(lam_abs(lam_sub(soon, x)), NULL));
        if (solvers[k] != lam_gmres) ck_assert_double_gt(away, 1e-6); /* gmres has gone through all directions */
        lam_tensor *a32 = lam_cast(a, LAM_F32), *b32 = lam_cast(b, LAM_F32);
        lam_tensor *x32 = solvers[k](FN(product, 2, 1), LAM_LIST(a32), b32, &(lam_iterative_options){.tol = 1e-6});
        ck_assert_int_eq(lam_dtype_of(x32), LAM_F32);
        EXPECT_SAME(lam_cast(x32, LAM_F64), x, 1e-4);
        EXPECT(solvers[k](FN(product, 2, 1), LAM_LIST(a), lam_zeros_like(b), NULL), LAM_DIMS(N), 0, 0, 0, 0, 0, 0, 0, 0,
               0, 0, 0, 0);
        lam_tensor *none = lam_zeros(ctx, LAM_F64, LAM_DIMS(0)), *square = lam_zeros(ctx, LAM_F64, LAM_DIMS(0, 0));
        lam_tensor *hole = lam_mul(b, (double)NAN); /* nothing to go on with: no million steps are made */
        lam_iterative_options long_way = {.maxiter = 1000000000};
        EXPECT_NUM(lam_all(lam_is_nan(solvers[k](FN(product, 2, 1), LAM_LIST(a), hole, &long_way)), NULL), 1);
        EXPECT_EMPTY(solvers[k](FN(product, 2, 1), LAM_LIST(square), none, NULL), LAM_DIMS(0));
    }
    EXPECT_OK();
}
END_TEST

/* Hermitian for cg: near + i sin(i - j), whose imaginary part is skew. */
START_TEST(complex_systems_are_solved) {
    for (int k = 0; k < 3; k++) {
        lam_tensor *i = lam_iota(ctx, LAM_F64, LAM_DIMS(N, N), 0), *j = lam_iota(ctx, LAM_F64, LAM_DIMS(N, N), 1);
        lam_tensor *a = lam_complex(matrix(k ? 0.2 : 0), lam_mul(0.3, lam_sin(lam_sub(i, j))));
        lam_tensor *b = lam_complex(side(), lam_sin(side()));
        lam_tensor *gap = lam_sub(solvers[k](FN(product, 2, 1), LAM_LIST(a), b, &fine), lam_solve(a, b));
        ck_assert_double_le(lam_item(lam_max_reduce(lam_abs(gap), NULL)), 1e-12);
    }
    EXPECT_OK();
}
END_TEST

/* Of any rank: v -> a v a^T + v, whose matrix is kron(a, a) + 1. */
BODY(sandwich) {
    out[0] = lam_add(lam_matmul(in[0], lam_matmul(in[1], lam_matrix_transpose(in[0]))), in[1]);
}

START_TEST(unknowns_of_any_rank) {
    lam_tensor *a = MAT(2, 2, 2, 0.5, 0.5, 1), *b = MAT(2, 2, 1, 2, 3, 4);
    lam_tensor *full = lam_add(lam_kron(a, a), lam_eye(ctx, LAM_F64, 4, 4));
    lam_tensor *x = lam_reshape(lam_solve(full, lam_reshape(b, LAM_DIMS(4))), LAM_DIMS(2, 2));
    for (int k = 0; k < 3; k++) EXPECT_SAME(solvers[k](FN(sandwich, 2, 1), LAM_LIST(a), b, &fine), x, 1e-13);
    EXPECT_OK();
}
END_TEST

/* One step of cg is that of steepest descent, x = (b.b / b.Ab) b. */
START_TEST(iterations_are_bounded) {
    lam_tensor *a = matrix(0), *b = side();
    lam_tensor *alpha = lam_div(lam_sum(lam_square(b), NULL), lam_sum(lam_mul(b, lam_matmul(a, b)), NULL));
    lam_iterative_options once = {.tol = 1e-13, .maxiter = 1};
    EXPECT_SAME(lam_cg(FN(product, 2, 1), LAM_LIST(a), b, &once), lam_mul(alpha, b), 1e-14);
    once.restart = N;
    EXPECT_SAME(lam_gmres(FN(product, 2, 1), LAM_LIST(a), b, &once), lam_solve(a, b), 1e-12);
    once.restart = 2;
    lam_tensor *two = lam_gmres(FN(product, 2, 1), LAM_LIST(a), b, &once);
    lam_tensor *krylov = lam_stack(LAM_LIST(b, lam_matmul(a, b)), 1);
    lam_tensor *best = lam_matmul(krylov, lam_lstsq(lam_matmul(a, krylov), b, NULL)); /* least residual in that space */
    EXPECT_SAME(two, best, 1e-12);
    EXPECT_OK();
}
END_TEST

/* diag(1, 2, 0): the space of b = (1, 2, 0) is closed after two products; with (1, 2, 3) the least residual is 3, and
 * the columns that reach it depend on each other. A matrix of zeros has nothing to offer. */
START_TEST(singular_systems_have_least_residuals) {
    lam_tensor *a = MAT(3, 3, 1, 0, 0, 0, 2, 0, 0, 0, 0), *b = VEC(1, 2, 3);
    EXPECT_NEAR(lam_gmres(FN(product, 2, 1), LAM_LIST(a), VEC(1, 2, 0), &fine), 1e-14, LAM_DIMS(3), 1, 1, 0);
    const lam_iterative_options once = {.tol = 1e-13, .maxiter = 1};
    lam_tensor *x = lam_gmres(FN(product, 2, 1), LAM_LIST(a), b, &once);
    EXPECT_NEAR(lam_sub(lam_matmul(a, x), b), 1e-13, LAM_DIMS(3), 0, 0, -3);
    EXPECT(lam_gmres(FN(product, 2, 1), LAM_LIST(lam_zeros_like(a)), b, &once), LAM_DIMS(3), 0, 0, 0);
    EXPECT_OK();
}
END_TEST

/* The inverse itself as preconditioner: one step is enough. */
BODY(inverse) {
    out[0] = lam_solve(matrix(env ? 0.4 : 0), in[0]);
}

START_TEST(preconditioners_save_steps) {
    static int lean;
    for (int k = 0; k < 3; k++) {
        lam_tensor *a = matrix(k ? 0.4 : 0), *b = side(), *x = lam_solve(a, b);
        lam_iterative_options o = {.tol = 1e-12, .maxiter = 1, .restart = 1};
        lam_tensor *without = solvers[k](FN(product, 2, 1), LAM_LIST(a), b, &o);
        ck_assert_double_gt(lam_item(lam_max_reduce(lam_abs(lam_sub(without, x)), NULL)), 0.01);
        o.preconditioner = FN_ENV(inverse, 1, 1, k ? &lean : NULL);
        EXPECT_SAME(solvers[k](FN(product, 2, 1), LAM_LIST(a), b, &o), x, 1e-12);
    }
    EXPECT_OK();
}
END_TEST

/* v, then the captured matrix: its diagonal divides. */
BODY(by_diagonal) {
    out[0] = lam_div(in[0], lam_diagonal(in[1], 0, 0, 1));
}

/* One step is enough where the matrix is its diagonal, though this is another one in each example of a batch. */
BODY(solved_by_diagonal) {
    const int k = *(const int *)env;
    lam_fn_options o = {.name = "by_diagonal", .body = by_diagonal, .inputs = 1, .outputs = 1};
    o.captures = LAM_LIST(in[0]);
    lam_iterative_options once = {.tol = 1e-12, .maxiter = 1, .restart = 1, .must_converge = true};
    once.preconditioner = lam_fn_new(ctx, &o);
    out[0] = solvers[k](FN(product, 2, 1), LAM_LIST(in[0]), in[1], &once);
}

START_TEST(preconditioners_capture) {
    lam_tensor *d = lam_add(1.0, lam_iota(ctx, LAM_F64, LAM_DIMS(2, 3), 1)), *b = MAT(2, 3, 1, -2, 3, 4, 5, -6);
    d = lam_mul(d, MAT(2, 1, 1, 3));
    lam_tensor *as = lam_mul(lam_expand_dims(d, 1), lam_eye(ctx, LAM_F64, 3, 3)), *x = lam_div(b, d), *out[2];
    for (int k = 0; k < 3; k++) {
        lam_fn *f = FN_ENV(solved_by_diagonal, 2, 1, &k);
        EXPECT_SAME(apply2(lam_vmap(f, NULL), as, b), x, 1e-15);
        lam_fn *g = lam_grad(FN_ENV(sum_of_pair, 2, 1, f), &(lam_grad_options){.argnums = LAM_AXES(0, 1)});
        lam_call(lam_vmap(g, NULL), LAM_LIST(as, b), out, 2);
        EXPECT_SAME(out[1], lam_reciprocal(d), 1e-15);
        EXPECT_SAME(out[0], lam_neg(lam_mul(lam_expand_dims(lam_reciprocal(d), 2), lam_expand_dims(x, 1))), 1e-15);
    }
    EXPECT_OK();
}
END_TEST

/* At the solution nothing is left to do, so one step gives it back. */
START_TEST(iterations_start_where_they_are_told) {
    for (int k = 0; k < 3; k++) {
        lam_tensor *a = matrix(k ? 0.4 : 0), *b = side(), *x = lam_solve(a, b);
        lam_iterative_options o = {.atol = 1e-10, .maxiter = 1, .restart = 1, .x0 = x};
        EXPECT_SAME(solvers[k](FN(product, 2, 1), LAM_LIST(a), b, &o), x, 0);
    }
    EXPECT_OK();
}
END_TEST

/* by the matrix (its symmetric part for cg) and the right side */
BODY(solved) {
    const int k = *(const int *)env;
    lam_tensor *a = k ? in[0] : lam_mul(0.5, lam_add(in[0], lam_matrix_transpose(in[0])));
    out[0] = solvers[k](FN(product, 2, 1), LAM_LIST(a), in[1], &fine);
}

START_TEST(derivatives_of_solutions) {
    for (int k = 0; k < 3; k++) {
        lam_tensor *a = MAT(3, 3, 4, 1, 0.5, 1, 3, 0.2, 0.5, 0.2, 2), *b = VEC(1, -2, 3);
        lam_fn *f = FN_ENV(solved, 2, 1, &k);
        EXPECT_OK();
        ck_assert_int_eq(lam_check_grads(f, LAM_LIST(a, b), &(lam_check_grads_options){.order = 2}), LAM_OK);
    }
}
END_TEST

/* Examples that need few steps and many, each as if it were alone. */
START_TEST(batches_of_systems) {
    for (int k = 0; k < 3; k++) {
        lam_tensor *easy = lam_mul(2.0, lam_eye(ctx, LAM_F64, N, N)), *b = side(), *none = lam_zeros_like(b);
        lam_tensor *as = lam_stack(LAM_LIST(easy, matrix(0), easy), 0), *bs = lam_stack(LAM_LIST(b, b, none), 0);
        lam_fn *each = lam_vmap(FN_ENV(solved, 2, 1, &k), NULL);
        lam_tensor *x = apply2(each, as, bs);
        EXPECT_SAME(x, lam_squeeze(lam_solve(as, lam_expand_dims(bs, 2)), LAM_AXES(2)), 1e-12);
        lam_fn *right = lam_vmap(FN_ENV(solved, 2, 1, &k), &(lam_vmap_options){.in_axes = LAM_AXES(LAM_UNMAPPED, 0)});
        EXPECT_SAME(apply2(right, matrix(0), bs), lam_matrix_transpose(lam_solve(matrix(0), lam_matrix_transpose(bs))),
                    1e-12);
    }
    EXPECT_OK();
}
END_TEST

/* a x + x^3 / 3, whose derivative at x is a + diag(x^2). */
BODY(bent) {
    out[0] = lam_add(lam_matmul(in[0], in[1]), lam_div(lam_integer_pow(in[1], 3), 3));
}

/* What the function in env gives: a function in a function, which captures nothing of its own. */
BODY(through) {
    out[0] = apply1(env, in[0]);
}

/* Systems whose matrix is in no list of parameters or captures: the derivative of `bent` as lam_linearize gives it, its
 * transpose, and a function that calls it. */
enum { LINEAR, TRANSPOSED, THROUGH, WAYS };
typedef struct hiding {
    int solver, way;
} hiding;

BODY(solved_hidden) {
    const hiding *h = env;
    lam_tensor *value, *a = h->solver ? in[0] : lam_mul(0.5, lam_add(in[0], lam_matrix_transpose(in[0])));
    lam_fn *linear;
    lam_linearize(FN(bent, 2, 1), LAM_LIST(a, in[1]), &value, 1, &linear, &(lam_grad_options){.argnums = LAM_AXES(1)});
    lam_fn *ways[WAYS] = {linear, lam_linear_transpose(linear, LAM_LIST(in[1])), FN_ENV(through, 1, 1, linear)};
    out[0] = solvers[h->solver](ways[h->way], LAM_LIST(), in[2], &fine);
}

/* The same by the matrix. */
BODY(solved_openly) {
    const hiding *h = env;
    lam_tensor *a = h->solver ? in[0] : lam_mul(0.5, lam_add(in[0], lam_matrix_transpose(in[0])));
    a = lam_add(a, lam_diag(lam_square(in[1]), 0));
    out[0] = lam_solve(h->way == TRANSPOSED ? lam_matrix_transpose(a) : a, in[2]);
}

BODY(sum_of_three) {
    out[0] = lam_sum(lam_apply(env, LAM_LIST(in[0], in[1], in[2])), NULL);
}

/* Rows of one call against rows of the other, at one level and at two. */
START_TEST(systems_hidden_in_functions) {
    lam_tensor *as = lam_stack(LAM_LIST(MAT(2, 2, 4, 1, 0.5, 3), MAT(2, 2, 3, 0.2, 1, 2)), 0);
    lam_tensor *at = MAT(2, 2, 0.3, -0.5, 1, 0.7), *bs = MAT(2, 2, 1, -2, 3, 0.5);
    lam_grad_options all = {.argnums = LAM_AXES(0, 1, 2)};
    for (int k = 0; k < 3 * WAYS; k++) {
        hiding h = {k / WAYS, k % WAYS};
        lam_fn *hidden = FN_ENV(solved_hidden, 3, 1, &h), *open = FN_ENV(solved_openly, 3, 1, &h);
        lam_list in = LAM_LIST(as, at, bs);
        EXPECT_SAME(lam_apply(lam_vmap(hidden, NULL), in), lam_apply(lam_vmap(open, NULL), in), 1e-12);
        EXPECT_SAME(lam_apply(lam_jit(lam_vmap(hidden, NULL), NULL), in), lam_apply(lam_vmap(open, NULL), in), 1e-12);
        lam_tensor *got[3], *expected[3];
        lam_call(lam_vmap(lam_grad(FN_ENV(sum_of_three, 3, 1, hidden), &all), NULL), in, got, 3);
        lam_call(lam_vmap(lam_grad(FN_ENV(sum_of_three, 3, 1, open), &all), NULL), in, expected, 3);
        for (int i = 0; i < 3; i++) EXPECT_SAME(got[i], expected[i], 1e-11);
        in = LAM_LIST(lam_index(as, 0, 0), lam_index(at, 0, 0), lam_index(bs, 0, 0));
        EXPECT_OK();
        ck_assert_int_eq(lam_check_grads(hidden, in, &(lam_check_grads_options){.order = 2}), LAM_OK);
    }
}
END_TEST

/* 2 x by foreign code, which is linear and not looked into. */
FORWARD(doubled) {
    out[0] = lam_mul(2.0, in[0]);
}
SETUP(keep_nothing) {
}
BACKWARD(doubled_back) {
    gx[0] = lam_mul(2.0, g[0]);
}
static void same_type(UNUSED lam_fctx *fc, const lam_type in[], lam_type out[]) {
    out[0] = in[0];
}
static const lam_function twice = {.name = "twice",
                                   .inputs = 1,
                                   .outputs = 1,
                                   .forward = doubled,
                                   .setup_context = keep_nothing,
                                   .backward = doubled_back,
                                   .shape = same_type,
                                   .generate_vmap_rule = true,
                                   .is_linear = true};

/* Its values cannot be told apart from outside, so what is hidden beside it cannot be found: a failure with a name. */
BODY(twice_hidden) {
    out[0] = lam_add(call_function(&twice, NULL, LAM_LIST(in[0])), lam_mul(*(lam_tensor **)env, in[0]));
}

BODY(solved_twice_hidden) {
    lam_tensor *hidden = lam_square(in[0]);
    out[0] = lam_cg(FN_ENV(twice_hidden, 1, 1, &hidden), LAM_LIST(), in[1], NULL);
}

START_TEST(systems_hidden_for_good) {
    lam_tensor *x = apply2(lam_vmap(FN(solved_twice_hidden, 2, 1), NULL), VEC(1, 2), VEC(3, 12));
    ck_assert(lam_failed(x));
    EXPECT_ERROR(LAM_ERR_CAPTURED, "twice_hidden", "hide values");
    EXPECT_NUM(apply2(FN(solved_twice_hidden, 2, 1), num(1), num(3)), 1);
}
END_TEST

static lam_tensor *by_gmres(UNUSED lam_ctx *c, lam_fn *linear, lam_tensor *b, UNUSED void *env) {
    return lam_gmres(linear, LAM_LIST(), b, &fine);
}

/* x, a, b -> a x + x^3 / 3 - b */
BODY(off) {
    out[0] = lam_sub(apply2(FN(bent, 2, 1), in[1], in[0]), in[2]);
}

/* Newton's method, each step by an iteration on the linearisation. */
BODY(newton) {
    lam_tensor *x = in[0], *value;
    lam_fn *linear;
    for (int i = 0; i < 12; i++) {
        lam_linearize(FN(off, 3, 1), LAM_LIST(x, in[1], in[2]), &value, 1, &linear,
                      &(lam_grad_options){.argnums = LAM_AXES(0)});
        x = lam_sub(x, lam_bicgstab(linear, LAM_LIST(), value, &fine));
    }
    out[0] = x;
}

BODY(root_of_bent) {
    out[0] =
        lam_custom_root(FN(off, 3, 1), lam_zeros_like(in[1]), LAM_LIST(in[0], in[1]), FN(newton, 3, 1), by_gmres, NULL);
}

/* At the root x the derivative by b of its sum is (a + diag(x^2))^-T 1. */
START_TEST(roots_by_iterations_in_batches) {
    lam_tensor *as = lam_stack(LAM_LIST(MAT(2, 2, 4, 1, 0.5, 3), MAT(2, 2, 3, 0.2, 1, 2)), 0);
    lam_tensor *bs = MAT(2, 2, 1, -2, 3, 0.5), *out[2];
    lam_fn *f = FN(root_of_bent, 2, 1),
           *each =
               lam_vmap(lam_grad(FN_ENV(sum_of_pair, 2, 1, f), &(lam_grad_options){.argnums = LAM_AXES(0, 1)}), NULL);
    lam_tensor *x = apply2(lam_vmap(f, NULL), as, bs);
    EXPECT_SAME(apply2(lam_vmap(FN(bent, 2, 1), NULL), as, x), bs, 1e-12);
    lam_call(each, LAM_LIST(as, bs), out, 2);
    lam_tensor *slope = lam_add(as, lam_mul(lam_expand_dims(lam_square(x), 1), lam_eye(ctx, LAM_F64, 2, 2)));
    lam_tensor *w =
        lam_squeeze(lam_solve(lam_matrix_transpose(slope), lam_ones(ctx, LAM_F64, LAM_DIMS(2, 2, 1))), LAM_AXES(2));
    EXPECT_SAME(out[1], w, 1e-11);
    EXPECT_SAME(out[0], lam_neg(lam_mul(lam_expand_dims(w, 2), lam_expand_dims(x, 1))), 1e-11);
    EXPECT_OK();
}
END_TEST

/* As `solved`, with few iterations, of which none may be too few. */
BODY(solved_soon) {
    const int k = *(const int *)env;
    lam_iterative_options few = {.tol = 1e-13, .maxiter = 1, .restart = 1, .must_converge = true};
    out[0] = solvers[k](FN(product, 2, 1), LAM_LIST(in[0]), in[1], &few);
}

START_TEST(convergence_can_be_demanded) {
    static const char *const names[] = {"cg", "bicgstab", "gmres"};
    for (int k = 0; k < 3; k++) {
        lam_tensor *easy = lam_mul(2.0, lam_eye(ctx, LAM_F64, N, N)), *b = side();
        lam_fn *f = FN_ENV(solved_soon, 2, 1, &k), *each = lam_vmap(f, NULL);
        EXPECT_SAME(apply2(f, easy, b), lam_mul(0.5, b), 1e-15);
        EXPECT_SAME(
            apply2(lam_grad(FN_ENV(sum_of_pair, 2, 1, f), &(lam_grad_options){.argnums = LAM_AXES(1)}), easy, b),
            lam_full(ctx, LAM_F64, LAM_DIMS(N), 0.5), 1e-15);
        EXPECT_SAME(apply2(each, lam_stack(LAM_LIST(easy, easy), 0), lam_stack(LAM_LIST(b, b), 0)),
                    lam_mul(0.5, lam_stack(LAM_LIST(b, b), 0)), 1e-15);
        lam_tensor *two =
            apply2(lam_jit(each, NULL), lam_stack(LAM_LIST(easy, matrix(0)), 0), lam_stack(LAM_LIST(b, b), 0));
        EXPECT_SAME(lam_index(two, 0, 0), lam_mul(0.5, b), 1e-15); /* a program does not fail, but says which it is */
        EXPECT_NUM(lam_all(lam_is_nan(lam_index(two, 0, 1)), NULL), 1);
        apply2(f, matrix(0), b);
        EXPECT_ERROR(LAM_ERR_NUMERIC, names[k], "after 1 iterations");
        apply2(f, easy, lam_mul(b, (double)NAN));
        EXPECT_ERROR(LAM_ERR_NUMERIC, names[k]);
        apply2(each, lam_stack(LAM_LIST(easy, matrix(0)), 0), lam_stack(LAM_LIST(b, b), 0));
        EXPECT_ERROR(LAM_ERR_NUMERIC, names[k]);
    }
    EXPECT_OK();
}
END_TEST

/* A compiled function gets there by steps until it is there too: what was recorded is a loop, so it does not grow with
 * the steps that there may be, of which there are a billion here. */
BODY(solved_at_length) {
    const int k = *(const int *)env;
    lam_iterative_options long_way = {.tol = 1e-13, .maxiter = 1000000000};
    out[0] = solvers[k](FN(product, 2, 1), LAM_LIST(in[0]), in[1], &long_way);
}

START_TEST(recorded_iterations_are_loops) {
    for (int k = 0; k < 3; k++) {
        lam_tensor *as = lam_stack(LAM_LIST(matrix(0), lam_mul(2.0, lam_eye(ctx, LAM_F64, N, N))), 0);
        lam_tensor *bs = lam_stack(LAM_LIST(side(), lam_sin(side())), 0), *out[2];
        lam_fn *f = FN_ENV(solved_at_length, 2, 1, &k);
        lam_fn *g = lam_grad(FN_ENV(sum_of_pair, 2, 1, f), &(lam_grad_options){.argnums = LAM_AXES(0, 1)});
        lam_fn *jitted = lam_jit(lam_vmap(g, NULL), NULL);
        lam_tensor *x = apply2(lam_jit(lam_vmap(f, NULL), NULL), as, bs);
        EXPECT_SAME(x, lam_squeeze(lam_solve(as, lam_expand_dims(bs, 2)), LAM_AXES(2)), 1e-12);
        lam_call(jitted, LAM_LIST(as, bs), out, 2);
        lam_tensor *w = lam_squeeze(lam_solve(as, lam_ones(ctx, LAM_F64, LAM_DIMS(2, N, 1))), LAM_AXES(2));
        EXPECT_SAME(out[1], w, 1e-11);
        EXPECT_SAME(out[0], lam_neg(lam_mul(lam_expand_dims(w, 2), lam_expand_dims(x, 1))), 1e-11);
        const lam_jit_report report = lam_jit_report_of(jitted);
        ck_assert_int_eq(report.direct, 0);
        ck_assert_int_lt(report.equations, 1000);
    }
    EXPECT_OK();
}
END_TEST

/* Preconditioners are asked inside the loop, and what they capture is there. */
START_TEST(recorded_iterations_are_preconditioned) {
    lam_tensor *d = VEC(1, 4, 9), *a = lam_mul(d, lam_eye(ctx, LAM_F64, 3, 3)), *b = VEC(2, -4, 27);
    for (int k = 0; k < 3; k++) {
        lam_fn *f = FN_ENV(solved_by_diagonal, 2, 1, &k);
        EXPECT_SAME(apply2(lam_jit(f, NULL), a, b), VEC(2, -1, 3), 1e-15);
    }
    EXPECT_OK();
}
END_TEST

BODY(total) {
    out[0] = lam_sum(in[0], NULL);
}

START_TEST(wrong_systems) {
    static const char *const names[] = {"cg", "bicgstab", "gmres"};
    for (int k = 0; k < 3; k++) {
        lam_tensor *a = matrix(0), *b = side();
        solvers[k](FN(product, 2, 1), LAM_LIST(a, a), b, NULL);
        EXPECT_ERROR(LAM_ERR_ARITY, names[k]);
        solvers[k](FN(product, 2, 1), LAM_LIST(a), NULL, NULL);
        EXPECT_ERROR(LAM_ERR_NULL, names[k]);
        solvers[k](FN(product, 2, 1), LAM_LIST(a), lam_cast(b, LAM_I32), NULL);
        EXPECT_ERROR(LAM_ERR_DTYPE, names[k]);
        solvers[k](FN(product, 2, 1), LAM_LIST(a), b, &(lam_iterative_options){.maxiter = -1});
        EXPECT_ERROR(LAM_ERR_VALUE, names[k]);
        solvers[k](FN(product, 2, 1), LAM_LIST(a), b, &(lam_iterative_options){.restart = 65});
        EXPECT_ERROR(LAM_ERR_VALUE, names[k]);
        solvers[k](FN(product, 2, 1), LAM_LIST(a), VEC(1, 2), NULL);
        EXPECT_STATUS(LAM_ERR_SHAPE);
        solvers[k](FN(product, 2, 1), LAM_LIST(a), b, &(lam_iterative_options){.atol = NAN});
        EXPECT_ERROR(LAM_ERR_VALUE, names[k], "NaN");
        solvers[k](FN(product, 2, 1), LAM_LIST(a), b, &(lam_iterative_options){.tol = NAN});
        EXPECT_ERROR(LAM_ERR_VALUE, names[k], "NaN");
        solvers[k](FN(product, 2, 1), LAM_LIST(a), b, &(lam_iterative_options){.x0 = num(0)});
        EXPECT_ERROR(LAM_ERR_SHAPE, names[k], "x0");
        solvers[k](FN(product, 2, 1), LAM_LIST(a), b, &(lam_iterative_options){.x0 = lam_cast(b, LAM_C128)});
        EXPECT_ERROR(LAM_ERR_SHAPE, names[k], "x0");
        solvers[k](FN(total, 1, 1), LAM_LIST(), b, NULL); /* would broadcast */
        EXPECT_ERROR(LAM_ERR_SHAPE, "total");
        solvers[k](FN(product, 2, 1), LAM_LIST(a), b, &(lam_iterative_options){.preconditioner = FN(total, 1, 1)});
        EXPECT_ERROR(LAM_ERR_SHAPE, "total");
        solvers[k](NULL, LAM_LIST(a), b, NULL);
        EXPECT_ERROR(LAM_ERR_NULL, names[k], "the function is NULL");
    }
}
END_TEST

Suite *suite_custom_iterative(void) {
    return SUITE_OF("custom/iterative", systems_are_solved, complex_systems_are_solved, unknowns_of_any_rank,
                    iterations_are_bounded, singular_systems_have_least_residuals, preconditioners_save_steps,
                    preconditioners_capture, iterations_start_where_they_are_told, derivatives_of_solutions,
                    batches_of_systems, systems_hidden_in_functions, systems_hidden_for_good,
                    roots_by_iterations_in_batches, convergence_can_be_demanded, recorded_iterations_are_loops,
                    recorded_iterations_are_preconditioned, wrong_systems);
}
