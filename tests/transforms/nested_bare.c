/* Loops whose functions are compiled to one part at most, which run on addresses (transforms/nested_bare.c), each
 * against the operations one by one, which know nothing of that. */
#include "tests/support.h"

#include <lamina/control.h>

/* What becomes of two carries, x and y of f64[2, 9], and c of the element e of f64[9] of a scan, or of a capture. */
typedef struct loop_case {
    const char *name;
    int carry[2]; /* the next ones: 0 and 1: those there are, 2: x + y c, 3: sin of x, 4: all 0.5, 5: y - c */
} loop_case;

static const loop_case cases[] = {
    {"both are made", {2, 5}},         {"one is kept", {2, 1}},        {"the other is kept", {0, 5}},
    {"both are kept", {0, 1}},         {"they change places", {1, 0}}, {"one becomes the other", {2, 0}},
    {"twice the same", {3, 3}},        {"one is a constant", {4, 2}},  {"both are constants", {4, 4}},
    {"one is made of itself", {3, 1}},
};
enum { CASES = sizeof cases / sizeof *cases, TRIPS = 70 /* fewer, or on fewer numbers, are no loop in a program */ };

static lam_tensor *next_carry(int what, lam_tensor *x, lam_tensor *y, lam_tensor *c) {
    switch (what) {
    case 0: return x;
    case 1: return y;
    case 2: return lam_add(x, lam_mul(y, c));
    case 3: return lam_sin(x);
    case 4: return lam_full(ctx, LAM_F64, LAM_DIMS(2, 9), 0.5);
    default: return lam_sub(y, c);
    }
}

/* As many trips as the first carry says. in: the number of trips left, x, y, a capture. */
BODY(is_left) {
    (void)env;
    out[0] = lam_gt(in[0], 0);
}

BODY(trip_of_while) {
    const loop_case *k = env;
    out[0] = lam_sub(in[0], 1);
    for (int i = 0; i < 2; i++) out[1 + i] = next_carry(k->carry[i], in[1], in[2], in[3]);
}

BODY(by_while) {
    lam_fn *body = lam_fn_new(ctx, &(lam_fn_options){.name = "trip_of_while",
                                                     .body = trip_of_while,
                                                     .inputs = 3,
                                                     .outputs = 3,
                                                     .env = env,
                                                     .captures = LAM_LIST(in[3])});
    lam_tensor *results[3];
    lam_while(FN(is_left, 3, 1), body, LAM_LIST(in[0], in[1], in[2]), results, 3);
    out[0] = results[1], out[1] = results[2];
}

/* in: x, y, an element. Rows: a product that is made, and a carry of before. */
BODY(trip_of_scan) {
    const loop_case *k = env;
    for (int i = 0; i < 2; i++) out[i] = next_carry(k->carry[i], in[0], in[1], in[2]);
    out[2] = lam_mul(in[0], in[2]);
    out[3] = lam_add(in[1], 1.0);
}

static void scan_by(bool reverse, lam_tensor *const in[], lam_tensor *out[], void *env) {
    const lam_scan_options options = {.reverse = reverse};
    lam_scan(FN_ENV(trip_of_scan, 3, 4, env), LAM_LIST(in[0], in[1]), LAM_LIST(in[2]), out, 4, &options);
}

BODY(by_scan) {
    scan_by(false, in, out, env);
}

BODY(by_scan_back) {
    scan_by(true, in, out, env);
}

/* x and y of matrices that lie by columns and in a longer row. */
static lam_tensor *operand(int i) {
    lam_tensor *x = lam_linspace(ctx, LAM_F64, -0.9 + i, 0.7 + i, 36);
    if (i == 0) return lam_matrix_transpose(lam_reshape(lam_slice_axis(x, 0, 0, 18), LAM_DIMS(9, 2)));
    return lam_slice_axis(lam_reshape(x, LAM_DIMS(2, 18)), 1, 1, 10);
}

static void compare(const loop_case *k, lam_fn *f, lam_list inputs, size_t n) {
    lam_tensor *want[4], *got[4];
    lam_fn *jitted = lam_jit(f, NULL);
    ck_assert_msg(lam_call(f, inputs, want, n) == LAM_OK, "%s: %s", k->name, lam_error(ctx));
    for (int run = 0; run < 2; run++) {
        ck_assert_msg(lam_call(jitted, inputs, got, n) == LAM_OK, "%s: %s", k->name, lam_error(ctx));
        for (size_t o = 0; o < n; o++) EXPECT_SAME(got[o], want[o], 0);
    }
    ck_assert_msg(lam_jit_report_of(jitted).direct == 0, "%s is not compiled", k->name);
}

/* Of none, one, two and more trips. */
START_TEST(while_of_one_part) {
    lam_fn *f = FN_ENV(by_while, 4, 2, (void *)(uintptr_t)&cases[_i]);
    for (int64_t trips = 0; trips < 4; trips++) {
        lam_tensor *left = lam_array(ctx, LAM_I64, LAM_DIMS0, &trips);
        lam_tensor *captured = lam_reverse(lam_linspace(ctx, LAM_F64, 0.1, 0.3, 9), LAM_AXES(0));
        compare(&cases[_i], f, LAM_LIST(left, operand(0), operand(1), captured), 2);
    }
}
END_TEST

/* On addresses, what a call asks for is the same for few trips and many: none is made by operations. */
START_TEST(trips_ask_for_no_memory) {
    lam_ctx *outside = ctx;
    memory counted = {0};
    const lam_ctx_options options = memory_options(&counted);
    ctx = lam_ctx_new(&options);
    lam_tensor *captured = lam_linspace(ctx, LAM_F64, 0.1, 0.3, 9), *out[2];
    lam_fn *made = lam_jit(FN_ENV(by_while, 4, 2, (void *)(uintptr_t)&cases[_i]), NULL);
    size_t asked[3];
    for (int call = 0; call < 3; call++) { /* the first one records */
        lam_tensor *left = lam_array(ctx, LAM_I64, LAM_DIMS0, (int64_t[]){call < 2 ? 4 : 40});
        const size_t before = counted.requests;
        ck_assert_int_eq(lam_call(made, LAM_LIST(left, operand(0), operand(1), captured), out, 2), LAM_OK);
        asked[call] = counted.requests - before;
    }
    EXPECT_OK();
    lam_ctx_free(ctx);
    ctx = outside;
    ck_assert_msg(asked[2] == asked[1], "%s: %zu and %zu requests", cases[_i].name, asked[1], asked[2]);
}
END_TEST

/* Elements in columns of what is scanned, either way. */
START_TEST(scan_of_one_part) {
    lam_tensor *x = lam_linspace(ctx, LAM_F64, 0.2, 0.9, 9 * TRIPS);
    lam_tensor *xs = lam_matrix_transpose(lam_reshape(x, LAM_DIMS(9, TRIPS)));
    void *env = (void *)(uintptr_t)&cases[_i];
    compare(&cases[_i], FN_ENV(by_scan, 3, 4, env), LAM_LIST(operand(0), operand(1), xs), 4);
    compare(&cases[_i], FN_ENV(by_scan_back, 3, 4, env), LAM_LIST(operand(0), operand(1), xs), 4);
}
END_TEST

Suite *suite_transforms_nested_bare(void) {
    Suite *suite = suite_create("transforms/nested_bare");
    suite_loop(suite, while_of_one_part, CASES);
    suite_loop(suite, trips_ask_for_no_memory, CASES);
    suite_loop(suite, scan_of_one_part, CASES);
    return suite;
}
