/* Index of the first maximum or minimum along an axis. A row that lies contiguous is searched by blocks, short rows
 * several at a time or turned, anything else by columns side by side; the other axes are walked. Each result goes along
 * its own elements from the first to the last, so the first of equal ones is found in every layout. The axis has at
 * least one element. NaN is beyond all numbers, as in the reductions. Nothing is allocated. Axes that are kept are
 * merged first; the columns are the last of these where it has eight elements or lies without gaps, and the one before
 * is searched in the same call, layer by layer. */
#include "lib/kernels/reduce_loops.h"

#include <stdalign.h>

#include "lib/kernels/simd/simd.h"

enum { ROOM_BYTES = 16384, ALIGNED = 16, FEWEST = 8, LEAST_ROWS = 16 };

/* Whether rows of floats are so short that they are better columns. */
static bool is_turned(const lam__reduce_block *b, lam_dtype dtype) {
    const bool floating = dtype == LAM_F64 || dtype == LAM_F32, some = b->layers == 1 && b->columns >= FEWEST;
    return floating && some && b->row_step == 1 && b->rows >= LEAST_ROWS && b->rows < LAM__REDUCE_SHORT;
}

/* Short rows are brought side by side, part by part. */
static void search_turned(lam__reduce_op op, lam_dtype dtype, const lam__turn *turn, const lam__reduce_block *block,
                          const lam__reduce_target *to) {
    alignas(64) char room[ROOM_BYTES];
    const int64_t item = lam__item_bytes(dtype), fit = ROOM_BYTES / (item * block->rows), most = fit - fit % ALIGNED;
    for (int64_t c = 0; c < block->columns; c += most) {
        const int64_t n = block->columns - c < most ? block->columns - c : most;
        const lam__reduce_block part = {room, n, 1, block->rows, n, false, 1, 0};
        const lam__reduce_target at = {(int64_t *)to->out + c * to->step, to->step, 0};
        turn->plane(block->rows, n, (const char *)block->x + c * block->step * item, block->step, room, n, false);
        lam__reduce_loops(dtype)->arg(op, &part, &at);
    }
}

static void search(lam__reduce_op op, lam_dtype dtype, const lam__reduce_block *block, const lam__reduce_target *to) {
    const lam__turn *turn = is_turned(block, dtype) ? lam__elementwise_simd()->turn(lam__item_bytes(dtype)) : NULL;
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
    const int last = kept.rank - 1;
    const bool enough = last >= 0 && (kept.at[last].dim >= 8 || kept.at[last].x == 1);
    const lam__reduce_axis columns = lam__reduce_take_axis(&kept, enough ? last : lam__reduce_longest(&kept));
    lam__reduce_axis layers = {1, 0, 0};
    if (kept.rank > 0) layers = lam__reduce_take_axis(&kept, kept.rank - 1);
    const lam__reduce_op op = maximum ? LAM__REDUCE_OP_MAX : LAM__REDUCE_OP_MIN;
    const int64_t item = lam__item_bytes(dtype);
    lam__reduce_begin(&walk, &kept);
    do {
        const char *start = (const char *)x + walk.x * item;
        const lam__reduce_block block = {start,         columns.dim, columns.x,  dims[axis],
                                         strides[axis], false,       layers.dim, layers.x};
        const lam__reduce_target target = {out + walk.out, columns.out, layers.out};
        search(op, dtype, &block, &target);
    } while (lam__reduce_next(&walk, &kept));
}
