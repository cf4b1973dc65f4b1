/* Functions and rules that draw from the context's generator. Whoever runs one again for a derivative sees the draws of
 * the first run: f(x) = x r has the slope r, with the r that is in its value, and is one draw, as it is without a
 * derivative. Expected values are plain draws of the same seed. */
#include "tests/custom/callbacks.h"

enum { SIZE = 2, ROWS = 3, SEED = 7 };

BODY(noise) {
    out[0] = lam_mul(in[0], lam_rand(ctx, LAM_F64, LAM_DIMS(SIZE)));
}

BODY(noise_and_tangent) {
    lam_tensor *r = lam_rand(ctx, LAM_F64, LAM_DIMS(SIZE));
    out[0] = lam_mul(in[0], r);
    out[1] = lam_mul(in[1], r);
}

FORWARD(noise_of) {
    (void)fc;
    noise(ctx, in, out, NULL);
}

static const lam_function linear = {
    .name = "linear", .inputs = 1, .outputs = 1, .forward = noise_of, .is_linear = true};

BODY(by_function) {
    lam_function_apply(ctx, &linear, NULL, LAM_LIST(in[0]), out, 1);
}

static void no_batch(lam_ctx *c, const lam_vmap_info *info, const bool mapped[], lam_tensor *const in[],
                     lam_tensor *out[], bool out_mapped[], void *env) {
    (void)info, (void)mapped, (void)in, (void)out_mapped, (void)env;
    out[0] = lam_fail(c, LAM_ERR_USER, "nobody batches it here");
}

/* x r: by a rule in forward mode, as a linear Function, and, without batches, with a batching rule. */
enum { RULE, LINEAR, BATCHED, KINDS };
static lam_fn *kind(int k) {
    lam_fn *f = FN(noise, 1, 1);
    if (k == RULE) return lam_custom_jvp(f, FN(noise_and_tangent, 2, 2), NULL);
    return k == LINEAR ? FN(by_function, 1, 1) : lam_custom_vmap(f, no_batch, NULL);
}

BODY(total) {
    out[0] = lam_sum(apply1(env, in[0]), NULL);
}

static lam_tensor *drawn(lam_dims dims) {
    lam_ctx_seed(ctx, SEED);
    lam_tensor *r = lam_rand(ctx, LAM_F64, dims);
    lam_ctx_seed(ctx, SEED);
    return r;
}

static void expect_one_draw(void) {
    ck_assert_uint_eq(lam_ctx_random_state(ctx).draws, 1);
}

START_TEST(a_slope_has_the_draw_of_its_value) {
    lam_tensor *r = drawn(LAM_DIMS(SIZE)), *x = lam_ones_like(r), *y[2], *t;
    lam_fn *f = kind(_i), *linear_part;
    lam_call(lam_value_and_grad(FN_ENV(total, 1, 1, f), NULL), LAM_LIST(x), y, 2);
    EXPECT_SAME(y[0], lam_sum(r, NULL), 0);
    EXPECT_SAME(y[1], r, 0);
    expect_one_draw();
    lam_ctx_seed(ctx, SEED);
    lam_jvp(f, LAM_LIST(x), LAM_LIST(x), y, &t, 1, NULL);
    EXPECT_SAME(y[0], r, 0);
    EXPECT_SAME(t, r, 0);
    expect_one_draw();
    lam_ctx_seed(ctx, SEED);
    lam_linearize(f, LAM_LIST(x), y, 1, &linear_part, NULL);
    EXPECT_SAME(apply1(linear_part, x), r, 0);
}
END_TEST

BODY(mapped_same) {
    out[0] = apply1(lam_vmap(env, &(lam_vmap_options){.randomness = LAM_RANDOMNESS_SAME}), in[0]);
}

START_TEST(in_batches_too) {
    const lam_vmap_options different = {.randomness = LAM_RANDOMNESS_DIFFERENT};
    lam_tensor *r = drawn(LAM_DIMS(ROWS, SIZE)), *x = lam_ones_like(r), *y, *t;
    lam_fn *f = kind(_i), *same = FN_ENV(mapped_same, 1, 1, f);
    EXPECT_SAME(apply1(lam_vmap(lam_grad(FN_ENV(total, 1, 1, f), NULL), &different), x), r, 0);
    expect_one_draw();
    lam_tensor *one = lam_broadcast_to(drawn(LAM_DIMS(SIZE)), LAM_DIMS(ROWS, SIZE));
    EXPECT_SAME(apply1(lam_grad(FN_ENV(total, 1, 1, same), NULL), x), one, 0);
    expect_one_draw();
    lam_ctx_seed(ctx, SEED);
    lam_jvp(same, LAM_LIST(x), LAM_LIST(x), &y, &t, 1, NULL);
    EXPECT_SAME(y, one, 0);
    EXPECT_SAME(t, one, 0);
    expect_one_draw();
}
END_TEST

FORWARD(noise_saved) {
    lam_tensor *r = lam_rand(ctx, LAM_F64, LAM_DIMS(SIZE));
    out[0] = lam_mul(in[0], r);
    lam_fctx_save_for_backward(fc, LAM_LIST(r));
}

BACKWARD(times_noise) {
    gx[0] = lam_mul(g[0], lam_fctx_saved(fc, 0));
}

static const lam_function looped = {
    .name = "looped", .inputs = 1, .outputs = 1, .forward = noise_saved, .backward = times_noise, .vmap_by_loop = true};

BODY(total_and_noise) {
    lam_function_apply(ctx, &looped, NULL, LAM_LIST(in[0]), &out[1], 1);
    out[0] = lam_sum(out[1], NULL);
}

/* Whatever it is that is drawn, the slope at 1 is the value. */
START_TEST(a_function_in_a_loop_saves_what_it_has_used) {
    const lam_vmap_options options[] = {{.randomness = LAM_RANDOMNESS_SAME}, {.randomness = LAM_RANDOMNESS_DIFFERENT}};
    lam_fn *slope = lam_grad(FN(total_and_noise, 1, 2), &(lam_grad_options){.has_aux = 1});
    for (int i = 0; i < 2; i++) {
        lam_tensor *out[2];
        lam_call(lam_vmap(slope, &options[i]), LAM_LIST(lam_ones(ctx, LAM_F64, LAM_DIMS(ROWS, SIZE))), out, 2);
        EXPECT_SAME(out[0], out[1], 0);
    }
}
END_TEST

Suite *suite_custom_draws(void) {
    Suite *suite = SUITE_OF("custom/draws", a_function_in_a_loop_saves_what_it_has_used);
    suite_loop(suite, a_slope_has_the_draw_of_its_value, KINDS);
    suite_loop(suite, in_batches_too, BATCHED);
    return suite;
}
