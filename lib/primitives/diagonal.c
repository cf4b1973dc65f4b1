/* Parts of matrices: the diagonal primitive, a view with two strides added; its transpose writes onto the diagonal of
 * zeros, which is a strided slice of the matrices seen as rows. Triangles are made with a mask. */
#include "lib/primitives/apply.h"
#include "lib/primitives/axes.h"
#include "lib/primitives/matrices.h"
#include "lib/primitives/rows.h"

#include "lib/tensor/dtype.h"
#include "lib/tensor/value.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

typedef lam__diagonal_params diagonal_params;

/* Axes and offset have been brought into range. Nothing but memory can fail from here on. */
static lam_tensor *apply(lam_tensor *x, diagonal_params p) {
    return lam__apply1(&lam__row_diagonal, &p, sizeof p, x);
}

/* Elements on the diagonal: as far as both rows and columns reach from where it starts; 0 where it starts outside. */
static int64_t length(const diagonal_params *p, int64_t rows, int64_t columns) {
    int64_t down = rows + (p->offset < 0 ? p->offset : 0), across = columns - (p->offset > 0 ? p->offset : 0);
    int64_t shorter = down < across ? down : across;
    return shorter > 0 ? shorter : 0;
}

/* The other axes keep their order; the diagonal is behind them, as in NumPy. */
static lam_status shape_diagonal(const lam_call_site *call, lam_shape out[]) {
    const diagonal_params *p = call->params;
    const lam_value *x = call->in[0];
    out->dtype = (lam_dtype)x->dtype;
    out->rank = 0;
    for (int i = 0; i < x->rank; i++)
        if (i != p->row && i != p->column) out->dims[out->rank++] = x->dims[i];
    out->dims[out->rank++] = length(p, x->dims[p->row], x->dims[p->column]);
    return LAM_OK;
}

/* One step along the diagonal is one down and one across. The view shares its memory with x, so it costs no
 * elements. */
static bool view_diagonal(const lam_call_site *call, const lam_shape *out, int64_t strides[], int64_t *offset) {
    const diagonal_params *p = call->params;
    const lam_value *x = call->in[0];
    int n = 0;
    for (int i = 0; i < x->rank; i++)
        if (i != p->row && i != p->column) strides[n++] = x->strides[i];
    strides[n] = x->strides[p->row] + x->strides[p->column];
    *offset = p->offset < 0 ? -p->offset * x->strides[p->row] : p->offset * x->strides[p->column];
    if (out->dims[n] == 0) *offset = 0;
    return true;
}

/* In matrices [.., rows * columns] the diagonal starts at `first` and goes on by columns + 1. The row and the column
 * axis go to the end first, where they can be one axis, and are put back by a transposition. Zeros are one element seen
 * everywhere, so the only memory is that of the result. */
static void vjp_diagonal(const lam_rule *r, lam_tensor *const g[], lam_tensor *gx[]) {
    const diagonal_params *p = r->params;
    lam_dims own = lam_dims_of(r->in[0]);
    int64_t starts[LAM_INNER_RANK], stops[LAM_INNER_RANK], steps[LAM_INNER_RANK], dims[LAM_INNER_RANK];
    int64_t rows = own.dims[p->row], columns = own.dims[p->column], count = length(p, rows, columns);
    int order[LAM_INNER_RANK], n = 0;
    for (int i = 0; i < own.rank; i++) {
        if (i == p->row || i == p->column) continue;
        starts[n] = 0;
        steps[n] = 1;
        stops[n] = dims[n] = own.dims[i];
        order[i] = n++;
    }
    /* `order` tells where each axis of x lies in the matrix form. */
    starts[n] = count == 0 ? 0 : p->offset < 0 ? -p->offset * columns : p->offset;
    steps[n] = columns + 1;
    stops[n] = count == 0 ? 0 : starts[n] + (count - 1) * steps[n] + 1;
    dims[n] = rows * columns;
    lam_tensor *flat = lam__apply_broadcast(lam_zeros(r->ctx, lam_dtype_of(g[0]), LAM_DIMS0), n + 1, dims);
    flat = lam_update_slice(flat, g[0], (lam_dims){n + 1, starts}, (lam_dims){n + 1, stops}, (lam_dims){n + 1, steps});
    dims[n] = rows;
    dims[n + 1] = columns;
    order[p->row] = n;
    order[p->column] = n + 1;
    gx[0] = lam_transpose(lam__apply_reshape(flat, n + 2, dims), (lam_axes){own.rank, order});
}

/* Axes are counted from the front, so both move by one. */
static void batch_diagonal(const lam_rule *r, lam_tensor *out[]) {
    const diagonal_params *p = r->params;
    out[0] = apply(r->in[0], (diagonal_params){p->offset, p->row + 1, p->column + 1});
}

/* A view; the way back needs dims only. */
const lam_primitive lam__row_diagonal = {
    .name = "diagonal",
    .inputs = 1,
    .takes_complex = true,
    .derivative = LAM_LINEAR,
    .linear = 1u,
    .shape = shape_diagonal,
    .view = view_diagonal,
    .vjp = vjp_diagonal,
    .batch = batch_diagonal,
    .layout = "l offset, i row, i column",
};

/* The same for `operation`, a name in messages. Offsets are bounded here by the sizes, so that no sum with one
 * overflows in the rules. Public forms hand their own names. */
static lam_tensor *diagonal(const char *operation, lam_tensor *x, int64_t offset, int row, int column) {
    lam_tensor *failed;
    lam_value *v;
    if (!lam__scope_operands(operation, 1, &x, &v, &failed)) return failed;
    if (!lam__apply_axis(operation, x, v->rank, &row) || !lam__apply_axis(operation, x, v->rank, &column))
        return lam__axes_failed(x);
    if (row == column) return lam__axes_fail(operation, x, LAM_ERR_AXIS, "rows and columns are both axis %d", row);
    int64_t rows = v->dims[row], columns = v->dims[column];
    offset = offset < -rows ? -rows : offset > columns ? columns : offset; /* beyond, it is as empty */
    return apply(x, (diagonal_params){offset, row, column});
}

/* Row and column may be any two axes, in any order. */
lam_tensor *lam_diagonal(lam_tensor *x, int64_t offset, int axis1, int axis2) {
    return diagonal("diagonal", x, offset, axis1, axis2);
}

/* The sum of the diagonal, which is a view: only its elements are read. */
lam_tensor *lam_matrix_trace(lam_tensor *x, int64_t offset, int axis1, int axis2) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_only(
        lam_sum(diagonal("matrix_trace", x, offset, axis1, axis2), &(lam_reduce_options){.axes = LAM_AXES(-1)}), since);
}

/* x where column - row <= (lower) or >= (upper) offset, zero elsewhere: the choice, not a product, so that no NaN
 * passes. Rows and columns are numbered in f64, which is exact for any size that memory holds, and with an offset of
 * any size. */
static lam_tensor *triangle(const char *operation, lam_tensor *x, int64_t offset, bool upper) {
    lam_tensor *failed;
    lam_value *v;
    lam_ctx *ctx = lam__scope_operands(operation, 1, &x, &v, &failed);
    if (!ctx) return failed;
    if (v->rank < 2) return lam__axes_fail(operation, x, LAM_ERR_RANK, "a matrix is needed");
    double rows = (double)v->dims[v->rank - 2], columns = (double)v->dims[v->rank - 1], shift = (double)offset;
    lam_tensor *row = lam_reshape(lam_arange(ctx, LAM_F64, 0, rows, 1), LAM_DIMS(-1, 1));
    lam_tensor *column = lam_sub(lam_arange(ctx, LAM_F64, 0, columns, 1), shift);
    return lam_where(upper ? lam_ge(column, row) : lam_le(column, row), x, 0);
}

/* The part on and below the diagonal `offset`, and above it zeros; lam_triu the other way. Leading axes are a stack. */
lam_tensor *lam_tril(lam_tensor *x, int64_t offset) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_only(triangle("tril", x, offset, false), since);
}

lam_tensor *lam_triu(lam_tensor *x, int64_t offset) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_only(triangle("triu", x, offset, true), since);
}
