/* Batches of recorded choices and loops (transforms/nested_batch.c): what examples share is not repeated for each, and
 * what they do not share is not taken for one. Values are those of the batch operation by operation. */
#include "tests/support.h"
#include "tests/transforms/build.h"

#include <lamina/control.h>
#include <lamina/function.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE = 4, TRIPS = 70 /* fewer are no loop in a program */ };

/* ---- what makes trips -------------------------------------------------------------------------------------------- */

/* Twice x, and y as it is: rules, so that a level sees the call and not its operations. */
static void forward_both(lam_fctx *fc, lam_tensor *const in[], lam_tensor *out[]) {
    (void)fc;
    out[0] = lam_mul(in[0], 2.0);
    out[1] = lam_mul(in[1], 1.0);
}

static void backward_both(lam_fctx *fc, lam_tensor *const g[], lam_tensor *gx[]) {
    (void)fc;
    gx[0] = lam_mul(g[0], 2.0);
    gx[1] = g[1];
}

static const lam_function both = {.name = "both",
                                  .inputs = 2,
                                  .outputs = 2,
                                  .forward = forward_both,
                                  .backward = backward_both,
                                  .generate_vmap_rule = true};

/* As many trips as the first carry says. */
BODY(is_left) {
    (void)env;
    out[0] = lam_gt(in[0], 0);
}

BODY(is_below) {
    (void)env;
    out[0] = lam_lt(lam_sum(in[1], NULL), 3.0);
}

/* in: the number of trips left, x, y, z. x and y never meet. */
BODY(apart) {
    (void)env;
    out[0] = lam_sub(in[0], 1);
    out[1] = lam_add(in[1], lam_cos(in[1]));
    out[2] = lam_mul(in[2], 0.9);
    out[3] = in[3];
}

/* z becomes y, and y what x was: after two trips all are made of x. */
BODY(handed_on) {
    (void)env;
    out[0] = lam_sub(in[0], 1);
    out[1] = lam_add(in[1], lam_cos(in[1]));
    out[2] = in[1];
    out[3] = in[2];
}

BODY(by_call) {
    lam_tensor *y[2];
    (void)env;
    (void)lam_function_apply(ctx, &both, NULL, LAM_LIST(lam_mul(in[1], 0.4), in[2]), y, 2);
    out[0] = lam_sub(in[0], 1);
    out[1] = y[0], out[2] = y[1], out[3] = in[3];
}

BODY(swapped) {
    (void)env;
    out[0] = lam_add(in[0], 1.0), out[1] = lam_mul(in[1], 0.5);
}

BODY(scaled) {
    (void)env;
    out[0] = lam_mul(in[0], 0.5), out[1] = lam_mul(in[1], 0.7);
}

/* A choice that all examples make alike, within: of its results one alone depends on them. */
BODY(by_choice) {
    lam_tensor *y[2];
    (void)env;
    lam_cond(lam_gt(lam_sum(in[2], NULL), 1.0), FN(swapped, 2, 2), FN(scaled, 2, 2), LAM_LIST(in[1], in[2]), y, 2);
    out[0] = lam_sub(in[0], 1);
    out[1] = y[0], out[2] = y[1], out[3] = in[3];
}

/* A loop within that examples leave at different times, with a carry that nothing of theirs goes into but that. */
BODY(by_loop) {
    lam_tensor *y[4];
    lam_while(FN(is_below, 4, 1), FN(apart, 4, 4), LAM_LIST(in[0], in[1], in[2], in[3]), y, 4);
    (void)env;
    out[0] = lam_sub(in[0], 1);
    out[1] = lam_mul(y[1], 0.3), out[2] = y[2], out[3] = in[3];
}

/* ---- loops of those ---------------------------------------------------------------------------------------------- */

/* each: examples go different ways somewhere. */
typedef struct batch_case {
    lam_body condition, body;
    bool each;
} batch_case;

static const batch_case cases[] = {
    {is_left, apart, false},     {is_left, handed_on, false}, {is_left, by_call, false},
    {is_left, by_choice, false}, {is_left, by_loop, true},    {is_below, apart, true},
};
enum { CASES = sizeof cases / sizeof *cases };

BODY(by_while) {
    const batch_case *k = env;
    lam_tensor *results[4];
    lam_while(FN(k->condition, 4, 1), FN(k->body, 4, 4), LAM_LIST(in[0], in[1], in[2], in[3]), results, 4);
    for (int o = 0; o < 3; o++) out[o] = results[1 + o];
}

/* in: carries, an element. The row of z is the same for all examples. */
BODY(trip) {
    const batch_case *k = env;
    lam_tensor *results[4], *counted[] = {lam_cast(in[3], LAM_I64), in[0], in[1], in[2]};
    (void)lam_call(FN(k->body, 4, 4), (lam_list){4, counted}, results, 4);
    for (int o = 0; o < 3; o++) out[o] = results[1 + o];
    out[3] = lam_sum(in[2], NULL), out[4] = lam_sum(in[0], NULL);
}

BODY(by_scan) {
    lam_tensor *results[5];
    lam_scan(FN_ENV(trip, 4, 5, env), LAM_LIST(in[1], in[2], in[3]), LAM_LIST(lam_linspace(ctx, LAM_F64, 0, 9, TRIPS)),
             results, 5, NULL);
    out[0] = results[0], out[1] = lam_mul(lam_add(results[1], results[2]), lam_sum(results[3], NULL)),
    out[2] = results[4];
}

/* One of the three carries is batched. */
static lam_fn *mapped(lam_body body, const batch_case *k, int which) {
    int axes[] = {LAM_UNMAPPED, LAM_UNMAPPED, LAM_UNMAPPED, LAM_UNMAPPED};
    axes[1 + which] = 0;
    return lam_vmap(FN_ENV(body, 4, 3, (void *)(uintptr_t)k), &(lam_vmap_options){.in_axes = {4, axes}});
}

static void check(lam_fn *f, int which, bool shared) {
    lam_tensor *in[] = {lam_cast(num(5), LAM_I64), VEC(0.3, 0.9), VEC(0.2, 1.1), VEC(0.7, -0.4)}, *want[3], *got[3];
    in[1 + which] = lam_add(in[1 + which], lam_reshape(lam_linspace(ctx, LAM_F64, 0, 2, SIZE), LAM_DIMS(SIZE, 1)));
    const lam_list inputs = {4, in};
    lam_program *p = lam_trace(f, inputs);
    lam_fn *ways[] = {p, lam_jit(f, NULL), lam_jit(f, &(lam_jit_options){.fusion = LAM_JIT_NONE})};
    ck_assert_msg(lam_call(f, inputs, want, 3) == LAM_OK, "%s", lam_error(ctx));
    for (int way = 0; way < 3; way++) {
        ck_assert_msg(lam_call(ways[way], inputs, got, 3) == LAM_OK, "%d: %s", way, lam_error(ctx));
        for (int o = 0; o < 3; o++) EXPECT_SAME(got[o], want[o], 1e-14);
    }
    char *text = printed_text(p);
    if (shared) ck_assert_msg(!strstr(text, "batch=true"), "%s", text);
    free(text);
}

START_TEST(a_condition_that_examples_share) {
    const batch_case *k = &cases[_i / 3];
    check(mapped(by_while, k, _i % 3), _i % 3, !k->each && !(k->body == by_choice && _i % 3 == 1));
}
END_TEST

START_TEST(trips_of_a_scan_that_examples_share) {
    const batch_case *k = &cases[_i / 3];
    check(mapped(by_scan, k, _i % 3), _i % 3, false);
}
END_TEST

BODY(called_in_trips) {
    lam_tensor *results[4], *start = lam_cast(lam_add(lam_mul(0.0, in[1]), 5.0), LAM_I64);
    (void)env;
    lam_while(FN(is_left, 4, 1), FN(by_call, 4, 4), LAM_LIST(start, in[0], in[0], in[0]), results, 4);
    out[0] = lam_mul(results[1], results[2]);
}

/* Directions are a batch, values are not: nothing of a direction goes into the call that gives them, whatever its rules
 * make of it elsewhere. */
START_TEST(values_of_calls_are_not_those_of_directions) {
    lam_fn *f = lam_jacfwd(FN(called_in_trips, 2, 1), NULL);
    const lam_list in = LAM_LIST(VEC(0.3, 0.9), num(2));
    lam_tensor *want = lam_apply(f, in);
    EXPECT_SAME(lam_apply(lam_trace(f, in), in), want, 1e-14);
    EXPECT_SAME(lam_apply(lam_jit(f, NULL), in), want, 1e-14);
    EXPECT_OK();
}
END_TEST

Suite *suite_transforms_nested_batch(void) {
    Suite *suite = SUITE_OF("transforms/nested_batch", values_of_calls_are_not_those_of_directions);
    suite_loop(suite, a_condition_that_examples_share, 3 * CASES);
    suite_loop(suite, trips_of_a_scan_that_examples_share, 3 * CASES);
    return suite;
}
