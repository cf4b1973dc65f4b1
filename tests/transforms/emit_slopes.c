/* Programs as C: derivatives of x^y by both, of every order, also at x = 0; slopes beside NaN; sines and cosines, which
 * are slopes of each other, of one operand. */
#include "tests/support.h"
#include "tests/transforms/build.h"

#include <dlfcn.h>
#include <lamina/program.h>
#include <lamina/special.h>

#include <math.h>

enum { BASES = 6, EXPONENTS = 9, N = BASES * EXPONENTS, ORDERS = 4 };
static const double bases[BASES] = {0, 0.5, 1, 2.5, INFINITY, -2},
                    exponents[EXPONENTS] = {0, 1, 2, -1, 3.5, 2.5, -2, INFINITY, -INFINITY};

BODY(slopes) {
    lam_tensor *all[ORDERS * ORDERS];
    for (int i = 0; i < ORDERS * ORDERS; i++) all[i] = lam_pow_slope(in[0], in[1], i / ORDERS, i % ORDERS);
    out[0] = lam_stack((lam_list){ORDERS * ORDERS, all}, 0);
}

/* What eager calls give, whose slopes are compared with MPFR elsewhere (accuracy). */
START_TEST(powers_have_the_slopes_of_calls) {
    static double x[N], y[N], want[ORDERS * ORDERS * N], got[ORDERS * ORDERS * N];
    for (int i = 0; i < N; i++) {
        x[i] = bases[i / EXPONENTS];
        y[i] = exponents[i % EXPONENTS];
    }
    build b;
    lam_list at = LAM_LIST(lam_array(ctx, LAM_F64, LAM_DIMS(N), x), lam_array(ctx, LAM_F64, LAM_DIMS(N), y));
    ck_assert_int_eq(lam_read(lam_apply(FN(slopes, 2, 1), at), want, sizeof want), LAM_OK);
    build_begin(&b);
    build_add(&b, "slopes", lam_trace(FN(slopes, 2, 1), at), NULL);
    build_end(&b);
    void (*call)(const double *, const double *, double *);
    build_find(&b, "slopes", &call);
    call(x, y, got);
    for (int i = 0; i < ORDERS * ORDERS * N; i++)
        ck_assert_msg(
            got[i] == want[i] || (isnan(got[i]) && isnan(want[i])) || fabs(got[i] - want[i]) <= 1e-13 * fabs(want[i]),
            "n %d, m %d of %g ^ %g: %g, not %g", i / N / ORDERS, i / N % ORDERS, x[i % N], y[i % N], got[i], want[i]);
    dlclose(b.library);
}
END_TEST

BODY(power) {
    out[0] = lam_pow(in[0], in[1]);
}

/* x^y log(x)^2 at x = 2, y = 3; at x = y = 0 the table of ops.h says 0. */
START_TEST(second_derivatives_by_an_exponent) {
    build b;
    lam_list at = LAM_LIST(num(2), num(3));
    lam_fn *f = FN(power, 2, 1);
    build_begin(&b);
    build_add(&b, "curvature", lam_trace(lam_hessian(f, &(lam_jacobian_options){.argnums = LAM_AXES(1)}), at),
              &(lam_emit_options){.name = "curvature"});
    build_add(&b, "slope", lam_trace(lam_grad(f, &(lam_grad_options){.argnums = LAM_AXES(1)}), at),
              &(lam_emit_options){.name = "slope"});
    build_end(&b);
    void (*call)(const double *, const double *, double *);
    const double two = 2, three = 3, zero = 0;
    double got;
    build_find(&b, "curvature", &call);
    call(&two, &three, &got);
    ck_assert_double_eq_tol(got, 8 * log(2) * log(2), 1e-14);
    build_find(&b, "slope", &call);
    call(&zero, &zero, &got);
    ck_assert_double_eq(got, 0);
    dlclose(b.library);
}
END_TEST

BODY(angle) {
    out[0] = lam_atan2(in[0], in[1]);
}

BODY(entropy) {
    out[0] = lam_rel_entr(in[0], in[1]);
}

/* A slope is NaN where an operand is, whatever the other one is. */
START_TEST(slopes_know_nan) {
    static const double infinite = INFINITY, zero = 0, none = NAN;
    build b;
    lam_list at = LAM_LIST(num(2), num(3));
    build_begin(&b);
    build_add(&b, "angle", lam_trace(lam_grad(FN(angle, 2, 1), NULL), at), &(lam_emit_options){.name = "angle"});
    build_add(&b, "entropy", lam_trace(lam_grad(FN(entropy, 2, 1), NULL), at), &(lam_emit_options){.name = "entropy"});
    build_end(&b);
    void (*call)(const double *, const double *, double *);
    double got;
    build_find(&b, "angle", &call);
    call(&infinite, &none, &got);
    ck_assert_double_nan(got);
    call(&none, &infinite, &got);
    ck_assert_double_nan(got);
    build_find(&b, "entropy", &call);
    call(&zero, &none, &got);
    ck_assert_double_nan(got);
    dlclose(b.library);
}
END_TEST

enum { LINE = 5 };

/* The sums lie in memory that nobody needs behind sine and cosine, of which the sine has to be kept. */
BODY(waves_of_sums) {
    lam_tensor *sine, *cosine;
    lam_sincos(lam_cumsum(in[0], 0), &sine, &cosine);
    out[0] = lam_sum(cosine, NULL);
    out[1] = lam_cumsum(sine, 0);
}

/* The one that is written over the operand of both is not what the other is taken of. By libm, of 1, 2, ... */
START_TEST(sine_and_cosine_of_what_is_written_over) {
    static const double x[LINE] = {1, 1, 1, 1, 1};
    double cosines, sines[LINE], total[2] = {0, 0};
    build b;
    build_begin(&b);
    build_add(&b, "waves", lam_trace(FN(waves_of_sums, 1, 2), LAM_LIST(lam_array(ctx, LAM_F64, LAM_DIMS(LINE), x))),
              &(lam_emit_options){.name = "waves"});
    build_end(&b);
    void (*call)(const double *, double *, double *);
    build_find(&b, "waves", &call);
    call(x, &cosines, sines);
    for (int i = 0; i < LINE; i++) {
        total[0] += cos(i + 1);
        total[1] += sin(i + 1);
        ck_assert_double_eq_tol(sines[i], total[1], 1e-15);
    }
    ck_assert_double_eq_tol(cosines, total[0], 1e-15);
    dlclose(b.library);
}
END_TEST

Suite *suite_transforms_emit_slopes(void) {
    return SUITE_OF("transforms/emit_slopes", powers_have_the_slopes_of_calls, second_derivatives_by_an_exponent,
                    slopes_know_nan, sine_and_cosine_of_what_is_written_over);
}
