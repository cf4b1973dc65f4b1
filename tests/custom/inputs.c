/* Inputs of custom Functions: optional ones, lists, attributes, trees. Expected values are derivatives by hand. */
#include "tests/custom/callbacks.h"

/* ---- optional inputs, attributes, lists -------------------------------------------------------------------------- */

typedef struct power {
    int exponent;
    double factor;
} power;

/* factor * sum of x^exponent over all inputs that are there. */
FORWARD(powers_forward) {
    const power *p = lam_fctx_attrs(fc);
    lam_tensor *sum = NULL;
    for (int i = 0; i < lam_fctx_inputs(fc); i++) {
        lam_tensor *one = in[i] ? lam_mul(p->factor, lam_integer_pow(in[i], p->exponent)) : NULL;
        if (one) sum = sum ? lam_add(sum, one) : one;
    }
    out[0] = sum;
    lam_fctx_save_for_backward(fc, (lam_list){(size_t)lam_fctx_inputs(fc), in});
}

BACKWARD(powers_backward) {
    const power *p = lam_fctx_attrs(fc);
    for (int i = 0; i < lam_fctx_inputs(fc); i++) {
        lam_tensor *x = lam_fctx_saved(fc, i);
        if (x) gx[i] = lam_mul(lam_mul(p->factor * p->exponent, lam_integer_pow(x, p->exponent - 1)), g[0]);
    }
}

static const lam_function powers = {.name = "powers",
                                    .inputs = LAM_VARIADIC,
                                    .outputs = 1,
                                    .attrs_size = sizeof(power),
                                    .forward = powers_forward,
                                    .backward = powers_backward};

BODY(powers_with_a_hole) {
    power p = {3, 2};
    lam_function_apply(ctx, &powers, &p, LAM_LIST(in[0], NULL, in[1]), out, 1);
}

START_TEST(test_optional_inputs_and_attributes) {
    lam_fn *f = FN(powers_with_a_hole, 2, 1), *by_second = lam_grad(f, &(lam_grad_options){.argnums = LAM_AXES(1)});
    EXPECT_NUM(apply2(f, num(1), num(2)), 2 + 16);
    EXPECT_NUM(apply2(by_second, num(1), num(2)), 2 * 3 * 4);
    EXPECT_NUM(apply2(lam_grad(by_second, &(lam_grad_options){.argnums = LAM_AXES(1)}), num(1), num(2)), 2 * 6 * 2);
    EXPECT(apply2(lam_vmap(by_second, NULL), VEC(1, 1), VEC(2, 3)), LAM_DIMS(2), 24, 54);
    EXPECT_NUM(lam_apply(lam_function_fn(ctx, &powers, &(power){2, 1}, 3, 1), LAM_LIST(num(3), NULL, num(4))), 25);
}
END_TEST

/* A tree goes in and comes out as its leaves. */
typedef struct layer {
    lam_tensor *weight, *bias;
} layer;

typedef struct model {
    layer layers[2];
    lam_tensor *scale;
} model;

BODY(powers_of_tree) {
    lam_function_apply(ctx, &powers, &(power){2, 1}, (lam_list){5, in}, out, 1);
}

START_TEST(test_trees) {
    model m = {.layers = {{num(1), num(2)}, {num(3), num(4)}}, .scale = num(5)}, gradient_of_m;
    lam_fn *f = FN(powers_of_tree, 5, 1);
    lam_fn *g = lam_grad(f, &(lam_grad_options){.argnums = LAM_AXES(LAM_RANGE(0, 5))});
    lam_call(g, LAM_TREE(&m), LAM_OUT(&gradient_of_m));
    EXPECT_NUM(gradient_of_m.layers[0].weight, 2);
    EXPECT_NUM(gradient_of_m.layers[1].bias, 8);
    EXPECT_NUM(gradient_of_m.scale, 10);
}
END_TEST

Suite *suite_custom_inputs(void) {
    return SUITE_OF("custom/inputs", test_optional_inputs_and_attributes, test_trees);
}
