/* Samples whose number of random bits is not known beforehand: gamma variables by the squeeze of Marsaglia and Tsang
 * ("A simple method for generating gamma variables", 2000), Poisson variables by counting for small rates and by the
 * transformed rejection of Hoermann (1993, PTRS) for others, binomial ones likewise (BTRS). Each element takes its bits
 * from keys of its own, in the order of jax.random. f32 samples are made of f32 bits and computed in double. The number
 * of rounds has no bound but a mean of a few. */
#include "lib/kernels/kernels.h"

#include "lib/kernels/simd/simd.h"
#include "lib/kernels/special/special.h"

#include <math.h>

typedef struct key {
    uint32_t words[2];
} key;

/* The 64 bits of a key at a counter. One at a time, since how many are needed is not known. */
static uint64_t hashed(key k, uint64_t counter) {
    uint64_t bits;
    lam__elementwise_simd()->threefry(LAM__RANDOM_WIDE, k.words, counter, 1, &bits);
    return bits;
}

/* Key number i of those that a key is split into. As lam_split gives them. */
static key part(key k, uint64_t i) {
    uint64_t bits = hashed(k, i);
    return (key){{(uint32_t)(bits >> 32), (uint32_t)bits}};
}

/* Uniform in [0, 1) with the digits of dtype. As lam_random_uniform has them. */
static double unit(lam_dtype dtype, key k, uint64_t counter) {
    uint64_t bits = hashed(k, counter);
    if (dtype == LAM_F64) return (double)(bits >> 12) * 0x1p-52;
    return (double)(((uint32_t)(bits >> 32) ^ (uint32_t)bits) >> 9) * 0x1p-23;
}

/* The uniform number is spread over (-1, 1) in the arithmetic of the dtype, as lam_random_normal does. jax.random draws
 * from (-1, 1) as u (1 - least) + least with least just above -1 and takes sqrt(2) erf_inv of it. */
static double normal(lam_dtype dtype, key k) {
    double least = dtype == LAM_F64 ? -1 + 0x1p-53 : -1 + 0x1p-24, u = unit(dtype, k, 0);
    u = dtype == LAM_F64 ? fma(u, 1 - least, least) : (double)fmaf((float)u, (float)(1 - least), (float)least);
    u = u > least ? u : least;
    lam__kernels_loop(LAM__LOOP_erf_inv, LAM_F64)(1, (void *[]){&u, &u}, (int64_t[]){1, 1}, NULL);
    return 1.4142135623730951 * u;
}

/* ---- gamma ------------------------------------------------------------------------------------------------------- */

/* v of a normal x, of which 1 + c x is positive; *square is x^2. Candidates left of that are thrown away, with a new
 * key for each. */
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

/* For a < 1 a sample of a + 1 is multiplied by the power 1/a of a uniform number. The squeeze accepts most candidates
 * without a logarithm. d = a - 1/3 and c = 1/(3 sqrt(d)) are Marsaglia's. The logarithm is formed from those of its
 * factors, since the sample itself may underflow for small a. */
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

/* How many factors in (0, 1) it takes to come below exp(-rate), less one. Knuth's method in sums of logarithms; the
 * number of rounds is about the rate. Sums and comparisons are in f32, as there. */
static int64_t count_factors(key k, uint64_t place, float rate) {
    int64_t count = 0;
    float sum = 0;
    for (; sum > -rate; k = part(k, 0)) {
        count++;
        sum += (float)log(unit(LAM_F32, part(k, 1), place));
    }
    return count - 1;
}

/* All in f32, whose roundings decide. PTRS of Hoermann: most candidates are accepted by the first test, without a
 * logarithm. The last test is in double. */
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

/* ---- binomial ---------------------------------------------------------------------------------------------------- */

/* How many successes there are in n trials, by the distances from one to the next, which are geometric. */
static double count_distances(lam_dtype dtype, key k, uint64_t place, double n, double p) {
    double count = 0, sum = 0;
    for (const double log_failure = log1p(-p); sum <= n; k = part(k, 1)) {
        count++;
        sum += ceil(log(unit(dtype, part(k, 0), place)) / log_failure);
    }
    return count - 1;
}

/* log(k!) less the leading terms of Stirling's formula at k + 1/2. */
static double stirling_rest(double k) {
    static const double small[] = {0.0810614667953272,  0.0413406959554092, 0.0276779256849983, 0.02079067210376509,
                                   0.0166446911898211,  0.0138761288230707, 0.0118967099458917, 0.0104112652619720,
                                   0.00925546218271273, 0.00833056343336287};
    double square = (k + 1) * (k + 1);
    if (k <= 9) return small[k > 0 ? (int)k : 0];
    return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1);
}

/* The logarithm of how likely k is next to the mode. */
static double log_likelihood(double n, double odds, double mode, double k) {
    return (mode + 0.5) * log((mode + 1) / (odds * (n - mode + 1))) + (n + 1) * log((n - mode + 1) / (n - k + 1)) +
           (k + 0.5) * log(odds * (n - k + 1) / (k + 1)) + stirling_rest(mode) + stirling_rest(n - mode) -
           stirling_rest(k) - stirling_rest(n - k);
}

static double binomial_rejection(lam_dtype dtype, key k, uint64_t place, double n, double p) {
    const double deviation = sqrt(n * p * (1 - p)), b = 1.15 + 2.53 * deviation, a = -0.0873 + 0.0248 * b + 0.01 * p;
    const double centre = n * p + 0.5, most = 0.92 - 4.2 / b, alpha = (2.83 + 5.1 / b) * deviation;
    const double mode = floor((n + 1) * p), odds = p / (1 - p);
    for (;; k = part(k, 0)) {
        double u = unit(dtype, part(k, 1), place) - 0.5, v = unit(dtype, part(k, 2), place);
        double inside = 0.5 - fabs(u), x = floor((2 * a / inside + b) * u + centre);
        if (inside >= 0.07 && v <= most) return x;
        if (x < 0 || x > n) continue;
        if (log(v * alpha / (a / (inside * inside) + b)) <= log_likelihood(n, odds, mode, x)) return x;
    }
}

/* Of the likelier and the less likely outcome the latter is counted. */
static double binomial_sample(lam_dtype dtype, key k, uint64_t place, double n, double p) {
    double q = p < 0.5 ? p : 1 - p, count;
    if (!(n >= 0) || !(p >= 0 && p <= 1)) return (double)NAN;
    if (isinf(n)) return n;
    count =
        n * q <= 10 ? count_distances(dtype, k, place, floor(n), q) : binomial_rejection(dtype, k, place, floor(n), q);
    return p < 0.5 ? count : floor(n) - count;
}

void lam__kernels_random_binomial(lam_dtype dtype, const uint32_t words[2], int64_t first, int64_t n, const void *count,
                                  const void *probability, void *out) {
    const key whole = {{words[0], words[1]}};
    const bool wide = dtype == LAM_F64;
    for (int64_t i = 0; i < n; i++) {
        double trials = wide ? ((const double *)count)[i] : ((const float *)count)[i];
        double p = wide ? ((const double *)probability)[i] : ((const float *)probability)[i];
        double x = binomial_sample(dtype, whole, (uint64_t)(first + i), trials, p);
        if (wide) ((double *)out)[i] = x;
        else ((float *)out)[i] = (float)x;
    }
}
