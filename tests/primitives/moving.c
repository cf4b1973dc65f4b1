/* Slices that start where a tensor says, which are taken and put in two ways: at places that are known when they are
 * asked for, and at those of a batch. Beside the definition, element by element. And what is no place at all. */
#include "tests/support.h"

BODY(windowed) {
    const lam_list starts = LAM_LIST(in[1], in[2]);
    out[0] = lam_dynamic_slice(in[0], starts, LAM_DIMS(2, 3));
    out[1] = lam_dynamic_update_slice(in[0], lam_neg(out[0]), starts);
}

/* What is taken and put by these starts, element by element; example k of a batch, or all. */
static void check_window(lam_tensor *const out[], int64_t k, int64_t i, int64_t j) {
    const double *taken = (const double *)lam_data(lam_contiguous(out[0])) + 6 * k;
    const double *put = (const double *)lam_data(lam_contiguous(out[1])) + 20 * k;
    i = i < 0 ? i + 4 : i, i = i < 0 ? 0 : i > 2 ? 2 : i;
    j = j < 0 ? j + 5 : j, j = j < 0 ? 0 : j > 2 ? 2 : j;
    for (int64_t a = 0; a < 4; a++)
        for (int64_t b = 0; b < 5; b++) {
            const bool in = a >= i && a < i + 2 && b >= j && b < j + 3;
            if (in) ck_assert(taken[(a - i) * 3 + b - j] == (double)(a * 5 + b + 1));
            ck_assert(put[a * 5 + b] == (in ? -1 : 1) * (double)(a * 5 + b + 1));
        }
}

/* Starts that can be read, and those of a batch, which cannot. */
START_TEST(starts_that_are_known_and_others) {
    static const int64_t starts[] = {INT64_MIN, -9, -5, -4, -1, 0, 1, 2, 3, 8, INT64_MAX};
    enum { STARTS = sizeof starts / sizeof *starts };
    lam_tensor *x = lam_reshape(lam_arange(ctx, LAM_F64, 1, 21, 1), LAM_DIMS(4, 5)), *out[2];
    lam_tensor *i = lam_array(ctx, LAM_I64, LAM_DIMS(STARTS), starts), *j = lam_reverse(i, LAM_AXES(0));
    lam_fn *f = FN(windowed, 3, 2);
    const lam_vmap_options mapped = {.in_axes = LAM_AXES(LAM_UNMAPPED, 0, 0)};
    for (int k = 0; k < STARTS; k++) {
        ck_assert_int_eq(lam_call(f, LAM_LIST(x, lam_index(i, 0, k), lam_index(j, 0, k)), out, 2), LAM_OK);
        check_window(out, 0, starts[k], starts[STARTS - 1 - k]);
    }
    ck_assert_int_eq(lam_call(lam_vmap(f, &mapped), LAM_LIST(x, i, j), out, 2), LAM_OK);
    for (int k = 0; k < STARTS; k++) check_window(out, k, starts[k], starts[STARTS - 1 - k]);
    lam_tensor *narrow = lam_cast(lam_index(i, 0, 6), LAM_I32), *byte = lam_cast(lam_index(i, 0, 7), LAM_U8);
    ck_assert_int_eq(lam_call(f, LAM_LIST(x, narrow, byte), out, 2), LAM_OK);
    check_window(out, 0, 1, 2);
}
END_TEST

/* Of no mode and no dtype: nothing is rounded to a place, nor read as if it were an integer. */
START_TEST(numbers_that_are_no_integers_are_no_places) {
    static const lam_dtype dtypes[] = {LAM_F64, LAM_F32, LAM_F16, LAM_BF16, LAM_C128, LAM_C64};
    static const lam_index_mode modes[] = {LAM_INDEX_ERROR, LAM_INDEX_CLIP, LAM_INDEX_FILL};
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
        lam_tensor *x = VEC(1, 2, 3), *one = lam_cast(num(1), dtypes[d]), *list = lam_cast(VEC(1), dtypes[d]);
        lam_dynamic_slice(x, LAM_LIST(one), LAM_DIMS(1));
        EXPECT_ERROR(LAM_ERR_DTYPE, "dynamic_slice", "axis 0");
        lam_dynamic_update_slice(x, VEC(7), LAM_LIST(one));
        EXPECT_ERROR(LAM_ERR_DTYPE, "dynamic_update_slice", "axis 0");
        lam_one_hot(list, 3, LAM_F64);
        EXPECT_ERROR(LAM_ERR_DTYPE, "one_hot", "not integers");
        for (size_t m = 0; m < sizeof modes / sizeof *modes; m++) {
            const lam_gather_options windows = {
                .offset_axes = LAM_AXES(0), .index_axes = LAM_AXES(0), .window = LAM_DIMS(1), .mode = modes[m]};
            lam_gather(x, list, &windows);
            EXPECT_ERROR(LAM_ERR_DTYPE, "gather", "not integers");
            lam_scatter(x, list, VEC(7), LAM_AT_ADD, &windows);
            EXPECT_ERROR(LAM_ERR_DTYPE, "scatter", "not integers");
            lam_at_get_mode(x, LAM_AT(LAM_TENSOR(list)), modes[m]);
            EXPECT_ERROR(LAM_ERR_DTYPE, "at_get", "not integers");
            lam_at_update(x, LAM_AT(LAM_TENSOR(list)), VEC(7), LAM_AT_SET, modes[m]);
            EXPECT_ERROR(LAM_ERR_DTYPE, "not integers");
        }
    }
}
END_TEST

Suite *suite_primitives_moving(void) {
    return SUITE_OF("primitives/moving", starts_that_are_known_and_others, numbers_that_are_no_integers_are_no_places);
}
