/* Programs as C, the memory: where variables lie. See emit_writer.h. Views are other strides on the memory of their
 * operand, whatever these are, since elements are found by index wherever they are read. Results are written to memory
 * of the caller's as soon as they are made where they can be. The rest is in the workspace from the equation that makes
 * it to the last one that needs it (emit_plan.c). Of y = exp(x), both[i] = y[i] reversed(y)[i]:
 *     w->f64[i0] = exp(in0[i0]);
 *     w->f64[4 + i0] = w->f64[i0] * w->f64[2 - i0];
 * where y is at 0 for as long as its view is read, and blocks begin at multiples of 16 bytes. */
#include "lib/program/emit_writer.h"

#include "lib/primitives/params.h"
#include "lib/primitives/rows.h"
#include "lib/tensor/dtype.h"
#include "lib/tensor/value.h"

#include <string.h>

/* By size, so that a struct of them has no gaps. */
const lam_dtype lam__emit_class_dtypes[LAM__EMIT_CLASSES] = {LAM_C128, LAM_F64, LAM_I64, LAM_C64,
                                                             LAM_F32,  LAM_I32, LAM_U8};

/* Bools are bytes. Dtypes without a class have been refused before (check in emit.c). */
int lam__emit_class(lam_dtype dtype) {
    const lam_dtype held = dtype == LAM_BOOL ? LAM_U8 : dtype;
    int at = 0;
    while (lam__emit_class_dtypes[at] != held) at++;
    return at;
}

/* An axis of one element has a stride too, which nobody uses. */
void lam__emit_dense(int rank, const int64_t dims[], int64_t strides[]) {
    int64_t step = 1;
    for (int axis = rank - 1; axis >= 0; axis--) {
        strides[axis] = step;
        step *= dims[axis];
    }
}

/* root -1: the memory is nobody's variable, so that lam__emit_at adds no place of its own. */
lam__emit_place lam__emit_dense_place(const char *base, lam_dtype dtype, int rank, const int64_t dims[]) {
    lam__emit_place x = {dtype, rank, dims, 1, -1, -1, 0, {0}, ""};
    for (int axis = 0; axis < rank; axis++) x.count *= dims[axis];
    lam__emit_dense(rank, dims, x.strides);
    snprintf(x.base, sizeof x.base, "%s", base);
    return x;
}

/* ---- constants --------------------------------------------------------------------------------------------------- */

/* Whether all elements are the same bytes. Bytes and not numbers, so that zeros of both signs and any NaN are told
 * apart. Of what has no strides nothing is looked at. */
static bool is_uniform(const lam_value *v) {
    const size_t item = lam__dtype_bytes(v->dtype);
    int64_t at[LAM_INNER_RANK] = {0}, where = 0, moving = 0;
    for (int axis = 0; axis < v->rank; axis++) moving += v->dims[axis] > 1 && v->strides[axis];
    for (int64_t i = 1; i < v->count && moving; i++) {
        for (int axis = v->rank - 1; axis >= 0; axis--) {
            where += v->strides[axis];
            if (++at[axis] < v->dims[axis]) break;
            where -= v->strides[axis] * v->dims[axis];
            at[axis] = 0;
        }
        if (memcmp(v->data, (const char *)v->data + where * (int64_t)item, item) != 0) return false;
    }
    return true;
}

/* Axes along which nothing changes have no stride; the others are row-major. This is the order in which write_constants
 * in emit.c goes through them. */
static lam__emit_place place_of_constant(const lam_value *v) {
    lam__emit_place x = {(lam_dtype)v->dtype, v->rank, v->dims, v->count, -1, -1, 0, {0}, ""};
    const bool uniform = is_uniform(v);
    int64_t step = 1;
    for (int axis = v->rank - 1; axis >= 0; axis--) {
        if (uniform || v->strides[axis] == 0) continue;
        x.strides[axis] = step;
        step *= v->dims[axis];
    }
    return x;
}

/* The slot of a constant, or that which it may have. Values come in steps of 64 bytes, so the lowest bits say nothing;
 * the factor is that of Fibonacci hashing. */
static int64_t *slot_of(const lam__emit *e, const lam_value *v) {
    const uint64_t mask = (uint64_t)e->slot_room - 1;
    uint64_t i = ((uint64_t)(uintptr_t)v >> 6) * 0x9e3779b97f4a7c15u >> 16 & mask;
    while (e->slots[i] && e->constants[e->slots[i] - 1].value != v) i = (i + 1) & mask;
    return &e->slots[i];
}

/* Twice as many slots. Half of the slots stay free, so every walk ends. */
static bool widen_slots(lam__emit *e) {
    const int64_t room = e->slot_room ? 2 * e->slot_room : 64;
    int64_t *slots = lam__arena_get(&e->arena, (size_t)room * sizeof *slots);
    if (!slots) return false;
    memset(slots, 0, (size_t)room * sizeof *slots);
    e->slots = slots;
    e->slot_room = room;
    for (int64_t c = 0; c < e->constant_count; c++) *slot_of(e, e->constants[c].value) = c + 1;
    return true;
}

/* Constants are one where they are one value, and are numbered when they are first met, so that both walks know them by
 * the same numbers. */
static const lam__emit_place *constant_place(lam__emit *e, const lam_value *v) {
    if (2 * e->constant_count >= e->slot_room && !widen_slots(e)) return NULL;
    int64_t *slot = slot_of(e, v);
    if (*slot) return e->constants[*slot - 1].place;
    lam__emit_place *x = lam__arena_get(&e->arena, sizeof *x);
    lam__emit_constant *all =
        lam__arena_grow(&e->arena, e->constants, e->constant_count, &e->constant_room, sizeof *all);
    if (!x || !all) return NULL;
    *x = place_of_constant(v);
    x->constant = e->constant_count;
    snprintf(x->base, sizeof x->base, "c%lld", (long long)x->constant);
    int64_t count = 1;
    for (int axis = 0; axis < v->rank; axis++) count *= x->strides[axis] ? v->dims[axis] : 1;
    e->constants = all;
    e->constants[e->constant_count++] = (lam__emit_constant){v, x, v->count ? count : 0, false};
    *slot = e->constant_count;
    return x;
}

const lam__emit_place *lam__emit_operand(lam__emit *e, const lam__atom *a) {
    return a->variable >= 0 ? &e->places[a->variable] : constant_place(e, a->constant);
}

/* ---- views ------------------------------------------------------------------------------------------------------- */

/* Of no elements the offset may be anything; it is not taken. What is a view of a constant or an input has its number,
 * so that its use is noted there. */
static void see(lam__emit_place *out, const lam__emit_place *x, int64_t offset, const int64_t strides[]) {
    out->root = x->root;
    out->constant = x->constant;
    out->offset = x->offset + (out->count ? offset : 0);
    memcpy(out->strides, strides, (size_t)out->rank * sizeof *strides);
    memcpy(out->base, x->base, sizeof out->base);
}

/* Parts wherever they lie; the row itself gives views of parts without gaps only. Without sizes each part is one
 * element of the axis, and has that axis no more. */
static void see_parts(lam__emit *e, const lam__equation *q, const lam__emit_place *x) {
    const lam__split_params *p = q->params;
    const int axis = x->rank - p->from_end;
    int64_t strides[LAM_INNER_RANK], first = 0;
    int n = 0;
    for (int i = 0; i < x->rank; i++)
        if (i != axis || p->given) strides[n++] = x->strides[i];
    for (int o = 0; o < q->outputs; o++) {
        see(&e->places[q->first + o], x, first, strides);
        first += x->strides[axis] * (p->given ? p->sizes[o] : 1);
    }
}

/* Asks the row's own rule, of a value that has these strides and no elements. The rule may look at strides and at
 * whether the value is contiguous, and at nothing else of it: there is no data. */
static bool see_whole(lam__emit *e, const lam__equation *q, const lam__emit_place *x) {
    lam__emit_place *out = &e->places[q->first];
    int64_t dense[LAM_INNER_RANK], strides[LAM_INNER_RANK], offset = 0;
    lam_value seen = {.kind = LAM__CONCRETE, .dtype = (uint8_t)x->dtype, .rank = (uint8_t)x->rank, .count = x->count};
    seen.dims = x->dims;
    seen.strides = x->strides;
    lam__emit_dense(x->rank, x->dims, dense);
    seen.contiguous = true;
    for (int axis = 0; axis < x->rank; axis++)
        seen.contiguous = seen.contiguous && (!x->count || x->dims[axis] == 1 || x->strides[axis] == dense[axis]);
    if (q->primitive == &lam__row_contiguous) {
        see(out, x, 0, x->strides);
        return true;
    }
    lam_value *in[] = {&seen};
    const lam_call_site call = {.ctx = e->ctx,
                                .primitive = q->primitive,
                                .params = q->params,
                                .params_bytes = q->params_bytes,
                                .inputs = 1,
                                .outputs = 1,
                                .in = in};
    lam_shape shape = {.dtype = out->dtype, .rank = out->rank};
    memcpy(shape.dims, out->dims, (size_t)out->rank * sizeof *out->dims);
    if (!q->primitive->view(&call, &shape, strides, &offset)) return false;
    see(out, x, offset, strides);
    return true;
}

/* False: it moves elements for these strides, as a reshape of a transposed operand does, and has a writer. */
static bool see_view(lam__emit *e, const lam__equation *q, const lam__emit_place *x) {
    if (q->primitive == &lam__row_split_sizes) {
        see_parts(e, q, x);
        return true;
    }
    return q->primitive->view && see_whole(e, q, x);
}

/* ---- all variables ----------------------------------------------------------------------------------------------- */

static void *numbers(lam__emit *e, int64_t n) {
    int64_t *made = lam__arena_get(&e->arena, (size_t)(n ? n : 1) * sizeof *made);
    for (int64_t i = 0; made && i < n; i++) made[i] = -1;
    return made;
}

/* Who needs a view needs the memory of what it is a view of. Inputs and constants live throughout, and have no root. */
static void needs(lam__emit *e, int64_t variable) {
    const int64_t root = e->places[variable].root, last = e->program->last_use[variable];
    if (root >= 0 && last > e->dies[root]) e->dies[root] = last;
}

/* Memory of its own, and where that is a result's: the first result that is just this variable gets it. A variable that
 * is a result twice is written to the first and copied to the others (write_results in emit.c). */
static void own(lam__emit *e, int64_t variable) {
    lam__emit_place *x = &e->places[variable];
    x->root = variable;
    lam__emit_dense(x->rank, x->dims, x->strides);
    for (int o = 0; o < e->program->outputs && e->sole_result[variable] < 0; o++)
        if (e->program->results[o].variable == variable) e->sole_result[variable] = o;
    if (e->sole_result[variable] >= 0)
        snprintf(x->base, sizeof x->base, "out%lld", (long long)e->sole_result[variable]);
    else
        snprintf(x->base, sizeof x->base, "w->%s", lam__emit_suffix(lam__emit_class_dtypes[lam__emit_class(x->dtype)]));
}

/* In the order of the program, so that the operand of a view has its place before the view. What can be a view of its
 * operand needs no memory. */
bool lam__emit_lay_out(lam__emit *e) {
    const lam__program *p = e->program;
    e->places = lam__arena_get(&e->arena, (size_t)(p->variables + 1) * sizeof *e->places);
    e->dies = numbers(e, p->variables);
    e->memory_at = numbers(e, p->variables);
    e->heir = numbers(e, p->variables);
    e->sole_result = numbers(e, p->variables);
    if (!e->places || !e->dies || !e->memory_at || !e->heir || !e->sole_result) return false;
    for (int64_t v = 0; v < p->variables; v++) {
        const lam_value *type = p->types[v];
        e->places[v] = (lam__emit_place){.root = -1, .constant = -1};
        if (!type) continue;
        e->places[v] =
            (lam__emit_place){(lam_dtype)type->dtype, type->rank, type->dims, type->count, -1, -1, 0, {0}, ""};
        if (v >= p->inputs) continue;
        lam__emit_dense(type->rank, type->dims, e->places[v].strides);
        snprintf(e->places[v].base, sizeof e->places[v].base, "in%lld", (long long)v);
    }
    for (int64_t k = 0; k < p->equations; k++) {
        const lam__equation *q = p->list[k];
        const lam__emit_place *x = q->inputs ? lam__emit_operand(e, &q->in[0]) : NULL;
        if (q->inputs && !x) return false;
        const bool seen = x && q->primitive->view && see_view(e, q, x);
        for (int o = 0; o < q->outputs; o++) {
            if (!seen) own(e, q->first + o);
            needs(e, q->first + o);
        }
    }
    return true;
}

/* ---- the workspace ----------------------------------------------------------------------------------------------- */

/* A block without elements has a place too, so that each has one of its own. */
bool lam__emit_take(lam__emit *e, int64_t variable) {
    const lam__emit_place *x = &e->places[variable];
    if (x->root != variable || e->sole_result[variable] >= 0) return true;
    const int64_t at = lam__emit_reserve(e, x->dtype, x->count ? x->count : 1);
    if (at < 0) return false;
    e->memory_at[variable] = at;
    return true;
}

/* What an heir was written over is the heir's now, which gives it back at its own end. The end of a run is given, and
 * not its last equation: what dies inside of a run is kept up to its end. */
static void release(lam__emit *e, int64_t variable, int64_t end) {
    const int64_t root = variable >= 0 ? e->places[variable].root : -1;
    if (root < 0 || e->memory_at[root] < 0 || e->dies[root] >= end) return;
    if (e->heir[root] < 0) lam__emit_give_back(e, e->memory_at[root]);
    e->memory_at[root] = -1;
}

/* A variable may be met several times: once released it has no place that could be given back. */
void lam__emit_release(lam__emit *e, int64_t first, int64_t end) {
    for (int64_t k = first; k < end; k++) {
        const lam__equation *q = e->program->list[k];
        for (int i = 0; i < q->inputs; i++) release(e, q->in[i].variable, end);
        for (int o = 0; o < q->outputs; o++) release(e, q->first + o, end);
    }
}
