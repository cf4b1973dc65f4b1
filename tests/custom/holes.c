/* Outputs that are left out: lam_fctx_mark_absent. A hole is NULL for the caller at every level, it has neither
 * cotangent nor tangent, and what two callbacks say of it must agree. Gradients are five times, tangents seven times
 * the true ones, so that values tell which rule ran. Then tangents and cotangents that rules for existing functions
 * leave out because they are zero. */
#include "tests/custom/callbacks.h"

/* ---- a Function of three outputs, of which some are left out ----------------------------------------------------- */

enum { PARTS = 3 };

static unsigned holes_of(const lam_fctx *fc) {
    return *(const unsigned *)lam_fctx_attrs(fc);
}

/* x^(o+1), but for the holes. */
FORWARD(powers_forward) {
    for (int o = 0; o < PARTS; o++) {
        if (holes_of(fc) >> o & 1) lam_fctx_mark_absent(fc, LAM_AXES(o));
        else out[o] = lam_integer_pow(in[0], o + 1);
    }
}

SETUP(powers_setup) {
    for (int o = 0; o < PARTS; o++) ck_assert_int_eq(!out[o], holes_of(fc) >> o & 1);
    lam_fctx_save_for_backward(fc, LAM_LIST(in[0], out[0], out[1], out[2]));
}

FORWARD(powers_combined) {
    powers_forward(fc, in, out);
    lam_fctx_save_for_backward(fc, LAM_LIST(in[0], out[0], out[1], out[2]));
}

static lam_tensor *powers_slope(lam_fctx *fc, int o) {
    return lam_mul(o + 1.0, lam_integer_pow(lam_fctx_saved(fc, 0), o));
}

BACKWARD(powers_backward) {
    gx[0] = lam_zeros_like(lam_fctx_saved(fc, 0));
    for (int o = 0; o < PARTS; o++) {
        bool hole = holes_of(fc) >> o & 1;
        ck_assert(!hole || (!g[o] && !lam_fctx_saved(fc, 1 + o)));
        if (!hole) gx[0] = lam_add(gx[0], lam_mul(5.0, lam_mul(g[o], powers_slope(fc, o))));
    }
}

JVP(powers_jvp) {
    for (int o = 0; o < PARTS; o++)
        if (!(holes_of(fc) >> o & 1)) dout[o] = lam_mul(7.0, lam_mul(t[0], powers_slope(fc, o)));
}

VMAP(powers_vmap) {
    powers_forward(fc, in, out);
    for (int o = 0; o < PARTS; o++)
        if (out[o]) out_axes[o] = in_axes[0];
}

static const lam_function powers[] = {
    {.forward = powers_forward,
     .setup_context = powers_setup,
     .backward = powers_backward,
     .jvp = powers_jvp,
     .generate_vmap_rule = true},
    {.forward = powers_combined, .backward = powers_backward, .jvp = powers_jvp},
    {.forward = powers_forward,
     .setup_context = powers_setup,
     .backward = powers_backward,
     .jvp = powers_jvp,
     .vmap = powers_vmap},
    {.forward = powers_forward,
     .setup_context = powers_setup,
     .backward = powers_backward,
     .jvp = powers_jvp,
     .vmap_by_loop = true},
};

typedef struct pick {
    const lam_function *f;
    unsigned holes;
} pick;

/* The sum of the outputs that there are. */
BODY(sum_of_powers) {
    const pick *p = env;
    lam_tensor *y[PARTS];
    lam_function f = *p->f;
    f.name = "powers", f.inputs = 1, f.outputs = PARTS, f.attrs_size = sizeof p->holes;
    ck_assert_int_eq(lam_function_apply(ctx, &f, &p->holes, LAM_LIST(in[0]), y, PARTS), LAM_OK);
    out[0] = lam_mul(0.0, in[0]);
    for (int o = 0; o < PARTS; o++) {
        ck_assert_int_eq(!y[o], p->holes >> o & 1);
        if (y[o]) out[0] = lam_add(out[0], y[o]);
    }
}

/* The sum of factors[o] over the outputs that are there. */
static double sum_over(unsigned holes, double a, double b, double c) {
    return (holes & 1 ? 0 : a) + (holes & 2 ? 0 : b) + (holes & 4 ? 0 : c);
}

/* At 2 the powers are 2, 4, 8, their derivatives 1, 4, 12, and second ones 0, 2, 12. */
START_TEST(callers_see_holes_at_every_level) {
    for (size_t style = 0; style < sizeof powers / sizeof *powers; style++)
        for (unsigned holes = 0; holes < 8; holes++) {
            pick p = {&powers[style], holes};
            lam_fn *f = FN_ENV(sum_of_powers, 1, 1, &p), *g = lam_grad(f, NULL), *j = forward_of(f);
            double value = sum_over(holes, 2, 4, 8), first = sum_over(holes, 1, 4, 12),
                   second = sum_over(holes, 0, 2, 12);
            EXPECT_NUM(apply1(f, num(2)), value);
            EXPECT_NUM(apply1(g, num(2)), 5 * first);
            EXPECT_NUM(apply1(j, num(2)), 7 * first);
            EXPECT_NUM(apply1(lam_grad(g, NULL), num(2)), 5 * second);
            EXPECT_NUM(apply1(forward_of(g), num(2)), 5 * second);
            EXPECT_NUM(apply1(lam_grad(j, NULL), num(2)), 7 * second);
            EXPECT(apply1(lam_vmap(f, NULL), VEC(2, 2)), LAM_DIMS(2), value, value);
            EXPECT(apply1(lam_vmap(g, NULL), VEC(2, 2)), LAM_DIMS(2), 5 * first, 5 * first);
            EXPECT(apply1(lam_vmap(forward_of(g), NULL), VEC(2, 2)), LAM_DIMS(2), 5 * second, 5 * second);
            lam_fn *batch = FN_ENV(sum_of, 1, 1, lam_vmap(f, NULL));
            double by = powers[style].vmap ? 1 : 5; /* a rule of the user's is differentiated as it stands */
            EXPECT(apply1(lam_grad(batch, NULL), VEC(2, 2)), LAM_DIMS(2), by * first, by * first);
            EXPECT(apply1(lam_jacfwd(lam_grad(batch, NULL), NULL), VEC(2, 2)), LAM_DIMS(2, 2), by * second, 0, 0,
                   by * second);
        }
}
END_TEST

/* ---- trees: what is left out of the input is left out of the output ---------------------------------------------- */

typedef struct layer {
    lam_tensor *weight, *bias;
} layer;

typedef struct net {
    layer first, last;
} net;

FORWARD(doubled) {
    const net *x = (const net *)(const void *)in;
    net *y = (net *)(void *)out;
    *y = (net){{lam_mul(2.0, x->first.weight), NULL}, {NULL, NULL}};
    if (x->first.bias) y->first.bias = lam_mul(2.0, x->first.bias);
    else lam_fctx_mark_absent(fc, LAM_AXES(LAM_LEAVES(net, first.bias)));
    lam_fctx_mark_absent(fc, LAM_AXES(LAM_LEAVES(net, last)));
}

SETUP(saves_nothing) {
}

BACKWARD(doubled_backward) {
    for (int k = 0; k < 4; k++) gx[k] = g[k] ? lam_mul(10.0, g[k]) : NULL;
}

static const lam_function doubling = {.name = "doubling",
                                      .inputs = 4,
                                      .outputs = 4,
                                      .forward = doubled,
                                      .setup_context = saves_nothing,
                                      .backward = doubled_backward,
                                      .generate_vmap_rule = true};

BODY(doubles) {
    net x = {{in[0], env ? in[1] : NULL}, {in[1], in[0]}}, y;
    lam_function_apply(ctx, &doubling, NULL, LAM_TREE(&x), LAM_OUT(&y));
    ck_assert(!y.last.weight && !y.last.bias && !y.first.bias == !env);
    out[0] = y.first.bias ? lam_add(y.first.weight, y.first.bias) : y.first.weight;
}

START_TEST(trees_lose_leaves) {
    for (int bias = 0; bias < 2; bias++) {
        lam_fn *f = FN_ENV(doubles, 2, 1, bias ? &bias : NULL);
        lam_fn *g = lam_grad(f, &(lam_grad_options){.argnums = LAM_AXES(0, 1)});
        lam_tensor *got[2];
        EXPECT_NUM(apply2(f, num(3), num(5)), bias ? 16 : 6);
        lam_call(g, LAM_LIST(num(3), num(5)), got, 2);
        EXPECT_NUM(got[0], 10);
        EXPECT_NUM(got[1], bias ? 10 : 0);
        lam_call(lam_vmap(g, NULL), LAM_LIST(VEC(3, 3), VEC(5, 5)), got, 2);
        EXPECT(got[1], LAM_DIMS(2), bias ? 10 : 0, bias ? 10 : 0);
        EXPECT_NUM(apply2(lam_jacfwd(f, NULL), num(3), num(5)), 10);
    }
}
END_TEST

/* ---- what must agree --------------------------------------------------------------------------------------------- */

typedef enum mistake { NONE, UNSET, SET_TOO, BEYOND, RANGE_BEYOND, NO_ITEMS, TANGENT, CHANGES, IN_SETUP } mistake;

static mistake made;
static int runs;

/* Two outputs, of which the second is left out, with a mistake. */
FORWARD(wrong_forward) {
    runs++;
    out[0] = lam_mul(3.0, in[0]);
    if (made == SET_TOO || (made == CHANGES && runs > 1)) out[1] = in[0];
    if (made == BEYOND) lam_fctx_mark_absent(fc, LAM_AXES(1, 2));
    else if (made == RANGE_BEYOND) lam_fctx_mark_absent(fc, LAM_AXES(LAM_RANGE(1, 3)));
    else if (made == NO_ITEMS) lam_fctx_mark_absent(fc, (lam_axes){1, NULL});
    else if (made != UNSET && !(made == CHANGES && runs > 1)) lam_fctx_mark_absent(fc, LAM_AXES(-1));
}

SETUP(wrong_setup) {
    if (made == IN_SETUP) lam_fctx_mark_absent(fc, LAM_AXES(1));
}

JVP(wrong_jvp) {
    dout[0] = lam_mul(3.0, t[0]);
    if (made == TANGENT) dout[1] = t[0];
}

VMAP(wrong_vmap) {
    wrong_forward(fc, in, out);
    out_axes[0] = in_axes[0];
    if (made == SET_TOO) out_axes[1] = in_axes[0];
}

static const lam_function wrong_separate = {.name = "wrong",
                                            .inputs = 1,
                                            .outputs = 2,
                                            .forward = wrong_forward,
                                            .setup_context = wrong_setup,
                                            .jvp = wrong_jvp,
                                            .vmap = wrong_vmap};
static const lam_function wrong_combined = {
    .name = "wrong", .inputs = 1, .outputs = 2, .forward = wrong_forward, .jvp = wrong_jvp};
static const lam_function wrong_loop = {
    .name = "wrong", .inputs = 1, .outputs = 2, .forward = wrong_forward, .jvp = wrong_jvp, .vmap_by_loop = true};

BODY(first_of_wrong) {
    lam_tensor *y[2];
    lam_function_apply(ctx, env, NULL, LAM_LIST(in[0]), y, 2);
    out[0] = y[0];
}

static void run_wrong(mistake m, const lam_function *f, lam_fn *(*mode)(lam_fn *f)) {
    made = m;
    runs = 0;
    lam_fn *g = FN_ENV(first_of_wrong, 1, 1, (void *)(uintptr_t)f);
    apply1(mode ? mode(g) : g, mode ? VEC(1, 2) : num(1));
}

static lam_fn *batched(lam_fn *f) {
    return lam_vmap(f, NULL);
}

static lam_fn *twice_forward(lam_fn *f) {
    return forward_of(forward_of(f));
}

START_TEST(holes_that_do_not_fit) {
    static const struct {
        mistake made;
        lam_status status;
        const char *text, *expected;
    } everywhere[] = {
        {UNSET, LAM_ERR_ARITY, "output 1 was not set", "lam_fctx_mark_absent"},
        {SET_TOO, LAM_ERR_RULE, "output 1 is set", "says that it is left out"},
        {BEYOND, LAM_ERR_RULE, "output 2 is out of range", "[-2, 2)"},
        {RANGE_BEYOND, LAM_ERR_RULE, "output 3 is out of range", "[-2, 2)"},
        {NO_ITEMS, LAM_ERR_NULL, "lam_fctx_mark_absent", "without items"},
    };
    for (size_t k = 0; k < sizeof everywhere / sizeof *everywhere; k++) {
        run_wrong(everywhere[k].made, &wrong_separate, NULL);
        EXPECT_ERROR(everywhere[k].status, "'wrong', forward", everywhere[k].text, everywhere[k].expected);
        run_wrong(everywhere[k].made, &wrong_separate, batched);
        EXPECT_ERROR(everywhere[k].status, "'wrong', vmap", everywhere[k].text, everywhere[k].expected);
    }
    run_wrong(IN_SETUP, &wrong_separate, forward_of);
    EXPECT_ERROR(LAM_ERR_RULE, "'wrong', setup_context", "lam_fctx_mark_absent may not be called here");
    run_wrong(TANGENT, &wrong_separate, forward_of);
    EXPECT_ERROR(LAM_ERR_RULE, "'wrong', jvp", "tangent for output 1", "left out");
    run_wrong(TANGENT, &wrong_combined, forward_of);
    EXPECT_ERROR(LAM_ERR_RULE, "'wrong', jvp", "tangent for output 1", "left out");
    run_wrong(CHANGES, &wrong_combined, twice_forward);
    EXPECT_ERROR(LAM_ERR_RULE, "'wrong'", "left output 1 out at one level and gave it at another");
    run_wrong(CHANGES, &wrong_loop, batched);
    EXPECT_ERROR(LAM_ERR_RULE, "'wrong'", "left output 1 out for example 0 and gave it for example 1");
    run_wrong(NONE, &wrong_combined, twice_forward);
    EXPECT_OK();
    apply1(lam_function_fn(ctx, &wrong_combined, NULL, 1, 2), num(1));
    EXPECT_ERROR(LAM_ERR_ARITY, "takes 1 inputs and gives 2 outputs");
    lam_tensor *y[2];
    lam_call(lam_function_fn(ctx, &wrong_combined, NULL, 1, 2), LAM_LIST(num(1)), y, 2);
    EXPECT_ERROR(LAM_ERR_ARITY, "'wrong'", "output 1 is left out", "lam_function_apply");
}
END_TEST

/* ---- types of holes ---------------------------------------------------------------------------------------------- */

static bool shape_leaves_out, forward_leaves_out;

/* 2 x by foreign code, and maybe x. */
FORWARD(linear_forward) {
    double x = lam_item(in[0]);
    out[0] = lam_scalar(lam_fctx_ctx(fc), 2 * x);
    if (forward_leaves_out) lam_fctx_mark_absent(fc, LAM_AXES(1));
    else out[1] = in[0];
}

BACKWARD(linear_backward) {
    ck_assert(!g[1] || !shape_leaves_out);
    gx[0] = lam_mul(2.0, g[0]);
    if (g[1]) gx[0] = lam_add(gx[0], g[1]);
}

static void linear_shape(lam_fctx *fc, const lam_type in[], lam_type out[]) {
    out[0] = in[0];
    if (shape_leaves_out) lam_fctx_mark_absent(fc, LAM_AXES(1));
    else out[1] = in[0];
}

static void muddled_shape(lam_fctx *fc, const lam_type in[], lam_type out[]) {
    out[0] = out[1] = in[0];
    lam_fctx_mark_absent(fc, LAM_AXES(1));
}

#define LINEAR(...)                                                                                                    \
    {                                                                                                                  \
        .name = "linear", .inputs = 1, .outputs = 2, .forward = linear_forward, .setup_context = saves_nothing,        \
        .backward = linear_backward, .vmap_by_loop = true, .is_linear = true, __VA_ARGS__                              \
    }

static const lam_function recorded = LINEAR(.shape = linear_shape);

/* Tangents go through the Function itself, which a level that records takes as a whole. */
JVP(linear_jvp) {
    lam_function_apply(lam_fctx_ctx(fc), &recorded, NULL, LAM_LIST(t[0]), dout, 2);
}

static const lam_function linear = LINEAR(.shape = linear_shape, .jvp = linear_jvp);
static const lam_function muddled = LINEAR(.shape = muddled_shape);

BODY(sum_of_linear) {
    lam_tensor *y[2];
    if (lam_function_apply(ctx, env, NULL, LAM_LIST(in[0]), y, 2) != LAM_OK) y[1] = NULL;
    out[0] = y[1] ? lam_add(y[0], y[1]) : y[0];
}

/* A recorded Function: its shape callback says at the time of recording what is left out. */
START_TEST(recorded_functions_have_holes) {
    lam_fn *f = FN_ENV(sum_of_linear, 1, 1, (void *)(uintptr_t)&linear), *map;
    lam_tensor *y;
    for (int out = 0; out < 2; out++) {
        shape_leaves_out = forward_leaves_out = out;
        lam_linearize(f, LAM_LIST(num(5)), &y, 1, &map, NULL);
        EXPECT_NUM(y, out ? 10 : 15);
        EXPECT_NUM(apply1(map, num(1)), out ? 2 : 3);
        EXPECT_NUM(apply1(lam_linear_transpose(f, LAM_LIST(num(0))), num(1)), out ? 2 : 3);
        lam_tensor *none = lam_zeros(ctx, LAM_F64, LAM_DIMS(0));
        EXPECT_EMPTY(apply1(lam_vmap(f, &(lam_vmap_options){.axis_size = LAM_ZERO_SIZE}), none), LAM_DIMS(0));
        forward_leaves_out = !out;
        apply1(map, num(1));
        EXPECT_ERROR(LAM_ERR_RULE, "linear", out ? "output 1 is there" : "output 1 is left out", "shape");
    }
    lam_linear_transpose(FN_ENV(sum_of_linear, 1, 1, (void *)(uintptr_t)&muddled), LAM_LIST(num(0)));
    EXPECT_ERROR(LAM_ERR_RULE, "'linear', shape", "output 1 has a type", "left out");
    shape_leaves_out = forward_leaves_out = false;
}
END_TEST

/* ---- zeros of rules for existing functions ----------------------------------------------------------------------- */

/* x sin(y) whose rules by y are twice the derivative for an x of 1, and by x there are none: of f(x, x) at 3 it is
 * 2 cos(3). */
BODY(times_sine) {
    out[0] = lam_mul(in[0], lam_sin(in[1]));
}

BODY(times_sine_fwd) {
    out[0] = lam_mul(in[0], lam_sin(in[1]));
    out[1] = lam_cos(in[1]);
}

BODY(times_sine_bwd) {
    out[1] = lam_mul(2.0, lam_mul(in[0], in[1]));
}

BODY(times_sine_rule) {
    out[0] = lam_mul(in[0], lam_sin(in[1]));
    if (in[3]) out[1] = lam_mul(2.0, lam_mul(lam_cos(in[1]), in[3]));
}

BODY(slope_by_y) {
    out[0] = lam_mul(2.0, lam_mul(lam_cos(in[3]), in[0]));
}

BODY(slope_by_x) {
    out[0] = lam_mul(lam_sin(in[3]), in[0]);
}

BODY(no_slope) {
    (void)in, (void)out;
}

BODY(of_equals) {
    out[0] = lam_apply(env, LAM_LIST(in[0], in[0]));
}

START_TEST(rules_leave_out_what_is_zero) {
    lam_fn *plain = FN(times_sine, 2, 1), *by_y = FN(slope_by_y, 4, 1), *none = FN(no_slope, 4, 1);
    lam_fn *rules[] = {none, by_y};
    lam_custom_options symbolic = {.symbolic_zeros = true};
    lam_fn *all[] = {
        lam_custom_vjp(plain, FN(times_sine_fwd, 2, 2), FN(times_sine_bwd, 2, 2), NULL),
        lam_custom_jvp(plain, FN(times_sine_rule, 4, 2), NULL),
        lam_custom_jvp(plain, FN(times_sine_rule, 4, 2), &symbolic),
        lam_custom_jvps(plain, rules, 2, NULL),
    };
    lam_fn *other_way[] = {FN(slope_by_x, 4, 1), none}, *by_x = lam_custom_jvps(plain, other_way, 2, NULL);
    EXPECT_NUM(apply1(forward_of(FN_ENV(of_equals, 1, 1, by_x)), num(0.5)), sin(0.5));
    lam_tensor *x = VEC(0, 1, 2), *want = lam_mul(2.0, lam_cos(x)), *bend = lam_mul(-2.0, lam_sin(x)), *g[2];
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        lam_fn *f = FN_ENV(of_equals, 1, 1, all[i]), *slope = reverse_of(f);
        EXPECT_SAME(apply1(lam_vmap(slope, NULL), x), want, 1e-15);
        EXPECT_SAME(apply1(lam_vmap(forward_of(f), NULL), x), want, 1e-15);
        EXPECT_SAME(apply1(lam_jit(lam_vmap(slope, NULL), NULL), x), want, 1e-15);
        EXPECT_SAME(apply1(reverse_of(FN_ENV(sum_of, 1, 1, lam_vmap(f, NULL))), x), want, 1e-15);
        EXPECT_SAME(apply1(lam_vmap(reverse_of(slope), NULL), x), bend, 1e-15);
        lam_call(lam_grad(all[i], &(lam_grad_options){.argnums = LAM_AXES(0, 1)}), LAM_LIST(num(2), num(0)), g, 2);
        EXPECT_NUM(g[0], 0);
        EXPECT_NUM(g[1], 2);
    }
    EXPECT_OK();
}
END_TEST

/* A function of two outputs, one of which has the tangent that comes in, be it one or none. */
BODY(pair_of) {
    out[0] = lam_alias(in[0]);
    out[1] = lam_mul(3.0, in[1]);
}

BODY(pair_rule) {
    pair_of(ctx, in, out, env);
    out[2] = in[2];
    out[3] = in[3] ? lam_mul(3.0, in[3]) : NULL;
}

START_TEST(zeros_that_come_are_passed_on) {
    lam_fn *f = lam_custom_jvp(FN(pair_of, 2, 2), FN(pair_rule, 4, 4), &(lam_custom_options){.symbolic_zeros = true});
    lam_tensor *out[2], *t[2], *one = num(1);
    lam_jvp(f, LAM_LIST(num(5), num(7)), LAM_LIST(NULL, one), out, t, 2, NULL);
    EXPECT_NUM(t[0], 0);
    EXPECT_NUM(t[1], 3);
    lam_jvp(lam_vmap(f, NULL), LAM_LIST(VEC(5, 6), VEC(7, 8)), LAM_LIST(VEC(1, 2), NULL), out, t, 2, NULL);
    EXPECT(t[0], LAM_DIMS(2), 1, 2);
    EXPECT(t[1], LAM_DIMS(2), 0, 0);
    EXPECT_OK();
}
END_TEST

/* What a rule computes beside tangents is asked of it, and so is all of what the same function gives elsewhere. */
START_TEST(values_of_rules_are_not_left_out) {
    lam_fn *rule = FN(no_slope, 4, 2), *bwd = FN(times_sine_bwd, 2, 2);
    apply2(reverse_of(lam_custom_jvp(FN(times_sine, 2, 1), rule, NULL)), num(1), num(2));
    EXPECT_ERROR(LAM_ERR_ARITY, "output 0", "no_slope", "was not set");
    lam_fn *f = lam_custom_vjp(FN(times_sine, 2, 1), FN(times_sine_fwd, 2, 2), bwd, NULL);
    EXPECT_NUM(apply2(reverse_of(f), num(1), num(0)), 0);
    lam_tensor *out[2];
    lam_call(bwd, LAM_LIST(num(1), num(2)), out, 2);
    EXPECT_ERROR(LAM_ERR_ARITY, "output 0", "times_sine_bwd", "was not set");
}
END_TEST

Suite *suite_custom_holes(void) {
    return SUITE_OF("custom/holes", callers_see_holes_at_every_level, trees_lose_leaves, holes_that_do_not_fit,
                    recorded_functions_have_holes, rules_leave_out_what_is_zero, zeros_that_come_are_passed_on,
                    values_of_rules_are_not_left_out);
}
