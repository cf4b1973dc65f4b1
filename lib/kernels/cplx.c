/* Scans and recurrences of complex numbers. Running sums go through the loops of the reals: the parts are one more axis
 * of two elements, so that they are as accurate. */
#include "lib/kernels/cplx.h"

#include "lib/kernels/scan.h"

/* An array of complex numbers as one of reals with an axis more, the last. Its parts lie side by side, so the new axis
 * has a stride of 1 and the others count twice. */
typedef struct view {
    lam_dtype dtype;
    int64_t dims[LAM__MAX_AXES], strides[LAM__MAX_AXES];
} view;

/* Strides count parts, so they double; there is room for the axis since LAM__MAX_AXES is above what any caller has. */
static view view_of(lam_dtype dtype, int rank, const int64_t *dims, const int64_t *strides) {
    view v;
    v.dtype = dtype == LAM_C128 ? LAM_F64 : LAM_F32;
    for (int i = 0; i < rank; i++) {
        v.dims[i] = dims[i];
        v.strides[i] = 2 * strides[i];
    }
    v.dims[rank] = 2;
    v.strides[rank] = 1;
    return v;
}

/* Compensated as running sums of reals are, real and imaginary parts apart. */
void lam__cplx_cumsum(const lam__scan *s, const void *x, void *out) {
    const view from = view_of(s->dtype, s->rank, s->dims, s->from);
    const view to = view_of(s->dtype, s->rank, s->dims, s->to);
    const lam__scan parts = {s->id, from.dtype, s->rank + 1, s->axis, s->reverse, from.dims, from.strides, to.strides};
    lam__scan_run(&parts, x, out);
}

/* ---- running products, recurrences ------------------------------------------------------------------------------- */

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
