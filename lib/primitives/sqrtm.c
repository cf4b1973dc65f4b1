/* The principal square root of matrices, and its derivative at x along e: the solution l of r l + l r = e with r the
 * root, which is the corner of the root of [[x, e], [0, x]]. Rules of two rows as in expm.c, right to all orders. */
#include "lib/primitives/apply.h"
#include "lib/primitives/corner.h"
#include "lib/primitives/matrices.h"
#include "lib/primitives/rows.h"

#include "lib/kernels/blas/root.h"
#include "lib/tensor/value.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

#include <math.h>

/* What the workers share; e: the change, for the derivative, or NULL. */
typedef struct stack {
    const lam_value *x, *e, *out;
    int64_t n;
} stack;

static double element(const lam_value *x, int64_t at) {
    return x->dtype == LAM_F64 ? ((const double *)x->data)[at] : (double)((const float *)x->data)[at];
}

static void put(const lam_value *out, int64_t at, double x) {
    if (out->dtype == LAM_F64) ((double *)out->data)[at] = x;
    else ((float *)out->data)[at] = (float)x;
}

/* sqrt of the sum of squares of the matrix that begins at `at`. */
static double size_of(const lam_value *x, int64_t at, int64_t count) {
    double sum = 0;
    for (int64_t i = 0; i < count; i++) sum = hypot(sum, element(x, at + i));
    return sum;
}

/* Doubles: the operand and the root, of n rows, or of 2 n rows for the derivative. */
static size_t room_bytes(int64_t rows) {
    return 2 * (size_t)(rows * rows) * sizeof(double) + lam__kernels_sqrtm_bytes(rows);
}

/* One matrix. The derivative is linear in e, which is brought to the size of x, since both stand in one matrix. */
static bool root_of(const stack *s, int64_t number, double *a) {
    const int64_t n = s->n, rows = s->e ? 2 * n : n, at = number * n * n;
    double *root = a + rows * rows, large = s->e ? size_of(s->e, at, n * n) : 0;
    const double scale = large > 0 && isfinite(large) ? size_of(s->x, at, n * n) / large : 1;
    for (int64_t i = 0; i < rows * rows; i++) a[i] = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            const int64_t k = at + i * n + j;
            a[i * rows + j] = element(s->x, k);
            if (!s->e) continue;
            a[(n + i) * rows + n + j] = element(s->x, k);
            a[i * rows + n + j] = scale * element(s->e, k);
        }
    if (!lam__kernels_sqrtm(rows, a, root, root + rows * rows)) return false;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            put(s->out, at + i * n + j, s->e ? root[i * rows + n + j] / scale : root[i * rows + j]);
    return true;
}

static int64_t sqrtm_part(const void *env, int64_t begin, int64_t end, void *room) {
    for (int64_t b = begin; b < end; b++)
        if (!root_of(env, b, room)) return b;
    return -1;
}

/* e NULL: the root itself. About ten steps of an inversion and a product each. */
static lam_status run(const lam_call_site *call, lam_value *out, bool change) {
    if (out->count == 0) return LAM_OK;
    lam_value *x = lam__value_contiguous(call->in[0]), *e = change ? lam__value_contiguous(call->in[1]) : NULL;
    const int64_t n = out->dims[out->rank - 1], rows = change ? 2 * n : n;
    lam_status status = LAM_ERR_MEMORY;
    int64_t bad = -1;
    const stack s = {x, e, out, n};
    if (x && (e || !change))
        status = lam__matrices_each(call->ctx, lam__matrices_count(out), 10 * (double)(rows * rows) * (double)rows,
                                    room_bytes(rows), sqrtm_part, &s, &bad);
    if (status == LAM_OK && bad >= 0)
        status = lam__matrices_bad(call, out, bad, "has an eigenvalue that is 0 or on the negative real axis",
                                   "such matrices have no principal square root");
    lam__value_release(x);
    if (change) lam__value_release(e);
    return status;
}

static lam_status eval_sqrtm(const lam_call_site *call, lam_value *const out[]) {
    return run(call, out[0], false);
}

static lam_tensor *apply_sqrtm(lam_tensor *x) {
    return lam__apply1(&lam__row_sqrtm, NULL, 0, x);
}

/* l(x, e), of one matrix or a stack. */
static lam_tensor *apply_frechet(lam_tensor *x, lam_tensor *e) {
    lam_tensor *in[2] = {x, e};
    return lam__apply(&lam__row_sqrtm_frechet, NULL, 0, 2, in);
}

static void jvp_sqrtm(const lam_rule *r, lam_tensor *const dx[], lam_tensor *dout[]) {
    dout[0] = apply_frechet(r->in[0], dx[0]);
}

/* gx = l(x^T, g). */
static void vjp_sqrtm(const lam_rule *r, lam_tensor *const g[], lam_tensor *gx[]) {
    gx[0] = apply_frechet(lam__matrices_turn(r->in[0]), g[0]);
}

static void batch_sqrtm(const lam_rule *r, lam_tensor *out[]) {
    out[0] = apply_sqrtm(r->in[0]);
}

const lam_primitive lam__row_sqrtm = {
    .name = "sqrtm",
    .inputs = 1,
    .derivative = LAM_GENERAL,
    .saves = LAM_SAVE_IN(0),
    .shape = lam__corner_shape,
    .eval = eval_sqrtm,
    .jvp = jvp_sqrtm,
    .vjp = vjp_sqrtm,
    .batch = batch_sqrtm,
};

/* ---- the derivative ---------------------------------------------------------------------------------------------- */

static lam_status eval_sqrtm_frechet(const lam_call_site *call, lam_value *const out[]) {
    return run(call, out[0], true);
}

static void jvp_sqrtm_frechet(const lam_rule *r, lam_tensor *const dx[], lam_tensor *dout[]) {
    lam__corner_jvp(r, dx, dout, apply_frechet);
}

static void vjp_sqrtm_frechet(const lam_rule *r, lam_tensor *const g[], lam_tensor *gx[]) {
    lam__corner_vjp(r, g, gx, apply_frechet);
}

static void batch_sqrtm_frechet(const lam_rule *r, lam_tensor *out[]) {
    lam__corner_batch(r, out, apply_frechet);
}

const lam_primitive lam__row_sqrtm_frechet = {
    .name = "sqrtm_frechet",
    .inputs = 2,
    .derivative = LAM_GENERAL,
    .linear = 2u,
    .saves = LAM_SAVE_IN(0),
    .saves_for = {LAM_SAVE_IN(1)},
    .shape = lam__corner_shape_map,
    .eval = eval_sqrtm_frechet,
    .jvp = jvp_sqrtm_frechet,
    .vjp = vjp_sqrtm_frechet,
    .batch = batch_sqrtm_frechet,
};

/* ---- public ------------------------------------------------------------------------------------------------------ */

lam_tensor *lam_sqrtm(lam_tensor *x) {
    return lam__corner_call("sqrtm", x, apply_sqrtm);
}

lam_tensor *lam_sqrtm_frechet(lam_tensor *x, lam_tensor *e) {
    return lam__corner_call_map("sqrtm_frechet", x, e, apply_frechet);
}
