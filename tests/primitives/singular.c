/* Derivatives at singular points, as the table that opens ops.h states them, and values at infinities, NaNs and zeros
 * of either sign. Expected derivatives are sub-gradients worked out by hand; special values are those of C, Annex F.
 * Both modes must agree: by grad and, one input or element at a time, by jvp with the other tangents absent. */
#include "tests/support.h"

enum { OPERANDS = 3, ELEMENTS = 4 };

/* ---- operations of numbers --------------------------------------------------------------------------------------- */

#define UNARY(name)                                                                                                    \
    BODY(of_##name) {                                                                                                  \
        out[0] = lam_##name(in[0]);                                                                                    \
    }
#define BINARY(name)                                                                                                   \
    BODY(of_##name) {                                                                                                  \
        out[0] = lam_##name(in[0], in[1]);                                                                             \
    }

/* clang-format off */
UNARY(abs) UNARY(sign) UNARY(floor) UNARY(ceil) UNARY(round) UNARY(trunc)
UNARY(sqrt) UNARY(cbrt) UNARY(rsqrt) UNARY(reciprocal) UNARY(exp) UNARY(expm1)
UNARY(log) UNARY(log2) UNARY(log10) UNARY(log1p) UNARY(silu) UNARY(hard_sigmoid) UNARY(hard_silu)
UNARY(asin) UNARY(acos) UNARY(atan) UNARY(acosh) UNARY(asinh) UNARY(atanh)
UNARY(sin) UNARY(cos) UNARY(tanh) UNARY(logistic) UNARY(erf) UNARY(erfc) UNARY(is_nan) UNARY(is_finite)
BINARY(add) BINARY(mul) BINARY(div) BINARY(rem) BINARY(pow) BINARY(max) BINARY(min) BINARY(atan2) BINARY(hypot)
UNARY(erf_inv) UNARY(erfcx) UNARY(ndtr) UNARY(ndtri) UNARY(log_ndtr) UNARY(entr)
UNARY(softplus) UNARY(lgamma) UNARY(digamma) UNARY(gelu) UNARY(mish) BINARY(rel_entr) BINARY(kl_div) BINARY(zeta)
UNARY(logit) UNARY(i0e) UNARY(i1) BINARY(igamma) BINARY(igammac) BINARY(xlog1py) BINARY(betaln)
BINARY(copysign) BINARY(logaddexp) BINARY(xlogy) BINARY(eq) BINARY(ne) BINARY(lt) BINARY(ge)

BODY(sine_of_both) { lam_sincos(in[0], &out[0], NULL); }
BODY(cosine_of_both) { lam_sincos(in[0], NULL, &out[0]); }
BODY(of_clamp) { out[0] = lam_clamp(in[0], in[1], in[2]); }
BODY(power_of_0) { out[0] = lam_integer_pow(in[0], 0); }
/* clang-format on */

typedef struct point {
    lam_body body;
    int inputs;
    double x[OPERANDS];
    double slope[OPERANDS];  /* first derivative by each input */
    double second[OPERANDS]; /* of these the derivative by the same input; OFF: not stated */
    double mixed;            /* by inputs 0 and 1 */
} point;

#define OFF  (-777.0)
#define NONE {OFF, OFF, OFF}, OFF
#define LN10 2.302585092994045684
#define LN2  0.693147180559945309

/* clang-format off */
static const point points[] = {
    {of_abs, 1, {0}, {0}, {0}, OFF}, {of_sign, 1, {0}, {0}, {0}, OFF}, {of_floor, 1, {2}, {0}, {0}, OFF},
    {of_ceil, 1, {2}, {0}, {0}, OFF}, {of_round, 1, {2.5}, {0}, {0}, OFF}, {of_trunc, 1, {-2}, {0}, {0}, OFF},
    {of_sqrt, 1, {0}, {INFINITY}, {-INFINITY}, OFF}, {of_cbrt, 1, {0}, {INFINITY}, {-INFINITY}, OFF},
    {of_cbrt, 1, {INFINITY}, {0}, {0}, OFF}, {of_rsqrt, 1, {0}, {-INFINITY}, {INFINITY}, OFF},
    {of_rsqrt, 1, {-0.0}, {-INFINITY}, NONE}, {of_reciprocal, 1, {0}, {-INFINITY}, {INFINITY}, OFF},
    {of_log, 1, {0}, {INFINITY}, {-INFINITY}, OFF}, {of_log, 1, {-1}, {-1}, {-1}, OFF},
    {of_log2, 1, {0}, {INFINITY}, {-INFINITY}, OFF}, {of_log10, 1, {0}, {INFINITY}, {-INFINITY}, OFF},
    {of_log1p, 1, {-1}, {INFINITY}, {-INFINITY}, OFF}, {of_asin, 1, {1}, {INFINITY}, {INFINITY}, OFF},
    {of_asin, 1, {1e-20}, {1}, {1e-20}, OFF}, {of_asin, 1, {-1}, {INFINITY}, {-INFINITY}, OFF},
    {of_acos, 1, {1}, {-INFINITY}, {-INFINITY}, OFF}, {of_acos, 1, {-1}, {-INFINITY}, {INFINITY}, OFF},
    {of_atanh, 1, {1}, {INFINITY}, {INFINITY}, OFF}, {of_atanh, 1, {1e-20}, {1}, {2e-20}, OFF},
    {of_atanh, 1, {-1}, {INFINITY}, {-INFINITY}, OFF}, {of_acosh, 1, {1}, {INFINITY}, NONE},
    {of_pow, 2, {0, 0}, {0, 0}, {0, 0}, OFF}, {of_pow, 2, {2, 0}, {0, LN2}, {0, LN2 * LN2}, 0.5},
    {of_pow, 2, {0, 1}, {1, 0}, {0, 0}, OFF}, {of_pow, 2, {0, 2}, {0, 0}, {2, 0}, 0},
    {of_pow, 2, {0, 0.5}, {INFINITY, 0}, {-INFINITY, 0}, OFF}, {of_pow, 2, {0, -1}, {-INFINITY, NAN}, NONE},
    {of_pow, 2, {-2, 3}, {12, NAN}, {-12, NAN}, OFF}, {power_of_0, 1, {0}, {0}, {0}, OFF},
    {of_max, 2, {3, 3}, {0.5, 0.5}, {0, 0}, 0}, {of_min, 2, {3, 3}, {0.5, 0.5}, {0, 0}, 0},
    {of_max, 2, {INFINITY, INFINITY}, {0.5, 0.5}, {0, 0}, 0}, {of_clamp, 3, {1, 1, 2}, {0, 0, 0}, {0, 0, 0}, 0},
    {of_clamp, 3, {2, 1, 2}, {0, 0, 0}, {0, 0, 0}, 0}, {of_clamp, 3, {1.5, 1, 2}, {1, 0, 0}, {0, 0, 0}, 0},
    {of_hypot, 2, {0, 0}, {0, 0}, NONE}, {of_atan2, 2, {0, 0}, {NAN, NAN}, NONE},
    {of_copysign, 2, {0, -1}, {0, 0}, {0, 0}, 0}, {of_logaddexp, 2, {1, 1}, {0.5, 0.5}, {0.25, 0.25}, -0.25},
    {of_logaddexp, 2, {INFINITY, INFINITY}, {0.5, 0.5}, {0, 0}, 0}, {of_max, 2, {NAN, 1}, {0, 0}, NONE},
    {of_logaddexp, 2, {-INFINITY, -INFINITY}, {0.5, 0.5}, {0, 0}, 0},
    {of_logaddexp, 2, {-INFINITY, 1}, {0, 1}, {0, 0}, 0}, {of_logaddexp, 2, {1, INFINITY}, {0, 1}, {0, 0}, 0},
    {of_erf_inv, 1, {1}, {INFINITY}, NONE}, {of_ndtri, 1, {0}, {INFINITY}, NONE},
    {of_ndtri, 1, {1}, {INFINITY}, NONE}, {of_log_ndtr, 1, {700}, {0}, {0}, OFF},
    {of_log_ndtr, 1, {INFINITY}, {0}, NONE}, {of_entr, 1, {-1}, {0}, {0}, OFF}, {of_entr, 1, {1}, {-1}, {-1}, OFF},
    {of_hard_sigmoid, 1, {-3}, {0}, {0}, OFF}, {of_hard_sigmoid, 1, {3}, {0}, {0}, OFF},
    {of_hard_silu, 1, {-3}, {0}, {0}, OFF}, {of_hard_silu, 1, {3}, {1}, {0}, OFF}, {of_logit, 1, {0}, {INFINITY}, NONE},
    {of_softplus, 1, {0}, {0.5}, {0.25}, OFF}, {of_softplus, 1, {-INFINITY}, {0}, {0}, OFF},
    {of_i0e, 1, {0}, {0}, NONE}, {of_i1, 1, {0}, {0.5}, {0}, OFF}, {of_igamma, 2, {1, 0}, {0, 1}, NONE},
    {of_igamma, 2, {3, 0}, {0, 0}, NONE}, {of_igamma, 2, {0.5, 0}, {0, INFINITY}, NONE},
    {of_xlog1py, 2, {0, -1}, {0, 0}, {0, 0}, 0}, {of_xlogy, 2, {0, 0}, {0, 0}, {0, 0}, 0},
    {of_xlogy, 2, {0, -1}, {0, 0}, {0, 0}, 0}, {of_xlogy, 2, {0, INFINITY}, {0, 0}, {0, 0}, 0},
    {of_xlogy, 2, {0, 10}, {LN10, 0}, {0, 0}, 0.1}, {of_kl_div, 2, {NAN, 1}, {NAN, NAN}, NONE},
    {of_xlogy, 2, {2, 0}, {-INFINITY, INFINITY}, {0, -INFINITY}, INFINITY},
};

/* Large and small numbers, of which only doubles have any. From the formulas of the docstrings. */
static const point extremes[] = {
    {of_asinh, 1, {1e200}, {1e-200}, {0}, OFF}, {of_atan, 1, {1e308}, {0}, {0}, OFF},
    {of_erf, 1, {1e308}, {0}, {0}, OFF}, {of_erfc, 1, {-1e308}, {0}, {0}, OFF}, {of_ndtr, 1, {1e308}, {0}, {0}, OFF},
    {of_log_ndtr, 1, {-1e10}, {1e10}, {-1}, OFF}, {of_log_ndtr, 1, {-1e308}, {1e308}, {-1}, OFF},
    {of_gelu, 1, {1e308}, {1}, {0}, OFF}, {of_gelu, 1, {-1e308}, {0}, {0}, OFF}, {of_mish, 1, {1e308}, {1}, {0}, OFF},
    {of_mish, 1, {-1e308}, {0}, {0}, OFF}, {of_atan2, 2, {1e200, 1e250}, {1e-250, -1e-300}, {0, 0}, 0},
    {of_atan2, 2, {1e-200, 1e-250}, {1e150, -1e200}, NONE}, {of_atan2, 2, {1e-305, 1e-295}, {1e295, -1e285}, NONE},
    {of_hypot, 2, {1e-200, 1e200}, {0, 1}, {1e-200, 0}, 0}, {of_logaddexp, 2, {1e308, -1e308}, {1, 0}, {0, 0}, 0},
    {of_rel_entr, 2, {1, 1e200}, {-459.51701859880914, -1e-200}, {1, 0}, -1e-200},
    {of_rel_entr, 2, {1e-300, 1e-200}, {-229.25850929940457, -1e-100}, NONE},
    {of_rel_entr, 2, {1e-200, 1e-305}, {242.77143476437482, -1e105}, NONE},
    {of_rel_entr, 2, {1e-200, 1e200}, {-920.0340371976183, 0}, NONE},
    {of_kl_div, 2, {1, 1e200}, {-460.51701859880914, 1}, {1, 0}, -1e-200},
    {of_kl_div, 2, {1e-300, 1e-200}, {-230.25850929940457, 1}, NONE},
    {of_rel_entr, 2, {1e-150, 1}, {-344.38776394910684, -1e-150}, {1e150, 1e-150}, -1},
    {of_rsqrt, 1, {1e-200}, {-5e299}, {INFINITY}, OFF}, {of_rsqrt, 1, {1e200}, {-5e-301}, {0}, OFF},
    {of_cbrt, 1, {1e300}, {1e-200 / 3}, {0}, OFF}, {of_cbrt, 1, {1e-180}, {1e120 / 3}, {-2e300 / 9}, OFF},
    {of_entr, 1, {1e-150}, {344.38776394910684}, {-1e150}, OFF}, {of_logit, 1, {1e-20}, {1e20}, {-1e40}, OFF},
    {of_erfcx, 1, {1e8}, {-5.641895835477562e-17}, {1.1283791670955122e-24}, OFF},
    {of_softplus, 1, {-700}, {9.8596765437597709e-305}, {9.8596765437597709e-305}, OFF},
    {of_tanh, 1, {20}, {1.6993417021166356e-17}, {-3.3986834042332712e-17}, OFF},
    {of_tanh, 1, {1e-300}, {1}, {-2e-300}, OFF}, {of_tanh, 1, {1e308}, {0}, {0}, OFF},
    {of_hypot, 2, {3e-200, 4e-200}, {0.6, 0.8}, {1.28e199, 7.2e198}, -9.6e198},
    {of_pow, 2, {0x1p-1040, 1.5}, {0x1.8p-520, 0}, NONE}, {of_div, 2, {1, 1e-99}, {1e99, -1e198}, {0, 2e297}, -1e198},
    {of_pow, 2, {0x1p-1040, 0x1p-20}, {1.1227860530428078e307, -720.37765362635182}, {-INFINITY, 519300.84913147441},
     INFINITY},
    {of_pow, 2, {1e-300, 1.5}, {1.5e-150, 0}, {7.5e149, 0}, -1.0351632918473206e-147},
    {of_entr, 1, {0x1p-1040}, {719.87306778234312}, {-INFINITY}, OFF},
    {of_pow, 2, {1e-310, 5e-324}, {4.9406564584124805e-14, -713.80137882815417}, {-4.9406564584124956e296, OFF}, OFF},
    {of_rel_entr, 2, {1e-200, 1}, {-459.51701859880914, -1e-200}, {1e200, 1e-200}, -1},
    {of_kl_div, 2, {1e-200, 1}, {-460.51701859880914, 1}, {1e200, 1e-200}, -1},
    {of_atan2, 2, {3e-150, 4e-150}, {1.6e149, -1.2e149}, {-3.84e298, 3.84e298}, -1.12e298},
    {of_atan2, 2, {1e-300, 1e-150}, {1e150, -1}, {-2e150, 2e150}, -1e300},
    {of_hypot, 2, {1e-8, 1}, {1e-8, 1}, {1, 1e-16}, -1e-8}, {of_rel_entr, 2, {1, NAN}, {NAN, NAN}, NONE},
    {of_hypot, 2, {1e308, 1e308}, {0.70710678118654752, 0.70710678118654752}, NONE},
    {of_betaln, 2, {1e10, 1e-5}, {-1.00000000005e-15, -100023.60305014557}, {1.000000000099999e-25, 10000000001.644908},
     -1.00000000005e-10}, {of_rel_entr, 2, {NAN, -1}, {NAN, NAN}, NONE},
    {of_div, 2, {1e300, 1e160}, {1e-160, -1e-20}, {0, 2e-180}, OFF},
    {of_div, 2, {1e-300, 1e-160}, {1e160, -1e20}, {0, 2e180}, OFF}, {of_min, 2, {1, NAN}, {0, 0}, NONE},
    {of_div, 2, {5e-324, 1e-310}, {INFINITY, -4.9406564584124956e296}, NONE},
    {of_xlogy, 2, {5e-324, 1e-310}, {-713.80137882815417, 4.9406564584124805e-14},
     {0, -4.9406564584124956e296}, OFF}, {of_rel_entr, 2, {NAN, 1}, {NAN, NAN}, {NAN, NAN}, -1},
    {of_rel_entr, 2, {5e-324, 1e-310}, {-29.638693093227097, -4.9406564584124805e-14}, {OFF, 4.9406564584124956e296},
     OFF}, {of_entr, 1, {NAN}, {NAN}, {NAN}, OFF}, {of_logaddexp, 2, {NAN, 1}, {NAN, NAN}, {NAN, NAN}, NAN},
    {of_kl_div, 2, {5e-324, 1e-310}, {-30.638693093227097, 0.99999999999995059}, {OFF, 4.9406564584124956e296}, OFF},
    {of_silu, 1, {-745}, {-2.0998289434711212e-321}, NONE}, {of_silu, 1, {1e308}, {1}, {0}, OFF},
};
/* clang-format on */

static bool agrees(double got, double want, double tolerance) {
    if (isnan(want)) return isnan(got);
    return got == want || fabs(got - want) <= tolerance * fabs(want);
}

#define CHECK(got, want, tolerance, ...)                                                                               \
    do {                                                                                                               \
        double got_ = (got), want_ = (want);                                                                           \
        EXPECT_OK();                                                                                                   \
        if (!agrees(got_, want_, tolerance)) {                                                                         \
            char where_[200];                                                                                          \
            snprintf(where_, sizeof where_, __VA_ARGS__);                                                              \
            ck_abort_msg("%s: %.17g, not %.17g", where_, got_, want_);                                                 \
        }                                                                                                              \
    } while (0)

static lam_fn *gradient_by(lam_fn *f, int i) {
    return lam_grad(f, &(lam_grad_options){.argnums = LAM_AXES(i)});
}

/* The derivative of f by input i as a function of the same inputs, by forward mode: env is a `forward`. */
typedef struct forward {
    lam_fn *f;
    int inputs, by;
} forward;

static void forward_body(lam_ctx *here, lam_tensor *const in[], lam_tensor *out[], void *env) {
    const forward *w = env;
    lam_tensor *tangents[OPERANDS] = {NULL}, *value;
    tangents[w->by] = lam_ones_like(in[w->by]);
    (void)here;
    lam_jvp(w->f, (lam_list){(size_t)w->inputs, in}, (lam_list){(size_t)w->inputs, tangents}, &value, out, 1, NULL);
}

static lam_fn *tangent_by(lam_fn *f, int i, int inputs, forward *room) {
    *room = (forward){f, inputs, i};
    return FN_ENV(forward_body, inputs, 1, room);
}

/* Checks one second derivative in all four pairs of modes. */
static void expect_second(const point *p, int row, lam_fn *f, lam_list at, int i, int k, double want,
                          double tolerance) {
    if (want == OFF) return;
    forward first, second;
    lam_fn *by_i[2] = {gradient_by(f, i), tangent_by(f, i, p->inputs, &first)};
    for (int mode = 0; mode < 4; mode++) {
        lam_fn *g = by_i[mode & 1];
        lam_fn *both = mode & 2 ? tangent_by(g, k, p->inputs, &second) : gradient_by(g, k);
        CHECK(lam_item(lam_apply(both, at)), want, tolerance, "row %d, second derivative by %d and %d, modes %d", row,
              i, k, mode);
    }
}

static void at_point(const point *p, int row, lam_dtype dtype, double tolerance) {
    lam_fn *f = FN(p->body, p->inputs, 1);
    lam_tensor *x[OPERANDS];
    for (int i = 0; i < p->inputs; i++) x[i] = lam_full(ctx, dtype, LAM_DIMS0, p->x[i]);
    lam_list at = {(size_t)p->inputs, x};
    for (int i = 0; i < p->inputs; i++) {
        forward room;
        CHECK(lam_item(lam_apply(gradient_by(f, i), at)), p->slope[i], tolerance, "row %d, grad by %d", row, i);
        CHECK(lam_item(lam_apply(tangent_by(f, i, p->inputs, &room), at)), p->slope[i], tolerance, "row %d, jvp by %d",
              row, i);
        expect_second(p, row, f, at, i, i, p->second[i], tolerance);
    }
    if (p->inputs < 2) return;
    expect_second(p, row, f, at, 0, 1, p->mixed, tolerance);
    expect_second(p, row, f, at, 1, 0, p->mixed, tolerance);
}

START_TEST(operations_of_numbers_at_singular_points) {
    at_point(&points[_i], _i, LAM_F64, 4e-16);
    at_point(&points[_i], _i, LAM_F32, 4e-7);
}
END_TEST

START_TEST(derivatives_of_extreme_numbers) {
    at_point(&extremes[_i], _i, LAM_F64, 1e-15);
}
END_TEST

/* A zero tangent is no promise that the product is 0: where the slope is infinite, the product has no value. */
START_TEST(a_zero_tangent_where_the_slope_is_infinite_gives_nan) {
    lam_tensor *y, *dy;
    lam_jvp(FN(of_sqrt, 1, 1), LAM_LIST(num(0)), LAM_LIST(num(0)), &y, &dy, 1, NULL);
    EXPECT_NUM(dy, NAN);
}
END_TEST

/* ---- what does not count sends nothing --------------------------------------------------------------------------- */

/* Derivatives by in[0], which is not taken. Backward, inf comes to the operation that does not take it; forward, inf
 * comes from the operand not taken: both stop there. On the other way a factor 0 meets the infinite slope of the root
 * itself, and only a guard before the root helps. */
BODY(root_of_max) {
    out[0] = lam_sqrt(lam_max(in[0], in[1]));
}
BODY(root_of_min) {
    out[0] = lam_sqrt(lam_min(in[0], in[1]));
}
BODY(root_of_where) {
    out[0] = lam_sqrt(lam_where(lam_gt(in[0], in[1]), in[0], in[1]));
}
BODY(root_of_clamp) {
    out[0] = lam_sqrt(lam_clamp(in[0], in[1], 2.0));
}
BODY(root_of_largest) {
    out[0] = lam_sqrt(lam_max_reduce(lam_stack(LAM_LIST(in[0], in[1]), 0), NULL));
}
BODY(max_of_root) {
    out[0] = lam_max(lam_sqrt(in[0]), in[1]);
}
BODY(min_of_root) {
    out[0] = lam_min(lam_rsqrt(in[0]), in[1]);
}
BODY(where_of_root) {
    out[0] = lam_where(lam_gt(in[0], 0.0), lam_sqrt(in[0]), in[1]);
}
BODY(clamp_of_root) {
    out[0] = lam_clamp(lam_sqrt(in[0]), in[1], 2.0);
}
BODY(largest_of_root) {
    out[0] = lam_max_reduce(lam_stack(LAM_LIST(lam_sqrt(in[0]), in[1]), 0), NULL);
}
BODY(guarded_root) {
    lam_tensor *positive = lam_gt(in[0], 0.0);
    out[0] = lam_where(positive, lam_sqrt(lam_where(positive, in[0], 1.0)), in[1]);
}

static const struct {
    lam_body body;
    double x[2], by_grad, by_jvp;
} not_taken[] = {
    {root_of_max, {-1, 0}, 0, NAN},    {max_of_root, {0, 1}, NAN, 0},    {root_of_min, {1, 0}, 0, NAN},
    {min_of_root, {0, 1}, NAN, 0},     {root_of_where, {-1, 0}, 0, NAN}, {where_of_root, {0, 1}, NAN, 0},
    {root_of_clamp, {-1, 0}, 0, NAN},  {clamp_of_root, {0, 1}, NAN, 0},  {root_of_largest, {-1, 0}, 0, NAN},
    {largest_of_root, {0, 1}, NAN, 0}, {guarded_root, {0, 1}, 0, 0},     {guarded_root, {-1, 1}, 0, 0},
};

START_TEST(what_is_not_taken_sends_exactly_zero) {
    lam_fn *f = FN(not_taken[_i].body, 2, 1);
    lam_list at = LAM_LIST(num(not_taken[_i].x[0]), num(not_taken[_i].x[1]));
    forward room;
    CHECK(lam_item(lam_apply(gradient_by(f, 0), at)), not_taken[_i].by_grad, 0, "row %d, grad", _i);
    CHECK(lam_item(lam_apply(tangent_by(f, 0, 2, &room), at)), not_taken[_i].by_jvp, 0, "row %d, jvp", _i);
}
END_TEST

/* ---- operations along an axis ------------------------------------------------------------------------------------ */

#define REDUCES(name)                                                                                                  \
    BODY(all_##name) {                                                                                                 \
        out[0] = lam_##name(in[0], NULL);                                                                              \
    }
/* The results 1, 10, 100, ... times as important, so that each shows in the sum. */
#define SCANS(name)                                                                                                    \
    BODY(all_##name) {                                                                                                 \
        out[0] = lam_sum(lam_mul(VEC(1, 10, 100, 1000), lam_##name(in[0], 0)), NULL);                                  \
    }

/* clang-format off */
REDUCES(max_reduce) REDUCES(min_reduce) REDUCES(prod) REDUCES(logsumexp) REDUCES(norm) REDUCES(std)
SCANS(cummax) SCANS(cummin) SCANS(cumprod) SCANS(cumlogsumexp)

BODY(norm_of_order_1) {
    out[0] = lam_norm(in[0], &(lam_norm_options){.order = 1});
}
/* clang-format on */

BODY(norm_of_order_3) {
    out[0] = lam_norm(in[0], &(lam_norm_options){.order = 3});
}

BODY(greatest_norm) {
    out[0] = lam_norm(in[0], &(lam_norm_options){.order = INFINITY});
}

typedef struct row_of_points {
    lam_body body;
    double x[ELEMENTS];
    double slope[ELEMENTS];
    double diagonal[ELEMENTS]; /* of the Hessian; OFF in the first: not stated */
} row_of_points;

#define INF INFINITY
/* clang-format off */
static const row_of_points rows[] = {
    {all_max_reduce, {1, 4, 4, 0}, {0, 0.5, 0.5, 0}, {0, 0, 0, 0}},
    {all_max_reduce, {-INF, -INF, -INF, -INF}, {0.25, 0.25, 0.25, 0.25}, {0, 0, 0, 0}},
    {all_min_reduce, {1, 4, 1, 1}, {1. / 3, 0, 1. / 3, 1. / 3}, {0, 0, 0, 0}},
    {all_prod, {2, 0, 3, 5}, {0, 30, 0, 0}, {0, 0, 0, 0}},
    {all_prod, {2, 0, 0, 5}, {0, 0, 0, 0}, {0, 0, 0, 0}},
    /* Ties so far: of the first two, then of the last two that equal 4. */
    {all_cummax, {3, 3, 4, 4}, {1 + 5, 5, 100 + 500, 500}, {0, 0, 0, 0}},
    {all_cummin, {3, 3, 4, 3}, {1 + 5 + 50 + 1000. / 3, 5 + 50 + 1000. / 3, 0, 1000. / 3}, {0, 0, 0, 0}},
    /* Products 2, 0, 0, 0: by element 1 they have slopes 2, 6, 30; by element 0 nothing behind the first. */
    {all_cumprod, {2, 0, 3, 5}, {1, 20 + 600 + 30000, 0, 0}, {0, 0, 0, 0}},
    {all_cumprod, {2, 0, 0, 5}, {1, 20, 0, 0}, {0, 0, 0, 0}},
    {all_logsumexp, {-INF, -INF, -INF, -INF}, {0, 0, 0, 0}, {0, 0, 0, 0}},
    {all_logsumexp, {1, INF, INF, -INF}, {0, 0.5, 0.5, 0}, {OFF}},
    {all_logsumexp, {2, 2, -INF, -INF}, {0.5, 0.5, 0, 0}, {0.25, 0.25, 0, 0}},
    {all_cumlogsumexp, {-INF, -INF, 0, -INF}, {0, 0, 1100, 0}, {OFF}},
    {all_cumlogsumexp, {1, INF, INF, -INF}, {1, 10 + 50 + 500, 50 + 500, 0}, {OFF}},
    {all_norm, {0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}},
    {all_norm, {-1e10, 1, 0, 2}, {-1, 1e-10, 0, 2e-10}, {5e-30, 1e-10, 1e-10, 1e-10}},
    {norm_of_order_1, {0, 2, -2, 0}, {0, 1, -1, 0}, {0, 0, 0, 0}},
    {norm_of_order_3, {0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}},
    {norm_of_order_3, {0, 2, 0, 0}, {0, 1, 0, 0}, {OFF}},
    {greatest_norm, {0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}},
    {greatest_norm, {2, -2, 1, 0}, {0.5, -0.5, 0, 0}, {0, 0, 0, 0}},
    {all_std, {7, 7, 7, 7}, {0, 0, 0, 0}, {0, 0, 0, 0}},
};
/* clang-format on */

static void along_axis(int row, lam_dtype dtype, double tolerance) {
    const row_of_points *p = &rows[row];
    lam_fn *f = FN(p->body, 1, 1);
    lam_tensor *x = lam_cast(lam_array(ctx, LAM_F64, LAM_DIMS(ELEMENTS), p->x), dtype);
    lam_tensor *g = apply1(lam_grad(f, NULL), x), *h = apply1(lam_hessian(f, NULL), x), *y, *dy;
    for (int i = 0; i < ELEMENTS; i++) {
        CHECK(lam_item(lam_index(g, 0, i)), p->slope[i], tolerance, "row %d, grad by %d", row, i);
        if (p->diagonal[0] != OFF)
            CHECK(lam_item(lam_index(lam_index(h, 0, i), 0, i)), p->diagonal[i], tolerance, "row %d, Hessian, %d", row,
                  i);
        double one[ELEMENTS] = {0};
        one[i] = 1;
        lam_tensor *e = lam_cast(lam_array(ctx, LAM_F64, LAM_DIMS(ELEMENTS), one), dtype);
        lam_jvp(f, LAM_LIST(x), LAM_LIST(e), &y, &dy, 1, NULL);
        CHECK(lam_item(dy), p->slope[i], tolerance, "row %d, jvp by %d", row, i);
    }
}

START_TEST(operations_along_axes_at_singular_points) {
    along_axis(_i, LAM_F64, 1e-15);
    along_axis(_i, LAM_F32, 4e-7);
}
END_TEST

/* ---- special values ---------------------------------------------------------------------------------------------- */

typedef struct special {
    lam_body body;
    int inputs;
    double x[2], want; /* want: the sign of a zero counts */
} special;

#define HALF_PI 1.57079632679489661923
/* clang-format off */
static const special specials[] = {
    {of_abs, 1, {-0.0}, 0.0}, {of_abs, 1, {-INF}, INF}, {of_abs, 1, {NAN}, NAN},
    {of_sign, 1, {-0.0}, -0.0}, {of_sign, 1, {-INF}, -1}, {of_sign, 1, {NAN}, NAN},
    {of_floor, 1, {-0.0}, -0.0}, {of_floor, 1, {-INF}, -INF}, {of_floor, 1, {-0.5}, -1},
    {of_ceil, 1, {-0.5}, -0.0}, {of_ceil, 1, {INF}, INF}, {of_ceil, 1, {NAN}, NAN},
    {of_round, 1, {0.5}, 0.0}, {of_round, 1, {1.5}, 2}, {of_round, 1, {-0.5}, -0.0}, {of_round, 1, {-2.5}, -2},
    {of_trunc, 1, {-0.5}, -0.0}, {of_trunc, 1, {-INF}, -INF},
    {of_sqrt, 1, {-0.0}, -0.0}, {of_sqrt, 1, {INF}, INF}, {of_sqrt, 1, {-1}, NAN},
    {of_cbrt, 1, {-8}, -2}, {of_cbrt, 1, {-0.0}, -0.0}, {of_cbrt, 1, {-INF}, -INF},
    {of_rsqrt, 1, {0.0}, INF}, {of_rsqrt, 1, {INF}, 0.0}, {of_rsqrt, 1, {-1}, NAN},
    {of_reciprocal, 1, {-0.0}, -INF}, {of_reciprocal, 1, {-INF}, -0.0},
    {of_exp, 1, {-INF}, 0.0}, {of_exp, 1, {INF}, INF}, {of_exp, 1, {1e4}, INF}, {of_exp, 1, {-1e4}, 0.0},
    {of_exp, 1, {-0.0}, 1}, {of_exp, 1, {NAN}, NAN},
    {of_expm1, 1, {-INF}, -1}, {of_expm1, 1, {-0.0}, -0.0}, {of_expm1, 1, {INF}, INF},
    {of_log, 1, {0.0}, -INF}, {of_log, 1, {-0.0}, -INF}, {of_log, 1, {1}, 0.0}, {of_log, 1, {-1}, NAN},
    {of_log, 1, {INF}, INF}, {of_log2, 1, {0.0}, -INF}, {of_log10, 1, {0.0}, -INF},
    {of_log1p, 1, {-1}, -INF}, {of_log1p, 1, {-0.0}, -0.0}, {of_log1p, 1, {-2}, NAN}, {of_log1p, 1, {INF}, INF},
    {of_sin, 1, {-0.0}, -0.0}, {of_sin, 1, {INF}, NAN}, {of_cos, 1, {-INF}, NAN},
    {sine_of_both, 1, {-0.0}, -0.0}, {sine_of_both, 1, {INF}, NAN}, {cosine_of_both, 1, {-INF}, NAN},
    {cosine_of_both, 1, {-0.0}, 1},
    {of_asin, 1, {-0.0}, -0.0}, {of_asin, 1, {2}, NAN}, {of_acos, 1, {1}, 0.0}, {of_acos, 1, {-2}, NAN},
    {of_atan, 1, {INF}, HALF_PI}, {of_atan, 1, {-0.0}, -0.0},
    {of_asinh, 1, {-INF}, -INF}, {of_acosh, 1, {1}, 0.0}, {of_acosh, 1, {0.5}, NAN}, {of_acosh, 1, {INF}, INF},
    {of_atanh, 1, {1}, INF}, {of_atanh, 1, {-1}, -INF}, {of_atanh, 1, {2}, NAN}, {of_atanh, 1, {-0.0}, -0.0},
    {of_tanh, 1, {-INF}, -1}, {of_tanh, 1, {INF}, 1}, {of_tanh, 1, {-0.0}, -0.0},
    {of_logistic, 1, {-INF}, 0.0}, {of_logistic, 1, {INF}, 1}, {of_logistic, 1, {-1e4}, 0.0},
    {of_erf, 1, {-INF}, -1}, {of_erf, 1, {-0.0}, -0.0}, {of_erfc, 1, {INF}, 0.0}, {of_erfc, 1, {-INF}, 2},
    {of_erf_inv, 1, {-1}, -INF}, {of_erf_inv, 1, {-0.0}, -0.0}, {of_erf_inv, 1, {1.5}, NAN},
    {of_ndtri, 1, {0}, -INF}, {of_ndtri, 1, {1}, INF}, {of_ndtri, 1, {-0.5}, NAN}, {of_ndtri, 1, {0.5}, 0.0},
    {of_ndtr, 1, {-INF}, 0.0}, {of_ndtr, 1, {INF}, 1}, {of_ndtr, 1, {NAN}, NAN}, {of_log_ndtr, 1, {-INF}, -INF},
    {of_erfcx, 1, {INF}, 0.0}, {of_erfcx, 1, {-30}, INF}, {of_softplus, 1, {-INF}, 0.0}, {of_softplus, 1, {INF}, INF},
    {of_lgamma, 1, {-1}, INF}, {of_lgamma, 1, {INF}, INF}, {of_digamma, 1, {0.0}, -INF}, {of_zeta, 2, {1, 3}, INF},
    {of_zeta, 2, {0.5, 3}, NAN}, {of_zeta, 2, {2.5, -0.5}, NAN}, {of_zeta, 2, {3, 0.0}, INF},
    {of_zeta, 2, {3, -2}, INF}, {of_zeta, 2, {INF, 1}, 1}, {of_zeta, 2, {2, INF}, 0.0}, {of_digamma, 1, {-1}, NAN},
    {of_i0e, 1, {INF}, 0.0}, {of_i1, 1, {-INF}, -INF}, {of_igamma, 2, {0, 1}, 1}, {of_igamma, 2, {2, 0}, 0.0},
    {of_igamma, 2, {-1, 1}, NAN}, {of_igammac, 2, {2, INF}, 0.0}, {of_igammac, 2, {0, 0}, NAN},
    {of_is_nan, 1, {NAN}, 1}, {of_is_nan, 1, {INF}, 0}, {of_is_finite, 1, {-INF}, 0}, {of_is_finite, 1, {NAN}, 0},
    {of_add, 2, {INF, -INF}, NAN}, {of_add, 2, {0.0, -0.0}, 0.0}, {of_mul, 2, {0.0, INF}, NAN},
    {of_mul, 2, {-1, 0.0}, -0.0}, {of_div, 2, {0.0, 0.0}, NAN}, {of_div, 2, {1, -0.0}, -INF},
    {of_rem, 2, {INF, 1}, NAN}, {of_rem, 2, {1, 0.0}, NAN}, {of_rem, 2, {1, INF}, 1}, {of_rem, 2, {-0.0, 1}, -0.0},
    {of_rem, 2, {-7, 3}, -1},
    {of_pow, 2, {0.0, 0.0}, 1}, {of_pow, 2, {NAN, 0.0}, 1}, {of_pow, 2, {1, NAN}, 1}, {of_pow, 2, {-8, 0.5}, NAN},
    {of_pow, 2, {0.0, -1}, INF}, {of_pow, 2, {-0.0, -1}, -INF}, {of_pow, 2, {-0.0, 3}, -0.0},
    {of_pow, 2, {-INF, 3}, -INF}, {of_pow, 2, {-1, INF}, 1}, {of_pow, 2, {0.5, -INF}, INF}, {of_pow, 2, {-2, 3}, -8},
    {of_max, 2, {NAN, 1}, NAN}, {of_max, 2, {1, NAN}, NAN}, {of_max, 2, {-INF, INF}, INF},
    {of_min, 2, {NAN, 1}, NAN}, {of_min, 2, {1, NAN}, NAN}, {of_min, 2, {-INF, INF}, -INF},
    {of_atan2, 2, {-0.0, 1}, -0.0}, {of_atan2, 2, {1, 0.0}, HALF_PI}, {of_atan2, 2, {0.0, -0.0}, 2 * HALF_PI},
    {of_atan2, 2, {INF, INF}, HALF_PI / 2},
    {of_hypot, 2, {INF, NAN}, INF}, {of_hypot, 2, {-0.0, 0.0}, 0.0}, {of_hypot, 2, {3, -4}, 5},
    {of_copysign, 2, {3, -0.0}, -3}, {of_copysign, 2, {-INF, 1}, INF},
    {of_logaddexp, 2, {-INF, -INF}, -INF}, {of_logaddexp, 2, {INF, -INF}, INF}, {of_logaddexp, 2, {INF, INF}, INF},
    {of_logaddexp, 2, {NAN, INF}, NAN}, {of_logaddexp, 2, {1, -INF}, 1},
    {of_xlogy, 2, {0.0, 0.0}, 0.0}, {of_xlogy, 2, {0.0, -1}, 0.0}, {of_xlogy, 2, {0.0, NAN}, NAN},
    {of_xlogy, 2, {0.0, INF}, 0.0}, {of_xlogy, 2, {1, 0.0}, -INF},
    {of_eq, 2, {NAN, NAN}, 0}, {of_ne, 2, {NAN, NAN}, 1}, {of_lt, 2, {NAN, 1}, 0}, {of_ge, 2, {1, NAN}, 0},
    {of_eq, 2, {0.0, -0.0}, 1},
};
/* clang-format on */

/* Long enough for a loop over vectors and its remainder, which must agree. */
enum { COPIES = 19 };

static void special_value(int row, lam_dtype dtype, double tolerance) {
    const special *s = &specials[row];
    lam_tensor *x[2], *y;
    double got[COPIES];
    for (int i = 0; i < s->inputs; i++) x[i] = lam_full(ctx, dtype, LAM_DIMS(COPIES), s->x[i]);
    lam_call(FN(s->body, s->inputs, 1), (lam_list){(size_t)s->inputs, x}, &y, 1);
    ck_assert_int_eq(lam_read(lam_cast(y, LAM_F64), got, sizeof got), LAM_OK);
    for (int i = 0; i < COPIES; i++) {
        CHECK(got[i], s->want, tolerance, "row %d, element %d of %s", row, i, dtype == LAM_F64 ? "f64" : "f32");
        ck_assert_msg(isnan(s->want) || signbit(got[i]) == signbit(s->want), "row %d: sign of %g", row, got[i]);
    }
}

START_TEST(special_values) {
    special_value(_i, LAM_F64, 3e-16);
    special_value(_i, LAM_F32, 2e-7);
}
END_TEST

START_TEST(special_values_of_reductions) {
    lam_tensor *none = lam_zeros(ctx, LAM_F64, LAM_DIMS(0));
    EXPECT_NUM(lam_sum(VEC(INF, -INF), NULL), NAN);
    EXPECT_NUM(lam_sum(none, NULL), 0);
    EXPECT_NUM(lam_prod(none, NULL), 1);
    EXPECT_NUM(lam_prod(VEC(0, INF), NULL), NAN);
    EXPECT_NUM(lam_mean(none, NULL), NAN);
    EXPECT_NUM(lam_max_reduce(none, NULL), -INF);
    EXPECT_NUM(lam_min_reduce(none, NULL), INF);
    EXPECT_NUM(lam_max_reduce(VEC(1, NAN, INF), NULL), NAN);
    EXPECT_NUM(lam_min_reduce(VEC(1, NAN, -INF), NULL), NAN);
    EXPECT_NUM(lam_argmax(VEC(1, NAN, INF), 0), 1);
    EXPECT_NUM(lam_logsumexp(none, NULL), -INF);
    EXPECT_NUM(lam_logsumexp(VEC(1, INF), NULL), INF);
    EXPECT_NUM(lam_logsumexp(VEC(-INF, -INF), NULL), -INF);
    EXPECT_NUM(lam_logsumexp(VEC(INF, NAN), NULL), NAN);
    EXPECT(lam_cummax(VEC(1, NAN, 2), 0), LAM_DIMS(3), 1, NAN, NAN);
    EXPECT(lam_cumlogsumexp(VEC(-INF, 0, INF), 0), LAM_DIMS(3), -INF, 0, INF);
}
END_TEST

Suite *suite_primitives_singular(void) {
    Suite *suite = SUITE_OF("primitives/singular", a_zero_tangent_where_the_slope_is_infinite_gives_nan,
                            special_values_of_reductions);
    suite_loop(suite, operations_of_numbers_at_singular_points, (int)(sizeof points / sizeof points[0]));
    suite_loop(suite, derivatives_of_extreme_numbers, (int)(sizeof extremes / sizeof extremes[0]));
    suite_loop(suite, what_is_not_taken_sends_exactly_zero, (int)(sizeof not_taken / sizeof not_taken[0]));
    suite_loop(suite, operations_along_axes_at_singular_points, (int)(sizeof rows / sizeof rows[0]));
    suite_loop(suite, special_values, (int)(sizeof specials / sizeof specials[0]));
    return suite;
}
