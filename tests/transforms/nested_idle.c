/* Carries of recorded loops that have no part in a derivative (NOTE [idle carries] in transforms/nested_idle.c): that
 * they get no place in the loop of derivatives, and that all others do, beside the operations one by one. */
#define _GNU_SOURCE /* open_memstream */
#include "tests/support.h"
#include "tests/transforms/build.h"

#include <lamina/control.h>

#include <stdlib.h>
#include <string.h>

enum { TRIPS = 70, MOST = 4 };

/* ---- trips: carries a, b, c and operands x, y of f64[3] behind them ---------------------------------------------- */

/* b is a time, which depends on neither operand. */
BODY(timed) {
    out[0] = lam_add(lam_mul(in[0], 0.9), lam_mul(lam_sin(in[1]), in[3]));
    out[1] = lam_add(in[1], 0.1);
    out[2] = lam_mul(in[2], in[4]);
}

/* b says how far a has moved, and nobody asks. */
BODY(measured) {
    out[0] = lam_tanh(lam_add(in[0], lam_mul(in[3], in[4])));
    out[1] = lam_abs(lam_sub(out[0], in[0]));
    out[2] = in[2];
}

/* a gets in the third trip what goes into b in the first, by c. */
BODY(handed_on) {
    out[0] = lam_mul(in[0], in[2]);
    out[1] = lam_add(lam_mul(in[1], 0.5), in[3]);
    out[2] = lam_sin(in[1]);
}

/* What a sees of b is whole numbers; c sees b itself. */
BODY(stepped) {
    out[0] = lam_add(lam_mul(in[0], 0.5), lam_floor(lam_mul(in[1], 4.0)));
    out[1] = lam_mul(in[1], lam_add(in[4], 0.5));
    out[2] = lam_stop_gradient(in[1]);
}

static void forward_whole(lam_fctx *fc, lam_tensor *const in[], lam_tensor *out[]) {
    out[0] = lam_floor(in[0]);
    lam_fctx_mark_absent(fc, LAM_AXES(1));
}

static void backward_whole(lam_fctx *fc, lam_tensor *const g[], lam_tensor *gx[]) {
    (void)fc;
    gx[0] = lam_mul(g[0], 3.0);
}

static const lam_function whole = {
    .name = "whole", .inputs = 1, .outputs = 2, .forward = forward_whole, .backward = backward_whole};

/* The same with a rule that says otherwise: a has a slope by b. The Function has another output, which is left out. */
BODY(ruled) {
    lam_tensor *steps[2];
    lam_function_apply(ctx, &whole, NULL, LAM_LIST(lam_mul(in[1], 4.0)), steps, 2);
    out[0] = lam_add(lam_mul(in[0], 0.5), steps[0]);
    out[1] = lam_mul(in[1], lam_add(in[4], 0.5));
    out[2] = in[2];
}

/* A choice within the trip, and a loop, of which the first carry alone depends on the first, and the second on both. */
BODY(grown) {
    out[0] = lam_mul(in[1], 1.01);
    out[1] = lam_add(in[2], lam_mul(0.01, in[1]));
}

BODY(product) {
    out[0] = lam_mul(in[0], in[1]);
}

BODY(minus_product) {
    out[0] = lam_sub(1.0, lam_mul(in[0], in[1]));
}

BODY(nests) {
    lam_tensor *y[2];
    lam_fori(0, 100, FN(grown, 3, 2), LAM_LIST(in[0], in[1]), y, 2);
    lam_cond(lam_gt(lam_sum(in[1], NULL), 2.0), FN(product, 2, 1), FN(minus_product, 2, 1), LAM_LIST(y[0], in[4]),
             &out[0], 1);
    out[1] = lam_mul(0.4, y[1]);
    out[2] = lam_mul(in[2], in[3]);
}

/* ---- loops of these ---------------------------------------------------------------------------------------------- */

/* fixed: b begins with a constant. by_x, by_y: carries of the way back, 0: there is none; forward: of derivatives by
 * x. */
typedef struct loop_case {
    const char *name;
    lam_body body;
    bool fixed;
    int by_x, by_y, forward;
} loop_case;

BODY(of_scan) {
    ((const loop_case *)env)->body(ctx, in + 1, out, NULL);
}

BODY(of_while) {
    out[0] = lam_sub(in[0], 1);
    of_scan(ctx, in, out + 1, env);
}

BODY(is_left) {
    out[0] = lam_gt(in[0], 0);
}

static lam_fn *capturing(const char *name, lam_body body, int outputs, lam_tensor *const in[], void *env) {
    return lam_fn_new(ctx, &(lam_fn_options){.name = name,
                                             .body = body,
                                             .inputs = 4,
                                             .outputs = outputs,
                                             .env = env,
                                             .captures = LAM_LIST(in[0], in[1])});
}

static void begin(const loop_case *k, lam_tensor *const in[], lam_tensor *start[3]) {
    start[0] = lam_mul(0.3, in[1]);
    start[1] = k->fixed ? VEC(0.1, 0.2, 0.3) : lam_cos(in[0]);
    start[2] = lam_mul(start[0], start[1]);
}

/* Of what the carries are in the end a alone is looked at. */
BODY(by_scan) {
    lam_tensor *start[3], *y[3];
    begin(env, in, start);
    lam_fori(0, TRIPS, capturing("trip", of_scan, 3, in, env), (lam_list){3, start}, y, 3);
    out[0] = lam_sum(lam_mul(y[0], lam_cos(y[0])), NULL);
}

BODY(by_while) {
    lam_tensor *start[4] = {lam_cast(num(9), LAM_I64)}, *y[4];
    begin(env, in, start + 1);
    lam_while(FN(is_left, 4, 1), capturing("trip", of_while, 4, in, env), (lam_list){4, start}, y, 4);
    out[0] = lam_sum(lam_mul(y[1], lam_cos(y[1])), NULL);
}

/* timed by x: a, and the gradient of x; by y: a alone, since c is in nothing. nests by y: a and the gradient of y, and
 * the first carry of the loop within; by x there is nothing. */
static const loop_case cases[] = {
    {"timed", timed, true, 2, 1, 5},          {"measured", measured, true, 2, 2, 6},
    {"handed_on", handed_on, false, 4, 2, 7}, {"stepped", stepped, false, 0, 1, 0},
    {"ruled", ruled, false, 2, 3, 7},         {"nests", nests, false, 0, 3, 0},
};
enum { CASES = sizeof cases / sizeof *cases };

static lam_fn *function(int k, lam_body loop) {
    return function_of(cases[k].name, loop, 2, 1, (void *)(uintptr_t)&cases[k]);
}

static lam_fn *by_second(lam_fn *f) {
    return lam_grad(f, &(lam_grad_options){.argnums = LAM_AXES(1)});
}

/* How many carries loops in the text have that go this way. */
static int carries_of(lam_fn *f, const char *way) {
    char *text = printed_text(lam_trace(f, LAM_LIST(VEC(0.5, 0.7, 0.9), VEC(0.3, 0.2, 0.4))));
    int carries = 0;
    for (const char *at = text; (at = strstr(at, " carries=")); at++) {
        const char *of = strstr(at, "reverse=");
        carries += of && strncmp(of, way, strlen(way)) == 0 ? atoi(at + 9) : 0;
    }
    EXPECT_OK();
    free(text);
    return carries;
}

START_TEST(idle_carries_have_no_place) {
    const loop_case *k = &cases[_i];
    ck_assert_int_eq(carries_of(lam_grad(function(_i, by_scan), NULL), "reverse=true"), k->by_x);
    ck_assert_int_eq(carries_of(by_second(function(_i, by_scan)), "reverse=true"), k->by_y);
    ck_assert_int_eq(carries_of(lam_jacfwd(function(_i, by_scan), NULL), "reverse=false"), k->forward);
}
END_TEST

/* ---- values ------------------------------------------------------------------------------------------------------ */

static void check_same(lam_fn *f) {
    enum { TWICE = 2 };
    lam_tensor *in[] = {VEC(0.5, 0.7, 0.9), VEC(0.3, 0.2, 0.4)}, *want = lam_apply(f, (lam_list){2, in});
    lam_fn *jitted = lam_jit(f, NULL);
    EXPECT_OK();
    EXPECT_SAME(lam_apply(lam_trace(f, (lam_list){2, in}), (lam_list){2, in}), want, 1e-11);
    for (int i = 0; i < TWICE; i++) EXPECT_SAME(lam_apply(jitted, (lam_list){2, in}), want, 1e-11);
    ck_assert_int_eq(lam_jit_report_of(jitted).recorded, 1);
}

START_TEST(others_have_one) {
    lam_fn *f = function(_i / 2, _i % 2 ? by_while : by_scan);
    const lam_jacobian_options second = {.argnums = LAM_AXES(1)}; /* the others: by the first */
    check_same(lam_grad(f, NULL));
    check_same(by_second(f));
    check_same(lam_jacfwd(f, NULL));
    check_same(lam_jacfwd(f, &second));
    check_same(lam_hessian(f, NULL));
    check_same(lam_jacrev(by_second(f), NULL));
    check_same(lam_jacfwd(lam_grad(f, NULL), &second));
}
END_TEST

static void record(const void *env) {
    const int k = *(const int *)env;
    lam_tensor *in[] = {VEC(0.5, 0.7, 0.9), VEC(0.3, 0.2, 0.4)};
    (void)lam_trace(lam_hessian(function(k, by_scan), NULL), (lam_list){2, in});
    (void)lam_apply(lam_jit(by_second(function(k, by_while)), NULL), (lam_list){2, in});
}

START_TEST(memory_refused) {
    const int measures = 1;
    memory_refused_in(record, &measures);
}
END_TEST

Suite *suite_transforms_nested_idle(void) {
    Suite *suite = SUITE_OF("transforms/nested_idle", memory_refused);
    suite_loop(suite, idle_carries_have_no_place, CASES);
    suite_loop(suite, others_have_one, 2 * CASES);
    return suite;
}
