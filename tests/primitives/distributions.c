/* Distributions made of uniform, normal, exponential and gamma variables of a key, and counts: the numbers of
 * jax.random, one result per call whatever transform it is under, derivatives by parameters, what the numbers look
 * like, and what is refused. */
#include "tests/primitives/distributions_values.h"
#include "tests/primitives/random_draws.h"

/* ---- against jax.random ------------------------------------------------------------------------------------------ */

#define SCALES  VEC(0.5, 1, 3)
#define FREEDOM VEC(0.3, 1, 7, 50)
#define BELOW   VEC(5, 1, 0.7, 30)
#define TRIALS  VEC(5, 40, 20, 1000)
#define CHANCES VEC(0.3, 0.1, 0.95, 0.002)
#define SIX     LAM_DIMS(2, 3)
#define EIGHT   LAM_DIMS(2, 4)

BODY(binomial_of_key) {
    out[0] = lam_random_binomial(in[0], in[1], in[2], LAM_DIMS0);
}

/* One number for each of 8 keys. */
static lam_tensor *binomials(double n, double p, lam_dtype dtype) {
    lam_fn *each =
        lam_vmap(FN(binomial_of_key, 3, 1), &(lam_vmap_options){.in_axes = LAM_AXES(0, LAM_UNMAPPED, LAM_UNMAPPED)});
    return lam_apply(each, LAM_LIST(lam_split(key42(), 8), lam_cast(num(n), dtype), lam_cast(num(p), dtype)));
}

static lam_tensor *in_both(lam_tensor *x, bool wide) {
    return wide ? x : single(x);
}

/* The draw in f64 and in f32; x() is a parameter in the dtype. */
#define x(v) in_both(v, wide)
#define DRAW_BOTH(name, expression)                                                                                    \
    static lam_tensor *both_##name(bool wide) {                                                                        \
        lam_dtype dtype = wide ? LAM_F64 : LAM_F32;                                                                    \
        lam_tensor *key = key42();                                                                                     \
        (void)dtype, (void)key;                                                                                        \
        return expression;                                                                                             \
    }                                                                                                                  \
    DRAW(name##_f64, both_##name(true))                                                                                \
    DRAW(name##_f32, both_##name(false))

/* Some triangular numbers are next to 0, a small difference of large ones; those of gamma variables of small shapes are
 * exponentials of logarithms near -40 that JAX has to 64 units. */
/* clang-format off */
DRAW(rademacher_i64, lam_random_rademacher(key42(), LAM_I64, LAM_DIMS(2, 8)))
DRAW(rademacher_f32, lam_random_rademacher(key42(), LAM_F32, LAM_DIMS(2, 8)))
DRAW_BOTH(lognormal, lam_random_lognormal(key, x(SCALES), SIX))
DRAW_BOTH(rayleigh, lam_random_rayleigh(key, x(SCALES), SIX))
DRAW_BOTH(weibull_min, lam_random_weibull_min(key, x(SCALES), x(VEC(0.7, 1, 5)), SIX))
DRAW_BOTH(pareto, lam_random_pareto(key, x(VEC(0.5, 1, 4)), SIX))
DRAW_BOTH(maxwell, lam_random_maxwell(key, dtype, LAM_DIMS(5)))
DRAW_BOTH(double_sided_maxwell, lam_random_double_sided_maxwell(key, x(VEC(-1, 0, 2)), x(SCALES), SIX))
DRAW_BOTH(wald, lam_random_wald(key, x(SCALES), SIX))
DRAW_BOTH(triangular, lam_random_triangular(key, x(VEC(-1, 0, 2)), x(VEC(0, 0, 5)), x(VEC(1, 4, 6)), SIX))
DRAW_BOTH(chisquare, lam_random_chisquare(key, x(FREEDOM), EIGHT))
DRAW_BOTH(t, lam_random_t(key, x(FREEDOM), EIGHT))
DRAW_BOTH(f, lam_random_f(key, x(FREEDOM), x(BELOW), EIGHT))
DRAW_BOTH(generalized_normal, lam_random_generalized_normal(key, x(num(wide ? 2 : 1.5)), LAM_DIMS(6)))
DRAW_BOTH(ball, lam_random_ball(key, 3, x(num(wide ? 2 : 1.5)), LAM_DIMS(2)))
DRAW_BOTH(geometric, lam_random_geometric(key, x(VEC(0.9, 0.5, 0.01)), LAM_DIMS(3, 3)))
DRAW_BOTH(binomial, lam_random_binomial(key, x(TRIALS), x(CHANCES), LAM_DIMS(3, 4)))
DRAW_BOTH(binomial_many, binomials(1000, 0.4, dtype))
DRAW_BOTH(binomial_likely, binomials(77, 0.8, dtype))
DRAW(multinomial, lam_random_multinomial(key42(), VEC(9, 15), MAT(2, 3, .2, .3, .5, .6, .3, .1), LAM_DIMS(2)))
DRAW(orthogonal_33, lam_random_orthogonal(key42(), LAM_F64, 3, 3, LAM_DIMS(2)))
DRAW(orthogonal_42, lam_random_orthogonal(key42(), LAM_F64, 4, 2, LAM_DIMS(2)))
DRAW(orthogonal_23, lam_random_orthogonal(key42(), LAM_F64, 2, 3, LAM_DIMS(2)))

#define NEAR_BOTH(name, wide, single) NEAR(name##_f64, wide), NEAR(name##_f32, single)
static const sample samples[] = {
    EXACT(rademacher_i64), EXACT(rademacher_f32), EXACT(geometric_f64), EXACT(geometric_f32),
    EXACT(binomial_f64), EXACT(binomial_f32), EXACT(binomial_many_f64), EXACT(binomial_many_f32),
    EXACT(binomial_likely_f64), EXACT(binomial_likely_f32), EXACT(multinomial),
    NEAR_BOTH(lognormal, 16, 16), NEAR_BOTH(rayleigh, 3, 3), NEAR_BOTH(weibull_min, 4, 4), NEAR_BOTH(pareto, 4, 4),
    NEAR_BOTH(maxwell, 4, 4), NEAR_BOTH(double_sided_maxwell, 8, 8), NEAR_BOTH(wald, 8, 8),
    NEAR_BOTH(triangular, 512, 512), NEAR_BOTH(chisquare, 512, 16), NEAR_BOTH(t, 512, 16), NEAR_BOTH(f, 512, 16),
    NEAR_BOTH(generalized_normal, 64, 16), NEAR_BOTH(ball, 64, 16),
    NEAR(orthogonal_33, 64), NEAR(orthogonal_42, 64), NEAR(orthogonal_23, 64),
};
/* clang-format on */
#undef x

START_TEST(distributions_are_those_of_jax) {
    expect_sample(&samples[_i]);
}
END_TEST

/* ---- under transforms -------------------------------------------------------------------------------------------- */

/* Those that are smooth functions of their parameters by operations. */
enum { SMOOTH = 8, KINDS = 18, KEYS = 4 };

static void smooth_samples(lam_tensor *key, lam_tensor *a, lam_tensor *out[]) {
    lam_dims n = LAM_DIMS(3);
    out[0] = lam_random_lognormal(key, a, n);
    out[1] = lam_random_rayleigh(key, a, n);
    out[2] = lam_random_weibull_min(key, lam_square(a), a, n);
    out[3] = lam_random_pareto(key, a, n);
    out[4] = lam_random_double_sided_maxwell(key, lam_neg(a), a, n);
    out[5] = lam_random_wald(key, a, n);
    out[6] = lam_random_triangular(key, lam_neg(a), lam_mul(0.25, a), lam_square(lam_add(a, 1)), n);
    out[7] = lam_random_triangular(key, a, a, lam_mul(2, a), n);
}

BODY(samples_of_key) {
    lam_tensor *key = in[0], *a = in[1];
    lam_dims n = LAM_DIMS(2);
    smooth_samples(key, a, out);
    out[8] = lam_random_chisquare(key, a, n);
    out[9] = lam_random_t(key, a, n);
    out[10] = lam_random_f(key, a, lam_mul(2.0, a), n);
    out[11] = lam_random_generalized_normal(key, a, n);
    out[12] = lam_random_ball(key, 3, a, n);
    out[13] = lam_cast(lam_random_geometric(key, lam_logistic(a), n), LAM_F64);
    out[14] = lam_random_binomial(key, lam_mul(20.0, a), lam_logistic(a), n);
    out[15] = lam_random_multinomial(key, lam_mul(20.0, a), lam_stack(LAM_LIST(a, lam_square(a)), 0), n);
    out[16] = lam_random_maxwell(key, LAM_F64, n);
    out[17] = lam_random_orthogonal(key, LAM_F64, 2, 3, n);
}

/* A batch of keys, of parameters or of both gives for each example what it gives alone. */
START_TEST(a_batch_of_keys_gives_each_distribution) {
    lam_fn *f = FN(samples_of_key, 2, KINDS);
    lam_tensor *keys = lam_split(key42(), KEYS), *a = VEC(0.4, 1, 2.5, 11), *got[KINDS], *one[KINDS];
    int places[3][2] = {{0, LAM_UNMAPPED}, {LAM_UNMAPPED, 0}, {0, 0}}, *axes = places[_i];
    bool each_key = axes[0] == 0, each_a = axes[1] == 0;
    lam_tensor *first_key = lam_index(keys, 0, 0), *first_a = lam_index(a, 0, 0);
    ck_assert(lam_call(lam_vmap(f, &(lam_vmap_options){.in_axes = {2, axes}}),
                       LAM_LIST(each_key ? keys : first_key, each_a ? a : first_a), got, KINDS) == LAM_OK);
    for (int k = 0; k < KEYS; k++) {
        lam_list alone = LAM_LIST(each_key ? lam_index(keys, 0, k) : first_key, each_a ? lam_index(a, 0, k) : first_a);
        ck_assert(lam_call(f, alone, one, KINDS) == LAM_OK);
        for (int o = 0; o < KINDS; o++) EXPECT_SAME(lam_index(got[o], 0, k), one[o], 1e-14);
    }
}
END_TEST

BODY(sums_of_smooth_samples) {
    lam_tensor *y[SMOOTH];
    smooth_samples(key42(), in[0], y);
    for (int i = 0; i < SMOOTH; i++) out[i] = lam_sum(y[i], NULL);
}

START_TEST(derivatives_of_distributions) {
    lam_check_grads_options options = {.order = 2};
    lam_fn *f = FN(sums_of_smooth_samples, 1, SMOOTH);
    ck_assert_msg(lam_check_grads(f, LAM_LIST(num(0.7)), &options) == LAM_OK, "%s", lam_error(ctx));
    ck_assert_msg(lam_check_grads(lam_vmap(f, NULL), LAM_LIST(VEC(0.3, 1.2)), &options) == LAM_OK, "%s",
                  lam_error(ctx));
}
END_TEST

BODY(means_by_gamma) {
    lam_dims n = LAM_DIMS(40000);
    lam_tensor *key = key42(), *a = in[0];
    out[0] = lam_mean(lam_random_chisquare(key, a, n), NULL);
    out[1] = lam_mean(lam_log(lam_square(lam_random_t(key, a, n))), NULL);
    out[2] = lam_mean(lam_log(lam_random_f(key, a, lam_mul(3.0, a), n)), NULL);
    out[3] = lam_mean(lam_log(lam_abs(lam_random_generalized_normal(key, a, n))), NULL);
    out[4] = lam_mean(lam_square(lam_random_ball(key, 2, a, LAM_DIMS(20000))), NULL);
}

/* E x of chi-squared is df; E log t^2 = log(df) + psi(1/2) - psi(df/2); E log F = log(3) + psi(a/2) - psi(3a/2);
 * E log|x| of the generalised normal is psi(1/p)/p; E x_1^2 in the disc of exponent p is
 * Gamma(3/p) Gamma(2/p + 1) / (Gamma(1/p) Gamma(4/p + 1)). */
static lam_tensor *means_exactly(lam_tensor *a) {
    lam_tensor *half = lam_mul(0.5, a), *r = lam_reciprocal(a), *third = lam_mul(1.5, a);
    lam_tensor *ball =
        lam_add_all(LAM_LIST(lam_lgamma(lam_mul(3.0, r)), lam_lgamma(lam_add(1.0, lam_mul(2.0, r))),
                             lam_neg(lam_lgamma(r)), lam_neg(lam_lgamma(lam_add(1.0, lam_mul(4.0, r))))));
    return lam_stack(LAM_LIST(a, lam_sub(lam_log(a), lam_digamma(half)), lam_sub(lam_digamma(half), lam_digamma(third)),
                              lam_mul(r, lam_digamma(r)), lam_exp(ball)),
                     0);
}

BODY(exact_means) {
    out[0] = means_exactly(in[0]);
}

/* Derivatives of means are means of derivatives; within about five standard errors. */
START_TEST(derivatives_of_means_by_degrees_of_freedom) {
    lam_tensor *a = num((double[]){0.8, 2, 5}[_i]), *got[5];
    lam_tensor *want = lam_apply(lam_jacfwd(FN(exact_means, 1, 1), NULL), LAM_LIST(a));
    ck_assert(lam_call(lam_jacfwd(FN(means_by_gamma, 1, 5), NULL), LAM_LIST(a), got, 5) == LAM_OK);
    for (int i = 0; i < 5; i++) {
        double exact = lam_item(lam_index(want, 0, i));
        ck_assert_msg(fabs(lam_item(got[i]) - exact) < 0.03 * (0.2 + fabs(exact)), "mean %d: %g, not %g", i,
                      lam_item(got[i]), exact);
    }
}
END_TEST

/* ---- what the numbers look like ---------------------------------------------------------------------------------- */

static lam_tensor *complement(lam_tensor *log) {
    return lam_neg(lam_expm1(log));
}

static lam_tensor *normal_log(lam_tensor *v) {
    return lam_ndtr(lam_div(lam_log(v), 0.7));
}

static lam_tensor *rayleigh_2(lam_tensor *v) {
    return complement(lam_mul(-0.125, lam_square(v)));
}

static lam_tensor *weibull_2_3(lam_tensor *v) {
    return complement(lam_neg(lam_integer_pow(lam_mul(0.5, v), 3)));
}

static lam_tensor *pareto_3(lam_tensor *v) {
    return complement(lam_mul(-3.0, lam_log(v)));
}

static lam_tensor *maxwell(lam_tensor *v) {
    return lam_igamma(1.5, lam_mul(0.5, lam_square(v)));
}

static lam_tensor *wald_2(lam_tensor *v) {
    lam_tensor *root = lam_rsqrt(v), *a = lam_sub(lam_mul(0.5, v), 1), *b = lam_neg(lam_add(lam_mul(0.5, v), 1));
    return lam_add(lam_ndtr(lam_mul(root, a)), lam_mul(2.718281828459045, lam_ndtr(lam_mul(root, b))));
}

static lam_tensor *chisquare_1(lam_tensor *v) {
    return lam_igamma(0.5, lam_mul(0.5, v));
}

static lam_tensor *chisquare_3(lam_tensor *v) {
    return lam_igamma(1.5, lam_mul(0.5, v));
}

static lam_tensor *t_3(lam_tensor *v) {
    lam_tensor *tail = lam_mul(0.5, lam_betainc(num(1.5), num(0.5), lam_div(3.0, lam_add(3.0, lam_square(v)))));
    return lam_where(lam_gt(v, 0), lam_sub(1.0, tail), tail);
}

static lam_tensor *f_3_4(lam_tensor *v) {
    lam_tensor *above = lam_mul(3.0, v);
    return lam_betainc(num(1.5), num(2), lam_div(above, lam_add(above, 4.0)));
}

static lam_tensor *normal_of_4(lam_tensor *v) {
    lam_tensor *half = lam_mul(0.5, lam_igamma(0.25, lam_integer_pow(v, 4)));
    return lam_add(0.5, lam_mul(lam_sign(v), half));
}

static lam_tensor *triangle(lam_tensor *v) {
    return lam_where(lam_lt(v, 1), lam_div(lam_square(v), 3.0),
                     lam_sub(1.0, lam_div(lam_square(lam_sub(3.0, v)), 6.0)));
}

static lam_tensor *power_3(lam_tensor *v) {
    return lam_integer_pow(v, 3);
}

START_TEST(distributions_are_followed) {
    lam_dims n = LAM_DIMS(MANY), few = LAM_DIMS(6000);
    lam_tensor *key = lam_key(ctx, 2026);
    ck_assert(kolmogorov(lam_random_lognormal(key, num(0.7), n), normal_log) < 1.95);
    ck_assert(kolmogorov(lam_random_rayleigh(key, num(2), n), rayleigh_2) < 1.95);
    ck_assert(kolmogorov(lam_random_weibull_min(key, num(2), num(3), n), weibull_2_3) < 1.95);
    ck_assert(kolmogorov(lam_random_pareto(key, num(3), n), pareto_3) < 1.95);
    ck_assert(kolmogorov(lam_random_maxwell(key, LAM_F64, n), maxwell) < 1.95);
    ck_assert(kolmogorov(lam_abs(lam_random_double_sided_maxwell(key, num(0), num(1), n)), maxwell) < 1.95);
    ck_assert(kolmogorov(lam_random_wald(key, num(2), n), wald_2) < 1.95);
    ck_assert(kolmogorov(lam_random_triangular(key, num(0), num(1), num(3), n), triangle) < 1.95);
    ck_assert(kolmogorov(lam_random_chisquare(key, num(3), few), chisquare_3) < 1.95);
    ck_assert(kolmogorov(lam_random_t(key, num(3), few), t_3) < 1.95);
    ck_assert(kolmogorov(lam_random_f(key, num(3), num(4), few), f_3_4) < 1.95);
    ck_assert(kolmogorov(lam_random_generalized_normal(key, num(4), few), normal_of_4) < 1.95);
    lam_tensor *ball = lam_random_ball(key, 3, num(2), few);
    ck_assert(kolmogorov(lam_norm(ball, &(lam_norm_options){.axes = LAM_AXES(1)}), power_3) < 1.95);
    EXPECT_OK();
}
END_TEST

START_TEST(means_of_counts) {
    lam_tensor *key = lam_key(ctx, 7), *x = lam_random_geometric(key, num(0.2), LAM_DIMS(MANY));
    lam_dims n = LAM_DIMS(MANY);
    ck_assert(errors_of_mean(x, 5, 20) < 4);
    ck_assert(errors_of_mean(lam_eq(x, 1), 0.2, 0.16) < 4);
    ck_assert(errors_of_mean(lam_random_rademacher(key, LAM_I32, n), 0, 1) < 4);
    ck_assert(errors_of_mean(lam_random_double_sided_maxwell(key, num(3), num(2), n), 3, 12) < 4);
    x = lam_random_binomial(key, num(9), num(0.8), n);
    ck_assert(errors_of_mean(x, 7.2, 1.44) < 4);
    ck_assert(errors_of_mean(lam_eq(x, 9), 0.134217728, 0.116203329) < 4); /* 0.8^9 */
    x = lam_random_binomial(key, num(400), num(0.3), n);
    ck_assert(errors_of_mean(x, 120, 84) < 4);
    /* fourth central moment 3 v^2 + v (1 - 6 p q), less v^2 */
    ck_assert(errors_of_mean(lam_square(lam_sub(x, 120.0)), 84, 2 * 84 * 84 + 84 * -0.26) < 4);
    ck_assert(errors_of_mean(lam_random_binomial(key, num(1e9), num(0.999), n), 999e6, 999e3) < 4);
    x = lam_random_multinomial(key, num(50), VEC(2, 3, 5), n);
    lam_tensor *first = lam_sub(lam_index(x, 1, 0), 10), *last = lam_sub(lam_index(x, 1, 2), 25);
    EXPECT_SAME(lam_sum(x, &(lam_reduce_options){.axes = LAM_AXES(1)}), lam_full(ctx, LAM_F64, n, 50), 0);
    ck_assert(errors_of_mean(first, 0, 8) < 4 && errors_of_mean(last, 0, 12.5) < 4);
    ck_assert(errors_of_mean(lam_mul(first, last), -5, 125) < 4); /* -50 0.2 0.5 */
}
END_TEST

/* How often each count comes, against the exact probabilities: chi-squared, less its mean, in its standard deviations.
 * Counts that are rare are put together. */
static double apart_from_binomial(int n, double p, int64_t draws) {
    enum { MOST = 256 };
    lam_tensor *x = lam_random_binomial(lam_key(ctx, (uint64_t)n), num(n), num(p), LAM_DIMS(draws));
    lam_tensor *often = lam_bincount(lam_cast(x, LAM_I64), NULL, MOST);
    double chi = 0, rare = 0, rare_want = 0, kinds = 0, seen = 0;
    for (int k = 0; k <= n; k++) {
        double log_p = lgamma(n + 1.) - lgamma(k + 1.) - lgamma(n - k + 1.) + k * log(p) + (n - k) * log1p(-p);
        double want = (double)draws * exp(log_p), got = lam_item(lam_index(often, 0, k));
        seen += got;
        if (want < 20) {
            rare += got;
            rare_want += want;
        } else {
            chi += (got - want) * (got - want) / want;
            kinds++;
        }
    }
    ck_assert(seen == (double)draws); /* none is beyond n */
    if (rare_want > 5) chi += (rare - rare_want) * (rare - rare_want) / rare_want;
    else ck_assert(rare < 20);
    return (chi - kinds) / sqrt(2 * kinds);
}

START_TEST(frequencies_of_binomial_counts) {
    ck_assert(apart_from_binomial(10, 0.3, 300000) < 4); /* by distances of geometric variables */
    ck_assert(apart_from_binomial(22, 0.5, 1000000) < 4);
    ck_assert(apart_from_binomial(40, 0.7, 1000000) < 4);
    ck_assert(apart_from_binomial(250, 0.1, 1000000) < 4);
}
END_TEST

/* Rotations of the plane are at all angles alike, and matrices have columns, or rows, at right angles. */
START_TEST(orthogonal_matrices) {
    lam_tensor *key = lam_key(ctx, 11), *x = lam_random_orthogonal(key, LAM_F64, 2, 2, LAM_DIMS(4000));
    lam_tensor *angles = lam_atan2(lam_index(lam_index(x, 2, 0), 1, 1), lam_index(lam_index(x, 2, 0), 1, 0));
    lam_tensor *turns = lam_sort(lam_add(0.5, lam_div(angles, 6.283185307179586)), 0);
    lam_tensor *steps = lam_div(lam_arange(ctx, LAM_F64, 0, 4000, 1), 4000);
    ck_assert(lam_item(lam_max_reduce(lam_abs(lam_sub(turns, steps)), NULL)) < 1.95 / sqrt(4000));
    ck_assert(errors_of_mean(lam_det(x), 0, 1) < 4);
    for (int rows = 0; rows < 6; rows++) {
        lam_tensor *a = lam_random_orthogonal(key, LAM_F64, rows, 3, LAM_DIMS(2)), *b = lam_matrix_transpose(a);
        lam_tensor *one = lam_eye(ctx, LAM_F64, rows < 3 ? rows : 3, rows < 3 ? rows : 3);
        EXPECT_SAME(lam_sub(rows < 3 ? lam_matmul(a, b) : lam_matmul(b, a), one),
                    lam_zeros(ctx, LAM_F64, rows < 3 ? LAM_DIMS(2, rows, rows) : LAM_DIMS(2, 3, 3)), 1e-14);
    }
}
END_TEST

/* Where the form of jax.random overflows, loses all digits or has no derivative: heavy tails stay finite or right. */
START_TEST(distributions_at_the_ends) {
    lam_tensor *key = key42();
    lam_dims n = LAM_DIMS(1000);
    lam_tensor *wald = lam_random_wald(key, num(1e12), n);
    ck_assert(kolmogorov(lam_reciprocal(wald), chisquare_1) < 1.95); /* the limit */
    ck_assert(lam_item(lam_all(lam_gt(lam_random_chisquare(key, num(0.01), n), 1), NULL)) == 0);
    lam_tensor *heavy = lam_abs(lam_random_t(key, num(0.01), n));
    ck_assert(lam_item(lam_max_reduce(heavy, NULL)) > 1e30 && !lam_item(lam_any(lam_is_nan(heavy), NULL)));
    lam_tensor *cube = lam_random_ball(key, 2, num(1e6), n), *size = lam_abs(cube);
    ck_assert(errors_of_mean(size, 0.5, 1. / 12) < 5);
    EXPECT(lam_random_binomial(key, VEC(0, 7, 7, 1e6), VEC(0.5, 0, 1, 1), LAM_DIMS(4)), LAM_DIMS(4), 0, 0, 7, 1e6);
    EXPECT(lam_random_multinomial(key, num(6), VEC(0, 1, 0), LAM_DIMS0), LAM_DIMS(3), 0, 6, 0);
    EXPECT(lam_random_geometric(key, num(1), LAM_DIMS(2)), LAM_DIMS(2), 1, 1);
    /* 1 / p trials are expected, which is 1.1 2^63 at first and then beyond all integers by far. */
    lam_tensor *late = lam_random_geometric(key, num(1e-19), n), *later = lam_random_geometric(key, num(1e-300), n);
    ck_assert(lam_item(lam_min_reduce(late, NULL)) >= 1 && lam_item(lam_all(lam_eq(later, INT64_MAX), NULL)) == 1);
    later = lam_random_geometric(key, single(num(1e-37)), n);
    ck_assert(lam_item(lam_all(lam_eq(later, INT64_MAX), NULL)) == 1);
    EXPECT_OK();
}
END_TEST

/* ---- what is refused --------------------------------------------------------------------------------------------- */

START_TEST(impossible_distributions_are_refused) {
    lam_tensor *k = key42(), *p = num(0.5), *zero = num(0);
    lam_dims n = LAM_DIMS(2), deep = LAM_DIMS(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1);
    REFUSED(lam_random_rademacher(k, LAM_U8, n), LAM_ERR_DTYPE, "random_rademacher", "u8");
    REFUSED(lam_random_rademacher(p, LAM_I64, n), LAM_ERR_DTYPE, "random_rademacher");
    REFUSED(lam_random_maxwell(k, LAM_I64, n), LAM_ERR_DTYPE, "random_maxwell", "i64");
    REFUSED(lam_random_maxwell(k, LAM_F64, LAM_DIMS(INT64_MAX, 9)), LAM_ERR_OVERFLOW, "random_maxwell");
    REFUSED(lam_random_orthogonal(k, LAM_F64, -1, 2, n), LAM_ERR_VALUE, "random_orthogonal", "-1 x 2");
    REFUSED(lam_random_orthogonal(k, LAM_F64, 2, 2, deep), LAM_ERR_RANK, "random_orthogonal");
    REFUSED(lam_random_orthogonal(k, LAM_I64, 2, 2, n), LAM_ERR_DTYPE, "random_orthogonal");
    REFUSED(lam_random_lognormal(k, VEC(1, 2, 3), n), LAM_ERR_SHAPE, "random_lognormal", "broadcast");
    REFUSED(lam_random_rayleigh(k, zero, n), LAM_ERR_VALUE, "random_rayleigh", "scale");
    REFUSED(lam_random_weibull_min(k, zero, p, n), LAM_ERR_VALUE, "random_weibull_min", "scale");
    REFUSED(lam_random_weibull_min(k, p, zero, n), LAM_ERR_VALUE, "random_weibull_min", "concentration");
    REFUSED(lam_random_pareto(k, num(NAN), n), LAM_ERR_VALUE, "random_pareto", "nan");
    REFUSED(lam_random_pareto(k, num(INFINITY), n), LAM_ERR_VALUE, "random_pareto", "inf");
    REFUSED(lam_random_double_sided_maxwell(k, p, p, LAM_DIMS(INT64_MAX, 9)), LAM_ERR_OVERFLOW,
            "random_double_sided_maxwell");
    REFUSED(lam_random_double_sided_maxwell(k, p, num(-1), n), LAM_ERR_VALUE, "random_double_sided_maxwell", "scale");
    REFUSED(lam_random_wald(k, zero, n), LAM_ERR_VALUE, "random_wald", "mean");
    REFUSED(lam_random_chisquare(k, zero, n), LAM_ERR_VALUE, "random_chisquare", "freedom");
    REFUSED(lam_random_t(k, zero, n), LAM_ERR_VALUE, "random_t", "freedom");
    REFUSED(lam_random_f(k, p, zero, n), LAM_ERR_VALUE, "random_f", "below");
    REFUSED(lam_random_generalized_normal(k, zero, n), LAM_ERR_VALUE, "random_generalized_normal", "exponent");
    REFUSED(lam_random_ball(k, -1, p, n), LAM_ERR_VALUE, "random_ball", "-1");
    REFUSED(lam_random_ball(k, 2, zero, n), LAM_ERR_VALUE, "random_ball", "exponent");
    REFUSED(lam_random_ball(k, 2, p, deep), LAM_ERR_RANK, "random_ball");
    REFUSED(lam_random_triangular(k, p, zero, num(1), n), LAM_ERR_VALUE, "random_triangular", "mode - left");
    REFUSED(lam_random_triangular(k, zero, num(2), num(1), n), LAM_ERR_VALUE, "random_triangular", "right - mode");
    REFUSED(lam_random_triangular(k, zero, zero, zero, n), LAM_ERR_VALUE, "random_triangular", "right - left");
    REFUSED(lam_random_triangular(k, zero, zero, NULL, n), LAM_ERR_NULL, "random_triangular");
    REFUSED(lam_random_binomial(k, num(-1), p, n), LAM_ERR_VALUE, "random_binomial", "trials");
    REFUSED(lam_random_binomial(k, num(4), num(1.5), n), LAM_ERR_VALUE, "random_binomial", "1.5");
    REFUSED(lam_random_binomial(k, lam_cast(p, LAM_C128), p, n), LAM_ERR_DTYPE, "random_binomial", "c128");
    REFUSED(lam_random_multinomial(k, num(-1), VEC(1, 2), n), LAM_ERR_VALUE, "random_multinomial", "trials");
    REFUSED(lam_random_multinomial(k, num(4), VEC(1, -2), n), LAM_ERR_VALUE, "random_multinomial", "probability");
    REFUSED(lam_random_multinomial(k, num(4), p, n), LAM_ERR_SHAPE, "random_multinomial");
    REFUSED(lam_random_multinomial(k, num(4), VEC(1, 2), deep), LAM_ERR_RANK, "random_multinomial");
    REFUSED(lam_random_multinomial(k, num(4), lam_zeros(ctx, LAM_F64, LAM_DIMS(0)), n), LAM_ERR_VALUE,
            "random_multinomial", "categories");
    REFUSED(lam_random_geometric(k, zero, n), LAM_ERR_VALUE, "random_geometric", "probability");
    REFUSED(lam_random_geometric(k, num(1.1), n), LAM_ERR_VALUE, "random_geometric", "1.1");
}
END_TEST

START_TEST(empty_distributions) {
    lam_tensor *k = key42(), *p = num(0.5);
    lam_dims none = LAM_DIMS(3, 0);
    EXPECT_EMPTY(lam_random_rademacher(k, LAM_I32, none), none);
    EXPECT_EMPTY(lam_random_maxwell(k, LAM_F64, none), none);
    EXPECT_EMPTY(lam_random_orthogonal(k, LAM_F64, 2, 0, LAM_DIMS0), LAM_DIMS(2, 0));
    EXPECT_EMPTY(lam_random_wald(k, p, none), none);
    EXPECT_EMPTY(lam_random_ball(k, 0, p, LAM_DIMS(3)), LAM_DIMS(3, 0));
    EXPECT_EMPTY(lam_random_triangular(k, num(0), p, num(1), none), none);
    EXPECT_EMPTY(lam_random_binomial(k, p, p, none), none);
    EXPECT_EMPTY(lam_random_multinomial(k, p, VEC(1, 2), LAM_DIMS(0)), LAM_DIMS(0, 2));
    EXPECT_EMPTY(lam_random_geometric(k, p, none), none);
}
END_TEST

Suite *suite_primitives_distributions(void) {
    Suite *suite = SUITE_OF("primitives/distributions", derivatives_of_distributions, distributions_are_followed,
                            means_of_counts, frequencies_of_binomial_counts, orthogonal_matrices,
                            distributions_at_the_ends, impossible_distributions_are_refused, empty_distributions);
    suite_loop(suite, distributions_are_those_of_jax, COUNT(samples));
    suite_loop(suite, a_batch_of_keys_gives_each_distribution, 3);
    suite_loop(suite, derivatives_of_means_by_degrees_of_freedom, 3);
    return suite;
}
