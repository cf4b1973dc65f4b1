/* Loops that examples leave at different times, all of which make trips at once (transforms/nested_abreast.c), beside
 * loops next to these that do not: each against the same batch operation by operation, to the last bit. */
#include "tests/support.h"

#include <lamina/control.h>

/* What becomes of the carries: left, the number of trips left; x, f64[3]; y, f64; z, f32. c is a capture. */
typedef struct loop_case {
    const char *name;
    int carry[3]; /* the next x, y and z: 0: as it was, 1: made of itself, 2: made of others and c, 3: a constant */
    bool shared;  /* c is the same for all examples */
    bool abreast; /* trips are made on addresses, by all examples at once */
} loop_case;

static const loop_case cases[] = {
    {"all are made", {2, 2, 2}, false, true},  {"by what all share", {2, 2, 2}, true, true},
    {"some are kept", {0, 1, 0}, false, true}, {"nothing but the count", {0, 0, 0}, true, true},
    {"a constant", {1, 3, 1}, false, false},   {"constants", {3, 3, 3}, true, false},
};
enum { CASES = sizeof cases / sizeof *cases };

/* in: left, x, y, z, c. */
BODY(is_left) {
    (void)env;
    out[0] = lam_gt(in[0], 0);
}

BODY(trip) {
    const loop_case *k = env;
    lam_tensor *x = in[1], *y = in[2], *z = in[3], *c = in[4];
    out[0] = lam_sub(in[0], 1);
    out[1] = k->carry[0] == 0   ? x
             : k->carry[0] == 1 ? lam_sin(x)
             : k->carry[0] == 2 ? lam_add(lam_mul(x, c), lam_mul(y, lam_reverse(x, LAM_AXES(0))))
                                : lam_full(ctx, LAM_F64, LAM_DIMS(3), 0.25);
    out[2] = k->carry[1] == 0   ? y
             : k->carry[1] == 1 ? lam_mul(y, 0.75)
             : k->carry[1] == 2 ? lam_add(lam_mul(y, lam_index(x, 0, 1)), lam_cast(z, LAM_F64))
                                : lam_scalar(ctx, -2);
    out[3] = k->carry[2] == 0   ? z
             : k->carry[2] == 1 ? lam_cos(z)
             : k->carry[2] == 2 ? lam_where(lam_gt(z, 0.5), lam_mul(z, 0.5), lam_add(z, 0.125))
                                : lam_full(ctx, LAM_F32, LAM_DIMS0, 3);
}

BODY(until_none_is_left) {
    lam_fn *body = lam_fn_new(
        ctx, &(lam_fn_options){
                 .name = "trip", .body = trip, .inputs = 4, .outputs = 4, .env = env, .captures = LAM_LIST(in[4])});
    lam_while(FN(is_left, 4, 1), body, LAM_LIST(in[0], in[1], in[2], in[3]), out, 4);
}

/* The same, without the last carry and in another order, beside what is no loop. */
BODY(in_a_program) {
    lam_tensor *results[4];
    until_none_is_left(ctx, in, results, env);
    out[0] = lam_add(results[2], lam_sum(in[1], NULL));
    out[1] = results[1];
}

/* Trips of example i: none for the third, most for one in the middle. */
static lam_tensor *trips_of(int64_t size) {
    lam_tensor *i = lam_arange(ctx, LAM_I64, 0, (double)size, 1);
    lam_tensor *some = lam_where(lam_eq(i, 2), 0, lam_rem(lam_mul(i, 7), 11));
    return lam_where(lam_eq(i, size / 2), 23, some);
}

static void compare(const loop_case *k, lam_body body, int outputs, int64_t size) {
    lam_tensor *t = lam_linspace(ctx, LAM_F64, 0.1, 0.9, size), *column = lam_reshape(t, LAM_DIMS(size, 1));
    lam_tensor *x = lam_mul(column, VEC(1, 0.5, 0.25));
    lam_tensor *in[] = {trips_of(size), x, lam_reverse(t, LAM_AXES(0)), lam_cast(t, LAM_F32),
                        k->shared ? num(0.625) : lam_sub(1.0, t)};
    const int axes[] = {0, 0, 0, 0, k->shared ? LAM_UNMAPPED : 0};
    lam_fn *f = FN_ENV(body, 5, outputs, (void *)(uintptr_t)k),
           *all = lam_vmap(f, &(lam_vmap_options){.in_axes = {5, axes}});
    const lam_jit_options whole = {.fusion = LAM_JIT_ALL}, none = {.fusion = LAM_JIT_NONE};
    lam_fn *ways[] = {lam_jit(all, NULL), lam_jit(all, &whole), lam_jit(all, &none)};
    lam_tensor *want[4], *got[4];
    ck_assert_msg(lam_call(all, (lam_list){5, in}, want, (size_t)outputs) == LAM_OK, "%s: %s", k->name, lam_error(ctx));
    for (int way = 0; way < 6; way++) {
        ck_assert_msg(lam_call(ways[way / 2], (lam_list){5, in}, got, (size_t)outputs) == LAM_OK, "%s: %s", k->name,
                      lam_error(ctx));
        for (int o = 0; o < outputs; o++) EXPECT_SAME(got[o], want[o], 0);
        ck_assert_msg(lam_jit_report_of(ways[way / 2]).direct == 0, "%s is not compiled", k->name);
    }
}

/* One example, less than a vector has, as many, more, several blocks. */
START_TEST(examples_leave_at_different_times) {
    static const int64_t sizes[] = {1, 2, 3, 7, 8, 9, 17, 300};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) compare(&cases[_i], until_none_is_left, 4, sizes[i]);
}
END_TEST

START_TEST(loops_beside_other_operations) {
    for (int64_t size = 5; size < 30; size += 8) compare(&cases[_i], in_a_program, 2, size);
}
END_TEST

/* On addresses, what a call asks for is the same for few trips and many: none is made by operations. */
START_TEST(trips_ask_for_no_memory) {
    enum { SIZE = 9 };
    lam_ctx *outside = ctx;
    memory counted = {0};
    const lam_ctx_options options = memory_options(&counted);
    ctx = lam_ctx_new(&options);
    lam_tensor *t = lam_linspace(ctx, LAM_F64, 0.1, 0.9, SIZE), *out[4];
    lam_tensor *x = lam_mul(lam_reshape(t, LAM_DIMS(SIZE, 1)), VEC(1, 0.5, 0.25)), *z = lam_cast(t, LAM_F32);
    lam_fn *made = lam_jit(lam_vmap(FN_ENV(until_none_is_left, 5, 4, (void *)(uintptr_t)&cases[_i]), NULL), NULL);
    size_t asked[3];
    for (int64_t call = 0; call < 3; call++) { /* the first one records */
        lam_tensor *left = lam_add(lam_arange(ctx, LAM_I64, 0, SIZE, 1), call < 2 ? 1 : 40);
        const size_t before = counted.requests;
        ck_assert_int_eq(lam_call(made, LAM_LIST(left, x, t, z, t), out, 4), LAM_OK);
        asked[call] = counted.requests - before;
    }
    EXPECT_OK();
    lam_ctx_free(ctx);
    ctx = outside;
    ck_assert_msg((asked[2] == asked[1]) == cases[_i].abreast, "%s: %zu and %zu requests", cases[_i].name, asked[1],
                  asked[2]);
}
END_TEST

/* Machine code of the parts, where there is a compiler. */
START_TEST(examples_of_machine_code) {
    lam_tensor *n = trips_of(21), *t = lam_linspace(ctx, LAM_F64, 0.1, 0.9, 21);
    lam_tensor *x = lam_mul(lam_reshape(t, LAM_DIMS(21, 1)), VEC(1, 0.5, 0.25)), *z = lam_cast(t, LAM_F32);
    lam_fn *all = lam_vmap(FN_ENV(until_none_is_left, 5, 4, (void *)(uintptr_t)&cases[0]), NULL);
    lam_fn *made = lam_jit(all, &(lam_jit_options){.native = true});
    lam_tensor *want[4], *got[4];
    ck_assert_int_eq(lam_call(all, LAM_LIST(n, x, t, z, t), want, 4), LAM_OK);
    ck_assert_int_eq(lam_call(made, LAM_LIST(n, x, t, z, t), got, 4), LAM_OK);
    for (int o = 0; o < 4; o++) EXPECT_SAME(got[o], want[o], 1e-14);
}
END_TEST

/* Three examples that leave the loop at different times. */
static void loop_of_three(const void *env) {
    lam_tensor *x = lam_full(ctx, LAM_F64, LAM_DIMS(3, 3), 0.5), *y = lam_full(ctx, LAM_F64, LAM_DIMS(3), 0.25),
               *out[4];
    lam_fn *all = lam_vmap(FN_ENV(until_none_is_left, 5, 4, (void *)(uintptr_t)env), NULL);
    (void)lam_call(lam_jit(all, NULL), LAM_LIST(trips_of(3), x, y, lam_cast(y, LAM_F32), y), out, 4);
}

START_TEST(memory_refused_while_compiling) {
    memory_refused_in(loop_of_three, &cases[0]);
}
END_TEST

Suite *suite_transforms_nested_abreast(void) {
    Suite *suite = SUITE_OF("transforms/nested_abreast", examples_of_machine_code, memory_refused_while_compiling);
    suite_loop(suite, examples_leave_at_different_times, CASES);
    suite_loop(suite, loops_beside_other_operations, CASES);
    suite_loop(suite, trips_ask_for_no_memory, CASES);
    return suite;
}
