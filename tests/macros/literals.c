/* Weak literals in C: which function each combination of types reaches, with which value and in which order.
 * Expected texts follow from the docstrings of literals.h: the operation, its operands in order, r i u for the kind of
 * number. The mock stands for the library, so nothing here depends on an operation being right. */
#include "mock.h"
#include <check.h>
#include <stdlib.h>

/* A function behind it: Check's own macros would keep the expression as text, after expansion. */
#define IS(expression, expected) assert_text(expression, expected, __LINE__)

static lam_tensor *x, *y;

static void assert_text(const lam_tensor *made, const char *expected, int line) {
    const char *text = mock_text(made);
    ck_assert_msg(strcmp(text, expected) == 0, "line %d: %s, not %s", line, text, expected);
}

static void setup(void) {
    mock_reset();
    x = mock_new("x");
    y = mock_new("y");
}

START_TEST(every_name_takes_tensors_and_numbers_on_either_side) {
    IS(lam_add(x, y), "add(x, y)");
    IS(lam_add(x, 2.5), "add(x, 2.5r)");
    IS(lam_add(3, x), "add(3i, x)");
    IS(lam_sub(x, y), "sub(x, y)");
    IS(lam_sub(x, 2.5), "sub(x, 2.5r)");
    IS(lam_sub(3, x), "sub(3i, x)");
    IS(lam_mul(x, y), "mul(x, y)");
    IS(lam_mul(x, 2.5), "mul(x, 2.5r)");
    IS(lam_mul(3, x), "mul(3i, x)");
    IS(lam_div(x, y), "div(x, y)");
    IS(lam_div(x, 2.5), "div(x, 2.5r)");
    IS(lam_div(3, x), "div(3i, x)");
    IS(lam_rem(x, y), "rem(x, y)");
    IS(lam_rem(x, 2.5), "rem(x, 2.5r)");
    IS(lam_rem(3, x), "rem(3i, x)");
    IS(lam_pow(x, y), "pow(x, y)");
    IS(lam_pow(x, 2.5), "pow(x, 2.5r)");
    IS(lam_pow(3, x), "pow(3i, x)");
    IS(lam_max(x, y), "max(x, y)");
    IS(lam_max(x, 2.5), "max(x, 2.5r)");
    IS(lam_max(3, x), "max(3i, x)");
    IS(lam_min(x, y), "min(x, y)");
    IS(lam_min(x, 2.5), "min(x, 2.5r)");
    IS(lam_min(3, x), "min(3i, x)");
    IS(lam_atan2(x, y), "atan2(x, y)");
    IS(lam_atan2(x, 2.5), "atan2(x, 2.5r)");
    IS(lam_atan2(3, x), "atan2(3i, x)");
    IS(lam_hypot(x, y), "hypot(x, y)");
    IS(lam_hypot(x, 2.5), "hypot(x, 2.5r)");
    IS(lam_hypot(3, x), "hypot(3i, x)");
    IS(lam_eq(x, y), "eq(x, y)");
    IS(lam_eq(x, 2.5), "eq(x, 2.5r)");
    IS(lam_eq(3, x), "eq(3i, x)");
    IS(lam_ne(x, y), "ne(x, y)");
    IS(lam_ne(x, 2.5), "ne(x, 2.5r)");
    IS(lam_ne(3, x), "ne(3i, x)");
    IS(lam_lt(x, y), "lt(x, y)");
    IS(lam_lt(x, 2.5), "lt(x, 2.5r)");
    IS(lam_lt(3, x), "lt(3i, x)");
    IS(lam_le(x, y), "le(x, y)");
    IS(lam_le(x, 2.5), "le(x, 2.5r)");
    IS(lam_le(3, x), "le(3i, x)");
    IS(lam_gt(x, y), "gt(x, y)");
    IS(lam_gt(x, 2.5), "gt(x, 2.5r)");
    IS(lam_gt(3, x), "gt(3i, x)");
    IS(lam_ge(x, y), "ge(x, y)");
    IS(lam_ge(x, 2.5), "ge(x, 2.5r)");
    IS(lam_ge(3, x), "ge(3i, x)");
    IS(lam_logaddexp(x, y), "logaddexp(x, y)");
    IS(lam_logaddexp(x, 2.5), "logaddexp(x, 2.5r)");
    IS(lam_logaddexp(3, x), "logaddexp(3i, x)");
    IS(lam_xlogy(x, y), "xlogy(x, y)");
    IS(lam_xlogy(x, 2.5), "xlogy(x, 2.5r)");
    IS(lam_xlogy(3, x), "xlogy(3i, x)");
    IS(lam_copysign(x, y), "copysign(x, y)");
    IS(lam_copysign(x, 2.5), "copysign(x, 2.5r)");
    IS(lam_copysign(3, x), "copysign(3i, x)");
}
END_TEST

START_TEST(forms_that_rebind_take_numbers_on_the_right) {
    IS(lam_add_(x, y), "add_(x, y)");
    IS(lam_add_(x, NULL), "add_(x, NULL)");
    IS(lam_add_(x, 2.5), "add_(x, 2.5r)");
    IS(lam_sub_(x, 3), "sub_(x, 3i)");
    IS(lam_mul_(x, 1.5f), "mul_(x, 1.5r)");
    IS(lam_div_(x, ULLONG_MAX), "div_(x, 18446744073709551615u)");
    IS(lam_mul_(lam_mul(x, 2), lam_add(1, y)), "mul_(mul(x, 2i), add(1i, y))");
    IS((lam_add_)(x, y), "add_(x, y)");
}
END_TEST

START_TEST(special_functions_take_numbers_too) {
    IS(lam_logaddexp2(x, y), "logaddexp2(x, y)");
    IS(lam_logaddexp2(x, 2.5), "logaddexp2(x, 2.5r)");
    IS(lam_logaddexp2(3, x), "logaddexp2(3i, x)");
    IS(lam_xlog1py(x, y), "xlog1py(x, y)");
    IS(lam_xlog1py(x, 2.5), "xlog1py(x, 2.5r)");
    IS(lam_xlog1py(3, x), "xlog1py(3i, x)");
    IS(lam_nextafter(x, y), "nextafter(x, y)");
    IS(lam_nextafter(x, 2.5), "nextafter(x, 2.5r)");
    IS(lam_nextafter(3, x), "nextafter(3i, x)");
    IS(lam_igamma(x, y), "igamma(x, y)");
    IS(lam_igamma(x, 2.5), "igamma(x, 2.5r)");
    IS(lam_igamma(3, x), "igamma(3i, x)");
    IS(lam_igammac(x, y), "igammac(x, y)");
    IS(lam_igammac(x, 2.5), "igammac(x, 2.5r)");
    IS(lam_igammac(3, x), "igammac(3i, x)");
    IS(lam_betaln(x, y), "betaln(x, y)");
    IS(lam_betaln(x, 2.5), "betaln(x, 2.5r)");
    IS(lam_betaln(3, x), "betaln(3i, x)");
    IS(lam_shift_left(x, y), "shift_left(x, y)");
    IS(lam_shift_left(x, 2.5), "shift_left(x, 2.5r)");
    IS(lam_shift_left(3, x), "shift_left(3i, x)");
    IS(lam_shift_right_logical(x, y), "shift_right_logical(x, y)");
    IS(lam_shift_right_logical(x, 2.5), "shift_right_logical(x, 2.5r)");
    IS(lam_shift_right_logical(3, x), "shift_right_logical(3i, x)");
    IS(lam_shift_right_arithmetic(x, y), "shift_right_arithmetic(x, y)");
    IS(lam_shift_right_arithmetic(x, 2.5), "shift_right_arithmetic(x, 2.5r)");
    IS(lam_shift_right_arithmetic(3, x), "shift_right_arithmetic(3i, x)");
    IS(lam_mod(x, y), "mod(x, y)");
    IS(lam_mod(x, 2.5), "mod(x, 2.5r)");
    IS(lam_mod(3, x), "mod(3i, x)");
    IS(lam_floor_divide(x, y), "floor_divide(x, y)");
    IS(lam_floor_divide(x, 2.5), "floor_divide(x, 2.5r)");
    IS(lam_floor_divide(3, x), "floor_divide(3i, x)");
}
END_TEST

START_TEST(bits_and_rarer_functions_take_numbers_too) {
    IS(lam_and(x, y), "and(x, y)");
    IS(lam_and(x, 2.5), "and(x, 2.5r)");
    IS(lam_and(3, x), "and(3i, x)");
    IS(lam_or(x, y), "or(x, y)");
    IS(lam_or(x, 2.5), "or(x, 2.5r)");
    IS(lam_or(3, x), "or(3i, x)");
    IS(lam_xor(x, y), "xor(x, y)");
    IS(lam_xor(x, 2.5), "xor(x, 2.5r)");
    IS(lam_xor(3, x), "xor(3i, x)");
    IS(lam_fmax(x, y), "fmax(x, y)");
    IS(lam_fmax(x, 2.5), "fmax(x, 2.5r)");
    IS(lam_fmax(3, x), "fmax(3i, x)");
    IS(lam_fmin(x, y), "fmin(x, y)");
    IS(lam_fmin(x, 2.5), "fmin(x, 2.5r)");
    IS(lam_fmin(3, x), "fmin(3i, x)");
    IS(lam_heaviside(x, y), "heaviside(x, y)");
    IS(lam_heaviside(x, 2.5), "heaviside(x, 2.5r)");
    IS(lam_heaviside(3, x), "heaviside(3i, x)");
    IS(lam_gcd(x, y), "gcd(x, y)");
    IS(lam_gcd(x, 2.5), "gcd(x, 2.5r)");
    IS(lam_gcd(3, x), "gcd(3i, x)");
    IS(lam_lcm(x, y), "lcm(x, y)");
    IS(lam_lcm(x, 2.5), "lcm(x, 2.5r)");
    IS(lam_lcm(3, x), "lcm(3i, x)");
    IS(lam_float_power(x, y), "float_power(x, y)");
    IS(lam_float_power(x, 2.5), "float_power(x, 2.5r)");
    IS(lam_float_power(3, x), "float_power(3i, x)");
    IS(lam_zeta(x, y), "zeta(x, y)");
    IS(lam_zeta(x, 2.5), "zeta(x, 2.5r)");
    IS(lam_zeta(3, x), "zeta(3i, x)");
    IS(lam_comb(x, y), "comb(x, y)");
    IS(lam_comb(x, 2.5), "comb(x, 2.5r)");
    IS(lam_comb(3, x), "comb(3i, x)");
    IS(lam_beta(x, y), "beta(x, y)");
    IS(lam_beta(x, 2.5), "beta(x, 2.5r)");
    IS(lam_beta(3, x), "beta(3i, x)");
    IS(lam_boxcox(x, y), "boxcox(x, y)");
    IS(lam_boxcox(x, 2.5), "boxcox(x, 2.5r)");
    IS(lam_boxcox(3, x), "boxcox(3i, x)");
    IS(lam_boxcox1p(x, y), "boxcox1p(x, y)");
    IS(lam_boxcox1p(x, 2.5), "boxcox1p(x, 2.5r)");
    IS(lam_boxcox1p(3, x), "boxcox1p(3i, x)");
    IS(lam_poch(x, y), "poch(x, y)");
    IS(lam_poch(x, 2.5), "poch(x, 2.5r)");
    IS(lam_poch(3, x), "poch(3i, x)");
}
END_TEST

START_TEST(floating_types_of_the_second_operand) {
    float f = 0.5f;
    double d = 0.25;
    const double constant = -4;
    IS(lam_sub(x, f), "sub(x, 0.5r)");
    IS(lam_sub(x, d), "sub(x, 0.25r)");
    IS(lam_sub(x, constant), "sub(x, -4r)");
    IS(lam_sub(x, 2.0L), "sub(x, 2r)");
    IS(lam_sub(x, 2.0f * f), "sub(x, 1r)");
}
END_TEST

START_TEST(floating_types_of_the_first_operand) {
    float f = 0.5f;
    double d = 0.25;
    IS(lam_sub(f, x), "sub(0.5r, x)");
    IS(lam_sub(d, x), "sub(0.25r, x)");
    IS(lam_sub(2.0L, x), "sub(2r, x)");
}
END_TEST

/* Both extremes of each type; those of the char and short types are within what C guarantees. */
START_TEST(integer_types_of_the_second_operand) {
    IS(lam_div(x, (_Bool)1), "div(x, 1i)");
    IS(lam_div(x, (char)65), "div(x, 65i)");
    IS(lam_div(x, (signed char)-127), "div(x, -127i)");
    IS(lam_div(x, (unsigned char)255), "div(x, 255i)");
    IS(lam_div(x, (short)-32767), "div(x, -32767i)");
    IS(lam_div(x, (unsigned short)65535), "div(x, 65535i)");
    IS(lam_div(x, -2147483647), "div(x, -2147483647i)");
    IS(lam_div(x, 4294967295u), "div(x, 4294967295i)");
    IS(lam_div(x, -2147483647L), "div(x, -2147483647i)");
    IS(lam_div(x, LLONG_MIN), "div(x, -9223372036854775808i)");
    IS(lam_div(x, (int64_t)INT64_MAX), "div(x, 9223372036854775807i)");
}
END_TEST

START_TEST(integer_types_of_the_first_operand) {
    IS(lam_div((_Bool)1, x), "div(1i, x)");
    IS(lam_div((char)65, x), "div(65i, x)");
    IS(lam_div((signed char)-127, x), "div(-127i, x)");
    IS(lam_div((unsigned char)255, x), "div(255i, x)");
    IS(lam_div((short)-32767, x), "div(-32767i, x)");
    IS(lam_div((unsigned short)65535, x), "div(65535i, x)");
    IS(lam_div(-2147483647, x), "div(-2147483647i, x)");
    IS(lam_div(4294967295u, x), "div(4294967295i, x)");
    IS(lam_div(-2147483647L, x), "div(-2147483647i, x)");
    IS(lam_div(LLONG_MIN, x), "div(-9223372036854775808i, x)");
}
END_TEST

START_TEST(unsigned_values_above_llong_max_do_not_wrap) {
    unsigned long long most = ULLONG_MAX;
    uint64_t fixed = UINT64_MAX;
    IS(lam_add(x, most), "add(x, 18446744073709551615u)");
    IS(lam_add(most, x), "add(18446744073709551615u, x)");
    IS(lam_add(x, fixed), "add(x, 18446744073709551615u)");
    IS(lam_where(x, most, y), "where(x, 18446744073709551615u, y)");
}
END_TEST

START_TEST(enumerations_qualified_objects_and_bit_fields_are_numbers) {
    enum { TEN = 10 };
    enum level { LOW, HIGH } level = HIGH;
    struct {
        unsigned bits : 3;
    } packed = {5};
    const volatile int qualified = 7;
    IS(lam_mul(TEN, x), "mul(10i, x)");
    IS(lam_mul(x, level), "mul(x, 1i)");
    IS(lam_mul(x, packed.bits), "mul(x, 5i)");
    IS(lam_mul(x, qualified), "mul(x, 7i)");
}
END_TEST

START_TEST(pointers_are_tensors) {
    lam_tensor *const fixed = x;
    void *untyped = y;
    IS(lam_add(fixed, untyped), "add(x, y)");
    IS(lam_add(untyped, 2), "add(y, 2i)");
    IS(lam_add(x, NULL), "add(x, NULL)");
    IS(lam_add(NULL, x), "add(NULL, x)");
    IS(lam_add(NULL, 1.5), "add(NULL, 1.5r)");
}
END_TEST

START_TEST(names_remain_ordinary_functions) {
    lam_tensor *(*pointer)(lam_tensor *, lam_tensor *) = &lam_mul;
    lam_tensor *(*three)(lam_tensor *, lam_tensor *, lam_tensor *) = lam_where;
    IS((lam_mul)(x, y), "mul(x, y)");
    IS(pointer(x, y), "mul(x, y)");
    IS(three(x, y, x), "where(x, y, x)");
}
END_TEST

static int calls;

static lam_tensor *counted_tensor(void) {
    calls++;
    return x;
}

static double counted_number(void) {
    calls++;
    return 2;
}

START_TEST(arguments_are_evaluated_once) {
    calls = 0;
    IS(lam_mul(counted_tensor(), counted_number()), "mul(x, 2r)");
    ck_assert_int_eq(calls, 2);
    calls = 0;
    IS(lam_clamp(counted_tensor(), counted_number(), counted_tensor()), "clamp(x, 2r, x)");
    ck_assert_int_eq(calls, 3);
}
END_TEST

START_TEST(where_takes_any_mixture) {
    lam_tensor *c = mock_new("c");
    IS(lam_where(c, x, y), "where(c, x, y)");
    IS(lam_where(c, x, 0.0), "where(c, x, 0r)");
    IS(lam_where(c, 1, y), "where(c, 1i, y)");
    IS(lam_where(c, 1.0f, 0), "where(c, 1r, 0i)");
    IS(lam_where(c, NULL, 0ull), "where(c, NULL, 0u)");
}
END_TEST

START_TEST(clamp_takes_any_mixture) {
    IS(lam_clamp(x, y, y), "clamp(x, y, y)");
    IS(lam_clamp(x, 0, 1.5), "clamp(x, 0i, 1.5r)");
    IS(lam_clamp(x, -1.0, y), "clamp(x, -1r, y)");
    IS(lam_clamp(x, y, (_Bool)1), "clamp(x, y, 1i)");
    IS(lam_fma(x, y, y), "fma(x, y, y)");
    IS(lam_fma(x, -2, y), "fma(x, -2i, y)");
    IS(lam_fma(x, y, 0.5), "fma(x, y, 0.5r)");
}
END_TEST

START_TEST(expressions_nest) {
    IS(lam_add(lam_mul(100.0, lam_pow(lam_sub(y, lam_mul(x, x)), 2)), lam_pow(lam_sub(1.0, x), 2)),
       "add(mul(100r, pow(sub(y, mul(x, x)), 2i)), pow(sub(1r, x), 2i))");
    IS(lam_where(lam_gt(x, 0), lam_mul(2, x), lam_clamp(lam_mul(x, 0.5), -1, lam_max(y, 0))),
       "where(gt(x, 0i), mul(2i, x), clamp(mul(x, 0.5r), -1i, max(y, 0i)))");
}
END_TEST

/* Twelve deep, each level on the other side of the one above: 2^12 copies of the innermost x. */
START_TEST(twelve_deep) {
    /* clang-format off */
    IS(lam_add(1, lam_mul(lam_add(2, lam_mul(lam_add(3, lam_mul(lam_add(4, lam_mul(lam_add(5, lam_mul(lam_add(6,
       lam_mul(x, 0.5)), 1.5)), 2.5)), 3.5)), 4.5)), 5.5)),
       "add(1i, mul(add(2i, mul(add(3i, mul(add(4i, mul(add(5i, mul(add(6i, "
       "mul(x, 0.5r)), 1.5r)), 2.5r)), 3.5r)), 4.5r)), 5.5r))");
    /* clang-format on */
}
END_TEST

/* The names of the header's list, each as text, must be those spelled out above and no others. */
START_TEST(list_of_names_is_complete) {
#define TEXT(name) #name " "
    const char *names = LAM__LITERAL_NAMES(TEXT);
    ck_assert_str_eq(names, "add sub mul div rem pow max min atan2 hypot logaddexp xlogy copysign eq ne lt le gt ge "
                            "logaddexp2 xlog1py nextafter igamma igammac betaln shift_left shift_right_logical "
                            "shift_right_arithmetic mod floor_divide and or xor fmax fmin heaviside gcd lcm "
                            "float_power zeta comb beta boxcox boxcox1p poch ");
    ck_assert_str_eq(LAM__LITERAL_NAMES_IN_PLACE(TEXT), "add_ sub_ mul_ div_ ");
#undef TEXT
}
END_TEST

/* Two registers each on the machines we know: an ABI choice that must not drift. */
START_TEST(an_operand_is_sixteen_bytes) {
    ck_assert_uint_eq(sizeof(lam__operand), 16);
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("literals");
    tcase_add_checked_fixture(tests, setup, NULL);
    tcase_add_test(tests, every_name_takes_tensors_and_numbers_on_either_side);
    tcase_add_test(tests, forms_that_rebind_take_numbers_on_the_right);
    tcase_add_test(tests, special_functions_take_numbers_too);
    tcase_add_test(tests, bits_and_rarer_functions_take_numbers_too);
    tcase_add_test(tests, floating_types_of_the_second_operand);
    tcase_add_test(tests, floating_types_of_the_first_operand);
    tcase_add_test(tests, integer_types_of_the_second_operand);
    tcase_add_test(tests, integer_types_of_the_first_operand);
    tcase_add_test(tests, unsigned_values_above_llong_max_do_not_wrap);
    tcase_add_test(tests, enumerations_qualified_objects_and_bit_fields_are_numbers);
    tcase_add_test(tests, pointers_are_tensors);
    tcase_add_test(tests, names_remain_ordinary_functions);
    tcase_add_test(tests, arguments_are_evaluated_once);
    tcase_add_test(tests, where_takes_any_mixture);
    tcase_add_test(tests, clamp_takes_any_mixture);
    tcase_add_test(tests, expressions_nest);
    tcase_add_test(tests, twelve_deep);
    tcase_add_test(tests, list_of_names_is_complete);
    tcase_add_test(tests, an_operand_is_sixteen_bytes);
    Suite *suite = suite_create("literals");
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
