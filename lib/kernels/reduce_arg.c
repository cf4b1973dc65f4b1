/* Index of the first maximum or minimum along an axis. A row that lies contiguous is searched by blocks, anything else
 * by columns side by side; the other axes are walked. Each result goes along its own elements from the first to the
 * last, so the first of equal ones is found in every layout. The axis has at least one element. NaN is beyond all
 * numbers, as in the reductions. Nothing is allocated. Columns side by side where there are eight of them. Axes that
 * are kept are merged first. Short rows are turned, so that they are such columns. */
#include "lib/kernels/reduce_loops.h"

#include <stdalign.h>

#include "lib/kernels/simd/simd.h"

enum { ROOM_BYTES = 16384, ALIGNED = 16, FEWEST = 8, LEAST_ROWS = 8 };

/* Whether the rows are too short to be searched as such. Those of eight elements of several bytes are read as columns
 * that lie apart in less time than turning them takes. */
static bool is_turned(const lam__reduce_block *b, int64_t item) {
    const int64_t least = item == 1 ? LEAST_ROWS : 2 * LEAST_ROWS;
    return b->row_step == 1 && b->rows >= least && b->rows < LAM__REDUCE_SHORT && b->columns >= FEWEST;
}

/* Short rows are brought side by side, part by part. */
static void search_turned(lam__reduce_op op, lam_dtype dtype, const lam__turn *turn, const lam__reduce_block *block,
                          const lam__reduce_target *to) {
    alignas(64) char room[ROOM_BYTES];
    const int64_t item = lam__item_bytes(dtype), fit = ROOM_BYTES / (item * block->rows), most = fit - fit % ALIGNED;
    for (int64_t c = 0; c < block->columns; c += most) {
        const int64_t n = block->columns - c < most ? block->columns - c : most;
        const lam__reduce_block part = {room, n, 1, block->rows, n, false};
        const lam__reduce_target at = {(int64_t *)to->out + c * to->step, to->step, 0};
        turn->plane(block->rows, n, (const char *)block->x + c * block->step * item, block->step, room, n, false);
        lam__reduce_loops(dtype)->arg(op, &part, &at);
    }
}

static void search(lam__reduce_op op, lam_dtype dtype, const lam__reduce_block *block, const lam__reduce_target *to) {
    const int64_t item = lam__item_bytes(dtype);
    const lam__turn *turn = is_turned(block, item) ? lam__elementwise_simd()->turn(item) : NULL;
    if (turn) search_turned(op, dtype, turn, block, to);
    else lam__reduce_loops(dtype)->arg(op, block, to);
}

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
        search(maximum ? LAM__REDUCE_OP_MAX : LAM__REDUCE_OP_MIN, dtype, &block, &target);
    } while (lam__reduce_next(&walk, &kept));
}
