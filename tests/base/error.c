/* Failure: sticky, recorded once with all that helps, forgotten on request; and what each kind of unusable handle is
 * called. */
#include "tests/support.h"

static lam_tensor *fails_shape(void) {
    return lam_add(VEC(1, 2), VEC(1, 2, 3));
}

START_TEST(a_failure_passes_through_later_operations) {
    lam_tensor *y = lam_mul(lam_sin(fails_shape()), 2.0);
    ck_assert(lam_failed(y));
    ck_assert(lam_failed(lam_sum(lam_where(lam_lt(y, 0.0), y, 1.0), NULL)));
    ck_assert(lam_failed(lam_stack(LAM_LIST(num(1), y), 0)));
    ck_assert_uint_eq(lam_error_count(ctx), 1);
    EXPECT_ERROR(LAM_ERR_SHAPE, "add:", "f64[2]", "f64[3]", "levels: eval", "remedy:");
}
END_TEST

START_TEST(accessors_of_the_failed_tensor_are_safe) {
    lam_tensor *y = fails_shape();
    double x = 0;
    ck_assert_int_eq(lam_rank(y), 0);
    ck_assert_int_eq(lam_size(y), 1);
    ck_assert_int_eq(lam_dim(y, 0), -1);
    ck_assert_int_eq(lam_dims_of(y).rank, 0);
    ck_assert_int_eq(lam_dtype_of(y), LAM_F64);
    ck_assert_ptr_null(lam_data(y));
    ck_assert_ptr_eq(lam_ctx_of(y), ctx);
    ck_assert(isnan(lam_item(y)));
    ck_assert_int_eq(lam_read(y, &x, sizeof x), LAM_ERR_SHAPE);
    lam_drop(y);
    lam_release(lam_hold(y));
    ck_assert_uint_eq(lam_error_count(ctx), 1);
    EXPECT_STATUS(LAM_ERR_SHAPE);
}
END_TEST

START_TEST(the_first_failure_is_kept_and_the_others_are_counted) {
    fails_shape();
    lam_not(num(1));
    lam_index(VEC(1, 2), 3, 0);
    ck_assert_uint_eq(lam_error_count(ctx), 3);
    EXPECT_ERROR(LAM_ERR_SHAPE, "add:");
    ck_assert_uint_eq(lam_error_count(ctx), 0);
    ck_assert_str_eq(lam_error(ctx), "");
    lam_not(num(1));
    EXPECT_ERROR(LAM_ERR_DTYPE, "not");
}
END_TEST

/* Eight operands are shown; of more the rest are counted. */
START_TEST(of_many_operands_the_first_are_shown) {
    lam_tensor *x = VEC(1, 2), *wrong = MAT(1, 2, 3, 4);
    lam_concatenate(LAM_LIST(x, x, x, x, x, x, x, wrong), 0);
    ck_assert_ptr_null(strstr(lam_error(ctx), "more"));
    EXPECT_ERROR(LAM_ERR_SHAPE, "f64[2], f64[1, 2]\n");
    lam_concatenate(LAM_LIST(x, x, x, x, x, x, x, x, x, wrong), 0);
    EXPECT_ERROR(LAM_ERR_SHAPE, "f64[2] and 2 more\n");
}
END_TEST

/* Two failures, and env more of a third kind. */
static void body_fails(lam_ctx *c, lam_tensor *const in[], lam_tensor *out[], void *env) {
    fails_shape();
    lam_index(in[0], 3, 0);
    for (int i = 0; i < *(int *)env; i++) lam_fail(c, LAM_ERR_USER, "again");
    out[0] = in[0];
}

static void forward_fails(lam_fctx *fc, lam_tensor *const in[], lam_tensor *out[]) {
    int more = 1;
    body_fails(lam_fctx_ctx(fc), in, out, &more);
}

START_TEST(a_call_returns_the_first_failure_of_its_own) {
    int more = 0;
    lam_tensor *x = VEC(1, 2), *y[2];
    lam_fn *f = lam_fn_new(ctx, &(lam_fn_options){"fails", body_fails, 1, 1, .env = &more}), *pullback;
    lam_not(num(1));
    ck_assert_int_eq(lam_call(f, LAM_LIST(x), y, 1), LAM_ERR_SHAPE);
    ck_assert_int_eq(lam_vjp(f, LAM_LIST(x), y, 1, &pullback, NULL), LAM_ERR_SHAPE);
    ck_assert_int_eq(lam_jvp(f, LAM_LIST(x), LAM_LIST(x), y, y + 1, 1, NULL), LAM_ERR_SHAPE);
    lam_function twice = {.name = "twice", .inputs = 1, .outputs = 1, .forward = forward_fails};
    ck_assert_int_eq(lam_function_apply(ctx, &twice, NULL, LAM_LIST(x), y, 1), LAM_ERR_SHAPE);
    ck_assert_int_eq(lam_function_apply(ctx, &twice, NULL, LAM_LIST(x, x), y, 1), LAM_ERR_ARITY);
    more = 60;
    ck_assert_int_eq(lam_call(f, LAM_LIST(x), y, 1), LAM_ERR_SHAPE);
    more = 1000;
    ck_assert_int_eq(lam_call(f, LAM_LIST(x), y, 1), LAM_ERR_USER); /* the first of those kept */
    EXPECT_ERROR(LAM_ERR_DTYPE, "not");
}
END_TEST

START_TEST(a_failed_tensor_from_before_the_clearing_is_stale) {
    lam_tensor *y = fails_shape();
    lam_clear_error(ctx);
    EXPECT_NUM(lam_add(num(1), num(2)), 3);
    ck_assert(lam_failed(lam_add(num(1), y)));
    EXPECT_ERROR(LAM_ERR_STALE, "add", "operand 1", "stale");
}
END_TEST

START_TEST(a_null_operand_is_named_by_its_position) {
    ck_assert(lam_failed(lam_add(num(1), NULL)));
    EXPECT_ERROR(LAM_ERR_NULL, "add", "operand 1", "NULL");
    ck_assert(lam_failed(lam_atan2(NULL, num(1))));
    EXPECT_ERROR(LAM_ERR_NULL, "atan2", "operand 0", "NULL");
    ck_assert(lam_failed(lam_concatenate(LAM_LIST(VEC(1), VEC(2), NULL), 0)));
    EXPECT_ERROR(LAM_ERR_NULL, "concatenate", "operand 2");
    ck_assert(lam_failed(lam_sin(NULL)));
}
END_TEST

START_TEST(tensors_of_two_contexts_do_not_mix) {
    lam_ctx *other = lam_ctx_new(NULL);
    lam_tensor *x = num(1), *y = lam_scalar(other, 2);
    ck_assert(lam_failed(lam_add(x, y)));
    EXPECT_ERROR(LAM_ERR_CONTEXT, "add", "operand 1", "mixed contexts", "remedy");
    ck_assert(lam_failed(lam_concatenate(LAM_LIST(VEC(1), y), 0)));
    EXPECT_ERROR(LAM_ERR_CONTEXT, "concatenate", "operand 1");
    ck_assert_int_eq(lam_status_of(other), LAM_OK);
    ck_assert(lam_item(y) == 2);
    lam_ctx_free(other);
}
END_TEST

static lam_tensor *einsum_of(lam_list list) {
    return lam_einsum("i->i", list);
}

static lam_tensor *concatenation_of(lam_list list) {
    return lam_concatenate(list, 0);
}

/* An empty list belongs to no context: its failed tensor is reported by what meets it, in either place. */
START_TEST(a_failed_tensor_of_no_context_is_reported_where_it_is_used) {
    lam_list none = {0, NULL};
    lam_tensor *(*const empty[])(lam_list) = {lam_add_all, einsum_of, concatenation_of};
    for (size_t i = 0; i < sizeof empty / sizeof empty[0]; i++) {
        lam_tensor *lost = empty[i](none);
        ck_assert(lam_failed(lost));
        ck_assert_str_ne(lam_error(NULL), "");
        ck_assert(lam_failed(lam_add(num(1), lost)));
        EXPECT_ERROR(LAM_ERR_CONTEXT, "add: ", "operand 1", "of another context or of none", "empty list");
        ck_assert(lam_failed(lam_mul(lost, num(1))));
        EXPECT_ERROR(LAM_ERR_CONTEXT, "mul: ", "operand 0", "of another context or of none", "empty list");
        ck_assert(lam_failed(lam_sin(lost)));
    }
}
END_TEST

BODY(gives_a_tensor_of) {
    out[0] = env;
}

BODY(identity) {
    out[0] = in[0];
}

START_TEST(functions_refuse_tensors_of_another_context) {
    lam_ctx *other = lam_ctx_new(NULL);
    lam_tensor *y = lam_scalar(other, 2);
    ck_assert(lam_failed(apply1(FN(identity, 1, 1), y)));
    EXPECT_ERROR(LAM_ERR_CONTEXT, "identity", "input 0");
    ck_assert(lam_failed(apply1(FN_ENV(gives_a_tensor_of, 1, 1, y), num(1))));
    EXPECT_ERROR(LAM_ERR_CONTEXT, "gives_a_tensor_of", "output 0");
    ck_assert(lam_failed(apply1(lam_grad(FN(identity, 1, 1), NULL), y)));
    EXPECT_ERROR(LAM_ERR_CONTEXT, "input 0");
    lam_ctx_free(other);
}
END_TEST

BODY(fails_by_itself) {
    out[0] = lam_fail(ctx, LAM_ERR_USER, "step %d of %s", 3, "mine");
}

START_TEST(a_body_may_fail_with_a_message_of_its_own) {
    lam_tensor *out = NULL;
    ck_assert_int_eq(lam_call(FN(fails_by_itself, 0, 1), LAM_LIST(), &out, 1), LAM_ERR_USER);
    ck_assert(lam_failed(out));
    EXPECT_ERROR(LAM_ERR_USER, "step 3 of mine", "fails_by_itself");
}
END_TEST

BODY(fails_beside_its_output) {
    fails_shape();
    out[0] = in[0];
}

/* A status tells of everything that went wrong, even if no output depends on it. */
START_TEST(a_call_reports_failures_that_no_output_depends_on) {
    lam_tensor *out = NULL;
    lam_fn *f = FN(fails_beside_its_output, 1, 1);
    ck_assert_int_eq(lam_call(f, LAM_LIST(num(2)), &out, 1), LAM_ERR_SHAPE);
    EXPECT_ERROR(LAM_ERR_SHAPE, "fails_beside_its_output");
    ck_assert(lam_failed(lam_apply(f, LAM_LIST(num(2))))); /* which has no status to give */
    EXPECT_STATUS(LAM_ERR_SHAPE);
}
END_TEST

/* Whoever calls an operation that is made of others reads its name, and behind it that of the one which refused. */
START_TEST(a_message_begins_with_the_operation_that_was_called) {
    lam_swapaxes(num(1), 0, 1);
    EXPECT_ERROR(LAM_ERR_AXIS, "swapaxes: ");
    lam_squared_error(VEC(1, 2), VEC(1, 2, 3));
    ck_assert_int_eq(strncmp(lam_error(ctx), "squared_error: sub: dims do not", 31), 0);
    EXPECT_ERROR(LAM_ERR_SHAPE, "operands: f64[2], f64[3]");
    lam_tensor *q, *r; /* two outermost names would be one too many */
    lam_divmod(VEC(1, 2), VEC(1, 2, 3), &q, &r);
    ck_assert_int_eq(strncmp(lam_error(ctx), "divmod: div: ", 13), 0);
    EXPECT_ERROR(LAM_ERR_SHAPE, "f64[3]");
    lam_hvp(NULL, NULL);
    lam_fn *f = FN(identity, 1, 1);
    ck_assert(lam_failed(lam_hvp(f, &(lam_grad_options){.has_aux = 7})));
    EXPECT_ERROR(LAM_ERR_OPTION, "hvp: value_and_grad: has_aux is 7");
    lam_tensor *old = fails_shape(); /* a failure from before the call is not renamed */
    ck_assert(lam_failed(lam_softmax(old, 0)));
    ck_assert_int_eq(strncmp(lam_error(ctx), "add: ", 5), 0);
    EXPECT_ERROR(LAM_ERR_SHAPE, "f64[3]");
    lam_tensor *mine = lam_fail(ctx, LAM_ERR_USER, "my own words");
    ck_assert(lam_failed(lam_add_all(LAM_LIST(VEC(1, 2), mine))));
    ck_assert_int_eq(strncmp(lam_error(ctx), "my own words", 12), 0);
    EXPECT_ERROR(LAM_ERR_USER, "levels: eval");
}
END_TEST

START_TEST(an_old_failure_is_not_reported_again) {
    lam_tensor *out = NULL, *x = num(2);
    lam_fn *f = FN(identity, 1, 1);
    fails_shape();
    ck_assert_int_eq(lam_call(f, LAM_LIST(x), &out, 1), LAM_OK);
    lam_clear_error(ctx);
    EXPECT_NUM(out, 2);
}
END_TEST

BODY(calls_env) {
    out[0] = lam_apply(env, LAM_LIST(in[0]));
}

START_TEST(a_message_names_the_chain_of_callers) {
    lam_fn *inner = FN(fails_by_itself, 1, 1), *outer = FN_ENV(calls_env, 1, 1, inner);
    apply1(outer, num(1));
    EXPECT_ERROR(LAM_ERR_USER, "in function: 'fails_by_itself', called by 'calls_env'");
}
END_TEST

START_TEST(every_status_has_a_name) {
    for (int s = 0; s < LAM_STATUS_COUNT; s++) {
        const char *name = lam_status_name((lam_status)s);
        ck_assert_int_eq(strncmp(name, "LAM_", 4), 0);
        for (int other = 0; other < s; other++) ck_assert_str_ne(name, lam_status_name((lam_status)other));
    }
    ck_assert_str_eq(lam_status_name(LAM_ERR_SHAPE), "LAM_ERR_SHAPE");
    ck_assert_str_eq(lam_status_name((lam_status)-1), "LAM_ERR_?");
    ck_assert_str_eq(lam_status_name(LAM_STATUS_COUNT), "LAM_ERR_?");
}
END_TEST

START_TEST(a_message_longer_than_its_room_is_cut) {
    char longer[5000];
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    lam_fail(ctx, LAM_ERR_USER, "%s", longer);
    ck_assert_uint_gt(strlen(lam_error(ctx)), 1000);
    ck_assert_uint_lt(strlen(lam_error(ctx)), sizeof longer);
    EXPECT_ERROR(LAM_ERR_USER, "xxxx");
}
END_TEST

/* Names of any length leave room for levels and remedy. */
START_TEST(long_names_leave_room_for_what_follows) {
    char name[5000];
    memset(name, 'a', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    lam_psum(num(1), name);
    EXPECT_ERROR(LAM_ERR_OPTION, "psum", "aaaa", "\n  levels: eval", "\n  remedy: ");
    lam_fn *f = FN_ENV(fails_by_itself, 1, 1, NULL);
    for (int i = 0; i < 60; i++) f = lam_checkpoint(f, NULL);
    apply1(f, num(1));
    EXPECT_ERROR(LAM_ERR_USER, "\n  in function: ", "\n  levels: eval");
}
END_TEST

START_TEST(failed_tells_failed_tensors_and_functions) {
    ck_assert(lam_failed(NULL));
    ck_assert(!lam_failed(num(1)));
    ck_assert(!lam_failed(FN(identity, 1, 1)));
    ck_assert(lam_failed(lam_fn_new(ctx, &(lam_fn_options){.name = "nothing"})));
    EXPECT_ERROR(LAM_ERR_NULL, "body");
    ck_assert(lam_failed(fails_shape()));
    EXPECT_STATUS(LAM_ERR_SHAPE);
}
END_TEST

/* A user who calls a failure LAM_OK still gets a failure. */
START_TEST(a_failure_without_status_is_the_users) {
    ck_assert(lam_failed(lam_fail(ctx, LAM_OK, "so what")));
    EXPECT_ERROR(LAM_ERR_USER, "so what");
}
END_TEST

Suite *suite_base_error(void) {
    return SUITE_OF("base/error", a_failure_passes_through_later_operations, accessors_of_the_failed_tensor_are_safe,
                    the_first_failure_is_kept_and_the_others_are_counted, a_call_returns_the_first_failure_of_its_own,
                    a_failed_tensor_from_before_the_clearing_is_stale, a_null_operand_is_named_by_its_position,
                    tensors_of_two_contexts_do_not_mix, a_failed_tensor_of_no_context_is_reported_where_it_is_used,
                    functions_refuse_tensors_of_another_context, a_body_may_fail_with_a_message_of_its_own,
                    a_call_reports_failures_that_no_output_depends_on, an_old_failure_is_not_reported_again,
                    a_message_names_the_chain_of_callers, every_status_has_a_name,
                    a_message_longer_than_its_room_is_cut, long_names_leave_room_for_what_follows,
                    failed_tells_failed_tensors_and_functions, a_failure_without_status_is_the_users,
                    of_many_operands_the_first_are_shown, a_message_begins_with_the_operation_that_was_called);
}
