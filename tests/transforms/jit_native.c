/* jit with machine code: the same bits as steps, for one lane and for many, with calls between, in loops, and of
 * numbers that are out of the common range; and what happens where it cannot be made. */
#define _GNU_SOURCE /* setenv, setitimer */

#include "lib/base/context.h"
#include "lib/program/function.h"
#include "lib/program/machine.h"
#include "lib/program/nested.h"
#include "tests/support.h"

#include <lamina/control.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

/* Everything that a step can be, in more than one function of machine code, with calls of loops between them. */
BODY(all_steps) {
    lam_tensor *x = in[0], *y = in[1], *z = x, *narrow = lam_cast(y, LAM_F32), *flag = lam_lt(x, y);
    for (int k = 0; k < 40; k++)
        z = lam_fma(z, lam_rsqrt(lam_add(lam_square(y), k)), lam_div(x, lam_add(2, lam_abs(z))));
    for (int k = 0; k < 6; k++) {
        z = lam_sub(lam_max(z, lam_mul(0.1, y)), lam_min(lam_neg(z), lam_reciprocal(lam_add(y, 3))));
        z = lam_add(lam_sin(z), lam_mul(lam_cos(z), lam_mul_div(x, y, lam_add(k + 1, lam_sqrt(lam_abs(z))))));
        flag = lam_or(lam_and(flag, lam_le(z, x)), lam_not(lam_gt(y, lam_exp(z))));
        flag = lam_xor(flag, lam_and(lam_ne(z, x), lam_or(lam_ge(z, y), lam_eq(x, y))));
        narrow = lam_where(flag, lam_add(narrow, lam_cast(z, LAM_F32)), lam_sqrt(lam_abs(narrow)));
        z = lam_where(flag, z, lam_cast(lam_rem(lam_cast(lam_mul(9, z), LAM_I64), 7), LAM_F64));
    }
    out[0] = z;
    out[1] = narrow;
    out[2] = flag;
    out[3] = lam_stack(LAM_LIST(z, x, z), 0);
}

/* As steps and as machine code the same bits, and those of the plain function but for the order of sums. */
static void expect_native_same(lam_fn *f, lam_fn *steps, lam_fn *native, lam_list in) {
    lam_tensor *want[4], *got[2][4];
    ck_assert_int_eq(lam_call(f, in, want, 4), LAM_OK);
    ck_assert_int_eq(lam_call(steps, in, got[0], 4), LAM_OK);
    ck_assert_int_eq(lam_call(native, in, got[1], 4), LAM_OK);
    for (int o = 0; o < 4; o++) {
        EXPECT_SAME(got[0][o], want[o], 1e-14);
        EXPECT_SAME(got[1][o], got[0][o], 0);
    }
}

/* Also numbers whose squares are beyond the range, or so small that steps scale them. */
static const double hard[] = {0.3,  -0.7, 1.1, 0,     -0.0,  1e-170, 1e160, -3e-161, 1e200,
                              1e-9, 2.5,  -8,  1e308, 1e-20, 5e-324, 7,     INFINITY};
enum { HARD = sizeof hard / sizeof *hard };

START_TEST(machine_code_gives_the_same_bits) {
    const lam_jit_options steps = {.fusion = LAM_JIT_ALL}, native = {.fusion = LAM_JIT_ALL, .native = true};
    lam_fn *f = FN(all_steps, 2, 4), *a = lam_jit(f, &steps), *b = lam_jit(f, &native);
    for (int k = 0; k < 5; k++) expect_native_same(f, a, b, LAM_LIST(num(0.3 * k - 0.7), num(1.1 - 0.2 * k)));
    for (int k = 0; k < HARD; k++) expect_native_same(f, a, b, LAM_LIST(num(hard[(k + 5) % HARD]), num(hard[k])));
    ck_assert_int_eq(lam_jit_report_of(a).parts, 1);
    ck_assert_int_eq(lam_jit_report_of(b).native, system("cc --version >/dev/null 2>&1") == 0);
}
END_TEST

/* Lanes that are less than a group, groups and what is left of them, more than a block; side by side and with gaps.
 * Numbers are hard in one block and not in another. */
START_TEST(machine_code_of_lanes_gives_the_same_bits) {
    static const int64_t sizes[] = {2, 3, 7, 8, 67, 1003};
    const lam_jit_options steps = {.fusion = LAM_JIT_ALL}, native = {.fusion = LAM_JIT_ALL, .native = true};
    const int64_t n = sizes[_i];
    lam_fn *f = lam_vmap(FN(all_steps, 2, 4), &(lam_vmap_options){.out_axes = LAM_AXES(0, 0, 0, 1)});
    lam_fn *a = lam_jit(f, &steps), *b = lam_jit(f, &native);
    double x[2 * 1003], y[1003];
    for (int64_t i = 0; i < n; i++) {
        x[2 * i] = 0.01 * (double)(i % 200) - 0.7;
        x[2 * i + 1] = 1e5;
        y[i] = i >= 40 && i % 3 == 0 && i < 200 ? hard[i % HARD] : 1.3 - 0.02 * (double)(i % 90);
    }
    lam_tensor *pairs = lam_array(ctx, LAM_F64, LAM_DIMS(n, 2), x), *other = lam_array(ctx, LAM_F64, LAM_DIMS(n), y);
    expect_native_same(f, a, b, LAM_LIST(lam_index(pairs, 1, 0), other));
    expect_native_same(f, a, b, LAM_LIST(other, lam_index(pairs, 1, 0)));
    ck_assert_int_eq(lam_jit_report_of(b).lanes, n);
    ck_assert_int_eq(lam_jit_report_of(b).native, system("cc --version >/dev/null 2>&1") == 0);
}
END_TEST

/* Loops that are spelled out in machine code, of all pairs of numbers at which they turn or end. */
BODY(spelled) {
    lam_tensor *x = in[0], *y = in[1];
    lam_tensor *bent = lam_stack(LAM_LIST(lam_sign(x), lam_softsign(x), lam_hard_silu(x), lam_hard_silu_slope(x)), 0);
    lam_tensor *ends = lam_stack(LAM_LIST(lam_clamp(x, -2.0, 2.5), lam_nan_to_num(x, NULL)), 0);
    out[0] = lam_concatenate(LAM_LIST(bent, ends), 0);
    out[1] = lam_stack(LAM_LIST(lam_ramp(x, y, 0), lam_ramp(y, x, 0.25), lam_hard_gate(x, y), lam_weigh(x, y),
                                lam_weigh(y, x), lam_huber_loss(x, y, 0.75)),
                       0);
    out[2] = lam_or(lam_is_finite(lam_add(x, y)), lam_is_nan(x));
    out[3] = lam_and(lam_is_nan(y), lam_is_finite(x));
}

START_TEST(loops_that_are_spelled_out_give_the_same_bits) {
    static const double ends[] = {0.3, -0.0, 0, 3, -3, 2.9, -8, 7, 1e-320, -1e308, 1.7e308, INFINITY, -INFINITY, NAN};
    enum { COUNT = sizeof ends / sizeof *ends };
    const lam_jit_options all = {.fusion = LAM_JIT_ALL, .native = true};
    lam_fn *f = FN(spelled, 2, 4), *native = lam_jit(f, &all);
    double x[COUNT * COUNT], y[COUNT * COUNT];
    for (int i = 0; i < COUNT * COUNT; i++) x[i] = ends[i % COUNT], y[i] = ends[i / COUNT];
    for (lam_dtype dtype = LAM_F64; dtype <= LAM_F32; dtype++) {
        lam_list in =
            LAM_LIST(lam_cast(vector_of(x, COUNT * COUNT), dtype), lam_cast(vector_of(y, COUNT * COUNT), dtype));
        lam_tensor *want[4], *got[4];
        ck_assert_int_eq(lam_call(f, in, want, 4), LAM_OK);
        ck_assert_int_eq(lam_call(native, in, got, 4), LAM_OK);
        for (int o = 0; o < 4; o++) EXPECT_SAME(got[o], want[o], 0);
    }
}
END_TEST

/* The same steps again and again, on what was made once and twice before, or twice before alone, a choice of the time
 * before, an element and a constant of each time; once on another operand. All results of one step are needed, of
 * others the last. */
enum { TIMES = 40 };

BODY(repeated) {
    lam_tensor *x = in[0], *a = in[1], *b = lam_mul(0.5, a), *older = b, *flag = lam_lt(a, 0), *all[TIMES];
    lam_tensor *late[2] = {a, b};
    for (int k = 0; k < TIMES; k++) {
        lam_tensor *now = lam_index(x, 0, k), *near = lam_sub(k == 29 ? older : a, lam_mul(0.25, older));
        lam_tensor *next = lam_fma(near, lam_rsqrt(lam_add(lam_square(b), 1.5)), lam_mul(now, 0.125 * k - 1));
        next = lam_where(flag, lam_sub(next, b), lam_add(lam_min(next, 2), lam_mul(0.5, older)));
        flag = lam_or(lam_gt(next, a), lam_and(lam_not(flag), lam_lt(now, 0)));
        next = lam_sub(next, lam_mul(0.01, late[k % 2]));
        late[k % 2] = lam_abs(lam_sub(now, lam_mul(3, b)));
        older = a;
        a = next;
        b = lam_max(lam_div(b, lam_add(1, lam_abs(a))), lam_sub(0.1, lam_mul_div(a, older, lam_add(3, lam_square(b)))));
        all[k] = lam_mul(b, lam_sub(a, now));
    }
    out[0] = lam_stack((lam_list){TIMES, all}, 0);
    out[1] = lam_add(older, lam_cast(flag, LAM_F64));
    out[2] = a;
    out[3] = b;
}

BODY(repeated_sum) {
    lam_tensor *all[4];
    repeated(here, in, all, env);
    out[0] = lam_add(lam_sum(all[0], NULL), lam_mul(all[1], all[3]));
    out[1] = all[1];
    out[2] = all[2];
}

/* Rows of one operation each, on elements that lie side by side, the other way round, in turns and anyhow, some of
 * which read what the same row has made one to three elements before; and rows that are all the same number. */
BODY(in_rows) {
    lam_tensor *p[TIMES], *q[TIMES], *r[TIMES], *same[4 * TIMES], *x[TIMES], *flag = lam_lt(in[1], 0);
    for (int k = 0; k < TIMES; k++) x[k] = lam_index(in[0], 0, k);
    for (int k = 0; k < TIMES; k++) p[k] = lam_sub(x[k], x[TIMES - 1 - k]);
    for (int k = 0; k < TIMES; k++) q[k] = lam_sub(in[1], p[k]);
    for (int k = 0; k < TIMES; k++) r[k] = lam_sub(p[(7 * k + 3) % TIMES], k % 2 ? q[k] : x[k]);
    for (int k = 3; k < TIMES; k++) r[k] = lam_mul(r[k - 1 - k % 3], q[k]);
    for (int k = 1; k < TIMES; k++) q[k] = lam_add(q[k - 1], q[k]);
    for (int k = 0; k < TIMES; k++) flag = lam_and(lam_lt(p[k], q[k]), lam_not(flag));
    for (int k = 0; k < 4 * TIMES; k++) same[k] = k == 50 ? in[1] : k < 90 ? q[3] : p[4];
    out[0] = lam_stack((lam_list){TIMES, q}, 0);
    out[1] = lam_stack((lam_list){TIMES, r}, 0);
    out[2] = flag;
    out[3] = lam_stack((lam_list){4 * TIMES, same}, 0);
}

START_TEST(machine_code_of_loops_gives_the_same_bits) {
    static const int64_t sizes[] = {1, 8, 21};
    const lam_jit_options steps = {.fusion = LAM_JIT_ALL}, native = {.fusion = LAM_JIT_ALL, .native = true};
    const int64_t n = sizes[_i];
    const lam_grad_options both = {.argnums = LAM_AXES(0, 1), .has_aux = 2};
    lam_fn *f = FN(repeated, 2, 4), *df = lam_grad(FN(repeated_sum, 2, 3), &both), *const functions[] = {f, df};
    lam_tensor *rows = lam_sin(lam_reshape(lam_linspace(ctx, LAM_F64, -9, 7, n * TIMES), LAM_DIMS(n, TIMES)));
    lam_tensor *row = lam_index(rows, 0, 0), *y = lam_linspace(ctx, LAM_F64, -1, 1.5, n);
    for (int k = 0; k < 2; k++) {
        const lam_vmap_options shared = {.in_axes = LAM_AXES(LAM_UNMAPPED, 0)};
        lam_fn *each = lam_vmap(functions[k], NULL), *beside = lam_vmap(functions[k], &shared);
        expect_native_same(each, lam_jit(each, &steps), lam_jit(each, &native), LAM_LIST(rows, y));
        if (n == 8) expect_native_same(beside, lam_jit(beside, &steps), lam_jit(beside, &native), LAM_LIST(row, y));
    }
    if (n == 1) expect_native_same(f, lam_jit(f, &steps), lam_jit(f, &native), LAM_LIST(row, lam_index(y, 0, 0)));
    lam_fn *g = lam_vmap(FN(in_rows, 2, 4), NULL);
    expect_native_same(g, lam_jit(g, &steps), lam_jit(g, &native), LAM_LIST(rows, y));
}
END_TEST

/* Few steps between calls of loops over elements: a function of machine code for each of them takes long to compile and
 * no less to run. */
BODY(swinging) {
    out[0] = in[0];
    for (int k = 0; k < 50; k++) out[0] = lam_add(lam_mul(0.999, out[0]), lam_sin(lam_mul(0.3, out[0])));
}

START_TEST(few_steps_between_calls_are_no_machine_code) {
    const lam_jit_options all = {.fusion = LAM_JIT_ALL, .native = true};
    lam_fn *f = FN(swinging, 1, 1), *native = lam_jit(f, &all);
    for (int64_t n = 1; n < 30; n += 14) {
        lam_tensor *x = lam_linspace(ctx, LAM_F64, -1, 2, n);
        EXPECT_SAME(apply1(native, x), apply1(f, x), 0);
        ck_assert_int_eq(lam_jit_report_of(native).parts, 1);
        ck_assert_int_eq(lam_jit_report_of(native).native, 0);
    }
}
END_TEST

BODY(spun) {
    lam_tensor *turned = lam_reverse(in[0], (lam_axes){0, NULL});
    out[0] = lam_add(lam_mul(lam_cos(turned), 0.9), lam_mul(in[1], 0.1));
    out[1] = lam_sum(lam_mul(out[0], in[0]), NULL);
}

BODY(sorted) {
    out[0] = lam_sort(lam_add(in[0], in[1]), 0);
    out[1] = lam_max_reduce(in[0], NULL);
}

BODY(halved) {
    out[0] = lam_mul(in[0], 0.5);
}

BODY(is_wide) {
    out[0] = lam_gt(lam_sum(lam_abs(in[0]), NULL), 0.5);
}

/* A loop of 100 trips, one that ends when it wants, a choice. */
BODY(turning) {
    lam_tensor *y[2], *narrow, *z;
    lam_tensor *xs = lam_mul(lam_reshape(lam_linspace(ctx, LAM_F64, 0, 1, 100), LAM_DIMS(100, 1)), in[1]);
    lam_scan(env ? FN(sorted, 2, 2) : FN(spun, 2, 2), LAM_LIST(in[0]), LAM_LIST(xs), y, 2, NULL);
    lam_while(FN(is_wide, 1, 1), FN(halved, 1, 1), LAM_LIST(y[0]), &narrow, 1);
    lam_cond(lam_gt(lam_index(y[1], 0, 7), 1.0), FN(halved, 1, 1), FN(halved, 1, 1), LAM_LIST(narrow), &z, 1);
    out[0] = lam_sum(lam_mul(z, lam_sum(y[1], NULL)), NULL);
}

/* loops: that become machine code, at least; 0: none does. */
static void check_turning(lam_fn *f, lam_tensor *x, lam_tensor *y, int64_t loops) {
    lam_fn *native = lam_jit(f, &(lam_jit_options){.native = true, .fusion = LAM_JIT_ALL});
    lam_fn *steps = lam_jit(f, &(lam_jit_options){.fusion = LAM_JIT_ALL});
    EXPECT_SAME(apply2(native, x, y), apply2(f, x, y), 1e-13);
    EXPECT_SAME(apply2(native, lam_neg(x), y), apply2(f, lam_neg(x), y), 1e-13);
    EXPECT_SAME(apply2(steps, x, y), apply2(f, x, y), 1e-13);
    const lam_jit_report report = lam_jit_report_of(native);
    if (loops) ck_assert_int_ge(report.native, loops);
    else ck_assert_int_le(report.native, report.parts);
}

START_TEST(loops_and_choices_on_small_tensors_are_machine_code) {
    static bool sorts;
    lam_tensor *x = lam_linspace(ctx, LAM_F64, -0.7, 1.4, 20), *y = lam_linspace(ctx, LAM_F64, 2, -1, 20);
    lam_fn *f = FN(turning, 2, 1), *with_order = FN_ENV(turning, 2, 1, &sorts);
    check_turning(f, x, y, 3);
    check_turning(lam_jacfwd(f, NULL), x, y, 3);
    check_turning(with_order, x, y, 2); /* sorting is called as it is */
    lam_tensor *many = lam_sin(lam_arange(ctx, LAM_F64, 0, 1000, 1));
    check_turning(f, many, lam_cos(many), 0);
    lam_fn *df = lam_grad(f, NULL);
    EXPECT_SAME(apply2(lam_jit(df, &(lam_jit_options){.native = true}), x, y), apply2(df, x, y), 1e-13);
}
END_TEST

/* Two carries of a line at once, and what is made of them before and behind. */
BODY(joined) {
    out[0] = lam_mul(in[2], in[0]);
    out[1] = lam_add(lam_mul(in[2], in[1]), in[3]);
}

BODY(along) {
    lam_tensor *y[2];
    lam_associative_scan(FN(joined, 4, 2), LAM_LIST(lam_logistic(in[0]), in[1]), 0, false, y, 2);
    out[0] = lam_sum(lam_square(y[1]), NULL);
}

/* What is the same in all lanes is done by steps before, and machine code makes it no cheaper: where there is much of
 * it calls are not left for it. A part of such steps alone is none. */
START_TEST(what_stays_steps_is_judged_as_steps) {
    lam_fn *f = FN(along, 2, 1), *native = lam_jit(f, &(lam_jit_options){.native = true});
    lam_tensor *x = lam_linspace(ctx, LAM_F64, -2, 3, 1000), *y = lam_sin(lam_square(x));
    EXPECT_SAME(apply2(native, x, y), apply2(f, x, y), 1e-13);
    const lam_jit_report r = lam_jit_report_of(native);
    if (system("cc --version >/dev/null 2>&1") == 0) ck_assert_int_ge(r.native, 1);
    ck_assert_int_le(r.native, r.parts);
    ck_assert_int_lt(r.steps, 1000);
}
END_TEST

/* Elements and their neighbours, which the compiler takes in vectors. */
BODY(diffused) {
    lam_tensor *x = in[1], *around = lam_add(lam_roll(x, 1, 0), lam_roll(x, -1, 0));
    lam_tensor *next = lam_add(x, lam_mul(0.2, lam_sub(around, lam_mul(2, x))));
    out[0] = lam_where(lam_gt(next, 1.5), lam_div(x, lam_add(1, lam_square(next))), lam_max(next, lam_neg(x)));
    out[1] = lam_add(in[2], lam_mul(out[0], lam_index(x, 0, 0)));
}

BODY(diffusion) {
    lam_fori(0, 70, FN(diffused, 3, 2), LAM_LIST(in[0], lam_zeros_like(in[0])), out, 2);
}

START_TEST(machine_code_of_vectors_gives_the_same_bits) {
    static const int64_t sizes[] = {17, 31, 64, 121, 256};
    lam_fn *f = FN(diffusion, 1, 2), *native = lam_jit(f, &(lam_jit_options){.native = true});
    for (int k = 0; k < 10; k++) {
        lam_tensor *line = lam_linspace(ctx, LAM_F64, -1, 3, sizes[k / 2]), *want[2], *got[2];
        lam_tensor *x = lam_cast(lam_mul(2, lam_sin(lam_square(line))), k % 2 ? LAM_F32 : LAM_F64);
        lam_call(f, LAM_LIST(x), want, 2);
        lam_call(native, LAM_LIST(x), got, 2);
        for (int o = 0; o < 2; o++) EXPECT_SAME(got[o], want[o], 0);
        const bool small = sizes[k / 2] <= 64; /* for many numbers parts of vectors are faster than the loop in C */
        ck_assert_int_eq(lam_jit_report_of(native).native, small && system("cc --version >/dev/null 2>&1") == 0);
    }
    EXPECT_OK();
}
END_TEST

BODY(squashed_again) {
    out[0] = lam_tanh(lam_add(in[1], lam_mul(0.1, lam_sum(in[1], NULL))));
}

BODY(squashed_often) {
    lam_fori(0, 70, FN(squashed_again, 2, 1), LAM_LIST(in[0]), out, 1);
}

/* In C functions of one number are called for one element after the other, in parts for a vector of them. */
START_TEST(loops_are_machine_code_where_that_is_faster) {
    static const int64_t sizes[] = {17, 32, 200};
    for (int k = 0; k < 3; k++) {
        lam_fn *f = FN(squashed_often, 1, 1), *native = lam_jit(f, &(lam_jit_options){.native = true});
        lam_tensor *x = lam_linspace(ctx, LAM_F64, -1, 1.5, sizes[k]);
        EXPECT_SAME(apply1(native, x), apply1(f, x), 1e-14);
        ck_assert_int_eq(lam_jit_report_of(native).native, 0);
    }
}
END_TEST

/* What is there is not compiled again: parts of the same steps, whosever they are, share it, so that a loop which is
 * recorded trip by trip takes no longer than one trip. Shown by compilers that are no longer to be found. */
START_TEST(machine_code_is_made_once) {
    const lam_jit_options native = {.fusion = LAM_JIT_ALL, .native = true};
    char kept[4096] = "";
    const char *was = getenv("PATH");
    if (was) snprintf(kept, sizeof kept, "%s", was);
    lam_list in = LAM_LIST(num(0.3), num(1.1));
    lam_fn *a = lam_jit(FN(all_steps, 2, 4), &native), *b = lam_jit(FN(all_steps, 2, 4), &native);
    lam_tensor *want[4], *got[4];
    ck_assert_int_eq(lam_call(a, in, want, 4), LAM_OK);
    ck_assert_int_eq(setenv("PATH", "/no/such/place", 1), 0);
    ck_assert_int_eq(lam_call(b, in, got, 4), LAM_OK);
    ck_assert_int_eq(was ? setenv("PATH", kept, 1) : unsetenv("PATH"), 0);
    ck_assert_int_eq(lam_jit_report_of(b).native, lam_jit_report_of(a).native);
    lam_fn_drop(a); /* each has its own share of what they have together */
    ck_assert_int_eq(lam_call(b, in, got, 4), LAM_OK);
    for (int o = 0; o < 4; o++) EXPECT_SAME(got[o], want[o], 0);
}
END_TEST

/* No compiler to be found, or nowhere to write: steps are run one by one. */
START_TEST(machine_code_that_cannot_be_made) {
    static const char *const names[] = {"PATH", "TMPDIR"};
    for (int k = 0; k < 2; k++) {
        char kept[4096] = "";
        const char *was = getenv(names[k]);
        if (was) snprintf(kept, sizeof kept, "%s", was);
        ck_assert_int_eq(setenv(names[k], "/no/such/place", 1), 0);
        lam_fn *f = lam_jit(FN(all_steps, 2, 4), &(lam_jit_options){.fusion = LAM_JIT_ALL, .native = true});
        lam_tensor *want[4], *got[4];
        lam_list in = LAM_LIST(num(0.3), num(1.1));
        lam_call(FN(all_steps, 2, 4), in, want, 4);
        ck_assert_int_eq(lam_call(f, in, got, 4), LAM_OK);
        ck_assert_int_eq(was ? setenv(names[k], kept, 1) : unsetenv(names[k]), 0);
        for (int o = 0; o < 4; o++) EXPECT_SAME(got[o], want[o], 0);
        ck_assert_int_eq(lam_jit_report_of(f).parts, 1);
        ck_assert_int_eq(lam_jit_report_of(f).native, 0);
    }
}
END_TEST

/* The loop stays as it is, whichever request for memory is refused, and that is no failure. The compiler, which would
 * be called each time, is not to be found; what it would get is made all the same. */
START_TEST(memory_refused_before_machine_code) {
    char kept[4096];
    lam_ctx *saved = ctx;
    memory m = {0};
    const lam_ctx_options options = memory_options(&m);
    ctx = lam_ctx_new(&options);
    const lam__program *p = lam__program_of(lam_trace(FN(diffusion, 1, 2), LAM_LIST(VEC(1, 7))));
    const lam__equation *loop = p->list[p->equations - 1];
    ck_assert_ptr_nonnull(lam__nested_of(loop));
    snprintf(kept, sizeof kept, "%s", getenv("PATH"));
    ck_assert_int_eq(setenv("PATH", "/no/such/place", 1), 0);
    for (size_t k = 1; m.requests >= m.refuse; k++) {
        m.refuse = m.requests + k;
        ck_assert_ptr_null(lam__machine_new(p, loop));
        ck_assert_msg(lam_status_of(ctx) == LAM_OK, "request %zu refused: %s", k, lam_error(ctx));
    }
    ck_assert_int_eq(setenv("PATH", kept, 1), 0);
    lam_ctx_free(ctx);
    ctx = saved;
    ck_assert(m.blocks == 0 && !m.wrong_size);
}
END_TEST

/* The first `cc` of PATH, for as long as a test wants it. Its directory comes first, so that ${PATH#*:} is PATH as it
 * was. */
typedef struct stand_in {
    char directory[64], file[80], before[4096];
} stand_in;

static void stand_in_begin(stand_in *c, const char *script) {
    char path[sizeof c->before + sizeof c->directory + 1];
    snprintf(c->directory, sizeof c->directory, "%s/lamina-test-XXXXXX", P_tmpdir);
    ck_assert_ptr_nonnull(mkdtemp(c->directory));
    snprintf(c->file, sizeof c->file, "%s/cc", c->directory);
    FILE *file = fopen(c->file, "w");
    ck_assert_ptr_nonnull(file);
    fprintf(file, "#!/bin/sh\n%s\n", script);
    ck_assert_int_eq(fclose(file), 0);
    ck_assert_int_eq(chmod(c->file, 0700), 0);
    snprintf(c->before, sizeof c->before, "%s", getenv("PATH"));
    snprintf(path, sizeof path, "%s:%s", c->directory, c->before);
    ck_assert_int_eq(setenv("PATH", path, 1), 0);
}

static void stand_in_end(const stand_in *c) {
    ck_assert_int_eq(setenv("PATH", c->before, 1), 0);
    ck_assert_int_eq(remove(c->file), 0);
    ck_assert_int_eq(rmdir(c->directory), 0);
}

/* Compilers that say that all is well and give nothing, no library, a library of something else, or half of one; that
 * fail with megabytes to say; that never end. Steps are run one by one then, in time. */
START_TEST(machine_code_of_compilers_that_are_none) {
    static const char *const scripts[] = {
        "exit 0",
        "while [ \"$1\" != -o ]; do shift; done; echo rubbish > \"$2\"",
        "PATH=${PATH#*:}; while [ \"$1\" != -o ]; do shift; done; echo 'int x;' | cc -shared -fPIC -x c - -o \"$2\"",
        "PATH=${PATH#*:}; cc \"$@\"; for i; do s=$l; l=$i; [ \"$s\" = -o ] && break; done; truncate -s 700 \"$l\"",
        "head -c 20000000 /dev/zero; head -c 20000000 /dev/zero >&2; exit 1",
        "sleep 1000 & sleep 1000",
    };
    enum { SCRIPTS = sizeof scripts / sizeof *scripts };
    for (int k = 0; k < SCRIPTS; k++) {
        stand_in c;
        lam_fn *f = lam_jit(FN(all_steps, 2, 4), &(lam_jit_options){.fusion = LAM_JIT_ALL, .native = true});
        lam_tensor *want[4], *got[4];
        lam_list in = LAM_LIST(num(0.3), num(1.1));
        lam_call(FN(all_steps, 2, 4), in, want, 4);
        if (k == SCRIPTS - 1) ctx->compiler_seconds = 1;
        stand_in_begin(&c, scripts[k]);
        ck_assert_int_eq(lam_call(f, in, got, 4), LAM_OK);
        stand_in_end(&c);
        for (int o = 0; o < 4; o++) EXPECT_SAME(got[o], want[o], 0);
        ck_assert_int_eq(lam_jit_report_of(f).native, 0);
    }
    ck_assert_int_eq(ctx->compiler_seconds, 0); /* what hung is not asked again */
}
END_TEST

static void look_away(int signal) {
    (void)signal;
}

/* Signals whose handlers do not restart what they interrupt; and a host that wants no news of its children, where
 * nobody is told how the compiler ended. */
START_TEST(machine_code_comes_whatever_signals_do) {
    struct sigaction before[2], often = {.sa_handler = look_away}, ignored = {.sa_handler = SIG_IGN};
    const struct itimerval started = {{0, 500}, {0, 500}}, stopped = {{0, 0}, {0, 0}};
    sigaction(SIGALRM, &often, &before[0]);
    sigaction(SIGCHLD, _i ? NULL : &ignored, &before[1]);
    if (_i) setitimer(ITIMER_REAL, &started, NULL);
    lam_fn *f = lam_jit(FN(all_steps, 2, 4), &(lam_jit_options){.fusion = LAM_JIT_ALL, .native = true});
    lam_tensor *got[4];
    lam_status status = lam_call(f, LAM_LIST(num(0.3), num(1.1)), got, 4);
    setitimer(ITIMER_REAL, &stopped, NULL);
    sigaction(SIGALRM, &before[0], NULL);
    sigaction(SIGCHLD, &before[1], NULL);
    ck_assert_int_eq(status, LAM_OK);
    ck_assert_int_eq(lam_jit_report_of(f).native, 1);
}
END_TEST

Suite *suite_transforms_jit_native(void) {
    Suite *suite = SUITE_OF(
        "transforms/jit_native", machine_code_gives_the_same_bits, machine_code_is_made_once,
        machine_code_that_cannot_be_made, memory_refused_before_machine_code, machine_code_of_compilers_that_are_none,
        loops_that_are_spelled_out_give_the_same_bits, few_steps_between_calls_are_no_machine_code,
        loops_and_choices_on_small_tensors_are_machine_code, loops_are_machine_code_where_that_is_faster,
        machine_code_of_vectors_gives_the_same_bits, what_stays_steps_is_judged_as_steps);
    suite_loop(suite, machine_code_comes_whatever_signals_do, 2);
    suite_loop(suite, machine_code_of_lanes_gives_the_same_bits, 6);
    suite_loop(suite, machine_code_of_loops_gives_the_same_bits, 3);
    return suite;
}
