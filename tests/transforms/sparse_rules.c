/* The sparsity of functions with rules of the user's: entries are where the rules have them, whatever forward does.
 * Where they are follows from what the rules are; values are compared with whole Jacobians and Hessians. */
#include "tests/support.h"
#include "tests/transforms/entries.h"

/* ---- Functions --------------------------------------------------------------------------------------------------- */

/* Rounds, and passes what comes back. */
static void forward_rounds(UNUSED lam_fctx *fc, lam_tensor *const in[], lam_tensor *out[]) {
    out[0] = lam_round(in[0]);
}
static void backward_passes(UNUSED lam_fctx *fc, lam_tensor *const g[], lam_tensor *gx[]) {
    gx[0] = g[0];
}
static const lam_function rounds = {
    .name = "rounds", .inputs = 1, .outputs = 1, .forward = forward_rounds, .backward = backward_passes};

/* The same, but what comes back is turned round: on the other diagonal. */
static void backward_turns(UNUSED lam_fctx *fc, lam_tensor *const g[], lam_tensor *gx[]) {
    gx[0] = lam_reverse(g[0], LAM_AXES(0));
}
static const lam_function turns = {
    .name = "turns", .inputs = 1, .outputs = 1, .forward = forward_rounds, .backward = backward_turns};

/* x^3 in C, with its slope saved by setup_context. */
static void forward_cubes(lam_fctx *fc, lam_tensor *const in[], lam_tensor *out[]) {
    const double *x = lam_data(lam_contiguous(in[0]));
    double y[6] = {0};
    for (int i = 0; x && i < 6; i++) y[i] = x[i] * x[i] * x[i];
    out[0] = lam_array(lam_fctx_ctx(fc), LAM_F64, LAM_DIMS(6), y);
}
static void setup_cubes(lam_fctx *fc, lam_tensor *const in[], UNUSED lam_tensor *const out[]) {
    lam_fctx_save_for_backward(fc, LAM_LIST(in[0]));
}
static void backward_cubes(lam_fctx *fc, lam_tensor *const g[], lam_tensor *gx[]) {
    gx[0] = lam_mul(g[0], lam_mul(3.0, lam_square(lam_fctx_saved(fc, 0))));
}
static void jvp_cubes(lam_fctx *fc, lam_tensor *const t[], lam_tensor *dout[]) {
    backward_cubes(fc, t, dout);
}
static const lam_function cubes = {.name = "cubes",
                                   .inputs = 1,
                                   .outputs = 1,
                                   .forward = forward_cubes,
                                   .setup_context = setup_cubes,
                                   .backward = backward_cubes,
                                   .vmap_by_loop = true};
static const lam_function cubes_forwards = {.name = "cubes forwards",
                                            .inputs = 1,
                                            .outputs = 1,
                                            .forward = forward_cubes,
                                            .setup_context = setup_cubes,
                                            .jvp = jvp_cubes,
                                            .vmap_by_loop = true};

/* Sorts; the places come from operations on values, so they may be others elsewhere. */
static void forward_sorts(lam_fctx *fc, lam_tensor *const in[], lam_tensor *out[]) {
    out[0] = lam_sort(in[0], 0);
    lam_fctx_save_for_forward(fc, LAM_LIST(lam_argsort(in[0], 0)));
}
static void jvp_sorts(lam_fctx *fc, lam_tensor *const t[], lam_tensor *dout[]) {
    dout[0] = lam_take(t[0], lam_fctx_saved(fc, 0), 0);
}
static const lam_function sorts = {
    .name = "sorts", .inputs = 1, .outputs = 1, .forward = forward_sorts, .jvp = jvp_sorts};

/* Doubles what is not 0, as it can say of a tangent that is at hand. */
static void jvp_looks(UNUSED lam_fctx *fc, lam_tensor *const t[], lam_tensor *dout[]) {
    dout[0] = lam_item(lam_sum(lam_abs(t[0]), NULL)) > 0 ? lam_mul(2.0, t[0]) : NULL;
}
static const lam_function looks = {
    .name = "looks", .inputs = 1, .outputs = 1, .forward = forward_rounds, .jvp = jvp_looks};

/* Running sums, which are linear and so their own rule. */
static void forward_sums(UNUSED lam_fctx *fc, lam_tensor *const in[], lam_tensor *out[]) {
    out[0] = lam_cumsum(in[0], 0);
}
static const lam_function sums = {
    .name = "sums", .inputs = 1, .outputs = 1, .forward = forward_sums, .is_linear = true};

/* A sine whose rule has no derivative. */
static void forward_sine(lam_fctx *fc, lam_tensor *const in[], lam_tensor *out[]) {
    out[0] = lam_sin(in[0]);
    lam_fctx_save_for_backward(fc, LAM_LIST(in[0]));
}
static void backward_sine(lam_fctx *fc, lam_tensor *const g[], lam_tensor *gx[]) {
    gx[0] = lam_mul(g[0], lam_cos(lam_fctx_saved(fc, 0)));
}
static const lam_function once = {.name = "once",
                                  .inputs = 1,
                                  .outputs = 1,
                                  .forward = forward_sine,
                                  .backward = backward_sine,
                                  .once_differentiable = true};

BODY(apply_function) {
    lam_function_apply(ctx, env, NULL, LAM_LIST(in[0]), out, 1);
}

/* ---- JAX's ------------------------------------------------------------------------------------------------------- */

/* y_i = x_(i+1) x_i */
BODY(product_with_next) {
    out[0] = lam_mul(lam_slice_axis(in[0], 0, 0, -1), lam_slice_axis(in[0], 0, 1, LAM_END));
}
BODY(product_saved) {
    product_with_next(here, in, out, env);
    out[1] = in[0];
}
BODY(product_back) {
    lam_tensor *x = in[0], *g = in[1];
    lam_tensor *left = lam_mul(g, lam_slice_axis(x, 0, 1, LAM_END)), *right = lam_mul(g, lam_slice_axis(x, 0, 0, -1));
    out[0] = lam_add(lam_pad(left, LAM_DIMS(0), LAM_DIMS(1), NULL), lam_pad(right, LAM_DIMS(1), LAM_DIMS(0), NULL));
}
BODY(product_pushed) {
    lam_tensor *a = lam_slice_axis(in[1], 0, 0, -1), *b = lam_slice_axis(in[1], 0, 1, LAM_END);
    product_with_next(here, in, out, env);
    out[1] = lam_add(lam_mul(a, lam_slice_axis(in[0], 0, 1, LAM_END)), lam_mul(lam_slice_axis(in[0], 0, 0, -1), b));
}
BODY(with_vjp) {
    lam_fn *f = lam_custom_vjp(FN(product_with_next, 1, 1), FN(product_saved, 1, 2), FN(product_back, 2, 1), NULL);
    out[0] = apply1(f, in[0]);
}
BODY(with_jvp) {
    out[0] = apply1(lam_custom_jvp(FN(product_with_next, 1, 1), FN(product_pushed, 2, 2), NULL), in[0]);
}

/* ---- where their entries are ------------------------------------------------------------------------------------- */

static const struct {
    const lam_function *function;
    lam_body body;
    int64_t count;
} known[] = {
    {&rounds, apply_function, 6}, {&turns, apply_function, 6},          {&sorts, apply_function, 36},
    {&cubes, apply_function, 6},  {&cubes_forwards, apply_function, 6}, {NULL, with_vjp, 10},
    {NULL, with_jvp, 10},         {&sums, apply_function, 21},
};
enum { KNOWN = sizeof known / sizeof known[0] };

static lam_fn *function_number(int i) {
    return function_of("f", known[i].body, 1, 1, (void *)(uintptr_t)known[i].function);
}

START_TEST(entries_are_where_rules_have_them) {
    lam_fn *f = function_number(_i);
    lam_tensor *pairs = lam_jacobian_sparsity(f, LAM_LIST(point()), NULL),
               *whole = apply1(lam_jacobian(f, NULL), point());
    ck_assert_int_eq(lam_dim(pairs, 0), known[_i].count);
    lam_tensor *entries = apply1(lam_sparse_jacobian(f, pairs, NULL), point());
    EXPECT_SAME(dense(pairs, entries, lam_dim(whole, 0), 6), whole, 1e-14);
    EXPECT_SAME(lam_jacobian_sparsity(lam_jit(f, NULL), LAM_LIST(point()), NULL), pairs, 0);
    if (known[_i].function == &cubes || known[_i].function == &cubes_forwards) return; /* C code is in no program */
    EXPECT_SAME(lam_jacobian_sparsity(lam_trace(f, LAM_LIST(point())), LAM_LIST(point()), NULL), pairs, 0);
    EXPECT_OK();
}
END_TEST

/* The sum of squares: its Hessian is 2 J'J and what the second derivatives of f add, within the same places. */
BODY(sum_of_squares) {
    out[0] = lam_sum(lam_square(apply1(env, in[0])), NULL);
}

START_TEST(hessians_too) {
    static const int64_t counts[KNOWN] = {6, 6, 36, 6, 6, 16, 16, 36};
    lam_fn *f = FN_ENV(sum_of_squares, 1, 1, function_number(_i));
    lam_tensor *pairs = lam_hessian_sparsity(f, LAM_LIST(point()), NULL);
    ck_assert_int_eq(lam_dim(pairs, 0), counts[_i]);
    lam_tensor *entries = apply1(lam_sparse_hessian(f, pairs, NULL), point());
    EXPECT_SAME(dense(pairs, entries, 6, 6), apply1(lam_hessian(f, NULL), point()), 1e-12);
    EXPECT_OK();
}
END_TEST

/* x times the sine of floor x, of which there is no derivative, first or second. */
BODY(once_of_steps) {
    lam_tensor *y;
    lam_function_apply(ctx, &once, NULL, LAM_LIST(lam_floor(in[0])), &y, 1);
    out[0] = lam_sum(lam_mul(lam_square(in[0]), y), NULL);
}
BODY(sum_of_once) {
    lam_tensor *y;
    lam_function_apply(ctx, &once, NULL, LAM_LIST(in[0]), &y, 1);
    out[0] = lam_sum(y, NULL);
}

START_TEST(rules_without_a_derivative_are_looked_into_once) {
    lam_fn *f = FN_ENV(apply_function, 1, 1, (void *)(uintptr_t)&once), *steps = FN(once_of_steps, 1, 1);
    lam_tensor *pairs = lam_jacobian_sparsity(f, LAM_LIST(point()), NULL);
    ck_assert_int_eq(lam_dim(pairs, 0), 6);
    EXPECT_SAME(dense(pairs, apply1(lam_sparse_jacobian(f, pairs, NULL), point()), 6, 6),
                apply1(lam_jacobian(f, NULL), point()), 1e-15);
    ck_assert_int_eq(lam_dim(lam_hessian_sparsity(steps, LAM_LIST(point()), NULL), 0), 6);
    EXPECT_OK();
    ck_assert(lam_failed(lam_hessian_sparsity(FN(sum_of_once, 1, 1), LAM_LIST(point()), NULL)));
    EXPECT_ERROR(LAM_ERR_RULE, "'once'", "second derivative");
}
END_TEST

/* A tangent has no elements while entries are looked for, so nothing is left out, and nothing is on record. */
START_TEST(rules_that_look_make_everything_depend_on_everything) {
    lam_fn *f = FN_ENV(apply_function, 1, 1, (void *)(uintptr_t)&looks);
    ck_assert_int_eq(lam_dim(lam_jacobian_sparsity(f, LAM_LIST(point()), NULL), 0), 36);
    EXPECT_OK();
}
END_TEST

/* Linear Functions that count how often forward runs: by operations and with itself as the rule, by operations without
 * one, and in C without one. */
static void forward_counts(lam_fctx *fc, lam_tensor *const in[], lam_tensor *out[]) {
    ++**(int *const *)lam_fctx_attrs(fc);
    out[0] = lam_reverse(in[0], LAM_AXES(0));
}
static void forward_counts_in_c(lam_fctx *fc, lam_tensor *const in[], lam_tensor *out[]) {
    double x[6], y[6];
    ++**(int *const *)lam_fctx_attrs(fc);
    if (lam_read(in[0], x, sizeof x) != LAM_OK) return;
    for (int i = 0; i < 6; i++) y[i] = x[5 - i];
    out[0] = lam_array(lam_fctx_ctx(fc), LAM_F64, LAM_DIMS(6), y);
}
static void setup_nothing(UNUSED lam_fctx *fc, UNUSED lam_tensor *const in[], UNUSED lam_tensor *const out[]) {
}
static const lam_function by_itself;
static void jvp_by_itself(lam_fctx *fc, lam_tensor *const t[], lam_tensor *dout[]) {
    lam_function_apply(ctx, &by_itself, lam_fctx_attrs(fc), LAM_LIST(t[0]), dout, 1);
}
static const lam_function by_itself = {.name = "by itself",
                                       .inputs = 1,
                                       .outputs = 1,
                                       .attrs_size = sizeof(int *),
                                       .forward = forward_counts,
                                       .jvp = jvp_by_itself};
static const lam_function own_rule = {.name = "its own rule",
                                      .inputs = 1,
                                      .outputs = 1,
                                      .attrs_size = sizeof(int *),
                                      .forward = forward_counts,
                                      .is_linear = true};
static const lam_function own_rule_in_c = {.name = "its own rule in C",
                                           .inputs = 1,
                                           .outputs = 1,
                                           .attrs_size = sizeof(int *),
                                           .forward = forward_counts_in_c,
                                           .setup_context = setup_nothing,
                                           .backward = backward_turns,
                                           .is_linear = true,
                                           .vmap_by_loop = true};
static const struct {
    const lam_function *function;
    int64_t count;
} linear[] = {{&by_itself, 36}, {&own_rule, 6}, {&own_rule_in_c, 36}};
enum { LINEAR = sizeof linear / sizeof linear[0] };

typedef struct counted {
    const lam_function *function;
    int *runs;
} counted;

BODY(apply_counted) {
    const counted *c = env;
    lam_function_apply(ctx, c->function, &c->runs, LAM_LIST(in[0]), out, 1);
}

/* Applied to tangents they are asked for their rule again, which goes nowhere. */
START_TEST(rules_that_apply_their_own_function_end) {
    int runs = 0;
    counted c = {linear[_i].function, &runs};
    lam_tensor *pairs = lam_jacobian_sparsity(FN_ENV(apply_counted, 1, 1, &c), LAM_LIST(point()), NULL);
    ck_assert_int_eq(lam_dim(pairs, 0), linear[_i].count);
    ck_assert_int_lt(runs, 8);
    EXPECT_OK();
}
END_TEST

/* Draws are those of one run. */
static void forward_draws(lam_fctx *fc, lam_tensor *const in[], lam_tensor *out[]) {
    out[0] = lam_mul(in[0], lam_rand(lam_fctx_ctx(fc), LAM_F64, lam_dims_of(in[0])));
}
static const lam_function draws = {
    .name = "draws", .inputs = 1, .outputs = 1, .forward = forward_draws, .jvp = jvp_looks};

START_TEST(a_rule_that_fails_leaves_no_draws_behind) {
    lam_fn *f = FN_ENV(apply_function, 1, 1, (void *)(uintptr_t)&draws);
    const lam_random_state before = lam_ctx_random_state(ctx);
    lam_apply(f, LAM_LIST(point()));
    const lam_random_state after = lam_ctx_random_state(ctx);
    lam_ctx_set_random_state(ctx, before);
    lam_jacobian_sparsity(f, LAM_LIST(point()), NULL);
    ck_assert(lam_ctx_random_state(ctx).draws == after.draws);
    EXPECT_OK();
}
END_TEST

/* ---- draws ------------------------------------------------------------------------------------------------------- */

/* Directions share the draws of one function, in chunks too: the differences of x r have r beside -r, the squares times
 * r twice r on the diagonal. */
BODY(drawn_differences) {
    lam_tensor *y = lam_mul(in[0], lam_rand(ctx, LAM_F64, LAM_DIMS(6)));
    out[0] = lam_sub(from(y, 1), but_last(y));
}

BODY(drawn_squares) {
    out[0] = lam_sum(lam_mul(lam_square(in[0]), lam_rand(ctx, LAM_F64, LAM_DIMS(6))), NULL);
}

/* The sum, and a diagonal beside a full column: by tangents and a cotangent. */
BODY(drawn_and_bordered) {
    lam_tensor *y = lam_mul(in[0], lam_rand(ctx, LAM_F64, LAM_DIMS(6)));
    lam_tensor *sum = lam_reshape(lam_sum(y, NULL), LAM_DIMS(1));
    out[0] = lam_concatenate(LAM_LIST(sum, lam_mul(from(y, 1), lam_slice_axis(y, 0, 0, 1))), 0);
}

static lam_tensor *drawn_entries(lam_fn *entries) {
    lam_ctx_seed(ctx, 5);
    lam_tensor *y = apply1(entries, point());
    ck_assert_uint_eq(lam_ctx_random_state(ctx).draws, 1);
    return y;
}

START_TEST(functions_that_draw) {
    lam_ctx_seed(ctx, 5);
    lam_tensor *r = lam_rand(ctx, LAM_F64, LAM_DIMS(6));
    lam_fn *f = FN(drawn_differences, 1, 1), *g = FN(drawn_squares, 1, 1), *h = FN(drawn_and_bordered, 1, 1);
    lam_tensor *pairs = lam_jacobian_sparsity(f, LAM_LIST(point()), NULL),
               *squares = lam_hessian_sparsity(g, LAM_LIST(point()), NULL),
               *bordered = lam_jacobian_sparsity(h, LAM_LIST(point()), NULL),
               *want = lam_stack(LAM_LIST(lam_neg(but_last(r)), from(r, 1)), 1);
    for (int64_t chunk = 0; chunk < 3; chunk++) {
        const lam_sparse_options o = {.chunk_size = chunk};
        EXPECT_SAME(drawn_entries(lam_sparse_jacobian(f, pairs, &o)), lam_reshape(want, LAM_DIMS(10)), 0);
        EXPECT_SAME(drawn_entries(lam_sparse_hessian(g, squares, &o)), lam_mul(2.0, r), 0);
        lam_tensor *both = drawn_entries(lam_sparse_jacobian(h, bordered, &o));
        EXPECT_SAME(dense(bordered, both, 6, 6), drawn_entries(lam_jacobian(h, NULL)), 1e-15);
    }
}
END_TEST

/* ---- memory ------------------------------------------------------------------------------------------------------ */

BODY(first_reversed) {
    out[0] = lam_reverse(in[0], LAM_AXES(0));
}
BODY(first_squared) {
    out[0] = lam_square(in[0]);
}
BODY(chosen) {
    lam_cond(lam_gt(lam_sum(in[0], NULL), 0.0), FN(first_squared, 1, 1), FN(first_reversed, 1, 1), LAM_LIST(in[0]), out,
             1);
}

/* The numbers of entries of a function with a rule and of a program with a choice; the values of the latter. */
static bool scenario(int64_t counts[2]) {
    lam_tensor *x = point();
    lam_scope *scope = lam_scope_begin(ctx);
    lam_fn *rule = FN(with_vjp, 1, 1), *choice = lam_trace(FN(chosen, 1, 1), LAM_LIST(x));
    lam_tensor *pairs = lam_jacobian_sparsity(rule, LAM_LIST(x), NULL);
    counts[0] = lam_failed(pairs) ? -1 : lam_dim(pairs, 0);
    pairs = lam_jacobian_sparsity(choice, LAM_LIST(x), NULL);
    counts[1] = lam_failed(pairs) ? -1 : lam_dim(pairs, 0);
    apply1(lam_sparse_jacobian(choice, pairs, NULL), x);
    lam_scope_end(scope, NULL, 0);
    return scope && lam_status_of(ctx) == LAM_OK;
}

/* Where memory is refused that is told: it is no reason to make everything depend on everything. */
START_TEST(every_request_for_memory_refused) {
    lam_ctx *outside = ctx;
    bool reached = true;
    for (size_t refuse = 1; reached; refuse++) {
        int64_t counts[2], after[2] = {10, 12};
        memory m = {.refuse = refuse, .from_then_on = _i};
        lam_ctx_options options = memory_options(&m);
        ctx = lam_ctx_new(&options);
        const bool born = lam_status_of(ctx) == LAM_OK, made = scenario(counts);
        const lam_status status = lam_status_of(ctx);
        reached = m.requests >= refuse;
        m.refuse = 0;
        lam_clear_error(ctx);
        const bool works = !born || scenario(after);
        lam_ctx_free(ctx);
        ctx = outside;
        ck_assert_msg(status == (made ? LAM_OK : LAM_ERR_MEMORY), "request %zu: %s", refuse, lam_status_name(status));
        ck_assert_msg(works && m.blocks == 0 && !m.wrong_size, "request %zu: %zu blocks", refuse, m.blocks);
        ck_assert_msg(counts[0] == 10 || counts[0] == -1, "request %zu: %d entries", refuse, (int)counts[0]);
        ck_assert_msg(counts[1] == 12 || counts[1] == -1, "request %zu: %d of a choice", refuse, (int)counts[1]);
        ck_assert(after[0] == 10 && after[1] == 12);
    }
}
END_TEST

Suite *suite_transforms_sparse_rules(void) {
    Suite *suite = SUITE_OF("transforms/sparse_rules", rules_without_a_derivative_are_looked_into_once,
                            rules_that_look_make_everything_depend_on_everything,
                            a_rule_that_fails_leaves_no_draws_behind, functions_that_draw);
    suite_loop(suite, entries_are_where_rules_have_them, KNOWN);
    suite_loop(suite, hessians_too, KNOWN);
    suite_loop(suite, rules_that_apply_their_own_function_end, LINEAR);
    suite_loop(suite, every_request_for_memory_refused, 2);
    return suite;
}
