/* Reductions, scans and recurrences of complex numbers. Sums go through the loops of the reals: the parts are one more
 * axis of two elements, so that they are as accurate and as fast. Products take one element after the other. */
#include "lib/kernels/cplx.h"

#include "lib/kernels/scan.h"

#include <string.h>

/* Strides count parts, so they double; there is room for the axis since LAM__MAX_AXES is above what any caller has. */
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

void lam__cplx_sum(lam_dtype dtype, int rank, const int64_t *dims, const bool *reduced, const void *x,
                   const int64_t *strides, void *out) {
    lam__cplx_view v = lam__cplx_view_of(dtype, rank, dims, strides);
    bool along[LAM__MAX_AXES];
    memcpy(along, reduced, (size_t)rank * sizeof *along);
    along[rank] = false;
    lam__kernels_reduce(LAM__REDUCE_SUM, v.dtype, rank + 1, v.dims, along, x, v.strides, out);
}

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

/* The first element; the caller sets where results go. */
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

/* Results are dense, in the order of the axes that are kept; a reduced axis does not move the place of the result. */
void lam__cplx_prod(lam_dtype dtype, int rank, const int64_t *dims, const bool *reduced, const void *x,
                    const int64_t *strides, void *out) {
    walk w;
    int64_t results = 1;
    begin(&w, rank, dims, strides);
    for (int i = rank - 1; i >= 0; i--) {
        w.to[i] = reduced[i] ? 0 : results;
        if (!reduced[i]) results *= dims[i];
    }
    if (dtype == LAM_C128) prod_c128(&w, results, x, out);
    else prod_c64(&w, results, x, out);
}

/* Walks the scanned axis last, so that the element before is always there. */
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

void lam__cplx_recurrence(lam_dtype dtype, const lam__lanes *s, bool reverse, const void *a, const void *b, void *out) {
    if (dtype == LAM_C128) recurrence_c128(s, reverse, a, b, out);
    else recurrence_c64(s, reverse, a, b, out);
}
