/* What is made of the coefficients of polynomials: derivatives, integrals, sums, products, quotients, fits, roots. No
 * rows, no rules. Coefficients stand along the last axis, the highest power first, as in NumPy; axes in front are a
 * batch. */
#include "lib/primitives/apply.h"
#include "lib/primitives/axes.h"
#include "lib/primitives/matrices.h"

#include "lib/tensor/dtype.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

/* Whether x holds coefficients along its last axis, and m is no negative number of times. *failed is set where it is
 * false. */
static bool usable(const char *operation, lam_tensor *x, int64_t m, lam_tensor **failed) {
    if (!lam__matrices_operands(operation, false, 1, &x, &x, failed)) return false;
    if (lam_rank(x) > 0 && m >= 0) return true;
    *failed = lam_rank(x) == 0 ? lam__axes_fail(operation, x, LAM_ERR_RANK, "coefficients need an axis")
                               : lam__axes_fail(operation, x, LAM_ERR_VALUE, "%lld times is impossible", (long long)m);
    return false;
}

/* n, n - 1, ..., 1, real. In the dtype of the coefficients, so that integers stay integers. */
static lam_tensor *exponents(lam_tensor *p, int64_t n) {
    return lam_arange(lam_ctx_of(p), lam__matrices_real(lam_dtype_of(p)), (double)n, 0, -1);
}

/* Each time the last coefficient goes and the others are multiplied by their exponents. A polynomial without
 * coefficients stays one. */
lam_tensor *lam_polyder(lam_tensor *p, int64_t m) {
    uint64_t since = lam__scope_now(p);
    lam_tensor *failed;
    if (!usable("polyder", p, m, &failed)) return failed;
    /* Bools cannot be multiplied by exponents. */
    p = lam_dtype_of(p) == LAM_BOOL ? lam_cast(p, LAM_I64) : lam_alias(p);
    for (int64_t n; m > 0 && (n = lam_dim(p, -1)) > 0; m--)
        p = lam_mul(lam_slice_axis(p, -1, 0, n - 1), exponents(p, n - 1));
    return lam__scope_only(p, since);
}

/* The k-th integration divides by exponents that begin k higher; the constants are zeros, put behind once. 400! is more
 * than the greatest number over the least, so that divisions beyond change nothing: what is finite is 0 by then. */
lam_tensor *lam_polyint(lam_tensor *p, int64_t m) {
    uint64_t since = lam__scope_now(p);
    lam_tensor *failed;
    if (!usable("polyint", p, m, &failed)) return failed;
    lam_dims own = lam_dims_of(p);
    /* Quotients of integers are none. */
    if (!lam__dtype_is_inexact((int)lam_dtype_of(p))) p = lam_cast(p, LAM_F64);
    int64_t n = own.dims[own.rank - 1], dims[LAM_INNER_RANK];
    for (int k = 0; k < own.rank; k++) dims[k] = k + 1 < own.rank ? own.dims[k] : m;
    lam_tensor *constants = lam_zeros(lam_ctx_of(p), lam_dtype_of(p), (lam_dims){own.rank, dims});
    for (int64_t k = 0; k < m && k < 400 && !lam_failed(constants); k++)
        p = lam_div(p, lam_add(exponents(p, n), (double)k));
    return lam__scope_only(lam_concatenate(LAM_LIST(p, constants), -1), since);
}

/* ---- arithmetic -------------------------------------------------------------------------------------------------- */

/* Zeros in front, up to n coefficients. The first coefficient is that of the highest power. */
static lam_tensor *longer(lam_tensor *p, int64_t n) {
    lam_dims own = lam_dims_of(p);
    int64_t low[LAM_INNER_RANK] = {0}, high[LAM_INNER_RANK] = {0};
    low[own.rank - 1] = n - own.dims[own.rank - 1];
    return lam_pad(p, (lam_dims){own.rank, low}, (lam_dims){own.rank, high}, NULL);
}

/* Powers are counted from the end, so the shorter one gets zeros in front. `combine` is a function, hence the
 * parentheses where a macro of literals.h has its name. */
static lam_tensor *sum(const char *operation, lam_tensor *p, lam_tensor *q,
                       lam_tensor *combine(lam_tensor *, lam_tensor *)) {
    uint64_t since = lam__scope_now(p);
    lam_tensor *in[2] = {p, q}, *failed;
    if (!lam__matrices_operands(operation, false, 2, in, in, &failed)) return failed;
    if (lam_rank(in[0]) == 0 || lam_rank(in[1]) == 0)
        return lam__matrices_fail(operation, 2, in, LAM_ERR_RANK, NULL, "coefficients need an axis");
    const int64_t m = lam_dim(p, -1), n = lam_dim(q, -1), most = m > n ? m : n;
    return lam__scope_only(combine(longer(in[0], most), longer(in[1], most)), since);
}

lam_tensor *lam_polyadd(lam_tensor *p, lam_tensor *q) {
    uint64_t since = lam__scope_now(p);
    return lam__scope_named(sum("polyadd", p, q, (lam_add)), since);
}

lam_tensor *lam_polysub(lam_tensor *p, lam_tensor *q) {
    uint64_t since = lam__scope_now(p);
    return lam__scope_named(sum("polysub", p, q, (lam_sub)), since);
}

/* The product of empty ones, the polynomial 0, has no coefficients either. The sizes of a convolution are at least
 * 1. */
lam_tensor *lam_polymul(lam_tensor *p, lam_tensor *q) {
    uint64_t since = lam__scope_now(p);
    lam_tensor *in[2] = {p, q}, *failed;
    if (!lam__matrices_operands("polymul", false, 2, in, in, &failed)) return failed;
    if (lam_rank(in[0]) != 1 || lam_rank(in[1]) != 1)
        return lam__matrices_fail("polymul", 2, in, LAM_ERR_RANK, NULL, "two vectors are needed");
    if (!lam_size(p) || !lam_size(q)) return lam__scope_only(lam_slice_axis(in[0], 0, 0, 0), since);
    return lam__scope_only(lam_convolve(in[0], in[1], LAM_CONVOLVE_FULL), since);
}

/* Long division: each step takes off the highest coefficient that is left. */
static lam_status divided(lam_tensor *p, lam_tensor *q, lam_tensor *out[2]) {
    lam_ctx *ctx = lam_ctx_of(p);
    /* A shorter dividend is the rest as it is: one step, whose quotient is 0. */
    const int64_t n = lam_dim(q, 0), steps = lam_dim(p, 0) < n ? 1 : lam_dim(p, 0) - n + 1;
    lam_tensor *rest = longer(p, steps + n - 1), **found = lam__apply_room(ctx, (size_t)steps);
    lam_tensor *first = lam_index(q, 0, 0), *others = lam_slice_axis(q, 0, 1, LAM_END);
    if (!found) return LAM_ERR_MEMORY;
    for (int64_t i = 0; i < steps; i++) {
        found[i] = lam_div(lam_index(rest, 0, 0), first);
        /* The leading coefficient is 0 by construction and goes; the others have lost their share. */
        lam_tensor *left = lam_slice_axis(rest, 0, 1, n), *beyond = lam_slice_axis(rest, 0, n, LAM_END);
        rest = lam_concatenate(LAM_LIST(lam_sub(left, lam_mul(found[i], others)), beyond), 0);
    }
    out[0] = lam_stack((lam_list){(size_t)steps, found}, 0);
    out[1] = rest;
    return lam__apply_status(2, out);
}

/* The number of steps is known from the sizes, whatever the coefficients are: leading zeros are not taken off. */
lam_status lam_polydiv(lam_tensor *p, lam_tensor *q, lam_tensor **quotient, lam_tensor **rest) {
    uint64_t since = lam__scope_now(p);
    lam_tensor *in[2] = {p, q}, *failed, *out[2], **const places[2] = {quotient, rest};
    if (!lam__matrices_operands("polydiv", true, 2, in, in, &failed))
        return lam__matrices_give_failed(failed, 2, places);
    /* After a failure, whatever it was, this is what both results are. */
    failed = lam__axes_failed(in[0]);
    if (lam_rank(in[0]) != 1 || lam_rank(in[1]) != 1)
        lam__matrices_fail("polydiv", 2, in, LAM_ERR_RANK, NULL, "two vectors are needed");
    else if (lam_dim(in[1], 0) == 0)
        lam__matrices_fail("polydiv", 2, in, LAM_ERR_SHAPE, NULL, "the divisor has no coefficients");
    else if (divided(in[0], in[1], out) == LAM_OK) return lam__matrices_give(LAM_OK, since, 2, out, places);
    return lam__matrices_give_failed(failed, 2, places);
}

/* The product of (x - r), one factor after the other; all polynomials of a stack at once. Multiplying by x puts a 0
 * behind, multiplying by r a 0 in front. */
lam_tensor *lam_poly(lam_tensor *roots) {
    uint64_t since = lam__scope_now(roots);
    lam_tensor *failed;
    if (!usable("poly", roots, 0, &failed)) return failed;
    lam_dims own = lam_dims_of(roots);
    if (lam_dtype_of(roots) == LAM_BOOL) roots = lam_cast(roots, LAM_I64);
    int64_t dims[LAM_INNER_RANK];
    for (int i = 0; i < own.rank; i++) dims[i] = i + 1 < own.rank ? own.dims[i] : 1;
    lam_tensor *one = lam_ones(lam_ctx_of(roots), lam_dtype_of(roots), LAM_DIMS0);
    lam_tensor *p = lam__apply_broadcast(one, own.rank, dims);
    for (int64_t k = 0; k < own.dims[own.rank - 1] && !lam_failed(p); k++) {
        lam_tensor *moved = lam_mul(p, lam_slice_axis(roots, -1, k, k + 1)),
                   *zero = lam_zeros_like(lam_slice_axis(p, -1, 0, 1));
        p = lam_sub(lam_concatenate(LAM_LIST(p, zero), -1), lam_concatenate(LAM_LIST(zero, moved), -1));
    }
    return lam__scope_only(p, since);
}

/* ---- fits -------------------------------------------------------------------------------------------------------- */

/* What polyfit needs: n points, one or k values at each, a weight for each. */
static bool points(size_t n, lam_tensor *const in[], int64_t degree) {
    const bool possible = degree >= 0 && degree < INT64_MAX;
    bool fit = lam_rank(in[0]) == 1 && (lam_rank(in[1]) == 1 || lam_rank(in[1]) == 2);
    fit = fit && lam_dim(in[1], 0) == lam_dim(in[0], 0) && lam_dim(in[0], 0) > 0;
    if (n == 3) fit = fit && lam_rank(in[2]) == 1 && lam_dim(in[2], 0) == lam_dim(in[0], 0);
    if (!fit)
        lam__matrices_fail("polyfit", n, in, LAM_ERR_SHAPE, NULL, "x [n], y [n] or [n, k] and weights [n] are needed");
    else if (!possible)
        lam__matrices_fail("polyfit", n, in, LAM_ERR_VALUE, NULL, "there is no degree %lld", (long long)degree);
    return fit && possible;
}

/* Least squares with the Vandermonde matrix. Its columns are brought to length 1 first, since powers of x may differ by
 * so much that lstsq would take the smaller ones for dependent. Column lengths do not change the polynomial, only how
 * well it is found: they are constants. */
static lam_tensor *fit(lam_tensor *x, lam_tensor *y, int64_t degree, lam_tensor *weights) {
    const bool several = lam_rank(y) == 2;
    lam_tensor *a = lam_vander(x, degree + 1, false);
    if (weights) {
        lam_tensor *column = lam_expand_dims(weights, 1);
        a = lam_mul(a, column);
        y = lam_mul(y, several ? column : weights);
    }
    lam_tensor *lengths = lam_stop_gradient(lam_norm(a, &(lam_norm_options){.axes = LAM_AXES(0)}));
    /* A column of zeros stays one, and its coefficient is that of least length, 0. */
    lengths = lam_where(lam_eq(lengths, 0.0), 1.0, lengths);
    lam_tensor *p = lam_lstsq(lam_div(a, lengths), y, NULL);
    return lam_div(p, several ? lam_expand_dims(lengths, 1) : lengths);
}

lam_tensor *lam_polyfit(lam_tensor *x, lam_tensor *y, int64_t degree, lam_tensor *weights) {
    uint64_t since = lam__scope_now(x);
    const size_t n = weights ? 3 : 2;
    lam_tensor *in[3] = {x, y, weights}, *failed;
    if (!lam__matrices_operands("polyfit", true, n, in, in, &failed)) return failed;
    if (!points(n, in, degree)) return lam__axes_failed(in[0]);
    return lam__scope_only(fit(in[0], in[1], degree, in[2]), since);
}

/* ---- roots ------------------------------------------------------------------------------------------------------- */

/* The matrix whose characteristic polynomial is p / p[0]: -p[1..]/p[0] in the first row, ones below the diagonal. */
static lam_tensor *companion(lam_tensor *p, int64_t n) {
    lam_dims own = lam_dims_of(p);
    int64_t dims[LAM_INNER_RANK];
    for (int k = 0; k + 1 < own.rank; k++) dims[k] = own.dims[k];
    dims[own.rank - 1] = n - 1;
    /* An axis more than p has: rows of the matrix. */
    dims[own.rank] = n;
    lam_tensor *first = lam_neg(lam_div(lam_slice_axis(p, -1, 1, LAM_END), lam_slice_axis(p, -1, 0, 1)));
    lam_tensor *shift = lam_eye(lam_ctx_of(p), lam_dtype_of(p), n - 1, n);
    lam_tensor *rest = lam_broadcast_to(shift, (lam_dims){own.rank + 1, dims});
    return lam_concatenate(LAM_LIST(lam_expand_dims(first, -2), rest), -2);
}

/* Eigenvalues of the companion matrix, with their derivative; simple roots have one. A leading coefficient of 0 is not
 * removed, as the number of roots may not depend on elements. */
lam_tensor *lam_roots(lam_tensor *p) {
    uint64_t since = lam__scope_now(p);
    lam_tensor *failed;
    if (!lam__matrices_operands("roots", true, 1, &p, &p, &failed)) return failed;
    if (lam_rank(p) == 0) return lam__axes_fail("roots", p, LAM_ERR_RANK, "coefficients need an axis");
    const int64_t n = lam_dim(p, -1) - 1;
    if (n < 0) return lam__axes_fail("roots", p, LAM_ERR_SHAPE, "a polynomial without coefficients has every root");
    /* Roots are complex numbers, also where all of them are real. */
    lam_dtype wide = lam__matrices_real(lam_dtype_of(p)) == LAM_F32 ? LAM_C64 : LAM_C128;
    if (n == 0) return lam__scope_only(lam_cast(lam_slice_axis(p, -1, 0, 0), wide), since);
    return lam__scope_only(lam_eigvals(companion(p, n)), since);
}
