/* jit: what is recorded, when, and that results are those of the plain function. That every primitive is right when it
 * is compiled is shown by tests/primitives/properties_compiled.c. */
#include "tests/support.h"

#include <stdio.h>

/* ---- results ----------------------------------------------------------------------------------------------------- */

/* A chain of everything that is fused: arithmetic, functions, choices, moves, small sums and products. */
BODY(chain) {
    lam_tensor *x = in[0], *y = lam_mul(lam_sin(x), lam_exp(lam_mul(-0.5, x)));
    lam_tensor *turned = lam_reverse(y, LAM_AXES(0));
    lam_tensor *chosen = lam_where(lam_gt(x, 0.5), turned, lam_sqrt(lam_add(lam_square(x), 1)));
    lam_tensor *table = lam_stack(LAM_LIST(chosen, y, lam_roll(y, 1, 0)), 0);
    out[0] = lam_sum(lam_matmul(table, lam_div(chosen, lam_add(2, lam_max(x, y)))), NULL);
}

static int calls_of_counted;

BODY(counted) {
    calls_of_counted++;
    out[0] = lam_sum(lam_mul(in[0], lam_sin(in[0])), NULL);
}

static void expect_jit_same(lam_fn *f, lam_list in, size_t outputs) {
    lam_tensor *want[6], *got[6];
    ck_assert_uint_le(outputs, 6);
    ck_assert_int_eq(lam_call(f, in, want, outputs), LAM_OK);
    for (int fusion = LAM_JIT_AUTO; fusion <= LAM_JIT_NONE; fusion++) {
        lam_fn *jitted = lam_jit(f, &(lam_jit_options){.fusion = (lam_jit_fusion)fusion});
        for (int again = 0; again < 2; again++) {
            ck_assert_int_eq(lam_call(jitted, in, got, outputs), LAM_OK);
            for (size_t o = 0; o < outputs; o++) EXPECT_SAME(got[o], want[o], 1e-12);
        }
    }
}

START_TEST(jit_of_transforms_in_any_order) {
    lam_fn *f = FN(chain, 1, 1);
    lam_tensor *x = VEC(0.1, -0.7, 1.3, 2.2), *rows = lam_stack(LAM_LIST(x, lam_neg(x), lam_mul(0.3, x)), 0);
    expect_jit_same(f, LAM_LIST(x), 1);
    expect_jit_same(lam_grad(f, NULL), LAM_LIST(x), 1);
    expect_jit_same(lam_value_and_grad(f, NULL), LAM_LIST(x), 2);
    expect_jit_same(lam_hessian(f, NULL), LAM_LIST(x), 1);
    expect_jit_same(lam_jvp_fn(f, NULL), LAM_LIST(x, x), 2);
    expect_jit_same(lam_vmap(lam_grad(f, NULL), NULL), LAM_LIST(rows), 1);
    expect_jit_same(lam_vmap(lam_hessian(f, NULL), NULL), LAM_LIST(rows), 1);
    expect_jit_same(lam_grad(lam_jit(f, NULL), NULL), LAM_LIST(x), 1);
    expect_jit_same(lam_vmap(lam_jit(lam_grad(lam_jit(f, NULL), NULL), NULL), NULL), LAM_LIST(rows), 1);
}
END_TEST

/* Batches whose size is that of other axes too: which of them the lanes are must not matter. */
START_TEST(square_shapes) {
    lam_fn *g = lam_vmap(lam_grad(FN(chain, 1, 1), NULL), NULL);
    for (int64_t n = 1; n <= 5; n++) {
        lam_tensor *x = lam_reshape(lam_linspace(ctx, LAM_F64, -1, 2, n * n), LAM_DIMS(n, n));
        expect_jit_same(g, LAM_LIST(x), 1);
        expect_jit_same(g, LAM_LIST(lam_matrix_transpose(x)), 1);
    }
}
END_TEST

/* Blocks of lanes and what is left of them. */
START_TEST(any_number_of_lanes) {
    static const int64_t sizes[] = {1, 2, 7, 8, 9, 31, 255, 256, 257, 1000};
    lam_fn *g = lam_vmap(lam_value_and_grad(FN(chain, 1, 1), NULL), NULL);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        lam_tensor *x = lam_reshape(lam_linspace(ctx, LAM_F64, -2, 2, 3 * sizes[i]), LAM_DIMS(sizes[i], 3));
        expect_jit_same(g, LAM_LIST(x), 2);
        expect_jit_same(lam_vmap(FN(chain, 1, 1), &(lam_vmap_options){.in_axes = LAM_AXES(1)}),
                        LAM_LIST(lam_matrix_transpose(x)), 1);
    }
}
END_TEST

BODY(mixed_dtypes) {
    lam_tensor *narrow = lam_cast(in[0], LAM_F32), *whole = lam_cast(lam_mul(10, in[0]), LAM_I32);
    out[0] = lam_add(lam_sin(narrow), lam_cast(lam_rem(whole, 3), LAM_F32));
    out[1] = lam_and(lam_gt(in[0], 0), lam_ne(whole, 4));
    out[2] = lam_where(out[1], whole, lam_neg(whole));
}

START_TEST(dtypes_side_by_side) {
    expect_jit_same(FN(mixed_dtypes, 1, 3), LAM_LIST(VEC(-1.5, 0.4, 0.41, 3.2, 8)), 3);
}
END_TEST

BODY(odd_outputs) {
    out[0] = in[0];
    out[1] = in[0];
    out[2] = lam_full(here, LAM_F64, LAM_DIMS(2), 3);
    out[3] = lam_sum(lam_sin(lam_zeros(here, LAM_F64, LAM_DIMS(0, 2))), NULL);
}

START_TEST(inputs_and_constants_as_outputs) {
    expect_jit_same(FN(odd_outputs, 2, 4), LAM_LIST(VEC(1, 2), VEC(3)), 4);
}
END_TEST

/* Operands with gaps, and of no elements. */
START_TEST(any_layout) {
    lam_tensor *x = lam_reshape(lam_linspace(ctx, LAM_F64, 0, 1, 24), LAM_DIMS(4, 6));
    lam_fn *rows = lam_vmap(FN(chain, 1, 1), NULL);
    expect_jit_same(rows, LAM_LIST(lam_matrix_transpose(x)), 1);
    expect_jit_same(rows, LAM_LIST(lam_slice(x, LAM_DIMS(1, 5), LAM_DIMS(4, 0), LAM_DIMS(1, -2))), 1);
    expect_jit_same(rows, LAM_LIST(lam_broadcast_to(VEC(1, 2, 3), LAM_DIMS(7, 3))), 1);
    expect_jit_same(FN(mixed_dtypes, 1, 3), LAM_LIST(lam_zeros(ctx, LAM_F64, LAM_DIMS(0))), 3);
}
END_TEST

BODY(overwritten) {
    lam_tensor *x = lam_alias(in[0]);
    for (int k = 0; k < 3; k++) {
        lam_mul_(x, lam_add(in[0], k));
        lam_set_(x, lam_full(here, LAM_F64, LAM_DIMS(1), k), LAM_DIMS(k), LAM_DIMS(k + 1), LAM_DIMS0);
    }
    out[0] = lam_sum(lam_square(x), NULL);
}

START_TEST(in_place_operations) {
    expect_jit_same(lam_value_and_grad(FN(overwritten, 1, 1), NULL), LAM_LIST(VEC(1, 2, 3, 4)), 2);
}
END_TEST

/* Parts set one after the other: in place where nobody else sees the memory, never in what was given or is needed. */
BODY(sets_parts) {
    lam_tensor *x = lam_alias(in[0]), *before = NULL;
    for (int k = 0; k < 6; k++) {
        if (k == 3) before = lam_alias(x);
        lam_set_(x, lam_slice_axis(in[1], 0, k, k + 1), LAM_DIMS(k, 0), LAM_DIMS(k + 1, 5000), LAM_DIMS0);
    }
    out[0] = x;
    out[1] = before;
    out[2] = lam_sum(x, NULL);
}

START_TEST(parts_are_set_in_place) {
    lam_tensor *x = lam_zeros(ctx, LAM_F64, LAM_DIMS(6, 5000)), *y = lam_add(x, 1);
    expect_jit_same(FN(sets_parts, 2, 3), LAM_LIST(x, lam_cumsum(lam_cumsum(y, 0), 1)), 3);
    EXPECT_SAME(x, lam_zeros(ctx, LAM_F64, LAM_DIMS(6, 5000)), 0);
}
END_TEST

/* Stacks set into constants: all rows in order, all but some, some twice, one that is needed beside, one of what it is
 * set into, one that is read when half of it is set. */
BODY(sets_stacks) {
    enum { N = 3000 };
    lam_tensor *x = in[0], *again = lam_full(here, LAM_F64, LAM_DIMS(2 * N, 3), 5), *kept = NULL;
    for (int o = 0; o < 2; o++) out[o] = lam_full(here, LAM_F64, LAM_DIMS(2 * N, 3), 7 + o);
    out[4] = lam_full(here, LAM_F64, LAM_DIMS(2 * N, 3), 9);
    for (int k = 0; k < 2; k++) {
        const int64_t from = (int64_t)k * N, to = from + N;
        lam_tensor *part = lam_slice_axis(x, 0, from, to), *columns[] = {lam_cumsum(part, 0), part, lam_exp(part)};
        lam_list list = {3, columns};
        lam_set_stack_(out[0], list, 1, LAM_DIMS(from, 0), LAM_DIMS(to, 3), LAM_DIMS0);
        lam_set_stack_(out[1], list, 1, LAM_DIMS(N - from, 0), LAM_DIMS(2 * N - from, 3), LAM_DIMS0);
        lam_set_stack_(out[4], list, 1, LAM_DIMS(from, 0), LAM_DIMS(to, 3), LAM_DIMS0);
        if (k == 0) out[5] = lam_cumsum(out[4], 0);
        kept = lam_stack(list, 1);
        lam_set_(again, kept, LAM_DIMS(0, 0), LAM_DIMS(N, 3), LAM_DIMS0);
    }
    lam_tensor *first = lam_index(again, 1, 0), *own[] = {lam_neg(first), first, first};
    lam_set_stack_(again, (lam_list){3, own}, 1, LAM_DIMS(0, 0), LAM_DIMS(2 * N, 3), LAM_DIMS0);
    out[2] = again;
    out[3] = kept;
}

START_TEST(stacks_are_set_in_place) {
    expect_jit_same(FN(sets_stacks, 1, 6), LAM_LIST(lam_linspace(ctx, LAM_F64, -1, 1, 6000)), 6);
}
END_TEST

/* What is set into itself, backwards, and as a part that is put together: each element is read before it is written. */
BODY(sets_itself) {
    enum { N = 3000 };
    for (int o = 0; o < 2; o++) {
        lam_tensor *x = lam_cumsum(in[0], 0), *parts[] = {x, lam_zeros(here, LAM_F64, LAM_DIMS(0))};
        lam_tensor *again = o ? lam_concatenate((lam_list){2, parts}, 0) : x;
        lam_set_(x, again, LAM_DIMS(N - 1), LAM_DIMS(LAM_END), LAM_DIMS(-1));
        out[o] = x;
    }
}

START_TEST(what_is_set_into_itself) {
    expect_jit_same(FN(sets_itself, 1, 2), LAM_LIST(lam_linspace(ctx, LAM_F64, -1, 2, 3000)), 2);
}
END_TEST

/* Threads share blocks of lanes: bits do not depend on them. */
START_TEST(threads_give_the_same_bits) {
    lam_ctx *shared = lam_ctx_new(&(lam_ctx_options){.threads = 3}), *own = ctx;
    enum { N = 8000 };
    static double bits[2][N];
    for (int k = 0; k < 2; k++) {
        ctx = k ? shared : own;
        lam_fn *f = lam_jit(lam_vmap(lam_grad(FN(chain, 1, 1), NULL), NULL), NULL);
        lam_tensor *x = lam_reshape(lam_linspace(ctx, LAM_F64, -2, 2, N), LAM_DIMS(N / 2, 2));
        ck_assert_int_eq(lam_read(apply1(f, x), bits[k], sizeof bits[k]), LAM_OK);
        ck_assert_int_eq(lam_jit_report_of(f).lanes, N / 2);
    }
    ctx = own;
    lam_ctx_free(shared);
    ck_assert(memcmp(bits[0], bits[1], sizeof bits[0]) == 0);
}
END_TEST

/* ---- recording --------------------------------------------------------------------------------------------------- */

START_TEST(recorded_once_for_each_signature) {
    lam_fn *f = lam_jit(FN(counted, 1, 1), NULL);
    calls_of_counted = 0;
    for (int k = 0; k < 3; k++) {
        EXPECT_NEAR(apply1(f, VEC(1, 2)), 1e-15, LAM_DIMS0, sin(1) + 2 * sin(2));
        EXPECT_NEAR(apply1(f, VEC(3)), 1e-15, LAM_DIMS0, 3 * sin(3));
    }
    ck_assert_int_eq(calls_of_counted, 2);
    lam_jit_report r = lam_jit_report_of(f);
    ck_assert_int_eq(r.calls, 6);
    ck_assert_int_eq(r.recorded, 2);
    ck_assert_int_eq(r.direct, 0);
    ck_assert_str_eq(r.cause, "input 0 is f64[1], not f64[2]");
    apply1(f, lam_ones(ctx, LAM_F32, LAM_DIMS(1)));
    ck_assert_str_eq(lam_jit_report_of(f).cause, "input 0 is f32[1], not f64[1]");
}
END_TEST

START_TEST(the_signature_used_longest_ago_goes) {
    lam_fn *f = lam_jit(FN(counted, 1, 1), &(lam_jit_options){.signatures = 2});
    calls_of_counted = 0;
    apply1(f, VEC(1));
    apply1(f, VEC(1, 2));
    apply1(f, VEC(1));
    apply1(f, VEC(1, 2, 3));
    ck_assert_int_eq(calls_of_counted, 3);
    apply1(f, VEC(1));
    ck_assert_int_eq(calls_of_counted, 3);
    apply1(f, VEC(1, 2));
    ck_assert_int_eq(calls_of_counted, 4);
}
END_TEST

/* Dead and repeated operations: y is needed once, z not at all. */
BODY(wasteful) {
    lam_tensor *y = lam_exp(in[0]), *again = lam_exp(in[0]);
    lam_cos(in[0]);
    out[0] = lam_add(lam_mul(y, 1), lam_mul(again, again));
}

START_TEST(dead_and_repeated_operations_are_left_out) {
    lam_fn *f = lam_jit(FN(wasteful, 1, 1), &(lam_jit_options){.fusion = LAM_JIT_ALL});
    EXPECT_NEAR(apply1(f, num(1)), 1e-15, LAM_DIMS0, exp(1) + exp(2));
    lam_jit_report r = lam_jit_report_of(f);
    ck_assert_int_eq(r.parts, 1);
    ck_assert_int_eq(r.fused, r.equations);
    ck_assert_int_eq(r.steps, 5); /* read, exp, its square, the sum, written */
}
END_TEST

BODY(few_of_many) {
    out[0] = lam_mul(2, lam_slice_axis(in[0], 0, 5, 7));
}

/* What has nothing for each lane takes no time for each: these are more than could be counted. */
START_TEST(many_lanes_of_nothing) {
    static const double one = 1.5;
    const lam_borrow_options again = {.strides = LAM_DIMS(0)};
    lam_tensor *x = lam_borrow(ctx, LAM_F64, LAM_DIMS((int64_t)1 << 42), (void *)(uintptr_t)&one, &again);
    for (int fusion = LAM_JIT_AUTO; fusion <= LAM_JIT_NONE; fusion++)
        EXPECT(apply1(lam_jit(FN(few_of_many, 1, 1), &(lam_jit_options){.fusion = (lam_jit_fusion)fusion}), x),
               LAM_DIMS(2), 3, 3);
}
END_TEST

BODY(zero_less) {
    out[0] = lam_reciprocal(lam_sub(0.0, in[0]));
}

/* 0 - 0 is 0, and not -0, of which the reciprocal is -inf. */
START_TEST(zero_less_zero_has_no_sign) {
    lam_fn *f = lam_jit(FN(zero_less, 1, 1), &(lam_jit_options){.fusion = LAM_JIT_ALL});
    EXPECT(apply1(f, VEC(0, -0.0, 2)), LAM_DIMS(3), INFINITY, INFINITY, -0.5);
}
END_TEST

/* Calls that wait for what is fused, and the other way round, more often than there are stages. */
BODY(alternates) {
    out[0] = in[0];
    for (int i = 0; i < 300; i++) out[0] = lam_cumsum(lam_tanh(lam_mul(out[0], 1.25)), 0);
}

START_TEST(more_stages_than_are_kept) {
    lam_fn *f = FN(alternates, 1, 1), *jitted = lam_jit(f, &(lam_jit_options){.fusion = LAM_JIT_ALL});
    lam_tensor *x = VEC(0.5, -1, 0.25);
    EXPECT_SAME(apply1(jitted, x), apply1(f, x), 1e-12);
    lam_jit_report r = lam_jit_report_of(jitted);
    ck_assert_int_eq(r.equations, 900);
    ck_assert_int_gt(r.parts, 100);
    ck_assert_int_eq(r.fused, 2 * r.parts);
}
END_TEST

/* With the pool that contexts have: what a call takes from it was there after the first ones. */
START_TEST(a_call_asks_for_no_memory) {
    memory m = {0};
    lam_ctx_options o = memory_options(&m);
    o.plain_memory = false;
    lam_ctx *saved = ctx;
    ctx = lam_ctx_new(&o);
    lam_fn *f = lam_jit(lam_vmap(lam_grad(FN(chain, 1, 1), NULL), NULL), NULL);
    lam_tensor *x = lam_reshape(lam_linspace(ctx, LAM_F64, -2, 2, 300), LAM_DIMS(100, 3));
    size_t before = 0;
    for (int k = 0; k < 1000; k++) {
        lam_scope *scope = lam_scope_begin(ctx);
        apply1(f, x);
        lam_scope_end(scope, NULL, 0);
        if (k == 500) before = m.requests;
    }
#if SANITIZED /* nothing is pooled there: what is asked for is the result alone */
    ck_assert_uint_le(m.requests - before, 4 * 500);
#else
    ck_assert_uint_eq(m.requests, before);
#endif
    lam_ctx_free(ctx);
    ctx = saved;
}
END_TEST

/* ---- failure ----------------------------------------------------------------------------------------------------- */

BODY(wrong_dims) {
    out[0] = lam_add(in[0], VEC(1, 2, 3));
}

START_TEST(failures_are_those_of_the_function) {
    lam_fn *f = lam_jit(FN(wrong_dims, 1, 1), NULL);
    ck_assert(lam_failed(apply1(f, VEC(1, 2))));
    EXPECT_ERROR(LAM_ERR_SHAPE, "wrong_dims", "f64[2]", "f64[3]");
    EXPECT(apply1(f, VEC(1, 2, 3)), LAM_DIMS(3), 2, 4, 6);
}
END_TEST

BODY(fails_when_run) {
    out[0] = lam_take(in[0], in[1], 0);
}

START_TEST(failures_of_calls_are_reported) {
    lam_fn *f = lam_jit(FN(fails_when_run, 2, 1), NULL);
    EXPECT(apply2(f, VEC(5, 6), lam_cast(VEC(1), LAM_I64)), LAM_DIMS(1), 6);
    ck_assert(lam_failed(apply2(f, VEC(5, 6), lam_cast(VEC(2), LAM_I64))));
    EXPECT_ERROR(LAM_ERR_INDEX, "take");
    EXPECT(apply2(f, VEC(5, 6), lam_cast(VEC(0), LAM_I64)), LAM_DIMS(1), 5);
}
END_TEST

START_TEST(bad_options) {
    lam_jit(FN(chain, 1, 1), &(lam_jit_options){.signatures = -1});
    EXPECT_ERROR(LAM_ERR_OPTION, "jit", "chain", "-1");
    lam_jit(FN(chain, 1, 1), &(lam_jit_options){.fusion = (lam_jit_fusion)7});
    EXPECT_ERROR(LAM_ERR_OPTION, "fusion", "7");
    ck_assert_int_eq(lam_jit_report_of(FN(chain, 1, 1)).calls, 0);
    EXPECT_ERROR(LAM_ERR_VALUE, "chain", "not a jitted function");
    ck_assert(lam_failed(lam_apply(lam_jit(NULL, NULL), LAM_LIST(num(1)))));
    EXPECT_STATUS(LAM_ERR_NULL);
}
END_TEST

/* The compiled gradient of a batch in a context that refuses, or NAN in all of got[]. */
static void run_refused(size_t refuse, memory *m, double got[12]) {
    *m = (memory){.refuse = refuse, .from_then_on = refuse % 2 == 0};
    lam_ctx_options o = memory_options(m);
    lam_ctx *saved = ctx;
    ctx = lam_ctx_new(&o);
    lam_fn *f = lam_jit(lam_vmap(lam_grad(FN(chain, 1, 1), NULL), NULL), &(lam_jit_options){.fusion = LAM_JIT_ALL});
    lam_tensor *y = apply1(f, lam_reshape(lam_linspace(ctx, LAM_F64, -2, 2, 12), LAM_DIMS(4, 3)));
    for (int i = 0; i < 12; i++) got[i] = NAN;
    if (lam_failed(y)) ck_assert_int_eq(lam_status_of(ctx), LAM_ERR_MEMORY);
    else ck_assert_int_eq(lam_read(y, got, 12 * sizeof *got), LAM_OK);
    lam_ctx_free(ctx);
    ctx = saved;
    ck_assert_msg(m->blocks == 0 && !m->wrong_size, "request %zu refused: %zu blocks are left", refuse, m->blocks);
}

/* Wherever memory is refused, the call fails or is right, and nothing is lost. */
START_TEST(memory_refused_anywhere) {
    double want[12], got[12];
    memory m;
    int failed = 0;
    run_refused(0, &m, want);
    const size_t all = m.requests;
    for (size_t refuse = 1; refuse <= all; refuse += 1 + refuse / 16) {
        run_refused(refuse, &m, got);
        failed += got[0] != got[0];
        for (int i = 0; i < 12 && got[0] == got[0]; i++)
            ck_assert_msg(fabs(got[i] - want[i]) <= 1e-12 * fabs(want[i]) + 1e-14, "request %zu refused: %g, not %g",
                          refuse, got[i], want[i]);
    }
    ck_assert_int_gt(failed, 10);
}
END_TEST

enum { NEUTRAL = 10 };

/* x y, x + y and others with neutral constants, and signs that go together. */
BODY(neutral) {
    lam_tensor *x = in[0], *y = in[1];
    out[0] = lam_fma(x, -1.0, y);
    out[1] = lam_fma(num(-1), x, y);
    out[2] = lam_fma(x, 1.0, y);
    out[3] = lam_fma(x, y, 0.0);
    out[4] = lam_mul(x, -1.0);
    out[5] = lam_sub(x, lam_neg(y));
    out[6] = lam_add(lam_neg(x), y);
    out[7] = lam_mul(lam_neg(x), lam_neg(y));
    out[8] = lam_sub(lam_div(x, 1.0), 0.0);
    out[9] = lam_add(x, lam_neg(lam_neg(y)));
}

START_TEST(neutral_operands_and_signs_fall_away) {
    const double want[NEUTRAL][2] = {{3, 4},  {3, 4}, {7, 10},  {10, 21}, {-2, -3},
                                     {7, 10}, {3, 4}, {10, 21}, {2, 3},   {7, 10}};
    lam_fn *f = lam_jit(FN(neutral, 2, NEUTRAL), &(lam_jit_options){.fusion = LAM_JIT_ALL});
    lam_tensor *out[NEUTRAL];
    ck_assert_int_eq(lam_call(f, LAM_LIST(VEC(2, 3), VEC(5, 7)), out, NEUTRAL), LAM_OK);
    for (int k = 0; k < NEUTRAL; k++) EXPECT(out[k], LAM_DIMS(2), want[k][0], want[k][1]);
    ck_assert_int_eq(lam_jit_report_of(f).parts, 1);
}
END_TEST

Suite *suite_transforms_jit(void) {
    return SUITE_OF("transforms/jit", jit_of_transforms_in_any_order, square_shapes, any_number_of_lanes,
                    dtypes_side_by_side, inputs_and_constants_as_outputs, any_layout, in_place_operations,
                    parts_are_set_in_place, stacks_are_set_in_place, what_is_set_into_itself,
                    threads_give_the_same_bits, recorded_once_for_each_signature, the_signature_used_longest_ago_goes,
                    dead_and_repeated_operations_are_left_out, zero_less_zero_has_no_sign,
                    neutral_operands_and_signs_fall_away, many_lanes_of_nothing, more_stages_than_are_kept,
                    a_call_asks_for_no_memory, failures_are_those_of_the_function, failures_of_calls_are_reported,
                    bad_options, memory_refused_anywhere);
}
