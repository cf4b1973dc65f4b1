/* Cholesky factors and triangular solves, on stacks of matrices. Derivatives after Murray, "Differentiation of the
 * Cholesky decomposition" (2016), sections 2.1 and 3.1; every rule is made of matrix products and triangular solves
 * and so has rules itself. */
#include "lib/primitives/apply.h"
#include "lib/primitives/axes.h"
#include "lib/primitives/matrices.h"
#include "lib/primitives/params.h"
#include "lib/primitives/rows.h"

#include "lib/kernels/symmetric.h"
#include "lib/parallel/parallel.h"
#include "lib/tensor/dtype.h"
#include "lib/tensor/value.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

/* The result has the type of operand i; whether that fits was checked by the public form. */
static lam_status shape_of_operand(const lam_call_site *call, int i, lam_shape *out) {
    const lam_value *x = call->in[i];
    return lam__apply_shape_as(x, (lam_dtype)x->dtype, out);
}

/* Row-major, whatever the strides of x: LAPACK works in place on the result. */
static void copy_into(const lam_value *x, lam_value *out) {
    lam_dtype dtype = (lam_dtype)x->dtype;
    if (x->count)
        lam__parallel_copy(lam__value_team(x), x->rank, x->dims, dtype, out->data, out->strides, dtype, x->data,
                           x->strides);
}

/* ---- cholesky ---------------------------------------------------------------------------------------------------- */

/* Square, as the public form has seen. */
static lam_status shape_cholesky(const lam_call_site *call, lam_shape out[]) {
    return shape_of_operand(call, 0, out);
}

/* The operand counts by its symmetric part, which is what the derivative takes it for; without that LAPACK would read
 * one triangle and ignore the other. Gives the first matrix of the part that is not positive definite. */
static int64_t factor_part(const void *env, int64_t begin, int64_t end, void *room) {
    const lam_value *l = env;
    const int64_t n = l->dims[l->rank - 1], matrix = n * n * (int64_t)lam__dtype_bytes(l->dtype);
    char *at = (char *)l->data + begin * matrix;
    (void)room;
    lam__kernels_symmetric((lam_dtype)l->dtype, end - begin, n, at);
    const int64_t bad = lam__kernels_cholesky((lam_dtype)l->dtype, end - begin, n, at);
    return bad < 0 ? bad : begin + bad;
}

/* In place in the result, so no scratch. The failure names the first matrix, whichever thread met it. */
static lam_status eval_cholesky(const lam_call_site *call, lam_value *const out[]) {
    lam_value *l = out[0];
    copy_into(call->in[0], l);
    if (l->count == 0) return LAM_OK;
    const double n = (double)l->dims[l->rank - 1];
    int64_t bad;
    lam__matrices_each(call->ctx, lam__matrices_count(l), n * n * (n / 20 + 2), 0, factor_part, l, &bad);
    return bad < 0 ? LAM_OK
                   : lam__matrices_bad(call, l, bad, "is not positive definite",
                                       "add a small multiple of the identity, or check that it holds no NaN");
}

/* The lower triangle with half the diagonal: what makes the symmetric matrix phi + phi^T of one. Its own transpose. phi
 * of Murray (2016), 2.1: from l^-1 dx l^-T = l^-1 dl + (l^-1 dl)^T, whose first term is lower triangular, it takes that
 * term. */
static lam_tensor *phi(lam_tensor *x) {
    return lam_mul(0.5, lam_add(lam_tril(x, 0), lam_tril(x, -1)));
}

/* dl = l phi(l^-1 dx l^-H), of the symmetric part of dx. Two triangular solves and a product; the factor is not made
 * again. */
static void jvp_cholesky(const lam_rule *r, lam_tensor *const dx[], lam_tensor *dout[]) {
    lam_tensor *l = r->out[0];
    lam_tensor *half = lam_triangular_solve(l, lam__matrices_symmetric(dx[0]), NULL);
    lam_tensor *whole =
        lam_triangular_solve(lam_conj(l), half, &(lam_triangular_solve_options){.right_side = true, .transpose = true});
    dout[0] = lam_matmul(l, phi(whole));
}

/* gx = l^-T phi(l^T gl) conj(l)^-1, of it the symmetric part. The transpose of that, factor by factor (3.1 there); for
 * complex matrices nothing is conjugated but what forward mode conjugates, since cotangents pair without conjugation.
 * Only the factor is saved. */
static void vjp_cholesky(const lam_rule *r, lam_tensor *const g[], lam_tensor *gx[]) {
    lam_tensor *l = r->out[0], *middle = phi(lam_matmul(lam__matrices_turn(l), g[0]));
    lam_tensor *half = lam_triangular_solve(l, middle, &(lam_triangular_solve_options){.transpose = true});
    gx[0] = lam__matrices_symmetric(
        lam_triangular_solve(lam_conj(l), half, &(lam_triangular_solve_options){.right_side = true}));
}

/* No parameters: which triangle is fixed. */
static lam_tensor *apply_cholesky(lam_tensor *x) {
    return lam__apply1(&lam__row_cholesky, NULL, 0, x);
}

/* A stack with one more leading axis. */
static void batch_cholesky(const lam_rule *r, lam_tensor *out[]) {
    out[0] = apply_cholesky(r->in[0]);
}

/* Rules need the factor alone, so x is not kept. */
const lam_primitive lam__row_cholesky = {
    .name = "cholesky",
    .inputs = 1,
    .takes_complex = true,
    .derivative = LAM_GENERAL,
    .saves = LAM_SAVE_OUT(0),
    .shape = shape_cholesky,
    .eval = eval_cholesky,
    .jvp = jvp_cholesky,
    .vjp = vjp_cholesky,
    .batch = batch_cholesky,
};

/* A matrix alone is a stack without leading axes. */
lam_tensor *lam_cholesky(lam_tensor *x) {
    lam_tensor *failed;
    if (!lam__matrices_operands("cholesky", true, 1, &x, &x, &failed)) return failed;
    if (!lam__matrices_square("cholesky", x)) return lam__axes_failed(x);
    return apply_cholesky(x);
}

/* ---- triangular_solve -------------------------------------------------------------------------------------------- */

typedef lam__triangular_params solve_params;

/* Both operands have the same leading axes. Checks are those of the public form. */
static lam_tensor *apply_solve(lam_tensor *a, lam_tensor *b, solve_params p) {
    lam_tensor *in[2] = {a, b};
    return lam__apply(&lam__row_triangular_solve, &p, sizeof p, 2, in);
}

static lam_status shape_triangular_solve(const lam_call_site *call, lam_shape out[]) {
    return shape_of_operand(call, 1, out);
}

/* In place on a copy of b. A 0 on the diagonal gives inf and NaN and is no failure: there may be other equations in the
 * stack that are fine. */
static lam_status eval_triangular_solve(const lam_call_site *call, lam_value *const out[]) {
    const solve_params *p = call->params;
    const lam__triangular how = {p->right_side, p->upper, p->transpose, p->unit_diagonal};
    lam_value *x = out[0], *a = lam__value_contiguous(call->in[0]);
    if (!a) return LAM_ERR_MEMORY;
    copy_into(call->in[1], x);
    if (x->count)
        lam__matrices_substitute(&how, a->dims[a->rank - 1], x->dims[x->rank - (p->right_side ? 2 : 1)], a->data, x,
                                 x->data);
    lam__value_release(a);
    return LAM_OK;
}

/* The part of a matrix that a solve reads. Entries that a solve does not read have no gradient, the ones of a unit
 * diagonal among them. Both derivatives keep to it. */
static lam_tensor *read_part(lam_tensor *x, const solve_params *p) {
    int64_t off = p->unit_diagonal ? 1 : 0;
    return p->upper ? lam_triu(x, off) : lam_tril(x, -off);
}

/* op(a) x = b: op(a) dx = db - op(da) x; from the right x op(a) = b likewise. Linear in b for a fixed a, so the same
 * solve serves, and the factors are not factored again. */
static void jvp_triangular_solve(const lam_rule *r, lam_tensor *const dx[], lam_tensor *dout[]) {
    const solve_params *p = r->params;
    lam_tensor *change = dx[1];
    if (dx[0]) {
        lam_tensor *da = read_part(dx[0], p), *x = r->out[0];
        if (p->transpose) da = lam__matrices_turn(da);
        lam_tensor *moved = p->right_side ? lam_matmul(x, da) : lam_matmul(da, x);
        change = change ? lam_sub(change, moved) : lam_neg(moved);
    }
    if (change) dout[0] = apply_solve(r->in[0], change, *p);
}

/* gb = op(a)^-T g; ga = -gb x^T, turned for op = transpose, from the right -x^T gb. The solve for gb is made also where
 * only a is asked for, since ga needs it. */
static void vjp_triangular_solve(const lam_rule *r, lam_tensor *const g[], lam_tensor *gx[]) {
    const solve_params *p = r->params;
    solve_params back = *p;
    back.transpose = !p->transpose;
    gx[1] = apply_solve(r->in[0], g[0], back);
    if (!r->needs[0]) return;
    lam_tensor *left = p->right_side == p->transpose ? gx[1] : r->out[0],
               *right = p->right_side == p->transpose ? r->out[0] : gx[1];
    if (p->right_side) left = lam__matrices_turn(left);
    else right = lam__matrices_turn(right);
    gx[0] = lam_neg(read_part(lam_matmul(left, right), p));
}

/* Many right-hand sides for one matrix are one right-hand side with more columns. With one matrix per example the
 * stacks are longer by one axis instead. */
static void batch_triangular_solve(const lam_rule *r, lam_tensor *out[]) {
    const solve_params *p = r->params;
    if (r->mapped[0]) out[0] = apply_solve(r->in[0], lam__matrices_with_batch(r, 1), *p);
    else
        out[0] = lam__matrices_narrow(r, 1, apply_solve(r->in[0], lam__matrices_widen(r, 1, p->right_side), *p),
                                      p->right_side);
}

/* What b needs is a, which is an operand; for a the result besides. */
const lam_primitive lam__row_triangular_solve = {
    .name = "triangular_solve",
    .inputs = 2,
    .takes_complex = true,
    .derivative = LAM_GENERAL,
    .linear = 2u,
    .saves = LAM_SAVE_IN(0),
    .saves_for = {LAM_SAVE_OUT(0)},
    .shape = shape_triangular_solve,
    .eval = eval_triangular_solve,
    .jvp = jvp_triangular_solve,
    .vjp = vjp_triangular_solve,
    .batch = batch_triangular_solve,
    .layout = "b right_side, b upper, b transpose, b unit_diagonal",
};

/* A vector is a column, or from the right a row, for the time of the call. */
lam_tensor *lam_triangular_solve(lam_tensor *a, lam_tensor *b, const lam_triangular_solve_options *options) {
    uint64_t since = lam__scope_now(a);
    static const lam_triangular_solve_options none;
    const lam_triangular_solve_options *o = options ? options : &none;
    lam_tensor *in[2] = {a, b}, *failed;
    bool vector = lam__scope_peek(b) && lam_rank(b) == 1;
    if (!lam__matrices_right_sides("triangular_solve", o->right_side, in, &failed)) return failed;
    if (!lam__matrices_lead("triangular_solve", in)) return failed;
    lam_tensor *x = apply_solve(in[0], in[1], (solve_params){o->right_side, o->upper, o->transpose, o->unit_diagonal});
    return lam__scope_only(vector ? lam_squeeze(x, LAM_AXES(o->right_side ? -2 : -1)) : x, since);
}

/* x = l l^H, so two solves: with l, then with l^H, which is the transpose of its conjugate. Nothing is factored. */
lam_tensor *lam_cho_solve(lam_tensor *l, lam_tensor *b) {
    uint64_t since = lam__scope_now(l);
    lam_tensor *failed;
    if (!lam__apply_given("cho_solve", 2, (lam_tensor *[]){l, b}, &failed)) return failed;
    lam_tensor *half = lam_triangular_solve(l, b, NULL);
    return lam__scope_only(lam_triangular_solve(lam_conj(l), half, &(lam_triangular_solve_options){.transpose = true}),
                           since);
}
