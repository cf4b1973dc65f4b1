/* Systems with three diagonals. The row takes the diagonals as bands [..., 3, n] (lower, main, upper, each entry in the
 * row of the matrix that it belongs to) and right-hand sides as rows [..., m, n], which is how they lie best; the
 * wrapper turns them. Implicit derivatives, of the entries within the bands alone. */
#include "lib/primitives/apply.h"
#include "lib/primitives/axes.h"
#include "lib/primitives/matrices.h"
#include "lib/primitives/params.h"
#include "lib/primitives/rows.h"

#include "lib/kernels/blas/tridiagonal.h"
#include "lib/tensor/dtype.h"
#include "lib/tensor/value.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

#include <limits.h>

enum { BANDS, RIGHT, INPUTS };

typedef lam__tridiagonal_params tridiagonal_params;

/* For the rules: which of the two systems the call solved. */
static bool transposed(const lam_rule *r) {
    return ((const tridiagonal_params *)r->params)->transpose;
}

/* Both operands have the same leading axes here. */
static lam_tensor *solve(lam_tensor *bands, lam_tensor *b, bool transpose) {
    const tridiagonal_params p = {transpose};
    lam_tensor *in[INPUTS] = {bands, b};
    return lam__apply(&lam__row_tridiagonal_solve, &p, sizeof p, INPUTS, in);
}

/* ---- kernel call, shape ------------------------------------------------------------------------------------------ */

/* Sizes of bands and right-hand sides; LAPACK counts in int. With the last two axes compared apart: the second to last
 * is 3 for the one, any number for the other. */
static lam_status shape_tridiagonal_solve(const lam_call_site *call, lam_shape out[]) {
    const lam_value *a = call->in[BANDS], *b = call->in[RIGHT];
    lam_status status = lam__matrices_typed(call, false);
    if (status != LAM_OK) return status;
    bool fit = a->dtype == b->dtype && a->rank == b->rank && a->dims[a->rank - 2] == 3;
    for (int k = 0; fit && k < a->rank; k++) fit = k == a->rank - 2 || a->dims[k] == b->dims[k];
    if (!fit) return lam__error_call(call, LAM_ERR_SHAPE, NULL, "bands [..., 3, n] and rows [..., m, n] are needed");
    if (b->dims[b->rank - 1] > INT_MAX || b->dims[b->rank - 2] > INT_MAX)
        return lam__error_call(call, LAM_ERR_OVERFLOW, NULL, "more than %d equations or right-hand sides", INT_MAX);
    return lam__apply_shape_as(b, (lam_dtype)b->dtype, out);
}

/* What the workers share; each takes whole systems. */
typedef struct systems {
    lam__tridiagonal how;
    lam_dtype dtype;
    const char *bands;
    char *x;
} systems;

/* Factors a system into scratch and solves for all its right-hand sides, in place; gives the first singular one. */
static int64_t solve_part(const void *env, int64_t begin, int64_t end, void *room) {
    const systems *s = env;
    const int64_t row = s->how.n * (int64_t)lam__dtype_bytes(s->dtype);
    for (int64_t i = begin; i < end; i++)
        if (!lam__kernels_tridiagonal(s->dtype, &s->how, s->bands + i * 3 * row, s->x + i * s->how.m * row, room))
            return i;
    return -1;
}

/* Cost: some eight units per equation and right-hand side, with the factoring counted as two of these. */
static lam_status eval_tridiagonal_solve(const lam_call_site *call, lam_value *const out[]) {
    const lam_value *b = call->in[RIGHT];
    lam_value *bands = lam__value_contiguous(call->in[BANDS]);
    if (!bands) return LAM_ERR_MEMORY;
    /* The kernel solves in place, and the result is where it may. */
    lam__matrices_copy(b, out[0]->data);
    const systems s = {
        {b->dims[b->rank - 1], b->dims[b->rank - 2], ((const tridiagonal_params *)call->params)->transpose},
        (lam_dtype)b->dtype,
        bands->data,
        out[0]->data};
    int64_t bad;
    /* Without right-hand sides no matrix is looked at, so none is singular. */
    lam_status status = lam__matrices_each(call->ctx, b->count ? lam__matrices_count(b) : 0,
                                           (double)s.how.n * (double)(s.how.m + 2) * 8,
                                           lam__kernels_tridiagonal_bytes(s.dtype, s.how.n), solve_part, &s, &bad);
    if (status == LAM_OK && bad >= 0)
        status = lam__matrices_bad(call, bands, bad, "is singular", "a least-squares problem may be meant");
    lam__value_release(bands);
    return status;
}

/* ---- rules ------------------------------------------------------------------------------------------------------- */

/* x moved by one place along its last axis, forth (or back), zero coming in. The place in the row below or above, of
 * which the first or last has none. */
static lam_tensor *forth(lam_tensor *x) {
    lam_tensor *zero = lam_zeros_like(lam_slice_axis(x, -1, 0, 1));
    return lam_concatenate(LAM_LIST(zero, lam_slice_axis(x, -1, 0, -1)), -1);
}

/* The other way. */
static lam_tensor *back(lam_tensor *x) {
    lam_tensor *zero = lam_zeros_like(lam_slice_axis(x, -1, 0, 1));
    return lam_concatenate(LAM_LIST(lam_slice_axis(x, -1, 1, LAM_END), zero), -1);
}

/* The matrix of these bands, or its transpose, times each row of x. Entries outside of the matrix, at the ends of the
 * outer bands, meet the zeros that come in and have no say. */
static lam_tensor *times(lam_tensor *bands, lam_tensor *x, bool transpose) {
    lam_tensor *band[3];
    for (int k = 0; k < 3; k++) band[k] = lam_slice_axis(bands, -2, k, k + 1);
    lam_tensor *own = lam_mul(band[1], x);
    if (transpose) return lam_add_all(LAM_LIST(own, back(lam_mul(band[0], x)), forth(lam_mul(band[2], x))));
    return lam_add_all(LAM_LIST(own, lam_mul(band[0], forth(x)), lam_mul(band[2], back(x))));
}

/* op(a) dx = db - op(da) x. The product with the change of the bands costs three passes, no matrix is made. */
static void jvp_tridiagonal_solve(const lam_rule *r, lam_tensor *const dx[], lam_tensor *dout[]) {
    lam_tensor *change = dx[RIGHT];
    if (dx[BANDS]) {
        lam_tensor *moved = times(dx[BANDS], r->out[0], transposed(r));
        change = change ? lam_sub(change, moved) : lam_neg(moved);
    }
    if (change) dout[0] = solve(r->in[BANDS], change, transposed(r));
}

/* gb = op(a)^-T g, and ga the bands of -gb x^T, turned for the transpose. Of the matrix -gb x^T three diagonals are
 * wanted, which are sums of elementwise products over the right-hand sides. */
static void vjp_tridiagonal_solve(const lam_rule *r, lam_tensor *const g[], lam_tensor *gx[]) {
    /* The transpose is the same bands with another parameter, so nothing is turned to solve with it. */
    lam_tensor *gb = gx[RIGHT] = solve(r->in[BANDS], g[0], !transposed(r));
    if (!r->needs[BANDS]) return;
    lam_tensor *x = r->out[0], *row = transposed(r) ? x : gb, *column = transposed(r) ? gb : x;
    lam_tensor *const terms[3] = {lam_mul(row, forth(column)), lam_mul(row, column), lam_mul(row, back(column))};
    lam_tensor *sums[3];
    for (int k = 0; k < 3; k++) sums[k] = lam_sum(terms[k], &(lam_reduce_options){LAM_AXES(-2), true});
    gx[BANDS] = lam_neg(lam_concatenate((lam_list){3, sums}, -2));
}

/* Right-hand sides of one matrix join as rows. With bands of their own for each example, the batch axis is a leading
 * axis of both. So a stack of systems that differ in their right sides alone is factored once. */
static void batch_tridiagonal_solve(const lam_rule *r, lam_tensor *out[]) {
    if (!r->mapped[BANDS])
        out[0] = lam__matrices_narrow(r, RIGHT, solve(r->in[BANDS], lam__matrices_widen(r, RIGHT, true), transposed(r)),
                                      true);
    else out[0] = solve(r->in[BANDS], lam__matrices_with_batch(r, RIGHT), transposed(r));
}

/* Linear in the right-hand sides; the result is kept only for the gradient by the bands. */
const lam_primitive lam__row_tridiagonal_solve = {
    .name = "tridiagonal_solve",
    .inputs = INPUTS,
    .takes_complex = true,
    .derivative = LAM_GENERAL,
    .linear = 1u << RIGHT,
    .saves = LAM_SAVE_IN(BANDS),
    .saves_for = {LAM_SAVE_OUT(0)},
    .shape = shape_tridiagonal_solve,
    .eval = eval_tridiagonal_solve,
    .jvp = jvp_tridiagonal_solve,
    .vjp = vjp_tridiagonal_solve,
    .batch = batch_tridiagonal_solve,
    .layout = "b transpose",
};

/* ---- for users --------------------------------------------------------------------------------------------------- */

/* Whether the diagonals are alike and b has as many equations; otherwise it is recorded. One axis more is needed for
 * the three bands, hence the bound on the rank. */
static bool consistent(lam_tensor *const in[4]) {
    const lam_dims d = lam_dims_of(in[1]);
    const int rank = lam_rank(in[3]);
    bool alike = d.rank > 0;
    for (int i = 0; i < 3; i++) {
        const lam_dims other = lam_dims_of(in[i]);
        alike = alike && other.rank == d.rank;
        for (int k = 0; alike && k < d.rank; k++) alike = other.dims[k] == d.dims[k];
    }
    if (alike && d.rank == LAM_MAX_RANK) {
        lam__matrices_fail("tridiagonal_solve", 4, in, LAM_ERR_RANK, "make some axes one with lam_reshape",
                           "a stack of matrices would have more than %d axes", LAM_MAX_RANK);
        return false;
    }
    /* A vector has its equations along its only axis, a matrix along the last but one. */
    if (alike && rank > 0 && lam_dim(in[3], rank == 1 ? -1 : -2) == d.dims[d.rank - 1]) return true;
    lam__matrices_fail("tridiagonal_solve", 4, in, LAM_ERR_SHAPE, "write a batch of vectors as matrices of one column",
                       "diagonals [..., n] of equal dims and right-hand sides [..., n, m] or [n] are needed");
    return false;
}

/* Users give columns, as for lam_solve; rows are what the kernel walks, so the last two axes are exchanged twice, by
 * views. */
static lam_tensor *solution(lam_tensor *in[4]) {
    lam_tensor *failed, *io[2];
    if (!lam__matrices_operands("tridiagonal_solve", true, 4, in, in, &failed)) return failed;
    failed = lam__axes_failed(in[0]);
    if (!consistent(in)) return failed;
    const bool vector = lam_rank(in[3]) == 1;
    io[BANDS] = lam_stack((lam_list){3, in}, -2);
    /* A vector is one row, without a view of it turned twice. */
    io[RIGHT] = vector ? lam_expand_dims(in[3], 0) : lam_moveaxis(in[3], -1, -2);
    if (!lam__matrices_lead("tridiagonal_solve", io)) return failed;
    lam_tensor *x = solve(io[BANDS], io[RIGHT], false);
    return vector ? lam_squeeze(x, LAM_AXES(-2)) : lam_moveaxis(x, -1, -2);
}

lam_tensor *lam_tridiagonal_solve(lam_tensor *lower, lam_tensor *main, lam_tensor *upper, lam_tensor *b) {
    uint64_t since = lam__scope_now(lower);
    lam_tensor *in[4] = {lower, main, upper, b};
    return lam__scope_only(solution(in), since);
}
