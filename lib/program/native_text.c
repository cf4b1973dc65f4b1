/* The text of native parts: see native.h. Steps are statements on local variables, in functions of some hundred
 * statements, so that the compiler's work grows with their number only; what one function makes and a later one reads
 * goes through the register's place in memory. Steps that come again and again are a loop, with variables for what it
 * remembers of the times before. Variables are vectors of W lanes by the compilers' vector extension; one lane alone is
 * half a vector of two, since choices between vectors need no jumps. Expressions are those of the steps
 * (lib/kernels/simd/elements.h), compiled without liberties, so bits are the same.
 * KEEP IN STEP: native-steps */
#include "lib/program/native_text.h"

#include "lib/kernels/places.h"

#include <string.h>

/* What a register holds is moved as f64, f32 or, of one byte, as a word of 64 bits, which a mask of bools is too. */
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
    "#define PART(x, k) (x)\n#define MASK(c) (-(word)(c))\n#define TO(type, x) ((type)(x))\n"
    "#else\n"
    "typedef double f64 __attribute__((vector_size(8 * W))); typedef int64_t word __attribute__((vector_size(8 * "
    "W)));\n"
    "typedef float f32 __attribute__((vector_size(4 * W))); typedef int32_t half __attribute__((vector_size(4 * W)));\n"
    "#define PART(x, k) (x)[k]\n#define MASK(c) (c)\n#define TO(type, x) __builtin_convertvector(x, type)\n"
    "#endif\n"
    "#if W == 1\n#define EACH(e) e(0)\n#elif W == 2\n#define EACH(e) e(0) e(1)\n"
    "#elif W == 4\n#define EACH(e) e(0) e(1) e(2) e(3)\n"
    "#else\n#define EACH(e) e(0) e(1) e(2) e(3) e(4) e(5) e(6) e(7)\n#endif\n"
    "F int any(word x) {\n    int64_t r = 0;\n"
    "#define E(k) r |= PART(x, k);\n    EACH(E)\n#undef E\n    return r != 0;\n}\n";

/* Moves. A register of one lane is eight bytes. Of less than a group the lanes that are not there get what the last one
 * has. */
static const char *const MOVES =
    "typedef double part_f64; typedef float part_f32; typedef uint8_t part_word;\n"
    "#if LANES == 1\n"
    "#if W == 1\n#define ALL(T, x) (x)\n#else\n#define ALL(T, x) ((T){x, x})\n#endif\n"
    "#define FOR_LANES\n"
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
    "#define AT(T, at) GET_##T(m + (at) + i * (int64_t)sizeof(part_##T))\n#define SAME(T, at) GET_##T(m + (at))\n"
    "#define SET(T, at, x) PUT_##T(m + (at) + i * (int64_t)sizeof(part_##T), x);\n"
    "#define FIRST(T, n, base, step) ((part_##T *)d[n] + (base) + (first + i) * (step))\n"
    "#define FROM(T, n, base, step) gather_##T(FIRST(T, n, base, step), step)\n"
    "#define INTO(T, n, base, step, x) scatter_##T(FIRST(T, n, base, step), step, x);\n"
    "#define FROM_NEAR(T, n, base, step) GET_##T(FIRST(T, n, base, step))\n"
    "#define INTO_NEAR(T, n, base, step, x) PUT_##T(FIRST(T, n, base, step), x);\n"
    "#endif\n";

/* Arithmetic. Compilers know no fused products and roots of vectors yet. */
static const char *const ARITHMETIC =
    "#define FLOATING(T, B, N, END, WIDE) \\\n"
    "F B bits_##T(T x) { B b; memcpy(&b, &x, sizeof b); return b; } \\\n"
    "F T from_##T(B b) { T x; memcpy(&x, &b, sizeof x); return x; } \\\n"
    "F T where_##T(word c, T x, T y) { \\\n"
    "    const B b = TO(B, c); return from_##T((bits_##T(x) & b) | (bits_##T(y) & ~b)); } \\\n"
    "F word eq_##T(T x, T y) { return WIDE(x == y); } \\\n"
    "F word ne_##T(T x, T y) { return WIDE(x != y); } \\\n"
    "F word lt_##T(T x, T y) { return WIDE(x < y); } \\\n"
    "F word le_##T(T x, T y) { return WIDE(x <= y); } \\\n"
    "F word gt_##T(T x, T y) { return WIDE(x > y); } \\\n"
    "F word ge_##T(T x, T y) { return WIDE(x >= y); } \\\n"
    "F T abs_##T(T x) { return from_##T(bits_##T(x) & END); } \\\n"
    "F T max_##T(T x, T y) { \\\n"
    "    const T o = where_##T(gt_##T(x, y) | ne_##T(x, x), x, y); \\\n"
    "    return where_##T(eq_##T(x, y), from_##T(bits_##T(x) & bits_##T(y)), o); } \\\n"
    "F T min_##T(T x, T y) { \\\n"
    "    const T o = where_##T(lt_##T(x, y) | ne_##T(x, x), x, y); \\\n"
    "    return where_##T(eq_##T(x, y), from_##T(bits_##T(x) | bits_##T(y)), o); } \\\n"
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
    "#define SAME_WIDTH(c) MASK(c)\n#define WIDER(c) TO(word, MASK(c))\n"
    "FLOATING(f64, word, d, 0x7fffffffffffffff, SAME_WIDTH)\nFLOATING(f32, half, s, 0x7fffffff, WIDER)\n";

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

enum { NAME = 80 };    /* bytes of what an operand is called */
enum { UNROLLED = 8 }; /* steps of loops that are shorter, as those that store zeros are */

typedef struct writer {
    FILE *file;
    lam__native_source *s;
    const lam__native_loop *loop;      /* that is being written; NULL: none */
    uint8_t depth[LAM__NATIVE_PERIOD]; /* of each of its steps: how many times before are remembered */
} writer;

/* A type of so many bytes. */
static const char *type_of(int bytes) {
    return bytes == 8 ? "f64" : bytes == 4 ? "f32" : "word";
}

/* Whether a step's operand k, or what it makes, is a mask. */
static bool is_mask(const lam__lane_step *s, int k) {
    const bool compares = s->op >= LAM__LANE_eq_f64 && s->op <= LAM__LANE_ge_f32;
    const bool chooses = s->op == LAM__LANE_where_f64 || s->op == LAM__LANE_where_f32;
    const bool logic = s->op >= LAM__LANE_AND && s->op < LAM__LANE_ARITHMETIC;
    return logic || (compares && k == 0) || (chooses && k == 1);
}

/* Of a register's element. Arithmetic has its type in its number, f64 and f32 in turns; other steps say it. */
static int bytes_of(const lam__lane_step *s, int k) {
    if (is_mask(s, k)) return 1;
    return s->op <= LAM__LANE_ARITHMETIC ? s->item[0] : (s->op - LAM__LANE_ARITHMETIC - 1) % 2 ? 4 : 8;
}

/* Masks are bools in memory and where they are moved. A mask is all bits or none, a bool 1 or 0: minus one is the
 * other, and one bit of it is the bool. */
static const char *form_of(bool wants_mask, bool is) {
    return wants_mask == is ? "%s" : wants_mask ? "(-%s)" : "(%s & 1)";
}

/* Where in a loop's text a step is, and how many times before. */
static int64_t place_in(const lam__native_loop *l, int64_t reader, int64_t by, int *before) {
    const int64_t place = reader - l->first, at = by - l->first;
    *before = 0;
    for (int64_t k = at; k < 0; k += l->period) ++*before;
    return place < l->period ? at + *before * l->period : at;
}

/* Where register k of a step of the loop's first time is, each time: a number, a number for the first time and how
 * much it goes on by, or an entry of a table. Says whether it is the last. */
static bool locate(const writer *w, int64_t i, int k, char text[48]) {
    const lam__lane_step *s = &w->s->steps[i];
    const lam__native_loop *l = w->loop;
    const int64_t at = s->at[k], by = (int64_t)s[l->period].at[k] - at;
    const bool even = lam__native_even(w->s, l, i, k);
    if (!even) snprintf(text, 48, "q%lld_%d[j]", (long long)i, k);
    else if (by) snprintf(text, 48, "%lld + j * %lld", (long long)at, (long long)by);
    else snprintf(text, 48, "%lld", (long long)at);
    return !even;
}

/* The same register each time: it is read once, before the loop. */
static bool is_fixed(const writer *w, int64_t i, int k) {
    char text[48];
    return !locate(w, i, k, text) && w->s->steps[i].at[k] == w->s->steps[i + w->loop->period].at[k];
}

/* Of a register that goes on unevenly, where it is each time. */
static void write_table(const writer *w, int64_t i, int k) {
    const lam__native_loop *l = w->loop;
    char text[48];
    if (!locate(w, i, k, text)) return;
    fprintf(w->file, "static const uint32_t q%lld_%d[] = {", (long long)i, k);
    for (int64_t t = 0; t < l->times; t++) fprintf(w->file, "%u,", (unsigned)w->s->steps[i + t * l->period].at[k]);
    fputs("};\n", w->file);
}

/* A line that reads a register, where this piece has not done so. */
static void read_register(const writer *w, int64_t i, int k) {
    const lam__lane_step *s = &w->s->steps[i];
    const uint32_t at = s->at[k];
    if (w->s->seen[at / 8] == w->s->piece[i]) return;
    w->s->seen[at / 8] = w->s->piece[i];
    const char *type = type_of(bytes_of(s, k));
    fprintf(w->file, "const %s r%u = %s(%s, %u);\n", type, (unsigned)at, s->same >> k & 1u ? "SAME" : "AT", type,
            (unsigned)at);
}

/* What an operand is called in a loop. What the loop itself makes is a variable, of this time or of one before; all
 * else is read where it lies. */
static void name_in_loop(const writer *w, int64_t i, int k, char name[NAME]) {
    const lam__lane_step *s = &w->s->steps[i];
    const lam__native_loop *l = w->loop;
    const bool mask = is_mask(s, k);
    char own[64];
    if (!lam__native_carried(w->s, l, i, k)) {
        char where[48];
        locate(w, i, k, where);
        if (is_fixed(w, i, k)) snprintf(own, sizeof own, "r%u", (unsigned)s->at[k]);
        else snprintf(own, sizeof own, "%s(%s, %s)", s->same >> k & 1u ? "SAME" : "AT", type_of(bytes_of(s, k)), where);
        snprintf(name, NAME, form_of(mask, false), own);
        return;
    }
    int before;
    const int64_t at = place_in(l, i, w->s->from[3 * i + k - 1], &before);
    if (before) snprintf(own, sizeof own, "t%lld_%d", (long long)(l->first + at), before);
    else snprintf(own, sizeof own, "t%lld", (long long)(l->first + at));
    snprintf(name, NAME, form_of(mask, is_mask(&w->s->steps[l->first + at], 0)), own);
}

/* Writes what an operand is called; before that, where this piece has not seen it, a line that reads it. */
static void name_operand(const writer *w, int64_t i, int k, char name[NAME]) {
    const lam__native_source *s = w->s;
    const int32_t by = s->from[3 * i + k - 1];
    char own[24];
    if (w->loop) {
        name_in_loop(w, i, k, name);
        return;
    }
    const bool here = by >= 0 && s->piece[by] == s->piece[i];
    if (here) snprintf(own, sizeof own, "t%lld", (long long)by);
    else snprintf(own, sizeof own, "r%u", (unsigned)s->steps[i].at[k]);
    snprintf(name, NAME, form_of(is_mask(&s->steps[i], k), here && is_mask(&s->steps[by], 0)), own);
    if (!here) read_register(w, i, k);
}

/* An expression of the operands; NULL: there is none. */
static const char *expression_of(const lam__lane_step *s) {
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

bool lam__native_calls(const lam__lane_step *s) {
    return s->op != LAM__LANE_LOAD && s->op != LAM__LANE_STORE && !expression_of(s);
}

/* %1 to %3 are the operands. */
static void write_expression(FILE *file, const char *text, char names[4][NAME]) {
    for (; *text; text++)
        if (*text == '%') fputs(names[*++text - '0'], file);
        else fputc(*text, file);
}

/* The arguments of what moves elements of the data with this number. */
static void write_place(const writer *w, int64_t i, const char *verb, const char *type, uint32_t data) {
    const lam__lane_step *s = &w->s->steps[i];
    const bool near = w->s->lanes >= LAM__LANE_GROUP && s->as.move.step == 1;
    const int64_t by = w->loop ? s[w->loop->period].as.move.base - s->as.move.base : 0;
    fprintf(w->file, "%s%s(%s, %u, %lld", verb, near ? "_NEAR" : "", type, (unsigned)data, (long long)s->as.move.base);
    if (by) fprintf(w->file, " + j * %lld", (long long)by);
    fprintf(w->file, ", %lld", (long long)s->as.move.step);
}

/* What a step makes goes to its register. */
static void write_set(const writer *w, int64_t i, const char *name) {
    const lam__lane_step *s = &w->s->steps[i];
    fprintf(w->file, is_mask(s, 0) ? "SET(%s, %u, (%s & 1))\n" : "SET(%s, %u, %s)\n", type_of(bytes_of(s, 0)),
            (unsigned)s->at[0], name);
}

/* The same where the register may be another one each time. */
static void write_set_in_loop(const writer *w, int64_t i) {
    const lam__lane_step *s = &w->s->steps[i];
    char where[48];
    locate(w, i, 0, where);
    fprintf(w->file, is_mask(s, 0) ? "SET(%s, %s, (t%lld & 1))\n" : "SET(%s, %s, t%lld)\n", type_of(bytes_of(s, 0)),
            where, (long long)i);
}

/* What the function reads itself is a C variable; what another piece reads goes to memory as well. */
static void write_step(const writer *w, int64_t i) {
    const lam__lane_step *s = &w->s->steps[i];
    const char *type = type_of(bytes_of(s, s->op == LAM__LANE_STORE ? 1 : 0));
    char names[4][NAME];
    int first, last, made;
    lam__native_operands(s, &first, &last, &made);
    for (int k = first; k <= last; k++) name_operand(w, i, k, names[k]);
    if (s->op == LAM__LANE_STORE) {
        write_place(w, i, "INTO", type, s->at[0]);
        fprintf(w->file, ", %s)\n", names[1]);
        return;
    }
    fprintf(w->file, "const %s t%lld = ", type, (long long)i);
    if (s->op == LAM__LANE_LOAD) {
        write_place(w, i, "FROM", type, s->at[1]);
        fputc(')', w->file);
    } else {
        write_expression(w->file, expression_of(s), names);
    }
    fputs(";\n", w->file);
    const int32_t reader = w->s->last[i];
    if (w->loop) {
        if (lam__native_sets(w->s, w->loop, i)) write_set_in_loop(w, i);
    } else if (reader >= 0 && w->s->piece[reader] != w->s->piece[i]) {
        snprintf(names[0], sizeof names[0], "t%lld", (long long)i);
        write_set(w, i, names[0]);
    }
}

/* ---- loops ------------------------------------------------------------------------------------------------------- */

/* Where an operand of the loop's first or second time was made before the loop, the variable that remembers it. */
static void write_remembered(writer *w, int64_t i, int k, int time) {
    const lam__native_loop *l = w->loop;
    const lam__lane_step *s = &w->s->steps[i + time * l->period];
    int before;
    if (!lam__native_carried(w->s, l, i, k)) return;
    const int64_t at = place_in(l, i, w->s->from[3 * i + k - 1], &before);
    if (before - time < 1) return;
    const bool mask = is_mask(&w->s->steps[l->first + at], 0);
    const char *type = type_of(bytes_of(s, k));
    if (before > w->depth[at]) w->depth[at] = (uint8_t)before;
    char own[40];
    snprintf(own, sizeof own, "AT(%s, %u)", type, (unsigned)s->at[k]);
    fprintf(w->file, "t%lld_%d = ", (long long)(l->first + at), before - time);
    fprintf(w->file, form_of(mask, false), own);
    fputs(";\n", w->file);
}

/* Whether what a step makes the last time, or the last but one, is to be set behind the loop. */
static bool is_needed_behind(const writer *w, int64_t i, int time) {
    const lam__native_loop *l = w->loop;
    if (lam__native_sets(w->s, l, i)) return false;
    return w->s->last[i + (l->times - time) * l->period] >= l->first + l->times * l->period;
}

/* Which times before are read, and which are needed behind the loop. */
static void find_depths(writer *w) {
    const lam__native_loop *l = w->loop;
    memset(w->depth, 0, sizeof w->depth);
    for (int64_t i = l->first; i < l->first + l->period; i++) {
        int first, last, made, before;
        lam__native_operands(&w->s->steps[i], &first, &last, &made);
        for (int k = first; k <= last; k++) {
            if (!lam__native_carried(w->s, l, i, k)) continue;
            const int64_t at = place_in(l, i, w->s->from[3 * i + k - 1], &before);
            if (before > w->depth[at]) w->depth[at] = (uint8_t)before;
        }
        for (int time = 1; time <= 2; time++)
            if (is_needed_behind(w, i, time) && w->depth[i - l->first] < time) w->depth[i - l->first] = (uint8_t)time;
    }
}

/* What stands before a loop: the variables that remember times before, with what the registers hold of those; tables;
 * registers that do not change. */
static void write_before(writer *w) {
    const lam__native_loop *l = w->loop;
    for (int64_t at = 0; at < l->period; at++)
        for (int before = 1; before <= w->depth[at]; before++)
            fprintf(w->file, "%s t%lld_%d = {0};\n", type_of(bytes_of(&w->s->steps[l->first + at], 0)),
                    (long long)(l->first + at), before);
    for (int64_t i = l->first; i < l->first + l->period; i++) {
        int first, last, made;
        lam__native_operands(&w->s->steps[i], &first, &last, &made);
        for (int k = first; k <= last; k++) {
            if (!lam__native_carried(w->s, l, i, k)) {
                write_table(w, i, k);
                if (is_fixed(w, i, k)) read_register(w, i, k);
            }
            for (int time = 0; time < 2; time++) write_remembered(w, i, k, time);
        }
        if (made && lam__native_sets(w->s, l, i)) write_table(w, i, 0);
    }
}

/* A value that later rounds read is handed on from round to round, in variables for the last one and the one before.
 * Behind the loop what others read of the last two rounds goes to memory. This is x = r x (1 - x), a
 * hundred times, of which the first lies before the loop; r0 and r80, read there too, are the registers of 1 and r:
 *     t7_1 = AT(f64, 64);
 *     for (int64_t j = 0; j < 99; j++) {
 *         const f64 t5 = r0 - t7_1;
 *         const f64 t6 = r80 * t7_1;
 *         const f64 t7 = t5 * t6;
 *         t7_1 = t7;
 *     }
 *     SET(f64, 64, t7_1) */
static void write_loop(writer *w) {
    const lam__native_loop *l = w->loop;
    find_depths(w);
    write_before(w);
    if (l->period <= UNROLLED / 2) fprintf(w->file, "#pragma GCC unroll %d\n", (int)(UNROLLED / l->period));
    fprintf(w->file, "for (int64_t j = 0; j < %lld; j++) {\n", (long long)l->times);
    for (int64_t i = l->first; i < l->first + l->period; i++) write_step(w, i);
    for (int64_t at = 0; at < l->period; at++) {
        const long long step = (long long)(l->first + at);
        if (w->depth[at] > 1) fprintf(w->file, "t%lld_2 = t%lld_1;\n", step, step);
        if (w->depth[at]) fprintf(w->file, "t%lld_1 = t%lld;\n", step, step);
    }
    fputs("}\n", w->file);
    for (int64_t i = l->first; i < l->first + l->period; i++)
        for (int time = 1; time <= 2; time++) {
            const int64_t made = i + (l->times - time) * l->period;
            char name[NAME];
            snprintf(name, sizeof name, "t%lld_%d", (long long)i, time);
            if (is_needed_behind(w, i, time)) write_set(w, made, name);
        }
}

/* ---- functions --------------------------------------------------------------------------------------------------- */

/* A function for each piece that is no run of steps. Loops come in the order of their pieces. */
static void write_functions(writer *w) {
    const lam__native_source *s = w->s;
    const lam__native_loop *l = s->loops, *const last = l + s->loop_count;
    for (int64_t i = 0, next; i < s->count; i = next) {
        for (next = i; next < s->count && s->piece[next] == s->piece[i];) next++;
        if (s->is_run[i]) continue;
        fprintf(w->file, "int lamina_%d(char *restrict m, void *const *restrict d, int64_t first, int64_t lanes) {\n",
                (int)s->piece[i]);
        fputs("word odd = {0};\n", w->file);
        fputs("FOR_LANES {\n", w->file);
        w->loop = l < last && l->first == i ? l++ : NULL;
        if (w->loop) write_loop(w);
        else
            for (int64_t k = i; k < next; k++) write_step(w, k);
        fputs("}\nreturn any(odd);\n}\n", w->file);
    }
}

void lam__native_write(FILE *file, lam__native_source *s) {
    writer w = {.file = file, .s = s};
    fprintf(file, "#define LANES %lld\n", (long long)s->lanes);
    fputs(TYPES, file);
    fputs(MOVES, file);
    fputs(ARITHMETIC, file);
    fputs(MUL_DIV, file);
    if (lam__kernels_fuses()) fputs(RSQRT, file);
    write_functions(&w);
}
