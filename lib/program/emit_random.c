/* Programs as C, random bits of keys: the cipher Threefry-2x32 with 20 rounds, as lib/kernels/simd/threefry.c has it,
 * one counter at a time. Bits are those of Lamina. See emit_writer.h. */
#include "lib/program/emit_writer.h"

#include "lib/primitives/random.h"
#include "lib/primitives/rows.h"

#define ARGUMENTS                                                                                                      \
    lam__emit *e, const lam__equation *q, const lam__emit_place *const in[], const lam__emit_place *const out[]

const lam__emit_helper lam__emit_randoms[] = {
    /* Five groups of four rounds, behind each of which words of the key and the number of the group are added.
     * Rotations and the constant are those of the paper that simd/threefry.c names. The words of the key come in turn,
     * beginning with the second behind the first group, since the first two were added before the rounds. uint32_t
     * wraps around as the cipher wants. */
    {"hash", "/* Threefry-2x32: two words of a key and a counter, the upper one above. */\n"
             "static uint64_t hash_$S(uint64_t upper, uint64_t lower, uint64_t counter) {\n"
             "    static const int by[8] = {13, 15, 26, 6, 17, 29, 16, 24};\n"
             "    const uint32_t first = (uint32_t)upper, second = (uint32_t)lower;\n"
             "    const uint32_t key[3] = {first, second, first ^ second ^ UINT32_C(0x1bd11bda)};\n"
             "    uint32_t x = (uint32_t)(counter >> 32) + first, y = (uint32_t)counter + second;\n"
             "    for (uint32_t group = 1; group <= 5; group++) {\n"
             "        for (int i = 0; i < 4; i++) {\n"
             "            const int turn = by[(group - 1) % 2 * 4 + (uint32_t)i];\n"
             "            x += y;\n"
             "            y = (y << turn | y >> (32 - turn)) ^ x;\n        }\n"
             "        x += key[group % 3];\n"
             "        y += key[(group + 1) % 3] + group;\n    }\n"
             "    return (uint64_t)x << 32 | y;\n}\n"},
    /* 32 bits are both words of a block, one upon the other. */
    {"word", "static uint32_t word_$S(uint64_t upper, uint64_t lower, uint64_t counter) {\n"
             "    const uint64_t bits = @hash(upper, lower, counter);\n"
             "    return (uint32_t)(bits >> 32) ^ (uint32_t)bits;\n}\n"},
    /* Bits of the fraction of a number in [1, 2), less 1. With the exponent of 1 all fractions are equally likely, and
     * less 1 they are exact. */
    {"unit_wide", "static double unit_wide_$S(uint64_t bits) {\n"
                  "    double x;\n"
                  "    bits = bits >> 12 | UINT64_C(0x3ff) << 52;\n"
                  "    memcpy(&x, &bits, sizeof x);\n"
                  "    return x - 1;\n}\n"},
    {"unit_narrow", "static float unit_narrow_$S(uint32_t bits) {\n"
                    "    float x;\n"
                    "    bits = bits >> 9 | UINT32_C(0x7f) << 23;\n"
                    "    memcpy(&x, &bits, sizeof x);\n"
                    "    return x - 1;\n}\n"},
    /* High and low half of a number with twice as many bits, reduced by 2^bits = (2^(bits / 2))^2 modulo the span. With
     * twice the bits of the result no number of the span is noticeably likelier than another. With 32 bits both halves
     * of a block are folded into one, as `word` does. */
    {"among",
     "/* One of `span` numbers (0: of all) by twice their bits, as jax.random has it. */\n"
     "static uint64_t among_$S(uint64_t upper, uint64_t lower, uint64_t counter, int bits, uint64_t span) {\n"
     "    const uint64_t a = @hash(upper, lower, 0), b = @hash(upper, lower, 1);\n"
     "    uint64_t high = @hash(a >> 32, a & UINT32_MAX, counter), low = @hash(b >> 32, b & UINT32_MAX, counter);\n"
     "    const uint64_t mask = UINT64_MAX >> (64 - bits);\n"
     "    uint64_t factor = UINT64_C(1) << bits / 2;\n"
     "    if (bits == 32) {\n"
     "        high = (high >> 32 ^ high) & mask;\n"
     "        low = (low >> 32 ^ low) & mask;\n    }\n"
     "    if (span == 0) return low & mask;\n"
     "    factor %= span;\n"
     "    factor = (factor * factor & mask) % span;\n"
     "    return (((high % span * factor & mask) + low % span) & mask) % span;\n}\n"},
    {NULL, NULL},
};

/* An element of the form from the key $1, $2 and the counter $3; $4 is the least of a range, $5 its size. The last one
 * is RANGE8; pairs are written by write_random_bits itself. Helpers are those of i64 whatever the result is, so that
 * the file has one of each. WORDS are words in the order of signed numbers: the highest bit turned. */
static const char *text_of(lam__random_form form) {
    switch (form) {
    case LAM__RANDOM_WIDE: return "$0 = (int64_t)@i64:hash($1, $2, $3);";
    case LAM__RANDOM_WORDS: return "$0 = (int32_t)(@i64:word($1, $2, $3) ^ UINT32_C(0x80000000));";
    case LAM__RANDOM_NARROW: return "$0 = (int32_t)@i64:word($1, $2, $3);";
    case LAM__RANDOM_BYTES: return "$0 = (uint8_t)@i64:word($1, $2, $3);";
    case LAM__RANDOM_UNIT64: return "$0 = @i64:unit_wide(@i64:hash($1, $2, $3));";
    case LAM__RANDOM_UNIT32: return "$0 = @i64:unit_narrow(@i64:word($1, $2, $3));";
    case LAM__RANDOM_RANGE64: return "$0 = (int64_t)((uint64_t)$4 + @i64:among($1, $2, $3, 64, $5));";
    case LAM__RANDOM_RANGE32: return "$0 = (int32_t)(uint32_t)((uint64_t)$4 + @i64:among($1, $2, $3, 32, $5));";
    default: return "$0 = (uint8_t)((uint64_t)$4 + @i64:among($1, $2, $3, 32, $5));";
    }
}

/* The two words of the key, along the last axis of keys. Each is an element whose indices are those of the loops over
 * keys. An axis of one element has no index in the text, so the last one is told by the offset alone. */
static void name_key(lam__emit *e, const lam__emit_place *keys, char text[2][LAM__EMIT_TEXT]) {
    int64_t dims[LAM_INNER_RANK];
    for (int half = 0; half < 2; half++) {
        lam__emit_place word = *keys;
        for (int i = 0; i < keys->rank; i++) dims[i] = i == keys->rank - 1 ? 1 : keys->dims[i];
        word.dims = dims;
        word.offset += half * keys->strides[keys->rank - 1];
        lam__emit_at(e, &word, NULL, text[half]);
    }
}

/* keys [keys..., 2] -> [keys..., dims...], pairs with one more axis of two. The counter of an element is its number
 * among those of its key, row-major. Keys lie in front, so loops over keys and over what each gives are one nest, and
 * the counter is made of the latter's indices alone. */
static const char *write_random_bits(ARGUMENTS) {
    const lam__bits_params *p = q->params;
    const bool pairs = p->what.form == LAM__RANDOM_PAIRS;
    const int first = in[0]->rank - 1, rank = out[0]->rank - pairs;
    char key[2][LAM__EMIT_TEXT], result[LAM__EMIT_TEXT], counter[LAM__EMIT_TEXT] = "0", numbers[2][LAM__EMIT_NUMBER];
    const char *arguments[LAM__EMIT_ARGUMENTS] = {result, "(uint64_t)k0", "(uint64_t)k1", "at", numbers[0], numbers[1]};
    lam__emit_place to = *out[0];
    int64_t dims[LAM_INNER_RANK], strides[LAM_INNER_RANK];
    for (int i = 0; i < to.rank; i++) dims[i] = pairs && i == rank ? 1 : to.dims[i];
    to.dims = dims;
    name_key(e, in[0], key);
    lam__emit_dense(rank - first, to.dims + first, strides);
    size_t used = 1;
    for (int i = first; i < rank; i++)
        if (dims[i] != 1)
            used += (size_t)snprintf(counter + used, sizeof counter - used, " + i%d * %lld", i,
                                     (long long)strides[i - first]);
    /* The least integer has no constant in C. */
    snprintf(numbers[0], LAM__EMIT_NUMBER, "INT64_C(%lld)", (long long)p->what.low);
    if (p->what.low == INT64_MIN) snprintf(numbers[0], LAM__EMIT_NUMBER, "INT64_MIN");
    snprintf(numbers[1], LAM__EMIT_NUMBER, "UINT64_C(%llu)", (unsigned long long)p->what.span);
    lam__emit_at(e, &to, NULL, result);
    const int loops = lam__emit_loops(e, rank, dims, NULL);
    lam__emit_line(e, "const int64_t k0 = %s, k1 = %s;", key[0], key[1]);
    lam__emit_line(e, "const uint64_t at = (uint64_t)(%s);", counter);
    if (!pairs) {
        lam__emit_statement(e, text_of(p->what.form), out[0]->dtype, arguments);
    } else {
        lam__emit_statement(e, "const uint64_t both = @i64:hash($1, $2, $3);", LAM_I64, arguments);
        lam__emit_line(e, "%s = (int64_t)(both >> 32);", result);
        to.offset += out[0]->strides[rank];
        lam__emit_at(e, &to, NULL, result);
        lam__emit_line(e, "%s = (int64_t)(both & UINT32_MAX);", result);
    }
    lam__emit_close(e, loops);
    return NULL;
}

/* The pair that the key gives at a counter of 32 bits. The number is cut to 32 bits, so the upper half of the counter
 * is 0, as the row has it. */
static const char *write_fold_in(ARGUMENTS) {
    char key[2][LAM__EMIT_TEXT], result[2][LAM__EMIT_TEXT], number[LAM__EMIT_TEXT];
    const char *arguments[LAM__EMIT_ARGUMENTS] = {"", key[0], key[1], number};
    (void)q;
    name_key(e, in[0], key);
    name_key(e, out[0], result);
    lam__emit_value(e, in[1], NULL, number);
    const int loops = lam__emit_loops(e, in[1]->rank, in[1]->dims, NULL);
    lam__emit_statement(e, "const uint64_t both = @i64:hash((uint64_t)$1, (uint64_t)$2, (uint32_t)$3);", LAM_I64,
                        arguments);
    lam__emit_line(e, "%s = (int64_t)(both >> 32);", result[0]);
    lam__emit_line(e, "%s = (int64_t)(both & UINT32_MAX);", result[1]);
    lam__emit_close(e, loops);
    return NULL;
}

const lam__emit_row lam__emit_draws[] = {
    {&lam__row_random_bits, write_random_bits},
    {&lam__row_fold_in, write_fold_in},
    {NULL, NULL},
};
