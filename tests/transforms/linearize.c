/* linearize and linear_transpose. Expected values are worked out by hand; work is counted with the probe. */
#include "tests/dispatch/probe.h"
#include "tests/support.h"

#include <lamina/control.h>
#include <lamina/program.h>
#include <math.h>

BODY(sine_of_product) {
    out[0] = lam_sin(probe(lam_mul(in[0], in[1])));
    out[1] = lam_add(in[0], in[1]);
}

START_TEST(linearize_equals_jvp_and_is_reusable) {
    lam_fn *f = FN(sine_of_product, 2, 2), *linear;
    lam_list at = LAM_LIST(num(2), num(3));
    lam_tensor *y[2], *z[2], *dy[2], *dz[2];
    ck_assert_int_eq(lam_linearize(f, at, y, 2, &linear, NULL), LAM_OK);
    EXPECT_NEAR(y[0], 1e-15, LAM_DIMS0, sin(6));
    EXPECT_NUM(y[1], 5);
    for (int i = 0; i < 3; i++) {
        lam_list tangents = LAM_LIST(num(i), i == 2 ? NULL : num(10));
        lam_jvp(f, at, tangents, z, dz, 2, NULL);
        lam_call(linear, tangents, dy, 2);
        EXPECT_SAME(dy[0], dz[0], 1e-15);
        EXPECT_SAME(dy[1], dz[1], 0);
    }
}
END_TEST

/* The linear function runs the probe on tangents only: once, not once more for the primal. */
START_TEST(the_primal_is_not_computed_again) {
    lam_tensor *y[2], *dy[2];
    lam_fn *linear;
    probed = (probe_counts){0};
    lam_linearize(FN(sine_of_product, 2, 2), LAM_LIST(num(2), num(3)), y, 2, &linear, NULL);
    ck_assert_int_eq(probed.eval, 1);
    lam_call(linear, LAM_LIST(num(1), num(1)), dy, 2);
    lam_call(linear, LAM_LIST(num(1), num(1)), dy, 2);
    ck_assert_int_eq(probed.eval, 3);
    EXPECT_NEAR(dy[0], 1e-15, LAM_DIMS0, 5 * cos(6));
}
END_TEST

START_TEST(inconsistent_tangents_are_refused) {
    lam_tensor *y[2], *dy[2];
    lam_fn *linear;
    lam_linearize(FN(sine_of_product, 2, 2), LAM_LIST(VEC(1, 2), VEC(3, 4)), y, 2, &linear, NULL);
    lam_call(linear, LAM_LIST(VEC(1, 2), VEC(1, 2, 3)), dy, 2);
    EXPECT_ERROR(LAM_ERR_SHAPE, "tangent 1", "f64[3]", "f64[2]", "sine_of_product");
    lam_call(linear, LAM_LIST(lam_ones(ctx, LAM_F32, LAM_DIMS(2)), NULL), dy, 2);
    EXPECT_ERROR(LAM_ERR_DTYPE, "f32[2]", "f64[2]");
    lam_call(linear, LAM_LIST(VEC(1, 2)), dy, 2);
    EXPECT_STATUS(LAM_ERR_ARITY);
}
END_TEST

BODY(square) {
    out[0] = lam_square(in[0]);
}

BODY(linear_at_env) {
    lam_tensor *y;
    lam_fn *linear;
    lam_linearize(FN(square, 1, 1), LAM_LIST(in[0]), &y, 1, &linear, NULL);
    out[0] = lam_sum(apply1(linear, lam_ones_like(in[0])), NULL);
}

/* The linear function at x is dx -> 2 x dx; of the sum of 2 x the gradient is 2. */
START_TEST(linearize_composes_with_vmap_and_grad) {
    lam_tensor *y;
    lam_fn *linear;
    lam_linearize(FN(square, 1, 1), LAM_LIST(VEC(2, 3)), &y, 1, &linear, NULL);
    EXPECT(apply1(lam_vmap(linear, NULL), MAT(2, 2, 1, 0, 0, 1)), LAM_DIMS(2, 2), 4, 0, 0, 6);
    EXPECT(apply1(lam_grad(FN(linear_at_env, 1, 1), NULL), VEC(5, 6)), LAM_DIMS(2), 2, 2);
    EXPECT(apply1(lam_vmap(FN(linear_at_env, 1, 1), NULL), MAT(2, 2, 1, 2, 3, 4)), LAM_DIMS(2), 6, 14);
}
END_TEST

/* ---- linear_transpose -------------------------------------------------------------------------------------------- */

BODY(weighted_sum) {
    out[0] = lam_sum(lam_mul(VEC(1, 10), lam_add(in[0], lam_mul(3.0, in[1]))), NULL);
}

START_TEST(transpose_of_a_linear_function) {
    lam_tensor *gx[2], *type = lam_zeros(ctx, LAM_F64, LAM_DIMS(2));
    lam_fn *t = lam_linear_transpose(FN(weighted_sum, 2, 1), LAM_LIST(type, type));
    lam_call(t, LAM_LIST(num(2)), gx, 2);
    EXPECT(gx[0], LAM_DIMS(2), 2, 20);
    EXPECT(gx[1], LAM_DIMS(2), 6, 60);
}
END_TEST

/* Places 2, 0 and 2 of x times 3, 5 and 7. */
BODY(scaled_at_places) {
    lam_tensor *at = lam_array(ctx, LAM_I64, LAM_DIMS(3), (int64_t[]){2, 0, 2});
    out[0] = lam_scatter_mul(in[0], at, VEC(3, 5, 7), 0, LAM_INDEX_ERROR);
}

BODY(scaled_by_itself) {
    lam_tensor *at = lam_array(ctx, LAM_I64, LAM_DIMS(1), (int64_t[]){0});
    out[0] = lam_scatter_mul(VEC(1, 2), at, in[0], 0, LAM_INDEX_ERROR);
}

BODY(transposed_at_places) {
    lam_fn *f = FN(scaled_at_places, 1, 1);
    out[0] = apply1(lam_linear_transpose(f, LAM_LIST(lam_zeros(ctx, LAM_F64, LAM_DIMS(3)))), in[0]);
}

/* A diagonal of 5, 1 and 21, which is its own transpose. By updates it is not linear: other places stay. */
START_TEST(products_at_places_are_linear_in_what_they_scale) {
    lam_fn *t = FN(transposed_at_places, 1, 1);
    EXPECT(apply1(t, VEC(1, 2, 3)), LAM_DIMS(3), 5, 2, 63);
    EXPECT(apply1(lam_vmap(t, NULL), MAT(2, 3, 1, 2, 3, 0, 1, -1)), LAM_DIMS(2, 3), 5, 2, 63, 0, 1, -21);
    EXPECT(apply1(lam_trace(t, LAM_LIST(VEC(0, 0, 0))), VEC(1, 2, 3)), LAM_DIMS(3), 5, 2, 63);
    ck_assert(lam_failed(lam_linear_transpose(FN(scaled_by_itself, 1, 1), LAM_LIST(VEC(0)))));
    EXPECT_ERROR(LAM_ERR_LINEAR, "scaled_by_itself", "scatter_mul");
}
END_TEST

BODY(ignores_and_wastes) {
    lam_exp(in[0]);
    out[0] = lam_mul(2.0, in[0]);
}

START_TEST(dead_code_is_ignored_and_unused_inputs_give_zero) {
    lam_tensor *gx[2];
    lam_fn *t = lam_linear_transpose(FN(ignores_and_wastes, 2, 1), LAM_LIST(num(0), VEC(0, 0)));
    lam_call(t, LAM_LIST(num(5)), gx, 2);
    EXPECT_NUM(gx[0], 10);
    EXPECT(gx[1], LAM_DIMS(2), 0, 0);
}
END_TEST

START_TEST(what_is_not_linear_is_named) {
    ck_assert(lam_failed(lam_linear_transpose(FN(square, 1, 1), LAM_LIST(num(0)))));
    EXPECT_ERROR(LAM_ERR_LINEAR, "square");
    lam_tensor *integers = lam_zeros(ctx, LAM_I32, LAM_DIMS0);
    ck_assert(lam_failed(lam_linear_transpose(FN(ignores_and_wastes, 2, 1), LAM_LIST(integers, num(0)))));
    EXPECT_ERROR(LAM_ERR_DTYPE, "i32");
}
END_TEST

BODY(there_and_back) {
    out[0] = lam_cast(lam_cast(in[0], LAM_I64), LAM_F64);
}

BODY(doubled_and_rounded) {
    out[0] = lam_mul(2.0, in[0]);
    out[1] = lam_cast(in[0], LAM_I32);
}

BODY(narrowed) {
    out[0] = lam_cast(in[0], LAM_F32);
}

static void forward_same(lam_fctx *fc, lam_tensor *const in[], lam_tensor *out[]) {
    (void)fc;
    out[0] = lam_mul(1.0, in[0]);
}

static void jvp_rounded(lam_fctx *fc, lam_tensor *const dx[], lam_tensor *dy[]) {
    there_and_back(lam_fctx_ctx(fc), dx, dy, NULL);
}

/* Integers are rounded numbers: 0.5 + 0.5 is 1, and its halves are 0. Between floating dtypes a cast is linear. */
START_TEST(a_cast_to_integers_is_not_linear) {
    lam_linear_transpose(FN(there_and_back, 1, 1), LAM_LIST(VEC(1.5, 2.5)));
    EXPECT_ERROR(LAM_ERR_LINEAR, "'there_and_back' is not linear", "cast");
    lam_linear_transpose(FN(doubled_and_rounded, 1, 2), LAM_LIST(num(1.5)));
    EXPECT_ERROR(LAM_ERR_LINEAR, "'doubled_and_rounded' is not linear", "cast");
    static const lam_function rounding = {
        .name = "rounding", .inputs = 1, .outputs = 1, .forward = forward_same, .jvp = jvp_rounded};
    ck_assert(lam_failed(apply1(lam_grad(lam_function_fn(ctx, &rounding, NULL, 1, 1), NULL), num(1.5))));
    EXPECT_ERROR(LAM_ERR_LINEAR, "cast");
    lam_fn *back = lam_linear_transpose(FN(narrowed, 1, 1), LAM_LIST(num(0)));
    EXPECT_NUM(apply1(back, lam_cast(num(3), LAM_F32)), 3);
}
END_TEST

BODY(bent) {
    out[0] = lam_mul(lam_sin(in[0]), in[1]);
}

BODY(each_bent) {
    out[0] = lam_mul(lam_sin(in[0]), in[1]);
    out[1] = lam_sum(out[0], NULL);
}

BODY(is_low) {
    out[0] = lam_lt(lam_sum(in[0], NULL), 4.0);
}

BODY(raised) {
    out[0] = lam_add(in[0], lam_exp(in[1]));
    out[1] = in[1];
}

/* A loop that stays one, one that ends when it wants, a choice. */
BODY(with_loops) {
    lam_tensor *y[2], *z[2], *w;
    lam_scan(FN(each_bent, 2, 2), LAM_LIST(in[0]), LAM_LIST(lam_broadcast_to(in[1], LAM_DIMS(70, 3))), y, 2, NULL);
    lam_while(FN(is_low, 2, 1), FN(raised, 2, 2), LAM_LIST(y[0], in[1]), z, 2);
    lam_cond(lam_gt(lam_sum(z[0], NULL), 5.0), FN(bent, 2, 1), FN(bent, 2, 1), LAM_LIST(z[0], in[1]), &w, 1);
    out[0] = lam_add(lam_sum(lam_mul(w, in[0]), NULL), lam_sum(y[1], NULL));
}

/* Where it is known what is chosen and how often, linear programs have what is done then. */
START_TEST(programs_with_loops_are_linearized) {
    lam_tensor *x = VEC(0.3, -0.7, 1.1), *y = VEC(1.4, 0.9, 1.1), *dx = VEC(1, 2, -3), *dy = VEC(-1, 0.5, 2);
    lam_fn *f = FN(with_loops, 2, 1), *fs[] = {f, lam_trace(f, LAM_LIST(x, y))};
    lam_tensor *primal, *along, *want[2], *got[2];
    ck_assert_int_eq(lam_jvp(f, LAM_LIST(x, y), LAM_LIST(dx, dy), &primal, &along, 1, NULL), LAM_OK);
    const lam_grad_options both = {.argnums = LAM_AXES(0, 1)};
    ck_assert_int_eq(lam_call(lam_grad(f, &both), LAM_LIST(x, y), want, 2), LAM_OK);
    for (int k = 0; k < 2; k++) {
        lam_tensor *value;
        lam_fn *linear;
        ck_assert_int_eq(lam_linearize(fs[k], LAM_LIST(x, y), &value, 1, &linear, NULL), LAM_OK);
        EXPECT_SAME(value, primal, 1e-14);
        EXPECT_SAME(apply2(linear, dx, dy), along, 1e-13);
        lam_fn *back = lam_linear_transpose(linear, LAM_LIST(x, y));
        ck_assert_int_eq(lam_call(back, LAM_LIST(num(1)), got, 2), LAM_OK);
        for (int i = 0; i < 2; i++) EXPECT_SAME(got[i], want[i], 1e-13);
    }
    lam_linear_transpose(fs[1], LAM_LIST(x, y));
    EXPECT_ERROR(LAM_ERR_LINEAR, "is not linear");
}
END_TEST

/* ---- choices and loops that nobody can look at yet --------------------------------------------------------------- */

enum { MANY = 80 };

BODY(tripled) {
    out[0] = lam_mul(3.0, in[0]);
}

BODY(nothing) {
    out[0] = lam_zeros_like(in[0]);
}

BODY(one_more) {
    out[0] = lam_add(in[0], 1.0);
}

BODY(always_one) {
    out[0] = lam_ones_like(in[0]);
}

/* carry, way, x */
BODY(added_up) {
    out[0] = lam_add(in[0], in[2]);
    out[1] = in[1];
    out[2] = lam_mul(in[1], in[2]);
}

BODY(multiplied) {
    out[0] = lam_mul(in[0], in[2]);
    out[1] = in[1];
    out[2] = in[2];
}

BODY(grown) {
    out[0] = lam_mul(1.5, in[0]);
    out[1] = lam_add(in[1], 1.0);
}

BODY(few_trips) {
    out[0] = lam_lt(in[1], 4.0);
}

BODY(while_small) {
    out[0] = lam_lt(lam_add(in[0], in[1]), 100.0);
}

/* Of x = in[0], which is linear or not; in[1] says which way to go. */
static lam_tensor *choice(lam_tensor *const in[], lam_body yes, lam_body no) {
    lam_tensor *y = NULL;
    lam_cond(lam_gt(in[1], 0.0), FN(yes, 1, 1), FN(no, 1, 1), LAM_LIST(in[0]), &y, 1);
    return y;
}

static lam_tensor *trips(lam_tensor *first, lam_tensor *const in[], lam_body each) {
    lam_tensor *y[3] = {NULL};
    lam_scan(FN(each, 3, 3), LAM_LIST(first, in[1]), LAM_LIST(lam_broadcast_to(in[0], LAM_DIMS(MANY))), y, 3, NULL);
    return lam_add(y[0], lam_sum(y[2], NULL));
}

static lam_tensor *until(lam_tensor *const in[], lam_body condition) {
    lam_tensor *y[2] = {NULL};
    lam_while(FN(condition, 2, 1), FN(grown, 2, 2), LAM_LIST(in[0], in[1]), y, 2);
    return y[0];
}

BODY(chosen) {
    out[0] = choice(in, tripled, nothing);
}

BODY(chosen_with_more) {
    out[0] = choice(in, tripled, one_more);
}

BODY(chosen_or_one) {
    out[0] = choice(in, tripled, always_one);
}

BODY(scanned) {
    out[0] = trips(num(0), in, added_up);
}

BODY(scanned_from_one) {
    out[0] = trips(num(1), in, added_up);
}

BODY(scanned_products) {
    out[0] = trips(in[0], in, multiplied);
}

BODY(ended_by_the_way) {
    out[0] = until(in, few_trips);
}

BODY(ended_by_itself) {
    out[0] = until(in, while_small);
}

typedef struct of_both {
    lam_body body;
    lam_tensor *way;
} of_both;

BODY(of_x) {
    const of_both *b = env;
    lam_tensor *both[] = {in[0], b->way};
    b->body(ctx, both, out, NULL);
}

/* The transpose by x of what env is, of 1. */
BODY(transposed_by_x) {
    of_both b = {*(lam_body *)env, in[1]};
    out[0] = apply1(lam_linear_transpose(FN_ENV(of_x, 1, 1, &b), LAM_LIST(in[0])), num(1));
}

/* Values at ways of 1 and -1 are slopes, worked out by hand; why the others are refused. */
START_TEST(what_is_chosen_later_is_transposed) {
    static const struct {
        lam_body body;
        double slopes[2];
        const char *refused;
    } of[] = {{chosen, {3, 0}, NULL},
              {chosen_with_more, {0, 0}, "add adds a constant"},
              {chosen_or_one, {0, 0}, "switch gives a constant"},
              {scanned, {2 * MANY, 0}, NULL},
              {scanned_from_one, {0, 0}, "scan begins with a constant"},
              {scanned_products, {0, 0}, "multiplies two operands"},
              {ended_by_the_way, {3.375, 7.59375}, NULL},
              {ended_by_itself, {0, 0}, "while ends by"}};
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        lam_body body = of[k].body;
        lam_program *p = lam_trace(FN_ENV(transposed_by_x, 2, 1, &body), LAM_LIST(num(0), num(0)));
        if (of[k].refused) {
            EXPECT_ERROR(LAM_ERR_LINEAR, "is not linear", of[k].refused);
            continue;
        }
        for (int w = 0; w < 2; w++) EXPECT_NUM(apply2(p, num(0.7), num(w ? -1 : 1)), of[k].slopes[w]);
    }
}
END_TEST

/* ---- tangents that are left out ---------------------------------------------------------------------------------- */

/* Of three numbers, each term of which has a slope by one of them that is infinite or none at (-2, 3, 0). */
BODY(steep_powers) {
    lam_tensor *power = lam_pow(in[0], in[1]), *root = lam_sqrt(in[2]);
    lam_tensor *both = lam_stack(LAM_LIST(power, lam_mul(root, in[0]), lam_add(root, in[1])), 0);
    out[0] = lam_mul(both, lam_where(lam_gt(in[1], 0.0), VEC(1, 2, 3), lam_pow(in[0], in[1])));
    out[1] = lam_square(in[2]);
}

BODY(power_alone) {
    out[0] = lam_pow(in[0], in[1]);
}

BODY(trip_of_parts) {
    out[0] = lam_add(lam_mul(in[1], 0.9), lam_sin(in[2]));
}

/* The sum of a loop, of matrices and of places, where nothing is steep. */
BODY(in_parts) {
    lam_tensor *w = MAT(2, 2, 1, 2, 3, 4), *x = lam_stack(LAM_LIST(in[0], in[1]), 0), *y, *z = lam_matvec(w, x);
    lam_fori(
        0, 5,
        lam_fn_new(ctx,
                   &(lam_fn_options){
                       .name = "trip", .body = trip_of_parts, .inputs = 2, .outputs = 1, .captures = LAM_LIST(in[2])}),
        LAM_LIST(in[0]), &y, 1);
    out[0] = lam_add(lam_sum(lam_mul(z, x), NULL), lam_mul(y, in[1]));
    out[1] = lam_at_add(z, LAM_AT(LAM_ELEMENT(1)), in[2]);
}

/* Of its gradient products are added to sums by fma, and what stands beside the first operand is the second. */
BODY(square_times_second) {
    out[0] = lam_add(lam_mul(lam_mul(in[0], in[0]), in[1]), lam_mul(in[0], in[2]));
}

static void check_absent(lam_fn *f, lam_list at) {
    lam_tensor *values[2], *unused[2], *tangents[2], *want[2], *in[3];
    lam_fn *linear;
    ck_assert_int_eq(lam_linearize(f, at, values, 2, &linear, NULL), LAM_OK);
    for (int there = 0; there < 8; there++) {
        for (int i = 0; i < 3; i++) in[i] = there >> i & 1 ? num(0.5 + i) : NULL;
        ck_assert_int_eq(lam_jvp(f, at, (lam_list){3, in}, unused, want, 2, NULL), LAM_OK);
        ck_assert_int_eq(lam_call(linear, (lam_list){3, in}, tangents, 2), LAM_OK);
        for (int o = 0; o < 2; o++) EXPECT_SAME(tangents[o], want[o], 1e-14);
    }
}

/* As in lam_jvp, what is left out takes no part: zero times an infinite slope would be no number. */
START_TEST(tangents_that_are_left_out_take_no_part) {
    check_absent(FN(steep_powers, 3, 2), LAM_LIST(num(-2), num(3), num(0)));
    check_absent(FN(in_parts, 3, 2), LAM_LIST(num(0.5), num(0.7), num(0.2)));
    const lam_grad_options two = {.argnums = LAM_AXES(0, 1)};
    check_absent(lam_grad(FN(square_times_second, 3, 1), &two), LAM_LIST(num(0.5), num(INFINITY), num(0.2)));
    lam_fn *f = FN(power_alone, 2, 1);
    const lam_jacobian_options both = {.argnums = LAM_AXES(0, 1)};
    lam_tensor *all[7], *blocks[4];
    ck_assert_int_eq(lam_call(lam_value_grad_and_hessian(f, &both), LAM_LIST(num(-2), num(3)), all, 7), LAM_OK);
    ck_assert_int_eq(lam_call(lam_hessian(f, &both), LAM_LIST(num(-2), num(3)), blocks, 4), LAM_OK);
    EXPECT_NUM(blocks[0], -12);
    for (int k = 0; k < 4; k++) EXPECT_SAME(all[3 + k], blocks[k], 1e-14);
}
END_TEST

static void leave_out(const void *env) {
    lam_tensor *values[2], *tangents[2];
    lam_fn *linear;
    (void)env;
    (void)lam_linearize(FN(in_parts, 3, 2), LAM_LIST(num(0.5), num(0.7), num(0.2)), values, 2, &linear, NULL);
    (void)lam_call(linear, LAM_LIST(num(1), NULL, num(2)), tangents, 2);
}

START_TEST(memory_refused_where_tangents_are_left_out) {
    memory_refused_in(leave_out, NULL);
}
END_TEST

Suite *suite_transforms_linearize(void) {
    return SUITE_OF("transforms/linearize", linearize_equals_jvp_and_is_reusable, the_primal_is_not_computed_again,
                    inconsistent_tangents_are_refused, linearize_composes_with_vmap_and_grad,
                    transpose_of_a_linear_function, products_at_places_are_linear_in_what_they_scale,
                    dead_code_is_ignored_and_unused_inputs_give_zero, what_is_not_linear_is_named,
                    a_cast_to_integers_is_not_linear, programs_with_loops_are_linearized,
                    what_is_chosen_later_is_transposed, tangents_that_are_left_out_take_no_part,
                    memory_refused_where_tangents_are_left_out);
}
