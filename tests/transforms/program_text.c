/* Programs as text: what is printed, read back, and refused. Texts are those that the functions must have by the rules
 * of calculus; numbers are compared bit by bit. */
#define _GNU_SOURCE /* open_memstream, /dev/full */
#include "tests/support.h"
#include "tests/transforms/build.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- texts ------------------------------------------------------------------------------------------------------- */

/* The text of the program is this one, again, and when it is read back. */
static void expect_text(lam_program *program, const char *want) {
    char *text = printed_text(program), *again = printed_text(program);
    EXPECT_OK();
    ck_assert_str_eq(text, want);
    ck_assert_str_eq(again, want);
    free(again);
    lam_program *read = lam_program_read(ctx, text);
    EXPECT_OK();
    ck_assert_int_eq(lam_program_check(read), LAM_OK);
    ck_assert_str_eq(lam_fn_name(read), lam_fn_name(program));
    again = printed_text(read);
    ck_assert_str_eq(again, want);
    free(again);
    free(text);
}

BODY(wave) {
    out[0] = lam_sum(lam_sin(in[0]), NULL);
}

static lam_tensor *three(void) {
    return VEC(0.25, 1, -2);
}

START_TEST(functions_as_text) {
    expect_text(lam_trace(FN(wave, 1, 1), LAM_LIST(three())), "program wave(v0: f64[3]) {\n"
                                                              "    v1: f64[3] = sin(v0)\n"
                                                              "    v2: f64[] = sum(v1) axes=[0]\n"
                                                              "    return v2\n"
                                                              "}\n");
}
END_TEST

BODY(product) {
    out[0] = lam_mul(in[0], in[1]);
}

/* d(xy) = y dx + x dy; the derivative of a sum of sines is the cosine, and the second one the sine with the other sign,
 * on the diagonal. */
START_TEST(derivatives_as_text) {
    lam_fn *f = FN(product, 2, 1), *g = FN(wave, 1, 1);
    expect_text(lam_trace(lam_grad(f, NULL), LAM_LIST(num(2), num(3))),
                "program \"grad(product)\"(v0: f64[], v1: f64[]) {\n"
                "    v2: f64[] = mul(1:f64, v1)\n"
                "    return v2\n"
                "}\n");
    expect_text(lam_trace(lam_vmap(lam_grad(g, NULL), NULL), LAM_LIST(MAT(2, 3, 1, 2, 3, 4, 5, 6))),
                "program \"vmap(grad(wave))\"(v0: f64[2, 3]) {\n"
                "    c0: f64[3] = all 1\n"
                "    v1: f64[2, 3] = cos(v0)\n"
                "    v2: f64[2, 3] = mul(c0, v1)\n"
                "    return v2\n"
                "}\n");
    expect_text(lam_trace(lam_jvp_fn(g, NULL), LAM_LIST(three(), three())),
                "program \"jvp(wave)\"(v0: f64[3], v1: f64[3]) {\n"
                "    v2: f64[3] = sin(v0)\n"
                "    v3: f64[3] = cos(v0)\n"
                "    v4: f64[3] = mul(v1, v3)\n"
                "    v5: f64[] = sum(v2) axes=[0]\n"
                "    v6: f64[] = sum(v4) axes=[0]\n"
                "    return v5, v6\n"
                "}\n");
    expect_text(lam_trace(lam_hessian(g, NULL), LAM_LIST(VEC(0.25, 1))),
                "program \"jacfwd(jacrev(wave))\"(v0: f64[2]) {\n"
                "    c0: f64[2, 2] = [1, 0, 0, 1]\n"
                "    c1: f64[2] = all 1\n"
                "    v1: f64[2] = sin(v0)\n"
                "    v2: f64[2, 2] = times_power(c0, v1) exponent=1, factor=-1\n"
                "    v3: f64[2, 2] = mul(c1, v2)\n"
                "    v4: f64[2, 1, 2] = reshape(v3) dims=[2, 1, 2]\n"
                "    v5: f64[2, 2] = reshape(v4) dims=[2, 2]\n"
                "    v6: f64[2, 2] = transpose(v5) order=[1, 0]\n"
                "    return v6\n"
                "}\n");
}
END_TEST

BODY(with_constants) {
    lam_tensor *table = VEC(1, 2.5, -0.0), *same = lam_full(here, LAM_F32, LAM_DIMS(2, 2), 7);
    lam_tensor *scaled = lam_mul(0.1, in[0]);
    out[0] = lam_add(lam_mul(table, scaled), table);
    out[1] = same;
    out[2] = in[0];
    out[3] = lam_scalar(here, 0.1);
    out[4] = in[0];
    out[5] = lam_zeros(here, LAM_I32, LAM_DIMS(0, 3));
}

START_TEST(constants_as_text) {
    expect_text(lam_trace(FN(with_constants, 2, 6), LAM_LIST(three(), num(1))),
                "program with_constants(v0: f64[3], v1: f64[]) {\n"
                "    c0: f64[3] = [1, 2.5, -0]\n"
                "    c1: f32[2, 2] = all 7\n"
                "    c2: i32[0, 3] = []\n"
                "    v2: f64[3] = mul(0.1:f64, v0)\n"
                "    v3: f64[3] = mul(c0, v2)\n"
                "    v4: f64[3] = add(v3, c0)\n"
                "    return v4, c1, v0, 0.1:f64, v0, c2\n"
                "}\n");
}
END_TEST

BODY(several) {
    lam_tensor *parts[3];
    lam_unstack(in[0], 0, parts, 3);
    (void)lam_exp(in[0]);
    out[0] = parts[1];
}

BODY(nothing) {
    (void)lam_exp(in[0]);
}

BODY(of_nothing) {
    out[0] = lam_ones(here, LAM_BOOL, LAM_DIMS(2));
}

/* Results that nobody reads, operations that nobody needs, no inputs, no outputs. */
START_TEST(what_is_not_needed_is_left_out) {
    expect_text(lam_trace(FN(several, 1, 1), LAM_LIST(three())),
                "program several(v0: f64[3]) {\n"
                "    _: f64[], v1: f64[], _: f64[] = split_sizes(v0) from_end=1, sizes=[]\n"
                "    return v1\n"
                "}\n");
    expect_text(lam_trace(FN(nothing, 1, 0), LAM_LIST(three())), "program nothing(v0: f64[3]) {\n    return\n}\n");
    expect_text(lam_trace(FN(of_nothing, 0, 1), (lam_list){0, NULL}), "program of_nothing() {\n"
                                                                      "    c0: bool[2] = all true\n"
                                                                      "    return c0\n"
                                                                      "}\n");
}
END_TEST

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

static const void *bytes;
static lam_dtype dtype;
static int64_t count;

BODY(constant) {
    out[0] = lam_array(here, dtype, LAM_DIMS(count), bytes);
    if (count) out[1] = lam_array(here, dtype, LAM_DIMS0, bytes);
    else out[1] = lam_scalar(here, 0);
}

/* NaNs come back as NaNs, everything else with its bits. */
static void expect_bits(const void *got, const void *want, int64_t n) {
    const size_t size = lam_dtype_bytes(dtype), parts = dtype == LAM_C64 || dtype == LAM_C128 ? 2 : 1;
    const size_t part = size / parts;
    for (size_t i = 0; i < (size_t)n * parts; i++) {
        const char *a = (const char *)got + i * part, *b = (const char *)want + i * part;
        if (!memcmp(a, b, part)) continue;
        const lam_dtype real = parts == 1 ? dtype : dtype == LAM_C64 ? LAM_F32 : LAM_F64;
        const double x = lam_item(lam_array(ctx, real, LAM_DIMS0, a)), y = lam_item(lam_array(ctx, real, LAM_DIMS0, b));
        ck_assert_msg(isnan(x) && isnan(y), "%s: element %zu is %a, not %a", lam_dtype_name(dtype), i, x, y);
    }
}

static void check_numbers(lam_dtype of, const void *elements, int64_t n) {
    lam_scope *scope = lam_scope_begin(ctx);
    lam_tensor *out[2];
    dtype = of;
    bytes = elements;
    count = n;
    char *text = printed_text(lam_trace(FN(constant, 0, 2), (lam_list){0, NULL}));
    lam_program *read = lam_program_read(ctx, text);
    ck_assert_int_eq(lam_call(read, (lam_list){0, NULL}, out, 2), LAM_OK);
    char *again = printed_text(read), *got = malloc((size_t)n * lam_dtype_bytes(of) + 1);
    ck_assert_str_eq(again, text);
    ck_assert_int_eq(lam_read(out[0], got, (size_t)n * lam_dtype_bytes(of)), LAM_OK);
    expect_bits(got, elements, n);
    ck_assert_int_eq(lam_read(out[1], got, lam_dtype_bytes(of)), LAM_OK);
    expect_bits(got, elements, 1);
    free(got);
    free(again);
    free(text);
    ck_assert_int_eq(lam_scope_end(scope, NULL, 0), LAM_OK);
}

enum { PATTERNS = (1 << 16) / LESS, DRAWN = 2048 };

/* Every number of 16 bits; with a sanitizer one of each row of LESS. */
START_TEST(all_short_floats_are_read_back) {
    static uint16_t every[PATTERNS];
    for (int i = 0; i < PATTERNS; i++) every[i] = (uint16_t)(i * LESS + i % LESS);
    check_numbers(LAM_F16, every, PATTERNS);
    check_numbers(LAM_BF16, every, PATTERNS);
}
END_TEST

/* Words of any bits: floats of all exponents, subnormal ones, NaNs of any payload. */
START_TEST(numbers_are_read_back_to_the_last_bit) {
    static uint64_t words[DRAWN];
    static const lam_dtype dtypes[] = {LAM_F64, LAM_F32, LAM_C128, LAM_C64, LAM_I64, LAM_I32, LAM_U8};
    static const double special[] = {0.0,
                                     -0.0,
                                     INFINITY,
                                     -INFINITY,
                                     NAN,
                                     0x1p-1074,
                                     -0x1p-1074,
                                     0x1p-1022,
                                     0x1.fffffffffffffp1023,
                                     0.1,
                                     1e22,
                                     1e23,
                                     0x1.fffffffffffffp-1023,
                                     1.0 / 3};
    uint64_t state = 7;
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
        for (int i = 0; i < DRAWN; i++) words[i] = random_bits(&state);
        check_numbers(dtypes[d], words, (int64_t)(sizeof words / lam_dtype_bytes(dtypes[d])) / LESS);
    }
    check_numbers(LAM_F64, special, sizeof special / sizeof *special);
    check_numbers(LAM_C128, special, sizeof special / sizeof *special / 2);
    check_numbers(LAM_I64, (int64_t[]){INT64_MIN, INT64_MAX, 0, -1}, 4);
    check_numbers(LAM_BOOL, (uint8_t[]){1, 0, 1}, 3);
}
END_TEST

/* Different NaNs are one text, also where there is nothing else. */
START_TEST(nans_are_one_number) {
    const uint64_t nans[] = {0x7ff8000000000000u, 0xfff8000000000001u, 0x7ff800000000beefu};
    check_numbers(LAM_F64, nans, 3);
}
END_TEST

/* Numbers with more digits than are printed, and other ways to write them, are read as C does. */
START_TEST(numbers_in_other_words) {
    lam_tensor *out[4];
    lam_program *p =
        lam_program_read(ctx, "program f() {\r\n"
                              "\tc : f64 [ 3 ] = [ 0x1p-2,\n\n+.5e0 ,0.10000000000000000555111512312578 ]\r\n"
                              "    return c, Infinity:f32, -nan:f16, -0-0i:c64\r\n}\r\n");
    ck_assert_int_eq(lam_call(p, (lam_list){0, NULL}, out, 4), LAM_OK);
    EXPECT(out[0], LAM_DIMS(3), 0.25, 0.5, 0.1);
    EXPECT(out[1], LAM_DIMS0, INFINITY);
    EXPECT(out[2], LAM_DIMS0, NAN);
    ck_assert(signbit(lam_item(lam_imag(out[3]))));
}
END_TEST

enum { WIDE = 1 << 20 };

BODY(times_spread) {
    out[0] = lam_mul(in[0], lam_broadcast_to(lam_scalar(here, 0.5), LAM_DIMS(WIDE, WIDE)));
}

/* A constant of 8 TiB takes a number, in the program, in the text and when it is read; of another one there is no
 * memory. */
START_TEST(one_number_for_all) {
    lam_ctx *real = ctx;
    ctx = lam_ctx_new(&(lam_ctx_options){.memory_limit = 1 << 22});
    lam_tensor *x = lam_broadcast_to(num(1), LAM_DIMS(WIDE, WIDE));
    expect_text(lam_trace(FN(times_spread, 1, 1), LAM_LIST(x)), "program times_spread(v0: f64[1048576, 1048576]) {\n"
                                                                "    c0: f64[1048576, 1048576] = spread 0.5\n"
                                                                "    v1: f64[1048576, 1048576] = mul(v0, c0)\n"
                                                                "    return v1\n"
                                                                "}\n");
    ck_assert(lam_failed(lam_program_read(ctx, "program f() {\n c0: f64[1048576, 1048576] = [0.5]\n return c0\n}")));
    EXPECT_ERROR(LAM_ERR_VALUE, "line 2", "1099511627776 elements");
    ck_assert(lam_failed(lam_program_read(ctx, "program f() {\n c0: f64[1048576, 1048576] = all 1\n return c0\n}")));
    EXPECT_ERROR(LAM_ERR_MEMORY, "8796093022208 bytes", "'f' (line 2)");
    lam_ctx_free(ctx);
    ctx = real;
}
END_TEST

enum { SOME = 100 };

BODY(gives_constants) {
    lam_tensor *all = lam_full(here, LAM_F64, LAM_DIMS(SOME), 0.5);
    out[0] = all;
    out[1] = lam_broadcast_to(num(0.5), LAM_DIMS(SOME));
    out[2] = lam_broadcast_to(lam_slice_axis(all, 0, 7, 8), LAM_DIMS(4));
}

/* Whoever reads raw data finds them where they were, also of few elements. */
START_TEST(constants_lie_as_they_did) {
    lam_tensor *out[3];
    lam_program *p = lam_trace(FN(gives_constants, 0, 3), (lam_list){0, NULL});
    const char *expected = "program gives_constants() {\n"
                           "    c0: f64[100] = all 0.5\n"
                           "    c1: f64[100] = spread 0.5\n"
                           "    c2: f64[4] = spread 0.5\n"
                           "    return c0, c1, c2\n"
                           "}\n";
    expect_text(p, expected);
    char *text = printed_text(p);
    lam_program *q = lam_program_read(ctx, text);
    expect_text(q, expected);
    ck_assert_int_eq(lam_call(q, (lam_list){0, NULL}, out, 3), LAM_OK);
    ck_assert_ptr_nonnull(lam_data(out[0]));
    for (int i = 1; i < 3; i++) ck_assert_ptr_null(lam_data(out[i]));
    for (int i = 0; i < 3; i++) EXPECT_NUM(lam_sum(out[i], NULL), i < 2 ? SOME / 2 : 2);
    free(text);
}
END_TEST

/* ---- names ------------------------------------------------------------------------------------------------------- */

BODY(named) {
    out[0] = lam_sin(*(char *)env ? lam_checkpoint_name(in[0], env) : in[0]);
}

/* Quotes, line ends, what looks like a program, no letters at all; in names of programs and of values. */
START_TEST(any_name) {
    static const char *const names[] = {"",       "two words",  "\"quoted\"", "line\nend\r",        "\\22 \\x \\",
                                        "9lives", "program f(", "\x01\x7f",   "gr\xc3\xb6\xc3\x9f", "return"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char name[32];
        snprintf(name, sizeof name, "%s", names[i]);
        lam_program *p = lam_trace(function_of(name, named, 1, 1, name), LAM_LIST(num(1)));
        char *text = printed_text(p);
        lam_program *read = lam_program_read(ctx, text);
        EXPECT_OK();
        ck_assert_str_eq(lam_fn_name(read), name);
        char *again = printed_text(read);
        ck_assert_str_eq(again, text);
        ck_assert_msg(strchr(text, '\r') == NULL && strchr(text, '\x01') == NULL, "%s", text);
        free(again);
        free(text);
    }
}
END_TEST

enum { PARTS = 3000 };

BODY(many_parts) {
    int64_t sizes[PARTS];
    lam_tensor *parts[PARTS];
    for (int i = 0; i < PARTS; i++) sizes[i] = 1;
    lam_split_sizes(in[0], 0, sizes, parts, PARTS);
    for (int i = 0; i < PARTS / 2; i++) {
        lam_tensor *part = parts[i];
        parts[i] = parts[PARTS - 1 - i];
        parts[PARTS - 1 - i] = part;
    }
    out[0] = lam_concatenate((lam_list){PARTS, parts}, 0);
}

/* Lists of any length, and programs of any: a name for each of many values. */
START_TEST(long_lists) {
    lam_tensor *x = lam_arange(ctx, LAM_F64, 0, PARTS, 1);
    char *text = printed_text(lam_trace(FN(many_parts, 1, 1), LAM_LIST(x)));
    lam_program *read = lam_program_read(ctx, text);
    EXPECT_OK();
    EXPECT_SAME(apply1(read, x), lam_reverse(x, (lam_axes){0, NULL}), 0);
    free(text);
}
END_TEST

/* ---- refusals ---------------------------------------------------------------------------------------------------- */

#define HEAD "program f(v0: f64[2], v1: f64[2]) {\n"

/* words: in the message. */
static const struct {
    const char *text;
    lam_status status;
    const char *words;
} wrong[] = {
    {"", LAM_ERR_VALUE, "line 1: a name"},
    {"text", LAM_ERR_VALUE, "line 1: 'program' expected"},
    {"program", LAM_ERR_VALUE, "line 1: a name"},
    {"program \"f", LAM_ERR_VALUE, "line 1: '\"' expected"},
    {"program f", LAM_ERR_VALUE, "line 1: '(' expected"},
    {"program f(v0: f64[2]", LAM_ERR_VALUE, "line 1: ',' expected"},
    {"program f(v0: f64[2],) {\n return v0\n}", LAM_ERR_VALUE, "line 1: a name"},
    {"program f(v0: f64[2])\n return v0\n}", LAM_ERR_VALUE, "line 2: '{' expected"},
    {"program f(v0: f64[2], v0: f64[2]) {\n return v0\n}", LAM_ERR_VALUE, "line 1: 'v0' is bound twice"},
    {"program f(v0: f65[2]) {\n return v0\n}", LAM_ERR_VALUE, "line 1: 'f65' is not a dtype"},
    {"program f(v0: f64[-2]) {\n return v0\n}", LAM_ERR_VALUE, "line 1: a size is negative"},
    {"program f(v0: f64[2 3]) {\n return v0\n}", LAM_ERR_VALUE, "line 1: ',' expected"},
    {"program f(v0: f64[99999999999, 99999999999]) {\n return v0\n}", LAM_ERR_VALUE, "line 1: the sizes overflow"},
    {"program f(v0: f64[99999999999999999999]) {\n return v0\n}", LAM_ERR_VALUE, "line 1: a whole number"},
    {HEAD, LAM_ERR_VALUE, "line 2: a name"},
    {HEAD "    return v0", LAM_ERR_VALUE, "line 2: ',' expected, found ''"},
    {HEAD "    return v0 v1\n}", LAM_ERR_VALUE, "line 2: ',' expected, found 'v1 }'"},
    {HEAD "    return v0,\n}", LAM_ERR_VALUE, "line 3"},
    {HEAD "    return v2\n}", LAM_ERR_VALUE, "line 2: 'v2' is not bound"},
    {HEAD "    return v0\n}\n\nreturn v0", LAM_ERR_VALUE, "line 5: nothing expected behind the program"},
    {HEAD "    v2: f64[2] = sin(v3)\n    return v2\n}", LAM_ERR_VALUE, "line 2: 'v3' is not bound"},
    {HEAD "    v2: f64[2] = sin(v2)\n    return v2\n}", LAM_ERR_VALUE, "line 2: 'v2' is read before it is set"},
    {HEAD "    v1: f64[2] = sin(v0)\n    return v1\n}", LAM_ERR_VALUE, "line 2: 'v1' is bound twice"},
    {HEAD "    v2: f64[2] = sin(v0)\n    v2: f64[2] = cos(v0)\n    return v2\n}", LAM_ERR_VALUE,
     "line 3: 'v2' is bound"},
    {HEAD "    v2: f64[2] = sine(v0)\n    return v2\n}", LAM_ERR_VALUE, "line 2: there is no operation 'sine'"},
    {HEAD "    v2: f64[2] = sin v0\n    return v2\n}", LAM_ERR_VALUE, "line 2: '(' expected"},
    {HEAD "    v2: f64[2] = sin(v0\n    return v2\n}", LAM_ERR_VALUE, "line 3: ',' expected"},
    {HEAD "    v2: f64[2] sin(v0)\n    return v2\n}", LAM_ERR_VALUE, "line 2: '=' expected"},
    {HEAD "    v2 = sin(v0)\n    return v2\n}", LAM_ERR_VALUE, "line 2: ':' expected"},
    {HEAD "    v2: f64[] = sum(v0) axis=[0]\n    return v2\n}", LAM_ERR_VALUE,
     "line 2: 'sum' takes 'axes' here, not 'axis'"},
    {HEAD "    v2: f64[] = sum(v0) axes=0\n    return v2\n}", LAM_ERR_VALUE, "line 2: '[' expected"},
    {HEAD "    v2: f64[] = sum(v0) axes=[32]\n    return v2\n}", LAM_ERR_VALUE, "line 2: there is no axis 32"},
    {HEAD "    v2: f64[] = sum(v0) axes=[1]\n    return v2\n}", LAM_ERR_VALUE, "(sum): there are no such axes"},
    {HEAD "    v2: f64[] = sum(v0)\n    return v2\n}", LAM_ERR_VALUE, "(sum): parameters are missing"},
    {HEAD "    v2: f64[2] = sin(v0) axes=[0]\n    return v2\n}", LAM_ERR_VALUE, "line 2: 'sin' takes 'member'"},
    {HEAD
     "    v2: f64[2] = checkpoint_name(v0) name=\"a name that is longer than the 31 bytes of names\"\n    return v2\n}",
     LAM_ERR_VALUE, "line 2: a text of less than 32 bytes"},
    {HEAD "    v2: f64[2] = checkpoint_name(v0) name=word\n    return v2\n}", LAM_ERR_VALUE, "line 2: a text"},
    {HEAD "    v2: f64[2] = split(v0)\n    return v2\n}", LAM_ERR_VALUE, "line 2: there is no operation 'split'"},
    {HEAD "    v2: f64[2] = mul(v0)\n    return v2\n}", LAM_ERR_ARITY, "equation 0 (mul): 1 operands"},
    {HEAD "    v2: f64[2] = mul(v0, -)\n    return v2\n}", LAM_ERR_VALUE, "equation 0 (mul): an operand is missing"},
    {HEAD "    v2: f64[2], v3: f64[2] = sin(v0)\n    return v2\n}", LAM_ERR_ARITY, "equation 0 (sin): 2 results"},
    {HEAD "    - = sin(v0)\n    return v0\n}", LAM_ERR_SHAPE, "equation 0 (sin): result 0 is left out"},
    {HEAD "    v2: f64[3] = sin(v0)\n    return v2\n}", LAM_ERR_SHAPE, "result 0 is f64[3], but its rule gives f64[2]"},
    {HEAD "    v2: f32[2] = sin(v0)\n    return v2\n}", LAM_ERR_DTYPE, "result 0 is f32[2], but its rule gives f64[2]"},
    {HEAD "    v2: f64[2] = cos(v0)\n    v3: f64[1] = sin(v2)\n    return v3\n}", LAM_ERR_SHAPE, "equation 1 (sin)"},
    {HEAD "    c0: f64[3] = [1, 2, 3]\n    v2: f64[2] = add(v0, c0)\n    return v2\n}", LAM_ERR_SHAPE,
     "f64[2], f64[3]"},
    {HEAD "    c0: f64[2] = [1]\n    return c0\n}", LAM_ERR_VALUE, "line 2: ',' expected"},
    {HEAD "    c0: f64[2] = [1, 2, 3]\n    return c0\n}", LAM_ERR_VALUE, "line 2: ']' expected"},
    {HEAD "    c0: f64[2] = [1, 2\n    return c0\n}", LAM_ERR_VALUE, "line 3: ']' expected"},
    {HEAD "    c0: f64[2] = 1, 2\n    return c0\n}", LAM_ERR_VALUE, "line 2: '[' expected"},
    {HEAD "    c0: f64[2] = [1, two]\n    return c0\n}", LAM_ERR_VALUE, "line 2: no f64: 'two]"},
    {HEAD "    c0: f64[2] = opaque f64[2]\n    return c0\n}", LAM_ERR_VALUE, "line 2: 'c0' is a value of a level"},
    {HEAD "    c0: f64[2] = all 0\n    c0: f64[2] = all 0\n    return c0\n}", LAM_ERR_VALUE,
     "line 3: 'c0' is bound twice"},
    {HEAD "    c0: u8[2] = [255, 256]\n    return c0\n}", LAM_ERR_VALUE, "line 2: no u8: '256]"},
    {HEAD "    c0: u8[1] = [-1]\n    return c0\n}", LAM_ERR_VALUE, "line 2: no u8: '-1]"},
    {HEAD "    return 2147483648:i32\n}", LAM_ERR_VALUE, "line 2: no i32"},
    {HEAD "    return 9223372036854775808:i64\n}", LAM_ERR_VALUE, "line 2: no i64"},
    {HEAD "    return 1.5:i64\n}", LAM_ERR_VALUE, "line 2: no i64"},
    {HEAD "    return 1e999:f64\n}", LAM_ERR_VALUE, "line 2: no f64"},
    {HEAD "    return 3.5e38:f32\n}", LAM_ERR_VALUE, "line 2: no f32"},
    {HEAD "    return 65520:f16\n}", LAM_ERR_VALUE, "line 2: no f16"},
    {HEAD "    return 1+1e999i:c128\n}", LAM_ERR_VALUE, "line 2: no c128"},
    {HEAD "    return 1+2:c64\n}", LAM_ERR_VALUE, "line 2: no c64"},
    {HEAD "    return 1:bool\n}", LAM_ERR_VALUE, "line 2: no bool"},
    {HEAD "    return 1:f63\n}", LAM_ERR_VALUE, "line 2: 'f63' is not a dtype"},
    {HEAD "    v2: f64[2] = checkpoint(v0)\n    return v2\n}", LAM_ERR_VALUE, "(checkpoint): it calls functions"},
    {HEAD "    v2: f64[2] = checkpoint(v0) opaque\n    return v2\n}", LAM_ERR_VALUE, "line 2"},
};
enum { WRONG = sizeof wrong / sizeof *wrong };

START_TEST(texts_that_are_wrong_are_refused) {
    for (int i = 0; i < WRONG; i++) {
        ck_assert_msg(lam_failed(lam_program_read(ctx, wrong[i].text)), "%s", wrong[i].text);
        ck_assert_msg(strstr(lam_error(ctx), wrong[i].words) != NULL, "%s\nis refused by: %s", wrong[i].text,
                      lam_error(ctx));
        EXPECT_ERROR(wrong[i].status, wrong[i].words);
    }
}
END_TEST

/* A text that ends anywhere is refused, unless what is left out is blank. */
START_TEST(texts_that_end_early_are_refused) {
    char *text = printed_text(lam_trace(FN(with_constants, 2, 6), LAM_LIST(three(), num(1))));
    const size_t size = strlen(text);
    for (size_t n = 0; n + 1 < size; n++) {
        char *part = malloc(n + 1);
        memcpy(part, text, n);
        part[n] = '\0';
        ck_assert_msg(lam_failed(lam_program_read(ctx, part)), "%s", part);
        EXPECT_STATUS(LAM_ERR_VALUE);
        free(part);
    }
    free(text);
}
END_TEST

START_TEST(a_file_that_fails_is_reported) {
    FILE *full = fopen("/dev/full", "w");
    if (!full) full = fopen("/dev/null", "r"); /* where there is none: one that cannot be written */
    ck_assert_int_eq(lam_program_print(full, lam_trace(FN(wave, 1, 1), LAM_LIST(three()))), LAM_ERR_VALUE);
    EXPECT_ERROR(LAM_ERR_VALUE, "program_print of 'wave'", "cannot be written");
    fclose(full);
}
END_TEST

Suite *suite_transforms_program_text(void) {
    return SUITE_OF("transforms/program_text", functions_as_text, derivatives_as_text, constants_as_text,
                    what_is_not_needed_is_left_out, all_short_floats_are_read_back,
                    numbers_are_read_back_to_the_last_bit, nans_are_one_number, numbers_in_other_words,
                    one_number_for_all, constants_lie_as_they_did, any_name, long_lists,
                    texts_that_are_wrong_are_refused, texts_that_end_early_are_refused, a_file_that_fails_is_reported);
}
