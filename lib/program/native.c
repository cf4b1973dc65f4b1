/* Native parts: see native.h. Steps are statements on local variables, in functions of some hundred statements, so that
 * the compiler's work grows with their number only; what one function makes and a later one reads goes through the
 * register's place in memory. Expressions are those of the steps (lib/kernels/simd/elements.h), compiled without
 * liberties, so bits are the same.
 * KEEP IN STEP: native-steps */
#define _GNU_SOURCE /* posix_spawnp, mkdtemp, dlopen */

#include "lib/program/native.h"

#include "lib/base/context.h"
#include "lib/kernels/places.h"
#include "lib/kernels/simd/simd.h"

#include <dlfcn.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHUNK = 250, MOST_STEPS = 1 << 16, PATH_BYTES = 512, NONE = -1 };

/* What a statement calls that is not written out: a loop with its parameters, or the one of both waves. */
typedef struct native_call {
    lam__loop *loop;
    const void *params;
    lam__pair_loop *pair;
} native_call;

typedef void native_run(char *memory, void *const data[], const native_call *calls);

struct lam__native {
    lam_ctx *ctx;
    void *library;
    native_run *run;
    native_call *calls;
    size_t call_bytes;
};

/* ---- text -------------------------------------------------------------------------------------------------------- */

/* By register: the step that made it last, the function that has read it from memory. By step: the last one that reads
 * what it made. */
typedef struct writer {
    FILE *file;
    const lam__lane_step *steps;
    int64_t count;
    int32_t *made_by, *read_by, *last_read;
    native_call *calls;
    int64_t call_count;
} writer;

static const char *const HEAD =
    "#include <stdint.h>\n#include <string.h>\n"
    "typedef struct { void (*loop)(int64_t, void *const *, const int64_t *, const void *); const void *params;\n"
    "    void (*pair)(int64_t, const void *, void *, void *); } call;\n"
    "static const int64_t ones[4] = {1, 1, 1, 1};\n"
    "#define AT(type, at) (*(type *)(m + (at)))\n"
    "#define FLOATING(T, B, S, N) \\\n"
    "static inline B bits_##S(T x) { B b; memcpy(&b, &x, sizeof b); return b; } \\\n"
    "static inline T from_##S(B b) { T x; memcpy(&x, &b, sizeof x); return x; } \\\n"
    "static inline T max_##S(T x, T y) { T e = from_##S(bits_##S(x) & bits_##S(y)); \\\n"
    "    T o = x > y || x != x ? x : y; return x == y ? e : o; } \\\n"
    "static inline T min_##S(T x, T y) { T e = from_##S(bits_##S(x) | bits_##S(y)); \\\n"
    "    T o = x < y || x != x ? x : y; return x == y ? e : o; }\n"
    "FLOATING(double, uint64_t, f64, )\nFLOATING(float, uint32_t, f32, f)\n";

/* lib/kernels/simd/rsqrt.h, for machines with fused products. */
static const char *const RSQRT =
    "#ifndef __FMA__\n#error no fused products\n#endif\n"
    "static inline double rsqrt_f64(double x) {\n"
    "    const double y = x < 0x1p-900 ? x * 0x1p200 : x, root = __builtin_sqrt(y), r = 1 / root;\n"
    "    const double of_y = __builtin_fma(-root, root, y), of_1 = __builtin_fma(-root, r, 1);\n"
    "    const double better = r + r * (of_1 - 0.5 * (of_y * r) * r);\n"
    "    const double any = y > 0 && y <= 0x1.fffffffffffffp+1023 ? better : r;\n"
    "    return x < 0x1p-900 ? any * 0x1p100 : any;\n}\n";

/* NAME(mul_div) of lib/kernels/simd/loops_float.h. */
static const char *const MUL_DIV =
    "static inline double mul_div_f64(double x, double y, double z) {\n"
    "    const double a = __builtin_fabs(x), b = __builtin_fabs(y), size = __builtin_fabs(x * y), most = a > b ? a : "
    "b;\n"
    "    const int large = (size > 0x1.fffffffffffffp+1023) & (most <= 0x1.fffffffffffffp+1023);\n"
    "    const int small = (size < 0x1p-1022) & (most < 0x1p200);\n"
    "    const double by = large ? 0x1p-512 : small ? 0x1p540 : 1, back = large ? 0x1p512 : small ? 0x1p-540 : 1;\n"
    "    return (x * by) * (y * by) / (z * by) * back;\n}\n";

/* A type of so many bytes; values are moved in it whatever they are. */
static const char *type_of(int bytes) {
    return bytes == 8 ? "double" : bytes == 4 ? "float" : "uint8_t";
}

/* Bytes of operand k of an arithmetic step, or of its result. */
static int arithmetic_bytes(const lam__lane_step *s, int k) {
    const int own = (s->op - LAM__LANE_ARITHMETIC - 1) % 2 ? 4 : 8;
    const bool compares = s->op >= LAM__LANE_eq_f64 && s->op <= LAM__LANE_ge_f32;
    const bool chooses = s->op == LAM__LANE_where_f64 || s->op == LAM__LANE_where_f32;
    return (compares && k == 0) || (chooses && k == 1) ? 1 : own;
}

static int bytes_of(const lam__lane_step *s, int k) {
    if (s->op > LAM__LANE_ARITHMETIC) return arithmetic_bytes(s, k);
    return s->op == LAM__LANE_LOOP ? s->item[k] : s->op >= LAM__LANE_AND ? 1 : s->item[0];
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

/* Writes what an operand is called; before that, where this function has not seen it, a line that reads it. */
static void name_operand(const writer *w, int64_t i, int k, char name[32]) {
    const uint32_t at = w->steps[i].at[k];
    const int32_t by = w->made_by[at / 8], function = (int32_t)(i / CHUNK);
    if (by != NONE && by / CHUNK == function) {
        snprintf(name, 32, "t%d_%d", by, w->steps[by].at[0] == at ? 0 : 1);
        return;
    }
    snprintf(name, 32, "r%u", (unsigned)at);
    if (w->read_by[at / 8] == function) return;
    w->read_by[at / 8] = function;
    fprintf(w->file, "const %s r%u = AT(%s, %u);\n", type_of(bytes_of(&w->steps[i], k)), (unsigned)at,
            type_of(bytes_of(&w->steps[i], k)), (unsigned)at);
}

/* An expression of the operands; NULL: there is none, the loop is called. */
static const char *expression_of(const lam__lane_step *s) {
    static const char *const of[LAM__LANE_COUNT] = {
#define BOTH(name, wide, narrow) [LAM__LANE_##name##_f64] = wide, [LAM__LANE_##name##_f32] = narrow
        BOTH(add, "%1$s + %2$s", "%1$s + %2$s"),
        BOTH(sub, "%1$s - %2$s", "%1$s - %2$s"),
        BOTH(mul, "%1$s * %2$s", "%1$s * %2$s"),
        BOTH(div, "%1$s / %2$s", "%1$s / %2$s"),
        BOTH(max, "max_f64(%1$s, %2$s)", "max_f32(%1$s, %2$s)"),
        BOTH(min, "min_f64(%1$s, %2$s)", "min_f32(%1$s, %2$s)"),
        BOTH(neg, "-%1$s", "-%1$s"),
        BOTH(abs, "__builtin_fabs(%1$s)", "__builtin_fabsf(%1$s)"),
        BOTH(square, "%1$s * %1$s", "%1$s * %1$s"),
        BOTH(sqrt, "__builtin_sqrt(%1$s)", "__builtin_sqrtf(%1$s)"),
        BOTH(reciprocal, "1 / %1$s", "1 / %1$s"),
        BOTH(fma, "__builtin_fma(%1$s, %2$s, %3$s)", "__builtin_fmaf(%1$s, %2$s, %3$s)"),
        BOTH(eq, "%1$s == %2$s", "%1$s == %2$s"),
        BOTH(ne, "%1$s != %2$s", "%1$s != %2$s"),
        BOTH(lt, "%1$s < %2$s", "%1$s < %2$s"),
        BOTH(le, "%1$s <= %2$s", "%1$s <= %2$s"),
        BOTH(gt, "%1$s > %2$s", "%1$s > %2$s"),
        BOTH(ge, "%1$s >= %2$s", "%1$s >= %2$s"),
        BOTH(where, "%1$s ? %2$s : %3$s", "%1$s ? %2$s : %3$s"),
        BOTH(rsqrt, "rsqrt_f64(%1$s)", NULL),
        BOTH(mul_div, "mul_div_f64(%1$s, %2$s, %3$s)", NULL),
        [LAM__LANE_AND] = "%1$s & %2$s",
        [LAM__LANE_OR] = "%1$s | %2$s",
        [LAM__LANE_NOT] = "%1$s ^ 1",
#undef BOTH
    };
    if (s->op == LAM__LANE_rsqrt_f64 && !lam__kernels_fuses()) return NULL;
    return of[s->op];
}

/* "%2$s" and its like, which a format with fewer operands may leave out, filled in by hand. */
static void write_expression(FILE *file, const char *text, char names[4][32]) {
    for (; *text; text++) {
        if (*text != '%') {
            fputc(*text, file);
            continue;
        }
        fputs(names[text[1] - '0'], file);
        text += 3;
    }
}

static void write_call(writer *w, int64_t i, char names[4][32]) {
    const lam__lane_step *s = &w->steps[i];
    native_call *c = &w->calls[w->call_count];
    const int made = s->op == LAM__LANE_SINCOS ? 2 : 1;
    *c = (native_call){0};
    for (int k = 0; k < made; k++) fprintf(w->file, "%s t%lld_%d;\n", type_of(bytes_of(s, 0)), (long long)i, k);
    if (made == 2) {
        c->pair = lam__elementwise_simd()->sincos((lam_dtype)s->as.dtype);
        fprintf(w->file, "k[%lld].pair(1, &%s, &t%lld_0, &t%lld_1);\n", (long long)w->call_count, names[2],
                (long long)i, (long long)i);
    } else {
        c->loop = s->as.call.loop;
        c->params = s->as.call.params;
        fprintf(w->file, "{ void *p[4] = {&t%lld_0", (long long)i);
        for (int k = 1; k <= s->inputs; k++) fprintf(w->file, ", (void *)&%s", names[k]);
        fprintf(w->file, "}; k[%lld].loop(1, p, ones, k[%lld].params); }\n", (long long)w->call_count,
                (long long)w->call_count);
    }
    w->call_count++;
}

static void write_step(writer *w, int64_t i) {
    const lam__lane_step *s = &w->steps[i];
    const char *text = expression_of(s), *type = type_of(bytes_of(s, 0));
    char names[4][32];
    int first, last, made;
    operands_of(s, &first, &last, &made);
    for (int k = first; k <= last; k++) name_operand(w, i, k, names[k]);
    if (s->op == LAM__LANE_LOAD) {
        fprintf(w->file, "const %s t%lld_0 = ((const %s *)d[%u])[%lld];\n", type, (long long)i, type,
                (unsigned)s->at[1], (long long)s->as.move.base);
    } else if (s->op == LAM__LANE_STORE) {
        fprintf(w->file, "((%s *)d[%u])[%lld] = %s;\n", type, (unsigned)s->at[0], (long long)s->as.move.base, names[1]);
    } else if (text) {
        fprintf(w->file, "const %s t%lld_0 = ", type, (long long)i);
        write_expression(w->file, text, names);
        fputs(";\n", w->file);
    } else {
        write_call(w, i, names);
    }
    for (int k = 0; k < made; k++) {
        w->made_by[s->at[k] / 8] = (int32_t)i;
        if (w->last_read[2 * i + k] / CHUNK > (int32_t)(i / CHUNK))
            fprintf(w->file, "AT(%s, %u) = t%lld_%d;\n", type, (unsigned)s->at[k], (long long)i, k);
    }
}

/* Which step reads a value last; by value, two to a step. */
static void find_reads(writer *w, size_t registers) {
    memset(w->last_read, 0xff, 2 * (size_t)w->count * sizeof *w->last_read);
    memset(w->made_by, 0xff, registers * sizeof *w->made_by);
    for (int64_t i = 0; i < w->count; i++) {
        const lam__lane_step *s = &w->steps[i];
        int first, last, made;
        operands_of(s, &first, &last, &made);
        for (int k = first; k <= last; k++) {
            const int32_t by = w->made_by[s->at[k] / 8];
            if (by != NONE) w->last_read[2 * by + (w->steps[by].at[0] != s->at[k])] = (int32_t)i;
        }
        for (int k = 0; k < made; k++) w->made_by[s->at[k] / 8] = (int32_t)i;
    }
    memset(w->made_by, 0xff, registers * sizeof *w->made_by);
    memset(w->read_by, 0xff, registers * sizeof *w->read_by);
}

static void write_all(writer *w) {
    fputs(HEAD, w->file);
    if (lam__kernels_fuses()) fputs(RSQRT, w->file);
    fputs(MUL_DIV, w->file);
    const int64_t functions = (w->count + CHUNK - 1) / CHUNK;
    for (int64_t f = 0; f < functions; f++) {
        fprintf(w->file, "static __attribute__((noinline)) void f%lld(char *m, void *const *d, const call *k) {\n",
                (long long)f);
        for (int64_t i = f * CHUNK; i < (f + 1) * CHUNK && i < w->count; i++) write_step(w, i);
        fputs("(void)m; (void)d; (void)k;\n}\n", w->file);
    }
    fputs("void lamina_part(char *m, void *const *d, const call *k) {\n", w->file);
    for (int64_t f = 0; f < functions; f++) fprintf(w->file, "f%lld(m, d, k);\n", (long long)f);
    fputs("}\n", w->file);
}

/* ---- the compiler ------------------------------------------------------------------------------------------------ */

extern char **environ;

/* Runs the compiler without a shell, and waits. What it says goes nowhere. */
static bool compile(const char *source, const char *library) {
    static const char *const options[] = {"cc",
                                          "-std=c11",
                                          "-O1",
                                          "-march=native",
                                          "-ffp-contract=off",
                                          "-fno-math-errno",
                                          "-fno-trapping-math",
                                          "-fno-strict-aliasing",
                                          "-w",
                                          "-shared",
                                          "-fPIC"};
    enum { OPTIONS = sizeof options / sizeof *options };
    const char *const rest[] = {"-o", library, source, "-lm", NULL};
    char *arguments[OPTIONS + 5]; /* which the compiler's process gets copies of */
    for (int i = 0; i < OPTIONS + 5; i++)
        arguments[i] = (char *)(uintptr_t)(i < OPTIONS ? options[i] : rest[i - OPTIONS]);
    posix_spawn_file_actions_t actions;
    if (posix_spawn_file_actions_init(&actions)) return false;
    pid_t child;
    int status = 1;
    bool ran = !posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", 0, 0) &&
               !posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", 1, 0) &&
               !posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", 1, 0) &&
               !posix_spawnp(&child, arguments[0], &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    return ran && waitpid(child, &status, 0) == child && status == 0;
}

/* Source and library live in a directory of their own until the library is loaded. */
static void *build(writer *w) {
    const char *where = getenv("TMPDIR");
    char directory[PATH_BYTES - 16], source[PATH_BYTES], library[PATH_BYTES];
    if (!where || !*where || strlen(where) > PATH_BYTES / 2) where = P_tmpdir;
    snprintf(directory, sizeof directory, "%s/lamina-XXXXXX", where);
    if (!mkdtemp(directory)) return NULL;
    snprintf(source, sizeof source, "%s/part.c", directory);
    snprintf(library, sizeof library, "%s/part.so", directory);
    void *loaded = NULL;
    w->file = fopen(source, "w");
    if (w->file) {
        write_all(w);
        const bool written = !ferror(w->file);
        if (!fclose(w->file) && written && compile(source, library)) loaded = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    }
    unlink(source);
    unlink(library);
    rmdir(directory);
    return loaded;
}

/* ---- public ------------------------------------------------------------------------------------------------------ */

static int64_t calls_of(const lam__lane_step *steps, int64_t count) {
    int64_t calls = 0;
    for (int64_t i = 0; i < count; i++) calls += !expression_of(&steps[i]);
    return calls;
}

lam__native *lam__native_new(lam_ctx *ctx, const lam__lane_step *steps, int64_t count, size_t bytes) {
    if (count < 1 || count > MOST_STEPS) return NULL;
    lam__pool *pool = &ctx->pool;
    const size_t registers = bytes / 8 + 1, room = (2 * registers + 2 * (size_t)count) * sizeof(int32_t);
    const size_t call_bytes = (size_t)calls_of(steps, count) * sizeof(native_call);
    lam__native *n = lam__alloc_get(pool, sizeof *n);
    int32_t *words = lam__alloc_get(pool, room);
    native_call *calls = lam__alloc_get(pool, call_bytes + 1);
    if (n && words && calls) {
        writer w = {.steps = steps, .count = count, .made_by = words, .calls = calls};
        w.read_by = words + registers;
        w.last_read = words + 2 * registers;
        find_reads(&w, registers);
        *n = (lam__native){.ctx = ctx, .library = build(&w), .calls = calls, .call_bytes = call_bytes + 1};
        void *found = n->library ? dlsym(n->library, "lamina_part") : NULL;
        memcpy(&n->run, &found, sizeof found);
        lam__alloc_put(pool, words, room);
        if (n->run) return n;
        lam__native_free(n);
        return NULL;
    }
    if (n) lam__alloc_put(pool, n, sizeof *n);
    if (words) lam__alloc_put(pool, words, room);
    if (calls) lam__alloc_put(pool, calls, call_bytes + 1);
    return NULL;
}

void lam__native_free(lam__native *n) {
    if (!n) return;
    lam__pool *pool = &n->ctx->pool;
    if (n->library) dlclose(n->library);
    lam__alloc_put(pool, n->calls, n->call_bytes);
    lam__alloc_put(pool, n, sizeof *n);
}

void lam__native_run(const lam__native *n, void *memory, void *const data[]) {
    n->run(memory, data, n->calls);
}
