/* Contexts: birth with possible and impossible options, what they count, what they refuse, and that they are
 * independent of each other. */
#include "tests/support.h"

#include <pthread.h>
#include <stdlib.h>

/* Every kind of call accepts the failed context and gives failed objects; nothing is written to it (it is const). */
static void use_failed(lam_ctx *failed) {
    ck_assert_int_eq(lam_status_of(failed), LAM_ERR_MEMORY);
    ck_assert_ptr_nonnull(strstr(lam_error(failed), "lam_ctx_new"));
    ck_assert_uint_eq(lam_error_count(failed), 1);
    lam_tensor *x = lam_scalar(failed, 2);
    ck_assert(lam_failed(x));
    ck_assert(lam_failed(lam_mul(lam_sin(x), 2.0)));
    ck_assert(lam_failed(lam_zeros(failed, LAM_F64, LAM_DIMS(3))));
    ck_assert(lam_failed(lam_hold(x)));
    ck_assert(lam_failed(lam_fail(failed, LAM_ERR_USER, "mine")));
    ck_assert(isnan(lam_item(x)));
    ck_assert_int_eq(lam_rank(x), 0);
    lam_fn *f = lam_fn_new(failed, &(lam_fn_options){.name = "f"});
    ck_assert(lam_failed(f));
    ck_assert(lam_failed(lam_grad(f, NULL)));
    ck_assert(lam_failed(lam_vmap(f, NULL)));
    ck_assert(lam_failed(lam_apply(f, LAM_LIST(x))));
    ck_assert_int_eq(lam_scope_end(lam_scope_begin(failed), NULL, 0), LAM_OK);
    lam_clear_error(failed);
    ck_assert_int_eq(lam_status_of(failed), LAM_ERR_MEMORY);
    lam_drop(x);
    lam_ctx_free(failed);
}

START_TEST(impossible_options_give_the_static_failed_context) {
    use_failed(lam_ctx_new(&(lam_ctx_options){.threads = -1}));
    ck_assert_ptr_nonnull(
        strstr(lam_error(lam_ctx_new(&(lam_ctx_options){.threads = -1})), "negative number of threads"));
    lam_ctx_options half = memory_options(&(memory){0});
    half.allocator.release = NULL;
    use_failed(lam_ctx_new(&half));
}
END_TEST

START_TEST(no_memory_at_birth_gives_the_static_failed_context_and_no_leak) {
    for (size_t n = 1;; n++) {
        memory m = {.refuse = n};
        lam_ctx_options options = memory_options(&m);
        lam_ctx *born = lam_ctx_new(&options);
        bool refused = m.requests >= n;
        if (refused) use_failed(born);
        else ck_assert_int_eq(lam_status_of(born), LAM_OK);
        lam_ctx_free(born);
        ck_assert_uint_eq(m.blocks, 0);
        if (!refused) break;
        ck_assert_uint_lt(n, 100);
    }
}
END_TEST

START_TEST(defaults_work_and_freeing_null_does_nothing) {
    lam_ctx *other = lam_ctx_new(NULL);
    ck_assert_int_eq(lam_status_of(other), LAM_OK);
    ck_assert_str_eq(lam_error(other), "");
    ck_assert_uint_eq(lam_error_count(other), 0);
    ck_assert(lam_item(lam_scalar(other, 2.5)) == 2.5);
    lam_ctx_free(other);
    lam_ctx_free(NULL);
    ck_assert_int_eq(lam_status_of(NULL), LAM_ERR_NULL);
    ck_assert_uint_eq(lam_ctx_bytes(NULL), 0);
}
END_TEST

START_TEST(freeing_a_context_releases_whatever_is_alive_in_it) {
    memory m = {0};
    lam_ctx_options options = memory_options(&m);
    lam_ctx *other = lam_ctx_new(&options);
    lam_hold(lam_zeros(other, LAM_F64, LAM_DIMS(1000)));
    lam_scope_begin(other);
    lam_zeros(other, LAM_F32, LAM_DIMS(7, 7));
    lam_scope_begin(other);
    ck_assert_uint_gt(m.bytes, 8000);
    lam_ctx_free(other);
    ck_assert_uint_eq(m.blocks, 0);
}
END_TEST

START_TEST(bytes_rise_and_fall_with_what_is_alive) {
    warm_up();
    size_t before = lam_ctx_bytes(ctx);
    lam_tensor *x = lam_zeros(ctx, LAM_F64, LAM_DIMS(1000));
    size_t with_x = lam_ctx_bytes(ctx);
    ck_assert_uint_ge(with_x, before + 8000);
    lam_ctx_reset_peak(ctx);
    lam_scope *scope = lam_scope_begin(ctx);
    lam_add(x, x);
    lam_scope_end(scope, NULL, 0);
    ck_assert_uint_eq(lam_ctx_bytes(ctx), with_x);
    ck_assert_uint_ge(lam_ctx_peak_bytes(ctx), with_x + 8000);
    lam_ctx_reset_peak(ctx);
    ck_assert_uint_eq(lam_ctx_peak_bytes(ctx), with_x);
    lam_drop(x);
    ck_assert_uint_lt(lam_ctx_bytes(ctx), with_x - 8000 + 64);
}
END_TEST

START_TEST(views_and_aliases_share_storage) {
    lam_tensor *x = lam_zeros(ctx, LAM_F64, LAM_DIMS(100, 100));
    size_t bytes = lam_ctx_bytes(ctx);
    lam_tensor *slice = lam_slice_axis(x, 0, 10, 20);
    lam_transpose(x, (lam_axes){0, NULL});
    lam_broadcast_to(x, LAM_DIMS(50, 100, 100));
    lam_alias(x);
    ck_assert_uint_lt(lam_ctx_bytes(ctx), bytes + 8192);
    lam_drop(x);
    EXPECT(lam_slice(slice, LAM_DIMS(0, 0), LAM_DIMS(1, 2), LAM_DIMS0), LAM_DIMS(1, 2), 0, 0);
}
END_TEST

START_TEST(the_memory_limit_refuses_names_the_numbers_and_leaves_the_context_usable) {
    lam_ctx *real = ctx;
    ctx = lam_ctx_new(&(lam_ctx_options){.memory_limit = 1 << 20});
    lam_tensor *x = lam_ones(ctx, LAM_F64, LAM_DIMS(1000));
    size_t bytes = lam_ctx_bytes(ctx);
    ck_assert(lam_failed(lam_zeros(ctx, LAM_F64, LAM_DIMS(1 << 17))));
    ck_assert_uint_eq(lam_ctx_bytes(ctx), bytes);
    EXPECT_ERROR(LAM_ERR_MEMORY, "zeros: ", "memory limit", "1048576", "remedy");
    ck_assert(lam_failed(lam_empty(ctx, LAM_F64, LAM_DIMS(1 << 17))));
    EXPECT_ERROR(LAM_ERR_MEMORY, "empty: ", "memory limit");
    static const double many[1 << 17];
    ck_assert(lam_failed(lam_array(ctx, LAM_F64, LAM_DIMS(1 << 17), many)));
    EXPECT_ERROR(LAM_ERR_MEMORY, "lam_array: ", "memory limit");
    ck_assert(lam_failed(lam_eye(ctx, LAM_F64, 1000, 1000)));
    EXPECT_ERROR(LAM_ERR_MEMORY, "eye: ");
    ck_assert(lam_failed(lam_linspace(ctx, LAM_F32, 0, 1, 400000)));
    EXPECT_ERROR(LAM_ERR_MEMORY, "linspace: ");
    ck_assert(lam_failed(lam_add(lam_broadcast_to(x, LAM_DIMS(200, 1000)), 1.0)));
    EXPECT_ERROR(LAM_ERR_MEMORY, "add: ", "memory limit", "f64[200, 1000]");
    EXPECT_NUM(lam_sum(x, NULL), 1000);
    ck_assert_uint_le(lam_ctx_peak_bytes(ctx), 1 << 20);
    lam_ctx_free(ctx);
    ctx = real;
}
END_TEST

/* A limit of 1 MiB, of which at least half is free: 600 kB are too many since they are a block of 640 KiB, one of the
 * four sizes between 512 KiB and 1 MiB. */
START_TEST(a_request_that_its_size_class_puts_over_the_limit) {
    lam_ctx *real = ctx;
    ctx = lam_ctx_new(&(lam_ctx_options){.memory_limit = 1 << 20});
    lam_tensor *x = lam_zeros(ctx, LAM_U8, LAM_DIMS(393216)); /* 384 KiB, a size of a block */
    lam_tensor *rest = lam_zeros(ctx, LAM_U8, LAM_DIMS(600000));
    ck_assert_uint_lt(lam_ctx_bytes(ctx) + 600000, 1 << 20);
    ck_assert(lam_failed(rest));
    EXPECT_ERROR(LAM_ERR_MEMORY, "zeros: ", "in a block of 655360", "memory limit", "of 1048576 are in use", "remedy");
    lam_drop(x);
    EXPECT_NUM(lam_sum(lam_zeros(ctx, LAM_U8, LAM_DIMS(600000)), NULL), 0);
    lam_ctx_free(ctx);
    ctx = real;
}
END_TEST

START_TEST(a_size_that_overflows_is_an_error_not_a_small_block) {
    int64_t huge = (int64_t)1 << 40;
    lam_tensor *one = num(1);
    ck_assert(lam_failed(lam_zeros(ctx, LAM_F64, LAM_DIMS(huge, huge))));
    EXPECT_ERROR(LAM_ERR_OVERFLOW, "zeros: ", "f64[1099511627776, 1099511627776]", "overflow", "remedy");
    ck_assert(lam_failed(lam_array(ctx, LAM_F64, LAM_DIMS(huge, huge), &huge)));
    EXPECT_ERROR(LAM_ERR_OVERFLOW, "lam_array", "f64[1099511627776, 1099511627776]");
    int64_t large = (int64_t)1 << (sizeof(size_t) < sizeof(int64_t) ? 20 : 40); /* possible alone */
    ck_assert(
        lam_failed(lam_add(lam_broadcast_to(one, LAM_DIMS(large, 1)), lam_broadcast_to(one, LAM_DIMS(1, large)))));
    const bool narrow = large != huge;
    EXPECT_ERROR(LAM_ERR_OVERFLOW, "add: ", narrow ? "f64[1048576, 1]" : "f64[1099511627776, 1]",
                 narrow ? "f64[1, 1048576]" : "f64[1, 1099511627776]", "remedy");
}
END_TEST

/* Pooled memory: the context hands back what it cached when asked to. (Under a sanitizer nothing is cached, and a
 * dropped tensor's memory is back at once.) */
START_TEST(trim_gives_cached_blocks_back) {
    memory m = {0};
    lam_ctx_options options = memory_options(&m);
    options.plain_memory = false;
    lam_ctx *other = lam_ctx_new(&options);
    lam_tensor *x = lam_zeros(other, LAM_F64, LAM_DIMS(100000));
    size_t full = m.bytes;
    lam_drop(x);
#if SANITIZED
    ck_assert_uint_le(m.bytes, full - 800000);
#else
    ck_assert_uint_eq(m.bytes, full);
#endif
    lam_ctx_trim(other);
    ck_assert_uint_le(m.bytes, full - 800000);
    lam_ctx_free(other);
    ck_assert_uint_eq(m.blocks, 0);
    ck_assert(!m.wrong_size);
}
END_TEST

static void cube_body(lam_ctx *here, lam_tensor *const in[], lam_tensor *out[], void *env) {
    (void)here, (void)env;
    out[0] = lam_mul(in[0], lam_mul(in[0], in[0]));
}

/* d(x^3)/dx = 3 x^2, a thousand times in a context of the thread's own. */
static void *work_alone(void *env) {
    double *x = env;
    lam_ctx *mine = lam_ctx_new(NULL);
    lam_fn *f = lam_fn_new(mine, &(lam_fn_options){.name = "cube", .body = cube_body, .inputs = 1, .outputs = 1});
    lam_fn *g = lam_grad(f, NULL);
    bool right = true;
    for (int i = 0; i < 1000; i++) {
        lam_scope *scope = lam_scope_begin(mine);
        right = right && lam_item(lam_apply(g, LAM_LIST(lam_scalar(mine, *x)))) == 3 * *x * *x;
        lam_scope_end(scope, NULL, 0);
    }
    right = right && lam_status_of(mine) == LAM_OK;
    lam_ctx_free(mine);
    return right ? env : NULL;
}

START_TEST(contexts_run_in_parallel) {
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    double x[THREADS] = {1, 2, 3, 4};
    for (int i = 0; i < THREADS; i++) ck_assert_int_eq(pthread_create(&threads[i], NULL, work_alone, &x[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        void *result = NULL;
        pthread_join(threads[i], &result);
        ck_assert_ptr_eq(result, &x[i]);
    }
}
END_TEST

Suite *suite_base_context(void) {
    return SUITE_OF(
        "base/context", impossible_options_give_the_static_failed_context,
        no_memory_at_birth_gives_the_static_failed_context_and_no_leak, defaults_work_and_freeing_null_does_nothing,
        freeing_a_context_releases_whatever_is_alive_in_it, bytes_rise_and_fall_with_what_is_alive,
        views_and_aliases_share_storage, the_memory_limit_refuses_names_the_numbers_and_leaves_the_context_usable,
        a_request_that_its_size_class_puts_over_the_limit, a_size_that_overflows_is_an_error_not_a_small_block,
        trim_gives_cached_blocks_back, contexts_run_in_parallel);
}
