/* Programs as C, rows that move elements and are no views: loops of copies. See emit_writer.h. */
#include "lib/program/emit_writer.h"

#include "lib/dispatch/part.h"
#include "lib/primitives/params.h"
#include "lib/primitives/rows.h"
#include "lib/tensor/dtype.h"

/* In the order of the operand's elements, whose axes the result's memory is seen by. Only one whose operand lies so
 * that no strides show it in its new dims comes here; the result is dense, so it can be seen by any dims. */
static const char *write_reshape(lam__emit *e, const lam__equation *q, const lam__emit_place *const in[],
                                 const lam__emit_place *const out[]) {
    lam__emit_place to = *out[0];
    (void)q;
    to.rank = in[0]->rank;
    to.dims = in[0]->dims;
    lam__emit_dense(to.rank, to.dims, to.strides);
    lam__emit_copy(e, in[0], &to);
    return NULL;
}

/* Each part to where it begins. Where they are stacked, parts have an axis less than the result, which stands still
 * along that one. Along the axis a part is as long as it is, so each part is a copy of its own, one loop nest after the
 * other. */
static const char *write_concatenate(lam__emit *e, const lam__equation *q, const lam__emit_place *const in[],
                                     const lam__emit_place *const out[]) {
    const lam__join_params *p = q->params;
    int64_t at = 0;
    for (int i = 0; i < q->inputs; i++) {
        lam__emit_place to = *out[0];
        to.rank = in[i]->rank;
        to.dims = in[i]->dims;
        to.offset += at * out[0]->strides[p->axis];
        for (int axis = p->axis; p->fresh && axis < to.rank; axis++) to.strides[axis] = out[0]->strides[axis + 1];
        if (in[i]->count) lam__emit_copy(e, in[i], &to);
        at += p->fresh ? 1 : in[i]->dims[p->axis];
    }
    return NULL;
}

/* All of x, then the part over it. Elements under the part are written twice: loops that go around it would be many. */
static const char *write_update_slice(lam__emit *e, const lam__equation *q, const lam__emit_place *const in[],
                                      const lam__emit_place *const out[]) {
    const lam__slice_params *p = q->params;
    lam__emit_place to = *out[0];
    lam__emit_copy(e, in[0], out[0]);
    to.dims = in[1]->dims;
    for (int axis = 0; axis < p->rank; axis++) {
        to.offset += p->at[axis].start * out[0]->strides[axis];
        to.strides[axis] = p->at[axis].step * out[0]->strides[axis];
    }
    if (in[1]->count) lam__emit_copy(e, in[1], &to);
    return NULL;
}

/* The bytes, from memory without gaps. memcpy is how C lets elements be seen as those of another type. The operand may
 * be a view with gaps, while memcpy takes bytes in a row; the result is memory of its own, and has none. */
static const char *write_bitcast(lam__emit *e, const lam__equation *q, const lam__emit_place *const in[],
                                 const lam__emit_place *const out[]) {
    const lam__emit_place *x = in[0];
    const int64_t room = lam__emit_reserve(e, x->dtype, x->count ? x->count : 1);
    const long long bytes = (long long)x->count * (long long)lam__dtype_bytes(x->dtype);
    char base[16], from[LAM__EMIT_TEXT], to[LAM__EMIT_TEXT];
    (void)q;
    if (room < 0) return NULL; /* the arena knows */
    snprintf(base, sizeof base, "w->%s", lam__emit_suffix(lam__emit_class_dtypes[lam__emit_class(x->dtype)]));
    lam__emit_place dense = lam__emit_dense_place(base, x->dtype, x->rank, x->dims), first = *out[0];
    dense.offset = room;
    lam__emit_copy(e, x, &dense);
    dense.rank = first.rank = 0;
    lam__emit_address(e, &dense, from);
    lam__emit_address(e, &first, to);
    lam__emit_line(e, "memcpy(%s, %s, %lld);", to, from, bytes);
    lam__emit_give_back(e, room);
    return NULL;
}

const lam__emit_row lam__emit_moves[] = {
    {&lam__row_bitcast, write_bitcast},
    {&lam__row_reshape, write_reshape},
    {&lam__row_concatenate, write_concatenate},
    {&lam__row_update_slice, write_update_slice},
    {NULL, NULL},
};
