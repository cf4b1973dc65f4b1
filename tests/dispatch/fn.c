/* Functions: arity, names, captures, environments, and what a call promises about handles and failures. */
#include "tests/support.h"

BODY(swap) {
    out[0] = in[1];
    out[1] = in[0];
}

START_TEST(a_call_gives_fresh_handles) {
    lam_tensor *x = num(1), *y = num(2), *out[2];
    ck_assert_int_eq(lam_call(FN(swap, 2, 2), LAM_LIST(x, y), out, 2), LAM_OK);
    ck_assert_ptr_ne(out[0], y);
    ck_assert_ptr_ne(out[1], x);
    lam_drop(x);
    lam_drop(y);
    EXPECT_NUM(out[0], 2);
    EXPECT_NUM(out[1], 1);
}
END_TEST

BODY(same_input_twice) {
    ck_assert_ptr_ne(in[0], in[1]);
    lam_add_(in[0], num(10));
    out[0] = in[1];
}

START_TEST(one_tensor_given_twice_does_not_alias_inside) {
    lam_tensor *x = num(1);
    EXPECT_NUM(lam_apply(FN(same_input_twice, 2, 1), LAM_LIST(x, x)), 1);
}
END_TEST

BODY(same_output_twice) {
    out[0] = out[1] = lam_mul(2.0, in[0]);
}

START_TEST(one_value_returned_twice_gives_two_handles) {
    lam_tensor *out[2];
    lam_call(FN(same_output_twice, 1, 2), LAM_LIST(num(3)), out, 2);
    ck_assert_ptr_ne(out[0], out[1]);
    lam_add_(out[0], num(1));
    EXPECT_NUM(out[1], 6);
}
END_TEST

BODY(leaves_output_1_unset) {
    out[0] = in[0];
}

START_TEST(an_output_that_was_not_set_is_named) {
    lam_tensor *out[2] = {NULL, NULL};
    ck_assert_int_eq(lam_call(FN(leaves_output_1_unset, 1, 2), LAM_LIST(num(3)), out, 2), LAM_ERR_ARITY);
    ck_assert(lam_failed(out[1]));
    EXPECT_ERROR(LAM_ERR_ARITY, "output 1", "leaves_output_1_unset", "not set", "remedy");
}
END_TEST

START_TEST(a_wrong_number_of_inputs_or_outputs_is_refused) {
    lam_tensor *out[2] = {NULL, NULL};
    lam_fn *f = FN(swap, 2, 2);
    ck_assert_int_eq(lam_call(f, LAM_LIST(num(1)), out, 2), LAM_ERR_ARITY);
    ck_assert(lam_failed(out[0]) && lam_failed(out[1]));
    EXPECT_ERROR(LAM_ERR_ARITY, "swap", "2 inputs", "2 outputs", "1 and 2");
    ck_assert(lam_failed(lam_apply(f, LAM_LIST(num(1), num(2)))));
    EXPECT_ERROR(LAM_ERR_ARITY, "swap", "2 and 1");
    ck_assert_int_eq(lam_call(f, LAM_LIST(num(1), num(2)), NULL, 2), LAM_ERR_NULL);
    EXPECT_STATUS(LAM_ERR_NULL);
    lam_call(f, LAM_LIST(num(1), NULL), out, 2);
    EXPECT_ERROR(LAM_ERR_NULL, "input 1", "swap");
}
END_TEST

static int runs;

BODY(counts_runs) {
    runs++;
    out[0] = in[0];
}

/* The operands tell where to record it. */
START_TEST(a_call_of_no_function_is_recorded) {
    lam_tensor *x = num(1), *out = NULL, *tangent = NULL;
    lam_fn *made = NULL, *const none[] = {NULL, lam_grad(NULL, NULL)};
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(lam_call(none[i], LAM_LIST(x), &out, 1), LAM_ERR_NULL);
        ck_assert_ptr_eq(lam_ctx_of(out), ctx);
        EXPECT_ERROR(LAM_ERR_NULL, "lam_call: the function is NULL");
        ck_assert_int_eq(lam_vjp(none[i], LAM_LIST(x), &out, 1, &made, NULL), LAM_ERR_NULL);
        EXPECT_ERROR(LAM_ERR_NULL, "vjp: the function is NULL");
        ck_assert_int_eq(lam_jvp(none[i], LAM_LIST(x), LAM_LIST(x), &out, &tangent, 1, NULL), LAM_ERR_NULL);
        EXPECT_ERROR(LAM_ERR_NULL, "jvp: the function is NULL");
        ck_assert_int_eq(lam_linearize(none[i], LAM_LIST(x), &out, 1, &made, NULL), LAM_ERR_NULL);
        EXPECT_ERROR(LAM_ERR_NULL, "linearize: the function is NULL");
        ck_assert_int_ne(lam_call(none[i], LAM_LIST(), NULL, 0), LAM_OK);
        ck_assert_int_ne(lam_call(none[i], (lam_list){1, NULL}, &out, 1), LAM_OK);
    }
}
END_TEST

START_TEST(a_function_given_a_failed_input_is_not_run) {
    runs = 0;
    lam_fn *f = FN(counts_runs, 1, 1);
    lam_tensor *bad = lam_add(VEC(1, 2), VEC(1, 2, 3)), *out;
    ck_assert_int_eq(lam_call(f, LAM_LIST(bad), &out, 1), LAM_ERR_SHAPE);
    ck_assert(lam_failed(out));
    ck_assert(lam_failed(apply1(lam_grad(f, NULL), bad)));
    ck_assert(lam_failed(apply1(lam_vmap(f, NULL), bad)));
    ck_assert_int_eq(runs, 0);
    ck_assert_uint_eq(lam_error_count(ctx), 1);
    EXPECT_STATUS(LAM_ERR_SHAPE);
}
END_TEST

BODY(leaves_a_scope_open) {
    lam_scope_begin(ctx);
    out[0] = lam_add(in[0], num(1));
}

START_TEST(a_scope_left_open_is_closed_and_recorded) {
    size_t before = lam_error_count(ctx);
    lam_tensor *x = num(1), *out;
    ck_assert_int_eq(lam_call(FN(leaves_a_scope_open, 1, 1), LAM_LIST(x), &out, 1), LAM_ERR_SCOPE);
    ck_assert_uint_eq(lam_error_count(ctx), before + 1);
    EXPECT_ERROR(LAM_ERR_SCOPE, "leaves_a_scope_open", "left a scope open", "remedy");
    EXPECT_NUM(lam_add(x, 1), 2);
}
END_TEST

static int frees;

static void count_free(void *env) {
    ck_assert_ptr_eq(env, &frees);
    frees++;
}

START_TEST(env_free_runs_with_the_last_reference) {
    frees = 0;
    lam_fn *f = lam_fn_new(
        ctx, &(lam_fn_options){
                 .name = "f", .body = counts_runs, .inputs = 1, .outputs = 1, .env = &frees, .env_free = count_free});
    lam_fn *g = lam_vmap(f, NULL);
    lam_fn_hold(f);
    lam_fn_drop(f);
    ck_assert_int_eq(frees, 0);
    lam_fn_release(f);
    ck_assert_int_eq(frees, 0);
    EXPECT(apply1(g, VEC(1, 2)), LAM_DIMS(2), 1, 2);
    lam_fn_drop(g);
    ck_assert_int_eq(frees, 1);
}
END_TEST

/* Also one that is held twice and by another one, and one that comes behind two that go together. */
START_TEST(held_functions_end_with_their_context) {
    lam_ctx *own = lam_ctx_new(NULL);
    const lam_fn_options o = {
        .name = "f", .body = counts_runs, .inputs = 1, .outputs = 1, .env = &frees, .env_free = count_free};
    lam_fn *twice = lam_fn_new(own, &o), *last = lam_fn_new(own, &o), *base = lam_fn_new(own, &o);
    frees = 0;
    lam_fn_hold(lam_fn_hold(twice));
    lam_fn_hold(lam_vmap(twice, NULL));
    lam_fn_drop(lam_fn_hold(last));
    lam_fn_hold(lam_vmap(base, NULL));
    lam_fn_drop(base);
    ck_assert_int_eq(frees, 0);
    lam_ctx_free(own);
    ck_assert_int_eq(frees, 3);
}
END_TEST

START_TEST(a_function_that_cannot_be_made_frees_its_env) {
    frees = 0;
    lam_fn_options o = {.inputs = 1, .outputs = 1, .env = &frees, .env_free = count_free};
    ck_assert(lam_failed(lam_fn_new(ctx, &o)));
    EXPECT_ERROR(LAM_ERR_NULL, "lam_fn_new", "body");
    ck_assert_int_eq(frees, 1);
    o.body = counts_runs;
    o.inputs = -1;
    ck_assert(lam_failed(lam_fn_new(ctx, &o)));
    EXPECT_ERROR(LAM_ERR_VALUE, "lam_fn_new", "-1 inputs");
    ck_assert_int_eq(frees, 2);
    o.inputs = 1;
    o.captures = LAM_LIST(num(1), NULL);
    ck_assert(lam_failed(lam_fn_new(ctx, &o)));
    EXPECT_ERROR(LAM_ERR_NULL, "captures", "operand 1");
    ck_assert_int_eq(frees, 3);
}
END_TEST

BODY(adds_its_capture) {
    out[0] = lam_add(in[0], in[1]);
}

START_TEST(captures_follow_the_inputs_and_are_owned) {
    lam_scope *scope = lam_scope_begin(ctx);
    lam_fn *f = lam_fn_hold(lam_fn_new(ctx, &(lam_fn_options){.name = "adds_its_capture",
                                                              .body = adds_its_capture,
                                                              .inputs = 1,
                                                              .outputs = 1,
                                                              .captures = LAM_LIST(num(40))}));
    lam_scope_end(scope, NULL, 0);
    EXPECT_NUM(apply1(f, num(2)), 42);
    EXPECT_NUM(apply1(lam_grad(f, NULL), num(2)), 1);
    EXPECT(apply1(lam_vmap(f, NULL), VEC(1, 2)), LAM_DIMS(2), 41, 42);
    lam_fn_release(f);
}
END_TEST

START_TEST(names_and_arity_are_copied_and_derived) {
    char name[] = "mine";
    lam_fn *f = lam_fn_new(ctx, &(lam_fn_options){.name = name, .body = swap, .inputs = 2, .outputs = 2});
    name[0] = 'f';
    ck_assert_str_eq(lam_fn_name(f), "mine");
    ck_assert_str_eq(lam_fn_name(lam_vmap(f, NULL)), "vmap(mine)");
    ck_assert_str_eq(lam_fn_name(lam_grad(lam_vmap(f, NULL), &(lam_grad_options){.has_aux = 1})), "grad(vmap(mine))");
    ck_assert_int_eq(lam_fn_inputs(lam_jvp_fn(f, NULL)), 4);
    ck_assert_int_eq(lam_fn_outputs(lam_jvp_fn(f, NULL)), 4);
    lam_fn *deep = lam_fn_new(ctx, &(lam_fn_options){.name = "mine", .body = swap, .inputs = 2, .outputs = 2});
    for (int i = 0; i < 1000; i++) deep = lam_vmap(deep, NULL);
    ck_assert_uint_lt(strlen(lam_fn_name(deep)), 1100);
    ck_assert_ptr_nonnull(strstr(lam_fn_name(deep), "vmap(vmap("));
    lam_fn *nameless = lam_fn_new(ctx, &(lam_fn_options){.body = swap, .inputs = 2, .outputs = 2});
    ck_assert_str_eq(lam_fn_name(nameless), "anonymous");
    ck_assert_str_eq(lam_fn_name(NULL), "failed");
    ck_assert_int_eq(lam_fn_inputs(NULL), 0);
}
END_TEST

BODY(sets_nothing) {
    ck_assert_ptr_nonnull(here);
    runs++;
}

START_TEST(functions_without_inputs_or_outputs) {
    runs = 0;
    ck_assert_int_eq(lam_call(FN(sets_nothing, 0, 0), LAM_LIST(), NULL, 0), LAM_OK);
    ck_assert_int_eq(runs, 1);
}
END_TEST

BODY(drops_its_input) {
    out[0] = lam_neg(in[0]);
    lam_drop(in[0]);
}

START_TEST(a_body_may_drop_its_inputs) {
    lam_tensor *x = num(3);
    EXPECT_NUM(apply1(FN(drops_its_input, 1, 1), x), -3);
    EXPECT_NUM(x, 3);
    EXPECT_NUM(apply1(lam_grad(FN(drops_its_input, 1, 1), NULL), x), -1);
}
END_TEST

/* All captures may be of the one other context: still this one is where the function fails. */
START_TEST(captures_of_another_context_are_refused) {
    lam_ctx *other = lam_ctx_new(NULL);
    lam_tensor *theirs = lam_scalar(other, 1);
    lam_fn_options o = {.name = "mixed", .body = drops_its_input, .inputs = 1, .outputs = 1};
    o.captures = LAM_LIST(theirs, theirs);
    ck_assert(lam_failed(lam_fn_new(ctx, &o)));
    EXPECT_ERROR(LAM_ERR_CONTEXT, "lam_fn_new (captures)", "mixed contexts", "operand 0");
    o.captures = LAM_LIST(num(1), theirs);
    ck_assert(lam_failed(lam_fn_new(ctx, &o)));
    EXPECT_ERROR(LAM_ERR_CONTEXT, "lam_fn_new (captures)", "mixed contexts", "operand 1");
    lam_drop(theirs);
    o.captures = LAM_LIST(theirs);
    ck_assert(lam_failed(lam_fn_new(ctx, &o)));
    EXPECT_ERROR(LAM_ERR_FREED, "lam_fn_new (captures)", "operand 0");
    ck_assert_int_eq(lam_status_of(other), LAM_OK);
    lam_ctx_free(other);
}
END_TEST

BODY(gives_a_freed_output) {
    out[0] = lam_neg(in[0]);
    lam_drop(out[0]);
}

START_TEST(an_output_that_was_freed_is_an_error) {
    ck_assert(lam_failed(apply1(FN(gives_a_freed_output, 1, 1), num(1))));
    EXPECT_ERROR(LAM_ERR_FREED, "output", "freed");
}
END_TEST

/* More handles than fit the C frame. */
BODY(sums_many) {
    out[0] = lam_add_all((lam_list){100, in});
}

START_TEST(many_inputs) {
    lam_tensor *x[100];
    for (int i = 0; i < 100; i++) x[i] = num(i);
    lam_fn *f = FN(sums_many, 100, 1);
    EXPECT_NUM(lam_apply(f, (lam_list){100, x}), 4950);
    EXPECT_NUM(lam_apply(lam_grad(f, &(lam_grad_options){.argnums = LAM_AXES(-1)}), (lam_list){100, x}), 1);
}
END_TEST

Suite *suite_dispatch_fn(void) {
    return SUITE_OF("dispatch/fn", a_call_gives_fresh_handles, one_tensor_given_twice_does_not_alias_inside,
                    one_value_returned_twice_gives_two_handles, an_output_that_was_not_set_is_named,
                    a_wrong_number_of_inputs_or_outputs_is_refused, a_call_of_no_function_is_recorded,
                    a_function_given_a_failed_input_is_not_run, a_scope_left_open_is_closed_and_recorded,
                    env_free_runs_with_the_last_reference, held_functions_end_with_their_context,
                    a_function_that_cannot_be_made_frees_its_env, captures_follow_the_inputs_and_are_owned,
                    captures_of_another_context_are_refused, names_and_arity_are_copied_and_derived,
                    functions_without_inputs_or_outputs, a_body_may_drop_its_inputs,
                    an_output_that_was_freed_is_an_error, many_inputs);
}
