/* What the text of native parts begins with: types, moves and arithmetic. Variables are vectors of W lanes by the
 * compilers' vector extension; one lane alone is half a vector of two, since choices between vectors need no jumps.
 * Expressions are those of the steps (lib/kernels/simd/elements.h). See native_text.h.
 * KEEP IN STEP: native-steps */
#include "lib/program/native_text.h"

#include "lib/kernels/places.h"

/* What a register holds is moved as f64, f32 or, of one byte, as a word of 64 bits, which a mask of bools is too. W is
 * as wide as vectors of the machine are, and no wider than there are lanes. */
static const char *const TYPES =
    "#include <stdint.h>\n#include <string.h>\n"
    "#define F static inline __attribute__((always_inline))\n"
    "#if defined(__AVX512F__)\n#define WIDEST 8\n#elif defined(__AVX__)\n#define WIDEST 4\n"
    "#elif defined(__SSE2__)\n#define WIDEST 2\n#else\n#define WIDEST 1\n#endif\n"
    "#if LANES == 1\n#define W (WIDEST > 1 ? 2 : 1)\n"
    "#elif LANES < 8\n#define W (LANES > 4 ? 8 : LANES > 2 ? 4 : 2)\n"
    "#else\n#define W (WIDEST > 1 ? WIDEST : 2)\n#endif\n"
    "#if W == 1\n"
    "typedef double f64; typedef float f32; typedef int64_t word; typedef int32_t half;\n"
    "#define PART(x, k) (x)\n#define MASK(c) (-(word)(c))\n"
    "#define WIDER(c) ((word)(c))\n#define NARROWER(c) ((half)(c))\n"
    "#else\n"
    "typedef double f64 __attribute__((vector_size(8 * W))); typedef int64_t word __attribute__((vector_size(8 * "
    "W)));\n"
    "typedef float f32 __attribute__((vector_size(4 * W))); typedef int32_t half __attribute__((vector_size(4 * W)));\n"
    "#define PART(x, k) (x)[k]\n#define MASK(c) (c)\n"
    "#endif\n"
    "#if W == 1\n#define EACH(e) e(0)\n"
    "#elif W == 2\n#define EACH(e) e(0) e(1)\n#define EVEN 0, 2\n#define TWICE 0, 0, 1, 1\n"
    "#elif W == 4\n#define EACH(e) e(0) e(1) e(2) e(3)\n#define EVEN 0, 2, 4, 6\n#define TWICE 0, 0, 1, 1, 2, 2, 3, 3\n"
    "#else\n#define EACH(e) e(0) e(1) e(2) e(3) e(4) e(5) e(6) e(7)\n"
    "#define EVEN 0, 2, 4, 6, 8, 10, 12, 14\n#define TWICE 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7\n#endif\n"
    /* Lanes of masks are all bits or none: halves of them say what they say. */
    "#if W > 1 && W <= WIDEST && defined(__has_builtin)\n#if __has_builtin(__builtin_shufflevector)\n"
    "typedef int32_t halves __attribute__((vector_size(8 * W)));\n"
    "#define WIDER(c) ((word)__builtin_shufflevector(c, c, TWICE))\n"
    "#define NARROWER(c) __builtin_shufflevector((halves)(c), (halves)(c), EVEN)\n#endif\n#endif\n"
    "#ifndef WIDER\n#define WIDER(c) __builtin_convertvector(c, word)\n"
    "#define NARROWER(c) __builtin_convertvector(c, half)\n#endif\n"
    "F int any(word x) {\n    int64_t r = 0;\n"
    "#define E(k) r |= PART(x, k);\n    EACH(E)\n#undef E\n    return r != 0;\n}\n";

/* Moves. A function of the text has `m`, memory of the registers, `d`, the arrays that it reads and writes, and
 * `first`, the element that its first lane stands for. What statements say of these:
 *   AT, SET            the register at byte `at` of m, of the lanes whose turn it is
 *   SAME               one whose lanes are all the same
 *   FROM, INTO         elements of array n from `base` on, `step` apart; FROM_NEAR, INTO_NEAR: without gaps
 *   LINE               a line of three parts: elements before e are those of p, before e1 of p1, all others of p2;
 *                      a part without an array is 0
 * A register of one lane is eight bytes. Of less than a group the lanes that are not there get what the last one
 * has. */
static const char *const MOVES =
    "typedef double part_f64; typedef float part_f32; typedef uint8_t part_word;\n"
    "#if LANES == 1\n"
    "#if W == 1\n#define ALL(T, x) (x)\n#else\n#define ALL(T, x) ((T){x, x})\n#endif\n"
    "#define FOR_LANES const int64_t i = 0;\n"
    "#define AT(T, at) ALL(T, *(const part_##T *)(m + (at)))\n#define SAME AT\n"
    "#define SET(T, at, x) *(part_##T *)(m + (at)) = (part_##T)PART(x, 0);\n"
    "#define FROM(T, n, base, step) ALL(T, ((const part_##T *)d[n])[base])\n"
    "#define INTO(T, n, base, step, x) ((part_##T *)d[n])[base] = (part_##T)PART(x, 0);\n"
    "#else\n"
    "#define HERE(k) (LANES >= 8 || (k) < LANES ? (k) : LANES - 1)\n"
    "#define FOR_LANES for (int64_t i = 0; i < lanes; i += W)\n"
    "typedef double near_f64 __attribute__((vector_size(8 * W), aligned(8)));\n"
    "typedef float near_f32 __attribute__((vector_size(4 * W), aligned(4)));\n"
    "#define MOVES(T) \\\n"
    "F T gather_##T(const part_##T *p, int64_t step) { T r; EACH(LOAD) return r; } \\\n"
    "F void scatter_##T(part_##T *p, int64_t step, T x) { EACH(STORE) }\n"
    "#define LOAD(k) PART(r, k) = p[HERE(k) * step];\n"
    "#define STORE(k) if (HERE(k) == (k)) p[(k) * step] = PART(x, k);\n"
    "MOVES(f64)\nMOVES(f32)\nMOVES(word)\n"
    "F word bytes(const part_word *p) { word r;\n"
    "#define GET(k) PART(r, k) = p[k];\n    EACH(GET) return r; }\n"
    "F void put_bytes(part_word *p, word x) {\n"
    "#define PUT(k) p[k] = PART(x, k);\n    EACH(PUT) }\n"
    "#define GET_f64(p) (*(const near_f64 *)(p))\n#define GET_f32(p) (*(const near_f32 *)(p))\n"
    "#define GET_word(p) bytes((const part_word *)(p))\n"
    "#define PUT_f64(p, x) *(near_f64 *)(p) = x\n#define PUT_f32(p, x) *(near_f32 *)(p) = x\n"
    "#define PUT_word(p, x) put_bytes((part_word *)(p), x)\n"
    "#define STORE_SOME(k) if (HERE(k) == (k) && (k) < left) p[(k) * step] = PART(x, k);\n"
    "#define SOME(T) \\\n"
    "F void some_##T(part_##T *p, int64_t step, int64_t left, T x) { \\\n"
    "    if (LANES >= W && step == 1 && left >= W) PUT_##T(p, x); else { EACH(STORE_SOME) } }\n"
    "SOME(f64)\nSOME(f32)\nSOME(word)\n"
    "#define AT(T, at) GET_##T(m + (at) + i * (int64_t)sizeof(part_##T))\n#define SAME(T, at) GET_##T(m + (at))\n"
    "#define SET(T, at, x) PUT_##T(m + (at) + i * (int64_t)sizeof(part_##T), x);\n"
    "#define FIRST(T, n, base, step) ((part_##T *)d[n] + (base) + (first + i) * (step))\n"
    "#define FROM(T, n, base, step) gather_##T(FIRST(T, n, base, step), step)\n"
    "#define INTO(T, n, base, step, x) scatter_##T(FIRST(T, n, base, step), step, x);\n"
    "#define INTO_SOME(T, n, base, step, end, x) \\\n"
    "    some_##T(FIRST(T, n, base, step), step, !inside ? (end) - (first + i) : (end) > LANES / 2 ? W : 0, x);\n"
    "#define INTO_SOME_NEAR INTO_SOME\n"
    "#define FROM_NEAR(T, n, base, step) GET_##T(FIRST(T, n, base, step))\n"
    "#define INTO_NEAR(T, n, base, step, x) PUT_##T(FIRST(T, n, base, step), x);\n"
    "#endif\n";

/* Arithmetic. Compilers know no fused products and roots of vectors yet. max and min take zeros apart by their bits,
 * and NaN of x goes through where y's does by being chosen. */
static const char *const ARITHMETIC =
    "#define FLOATING(T, B, N, END, WIDE, NARROW) \\\n"
    "F B bits_##T(T x) { B b; memcpy(&b, &x, sizeof b); return b; } \\\n"
    "F T from_##T(B b) { T x; memcpy(&x, &b, sizeof x); return x; } \\\n"
    "F T pick_##T(B c, T x, T y) { return from_##T((bits_##T(x) & c) | (bits_##T(y) & ~c)); } \\\n"
    "F T where_##T(word c, T x, T y) { return pick_##T(NARROW(c), x, y); } \\\n"
    "F word eq_##T(T x, T y) { return WIDE(MASK(x == y)); } \\\n"
    "F word ne_##T(T x, T y) { return WIDE(MASK(x != y)); } \\\n"
    "F word lt_##T(T x, T y) { return WIDE(MASK(x < y)); } \\\n"
    "F word le_##T(T x, T y) { return WIDE(MASK(x <= y)); } \\\n"
    "F word gt_##T(T x, T y) { return WIDE(MASK(x > y)); } \\\n"
    "F word ge_##T(T x, T y) { return WIDE(MASK(x >= y)); } \\\n"
    "F T abs_##T(T x) { return from_##T(bits_##T(x) & END); } \\\n"
    "F T max_##T(T x, T y) { \\\n"
    "    const T o = pick_##T(MASK(x > y) | MASK(x != x), x, y); \\\n"
    "    return pick_##T(MASK(x == y), from_##T(bits_##T(x) & bits_##T(y)), o); } \\\n"
    "F T min_##T(T x, T y) { \\\n"
    "    const T o = pick_##T(MASK(x < y) | MASK(x != x), x, y); \\\n"
    "    return pick_##T(MASK(x == y), from_##T(bits_##T(x) | bits_##T(y)), o); } \\\n"
    "F T fma_##T(T x, T y, T z) { FMA_OF_##N(T) } \\\n"
    "F T sqrt_##T(T x) { ROOT_OF_##N(T) }\n"
    "#define FMA_d(k) PART(r, k) = __builtin_fma(PART(x, k), PART(y, k), PART(z, k));\n"
    "#define FMA_s(k) PART(r, k) = __builtin_fmaf(PART(x, k), PART(y, k), PART(z, k));\n"
    "#define ROOT_d(k) PART(r, k) = __builtin_sqrt(PART(x, k));\n"
    "#define ROOT_s(k) PART(r, k) = __builtin_sqrtf(PART(x, k));\n"
    "#define FUSED(N) __asm__(\"vfmadd213p\" #N \" %2, %1, %0\" : \"+v\"(x) : \"v\"(y), \"vm\"(z)); return x;\n"
    "#define ROOTED(T, N) T r; __asm__(\"vsqrtp\" #N \" %1, %0\" : \"=v\"(r) : \"v\"(x)); return r;\n"
    "#define ONE_BY_ONE(T, e) T r; EACH(e) return r;\n"
    "#if defined(__x86_64__) && defined(__FMA__)\n#define VECTORS WIDEST\n#else\n#define VECTORS 0\n#endif\n"
    "#if W > 1 && W <= VECTORS\n"
    "#define FMA_OF_d(T) FUSED(d)\n#define ROOT_OF_d(T) ROOTED(T, d)\n#else\n"
    "#define FMA_OF_d(T) ONE_BY_ONE(T, FMA_d)\n#define ROOT_OF_d(T) ONE_BY_ONE(T, ROOT_d)\n#endif\n"
    "#if W > 2 && W <= VECTORS\n"
    "#define FMA_OF_s(T) FUSED(s)\n#define ROOT_OF_s(T) ROOTED(T, s)\n#else\n"
    "#define FMA_OF_s(T) ONE_BY_ONE(T, FMA_s)\n#define ROOT_OF_s(T) ONE_BY_ONE(T, ROOT_s)\n#endif\n"
    "#define SAME_WIDTH(c) (c)\n"
    "FLOATING(f64, word, d, 0x7fffffffffffffff, SAME_WIDTH, SAME_WIDTH)\n"
    "FLOATING(f32, half, s, 0x7fffffff, WIDER, NARROWER)\n";

/* Lines of several runs, each said by its data, the element of lane 0, the step, how many elements there are (-1: no
 * data but zeros) and where it ends. A block within one run is read from there, one that lies across a border is chosen
 * from all of them, and where that would read what is beyond the data, taken one by one. */
static const char *const LINES =
    "#if LANES != 1\n"
    "#define COUNT(k) PART(at, k) += k;\n"
    "F word within(int inside, int64_t first, int64_t from, int64_t to) {\n"
    "    word at = (word){0} + (inside ? LANES / 2 : first);\n"
    "    if (!inside) { EACH(COUNT) }\n"
    "    return MASK(at >= from) & MASK(at < to); }\n"
    "#define WITHIN(from, to) within(inside, first + i, from, to)\n"
    "#define IN_DATA(b, s, c) ((c) < 0 || (s) == 0 || ((s) == 1 && (b) + at >= 0 && (b) + at + W <= (c)))\n"
    "F word where_word(word c, word x, word y) { return (x & c) | (y & ~c); }\n"
    "#define LINES(T) \\\n"
    "F T run_##T(const part_##T *p, int64_t b, int64_t s, int64_t c, int64_t at) { \\\n"
    "    return c < 0 ? (T){0} : s == 0 ? (T){0} + p[b] : s == 1 ? GET_##T(p + b + at) : gather_##T(p + b + at * s, "
    "s); } "
    "\\\n"
    "F void each_##T(part_##T *to, int64_t at, \\\n"
    "    const part_##T *p, int64_t b, int64_t s, int64_t c, int64_t e, \\\n"
    "    const part_##T *p1, int64_t b1, int64_t s1, int64_t c1, int64_t e1, \\\n"
    "    const part_##T *p2, int64_t b2, int64_t s2, int64_t c2) { \\\n"
    "    for (int k = 0; k < W; k++) { \\\n"
    "        const int64_t l = at + HERE(k); \\\n"
    "        to[k] = l < e ? c < 0 ? 0 : p[b + l * s] : l < e1 ? c1 < 0 ? 0 : p1[b1 + l * s1] \\\n"
    "                                                  : c2 < 0 ? 0 : p2[b2 + l * s2]; } } \\\n"
    "F T line_##T(int inside, int64_t at, const part_##T *p, int64_t b, int64_t s, int64_t c, int64_t e, \\\n"
    "    const part_##T *p1, int64_t b1, int64_t s1, int64_t c1, int64_t e1, \\\n"
    "    const part_##T *p2, int64_t b2, int64_t s2, int64_t c2, int64_t e2) { \\\n"
    "    const int64_t from = inside ? LANES / 2 : at, to = inside ? LANES / 2 + 1 : at + W; \\\n"
    "    if (LANES >= W && to <= e) return run_##T(p, b, s, c, at); \\\n"
    "    if (LANES >= W && from >= e && to <= e1) return run_##T(p1, b1, s1, c1, at); \\\n"
    "    if (LANES >= W && from >= e1) return run_##T(p2, b2, s2, c2, at); \\\n"
    "    if (LANES >= W && IN_DATA(b, s, c) && IN_DATA(b1, s1, c1) && IN_DATA(b2, s2, c2)) \\\n"
    "        return where_##T(within(0, at, 0, e), run_##T(p, b, s, c, at), \\\n"
    "            where_##T(within(0, at, 0, e1), run_##T(p1, b1, s1, c1, at), run_##T(p2, b2, s2, c2, at))); \\\n"
    "    part_##T own[W]; \\\n"
    "    each_##T(own, at, p, b, s, c, e, p1, b1, s1, c1, e1, p2, b2, s2, c2); \\\n"
    "    return GET_##T(own); }\n"
    "LINES(f64)\nLINES(f32)\nLINES(word)\n"
    "#define LINE(T, ...) line_##T(inside, first + i, __VA_ARGS__)\n"
    "#define BETWEEN(from, to, block) { int64_t i = 0; \\\n"
    "    for (; i < lanes && first + i < (from); i += W) odd |= block(m, d, first, i, j, r, 0); \\\n"
    "    for (; i < lanes && first + i + W <= (to); i += W) odd |= block(m, d, first, i, j, r, 1); \\\n"
    "    for (; i < lanes; i += W) odd |= block(m, d, first, i, j, r, 0); }\n"
    "#endif\n";

/* What is rare is noted in `odd`, and the steps are run again one by one. rsqrt: lib/kernels/simd/rsqrt.h between the
 * numbers that are scaled there and the largest, where half of what is left of x may be taken first. mul_div: that of
 * lib/kernels/simd/elements.h where the product is in the range, or 0 because a factor is. */
static const char *const MUL_DIV = "F f64 mul_div_f64(f64 x, f64 y, f64 z, word *odd) {\n"
                                   "    const f64 product = x * y, size = abs_f64(product);\n"
                                   "    *odd |= MASK(size > 0x1.fffffffffffffp+1023) |\n"
                                   "            (MASK(size < 0x1p-1022) & MASK(x != 0) & MASK(y != 0));\n"
                                   "    return product / z;\n}\n";
static const char *const RSQRT =
    "#if !defined(__FMA__) && !defined(__ARM_FEATURE_FMA)\n#error no fused products\n#endif\n"
    "F f64 rsqrt_f64(f64 x, word *odd) {\n"
    "    const f64 root = sqrt_f64(x), r = 1 / root, one = (f64){0} + 1;\n"
    "    const f64 of_y = fma_f64(-root, root, x) * 0.5, of_1 = fma_f64(-root, r, one);\n"
    "    *odd |= ~(MASK(x >= 0x1p-900) & MASK(x <= 0x1.fffffffffffffp+1023));\n"
    "    return r + r * (of_1 - of_y * r * r);\n}\n";

/* NULL: the step has no text. That of rsqrt is made of fused products, and is none without them. */
const char *lam__native_expression(const lam__lane_step *s) {
    static const char *const of[LAM__LANE_COUNT] = {
#define BOTH(name, text) [LAM__LANE_##name##_f64] = text, [LAM__LANE_##name##_f32] = text
#define CALL(name, operands)                                                                                           \
    [LAM__LANE_##name##_f64] = #name "_f64" operands, [LAM__LANE_##name##_f32] = #name "_f32" operands
        BOTH(add, "%1 + %2"),
        BOTH(sub, "%1 - %2"),
        BOTH(mul, "%1 * %2"),
        BOTH(div, "%1 / %2"),
        BOTH(neg, "-%1"),
        BOTH(square, "%1 * %1"),
        BOTH(reciprocal, "1 / %1"),
        CALL(max, "(%1, %2)"),
        CALL(min, "(%1, %2)"),
        CALL(abs, "(%1)"),
        CALL(sqrt, "(%1)"),
        CALL(fma, "(%1, %2, %3)"),
        CALL(eq, "(%1, %2)"),
        CALL(ne, "(%1, %2)"),
        CALL(lt, "(%1, %2)"),
        CALL(le, "(%1, %2)"),
        CALL(gt, "(%1, %2)"),
        CALL(ge, "(%1, %2)"),
        CALL(where, "(%1, %2, %3)"),
        [LAM__LANE_rsqrt_f64] = "rsqrt_f64(%1, &odd)",
        [LAM__LANE_mul_div_f64] = "mul_div_f64(%1, %2, %3, &odd)",
        [LAM__LANE_AND] = "%1 & %2",
        [LAM__LANE_OR] = "%1 | %2",
        [LAM__LANE_NOT] = "~%1",
#undef BOTH
#undef CALL
    };
    if (s->op == LAM__LANE_rsqrt_f64 && !lam__kernels_fuses()) return NULL;
    return of[s->op];
}

/* Such steps are not in the text: they end one piece of it and begin the next. */
bool lam__native_calls(const lam__lane_step *s) {
    return s->op != LAM__LANE_LOAD && s->op != LAM__LANE_LINE && s->op != LAM__LANE_STORE && !lam__native_expression(s);
}

/* Lines take the compiler as long as all else, so they are there where a step needs them. */
void lam__native_write_words(FILE *file, int64_t lanes, bool lines) {
    fprintf(file, "#define LANES %lld\n", (long long)lanes);
    fputs(TYPES, file);
    fputs(MOVES, file);
    fputs(ARITHMETIC, file);
    if (lines) fputs(LINES, file);
    fputs(MUL_DIV, file);
    if (lam__kernels_fuses()) fputs(RSQRT, file);
}
