/* Programs as C, rows that look at all elements along some axes more than once: passes over them, which are loops with
 * something before and behind. See emit_writer.h. Of cumsum(x) along the second axis:
 *     for (int64_t i0 = 0; i0 < 2; i0++) {
 *         double s = 0;
 *         for (int64_t i1 = 0; i1 < 4; i1++) {
 *             s += in0[i0 * 4 + i1];
 *             out0[i0 * 4 + i1] = s;
 *         }
 *     } */
#include "lib/program/emit_writer.h"

#include "lib/primitives/params.h"
#include "lib/primitives/reduce.h"
#include "lib/primitives/rows.h"

#include <math.h>
#include <string.h>

/* Lines before the loops, inside them, and behind. $1 is an element of the operand, $2 to $4 of the results, $5 the
 * number of elements, $6 a parameter. */
typedef struct pass {
    const char *before, *each, *after;
} pass;

/* Lists end with a pass of nothing. A line of text for each line of C; what several passes need is declared before the
 * loops or behind them. */
/* clang-format off */
static const pass
    /* The largest element is taken off before exponentials are, which then are 1 at most: their sum neither overflows
     * nor is 0. */
    SOFTMAX[] = {
        {"$T top = -INFINITY;", "top = @max(top, $1);", NULL},
        {"$T sum = 0;", "const $T t = exp$f($1 - top);\nsum += t;\n$2 = t;", NULL},
        {NULL, "$2 /= sum;", NULL},
        {NULL, NULL, NULL}},
    /* The result is made of x again, since logarithms of the exponentials would lose small ones. */
    LOG_SOFTMAX[] = {
        {"$T top = -INFINITY;", "top = @max(top, $1);", NULL},
        {"$T sum = 0;", "sum += exp$f($1 - top);", "const $T log_sum = log$f(sum);"},
        {NULL, "$2 = $1 - top - log_sum;", NULL},
        {NULL, NULL, NULL}},
    /* Squares are those of what is left without the mean; sums of squares less a square of sums would cancel. */
    STANDARDIZE[] = {
        {"$T sum = 0;", "sum += $1;", "const $T mean = sum / $5;"},
        {"$T squares = 0;", "squares += ($1 - mean) * ($1 - mean);",
         "const $T steep = 1 / sqrt$f(squares / $5 + $6);\n$3 = steep;"},
        {NULL, "$2 = ($1 - mean) * steep;", NULL},
        {NULL, NULL, NULL}},
    VARIANCE[] = {
        {"$T sum = 0;", "sum += $1;", "const $T mean = sum / $5;"},
        {"$T squares = 0;", "squares += ($1 - mean) * ($1 - mean);", "$2 = squares / $6;"},
        {NULL, NULL, NULL}},
    /* NOTE [shifted terms] of lib/primitives/logsumexp.c. */
    LOGSUMEXP[] = {
        {"$T top = -INFINITY;", "top = @max(top, $1);", "const $T shift = top == -INFINITY ? 0 : top;"},
        {"$T sum = 0;",
         "const $T t = $1 == INFINITY ? 1 : exp$f($1 - shift);\n"
         "$3 = t < ($T)(sizeof($T) == 8 ? 0x1p-1022 : 0x1p-126) ? 0 : t;\n"
         "sum += $3;",
         "$2 = shift + log$f(sum);\n$4 = sum == 0 ? 1 : sum;"},
        {NULL, NULL, NULL}},
    /* Squares and powers are those of elements in units of the largest, so they stay in the range. What is 0, infinite
     * or NaN is so without them. */
    LENGTH[] = {
        {"$T top = 0;", "top = @max(top, fabs$f($1));", NULL},
        {"$T sum = 0;", "const $T t = $1 / top;\nsum += t * t;",
         "$2 = top == 0 || top - top != 0 ? top : top * sqrt$f(sum);"},
        {NULL, NULL, NULL}},
    NORM[] = {
        {"$T top = 0;", "top = @max(top, fabs$f($1));", NULL},
        {"$T sum = 0;", "sum += pow$f(fabs$f($1) / top, $6);",
         "$2 = top == 0 || top - top != 0 ? top : top * pow$f(sum, 1 / $6);"},
        {NULL, NULL, NULL}};
/* clang-format on */

/* Lines of a template. Each line is a template of its own, so that it is indented. */
static void write_lines(lam__emit *e, const char *text, lam_dtype dtype, const char *const arguments[]) {
    enum { LINE = 256 };
    char line[LINE];
    while (text && *text) {
        const size_t length = strcspn(text, "\n");
        snprintf(line, LINE, "%.*s", (int)length, text);
        lam__emit_statement(e, line, dtype, arguments);
        text += length + (text[length] == '\n');
    }
}

/* Results have all axes of x, or those that stay. A pass without loops, over axes of one element, has braces for its
 * variables. */
static const char *write_passes(lam__emit *e, const lam__equation *q, const lam__emit_place *x,
                                const lam__emit_place *const out[], lam__axis_set set, const pass *passes,
                                double parameter) {
    int kept[LAM_INNER_RANK], gone[LAM_INNER_RANK], n = 0, m = 0;
    int64_t kept_dims[LAM_INNER_RANK], gone_dims[LAM_INNER_RANK];
    double count = 1;
    char element[LAM__EMIT_TEXT], results[LAM__EMIT_OUTPUTS][LAM__EMIT_TEXT], number[LAM__EMIT_NUMBER],
        given[LAM__EMIT_NUMBER];
    const char *arguments[LAM__EMIT_ARGUMENTS] = {"", element, results[0], results[1], results[2], number, given};
    for (int axis = 0; axis < x->rank; axis++) {
        if (lam__reduce_has(set, axis)) {
            gone[m] = axis;
            gone_dims[m++] = x->dims[axis];
            count *= (double)x->dims[axis];
        } else {
            kept[n] = axis;
            kept_dims[n++] = x->dims[axis];
        }
    }
    lam__emit_real(x->dtype, count, number);
    lam__emit_real(x->dtype, x->dtype == LAM_F32 ? (double)(float)parameter : parameter, given);
    lam__emit_value(e, x, NULL, element);
    for (int o = 0; o < q->outputs; o++) lam__emit_at(e, out[o], out[o]->rank == n ? kept : NULL, results[o]);
    const int outer = lam__emit_loops(e, n, kept_dims, kept);
    for (; passes->each; passes++) {
        write_lines(e, passes->before, x->dtype, arguments);
        const int inner = lam__emit_loops(e, m, gone_dims, gone);
        if (!inner) lam__emit_line(e, "{");
        e->depth += !inner;
        write_lines(e, passes->each, x->dtype, arguments);
        lam__emit_close(e, inner ? inner : 1);
        write_lines(e, passes->after, x->dtype, arguments);
    }
    lam__emit_close(e, outer);
    return NULL;
}

#define ARGUMENTS                                                                                                      \
    lam__emit *e, const lam__equation *q, const lam__emit_place *const in[], const lam__emit_place *const out[]

/* Bits first to first + count - 1. Shifted as 64 bits, so that no count is too large. */
static lam__axis_set lanes_of(const lam__equation *q) {
    const lam__lanes_params *p = q->params;
    return (lam__axis_set)((((uint64_t)1 << p->count) - 1) << p->first);
}

static const char *write_softmax(ARGUMENTS) {
    return write_passes(e, q, in[0], out, lanes_of(q), SOFTMAX, 0);
}

static const char *write_log_softmax(ARGUMENTS) {
    return write_passes(e, q, in[0], out, lanes_of(q), LOG_SOFTMAX, 0);
}

static const char *write_standardize(ARGUMENTS) {
    const lam__lanes_params *p = q->params;
    return write_passes(e, q, in[0], out, lanes_of(q), STANDARDIZE, p->epsilon);
}

static const char *write_logsumexp(ARGUMENTS) {
    return write_passes(e, q, in[0], out, lam__reduce_set(q->params), LOGSUMEXP, 0);
}

/* Without a degree of freedom it is NaN, as in the kernel. What divides is worked out here, so that the text has a
 * number. Counts are doubles, in which products of dims do not overflow. */
static const char *write_var(ARGUMENTS) {
    const lam__variance_params *p = q->params;
    double n = 1;
    for (int axis = 0; axis < in[0]->rank; axis++) n *= lam__reduce_has(p->set, axis) ? (double)in[0]->dims[axis] : 1;
    return write_passes(e, q, in[0], out, p->set, VARIANCE, n > p->ddof ? n - p->ddof : NAN);
}

/* The order is a constant of the text, so the length has a form of its own. */
static const char *write_norm(ARGUMENTS) {
    const lam__norm_params *p = q->params;
    if (!(p->order > 0) || isinf(p->order)) return "has no form in C for this order";
    return write_passes(e, q, in[0], out, p->set, p->order == 2 ? LENGTH : NORM, p->order);
}

/* ---- polynomials ------------------------------------------------------------------------------------------------- */

/* p[batch, count], x[batch, points...]: Horner's rule. The leading coefficient comes first. */
static const char *write_polyval(ARGUMENTS) {
    const lam__polynomial_params *p = q->params;
    const lam__emit_place *x = in[1];
    const int k = x->rank;
    int names[LAM_INNER_RANK];
    char coefficient[LAM__EMIT_TEXT], point[LAM__EMIT_TEXT], result[LAM__EMIT_TEXT];
    for (int i = 0; i < p->batch; i++) names[i] = i;
    names[p->batch] = k;
    lam__emit_value(e, in[0], names, coefficient);
    lam__emit_value(e, x, NULL, point);
    lam__emit_at(e, out[0], NULL, result);
    const int loops = lam__emit_loops(e, x->rank, x->dims, NULL);
    lam__emit_line(e, "%s s = 0;", lam__emit_type(x->dtype));
    const int inner = lam__emit_loops(e, 1, &in[0]->dims[p->batch], &k);
    lam__emit_line(e, "s = s * %s + %s;", point, coefficient);
    lam__emit_close(e, inner);
    lam__emit_line(e, "%s = s;", result);
    lam__emit_close(e, loops);
    return NULL;
}

/* g and x [batch, points...] -> [batch, count]: sums over the points of g x^(count - 1), ..., g x, g. Powers grow as
 * coefficients are gone through from the last one, so the result is seen from its other end. It is added up in place:
 * each point has a term for all of it. */
static const char *write_power_sums(ARGUMENTS) {
    const lam__polynomial_params *p = q->params;
    const lam__emit_place *g = in[0];
    const int batch = (int)p->batch, k = g->rank;
    int names[LAM_INNER_RANK], points[LAM_INNER_RANK];
    char factor[LAM__EMIT_TEXT], point[LAM__EMIT_TEXT], result[LAM__EMIT_TEXT];
    lam__emit_place back = *out[0];
    back.offset += (p->count - 1) * back.strides[batch];
    back.strides[batch] = -back.strides[batch];
    for (int i = 0; i < g->rank; i++) points[i] = i;
    for (int i = 0; i < batch; i++) names[i] = i;
    names[batch] = k;
    lam__emit_value(e, g, NULL, factor);
    lam__emit_value(e, in[1], NULL, point);
    lam__emit_at(e, &back, names, result);
    const int loops = lam__emit_loops(e, batch, g->dims, NULL);
    int inner = lam__emit_loops(e, 1, &p->count, &k);
    lam__emit_line(e, "%s = 0;", result);
    lam__emit_close(e, inner);
    const int each = lam__emit_loops(e, g->rank - batch, g->dims + batch, points + batch);
    lam__emit_line(e, "%s t = %s;", lam__emit_type(g->dtype), factor);
    inner = lam__emit_loops(e, 1, &p->count, &k);
    lam__emit_line(e, "%s += t;", result);
    lam__emit_line(e, "t *= %s;", point);
    lam__emit_close(e, inner + each + loops);
    return NULL;
}

const lam__emit_row lam__emit_lanes[] = {
    {&lam__row_softmax, write_softmax},
    {&lam__row_log_softmax, write_log_softmax},
    {&lam__row_standardize, write_standardize},
    {&lam__row_logsumexp, write_logsumexp},
    {&lam__row_var, write_var},
    {&lam__row_norm, write_norm},
    {&lam__row_polyval, write_polyval},
    {&lam__row_power_sums, write_power_sums},
    {NULL, NULL},
};
