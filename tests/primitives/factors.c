/* Factors made of others: what their definitions say of them, an example of LAPACK's, derivatives against differences,
 * vmap against one call per example, what is refused. */
#include "tests/support.h"

static lam_tensor *matrix(int64_t rows, int64_t columns) {
    lam_tensor *x = lam_arange(ctx, LAM_F64, 0, (double)(rows * columns), 1);
    return lam_reshape(lam_sin(lam_mul(1.7, x)), LAM_DIMS(rows, columns));
}

static lam_tensor *adjoint(lam_tensor *x) {
    return lam_conj(lam_matrix_transpose(x));
}

static lam_tensor *positive(int64_t n) {
    lam_tensor *x = matrix(n, n);
    return lam_add(lam_matmul(x, adjoint(x)), lam_eye(ctx, LAM_F64, n, n));
}

/* The same with imaginary parts. */
static lam_tensor *twisted(lam_tensor *x) {
    return lam_complex(x, lam_mul(0.5, lam_cos(lam_mul(3.0, x))));
}

static void expect_close(lam_tensor *x, lam_tensor *y) {
    EXPECT_SAME(lam_add(lam_real(x), 10), lam_add(lam_real(y), 10), 1e-14);
    EXPECT_SAME(lam_add(lam_imag(x), 10), lam_add(lam_imag(y), 10), 1e-14);
}

/* ---- reflections ------------------------------------------------------------------------------------------------- */

BODY(reflections) {
    out[0] = lam_householder_product(in[0], in[1]);
}

BODY(reflected) {
    out[0] = lam_ormqr(in[0], in[1], in[2], env);
}

/* 1 - tau v v^H, v with i zeros, a one and what stands below in column i of a. */
static lam_tensor *reflection(lam_tensor *a, lam_tensor *taus, int i) {
    const int64_t m = lam_dim(a, 0);
    lam_tensor *column = lam_slice_axis(a, 1, i, i + 1), *place = lam_expand_dims(lam_arange(ctx, LAM_I64, 0, m, 1), 1);
    lam_tensor *v = lam_where(lam_lt(place, i), 0, lam_where(lam_eq(place, i), 1, column));
    lam_tensor *share = lam_mul(lam_index(taus, 0, i), lam_matmul(v, adjoint(v)));
    return lam_sub(lam_cast(lam_eye(ctx, LAM_F64, m, m), lam_dtype_of(share)), share);
}

START_TEST(products_of_reflections) {
    for (int i = 0; i < 4; i++) {
        lam_tensor *a = matrix(5, 3), *taus = VEC(0.7, 0, 1.3), *c = matrix(5, 2), *d = matrix(2, 5);
        if (i & 1) taus = lam_slice_axis(taus, 0, 0, 2);
        if (i & 2) a = twisted(a), taus = twisted(taus), c = twisted(c), d = twisted(d);
        lam_tensor *all = reflection(a, taus, 0);
        for (int k = 1; k < lam_dim(taus, 0); k++) all = lam_matmul(all, reflection(a, taus, k));
        expect_close(lam_householder_product(a, taus), lam_slice_axis(all, 1, 0, 3));
        lam_ormqr_options right = {.right_side = true}, back = {.transpose = true}, both = {true, true};
        expect_close(lam_ormqr(a, taus, c, NULL), lam_matmul(all, c));
        expect_close(lam_ormqr(a, taus, c, &back), lam_matmul(adjoint(all), c));
        expect_close(lam_ormqr(a, taus, d, &right), lam_matmul(d, all));
        expect_close(lam_ormqr(a, taus, d, &both), lam_matmul(d, adjoint(all)));
    }
    EXPECT_OK();
}
END_TEST

/* LAPACK's dgeqrf of [[3, 1], [4, 2], [0, 5]] by hand: v = (1, 1/2, 0), tau = 8/5 for the first column (3, 4, 0). */
START_TEST(reflections_of_a_column) {
    lam_tensor *a = MAT(3, 1, -5, 0.5, 0), *tau = VEC(1.6);
    EXPECT_NEAR(lam_householder_product(a, tau), 1e-15, LAM_DIMS(3, 1), -0.6, -0.8, 0);
    EXPECT_NEAR(lam_ormqr(a, tau, MAT(3, 1, 3, 4, 0), NULL), 1e-15, LAM_DIMS(3, 1), -5, 0, 0);
    EXPECT(lam_householder_product(matrix(2, 2), lam_zeros(ctx, LAM_F64, LAM_DIMS(0))), LAM_DIMS(2, 2), 1, 0, 0, 1);
    EXPECT_EMPTY(lam_householder_product(matrix(2, 0), lam_zeros(ctx, LAM_F64, LAM_DIMS(0))), LAM_DIMS(2, 0));
    EXPECT_OK();
}
END_TEST

START_TEST(reflections_are_differentiated_and_batched) {
    lam_tensor *a = matrix(4, 3), *taus = VEC(0.7, 0, 1.3), *c = matrix(4, 2);
    lam_fn *f = FN(reflections, 2, 1);
    const lam_check_grads_options second = {.order = 2};
    ck_assert_int_eq(lam_check_grads(f, LAM_LIST(a, taus), &second), LAM_OK);
    lam_ormqr_options sides[] = {{false, true}, {true, false}};
    for (int i = 0; i < 2; i++) {
        lam_fn *g = FN_ENV(reflected, 3, 1, &sides[i]);
        lam_tensor *d = i ? lam_matrix_transpose(c) : c;
        ck_assert_int_eq(lam_check_grads(g, LAM_LIST(a, taus, d), &second), LAM_OK);
        lam_tensor *stack = lam_stack(LAM_LIST(a, lam_cos(a)), 0);
        lam_fn *batch = lam_vmap(g, &(lam_vmap_options){.in_axes = LAM_AXES(0, LAM_UNMAPPED, LAM_UNMAPPED)});
        lam_tensor *each =
            lam_stack(LAM_LIST(lam_apply(g, LAM_LIST(a, taus, d)), lam_apply(g, LAM_LIST(lam_cos(a), taus, d))), 0);
        EXPECT_SAME(lam_apply(batch, LAM_LIST(stack, taus, d)), each, 1e-14);
        EXPECT_SAME(lam_ormqr(stack, taus, d, &sides[i]), each, 1e-14);
    }
    EXPECT_OK();
}
END_TEST

/* ---- changes of rank one ----------------------------------------------------------------------------------------- */

BODY(updated) {
    out[0] = lam_cholesky_update(in[0], in[1], false);
}

BODY(downdated) {
    out[0] = lam_cholesky_update(in[0], in[1], true);
}

START_TEST(cholesky_factors_that_follow) {
    EXPECT_NEAR(lam_cholesky_update(MAT(1, 1, 3), VEC(4), false), 1e-15, LAM_DIMS(1, 1), 5);
    EXPECT_NEAR(lam_cholesky_update(MAT(1, 1, 5), VEC(4), true), 1e-15, LAM_DIMS(1, 1), 3);
    for (int i = 0; i < 2; i++) {
        lam_tensor *x = positive(6), *w = lam_index(matrix(2, 6), 0, 1);
        if (i) {
            x = lam_matmul(twisted(matrix(6, 6)), adjoint(twisted(matrix(6, 6))));
            x = lam_add(x, lam_cast(lam_eye(ctx, LAM_F64, 6, 6), LAM_C128)), w = twisted(w);
        }
        lam_tensor *l = lam_cholesky(x), *more = lam_cholesky(lam_add(x, lam_outer(w, lam_conj(w))));
        lam_tensor *up = lam_cholesky_update(lam_add(l, lam_triu(x, 1)), w, false); /* the upper part is not read */
        expect_close(up, more);
        expect_close(lam_cholesky_update(up, w, true), l);
    }
    EXPECT_EMPTY(lam_cholesky_update(matrix(0, 0), lam_zeros(ctx, LAM_F64, LAM_DIMS(0)), false), LAM_DIMS(0, 0));
    ck_assert_int_eq(
        lam_dtype_of(lam_cholesky_update(lam_eye(ctx, LAM_F32, 2, 2), lam_ones(ctx, LAM_F32, LAM_DIMS(2)), false)),
        LAM_F32);
    EXPECT_OK();
}
END_TEST

/* Also where w is 0, at which the factor bends as its square does. */
START_TEST(updates_are_differentiated_and_batched) {
    lam_tensor *l = lam_cholesky(positive(3)), *w = VEC(0.3, 0, -0.4);
    lam_fn *both[] = {FN(updated, 2, 1), FN(downdated, 2, 1)};
    for (int i = 0; i < 2; i++) {
        const lam_check_grads_options second = {.order = 2};
        ck_assert_int_eq(lam_check_grads(both[i], LAM_LIST(l, w), &second), LAM_OK);
        ck_assert_int_eq(lam_check_grads(both[i], LAM_LIST(l, lam_zeros_like(w)), &second), LAM_OK);
        lam_tensor *many = MAT(2, 3, 0.3, 0, -0.4, 0, 0, 0);
        lam_fn *batch = lam_vmap(both[i], &(lam_vmap_options){.in_axes = LAM_AXES(LAM_UNMAPPED, 0)});
        EXPECT_SAME(apply2(batch, l, many),
                    lam_stack(LAM_LIST(apply2(both[i], l, w), apply2(both[i], l, lam_zeros_like(w))), 0), 1e-15);
        EXPECT_SAME(lam_cholesky_update(l, many, i), apply2(batch, l, many), 1e-15);
    }
    EXPECT_OK();
}
END_TEST

/* The second pivot of 1 - w w^T is 1 - 0.36 - 0.81. Where that is not seen, NaN stands from its column on. */
START_TEST(what_cannot_be_taken_away) {
    lam_tensor *one = lam_eye(ctx, LAM_F64, 3, 3), *w = VEC(0.6, 0.9, 0.1);
    lam_cholesky_update(one, w, true);
    EXPECT_ERROR(LAM_ERR_NUMERIC, "cholesky_update", "positive definite");
    lam_cholesky_update(one, VEC(1, 0, 0), true);
    EXPECT_ERROR(LAM_ERR_NUMERIC, "cholesky_update");
    lam_fn *batch = lam_vmap(FN(downdated, 2, 1), &(lam_vmap_options){.in_axes = LAM_AXES(LAM_UNMAPPED, 0)});
    lam_tensor *second = lam_index(apply2(batch, one, lam_stack(LAM_LIST(lam_mul(0.1, w), w), 0)), 0, 1);
    EXPECT(lam_is_nan(lam_tril(second, 0)), LAM_DIMS(3, 3), 0, 0, 0, 0, 1, 0, 0, 1, 1);
    lam_tensor *unseen = apply2(lam_jit(FN(downdated, 2, 1), NULL), one, w);
    EXPECT(lam_is_nan(lam_tril(unseen, 0)), LAM_DIMS(3, 3), 0, 0, 0, 0, 1, 0, 0, 1, 1);
    EXPECT_OK();
}
END_TEST

/* ---- generalized eigenvalues ------------------------------------------------------------------------------------- */

BODY(generalized_values) {
    lam_eigh_generalized(in[0], in[1], &out[0], NULL);
}

/* Of a vector its matrix v v^T, which knows no sign. */
BODY(first_vector) {
    lam_tensor *values, *vectors;
    lam_eigh_generalized(in[0], in[1], &values, &vectors);
    lam_tensor *v = lam_index(vectors, -1, 0);
    out[0] = lam_mul(lam_expand_dims(v, -1), v);
}

START_TEST(eigenvalues_in_a_metric) {
    lam_tensor *values,
        *vectors; /* springs: 2 masses of 1 and 2 between walls; det((2, -1), (-1, 2)) - w (1, 2)) = 0 */
    ck_assert_int_eq(lam_eigh_generalized(MAT(2, 2, 2, -1, -1, 2), MAT(2, 2, 1, 0, 0, 2), &values, &vectors), LAM_OK);
    EXPECT_NEAR(values, 1e-15, LAM_DIMS(2), (3 - sqrt(3)) / 2, (3 + sqrt(3)) / 2);
    for (int i = 0; i < 2; i++) {
        lam_tensor *a = lam_add(matrix(5, 5), adjoint(matrix(5, 5))), *b = positive(5);
        if (i) {
            a = lam_add(twisted(a), adjoint(twisted(a)));
            b = lam_add(lam_cast(b, LAM_C128), lam_matmul(twisted(b), adjoint(twisted(b))));
        }
        ck_assert_int_eq(lam_eigh_generalized(a, b, &values, &vectors), LAM_OK);
        expect_close(lam_matmul(a, vectors), lam_mul(lam_matmul(b, vectors), values));
        lam_tensor *gram = lam_matmul(adjoint(vectors), lam_matmul(b, vectors));
        expect_close(gram, lam_cast(lam_eye(ctx, LAM_F64, 5, 5), lam_dtype_of(gram)));
        lam_tensor *alone;
        ck_assert_int_eq(lam_eigh_generalized(a, b, &alone, NULL), LAM_OK);
        expect_close(alone, values);
    }
    lam_tensor *a = MAT(2, 2, 1, 0.5, 0.5, -1), *b = MAT(2, 2, 2, 0.3, 0.3, 1);
    lam_fn *all[] = {FN(generalized_values, 2, 1), FN(first_vector, 2, 1)};
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(lam_check_grads(all[i], LAM_LIST(a, b), &(lam_check_grads_options){.order = 2}), LAM_OK);
        lam_fn *batch = lam_vmap(all[i], &(lam_vmap_options){.in_axes = LAM_AXES(0, LAM_UNMAPPED)});
        EXPECT_SAME(apply2(batch, lam_stack(LAM_LIST(a, b), 0), b),
                    lam_stack(LAM_LIST(apply2(all[i], a, b), apply2(all[i], b, b)), 0), 1e-14);
    }
    EXPECT_OK();
}
END_TEST

START_TEST(wrong_factors) {
    lam_tensor *x = matrix(3, 3), *v = VEC(1, 2, 3), *o[2];
    lam_householder_product(v, v);
    EXPECT_ERROR(LAM_ERR_RANK, "householder_product");
    lam_householder_product(x, num(1));
    EXPECT_ERROR(LAM_ERR_RANK, "householder_product");
    lam_householder_product(matrix(3, 2), v);
    EXPECT_ERROR(LAM_ERR_SHAPE, "householder_product", "3 reflections");
    lam_ormqr(x, v, matrix(2, 3), NULL);
    EXPECT_ERROR(LAM_ERR_SHAPE, "ormqr");
    lam_ormqr(x, v, v, NULL);
    EXPECT_ERROR(LAM_ERR_SHAPE, "ormqr");
    lam_ormqr(x, v, NULL, NULL);
    EXPECT_ERROR(LAM_ERR_NULL, "ormqr");
    lam_cholesky_update(matrix(3, 2), v, false);
    EXPECT_ERROR(LAM_ERR_SHAPE, "cholesky_update");
    lam_cholesky_update(x, VEC(1, 2), false);
    EXPECT_ERROR(LAM_ERR_SHAPE, "cholesky_update");
    ck_assert_int_eq(lam_eigh_generalized(x, matrix(2, 2), &o[0], &o[1]), LAM_ERR_SHAPE);
    EXPECT_ERROR(LAM_ERR_SHAPE, "eigh_generalized");
    ck_assert_int_eq(lam_eigh_generalized(x, v, &o[0], &o[1]), LAM_ERR_SHAPE);
    EXPECT_ERROR(LAM_ERR_SHAPE, "eigh_generalized");
    ck_assert(lam_failed(o[0]) && lam_failed(o[1]));
    ck_assert_int_eq(lam_eigh_generalized(x, lam_neg(positive(3)), &o[0], &o[1]), LAM_ERR_NUMERIC);
    EXPECT_ERROR(LAM_ERR_NUMERIC, "eigh_generalized");
}
END_TEST

Suite *suite_primitives_factors(void) {
    return SUITE_OF("primitives/factors", products_of_reflections, reflections_of_a_column,
                    reflections_are_differentiated_and_batched, cholesky_factors_that_follow,
                    updates_are_differentiated_and_batched, what_cannot_be_taken_away, eigenvalues_in_a_metric,
                    wrong_factors);
}
