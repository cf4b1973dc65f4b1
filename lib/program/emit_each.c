/* Programs as C, what is done element by element: equations that follow one another and have results of one shape are
 * one loop nest, in which values are local variables; only those that something else reads go to memory. Axes that lie
 * behind one another in all operands are one axis. See emit_writer.h. Of sin(x) (x + y), x of dims [4, 3] and y of [3]:
 *     for (int64_t i0 = 0; i0 < 4; i0++) {
 *         for (int64_t i1 = 0; i1 < 3; i1++) {
 *             const double t2 = in0[i0 * 3 + i1] + in1[i1];
 *             const double t3 = sin(in0[i0 * 3 + i1]);
 *             out0[i0 * 3 + i1] = t3 * t2;
 *         }
 *     } */
#include "lib/program/emit_writer.h"

#include "lib/primitives/reduce.h"
#include "lib/primitives/rows.h"
#include "lib/tensor/value.h"

#include <string.h>

enum { MOST_STATEMENTS = 120, MOST_OPERANDS = 3 }; /* of a loop; of an elementwise row */

/* A run of equations [first, end), some of them views, and the axes of its loops: axis i is walked by the strides of
 * the results' axis order[i]. */
typedef struct run {
    int64_t first, end;
    const lam__equation *sum; /* a reduction of a value, which is done in the same loops; NULL: none */
    int64_t behind;           /* the first equation behind all of it */
    const char *wrong;
    const lam__emit_place *like; /* a result */
    int rank, order[LAM_INNER_RANK];
    bool turned[LAM_INNER_RANK]; /* axes of a sum that are walked from their other end */
    int64_t dims[LAM_INNER_RANK];
} run;

/* The rows that are named have no loop of that kind, but do the same at each element too. */
bool lam__emit_is_each(const lam__emit *e, const lam__equation *q) {
    const lam_primitive *row = q->primitive;
    (void)e;
    return (row->elementwise && row->loop) || row == &lam__row_cast || row == &lam__row_sincos ||
           row == &lam__row_real || row == &lam__row_imag || row == &lam__row_complex;
}

/* Whether a variable is made by the run itself, or is a view of such a one. */
static bool is_inner(const lam__emit *e, int64_t first, int64_t variable) {
    return variable >= 0 && e->places[variable].root >= e->program->list[first]->first;
}

/* An equation joins if its results have the same dims and what it reads of the run is read as it was made. A view of
 * what the run makes would want elements that other trips make. */
static bool joins(const lam__emit *e, const run *r, const lam__equation *q) {
    const lam__emit_place *out = &e->places[q->first];
    if (!lam__emit_is_each(e, q) || out->rank != r->like->rank) return false;
    for (int axis = 0; axis < out->rank; axis++)
        if (out->dims[axis] != r->like->dims[axis]) return false;
    for (int i = 0; i < q->inputs; i++) {
        const int64_t v = q->in[i].variable;
        if (is_inner(e, r->first, v) && e->places[v].root != v) return false;
    }
    return true;
}

/* Views write nothing, so a run goes on across them; those at its end are left to the walk. */
static void find_end(const lam__emit *e, run *r) {
    int statements = 0;
    for (r->end = r->first; r->end < e->program->equations && statements < MOST_STATEMENTS; r->end++) {
        const lam__equation *q = e->program->list[r->end];
        if (lam__emit_is_view(e, q)) continue;
        if (!joins(e, r, q)) break;
        statements++;
    }
    while (lam__emit_is_view(e, e->program->list[r->end - 1])) r->end--;
}

/* Operands line up with the result from the last axis on. An axis that x does not have, or has once, is broadcast: its
 * stride is 0. */
static int64_t step_of(const run *r, const lam__emit_place *x, int axis) {
    const int own = axis - (r->like->rank - x->rank);
    return own < 0 || x->dims[own] == 1 ? 0 : x->strides[own];
}

/* Whether axis a, outside axis b in all operands from outside, lies behind it in each. */
static bool nests(lam__emit *e, const run *r, int a, int b) {
    for (int64_t k = r->first; k < r->end; k++) {
        const lam__equation *q = e->program->list[k];
        for (int i = 0; i < q->inputs && !lam__emit_is_view(e, q); i++) {
            if (is_inner(e, r->first, q->in[i].variable)) continue;
            const lam__emit_place *x = lam__emit_operand(e, &q->in[i]);
            if (!x || step_of(r, x, a) != step_of(r, x, b) * r->like->dims[b]) return false;
        }
    }
    return true;
}

/* From the last axis on; the innermost of those that are one says the stride. Axes are gathered from the inside out and
 * turned around at the end, so that loops are in the order of the axes. */
static void find_axes(lam__emit *e, run *r) {
    int order[LAM_INNER_RANK], n = 0;
    int64_t dims[LAM_INNER_RANK];
    for (int axis = r->like->rank - 1, outer = -1; axis >= 0; axis--) {
        const int64_t size = r->like->dims[axis];
        if (size == 1) continue;
        if (n && nests(e, r, axis, outer)) {
            dims[n - 1] *= size;
        } else {
            order[n] = axis;
            dims[n++] = size;
        }
        outer = axis;
    }
    r->rank = n;
    for (int i = 0; i < n; i++) {
        r->order[i] = order[n - 1 - i];
        r->dims[i] = dims[n - 1 - i];
    }
}

/* x as the loops of the run see it. Turned axes begin at their last element and go on by the stride's negative. */
static void name_element(lam__emit *e, const run *r, const lam__emit_place *x, char text[LAM__EMIT_TEXT]) {
    lam__emit_place seen = *x;
    seen.rank = r->rank;
    seen.dims = r->dims;
    for (int i = 0; i < r->rank; i++) {
        const int64_t step = step_of(r, x, r->order[i]);
        seen.strides[i] = r->turned[i] ? -step : step;
        if (r->turned[i]) seen.offset += (r->dims[i] - 1) * step;
    }
    lam__emit_value(e, &seen, NULL, text);
}

/* A local variable, a number, or an element of memory. */
static bool name_operand(lam__emit *e, const run *r, const lam__atom *a, char text[LAM__EMIT_TEXT]) {
    if (is_inner(e, r->first, a->variable)) {
        snprintf(text, LAM__EMIT_TEXT, "t%lld", (long long)a->variable);
        return true;
    }
    const lam__emit_place *x = lam__emit_operand(e, a);
    if (x) name_element(e, r, x, text);
    return x != NULL;
}

/* ---- statements -------------------------------------------------------------------------------------------------- */

static const char *const WAVES[] = {"sin$f($1)", "cos$f($1)"};

/* Floats saturate and NaN gives 0; to bool anything but 0 is true; integers lose high bits. NULL: complex numbers have
 * no cast to integers. $4 is the C type of the result. */
static const char *cast_of(lam_dtype from, lam_dtype to) {
    const bool floating = from == LAM_F64 || from == LAM_F32, complex_from = from == LAM_C128 || from == LAM_C64;
    if (complex_from && (to == LAM_C128 || to == LAM_C64)) return "($4)$1";
    if (complex_from && to == LAM_BOOL) return "$1 != 0";
    if (complex_from) return to == LAM_F64 || to == LAM_F32 ? "($4)creal$f($1)" : NULL;
    if (to == LAM_BOOL) return "$1 != 0";
    if (to == LAM_C128) return "CMPLX((double)$1, 0.0)";
    if (to == LAM_C64) return "CMPLXF((float)$1, 0.0f)";
    if (floating && to == LAM_I64) return "@f64:to_i64((double)$1)";
    if (floating && to == LAM_I32) return "@f64:to_i32((double)$1)";
    if (floating && to == LAM_U8) return "@f64:to_u8((double)$1)";
    return from == to ? "$1" : "($4)$1";
}

/* A row gives bool of operands of the dtype that its loop is for; a choice is of its branches. */
static lam_dtype loop_dtype(lam__emit *e, const lam__equation *q) {
    const lam__emit_place *x = lam__emit_operand(e, &q->in[q->inputs - 1]);
    return x ? x->dtype : LAM_F64;
}

/* Whether something behind the run reads it, or an equation in it. */
static bool is_stored(const lam__emit *e, const run *r, int64_t v) {
    return e->dies[v] >= r->behind;
}

/* Whether an equation of the run itself reads the variable. Runs are short, so they are looked through. */
static bool is_read(const lam__emit *e, const run *r, int64_t v) {
    for (int64_t k = r->first; k < r->behind; k++)
        for (int i = 0; i < e->program->list[k]->inputs; i++)
            if (e->program->list[k]->in[i].variable == v) return true;
    return false;
}

/* One result: a local variable where the run reads it, memory where others do. What nobody reads is not computed. */
static const char *write_result(lam__emit *e, const run *r, const char *text, lam_dtype dtype, int64_t v,
                                const char *const arguments[]) {
    char element[LAM__EMIT_TEXT];
    const bool stored = is_stored(e, r, v), read = is_read(e, r, v);
    if (!stored && !read) return NULL;
    if (stored) name_element(e, r, &e->places[v], element);
    lam__emit_indent(e);
    if (read) lam__emit_put(e, "const %s t%lld = ", lam__emit_type(e->places[v].dtype), (long long)v);
    else lam__emit_put(e, "%s = ", element);
    lam__emit_expand(e, text, dtype, arguments);
    lam__emit_put(e, ";\n");
    if (read && stored) lam__emit_line(e, "%s = t%lld;", element, (long long)v);
    return NULL;
}

/* The expression of an equation of one result, of what dtype it is spelled, and what it needs beside its operands. Of
 * bytes any comparison is hidden, and of wider ones that of a thing with itself: compilers see both through. */
static const char *text_of(lam__emit *e, const lam__equation *q, lam_dtype *dtype, const char *arguments[],
                           char parameters[3][LAM__EMIT_NUMBER]) {
    const bool byte = *dtype == LAM_U8 || *dtype == LAM_BOOL, whole = byte || *dtype == LAM_I64 || *dtype == LAM_I32;
    const lam_dtype to = e->places[q->first].dtype;
    if (q->primitive == &lam__row_real) return "creal$f($1)";
    if (q->primitive == &lam__row_imag) return "cimag$f($1)";
    if (q->primitive == &lam__row_complex) {
        *dtype = to;
        return "@join($1, $2)";
    }
    const char *comparison = whole ? lam__emit_comparison(q) : NULL;
    if (comparison && (byte || strcmp(arguments[1], arguments[2]) == 0)) return comparison;
    if (q->primitive != &lam__row_cast) return lam__emit_expression(q, *dtype, parameters);
    arguments[4] = lam__emit_type(to);
    return cast_of(*dtype, to);
}

/* Two results of one operand. If the first is written over that (inherit), it comes last. */
static void write_waves(lam__emit *e, const run *r, const lam__equation *q, lam_dtype dtype,
                        const char *const arguments[]) {
    const int64_t u = q->in[0].variable, root = u >= 0 ? e->places[u].root : -1;
    const bool over = root >= 0 && e->heir[root] == q->first;
    for (int i = 0; i < 2; i++) {
        const int o = over ? 1 - i : i;
        write_result(e, r, WAVES[o], dtype, q->first + o, arguments);
    }
}

/* One equation of the run: $1 to $3 are its operands, $4 to $6 its parameters. NULL, or why it has no form. */
static const char *write_equation(lam__emit *e, const run *r, const lam__equation *q) {
    char names[MOST_OPERANDS][LAM__EMIT_TEXT], parameters[3][LAM__EMIT_NUMBER] = {"", "", ""};
    const char *arguments[LAM__EMIT_ARGUMENTS] = {
        "", names[0], names[1], names[2], parameters[0], parameters[1], parameters[2], "", "", ""};
    lam_dtype dtype = loop_dtype(e, q);
    e->current = q;
    for (int i = 0; i < q->inputs; i++)
        if (!name_operand(e, r, &q->in[i], names[i])) return NULL;
    if (q->primitive == &lam__row_sincos) {
        write_waves(e, r, q, dtype, arguments);
        return NULL;
    }
    const char *text = text_of(e, q, &dtype, arguments, parameters);
    if (!text) return "has no form in C for this dtype or parameter";
    return write_result(e, r, text, dtype, q->first, arguments);
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

/* Whether equation q reads memory of `root`, and reads it as it lies, element for element. */
static bool reads(const lam__emit *e, const lam__equation *q, int64_t root) {
    for (int i = 0; i < q->inputs; i++)
        if (q->in[i].variable >= 0 && e->places[q->in[i].variable].root == root) return true;
    return false;
}

/* Then an element is read in the trip that writes over it, and in no later one. */
static bool reads_in_place(const lam__emit *e, const run *r, const lam__equation *q, int64_t root) {
    int64_t dense[LAM_INNER_RANK];
    lam__emit_dense(r->like->rank, r->like->dims, dense);
    for (int i = 0; i < q->inputs; i++) {
        const lam__emit_place *x = q->in[i].variable >= 0 ? &e->places[q->in[i].variable] : NULL;
        if (!x || x->root != root) continue;
        if (x->offset || x->count != r->like->count) return false;
        for (int axis = 0; axis < r->like->rank; axis++)
            if (r->like->dims[axis] != 1 && step_of(r, x, axis) != dense[axis]) return false;
    }
    return true;
}

/* Whether result v of equation k can be written over a variable of the workspace: nobody needs that behind the run, and
 * in the run it is read as it lies, and not behind equation k. */
static bool can_replace(const lam__emit *e, const run *r, int64_t k, int64_t v, int64_t root) {
    const lam__emit_place *x = &e->places[root];
    bool fits = x->root == root && e->memory_at[root] >= 0 && e->dies[root] < r->behind && x->count == r->like->count &&
                x->dtype == e->places[v].dtype && root < e->program->list[r->first]->first;
    for (int64_t i = r->first; i < r->end && fits; i++) {
        const lam__equation *q = e->program->list[i];
        if (lam__emit_is_view(e, q)) continue;
        fits = i <= k ? reads_in_place(e, r, q, root) : !reads(e, q, root);
    }
    return fits;
}

/* Gives v the place of an operand that dies here; false: there is none. The operand is read there until the run is
 * written, and then gives nothing back (heir). One variable inherits from one other, and that has no other heir. */
static bool inherit(lam__emit *e, const run *r, int64_t k, int64_t v) {
    for (int64_t i = r->first; i <= k; i++) {
        const lam__equation *q = e->program->list[i];
        for (int n = 0; n < q->inputs; n++) {
            const int64_t u = q->in[n].variable, root = u >= 0 ? e->places[u].root : -1;
            if (root < 0 || e->heir[root] >= 0 || !can_replace(e, r, k, v, root)) continue;
            e->heir[root] = v;
            e->memory_at[v] = e->memory_at[root];
            return true;
        }
    }
    return false;
}

/* Memory for all that is stored. Before the statements, which name it. A result of the program has memory of the
 * caller's already. */
static bool take(lam__emit *e, const run *r) {
    for (int64_t k = r->first; k < r->end; k++) {
        const lam__equation *q = e->program->list[k];
        for (int64_t v = q->first; v < q->first + q->outputs; v++) {
            if (e->places[v].root != v || !is_stored(e, r, v)) continue;
            if (e->sole_result[v] < 0 && inherit(e, r, k, v)) continue;
            if (!lam__emit_take(e, v)) return false;
        }
    }
    return true;
}

/* A reduction of what the run has just made goes along, if there are elements. */
static void find_sum(const lam__emit *e, run *r) {
    r->behind = r->end;
    if (r->end == e->program->equations || !r->like->count) return;
    const lam__equation *q = e->program->list[r->end];
    if (!lam__emit_is_reduction(q)) return;
    const int64_t v = q->in[0].variable;
    if (!is_inner(e, r->first, v) || e->places[v].root != v) return;
    r->sum = q;
    r->behind = r->end + 1;
}

static void write_statements(lam__emit *e, void *env) {
    run *r = env;
    for (int64_t k = r->first; k < r->end && !r->wrong; k++)
        if (!lam__emit_is_view(e, e->program->list[k])) r->wrong = write_equation(e, r, e->program->list[k]);
}

/* Whether all that the run reads and writes of memory goes backwards along an axis, or not at all: NOTE [turned sums]
 * in emit_sums.c. A run that stores anything keeps its order, since what it writes goes forwards. */
static bool is_backwards(lam__emit *e, const run *r, int axis) {
    bool backwards = false;
    for (int64_t k = r->first; k < r->end; k++) {
        const lam__equation *q = e->program->list[k];
        if (lam__emit_is_view(e, q)) continue;
        for (int i = 0; i < q->inputs; i++) {
            if (is_inner(e, r->first, q->in[i].variable)) continue;
            const lam__emit_place *x = lam__emit_operand(e, &q->in[i]);
            if (!x || step_of(r, x, axis) > 0) return false;
            backwards = backwards || step_of(r, x, axis) < 0;
        }
        for (int o = 0; o < q->outputs; o++)
            if (is_stored(e, r, q->first + o)) return false;
    }
    return backwards;
}

/* The loops are those of the reduction, an axis each. Axes are not joined here, since those that stay and those that go
 * may alternate. */
static void write_with_sum(lam__emit *e, run *r) {
    char element[32];
    r->rank = r->like->rank;
    for (int axis = 0; axis < r->rank; axis++) {
        r->order[axis] = axis;
        r->dims[axis] = r->like->dims[axis];
        r->turned[axis] = lam__reduce_has(lam__reduce_set(r->sum->params), axis) && is_backwards(e, r, axis);
    }
    if (!lam__emit_take(e, r->sum->first)) return; /* the arena knows */
    snprintf(element, sizeof element, "t%lld", (long long)r->sum->in[0].variable);
    lam__emit_line(e, "{");
    e->depth++;
    e->inner = write_statements;
    e->inner_env = r;
    const char *wrong = lam__emit_reduce(e, r->sum, element);
    e->inner = NULL;
    lam__emit_close(e, 1);
    if (r->wrong || !wrong) return;
    r->wrong = wrong;
    e->current = r->sum;
}

/* Memory is asked for before anything is named, and the run is written hushed where it has no elements. */
const char *lam__emit_each(lam__emit *e, int64_t first, int64_t *end) {
    run r = {.first = first, .like = &e->places[e->program->list[first]->first]};
    find_end(e, &r);
    find_sum(e, &r);
    *end = r.behind;
    if (!take(e, &r)) return NULL; /* the arena knows */
    if (r.sum) {
        write_with_sum(e, &r);
        return r.wrong;
    }
    find_axes(e, &r);
    const lam__emit_sink sink = lam__emit_hush(e, r.like->count == 0);
    const int loops = lam__emit_loops(e, r.rank, r.dims, NULL);
    write_statements(e, &r);
    lam__emit_close(e, loops);
    lam__emit_speak(e, sink);
    return r.wrong;
}
