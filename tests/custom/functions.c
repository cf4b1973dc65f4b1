/* Rules for existing functions (lam_custom_vjp and its kin), once_differentiable, printing, depth. Expected values by
 * hand; rules are
 * wrong on purpose where they must be told from the code. */
#include "tests/custom/callbacks.h"

#include <pthread.h>

/* ---- lam_custom_vjp ---------------------------------------------------------------------------------------------- */

static int plain_runs, fwd_runs;

BODY(square) {
    plain_runs++;
    out[0] = lam_square(in[0]);
}

BODY(square_fwd) {
    fwd_runs++;
    out[0] = lam_square(in[0]);
    out[1] = in[0];
}

/* Five times x g. */
BODY(square_bwd) {
    out[0] = lam_mul(lam_mul(5.0, in[0]), in[1]);
}

static lam_fn *custom_square(void) {
    return lam_custom_vjp(FN(square, 1, 1), FN(square_fwd, 1, 2), FN(square_bwd, 2, 1), NULL);
}

START_TEST(test_vjp_rule_under_every_transform) {
    lam_fn *f = custom_square();
    plain_runs = fwd_runs = 0;
    EXPECT_NUM(apply1(f, num(3)), 9);
    ck_assert_int_eq(fwd_runs, 0);
    EXPECT_NUM(apply1(reverse_of(f), num(3)), 15);
    ck_assert_int_eq(plain_runs, 1);
    ck_assert_int_eq(fwd_runs, 1);
    EXPECT_NUM(apply1(reverse_of(reverse_of(f)), num(3)), 5);
    EXPECT_NUM(apply1(forward_of(f), num(3)), 15);
    EXPECT_NUM(apply1(forward_of(reverse_of(f)), num(3)), 5);
    EXPECT_NUM(apply1(reverse_of(forward_of(f)), num(3)), 5);
    EXPECT(apply1(lam_vmap(reverse_of(f), NULL), VEC(1, 2)), LAM_DIMS(2), 5, 10);
    EXPECT(apply1(reverse_of(FN_ENV(sum_of, 1, 1, lam_vmap(f, NULL))), VEC(1, 2)), LAM_DIMS(2), 5, 10);
    EXPECT(apply1(lam_jacfwd(lam_vmap(f, NULL), NULL), VEC(1, 2)), LAM_DIMS(2, 2), 5, 0, 0, 10);
}
END_TEST

/* clip(lo, hi, x) is x; its cotangent is clipped to [lo, hi]. */
BODY(third) {
    out[0] = lam_alias(in[2]);
}

BODY(clip_fwd) {
    out[0] = lam_alias(in[2]);
    out[1] = in[0];
    out[2] = in[1];
}

BODY(clip_bwd) {
    out[0] = lam_zeros_like(in[0]);
    out[1] = lam_zeros_like(in[1]);
    out[2] = (lam_clamp)(in[2], in[0], in[1]);
}

BODY(clipped_ten_x) {
    lam_fn *clip = env;
    out[0] = lam_mul(10.0, lam_apply(clip, LAM_LIST(in[0], in[1], in[2])));
}

START_TEST(test_clipped_gradient_and_differentiated_bounds) {
    lam_fn *clip = lam_custom_vjp(FN(third, 3, 1), FN(clip_fwd, 3, 3), FN(clip_bwd, 3, 3), NULL),
           *f = FN_ENV(clipped_ten_x, 3, 1, clip);
    lam_tensor *g[3];
    lam_call(lam_grad(f, &(lam_grad_options){.argnums = LAM_AXES(0, 1, 2)}), LAM_LIST(num(-1), num(4), num(2)), g, 3);
    EXPECT_NUM(g[0], 0);
    EXPECT_NUM(g[1], 0);
    EXPECT_NUM(g[2], 4);
}
END_TEST

BODY(times_n) {
    out[0] = lam_mul(lam_cast(in[0], LAM_F64), in[1]);
}

BODY(times_n_fwd) {
    times_n(ctx, in, out, env);
}

/* nondiff first, then the cotangent: seven times n g. */
BODY(times_n_bwd) {
    out[0] = lam_mul(7.0, lam_mul(lam_cast(in[0], LAM_F64), in[1]));
}

START_TEST(test_nondiff_inputs_come_first) {
    lam_custom_options o = {.nondiff = LAM_AXES(0)};
    lam_fn *f = lam_custom_vjp(FN(times_n, 2, 1), FN(times_n_fwd, 2, 1), FN(times_n_bwd, 2, 1), &o);
    lam_tensor *n = lam_array(ctx, LAM_I64, LAM_DIMS0, (int64_t[]){3});
    EXPECT_NUM(apply2(lam_grad(f, &(lam_grad_options){.argnums = LAM_AXES(1)}), n, num(2)), 21);
    apply2(lam_grad(f, &(lam_grad_options){.argnums = LAM_AXES(0)}), num(3), num(2));
    EXPECT_ERROR(LAM_ERR_RULE, "times_n", "input 0", "nondiff");
}
END_TEST

static bool null_seen[2];

BODY(pair) {
    out[0] = lam_alias(in[0]);
    out[1] = lam_mul(2.0, in[0]);
}

BODY(pair_bwd) {
    for (int o = 0; o < 2; o++) null_seen[o] = !in[o];
    out[0] = in[0] ? in[0] : lam_zeros_like(in[1]);
}

BODY(first_of_pair) {
    lam_tensor *y[2];
    lam_call(env, LAM_LIST(in[0]), y, 2);
    out[0] = y[0];
}

START_TEST(test_symbolic_zeros) {
    for (int symbolic = 0; symbolic < 2; symbolic++) {
        lam_fn *f = lam_custom_vjp(FN(pair, 1, 2), FN(pair, 1, 2), FN(pair_bwd, 2, 1),
                                   &(lam_custom_options){.symbolic_zeros = symbolic});
        EXPECT_NUM(apply1(reverse_of(FN_ENV(first_of_pair, 1, 1, f)), num(3)), 1);
        ck_assert(!null_seen[0]);
        ck_assert(null_seen[1] == symbolic);
    }
}
END_TEST

BODY(wrong_shape_bwd) {
    out[0] = VEC(1, 2, 3);
}

BODY(integer_bwd) {
    out[0] = lam_array(ctx, LAM_I64, LAM_DIMS(2), (int64_t[]){1, 2});
}

BODY(refusing_bwd) {
    out[0] = lam_fail(ctx, LAM_ERR_USER, "no rule for this");
}

START_TEST(test_rules_that_do_not_fit) {
    lam_custom_vjp(FN(square, 1, 1), FN(square, 1, 1), FN(square_bwd, 2, 1), NULL);
    EXPECT_ERROR(LAM_ERR_ARITY, "custom_vjp", "bwd 'square_bwd'", "takes 2 inputs", "expected 1 and 1");
    lam_custom_vjp(FN(pair, 1, 2), FN(square, 1, 1), FN(square_bwd, 2, 1), NULL);
    EXPECT_ERROR(LAM_ERR_ARITY, "custom_vjp", "fwd 'square'", "expected 1 and 2");
    lam_custom_jvp(FN(square, 1, 1), FN(square, 1, 1), NULL);
    EXPECT_ERROR(LAM_ERR_ARITY, "custom_jvp", "rule 'square'", "expected 2 and 2");
    lam_custom_jvps(FN(square, 1, 1), NULL, 0, NULL);
    EXPECT_ERROR(LAM_ERR_ARITY, "custom_jvps", "0 rules given, 1 expected");
    lam_custom_vmap(FN(square, 1, 1), NULL, NULL);
    EXPECT_ERROR(LAM_ERR_NULL, "custom_vmap", "square");
    lam_custom_vjp(FN(square, 1, 1), FN(square_fwd, 1, 2), FN(square_bwd, 2, 1),
                   &(lam_custom_options){.nondiff = LAM_AXES(3)});
    EXPECT_ERROR(LAM_ERR_OPTION, "custom_vjp", "square");
    const struct {
        lam_body body;
        lam_status status;
        const char *text;
    } rows[] = {{wrong_shape_bwd, LAM_ERR_SHAPE, "expected f64[2], got f64[3]"},
                {integer_bwd, LAM_ERR_DTYPE, "expected f64[2], got i64[2]"},
                {refusing_bwd, LAM_ERR_USER, "no rule for this"}};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        lam_fn *f = lam_custom_vjp(FN(square, 1, 1), FN(square_fwd, 1, 2),
                                   function_of("bad_bwd", rows[k].body, 2, 1, NULL), NULL);
        apply1(reverse_of(FN_ENV(sum_of, 1, 1, f)), VEC(1, 2));
        EXPECT_ERROR(rows[k].status, "square", rows[k].text);
    }
}
END_TEST

/* A rule may branch on its values where they are known. */
BODY(branching_bwd) {
    out[0] = lam_item(in[0]) > 0 ? in[1] : lam_neg(in[1]);
}

START_TEST(test_rule_with_host_control_flow) {
    lam_fn *f = lam_custom_vjp(FN(square, 1, 1), FN(square_fwd, 1, 2), FN(branching_bwd, 2, 1), NULL);
    EXPECT_NUM(apply1(reverse_of(f), num(3)), 1);
    EXPECT_NUM(apply1(reverse_of(f), num(-3)), -1);
}
END_TEST

/* ---- lam_custom_jvp ---------------------------------------------------------------------------------------------- */

/* Seven times x t. */
BODY(square_rule) {
    out[0] = lam_square(in[0]);
    out[1] = lam_mul(lam_mul(7.0, in[0]), in[1]);
}

START_TEST(test_jvp_rule_under_every_transform) {
    lam_fn *f = lam_custom_jvp(FN(square, 1, 1), FN(square_rule, 2, 2), NULL);
    EXPECT_NUM(apply1(f, num(3)), 9);
    EXPECT_NUM(apply1(forward_of(f), num(3)), 21);
    EXPECT_NUM(apply1(reverse_of(f), num(3)), 21);
    EXPECT_NUM(apply1(forward_of(reverse_of(f)), num(3)), 7);
    EXPECT_NUM(apply1(reverse_of(forward_of(f)), num(3)), 7);
    EXPECT_NUM(apply1(reverse_of(reverse_of(f)), num(3)), 7);
    EXPECT(apply1(lam_vmap(reverse_of(f), NULL), VEC(1, 2)), LAM_DIMS(2), 7, 14);
    EXPECT(apply1(lam_jacrev(lam_vmap(f, NULL), NULL), VEC(1, 2)), LAM_DIMS(2, 2), 7, 0, 0, 14);
    lam_tensor *value;
    lam_fn *linear;
    lam_linearize(f, LAM_LIST(num(3)), &value, 1, &linear, NULL);
    EXPECT_NUM(apply1(linear, num(2)), 42);
}
END_TEST

BODY(product) {
    out[0] = lam_mul(in[0], in[1]);
}

/* tangent, output, x, y: eleven times t y + out. */
BODY(product_rule) {
    out[0] = lam_mul(in[0], lam_add(lam_mul(11.0, in[3]), in[1]));
}

START_TEST(test_rules_per_input) {
    lam_fn *rules[2] = {FN(product_rule, 4, 1), NULL}, *f = lam_custom_jvps(FN(product, 2, 1), rules, 2, NULL);
    lam_tensor *g[2];
    EXPECT_NUM(apply2(f, num(3), num(5)), 15);
    lam_call(lam_grad(f, &(lam_grad_options){.argnums = LAM_AXES(0, 1)}), LAM_LIST(num(3), num(5)), g, 2);
    EXPECT_NUM(g[0], 55 + 15);
    EXPECT_NUM(g[1], 0); /* no rule: zero */
    EXPECT_NUM(apply2(lam_grad(lam_grad(f, NULL), NULL), num(3), num(5)),
               70); /* of 11 y + out: out has the rule again */
}
END_TEST

/* ---- lam_custom_vmap --------------------------------------------------------------------------------------------- */

static bool flags[2];

/* A hundred times the true product. */
static void product_vmap(lam_ctx *here, const lam_vmap_info *info, const bool mapped[], lam_tensor *const in[],
                         lam_tensor *out[], bool out_mapped[], void *env) {
    (void)here;
    (void)info;
    (void)env;
    flags[0] = mapped[0];
    flags[1] = mapped[1];
    out[0] = lam_mul(100.0, lam_mul(in[0], in[1]));
    out_mapped[0] = true;
}

BODY(sum_of_rows) {
    out[0] = lam_sum(lam_apply(env, LAM_LIST(in[0], in[1])), NULL);
}

START_TEST(test_vmap_rule_with_mixed_mapping) {
    lam_fn *f = lam_custom_vmap(FN(product, 2, 1), product_vmap, NULL);
    lam_fn *rows = lam_vmap(f, &(lam_vmap_options){.in_axes = LAM_AXES(0, LAM_UNMAPPED)});
    EXPECT_NUM(apply2(f, num(3), num(5)), 15);
    EXPECT(apply2(rows, VEC(1, 2), num(5)), LAM_DIMS(2), 500, 1000);
    ck_assert(flags[0] && !flags[1]);
    EXPECT_NUM(apply2(lam_grad(f, NULL), num(3), num(5)), 5);
    EXPECT(apply2(lam_grad(FN_ENV(sum_of_rows, 2, 1, rows), NULL), VEC(1, 2), num(5)), LAM_DIMS(2), 500,
           500); /* the rule's derivative */
    EXPECT_NUM(apply2(lam_grad(FN_ENV(sum_of_rows, 2, 1, rows), &(lam_grad_options){.argnums = LAM_AXES(1)}), VEC(1, 2),
                      num(5)),
               300);
    lam_tensor *value, *tangent;
    lam_jvp(f, LAM_LIST(num(3), num(5)), LAM_LIST(num(1), num(1)), &value, &tangent, 1, NULL);
    EXPECT_NUM(tangent, 8);
}
END_TEST

static void forgetful_vmap(lam_ctx *here, const lam_vmap_info *info, const bool mapped[], lam_tensor *const in[],
                           lam_tensor *out[], bool out_mapped[], void *env) {
    (void)here, (void)info, (void)mapped, (void)env;
    out[0] = lam_slice_axis(in[0], 0, 0, 1);
    out_mapped[0] = true;
}

START_TEST(test_vmap_rule_of_wrong_structure) {
    lam_fn *f = lam_custom_vmap(FN(product, 2, 1), forgetful_vmap, NULL);
    apply2(lam_vmap(f, NULL), VEC(1, 2), VEC(3, 4));
    EXPECT_ERROR(LAM_ERR_SHAPE, "product", "output 0", "expected the batch size 2");
}
END_TEST

/* ---- once_differentiable ----------------------------------------------------------------------------------------- */

static void once_forward(lam_fctx *fc, lam_tensor *const in[], lam_tensor *out[]) {
    out[0] = lam_square(in[0]);
    lam_fctx_save_for_backward(fc, LAM_LIST(in[0]));
}

static void once_backward(lam_fctx *fc, lam_tensor *const g[], lam_tensor *gx[]) {
    gx[0] = lam_mul(lam_mul(2.0, lam_fctx_saved(fc, 0)), g[0]);
}

BODY(square_of_pullback) {
    lam_tensor *y;
    lam_fn *pullback;
    lam_vjp(env, LAM_LIST(lam_stop_gradient(in[0])), &y, 1, &pullback, NULL);
    out[0] = lam_mul(y, in[0]);
}

START_TEST(test_once_differentiable) {
    lam_function f = {.name = "once",
                      .inputs = 1,
                      .outputs = 1,
                      .forward = once_forward,
                      .backward = once_backward,
                      .once_differentiable = true};
    lam_fn *once = lam_function_fn(ctx, &f, NULL, 1, 1);
    EXPECT_NUM(apply1(reverse_of(once), num(3)), 6);
    EXPECT(apply1(lam_vmap(reverse_of(once), NULL), VEC(3, 4)), LAM_DIMS(2), 6, 8);
    EXPECT_NUM(apply1(reverse_of(FN_ENV(square_of_pullback, 1, 1, once)), num(3)), 9); /* the rule is never reached */
    apply1(reverse_of(reverse_of(once)), num(3));
    EXPECT_ERROR(LAM_ERR_RULE, "once", "second derivative");
    apply1(forward_of(reverse_of(once)), num(3));
    EXPECT_ERROR(LAM_ERR_RULE, "once", "second derivative");
    apply1(lam_vmap(reverse_of(reverse_of(once)), NULL), VEC(3, 4));
    EXPECT_ERROR(LAM_ERR_RULE, "once", "second derivative");
}
END_TEST

/* ---- printing, requests ------------------------------------------------------------------------------------------ */

static void print_rules(const lam_function *f, char *text, size_t size) {
    FILE *file = tmpfile();
    lam_function_print_rules(file, f);
    rewind(file);
    text[fread(text, 1, size - 1, file)] = '\0';
    fclose(file);
}

START_TEST(test_print_rules) {
    char text[1024];
    lam_function f = {.name = "once", .forward = once_forward, .backward = once_backward, .once_differentiable = true};
    print_rules(&f, text, sizeof text);
    ck_assert_str_eq(text, "Function 'once', combined style\n"
                           "  value      forward\n"
                           "  jvp        backward, transposed\n"
                           "  vjp, grad  backward\n"
                           "  vmap       generated (the default of the combined style)\n"
                           "  second     refused (once_differentiable)\n");
    f = (lam_function){.vmap_by_loop = true, .generate_vmap_rule = true};
    print_rules(&f, text, sizeof text);
    ck_assert_ptr_nonnull(strstr(text, "'anonymous'"));
    ck_assert_ptr_nonnull(strstr(text, "value      missing: give it forward"));
    ck_assert_ptr_nonnull(strstr(text, "vmap       more than one"));
    lam_function_print_rules(NULL, &f);
}
END_TEST

START_TEST(test_impossible_requests) {
    lam_tensor *out;
    lam_function f = {.name = "f", .inputs = 1, .outputs = 1};
    lam_function_apply(ctx, &f, NULL, LAM_LIST(num(1)), &out, 1);
    EXPECT_ERROR(LAM_ERR_NULL, "'f'", "no forward");
    lam_function_apply(ctx, NULL, NULL, LAM_LIST(num(1)), &out, 1);
    EXPECT_ERROR(LAM_ERR_NULL, "no forward");
    f.forward = once_forward;
    lam_function_apply(ctx, &f, NULL, LAM_LIST(num(1), num(2)), &out, 1);
    EXPECT_ERROR(LAM_ERR_ARITY, "'f'", "2 inputs given, 1 expected");
    ck_assert(lam_failed(out));
    f.attrs_size = 8;
    lam_function_apply(ctx, &f, NULL, LAM_LIST(num(1)), &out, 1);
    EXPECT_ERROR(LAM_ERR_NULL, "'f'", "attrs is NULL, 8 bytes expected");
    ck_assert(lam_failed(lam_function_fn(ctx, &f, NULL, 1, 1)));
    EXPECT_STATUS(LAM_ERR_NULL);
}
END_TEST

/* ---- depth ------------------------------------------------------------------------------------------------------- */

enum { DEEP = 8193 };

static int depth, deepest;
static const lam_function nested;

/* The gradient of a Function whose backward asks for the gradient of the same Function, and so on. */
static void nested_backward(lam_fctx *fc, lam_tensor *const g[], lam_tensor *gx[]) {
    lam_ctx *own = lam_fctx_ctx(fc);
    if (depth > deepest) deepest = depth;
    gx[0] = g[0];
    if (++depth < DEEP)
        gx[0] = lam_apply(lam_grad(lam_function_fn(own, &nested, NULL, 1, 1), NULL), LAM_LIST(lam_stop_gradient(g[0])));
    depth--;
}

static const lam_function nested = {
    .name = "nested", .inputs = 1, .outputs = 1, .forward = once_forward, .backward = nested_backward};

static void *run_nested(void *env) {
    lam_ctx *own = lam_ctx_new(NULL);
    depth = deepest = 0;
    lam_apply(lam_grad(lam_function_fn(own, &nested, NULL, 1, 1), NULL), LAM_LIST(lam_scalar(own, 1)));
    snprintf(env, 256, "%s", lam_error(own));
    lam_ctx_free(own);
    return NULL;
}

/* In 256 KiB the calls end in a message; what counts is that the stack is not overrun (the guard page would end the
 * test). */
START_TEST(test_nested_backward_calls_in_a_small_stack) {
    char text[256] = "";
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    ck_assert_int_eq(pthread_attr_setstacksize(&attributes, 256 << 10), 0);
    ck_assert_int_eq(pthread_create(&thread, &attributes, run_nested, text), 0);
    pthread_join(thread, NULL);
    pthread_attr_destroy(&attributes);
    ck_assert_int_gt(deepest, 10);
    ck_assert_msg(deepest == DEEP - 1 || strstr(text, "calls within calls"), "depth %d: %s", deepest, text);
}
END_TEST

Suite *suite_custom_functions(void) {
    return SUITE_OF("custom/functions", test_vjp_rule_under_every_transform,
                    test_clipped_gradient_and_differentiated_bounds, test_nondiff_inputs_come_first,
                    test_symbolic_zeros, test_rules_that_do_not_fit, test_rule_with_host_control_flow,
                    test_jvp_rule_under_every_transform, test_rules_per_input, test_vmap_rule_with_mixed_mapping,
                    test_vmap_rule_of_wrong_structure, test_once_differentiable, test_print_rules,
                    test_impossible_requests, test_nested_backward_calls_in_a_small_stack);
}
