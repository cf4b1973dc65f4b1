/* Choices and loops in programs: recorded, printed and read back, derived, batched, compiled, written as C. What all of
 * these give is compared with the operations done one by one. */
#define _GNU_SOURCE /* open_memstream */
#include "tests/support.h"
#include "tests/transforms/build.h"

#include <lamina/control.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 3 };

/* ---- functions of x, f64[3], and y, f64[3] ----------------------------------------------------------------------- */

BODY(wave) {
    out[0] = lam_sin(lam_mul(in[0], in[1]));
}

BODY(root) {
    out[0] = lam_mul(lam_sqrt(in[0]), in[1]);
}

/* What a function captures stands behind its inputs. */
BODY(scaled) {
    out[0] = lam_mul(in[0], in[env ? 2 : 1]);
}

static lam_fn *capturing(const char *name, lam_body body, int inputs, int outputs, lam_tensor *captured) {
    return lam_fn_new(ctx, &(lam_fn_options){.name = name,
                                             .body = body,
                                             .inputs = inputs,
                                             .outputs = outputs,
                                             .env = inputs > 1 ? ctx : NULL,
                                             .captures = LAM_LIST(captured)});
}

/* A root on one side only, where it has a slope. */
BODY(choice) {
    lam_tensor *y;
    lam_cond(lam_gt(lam_sum(in[0], NULL), 1.0), FN(wave, 2, 1), FN(root, 2, 1), LAM_LIST(in[0], in[1]), &y, 1);
    out[0] = lam_sum(lam_mul(y, in[1]), NULL);
}

BODY(choice_of_three) {
    lam_tensor *index = lam_cast(lam_floor(lam_mul(lam_index(in[0], 0, 0), 3.0)), LAM_I32), *y, *e = lam_exp(in[1]);
    lam_fn *branches[] = {FN(wave, 2, 1), capturing("scaled", scaled, 2, 1, e), FN(root, 2, 1)};
    lam_switch(index, branches, 3, LAM_LIST(in[0], in[1]), &y, 1);
    out[0] = lam_sum(y, NULL);
}

/* The value of an outer function that a branch finds by itself. */
BODY(found) {
    out[0] = lam_mul(in[0], *(lam_tensor **)env);
}

BODY(choice_of_found) {
    lam_tensor *e = lam_exp(in[1]), *y;
    lam_fn *a = FN_ENV(found, 1, 1, &e), *b = FN_ENV(found, 1, 1, (void *)(uintptr_t)&in[0]);
    lam_cond(lam_gt(lam_sum(in[0], NULL), 1.0), a, b, LAM_LIST(in[0]), &y, 1);
    out[0] = lam_sum(y, NULL);
}

BODY(small) {
    out[0] = lam_lt(lam_sum(in[0], NULL), 10.0);
}

BODY(grows) {
    out[0] = lam_add(lam_mul(in[0], 1.5), lam_sin(in[2]));
    out[1] = lam_add(in[1], 1);
}

BODY(until_large) {
    lam_tensor *y[2];
    lam_while(FN(small, 2, 1), capturing("grows", grows, 2, 2, in[1]), LAM_LIST(in[0], lam_cast(num(0), LAM_I64)), y,
              2);
    out[0] = lam_sum(lam_mul(y[0], lam_add(lam_cast(y[1], LAM_F64), in[1])), NULL);
}

BODY(step) {
    lam_tensor *s = lam_tanh(lam_add(lam_mul(in[0], 0.9), lam_mul(in[1], in[2])));
    out[0] = s;
    out[1] = lam_mul(s, in[1]);
}

static lam_tensor *elements(lam_tensor *y) {
    lam_tensor *slopes = lam_reshape(lam_linspace(ctx, LAM_F64, 0.1, 1, 70), LAM_DIMS(70, 1));
    return lam_mul(lam_expand_dims(y, 0), slopes);
}

BODY(along) {
    lam_tensor *y[2];
    lam_scan(capturing("step", step, 2, 2, in[1]), LAM_LIST(in[0]), LAM_LIST(elements(in[1])), y, 2,
             env ? &(lam_scan_options){.reverse = true} : NULL);
    out[0] = lam_add(lam_sum(y[0], NULL), lam_sum(lam_square(y[1]), NULL));
}

BODY(counts) {
    out[0] = lam_add(lam_mul(in[1], 0.99), lam_div(in[2], lam_add(in[0], 1)));
    out[1] = in[2];
}

BODY(many_times) {
    lam_tensor *y[2];
    lam_fori(3, 20003, FN(counts, 3, 2), LAM_LIST(in[0], in[1]), y, 2);
    out[0] = lam_sum(lam_mul(y[0], lam_cos(y[0])), NULL);
}

BODY(each) {
    lam_tensor *y;
    lam_cond(lam_gt(lam_sum(in[0], NULL), 0.5), capturing("scaled", scaled, 1, 1, in[1]),
             capturing("scaled", scaled, 1, 1, in[0]), LAM_LIST(in[0]), &y, 1);
    out[0] = y;
}

/* Choices within a loop without carries. */
BODY(each_for_itself) {
    lam_tensor *y;
    lam_map(capturing("each", each, 1, 1, in[0]), LAM_LIST(elements(in[1])), &y, 1, NULL);
    out[0] = lam_sum(lam_sin(y), NULL);
}

BODY(inner) {
    lam_tensor *y[2];
    lam_while(FN(small, 2, 1), capturing("grows", grows, 2, 2, in[1]), LAM_LIST(in[0], lam_cast(num(0), LAM_I64)), y,
              2);
    out[0] = lam_mul(0.1, y[0]);
    out[1] = lam_sum(lam_square(y[0]), NULL);
}

/* A loop that ends when it wants, within one that does not. */
BODY(loop_in_loop) {
    lam_tensor *y[2];
    lam_scan(FN(inner, 2, 2), LAM_LIST(lam_mul(0.3, in[0])), LAM_LIST(elements(in[1])), y, 2, NULL);
    out[0] = lam_add(lam_sum(y[0], NULL), lam_sum(y[1], NULL));
}

BODY(leaning) {
    lam_tensor *turned = lam_reverse(in[1], LAM_AXES(0));
    out[0] = lam_add(lam_mul(lam_add(lam_square(in[0]), 2.0), in[1]), lam_mul(in[0], turned));
}

/* An iteration, whose rules are iterations again: its space is closed when it is done. */
BODY(iterated) {
    const lam_iterative_options fine = {.tol = 1e-15, .maxiter = 3};
    out[0] = lam_sum(lam_sin(lam_gmres(FN(leaning, 2, 1), LAM_LIST(in[0]), in[1], &fine)), NULL);
}

static bool reverse;

/* free: whether there is a way back that is a program, not a call of C. large: too long for a matrix of derivatives. */
static const struct {
    const char *name;
    lam_body body;
    void *env;
    bool free, large;
} functions[] = {
    {"choice", choice, NULL, true, false},
    {"choice_of_three", choice_of_three, NULL, true, false},
    {"choice_of_found", choice_of_found, NULL, true, true},
    {"until_large", until_large, NULL, false, false},
    {"along", along, NULL, true, false},
    {"against", along, &reverse, true, false},
    {"many_times", many_times, NULL, true, true},
    {"each_for_itself", each_for_itself, NULL, true, false},
    {"loop_in_loop", loop_in_loop, NULL, false, false},
    {"iterated", iterated, NULL, true, false},
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

enum { VALUE, GRADIENT, BY_SECOND, FORWARD, BATCH, BATCH_OF_GRADIENTS, HESSIAN, REVERSE_OF_FORWARD, TRANSFORMS };

static lam_fn *transformed(lam_fn *f, int which) {
    const lam_grad_options second = {.argnums = LAM_AXES(1)};
    switch (which) {
    case GRADIENT: return lam_grad(f, NULL);
    case BY_SECOND: return lam_grad(f, &second);
    case FORWARD: return lam_jacfwd(f, NULL);
    case BATCH: return lam_vmap(f, NULL);
    case BATCH_OF_GRADIENTS: return lam_vmap(lam_grad(f, NULL), NULL);
    case HESSIAN: return lam_hessian(f, NULL);
    case REVERSE_OF_FORWARD: return lam_jacrev(lam_jacfwd(f, NULL), NULL);
    default: return f;
    }
}

static bool is_batch(int which) {
    return which == BATCH || which == BATCH_OF_GRADIENTS;
}

/* Examples that find nothing by themselves may go different ways; one that does may not. A sanitizer watches half. */
static bool applies(int k, int which) {
    if (SANITIZED && (k + which) % 2) return false;
    return !functions[k].large ||
           (functions[k].body == many_times ? which < HESSIAN && which != FORWARD : which < FORWARD);
}

static bool has_text(int k, int which) {
    return functions[k].free || which == VALUE || which == FORWARD || which == BATCH;
}

static lam_fn *function(int k) {
    return function_of(functions[k].name, functions[k].body, 2, 1, functions[k].env);
}

/* Points on both sides of what is chosen. */
static void points(int which, bool other, lam_tensor **x, lam_tensor **y) {
    *x = other ? VEC(0.1, 0.2, 0.3) : VEC(0.5, 0.7, 0.9);
    *y = VEC(0.3, 0.2, 0.4);
    if (!is_batch(which)) return;
    *x = lam_stack(LAM_LIST(*x, lam_mul(*x, 0.3), lam_mul(*x, 1.7)), 0);
    *y = lam_stack(LAM_LIST(*y, lam_mul(*y, 1.1), *y), 0);
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

#define TOLERANCE 1e-11 /* sums in another order */

static void check_at(int k, int which, bool other, lam_program *p, lam_fn *of_program, lam_fn *jitted) {
    lam_tensor *x, *y;
    points(which, other, &x, &y);
    lam_tensor *want = apply2(transformed(function(k), which), x, y);
    EXPECT_SAME(apply2(p, x, y), want, TOLERANCE);
    EXPECT_SAME(apply2(of_program, x, y), want, TOLERANCE);
    EXPECT_SAME(apply2(jitted, x, y), want, TOLERANCE);
    EXPECT_OK();
}

START_TEST(programs_agree_with_operations) {
    const int k = _i / TRANSFORMS, which = _i % TRANSFORMS;
    if (!applies(k, which)) return;
    lam_tensor *x, *y, *x1, *y1;
    points(which, false, &x, &y);
    points(VALUE, false, &x1, &y1);
    lam_program *p = lam_trace(transformed(function(k), which), LAM_LIST(x, y));
    lam_fn *of_program = transformed(lam_trace(function(k), LAM_LIST(x1, y1)), which);
    lam_fn *jitted = lam_jit(transformed(function(k), which), NULL);
    EXPECT_OK();
    ck_assert_int_eq(lam_program_check(p), LAM_OK);
    for (int other = 0; other < 2; other++) check_at(k, which, other, p, of_program, jitted);
    ck_assert_int_eq(lam_jit_report_of(jitted).recorded, 1);
}
END_TEST

/* ---- text -------------------------------------------------------------------------------------------------------- */

START_TEST(texts_are_read_back) {
    const int k = _i / TRANSFORMS, which = _i % TRANSFORMS;
    if (!applies(k, which) || !has_text(k, which)) return;
    lam_tensor *x, *y;
    points(which, false, &x, &y);
    lam_program *p = lam_trace(transformed(function(k), which), LAM_LIST(x, y));
    char *text = printed_text(p);
    lam_program *read = lam_program_read(ctx, text);
    EXPECT_OK();
    char *again = printed_text(read);
    ck_assert_str_eq(text, again);
    for (int other = 0; other < 2; other++) {
        points(which, other, &x, &y);
        EXPECT_SAME(apply2(read, x, y), apply2(p, x, y), 0);
    }
    free(text);
    free(again);
}
END_TEST

/* ---- C ----------------------------------------------------------------------------------------------------------- */

typedef void binary(const double *, const double *, double *, void *);

static void check_built(const build *b, int k, int which, double *room) {
    char name[64];
    double in0[3 * N], in1[3 * N], out[3 * N * N], want[3 * N * N];
    binary *call;
    snprintf(name, sizeof name, "%s_%d", functions[k].name, which);
    build_find(b, name, &call);
    for (int other = 0; other < 2; other++) {
        lam_tensor *x, *y;
        points(which, other, &x, &y);
        lam_tensor *made = apply2(transformed(function(k), which), x, y);
        const size_t count = (size_t)lam_size(made);
        ck_assert_int_eq(lam_read(x, in0, (size_t)lam_size(x) * sizeof *in0), LAM_OK);
        ck_assert_int_eq(lam_read(y, in1, (size_t)lam_size(y) * sizeof *in1), LAM_OK);
        ck_assert_int_eq(lam_read(made, want, count * sizeof *want), LAM_OK);
        call(in0, in1, out, room);
        for (size_t i = 0; i < count; i++)
            ck_assert_msg(fabs(out[i] - want[i]) <= TOLERANCE * (1 + fabs(want[i])), "%s: %zu: %g, not %g", name, i,
                          out[i], want[i]);
    }
}

START_TEST(as_c) {
    enum { ROOM = 16 << 20 };
    const int k = _i;
    build b;
    double *room = malloc(ROOM);
    build_begin(&b);
    for (int which = 0; which < TRANSFORMS; which++) {
        lam_tensor *x, *y;
        char name[64];
        if (!applies(k, which)) continue;
        points(which, false, &x, &y);
        lam_program *p = lam_trace(transformed(function(k), which), LAM_LIST(x, y));
        snprintf(name, sizeof name, "%s_%d", functions[k].name, which);
        if (has_text(k, which)) {
            build_add(&b, name, p, &(lam_emit_options){.name = name, .reentrant = true});
        } else {
            ck_assert_int_eq(lam_emit_c(p, stdout, NULL), LAM_ERR_RULE);
            EXPECT_ERROR(LAM_ERR_RULE, "emit_c of", "control has no form in C: it is code", "lam_while");
        }
    }
    build_end(&b);
    for (int which = 0; which < TRANSFORMS; which++)
        if (applies(k, which) && has_text(k, which)) check_built(&b, k, which, room);
    free(room);
}
END_TEST

/* ---- types, sizes ------------------------------------------------------------------------------------------------ */

BODY(types) {
    out[0] = lam_add(in[0], lam_cast(in[2], LAM_F32));
    out[1] = lam_not(in[1]);
    out[2] = lam_mul(lam_cast(in[0], LAM_C128), lam_scalar_complex(ctx, 0, 1));
    out[3] = lam_reshape(in[2], LAM_DIMS(1, 1));
}

BODY(typed_loop) {
    lam_scan(FN(types, 3, 4), LAM_LIST(in[0], in[1]), LAM_LIST(in[2]), out, 4, env);
}

/* Of several dtypes, without elements, without trips, one way and the other. */
START_TEST(loops_of_any_type_and_size) {
    lam_scan_options against = {.reverse = true}, *ways[] = {NULL, &against};
    for (int64_t n = 0; n <= 100; n += 50) {
        for (int64_t size = 0; size < 3; size += 2) {
            lam_tensor *in[] = {lam_ones(ctx, LAM_F32, LAM_DIMS(size)), lam_zeros(ctx, LAM_BOOL, LAM_DIMS0),
                                lam_arange(ctx, LAM_I32, 0, (double)n, 1)};
            lam_fn *f = FN_ENV(typed_loop, 3, 4, ways[n > 50]);
            lam_program *p = lam_trace(f, (lam_list){3, in});
            lam_tensor *want[4], *got[4];
            ck_assert_int_eq(lam_call(f, (lam_list){3, in}, want, 4), LAM_OK);
            ck_assert_int_eq(lam_call(p, (lam_list){3, in}, got, 4), LAM_OK);
            for (int o = 0; o < 4; o++)
                EXPECT_SAME(o == 2 ? lam_imag(got[o]) : got[o], o == 2 ? lam_imag(want[o]) : want[o], 0);
            lam_type types[4];
            ck_assert_int_eq(lam_eval_shape(f, (lam_list){3, in}, types, 4), LAM_OK);
            for (int o = 0; o < 4; o++) {
                ck_assert_int_eq((int)types[o].dtype, (int)lam_dtype_of(want[o]));
                ck_assert_int_eq(types[o].rank, lam_rank(want[o]));
            }
        }
    }
}
END_TEST

/* Results of which some are plain memory and some belong to a level. */
BODY(now_and_then) {
    int *trips = env;
    out[0] = *trips % 3 == 2 ? num(3) : lam_mul(in[0], 2);
    ++*trips;
    out[1] = *trips % 2 ? num(*trips) : out[0];
}

BODY(with_rows_of_two_kinds) {
    static int trips;
    lam_tensor *y[2];
    trips = 0;
    lam_scan(FN_ENV(now_and_then, 1, 2, &trips), LAM_LIST(in[0]), (lam_list){0, NULL}, y, 2,
             &(lam_scan_options){.length = 4, .reverse = env != NULL});
    out[0] = lam_mul(y[1], VEC(1, 10, 100, 1000));
}

START_TEST(rows_of_a_level_and_others) {
    lam_fn *f = FN(with_rows_of_two_kinds, 1, 1), *back = FN_ENV(with_rows_of_two_kinds, 1, 1, &reverse);
    EXPECT(apply1(f, num(3)), LAM_DIMS(4), 1, 120, 300, 6000);
    EXPECT(apply1(back, num(3)), LAM_DIMS(4), 6, 30, 1200, 1000);
    EXPECT(apply1(lam_jacfwd(f, NULL), num(3)), LAM_DIMS(4), 0, 40, 0, 0);
    EXPECT(apply1(lam_jacfwd(back, NULL), num(3)), LAM_DIMS(4), 0, 0, 400, 0);
    EXPECT(apply1(lam_jacrev(back, NULL), num(3)), LAM_DIMS(4), 0, 0, 400, 0);
}
END_TEST

BODY(captured_count) {
    out[0] = lam_mul(in[1], lam_sin(in[2]));
}

/* A loop over numbers whose body captures. */
BODY(many_captured) {
    lam_fori(0, 20000, capturing("count", captured_count, 2, 1, in[1]), LAM_LIST(in[0]), out, 1);
}

/* Records function number *env; the last one is not in the table since it gives no number. */
static void record(const void *env) {
    const int f = *(const int *)env;
    lam_fn *g = f < FUNCTIONS ? FN_ENV(functions[f].body, 2, 1, functions[f].env) : FN(many_captured, 2, 1);
    lam_program *program = lam_trace(g, LAM_LIST(VEC(0.2, 0.5, 0.1), VEC(0.3, 0.1, 0.7)));
    ck_assert_int_eq(lam_failed(program), lam_status_of(ctx) != LAM_OK);
}

START_TEST(memory_refused_while_recording) {
    memory_refused_in(record, &_i);
}
END_TEST

Suite *suite_transforms_nested(void) {
    Suite *suite = SUITE_OF("transforms/nested", loops_of_any_type_and_size, rows_of_a_level_and_others);
    suite_loop(suite, memory_refused_while_recording, FUNCTIONS + 1);
    suite_loop(suite, programs_agree_with_operations, FUNCTIONS * TRANSFORMS);
    suite_loop(suite, texts_are_read_back, FUNCTIONS * TRANSFORMS);
    suite_loop(suite, as_c, FUNCTIONS);
    return suite;
}
