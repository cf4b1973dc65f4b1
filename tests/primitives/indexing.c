/* Operations by index that are made of others: NumPy's expressions, the gather and scatter of lax, moving slices,
 * counting and sets, quantiles. Values marked JAX or NumPy are those of jax 0.10.2 and numpy; the rest is worked out by
 * hand.
 * Derivatives are checked against differences, vmap against one call per example. */
#include "tests/support.h"

#include <lamina/extend.h>

static lam_tensor *counted(lam_dims dims) {
    double count = 1;
    for (int i = 0; i < dims.rank; i++) count *= (double)dims.dims[i];
    return lam_reshape(lam_arange(ctx, LAM_F64, 0, count, 1), dims);
}

#define INTS(...) ints((int64_t[]){__VA_ARGS__}, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t))
static lam_tensor *ints(const int64_t *x, size_t count) {
    return lam_array(ctx, LAM_I64, LAM_DIMS((int64_t)count), x);
}

static lam_tensor *whole(int64_t x) {
    return lam_array(ctx, LAM_I64, LAM_DIMS0, &x);
}

/* ---- NumPy's expressions ----------------------------------------------------------------------------------------- */

/* JAX */
START_TEST(parts_by_expression) {
    lam_tensor *x = counted(LAM_DIMS(2, 3, 4)), *i = INTS(1, 0);
    lam_tensor *j = lam_reshape(INTS(2, -1), LAM_DIMS(2, 1));
    EXPECT(lam_at_get(x, LAM_AT(LAM_ALL, LAM_TENSOR(i), LAM_TENSOR(j))), LAM_DIMS(2, 2, 2), 6, 2, 7, 3, 18, 14, 19, 15);
    EXPECT(lam_at_get(x, LAM_AT(LAM_TENSOR(i), LAM_ALL, LAM_TENSOR(INTS(3, 1)))), LAM_DIMS(2, 3), 15, 19, 23, 1, 5, 9);
    EXPECT(lam_at_get(x, LAM_AT(LAM_ELEMENT(1), LAM_REST, LAM_NEW_AXIS, LAM_TENSOR(i))), LAM_DIMS(2, 3, 1), 13, 17, 21,
           12, 16, 20);
    EXPECT(lam_at_get(x, LAM_AT(LAM_ALL, LAM_TENSOR(i), LAM_SLICE(1, 3, 1))), LAM_DIMS(2, 2, 2), 5, 6, 1, 2, 17, 18, 13,
           14);
    EXPECT(lam_at_get(x, LAM_AT(LAM_TENSOR(i), LAM_NEW_AXIS, LAM_SLICE(1, LAM_END, 1), LAM_ELEMENT(2))),
           LAM_DIMS(2, 1, 2), 18, 22, 6, 10);
    EXPECT(
        lam_at_get(x, LAM_AT(LAM_SLICE(LAM_END, LAM_END, -1), LAM_ELEMENT(-1), LAM_NEW_AXIS, LAM_SLICE(1, LAM_END, 1))),
        LAM_DIMS(2, 1, 3), 21, 22, 23, 9, 10, 11);
    EXPECT(lam_at_get(x, LAM_AT(LAM_ELEMENT(0), LAM_ALL, LAM_TENSOR(i))), LAM_DIMS(2, 3), 1, 5, 9, 0, 4, 8);
    EXPECT_SAME(lam_at_get(x, LAM_AT()), x, 0);
    EXPECT_NUM(lam_at_get(num(3), LAM_AT(LAM_REST)), 3);
}
END_TEST

/* JAX */
START_TEST(updates_by_expression) {
    lam_tensor *y = counted(LAM_DIMS(2, 3)), *seven = MAT(2, 3, 7, 8, 9, 10, 11, 12);
    EXPECT(lam_at_set(y, LAM_AT(LAM_ALL, LAM_TENSOR(INTS(0, 2, 0))), seven), LAM_DIMS(2, 3), 9, 1, 8, 12, 4, 11);
    EXPECT(lam_at_add(y, LAM_AT(LAM_TENSOR(INTS(0, 0, 1)), LAM_TENSOR(INTS(1, 1, 2))), VEC(1, 2, 3)), LAM_DIMS(2, 3), 0,
           4, 2, 3, 4, 8);
    EXPECT(lam_at_mul(y, LAM_AT(LAM_SLICE(1, LAM_END, 1), LAM_TENSOR(INTS(0, 0))), num(3)), LAM_DIMS(2, 3), 0, 1, 2, 27,
           4, 5);
    EXPECT(lam_at_min(y, LAM_AT(LAM_ALL, LAM_ELEMENT(1)), num(2)), LAM_DIMS(2, 3), 0, 1, 2, 3, 2, 5);
    EXPECT(lam_at_max(y, LAM_AT(LAM_TENSOR(INTS(0, 0))), MAT(2, 3, 5, 0, 0, 0, 6, -1)), LAM_DIMS(2, 3), 5, 6, 2, 3, 4,
           5);
    EXPECT(lam_at_set(y, LAM_AT(LAM_ELEMENT(-1), LAM_SLICE(LAM_END, LAM_END, -2)), VEC(7, 8)), LAM_DIMS(2, 3), 0, 1, 2,
           8, 4, 7);
    EXPECT(lam_at_set(y, LAM_AT(LAM_NEW_AXIS, LAM_ALL, LAM_TENSOR(INTS(0))), lam_reshape(VEC(7, 8), LAM_DIMS(1, 2, 1))),
           LAM_DIMS(2, 3), 7, 1, 2, 8, 4, 5);
    EXPECT(lam_at_set(y, LAM_AT(LAM_TENSOR(INTS(1, 0)), LAM_NEW_AXIS, LAM_TENSOR(INTS(0, 2))),
                      lam_reshape(VEC(7, 8), LAM_DIMS(2, 1))),
           LAM_DIMS(2, 3), 0, 1, 8, 7, 4, 5);
}
END_TEST

START_TEST(modes_of_expressions) {
    lam_tensor *x = VEC(1, 2, 3), *at = INTS(-4, 1, 3);
    EXPECT(lam_at_get_mode(x, LAM_AT(LAM_TENSOR(at)), LAM_INDEX_CLIP), LAM_DIMS(3), 1, 2, 3);
    EXPECT(lam_at_get_mode(x, LAM_AT(LAM_TENSOR(at)), LAM_INDEX_FILL), LAM_DIMS(3), NAN, 2, NAN);
    EXPECT_NUM(lam_at_get_mode(x, LAM_AT(LAM_ELEMENT(9)), LAM_INDEX_CLIP), 3);
    EXPECT(lam_at_update(x, LAM_AT(LAM_TENSOR(at)), VEC(7, 8, 9), LAM_AT_SET, LAM_INDEX_CLIP), LAM_DIMS(3), 7, 8, 9);
    EXPECT(lam_at_update(x, LAM_AT(LAM_TENSOR(at)), VEC(7, 8, 9), LAM_AT_SET, LAM_INDEX_FILL), LAM_DIMS(3), 1, 8, 3);
    EXPECT(lam_at_update(x, LAM_AT(LAM_TENSOR(at)), VEC(7, 8, 9), LAM_AT_ADD, LAM_INDEX_FILL), LAM_DIMS(3), 1, 10, 3);
}
END_TEST

START_TEST(impossible_expressions_are_refused) {
    lam_tensor *x = counted(LAM_DIMS(2, 3)), *i = INTS(0, 1);
    lam_at_get(x, LAM_AT(LAM_ALL, LAM_ALL, LAM_ALL));
    EXPECT_ERROR(LAM_ERR_RANK, "at_get", "3 axes");
    lam_at_get(x, LAM_AT(LAM_REST, LAM_REST));
    EXPECT_ERROR(LAM_ERR_OPTION, "at_get", "LAM_REST");
    lam_at_get(x, LAM_AT(LAM_ELEMENT(2)));
    EXPECT_ERROR(LAM_ERR_INDEX, "at_get", "[-2, 2)");
    lam_at_get(x, LAM_AT(LAM_TENSOR(VEC(1))));
    EXPECT_ERROR(LAM_ERR_DTYPE, "at_get", "integers");
    lam_at_get(x, LAM_AT(LAM_TENSOR(lam_gt(x, 1.0))));
    EXPECT_ERROR(LAM_ERR_DTYPE, "at_get", "lam_nonzero");
    lam_at_get(x, LAM_AT(LAM_TENSOR(i), LAM_TENSOR(INTS(0, 1, 2))));
    EXPECT_ERROR(LAM_ERR_SHAPE, "at_get", "axis 1");
    lam_at_get(x, LAM_AT(LAM_TENSOR(INTS(2))));
    EXPECT_ERROR(LAM_ERR_INDEX, "index 2", "[-2, 2)");
    lam_at_get(x, LAM_AT(LAM_TENSOR(NULL)));
    EXPECT_ERROR(LAM_ERR_NULL, "at_get");
    lam_at_get_mode(x, LAM_AT(), (lam_index_mode)8);
    EXPECT_ERROR(LAM_ERR_OPTION, "at_get", "8");
    lam_at_set(x, LAM_AT(LAM_ELEMENT(0)), VEC(1, 2));
    EXPECT_ERROR(LAM_ERR_SHAPE, "broadcast");
    lam_at_set(x, LAM_AT(LAM_ELEMENT(0)), NULL);
    EXPECT_ERROR(LAM_ERR_NULL, "at_set");
    lam_at_update(x, LAM_AT(), x, (lam_at_op)9, LAM_INDEX_ERROR);
    EXPECT_ERROR(LAM_ERR_OPTION, "9");
}
END_TEST

START_TEST(along_an_axis) {
    lam_tensor *x = MAT(2, 3, 3, 1, 2, 6, 5, 4), *order = lam_argsort(x, 1);
    EXPECT(lam_put_along_axis(x, order, MAT(2, 3, 1, 2, 3, 4, 5, 6), 1), LAM_DIMS(2, 3), 3, 1, 2, 6, 5, 4);
    EXPECT(lam_put_along_axis(x, lam_reshape(INTS(-1), LAM_DIMS(1, 1)), num(0), 1), LAM_DIMS(2, 3), 3, 1, 0, 6, 5, 0);
    EXPECT(lam_put_mode(VEC(1, 2, 3), INTS(5, 0), VEC(7, 8), 0, LAM_INDEX_CLIP), LAM_DIMS(3), 8, 2, 7);
    EXPECT(lam_put_mode(VEC(1, 2, 3), INTS(5, 0), VEC(7, 8), 0, LAM_INDEX_FILL), LAM_DIMS(3), 8, 2, 3);
    lam_put_along_axis(x, INTS(0), num(0), 1);
    EXPECT_ERROR(LAM_ERR_SHAPE, "put_along_axis");
}
END_TEST

START_TEST(nan_wins_when_scattered) {
    lam_tensor *x = VEC(1, NAN, 3, 4), *at = INTS(0, 1, 2, 2), *u = VEC(NAN, 1, 0, 9);
    EXPECT(lam_scatter_min(x, at, u, 0, LAM_INDEX_ERROR), LAM_DIMS(4), NAN, NAN, 0, 4);
    EXPECT(lam_scatter_max(x, at, u, 0, LAM_INDEX_ERROR), LAM_DIMS(4), NAN, NAN, 9, 4);
}
END_TEST

BODY(largest_of_ties) {
    out[0] = lam_sum(lam_mul(lam_scatter_max(in[0], INTS(0, 0, 1), in[1], 0, LAM_INDEX_ERROR), VEC(6, 12)), NULL);
}

START_TEST(ties_share_the_gradient) {
    lam_tensor *gx[2];
    lam_fn *both = lam_grad(FN(largest_of_ties, 2, 1), &(lam_grad_options){.argnums = LAM_AXES(0, 1)});
    ck_assert(lam_call(both, LAM_LIST(VEC(2, 5), VEC(2, 2, 4)), gx, 2) == LAM_OK);
    EXPECT_NEAR(gx[0], 1e-15, LAM_DIMS(2), 2, 12);
    EXPECT_NEAR(gx[1], 1e-15, LAM_DIMS(3), 2, 2, 0);
    ck_assert(lam_call(both, LAM_LIST(VEC(NAN, 5), VEC(2, 2, NAN)), gx, 2) ==
              LAM_OK); /* NaN takes from none, as in JAX */
    EXPECT(gx[0], LAM_DIMS(2), 0, 0);
    EXPECT(gx[1], LAM_DIMS(3), 0, 0, 0);
}
END_TEST

/* ---- gather, scatter, moving slices ------------------------------------------------------------------------------ */

/* JAX */
START_TEST(windows_as_lax_gathers_them) {
    lam_tensor *z = counted(LAM_DIMS(3, 4)), *starts = lam_reshape(INTS(0, 1, 2, 3, -1, 0), LAM_DIMS(3, 2));
    lam_gather_options o = {.offset_axes = LAM_AXES(1, 2), .index_axes = LAM_AXES(0, 1), .window = LAM_DIMS(2, 2)};
    lam_gather(z, starts, &o);
    EXPECT_ERROR(LAM_ERR_INDEX, "wrap_index");
    o.mode = LAM_INDEX_CLIP;
    EXPECT(lam_gather(z, starts, &o), LAM_DIMS(3, 2, 2), 1, 2, 5, 6, 6, 7, 10, 11, 0, 1, 4, 5);
    lam_tensor *u = lam_add(counted(LAM_DIMS(3, 2, 2)), 1.0);
    EXPECT(lam_scatter(z, starts, u, LAM_AT_ADD, &o), LAM_DIMS(3, 4), 9, 12, 4, 3, 15, 20, 15, 13, 8, 9, 17, 19);
    o.mode = LAM_INDEX_FILL;
    EXPECT(lam_gather(z, starts, &o), LAM_DIMS(3, 2, 2), 1, 2, 5, 6, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN);
    EXPECT(lam_scatter(z, starts, u, LAM_AT_ADD, &o), LAM_DIMS(3, 4), 0, 2, 4, 3, 4, 8, 10, 7, 8, 9, 10, 11);
    o = (lam_gather_options){
        .offset_axes = LAM_AXES(0), .collapsed_axes = LAM_AXES(1), .index_axes = LAM_AXES(1), .window = LAM_DIMS(3, 1)};
    EXPECT(lam_gather(z, lam_reshape(INTS(3, 0), LAM_DIMS(2, 1)), &o), LAM_DIMS(3, 2), 3, 0, 7, 4, 11, 8);
    o = (lam_gather_options){.offset_axes = LAM_AXES(1),
                             .index_axes = LAM_AXES(1),
                             .batch_axes = LAM_AXES(0),
                             .starts_batch_axes = LAM_AXES(0),
                             .window = LAM_DIMS(1, 2),
                             .mode = LAM_INDEX_CLIP};
    o.collapsed_axes = LAM_NO_AXES;
    EXPECT(lam_gather(z, lam_reshape(INTS(3, 0, 1), LAM_DIMS(3, 1)), &o), LAM_DIMS(3, 2), 2, 3, 4, 5, 9, 10);
    EXPECT(lam_scatter(z, lam_reshape(INTS(3, 0, 1), LAM_DIMS(3, 1)), lam_zeros(ctx, LAM_F64, LAM_DIMS(3, 2)),
                       LAM_AT_SET, &o),
           LAM_DIMS(3, 4), 0, 1, 0, 0, 0, 0, 6, 7, 8, 0, 0, 11);
}
END_TEST

START_TEST(impossible_windows_are_refused) {
    lam_tensor *z = counted(LAM_DIMS(3, 4)), *starts = lam_reshape(INTS(0, 1), LAM_DIMS(1, 2));
    lam_gather(z, starts, NULL);
    EXPECT_ERROR(LAM_ERR_OPTION, "gather");
    lam_gather(z, starts, &(lam_gather_options){.window = LAM_DIMS(1, 1)});
    EXPECT_ERROR(LAM_ERR_SHAPE, "gather", "index_axes");
    lam_gather_options o = {.offset_axes = LAM_AXES(1, 2), .index_axes = LAM_AXES(0, 1), .window = LAM_DIMS(4, 1)};
    lam_gather(z, starts, &o);
    EXPECT_ERROR(LAM_ERR_VALUE, "gather", "axis 0");
    o.window = LAM_DIMS(2);
    lam_gather(z, starts, &o);
    EXPECT_ERROR(LAM_ERR_SHAPE, "gather", "window");
    o.window = LAM_DIMS(1, 1);
    o.offset_axes = LAM_AXES(1);
    lam_gather(z, starts, &o);
    EXPECT_ERROR(LAM_ERR_AXIS, "gather", "offset_axes");
    o.offset_axes = LAM_AXES(1, 2);
    lam_scatter(z, starts, z, LAM_AT_SET, &o);
    EXPECT_ERROR(LAM_ERR_SHAPE, "scatter", "updates");
    o.index_axes = LAM_AXES(0, 2);
    lam_gather(z, starts, &o);
    EXPECT_ERROR(LAM_ERR_AXIS, "gather");
}
END_TEST

/* JAX */
START_TEST(moving_slices) {
    lam_tensor *z = counted(LAM_DIMS(3, 4)), *i = whole(2), *j = whole(-3);
    EXPECT(lam_dynamic_slice(z, LAM_LIST(i, j), LAM_DIMS(2, 2)), LAM_DIMS(2, 2), 5, 6, 9, 10);
    EXPECT(lam_dynamic_update_slice(z, MAT(2, 2, -1, -2, -3, -4), LAM_LIST(i, j)), LAM_DIMS(3, 4), 0, 1, 2, 3, 4, -1,
           -2, 7, 8, -3, -4, 11);
    EXPECT_SAME(lam_dynamic_slice(z, LAM_LIST(i, j), LAM_DIMS(3, 4)), z, 0);
    EXPECT_EMPTY(lam_dynamic_slice(z, LAM_LIST(i, j), LAM_DIMS(0, 4)), LAM_DIMS(0, 4));
    lam_dynamic_slice(z, LAM_LIST(i), LAM_DIMS(2));
    EXPECT_ERROR(LAM_ERR_SHAPE, "dynamic_slice", "1 starts and 1 sizes", "one of each for every axis");
    lam_dynamic_slice(z, LAM_LIST(i, num(1)), LAM_DIMS(2, 2));
    EXPECT_ERROR(LAM_ERR_DTYPE, "dynamic_slice", "axis 1");
    lam_dynamic_slice(z, LAM_LIST(i, j), LAM_DIMS(2, 5));
    EXPECT_ERROR(LAM_ERR_VALUE, "dynamic_slice", "5");
    lam_dynamic_update_slice(z, NULL, LAM_LIST(i, j));
    EXPECT_ERROR(LAM_ERR_NULL, "dynamic_update_slice");
}
END_TEST

/* ---- counting ---------------------------------------------------------------------------------------------------- */

START_TEST(sets_and_counts) {
    lam_tensor *out[2], *inverse, *counts;
    ck_assert(lam_nonzero(MAT(2, 3, 0, 4, 0, 5, 0, 6), 5, out) == LAM_OK);
    EXPECT(out[0], LAM_DIMS(5), 0, 1, 1, -1, -1);
    EXPECT(out[1], LAM_DIMS(5), 1, 0, 2, -1, -1);
    ck_assert(lam_nonzero(MAT(2, 3, 0, 4, 0, 5, 0, 6), 1, out) == LAM_OK);
    EXPECT(out[1], LAM_DIMS(1), 1);
    ck_assert(lam_nonzero(num(1), 1, out) == LAM_ERR_RANK);
    EXPECT_ERROR(LAM_ERR_RANK, "nonzero");
    lam_tensor *x = MAT(2, 3, 3, 1, 2, 2, 3, 3); /* NumPy */
    EXPECT(lam_unique(x, 3, &inverse, &counts), LAM_DIMS(3), 1, 2, 3);
    EXPECT(inverse, LAM_DIMS(2, 3), 2, 0, 1, 1, 2, 2);
    EXPECT(counts, LAM_DIMS(3), 1, 2, 3);
    EXPECT(lam_unique(x, 5, NULL, &counts), LAM_DIMS(5), 1, 2, 3, 1, 1);
    EXPECT(counts, LAM_DIMS(5), 1, 2, 3, 0, 0);
    EXPECT(lam_unique(x, 2, NULL, NULL), LAM_DIMS(2), 1, 2);
    EXPECT(lam_unique(VEC(NAN, 1, NAN), 3, &inverse, &counts), LAM_DIMS(3), 1, NAN, 1);
    EXPECT(inverse, LAM_DIMS(3), 1, 0, 1);
    EXPECT(counts, LAM_DIMS(3), 1, 2, 0);
    EXPECT(lam_bincount(INTS(0, 2, 2, 7, -1), NULL, 4), LAM_DIMS(4), 1, 0, 2, 0);
    EXPECT(lam_bincount(INTS(0, 2, 2), VEC(0.5, 1, 2), 3), LAM_DIMS(3), 0.5, 0, 3);
    EXPECT(lam_histogram(VEC(0, .5, 1, 1.5, 2, 3, 3.5, -1, NAN), VEC(0, 1, 2, 3), NULL), LAM_DIMS(3), 2, 2, 2);
    lam_bincount(VEC(1), NULL, 2);
    EXPECT_ERROR(LAM_ERR_DTYPE, "bincount");
    lam_bincount(INTS(1), VEC(1, 2), 2);
    EXPECT_ERROR(LAM_ERR_SHAPE, "bincount");
    lam_histogram(VEC(1), VEC(1), NULL);
    EXPECT_ERROR(LAM_ERR_SHAPE, "histogram");
    lam_unique(x, -1, NULL, NULL);
    EXPECT_ERROR(LAM_ERR_VALUE, "unique");
}
END_TEST

BODY(median_of) {
    out[0] = lam_median(in[0], NULL);
}

/* NumPy */
START_TEST(quantiles) {
    static const double want[][5] = {
        {-1, 0, 2, 2.85, 9}, {-1, -1, 2, 2, 9}, {-1, 1, 2, 3, 9}, {-1, 0, 2, 2.5, 9}, {-1, -1, 2, 3, 9}};
    lam_tensor *x = VEC(3, 1, 2, 2, 9, -1), *q = VEC(0, .1, .5, .77, 1);
    for (int m = 0; m < 5; m++) {
        const double *w = want[m];
        lam_tensor *got = lam_quantile(x, q, &(lam_quantile_options){.method = (lam_quantile_method)m});
        EXPECT_NEAR(got, 1e-14, LAM_DIMS(5), w[0], w[1], w[2], w[3], w[4]);
    }
    lam_tensor *y = MAT(2, 3, 1, 5, 2, NAN, 0, 7);
    EXPECT(lam_median(y, &(lam_reduce_options){.axes = LAM_AXES(1)}), LAM_DIMS(2), 2, NAN);
    EXPECT(lam_median(y, &(lam_reduce_options){.axes = LAM_AXES(0), .keepdims = true}), LAM_DIMS(1, 3), NAN, 2.5, 4.5);
    EXPECT(lam_percentile(MAT(2, 2, 1, 3, 5, 9), VEC(0, 50), &(lam_quantile_options){.axes = LAM_AXES(0)}),
           LAM_DIMS(2, 2), 1, 3, 3, 6);
    EXPECT_NUM(lam_quantile(x, num(1.5), NULL), NAN);
    EXPECT_NUM(lam_quantile(VEC(INFINITY, INFINITY), num(0.5), NULL), INFINITY);
    EXPECT_NUM(lam_quantile(VEC(1, INFINITY), num(0), NULL), 1);
    EXPECT_NUM(lam_median(VEC(0, -INFINITY, 1, -INFINITY), NULL), -INFINITY);
    EXPECT(lam_apply(lam_grad(FN(median_of, 1, 1), NULL), LAM_LIST(VEC(2, 5, 2, 1))), LAM_DIMS(4), .5, 0, .5, 0);
    lam_quantile(x, q, &(lam_quantile_options){.method = (lam_quantile_method)7});
    EXPECT_ERROR(LAM_ERR_OPTION, "quantile");
    lam_median(lam_zeros(ctx, LAM_F64, LAM_DIMS(0)), NULL);
    EXPECT_ERROR(LAM_ERR_SHAPE, "median");
}
END_TEST

/* NumPy */
START_TEST(statistics) {
    lam_tensor *x = MAT(2, 3, 1, 2, 4, 3, -1, 2), *gap = VEC(1, NAN, 4);
    EXPECT_NEAR(lam_cov(x, 1), 1e-14, LAM_DIMS(2, 2), 7. / 3, -1. / 6, -1. / 6, 13. / 3);
    EXPECT_NEAR(lam_corrcoef(x), 1e-14, LAM_DIMS(2, 2), 1, -0.05241424183609594, -0.05241424183609594, 1);
    EXPECT(lam_ptp(x, &(lam_reduce_options){.axes = LAM_AXES(1)}), LAM_DIMS(2), 3, 4);
    EXPECT_NUM(lam_count_nonzero(VEC(0, 2, NAN), NULL), 2);
    EXPECT_NUM(lam_nansum(gap, NULL), 5);
    EXPECT_NUM(lam_nanmean(gap, NULL), 2.5);
    EXPECT_NUM(lam_nanmax(gap, NULL), 4);
    EXPECT_NUM(lam_nanmin(gap, NULL), 1);
    EXPECT(lam_average(x, VEC(1, 1, 2), &(lam_reduce_options){.axes = LAM_AXES(1)}), LAM_DIMS(2), 2.75, 1.5);
    lam_average(VEC(1, 2), x, NULL);
    EXPECT_ERROR(LAM_ERR_SHAPE, "average");
    lam_cov(gap, 1);
    EXPECT_ERROR(LAM_ERR_RANK, "cov");
}
END_TEST

/* NumPy */
START_TEST(layouts) {
    lam_tensor *x = counted(LAM_DIMS(2, 3)), *out[2];
    EXPECT(lam_rot90(x, 1, 0, 1), LAM_DIMS(3, 2), 2, 5, 1, 4, 0, 3);
    EXPECT(lam_rot90(x, -1, 0, 1), LAM_DIMS(3, 2), 3, 0, 4, 1, 5, 2);
    EXPECT(lam_rot90(x, 2, 0, 1), LAM_DIMS(2, 3), 5, 4, 3, 2, 1, 0);
    EXPECT(lam_swapaxes(x, 0, -1), LAM_DIMS(3, 2), 0, 3, 1, 4, 2, 5);
    ck_assert(lam_meshgrid(LAM_LIST(VEC(1, 2), VEC(3, 4, 5)), out, 2) == LAM_OK);
    EXPECT(out[0], LAM_DIMS(2, 3), 1, 1, 1, 2, 2, 2);
    EXPECT(out[1], LAM_DIMS(2, 3), 3, 4, 5, 3, 4, 5);
    EXPECT(lam_diag(VEC(1, 2), 0), LAM_DIMS(2, 2), 1, 0, 0, 2);
    EXPECT(lam_diag(VEC(1, 2), 1), LAM_DIMS(3, 3), 0, 1, 0, 0, 0, 2, 0, 0, 0);
    EXPECT(lam_diag(VEC(1, 2), -1), LAM_DIMS(3, 3), 0, 0, 0, 1, 0, 0, 0, 2, 0);
    EXPECT(lam_diag(x, 1), LAM_DIMS(2), 1, 5);
    lam_diag(num(1), 0);
    EXPECT_ERROR(LAM_ERR_RANK, "diag");
    lam_rot90(x, 1, 1, -1);
    EXPECT_ERROR(LAM_ERR_AXIS, "rot90");
    ck_assert(lam_meshgrid(LAM_LIST(x), out, 1) == LAM_ERR_RANK);
    EXPECT_ERROR(LAM_ERR_RANK, "meshgrid");
}
END_TEST

/* ---- reductions with a function ---------------------------------------------------------------------------------- */

/* 2 by 2 matrices do not commute; of numbers, x + y + x y is associative, with 0 as its neutral element. */
BODY(circle) {
    out[0] = lam_add(lam_add(in[0], in[1]), lam_mul(in[0], in[1]));
}

/* Associative and not commutative. */
BODY(first_of) {
    out[0] = in[0];
}

BODY(reduced) {
    out[0] = lam_reduce(FN(circle, 2, 1), in[0], num(0.5), &(lam_reduce_options){.axes = LAM_AXES(1)});
}

START_TEST(reductions_with_a_function) {
    lam_fn *f = FN(circle, 2, 1);
    lam_tensor *x = MAT(2, 3, 1, 2, 3, -0.5, 0.5, 4); /* (1 + x) are multiplied */
    lam_reduce_options rows = {.axes = LAM_AXES(1)}, kept = {.axes = LAM_AXES(0), .keepdims = true};
    EXPECT_NEAR(lam_reduce(f, x, num(0), &rows), 1e-15, LAM_DIMS(2), 23, 2.75);
    EXPECT_NEAR(lam_reduce(f, x, num(1), &kept), 1e-15, LAM_DIMS(1, 3), 1, 8, 39);
    EXPECT_NEAR(lam_reduce(f, x, num(0), NULL), 1e-15, LAM_DIMS0, 89);
    EXPECT(lam_reduce(FN(first_of, 2, 1), x, num(7), &rows), LAM_DIMS(2), 7, 7);
    EXPECT(lam_reduce(f, lam_zeros(ctx, LAM_F64, LAM_DIMS(2, 0)), num(7), &rows), LAM_DIMS(2), 7, 7);
    EXPECT_EMPTY(lam_reduce(f, lam_zeros(ctx, LAM_F64, LAM_DIMS(0, 2)), num(7), &rows), LAM_DIMS(0));
    EXPECT_NUM(lam_reduce(f, num(3), num(1), NULL), 7);
    lam_reduce(f, x, VEC(1), NULL);
    EXPECT_ERROR(LAM_ERR_SHAPE, "reduce");
    lam_reduce(f, x, whole(1), NULL);
    EXPECT_ERROR(LAM_ERR_DTYPE, "reduce");
    lam_reduce(FN(reduced, 1, 1), x, num(0), NULL);
    EXPECT_ERROR(LAM_ERR_ARITY, "reduced");
}
END_TEST

/* ---- derivatives and batches ------------------------------------------------------------------------------------- */

BODY(by_expression) {
    lam_tensor *i = INTS(1, 0, 1), *x = lam_at_get(in[0], LAM_AT(LAM_TENSOR(i), LAM_SLICE(0, LAM_END, 2)));
    x = lam_at_mul(x, LAM_AT(LAM_TENSOR(INTS(0, 0)), LAM_TENSOR(INTS(1, 1))), lam_index(lam_index(in[0], 0, 0), 0, 1));
    out[0] = lam_square(lam_at_set(x, LAM_AT(LAM_ALL, LAM_ELEMENT(0)), lam_index(in[0], 1, 3)));
}

BODY(by_windows) {
    lam_gather_options o = {.offset_axes = LAM_AXES(1, 2), .index_axes = LAM_AXES(0, 1), .window = LAM_DIMS(2, 2)};
    lam_tensor *starts = lam_reshape(INTS(0, 1, 1, 2), LAM_DIMS(2, 2)), *taken = lam_gather(in[0], starts, &o);
    out[0] = lam_scatter(lam_sin(in[0]), starts, lam_square(taken), LAM_AT_MUL, &o);
}

BODY(by_moving_slices) {
    lam_tensor *i = lam_argmax(lam_reshape(in[0], LAM_DIMS(12)), 0), *j = lam_rem(i, 3);
    lam_tensor *part = lam_dynamic_slice(in[0], LAM_LIST(j, i), LAM_DIMS(2, 2));
    out[0] = lam_dynamic_update_slice(lam_square(in[0]), lam_sin(part), LAM_LIST(i, j));
}

BODY(by_order) {
    lam_tensor *q = lam_quantile(in[0], VEC(0.3, 0.6), &(lam_quantile_options){.axes = LAM_AXES(1)});
    out[0] = lam_concatenate(LAM_LIST(lam_square(q), lam_cov(in[0], 1)), 0);
}

BODY(by_sets) {
    lam_tensor *flat = lam_reshape(in[0], LAM_DIMS(12)), *at[1];
    lam_nonzero(lam_gt(flat, 0.0), 5, at);
    lam_tensor *places = lam_cast(lam_floor(lam_mul(lam_square(flat), 2.0)), LAM_I64);
    lam_tensor *taken = lam_at_get_mode(flat, LAM_AT(LAM_TENSOR(lam_max(at[0], 0))), LAM_INDEX_CLIP);
    out[0] = lam_concatenate(LAM_LIST(lam_square(taken), lam_bincount(places, lam_sin(flat), 3),
                                      lam_square(lam_unique(flat, 4, NULL, NULL))),
                             0);
}

BODY(set_along) {
    out[0] = lam_put_along_axis(lam_square(in[0]), lam_argsort(in[0], 1), lam_sin(in[0]), 1);
}

BODY(diagonals) {
    out[0] = lam_matmul(lam_diag(lam_index(in[0], 1, 0), 1), lam_rot90(in[0], 1, 0, 1));
}

static const lam_body bodies[] = {by_expression, by_windows, by_moving_slices, by_order,
                                  by_sets,       set_along,  diagonals,        reduced};

static lam_tensor *matrix(void) {
    return MAT(3, 4, 0.3, -1.2, 1.5, 0.8, 1.1, 0.4, -0.7, 1.3, -1.4, 0.6, 1.2, -0.2);
}

START_TEST(derivatives_agree_with_differences) {
    lam_fn *f = FN(bodies[_i], 1, 1);
    ck_assert_msg(lam_check_grads(f, LAM_LIST(matrix()), &(lam_check_grads_options){.order = 2}) == LAM_OK,
                  "body %d: %s", _i, lam_error(ctx));
}
END_TEST

START_TEST(vmap_equals_the_loop) {
    lam_fn *f = FN(bodies[_i], 1, 1);
    lam_tensor *x = matrix(), *y = lam_cos(lam_mul(x, 3.0)), *both = lam_stack(LAM_LIST(x, y), 0);
    lam_tensor *apart = lam_stack(LAM_LIST(apply1(f, x), apply1(f, y)), 0);
    EXPECT_SAME(apply1(lam_vmap(f, NULL), both), apart, 1e-14);
    lam_tensor *twice = apply1(lam_vmap(lam_vmap(f, NULL), NULL), lam_stack(LAM_LIST(both, both), 0));
    EXPECT_SAME(twice, lam_stack(LAM_LIST(apart, apart), 0), 1e-14);
}
END_TEST

/* ---- large tensors: little memory seen more than 2^31 times, which sums read one by one and in rows -------------- */

START_TEST(more_than_two_to_the_31_elements) {
    static const int64_t n = ((int64_t)1 << 31) + 8, row = 4096;
    uint8_t one = 1;
    double two = 2;
    lam_tensor *rows = lam_broadcast_to(counted(LAM_DIMS(row)), LAM_DIMS(n / row / LESS + 1, row));
    lam_tensor *bytes = lam_broadcast_to(lam_array(ctx, LAM_U8, LAM_DIMS0, &one), LAM_DIMS(n));
    lam_tensor *x = lam_broadcast_to(lam_array(ctx, LAM_F64, LAM_DIMS0, &two), LAM_DIMS(n));
    ck_assert_int_eq(lam_size(x), n);
    EXPECT_NUM(lam_max_reduce(bytes, NULL), 1);
    EXPECT_NUM(lam_sum(lam_slice(x, LAM_DIMS(n - 3), LAM_DIMS(n), LAM_DIMS0), NULL), 6);
    EXPECT(lam_take(x, INTS(n - 1, -n), 0), LAM_DIMS(2), 2, 2);
    lam_take(x, INTS(n), 0);
    EXPECT_ERROR(LAM_ERR_INDEX, "2147483656");
    if (!SANITIZED) EXPECT_NUM(lam_argmax(bytes, 0), 0); /* the largest is looked for there */
    if (!SANITIZED) EXPECT_NUM(lam_sum(bytes, NULL), (double)n);
    EXPECT_NUM(lam_sum(rows, NULL), (double)((n / row / LESS + 1) * (row * (row - 1) / 2)));
    lam_reshape(x, LAM_DIMS(n, n, n));
    EXPECT_ERROR(LAM_ERR_OVERFLOW, "reshape");
}
END_TEST

BODY(two_of_axis_1) {
    out[0] = lam_take_mode(in[0], in[1], 1, LAM_INDEX_CLIP);
}

/* Little of a tensor that has gaps is read where it lies, batched or not, also what is seen many times. */
START_TEST(taking_little_of_what_is_not_contiguous) {
    lam_tensor *x = lam_transpose(counted(LAM_DIMS(20, 3, 30, 2)), LAM_AXES(3, 0, 2, 1)), *at = INTS(-1, 25);
    lam_tensor *rows = lam_broadcast_to(counted(LAM_DIMS(1, 4)), LAM_DIMS(100, 4)), *copy = lam_add(rows, 0.0);
    lam_fn *f = FN(two_of_axis_1, 2, 1), *both = lam_vmap(f, NULL);
    lam_tensor *each = lam_reshape(INTS(2, -1, 0, 3), LAM_DIMS(2, 2)), *solid = lam_add(x, 0.0);
    EXPECT_SAME(apply2(f, x, at), apply2(f, solid, at), 0);
    EXPECT_SAME(apply2(both, x, each), apply2(both, solid, each), 0);
    EXPECT_SAME(apply2(f, rows, INTS(3)), apply2(f, copy, INTS(3)), 0);
    EXPECT_SAME(lam_take_mode(rows, INTS(99, 100, -101), 0, LAM_INDEX_FILL),
                lam_take_mode(copy, INTS(99, 100, -101), 0, LAM_INDEX_FILL), 0);
}
END_TEST

/* ---- the printed table ------------------------------------------------------------------------------------------- */

START_TEST(every_primitive_is_printed_with_all_its_rules) {
    char line[256];
    FILE *file = tmpfile();
    int lines = 0, rows = 0;
    ck_assert_ptr_nonnull(file);
    for (const lam_primitive *const *p = lam_primitives(); *p; p++) rows++;
    lam_print_primitives(file);
    rewind(file);
    while (fgets(line, sizeof line, file)) {
        ck_assert_msg(!strchr(line, '?'), "a rule is missing: %s", line);
        lines++;
    }
    fclose(file);
    ck_assert_int_eq(lines, rows + 1);
}
END_TEST

Suite *suite_primitives_indexing(void) {
    Suite *suite =
        SUITE_OF("primitives/indexing", parts_by_expression, updates_by_expression, modes_of_expressions,
                 impossible_expressions_are_refused, along_an_axis, nan_wins_when_scattered, ties_share_the_gradient,
                 windows_as_lax_gathers_them, impossible_windows_are_refused, moving_slices, sets_and_counts, quantiles,
                 statistics, layouts, reductions_with_a_function, more_than_two_to_the_31_elements,
                 taking_little_of_what_is_not_contiguous, every_primitive_is_printed_with_all_its_rules);
    suite_loop(suite, derivatives_agree_with_differences, (int)(sizeof bodies / sizeof bodies[0]));
    suite_loop(suite, vmap_equals_the_loop, (int)(sizeof bodies / sizeof bodies[0]));
    return suite;
}
