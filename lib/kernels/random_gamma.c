/* Samples whose number of random bits is not known beforehand: gamma variables by the squeeze of Marsaglia and Tsang
 * ("A simple method for generating gamma variables", 2000), Poisson variables by counting for small rates and by the
 * transformed rejection of Hoermann (1993, PTRS) for others, binomial ones likewise (BTRS). Keys are split in the order
 * of jax.random. f32 samples are made of f32 bits and computed in double. The number of rounds has no bound but a mean
 * of a few: a round is done for a block of elements at once, and those that it rejects close up for the next one. */
#include "lib/kernels/kernels.h"

#include "lib/kernels/keys.h"
#include "lib/kernels/simd/simd.h"
#include "lib/kernels/special/special.h"

#include <math.h>

enum { BLOCK = 256 };

/* Both words of a key, the first one above. */
typedef uint64_t key;

/* One number for two words, as lam__keys_set wants them, so lists of keys are lists of numbers. */
static key key_of(const uint32_t words[2]) {
    return (key)words[0] << 32 | words[1];
}

/* Key number i of those that a key is split into. As lam_split gives them. */
static key part(key k, uint64_t i) {
    lam__kernels_keys()->each(LAM__RANDOM_WIDE, 1, &k, i, NULL, &k);
    return k;
}

/* The same of n keys. */
static void parts(int64_t n, const key *k, uint64_t i, key *out) {
    lam__kernels_keys()->each(LAM__RANDOM_WIDE, n, k, i, NULL, out);
}

/* Uniform in [0, 1) with the digits of dtype, of at most BLOCK keys. As lam_random_uniform has them. */
static void units(lam_dtype dtype, int64_t n, const key *k, uint64_t first, const uint64_t *places, double *u) {
    float narrow[BLOCK];
    if (dtype == LAM_F64) {
        lam__kernels_keys()->each(LAM__RANDOM_UNIT64, n, k, first, places, u);
        return;
    }
    lam__kernels_keys()->each(LAM__RANDOM_UNIT32, n, k, first, places, narrow);
    for (int64_t i = 0; i < n; i++) u[i] = narrow[i];
}

/* The same of part `which` of one key, at the counters first + place. */
static void units_of_part(lam_dtype dtype, int64_t n, key k, uint64_t which, uint64_t first, const uint64_t *places,
                          double *u) {
    key same[BLOCK];
    const key now = part(k, which);
    for (int64_t i = 0; i < n; i++) same[i] = now;
    units(dtype, n, same, first, places, u);
}

/* A loop in place. */
static void apply(lam__loop_id id, int64_t n, double *x) {
    lam__kernels_loop(id, LAM_F64)(n, (void *[]){x, x}, (int64_t[]){1, 1}, NULL);
}

/* The uniform number is spread over (-1, 1) in the arithmetic of the dtype, as lam_random_normal does. jax.random draws
 * from (-1, 1) as u (1 - least) + least with least just above -1 and takes sqrt(2) erf_inv of it; 1 - least is rounded
 * to 2, so the product is exact. */
static void normals(lam_dtype dtype, int64_t n, const key *k, double *x) {
    const double least = dtype == LAM_F64 ? -1 + 0x1p-53 : -1 + 0x1p-24;
    units(dtype, n, k, 0, NULL, x);
    for (int64_t i = 0; i < n; i++) {
        const double spread = dtype == LAM_F64 ? 2 * x[i] + least : (double)(float)(2 * x[i] + least);
        x[i] = spread > least ? spread : least;
    }
    apply(LAM__LOOP_erf_inv, n, x);
    /* sqrt(2), since erf_inv gives numbers of variance 1/2. */
    for (int64_t i = 0; i < n; i++) x[i] *= 1.4142135623730951;
}

/* ---- gamma ------------------------------------------------------------------------------------------------------- */

/* Samples under way: where they belong, the keys that they have come to, and Marsaglia's d = a - 1/3 and
 * c = 1/(3 sqrt(d)). */
typedef struct gammas {
    int64_t n;
    int place[BLOCK];
    key k[BLOCK];
    double d[BLOCK], c[BLOCK];
} gammas;

/* v of a normal x, of which 1 + c x is positive, and x^2. Candidates left of that are thrown away, with a new key for
 * each. The keys are lost. */
static void positives(lam_dtype dtype, int64_t n, key *k, const double *c, double *v, double *square) {
    key now[BLOCK];
    double x[BLOCK];
    int place[BLOCK];
    for (int i = 0; i < n; i++) place[i] = i;
    /* Each round makes a new candidate for those that are left, of a new part of their keys. */
    while (n) {
        int64_t left = 0;
        parts(n, k, 1, now);
        normals(dtype, n, now, x);
        for (int64_t i = 0; i < n; i++) {
            const int at = place[i];
            const double value = 1 + x[i] * c[at];
            v[at] = value;
            square[at] = x[i] * x[i];
            place[left] = at, k[left] = k[i];
            left += value <= 0;
        }
        n = left;
        parts(n, k, 0, k);
    }
}

/* The two last steps of Marsaglia and Tsang; v is the cube already. The squeeze accepts most candidates without a
 * logarithm. */
static bool is_rejected(double u, double square, double d, double v) {
    return u >= 1 - 0.0331 * square * square && log(u) >= square / 2 + d * (1 - v + log(v));
}

/* One candidate for each sample; those accepted are written where they belong and leave. */
static void round_of(lam_dtype dtype, gammas *g, double *out) {
    key now[BLOCK];
    double v[BLOCK], square[BLOCK], u[BLOCK];
    int64_t left = 0;
    parts(g->n, g->k, 1, now);
    positives(dtype, g->n, now, g->c, v, square);
    parts(g->n, g->k, 2, now);
    units(dtype, g->n, now, 0, NULL, u);
    for (int64_t i = 0; i < g->n; i++) {
        /* Written before it is known to be accepted: a rejected candidate is written over by a later round. */
        const double cube = v[i] * v[i] * v[i];
        out[g->place[i]] = cube;
        if (!is_rejected(u[i], square[i], g->d[i], cube)) continue;
        /* Those left close up in their order, so that a round costs what is left. */
        g->place[left] = g->place[i], g->k[left] = g->k[i];
        g->d[left] = g->d[i], g->c[left] = g->c[i];
        left++;
    }
    g->n = left;
    parts(left, g->k, 0, g->k);
}

/* For a < 1 a sample of a + 1 is multiplied by the power 1/a of a uniform number, of the keys `last`. */
static void boost(lam_dtype dtype, int64_t n, const double *a, const key *last, bool logarithm, double *x) {
    int place[BLOCK];
    key k[BLOCK];
    double less[BLOCK], inverse[BLOCK];
    int64_t count = 0;
    for (int i = 0; i < n; i++)
        if (a[i] < 1) place[count] = i, k[count] = last[i], inverse[count++] = 1 / a[i];
    units(dtype, count, k, 0, NULL, less);
    /* 1 - u is in (0, 1], so the logarithm is finite, and u itself may be 0. */
    for (int64_t i = 0; i < count; i++) less[i] = logarithm ? -less[i] : 1 - less[i];
    if (logarithm) apply(LAM__LOOP_log1p, count, less);
    else lam__kernels_loop(LAM__LOOP_pow, LAM_F64)(count, (void *[]){less, less, inverse}, (int64_t[]){1, 1, 1}, NULL);
    for (int64_t i = 0; i < count; i++) {
        if (logarithm) x[place[i]] += less[i] / a[place[i]];
        else x[place[i]] *= less[i];
    }
}

/* At most BLOCK samples, of keys of their own. The logarithm is formed from those of its factors, since the sample
 * itself may underflow for small a. Where a is not above 0, which callers refuse where it can be seen, d and the result
 * are NaN; of infinite a it is infinity. */
static void gamma_block(lam_dtype dtype, int64_t n, const key *own, const double *a, bool logarithm, double *x) {
    gammas g;
    key last[BLOCK];
    double d[BLOCK];
    g.n = 0;
    /* Keys are split as jax.random does whether a is below 1 or not, so they are made for all. */
    parts(n, own, 1, last);
    for (int i = 0; i < n; i++) {
        d[i] = a[i] > 0 ? (a[i] < 1 ? a[i] + 1 : a[i]) - 1.0 / 3 : (double)NAN;
        /* What takes no part stays so, whose logarithm is a number. */
        x[i] = 1;
        if (!(d[i] > 0) || isinf(a[i])) continue;
        g.place[g.n] = i, g.k[g.n] = own[i], g.d[g.n] = d[i];
        g.c[g.n++] = 1 / (3 * sqrt(d[i]));
    }
    parts(g.n, g.k, 0, g.k);
    while (g.n) round_of(dtype, &g, x);
    if (logarithm) {
        double log_d[BLOCK];
        for (int64_t i = 0; i < n; i++) log_d[i] = d[i];
        apply(LAM__LOOP_log, n, log_d), apply(LAM__LOOP_log, n, x);
        for (int64_t i = 0; i < n; i++) x[i] = log_d[i] + x[i];
    } else
        for (int64_t i = 0; i < n; i++) x[i] = d[i] * x[i];
    boost(dtype, n, a, last, logarithm, x);
    for (int64_t i = 0; i < n; i++)
        if (!(d[i] > 0) || isinf(a[i])) x[i] = isinf(a[i]) && a[i] > 0 ? a[i] : (double)NAN;
}

void lam__kernels_random_gamma(lam_dtype dtype, const uint32_t words[2], int64_t first, int64_t n, const void *a,
                               bool logarithm, void *out) {
    /* Element i of the whole has key first + i, so pieces and blocks change nothing. */
    key own[BLOCK];
    double wide[BLOCK], x[BLOCK];
    for (int64_t at = 0, m; at < n; at += m) {
        m = n - at < BLOCK ? n - at : BLOCK;
        lam__elementwise_simd()->threefry(LAM__RANDOM_WIDE, words, (uint64_t)(first + at), m, own);
        for (int64_t i = 0; i < m; i++)
            wide[i] = dtype == LAM_F64 ? ((const double *)a)[at + i] : ((const float *)a)[at + i];
        gamma_block(dtype, m, own, wide, logarithm, x);
        for (int64_t i = 0; i < m; i++) {
            if (dtype == LAM_F64) ((double *)out)[at + i] = x[i];
            else ((float *)out)[at + i] = (float)x[i];
        }
    }
}

/* ---- poisson ----------------------------------------------------------------------------------------------------- */

/* Samples under way: which element of the piece each is, and its rate. All have one key, and their counters are those
 * of the whole, in which the piece begins at `first`. */
typedef struct rates {
    int64_t n;
    uint64_t first;
    uint64_t place[BLOCK];
    float rate[BLOCK];
} rates;

/* How many factors in (0, 1) it takes to come below exp(-rate), less one. Knuth's method in sums of logarithms; the
 * number of rounds is about the rate. Sums and comparisons are in f32, as there. */
static void count_factors(key k, rates *r, int64_t *out) {
    float sum[BLOCK];
    double u[BLOCK];
    /* Numbers have no state between rounds but their sums: the key of a round is one for all, the counter tells
     * them apart. */
    for (int64_t i = 0; i < r->n; i++) sum[i] = 0;
    for (int64_t count = 0; r->n; count++, k = part(k, 0)) {
        int64_t left = 0;
        units_of_part(LAM_F32, r->n, k, 1, r->first, r->place, u);
        apply(LAM__LOOP_log, r->n, u);
        for (int64_t i = 0; i < r->n; i++) {
            const float all = sum[i] + (float)u[i], rate = r->rate[i];
            const uint64_t place = r->place[i];
            out[place] = count;
            sum[left] = all, r->place[left] = place, r->rate[left] = rate;
            left += all > -rate;
        }
        r->n = left;
    }
}

/* Candidates that the first tests have not decided on: they stay where log(size) <= -rate + x log(rate) - log(x!). */
typedef struct undecided {
    int64_t n;
    uint64_t place[BLOCK];
    double rate[BLOCK], x[BLOCK], size[BLOCK];
} undecided;

/* PTRS of Hoermann: most candidates are accepted by the first test, without a logarithm. All in f32, whose roundings
 * decide. The candidate, which is `known` or to be tested, or -1 where it is rejected. */
static float transformed(float rate, float u, float v, bool *known, float *size) {
    /* The constants are those of the paper, as jax.random has them, where v has been scaled to the hat. */
    const float b = 0.931f + 2.53f * sqrtf(rate), a = -0.059f + 0.02483f * b, inverse = 1.1239f + 1.1328f / (b - 3.4f);
    /* The bound of the first test. */
    const float most = 0.9277f - 3.6224f / (b - 2);
    const float inside = 0.5f - fabsf(u), x = floorf((2 * a / inside + b) * u + rate + 0.43f);
    *known = inside >= 0.07f && v <= most;
    *size = v * inverse / (a / (inside * inside) + b);
    return !*known && inside < 0.013f && v > inside ? -1 : x;
}

/* For the next round. It is written in front of what is still to be read, since no more are left than have been
 * read. */
static void leave(rates *r, uint64_t place, float rate) {
    r->place[r->n] = place, r->rate[r->n++] = rate;
}

/* The last test, in double, of all that need it. What it rejects is left. */
static void decide(undecided *d, rates *r, int64_t *out) {
    double most[BLOCK], factorial[BLOCK];
    for (int64_t i = 0; i < d->n; i++) most[i] = d->rate[i], factorial[i] = d->x[i] + 1;
    apply(LAM__LOOP_log, d->n, d->size), apply(LAM__LOOP_log, d->n, most), apply(LAM__LOOP_lgamma, d->n, factorial);
    for (int64_t i = 0; i < d->n; i++) {
        if (d->size[i] <= -d->rate[i] + d->x[i] * most[i] - factorial[i]) out[d->place[i]] = (int64_t)d->x[i];
        else leave(r, d->place[i], (float)d->rate[i]);
    }
}

/* PTRS: rounds over those that are left, each with numbers of its own. Most are decided by the first test; what needs
 * logarithms is collected, so that these are made in vectors. */
static void transformed_rejection(key k, rates *r, int64_t *out) {
    double u[BLOCK], v[BLOCK];
    for (; r->n; k = part(k, 0)) {
        const int64_t n = r->n;
        undecided d;
        d.n = 0;
        units_of_part(LAM_F32, n, k, 1, r->first, r->place, u);
        units_of_part(LAM_F32, n, k, 2, r->first, r->place, v);
        r->n = 0;
        for (int64_t i = 0; i < n; i++) {
            bool known;
            float size, rate = r->rate[i], x = transformed(rate, (float)u[i] - 0.5f, (float)v[i], &known, &size);
            const uint64_t place = r->place[i];
            if (known) out[place] = (int64_t)x;
            else if (x < 0) leave(r, place, rate);
            else d.place[d.n] = place, d.rate[d.n] = rate, d.x[d.n] = x, d.size[d.n++] = size;
        }
        decide(&d, r, out);
    }
}

void lam__kernels_random_poisson(const uint32_t words[2], int64_t first, int64_t n, const float *rate, int64_t *out) {
    /* From a rate of 10 on, as the paper says of PTRS. Both lists are emptied where one is full or the piece ends,
     * so nothing is kept between calls. */
    const key whole = key_of(words);
    /* Rates below 10, and others. */
    rates few, many;
    few.n = many.n = 0;
    few.first = many.first = (uint64_t)first;
    for (int64_t i = 0; i < n; i++) {
        if (!(rate[i] >= 0) || isinf(rate[i])) out[i] = -1;
        else if (rate[i] == 0) out[i] = 0;
        else {
            rates *r = rate[i] < 10 ? &few : &many;
            r->place[r->n] = (uint64_t)i, r->rate[r->n++] = rate[i];
        }
        if (few.n == BLOCK || i + 1 == n) count_factors(whole, &few, out);
        if (many.n == BLOCK || i + 1 == n) transformed_rejection(whole, &many, out);
    }
}

/* ---- binomial ---------------------------------------------------------------------------------------------------- */

/* Samples under way: which element of the piece each is, its trials and how likely each of them succeeds. All have one
 * key, and their counters are those of the whole, in which the piece begins at `first`. */
typedef struct trials {
    int64_t n;
    uint64_t first, place[BLOCK];
    double count[BLOCK], p[BLOCK];
} trials;

/* How many successes there are, by the distances from one to the next, which are geometric. */
static void count_distances(lam_dtype dtype, key k, trials *t, double *out) {
    double sum[BLOCK], log_failure[BLOCK], u[BLOCK];
    /* The logarithm of how likely a failure is. For p = 0 it is -0 and the distance infinite, so there are no
     * successes. */
    for (int64_t i = 0; i < t->n; i++) sum[i] = 0, log_failure[i] = log1p(-t->p[i]);
    for (double count = 0; t->n; count++, k = part(k, 1)) {
        int64_t left = 0;
        units_of_part(dtype, t->n, k, 0, t->first, t->place, u);
        apply(LAM__LOOP_log, t->n, u);
        for (int64_t i = 0; i < t->n; i++) {
            const double all = sum[i] + ceil(u[i] / log_failure[i]), most = t->count[i];
            const uint64_t place = t->place[i];
            out[place] = count;
            sum[left] = all, log_failure[left] = log_failure[i], t->place[left] = place, t->count[left] = most;
            left += all <= most;
        }
        t->n = left;
    }
}

/* log(k!) less the leading terms of Stirling's formula at k + 1/2: ten values, then three terms of its series, as
 * the paper on BTRS has it. */
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

/* BTRS of Hoermann ("The generation of binomial random variates", 1993), with its constants; it wants n p > 10 and
 * p <= 1/2. The candidate, or -1 where it is rejected. */
static double candidate(double n, double p, double u, double v) {
    const double deviation = sqrt(n * p * (1 - p)), b = 1.15 + 2.53 * deviation, a = -0.0873 + 0.0248 * b + 0.01 * p;
    const double centre = n * p + 0.5, most = 0.92 - 4.2 / b, alpha = (2.83 + 5.1 / b) * deviation;
    /* The likeliest number of successes, beside which others are judged. */
    const double mode = floor((n + 1) * p), odds = p / (1 - p);
    const double inside = 0.5 - fabs(u), x = floor((2 * a / inside + b) * u + centre);
    if (inside >= 0.07 && v <= most) return x;
    if (x < 0 || x > n) return -1;
    return log(v * alpha / (a / (inside * inside) + b)) <= log_likelihood(n, odds, mode, x) ? x : -1;
}

/* Rounds over those that are left. A rejected candidate is written too, and written over by a later round. */
static void reject_binomial(lam_dtype dtype, key k, trials *t, double *out) {
    double u[BLOCK], v[BLOCK];
    for (; t->n; k = part(k, 0)) {
        int64_t left = 0;
        units_of_part(dtype, t->n, k, 1, t->first, t->place, u);
        units_of_part(dtype, t->n, k, 2, t->first, t->place, v);
        for (int64_t i = 0; i < t->n; i++) {
            const double x = candidate(t->count[i], t->p[i], u[i] - 0.5, v[i]);
            out[t->place[i]] = x;
            t->place[left] = t->place[i], t->count[left] = t->count[i], t->p[left] = t->p[i];
            left += x == -1;
        }
        t->n = left;
    }
}

/* At most BLOCK samples. Of the likelier and the less likely outcome the latter is counted. */
static void binomial_block(lam_dtype dtype, key k, int64_t first, int64_t n, const double *count, const double *p,
                           double *x) {
    trials few, many;
    few.n = many.n = 0;
    few.first = many.first = (uint64_t)first;
    for (int64_t i = 0; i < n; i++) {
        /* What is refused chooses a list too, but does not enter it. */
        const double q = p[i] < 0.5 ? p[i] : 1 - p[i];
        trials *t = count[i] * q <= 10 ? &few : &many;
        x[i] = isinf(count[i]) ? count[i] : (double)NAN;
        if (!(count[i] >= 0) || !(p[i] >= 0 && p[i] <= 1)) x[i] = NAN;
        else if (!isinf(count[i]))
            t->place[t->n] = (uint64_t)i, t->count[t->n] = floor(count[i]), t->p[t->n++] = q, x[i] = 0;
    }
    count_distances(dtype, k, &few, x);
    reject_binomial(dtype, k, &many, x);
    for (int64_t i = 0; i < n; i++)
        if (!(p[i] < 0.5) && !isinf(count[i])) x[i] = floor(count[i]) - x[i]; /* NaN stays */
}

void lam__kernels_random_binomial(lam_dtype dtype, const uint32_t words[2], int64_t first, int64_t n, const void *count,
                                  const void *probability, void *out) {
    const bool wide = dtype == LAM_F64;
    /* Widened a block at a time; f32 samples are computed in double too. */
    double most[BLOCK], p[BLOCK], x[BLOCK];
    for (int64_t at = 0, m; at < n; at += m) {
        m = n - at < BLOCK ? n - at : BLOCK;
        for (int64_t i = 0; i < m; i++) {
            most[i] = wide ? ((const double *)count)[at + i] : ((const float *)count)[at + i];
            p[i] = wide ? ((const double *)probability)[at + i] : ((const float *)probability)[at + i];
        }
        binomial_block(dtype, key_of(words), first + at, m, most, p, x);
        for (int64_t i = 0; i < m; i++) {
            if (wide) ((double *)out)[at + i] = x[i];
            else ((float *)out)[at + i] = (float)x[i];
        }
    }
}
