/* Index of the first maximum or minimum along an axis. A row that lies contiguous is searched by blocks, anything else
 * by columns side by side; the other axes are walked. Each result goes along its own elements from the first to the
 * last, so the first of equal ones is found in every layout. The axis has at least one element. NaN is beyond all
 * numbers, as in the reductions. Nothing is allocated. Columns side by side where there are eight of them. Axes that
 * are kept are merged first. */
#include "lib/kernels/reduce_loops.h"

void lam__kernels_arg(bool maximum, lam_dtype dtype, int rank, const int64_t *dims, int axis, const void *x,
                      const int64_t *strides, int64_t *out) {
    lam__reduce_axes kept;
    lam__reduce_walk walk;
    int64_t count = 1;
    kept.rank = 0;
    for (int i = rank - 1; i >= 0; i--) {
        if (i == axis) continue;
        if (dims[i] != 1) kept.at[kept.rank++] = (lam__reduce_axis){dims[i], strides[i], count};
        count *= dims[i];
    }
    if (count == 0) return;
    lam__reduce_coalesce(&kept);
    bool enough = kept.rank > 0 && kept.at[kept.rank - 1].dim >= 8;
    lam__reduce_axis columns = lam__reduce_take_axis(&kept, enough ? kept.rank - 1 : lam__reduce_longest(&kept));
    const int64_t item = lam__item_bytes(dtype);
    lam__reduce_begin(&walk, &kept);
    do {
        const char *start = (const char *)x + walk.x * item;
        const lam__reduce_block block = {start, columns.dim, columns.x, dims[axis], strides[axis], false};
        const lam__reduce_target target = {out + walk.out, columns.out, 0};
        lam__reduce_loops(dtype)->arg(maximum ? LAM__REDUCE_OP_MAX : LAM__REDUCE_OP_MIN, &block, &target);
    } while (lam__reduce_next(&walk, &kept));
}
