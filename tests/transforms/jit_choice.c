/* What lam_jit fuses, and what it leaves to calls because these take less time: by the number of lanes, of steps and of
 * elements that are moved. */
#include "tests/support.h"

/* What was compiled of f at these inputs, after its results have been compared with those of f. */
static lam_jit_report report_of(lam_fn *f, lam_list in, size_t outputs, bool native) {
    lam_tensor *want[2], *got[2];
    lam_fn *jitted = lam_jit(f, &(lam_jit_options){.native = native});
    ck_assert_int_eq(lam_call(f, in, want, outputs), LAM_OK);
    ck_assert_int_eq(lam_call(jitted, in, got, outputs), LAM_OK);
    for (size_t o = 0; o < outputs; o++) EXPECT_SAME(got[o], want[o], 1e-9);
    return lam_jit_report_of(jitted);
}

/* Maps of joints multiplied one after the other, and shares of corners that these have nothing to do with: what is good
 * for the ones, lanes of three, takes longer than calls for the others. */
BODY(joints_and_shares) {
    lam_tensor *at = lam_slice_axis(in[0], 1, 0, 3),
               *rest = lam_sub(1.0, lam_sum(in[1], &(lam_reduce_options){.axes = LAM_AXES(1), .keepdims = true}));
    for (int i = 0; i < 12; i++) at = lam_matmul(in[0], lam_sin(lam_matmul(lam_cos(in[0]), at)));
    out[0] = at;
    out[1] = lam_concatenate(LAM_LIST(in[1], rest), 1);
}

START_TEST(what_is_apart_is_judged_apart) {
    lam_tensor *in[2] = {lam_reshape(lam_linspace(ctx, LAM_F64, -0.4, 0.5, 16), LAM_DIMS(4, 4)),
                         lam_reshape(lam_linspace(ctx, LAM_F64, 0, 0.5, 1200), LAM_DIMS(600, 2))};
    lam_jit_report r = report_of(FN(joints_and_shares, 2, 2), (lam_list){2, in}, 2, false);
    ck_assert_int_eq(r.parts, 1);
    ck_assert_int_gt(r.fused, r.equations - 8);
    ck_assert_int_lt(r.fused, r.equations);
}
END_TEST

BODY(sum_of_logs) {
    out[0] = lam_sum(lam_log(in[0]), NULL);
}

BODY(sum_of_terms) {
    out[0] = lam_sum(lam_xlogy(in[0], lam_exprel(in[0])), NULL);
}

BODY(sum_of_entropies) {
    out[0] = lam_sum(lam_rel_entr(in[0], lam_add(in[0], 1)), NULL);
}

BODY(sum_of_betas) {
    out[0] = lam_sum(lam_betaln(in[0], 2), NULL);
}

/* Before one sum there is one lane, in which they would be called element by element. */
START_TEST(functions_of_many_elements_are_called_once) {
    const lam_body bodies[] = {sum_of_logs, sum_of_terms, sum_of_entropies, sum_of_betas};
    for (int k = 0; k < 4; k++) {
        lam_jit_report r = report_of(FN(bodies[k], 1, 1), LAM_LIST(lam_linspace(ctx, LAM_F64, 0.5, 2, 3000)), 1, false);
        ck_assert_int_lt(r.steps, 20);
    }
}
END_TEST

BODY(differences_of_columns) {
    lam_tensor *d = lam_sub(lam_slice_axis(in[0], 1, 1, LAM_END), lam_slice_axis(in[0], 1, 0, -1));
    out[0] = lam_add(lam_mul(lam_square(d), d), 1.0);
}

BODY(sum_of_what_is_cut_off) {
    out[0] = lam_sum(lam_hard_tanh(in[0]), NULL);
}

/* One pass over memory is faster in a call than through registers; five are not, where rows are read from the views
 * themselves. */
START_TEST(passes_over_much_memory) {
    lam_tensor *x = lam_reshape(lam_linspace(ctx, LAM_F64, -2, 2, 400000), LAM_DIMS(1000, 400));
    ck_assert_int_eq(report_of(FN(sum_of_what_is_cut_off, 1, 1), LAM_LIST(x), 1, false).fused, 0);
    for (int native = 0; native < 2; native++) {
        const lam_jit_report r = report_of(FN(differences_of_columns, 1, 1), LAM_LIST(x), 1, native);
        ck_assert_int_eq(r.fused, r.equations);
        ck_assert_int_eq(r.lanes, 399);
    }
}
END_TEST

BODY(products_of_rows) {
    out[0] = lam_prod(lam_add(1, lam_mul(1e-3, in[0])), &(lam_reduce_options){.axes = LAM_AXES(1)});
}

BODY(logsumexp_of_rows) {
    out[0] = lam_logsumexp(in[0], &(lam_reduce_options){.axes = LAM_AXES(1)});
}

/* Were rows the lanes, machine code would take an element of each from another place in memory: what is done before a
 * product of each row goes along the memory, and the product is a call. */
START_TEST(rows_in_memory_are_no_lanes) {
    lam_tensor *x = lam_reshape(lam_linspace(ctx, LAM_F64, -2, 2, 400000), LAM_DIMS(1000, 400));
    const lam_jit_report r = report_of(FN(products_of_rows, 1, 1), LAM_LIST(x), 1, true);
    ck_assert_int_eq(r.fused, 2);
    ck_assert_int_ne(r.lanes, 1000);
    ck_assert_int_eq(report_of(FN(products_of_rows, 1, 1), LAM_LIST(x), 1, false).fused, 0);
    ck_assert_int_eq(report_of(FN(logsumexp_of_rows, 1, 1), LAM_LIST(x), 1, true).fused, 0);
}
END_TEST

Suite *suite_transforms_jit_choice(void) {
    return SUITE_OF("transforms/jit_choice", what_is_apart_is_judged_apart, functions_of_many_elements_are_called_once,
                    passes_over_much_memory, rows_in_memory_are_no_lanes);
}
