/* Functions that run for some examples alone, within others that do: which tensors they may use beside their operands.
 * Values are those of the same choices made by C, derivatives are worked out by hand. */
#include "tests/support.h"

static lam_tensor *cond1(lam_tensor *pred, lam_fn *f, lam_fn *g, lam_tensor *x) {
    lam_tensor *y;
    lam_cond(pred, f, g, LAM_LIST(x), &y, 1);
    return y;
}

BODY(itself) {
    out[0] = in[0];
}

BODY(times_env) {
    out[0] = lam_mul(in[0], env);
}

/* b x where b > 0, else b, for the x in env. */
BODY(chosen_in_batch) {
    out[0] = cond1(lam_gt(in[0], 0.0), FN_ENV(times_env, 1, 1, env), FN(itself, 1, 1), in[0]);
}

/* The sum of that over b = 2, -3, 4, a batch made here: 6 x - 3. */
BODY(sum_of_chosen) {
    out[0] = lam_sum(apply1(lam_vmap(FN_ENV(chosen_in_batch, 1, 1, in[0]), NULL), VEC(2, -3, 4)), NULL);
}

/* Its square's derivative, which is 12 (6 a - 3). */
BODY(square_of_sum) {
    sum_of_chosen(ctx, in, out, env);
    out[0] = lam_square(out[0]);
}

BODY(derivative) {
    out[0] = apply1(lam_grad(FN(square_of_sum, 1, 1), NULL), in[0]);
}

BODY(derivative_of_some) {
    out[0] = cond1(lam_gt(in[0], 0.0), FN(derivative, 1, 1), FN(itself, 1, 1), in[0]);
}

/* The variable of a derivative that is taken within one choice, used in another one without being declared: it is the
 * same for all examples of the inner batch, and it belongs to no level that the outer choice is of. */
START_TEST(variables_of_levels_between_two_choices) {
    EXPECT(apply1(lam_vmap(FN(derivative_of_some, 1, 1), NULL), VEC(1, -1, 2)), LAM_DIMS(3), 36, -1, 108);
}
END_TEST

BODY(sine) {
    out[0] = lam_sin(in[0]);
}

/* The sine of a row, or itself, by a number that is of no batch or of an outer one. */
BODY(row_chosen) {
    out[0] = cond1(env, FN(sine, 1, 1), FN(itself, 1, 1), in[0]);
}

BODY(rows_chosen) {
    out[0] = apply1(lam_vmap(FN_ENV(row_chosen, 1, 1, lam_gt(in[0], 0.0)), NULL), in[1]);
}

/* The outer batch chooses, and what it chooses for is a batch of rows that was made inside, the same for all or not. */
START_TEST(rows_of_an_inner_batch_are_chosen_by_an_outer_one) {
    lam_tensor *p = VEC(1, -1), *x = MAT(3, 2, 1, 2, 3, 4, 5, 6), *both = lam_stack(LAM_LIST(x, lam_neg(x)), 0);
    lam_fn *f = FN(rows_chosen, 2, 1);
    lam_tensor *shared = apply2(lam_vmap(f, &(lam_vmap_options){.in_axes = LAM_AXES(0, LAM_UNMAPPED)}), p, x);
    EXPECT_SAME(shared, lam_stack(LAM_LIST(lam_sin(x), x), 0), 0);
    EXPECT_SAME(apply2(lam_vmap(f, NULL), p, both), lam_stack(LAM_LIST(lam_sin(x), lam_neg(x)), 0), 0);
}
END_TEST

Suite *suite_transforms_lanes(void) {
    return SUITE_OF("transforms/lanes", variables_of_levels_between_two_choices,
                    rows_of_an_inner_batch_are_chosen_by_an_outer_one);
}
