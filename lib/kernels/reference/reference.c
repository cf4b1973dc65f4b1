/* Reference elementwise operations: every one written once for floats, in double, and once for integers, in 64 bits. A
 * float's result is the double one rounded, which for + - * / and sqrt is the correctly rounded float; an integer's is
 * the 64-bit one cut to its width, which is what wrapping means. Speed does not matter here. Each is the formula that
 * the vector loops have to give, written without regard to them: what they share with this file is the name of the
 * operation and nothing else. Rows are made from elementwise.def, so none lacks its reference. */
#include "lib/kernels/reference/reference.h"

#include <math.h>
#include <string.h>

#include "lib/kernels/reference/floats.h"
#include "lib/kernels/reference/integers.h"

/* ---- table ---------------------------------------------------------------------------------------------- */

/* One line of the registry: how many inputs, what they become, and the function for each sort of numbers. */
typedef struct operation {
    int inputs;
    bool to_bool;                  /* result is a bool whatever the inputs are */
    double (*floats)(floats);      /* NULL: no meaning for floats */
    int64_t (*integers)(integers); /* NULL: none for integers */
    int64_t (*bools)(integers);    /* NULL: none for bool */
} operation;

/* KEEP IN STEP: loop-kinds */
#define ROW_REAL(name, n)                                                                                              \
    { n, false, f_##name, i_##name, NULL }
#define ROW_FLOAT(name, n)                                                                                             \
    { n, false, f_##name, NULL, NULL }
#define ROW_ELEMENTARY(name, n) ROW_FLOAT(name, n)
#define ROW_FAMILY(name, n)     ROW_FLOAT(name, n)
#define ROW_SPECIAL(name, n)    ROW_FLOAT(name, n)
#define ROW_INTEGER(name, n)                                                                                           \
    { n, false, NULL, i_##name, NULL }
#define ROW_COMPARE(name, n)                                                                                           \
    { n, true, f_##name, i_##name, i_##name }
#define ROW_LOGIC(name, n)                                                                                             \
    { n, false, NULL, i_##name, i_##name }
#define ROW_TEST(name, n)                                                                                              \
    { n, true, f_##name, NULL, NULL }
#define ROW_SELECT(name, n)                                                                                            \
    { n, false, f_##name, i_##name, i_##name }
#define ROW_COMPLEX(name, n)                                                                                           \
    { n, false, NULL, NULL, NULL }

static const operation operations[LAM__LOOP_COUNT] = {
#define LAM__LOOP(name, inputs, kind) [LAM__LOOP_##name] = ROW_##kind(name, inputs),
#include "lib/kernels/elementwise.def"
#undef LAM__LOOP
};

/* Bools are bytes of 0 and 1, so the bits that the others invert do not count. */
static int64_t b_not(integers a) {
    return !a.x;
}

/* On bools sums and maxima are or, products and minima and; comparisons are those of the bytes. */
static int64_t (*bool_operation(lam__loop_id id))(integers) {
    switch (id) {
    case LAM__LOOP_add:
    case LAM__LOOP_max: return i_or;
    case LAM__LOOP_mul:
    case LAM__LOOP_min: return i_and;
    case LAM__LOOP_not: return b_not;
    default: return operations[id].bools;
    }
}

/* ---- elements in memory ------------------------------------------------------------------------------- */

/* Widening is exact, so nothing is rounded before the operation. */
static double read_float(lam_dtype dtype, const void *x) {
    return dtype == LAM_F64 ? *(const double *)x : *(const float *)x;
}

static int64_t read_integer(lam_dtype dtype, const void *x) {
    return dtype == LAM_I64 ? *(const int64_t *)x : dtype == LAM_I32 ? *(const int32_t *)x : *(const uint8_t *)x;
}

/* The one rounding. */
static void write_float(lam_dtype dtype, void *out, double x) {
    if (dtype == LAM_F64) *(double *)out = x;
    else *(float *)out = (float)x;
}

/* Cut to the width by way of unsigned numbers, which is defined for all of them. */
static void write_integer(lam_dtype dtype, void *out, int64_t x) {
    if (dtype == LAM_I64) *(int64_t *)out = x;
    else if (dtype == LAM_I32) *(int32_t *)out = (int32_t)(uint32_t)x;
    else *(uint8_t *)out = (uint8_t)x;
}

/* Operands that the operation does not have may be NULL. Of `where` the first is a bool. */
static bool float_element(const operation *op, lam_dtype dtype, void *out, const void *const x[], floats a) {
    if (!op->floats) return false;
    a.x = op == &operations[LAM__LOOP_where] ? *(const uint8_t *)x[0] : read_float(dtype, x[0]);
    a.y = op->inputs > 1 ? read_float(dtype, x[1]) : 0;
    a.z = op->inputs > 2 ? read_float(dtype, x[2]) : 0;
    if (op->to_bool) *(uint8_t *)out = op->floats(a) != 0;
    else write_float(dtype, out, op->floats(a));
    return true;
}

bool lam__reference_element(lam__loop_id id, lam_dtype dtype, void *out, const void *const x[], const void *params) {
    const operation *op = &operations[id];
    int64_t k = 0;
    /* The first eight bytes, whatever they are: operations whose parameters are no whole number read them from
     * `params`. */
    if (params) memcpy(&k, params, sizeof k);
    if (dtype == LAM_F64 || dtype == LAM_F32)
        return float_element(op, dtype, out, x, (floats){.k = k, .params = params, .single = dtype == LAM_F32});
    int64_t (*compute)(integers) = dtype == LAM_BOOL ? bool_operation(id) : op->integers;
    if (!compute) return false;
    integers a = {.x = read_integer(id == LAM__LOOP_where ? LAM_BOOL : dtype, x[0]), .k = k};
    a.bits = dtype == LAM_I64 ? 64 : dtype == LAM_I32 ? 32 : 8;
    a.y = op->inputs > 1 ? read_integer(dtype, x[1]) : 0;
    a.z = op->inputs > 2 ? read_integer(dtype, x[2]) : 0;
    write_integer(op->to_bool ? LAM_BOOL : dtype, out, compute(a));
    return true;
}

/* ---- loops of what has no vector form ---------------------------------------------------------------- */

/* What operands there are; the others read the first. */
typedef struct columns {
    const char *at[3];
    int64_t step[3]; /* elements */
} columns;

/* Reading the first again spares a branch for each element and stays within its memory. */
static columns columns_of(void *const p[], const int64_t step[], int inputs) {
    columns c;
    for (int i = 0; i < 3; i++) {
        c.at[i] = p[i < inputs ? i + 1 : 1];
        c.step[i] = step[i < inputs ? i + 1 : 1];
    }
    return c;
}

/* A whole loop of one operation; steps in elements, as in a lam__loop. The parameter is read once. */
static void run(lam_dtype dtype, int64_t n, void *const p[], const int64_t step[], int inputs, const void *params,
                double f(floats)) {
    columns c = columns_of(p, step, inputs);
    int64_t item = dtype == LAM_F64 ? 8 : 4;
    floats a = {.single = dtype == LAM_F32};
    if (params) memcpy(&a.k, params, sizeof a.k);
    for (int64_t i = 0; i < n; i++) {
        a.x = read_float(dtype, c.at[0] + i * c.step[0] * item);
        a.y = read_float(dtype, c.at[1] + i * c.step[1] * item);
        a.z = read_float(dtype, c.at[2] + i * c.step[2] * item);
        write_float(dtype, (char *)p[0] + i * step[0] * item, f(a));
    }
}

/* The loops that kinds without a vector form have, one for each of f64 and f32; other kinds expand to nothing. KEEP IN
 * STEP: loop-kinds */
#define LOOP_ARGS int64_t n, void *const p[], const int64_t step[], const void *params
/* One-line adapters and empty rows. */
/* clang-format off */
#define DEFINE_ELEMENTARY(name, inputs) \
    static void f64_loop_##name(LOOP_ARGS) { run(LAM_F64, n, p, step, inputs, params, f_##name); } \
    static void f32_loop_##name(LOOP_ARGS) { run(LAM_F32, n, p, step, inputs, params, f_##name); }
#define DEFINE_FAMILY(name, inputs)   DEFINE_ELEMENTARY(name, inputs)
#define DEFINE_SPECIAL(name, inputs)  DEFINE_ELEMENTARY(name, inputs)
#define DEFINE_INTEGER(name, inputs)
#define DEFINE_REAL(name, inputs)
#define DEFINE_FLOAT(name, inputs)
#define DEFINE_COMPARE(name, inputs)
#define DEFINE_LOGIC(name, inputs)
#define DEFINE_TEST(name, inputs)
#define DEFINE_SELECT(name, inputs)
#define DEFINE_COMPLEX(name, inputs)
#define LAM__LOOP(name, inputs, kind) DEFINE_##kind(name, inputs)
#include "lib/kernels/elementwise.def"
#undef LAM__LOOP
#define FALLBACK_ELEMENTARY(name) \
    { f64_loop_##name, f32_loop_##name }
#define FALLBACK_FAMILY(name)   FALLBACK_ELEMENTARY(name)
#define FALLBACK_SPECIAL(name)  FALLBACK_ELEMENTARY(name)
#define FALLBACK_INTEGER(name) \
    { NULL }
#define FALLBACK_REAL(name) FALLBACK_INTEGER(name)
#define FALLBACK_FLOAT(name) FALLBACK_INTEGER(name)
#define FALLBACK_COMPARE(name) FALLBACK_INTEGER(name)
#define FALLBACK_LOGIC(name) FALLBACK_INTEGER(name)
#define FALLBACK_TEST(name) FALLBACK_INTEGER(name)
#define FALLBACK_SELECT(name) FALLBACK_INTEGER(name)
#define FALLBACK_COMPLEX(name) FALLBACK_INTEGER(name)
/* clang-format on */

/* Rows of kinds with vector forms are empty, and so NULL. */
lam__loop *lam__reference_loop(lam__loop_id id, lam_dtype dtype) {
    static lam__loop *const loops[LAM__LOOP_COUNT][2] = {
#define LAM__LOOP(name, inputs, kind) [LAM__LOOP_##name] = FALLBACK_##kind(name),
#include "lib/kernels/elementwise.def"
#undef LAM__LOOP
    };
    return dtype == LAM_F64 ? loops[id][0] : dtype == LAM_F32 ? loops[id][1] : NULL;
}
