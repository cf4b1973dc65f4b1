/* Inputs and outputs of custom Functions: optional ones, lists, attributes, trees. Expected values are derivatives by
 * hand. */
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

START_TEST(optional_inputs_and_attributes) {
    lam_fn *f = FN(powers_with_a_hole, 2, 1), *by_second = lam_grad(f, &(lam_grad_options){.argnums = LAM_AXES(1)});
    EXPECT_NUM(apply2(f, num(1), num(2)), 2 + 16);
    EXPECT_NUM(apply2(by_second, num(1), num(2)), 2 * 3 * 4);
    EXPECT_NUM(apply2(lam_grad(by_second, &(lam_grad_options){.argnums = LAM_AXES(1)}), num(1), num(2)), 2 * 6 * 2);
    EXPECT(apply2(lam_vmap(by_second, NULL), VEC(1, 1), VEC(2, 3)), LAM_DIMS(2), 24, 54);
    EXPECT_NUM(lam_apply(lam_function_fn(ctx, &powers, &(power){2, 1}, 3, 1), LAM_LIST(num(3), NULL, num(4))), 25);
}
END_TEST

/* Without attributes there are none; attributes of zeros are what a Function makes its defaults of. */
FORWARD(raises_by_default) {
    const power *p = lam_fctx_attrs(fc);
    out[0] = lam_integer_pow(in[0], p && p->exponent ? p->exponent : 2);
    lam_fctx_save_for_backward(fc, LAM_LIST(in[0]));
}

BACKWARD(of_a_square) {
    gx[0] = lam_mul(g[0], lam_mul(2.0, lam_fctx_saved(fc, 0)));
}

START_TEST(default_attributes) {
    lam_function f = {
        .name = "raise", .inputs = 1, .outputs = 1, .forward = raises_by_default, .backward = of_a_square};
    EXPECT_NUM(call_function(&f, NULL, LAM_LIST(num(3))), 9);
    f.attrs_size = sizeof(power);
    EXPECT_NUM(call_function(&f, &(power){0}, LAM_LIST(num(3))), 9);
    EXPECT_NUM(call_function(&f, &(power){.exponent = 3}, LAM_LIST(num(3))), 27);
    EXPECT_NUM(apply1(lam_grad(lam_function_fn(ctx, &f, &(power){0}, 1, 1), NULL), num(3)), 6);
}
END_TEST

/* x + b, or x alone: the hole passes through transforms of the Function as a function. */
START_TEST(optional_inputs_through_transforms) {
    power p = {2, 1};
    lam_fn *f = lam_function_fn(ctx, &powers, &p, 3, 1), *g = lam_grad(f, NULL);
    lam_tensor *x = num(3), *y = num(4), *out[2], *tangent[2];
    lam_fn *made;
    EXPECT_NUM(lam_apply(g, LAM_LIST(x, NULL, y)), 6);
    EXPECT_NUM(lam_apply(lam_grad(g, NULL), LAM_LIST(x, NULL, y)), 2);
    EXPECT_NUM(lam_apply(lam_jacfwd(f, NULL), LAM_LIST(x, NULL, y)), 6);
    EXPECT_NUM(lam_apply(lam_jacrev(f, NULL), LAM_LIST(x, NULL, y)), 6);
    EXPECT_NUM(lam_apply(lam_hessian(f, NULL), LAM_LIST(x, NULL, y)), 2);
    EXPECT(lam_apply(lam_vmap(g, NULL), LAM_LIST(VEC(1, 2), NULL, VEC(5, 6))), LAM_DIMS(2), 2, 4);
    EXPECT_NUM(lam_apply(f, LAM_LIST(x, NULL, NULL)), 9);
    lam_jvp(f, LAM_LIST(x, NULL, y), LAM_LIST(num(1), NULL, num(1)), out, tangent, 1, NULL);
    EXPECT_NUM(tangent[0], 6 + 8);
    lam_vjp(f, LAM_LIST(x, NULL, y), out, 1, &made, NULL);
    lam_call(made, LAM_LIST(num(1)), out, 2);
    EXPECT_NUM(out[1], 8);
    lam_linearize(f, LAM_LIST(x, NULL, y), out, 1, &made, NULL);
    EXPECT_NUM(lam_apply(made, LAM_LIST(num(1), num(1))), 6 + 8);
    lam_apply(lam_grad(f, &(lam_grad_options){.argnums = LAM_AXES(1)}), LAM_LIST(x, NULL, y));
    EXPECT_ERROR(LAM_ERR_DTYPE, "grad", "input 1", "NULL");
    lam_jvp(f, LAM_LIST(x, NULL, y), LAM_LIST(NULL, num(1), NULL), out, tangent, 1, NULL);
    EXPECT_ERROR(LAM_ERR_DTYPE, "jvp", "input 1", "NULL");
    lam_apply(lam_checkpoint(f, NULL), LAM_LIST(x, NULL, y));
    EXPECT_ERROR(LAM_ERR_NULL, "checkpoint", "input 1");
}
END_TEST

BODY(plain_square) {
    out[0] = lam_square(in[0]);
}

START_TEST(holes_are_refused_elsewhere) {
    lam_tensor *out[2];
    lam_call(lam_jvp_fn(FN(plain_square, 1, 1), NULL), LAM_LIST(NULL, num(1)), out, 2);
    EXPECT_ERROR(LAM_ERR_DTYPE, "input 0", "plain_square", "NULL");
    lam_call(lam_jvp_fn(FN(plain_square, 1, 1), NULL), LAM_LIST(NULL, NULL), out, 2);
    EXPECT_ERROR(LAM_ERR_NULL, "input 0", "plain_square");
    lam_apply(lam_grad(FN(plain_square, 1, 1), NULL), LAM_LIST(NULL));
    EXPECT_ERROR(LAM_ERR_NULL, "input 0", "plain_square");
}
END_TEST

/* ---- trees ------------------------------------------------------------------------------------------------------- */

typedef struct layer {
    lam_tensor *weight, *bias; /* bias: may be a hole */
} layer;

typedef struct model {
    layer layers[2];
    lam_tensor *scale;
} model;

enum { LEAVES = 5 };

/* What a Function is given is the tree as its leaves, in the order of the struct. */
static const model *tree(lam_tensor *const in[]) {
    return (const model *)(const void *)in;
}

/* The model times ten, of the same structure (a missing bias as 0, with one integer leaf in place of the scale). */
FORWARD(model_forward) {
    const model *m = tree(in);
    model *to = (model *)(void *)out;
    for (int k = 0; k < 2; k++) {
        to->layers[k].weight = lam_mul(10.0, m->layers[k].weight);
        to->layers[k].bias = m->layers[k].bias ? lam_square(m->layers[k].bias) : lam_zeros(ctx, LAM_F64, LAM_DIMS0);
    }
    to->scale = lam_cast(m->scale, LAM_I64);
}

/* Saved: the tree of the inputs with its holes; marked: a leaf of the tree of outputs. */
SETUP(model_setup) {
    model *results = (model *)(void *)(uintptr_t)out;
    lam_fctx_save_for_backward(fc, LAM_TREE(tree(in)));
    lam_fctx_mark_non_differentiable(fc, LAM_LIST(results->layers[0].bias));
    lam_fctx_set_materialize_grads(fc, false);
}

static int holes;

/* Gradients are a tree too: three times those of the weights, twice those of the biases, none of the scale. */
BACKWARD(model_backward) {
    const model *given = tree(g);
    model saved, *to = (model *)(void *)gx;
    lam_tensor **leaves = (lam_tensor **)(void *)&saved;
    ck_assert_int_eq(lam_fctx_saved_count(fc), LEAVES);
    for (int k = 0; k < LEAVES; k++) leaves[k] = lam_fctx_saved(fc, k);
    ck_assert(!given->layers[0].bias && !given->scale);
    for (int k = 0; k < 2; k++) {
        holes += !saved.layers[k].bias;
        if (given->layers[k].weight) to->layers[k].weight = lam_mul(30.0, given->layers[k].weight);
        if (saved.layers[k].bias && given->layers[k].bias)
            to->layers[k].bias = lam_mul(4.0, lam_mul(saved.layers[k].bias, given->layers[k].bias));
    }
}

static const lam_function model_function = {.name = "model",
                                            .inputs = LEAVES,
                                            .outputs = LEAVES,
                                            .forward = model_forward,
                                            .setup_context = model_setup,
                                            .backward = model_backward,
                                            .generate_vmap_rule = true};

/* The sum of all leaves of the result, for a model with a hole if env says so. */
BODY(sum_of_model) {
    model m = *tree(in), y;
    if (env) m.layers[1].bias = NULL;
    lam_function_apply(ctx, &model_function, NULL, LAM_TREE(&m), LAM_OUT(&y));
    lam_tensor *biases = lam_add(y.layers[0].bias, y.layers[1].bias);
    out[0] = lam_add(lam_add(y.layers[0].weight, y.layers[1].weight), lam_add(biases, lam_cast(y.scale, LAM_F64)));
}

START_TEST(trees_with_holes) {
    const model m = {.layers = {{num(1), num(2)}, {num(3), num(4)}}, .scale = num(5)};
    lam_grad_options all = {.argnums = LAM_AXES(LAM_RANGE(0, LEAVES))};
    for (int hole = 0; hole < 2; hole++) {
        model got;
        lam_fn *f = FN_ENV(sum_of_model, LEAVES, 1, hole ? &holes : NULL), *g = lam_grad(f, &all);
        holes = 0;
        EXPECT_NUM(lam_apply(f, LAM_TREE(&m)), 10 + 30 + 4 + (hole ? 0 : 16) + 5);
        lam_call(g, LAM_TREE(&m), LAM_OUT(&got));
        EXPECT_NUM(got.layers[0].weight, 30);
        EXPECT_NUM(got.layers[0].bias, 0); /* marked as non-differentiable */
        EXPECT_NUM(got.layers[1].weight, 30);
        EXPECT_NUM(got.layers[1].bias, hole ? 0 : 16);
        EXPECT_NUM(got.scale, 0);
        ck_assert_int_eq(holes, hole);
        lam_fn *second = lam_grad(lam_grad(f, &(lam_grad_options){.argnums = LAM_AXES(3)}),
                                  &(lam_grad_options){.argnums = LAM_AXES(3)});
        EXPECT_NUM(lam_apply(second, LAM_TREE(&m)), hole ? 0 : 4);
        EXPECT_NUM(lam_apply(lam_jacfwd(f, &(lam_jacobian_options){.argnums = LAM_AXES(3)}), LAM_TREE(&m)),
                   hole ? 0 : 16);
        const model rows = {.layers = {{VEC(1, 1), VEC(2, 2)}, {VEC(3, 3), VEC(4, 5)}}, .scale = VEC(5, 6)};
        lam_call(lam_vmap(g, NULL), LAM_TREE(&rows), LAM_OUT(&got));
        EXPECT(got.layers[1].weight, LAM_DIMS(2), 30, 30);
        EXPECT(got.layers[1].bias, LAM_DIMS(2), hole ? 0 : 16, hole ? 0 : 20);
        EXPECT(got.layers[0].bias, LAM_DIMS(2), 0, 0);
    }
}
END_TEST

/* A leaf of a tree overwritten in place, and marked. */
FORWARD(leaf_in_place) {
    const model *m = tree(in);
    model *to = (model *)(void *)out;
    for (int k = 0; k < LEAVES; k++) out[k] = in[k];
    lam_assign_(m->layers[1].bias, lam_exp(m->layers[1].bias));
    lam_fctx_mark_dirty(fc, LAM_LIST(m->layers[1].bias));
    to->layers[1].bias = m->layers[1].bias;
}

SETUP(saves_leaf) {
    lam_fctx_save_for_backward(fc, LAM_LIST(((const model *)(const void *)out)->layers[1].bias));
}

BACKWARD(leaf_backward) {
    for (int k = 0; k < LEAVES; k++) gx[k] = g[k];
    gx[3] = lam_mul(2.0, lam_mul(g[3], lam_fctx_saved(fc, 0)));
}

BODY(leaf_of_handle) {
    const lam_function f = {.name = "leaf",
                            .inputs = LEAVES,
                            .outputs = LEAVES,
                            .forward = leaf_in_place,
                            .setup_context = saves_leaf,
                            .backward = leaf_backward,
                            .generate_vmap_rule = true};
    model m = {.layers = {{num(1), num(2)}, {num(3), lam_alias(in[0])}}, .scale = num(5)}, y;
    lam_function_apply(ctx, &f, NULL, LAM_TREE(&m), LAM_OUT(&y));
    out[0] = m.layers[1].bias; /* the leaf of the caller's tree */
}

START_TEST(dirty_leaves_of_trees) {
    lam_fn *f = FN(leaf_of_handle, 1, 1);
    EXPECT_NEAR(apply1(f, num(2)), 1e-15, LAM_DIMS0, exp(2));
    EXPECT_NEAR(apply1(lam_grad(f, NULL), num(2)), 1e-15, LAM_DIMS0, 2 * exp(2));
    EXPECT_NEAR(apply1(forward_of(f), num(2)), 1e-15, LAM_DIMS0, 2 * exp(2));
    EXPECT_NEAR(apply1(lam_grad(lam_grad(f, NULL), NULL), num(2)), 1e-15, LAM_DIMS0, 4 * exp(2));
    EXPECT_NEAR(apply1(lam_vmap(lam_grad(f, NULL), NULL), VEC(0, 2)), 1e-15, LAM_DIMS(2), 2, 2 * exp(2));
}
END_TEST

/* A batching rule by hand gets and gives trees; holes are unmapped. */
VMAP(model_vmap) {
    for (int k = 0; k < LEAVES; k++) {
        if (!in[k]) ck_assert_int_eq(in_axes[k], LAM_UNMAPPED);
        out[k] = in[k] ? lam_mul(100.0, in[k]) : lam_zeros(ctx, LAM_F64, LAM_DIMS0);
        out_axes[k] = in_axes[k];
    }
}

BODY(batched_model) {
    const lam_function f = {
        .name = "model", .inputs = LEAVES, .outputs = LEAVES, .forward = model_forward, .vmap = model_vmap};
    model m = *tree(in);
    m.layers[0].bias = NULL;
    lam_function_apply(ctx, &f, NULL, LAM_TREE(&m), out, LEAVES);
}

START_TEST(batching_rules_of_trees) {
    const model rows = {.layers = {{VEC(1, 2), num(2)}, {num(3), num(4)}}, .scale = VEC(5, 6)};
    model got;
    lam_vmap_options o = {.in_axes = LAM_AXES(0, LAM_UNMAPPED, LAM_UNMAPPED, LAM_UNMAPPED, 0),
                          .out_axes = LAM_AXES(0, LAM_UNMAPPED, LAM_UNMAPPED, LAM_UNMAPPED, 0)};
    lam_call(lam_vmap(FN(batched_model, LEAVES, LEAVES), &o), LAM_TREE(&rows), LAM_OUT(&got));
    EXPECT(got.layers[0].weight, LAM_DIMS(2), 100, 200);
    EXPECT_NUM(got.layers[0].bias, 0);
    EXPECT_NUM(got.layers[1].bias, 400);
    EXPECT(got.scale, LAM_DIMS(2), 500, 600);
}
END_TEST

/* ---- lists of outputs -------------------------------------------------------------------------------------------- */

/* Powers 1, 2, ... of one input, as many as the application asks for. */
FORWARD(ladder_forward) {
    for (int o = 0; o < lam_fctx_outputs(fc); o++) out[o] = lam_integer_pow(in[0], o + 1);
    lam_fctx_save_for_backward(fc, LAM_LIST(in[0]));
}

BACKWARD(ladder_backward) {
    lam_tensor *x = lam_fctx_saved(fc, 0);
    for (int o = 0; o < lam_fctx_outputs(fc); o++) {
        lam_tensor *part = lam_mul(g[o], lam_mul(o + 1.0, lam_integer_pow(x, o)));
        gx[0] = gx[0] ? lam_add(gx[0], part) : part;
    }
}

BODY(sum_of_ladder) {
    const lam_function f = {
        .name = "ladder", .inputs = 1, .outputs = LAM_VARIADIC, .forward = ladder_forward, .backward = ladder_backward};
    lam_tensor *y[40];
    size_t n = (size_t) * (const int *)env;
    lam_function_apply(ctx, &f, NULL, LAM_LIST(in[0]), y, n);
    out[0] = lam_add_all((lam_list){n, y});
}

/* 1 + 2 x + 3 x^2 + ... at 1: n (n + 1) / 2; its derivative, (n^3 - n) / 3. */
START_TEST(lists_of_outputs) {
    for (int n = 1; n <= 40; n += 13) {
        lam_fn *f = FN_ENV(sum_of_ladder, 1, 1, &n);
        EXPECT_NUM(apply1(f, num(1)), n);
        EXPECT_NUM(apply1(lam_grad(f, NULL), num(1)), n * (n + 1) / 2);
        EXPECT_NUM(apply1(forward_of(lam_grad(f, NULL)), num(1)), (n * n * n - n) / 3);
        EXPECT(apply1(lam_vmap(lam_grad(f, NULL), NULL), VEC(1, 1)), LAM_DIMS(2), n * (n + 1) / 2, n * (n + 1) / 2);
    }
}
END_TEST

Suite *suite_custom_inputs(void) {
    return SUITE_OF("custom/inputs", optional_inputs_and_attributes, default_attributes,
                    optional_inputs_through_transforms, holes_are_refused_elsewhere, trees_with_holes,
                    dirty_leaves_of_trees, batching_rules_of_trees, lists_of_outputs);
}
