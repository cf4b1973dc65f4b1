/* Named axes in what is recorded: choices, loops and jitted functions that work along a batch around them. Values are
 * worked out by hand from the batch as a whole. */
#include "tests/support.h"

static lam_fn *over(const char *name, lam_fn *f) {
    return lam_vmap(f, &(lam_vmap_options){.axis_name = name});
}

BODY(with_the_others) {
    out[0] = lam_add(in[0], lam_psum(in[0], "batch"));
}

BODY(alone) {
    out[0] = lam_mul(in[0], 2.0);
}

BODY(chosen_for_all) {
    lam_cond(lam_gt(in[1], 0.0), FN(with_the_others, 1, 1), FN(alone, 1, 1), LAM_LIST(in[0]), out, 1);
}

/* What a branch does with the batch is recorded before the batch is taken apart. */
START_TEST(collectives_in_a_recorded_choice) {
    const lam_vmap_options named = {.axis_name = "batch", .in_axes = LAM_AXES(0, LAM_UNMAPPED)};
    lam_tensor *x = VEC(1, 2, 4);
    lam_fn *f = lam_vmap(FN(chosen_for_all, 2, 1), &named), *p = lam_trace(f, LAM_LIST(x, num(0)));
    EXPECT(apply2(p, x, num(1)), LAM_DIMS(3), 8, 9, 11);
    EXPECT(apply2(p, x, num(-1)), LAM_DIMS(3), 2, 4, 8);
    EXPECT(apply2(lam_jit(lam_jacfwd(f, NULL), NULL), x, num(1)), LAM_DIMS(3, 3), 2, 1, 1, 1, 2, 1, 1, 1, 2);
    EXPECT(apply2(lam_trace(lam_jacrev(f, NULL), LAM_LIST(x, num(0))), x, num(1)), LAM_DIMS(3, 3), 2, 1, 1, 1, 2, 1, 1,
           1, 2);
}
END_TEST

/* ---- of what is not batched -------------------------------------------------------------------------------------- */

BODY(three_times) {
    out[0] = lam_psum(in[0], "batch");
}

BODY(three_times_by_hand) {
    out[0] = lam_sum(lam_all_gather(in[0], "batch"), NULL);
}

BODY(for_example_1) {
    out[0] = lam_ppermute(in[0], (lam_route[]){{0, 1}}, 1, "batch");
}

BODY(below_8) {
    out[0] = lam_lt(in[0], 8.0);
}

BODY(below_8_by_the_batch) {
    out[0] = lam_lt(lam_pmean(in[0], "batch"), 8.0);
}

/* x times what a function of w chooses, or a loop makes, of w, which all examples share. env: 0..3, else loops. */
BODY(chosen_of_w) {
    static const lam_body kinds[] = {three_times, three_times_by_hand, for_example_1};
    const int kind = *(const int *)env;
    lam_tensor *y;
    if (kind < 3) lam_cond(lam_gt(in[1], 0.0), FN(kinds[kind], 1, 1), FN(alone, 1, 1), LAM_LIST(in[1]), &y, 1);
    else
        lam_while(kind == 3 ? FN(below_8, 1, 1) : FN(below_8_by_the_batch, 1, 1), FN(three_times, 1, 1),
                  LAM_LIST(in[1]), &y, 1);
    out[0] = lam_mul(in[0], y);
}

/* w to the sum over examples x = 1, 2, 4. */
BODY(all_of_w) {
    const lam_vmap_options named = {.axis_name = "batch", .in_axes = LAM_AXES(0, LAM_UNMAPPED)};
    out[0] = lam_sum(apply2(lam_vmap(FN_ENV(chosen_of_w, 2, 1, env), &named), VEC(1, 2, 4), in[0]), NULL);
}

/* 7 w times 3, or 2 w alone for example 1; otherwise 7 w times 2. From 1, loops make two trips to 9; from -1 they have
 * no end, so that 10 stands for what makes no trip. */
START_TEST(recorded_collectives_of_what_is_not_batched) {
    const double slopes[] = {21, 21, 2, 63, 63};
    for (int kind = 0; kind < 5; kind++) {
        const double other = kind < 3 ? -1 : 10, slope = kind < 3 ? 14 : 7;
        lam_fn *f = FN_ENV(all_of_w, 1, 1, &kind), *g = lam_grad(f, NULL), *j = lam_jacfwd(f, NULL);
        lam_fn *values[] = {f, lam_jit(f, NULL), lam_trace(f, LAM_LIST(num(0)))};
        lam_fn *derivatives[] = {g, lam_jit(g, NULL), lam_grad(values[2], NULL), lam_jit(j, NULL)};
        for (int k = 0; k < 3; k++) {
            EXPECT_NUM(apply1(values[k], num(1)), slopes[kind]);
            EXPECT_NUM(apply1(values[k], num(other)), slope * other);
        }
        for (int k = 0; k < 4; k++) {
            EXPECT_NUM(apply1(derivatives[k], num(1)), slopes[kind]);
            EXPECT_NUM(apply1(derivatives[k], num(other)), slope);
        }
    }
}
END_TEST

BODY(counted_by_a_sum) {
    out[0] = lam_mul(in[0], lam_psum(num(1), "batch"));
}

BODY(counted_by_size) {
    out[0] = lam_mul(in[0], (double)lam_axis_size(ctx, "batch"));
}

BODY(below_carried) {
    out[0] = lam_lt(in[0], in[1]);
}

BODY(one_more) {
    out[0] = lam_add(in[0], 1.0);
}

/* From 1 up to the size of the batch, which is captured. */
BODY(counted_by_a_loop) {
    const int64_t size = lam_axis_size(ctx, "batch");
    lam_tensor *end = lam_psum_scatter(lam_broadcast_to(in[0], LAM_DIMS(size)), "batch");
    lam_fn *goes_on = lam_fn_new(
        ctx, &(lam_fn_options){
                 .name = "goes_on", .body = below_carried, .inputs = 1, .outputs = 1, .captures = LAM_LIST(end)});
    lam_while(goes_on, FN(one_more, 1, 1), LAM_LIST(in[0]), out, 1);
}

/* What the jitted function gets is 1, the same for all examples: nothing of it belongs to the batch. */
BODY(of_one) {
    out[0] = lam_add(in[0], apply1(env, num(1)));
}

START_TEST(a_jitted_function_inside_the_batch_is_that_of_each_batch) {
    const lam_body bodies[] = {three_times, three_times_by_hand, counted_by_a_sum, counted_by_size, counted_by_a_loop};
    for (int k = 0; k < 5; k++) {
        lam_fn *f = over("batch", FN_ENV(of_one, 1, 1, lam_jit(FN(bodies[k], 1, 1), NULL)));
        for (int again = 0; again < 2; again++) {
            EXPECT(apply1(f, VEC(0, 1, 2)), LAM_DIMS(3), 3, 4, 5);
            EXPECT(apply1(f, VEC(0, 1, 2, 3)), LAM_DIMS(4), 4, 5, 6, 7);
        }
    }
}
END_TEST

Suite *suite_transforms_named_recorded(void) {
    return SUITE_OF("transforms/named_recorded", collectives_in_a_recorded_choice,
                    recorded_collectives_of_what_is_not_batched,
                    a_jitted_function_inside_the_batch_is_that_of_each_batch);
}
