/* Reductions, scans and recurrences of complex numbers. Sums go through the loops of the reals: the parts are one more
 * axis of two elements, so that they are as accurate and as fast. Products are trees of eight elements, sixteen of
 * which are a block. */
#include "lib/kernels/cplx.h"

#include "lib/kernels/reduce_loops.h"
#include "lib/kernels/scan.h"

#include <stdlib.h>
#include <string.h>

/* Strides count parts, so they double; there is room for the axis since LAM__MAX_AXES is above what any caller has. The
 * results of a view are pairs side by side as well. */
lam__cplx_view lam__cplx_view_of(lam_dtype dtype, int rank, const int64_t *dims, const int64_t *strides) {
    lam__cplx_view v;
    v.dtype = dtype == LAM_C128 ? LAM_F64 : LAM_F32;
    for (int i = 0; i < rank; i++) {
        v.dims[i] = dims[i];
        v.strides[i] = 2 * strides[i];
    }
    v.dims[rank] = 2;
    v.strides[rank] = 1;
    return v;
}

/* The parts are a kept axis, so each sum runs along its own part with the blocks and the pairwise order of the
 * reals. */
void lam__cplx_sum(lam_dtype dtype, int rank, const int64_t *dims, const bool *reduced, const void *x,
                   const int64_t *strides, void *out) {
    lam__cplx_view v = lam__cplx_view_of(dtype, rank, dims, strides);
    bool along[LAM__MAX_AXES];
    memcpy(along, reduced, (size_t)rank * sizeof *along);
    along[rank] = false;
    lam__kernels_reduce(LAM__REDUCE_SUM, v.dtype, rank + 1, v.dims, along, x, v.strides, out);
}

/* Compensated as running sums of reals are, real and imaginary parts apart. */
void lam__cplx_cumsum(const lam__scan *s, const void *x, void *out) {
    const lam__cplx_view from = lam__cplx_view_of(s->dtype, s->rank, s->dims, s->from);
    const lam__cplx_view to = lam__cplx_view_of(s->dtype, s->rank, s->dims, s->to);
    const lam__scan parts = {s->id, from.dtype, s->rank + 1, s->axis, s->reverse, from.dims, from.strides, to.strides};
    lam__scan_run(&parts, x, out);
}

/* ---- products --------------------------------------------------------------------------------------------------- */

#define T        double
#define FN(name) name##_c128
#include "lib/kernels/cplx_type.h"

#define T        float
#define FN(name) name##_c64
#include "lib/kernels/cplx_type.h"

/* The first element; the caller sets where results go. Nothing is merged or sorted here: a running product is bound by
 * its own chain of multiplications, not by how it goes through memory. */
static void begin(walk *w, int rank, const int64_t *dims, const int64_t *strides) {
    w->rank = rank;
    w->count = 1;
    w->x = w->out = 0;
    for (int i = 0; i < rank; i++) {
        w->dims[i] = dims[i];
        w->from[i] = strides[i];
        w->at[i] = 0;
        w->count *= dims[i];
    }
}

/* Results are dense, in the order of the axes that are kept. The innermost axes are those of the smallest strides, so
 * that the order of a product follows from the axes that it goes along, however many results there are. */
void lam__cplx_prod(lam_dtype dtype, int rank, const int64_t *dims, const bool *reduced, const void *x,
                    const int64_t *strides, void *out) {
    prod_axes a = {.kept = {0}};
    int64_t count[2] = {1, 1};
    for (int i = rank - 1; i >= 0; i--) {
        lam__reduce_axes *axes = reduced[i] ? &a.reduced : &a.kept;
        if (dims[i] != 1) axes->at[axes->rank++] = (lam__reduce_axis){dims[i], strides[i], reduced[i] ? 0 : count[0]};
        count[reduced[i]] *= dims[i];
    }
    if (count[0] == 0 || count[1] == 0) {
        if (dtype == LAM_C128) ones_c128(count[0], out);
        else ones_c64(count[0], out);
        return;
    }
    lam__reduce_coalesce(&a.kept);
    lam__reduce_coalesce(&a.reduced);
    a.columns = lam__reduce_take_axis(&a.kept, a.kept.rank - 1);
    a.rows = lam__reduce_take_axis(&a.reduced, a.reduced.rank - 1);
    if (dtype == LAM_C128) prod_c128(&a, x, out);
    else prod_c64(&a, x, out);
}

/* Walks the scanned axis last, so that the element before is always there. From the back its strides change sign and it
 * begins at the last element; the walk sees it as an axis of one element. Only that axis is run through by the
 * loops. */
void lam__cplx_cumprod(const lam__scan *s, const void *x, void *out) {
    walk w;
    const int64_t n = s->dims[s->axis];
    begin(&w, s->rank, s->dims, s->from);
    for (int i = 0; i < s->rank; i++) w.to[i] = s->to[i];
    if (w.count == 0) return;
    lane l = {.n = n, .from = s->from[s->axis], .to = s->to[s->axis]};
    if (s->reverse) {
        l.first_from = (n - 1) * l.from, l.first_to = (n - 1) * l.to;
        l.from = -l.from, l.to = -l.to;
    }
    w.count /= n;
    w.dims[s->axis] = 1;
    if (s->dtype == LAM_C128) cumprod_c128(&w, &l, x, out);
    else cumprod_c64(&w, &l, x, out);
}

/* No vectors: complex recurrences are rare, and each lane's chain of products is what takes the time. */
void lam__cplx_recurrence(lam_dtype dtype, const lam__lanes *s, bool reverse, const void *a, const void *b, void *out) {
    if (dtype == LAM_C128) recurrence_c128(s, reverse, a, b, out);
    else recurrence_c64(s, reverse, a, b, out);
}
