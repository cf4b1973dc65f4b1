/* Sylvester's equation a x + x b = c. Linear in c, so that its derivatives are equations of the same kind:
 * a dx + dx b = dc - da x - x db; with y from a^T y + y b^T = gx, gc = y, ga = -y x^T, gb = -x^T y. */
#include "lib/primitives/apply.h"
#include "lib/primitives/axes.h"
#include "lib/primitives/matrices.h"
#include "lib/primitives/rows.h"
#include "lib/primitives/rules.h"

#include "lib/kernels/blas/sylvester.h"
#include "lib/tensor/dtype.h"
#include "lib/tensor/value.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

#include <limits.h>

/* The operands by name, as each has its own rules. */
enum { A, B, C, INPUTS };

/* The operands have the same leading axes here. What they have before is brought together in lam_solve_sylvester. */
static lam_tensor *apply_solve_sylvester(lam_tensor *a, lam_tensor *b, lam_tensor *c) {
    lam_tensor *in[INPUTS] = {a, b, c};
    return lam__apply(&lam__row_solve_sylvester, NULL, 0, INPUTS, in);
}

/* LAPACK counts in int, also the elements that it works in. Sizes beyond its count would fail within it, where nothing
 * can be said any more. */
static lam_status shape_solve_sylvester(const lam_call_site *call, lam_shape out[]) {
    const lam_value *a = call->in[A], *b = call->in[B], *c = call->in[C];
    lam_status status = lam__matrices_typed(call, true);
    if (status != LAM_OK) return status;
    bool fit = a->dtype == b->dtype && a->dtype == c->dtype && a->rank == b->rank && a->rank == c->rank;
    const int last = a->rank - 1;
    for (int k = 0; fit && k < last - 1; k++) fit = a->dims[k] == c->dims[k] && b->dims[k] == c->dims[k];
    fit = fit && b->dims[last - 1] == b->dims[last] && c->dims[last - 1] == a->dims[last] &&
          c->dims[last] == b->dims[last];
    if (!fit) return lam__error_call(call, LAM_ERR_SHAPE, NULL, "matrices [m, m], [n, n] and [m, n] are needed");
    if (a->dims[last] > INT_MAX / 64 || b->dims[last] > INT_MAX / 64)
        return lam__error_call(call, LAM_ERR_OVERFLOW, NULL, "matrices of more than %d rows", INT_MAX / 64);
    return lam__apply_shape_as(c, (lam_dtype)c->dtype, out);
}

/* What the workers share. The operands have no gaps, so that equation k is k matrices further on. */
typedef struct equations {
    lam_dtype dtype;
    const char *in[INPUTS];
    char *out;
    int64_t m, n;
} equations;

/* Equations [begin, end) of the stack; the first that cannot be solved, or -1. The room is the worker's own. */
static int64_t solve_part(const void *env, int64_t begin, int64_t end, void *room) {
    const equations *e = env;
    const int64_t item = (int64_t)lam__dtype_bytes(e->dtype), m = e->m, n = e->n, at = begin * m * n * item;
    const int64_t bad = lam__kernels_sylvester(e->dtype, end - begin, m, n, e->in[A] + begin * m * m * item,
                                               e->in[B] + begin * n * n * item, e->in[C] + at, e->out + at, room);
    return bad < 0 ? bad : begin + bad;
}

/* 25 m^3 and 25 n^3 for the forms, the rest is less. That is what the stack is shared out by. Operands that have gaps
 * are copied for the time of the call. */
static lam_status eval_solve_sylvester(const lam_call_site *call, lam_value *const out[]) {
    if (out[0]->count == 0) return LAM_OK;
    lam_value *in[INPUTS] = {NULL};
    lam_status status = LAM_OK;
    equations e = {.dtype = (lam_dtype)out[0]->dtype, .out = out[0]->data};
    for (int i = 0; i < INPUTS; i++) {
        in[i] = lam__value_contiguous(call->in[i]);
        if (in[i]) e.in[i] = in[i]->data;
        else status = LAM_ERR_MEMORY;
    }
    const int rank = out[0]->rank;
    e.m = out[0]->dims[rank - 2], e.n = out[0]->dims[rank - 1];
    const double m = (double)e.m, n = (double)e.n;
    int64_t bad = -1;
    if (status == LAM_OK)
        status = lam__matrices_each(call->ctx, lam__matrices_count(out[0]), 10 * (m * m * (m + 50) + n * n * (n + 50)),
                                    lam__kernels_sylvester_bytes(e.dtype, e.m, e.n), solve_part, &e, &bad);
    for (int i = 0; i < INPUTS; i++) lam__value_release(in[i]);
    if (status != LAM_OK || bad < 0) return status;
    /* It takes both matrices to make it singular; the message shows the first. */
    return lam__matrices_bad(call, call->in[A], bad, "has an eigenvalue that is one of the other matrix with a minus",
                             NULL);
}

/* ---- rules ------------------------------------------------------------------------------------------------------- */

/* As the header has it, with a and b of the equation itself. */
static void jvp_solve_sylvester(const lam_rule *r, lam_tensor *const dx[], lam_tensor *dout[]) {
    lam_tensor *x = r->out[0], *right = dx[C];
    if (dx[A]) right = lam__matrices_plus(right, lam_neg(lam_matmul(dx[A], x)));
    if (dx[B]) right = lam__matrices_plus(right, lam_neg(lam_matmul(x, dx[B])));
    if (right) dout[0] = apply_solve_sylvester(r->in[A], r->in[B], right);
}

/* Cotangents do not conjugate: transposes of a and b, not adjoints. The solve is needed whichever operand is asked for,
 * and is done once. */
static void vjp_solve_sylvester(const lam_rule *r, lam_tensor *const g[], lam_tensor *gx[]) {
    lam_tensor *turned = r->needs[A] || r->needs[B] ? lam__matrices_turn(r->out[0]) : NULL;
    lam_tensor *y = apply_solve_sylvester(lam__matrices_turn(r->in[A]), lam__matrices_turn(r->in[B]), g[0]);
    if (r->needs[A]) gx[A] = lam_neg(lam_matmul(y, turned));
    if (r->needs[B]) gx[B] = lam_neg(lam_matmul(turned, y));
    if (r->needs[C]) gx[C] = y;
}

/* Each example has all operands of its own; those without a batch axis are repeated. */
static void batch_solve_sylvester(const lam_rule *r, lam_tensor *out[]) {
    out[0] =
        apply_solve_sylvester(lam__rules_with_batch(r, A), lam__rules_with_batch(r, B), lam__rules_with_batch(r, C));
}

/* What a and b need is the result besides; c needs neither. */
const lam_primitive lam__row_solve_sylvester = {
    .name = "solve_sylvester",
    .inputs = INPUTS,
    .takes_complex = true,
    .derivative = LAM_GENERAL,
    .linear = 1u << C,
    .saves = LAM_SAVE_IN(A) | LAM_SAVE_IN(B),
    .saves_for = {LAM_SAVE_OUT(0), LAM_SAVE_OUT(0)},
    .shape = shape_solve_sylvester,
    .eval = eval_solve_sylvester,
    .jvp = jvp_solve_sylvester,
    .vjp = vjp_solve_sylvester,
    .batch = batch_solve_sylvester,
};

/* ---- public ------------------------------------------------------------------------------------------------------ */

/* Leading axes meet two by two: a and b take those of all, then c does. Then a once more, as b may have given c
 * axes. */
lam_tensor *lam_solve_sylvester(lam_tensor *a, lam_tensor *b, lam_tensor *c) {
    uint64_t since = lam__scope_now(a);
    lam_tensor *in[INPUTS] = {a, b, c}, *failed;
    if (!lam__matrices_operands("solve_sylvester", true, INPUTS, in, in, &failed)) return failed;
    if (!lam__matrices_square("solve_sylvester", in[A]) || !lam__matrices_square("solve_sylvester", in[B]))
        return lam__axes_failed(in[A]);
    if (lam_rank(in[C]) < 2)
        return lam__matrices_fail("solve_sylvester", INPUTS, in, LAM_ERR_RANK, NULL, "the right side is not a matrix");
    lam_tensor *first[] = {in[A], in[C]}, *second[2];
    if (!lam__matrices_lead("solve_sylvester", first)) return lam__axes_failed(in[A]);
    second[0] = in[B], second[1] = first[1];
    if (!lam__matrices_lead("solve_sylvester", second)) return lam__axes_failed(in[A]);
    first[1] = second[1];
    if (!lam__matrices_lead("solve_sylvester", first)) return lam__axes_failed(in[A]);
    return lam__scope_only(apply_solve_sylvester(first[0], second[0], first[1]), since);
}
