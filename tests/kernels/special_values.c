/* What the elementwise loops of every instruction set give for zeros of either sign, infinities and NaNs: as C's
 * Annex F has it, all others as the docstrings of the operations say. */
#include <check.h>
#include <math.h>

#include "lib/kernels/special/special.h"

#include "tests/kernels/sets.h"

static const lam__simd *sets[SETS];
static int set_count;

static void setup(void) {
    set_count = sets_of_machine(sets);
    ck_assert_int_gt(set_count, 0);
}

static const int64_t steps[OPERANDS] = {1, 1, 1, 1};

/* ---- real numbers ------------------------------------------------------------------------------------------------ */

typedef struct special {
    lam__loop_id id;
    double x, y, out;
} special;

#define OP(name) LAM__LOOP_##name

/* Rows. */
/* clang-format off */
/* C17 Annex F.10; max, min, sign, rem by 0, logistic and rsqrt as kernels.h and the operations' docstrings say. */
static const special specials[] = {
    {OP(neg), 0.0, 0, -0.0},
    {OP(abs), -0.0, 0, 0.0},
    {OP(abs), -INFINITY, 0, INFINITY},
    {OP(sign), -0.0, 0, -0.0},
    {OP(sign), NAN, 0, NAN},
    {OP(sign), -INFINITY, 0, -1},
    {OP(round), 0.5, 0, 0},
    {OP(round), 1.5, 0, 2},
    {OP(round), 2.5, 0, 2},
    {OP(round), -0.5, 0, -0.0},
    {OP(floor), -0.0, 0, -0.0},
    {OP(floor), -0.5, 0, -1},
    {OP(ceil), -0.5, 0, -0.0},
    {OP(trunc), -1.7, 0, -1},
    {OP(trunc), INFINITY, 0, INFINITY},
    {OP(sqrt), -0.0, 0, -0.0},
    {OP(sqrt), -1, 0, NAN},
    {OP(sqrt), INFINITY, 0, INFINITY},
    {OP(rsqrt), 0.0, 0, INFINITY},
    {OP(rsqrt), -0.0, 0, -INFINITY},
    {OP(rsqrt), INFINITY, 0, 0},
    {OP(rsqrt), -1, 0, NAN},
    {OP(rsqrt), 4, 0, 0.5},
    {OP(reciprocal), -0.0, 0, -INFINITY},
    {OP(cbrt), -0.0, 0, -0.0},
    {OP(cbrt), -INFINITY, 0, -INFINITY},
    {OP(cbrt), NAN, 0, NAN},
    {OP(exp), -0.0, 0, 1},
    {OP(exp), -INFINITY, 0, 0},
    {OP(exp), INFINITY, 0, INFINITY},
    {OP(exp), NAN, 0, NAN},
    {OP(exp2), 10, 0, 1024},
    {OP(exp2), -INFINITY, 0, 0},
    {OP(expm1), -0.0, 0, -0.0},
    {OP(expm1), -INFINITY, 0, -1},
    {OP(expm1), INFINITY, 0, INFINITY},
    {OP(log), 0.0, 0, -INFINITY},
    {OP(log), -0.0, 0, -INFINITY},
    {OP(log), 1, 0, 0},
    {OP(log), -1, 0, NAN},
    {OP(log), INFINITY, 0, INFINITY},
    {OP(log2), 1024, 0, 10},
    {OP(log2), 0.0, 0, -INFINITY},
    {OP(log10), 1000, 0, 3},
    {OP(log10), -1, 0, NAN},
    {OP(log1p), -0.0, 0, -0.0},
    {OP(log1p), -1, 0, -INFINITY},
    {OP(log1p), -2, 0, NAN},
    {OP(log1p), INFINITY, 0, INFINITY},
    {OP(sin), -0.0, 0, -0.0},
    {OP(sin), INFINITY, 0, NAN},
    {OP(cos), -0.0, 0, 1},
    {OP(cos), -INFINITY, 0, NAN},
    {OP(tan), -0.0, 0, -0.0},
    {OP(tan), INFINITY, 0, NAN},
    {OP(asin), -0.0, 0, -0.0},
    {OP(asin), 1.5, 0, NAN},
    {OP(acos), 1, 0, 0},
    {OP(acos), -1.5, 0, NAN},
    {OP(atan), -0.0, 0, -0.0},
    {OP(sinh), -0.0, 0, -0.0},
    {OP(sinh), -INFINITY, 0, -INFINITY},
    {OP(cosh), 0, 0, 1},
    {OP(cosh), -INFINITY, 0, INFINITY},
    {OP(tanh), -0.0, 0, -0.0},
    {OP(tanh), -INFINITY, 0, -1},
    {OP(asinh), -0.0, 0, -0.0},
    {OP(asinh), -INFINITY, 0, -INFINITY},
    {OP(acosh), 1, 0, 0},
    {OP(acosh), 0.5, 0, NAN},
    {OP(acosh), INFINITY, 0, INFINITY},
    {OP(atanh), -0.0, 0, -0.0},
    {OP(atanh), -1, 0, -INFINITY},
    {OP(atanh), 1.5, 0, NAN},
    {OP(logistic), 0, 0, 0.5},
    {OP(logistic), INFINITY, 0, 1},
    {OP(logistic), -INFINITY, 0, 0},
    {OP(logistic), NAN, 0, NAN},
    {OP(logistic_slope), 0, 0, 0.25},
    {OP(logistic_slope), -INFINITY, 0, 0},
    {OP(logistic_slope), NAN, 0, NAN},
    {OP(silu), -0.0, 0, -0.0},
    {OP(silu), INFINITY, 0, INFINITY},
    {OP(silu), -INFINITY, 0, -0.0},
    {OP(silu), NAN, 0, NAN},
    {OP(silu_slope), -0.0, 0, 0.5},
    {OP(silu_slope), INFINITY, 0, 1},
    {OP(silu_slope), -INFINITY, 0, -0.0},
    {OP(silu_slope), NAN, 0, NAN},
    {OP(mish), -0.0, 0, -0.0},
    {OP(mish), INFINITY, 0, INFINITY},
    {OP(mish), -INFINITY, 0, -0.0},
    {OP(mish), NAN, 0, NAN},
    {OP(mish_slope), -0.0, 0, 0.6},
    {OP(mish_slope), INFINITY, 0, 1},
    {OP(mish_slope), -INFINITY, 0, -0.0},
    {OP(mish_slope), NAN, 0, NAN},
    {OP(gelu), -0.0, 0, -0.0},
    {OP(gelu), INFINITY, 0, INFINITY},
    {OP(gelu), -INFINITY, 0, -0.0},
    {OP(gelu), NAN, 0, NAN},
    {OP(gelu_slope), -0.0, 0, 0.5},
    {OP(gelu_slope), INFINITY, 0, 1},
    {OP(gelu_slope), -INFINITY, 0, -0.0},
    {OP(gelu_slope), NAN, 0, NAN},
    {OP(tanh_slope), -0.0, 0, 1},
    {OP(tanh_slope), INFINITY, 0, 0},
    {OP(tanh_slope), NAN, 0, NAN},
    {OP(erf), -0.0, 0, -0.0},
    {OP(erf), -INFINITY, 0, -1},
    {OP(erfc), -INFINITY, 0, 2},
    {OP(erfc), INFINITY, 0, 0},
    {OP(lgamma), 1, 0, 0},
    {OP(lgamma), 2, 0, 0},
    {OP(lgamma), 0.0, 0, INFINITY},
    {OP(lgamma), -0.0, 0, INFINITY},
    {OP(lgamma), -3, 0, INFINITY},
    {OP(lgamma), -INFINITY, 0, INFINITY},
    {OP(lgamma), INFINITY, 0, INFINITY},
    {OP(tan), -INFINITY, 0, NAN},
    {OP(sinh), INFINITY, 0, INFINITY},
    {OP(cosh), NAN, 0, NAN},
    {OP(asin), -INFINITY, 0, NAN},
    {OP(acos), INFINITY, 0, NAN},
    {OP(acosh), -INFINITY, 0, NAN},
    {OP(atanh), 1, 0, INFINITY},
    {OP(atanh), INFINITY, 0, NAN},
    {OP(exp2), INFINITY, 0, INFINITY},
    {OP(log2), -0.0, 0, -INFINITY},
    {OP(log2), INFINITY, 0, INFINITY},
    {OP(log2), -1, 0, NAN},
    {OP(log10), -0.0, 0, -INFINITY},
    {OP(log10), INFINITY, 0, INFINITY},
    {OP(cbrt), INFINITY, 0, INFINITY},
    {OP(erf), INFINITY, 0, 1},
    {OP(ceil), -INFINITY, 0, -INFINITY},
    {OP(floor), INFINITY, 0, INFINITY},
    {OP(round), -INFINITY, 0, -INFINITY},
    {OP(round), -0.0, 0, -0.0},
    {OP(trunc), -0.5, 0, -0.0},
    {OP(pow), -0.0, -INFINITY, INFINITY},
    {OP(pow), -1, -INFINITY, 1},
    {OP(pow), 0.5, INFINITY, 0},
    {OP(pow), 2, INFINITY, INFINITY},
    {OP(pow), -INFINITY, -2, 0},
    {OP(pow), -INFINITY, 2, INFINITY},
    {OP(pow), INFINITY, -1, 0},
    {OP(pow), 0.0, 0.5, 0},
    {OP(pow), 0.0, -0.5, INFINITY},
    {OP(pow), NAN, 1, NAN},
    {OP(pow), 2, NAN, NAN},
    {OP(hypot), NAN, 1, NAN},
    {OP(atan2), -0.0, 0.0, -0.0},
    {OP(atan2), NAN, 1, NAN},
    {OP(atan2), 1, INFINITY, 0.0},
    {OP(copysign), -INFINITY, 1, INFINITY},
    {OP(nextafter), 0.0, -0.0, -0.0},
    {OP(nextafter), NAN, 1, NAN},
    {OP(nextafter), INFINITY, INFINITY, INFINITY},
    {OP(digamma), -0.0, 0, INFINITY},
    {OP(digamma), 0.0, 0, -INFINITY},
    {OP(digamma), -2, 0, NAN},
    {OP(digamma), INFINITY, 0, INFINITY},
    {OP(erf_inv), 1, 0, INFINITY},
    {OP(erf_inv), -0.0, 0, -0.0},
    {OP(erf_inv), 2, 0, NAN},
    {OP(ndtri), 0.0, 0, -INFINITY},
    {OP(ndtri), 2, 0, NAN},
    {OP(ndtr), -INFINITY, 0, 0},
    {OP(ndtr), NAN, 0, NAN},
    {OP(log_ndtr), -INFINITY, 0, -INFINITY},
    {OP(log_ndtr), NAN, 0, NAN},
    {OP(softplus), -INFINITY, 0, 0},
    {OP(softplus), NAN, 0, NAN},
    {OP(logit), 0.0, 0, -INFINITY},
    {OP(logit), -0.0, 0, -INFINITY},
    {OP(logit), 1, 0, INFINITY},
    {OP(logit), 0.5, 0, 0},
    {OP(logit), 2, 0, NAN},
    {OP(logit), -1, 0, NAN},
    {OP(logit), INFINITY, 0, NAN},
    {OP(logit), NAN, 0, NAN},
    {OP(erfcx), -INFINITY, 0, INFINITY},
    {OP(erfcx), INFINITY, 0, 0},
    {OP(bessel_i), -INFINITY, 0, INFINITY},
    {OP(bessel_i), NAN, 0, NAN},
    {OP(zeta), 1, 2, INFINITY},
    {OP(zeta), 0.5, 2, NAN},
    {OP(zeta), 2, 0.0, INFINITY},
    {OP(zeta), NAN, 2, NAN},
    {OP(xlogy), 0.0, -1, 0},
    {OP(xlogy), -0.0, 0.0, 0},
    {OP(xlogy), 0.0, INFINITY, 0},
    {OP(xlogy), 0.0, NAN, NAN},
    {OP(xlogy), 2, 0.0, -INFINITY},
    {OP(xlogy), -2, 0.0, INFINITY},
    {OP(xlogy), 2, -1, NAN},
    {OP(xlogy), -INFINITY, 2, -INFINITY},
    {OP(xlogy), INFINITY, 1, NAN},
    {OP(xlogy), NAN, 1, NAN},
    {OP(xlog1py), 0.0, -1, 0},
    {OP(xlog1py), 0.0, INFINITY, 0},
    {OP(xlog1py), 0.0, NAN, NAN},
    {OP(xlog1py), 2, -1, -INFINITY},
    {OP(xlog1py), 2, -0.0, -0.0},
    {OP(xlog1py), 2, -3, NAN},
    {OP(xlog1py), 2, INFINITY, INFINITY},
    {OP(rel_entr), 0.0, 0.0, 0},
    {OP(rel_entr), 0.0, INFINITY, 0},
    {OP(rel_entr), -1, 1, INFINITY},
    {OP(rel_entr), 1, -1, INFINITY},
    {OP(rel_entr), 1, 0.0, INFINITY},
    {OP(rel_entr), 1, 1, 0},
    {OP(rel_entr), 1, INFINITY, -INFINITY},
    {OP(rel_entr), INFINITY, 1, INFINITY},
    {OP(rel_entr), NAN, -1, NAN},
    {OP(rel_entr), 0.0, NAN, NAN},
    {OP(log_ratio), 3, 3, 0},
    {OP(log_ratio), 0.0, 3, -INFINITY},
    {OP(log_ratio), 3, 0.0, INFINITY},
    {OP(log_ratio), 3, INFINITY, -INFINITY},
    {OP(log_ratio), -3, 3, NAN},
    {OP(log_ratio), 49, 49, 0},
    {OP(log_ratio), INFINITY, INFINITY, NAN},
    {OP(hypot_slope), 0.0, 0.0, 0},
    {OP(hypot_slope), -3, 4, -0.6},
    {OP(hypot_slope), -INFINITY, 1, -1},
    {OP(hypot_slope), 1, -INFINITY, 0},
    {OP(hypot_slope), INFINITY, INFINITY, NAN},
    {OP(hypot_slope), NAN, 1, NAN},
    {OP(hypot_slope), 1, NAN, NAN},
    {OP(atan2_slope), 0.0, 0.0, NAN},
    {OP(atan2_slope), 0.0, -4, 0},
    {OP(atan2_slope), INFINITY, 1, 0},
    {OP(atan2_slope), 1, -INFINITY, 0},
    {OP(atan2_slope), NAN, INFINITY, NAN},
    {OP(polygamma_gap), 2, 0.0, 0},
    {OP(polygamma_gap), NAN, 1, NAN},
    {OP(sub), 0.0, 0.0, 0.0},
    {OP(div), 1, -0.0, -INFINITY},
    {OP(div), 0.0, 0.0, NAN},
    {OP(rem), -0.0, 1, -0.0},
    {OP(rem), -5, 3, -2},
    {OP(rem), 5, -3, 2},
    {OP(rem), 1, 0.0, NAN},
    {OP(rem), INFINITY, 1, NAN},
    {OP(rem), -1, INFINITY, -1},
    {OP(pow), NAN, 0.0, 1},
    {OP(pow), 1, NAN, 1},
    {OP(pow), -1, INFINITY, 1},
    {OP(pow), -0.0, -3, -INFINITY},
    {OP(pow), -0.0, -2, INFINITY},
    {OP(pow), -0.0, 3, -0.0},
    {OP(pow), -2, 0.5, NAN},
    {OP(pow), 0.5, -INFINITY, INFINITY},
    {OP(pow), 2, -INFINITY, 0},
    {OP(pow), -INFINITY, -3, -0.0},
    {OP(pow), -INFINITY, 3, -INFINITY},
    {OP(pow), INFINITY, 0.5, INFINITY},
    {OP(pow), -2, 3, -8},
    {OP(max), NAN, 1, NAN},
    {OP(max), 1, NAN, NAN},
    {OP(max), -0.0, 0.0, 0.0},
    {OP(max), 0.0, -0.0, 0.0},
    {OP(min), NAN, 1, NAN},
    {OP(min), 1, NAN, NAN},
    {OP(min), 0.0, -0.0, -0.0},
    {OP(min), -0.0, 0.0, -0.0},
    {OP(max), -INFINITY, NAN, NAN},
    {OP(atan2), -0.0, 1, -0.0},
    {OP(atan2), 0.0, INFINITY, 0.0},
    {OP(atan2), -0.0, INFINITY, -0.0},
    {OP(atan2), 1, NAN, NAN},
    {OP(hypot), INFINITY, NAN, INFINITY},
    {OP(hypot), NAN, -INFINITY, INFINITY},
    {OP(hypot), -0.0, -0.0, 0.0},
    {OP(hypot), 3, 4, 5},
    {OP(logaddexp), INFINITY, INFINITY, INFINITY},
    {OP(logaddexp), -INFINITY, -INFINITY, -INFINITY},
    {OP(logaddexp), INFINITY, -INFINITY, INFINITY},
    {OP(logaddexp), -INFINITY, 3, 3},
    {OP(logaddexp), NAN, INFINITY, NAN},
    {OP(logaddexp), -INFINITY, NAN, NAN},
    {OP(logaddexp), 1e38, -1e38, 1e38},
    {OP(logaddexp_slope), INFINITY, INFINITY, 0.5},
    {OP(logaddexp_slope), -INFINITY, -INFINITY, 0.5},
    {OP(logaddexp_slope), INFINITY, -INFINITY, 1},
    {OP(logaddexp_slope), -INFINITY, 3, 0},
    {OP(logaddexp_slope), 1e38, -1e38, 1},
    {OP(logaddexp_slope), NAN, INFINITY, NAN},
    {OP(logaddexp_slope), -INFINITY, NAN, NAN},
    {OP(logaddexp2_slope), 7, 7, 0.5},
    {OP(logaddexp2_slope), INFINITY, INFINITY, 0.5},
    {OP(logaddexp2_slope), 3, INFINITY, 0},
    {OP(logaddexp2_slope), NAN, 0, NAN},
    {OP(exp_gap), INFINITY, INFINITY, NAN},
    {OP(exp_gap), -INFINITY, 3, 0},
    {OP(exp_gap), 3, -INFINITY, INFINITY},
    {OP(exp_gap), 1e38, 1e38, 1},
    {OP(exp_gap), NAN, 1, NAN},
    {OP(log_cosh), -0.0, 0, 0},
    {OP(log_cosh), -INFINITY, 3, INFINITY},
    {OP(log_cosh), INFINITY, INFINITY, NAN},
    {OP(log_cosh), 1, NAN, NAN},
    {OP(logaddexp2), 5, 5, 6},
    {OP(logaddexp2), INFINITY, INFINITY, INFINITY},
    {OP(logaddexp2), -INFINITY, -INFINITY, -INFINITY},
    {OP(logaddexp2), NAN, -INFINITY, NAN},
    {OP(copysign), NAN, 1, NAN},
    {OP(copysign), 2, -0.0, -2},
};
/* clang-format on */

START_TEST(special_values_are_those_of_annex_f) {
    const special *s = &specials[_i];
    for (int k = 0; k < set_count; k++) {
        double x = s->x, y = s->y, out;
        float xf = (float)x, yf = (float)y, outf, wanted = (float)s->out;
        sets_loop(sets[k], s->id, LAM_F64)(1, (void *[]){&out, &x, &y}, steps, NULL);
        sets_loop(sets[k], s->id, LAM_F32)(1, (void *[]){&outf, &xf, &yf}, steps, NULL);
        EXPECT_THAT(sets_same(LAM_F64, &out, &s->out), "%s %s(%g, %g) = %g, should be %g", sets[k]->name,
                    sets_rows[s->id].name, x, y, out, s->out);
        EXPECT_THAT(sets_same(LAM_F32, &outf, &wanted), "%s %sf(%g, %g) = %g, should be %g", sets[k]->name,
                    sets_rows[s->id].name, x, y, outf, s->out);
    }
}
END_TEST

/* atan2 at the corners, to which no exact double belongs: multiples of pi/4 rounded, from their decimal digits. */
START_TEST(atan2_knows_its_quadrants) {
    static const double rows[][3] = {
        {0.0, -0.0, 3.14159265358979323846},
        {-0.0, -1, -3.14159265358979323846},
        {1, 0.0, 1.57079632679489661923},
        {-1, -0.0, -1.57079632679489661923},
        {INFINITY, INFINITY, 0.78539816339744830962},
        {-INFINITY, -INFINITY, -2.35619449019234492885},
        {1, -INFINITY, 3.14159265358979323846},
        {-INFINITY, 1, -1.57079632679489661923},
    };
    for (int k = 0; k < set_count; k++)
        for (int i = 0; i < (int)(sizeof rows / sizeof *rows); i++) {
            double y = rows[i][0], x = rows[i][1], out;
            sets_loop(sets[k], OP(atan2), LAM_F64)(1, (void *[]){&out, &y, &x}, steps, NULL);
            EXPECT_THAT(out == rows[i][2], "atan2(%g, %g) = %.17g", y, x, out);
        }
}
END_TEST

/* ---- derivatives of powers --------------------------------------------------------------------------------------- */

/* The table in ops.h, and limits. */
START_TEST(slopes_of_powers_at_special_points) {
    static const struct {
        int n, m;
        double x, y, out;
    } rows[] = {
        {1, 0, 0.0, 0.0, 0},
        {1, 0, 0.0, 1, 1},
        {1, 0, 0.0, 2, 0},
        {1, 0, 0.0, 0.5, INFINITY},
        {1, 0, -0.0, 2, 0},
        {1, 0, 0.0, -1, -INFINITY},
        {1, 0, -0.0, -2, INFINITY},
        {1, 0, -2, 3, 12},
        {1, 0, -2, 2, -4},
        {1, 0, -2, 2.5, NAN},
        {1, 0, 3, 0.0, 0},
        {1, 0, NAN, 2, NAN},
        {1, 0, 0.5, INFINITY, 0},
        {1, 0, INFINITY, 2, INFINITY},
        {1, 0, INFINITY, 1, 1},
        {1, 0, INFINITY, 0.5, 0},
        {1, 0, -INFINITY, 2, -INFINITY},
        {2, 0, 0.0, 2, 2},
        {2, 0, 0.0, 1, 0},
        {2, 0, 0.0, 3, 0},
        {2, 0, 0.0, 1.5, INFINITY},
        {2, 0, -3, 3, -18},
        {3, 0, 0.0, 3, 6},
        {0, 1, 0.0, 0.0, 0},
        {0, 1, 0.0, 2, 0},
        {0, 1, 0.0, -1, NAN},
        {0, 1, -2, 3, NAN},
        {0, 1, 1, 5, 0},
        {0, 2, 0.0, 2, 0},
        {1, 1, 0.0, 2, 0},
        {1, 1, 0.0, 1, -INFINITY},
        {1, 1, 1, 7, 1},
        {1, 1, -1, 2, NAN},
        {0, 1, 1, INFINITY, 0},
    };
    for (int k = 0; k < set_count; k++)
        for (int i = 0; i < (int)(sizeof rows / sizeof *rows); i++) {
            const int64_t code = LAM__SLOPE_CODE(rows[i].n, rows[i].m);
            double x = rows[i].x, y = rows[i].y, out;
            sets_loop(sets[k], OP(pow_slope), LAM_F64)(1, (void *[]){&out, &x, &y}, steps, &code);
            EXPECT_THAT(out == rows[i].out || (isnan(out) && isnan(rows[i].out)),
                        "%s: derivative %d, %d of %g^%g is %g, not %g", sets[k]->name, rows[i].n, rows[i].m, x, y, out,
                        rows[i].out);
        }
}
END_TEST

Suite *suite_kernels_special_values(void) {
    Suite *suite = suite_create("kernels/special_values");
    TCase *tests = tcase_create("special_values");
    tcase_add_unchecked_fixture(tests, setup, NULL);
    tcase_add_loop_test(tests, special_values_are_those_of_annex_f, 0, (int)(sizeof specials / sizeof *specials));
    tcase_add_test(tests, atan2_knows_its_quadrants);
    tcase_add_test(tests, slopes_of_powers_at_special_points);
    suite_add_tcase(suite, tests);
    return suite;
}
