/* Draws from the generator of the context in control flow: which of a batch an example gets where some have ended, and
 * where there are no trips; and below more levels than a draw can have axes. What is expected is always a plain draw of
 * the same seed. */
#include "tests/support.h"

#define DIFFERENT LAM_RANDOMNESS_DIFFERENT
#define SEED      UINT64_C(7)

enum { BATCH = 6, TRIPS = 3 };

static lam_fn *mapped(lam_fn *f, lam_randomness randomness, int64_t chunk) {
    return lam_vmap(f, &(lam_vmap_options){.randomness = randomness, .chunk_size = chunk});
}

/* ---- of those at work -------------------------------------------------------------------------------------------- */

BODY(below_three) {
    out[0] = lam_lt(in[0], (double)TRIPS);
}

/* A tenth of what there was, and a draw: all draws of an example have a part in it. */
BODY(next_draw) {
    out[0] = lam_add(in[0], 1.0);
    out[1] = lam_add(lam_mul(in[1], 0.125), lam_rand(ctx, LAM_F64, LAM_DIMS0));
}

/* TRIPS less in[0] trips. */
BODY(drawing_loop) {
    lam_tensor *y[2];
    lam_while(FN(below_three, 2, 1), FN(next_draw, 2, 2), LAM_LIST(in[0], num(0)), y, 2);
    out[0] = y[1];
}

/* The same loops in C, over draws of the whole batch. */
static void expect_draws(lam_tensor *got, const double starts[]) {
    double draws[TRIPS][BATCH], y[BATCH];
    EXPECT_OK();
    lam_ctx_seed(ctx, SEED);
    for (int t = 0; t < TRIPS; t++)
        ck_assert_int_eq(lam_read(lam_rand(ctx, LAM_F64, LAM_DIMS(BATCH)), draws[t], sizeof draws[t]), LAM_OK);
    ck_assert_int_eq(lam_read(got, y, sizeof y), LAM_OK);
    for (int i = 0; i < BATCH; i++) {
        double want = 0;
        for (int t = 0; t < TRIPS - (int)starts[i]; t++) want = want * 0.125 + draws[t][i];
        ck_assert_msg(y[i] == want, "example %d: %g, not %g", i, y[i], want);
    }
}

/* Whoever has ended, the others keep the draws that are theirs: in chunks too, and where two batches are one axis. */
START_TEST(draws_of_examples_that_end_at_different_times) {
    const double all[][BATCH] = {{0, 2, 1, 3, 1, 0}, {2, 0, 2, 2, 2, 2}, {3, 3, 2, 2, 1, 0}, {0, 0, 0, 0, 0, 3}};
    lam_fn *f = FN(drawing_loop, 1, 1);
    for (int k = 0; k < 4; k++) {
        lam_tensor *x = vector_of(all[k], BATCH);
        for (int64_t chunk = 0; chunk < 5; chunk += 2) {
            lam_ctx_seed(ctx, SEED);
            expect_draws(apply1(mapped(f, DIFFERENT, chunk), x), all[k]);
        }
        lam_ctx_seed(ctx, SEED);
        lam_tensor *two = lam_reshape(x, LAM_DIMS(2, BATCH / 2));
        expect_draws(apply1(mapped(mapped(f, DIFFERENT, 0), DIFFERENT, 0), two), all[k]);
    }
}
END_TEST

BODY(nothing) {
    out[0] = lam_mul(in[0], 0.0);
}

/* Who would make no trips is not in the loop at all. */
BODY(drawing_loop_of_some) {
    lam_cond(lam_lt(in[0], (double)TRIPS), FN(drawing_loop, 1, 1), FN(nothing, 1, 1), LAM_LIST(in[0]), out, 1);
}

START_TEST(draws_of_a_loop_in_a_branch) {
    const double starts[BATCH] = {3, 0, 2, 3, 1, 2};
    lam_fn *f = FN(drawing_loop_of_some, 1, 1);
    lam_ctx_seed(ctx, SEED);
    expect_draws(apply1(mapped(f, DIFFERENT, 0), vector_of(starts, BATCH)), starts);
}
END_TEST

/* ---- of no trips ------------------------------------------------------------------------------------------------- */

BODY(drawing_step) {
    out[0] = lam_add(in[0], lam_rand(ctx, LAM_F64, LAM_DIMS0));
    out[1] = lam_randn(ctx, LAM_F64, LAM_DIMS(2));
}

BODY(drawing_scan_of_none) {
    const lam_scan_options none = {.length = LAM_ZERO_SIZE};
    lam_scan(FN(drawing_step, 1, 2), LAM_LIST(in[0]), LAM_LIST(), out, 2, &none);
}

/* As a fori of no trips, in which nothing is drawn either: the generator stays where it is, and a batch in which draws
 * are errors has none. */
START_TEST(a_scan_without_trips_draws_nothing) {
    lam_fn *f = FN(drawing_scan_of_none, 1, 2);
    lam_fn *fns[] = {f, lam_jit(f, NULL), lam_vmap(f, NULL), mapped(f, DIFFERENT, 2)};
    lam_tensor *y[2];
    lam_ctx_seed(ctx, SEED);
    for (int k = 0; k < 4; k++) {
        ck_assert_int_eq(lam_call(fns[k], LAM_LIST(k < 2 ? num(1) : VEC(1, 2, 3)), y, 2), LAM_OK);
        if (k < 2) EXPECT_NUM(y[0], 1);
        else EXPECT(y[0], LAM_DIMS(3), 1, 2, 3);
        if (k < 2) EXPECT_EMPTY(y[1], LAM_DIMS(0, 2));
        else EXPECT_EMPTY(y[1], LAM_DIMS(3, 0, 2));
    }
    ck_assert_uint_eq(lam_ctx_random_state(ctx).draws, 0);
}
END_TEST

/* ---- below too many levels --------------------------------------------------------------------------------------- */

BODY(key_drawn) {
    out[0] = lam_rand_key(ctx);
}

/* A draw has an axis more at each level, of which a value may have 2 LAM_MAX_RANK less one. A key is a pair of numbers,
 * which takes one of them: it is refused by its name one level before the draw of a number is. */
START_TEST(keys_below_too_many_levels_are_refused) {
    const lam_vmap_options one = {.in_axes = LAM_AXES(LAM_UNMAPPED), .axis_size = 1, .randomness = DIFFERENT};
    lam_fn *f = FN(key_drawn, 1, 1);
    for (int i = 0; i < 2 * LAM_MAX_RANK - 1; i++) f = lam_vmap(f, &one);
    ck_assert(lam_failed(apply1(f, num(1))));
    EXPECT_ERROR(LAM_ERR_RANK, "rand_key: 31 axes are too many");
}
END_TEST

Suite *suite_transforms_drawn_control(void) {
    return SUITE_OF("transforms/drawn_control", draws_of_examples_that_end_at_different_times,
                    draws_of_a_loop_in_a_branch, a_scan_without_trips_draws_nothing,
                    keys_below_too_many_levels_are_refused);
}
