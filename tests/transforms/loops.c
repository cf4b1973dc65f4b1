/* lam_while and lam_fori: values and derivatives are those of the same loop in C, example by example. */
#include "tests/support.h"

static int trips;

/* A handful of loops: Newton's square root, factorial, ... State: (x, y, ...). */
BODY(small) {
    out[0] = lam_lt(lam_abs(in[0]), 100.0);
}

BODY(twice) {
    trips++;
    out[0] = lam_mul(2.0, in[0]);
}

static lam_tensor *while1(lam_fn *condition, lam_fn *body, lam_tensor *x) {
    lam_tensor *y;
    lam_while(condition, body, LAM_LIST(x), &y, 1);
    return y;
}

BODY(doubled) {
    out[0] = while1(FN(small, 1, 1), FN(twice, 1, 1), in[0]);
}

START_TEST(while_goes_on_as_long_as_the_condition_holds) {
    trips = 0;
    EXPECT_NUM(apply1(FN(doubled, 1, 1), num(3)), 192);
    ck_assert_int_eq(trips, 6);
    EXPECT_NUM(apply1(FN(doubled, 1, 1), num(500)), 500);
    ck_assert_int_eq(trips, 6);
}
END_TEST

START_TEST(derivatives_of_a_while) {
    lam_fn *f = FN(doubled, 1, 1);
    EXPECT_NUM(apply1(lam_grad(f, NULL), num(3)), 64);
    EXPECT_NUM(apply1(lam_jacfwd(f, NULL), num(3)), 64);
    EXPECT_NUM(apply1(lam_grad(f, NULL), num(500)), 1);
}
END_TEST

START_TEST(a_batched_while_ends_for_each_example_when_its_own_condition_says_so) {
    lam_fn *f = FN(doubled, 1, 1);
    lam_tensor *x = VEC(3, 500, -60, 99, 1);
    trips = 0;
    EXPECT(apply1(lam_vmap(f, NULL), x), LAM_DIMS(5), 192, 500, -120, 198, 128);
    ck_assert_int_eq(trips, 7);
    EXPECT(apply1(lam_vmap(lam_grad(f, NULL), NULL), x), LAM_DIMS(5), 64, 1, 2, 2, 128);
    EXPECT(apply1(lam_vmap(lam_jacfwd(f, NULL), NULL), x), LAM_DIMS(5), 64, 1, 2, 2, 128);
    EXPECT(apply1(lam_vmap(lam_hessian(f, NULL), NULL), x), LAM_DIMS(5), 0, 0, 0, 0, 0);
    EXPECT(apply1(lam_vmap(f, NULL), VEC(500, 600)), LAM_DIMS(2), 500, 600);
    EXPECT_EMPTY(apply1(lam_vmap(f, NULL), lam_zeros(ctx, LAM_F64, LAM_DIMS(0))), LAM_DIMS(0));
}
END_TEST

/* The number of examples that a trip sees, from the name of its level in a failure. */
BODY(reading) {
    out[0] = lam_mul(2.0, in[0]);
    if (++trips == 3) lam_fail(ctx, LAM_ERR_USER, "here");
}

BODY(read_third) {
    out[0] = while1(FN(small, 1, 1), FN(reading, 1, 1), in[0]);
}

START_TEST(examples_that_have_ended_take_part_no_longer) {
    trips = 0;
    apply1(lam_vmap(FN(read_third, 1, 1), NULL), VEC(3, 500, -60, 99, 1));
    EXPECT_OWN(LAM_ERR_USER, "vmap(size 2 of 5)");
}
END_TEST

/* Carries (i, x, y): i counts up to n, x is multiplied by sin(y), y is x from before. */
BODY(counting) {
    out[0] = lam_lt(in[0], in[3]);
}

BODY(mixed) {
    out[0] = lam_add(in[0], 1);
    out[1] = lam_mul(in[1], lam_sin(in[2]));
    out[2] = in[1];
    out[3] = in[3];
}

/* (x, n): x after n trips. */
BODY(looped) {
    lam_tensor *y[4], *zero = lam_cast(num(0), LAM_I64);
    lam_while(FN(counting, 4, 1), FN(mixed, 4, 4), LAM_LIST(zero, in[0], lam_exp(in[0]), in[1]), y, 4);
    out[0] = y[1];
}

/* The same by C's own for. */
static lam_tensor *plain(lam_tensor *x0, int n) {
    lam_tensor *x = x0, *y = lam_exp(x0);
    for (int i = 0; i < n; i++) {
        lam_tensor *next = lam_mul(x, lam_sin(y));
        y = x;
        x = next;
    }
    return x;
}

BODY(plain_three) {
    out[0] = plain(in[0], *(int *)env);
}

/* Every nesting of two derivatives, with a batched carry, condition, both. */
START_TEST(several_carries_at_every_level) {
    const double x[3] = {0.7, -0.4, 1.3};
    const int n[3] = {3, 0, 5};
    lam_fn *f = FN(looped, 2, 1);
    lam_tensor *values = VEC(0.7, -0.4, 1.3), *counts = lam_array(ctx, LAM_I64, LAM_DIMS(3), (int64_t[]){3, 0, 5});
    lam_fn *kinds[] = {f,
                       lam_grad(f, NULL),
                       lam_grad(lam_grad(f, NULL), NULL),
                       lam_jacfwd(f, NULL),
                       lam_jacfwd(lam_grad(f, NULL), NULL),
                       lam_jacrev(lam_jacfwd(f, NULL), NULL)};
    for (int k = 0; k < 6; k++) {
        double want[3], other[3];
        for (int i = 0; i < 3; i++) {
            int most = n[i], three = 3;
            lam_fn *g = FN_ENV(plain_three, 1, 1, &most), *h = FN_ENV(plain_three, 1, 1, &three);
            lam_fn *plain_kinds[] = {g, lam_grad(g, NULL), lam_grad(lam_grad(g, NULL), NULL)};
            lam_fn *three_kinds[] = {h, lam_grad(h, NULL), lam_grad(lam_grad(h, NULL), NULL)};
            int order = k < 3 ? k : k == 3 ? 1 : 2;
            want[i] = lam_item(apply1(plain_kinds[order], num(x[i])));
            other[i] = lam_item(apply1(three_kinds[order], num(x[i])));
        }
        EXPECT_NEAR(apply2(lam_vmap(kinds[k], NULL), values, counts), 1e-14, LAM_DIMS(3), want[0], want[1], want[2]);
        lam_vmap_options carry = {.in_axes = LAM_AXES(0, LAM_UNMAPPED)};
        EXPECT_NEAR(apply2(lam_vmap(kinds[k], &carry), values, lam_cast(num(3), LAM_I64)), 1e-14, LAM_DIMS(3), other[0],
                    other[1], other[2]);
        lam_vmap_options condition = {.in_axes = LAM_AXES(LAM_UNMAPPED, 0)};
        lam_tensor *alone = lam_index(apply2(lam_vmap(kinds[k], &condition), num(0.7), counts), 0, 0);
        EXPECT_NEAR(alone, 1e-14, LAM_DIMS0, want[0]);
    }
}
END_TEST

/* Only the body is batched: by what it captures, so the carry and then the condition become so. */
BODY(add_captured) {
    out[0] = lam_add(in[0], in[1]);
}

BODY(below_ten) {
    out[0] = lam_lt(in[0], 10.0);
}

static lam_fn *capturing(lam_body body, lam_tensor *by) {
    return lam_fn_new(
        ctx, &(lam_fn_options){.name = "capturing", .body = body, .inputs = 1, .outputs = 1, .captures = LAM_LIST(by)});
}

BODY(stepped) {
    out[0] = while1(FN(below_ten, 1, 1), capturing(add_captured, in[0]), lam_mul(0.0, num(1)));
}

BODY(below_captured) {
    out[0] = lam_lt(in[0], in[1]);
}

BODY(up_to) {
    out[0] = while1(capturing(below_captured, in[0]), FN(twice, 1, 1), num(1));
}

START_TEST(a_batched_body_and_a_batched_condition_by_captures) {
    lam_tensor *x = VEC(3, 4, 11, 1);
    EXPECT(apply1(lam_vmap(FN(stepped, 1, 1), NULL), x), LAM_DIMS(4), 12, 12, 11, 10);
    EXPECT(apply1(lam_vmap(lam_grad(FN(stepped, 1, 1), NULL), NULL), x), LAM_DIMS(4), 4, 3, 1, 10);
    EXPECT(apply1(lam_vmap(FN(up_to, 1, 1), NULL), VEC(3, 0, 17)), LAM_DIMS(3), 4, 1, 32);
}
END_TEST

BODY(add_env) {
    out[0] = lam_add(in[0], env);
}

BODY(stepped_undeclared) {
    out[0] = while1(FN(small, 1, 1), FN_ENV(add_env, 1, 1, in[0]), in[0]);
}

START_TEST(an_undeclared_capture_is_named) {
    EXPECT_NUM(apply1(FN(stepped_undeclared, 1, 1), num(30)), 120);
    apply1(lam_vmap(FN(stepped_undeclared, 1, 1), NULL), VEC(30, 60));
    EXPECT_ERROR(LAM_ERR_CAPTURED, "add_env", "declare it in the function's captures");
}
END_TEST

/* x from y on, where x is of another batch than y, so that the condition comes to depend on both. */
BODY(stepped_from) {
    out[0] = while1(FN(small, 1, 1), FN_ENV(add_env, 1, 1, in[0]), in[1]);
}

START_TEST(an_undeclared_capture_of_another_batch_is_named) {
    lam_fn *rows = lam_vmap(FN(stepped_from, 2, 1), &(lam_vmap_options){.in_axes = LAM_AXES(LAM_UNMAPPED, 0)}),
           *table = lam_vmap(rows, &(lam_vmap_options){.in_axes = LAM_AXES(0, LAM_UNMAPPED)});
    apply2(table, VEC(30, 60), VEC(1, 2));
    EXPECT_ERROR(LAM_ERR_CAPTURED, "while", "'small'", "did not come in as an operand", "captures");
}
END_TEST

/* A loop within a loop: x doubled until 10, three times, halved twice in between. */
BODY(quarter) {
    out[0] = lam_mul(0.25, while1(FN(below_ten, 1, 1), FN(twice, 1, 1), in[0]));
    out[1] = lam_add(in[1], 1);
}

BODY(fewer_than_three) {
    out[0] = lam_lt(in[1], 3);
}

BODY(nested) {
    lam_tensor *y[2];
    lam_while(FN(fewer_than_three, 2, 1), FN(quarter, 2, 2), LAM_LIST(in[0], lam_cast(num(0), LAM_I64)), y, 2);
    out[0] = y[0];
}

BODY(big_enough) {
    out[0] = lam_lt(lam_mul(in[0], in[0]), 16.0);
}

/* Doubled until it is 3 or more, then 1 more: until its square is 16 or more. */
BODY(below_three) {
    out[0] = lam_lt(in[0], 3.0);
}

BODY(stepped_once) {
    out[0] = lam_add(while1(FN(below_three, 1, 1), FN(twice, 1, 1), in[0]), 1.0);
}

BODY(nested_batched) {
    out[0] = while1(FN(big_enough, 1, 1), FN(stepped_once, 1, 1), in[0]);
}

START_TEST(loops_within_loops) {
    lam_tensor *x = VEC(3, 7, 100);
    EXPECT(apply1(lam_vmap(FN(nested, 1, 1), NULL), x), LAM_DIMS(3), 3, 3.5, 3.125);
    EXPECT(apply1(lam_vmap(lam_grad(FN(nested, 1, 1), NULL), NULL), x), LAM_DIMS(3), 1, 0.5, 1.0 / 32);
    EXPECT(apply1(lam_vmap(FN(nested_batched, 1, 1), NULL), VEC(1, 4, 3.5)), LAM_DIMS(3), 5, 4, 4.5);
    EXPECT(apply1(lam_vmap(lam_grad(FN(nested_batched, 1, 1), NULL), NULL), VEC(1, 4, 3.5)), LAM_DIMS(3), 4, 1, 1);
}
END_TEST

/* Two batches, of which one decides: the other goes along. */
BODY(raise) {
    out[0] = lam_mul(in[0], in[1]);
    out[1] = in[1];
    out[2] = lam_sub(in[2], 1);
}

BODY(left) {
    out[0] = lam_gt(in[2], 0);
}

BODY(power) {
    lam_tensor *y[3], *one = lam_ones(ctx, LAM_F64, LAM_DIMS0);
    lam_while(FN(left, 3, 1), FN(raise, 3, 3), LAM_LIST(one, in[0], in[1]), y, 3);
    out[0] = y[0];
}

START_TEST(two_batches) {
    lam_tensor *x = VEC(2, 3), *n = lam_array(ctx, LAM_I64, LAM_DIMS(3), (int64_t[]){0, 1, 4});
    lam_vmap_options by_x = {.in_axes = LAM_AXES(0, LAM_UNMAPPED)}, by_n = {.in_axes = LAM_AXES(LAM_UNMAPPED, 0)};
    lam_fn *f = FN(power, 2, 1), *g = lam_grad(f, NULL);
    EXPECT(apply2(lam_vmap(lam_vmap(f, &by_n), &by_x), x, n), LAM_DIMS(2, 3), 1, 2, 16, 1, 3, 81);
    EXPECT(apply2(lam_vmap(lam_vmap(f, &by_x), &by_n), x, n), LAM_DIMS(3, 2), 1, 1, 2, 3, 16, 81);
    EXPECT(apply2(lam_vmap(lam_vmap(g, &by_n), &by_x), x, n), LAM_DIMS(2, 3), 0, 1, 32, 0, 1, 108);
    EXPECT(apply2(lam_vmap(lam_vmap(g, &by_x), &by_n), x, n), LAM_DIMS(3, 2), 0, 0, 1, 1, 32, 108);
    lam_fn *j = lam_jacfwd(lam_vmap(f, &by_n), NULL);
    EXPECT(apply2(lam_vmap(j, &by_x), x, n), LAM_DIMS(2, 3), 0, 1, 32, 0, 1, 108);
}
END_TEST

/* A tangent that is zero at first and grows: y' = y x, from 1, by x. */
START_TEST(a_carry_without_a_tangent_gets_one_on_the_way) {
    lam_tensor *y, *dy, *n = lam_cast(num(4), LAM_I64);
    lam_grad_options by_x = {.argnums = LAM_AXES(0)};
    lam_jvp(FN(power, 2, 1), LAM_LIST(num(2), n), LAM_LIST(num(1)), &y, &dy, 1, &by_x);
    EXPECT_NUM(y, 16);
    EXPECT_NUM(dy, 32);
    lam_fn *linear;
    lam_linearize(FN(power, 2, 1), LAM_LIST(num(2), n), &y, 1, &linear, NULL);
    EXPECT_NUM(apply1(linear, num(0.5)), 16);
}
END_TEST

START_TEST(a_while_in_a_checkpoint) {
    lam_tensor *x = VEC(3, 500, -60);
    lam_fn *f = lam_checkpoint(FN(doubled, 1, 1), NULL);
    EXPECT(apply1(lam_vmap(lam_grad(f, NULL), NULL), x), LAM_DIMS(3), 64, 1, 2);
}
END_TEST

/* (step, limit): from 0 by steps up to the limit; each function has a capture of its own. */
BODY(stepped_to) {
    lam_tensor *zero = lam_zeros(ctx, LAM_F64, LAM_DIMS0);
    out[0] = while1(capturing(below_captured, in[1]), capturing(add_captured, in[0]), zero);
}

START_TEST(both_functions_capture) {
    lam_tensor *steps = VEC(3, 4, 1), *limits = VEC(10, 5, 2.5);
    for (int jitted = 0; jitted < 2; jitted++) {
        lam_fn *f = lam_vmap(FN(stepped_to, 2, 1), NULL), *g = lam_vmap(lam_grad(FN(stepped_to, 2, 1), NULL), NULL);
        EXPECT(apply2(jitted ? lam_jit(f, NULL) : f, steps, limits), LAM_DIMS(3), 12, 8, 3);
        EXPECT(apply2(jitted ? lam_jit(g, NULL) : g, steps, limits), LAM_DIMS(3), 4, 2, 3);
        lam_fn *one = FN(stepped_to, 2, 1);
        EXPECT_NUM(apply2(jitted ? lam_jit(one, NULL) : one, num(3), num(10)), 12);
    }
}
END_TEST

/* The condition belongs to the outer batch until the first step of the inner one. */
START_TEST(a_condition_that_comes_to_belong_to_another_batch) {
    lam_vmap_options by_step = {.in_axes = LAM_AXES(0, LAM_UNMAPPED)};
    lam_vmap_options by_limit = {.in_axes = LAM_AXES(LAM_UNMAPPED, 0)};
    lam_fn *f = FN(stepped_to, 2, 1), *fns[] = {f, lam_grad(f, NULL)};
    double want[2][6] = {{12, 12, 6, 8, 3, 4}, {4, 3, 2, 2, 1, 1}};
    for (int k = 0; k < 2; k++) {
        lam_tensor *y = apply2(lam_vmap(lam_vmap(fns[k], &by_step), &by_limit), VEC(3, 4), VEC(10, 5, 2.5));
        EXPECT_SAME(y, lam_array(ctx, LAM_F64, LAM_DIMS(3, 2), want[k]), 0);
    }
}
END_TEST

/* The number of trips is known when the program is run. */
START_TEST(jitted_loops) {
    lam_tensor *x = VEC(3, 500, -60, 99, 1), *n = lam_cast(num(4), LAM_I64);
    lam_fn *f = lam_jit(FN(doubled, 1, 1), NULL), *g = lam_jit(lam_grad(FN(doubled, 1, 1), NULL), NULL);
    EXPECT_NUM(apply1(f, num(3)), 192);
    EXPECT_NUM(apply1(f, num(500)), 500);
    EXPECT_NUM(apply1(g, num(3)), 64);
    EXPECT_NUM(apply1(g, num(60)), 2);
    ck_assert_int_eq(lam_jit_report_of(f).recorded, 1);
    ck_assert_int_eq(lam_jit_report_of(g).recorded, 1);
    lam_fn *each = lam_jit(lam_vmap(lam_grad(FN(doubled, 1, 1), NULL), NULL), NULL);
    EXPECT(apply1(each, x), LAM_DIMS(5), 64, 1, 2, 2, 128);
    lam_fn *forwards = lam_jit(lam_vmap(lam_jacfwd(FN(doubled, 1, 1), NULL), NULL), NULL);
    EXPECT(apply1(forwards, x), LAM_DIMS(5), 64, 1, 2, 2, 128);
    EXPECT_NUM(apply2(lam_jit(lam_hessian(FN(power, 2, 1), NULL), NULL), num(3), n), 108);
    lam_fn *by_capture = lam_jit(lam_vmap(lam_grad(FN(stepped, 1, 1), NULL), NULL), NULL);
    EXPECT(apply1(by_capture, VEC(3, 4, 11, 1)), LAM_DIMS(4), 4, 3, 1, 10);
}
END_TEST

BODY(distance) {
    out[0] = env ? lam_cast(lam_sub(in[1], in[0]), LAM_F32) : lam_sub(in[1], in[0]);
}

BODY(nearer) {
    out[0] = lam_add(in[0], 1.0);
    out[1] = in[1];
}

BODY(by_numbers) {
    lam_tensor *y[2];
    lam_while(FN_ENV(distance, 2, 1, env), FN(nearer, 2, 2), LAM_LIST(in[0], in[1]), y, 2);
    out[0] = lam_mul(y[0], in[0]);
}

/* A condition may be a number of any dtype. */
START_TEST(jitted_loops_by_numbers) {
    static bool narrow;
    for (int k = 0; k < 2; k++) {
        lam_fn *f = lam_jit(k ? FN_ENV(by_numbers, 2, 1, &narrow) : FN(by_numbers, 2, 1), NULL);
        EXPECT_NUM(apply2(f, num(2), num(5)), 10);
        EXPECT_NUM(apply2(f, num(5), num(5)), 25);
        ck_assert_int_eq(lam_jit_report_of(f).recorded, 1);
    }
    lam_program *p = lam_program_read(ctx, "program f(v0: i64[], v1: f64[3]) {\n"
                                           " v2: i64[], v3: f64[3] = while(v0, v1) carries=2 {\n"
                                           "  program c(v0: i64[], v1: f64[3]) {\n   v2: bool[] = gt(v0, 0:i64)\n"
                                           "   return v2\n  }\n"
                                           "  program b(v0: i64[], v1: f64[3]) {\n   v2: i64[] = sub(v0, 1:i64)\n"
                                           "   v3: f64[3] = sqrt(v1)\n   return v2, v3\n  }\n }\n return v3\n}\n");
    EXPECT(lam_apply(p, LAM_LIST(lam_cast(num(2), LAM_I64), VEC(16, 1, 81))), LAM_DIMS(3), 2, 1, 3);
    EXPECT(lam_apply(lam_jit(p, NULL), LAM_LIST(lam_cast(num(2), LAM_I64), VEC(16, 1, 81))), LAM_DIMS(3), 2, 1, 3);
}
END_TEST

/* ---- fori -------------------------------------------------------------------------------------------------------- */

/* s + i x. */
BODY(add_multiple) {
    out[0] = lam_add(in[1], lam_mul(lam_cast(in[0], LAM_F64), in[2]));
    out[1] = in[2];
}

BODY(multiples) {
    const int64_t *bounds = env;
    lam_tensor *y[2];
    lam_fori(bounds[0], bounds[1], FN(add_multiple, 3, 2), LAM_LIST(in[1], in[0]), y, 2);
    out[0] = y[0];
}

START_TEST(fori_counts_from_lower_to_below_upper) {
    int64_t bounds[] = {2, 5}, none[] = {5, 5}, backwards[] = {5, 2}, negative[] = {-2, 1};
    lam_fn *f = FN_ENV(multiples, 2, 1, bounds);
    EXPECT_NUM(apply2(f, num(10), num(1)), 91);
    EXPECT_NUM(apply2(lam_grad(f, NULL), num(10), num(1)), 9);
    EXPECT(apply2(lam_vmap(lam_grad(f, NULL), NULL), VEC(1, 2), VEC(1, 2)), LAM_DIMS(2), 9, 9);
    EXPECT_NUM(apply2(FN_ENV(multiples, 2, 1, negative), num(10), num(1)), -29);
    EXPECT_NUM(apply2(FN_ENV(multiples, 2, 1, none), num(10), num(1)), 1);
    EXPECT_NUM(apply2(lam_grad(FN_ENV(multiples, 2, 1, none), NULL), num(10), num(1)), 0);
    EXPECT_NUM(apply2(FN_ENV(multiples, 2, 1, backwards), num(10), num(1)), 1);
}
END_TEST

/* ---- memory ------------------------------------------------------------------------------------------------------ */

BODY(decay) {
    out[0] = lam_mul(0.5, in[1]);
}

START_TEST(a_long_loop_runs_in_constant_memory) {
    lam_tensor *x = lam_ones(ctx, LAM_F64, LAM_DIMS(1000)), *y;
    lam_fori(0, 3, FN(decay, 2, 1), LAM_LIST(x), &y, 1);
    size_t before = lam_ctx_peak_bytes(ctx);
    lam_fori(0, 3000, FN(decay, 2, 1), LAM_LIST(x), &y, 1);
    ck_assert_uint_le(lam_ctx_peak_bytes(ctx), before + 40000);
}
END_TEST

/* ---- refusals ---------------------------------------------------------------------------------------------------- */

BODY(changes) {
    out[0] = lam_stack(LAM_LIST(in[0], in[0]), 0);
    out[1] = in[1];
    out[2] = lam_cast(in[2], LAM_F32);
}

BODY(always) {
    out[0] = lam_lt(in[0], lam_add(in[0], 1.0));
}

BODY(while_changes) {
    lam_while(FN(always, 3, 1), FN(changes, 3, 3), LAM_LIST(in[0], in[0], in[0]), out, 3);
}

START_TEST(a_body_that_changes_types_is_refused_with_a_list) {
    lam_tensor *x = num(1), *y[3];
    lam_while(FN(always, 3, 1), FN(changes, 3, 3), LAM_LIST(x, x, x), y, 3);
    ck_assert(lam_failed(y[1]));
    EXPECT_ERROR(LAM_ERR_DTYPE, "while: 'changes'", "carry 0 is f64[] and becomes f64[2]",
                 "carry 2 is f64[] and becomes f32[]");
    lam_call(lam_jit(FN(while_changes, 1, 3), NULL), LAM_LIST(x), y, 3);
    EXPECT_ERROR(LAM_ERR_DTYPE, "carry 0 is f64[] and becomes f64[2]", "carry 2 is f64[] and becomes f32[]");
    lam_call(lam_vmap(FN(while_changes, 1, 3), NULL), LAM_LIST(VEC(1, 2)), y, 3);
    EXPECT_ERROR(LAM_ERR_DTYPE, "carry 0 is f64[] and becomes f64[2]", "carry 2 is f64[] and becomes f32[]");
}
END_TEST

BODY(vector_condition) {
    out[0] = lam_lt(lam_stack(LAM_LIST(in[0], in[0]), 0), 3.0);
}

BODY(while_vector) {
    out[0] = while1(FN(vector_condition, 1, 1), FN(twice, 1, 1), in[0]);
}

START_TEST(refusals_of_while_and_fori) {
    lam_tensor *x = num(1), *y[2];
    while1(FN(vector_condition, 1, 1), FN(twice, 1, 1), x);
    EXPECT_ERROR(LAM_ERR_SHAPE, "while", "'vector_condition'", "bool[2]");
    apply1(lam_vmap(FN(while_vector, 1, 1), NULL), VEC(1, 2));
    EXPECT_ERROR(LAM_ERR_SHAPE, "while", "'vector_condition'");
    lam_while(FN(small, 1, 1), FN(twice, 1, 1), LAM_LIST(x, x), y, 2);
    EXPECT_ERROR(LAM_ERR_ARITY, "while", "'small'");
    lam_while(FN(small, 1, 1), FN(twice, 1, 1), LAM_LIST(x), y, 2);
    EXPECT_ERROR(LAM_ERR_ARITY, "while", "'twice'");
    lam_while(FN(small, 1, 1), FN(twice, 1, 1), LAM_LIST(NULL), y, 1);
    EXPECT_ERROR(LAM_ERR_NULL, "carries");
    lam_fori(0, 3, FN(twice, 1, 1), LAM_LIST(x), y, 1);
    EXPECT_ERROR(LAM_ERR_ARITY, "fori", "'twice'");
    lam_fori(0, 3, NULL, LAM_LIST(x), y, 1);
    EXPECT_ERROR(LAM_ERR_NULL, "fori");
}
END_TEST

Suite *suite_transforms_loops(void) {
    return SUITE_OF("transforms/loops", while_goes_on_as_long_as_the_condition_holds, derivatives_of_a_while,
                    a_batched_while_ends_for_each_example_when_its_own_condition_says_so,
                    examples_that_have_ended_take_part_no_longer, several_carries_at_every_level,
                    a_batched_body_and_a_batched_condition_by_captures, an_undeclared_capture_is_named,
                    an_undeclared_capture_of_another_batch_is_named, loops_within_loops, two_batches,
                    a_carry_without_a_tangent_gets_one_on_the_way, a_while_in_a_checkpoint, both_functions_capture,
                    a_condition_that_comes_to_belong_to_another_batch, jitted_loops, jitted_loops_by_numbers,
                    fori_counts_from_lower_to_below_upper, a_long_loop_runs_in_constant_memory,
                    a_body_that_changes_types_is_refused_with_a_list, refusals_of_while_and_fori);
}
