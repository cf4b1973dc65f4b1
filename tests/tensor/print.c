/* lam_print: plain tensors, and boxes with their level, axis and what is inside. */
#include "tests/support.h"

static char text[2048];

static void print_to_text(lam_tensor *t) {
    FILE *file = tmpfile();
    lam_print(file, t);
    rewind(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
}

START_TEST(a_plain_tensor_shows_type_and_elements) {
    print_to_text(MAT(2, 2, 1, 2.5, -3, 4));
    ck_assert_ptr_nonnull(strstr(text, "f64[2, 2]"));
    ck_assert_ptr_nonnull(strstr(text, "2.5"));
    ck_assert_ptr_nonnull(strstr(text, "-3"));
    ck_assert_int_eq(text[strlen(text) - 1], '\n');
}
END_TEST

START_TEST(long_axes_are_shortened) {
    print_to_text(lam_arange(ctx, LAM_F64, 0, 1e6, 1));
    ck_assert_uint_lt(strlen(text), 500);
    ck_assert_ptr_nonnull(strstr(text, "..."));
    ck_assert_ptr_nonnull(strstr(text, "999999"));
}
END_TEST

START_TEST(a_failed_tensor_prints_as_such) {
    print_to_text(lam_add(VEC(1, 2), VEC(1, 2, 3)));
    ck_assert_ptr_nonnull(strstr(text, "failed"));
    ck_assert_uint_eq(lam_error_count(ctx), 1);
    EXPECT_STATUS(LAM_ERR_SHAPE);
}
END_TEST

BODY(prints_its_input) {
    print_to_text(in[0]);
    out[0] = lam_sum(in[0], NULL);
}

static void expect_in_order(const char *const parts[], int n) {
    const char *at = text;
    for (int i = 0; i < n; i++) {
        at = strstr(at, parts[i]);
        ck_assert_msg(at != NULL, "'%s' is not in its place in:\n%s", parts[i], text);
    }
}

START_TEST(a_box_shows_its_level_axis_and_value) {
    apply1(lam_vmap(lam_grad(FN(prints_its_input, 1, 1), NULL), &(lam_vmap_options){.in_axes = LAM_AXES(1)}),
           MAT(2, 2, 1, 2, 3, 4));
    const char *parts[] = {"f64[2] at level", "vjp", "f64[2] at level", "vmap", "axis 1", "f64[2, 2]", "[1, 2]"};
    expect_in_order(parts, 7);
    lam_tensor *y, *dy;
    lam_jvp(FN(prints_its_input, 1, 1), LAM_LIST(VEC(1, 2)), LAM_LIST(VEC(3, 4)), &y, &dy, 1, NULL);
    const char *dual[] = {"f64[2] at level", "jvp", "[1, 2]"};
    expect_in_order(dual, 3);
}
END_TEST

Suite *suite_tensor_print(void) {
    return SUITE_OF("tensor/print", a_plain_tensor_shows_type_and_elements, long_axes_are_shortened,
                    a_failed_tensor_prints_as_such, a_box_shows_its_level_axis_and_value);
}
