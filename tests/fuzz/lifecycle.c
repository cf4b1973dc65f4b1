/* Lives of handles, functions and scopes under bodies that do what they please: drop, hold, rebind and return their
 * inputs, free the function that is running, leave scopes open, recurse, fail and forget the failure; and pullbacks
 * used when everything they came from has gone. */
#include "tests/support.h"

#include <pthread.h>

/* ---- inputs and outputs ---------------------------------------------------------------------------------------- */

BODY(drops_input) {
    out[0] = lam_sum(lam_square(in[0]), NULL);
    lam_drop(in[0]);
}

BODY(rebinds_input) {
    lam_mul_(in[0], in[0]);
    lam_add_(in[0], in[0]);
    lam_set_(in[0], num(5), LAM_DIMS(0), LAM_DIMS(1), LAM_DIMS0);
    out[0] = lam_sum(in[0], NULL);
}

BODY(returns_input_twice) {
    out[0] = out[1] = in[0];
}

BODY(returns_square_twice) {
    out[0] = out[1] = lam_square(in[0]);
}

BODY(drops_output) {
    out[0] = lam_square(in[0]);
    lam_drop(out[0]);
}

BODY(holds_and_releases_twice) {
    lam_hold(in[0]);
    lam_release(in[0]);
    lam_release(in[0]);
    out[0] = in[0];
}

START_TEST(inputs_are_the_bodys_own) {
    lam_tensor *x = VEC(1, 2, 3);
    EXPECT_NUM(apply1(FN(drops_input, 1, 1), x), 14);
    EXPECT(apply1(lam_grad(FN(drops_input, 1, 1), NULL), x), LAM_DIMS(3), 2, 4, 6);
    EXPECT(apply1(lam_grad(FN(rebinds_input, 1, 1), NULL), x), LAM_DIMS(3), 0, 8, 12); /* 5 + 2 (4 + 9) in x1, x2 */
    EXPECT(x, LAM_DIMS(3), 1, 2, 3);
    lam_tensor *rows = MAT(2, 2, 1, 2, 3, 4);
    EXPECT(apply1(lam_vmap(lam_grad(FN(rebinds_input, 1, 1), NULL), NULL), rows), LAM_DIMS(2, 2), 0, 8, 0, 16);
    EXPECT(rows, LAM_DIMS(2, 2), 1, 2, 3, 4);
}
END_TEST

START_TEST(one_tensor_may_be_two_outputs) {
    lam_tensor *out[2], *g;
    lam_fn *pull;
    const lam_body bodies[] = {returns_input_twice, returns_square_twice};
    const double want[] = {3, 18}; /* (1 + 2) times 1 and times 2 x at 3 */
    for (int i = 0; i < 2; i++) {
        lam_vjp(function_of("twice", bodies[i], 1, 2, NULL), LAM_LIST(num(3)), out, 2, &pull, NULL);
        ck_assert_ptr_ne(out[0], out[1]);
        lam_drop(out[0]);
        lam_call(pull, LAM_LIST(num(1), num(2)), &g, 1);
        EXPECT_NUM(g, want[i]);
    }
}
END_TEST

START_TEST(bodies_that_lose_what_they_return) {
    ck_assert(lam_failed(apply1(FN(drops_output, 1, 1), num(2))));
    EXPECT_ERROR(LAM_ERR_FREED, "output", "drops_output");
    ck_assert(lam_failed(apply1(lam_grad(FN(holds_and_releases_twice, 1, 1), NULL), num(2))));
    EXPECT_ERROR(LAM_ERR_VALUE, "not held");
}
END_TEST

/* ---- escaped --------------------------------------------------------------------------------------------------- */

static lam_tensor *stash;

BODY(stashes) {
    stash = lam_hold(lam_square(in[0]));
    out[0] = stash;
}

BODY(returns_stash) {
    out[0] = stash;
}

BODY(uses_stash) {
    out[0] = lam_mul(in[0], stash);
}

static void stash_from(lam_fn *f, lam_tensor *x) {
    apply1(f, x);
    EXPECT_OK();
}

START_TEST(escaped_boxes_are_named_wherever_they_turn_up) {
    lam_fn *const sources[] = {
        lam_grad(FN(stashes, 1, 1), NULL),
        lam_vmap(FN(stashes, 1, 1), &(lam_vmap_options){.axis_size = 3, .in_axes = LAM_AXES(LAM_UNMAPPED)})};
    lam_tensor *one = num(1), *tangent, *y;
    lam_fn *pull;
    stash_from(sources[0], num(3));
    ck_assert(lam_failed(apply1(FN(returns_stash, 1, 1), one)));
    EXPECT_ERROR(LAM_ERR_ESCAPED, "escaped", "returns_stash");
    ck_assert(lam_failed(apply1(lam_grad(FN(returns_stash, 1, 1), NULL), one)));
    EXPECT_ERROR(LAM_ERR_ESCAPED, "escaped", "(vjp)");
    ck_assert(lam_failed(apply1(lam_grad(FN(uses_stash, 1, 1), NULL), one)));
    EXPECT_ERROR(LAM_ERR_ESCAPED, "mul", "escaped");
    ck_assert(lam_failed(apply1(lam_vmap(FN(uses_stash, 1, 1), NULL), VEC(1, 2))));
    EXPECT_ERROR(LAM_ERR_ESCAPED, "escaped");
    ck_assert_int_ne(lam_jvp(FN(drops_input, 1, 1), LAM_LIST(one), LAM_LIST(stash), &y, &tangent, 1, NULL), LAM_OK);
    EXPECT_STATUS(LAM_ERR_ESCAPED);
    ck_assert_int_ne(lam_vjp(FN(drops_input, 1, 1), LAM_LIST(stash), &y, 1, &pull, NULL), LAM_OK);
    EXPECT_STATUS(LAM_ERR_ESCAPED);
    lam_release(stash);
    apply1(sources[1], num(3)); /* not batched: it is an ordinary tensor */
    EXPECT_NUM(apply1(FN(returns_stash, 1, 1), one), 9);
    lam_release(stash);
}
END_TEST

/* ---- poisoned -------------------------------------------------------------------------------------------------- */

START_TEST(poisoned_handles_live_and_end_like_others) {
    lam_tensor *x = lam_hold(VEC(1, 2)), *y = VEC(1, 2);
    lam_scope *scope = lam_scope_begin(ctx);
    lam_tensor *inner = VEC(1, 2);
    lam_add_(x, VEC(1, 2, 3));
    lam_add_(y, VEC(1, 2, 3));
    lam_add_(inner, VEC(1, 2, 3));
    EXPECT_STATUS(LAM_ERR_SHAPE);
    lam_scope_end(scope, &inner, 1);
    ck_assert(lam_failed(inner) && lam_failed(x) && lam_failed(y));
    size_t bytes = lam_ctx_bytes(ctx);
    lam_drop(y);
    lam_drop(x); /* held: stays until it is released */
    lam_release(x);
    ck_assert_int_eq(lam_ctx_bytes(ctx), bytes);
    EXPECT_OK();
    lam_neg(y);
    EXPECT_STATUS(LAM_ERR_FREED);
    lam_neg(inner);
    EXPECT_STATUS(LAM_ERR_STALE);
}
END_TEST

/* ---- scopes ---------------------------------------------------------------------------------------------------- */

BODY(leaves_scopes_open) {
    lam_scope_begin(ctx);
    lam_scope_begin(ctx);
    out[0] = lam_square(in[0]);
}

BODY(ends_the_callers_scope) {
    lam_scope_end(env, NULL, 0);
    out[0] = in[0];
}

START_TEST(scopes_are_ended_once_and_where_they_began) {
    lam_scope *outer = lam_scope_begin(ctx), *inner = lam_scope_begin(ctx);
    ck_assert_int_eq(lam_scope_end(outer, NULL, 0), LAM_ERR_SCOPE);
    EXPECT_ERROR(LAM_ERR_SCOPE, "still open");
    ck_assert_int_eq(lam_scope_end(inner, NULL, 0), LAM_ERR_SCOPE);
    ck_assert_int_eq(lam_scope_end(outer, NULL, 0), LAM_ERR_SCOPE);
    EXPECT_ERROR(LAM_ERR_SCOPE, "not open");
    apply1(lam_grad(FN(leaves_scopes_open, 1, 1), NULL), num(1));
    EXPECT_ERROR(LAM_ERR_SCOPE, "leaves_scopes_open");
    lam_scope *mine = lam_scope_begin(ctx);
    apply1(FN_ENV(ends_the_callers_scope, 1, 1, mine), num(1));
    EXPECT_ERROR(LAM_ERR_SCOPE, "not open here");
    ck_assert_int_eq(lam_scope_end(mine, NULL, 0), LAM_OK);
}
END_TEST

/* ---- functions ------------------------------------------------------------------------------------------------- */

BODY(frees_itself) {
    lam_fn **self = env;
    if (*self) lam_fn_drop(*self);
    *self = NULL;
    out[0] = lam_square(in[0]);
}

START_TEST(a_function_may_free_itself) {
    lam_tensor *y, *dy, *x = num(3);
    lam_fn *self, *made;
    for (int way = 0; way < 6; way++) {
        lam_fn *f = self = FN_ENV(frees_itself, 1, 1, &self);
        double got = 0;
        if (way == 0) got = lam_item(apply1(f, x)) - 3;
        if (way == 1) got = lam_item(apply1(lam_grad(f, NULL), x));
        if (way == 2) lam_vjp(f, LAM_LIST(x), &y, 1, &made, NULL), got = lam_item(apply1(made, num(1)));
        if (way == 3) lam_jvp(f, LAM_LIST(x), LAM_LIST(num(1)), &y, &dy, 1, NULL), got = lam_item(dy);
        if (way == 4) lam_linearize(f, LAM_LIST(x), &y, 1, &made, NULL), got = lam_item(apply1(made, num(1)));
        if (way == 5) got = lam_check_grads(f, LAM_LIST(x), NULL) == LAM_OK ? 6 : 0;
        ck_assert_msg(got == 6, "way %d: %g: %s", way, got, lam_error(ctx));
        if (way == 1 || way == 2 || way == 4) continue; /* what was made of it keeps it alive */
        lam_apply(f, LAM_LIST(x));
        EXPECT_STATUS(LAM_ERR_FREED);
    }
    lam_fn *f = self = FN_ENV(frees_itself, 1, 1, &self);
    ck_assert(lam_failed(lam_linear_transpose(f, LAM_LIST(x))));
    EXPECT_ERROR(LAM_ERR_LINEAR, "frees_itself");
}
END_TEST

static int envs_freed;

static void count_env(void *env) {
    lam_release(*(lam_tensor **)env);
    envs_freed++;
}

START_TEST(held_functions_end_with_their_context) {
    lam_ctx *real = ctx;
    memory m = {0};
    lam_ctx_options options = memory_options(&m);
    ctx = lam_ctx_new(&options);
    lam_scope *scope = lam_scope_begin(ctx);
    lam_tensor *held = lam_hold(num(1));
    lam_fn *f = lam_fn_new(ctx, &(lam_fn_options){.body = drops_input,
                                                  .inputs = 1,
                                                  .outputs = 1,
                                                  .env = &held,
                                                  .env_free = count_env,
                                                  .captures = LAM_LIST(held)});
    lam_fn_hold(lam_grad(f, NULL));
    lam_fn_hold(lam_vmap(lam_fn_hold(lam_grad(f, NULL)), NULL));
    lam_fn_hold(lam_fn_hold(f));
    lam_scope_end(scope, NULL, 0);
    lam_fn_hold(FN(drops_input, 1, 1));
    envs_freed = 0;
    ck_assert_int_eq(lam_status_of(ctx), LAM_OK);
    lam_ctx_free(ctx);
    ck_assert_int_eq(envs_freed, 1);
    ck_assert_int_eq((int)m.blocks, 0);
    ctx = real;
}
END_TEST

BODY(recurses) {
    int *left = env;
    if ((*left)-- <= 0) {
        out[0] = lam_sin(in[0]);
        return;
    }
    lam_fn *self = FN_ENV(recurses, 1, 1, env);
    out[0] = lam_mul(0.999, apply1(self, in[0]));
}

START_TEST(recursion_of_the_users_is_followed) {
    int left = 500;
    double scale = pow(0.999, left);
    lam_tensor *g = apply1(lam_grad(FN_ENV(recurses, 1, 1, &left), NULL), num(0.5));
    EXPECT_NEAR(g, 1e-12, LAM_DIMS0, scale * cos(0.5));
    left = 1000000;
    ck_assert(lam_failed(apply1(lam_grad(FN_ENV(recurses, 1, 1, &left), NULL), num(0.5))));
    EXPECT_ERROR(LAM_ERR_MEMORY, "stack", "recurses", "levels");
}
END_TEST

/* ---- pullbacks ------------------------------------------------------------------------------------------------- */

BODY(product) {
    out[0] = lam_sum(lam_mul(lam_sin(in[0]), in[1]), NULL);
}

static lam_fn *orphan(void) {
    lam_tensor *y;
    lam_fn *pull;
    lam_scope *scope = lam_scope_begin(ctx);
    lam_vjp(FN(product, 2, 1), LAM_LIST(VEC(1, 2), VEC(3, 4)), &y, 1, &pull, NULL);
    lam_fn_hold(pull);
    lam_scope_end(scope, NULL, 0);
    return pull;
}

BODY(calls_pullback) {
    lam_tensor *g[2];
    lam_call(env, LAM_LIST(lam_square(in[0])), g, 2);
    out[0] = lam_sum(lam_add(g[0], g[1]), NULL);
}

START_TEST(pullbacks_outlive_what_they_came_from) {
    lam_fn *pull = orphan();
    lam_tensor *g[2];
    for (int times = 0; times < 2; times++) {
        lam_call(pull, LAM_LIST(num(2)), g, 2);
        EXPECT_NEAR(g[0], 1e-15, LAM_DIMS(2), 6 * cos(1), 8 * cos(2));
        EXPECT_NEAR(g[1], 1e-15, LAM_DIMS(2), 2 * sin(1), 2 * sin(2));
    }
    double slope = 3 * cos(1) + 4 * cos(2) + sin(1) + sin(2); /* of the sum of both gradients in the cotangent */
    lam_fn *f = FN_ENV(calls_pullback, 1, 1, pull);
    EXPECT_NEAR(apply1(lam_vmap(f, NULL), VEC(1, 2)), 1e-15, LAM_DIMS(2), slope, 4 * slope);
    EXPECT_NEAR(apply1(lam_grad(f, NULL), num(3)), 1e-15, LAM_DIMS0, 6 * slope);
    EXPECT_NEAR(apply1(lam_vmap(lam_grad(f, NULL), NULL), VEC(3, 5)), 1e-15, LAM_DIMS(2), 6 * slope, 10 * slope);
    EXPECT_NEAR(apply1(lam_grad(lam_grad(f, NULL), NULL), num(3)), 1e-15, LAM_DIMS0, 2 * slope);
    EXPECT_NEAR(apply1(lam_hessian(f, NULL), num(3)), 1e-15, LAM_DIMS0, 2 * slope);
    lam_call(pull, LAM_LIST(num(2)), g, 2);
    EXPECT_NEAR(g[1], 1e-15, LAM_DIMS(2), 2 * sin(1), 2 * sin(2));
    lam_fn_release(pull);
    lam_call(pull, LAM_LIST(num(2)), g, 2);
    EXPECT_STATUS(LAM_ERR_FREED);
}
END_TEST

static lam_fn *inner_pull;

BODY(cubic) {
    out[0] = lam_mul(in[0], lam_square(in[0]));
}

BODY(keeps_pullback) {
    lam_tensor *y;
    lam_vjp(FN(cubic, 1, 1), LAM_LIST(in[0]), &y, 1, &inner_pull, NULL);
    lam_fn_hold(inner_pull);
    out[0] = apply1(inner_pull, num(1));
}

START_TEST(a_pullback_of_an_ended_level_says_so) {
    EXPECT_NUM(apply1(lam_grad(FN(keeps_pullback, 1, 1), NULL), num(2)), 12);
    ck_assert(lam_failed(apply1(inner_pull, num(1))));
    EXPECT_ERROR(LAM_ERR_ESCAPED, "vjp");
    lam_fn_release(inner_pull);
    EXPECT(apply1(lam_vmap(FN(keeps_pullback, 1, 1), NULL), VEC(1, 2)), LAM_DIMS(2), 3, 12);
    ck_assert(lam_failed(apply1(inner_pull, num(1))));
    EXPECT_ERROR(LAM_ERR_ESCAPED, "vmap");
    lam_fn_release(inner_pull);
}
END_TEST

/* ---- failures inside ------------------------------------------------------------------------------------------- */

BODY(fails_and_forgets) {
    lam_fail(ctx, LAM_ERR_USER, "lost");
    lam_clear_error(ctx);
    out[0] = lam_square(in[0]);
}

BODY(returns_a_stale_failure) {
    out[0] = lam_fail(ctx, LAM_ERR_USER, "lost");
    lam_clear_error(ctx);
}

START_TEST(failures_cleared_inside) {
    EXPECT_NUM(apply1(lam_grad(FN(fails_and_forgets, 1, 1), NULL), num(2)), 4);
    lam_tensor *y = apply1(lam_grad(FN(returns_a_stale_failure, 1, 1), NULL), num(2));
    ck_assert(lam_failed(y));
    EXPECT_STATUS(LAM_ERR_STALE);
}
END_TEST

/* ---- ranks and depths ------------------------------------------------------------------------------------------ */

BODY(square_sum) {
    out[0] = lam_sum(lam_square(in[0]), NULL);
}

BODY(many_axes) {
    int64_t dims[LAM_MAX_RANK * 2];
    for (int i = 0; i < *(int *)env; i++) dims[i] = 1;
    out[0] = lam_add(lam_reshape(lam_sum(in[0], NULL), (lam_dims){*(int *)env, dims}),
                     lam_broadcast_to(num(1), (lam_dims){*(int *)env, dims}));
}

START_TEST(levels_on_levels_keep_to_the_ranks_there_are) {
    lam_fn *f = FN(square_sum, 1, 1);
    int64_t ones[16] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2};
    for (int i = 0; i < 16; i++) f = lam_vmap(f, NULL);
    lam_tensor *x = lam_reshape(VEC(3, 4), (lam_dims){16, ones});
    EXPECT(lam_reshape(apply1(f, x), LAM_DIMS(2)), LAM_DIMS(2), 9, 16);
    lam_fn *deeper = lam_vmap(f, &(lam_vmap_options){.in_axes = LAM_AXES(LAM_UNMAPPED), .axis_size = 1});
    ck_assert(lam_failed(apply1(deeper, x)));
    EXPECT_STATUS(LAM_ERR_RANK);
    EXPECT(lam_reshape(apply1(lam_grad(FN(square_sum, 1, 1), NULL), x), LAM_DIMS(2)), LAM_DIMS(2), 6, 8);
    EXPECT(lam_reshape(apply1(lam_jacrev(FN(square_sum, 1, 1), NULL), x), LAM_DIMS(2)), LAM_DIMS(2), 6, 8);
    EXPECT(lam_reshape(apply1(lam_jacfwd(FN(square_sum, 1, 1), NULL), x), LAM_DIMS(2)), LAM_DIMS(2), 6, 8);
}
END_TEST

/* A body asks for more axes than the levels above it leave room for. */
START_TEST(axes_never_pass_the_room_inside) {
    lam_tensor *x = MAT(2, 2, 1, 2, 3, 4);
    for (int rank = 14; rank <= 2 * LAM_MAX_RANK; rank++) {
        lam_fn *f = lam_vmap(FN_ENV(many_axes, 1, 1, &rank), NULL);
        lam_tensor *once = apply1(f, x), *twice = apply1(lam_vmap(f, NULL), x);
        ck_assert_int_eq(lam_failed(once), rank > 15);
        ck_assert_int_eq(lam_failed(twice), rank > 14);
        ck_assert(rank <= 14 ? lam_status_of(ctx) == LAM_OK : lam_status_of(ctx) == LAM_ERR_RANK);
        lam_clear_error(ctx);
    }
}
END_TEST

START_TEST(zero_sizes_and_rank_zero_through_all) {
    lam_tensor *none = lam_zeros(ctx, LAM_F64, LAM_DIMS(0)), *rows = lam_zeros(ctx, LAM_F64, LAM_DIMS(0, 3)),
               *narrow = lam_zeros(ctx, LAM_F64, LAM_DIMS(3, 0));
    lam_fn *f = FN(square_sum, 1, 1), *g = lam_grad(f, NULL);
    EXPECT_EMPTY(apply1(g, none), LAM_DIMS(0));
    EXPECT_EMPTY(apply1(lam_vmap(g, NULL), rows), LAM_DIMS(0, 3));
    EXPECT_EMPTY(apply1(lam_vmap(g, &(lam_vmap_options){.chunk_size = 2}), rows), LAM_DIMS(0, 3));
    EXPECT_EMPTY(apply1(lam_vmap(g, NULL), narrow), LAM_DIMS(3, 0));
    EXPECT_EMPTY(apply1(lam_jacfwd(g, NULL), none), LAM_DIMS(0, 0));
    EXPECT_EMPTY(apply1(lam_jacrev(g, NULL), none), LAM_DIMS(0, 0));
    EXPECT_EMPTY(apply1(lam_jacobian(g, &(lam_jacobian_options){.chunk_size = 3}), none), LAM_DIMS(0, 0));
    EXPECT_EMPTY(apply1(lam_hessian(f, NULL), none), LAM_DIMS(0, 0));
    EXPECT_NUM(apply1(lam_hessian(f, NULL), num(7)), 2);
    EXPECT_NUM(apply1(lam_jacobian(lam_checkpoint(g, NULL), NULL), num(7)), 2);
}
END_TEST

/* ---- threads --------------------------------------------------------------------------------------------------- */

BODY(threaded) {
    (void)env;
    out[0] = lam_sum(lam_mul(lam_sin(in[0]), lam_exp(in[0])), NULL);
}

static void *work(void *env) {
    lam_ctx *own = lam_ctx_new(NULL);
    lam_fn *f = lam_fn_new(own, &(lam_fn_options){.name = "threaded", .body = threaded, .inputs = 1, .outputs = 1});
    lam_fn *each = lam_vmap(lam_grad(f, NULL), NULL);
    double sum = 0;
    for (int i = 0; i < 50; i++) {
        lam_scope *scope = lam_scope_begin(own);
        lam_tensor *x = lam_reshape(lam_linspace(own, LAM_F64, 0, 1, 60), LAM_DIMS(6, 10));
        sum += lam_item(lam_sum(lam_apply(each, LAM_LIST(x)), NULL));
        lam_scope_end(scope, NULL, 0);
    }
    *(double *)env = lam_status_of(own) == LAM_OK ? sum : (double)NAN;
    lam_ctx_free(own);
    return NULL;
}

START_TEST(contexts_run_side_by_side) {
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    double sums[THREADS + 1];
    work(&sums[THREADS]);
    ck_assert(sums[THREADS] > 0);
    for (int i = 0; i < THREADS; i++) ck_assert_int_eq(pthread_create(&threads[i], NULL, work, &sums[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        ck_assert(sums[i] == sums[THREADS]);
    }
}
END_TEST

Suite *suite_fuzz_lifecycle(void) {
    return SUITE_OF(
        "fuzz/lifecycle", inputs_are_the_bodys_own, one_tensor_may_be_two_outputs, bodies_that_lose_what_they_return,
        escaped_boxes_are_named_wherever_they_turn_up, poisoned_handles_live_and_end_like_others,
        scopes_are_ended_once_and_where_they_began, a_function_may_free_itself, held_functions_end_with_their_context,
        recursion_of_the_users_is_followed, pullbacks_outlive_what_they_came_from, a_pullback_of_an_ended_level_says_so,
        failures_cleared_inside, levels_on_levels_keep_to_the_ranks_there_are, axes_never_pass_the_room_inside,
        zero_sizes_and_rank_zero_through_all, contexts_run_side_by_side);
}
