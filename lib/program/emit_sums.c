/* Programs as C, reductions and contractions: loops over the axes that stay, inside them a number and loops over those
 * that go. Long sums are sums of sums, so that errors grow slowly; their order is not that of the kernels. See
 * emit_writer.h. What makes the elements of a sum is written inside it, where nobody else reads them. Of sum(x x) along
 * the second axis:
 *     for (int64_t i0 = 0; i0 < 4; i0++) {
 *         double s = 0;
 *         for (int64_t i1 = 0; i1 < 3; i1++) {
 *             const double t1 = in0[i0 * 3 + i1] * in0[i0 * 3 + i1];
 *             s += t1;
 *         }
 *         out0[i0] = s;
 *     } */
#include "lib/program/emit_writer.h"

#include "lib/primitives/contract.h"
#include "lib/primitives/params.h"
#include "lib/primitives/reduce.h"
#include "lib/primitives/rows.h"
#include "lib/tensor/dtype.h"

/* Errors of a plain sum grow with its length, in blocks with the block and the number of blocks. */
enum { BLOCK = 128 }; /* terms of a sum that is made one by one */

/* How a number $1 takes an element $2 (a contraction: the product of $2 and $3), and what it is at first. */
typedef struct joining {
    const char *floats, *integers, *bools, *complexes;
    const char *start, *least_f, *least_i64, *least_i32; /* start NULL: the least number of the dtype */
} joining;

/* clang-format off */
static const joining
    SUM = {"$1 += $2;", "$1 = ($T)(($U)$1 + ($U)$2);", "$1 |= $2;", "$1 += $2;", "0", NULL, NULL, NULL},
    PROD = {"$1 *= $2;", "$1 = ($T)(($U)$1 * ($U)$2);", "$1 &= $2;", "$1 = @mul($1, $2);", "1", NULL, NULL, NULL},
    MOST = {"$1 = @max($1, $2);", "if ($2 > $1) $1 = $2;", "$1 |= $2;", NULL, NULL,
        "-INFINITY", "INT64_MIN", "INT32_MIN"},
    LEAST = {"$1 = @min($1, $2);", "if ($2 < $1) $1 = $2;", "$1 &= $2;", NULL, NULL,
        "INFINITY", "INT64_MAX", "INT32_MAX"},
    ANY = {"$1 |= $2 != 0;", "$1 |= $2 != 0;", "$1 |= $2;", "$1 |= $2 != 0;", "0", NULL, NULL, NULL},
    ALL = {"$1 &= $2 != 0;", "$1 &= $2 != 0;", "$1 &= $2;", "$1 &= $2 != 0;", "1", NULL, NULL, NULL},
    PRODUCTS = {"$1 += $2 * $3;", "$1 = ($T)(($U)$1 + ($U)$2 * ($U)$3);", "$1 |= $2 & $3;",
        "$1 += @mul($2, $3);", "0", NULL, NULL, NULL};
/* clang-format on */

/* Bytes go with the integers; a bool has texts of its own where adding means or. */
static const char *text_of(const joining *j, lam_dtype dtype) {
    if (lam__dtype_is_float(dtype)) return j->floats;
    if (dtype == LAM_C128 || dtype == LAM_C64) return j->complexes;
    return dtype == LAM_BOOL && j->bools ? j->bools : j->integers;
}

/* Of the largest of bytes and bools 0, of the least 255 and 1. Infinities give way to any number, and so do the ends of
 * integers. */
static const char *start_of(const joining *j, lam_dtype dtype) {
    if (j->start) return j->start;
    const bool most = j == &MOST;
    if (lam__dtype_is_float(dtype)) return j->least_f;
    if (dtype == LAM_I64) return j->least_i64;
    if (dtype == LAM_I32) return j->least_i32;
    return most ? "0" : dtype == LAM_BOOL ? "1" : "255";
}

static const joining *const joinings[] = {
    [LAM__EMIT_SUM] = &SUM, [LAM__EMIT_PROD] = &PROD, [LAM__EMIT_MOST] = &MOST, [LAM__EMIT_LEAST] = &LEAST};

const char *lam__emit_joining(lam__emit_join join, lam_dtype dtype) {
    return text_of(joinings[join], dtype);
}

const char *lam__emit_start(lam__emit_join join, lam_dtype dtype) {
    return start_of(joinings[join], dtype);
}

/* Axes of a loop nest, and what their indices are called. Twice the rank: a contraction has axes of both sides. */
typedef struct axes {
    int count, names[2 * LAM_INNER_RANK];
    int64_t dims[2 * LAM_INNER_RANK];
} axes;

static void add_axis(axes *a, int name, int64_t size) {
    a->names[a->count] = name;
    a->dims[a->count++] = size;
}

/* What makes the element, where a run does. It stands before the statement that takes it, inside of all loops. */
static void write_inner(lam__emit *e) {
    if (e->inner) e->inner(e, e->inner_env);
}

/* The last axis of `gone` in blocks whose sums are added; others are as they are. */
static void write_blocks(lam__emit *e, const axes *gone, const char *text, lam_dtype dtype,
                         const char *const arguments[]) {
    const int last = gone->count - 1, name = gone->names[last];
    const long long size = gone->dims[last];
    const char *part[LAM__EMIT_ARGUMENTS] = {NULL};
    for (int i = 0; i < LAM__EMIT_ARGUMENTS; i++) part[i] = arguments[i];
    part[1] = "part";
    const int loops = lam__emit_loops(e, last, gone->dims, gone->names);
    if (size > BLOCK) {
        lam__emit_line(e, "for (int64_t b = 0; b < %lld; b += %d) {", size, BLOCK);
        e->depth++;
        lam__emit_line(e, "const int64_t end = b < %lld ? b + %d : %lld;", size - BLOCK, BLOCK, size);
    }
    lam__emit_line(e, "%s part = 0;", lam__emit_type(dtype));
    if (size > BLOCK) lam__emit_line(e, "for (int64_t i%d = b; i%d < end; i%d++) {", name, name, name);
    else lam__emit_line(e, "for (int64_t i%d = 0; i%d < %lld; i%d++) {", name, name, size, name);
    e->depth++;
    write_inner(e);
    lam__emit_statement(e, text, dtype, part);
    lam__emit_close(e, 1);
    lam__emit_line(e, "s += part;");
    lam__emit_close(e, loops + (size > BLOCK));
}

/* Elements of a result. */
static int64_t terms_of(const axes *gone) {
    int64_t terms = 1;
    for (int i = 0; i < gone->count; i++) terms *= gone->dims[i];
    return terms;
}

/* The loops over what goes, around the statement. Only sums of reals are made in blocks: whole numbers are exact in any
 * order, and extremes have no errors. */
static void write_terms(lam__emit *e, const joining *j, const axes *gone, const char *text, lam_dtype dtype,
                        const char *const arguments[]) {
    if ((j == &SUM || j == &PRODUCTS) && lam__dtype_is_float(dtype) && terms_of(gone) > BLOCK &&
        gone->dims[gone->count - 1] > 1) {
        write_blocks(e, gone, text, dtype, arguments);
        return;
    }
    const int loops = lam__emit_loops(e, gone->count, gone->dims, gone->names);
    const bool block = e->inner && !loops; /* for its variables */
    if (block) lam__emit_line(e, "{");
    e->depth += block;
    write_inner(e);
    lam__emit_statement(e, text, dtype, arguments);
    lam__emit_close(e, loops + block);
}

/* What a sum is made in: that of small integers whose mean is wanted is exact. An i64 could overflow in the sum of i64,
 * so their mean is summed in f64. */
static lam_dtype summed_in(const lam__equation *q, lam_dtype from, lam_dtype to) {
    const bool exact = q->primitive == &lam__row_mean && !lam__dtype_is_inexact(from) && from != LAM_I64;
    return exact ? LAM_I64 : to;
}

/* The sum becomes the mean of n. The count is a number with a point, so that the quotient of an exact sum is no
 * integer. */
static void write_share(lam__emit *e, const char *result, lam_dtype sum, lam_dtype dtype, int64_t n) {
    const char *single = lam__dtype_part(dtype) == LAM_F32 ? "f" : "";
    lam__emit_line(e, "%s = %ss / %lld.0%s;", result, sum == dtype ? "" : "(double)", (long long)n, single);
}

/* NOTE [turned sums]
 * A sum over an axis that is seen from its other end goes along memory all the same: its order is nobody's business,
 * and gcc 12 at -O2 makes nonsense of `s += x[1 + 2 * i0 - i1]` in loops of two trips. */
static lam__emit_place along_memory(const lam__emit_place *x, const axes *gone) {
    lam__emit_place seen = *x;
    for (int i = 0; i < gone->count && x->count; i++) {
        const int axis = gone->names[i];
        if (x->strides[axis] >= 0) continue;
        seen.offset += (x->dims[axis] - 1) * x->strides[axis];
        seen.strides[axis] = -x->strides[axis];
    }
    return seen;
}

/* given: what an element is called, where it has a name. What any and all take is a truth of x, so the statement is for
 * x's dtype and the number for the result's. */
static const char *reduce_given(lam__emit *e, const lam__equation *q, const lam__emit_place *x,
                                const lam__emit_place *out, const joining *j, const char *given) {
    axes kept = {0}, gone = {0};
    char element[LAM__EMIT_TEXT], result[LAM__EMIT_TEXT], rounded[LAM__EMIT_TEXT + 16];
    const bool mean = q->primitive == &lam__row_mean;
    const lam_dtype sum = summed_in(q, x->dtype, out->dtype), dtype = j == &ANY || j == &ALL ? x->dtype : sum;
    const char *text = text_of(j, dtype), *arguments[LAM__EMIT_ARGUMENTS] = {"", "s", element};
    if (!text) return "has no form in C for this dtype";
    for (int axis = 0; axis < x->rank; axis++)
        add_axis(lam__reduce_has(lam__reduce_set(q->params), axis) ? &gone : &kept, axis, x->dims[axis]);
    const lam__emit_place seen = along_memory(x, &gone);
    const int loops = lam__emit_loops(e, kept.count, kept.dims, kept.names);
    if (given) snprintf(element, sizeof element, "%s", given);
    else lam__emit_value(e, &seen, NULL, element);
    if (mean && x->dtype == LAM_I64) snprintf(rounded, sizeof rounded, "(double)(%s)", element), arguments[2] = rounded;
    lam__emit_at(e, out, kept.names, result);
    lam__emit_line(e, "%s s = %s;", lam__emit_type(sum), start_of(j, sum));
    write_terms(e, j, &gone, text, dtype, arguments);
    if (mean) write_share(e, result, sum, out->dtype, terms_of(&gone));
    else lam__emit_line(e, "%s = s;", result);
    lam__emit_close(e, loops);
    return NULL;
}

static const char *reduce(lam__emit *e, const lam__equation *q, const lam__emit_place *x, const lam__emit_place *out,
                          const joining *j) {
    return reduce_given(e, q, x, out, j, NULL);
}

/* A mean is a sum until the end. */
static const joining *joining_of(const lam_primitive *row) {
    return row == &lam__row_sum || row == &lam__row_mean ? &SUM
           : row == &lam__row_prod                       ? &PROD
           : row == &lam__row_max_reduce                 ? &MOST
           : row == &lam__row_min_reduce                 ? &LEAST
           : row == &lam__row_any                        ? &ANY
           : row == &lam__row_all                        ? &ALL
                                                         : NULL;
}

bool lam__emit_is_reduction(const lam__equation *q) {
    return joining_of(q->primitive) != NULL;
}

const char *lam__emit_reduce(lam__emit *e, const lam__equation *q, const char *element) {
    const lam__emit_place *x = lam__emit_operand(e, &q->in[0]);
    return reduce_given(e, q, x, &e->places[q->first], joining_of(q->primitive), element);
}

/* One line per row. */
/* clang-format off */
#define ARGUMENTS \
    lam__emit *e, const lam__equation *q, const lam__emit_place *const in[], const lam__emit_place *const out[]
static const char *write_sum(ARGUMENTS) { return reduce(e, q, in[0], out[0], &SUM); }
static const char *write_prod(ARGUMENTS) { return reduce(e, q, in[0], out[0], &PROD); }
static const char *write_max(ARGUMENTS) { return reduce(e, q, in[0], out[0], &MOST); }
static const char *write_min(ARGUMENTS) { return reduce(e, q, in[0], out[0], &LEAST); }
static const char *write_any(ARGUMENTS) { return reduce(e, q, in[0], out[0], &ANY); }
static const char *write_all(ARGUMENTS) { return reduce(e, q, in[0], out[0], &ALL); }
/* clang-format on */

/* The first that is beyond all others. NaN is beyond all numbers: it takes the place of one, and nothing takes its
 * place. */
static const char *write_first(lam__emit *e, const lam__equation *q, const lam__emit_place *x,
                               const lam__emit_place *out, const char *compare) {
    const int axis = *(const int32_t *)q->params;
    axes kept = {0};
    char element[LAM__EMIT_TEXT], result[LAM__EMIT_TEXT];
    if (lam__dtype_is_inexact(x->dtype) && !lam__dtype_is_float(x->dtype)) return "has no form in C for this dtype";
    for (int i = 0; i < x->rank; i++)
        if (i != axis) add_axis(&kept, i, x->dims[i]);
    const int loops = lam__emit_loops(e, kept.count, kept.dims, kept.names);
    lam__emit_at(e, x, NULL, element);
    lam__emit_at(e, out, kept.names, result);
    lam__emit_line(e, "int64_t best = 0;");
    lam__emit_line(e, "%s top = 0;", lam__emit_type(x->dtype));
    lam__emit_line(e, "for (int64_t i%d = 0; i%d < %lld; i%d++) {", axis, axis, (long long)x->dims[axis], axis);
    e->depth++;
    lam__emit_line(e, "const %s y = %s;", lam__emit_type(x->dtype), element);
    lam__emit_line(e, "if (i%d > 0 && !(y %s top%s)) continue;", axis, compare,
                   lam__dtype_is_float(x->dtype) ? " || (y != y && top == top)" : "");
    lam__emit_line(e, "best = i%d;", axis);
    lam__emit_line(e, "top = y;");
    lam__emit_close(e, 1);
    lam__emit_line(e, "%s = best;", result);
    lam__emit_close(e, loops);
    return NULL;
}

static const char *write_argmax(ARGUMENTS) {
    return write_first(e, q, in[0], out[0], ">");
}

static const char *write_argmin(ARGUMENTS) {
    return write_first(e, q, in[0], out[0], "<");
}

/* ---- along an axis ----------------------------------------------------------------------------------------------- */

/* The place seen from the other end of an axis. Of no elements the offset would lie outside. */
static lam__emit_place turned(const lam__emit_place *x, int axis, bool turn) {
    lam__emit_place seen = *x;
    if (!turn || !x->count) return seen;
    seen.offset += (x->dims[axis] - 1) * x->strides[axis];
    seen.strides[axis] = -x->strides[axis];
    return seen;
}

/* A number $1 that takes each element $2 ($3) on the way, and is written down; the axis is walked innermost. Operands
 * and result are turned together, so the loop goes up in any case. NOTE [turned sums] is for loops whose order is free;
 * here it is not. */
static const char *cumulate(lam__emit *e, const lam__equation *q, const lam__emit_place *const in[],
                            const lam__emit_place *out, const char *text, const char *start) {
    const lam__scan_params *p = q->params;
    axes others = {0}, along = {0};
    char elements[2][LAM__EMIT_TEXT] = {"", ""}, result[LAM__EMIT_TEXT];
    const char *arguments[LAM__EMIT_ARGUMENTS] = {"", "s", elements[0], elements[1]};
    if (!text) return "has no form in C for this dtype";
    for (int axis = 0; axis < out->rank; axis++) add_axis(axis == p->axis ? &along : &others, axis, out->dims[axis]);
    for (int i = 0; i < q->inputs; i++) {
        const lam__emit_place x = turned(in[i], p->axis, p->reverse);
        lam__emit_value(e, &x, NULL, elements[i]);
    }
    const lam__emit_place to = turned(out, p->axis, p->reverse);
    lam__emit_at(e, &to, NULL, result);
    int loops = lam__emit_loops(e, others.count, others.dims, others.names);
    lam__emit_line(e, "%s s = %s;", lam__emit_type(out->dtype), start);
    loops += lam__emit_loops(e, along.count, along.dims, along.names);
    lam__emit_statement(e, text, out->dtype, arguments);
    lam__emit_line(e, "%s = s;", result);
    lam__emit_close(e, loops);
    return NULL;
}

static const char *cumulate_by(lam__emit *e, const lam__equation *q, const lam__emit_place *const in[],
                               const lam__emit_place *out, const joining *j) {
    return cumulate(e, q, in, out, text_of(j, out->dtype), start_of(j, out->dtype));
}

/* Of equal ones the last, as in the kernels, whose zeros have its sign. */
static const char *cumulate_extreme(lam__emit *e, const lam__equation *q, const lam__emit_place *const in[],
                                    const lam__emit_place *out, bool most) {
    const joining *j = most ? &MOST : &LEAST;
    const char *last = most ? "if ($2 >= $1 || $2 != $2) $1 = $2;" : "if ($2 <= $1 || $2 != $2) $1 = $2;";
    const char *text = lam__dtype_is_float(out->dtype) ? last : text_of(j, out->dtype);
    return cumulate(e, q, in, out, text, start_of(j, out->dtype));
}

/* One line per row. */
/* clang-format off */
static const char *write_cumsum(ARGUMENTS) { return cumulate_by(e, q, in, out[0], &SUM); }
static const char *write_cumprod(ARGUMENTS) { return cumulate_by(e, q, in, out[0], &PROD); }
static const char *write_cummax(ARGUMENTS) { return cumulate_extreme(e, q, in, out[0], true); }
static const char *write_cummin(ARGUMENTS) { return cumulate_extreme(e, q, in, out[0], false); }
/* clang-format on */

/* -inf is the logarithm of no terms. */
static const char *write_cumlogsumexp(ARGUMENTS) {
    return cumulate(e, q, in, out[0], "s = @logaddexp(s, $2);", "-INFINITY");
}

/* The first factor has no say, whatever it is. Where there is no other, it is named all the same: it may be all that
 * reads an argument. */
static const char *write_linear_recurrence(ARGUMENTS) {
    const lam__scan_params *p = q->params;
    char text[64];
    const bool floats = lam__dtype_is_float(out[0]->dtype);
    const char *step = floats ? "$2 * s" : "@mul($2, s)";
    if (out[0]->dims[p->axis] == 1) snprintf(text, sizeof text, "(void)$2, s = $3;");
    else snprintf(text, sizeof text, "s = i%d ? %s + $3 : $3;", p->axis, step);
    return cumulate(e, q, in, out[0], text, "0");
}

/* ---- contractions ------------------------------------------------------------------------------------------------ */

/* Indices are called as the axes of the result are numbered, those that are summed over behind them. Axes of the batch
 * come first in the result, then those that are free of x, then of y. Long ones are blocked as sums are. */
static const char *write_dot_general(ARGUMENTS) {
    const lam__pairing *p = q->params;
    axes kept = {0}, gone = {0};
    int names[2][LAM_INNER_RANK], n = p->batch;
    char x[LAM__EMIT_TEXT], y[LAM__EMIT_TEXT], result[LAM__EMIT_TEXT];
    const char *text = text_of(&PRODUCTS, out[0]->dtype), *arguments[LAM__EMIT_ARGUMENTS] = {"", "s", x, y};
    if (!text) return "has no form in C for this dtype";
    for (int side = 0; side < 2; side++) {
        int own[LAM_INNER_RANK], free = lam__contract_free(p, side, in[side]->rank, own);
        for (int i = 0; i < lam__contract_pairs(p); i++)
            names[side][lam__contract_axes(p, side)[i]] = i < p->batch ? i : out[0]->rank + i;
        for (int i = 0; i < free; i++) names[side][own[i]] = n++;
    }
    for (int axis = 0; axis < out[0]->rank; axis++) add_axis(&kept, axis, out[0]->dims[axis]);
    for (int i = p->batch; i < lam__contract_pairs(p); i++)
        add_axis(&gone, out[0]->rank + i, in[0]->dims[lam__contract_axes(p, 0)[i]]);
    const int loops = lam__emit_loops(e, kept.count, kept.dims, kept.names);
    lam__emit_value(e, in[0], names[0], x);
    lam__emit_value(e, in[1], names[1], y);
    lam__emit_at(e, out[0], NULL, result);
    lam__emit_line(e, "%s s = 0;", lam__emit_type(out[0]->dtype));
    write_terms(e, &PRODUCTS, &gone, text, out[0]->dtype, arguments);
    lam__emit_line(e, "%s = s;", result);
    lam__emit_close(e, loops);
    return NULL;
}

const lam__emit_row lam__emit_sums[] = {
    {&lam__row_sum, write_sum},
    {&lam__row_prod, write_prod},
    {&lam__row_max_reduce, write_max},
    {&lam__row_min_reduce, write_min},
    {&lam__row_mean, write_sum},
    {&lam__row_any, write_any},
    {&lam__row_all, write_all},
    {&lam__row_argmax, write_argmax},
    {&lam__row_argmin, write_argmin},
    {&lam__row_dot_general, write_dot_general},
    {&lam__row_cumsum, write_cumsum},
    {&lam__row_cumprod, write_cumprod},
    {&lam__row_cummax, write_cummax},
    {&lam__row_cummin, write_cummin},
    {&lam__row_cumlogsumexp, write_cumlogsumexp},
    {&lam__row_linear_recurrence, write_linear_recurrence},
    {NULL, NULL},
};
