/* Covariances of observations with weights, nearest rows, Bernoulli's numbers: values from NumPy 2, SciPy 1.17.1 and
 * known fractions, derivatives against differences, what is refused. */
#include "tests/support.h"

BODY(covariances) {
    out[0] = lam_cov_with(in[0], &(lam_cov_options){.ddof = 1, .fweights = in[2], .aweights = in[1]});
}

START_TEST(covariances_with_weights) {
    lam_tensor *x = MAT(2, 4, 1, 2, 4, 3, 0.5, -1, 2, 7),
               *often = lam_array(ctx, LAM_I64, LAM_DIMS(4), (int64_t[]){1, 2, 1, 3});
    lam_tensor *a = VEC(0.5, 1, 2, 0.25);
    lam_cov_options both = {1, often, a}, frequencies = {.ddof = 1, .fweights = often}, none = {.ddof = 1};
    EXPECT_NEAR(lam_cov_with(x, &both), 1e-14, LAM_DIMS(2, 2), 1.4437869822485205, 1.7218934911242603,
                1.7218934911242603, 8.986686390532546);
    /* an observation that was made twice is there twice */
    lam_tensor *repeated = lam_repeat_each(x, often, 7, 1);
    EXPECT_SAME(lam_cov_with(x, &frequencies), lam_cov(repeated, 1), 1e-14);
    EXPECT_SAME(lam_cov_with(x, &none), lam_cov(x, 1), 1e-14);
    EXPECT_SAME(lam_cov_with(x, NULL), lam_cov(x, 0), 1e-14);
    lam_cov_options more = {1, often, lam_mul(7, a)};
    EXPECT_SAME(lam_cov_with(x, &more), lam_cov_with(x, &both), 1e-14);
    ck_assert_int_eq(lam_dtype_of(lam_cov_with(lam_cast(x, LAM_F16), NULL)), LAM_F16);
    lam_tensor *z = lam_complex(x, lam_reverse(x, LAM_AXES(1)));
    lam_tensor *own = lam_cov_with(z, &none), *same = lam_cov(z, 1);
    EXPECT_SAME(lam_real(own), lam_real(same), 1e-14);
    EXPECT_SAME(lam_add(lam_imag(own), 10), lam_add(lam_imag(same), 10), 1e-14);
    ck_assert_int_eq(
        lam_check_grads(FN(covariances, 3, 1), LAM_LIST(x, a, VEC(1, 2, 1, 3)), &(lam_check_grads_options){.order = 2}),
        LAM_OK);
    lam_tensor *xs = lam_stack(LAM_LIST(x, lam_exp(x)), 0);
    lam_fn *f = FN(covariances, 3, 1),
           *batch = lam_vmap(f, &(lam_vmap_options){.in_axes = LAM_AXES(0, LAM_UNMAPPED, LAM_UNMAPPED)});
    EXPECT_SAME(
        lam_apply(batch, LAM_LIST(xs, a, often)),
        lam_stack(LAM_LIST(lam_apply(f, LAM_LIST(x, a, often)), lam_apply(f, LAM_LIST(lam_exp(x), a, often))), 0),
        1e-14);
    EXPECT_OK();
}
END_TEST

BODY(distances) {
    lam_vq(in[0], in[1], NULL, &out[0]);
}

START_TEST(nearest_rows) {
    lam_tensor *x = MAT(4, 2, 0, 0, 3, 4, 1, 1, -2, 0), *book = MAT(3, 2, 0, 0, 3, 3, -2, 0), *code, *away;
    ck_assert_int_eq(lam_vq(x, book, &code, &away), LAM_OK);
    EXPECT(lam_cast(code, LAM_F64), LAM_DIMS(4), 0, 1, 0, 2);
    EXPECT_NEAR(away, 1e-15, LAM_DIMS(4), 0, 1, sqrt(2), 0);
    ck_assert_int_eq(lam_vq(MAT(1, 1, 1), MAT(2, 1, 0, 2), &code, NULL), LAM_OK); /* as near: the first */
    EXPECT(lam_cast(code, LAM_F64), LAM_DIMS(1), 0);
    ck_assert_int_eq(lam_check_grads(FN(distances, 2, 1), LAM_LIST(MAT(2, 2, 3, 4, 1, 1.5), book),
                                     &(lam_check_grads_options){.order = 2}),
                     LAM_OK);
    lam_fn *batch = lam_vmap(FN(distances, 2, 1), &(lam_vmap_options){.in_axes = LAM_AXES(0, LAM_UNMAPPED)});
    EXPECT_NEAR(apply2(batch, lam_stack(LAM_LIST(x, lam_add(x, 1)), 0), book), 1e-15, LAM_DIMS(2, 4), 0, 1, sqrt(2), 0,
                sqrt(2), sqrt(5), sqrt(2), sqrt(2));
    EXPECT_OK();
}
END_TEST

START_TEST(bernoulli_numbers) {
    EXPECT_NEAR(lam_bernoulli(ctx, LAM_F64, 20), 3e-16, LAM_DIMS(21), 1, -0.5, 1. / 6, 0, -1. / 30, 0, 1. / 42, 0,
                -1. / 30, 0, 5. / 66, 0, -691. / 2730, 0, 7. / 6, 0, -3617. / 510, 0, 43867. / 798, 0, -174611. / 330);
    lam_tensor *many = lam_bernoulli(ctx, LAM_F64, 265);
    EXPECT_NEAR(lam_slice_axis(many, 0, 254, 266), 1e-15, LAM_DIMS(12), 4.807932127750157e+299, 0,
                -7.950212504588525e+302, 0, 1.3352784187354634e+306, 0, -INFINITY, 0, INFINITY, 0, -INFINITY, 0);
    ck_assert_int_eq(lam_dtype_of(lam_bernoulli(ctx, LAM_F32, 3)), LAM_F32);
    EXPECT(lam_bernoulli(ctx, LAM_F64, 0), LAM_DIMS(1), 1);
    EXPECT_OK();
}
END_TEST

START_TEST(what_is_refused) {
    lam_tensor *x = MAT(2, 3, 1, 2, 3, 4, 5, 6), *v = VEC(1, 2), *o[2];
    lam_cov_with(v, NULL);
    EXPECT_ERROR(LAM_ERR_RANK, "cov_with");
    lam_cov_with(x, &(lam_cov_options){.aweights = v});
    EXPECT_ERROR(LAM_ERR_SHAPE, "cov_with", "weights");
    lam_cov_with(x, &(lam_cov_options){.fweights = x});
    EXPECT_ERROR(LAM_ERR_SHAPE, "cov_with", "weights");
    lam_cov_with(x, &(lam_cov_options){.aweights = lam_cast(VEC(1, 2, 3), LAM_C128)});
    EXPECT_ERROR(LAM_ERR_DTYPE, "cov_with");
    ck_assert_int_eq(lam_vq(x, v, &o[0], &o[1]), LAM_ERR_RANK);
    EXPECT_ERROR(LAM_ERR_RANK, "vq");
    ck_assert_int_eq(lam_vq(x, MAT(1, 2, 1, 2), &o[0], &o[1]), LAM_ERR_SHAPE);
    EXPECT_ERROR(LAM_ERR_SHAPE, "vq");
    ck_assert_int_eq(lam_vq(x, lam_zeros(ctx, LAM_F64, LAM_DIMS(0, 3)), &o[0], &o[1]), LAM_ERR_SHAPE);
    EXPECT_ERROR(LAM_ERR_SHAPE, "vq");
    ck_assert_int_eq(lam_vq(x, lam_cast(x, LAM_C128), &o[0], &o[1]), LAM_ERR_DTYPE);
    EXPECT_ERROR(LAM_ERR_DTYPE, "vq");
    lam_bernoulli(ctx, LAM_F64, -1);
    EXPECT_ERROR(LAM_ERR_VALUE, "bernoulli");
    lam_bernoulli(ctx, LAM_I64, 1);
    EXPECT_ERROR(LAM_ERR_DTYPE, "bernoulli");
}
END_TEST

Suite *suite_primitives_weighted(void) {
    return SUITE_OF("primitives/weighted", covariances_with_weights, nearest_rows, bernoulli_numbers, what_is_refused);
}
