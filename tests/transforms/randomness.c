/* Draws from the generator of the context under the transforms. What is expected is always a plain draw of the same
 * seed: one with the batch in front, or one for all. */
#include "tests/support.h"

#define DIFFERENT LAM_RANDOMNESS_DIFFERENT
#define SAME      LAM_RANDOMNESS_SAME
#define SEED      UINT64_C(123456789012345)

enum { OUTER = 2, BATCH = 5, SIZE = 3 };

/* A draw of the seed: number 0, or the one after `skip` others. */
static lam_tensor *plain(lam_dims dims, uint64_t skip) {
    lam_ctx_set_random_state(ctx, (lam_random_state){SEED, skip});
    lam_tensor *t = lam_rand(ctx, LAM_F64, dims);
    lam_ctx_seed(ctx, SEED);
    return t;
}

static lam_tensor *ramp(int64_t n) {
    return lam_arange(ctx, LAM_F64, 0, (double)n, 1);
}

BODY(noise) {
    out[0] = lam_rand(ctx, LAM_F64, LAM_DIMS(SIZE));
}

/* Two draws, the second of which has to follow the first. */
BODY(scaled_noise) {
    lam_rand(ctx, LAM_F64, LAM_DIMS0);
    out[0] = lam_mul(in[0], lam_rand(ctx, LAM_F64, LAM_DIMS(SIZE)));
}

static lam_fn *mapped(lam_fn *f, lam_randomness randomness, int64_t chunk) {
    return lam_vmap(f, &(lam_vmap_options){.randomness = randomness, .chunk_size = chunk});
}

/* ---- plain draws ------------------------------------------------------------------------------------------------- */

START_TEST(the_same_seed_gives_the_same_draws) {
    lam_ctx_seed(ctx, 7);
    lam_tensor *first = lam_rand(ctx, LAM_F64, LAM_DIMS(4)), *second = lam_rand(ctx, LAM_F64, LAM_DIMS(4));
    lam_random_state state = lam_ctx_random_state(ctx);
    ck_assert_uint_eq(state.seed, 7);
    ck_assert_uint_eq(state.draws, 2);
    lam_tensor *third = lam_rand(ctx, LAM_F32, LAM_DIMS(4));
    lam_ctx_seed(ctx, 7);
    EXPECT_SAME(lam_rand(ctx, LAM_F64, LAM_DIMS(4)), first, 0);
    EXPECT_SAME(lam_rand(ctx, LAM_F64, LAM_DIMS(4)), second, 0);
    lam_ctx_set_random_state(ctx, state);
    EXPECT_SAME(lam_rand(ctx, LAM_F32, LAM_DIMS(4)), third, 0);
    EXPECT_NUM(lam_any(lam_eq(first, second), NULL), 0);
}
END_TEST

/* The draw of number n of a seed is that of the key made of the seed at counter n: of the seed 42, the keys that
 * jax.random.split(jax.random.key(42)) gives. */
START_TEST(draws_are_those_of_keys) {
    lam_ctx_options options = {.seed = 42};
    lam_ctx *other = lam_ctx_new(&options);
    lam_tensor *keys = lam_split(lam_key(other, 42), 2), *key = lam_index(keys, 0, 0);
    lam_tensor *want = lam_random_uniform(key, LAM_F64, LAM_DIMS(2, 2), NULL);
    lam_tensor *same = lam_all(lam_eq(lam_rand(other, LAM_F64, LAM_DIMS(2, 2)), want), NULL);
    ck_assert(lam_item(same) == 1);
    want = lam_random_randint(lam_index(keys, 0, 1), LAM_I32, LAM_DIMS(5), -3, 9);
    same = lam_all(lam_eq(lam_randint(other, LAM_I32, LAM_DIMS(5), -3, 9), want), NULL);
    ck_assert(lam_item(same) == 1);
    ck_assert_str_eq(lam_error(other), "");
    lam_ctx_free(other);
}
END_TEST

START_TEST(draws_have_the_type_that_is_asked_for) {
    lam_tensor *x = lam_zeros(ctx, LAM_F32, LAM_DIMS(2, 3));
    ck_assert(lam_dtype_of(lam_rand_like(x)) == LAM_F32 &&
              lam_dtype_of(lam_rand_like(lam_zeros(ctx, LAM_I32, LAM_DIMS(2)))) == LAM_F64);
    ck_assert(lam_dtype_of(lam_rand_bernoulli(x)) == LAM_BOOL && lam_size(lam_rand_like(x)) == 6);
    ck_assert(lam_dtype_of(lam_randint(ctx, LAM_U8, LAM_DIMS(0), 0, 2)) == LAM_U8);
    EXPECT_SAME(lam_sort(lam_randperm(ctx, 100), 0), lam_arange(ctx, LAM_I64, 0, 100, 1), 0);
    EXPECT_EMPTY(lam_randperm(ctx, 0), LAM_DIMS(0));
    EXPECT_NUM(lam_any(lam_rand_bernoulli(lam_zeros(ctx, LAM_F64, LAM_DIMS(50))), NULL), 0);
    EXPECT_NUM(lam_all(lam_rand_bernoulli(lam_ones(ctx, LAM_F64, LAM_DIMS(50))), NULL), 1);
    EXPECT_OK();
}
END_TEST

START_TEST(impossible_draws_are_refused) {
    ck_assert(lam_failed(lam_rand(ctx, LAM_I64, LAM_DIMS(2))));
    EXPECT_ERROR(LAM_ERR_DTYPE, "rand", "i64");
    lam_rand(ctx, LAM_F64, LAM_DIMS(-1));
    EXPECT_ERROR(LAM_ERR_VALUE, "rand", "-1");
    lam_rand(ctx, LAM_F64, LAM_DIMS(INT64_MAX, 4));
    EXPECT_ERROR(LAM_ERR_OVERFLOW, "rand: ", "overflows");
    lam_randint(ctx, LAM_I64, LAM_DIMS(2), 3, 3);
    EXPECT_ERROR(LAM_ERR_VALUE, "randint", "[3, 3)");
    lam_randint(ctx, LAM_U8, LAM_DIMS(2), 0, 257);
    EXPECT_ERROR(LAM_ERR_VALUE, "randint", "u8");
    lam_randperm(ctx, -1);
    EXPECT_ERROR(LAM_ERR_VALUE, "randperm");
    lam_randperm(ctx, INT64_MAX / 4);
    EXPECT_ERROR(LAM_ERR_OVERFLOW, "randperm: ", "overflows");
    lam_rand_bernoulli(VEC(0.5, 1.5));
    EXPECT_ERROR(LAM_ERR_VALUE, "rand_bernoulli", "1.5");
    ck_assert(lam_failed(lam_rand(NULL, LAM_F64, LAM_DIMS(2))) && lam_failed(lam_rand_like(NULL)));
    lam_ctx *none = lam_ctx_new(&(lam_ctx_options){.threads = -1});
    lam_ctx_seed(none, 3);
    ck_assert(lam_failed(lam_rand(none, LAM_F64, LAM_DIMS(2))) && lam_ctx_random_state(none).seed == 0);
    ck_assert(lam_failed(lam_randperm(none, 2)) && lam_failed(lam_rand_key(none)));
    ck_assert(lam_failed(lam_randint(none, LAM_I64, LAM_DIMS(2), 0, 2)));
}
END_TEST

/* ---- vmap -------------------------------------------------------------------------------------------------------- */

START_TEST(an_error_is_the_default_and_names_the_remedy) {
    ck_assert(lam_failed(apply1(lam_vmap(FN(noise, 1, 1), NULL), ramp(BATCH))));
    EXPECT_ERROR(LAM_ERR_OPTION, "rand", "noise", "vmap(size 5)", "LAM_RANDOMNESS_DIFFERENT", "LAM_RANDOMNESS_SAME");
}
END_TEST

START_TEST(different_is_one_draw_with_the_batch_in_front) {
    lam_tensor *want = plain(LAM_DIMS(BATCH, SIZE), 0);
    EXPECT_SAME(apply1(mapped(FN(noise, 1, 1), DIFFERENT, 0), ramp(BATCH)), want, 0);
    lam_tensor *after = lam_rand(ctx, LAM_F64, LAM_DIMS(2));
    EXPECT_SAME(after, plain(LAM_DIMS(2), 1), 0);
}
END_TEST

START_TEST(same_is_one_draw_for_all) {
    lam_tensor *want = plain(LAM_DIMS(SIZE), 0);
    lam_vmap_options options = {.randomness = SAME, .out_axes = LAM_AXES(LAM_UNMAPPED)};
    EXPECT_SAME(apply1(lam_vmap(FN(noise, 1, 1), &options), ramp(BATCH)), want, 0);
    lam_ctx_seed(ctx, SEED);
    lam_tensor *all = apply1(mapped(FN(noise, 1, 1), SAME, 0), ramp(BATCH));
    EXPECT_SAME(all, lam_broadcast_to(want, LAM_DIMS(BATCH, SIZE)), 0);
}
END_TEST

/* Chunks of 1, 2, ... and one that is larger than the batch. */
START_TEST(chunks_see_the_draws_of_the_whole) {
    for (int same = 0; same < 2; same++) {
        lam_fn *f = FN(scaled_noise, 1, 1);
        lam_ctx_seed(ctx, SEED);
        lam_tensor *want = apply1(mapped(f, same ? SAME : DIFFERENT, 0), ramp(BATCH));
        lam_random_state after = lam_ctx_random_state(ctx);
        lam_ctx_seed(ctx, SEED);
        EXPECT_SAME(apply1(mapped(f, same ? SAME : DIFFERENT, _i), ramp(BATCH)), want, 0);
        ck_assert_uint_eq(lam_ctx_random_state(ctx).draws, after.draws);
    }
}
END_TEST

/* The innermost level decides first, what it wants goes on to the next. */
START_TEST(nested_levels_decide_from_the_innermost_on) {
    static const struct {
        lam_randomness inner, outer;
    } modes[] = {{DIFFERENT, DIFFERENT}, {SAME, DIFFERENT}, {DIFFERENT, SAME}, {SAME, SAME}};
    bool in = modes[_i % 4].inner == DIFFERENT, out = modes[_i % 4].outer == DIFFERENT;
    int chunk = _i / 4;
    lam_fn *inner = mapped(FN(noise, 1, 1), modes[_i % 4].inner, 2 * chunk),
           *f = mapped(inner, modes[_i % 4].outer, chunk);
    lam_tensor *want = plain(LAM_DIMS(out ? OUTER : 1, in ? BATCH : 1, SIZE), 0);
    lam_tensor *got = apply1(f, lam_zeros(ctx, LAM_F64, LAM_DIMS(OUTER, BATCH)));
    EXPECT_SAME(got, lam_broadcast_to(want, LAM_DIMS(OUTER, BATCH, SIZE)), 0);
}
END_TEST

START_TEST(an_outer_level_may_refuse) {
    lam_fn *f = lam_vmap(mapped(FN(noise, 1, 1), SAME, 0), NULL);
    ck_assert(lam_failed(apply1(f, lam_zeros(ctx, LAM_F64, LAM_DIMS(OUTER, BATCH)))));
    EXPECT_ERROR(LAM_ERR_OPTION, "rand", "LAM_RANDOMNESS_ERROR");
}
END_TEST

BODY(coins) {
    out[0] = lam_rand_bernoulli(in[0]);
}

/* As many levels as there are axes inside, and one more. */
START_TEST(too_many_levels_are_refused) {
    lam_fn *f = FN(noise, 1, 1);
    lam_vmap_options options = {.in_axes = LAM_AXES(LAM_UNMAPPED), .axis_size = 1, .randomness = DIFFERENT};
    for (int i = 0; i < 40; i++) f = lam_vmap(f, &options);
    ck_assert(lam_failed(apply1(f, num(1))));
    EXPECT_STATUS(LAM_ERR_RANK);
}
END_TEST

START_TEST(batched_parameters_meet_draws_of_their_level) {
    lam_tensor *p = MAT(4, 2, 0.1, 0.9, 0.5, 0.5, 0.3, 0.7, 0.8, 0.2);
    lam_tensor *each = lam_lt(plain(LAM_DIMS(4, 2), 0), p), *shared = lam_lt(plain(LAM_DIMS(2), 0), p);
    EXPECT_SAME(apply1(mapped(FN(coins, 1, 1), DIFFERENT, 0), p), each, 0);
    lam_ctx_seed(ctx, SEED);
    EXPECT_SAME(apply1(mapped(FN(coins, 1, 1), SAME, 0), p), shared, 0);
    lam_ctx_seed(ctx, SEED);
    lam_vmap_options columns = {.in_axes = LAM_AXES(1), .out_axes = LAM_AXES(1), .randomness = SAME};
    EXPECT_SAME(apply1(lam_vmap(FN(coins, 1, 1), &columns), p), lam_lt(lam_expand_dims(plain(LAM_DIMS(4), 0), 1), p),
                0);
}
END_TEST

BODY(around_mean) {
    out[0] = lam_sum(lam_rand_normal(in[0], in[1]), NULL);
}

/* mean + scale z with z drawn once for all or for each: by mean 1, by scale z. */
START_TEST(normal_samples_around_batched_means) {
    lam_tensor *mean = MAT(4, 2, 1, 2, 3, 4, 5, 6, 7, 8), *scale = VEC(0.5, 2), *got[2];
    lam_fn *f = lam_grad(FN(around_mean, 2, 1), &(lam_grad_options){.argnums = LAM_AXES(0, 1)});
    for (int same = 0; same < 2; same++) {
        lam_ctx_seed(ctx, SEED);
        lam_tensor *z = lam_randn(ctx, LAM_F64, same ? LAM_DIMS(1, 2) : LAM_DIMS(4, 2));
        lam_ctx_seed(ctx, SEED);
        lam_vmap_options o = {
            .in_axes = LAM_AXES(0, LAM_UNMAPPED), .randomness = same ? SAME : DIFFERENT, .chunk_size = 3};
        lam_call(lam_vmap(f, &o), LAM_LIST(mean, scale), got, 2);
        EXPECT_SAME(got[0], lam_ones(ctx, LAM_F64, LAM_DIMS(4, 2)), 0);
        EXPECT_SAME(got[1], lam_broadcast_to(z, LAM_DIMS(4, 2)), 0);
    }
    ck_assert(lam_dtype_of(lam_randn_like(lam_zeros(ctx, LAM_F32, LAM_DIMS(2)))) == LAM_F32);
    ck_assert(lam_failed(lam_rand_normal(mean, VEC(1, -1))));
    EXPECT_ERROR(LAM_ERR_VALUE, "rand_normal", "scale", "-1");
    ck_assert(lam_failed(lam_rand_normal(mean, VEC(1, 1, 1))));
    EXPECT_STATUS(LAM_ERR_SHAPE);
}
END_TEST

BODY(several) {
    out[0] = lam_randperm(ctx, 6);
    out[1] = lam_randint(ctx, LAM_I64, LAM_DIMS(2), 0, 1000000);
    out[2] = lam_random_uniform(lam_rand_key(ctx), LAM_F64, LAM_DIMS(2), NULL);
    out[3] = lam_rand_like(in[0]);
}

START_TEST(each_kind_of_draw_differs_by_example) {
    lam_tensor *got[4];
    lam_call(mapped(FN(several, 1, 4), DIFFERENT, 3), LAM_LIST(lam_zeros(ctx, LAM_F64, LAM_DIMS(BATCH, 2))), got, 4);
    lam_tensor *order = lam_broadcast_to(lam_arange(ctx, LAM_I64, 0, 6, 1), LAM_DIMS(BATCH, 6));
    EXPECT_SAME(lam_sort(got[0], 1), order, 0);
    for (int i = 0; i < 4; i++) {
        lam_tensor *first = lam_slice_axis(got[i], 0, 0, 1), *rest = lam_slice_axis(got[i], 0, 1, LAM_END);
        lam_tensor *alike = lam_all(lam_eq(first, rest), &(lam_reduce_options){.axes = LAM_AXES(1)});
        EXPECT_NUM(lam_any(alike, NULL), 0);
    }
    EXPECT_OK();
}
END_TEST

/* ---- derivatives ------------------------------------------------------------------------------------------------- */

BODY(total) {
    out[0] = lam_sum(lam_mul(lam_square(in[0]), lam_rand(ctx, LAM_F64, LAM_DIMS(SIZE))), NULL);
}

/* d/dx of the sum of x^2 r is 2 x r. */
START_TEST(draws_are_constants_of_derivatives) {
    lam_tensor *x = VEC(1, 2, 3), *want = lam_mul(lam_mul(2.0, x), plain(LAM_DIMS(SIZE), 0));
    EXPECT_SAME(apply1(lam_grad(FN(total, 1, 1), NULL), x), want, 0);
    lam_tensor *rows = lam_stack(LAM_LIST(x, x), 0), *each = lam_mul(lam_mul(2.0, rows), plain(LAM_DIMS(2, SIZE), 0));
    EXPECT_SAME(apply1(mapped(lam_grad(FN(total, 1, 1), NULL), DIFFERENT, 0), rows), each, 0);
    lam_ctx_seed(ctx, SEED);
    lam_tensor *second = apply1(lam_hessian(FN(total, 1, 1), &(lam_jacobian_options){.randomness = SAME}), x);
    EXPECT_SAME(lam_diagonal(second, 0, 0, 1), lam_mul(2.0, plain(LAM_DIMS(SIZE), 0)), 0);
    ck_assert(lam_check_grads(FN(total, 1, 1), LAM_LIST(x), &(lam_check_grads_options){.order = 2}) == LAM_OK);
}
END_TEST

BODY(products) {
    out[0] = lam_mul(in[0], lam_rand(ctx, LAM_F64, LAM_DIMS(SIZE)));
}

/* Forward mode runs the function inside vmap, reverse mode does not. */
START_TEST(jacobians_of_a_function_that_draws) {
    lam_tensor *x = VEC(1, 2, 3), *want = plain(LAM_DIMS(SIZE), 0);
    lam_fn *f = FN(products, 1, 1);
    EXPECT_SAME(lam_diagonal(apply1(lam_jacrev(f, NULL), x), 0, 0, 1), want, 0);
    for (int64_t chunk = 0; chunk < 4; chunk++) {
        lam_ctx_seed(ctx, SEED);
        lam_tensor *J = apply1(lam_jacfwd(f, &(lam_jacobian_options){.randomness = SAME, .chunk_size = chunk}), x);
        EXPECT_SAME(lam_diagonal(J, 0, 0, 1), want, 0);
        ck_assert_uint_eq(lam_ctx_random_state(ctx).draws, 1);
        ck_assert(lam_failed(apply1(lam_jacfwd(f, &(lam_jacobian_options){.chunk_size = chunk}), x)));
        EXPECT_ERROR(LAM_ERR_OPTION, "LAM_RANDOMNESS_ERROR");
    }
}
END_TEST

/* One draw is made when the function is linearised, and none by the linear function. */
START_TEST(linear_functions_keep_what_was_drawn) {
    lam_tensor *x = VEC(1, 2, 3), *dx = VEC(3, -1, 2), *y[1], *dy[1], *r = plain(LAM_DIMS(SIZE), 0);
    lam_fn *linear, *f = FN(products, 1, 1);
    lam_linearize(f, LAM_LIST(x), y, 1, &linear, NULL);
    EXPECT_SAME(y[0], lam_mul(x, r), 0);
    for (int i = 0; i < 2; i++) {
        lam_call(linear, LAM_LIST(dx), dy, 1);
        EXPECT_SAME(dy[0], lam_mul(dx, r), 0);
    }
    ck_assert_uint_eq(lam_ctx_random_state(ctx).draws, 1);
    lam_ctx_seed(ctx, SEED);
    EXPECT_SAME(apply1(lam_linear_transpose(f, LAM_LIST(x)), dx), lam_mul(dx, r), 0);
}
END_TEST

/* ---- checkpoint -------------------------------------------------------------------------------------------------- */

BODY(layer) {
    out[0] = lam_mul(lam_sin(in[0]), lam_rand(ctx, LAM_F64, LAM_DIMS(SIZE)));
}

BODY(two_layers) {
    lam_fn *f = env ? lam_checkpoint(FN(layer, 1, 1), NULL) : FN(layer, 1, 1);
    out[0] = lam_sum(apply1(f, apply1(f, in[0])), NULL);
}

/* Gradients, second derivatives and what is drawn afterwards are those of the plain function. */
START_TEST(checkpoint_draws_the_same_again) {
    lam_tensor *x = VEC(1, 2, 3), *got[2][4];
    lam_tensor *rows = lam_stack(LAM_LIST(x, lam_mul(2.0, x), lam_neg(x)), 0);
    for (int with = 0; with < 2; with++) {
        lam_fn *f = FN_ENV(two_layers, 1, 1, with ? ctx : NULL);
        if (with) f = lam_checkpoint(f, NULL);
        lam_ctx_seed(ctx, SEED);
        got[with][0] = apply1(lam_grad(f, NULL), x);
        got[with][1] = apply1(lam_hessian(f, &(lam_jacobian_options){.randomness = SAME}), x);
        got[with][2] = apply1(mapped(lam_grad(f, NULL), DIFFERENT, 2), rows);
        got[with][3] = lam_rand(ctx, LAM_F64, LAM_DIMS(2));
    }
    for (int i = 0; i < 4; i++) EXPECT_SAME(got[1][i], got[0][i], 1e-15);
}
END_TEST

/* ---- custom Functions -------------------------------------------------------------------------------------------- */

/* x times noise, which is saved for the way back. */
static void forward_noisy(lam_fctx *fc, lam_tensor *const in[], lam_tensor *out[]) {
    lam_tensor *r = lam_rand_like(in[0]);
    lam_fctx_save_for_backward(fc, LAM_LIST(r));
    out[0] = lam_mul(in[0], r);
}

static void backward_noisy(lam_fctx *fc, lam_tensor *const grad_out[], lam_tensor *grad_in[]) {
    grad_in[0] = lam_mul(grad_out[0], lam_fctx_saved(fc, 0));
}

static const lam_function noisy = {
    .name = "noisy", .inputs = 1, .outputs = 1, .forward = forward_noisy, .backward = backward_noisy};

BODY(noisy_sum) {
    lam_tensor *y;
    lam_function_apply(ctx, &noisy, NULL, LAM_LIST(in[0]), &y, 1);
    out[0] = lam_sum(y, NULL);
}

/* Forward runs twice where two derivative levels are open; both see one noise. */
START_TEST(a_function_saves_the_noise_that_it_used) {
    lam_tensor *x = VEC(1, 2, 3), *r = plain(LAM_DIMS(SIZE), 0), *y[1], *dy[1];
    EXPECT_SAME(apply1(lam_grad(FN(noisy_sum, 1, 1), NULL), x), r, 0);
    lam_ctx_seed(ctx, SEED);
    lam_tensor *rows = lam_stack(LAM_LIST(x, x), 0), *each = plain(LAM_DIMS(2, SIZE), 0);
    EXPECT_SAME(apply1(mapped(lam_grad(FN(noisy_sum, 1, 1), NULL), DIFFERENT, 1), rows), each, 0);
    lam_ctx_seed(ctx, SEED);
    lam_jvp(lam_grad(FN(noisy_sum, 1, 1), NULL), LAM_LIST(x), LAM_LIST(x), y, dy, 1, NULL);
    EXPECT_SAME(y[0], r, 0);
    ck_assert_uint_eq(lam_ctx_random_state(ctx).draws, 1);
}
END_TEST

BODY(noisy_of_captured) {
    lam_tensor *x = env, *y;
    lam_function_apply(ctx, &noisy, NULL, LAM_LIST(x), &y, 1);
    out[0] = lam_mul(in[0], lam_sum(y, NULL));
}

static lam_randomness inner_mode, outer_mode;

BODY(maps_inside) {
    out[0] = lam_sum(apply1(mapped(FN_ENV(noisy_of_captured, 1, 1, in[0]), inner_mode, 0), VEC(1, 10)), NULL);
}

/* The operand belongs to a level below vmap, so that the Function passes by vmap: not if it draws. For the sum of
 * c_k x_i r_ki over examples k with c = (1, 10), the gradient is the sum of c_k r_k. */
START_TEST(a_function_of_unbatched_operands_that_draws_is_batched) {
    lam_tensor *x = VEC(1, 2, 3), *each = plain(LAM_DIMS(2, SIZE), 0), *r = plain(LAM_DIMS(SIZE), 0);
    lam_tensor *want = lam_add(lam_index(each, 0, 0), lam_mul(10.0, lam_index(each, 0, 1)));
    lam_fn *f = lam_grad(FN(maps_inside, 1, 1), NULL);
    inner_mode = DIFFERENT;
    EXPECT_SAME(apply1(f, x), want, 1e-15);
    lam_ctx_seed(ctx, SEED);
    inner_mode = SAME;
    EXPECT_SAME(apply1(f, x), lam_mul(11.0, r), 1e-15);
    inner_mode = LAM_RANDOMNESS_ERROR;
    ck_assert(lam_failed(apply1(f, x)));
    EXPECT_ERROR(LAM_ERR_OPTION, "noisy", "LAM_RANDOMNESS_ERROR");
}
END_TEST

BODY(maps_scaled) {
    lam_tensor *each = apply1(mapped(FN_ENV(noisy_of_captured, 1, 1, env), inner_mode, 0), VEC(1, 10));
    out[0] = lam_mul(in[0], lam_sum(each, NULL));
}

BODY(maps_in_maps) {
    out[0] = lam_sum(apply1(mapped(FN_ENV(maps_scaled, 1, 1, in[0]), outer_mode, 0), VEC(1, 100)), NULL);
}

/* Two levels that the Function passes by: the inner one asks the outer one for its part of the draw, which is then not
 * asked again. The gradient is the sum of c_k d_l r_lk with d = (1, 100). */
START_TEST(a_function_that_draws_below_two_levels_is_batched_once) {
    inner_mode = _i % 2 ? SAME : DIFFERENT;
    outer_mode = _i / 2 ? SAME : DIFFERENT;
    lam_tensor *r = plain(LAM_DIMS(_i / 2 ? 1 : 2, _i % 2 ? 1 : 2, SIZE), 0);
    lam_tensor *factors = lam_reshape(VEC(1, 10, 100, 1000), LAM_DIMS(2, 2, 1));
    lam_tensor *want = lam_sum(lam_mul(factors, r), &(lam_reduce_options){.axes = LAM_AXES(0, 1)});
    EXPECT_SAME(apply1(lam_grad(FN(maps_in_maps, 1, 1), NULL), VEC(1, 2, 3)), want, 1e-12);
}
END_TEST

static void forward_foreign(lam_fctx *fc, lam_tensor *const in[], lam_tensor *out[]) {
    (void)fc;
    out[0] = lam_add(in[0], lam_rand(ctx, LAM_F64, LAM_DIMS(SIZE)));
}

static const lam_function foreign = {
    .name = "foreign", .inputs = 1, .outputs = 1, .forward = forward_foreign, .vmap_by_loop = true};

BODY(looped) {
    lam_function_apply(ctx, &foreign, NULL, LAM_LIST(in[0]), out, 1);
}

/* Example by example: the same for all, or other ones for each, which chunks do not change. */
START_TEST(a_function_batched_by_a_loop_draws_as_asked) {
    lam_tensor *zeros = lam_zeros(ctx, LAM_F64, LAM_DIMS(BATCH)), *got[2];
    lam_ctx_seed(ctx, SEED);
    lam_tensor *same = apply1(mapped(FN(looped, 1, 1), SAME, 2), zeros);
    EXPECT_SAME(same, lam_broadcast_to(lam_slice_axis(same, 0, 0, 1), LAM_DIMS(BATCH, SIZE)), 0);
    for (int i = 0; i < 2; i++) {
        lam_ctx_seed(ctx, SEED);
        got[i] = apply1(mapped(FN(looped, 1, 1), DIFFERENT, 2 * i), zeros);
    }
    EXPECT_SAME(got[0], got[1], 0);
    lam_tensor *first = lam_slice_axis(got[0], 0, 0, 1), *rest = lam_slice_axis(got[0], 0, 1, LAM_END);
    EXPECT_NUM(lam_any(lam_eq(first, rest), NULL), 0);
    ck_assert(lam_failed(apply1(mapped(FN(looped, 1, 1), LAM_RANDOMNESS_ERROR, 0), zeros)));
    EXPECT_ERROR(LAM_ERR_OPTION, "foreign", "LAM_RANDOMNESS_ERROR");
}
END_TEST

/* ---- memory ------------------------------------------------------------------------------------------------------ */

/* Draws of every kind, below vmap, in chunks, again for a checkpoint and for a Function. True if all was made. */
static bool scenario(void) {
    lam_scope *scope = lam_scope_begin(ctx);
    lam_tensor *x = VEC(1, 2, 3), *rows = lam_stack(LAM_LIST(x, x, x), 0), *got[4];
    lam_call(mapped(FN(several, 1, 4), DIFFERENT, 2), LAM_LIST(rows), got, 4);
    lam_fn *f = lam_checkpoint(FN_ENV(two_layers, 1, 1, ctx), NULL);
    apply1(mapped(lam_grad(f, NULL), DIFFERENT, 2), rows);
    apply1(mapped(lam_grad(FN(noisy_sum, 1, 1), NULL), SAME, 0), rows);
    inner_mode = DIFFERENT;
    apply1(lam_grad(FN(maps_inside, 1, 1), NULL), x);
    apply1(mapped(FN(looped, 1, 1), DIFFERENT, 0), lam_sum(rows, &(lam_reduce_options){.axes = LAM_AXES(1)}));
    lam_scope_end(scope, NULL, 0);
    return scope && lam_status_of(ctx) == LAM_OK;
}

START_TEST(every_request_for_memory_refused) {
    lam_ctx *outside = ctx;
    bool reached = true, from_then_on = _i;
    for (size_t refuse = 1; reached; refuse++) {
        memory m = {.refuse = refuse, .from_then_on = from_then_on};
        lam_ctx_options options = memory_options(&m);
        ctx = lam_ctx_new(&options);
        bool born = lam_status_of(ctx) == LAM_OK, made = scenario();
        lam_status status = lam_status_of(ctx);
        reached = m.requests >= refuse;
        m.refuse = 0;
        lam_clear_error(ctx);
        bool works = !born || scenario();
        lam_ctx_free(ctx);
        ctx = outside;
        ck_assert_msg(status == (made ? LAM_OK : LAM_ERR_MEMORY), "request %zu: %s", refuse, lam_status_name(status));
        ck_assert_msg(works && m.blocks == 0 && !m.wrong_size, "request %zu: %zu blocks", refuse, m.blocks);
    }
}
END_TEST

Suite *suite_transforms_randomness(void) {
    Suite *suite = SUITE_OF(
        "transforms/randomness", the_same_seed_gives_the_same_draws, draws_are_those_of_keys,
        draws_have_the_type_that_is_asked_for, impossible_draws_are_refused,
        an_error_is_the_default_and_names_the_remedy, different_is_one_draw_with_the_batch_in_front,
        same_is_one_draw_for_all, an_outer_level_may_refuse, too_many_levels_are_refused,
        batched_parameters_meet_draws_of_their_level, normal_samples_around_batched_means,
        each_kind_of_draw_differs_by_example, draws_are_constants_of_derivatives, jacobians_of_a_function_that_draws,
        linear_functions_keep_what_was_drawn, checkpoint_draws_the_same_again, a_function_saves_the_noise_that_it_used,
        a_function_of_unbatched_operands_that_draws_is_batched, a_function_batched_by_a_loop_draws_as_asked);
    suite_loop(suite, every_request_for_memory_refused, 2);
    suite_loop(suite, a_function_that_draws_below_two_levels_is_batched_once, 4);
    suite_loop(suite, chunks_see_the_draws_of_the_whole, BATCH + 2);
    suite_loop(suite, nested_levels_decide_from_the_innermost_on, 8);
    return suite;
}
