/* Random numbers of a key: the numbers of jax.random, one result per call whatever transform it is under, derivatives
 * by parameters, what the numbers look like, and what is refused. */
#include "lib/primitives/random.h"

#include "tests/primitives/random_draws.h"
#include "tests/primitives/random_values.h"

/* ---- against jax.random ------------------------------------------------------------------------------------------ */

#define PROBABILITIES VEC(0.1, 0.5, 0.9)
#define LOGITS        MAT(2, 3, 0, 1, 2, 3, 4, 1)
#define INTEGERS(n)   lam_arange(ctx, LAM_I64, 0, n, 1)
#define TABLE(n, m)   lam_reshape(INTEGERS((n) * (m)), LAM_DIMS(n, m))
#define LOW           VEC(-1, 0.5, -INFINITY)
#define HIGH          VEC(1, 2.5, -3)
#define COVARIANCE    MAT(2, 2, 2, 0.5, 0.5, 1)
#define SHAPES        VEC(0.05, 0.5, 1, 3, 200)
#define WEIGHTS       VEC(0.1, 0.2, 0.3, 0.4)
#define WITHOUT                                                                                                        \
    &(lam_random_choice_options) {                                                                                     \
        .without_replacement = true                                                                                    \
    }
#define WITHOUT_P                                                                                                      \
    &(lam_random_choice_options) {                                                                                     \
        .p = WEIGHTS, .without_replacement = true                                                                      \
    }
#define WITHOUT_P_OF_TWO                                                                                               \
    &(lam_random_choice_options) {                                                                                     \
        .p = VEC(1, 1), .without_replacement = true                                                                    \
    }
#define BETWEEN                                                                                                        \
    &(lam_random_uniform_options) {                                                                                    \
        .low = num(-0.1), .high = num(0.3)                                                                             \
    }

/* clang-format off */
DRAW(split_of_42, lam_split(key42(), 3))
DRAW(split_of_0, lam_split(lam_key(ctx, 0), 2))
DRAW(split_of_wide_seed, lam_split(lam_key(ctx, (UINT64_C(1) << 40) + 3), 2))
DRAW(fold_in_7, lam_fold_in(key42(), 7))
DRAW(fold_in_minus_1, lam_fold_in(key42(), lam_cast(num(-1), LAM_I32)))
DRAW(bits_i64, lam_random_bits(key42(), LAM_I64, LAM_DIMS(2, 3)))
DRAW(bits_i32, lam_random_bits(key42(), LAM_I32, LAM_DIMS(2, 3)))
DRAW(bits_u8, lam_random_bits(key42(), LAM_U8, LAM_DIMS(2, 3)))
DRAW(bits_scalar, lam_random_bits(key42(), LAM_I64, LAM_DIMS0))
DRAW(bits_at_300, lam_slice_axis(lam_random_bits(key42(), LAM_I32, LAM_DIMS(303)), 0, -3, LAM_END))
DRAW(uniform_f64, lam_random_uniform(key42(), LAM_F64, LAM_DIMS(2, 3), NULL))
DRAW(uniform_f32, lam_random_uniform(key42(), LAM_F32, LAM_DIMS(2, 3), NULL))
DRAW(uniform_between_f64, lam_random_uniform(key42(), LAM_F64, LAM_DIMS(6), BETWEEN))
DRAW(uniform_between_f32, lam_random_uniform(key42(), LAM_F32, LAM_DIMS(6), BETWEEN))
DRAW(randint_i64, lam_random_randint(key42(), LAM_I64, LAM_DIMS(6), -5, INT64_C(1000000000000)))
DRAW(randint_i32, lam_random_randint(key42(), LAM_I32, LAM_DIMS(6), -5, 1000000))
DRAW(randint_u8, lam_random_randint(key42(), LAM_U8, LAM_DIMS(6), 3, 17))
DRAW(randint_u8_all, lam_random_randint(key42(), LAM_U8, LAM_DIMS(6), 0, 256))
DRAW(randint_i64_most, lam_random_randint(key42(), LAM_I64, LAM_DIMS(6), INT64_MIN, INT64_MAX))
DRAW(permutation_10, lam_random_permutation(key42(), INTEGERS(10), 0))
DRAW(permutation_2000, lam_slice_axis(lam_random_permutation(key42(), INTEGERS(2000), 0), 0, 0, 8))
DRAW(permutation_of_rows, lam_random_permutation(key42(), TABLE(4, 3), 0))
DRAW(permutation_of_columns, lam_random_permutation(key42(), TABLE(3, 4), -1))
DRAW(bernoulli_f64, lam_random_bernoulli(key42(), PROBABILITIES, LAM_DIMS(3, 3)))
DRAW(bernoulli_f32, lam_random_bernoulli(key42(), single(PROBABILITIES), LAM_DIMS(3, 3)))
DRAW(categorical_rows, lam_random_categorical(key42(), LOGITS, -1, LAM_DIMS(4, 2)))
DRAW(categorical_columns, lam_random_categorical(key42(), LOGITS, 0, LAM_DIMS(4, 3)))
DRAW(categorical_f32, lam_random_categorical(key42(), single(LOGITS), 1, LAM_DIMS(2)))
DRAW(exponential_f64, lam_random_exponential(key42(), LAM_F64, LAM_DIMS(2, 4)))
DRAW(exponential_f32, lam_random_exponential(key42(), LAM_F32, LAM_DIMS(2, 4)))
DRAW(laplace_f64, lam_random_laplace(key42(), LAM_F64, LAM_DIMS(2, 4)))
DRAW(laplace_f32, lam_random_laplace(key42(), LAM_F32, LAM_DIMS(2, 4)))
DRAW(logistic_f64, lam_random_logistic(key42(), LAM_F64, LAM_DIMS(2, 4)))
DRAW(logistic_f32, lam_random_logistic(key42(), LAM_F32, LAM_DIMS(2, 4)))
DRAW(gumbel_f64, lam_random_gumbel(key42(), LAM_F64, LAM_DIMS(2, 4)))
DRAW(gumbel_f32, lam_random_gumbel(key42(), LAM_F32, LAM_DIMS(2, 4)))
DRAW(cauchy_f64, lam_random_cauchy(key42(), LAM_F64, LAM_DIMS(2, 4)))
DRAW(cauchy_f32, lam_random_cauchy(key42(), LAM_F32, LAM_DIMS(2, 4)))
DRAW(normal_f64, lam_random_normal(key42(), LAM_F64, LAM_DIMS(2, 4)))
DRAW(normal_f32, lam_random_normal(key42(), LAM_F32, LAM_DIMS(2, 4)))
DRAW(truncated_normal_f64, lam_random_truncated_normal(key42(), LOW, HIGH, LAM_DIMS(2, 3)))
DRAW(truncated_normal_f32, lam_random_truncated_normal(key42(), single(LOW), single(HIGH), LAM_DIMS(2, 3)))
DRAW(multivariate_normal_f64, lam_random_multivariate_normal(key42(), VEC(1, -2), COVARIANCE, LAM_DIMS(3)))
DRAW(gamma_f64, lam_random_gamma(key42(), SHAPES, LAM_DIMS(2, 5)))
DRAW(gamma_f32, lam_random_gamma(key42(), single(SHAPES), LAM_DIMS(2, 5)))
DRAW(loggamma_f64, lam_random_loggamma(key42(), SHAPES, LAM_DIMS(2, 5)))
DRAW(loggamma_f32, lam_random_loggamma(key42(), single(SHAPES), LAM_DIMS(2, 5)))
DRAW(beta_f64, lam_random_beta(key42(), VEC(0.5, 2), VEC(1.5, 3), LAM_DIMS(2, 2)))
DRAW(dirichlet_f64, lam_random_dirichlet(key42(), VEC(0.3, 1, 5), LAM_DIMS(2)))
DRAW(choice, lam_random_choice(key42(), INTEGERS(10), 0, 5, NULL))
DRAW(choice_without, lam_random_choice(key42(), INTEGERS(10), 0, 5, WITHOUT))
DRAW(choice_p, lam_random_choice(key42(), INTEGERS(4), 0, 6, &(lam_random_choice_options){.p = WEIGHTS}))
DRAW(choice_p_without, lam_random_choice(key42(), INTEGERS(4), 0, 3, WITHOUT_P))
DRAW(poisson, lam_random_poisson(key42(), VEC(0.5, 3, 9, 15, 1000), LAM_DIMS(2, 5)))

static const sample samples[] = {
    EXACT(split_of_42), EXACT(split_of_0), EXACT(split_of_wide_seed), EXACT(fold_in_7), EXACT(fold_in_minus_1),
    EXACT(bits_i64), EXACT(bits_i32), EXACT(bits_u8), EXACT(bits_scalar), EXACT(bits_at_300),
    NEAR(uniform_f64, 0), NEAR(uniform_f32, 0), NEAR(uniform_between_f64, 0), NEAR(uniform_between_f32, 0),
    EXACT(randint_i64), EXACT(randint_i32), EXACT(randint_u8), EXACT(randint_u8_all), EXACT(randint_i64_most),
    EXACT(permutation_10), EXACT(permutation_2000), EXACT(permutation_of_rows), EXACT(permutation_of_columns),
    EXACT(bernoulli_f64), EXACT(bernoulli_f32),
    EXACT(categorical_rows), EXACT(categorical_columns), EXACT(categorical_f32),
    NEAR(exponential_f64, 2), NEAR(exponential_f32, 2), NEAR(laplace_f64, 2), NEAR(laplace_f32, 2),
    NEAR(logistic_f64, 4), NEAR(logistic_f32, 4), NEAR(gumbel_f64, 4), NEAR(gumbel_f32, 4),
    NEAR(cauchy_f64, 4), NEAR(cauchy_f32, 4), NEAR(normal_f64, 3),
    NEAR(normal_f32, 1), EXACT(poisson), EXACT(choice), EXACT(choice_without),
    EXACT(choice_p), EXACT(choice_p_without),
    NEAR(truncated_normal_f64, 8), NEAR(truncated_normal_f32, 8), NEAR(multivariate_normal_f64, 2),
    NEAR(gamma_f64, 16), NEAR(gamma_f32, 8), NEAR(loggamma_f64, 64), NEAR(loggamma_f32, 8),
    NEAR(beta_f64, 4), NEAR(dirichlet_f64, 8),
};
/* clang-format on */

START_TEST(numbers_are_those_of_jax) {
    expect_sample(&samples[_i]);
}
END_TEST

/* ---- under transforms -------------------------------------------------------------------------------------------- */

/* Two samples of each kind, some with parameters: of f64. */
BODY(samples_of_key) {
    lam_tensor *key = in[0], *a = in[1];
    out[0] = lam_random_normal(key, LAM_F64, LAM_DIMS(2));
    out[1] = lam_random_uniform(key, LAM_F64, LAM_DIMS(2), &(lam_random_uniform_options){.high = a});
    out[2] = lam_random_gamma(key, a, LAM_DIMS(2));
    out[3] = lam_random_beta(key, a, lam_mul(2.0, a), LAM_DIMS(2));
    out[4] = lam_random_dirichlet(key, lam_stack(LAM_LIST(a, a), 0), LAM_DIMS(2));
    out[5] = lam_random_truncated_normal(key, lam_neg(a), a, LAM_DIMS(2));
    out[6] = lam_cast(lam_random_permutation(key, INTEGERS(9), 0), LAM_F64);
    out[7] = lam_cast(lam_random_categorical(key, lam_stack(LAM_LIST(a, lam_square(a)), 0), 0, LAM_DIMS(2)), LAM_F64);
    out[8] = lam_cast(lam_random_poisson(key, a, LAM_DIMS(2)), LAM_F64);
    out[9] = lam_cast(lam_random_randint(lam_fold_in(key, 3), LAM_I32, LAM_DIMS(2), 0, 1000), LAM_F64);
    lam_random_choice_options weighted = {.p = lam_stack(LAM_LIST(a, lam_square(a)), 0)};
    out[11] = lam_random_choice(key, VEC(1, 2), 0, 3, &weighted);
    out[10] = lam_cast(lam_random_bernoulli(key, lam_logistic(a), LAM_DIMS(2)), LAM_F64);
}

enum { KINDS = 12, KEYS = 4 };

/* A batch of keys, of parameters or of both gives for each example what it gives alone; in chunks too. */
START_TEST(a_batch_of_keys_is_each_of_them) {
    lam_fn *f = FN(samples_of_key, 2, KINDS);
    lam_tensor *keys = lam_split(key42(), KEYS), *a = VEC(0.4, 1, 2.5, 11), *got[KINDS], *one[KINDS];
    int places[3][2] = {{0, LAM_UNMAPPED}, {LAM_UNMAPPED, 0}, {0, 0}}, *axes = places[_i % 3];
    lam_vmap_options options = {.in_axes = {2, axes}, .chunk_size = _i / 3};
    bool each_key = axes[0] == 0, each_a = axes[1] == 0;
    lam_tensor *first_key = lam_index(keys, 0, 0), *first_a = lam_index(a, 0, 0);
    ck_assert(lam_call(lam_vmap(f, &options), LAM_LIST(each_key ? keys : first_key, each_a ? a : first_a), got,
                       KINDS) == LAM_OK);
    for (int k = 0; k < KEYS; k++) {
        lam_list alone = LAM_LIST(each_key ? lam_index(keys, 0, k) : first_key, each_a ? lam_index(a, 0, k) : first_a);
        ck_assert(lam_call(f, alone, one, KINDS) == LAM_OK);
        for (int o = 0; o < KINDS; o++) EXPECT_SAME(lam_index(got[o], 0, k), one[o], 1e-15);
    }
}
END_TEST

BODY(sum_of_samples) {
    lam_tensor *y[KINDS];
    samples_of_key(here, (lam_tensor *[]){key42(), in[0]}, y, env);
    out[0] = lam_sum(y[1], NULL);
    out[1] = lam_sum(y[5], NULL);
    out[2] = lam_sum(
        lam_random_uniform(key42(), LAM_F64, LAM_DIMS(3), &(lam_random_uniform_options){lam_neg(in[0]), in[0]}), NULL);
    lam_tensor *c = lam_mul(in[0], MAT(2, 2, 2, 0.5, 0.5, 1));
    out[3] = lam_sum(lam_random_multivariate_normal(key42(), lam_mul(in[0], VEC(1, 2)), c, LAM_DIMS(3)), NULL);
}

/* Where a sample is a smooth function of its parameter at fixed bits, the derivative is that of this function. */
START_TEST(derivatives_by_parameters) {
    ck_assert_msg(
        lam_check_grads(FN(sum_of_samples, 1, 4), LAM_LIST(num(0.7)), &(lam_check_grads_options){.order = 2}) == LAM_OK,
        "%s", lam_error(ctx));
}
END_TEST

BODY(mean_of_gamma) {
    out[0] = lam_mean(lam_square(lam_random_gamma(key42(), in[0], LAM_DIMS(20000))), NULL);
}

BODY(mean_of_loggamma) {
    out[0] = lam_mean(lam_random_loggamma(key42(), in[0], LAM_DIMS(20000)), NULL);
}

BODY(mean_of_beta) {
    out[0] = lam_mean(lam_random_beta(key42(), in[0], lam_scalar(ctx, 2), LAM_DIMS(20000)), NULL);
}

/* Derivatives of means are means of derivatives: E x^2 = a (a + 1) of Gamma(a), E log x = psi(a), E x = a / (a + 2) of
 * Beta(a, 2); within five standard errors. At a = 0.02 most samples x are 0 to f64, and d log(x)/da is not. */
START_TEST(implicit_derivatives_are_unbiased) {
    double a = (double[]){0.3, 1, 4.5}[_i];
    lam_tensor *x = num(a);
    EXPECT_NEAR(apply1(lam_grad(FN(mean_of_gamma, 1, 1), NULL), x), 0.06, LAM_DIMS0, 2 * a + 1);
    EXPECT_NEAR(apply1(lam_grad(FN(mean_of_loggamma, 1, 1), NULL), x), 0.06, LAM_DIMS0, lam_item(lam_polygamma(x, 1)));
    EXPECT_NEAR(apply1(lam_grad(FN(mean_of_beta, 1, 1), NULL), x), 0.06, LAM_DIMS0, 2 / ((a + 2) * (a + 2)));
    EXPECT_NEAR(apply1(lam_grad(FN(mean_of_loggamma, 1, 1), NULL), num(0.02)), 0.06, LAM_DIMS0,
                lam_item(lam_polygamma(num(0.02), 1)));
}
END_TEST

/* ---- what the numbers look like ---------------------------------------------------------------------------------- */

static lam_tensor *same(lam_tensor *x) {
    return x;
}

static lam_tensor *exponential(lam_tensor *x) {
    return lam_neg(lam_expm1(lam_neg(x)));
}

static lam_tensor *laplace(lam_tensor *x) {
    lam_tensor *half = lam_mul(0.5, lam_exp(lam_neg(lam_abs(x))));
    return lam_where(lam_lt(x, 0.0), half, lam_sub(1.0, half));
}

static lam_tensor *gumbel(lam_tensor *x) {
    return lam_exp(lam_neg(lam_exp(lam_neg(x))));
}

static lam_tensor *cauchy(lam_tensor *x) {
    return lam_add(0.5, lam_div(lam_atan(x), 3.141592653589793));
}

static lam_tensor *gamma_half(lam_tensor *x) {
    return lam_igamma(0.5, x);
}

static lam_tensor *gamma_seven(lam_tensor *x) {
    return lam_igamma(7.0, x);
}

static lam_tensor *beta_2_3(lam_tensor *x) {
    return lam_betainc(num(2), num(3), x);
}

static lam_tensor *cut_normal(lam_tensor *x) {
    lam_tensor *least = lam_ndtr(num(-0.5));
    return lam_div(lam_sub(lam_ndtr(x), least), lam_sub(lam_ndtr(num(2)), least));
}

START_TEST(samples_follow_their_distributions) {
    lam_dims n = LAM_DIMS(MANY);
    lam_tensor *key = lam_key(ctx, 2026);
    ck_assert(kolmogorov(lam_random_uniform(key, LAM_F64, n, NULL), same) < 1.95);
    ck_assert(kolmogorov(lam_random_normal(key, LAM_F64, n), lam_ndtr) < 1.95);
    ck_assert(kolmogorov(lam_cast(lam_random_normal(lam_fold_in(key, 1), LAM_F32, n), LAM_F64), lam_ndtr) < 1.95);
    ck_assert(kolmogorov(lam_random_exponential(key, LAM_F64, n), exponential) < 1.95);
    ck_assert(kolmogorov(lam_random_laplace(key, LAM_F64, n), laplace) < 1.95);
    ck_assert(kolmogorov(lam_random_logistic(key, LAM_F64, n), lam_logistic) < 1.95);
    ck_assert(kolmogorov(lam_random_gumbel(key, LAM_F64, n), gumbel) < 1.95);
    ck_assert(kolmogorov(lam_random_cauchy(key, LAM_F64, n), cauchy) < 1.95);
    ck_assert(kolmogorov(lam_random_truncated_normal(key, num(-0.5), num(2), n), cut_normal) < 1.95);
    ck_assert(kolmogorov(lam_random_gamma(key, num(0.5), LAM_DIMS(4000)), gamma_half) < 1.95);
    ck_assert(kolmogorov(lam_random_gamma(key, num(7), LAM_DIMS(4000)), gamma_seven) < 1.95);
    ck_assert(kolmogorov(lam_random_beta(key, num(2), num(3), LAM_DIMS(4000)), beta_2_3) < 1.95);
    EXPECT_OK();
}
END_TEST

START_TEST(means_and_variances) {
    lam_tensor *key = lam_key(ctx, 7), *x = lam_random_poisson(key, num(4), LAM_DIMS(MANY));
    ck_assert(errors_of_mean(x, 4, 4) < 4);
    ck_assert(errors_of_mean(lam_square(lam_sub(x, 4)), 4, 36) < 4); /* fourth central moment 52, less 4^2 */
    ck_assert(errors_of_mean(lam_random_poisson(key, num(300), LAM_DIMS(MANY)), 300, 300) < 4);
    ck_assert(errors_of_mean(lam_random_bernoulli(key, num(0.3), LAM_DIMS(MANY)), 0.3, 0.21) < 4);
    ck_assert(errors_of_mean(lam_random_randint(key, LAM_I32, LAM_DIMS(MANY), -3, 4), 0, 4) < 4);
    lam_tensor *logits = lam_log(VEC(0.2, 0.5, 0.3)), *c = lam_random_categorical(key, logits, 0, LAM_DIMS(MANY));
    ck_assert(errors_of_mean(lam_eq(c, 1), 0.5, 0.25) < 4 && errors_of_mean(lam_eq(c, 2), 0.3, 0.21) < 4);
    lam_tensor *z = lam_random_multivariate_normal(key, VEC(1, -1), MAT(2, 2, 2, 0.5, 0.5, 1), LAM_DIMS(MANY));
    lam_tensor *u = lam_sub(lam_index(z, 1, 0), 1), *v = lam_add(lam_index(z, 1, 1), 1);
    ck_assert(errors_of_mean(u, 0, 2) < 4 && errors_of_mean(v, 0, 1) < 4);
    ck_assert(errors_of_mean(lam_mul(u, v), 0.5, 2.25) < 4); /* 2 x 1 + 0.5^2 */
    lam_tensor *d = lam_random_dirichlet(key, VEC(1, 2, 3), LAM_DIMS(MANY));
    lam_tensor *sums = lam_sum(d, &(lam_reduce_options){.axes = LAM_AXES(1)});
    EXPECT_SAME(sums, lam_ones(ctx, LAM_F64, LAM_DIMS(MANY)), 1e-14);
    ck_assert(errors_of_mean(lam_index(d, 1, 2), 0.5, 9. / 252) < 4);
}
END_TEST

/* In 2000 orders of 4 things each of the 24 orders comes about 83 times; the sum of squares of the deviations over 83
 * is chi-squared with 23 degrees of freedom, above 50 with probability 0.001. */
START_TEST(all_orders_are_alike) {
    enum { ORDERS = 2000 };
    int counts[256] = {0}, kinds = 0;
    double chi = 0, want = ORDERS / 24.;
    int64_t order[4];
    for (int i = 0; i < ORDERS; i++) {
        lam_scope *scope = lam_scope_begin(ctx);
        lam_tensor *x = lam_random_permutation(lam_fold_in(key42(), i), INTEGERS(4), 0);
        ck_assert(lam_read(x, order, sizeof order) == LAM_OK);
        counts[order[0] + 4 * order[1] + 16 * order[2] + 64 * order[3]]++;
        lam_scope_end(scope, NULL, 0);
    }
    for (int i = 0; i < 256; i++) {
        kinds += counts[i] > 0;
        if (counts[i]) chi += (counts[i] - want) * (counts[i] - want) / want;
    }
    ck_assert_int_eq(kinds, 24);
    ck_assert(chi < 50);
}
END_TEST

/* ---- what is refused --------------------------------------------------------------------------------------------- */

/* Leading axes of mean and covariance broadcast to the dims. */
START_TEST(batches_of_means_and_covariances) {
    lam_tensor *k = key42(), *c = MAT(2, 2, 2, 0.5, 0.5, 1), *two = lam_stack(LAM_LIST(c, lam_mul(4.0, c)), 0);
    lam_tensor *z = lam_random_multivariate_normal(k, VEC(0, 0), c, LAM_DIMS(3, 2));
    lam_tensor *got = lam_random_multivariate_normal(k, MAT(2, 2, 1, 2, 3, 4), two, LAM_DIMS(3, 2));
    EXPECT_SAME(lam_index(got, 1, 0), lam_add(lam_index(z, 1, 0), VEC(1, 2)), 1e-15);
    EXPECT_SAME(lam_index(got, 1, 1), lam_add(lam_mul(2.0, lam_index(z, 1, 1)), VEC(3, 4)), 1e-15);
    lam_tensor *single_c = lam_cast(c, LAM_F32);
    ck_assert(lam_dtype_of(lam_random_multivariate_normal(k, lam_cast(VEC(0, 0), LAM_F32), single_c, LAM_DIMS0)) ==
              LAM_F32);
    ck_assert(lam_dtype_of(lam_random_multivariate_normal(k, VEC(0, 0), single_c, LAM_DIMS0)) == LAM_F64);
}
END_TEST

START_TEST(what_is_no_key_is_refused) {
    REFUSED(lam_split(VEC(1, 2), 2), LAM_ERR_DTYPE, "split", "f64[2]", "lam_key");
    REFUSED(lam_random_normal(INTEGERS(3), LAM_F64, LAM_DIMS(2)), LAM_ERR_SHAPE, "random_normal", "i64[3]");
    REFUSED(lam_random_bits(lam_split(key42(), 4), LAM_I64, LAM_DIMS(2)), LAM_ERR_SHAPE, "random_bits", "lam_vmap");
    REFUSED(lam_fold_in(num(1), 2), LAM_ERR_DTYPE, "fold_in");
    REFUSED(lam_fold_in(key42(), 2.5), LAM_ERR_DTYPE, "fold_in", "integer");
    REFUSED(lam_fold_in(key42(), INTEGERS(2)), LAM_ERR_SHAPE, "fold_in");
    REFUSED(lam_split(key42(), -1), LAM_ERR_VALUE, "split", "-1");
    ck_assert(lam_failed(lam_split(NULL, 2)));
}
END_TEST

START_TEST(impossible_requests_are_refused) {
    lam_tensor *k = key42(), *p = num(0.5);
    REFUSED(lam_random_bits(k, LAM_F64, LAM_DIMS(2)), LAM_ERR_DTYPE, "random_bits", "f64");
    REFUSED(lam_random_laplace(k, LAM_I32, LAM_DIMS(2)), LAM_ERR_DTYPE, "random_laplace", "i32");
    REFUSED(lam_random_uniform(k, LAM_F64, LAM_DIMS(3, -2), NULL), LAM_ERR_VALUE, "random_uniform", "-2");
    REFUSED(lam_random_uniform(k, LAM_F64, LAM_DIMS(INT64_MAX, 9), NULL), LAM_ERR_OVERFLOW, "");
    REFUSED(lam_random_uniform(k, LAM_F64, LAM_DIMS(3), &(lam_random_uniform_options){.high = num(-1)}), LAM_ERR_VALUE,
            "random_uniform", "high - low", "-1");
    REFUSED(lam_random_uniform(k, LAM_F64, LAM_DIMS(3), &(lam_random_uniform_options){.low = VEC(0, 0)}), LAM_ERR_SHAPE,
            "random_uniform", "broadcast");
    REFUSED(lam_random_randint(k, LAM_I64, LAM_DIMS(2), 4, 4), LAM_ERR_VALUE, "random_randint", "[4, 4)");
    REFUSED(lam_random_randint(k, LAM_I32, LAM_DIMS(2), 0, INT64_MAX), LAM_ERR_VALUE, "random_randint", "i32");
    REFUSED(lam_random_randint(k, LAM_U8, LAM_DIMS(2), -1, 4), LAM_ERR_VALUE, "random_randint", "u8");
    REFUSED(lam_random_bernoulli(k, VEC(0.5, -0.1), LAM_DIMS(2)), LAM_ERR_VALUE, "random_bernoulli", "-0.1");
    REFUSED(lam_random_bernoulli(k, num(NAN), LAM_DIMS(2)), LAM_ERR_VALUE, "random_bernoulli", "nan");
    REFUSED(lam_random_truncated_normal(k, p, p, LAM_DIMS(2)), LAM_ERR_VALUE, "random_truncated_normal", "high - low");
    REFUSED(lam_random_categorical(k, VEC(1, 2), 1, LAM_DIMS(3)), LAM_ERR_AXIS, "random_categorical");
    REFUSED(lam_random_categorical(k, LOGITS, 1, LAM_DIMS(3)), LAM_ERR_SHAPE, "random_categorical");
    REFUSED(lam_random_categorical(k, lam_zeros(ctx, LAM_F64, LAM_DIMS(0)), 0, LAM_DIMS(3)), LAM_ERR_VALUE,
            "random_categorical", "categories");
    ck_assert(lam_failed(lam_random_categorical(k, NULL, 0, LAM_DIMS(3))));
    EXPECT_ERROR(LAM_ERR_NULL, "random_categorical");
    ck_assert(lam_failed(lam_random_gamma(k, NULL, LAM_DIMS(3))));
    EXPECT_ERROR(LAM_ERR_NULL, "random_gamma");
    ck_assert(lam_failed(lam_random_permutation(k, NULL, 0)));
    EXPECT_ERROR(LAM_ERR_NULL, "random_permutation");
    REFUSED(lam_random_choice(k, VEC(1, 2), 0, 3, WITHOUT), LAM_ERR_VALUE, "random_choice", "3 of 2");
    REFUSED(lam_random_choice(k, VEC(1, 2), 1, 3, NULL), LAM_ERR_AXIS, "random_choice");
    REFUSED(lam_random_choice(k, lam_zeros(ctx, LAM_F64, LAM_DIMS(0)), 0, 1, NULL), LAM_ERR_VALUE, "random_choice");
    REFUSED(lam_random_choice(k, VEC(1, 2), 0, 3, &(lam_random_choice_options){.p = VEC(1, -1)}), LAM_ERR_VALUE,
            "random_choice");
    REFUSED(lam_random_choice(k, VEC(1, 2), 0, 3, &(lam_random_choice_options){.p = VEC(1, 1, 1)}), LAM_ERR_SHAPE,
            "random_choice");
    REFUSED(lam_random_normal(k, LAM_C128, LAM_DIMS(2)), LAM_ERR_DTYPE, "random_normal", "c128");
    REFUSED(lam_random_gamma(k, lam_cast(p, LAM_C128), LAM_DIMS(2)), LAM_ERR_DTYPE, "random_gamma", "c128");
    REFUSED(lam_rand_like(lam_cast(p, LAM_C64)), LAM_ERR_DTYPE, "rand_like", "c64");
    REFUSED(lam_fold_in(k, lam_cast(p, LAM_C64)), LAM_ERR_DTYPE, "fold_in");
    REFUSED(lam_random_permutation(k, p, 0), LAM_ERR_AXIS, "random_permutation");
    REFUSED(lam_random_gamma(k, VEC(1, 0), LAM_DIMS(2)), LAM_ERR_VALUE, "random_gamma", "0");
    REFUSED(lam_random_beta(k, p, num(-1), LAM_DIMS(2)), LAM_ERR_VALUE, "random_beta", "-1");
    REFUSED(lam_random_dirichlet(k, p, LAM_DIMS(2)), LAM_ERR_SHAPE, "random_dirichlet");
    REFUSED(lam_random_poisson(k, num(-2), LAM_DIMS(2)), LAM_ERR_VALUE, "random_poisson", "-2");
    REFUSED(lam_random_multivariate_normal(k, VEC(1, 2), MAT(1, 1, 1), LAM_DIMS(2)), LAM_ERR_SHAPE,
            "random_multivariate_normal");
    REFUSED(lam_random_multivariate_normal(k, VEC(1, 2), MAT(2, 2, 1, 2, 2, 1), LAM_DIMS(2)), LAM_ERR_NUMERIC,
            "cholesky");
}
END_TEST

BODY(gammas) {
    out[0] = lam_random_gamma(key42(), in[0], LAM_DIMS(6));
    out[1] = lam_random_loggamma(key42(), in[0], LAM_DIMS(6));
}

/* What would be refused where it could be seen. */
START_TEST(gammas_of_impossible_shapes_are_no_numbers) {
    lam_tensor *a = VEC(-2, -0.5, -1e-9, 0, NAN, 0.5), *out[2];
    for (int k = 0; k < 4; k++) {
        lam_call(lam_jit(FN(gammas, 1, 2), NULL), LAM_LIST(k < 2 ? a : single(a)), out, 2);
        EXPECT(lam_is_nan(out[k % 2]), LAM_DIMS(6), 1, 1, 1, 1, 1, 0);
    }
}
END_TEST

START_TEST(empty_samples) {
    lam_tensor *k = key42();
    EXPECT_EMPTY(lam_split(k, 0), LAM_DIMS(0, 2));
    EXPECT_EMPTY(lam_random_normal(k, LAM_F64, LAM_DIMS(3, 0)), LAM_DIMS(3, 0));
    EXPECT_EMPTY(lam_random_gamma(k, num(1), LAM_DIMS(0)), LAM_DIMS(0));
    EXPECT_EMPTY(lam_random_permutation(k, lam_zeros(ctx, LAM_F64, LAM_DIMS(0, 2)), 0), LAM_DIMS(0, 2));
    EXPECT_EMPTY(lam_random_choice(k, lam_zeros(ctx, LAM_F64, LAM_DIMS(2, 0)), 1, 0, NULL), LAM_DIMS(2, 0));
    EXPECT_EMPTY(lam_random_choice(k, VEC(1, 2), 0, 0, WITHOUT_P_OF_TWO), LAM_DIMS(0));
    lam_tensor *nothing = lam_zeros(ctx, LAM_F64, LAM_DIMS(2, 0));
    lam_random_choice_options weighted = {.p = lam_zeros(ctx, LAM_F64, LAM_DIMS(0))};
    EXPECT_EMPTY(lam_random_choice(k, nothing, 1, 0, &weighted), LAM_DIMS(2, 0));
    weighted.without_replacement = true;
    EXPECT_EMPTY(lam_random_choice(k, nothing, 1, 0, &weighted), LAM_DIMS(2, 0));
    REFUSED(lam_random_choice(k, nothing, 1, 1, &weighted), LAM_ERR_VALUE, "random_choice", "1 of 0");
    EXPECT_EMPTY(lam_random_randint(k, LAM_I64, LAM_DIMS(0), 0, 1), LAM_DIMS(0));
}
END_TEST

Suite *suite_primitives_random(void) {
    Suite *suite =
        SUITE_OF("primitives/random", derivatives_by_parameters, samples_follow_their_distributions,
                 means_and_variances, all_orders_are_alike, batches_of_means_and_covariances, what_is_no_key_is_refused,
                 impossible_requests_are_refused, gammas_of_impossible_shapes_are_no_numbers, empty_samples);
    suite_loop(suite, numbers_are_those_of_jax, COUNT(samples));
    suite_loop(suite, a_batch_of_keys_is_each_of_them, 9);
    suite_loop(suite, implicit_derivatives_are_unbiased, 3);
    return suite;
}
