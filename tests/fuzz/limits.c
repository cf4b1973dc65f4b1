/* Options, lists and sizes beyond what there is: argument numbers, axes and ranges out of range, sizes whose products
 * overflow, views of more elements than memory holds. */
#include "tests/support.h"

typedef lam_tensor *reduction(lam_tensor *, const lam_reduce_options *);

static reduction *const reductions[] = {
    lam_all, lam_any, lam_logsumexp, lam_max_reduce, lam_mean, lam_min_reduce, lam_prod, lam_sum,
};

#define COUNT(table) (sizeof(table) / sizeof(table)[0])

BODY(identity) {
    out[0] = in[0];
}

/* ---- options --------------------------------------------------------------------------------------------------- */

START_TEST(argnums_out_of_range) {
    lam_fn *f = FN(identity, 1, 1);
    const lam_axes lists[] = {LAM_AXES(1),
                              LAM_AXES(-2),
                              LAM_AXES(0, 0),
                              LAM_NO_AXES,
                              {1, NULL},
                              {-1, NULL},
                              LAM_AXES(LAM_UNMAPPED),
                              LAM_AXES(INT_MAX),
                              LAM_AXES(LAM_RANGE(0, 2)),
                              LAM_AXES(LAM_RANGE(1, 1)),
                              LAM_AXES(0, -1)};
    for (size_t i = 0; i < COUNT(lists); i++) {
        lam_fn *made[] = {lam_grad(f, &(lam_grad_options){.argnums = lists[i]}),
                          lam_jvp_fn(f, &(lam_grad_options){.argnums = lists[i]}),
                          lam_jacrev(f, &(lam_jacobian_options){.argnums = lists[i]}),
                          lam_hessian(f, &(lam_jacobian_options){.argnums = lists[i]}),
                          lam_hvp(f, &(lam_grad_options){.argnums = lists[i]})};
        for (size_t k = 0; k < COUNT(made); k++) ck_assert_msg(lam_failed(made[k]), "list %zu, transform %zu", i, k);
        lam_clear_error(ctx);
    }
    EXPECT_NUM(apply1(lam_grad(f, &(lam_grad_options){.argnums = LAM_AXES(LAM_RANGE(0, 1))}), num(3)), 1);
    for (int aux = -1; aux < 3; aux += aux ? 1 : 1) {
        if (aux == 0) continue;
        ck_assert(lam_failed(lam_grad(f, &(lam_grad_options){.has_aux = aux})));
        ck_assert(lam_failed(lam_jacfwd(f, &(lam_jacobian_options){.has_aux = aux})));
        lam_clear_error(ctx);
    }
    ck_assert(lam_failed(lam_jacobian(f, &(lam_jacobian_options){.chunk_size = -1})));
    ck_assert(lam_failed(lam_jacobian(f, &(lam_jacobian_options){.randomness = (lam_randomness)9})));
    ck_assert(lam_failed(lam_vmap(f, &(lam_vmap_options){.chunk_size = -1})));
    ck_assert(lam_failed(lam_vmap(f, &(lam_vmap_options){.axis_size = -2})));
    ck_assert(lam_failed(lam_vmap(f, &(lam_vmap_options){.randomness = (lam_randomness)-1})));
    ck_assert(lam_failed(lam_vmap(f, &(lam_vmap_options){.in_axes = {1, NULL}})));
    ck_assert(lam_failed(lam_vmap(f, &(lam_vmap_options){.in_axes = {-4, (int[]){0}}})));
    ck_assert(lam_failed(lam_vmap(f, &(lam_vmap_options){.in_axes = LAM_AXES(LAM_RANGE(0, 1))})));
    lam_clear_error(ctx);
}
END_TEST

/* Every operation that takes a list of axes: ranges work, impossible lists fail. */
START_TEST(axis_lists) {
    lam_tensor *x = lam_ones(ctx, LAM_F64, LAM_DIMS(1, 1));
    const lam_axes lists[] = {LAM_AXES(2),
                              LAM_AXES(-3),
                              LAM_AXES(0, 0),
                              LAM_AXES(0, -2),
                              {1, NULL},
                              LAM_AXES(LAM_UNMAPPED),
                              LAM_AXES(INT_MAX),
                              LAM_AXES(LAM_RANGE(0, 3)),
                              LAM_AXES(LAM_RANGE(0, 8000))};
    for (size_t i = 0; i < COUNT(lists); i++) {
        for (size_t k = 0; k < COUNT(reductions); k++)
            ck_assert_msg(lam_failed(reductions[k](x, &(lam_reduce_options){.axes = lists[i]})),
                          "list %zu, reduction %zu", i, k);
        ck_assert(lam_failed(lam_squeeze(x, lists[i])) && lam_failed(lam_transpose(x, lists[i])) &&
                  lam_failed(lam_reverse(x, lists[i])));
        ck_assert(lam_failed(lam_tensordot(x, x, lists[i], LAM_AXES(0))) &&
                  lam_failed(lam_tensordot(x, x, LAM_AXES(0), lists[i])));
        lam_clear_error(ctx);
    }
    lam_axes both = LAM_AXES(LAM_RANGE(0, 2));
    EXPECT(lam_squeeze(x, both), LAM_DIMS0, 1);
    EXPECT(lam_transpose(x, both), LAM_DIMS(1, 1), 1);
    EXPECT(lam_reverse(x, both), LAM_DIMS(1, 1), 1);
    EXPECT(lam_sum(x, &(lam_reduce_options){.axes = both}), LAM_DIMS0, 1);
}
END_TEST

/* ---- sizes ----------------------------------------------------------------------------------------------------- */

START_TEST(sizes_that_overflow) {
    int64_t huge = INT64_MAX, large = (int64_t)1 << 40;
    lam_tensor *x = VEC(1, 2, 3);
    ck_assert(lam_failed(lam_zeros(ctx, LAM_F64, LAM_DIMS(huge))));
    ck_assert(lam_failed(lam_zeros(ctx, LAM_U8, LAM_DIMS(large, large))));
    ck_assert(lam_failed(lam_eye(ctx, LAM_F64, large, large)));
    ck_assert(lam_failed(lam_arange(ctx, LAM_F64, 0, 1e300, 1)));
    ck_assert(lam_failed(lam_arange(ctx, LAM_F64, 0, 1, 0)));
    ck_assert(lam_failed(lam_linspace(ctx, LAM_F64, 0, 1, huge)));
    ck_assert(lam_failed(lam_iota(ctx, LAM_F64, LAM_DIMS(huge, 2), 0)));
    ck_assert(lam_failed(lam_reshape(x, LAM_DIMS(huge, huge))));
    ck_assert(lam_failed(lam_broadcast_to(x, LAM_DIMS(huge, huge, 3))));
    ck_assert(lam_failed(lam_pad(x, LAM_DIMS(huge), LAM_DIMS(huge), NULL)));
    ck_assert(lam_failed(lam_pad(x, LAM_DIMS(INT64_MIN), LAM_DIMS(0), NULL)));
    ck_assert(lam_failed(lam_pad(x, LAM_DIMS(0), LAM_DIMS(0), &(lam_pad_options){.interior = LAM_DIMS(huge)})));
    ck_assert(lam_failed(lam_one_hot(lam_array(ctx, LAM_I64, LAM_DIMS(3), (int64_t[]){0, 1, 2}), huge, LAM_F64)));
    ck_assert(lam_failed(lam_fn_new(ctx, &(lam_fn_options){.body = identity, .inputs = INT_MAX, .outputs = INT_MAX})));
    lam_clear_error(ctx);
    EXPECT(lam_slice(x, LAM_DIMS(INT64_MIN), LAM_DIMS(INT64_MAX), LAM_DIMS(INT64_MAX)), LAM_DIMS(1), 1);
    EXPECT(lam_slice(x, LAM_DIMS(2), LAM_DIMS(INT64_MIN), LAM_DIMS(-INT64_MAX)), LAM_DIMS(1), 3);
    EXPECT_EMPTY(lam_slice_axis(x, 0, INT64_MAX - 1, INT64_MIN), LAM_DIMS(0));
    lam_tril(lam_ones_like(lam_eye(ctx, LAM_F64, 2, 2)), INT64_MIN),
        lam_triu(lam_ones_like(lam_eye(ctx, LAM_F64, 2, 2)), INT64_MAX);
    lam_clear_error(ctx);
}
END_TEST

START_TEST(nothing_of_a_view_overflows) {
    lam_tensor *wide = lam_broadcast_to(num(1), LAM_DIMS((int64_t)1 << 45));
    ck_assert(lam_failed(lam_contiguous(wide)));
    EXPECT_STATUS(LAM_ERR_MEMORY);
    ck_assert(lam_failed(lam_concatenate(LAM_LIST(wide, wide), 0)));
    EXPECT_STATUS(LAM_ERR_MEMORY);
    ck_assert(lam_failed(lam_outer(wide, wide)));
    lam_clear_error(ctx);
}
END_TEST

Suite *suite_fuzz_limits(void) {
    return SUITE_OF("fuzz/limits", argnums_out_of_range, axis_lists, sizes_that_overflow, nothing_of_a_view_overflows);
}
