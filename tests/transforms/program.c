/* Programs: what is recorded, what of it can be done with them, and what is refused. As text they are in
 * program_text.c. Expected values are those of the functions that were recorded, or worked out by hand. */
#define _GNU_SOURCE /* open_memstream */
#include "tests/dispatch/probe.h"
#include "tests/support.h"
#include "tests/transforms/build.h"

#include <lamina/extend.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static void expect_same_text(lam_program *a, lam_program *b) {
    char *first = printed_text(a), *second = printed_text(b);
    ck_assert_msg(!strcmp(first, second), "%.300s\nand\n%.300s", first, second);
    free(first);
    free(second);
}

static lam_program *read_back(lam_program *program) {
    char *text = printed_text(program);
    lam_program *read = lam_program_read(ctx, text);
    EXPECT_OK();
    free(text);
    return read;
}

/* ---- recording --------------------------------------------------------------------------------------------------- */

static int runs;

/* A reduction, a product, an order of elements, C's own control flow over what is known. */
BODY(mixed) {
    runs++;
    lam_tensor *x = in[0], *sum = lam_sum(lam_square(x), NULL);
    for (int k = 0; k < 2; k++) x = lam_mul(lam_sin(x), lam_add(sum, k));
    lam_tensor *turned = lam_reverse(x, (lam_axes){0, NULL});
    out[0] = lam_sum(lam_mul(lam_exp(lam_mul(0.1, turned)), lam_where(lam_gt(in[0], 0), x, in[0])), NULL);
}

static lam_tensor *point(void) {
    return VEC(0.3, -0.7, 1.1);
}

START_TEST(code_runs_when_it_is_recorded) {
    runs = 0;
    lam_fn *f = FN(mixed, 1, 1);
    lam_program *p = lam_trace(f, LAM_LIST(lam_zeros_like(point())));
    ck_assert_int_eq(runs, 1);
    lam_tensor *got = apply1(p, point());
    lam_tensor *gradient = apply1(lam_grad(p, NULL), point());
    ck_assert_int_eq(runs, 1);
    EXPECT_SAME(got, apply1(f, point()), 0);
    EXPECT_SAME(gradient, apply1(lam_grad(f, NULL), point()), 0);
    ck_assert_int_eq(lam_fn_inputs(p), 1);
    ck_assert_int_eq(lam_fn_outputs(p), 1);
    ck_assert_str_eq(lam_fn_name(p), "mixed");
}
END_TEST

/* Examples need no elements that could be read: they are variables of a level here, of another trace. */
BODY(traces_env) {
    lam_program *p = lam_trace(env, LAM_LIST(in[0]));
    out[0] = apply1(p, in[0]);
}

START_TEST(examples_are_not_looked_at) {
    lam_fn *f = FN(mixed, 1, 1), *traces = FN_ENV(traces_env, 1, 1, f);
    lam_tensor *rows = lam_stack(LAM_LIST(point(), lam_neg(point())), 0);
    EXPECT_SAME(apply1(traces, point()), apply1(f, point()), 0);
    EXPECT_SAME(apply1(lam_grad(traces, NULL), point()), apply1(lam_grad(f, NULL), point()), 0);
    EXPECT_SAME(apply1(lam_vmap(lam_grad(traces, NULL), NULL), rows), apply1(lam_vmap(lam_grad(f, NULL), NULL), rows),
                0);
    EXPECT_SAME(apply1(lam_jit(traces, NULL), point()), apply1(f, point()), 1e-12);
    expect_same_text(lam_trace(FN_ENV(traces_env, 1, 1, traces), LAM_LIST(point())),
                     lam_trace(FN_ENV(traces_env, 1, 1, f), LAM_LIST(point())));
}
END_TEST

BODY(wasteful) {
    (void)probe(in[1]);
    (void)probe(lam_exp(in[0]));
    out[0] = probe(in[0]);
    (void)probe(out[0]);
}

START_TEST(what_is_not_needed_is_not_run) {
    lam_program *p = lam_trace(FN(wasteful, 2, 1), LAM_LIST(VEC(1, 2), num(3)));
    probed = (probe_counts){0};
    EXPECT(apply2(p, VEC(1, 2), num(3)), LAM_DIMS(2), 1, 2);
    ck_assert_int_eq(probed.eval, 1);
}
END_TEST

enum { LARGE = 1 << 18 };

BODY(weighted) {
    out[0] = lam_sum(lam_mul(in[0], env), NULL);
}

START_TEST(constants_are_shared) {
    lam_tensor *weights = lam_hold(lam_full(ctx, LAM_F64, LAM_DIMS(LARGE), 0.5));
    lam_tensor *x = lam_ones(ctx, LAM_F64, LAM_DIMS(LARGE));
    lam_scope *scope = lam_scope_begin(ctx);
    const size_t before = lam_ctx_bytes(ctx);
    lam_program *p = lam_fn_hold(lam_trace(FN_ENV(weighted, 1, 1, weights), LAM_LIST(x)));
    ck_assert_uint_lt(lam_ctx_bytes(ctx) - before, LARGE);
    lam_program *again = lam_fn_hold(lam_trace(lam_jvp_fn(p, NULL), LAM_LIST(x, x)));
    ck_assert_uint_lt(lam_ctx_bytes(ctx) - before, LARGE);
    ck_assert_int_eq(lam_scope_end(scope, NULL, 0), LAM_OK);
    lam_release(weights);
    lam_drop(weights); /* its memory is the programs' now */
    EXPECT_NUM(apply1(p, x), LARGE / 2);
    lam_tensor *out[2];
    ck_assert_int_eq(lam_call(again, LAM_LIST(x, lam_mul(2.0, x)), out, 2), LAM_OK);
    EXPECT_NUM(out[1], LARGE);
    const size_t with = lam_ctx_bytes(ctx);
    lam_fn_release(again);
    lam_fn_release(p);
    ck_assert_uint_gt(with - lam_ctx_bytes(ctx), LARGE * sizeof(double));
}
END_TEST

/* ---- programs as functions --------------------------------------------------------------------------------------- */

static void expect_agree(lam_fn *program, lam_fn *plain, lam_tensor *x, double tolerance) {
    EXPECT_SAME(apply1(program, x), apply1(plain, x), tolerance);
}

typedef lam_fn *transform(lam_fn *f);

static lam_fn *gradient(lam_fn *f) {
    return lam_grad(f, NULL);
}

static lam_fn *batched(lam_fn *f) {
    return lam_vmap(f, NULL);
}

static lam_fn *hessian(lam_fn *f) {
    return lam_hessian(f, NULL);
}

static lam_fn *forward(lam_fn *f) {
    return lam_jacfwd(f, NULL);
}

static lam_fn *reverse(lam_fn *f) {
    return lam_jacrev(f, NULL);
}

static lam_fn *checkpointed(lam_fn *f) {
    return lam_checkpoint(f, NULL);
}

static lam_fn *jitted(lam_fn *f) {
    return lam_jit(f, &(lam_jit_options){.fusion = LAM_JIT_ALL});
}

static lam_fn *traced(lam_fn *f) {
    return lam_trace(f, LAM_LIST(point()));
}

static lam_fn *read_again(lam_fn *f) {
    return read_back(traced(f));
}

/* Each transform of programs, of programs that were read, and of programs of transforms. */
START_TEST(programs_are_transformed_again) {
    static transform *const of[] = {gradient, hessian, forward, reverse, checkpointed, jitted, traced, read_again};
    enum { COUNT = sizeof of / sizeof *of };
    lam_fn *f = FN(mixed, 1, 1), *p = traced(f), *q = read_again(f);
    lam_tensor *rows = lam_stack(LAM_LIST(point(), lam_mul(0.5, point())), 0);
    for (int i = 0; i < COUNT; i++) {
        lam_fn *plain = of[i](f);
        expect_agree(of[i](p), plain, point(), 1e-13);
        expect_agree(of[i](q), plain, point(), 1e-13);
        expect_agree(traced(of[i](p)), plain, point(), 1e-13);
        expect_agree(batched(traced(of[i](q))), batched(plain), rows, 1e-13);
        for (int k = 0; k < COUNT; k++) {
            if (of[k] == gradient || of[k] == hessian) continue; /* of results that are vectors */
            lam_scope *scope = lam_scope_begin(ctx);
            expect_agree(of[k](read_again(of[i](p))), of[k](plain), point(), 1e-12);
            expect_agree(batched(of[k](of[i](q))), batched(of[k](plain)), rows, 1e-12);
            ck_assert_int_eq(lam_scope_end(scope, NULL, 0), LAM_OK);
        }
    }
}
END_TEST

START_TEST(the_program_of_a_program_is_the_same) {
    lam_fn *fns[] = {FN(mixed, 1, 1), gradient(FN(mixed, 1, 1)), hessian(FN(mixed, 1, 1))};
    for (size_t i = 0; i < sizeof fns / sizeof *fns; i++) {
        lam_program *p = traced(fns[i]), *read = read_back(p);
        expect_same_text(p, traced(p));
        expect_same_text(p, traced(read));
    }
}
END_TEST

/* Functions whose forward is code are recorded by what it does; recomputation stays, as an operation. */
static void forward_cube(UNUSED lam_fctx *fc, lam_tensor *const in[], lam_tensor *out[]) {
    out[0] = lam_mul(in[0], lam_square(in[0]));
    lam_fctx_save_for_backward(fc, LAM_LIST(in[0]));
}

/* Twice the true one, so that the value tells which rule ran. */
static void backward_cube(lam_fctx *fc, lam_tensor *const g[], lam_tensor *gx[]) {
    gx[0] = lam_mul(g[0], lam_mul(6.0, lam_square(lam_fctx_saved(fc, 0))));
}

static const lam_function cube = {.name = "cube",
                                  .inputs = 1,
                                  .outputs = 1,
                                  .forward = forward_cube,
                                  .backward = backward_cube,
                                  .generate_vmap_rule = true};

BODY(sum_of_cubes) {
    lam_tensor *y = NULL;
    lam_function_apply(here, &cube, NULL, LAM_LIST(in[0]), &y, 1);
    out[0] = lam_sum(apply1(lam_checkpoint(env, NULL), y), NULL);
}

BODY(doubled) {
    out[0] = lam_mul(2.0, in[0]);
}

START_TEST(functions_and_recomputation_are_recorded) {
    lam_fn *f = FN_ENV(sum_of_cubes, 1, 1, FN(doubled, 1, 1));
    lam_program *p = traced(f), *g = traced(gradient(f));
    lam_tensor *x = VEC(1, 2, 3);
    EXPECT_NUM(apply1(p, x), 72);
    EXPECT(apply1(g, x), LAM_DIMS(3), 12, 48, 108);
    EXPECT(apply1(lam_vmap(g, NULL), lam_stack(LAM_LIST(x), 0)), LAM_DIMS(1, 3), 12, 48, 108);
}
END_TEST

/* ---- values of open levels --------------------------------------------------------------------------------------- */

static lam_tensor *outer;
static lam_program *held;

BODY(times_outer) {
    out[0] = lam_mul(in[0], outer);
}

BODY(gives_outer) {
    out[0] = outer;
}

/* outer d/dx (x outer) and the like: the program is run in the level whose value it holds, and in others above it. */
BODY(traces_capture) {
    outer = in[0];
    lam_program *p = held = lam_fn_hold(lam_trace(env, LAM_LIST(num(1))));
    ck_assert_int_eq(lam_program_check(p), LAM_OK);
    char *text = printed_text(p);
    ck_assert_ptr_nonnull(strstr(text, "opaque"));
    (void)lam_program_read(ctx, text);
    EXPECT_ERROR(LAM_ERR_VALUE, "line 2", "level that was open");
    free(text);
    out[0] = lam_add(apply1(p, num(3)), apply1(lam_grad(p, NULL), num(3)));
}

static void expect_escaped(lam_fn *f) {
    outer = NULL;
    ck_assert_int_eq(lam_program_check(held), LAM_ERR_ESCAPED);
    EXPECT_ERROR(LAM_ERR_ESCAPED, "ended", lam_fn_name(f));
    ck_assert(lam_failed(apply1(held, num(2))));
    EXPECT_STATUS(LAM_ERR_ESCAPED);
    char *text = printed_text(held);
    ck_assert_ptr_nonnull(strstr(text, "opaque"));
    free(text);
    lam_fn_release(held);
}

START_TEST(values_of_open_levels_are_constants) {
    lam_fn *f = FN(times_outer, 1, 1), *g = FN(gives_outer, 1, 1);
    EXPECT_NUM(apply1(lam_grad(FN_ENV(traces_capture, 1, 1, f), NULL), num(5)), 4);
    expect_escaped(f);
    EXPECT(apply1(lam_vmap(FN_ENV(traces_capture, 1, 1, f), NULL), VEC(5, 6)), LAM_DIMS(2), 20, 24);
    expect_escaped(f);
    EXPECT_NUM(apply1(lam_grad(FN_ENV(traces_capture, 1, 1, g), NULL), num(5)), 1);
    expect_escaped(g);
}
END_TEST

BODY(summed_over_batch) {
    out[0] = lam_psum(in[0], "batch");
}

BODY(traces_sum) {
    lam_program *p = held = lam_fn_hold(lam_trace(env, LAM_LIST(in[0])));
    out[0] = apply1(p, in[0]);
}

/* A program keeps the level that bore the name when it was recorded. */
START_TEST(named_axes_are_recorded) {
    lam_fn *f = FN_ENV(traces_sum, 1, 1, FN(summed_over_batch, 1, 1));
    const lam_vmap_options named = {.axis_name = "batch"};
    EXPECT(apply1(lam_vmap(f, &named), VEC(1, 2, 4)), LAM_DIMS(3), 7, 7, 7);
    ck_assert(lam_failed(apply1(held, num(1))));
    EXPECT_STATUS(LAM_ERR_ESCAPED);
    ck_assert(lam_failed(apply1(lam_vmap(held, &named), VEC(1, 2))));
    EXPECT_STATUS(LAM_ERR_ESCAPED);
    lam_fn_release(held);
    lam_program *whole = lam_trace(lam_vmap(FN(summed_over_batch, 1, 1), &named), LAM_LIST(VEC(0, 0, 0)));
    EXPECT(apply1(whole, VEC(1, 2, 4)), LAM_DIMS(3), 7, 7, 7);
}
END_TEST

/* ---- who owns what ----------------------------------------------------------------------------------------------- */

START_TEST(programs_outlive_what_they_were_made_of) {
    lam_scope *scope = lam_scope_begin(ctx);
    lam_fn *f = FN_ENV(weighted, 1, 1, VEC(2, 3));
    lam_program *p = lam_fn_hold(lam_trace(f, LAM_LIST(VEC(0, 0))));
    lam_fn_drop(f);
    ck_assert_int_eq(lam_scope_end(scope, NULL, 0), LAM_OK);
    EXPECT_NUM(apply1(p, VEC(1, 10)), 32);
    lam_fn *g = lam_grad(p, NULL);
    lam_fn_release(p);
    EXPECT(apply1(g, VEC(1, 10)), LAM_DIMS(2), 2, 3);
    scope = lam_scope_begin(ctx);
    p = lam_trace(g, LAM_LIST(VEC(0, 0)));
    ck_assert_int_eq(lam_scope_end(scope, NULL, 0), LAM_OK);
    ck_assert(lam_failed(apply1(p, VEC(1, 1))));
    EXPECT_STATUS(LAM_ERR_FREED);
    ck_assert_int_eq(lam_program_check(p), LAM_ERR_FREED);
    EXPECT_STATUS(LAM_ERR_FREED);
}
END_TEST

BODY(drops_itself) {
    lam_fn_drop(*(lam_fn **)env);
    out[0] = lam_sin(in[0]);
}

START_TEST(a_function_may_be_dropped_while_it_is_recorded) {
    static lam_fn *self;
    self = FN_ENV(drops_itself, 1, 1, &self);
    lam_program *p = lam_trace(self, LAM_LIST(num(0)));
    ck_assert_str_eq(lam_fn_name(p), "drops_itself");
    EXPECT_NUM(apply1(p, num(1)), sin(1));
}
END_TEST

/* A text is how a program gets from one context, and one thread, to another. */
static void *run_text(void *given) {
    lam_ctx *own = lam_ctx_new(&(lam_ctx_options){.threads = 2});
    lam_program *p = lam_program_read(own, given);
    double *sum = malloc(sizeof *sum);
    *sum = 0;
    for (int k = 0; k < 20; k++) {
        lam_scope *scope = lam_scope_begin(own);
        *sum += lam_item(lam_sum(lam_apply(p, LAM_LIST(lam_full(own, LAM_F64, LAM_DIMS(3), k))), NULL));
        (void)lam_scope_end(scope, NULL, 0);
    }
    if (lam_status_of(own) != LAM_OK) *sum = NAN;
    lam_ctx_free(own);
    return sum;
}

START_TEST(other_threads_read_their_own) {
    enum { THREADS = 4 };
    pthread_t thread[THREADS];
    double want = 0;
    lam_fn *g = gradient(FN(mixed, 1, 1));
    char *text = printed_text(traced(g));
    for (int k = 0; k < 20; k++) want += lam_item(lam_sum(apply1(g, lam_full(ctx, LAM_F64, LAM_DIMS(3), k)), NULL));
    for (int i = 0; i < THREADS; i++) ck_assert_int_eq(pthread_create(&thread[i], NULL, run_text, text), 0);
    for (int i = 0; i < THREADS; i++) {
        void *sum;
        ck_assert_int_eq(pthread_join(thread[i], &sum), 0);
        ck_assert_double_eq(*(double *)sum, want);
        free(sum);
    }
    free(text);
}
END_TEST

/* ---- refusals ---------------------------------------------------------------------------------------------------- */

BODY(draws) {
    out[0] = lam_add(in[0], lam_rand(here, LAM_F64, LAM_DIMS(3)));
}

BODY(branches) {
    out[0] = lam_item(lam_sum(in[0], NULL)) > 0 ? lam_sin(in[0]) : lam_cos(in[0]);
}

BODY(mistaken) {
    out[0] = lam_add(in[0], VEC(1, 2));
}

static void expect_refused(lam_fn *f, lam_list examples, lam_status status, const char *words) {
    lam_type type;
    ck_assert(lam_failed(lam_trace(f, examples)));
    EXPECT_ERROR(status, words);
    ck_assert_int_eq(lam_eval_shape(f, examples, &type, 1), status);
    EXPECT_ERROR(status, words);
}

START_TEST(what_cannot_be_recorded_is_refused) {
    lam_fn *f = FN(wasteful, 2, 1);
    lam_ctx *other = lam_ctx_new(NULL);
    expect_refused(FN(branches, 1, 1), LAM_LIST(point()), LAM_ERR_ABSTRACT, "lam_where");
    expect_refused(FN(mistaken, 1, 1), LAM_LIST(point()), LAM_ERR_SHAPE, "'mistaken'");
    expect_refused(f, LAM_LIST(point()), LAM_ERR_ARITY, "'wasteful'");
    expect_refused(f, LAM_LIST(point(), point(), point()), LAM_ERR_ARITY, "examples");
    expect_refused(f, LAM_LIST(point(), NULL), LAM_ERR_NULL, "examples");
    expect_refused(f, LAM_LIST(point(), lam_ones(other, LAM_F64, LAM_DIMS(3))), LAM_ERR_CONTEXT, "contexts");
    lam_ctx_free(other);
    ck_assert(lam_failed(lam_trace(FN(draws, 1, 1), LAM_LIST(point()))));
    EXPECT_ERROR(LAM_ERR_VALUE, "'draws'", "generator", "lam_key");
    ck_assert(lam_failed(lam_trace(NULL, LAM_LIST(point()))));
    lam_fn_drop(f);
    expect_refused(f, LAM_LIST(point(), point()), LAM_ERR_FREED, "freed");
}
END_TEST

/* The generator stands where it stood. */
START_TEST(a_refused_draw_is_not_made) {
    const lam_random_state before = lam_ctx_random_state(ctx);
    ck_assert(lam_failed(lam_trace(FN(draws, 1, 1), LAM_LIST(point()))));
    EXPECT_STATUS(LAM_ERR_VALUE);
    const lam_random_state after = lam_ctx_random_state(ctx);
    ck_assert_uint_eq(after.draws, before.draws);
    ck_assert_uint_eq(after.seed, before.seed);
}
END_TEST

START_TEST(inputs_of_other_types_are_refused) {
    lam_program *p = traced(FN(mixed, 1, 1));
    ck_assert(lam_failed(apply1(p, VEC(1, 2))));
    EXPECT_ERROR(LAM_ERR_SHAPE, "'mixed'", "input 0", "f64[2], not f64[3]");
    ck_assert(lam_failed(apply1(p, lam_ones(ctx, LAM_F64, LAM_DIMS(1, 3)))));
    EXPECT_ERROR(LAM_ERR_SHAPE, "f64[1, 3], not f64[3]");
    ck_assert(lam_failed(apply1(p, lam_ones(ctx, LAM_F32, LAM_DIMS(3)))));
    EXPECT_ERROR(LAM_ERR_DTYPE, "f32[3], not f64[3]");
    ck_assert(lam_failed(apply2(p, point(), point())));
    EXPECT_STATUS(LAM_ERR_ARITY);
}
END_TEST

START_TEST(other_functions_are_no_programs) {
    lam_fn *f = FN(mixed, 1, 1);
    ck_assert_int_eq(lam_program_check(f), LAM_ERR_VALUE);
    EXPECT_ERROR(LAM_ERR_VALUE, "program_check", "'mixed'", "lam_trace");
    ck_assert_int_eq(lam_program_print(stdout, lam_jit(f, NULL)), LAM_ERR_VALUE);
    EXPECT_ERROR(LAM_ERR_VALUE, "program_print", "jit(mixed)", "lam_trace");
    ck_assert_int_eq(lam_program_print(NULL, traced(f)), LAM_ERR_NULL);
    EXPECT_OWN(LAM_ERR_NULL, "no file");
    ck_assert_int_ne(lam_program_check(NULL), LAM_OK);
    ck_assert_int_ne(lam_program_print(stdout, NULL), LAM_OK);
    ck_assert(lam_failed(lam_program_read(NULL, "")));
    ck_assert(
        lam_failed(lam_program_read(lam_ctx_new(&(lam_ctx_options){.threads = -1}), "program f() {\n return\n}")));
    ck_assert(lam_failed(lam_program_read(ctx, NULL)));
    EXPECT_OWN(LAM_ERR_NULL, "no text");
}
END_TEST

Suite *suite_transforms_program(void) {
    return SUITE_OF("transforms/program", code_runs_when_it_is_recorded, examples_are_not_looked_at,
                    what_is_not_needed_is_not_run, constants_are_shared, programs_are_transformed_again,
                    the_program_of_a_program_is_the_same, functions_and_recomputation_are_recorded,
                    values_of_open_levels_are_constants, named_axes_are_recorded,
                    programs_outlive_what_they_were_made_of, a_function_may_be_dropped_while_it_is_recorded,
                    other_threads_read_their_own, what_cannot_be_recorded_is_refused, a_refused_draw_is_not_made,
                    inputs_of_other_types_are_refused, other_functions_are_no_programs);
}
