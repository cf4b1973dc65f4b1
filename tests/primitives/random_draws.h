/* What the suites of random numbers share: draws beside the numbers of JAX, and what tells whether samples follow their
 * distribution. */
#ifndef LAM_TESTS_RANDOM_DRAWS_H
#define LAM_TESTS_RANDOM_DRAWS_H

#include "tests/support.h"

static inline lam_tensor *key42(void) {
    return lam_key(ctx, 42);
}

static inline lam_tensor *single(lam_tensor *x) {
    return lam_cast(x, LAM_F32);
}

/* A call and its result: integers exactly, or numbers to some units of the last place of their dtype. Where that is
 * more than 4, the number is JAX's own result, made by elementary functions that are off by as much. */
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

/* clang-format off */
#define EXACT(name) {#name, draw_##name, jax_##name, NULL, COUNT(jax_##name), 0}
#define NEAR(name, ulps) {#name, draw_##name, NULL, jax_##name, COUNT(jax_##name), ulps}
/* clang-format on */

static inline void expect_integers(const sample *s, lam_tensor *t) {
    int64_t got[64];
    ck_assert_msg(lam_read(lam_cast(t, LAM_I64), got, (size_t)s->count * 8) == LAM_OK, "%s", lam_error(ctx));
    for (int i = 0; i < s->count; i++)
        ck_assert_msg(got[i] == s->integers[i], "%s: element %d is %lld, not %lld", s->name, i, (long long)got[i],
                      (long long)s->integers[i]);
}

static inline void expect_numbers(const sample *s, lam_tensor *t) {
    double got[64], unit = lam_dtype_of(t) == LAM_F32 ? 0x1p-23 : 0x1p-52;
    ck_assert_msg(lam_read(lam_cast(t, LAM_F64), got, (size_t)s->count * 8) == LAM_OK, "%s", lam_error(ctx));
    for (int i = 0; i < s->count; i++)
        ck_assert_msg(fabs(got[i] - s->numbers[i]) <= s->ulps * unit * fabs(s->numbers[i]),
                      "%s: element %d is %a, not %a", s->name, i, got[i], s->numbers[i]);
}

static inline void expect_sample(const sample *s) {
    lam_tensor *t = s->draw();
    ck_assert_msg(!lam_failed(t) && lam_size(t) == s->count, "%s: %s", s->name, lam_error(ctx));
    if (s->integers) expect_integers(s, t);
    else expect_numbers(s, t);
}

/* ---- what the numbers look like ---------------------------------------------------------------------------------- */

enum { MANY = 40000 };

/* The largest distance between the distribution of `x` and the one whose values at the sorted elements `cdf` gives,
 * times the root of the number: above 1.95 with probability 0.001 (Kolmogorov 1933). */
static inline double kolmogorov(lam_tensor *x, lam_tensor *(*cdf)(lam_tensor *)) {
    double n = (double)lam_size(x);
    lam_tensor *p = cdf(lam_sort(x, 0)), *steps = lam_div(lam_arange(ctx, LAM_F64, 0, n, 1), n);
    lam_tensor *above = lam_max_reduce(lam_sub(p, steps), NULL);
    lam_tensor *below = lam_max_reduce(lam_sub(lam_add(steps, 1 / n), p), NULL);
    return sqrt(n) * fmax(lam_item(above), lam_item(below));
}

/* |mean - want| in standard errors, of which 4 have a chance of 6e-5. */
static inline double errors_of_mean(lam_tensor *x, double want, double variance) {
    return fabs(lam_item(lam_mean(x, NULL)) - want) / sqrt(variance / (double)lam_size(x));
}

#define REFUSED(call, status, ...)                                                                                     \
    do {                                                                                                               \
        ck_assert(lam_failed(call));                                                                                   \
        EXPECT_ERROR(status, __VA_ARGS__);                                                                             \
    } while (0)

#endif
