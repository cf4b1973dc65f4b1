/* Random bits. The reference hashes each counter by itself, after the paper of Salmon and others (2011). */
#include "lib/primitives/random.h"
#include "lib/primitives/rows.h"

#include "tests/primitives/cases.h"

#include <math.h>
#include <string.h>

/* Threefry-2x32: 20 rounds, after each fourth a part of the key. */
static void hash(const uint32_t key[2], uint64_t counter, uint32_t out[2]) {
    static const int turns[8] = {13, 15, 26, 6, 17, 29, 16, 24};
    const uint32_t parts[3] = {key[0], key[1], key[0] ^ key[1] ^ 0x1bd11bda};
    uint32_t x = (uint32_t)(counter >> 32) + parts[0], y = (uint32_t)counter + parts[1];
    for (int round = 0; round < 20; round++) {
        x += y;
        y = (y << turns[round % 8] | y >> (32 - turns[round % 8])) ^ x;
        if (round % 4 != 3) continue;
        uint32_t group = (uint32_t)round / 4 + 1;
        x += parts[group % 3];
        y += parts[(group + 1) % 3] + group;
    }
    out[0] = x;
    out[1] = y;
}

static void key_of(const array *keys, int64_t k, uint32_t key[2]) {
    key[0] = (uint32_t)(int64_t)keys->data[2 * k];
    key[1] = (uint32_t)(int64_t)keys->data[2 * k + 1];
}

/* ---- random_bits: arg is the form, the rank, the dims ------------------------------------------------------------ */

static void call_random_bits(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    lam__bits_params p = {.what = {.form = (lam__random_form)u->arg[0]}, .rank = (int32_t)u->arg[1]};
    for (int i = 0; i < p.rank; i++) p.dims[i] = u->arg[2 + i];
    lam_bind(lam_ctx_of(in[0]), &lam__row_random_bits, &p, sizeof p, (lam_list){1, in}, out, 1);
}

/* Of the words to the type that the form names. */
static long double element_of(lam__random_form form, const uint32_t words[2]) {
    uint64_t all = (uint64_t)words[0] << 32 | words[1];
    uint32_t one = words[0] ^ words[1];
    if (form == LAM__RANDOM_WIDE) return (int64_t)all;
    if (form == LAM__RANDOM_WORDS) return one - 0x1p31L;
    if (form == LAM__RANDOM_NARROW) return (int32_t)one;
    if (form == LAM__RANDOM_BYTES) return one & 255;
    return form == LAM__RANDOM_UNIT64 ? (long double)(all >> 12) * 0x1p-52L : (long double)(one >> 9) * 0x1p-23L;
}

static void reference_random_bits(const cases_use *u, const array in[], array out[]) {
    static const lam_dtype dtypes[] = {LAM_I64, LAM_I64, LAM_I32, LAM_I32, LAM_U8, LAM_F64, LAM_F32};
    int rank = in->rank - 1, form = (int)u->arg[0];
    int64_t dims[ARRAY_RANK], each = 1;
    uint32_t key[2], words[2];
    for (int i = 0; i < rank; i++) dims[i] = in->dims[i];
    for (int64_t i = 0; i < u->arg[1]; i++) each *= dims[rank++] = u->arg[2 + i];
    if (form == LAM__RANDOM_PAIRS) dims[rank++] = 2;
    array_shape(out, dtypes[form], rank, dims);
    for (int64_t e = 0; e < in->count / 2 * each; e++) {
        key_of(in, e / each, key);
        hash(key, (uint64_t)(e % each), words);
        if (form == LAM__RANDOM_PAIRS) out->data[2 * e] = words[0], out->data[2 * e + 1] = words[1];
        else out->data[e] = element_of((lam__random_form)form, words);
    }
}

static const cases_form bits_forms[] = {
    {"i64[2]", {LAM__RANDOM_WIDE, 2, 3, 2}},  {"i64[2]", {LAM__RANDOM_PAIRS, 1, 4}},
    {"i64[3,2]", {LAM__RANDOM_NARROW, 1, 5}}, {"i64[2,2]", {LAM__RANDOM_WORDS, 0}},
    {"i64[2]", {LAM__RANDOM_BYTES, 1, 40}},   {"i64[2]", {LAM__RANDOM_UNIT64, 1, 9}},
    {"i64[2]", {LAM__RANDOM_UNIT32, 1, 9}},   {"i64[2]", {LAM__RANDOM_WIDE, 2, 3, 0}},
    {"i64[0,2]", {LAM__RANDOM_PAIRS, 1, 3}},  CASES_END};
static const cases_wrong bits_wrong[] = {{"f64[2]", LAM_ERR_DTYPE, {LAM__RANDOM_WIDE, 1, 3}},
                                         {"i64[3]", LAM_ERR_SHAPE, {LAM__RANDOM_WIDE, 1, 3}},
                                         {"i64[]", LAM_ERR_SHAPE, {LAM__RANDOM_WIDE, 1, 3}},
                                         {"i64[2]", LAM_ERR_OVERFLOW, {LAM__RANDOM_WIDE, 2, INT64_MAX, 2}},
                                         CASES_WRONG_END};

/* ---- fold_in ----------------------------------------------------------------------------------------------------- */

static void call_fold_in(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    (void)u;
    lam_bind(lam_ctx_of(in[0] ? in[0] : in[1]), &lam__row_fold_in, NULL, 0, (lam_list){2, in}, out, 1);
}

static void reference_fold_in(const cases_use *u, const array in[], array out[]) {
    uint32_t key[2], words[2];
    (void)u;
    array_shape(out, LAM_I64, in->rank, in->dims);
    for (int64_t k = 0; k < in[1].count; k++) {
        key_of(in, k, key);
        hash(key, (uint32_t)(int64_t)in[1].data[k], words);
        out->data[2 * k] = words[0];
        out->data[2 * k + 1] = words[1];
    }
}

static const cases_form fold_forms[] = {
    {"i64[2] i64[]", {0}}, {"i64[3,2] i64[3]", {0}}, {"i64[2,3,2] i64[2,3]", {0}}, {"i64[0,2] i64[0]", {0}}, CASES_END};
static const cases_wrong fold_wrong[] = {{"i64[2] i64[2]", LAM_ERR_SHAPE, {0}},
                                         {"i64[2] f64[]", LAM_ERR_SHAPE, {0}},
                                         {"f64[2] i64[]", LAM_ERR_DTYPE, {0}},
                                         {"i64[4] i64[]", LAM_ERR_SHAPE, {0}},
                                         CASES_WRONG_END};

/* ---- gamma, poisson: arg says whether the logarithm is wanted ---------------------------------------------------- */

static void call_random_gamma(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    int32_t logarithm = (int32_t)u->arg[0];
    lam_bind(lam_ctx_of(in[0] ? in[0] : in[1]), &lam__row_random_gamma, &logarithm, sizeof logarithm, (lam_list){2, in},
             out, 1);
}

static uint64_t bits_at(const uint32_t key[2], uint64_t counter) {
    uint32_t words[2];
    hash(key, counter, words);
    return (uint64_t)words[0] << 32 | words[1];
}

static void split_off(const uint32_t key[2], uint64_t i, uint32_t out[2]) {
    hash(key, i, out);
}

/* Uniform numbers of a key as the dtype has them. */
static long double uniform_of(lam_dtype dtype, const uint32_t key[2], uint64_t counter) {
    uint64_t bits = bits_at(key, counter);
    if (dtype == LAM_F64) return (long double)(bits >> 12) * 0x1p-52L;
    return (long double)(((uint32_t)(bits >> 32) ^ (uint32_t)bits) >> 9) * 0x1p-23L;
}

/* The normal quantile of (1 + u)/2, by bisection of the distribution function. */
static long double quantile(long double u) {
    long double low = -9, high = 9;
    for (int i = 0; i < 80; i++) {
        long double middle = (low + high) / 2;
        long double left = middle < 0 ? erfcl(-middle / sqrtl(2)) : 2 - erfcl(middle / sqrtl(2));
        *(left < 1 + u ? &low : &high) = middle;
    }
    return low;
}

static long double normal_of(lam_dtype dtype, const uint32_t key[2]) {
    long double step = dtype == LAM_F64 ? 0x1p-53L : 0x1p-24L, u = uniform_of(dtype, key, 0) * (2 - step) - 1 + step;
    return quantile(dtype == LAM_F64 ? (double)u : (float)u);
}

/* Marsaglia and Tsang (2000), with the boost for a < 1 and the keys in the order of jax.random. */
static long double gamma_of(lam_dtype dtype, const uint32_t key[2], long double a, bool logarithm) {
    uint32_t loop[2], boost[2], next[2], own[2];
    long double d = (a < 1 ? a + 1 : a) - 1 / 3.0L, x, v, u;
    split_off(key, 0, loop);
    split_off(key, 1, boost);
    do {
        split_off(loop, 1, own);
        do {
            split_off(own, 1, next);
            x = normal_of(dtype, next);
            v = 1 + x / (3 * sqrtl(d));
            split_off(own, 0, next);
            memcpy(own, next, sizeof own);
        } while (v <= 0);
        v = v * v * v;
        split_off(loop, 2, own);
        u = uniform_of(dtype, own, 0);
        split_off(loop, 0, next);
        memcpy(loop, next, sizeof loop);
    } while (u >= 1 - 0.0331L * x * x * x * x && logl(u) >= x * x / 2 + d * (1 - v + logl(v)));
    long double less = a < 1 ? log1pl(-uniform_of(dtype, boost, 0)) / a : 0;
    return logarithm ? logl(d * v) + less : d * v * expl(less);
}

/* P(a, x), by its series (Abramowitz and Stegun 6.5.29), and its slope by x. */
static long double distribution(long double a, long double x, long double *density) {
    long double term = expl(a * logl(x) - x - lgammal(a + 1)), sum = 0;
    *density = term * a / x;
    for (int k = 1; term > 1e-24L * sum; k++) {
        sum += term;
        term *= x / (a + k);
    }
    return sum;
}

/* The parameter is a multiple of GRID, or near one, where differences are formed: the reference is the sample there,
 * and around it the x that has the same place in its distribution, which is what the derivative means. */
#define GRID 0.015625L

static long double sample_near(lam_dtype dtype, const uint32_t key[2], long double a, bool logarithm) {
    long double at = roundl(a / GRID) * GRID, density, x = gamma_of(dtype, key, at, false);
    long double place = distribution(at, x, &density);
    if (a == at) return gamma_of(dtype, key, at, logarithm);
    for (int i = 0; i < 8; i++) x -= (distribution(a, x, &density) - place) / density;
    return logarithm ? logl(x) : x;
}

static void on_grid(const cases_use *u, int i, array *x) {
    (void)u;
    for (int64_t e = 0; i == 1 && e < x->count; e++) x->data[e] = roundl(x->data[e] / GRID) * GRID;
}

static void reference_random_gamma(const cases_use *u, const array in[], array out[]) {
    int64_t keys = in->count / 2, each = keys ? in[1].count / keys : 0;
    uint32_t key[2], own[2];
    array_shape(out, in[1].dtype, in[1].rank, in[1].dims);
    for (int64_t e = 0; e < out->count; e++) {
        key_of(in, e / each, key);
        split_off(key, (uint64_t)(e % each), own);
        out->data[e] = sample_near(out->dtype, own, in[1].data[e], u->arg[0]);
    }
}

static const cases_form gamma_forms[] = {{"i64[2] [6]", {0}},     {"i64[2] [6]", {1}},     {"i64[2] []", {0}},
                                         {"i64[3,2] [3,4]", {0}}, {"i64[0,2] [0,2]", {0}}, CASES_END};
static void call_no_shape(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    bool gamma = strcmp(u->row->name, "random_gamma") == 0;
    lam_tensor *negative = lam_full_like(in[1], -1);
    bool binomial = strcmp(u->row->name, "random_binomial") == 0;
    out[0] = gamma      ? lam_random_gamma(in[0], negative, LAM_DIMS(3))
             : binomial ? lam_random_binomial(in[0], in[1], negative, LAM_DIMS(3))
                        : lam_random_poisson(in[0], negative, LAM_DIMS(3));
}

#define NO_SHAPE .wrong_calls = {{"i64[2] [3]", LAM_ERR_VALUE, call_no_shape}}

static const cases_wrong gamma_wrong[] = {{"i64[2] i64[3]", LAM_ERR_DTYPE, {0}},
                                          {"i64[3] [3]", LAM_ERR_SHAPE, {0}},
                                          {"i64[2,2] [3]", LAM_ERR_SHAPE, {0}},
                                          CASES_WRONG_END};

static void call_random_poisson(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    (void)u;
    lam_bind(lam_ctx_of(in[0] ? in[0] : in[1]), &lam__row_random_poisson, NULL, 0, (lam_list){2, in}, out, 1);
}

/* Rates below 10: the number of uniform factors that keep the product above exp(-rate). */
static void reference_random_poisson(const cases_use *u, const array in[], array out[]) {
    int64_t keys = in->count / 2, each = keys ? in[1].count / keys : 0;
    uint32_t key[2], own[2];
    (void)u;
    array_shape(out, LAM_I64, in[1].rank, in[1].dims);
    for (int64_t e = 0; e < out->count; e++) {
        long double product = 1;
        key_of(in, e / each, key);
        for (out->data[e] = -1; product > expl(-in[1].data[e]); out->data[e]++) {
            split_off(key, 1, own);
            product *= uniform_of(LAM_F32, own, (uint64_t)(e % each));
            split_off(key, 0, own);
            memcpy(key, own, sizeof key);
        }
    }
}

static const cases_form poisson_forms[] = {
    {"i64[2] f32[7]", {0}}, {"i64[2] f32[]", {0}}, {"i64[3,2] f32[3,4]", {0}}, {"i64[0,2] f32[0,2]", {0}}, CASES_END};
static const cases_wrong poisson_wrong[] = {{"i64[2] f64[3]", LAM_ERR_DTYPE, {0}},
                                            {"f64[2] f32[3]", LAM_ERR_DTYPE, {0}},
                                            {"i64[2,2] f32[3]", LAM_ERR_SHAPE, {0}},
                                            CASES_WRONG_END};

/* Counts of at most 10 successes: the distances from one to the next are geometric. */
static void call_random_binomial(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    (void)u;
    lam_bind(lam_ctx_of(in[0] ? in[0] : in[1]), &lam__row_random_binomial, NULL, 0, (lam_list){3, in}, out, 1);
}

static void reference_random_binomial(const cases_use *u, const array in[], array out[]) {
    int64_t keys = in->count / 2, each = keys ? in[1].count / keys : 0;
    uint32_t key[2], own[2];
    (void)u;
    array_shape(out, in[1].dtype, in[1].rank, in[1].dims);
    for (int64_t e = 0; e < out->count; e++) {
        long double trials = floorl(in[1].data[e]), p = in[2].data[e], q = p < 0.5L ? p : 1 - p, place = 0, found = -1;
        for (key_of(in, e / each, key); place <= trials; found++) {
            split_off(key, 0, own);
            place += ceill(logl(uniform_of(out->dtype, own, (uint64_t)(e % each))) / log1pl(-q));
            split_off(key, 1, own);
            memcpy(key, own, sizeof key);
        }
        out->data[e] = p < 0.5L ? found : trials - found;
    }
}

static const cases_form binomial_forms[] = {{"i64[2] [7] [7]", {0}},
                                            {"i64[2] [] []", {0}},
                                            {"i64[3,2] [3,4] [3,4]", {0}},
                                            {"i64[0,2] [0,2] [0,2]", {0}},
                                            CASES_END};
static const cases_wrong binomial_wrong[] = {
    {"i64[2] i64[3] i64[3]", LAM_ERR_DTYPE, {0}}, {"f64[2] [3] [3]", LAM_ERR_DTYPE, {0}},
    {"i64[2] [3] [2]", LAM_ERR_SHAPE, {0}},       {"i64[2] f64[3] f32[3]", LAM_ERR_SHAPE, {0}},
    {"i64[2,2] [3] [3]", LAM_ERR_SHAPE, {0}},     CASES_WRONG_END};

const cases_row cases_random[] = {
    {.name = "random_gamma",
     .call = call_random_gamma,
     .reference = reference_random_gamma,
     .fill = on_grid,
     .forms = gamma_forms,
     .wrong = gamma_wrong,
     NO_SHAPE,
     .domain = {{0, 4.2e9}, {0.4, 3}},
     .ulps = 8,
     .least_rank = 1},
    {.name = "random_poisson",
     .call = call_random_poisson,
     .reference = reference_random_poisson,
     .no_gradient = true,
     .forms = poisson_forms,
     .wrong = poisson_wrong,
     NO_SHAPE,
     .domain = {{0, 4.2e9}, {0.2, 8}},
     .least_rank = 1},
    {.name = "random_binomial",
     .call = call_random_binomial,
     .reference = reference_random_binomial,
     .no_gradient = true,
     .forms = binomial_forms,
     .wrong = binomial_wrong,
     NO_SHAPE,
     .domain = {{0, 4.2e9}, {0, 19}, {0.05, 0.95}},
     .least_rank = 1},
    {.name = "random_bits",
     .call = call_random_bits,
     .reference = reference_random_bits,
     .no_gradient = true,
     .forms = bits_forms,
     .wrong = bits_wrong,
     .domain = {{0, 4.2e9}},
     .least_rank = 1},
    {.name = "fold_in",
     .call = call_fold_in,
     .reference = reference_fold_in,
     .no_gradient = true,
     .forms = fold_forms,
     .wrong = fold_wrong,
     .domain = {{0, 4.2e9}, {-9, 4.2e9}},
     .least_rank = 1},
    {.name = NULL},
};
