/* Rules for existing functions: lam_custom_vjp and its kin. Expected values by hand; rules are wrong on purpose where
 * they must be told from the code. */
#include "tests/custom/callbacks.h"

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

START_TEST(vjp_rule_under_every_transform) {
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

START_TEST(clipped_gradient_and_differentiated_bounds) {
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

START_TEST(nondiff_inputs_come_first) {
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

START_TEST(symbolic_zeros) {
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

START_TEST(rules_that_do_not_fit) {
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

START_TEST(rule_with_host_control_flow) {
    lam_fn *f = lam_custom_vjp(FN(square, 1, 1), FN(square_fwd, 1, 2), FN(branching_bwd, 2, 1), NULL);
    EXPECT_NUM(apply1(reverse_of(f), num(3)), 1);
    EXPECT_NUM(apply1(reverse_of(f), num(-3)), -1);
}
END_TEST

START_TEST(rule_that_reads_a_batch_fails_with_advice) {
    lam_fn *f = lam_custom_vjp(FN(square, 1, 1), FN(square_fwd, 1, 2), FN(branching_bwd, 2, 1), NULL);
    apply1(lam_vmap(reverse_of(f), NULL), VEC(3, -3));
    EXPECT_ERROR(LAM_ERR_BATCHED, "branching_bwd", "lam_item", "lam_where");
}
END_TEST

START_TEST(missing_rules_fail_at_once) {
    ck_assert(lam_failed(lam_custom_vjp(FN(square, 1, 1), NULL, FN(square_bwd, 2, 1), NULL)));
    EXPECT_ERROR(LAM_ERR_NULL, "custom_vjp", "square", "fwd is NULL");
    ck_assert(lam_failed(lam_custom_vjp(FN(square, 1, 1), FN(square_fwd, 1, 2), NULL, NULL)));
    EXPECT_ERROR(LAM_ERR_NULL, "custom_vjp", "square", "bwd is NULL");
    ck_assert(lam_failed(lam_custom_jvp(FN(square, 1, 1), NULL, NULL)));
    EXPECT_ERROR(LAM_ERR_NULL, "custom_jvp", "square", "rule is NULL");
}
END_TEST

/* Trees pass through: a pair of pairs, with the gradients of its leaves times 2, 3, 5 and 7. */
typedef struct pair_of_pairs {
    struct {
        lam_tensor *a, *b;
    } left, right;
} pair_of_pairs;

BODY(sum_of_products) {
    const pair_of_pairs *p = (const pair_of_pairs *)(const void *)in;
    out[0] = lam_add(lam_mul(p->left.a, p->left.b), lam_mul(p->right.a, p->right.b));
}

BODY(sum_of_products_fwd) {
    sum_of_products(here, in, out, env);
    for (int k = 0; k < 4; k++) out[1 + k] = in[k];
}

BODY(sum_of_products_bwd) {
    const pair_of_pairs *p = (const pair_of_pairs *)(const void *)in;
    pair_of_pairs *to = (pair_of_pairs *)(void *)out;
    lam_tensor *g = in[4];
    to->left.a = lam_mul(2.0, lam_mul(g, p->left.b));
    to->left.b = lam_mul(3.0, lam_mul(g, p->left.a));
    to->right.a = lam_mul(5.0, lam_mul(g, p->right.b));
    to->right.b = lam_mul(7.0, lam_mul(g, p->right.a));
}

START_TEST(trees_pass_through_rules) {
    lam_fn *f =
        lam_custom_vjp(FN(sum_of_products, 4, 1), FN(sum_of_products_fwd, 4, 5), FN(sum_of_products_bwd, 5, 4), NULL);
    lam_fn *g = lam_grad(
        f, &(lam_grad_options){.argnums = LAM_AXES(LAM_LEAVES(pair_of_pairs, left), LAM_LEAVES(pair_of_pairs, right))});
    pair_of_pairs at = {{num(1), num(2)}, {num(3), num(4)}}, got;
    lam_call(g, LAM_TREE(&at), LAM_OUT(&got));
    EXPECT_NUM(got.left.a, 4);
    EXPECT_NUM(got.left.b, 3);
    EXPECT_NUM(got.right.a, 20);
    EXPECT_NUM(got.right.b, 21);
}
END_TEST

/* A fixed point x = a cos(x) / 2 by implicit differentiation: the cotangent is the fixed point of w = g + w dF/dx,
 * found by iterating a pullback. */
BODY(half_cosine) {
    out[0] = lam_mul(0.5, lam_mul(in[0], lam_cos(in[1])));
}

BODY(fixed_point) {
    lam_tensor *x = lam_zeros_like(in[0]);
    for (int k = 0; k < 100; k++) x = apply2(FN(half_cosine, 2, 1), in[0], x);
    out[0] = x;
}

BODY(fixed_point_fwd) {
    out[0] = out[2] = apply1(env, in[0]);
    out[1] = in[0];
}

BODY(fixed_point_bwd) {
    lam_tensor *y, *w = in[2], *back[2];
    lam_fn *pullback;
    lam_vjp(FN(half_cosine, 2, 1), LAM_LIST(in[0], in[1]), &y, 1, &pullback, NULL);
    for (int k = 0; k < 100; k++) {
        lam_call(pullback, LAM_LIST(w), back, 2);
        w = lam_add(in[2], back[1]);
    }
    lam_call(pullback, LAM_LIST(w), back, 2);
    out[0] = back[0];
}

/* fwd calls the function with rules itself, so that the second derivative finds the rule again. */
static lam_fn *fixed_point_rule(void) {
    lam_fn *f = FN(fixed_point, 1, 1), *bwd = FN(fixed_point_bwd, 3, 1);
    lam_fn *once = lam_custom_vjp(f, FN_ENV(fixed_point_fwd, 1, 3, f), bwd, NULL);
    lam_fn *twice = lam_custom_vjp(f, FN_ENV(fixed_point_fwd, 1, 3, once), bwd, NULL);
    return twice;
}

/* x' = c / (2 + a s), x'' = (-s x' (2 + a s) - c (s + a c x')) / (2 + a s)^2, with c = cos x, s = sin x. */
START_TEST(fixed_point_by_implicit_differentiation_twice) {
    lam_fn *f = fixed_point_rule();
    double a = 1.5, x = lam_item(apply1(f, num(a))), c = cos(x), s = sin(x), first = c / (2 + a * s),
           second = (-s * first * (2 + a * s) - c * (s + a * c * first)) / ((2 + a * s) * (2 + a * s));
    ck_assert_double_eq_tol(x, a * c / 2, 1e-15);
    EXPECT_NEAR(apply1(reverse_of(f), num(a)), 1e-14, LAM_DIMS0, first);
    EXPECT_NEAR(apply1(forward_of(f), num(a)), 1e-14, LAM_DIMS0, first);
    EXPECT_NEAR(apply1(reverse_of(reverse_of(f)), num(a)), 1e-13, LAM_DIMS0, second);
    EXPECT_NEAR(apply1(forward_of(reverse_of(f)), num(a)), 1e-13, LAM_DIMS0, second);
    EXPECT_NEAR(apply1(lam_vmap(reverse_of(f), NULL), VEC(1.5, 1.5)), 1e-14, LAM_DIMS(2), first, first);
}
END_TEST

/* ---- lam_custom_jvp ---------------------------------------------------------------------------------------------- */

/* Seven times x t. */
BODY(square_rule) {
    out[0] = lam_square(in[0]);
    out[1] = lam_mul(lam_mul(7.0, in[0]), in[1]);
}

START_TEST(jvp_rule_under_every_transform) {
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

START_TEST(rules_per_input) {
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

BODY(integer_rule) {
    out[0] = lam_square(in[0]);
    out[1] = lam_cast(in[1], LAM_I64);
}

BODY(wrong_shape_rule) {
    out[0] = lam_square(in[0]);
    out[1] = VEC(1, 2, 3);
}

BODY(single_rule) {
    out[0] = lam_square(in[0]);
    out[1] = lam_cast(in[1], LAM_F32);
}

BODY(refusing_rule) {
    out[0] = lam_square(in[0]);
    out[1] = lam_fail(ctx, LAM_ERR_USER, "no rule for this");
}

START_TEST(jvp_rules_that_do_not_fit) {
    const struct {
        lam_body body;
        lam_status status;
        const char *where, *text;
    } rows[] = {{wrong_shape_rule, LAM_ERR_SHAPE, "jvp", "tangent of output 0: expected f64[2], got f64[3]"},
                {single_rule, LAM_ERR_DTYPE, "jvp", "tangent of output 0: expected f64[2], got f32[2]"},
                {integer_rule, LAM_ERR_DTYPE, "jvp", "tangent of output 0: expected f64[2], got i64[2]"},
                {refusing_rule, LAM_ERR_USER, "'bad_rule'", "no rule for this"}};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        lam_fn *f = lam_custom_jvp(FN(square, 1, 1), function_of("bad_rule", rows[k].body, 2, 2, NULL), NULL);
        apply1(forward_of(f), VEC(1, 2));
        EXPECT_ERROR(rows[k].status, "'square'", rows[k].where, rows[k].text);
        apply1(reverse_of(FN_ENV(sum_of, 1, 1, f)), VEC(1, 2));
        EXPECT_ERROR(rows[k].status, "'square'", rows[k].text);
    }
}
END_TEST

static bool null_tangent;

BODY(product_rule_of_zeros) {
    null_tangent = !in[3];
    out[0] = lam_mul(in[0], in[1]);
    out[1] = in[2] ? lam_mul(in[2], in[1]) : lam_zeros_like(in[0]);
}

START_TEST(symbolic_zero_tangents) {
    for (int symbolic = 0; symbolic < 2; symbolic++) {
        lam_fn *f = lam_custom_jvp(FN(product, 2, 1), FN(product_rule_of_zeros, 4, 2),
                                   &(lam_custom_options){.symbolic_zeros = symbolic});
        lam_tensor *y, *dy;
        lam_jvp(f, LAM_LIST(num(3), num(5)), LAM_LIST(num(1), NULL), &y, &dy, 1, NULL);
        EXPECT_NUM(dy, 5);
        ck_assert(null_tangent == symbolic);
    }
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

START_TEST(vmap_rule_with_mixed_mapping) {
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

/* Inside and outside of derivatives, and twice: a rule within the batch of a batch sees both axes. */
START_TEST(vmap_rule_under_derivatives_and_batches) {
    lam_fn *f = lam_custom_vmap(FN(product, 2, 1), product_vmap, NULL), *rows = lam_vmap(f, NULL);
    lam_tensor *x = VEC(1, 2), *y = VEC(3, 4), *value, *tangent;
    lam_jvp(rows, LAM_LIST(x, y), LAM_LIST(VEC(1, 1), NULL), &value, &tangent, 1, NULL);
    EXPECT(value, LAM_DIMS(2), 300, 800);
    EXPECT(tangent, LAM_DIMS(2), 300, 400);                                     /* of the rule */
    EXPECT(apply2(lam_vmap(lam_grad(f, NULL), NULL), x, y), LAM_DIMS(2), 3, 4); /* of the function, mapped */
    EXPECT(apply2(lam_jacfwd(rows, NULL), x, y), LAM_DIMS(2, 2), 300, 0, 0, 400);
    EXPECT(apply2(lam_jacrev(rows, NULL), x, y), LAM_DIMS(2, 2), 300, 0, 0, 400);
    EXPECT(apply2(lam_vmap(rows, NULL), MAT(1, 2, 1, 2), MAT(1, 2, 3, 4)), LAM_DIMS(1, 2), 300, 800);
    EXPECT_NUM(apply2(lam_grad(lam_grad(f, NULL), &(lam_grad_options){.argnums = LAM_AXES(1)}), num(3), num(5)), 1);
}
END_TEST

static void forgetful_vmap(lam_ctx *here, const lam_vmap_info *info, const bool mapped[], lam_tensor *const in[],
                           lam_tensor *out[], bool out_mapped[], void *env) {
    (void)here, (void)info, (void)mapped, (void)env;
    out[0] = lam_slice_axis(in[0], 0, 0, 1);
    out_mapped[0] = true;
}

START_TEST(vmap_rule_of_wrong_structure) {
    lam_fn *f = lam_custom_vmap(FN(product, 2, 1), forgetful_vmap, NULL);
    apply2(lam_vmap(f, NULL), VEC(1, 2), VEC(3, 4));
    EXPECT_ERROR(LAM_ERR_SHAPE, "product", "output 0", "expected the batch size 2");
}
END_TEST

Suite *suite_custom_functions(void) {
    return SUITE_OF("custom/functions", vjp_rule_under_every_transform, clipped_gradient_and_differentiated_bounds,
                    nondiff_inputs_come_first, symbolic_zeros, rules_that_do_not_fit, rule_with_host_control_flow,
                    rule_that_reads_a_batch_fails_with_advice, missing_rules_fail_at_once, trees_pass_through_rules,
                    fixed_point_by_implicit_differentiation_twice, jvp_rule_under_every_transform, rules_per_input,
                    jvp_rules_that_do_not_fit, symbolic_zero_tangents, vmap_rule_with_mixed_mapping,
                    vmap_rule_under_derivatives_and_batches, vmap_rule_of_wrong_structure);
}
