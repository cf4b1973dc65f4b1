/* Batching rules of custom Functions: the user's, the loop, the generated one, and what is wrong with rules. Expected
 * values by hand. */
#include "tests/custom/callbacks.h"

BODY(applied) {
    lam_function_apply(ctx, env, NULL, LAM_LIST(in[0]), out, 1);
}

BODY(applied_to_two) {
    lam_function_apply(ctx, env, NULL, LAM_LIST(in[0], in[1]), out, 1);
}

/* ---- the user's rule --------------------------------------------------------------------------------------------- */

static int runs;
static int64_t seen_size;
static lam_randomness seen_randomness;
static int seen_axes[2];

FORWARD(negate) {
    runs++;
    out[0] = lam_neg(in[0]);
}

/* Ten times the input, with the batch axis at the end. */
VMAP(tenfold) {
    seen_size = info->batch_size;
    seen_randomness = info->randomness;
    seen_axes[0] = in_axes[0];
    out[0] = lam_mul(10.0, lam_moveaxis(in[0], in_axes[0], -1));
    out_axes[0] = -1;
}

static const lam_function tagged = {
    .name = "tagged", .inputs = 1, .outputs = 1, .forward = negate, .vmap = tenfold, .is_linear = true};

START_TEST(users_rule_sees_physical_values_and_axes) {
    lam_fn *f = FN_ENV(applied, 1, 1, (void *)(uintptr_t)&tagged);
    lam_vmap_options o = {.in_axes = LAM_AXES(1), .randomness = LAM_RANDOMNESS_SAME};
    EXPECT(apply1(lam_vmap(f, &o), MAT(2, 3, 1, 2, 3, 4, 5, 6)), LAM_DIMS(3, 2), 10, 40, 20, 50, 30, 60);
    ck_assert_int_eq(seen_size, 3);
    ck_assert_int_eq(seen_axes[0], 1);
    ck_assert_int_eq((int)seen_randomness, (int)LAM_RANDOMNESS_SAME);
    EXPECT(apply1(f, VEC(1, 2)), LAM_DIMS(2), -1, -2);
}
END_TEST

BODY(itself) {
    out[0] = in[0];
}

BODY(tagged_if_positive) {
    lam_fn *f = FN_ENV(applied, 1, 1, (void *)(uintptr_t)&tagged);
    lam_cond(lam_gt(in[0], 0.0), f, FN(itself, 1, 1), LAM_LIST(in[0]), out, 1);
}

/* The three examples of two batches that take the branch are one batch to the rule. In that, drawing is an error if it
 * is one in either, and the same for all if it is so in both. */
START_TEST(users_rule_for_some_examples_of_two_batches) {
    const lam_randomness says[] = {LAM_RANDOMNESS_ERROR, LAM_RANDOMNESS_DIFFERENT, LAM_RANDOMNESS_SAME};
    for (int i = 0; i < 9; i++) {
        const lam_randomness a = says[i / 3], b = says[i % 3];
        lam_fn *inner = lam_vmap(FN(tagged_if_positive, 1, 1), &(lam_vmap_options){.randomness = a});
        lam_fn *f = lam_vmap(inner, &(lam_vmap_options){.randomness = b});
        EXPECT(apply1(f, MAT(2, 2, 1, -2, 3, 4)), LAM_DIMS(2, 2), 10, -2, 30, 40);
        ck_assert_int_eq(seen_size, 3);
        const lam_randomness error = LAM_RANDOMNESS_ERROR, different = LAM_RANDOMNESS_DIFFERENT;
        ck_assert_int_eq((int)seen_randomness, (int)(a == error || b == error ? error : a == b ? a : different));
    }
}
END_TEST

BODY(adds_to_constant) {
    lam_tensor *y;
    lam_function_apply(ctx, &tagged, NULL, LAM_LIST((lam_tensor *)env), &y, 1);
    out[0] = lam_add(in[0], y);
}

START_TEST(call_without_batched_input_skips_the_rule) {
    EXPECT(apply1(lam_vmap(FN_ENV(adds_to_constant, 1, 1, num(3)), NULL), VEC(1, 2)), LAM_DIMS(2), -2, -1);
}
END_TEST

VMAP(unmapped_out) {
    out[0] = lam_sum(in[0], NULL);
    out_axes[0] = LAM_UNMAPPED;
}

START_TEST(output_may_be_unmapped) {
    lam_function f = tagged;
    f.vmap = unmapped_out;
    EXPECT_NUM(apply1(lam_vmap(FN_ENV(applied, 1, 1, &f), &(lam_vmap_options){.out_axes = LAM_AXES(LAM_UNMAPPED)}),
                      VEC(1, 2, 3)),
               6);
    EXPECT(apply1(lam_vmap(FN_ENV(applied, 1, 1, &f), NULL), VEC(1, 2, 3)), LAM_DIMS(3), 6, 6, 6);
}
END_TEST

VMAP(forgets_axis) {
    out[0] = in[0];
}

VMAP(far_axis) {
    out[0] = in[0];
    out_axes[0] = 1;
}

VMAP(wrong_size) {
    out[0] = lam_slice_axis(in[0], 0, 0, 1);
    out_axes[0] = 0;
}

VMAP(forgets_output) {
    out_axes[0] = 0;
}

VMAP(too_many) {
    out[0] = out[1] = in[0];
    out_axes[0] = 0;
}

VMAP(refuses) {
    out[0] = lam_fail(ctx, LAM_ERR_USER, "not today");
    out_axes[0] = 0;
}

START_TEST(wrong_rules) {
    const struct {
        void (*rule)(lam_fctx *fc, const lam_vmap_info *info, const int in_axes[], lam_tensor *const in[],
                     lam_tensor *out[], int out_axes[]);
        lam_status status;
        const char *text;
    } rows[] = {
        {forgets_axis, LAM_ERR_AXIS, "out_axes[0] was not set"},
        {far_axis, LAM_ERR_AXIS, "out_axes[0] is 1, out of range [-1, 1)"},
        {wrong_size, LAM_ERR_SHAPE, "expected the batch size 3"},
        {forgets_output, LAM_ERR_ARITY, "output 0 was not set"},
        {too_many, LAM_ERR_ARITY, "too many results"},
        {refuses, LAM_ERR_USER, "not today"},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        lam_function f = tagged;
        f.vmap = rows[k].rule;
        apply1(lam_vmap(FN_ENV(applied, 1, 1, &f), NULL), VEC(1, 2, 3));
        EXPECT_ERROR(rows[k].status, "'tagged'", "vmap", rows[k].text);
    }
}
END_TEST

/* ---- the loop ---------------------------------------------------------------------------------------------------- */

/* Foreign code: reads raw data, which has no batched form. */
FORWARD(foreign_norm) {
    lam_tensor *x = lam_contiguous(in[0]);
    const double *data = lam_data(x);
    double sum = 0;
    runs++;
    for (int64_t i = 0; data && i < lam_size(x); i++) sum += data[i] * data[i];
    out[0] = data ? lam_array(ctx, LAM_F64, LAM_DIMS(1), &sum) : lam_fail(ctx, LAM_ERR_USER, "no raw data");
}

SETUP(saves_input) {
    lam_fctx_save_for_backward(fc, LAM_LIST(in[0]));
}

BACKWARD(norm_backward) {
    gx[0] = lam_mul(lam_mul(2.0, lam_fctx_saved(fc, 0)), g[0]);
}

static void norm_shape(lam_fctx *fc, const lam_type in[], lam_type out[]) {
    (void)fc;
    out[0] = (lam_type){.dtype = in[0].dtype, .rank = 1, .dims = {1}};
}

static const lam_function norm = {.name = "norm",
                                  .inputs = 1,
                                  .outputs = 1,
                                  .forward = foreign_norm,
                                  .setup_context = saves_input,
                                  .backward = norm_backward,
                                  .shape = norm_shape,
                                  .vmap_by_loop = true};

START_TEST(loop_runs_foreign_code_example_by_example) {
    lam_fn *f = FN_ENV(applied, 1, 1, (void *)(uintptr_t)&norm), *rows = lam_vmap(f, NULL);
    runs = 0;
    EXPECT(apply1(rows, MAT(3, 2, 1, 2, 3, 4, 5, 6)), LAM_DIMS(3, 1), 5, 25, 61);
    ck_assert_int_eq(runs, 3);
    lam_tensor *twice = lam_array(ctx, LAM_F64, LAM_DIMS(2, 1, 2), (double[]){1, 2, 3, 4});
    EXPECT(apply1(lam_vmap(rows, NULL), twice), LAM_DIMS(2, 1, 1), 5, 25);
    lam_fn *g = lam_grad(FN_ENV(sum_of, 1, 1, f), NULL);
    EXPECT(apply1(lam_vmap(g, NULL), MAT(2, 2, 1, 2, 3, 4)), LAM_DIMS(2, 2), 2, 4, 6, 8);
    EXPECT(apply1(lam_grad(FN_ENV(sum_of, 1, 1, rows), NULL), MAT(2, 2, 1, 2, 3, 4)), LAM_DIMS(2, 2), 2, 4, 6, 8);
}
END_TEST

START_TEST(loop_over_a_batch_of_none) {
    lam_fn *rows = lam_vmap(FN_ENV(applied, 1, 1, (void *)(uintptr_t)&norm), NULL);
    EXPECT_EMPTY(apply1(rows, lam_zeros(ctx, LAM_F64, LAM_DIMS(0, 2))), LAM_DIMS(0, 1));
    lam_function f = norm;
    f.shape = NULL;
    apply1(lam_vmap(FN_ENV(applied, 1, 1, &f), NULL), lam_zeros(ctx, LAM_F64, LAM_DIMS(0, 2)));
    EXPECT_ERROR(LAM_ERR_RULE, "norm", "shape");
}
END_TEST

START_TEST(raw_data_of_a_box_is_refused) {
    lam_function f = norm;
    f.vmap_by_loop = false;
    f.generate_vmap_rule = true;
    apply1(lam_vmap(FN_ENV(applied, 1, 1, &f), NULL), MAT(2, 2, 1, 2, 3, 4));
    EXPECT_ERROR(LAM_ERR_BATCHED, "norm", "forward", "lam_data", "vmap_by_loop");
}
END_TEST

/* ---- the generated rule ------------------------------------------------------------------------------------------ */

/* x * y and x, with backward rules of factors 5 and 7; dims are recorded per example. */
FORWARD(scale_forward) {
    out[0] = lam_mul(in[0], in[1]);
}

SETUP(scale_setup) {
    int rank[2] = {lam_rank(in[0]), lam_rank(out[0])};
    lam_fctx_set_data(fc, "rank", rank, sizeof rank);
    lam_fctx_save_for_backward(fc, LAM_LIST(in[0], in[1]));
}

static int seen_rank[2];

BACKWARD(scale_backward) {
    memcpy(seen_rank, lam_fctx_data(fc, "rank", NULL), sizeof seen_rank);
    if (lam_fctx_needs_input_grad(fc, 0)) gx[0] = lam_mul(lam_mul(5.0, lam_fctx_saved(fc, 1)), g[0]);
    if (lam_fctx_needs_input_grad(fc, 1)) gx[1] = lam_mul(lam_mul(7.0, lam_fctx_saved(fc, 0)), g[0]);
}

static const lam_function scale = {.name = "scale",
                                   .inputs = 2,
                                   .outputs = 1,
                                   .forward = scale_forward,
                                   .setup_context = scale_setup,
                                   .backward = scale_backward,
                                   .generate_vmap_rule = true};

typedef struct mapping {
    lam_fn *f;
    int axes[2];
} mapping;

BODY(sum_of_mapped) {
    const mapping *m = env;
    out[0] = lam_sum(apply2(lam_vmap(m->f, &(lam_vmap_options){.in_axes = {2, m->axes}}), in[0], in[1]), NULL);
}

static lam_fn *by(int input, mapping *m) {
    return lam_grad(FN_ENV(sum_of_mapped, 2, 1, m), &(lam_grad_options){.argnums = LAM_AXES(input)});
}

START_TEST(gradients_of_unmapped_inputs_are_summed) {
    lam_fn *f = FN_ENV(applied_to_two, 2, 1, (void *)(uintptr_t)&scale);
    mapping second = {f, {0, LAM_UNMAPPED}}, first = {f, {LAM_UNMAPPED, 1}}, both = {f, {1, 0}};
    EXPECT_NUM(apply2(by(1, &second), VEC(1, 2, 3), num(10)), 7 * 6);
    EXPECT(apply2(by(0, &second), VEC(1, 2, 3), num(10)), LAM_DIMS(3), 50, 50, 50);
    ck_assert_int_eq(seen_rank[0], 0);
    ck_assert_int_eq(seen_rank[1], 0);
    EXPECT(apply2(by(0, &first), VEC(1, 2), MAT(2, 3, 1, 2, 3, 4, 5, 6)), LAM_DIMS(2), 5 * 6, 5 * 15);
    EXPECT(apply2(by(1, &first), VEC(1, 2), MAT(2, 3, 1, 2, 3, 4, 5, 6)), LAM_DIMS(2, 3), 7, 7, 7, 14, 14, 14);
    ck_assert_int_eq(seen_rank[0], 1);
    EXPECT(apply2(by(0, &both), MAT(2, 3, 1, 2, 3, 4, 5, 6), MAT(3, 2, 1, 1, 2, 2, 3, 3)), LAM_DIMS(2, 3), 5, 10, 15, 5,
           10, 15);
}
END_TEST

/* A gradient that does not depend on the example counts once for each. */
BACKWARD(ones_backward) {
    gx[0] = lam_ones_like(lam_fctx_saved(fc, 1));
}

SETUP(ones_setup) {
    lam_fctx_save_for_backward(fc, LAM_LIST(NULL, in[0]));
}

START_TEST(gradient_without_batch_axis_counts_for_every_example) {
    lam_function f = scale;
    f.setup_context = ones_setup;
    f.backward = ones_backward;
    mapping m = {FN_ENV(applied_to_two, 2, 1, &f), {LAM_UNMAPPED, 0}};
    EXPECT_NUM(apply2(by(0, &m), num(2), VEC(1, 2, 3, 4)), 4);
}
END_TEST

START_TEST(nested_generated_rules) {
    lam_fn *inner = lam_vmap(FN_ENV(applied_to_two, 2, 1, (void *)(uintptr_t)&scale),
                             &(lam_vmap_options){.in_axes = LAM_AXES(0, LAM_UNMAPPED)});
    mapping m = {inner, {LAM_UNMAPPED, 0}};
    EXPECT(apply2(lam_vmap(inner, &(lam_vmap_options){.in_axes = LAM_AXES(LAM_UNMAPPED, 0)}), VEC(1, 2), VEC(3, 4, 5)),
           LAM_DIMS(3, 2), 3, 6, 4, 8, 5, 10);
    EXPECT(apply2(by(0, &m), VEC(1, 2), VEC(3, 4, 5)), LAM_DIMS(2), 60, 60);
    EXPECT(apply2(by(1, &m), VEC(1, 2), VEC(3, 4, 5)), LAM_DIMS(3), 21, 21, 21);
    lam_fn *second = lam_grad(FN_ENV(sum_of_mapped, 2, 1, &m), &(lam_grad_options){.argnums = LAM_AXES(0)});
    lam_tensor *blocks =
        apply2(lam_jacfwd(second, &(lam_jacobian_options){.argnums = LAM_AXES(1)}), VEC(1, 2), VEC(3, 4, 5));
    EXPECT(blocks, LAM_DIMS(2, 3), 5, 5, 5, 5, 5, 5);
}
END_TEST

START_TEST(generated_rule_over_a_batch_of_none) {
    lam_fn *f = FN_ENV(applied_to_two, 2, 1, (void *)(uintptr_t)&scale);
    EXPECT_EMPTY(
        apply2(lam_vmap(f, NULL), lam_zeros(ctx, LAM_F64, LAM_DIMS(0, 2)), lam_zeros(ctx, LAM_F64, LAM_DIMS(0, 2))),
        LAM_DIMS(0, 2));
    mapping m = {f, {0, LAM_UNMAPPED}};
    EXPECT_NUM(apply2(by(1, &m), lam_zeros(ctx, LAM_F64, LAM_DIMS(0)), num(1)), 0);
}
END_TEST

/* ---- captures ---------------------------------------------------------------------------------------------------- */

static lam_tensor *captured;

FORWARD(adds_captured) {
    out[0] = lam_add(in[0], captured);
}

BODY(captures_own_input) {
    const lam_function f = {.name = "grabber",
                            .inputs = 1,
                            .outputs = 1,
                            .forward = adds_captured,
                            .is_linear = true,
                            .generate_vmap_rule = true};
    captured = in[0];
    lam_function_apply(ctx, &f, NULL, LAM_LIST(in[0]), out, 1);
}

BODY(captures_outer) {
    const lam_function f = {.name = "grabber",
                            .inputs = 1,
                            .outputs = 1,
                            .forward = adds_captured,
                            .setup_context = saves_input,
                            .backward = norm_backward,
                            .generate_vmap_rule = true};
    lam_function_apply(ctx, &f, NULL, LAM_LIST(in[0]), out, 1);
}

BODY(outer_level) {
    captured = in[0];
    out[0] = lam_sum(apply1(lam_vmap(FN(captures_outer, 1, 1), NULL), VEC(1, 2)), NULL);
}

BODY(times_captured) {
    out[0] = lam_mul(in[0], captured);
}

/* The level of grad in here takes the place of the hidden one. */
FORWARD(differentiates_with_captured) {
    out[0] = apply1(lam_grad(FN(times_captured, 1, 1), NULL), in[0]);
}

BODY(captures_own_input_deeper) {
    const lam_function f = {.name = "digger",
                            .inputs = 1,
                            .outputs = 1,
                            .forward = differentiates_with_captured,
                            .setup_context = saves_input,
                            .backward = norm_backward,
                            .generate_vmap_rule = true};
    captured = in[0];
    lam_function_apply(ctx, &f, NULL, LAM_LIST(in[0]), out, 1);
}

START_TEST(captured_boxes_at_a_level_in_place_of_theirs) {
    apply1(lam_grad(FN(captures_own_input_deeper, 1, 1), NULL), num(2));
    EXPECT_ERROR(LAM_ERR_CAPTURED, "digger", "forward", "open but hidden");
    apply1(lam_vmap(FN(captures_own_input_deeper, 1, 1), NULL), VEC(1, 2));
    EXPECT_ERROR(LAM_ERR_CAPTURED, "digger", "forward", "open but hidden");
}
END_TEST

START_TEST(captured_boxes) {
    apply1(lam_grad(FN(captures_own_input, 1, 1), NULL), num(2));
    EXPECT_ERROR(LAM_ERR_CAPTURED, "grabber", "forward", "open but hidden");
    apply1(lam_vmap(FN(captures_own_input, 1, 1), NULL), VEC(1, 2));
    EXPECT_ERROR(LAM_ERR_CAPTURED, "grabber", "forward", "open but hidden");
    EXPECT_NUM(apply1(lam_grad(FN(outer_level, 1, 1), NULL), num(2)),
               2); /* a visible level: derivative of forward's code */
}
END_TEST

/* ---- axes by name ------------------------------------------------------------------------------------------------ */

FORWARD(squared) {
    out[0] = lam_square(in[0]);
}

/* 2 x g, summed over all examples. */
BACKWARD(sum_of_gradients) {
    gx[0] = lam_psum(lam_mul(lam_mul(2.0, lam_fctx_saved(fc, 0)), g[0]), "batch");
}

BODY(square_with_shared_gradient) {
    const lam_function f = {.name = "shared",
                            .inputs = 1,
                            .outputs = 1,
                            .forward = squared,
                            .setup_context = saves_input,
                            .backward = sum_of_gradients,
                            .generate_vmap_rule = true};
    lam_function_apply(ctx, &f, NULL, LAM_LIST(in[0]), out, 1);
}

BODY(batch_of_squares) {
    lam_call(lam_vmap(FN(square_with_shared_gradient, 1, 1), &(lam_vmap_options){.axis_name = "batch"}),
             LAM_LIST(in[0]), out, 1);
}

/* By then the vmap is over, and its function, which had the name, is freed. */
START_TEST(a_rule_that_runs_later_knows_the_axis_by_name) {
    lam_tensor *y;
    lam_fn *pullback;
    lam_vjp(FN(batch_of_squares, 1, 1), LAM_LIST(VEC(1, 2, 4)), &y, 1, &pullback, NULL);
    for (int i = 0; i < 9; i++) lam_vmap(FN(itself, 1, 1), &(lam_vmap_options){.axis_name = "other"});
    EXPECT(lam_apply(pullback, LAM_LIST(VEC(1, 10, 100))), LAM_DIMS(3), 842, 842, 842);
}
END_TEST

Suite *suite_custom_batch(void) {
    return SUITE_OF("custom/batch", users_rule_sees_physical_values_and_axes,
                    users_rule_for_some_examples_of_two_batches, call_without_batched_input_skips_the_rule,
                    output_may_be_unmapped, wrong_rules, loop_runs_foreign_code_example_by_example,
                    loop_over_a_batch_of_none, raw_data_of_a_box_is_refused, gradients_of_unmapped_inputs_are_summed,
                    gradient_without_batch_axis_counts_for_every_example, nested_generated_rules,
                    generated_rule_over_a_batch_of_none, captured_boxes, captured_boxes_at_a_level_in_place_of_theirs,
                    a_rule_that_runs_later_knows_the_axis_by_name);
}
