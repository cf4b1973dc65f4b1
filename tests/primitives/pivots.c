/* QR with column pivoting: an example by hand, what is said of factors, rank, derivatives, batches. */
#include "tests/support.h"

/* Column 3 is the longest, and of what is left of the others at right angles to it that of column 0; columns are
 * exchanged, so that 2 stays before 1. */
START_TEST(columns_by_their_length) {
    lam_tensor *x = MAT(2, 4, 1, 0.5, 2, 4, 1, 0.25, 0, 1), *q, *r, *order;
    ck_assert_int_eq(lam_qr_pivoted(x, &q, &r, &order, NULL), LAM_OK);
    EXPECT(lam_cast(order, LAM_F64), LAM_DIMS(4), 3, 0, 2, 1);
    EXPECT_NEAR(lam_abs(lam_diagonal(r, 0, 0, 1)), 1e-15, LAM_DIMS(2), sqrt(17), 3 / sqrt(17));
    EXPECT_SAME(lam_matmul(q, r), lam_take(x, order, 1), 1e-14);
    EXPECT_OK();
}
END_TEST

static lam_tensor *matrix(int64_t rows, int64_t columns) {
    lam_tensor *x = lam_arange(ctx, LAM_F64, 0, (double)(rows * columns), 1);
    return lam_reshape(lam_sin(lam_square(x)), LAM_DIMS(rows, columns));
}

/* Ten columns that three others make, in f64, f32 and complex numbers. */
START_TEST(rank_is_seen_on_the_diagonal) {
    lam_tensor *x = lam_matmul(matrix(8, 3), matrix(3, 10)), *z = lam_complex(x, lam_reverse(x, LAM_AXES(1)));
    lam_tensor *of[] = {x, lam_cast(x, LAM_F32),
                        lam_matmul(lam_complex(matrix(8, 3), lam_neg(matrix(8, 3))),
                                   lam_slice(z, LAM_DIMS(0, 0), LAM_DIMS(3, 10), LAM_DIMS0))};
    for (int i = 0; i < 3; i++) {
        const double epsilon = i == 1 ? 1e-6 : 1e-14;
        lam_tensor *q, *r, *order;
        ck_assert_int_eq(lam_qr_pivoted(of[i], &q, &r, &order, NULL), LAM_OK);
        lam_tensor *sizes = lam_cast(lam_abs(lam_diagonal(r, 0, 0, 1)), LAM_F64), *largest = lam_index(sizes, 0, 0);
        EXPECT(lam_gt(sizes, lam_mul(10 * epsilon, largest)), LAM_DIMS(8), 1, 1, 1, 0, 0, 0, 0, 0);
        lam_tensor *kept = lam_slice_axis(sizes, 0, 0, 3);
        EXPECT(lam_le(lam_diff(kept, 1, 0), 0), LAM_DIMS(2), 1, 1);
        lam_tensor *away = lam_abs(lam_sub(lam_matmul(q, r), lam_take(of[i], order, 1)));
        EXPECT_NUM(lam_lt(lam_cast(lam_max_reduce(away, NULL), LAM_F64), lam_mul(epsilon * 10, largest)), 1);
    }
    EXPECT_OK();
}
END_TEST

BODY(factors) {
    lam_qr_pivoted(in[0], &out[0], &out[1], NULL, env);
}

BODY(order_of) {
    out[0] = lam_qr_pivots(in[0]);
}

START_TEST(pivots_are_held_and_batched) {
    const lam_qr_options full = {.full_matrices = true};
    lam_tensor *x = matrix(4, 3), *y = lam_cos(x), *both = lam_stack(LAM_LIST(x, y), 0);
    for (int i = 0; i < 2; i++) {
        lam_fn *f = FN_ENV(factors, 1, 2, i ? (void *)&full : NULL);
        ck_assert_int_eq(lam_check_grads(f, LAM_LIST(x), &(lam_check_grads_options){.order = 2}), LAM_OK);
        lam_tensor *o[2], *p[2], *s[2];
        lam_call(lam_vmap(f, NULL), LAM_LIST(both), o, 2);
        lam_call(f, LAM_LIST(x), p, 2);
        lam_call(f, LAM_LIST(y), s, 2);
        for (int k = 0; k < 2; k++) EXPECT_SAME(o[k], lam_stack(LAM_LIST(p[k], s[k]), 0), 1e-14);
    }
    lam_tensor *orders = lam_stack(LAM_LIST(lam_qr_pivots(x), lam_qr_pivots(y)), 0);
    EXPECT_SAME(apply1(lam_vmap(FN(order_of, 1, 1), NULL), both), orders, 0);
    EXPECT_SAME(lam_qr_pivots(both), orders, 0);
    EXPECT_OK();
}
END_TEST

START_TEST(matrices_without_an_order) {
    lam_tensor *x = MAT(2, 3, 1, NAN, 2, 3, 4, 5), *o[3];
    EXPECT(lam_cast(lam_qr_pivots(x), LAM_F64), LAM_DIMS(3), 0, 1, 2);
    ck_assert_int_eq(lam_qr_pivoted(VEC(1, 2), &o[0], &o[1], &o[2], NULL), LAM_ERR_RANK);
    EXPECT_ERROR(LAM_ERR_RANK, "qr_pivoted");
    ck_assert(lam_failed(o[0]) && lam_failed(o[1]) && lam_failed(o[2]));
    lam_qr_pivots(num(1));
    EXPECT_ERROR(LAM_ERR_RANK, "qr_pivots");
}
END_TEST

Suite *suite_primitives_pivots(void) {
    return SUITE_OF("primitives/pivots", columns_by_their_length, rank_is_seen_on_the_diagonal,
                    pivots_are_held_and_batched, matrices_without_an_order);
}
