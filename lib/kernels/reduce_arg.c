/* Index of the first maximum or minimum along an axis. A row that lies contiguous is searched by blocks, short rows
 * several at a time, anything else by columns side by side; the other axes are walked. Each result goes along
 * its own elements from the first to the last, so the first of equal ones is found in every layout. The axis has at
 * least one element. NaN is beyond all numbers, as in the reductions. Nothing is allocated. Axes that are kept are
 * merged first; the columns are the last of these where it has eight elements or lies without gaps, and the one before
 * is searched in the same call, layer by layer. */
#include "lib/kernels/reduce_blocks.h"

/* Whether places lie one behind the other. */
static bool is_dense(const lam__reduce_block *b, const lam__reduce_target *to) {
    return (to->step == 1 || b->columns == 1) && (to->row_step == b->columns || b->layers == 1);
}

void lam__kernels_arg(bool maximum, lam_dtype dtype, int rank, const int64_t *dims, int axis, const void *x,
                      const int64_t *strides, int64_t *out) {
    lam__reduce_axes kept;
    lam__reduce_walk walk;
    const int64_t rows = strides[axis] == 0 ? 1 : dims[axis]; /* of equals the first */
    int64_t count = 1;
    kept.rank = 0;
    for (int i = rank - 1; i >= 0; i--) {
        if (i == axis) continue;
        if (dims[i] != 1) kept.at[kept.rank++] = (lam__reduce_axis){dims[i], strides[i], count};
        count *= dims[i];
    }
    if (count == 0) return;
    lam__reduce_coalesce(&kept);
    const int last = kept.rank - 1;
    const bool enough = last >= 0 && (kept.at[last].dim >= 8 || kept.at[last].x == 1);
    const lam__reduce_axis columns = lam__reduce_take_axis(&kept, enough ? last : lam__reduce_longest(&kept));
    lam__reduce_axis layers = {1, 0, 0};
    if (kept.rank > 0) layers = lam__reduce_take_axis(&kept, kept.rank - 1);
    const lam__reduce_task task = {
        LAM__REDUCE_PLACES, dtype, maximum ? LAM__REDUCE_OP_MAX : LAM__REDUCE_OP_MIN, {NULL, NULL, 0}, NULL};
    const int64_t item = lam__item_bytes(dtype);
    const lam__reduce_reach far = lam__reduce_reach_of(count * rows, item);
    lam__reduce_begin(&walk, &kept);
    do {
        const char *start = (const char *)x + walk.x * item;
        const lam__reduce_block block = {start, columns.dim, columns.x, rows,  strides[axis],
                                         far,   layers.dim,  layers.x,  false, 0};
        const lam__reduce_target target = {out + walk.out, columns.out, layers.out};
        if (is_dense(&block, &target)) lam__reduce_block_into(&task, &block, NULL, 0, out + walk.out);
        else lam__reduce_loops(dtype)->arg(task.op, &block, &target);
    } while (lam__reduce_next(&walk, &kept));
}
