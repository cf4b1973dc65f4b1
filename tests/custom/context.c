/* What custom Functions may keep: saved values and plain data, and what may not be kept. Expected values are
 * derivatives by hand; where a rule must be told from the code, its factor is wrong on purpose. */
#include "tests/custom/callbacks.h"

/* ---- saved values ------------------------------------------------------------------------------------------------ */

FORWARD(times_forward) {
    out[0] = lam_mul(in[0], in[1]);
}

SETUP(save_all) {
    lam_fctx_save_for_backward(fc, LAM_LIST(in[0], NULL, in[1], out[0], lam_add(in[0], 1.0)));
    lam_fctx_set_data(fc, "factor", &(double){2}, sizeof(double));
    lam_fctx_set_data(fc, "count", &(int){3}, sizeof(int));
    lam_fctx_set_data(fc, "factor", &(double){4}, sizeof(double));
}

/* gx = 4 (x + 1) y g + out g: each kind of saved value takes part. */
BACKWARD(uses_all) {
    size_t size = 0;
    const double *factor = lam_fctx_data(fc, "factor", &size);
    const int *count = lam_fctx_data(fc, "count", NULL);
    ck_assert_uint_eq(size, sizeof *factor);
    ck_assert_int_eq(*count, 3);
    ck_assert_ptr_null(lam_fctx_data(fc, "nothing", &size));
    ck_assert_int_eq(lam_fctx_saved_count(fc), 5);
    ck_assert_ptr_null(lam_fctx_saved(fc, 1));
    gx[0] = lam_mul(
        g[0], lam_add(lam_mul(lam_mul(*factor, lam_fctx_saved(fc, 4)), lam_fctx_saved(fc, 2)), lam_fctx_saved(fc, 3)));
}

static const lam_function keeper = {.name = "keeper",
                                    .inputs = 2,
                                    .outputs = 1,
                                    .forward = times_forward,
                                    .setup_context = save_all,
                                    .backward = uses_all,
                                    .generate_vmap_rule = true};

START_TEST(every_kind_of_saved_value) {
    lam_fn *f = lam_grad(fn_of_two(&keeper), NULL);
    EXPECT_NUM(apply2(f, num(3), num(5)), 4 * 4 * 5 + 15);
    /* The rule once more: 4 y from x + 1, and out has the rule of the outer level, 4 (x + 1) y + out. */
    EXPECT_NUM(apply2(lam_grad(f, NULL), num(3), num(5)), 4 * 5 + 4 * 4 * 5 + 15);
    EXPECT(
        lam_apply(lam_vmap(f, &(lam_vmap_options){.in_axes = LAM_AXES(0, LAM_UNMAPPED)}), LAM_LIST(VEC(3, 4), num(5))),
        LAM_DIMS(2), 95, 120);
}
END_TEST

/* ---- what x which count ------------------------------------------------------------------------------------------ */

typedef enum kept { INPUT, OUTPUT, INTERMEDIATE, CONSTANT, PLAIN, KINDS } kept;
typedef enum amount { ONE, SEVERAL, NONE, AMOUNTS } amount;

static kept kept_kind;
static amount kept_amount;

/* x^2; saves the input x, the output x^2, the intermediate x^3, the constant 5, or the plain value 6. */
static void keep(lam_fctx *fc, lam_tensor *x, lam_tensor *y) {
    if (kept_kind == PLAIN) {
        lam_fctx_set_data(fc, "first", &(double){6}, kept_amount == NONE ? 0 : sizeof(double));
        if (kept_amount == SEVERAL) lam_fctx_set_data(fc, "second", &(double){6}, sizeof(double));
        return;
    }
    lam_tensor *t = kept_kind == INPUT ? x : kept_kind == OUTPUT ? y : kept_kind == CONSTANT ? num(5) : lam_mul(x, y);
    lam_tensor *list[] = {kept_amount == NONE ? NULL : t, NULL, t};
    lam_fctx_save_for_backward(fc, (lam_list){kept_amount == SEVERAL ? 3 : 1, list});
}

FORWARD(keeps_in_forward) {
    out[0] = lam_square(in[0]);
    keep(fc, in[0], out[0]);
}

FORWARD(keeps_nothing) {
    out[0] = lam_square(in[0]);
}

SETUP(keeps_in_setup) {
    keep(fc, in[0], out[0]);
}

/* g times the sum of what was kept; none: g. */
static lam_tensor *times_kept(lam_fctx *fc, lam_tensor *g) {
    lam_tensor *sum = NULL;
    for (int k = 0; k < lam_fctx_saved_count(fc); k++) {
        lam_tensor *t = lam_fctx_saved(fc, k);
        if (t) sum = sum ? lam_add(sum, t) : t;
    }
    const char *const names[] = {"first", "second"};
    for (int k = 0; k < 2; k++) {
        size_t size;
        const double *x = lam_fctx_data(fc, names[k], &size);
        if (x && size) sum = sum ? lam_add(sum, *x) : num(*x);
    }
    return sum ? lam_mul(g, sum) : g;
}

BACKWARD(backward_times_kept) {
    gx[0] = times_kept(fc, g[0]);
}

JVP(jvp_times_kept) {
    dout[0] = times_kept(fc, t[0]);
}

/* First and second derivative at 2 by the rule: c s(x) and c s'(x), where s' of the output is again the rule: c s. */
START_TEST(every_kind_and_number_of_saved_values) {
    const lam_function both[] = {{.name = "separate",
                                  .inputs = 1,
                                  .outputs = 1,
                                  .forward = keeps_nothing,
                                  .setup_context = keeps_in_setup,
                                  .backward = backward_times_kept,
                                  .jvp = jvp_times_kept,
                                  .generate_vmap_rule = true},
                                 {.name = "combined",
                                  .inputs = 1,
                                  .outputs = 1,
                                  .forward = keeps_in_forward,
                                  .backward = backward_times_kept,
                                  .jvp = jvp_times_kept}};
    const double value[KINDS] = {2, 4, 8, 5, 6}, c[AMOUNTS] = {1, 2, 0};
    for (int run = 0; run < 2 * KINDS * AMOUNTS; run++) {
        kept_kind = (kept)(run / 2 % KINDS);
        kept_amount = (amount)(run / 2 / KINDS);
        double n = c[kept_amount], first = kept_amount == NONE ? 1 : n * value[kept_kind];
        /* x: n; x^2: the rule once more, n first; x x^2: n (x^2 + x d), where d is the rule again in the separate
         * style, and in the combined one the derivative of forward's code, 2 x; constants: 0 */
        double d = run % 2 ? 4 : first;
        double second = kept_kind == INPUT          ? n
                        : kept_kind == OUTPUT       ? n * first
                        : kept_kind == INTERMEDIATE ? n * (4 + 2 * d)
                                                    : 0;
        lam_fn *f = fn_of(&both[run % 2]);
        EXPECT_NUM(apply1(reverse_of(f), num(2)), first);
        EXPECT_NUM(apply1(forward_of(f), num(2)), first);
        EXPECT_NUM(apply1(reverse_of(reverse_of(f)), num(2)), second);
        EXPECT_NUM(apply1(forward_of(reverse_of(f)), num(2)), second);
        EXPECT(apply1(lam_vmap(forward_of(forward_of(f)), NULL), VEC(2, 2)), LAM_DIMS(2), second, second);
        EXPECT(apply1(lam_jacrev(lam_vmap(f, NULL), NULL), VEC(2, 2)), LAM_DIMS(2, 2), first, 0, 0, first);
    }
}
END_TEST

/* ---- lists and their mistakes ------------------------------------------------------------------------------------ */

static int saves;

FORWARD(square_forward) {
    out[0] = lam_square(in[0]);
}

SETUP(save_twice) {
    lam_fctx_save_for_backward(fc, LAM_LIST(in[0]));
    lam_fctx_save_for_backward(fc, LAM_LIST(out[0]));
}

SETUP(saves_input) {
    lam_fctx_save_for_backward(fc, LAM_LIST(in[0]));
}

SETUP(saves_output) {
    lam_fctx_save_for_backward(fc, LAM_LIST(out[0]));
}

SETUP(save_for_both) {
    saves++;
    lam_fctx_save_for_forward(fc, LAM_LIST(lam_mul(10.0, in[0])));
    lam_fctx_save_for_backward(fc, LAM_LIST(lam_mul(100.0, in[0])));
}

BACKWARD(times_saved) {
    gx[0] = lam_mul(lam_fctx_saved(fc, 0), g[0]);
}

JVP(saved_times) {
    dout[0] = lam_mul(lam_fctx_saved(fc, 0), t[0]);
}

START_TEST(each_mode_reads_its_own_list) {
    lam_function f = {.name = "f",
                      .inputs = 1,
                      .outputs = 1,
                      .forward = square_forward,
                      .setup_context = save_for_both,
                      .backward = times_saved,
                      .jvp = saved_times};
    EXPECT_NUM(apply1(lam_grad(fn_of(&f), NULL), num(3)), 300);
    EXPECT_NUM(apply1(FN_ENV(along, 1, 1, fn_of(&f)), num(3)), 30);
}
END_TEST

START_TEST(saving_twice_fails) {
    lam_function f = {.name = "hasty",
                      .inputs = 1,
                      .outputs = 1,
                      .forward = square_forward,
                      .setup_context = save_twice,
                      .backward = times_saved};
    apply1(lam_grad(fn_of(&f), NULL), num(3));
    EXPECT_ERROR(LAM_ERR_RULE, "hasty", "setup_context", "twice");
}
END_TEST

BACKWARD(reads_too_far) {
    gx[0] = lam_fctx_saved(fc, 2);
}

START_TEST(reading_what_was_not_saved_fails) {
    lam_function f = keeper;
    f.inputs = 1;
    f.forward = square_forward;
    f.setup_context = save_for_both;
    f.backward = reads_too_far;
    f.name = "greedy";
    apply1(lam_grad(fn_of(&f), NULL), num(3));
    EXPECT_ERROR(LAM_ERR_RULE, "greedy", "backward", "tensor 2", "1 were saved");
}
END_TEST

FORWARD(saves_in_forward) {
    out[0] = lam_square(in[0]);
    lam_fctx_save_for_backward(fc, LAM_LIST(in[0]));
}

START_TEST(separate_forward_may_not_save) {
    lam_function f = {.name = "mixed",
                      .inputs = 1,
                      .outputs = 1,
                      .forward = saves_in_forward,
                      .setup_context = save_for_both,
                      .backward = times_saved};
    call_function(&f, NULL, LAM_LIST(num(3)));
    EXPECT_ERROR(LAM_ERR_RULE, "mixed", "forward", "may not be called here", "return it as an output");
}
END_TEST

static size_t alive_in_forward;

FORWARD(saves_and_lets_go) {
    lam_tensor *large = lam_exp(in[0]);
    lam_fctx_save_for_backward(fc, LAM_LIST(large));
    lam_drop(large);
    alive_in_forward = lam_ctx_bytes(ctx);
    out[0] = lam_square(in[0]);
}

/* Nothing is kept when no derivative is wanted, also while forward runs: the bytes alive are those of the result. */
START_TEST(nothing_is_saved_without_a_derivative) {
    lam_function f = {.name = "f", .inputs = 1, .outputs = 1, .forward = saves_and_lets_go, .backward = times_saved};
    lam_tensor *x = lam_zeros(ctx, LAM_F64, LAM_DIMS(1000));
    warm_up();
    size_t before = lam_ctx_bytes(ctx);
    lam_tensor *y = call_function(&f, NULL, LAM_LIST(x));
    ck_assert_uint_lt(alive_in_forward - before, 4096);
    ck_assert_uint_lt(lam_ctx_bytes(ctx) - before, 8000 + 1024);
    lam_drop(y);
    lam_tensor *g;
    lam_fn *pullback;
    lam_vjp(fn_of(&f), LAM_LIST(x), &g, 1, &pullback, NULL);
    ck_assert_uint_gt(alive_in_forward - before, 8000); /* where one is wanted it is kept */
    EXPECT_OK();
}
END_TEST

/* In the separate style setup_context is not even run, also under vmap alone. */
SETUP(must_not_run) {
    ck_abort_msg("setup_context ran without a derivative");
}

START_TEST(setup_does_not_run_without_a_derivative) {
    lam_function f = {.name = "f",
                      .inputs = 1,
                      .outputs = 1,
                      .forward = square_forward,
                      .setup_context = must_not_run,
                      .backward = times_saved,
                      .generate_vmap_rule = true};
    EXPECT_NUM(apply1(fn_of(&f), num(3)), 9);
    EXPECT(apply1(lam_vmap(fn_of(&f), NULL), VEC(1, 2)), LAM_DIMS(2), 1, 4);
    lam_tensor *y, *dy, *x = num(3);
    lam_jvp(fn_of(&f), LAM_LIST(x), LAM_LIST(NULL), &y, &dy, 1, NULL);
    EXPECT_NUM(dy, 0);
}
END_TEST

/* A saved input is the input, not a copy: a pullback adds nothing of its size. */
START_TEST(saved_tensors_are_shared) {
    lam_function f = {.name = "f", .inputs = 1, .outputs = 1, .forward = saves_in_forward, .backward = times_saved};
    lam_tensor *x = lam_zeros(ctx, LAM_F64, LAM_DIMS(1000)), *y;
    lam_fn *body = lam_function_fn(ctx, &f, NULL, 1, 1), *pullback;
    warm_up();
    size_t before = lam_ctx_bytes(ctx);
    lam_vjp(body, LAM_LIST(x), &y, 1, &pullback, NULL);
    ck_assert_uint_lt(lam_ctx_bytes(ctx) - before, 8000 + 4096);
    EXPECT_OK();
}
END_TEST

/* Of a batch, too: one tensor is kept, whatever the rule. */
START_TEST(saved_tensors_of_batches_are_shared) {
    const lam_function both[] = {
        {.name = "f", .inputs = 1, .outputs = 1, .forward = saves_in_forward, .backward = times_saved},
        {.name = "f",
         .inputs = 1,
         .outputs = 1,
         .forward = square_forward,
         .setup_context = saves_input,
         .backward = times_saved,
         .generate_vmap_rule = true}};
    lam_tensor *x = lam_zeros(ctx, LAM_F64, LAM_DIMS(10, 1000)), *y;
    for (int k = 0; k < 2; k++) {
        lam_fn *rows = lam_vmap(fn_of(&both[k]), NULL), *pullback;
        warm_up();
        size_t before = lam_ctx_bytes(ctx);
        lam_vjp(rows, LAM_LIST(x), &y, 1, &pullback, NULL);
        ck_assert_uint_lt(lam_ctx_bytes(ctx) - before, 80000 + 8192);
    }
    EXPECT_OK();
}
END_TEST

/* One context for each application and each level: what is kept by one is not seen by another. */
SETUP(keeps_rank_and_value) {
    int *number = lam_fctx_data(fc, "number", NULL) ? NULL : &saves;
    ck_assert_ptr_nonnull(number); /* the context is new */
    saves++;
    lam_fctx_set_data(fc, "number", &saves, sizeof saves);
    lam_fctx_save_for_backward(fc, LAM_LIST(in[0]));
}

static int numbers[4], numbers_seen;

BACKWARD(notes_number) {
    numbers[numbers_seen++ % 4] = *(const int *)lam_fctx_data(fc, "number", NULL);
    gx[0] = lam_mul(g[0], lam_fctx_saved(fc, 0));
}

BODY(applied_twice) {
    out[0] = apply1(env, apply1(env, in[0]));
}

START_TEST(one_context_per_application_and_level) {
    lam_function f = {.name = "f",
                      .inputs = 1,
                      .outputs = 1,
                      .forward = square_forward,
                      .setup_context = keeps_rank_and_value,
                      .backward = notes_number};
    saves = numbers_seen = 0;
    EXPECT_NUM(apply1(reverse_of(FN_ENV(applied_twice, 1, 1, fn_of(&f))), num(2)), 4 * 2);
    ck_assert_int_eq(saves, 2);
    ck_assert_int_eq(numbers[0], 2); /* the last application first */
    ck_assert_int_eq(numbers[1], 1);
    saves = numbers_seen = 0;
    EXPECT_NUM(apply1(reverse_of(reverse_of(fn_of(&f))), num(2)), 1);
    ck_assert_int_eq(saves, 2); /* once per level, the lower one first */
    ck_assert_int_eq(numbers[0], 2);
}
END_TEST

/* A value that is changed after it was saved keeps what it was. */
FORWARD(saves_then_changes) {
    lam_tensor *x = lam_alias(in[0]);
    lam_fctx_save_for_backward(fc, LAM_LIST(x));
    lam_mul_(x, num(10));
    out[0] = x;
}

/* So does one that the caller changes between the call and the way back. */
BODY(changes_after_the_call) {
    lam_tensor *x = lam_alias(in[0]), *y = apply1(env, x);
    lam_mul_(x, num(10));
    lam_mul_(y, num(7));
    out[0] = y;
}

START_TEST(saved_value_keeps_its_content_when_the_caller_changes_it) {
    const lam_function both[] = {
        {.name = "f", .inputs = 1, .outputs = 1, .forward = saves_in_forward, .backward = times_saved},
        {.name = "f",
         .inputs = 1,
         .outputs = 1,
         .forward = square_forward,
         .setup_context = saves_output,
         .backward = times_saved}};
    EXPECT_NUM(apply1(reverse_of(FN_ENV(changes_after_the_call, 1, 1, fn_of(&both[0]))), num(3)), 7 * 3);
    EXPECT_NUM(apply1(reverse_of(FN_ENV(changes_after_the_call, 1, 1, fn_of(&both[1]))), num(3)), 7 * 9);
}
END_TEST

START_TEST(saved_value_keeps_its_content) {
    lam_function f = {.name = "f", .inputs = 1, .outputs = 1, .forward = saves_then_changes, .backward = times_saved};
    EXPECT_NUM(apply1(lam_grad(fn_of(&f), NULL), num(3)), 3);
}
END_TEST

/* ---- intermediates kept aside ------------------------------------------------------------------------------------ */

static lam_tensor *aside;
static bool as_operand;

FORWARD(hides_intermediate) {
    if (aside) lam_release(aside);
    aside = lam_hold(lam_sin(in[0]));
    out[0] = lam_square(aside);
}

SETUP(saves_hidden) {
    lam_fctx_save_for_backward(fc, LAM_LIST(as_operand ? lam_add(aside, 0.0) : aside));
}

START_TEST(hidden_intermediate_is_an_error_where_it_would_be_wrong) {
    lam_function f = {.name = "sly",
                      .inputs = 1,
                      .outputs = 1,
                      .forward = hides_intermediate,
                      .setup_context = saves_hidden,
                      .backward = times_saved};
    lam_fn *g = lam_grad(fn_of(&f), NULL);
    aside = NULL;
    for (int k = 0; k < 2; k++) {
        as_operand = k;
        EXPECT_NEAR(apply1(g, num(3)), 1e-15, LAM_DIMS0, sin(3)); /* one level: an honest constant */
        apply1(lam_grad(g, NULL), num(3));
        EXPECT_ERROR(LAM_ERR_RULE, "sly", "setup_context", "made inside", "return it as an output of forward");
    }
    EXPECT_NEAR(lam_add(aside, 0.0), 1e-15, LAM_DIMS0, sin(3)); /* usable again afterwards */
    lam_release(aside);
    aside = NULL;
}
END_TEST

Suite *suite_custom_context(void) {
    return SUITE_OF("custom/context", every_kind_of_saved_value, every_kind_and_number_of_saved_values,
                    each_mode_reads_its_own_list, saving_twice_fails, reading_what_was_not_saved_fails,
                    separate_forward_may_not_save, nothing_is_saved_without_a_derivative,
                    setup_does_not_run_without_a_derivative, saved_tensors_are_shared,
                    saved_tensors_of_batches_are_shared, one_context_per_application_and_level,
                    saved_value_keeps_its_content_when_the_caller_changes_it, saved_value_keeps_its_content,
                    hidden_intermediate_is_an_error_where_it_would_be_wrong);
}
