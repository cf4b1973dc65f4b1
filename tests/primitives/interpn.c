/* Interpolation between the points of grids: functions that are linear along each axis are met exactly, other values
 * are from SciPy 1.17.1 and JAX 0.10.2; slopes at points, derivatives against differences, vmap against one call per
 * example, what is refused. */
#include "tests/support.h"

static lam_tensor *first_points(void) {
    return VEC(-1, 0, 0.5, 2);
}

static lam_tensor *second_points(void) {
    return VEC(0, 1, 4);
}

/* 1 + 2 x + 3 y + x y of grids or of places. */
static lam_tensor *plane(lam_tensor *x, lam_tensor *y) {
    return lam_add_all(LAM_LIST(lam_mul(2, x), lam_mul(3, y), lam_mul(x, y), lam_add(lam_mul(0, lam_add(x, y)), 1)));
}

static lam_tensor *plane_on_grid(void) {
    return plane(lam_expand_dims(first_points(), 1), second_points());
}

static lam_tensor *at_plane(lam_tensor *places) {
    return plane(lam_index(places, -1, 0), lam_index(places, -1, 1));
}

static lam_tensor *interpolated(lam_tensor *values, lam_tensor *x, const lam_interpn_options *o) {
    return lam_interpn(LAM_LIST(first_points(), second_points()), values, x, o);
}

static const lam_interpn_options on = {.extrapolate = true}, nearest = {.nearest = true};

START_TEST(linear_along_each_axis) {
    lam_tensor *inside =
        lam_array(ctx, LAM_F64, LAM_DIMS(2, 3, 2), (double[]){-1, 0, 2, 4, 0, 1, -0.3, 2.5, 0.4, 0.6, 1.7, 0.1});
    lam_tensor *beyond = MAT(3, 2, -2, 0.5, 0.25, 7, 3, -1), *grid = plane_on_grid();
    EXPECT_SAME(interpolated(grid, inside, NULL), at_plane(inside), 1e-15);
    EXPECT_SAME(interpolated(grid, inside, &on), at_plane(inside), 1e-15);
    EXPECT_SAME(interpolated(grid, beyond, &on), at_plane(beyond), 1e-15);
    EXPECT_NEAR(interpolated(grid, MAT(2, 2, 3, 1, 1, 1), &(lam_interpn_options){.fill = &(double){-7}}), 1e-15,
                LAM_DIMS(2), -7, 7);
    EXPECT(lam_is_nan(interpolated(grid, beyond, NULL)), LAM_DIMS(3), 1, 1, 1);
    lam_tensor *items = lam_stack(LAM_LIST(grid, lam_mul(-2, grid)), -1); /* of each point two */
    lam_tensor *both = interpolated(items, inside, NULL), *one = at_plane(inside);
    EXPECT_SAME(both, lam_stack(LAM_LIST(one, lam_mul(-2, one)), -1), 1e-15);
    EXPECT(lam_is_nan(interpolated(items, beyond, NULL)), LAM_DIMS(3, 2), 1, 1, 1, 1, 1, 1);
    EXPECT_OK();
}
END_TEST

/* From scipy.interpolate.RegularGridInterpolator; halfway is the lower one. */
START_TEST(the_nearest_point) {
    lam_tensor *values = lam_reshape(lam_arange(ctx, LAM_F64, 0, 12, 1), LAM_DIMS(4, 3));
    lam_tensor *x = MAT(5, 2, -0.5, 2.5, 0.3, 0.1, 2, 4, 1.26, 2.51, -1, 1);
    EXPECT(interpolated(values, x, &nearest), LAM_DIMS(5), 1, 6, 11, 11, 1);
    lam_interpn_options o = {.nearest = true, .extrapolate = true};
    EXPECT(interpolated(values, MAT(2, 2, -9, 9, INFINITY, 0.2), &o), LAM_DIMS(2), 2, 9);
    EXPECT(lam_interpn(LAM_LIST(VEC(3)), VEC(5), MAT(1, 1, 3), &nearest), LAM_DIMS(1), 5);
    EXPECT_OK();
}
END_TEST

START_TEST(dtypes_of_grids) {
    lam_tensor *whole = lam_cast(plane_on_grid(), LAM_I32), *x = MAT(1, 2, 0.25, 1);
    EXPECT(interpolated(whole, x, NULL), LAM_DIMS(1), 4.5); /* between 4 and 5, since 5.5 was cut */
    lam_tensor *single = interpolated(lam_cast(plane_on_grid(), LAM_F32), x, NULL);
    ck_assert_int_eq(lam_dtype_of(single), LAM_F32);
    ck_assert_int_eq(lam_dtype_of(interpolated(lam_cast(plane_on_grid(), LAM_F16), x, NULL)), LAM_F16);
    lam_tensor *z = interpolated(lam_complex(plane_on_grid(), lam_neg(plane_on_grid())), x, NULL);
    EXPECT(lam_real(z), LAM_DIMS(1), 4.75);
    EXPECT(lam_imag(z), LAM_DIMS(1), -4.75);
    lam_tensor *none = MAT(3, 2, NAN, 1, 1, NAN, 1, 1);
    EXPECT(lam_is_nan(interpolated(plane_on_grid(), none, &on)), LAM_DIMS(3), 1, 1, 0);
    EXPECT(lam_is_nan(interpolated(plane_on_grid(), none, &nearest)), LAM_DIMS(3), 1, 1, 0);
    EXPECT_EMPTY(interpolated(plane_on_grid(), lam_zeros(ctx, LAM_F64, LAM_DIMS(0, 2)), NULL), LAM_DIMS(0));
    EXPECT_OK();
}
END_TEST

BODY(of_all) {
    out[0] = lam_interpn(LAM_LIST(in[0], in[1]), in[2], in[3], env);
}

BODY(on_a_line) {
    out[0] = lam_sum(lam_interpn(LAM_LIST(VEC(0, 1, 3)), VEC(0, 10, 14), lam_expand_dims(in[0], -1), env), NULL);
}

START_TEST(derivatives_of_interpolation) {
    lam_tensor *values = lam_sin(lam_reshape(lam_arange(ctx, LAM_F64, 0, 12, 1), LAM_DIMS(4, 3)));
    lam_tensor *x = MAT(4, 2, -0.4, 0.3, 0.7, 2.2, 1.9, 3.8, -3, 9);
    lam_interpn_options o[] = {{.fill = &(double){0.5}}, {.extrapolate = true}};
    for (int i = 0; i < 2; i++) {
        lam_fn *f = FN_ENV(of_all, 4, 1, &o[i]);
        lam_list in = LAM_LIST(first_points(), second_points(), values, x);
        ck_assert_int_eq(lam_check_grads(f, in, &(lam_check_grads_options){.order = 2}), LAM_OK);
    }
    /* slopes 10 and 2: at a point that of the piece behind it, at the last one of the last piece */
    lam_fn *slope = lam_grad(FN_ENV(on_a_line, 1, 1, &o[0]), NULL);
    EXPECT(apply1(slope, VEC(-1, 0, 0.5, 1, 2, 3, 4)), LAM_DIMS(7), 0, 10, 10, 2, 2, 2, 0);
    slope = lam_grad(FN_ENV(on_a_line, 1, 1, &o[1]), NULL);
    EXPECT(apply1(slope, VEC(-1, 0, 3, 4, 1e300)), LAM_DIMS(5), 10, 10, 2, 2, 2);
    lam_interpn_options last = nearest;
    EXPECT(apply1(lam_grad(FN_ENV(on_a_line, 1, 1, &last), NULL), VEC(0.2, 0.5)), LAM_DIMS(2), 0, 0);
    o[0].fill = NULL;
    EXPECT(apply1(lam_grad(FN_ENV(on_a_line, 1, 1, &o[0]), NULL), VEC(INFINITY, 2)), LAM_DIMS(2), 0, 2);
    EXPECT_OK();
}
END_TEST

static lam_tensor *two(lam_tensor *x, lam_tensor *y) {
    return lam_stack(LAM_LIST(x, y), 0);
}

START_TEST(grids_in_batches) {
    lam_tensor *in[4] = {first_points(), second_points(), plane_on_grid(), MAT(2, 2, 0.3, 0.5, -0.5, 3)}, *other[4];
    for (int i = 0; i < 4; i++) other[i] = lam_mul(i < 2 ? 1.5 : -1, in[i]);
    other[3] = lam_neg(lam_mul(other[3], 0.9));
    lam_interpn_options o = on;
    lam_fn *f = FN_ENV(of_all, 4, 1, &o);
    for (int set = 1; set < 16; set++) {
        int axes[4];
        lam_tensor *first[4], *second[4], *batch[4];
        for (int i = 0; i < 4; i++) {
            const bool mapped = set >> i & 1;
            axes[i] = mapped ? 0 : LAM_UNMAPPED;
            first[i] = in[i];
            second[i] = mapped ? other[i] : in[i];
            batch[i] = mapped ? two(in[i], other[i]) : in[i];
        }
        lam_fn *mapped = lam_vmap(f, &(lam_vmap_options){.in_axes = {4, axes}});
        EXPECT_SAME(lam_apply(mapped, (lam_list){4, batch}),
                    two(lam_apply(f, (lam_list){4, first}), lam_apply(f, (lam_list){4, second})), 1e-15);
    }
}
END_TEST

START_TEST(wrong_grids) {
    lam_tensor *p = first_points(), *q = second_points(), *values = plane_on_grid(), *x = MAT(1, 2, 0.5, 0.5);
    lam_interpn((lam_list){0, NULL}, values, x, NULL);
    EXPECT_ERROR(LAM_ERR_ARITY, "interpn");
    lam_interpn(LAM_LIST(p), values, x, NULL);
    EXPECT_ERROR(LAM_ERR_SHAPE, "interpn", "1 lists");
    lam_interpn(LAM_LIST(q, p), values, x, NULL);
    EXPECT_ERROR(LAM_ERR_SHAPE, "interpn", "axis of 3 values");
    lam_interpn(LAM_LIST(p, q), q, x, NULL);
    EXPECT_ERROR(LAM_ERR_SHAPE, "interpn");
    lam_interpn(LAM_LIST(p, q), values, num(1), NULL);
    EXPECT_ERROR(LAM_ERR_SHAPE, "interpn");
    lam_interpn(LAM_LIST(VEC(1)), VEC(1), MAT(1, 1, 1), NULL);
    EXPECT_ERROR(LAM_ERR_SHAPE, "interpn");
    lam_interpn(LAM_LIST(lam_reverse(p, LAM_AXES(0)), q), values, x, NULL);
    EXPECT_ERROR(LAM_ERR_VALUE, "interpn", "ascend");
    lam_interpn(LAM_LIST(VEC(-1, 0, 0, 2), q), values, x, NULL);
    EXPECT_ERROR(LAM_ERR_VALUE, "interpn", "ascend");
    lam_interpn(LAM_LIST(p, q), values, lam_cast(x, LAM_C128), NULL);
    EXPECT_ERROR(LAM_ERR_DTYPE, "interpn");
    lam_interpn(LAM_LIST(p, NULL), values, x, NULL);
    EXPECT_ERROR(LAM_ERR_NULL, "interpn");
}
END_TEST

Suite *suite_primitives_interpn(void) {
    return SUITE_OF("primitives/interpn", linear_along_each_axis, the_nearest_point, dtypes_of_grids,
                    derivatives_of_interpolation, grids_in_batches, wrong_grids);
}
