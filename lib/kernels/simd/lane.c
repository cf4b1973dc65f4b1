/* Compiled chains; compiled once per instruction set. See lib/kernels/lane.h. A group of lanes is what the widest
 * vectors hold; loops over one have a length that the compiler knows, so each becomes one instruction or a few. */
#include "lib/kernels/lane.h"

#include "lib/kernels/simd/rsqrt.h"
#include "lib/kernels/simd/simd.h"
#include "lib/kernels/simd/vector.h"

#include <math.h>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

enum { GROUP = LAM__LANE_GROUP };

/* A byte of 0 or 1 for each of the bits of a group. Byte k has bit k alone, if it is set, and the number that is added
 * moves that to the highest of the byte. */
ALWAYS_INLINE void put_bools(uint8_t *out, unsigned bits) {
    const uint64_t apart = bits * 0x0101010101010101u & 0x8040201008040201u;
    const uint64_t bools = (apart + 0x00406070787c7e7fu) >> 7 & 0x0101010101010101u;
    memcpy(out, &bools, sizeof bools);
}

/* Choices by bools, bytes of 0 and 1, made masks of wider elements in vectors, since compilers take a choice by bytes
 * apart, element by element, and conversions by eight where the machine has none: for f64 all bytes are in each
 * element, which looks at its own. */
ALWAYS_INLINE void f64_choose(double *out, const uint8_t *c, const double *x, const double *y) {
    static const uint8_t own[GROUP][GROUP] = {{1},
                                              {0, 1},
                                              {0, 0, 1},
                                              {0, 0, 0, 1},
                                              {0, 0, 0, 0, 1},
                                              {0, 0, 0, 0, 0, 1},
                                              {0, 0, 0, 0, 0, 0, 1},
                                              {0, 0, 0, 0, 0, 0, 0, 1}};
    uint64_t all;
    memcpy(&all, c, sizeof all);
    /* (a ^ b) & mask ^ b chooses without a choice, and the bits of NaN go through. */
    for (int i = 0; i < GROUP; i += LANES64) {
        U64 bit, a, b;
        memcpy(&bit, own[i], sizeof bit);
        memcpy(&a, x + i, sizeof a);
        memcpy(&b, y + i, sizeof b);
        b ^= (a ^ b) & (U64)((bit & all) == bit);
        memcpy(out + i, &b, sizeof b);
    }
}

/* Bytes of 0 and 1 made negative are all bits or none, and stay so when they are widened. Words of a group
 * are 32 bytes in every set; compilers take them apart where vectors are shorter. */
ALWAYS_INLINE void f32_choose(float *out, const uint8_t *c, const float *x, const float *y) {
    typedef int8_t bytes __attribute__((vector_size(GROUP)));
    typedef uint32_t words __attribute__((vector_size(4 * GROUP)));
    bytes chosen;
    words a, b;
    memcpy(&chosen, c, sizeof chosen);
    memcpy(&a, x, sizeof a);
    memcpy(&b, y, sizeof b);
    b ^= (a ^ b) & __builtin_convertvector(-chosen, words);
    memcpy(out, &b, sizeof b);
}

/* elements.h has the arithmetic, which is that of the elementwise loops; B is an unsigned integer of T's size. */
#define T      double
#define BYTES  8
#define B      uint64_t
#define SIGNED int64_t
#if defined(__AVX512F__)
#define LANES_OF(mask) _mm512_movepi64_mask((__m512i)(mask))
#elif defined(__AVX2__)
#define LANES_OF(mask) _mm256_movemask_pd((__m256d)(mask))
#elif defined(__SSE2__)
#define LANES_OF(mask) _mm_movemask_pd((__m128d)(mask))
#endif
#define NAME(x)    f64_##x
#define MATH(name) name
#include "lib/kernels/simd/elements.h"
#include "lib/kernels/simd/lane_type.h"
/* The templates leave these to whoever includes them. */
#undef T
#undef BYTES
#undef B
#undef SIGNED
#undef LANES_OF
#undef NAME
#undef MATH

#define T      float
#define BYTES  4
#define B      uint32_t
#define SIGNED int32_t
#if defined(__AVX2__)
#define LANES_OF(mask) _mm256_movemask_ps((__m256)(mask))
#elif defined(__SSE2__)
#define LANES_OF(mask) _mm_movemask_ps((__m128)(mask))
#endif
#define NAME(x)    f32_##x
#define MATH(name) name##f
#include "lib/kernels/simd/elements.h"
#include "lib/kernels/simd/lane_type.h"
#undef T
#undef BYTES
#undef B
#undef SIGNED
#undef LANES_OF
#undef NAME
#undef MATH

/* ---- moves ------------------------------------------------------------------------------------------------------- */

/* Elements at a step to neighbours. */
#define GATHER(name, type)                                                                                             \
    static void name(type *to, const type *from, int64_t n, int64_t step) {                                            \
        if (step == 1) memcpy(to, from, (size_t)n * sizeof *to);                                                       \
        else INDEPENDENT for (int64_t i = 0; i < n; i++) to[i] = from[i * step];                                       \
    }                                                                                                                  \
    static void name##_back(type *to, const type *from, int64_t n, int64_t step, bool same) {                          \
        if (step == 1 && !same) memcpy(to, from, (size_t)n * sizeof *to);                                              \
        else if (same) INDEPENDENT for (int64_t i = 0; i < n; i++) to[i * step] = from[0];                             \
        else INDEPENDENT for (int64_t i = 0; i < n; i++) to[i * step] = from[i];                                       \
    }
GATHER(gather_8, uint64_t)
GATHER(gather_4, uint32_t)
GATHER(gather_1, uint8_t)
#undef GATHER

/* Elements have 8, 4 or 1 bytes; what they mean does not matter here. */
static void gather(void *to, const char *from, int64_t n, int64_t step, uint8_t item) {
    if (item == 8) gather_8(to, (const void *)from, n, step);
    else if (item == 4) gather_4(to, (const void *)from, n, step);
    else gather_1(to, (const void *)from, n, step);
}

/* Lanes that are not there get what the last one has, so that nothing is computed of numbers that never were. */
static void fill(void *at, int64_t n, int64_t all, uint8_t item) {
    const char *last = (const char *)at + (n - 1) * item;
    if (n < all) gather((char *)at + n * item, last, all - n, 0, item);
}

/* What is the same in all lanes is one element, eight times: a group, which every block reads again. */
static void load(const lam__lane_step *s, char *memory, void *const data[], int64_t first, int64_t lanes, int groups) {
    const bool same = s->same & 1u;
    /* What is the same has a step of 0 in the data, whatever the lane. */
    const int64_t n = same ? GROUP : lanes, all = same ? GROUP : (int64_t)groups * GROUP,
                  step = same ? 0 : s->as.move.step;
    const char *from = (const char *)data[s->at[1]] + (s->as.move.base + first * step) * s->item[0];
    gather(memory + s->at[0], from, n, step, s->item[0]);
    fill(memory + s->at[0], n, all, s->item[0]);
}

/* Lanes first to first + lanes of a line: runs that end before them are passed over, and one without data is of
 * zeros (LAM__LANE_ZEROS), or of bools that are true. */
static void line(const lam__lane_step *s, char *memory, void *const data[], int64_t first, int64_t lanes, int groups) {
    const lam__lane_line *l = s->as.call.params;
    const int64_t item = s->item[0], end = first + lanes;
    char *to = memory + s->at[0];
    /* Runs are in the order of lanes, and each says where it ends, so one pass finds those of this block. */
    for (int64_t k = 0, at = first; k < l->count && at < end; k++) {
        const int64_t stop = l->runs[k].end < end ? l->runs[k].end : end, n = stop - at;
        if (n <= 0) continue;
        /* A true bool is a byte of 1; zeros are bytes of 0 in all types. */
        if (l->runs[k].data < 0) memset(to, l->runs[k].data == LAM__LANE_TRUE, (size_t)(n * item));
        else
            gather(to, (const char *)data[l->runs[k].data] + (l->runs[k].base + at * l->runs[k].step) * item, n,
                   l->runs[k].step, s->item[0]);
        to += n * item;
        at = stop;
    }
    fill(memory + s->at[0], lanes, (int64_t)groups * GROUP, s->item[0]);
}

/* To one element, or of one value to all: either of what is stored and where may be the same in all lanes. */
static void store(const lam__lane_step *s, const char *memory, void *const data[], int64_t first, int64_t lanes) {
    const bool same = s->same >> 1 & 1u;
    /* Lanes behind `end` are there to fill the last group and belong to nobody. */
    const int64_t step = s->as.move.step, left = s->as.move.end - first, n = !step ? 1 : lanes < left ? lanes : left;
    /* The whole block lies behind the end. */
    if (n <= 0) return;
    const void *from = memory + s->at[1];
    char *at = (char *)data[s->at[0]] + (s->as.move.base + (step ? first * step : 0)) * s->item[0];
    switch (s->item[0]) {
    case 8: gather_8_back((void *)at, from, n, step, same); break;
    case 4: gather_4_back((void *)at, from, n, step, same); break;
    default: gather_1_back((void *)at, from, n, step, same);
    }
}

/* ---- steps ------------------------------------------------------------------------------------------------------- */

/* Of a register that is the same in all lanes one element is read; a result that is so is made of one group of them. */
static void call(const lam__lane_step *s, char *memory, int64_t lanes) {
    /* The result and up to three operands. */
    void *p[4];
    int64_t step[4];
    const bool one = s->same & 1u;
    for (int k = 0; k <= s->inputs; k++) {
        p[k] = memory + s->at[k];
        /* 0: the loop reads the first element each time. */
        step[k] = k == 0 || one || !(s->same >> k & 1u);
    }
    s->as.call.loop(one ? GROUP : lanes, p, step, s->as.call.params);
}

/* Both results come of one reduction of the operand. */
static void waves(const lam__lane_step *s, char *memory, int64_t lanes) {
    lam__pair_loop *loop = lam__elementwise_simd()->sincos(s->as.dtype);
    loop(s->same & 1u ? GROUP : lanes, memory + s->at[2], memory + s->at[0], memory + s->at[1]);
}

/* Bools are bytes of 0 and 1, eight to a group. */
static void logic(const lam__lane_step *s, char *memory, int groups) {
    uint64_t a, b;
    /* A bool that is the same in all lanes is one group of eight equal bytes. */
    const int by_a = s->same >> 1 & 1u ? 0 : GROUP, by_b = s->same >> 2 & 1u ? 0 : GROUP;
    /* A `not` has one operand, which is read for the second too. */
    const char *x = memory + s->at[1], *y = memory + s->at[s->op == LAM__LANE_NOT ? 1 : 2];
    char *out = memory + s->at[0];
    for (int g = 0; g < groups; g++, x += by_a, y += by_b, out += GROUP) {
        memcpy(&a, x, sizeof a);
        memcpy(&b, y, sizeof b);
        a = s->op == LAM__LANE_AND ? a & b : s->op == LAM__LANE_OR ? a | b : a ^ 0x0101010101010101u;
        memcpy(out, &a, sizeof a);
    }
}

/* Step by step, each over all groups of the block: what to do next is found out once for them. `same` of the result
 * says of how many groups it is: then one is computed, whatever the block. */
static void run(const lam__lane_step *steps, int64_t count, void *memory, void *const data[], int64_t first,
                int64_t lanes, int groups) {
    for (const lam__lane_step *s = steps, *end = steps + count; s < end; s++) {
        switch (s->op) {
        case LAM__LANE_LOOP: call(s, memory, lanes); break;
        case LAM__LANE_SINCOS: waves(s, memory, lanes); break;
        case LAM__LANE_LOAD: load(s, memory, data, first, lanes, groups); break;
        case LAM__LANE_LINE: line(s, memory, data, first, lanes, groups); break;
        case LAM__LANE_STORE: store(s, memory, data, first, lanes); break;
        case LAM__LANE_AND:
        case LAM__LANE_OR:
        case LAM__LANE_NOT: logic(s, memory, s->same & 1u ? 1 : groups); break;
#define STEP(name, inputs)                                                                                             \
    case LAM__LANE_##name##_f64: f64_step_##name(s, memory, s->same & 1u ? 1 : groups); break;                         \
    case LAM__LANE_##name##_f32: f32_step_##name(s, memory, s->same & 1u ? 1 : groups); break;
            LAM__LANE_OPS(STEP)
#undef STEP
        /* LAM__LANE_ARITHMETIC and LAM__LANE_COUNT are no steps. */
        default: break;
        }
    }
}

/* ---- one lane ---------------------------------------------------------------------------------------------------- */

/* An element of 8, 4 or 1 bytes. The sizes are spelled out, since a copy of a size that is not known is a string
 * instruction, which takes longer than all else that a step does. */
ALWAYS_INLINE void move_one(char *to, const char *from, uint8_t item) {
    if (item == 8) memcpy(to, from, 8);
    else if (item == 4) memcpy(to, from, 4);
    else *to = *from;
}

/* base is where lane 0 lies, and there is no other lane. */
static void load_one(const lam__lane_step *s, char *memory, void *const data[]) {
    move_one(memory + s->at[0], (const char *)data[s->at[1]] + s->as.move.base * s->item[0], s->item[0]);
}

static void store_one(const lam__lane_step *s, const char *memory, void *const data[]) {
    move_one((char *)data[s->at[0]] + s->as.move.base * s->item[0], memory + s->at[1], s->item[0]);
}

/* Registers that a step has none of are named all the same, and not read. */
static void call_one(const lam__lane_step *s, char *memory) {
    static const int64_t step[4] = {1, 1, 1, 1};
    void *const p[4] = {memory + s->at[0], memory + s->at[1], memory + s->at[2], memory + s->at[3]};
    s->as.call.loop(1, p, step, s->as.call.params);
}

/* By the loop of vectors: a single lane has the bits that it would have among others. */
static void waves_one(const lam__lane_step *s, char *memory) {
    lam__elementwise_simd()->sincos(s->as.dtype)(1, memory + s->at[2], memory + s->at[0], memory + s->at[1]);
}

/* Nothing is broadcast, so `same` has no say. There are no lines, which are of many lanes. */
static void single(const lam__lane_step *steps, int64_t count, void *memory, void *const data[]) {
    char *const m = memory;
    for (const lam__lane_step *s = steps, *end = steps + count; s < end; s++) {
        switch (s->op) {
        case LAM__LANE_LOOP: call_one(s, m); break;
        case LAM__LANE_SINCOS: waves_one(s, m); break;
        case LAM__LANE_LOAD: load_one(s, m, data); break;
        case LAM__LANE_STORE: store_one(s, m, data); break;
        case LAM__LANE_AND: m[s->at[0]] = m[s->at[1]] & m[s->at[2]]; break;
        case LAM__LANE_OR: m[s->at[0]] = m[s->at[1]] | m[s->at[2]]; break;
        case LAM__LANE_NOT: m[s->at[0]] = m[s->at[1]] ^ 1; break;
#define STEP(name, inputs)                                                                                             \
    case LAM__LANE_##name##_f64: f64_one_##name(s, m); break;                                                          \
    case LAM__LANE_##name##_f32: f32_one_##name(s, m); break;
            LAM__LANE_OPS(STEP)
#undef STEP
        default: break;
        }
    }
}

const lam__lane_set LAM__ISA_NAME(lam__lane_simd_) = {run, single};
