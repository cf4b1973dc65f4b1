/* The way back through loops that end by a condition, compiled (transforms/nested_unwound.c), beside the operations one
 * by one, which know nothing of it, and beside derivatives that are known. */
#define _GNU_SOURCE /* setenv */

#include "tests/support.h"

#include <lamina/control.h>

#include <stdlib.h>

/* What becomes of two carries, x and y of f64[3], beside a capture c. Next ones: 0 and 1: those there are, 2: x + y c,
 * 3: sin of x c, 4: all 0.5, 5: y - x c, 6: running sums of x c, which are no part of a loop over lanes. */
typedef struct loop_case {
    const char *name;
    int carry[2];
    bool number; /* the condition is a number instead of a bool */
} loop_case;

static const loop_case cases[] = {
    {"both are made", {2, 5}, false},
    {"one is kept", {2, 1}, false},
    {"the other is kept", {0, 5}, false},
    {"both are kept", {0, 1}, false},
    {"they change places", {1, 0}, false},
    {"one becomes the other", {2, 0}, false},
    {"one is a constant", {4, 5}, false},
    {"one is made of itself", {3, 1}, false},
    {"a call", {6, 5}, false},
    {"a condition that is a number", {2, 5}, true},
};
enum { CASES = sizeof cases / sizeof *cases, MADE = 0 };

static lam_tensor *next_carry(int what, lam_tensor *x, lam_tensor *y, lam_tensor *c) {
    switch (what) {
    case 0: return x;
    case 1: return y;
    case 2: return lam_add(x, lam_mul(y, c));
    case 3: return lam_sin(lam_mul(x, c));
    case 4: return lam_full(ctx, lam_dtype_of(x), lam_dims_of(x), 0.5);
    case 5: return lam_sub(y, lam_mul(x, c));
    default: return lam_cumsum(lam_mul(x, c), 0);
    }
}

/* As many trips as the first carry says. in: the number of trips left, x, y, a capture. */
BODY(is_left) {
    out[0] = ((const loop_case *)env)->number ? in[0] : lam_gt(in[0], 0);
}

BODY(trip) {
    const loop_case *k = env;
    out[0] = lam_sub(in[0], 1);
    for (int i = 0; i < 2; i++) out[1 + i] = next_carry(k->carry[i], in[1], in[2], in[3]);
}

static lam_fn *capturing(const char *name, lam_body body, int carries, lam_tensor *captured, void *env) {
    return lam_fn_new(ctx, &(lam_fn_options){.name = name,
                                             .body = body,
                                             .inputs = carries,
                                             .outputs = carries,
                                             .env = env,
                                             .captures = LAM_LIST(captured)});
}

/* A number that all of both carries has part in. */
BODY(looped) {
    lam_tensor *y[3];
    lam_while(FN_ENV(is_left, 3, 1, env), capturing("trip", trip, 3, in[3], env), LAM_LIST(in[0], in[1], in[2]), y, 3);
    out[0] = lam_add(lam_sum(lam_mul(y[1], lam_cos(y[1])), NULL), lam_sum(lam_square(y[2]), NULL));
}

static lam_tensor *trips_left(int64_t trips) {
    return lam_array(ctx, LAM_I64, LAM_DIMS0, &trips);
}

static lam_fn *gradient_of(const loop_case *k) {
    return lam_grad(FN_ENV(looped, 4, 1, (void *)(uintptr_t)k), &(lam_grad_options){.argnums = LAM_AXES(1, 2, 3)});
}

/* The plain function's results and the jitted one's, which is called twice, since the second call knows how many trips
 * there were. */
static void compare(const char *name, lam_fn *f, lam_list inputs, size_t n, bool native, double tolerance) {
    lam_tensor *want[3], *got[3];
    lam_fn *jitted = lam_jit(f, &(lam_jit_options){.native = native});
    ck_assert_msg(lam_call(f, inputs, want, n) == LAM_OK, "%s: %s", name, lam_error(ctx));
    for (int run = 0; run < 2; run++) {
        ck_assert_msg(lam_call(jitted, inputs, got, n) == LAM_OK, "%s: %s", name, lam_error(ctx));
        for (size_t o = 0; o < n; o++) EXPECT_SAME(got[o], want[o], tolerance);
    }
    ck_assert_msg(lam_jit_report_of(jitted).direct == 0, "%s is not compiled", name);
}

/* Of none, one, two trips, and more than there is room for at first. */
START_TEST(gradients_of_a_while) {
    static const int64_t trips[] = {0, 1, 2, 50, 100};
    for (size_t i = 0; i < sizeof trips / sizeof *trips; i++)
        compare(cases[_i].name, gradient_of(&cases[_i]),
                LAM_LIST(trips_left(trips[i]), VEC(0.4, -0.2, 0.9), VEC(0.1, 0.7, -0.5), VEC(0.11, -0.05, 0.2)), 3,
                false, 1e-12);
}
END_TEST

/* One program for all of them: what was kept in a call has no part in the next. */
START_TEST(trips_of_different_number) {
    static const int64_t trips[] = {3, 40, 0, 200, 1};
    lam_fn *f = gradient_of(&cases[_i]), *jitted = lam_jit(f, NULL);
    for (size_t i = 0; i < sizeof trips / sizeof *trips; i++) {
        lam_tensor *want[3], *got[3], *x = lam_reverse(VEC(0.4, -0.2, 0.9), LAM_AXES(0));
        lam_list in = LAM_LIST(trips_left(trips[i]), x, VEC(0.1, 0.7, -0.5), VEC(0.11, -0.05, 0.2));
        ck_assert_int_eq(lam_call(f, in, want, 3), LAM_OK);
        ck_assert_int_eq(lam_call(jitted, in, got, 3), LAM_OK);
        for (int o = 0; o < 3; o++) EXPECT_SAME(got[o], want[o], 1e-12);
    }
    ck_assert_int_eq(lam_jit_report_of(jitted).recorded, 1);
}
END_TEST

/* The loop and its way back as one text of C, with the bits that steps give; of more trips than there is room for, and
 * of fewer than the last time. What machine code has no form for, or has nothing to do in, stays as it is. */
START_TEST(gradients_by_machine_code) {
    const bool idle = cases[_i].carry[0] == 0 && cases[_i].carry[1] == 1;
    const bool written = cases[_i].carry[0] != 6 && !cases[_i].number && !idle;
    static const int64_t trips[] = {30, 0, 1, 100, 17, 2};
    lam_fn *f = gradient_of(&cases[_i]), *steps = lam_jit(f, NULL);
    lam_fn *native = lam_jit(f, &(lam_jit_options){.native = true});
    for (size_t i = 0; i < sizeof trips / sizeof *trips; i++) {
        lam_tensor *want[3], *same[3], *got[3], *x = lam_reverse(VEC(0.9, -0.2, 0.4), LAM_AXES(0));
        lam_list in = LAM_LIST(trips_left(trips[i]), x, VEC(0.1, 0.7, -0.5), VEC(0.11, -0.05, 0.2));
        ck_assert_int_eq(lam_call(f, in, want, 3), LAM_OK);
        ck_assert_int_eq(lam_call(steps, in, same, 3), LAM_OK);
        ck_assert_int_eq(lam_call(native, in, got, 3), LAM_OK);
        for (int o = 0; o < 3; o++) {
            EXPECT_SAME(got[o], want[o], 1e-12);
            if (written) EXPECT_SAME(got[o], same[o], 0);
        }
    }
    const int64_t machines = lam_jit_report_of(native).native;
    if (written && system("cc --version >/dev/null 2>&1") == 0) ck_assert_int_ge(machines, 2);
    ck_assert_int_eq(lam_jit_report_of(native).recorded, 1);
}
END_TEST

/* Derivatives of the gradient, forward and back, and a batch of it, in which examples end for themselves. */
START_TEST(transforms_of_the_gradient) {
    lam_fn *f = FN_ENV(looped, 4, 1, (void *)(uintptr_t)&cases[_i]);
    lam_fn *grad = lam_grad(f, &(lam_grad_options){.argnums = LAM_AXES(1)});
    lam_jacobian_options by_c = {.argnums = LAM_AXES(3)};
    lam_tensor *x = VEC(0.4, -0.2, 0.9), *y = VEC(0.1, 0.7, -0.5), *c = VEC(0.11, -0.05, 0.2);
    lam_list one = LAM_LIST(trips_left(4), x, y, c);
    compare(cases[_i].name, lam_jacfwd(grad, &by_c), one, 1, false, 1e-12);
    compare(cases[_i].name, lam_jacrev(grad, &by_c), one, 1, false, 1e-12);
    lam_tensor *left = lam_array(ctx, LAM_I64, LAM_DIMS(3), (int64_t[]){3, 0, 20});
    compare(cases[_i].name, lam_vmap(gradient_of(&cases[_i]), NULL),
            LAM_LIST(left, lam_stack(LAM_LIST(x, y, c), 0), lam_stack(LAM_LIST(y, c, x), 0),
                     lam_mul(0.2, lam_stack(LAM_LIST(c, x, y), 0))),
            3, false, 1e-12);
    compare(cases[_i].name,
            lam_vmap(gradient_of(&cases[_i]), &(lam_vmap_options){.in_axes = LAM_AXES(LAM_UNMAPPED, 0, 0, 0)}),
            LAM_LIST(trips_left(5), lam_stack(LAM_LIST(x, y), 0), lam_stack(LAM_LIST(y, c), 0),
                     lam_mul(0.2, lam_stack(LAM_LIST(c, x), 0))),
            3, false, 1e-12);
}
END_TEST

/* What the loop gives, and its gradients for cotangents of both. in: as of looped, then these. */
BODY(both_ends) {
    lam_tensor *y[3];
    lam_while(FN_ENV(is_left, 3, 1, env), capturing("trip", trip, 3, in[3], env), LAM_LIST(in[0], in[1], in[2]), y, 3);
    out[0] = y[1], out[1] = y[2];
}

BODY(pulled) {
    const lam_grad_options by_all = {.argnums = LAM_AXES(1, 2, 3)};
    lam_tensor *y[2];
    lam_fn *pullback;
    if (lam_vjp(FN_ENV(both_ends, 4, 2, env), (lam_list){4, in}, y, 2, &pullback, &by_all) == LAM_OK)
        (void)lam_call(pullback, (lam_list){2, in + 4}, out, 3);
}

/* Rows of Jacobians, and batches of cotangents along any axis, one of which all rows may share. A batch of operands is
 * another thing. */
START_TEST(batches_of_cotangents) {
    static const int64_t trips[] = {0, 1, 30};
    void *env = (void *)(uintptr_t)&cases[_i];
    lam_tensor *x = VEC(0.4, -0.2, 0.9), *y = VEC(0.1, 0.7, -0.5), *c = VEC(0.11, -0.05, 0.2);
    lam_tensor *rows = lam_reshape(lam_linspace(ctx, LAM_F64, -1, 1, 12), LAM_DIMS(4, 3));
    const int none = LAM_UNMAPPED;
    const lam_vmap_options one = {.in_axes = LAM_AXES(none, none, none, none, 0, none)},
                           two = {.in_axes = LAM_AXES(none, none, none, none, 0, 1)},
                           more = {.in_axes = LAM_AXES(none, 0, none, none, none, 0)};
    lam_fn *f = FN_ENV(pulled, 6, 3, env), *ends = FN_ENV(both_ends, 4, 2, env);
    for (size_t i = 0; i < sizeof trips / sizeof *trips; i++) {
        lam_tensor *left = trips_left(trips[i]);
        compare(cases[_i].name, lam_jacrev(ends, &(lam_jacobian_options){.argnums = LAM_AXES(1)}),
                LAM_LIST(left, x, y, c), 2, i == 2, 1e-12);
        compare(cases[_i].name, lam_vmap(f, &one), LAM_LIST(left, x, y, c, rows, y), 3, i == 2, 1e-12);
        compare(cases[_i].name, lam_vmap(f, &two), LAM_LIST(left, x, y, c, rows, lam_transpose(rows, LAM_AXES(1, 0))),
                3, false, 1e-12);
        compare(cases[_i].name, lam_vmap(f, &more), LAM_LIST(left, rows, y, c, x, rows), 3, false, 1e-12);
    }
}
END_TEST

/* Few examples go back one after the other, many at once; each has its own number of trips, and operands along any
 * axis. */
START_TEST(gradients_of_batches) {
    lam_vmap_options along = {.in_axes = LAM_AXES(0, 1, LAM_UNMAPPED, 0)};
    for (int64_t n = 1; n < 12; n += n < 8 ? 7 : 3) {
        lam_tensor *left = lam_cast(lam_arange(ctx, LAM_I64, 0, n, 1), LAM_I64);
        lam_tensor *x = lam_reshape(lam_linspace(ctx, LAM_F64, -0.4, 0.9, 3 * n), LAM_DIMS(3, n));
        lam_tensor *c = lam_mul(0.2, lam_transpose(lam_reverse(x, LAM_AXES(1)), LAM_AXES(1, 0)));
        compare(cases[_i].name, lam_vmap(gradient_of(&cases[_i]), &along), LAM_LIST(left, x, VEC(0.1, 0.7, -0.5), c), 3,
                n == 8, 1e-12);
    }
}
END_TEST

/* x c^n, of which the derivatives are known: numbers of all trips meet in that by c. */
BODY(multiplied) {
    out[0] = lam_sub(in[0], 1);
    out[1] = lam_mul(in[1], in[2]);
}

BODY(powers) {
    lam_tensor *y[2];
    static const loop_case positive = {.number = false};
    lam_fn *condition = FN_ENV(is_left, 2, 1, (void *)(uintptr_t)&positive);
    lam_while(condition, capturing("multiplied", multiplied, 2, in[2], NULL), LAM_LIST(in[0], in[1]), y, 2);
    out[0] = y[1];
}

BODY(power) {
    powers(ctx, in, out, env);
    out[0] = lam_sum(out[0], NULL);
}

START_TEST(gradients_of_a_power) {
    lam_fn *f = FN(power, 3, 1), *by_both = lam_grad(f, &(lam_grad_options){.argnums = LAM_AXES(1, 2)});
    lam_fn *by_c = lam_grad(f, &(lam_grad_options){.argnums = LAM_AXES(2)});
    lam_fn *made = lam_jit(by_both, NULL);
    lam_fn *twice = lam_jit(lam_grad(by_c, &(lam_grad_options){.argnums = LAM_AXES(2)}), NULL);
    lam_tensor *g[2], *left = lam_array(ctx, LAM_I64, LAM_DIMS(3), (int64_t[]){5, 0, 1});
    ck_assert_int_eq(lam_call(made, LAM_LIST(trips_left(5), num(3), num(2)), g, 2), LAM_OK);
    EXPECT_NUM(g[0], 32);
    EXPECT_NUM(g[1], 240);
    ck_assert_int_eq(lam_call(made, LAM_LIST(trips_left(0), num(3), num(2)), g, 2), LAM_OK);
    EXPECT_NUM(g[0], 1);
    EXPECT_NUM(g[1], 0);
    ck_assert_int_eq(lam_jit_report_of(made).recorded, 1);
    EXPECT_NUM(lam_apply(twice, LAM_LIST(trips_left(5), num(3), num(2))), 480);
    EXPECT_NUM(lam_apply(twice, LAM_LIST(trips_left(1), num(3), num(2))), 0);
    lam_vmap_options examples = {.in_axes = LAM_AXES(0, LAM_UNMAPPED, LAM_UNMAPPED)};
    ck_assert_int_eq(lam_call(lam_jit(lam_vmap(by_both, &examples), NULL), LAM_LIST(left, num(3), num(2)), g, 2),
                     LAM_OK);
    EXPECT(g[0], LAM_DIMS(3), 32, 1, 2);
    EXPECT(g[1], LAM_DIMS(3), 240, 0, 3);
}
END_TEST

/* Rows of its Jacobian: by x c^n in the diagonal, by c n x c^(n - 1). */
START_TEST(rows_of_a_power) {
    lam_fn *rows = lam_jit(lam_jacrev(FN(powers, 3, 1), &(lam_jacobian_options){.argnums = LAM_AXES(1, 2)}), NULL);
    lam_tensor *g[2];
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(lam_call(rows, LAM_LIST(trips_left(3), VEC(3, 0.5), VEC(2, -1)), g, 2), LAM_OK);
        EXPECT(g[0], LAM_DIMS(2, 2), 8, 0, 0, -1);
        EXPECT(g[1], LAM_DIMS(2, 2), 36, 0, 0, 1.5);
    }
    EXPECT_OK();
}
END_TEST

/* Carries of any dtype with derivatives, also of no elements. */
START_TEST(carries_of_any_type_and_size) {
    lam_fn *grad = lam_grad(FN(power, 3, 1), &(lam_grad_options){.argnums = LAM_AXES(1, 2)});
    lam_tensor *none = lam_zeros(ctx, LAM_F64, LAM_DIMS(0)), *narrow = lam_cast(VEC(0.5, -1.5), LAM_F32);
    lam_tensor *wide = lam_linspace(ctx, LAM_F64, -1, 1, 1000);
    lam_list halves = LAM_LIST(trips_left(3), lam_cast(narrow, LAM_F16), lam_cast(narrow, LAM_F16));
    for (int native = 0; native < 2; native++) {
        compare("no elements", grad, LAM_LIST(trips_left(7), none, none), 2, native, 0);
        compare("f32", grad, LAM_LIST(trips_left(7), narrow, narrow), 2, native, 1e-5);
        compare("f16", grad, halves, 2, native, 0.02);
        compare("1000 elements", grad, LAM_LIST(trips_left(7), lam_reverse(wide, LAM_AXES(0)), wide), 2, native, 1e-13);
    }
}
END_TEST

/* Complex carries: z c^n, whose square of the absolute value is the objective. */
BODY(turned) {
    lam_tensor *y[2];
    static const loop_case positive = {.number = false};
    lam_fn *condition = FN_ENV(is_left, 2, 1, (void *)(uintptr_t)&positive);
    lam_tensor *z = lam_complex(in[1], lam_mul(0.5, in[1])), *c = lam_complex(in[2], lam_square(in[2]));
    lam_while(condition, capturing("multiplied", multiplied, 2, c, NULL), LAM_LIST(in[0], z), y, 2);
    out[0] = lam_sum(lam_square(lam_abs(y[1])), NULL);
}

START_TEST(complex_carries) {
    lam_fn *grad = lam_grad(FN(turned, 3, 1), &(lam_grad_options){.argnums = LAM_AXES(1, 2)});
    compare("complex", grad, LAM_LIST(trips_left(6), VEC(0.5, -1.5), VEC(0.9, -0.3)), 2, false, 1e-12);
}
END_TEST

/* A loop in a loop, and one in each trip of a scan. */
BODY(inner_and_one_less) {
    out[0] = lam_sub(in[0], 1);
    out[1] = lam_div(lam_apply(FN(power, 3, 1), LAM_LIST(in[0], in[1], in[2])), 2.0);
}

BODY(loop_in_a_loop) {
    lam_tensor *y[2];
    static const loop_case positive = {.number = false};
    lam_fn *condition = FN_ENV(is_left, 2, 1, (void *)(uintptr_t)&positive);
    lam_fn *body = capturing("inner_and_one_less", inner_and_one_less, 2, in[2], NULL);
    lam_while(condition, body, LAM_LIST(in[0], in[1]), y, 2);
    out[0] = lam_sum(y[1], NULL);
}

BODY(carried_and_kept) {
    lam_tensor *n = lam_cast(lam_mul(10.0, in[1]), LAM_I64);
    out[0] = lam_mul(0.5, lam_apply(FN(power, 3, 1), LAM_LIST(n, in[0], lam_add(1.0, in[1]))));
    out[1] = lam_sin(out[0]);
}

BODY(loop_in_a_scan) {
    lam_tensor *y[2];
    lam_scan(FN(carried_and_kept, 2, 2), LAM_LIST(in[1]),
             LAM_LIST(lam_mul(in[2], lam_linspace(ctx, LAM_F64, 0, 1, 80))), y, 2, NULL);
    out[0] = lam_add(y[0], lam_sum(y[1], NULL));
}

START_TEST(loops_in_loops) {
    const lam_grad_options both = {.argnums = LAM_AXES(1, 2)};
    const lam_list in = LAM_LIST(trips_left(5), num(1.5), num(0.8));
    compare("a loop in a loop", lam_grad(FN(loop_in_a_loop, 3, 1), &both), in, 2, false, 1e-13);
    compare("a loop in a loop", lam_grad(FN(loop_in_a_loop, 3, 1), &both), in, 2, true, 1e-13);
    compare("a loop in a scan", lam_grad(FN(loop_in_a_scan, 3, 1), &both), in, 2, false, 1e-12);
}
END_TEST

/* On addresses, what a call asks for is the same for few trips and many: none is made by operations. */
START_TEST(trips_ask_for_no_memory) {
    lam_ctx *outside = ctx;
    memory counted = {0};
    const lam_ctx_options options = memory_options(&counted);
    ctx = lam_ctx_new(&options);
    lam_tensor *x = VEC(0.4, -0.2, 0.9), *y = VEC(0.1, 0.7, -0.5), *c = VEC(0.11, -0.05, 0.2), *out[3];
    lam_fn *made = lam_jit(gradient_of(&cases[_i]), NULL);
    size_t asked[4];
    for (int call = 0; call < 4; call++) { /* the first one records, and knows how many trips there were */
        static const int64_t trips[] = {4, 4, 15, 15};
        const size_t before = counted.requests;
        ck_assert_int_eq(lam_call(made, LAM_LIST(trips_left(trips[call]), x, y, c), out, 3), LAM_OK);
        asked[call] = counted.requests - before;
    }
    EXPECT_OK();
    lam_ctx_free(ctx);
    ctx = outside;
    ck_assert_msg((asked[3] == asked[1]) != cases[_i].number, "%s: %zu and %zu requests", cases[_i].name, asked[1],
                  asked[3]);
}
END_TEST

/* The jitted gradient of a case, of 20 trips. */
static void gradient_of_trips(const void *env) {
    lam_tensor *x = VEC(0.4, -0.2, 0.9), *y = VEC(0.1, 0.7, -0.5), *c = VEC(0.11, -0.05, 0.2), *out[3];
    (void)lam_call(lam_jit(gradient_of(env), NULL), LAM_LIST(trips_left(20), x, y, c), out, 3);
}

static void rows_of_trips(const void *env) {
    lam_tensor *x = VEC(0.4, -0.2, 0.9), *y = VEC(0.1, 0.7, -0.5), *c = VEC(0.11, -0.05, 0.2), *out[2];
    lam_fn *f = FN_ENV(both_ends, 4, 2, (void *)(uintptr_t)env);
    lam_fn *rows = lam_jit(lam_jacrev(f, &(lam_jacobian_options){.argnums = LAM_AXES(1)}), NULL);
    (void)lam_call(rows, LAM_LIST(trips_left(5), x, y, c), out, 2);
}

static void examples_of_trips(const void *env) {
    lam_tensor *x = VEC(0.4, -0.2, 0.9), *y = VEC(0.1, 0.7, -0.5), *c = VEC(0.11, -0.05, 0.2), *out[3];
    lam_fn *each = lam_vmap(gradient_of(env), &(lam_vmap_options){.in_axes = LAM_AXES(0, 0, LAM_UNMAPPED, 0)});
    lam_tensor *left = lam_array(ctx, LAM_I64, LAM_DIMS(2), (int64_t[]){3, 1});
    (void)lam_call(lam_jit(each, NULL), LAM_LIST(left, lam_stack(LAM_LIST(x, y), 0), y, lam_stack(LAM_LIST(c, x), 0)),
                   out, 3);
}

START_TEST(memory_refused_on_the_way_back) {
    static void (*const ways[])(const void *) = {gradient_of_trips, gradient_of_trips, rows_of_trips,
                                                 examples_of_trips};
    memory_refused_in(ways[_i], &cases[_i == 1 ? CASES - 2 : MADE]);
}
END_TEST

static void machine_gradient_of_trips(const void *env) {
    lam_tensor *x = VEC(0.4, -0.2, 0.9), *y = VEC(0.1, 0.7, -0.5), *c = VEC(0.11, -0.05, 0.2), *out[3];
    lam_fn *native = lam_jit(gradient_of(env), &(lam_jit_options){.native = true});
    (void)lam_call(native, LAM_LIST(trips_left(20), x, y, c), out, 3);
}

/* Without a compiler the loop stays as it is, also if memory is refused while its text is made. */
START_TEST(machine_code_that_cannot_be_made) {
    char kept[4096];
    snprintf(kept, sizeof kept, "%s", getenv("PATH"));
    ck_assert_int_eq(setenv("PATH", "/no/such/place", 1), 0);
    compare(cases[MADE].name, gradient_of(&cases[MADE]),
            LAM_LIST(trips_left(20), VEC(0.4, -0.2, 0.9), VEC(0.1, 0.7, -0.5), VEC(0.11, -0.05, 0.2)), 3, true, 1e-12);
    memory_refused_in(machine_gradient_of_trips, &cases[MADE]);
    ck_assert_int_eq(setenv("PATH", kept, 1), 0);
}
END_TEST

/* Each request of a call refused in its turn: the call fails, and the next one does not. */
START_TEST(memory_refused_to_machine_code) {
    memory m = {0};
    const lam_ctx_options options = memory_options(&m);
    lam_ctx *saved = ctx;
    lam_tensor *want[3], *got[3];
    size_t failed = 0;
    bool reached = true;
    ctx = lam_ctx_new(&options);
    lam_fn *native = lam_jit(gradient_of(&cases[0]), &(lam_jit_options){.native = true});
    lam_list in = LAM_LIST(trips_left(40), VEC(0.4, -0.2, 0.9), VEC(0.1, 0.7, -0.5), VEC(0.11, -0.05, 0.2));
    ck_assert_int_eq(lam_call(native, in, want, 3), LAM_OK);
    for (size_t k = 1; reached; k++) {
        m.refuse = m.requests + k;
        const lam_status status = lam_call(native, in, got, 3);
        reached = m.requests >= m.refuse;
        m.refuse = 0;
        ck_assert_msg(status == LAM_OK || status == LAM_ERR_MEMORY, "request %zu: %s", k, lam_error(ctx));
        failed += status == LAM_ERR_MEMORY;
        lam_clear_error(ctx);
        ck_assert_int_eq(lam_call(native, in, got, 3), LAM_OK);
        for (int o = 0; o < 3; o++) EXPECT_SAME(got[o], want[o], 0);
    }
    ck_assert_uint_gt(failed, 10);
    ck_assert_int_eq(lam_jit_report_of(native).recorded, 1);
    lam_ctx_free(ctx);
    ctx = saved;
    ck_assert_uint_eq(m.blocks, 0);
}
END_TEST

Suite *suite_transforms_nested_unwound(void) {
    Suite *suite =
        SUITE_OF("transforms/nested_unwound", gradients_of_a_power, carries_of_any_type_and_size, complex_carries,
                 loops_in_loops, rows_of_a_power, machine_code_that_cannot_be_made, memory_refused_to_machine_code);
    suite_loop(suite, gradients_of_a_while, CASES);
    suite_loop(suite, trips_of_different_number, CASES);
    suite_loop(suite, gradients_by_machine_code, CASES);
    suite_loop(suite, transforms_of_the_gradient, CASES);
    suite_loop(suite, batches_of_cotangents, CASES);
    suite_loop(suite, gradients_of_batches, CASES);
    suite_loop(suite, trips_ask_for_no_memory, CASES);
    suite_loop(suite, memory_refused_on_the_way_back, 4);
    return suite;
}
