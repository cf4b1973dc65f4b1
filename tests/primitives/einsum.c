/* What einsum keeps of its last calls: sums that take turns, that are alike, that are too long, for which there is no
 * memory; at every level, and where a level gives up what is kept. What einsum computes is tested in contract.c. */
#include "lib/dispatch/dispatch.h" /* first: its inline functions have a parameter ctx, support.h a global one */

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

/* What a level does with a call before it passes it on: the same sum of plain tensors, then all that is kept goes. */
static lam_status meddle(lam__level *level, const lam_call_site *call, lam_value *out[]) {
    lam_value *in[2];
    lam_tensor *x = lam_full(call->ctx, LAM_F64, LAM_DIMS(2, 2), 1);
    EXPECT(lam_einsum(level->state, LAM_LIST(x, x)), LAM_DIMS(2, 2), 2, 2, 2, 2);
    lam_ctx_trim(call->ctx);
    EXPECT(lam_einsum(level->state, LAM_LIST(x, x)), LAM_DIMS(2, 2), 2, 2, 2, 2);
    for (int i = 0; i < call->inputs; i++) in[i] = lam__payload_of(call->in[i])->inner;
    const lam_status status = lam__dispatch_with(call, in, out);
    if (status == LAM_OK) out[0] = lam__level_box(level, out[0], NULL, 0);
    return status;
}

static const lam__interpreter meddling = {.name = "meddle", .process = meddle};

/* The plan of a sum goes while it runs, once and again, and is asked for again meanwhile. */
START_TEST(sums_that_are_given_up_while_they_run) {
    static const char *const text[] = {"ij,jk->ik", "ij,jk->ki"};
    lam_tensor *a = MAT(2, 2, 1, 2, 3, 4), *b = MAT(2, 2, 0, 1, 1, 0), *x[2] = {a, b};
    for (int round = 0; round < 4; round++) {
        lam__level level;
        ck_assert(lam__level_push(ctx, &level, &meddling, (void *)(uintptr_t)text[round / 2]) == LAM_OK);
        for (int i = 0; i < 2; i++)
            x[i] = lam__scope_handle(ctx, lam__level_box(&level, lam__value_hold(lam__scope_peek(i ? b : a)), NULL, 0));
        lam_value *out = lam__scope_peek(lam_einsum(text[round / 2], LAM_LIST(x[0], x[1])));
        lam_tensor *inner = lam__scope_handle(ctx, lam__value_hold(lam__payload_of(out)->inner));
        lam__level_pop(&level);
        if (round / 2) EXPECT(inner, LAM_DIMS(2, 2), 2, 4, 1, 3);
        else EXPECT(inner, LAM_DIMS(2, 2), 2, 1, 4, 3);
    }
}
END_TEST

/* Types that are known by the second call: sums of halves are rounded once, integers stay integers, results of more
 * elements than fit a value, axes that are added. */
START_TEST(sums_of_all_types_again) {
    lam_tensor *x = MAT(2, 3, 1, 2, 3, 4, 5, 6), *big = lam_ones(ctx, LAM_F64, LAM_DIMS(40, 50));
    for (int dtype = 0; dtype < LAM_DTYPE_COUNT; dtype++)
        for (int round = 0; round < 3; round++) {
            lam_tensor *in = lam_cast(x, (lam_dtype)dtype), *out = lam_einsum("ij,kj->ki", LAM_LIST(in, in));
            const bool truth = dtype == LAM_BOOL;
            ck_assert_int_eq(lam_dtype_of(out), dtype);
            if (truth) EXPECT(lam_cast(out, LAM_F64), LAM_DIMS(2, 2), 1, 1, 1, 1);
            else if (lam_dtype_of(lam_real(out)) == lam_dtype_of(out))
                EXPECT(lam_cast(out, LAM_F64), LAM_DIMS(2, 2), 14, 32, 32, 77);
            ck_assert_int_eq(lam_dtype_of(lam_einsum("ij->j", LAM_LIST(in))), dtype);
        }
    for (int round = 0; round < 3; round++) {
        ck_assert_double_eq(lam_item(lam_einsum("ij,kj->", LAM_LIST(big, big))), 40 * 40 * 50);
        lam_tensor *many = lam_einsum("ij,kl->ijkl", LAM_LIST(big, x));
        ck_assert_int_eq(lam_rank(many), 4);
        ck_assert_double_eq(lam_item(lam_sum(many, NULL)), 2000 * 21);
    }
}
END_TEST

Suite *suite_primitives_einsum(void) {
    return SUITE_OF("primitives/einsum", sums_take_turns, sums_are_told_apart, sums_of_many_steps,
                    sums_without_room_to_be_kept, sums_are_kept_for_all_levels, sums_that_are_given_up_while_they_run,
                    sums_of_all_types_again);
}
