/* Types of what the rules of lam_custom_vjp and lam_custom_jvp give: as in JAX they are those of the function and of
 * its inputs, and nothing is summed or broadcast. */
#include "tests/custom/callbacks.h"

BODY(sine) {
    out[0] = lam_sin(in[0]);
}

BODY(sine_fwd) {
    out[0] = lam_sin(in[0]);
    out[1] = in[0];
}

BODY(sine_bwd) {
    out[0] = lam_mul(in[1], lam_cos(in[0]));
}

/* One row more than the input has. */
BODY(rows_bwd) {
    lam_tensor *g = lam_mul(in[1], lam_cos(in[0]));
    out[0] = lam_stack(LAM_LIST(g, g), 0);
}

BODY(numbers_fwd) {
    sine_fwd(here, in, out, env);
    out[0] = lam_stack(LAM_LIST(out[0], out[0]), 0);
}

BODY(floats_fwd) {
    sine_fwd(here, in, out, env);
    out[0] = lam_cast(out[0], LAM_F32);
}

BODY(rows_rule) {
    out[0] = lam_stack(LAM_LIST(in[0], in[0]), 0);
    out[1] = lam_stack(LAM_LIST(in[1], in[1]), 0);
}

static lam_fn *by_vjp(lam_body fwd, lam_body bwd) {
    return lam_custom_vjp(FN(sine, 1, 1), function_of("ahead", fwd, 1, 2, NULL), function_of("back", bwd, 2, 1, NULL),
                          NULL);
}

/* Those of lam_function are summed (custom/gradients.c). Inside a batch the dims are those of an example. */
START_TEST(a_cotangent_that_is_larger_than_its_input) {
    lam_fn *f = by_vjp(sine_fwd, rows_bwd), *g = lam_grad(FN_ENV(sum_of, 1, 1, f), NULL);
    apply1(g, VEC(1, 2));
    EXPECT_ERROR(LAM_ERR_SHAPE, "sine", "backward", "input 0", "expected f64[2], got f64[2, 2]");
    apply1(lam_vmap(g, NULL), MAT(3, 2, 1, 2, 3, 4, 5, 6));
    EXPECT_ERROR(LAM_ERR_SHAPE, "sine", "input 0", "expected f64[2], got f64[2, 2]");
    apply1(forward_of(f), VEC(1, 2));
    EXPECT_ERROR(LAM_ERR_SHAPE, "sine", "input 0", "expected f64[2], got f64[2, 2]");
    apply1(g, num(1));
    EXPECT_ERROR(LAM_ERR_SHAPE, "sine", "input 0", "expected f64[], got f64[2]");
    apply1(lam_jit(g, NULL), VEC(1, 2));
    EXPECT_ERROR(LAM_ERR_SHAPE, "sine", "input 0", "expected f64[2], got f64[2, 2]");
}
END_TEST

/* fwd runs instead of the function, so what it gives is compared with what the function gave before, for inputs of
 * these types. */
START_TEST(values_of_other_types_than_those_of_the_function) {
    const struct {
        lam_body fwd;
        lam_status status;
        const char *text;
    } rows[] = {{numbers_fwd, LAM_ERR_SHAPE, "expected f64[2], which the function gave for such inputs, got f64[2, 2]"},
                {floats_fwd, LAM_ERR_DTYPE, "expected f64[2], which the function gave for such inputs, got f32[2]"}};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        lam_fn *f = by_vjp(rows[k].fwd, sine_bwd), *g = lam_grad(FN_ENV(sum_of, 1, 1, f), NULL);
        EXPECT_NEAR(apply1(f, VEC(0, 1)), 1e-15, LAM_DIMS(2), 0, sin(1));
        apply1(g, VEC(1, 2));
        EXPECT_ERROR(rows[k].status, "sine", "forward", "output 0 of 'ahead'", rows[k].text);
        EXPECT_NEAR(apply1(lam_vmap(f, NULL), MAT(1, 2, 0, 1)), 1e-15, LAM_DIMS(1, 2), 0, sin(1));
        apply1(lam_vmap(g, NULL), MAT(1, 2, 0, 1));
        EXPECT_ERROR(rows[k].status, "sine", "output 0 of 'ahead'", rows[k].text);
    }
}
END_TEST

/* A program has the function's own operations, and the rule's in their place when it is differentiated. */
START_TEST(values_of_other_types_in_a_program) {
    lam_fn *f = by_vjp(floats_fwd, sine_bwd);
    lam_program *p = lam_trace(FN_ENV(sum_of, 1, 1, f), LAM_LIST(VEC(1, 2)));
    apply1(lam_grad(p, NULL), VEC(1, 2));
    EXPECT_ERROR(LAM_ERR_DTYPE, "sine", "output 0 of 'ahead'", "expected f64[2]", "got f32[2]");
}
END_TEST

START_TEST(a_forward_rule_gives_the_types_of_the_function) {
    lam_fn *f = lam_custom_jvp(FN(sine, 1, 1), FN(rows_rule, 2, 2), NULL);
    EXPECT_NEAR(apply1(f, VEC(0, 1)), 1e-15, LAM_DIMS(2), 0, sin(1));
    apply1(forward_of(f), VEC(1, 2));
    EXPECT_ERROR(LAM_ERR_SHAPE, "sine", "output 0 of 'rows_rule'", "expected f64[2]", "got f64[2, 2]");
}
END_TEST

/* The function may be called with inputs of any types in between. */
START_TEST(other_inputs_make_no_comparison) {
    lam_fn *f = by_vjp(sine_fwd, sine_bwd), *g = lam_grad(FN_ENV(sum_of, 1, 1, f), NULL);
    EXPECT_NUM(apply1(f, num(0)), 0);
    EXPECT(apply1(g, VEC(0, 0)), LAM_DIMS(2), 1, 1);
    EXPECT(apply1(f, VEC(0, 0)), LAM_DIMS(2), 0, 0);
    EXPECT(apply1(g, VEC(0, 0)), LAM_DIMS(2), 1, 1);
    EXPECT_NUM(apply1(lam_grad(f, NULL), num(0)), 1);
}
END_TEST

Suite *suite_custom_exact(void) {
    return SUITE_OF("custom/exact", a_cotangent_that_is_larger_than_its_input,
                    values_of_other_types_than_those_of_the_function, values_of_other_types_in_a_program,
                    a_forward_rule_gives_the_types_of_the_function, other_inputs_make_no_comparison);
}
