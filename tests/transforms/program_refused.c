/* Texts of programs whose operations do not fit their operands: such a text is refused, since what public operations
 * check has not been checked, and the kernels take it for granted. */
#include "tests/support.h"
#include "tests/transforms/build.h"

#include <lamina/extend.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* A program of one equation, whose results all are returned. */
static const struct {
    const char *inputs, *results, *names, *equation, *words;
} refused[] = {
    {"v0: f64[5]", "v9: f64[5]", "v9", "cholesky(v0)", "not square matrices"},
    {"v0: f64[2, 3]", "v9: f64[2, 3]", "v9", "cholesky(v0)", "not square matrices"},
    {"v0: i64[3, 3]", "v9: i64[3, 3]", "v9", "cholesky(v0)", "not square matrices"},
#define SOLVE(right) "triangular_solve(v0, v1) right_side=" right ", upper=false, transpose=false, unit_diagonal=false"
    {"v0: f64[3, 4], v1: f64[3, 2]", "v9: f64[3, 2]", "v9", SOLVE("false"), "do not fit"},
    {"v0: f64[3, 3], v1: f64[2, 2]", "v9: f64[2, 2]", "v9", SOLVE("false"), "do not fit"},
    {"v0: f64[3, 3], v1: f64[3, 2]", "v9: f64[3, 2]", "v9", SOLVE("true"), "do not fit"},
    {"v0: f64[3, 3], v1: f64[3]", "v9: f64[3]", "v9", SOLVE("false"), "do not fit"},
    {"v0: f64[2, 3, 3], v1: f64[4, 3, 1]", "v9: f64[4, 3, 1]", "v9", SOLVE("false"), "do not fit"},
    {"v0: f64[3, 3], v1: f32[3, 1]", "v9: f32[3, 1]", "v9", SOLVE("false"), "do not fit"},
    {"v0: i32[3, 3], v1: i32[3, 1]", "v9: i32[3, 1]", "v9", SOLVE("false"), "do not fit"},
#undef SOLVE
    {"v0: i64[]", "v9: i64[]", "v9", "index_inverse(v0) n=2, mode=2", "do not fit"},
    {"v0: f64[3]", "v9: f64[3]", "v9", "polygamma(v0) order=-5", "do not fit"},
    {"v0: f64[3]", "v9: f64[3]", "v9", "polygamma(v0) order=1000000000", "do not fit"},
    {"v0: c128[3]", "v9: c128[3]", "v9", "loggamma(v0) order=-1", "do not fit"},
    {"v0: c128[3]", "v9: c128[3]", "v9", "wofz(v0) order=-1", "do not fit"},
    {"v0: f64[2, 2]", "v9: f64[2, 2]", "v9", "transpose(v0) order=[0, 0]", "do not fit"},
    {"v0: f64[2, 2]", "v9: f64[2, 2]", "v9", "transpose(v0) order=[0, 2]", "do not fit"},
    {"v0: f64[2, 2]", "v9: f64[2]", "v9", "transpose(v0) order=[0]", "do not fit"},
    {"v0: f64[4]", "v9: f64[2]", "v9", "slice(v0) start=[3], step=[1], count=[2]", "do not fit"},
    {"v0: f64[4]", "v9: f64[2]", "v9", "slice(v0) start=[0], step=[-1], count=[2]", "do not fit"},
    {"v0: f64[4], v1: f64[2]", "v9: f64[4]", "v9", "update_slice(v0, v1) start=[0], step=[0], count=[2]", "do not fit"},
    {"v0: f64[4], v1: f64[3]", "v9: f64[4]", "v9", "update_slice(v0, v1) start=[0], step=[1], count=[2]", "do not fit"},
    {"v0: f64[2, 3]", "v9: f64[2, 3]", "v9", "cumsum(v0) axis=2, reverse=0", "do not fit"},
    {"v0: f64[3]", "v9: i64[3]", "v9", "argsort(v0) axis=0, descending=0, count=4", "do not fit"},
    {"v0: f64[3]", "v9: i64[3]", "v9", "argsort(v0) axis=-1, descending=0, count=-1", "do not fit"},
    {"v0: f64[3]", "v9: f64[3]", "v9", "softmax(v0) first=0, count=2, epsilon=0", "do not fit"},
    {"v0: f64[3]", "v9: f64[2]", "v9", "reshape(v0) dims=[2]", "do not fit"},
    {"v0: f64[3]", "v9: f64[2]", "v9", "broadcast_to(v0) dims=[2]", "do not fit"},
    {"v0: f64[2, 3], v1: f64[3, 3]", "v9: f64[2, 6]", "v9", "concatenate(v0, v1) axis=1, fresh=0", "do not fit"},
    {"v0: f64[3]", "v8: f64[1], v9: f64[3]", "v8, v9", "split_sizes(v0) from_end=1, sizes=[1, 3]", "do not fit"},
    {"v0: f64[3]", "v8: f64[1], v9: f64[1]", "v8, v9", "split_sizes(v0) from_end=1, sizes=[1, 1]", "do not fit"},
    {"v0: f64[2, 2]", "v9: f64[2]", "v9", "diagonal(v0) offset=3, row=0, column=1", "do not fit"},
    {"v0: f64[2, 2]", "v9: f64[2]", "v9", "diagonal(v0) offset=0, row=1, column=1", "do not fit"},
    {"v0: f64[2, 2], v1: f64[2, 2]", "v9: f64[]", "v9",
     "dot_general(v0, v1) batch=0, contract=2, loose=false, x=[0, 0], y=[0, 1]", "do not fit"},
    {"v0: f64[3], v1: i64[2]", "v9: f64[2]", "v9", "take(v0, v1) axis=1, batch=0, mode=0", "do not fit"},
    {"v0: f64[3], v1: i64[2]", "v9: f64[2]", "v9", "take(v0, v1) axis=0, batch=0, mode=9", "do not fit"},
    {"v0: f64[3]", "v9: f64[3]", "v9", "reduce_precision(v0) bits=100", "do not fit"},
    {"v0: f64[3]", "v9: f64[3]", "v9", "reduce_precision(v0) bits=20", "do not fit"},
    {"v0: i64[2]", "v9: i64[2]", "v9", "random_bits(v0) form=99, low=0, span=0, dims=[2]", "do not fit"},
    {"v0: f64[3]", "v9: f64[3]", "v9", "erfcx(v0) member=-1", "no such member"},
    {"v0: f64[3]", "v9: f64[3]", "v9", "bessel_i(v0) member=-2", "no such member"},
    {"v0: f64[3]", "v9: f64[3]", "v9", "expn(v0)", "parameters are missing"},
    {"v0: f64[3]", "v9: f64[3]", "v9", "erfcx(v0)", "parameters are missing"},
    {"v0: f64[3]", "v9: f64[3]", "v9", "bessel_i(v0)", "parameters are missing"},
    {"v0: f64[3]", "v9: f64[3]", "v9", "mish_slope(v0)", "parameters are missing"},
    {"v0: f64[3]", "v9: f64[3]", "v9", "polygamma(v0)", "parameters are missing"},
    {"v0: f64[3]", "v9: f64[3]", "v9", "nan_to_num(v0)", "parameters are missing"},
    {"v0: f64[3], v1: f64[3]", "v9: f64[3]", "v9", "boxcox(v0, v1)", "parameters are missing"},
    {"v0: f64[3], v1: f64[3]", "v9: f64[3]", "v9", "boxcox1p(v0, v1)", "parameters are missing"},
    {"v0: f64[3], v1: f64[3]", "v9: f64[3]", "v9", "beta(v0, v1)", "parameters are missing"},
    {"v0: f64[3], v1: f64[3]", "v9: f64[3]", "v9", "zeta(v0, v1)", "parameters are missing"},
    {"v0: f64[3], v1: f64[3]", "v9: f64[3]", "v9", "igamma(v0, v1)", "parameters are missing"},
    {"v0: f64[3], v1: f64[3]", "v9: f64[3]", "v9", "polygamma_gap(v0, v1)", "parameters are missing"},
    {"v0: f64[3], v1: f64[3]", "v9: f64[3]", "v9", "pow_slope(v0, v1)", "parameters are missing"},
    {"v0: f64[3], v1: f64[3]", "v9: f64[3]", "v9", "atan2_slope(v0, v1)", "parameters are missing"},
    {"v0: f64[3], v1: f64[3], v2: f64[3]", "v9: f64[3]", "v9", "betainc(v0, v1, v2)", "parameters are missing"},
    {"v0: f64[3]", "v9: f64[3]", "v9", "checkpoint(v0)", "it calls functions"},
};
enum { REFUSED = sizeof refused / sizeof *refused };

START_TEST(operands_that_do_not_fit_are_refused) {
    char text[512];
    for (int i = 0; i < REFUSED; i++) {
        snprintf(text, sizeof text, "program f(%s) {\n    %s = %s\n    return %s\n}\n", refused[i].inputs,
                 refused[i].results, refused[i].equation, refused[i].names);
        ck_assert_msg(lam_failed(lam_program_read(ctx, text)), "%s", text);
        ck_assert_msg(strstr(lam_error(ctx), refused[i].words) != NULL, "%s\nis refused by: %s", text, lam_error(ctx));
        EXPECT_ERROR(LAM_ERR_VALUE, refused[i].words);
    }
}
END_TEST

/* Rules of operations know nothing of texts. Lines are those of the operation and of the ones that it is nested in. */
START_TEST(what_rules_refuse_is_told_with_its_line) {
    lam_program_read(ctx, "program f(v0: f64[2], v1: f64[3]) {\n    v2: f64[2] = sin(v0)\n    c0: f64[2] = all 1\n\n"
                          "    v3: f64[2] = mul(v2, v1)\n    return v3, v9\n}\n");
    EXPECT_ERROR(LAM_ERR_SHAPE, "mul: dims do not broadcast", "f64[2], f64[3]", "'f' (line 5)");
    lam_program_read(ctx,
                     "program f(v0: f64[2]) {\n    v1: f64[2] = sin(v0)\n    v2: f32[2] = sin(v1)\n    return v2\n}\n");
    EXPECT_ERROR(LAM_ERR_DTYPE, "result 0 is f32[2], but its rule gives f64[2]", "'f' (line 3)");
    lam_program_read(ctx, "program f(v0: f64[], v1: f64[3]) {\n    v2: i64[] = cast(v0) dtype=i64\n"
                          "    v3: f64[3] = switch(v2, v1) {\n        program left(v0: f64[3]) {\n"
                          "            v1: f64[3] = cumsum(v0) axis=0, reverse=0\n"
                          "            v2: f64[3] = and(v0, v1)\n            return v2\n        }\n    }\n"
                          "    return v3\n}\n");
    EXPECT_ERROR(LAM_ERR_DTYPE, "and: ", "f64[3], f64[3]", "'left' (line 6), called by 'f' (line 3)");
}
END_TEST

/* Of any shape, but matrices of floating numbers, as its own rule says. */
START_TEST(lu_is_of_matrices) {
    ck_assert(lam_program_read(ctx, "program f(v0: f64[2, 3]) {\n    v7: f64[2, 3], v8: i32[2], v9: i32[2] = lu(v0)\n"
                                    "    return v7, v8, v9\n}\n") != NULL);
    EXPECT_OK();
    lam_program_read(ctx, "program f(v0: i32[3, 3]) {\n    v7: i32[3, 3], v8: i32[3], v9: i32[3] = lu(v0)\n"
                          "    return v7, v8, v9\n}\n");
    EXPECT_ERROR(LAM_ERR_DTYPE, "lu", "no kernel for this dtype");
    lam_program_read(ctx, "program f(v0: f64[3]) {\n    v7: f64[3], v8: i32[3], v9: i32[3] = lu(v0)\n"
                          "    return v7, v8, v9\n}\n");
    EXPECT_ERROR(LAM_ERR_RANK, "lu", "a matrix is needed");
}
END_TEST

/* Of p a = l u with l = 1 and u = diag(2, 4), the right-hand side (8, 2) and its solutions, each twice. */
static void solve_in_order(bool transpose, const int32_t order[4], lam_status status) {
    char text[512];
    snprintf(text, sizeof text,
             "program f(v0: f64[2, 2, 2], v1: f64[2, 2, 2], v2: i32[2, 2], v3: f64[2, 2, 1]) {\n"
             "    v9: f64[2, 2, 1] = solve(v0, v1, v2, v3) transpose=%s, singular=false\n    return v9\n}\n",
             transpose ? "true" : "false");
    lam_tensor *a = lam_broadcast_to(MAT(2, 2, 0, 4, 2, 0), LAM_DIMS(2, 2, 2)), *x;
    lam_tensor *lu = lam_broadcast_to(MAT(2, 2, 2, 0, 0, 4), LAM_DIMS(2, 2, 2));
    lam_tensor *b = lam_broadcast_to(MAT(2, 1, 8, 2), LAM_DIMS(2, 2, 1));
    lam_tensor *p = lam_array(ctx, LAM_I32, LAM_DIMS(2, 2), order);
    ck_assert_int_eq(lam_call(lam_program_read(ctx, text), LAM_LIST(a, lu, p, b), &x, 1), status);
    if (status != LAM_OK) EXPECT_ERROR(status, "solve", "not a permutation");
    else if (transpose) EXPECT(x, LAM_DIMS(2, 2, 1), 0.5, 4, 0.5, 4);
    else EXPECT(x, LAM_DIMS(2, 2, 1), 1, 2, 1, 2);
}

/* An order that a text or its caller makes up: rows outside, and rows named twice, for which others are missing. */
START_TEST(orders_that_are_no_permutations_are_refused) {
    static const int32_t wrong[][4] = {{0, 0, 1, 0}, {1, 1, 1, 0},  {1, 0, 0, 0}, {1, 0, 1, 1},
                                       {0, 2, 1, 0}, {-1, 0, 1, 0}, {1, 0, 0, 2}};
    for (int k = 0; k < 2; k++) {
        solve_in_order(k, (int32_t[]){1, 0, 1, 0}, LAM_OK);
        for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) solve_in_order(k, wrong[i], LAM_ERR_INDEX);
    }
}
END_TEST

BODY(sum_of_exp1) {
    out[0] = lam_sum(lam_exp1(in[0]), NULL);
}

/* E_1'' = E_(-1), whose order is below that of any that users can ask for: (x + 1) exp(-x)/x^2. */
START_TEST(members_below_0_are_read) {
    lam_tensor *x = num(0.5);
    lam_fn *second = lam_grad(lam_grad(FN(sum_of_exp1, 1, 1), NULL), NULL);
    char *text = printed_text(lam_trace(second, LAM_LIST(x)));
    lam_tensor *got = NULL;
    (void)lam_call(lam_program_read(ctx, text), LAM_LIST(x), &got, 1);
    EXPECT_OK();
    ck_assert_double_eq_tol(lam_item(got), 1.5 * exp(-0.5) / 0.25, 1e-14);
    free(text);
}
END_TEST

/* Any operation of one to three operands of one type without parameters: the text is refused, or the program can be
 * called and derived. */
static void try_row(const lam_primitive *row) {
    char text[512];
    const char *const types[] = {"v0: f64[3]", "v0: f64[3], v1: f64[3]", "v0: f64[3], v1: f64[3], v2: f64[3]"},
                      *const operands[] = {"v0", "v0, v1", "v0, v1, v2"};
    if (row->inputs < 1 || row->inputs > 3 || row->outputs > 1) return;
    snprintf(text, sizeof text, "program f(%s) {\n    v9: f64[3] = %s(%s)\n    return v9\n}\n", types[row->inputs - 1],
             row->name, operands[row->inputs - 1]);
    lam_program *f = lam_program_read(ctx, text);
    lam_tensor *in[3] = {VEC(0.25, 0.5, 0.75), VEC(0.25, 0.5, 0.75), VEC(0.25, 0.5, 0.75)}, *out, *gx[3];
    const lam_list list = {(size_t)row->inputs, in};
    lam_fn *back;
    if (!lam_failed(f) && lam_vjp(f, list, &out, 1, &back, NULL) == LAM_OK)
        (void)lam_call(back, LAM_LIST(out), gx, (size_t)row->inputs);
    lam_clear_error(ctx);
}

START_TEST(operations_without_parameters) {
    for (const lam_primitive *const *row = lam_primitives(); *row; row++) {
        lam_scope *scope = lam_scope_begin(ctx);
        try_row(*row);
        (void)lam_scope_end(scope, NULL, 0);
    }
    EXPECT_OK();
}
END_TEST

Suite *suite_transforms_program_refused(void) {
    return SUITE_OF("transforms/program_refused", operands_that_do_not_fit_are_refused,
                    what_rules_refuse_is_told_with_its_line, lu_is_of_matrices,
                    orders_that_are_no_permutations_are_refused, members_below_0_are_read,
                    operations_without_parameters);
}
