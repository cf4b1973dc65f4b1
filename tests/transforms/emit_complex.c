/* lam_emit_c: quotients and powers of complex numbers have the bits of the call, whatever the compiler makes of `/` and
 * `*`: exact where a divisor is real or imaginary, in range where the quotient is, and a NaN in one part is none in the
 * other where it is not called for. */
#include "tests/support.h"
#include "tests/transforms/build.h"

#include <dlfcn.h>

enum { LIST = 11, USUAL = 8, NUMBERS = LIST * LIST, PAIRS = NUMBERS * NUMBERS, QUOTIENTS = 2, POWERS = 7 };

/* The first ones are moderate or have no size. */
static const double parts[LIST] = {0.0, -0.0, 1, -2.5, 0.3, INFINITY, -INFINITY, NAN, 0x1p-1070, 0x1p1020, -0x1p-500};

BODY(quotients) {
    out[0] = lam_stack(LAM_LIST(lam_div(in[0], in[1]), lam_reciprocal(in[1])), 0);
}

BODY(products_over) {
    out[0] = lam_mul_div(in[0], in[1], lam_add(in[1], in[0]));
}

/* Of a negative exponent one over the power, or where that leaves the range the power of one over x. */
BODY(powers) {
    static const int exponents[POWERS] = {-3, -2, -1, 0, 1, 3, 7};
    lam_tensor *each[POWERS];
    for (int k = 0; k < POWERS; k++) each[k] = lam_integer_pow(in[0], exponents[k]);
    out[0] = lam_stack((lam_list){POWERS, each}, 0);
}

/* All pairs of numbers whose parts are among the first `count`. */
static int fill_pairs(int count, double x[][2], double y[][2]) {
    const int numbers = count * count;
    for (int i = 0; i < numbers * numbers; i++) {
        const int a = i / numbers, b = i % numbers;
        x[i][0] = parts[a / count];
        x[i][1] = parts[a % count];
        y[i][0] = parts[b / count];
        y[i][1] = parts[b % count];
    }
    return numbers * numbers;
}

/* `f` of x and y in the dtype, called and as C: the same bits, but for what is NaN. */
static void expect_same_as_c(lam_fn *f, lam_dtype dtype, int count, int outputs, double x[][2], double y[][2]) {
    build b;
    void (*call)(const void *, const void *, void *);
    static double want[QUOTIENTS * PAIRS][2], got[QUOTIENTS * PAIRS][2];
    lam_tensor *a = lam_cast(lam_array(ctx, LAM_C128, LAM_DIMS(count), x), dtype),
               *c = lam_cast(lam_array(ctx, LAM_C128, LAM_DIMS(count), y), dtype);
    const size_t bytes = (size_t)(outputs * count) * lam_dtype_bytes(dtype), part = lam_dtype_bytes(dtype) / 2;
    build_begin(&b);
    build_add(&b, "quotients", lam_trace(f, LAM_LIST(a, c)), &(lam_emit_options){.name = "quotients"});
    build_end(&b);
    build_find(&b, "quotients", &call);
    call(lam_data(a), lam_data(c), got);
    ck_assert_int_eq(lam_read(apply2(f, a, c), want, bytes), LAM_OK);
    for (int i = 0; i < 2 * outputs * count; i++) {
        const char *g = (const char *)got + (size_t)i * part, *w = (const char *)want + (size_t)i * part;
        const double u = part == 4 ? (double)*(const float *)(const void *)g : *(const double *)(const void *)g;
        const double v = part == 4 ? (double)*(const float *)(const void *)w : *(const double *)(const void *)w;
        const int k = i / 2 % count;
        ck_assert_msg((isnan(u) && isnan(v)) || memcmp(g, w, part) == 0,
                      "part %d of (%a, %a) over (%a, %a) is %a, not %a", i % 2, x[k][0], x[k][1], y[k][0], y[k][1], u,
                      v);
    }
    dlclose(b.library);
}

START_TEST(quotients_have_the_same_bits) {
    static double x[PAIRS][2], y[PAIRS][2];
    const lam_dtype dtype = _i ? LAM_C64 : LAM_C128;
    int count = fill_pairs(LIST, x, y);
    expect_same_as_c(FN(quotients, 2, 1), dtype, count, QUOTIENTS, x, y);
    count = fill_pairs(USUAL, x, y);
    expect_same_as_c(FN(products_over, 2, 1), dtype, count, 1, x, y);
}
END_TEST

/* By hand: a quotient by a real number is that of the parts, so that of NaN + 0i by 1.25 has an imaginary part of 0. */
START_TEST(a_real_divisor_divides_each_part) {
    double x[1][2] = {{NAN, 0}}, y[1][2] = {{1.25, 0}};
    expect_same_as_c(FN(quotients, 2, 1), LAM_C128, 1, QUOTIENTS, x, y);
    const lam_c128 z =
        lam_item_complex(lam_div(lam_array(ctx, LAM_C128, LAM_DIMS0, x), lam_array(ctx, LAM_C128, LAM_DIMS0, y)));
    ck_assert(isnan(z.re) && z.im == 0);
}
END_TEST

START_TEST(powers_have_the_same_bits) {
    double x[NUMBERS][2];
    for (int i = 0; i < NUMBERS; i++) {
        x[i][0] = parts[i / LIST];
        x[i][1] = parts[i % LIST];
    }
    expect_same_as_c(FN(powers, 2, 1), _i ? LAM_C64 : LAM_C128, NUMBERS, POWERS, x, x);
}
END_TEST

Suite *suite_transforms_emit_complex(void) {
    Suite *suite = SUITE_OF("transforms/emit_complex", a_real_divisor_divides_each_part);
    suite_loop(suite, quotients_have_the_same_bits, 2);
    suite_loop(suite, powers_have_the_same_bits, 2);
    return suite;
}
