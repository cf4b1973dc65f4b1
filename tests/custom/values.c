/* Where the values of lam_custom_jvp and lam_custom_vjp come from: without a derivative from the function, where one is
 * wanted from the rule, which the levels below differentiate as it stands. The function is x^3; the values of its rules
 * are ten times that, their derivatives 7 x^2, so a number tells what ran. Expected numbers are those of the same
 * program in JAX 0.10.2, and of x^3, 10 x^3, 7 x^2 and their derivatives. */
#include "tests/custom/callbacks.h"

static int runs; /* of the function itself */

BODY(cube) {
    runs++;
    out[0] = lam_integer_pow(in[0], 3);
}

/* What a rule calls for its value: env is a place that holds the function with rules, or NULL. */
static lam_tensor *ten_times(void *env, lam_tensor *x) {
    lam_fn *itself = env ? *(lam_fn **)env : NULL;
    return lam_mul(10.0, itself ? apply1(itself, x) : lam_integer_pow(x, 3));
}

BODY(cube_rule) {
    out[0] = ten_times(env, in[0]);
    out[1] = lam_mul(7.0, lam_mul(in[1], lam_square(in[0])));
}

BODY(cube_fwd) {
    out[0] = ten_times(env, in[0]);
    out[1] = in[0];
}

BODY(cube_bwd) {
    out[0] = lam_mul(7.0, lam_mul(in[1], lam_square(in[0])));
}

/* ---- one input --------------------------------------------------------------------------------------------------- */

BODY(value_beside_tangent) {
    lam_tensor *tangent;
    lam_jvp(env, LAM_LIST(in[0]), LAM_LIST(lam_ones_like(in[0])), &out[0], &tangent, 1, NULL);
}

BODY(value_beside_gradient) {
    lam_tensor *both[2];
    lam_call(lam_value_and_grad(env, NULL), LAM_LIST(in[0]), both, 2);
    out[0] = both[0];
}

BODY(value_beside_linear) {
    lam_fn *linear;
    lam_linearize(env, LAM_LIST(in[0]), &out[0], 1, &linear, NULL);
}

BODY(batch_of_one) {
    out[0] = lam_sum(apply1(lam_vmap(env, NULL), lam_expand_dims(in[0], 0)), NULL);
}

/* The function that a word stands for, its last letter applied first: T tangent, V the value beside it, G gradient,
 * W the value beside it, L the value that lam_linearize gives, B a batch of one. */
static lam_fn *word_of(const char *word, lam_fn *f) {
    if (!*word) return f;
    lam_fn *inner = word_of(word + 1, f);
    switch (*word) {
    case 'T': return forward_of(inner);
    case 'V': return FN_ENV(value_beside_tangent, 1, 1, inner);
    case 'G': return reverse_of(inner);
    case 'W': return FN_ENV(value_beside_gradient, 1, 1, inner);
    case 'L': return FN_ENV(value_beside_linear, 1, 1, inner);
    default: return FN_ENV(batch_of_one, 1, 1, inner);
    }
}

typedef struct row {
    const char *word;
    double plain, recursive; /* the rule's value is made by operations; by the function with the rule itself */
} row;

static const row rows[] = {
    {"", 8, 8},        {"T", 28, 28},    {"V", 80, 80},    {"G", 28, 28},     {"W", 80, 80},     {"TV", 120, 280},
    {"GV", 120, 280},  {"TW", 120, 280}, {"GW", 120, 280}, {"VV", 80, 800},   {"TT", 28, 28},    {"GT", 28, 28},
    {"TG", 28, 28},    {"GG", 28, 28},   {"VT", 28, 28},   {"TTV", 120, 280}, {"GGW", 120, 280}, {"VVV", 80, 8000},
    {"WWW", 80, 8000}, {"L", 80, 80},    {"TL", 120, 280}, {"LL", 80, 800},   {"GL", 120, 280},
};

static lam_fn *with_jvp(lam_fn **itself) {
    return lam_custom_jvp(FN(cube, 1, 1), FN_ENV(cube_rule, 2, 2, itself), NULL);
}

static lam_fn *with_vjp(lam_fn **itself) {
    return lam_custom_vjp(FN(cube, 1, 1), FN_ENV(cube_fwd, 1, 2, itself), FN(cube_bwd, 2, 1), NULL);
}

static lam_fn *(*const makers[])(lam_fn **itself) = {with_jvp, with_vjp};

/* As it is, in a batch, and of a batch. */
static void check_row(const row *r, lam_fn *f, double want, bool function_runs) {
    runs = 0;
    EXPECT_NUM(apply1(word_of(r->word, f), num(2)), want);
    ck_assert_int_eq(runs > 0, function_runs);
    EXPECT(apply1(lam_vmap(word_of(r->word, f), NULL), VEC(2, 2)), LAM_DIMS(2), want, want);
    EXPECT_NUM(apply1(word_of(r->word, word_of("B", f)), num(2)), want);
}

START_TEST(values_are_those_of_jax) {
    for (size_t m = 0; m < sizeof makers / sizeof *makers; m++)
        for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
            lam_fn *recursive = NULL;
            check_row(&rows[k], makers[m](NULL), rows[k].plain, !*rows[k].word);
            recursive = makers[m](&recursive);
            check_row(&rows[k], recursive, rows[k].recursive, true);
        }
}
END_TEST

/* ---- several inputs and outputs ---------------------------------------------------------------------------------- */

static lam_tensor *count_of(double n) {
    return lam_cast(num(n), LAM_I64);
}

/* x y and an integer, which has no tangent. */
BODY(product) {
    runs++;
    out[0] = lam_mul(in[0], in[1]);
    out[1] = count_of(3);
}

static bool nulls[2];

/* 10 x y; 7 dx y + 3 dy x. */
BODY(product_rule) {
    nulls[0] = !in[3], nulls[1] = !in[4];
    ck_assert_ptr_null(in[5]);
    out[0] = lam_mul(10.0, lam_mul(in[0], in[1]));
    out[1] = count_of(4);
    lam_tensor *by_x = in[3] ? lam_mul(7.0, lam_mul(in[3], in[1])) : lam_zeros_like(in[0]);
    out[2] = in[4] ? lam_add(by_x, lam_mul(3.0, lam_mul(in[4], in[0]))) : by_x;
    out[3] = lam_zeros_like(in[2]);
}

/* A tangent for y alone: that for x is zero or NULL, that for the integer NULL. In JAX 0.10.2 the value is 60 and the
 * tangent 6. */
START_TEST(values_beside_other_inputs) {
    for (int symbolic = 0; symbolic < 2; symbolic++) {
        lam_custom_options o = {.symbolic_zeros = symbolic};
        lam_fn *f = lam_custom_jvp(FN(product, 3, 2), FN(product_rule, 6, 4), &o);
        lam_tensor *in[] = {num(2), num(3), count_of(1)}, *y[2], *dy[2], *g[2];
        lam_call(f, (lam_list){3, in}, y, 2);
        EXPECT_NUM(y[0], 6);
        ck_assert(lam_item(y[1]) == 3);
        runs = 0;
        lam_jvp(f, (lam_list){3, in}, LAM_LIST(NULL, num(1), NULL), y, dy, 2, NULL);
        EXPECT_NUM(y[0], 60);
        EXPECT_NUM(dy[0], 6);
        ck_assert(lam_item(y[1]) == 4 && nulls[0] == symbolic && !nulls[1]);
        lam_fn *pull;
        lam_vjp(f, (lam_list){3, in}, y, 2, &pull, &(lam_grad_options){.argnums = LAM_AXES(0, 1), .has_aux = 1});
        EXPECT_NUM(y[0], 60);
        ck_assert(lam_item(y[1]) == 4);
        lam_call(pull, LAM_LIST(num(1)), g, 2);
        EXPECT_NUM(g[0], 21);
        EXPECT_NUM(g[1], 6);
        ck_assert_int_eq(runs, 0);
    }
}
END_TEST

/* The same as rules per input: the value is that of the function, as it is of JAX's defjvps. */
BODY(rule_for_cube) {
    out[0] = lam_mul(7.0, lam_mul(in[0], lam_square(in[2])));
}

START_TEST(rules_per_input_keep_the_value) {
    lam_fn *rules[] = {FN(rule_for_cube, 3, 1)}, *f = lam_custom_jvps(FN(cube, 1, 1), rules, 1, NULL);
    EXPECT_NUM(apply1(word_of("V", f), num(2)), 8);
    EXPECT_NUM(apply1(word_of("T", f), num(2)), 28);
    EXPECT_NUM(apply1(word_of("TV", f), num(2)), 28);
    EXPECT_NUM(apply1(word_of("GW", f), num(2)), 28);
}
END_TEST

/* x^2 and the whole part of x. */
BODY(square_and_whole) {
    out[0] = lam_square(in[0]);
    out[1] = lam_cast(in[0], LAM_I64);
}

/* tangent, outputs, x: eleven times the true one, and a number for the integer, since a function leaves none out. */
BODY(square_and_whole_rule) {
    out[0] = lam_mul(in[0], lam_mul(22.0, in[3]));
    out[1] = lam_zeros_like(in[2]);
}

BODY(square_of_two_outputs) {
    lam_tensor *y[2];
    lam_call(env, LAM_LIST(in[0]), y, 2);
    out[0] = y[0];
}

START_TEST(rules_per_input_of_integer_outputs) {
    lam_fn *rules[1] = {FN(square_and_whole_rule, 4, 2)};
    lam_fn *f = FN_ENV(square_of_two_outputs, 1, 1, lam_custom_jvps(FN(square_and_whole, 1, 2), rules, 1, NULL));
    EXPECT_NUM(apply1(forward_of(f), num(3)), 66);
    EXPECT_NUM(apply1(reverse_of(f), num(3)), 66);
    EXPECT_NUM(apply1(reverse_of(reverse_of(f)), num(3)), 22);
    EXPECT(apply1(lam_vmap(reverse_of(f), NULL), VEC(3, 4)), LAM_DIMS(2), 66, 88);
}
END_TEST

/* Forward mode runs the rule once for value and tangent. */
static int rule_runs;

BODY(counted_rule) {
    rule_runs++;
    cube_rule(ctx, in, out, env);
}

START_TEST(forward_mode_runs_the_rule_once) {
    lam_fn *f = lam_custom_jvp(FN(cube, 1, 1), FN(counted_rule, 2, 2), NULL);
    rule_runs = 0;
    EXPECT_NUM(apply1(word_of("T", f), num(2)), 28);
    ck_assert_int_eq(rule_runs, 1);
    EXPECT_NUM(apply1(word_of("TTV", f), num(2)), 120);
    ck_assert_int_eq(rule_runs, 2);
}
END_TEST

/* x + y, doubled by the rule, which counts on a tangent being there. */
BODY(sum_of_two) {
    out[0] = lam_add(in[0], in[1]);
}

BODY(rule_of_present_tangents) {
    lam_tensor *dx = in[2], *dy = in[3];
    out[0] = lam_mul(2.0, lam_add(in[0], in[1]));
    out[1] = lam_mul(2.0, dx && dy ? lam_add(dx, dy) : dx ? dx : dy);
}

START_TEST(a_rule_for_symbolic_zeros_has_a_tangent_in_reverse_mode_too) {
    lam_custom_options options = {.symbolic_zeros = true};
    lam_fn *f = lam_custom_jvp(FN(sum_of_two, 2, 1), FN(rule_of_present_tangents, 4, 2), &options);
    for (int argnum = 0; argnum < 2; argnum++) {
        lam_tensor *out[2];
        lam_fn *both = lam_value_and_grad(f, &(lam_grad_options){.argnums = LAM_AXES(argnum)});
        lam_call(both, LAM_LIST(num(3), num(4)), out, 2);
        EXPECT_NUM(out[0], 14);
        EXPECT_NUM(out[1], 2);
    }
}
END_TEST

Suite *suite_custom_values(void) {
    return SUITE_OF("custom/values", values_are_those_of_jax, values_beside_other_inputs,
                    rules_per_input_keep_the_value, rules_per_input_of_integer_outputs, forward_mode_runs_the_rule_once,
                    a_rule_for_symbolic_zeros_has_a_tangent_in_reverse_mode_too);
}
