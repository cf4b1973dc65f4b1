/* Operations made of others that are given NULL beside a tensor. The message has their name, and the number of the
 * operand as their prototypes count, not those of what they are made of. */
#include "tests/support.h"

#include <lamina/lamina.h>

/* The call before has recorded that `number` of `operation` is NULL, and given a failed tensor. */
static void missed(lam_tensor *result, const char *operation, int number) {
    char text[128];
    snprintf(text, sizeof text, "%s: operand %d is NULL", operation, number);
    ck_assert_msg(lam_failed(result), "%s", text);
    EXPECT_ERROR(LAM_ERR_NULL, text);
}

START_TEST(layers_and_losses_name_themselves) {
    lam_tensor *x = MAT(2, 2, 2, 1, 1, 2);
    missed(lam_attention(NULL, x, x, NULL), "attention", 0);
    missed(lam_attention(x, NULL, x, NULL), "attention", 1);
    missed(lam_attention(x, x, NULL, NULL), "attention", 2);
    missed(lam_layer_norm(NULL, x, x, NULL), "layer_norm", 0);
    missed(lam_rms_norm(NULL, x, NULL), "rms_norm", 0);
    missed(lam_batch_norm(NULL, 0, NULL, NULL, VEC(1, 2), NULL, NULL), "batch_norm", 0);
    missed(lam_softmax_cross_entropy(NULL, x, 0), "softmax_cross_entropy", 0);
    missed(lam_softmax_cross_entropy(x, NULL, 0), "softmax_cross_entropy", 1);
    missed(lam_softmax_cross_entropy_with_integer_labels(NULL, x, 0), "softmax_cross_entropy_with_integer_labels", 0);
    missed(lam_softmax_cross_entropy_with_integer_labels(x, NULL, 0), "softmax_cross_entropy_with_integer_labels", 1);
    missed(lam_sigmoid_binary_cross_entropy(NULL, x), "sigmoid_binary_cross_entropy", 0);
    missed(lam_kl_divergence(NULL, x, 0), "kl_divergence", 0);
    missed(lam_kl_divergence(x, NULL, 0), "kl_divergence", 1);
    missed(lam_kl_div(NULL, x), "kl_div", 0);
    missed(lam_cosine_similarity(NULL, x, 0), "cosine_similarity", 0);
    missed(lam_cosine_similarity(x, NULL, 0), "cosine_similarity", 1);
}
END_TEST

START_TEST(curves_and_order_name_themselves) {
    lam_tensor *x = VEC(1, 2, 3);
    missed(lam_interp(NULL, x, x), "interp", 0);
    missed(lam_interp(x, x, NULL), "interp", 2);
    missed(lam_interp_with(NULL, x, x, NULL), "interp_with", 0);
    missed(lam_interp_with(x, x, NULL, NULL), "interp_with", 2);
    missed(lam_gradient_at(NULL, x, 0), "gradient_at", 0);
    missed(lam_percentile(x, NULL, NULL), "percentile", 1);
    missed(lam_nanpercentile(x, NULL, NULL), "nanpercentile", 1);
    missed(lam_rand_normal(NULL, x), "rand_normal", 0);
    missed(lam_compress(NULL, x, 2, 0, 0), "compress", 0);
    missed(lam_compress(x, NULL, 2, 0, 0), "compress", 1);
    missed(lam_take_along_axis(NULL, x, 0), "take_along_axis", 0);
    missed(lam_take_along_axis(x, NULL, 0), "take_along_axis", 1);
    missed(lam_dynamic_slice_axis(NULL, x, 1, 0), "dynamic_slice_axis", 0);
    missed(lam_dynamic_slice_axis(x, NULL, 1, 0), "dynamic_slice_axis", 1);
    missed(lam_dynamic_update_slice_axis(NULL, x, x, 0), "dynamic_update_slice_axis", 0);
    missed(lam_dynamic_update_slice_axis(x, NULL, x, 0), "dynamic_update_slice_axis", 1);
    missed(lam_dynamic_update_slice_axis(x, x, NULL, 0), "dynamic_update_slice_axis", 2);
}
END_TEST

START_TEST(solves_and_products_name_themselves) {
    lam_tensor *x = MAT(2, 2, 2, 1, 1, 2), *y[2] = {x, x},
               *sizes = lam_array(ctx, LAM_I64, LAM_DIMS(1), (int64_t[]){2});
    missed(lam_cho_solve(NULL, x), "cho_solve", 0);
    missed(lam_lu_solve(x, NULL, x, false), "lu_solve", 1);
    missed(lam_lu_solve(x, sizes, NULL, false), "lu_solve", 2);
    missed(lam_ragged_dot(x, lam_expand_dims(x, 0), NULL), "ragged_dot", 2);
    missed(lam_scale_and_translate(NULL, LAM_DIMS(2, 2), LAM_AXES(0, 1), x, x, NULL), "scale_and_translate", 0);
    missed(lam_scale_and_translate(x, LAM_DIMS(2, 2), LAM_AXES(0, 1), NULL, x, NULL), "scale_and_translate", 1);
    missed(lam_scale_and_translate(x, LAM_DIMS(2, 2), LAM_AXES(0, 1), x, NULL, NULL), "scale_and_translate", 2);
    ck_assert_int_eq(lam_divmod(NULL, x, &y[0], &y[1]), LAM_ERR_NULL);
    ck_assert(lam_failed(y[1]));
    missed(y[0], "divmod", 0);
}
END_TEST

Suite *suite_fuzz_missing(void) {
    return SUITE_OF("fuzz/missing", layers_and_losses_name_themselves, curves_and_order_name_themselves,
                    solves_and_products_name_themselves);
}
