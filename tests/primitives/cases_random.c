/* Random bits. The reference hashes each counter by itself, after the paper of Salmon and others (2011). */
#include "lib/primitives/random.h"
#include "lib/primitives/rows.h"

#include "tests/primitives/cases.h"

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
    if (form == LAM__RANDOM_WORDS) return one;
    if (form == LAM__RANDOM_NARROW) return (int32_t)one;
    if (form == LAM__RANDOM_BYTES) return one & 255;
    return form == LAM__RANDOM_UNIT64 ? (long double)(all >> 12) * 0x1p-52L : (long double)(one >> 9) * 0x1p-23L;
}

static void reference_random_bits(const cases_use *u, const array in[], array out[]) {
    static const lam_dtype dtypes[] = {LAM_I64, LAM_I64, LAM_I64, LAM_I32, LAM_U8, LAM_F64, LAM_F32};
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
static const cases_wrong bits_wrong[] = {{"f64[2]", LAM_ERR_SHAPE, {LAM__RANDOM_WIDE, 1, 3}},
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
                                         {"i64[4] i64[]", LAM_ERR_SHAPE, {0}},
                                         CASES_WRONG_END};

const cases_row cases_random[] = {
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
