/* What is made of reductions and of indexing without a row of its own: statistics, norms, softmax, put, one_hot, taking
 * with fill and along an axis. Values are those of plain loops or of a few numbers worked out by hand; derivatives are
 * compared with differences to the second order; vmap, at one and at two levels, with one call per example. */
#include "tests/support.h"

enum { ROWS = 3, COLUMNS = 4, COUNT = ROWS * COLUMNS };

static const double sample[COUNT] = {0.3, -1.2, 2.5, 0.8, 1.1, 0.4, -0.7, 1.9, -2.1, 0.6, 1.4, -0.2};

static lam_tensor *matrix(void) {
    return lam_array(ctx, LAM_F64, LAM_DIMS(ROWS, COLUMNS), sample);
}

static lam_tensor *whole(lam_dtype dtype, lam_dims dims, const int64_t *x) {
    return lam_cast(lam_array(ctx, LAM_I64, dims, x), dtype);
}
#define WHOLE(dims, ...) whole(LAM_I64, dims, (int64_t[]){__VA_ARGS__})

/* ---- derivatives and batches of all of them ---------------------------------------------------------------------- */

BODY(mean_of_rows) {
    out[0] = lam_mean(in[0], &(lam_reduce_options){.axes = LAM_AXES(1)});
}

BODY(var_of_columns) {
    out[0] = lam_var(in[0], &(lam_var_options){.axes = LAM_AXES(0), .ddof = 1, .keepdims = true});
}

BODY(std_of_all) {
    out[0] = lam_std(in[0], NULL);
}

BODY(norm_of_rows) {
    out[0] = lam_norm(in[0], &(lam_norm_options){.axes = LAM_AXES(-1)});
}

BODY(norm_of_order_3) {
    out[0] = lam_norm(in[0], &(lam_norm_options){.order = 3, .axes = LAM_AXES(0)});
}

BODY(softmax_of_columns) {
    out[0] = lam_softmax(in[0], 0);
}

BODY(log_softmax_of_rows) {
    out[0] = lam_log_softmax(in[0], -1);
}

/* The second of the equal indices stays, so the first update counts for nothing. */
BODY(put_in_columns) {
    lam_tensor *updates = lam_sin(lam_slice_axis(in[0], 1, 0, 3));
    out[0] = lam_put(lam_square(in[0]), WHOLE(LAM_DIMS(3), 2, 0, 2), updates, 1);
}

BODY(taken_or_filled) {
    lam_tensor *taken = lam_take_mode(lam_exp(in[0]), WHOLE(LAM_DIMS(2, 2), 1, 7, -1, -9), 0, LAM_INDEX_FILL);
    out[0] = lam_where(lam_is_nan(taken), 0.0, taken);
}

BODY(taken_along_rows) {
    out[0] = lam_take_along_axis(lam_square(in[0]), WHOLE(LAM_DIMS(3, 2), 0, 0, 3, -1, 1, 2), 1);
}

BODY(recurrence_of_itself) {
    out[0] = lam_linear_recurrence(in[0], lam_cos(in[0]), 1, true);
}

static const lam_body bodies[] = {
    mean_of_rows,        var_of_columns, std_of_all,      norm_of_rows,     norm_of_order_3,      softmax_of_columns,
    log_softmax_of_rows, put_in_columns, taken_or_filled, taken_along_rows, recurrence_of_itself,
};

START_TEST(derivatives_agree_with_differences) {
    lam_fn *f = FN(bodies[_i], 1, 1);
    ck_assert_msg(lam_check_grads(f, LAM_LIST(matrix()), &(lam_check_grads_options){.order = 2}) == LAM_OK,
                  "body %d: %s", _i, lam_error(ctx));
}
END_TEST

/* f of each part along axis 0 of the inputs, stacked. */
static lam_tensor *by_loop(lam_fn *f, lam_list in) {
    lam_tensor *parts[8], *each[3];
    int64_t n = lam_dim(in.items[0], 0);
    for (int64_t i = 0; i < n; i++) {
        for (size_t k = 0; k < in.count; k++) each[k] = lam_index(in.items[k], 0, i);
        parts[i] = lam_apply(f, (lam_list){in.count, each});
    }
    return lam_stack((lam_list){(size_t)n, parts}, 0);
}

static lam_tensor *examples(lam_dims batch) {
    lam_tensor *scale = lam_add(lam_mul(lam_iota(ctx, LAM_F64, batch, 0), 0.7), lam_iota(ctx, LAM_F64, batch, -1));
    lam_tensor *x = matrix();
    for (int i = 0; i < batch.rank; i++) x = lam_expand_dims(x, 0);
    for (int i = 0; i < 2; i++) scale = lam_expand_dims(scale, -1);
    return lam_add(lam_mul(x, lam_add(scale, 1.0)), lam_sin(scale));
}

START_TEST(vmap_equals_the_loop_at_two_levels) {
    lam_fn *f = FN(bodies[_i], 1, 1), *mapped = lam_vmap(f, NULL);
    lam_tensor *x = examples(LAM_DIMS(3)), *y = examples(LAM_DIMS(2, 3));
    EXPECT_SAME(apply1(mapped, x), by_loop(f, LAM_LIST(x)), 1e-14);
    EXPECT_SAME(apply1(lam_vmap(mapped, NULL), y), by_loop(mapped, LAM_LIST(y)), 1e-14);
}
END_TEST

/* ---- values: statistics ------------------------------------------------------------------------------------------ */

START_TEST(mean_and_variance_are_those_of_loops) {
    double mean[COLUMNS] = {0}, var[COLUMNS] = {0}, all = 0;
    for (int i = 0; i < COUNT; i++) mean[i % COLUMNS] += sample[i] / ROWS;
    for (int i = 0; i < COUNT; i++) var[i % COLUMNS] += pow(sample[i] - mean[i % COLUMNS], 2) / (ROWS - 1);
    for (int i = 0; i < COUNT; i++) all += sample[i] / COUNT;
    const lam_reduce_options over = {LAM_AXES(0), true};
    lam_tensor *x = matrix(), *narrow = lam_cast(x, LAM_F32);
    EXPECT_NEAR(lam_mean(x, NULL), 1e-14, LAM_DIMS0, all);
    EXPECT_SAME(lam_mean(narrow, &over), lam_div(lam_sum(narrow, &over), ROWS), 0);
    expect_values(__LINE__, lam_mean(x, &over), 1e-14, LAM_DIMS(1, COLUMNS), mean, COLUMNS);
    lam_var_options columns = {.axes = LAM_AXES(0), .ddof = 1};
    expect_values(__LINE__, lam_var(x, &columns), 1e-14, LAM_DIMS(COLUMNS), var, COLUMNS);
    EXPECT_SAME(lam_square(lam_std(x, &columns)), lam_var(x, &columns), 1e-14);
    EXPECT_NUM(lam_mean(WHOLE(LAM_DIMS(2), 1, 2), NULL), 1.5);
    EXPECT_NUM(lam_var(WHOLE(LAM_DIMS(4), 1, 2, 3, 4), NULL), 1.25);
    EXPECT_NUM(lam_var(VEC(3), &(lam_var_options){.ddof = 1}), NAN);
    EXPECT_NUM(lam_mean(lam_zeros(ctx, LAM_F64, LAM_DIMS(0)), NULL), NAN);
    ck_assert_int_eq(lam_dtype_of(lam_std(lam_cast(x, LAM_F32), NULL)), LAM_F32);
}
END_TEST

START_TEST(norms_of_a_known_vector) {
    lam_tensor *x = VEC(3, -4, 12);
    EXPECT_NUM(lam_norm(x, NULL), 13);
    EXPECT_NUM(lam_norm(x, &(lam_norm_options){.order = 1}), 19);
    EXPECT_NUM(lam_norm(x, &(lam_norm_options){.order = INFINITY}), 12);
    EXPECT_NUM(lam_norm(x, &(lam_norm_options){.order = -INFINITY}), 3);
    lam_tensor *none = lam_zeros(ctx, LAM_F64, LAM_DIMS(2, 0));
    EXPECT(lam_norm(none, &(lam_norm_options){.axes = LAM_AXES(1), .order = INFINITY}), LAM_DIMS(2), 0, 0);
    EXPECT_NEAR(lam_norm(VEC(1, -2, 2, 0), &(lam_norm_options){.order = 3}), 1e-15, LAM_DIMS0, cbrt(17));
    EXPECT(lam_norm(MAT(2, 2, 3, 4, 0, 0), &(lam_norm_options){.axes = LAM_AXES(1), .keepdims = true}), LAM_DIMS(2, 1),
           5, 0);
    lam_norm(x, &(lam_norm_options){.order = NAN});
    EXPECT_ERROR(LAM_ERR_OPTION, "norm", "nan");
    lam_norm(x, &(lam_norm_options){.axes = LAM_AXES(1)});
    EXPECT_ERROR(LAM_ERR_AXIS, "norm");
}
END_TEST

/* The largest element decides which exponentials are in range, not the result. */
START_TEST(softmax_does_not_depend_on_where_the_row_lies) {
    double e = exp(1), sum = 1 + e + e * e;
    lam_tensor *x = VEC(0, 1, 2), *far = lam_add(x, 4096.0);
    EXPECT_NEAR(lam_softmax(x, 0), 1e-15, LAM_DIMS(3), 1 / sum, e / sum, e * e / sum);
    EXPECT_SAME(lam_softmax(far, 0), lam_softmax(x, 0), 0);
    EXPECT_SAME(lam_log_softmax(far, 0), lam_log_softmax(x, 0), 0);
    EXPECT(lam_log_softmax(VEC(0, 5000), 0), LAM_DIMS(2), -5000, 0);
    EXPECT(lam_softmax(VEC(-INFINITY, 7), 0), LAM_DIMS(2), 0, 1);
    EXPECT_EMPTY(lam_softmax(lam_zeros(ctx, LAM_F64, LAM_DIMS(0, 3)), 1), LAM_DIMS(0, 3));
    lam_softmax(x, 1);
    EXPECT_ERROR(LAM_ERR_AXIS, "softmax");
    lam_log_softmax(x, -2);
    EXPECT_ERROR(LAM_ERR_AXIS, "log_softmax");
}
END_TEST

/* ---- values: indexing -------------------------------------------------------------------------------------------- */

START_TEST(put_keeps_the_last_of_equal_indices) {
    lam_tensor *x = VEC(10, 20, 30, 40);
    EXPECT(lam_put(x, WHOLE(LAM_DIMS(3), 1, -1, 1), VEC(1, 2, 3), 0), LAM_DIMS(4), 10, 3, 30, 2);
    EXPECT(lam_put(x, WHOLE(LAM_DIMS(2, 1), 0, 2), num(7), 0), LAM_DIMS(4), 7, 20, 7, 40);
    EXPECT(lam_put(MAT(2, 2, 1, 2, 3, 4), WHOLE(LAM_DIMS(1), 0), MAT(2, 1, 8, 9), 1), LAM_DIMS(2, 2), 8, 2, 9, 4);
    EXPECT(lam_put(x, whole(LAM_U8, LAM_DIMS(1), (int64_t[]){3}), VEC(0), 0), LAM_DIMS(4), 10, 20, 30, 0);
    EXPECT_SAME(lam_put(x, lam_zeros(ctx, LAM_I64, LAM_DIMS(0)), lam_zeros(ctx, LAM_F64, LAM_DIMS(0)), 0), x, 0);
    lam_put(x, WHOLE(LAM_DIMS(1), 4), VEC(1), 0);
    EXPECT_ERROR(LAM_ERR_INDEX, "4", "[-4, 4)");
    lam_put(x, WHOLE(LAM_DIMS(1), 0), VEC(1), 1);
    EXPECT_STATUS(LAM_ERR_AXIS);
}
END_TEST

START_TEST(one_hot_marks_each_index) {
    EXPECT(lam_one_hot(WHOLE(LAM_DIMS(3), 2, 0, 5), 3, LAM_F64), LAM_DIMS(3, 3), 0, 0, 1, 1, 0, 0, 0, 0, 0);
    EXPECT(lam_one_hot(WHOLE(LAM_DIMS0, 1), 2, LAM_BOOL), LAM_DIMS(2), 0, 1);
    EXPECT_EMPTY(lam_one_hot(WHOLE(LAM_DIMS(2), 0, 1), 0, LAM_F32), LAM_DIMS(2, 0));
    lam_one_hot(VEC(1), 2, LAM_F64);
    EXPECT_ERROR(LAM_ERR_DTYPE, "one_hot");
    lam_one_hot(WHOLE(LAM_DIMS(1), 0), -2, LAM_F64);
    EXPECT_ERROR(LAM_ERR_VALUE, "one_hot", "-2");
    lam_tensor *freed = WHOLE(LAM_DIMS(1), 0);
    lam_drop(freed);
    lam_one_hot(freed, 2, LAM_F64);
    EXPECT_ERROR(LAM_ERR_FREED, "one_hot");
}
END_TEST

START_TEST(fill_gives_nan_to_floats_and_0_to_integers) {
    lam_tensor *at = WHOLE(LAM_DIMS(4), 1, 2, -2, -3), *narrow = lam_cast(at, LAM_I32);
    EXPECT(lam_take_mode(VEC(5, 6), at, 0, LAM_INDEX_FILL), LAM_DIMS(4), 6, NAN, 5, NAN);
    EXPECT(lam_take_mode(VEC(5, 6), narrow, 0, LAM_INDEX_FILL), LAM_DIMS(4), 6, NAN, 5, NAN);
    /* As JAX documents jax.numpy.take. */
    lam_tensor *two = WHOLE(LAM_DIMS(2), 5, 6);
    EXPECT(lam_take_mode(two, at, 0, LAM_INDEX_FILL), LAM_DIMS(4), 6, -0x1p63, 5, -0x1p63);
    EXPECT(lam_take_mode(lam_cast(two, LAM_I32), at, 0, LAM_INDEX_FILL), LAM_DIMS(4), 6, -0x1p31, 5, -0x1p31);
    EXPECT(lam_take_mode(lam_cast(two, LAM_U8), at, 0, LAM_INDEX_FILL), LAM_DIMS(4), 6, 255, 5, 255);
    EXPECT(lam_take_mode(lam_eq(two, 9), at, 0, LAM_INDEX_FILL), LAM_DIMS(4), 0, 1, 0, 1);
    EXPECT(lam_take_mode(MAT(1, 2, 5, 6), WHOLE(LAM_DIMS(2), 0, 1), 0, LAM_INDEX_FILL), LAM_DIMS(2, 2), 5, 6, NAN, NAN);
    lam_take(VEC(5, 6), at, 0);
    EXPECT_ERROR(LAM_ERR_INDEX, "take", "2", "[-2, 2)");
    EXPECT(lam_take_mode(VEC(5, 6), at, 0, LAM_INDEX_CLIP), LAM_DIMS(4), 6, 6, 5, 5);
}
END_TEST

typedef struct by_mode {
    lam_tensor *(*update)(lam_tensor *x, lam_tensor *indices, lam_tensor *updates, int axis, lam_index_mode mode);
    lam_index_mode mode;
} by_mode;

/* Updates where there is nothing, or what is taken there. */
BODY(where_nothing_is) {
    const by_mode *how = env;
    lam_tensor *at = WHOLE(LAM_DIMS(2), 0, 5);
    out[0] = how->update ? lam_sum(how->update(lam_zeros(here, LAM_F64, LAM_DIMS(0)), at, in[0], 0, how->mode), NULL)
                         : lam_take_mode(in[0], at, 0, how->mode);
}

/* An axis without elements has no nearest one: what is left out has the derivative 0, and NaN is a constant. */
START_TEST(clipping_is_filling_where_there_is_no_element) {
    static by_mode updates[] = {
        {lam_scatter_add_mode, LAM_INDEX_CLIP}, {lam_scatter_mul, LAM_INDEX_CLIP}, {lam_put_mode, LAM_INDEX_CLIP}};
    static by_mode taking = {NULL, LAM_INDEX_CLIP};
    lam_tensor *none = lam_zeros(ctx, LAM_F64, LAM_DIMS(0)), *bytes = lam_cast(none, LAM_U8), *y, *dy;
    for (int k = 0; k < 3; k++)
        EXPECT(apply1(lam_grad(FN_ENV(where_nothing_is, 1, 1, &updates[k]), NULL), VEC(1, 2)), LAM_DIMS(2), 0, 0);
    lam_fn *f = FN_ENV(where_nothing_is, 1, 1, &taking);
    ck_assert_int_eq(lam_jvp(f, LAM_LIST(none), LAM_LIST(none), &y, &dy, 1, NULL), LAM_OK);
    EXPECT(y, LAM_DIMS(2), NAN, NAN);
    EXPECT(dy, LAM_DIMS(2), 0, 0);
    EXPECT(lam_take_mode(bytes, WHOLE(LAM_DIMS(1), 0), 0, LAM_INDEX_CLIP), LAM_DIMS(1), 255);
}
END_TEST

/* numpy and jax.numpy: x[None, 0, ..., 1, [1, 0]] of x[4, 2, 2] is [2, 1], and x[None, 0, 1, [1, 0]] is [1, 2]. */
START_TEST(a_rest_of_no_axes_parts_what_it_stands_between) {
    lam_tensor *x = lam_reshape(lam_arange(ctx, LAM_F64, 0, 16, 1), LAM_DIMS(4, 2, 2)), *i = WHOLE(LAM_DIMS(2), 1, 0);
    EXPECT(lam_at_get(x, LAM_AT(LAM_NEW_AXIS, LAM_ELEMENT(0), LAM_REST, LAM_ELEMENT(1), LAM_TENSOR(i))), LAM_DIMS(2, 1),
           3, 2);
    EXPECT(lam_at_get(x, LAM_AT(LAM_NEW_AXIS, LAM_ELEMENT(0), LAM_ELEMENT(1), LAM_TENSOR(i))), LAM_DIMS(1, 2), 3, 2);
    EXPECT(lam_at_get(x, LAM_AT(LAM_ALL, LAM_TENSOR(i), LAM_REST, LAM_TENSOR(i))), LAM_DIMS(2, 4), 3, 7, 11, 15, 0, 4,
           8, 12);
    EXPECT(lam_at_get(x, LAM_AT(LAM_ALL, LAM_TENSOR(i), LAM_TENSOR(i), LAM_REST)), LAM_DIMS(4, 2), 3, 0, 7, 4, 11, 8,
           15, 12);
    lam_tensor *rows =
        lam_at_add(x, LAM_AT(LAM_ALL, LAM_TENSOR(i), LAM_REST, LAM_TENSOR(i)), MAT(2, 4, 1, 2, 3, 4, 5, 6, 7, 8));
    EXPECT(lam_reshape(lam_sub(rows, x), LAM_DIMS(4, 4)), LAM_DIMS(4, 4), 5, 0, 0, 1, 6, 0, 0, 2, 7, 0, 0, 3, 8, 0, 0,
           4);
    EXPECT_OK();
}
END_TEST

START_TEST(take_along_axis_broadcasts_the_other_axes) {
    lam_tensor *x = MAT(2, 3, 1, 2, 3, 4, 5, 6);
    EXPECT(lam_take_along_axis(x, WHOLE(LAM_DIMS(2, 1), 2, 0), 1), LAM_DIMS(2, 1), 3, 4);
    EXPECT(lam_take_along_axis(x, WHOLE(LAM_DIMS(1, 2), 2, -3), 1), LAM_DIMS(2, 2), 3, 1, 6, 4);
    EXPECT(lam_take_along_axis(x, WHOLE(LAM_DIMS(1, 3), 0, 1, 0), 0), LAM_DIMS(1, 3), 1, 5, 3);
    EXPECT(lam_take_along_axis(MAT(1, 3, 1, 2, 3), WHOLE(LAM_DIMS(2, 1), 1, 2), 1), LAM_DIMS(2, 1), 2, 3);
    lam_take_along_axis(x, WHOLE(LAM_DIMS(2), 0, 1), 1);
    EXPECT_ERROR(LAM_ERR_SHAPE, "take_along_axis");
    lam_take_along_axis(x, WHOLE(LAM_DIMS(3, 1), 0, 1, 1), 1);
    EXPECT_ERROR(LAM_ERR_SHAPE, "take_along_axis", "axis 0");
    lam_take_along_axis(x, WHOLE(LAM_DIMS(2, 1), 0, 1), 2);
    EXPECT_ERROR(LAM_ERR_AXIS, "take_along_axis");
}
END_TEST

BODY(put_of_all) {
    out[0] = lam_put(in[0], in[1], in[2], 0);
}

BODY(along_of_both) {
    out[0] = lam_take_along_axis(in[0], in[1], 0);
}

/* Batched indices, and an unmapped operand beside them. */
START_TEST(batched_indices_equal_the_loop) {
    lam_tensor *x = matrix(), *at = WHOLE(LAM_DIMS(3, 2), 3, 0, 1, 1, -1, 2), *new = lam_slice_axis(x, 1, 1, 3);
    lam_fn *put = FN(put_of_all, 3, 1), *along = FN(along_of_both, 2, 1);
    EXPECT_SAME(lam_apply(lam_vmap(put, NULL), LAM_LIST(x, at, new)), by_loop(put, LAM_LIST(x, at, new)), 0);
    EXPECT_SAME(lam_apply(lam_vmap(along, NULL), LAM_LIST(x, at)), by_loop(along, LAM_LIST(x, at)), 0);
    lam_vmap_options one = {.in_axes = LAM_AXES(LAM_UNMAPPED, 0)};
    lam_tensor *row = lam_index(x, 0, 1), *rows = lam_broadcast_to(row, LAM_DIMS(3, COLUMNS));
    EXPECT_SAME(lam_apply(lam_vmap(along, &one), LAM_LIST(row, at)), by_loop(along, LAM_LIST(rows, at)), 0);
}
END_TEST

/* What has one step from place to place is taken from as it lies: columns of rows, every other row, parts of rows, from
 * the end, one row for all. */
START_TEST(taking_from_views_with_one_step) {
    lam_tensor *x = lam_reshape(lam_arange(ctx, LAM_F64, 0, 200, 1), LAM_DIMS(50, 4)),
               *at = WHOLE(LAM_DIMS(5), 0, -1, 7, 30, -50);
    lam_tensor *views[] = {
        lam_transpose(x, LAM_AXES(1, 0)),
        lam_slice(lam_transpose(x, LAM_AXES(1, 0)), LAM_DIMS(3, 0), LAM_DIMS(-5, 50), LAM_DIMS(-2, 1)),
        lam_transpose(lam_slice(x, LAM_DIMS(0, 1), LAM_DIMS(50, 3), LAM_DIMS(1, 1)), LAM_AXES(1, 0)),
        lam_reverse(lam_transpose(x, LAM_AXES(1, 0)), LAM_AXES(1)),
        lam_broadcast_to(lam_reshape(lam_index(x, 1, 2), LAM_DIMS(1, 50)), LAM_DIMS(3, 50)),
    };
    for (size_t i = 0; i < sizeof views / sizeof *views; i++) {
        lam_tensor *solid = lam_add(views[i], 0.0);
        EXPECT_SAME(lam_take(views[i], at, 1), lam_take(solid, at, 1), 0);
        EXPECT_SAME(lam_take_mode(views[i], WHOLE(LAM_DIMS(3), 50, 2, -51), 1, LAM_INDEX_CLIP),
                    lam_take_mode(solid, WHOLE(LAM_DIMS(3), 50, 2, -51), 1, LAM_INDEX_CLIP), 0);
        EXPECT_SAME(lam_take(views[i], WHOLE(LAM_DIMS(3), 1, 0, -1), 0),
                    lam_take(solid, WHOLE(LAM_DIMS(3), 1, 0, -1), 0), 0);
    }
    lam_tensor *narrow = lam_slice(x, LAM_DIMS(0, 1), LAM_DIMS(50, 4), LAM_DIMS(1, 1));
    EXPECT_SAME(lam_take(narrow, at, 0), lam_take(lam_add(narrow, 0.0), at, 0), 0);
    lam_take(views[3], WHOLE(LAM_DIMS(2), 3, 50), 1);
    EXPECT_ERROR(LAM_ERR_INDEX, "index 50 (element 1", "[-50, 50)");
}
END_TEST

/* ---- taking apart ------------------------------------------------------------------------------------------------ */

START_TEST(unstack_refuses_what_does_not_fit) {
    lam_tensor *x = matrix(), *out[COLUMNS];
    ck_assert_int_eq(lam_unstack(x, 1, out, ROWS), LAM_ERR_ARITY);
    EXPECT_ERROR(LAM_ERR_ARITY, "unstack", "axis 1 has 4", "room is for 3");
    ck_assert_int_eq(lam_unstack(x, 2, out, 1), LAM_ERR_AXIS);
    EXPECT_ERROR(LAM_ERR_AXIS, "unstack", "[-2, 2)");
    ck_assert_int_eq(lam_unstack(x, 0, NULL, ROWS), LAM_ERR_NULL);
    EXPECT_ERROR(LAM_ERR_NULL, "unstack", "out is NULL");
    ck_assert_int_eq(lam_split_sizes(x, 0, NULL, out, 2), LAM_ERR_NULL);
    EXPECT_ERROR(LAM_ERR_NULL, "split_sizes", "no sizes");
    ck_assert_int_ne(lam_unstack(NULL, 0, out, 1), LAM_OK);
    ck_assert(lam_failed(out[0]));
}
END_TEST

START_TEST(stack_says_which_operand_differs) {
    lam_tensor *x = matrix(), *part = lam_slice_axis(x, 0, 0, 1), *into = lam_zeros(ctx, LAM_F64, LAM_DIMS(3, 4, 2));
    ck_assert(lam_failed(lam_stack(LAM_LIST(x, x, part), -1)));
    EXPECT_ERROR(LAM_ERR_SHAPE, "operand 2", "stacked", "new axis 2", "one shape");
    lam_set_stack_(into, LAM_LIST(x, part), 2, LAM_DIMS(0, 0, 0), LAM_DIMS(3, 4, 2), LAM_DIMS0);
    EXPECT_ERROR(LAM_ERR_SHAPE, "operand 1", "stacked", "new axis 2", "one shape");
}
END_TEST

BODY(stack_of_three) {
    out[0] = lam_stack(LAM_LIST(in[0], lam_sin(in[0]), lam_mul(in[0], in[1])), (int)*(const int64_t *)env);
}

/* Stacking joins what has got an axis of one element, at any axis and level. */
START_TEST(stacking_is_joining_along_a_new_axis) {
    lam_tensor *x = matrix(), *y = lam_cos(x), *each[3] = {x, lam_sin(x), lam_mul(x, y)};
    for (int64_t axis = -3; axis < 3; axis++) {
        lam_fn *f = FN_ENV(stack_of_three, 2, 1, &axis), *g = lam_jacrev(f, NULL), *h = lam_jacfwd(f, NULL);
        lam_tensor *wide[3];
        for (int i = 0; i < 3; i++) wide[i] = lam_expand_dims(each[i], (int)axis);
        EXPECT_SAME(apply2(f, x, y), lam_concatenate((lam_list){3, wide}, (int)axis), 0);
        EXPECT_SAME(apply2(g, x, y), apply2(h, x, y), 1e-15);
        if (axis < 2 && axis > -3) EXPECT_SAME(apply2(lam_vmap(f, NULL), x, y), by_loop(f, LAM_LIST(x, y)), 0);
    }
}
END_TEST

/* Parts in many blocks of rows, where they lie and in which steps, are found again in what they were joined to. */
START_TEST(joined_parts_are_found_again) {
    static const lam_dtype dtypes[] = {LAM_F64, LAM_F32, LAM_U8, LAM_F16, LAM_I64};
    lam_tensor *x = lam_cast(
        lam_mul(lam_reshape(lam_arange(ctx, LAM_F64, 0, 150 * 2 * 40, 1), LAM_DIMS(150, 2, 40)), 0.01), dtypes[_i]);
    lam_tensor *part[] = {
        lam_slice_axis(x, 2, 0, 34),
        lam_slice_axis(x, 2, 4, 7),
        lam_slice_axis(x, 2, 7, 7),
        lam_broadcast_to(lam_slice(x, LAM_DIMS(3, 0, 0), LAM_DIMS(4, 2, 5), LAM_DIMS(1, 1, 1)), LAM_DIMS(150, 2, 5)),
        lam_broadcast_to(lam_slice(x, LAM_DIMS(3, 0, 0), LAM_DIMS(4, 1, 4), LAM_DIMS(1, 1, 1)), LAM_DIMS(150, 2, 4)),
        lam_reverse(lam_slice_axis(x, 2, 39, 40), LAM_AXES(0)),
        lam_transpose(lam_reshape(lam_slice_axis(x, 2, 0, 2), LAM_DIMS(2, 2, 150)), LAM_AXES(2, 1, 0)),
    };
    enum { PARTS = sizeof part / sizeof *part };
    for (size_t n = 1; n <= PARTS; n++) {
        lam_tensor *all = lam_concatenate((lam_list){n, part}, 2);
        int64_t at = 0;
        for (size_t k = 0; k < n; at += lam_dim(part[k++], 2))
            EXPECT_SAME(lam_slice_axis(all, 2, at, at + lam_dim(part[k], 2)), part[k], 0);
        ck_assert_int_eq(lam_dim(all, 2), at);
    }
    lam_tensor *flat = lam_concatenate(LAM_LIST(x, lam_reverse(x, LAM_AXES(0)), x), 1);
    EXPECT_SAME(lam_slice_axis(flat, 1, 2, 4), lam_reverse(x, LAM_AXES(0)), 0);
    EXPECT_SAME(lam_slice_axis(flat, 1, 4, 6), x, 0);
}
END_TEST

/* More parts than are joined at once: columns, rows of one to three items, and columns written into a far tensor. */
START_TEST(hundreds_of_parts_are_found_again) {
    enum { PARTS = 300, LINES = 30 };
    lam_tensor *part[PARTS], *row[PARTS];
    lam_tensor *x = lam_reshape(lam_arange(ctx, LAM_F64, 0, 3 * PARTS * LINES, 1), LAM_DIMS(LINES, 3 * PARTS));
    for (int k = 0; k < PARTS; k++) {
        part[k] = lam_index(x, 1, k % 2 ? 3 * k : 3 * k + 1);
        row[k] = lam_slice_axis(x, 1, 3 * k, 3 * k + 1 + k % 3);
    }
    lam_tensor *side = lam_stack((lam_list){PARTS, part}, 1), *joined = lam_concatenate((lam_list){PARTS, row}, 1);
    lam_tensor *far = lam_zeros(ctx, LAM_F64, LAM_DIMS(2000, PARTS)),
               *near = lam_zeros(ctx, LAM_F64, LAM_DIMS(40, 400));
    lam_set_stack_(far, (lam_list){PARTS, part}, 1, LAM_DIMS(5, 0), LAM_DIMS(5 + LINES, PARTS), LAM_DIMS0);
    lam_set_stack_(near, (lam_list){PARTS, part}, 1, LAM_DIMS(3, 7), LAM_DIMS(3 + LINES, 7 + PARTS), LAM_DIMS0);
    int64_t at = 0;
    for (int k = 0; k < PARTS; at += lam_dim(row[k++], 1)) {
        EXPECT_SAME(lam_index(side, 1, k), part[k], 0);
        EXPECT_SAME(lam_slice_axis(joined, 1, at, at + lam_dim(row[k], 1)), row[k], 0);
        EXPECT_SAME(lam_slice_axis(lam_index(far, 1, k), 0, 5, 5 + LINES), part[k], 0);
        EXPECT_SAME(lam_slice_axis(lam_index(near, 1, 7 + k), 0, 3, 3 + LINES), part[k], 0);
    }
    ck_assert_int_eq(lam_dim(joined, 1), at);
    lam_tensor *sum = lam_sum(side, NULL), *both = lam_add(lam_sum(far, NULL), lam_sum(near, NULL));
    EXPECT_SAME(both, lam_mul(sum, 2.0), 0);
}
END_TEST

BODY(along_a_vector) {
    out[0] = lam_sum(lam_mul(lam_norm_slope(in[0], (lam_axes){0}), VEC(1, 2)), NULL);
}

/* Of x = (a, a) the direction u is (1, 1)/sqrt(2), and its slope by w = (1, 2) is (w - u (u w))/|x|, that is (-1, 1)/2
 * over a sqrt(2), also where the length is beyond the range. Where x is 0 both are 0. */
START_TEST(directions_of_vectors_of_any_length) {
    static const double sizes[] = {1, 1e300, 1.5e308, 1e-300};
    const double half = sqrt(0.5);
    lam_fn *slope = lam_vmap(lam_grad(FN(along_a_vector, 1, 1), NULL), NULL);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        lam_tensor *x = lam_mul(VEC(1, 1), sizes[i]), *rows = lam_stack(LAM_LIST(x, VEC(0, 0)), 0);
        EXPECT_NEAR(lam_norm_slope(rows, LAM_AXES(1)), 1e-15, LAM_DIMS(2, 2), half, half, 0, 0);
        EXPECT_NEAR(lam_cosine_similarity(x, VEC(3, 4), 0), 1e-15, LAM_DIMS0, 1.4 * half);
        EXPECT_NEAR(lam_cosine_similarity(x, lam_neg(x), 0), 1e-15, LAM_DIMS0, -1);
        EXPECT_NEAR(lam_mul(apply1(slope, rows), sizes[i]), 1e-14, LAM_DIMS(2, 2), -half / 2, half / 2, 0, 0);
    }
    EXPECT_NEAR(lam_nanstd(VEC(1e200, NAN, 3e200), NULL), 1e-15, LAM_DIMS0, 1e200);
    EXPECT_NEAR(lam_nanstd(VEC(1e-200, NAN, 3e-200), NULL), 1e-15, LAM_DIMS0, 1e-200);
    EXPECT(lam_norm_slope(VEC(1, INFINITY), (lam_axes){0}), LAM_DIMS(2), 0, NAN);
    lam_tensor *low = lam_cast(VEC(50000, 50000), LAM_F16), *single = lam_cast(VEC(3e38, 3e38), LAM_F32);
    EXPECT_NEAR(lam_norm_slope(low, (lam_axes){0}), 1e-3, LAM_DIMS(2), half, half);
    EXPECT(lam_cosine_similarity(low, low, 0), LAM_DIMS0, 1);
    ck_assert_int_eq(lam_dtype_of(lam_cosine_similarity(low, low, 0)), LAM_F16);
    EXPECT_NEAR(lam_norm_slope(single, (lam_axes){0}), 1e-7, LAM_DIMS(2), half, half);
    EXPECT_OK();
    lam_cosine_similarity(low, low, 1);
    EXPECT_ERROR(LAM_ERR_AXIS, "cosine_similarity");
}
END_TEST

static double orders_of_norm[] = {3, 1.5};

BODY(norm_of_order_in_env) {
    out[0] = lam_norm(in[0], &(lam_norm_options){.order = *(const double *)env});
}

/* Of x = (3, -4, 0) u and order p the norm n is (3^p + 4^p)^(1/p) u, slopes are s = sign(x) |x/n|^(p - 1), and second
 * derivatives are (p - 1)/n ([i = j] |x/n|^(p - 2) - s s^T) but for the element that is 0, where they are taken as 0.
 * One element has none. */
START_TEST(norms_of_other_orders_at_both_ends_of_the_range) {
    static const double units[] = {1, 1e200, 1e-200, 1e300, 1e-300};
    for (size_t k = 0; k < 2; k++) {
        const double p = orders_of_norm[k], n = pow(pow(3, p) + pow(4, p), 1 / p), a = 3 / n, b = 4 / n;
        const double s = pow(a, p - 1), t = -pow(b, p - 1), h = (p - 1) / n;
        const double aa = h * s * s * pow(b / a, p), bb = h * t * t * pow(a / b, p), ab = -h * s * t;
        lam_fn *f = FN_ENV(norm_of_order_in_env, 1, 1, &orders_of_norm[k]);
        lam_fn *slope = lam_grad(f, NULL);
        lam_fn *seconds[] = {lam_hessian(f, NULL), lam_jacfwd(lam_jacfwd(f, NULL), NULL), lam_jacrev(slope, NULL)};
        for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
            const double u = units[i];
            lam_tensor *x = lam_mul(VEC(3, -4, 0), u);
            EXPECT_NEAR(apply1(f, x), 1e-15, LAM_DIMS0, n * u);
            EXPECT_NEAR(apply1(slope, x), 1e-15, LAM_DIMS(3), s, t, 0);
            for (size_t m = 0; m < 3; m++) {
                EXPECT_NEAR(lam_mul(apply1(seconds[m], x), u), 2e-15, LAM_DIMS(3, 3), aa, ab, 0, ab, bb, 0, 0, 0, 0);
                EXPECT(apply1(seconds[m], lam_mul(VEC(5), u)), LAM_DIMS(1, 1), 0);
            }
            lam_tensor *rows = lam_stack(LAM_LIST(x, lam_mul(x, 0.0)), 0);
            EXPECT_NEAR(apply1(lam_vmap(slope, NULL), rows), 1e-15, LAM_DIMS(2, 3), s, t, 0, 0, 0, 0);
        }
    }
}
END_TEST

Suite *suite_primitives_families(void) {
    Suite *suite = SUITE_OF(
        "primitives/families", mean_and_variance_are_those_of_loops, norms_of_a_known_vector,
        directions_of_vectors_of_any_length, norms_of_other_orders_at_both_ends_of_the_range,
        softmax_does_not_depend_on_where_the_row_lies, put_keeps_the_last_of_equal_indices, one_hot_marks_each_index,
        fill_gives_nan_to_floats_and_0_to_integers, clipping_is_filling_where_there_is_no_element,
        a_rest_of_no_axes_parts_what_it_stands_between, take_along_axis_broadcasts_the_other_axes,
        batched_indices_equal_the_loop, unstack_refuses_what_does_not_fit, stack_says_which_operand_differs,
        taking_from_views_with_one_step, stacking_is_joining_along_a_new_axis, hundreds_of_parts_are_found_again);
    suite_loop(suite, joined_parts_are_found_again, 5);
    suite_loop(suite, derivatives_agree_with_differences, (int)(sizeof bodies / sizeof bodies[0]));
    suite_loop(suite, vmap_equals_the_loop_at_two_levels, (int)(sizeof bodies / sizeof bodies[0]));
    return suite;
}
