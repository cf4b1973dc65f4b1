/* What callbacks may not do: read raw data of boxes, use boxes that did not come in, give what does not fit; and how
 * their own failures come out. Each is a definite error with the names of Function and callback. */
#include "tests/custom/callbacks.h"

/* ---- a Function whose callbacks are chosen ----------------------------------------------------------------------- */

typedef enum what { FINE, READS, READS_STRIDED, TAKES_DATA, ITEM, CAPTURES, FAILS } what;

static what in_forward, in_setup, in_backward, in_jvp, in_vmap;
static lam_tensor *elsewhere;

/* Does it to x, and gives x. */
static lam_tensor *does(what w, lam_tensor *x) {
    double to[64];
    switch (w) {
    case READS: (void)!lam_read(x, to, (size_t)lam_size(x) * sizeof *to); break;
    case READS_STRIDED: (void)!lam_read_strided(x, to, LAM_DIMS0); break;
    case TAKES_DATA: lam_data(x); break;
    case ITEM: return lam_item(x) > 0 ? x : lam_mul(1.0, x);
    case CAPTURES: return lam_add(x, elsewhere);
    case FAILS: return lam_fail(ctx, LAM_ERR_USER, "the rule is out of order");
    case FINE: break;
    }
    return x;
}

/* x^3, with five times the derivative in backward and seven times in jvp. */
FORWARD(combined_forward) {
    lam_tensor *x = does(in_forward, in[0]);
    out[0] = lam_integer_pow(x, 3);
    lam_fctx_save_for_backward(fc, LAM_LIST(x));
}

FORWARD(separate_forward) {
    out[0] = lam_integer_pow(does(in_forward, in[0]), 3);
}

SETUP(setup) {
    lam_fctx_save_for_backward(fc, LAM_LIST(does(in_setup, in[0])));
}

BACKWARD(backward) {
    gx[0] = lam_mul(g[0], lam_mul(15.0, lam_square(does(in_backward, lam_fctx_saved(fc, 0)))));
}

JVP(jvp) {
    dout[0] = lam_mul(t[0], lam_mul(21.0, lam_square(does(in_jvp, lam_fctx_saved(fc, 0)))));
}

VMAP(vmap) {
    out[0] = lam_integer_pow(does(in_vmap, in[0]), 3);
    out_axes[0] = in_axes[0];
}

static const lam_function combined = {
    .name = "combined", .inputs = 1, .outputs = 1, .forward = combined_forward, .backward = backward, .jvp = jvp};
static const lam_function separate = {.name = "separate",
                                      .inputs = 1,
                                      .outputs = 1,
                                      .forward = separate_forward,
                                      .setup_context = setup,
                                      .backward = backward,
                                      .jvp = jvp,
                                      .vmap = vmap};

static void all_fine(void) {
    in_forward = in_setup = in_backward = in_jvp = in_vmap = FINE;
}

static lam_fn *twice(lam_fn *(*mode)(lam_fn *), const lam_function *f) {
    return mode(mode(fn_of(f)));
}

/* ---- raw data ---------------------------------------------------------------------------------------------------- */

static const what readings[] = {READS, READS_STRIDED, TAKES_DATA};
static const char *const calls[] = {"lam_read", "lam_read_strided", "lam_data"};

START_TEST(raw_data_in_a_combined_forward) {
    for (int k = 0; k < 3; k++) {
        in_forward = readings[k];
        EXPECT_NUM(apply1(reverse_of(fn_of(&combined)), num(2)), 60); /* one level: the data is plain */
        EXPECT_NUM(apply1(forward_of(fn_of(&combined)), num(2)), 84);
        apply1(twice(reverse_of, &combined), num(2));
        EXPECT_ERROR(LAM_ERR_RULE, "combined", "forward", calls[k], "(vjp)", "separate style");
        apply1(twice(forward_of, &combined), num(2));
        EXPECT_ERROR(LAM_ERR_RULE, "combined", "forward", calls[k], "(jvp)", "separate style");
        EXPECT_NUM(apply1(twice(reverse_of, &separate), num(2)), 60); /* 30 x: it sees plain data at any depth */
        EXPECT_NUM(apply1(twice(forward_of, &separate), num(2)), 84);
    }
    in_forward = READS;
    apply1(lam_vmap(fn_of(&combined), NULL), VEC(1, 2));
    EXPECT_ERROR(LAM_ERR_BATCHED, "combined", "forward", "lam_read", "separate style");
    all_fine();
}
END_TEST

START_TEST(raw_data_in_derivative_rules) {
    for (int k = 0; k < 3; k++) {
        in_backward = in_jvp = readings[k];
        EXPECT_NUM(apply1(reverse_of(fn_of(&separate)), num(2)), 60);
        EXPECT_NUM(apply1(forward_of(fn_of(&separate)), num(2)), 84);
        apply1(twice(reverse_of, &separate), num(2));
        EXPECT_ERROR(LAM_ERR_RULE, "separate", "backward", calls[k], "(vjp)", "write the rule with lamina operations");
        apply1(twice(forward_of, &separate), num(2));
        EXPECT_ERROR(LAM_ERR_RULE, "separate", "jvp", calls[k], "(jvp)", "write the rule with lamina operations");
        in_backward = in_jvp = FINE;
        in_setup = readings[k];
        EXPECT_NUM(apply1(reverse_of(fn_of(&separate)), num(2)), 60);
        apply1(twice(reverse_of, &separate), num(2));
        EXPECT_ERROR(LAM_ERR_RULE, "separate", "setup_context", calls[k], "foreign code belongs into forward");
        all_fine();
    }
}
END_TEST

/* One number may be looked at, as a constant: C's own control flow works at every level. */
START_TEST(rules_may_branch_on_a_number) {
    in_forward = in_setup = in_backward = in_jvp = ITEM;
    EXPECT_NUM(apply1(twice(reverse_of, &combined), num(2)), 60);
    EXPECT_NUM(apply1(twice(forward_of, &combined), num(-2)), -84);
    EXPECT_NUM(apply1(twice(reverse_of, &separate), num(-2)), -60);
    apply1(lam_vmap(reverse_of(fn_of(&separate)), NULL), VEC(1, 2));
    EXPECT_ERROR(LAM_ERR_BATCHED, "separate", "setup_context", "lam_item", "lam_where");
    all_fine();
}
END_TEST

BODY(reads_inside) {
    double to;
    out[0] = lam_square(in[0]);
    ck_assert_int_eq(lam_read(in[0], &to, sizeof to), LAM_OK);
}

BACKWARD(differentiates_inside) {
    gx[0] = lam_mul(apply1(lam_grad(FN(reads_inside, 1, 1), NULL), lam_fctx_saved(fc, 0)), g[0]);
}

/* A level that a callback makes for itself is its own business. */
START_TEST(levels_made_inside_a_callback_may_be_read) {
    lam_function f = separate;
    f.backward = differentiates_inside;
    EXPECT_NUM(apply1(reverse_of(fn_of(&f)), num(3)), 6);
}
END_TEST

/* ---- captured boxes ---------------------------------------------------------------------------------------------- */

BODY(captures_and_applies) {
    elsewhere = in[0];
    lam_function_apply(ctx, env, NULL, LAM_LIST(in[0]), out, 1);
}

/* Callbacks that give a box from elsewhere as it is. */
FORWARD(gives_elsewhere) {
    out[0] = elsewhere;
}

SETUP(saves_none) {
}

VMAP(gives_elsewhere_batched) {
    out[0] = elsewhere;
    out_axes[0] = LAM_UNMAPPED;
}

FORWARD(gives_input) {
    out[0] = in[0];
}

START_TEST(captured_boxes_as_results) {
    const lam_function fine = {.name = "giver",
                               .inputs = 1,
                               .outputs = 1,
                               .forward = gives_input,
                               .setup_context = saves_none,
                               .backward = gives_input,
                               .jvp = gives_input,
                               .vmap = gives_elsewhere_batched};
    lam_function in_separate = fine, in_combined = fine, in_tangent = fine;
    in_separate.forward = in_combined.forward = in_tangent.jvp = gives_elsewhere;
    in_combined.setup_context = NULL;
    const struct {
        const lam_function *f;
        lam_fn *(*mode)(lam_fn *);
        const char *part;
    } rows[] = {{&in_separate, reverse_of, "forward"},
                {&in_separate, forward_of, "forward"},
                {&in_combined, reverse_of, "forward"},
                {&in_tangent, forward_of, "jvp"}};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        apply1(rows[k].mode(FN_ENV(captures_and_applies, 1, 1, (void *)(uintptr_t)rows[k].f)), num(2));
        EXPECT_ERROR(LAM_ERR_CAPTURED, "giver", rows[k].part, "open but hidden");
    }
    apply1(lam_vmap(FN_ENV(captures_and_applies, 1, 1, (void *)(uintptr_t)&fine), NULL), VEC(1, 2));
    EXPECT_ERROR(LAM_ERR_CAPTURED, "giver", "vmap", "open but hidden");
}
END_TEST

/* The box of the level that is served is hidden from the callback that serves it. */
START_TEST(captured_boxes_in_every_callback) {
    const struct {
        what *where;
        const lam_function *f;
        lam_fn *(*mode)(lam_fn *);
        const char *part;
    } rows[] = {
        {&in_forward, &separate, reverse_of, "forward"},
        {&in_forward, &combined, forward_of, "forward"},
        {&in_setup, &separate, reverse_of, "setup_context"},
        {&in_setup, &separate, forward_of, "setup_context"},
        {&in_jvp, &separate, forward_of, "jvp"},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        *rows[k].where = CAPTURES;
        lam_fn *f = rows[k].mode(FN_ENV(captures_and_applies, 1, 1, (void *)(uintptr_t)rows[k].f));
        apply1(f, num(2));
        EXPECT_ERROR(LAM_ERR_CAPTURED, rows[k].f->name, rows[k].part, "open but hidden");
        all_fine();
    }
    in_vmap = CAPTURES;
    apply1(lam_vmap(FN_ENV(captures_and_applies, 1, 1, (void *)(uintptr_t)&separate), NULL), VEC(1, 2));
    EXPECT_ERROR(LAM_ERR_CAPTURED, "separate", "vmap", "open but hidden");
    in_vmap = FINE;
    in_backward = CAPTURES; /* backward runs when the body has ended */
    apply1(reverse_of(FN_ENV(captures_and_applies, 1, 1, (void *)(uintptr_t)&separate)), num(2));
    EXPECT_ERROR(LAM_ERR_FREED, "separate", "backward", "operand 1");
    all_fine();
}
END_TEST

typedef struct hidden {
    lam_tensor *x;
} hidden;

FORWARD(adds_attribute) {
    out[0] = lam_add(in[0], ((const hidden *)lam_fctx_attrs(fc))->x);
}

BODY(hides_in_attributes) {
    const lam_function f = {.name = "smuggler",
                            .inputs = 1,
                            .outputs = 1,
                            .attrs_size = sizeof(hidden),
                            .forward = adds_attribute,
                            .backward = backward,
                            .generate_vmap_rule = true};
    out[0] = call_function(&f, &(hidden){in[0]}, LAM_LIST(in[0]));
}

SETUP(hides_in_data) {
    lam_fctx_set_data(fc, "x", &elsewhere, sizeof elsewhere);
}

BACKWARD(reads_hidden_data) {
    gx[0] = lam_mul(g[0], *(lam_tensor *const *)lam_fctx_data(fc, "x", NULL));
}

START_TEST(tensors_hidden_in_attributes_or_data) {
    apply1(reverse_of(FN(hides_in_attributes, 1, 1)), num(2));
    EXPECT_ERROR(LAM_ERR_CAPTURED, "smuggler", "forward");
    apply1(lam_vmap(FN(hides_in_attributes, 1, 1), NULL), VEC(1, 2));
    EXPECT_ERROR(LAM_ERR_CAPTURED, "smuggler", "forward");
    lam_function f = separate;
    f.setup_context = hides_in_data;
    f.backward = reads_hidden_data;
    apply1(reverse_of(FN_ENV(captures_and_applies, 1, 1, &f)), num(2));
    EXPECT_ERROR(LAM_ERR_FREED, "separate", "backward", "operand 1");
}
END_TEST

/* ---- failures of the user's -------------------------------------------------------------------------------------- */

static lam_fn *rows_of(lam_fn *f) {
    return lam_vmap(f, NULL);
}

START_TEST(a_failing_rule_keeps_its_message_through_all_levels) {
    const struct {
        what *where;
        const char *part;
        lam_fn *(*inner)(lam_fn *), *(*middle)(lam_fn *), *(*outer)(lam_fn *);
    } rows[] = {
        {&in_forward, "'separate' (forward)", reverse_of, reverse_of, forward_of},
        {&in_setup, "'separate' (setup_context)", reverse_of, reverse_of, rows_of},
        {&in_backward, "'separate' (backward)", reverse_of, rows_of, forward_of},
        {&in_jvp, "'separate' (jvp)", forward_of, forward_of, rows_of},
        {&in_vmap, "'separate' (vmap)", forward_of, rows_of, forward_of},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        lam_fn *f = rows[k].outer(rows[k].middle(rows[k].inner(fn_of(&separate))));
        bool batch = rows[k].middle == rows_of || rows[k].outer == rows_of;
        lam_tensor *x = batch ? VEC(1, 2) : num(2);
        *rows[k].where = FAILS;
        ck_assert(lam_failed(apply1(f, x)));
        EXPECT_ERROR(LAM_ERR_USER, "the rule is out of order", rows[k].part);
        all_fine();
        apply1(f, x);
        EXPECT_OK();
    }
}
END_TEST

/* ---- results that do not fit ------------------------------------------------------------------------------------- */

FORWARD(sets_nothing) {
}

FORWARD(sets_too_many) {
    out[0] = out[1] = in[0];
}

FORWARD(leaves_a_scope_open) {
    lam_scope_begin(ctx);
    out[0] = in[0];
}

START_TEST(forward_that_does_not_fit) {
    lam_function f = combined;
    f.forward = sets_nothing;
    apply1(reverse_of(fn_of(&f)), num(2));
    EXPECT_ERROR(LAM_ERR_ARITY, "combined", "forward", "output 0 was not set");
    f.forward = sets_too_many;
    apply1(fn_of(&f), num(2));
    EXPECT_ERROR(LAM_ERR_ARITY, "combined", "forward", "too many results", "1 expected");
    f.forward = leaves_a_scope_open;
    apply1(fn_of(&f), num(2));
    EXPECT_ERROR(LAM_ERR_SCOPE, "combined", "forward", "a scope was left open");
}
END_TEST

static lam_ctx *other;

FORWARD(of_another_context) {
    out[0] = lam_scalar(other, 1);
}

BODY(of_any_context) {
    out[0] = lam_alias(in[0]);
}

START_TEST(results_and_inputs_of_another_context) {
    other = lam_ctx_new(NULL);
    lam_function f = combined;
    f.forward = of_another_context;
    apply1(fn_of(&f), num(2));
    EXPECT_ERROR(LAM_ERR_CONTEXT, "combined", "forward", "result 0", "another context");
    call_function(&combined, NULL, LAM_LIST(lam_scalar(other, 1)));
    EXPECT_ERROR(LAM_ERR_CONTEXT, "combined", "input 0", "mixed contexts");
    lam_fn_options one = {.name = "theirs", .body = of_any_context, .inputs = 1, .outputs = 1};
    lam_fn *ours = lam_fn_new(ctx, &one), *theirs = lam_fn_new(other, &one);
    ck_assert(lam_failed(lam_custom_vjp(ours, theirs, ours, NULL)));
    EXPECT_ERROR(LAM_ERR_CONTEXT, "custom_vjp", "mixed contexts", "'theirs'");
    ck_assert(lam_failed(lam_custom_jvp(ours, theirs, NULL)));
    EXPECT_STATUS(LAM_ERR_CONTEXT);
    ck_assert(lam_failed(lam_custom_jvps(ours, &theirs, 1, NULL)));
    EXPECT_STATUS(LAM_ERR_CONTEXT);
    lam_ctx_free(other);
}
END_TEST

static void unset_shape(lam_fctx *fc, const lam_type in[], lam_type out[]) {
    (void)fc, (void)in, (void)out;
}

static void impossible_shape(lam_fctx *fc, const lam_type in[], lam_type out[]) {
    (void)fc;
    out[0] = in[0];
    out[0].rank = LAM_MAX_RANK + 1;
}

START_TEST(shape_callback_that_does_not_fit) {
    lam_function f = separate;
    f.vmap = NULL;
    f.vmap_by_loop = true;
    void (*const shapes[])(lam_fctx *, const lam_type[], lam_type[]) = {unset_shape, impossible_shape};
    for (int k = 0; k < 2; k++) {
        f.shape = shapes[k];
        apply1(lam_vmap(fn_of(&f), NULL), lam_zeros(ctx, LAM_F64, LAM_DIMS(0)));
        EXPECT_ERROR(LAM_ERR_SHAPE, "separate", "shape", "output 0");
    }
}
END_TEST

/* ---- calls in the wrong place ------------------------------------------------------------------------------------ */

BACKWARD(saves_in_backward) {
    lam_fctx_save_for_backward(fc, LAM_LIST(g[0]));
    gx[0] = g[0];
}

BACKWARD(marks_in_backward) {
    lam_fctx_mark_dirty(fc, LAM_LIST(g[0]));
    gx[0] = g[0];
}

BACKWARD(sets_data_in_backward) {
    lam_fctx_set_data(fc, "x", &(int){1}, sizeof(int));
    gx[0] = g[0];
}

BACKWARD(materializes_in_backward) {
    lam_fctx_set_materialize_grads(fc, false);
    gx[0] = g[0];
}

BACKWARD(marks_outputs_in_backward) {
    lam_fctx_mark_non_differentiable(fc, LAM_LIST(g[0]));
    gx[0] = g[0];
}

START_TEST(calls_in_the_wrong_callback) {
    const struct {
        void (*rule)(lam_fctx *fc, lam_tensor *const g[], lam_tensor *gx[]);
        const char *call;
    } rows[] = {{saves_in_backward, "lam_fctx_save_for_backward"},
                {marks_in_backward, "lam_fctx_mark_dirty"},
                {sets_data_in_backward, "lam_fctx_set_data"},
                {materializes_in_backward, "lam_fctx_set_materialize_grads"},
                {marks_outputs_in_backward, "lam_fctx_mark_non_differentiable"}};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        lam_function f = separate;
        f.backward = rows[k].rule;
        apply1(reverse_of(fn_of(&f)), num(2));
        EXPECT_ERROR(LAM_ERR_RULE, "separate", "backward", rows[k].call, "may not be called here");
    }
}
END_TEST

static lam_fctx *kept;

FORWARD(keeps_context) {
    kept = fc;
    out[0] = lam_mul(in[0], 2);
}

/* The context lives as long as the pullback that reads what was saved in it. */
START_TEST(calls_outside_of_callbacks) {
    lam_function f = combined;
    lam_fn *pullback;
    lam_tensor *y;
    f.forward = keeps_context;
    lam_vjp(fn_of(&f), LAM_LIST(num(2)), &y, 1, &pullback, NULL);
    ck_assert_int_eq(lam_fctx_save_for_backward(kept, LAM_LIST(y)), LAM_ERR_RULE);
    EXPECT_ERROR(LAM_ERR_RULE, "combined", "lam_fctx_save_for_backward", "may not be called here");
}
END_TEST

FORWARD(reads_saved_in_forward) {
    ck_assert_int_eq(lam_fctx_saved_count(fc), 0);
    out[0] = lam_fctx_saved(fc, 0);
}

SETUP(lists_without_items) {
    const lam_list list = {1, NULL};
    ck_assert_int_eq(lam_fctx_save_for_backward(fc, list), LAM_ERR_NULL);
    ck_assert_int_eq(lam_fctx_mark_non_differentiable(fc, list), LAM_ERR_NULL);
}

FORWARD(marks_without_items) {
    ck_assert_int_eq(lam_fctx_mark_dirty(fc, (lam_list){1, NULL}), LAM_ERR_NULL);
    out[0] = in[0];
}

START_TEST(counts_without_items) {
    lam_function f = separate;
    f.forward = marks_without_items;
    ck_assert(lam_failed(apply1(fn_of(&f), num(2))));
    EXPECT_ERROR(LAM_ERR_NULL, "lam_fctx_mark_dirty: a count without items");
    f.forward = separate.forward;
    f.setup_context = lists_without_items;
    ck_assert(lam_failed(apply1(reverse_of(fn_of(&f)), num(2))));
    EXPECT_ERROR(LAM_ERR_NULL, "lam_fctx_save_for_backward: a count without items");
}
END_TEST

START_TEST(null_and_early_questions) {
    lam_function f = combined;
    f.forward = reads_saved_in_forward;
    apply1(fn_of(&f), num(2));
    EXPECT_ERROR(LAM_ERR_RULE, "combined", "forward", "lam_fctx_saved", "may not be called here");
    ck_assert_ptr_null(lam_fctx_attrs(NULL));
    ck_assert_ptr_null(lam_fctx_data(NULL, "x", NULL));
    ck_assert_int_eq(lam_fctx_inputs(NULL) + lam_fctx_outputs(NULL) + lam_fctx_saved_count(NULL), 0);
    ck_assert(!lam_fctx_needs_input_grad(NULL, 0));
    ck_assert(lam_failed(lam_fctx_saved(NULL, 0)));
    ck_assert_int_eq(lam_fctx_save_for_backward(NULL, LAM_LIST()), LAM_ERR_NULL);
    ck_assert_int_eq(lam_fctx_set_data(NULL, "x", NULL, 0), LAM_ERR_NULL);
    EXPECT_OK();
}
END_TEST

Suite *suite_custom_refused(void) {
    return SUITE_OF(
        "custom/refused", raw_data_in_a_combined_forward, raw_data_in_derivative_rules, rules_may_branch_on_a_number,
        levels_made_inside_a_callback_may_be_read, captured_boxes_in_every_callback, captured_boxes_as_results,
        tensors_hidden_in_attributes_or_data, a_failing_rule_keeps_its_message_through_all_levels,
        forward_that_does_not_fit, results_and_inputs_of_another_context, shape_callback_that_does_not_fit,
        calls_in_the_wrong_callback, calls_outside_of_callbacks, counts_without_items, null_and_early_questions);
}
