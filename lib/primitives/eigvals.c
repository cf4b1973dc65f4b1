/* Eigenvalues of general real matrices, complex in general. Here real and imaginary parts are tensors of their own,
 * which the wrapper joins. From x v = v diag(w) come, with p = v^-1 dx v, dw = diag(p) and dv = v (f * p), where
 * f[i, j] = 1 / (w[j] - w[i]); the transpose is gx = Re(v^-H (diag(gw) + conj(f) * v^H gv) v^H). The lengths of the
 * vectors are not followed: only the values go out, which do not depend on them. */
#include "lib/primitives/apply.h"
#include "lib/primitives/axes.h"
#include "lib/primitives/matrices.h"
#include "lib/primitives/rows.h"

#include "lib/kernels/kernels.h"
#include "lib/tensor/value.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

#include <float.h>

enum { VALUES, VECTORS = 2, OUTPUTS = 4 }; /* each with its imaginary part behind it */

typedef struct eigvals_params {
    bool vectors; /* otherwise they have no elements */
} eigvals_params;

static lam_status shape_eigvals(const lam_call_site *call, lam_shape out[]) {
    const eigvals_params *p = call->params;
    const lam_value *x = call->in[0];
    lam_status typed = lam__matrices_typed(call, true);
    if (typed != LAM_OK) return typed;
    for (int o = 0; o < OUTPUTS; o++) {
        out[o].dtype = (lam_dtype)x->dtype;
        out[o].rank = o < VECTORS ? x->rank - 1 : x->rank;
        for (int k = 0; k < out[o].rank; k++)
            out[o].dims[k] = k < x->rank - 2 || o < VECTORS || p->vectors ? x->dims[k] : 0;
    }
    return lam__matrices_fit(call, false);
}

static lam_status eval_eigvals(const lam_call_site *call, lam_value *const out[]) {
    const eigvals_params *p = call->params;
    const lam_value *x = call->in[0];
    lam_dtype dtype = (lam_dtype)x->dtype;
    int64_t n = x->dims[x->rank - 1], bad = -1;
    if (x->count == 0) return LAM_OK;
    lam__work work = {.room = NULL};
    lam_value *copy = lam__value_new(call->ctx, dtype, x->rank, x->dims);
    bool room = copy && lam__matrices_work(call->ctx, lam__kernels_eig_bytes(dtype, n, p->vectors), &work);
    if (room) {
        void *const values[2] = {out[VALUES]->data, out[VALUES + 1]->data};
        void *const vectors[2] = {out[VECTORS]->data, out[VECTORS + 1]->data};
        lam__matrices_copy(x, copy->data);
        bad = lam__kernels_eig(dtype, lam__matrices_count(x), n, copy->data, values, p->vectors ? vectors : NULL,
                               work.room);
    }
    lam__matrices_work_end(&work);
    lam__value_release(copy);
    if (bad >= 0) return lam__matrices_bad(call, x, bad, "has eigenvalues that were not found", NULL);
    return room ? LAM_OK : LAM_ERR_MEMORY;
}

/* ---- complex matrices as pairs ----------------------------------------------------------------------------------- */

typedef struct pair {
    lam_tensor *re, *im;
} pair;

typedef lam_tensor *product_of(lam_tensor *x, lam_tensor *y);

static lam_tensor *by_elements(lam_tensor *x, lam_tensor *y) {
    return lam_mul(x, y);
}

static pair multiply(product_of *f, pair x, pair y) {
    return (pair){lam_sub(f(x.re, y.re), f(x.im, y.im)), lam_add(f(x.re, y.im), f(x.im, y.re))};
}

static pair plus(pair x, pair y) {
    return (pair){lam_add(x.re, y.re), lam_add(x.im, y.im)};
}

static pair conjugate(pair x) {
    return (pair){x.re, lam_neg(x.im)};
}

static pair turned(pair x) {
    return (pair){lam__matrices_turn(x.re), lam__matrices_turn(x.im)};
}

/* a^-1 b, or a^-H b: one real solve with [[re, -im], [im, re]]. */
static pair solved(pair a, pair b, bool adjoint) {
    lam_tensor *above = lam_concatenate(LAM_LIST(a.re, lam_neg(a.im)), -1),
               *below = lam_concatenate(LAM_LIST(a.im, a.re), -1), *both = lam_concatenate(LAM_LIST(above, below), -2);
    int64_t n = lam_dim(a.re, -1);
    lam_tensor *x = lam_solve(adjoint ? lam__matrices_turn(both) : both, lam_concatenate(LAM_LIST(b.re, b.im), -2));
    return (pair){lam_slice_axis(x, -2, 0, n), lam_slice_axis(x, -2, n, LAM_END)};
}

/* 1 / (w[j] - w[i]), 0 where they are equal up to rounding: see NOTE [equal ones] in matrices.c. */
static pair inverse_gaps(pair w) {
    double epsilon = lam_dtype_of(w.re) == LAM_F32 ? FLT_EPSILON : DBL_EPSILON, n = (double)lam_dim(w.re, -1);
    pair gap = {lam_sub(lam_expand_dims(w.re, -2), lam_expand_dims(w.re, -1)),
                lam_sub(lam_expand_dims(w.im, -2), lam_expand_dims(w.im, -1))};
    lam_tensor *size = lam_hypot(lam_stop_gradient(w.re), lam_stop_gradient(w.im));
    lam_tensor *largest = lam_max_reduce(size, &(lam_reduce_options){LAM_AXES(-1), true});
    lam_tensor *none = lam_le(lam_hypot(lam_stop_gradient(gap.re), lam_stop_gradient(gap.im)),
                              lam_expand_dims(lam_mul(4 * n * epsilon, largest), -1));
    pair safe = {lam_where(none, 1.0, gap.re), lam_where(none, 0.0, gap.im)};
    lam_tensor *square = lam_add(lam_square(safe.re), lam_square(safe.im));
    return (pair){lam_where(none, 0.0, lam_div(safe.re, square)),
                  lam_where(none, 0.0, lam_neg(lam_div(safe.im, square)))};
}

/* ---- derivative -------------------------------------------------------------------------------------------------- */

static lam_status apply_eigvals(lam_tensor *x, bool vectors, lam_tensor *out[OUTPUTS]) {
    eigvals_params p = {vectors};
    return lam_bind(x->ctx, &lam__row_eigvals, &p, sizeof p, LAM_LIST(x), out, OUTPUTS);
}

/* The vectors that belong to the results: these, or made now. */
static pair vectors_of(const lam_rule *r) {
    const eigvals_params *p = r->params;
    lam_tensor *all[OUTPUTS];
    if (p->vectors) return (pair){r->out[VECTORS], r->out[VECTORS + 1]};
    apply_eigvals(r->in[0], true, all);
    return (pair){all[VECTORS], all[VECTORS + 1]};
}

static void jvp_eigvals(const lam_rule *r, lam_tensor *const dx[], lam_tensor *dout[]) {
    const eigvals_params *params = r->params;
    pair v = vectors_of(r), moved = {lam_matmul(dx[0], v.re), lam_matmul(dx[0], v.im)}, p = solved(v, moved, false);
    dout[VALUES] = lam_diagonal(p.re, 0, -2, -1);
    dout[VALUES + 1] = lam_diagonal(p.im, 0, -2, -1);
    if (!params->vectors) return;
    pair f = inverse_gaps((pair){r->out[VALUES], r->out[VALUES + 1]});
    pair dv = multiply(lam_matmul, v, multiply(by_elements, f, p));
    dout[VECTORS] = dv.re;
    dout[VECTORS + 1] = dv.im;
}

/* Cotangents of which one part may be absent. False: both are. */
static bool complete(lam_tensor *const g[2], pair *out) {
    if (!g[0] && !g[1]) return false;
    *out = (pair){g[0] ? g[0] : lam_zeros_like(g[1]), g[1] ? g[1] : lam_zeros_like(g[0])};
    return true;
}

static void vjp_eigvals(const lam_rule *r, lam_tensor *const g[], lam_tensor *gx[]) {
    const eigvals_params *params = r->params;
    pair v = vectors_of(r), adjoint = turned(conjugate(v)), gw, gv, middle = {NULL, NULL};
    if (complete(g + VALUES, &gw)) {
        pair rows = {lam_expand_dims(gw.re, -1), lam_expand_dims(gw.im, -1)};
        middle = multiply(by_elements, rows, adjoint);
    }
    if (params->vectors && complete(g + VECTORS, &gv)) {
        pair f = conjugate(inverse_gaps((pair){r->out[VALUES], r->out[VALUES + 1]}));
        pair turning = multiply(by_elements, f, multiply(lam_matmul, adjoint, gv));
        turning = multiply(lam_matmul, turning, adjoint);
        middle = middle.re ? plus(middle, turning) : turning;
    }
    if (middle.re) gx[0] = solved(v, middle, true).re;
}

static void batch_eigvals(const lam_rule *r, lam_tensor *out[]) {
    const eigvals_params *p = r->params;
    apply_eigvals(r->in[0], p->vectors, out);
}

const lam_primitive lam__row_eigvals = {
    .name = "eigvals",
    .inputs = 1,
    .outputs = OUTPUTS,
    .derivative = LAM_GENERAL,
    .saves = LAM_SAVE_IN(0) | LAM_SAVE_OUT(VALUES) | LAM_SAVE_OUT(VALUES + 1) | LAM_SAVE_OUT(VECTORS) |
             LAM_SAVE_OUT(VECTORS + 1),
    .shape = shape_eigvals,
    .eval = eval_eigvals,
    .jvp = jvp_eigvals,
    .vjp = vjp_eigvals,
    .batch = batch_eigvals,
};

lam_tensor *lam_eigvals(lam_tensor *x) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *failed, *out[OUTPUTS];
    if (!lam__matrices_operands("eigvals", true, 1, &x, &x, &failed)) return failed;
    if (!lam__matrices_square("eigvals", x)) return lam__axes_failed(x);
    if (apply_eigvals(x, false, out) != LAM_OK) return lam__axes_failed(x);
    return lam__scope_only(lam_complex(out[VALUES], out[VALUES + 1]), since);
}

lam_status lam_eig(lam_tensor *x, lam_tensor **values, lam_tensor **vectors) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *failed = lam__axes_failed(x), *out[OUTPUTS];
    *values = *vectors = failed;
    bool usable = lam__matrices_operands("eig", true, 1, &x, &x, &failed) && lam__matrices_square("eig", x);
    if (!usable || apply_eigvals(x, true, out) != LAM_OK) return lam_status_of(lam_ctx_of(failed));
    lam_tensor *square = lam_add(lam_square(out[VECTORS]), lam_square(out[VECTORS + 1]));
    lam_tensor *over = lam_rsqrt(lam_sum(square, &(lam_reduce_options){LAM_AXES(-2), true}));
    *values = lam_complex(out[VALUES], out[VALUES + 1]);
    *vectors = lam_complex(lam_mul(out[VECTORS], over), lam_mul(out[VECTORS + 1], over));
    lam__scope_only_these(2, (lam_tensor *const[]){*values, *vectors}, since);
    return lam_failed(*vectors) ? lam_status_of(lam_ctx_of(failed)) : LAM_OK;
}
