/* Scopes, and the life of handles: who owns what, what keeps something alive, and that a use after the end is a named
 * error. */
#include "tests/support.h"

START_TEST(a_scope_frees_all_but_what_is_kept) {
    lam_scope *scope = lam_scope_begin(ctx);
    lam_tensor *lost = num(1), *kept = num(2);
    ck_assert_int_eq(lam_scope_end(scope, &kept, 1), LAM_OK);
    EXPECT_NUM(kept, 2);
    ck_assert(lam_failed(lam_neg(lost)));
    EXPECT_ERROR(LAM_ERR_FREED, "neg", "operand 0", "freed", "lam_scope_end", "captures");
}
END_TEST

START_TEST(keeping_moves_to_the_parent_only) {
    lam_scope *outer = lam_scope_begin(ctx), *inner = lam_scope_begin(ctx);
    lam_tensor *x = num(3);
    lam_scope_end(inner, &x, 1);
    EXPECT_NUM(x, 3);
    lam_scope_end(outer, NULL, 0);
    ck_assert(lam_failed(lam_neg(x)));
    EXPECT_STATUS(LAM_ERR_FREED);
}
END_TEST

START_TEST(keeping_what_is_older_or_null_does_nothing) {
    lam_tensor *oldest = num(5);
    lam_scope *outer = lam_scope_begin(ctx);
    lam_tensor *old = num(4);
    lam_scope *inner = lam_scope_begin(ctx);
    lam_scope_end(inner, (lam_tensor *[]){old, NULL, oldest}, 3);
    EXPECT_NUM(old, 4);
    lam_scope_end(outer, NULL, 0);
    EXPECT_NUM(oldest, 5); /* it has not become the outer scope's */
    ck_assert(lam_failed(lam_neg(old)));
    EXPECT_STATUS(LAM_ERR_FREED);
}
END_TEST

START_TEST(ending_an_outer_scope_closes_the_inner_ones_and_says_so) {
    lam_scope *outer = lam_scope_begin(ctx);
    lam_scope_begin(ctx);
    lam_tensor *x = num(1), *kept = num(5);
    ck_assert_int_eq(lam_scope_end(outer, &kept, 1), LAM_ERR_SCOPE);
    EXPECT_ERROR(LAM_ERR_SCOPE, "lam_scope_end", "still open", "remedy");
    EXPECT_NUM(kept, 5);
    ck_assert(lam_failed(lam_neg(x)));
    EXPECT_STATUS(LAM_ERR_FREED);
}
END_TEST

BODY(ends_a_foreign_scope) {
    lam_scope_end(env, NULL, 0);
    out[0] = in[0];
}

START_TEST(a_body_cannot_end_a_scope_of_its_caller) {
    lam_scope *scope = lam_scope_begin(ctx);
    lam_tensor *x = num(1);
    apply1(FN_ENV(ends_a_foreign_scope, 1, 1, scope), x);
    EXPECT_ERROR(LAM_ERR_SCOPE, "lam_scope_end", "not open here", "ends_a_foreign_scope");
    EXPECT_NUM(x, 1);
    ck_assert_int_eq(lam_scope_end(scope, NULL, 0), LAM_OK);
    ck_assert_int_eq(lam_scope_end(NULL, NULL, 0), LAM_OK);
}
END_TEST

START_TEST(drop_releases_early_and_twice_is_an_error) {
    lam_tensor *x = num(1);
    lam_drop(x);
    EXPECT_OK();
    lam_drop(x);
    EXPECT_ERROR(LAM_ERR_FREED, "lam_drop");
    lam_drop(NULL);
    EXPECT_OK();
}
END_TEST

START_TEST(hold_outlives_scopes_until_the_last_release) {
    lam_scope *scope = lam_scope_begin(ctx);
    lam_tensor *x = lam_hold(lam_hold(num(7)));
    lam_scope_end(scope, NULL, 0);
    EXPECT_NUM(x, 7);
    lam_release(x);
    EXPECT_NUM(x, 7);
    lam_release(x);
    EXPECT_OK();
    ck_assert(lam_failed(lam_neg(x)));
    EXPECT_STATUS(LAM_ERR_FREED);
}
END_TEST

START_TEST(releasing_what_is_not_held_fails_and_changes_nothing) {
    lam_tensor *x = num(7);
    lam_release(x);
    EXPECT_ERROR(LAM_ERR_VALUE, "lam_release", "not held");
    lam_hold(x);
    lam_release(x);
    EXPECT_NUM(x, 7);
}
END_TEST

START_TEST(a_held_tensor_survives_drop_and_the_other_way_round) {
    lam_tensor *x = lam_hold(num(7));
    lam_drop(x);
    EXPECT_NUM(x, 7);
    lam_drop(x);
    EXPECT_NUM(x, 7);
    lam_release(x);
    ck_assert(lam_failed(lam_neg(x)));
    EXPECT_STATUS(LAM_ERR_FREED);
}
END_TEST

START_TEST(an_alias_lives_on_its_own) {
    lam_tensor *x = VEC(1, 2), *y = lam_alias(x);
    ck_assert_ptr_ne(x, y);
    lam_drop(x);
    EXPECT(y, LAM_DIMS(2), 1, 2);
}
END_TEST

/* Freed handles are reused late: a mistake soon after the end is still seen. */
START_TEST(a_freed_handle_is_not_reused_at_once) {
    lam_tensor *x = num(1);
    for (int i = 0; i < 1000; i++) num(i);
    lam_drop(x);
    for (int i = 0; i < 63; i++) ck_assert_ptr_ne(num(i), x);
    ck_assert(lam_failed(lam_add(num(1), x)));
    EXPECT_ERROR(LAM_ERR_FREED, "add", "operand 1");
}
END_TEST

/* Nor is the memory of scopes that have ended. */
START_TEST(an_ended_scope_is_not_reused_at_once) {
    lam_scope *open[16];
    for (int i = 0; i < 100; i++) lam_scope_end(lam_scope_begin(ctx), NULL, 0);
    lam_scope *ended = lam_scope_begin(ctx);
    lam_scope_end(ended, NULL, 0);
    for (int i = 0; i < 16; i++) ck_assert_ptr_ne(open[i] = lam_scope_begin(ctx), ended);
    ck_assert_int_eq(lam_scope_end(ended, NULL, 0), LAM_ERR_SCOPE);
    EXPECT_ERROR(LAM_ERR_SCOPE, "lam_scope_end", "not open");
    for (int i = 15; i >= 0; i--) ck_assert_int_eq(lam_scope_end(open[i], NULL, 0), LAM_OK);
}
END_TEST

START_TEST(accessors_of_a_freed_handle_are_harmless) {
    lam_tensor *x = VEC(1, 2);
    lam_drop(x);
    ck_assert_int_eq(lam_rank(x), 0);
    ck_assert_int_eq(lam_dim(x, 0), -1);
    ck_assert_ptr_null(lam_data(x));
    ck_assert_int_eq(lam_size(x), 1);
    EXPECT_OK();
    ck_assert(isnan(lam_item(x)));
    EXPECT_ERROR(LAM_ERR_FREED, "lam_item");
}
END_TEST

BODY(first_input) {
    out[0] = in[0];
}

START_TEST(functions_belong_to_scopes_like_tensors) {
    lam_scope *scope = lam_scope_begin(ctx);
    lam_fn *lost = FN(first_input, 1, 1), *held = lam_fn_hold(FN(first_input, 1, 1));
    lam_scope_end(scope, NULL, 0);
    EXPECT_NUM(apply1(held, num(2)), 2);
    lam_fn_release(held);
    ck_assert(lam_failed(apply1(lost, num(2))));
    EXPECT_ERROR(LAM_ERR_FREED, "function");
    ck_assert(lam_failed(apply1(held, num(2))));
    EXPECT_STATUS(LAM_ERR_FREED);
}
END_TEST

START_TEST(a_freed_function_is_not_reused_at_once) {
    for (int i = 0; i < 100; i++) lam_fn_drop(FN(first_input, 1, 1));
    lam_fn *f = FN(first_input, 1, 1);
    lam_fn_drop(f);
    for (int i = 0; i < 32; i++) ck_assert_ptr_ne(FN(first_input, 1, 1), f);
    ck_assert(lam_failed(apply1(f, num(2))));
    EXPECT_ERROR(LAM_ERR_FREED, "function");
}
END_TEST

START_TEST(releasing_a_function_that_is_not_held_fails) {
    lam_fn *f = FN(first_input, 1, 1);
    lam_fn_release(f);
    EXPECT_ERROR(LAM_ERR_VALUE, "lam_fn_release", "first_input", "not held");
    lam_fn_drop(f);
    lam_fn_drop(NULL);
    EXPECT_OK();
    lam_fn_drop(f);
    EXPECT_ERROR(LAM_ERR_FREED, "lam_fn_drop");
}
END_TEST

START_TEST(a_derived_function_keeps_its_parts_alive) {
    lam_fn *f = FN(first_input, 1, 1), *g = lam_grad(f, NULL), *h = lam_vmap(g, NULL);
    lam_fn_drop(f);
    lam_fn_drop(g);
    EXPECT(apply1(h, VEC(4, 5)), LAM_DIMS(2), 1, 1);
}
END_TEST

/* Moved rather than copied: 20 scopes deep, the handle stays the same and in the end leaves nothing behind. */
START_TEST(pointers_stay_valid_through_many_scopes) {
    lam_scope *scopes[20];
    warm_up();
    for (int i = 0; i < 20; i++) scopes[i] = lam_scope_begin(ctx);
    lam_tensor *x = lam_ones(ctx, LAM_F64, LAM_DIMS(100));
    size_t bytes = lam_ctx_bytes(ctx);
    for (int i = 19; i >= 0; i--) lam_scope_end(scopes[i], &x, 1);
    EXPECT_NUM(lam_sum(x, NULL), 100);
    ck_assert_uint_lt(lam_ctx_bytes(ctx), bytes + 800); /* not one copy of it */
}
END_TEST

/* Ended scopes and freed functions wait for reuse, so that a use after the end is recognised; they are not in use. */
START_TEST(what_waits_for_reuse_does_not_count) {
    size_t bytes = lam_ctx_bytes(ctx);
    for (int i = 0; i < 100; i++) {
        lam_scope *scope = lam_scope_begin(ctx);
        lam_fn_drop(FN(first_input, 1, 1));
        ck_assert_uint_gt(lam_ctx_bytes(ctx), bytes);
        lam_scope_end(scope, NULL, 0);
        ck_assert_uint_eq(lam_ctx_bytes(ctx), bytes);
    }
}
END_TEST

Suite *suite_base_scope(void) {
    return SUITE_OF("base/scope", a_scope_frees_all_but_what_is_kept, keeping_moves_to_the_parent_only,
                    keeping_what_is_older_or_null_does_nothing, ending_an_outer_scope_closes_the_inner_ones_and_says_so,
                    a_body_cannot_end_a_scope_of_its_caller, drop_releases_early_and_twice_is_an_error,
                    hold_outlives_scopes_until_the_last_release, releasing_what_is_not_held_fails_and_changes_nothing,
                    a_held_tensor_survives_drop_and_the_other_way_round, an_alias_lives_on_its_own,
                    a_freed_handle_is_not_reused_at_once, an_ended_scope_is_not_reused_at_once,
                    a_freed_function_is_not_reused_at_once, accessors_of_a_freed_handle_are_harmless,
                    functions_belong_to_scopes_like_tensors, releasing_a_function_that_is_not_held_fails,
                    a_derived_function_keeps_its_parts_alive, pointers_stay_valid_through_many_scopes,
                    what_waits_for_reuse_does_not_count);
}
