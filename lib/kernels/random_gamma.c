/* Samples whose number of random bits is not known beforehand: gamma variables by the squeeze of Marsaglia and Tsang
 * ("A simple method for generating gamma variables", 2000), Poisson variables by counting for small rates and by the
 * transformed rejection of Hoermann (1993, PTRS) for others. Each element takes its bits from keys of its own, in the
 * order of jax.random. f32 samples are made of f32 bits and computed in double. */
#include "lib/kernels/kernels.h"

#include "lib/kernels/simd/simd.h"
#include "lib/kernels/special/special.h"

#include <math.h>

typedef struct key {
    uint32_t words[2];
} key;

/* The 64 bits of a key at a counter. */
static uint64_t hashed(key k, uint64_t counter) {
    uint64_t bits;
    lam__elementwise_simd()->threefry(LAM__RANDOM_WIDE, k.words, counter, 1, &bits);
    return bits;
}

/* Key number i of those that a key is split into. */
static key part(key k, uint64_t i) {
    uint64_t bits = hashed(k, i);
    return (key){{(uint32_t)(bits >> 32), (uint32_t)bits}};
}

/* Uniform in [0, 1) with the digits of dtype. */
static double unit(lam_dtype dtype, key k, uint64_t counter) {
    uint64_t bits = hashed(k, counter);
    if (dtype == LAM_F64) return (double)(bits >> 12) * 0x1p-52;
    return (double)(((uint32_t)(bits >> 32) ^ (uint32_t)bits) >> 9) * 0x1p-23;
}

/* The uniform number is spread over (-1, 1) in the arithmetic of the dtype, as lam_random_normal does. */
static double normal(lam_dtype dtype, key k) {
    double least = dtype == LAM_F64 ? -1 + 0x1p-53 : -1 + 0x1p-24, u = unit(dtype, k, 0);
    u = dtype == LAM_F64 ? fma(u, 1 - least, least) : (double)fmaf((float)u, (float)(1 - least), (float)least);
    u = u > least ? u : least;
    lam__kernels_loop(LAM__LOOP_erf_inv, LAM_F64)(1, (void *[]){&u, &u}, (int64_t[]){1, 1}, NULL);
    return 1.4142135623730951 * u;
}

/* ---- gamma ------------------------------------------------------------------------------------------------------- */

/* v of a normal x, of which 1 + c x is positive; *square is x^2. */
static double positive(lam_dtype dtype, key k, double c, double *square) {
    double x, v;
    do {
        x = normal(dtype, part(k, 1));
        v = 1 + x * c;
        k = part(k, 0);
    } while (v <= 0);
    *square = x * x;
    return v;
}

/* For a < 1 a sample of a + 1 is multiplied by the power 1/a of a uniform number. */
static double gamma_sample(lam_dtype dtype, key k, double a, bool logarithm) {
    bool boost = a < 1;
    double d = (boost ? a + 1 : a) - 1.0 / 3, c = 1 / (3 * sqrt(d)), v, x2, u;
    key last = part(k, 1);
    if (!(d > 0) || isinf(a)) return isinf(a) && a > 0 ? a : (double)NAN;
    k = part(k, 0);
    do {
        v = positive(dtype, part(k, 1), c, &x2);
        v = v * v * v;
        u = unit(dtype, part(k, 2), 0);
        k = part(k, 0);
    } while (u >= 1 - 0.0331 * x2 * x2 && log(u) >= x2 / 2 + d * (1 - v + log(v)));
    double less = unit(dtype, last, 0);
    if (logarithm) return log(d) + log(v) + (boost ? log1p(-less) / a : 0);
    return d * v * (boost ? pow(1 - less, 1 / a) : 1);
}

void lam__kernels_random_gamma(lam_dtype dtype, const uint32_t words[2], int64_t first, int64_t n, const void *a,
                               bool logarithm, void *out) {
    const key whole = {{words[0], words[1]}};
    for (int64_t i = 0; i < n; i++) {
        double own = dtype == LAM_F64 ? ((const double *)a)[i] : ((const float *)a)[i];
        double x = gamma_sample(dtype, part(whole, (uint64_t)(first + i)), own, logarithm);
        if (dtype == LAM_F64) ((double *)out)[i] = x;
        else ((float *)out)[i] = (float)x;
    }
}

/* ---- poisson ----------------------------------------------------------------------------------------------------- */

/* How many factors in (0, 1) it takes to come below exp(-rate), less one. */
static int64_t count_factors(key k, uint64_t place, float rate) {
    int64_t count = 0;
    float sum = 0;
    for (; sum > -rate; k = part(k, 0)) {
        count++;
        sum += (float)log(unit(LAM_F32, part(k, 1), place));
    }
    return count - 1;
}

/* All in f32, whose roundings decide. */
static int64_t transformed_rejection(key k, uint64_t place, float rate) {
    const float b = 0.931f + 2.53f * sqrtf(rate), a = -0.059f + 0.02483f * b, inverse = 1.1239f + 1.1328f / (b - 3.4f);
    const float most = 0.9277f - 3.6224f / (b - 2);
    for (;; k = part(k, 0)) {
        float u = (float)unit(LAM_F32, part(k, 1), place) - 0.5f, v = (float)unit(LAM_F32, part(k, 2), place);
        float inside = 0.5f - fabsf(u), x = floorf((2 * a / inside + b) * u + rate + 0.43f);
        if (inside >= 0.07f && v <= most) return (int64_t)x;
        if (x < 0 || (inside < 0.013f && v > inside)) continue;
        double s = log((double)(v * inverse / (a / (inside * inside) + b)));
        if (s <= -(double)rate + (double)x * log((double)rate) - lam__special_lgamma((double)x + 1)) return (int64_t)x;
    }
}

void lam__kernels_random_poisson(const uint32_t words[2], int64_t first, int64_t n, const float *rate, int64_t *out) {
    const key whole = {{words[0], words[1]}};
    for (int64_t i = 0; i < n; i++) {
        if (!(rate[i] >= 0) || isinf(rate[i])) out[i] = -1;
        else if (rate[i] == 0) out[i] = 0;
        else if (rate[i] < 10) out[i] = count_factors(whole, (uint64_t)(first + i), rate[i]);
        else out[i] = transformed_rejection(whole, (uint64_t)(first + i), rate[i]);
    }
}
