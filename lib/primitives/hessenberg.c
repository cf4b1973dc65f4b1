/* The Hessenberg form x = q h q^H, and what follows from it: three diagonals of symmetric matrices. With p = q^H dx q
 * and q's change q o, o skew-Hermitian with a first column of zeros, dh = p + h o - o h must stay zero below the
 * subdiagonal and real on it. Column j of this gives column j + 1 of o,
 *   o[:, j+1] h[j+1, j] = r below its diagonal, i im r on it,
 *   r = p[:, j] + h o[:, j] - sum over k <= j of o[:, k] h[k, j],
 * and what lies above its diagonal is known from the rows before. So forward mode goes through the columns once, and
 * reverse mode back through them. Where h[j+1, j] is 0, q is not unique, and o is taken as 0. */
#include "lib/primitives/apply.h"
#include "lib/primitives/axes.h"
#include "lib/primitives/cplx.h"
#include "lib/primitives/matrices.h"
#include "lib/primitives/rows.h"

#include "lib/kernels/blas/hessenberg.h"
#include "lib/tensor/dtype.h"
#include "lib/tensor/value.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

enum { FORM, VECTORS, OUTPUTS };

/* Both results are like x. LAPACK counts the elements of a matrix in int. */
static lam_status shape_hessenberg(const lam_call_site *call, lam_shape out[]) {
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

/* Every matrix has such a form. */
static int64_t reduce_part(const void *env, int64_t begin, int64_t end, void *room) {
    const stack *s = env;
    const int64_t at = begin * s->n * s->n * (int64_t)lam__dtype_bytes(s->x->dtype);
    lam__kernels_hessenberg((lam_dtype)s->x->dtype, end - begin, s->n, (const char *)s->x->data + at,
                            (char *)s->form->data + at, (char *)s->vectors->data + at, room);
    return -1;
}

/* 10/3 n^3 for the form, 4/3 n^3 for the vectors. */
static lam_status eval_hessenberg(const lam_call_site *call, lam_value *const out[]) {
    if (out[FORM]->count == 0) return LAM_OK;
    lam_value *x = lam__value_contiguous(call->in[0]);
    if (!x) return LAM_ERR_MEMORY;
    const stack s = {x, out[FORM], out[VECTORS], x->dims[x->rank - 1]};
    const double n = (double)s.n;
    int64_t bad;
    lam_status status =
        lam__matrices_each(call->ctx, lam__matrices_count(x), 3 * n * n * (n + 20),
                           lam__kernels_hessenberg_bytes((lam_dtype)x->dtype, s.n), reduce_part, &s, &bad);
    lam__value_release(x);
    return status;
}

/* ---- the turn o -------------------------------------------------------------------------------------------------- */

/* Columns and rows as matrices, so that products of them need no other shapes. */
static lam_tensor *column(lam_tensor *x, int64_t j) {
    return lam_slice_axis(x, -1, j, j + 1);
}

static lam_tensor *rows(lam_tensor *x, int64_t from, int64_t to) {
    return lam_slice_axis(x, -2, from, to);
}

/* r / d, and 0 where d is 0. */
static lam_tensor *over(lam_tensor *r, lam_tensor *d) {
    lam_tensor *none = lam_eq(d, 0.0);
    return lam_where(none, lam_zeros_like(r), lam_div(r, lam_where(none, lam_ones_like(d), d)));
}

/* i im x; 0 of real numbers. It is what a real subdiagonal leaves for the phase of the next column. */
static lam_tensor *turning(lam_tensor *x) {
    return lam__cplx_is(x) ? lam_mul(0.5, lam_sub(x, lam_conj(x))) : lam_zeros_like(x);
}

/* The divisor of column j, which has one below the subdiagonal's first. */
static lam_tensor *divisor(lam_tensor *h, int64_t j) {
    return rows(column(h, j), j + 1, j + 2);
}

/* o of the head of this file, column by column: above the diagonal, on it, below it. Each column takes the same
 * operations, so the rule records some fifteen times n of them. */
static lam_tensor *turn(lam_tensor *h, lam_tensor *p) {
    const int64_t n = lam_dim(p, -1);
    if (n < 2) return lam_zeros_like(p);
    lam_tensor *o = lam_zeros_like(column(p, 0));
    /* The first column of o is zero, as that of q is the first unit vector whatever x is. */
    for (int64_t j = 0; j < n - 1; j++) {
        lam_tensor *now = column(o, j), *d = divisor(h, j), *before = lam_matmul(o, rows(column(h, j), 0, j + 1));
        lam_tensor *r = lam_sub(lam_add(column(p, j), lam_matmul(h, now)), before);
        lam_tensor *above = lam_neg(lam__matrices_adjoint(rows(o, j + 1, j + 2)));
        lam_tensor *on = over(turning(rows(r, j + 1, j + 2)), d), *below = over(rows(r, j + 2, n), d);
        o = lam_concatenate(LAM_LIST(o, lam_concatenate(LAM_LIST(above, on, below), -2)), -1);
    }
    return o;
}

/* The transpose of that: what p meets where o meets s. `left` are the columns of s that are still to be gone through,
 * with what later ones have added. */
static lam_tensor *turn_back(lam_tensor *h, lam_tensor *s) {
    const int64_t n = lam_dim(s, -1);
    if (n < 2) return lam_zeros_like(s);
    lam_tensor *left = s, *out = lam_zeros_like(column(s, 0)), *hh = lam__matrices_adjoint(h);
    /* Columns of it say where a row or a column is put. */
    lam_tensor *one = lam_eye(h->ctx, lam_dtype_of(h), n, n);
    for (int64_t j = n - 2; j >= 0; j--) {
        lam_tensor *c = column(left, j + 1), *d = divisor(h, j);
        lam_tensor *on = over(turning(rows(c, j + 1, j + 2)), d), *below = over(rows(c, j + 2, n), d);
        lam_tensor *r = lam_concatenate(LAM_LIST(lam_zeros_like(rows(c, 0, j + 1)), on, below), -2);
        /* Above the diagonal o had minus the adjoint of its own row, so what arrived there goes back to that row; then
         * what r had taken away of earlier columns, and what it had of column j. */
        lam_tensor *row = lam_matmul(column(one, j + 1), lam__matrices_adjoint(rows(c, 0, j + 1)));
        lam_tensor *used = lam_matmul(r, lam__matrices_adjoint(rows(column(h, j), 0, j + 1)));
        lam_tensor *last = lam_matmul(lam_matmul(hh, r), lam_matrix_transpose(rows(column(one, j), 0, j + 1)));
        left = lam_add(lam_sub(lam_sub(lam_slice_axis(left, -1, 0, j + 1), row), used), last);
        out = lam_concatenate(LAM_LIST(r, out), -1);
    }
    return out;
}

/* dq = q o and dh = p + h o - o h. */
static void jvp_hessenberg(const lam_rule *r, lam_tensor *const dx[], lam_tensor *dout[]) {
    lam_tensor *h = r->out[FORM], *q = r->out[VECTORS], *p = lam_matmul(lam__matrices_adjoint(q), lam_matmul(dx[0], q));
    lam_tensor *o = turn(h, p);
    dout[FORM] = lam_triu(lam_add(p, lam__matrices_commutator(h, o)), -1);
    dout[VECTORS] = lam_matmul(q, o);
}

/* With g of the results conjugated: s = h^H gh - gh h^H + q^H gq is what o meets, and gx = q (gh + p's) q^H. Below the
 * subdiagonal gh has no say, since h is 0 there. */
static void vjp_hessenberg(const lam_rule *r, lam_tensor *const g[], lam_tensor *gx[]) {
    lam_tensor *h = r->out[FORM], *q = r->out[VECTORS], *qh = lam__matrices_adjoint(q), *s = NULL;
    lam_tensor *gh = g[FORM] ? lam_triu(lam_conj(g[FORM]), -1) : NULL;
    if (gh) s = lam__matrices_commutator(lam__matrices_adjoint(h), gh);
    if (g[VECTORS]) s = lam__matrices_plus(s, lam_matmul(qh, lam_conj(g[VECTORS])));
    if (s) gx[0] = lam_conj(lam_matmul(q, lam_matmul(lam__matrices_plus(gh, turn_back(h, s)), qh)));
}

static lam_status apply_hessenberg(lam_tensor *x, lam_tensor *out[OUTPUTS]) {
    return lam_bind(x->ctx, &lam__row_hessenberg, NULL, 0, LAM_LIST(x), out, OUTPUTS);
}

/* A stack with one more leading axis. */
static void batch_hessenberg(const lam_rule *r, lam_tensor *out[]) {
    apply_hessenberg(r->in[0], out);
}

const lam_primitive lam__row_hessenberg = {
    .name = "hessenberg",
    .inputs = 1,
    .takes_complex = true,
    .outputs = OUTPUTS,
    .derivative = LAM_GENERAL,
    .saves = LAM_SAVE_OUT(FORM) | LAM_SAVE_OUT(VECTORS),
    .shape = shape_hessenberg,
    .eval = eval_hessenberg,
    .jvp = jvp_hessenberg,
    .vjp = vjp_hessenberg,
    .batch = batch_hessenberg,
};

/* ---- public ------------------------------------------------------------------------------------------------------ */

/* x as square matrices of a floating dtype; false: *failed is what the operation returns. */
static bool squares(const char *operation, lam_tensor **x, lam_tensor **failed) {
    if (!lam__matrices_operands(operation, true, 1, x, x, failed)) return false;
    const bool are = lam__matrices_square(operation, *x);
    if (!are) *failed = lam__axes_failed(*x);
    return are;
}

lam_status lam_hessenberg(lam_tensor *x, lam_tensor **form, lam_tensor **vectors) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *failed, *out[OUTPUTS], **const places[] = {[FORM] = form, [VECTORS] = vectors};
    if (!squares("hessenberg", &x, &failed)) return lam__matrices_give_failed(failed, OUTPUTS, places);
    return lam__matrices_give(apply_hessenberg(x, out), since, OUTPUTS, out, places);
}

/* The Hessenberg form of a symmetric matrix, whose rounding errors above the diagonals are left out. The symmetric part
 * is what the form is made of, so gradients are symmetric, too. */
lam_status lam_tridiagonal(lam_tensor *x, lam_tensor **main, lam_tensor **beside, lam_tensor **vectors) {
    enum { MAIN, BESIDE, TURN, PARTS };
    uint64_t since = lam__scope_now(x);
    lam_tensor *failed, *of[OUTPUTS], *out[PARTS], **const places[] = {main, beside, vectors};
    if (!squares("tridiagonal", &x, &failed)) return lam__matrices_give_failed(failed, PARTS, places);
    lam_status status = apply_hessenberg(lam__matrices_symmetric(x), of);
    out[MAIN] = lam_real(lam_diagonal(of[FORM], 0, -2, -1));
    /* Of no rows there is no second diagonal: the empty first one stands for it. */
    out[BESIDE] = lam_dim(x, -1) ? lam_real(lam_diagonal(of[FORM], -1, -2, -1)) : out[MAIN];
    out[TURN] = of[VECTORS];
    return lam__matrices_give(status, since, PARTS, out, places);
}
