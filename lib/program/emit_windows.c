/* Programs as C, windows: convolutions and reductions over the elements under a window. Loops over places, then over
 * what is under the window there; see lam__window_axis for where that is. See emit_writer.h. Of a convolution of 8
 * elements with a window of 3 and one zero at either end:
 *     for (int64_t i2 = 0; i2 < 8; i2++) {
 *         double s = 0;
 *         for (int64_t i4 = 0; i4 < 3; i4++) {
 *             const int64_t p4 = i2 * 1 + i4 * 1 - 1;
 *             if (p4 < 0) continue;
 *             if (p4 >= 8) continue;
 *             const int64_t i5 = p4 / 1;
 *             s += in0[i5] * in1[i4];
 *         }
 *         out0[i2] = s;
 *     } */
#include "lib/program/emit_writer.h"

#include "lib/primitives/params.h"
#include "lib/primitives/rows.h"
#include "lib/tensor/dtype.h"

#define ARGUMENTS                                                                                                      \
    lam__emit *e, const lam__equation *q, const lam__emit_place *const in[], const lam__emit_place *const out[]

/* The loops over one window axis: place `t` of the result (-1: 0), place `k` of the window and element `at` of this
 * axis of x are called so. Always one loop, which passes over what is beside x or between its elements. An element that
 * is the same everywhere is not told by `at`. p is where the element lies in x with its gaps, where only every gap-th
 * place has one. */
static void open_window(lam__emit *e, const lam__window_axis *a, const lam__emit_place *x, int axis, int t, int k,
                        int at) {
    const int64_t size = x->dims[axis];
    char place[24] = "0";
    if (a->out != 1) snprintf(place, sizeof place, "i%d", t);
    lam__emit_line(e, "for (int64_t i%d = 0; i%d < %lld; i%d++) {", k, k, (long long)a->window, k);
    e->depth++;
    lam__emit_line(e, "const int64_t p%d = %s * %lld + i%d * %lld - %lld;", k, place, (long long)a->stride, k,
                   (long long)a->spread, (long long)a->low);
    if (a->gap == 1) lam__emit_line(e, "if (p%d < 0) continue;", k);
    else lam__emit_line(e, "if (p%d < 0 || p%d %% %lld != 0) continue;", k, k, (long long)a->gap);
    lam__emit_line(e, "if (p%d >= %lld) continue;", k, (long long)(size * a->gap));
    lam__emit_line(e, "const int64_t i%d = p%d / %lld;", at, k, (long long)a->gap);
    if (size == 1 || !x->strides[axis]) lam__emit_line(e, "(void)i%d;", at);
}

/* x[groups, n, c, ...] w[groups, o, c, window...] -> out[groups, n, o, places...], groups only where there are.
 * Indices: axes of the result by number, c for the features, then places of the window and elements of x, an axis
 * each. Sums are plain, in the order of features and places: not blocked, as windows are short. */
static const char *write_conv_general(ARGUMENTS) {
    const lam__conv_params *p = q->params;
    const int rank = out[0]->rank, front = p->front, c = rank;
    int x_names[LAM_INNER_RANK], w_names[LAM_INNER_RANK];
    char x[LAM__EMIT_TEXT], w[LAM__EMIT_TEXT], result[LAM__EMIT_TEXT];
    const bool whole = !lam__dtype_is_inexact(out[0]->dtype), floats = lam__dtype_is_float(out[0]->dtype);
    const char *arguments[LAM__EMIT_ARGUMENTS] = {"", x, w};
    for (int i = 0; i < front; i++) x_names[i] = w_names[i] = i;
    x_names[front - 1] = w_names[front - 1] = c;
    w_names[front - 2] = front - 1;
    for (int i = 0; i < p->rank; i++) {
        w_names[front + i] = c + 1 + i;
        x_names[front + i] = c + 1 + p->rank + i;
    }
    lam__emit_value(e, in[0], x_names, x);
    lam__emit_value(e, in[1], w_names, w);
    lam__emit_at(e, out[0], NULL, result);
    const int loops = lam__emit_loops(e, rank, out[0]->dims, NULL);
    lam__emit_line(e, "%s s = 0;", lam__emit_type(out[0]->dtype));
    const int features = lam__emit_loops(e, 1, &in[0]->dims[front - 1], &c);
    for (int i = 0; i < p->rank; i++)
        open_window(e, &p->at[i], in[0], front + i, front + i, c + 1 + i, c + 1 + p->rank + i);
    lam__emit_statement(e,
                        whole    ? "s = ($T)(($U)s + ($U)$1 * ($U)$2);"
                        : floats ? "s += $1 * $2;"
                                 : "s += @mul($1, $2);",
                        out[0]->dtype, arguments);
    lam__emit_close(e, features + p->rank);
    lam__emit_line(e, "%s = s;", result);
    lam__emit_close(e, loops);
    return NULL;
}

/* Opens the loops over the windows' elements, of which x_names are to be named. */
static void open_windows(lam__emit *e, const lam__window_params *p, const lam__emit_place *x, int x_names[]) {
    for (int i = 0; i < p->lead; i++) x_names[i] = i;
    for (int i = 0; i < p->rank; i++) {
        x_names[p->lead + i] = x->rank + p->rank + i;
        open_window(e, &p->at[i], x, p->lead + i, p->lead + i, x->rank + i, x_names[p->lead + i]);
    }
}

/* What lies outside of x takes no part, which is what a padding by the start of the join would do. */
static const char *slide(lam__emit *e, const lam__equation *q, const lam__emit_place *x, const lam__emit_place *out,
                         lam__emit_join join) {
    const char *text = lam__emit_joining(join, out->dtype);
    int names[LAM_INNER_RANK];
    char element[LAM__EMIT_TEXT], result[LAM__EMIT_TEXT];
    const char *arguments[LAM__EMIT_ARGUMENTS] = {"", "s", element};
    const lam__window_params *p = q->params;
    if (!text) return "has no form in C for this dtype";
    lam__emit_at(e, out, NULL, result);
    const int loops = lam__emit_loops(e, out->rank, out->dims, NULL);
    lam__emit_line(e, "%s s = %s;", lam__emit_type(out->dtype), lam__emit_start(join, out->dtype));
    open_windows(e, p, x, names);
    lam__emit_value(e, x, names, element);
    lam__emit_statement(e, text, out->dtype, arguments);
    lam__emit_close(e, p->rank);
    lam__emit_line(e, "%s = s;", result);
    lam__emit_close(e, loops);
    return NULL;
}

static const char *write_window_sum(ARGUMENTS) {
    return slide(e, q, in[0], out[0], LAM__EMIT_SUM);
}

static const char *write_window_max(ARGUMENTS) {
    return slide(e, q, in[0], out[0], LAM__EMIT_MOST);
}

static const char *write_window_min(ARGUMENTS) {
    return slide(e, q, in[0], out[0], LAM__EMIT_LEAST);
}

/* The position of the first that is beyond all others, among all elements of the axes; their number where there is none
 * under the window. The number stands for no element as long as nothing has been met, so NaN at the first place is
 * taken too. */
static const char *write_window_first(ARGUMENTS) {
    const lam__window_params *p = q->params;
    const lam__emit_place *x = in[0];
    const bool floats = lam__dtype_is_float(x->dtype);
    int names[LAM_INNER_RANK];
    int64_t count = 1;
    char element[LAM__EMIT_TEXT], result[LAM__EMIT_TEXT];
    if (lam__dtype_is_inexact(x->dtype) && !floats) return "has no form in C for this dtype";
    for (int i = 0; i < p->rank; i++) count *= x->dims[p->lead + i];
    lam__emit_at(e, out[0], NULL, result);
    const int loops = lam__emit_loops(e, out[0]->rank, out[0]->dims, NULL);
    lam__emit_line(e, "int64_t best = %lld;", (long long)count);
    lam__emit_line(e, "%s top = 0;", lam__emit_type(x->dtype));
    open_windows(e, p, x, names);
    lam__emit_value(e, x, names, element);
    lam__emit_line(e, "const %s y = %s;", lam__emit_type(x->dtype), element);
    lam__emit_line(e, "if (best != %lld && !(y %s top%s)) continue;", (long long)count,
                   q->primitive == &lam__row_reduce_window_argmax ? ">" : "<",
                   floats ? " || (y != y && top == top)" : "");
    lam__emit_line(e, "top = y;");
    lam__emit_indent(e);
    lam__emit_put(e, "best = ");
    for (int i = 0; i < p->rank; i++) {
        count /= x->dims[p->lead + i] ? x->dims[p->lead + i] : 1;
        lam__emit_put(e, "%si%d * %lld", i ? " + " : "", names[p->lead + i], (long long)count);
    }
    lam__emit_put(e, p->rank ? ";\n" : "0;\n");
    lam__emit_close(e, p->rank);
    lam__emit_line(e, "%s = best;", result);
    lam__emit_close(e, loops);
    return NULL;
}

const lam__emit_row lam__emit_windows[] = {
    {&lam__row_conv_general, write_conv_general},
    {&lam__row_reduce_window_sum, write_window_sum},
    {&lam__row_reduce_window_max, write_window_max},
    {&lam__row_reduce_window_min, write_window_min},
    {&lam__row_reduce_window_argmax, write_window_first},
    {&lam__row_reduce_window_argmin, write_window_first},
    {NULL, NULL},
};
