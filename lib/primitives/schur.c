/* The Schur form x = z t z^H. With p = z^H dx z and z's change z o, o skew-Hermitian, dt = p + t o - o t must stay
 * upper triangular. Of o only the part l below the diagonal has a say below it, since products of upper triangles are
 * upper triangles: l t - t l = p there. lam_gap_solve solves this on both sides of the diagonal and, of a triangular t,
 * exactly; l is what lies below. The diagonal of o, by which columns of z turn in phase, is taken as 0. */
#include "lib/primitives/apply.h"
#include "lib/primitives/axes.h"
#include "lib/primitives/cplx.h"
#include "lib/primitives/matrices.h"
#include "lib/primitives/rows.h"

#include "lib/kernels/blas/schur.h"
#include "lib/tensor/dtype.h"
#include "lib/tensor/value.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

#include <math.h>

enum { FORM, VECTORS, OUTPUTS };

/* Both results have the dtype of x: a real matrix has a real form, with blocks of two rows for pairs of complex
 * eigenvalues. */
static lam_status shape_schur(const lam_call_site *call, lam_shape out[]) {
    const lam_value *x = call->in[0];
    lam_status typed = lam__matrices_typed(call, true);
    for (int o = 0; o < OUTPUTS && typed == LAM_OK; o++) typed = lam__apply_shape_as(x, (lam_dtype)x->dtype, &out[o]);
    return typed == LAM_OK ? lam__matrices_fit(call, true) : typed;
}

/* What the workers share. */
typedef struct stack {
    const lam_value *x, *form, *vectors;
    int64_t n;
} stack;

/* Matrices [begin, end) of the stack; the first whose iteration did not end, or -1. */
static int64_t decompose_part(const void *env, int64_t begin, int64_t end, void *room) {
    const stack *s = env;
    const int64_t at = begin * s->n * s->n * (int64_t)lam__dtype_bytes(s->x->dtype);
    const int64_t bad = lam__kernels_schur((lam_dtype)s->x->dtype, end - begin, s->n, (const char *)s->x->data + at,
                                           (char *)s->form->data + at, (char *)s->vectors->data + at, room);
    return bad < 0 ? bad : begin + bad;
}

/* Some 25 n^3 for the iteration with vectors. */
static lam_status eval_schur(const lam_call_site *call, lam_value *const out[]) {
    if (out[FORM]->count == 0) return LAM_OK;
    lam_value *x = lam__value_contiguous(call->in[0]);
    if (!x) return LAM_ERR_MEMORY;
    const stack s = {x, out[FORM], out[VECTORS], x->dims[x->rank - 1]};
    const double n = (double)s.n;
    int64_t bad;
    lam_status status =
        lam__matrices_each(call->ctx, lam__matrices_count(x), 10 * n * n * (n + 50),
                           lam__kernels_schur_bytes((lam_dtype)x->dtype, s.n), decompose_part, &s, &bad);
    lam__value_release(x);
    return status != LAM_OK || bad < 0
               ? status
               : lam__matrices_bad(call, call->in[0], bad, "has eigenvalues that were not found", NULL);
}

/* 0, or NaN for a matrix whose real form has blocks of two rows, for which the rule does not hold. A NaN and no
 * failure, since other matrices of the stack may be without blocks. */
static lam_tensor *unless_blocks(lam_tensor *t) {
    lam_tensor *below = lam_ne(lam_tril(lam_stop_gradient(t), -1), 0.0);
    lam_tensor *any = lam_any(below, &(lam_reduce_options){.axes = LAM_AXES(-2, -1), .keepdims = true});
    lam_tensor *none = lam_zeros_like(lam_real(lam_stop_gradient(t)));
    return lam_where(any, (double)NAN, none);
}

/* l of the head of this file, from what it is solved with. Below its diagonal t is rounding or blocks, which
 * lam_gap_solve must not see as values. */
static lam_tensor *below(lam_tensor *t, lam_tensor *p) {
    lam_tensor *l = lam_tril(lam_gap_solve(lam_triu(t, 0), p, -1), -1);
    return lam__cplx_is(t) ? l : lam_add(l, unless_blocks(t));
}

/* dz = z o and dt = p + t o - o t with o = l - l^H. There is one operand, so where the rule is called its tangent is
 * there. */
static void jvp_schur(const lam_rule *r, lam_tensor *const dx[], lam_tensor *dout[]) {
    lam_tensor *t = r->out[FORM], *z = r->out[VECTORS], *p = lam_matmul(lam__matrices_adjoint(z), lam_matmul(dx[0], z));
    lam_tensor *l = below(t, p), *o = lam_sub(l, lam__matrices_adjoint(l));
    dout[FORM] = lam_triu(lam_add(p, lam__matrices_commutator(t, o)), 0);
    dout[VECTORS] = lam_matmul(z, o);
}

/* With g of the results conjugated: k = t^H gt - gt t^H + z^H gz is what o meets, of which l takes k - k^H below the
 * diagonal; then gx = z (gt + y) z^H with y from the adjoint of the equation. */
static void vjp_schur(const lam_rule *r, lam_tensor *const g[], lam_tensor *gx[]) {
    lam_tensor *t = r->out[FORM], *z = r->out[VECTORS], *th = lam__matrices_adjoint(lam_triu(t, 0)),
               *zh = lam__matrices_adjoint(z);
    lam_tensor *k = NULL, *gt = g[FORM] ? lam_triu(lam_conj(g[FORM]), 0) : NULL;
    if (gt) k = lam__matrices_commutator(th, gt);
    if (g[VECTORS]) k = lam__matrices_plus(k, lam_matmul(zh, lam_conj(g[VECTORS])));
    if (!k) return;
    lam_tensor *y = lam_gap_solve(th, lam_tril(lam_sub(k, lam__matrices_adjoint(k)), -1), -1);
    if (!lam__cplx_is(t)) y = lam_add(y, unless_blocks(t));
    gx[0] = lam_conj(lam_matmul(z, lam_matmul(lam__matrices_plus(gt, y), zh)));
}

static lam_status apply_schur(lam_tensor *x, lam_tensor *out[OUTPUTS]) {
    return lam_bind(x->ctx, &lam__row_schur, NULL, 0, LAM_LIST(x), out, OUTPUTS);
}

/* A stack with one more leading axis. */
static void batch_schur(const lam_rule *r, lam_tensor *out[]) {
    apply_schur(r->in[0], out);
}

/* Both results are kept, x is not. */
const lam_primitive lam__row_schur = {
    .name = "schur",
    .inputs = 1,
    .takes_complex = true,
    .outputs = OUTPUTS,
    .derivative = LAM_GENERAL,
    .saves = LAM_SAVE_OUT(FORM) | LAM_SAVE_OUT(VECTORS),
    .shape = shape_schur,
    .eval = eval_schur,
    .jvp = jvp_schur,
    .vjp = vjp_schur,
    .batch = batch_schur,
};

/* The complex form of a real matrix is that of the matrix as a complex one: it has no blocks, so its derivative
 * holds. */
lam_status lam_schur(lam_tensor *x, lam_tensor **form, lam_tensor **vectors, const lam_schur_options *options) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *failed, *out[OUTPUTS], **const places[] = {[FORM] = form, [VECTORS] = vectors};
    if (!lam__matrices_operands("schur", true, 1, &x, &x, &failed))
        return lam__matrices_give_failed(failed, OUTPUTS, places);
    if (!lam__matrices_square("schur", x)) return lam__matrices_give_failed(lam__axes_failed(x), OUTPUTS, places);
    if (options && options->complex_form) x = lam_cast(x, lam__dtype_promote((int)lam_dtype_of(x), LAM_C64));
    return lam__matrices_give(apply_schur(x, out), since, OUTPUTS, out, places);
}

/* The complex form of the form, whose vectors turn the given ones. Its blocks are on the diagonal already, so nothing
 * else moves. Derivatives pass through that of the complex form and a product. */
lam_status lam_rsf2csf(lam_tensor *form, lam_tensor *vectors, lam_tensor **complex_form, lam_tensor **complex_vectors) {
    uint64_t since = lam__scope_now(form);
    lam_tensor *in[OUTPUTS] = {form, vectors}, *failed, *out[OUTPUTS];
    lam_tensor **const places[] = {[FORM] = complex_form, [VECTORS] = complex_vectors};
    if (!lam__matrices_operands("rsf2csf", true, OUTPUTS, in, in, &failed))
        return lam__matrices_give_failed(failed, OUTPUTS, places);
    for (int k = 0; k < OUTPUTS; k++)
        if (!lam__matrices_square("rsf2csf", in[k]))
            return lam__matrices_give_failed(lam__axes_failed(in[k]), OUTPUTS, places);
    if (lam_dim(in[FORM], -1) != lam_dim(in[VECTORS], -1))
        return lam__matrices_give_failed(
            lam__matrices_fail("rsf2csf", OUTPUTS, in, LAM_ERR_SHAPE, NULL, "form and vectors are not of one size"),
            OUTPUTS, places);
    if (!lam__matrices_lead("rsf2csf", in))
        return lam__matrices_give_failed(lam__axes_failed(in[FORM]), OUTPUTS, places);
    lam_status status = lam_schur(in[FORM], &out[FORM], &out[VECTORS], &(lam_schur_options){.complex_form = true});
    out[VECTORS] = lam_matmul(in[VECTORS], out[VECTORS]);
    return lam__matrices_give(status, since, OUTPUTS, out, places);
}
