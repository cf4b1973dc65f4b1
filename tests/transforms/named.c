/* Named axes: what collectives give inside vmap, and their derivatives. Values are worked out by hand from the batch as
 * a whole; gradients are those of the sum over all examples, as in jax.vmap with axis_name. */
#include "tests/support.h"

static lam_fn *over(const char *name, lam_fn *f) {
    return lam_vmap(f, &(lam_vmap_options){.axis_name = name});
}

/* All of them on one operand. */
BODY(collectives) {
    out[0] = lam_psum(in[0], "batch");
    out[1] = lam_pmean(in[0], "batch");
    out[2] = lam_pmax(in[0], "batch");
    out[3] = lam_pmin(in[0], "batch");
    out[4] = lam_all_gather(in[0], "batch");
    out[5] = lam_axis_index(ctx, "batch");
}

START_TEST(sum_mean_largest_smallest_all_and_index) {
    lam_tensor *y[6], *x = VEC(1, 5, 3, -1);
    lam_vmap_options o = {.axis_name = "batch",
                          .out_axes =
                              LAM_AXES(LAM_UNMAPPED, LAM_UNMAPPED, LAM_UNMAPPED, LAM_UNMAPPED, LAM_UNMAPPED, 0)};
    lam_call(lam_vmap(FN(collectives, 1, 6), &o), LAM_LIST(x), y, 6);
    double want[] = {8, 2, 5, -1};
    for (int i = 0; i < 4; i++) EXPECT_NUM(y[i], want[i]);
    EXPECT(y[4], LAM_DIMS(4), 1, 5, 3, -1);
    EXPECT(y[5], LAM_DIMS(4), 0, 1, 2, 3);
    ck_assert_int_eq(lam_dtype_of(y[5]), LAM_I64);
}
END_TEST

/* A tensor that is not batched counts once per example. */
BODY(of_shared) {
    lam_tensor *one = VEC(1, 2);
    out[0] = lam_add(lam_psum(one, "batch"), lam_mul(0.0, in[0]));
    out[1] = lam_add(lam_all_gather(num(7), "batch"), lam_mul(0.0, in[0]));
    ck_assert_int_eq(lam_axis_size(ctx, "batch"), 3);
}

START_TEST(what_is_the_same_for_all_counts_as_often_as_there_are_examples) {
    lam_tensor *y[2];
    lam_call(over("batch", FN(of_shared, 1, 2)), LAM_LIST(VEC(0, 0, 0)), y, 2);
    EXPECT(y[0], LAM_DIMS(3, 2), 3, 6, 3, 6, 3, 6);
    EXPECT(y[1], LAM_DIMS(3, 3), 7, 7, 7, 7, 7, 7, 7, 7, 7);
}
END_TEST

/* (x_i - mean)^2: d/dx_j of the sum over i is 2 (x_j - mean). */
BODY(deviation) {
    out[0] = lam_square(lam_sub(in[0], lam_pmean(in[0], "batch")));
}

BODY(total) {
    out[0] = lam_sum(apply1(over("batch", FN(deviation, 1, 1)), in[0]), NULL);
}

START_TEST(a_gradient_inside_is_that_of_the_sum_over_all_examples) {
    lam_tensor *x = VEC(1, 5, 3, -1);
    EXPECT(apply1(over("batch", lam_grad(FN(deviation, 1, 1), NULL)), x), LAM_DIMS(4), -2, 6, 2, -6);
    EXPECT(apply1(lam_grad(FN(total, 1, 1), NULL), x), LAM_DIMS(4), -2, 6, 2, -6);
    EXPECT(apply1(lam_jacrev(lam_grad(FN(total, 1, 1), NULL), NULL), VEC(1, 5)), LAM_DIMS(2, 2), 1, -1, -1, 1);
    EXPECT(apply1(lam_hessian(FN(total, 1, 1), NULL), VEC(1, 5)), LAM_DIMS(2, 2), 1, -1, -1, 1);
}
END_TEST

BODY(only_sum) {
    out[0] = lam_psum(in[0], "batch");
}

BODY(largest) {
    out[0] = lam_mul(in[0], lam_pmax(in[0], "batch"));
}

START_TEST(the_transpose_of_psum_is_psum) {
    EXPECT(apply1(over("batch", lam_grad(FN(only_sum, 1, 1), NULL)), VEC(1, 2, 3)), LAM_DIMS(3), 3, 3, 3);
    EXPECT(apply1(over("batch", lam_grad(FN(largest, 1, 1), NULL)), VEC(1, 4, 2)), LAM_DIMS(3), 4, 4 + 7, 4);
}
END_TEST

/* Forward mode: the tangents of all examples move at once. */
BODY(forwards) {
    lam_tensor *y;
    lam_jvp(FN(deviation, 1, 1), LAM_LIST(in[0]), LAM_LIST(in[1]), &y, &out[0], 1, NULL);
}

START_TEST(forward_mode_through_a_collective) {
    EXPECT(apply2(over("batch", FN(forwards, 2, 1)), VEC(1, 5), VEC(1, 0)), LAM_DIMS(2), -2, -2);
    lam_tensor *y, *x = VEC(1, 5, 3, -1);
    lam_fn *linear;
    lam_linearize(over("batch", FN(deviation, 1, 1)), LAM_LIST(x), &y, 1, &linear, NULL);
    EXPECT(apply1(linear, VEC(1, 0, 0, 0)), LAM_DIMS(4), -1.5, -1.5, -0.5, 1.5);
}
END_TEST

/* Linearised inside the batch: the program has the collective, and its transpose. */
BODY(linear_inside) {
    lam_tensor *y;
    lam_fn *linear;
    lam_linearize(FN(deviation, 1, 1), LAM_LIST(in[0]), &y, 1, &linear, NULL);
    out[0] = apply1(linear, in[1]);
    out[1] = apply1(lam_linear_transpose(linear, LAM_LIST(in[0])), in[1]);
}

START_TEST(linearize_and_transpose_inside_the_batch) {
    lam_tensor *y[2];
    lam_call(over("batch", FN(linear_inside, 2, 2)), LAM_LIST(VEC(1, 5), VEC(1, 0)), y, 2);
    EXPECT(y[0], LAM_DIMS(2), -2, -2);
    EXPECT(y[1], LAM_DIMS(2), -2, 2);
}
END_TEST

/* sum_j of w_j[i], of which each example has its w; its transpose is all_gather. */
BODY(scattered) {
    out[0] = lam_psum_scatter(lam_mul(in[0], in[0]), "batch");
}

START_TEST(psum_scatter_gives_each_example_its_part) {
    lam_tensor *x = MAT(3, 3, 1, 2, 3, 4, 5, 6, 7, 8, 9);
    EXPECT(apply1(over("batch", FN(scattered, 1, 1)), x), LAM_DIMS(3), 66, 93, 126);
    EXPECT(apply1(over("batch", lam_grad(FN(scattered, 1, 1), NULL)), x), LAM_DIMS(3, 3), 2, 4, 6, 8, 10, 12, 14, 16,
           18);
    apply1(over("batch", FN(scattered, 1, 1)), MAT(3, 2, 1, 2, 3, 4, 5, 6));
    EXPECT_ERROR(LAM_ERR_SHAPE, "psum_scatter", "3 elements");
}
END_TEST

BODY(both_scattered) {
    out[0] = lam_psum_scatter(in[0], "batch");
    out[1] = lam_psum_scatter(in[1], "batch");
}

/* Of [k, k] each of two examples gets its own of [2 k, 2 k], i64, whether the operand is batched or not, and recorded
 * or not. 200 + 200 would not fit into all of the types. */
START_TEST(psum_scatter_of_whole_numbers_is_i64) {
    const lam_vmap_options named = {.axis_name = "batch", .in_axes = LAM_AXES(0, LAM_UNMAPPED)};
    const lam_dtype dtypes[] = {LAM_BOOL, LAM_U8, LAM_I32, LAM_I64};
    lam_fn *f = lam_vmap(FN(both_scattered, 2, 2), &named), *fns[] = {f, lam_jit(f, NULL)};
    for (int k = 0; k < 8; k++) {
        const double each = k / 2 ? 200 : 1;
        lam_tensor *one = lam_full(ctx, dtypes[k / 2], LAM_DIMS(2), each), *y[2];
        lam_call(fns[k % 2], LAM_LIST(lam_stack(LAM_LIST(one, one), 0), one), y, 2);
        for (int o = 0; o < 2; o++) {
            EXPECT(lam_cast(y[o], LAM_F64), LAM_DIMS(2), 2 * each, 2 * each);
            ck_assert_int_eq(lam_dtype_of(y[o]), LAM_I64);
        }
    }
}
END_TEST

/* Each but the last sends to the next. */
/* A matrix whose rows the examples have is turned: parts[j] of example i is parts[i] of example j. */
BODY(exchanged) {
    out[0] = lam_all_to_all(lam_mul(in[0], in[0]), 0, -1, "batch");
}

BODY(exchanged_last) {
    out[0] = lam_all_to_all(in[0], -1, 0, "batch");
}

START_TEST(all_to_all_turns_the_batch) {
    lam_tensor *x = MAT(3, 3, 1, 2, 3, 4, 5, 6, 7, 8, 9), *w = MAT(3, 3, 1, 0, 0, 2, 0, 0, 3, 0, 1);
    lam_fn *f = over("batch", FN(exchanged, 1, 1)), *pullback;
    EXPECT(apply1(f, x), LAM_DIMS(3, 3), 1, 16, 49, 4, 25, 64, 9, 36, 81);
    lam_tensor *y;
    lam_vjp(f, LAM_LIST(x), &y, 1, &pullback, NULL);
    EXPECT(apply1(pullback, w), LAM_DIMS(3, 3), 2, 8, 18, 0, 0, 0, 0, 0, 18);
    ck_assert_int_eq(lam_check_grads(f, LAM_LIST(x), &(lam_check_grads_options){.order = 2}), LAM_OK);
    lam_tensor *deep = lam_reshape(lam_arange(ctx, LAM_F64, 0, 12, 1), LAM_DIMS(2, 3, 2)); /* [example, item, part] */
    EXPECT(apply1(over("batch", FN(exchanged_last, 1, 1)), deep), LAM_DIMS(2, 2, 3), 0, 2, 4, 6, 8, 10, 1, 3, 5, 7, 9,
           11);
    apply1(over("batch", FN(exchanged, 1, 1)), MAT(3, 2, 1, 2, 3, 4, 5, 6));
    EXPECT_ERROR(LAM_ERR_SHAPE, "all_to_all", "3 elements");
    apply1(over("batch", FN(exchanged_last, 1, 1)), VEC(1, 2));
    EXPECT_ERROR(LAM_ERR_AXIS, "all_to_all");
    lam_all_to_all(num(1), 0, 0, "batch");
    EXPECT_ERROR(LAM_ERR_OPTION, "all_to_all");
}
END_TEST

static const lam_route onwards[] = {{0, 1}, {1, 2}, {2, 3}};

BODY(next) {
    out[0] = lam_mul(lam_ppermute(in[0], onwards, 3, "batch"), in[1]);
}

BODY(turned) {
    out[0] = lam_ppermute(in[0], (lam_route[]){{0, 1}, {1, 0}}, 2, "batch");
}

START_TEST(ppermute_sends_and_its_gradient_goes_back) {
    lam_tensor *x = VEC(1, 2, 3, 4), *w = VEC(10, 20, 30, 40);
    EXPECT(apply2(over("batch", FN(next, 2, 1)), x, w), LAM_DIMS(4), 0, 20, 60, 120);
    EXPECT(apply2(over("batch", lam_grad(FN(next, 2, 1), NULL)), x, w), LAM_DIMS(4), 20, 30, 40, 0);
    EXPECT(apply1(over("batch", FN(turned, 1, 1)), MAT(2, 2, 1, 2, 3, 4)), LAM_DIMS(2, 2), 3, 4, 1, 2);
}
END_TEST

BODY(bad_route) {
    static const lam_route bad[][2] = {{{0, 1}, {0, 2}}, {{0, 1}, {2, 1}}, {{0, 3}, {1, 1}}, {{-1, 0}, {1, 1}}};
    out[0] = lam_ppermute(in[0], bad[*(int *)env], 2, "batch");
}

START_TEST(routes_that_cannot_be) {
    for (int i = 0; i < 4; i++) {
        apply1(over("batch", FN_ENV(bad_route, 1, 1, &i)), VEC(1, 2, 3));
        if (i < 2) EXPECT_ERROR(LAM_ERR_VALUE, "ppermute: route 1", "twice");
        else EXPECT_ERROR(LAM_ERR_INDEX, "ppermute: route 0", "3 examples");
    }
}
END_TEST

/* x_ij minus the mean over j, over i, over both. */
BODY(of_two_axes) {
    lam_tensor *rows = lam_psum(in[0], "rows"), *columns = lam_psum(in[0], "columns");
    out[0] = lam_stack(LAM_LIST(rows, columns, lam_psum(rows, "columns"), lam_psum(columns, "rows")), 0);
    out[1] = lam_add(lam_mul(10, lam_axis_index(ctx, "rows")), lam_axis_index(ctx, "columns"));
}

START_TEST(nested_names) {
    lam_tensor *y[2], *x = MAT(2, 3, 1, 2, 3, 4, 5, 6);
    lam_call(over("rows", over("columns", FN(of_two_axes, 1, 2))), LAM_LIST(x), y, 2);
    EXPECT(y[0], LAM_DIMS(2, 3, 4), 5, 6, 21, 21, 7, 6, 21, 21, 9, 6, 21, 21, /**/ 5, 15, 21, 21, 7, 15, 21, 21, 9, 15,
           21, 21);
    EXPECT(y[1], LAM_DIMS(2, 3), 0, 1, 2, 10, 11, 12);
}
END_TEST

START_TEST(of_one_name_the_innermost_is_meant) {
    lam_tensor *x = MAT(2, 3, 1, 2, 3, 4, 5, 6);
    EXPECT(apply1(over("batch", over("batch", FN(only_sum, 1, 1))), x), LAM_DIMS(2, 3), 6, 6, 6, 15, 15, 15);
    lam_fn *f = over("batch", lam_vmap(FN(only_sum, 1, 1), NULL));
    EXPECT(apply1(f, x), LAM_DIMS(2, 3), 5, 7, 9, 5, 7, 9);
    EXPECT(apply1(over("batch", lam_vmap(lam_grad(FN(largest, 1, 1), NULL), NULL)), x), LAM_DIMS(2, 3), 4, 5, 6, 9, 12,
           15);
}
END_TEST

START_TEST(a_batch_of_none_and_of_one) {
    EXPECT_EMPTY(apply1(over("batch", FN(deviation, 1, 1)), lam_zeros(ctx, LAM_F64, LAM_DIMS(0))), LAM_DIMS(0));
    EXPECT(apply1(over("batch", FN(deviation, 1, 1)), VEC(3)), LAM_DIMS(1), 0);
    lam_fn *none = over("batch", FN(only_sum, 1, 1));
    EXPECT_EMPTY(apply1(none, lam_zeros(ctx, LAM_F64, LAM_DIMS(0, 2))), LAM_DIMS(0, 2));
}
END_TEST

START_TEST(collectives_in_a_checkpoint) {
    lam_tensor *x = VEC(1, 5, 3, -1);
    lam_fn *kept = lam_checkpoint(FN(deviation, 1, 1), NULL);
    EXPECT(apply1(over("batch", kept), x), LAM_DIMS(4), 1, 9, 1, 9);
    EXPECT(apply1(over("batch", lam_grad(kept, NULL)), x), LAM_DIMS(4), -2, 6, 2, -6);
}
END_TEST

/* x pmean(x) with a rule that says 10 g psum(x): not its derivative, so that the value shows that it ran. */
static void custom_forward(lam_fctx *fc, lam_tensor *const in[], lam_tensor *out[]) {
    (void)fc;
    out[0] = lam_mul(in[0], lam_pmean(in[0], "batch"));
}

static void custom_setup(lam_fctx *fc, lam_tensor *const in[], lam_tensor *const out[]) {
    (void)out;
    lam_fctx_save_for_backward(fc, LAM_LIST(in[0]));
}

static void custom_backward(lam_fctx *fc, lam_tensor *const g[], lam_tensor *gx[]) {
    gx[0] = lam_mul(lam_mul(10.0, g[0]), lam_psum(lam_fctx_saved(fc, 0), "batch"));
}

static const lam_function custom = {.name = "custom",
                                    .inputs = 1,
                                    .outputs = 1,
                                    .forward = custom_forward,
                                    .setup_context = custom_setup,
                                    .backward = custom_backward,
                                    .generate_vmap_rule = true};

BODY(custom_total) {
    lam_fn *f = lam_function_fn(ctx, &custom, NULL, 1, 1);
    out[0] = lam_sum(apply1(over("batch", f), in[0]), NULL);
}

START_TEST(collectives_in_rules_of_custom_functions) {
    lam_fn *f = lam_function_fn(ctx, &custom, NULL, 1, 1);
    lam_tensor *x = VEC(1, 5, 3, -1);
    EXPECT(apply1(over("batch", f), x), LAM_DIMS(4), 2, 10, 6, -2);
    EXPECT(apply1(over("batch", lam_grad(f, NULL)), x), LAM_DIMS(4), 80, 80, 80, 80);
    EXPECT(apply1(lam_grad(FN(custom_total, 1, 1), NULL), x), LAM_DIMS(4), 80, 80, 80, 80);
}
END_TEST

/* x (i + 1) for example i of the inner batch, though x belongs to no batch but outer ones. */
BODY(by_place) {
    out[0] = lam_mul(in[0], lam_add(lam_cast(lam_axis_index(ctx, "i"), LAM_F64), 1.0));
}

static void forward_by_place(lam_fctx *fc, lam_tensor *const in[], lam_tensor *out[]) {
    by_place(lam_fctx_ctx(fc), in, out, NULL);
}

static void backward_by_place(lam_fctx *fc, lam_tensor *const g[], lam_tensor *gx[]) {
    lam_tensor *x[1] = {g[0]};
    by_place(lam_fctx_ctx(fc), x, gx, NULL);
}

static void setup_nothing(lam_fctx *fc, lam_tensor *const in[], lam_tensor *const out[]) {
    (void)fc, (void)in, (void)out;
}

/* in[0] for all examples; env: what is called for each. */
BODY(at_places_of) {
    (void)ctx;
    out[0] = lam_mul(in[1], lam_apply(env, LAM_LIST(in[0])));
}

BODY(of_three_places) {
    lam_fn *each = lam_fn_new(ctx, &(lam_fn_options){.body = at_places_of, .inputs = 2, .outputs = 1, .env = env});
    const lam_vmap_options o = {.axis_name = "i", .in_axes = LAM_AXES(LAM_UNMAPPED, 0)};
    out[0] = lam_apply(lam_vmap(each, &o), LAM_LIST(in[0], lam_ones(ctx, LAM_F64, LAM_DIMS(3))));
}

BODY(sum_of_places) {
    of_three_places(ctx, in, out, env);
    out[0] = lam_sum(out[0], NULL);
}

/* The sum over two batches, of which env is the inner one; both have the same name. */
BODY(sum_of_two_batches) {
    (void)ctx;
    out[0] = lam_sum(apply1(over("i", env), in[0]), NULL);
}

BODY(rule_by_place) {
    by_place(ctx, in, out, NULL);
    by_place(ctx, in + 1, out + 1, NULL);
}

/* The residual is what the way back is by. */
BODY(there_by_place) {
    by_place(ctx, in, out, NULL);
    out[1] = num(0);
}

BODY(back_by_place) {
    by_place(ctx, in + 1, out, NULL);
}

/* User code that runs for a level below a batch finds the axis of it, also where an outer batch has the same name. */
START_TEST(axes_of_batches_that_no_operand_belongs_to) {
    static const lam_function place = {.name = "place",
                                       .inputs = 1,
                                       .outputs = 1,
                                       .forward = forward_by_place,
                                       .setup_context = setup_nothing,
                                       .backward = backward_by_place,
                                       .generate_vmap_rule = true};
    lam_fn *plain = FN(by_place, 1, 1);
    lam_fn *kinds[] = {plain, lam_checkpoint(plain, NULL), lam_function_fn(ctx, &place, NULL, 1, 1),
                       lam_custom_jvp(plain, FN(rule_by_place, 2, 2), NULL),
                       lam_custom_vjp(plain, FN(there_by_place, 1, 2), FN(back_by_place, 2, 1), NULL)};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        lam_fn_options o = {.body = of_three_places, .inputs = 1, .outputs = 1, .env = kinds[k]};
        lam_fn *places = lam_fn_new(ctx, &o);
        o.body = sum_of_places;
        lam_fn *slope = lam_grad(lam_fn_new(ctx, &o), NULL);
        EXPECT(apply1(places, num(10)), LAM_DIMS(3), 10, 20, 30);
        EXPECT(apply1(slope, num(10)), LAM_DIMS0, 6);
        EXPECT(apply1(lam_jacfwd(places, NULL), num(10)), LAM_DIMS(3), 1, 2, 3);
        for (int same = 0; same < 2; same++) {
            const char *name = same ? "i" : "j";
            EXPECT(apply1(over(name, places), VEC(10, 100)), LAM_DIMS(2, 3), 10, 20, 30, 100, 200, 300);
            EXPECT(apply1(over(name, slope), VEC(10, 100)), LAM_DIMS(2), 6, 6);
        }
        lam_fn *both = FN_ENV(sum_of_two_batches, 1, 1, places);
        EXPECT(apply1(lam_grad(both, NULL), VEC(10, 100)), LAM_DIMS(2), 6, 6);
        EXPECT(apply1(lam_jacfwd(both, NULL), VEC(10, 100)), LAM_DIMS(2), 6, 6);
    }
}
END_TEST

/* The pullback of one example, called when the batch has ended. */
static lam_fn *kept_pullback;

BODY(escaping) {
    lam_vjp(FN(only_sum, 1, 1), LAM_LIST(num(1)), out, 1, &kept_pullback, NULL);
    lam_fn_hold(kept_pullback);
    out[0] = lam_add(out[0], in[0]);
}

START_TEST(a_collective_whose_batch_has_ended) {
    EXPECT(apply1(over("batch", FN(escaping, 1, 1)), VEC(1, 2)), LAM_DIMS(2), 3, 4);
    apply1(kept_pullback, num(1));
    EXPECT_ERROR(LAM_ERR_ESCAPED, "has ended");
    lam_fn_release(kept_pullback);
}
END_TEST

/* ---- refusals ---------------------------------------------------------------------------------------------------- */

BODY(minus) {
    out[0] = lam_neg(in[0]);
}

BODY(sum_of_some) {
    lam_cond(lam_gt(in[0], 0.0), FN(only_sum, 1, 1), FN(minus, 1, 1), LAM_LIST(in[0]), out, 1);
}

BODY(sum_of_all) {
    lam_cond(num(1), FN(only_sum, 1, 1), FN(minus, 1, 1), LAM_LIST(in[0]), out, 1);
}

START_TEST(a_collective_for_some_examples_alone_is_refused) {
    EXPECT(apply1(over("batch", FN(sum_of_all, 1, 1)), VEC(1, -2)), LAM_DIMS(2), -1, -1);
    apply1(over("batch", FN(sum_of_some, 1, 1)), VEC(1, -2));
    EXPECT_ERROR(LAM_ERR_OPTION, "psum", "axis 'batch'", "some examples");
}
END_TEST

START_TEST(names_that_are_not_there) {
    apply1(FN(only_sum, 1, 1), num(1));
    EXPECT_ERROR(LAM_ERR_OPTION, "psum", "no vmap here has an axis 'batch'", "none");
    apply1(over("rows", FN(only_sum, 1, 1)), VEC(1, 2));
    EXPECT_ERROR(LAM_ERR_OPTION, "psum", "'batch'", "there is 'rows'");
    ck_assert_int_eq(lam_axis_size(ctx, "batch"), -1);
    EXPECT_ERROR(LAM_ERR_OPTION, "axis_size");
    lam_axis_index(ctx, "batch");
    EXPECT_ERROR(LAM_ERR_OPTION, "axis_index");
    ck_assert(lam_failed(lam_axis_index(NULL, "batch")));
    ck_assert_int_eq(lam_axis_size(NULL, "batch"), -1);
    lam_psum(num(1), NULL);
    EXPECT_ERROR(LAM_ERR_NULL, "psum");
    lam_ppermute(num(1), onwards, 3, "batch");
    EXPECT_ERROR(LAM_ERR_OPTION, "ppermute");
}
END_TEST

START_TEST(chunks_have_not_the_whole_batch) {
    apply1(lam_vmap(FN(only_sum, 1, 1), &(lam_vmap_options){.axis_name = "batch", .chunk_size = 2}), VEC(1, 2, 3));
    EXPECT_ERROR(LAM_ERR_OPTION, "psum", "chunk");
}
END_TEST

Suite *suite_transforms_named(void) {
    return SUITE_OF("transforms/named", sum_mean_largest_smallest_all_and_index,
                    what_is_the_same_for_all_counts_as_often_as_there_are_examples,
                    a_gradient_inside_is_that_of_the_sum_over_all_examples, the_transpose_of_psum_is_psum,
                    forward_mode_through_a_collective, linearize_and_transpose_inside_the_batch,
                    psum_scatter_gives_each_example_its_part, psum_scatter_of_whole_numbers_is_i64,
                    all_to_all_turns_the_batch, ppermute_sends_and_its_gradient_goes_back, routes_that_cannot_be,
                    nested_names, of_one_name_the_innermost_is_meant, a_batch_of_none_and_of_one,
                    collectives_in_a_checkpoint, collectives_in_rules_of_custom_functions,
                    axes_of_batches_that_no_operand_belongs_to, a_collective_whose_batch_has_ended,
                    a_collective_for_some_examples_alone_is_refused, names_that_are_not_there,
                    chunks_have_not_the_whole_batch);
}
