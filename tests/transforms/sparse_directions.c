/* How many directions sparse derivatives take, of sparsities that users write. */
#include "tests/support.h"
#include "tests/transforms/entries.h"

/* x_0 x_1, x_0 x_2, x_0 x_3, x_4 x_5: two entries in a row, and three in the first column. */
BODY(products) {
    lam_tensor *left = lam_take(in[0], lam_array(ctx, LAM_I64, LAM_DIMS(4), (int64_t[]){0, 0, 0, 4}), 0);
    out[0] = lam_mul(left, lam_take(in[0], lam_array(ctx, LAM_I64, LAM_DIMS(4), (int64_t[]){1, 2, 3, 5}), 0));
}

/* A row that has an entry three times is no longer for it: two directions are enough. */
START_TEST(entries_that_are_given_again_count_once) {
    lam_tensor *x = VEC(1, 2, 3, 4, 5, 6);
    const int64_t pairs[] = {3, 4, 0, 0, 0, 1, 1, 0, 3, 4, 1, 2, 2, 0, 2, 3, 3, 4, 3, 5};
    lam_fn *sparse = lam_sparse_jacobian(FN(products, 1, 1), lam_array(ctx, LAM_I64, LAM_DIMS(10, 2), pairs), NULL);
    expect_directions(sparse, x, 2);
    EXPECT(apply1(sparse, x), LAM_DIMS(10), 6, 2, 1, 3, 6, 1, 4, 1, 6, 5);
    EXPECT_OK();
}
END_TEST

/* Turns the six numbers round, which raw data serve as well: a batch asks for the types of its examples. */
static void forward_turns(lam_fctx *fc, lam_tensor *const in[], lam_tensor *out[]) {
    double x[6], y[6];
    if (lam_read(in[0], x, sizeof x) != LAM_OK) return;
    for (int i = 0; i < 6; i++) y[i] = x[5 - i];
    out[0] = lam_array(lam_fctx_ctx(fc), LAM_F64, LAM_DIMS(6), y);
}
static void setup_nothing(UNUSED lam_fctx *fc, UNUSED lam_tensor *const in[], UNUSED lam_tensor *const out[]) {
}
static void backward_turns(UNUSED lam_fctx *fc, lam_tensor *const g[], lam_tensor *gx[]) {
    gx[0] = lam_reverse(g[0], LAM_AXES(0));
}
static const lam_function turns = {.name = "turns",
                                   .inputs = 1,
                                   .outputs = 1,
                                   .forward = forward_turns,
                                   .setup_context = setup_nothing,
                                   .backward = backward_turns,
                                   .is_linear = true,
                                   .vmap_by_loop = true};
BODY(sum_of_turned) {
    lam_function_apply(ctx, &turns, NULL, LAM_LIST(in[0]), &out[0], 1);
    out[0] = lam_sum(out[0], NULL);
}
BODY(steps) {
    lam_tensor *y;
    lam_function_apply(ctx, &turns, NULL, LAM_LIST(lam_floor(in[0])), &y, 1);
    out[0] = lam_add(y, lam_stop_gradient(in[0]));
}

/* A Function of raw data has no batch of no examples, for which it would have to say its types. */
START_TEST(without_entries_there_is_no_batch_of_none) {
    lam_tensor *x = VEC(1, 2, 3, 4, 5, 6);
    lam_fn *linear = FN(sum_of_turned, 1, 1), *flat = FN(steps, 1, 1);
    lam_tensor *none = lam_hessian_sparsity(linear, LAM_LIST(x), NULL);
    EXPECT_EMPTY(lam_cast(none, LAM_F64), LAM_DIMS(0, 2));
    EXPECT_EMPTY(apply1(lam_sparse_hessian(linear, none, NULL), x), LAM_DIMS(0));
    EXPECT_EMPTY(apply1(lam_sparse_hessian(linear, none, &(lam_sparse_options){.chunk_size = 2}), x), LAM_DIMS(0));
    EXPECT_EMPTY(apply1(lam_sparse_jacobian(flat, none, NULL), x), LAM_DIMS(0));
    EXPECT_OK();
}
END_TEST

Suite *suite_transforms_sparse_directions(void) {
    return SUITE_OF("transforms/sparse_directions", entries_that_are_given_again_count_once,
                    without_entries_there_is_no_batch_of_none);
}
