/* Factors of matrices made of other factors: products of reflections, Cholesky factors that follow a change of rank
 * one, symmetric eigenproblems with a metric. All composed, of solves with triangular matrices. */
#include "lib/primitives/axes.h"
#include "lib/primitives/matrices.h"
#include "lib/primitives/seen.h"
#include "lib/tensor/dtype.h"

#include <lamina/ops.h>
#include <lamina/structured.h>
#include <lamina/tensor.h>

#include <math.h>

/* ---- reflections ------------------------------------------------------------------------------------------------- */

/* H_1 ... H_k with H_i = 1 - tau_i v_i v_i^H is 1 - V T V^H, where T is triangular and
 * T^-1 has v_i^H v_j above its diagonal and 1/tau_i on it. So T = (1 + D S)^-1 D with D of the taus and S the products
 * above the diagonal, also where a tau is 0. Schreiber and Van Loan, A storage-efficient WY representation, 1989. */
typedef struct reflections {
    lam_tensor *v;     /* [..., m, k] with ones on the diagonal, zeros above */
    lam_tensor *d;     /* [..., k, 1] */
    lam_tensor *gauge; /* [..., k, k]: D S above the diagonal; the rest is not read */
} reflections;

/* The reflections of a and taus. False, with *failed to return, where these do not go together. The ones and zeros of v
 * are put in, so that what is above the diagonal of a may be anything, as R is. */
static bool collect(const char *operation, size_t n, lam_tensor *in[], reflections *h, lam_tensor **failed) {
    if (!lam__matrices_operands(operation, true, n, in, in, failed)) return false;
    if (lam_rank(in[0]) < 2 || lam_rank(in[1]) < 1)
        return *failed = lam__matrices_fail(operation, n, in, LAM_ERR_RANK, NULL, "a matrix and a vector are needed"),
               false;
    const int64_t m = lam_dim(in[0], -2), columns = lam_dim(in[0], -1), k = lam_dim(in[1], -1);
    if (k > m || k > columns)
        return *failed = lam__matrices_fail(operation, n, in, LAM_ERR_SHAPE, "leave out the taus that have no column",
                                            "there cannot be %lld reflections", (long long)k),
               false;
    lam_tensor *below = lam_tril(lam_slice_axis(in[0], -1, 0, k), -1);
    h->v = lam_add(below, lam_eye(lam_ctx_of(below), lam_dtype_of(below), m, k));
    h->d = lam_expand_dims(in[1], -1);
    h->gauge = lam_mul(h->d, lam_matmul(lam__matrices_adjoint(h->v), h->v));
    return true;
}

/* The product, or its adjoint, times c. Adjoint: T^H in place of T, in the order D^H last. */
static lam_tensor *reflect(const reflections *h, lam_tensor *c, bool adjoint) {
    const lam_triangular_solve_options solve = {.upper = true, .unit_diagonal = true, .transpose = adjoint};
    lam_tensor *x = lam_matmul(lam__matrices_adjoint(h->v), c);
    if (adjoint) x = lam_mul(lam_conj(h->d), lam_triangular_solve(lam_conj(h->gauge), x, &solve));
    else x = lam_triangular_solve(h->gauge, lam_mul(h->d, x), &solve);
    return lam_sub(c, lam_matmul(h->v, x));
}

/* The reflections on the first columns of the identity. */
lam_tensor *lam_householder_product(lam_tensor *a, lam_tensor *taus) {
    uint64_t since = lam__scope_now(a);
    lam_tensor *in[2] = {a, taus}, *failed;
    reflections h;
    if (!collect("householder_product", 2, in, &h, &failed)) return failed;
    lam_tensor *columns = lam_eye(lam_ctx_of(a), lam_dtype_of(in[0]), lam_dim(a, -2), lam_dim(a, -1));
    return lam__scope_only(reflect(&h, columns, false), since);
}

/* From the right as the adjoint of what the other product does from the left. */
lam_tensor *lam_ormqr(lam_tensor *a, lam_tensor *taus, lam_tensor *c, const lam_ormqr_options *options) {
    static const lam_ormqr_options none;
    const lam_ormqr_options *o = options ? options : &none;
    uint64_t since = lam__scope_now(a);
    lam_tensor *in[3] = {a, taus, c}, *failed;
    reflections h;
    if (!collect("ormqr", 3, in, &h, &failed)) return failed;
    if (lam_rank(in[2]) < 2 || lam_dim(in[2], o->right_side ? -1 : -2) != lam_dim(in[0], -2))
        return lam__matrices_fail("ormqr", 3, in, LAM_ERR_SHAPE, NULL, "the product has %lld rows and columns",
                                  (long long)lam_dim(in[0], -2));
    if (!o->right_side) return lam__scope_only(reflect(&h, in[2], o->transpose), since);
    lam_tensor *turned = reflect(&h, lam__matrices_adjoint(in[2]), !o->transpose);
    return lam__scope_only(lam__matrices_adjoint(turned), since);
}

/* ---- Cholesky factors -------------------------------------------------------------------------------------------- */

/* With p = l^-1 w the wanted factor is l times that of 1 + s p p^H (s = 1 or -1), which is known: for t_j = 1 + s
 * (|p_0|^2 + ... + |p_j|^2) it has sqrt(t_j / t_(j-1)) on its diagonal and s p_i conj(p_j) / sqrt(t_j t_(j-1)) below.
 * So column j of the result takes n steps more than that of l: the sums of l p over what stands behind it. Gill, Golub,
 * Murray and Saunders, Methods for modifying matrix factorizations, 1974. */
static lam_tensor *changed(lam_tensor *l, lam_tensor *p, lam_tensor *t, double sign) {
    const int64_t n = lam_dim(p, -1);
    lam_tensor *one = lam_ones_like(lam_slice_axis(t, -1, 0, 1)), *root = lam_sqrt(t);
    lam_tensor *before = lam_concatenate(LAM_LIST(one, lam_slice_axis(root, -1, 0, n - 1)), -1);
    lam_tensor *row = lam_expand_dims(p, -2), *sums = lam_cumsum_reverse(lam_mul(l, row), -1);
    lam_tensor *none = lam_zeros_like(lam_slice_axis(sums, -1, 0, 1));
    lam_tensor *behind = lam_concatenate(LAM_LIST(lam_slice_axis(sums, -1, 1, n), none), -1);
    lam_tensor *share = lam_div(lam_div(lam_mul(sign, lam_conj(p)), root), before);
    lam_tensor *stretch = lam_expand_dims(lam_div(root, before), -2);
    return lam_add(lam_mul(l, stretch), lam_mul(behind, lam_expand_dims(share, -2)));
}

/* Of complex numbers their sizes, which are real in a complex dtype until their parts are taken. */
static lam_tensor *squared(lam_tensor *p) {
    const bool complex = lam__dtype_is_complex((int)lam_dtype_of(p));
    return complex ? lam_real(lam_mul(p, lam_conj(p))) : lam_square(p);
}

/* l and w of one floating dtype, a stack of squares and vectors. False: *failed is the result. */
static bool factor_and_vector(lam_tensor *in[2], lam_tensor **failed) {
    const char *operation = "cholesky_update";
    if (!lam__matrices_operands(operation, true, 2, in, in, failed)) return false;
    if (!lam__matrices_square(operation, in[0])) return *failed = lam__axes_failed(in[0]), false;
    if (lam_rank(in[1]) > 0 && lam_dim(in[1], -1) == lam_dim(in[0], -1)) return true;
    *failed = lam__matrices_fail(operation, 2, in, LAM_ERR_SHAPE, NULL, "a vector of %lld elements is needed",
                                 (long long)lam_dim(in[0], -1));
    return false;
}

/* Where t is not positive there is no such factor; what stands behind the first such place has none either. Where
 * elements can be seen that is a failure, elsewhere NaN. */
lam_tensor *lam_cholesky_update(lam_tensor *l, lam_tensor *w, bool downdate) {
    uint64_t since = lam__scope_now(l);
    lam_tensor *in[2] = {l, w}, *failed;
    if (!factor_and_vector(in, &failed)) return failed;
    /* A matrix of no rows is its own factor; the sum broadcasts leading axes and checks dtypes. */
    if (lam_dim(in[0], -1) == 0) return lam__scope_only(lam_add(in[0], lam_expand_dims(in[1], -1)), since);
    lam_tensor *own = lam_tril(in[0], 0);
    lam_tensor *p = lam_squeeze(lam_triangular_solve(own, lam_expand_dims(in[1], -1), NULL), LAM_AXES(-1));
    lam_tensor *sum = lam_cumsum(squared(p), -1), *t = downdate ? lam_sub(1.0, sum) : lam_add(sum, 1.0);
    if (downdate) {
        lam_tensor *good = lam_gt(lam_cummin(lam_stop_gradient(t), -1), 0.0);
        if (!lam__seen_true(good))
            return lam__axes_fail_with("cholesky_update", in[0], LAM_ERR_NUMERIC, "take less away",
                                       "what is left is not positive definite");
        t = lam_where(good, t, NAN);
    }
    return lam__scope_only(changed(own, p, t, downdate ? -1 : 1), since);
}

/* ---- eigenvalues ------------------------------------------------------------------------------------------------- */

/* With b = l l^H those of l^-1 a l^-H, whose vectors y are l^H v. Vectors are then orthonormal in the metric b. */
lam_status lam_eigh_generalized(lam_tensor *a, lam_tensor *b, lam_tensor **values, lam_tensor **vectors) {
    const char *operation = "eigh_generalized";
    const lam_triangular_solve_options right = {.right_side = true, .transpose = true}, back = {.transpose = true};
    uint64_t since = lam__scope_now(a);
    lam_tensor *in[2] = {a, b}, *failed, *made[2], **const places[2] = {values, vectors};
    bool good = lam__matrices_operands(operation, true, 2, in, in, &failed);
    for (int i = 0; good && i < 2; i++)
        if (!lam__matrices_square(operation, in[i])) failed = lam__axes_failed(in[i]), good = false;
    if (good && lam_dim(in[0], -1) != lam_dim(in[1], -1)) {
        failed = lam__matrices_fail(operation, 2, in, LAM_ERR_SHAPE, NULL, "the matrices are of two sizes");
        good = false;
    }
    if (!good) return lam__matrices_give_failed(failed, 2, places);
    lam_tensor *l = lam_cholesky(in[1]);
    if (lam_failed(l)) return lam__matrices_give_failed(lam__scope_named(l, since), 2, places);
    /* Solving with the transpose of conj(l) is solving with l^H. */
    lam_tensor *turned = lam_conj(l);
    lam_tensor *inside = lam_triangular_solve(turned, lam_triangular_solve(l, in[0], NULL), &right);
    /* Values alone are cheaper, and have a derivative also where vectors have none. */
    if (!vectors) {
        made[0] = lam_eigvalsh(inside);
        return lam__matrices_give(LAM_OK, since, 1, made, places);
    }
    lam_status status = lam_eigh(inside, &made[0], &made[1]);
    made[1] = lam_triangular_solve(turned, made[1], &back);
    return lam__matrices_give(status, since, 2, made, places);
}
