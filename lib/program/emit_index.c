/* Programs as C, operations by index: taking, scattering, orders. An index that lies outside and is an error elsewhere
 * is clipped here. See emit_writer.h. Of take(x, index) along the first axis, x of dims [5, 3] and index of [2]:
 *     for (int64_t i0 = 0; i0 < 2; i0++) {
 *         int64_t i2 = in1[i0];
 *         if (i2 < 0) i2 += 5;
 *         i2 = i2 < 0 ? 0 : i2 >= 5 ? 4 : i2;
 *         for (int64_t i1 = 0; i1 < 3; i1++) {
 *             out0[i0 * 3 + i1] = in0[i2 * 3 + i1];
 *         }
 *     } */
#include "lib/program/emit_writer.h"

#include "lib/primitives/index.h"
#include "lib/primitives/params.h"
#include "lib/primitives/rows.h"
#include "lib/tensor/dtype.h"

#define ARGUMENTS                                                                                                      \
    lam__emit *e, const lam__equation *q, const lam__emit_place *const in[], const lam__emit_place *const out[]

/* NOTE [geometry] of index.h as loops: which axis of what is taken goes along with each axis of x and of the indices;
 * the axis of x that is indexed has a name of its own. clip: an index that lies outside is brought to an end; otherwise
 * it takes or puts nothing. */
typedef struct geometry {
    int x[LAM_INNER_RANK], index[LAM_INNER_RANK];
    int lead; /* axes of what is taken up to the last one of the indices */
    int name; /* of the index */
    int64_t n;
    bool clip;
} geometry;

/* Indices go along with axes of `taken` by the axis' number there, those of x behind the indexed one by as many more as
 * the indices have. The indexed axis is the only one of x that does not go along with one of `taken`. */
static geometry geometry_of(const lam__equation *q, const lam__emit_place *x, const lam__emit_place *indices,
                            const lam__emit_place *taken) {
    const lam__index_params *p = q->params;
    const int more = indices->rank - p->batch;
    geometry g = {.lead = p->axis + more, .name = taken->rank, .n = x->dims[p->axis]};
    g.clip = p->mode == LAM__INDEX_ERROR || p->mode == LAM__INDEX_CLIP;
    for (int i = 0; i < x->rank; i++) g.x[i] = i < p->axis ? i : i - 1 + more;
    g.x[p->axis] = g.name;
    for (int i = 0; i < indices->rank; i++) g.index[i] = i < p->batch ? i : p->axis + i - p->batch;
    return g;
}

/* The loops up to the index, which is worked out there; gives how many. Clipping takes the end in any mode but DROP and
 * FILL: code in C has nobody to tell that an index is wrong, but it must not read beyond memory. */
static int open_index(lam__emit *e, const geometry *g, const lam__emit_place *indices, const lam__emit_place *taken) {
    char index[LAM__EMIT_TEXT];
    const int loops = lam__emit_loops(e, g->lead, taken->dims, NULL);
    lam__emit_value(e, indices, g->index, index);
    lam__emit_line(e, "int64_t i%d = %s;", g->name, index);
    lam__emit_line(e, "if (i%d < 0) i%d += %lld;", g->name, g->name, (long long)g->n);
    if (g->clip)
        lam__emit_line(e, "i%d = i%d < 0 ? 0 : i%d >= %lld ? %lld : i%d;", g->name, g->name, g->name, (long long)g->n,
                       (long long)(g->n ? g->n - 1 : 0), g->name);
    return loops;
}

/* The loops over axes behind those of the indices, all at one index. They keep their numbers, which begin behind those
 * of the first loops. */
static int rest_of(lam__emit *e, const geometry *g, const lam__emit_place *taken) {
    int names[LAM_INNER_RANK];
    for (int i = 0; i < taken->rank; i++) names[i] = i;
    return lam__emit_loops(e, taken->rank - g->lead, taken->dims + g->lead, names + g->lead);
}

/* Where an index that lies outside gives 0, and where there is nothing to take from, that is written. An axis without
 * elements has no element to be clipped to, so 0 is written, as where nothing is found. */
static const char *write_take(ARGUMENTS) {
    const geometry g = geometry_of(q, in[0], in[1], out[0]);
    char element[LAM__EMIT_TEXT], result[LAM__EMIT_TEXT];
    const int loops = open_index(e, &g, in[1], out[0]), rest = rest_of(e, &g, out[0]);
    lam__emit_at(e, out[0], NULL, result);
    if (g.n) lam__emit_value(e, in[0], g.x, element);
    else snprintf(element, sizeof element, "0");
    if (g.clip || !g.n) lam__emit_line(e, "%s = %s;", result, element);
    else lam__emit_line(e, "%s = i%d >= 0 && i%d < %lld ? %s : 0;", result, g.name, g.name, (long long)g.n, element);
    lam__emit_close(e, loops + rest);
    return NULL;
}

/* The base, then the updates in their order; what lies outside is left out. Several updates of one place are done one
 * after the other, so sums are in the order of the indices. Even a clipped index is compared: there may be no place at
 * all. */
static const char *scatter(lam__emit *e, const lam__equation *q, const lam__emit_place *const in[],
                           const lam__emit_place *out, const char *text) {
    const geometry g = geometry_of(q, in[0], in[1], in[2]);
    char update[LAM__EMIT_TEXT], result[LAM__EMIT_TEXT];
    const char *arguments[LAM__EMIT_ARGUMENTS] = {"", result, update};
    if (!text) return "has no form in C for this dtype";
    if (in[0]->count) lam__emit_copy(e, in[0], out);
    const lam__emit_sink sink = lam__emit_hush(e, in[2]->count == 0 || out->count == 0);
    const int loops = open_index(e, &g, in[1], in[2]);
    lam__emit_line(e, "if (i%d >= 0 && i%d < %lld) {", g.name, g.name, (long long)g.n);
    e->depth++;
    const int rest = rest_of(e, &g, in[2]);
    lam__emit_value(e, in[2], NULL, update);
    lam__emit_at(e, out, g.x, result);
    lam__emit_statement(e, text, out->dtype, arguments);
    lam__emit_close(e, loops + rest + 1);
    lam__emit_speak(e, sink);
    return NULL;
}

static const char *write_scatter_add(ARGUMENTS) {
    return scatter(e, q, in, out[0], lam__emit_joining(LAM__EMIT_SUM, out[0]->dtype));
}

static const char *write_scatter_mul(ARGUMENTS) {
    return scatter(e, q, in, out[0], lam__emit_joining(LAM__EMIT_PROD, out[0]->dtype));
}

static const char *write_scatter_min(ARGUMENTS) {
    return scatter(e, q, in, out[0], lam__emit_joining(LAM__EMIT_LEAST, out[0]->dtype));
}

static const char *write_scatter_max(ARGUMENTS) {
    return scatter(e, q, in, out[0], lam__emit_joining(LAM__EMIT_MOST, out[0]->dtype));
}

static const char *write_put(ARGUMENTS) {
    return scatter(e, q, in, out[0], "$1 = $2;");
}

/* For each place of the last axis which index names it last, or -1. Later indices write over earlier ones. The loop
 * over indices has a name of its own, k, since the last axis is named by what is found. */
static const char *write_index_inverse(ARGUMENTS) {
    const lam__inverse_params *p = q->params;
    const int last = out[0]->rank - 1, k = out[0]->rank;
    int names[LAM_INNER_RANK];
    char index[LAM__EMIT_TEXT], result[LAM__EMIT_TEXT];
    for (int i = 0; i < last; i++) names[i] = i;
    names[last] = k;
    lam__emit_value(e, in[0], names, index);
    lam__emit_at(e, out[0], NULL, result);
    int loops = lam__emit_loops(e, out[0]->rank, out[0]->dims, NULL);
    lam__emit_line(e, "%s = -1;", result);
    lam__emit_close(e, loops);
    loops = lam__emit_loops(e, last, out[0]->dims, NULL);
    lam__emit_line(e, "for (int64_t i%d = 0; i%d < %lld; i%d++) {", k, k, (long long)in[0]->dims[last], k);
    e->depth++;
    lam__emit_line(e, "int64_t i%d = %s;", last, index);
    lam__emit_line(e, "if (i%d < 0) i%d += %lld;", last, last, (long long)p->n);
    lam__emit_line(e, "if (i%d >= 0 && i%d < %lld) %s = i%d;", last, last, (long long)p->n, result, k);
    lam__emit_close(e, loops + 1);
    return NULL;
}

/* What counts from the end of n is made to count from the front; what lies outside of the limit is clipped. */
static const char *write_wrap_index(ARGUMENTS) {
    const lam__wrap_params *p = q->params;
    char index[LAM__EMIT_TEXT], result[LAM__EMIT_TEXT];
    const int loops = lam__emit_loops(e, in[0]->rank, in[0]->dims, NULL);
    lam__emit_value(e, in[0], NULL, index);
    lam__emit_at(e, out[0], NULL, result);
    lam__emit_line(e, "int64_t at = %s;", index);
    lam__emit_line(e, "if (at < 0) at += %lld;", (long long)p->n);
    lam__emit_line(e, "%s = at < 0 ? 0 : at >= %lld ? %lld : at;", result, (long long)p->limit,
                   (long long)(p->limit ? p->limit - 1 : 0));
    lam__emit_close(e, loops);
    return NULL;
}

/* ---- orders ------------------------------------------------------------------------------------------------------ */

/* NaN is beyond all else. Heaps sort in place, and stably where places that tie are ordered themselves. */
const lam__emit_helper lam__emit_orders[] = {
    /* An order of all floats, NaN too: by x < y alone a heap with NaN in it would be in no order at all. */
    {"less", "static int less_$S($T x, $T y) {\n    return x < y || ($N(y) && !$N(x));\n}\n"},
    /* Of ties the one that stood first is before the other, also where the largest come first. */
    {"before", "static int before_$S(const $T *x, int64_t step, int down, int64_t a, int64_t b) {\n"
               "    const $T u = x[a * step], v = x[b * step];\n"
               "    if (down ? @less(v, u) : @less(u, v)) return 1;\n"
               "    return !(down ? @less(u, v) : @less(v, u)) && a < b;\n}\n"},
    {"argsort", "/* The stable order of n elements, by a heap; `down`: from the largest on. */\n"
                "static void argsort_$S(int64_t n, const $T *x, int64_t step, int down, int64_t *order) {\n"
                "    for (int64_t i = 0; i < n; i++) order[i] = i;\n"
                "    for (int64_t end = n, start = n / 2; end > 1;) {\n"
                "        if (start > 0) {\n            start--;\n        } else {\n            end--;\n"
                "            const int64_t last = order[end];\n            order[end] = order[0];\n"
                "            order[0] = last;\n        }\n"
                "        const int64_t item = order[start];\n        int64_t at = start;\n"
                "        for (int64_t child = 2 * at + 1; child < end; child = 2 * at + 1) {\n"
                "            if (child + 1 < end && @before(x, step, down, order[child], order[child + 1])) child++;\n"
                "            if (!@before(x, step, down, item, order[child])) break;\n"
                "            order[at] = order[child];\n            at = child;\n        }\n"
                "        order[at] = item;\n    }\n}\n"},
    {"searchsorted", "/* How many of n ascending elements are before y, or up to and with it. */\n"
                     "static int64_t searchsorted_$S(int64_t n, const $T *x, int64_t step, $T y, int right) {\n"
                     "    int64_t low = 0;\n"
                     "    for (int64_t high = n; low < high;) {\n"
                     "        const int64_t at = low + (high - low) / 2;\n"
                     "        if (right ? !@less(y, x[at * step]) : @less(x[at * step], y)) low = at + 1;\n"
                     "        else high = at;\n    }\n"
                     "    return low;\n}\n"},
    {NULL, NULL},
};

/* x with one axis at its first element. Its index is then in no text: helpers are given the address and the stride. */
static lam__emit_place first_along(const lam__emit_place *x, int axis, int64_t dims[LAM_INNER_RANK]) {
    lam__emit_place first = *x;
    for (int i = 0; i < x->rank; i++) dims[i] = i == axis ? 1 : x->dims[i];
    first.dims = dims;
    return first;
}

/* The whole order is made in the workspace, since only the first so many of it may be wanted. */
static const char *write_argsort(ARGUMENTS) {
    const lam__sort_params *p = q->params;
    const lam__emit_place *x = in[0];
    const int64_t n = x->dims[p->axis];
    int64_t dims[LAM_INNER_RANK];
    char from[LAM__EMIT_TEXT], result[LAM__EMIT_TEXT], scratch[LAM__EMIT_TEXT], sizes[2][LAM__EMIT_NUMBER];
    const char *arguments[LAM__EMIT_ARGUMENTS] = {sizes[0], from, sizes[1], p->descending ? "1" : "0", "order"};
    if (lam__dtype_is_inexact(x->dtype) && !lam__dtype_is_float(x->dtype)) return "has no form in C for this dtype";
    const int64_t room = lam__emit_reserve(e, LAM_I64, n);
    if (room < 0) return NULL; /* the arena knows */
    const lam__emit_place first = first_along(x, p->axis, dims);
    lam__emit_place order = lam__emit_dense_place("w->i64", LAM_I64, 1, &out[0]->dims[p->axis]);
    order.offset = room;
    const int loops = lam__emit_loops(e, x->rank, dims, NULL);
    snprintf(sizes[0], LAM__EMIT_NUMBER, "%lld", (long long)n);
    snprintf(sizes[1], LAM__EMIT_NUMBER, "%lld", (long long)x->strides[p->axis]);
    lam__emit_address(e, &first, from);
    lam__emit_at(e, out[0], NULL, result);
    lam__emit_at(e, &order, &p->axis, scratch);
    lam__emit_line(e, "int64_t *const order = &w->i64[%lld];", (long long)room);
    lam__emit_statement(e, "@argsort($0, $1, $2, $3, $4);", x->dtype, arguments);
    const int axis = p->axis, copies = lam__emit_loops(e, 1, &out[0]->dims[axis], &axis);
    lam__emit_line(e, "%s = %s;", result, scratch);
    lam__emit_close(e, loops + copies);
    lam__emit_give_back(e, room);
    return NULL;
}

/* Along the last axis; what is in front is a batch. The sorted elements are found by their stride, so any view will do.
 * Each y looks for itself: by halves, in the logarithm of n. */
static const char *write_searchsorted(ARGUMENTS) {
    const lam__emit_place *x = in[0], *y = in[1];
    const int last = y->rank - 1;
    int64_t dims[LAM_INNER_RANK];
    char from[LAM__EMIT_TEXT], value[LAM__EMIT_TEXT], result[LAM__EMIT_TEXT], sizes[2][LAM__EMIT_NUMBER];
    const char *arguments[LAM__EMIT_ARGUMENTS] = {result,   sizes[0], from,
                                                  sizes[1], value,    *(const int32_t *)q->params ? "1" : "0"};
    if (lam__dtype_is_inexact(x->dtype) && !lam__dtype_is_float(x->dtype)) return "has no form in C for this dtype";
    const lam__emit_place first = first_along(x, last, dims);
    snprintf(sizes[0], LAM__EMIT_NUMBER, "%lld", (long long)x->dims[last]);
    snprintf(sizes[1], LAM__EMIT_NUMBER, "%lld", (long long)x->strides[last]);
    lam__emit_address(e, &first, from);
    lam__emit_value(e, y, NULL, value);
    lam__emit_at(e, out[0], NULL, result);
    const int loops = lam__emit_loops(e, y->rank, y->dims, NULL);
    lam__emit_statement(e, "$0 = @searchsorted($1, $2, $3, $4, $5);", x->dtype, arguments);
    lam__emit_close(e, loops);
    return NULL;
}

const lam__emit_row lam__emit_indices[] = {
    {&lam__row_take, write_take},
    {&lam__row_scatter_add, write_scatter_add},
    {&lam__row_scatter_mul, write_scatter_mul},
    {&lam__row_scatter_min, write_scatter_min},
    {&lam__row_scatter_max, write_scatter_max},
    {&lam__row_put, write_put},
    {&lam__row_index_inverse, write_index_inverse},
    {&lam__row_wrap_index, write_wrap_index},
    {&lam__row_argsort, write_argsort},
    {&lam__row_searchsorted, write_searchsorted},
    {NULL, NULL},
};
