/* What functions with rules of their own capture: a level that batches reaches it as it reaches inputs; a derivative by
 * it is refused where the rule cannot give one. The function is c x^2 of x, where c is captured by it and by each of
 * its rules, which are wrong by a factor, so that the value tells which one ran. */
#include "tests/custom/callbacks.h"

static lam_fn *capturing(const char *name, lam_body body, int inputs, int outputs, lam_tensor *c) {
    return lam_fn_new(
        ctx,
        &(lam_fn_options){.name = name, .body = body, .inputs = inputs, .outputs = outputs, .captures = LAM_LIST(c)});
}

BODY(scaled_square) {
    out[0] = lam_mul(in[1], lam_square(in[0]));
}

BODY(fwd) {
    out[0] = lam_mul(in[1], lam_square(in[0]));
    out[1] = in[0];
}

static lam_tensor *slope(double factor, lam_tensor *c, lam_tensor *x, lam_tensor *t) {
    return lam_mul(lam_mul(factor, c), lam_mul(x, t));
}

/* x, cotangent, c */
BODY(bwd) {
    out[0] = slope(5, in[2], in[0], in[1]);
}

/* x, tangent, c */
BODY(rule) {
    out[0] = lam_mul(in[2], lam_square(in[0]));
    out[1] = slope(7, in[2], in[0], in[1]);
}

/* tangent, output, x, c */
BODY(rule_by_x) {
    out[0] = slope(11, in[3], in[2], in[0]);
}

/* Knows that either may be one for all. */
static void batched(lam_ctx *here, const lam_vmap_info *info, const bool mapped[], lam_tensor *const in[],
                    lam_tensor *out[], bool out_mapped[], void *env) {
    (void)here, (void)env, (void)info;
    out[0] = lam_mul(13.0, lam_mul(in[1], lam_square(in[0])));
    out_mapped[0] = mapped[0] || mapped[1];
}

static lam_fn *by_vjp(lam_tensor *c) {
    return lam_custom_vjp(capturing("by_vjp", scaled_square, 1, 1, c), capturing("fwd", fwd, 1, 2, c),
                          capturing("bwd", bwd, 2, 1, c), NULL);
}

static lam_fn *by_jvp(lam_tensor *c) {
    return lam_custom_jvp(capturing("by_jvp", scaled_square, 1, 1, c), capturing("rule", rule, 2, 2, c), NULL);
}

static lam_fn *by_jvps(lam_tensor *c) {
    return lam_custom_jvps(capturing("by_jvps", scaled_square, 1, 1, c),
                           (lam_fn *[]){capturing("rule_by_x", rule_by_x, 3, 1, c)}, 1, NULL);
}

static lam_fn *by_vmap(lam_tensor *c) {
    return lam_custom_vmap(capturing("by_vmap", scaled_square, 1, 1, c), batched, NULL);
}

/* slope: of the rule; batch: what a batching rule multiplies the value by. */
typedef struct kind {
    lam_fn *(*of)(lam_tensor *c);
    double slope, batch;
} kind;

static const kind kinds[] = {{by_vjp, 5, 1}, {by_jvp, 7, 1}, {by_jvps, 11, 1}, {by_vmap, 2, 13}};

#define EACH_KIND(k) for (const kind *k = kinds; k < kinds + sizeof kinds / sizeof *kinds; k++)

static lam_fn *apart(const kind *k, lam_body body) {
    return FN_ENV(body, 2, 1, (void *)(uintptr_t)k);
}

/* x, c; env: the kind */
BODY(at_capture) {
    out[0] = apply1(((const kind *)env)->of(in[1]), in[0]);
}

START_TEST(values) {
    EACH_KIND(k) EXPECT_NUM(apply2(apart(k, at_capture), num(3), num(2)), 18);
    EXPECT_OK();
}
END_TEST

START_TEST(batches_of_captures) {
    EACH_KIND(k) {
        lam_fn *f = apart(k, at_capture);
        EXPECT(apply2(lam_vmap(f, NULL), VEC(3, 4), VEC(2, 5)), LAM_DIMS(2), k->batch * 18, k->batch * 80);
        EXPECT(apply2(lam_vmap(f, &(lam_vmap_options){.in_axes = LAM_AXES(LAM_UNMAPPED, 0)}), num(3), VEC(2, 5)),
               LAM_DIMS(2), k->batch * 18, k->batch * 45);
        EXPECT(apply2(lam_vmap(lam_grad(f, NULL), NULL), VEC(3, 4), VEC(2, 5)), LAM_DIMS(2), k->slope * 6,
               k->slope * 20);
        EXPECT(apply2(lam_vmap(lam_vmap(f, &(lam_vmap_options){.in_axes = LAM_AXES(0, LAM_UNMAPPED)}), NULL),
                      lam_reshape(VEC(3, 4), LAM_DIMS(2, 1)), VEC(2, 5)),
               LAM_DIMS(2, 1), k->batch * 18, k->batch * 80);
    }
    EXPECT_OK();
}
END_TEST

/* x, c; env: a function of both */
BODY(summed) {
    out[0] = lam_sum(apply2(env, in[0], in[1]), NULL);
}

START_TEST(derivatives_of_batches) {
    EACH_KIND(k) {
        lam_fn *f = FN_ENV(summed, 2, 1, lam_vmap(apart(k, at_capture), NULL));
        const double factor = k->slope * k->batch;
        EXPECT(apply2(lam_grad(f, NULL), VEC(3, 4), VEC(2, 5)), LAM_DIMS(2), factor * 6, factor * 20);
    }
    EXPECT_OK();
}
END_TEST

/* x, c: c stands still for the level that asks. */
BODY(at_stopped_capture) {
    out[0] = apply1(((const kind *)env)->of(lam_stop_gradient(in[1])), in[0]);
}

BODY(along_both) {
    lam_tensor *value;
    lam_jvp(env, LAM_LIST(in[0], in[1]), LAM_LIST(num(1), num(1)), &value, &out[0], 1, NULL);
}

/* By both at once. Only lam_custom_vmap, whose derivatives are those of the function's operations, has one by c. */
START_TEST(derivatives_by_captures) {
    const lam_grad_options by_c = {.argnums = LAM_AXES(1)};
    EACH_KIND(k) {
        lam_fn *f = apart(k, at_capture), *stopped = apart(k, at_stopped_capture);
        EXPECT_NUM(apply2(lam_grad(stopped, NULL), num(3), num(2)), k->slope * 6);
        EXPECT_NUM(apply2(FN_ENV(along_both, 2, 1, stopped), num(3), num(2)), k->slope * 6);
        EXPECT_NUM(apply2(lam_grad(stopped, &by_c), num(3), num(2)), 0);
        if (k->of == by_vmap) {
            EXPECT_NUM(apply2(lam_grad(f, &by_c), num(3), num(2)), 9);
            EXPECT_NUM(apply2(FN_ENV(along_both, 2, 1, f), num(3), num(2)), 2 * 6 + 9);
            EXPECT_NUM(apply2(lam_grad(lam_grad(f, NULL), &by_c), num(3), num(2)), 6);
            continue;
        }
        apply2(lam_grad(f, &by_c), num(3), num(2));
        EXPECT_ERROR(LAM_ERR_CAPTURED, "a derivative by capture 0", "pass it as an input");
        apply2(FN_ENV(along_both, 2, 1, f), num(3), num(2));
        EXPECT_ERROR(LAM_ERR_CAPTURED, "a derivative by capture 0", "lam_stop_gradient");
    }
    EXPECT_OK();
}
END_TEST

/* x, c: the slope by x, where c is a constant to the inner level; for the outer one the rule is a function of c. */
BODY(slope_by_x) {
    const kind *k = env;
    out[0] = apply1(lam_grad(k->of(in[1]), NULL), in[0]);
}

/* The same by forward mode. */
BODY(slope_along_c) {
    lam_tensor *value;
    lam_jvp(env, LAM_LIST(in[0], in[1]), LAM_LIST(NULL, num(1)), &value, &out[0], 1, NULL);
}

/* lam_custom_jvps gives f's own values, so forward mode by c meets f itself, of which it has no derivative by c; on the
 * way back nothing asks for that. */
START_TEST(captures_from_below) {
    const lam_grad_options by_c = {.argnums = LAM_AXES(1)};
    EACH_KIND(k) {
        lam_fn *f = apart(k, slope_by_x);
        EXPECT(apply2(lam_vmap(f, NULL), VEC(3, 4), VEC(2, 5)), LAM_DIMS(2), k->slope * 6, k->slope * 20);
        EXPECT_NUM(apply2(lam_grad(f, &by_c), num(3), num(2)), k->slope * 3);
        EXPECT_OK();
        lam_tensor *ahead = apply2(FN_ENV(slope_along_c, 2, 1, f), num(3), num(2));
        if (k->of == by_jvps) EXPECT_ERROR(LAM_ERR_CAPTURED, "by_jvps", "capture 0");
        else EXPECT_NUM(ahead, k->slope * 3);
    }
    EXPECT_OK();
}
END_TEST

/* tangent, output, x, c: the output is a function of c too. */
BODY(rule_by_output) {
    out[0] = lam_mul(in[0], lam_add(in[1], in[3]));
}
BODY(slope_by_output) {
    lam_fn *rules[] = {capturing("rule_by_output", rule_by_output, 3, 1, in[1])};
    lam_fn *f = lam_custom_jvps(capturing("by_output", scaled_square, 1, 1, in[1]), rules, 1, NULL);
    out[0] = apply1(lam_grad(f, NULL), in[0]);
}

START_TEST(rules_that_read_their_outputs) {
    lam_fn *f = FN(slope_by_output, 2, 1);
    EXPECT_NUM(apply2(f, num(3), num(2)), 18 + 2);
    apply2(lam_grad(f, &(lam_grad_options){.argnums = LAM_AXES(1)}), num(3), num(2));
    EXPECT_ERROR(LAM_ERR_CAPTURED, "by_output", "capture 0");
}
END_TEST

/* x, c */
BODY(put_off) {
    out[0] = apply1(lam_checkpoint(((const kind *)env)->of(in[1]), NULL), in[0]);
}

START_TEST(captures_below_a_checkpoint) {
    EACH_KIND(k) {
        lam_fn *f = apart(k, put_off);
        EXPECT_NUM(apply2(lam_grad(f, NULL), num(3), num(2)), k->slope * 6);
        EXPECT(apply2(lam_vmap(lam_grad(f, NULL), NULL), VEC(3, 4), VEC(2, 5)), LAM_DIMS(2), k->slope * 6,
               k->slope * 20);
    }
    EXPECT_OK();
}
END_TEST

/* The function that has the rule is itself made of one that captures. */
BODY(of_a_transform) {
    lam_fn *f = lam_vmap(capturing("inner", scaled_square, 1, 1, in[1]), NULL);
    lam_fn *ahead = lam_vmap(capturing("fwd", fwd, 1, 2, in[1]), NULL);
    lam_fn *back = lam_vmap(capturing("bwd", bwd, 2, 1, in[1]), NULL);
    out[0] = apply1(lam_custom_vjp(f, ahead, back, NULL), in[0]);
}

START_TEST(captures_below_a_transform) {
    lam_fn *f = FN(of_a_transform, 2, 1), *rows = lam_vmap(f, NULL);
    lam_tensor *x = lam_reshape(VEC(1, 2, 3, 4), LAM_DIMS(2, 2));
    EXPECT(apply2(f, VEC(3, 4), num(2)), LAM_DIMS(2), 18, 32);
    EXPECT(apply2(rows, x, VEC(2, 5)), LAM_DIMS(2, 2), 2, 8, 45, 80);
    EXPECT(apply2(lam_grad(FN_ENV(summed, 2, 1, rows), NULL), x, VEC(2, 5)), LAM_DIMS(2, 2), 10, 20, 75, 100);
    EXPECT_OK();
}
END_TEST

/* x, d, c: what the three functions capture differs in number and order. */
BODY(fwd_of_two) {
    out[0] = lam_mul(lam_sub(in[2], in[1]), lam_square(in[0]));
    out[1] = in[0];
}

/* x, c, d */
BODY(at_two_captures) {
    lam_fn *ahead = lam_fn_new(
        ctx,
        &(lam_fn_options){
            .name = "fwd_of_two", .body = fwd_of_two, .inputs = 1, .outputs = 2, .captures = LAM_LIST(in[2], in[1])});
    lam_fn *f = capturing("scaled_square", scaled_square, 1, 1, in[1]), *back = capturing("bwd", bwd, 2, 1, in[2]);
    out[0] = apply1(lam_custom_vjp(f, ahead, back, NULL), in[0]);
}

START_TEST(each_function_has_its_own) {
    lam_fn *f = FN(at_two_captures, 3, 1), *g = lam_value_and_grad(f, NULL);
    lam_tensor *out[2];
    EXPECT(lam_apply(lam_vmap(f, NULL), LAM_LIST(VEC(3, 4), VEC(2, 5), VEC(7, 8))), LAM_DIMS(2), 18, 80);
    lam_call(lam_vmap(g, NULL), LAM_LIST(VEC(3, 4), VEC(2, 5), VEC(7, 8)), out, 2);
    EXPECT(out[0], LAM_DIMS(2), (2 - 7) * 9, (5 - 8) * 16);
    EXPECT(out[1], LAM_DIMS(2), 5 * 7 * 3, 5 * 8 * 4);
    EXPECT_OK();
}
END_TEST

/* cotangent, c */
BODY(at_most) {
    out[0] = lam_min(in[0], in[1]);
}

/* x, c: x^2, whose cotangent is held down to c */
BODY(clipped) {
    out[0] = lam_square(lam_on_gradient(in[0], capturing("at_most", at_most, 1, 1, in[1]), NULL));
}

/* Cotangents 2 x, of examples that have bounds of their own; the slope of the clipped one by its bound is 1. */
START_TEST(captures_of_hooks) {
    lam_fn *f = FN(clipped, 2, 1), *rows = lam_vmap(f, NULL);
    EXPECT_NUM(apply2(lam_grad(f, NULL), num(3), num(2)), 2);
    EXPECT(apply2(lam_vmap(lam_grad(f, NULL), NULL), VEC(3, 4), VEC(2, 50)), LAM_DIMS(2), 2, 8);
    EXPECT(apply2(lam_grad(FN_ENV(summed, 2, 1, rows), NULL), VEC(3, 4), VEC(2, 50)), LAM_DIMS(2), 2, 8);
    EXPECT_NUM(apply2(lam_grad(lam_grad(f, NULL), &(lam_grad_options){.argnums = LAM_AXES(1)}), num(3), num(2)), 1);
    EXPECT_OK();
}
END_TEST

/* x, cotangent, c; leaves out what is zero. */
BODY(bwd_of_nothing) {
    (void)in, (void)out;
}

/* A rule may be given NULL for zero, and give it. Its function may not, where it is called as it is: also after a
 * derivative has run it as a rule. */
START_TEST(functions_of_rules_stay_as_they_are) {
    lam_tensor *c = num(2), *y;
    lam_fn *back = capturing("back", bwd_of_nothing, 2, 1, c);
    lam_fn *f = lam_custom_vjp(capturing("f", scaled_square, 1, 1, c), capturing("fwd", fwd, 1, 2, c), back, NULL);
    EXPECT_NUM(apply1(lam_grad(f, NULL), num(3)), 0);
    ck_assert_int_eq(lam_call(back, LAM_LIST(num(3), num(1)), &y, 1), LAM_ERR_ARITY);
    EXPECT_ERROR(LAM_ERR_ARITY, "output 0", "back", "was not set");
    ck_assert_int_eq(lam_call(back, LAM_LIST(num(3), NULL), &y, 1), LAM_ERR_NULL);
    EXPECT_ERROR(LAM_ERR_NULL, "input 1", "back");
}
END_TEST

Suite *suite_custom_captures(void) {
    return SUITE_OF("custom/captures", values, batches_of_captures, derivatives_of_batches, derivatives_by_captures,
                    captures_from_below, rules_that_read_their_outputs, captures_below_a_checkpoint,
                    captures_below_a_transform, each_function_has_its_own, captures_of_hooks,
                    functions_of_rules_stay_as_they_are);
}
