/* lam_cond and lam_switch: which function runs, for which examples, and what derivatives come back. Values are those of
 * the same choice made by C, or of the two functions worked out by hand. */
#include "tests/support.h"

static int runs[2];

BODY(root) {
    runs[1]++;
    out[0] = lam_sqrt(in[0]);
}

BODY(minus) {
    runs[0]++;
    out[0] = lam_mul(in[0], -3.0);
}

static lam_tensor *cond1(lam_tensor *pred, lam_fn *f, lam_fn *g, lam_tensor *x) {
    lam_tensor *y;
    lam_cond(pred, f, g, LAM_LIST(x), &y, 1);
    return y;
}

/* sqrt(x) where x > 0, else -3 x. */
BODY(guarded) {
    out[0] = cond1(lam_gt(in[0], 0.0), FN(root, 1, 1), FN(minus, 1, 1), in[0]);
}

START_TEST(cond_runs_one_branch_when_the_predicate_is_not_batched) {
    runs[0] = runs[1] = 0;
    EXPECT_NUM(apply1(FN(guarded, 1, 1), num(4)), 2);
    ck_assert_int_eq(runs[0], 0);
    EXPECT_NUM(apply1(FN(guarded, 1, 1), num(-4)), 12);
    ck_assert_int_eq(runs[0], 1);
    ck_assert_int_eq(runs[1], 1);
    EXPECT_NUM(apply1(lam_grad(FN(guarded, 1, 1), NULL), num(4)), 0.25);
    EXPECT_NUM(apply1(lam_grad(lam_grad(FN(guarded, 1, 1), NULL), NULL), num(4)), -1.0 / 32);
    ck_assert_int_eq(runs[0], 1); /* and a number is true unless it is zero */
    EXPECT_NUM(cond1(lam_scalar(ctx, 0.5), FN(root, 1, 1), FN(minus, 1, 1), num(9)), 3);
    EXPECT_NUM(cond1(lam_scalar(ctx, 0), FN(root, 1, 1), FN(minus, 1, 1), num(9)), -27);
    EXPECT_NUM(cond1(lam_cast(num(2), LAM_I32), FN(root, 1, 1), FN(minus, 1, 1), num(9)), 3);
}
END_TEST

START_TEST(a_batched_predicate_chooses_for_each_example) {
    lam_tensor *x = VEC(4, -1, 9, -2, 16);
    EXPECT(apply1(lam_vmap(FN(guarded, 1, 1), NULL), x), LAM_DIMS(5), 2, 3, 3, 6, 4);
    EXPECT(apply1(lam_vmap(FN(guarded, 1, 1), NULL), VEC(4, 9)), LAM_DIMS(2), 2, 3);
    EXPECT(apply1(lam_vmap(FN(guarded, 1, 1), NULL), VEC(-4, -9)), LAM_DIMS(2), 12, 27);
    EXPECT_EMPTY(apply1(lam_vmap(FN(guarded, 1, 1), NULL), lam_zeros(ctx, LAM_F64, LAM_DIMS(0))), LAM_DIMS(0));
}
END_TEST

/* What a probe in a branch counts is its one run for all examples that take it, whose number is in the message of a
 * failure there. */
BODY(reading) {
    out[0] = lam_mul(in[0], lam_item(in[0]));
}

BODY(guarded_reading) {
    out[0] = cond1(lam_gt(in[0], 0.0), FN(reading, 1, 1), FN(minus, 1, 1), in[0]);
}

START_TEST(a_branch_runs_once_for_the_examples_that_take_it) {
    lam_tensor *x = VEC(1, -1, 2, -2, -3);
    runs[0] = runs[1] = 0;
    apply1(lam_vmap(FN(guarded, 1, 1), NULL), x);
    ck_assert_int_eq(runs[0], 1);
    ck_assert_int_eq(runs[1], 1);
    apply1(lam_vmap(FN(guarded, 1, 1), NULL), VEC(1, 2));
    ck_assert_int_eq(runs[0], 1);
    apply1(lam_vmap(FN(guarded_reading, 1, 1), NULL), x);
    EXPECT_ERROR(LAM_ERR_BATCHED, "vmap(size 2 of 5)");
}
END_TEST

/* The square root of what is negative is NaN, and so is its derivative; with where, zero times that comes back. */
BODY(sum_guarded) {
    out[0] = lam_sum(apply1(lam_vmap(FN(guarded, 1, 1), NULL), in[0]), NULL);
}

START_TEST(no_nan_comes_from_the_branch_that_an_example_does_not_take) {
    lam_tensor *x = VEC(4, -1, 0.25, -2);
    lam_fn *f = FN(guarded, 1, 1);
    EXPECT(apply1(lam_vmap(lam_grad(f, NULL), NULL), x), LAM_DIMS(4), 0.25, -3, 1, -3);
    EXPECT(apply1(lam_grad(FN(sum_guarded, 1, 1), NULL), x), LAM_DIMS(4), 0.25, -3, 1, -3);
    EXPECT(apply1(lam_vmap(lam_grad(lam_grad(f, NULL), NULL), NULL), x), LAM_DIMS(4), -1.0 / 32, 0, -2, 0);
    EXPECT(apply1(lam_vmap(lam_jacfwd(f, NULL), NULL), x), LAM_DIMS(4), 0.25, -3, 1, -3);
    EXPECT(apply1(lam_vmap(lam_hessian(f, NULL), NULL), x), LAM_DIMS(4), -1.0 / 32, 0, -2, 0);
}
END_TEST

/* By an outer and an inner batch at once: the predicate belongs to both. */
BODY(above) {
    out[0] = cond1(lam_gt(in[0], in[1]), FN(root, 1, 1), FN(minus, 1, 1), lam_sub(in[0], in[1]));
}

START_TEST(a_predicate_of_two_batches) {
    lam_fn *inner = lam_vmap(FN(above, 2, 1), &(lam_vmap_options){.in_axes = LAM_AXES(LAM_UNMAPPED, 0)});
    lam_fn *both = lam_vmap(inner, &(lam_vmap_options){.in_axes = LAM_AXES(0, LAM_UNMAPPED)});
    EXPECT(apply2(both, VEC(5, 2), VEC(1, 4, 6)), LAM_DIMS(2, 3), 2, 1, 3, 1, 6, 12);
    lam_fn *g = lam_grad(FN(above, 2, 1), &(lam_grad_options){.argnums = LAM_AXES(1)});
    inner = lam_vmap(g, &(lam_vmap_options){.in_axes = LAM_AXES(LAM_UNMAPPED, 0)});
    both = lam_vmap(inner, &(lam_vmap_options){.in_axes = LAM_AXES(0, LAM_UNMAPPED)});
    EXPECT(apply2(both, VEC(5, 2), VEC(1, 4, 6)), LAM_DIMS(2, 3), -0.25, -0.5, 3, -0.5, 3, 3);
}
END_TEST

/* W x, of which W is the same for all examples: its gradient is each example's own. */
BODY(product) {
    out[0] = lam_sum(lam_mul(in[0], lam_square(in[1])), NULL);
}

BODY(nothing) {
    out[0] = lam_mul(2.0, lam_sum(in[0], NULL));
}

BODY(weighted) {
    lam_cond(lam_gt(lam_sum(in[1], NULL), 0.0), FN(product, 2, 1), FN(nothing, 2, 1), LAM_LIST(in[0], in[1]), out, 1);
}

START_TEST(gradients_by_what_examples_share_are_each_examples_own) {
    lam_fn *f = lam_vmap(lam_grad(FN(weighted, 2, 1), NULL), &(lam_vmap_options){.in_axes = LAM_AXES(LAM_UNMAPPED, 0)});
    lam_tensor *x = MAT(3, 2, 1, 2, -5, 1, 3, -1);
    EXPECT(apply2(f, VEC(1, 1), x), LAM_DIMS(3, 2), 1, 4, 2, 2, 9, 1);
}
END_TEST

BODY(weighted_sum) {
    lam_vmap_options rows = {.in_axes = LAM_AXES(LAM_UNMAPPED, 0)};
    out[0] = lam_sum(apply2(lam_vmap(FN(weighted, 2, 1), &rows), in[0], in[1]), NULL);
}

START_TEST(gradients_outside_the_batch_are_summed) {
    lam_tensor *x = MAT(3, 2, 1, 2, -5, 1, 3, -1);
    lam_fn *f = FN(weighted, 2, 1), *g = lam_grad(FN(weighted_sum, 2, 1), NULL);
    EXPECT(apply2(g, VEC(1, 1), x), LAM_DIMS(2), 12, 7);
    lam_fn *rows = lam_vmap(f, &(lam_vmap_options){.in_axes = LAM_AXES(0, LAM_UNMAPPED)}); /* the choice is outside */
    rows = lam_vmap(rows, &(lam_vmap_options){.in_axes = LAM_AXES(LAM_UNMAPPED, 0)});
    EXPECT(apply2(rows, MAT(2, 2, 1, 1, 0, 3), x), LAM_DIMS(3, 2), 5, 12, 4, 6, 10, 3);
}
END_TEST

/* x -> x scale, with the scale from outside. */
BODY(scaled) {
    out[0] = lam_mul(in[0], env ? env : in[1]);
}

static lam_fn *scaling(lam_tensor *by, bool declared) {
    return lam_fn_new(ctx, &(lam_fn_options){.name = "scaled",
                                             .body = scaled,
                                             .inputs = 1,
                                             .outputs = 1,
                                             .env = declared ? NULL : by,
                                             .captures = declared ? LAM_LIST(by) : LAM_LIST()});
}

/* (x, y) -> x y where x > 0, else -3 x; *env: y is declared. */
BODY(captured) {
    out[0] = cond1(lam_gt(in[0], 0.0), scaling(in[1], *(bool *)env), FN(minus, 1, 1), in[0]);
}

START_TEST(captures_go_with_the_examples) {
    bool declared = true;
    lam_fn *f = FN_ENV(captured, 2, 1, &declared);
    lam_tensor *x = VEC(1, -2, 3), *y = VEC(10, 20, 30);
    EXPECT(apply2(lam_vmap(f, NULL), x, y), LAM_DIMS(3), 10, 6, 90);
    lam_fn *g = lam_grad(f, &(lam_grad_options){.argnums = LAM_AXES(1)});
    EXPECT(apply2(lam_vmap(g, NULL), x, y), LAM_DIMS(3), 1, 0, 3);
    lam_vmap_options one = {.in_axes = LAM_AXES(0, LAM_UNMAPPED)};
    EXPECT(apply2(lam_vmap(f, &one), x, num(10)), LAM_DIMS(3), 10, 6, 30);
    EXPECT(apply2(lam_vmap(g, &one), x, num(10)), LAM_DIMS(3), 1, 0, 3);
}
END_TEST

START_TEST(what_is_not_declared_is_used_where_it_is_one_value_and_refused_elsewhere) {
    bool declared = false;
    lam_fn *f = FN_ENV(captured, 2, 1, &declared);
    lam_tensor *x = VEC(1, -2, 3), *y = VEC(10, 20, 30);
    lam_fn *g = lam_grad(f, &(lam_grad_options){.argnums = LAM_AXES(1)});
    EXPECT_NUM(apply2(f, num(2), num(10)), 20);
    EXPECT_NUM(apply2(g, num(2), num(10)), 2);
    lam_vmap_options one = {.in_axes = LAM_AXES(0, LAM_UNMAPPED)};
    EXPECT(apply2(lam_vmap(f, &one), x, num(10)), LAM_DIMS(3), 10, 6, 30);
    apply2(lam_vmap(f, NULL), x, y);
    EXPECT_ERROR(LAM_ERR_CAPTURED, "scaled", "declare it in the function's captures", "size 2 of 3");
    apply2(lam_vmap(g, &one), x, num(10));
    EXPECT_ERROR(LAM_ERR_CAPTURED, "scaled", "declare it in the function's captures");
}
END_TEST

BODY(of_captured) {
    out[0] = lam_square(env);
}

BODY(only_captured) {
    lam_fn *f = FN_ENV(of_captured, 1, 1, in[1]);
    out[0] = cond1(lam_gt(in[0], 0.0), f, FN(minus, 1, 1), in[0]);
}

BODY(nested_captured) {
    out[0] = cond1(lam_gt(in[0], 1.0), scaling(env, true), FN(minus, 1, 1), in[0]);
}

BODY(captured_further_in) {
    lam_fn *f = FN_ENV(nested_captured, 1, 1, in[1]);
    out[0] = cond1(lam_gt(in[0], 0.0), f, FN(minus, 1, 1), in[0]);
}

START_TEST(an_undeclared_tensor_is_found_as_a_result_and_in_a_choice_further_in) {
    lam_tensor *x = VEC(1, -2, 3), *y = VEC(10, 20, 30);
    apply2(lam_vmap(FN(only_captured, 2, 1), NULL), x, y);
    EXPECT_ERROR(LAM_ERR_CAPTURED, "of_captured", "captures");
    lam_fn *g = lam_grad(FN(captured_further_in, 2, 1), &(lam_grad_options){.argnums = LAM_AXES(1)});
    apply2(lam_vmap(g, &(lam_vmap_options){.in_axes = LAM_AXES(0, LAM_UNMAPPED)}), x, num(3));
    EXPECT_ERROR(LAM_ERR_CAPTURED, "captures");
}
END_TEST

/* ---- switch ------------------------------------------------------------------------------------------------------ */

BODY(twice) {
    out[0] = lam_mul(2.0, in[0]);
}

static lam_tensor *switch1(lam_tensor *index, lam_tensor *x) {
    lam_fn *branches[] = {FN(minus, 1, 1), FN(root, 1, 1), FN(twice, 1, 1)};
    lam_tensor *y;
    lam_switch(index, branches, 3, LAM_LIST(x), &y, 1);
    return y;
}

BODY(switched) {
    out[0] = switch1(in[0], in[1]);
}

START_TEST(switch_clamps) {
    int64_t index[] = {-7, 0, 1, 2, 3, 99};
    double want[] = {-12, -12, 2, 8, 8, 8};
    for (int i = 0; i < 6; i++) EXPECT_NUM(switch1(lam_cast(num((double)index[i]), LAM_I32), num(4)), want[i]);
    lam_tensor *all = lam_array(ctx, LAM_I64, LAM_DIMS(6), index);
    lam_vmap_options one = {.in_axes = LAM_AXES(0, LAM_UNMAPPED)};
    EXPECT(apply2(lam_vmap(FN(switched, 2, 1), &one), all, num(4)), LAM_DIMS(6), -12, -12, 2, 8, 8, 8);
    lam_fn *g = lam_grad(FN(switched, 2, 1), &(lam_grad_options){.argnums = LAM_AXES(1)});
    EXPECT(apply2(lam_vmap(g, &one), all, num(4)), LAM_DIMS(6), -3, -3, 0.25, 2, 2, 2);
}
END_TEST

/* ---- several outputs, other transforms --------------------------------------------------------------------------- */

BODY(up) {
    out[0] = lam_mul(in[0], in[1]);
    out[1] = lam_stack(LAM_LIST(in[0], in[1]), 0);
}

BODY(down) {
    out[0] = lam_sub(in[0], in[1]);
    out[1] = lam_stack(LAM_LIST(lam_square(in[1]), in[0]), 0);
}

BODY(two) {
    lam_cond(lam_lt(in[0], in[1]), FN(up, 2, 2), FN(down, 2, 2), LAM_LIST(in[0], in[1]), out, 2);
}

START_TEST(several_operands_and_outputs) {
    lam_tensor *y[2];
    lam_call(lam_vmap(FN(two, 2, 2), NULL), LAM_LIST(VEC(1, 5, 2), VEC(3, 4, 8)), y, 2);
    EXPECT(y[0], LAM_DIMS(3), 3, 1, 16);
    EXPECT(y[1], LAM_DIMS(3, 2), 1, 3, 16, 5, 2, 8);
    lam_fn *jacobian = lam_vmap(lam_jacrev(FN(two, 2, 2), NULL), NULL);
    lam_tensor *j[2];
    lam_call(jacobian, LAM_LIST(VEC(1, 5, 2), VEC(3, 4, 8)), j, 2);
    EXPECT(j[0], LAM_DIMS(3), 3, 1, 8);
    EXPECT(j[1], LAM_DIMS(3, 2), 1, 0, 0, 1, 1, 0);
}
END_TEST

BODY(guarded_each) {
    out[0] = apply1(lam_vmap(FN(guarded, 1, 1), NULL), in[0]);
}

START_TEST(cond_under_linearize_and_checkpoint) {
    lam_tensor *x = VEC(4, -1, 0.25, -2), *y, *t = VEC(1, 2, 3, 4);
    lam_fn *f = FN(guarded_each, 1, 1), *linear;
    ck_assert_int_eq(lam_linearize(f, LAM_LIST(x), &y, 1, &linear, NULL), LAM_OK);
    EXPECT(apply1(linear, t), LAM_DIMS(4), 0.25, -6, 3, -12);
    EXPECT(apply1(lam_linear_transpose(linear, LAM_LIST(x)), t), LAM_DIMS(4), 0.25, -6, 3, -12);
    lam_fn *each = lam_vmap(lam_grad(lam_checkpoint(FN(guarded, 1, 1), NULL), NULL), NULL);
    EXPECT(apply1(each, x), LAM_DIMS(4), 0.25, -3, 1, -3);
    lam_fn *all = lam_grad(lam_checkpoint(FN(sum_guarded, 1, 1), NULL), NULL);
    EXPECT(apply1(all, x), LAM_DIMS(4), 0.25, -3, 1, -3);
}
END_TEST

/* The tangents are traced inside the batch, so the program has rows that name its level. */
BODY(linear_inside) {
    lam_tensor *y;
    lam_fn *linear;
    lam_linearize(FN(guarded, 1, 1), LAM_LIST(in[0]), &y, 1, &linear, NULL);
    out[0] = apply1(linear, num(2));
    out[1] = apply1(lam_linear_transpose(linear, LAM_LIST(in[0])), num(5));
}

START_TEST(linearize_inside_the_batch) {
    lam_tensor *y[2];
    lam_call(lam_vmap(FN(linear_inside, 1, 2), NULL), LAM_LIST(VEC(4, -1, 0.25)), y, 2);
    EXPECT(y[0], LAM_DIMS(3), 0.5, -6, 2);
    EXPECT(y[1], LAM_DIMS(3), 1.25, -15, 5);
}
END_TEST

BODY(guarded_checkpoint) {
    out[0] = cond1(lam_gt(in[0], 0.0), lam_checkpoint(FN(root, 1, 1), NULL), FN(minus, 1, 1), in[0]);
}

START_TEST(a_branch_may_be_transformed_itself) {
    EXPECT(apply1(lam_vmap(lam_grad(FN(guarded_checkpoint, 1, 1), NULL), NULL), VEC(4, -1)), LAM_DIMS(2), 0.25, -3);
}
END_TEST

BODY(slope_of_root) {
    out[0] = apply1(lam_grad(FN(root, 1, 1), NULL), in[0]);
}

BODY(guarded_slope) {
    out[0] = cond1(lam_gt(in[0], 0.0), FN(slope_of_root, 1, 1), FN(minus, 1, 1), in[0]);
}

START_TEST(a_gradient_inside_a_branch) {
    lam_tensor *x = VEC(4, -1, 0.25);
    EXPECT(apply1(lam_vmap(FN(guarded_slope, 1, 1), NULL), x), LAM_DIMS(3), 0.25, 3, 1);
    EXPECT(apply1(lam_vmap(lam_grad(FN(guarded_slope, 1, 1), NULL), NULL), x), LAM_DIMS(3), -1.0 / 32, -3, -2);
}
END_TEST

BODY(inner_guard) {
    out[0] = cond1(lam_gt(in[0], 2.0), FN(root, 1, 1), FN(twice, 1, 1), in[0]);
}

BODY(nested) {
    out[0] = cond1(lam_gt(in[0], 0.0), FN(inner_guard, 1, 1), FN(minus, 1, 1), in[0]);
}

START_TEST(a_choice_within_a_choice) {
    lam_tensor *x = VEC(4, -1, 0.25, 9);
    EXPECT(apply1(lam_vmap(FN(nested, 1, 1), NULL), x), LAM_DIMS(4), 2, 3, 0.5, 3);
    EXPECT(apply1(lam_vmap(lam_grad(FN(nested, 1, 1), NULL), NULL), x), LAM_DIMS(4), 0.25, -3, 2, 1.0 / 6);
}
END_TEST

BODY(noisy) {
    out[0] = lam_add(in[0], lam_rand(ctx, LAM_F64, LAM_DIMS0));
}

BODY(noisy_or_not) {
    out[0] = cond1(lam_gt(in[0], 0.0), FN(noisy, 1, 1), FN(minus, 1, 1), in[0]);
}

START_TEST(draws_in_a_branch_are_those_of_the_batch) {
    lam_tensor *x = VEC(1, -1, 1);
    lam_vmap_options same = {.randomness = LAM_RANDOMNESS_SAME}, different = {.randomness = LAM_RANDOMNESS_DIFFERENT};
    double y[3];
    ck_assert_int_eq(lam_read(apply1(lam_vmap(FN(noisy_or_not, 1, 1), &same), x), y, sizeof y), LAM_OK);
    ck_assert(y[0] == y[2] && y[0] > 1 && y[1] == 3);
    ck_assert_int_eq(lam_read(apply1(lam_vmap(FN(noisy_or_not, 1, 1), &different), x), y, sizeof y), LAM_OK);
    ck_assert(y[0] != y[2] && y[0] > 1 && y[1] == 3);
    apply1(lam_vmap(FN(noisy_or_not, 1, 1), NULL), x);
    EXPECT_ERROR(LAM_ERR_OPTION, "draws", "randomness");
}
END_TEST

/* ---- recorded ---------------------------------------------------------------------------------------------------- */

START_TEST(a_jitted_choice_is_made_when_it_is_run) {
    lam_fn *f = lam_jit(FN(guarded, 1, 1), NULL), *g = lam_jit(lam_grad(FN(guarded, 1, 1), NULL), NULL);
    lam_fn *h = lam_jit(lam_grad(lam_grad(FN(guarded, 1, 1), NULL), NULL), NULL);
    runs[0] = runs[1] = 0;
    EXPECT_NUM(apply1(f, num(4)), 2);
    EXPECT_NUM(apply1(f, num(-4)), 12);
    ck_assert(runs[0] == 1 && runs[1] == 1);
    ck_assert_int_eq(lam_jit_report_of(f).recorded, 1);
    for (int again = 0; again < 2; again++) {
        EXPECT_NUM(apply1(g, num(4)), 0.25);
        EXPECT_NUM(apply1(g, num(-4)), -3);
        EXPECT_NUM(apply1(h, num(4)), -1.0 / 32);
        EXPECT_NUM(apply1(h, num(-4)), 0);
    }
    ck_assert_int_eq(lam_jit_report_of(g).recorded, 1);
    ck_assert_int_eq(lam_jit_report_of(h).recorded, 1);
}
END_TEST

START_TEST(jitted_batches_of_choices) {
    lam_tensor *x = VEC(4, -1, 0.25, -2), *y = VEC(-4, 1, -0.25, 4);
    lam_fn *f = FN(guarded, 1, 1), *all = FN(sum_guarded, 1, 1);
    lam_fn *fns[] = {lam_vmap(lam_grad(f, NULL), NULL), lam_grad(all, NULL), lam_vmap(lam_jacfwd(f, NULL), NULL)};
    for (int k = 0; k < 3; k++) {
        lam_fn *jitted = lam_jit(fns[k], NULL);
        EXPECT(apply1(jitted, x), LAM_DIMS(4), 0.25, -3, 1, -3);
        EXPECT(apply1(jitted, y), LAM_DIMS(4), -3, 0.5, -3, 0.25);
        ck_assert_int_eq(lam_jit_report_of(jitted).recorded, 1);
    }
    lam_fn *hessian = lam_jit(lam_vmap(lam_hessian(f, NULL), NULL), NULL);
    EXPECT(apply1(hessian, x), LAM_DIMS(4), -1.0 / 32, 0, -2, 0);
    lam_fn *inner = lam_vmap(FN(above, 2, 1), &(lam_vmap_options){.in_axes = LAM_AXES(LAM_UNMAPPED, 0)});
    lam_fn *both = lam_jit(lam_vmap(inner, &(lam_vmap_options){.in_axes = LAM_AXES(0, LAM_UNMAPPED)}), NULL);
    EXPECT(apply2(both, VEC(5, 2), VEC(1, 4, 6)), LAM_DIMS(2, 3), 2, 1, 3, 1, 6, 12);
}
END_TEST

START_TEST(captures_of_a_jitted_choice) {
    bool declared = true;
    lam_fn *f = FN_ENV(captured, 2, 1, &declared), *g = lam_grad(f, &(lam_grad_options){.argnums = LAM_AXES(1)});
    EXPECT_NUM(apply2(lam_jit(f, NULL), num(2), num(10)), 20);
    EXPECT_NUM(apply2(lam_jit(g, NULL), num(2), num(10)), 2);
    EXPECT(apply2(lam_jit(lam_vmap(g, NULL), NULL), VEC(1, -2, 3), VEC(10, 20, 30)), LAM_DIMS(3), 1, 0, 3);
    declared = false;
    EXPECT_NUM(apply2(lam_jit(f, NULL), num(2), num(10)), 20);
    EXPECT_NUM(apply2(lam_jit(g, NULL), num(2), num(10)), 2);
}
END_TEST

/* ---- refusals ---------------------------------------------------------------------------------------------------- */

BODY(wide) {
    out[0] = lam_stack(LAM_LIST(in[0], in[0]), 0);
}

BODY(narrow) {
    out[0] = lam_cast(in[0], LAM_F32);
}

BODY(mismatched) {
    out[0] = cond1(lam_gt(in[0], 0.0), FN(root, 1, 1), env ? FN(narrow, 1, 1) : FN(wide, 1, 1), in[0]);
}

START_TEST(a_mismatch_of_branches_names_both) {
    static int any;
    lam_tensor *x = VEC(1, -1), *y;
    apply1(lam_vmap(FN(mismatched, 1, 1), NULL), x);
    EXPECT_ERROR(LAM_ERR_SHAPE, "cond", "'wide' is f64[2]", "'root' is f64[]");
    apply1(lam_vmap(FN_ENV(mismatched, 1, 1, &any), NULL), x);
    EXPECT_ERROR(LAM_ERR_DTYPE, "'narrow' is f32[]", "'root' is f64[]");
    apply1(lam_jit(FN(mismatched, 1, 1), NULL), num(1));
    EXPECT_ERROR(LAM_ERR_SHAPE, "cond", "'wide' is f64[2]", "'root' is f64[]");
    lam_cond(lam_scalar(ctx, 1), FN(root, 1, 1), FN(up, 2, 2), LAM_LIST(x), &y, 1);
    EXPECT_ERROR(LAM_ERR_ARITY, "'root' takes 1 and gives 1", "'up' takes 2 and gives 2");
}
END_TEST

START_TEST(refusals_of_cond_and_switch) {
    lam_tensor *x = num(1), *y;
    lam_fn *f = FN(root, 1, 1), *g = FN(minus, 1, 1);
    cond1(VEC(1, 0), f, g, x);
    EXPECT_ERROR(LAM_ERR_SHAPE, "cond", "predicate", "f64[2]");
    cond1(lam_cast(x, LAM_C128), f, g, x);
    EXPECT_ERROR(LAM_ERR_DTYPE, "predicate", "c128[]");
    cond1(NULL, f, g, x);
    EXPECT_ERROR(LAM_ERR_NULL, "cond", "NULL");
    cond1(x, f, g, NULL);
    EXPECT_ERROR(LAM_ERR_NULL, "cond", "operands");
    cond1(x, f, NULL, x);
    EXPECT_STATUS(LAM_ERR_NULL);
    ck_assert_int_ne(lam_cond(x, f, g, LAM_LIST(x, x), &y, 1), LAM_OK);
    ck_assert(lam_failed(y));
    EXPECT_ERROR(LAM_ERR_ARITY, "takes 1", "gets 2");
    ck_assert_int_ne(lam_cond(x, f, g, LAM_LIST(x), NULL, 1), LAM_OK);
    EXPECT_ERROR(LAM_ERR_NULL, "no room");
    switch1(num(1.5), x);
    EXPECT_ERROR(LAM_ERR_DTYPE, "switch", "integer");
    switch1(lam_iota(ctx, LAM_I64, LAM_DIMS(2), 0), x);
    EXPECT_ERROR(LAM_ERR_SHAPE, "switch", "rank 1");
    ck_assert_int_eq(lam_switch(x, NULL, 0, LAM_LIST(x), &y, 1), LAM_ERR_VALUE);
    EXPECT_ERROR(LAM_ERR_VALUE, "no functions");
}
END_TEST

BODY(cond_of_tangent) {
    out[0] = cond1(in[0], FN(root, 1, 1), FN(minus, 1, 1), in[0]);
}

START_TEST(a_choice_by_a_tangent_is_not_linear) {
    lam_linear_transpose(FN(cond_of_tangent, 1, 1), LAM_LIST(num(1)));
    EXPECT_ERROR(LAM_ERR_LINEAR, "'cond_of_tangent' is not linear");
}
END_TEST

Suite *suite_transforms_cond(void) {
    return SUITE_OF("transforms/cond", cond_runs_one_branch_when_the_predicate_is_not_batched,
                    a_batched_predicate_chooses_for_each_example, a_branch_runs_once_for_the_examples_that_take_it,
                    no_nan_comes_from_the_branch_that_an_example_does_not_take, a_predicate_of_two_batches,
                    gradients_by_what_examples_share_are_each_examples_own, gradients_outside_the_batch_are_summed,
                    captures_go_with_the_examples,
                    what_is_not_declared_is_used_where_it_is_one_value_and_refused_elsewhere,
                    an_undeclared_tensor_is_found_as_a_result_and_in_a_choice_further_in, switch_clamps,
                    several_operands_and_outputs, cond_under_linearize_and_checkpoint, linearize_inside_the_batch,
                    a_branch_may_be_transformed_itself, a_gradient_inside_a_branch, a_choice_within_a_choice,
                    draws_in_a_branch_are_those_of_the_batch, a_mismatch_of_branches_names_both,
                    a_jitted_choice_is_made_when_it_is_run, jitted_batches_of_choices, captures_of_a_jitted_choice,
                    refusals_of_cond_and_switch, a_choice_by_a_tangent_is_not_linear);
}
