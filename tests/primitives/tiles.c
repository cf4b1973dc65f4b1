/* Operands whose dims are the last ones of the result's: seen again along the axes in front, in values, in sums of
 * products on the way back of several cotangents at once, and in what is then put together from their columns. What is
 * expected is what copies of the same elements give, to the bit. */
#include "tests/support.h"

/* Different elements, none of them 0. */
static lam_tensor *wave(lam_dims dims, double from, lam_dtype dtype) {
    int64_t count = 1;
    for (int i = 0; i < dims.rank; i++) count *= dims.dims[i];
    lam_tensor *x = lam_add(lam_mod(lam_mul(lam_arange(ctx, LAM_F64, from, from + (double)count, 1), 7.0), 61.0), 1.0);
    return lam_reshape(lam_cast(x, dtype), dims);
}

static lam_tensor *copied(lam_tensor *x, lam_dims dims) {
    return lam_contiguous(lam_broadcast_to(x, dims));
}

static const lam_dtype dtypes[] = {LAM_F64, LAM_F32, LAM_BF16, LAM_I64, LAM_I32, LAM_U8};

/* Tiles just too short, just long enough, and longer. */
static const int64_t sizes[] = {63, 64, 100};

#define DTYPES (int)(sizeof dtypes / sizeof *dtypes)
#define SIZES  (int)(sizeof sizes / sizeof *sizes)

typedef lam_tensor *operation(lam_tensor *, lam_tensor *);

START_TEST(two_operands) {
    static operation *const operations[] = {(lam_add), (lam_sub), (lam_mul), (lam_eq)};
    for (int k = 0; k < SIZES; k++)
        for (size_t o = 0; o < sizeof operations / sizeof *operations; o++) {
            lam_dims dims = LAM_DIMS(2, 3, sizes[k]);
            lam_tensor *x = wave(dims, 0, dtypes[_i]), *row = wave(LAM_DIMS(sizes[k]), 5, dtypes[_i]);
            lam_tensor *matrix = wave(LAM_DIMS(3, sizes[k]), 9, dtypes[_i]);
            EXPECT_SAME(operations[o](x, row), operations[o](x, copied(row, dims)), 0);
            EXPECT_SAME(operations[o](row, x), operations[o](copied(row, dims), x), 0);
            EXPECT_SAME(operations[o](x, matrix), operations[o](x, copied(matrix, dims)), 0);
            lam_tensor *apart = lam_expand_dims(matrix, 1); /* no tile: neither has the result's dims */
            dims = LAM_DIMS(3, 3, sizes[k]);
            EXPECT_SAME(operations[o](apart, matrix), operations[o](copied(apart, dims), copied(matrix, dims)), 0);
        }
    EXPECT_OK();
}
END_TEST

/* Tiles of two sizes beside each other, and one beside a number. */
START_TEST(three_operands) {
    for (int k = 0; k < SIZES; k++) {
        lam_dims dims = LAM_DIMS(2, 3, sizes[k]);
        lam_tensor *x = wave(dims, 0, LAM_F64), *row = wave(LAM_DIMS(sizes[k]), 5, LAM_F64);
        lam_tensor *matrix = wave(LAM_DIMS(3, sizes[k]), 9, LAM_F64);
        EXPECT_SAME(lam_fma(x, row, matrix), lam_fma(x, copied(row, dims), copied(matrix, dims)), 0);
        EXPECT_SAME(lam_fma(row, matrix, x), lam_fma(copied(row, dims), copied(matrix, dims), x), 0);
        EXPECT_SAME(lam_clamp(x, num(20), row), lam_clamp(x, copied(num(20), dims), copied(row, dims)), 0);
        lam_tensor *some = lam_lt(row, 30.0);
        EXPECT_SAME(lam_where(some, x, matrix), lam_where(copied(some, dims), x, copied(matrix, dims)), 0);
    }
    EXPECT_OK();
}
END_TEST

/* Columns, and what lies turned over, in either place; conditions too. */
START_TEST(operands_that_are_read_by_strides) {
    static operation *const operations[] = {(lam_add), (lam_sub), (lam_mul), (lam_eq)};
    const lam_dims dims = LAM_DIMS(5, 7);
    lam_tensor *x = wave(dims, 0, dtypes[_i]);
    lam_tensor *other[] = {wave(LAM_DIMS(5, 1), 5, dtypes[_i]), wave(LAM_DIMS(7), 9, dtypes[_i]),
                           lam_transpose(wave(LAM_DIMS(7, 5), 13, dtypes[_i]), LAM_AXES(1, 0)),
                           lam_slice_axis(wave(LAM_DIMS(5, 9), 17, dtypes[_i]), 1, 1, 8)};
    for (int k = 0; k < 4; k++) {
        lam_tensor *solid = copied(other[k], dims), *some = lam_lt(other[k], lam_cast(num(30), dtypes[_i]));
        for (int o = 0; o < 4; o++) {
            EXPECT_SAME(operations[o](x, other[k]), operations[o](x, solid), 0);
            EXPECT_SAME(operations[o](other[k], x), operations[o](solid, x), 0);
        }
        EXPECT_SAME(lam_where(some, x, other[k]), lam_where(copied(some, dims), x, solid), 0);
        EXPECT_SAME(lam_where(some, other[k], x), lam_where(copied(some, dims), solid, x), 0);
        EXPECT_SAME(lam_where(lam_lt(x, other[k]), num(1), num(2)),
                    lam_where(lam_lt(x, solid), copied(num(1), dims), num(2)), 0);
    }
    EXPECT_OK();
}
END_TEST

BODY(smooth) {
    lam_tensor *sine, *cosine, *a = lam_mul(in[0], in[1]), *b = lam_fma(in[0], a, in[1]);
    lam_sincos(lam_div(b, in[0]), &sine, &cosine);
    out[0] = lam_mul(lam_sqrt(a), lam_sub(sine, lam_mul(b, cosine)));
    out[1] = lam_fma(cosine, in[0], lam_where(lam_gt(a, b), a, lam_square(in[1])));
}

/* One walk back for three pairs of cotangents, and one for each. Where there are no tiles, a sum of products is rounded
 * once more. */
START_TEST(several_cotangents_at_once) {
    for (int k = 0; k < SIZES; k++) {
        lam_dims dims = LAM_DIMS(sizes[k]), three = LAM_DIMS(3, sizes[k]);
        lam_tensor *x = lam_mul(wave(dims, 0, LAM_F64), 0.01), *y = lam_mul(wave(dims, 5, LAM_F64), 0.02), *value[2];
        lam_tensor *g[2] = {wave(three, 9, LAM_F64), lam_neg(wave(three, 13, LAM_F64))}, *gx[2], *one[2][3];
        lam_fn *back;
        ck_assert_int_eq(lam_vjp(FN(smooth, 2, 2), LAM_LIST(x, y), value, 2, &back, NULL), LAM_OK);
        lam_call(lam_vmap(back, NULL), LAM_LIST(g[0], g[1]), gx, 2);
        for (int i = 0; i < 3; i++) {
            lam_tensor *each[2];
            lam_call(back, LAM_LIST(lam_index(g[0], 0, i), lam_index(g[1], 0, i)), each, 2);
            one[0][i] = each[0];
            one[1][i] = each[1];
        }
        for (int v = 0; v < 2; v++) EXPECT_SAME(gx[v], lam_stack((lam_list){3, one[v]}, 0), k ? 0 : 1e-12);
    }
    EXPECT_OK();
}
END_TEST

/* The same with a team and without one, to the bit. */
START_TEST(threads_leave_the_bits) {
    enum { COUNT = 3 * 70 };
    double found[2][2][COUNT];
    lam_ctx *real = ctx;
    for (int t = 0; t < 2; t++) {
        ctx = lam_ctx_new(&(lam_ctx_options){.threads = t + 1});
        lam_tensor *x = lam_mul(wave(LAM_DIMS(70), 0, LAM_F64), 0.01),
                   *y = lam_mul(wave(LAM_DIMS(70), 5, LAM_F64), 0.02);
        lam_tensor *g = wave(LAM_DIMS(3, 70), 9, LAM_F64), *value[2], *gx[2];
        lam_fn *back;
        ck_assert_int_eq(lam_vjp(FN(smooth, 2, 2), LAM_LIST(x, y), value, 2, &back, NULL), LAM_OK);
        lam_call(lam_vmap(back, NULL), LAM_LIST(g, lam_neg(g)), gx, 2);
        for (int v = 0; v < 2; v++) ck_assert_int_eq(lam_read(gx[v], found[t][v], sizeof found[t][v]), LAM_OK);
        EXPECT_OK();
        lam_ctx_free(ctx);
    }
    ctx = real;
    ck_assert_mem_eq(found[0], found[1], sizeof found[0]);
}
END_TEST

START_TEST(jacobians_of_both_modes) {
    lam_tensor *x = lam_mul(wave(LAM_DIMS(70), 0, LAM_F64), 0.01), *y = lam_mul(wave(LAM_DIMS(70), 5, LAM_F64), 0.02);
    lam_fn *f = FN(smooth, 2, 2);
    lam_tensor *reverse[2], *forward[2];
    lam_call(lam_jacrev(f, NULL), LAM_LIST(x, y), reverse, 2);
    lam_call(lam_jacfwd(f, NULL), LAM_LIST(x, y), forward, 2);
    for (int o = 0; o < 2; o++) EXPECT_SAME(reverse[o], forward[o], 1e-12);
    EXPECT_OK();
}
END_TEST

/* As vmap gives them along axis 1: they become columns of the stack, in a tensor of its own and within a larger one. */
START_TEST(stacks_of_what_lies_column_by_column) {
    enum { PARTS = 5 };
    for (int64_t n = 1; n < 40; n += 7) {
        lam_tensor *part[PARTS], *solid[PARTS], *whole[2];
        for (int i = 0; i < PARTS; i++) {
            part[i] = lam_transpose(wave(LAM_DIMS(2, n), 3 * i, dtypes[_i]), LAM_AXES(1, 0));
            solid[i] = lam_contiguous(part[i]);
        }
        part[3] = lam_broadcast_to(lam_slice(part[3], LAM_DIMS(0, 0), LAM_DIMS(1, 2), LAM_DIMS0), LAM_DIMS(n, 2));
        solid[3] = lam_contiguous(part[3]);
        lam_list parts = {PARTS, part}, solids = {PARTS, solid};
        EXPECT_SAME(lam_stack(parts, 2), lam_stack(solids, 2), 0);
        for (int k = 0; k < 2; k++) {
            whole[k] = lam_ones(ctx, dtypes[_i], LAM_DIMS(n + 2, 2, PARTS));
            lam_set_stack_(whole[k], k ? solids : parts, 2, LAM_DIMS(1, 0, 0), LAM_DIMS(n + 1, 2, PARTS), LAM_DIMS0);
        }
        EXPECT_SAME(whole[0], whole[1], 0);
    }
    EXPECT_OK();
}
END_TEST

/* Into a part of a tensor that is larger than the caches, from row 1 on; one column is a number. */
START_TEST(columns_of_a_large_tensor) {
    enum { COLUMNS = 30, ROWS = 40001, SOME = 123 };
    lam_tensor *column[COLUMNS], *whole = lam_zeros(ctx, dtypes[_i], LAM_DIMS(ROWS, COLUMNS));
    for (int i = 0; i < COLUMNS; i++) column[i] = wave(LAM_DIMS(SOME), 3 * i, dtypes[_i]);
    column[8] = lam_broadcast_to(lam_cast(num(5), dtypes[_i]), LAM_DIMS(SOME));
    lam_tensor *block = lam_stack((lam_list){COLUMNS, column}, 1);
    for (int k = 0; k < 2; k++) {
        const int64_t first = 1 + k * SOME;
        lam_set_stack_(whole, (lam_list){COLUMNS, column}, 1, LAM_DIMS(first, 0), LAM_DIMS(first + SOME, COLUMNS),
                       LAM_DIMS0);
    }
    EXPECT_SAME(lam_slice_axis(whole, 0, 1, 1 + 2 * SOME), lam_concatenate(LAM_LIST(block, block), 0), 0);
    EXPECT_SAME(lam_sum(lam_cast(whole, LAM_F64), NULL), lam_mul(2.0, lam_sum(lam_cast(block, LAM_F64), NULL)), 0);
    EXPECT_OK();
}
END_TEST

/* Element j of a row rolled by 3 was element j - 3; rows of all lengths about those that are moved in another way. */
START_TEST(long_rows_are_rolled) {
    enum { ROWS = 5 };
    for (int64_t n = 500; n < 2100; n += 131) {
        lam_tensor *x = lam_reshape(lam_arange(ctx, LAM_F32, 0, (double)(ROWS * n), 1), LAM_DIMS(ROWS, n));
        float out[ROWS * 2100];
        ck_assert(lam_read(lam_roll(x, 3, 1), out, sizeof(float) * (size_t)(ROWS * n)) == LAM_OK);
        for (int64_t i = 0; i < ROWS * n; i++) ck_assert(out[i] == (float)(i / n * n + (i % n + n - 3) % n));
    }
}
END_TEST

Suite *suite_primitives_tiles(void);

Suite *suite_primitives_tiles(void) {
    Suite *s = SUITE_OF("primitives/tiles", long_rows_are_rolled, three_operands, several_cotangents_at_once,
                        threads_leave_the_bits, jacobians_of_both_modes);
    suite_loop(s, two_operands, DTYPES);
    suite_loop(s, operands_that_are_read_by_strides, DTYPES);
    suite_loop(s, columns_of_a_large_tensor, DTYPES);
    suite_loop(s, stacks_of_what_lies_column_by_column, DTYPES);
    return s;
}
