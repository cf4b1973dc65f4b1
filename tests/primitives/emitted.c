/* Programs as C: every case of the case table, and the gradient of the sum of its results, is recorded, written to a
 * file, compiled by the system's compiler and run on the same operands as the function as it is. Bits are the same but
 * where libm or the order of sums has a say. The rows without a form in C are named here; they, and what is made of
 * them, are refused. */
#define _GNU_SOURCE /* dlopen, mkdtemp */

#include "tests/primitives/probe.h"

#include <dlfcn.h>
#include <float.h>
#include <lamina/program.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROWS = 16, MOST_CASES = 4096, MOST_VALUES = 2 * CASES_OPERANDS + CASES_OUTPUTS, PATH = 256 };

/* Rows that have no form in C. */
static const char *const without[] = {
#define WITHOUT(name) #name,
#include "tests/primitives/emitted_without.h"
#undef WITHOUT
    NULL};

/* Rows whose results have the same bits: what only moves, compares, or rounds once. */
static const char *const exact[] = {
    "neg",        "abs",         "sign",         "square",      "floor",       "ceil",         "round",
    "trunc",      "sqrt",        "reciprocal",   "add",         "sub",         "mul",          "div",
    "rem",        "max",         "min",          "where",       "clamp",       "fma",          "copysign",
    "nextafter",  "integer_pow", "times_power",  "ramp",        "hard_gate",   "ldexp",        "eq",
    "ne",         "lt",          "le",           "gt",          "ge",          "and",          "or",
    "xor",        "not",         "is_nan",       "is_finite",   "cast",        "broadcast_to", "reshape",
    "transpose",  "slice",       "update_slice", "concatenate", "split_sizes", "diagonal",     "stop_gradient",
    "max_reduce", "min_reduce",  "any",          "all",         "argmax",      "argmin",       "hard_silu",
    "weigh",      NULL};

/* Rows that have a form for real numbers only, or for some parameters. */
static const char *const partly[] = {"exp2",
                                     "expm1",
                                     "log2",
                                     "log10",
                                     "log1p",
                                     "logistic",
                                     "logistic_slope",
                                     "tanh_slope",
                                     "logit",
                                     "cholesky",
                                     "triangular_solve",
                                     "lu",
                                     "solve",
                                     "det",
                                     "slogdet",
                                     "cofactor",
                                     "qr",
                                     "eigh",
                                     "eigvalsh",
                                     "tridiagonal_solve",
                                     "svd",
                                     "svdvals",
                                     "gap_solve",
                                     "erfcx",
                                     "mish_slope",
                                     NULL};

static bool is_among(const char *name, const char *const list[]) {
    while (*list && strcmp(*list, name) != 0) list++;
    return *list != NULL;
}

/* Means of these have the same bits. */
static bool is_whole(lam_dtype dtype) {
    return dtype == LAM_I64 || dtype == LAM_I32 || dtype == LAM_U8 || dtype == LAM_BOOL;
}

/* A case that is in the file: operands and results of the function as it is. */
typedef struct emitted {
    int inputs, outputs;
    char title[200];
    void *in[CASES_OPERANDS];
    array want[MOST_VALUES];
    double tolerance;
} emitted;

static emitted *cases[MOST_CASES];
static int case_count;
static FILE *file;

/* ---- writing ----------------------------------------------------------------------------------------------------- */

static void *copy_of(lam_tensor *t) {
    const size_t bytes = (size_t)lam_size(t) * lam_dtype_bytes(lam_dtype_of(t));
    void *made = malloc(bytes + 1);
    ck_assert_int_eq(lam_read(t, made, bytes), LAM_OK);
    return made;
}

/* A function that takes arrays of pointers, whatever the case's arguments are. */
static void write_call(int number, int inputs, int outputs) {
    fprintf(file, "void call_%d(void *const *in, void *const *out);\n", number);
    fprintf(file, "void call_%d(void *const *in, void *const *out) {\n    case_%d(", number, number);
    for (int i = 0; i < inputs; i++) fprintf(file, "%sin[%d]", i ? ", " : "", i);
    for (int o = 0; o < outputs; o++) fprintf(file, "%sout[%d]", o || inputs ? ", " : "", o);
    fprintf(file, ");\n%s}\n\n", inputs ? "" : "    (void)in;\n");
}

/* Whether a refusal names an operation without a form. */
static bool is_refusal(void) {
    for (int i = 0; without[i]; i++) {
        char text[64];
        snprintf(text, sizeof text, ": %s has no form", without[i]);
        if (strstr(lam_error(ctx), text)) return true;
    }
    for (int i = 0; partly[i]; i++) {
        char text[64];
        snprintf(text, sizeof text, ": %s has no form in C for", partly[i]);
        if (strstr(lam_error(ctx), text)) return true;
    }
    return false;
}

/* Writes f and keeps what it gives; false where an operation in it has no form. */
static bool add(const probe *p, const char *what, lam_fn *f, size_t outputs) {
    char name[32];
    lam_tensor *want[MOST_VALUES];
    const lam_list in = {(size_t)p->inputs, p->x};
    lam_program *program = lam_trace(f, in);
    PROBE_CHECK(p, !lam_status_of(ctx), "%s cannot be recorded", what);
    snprintf(name, sizeof name, "case_%d", case_count);
    if (lam_emit_c(program, file, &(lam_emit_options){.name = name}) != LAM_OK) {
        PROBE_CHECK(p, lam_status_of(ctx) == LAM_ERR_RULE && is_refusal(), "%s is refused", what);
        lam_clear_error(ctx);
        return false;
    }
    PROBE_CHECK(p, lam_call(f, in, want, outputs) == LAM_OK, "%s fails as it is", what);
    ck_assert_int_lt(case_count, MOST_CASES);
    write_call(case_count, p->inputs, (int)outputs);
    emitted *e = cases[case_count++] = calloc(1, sizeof *e);
    e->inputs = p->inputs;
    e->outputs = (int)outputs;
    const bool bits = is_among(p->use.row->name, exact) || (!strcmp(p->use.row->name, "mean") && is_whole(p->dtype));
    e->tolerance = bits && f == p->f && !cases_of_parts(p->use.row) ? 0 : 64 * p->epsilon;
    snprintf(e->title, sizeof e->title, "%s: %s(%s) in %s, args %lld %lld", what, p->use.row->name, p->operands,
             lam_dtype_name(p->dtype), (long long)p->use.arg[0], (long long)p->use.arg[1]);
    for (int i = 0; i < p->inputs; i++) e->in[i] = copy_of(p->x[i]);
    for (size_t o = 0; o < outputs; o++) ck_assert(array_read(&e->want[o], want[o]));
    return true;
}

/* The sum of all results, each element with a weight of its own. */
static void body_total(lam_ctx *here, lam_tensor *const in[], lam_tensor *out[], void *env) {
    const probe *p = env;
    lam_tensor *y[CASES_OUTPUTS];
    lam_call(p->f, (lam_list){(size_t)p->inputs, in}, y, (size_t)p->outputs);
    out[0] = lam_full(here, LAM_F64, LAM_DIMS0, 0);
    for (int o = 0; o < p->outputs; o++) {
        if (lam_failed(y[o])) continue;
        lam_tensor *flat = lam_reshape(lam_abs(y[o]), LAM_DIMS(-1));
        lam_tensor *weights = lam_linspace(here, LAM_F64, 0.5, 1.5, lam_dim(flat, 0));
        out[0] = lam_add(out[0], lam_sum(lam_mul(weights, lam_cast(flat, LAM_F64)), NULL));
    }
}

static void visit(probe *p) {
    int floating[CASES_OPERANDS], count = 0;
    const bool wanted = !is_among(p->use.row->name, without);
    const bool written = add(p, "the call", p->f, (size_t)p->outputs);
    PROBE_CHECK(p, written == wanted || cases_of_parts(p->use.row), "%s", written ? "has a form" : "is refused");
    for (int i = 0; i < p->inputs; i++)
        if (p->floating[i]) floating[count++] = i;
    if (!count || !written || p->epsilon > DBL_EPSILON) return; /* floats go the same ways as doubles */
    lam_fn *total = lam_fn_new(ctx, &(lam_fn_options){"total", body_total, p->inputs, 1, .env = p});
    add(p, "its gradient", lam_grad(total, &(lam_grad_options){.argnums = {(size_t)count, floating}}), (size_t)count);
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

static void compare(const emitted *e, const void *const out[]) {
    static array got;
    for (int o = 0; o < e->outputs; o++) {
        const array *want = &e->want[o];
        lam_tensor *t = lam_array(ctx, want->dtype, (lam_dims){want->rank, want->dims}, out[o]);
        ck_assert_msg(array_read(&got, t), "%s", e->title);
        const int64_t at = array_compare(&got, want, e->tolerance, e->tolerance ? array_largest(want) : 0);
        ck_assert_msg(at < 0, "%s: output %d, element %lld is %.17Lg, not %.17Lg", e->title, o, (long long)at,
                      got.data[at], want->data[at]);
        lam_drop(t);
    }
}

static void run(void *library, int number) {
    emitted *e = cases[number];
    char name[32];
    void *out[MOST_VALUES];
    snprintf(name, sizeof name, "call_%d", number);
    void *symbol = dlsym(library, name);
    void (*call)(void *const *, void *const *);
    ck_assert_ptr_nonnull(symbol);
    memcpy(&call, &symbol, sizeof call);
    for (int o = 0; o < e->outputs; o++) out[o] = malloc(sizeof(double) * ARRAY_ELEMENTS);
    call(e->in, out);
    compare(e, (const void *const *)out);
    for (int o = 0; o < e->outputs; o++) free(out[o]);
    for (int i = 0; i < e->inputs; i++) free(e->in[i]);
    free(e);
}

static void compile(const char *source, const char *library) {
    char command[4 * PATH];
    snprintf(command, sizeof command, "cc -std=c11 -Wall -Wextra -Werror -pedantic -O0 -shared -fPIC -o %s %s -lm",
             library, source);
    ck_assert_msg(system(command) == 0, "%s", command);
}

START_TEST(each_row_leaves_as_c) {
    char directory[] = P_tmpdir "/lamina-emitted-XXXXXX", source[PATH], library[PATH];
    ck_assert_ptr_nonnull(mkdtemp(directory));
    snprintf(source, sizeof source, "%s/rows.c", directory);
    snprintf(library, sizeof library, "%s/rows.so", directory);
    file = fopen(source, "w");
    ck_assert_ptr_nonnull(file);
    case_count = 0;
    fputs("extern int nothing;\n", file); /* where no row has a form */
    for (int i = _i * ROWS; i < (_i + 1) * ROWS && i < cases_count(); i++) probe_each(cases_at(i), PLAIN, visit);
    ck_assert_int_eq(fclose(file), 0);
    compile(source, library);
    void *loaded = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    ck_assert_msg(loaded != NULL, "%s", dlerror());
    for (int c = 0; c < case_count; c++) run(loaded, c);
    dlclose(loaded);
    unlink(source);
    unlink(library);
    rmdir(directory);
}
END_TEST

Suite *suite_primitives_emitted(void) {
    Suite *suite = suite_create("primitives/emitted");
    suite_loop(suite, each_row_leaves_as_c, (cases_count() + ROWS - 1) / ROWS);
    return suite;
}
