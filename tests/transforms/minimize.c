/* Minima: lam_minimize. Expected values are those of the published test functions, closed forms of quadratic ones, and
 * where it says so what jax.scipy.optimize.minimize (0.10) finds. */
#include "tests/support.h"
#include "tests/transforms/build.h"

#include <stdlib.h>
#include <string.h>

static const lam_minimize_options fine = {.gtol = 1e-11};

/* Rosenbrock's valley, least at (1, ..., 1); with a parameter a, of two numbers, at (a, a^2). */
BODY(valley) {
    lam_tensor *x = lam_slice_axis(in[0], 0, 0, -1), *y = lam_slice_axis(in[0], 0, 1, LAM_END);
    out[0] = lam_sum(lam_add(lam_mul(100.0, lam_square(lam_sub(y, lam_square(x)))), lam_square(lam_sub(1.0, x))), NULL);
}

BODY(valley_of) {
    lam_tensor *x = lam_index(in[0], 0, 0), *y = lam_index(in[0], 0, 1);
    out[0] = lam_add(lam_mul(100.0, lam_square(lam_sub(y, lam_square(x)))), lam_square(lam_sub(in[1], x)));
}

BODY(himmelblau) {
    lam_tensor *x = lam_index(in[0], 0, 0), *y = lam_index(in[0], 0, 1);
    lam_tensor *a = lam_sub(lam_add(lam_square(x), y), 11.0), *b = lam_sub(lam_add(x, lam_square(y)), 7.0);
    out[0] = lam_add(lam_square(a), lam_square(b));
}

BODY(zakharov) {
    lam_tensor *s =
        lam_sum(lam_mul(lam_arange(ctx, LAM_F64, 0.5, 0.5 * (double)lam_size(in[0]) + 0.25, 0.5), in[0]), NULL);
    out[0] = lam_add_all(LAM_LIST(lam_sum(lam_square(in[0]), NULL), lam_square(s), lam_integer_pow(s, 4)));
}

BODY(eggholder) {
    lam_tensor *x = lam_index(in[0], 0, 0), *y = lam_add(lam_index(in[0], 0, 1), 47.0);
    lam_tensor *a = lam_sin(lam_sqrt(lam_abs(lam_add(lam_div(x, 2.0), y))));
    out[0] = lam_neg(lam_add(lam_mul(y, a), lam_mul(x, lam_sin(lam_sqrt(lam_abs(lam_sub(x, y)))))));
}

/* Sum of x - log(x): NaN for negative x, least at 1. */
BODY(walled) {
    out[0] = lam_sum(lam_sub(in[0], lam_log(in[0])), NULL);
}

START_TEST(published_functions) {
    lam_minimum found;
    EXPECT_NEAR(lam_minimize(FN(valley, 1, 1), VEC(-1.2, 1), LAM_LIST(), &found, &fine), 1e-10, LAM_DIMS(2), 1, 1);
    EXPECT_NUM(found.status, 0);
    EXPECT_NEAR(found.value, 1e-20, LAM_DIMS0, 0);
    EXPECT_NEAR(found.gradient, 1e-11, LAM_DIMS(2), 0, 0);
    EXPECT_NEAR(lam_inv(found.inverse_hessian), 0.05, LAM_DIMS(2, 2), 802, -400, -400, 200);
    lam_tensor *far = lam_zeros(ctx, LAM_F64, LAM_DIMS(6));
    EXPECT_NEAR(lam_minimize(FN(valley, 1, 1), far, LAM_LIST(), NULL, &fine), 1e-9, LAM_DIMS(6), 1, 1, 1, 1, 1, 1);
    EXPECT_NEAR(lam_minimize(FN(himmelblau, 1, 1), VEC(0, 0), LAM_LIST(), NULL, &fine), 1e-12, LAM_DIMS(2), 3, 2);
    EXPECT_NEAR(lam_minimize(FN(walled, 1, 1), VEC(1e-3, 5, 40), LAM_LIST(), &found, &fine), 1e-10, LAM_DIMS(3), 1, 1,
                1);
    EXPECT_NUM(found.status, 0);
    lam_tensor *near = lam_minimize(FN(valley, 1, 1), lam_cast(VEC(-1.2, 1), LAM_F32), LAM_LIST(), &found, NULL);
    EXPECT_NEAR(lam_cast(near, LAM_F64), 1e-2, LAM_DIMS(2), 1, 1);
    ck_assert_int_eq(lam_dtype_of(near), LAM_F32);
    EXPECT_OK();
}
END_TEST

/* The first rows are those of jax.scipy.optimize.minimize(f, x0, method="BFGS") for its nit, nfev and fun. Of others it
 * says that its line search has failed, though there are steps that fulfil the conditions. */
START_TEST(steps_are_those_of_jax) {
    lam_minimum found;
    lam_minimize(FN(eggholder, 1, 1), VEC(100, 100), LAM_LIST(), &found, NULL);
    EXPECT_NUM(found.iterations, 10);
    EXPECT_NUM(found.evaluations, 12);
    EXPECT_NEAR(found.value, 1e-14, LAM_DIMS0, -250.65145464561704);
    lam_minimize(FN(zakharov, 1, 1), VEC(1, 1, 1, 1), LAM_LIST(), &found, NULL);
    EXPECT_NUM(found.iterations, 11);
    EXPECT_NUM(found.evaluations, 12);
    EXPECT_NEAR(found.value, 1e-3, LAM_DIMS0, 4.8202e-17);
    EXPECT_OK();
}
END_TEST

/* h x^2 / 2 - b x is least at b / h, where it is -b^2 / 2h; in matrices half of x A x^T - b x. */
BODY(bowl) {
    lam_tensor *ax = lam_matmul(in[1], in[0]), *half = lam_mul(0.5, lam_sum(lam_mul(in[0], ax), NULL));
    out[0] = lam_sub(half, lam_sum(lam_mul(in[2], in[0]), NULL));
}

BODY(least_of_bowl) {
    lam_minimum found;
    out[0] = lam_minimize(FN(bowl, 3, 1), lam_zeros_like(in[1]), LAM_LIST(in[0], in[1]), &found, &fine);
    out[1] = found.value;
}

BODY(solved_bowl) {
    out[0] = lam_solve(in[0], in[1]);
    out[1] = lam_mul(-0.5, lam_sum(lam_mul(in[1], out[0]), NULL));
}

/* Of both results by both parameters, once and twice, in all modes: as those of the solution. */
START_TEST(derivatives_are_implicit) {
    lam_tensor *a = MAT(3, 3, 4, 1, 0.5, 1, 3, -0.5, 0.5, -0.5, 2), *b = MAT(3, 2, 1, 0, -1, 2, 0.5, 1);
    lam_fn *f = FN(least_of_bowl, 2, 2), *g = FN(solved_bowl, 2, 2);
    const lam_jacobian_options both = {.argnums = LAM_AXES(0, 1)};
    lam_tensor *got[8], *want[8];
    for (int k = 0; k < 2; k++) {
        lam_call(k ? lam_jacrev(f, &both) : lam_jacfwd(f, &both), LAM_LIST(a, b), got, 4);
        lam_call(k ? lam_jacrev(g, &both) : lam_jacfwd(g, &both), LAM_LIST(a, b), want, 4);
        for (int i = 0; i < 4; i++) { /* by the symmetric part of a: the matrix itself is no parameter of the bowl */
            if (i % 2) EXPECT_SAME(lam_add(1.0, got[i]), lam_add(1.0, want[i]), 1e-9);
            else {
                lam_tensor *w = lam_mul(0.5, lam_add(want[i], lam_swapaxes(want[i], -2, -1)));
                EXPECT_SAME(lam_add(1.0, got[i]), lam_add(1.0, w), 1e-9);
            }
        }
    }
    lam_call(lam_hessian(f, &(lam_jacobian_options){.argnums = LAM_AXES(1)}), LAM_LIST(a, b), got, 2);
    lam_call(lam_hessian(g, &(lam_jacobian_options){.argnums = LAM_AXES(1)}), LAM_LIST(a, b), want, 2);
    for (int i = 0; i < 2; i++) EXPECT_SAME(lam_add(1.0, got[i]), lam_add(1.0, want[i]), 1e-8);
    EXPECT_OK();
}
END_TEST

BODY(place) {
    out[0] = lam_minimize(FN(valley_of, 2, 1), in[0], LAM_LIST(in[1]), NULL, &fine);
}

/* The same by a capture of the function in the place of a parameter. */
BODY(place_captured) {
    lam_fn *f = lam_fn_new(
        ctx,
        &(lam_fn_options){
            .name = "valley of a capture", .body = valley_of, .inputs = 1, .outputs = 1, .captures = LAM_LIST(in[1])});
    out[0] = lam_minimize(f, in[0], LAM_LIST(), NULL, &fine);
}

/* d(a, a^2) = (1, 2a) and then (0, 2), whatever is around, and 0 by the start. */
START_TEST(derivatives_under_transforms) {
    const lam_jacobian_options by_a = {.argnums = LAM_AXES(1)};
    lam_tensor *starts = MAT(3, 2, -1.2, 1, 2, 2, 0, 0), *a = VEC(1, 2, -0.5);
    for (int k = 0; k < 4; k++) {
        lam_fn *f = k % 2 ? FN(place_captured, 2, 1) : FN(place, 2, 1);
        lam_fn *first = lam_vmap(lam_jacobian(f, &by_a), NULL), *by_start = lam_vmap(lam_jacobian(f, NULL), NULL);
        lam_fn *second = lam_vmap(lam_hessian(f, &by_a), NULL), *value = lam_vmap(f, NULL);
        if (k > 1) value = lam_jit(value, NULL), first = lam_jit(first, NULL), second = lam_jit(second, NULL);
        EXPECT_NEAR(apply2(value, starts, a), 1e-9, LAM_DIMS(3, 2), 1, 1, 2, 4, -0.5, 0.25);
        EXPECT_NEAR(apply2(first, starts, a), 1e-9, LAM_DIMS(3, 2), 1, 2, 1, 4, 1, -1);
        EXPECT_NEAR(apply2(second, starts, a), 1e-8, LAM_DIMS(3, 2), 0, 2, 0, 2, 0, 2);
        EXPECT_NEAR(apply2(by_start, starts, a), 0, LAM_DIMS(3, 2, 2), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    }
    EXPECT_OK();
}
END_TEST

BODY(counted) {
    lam_minimum found;
    out[0] = lam_minimize(FN(valley_of, 2, 1), in[0], LAM_LIST(in[1]), &found, NULL);
    out[1] = found.evaluations;
    out[2] = found.status;
    out[3] = found.inverse_hessian;
}

/* Each example is where it would be alone, by as many evaluations. */
START_TEST(examples_search_each_for_itself) {
    lam_tensor *starts = MAT(3, 2, -1.2, 1, 2, 2, 1, 1), *a = VEC(1, 2, 1), *all[4], *one[4];
    lam_call(lam_vmap(FN(counted, 2, 4), NULL), LAM_LIST(starts, a), all, 4);
    for (int k = 0; k < 3; k++) {
        lam_call(FN(counted, 2, 4), LAM_LIST(lam_index(starts, 0, k), lam_index(a, 0, k)), one, 4);
        for (int i = 0; i < 4; i++) EXPECT_SAME(lam_index(all[i], 0, k), one[i], 1e-9);
    }
    EXPECT_NUM(one[1], 1); /* the last one begins at the minimum */
    EXPECT_OK();
}
END_TEST

/* A program has the search as a loop, is text, and read back the same. */
START_TEST(programs_search) {
    lam_tensor *start = VEC(-1.2, 1), *want[4], *got[4];
    char *text = printed_text(lam_trace(FN(counted, 2, 4), LAM_LIST(start, num(1))));
    ck_assert_ptr_nonnull(strstr(text, "while"));
    lam_call(FN(counted, 2, 4), LAM_LIST(start, num(1.5)), want, 4);
    lam_call(lam_program_read(ctx, text), LAM_LIST(start, num(1.5)), got, 4);
    for (int i = 0; i < 4; i++) EXPECT_SAME(got[i], want[i], 1e-12);
    free(text);
    EXPECT_OK();
}
END_TEST

BODY(sum_of_squares) {
    out[0] = lam_sum(lam_square(lam_sub(in[0], 3.0)), NULL);
}

START_TEST(unknowns_of_any_rank) {
    lam_fn *f = FN(sum_of_squares, 1, 1);
    lam_minimum found;
    EXPECT_NUM(lam_minimize(f, num(2), LAM_LIST(), NULL, NULL), 3);
    EXPECT_NEAR(lam_minimize(f, MAT(2, 2, 1, 2, 3, 4), LAM_LIST(), &found, NULL), 1e-8, LAM_DIMS(2, 2), 3, 3, 3, 3);
    ck_assert_int_eq(lam_dim(found.inverse_hessian, 0), 4);
    EXPECT_EMPTY(lam_minimize(f, lam_zeros(ctx, LAM_F64, LAM_DIMS(0)), LAM_LIST(), &found, NULL), LAM_DIMS(0));
    EXPECT_NUM(found.status, 0);
    EXPECT_OK();
}
END_TEST

/* Beside a large constant, where differences of values are rounding, slopes decide; steep ones begin with small
 * steps. */
BODY(lifted) {
    out[0] = lam_add(1e6, apply1(FN(valley, 1, 1), in[0]));
}

BODY(steep) {
    out[0] = lam_mul(1e12, apply1(FN(sum_of_squares, 1, 1), in[0]));
}

START_TEST(values_that_say_little) {
    lam_minimum found;
    EXPECT_NEAR(lam_minimize(FN(lifted, 1, 1), VEC(-1.2, 1), LAM_LIST(), &found, &(lam_minimize_options){.gtol = 1e-9}),
                1e-8, LAM_DIMS(2), 1, 1);
    EXPECT_NUM(found.status, 0);
    EXPECT_NEAR(lam_minimize(FN(steep, 1, 1), VEC(1, 1), LAM_LIST(), &found, NULL), 1e-15, LAM_DIMS(2), 3, 3);
    EXPECT_NUM(found.status, 0);
    EXPECT_OK();
}
END_TEST

BODY(falling) {
    out[0] = lam_sum(in[0], NULL);
}

BODY(nowhere) {
    out[0] = lam_sum(lam_mul(in[0], (double)NAN), NULL);
}

/* What was best so far is given, with its value and gradient. */
START_TEST(searches_without_success) {
    lam_minimum found;
    EXPECT(lam_minimize(FN(falling, 1, 1), VEC(1, 2), LAM_LIST(), &found, NULL), LAM_DIMS(2), 1, 2);
    EXPECT_NUM(found.status, 5);
    EXPECT_NUM(found.value, 3);
    EXPECT_NUM(found.evaluations, 11);
    lam_minimize(FN(falling, 1, 1), VEC(1, 2), LAM_LIST(), &found, &(lam_minimize_options){.line_tries = 3});
    EXPECT_NUM(found.evaluations, 4);
    EXPECT(lam_minimize(FN(nowhere, 1, 1), VEC(1, 2), LAM_LIST(), &found, NULL), LAM_DIMS(2), 1, 2);
    EXPECT_NUM(found.status, 3);
    lam_tensor *x = lam_minimize(FN(valley, 1, 1), VEC(-1.2, 1), LAM_LIST(), &found,
                                 &(lam_minimize_options){.maxiter = 4, .norm = 2});
    EXPECT_NUM(found.status, 1);
    EXPECT_NUM(found.iterations, 4);
    EXPECT_SAME(found.value, apply1(FN(valley, 1, 1), x), 1e-15);
    EXPECT_SAME(found.gradient, apply1(lam_grad(FN(valley, 1, 1), NULL), x), 1e-15);
    EXPECT_OK();
}
END_TEST

/* (x + y - a)^2 is least along a line. */
BODY(trough) {
    out[0] = lam_square(lam_sub(lam_sum(in[0], NULL), in[1]));
}

BODY(somewhere) {
    out[0] = lam_sum(lam_minimize(FN(trough, 2, 1), in[0], LAM_LIST(in[1]), NULL, NULL), NULL);
}

START_TEST(what_is_refused) {
    lam_minimum found;
    lam_fn *f = FN(sum_of_squares, 1, 1);
    lam_tensor *x = VEC(1, 2);
    EXPECT_NEAR(apply2(FN(somewhere, 2, 1), x, num(5)), 1e-12, LAM_DIMS0, 5);
    apply2(lam_grad(FN(somewhere, 2, 1), &(lam_grad_options){.argnums = LAM_AXES(1)}), x, num(5));
    EXPECT_ERROR(LAM_ERR_NUMERIC, "singular");
    ck_assert(lam_failed(lam_minimize(f, x, LAM_LIST(x), &found, NULL)));
    EXPECT_ERROR(LAM_ERR_ARITY, "minimize", "sum_of_squares", "1 inputs", "expected 2");
    ck_assert(lam_failed(found.value) && lam_failed(found.status));
    lam_minimize(f, lam_cast(x, LAM_I64), LAM_LIST(), &found, NULL);
    EXPECT_ERROR(LAM_ERR_DTYPE, "x0 must be real and floating");
    lam_minimize(f, lam_complex(x, x), LAM_LIST(), NULL, NULL);
    EXPECT_ERROR(LAM_ERR_DTYPE, "x0 must be real and floating");
    lam_minimize(f, NULL, LAM_LIST(), NULL, NULL);
    EXPECT_ERROR(LAM_ERR_NULL, "x0 is NULL");
    lam_minimize(f, x, LAM_LIST(), NULL, &(lam_minimize_options){.gtol = NAN});
    EXPECT_ERROR(LAM_ERR_VALUE, "gtol nan");
    lam_minimize(f, x, LAM_LIST(), NULL, &(lam_minimize_options){.maxiter = -1});
    EXPECT_ERROR(LAM_ERR_VALUE, "maxiter -1");
    lam_minimize(FN(place, 2, 1), x, LAM_LIST(x), &found, NULL);
    ck_assert(lam_failed(found.iterations));
    EXPECT_STATUS(LAM_ERR_SHAPE);
}
END_TEST

BODY(to_a_found_place) {
    out[0] = lam_sum(lam_square(lam_sub(in[0], *(lam_tensor **)env)), NULL);
}

BODY(least_by_what_is_found) {
    lam_tensor *x =
        lam_minimize(FN_ENV(to_a_found_place, 1, 1, (void *)(uintptr_t)&in[0]), VEC(0, 0), LAM_LIST(), NULL, NULL);
    out[0] = lam_sum(x, NULL);
}

/* What the objective finds by its env has no part in the derivative, which would be zero without a word. */
START_TEST(derivatives_by_what_is_not_declared) {
    lam_fn *f = FN(least_by_what_is_found, 1, 1);
    EXPECT_NEAR(apply1(f, VEC(1, 2)), 1e-6, LAM_DIMS0, 3);
    ck_assert(lam_failed(apply1(lam_grad(f, NULL), VEC(1, 2))));
    EXPECT_ERROR(LAM_ERR_CAPTURED, "to_a_found_place", "none of its parameters and captures");
    ck_assert(lam_failed(apply1(lam_jacfwd(f, NULL), VEC(1, 2))));
    EXPECT_ERROR(LAM_ERR_CAPTURED, "to_a_found_place", "none of its parameters and captures");
}
END_TEST

Suite *suite_transforms_minimize(void) {
    return SUITE_OF("transforms/minimize", published_functions, steps_are_those_of_jax, derivatives_are_implicit,
                    derivatives_under_transforms, examples_search_each_for_itself, programs_search,
                    derivatives_by_what_is_not_declared, unknowns_of_any_rank, values_that_say_little,
                    searches_without_success, what_is_refused);
}
