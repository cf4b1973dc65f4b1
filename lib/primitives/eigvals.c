/* Eigenvalues and eigenvectors of general matrices, complex in general. From x v = v diag(w) come, with p = v^-1 dx v,
 * dw = diag(p) and dv = v (f * p), where f[i, j] = 1 / (w[j] - w[i]); the transpose, which does not conjugate, is
 * gx = v^-T (diag(gw) + f * v^T gv) v^T, of real matrices its real part. Of equal values see NOTE [equal ones] in
 * gaps.c. The lengths of the vectors are not followed: the wrapper divides by them. */
#include "lib/primitives/apply.h"
#include "lib/primitives/axes.h"
#include "lib/primitives/cplx.h"
#include "lib/primitives/matrices.h"
#include "lib/primitives/rows.h"
#include "lib/primitives/solve.h"

#include "lib/kernels/kernels.h"
#include "lib/tensor/dtype.h"
#include "lib/tensor/value.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

#include <float.h>
#include <math.h>

enum { VALUES, VECTORS, OUTPUTS };

/* One row for both operations, since rules of the values need the vectors. */
typedef struct eigvals_params {
    bool vectors; /* otherwise they have no elements */
} eigvals_params;

/* Complex for real operands too: whether eigenvalues are real depends on elements. */
static lam_status shape_eigvals(const lam_call_site *call, lam_shape out[]) {
    const eigvals_params *p = call->params;
    const lam_value *x = call->in[0];
    lam_status typed = lam__matrices_typed(call, true);
    if (typed != LAM_OK) return typed;
    for (int o = 0; o < OUTPUTS; o++) {
        out[o].dtype = lam__dtype_promote(x->dtype, LAM_C64);
        out[o].rank = o == VALUES ? x->rank - 1 : x->rank;
        for (int k = 0; k < out[o].rank; k++)
            out[o].dims[k] = k < x->rank - 2 || o == VALUES || p->vectors ? x->dims[k] : 0;
    }
    return lam__matrices_fit(call, false);
}

/* What the workers share; the copy is what LAPACK overwrites. */
typedef struct stack {
    lam_dtype dtype;
    int64_t n;
    const lam_value *copy, *values, *vectors; /* no vectors: NULL */
} stack;

/* Whole matrices, with the worker's scratch; gives the first that did not converge. */
static int64_t decompose_part(const void *env, int64_t begin, int64_t end, void *room) {
    const stack *s = env;
    const int64_t item = (int64_t)lam__dtype_bytes(s->dtype), out = (int64_t)lam__dtype_bytes(s->values->dtype);
    const int64_t bad =
        lam__kernels_eig(s->dtype, end - begin, s->n, (char *)s->copy->data + begin * s->n * s->n * item,
                         (char *)s->values->data + begin * s->n * out,
                         s->vectors ? (char *)s->vectors->data + begin * s->n * s->n * out : NULL, room);
    return bad < 0 ? bad : begin + bad;
}

/* Cost: some ten times n^3 for the QR iteration. It may fail to converge, which names the matrix. */
static lam_status eval_eigvals(const lam_call_site *call, lam_value *const out[]) {
    const eigvals_params *p = call->params;
    const lam_value *x = call->in[0];
    lam_dtype dtype = (lam_dtype)x->dtype;
    lam_value *copy = x->count ? lam__value_new(call->ctx, dtype, x->rank, x->dims) : NULL;
    if (!copy) return x->count ? LAM_ERR_MEMORY : LAM_OK;
    const stack s = {dtype, x->dims[x->rank - 1], copy, out[VALUES], p->vectors ? out[VECTORS] : NULL};
    const double n = (double)s.n;
    int64_t bad;
    lam__matrices_copy(x, copy->data);
    lam_status status = lam__matrices_each(call->ctx, lam__matrices_count(x), 10 * n * n * (n + 50),
                                           lam__kernels_eig_bytes(dtype, s.n, p->vectors), decompose_part, &s, &bad);
    lam__value_release(copy);
    return status != LAM_OK || bad < 0 ? status
                                       : lam__matrices_bad(call, x, bad, "has eigenvalues that were not found", NULL);
}

/* ---- derivative -------------------------------------------------------------------------------------------------- */

/* Without vectors the second result has no elements, and costs nothing. */
static lam_status apply_eigvals(lam_tensor *x, bool vectors, lam_tensor *out[OUTPUTS]) {
    eigvals_params p = {vectors};
    return lam_bind(x->ctx, &lam__row_eigvals, &p, sizeof p, LAM_LIST(x), out, OUTPUTS);
}

/* The vectors that belong to the results: these, or made now. For values alone this is a second decomposition, which
 * only derivatives pay for. */
static lam_tensor *vectors_of(const lam_rule *r) {
    const eigvals_params *p = r->params;
    lam_tensor *all[OUTPUTS];
    if (p->vectors) return r->out[VECTORS];
    apply_eigvals(r->in[0], true, all);
    return all[VECTORS];
}

/* Row i of v^-1, v's columns having length 1, is as long as eigenvalue i moves, at most, for a change of x of size 1.
 * Where that is as large as rounding can make it, an eigenvector is missing: the exact derivative is infinite, but the
 * rounded ones of eigenvalues that are equal cancel, so that a sum of squares would get a wrong one. They are made
 * infinite, which shows in whatever is made of them. */
static lam_tensor *inverse_of(lam_tensor *v) {
    const double epsilon = lam_dtype_of(v) == LAM_C64 ? FLT_EPSILON : DBL_EPSILON, n = (double)lam_dim(v, -1);
    lam_tensor *inverse = lam__solve_inverse(v);
    lam_tensor *length = lam_norm(lam_stop_gradient(inverse), &(lam_norm_options){LAM_AXES(-1), true, 2});
    return lam_mul(inverse, lam_where(lam_lt(length, 1 / (n * epsilon)), lam_ones_like(length), INFINITY));
}

/* dw = diag(p), dv = v (f * p) with p = v^-1 dx v. Vectors are followed up to multiples, so the diagonal of f * p is
 * 0. */
static void jvp_eigvals(const lam_rule *r, lam_tensor *const dx[], lam_tensor *dout[]) {
    const eigvals_params *params = r->params;
    lam_tensor *v = vectors_of(r), *inverse = inverse_of(v), *p = lam_matmul(inverse, lam_matmul(dx[0], v));
    dout[VALUES] = lam_diagonal(p, 0, -2, -1);
    if (!params->vectors) return;
    lam_tensor *w = lam__gaps_values(r->out[VALUES], inverse, r->in[0], v);
    dout[VECTORS] = lam_matmul(v, lam_gap_solve(w, p, -1));
}

/* gx = v^-T (diag(gw) v^T + (f * v^T gv) v^T). Of a real operand the real part: imaginary changes are not among its
 * own. */
static void vjp_eigvals(const lam_rule *r, lam_tensor *const g[], lam_tensor *gx[]) {
    const eigvals_params *params = r->params;
    /* Without vectors the second result has no elements, and its cotangent no say. */
    if (!g[VALUES] && !(params->vectors && g[VECTORS])) return;
    lam_tensor *v = vectors_of(r), *inverse = inverse_of(v), *vt = lam__matrices_turn(v), *middle = NULL;
    if (g[VALUES]) middle = lam_mul(lam_expand_dims(g[VALUES], -1), vt);
    if (params->vectors && g[VECTORS]) {
        lam_tensor *w = lam__gaps_values(r->out[VALUES], inverse, r->in[0], v);
        lam_tensor *turning = lam_gap_solve(lam__matrices_turn(w), lam_matmul(vt, g[VECTORS]), -1);
        middle = lam__matrices_plus(middle, lam_matmul(turning, vt));
    }
    gx[0] = lam_matmul(lam__matrices_turn(inverse), middle);
    if (!lam__cplx_is(r->in[0])) gx[0] = lam_real(gx[0]);
}

/* A stack with one more leading axis. */
static void batch_eigvals(const lam_rule *r, lam_tensor *out[]) {
    const eigvals_params *p = r->params;
    apply_eigvals(r->in[0], p->vectors, out);
}

const lam_primitive lam__row_eigvals = {
    .name = "eigvals",
    .inputs = 1,
    .takes_complex = true,
    .outputs = OUTPUTS,
    .derivative = LAM_GENERAL,
    .saves = LAM_SAVE_IN(0) | LAM_SAVE_OUT(VALUES) | LAM_SAVE_OUT(VECTORS),
    .shape = shape_eigvals,
    .eval = eval_eigvals,
    .jvp = jvp_eigvals,
    .vjp = vjp_eigvals,
    .batch = batch_eigvals,
    .layout = "b vectors",
};

/* Without vectors, in whose place the row gives nothing; the derivative makes them if it is asked for. */
lam_tensor *lam_eigvals(lam_tensor *x) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *failed, *out[OUTPUTS];
    if (!lam__matrices_operands("eigvals", true, 1, &x, &x, &failed)) return failed;
    if (!lam__matrices_square("eigvals", x)) return lam__axes_failed(x);
    if (apply_eigvals(x, false, out) != LAM_OK) return lam__axes_failed(x);
    return lam__scope_only(out[VALUES], since);
}

/* LAPACK's vectors have length 1, and so have these; dividing by the length is for the derivative, which the row gives
 * up to multiples of the vector. */
lam_status lam_eig(lam_tensor *x, lam_tensor **values, lam_tensor **vectors) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *failed = lam__axes_failed(x), *out[OUTPUTS];
    lam_tensor **const places[] = {[VALUES] = values, [VECTORS] = vectors};
    bool usable = lam__matrices_operands("eig", true, 1, &x, &x, &failed) && lam__matrices_square("eig", x);
    if (!usable || apply_eigvals(x, true, out) != LAM_OK)
        return lam__matrices_give_failed(lam__axes_failed(x), OUTPUTS, places);
    lam_tensor *length = lam_sum(lam__cplx_size(out[VECTORS]), &(lam_reduce_options){LAM_AXES(-2), true});
    out[VECTORS] = lam_mul(out[VECTORS], lam_rsqrt(length));
    return lam__matrices_give(LAM_OK, since, OUTPUTS, out, places);
}
