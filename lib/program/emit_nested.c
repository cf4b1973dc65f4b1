/* Programs as C, choices and loops: the programs in an equation are functions of the file, which take and give arrays
 * without gaps. Elements of a scan are where they lie; carries are in the memory of the results, and go there from
 * where a trip has put them. See emit_writer.h. Of a while with one carry, whose functions are loop__f1 and loop__f2:
 *     memcpy(&out0[0], &in0[0], 8);
 *     for (;;) {
 *         loop__f1(&out0[0], &w->u8[0]);
 *         if (!w->u8[0]) break;
 *         loop__f2(&out0[0], &w->f64[0]);
 *         memcpy(&out0[0], &w->f64[0], 8);
 *     } */
#include "lib/program/emit_writer.h"

#include "lib/program/function.h"
#include "lib/program/nested.h"
#include "lib/tensor/dtype.h"

#include <string.h>

/* ---- functions --------------------------------------------------------------------------------------------------- */

/* Names are numbered by the outermost function, so that they differ in the whole file, and cut, since a program may be
 * called anything. The list is in the order of the equations, by which functions_of finds them again. */
static lam_status open_one(lam__emit *e, const lam__program *p) {
    lam__emit *whole = e;
    while (whole->outer) whole = whole->outer;
    enum { NAME = 96 };
    lam__emit *one = lam__arena_get(&e->arena, sizeof *one);
    char *name = lam__arena_get(&e->arena, NAME);
    if (!one || !name) return lam__error_memory(e->ctx, sizeof *one);
    snprintf(name, NAME, "%.63s__f%d", whole->name, ++whole->functions);
    *one = (lam__emit){.ctx = e->ctx, .program = p, .name = name, .outer = e};
    lam__arena_open(&one->arena, e->ctx);
    lam__emit **last = &e->first;
    while (*last) last = &(*last)->next;
    *last = one;
    const lam_status status = lam__emit_prepare(one);
    whole->has_complex = whole->has_complex || one->has_complex;
    return status;
}

/* Before anything is written: what the functions need of memory lies in the workspace of the one around them. */
lam_status lam__emit_open_nested(lam__emit *e, const char **wrong) {
    for (int64_t k = 0; k < e->program->equations; k++) {
        const lam__nested *what = lam__nested_of(e->program->list[k]);
        for (int i = 0; what && i < what->count; i++) {
            const lam__program *p = lam__program_of(what->fns[i]);
            e->current = e->program->list[k];
            if (!p) {
                *wrong = "has code in C";
                return LAM_ERR_RULE;
            }
            const lam_status status = open_one(e, p);
            if (status != LAM_OK) return status;
        }
    }
    e->current = NULL;
    return LAM_OK;
}

void lam__emit_close_nested(lam__emit *e) {
    for (lam__emit *one = e->first; one; one = one->next) {
        lam__emit_close_nested(one);
        lam__arena_close(&one->arena);
    }
}

/* The first of the functions of an equation. Counted off, since the functions do not know their equation. */
static lam__emit *functions_of(const lam__emit *e, const lam__equation *q) {
    lam__emit *one = e->first;
    for (int64_t k = 0; e->program->list[k] != q; k++) {
        const lam__nested *what = lam__nested_of(e->program->list[k]);
        for (int i = 0; what && i < what->count; i++) one = one->next;
    }
    return one;
}

/* ---- arguments --------------------------------------------------------------------------------------------------- */

/* An array without gaps: its base and where it begins; a step for each trip. */
typedef struct array {
    char text[LAM__EMIT_TEXT];
    int64_t step;
    int64_t reserved; /* -1: it is nobody's own */
} array;

/* One element at least, so that the address of what has none is an address. Its number is a request on the dry walk and
 * a place on the other; either is an offset. */
static lam__emit_place room_for(lam__emit *e, const lam__emit_place *like, int64_t *reserved) {
    char base[16];
    *reserved = lam__emit_reserve(e, like->dtype, like->count ? like->count : 1);
    snprintf(base, sizeof base, "w->%s", lam__emit_suffix(lam__emit_class_dtypes[lam__emit_class(like->dtype)]));
    lam__emit_place x = lam__emit_dense_place(base, like->dtype, like->rank, like->dims);
    x.offset = *reserved < 0 ? 0 : *reserved;
    return x;
}

/* Of no elements it is not: the address of such a view may lie anywhere. */
static bool is_dense(const lam__emit_place *x) {
    int64_t dense[LAM_INNER_RANK];
    lam__emit_dense(x->rank, x->dims, dense);
    for (int axis = 0; axis < x->rank; axis++)
        if (x->dims[axis] != 1 && x->strides[axis] != dense[axis]) return false;
    return x->count > 0;
}

/* The address of the first element. */
static void address(lam__emit *e, const lam__emit_place *x, char text[LAM__EMIT_TEXT]) {
    lam__emit_place first = *x;
    first.rank = 0;
    lam__emit_address(e, &first, text);
}

/* x as an array, copied where it is none. */
static void as_array(lam__emit *e, const lam__emit_place *x, array *a) {
    a->step = 0;
    a->reserved = -1;
    if (is_dense(x)) {
        address(e, x, a->text);
        return;
    }
    const lam__emit_place own = room_for(e, x, &a->reserved);
    if (x->count) lam__emit_copy(e, x, &own);
    address(e, &own, a->text);
}

/* An element of a scan is the array itself, further on with each trip. */
static void put_array(lam__emit *e, const array *a, bool comma) {
    lam__emit_put(e, "%s%s", comma ? ", " : "", a->text);
    if (a->step) lam__emit_put(e, " + trip * %lld", (long long)a->step);
}

/* `hushed` writes nothing and must leave no trace either: a function that only a dry walk has called is not in the
 * file. */
static void call(lam__emit *e, lam__emit *f, int n, const array *const in[], int m, const array *const out[]) {
    f->called = f->called || !e->hushed;
    lam__emit_indent(e);
    lam__emit_put(e, "%s(", f->name);
    for (int i = 0; i < n; i++) put_array(e, in[i], i > 0);
    for (int o = 0; o < m; o++) put_array(e, out[o], n + o > 0);
    if (lam__emit_workspace(f)) {
        e->works = e->works || !e->hushed;
        lam__emit_put(e, "%s&w->of.%s", n + m ? ", " : "", f->name);
    }
    lam__emit_put(e, ");\n");
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* What is called: arrays of operands, of results, of carries as a trip gives them. */
typedef struct arguments {
    array *in, *out, *next;
    const array **taken, **given;
    int n, m;
} arguments;

/* `next` is where results of a trip go before they become carries. */
static bool arguments_open(lam__emit *e, const lam__equation *q, const lam__emit_place *const in[],
                           const lam__emit_place *const out[], arguments *a) {
    a->n = q->inputs;
    a->m = q->outputs;
    a->in = lam__arena_get(&e->arena, (size_t)(a->n + 2 * a->m + 1) * sizeof *a->in);
    a->taken = lam__arena_get(&e->arena, (size_t)(a->n + a->m + 1) * sizeof *a->taken);
    if (!a->in || !a->taken) return false;
    a->out = a->in + a->n;
    a->next = a->out + a->m;
    a->given = a->taken + a->n;
    for (int i = 0; i < a->n; i++) {
        as_array(e, in[i], &a->in[i]);
        a->taken[i] = &a->in[i];
    }
    for (int o = 0; o < a->m; o++) {
        address(e, out[o], a->out[o].text);
        a->out[o].step = 0;
        a->out[o].reserved = a->next[o].reserved = -1;
        a->given[o] = &a->out[o];
    }
    return true;
}

/* In and next lie behind each other with out between, of which nothing is reserved. */
static void arguments_close(lam__emit *e, const arguments *a) {
    for (int i = 0; i < a->n + 2 * a->m; i++)
        if (a->in[i].reserved >= 0) lam__emit_give_back(e, a->in[i].reserved);
}

/* Of no elements nothing: memcpy wants addresses even then. */
static void copy_array(lam__emit *e, const char *to, const char *from, const lam__emit_place *like) {
    if (like->count)
        lam__emit_line(e, "memcpy(%s, %s, %lld);", to, from,
                       (long long)like->count * (long long)lam__dtype_bytes(like->dtype));
}

/* Carries begin in the results; a trip gives them elsewhere. A trip reads carries while it gives new ones, so each is
 * there twice. */
static void open_carries(lam__emit *e, const lam__emit_place *const out[], arguments *a, int carries) {
    for (int o = 0; o < carries; o++) {
        copy_array(e, a->out[o].text, a->in[o].text, out[o]);
        const lam__emit_place own = room_for(e, out[o], &a->next[o].reserved);
        a->next[o].step = 0;
        address(e, &own, a->next[o].text);
        a->taken[o] = &a->out[o];
        a->given[o] = &a->next[o];
    }
}

/* After the whole trip, since a carry may be read for the next value of another one. */
static void advance(lam__emit *e, const lam__emit_place *const out[], const arguments *a, int carries) {
    for (int o = 0; o < carries; o++) copy_array(e, a->out[o].text, a->next[o].text, out[o]);
}

/* What is below 0 is the first and what is beyond the last, as lam_switch clamps; the index is read anew in each line,
 * which costs nothing once compiled. */
static void write_switch(lam__emit *e, const lam__nested *what, lam__emit *f, const lam__emit_place *index,
                         const arguments *a) {
    char text[LAM__EMIT_TEXT];
    lam__emit_value(e, index, NULL, text);
    for (int i = 0; i < what->count; i++, f = f->next) {
        const bool last = i + 1 == what->count;
        if (last) lam__emit_line(e, i ? "} else {" : "{");
        else lam__emit_line(e, "%sif (%s <= %d) {", i ? "} else " : "", text, i);
        e->depth++;
        call(e, f, a->n - 1, a->taken + 1, a->m, a->given);
        e->depth--;
    }
    lam__emit_line(e, "}");
}

/* The condition is a function like the body, and gives its truth in memory. The truth has a byte of the workspace, or
 * as many as its type has, for the time of the loop. */
static void write_while(lam__emit *e, const lam__nested *what, lam__emit *condition, const lam__emit_place *const out[],
                        arguments *a) {
    const lam__atom *r = &condition->program->results[0];
    const lam_value *type = r->variable >= 0 ? condition->program->types[r->variable] : r->constant;
    const lam__emit_place truth = lam__emit_dense_place("", (lam_dtype)type->dtype, 0, NULL);
    array holds = {.reserved = -1};
    const array *given[] = {&holds};
    const lam__emit_place room = room_for(e, &truth, &holds.reserved);
    char text[LAM__EMIT_TEXT];
    address(e, &room, holds.text);
    lam__emit_at(e, &room, NULL, text);
    open_carries(e, out, a, (int)what->carries);
    lam__emit_line(e, "for (;;) {");
    e->depth++;
    call(e, condition, a->n, a->taken, 1, given);
    lam__emit_line(e, "if (!%s) break;", text);
    call(e, condition->next, a->n, a->taken, a->m, a->given);
    advance(e, out, a, (int)what->carries);
    lam__emit_close(e, 1);
    if (holds.reserved >= 0) lam__emit_give_back(e, holds.reserved);
}

/* Of no trips the carries are the results, and there is no loop to write. Dividing the elements by the trips gives how
 * far one trip's lie apart, since arrays have no gaps. */
static void write_scan(lam__emit *e, const lam__nested *what, lam__emit *f, const lam__emit_place *const in[],
                       const lam__emit_place *const out[], arguments *a) {
    const int carries = (int)what->carries, elements = (int)what->elements;
    open_carries(e, out, a, carries);
    if (!what->length) return;
    for (int i = carries; i < carries + elements; i++) a->in[i].step = in[i]->count / what->length;
    for (int o = carries; o < a->m; o++) a->out[o].step = out[o]->count / what->length;
    if (what->reverse) lam__emit_line(e, "for (int64_t trip = %lld; trip >= 0; trip--) {", (long long)what->length - 1);
    else lam__emit_line(e, "for (int64_t trip = 0; trip < %lld; trip++) {", (long long)what->length);
    e->depth++;
    call(e, f, a->n, a->taken, a->m, a->given);
    advance(e, out, a, carries);
    lam__emit_close(e, 1);
}

/* Rows are told by their names, since they are rows of the transforms, of which lib names none. */
const char *lam__emit_nested(lam__emit *e, const lam__equation *q, const lam__emit_place *const in[],
                             const lam__emit_place *const out[]) {
    const lam__nested *what = lam__nested_of(q);
    lam__emit *f = functions_of(e, q);
    arguments a;
    if (!arguments_open(e, q, in, out, &a)) return NULL; /* the arena knows */
    if (!strcmp(q->primitive->name, "switch")) write_switch(e, what, f, in[0], &a);
    else if (!strcmp(q->primitive->name, "while")) write_while(e, what, f, out, &a);
    else write_scan(e, what, f, in, out, &a);
    arguments_close(e, &a);
    return NULL;
}
