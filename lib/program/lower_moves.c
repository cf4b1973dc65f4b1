/* Rows that move elements and compute nothing: they are run once, on a code for each element, and what comes out says
 * which element went where. So no such row needs a text of its own here. */
#include "lib/program/region.h"

#include "lib/dispatch/dispatch.h"
#include "lib/primitives/index.h"
#include "lib/primitives/rows.h"

#include <string.h>

enum { MOST_OPERANDS = 64, MOST_RESULTS = 64 };

bool lam__lower_is_move(const lam_primitive *row) {
    static const lam_primitive *const moves[] = {
        &lam__row_broadcast_to, &lam__row_reshape,     &lam__row_transpose, &lam__row_slice, &lam__row_update_slice,
        &lam__row_concatenate,  &lam__row_split_sizes, &lam__row_diagonal,  &lam__row_take,  &lam__row_put};
    for (size_t i = 0; i < sizeof moves / sizeof *moves; i++)
        if (row == moves[i]) return true;
    return false;
}

/* The operand that says where, whose elements have to be known; -1: none. */
static int index_operand(const lam_primitive *row) {
    return row == &lam__row_take || row == &lam__row_put ? 1 : -1;
}

/* Codes as a value of the operand's dims. From the pool and not the arena: values are counted, and the row may make
 * views of it. */
static lam_value *value_of_codes(lam__region *r, const lam__piece *x) {
    lam_value *made = lam__region_may_code(x) ? lam__value_new(r->ctx, LAM_I64, x->type->rank, x->type->dims) : NULL;
    if (made) lam__region_codes(r, x, made->data);
    return made;
}

/* Where indices are a constant of the program, and each names an element, they are taken as they are. Others, which may
 * fail when they are run, leave the equation a call. */
const int64_t *lam__lower_index(lam__region *r, const lam__piece *x, int64_t n) {
    lam_value *v = x->kind == LAM__PIECE_DATA ? r->sources[x->data].constant : NULL;
    if (!v || v->rank > LAM_MAX_RANK || (v->dtype != LAM_I64 && v->dtype != LAM_I32)) return NULL;
    int64_t *at = lam__arena_get(r->graph.arena, (size_t)v->count * sizeof *at), strides[LAM_INNER_RANK], step = 1;
    if (!at) return NULL;
    for (int axis = v->rank - 1; axis >= 0; axis--) {
        strides[axis] = step;
        step *= v->dims[axis];
    }
    lam__kernels_copy(v->rank, v->dims, LAM_I64, at, strides, (lam_dtype)v->dtype, v->data, v->strides);
    for (int64_t i = 0; i < v->count; i++)
        if (at[i] < -n || at[i] >= n) return NULL;
    return at;
}

/* An index that is a constant with all places in range, held; NULL where what is moved is known only when the program
 * is run. */
static lam_value *known_index(lam__region *r, const lam__equation *e, const lam__piece *x, const lam__piece *indices) {
    const lam__index_params *p = e->params;
    if (!lam__lower_index(r, indices, x->type->dims[p->axis])) return NULL;
    return lam__value_hold(r->sources[indices->data].constant);
}

/* Puts what came out into pieces. What is put together may be lanes with something else at its ends. Views are made
 * dense, since codes are read in the order of the elements. */
static bool take_results(lam__region *r, const lam__equation *e, lam_value *made[], lam_value *const types[],
                         lam__piece *out[]) {
    const bool mixed = e->primitive == &lam__row_concatenate;
    bool fits = true;
    for (int o = 0; o < e->outputs && fits; o++) {
        lam_value *dense = lam__value_contiguous(made[o]);
        fits = dense && (out[o] = lam__region_decoded(r, types[o], dense->data, mixed)) != NULL;
        lam__value_release(dense);
    }
    return fits;
}

/* The row is run on i64, whatever the dtype of its elements: it only moves them. A failure here, as of codes that
 * cannot be seen in lanes, is none of the user's: the equation stays a call. */
bool lam__lower_move(lam__region *r, const lam__equation *e, lam__piece *const in[], lam_value *const types[],
                     lam__piece *out[]) {
    if (e->inputs > MOST_OPERANDS || e->outputs > MOST_RESULTS) return false;
    lam_value *values[MOST_OPERANDS] = {NULL}, *made[MOST_RESULTS] = {NULL};
    const int index = index_operand(e->primitive);
    bool fits = true;
    for (int i = 0; i < e->inputs && fits; i++) {
        values[i] = i == index ? known_index(r, e, in[0], in[i]) : value_of_codes(r, in[i]);
        fits = values[i] != NULL;
    }
    const lam_call_site call = lam__equation_call(r->ctx, e, values);
    lam__mark mark = lam__error_mark(r->ctx);
    fits = fits && lam__dispatch(&call, made) == LAM_OK && take_results(r, e, made, types, out);
    if (!fits) lam__error_roll_back(r->ctx, mark);
    for (int i = 0; i < e->inputs; i++) lam__value_release(values[i]);
    for (int o = 0; o < e->outputs; o++) lam__value_release(made[o]);
    return fits;
}
