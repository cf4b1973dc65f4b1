/* The exponential of matrices, and its derivative at x along e, l(x, e), which is the upper right block of the
 * exponential of [[x, e], [0, x]] (Mathias, "A chain rule for matrix functions", 1996). The transpose by e is l(x^T,
 * g), and a derivative of l is the upper right block of an l of such blocks: rules of two rows, right to all orders. */
#include "lib/primitives/apply.h"
#include "lib/primitives/axes.h"
#include "lib/primitives/corner.h"
#include "lib/primitives/cplx.h"
#include "lib/primitives/matrices.h"
#include "lib/primitives/rows.h"

#include "lib/kernels/kernels.h"
#include "lib/tensor/value.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

/* Any real floating type; of a stack each matrix for itself. */
static lam_status shape_expm(const lam_call_site *call, lam_shape out[]) {
    const lam_value *x = call->in[0];
    lam_status typed = lam__matrices_typed(call, true);
    if (typed != LAM_OK) return typed;
    out->dtype = (lam_dtype)x->dtype;
    out->rank = x->rank;
    for (int k = 0; k < x->rank; k++) out->dims[k] = x->dims[k];
    return lam__matrices_fit(call, false);
}

/* What the workers share. */
typedef struct stack {
    const lam_value *x, *e, *out; /* e: the change, for the derivative */
} stack;

/* Scaling and squaring with a Pade approximant (Higham 2005; Al-Mohy and Higham 2009 for the derivative) is the
 * kernel's. */
static int64_t expm_part(const void *env, int64_t begin, int64_t end, void *room) {
    const stack *s = env;
    const int64_t n = s->x->dims[s->x->rank - 1], at = begin * n * n * (int64_t)lam__dtype_bytes(s->x->dtype);
    const char *x = (const char *)s->x->data + at;
    char *out = (char *)s->out->data + at;
    const lam_dtype dtype = (lam_dtype)s->x->dtype;
    if (s->e) lam__kernels_expm_frechet(dtype, end - begin, n, x, (const char *)s->e->data + at, out, room);
    else lam__kernels_expm(dtype, end - begin, n, x, out, room);
    return -1;
}

/* Units of lam__team_run: some twenty products of matrices. What it takes depends on the norm, which is not looked at
 * for this. */
static double cost_of(int64_t n) {
    return 20 * (double)n * (double)n * (double)(n + 8) / 8;
}

/* Complex matrices do not come here: the public form works on real ones of twice the size. */
static lam_status eval_expm(const lam_call_site *call, lam_value *const out[]) {
    if (out[0]->count == 0) return LAM_OK;
    lam_value *x = lam__value_contiguous(call->in[0]);
    if (!x) return LAM_ERR_MEMORY;
    const stack s = {x, NULL, out[0]};
    int64_t n = x->dims[x->rank - 1], bad;
    lam_status status = lam__matrices_each(call->ctx, lam__matrices_count(x), cost_of(n),
                                           lam__kernels_expm_bytes((lam_dtype)x->dtype, n), expm_part, &s, &bad);
    lam__value_release(x);
    return status;
}

static lam_tensor *apply_expm(lam_tensor *x) {
    return lam__apply1(&lam__row_expm, NULL, 0, x);
}

/* l(x, e), of one matrix or a stack. */
static lam_tensor *apply_frechet(lam_tensor *x, lam_tensor *e) {
    lam_tensor *in[2] = {x, e};
    return lam__apply(&lam__row_expm_frechet, NULL, 0, 2, in);
}

/* d exp(x) = l(x, dx). */
static void jvp_expm(const lam_rule *r, lam_tensor *const dx[], lam_tensor *dout[]) {
    dout[0] = apply_frechet(r->in[0], dx[0]);
}

/* gx = l(x^T, g). */
static void vjp_expm(const lam_rule *r, lam_tensor *const g[], lam_tensor *gx[]) {
    gx[0] = apply_frechet(lam__matrices_turn(r->in[0]), g[0]);
}

static void batch_expm(const lam_rule *r, lam_tensor *out[]) {
    out[0] = apply_expm(r->in[0]);
}

/* The operand is kept: l(x^T, g) is made of it anew, with the scaling that suits both. */
const lam_primitive lam__row_expm = {
    .name = "expm",
    .inputs = 1,
    .derivative = LAM_GENERAL,
    .saves = LAM_SAVE_IN(0),
    .shape = shape_expm,
    .eval = eval_expm,
    .jvp = jvp_expm,
    .vjp = vjp_expm,
    .batch = batch_expm,
};

/* ---- the derivative ---------------------------------------------------------------------------------------------- */

static lam_status shape_expm_frechet(const lam_call_site *call, lam_shape out[]) {
    if (!lam__value_same_type(call->in[0], call->in[1]))
        return lam__error_call(call, LAM_ERR_SHAPE, NULL, "a matrix and its change must be of one type");
    return shape_expm(call, out);
}

/* For sharing it counts as an exponential of twice the rows. */
static lam_status eval_expm_frechet(const lam_call_site *call, lam_value *const out[]) {
    if (out[0]->count == 0) return LAM_OK;
    lam_value *x = lam__value_contiguous(call->in[0]), *e = lam__value_contiguous(call->in[1]);
    const stack s = {x, e, out[0]};
    int64_t n = out[0]->dims[out[0]->rank - 1], bad;
    lam_status status = LAM_ERR_MEMORY;
    if (x && e)
        status = lam__matrices_each(call->ctx, lam__matrices_count(x), cost_of(2 * n),
                                    lam__kernels_expm_frechet_bytes((lam_dtype)x->dtype, n), expm_part, &s, &bad);
    lam__value_release(x);
    lam__value_release(e);
    return status;
}

/* One of the four blocks of a matrix of 2 n rows. */
lam_tensor *lam__corner_block(lam_tensor *x, int row, int column) {
    int64_t n = lam_dim(x, -1) / 2;
    return lam_slice_axis(lam_slice_axis(x, -2, row * n, (row + 1) * n), -1, column * n, (column + 1) * n);
}

/* [[x, e], [0, x]]; NULL is zero. A matrix of twice the rows, so each further order costs eight times as much: high
 * ones are for small matrices. */
lam_tensor *lam__corner_blocks(lam_tensor *x, lam_tensor *e) {
    lam_tensor *zero = lam_zeros_like(x ? x : e);
    lam_tensor *above = lam_concatenate(LAM_LIST(x ? x : zero, e ? e : zero), -1);
    return lam_concatenate(LAM_LIST(above, lam_concatenate(LAM_LIST(zero, x ? x : zero), -1)), -2);
}

/* dl(x, e) = the upper right block of l([[x, e], [0, x]], [[dx, de], [0, dx]]); with dx = 0 it is l(x, de). */
static void jvp_expm_frechet(const lam_rule *r, lam_tensor *const dx[], lam_tensor *dout[]) {
    lam_tensor *x = r->in[0], *e = r->in[1];
    dout[0] = dx[0] ? lam__corner_block(apply_frechet(lam__corner_blocks(x, e), lam__corner_blocks(dx[0], dx[1])), 0, 1)
                    : apply_frechet(x, dx[1]);
}

/* The transpose of the map above: l of the transposed blocks along [[0, g], [0, 0]]. By x both diagonal blocks count,
 * since x stands in both; by e the upper right one. */
static void vjp_expm_frechet(const lam_rule *r, lam_tensor *const g[], lam_tensor *gx[]) {
    if (!r->needs[0]) {
        gx[1] = apply_frechet(lam__matrices_turn(r->in[0]), g[0]);
        return;
    }
    lam_tensor *all =
        apply_frechet(lam__matrices_turn(lam__corner_blocks(r->in[0], r->in[1])), lam__corner_blocks(NULL, g[0]));
    gx[0] = lam_add(lam__corner_block(all, 0, 0), lam__corner_block(all, 1, 1));
    gx[1] = lam__corner_block(all, 0, 1);
}

/* Pairs of matrices, so both get the batch axis. */
static void batch_expm_frechet(const lam_rule *r, lam_tensor *out[]) {
    out[0] = apply_frechet(lam__matrices_with_batch(r, 0), lam__matrices_with_batch(r, 1));
}

const lam_primitive lam__row_expm_frechet = {
    .name = "expm_frechet",
    .inputs = 2,
    .derivative = LAM_GENERAL,
    .linear = 2u,
    .saves = LAM_SAVE_IN(0),
    .saves_for = {LAM_SAVE_IN(1)},
    .shape = shape_expm_frechet,
    .eval = eval_expm_frechet,
    .jvp = jvp_expm_frechet,
    .vjp = vjp_expm_frechet,
    .batch = batch_expm_frechet,
};

/* ---- public ------------------------------------------------------------------------------------------------------ */

/* Complex matrices as real ones of twice the rows, whose exponential has the same form. */
lam_tensor *lam_expm(lam_tensor *x) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *failed;
    if (!lam__matrices_operands("expm", true, 1, &x, &x, &failed)) return failed;
    if (!lam__matrices_square("expm", x)) return lam__axes_failed(x);
    bool complex = lam__cplx_is(x);
    lam_tensor *out = apply_expm(complex ? lam__cplx_as_real(x) : x);
    return lam__scope_only(complex ? lam__cplx_from_real(out) : out, since);
}

/* A stack of changes may go with one matrix: leading axes broadcast. */
lam_tensor *lam_expm_frechet(lam_tensor *x, lam_tensor *e) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *in[2] = {x, e}, *failed;
    if (!lam__matrices_operands("expm_frechet", true, 2, in, in, &failed)) return failed;
    if (!lam__matrices_square("expm_frechet", in[0])) return lam__axes_failed(in[0]);
    if (!lam__matrices_square("expm_frechet", in[1])) return lam__axes_failed(in[0]);
    if (!lam__matrices_lead("expm_frechet", in)) return lam__axes_failed(in[0]);
    bool complex = lam__cplx_is(in[0]);
    for (int i = 0; i < 2 && complex; i++) in[i] = lam__cplx_as_real(in[i]);
    lam_tensor *out = apply_frechet(in[0], in[1]);
    return lam__scope_only(complex ? lam__cplx_from_real(out) : out, since);
}
