/* vmap: where batch axes come from and go to, batches of any size, chunks, nesting, and that it is no hidden loop. That
 * every primitive agrees with the loop for each mapping of its operands is shown in tests/primitives. */
#include "tests/dispatch/probe.h"
#include "tests/support.h"

static lam_axes none(void) {
    return (lam_axes){0, NULL};
}

static lam_fn *mapped(lam_fn *f, lam_axes in_axes, lam_axes out_axes) {
    return lam_vmap(f, &(lam_vmap_options){.in_axes = in_axes, .out_axes = out_axes});
}

/* ---- axes -------------------------------------------------------------------------------------------------------- */

BODY(difference) {
    out[0] = lam_sub(in[0], in[1]);
}

BODY(rank_of_input) {
    ck_assert_int_eq(lam_rank(in[0]), *(int *)env);
    ck_assert_int_eq(lam_dim(in[0], 0), 3);
    out[0] = lam_sum(in[0], NULL);
}

START_TEST(the_batch_axis_is_hidden_from_the_function) {
    int rank = 1;
    EXPECT(apply1(lam_vmap(FN_ENV(rank_of_input, 1, 1, &rank), NULL), MAT(2, 3, 1, 2, 3, 4, 5, 6)), LAM_DIMS(2), 6, 15);
}
END_TEST

START_TEST(in_axes_per_input_negative_and_unmapped) {
    lam_tensor *x = MAT(2, 3, 1, 2, 3, 4, 5, 6), *y = MAT(3, 2, 10, 20, 30, 40, 50, 60);
    lam_fn *f = FN(difference, 2, 1);
    EXPECT(apply2(mapped(f, LAM_AXES(0, 1), none()), x, y), LAM_DIMS(2, 3), -9, -28, -47, -16, -35, -54);
    EXPECT(apply2(mapped(f, LAM_AXES(-1, 0), none()), x, y), LAM_DIMS(3, 2), -9, -16, -28, -35, -47, -54);
    EXPECT(apply2(mapped(f, LAM_AXES(0, LAM_UNMAPPED), none()), x, VEC(1, 2, 3)), LAM_DIMS(2, 3), 0, 0, 0, 3, 3, 3);
    EXPECT(apply2(mapped(f, LAM_AXES(LAM_UNMAPPED, 0), none()), num(1), VEC(1, 2, 3)), LAM_DIMS(3), 0, -1, -2);
    EXPECT(apply2(mapped(f, LAM_AXES(1), none()), x, x), LAM_DIMS(3, 2), 0, 0, 0, 0, 0, 0);
}
END_TEST

BODY(identity) {
    out[0] = in[0];
}

START_TEST(out_axes_any_and_negative) {
    lam_tensor *x = lam_reshape(lam_arange(ctx, LAM_F64, 0, 12, 1), LAM_DIMS(2, 3, 2));
    lam_fn *f = FN(identity, 1, 1);
    EXPECT_SAME(apply1(mapped(f, none(), LAM_AXES(1)), x), lam_moveaxis(x, 0, 1), 0);
    EXPECT_SAME(apply1(mapped(f, none(), LAM_AXES(-1)), x), lam_moveaxis(x, 0, 2), 0);
    EXPECT_SAME(apply1(mapped(f, LAM_AXES(2), LAM_AXES(-3)), x), lam_moveaxis(x, 2, 0), 0);
    EXPECT_SAME(apply1(mapped(f, LAM_AXES(1), LAM_AXES(1)), x), x, 0);
}
END_TEST

BODY(constant) {
    out[0] = VEC(7, 8);
}

START_TEST(a_constant_output_is_repeated) {
    EXPECT(apply1(lam_vmap(FN(constant, 1, 1), NULL), VEC(1, 2, 3)), LAM_DIMS(3, 2), 7, 8, 7, 8, 7, 8);
    EXPECT(apply1(mapped(FN(constant, 1, 1), none(), LAM_AXES(1)), VEC(1, 2, 3)), LAM_DIMS(2, 3), 7, 7, 7, 8, 8, 8);
}
END_TEST

BODY(two_outputs) {
    out[0] = lam_mul(2.0, in[0]);
    out[1] = lam_mul(3.0, in[1]);
}

START_TEST(an_unmapped_output_must_not_be_batched) {
    lam_tensor *out[2];
    lam_fn *f = FN(two_outputs, 2, 2);
    lam_axes first = LAM_AXES(0, LAM_UNMAPPED), second = LAM_AXES(LAM_UNMAPPED, 0);
    lam_call(mapped(f, first, first), LAM_LIST(VEC(1, 2), num(5)), out, 2);
    EXPECT(out[0], LAM_DIMS(2), 2, 4);
    EXPECT_NUM(out[1], 15);
    lam_call(mapped(f, first, second), LAM_LIST(VEC(1, 2), num(5)), out, 2);
    EXPECT_ERROR(LAM_ERR_AXIS, "vmap", "output 0", "two_outputs", "batched", "remedy");
}
END_TEST

BODY(rank_of_most) {
    const lam_dims most = LAM_DIMS(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1);
    out[0] = lam_broadcast_to(lam_reshape(in[0], LAM_DIMS(1)), most);
}

/* With the axis of the batch there would be one too many, of what is batched and of what is repeated for it. */
START_TEST(outputs_of_too_many_axes_are_refused) {
    lam_fn *f = FN(rank_of_most, 1, 1);
    EXPECT_NUM(lam_sum(apply1(f, num(3)), NULL), 3);
    ck_assert(lam_failed(apply1(lam_vmap(f, NULL), VEC(1, 2))));
    EXPECT_ERROR(LAM_ERR_RANK, "vmap", "output 0", "rank_of_most", "17 axes", "more than 16");
    lam_vmap_options alike = {.in_axes = LAM_AXES(LAM_UNMAPPED), .axis_size = 2};
    ck_assert(lam_failed(apply1(lam_vmap(f, &alike), num(1))));
    EXPECT_ERROR(LAM_ERR_RANK, "vmap", "output 0", "rank_of_most", "17 axes");
}
END_TEST

static void refused_axes(lam_axes in_axes, lam_axes out_axes, lam_status status, const char *text) {
    lam_fn *f = mapped(FN(two_outputs, 2, 2), in_axes, out_axes);
    lam_tensor *out[2];
    if (!lam_failed(f)) lam_call(f, LAM_LIST(VEC(1, 2), VEC(3, 4)), out, 2);
    EXPECT_ERROR(status, "vmap", "two_outputs", text);
}

START_TEST(impossible_axes_are_refused_with_the_range) {
    refused_axes(LAM_AXES(0, 1), none(), LAM_ERR_AXIS,
                 "in_axes of input 1 of 'two_outputs' is 1, out of range [-1, 1)");
    refused_axes(LAM_AXES(-2, 0), none(), LAM_ERR_AXIS, "in_axes of input 0 of 'two_outputs' is -2");
    lam_tensor *out[2];
    lam_call(mapped(FN(two_outputs, 2, 2), none(), none()), LAM_LIST(VEC(1, 2), num(3)), out, 2);
    EXPECT_ERROR(LAM_ERR_AXIS, "input 1 of 'two_outputs' has rank 0", "LAM_UNMAPPED in in_axes");
    refused_axes(none(), LAM_AXES(1, 0), LAM_ERR_AXIS,
                 "out_axes of output 0 of 'two_outputs' is 1, out of range [-1, 1)");
    refused_axes(LAM_AXES(0, 0, 0), none(), LAM_ERR_OPTION, "in_axes of 'two_outputs' has 3 entries for 2 inputs");
    refused_axes(none(), LAM_AXES(0, 0, 0), LAM_ERR_OPTION, "out_axes of 'two_outputs' has 3 entries for 2 outputs");
    refused_axes(LAM_NO_AXES, none(), LAM_ERR_OPTION, "0 entries");
    refused_axes((lam_axes){2, NULL}, none(), LAM_ERR_OPTION, "in_axes");
}
END_TEST

/* ---- sizes ------------------------------------------------------------------------------------------------------- */

START_TEST(without_a_mapped_input_the_size_must_be_given) {
    lam_fn *f = FN(identity, 1, 1);
    lam_vmap_options o = {.in_axes = LAM_AXES(LAM_UNMAPPED)};
    ck_assert(lam_failed(apply1(lam_vmap(f, &o), num(3))));
    EXPECT_ERROR(LAM_ERR_OPTION, "vmap", "no input of 'identity' is mapped", "axis_size");
    o.axis_size = 2;
    EXPECT(apply1(lam_vmap(f, &o), num(3)), LAM_DIMS(2), 3, 3);
    o.axis_size = LAM_ZERO_SIZE;
    EXPECT_EMPTY(apply1(lam_vmap(f, &o), num(3)), LAM_DIMS(0));
}
END_TEST

START_TEST(unequal_sizes_are_listed_by_argument) {
    ck_assert(lam_failed(apply2(lam_vmap(FN(difference, 2, 1), NULL), VEC(1, 2), VEC(1, 2, 3))));
    EXPECT_ERROR(LAM_ERR_SHAPE, "vmap", "difference", "input 0 has 2 on axis 0", "input 1 has 3 on axis 0", "remedy");
    lam_vmap_options o = {.axis_size = 4};
    ck_assert(lam_failed(apply1(lam_vmap(FN(identity, 1, 1), &o), VEC(1, 2))));
    EXPECT_ERROR(LAM_ERR_SHAPE, "axis_size is 4", "input 0 has 2");
}
END_TEST

START_TEST(a_batch_of_none) {
    lam_tensor *x = lam_zeros(ctx, LAM_F64, LAM_DIMS(0, 3));
    int rank = 1;
    EXPECT_EMPTY(apply1(lam_vmap(FN_ENV(rank_of_input, 1, 1, &rank), NULL), x), LAM_DIMS(0));
    EXPECT_EMPTY(apply1(lam_vmap(lam_grad(FN_ENV(rank_of_input, 1, 1, &rank), NULL), NULL), x), LAM_DIMS(0, 3));
    EXPECT_EMPTY(apply1(lam_vmap(FN(identity, 1, 1), &(lam_vmap_options){.chunk_size = 2}), x), LAM_DIMS(0, 3));
}
END_TEST

/* ---- chunks ------------------------------------------------------------------------------------------------------ */

BODY(probes) {
    out[0] = lam_mul(probe(in[0]), in[1]);
}

START_TEST(chunks_equal_the_whole_and_may_leave_a_remainder) {
    lam_tensor *x = lam_arange(ctx, LAM_F64, 0, 7, 1);
    for (int chunk = 1; chunk <= 9; chunk++) {
        lam_vmap_options o = {.in_axes = LAM_AXES(0, LAM_UNMAPPED), .chunk_size = chunk};
        probed = (probe_counts){0};
        EXPECT_SAME(apply2(lam_vmap(FN(probes, 2, 1), &o), x, num(2)), lam_mul(2.0, x), 0);
        ck_assert_int_eq(probed.eval, (7 + chunk - 1) / chunk);
    }
}
END_TEST

START_TEST(chunks_with_other_axes_and_unmapped_outputs) {
    lam_tensor *x = MAT(2, 3, 1, 2, 3, 4, 5, 6), *out[2];
    lam_vmap_options o = {
        .in_axes = LAM_AXES(1, LAM_UNMAPPED), .out_axes = LAM_AXES(-1, LAM_UNMAPPED), .chunk_size = 2};
    lam_call(lam_vmap(FN(two_outputs, 2, 2), &o), LAM_LIST(x, num(5)), out, 2);
    EXPECT(out[0], LAM_DIMS(2, 3), 2, 4, 6, 8, 10, 12);
    EXPECT_NUM(out[1], 15);
}
END_TEST

START_TEST(bad_options_are_refused) {
    lam_fn *f = FN(identity, 1, 1);
    ck_assert(lam_failed(lam_vmap(f, &(lam_vmap_options){.chunk_size = -1})));
    EXPECT_ERROR(LAM_ERR_OPTION, "vmap", "chunk_size", "identity", "-1");
    ck_assert(lam_failed(lam_vmap(f, &(lam_vmap_options){.axis_size = -2})));
    EXPECT_ERROR(LAM_ERR_OPTION, "vmap", "axis_size", "-2");
    ck_assert(lam_failed(lam_vmap(f, &(lam_vmap_options){.randomness = (lam_randomness)3})));
    EXPECT_ERROR(LAM_ERR_OPTION, "vmap", "randomness", "3");
}
END_TEST

/* ---- what cannot be known ---------------------------------------------------------------------------------------- */

BODY(reads_a_value) {
    out[0] = lam_item(in[0]) > 0 ? in[0] : lam_neg(in[0]);
}

START_TEST(reading_a_batched_value_fails_with_advice) {
    ck_assert(lam_failed(apply1(lam_vmap(FN(reads_a_value, 1, 1), NULL), VEC(1, -2))));
    EXPECT_ERROR(LAM_ERR_BATCHED, "lam_item", "batched", "reads_a_value", "vmap(size 2)", "lam_where");
    ck_assert(lam_failed(apply1(lam_vmap(lam_grad(FN(reads_a_value, 1, 1), NULL), NULL), VEC(1, -2))));
    EXPECT_ERROR(LAM_ERR_BATCHED, "lam_item", "vjp -> vmap(size 2) -> eval");
}
END_TEST

BODY(reads_what_is_not_batched) {
    out[0] = lam_item(in[1]) > 0 ? in[0] : lam_neg(in[0]);
}

START_TEST(reading_an_unbatched_value_inside_works) {
    lam_fn *f = mapped(FN(reads_what_is_not_batched, 2, 1), LAM_AXES(0, LAM_UNMAPPED), none());
    EXPECT(apply2(f, VEC(1, 2), num(-1)), LAM_DIMS(2), -1, -2);
}
END_TEST

/* ---- nesting and cost -------------------------------------------------------------------------------------------- */

BODY(maps_rows_of_env_axis) {
    lam_vmap_options o = {.in_axes = LAM_AXES(LAM_UNMAPPED, *(int *)env)};
    out[0] = lam_apply(lam_vmap(FN(difference, 2, 1), &o), LAM_LIST(in[0], in[1]));
}

START_TEST(nested_on_the_same_and_on_different_axes) {
    int axis = 0;
    lam_fn *table = mapped(FN_ENV(maps_rows_of_env_axis, 2, 1, &axis), LAM_AXES(0, LAM_UNMAPPED), none());
    EXPECT(apply2(table, VEC(1, 2), VEC(10, 20, 30)), LAM_DIMS(2, 3), -9, -19, -29, -8, -18, -28);
    lam_fn *both = mapped(FN_ENV(maps_rows_of_env_axis, 2, 1, &axis), LAM_AXES(0, 1), none());
    lam_tensor *y = MAT(3, 2, 10, 40, 20, 50, 30, 60);
    EXPECT(apply2(both, VEC(1, 2), y), LAM_DIMS(2, 3), -9, -19, -29, -38, -48, -58);
    lam_fn *twice = lam_vmap(lam_vmap(FN(identity, 1, 1), NULL), &(lam_vmap_options){.in_axes = LAM_AXES(1)});
    EXPECT(apply1(twice, MAT(2, 2, 1, 2, 3, 4)), LAM_DIMS(2, 2), 1, 3, 2, 4);
}
END_TEST

BODY(probe_squared) {
    out[0] = lam_square(probe(in[0]));
}

/* One kernel call for the whole batch at any depth: no loop is hidden anywhere. */
START_TEST(a_batch_is_one_kernel_call) {
    lam_fn *f = FN(probe_squared, 1, 1);
    probed = (probe_counts){0};
    EXPECT(apply1(lam_vmap(lam_vmap(f, NULL), NULL), MAT(2, 2, 1, 2, 3, 4)), LAM_DIMS(2, 2), 1, 4, 9, 16);
    ck_assert_int_eq(probed.eval, 1);
    ck_assert_int_eq(probed.batch, 2);
    probed = (probe_counts){0};
    EXPECT(apply1(lam_vmap(lam_grad(f, NULL), NULL), VEC(1, 2, 3)), LAM_DIMS(3), 2, 4, 6);
    ck_assert_int_eq(probed.eval, 2);
}
END_TEST

BODY(probes_a_constant) {
    out[0] = lam_add(in[0], probe(env));
}

START_TEST(what_is_not_batched_stays_so) {
    probed = (probe_counts){0};
    EXPECT(apply1(lam_vmap(FN_ENV(probes_a_constant, 1, 1, num(5)), NULL), VEC(1, 2)), LAM_DIMS(2), 6, 7);
    ck_assert_int_eq(probed.batch, 0);
}
END_TEST

BODY(writes_into_a_constant) {
    lam_tensor *z = lam_zeros(ctx, LAM_F64, LAM_DIMS(3));
    lam_set_(z, in[0], LAM_DIMS(1), LAM_DIMS(2), LAM_DIMS0);
    out[0] = z;
}

START_TEST(a_batched_value_is_written_into_a_tensor_made_inside) {
    EXPECT(apply1(lam_vmap(FN(writes_into_a_constant, 1, 1), NULL), VEC(7, 8)), LAM_DIMS(2, 3), 0, 7, 0, 0, 8, 0);
}
END_TEST

/* (w . x - y)^2 has gradient 2 (w . x - y) x by w: per example, in one call. */
BODY(error_of_example) {
    out[0] = lam_square(lam_sub(lam_sum(lam_mul(in[0], in[1]), NULL), in[2]));
}

START_TEST(per_example_gradients) {
    lam_fn *g = mapped(lam_grad(FN(error_of_example, 3, 1), NULL), LAM_AXES(LAM_UNMAPPED, 0, 0), none());
    lam_tensor *x = MAT(2, 2, 1, 2, 3, 4);
    EXPECT(lam_apply(g, LAM_LIST(VEC(1, 1), x, VEC(1, 10))), LAM_DIMS(2, 2), 4, 8, -18, -24);
}
END_TEST

BODY(maps_inside) {
    out[0] = lam_sum(apply1(lam_vmap(FN(probe_squared, 1, 1), NULL), in[0]), NULL);
}

START_TEST(gradient_through_vmap) {
    EXPECT(apply1(lam_grad(FN(maps_inside, 1, 1), NULL), VEC(1, 2)), LAM_DIMS(2), 2, 4);
}
END_TEST

BODY(no_inputs) {
    out[0] = num(4);
}

START_TEST(a_function_without_inputs) {
    EXPECT(lam_apply(lam_vmap(FN(no_inputs, 0, 1), &(lam_vmap_options){.axis_size = 2}), LAM_LIST()), LAM_DIMS(2), 4,
           4);
}
END_TEST

BODY(plus_one) {
    out[0] = lam_add(in[0], 1.0);
}

BODY(as_vector) {
    out[0] = lam_expand_dims(in[0], 0);
}

/* f in so many batches of one, which share all they have. */
static lam_fn *in_batches(lam_fn *f, int count) {
    const lam_vmap_options one = {
        .in_axes = LAM_AXES(LAM_UNMAPPED), .axis_size = 1, .out_axes = LAM_AXES(LAM_UNMAPPED)};
    for (int k = 0; k < count; k++) f = lam_vmap(f, &one);
    return f;
}

/* Each batch takes one of the 32 axes that a value can have inside. */
START_TEST(batches_in_one_another_to_the_last_axis) {
    EXPECT_NUM(apply1(in_batches(FN(plus_one, 1, 1), 32), num(1)), 2);
    ck_assert(lam_failed(apply1(in_batches(FN(as_vector, 1, 1), 32), num(1))));
    EXPECT_ERROR(LAM_ERR_RANK, "1 axes, more than 0 left inside these batches");
    ck_assert(lam_failed(apply1(in_batches(FN(plus_one, 1, 1), 33), num(1))));
    EXPECT_ERROR(LAM_ERR_RANK, "vmap: 32 nested batches");
}
END_TEST

BODY(first_element) {
    out[0] = lam_slice_axis(in[0], 0, 0, 1);
}

/* Lists of parts whose bytes would wrap around are refused, not made as long as what is left. */
START_TEST(more_chunks_than_can_be_counted) {
    static const struct {
        int64_t size, chunk;
    } rows[] = {{INT64_MAX, 1}, {INT64_MAX, 2}, {1LL << 61, 1}, {(1LL << 61) + 8, 1}, {1LL << 62, 2}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const lam_vmap_options o = {.in_axes = LAM_AXES(LAM_UNMAPPED),
                                    .axis_size = rows[i].size,
                                    .chunk_size = rows[i].chunk,
                                    .randomness = LAM_RANDOMNESS_SAME};
        ck_assert(lam_failed(apply1(lam_vmap(FN(plus_one, 1, 1), &o), num(3))));
        EXPECT_ERROR(LAM_ERR_MEMORY, "bytes");
    }
    lam_tensor *wide = lam_broadcast_to(num(3), LAM_DIMS(1LL << 59));
    ck_assert(lam_failed(apply1(lam_jacfwd(FN(first_element, 1, 1), &(lam_jacobian_options){.chunk_size = 1}), wide)));
    EXPECT_ERROR(LAM_ERR_MEMORY, "bytes");
}
END_TEST

static lam_fn *deeper[2];

/* n + 1 choices in one another, each of which runs for some examples alone. */
BODY(chosen_again) {
    lam_tensor *n = lam_sub(in[0], 1.0);
    lam_cond(lam_gt(n, 0.0), deeper[0], deeper[1], LAM_LIST(n), out, 1);
}

START_TEST(choices_in_one_another_to_the_last_axis) {
    deeper[0] = FN(chosen_again, 1, 1);
    deeper[1] = FN(plus_one, 1, 1);
    lam_fn *f = lam_vmap(deeper[0], NULL);
    EXPECT(apply1(f, VEC(31, 2)), LAM_DIMS(2), 1, 1);
    ck_assert(lam_failed(apply1(f, VEC(32, 2))));
    EXPECT_ERROR(LAM_ERR_RANK, "vmap: 32 nested batches", "some examples only");
}
END_TEST

Suite *suite_transforms_vmap(void) {
    return SUITE_OF(
        "transforms/vmap", the_batch_axis_is_hidden_from_the_function, in_axes_per_input_negative_and_unmapped,
        out_axes_any_and_negative, a_constant_output_is_repeated, an_unmapped_output_must_not_be_batched,
        outputs_of_too_many_axes_are_refused, impossible_axes_are_refused_with_the_range,
        without_a_mapped_input_the_size_must_be_given, unequal_sizes_are_listed_by_argument, a_batch_of_none,
        chunks_equal_the_whole_and_may_leave_a_remainder, chunks_with_other_axes_and_unmapped_outputs,
        bad_options_are_refused, reading_a_batched_value_fails_with_advice, reading_an_unbatched_value_inside_works,
        nested_on_the_same_and_on_different_axes, a_batch_is_one_kernel_call, what_is_not_batched_stays_so,
        a_batched_value_is_written_into_a_tensor_made_inside, per_example_gradients, gradient_through_vmap,
        a_function_without_inputs, batches_in_one_another_to_the_last_axis, choices_in_one_another_to_the_last_axis,
        more_chunks_than_can_be_counted);
}
