/* What einsum keeps of its last calls: sums that take turns, that are alike, that are too long, for which there is no
 * memory; at every level. What einsum computes is tested in contract.c. */
#include "tests/support.h"

/* A sum whose result tells all sizes and labels: of ones, each element is the number of terms. */
static void expect_terms(lam_ctx *own, const char *subscripts, lam_dims x, lam_dims y, double terms) {
    lam_tensor *out = lam_einsum(subscripts, LAM_LIST(lam_ones(own, LAM_F64, x), lam_ones(own, LAM_F64, y)));
    double all = lam_item(lam_sum(out, NULL));
    ck_assert_msg(all == terms, "%s of %d and %d axes: %g, not %g", subscripts, x.rank, y.rank, all, terms);
}

/* More sums than a context keeps, which take turns: other texts for the same dims, other dims for the same text. What
 * is kept is no memory in use, and lam_ctx_trim gives it back. */
START_TEST(sums_take_turns) {
    static const char *const text[] = {"ij,jk->ik", "ij,jk->ki", "ij,jk->", "ij,jk->i", "ij,jk->ijk", "ij,jk"};
    lam_ctx *own = lam_ctx_new(NULL);
    size_t before = 0;
    for (int round = 0; round < 4; round++) {
        lam_scope *scope = lam_scope_begin(own);
        for (int64_t i = 1; i < 4; i++)
            for (int64_t j = 1; j < 6; j++)
                for (int64_t k = 1; k < 4; k++)
                    for (size_t n = 0; n < sizeof text / sizeof *text; n++) {
                        expect_terms(own, text[n], LAM_DIMS(i, j), LAM_DIMS(j, k), (double)(i * j * k));
                        if (round == 3 && n % 2) lam_ctx_trim(own);
                    }
        lam_scope_end(scope, NULL, 0);
        if (round == 0) before = lam_ctx_bytes(own);
        ck_assert_uint_eq(lam_ctx_bytes(own), before);
    }
    ck_assert_int_eq(lam_status_of(own), LAM_OK);
    lam_ctx_free(own);
}
END_TEST

/* The same axes in terms of other ranks, the same text at another place, texts that begin alike and are longer than a
 * word, other dtypes: none is taken for another. Letters and sizes of the expected come from the mathematics. */
START_TEST(sums_are_told_apart) {
    char text[] = "ij,jk->ik";
    lam_tensor *a = MAT(2, 2, 1, 2, 3, 4), *b = MAT(2, 2, 0, 1, 1, 0), *ints = lam_cast(a, LAM_I32);
    for (int round = 0; round < 3; round++) {
        memcpy(text, "ij,jk->ik", sizeof text);
        EXPECT(lam_einsum(text, LAM_LIST(a, b)), LAM_DIMS(2, 2), 2, 1, 4, 3);
        memcpy(text, "ij,jk->ki", sizeof text);
        EXPECT(lam_einsum(text, LAM_LIST(a, b)), LAM_DIMS(2, 2), 2, 4, 1, 3);
        memcpy(text, "ji,jk->ik", sizeof text);
        EXPECT(lam_einsum(text, LAM_LIST(a, b)), LAM_DIMS(2, 2), 3, 1, 4, 2);
        memcpy(text, "ij,ij->ij", sizeof text);
        EXPECT(lam_einsum(text, LAM_LIST(a, b)), LAM_DIMS(2, 2), 0, 2, 3, 0);
        ck_assert_int_eq(lam_dtype_of(lam_einsum("ij->j", LAM_LIST(a))), LAM_F64);
        ck_assert_int_eq(lam_dtype_of(lam_einsum("ij->j", LAM_LIST(ints))), LAM_I32);
        ck_assert_int_eq(lam_dtype_of(lam_einsum("ij,jk", LAM_LIST(ints, a))), LAM_F64);
        EXPECT(lam_einsum("ii", LAM_LIST(a)), LAM_DIMS0, 5);
        EXPECT(lam_einsum("...,...->...", LAM_LIST(a, lam_reshape(b, LAM_DIMS(2, 1, 2)))), LAM_DIMS(2, 2, 2), 0, 2, 0,
               4, 1, 0, 3, 0);
        EXPECT(lam_einsum("...,...->...", LAM_LIST(lam_reshape(b, LAM_DIMS(2, 1, 2)), a)), LAM_DIMS(2, 2, 2), 0, 2, 0,
               4, 1, 0, 3, 0);
        lam_einsum("ij,jk->iq", LAM_LIST(a, b));
        EXPECT_ERROR(LAM_ERR_VALUE, "einsum", "'q'");
        lam_einsum("ij,jk->ik", LAM_LIST(a, lam_reshape(b, LAM_DIMS(4, 1))));
        EXPECT_ERROR(LAM_ERR_SHAPE, "einsum", "'j'");
    }
}
END_TEST

/* Sums of more steps than are kept: 20 operands, of each of which a diagonal is taken and an axis summed over. */
START_TEST(sums_of_many_steps) {
    enum { COUNT = 20 };
    char text[8 * COUNT] = "";
    lam_tensor *in[COUNT], *x = lam_ones(ctx, LAM_F64, LAM_DIMS(2, 2, 3, 2));
    for (int n = 0; n < COUNT; n++) {
        sprintf(text + strlen(text), "%s%c%cz%c", n ? "," : "", 'a' + n, 'a' + n, 'a' + n + 1);
        in[n] = x;
    }
    in[3] = lam_cast(x, LAM_F32);
    for (int round = 0; round < 2; round++) {
        lam_tensor *out = lam_einsum(text, (lam_list){COUNT, in});
        ck_assert_int_eq(lam_rank(out), 1);
        EXPECT(out, LAM_DIMS(2), 3 * 1048576.0, 3 * 1048576.0);
        lam_tensor *missing = in[COUNT - 1];
        in[COUNT - 1] = lam_ones(ctx, LAM_F64, LAM_DIMS(2, 2, 4, 2));
        ck_assert(lam_failed(lam_einsum(text, (lam_list){COUNT, in})));
        EXPECT_ERROR(LAM_ERR_SHAPE, "einsum", "'z'");
        in[COUNT - 1] = missing;
    }
}
END_TEST

/* Without memory to keep a sum there still is the sum. */
START_TEST(sums_without_room_to_be_kept) {
    enum { LIMIT = 1 << 16 };
    lam_ctx *own = lam_ctx_new(&(lam_ctx_options){.memory_limit = LIMIT});
    lam_tensor *x = lam_ones(own, LAM_F64, LAM_DIMS(2, 2));
    while (LIMIT - lam_ctx_bytes(own) >= 512) lam_ones(own, LAM_F64, LAM_DIMS(2));
    lam_scope *scope = lam_scope_begin(own);
    ck_assert_double_eq(lam_item(lam_einsum("ij,ji->", LAM_LIST(x, x))), 4);
    lam_scope_end(scope, NULL, 0);
    ck_assert_int_eq(lam_status_of(own), LAM_OK);
    ck_assert_uint_le(lam_ctx_peak_bytes(own), LIMIT);
    lam_ctx_free(own);
}
END_TEST

BODY(form) {
    out[0] = lam_einsum("i,ij,j->", LAM_LIST(in[0], in[1], in[2]));
}

/* What is found out for plain tensors serves boxes, and the other way round: x^T A y, by x A y, by both A^T and A. */
START_TEST(sums_are_kept_for_all_levels) {
    lam_tensor *x = VEC(1, -2, 3), *y = VEC(0.5, 2, -1), *m = MAT(3, 3, 1, 2, 3, -4, 5, 6, 7, 8, -9), *many[2];
    many[0] = lam_stack(LAM_LIST(x, y), 0), many[1] = lam_stack(LAM_LIST(y, x), 0);
    lam_fn *f = FN(form, 3, 1),
           *twice = lam_jacobian(lam_grad(f, NULL), &(lam_jacobian_options){.argnums = LAM_AXES(2)});
    lam_vmap_options rows = {.in_axes = LAM_AXES(0, LAM_UNMAPPED, 0)};
    for (int round = 0; round < 2; round++) {
        lam_tensor *plain = lam_apply(f, LAM_LIST(x, m, y)), *back = lam_apply(f, LAM_LIST(y, m, x));
        EXPECT_SAME(plain, lam_dot(x, lam_matmul(m, y)), 1e-14);
        EXPECT_SAME(lam_apply(lam_grad(f, NULL), LAM_LIST(x, m, y)), lam_matmul(m, y), 1e-14);
        EXPECT_SAME(lam_apply(twice, LAM_LIST(x, m, y)), m, 1e-14);
        EXPECT_SAME(lam_apply(lam_vmap(f, &rows), LAM_LIST(many[0], m, many[1])), lam_stack(LAM_LIST(plain, back), 0),
                    1e-14);
        EXPECT_SAME(lam_apply(lam_vmap(lam_grad(f, NULL), &rows), LAM_LIST(many[0], m, many[1])),
                    lam_stack(LAM_LIST(lam_matmul(m, y), lam_matmul(m, x)), 0), 1e-14);
    }
}
END_TEST

Suite *suite_primitives_einsum(void) {
    return SUITE_OF("einsum", sums_take_turns, sums_are_told_apart, sums_of_many_steps, sums_without_room_to_be_kept,
                    sums_are_kept_for_all_levels);
}
