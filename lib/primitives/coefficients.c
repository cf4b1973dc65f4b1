/* What is made of the coefficients of polynomials: derivatives, integrals, fits, roots. No rows, no rules. Coefficients
 * stand along the last axis, the highest power first, as in NumPy; axes in front are a batch. */
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

/* n, n - 1, ..., 1, real. */
static lam_tensor *exponents(lam_tensor *p, int64_t n) {
    return lam_arange(lam_ctx_of(p), lam__matrices_real(lam_dtype_of(p)), (double)n, 0, -1);
}

/* Each time the last coefficient goes and the others are multiplied by their exponents. A polynomial without
 * coefficients stays one. */
lam_tensor *lam_polyder(lam_tensor *p, int64_t m) {
    uint64_t since = lam__scope_now(p);
    lam_tensor *failed;
    if (!usable("polyder", p, m, &failed)) return failed;
    p = lam_dtype_of(p) == LAM_BOOL ? lam_cast(p, LAM_I64) : lam_alias(p);
    for (int64_t n; m > 0 && (n = lam_dim(p, -1)) > 0; m--)
        p = lam_mul(lam_slice_axis(p, -1, 0, n - 1), exponents(p, n - 1));
    return lam__scope_only(p, since);
}

/* The k-th integration divides by exponents that begin k higher; the constants are zeros, put behind once. */
lam_tensor *lam_polyint(lam_tensor *p, int64_t m) {
    uint64_t since = lam__scope_now(p);
    lam_tensor *failed;
    if (!usable("polyint", p, m, &failed)) return failed;
    if (!lam__dtype_is_inexact((int)lam_dtype_of(p))) p = lam_cast(p, LAM_F64);
    lam_dims own = lam_dims_of(p);
    int64_t n = own.dims[own.rank - 1], dims[LAM_MAX_RANK];
    for (int k = 0; k < own.rank; k++) dims[k] = k + 1 < own.rank ? own.dims[k] : m;
    lam_tensor *constants = lam_zeros(lam_ctx_of(p), lam_dtype_of(p), (lam_dims){own.rank, dims});
    for (int64_t k = 0; k < m && !lam_failed(constants); k++) p = lam_div(p, lam_add(exponents(p, n), (double)k));
    return lam__scope_only(lam_concatenate(LAM_LIST(p, constants), -1), since);
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
    lam_dtype wide = lam__matrices_real(lam_dtype_of(p)) == LAM_F32 ? LAM_C64 : LAM_C128;
    if (n == 0) return lam__scope_only(lam_cast(lam_slice_axis(p, -1, 0, 0), wide), since);
    return lam__scope_only(lam_eigvals(companion(p, n)), since);
}
