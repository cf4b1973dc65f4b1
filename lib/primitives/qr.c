/* x = q r. With k columns in the shorter side, x1 and r1 the first k columns of x and r, a = dx1 r1^-1 and b = q^T a:
 * what turns q is w = tril(b, -1) - tril(b, -1)^T, so dq = a + q (w - b) and dr = q^T dx - w r. Where q is complete,
 * its further columns turn back: dq2 = -q1 a^T q2. One rule for tall, square and wide matrices. For complex matrices
 * read adjoints, and add the imaginary part of b's diagonal to w, which keeps that of r real; reverse rules work on
 * conjugates of cotangents, since those pair with tangents unconjugated. */
#include "lib/primitives/apply.h"
#include "lib/primitives/axes.h"
#include "lib/primitives/cplx.h"
#include "lib/primitives/matrices.h"
#include "lib/primitives/params.h"
#include "lib/primitives/rows.h"

#include "lib/kernels/kernels.h"
#include "lib/tensor/value.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

enum { Q, R, OUTPUTS };

typedef lam__qr_params qr_params;

/* With vectors, as q is wanted in any case. Whether it is complete is the parameter's. */
static lam__rectangle rectangle_of(const lam_value *x, bool full) {
    return (lam__rectangle){x->dims[x->rank - 2], x->dims[x->rank - 1], full, true};
}

/* With full_matrices q is square; otherwise it has as many columns as the shorter side. r has as many rows as q has
 * columns. */
static lam_status shape_qr(const lam_call_site *call, lam_shape out[]) {
    const qr_params *p = call->params;
    const lam_value *x = call->in[0];
    lam_status typed = lam__matrices_typed(call, false);
    if (typed != LAM_OK) return typed;
    lam__rectangle r = rectangle_of(x, p->full);
    int64_t columns = p->full || r.m < r.n ? r.m : r.n;
    for (int o = 0; o < OUTPUTS; o++) {
        out[o].dtype = (lam_dtype)x->dtype;
        out[o].rank = x->rank;
        for (int k = 0; k < x->rank - 2; k++) out[o].dims[k] = x->dims[k];
        out[o].dims[x->rank - 2] = o == Q ? r.m : columns;
        out[o].dims[x->rank - 1] = o == Q ? columns : r.n;
    }
    return lam__matrices_fit(call, p->full);
}

/* What the workers share; x is a copy that the kernel overwrites. */
typedef struct stack {
    const lam__rectangle *how;
    const lam_value *x, *q, *r;
} stack;

/* Matrix number `at` of the stack x. Results of one matrix lie one behind the other in the stack. */
static void *matrix_of(const lam_value *x, int64_t at) {
    const int64_t count = x->dims[x->rank - 2] * x->dims[x->rank - 1];
    return (char *)x->data + at * count * (int64_t)lam__dtype_bytes(x->dtype);
}

/* Cannot fail: every matrix has factors. */
static int64_t factor_part(const void *env, int64_t begin, int64_t end, void *room) {
    const stack *s = env;
    lam__kernels_qr((lam_dtype)s->x->dtype, s->how, end - begin, matrix_of(s->x, begin), matrix_of(s->q, begin),
                    matrix_of(s->r, begin), room);
    return -1;
}

/* Signs of r's diagonal are as the kernel leaves them, LAPACK's. */
static lam_status eval_qr(const lam_call_site *call, lam_value *const out[]) {
    const qr_params *p = call->params;
    const lam_value *x = call->in[0];
    lam_dtype dtype = (lam_dtype)x->dtype;
    lam__rectangle how = rectangle_of(x, p->full);
    if (out[Q]->count == 0 && out[R]->count == 0) return LAM_OK;
    lam_value *copy = lam__value_new(call->ctx, dtype, x->rank, x->dims);
    if (!copy) return LAM_ERR_MEMORY;
    const stack s = {&how, copy, out[Q], out[R]};
    /* Some m n min(m, n) / 2 and something for each column. */
    const double cost = (double)how.m * (double)how.n * (double)((how.m < how.n ? how.m : how.n) + 20) / 2;
    int64_t bad;
    lam__matrices_copy(x, copy->data);
    lam_status status = lam__matrices_each(call->ctx, lam__matrices_count(x), cost, lam__kernels_qr_bytes(dtype, &how),
                                           factor_part, &s, &bad);
    lam__value_release(copy);
    return status;
}

/* ---- derivative -------------------------------------------------------------------------------------------------- */

/* Views of the factors, cut to what a rule needs. */
typedef struct parts {
    int64_t k; /* columns of the shorter side */
    lam_tensor *q, *rest, *r, *r1;
} parts;

/* The first k along an axis; x itself where that is all. */
static lam_tensor *first(lam_tensor *x, int axis, int64_t k) {
    return lam_dim(x, axis) == k ? x : lam_slice_axis(x, axis, 0, k);
}

/* Wide, square and tall matrices are told apart by k alone: q has k columns of interest, `rest` the further ones of a
 * complete q (NULL: none), r has k rows, r1 is its square part. Slices are views, and x itself where nothing is cut. */
static parts parts_of(lam_tensor *const out[]) {
    int64_t m = lam_dim(out[Q], -2), n = lam_dim(out[R], -1), k = m < n ? m : n;
    parts f = {.k = k, .q = first(out[Q], -1, k), .r = first(out[R], -2, k)};
    if (lam_dim(out[Q], -1) > k) f.rest = lam_slice_axis(out[Q], -1, k, LAM_END);
    f.r1 = first(f.r, -1, k);
    return f;
}

/* x r1^-1, or x r1^-H. r1 is upper triangular, so this is a solve from the right. */
static lam_tensor *over(const parts *f, lam_tensor *x, bool transpose) {
    return lam_triangular_solve(
        transpose ? lam_conj(f->r1) : f->r1, x,
        &(lam_triangular_solve_options){.right_side = true, .upper = true, .transpose = transpose});
}

/* x with rows of zeros below until it has those of `like`. r of a tall matrix with a complete q has such rows, which
 * never change. The zeros are views of one element. */
static lam_tensor *with_rows_of(lam_tensor *x, lam_tensor *like) {
    int64_t own = lam_dim(x, -2), all = lam_dim(like, -2);
    return own == all ? x : lam_concatenate(LAM_LIST(x, lam_zeros_like(lam_slice_axis(like, -2, own, all))), -2);
}

/* i times the imaginary part of the diagonal. By that much a column of q may turn without leaving the form in which r's
 * diagonal is real. */
static lam_tensor *turns(lam_tensor *x) {
    lam_tensor *diagonal = lam_sub(lam_tril(x, 0), lam_tril(x, -1));
    return lam_mul(0.5, lam_sub(diagonal, lam_conj(diagonal)));
}

/* See the head of this file. It divides by r1, so columns that depend on each other have no derivative: inf or NaN. */
static void jvp_qr(const lam_rule *r, lam_tensor *const dx[], lam_tensor *dout[]) {
    parts f = parts_of(r->out);
    lam_tensor *qt = lam__matrices_adjoint(f.q), *a = over(&f, first(dx[0], -1, f.k), false), *b = lam_matmul(qt, a);
    lam_tensor *low = lam_tril(b, -1), *turning = lam_sub(low, lam__matrices_adjoint(low));
    if (lam__cplx_is(b)) turning = lam_add(turning, turns(b));
    lam_tensor *dq = lam_add(a, lam_matmul(f.q, lam_sub(turning, b)));
    if (f.rest) {
        lam_tensor *back = lam_neg(lam_matmul(f.q, lam_matmul(lam__matrices_adjoint(a), f.rest)));
        dq = lam_concatenate(LAM_LIST(dq, back), -1);
    }
    dout[Q] = dq;
    lam_tensor *dr = lam_sub(lam_matmul(qt, dx[0]), lam_matmul(turning, f.r));
    dout[R] = with_rows_of(lam_triu(dr, 0), r->out[R]);
}

/* ga = gq + q (tril(gw - gw^T, -1) - q^T gq) with gw = q^T gq - gr r^T, and for the further columns -q2 gq2^T q1;
 * gx = q gr, to whose first k columns comes ga r1^-T. Cotangents of r below its diagonal have no say. */
static void vjp_qr(const lam_rule *r, lam_tensor *const g[], lam_tensor *gx[]) {
    parts f = parts_of(r->out);
    lam_tensor *inside = NULL, *moved = NULL, *ga = NULL, *all = NULL;
    if (g[Q]) {
        ga = lam_conj(first(g[Q], -1, f.k));
        inside = lam_matmul(lam__matrices_adjoint(f.q), ga);
        ga = lam_sub(ga, lam_matmul(f.q, inside));
    }
    if (g[Q] && f.rest) {
        lam_tensor *turned = lam__matrices_turn(lam_slice_axis(g[Q], -1, f.k, LAM_END)); /* adjoint of conj(g) */
        ga = lam_sub(ga, lam_matmul(f.rest, lam_matmul(turned, f.q)));
    }
    if (g[R]) {
        lam_tensor *gr = lam_conj(lam_triu(first(g[R], -2, f.k), 0));
        moved = lam_neg(lam_matmul(gr, lam__matrices_adjoint(f.r)));
        all = lam_matmul(f.q, gr);
    }
    /* The two parts are NULL where there is no cotangent of q, or of r. */
    lam_tensor *gw = lam__matrices_plus(inside, moved);
    if (!gw) return;
    lam_tensor *turning = lam_tril(lam_sub(gw, lam__matrices_adjoint(gw)), -1);
    if (lam__cplx_is(gw)) turning = lam_add(turning, turns(gw));
    ga = lam__matrices_plus(ga, lam_matmul(f.q, turning));
    lam_tensor *part = over(&f, ga, true);
    int64_t n = lam_dim(r->in[0], -1);
    if (n > f.k) {
        lam_tensor *none = lam_zeros_like(lam_slice_axis(f.r, -1, f.k, LAM_END));
        part = lam_concatenate(LAM_LIST(part, none), -1);
    }
    gx[0] = lam_conj(lam__matrices_plus(all, part));
}

/* The row's parameter says whether q is complete. */
static lam_status apply_qr(lam_tensor *x, bool full, lam_tensor *out[OUTPUTS]) {
    qr_params p = {full};
    return lam_bind(x->ctx, &lam__row_qr, &p, sizeof p, LAM_LIST(x), out, OUTPUTS);
}

/* A stack with one more leading axis. The kernel takes stacks of any axes. */
static void batch_qr(const lam_rule *r, lam_tensor *out[]) {
    const qr_params *p = r->params;
    apply_qr(r->in[0], p->full, out);
}

/* Both factors, and nothing of x. */
const lam_primitive lam__row_qr = {
    .name = "qr",
    .inputs = 1,
    .takes_complex = true,
    .outputs = OUTPUTS,
    .derivative = LAM_GENERAL,
    .saves = LAM_SAVE_OUT(Q) | LAM_SAVE_OUT(R),
    .shape = shape_qr,
    .eval = eval_qr,
    .jvp = jvp_qr,
    .vjp = vjp_qr,
    .batch = batch_qr,
    .layout = "b full_matrices",
};

/* Places may be NULL; both results are made. */
lam_status lam_qr(lam_tensor *x, lam_tensor **q, lam_tensor **r, const lam_qr_options *options) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *failed, *out[OUTPUTS], **const places[] = {[Q] = q, [R] = r};
    if (!lam__matrices_stack("qr", &x, &failed)) return lam__matrices_give_failed(failed, OUTPUTS, places);
    return lam__matrices_give(apply_qr(x, options && options->full_matrices, out), since, OUTPUTS, out, places);
}
