/* lam_spectral: functions of symmetric matrices whose derivatives hold where eigenvalues repeat. Oracles are the same
 * functions without eigenvalues: lam_expm, lam_logm, lam_sqrtm, lam_inv and products of matrices. */
#include "tests/support.h"

BODY(exponential) {
    out[0] = lam_exp(in[0]);
}
BODY(logarithm) {
    out[0] = lam_log(in[0]);
}
BODY(root) {
    out[0] = lam_sqrt(in[0]);
}
BODY(inverse) {
    out[0] = lam_reciprocal(in[0]);
}
BODY(cube) {
    out[0] = lam_integer_pow(in[0], 3);
}
BODY(positive_part) {
    out[0] = lam_relu(in[0]);
}

static lam_tensor *cube_of(lam_tensor *x) {
    return lam_matrix_power(x, 3);
}

/* f, and the same of matrices. */
static const struct function {
    const char *name;
    lam_body f;
    lam_tensor *(*want)(lam_tensor *x);
    bool quick; /* to evaluate thousands of times */
} functions[] = {
    {"exp", exponential, lam_expm, true}, {"log", logarithm, lam_logm, false}, {"sqrt", root, lam_sqrtm, false},
    {"1/x", inverse, lam_inv, true},      {"cube", cube, cube_of, true},
};
enum { FUNCTIONS = sizeof functions / sizeof functions[0] };

static lam_tensor *symmetric(lam_tensor *x) {
    return lam_mul(0.5, lam_add(x, lam_conj(lam_matrix_transpose(x))));
}

/* A number that every element of the function has a say in, differently. */
static lam_tensor *weighed(lam_tensor *y) {
    const int64_t n = lam_dim(y, -1);
    lam_tensor *i = lam_iota(ctx, LAM_F64, LAM_DIMS(n, n), 0), *j = lam_iota(ctx, LAM_F64, LAM_DIMS(n, n), 1);
    lam_tensor *c = lam_cos(lam_add(lam_mul(1.7, i), lam_square(j)));
    return lam_sum(lam_mul(lam_cast(c, lam_dtype_of(lam_real(y))), lam_add(lam_real(y), lam_imag(y))), NULL);
}

BODY(by_values) {
    const struct function *f = env;
    out[0] = weighed(lam_apply(lam_spectral(FN(f->f, 1, 1)), LAM_LIST(in[0])));
}
BODY(by_products) {
    const struct function *f = env;
    out[0] = weighed(f->want(symmetric(in[0])));
}

/* q diag(w) q^T with an orthogonal q that has no zeros. */
static lam_tensor *turned(lam_tensor *w) {
    const int64_t n = lam_size(w);
    lam_tensor *i = lam_iota(ctx, LAM_F64, LAM_DIMS(n, n), 0), *j = lam_iota(ctx, LAM_F64, LAM_DIMS(n, n), 1), *q;
    lam_qr(lam_sin(lam_add(lam_mul(2.3, i), lam_mul(lam_add(i, 1.0), j))), &q, NULL, NULL);
    return lam_matmul(lam_mul(q, w), lam_matrix_transpose(q));
}

/* Equal, nearly equal and distant eigenvalues. */
static size_t matrices(lam_tensor *all[]) {
    size_t n = 0;
    all[n++] = lam_eye(ctx, LAM_F64, 3, 3);
    all[n++] = lam_mul(lam_eye(ctx, LAM_F64, 3, 3), VEC(2, 2, 5));
    all[n++] = MAT(4, 4, 2, 1, 0, 0, 1, 2, 0, 0, 0, 0, 2, 1, 0, 0, 1, 2);
    all[n++] = turned(VEC(0.5, 0.5, 0.5, 3));
    all[n++] = turned(VEC(0.7, 1, 2));
    all[n++] = turned(VEC(1, 1.000000001, 2));
    all[n++] = turned(VEC(1, 1.00001, 1.00002));
    all[n++] = turned(VEC(1, 1.003, 1.5));
    return n;
}
enum { MATRICES = 8 };

static double gap(lam_tensor *a, lam_tensor *b) {
    return lam_item(lam_max_reduce(lam_abs(lam_sub(a, b)), NULL)) / (1 + lam_item(lam_max_reduce(lam_abs(b), NULL)));
}

typedef lam_fn *transform(lam_fn *f, const lam_jacobian_options *options);
static transform *const modes[] = {lam_jacfwd, lam_jacrev};

/* Derivatives of orders 0 to 2, of small matrices to 3, in every nesting of the modes. What rounding leaves of near
 * points grows with the order (NOTE [near points] in transforms/spectral.c). */
static void expect_derivatives(const struct function *f, lam_tensor *x, const char *what) {
    static const double bounds[] = {1e-14, 2e-12, 3e-10, 3e-8};
    const int most = lam_dim(x, -1) < 4 && f->quick && !SANITIZED ? 3 : 2;
    lam_fn *by_definition = FN_ENV(by_products, 1, 1, (void *)(uintptr_t)f);
    for (int order = 0; order <= most; order++, by_definition = modes[0](by_definition, NULL)) {
        lam_tensor *want = apply1(by_definition, x);
        for (int m = 0; m < 1 << order; m++) {
            lam_fn *got = FN_ENV(by_values, 1, 1, (void *)(uintptr_t)f);
            for (int k = 0; k < order; k++) got = modes[m >> k & 1](got, NULL);
            const double off = gap(apply1(got, x), want);
            EXPECT_OK();
            ck_assert_msg(off <= bounds[order], "%s of %s, order %d, modes %d: %g", f->name, what, order, m, off);
        }
    }
}

START_TEST(derivatives_where_eigenvalues_repeat) {
    lam_tensor *all[MATRICES];
    const size_t count = matrices(all);
    char what[32];
    ck_assert_uint_eq(count, MATRICES);
    snprintf(what, sizeof what, "matrix %d", _i);
    for (int f = 0; f < FUNCTIONS; f++) expect_derivatives(&functions[f], all[_i], what);
}
END_TEST

/* The Hessian of sum(f(w)) at c 1 takes a symmetric v to f''(c) v. */
BODY(sum_of_cubes) {
    out[0] = lam_matrix_trace(lam_apply(lam_spectral(FN(cube, 1, 1)), LAM_LIST(in[0])), 0, 0, 1);
}
BODY(sum_of_exponentials) {
    out[0] = lam_matrix_trace(lam_apply(lam_spectral(FN(exponential, 1, 1)), LAM_LIST(in[0])), 0, 0, 1);
}

START_TEST(hessians_of_sums) {
    lam_tensor *i = lam_eye(ctx, LAM_F64, 2, 2), *c = lam_mul(3.0, i), *v = MAT(2, 2, 0.5, 2, 2, -1), *got[3];
    lam_call(lam_hvp(FN(sum_of_exponentials, 1, 1), NULL), LAM_LIST(c, v), got, 3);
    EXPECT_SAME(got[2], lam_mul(exp(3), v), 1e-14);
    lam_call(lam_hvp(FN(sum_of_cubes, 1, 1), NULL), LAM_LIST(c, v), got, 3);
    EXPECT_SAME(got[2], lam_mul(18.0, v), 1e-14); /* 6 c */
    ck_assert(lam_check_grads(FN(sum_of_exponentials, 1, 1), LAM_LIST(c), &(lam_check_grads_options){.order = 3}) ==
              LAM_OK);
}
END_TEST

/* Bent at 0: nothing is said by the derivatives on either side. x_+ = (x + |x|) / 2, |x| from the polar form, whose
 * derivative needs an invertible x only. */
BODY(part_by_values) {
    out[0] = weighed(lam_apply(lam_spectral(FN(positive_part, 1, 1)), LAM_LIST(in[0])));
}
BODY(part_by_polar) {
    lam_tensor *size, *x = symmetric(in[0]);
    lam_polar(x, NULL, &size);
    out[0] = weighed(lam_mul(0.5, lam_add(x, size)));
}

START_TEST(functions_that_are_bent) {
    lam_tensor *all[] = {turned(VEC(-1, 1, 2)), turned(VEC(-1, -1, 2)), turned(VEC(-0.01, 0.02, 3)),
                         lam_mul(lam_eye(ctx, LAM_F64, 3, 3), VEC(-1, 2, 2))};
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++)
        for (int m = 0; m < 2; m++) {
            lam_fn *got = modes[m](modes[1](FN(part_by_values, 1, 1), NULL), NULL);
            lam_fn *want = modes[m](modes[1](FN(part_by_polar, 1, 1), NULL), NULL);
            const double off = gap(apply1(got, all[k]), apply1(want, all[k]));
            EXPECT_OK();
            ck_assert_msg(off <= 1e-11, "matrix %d, mode %d: %g", (int)k, m, off);
        }
}
END_TEST

/* Hermitian: the matrix is Q diag(1, 1, 4) Q^H of a complex x. */
BODY(complex_by_values) {
    out[0] = weighed(lam_apply(lam_spectral(FN(exponential, 1, 1)), LAM_LIST(lam_complex(in[0], in[1]))));
}
BODY(complex_by_products) {
    out[0] = weighed(lam_expm(symmetric(lam_complex(in[0], in[1]))));
}

START_TEST(hermitian_matrices) {
    lam_tensor *i = lam_iota(ctx, LAM_F64, LAM_DIMS(3, 3), 0), *j = lam_iota(ctx, LAM_F64, LAM_DIMS(3, 3), 1), *q;
    lam_qr(lam_complex(lam_sin(lam_add(i, lam_square(j))), lam_cos(lam_sub(lam_mul(3.0, i), j))), &q, NULL, NULL);
    lam_tensor *x = lam_matmul(lam_mul(q, VEC(1, 1, 4)), lam_conj(lam_matrix_transpose(q)));
    lam_list at = LAM_LIST(lam_real(x), lam_imag(x));
    lam_jacobian_options both = {.argnums = LAM_AXES(0, 1)};
    for (int m = 0; m < 4; m++) {
        lam_tensor *got[4], *want[4];
        lam_call(modes[m & 1](modes[m >> 1](FN(complex_by_values, 2, 1), &both), &both), at, got, 4);
        lam_call(modes[m & 1](modes[m >> 1](FN(complex_by_products, 2, 1), &both), &both), at, want, 4);
        for (int k = 0; k < 4; k++) ck_assert_double_le(gap(got[k], want[k]), 1e-11);
    }
    EXPECT_OK();
}
END_TEST

/* Stacks, batches, other dtypes, nothing at all. */
START_TEST(stacks_batches_and_dtypes) {
    lam_fn *f = lam_spectral(FN(exponential, 1, 1)), *slope = FN_ENV(by_values, 1, 1, (void *)(uintptr_t)&functions[0]);
    lam_tensor *all[] = {lam_eye(ctx, LAM_F64, 3, 3), turned(VEC(0.7, 1, 2)), turned(VEC(1, 1, -1))};
    lam_tensor *stack = lam_stack((lam_list){3, all}, 0), *one[3], *hessian[3];
    lam_fn *second = lam_hessian(slope, NULL);
    for (int k = 0; k < 3; k++) one[k] = lam_expm(symmetric(all[k])), hessian[k] = apply1(second, all[k]);
    EXPECT_SAME(apply1(f, stack), lam_stack((lam_list){3, one}, 0), 1e-14);
    EXPECT_SAME(apply1(lam_vmap(f, NULL), stack), apply1(f, stack), 1e-15);
    ck_assert_double_le(gap(apply1(lam_vmap(second, NULL), stack), lam_stack((lam_list){3, hessian}, 0)), 1e-14);
    lam_tensor *single = lam_cast(stack, LAM_F32);
    ck_assert_int_eq(lam_dtype_of(apply1(f, single)), LAM_F32);
    ck_assert_double_le(gap(lam_cast(apply1(second, lam_cast(all[2], LAM_F32)), LAM_F64), hessian[2]), 1e-4);
    EXPECT(apply1(f, lam_cast(lam_zeros(ctx, LAM_F64, LAM_DIMS(2, 2)), LAM_I64)), LAM_DIMS(2, 2), 1, 0, 0, 1);
    EXPECT_NEAR(apply1(f, MAT(1, 1, 2)), 1e-15, LAM_DIMS(1, 1), exp(2));
    EXPECT_EMPTY(apply1(f, lam_zeros(ctx, LAM_F64, LAM_DIMS(0, 0))), LAM_DIMS(0, 0));
    EXPECT_EMPTY(apply1(f, lam_zeros(ctx, LAM_F64, LAM_DIMS(0, 2, 2))), LAM_DIMS(0, 2, 2));
    EXPECT_OK();
}
END_TEST

BODY(total) {
    out[0] = lam_sum(in[0], NULL);
}
BODY(two) {
    out[0] = lam_add(in[0], in[1]);
}

BODY(grows) {
    out[0] = lam_mul(in[1], lam_exp(in[0]));
}

/* x, c -> exp(x) c, where f captures c */
BODY(of_a_capture) {
    lam_fn *f = lam_fn_new(
        ctx, &(lam_fn_options){.name = "grows", .body = grows, .inputs = 1, .outputs = 1, .captures = LAM_LIST(in[1])});
    out[0] = apply1(lam_spectral(f), in[0]);
}

START_TEST(batches_of_captures) {
    lam_fn *f = FN(of_a_capture, 2, 1), *by_c = lam_vmap(f, &(lam_vmap_options){.in_axes = LAM_AXES(LAM_UNMAPPED, 0)});
    lam_tensor *x = lam_stack(LAM_LIST(turned(VEC(0.7, 1, 2)), turned(VEC(1, 1, -1))), 0);
    EXPECT_NEAR(apply2(by_c, MAT(1, 1, 2), VEC(1, 3)), 1e-14, LAM_DIMS(2, 1, 1), exp(2), 3 * exp(2));
    lam_tensor *both = apply2(lam_vmap(f, NULL), x, VEC(1, 3));
    EXPECT_SAME(both, lam_mul(lam_expm(x), lam_reshape(VEC(1, 3), LAM_DIMS(2, 1, 1))), 1e-14);
    EXPECT_SAME(apply2(f, x, lam_reshape(VEC(1, 3), LAM_DIMS(2, 1))), both, 1e-14);
}
END_TEST

/* x, c, d; one capture bends the numbers, the other has an element that is 0, where f is 0 and its slope is not. */
BODY(bent_by_captures) {
    out[0] = lam_mul(lam_reshape(lam_sum(in[2], NULL), LAM_DIMS(1)), lam_exp(lam_mul(in[1], in[0])));
}
BODY(captures_by_values) {
    lam_fn *f = lam_fn_new(
        ctx,
        &(lam_fn_options){
            .name = "bent", .body = bent_by_captures, .inputs = 1, .outputs = 1, .captures = LAM_LIST(in[1], in[2])});
    out[0] = weighed(apply1(lam_spectral(f), in[0]));
}
BODY(captures_by_products) {
    out[0] = weighed(lam_mul(lam_sum(in[2], NULL), lam_expm(lam_mul(in[1], symmetric(in[0])))));
}

/* All blocks of derivatives by matrix and captures, to order 3, in all nestings of the modes. Numbers are up to 16 and
 * right to some 3e-15 of that on both sides, and weighing them may leave less than 1. */
START_TEST(derivatives_by_captures) {
    static const double bounds[] = {5e-14, 2e-12, 3e-10, 3e-8};
    lam_tensor *xs[] = {lam_eye(ctx, LAM_F64, 2, 2), turned(VEC(0.7, 1, 2)), turned(VEC(1, 1.00001, 2))};
    lam_tensor *weights[] = {VEC(0.5, 0.7), VEC(0.5, -0.5)}; /* of sum 0: f is 0 */
    const lam_jacobian_options all = {.argnums = LAM_AXES(0, 1, 2)};
    for (int k = 0; k < 6; k++)
        for (int order = 0; order <= 3 - (k > 1); order++)
            for (int m = 0; m < 1 << order; m++) {
                lam_fn *f = FN(captures_by_values, 3, 1), *g = FN(captures_by_products, 3, 1);
                lam_tensor *got[27], *want[27];
                size_t count = 1;
                for (int o = 0; o < order; o++, count *= 3) f = modes[m >> o & 1](f, &all), g = modes[0](g, &all);
                lam_call(f, LAM_LIST(xs[k / 2], num(1.3), weights[k % 2]), got, count);
                lam_call(g, LAM_LIST(xs[k / 2], num(1.3), weights[k % 2]), want, count);
                EXPECT_OK();
                for (size_t b = 0; b < count; b++) {
                    const double off = gap(got[b], want[b]);
                    ck_assert_msg(off <= bounds[order], "matrix %d, order %d, modes %d, block %d: %g", k, order, m,
                                  (int)b, off);
                }
            }
}
END_TEST

/* tr exp(x re(c)) im(c)^2 of a complex c; what has no derivative or no elements is captured too. */
BODY(by_parts) {
    lam_tensor *im = lam_add(lam_imag(in[1]), lam_add(lam_mul(0.0, in[2]), lam_sum(in[3], NULL)));
    out[0] = lam_mul(lam_square(im), lam_exp(lam_mul(lam_real(in[1]), in[0])));
}
BODY(trace_by_parts) {
    lam_fn *f = lam_fn_new(ctx, &(lam_fn_options){.name = "by_parts",
                                                  .body = by_parts,
                                                  .inputs = 1,
                                                  .outputs = 1,
                                                  .captures = LAM_LIST(in[1], lam_cast(num(3), LAM_I64), in[2])});
    out[0] = lam_matrix_trace(apply1(lam_spectral(f), in[0]), 0, 0, 1);
}

/* The slope of exp(a x) b^2 by c = a + b i is d/da - i d/db. */
START_TEST(captures_of_other_kinds) {
    lam_tensor *x = lam_mul(VEC(1, 2), lam_eye(ctx, LAM_F64, 2, 2)), *got[2];
    lam_tensor *c = lam_complex(num(0.5), num(3)), *none = lam_zeros(ctx, LAM_F64, LAM_DIMS(0));
    lam_call(lam_grad(FN(trace_by_parts, 3, 1), &(lam_grad_options){.argnums = LAM_AXES(1, 2)}), LAM_LIST(x, c, none),
             got, 2);
    EXPECT_NUM(lam_real(got[0]), 9 * (exp(0.5) + 2 * exp(1)));
    EXPECT_NUM(lam_imag(got[0]), -6 * (exp(0.5) + exp(1)));
    EXPECT_EMPTY(got[1], LAM_DIMS(0));
    EXPECT_OK();
}
END_TEST

BODY(itself) {
    out[0] = in[0];
}
BODY(along_ones) {
    lam_tensor *value;
    lam_jvp(env, LAM_LIST(in[0]), LAM_LIST(lam_ones_like(in[0])), &value, &out[0], 1, NULL);
}

/* Of matrices without elements, which no order costs much. */
START_TEST(orders) {
    lam_fn *f = lam_spectral(FN(itself, 1, 1));
    lam_tensor *x = lam_zeros(ctx, LAM_F64, LAM_DIMS(0, 0));
    for (int k = 1; k <= 8; k++) f = FN_ENV(along_ones, 1, 1, f);
    EXPECT_EMPTY(apply1(f, x), LAM_DIMS(0, 0));
    EXPECT_OK();
    apply1(FN_ENV(along_ones, 1, 1, f), x);
    EXPECT_ERROR(LAM_ERR_OVERFLOW, "order 9", "8 at most");
}
END_TEST

START_TEST(what_cannot_be_done) {
    lam_spectral(FN(two, 2, 1));
    EXPECT_ERROR(LAM_ERR_ARITY, "spectral", "two");
    apply1(lam_spectral(FN(total, 1, 1)), lam_eye(ctx, LAM_F64, 2, 2));
    EXPECT_ERROR(LAM_ERR_SHAPE, "total");
    apply1(lam_spectral(FN(exponential, 1, 1)), lam_zeros(ctx, LAM_F64, LAM_DIMS(2, 3)));
    EXPECT_ERROR(LAM_ERR_SHAPE, "spectral");
    apply1(lam_spectral(FN(exponential, 1, 1)), VEC(1, 2));
    EXPECT_ERROR(LAM_ERR_SHAPE, "spectral");
    lam_tensor *hole = apply1(lam_spectral(FN(exponential, 1, 1)), MAT(2, 2, 1, NAN, NAN, 1));
    EXPECT_NUM(lam_all(lam_is_nan(hole), NULL), 1);
}
END_TEST

Suite *suite_transforms_spectral(void) {
    Suite *suite = SUITE_OF("transforms/spectral", hessians_of_sums, functions_that_are_bent, hermitian_matrices,
                            stacks_batches_and_dtypes, batches_of_captures, derivatives_by_captures,
                            captures_of_other_kinds, orders, what_cannot_be_done);
    suite_loop(suite, derivatives_where_eigenvalues_repeat, MATRICES);
    return suite;
}
