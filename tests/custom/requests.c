/* Requests to a Function as a whole: once_differentiable, what is printed of it, what is impossible. Expected values by
 * hand. */
#include "tests/custom/callbacks.h"

/* ---- once_differentiable ----------------------------------------------------------------------------------------- */

static void once_forward(lam_fctx *fc, lam_tensor *const in[], lam_tensor *out[]) {
    out[0] = lam_square(in[0]);
    lam_fctx_save_for_backward(fc, LAM_LIST(in[0]));
}

static void once_backward(lam_fctx *fc, lam_tensor *const g[], lam_tensor *gx[]) {
    gx[0] = lam_mul(lam_mul(2.0, lam_fctx_saved(fc, 0)), g[0]);
}

BODY(square_of_pullback) {
    lam_tensor *y;
    lam_fn *pullback;
    lam_vjp(env, LAM_LIST(lam_stop_gradient(in[0])), &y, 1, &pullback, NULL);
    out[0] = lam_mul(y, in[0]);
}

START_TEST(once_differentiable) {
    lam_function f = {.name = "once",
                      .inputs = 1,
                      .outputs = 1,
                      .forward = once_forward,
                      .backward = once_backward,
                      .once_differentiable = true};
    lam_fn *once = lam_function_fn(ctx, &f, NULL, 1, 1);
    EXPECT_NUM(apply1(reverse_of(once), num(3)), 6);
    EXPECT(apply1(lam_vmap(reverse_of(once), NULL), VEC(3, 4)), LAM_DIMS(2), 6, 8);
    EXPECT_NUM(apply1(reverse_of(FN_ENV(square_of_pullback, 1, 1, once)), num(3)), 9); /* the rule is never reached */
    apply1(reverse_of(reverse_of(once)), num(3));
    EXPECT_ERROR(LAM_ERR_RULE, "once", "second derivative");
    apply1(forward_of(reverse_of(once)), num(3));
    EXPECT_ERROR(LAM_ERR_RULE, "once", "second derivative");
    apply1(lam_vmap(reverse_of(reverse_of(once)), NULL), VEC(3, 4));
    EXPECT_ERROR(LAM_ERR_RULE, "once", "second derivative");
}
END_TEST

static const lam_function square_once = {.name = "once",
                                         .inputs = 1,
                                         .outputs = 1,
                                         .forward = once_forward,
                                         .backward = once_backward,
                                         .once_differentiable = true};

/* The sum of the squares, linearised at x and applied to ones; its transpose applied to 1. */
BODY(linearised) {
    lam_tensor *y;
    lam_fn *linear;
    lam_linearize(env, LAM_LIST(in[0]), &y, 1, &linear, NULL);
    out[0] = apply1(linear, lam_ones_like(in[0]));
}

BODY(transposed) {
    lam_tensor *y;
    lam_fn *linear;
    lam_linearize(env, LAM_LIST(in[0]), &y, 1, &linear, NULL);
    out[0] = apply1(lam_linear_transpose(linear, LAM_LIST(in[0])), lam_ones_like(y));
}

/* Each way to a first derivative of f at x, one after the other; NULL behind the last. Programs are recorded at x. */
static lam_fn *first_derivative(int way, lam_fn *f, lam_tensor *x) {
    const lam_checkpoint_options contractions = {.policy = LAM_CHECKPOINT_CONTRACTIONS};
    lam_fn *g = lam_grad(f, NULL);
    switch (way) {
    case 0: return g;
    case 1: return lam_jacfwd(f, NULL);
    case 2: return lam_jacobian(f, NULL);
    case 3: return FN_ENV(transposed, 1, 1, f);
    case 4: return lam_jit(g, NULL);
    case 5: return lam_jit(lam_jacobian(f, NULL), NULL);
    case 6: return lam_trace(g, LAM_LIST(x));
    case 7: return lam_jit(lam_trace(g, LAM_LIST(x)), NULL);
    case 8: return lam_grad(lam_checkpoint(f, NULL), NULL);
    case 9: return lam_grad(lam_checkpoint(f, &contractions), NULL);
    case 10: return lam_checkpoint(g, NULL);
    case 11: return lam_grad(lam_checkpoint(lam_checkpoint(f, NULL), &contractions), NULL);
    default: return NULL;
    }
}

START_TEST(once_differentiable_by_every_way) {
    lam_fn *f = FN_ENV(sum_of, 1, 1, fn_of(&square_once)), *first;
    lam_tensor *x = lam_arange(ctx, LAM_F64, 0, 600, 1);
    EXPECT_NUM(apply1(FN_ENV(linearised, 1, 1, f), VEC(1, 2)), 6);
    for (int way = 0; (first = first_derivative(way, f, x)); way++) {
        EXPECT_SAME(apply1(first, x), lam_mul(2.0, x), 0);
        lam_fn *sum = FN_ENV(sum_of, 1, 1, first);
        apply1(lam_grad(sum, NULL), x);
        EXPECT_ERROR(LAM_ERR_RULE, "once", "second derivative reaches its backward");
        apply1(lam_jacfwd(sum, NULL), x);
        EXPECT_ERROR(LAM_ERR_RULE, "once", "second derivative reaches its backward");
        apply1(FN_ENV(linearised, 1, 1, sum), x);
        EXPECT_ERROR(LAM_ERR_RULE, "once", "second derivative reaches its backward");
        apply1(lam_jit(lam_grad(sum, NULL), NULL), x);
        EXPECT_ERROR(LAM_ERR_RULE, "once", "second derivative reaches its backward");
    }
}
END_TEST

/* ---- printing, requests ------------------------------------------------------------------------------------------ */

static void print_rules(const lam_function *f, char *text, size_t size) {
    FILE *file = tmpfile();
    lam_function_print_rules(file, f);
    rewind(file);
    text[fread(text, 1, size - 1, file)] = '\0';
    fclose(file);
}

START_TEST(rules_are_listed_before_running) {
    char text[1024];
    lam_function f = {.name = "once", .forward = once_forward, .backward = once_backward, .once_differentiable = true};
    print_rules(&f, text, sizeof text);
    ck_assert_str_eq(text, "Function 'once', combined style\n"
                           "  value      forward\n"
                           "  jvp        backward, transposed\n"
                           "  vjp, grad  backward\n"
                           "  vmap       generated (the default of the combined style)\n"
                           "  second     refused (once_differentiable)\n");
    f = (lam_function){.vmap_by_loop = true, .generate_vmap_rule = true};
    print_rules(&f, text, sizeof text);
    ck_assert_ptr_nonnull(strstr(text, "'anonymous'"));
    ck_assert_ptr_nonnull(strstr(text, "value      missing: give it forward"));
    ck_assert_ptr_nonnull(strstr(text, "vmap       more than one"));
    lam_function_print_rules(NULL, &f);
}
END_TEST

BODY(prints_result) {
    FILE *file = tmpfile();
    char text[1024] = "";
    out[0] = apply1(env, in[0]);
    lam_print(file, out[0]);
    rewind(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    ck_assert_msg(strstr(text, "from once") != NULL, "%s", text);
}

START_TEST(boxes_show_the_function_that_made_them) {
    lam_function f = {.name = "once", .inputs = 1, .outputs = 1, .forward = once_forward, .backward = once_backward};
    EXPECT_NUM(apply1(reverse_of(FN_ENV(prints_result, 1, 1, fn_of(&f))), num(3)), 6);
    ck_assert_str_eq(lam_fn_name(fn_of(&f)), "once");
}
END_TEST

START_TEST(impossible_requests) {
    lam_tensor *out;
    lam_function f = {.name = "f", .inputs = 1, .outputs = 1};
    lam_function_apply(ctx, &f, NULL, LAM_LIST(num(1)), &out, 1);
    EXPECT_ERROR(LAM_ERR_NULL, "'f'", "no forward");
    lam_function_apply(ctx, NULL, NULL, LAM_LIST(num(1)), &out, 1);
    EXPECT_ERROR(LAM_ERR_NULL, "no forward");
    f.forward = once_forward;
    lam_function_apply(ctx, &f, NULL, LAM_LIST(num(1), num(2)), &out, 1);
    EXPECT_ERROR(LAM_ERR_ARITY, "'f'", "2 inputs given, 1 expected");
    ck_assert(lam_failed(out));
    f.attrs_size = 8;
    lam_function_apply(ctx, &f, NULL, LAM_LIST(num(1)), &out, 1);
    EXPECT_ERROR(LAM_ERR_NULL, "'f'", "attrs is NULL, 8 bytes expected");
    ck_assert(lam_failed(lam_function_fn(ctx, &f, NULL, 1, 1)));
    EXPECT_STATUS(LAM_ERR_NULL);
}
END_TEST

/* Applications of one Function share what they can; a struct that the caller has changed meanwhile is another Function,
 * in every field, and so are other attributes and other counts. The gradient is the factor of the rule or attribute. */
FORWARD(shared_forward) {
    for (int o = 0; o < lam_fctx_outputs(fc); o++) out[o] = lam_alias(in[0]);
    lam_fctx_set_data(fc, "unused", "", 1);
}

BACKWARD(threefold) {
    gx[0] = lam_mul(3.0, g[0]);
}

BACKWARD(by_attribute) {
    gx[0] = lam_mul(*(const double *)lam_fctx_attrs(fc), g[lam_fctx_outputs(fc) - 1]);
}

SETUP(shared_setup) {
}

typedef struct request {
    lam_function f;
    const void *attrs;
    size_t outputs;
} request;

BODY(makes_request) {
    const request *r = env;
    lam_tensor *y[2];
    lam_function_apply(ctx, &r->f, r->attrs, LAM_LIST(in[0]), y, r->outputs);
    out[0] = y[r->outputs - 1];
}

static lam_tensor *gradient_of(const request *r) {
    return apply1(reverse_of(FN_ENV(makes_request, 1, 1, (void *)(uintptr_t)r)), num(1));
}

START_TEST(a_changed_function_is_another_one) {
    char name[] = "first";
    double factor = 5;
    request r = {{.name = name, .inputs = 1, .outputs = LAM_VARIADIC, .forward = shared_forward, .backward = threefold},
                 NULL,
                 1};
    for (int again = 0; again < 2; again++) EXPECT_NUM(gradient_of(&r), 3);
    r.f.backward = by_attribute;
    r.f.attrs_size = sizeof factor;
    r.attrs = &factor;
    for (r.outputs = 1; r.outputs < 3; r.outputs++)
        for (factor = 5; factor < 8; factor++) EXPECT_NUM(gradient_of(&r), factor);
    r.outputs = 1;
    r.f.backward = NULL;
    for (int k = 0; k < 2; k++) {
        gradient_of(&r);
        EXPECT_ERROR(LAM_ERR_RULE, k ? "Function 'third'" : "Function 'first'", "no derivative rule");
        memcpy(name, "third", sizeof name); /* in the place where the caller keeps it */
    }
    r.f.is_linear = true;
    EXPECT_NUM(gradient_of(&r), 1);
    r.f.setup_context = shared_setup;
    gradient_of(&r);
    EXPECT_ERROR(LAM_ERR_RULE, "Function 'third', forward", "lam_fctx_set_data may not be called here");
}
END_TEST

Suite *suite_custom_requests(void) {
    return SUITE_OF("custom/requests", once_differentiable, once_differentiable_by_every_way,
                    rules_are_listed_before_running, boxes_show_the_function_that_made_them, impossible_requests,
                    a_changed_function_is_another_one);
}
