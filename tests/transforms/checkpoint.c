/* Checkpointed functions: same values and derivatives as plain ones, and what is computed again. Derivatives are
 * compared with those of the plain function; counts follow from what the rules read. */
#include "tests/dispatch/probe.h"
#include "tests/support.h"

#include <math.h>

/* sin of x, counted, under a name; then its square: the derivative reads y. */
BODY(counted_square) {
    lam_tensor *y = lam_checkpoint_name(probe(lam_sin(in[0])), "y");
    out[0] = lam_sum(lam_square(y), NULL);
}

/* sin(W x): by x the derivative reads the product and W, not x. */
BODY(counted_product) {
    lam_tensor *w = MAT(2, 2, 1, 2, 3, 4);
    out[0] = lam_sum(lam_sin(lam_matmul(w, probe(in[0]))), NULL);
}

BODY(nasty) {
    lam_tensor *x = in[0];
    for (int i = 0; i < 3; i++) x = lam_sin(lam_mul(x, in[1]));
    out[0] = lam_sum(lam_exp(x), NULL);
}

/* How often the probe runs beyond its one forward run and the one in its vjp. */
static int again(lam_fn *f, const lam_checkpoint_options *options, lam_tensor *x) {
    lam_fn *kept = lam_checkpoint(f, options);
    probed.eval = 0;
    EXPECT_SAME(apply1(lam_grad(kept, NULL), x), apply1(lam_grad(f, NULL), x), 0);
    return probed.eval - 2 - 2;
}

START_TEST(what_is_not_kept_is_computed_once_more) {
    ck_assert_int_eq(again(FN(counted_square, 1, 1), NULL, VEC(1, 2)), 1);
    ck_assert_int_eq(again(FN(counted_product, 1, 1), NULL, VEC(1, 2)), 1);
}
END_TEST

START_TEST(a_named_value_is_kept) {
    const char *names[] = {"z", "y"};
    lam_checkpoint_options options = {.policy = LAM_CHECKPOINT_NAMED, .names = names, .name_count = 2};
    ck_assert_int_eq(again(FN(counted_square, 1, 1), &options, VEC(1, 2)), 0);
    options.name_count = 1;
    ck_assert_int_eq(again(FN(counted_square, 1, 1), &options, VEC(1, 2)), 1);
}
END_TEST

START_TEST(contractions_are_kept) {
    lam_checkpoint_options options = {.policy = LAM_CHECKPOINT_CONTRACTIONS};
    ck_assert_int_eq(again(FN(counted_product, 1, 1), &options, VEC(1, 2)), 0);
    ck_assert_int_eq(again(FN(counted_square, 1, 1), &options, VEC(1, 2)), 1);
}
END_TEST

enum { ELEMENTS = 5000 };

/* As many sines in a row, in halves that are checkpointed, and halves of these. */
BODY(halves) {
    const int n = *(const int *)env;
    static const int half_of[] = {0, 0, 1, 0, 2, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 8};
    if (n == 1) {
        out[0] = probe(lam_sin(in[0]));
        return;
    }
    lam_fn *half = FN_ENV(halves, 1, 1, (void *)(uintptr_t)&half_of[n]);
    if (n > 2) half = lam_checkpoint(half, NULL);
    out[0] = lam_apply(half, LAM_LIST(lam_apply(half, LAM_LIST(in[0]))));
}

BODY(sum_of_halves) {
    out[0] = lam_vecdot(lam_apply(FN_ENV(halves, 1, 1, env), LAM_LIST(in[0])),
                        lam_linspace(ctx, LAM_F64, 0, 1, ELEMENTS), 0);
}

/* Of 4, 8 and 16 sines 2, 8 and 24 are computed again where they are worth a look: what nobody reads of a checkpointed
 * function within another is not computed for that. Each probe is counted once there and once in its vjp. */
START_TEST(counts_of_nested_halves) {
    static const int counts[][2] = {{4, 2}, {8, 8}, {16, 24}};
    for (int k = 0; k < 3; k++) {
        probed.eval = 0;
        apply1(lam_grad(FN_ENV(sum_of_halves, 1, 1, (void *)(uintptr_t)&counts[k][0]), NULL),
               lam_linspace(ctx, LAM_F64, 0, 1, ELEMENTS));
        EXPECT_OK();
        ck_assert_int_eq(probed.eval - 2 * counts[k][0], counts[k][1]);
    }
}
END_TEST

static void halve(const void *env) {
    static const int four = 4;
    (void)env;
    apply1(lam_grad(FN_ENV(sum_of_halves, 1, 1, (void *)(uintptr_t)&four), NULL),
           lam_linspace(ctx, LAM_F64, 0, 1, ELEMENTS));
}

START_TEST(memory_refused_to_nested_halves) {
    memory_refused_in(halve, NULL);
}
END_TEST

/* Within a checkpointed function: one that draws, or looks at an element, and one that is drawn behind. */
BODY(drawn) {
    lam_tensor *noise = lam_rand(ctx, LAM_F64, LAM_DIMS(ELEMENTS));
    out[0] = lam_sin(lam_mul(in[0], noise));
}

BODY(looked_at) {
    const double first = lam_item(lam_slice_axis(in[0], 0, 0, 1));
    out[0] = lam_sin(lam_mul(in[0], first > 0.1 ? 2.0 : 3.0));
}

BODY(of_both) {
    lam_body *inner = env;
    lam_tensor *y = lam_apply(lam_checkpoint(function_of("inner", *inner, 1, 1, NULL), NULL), LAM_LIST(in[0]));
    drawn(ctx, &y, out, NULL);
}

BODY(sum_of_both) {
    lam_fn *f = FN_ENV(of_both, 1, 1, env);
    out[0] = lam_sum(lam_apply(lam_checkpoint(f, NULL), LAM_LIST(in[0])), NULL);
}

BODY(sum_of_both_kept) {
    lam_body *inner = env;
    lam_tensor *y = lam_apply(function_of("inner", *inner, 1, 1, NULL), LAM_LIST(in[0]));
    drawn(ctx, &y, out, NULL);
    out[0] = lam_sum(out[0], NULL);
}

START_TEST(what_draws_or_looks_is_not_put_off) {
    lam_body bodies[] = {drawn, looked_at};
    lam_tensor *x = lam_linspace(ctx, LAM_F64, 0.2, 1, ELEMENTS);
    for (int k = 0; k < 2; k++) {
        const lam_random_state start = lam_ctx_random_state(ctx);
        lam_tensor *want = apply1(lam_grad(FN_ENV(sum_of_both_kept, 1, 1, &bodies[k]), NULL), x);
        lam_ctx_set_random_state(ctx, start);
        EXPECT_SAME(apply1(lam_grad(FN_ENV(sum_of_both, 1, 1, &bodies[k]), NULL), x), want, 0);
        EXPECT_OK();
    }
}
END_TEST

BODY(many_products) {
    lam_tensor *m = MAT(2, 2, 0.5, -0.3, 0.2, 0.7), *x = in[0];
    for (int i = 0; i < 40; i++) x = lam_matmul(m, lam_sin(x));
    out[0] = lam_sum(x, NULL);
}

START_TEST(more_are_kept_than_the_list_has_room_for_at_first) {
    lam_fn *f = FN(many_products, 1, 1);
    lam_fn *kept = lam_checkpoint(f, &(lam_checkpoint_options){.policy = LAM_CHECKPOINT_CONTRACTIONS});
    EXPECT_SAME(apply1(lam_grad(kept, NULL), VEC(1, 2)), apply1(lam_grad(f, NULL), VEC(1, 2)), 0);
}
END_TEST

START_TEST(nothing_is_computed_again_without_a_derivative) {
    probed.eval = 0;
    apply1(lam_checkpoint(FN(counted_square, 1, 1), NULL), VEC(1, 2));
    ck_assert_int_eq(probed.eval, 1);
}
END_TEST

/* The second input as a capture. */
BODY(nasty_of_first) {
    lam_tensor *scale = lam_mul(in[0], 0.5);
    lam_fn *f = lam_fn_new(
        ctx, &(lam_fn_options){.name = "inner", .body = nasty, .inputs = 1, .outputs = 1, .captures = LAM_LIST(scale)});
    out[0] = lam_apply(env ? lam_checkpoint(f, env) : f, LAM_LIST(in[0]));
}

static const lam_checkpoint_options policies[] = {{.policy = LAM_CHECKPOINT_NOTHING},
                                                  {.policy = LAM_CHECKPOINT_CONTRACTIONS}};

START_TEST(every_nesting_agrees_with_the_plain_function) {
    lam_fn *f = FN(nasty_of_first, 1, 1), *g = FN_ENV(nasty_of_first, 1, 1, (void *)(uintptr_t)&policies[_i]);
    lam_tensor *x = VEC(0.3, 0.7, 1.1), *m = MAT(2, 3, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6);
    EXPECT_SAME(apply1(g, x), apply1(f, x), 0);
    EXPECT_SAME(apply1(lam_grad(g, NULL), x), apply1(lam_grad(f, NULL), x), 1e-14);
    EXPECT_SAME(apply1(lam_jacfwd(g, NULL), x), apply1(lam_grad(f, NULL), x), 1e-14);
    EXPECT_SAME(apply1(lam_jacobian(g, NULL), x), apply1(lam_grad(f, NULL), x), 1e-14);
    EXPECT_SAME(apply1(lam_hessian(g, NULL), x), apply1(lam_hessian(f, NULL), x), 1e-13);
    EXPECT_SAME(apply1(lam_jacrev(lam_grad(g, NULL), NULL), x), apply1(lam_hessian(f, NULL), x), 1e-13);
    EXPECT_SAME(apply1(lam_jacrev(lam_jacrev(lam_grad(g, NULL), NULL), NULL), x),
                apply1(lam_jacfwd(lam_jacfwd(lam_grad(f, NULL), NULL), NULL), x), 1e-12);
    EXPECT_SAME(apply1(lam_vmap(lam_grad(g, NULL), NULL), m), apply1(lam_vmap(lam_grad(f, NULL), NULL), m), 1e-14);
    EXPECT_SAME(apply1(lam_grad(lam_checkpoint(g, NULL), NULL), x), apply1(lam_grad(f, NULL), x), 1e-14);
}
END_TEST

BODY(long_chain) {
    lam_tensor *x = in[0];
    for (int i = 0; i < 200000; i++) {
        lam_tensor *y = lam_sin(x);
        if (x != in[0]) lam_drop(x);
        x = y;
    }
    out[0] = x;
}

/* ---- policies in policies ---------------------------------------------------------------------------------------- */

/* What one of three nested functions keeps; beyond the last policy it is not checkpointed. */
static const char *const y_alone[] = {"y"};
static const lam_checkpoint_options kept[] = {{.policy = LAM_CHECKPOINT_NOTHING},
                                              {.policy = LAM_CHECKPOINT_NAMED, .names = y_alone, .name_count = 1},
                                              {.policy = LAM_CHECKPOINT_CONTRACTIONS}};
enum { POLICIES = 4, THREE_DEEP = POLICIES * POLICIES * POLICIES };

static lam_fn *kept_by(int policy, lam_fn *f) {
    return policy < POLICIES - 1 ? lam_checkpoint(f, &kept[policy]) : f;
}

static lam_tensor *named_product(double a, lam_tensor *x) {
    return lam_checkpoint_name(lam_matmul(MAT(1, 1, a), x), "y");
}

BODY(innermost) {
    out[0] = named_product(3, lam_sin(in[0]));
}

BODY(middle) {
    out[0] = named_product(2, lam_square(apply1(kept_by(*(const int *)env % POLICIES, FN(innermost, 1, 1)), in[0])));
}

/* 5 sin(u) of u = 18 sin(x)^2: u' = 18 sin(2x), u'' = 36 cos(2x). */
BODY(outermost) {
    int inner = *(const int *)env / POLICIES;
    lam_tensor *u = apply1(kept_by(inner % POLICIES, FN_ENV(middle, 1, 1, env)), in[0]);
    out[0] = lam_sum(named_product(5, lam_sin(u)), NULL);
}

START_TEST(each_policy_is_about_its_own_body) {
    const double x = 0.2, u = 18 * sin(x) * sin(x), du = 18 * sin(2 * x), slope = 5 * cos(u) * du,
                 bend = 5 * (cos(u) * 36 * cos(2 * x) - sin(u) * du * du);
    lam_fn *f = kept_by(_i / (POLICIES * POLICIES), FN_ENV(outermost, 1, 1, (void *)(uintptr_t)&_i));
    EXPECT_NEAR(apply1(lam_grad(f, NULL), VEC(x)), 1e-13, LAM_DIMS(1), slope);
    EXPECT_NEAR(apply1(lam_jit(lam_grad(f, NULL), NULL), VEC(x)), 1e-13, LAM_DIMS(1), slope);
    EXPECT_NEAR(apply1(lam_vmap(lam_grad(f, NULL), NULL), MAT(2, 1, x, -x)), 1e-13, LAM_DIMS(2, 1), slope, -slope);
    EXPECT_NEAR(apply1(lam_hessian(f, NULL), VEC(x)), 1e-12, LAM_DIMS(1, 1), bend);
    EXPECT_NEAR(apply1(lam_jacrev(lam_grad(f, NULL), NULL), VEC(x)), 1e-12, LAM_DIMS(1, 1), bend);
    EXPECT_NEAR(apply1(lam_jacrev(lam_jacfwd(f, NULL), NULL), VEC(x)), 1e-12, LAM_DIMS(1, 1), bend);
}
END_TEST

START_TEST(a_long_chain_is_put_off_without_recursion) {
    lam_fn *f = FN(long_chain, 1, 1);
    EXPECT_SAME(apply1(lam_grad(lam_checkpoint(f, NULL), NULL), num(0.5)), apply1(lam_grad(f, NULL), num(0.5)), 1e-12);
}
END_TEST

BODY(reads_an_element) {
    lam_tensor *y = lam_mul(in[0], 3);
    out[0] = lam_item(y) > 0 ? lam_square(y) : y;
}

START_TEST(a_body_may_branch_on_what_is_put_off) {
    EXPECT_NUM(apply1(lam_grad(lam_checkpoint(FN(reads_an_element, 1, 1), NULL), NULL), num(2)), 36);
    EXPECT_NUM(apply1(lam_grad(lam_checkpoint(FN(reads_an_element, 1, 1), NULL), NULL), num(-2)), 3);
}
END_TEST

/* x, then the captured c -> sum c x^3 */
BODY(cubes) {
    out[0] = lam_sum(lam_mul(in[1], lam_integer_pow(in[0], 3)), NULL);
}

/* The captures of a function that is transformed first: the sum of squares of 3 c x^2, twice put off. */
BODY(slopes_put_off) {
    lam_fn *f = lam_fn_new(
        ctx, &(lam_fn_options){.name = "cubes", .body = cubes, .inputs = 1, .outputs = 1, .captures = LAM_LIST(in[1])});
    lam_fn *slope = lam_checkpoint(lam_checkpoint(lam_grad(f, NULL), NULL), NULL);
    out[0] = lam_sum(lam_square(apply1(slope, in[0])), NULL);
}

START_TEST(captures_below_a_transform_are_differentiated) {
    lam_fn *f = FN(slopes_put_off, 2, 1), *g = lam_grad(f, &(lam_grad_options){.argnums = LAM_AXES(0, 1)});
    lam_tensor *x = VEC(1, 2), *c = num(0.5), *out[2];
    EXPECT_NUM(apply2(f, x, c), 9 * 0.25 * (1 + 16));
    lam_call(g, LAM_LIST(x, c), out, 2);
    EXPECT(out[0], LAM_DIMS(2), 36 * 0.25, 36 * 0.25 * 8);
    EXPECT_NUM(out[1], 18 * 0.5 * (1 + 16));
    lam_call(lam_vmap(g, NULL), LAM_LIST(MAT(2, 1, 1, 2), VEC(0.5, 1)), out, 2);
    EXPECT(out[0], LAM_DIMS(2, 1), 9, 36 * 8);
    EXPECT(out[1], LAM_DIMS(2), 9, 18 * 16);
    EXPECT_NUM(apply2(lam_grad(lam_grad(f, &(lam_grad_options){.argnums = LAM_AXES(1)}),
                               &(lam_grad_options){.argnums = LAM_AXES(1)}),
                      x, c),
               18 * 17);
}
END_TEST

BODY(captures_secretly) {
    out[0] = lam_mul(in[0], *(lam_tensor **)env);
}

BODY(hides_a_capture) {
    lam_tensor *y = lam_square(in[0]);
    out[0] = lam_apply(lam_checkpoint(FN_ENV(captures_secretly, 1, 1, &y), NULL), LAM_LIST(in[0]));
}

START_TEST(an_undeclared_capture_is_named) {
    apply1(lam_grad(FN(hides_a_capture, 1, 1), NULL), num(2));
    EXPECT_ERROR(LAM_ERR_CAPTURED, "captures_secretly", "captures");
}
END_TEST

BODY(noise) {
    out[0] = lam_mul(in[0], lam_rand(ctx, LAM_F64, LAM_DIMS(2)));
}

BODY(sum_of_noise) {
    out[0] = lam_sum(apply1(lam_checkpoint(FN(noise, 1, 1), NULL), in[0]), NULL);
}

/* One x for each of two rows, three draws along the other axis: the slope is the draw itself, and no operand of the way
 * back belongs to the batch that has a say in it. */
START_TEST(what_is_drawn_again_is_asked_of_every_batch) {
    const lam_vmap_options across = {.in_axes = LAM_AXES(LAM_UNMAPPED),
                                     .axis_size = 3,
                                     .randomness = LAM_RANDOMNESS_DIFFERENT},
                           rows = {.randomness = LAM_RANDOMNESS_SAME};
    lam_fn *slopes = lam_vmap(lam_vmap(lam_grad(FN(sum_of_noise, 1, 1), NULL), &across), &rows);
    lam_ctx_seed(ctx, 7);
    lam_tensor *drawn = lam_rand(ctx, LAM_F64, LAM_DIMS(3, 2));
    lam_ctx_seed(ctx, 7);
    EXPECT_SAME(apply1(slopes, MAT(2, 2, 1, 2, 3, 4)), lam_stack(LAM_LIST(drawn, drawn), 0), 0);
    ck_assert_uint_eq(lam_ctx_random_state(ctx).draws, 1);
}
END_TEST

/* env: how often it has been called. */
BODY(fickle) {
    out[0] = lam_sin(in[0]);
    if ((*(int *)env)++) out[0] = lam_slice_axis(out[0], 0, 0, 1);
}

BODY(sum_of_fickle) {
    out[0] = lam_sum(lam_apply(env, LAM_LIST(in[0])), NULL);
}

/* The slice's derivative would be as wrong as the slice: a function that is run again has to do the same. */
START_TEST(what_gives_other_types_again_is_refused) {
    int calls = 0;
    lam_fn *f = lam_checkpoint(FN_ENV(fickle, 1, 1, &calls), NULL), *sum = FN_ENV(sum_of_fickle, 1, 1, f), *linear;
    lam_tensor *x = VEC(1, 2, 3), *y;
    lam_apply(lam_grad(sum, NULL), LAM_LIST(x));
    EXPECT_ERROR(LAM_ERR_SHAPE, "fickle", "run again", "output 0 is f64[1], and was f64[3]");
    calls = 0;
    lam_apply(lam_vmap(lam_grad(sum, NULL), NULL), LAM_LIST(lam_stack(LAM_LIST(x, x), 0)));
    EXPECT_ERROR(LAM_ERR_SHAPE, "fickle", "output 0 is f64[1], and was f64[3]", "vmap(size 2)");
    calls = 0;
    lam_jvp(sum, LAM_LIST(x), LAM_LIST(x), &y, &y, 1, NULL);
    EXPECT_ERROR(LAM_ERR_SHAPE, "fickle", "output 0 is f64[1], and was f64[3]");
    calls = 0;
    ck_assert_int_eq(lam_linearize(f, LAM_LIST(x), &y, 1, &linear, NULL), LAM_ERR_SHAPE);
    EXPECT_ERROR(LAM_ERR_SHAPE, "fickle", "f64[1]", "f64[3]");
}
END_TEST

START_TEST(options_that_do_not_go_together) {
    lam_fn *f = FN(counted_square, 1, 1);
    const char *names[] = {"y"};
    ck_assert(lam_failed(lam_checkpoint(f, &(lam_checkpoint_options){.policy = LAM_CHECKPOINT_NAMED})));
    EXPECT_ERROR(LAM_ERR_OPTION, "checkpoint", "0 names");
    ck_assert(lam_failed(lam_checkpoint(f, &(lam_checkpoint_options){.names = names, .name_count = 1})));
    EXPECT_ERROR(LAM_ERR_OPTION, "1 names");
    ck_assert(lam_failed(lam_checkpoint(f, &(lam_checkpoint_options){.policy = (lam_checkpoint_policy)7})));
    EXPECT_ERROR(LAM_ERR_OPTION, "no policy 7");
    ck_assert(lam_failed(lam_checkpoint_name(num(1), "")));
    EXPECT_STATUS(LAM_ERR_VALUE);
}
END_TEST

Suite *suite_transforms_checkpoint(void) {
    Suite *suite = SUITE_OF("transforms/checkpoint", what_is_not_kept_is_computed_once_more, a_named_value_is_kept,
                            contractions_are_kept, counts_of_nested_halves, memory_refused_to_nested_halves,
                            what_draws_or_looks_is_not_put_off, more_are_kept_than_the_list_has_room_for_at_first,
                            nothing_is_computed_again_without_a_derivative, a_long_chain_is_put_off_without_recursion,
                            a_body_may_branch_on_what_is_put_off, captures_below_a_transform_are_differentiated,
                            an_undeclared_capture_is_named, what_is_drawn_again_is_asked_of_every_batch,
                            what_gives_other_types_again_is_refused, options_that_do_not_go_together);
    suite_loop(suite, every_nesting_agrees_with_the_plain_function, 2);
    suite_loop(suite, each_policy_is_about_its_own_body, THREE_DEEP);
    return suite;
}
