/* Gradients of factors that were broadcast are sums of products. Elements are small whole numbers, so that sums are
 * exact in any order and the wanted ones come from plain loops. */
#include "tests/support.h"

enum { MOST_AXES = 4, OPERANDS = 3, MOST = 1 << 19 };

/* Dims of x, y and z in x y + z, or x y, and the axes that are seen in another order; rank -1: no z. */
typedef struct shapes {
    int rank[OPERANDS];
    int64_t dims[OPERANDS][MOST_AXES];
    bool turned; /* x is a transposed view */
} shapes;

static const shapes cases[] = {
    {{2, 1, 1}, {{256, 14}, {14}, {14}}, false},
    {{1, 2, 2}, {{14}, {256, 14}, {256, 14}}, false},
    {{2, 1, -1}, {{100, 3}, {3}}, false},
    {{2, 1, -1}, {{1000, 8}, {8}}, false},
    {{2, 2, 1}, {{30, 1}, {30, 50}, {1}}, false},
    {{2, 2, 0}, {{9, 40}, {9, 1}, {0}}, false},
    {{2, 0, 2}, {{64, 33}, {0}, {1, 33}}, false},
    {{3, 2, 3}, {{5, 7, 6}, {7, 1}, {5, 1, 6}}, false},
    {{3, 3, 1}, {{5, 1, 3}, {1, 70, 3}, {3}}, false},
    {{4, 3, 2}, {{3, 4, 2, 5}, {4, 1, 5}, {1, 1}}, false},
    {{2, 1, 1}, {{40, 70}, {70}, {70}}, true},
    {{2, 2, 2}, {{17, 130}, {1, 130}, {17, 1}}, true},
    {{2, 1, -1}, {{4000, 100}, {100}}, false},
    {{2, 2, -1}, {{100, 3000}, {100, 1}}, false},
    {{2, 1, 1}, {{0, 14}, {14}, {14}}, false},
    {{3, 1, 1}, {{2, 3, 4}, {1}, {1}}, false},
};
enum { CASES = sizeof cases / sizeof *cases };

/* The sum of 1 - (x y + z) times a constant; x is a factor once more where env says so. */
typedef struct problem {
    lam_tensor *c;
    bool again, three;
} problem;

BODY(loss) {
    const problem *p = env;
    lam_tensor *r = p->three ? lam_fma(in[0], in[1], in[2]) : lam_mul(in[0], in[1]);
    if (p->again) r = lam_add(r, lam_mul(in[0], lam_add(in[1], 1.0)));
    out[0] = lam_sum(lam_mul(p->c, lam_sub(1.0, r)), NULL);
}

/* Where element i of the result sees an operand. */
static int64_t seen_at(const shapes *s, int operand, lam_dims result, int64_t i) {
    int64_t at = 0, step = 1;
    for (int axis = 1; axis <= result.rank; axis++) {
        const int64_t dim = result.dims[result.rank - axis], here = i % dim;
        i /= dim;
        if (axis > s->rank[operand]) continue;
        const int64_t own = s->dims[operand][s->rank[operand] - axis];
        if (own != 1) at += here * step;
        step *= own;
    }
    return at;
}

/* Whole numbers from -3 to 3. */
static lam_tensor *operand(const shapes *s, int k, lam_dtype dtype, double *v) {
    lam_dims dims = {s->rank[k], s->dims[k]};
    int64_t count = 1;
    for (int axis = 0; axis < dims.rank; axis++) count *= dims.dims[axis];
    for (int64_t i = 0; i < count; i++) v[i] = (double)((i * (7 + 2 * k) + k) % 7 - 3);
    lam_tensor *x = lam_cast(lam_array(ctx, LAM_F64, dims, v), dtype);
    if (!s->turned || k) return x;
    return lam_transpose(lam_contiguous(lam_transpose(x, LAM_AXES(1, 0))), LAM_AXES(1, 0));
}

/* The gradients by loops. */
static void wanted(const shapes *s, const problem *p, lam_dims result, double *const v[], const double *c,
                   double *const g[]) {
    int64_t count = 1;
    for (int axis = 0; axis < result.rank; axis++) count *= result.dims[axis];
    for (int64_t i = 0; i < count; i++) {
        const int64_t x = seen_at(s, 0, result, i), y = seen_at(s, 1, result, i);
        const double r = -c[i];
        g[0][x] += r * (v[1][y] + (p->again ? v[1][y] + 1 : 0));
        g[1][y] += r * (v[0][x] + (p->again ? v[0][x] : 0));
        if (p->three) g[2][seen_at(s, 2, result, i)] += r;
    }
}

static void compare(const shapes *s, lam_dtype dtype, bool again) {
    static double v[OPERANDS][MOST], g[OPERANDS][MOST], c[MOST];
    lam_tensor *in[OPERANDS], *out[OPERANDS];
    problem p = {.again = again, .three = s->rank[2] >= 0};
    const int n = p.three ? 3 : 2;
    memset(g, 0, sizeof g);
    for (int k = 0; k < n; k++) in[k] = operand(s, k, dtype, v[k]);
    lam_tensor *like = lam_mul(in[0], in[1]);
    if (p.three) like = lam_add(like, in[2]);
    const lam_dims result = lam_dims_of(like);
    for (int64_t i = 0; i < lam_size(like); i++) c[i] = (double)(i % 5 - 2);
    p.c = lam_cast(lam_array(ctx, LAM_F64, result, c), dtype);
    lam_fn *f = FN_ENV(loss, n, 1, &p);
    lam_call(lam_grad(f, &(lam_grad_options){.argnums = LAM_AXES(LAM_RANGE(0, n))}), (lam_list){(size_t)n, in}, out,
             (size_t)n);
    wanted(s, &p, result, (double *[]){v[0], v[1], v[2]}, c, (double *[]){g[0], g[1], g[2]});
    for (int k = 0; k < n; k++)
        EXPECT_SAME(out[k], lam_cast(lam_array(ctx, LAM_F64, lam_dims_of(in[k]), g[k]), dtype), 0);
}

START_TEST(gradients_of_broadcast_factors_are_sums_of_products) {
    for (int again = 0; again < 2; again++) {
        compare(&cases[_i], LAM_F64, again);
        compare(&cases[_i], LAM_F32, again);
    }
}
END_TEST

START_TEST(threads_sum_products_alike) {
    lam_ctx *shared = lam_ctx_new(&(lam_ctx_options){.threads = 3}), *own = ctx;
    ctx = shared;
    compare(&cases[_i], LAM_F64, true);
    compare(&cases[_i], LAM_F32, false);
    EXPECT_OK();
    ctx = own;
    lam_ctx_free(shared);
}
END_TEST

/* ---- digits ------------------------------------------------------------------------------------------------------ */

BODY(weighted) {
    const problem *p = env;
    out[0] = lam_sum(lam_mul(p->c, lam_mul(in[0], in[1])), NULL);
}

/* Elements from 0 to 1. */
static lam_tensor *drawn(int64_t rows, int64_t columns, lam_dtype dtype, uint64_t which) {
    return lam_random_uniform(lam_key(ctx, which), dtype, LAM_DIMS(rows, columns), NULL);
}

/* What reaches x y from the weighted sum is c itself, so the gradients by y are sums of c x: of f32 compared with sums
 * of f64. */
START_TEST(long_sums_keep_their_digits) {
    static const int64_t rows[] = {1, 2, 31, 64, 65, 256, 5000}, columns[] = {1, 2, 3, 5, 8, 14, 40, 700};
    const lam_dtype dtype = _i % 2 ? LAM_F32 : LAM_F64;
    const int64_t n = rows[_i / 2];
    const double tolerance = dtype == LAM_F32 ? 4e-7 : 1e-15;
    lam_grad_options second = {.argnums = LAM_AXES(1)};
    for (size_t k = 0; k < sizeof columns / sizeof *columns; k++) {
        lam_scope *scope = lam_scope_begin(ctx);
        lam_tensor *x = drawn(n, columns[k], dtype, 2 * k), *row = drawn(1, columns[k], dtype, 5), *g;
        problem p = {.c = drawn(n, columns[k], dtype, 2 * k + 1)};
        lam_tensor *product = lam_mul(lam_cast(p.c, LAM_F64), lam_cast(x, LAM_F64));
        lam_fn *slope = lam_grad(FN_ENV(weighted, 2, 1, &p), &second);
        g = lam_sum(product, &(lam_reduce_options){.axes = LAM_AXES(0), .keepdims = true});
        EXPECT_SAME(apply2(slope, x, row), lam_cast(g, dtype), tolerance);
        g = lam_sum(product, &(lam_reduce_options){.axes = LAM_AXES(1), .keepdims = true});
        EXPECT_SAME(apply2(slope, x, drawn(n, 1, dtype, 6)), lam_cast(g, dtype), tolerance);
        lam_scope_end(scope, NULL, 0);
    }
}
END_TEST

START_TEST(threads_give_the_same_bits) {
    static const int64_t dims[][2] = {{30000, 14}, {14, 30000}, {2000, 200}, {3, 150000}};
    static double bits[2][MOST];
    const int64_t rows = dims[_i][0], columns = dims[_i][1];
    lam_ctx *shared = lam_ctx_new(&(lam_ctx_options){.threads = 3}), *own = ctx;
    for (int k = 0; k < 2; k++) {
        ctx = k ? shared : own;
        problem p = {.c = drawn(rows, columns, LAM_F64, 1)};
        lam_fn *slope = lam_grad(FN_ENV(weighted, 2, 1, &p), &(lam_grad_options){.argnums = LAM_AXES(1)});
        lam_tensor *x = drawn(rows, columns, LAM_F64, 2);
        lam_tensor *down = apply2(slope, x, drawn(1, columns, LAM_F64, 3)),
                   *across = apply2(slope, x, drawn(rows, 1, LAM_F64, 4));
        ck_assert_int_eq(lam_read(down, bits[k], (size_t)columns * sizeof(double)), LAM_OK);
        ck_assert_int_eq(lam_read(across, bits[k] + columns, (size_t)rows * sizeof(double)), LAM_OK);
    }
    ctx = own;
    lam_ctx_free(shared);
    ck_assert(memcmp(bits[0], bits[1], (size_t)(rows + columns) * sizeof(double)) == 0);
}
END_TEST

/* ---- further levels ---------------------------------------------------------------------------------------------- */

BODY(curved) {
    out[0] = lam_sum(lam_sin(lam_fma(in[0], in[1], in[2])), NULL);
}

START_TEST(derivatives_of_every_order_agree) {
    lam_tensor *x = MAT(3, 2, 0.5, -1, 2, 0.25, 1, -0.5), *y = VEC(1.5, -0.5), *z = MAT(3, 1, 0.1, 0.2, 0.3);
    lam_check_grads_options o = {.order = 3};
    ck_assert_int_eq(lam_check_grads(FN(curved, 3, 1), LAM_LIST(x, y, z), &o), LAM_OK);
}
END_TEST

START_TEST(examples_of_a_batch_agree_with_single_ones) {
    lam_tensor *x = MAT(4, 2, 0.5, -1, 2, 0.25, 1, -0.5, 3, 2), *z = VEC(0.1, 0.2), *y = num(0.7), *all[3], *one[3];
    lam_fn *slopes = lam_grad(FN(curved, 3, 1), &(lam_grad_options){.argnums = LAM_AXES(0, 1, 2)});
    lam_vmap_options over = {.in_axes = LAM_AXES(0, LAM_UNMAPPED, LAM_UNMAPPED)};
    lam_call(lam_vmap(slopes, &over), LAM_LIST(x, y, z), all, 3);
    for (int i = 0; i < 4; i++) {
        lam_call(slopes, LAM_LIST(lam_index(x, 0, i), y, z), one, 3);
        for (int k = 0; k < 3; k++) EXPECT_SAME(lam_index(all[k], 0, i), one[k], 1e-15);
    }
}
END_TEST

Suite *suite_transforms_summed(void) {
    Suite *suite =
        SUITE_OF("transforms/summed", derivatives_of_every_order_agree, examples_of_a_batch_agree_with_single_ones);
    suite_loop(suite, gradients_of_broadcast_factors_are_sums_of_products, CASES);
    suite_loop(suite, threads_sum_products_alike, CASES);
    suite_loop(suite, long_sums_keep_their_digits, 14);
    suite_loop(suite, threads_give_the_same_bits, 4);
    return suite;
}
