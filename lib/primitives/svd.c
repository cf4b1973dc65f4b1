/* Singular values and vectors. With p = u^T dx v come ds = diag(p), du = u (e * sym(p) + d * skew(p)) and dv = v (e *
 * sym(p) - d * skew(p)), e[i, j] = 1 / (s[j] - s[i]) and d[i, j] = 1 / (s[j] + s[i]), and beyond the span of u what of
 * dx v lies there, over s. So the orthogonal factor u v^T never meets e, and has its derivatives to all orders also
 * where singular values repeat; see NOTE [equal ones] in gaps.c for the rest. */
#include "lib/primitives/apply.h"
#include "lib/primitives/axes.h"
#include "lib/primitives/matrices.h"
#include "lib/primitives/rows.h"

#include "lib/kernels/kernels.h"
#include "lib/tensor/value.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

#include <string.h>

enum { LEFT, VALUES, RIGHT, OUTPUTS };

/* Whether u and v are square. */
typedef struct svd_params {
    bool full;
} svd_params;

/* What LAPACK is told of one matrix: sizes, whether u and v are square, whether they are wanted. */
static lam__rectangle rectangle_of(const lam_value *x, bool full, bool vectors) {
    return (lam__rectangle){x->dims[x->rank - 2], x->dims[x->rank - 1], full, vectors};
}

/* As many singular values as there are. */
static int64_t shorter(const lam__rectangle *r) {
    return r->m < r->n ? r->m : r->n;
}

/* Leading axes of x, then `count` ones. dtype is that of x, which values of complex matrices do not have. */
static void shape_after_lead(const lam_value *x, lam_shape *out, int count, int64_t first, int64_t second) {
    out->dtype = (lam_dtype)x->dtype;
    out->rank = x->rank - 2;
    for (int k = 0; k < out->rank; k++) out->dims[k] = x->dims[k];
    out->dims[out->rank++] = first;
    if (count == 2) out->dims[out->rank++] = second;
}

/* Singular values of complex matrices are real. */
static lam_status shape_svd(const lam_call_site *call, lam_shape out[]) {
    const svd_params *p = call->params;
    const lam_value *x = call->in[0];
    lam_status typed = lam__matrices_typed(call, false);
    if (typed != LAM_OK) return typed;
    lam__rectangle r = rectangle_of(x, p->full, true);
    int64_t k = shorter(&r);
    shape_after_lead(x, &out[LEFT], 2, r.m, p->full ? r.m : k);
    shape_after_lead(x, &out[VALUES], 1, k, 0);
    out[VALUES].dtype = lam__matrices_real((lam_dtype)x->dtype);
    shape_after_lead(x, &out[RIGHT], 2, p->full ? r.n : k, r.n);
    return lam__matrices_fit(call, p->full);
}

/* NULL: no singular vectors are wanted. */
typedef struct stack {
    const lam_value *x, *u, *s, *vt;
    const lam__rectangle *r;
} stack;

/* Matrix (or row of singular values) number `at` of `count` in x, which is the operand or a result: how many elements
 * belong to each follows from the number of matrices. NULL for a result that is not wanted. */
static void *part_of(const lam_value *x, int64_t at, int64_t count) {
    return x ? (char *)x->data + at * (x->count / count) * (int64_t)lam__dtype_bytes(x->dtype) : NULL;
}

/* Matrices [begin, end) of the stack; the first whose iteration did not end, or -1. */
static int64_t decompose_part(const void *env, int64_t begin, int64_t end, void *room) {
    const stack *k = env;
    const int64_t count = lam__matrices_count(k->x);
    const int64_t bad =
        lam__kernels_svd((lam_dtype)k->x->dtype, k->r, end - begin, part_of(k->x, begin, count),
                         part_of(k->u, begin, count), part_of(k->s, begin, count), part_of(k->vt, begin, count), room);
    return bad < 0 ? bad : begin + bad;
}

/* The same for vectors and for values alone; LAPACK is told by r->vectors. Cost: some 4 m n k for the iteration, and
 * something for each column. */
static lam_status decompose(const lam_call_site *call, const lam__rectangle *r, const lam_value *u, const lam_value *s,
                            const lam_value *vt) {
    lam_value *x = lam__value_contiguous(call->in[0]);
    if (!x) return LAM_ERR_MEMORY;
    const stack k = {x, u, s, vt, r};
    int64_t bad;
    const double cost = 4 * (double)r->m * (double)r->n * (double)(shorter(r) + 50);
    lam_status status = lam__matrices_each(call->ctx, lam__matrices_count(x), cost,
                                           lam__kernels_svd_bytes((lam_dtype)x->dtype, r), decompose_part, &k, &bad);
    lam__value_release(x);
    return status != LAM_OK || bad < 0
               ? status
               : lam__matrices_bad(call, call->in[0], bad, "has singular values that were not found", NULL);
}

/* An operand without elements may still have a full factor to be filled: of [3, 0], u is [3, 3]. */
static lam_status eval_svd(const lam_call_site *call, lam_value *const out[]) {
    const svd_params *p = call->params;
    lam__rectangle r = rectangle_of(call->in[0], p->full, true);
    if (out[LEFT]->count == 0 && out[RIGHT]->count == 0) return LAM_OK;
    return decompose(call, &r, out[LEFT], out[VALUES], out[RIGHT]);
}

/* ---- derivative -------------------------------------------------------------------------------------------------- */

/* Results as the rules need them. The first k columns of u and v have singular values; u_rest and v_rest are NULL where
 * there are no others. */
typedef struct parts {
    int64_t m, n, k;                              /* elements */
    lam_tensor *u, *s, *v, *vt, *u_rest, *v_rest; /* s: diag(s) as lam_gap_solve takes it */
} parts;

/* All columns are x itself, without a slice that a tape would record. */
static lam_tensor *columns(lam_tensor *x, int64_t from, int64_t to) {
    return from == 0 && to == lam_dim(x, -1) ? x : lam_slice_axis(x, -1, from, to);
}

/* x's columns beyond the first k, NULL if there are none. */
static lam_tensor *columns_beyond(lam_tensor *x, int64_t k) {
    return x && lam_dim(x, -1) > k ? columns(x, k, LAM_END) : NULL;
}

/* Adjoints are views, or conjugated once for all that follows. */
static parts parts_of(const lam_rule *r) {
    lam_tensor *const *out = r->out;
    lam_tensor *v = lam__matrices_adjoint(out[RIGHT]);
    parts f = {.m = lam_dim(out[LEFT], -2), .n = lam_dim(v, -2), .k = lam_dim(out[VALUES], -1)};
    f.u = columns(out[LEFT], 0, f.k);
    f.v = columns(v, 0, f.k);
    f.vt = lam__matrices_adjoint(f.v);
    f.s = lam__gaps_values(out[VALUES], lam__matrices_adjoint(f.u), r->in[0], f.v);
    f.u_rest = columns_beyond(out[LEFT], f.k);
    f.v_rest = columns_beyond(v, f.k);
    return f;
}

/* Where singular values, or sums of two, are no more than the rounding of the largest. The bound is that of NOTE [equal
 * ones] in gaps.c: 4 n roundings of the largest. */
static lam_tensor *negligible(lam_tensor *x, lam_tensor *s) {
    double epsilon = lam_dtype_of(s) == LAM_F32 ? 0x1p-23 : 0x1p-52, n = (double)lam_dim(s, -1);
    lam_tensor *largest =
        lam_max_reduce(lam_stop_gradient(s), &(lam_reduce_options){.axes = LAM_AXES(-1), .keepdims = true});
    if (lam_rank(x) > lam_rank(s)) largest = lam_expand_dims(largest, -1);
    return lam_le(x, lam_mul(4 * n * epsilon, largest));
}

/* Change of one side's vectors: inside their span by `turning`, outside by `beyond`; the other vectors turn back. That
 * they turn back keeps all columns orthogonal to each other. */
static lam_tensor *changed(lam_tensor *vectors, lam_tensor *rest, lam_tensor *turning, lam_tensor *beyond) {
    lam_tensor *first = lam_matmul(vectors, turning);
    if (beyond) first = lam_add(first, beyond);
    if (!rest) return first;
    lam_tensor *back = lam_neg(lam_matmul(vectors, lam_matmul(lam__matrices_adjoint(beyond), rest)));
    return lam_concatenate(LAM_LIST(first, back), -1);
}

/* The head of this file, by parts: `apart` is e * sym(p), which u and v share, `together` is d * skew(p), by which they
 * turn against each other. Beyond the spans, changes are what of dx v lies outside of u, over s. */
static void jvp_svd(const lam_rule *r, lam_tensor *const dx[], lam_tensor *dout[]) {
    parts f = parts_of(r);
    lam_tensor *dxv = lam_matmul(dx[0], f.v), *dxu = lam_matmul(lam__matrices_adjoint(dx[0]), f.u);
    lam_tensor *p = lam_matmul(lam__matrices_adjoint(f.u), dxv), *skew = lam__matrices_skew(p);
    lam_tensor *apart = lam_gap_solve(f.s, lam_sub(p, skew), -1), *together = lam_gap_solve(f.s, skew, 1);
    lam_tensor *beyond_u = NULL, *beyond_v = NULL;
    if (f.m > f.k) beyond_u = lam_gap_solve(f.s, lam_sub(dxv, lam_matmul(f.u, p)), 0);
    if (f.n > f.k) beyond_v = lam_gap_solve(f.s, lam_sub(dxu, lam_matmul(f.v, lam__matrices_adjoint(p))), 0);
    dout[LEFT] = changed(f.u, f.u_rest, lam_add(apart, together), beyond_u);
    dout[VALUES] = lam_real(lam_diagonal(p, 0, -2, -1));
    dout[RIGHT] = lam__matrices_adjoint(changed(f.v, f.v_rest, lam_sub(apart, together), beyond_v));
}

/* The way back through `changed`: gives the cotangent of its turning, skew, and in *beyond that of beyond. */
static lam_tensor *changed_back(lam_tensor *vectors, lam_tensor *rest, lam_tensor *g, int64_t k, lam_tensor **beyond) {
    lam_tensor *first = columns(g, 0, k), *g_rest = columns_beyond(g, k);
    lam_tensor *inside = lam_matmul(lam__matrices_adjoint(vectors), first);
    *beyond = lam_sub(first, lam_matmul(vectors, inside));
    if (rest) *beyond = lam_sub(*beyond, lam_matmul(rest, lam_matmul(lam__matrices_adjoint(g_rest), vectors)));
    return lam__matrices_skew(inside);
}

/* gx = u (diag(gs) + e * (a + b) + d * (a - b)) v^T, a and b the skew parts of u^T gu and v^T gv, and beyond the spans
 * what of gu and gv lies there, over s. */
static void vjp_svd(const lam_rule *r, lam_tensor *const g[], lam_tensor *gx[]) {
    parts f = parts_of(r);
    lam_tensor *a = NULL, *b = NULL, *beyond_u = NULL, *beyond_v = NULL, *left = NULL;
    if (g[LEFT]) a = changed_back(f.u, f.u_rest, lam_conj(g[LEFT]), f.k, &beyond_u);
    if (g[RIGHT]) b = changed_back(f.v, f.v_rest, lam__matrices_adjoint(lam_conj(g[RIGHT])), f.k, &beyond_v);
    if (g[VALUES]) left = lam__matrices_scale(f.u, g[VALUES]);
    if (a || b) {
        lam_tensor *difference = lam__matrices_plus(a, b ? lam_neg(b) : NULL);
        lam_tensor *turning =
            lam_add(lam_gap_solve(f.s, lam__matrices_plus(a, b), -1), lam_gap_solve(f.s, difference, 1));
        left = lam__matrices_plus(left, lam_matmul(f.u, turning));
    }
    /* Only where x is not square does anything lie beyond the spans. */
    if (a && f.m > f.k) left = lam__matrices_plus(left, lam_gap_solve(f.s, beyond_u, 0));
    gx[0] = left ? lam_matmul(left, f.vt) : NULL;
    if (b && f.n > f.k)
        gx[0] = lam__matrices_plus(gx[0], lam_matmul(f.u, lam__matrices_adjoint(lam_gap_solve(f.s, beyond_v, 0))));
    /* The cotangents were conjugated above, since these pairings do not conjugate. */
    if (gx[0]) gx[0] = lam_conj(gx[0]);
}

/* All three results; `full` is the parameter. */
static lam_status apply_svd(lam_tensor *x, bool full, lam_tensor *out[OUTPUTS]) {
    svd_params p = {full};
    return lam_bind(x->ctx, &lam__row_svd, &p, sizeof p, LAM_LIST(x), out, OUTPUTS);
}

/* A stack with one more leading axis. */
static void batch_svd(const lam_rule *r, lam_tensor *out[]) {
    const svd_params *p = r->params;
    apply_svd(r->in[0], p->full, out);
}

/* The operand is saved: rules have the values whose gaps they need from it and the vectors. */
const lam_primitive lam__row_svd = {
    .name = "svd",
    .inputs = 1,
    .takes_complex = true,
    .outputs = OUTPUTS,
    .derivative = LAM_GENERAL,
    .saves = LAM_SAVE_IN(0) | LAM_SAVE_OUT(LEFT) | LAM_SAVE_OUT(VALUES) | LAM_SAVE_OUT(RIGHT),
    .shape = shape_svd,
    .eval = eval_svd,
    .jvp = jvp_svd,
    .vjp = vjp_svd,
    .batch = batch_svd,
    .layout = "b full_matrices",
};

/* Places that are NULL are results not wanted; they are worked out all the same. For values alone there is
 * lam_svdvals. */
lam_status lam_svd(lam_tensor *x, lam_tensor **u, lam_tensor **s, lam_tensor **vt, const lam_svd_options *options) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *failed, *out[OUTPUTS], **const places[] = {[LEFT] = u, [VALUES] = s, [RIGHT] = vt};
    if (!lam__matrices_stack("svd", &x, &failed)) return lam__matrices_give_failed(failed, OUTPUTS, places);
    return lam__matrices_give(apply_svd(x, options && options->full_matrices, out), since, OUTPUTS, out, places);
}

/* ---- values alone ------------------------------------------------------------------------------------------------ */

/* Values are real. There are as many as the shorter side has elements, also none. */
static lam_status shape_svdvals(const lam_call_site *call, lam_shape out[]) {
    lam_status typed = lam__matrices_typed(call, false);
    if (typed != LAM_OK) return typed;
    lam__rectangle r = rectangle_of(call->in[0], false, false);
    shape_after_lead(call->in[0], out, 1, shorter(&r), 0);
    out->dtype = lam__matrices_real(out->dtype);
    return lam__matrices_fit(call, false);
}

/* Without vectors LAPACK takes far fewer steps. */
static lam_status eval_svdvals(const lam_call_site *call, lam_value *const out[]) {
    lam__rectangle r = rectangle_of(call->in[0], false, false);
    if (out[0]->count == 0) return LAM_OK;
    return decompose(call, &r, NULL, out[0], NULL);
}

/* The vectors of x, those of negligible singular values zero: the slope of a size is 0 at 0. By the other row, so that
 * values can be differentiated again. */
static void vectors_of(lam_tensor *x, lam_tensor **u, lam_tensor **vt) {
    lam_tensor *out[OUTPUTS];
    apply_svd(x, false, out);
    /* Only u has its columns taken away: all uses are products of both. */
    *u = lam_where(lam_expand_dims(negligible(out[VALUES], out[VALUES]), -2), 0.0, out[LEFT]);
    *vt = out[RIGHT];
}

/* ds = diag(u^T dx v). No gap is divided by, so equal singular values do no harm; only the sums over columns of the
 * product are made. */
static void jvp_svdvals(const lam_rule *r, lam_tensor *const dx[], lam_tensor *dout[]) {
    lam_tensor *u, *vt;
    vectors_of(r->in[0], &u, &vt);
    lam_tensor *moved = lam_matmul(dx[0], lam__matrices_adjoint(vt));
    dout[0] = lam_real(lam_sum(lam_mul(lam_conj(u), moved), &(lam_reduce_options){.axes = LAM_AXES(-2)}));
}

/* gx = u diag(g) v^H, conjugated as cotangents are. */
static void vjp_svdvals(const lam_rule *r, lam_tensor *const g[], lam_tensor *gx[]) {
    lam_tensor *u, *vt;
    vectors_of(r->in[0], &u, &vt);
    gx[0] = lam_conj(lam_matmul(lam__matrices_scale(u, g[0]), vt));
}

/* A stack with one more leading axis. */
static void batch_svdvals(const lam_rule *r, lam_tensor *out[]) {
    out[0] = lam__apply1(r->primitive, NULL, 0, r->in[0]);
}

/* x alone: vectors are worked out where a derivative is asked for. */
const lam_primitive lam__row_svdvals = {
    .name = "svdvals",
    .inputs = 1,
    .takes_complex = true,
    .derivative = LAM_GENERAL,
    .saves = LAM_SAVE_IN(0),
    .shape = shape_svdvals,
    .eval = eval_svdvals,
    .jvp = jvp_svdvals,
    .vjp = vjp_svdvals,
    .batch = batch_svdvals,
};

/* Not lam_svd without places, which would make vectors. */
lam_tensor *lam_svdvals(lam_tensor *x) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *failed;
    if (!lam__matrices_stack("svdvals", &x, &failed)) return failed;
    return lam__scope_only(lam__apply1(&lam__row_svdvals, NULL, 0, x), since);
}
