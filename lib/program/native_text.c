/* The text of native parts: see native.h. Steps are statements on local variables, in functions of some hundred
 * statements, so that the compiler's work grows with their number only; what one function makes and a later one reads
 * goes through the register's place in memory. Variables are vectors of W lanes by the compilers' vector extension; one
 * lane alone is half a vector of two, since choices between vectors need no jumps. Expressions are those of the steps
 * (lib/kernels/simd/elements.h), compiled without liberties, so bits are the same.
 * KEEP IN STEP: native-steps */
#include "lib/program/native_text.h"

#include "lib/kernels/places.h"

#include <stddef.h>
#include <string.h>

enum { CHUNK = 250, NONE = -1 };

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
 * has. `at` is the element of the first lane. */
static const char *const MOVES =
    "#define HERE(k) (LANES >= 8 || (k) < LANES ? (k) : LANES - 1)\n"
    "#if LANES == 1\n#define FOR_LANES const int64_t i = 0;\n"
    "#else\n#define FOR_LANES for (int64_t i = 0; i < lanes; i += W)\n#endif\n"
    "#define MOVES(T, part, whole) \\\n"
    "F T splat_##T(const part *p) { T r; EACH(SPLAT) return r; } \\\n"
    "F T get_##T(const void *m) { \\\n"
    "    const part *p = m; T r; \\\n"
    "    if (LANES == 1) return splat_##T(p); \\\n"
    "    if (whole) memcpy(&r, p, sizeof r); else { EACH(GET) } \\\n"
    "    return r; } \\\n"
    "F void put_##T(void *m, T x) { \\\n"
    "    part *p = m; \\\n"
    "    if (LANES == 1) p[0] = (part)PART(x, 0); \\\n"
    "    else if (whole) memcpy(p, &x, sizeof x); else { EACH(PUT) } } \\\n"
    "F T load_##T(const void *d, int64_t at, int64_t step) { \\\n"
    "    const part *p = (const part *)d + at; T r; \\\n"
    "    if (LANES == 1) return splat_##T(p); \\\n"
    "    if (whole && step == 1 && LANES >= 8) memcpy(&r, p, sizeof r); else { EACH(LOAD) } \\\n"
    "    return r; } \\\n"
    "F void store_##T(void *d, int64_t at, int64_t step, T x) { \\\n"
    "    part *p = (part *)d + at; \\\n"
    "    if (LANES == 1) p[0] = (part)PART(x, 0); \\\n"
    "    else if (whole && step == 1 && LANES >= 8) memcpy(p, &x, sizeof x); else { EACH(STORE) } }\n"
    "#define SPLAT(k) PART(r, k) = *p;\n#define GET(k) PART(r, k) = p[k];\n#define PUT(k) p[k] = PART(x, k);\n"
    "#define LOAD(k) PART(r, k) = p[HERE(k) * step];\n#define STORE(k) if (HERE(k) == (k)) p[(k) * step] = PART(x, "
    "k);\n"
    "MOVES(f64, double, 1)\nMOVES(f32, float, 1)\nMOVES(word, uint8_t, 0)\n"
    "enum { bytes_f64 = 8, bytes_f32 = 4, bytes_word = 1 };\n"
    "#define AT(T, at) get_##T(m + (at) + i * bytes_##T)\n#define SAME(T, at) get_##T(m + (at))\n"
    "#define SET(T, at, x) put_##T(m + (at) + i * bytes_##T, x)\n"
    "#define FROM(T, n, base, step) load_##T(d[n], (base) + (first + i) * (step), step)\n"
    "#define INTO(T, n, base, step, x) store_##T(d[n], (base) + (first + i) * (step), step, x)\n";

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
    "F T fma_##T(T x, T y, T z) { FMA(T, N) } \\\n"
    "F T sqrt_##T(T x) { ROOT(T, N) }\n"
    "#define FMA_d(k) PART(r, k) = __builtin_fma(PART(x, k), PART(y, k), PART(z, k));\n"
    "#define FMA_s(k) PART(r, k) = __builtin_fmaf(PART(x, k), PART(y, k), PART(z, k));\n"
    "#define ROOT_d(k) PART(r, k) = __builtin_sqrt(PART(x, k));\n"
    "#define ROOT_s(k) PART(r, k) = __builtin_sqrtf(PART(x, k));\n"
    "#if defined(__x86_64__) && defined(__FMA__) && W > 1 && W <= WIDEST\n"
    "#define FMA(T, N) __asm__(\"vfmadd213p\" #N \" %2, %1, %0\" : \"+v\"(x) : \"v\"(y), \"vm\"(z)); return x;\n"
    "#define ROOT(T, N) T r; __asm__(\"vsqrtp\" #N \" %1, %0\" : \"=v\"(r) : \"v\"(x)); return r;\n"
    "#else\n"
    "#define FMA(T, N) T r; EACH(FMA_##N) return r;\n#define ROOT(T, N) T r; EACH(ROOT_##N) return r;\n"
    "#endif\n"
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

/* By register: the step that made it last, the function that has read it from memory. By step: its function, and for
 * each of the two that it may make the function that reads it last. */
typedef struct writer {
    FILE *file;
    const lam__lane_step *steps;
    int64_t count;
    int32_t *made_by, *read_by, *function, *last_read;
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

static int bytes_of(const lam__lane_step *s, int k) {
    if (is_mask(s, k)) return 1;
    return s->op <= LAM__LANE_ARITHMETIC ? s->item[0] : (s->op - LAM__LANE_ARITHMETIC - 1) % 2 ? 4 : 8;
}

/* The registers that a step reads are at[first..last], those that it makes at[0..made - 1]. */
static void operands_of(const lam__lane_step *s, int *first, int *last, int *made) {
    *first = 1;
    *made = 1;
    *last = s->inputs;
    if (s->op == LAM__LANE_LOAD) *last = 0;
    if (s->op == LAM__LANE_STORE) {
        *last = 1;
        *made = 0;
    }
    if (s->op == LAM__LANE_SINCOS) {
        *first = *last = 2;
        *made = 2;
    }
}

/* Writes what an operand is called; before that, where this function has not seen it, a line that reads it. Masks are
 * bools in memory and where they are moved. */
static void name_operand(const writer *w, int64_t i, int k, char name[32]) {
    const lam__lane_step *s = &w->steps[i];
    const uint32_t at = s->at[k];
    const int32_t by = w->made_by[at / 8];
    const bool mask = is_mask(s, k), here = by != NONE && w->function[by] == w->function[i],
               made_mask = here && is_mask(&w->steps[by], 0);
    const char *form = mask == made_mask ? "%s" : mask ? "(-%s)" : "(%s & 1)";
    char own[24];
    if (here) snprintf(own, sizeof own, "t%lld", (long long)by);
    else snprintf(own, sizeof own, "r%u", (unsigned)at);
    snprintf(name, 32, form, own);
    if (here || w->read_by[at / 8] == w->function[i]) return;
    w->read_by[at / 8] = w->function[i];
    const char *type = type_of(bytes_of(s, k));
    fprintf(w->file, "const %s r%u = %s(%s, %u);\n", type, (unsigned)at, s->same >> k & 1u ? "SAME" : "AT", type,
            (unsigned)at);
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

static bool is_called(const lam__lane_step *s) {
    return s->op != LAM__LANE_LOAD && s->op != LAM__LANE_STORE && !expression_of(s);
}

static void write_expression(FILE *file, const char *text, char names[4][32]) {
    for (; *text; text++)
        if (*text == '%') fputs(names[*++text - '0'], file);
        else fputc(*text, file);
}

static void write_step(writer *w, int64_t i) {
    const lam__lane_step *s = &w->steps[i];
    const char *type = type_of(bytes_of(s, s->op == LAM__LANE_STORE ? 1 : 0));
    char names[4][32];
    int first, last, made;
    operands_of(s, &first, &last, &made);
    for (int k = first; k <= last; k++) name_operand(w, i, k, names[k]);
    if (s->op == LAM__LANE_STORE) {
        fprintf(w->file, "INTO(%s, %u, %lld, %lld, %s);\n", type, (unsigned)s->at[0], (long long)s->as.move.base,
                (long long)s->as.move.step, names[1]);
        return;
    }
    fprintf(w->file, "const %s t%lld = ", type, (long long)i);
    if (s->op == LAM__LANE_LOAD)
        fprintf(w->file, "FROM(%s, %u, %lld, %lld)", type, (unsigned)s->at[1], (long long)s->as.move.base,
                (long long)s->as.move.step);
    else write_expression(w->file, expression_of(s), names);
    fputs(";\n", w->file);
    if (w->last_read[2 * i] > w->function[i])
        fprintf(w->file, "SET(%s, %u, t%lld%s);\n", type, (unsigned)s->at[0], (long long)i,
                is_mask(s, 0) ? " & 1" : "");
}

/* ---- functions --------------------------------------------------------------------------------------------------- */

int64_t lam__native_pieces(const lam__lane_step *steps, int64_t count, int32_t *function) {
    int64_t pieces = 0, length = 0;
    for (int64_t i = 0; i < count; i++) {
        const bool called = is_called(&steps[i]);
        if (!i || called != is_called(&steps[i - 1]) || (!called && length == CHUNK)) {
            pieces++;
            length = 0;
        }
        length++;
        function[i] = (int32_t)pieces - 1;
    }
    return pieces;
}

bool lam__native_calls(const lam__lane_step *s) {
    return is_called(s);
}

/* The function that reads a value last. */
static void find_reads(writer *w, size_t registers) {
    memset(w->last_read, 0xff, 2 * (size_t)w->count * sizeof *w->last_read);
    memset(w->made_by, 0xff, registers * sizeof *w->made_by);
    for (int64_t i = 0; i < w->count; i++) {
        const lam__lane_step *s = &w->steps[i];
        int first, last, made;
        operands_of(s, &first, &last, &made);
        for (int k = first; k <= last; k++) {
            const int32_t by = w->made_by[s->at[k] / 8];
            if (by != NONE) w->last_read[2 * by + (w->steps[by].at[0] != s->at[k])] = w->function[i];
        }
        for (int k = 0; k < made; k++) w->made_by[s->at[k] / 8] = (int32_t)i;
    }
    memset(w->made_by, 0xff, registers * sizeof *w->made_by);
    memset(w->read_by, 0xff, registers * sizeof *w->read_by);
}

static void note_made(writer *w, int64_t i) {
    int first, last, made;
    operands_of(&w->steps[i], &first, &last, &made);
    for (int k = 0; k < made; k++) w->made_by[w->steps[i].at[k] / 8] = (int32_t)i;
}

void lam__native_write(FILE *file, const lam__lane_step *steps, int64_t count, size_t registers, int64_t lanes,
                       int32_t *words) {
    writer w = {file, steps, count, .function = words};
    w.last_read = words + count;
    w.made_by = words + 3 * count;
    w.read_by = w.made_by + registers;
    find_reads(&w, registers);
    fprintf(file, "#define LANES %lld\n", (long long)lanes);
    fputs(TYPES, file);
    fputs(MOVES, file);
    fputs(ARITHMETIC, file);
    fputs(MUL_DIV, file);
    if (lam__kernels_fuses()) fputs(RSQRT, file);
    int32_t open = NONE;
    for (int64_t i = 0; i < count; i++) {
        if (!is_called(&steps[i])) {
            if (open != w.function[i])
                fprintf(file,
                        "int lamina_%d(char *m, void *const *d, int64_t first, int64_t lanes) {\n"
                        "word odd = {0};\nFOR_LANES {\n",
                        (int)w.function[i]);
            open = w.function[i];
            write_step(&w, i);
            if (i + 1 == count || w.function[i + 1] != open) fputs("}\nreturn any(odd);\n}\n", file);
        }
        note_made(&w, i);
    }
}
