/* Running sums, products, maxima and minima along an axis. Running sums of floats are compensated (reduce_type.h,
 * advance): the error of element i does not grow with i. A scan from the back is a scan from the front of the reversed
 * axis, on both sides. The other axes are put in order of stride and merged; the smallest of them is the columns of a
 * block, many scans side by side, since a single one waits for each of its own additions. */
#include "lib/kernels/scan.h"

#include "lib/kernels/cplx.h"
#include "lib/kernels/reduce_loops.h"

/* The axis that is run along, after a reversal: strides in elements of x and of out. `x_start` and `out_start` say
 * where that element lies. */
typedef struct scan_axis {
    int64_t dim, x, out;
    int64_t x_start, out_start; /* elements to the first one visited */
} scan_axis;

/* Splits off the scanned axis; the number of elements is returned. An axis from the back has negative strides and
 * begins at its last element, so the loops know one direction only. Strides of the result go with those of x, so the
 * walk keeps both. */
static int64_t split_axes(const lam__scan *s, scan_axis *scanned, lam__reduce_axes *kept) {
    int64_t count = 1;
    kept->rank = 0;
    for (int i = s->rank - 1; i >= 0; i--) {
        if (i == s->axis) *scanned = (scan_axis){s->dims[i], s->from[i], s->to[i], 0, 0};
        else if (s->dims[i] != 1) kept->at[kept->rank++] = (lam__reduce_axis){s->dims[i], s->from[i], s->to[i]};
        count *= s->dims[i];
    }
    if (s->reverse) {
        int64_t last = scanned->dim - 1;
        *scanned = (scan_axis){scanned->dim, -scanned->x, -scanned->out, last * scanned->x, last * scanned->out};
    }
    return count;
}

/* to: strides of a result without gaps. */
int64_t lam__scan_dense(int rank, const int64_t *dims, int64_t *to) {
    int64_t count = 1;
    for (int i = rank - 1; i >= 0; i--) {
        to[i] = count;
        count *= dims[i];
    }
    return count;
}

void lam__scan_run(const lam__scan *s, const void *x, void *out) {
    scan_axis scanned = {0};
    lam__reduce_axes kept;
    lam__reduce_walk walk;
    if (lam__cplx_is(s->dtype)) {
        (s->id == LAM__REDUCE_SUM ? lam__cplx_cumsum : lam__cplx_cumprod)(s, x, out);
        return;
    }
    if (split_axes(s, &scanned, &kept) == 0) return;
    lam__reduce_coalesce(&kept);
    /* A few columns would leave most of a vector empty; the longest axis is better then, also where it lies apart. */
    bool enough = kept.rank > 0 && kept.at[kept.rank - 1].dim >= 8;
    lam__reduce_axis columns = lam__reduce_take_axis(&kept, enough ? kept.rank - 1 : lam__reduce_longest(&kept));
    const int64_t item = lam__item_bytes(s->dtype);
    lam__reduce_begin(&walk, &kept);
    do {
        const char *from = (const char *)x + (scanned.x_start + walk.x) * item;
        const lam__reduce_block block = {from, columns.dim, columns.x, scanned.dim, scanned.x, false, 1, 0, false, 0};
        const lam__reduce_target target = {(char *)out + (scanned.out_start + walk.out) * item, columns.out,
                                           scanned.out};
        lam__reduce_loops(s->dtype)->scan(lam__reduce_op_of(s->id, s->dtype), &block, &target);
    } while (lam__reduce_next(&walk, &kept));
}

/* The result has no gaps; scans into other strides are lam__scan_run's. */
void lam__kernels_cumulate(lam__reduce_id id, lam_dtype dtype, int rank, const int64_t *dims, int axis, bool reverse,
                           const void *x, const int64_t *strides, void *out) {
    int64_t to[LAM__MAX_AXES];
    const lam__scan s = {id, dtype, rank, axis, reverse, dims, strides, to};
    if (lam__scan_dense(rank, dims, to)) lam__scan_run(&s, x, out);
}
