/* Random numbers of a key: the numbers of jax.random, one result per call whatever transform it is under, derivatives
 * by
 * parameters, what the numbers look like, and what is refused. */
#include "lib/primitives/random.h"

#include "tests/support.h"

#include "tests/primitives/random_values.h"

static lam_tensor *key42(void) {
    return lam_key(ctx, 42);
}

static lam_tensor *single(lam_tensor *x) {
    return lam_cast(x, LAM_F32);
}

/* ---- against jax.random ------------------------------------------------------------------------------------------ */

/* A call and its result: integers exactly, or numbers to some units of the last place of their dtype. */
typedef struct sample {
    const char *name;
    lam_tensor *(*draw)(void);
    const int64_t *integers;
    const double *numbers;
    int count;
    double ulps;
} sample;

#define DRAW(name, expression)                                                                                         \
    static lam_tensor *draw_##name(void) {                                                                             \
        return expression;                                                                                             \
    }
#define COUNT(x) (int)(sizeof(x) / sizeof *(x))

#define PROBABILITIES VEC(0.1, 0.5, 0.9)
#define LOGITS        MAT(2, 3, 0, 1, 2, 3, 4, 1)
#define INTEGERS(n)   lam_arange(ctx, LAM_I64, 0, n, 1)
#define TABLE(n, m)   lam_reshape(INTEGERS((n) * (m)), LAM_DIMS(n, m))
#define BETWEEN                                                                                                        \
    &(lam_uniform_options) {                                                                                           \
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

#define EXACT(name) {#name, draw_##name, jax_##name, NULL, COUNT(jax_##name), 0}
#define NEAR(name, ulps) {#name, draw_##name, NULL, jax_##name, COUNT(jax_##name), ulps}
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
    NEAR(cauchy_f64, 4), NEAR(cauchy_f32, 4),
};
/* clang-format on */

static void expect_integers(const sample *s, lam_tensor *t) {
    int64_t got[64];
    ck_assert_msg(lam_read(lam_cast(t, LAM_I64), got, (size_t)s->count * 8) == LAM_OK, "%s", lam_error(ctx));
    for (int i = 0; i < s->count; i++)
        ck_assert_msg(got[i] == s->integers[i], "%s: element %d is %lld, not %lld", s->name, i, (long long)got[i],
                      (long long)s->integers[i]);
}

static void expect_numbers(const sample *s, lam_tensor *t) {
    double got[64], unit = lam_dtype_of(t) == LAM_F32 ? 0x1p-23 : 0x1p-52;
    ck_assert_msg(lam_read(lam_cast(t, LAM_F64), got, (size_t)s->count * 8) == LAM_OK, "%s", lam_error(ctx));
    for (int i = 0; i < s->count; i++)
        ck_assert_msg(fabs(got[i] - s->numbers[i]) <= s->ulps * unit * fabs(s->numbers[i]),
                      "%s: element %d is %a, not %a", s->name, i, got[i], s->numbers[i]);
}

START_TEST(numbers_are_those_of_jax) {
    const sample *s = &samples[_i];
    lam_tensor *t = s->draw();
    ck_assert_msg(!lam_failed(t) && lam_size(t) == s->count, "%s: %s", s->name, lam_error(ctx));
    if (s->integers) expect_integers(s, t);
    else expect_numbers(s, t);
}
END_TEST

Suite *suite_primitives_random(void) {
    Suite *suite = suite_of("primitives/random", NULL, 0);
    suite_loop(suite, numbers_are_those_of_jax, COUNT(samples));
    return suite;
}
