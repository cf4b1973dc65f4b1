/* Levels: which of them a call belongs to, what it costs, and which boxes may be used where. */
#include "tests/dispatch/probe.h"
#include "tests/support.h"

/* ---- perturbation confusion -------------------------------------------------------------------------------------- */

BODY(x_plus_y) {
    out[0] = lam_add(env, in[0]);
}

BODY(x_times_inner_gradient) {
    out[0] = lam_mul(in[0], apply1(lam_grad(FN_ENV(x_plus_y, 1, 1, in[0]), NULL), num(1)));
}

BODY(x_times_inner_tangent) {
    lam_tensor *y, *dy;
    lam_jvp(FN_ENV(x_plus_y, 1, 1, in[0]), LAM_LIST(num(1)), LAM_LIST(num(1)), &y, &dy, 1, NULL);
    out[0] = lam_mul(in[0], dy);
}

static double forward(lam_body body, double x) {
    lam_tensor *y, *dy;
    lam_jvp(FN(body, 1, 1), LAM_LIST(num(x)), LAM_LIST(num(1)), &y, &dy, 1, NULL);
    return lam_item(dy);
}

/* d/dx (x * d/dy (x + y)) is 1 everywhere: 2 if the two perturbations are confused. All four mode pairs. */
START_TEST(perturbations_of_nested_derivatives_are_not_confused) {
    EXPECT_NUM(apply1(lam_grad(FN(x_times_inner_gradient, 1, 1), NULL), num(1)), 1);
    EXPECT_NUM(apply1(lam_grad(FN(x_times_inner_tangent, 1, 1), NULL), num(1)), 1);
    ck_assert(forward(x_times_inner_gradient, 1) == 1);
    ck_assert(forward(x_times_inner_tangent, 1) == 1);
}
END_TEST

/* ---- cost -------------------------------------------------------------------------------------------------------- */

BODY(probes) {
    out[0] = probe(lam_sin(probe(in[0])));
}

static lam_fn *nested_grad(lam_fn *f, int depth) {
    for (int i = 0; i < depth; i++) f = lam_grad(f, NULL);
    return f;
}

BODY(probes_a_constant) {
    probe(env);
    out[0] = in[0];
}

/* A constant costs one kernel call and no rule however many levels are open. */
START_TEST(a_constant_under_many_levels_is_evaluated_once) {
    probed = (probe_counts){0};
    lam_fn *g = nested_grad(FN_ENV(probes_a_constant, 1, 1, num(2)), 6);
    EXPECT_NUM(apply1(g, num(1)), 0);
    ck_assert_int_eq(probed.eval, 1);
    ck_assert_int_eq(probed.jvp + probed.vjp + probed.batch, 0);
}
END_TEST

/* sin between two probes, nested n times: the primal runs two kernels, and each gradient walks back through two. An
 * exponential cost would double with each level. Its derivatives are those of sin. */
START_TEST(ten_nested_gradients_cost_linear_work) {
    double x = 0.7, want[4] = {sin(x), cos(x), -sin(x), -cos(x)};
    for (int depth = 1; depth <= 10; depth++) {
        probed = (probe_counts){0};
        EXPECT_NEAR(apply1(nested_grad(FN(probes, 1, 1), depth), num(x)), 1e-14, LAM_DIMS0, want[depth % 4]);
        ck_assert_int_eq(probed.eval, 2 * (depth + 1));
        ck_assert_int_eq(probed.vjp, 2 * depth);
    }
}
END_TEST

/* ---- boxes in the wrong place ------------------------------------------------------------------------------------ */

static lam_tensor *leaked;

BODY(leaks_its_input) {
    leaked = lam_hold(lam_sin(in[0]));
    out[0] = in[0];
}

START_TEST(a_box_that_outlives_its_level_is_named_when_used) {
    lam_fn *f = FN(leaks_its_input, 1, 1);
    apply1(lam_grad(f, NULL), num(1));
    ck_assert(lam_failed(lam_add(num(1), leaked)));
    EXPECT_ERROR(LAM_ERR_ESCAPED, "add", "operand 1 escaped", "vjp", "remedy");
    ck_assert(isnan(lam_item(leaked)));
    EXPECT_ERROR(LAM_ERR_ESCAPED, "lam_item", "escaped");
    lam_release(leaked);
    apply1(lam_vmap(f, NULL), VEC(1, 2));
    ck_assert(lam_failed(lam_neg(leaked)));
    EXPECT_ERROR(LAM_ERR_ESCAPED, "neg", "vmap");
    lam_release(leaked);
}
END_TEST

/* Also by what needs no elements of it, or gives it back as it is. */
START_TEST(a_box_that_outlives_its_level_is_refused_by_all_that_take_tensors) {
    apply1(lam_grad(FN(leaks_its_input, 1, 1), NULL), num(1));
    lam_tensor *(*const unary[])(lam_tensor *) = {lam_zeros_like, lam_ones_like, lam_empty_like, lam_alias};
    for (size_t i = 0; i < sizeof unary / sizeof unary[0]; i++) {
        ck_assert(lam_failed(unary[i](leaked)));
        EXPECT_ERROR(LAM_ERR_ESCAPED, "operand 0 escaped", "vjp");
    }
    ck_assert(lam_failed(lam_full_like(leaked, 2)));
    EXPECT_ERROR(LAM_ERR_ESCAPED, "full_like");
    ck_assert(lam_failed(lam_cast(leaked, LAM_F64)));
    EXPECT_ERROR(LAM_ERR_ESCAPED, "cast");
    ck_assert(lam_failed(lam_add_all(LAM_LIST(leaked))));
    EXPECT_ERROR(LAM_ERR_ESCAPED, "add_all");
    lam_tensor *y = num(1);
    ck_assert(lam_failed(lam_assign_(y, leaked)) && lam_failed(y));
    EXPECT_ERROR(LAM_ERR_ESCAPED, "lam_assign_", "operand 1 escaped");
    lam_release(leaked);
}
END_TEST

BODY(returns_what_leaked) {
    out[0] = lam_add(in[0], leaked);
}

START_TEST(a_box_of_an_ended_level_is_not_taken_for_one_of_a_later_level) {
    apply1(lam_grad(FN(leaks_its_input, 1, 1), NULL), num(1));
    ck_assert(lam_failed(apply1(lam_grad(FN(returns_what_leaked, 1, 1), NULL), num(1))));
    EXPECT_ERROR(LAM_ERR_ESCAPED, "returns_what_leaked", "vjp -> eval");
    lam_release(leaked);
}
END_TEST

/* A batch rule that uses a box of the level it serves: open, but hidden while the rule runs. */
static lam_tensor *of_this_level;

static lam_status shape_spy(const lam_call_site *call, lam_shape out[]) {
    out[0].dtype = (lam_dtype)call->in[0]->dtype;
    out[0].rank = call->in[0]->rank;
    for (int i = 0; i < out[0].rank; i++) out[0].dims[i] = call->in[0]->dims[i];
    return LAM_OK;
}

static lam_status eval_spy(const lam_call_site *call, lam_value *const out[]) {
    memcpy(out[0]->data, call->in[0]->data, (size_t)call->in[0]->count * sizeof(double));
    return LAM_OK;
}

static void batch_spy(const lam_rule *rule, lam_tensor *out[]) {
    out[0] = lam_add(rule->in[0], of_this_level);
}

static const lam_primitive row_spy = {
    .name = "spy", .inputs = 1, .shape = shape_spy, .eval = eval_spy, .batch = batch_spy};

BODY(spies) {
    of_this_level = in[0];
    lam_bind(ctx, &row_spy, NULL, 0, LAM_LIST(in[0]), out, 1);
}

START_TEST(a_box_of_an_open_but_hidden_level_is_captured) {
    ck_assert(lam_failed(apply1(lam_vmap(FN(spies, 1, 1), NULL), VEC(1, 2))));
    EXPECT_ERROR(LAM_ERR_CAPTURED, "add", "operand 1 is captured", "vmap", "open but hidden", "remedy");
}
END_TEST

BODY(multiplies_by_env) {
    out[0] = lam_mul(in[0], env);
}

BODY(outer_of_capture) {
    lam_fn *inner = lam_grad(FN_ENV(multiplies_by_env, 1, 1, in[0]), NULL);
    out[0] = lam_mul(in[0], apply1(inner, num(5)));
}

/* The inner gradient by y of y x is x, a constant there; outside x x has derivative 2 x. */
START_TEST(values_of_enclosing_levels_are_constants_inside_and_flow_outside) {
    EXPECT_NUM(apply1(lam_grad(FN(outer_of_capture, 1, 1), NULL), num(3)), 6);
    EXPECT(apply1(lam_vmap(FN(outer_of_capture, 1, 1), NULL), VEC(2, 3)), LAM_DIMS(2), 4, 9);
}
END_TEST

/* ---- messages ---------------------------------------------------------------------------------------------------- */

static char line[256];

BODY(prints_levels) {
    FILE *file = tmpfile();
    lam_print_levels(file, ctx);
    rewind(file);
    ck_assert_ptr_nonnull(fgets(line, sizeof line, file));
    fclose(file);
    out[0] = in[0];
}

START_TEST(the_chain_of_levels_can_be_printed) {
    lam_fn *f = FN(prints_levels, 1, 1);
    apply1(f, num(1));
    ck_assert_str_eq(line, "eval\n");
    apply1(lam_vmap(lam_grad(f, NULL), &(lam_vmap_options){.axis_name = "rows"}), VEC(1, 2, 3));
    ck_assert_str_eq(line, "vjp -> vmap(size 3, axis 'rows') -> eval\n");
    lam_print_levels(NULL, ctx);
}
END_TEST

Suite *suite_dispatch_level(void) {
    return SUITE_OF(
        "dispatch/level", perturbations_of_nested_derivatives_are_not_confused,
        a_constant_under_many_levels_is_evaluated_once, ten_nested_gradients_cost_linear_work,
        a_box_that_outlives_its_level_is_named_when_used,
        a_box_that_outlives_its_level_is_refused_by_all_that_take_tensors,
        a_box_of_an_ended_level_is_not_taken_for_one_of_a_later_level, a_box_of_an_open_but_hidden_level_is_captured,
        values_of_enclosing_levels_are_constants_inside_and_flow_outside, the_chain_of_levels_can_be_printed);
}
