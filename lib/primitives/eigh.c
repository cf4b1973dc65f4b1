/* Eigenvalues and eigenvectors of symmetric matrices. From x = v diag(w) v^T come, with p = v^T dx v, dw = diag(p) and
 * dv = v (e * p), e[i, j] = 1 / (w[j] - w[i]); of equal eigenvalues see NOTE [equal ones] in gaps.c. Eigenvalues
 * alone are a primitive of their own: their kernel is some times faster, and their derivative never divides. */
#include "lib/primitives/apply.h"
#include "lib/primitives/axes.h"
#include "lib/primitives/matrices.h"
#include "lib/primitives/rows.h"

#include "lib/kernels/symmetric.h"
#include "lib/tensor/value.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

enum { VALUES, VECTORS, OUTPUTS };

/* Eigenvalues of Hermitian matrices are real, so complex operands give values of half the bytes. */
static lam_status shape_eigvalsh(const lam_call_site *call, lam_shape out[]) {
    const lam_value *x = call->in[0];
    lam_status typed = lam__matrices_typed(call, true);
    if (typed != LAM_OK) return typed;
    out->dtype = lam__matrices_real((lam_dtype)x->dtype);
    out->rank = x->rank - 1;
    for (int k = 0; k < out->rank; k++) out->dims[k] = x->dims[k];
    return lam__matrices_fit(call, false);
}

/* Vectors are of x's dtype and dims; values are real, also of complex matrices. */
static lam_status shape_eigh(const lam_call_site *call, lam_shape out[]) {
    const lam_value *x = call->in[0];
    lam_status typed = lam__matrices_typed(call, true);
    if (typed != LAM_OK) return typed;
    out[VECTORS].dtype = (lam_dtype)x->dtype;
    out[VECTORS].rank = x->rank;
    for (int k = 0; k < x->rank; k++) out[VECTORS].dims[k] = x->dims[k];
    return shape_eigvalsh(call, &out[VALUES]);
}

/* What the workers share: copies of the matrices, which LAPACK overwrites, and where the values go. values are read by
 * their own dtype, real where the matrices are complex. */
typedef struct stack {
    lam_dtype dtype;
    int64_t n;
    bool vectors;
    char *matrix;
    const lam_value *values;
} stack;

/* The operand is made symmetric first, by its symmetric part, since LAPACK reads one triangle alone and the derivative
 * is that of the whole. */
static int64_t decompose_part(const void *env, int64_t begin, int64_t end, void *room) {
    const stack *s = env;
    const int64_t matrix = s->n * s->n * (int64_t)lam__dtype_bytes(s->dtype),
                  row = s->n * (int64_t)lam__dtype_bytes(s->values->dtype);
    char *at = s->matrix + begin * matrix;
    lam__kernels_symmetric(s->dtype, end - begin, s->n, at);
    const int64_t bad =
        lam__kernels_eigh(s->dtype, end - begin, s->n, s->vectors, at, (char *)s->values->data + begin * row, room);
    return bad < 0 ? bad : begin + bad;
}

/* `matrix` holds a copy of x; with `vectors`, these replace it. The matrix that fails is named from x, whose stack it
 * is one of. Cost: some 2 n^3 for all, and something for each row. */
static lam_status decompose(const lam_call_site *call, bool vectors, void *matrix, lam_value *values) {
    const lam_value *x = call->in[0];
    lam_dtype dtype = (lam_dtype)x->dtype;
    int64_t n = x->dims[x->rank - 1];
    const stack s = {dtype, n, vectors, matrix, values};
    int64_t bad;
    lam__matrices_copy(x, matrix);
    lam_status status =
        lam__matrices_each(call->ctx, lam__matrices_count(x), 2 * (double)n * (double)n * (double)(n + 50),
                           lam__kernels_eigh_bytes(dtype, n, vectors), decompose_part, &s, &bad);
    return status != LAM_OK || bad < 0 ? status
                                       : lam__matrices_bad(call, x, bad, "has eigenvalues that were not found", NULL);
}

/* ---- with vectors ------------------------------------------------------------------------------------------------ */

/* The copy of x is made in the result itself, where the vectors are wanted. */
static lam_status eval_eigh(const lam_call_site *call, lam_value *const out[]) {
    return call->in[0]->count ? decompose(call, true, out[VECTORS]->data, out[VALUES]) : LAM_OK;
}

/* The eigenvalues as lam_gap_solve takes them. Changes of x are seen as those of its symmetric part. */
static lam_tensor *values_of(const lam_rule *r) {
    lam_tensor *v = r->out[VECTORS];
    return lam__gaps_values(r->out[VALUES], lam__matrices_adjoint(v), lam__matrices_symmetric(r->in[0]), v);
}

/* dw = diag(p) and dv = v (e * p) with p = v^H dx v, dx made symmetric. Columns of v keep their length and have no
 * phase of their own to turn by, which is what the zeros on the diagonal of e say. */
static void jvp_eigh(const lam_rule *r, lam_tensor *const dx[], lam_tensor *dout[]) {
    lam_tensor *v = r->out[VECTORS],
               *p = lam_matmul(lam__matrices_adjoint(v), lam_matmul(lam__matrices_symmetric(dx[0]), v));
    dout[VALUES] = lam_real(lam_diagonal(p, 0, -2, -1));
    dout[VECTORS] = lam_matmul(v, lam_gap_solve(values_of(r), p, -1));
}

/* gx = v (diag(gw) + e * v^T gv) v^T, of it the symmetric part. Of v^T gv the symmetric part has no say, since dx is
 * symmetric; what depends on equal eigenvalues by their span alone has no other. A term is left out where its cotangent
 * is absent; nothing is made for a result that nobody used. */
static void vjp_eigh(const lam_rule *r, lam_tensor *const g[], lam_tensor *gx[]) {
    lam_tensor *v = r->out[VECTORS], *left = NULL;
    if (g[VALUES]) left = lam__matrices_scale(v, g[VALUES]);
    if (g[VECTORS]) {
        lam_tensor *turning = lam__matrices_skew(lam_matmul(lam__matrices_adjoint(v), lam_conj(g[VECTORS])));
        left = lam__matrices_plus(left, lam_matmul(v, lam_gap_solve(values_of(r), turning, -1)));
    }
    if (left) gx[0] = lam__matrices_symmetric(lam_conj(lam_matmul(left, lam__matrices_adjoint(v))));
}

/* Both results at once; rules use it as well. */
static lam_status apply_eigh(lam_tensor *x, lam_tensor *out[OUTPUTS]) {
    return lam_bind(x->ctx, &lam__row_eigh, NULL, 0, LAM_LIST(x), out, OUTPUTS);
}

/* A stack with one more leading axis; likewise below. */
static void batch_eigh(const lam_rule *r, lam_tensor *out[]) {
    apply_eigh(r->in[0], out);
}

const lam_primitive lam__row_eigh = {
    .name = "eigh",
    .inputs = 1,
    .takes_complex = true,
    .outputs = OUTPUTS,
    .derivative = LAM_GENERAL,
    .saves = LAM_SAVE_IN(0) | LAM_SAVE_OUT(VALUES) | LAM_SAVE_OUT(VECTORS),
    .shape = shape_eigh,
    .eval = eval_eigh,
    .jvp = jvp_eigh,
    .vjp = vjp_eigh,
    .batch = batch_eigh,
};

/* Whether *x, brought to a floating dtype, is a stack of square matrices; false: *failed is what the operation
 * returns. */
static bool usable(const char *operation, lam_tensor **x, lam_tensor **failed) {
    if (!lam__matrices_operands(operation, true, 1, x, x, failed)) return false;
    *failed = lam__axes_failed(*x);
    return lam__matrices_square(operation, *x);
}

/* A place may be NULL; both are worked out all the same. */
lam_status lam_eigh(lam_tensor *x, lam_tensor **values, lam_tensor **vectors) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *failed, *out[OUTPUTS], **const places[] = {[VALUES] = values, [VECTORS] = vectors};
    if (!usable("eigh", &x, &failed)) return lam__matrices_give_failed(failed, OUTPUTS, places);
    return lam__matrices_give(apply_eigh(x, out), since, OUTPUTS, out, places);
}

/* ---- values alone ------------------------------------------------------------------------------------------------ */

/* Needs a copy that is thrown away, as the kernel works in place. */
static lam_status eval_eigvalsh(const lam_call_site *call, lam_value *const out[]) {
    const lam_value *x = call->in[0];
    lam_value *matrix = x->count ? lam__value_new(call->ctx, (lam_dtype)x->dtype, x->rank, x->dims) : NULL;
    if (!matrix) return x->count ? LAM_ERR_MEMORY : LAM_OK;
    lam_status status = decompose(call, false, matrix->data, out[0]);
    lam__value_release(matrix);
    return status;
}

/* Found by the other row, which is what makes this differentiable again. */
static lam_tensor *vectors_of(lam_tensor *x) {
    lam_tensor *out[OUTPUTS];
    apply_eigh(x, out);
    return out[VECTORS];
}

/* dw = diag(v^T dx v), of the symmetric part of dx. Of the products only the diagonal is needed, so one matrix product
 * and a sum over rows do instead of two products. */
static void jvp_eigvalsh(const lam_rule *r, lam_tensor *const dx[], lam_tensor *dout[]) {
    lam_tensor *v = vectors_of(r->in[0]);
    dout[0] = lam_real(lam_sum(lam_mul(lam_conj(v), lam_matmul(lam__matrices_symmetric(dx[0]), v)),
                               &(lam_reduce_options){.axes = LAM_AXES(-2)}));
}

/* gx = v diag(g) v^H: no division by gaps, so equal eigenvalues do no harm. */
static void vjp_eigvalsh(const lam_rule *r, lam_tensor *const g[], lam_tensor *gx[]) {
    lam_tensor *v = vectors_of(r->in[0]);
    gx[0] = lam__matrices_symmetric(lam_conj(lam_matmul(lam__matrices_scale(v, g[0]), lam__matrices_adjoint(v))));
}

/* A stack with one more leading axis. */
static void batch_eigvalsh(const lam_rule *r, lam_tensor *out[]) {
    out[0] = lam__apply1(r->primitive, NULL, 0, r->in[0]);
}

const lam_primitive lam__row_eigvalsh = {
    .name = "eigvalsh",
    .inputs = 1,
    .takes_complex = true,
    .derivative = LAM_GENERAL,
    .saves = LAM_SAVE_IN(0),
    .shape = shape_eigvalsh,
    .eval = eval_eigvalsh,
    .jvp = jvp_eigvalsh,
    .vjp = vjp_eigvalsh,
    .batch = batch_eigvalsh,
};

/* Not lam_eigh without places, which would make vectors. */
lam_tensor *lam_eigvalsh(lam_tensor *x) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *failed;
    if (!usable("eigvalsh", &x, &failed)) return failed;
    return lam__scope_only(lam__apply1(&lam__row_eigvalsh, NULL, 0, x), since);
}
