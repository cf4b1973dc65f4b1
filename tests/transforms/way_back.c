/* The way back along a tape: in which order nodes are visited, and how cotangents are added up, under further tapes and
 * other levels too. Expected values are derivatives of polynomials, worked out by hand. */
#include "tests/support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { STEPS = 100, ORDER = 3 };

static lam_fn *grad(lam_fn *f) {
    return lam_grad(f, NULL);
}

/* ---- many terms ------------------------------------------------------------------------------------------------- */

/* p <- p x - x, from p = x on: the cotangent of x has two terms per step, of both signs. */
BODY(steps) {
    lam_tensor *p = in[0];
    for (int i = 0; i < STEPS; i++) p = lam_sub(lam_mul(p, in[0]), in[0]);
    out[0] = p;
}

/* The derivatives of that, of order 0 to ORDER. */
static void derivatives(double x, double d[ORDER + 1]) {
    d[0] = x, d[1] = 1, d[2] = d[3] = 0;
    for (int i = 0; i < STEPS; i++) {
        d[3] = d[3] * x + 3 * d[2];
        d[2] = d[2] * x + 2 * d[1];
        d[1] = d[1] * x + d[0] - 1;
        d[0] = d[0] * x - x;
    }
}

START_TEST(sums_of_many_terms_have_derivatives_of_every_order) {
    double d[ORDER + 1], tolerance = 1e-12;
    derivatives(1.01, d);
    lam_fn *f = FN(steps, 1, 1);
    for (int order = 0; order <= ORDER; order++, f = grad(f))
        EXPECT_NEAR(apply1(f, num(1.01)), tolerance, LAM_DIMS0, d[order]);
}
END_TEST

START_TEST(sums_of_many_terms_pass_through_other_levels) {
    double a[ORDER + 1], b[ORDER + 1], tolerance = 1e-12;
    derivatives(1.01, a);
    derivatives(0.5, b);
    lam_tensor *out[2], *mapped;
    lam_fn *first = grad(FN(steps, 1, 1));
    lam_call(lam_jvp_fn(first, NULL), LAM_LIST(num(1.01), num(2)), out, 2);
    EXPECT_NEAR(out[0], tolerance, LAM_DIMS0, a[1]);
    EXPECT_NEAR(out[1], tolerance, LAM_DIMS0, 2 * a[2]);
    mapped = apply1(lam_vmap(first, NULL), VEC(1.01, 0.5));
    EXPECT_NEAR(mapped, tolerance, LAM_DIMS(2), a[1], b[1]);
    mapped = apply1(lam_vmap(grad(first), NULL), VEC(1.01, 0.5));
    EXPECT_NEAR(mapped, tolerance, LAM_DIMS(2), a[2], b[2]);
    lam_call(lam_jvp_fn(grad(first), NULL), LAM_LIST(num(1.01), num(2)), out, 2);
    EXPECT_NEAR(out[1], tolerance, LAM_DIMS0, 2 * a[3]);
}
END_TEST

/* 2 x + x^2 + 3 x: of its cotangents one is a variable of further levels, which stands between constants. */
BODY(constant_slopes) {
    lam_tensor *x = in[0];
    out[0] = lam_add(lam_add(lam_mul(2.0, x), lam_square(x)), lam_mul(3.0, x));
}

START_TEST(constants_and_variables_are_added_up) {
    lam_tensor *out[2];
    lam_fn *first = grad(FN(constant_slopes, 1, 1));
    EXPECT_NUM(apply1(grad(first), num(7)), 2);
    EXPECT_NUM(apply1(grad(grad(first)), num(7)), 0);
    lam_call(lam_jvp_fn(first, NULL), LAM_LIST(num(7), num(10)), out, 2);
    EXPECT_NUM(out[0], 19);
    EXPECT_NUM(out[1], 20);
    EXPECT(apply1(lam_vmap(first, NULL), VEC(7, 8)), LAM_DIMS(2), 19, 21);
}
END_TEST

/* ---- cotangents that others see ---------------------------------------------------------------------------------- */

BODY(same_twice) {
    out[0] = out[1] = in[0];
}

/* c times the pullback of same_twice on (c, c), which is 2 c^2. */
BODY(cotangent_used_again) {
    lam_tensor *values[2], *g, *c = in[0];
    lam_fn *pullback = NULL;
    lam_vjp(FN(same_twice, 1, 2), LAM_LIST(num(3)), values, 2, &pullback, NULL);
    lam_call(pullback, LAM_LIST(c, c), &g, 1);
    out[0] = lam_mul(g, c);
}

START_TEST(a_cotangent_that_is_used_again_keeps_its_value) {
    lam_fn *f = FN(cotangent_used_again, 1, 1);
    EXPECT_NUM(apply1(f, num(5)), 50);
    EXPECT_NUM(apply1(grad(f), num(5)), 20);
    EXPECT_NUM(apply1(grad(grad(f)), num(5)), 4);
}
END_TEST

/* ---- the order of visits --------------------------------------------------------------------------------------- */

/* Place i of what waits first is the node of x^(1 + order(i)): rising, falling, or as if shuffled. */
static int place(int order, int i) {
    return order == 0 ? i : order == 1 ? STEPS - 1 - i : (i * 37 + 11) % STEPS;
}

/* The sum of x^k, k = 1 to STEPS, each power made of the one before, all of them handed on at once. */
BODY(powers) {
    const int *order = env;
    lam_tensor *power[STEPS], *placed[STEPS], *x = lam_reshape(in[0], LAM_DIMS(1));
    for (int k = 0; k < STEPS; k++) power[k] = k ? lam_mul(power[k - 1], x) : x;
    for (int i = 0; i < STEPS; i++) placed[i] = power[place(*order, i)];
    out[0] = lam_sum(lam_concatenate((lam_list){STEPS, placed}, 0), NULL);
}

START_TEST(a_node_is_visited_when_all_its_consumers_have_been) {
    int order = _i;
    double x = 0.97, first = 0, second = 0, third = 0;
    for (int k = STEPS; k >= 1; k--) { /* Horner's rule: coefficients k, k (k - 1), k (k - 1) (k - 2) */
        first = first * x + k;
        if (k >= 2) second = second * x + k * (k - 1);
        if (k >= 3) third = third * x + k * (k - 1) * (k - 2);
    }
    lam_fn *f = FN_ENV(powers, 1, 1, &order);
    EXPECT_NEAR(apply1(grad(f), num(x)), 1e-13, LAM_DIMS0, first);
    EXPECT_NEAR(apply1(grad(grad(f)), num(x)), 1e-13, LAM_DIMS0, second);
    EXPECT_NEAR(apply1(grad(grad(grad(f))), num(x)), 1e-13, LAM_DIMS0, third);
}
END_TEST

/* ---- products that are added up --------------------------------------------------------------------------------- */

/* x, c of one shape; s, a number: x c + s x + (x c + x) + x / c + c / x + x x */
BODY(products) {
    lam_tensor *x = in[0], *c = in[1];
    lam_tensor *sum = lam_add(lam_mul(x, c), lam_add(lam_mul(in[2], x), lam_fma(x, c, x)));
    out[0] = lam_add(sum, lam_add(lam_add(lam_div(x, c), lam_div(c, x)), lam_mul(x, x)));
}

BODY(sum_of_products) {
    products(here, in, out, env);
    out[0] = lam_sum(out[0], NULL);
}

/* By x: 2 c + s + 1 + 1 / c - c / x^2 + 2 x; by c: 2 x - x / c^2 + 1 / x. */
static void slopes_of_products(lam_tensor *x, lam_tensor *c, lam_tensor *s, lam_tensor *slope[2]) {
    lam_tensor *sum = lam_add(lam_add(lam_mul(c, 2.0), s), lam_add(1.0, lam_reciprocal(c)));
    slope[0] = lam_add(lam_sub(sum, lam_div(c, lam_square(x))), lam_mul(x, 2.0));
    slope[1] = lam_add(lam_sub(lam_mul(x, 2.0), lam_div(x, lam_square(c))), lam_reciprocal(x));
}

START_TEST(products_are_added_up) {
    static const int64_t sizes[] = {1, 2, 1000};
    lam_dtype dtype = _i % 2 ? LAM_F32 : LAM_F64;
    int64_t n = sizes[_i / 2];
    double tolerance = _i % 2 ? 1e-5 : 1e-13;
    /* No slope is near zero: what rounding leaves there depends on the order in which a compiler takes operands. */
    lam_tensor *x = lam_linspace(ctx, dtype, 1, 2, n), *c = lam_linspace(ctx, dtype, 3, 1, n), *want[2], *got[2];
    lam_tensor *s = lam_full(ctx, dtype, LAM_DIMS0, 0.3);
    slopes_of_products(x, c, s, want);
    lam_grad_options both = {.argnums = LAM_AXES(0, 1)};
    lam_fn *f = lam_grad(FN(sum_of_products, 3, 1), &both);
    lam_call(f, LAM_LIST(x, c, s), got, 2);
    for (int k = 0; k < 2; k++) EXPECT_SAME(got[k], want[k], tolerance);
    lam_vmap_options over = {.in_axes = LAM_AXES(0, 0, LAM_UNMAPPED)};
    lam_call(lam_vmap(f, &over), LAM_LIST(x, c, s), got, 2);
    for (int k = 0; k < 2; k++) EXPECT_SAME(got[k], want[k], tolerance);
    lam_tensor *ones = lam_ones_like(x), *zeros = lam_zeros_like(x), *y, *dy;
    lam_tensor *point[] = {x, c, s}, *along[] = {ones, zeros, lam_zeros_like(s)};
    lam_jvp(FN(products, 3, 1), (lam_list){3, point}, (lam_list){3, along}, &y, &dy, 1, NULL);
    EXPECT_SAME(dy, want[0], tolerance);
}
END_TEST

/* A pullback adds up in memory of its own, so that each call gives the same. */
START_TEST(a_pullback_of_products_can_be_called_again) {
    lam_tensor *x = lam_linspace(ctx, LAM_F64, 1, 2, 100), *c = lam_sin(x), *s = num(2), *y, *first[2], *again[2];
    lam_tensor *g = lam_cos(x), *kept = lam_mul(g, 1.0);
    lam_fn *back;
    lam_vjp(FN(products, 3, 1), LAM_LIST(x, c, s), &y, 1, &back, &(lam_grad_options){.argnums = LAM_AXES(0, 1)});
    lam_call(back, LAM_LIST(g), first, 2);
    lam_call(back, LAM_LIST(g), again, 2);
    for (int k = 0; k < 2; k++) EXPECT_SAME(first[k], again[k], 0);
    EXPECT_SAME(g, kept, 0);
}
END_TEST

/* ---- parts ------------------------------------------------------------------------------------------------------ */

/* x is [4, 3]: rows in any order, with steps, from behind, twice, before and behind all of x, and none at all. */
BODY(parts) {
    lam_tensor *x = in[0], *row = lam_index(x, 0, 2),
               *every = lam_slice(x, LAM_DIMS(0, 2), LAM_DIMS(4, LAM_END), LAM_DIMS(2, -2));
    lam_tensor *back = lam_reverse(x, LAM_AXES(0, 1)), *none = lam_slice_axis(x, 1, 2, 2);
    lam_tensor *sum = lam_add(lam_sum(lam_mul(row, lam_index(x, 0, -1)), NULL), lam_sum(lam_square(every), NULL));
    sum = lam_add(sum, lam_sum(lam_mul(back, in[1]), NULL));
    out[0] = lam_add(lam_add(sum, lam_sum(none, NULL)),
                     lam_sum(lam_mul(lam_mul(x, 10.0), lam_index(lam_index(x, 0, 0), 0, 1)), NULL));
}

/* Of that by x: x_2 x_3 by rows, squares in the corners of rows 0 and 2, c from behind, and 10 x_01 times all. */
static lam_tensor *gradient_of_parts(const double x[4][3], const double c[4][3]) {
    double g[4][3], all = 0;
    for (int i = 0; i < 12; i++) all += x[i / 3][i % 3];
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 3; j++) {
            g[i][j] = c[3 - i][2 - j] + 10 * x[0][1];
            if (i == 2) g[i][j] += x[3][j];
            if (i == 3) g[i][j] += x[2][j];
            if (i % 2 == 0 && j % 2 == 0) g[i][j] += 2 * x[i][j];
        }
    g[0][1] += 10 * all;
    return lam_array(ctx, LAM_F64, LAM_DIMS(4, 3), g);
}

START_TEST(parts_are_added_where_they_lie) {
    static const double x[4][3] = {{1, 2, -3}, {0.5, 4, 2}, {-1, 3, 5}, {2, -2, 7}};
    static const double c[4][3] = {{3, -1, 4}, {1, -5, 9}, {2, 6, -5}, {3, 5, 8}};
    lam_tensor *X = lam_array(ctx, LAM_F64, LAM_DIMS(4, 3), x), *C = lam_array(ctx, LAM_F64, LAM_DIMS(4, 3), c);
    lam_tensor *want = gradient_of_parts(x, c), *y, *dy;
    lam_fn *f = FN(parts, 2, 1), *g = grad(f), *back;
    EXPECT_SAME(apply2(g, X, C), want, 1e-15);
    lam_tensor *both = lam_stack(LAM_LIST(X, X), 0);
    lam_vmap_options over = {.in_axes = LAM_AXES(0, LAM_UNMAPPED)};
    lam_tensor *wanted = lam_stack(LAM_LIST(want, want), 0);
    EXPECT_SAME(apply2(lam_vmap(g, &over), both, C), wanted, 1e-15);
    EXPECT_SAME(apply2(lam_vmap(lam_vmap(g, &over), &over), lam_stack(LAM_LIST(both, both), 0), C),
                lam_stack(LAM_LIST(wanted, wanted), 0), 1e-15);
    lam_vmap_options behind = {.in_axes = LAM_AXES(2, LAM_UNMAPPED)};
    EXPECT_SAME(apply2(lam_vmap(g, &behind), lam_moveaxis(both, 0, 2), C), wanted, 1e-15);
    lam_tensor *none = lam_zeros_like(C), *of_one, *of_all;
    lam_jvp(g, LAM_LIST(X, C), LAM_LIST(C, none), &y, &of_one, 1, NULL);
    lam_jvp(lam_vmap(g, &over), LAM_LIST(both, C), LAM_LIST(lam_stack(LAM_LIST(C, C), 0), none), &y, &of_all, 1, NULL);
    EXPECT_SAME(of_all, lam_stack(LAM_LIST(of_one, of_one), 0), 1e-15);
    lam_jvp(f, LAM_LIST(X, C), LAM_LIST(C, lam_zeros_like(C)), &y, &dy, 1, NULL);
    EXPECT_SAME(dy, lam_sum(lam_mul(want, C), NULL), 1e-14);
    lam_vjp(f, LAM_LIST(X, C), &y, 1, &back, &(lam_grad_options){.argnums = LAM_AXES(0)});
    for (int again = 0; again < 2; again++) EXPECT_SAME(apply1(back, num(2)), lam_mul(2.0, want), 1e-15);
}
END_TEST

/* ---- a function and its slope in one pass ------------------------------------------------------------------------ */

BODY(logistic_and_square) {
    out[0] = lam_add(lam_square(in[0]), lam_logistic(in[0]));
}

/* s' = s (1 - s), s'' = s' (1 - 2 s). */
START_TEST(a_function_recorded_with_its_slope_is_itself_at_every_level) {
    lam_fn *f = FN(logistic_and_square, 1, 1), *back;
    lam_tensor *x = lam_linspace(ctx, LAM_F64, -2, 3, 21), *g = lam_linspace(ctx, LAM_F64, 1, -1, 21), *y, *dy;
    lam_tensor *s = lam_div(1.0, lam_add(1.0, lam_exp(lam_neg(x)))), *steep = lam_mul(s, lam_sub(1.0, s));
    lam_tensor *slope = lam_add(lam_mul(2.0, x), steep), *curve = lam_mul(steep, lam_sub(1.0, lam_mul(2.0, s)));
    lam_vjp(f, LAM_LIST(x), &y, 1, &back, NULL);
    EXPECT_SAME(y, apply1(f, x), 0);
    for (int again = 0; again < 2; again++) EXPECT_SAME(apply1(back, g), lam_mul(g, slope), 1e-14);
    lam_jvp(f, LAM_LIST(x), LAM_LIST(g), &y, &dy, 1, NULL);
    EXPECT_SAME(y, apply1(f, x), 0);
    EXPECT_SAME(dy, lam_mul(g, slope), 1e-14);
    EXPECT_SAME(apply1(lam_vmap(grad(grad(f)), NULL), x), lam_add(2.0, curve), 1e-13);
    EXPECT_SAME(apply1(lam_vmap(back, NULL), lam_broadcast_to(g, LAM_DIMS(3, 21))),
                lam_broadcast_to(lam_mul(g, slope), LAM_DIMS(3, 21)), 1e-14);
}
END_TEST

/* The slope that a tape keeps belongs to no level, so the pullback of a pullback is by the cotangent alone. */
BODY(gradient_of_sum) {
    lam_tensor *y;
    lam_fn *back;
    lam_vjp(FN(logistic_and_square, 1, 1), LAM_LIST(in[0]), &y, 1, &back, NULL);
    out[0] = lam_sum(lam_apply(back, LAM_LIST(lam_ones_like(y))), NULL);
}

START_TEST(slopes_kept_by_a_tape_are_differentiated_by_others) {
    lam_tensor *x = lam_linspace(ctx, LAM_F64, -2, 3, 21);
    lam_tensor *s = lam_div(1.0, lam_add(1.0, lam_exp(lam_neg(x)))), *steep = lam_mul(s, lam_sub(1.0, s));
    lam_tensor *curve = lam_add(2.0, lam_mul(steep, lam_sub(1.0, lam_mul(2.0, s)))), *y, *dy;
    EXPECT_SAME(apply1(grad(FN(gradient_of_sum, 1, 1)), x), curve, 1e-13);
    lam_jvp(FN(gradient_of_sum, 1, 1), LAM_LIST(x), LAM_LIST(lam_ones_like(x)), &y, &dy, 1, NULL);
    EXPECT_SAME(dy, lam_sum(curve, NULL), 1e-13);
}
END_TEST

/* ---- minus signs ------------------------------------------------------------------------------------------------ */

/* Keeps x; the way back lets no negative cotangent through. */
BODY(gate_fwd) {
    out[0] = in[0];
}

BODY(gate_bwd) {
    out[0] = lam_relu(in[0]);
}

static lam_fn *gate(void) {
    return lam_custom_vjp(FN(gate_fwd, 1, 1), FN(gate_fwd, 1, 1), FN(gate_bwd, 1, 1), NULL);
}

enum { TURNED = 11 };

/* What a minus meets on its way back; x and y have three elements. */
BODY(turned) {
    lam_tensor *x = in[0], *y = in[1], *sine, *cosine;
    switch (*(const int *)env) {
    case 0: out[0] = lam_sub(x, lam_sub(y, lam_mul(x, y))); break;
    case 1: out[0] = lam_sub(1.0, lam_div(x, y)); break;
    case 2: out[0] = lam_sub(lam_mul(x, y), lam_fma(x, y, lam_fma(x, x, y))); break;
    case 3: out[0] = lam_neg(lam_sub(x, lam_neg(y))); break;
    case 4: lam_sincos(x, &sine, &cosine), out[0] = lam_sub(lam_sub(y, sine), cosine); break;
    case 5: out[0] = lam_neg(lam_mul(x, lam_logistic(lam_neg(y)))); break;
    case 6: out[0] = lam_sub(y, lam_cumsum(x, 0)); break;
    case 7:
        out[0] = lam_sub(lam_slice_axis(x, 0, 1, 3), lam_sub(lam_slice_axis(x, 0, 0, 2), lam_slice_axis(y, 0, 1, 3)));
        break;
    case 8: out[0] = lam_neg(lam_apply(gate(), LAM_LIST(lam_mul(x, y)))); break;
    case 9: out[0] = lam_sub(lam_sum(y, NULL), lam_max_reduce(lam_mul(x, y), NULL)); break;
    default: /* the part is added to what has a minus */
        sine = lam_sin(lam_slice_axis(x, 0, 0, 2));
        out[0] = lam_add(lam_sum(sine, NULL), lam_exp(lam_neg(x)));
        break;
    }
    out[0] = lam_sum(out[0], NULL);
}

/* By hand. */
static void slopes_of_turned(int kind, const double x[3], const double y[3], double gx[3], double gy[3]) {
    for (int i = 0; i < 3; i++) {
        const double s = 1 / (1 + exp(y[i]));
        const bool largest = i == 2;
        const double by_x[TURNED] = {1 + y[i],
                                     -1 / y[i],
                                     -2 * x[i],
                                     -1,
                                     sin(x[i]) - cos(x[i]),
                                     -s,
                                     i - 3.0,
                                     (i > 0) - (i < 2),
                                     0,
                                     largest ? -y[i] : 0,
                                     (i < 2 ? 3 * cos(x[i]) : 0) - exp(-x[i])};
        const double by_y[TURNED] = {x[i] - 1, x[i] / (y[i] * y[i]),   -1, -1, 1, x[i] * s * (1 - s), 1, i > 0,
                                     0,        largest ? 1 - x[i] : 1, 0};
        gx[i] = by_x[kind];
        gy[i] = by_y[kind];
    }
}

START_TEST(a_minus_goes_with_the_cotangent) {
    const double x[2][3] = {{0.5, 1.5, 2}, {-1, 0.25, 3}}, y[2][3] = {{1, 0.5, 3}, {0.5, 2, 1.5}};
    double gx[2][3], gy[2][3];
    for (int e = 0; e < 2; e++) slopes_of_turned(_i, x[e], y[e], gx[e], gy[e]);
    lam_fn *both = lam_grad(FN_ENV(turned, 2, 1, &_i), &(lam_grad_options){.argnums = LAM_AXES(0, 1)});
    lam_tensor *out[4],
        *all[2] = {lam_array(ctx, LAM_F64, LAM_DIMS(2, 3), x), lam_array(ctx, LAM_F64, LAM_DIMS(2, 3), y)};
    lam_tensor *expected[2] = {lam_array(ctx, LAM_F64, LAM_DIMS(2, 3), gx),
                               lam_array(ctx, LAM_F64, LAM_DIMS(2, 3), gy)};
    lam_tensor *one[2] = {lam_index(all[0], 0, 0), lam_index(all[1], 0, 0)};
    lam_call(both, LAM_LIST(one[0], one[1]), out, 2);
    for (int i = 0; i < 2; i++) EXPECT_SAME(out[i], lam_index(expected[i], 0, 0), 1e-14);
    lam_call(lam_vmap(both, NULL), LAM_LIST(all[0], all[1]), out, 2);
    for (int i = 0; i < 2; i++) EXPECT_SAME(out[i], expected[i], 1e-14);
    lam_call(lam_jvp_fn(both, NULL), LAM_LIST(one[0], one[1], one[1], one[0]), out, 4);
    for (int i = 0; i < 2; i++) EXPECT_SAME(out[i], lam_index(expected[i], 0, 0), 1e-14);
}
END_TEST

/* The derivatives along (y, x) of those slopes, by differences of what slopes_of_turned says, in all orders. */
BODY(along) {
    lam_tensor *slope[2];
    lam_fn *both = lam_grad(FN_ENV(turned, 2, 1, env), &(lam_grad_options){.argnums = LAM_AXES(0, 1)});
    lam_call(both, LAM_LIST(in[0], in[1]), slope, 2);
    out[0] = lam_sum(lam_add(lam_mul(slope[0], in[2]), lam_mul(slope[1], in[3])), NULL);
}

START_TEST(a_minus_goes_with_the_cotangent_of_every_order) {
    enum { SIDES = 2 };
    const double x[3] = {0.5, 1.5, 2}, y[3] = {1, 0.5, 3}, h = 1e-5;
    double g[SIDES][2][3], by[2][3];
    for (int side = 0; side < SIDES; side++) {
        double a[3], b[3];
        for (int i = 0; i < 3; i++) a[i] = x[i] + (side ? h : -h) * y[i], b[i] = y[i] + (side ? h : -h) * x[i];
        slopes_of_turned(_i, a, b, g[side][0], g[side][1]);
    }
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < 3; i++) by[k][i] = (g[1][k][i] - g[0][k][i]) / (2 * h);
    lam_tensor *vx = lam_array(ctx, LAM_F64, LAM_DIMS(3), x), *vy = lam_array(ctx, LAM_F64, LAM_DIMS(3), y), *out[4];
    lam_grad_options two = {.argnums = LAM_AXES(0, 1)};
    lam_call(lam_grad(FN_ENV(along, 4, 1, &_i), &two), LAM_LIST(vx, vy, vy, vx), out, 2);
    for (int k = 0; k < 2; k++) EXPECT_SAME(out[k], lam_array(ctx, LAM_F64, LAM_DIMS(3), by[k]), 1e-8);
    lam_fn *both = lam_grad(FN_ENV(turned, 2, 1, &_i), &two);
    lam_call(lam_jvp_fn(both, NULL), LAM_LIST(vx, vy, vy, vx), out, 4);
    for (int k = 0; k < 2; k++) EXPECT_SAME(out[2 + k], lam_array(ctx, LAM_F64, LAM_DIMS(3), by[k]), 1e-8);
}
END_TEST

/* ---- boxes of a batch that do not line up ------------------------------------------------------------------------ */

enum { SIDE = 3 };

/* Twice the product of x and w, in functions whose gradients by x are products with w: the first is written over a
 * cotangent, the second added to it. */
BODY(waves_of_products) {
    lam_tensor *first = lam_sin(lam_mul(in[0], in[1])), *second = lam_cos(lam_mul(in[0], in[1]));
    out[0] = lam_sum(lam_add(first, second), NULL);
}

/* w of example b is [3] or [3, 3]; in the batch its axis is in front of that or behind. All sizes are alike, so that
 * what does not line up would pass unnoticed. */
START_TEST(factors_whose_batch_axis_lies_elsewhere) {
    double x[SIDE][SIDE][SIDE], w[SIDE * SIDE * SIDE], want[SIDE][SIDE][SIDE];
    const int rank = _i / 2 + 1, behind = _i % 2, axis = behind ? rank : 0;
    for (int i = 0; i < SIDE * SIDE * SIDE; i++) (&x[0][0][0])[i] = 0.1 * i, w[i] = 1 + 0.25 * i;
    for (int b = 0; b < SIDE; b++)
        for (int i = 0; i < SIDE; i++)
            for (int j = 0; j < SIDE; j++) {
                const int own = rank == 1 ? j : SIDE * i + j, each = rank == 1 ? SIDE : SIDE * SIDE;
                const double factor = w[behind ? own * SIDE + b : b * each + own], p = x[b][i][j] * factor;
                want[b][i][j] = (cos(p) - sin(p)) * factor;
            }
    lam_fn *f = lam_vmap(grad(FN(waves_of_products, 2, 1)), &(lam_vmap_options){.in_axes = LAM_AXES(0, axis)});
    lam_dims cube = LAM_DIMS(SIDE, SIDE, SIDE), plane = LAM_DIMS(SIDE, SIDE);
    lam_tensor *got = apply2(f, lam_array(ctx, LAM_F64, cube, x), lam_array(ctx, LAM_F64, rank == 1 ? plane : cube, w));
    EXPECT_SAME(got, lam_array(ctx, LAM_F64, cube, want), 1e-13);
}
END_TEST

/* x, cotangent: the way back visits the sine first, then the minus, which hands on the cotangent as it lies. */
BODY(minus_and_sine_backward) {
    lam_fn *pullback;
    lam_tensor *y;
    lam_vjp(env, LAM_LIST(in[0]), &y, 1, &pullback, NULL);
    out[0] = apply1(pullback, in[1]);
}

BODY(minus_and_sine) {
    lam_tensor *minus = lam_neg(in[0]);
    out[0] = lam_add(minus, lam_sin(in[0]));
}

START_TEST(cotangents_whose_batch_axis_lies_elsewhere) {
    lam_fn *f = FN_ENV(minus_and_sine_backward, 2, 1, FN(minus_and_sine, 1, 1));
    lam_tensor *x = MAT(2, 2, 1, 2, 3, 4), *g = MAT(2, 2, 1, 10, 100, 1000);
    lam_tensor *got = apply2(lam_vmap(f, &(lam_vmap_options){.in_axes = LAM_AXES(0, 1)}), x, g);
    EXPECT_NEAR(got, 1e-14, LAM_DIMS(2, 2), cos(1) - 1, 100 * (cos(2) - 1), 10 * (cos(3) - 1), 1000 * (cos(4) - 1));
}
END_TEST

/* ---- what is no pass over the elements --------------------------------------------------------------------------- */

BODY(squares_of_rows_less_one) {
    out[0] = lam_sum(lam_square(lam_sub(in[1], in[0])), NULL);
}

/* The gradient by m of the sum of (x - m)^2 over all rows x is -2 times the sum of what is left of them. */
START_TEST(a_minus_goes_with_the_sum_of_what_was_broadcast) {
    lam_tensor *m = VEC(1, 2, 4), *x = MAT(2, 3, 1, 3, 5, 8, 2, 1);
    lam_fn *f = lam_grad(FN(squares_of_rows_less_one, 2, 1), NULL);
    EXPECT(apply2(f, m, x), LAM_DIMS(3), -14, -2, 4);
    char text[4096];
    FILE *file = tmpfile();
    ck_assert_ptr_nonnull(file);
    lam_program_print(file, lam_trace(f, LAM_LIST(m, x)));
    rewind(file);
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    ck_assert_msg(strstr(text, ": f64[3] = neg(") && !strstr(text, ": f64[2, 3] = neg("), "%s", text);
}
END_TEST

/* What a sum sends back is 1 for all terms, and times that is nothing to be done. */
START_TEST(products_with_1_everywhere_are_the_other_operand) {
    lam_tensor *x = lam_linspace(ctx, LAM_F64, 0, 1, 10000), *one = lam_broadcast_to(num(1), LAM_DIMS(10000));
    lam_ctx_reset_peak(ctx);
    const size_t before = lam_ctx_bytes(ctx);
    EXPECT_SAME(lam_mul(one, x), x, 0);
    ck_assert_uint_lt(lam_ctx_peak_bytes(ctx) - before, 80000);
    EXPECT_SAME(lam_mul(x, lam_broadcast_to(num(2), LAM_DIMS(10000))), lam_add(x, x), 0);
}
END_TEST

Suite *suite_transforms_way_back(void) {
    Suite *suite =
        SUITE_OF("transforms/way_back", sums_of_many_terms_have_derivatives_of_every_order,
                 sums_of_many_terms_pass_through_other_levels, constants_and_variables_are_added_up,
                 a_cotangent_that_is_used_again_keeps_its_value, a_pullback_of_products_can_be_called_again,
                 parts_are_added_where_they_lie, a_function_recorded_with_its_slope_is_itself_at_every_level,
                 slopes_kept_by_a_tape_are_differentiated_by_others, cotangents_whose_batch_axis_lies_elsewhere,
                 a_minus_goes_with_the_sum_of_what_was_broadcast, products_with_1_everywhere_are_the_other_operand);
    suite_loop(suite, factors_whose_batch_axis_lies_elsewhere, 4);
    suite_loop(suite, a_node_is_visited_when_all_its_consumers_have_been, 3);
    suite_loop(suite, products_are_added_up, 6);
    suite_loop(suite, a_minus_goes_with_the_cotangent, TURNED);
    suite_loop(suite, a_minus_goes_with_the_cotangent_of_every_order, TURNED);
    return suite;
}
