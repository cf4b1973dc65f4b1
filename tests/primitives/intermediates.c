/* What composed operations leave behind: when their result is dropped, the context has the bytes of before, although no
 * scope has ended. So a loop may call them in one scope without growing. */
#include "tests/support.h"

#define LEAVES_NOTHING(call)                                                                                           \
    do {                                                                                                               \
        lam_drop(call);                                                                                                \
        size_t before = lam_ctx_bytes(ctx);                                                                            \
        lam_drop(call);                                                                                                \
        ck_assert_msg(lam_ctx_bytes(ctx) == before, "%s leaves %zd bytes", #call,                                      \
                      (ptrdiff_t)(lam_ctx_bytes(ctx) - before));                                                       \
        EXPECT_OK();                                                                                                   \
    } while (0)

static lam_tensor *matrix(int64_t rows, int64_t columns) {
    lam_tensor *x = lam_reshape(lam_arange(ctx, LAM_F64, 0, (double)(rows * columns), 1), LAM_DIMS(rows, columns));
    return lam_add(lam_sin(x), lam_mul(8.0, lam_eye(ctx, LAM_F64, rows, columns)));
}

START_TEST(elementwise_and_neural_ones) {
    lam_tensor *x = matrix(9, 10), *y = lam_square(x), *z = lam_complex(x, y);
    LEAVES_NOTHING(lam_gelu_tanh(x));
    LEAVES_NOTHING(lam_mish(x));
    LEAVES_NOTHING(lam_selu(x));
    LEAVES_NOTHING(lam_rel_entr(y, y));
    LEAVES_NOTHING(lam_logaddexp(x, x));
    LEAVES_NOTHING(lam_softmax(x, -1));
    LEAVES_NOTHING(lam_softmax(z, -1));
    LEAVES_NOTHING(lam_log_softmax(z, -1));
    LEAVES_NOTHING(lam_logsumexp(z, NULL));
    LEAVES_NOTHING(lam_logaddexp(z, x));
    LEAVES_NOTHING(lam_logaddexp2(x, z));
    LEAVES_NOTHING(lam_softplus(z));
    LEAVES_NOTHING(lam_mish(z));
    LEAVES_NOTHING(lam_xlogy(z, y));
    LEAVES_NOTHING(lam_nan_to_num(z, NULL));
    LEAVES_NOTHING(lam_log_softmax(x, 0));
    LEAVES_NOTHING(lam_softmax_cross_entropy(x, x, -1));
    LEAVES_NOTHING(lam_log_cosh(x, x));
    LEAVES_NOTHING(lam_layer_norm(x, NULL, NULL, NULL));
    LEAVES_NOTHING(lam_attention(x, x, x, NULL));
}
END_TEST

/* Operands that are brought to another dtype first, and complex ones, which some operations take apart. */
START_TEST(integers_and_complex_numbers) {
    lam_tensor *n = lam_cast(matrix(4, 4), LAM_I32), *z = lam_complex(matrix(4, 4), matrix(4, 4));
    LEAVES_NOTHING(lam_any(n, NULL));
    LEAVES_NOTHING(lam_all(n, NULL));
    LEAVES_NOTHING(lam_index(n, 0, 1));
    LEAVES_NOTHING(lam_complex(n, n));
    LEAVES_NOTHING(lam_eigvalsh(n));
    LEAVES_NOTHING(lam_svdvals(n));
    LEAVES_NOTHING(lam_cofactor(n));
    LEAVES_NOTHING(lam_abs(z));
    LEAVES_NOTHING(lam_sign(z));
    LEAVES_NOTHING(lam_logistic_slope(z));
    LEAVES_NOTHING(lam_tanh_slope(z));
    LEAVES_NOTHING(lam_times_power(z, z, -1, 2));
    LEAVES_NOTHING(lam_times_power(z, z, 3, 2));
}
END_TEST

START_TEST(random_ones) {
    lam_tensor *key = lam_key(ctx, 3), *a = lam_full(ctx, LAM_F64, LAM_DIMS(40), 0.7), *less = lam_neg(a);
    lam_tensor *nine = lam_scalar(ctx, 9);
    lam_dims n = LAM_DIMS(40);
    LEAVES_NOTHING(lam_random_gamma(key, a, n));
    LEAVES_NOTHING(lam_random_dirichlet(key, a, LAM_DIMS(3)));
    LEAVES_NOTHING(lam_random_rademacher(key, LAM_I64, n));
    LEAVES_NOTHING(lam_random_maxwell(key, LAM_F64, n));
    LEAVES_NOTHING(lam_random_orthogonal(key, LAM_F64, 5, 7, n));
    LEAVES_NOTHING(lam_random_lognormal(key, a, n));
    LEAVES_NOTHING(lam_random_wald(key, a, n));
    LEAVES_NOTHING(lam_random_t(key, a, n));
    LEAVES_NOTHING(lam_random_ball(key, 3, a, n));
    LEAVES_NOTHING(lam_random_triangular(key, less, a, a, n));
    LEAVES_NOTHING(lam_random_binomial(key, a, a, n));
    LEAVES_NOTHING(lam_random_multinomial(key, nine, a, LAM_DIMS(3)));
    LEAVES_NOTHING(lam_random_geometric(key, a, n));
}
END_TEST

#define BOTH_LEAVE_NOTHING(call)                                                                                       \
    do {                                                                                                               \
        size_t before = 0;                                                                                             \
        for (int times = 0; times < 2; times++) {                                                                      \
            before = lam_ctx_bytes(ctx);                                                                               \
            ck_assert(call == LAM_OK);                                                                                 \
            lam_drop(first);                                                                                           \
            lam_drop(second);                                                                                          \
        }                                                                                                              \
        ck_assert_msg(lam_ctx_bytes(ctx) == before, "%s leaves %zd bytes", #call,                                      \
                      (ptrdiff_t)(lam_ctx_bytes(ctx) - before));                                                       \
    } while (0)

START_TEST(factorisations_of_integers) {
    lam_tensor *n = lam_cast(matrix(4, 4), LAM_I32), *eye = lam_eye(ctx, LAM_F64, 4, 4), *first, *second;
    BOTH_LEAVE_NOTHING(lam_lu(n, &first, NULL, &second));
    BOTH_LEAVE_NOTHING(lam_qr(n, &first, &second, NULL));
    BOTH_LEAVE_NOTHING(lam_eigh(n, &first, &second));
    BOTH_LEAVE_NOTHING(lam_svd(n, &first, NULL, &second, NULL));
    BOTH_LEAVE_NOTHING(lam_slogdet(n, &first, &second));
    BOTH_LEAVE_NOTHING(lam_eig(n, &first, &second));
    BOTH_LEAVE_NOTHING(lam_sincos(n, &first, &second));
    BOTH_LEAVE_NOTHING(lam_eigh_generalized(n, eye, &first, &second));
    BOTH_LEAVE_NOTHING(lam_qr_pivoted(n, &first, &second, NULL, NULL));
    BOTH_LEAVE_NOTHING(lam_vq(n, eye, &first, &second));
}
END_TEST

START_TEST(reductions_and_sorting) {
    lam_tensor *x = matrix(9, 10), *line = lam_index(x, 0, 0), *edges = lam_sort(line, 0);
    lam_tensor *mask = lam_gt(x, 0), *bytes = lam_cast(mask, LAM_U8),
               *many = lam_broadcast_to(bytes, LAM_DIMS(10000, 9, 10));
    LEAVES_NOTHING(lam_sum(mask, NULL));
    LEAVES_NOTHING(lam_prod(bytes, &(lam_reduce_options){.keepdims = true}));
    LEAVES_NOTHING(lam_sum(many, NULL));
    LEAVES_NOTHING(lam_median(x, NULL));
    LEAVES_NOTHING(lam_corrcoef(x));
    LEAVES_NOTHING(lam_cov_with(bytes, &(lam_cov_options){.aweights = line}));
    LEAVES_NOTHING(lam_nanmean(x, NULL));
    LEAVES_NOTHING(lam_std(x, NULL));
    LEAVES_NOTHING(lam_norm(x, NULL));
    LEAVES_NOTHING(lam_ptp(x, NULL));
    LEAVES_NOTHING(lam_sort(x, 0));
    LEAVES_NOTHING(lam_top_k(x, 3, NULL));
    LEAVES_NOTHING(lam_unique(line, 4, NULL, NULL));
    LEAVES_NOTHING(lam_histogram(line, edges, NULL));
    LEAVES_NOTHING(lam_interp(x, line, line));
    LEAVES_NOTHING(lam_polyval(line, x));
    LEAVES_NOTHING(lam_polyder(line, 2));
    LEAVES_NOTHING(lam_polyint(line, 2));
    LEAVES_NOTHING(lam_polyfit(line, line, 2, line));
    LEAVES_NOTHING(lam_roots(line));
    LEAVES_NOTHING(lam_unwrap(x, 0, 1));
    LEAVES_NOTHING(lam_is_in(x, line));
    LEAVES_NOTHING(lam_lexsort(LAM_LIST(x, x), 1));
    LEAVES_NOTHING(lam_nanstd(x, NULL));
    LEAVES_NOTHING(lam_cumulative_trapezoid(x, line, 1, 1));
    LEAVES_NOTHING(lam_multigammaln(x, 3));
    LEAVES_NOTHING(lam_heaviside(x, x));
    LEAVES_NOTHING(lam_fmax(x, line));
    LEAVES_NOTHING(lam_nanargmin(x, 1));
    LEAVES_NOTHING(lam_array_equal(x, x));
}
END_TEST

START_TEST(parts_and_convolutions) {
    lam_tensor *x = matrix(9, 10), *line = lam_index(x, 0, 0), *image = lam_reshape(x, LAM_DIMS(1, 1, 9, 10));
    lam_tensor *order = lam_argsort(x, 0), *rows = lam_index(order, 1, 0), *half = lam_cast(num(0.5), LAM_F32);
    LEAVES_NOTHING(lam_tril(x, 0));
    LEAVES_NOTHING(lam_matrix_trace(x, 0, 0, 1));
    LEAVES_NOTHING(lam_pad(x, LAM_DIMS(1, 1), LAM_DIMS(1, 1), NULL));
    LEAVES_NOTHING(lam_tile(x, LAM_DIMS(2, 2)));
    LEAVES_NOTHING(lam_roll(x, 1, 0));
    LEAVES_NOTHING(lam_rot90(x, 1, 0, 1));
    LEAVES_NOTHING(lam_take_along_axis(x, order, 0));
    LEAVES_NOTHING(lam_at_add(x, LAM_AT(LAM_SLICE(0, 3, 1)), line));
    LEAVES_NOTHING(lam_at_add(x, LAM_AT(LAM_TENSOR(rows), LAM_SLICE(0, LAM_END, 1)), line));
    LEAVES_NOTHING(lam_inner(half, x));
    LEAVES_NOTHING(lam_dot(x, half));
    LEAVES_NOTHING(lam_conv_general(image, image, &(lam_conv_options){.padding = LAM_PAD_SAME}));
    LEAVES_NOTHING(lam_avg_pool(x, &(lam_window_options){.window = LAM_DIMS(2, 2)}));
    LEAVES_NOTHING(lam_convolve(line, line, LAM_CONVOLVE_SAME));
}
END_TEST

static lam_tensor *sine_alone(lam_tensor *x) {
    lam_tensor *sine;
    lam_sincos(x, &sine, NULL);
    return sine;
}

START_TEST(linear_algebra) {
    lam_tensor *x = matrix(9, 9), *line = lam_index(x, 0, 0), *whole = lam_cast(x, LAM_I64), *sign, *log;
    lam_tensor *little = lam_mul(1e-3, line);
    LEAVES_NOTHING(lam_outer(line, line));
    LEAVES_NOTHING(lam_kron(x, x));
    LEAVES_NOTHING(lam_toeplitz(line, NULL));
    LEAVES_NOTHING(lam_tridiagonal_solve(line, line, line, x));
    LEAVES_NOTHING(lam_det(x));
    LEAVES_NOTHING(lam_inv(x));
    LEAVES_NOTHING(lam_solve(x, x));
    LEAVES_NOTHING(lam_matrix_power(x, 5));
    LEAVES_NOTHING(lam_pinv(x, NULL));
    LEAVES_NOTHING(lam_lstsq(x, line, NULL));
    LEAVES_NOTHING(lam_expm(x));
    LEAVES_NOTHING(lam_matrix_cond(x, 0));
    LEAVES_NOTHING(lam_matrix_norm(x, NULL));
    LEAVES_NOTHING(lam_householder_product(x, line));
    LEAVES_NOTHING(lam_ormqr(x, line, x, &(lam_ormqr_options){.right_side = true}));
    LEAVES_NOTHING(lam_cholesky_update(x, line, false));
    LEAVES_NOTHING(lam_cholesky_update(x, little, true));
    LEAVES_NOTHING(lam_qr_pivots(whole));
    LEAVES_NOTHING(sine_alone(x));
    LEAVES_NOTHING(sine_alone(whole));
    LEAVES_NOTHING(lam_slogdet(x, &sign, &log) == LAM_OK ? (lam_drop(sign), log) : NULL);
}
END_TEST

START_TEST(ones_without_operands) {
    lam_dims dims = LAM_DIMS(30, 40);
    for (int i = 0; i < 9; i++) lam_drop(lam_rand(ctx, LAM_F64, dims)); /* makes the slabs of small blocks */
    LEAVES_NOTHING(lam_rand(ctx, LAM_F64, dims));
    LEAVES_NOTHING(lam_randn(ctx, LAM_F32, dims));
    LEAVES_NOTHING(lam_randint(ctx, LAM_I64, dims, 0, 9));
    LEAVES_NOTHING(lam_logspace(ctx, LAM_F64, 0, 1, 100, 10));
    LEAVES_NOTHING(lam_fftfreq(ctx, LAM_F64, 100, 1));
    LEAVES_NOTHING(lam_bernoulli(ctx, LAM_F32, 300));
}
END_TEST

START_TEST(distributions_and_signals) {
    lam_tensor *x = matrix(8, 9), *a = lam_square(x), *n = lam_cast(a, LAM_I32), *i, *many;
    lam_tensor *low = lam_neg(a), *square = matrix(8, 8), *eye = lam_eye(ctx, LAM_F64, 8, 8);
    i = lam_sum(n, &(lam_reduce_options){.axes = LAM_AXES(-1)});
    LEAVES_NOTHING(lam_factorial(n));
    LEAVES_NOTHING(lam_gammasgn(x));
    LEAVES_NOTHING(lam_boxcox(a, x));
    LEAVES_NOTHING(lam_boxcox1p(a, n));
    LEAVES_NOTHING(lam_logpdf(LAM_TRUNCNORM, x, LAM_LIST(low, a, x, a)));
    LEAVES_NOTHING(lam_pdf(LAM_BINOM, n, LAM_LIST(n, x)));
    LEAVES_NOTHING(lam_cdf(LAM_T, x, LAM_LIST(a)));
    LEAVES_NOTHING(lam_logsf(LAM_GAMMA, n, LAM_LIST(a)));
    LEAVES_NOTHING(lam_isf(LAM_CAUCHY, x, LAM_LIST(x, a)));
    LEAVES_NOTHING(lam_ppf(LAM_T, x, LAM_LIST(a, x)));
    LEAVES_NOTHING(lam_isf(LAM_CHI2, x, LAM_LIST(n)));
    LEAVES_NOTHING(lam_betaincc_inv(a, n, x));
    LEAVES_NOTHING(lam_multivariate_normal_logpdf(square, square, eye));
    LEAVES_NOTHING(lam_dirichlet_logpdf(x, a));
    LEAVES_NOTHING(lam_multinomial_logpmf(n, i, x));
    LEAVES_NOTHING(lam_rankdata(x, LAM_RANK_DENSE));
    LEAVES_NOTHING((lam_mode(x, &i, &many), lam_drop(many), i));
    LEAVES_NOTHING(lam_sem(x, 1));
    LEAVES_NOTHING(lam_convolve2d(x, n, LAM_CONVOLVE_SAME));
    LEAVES_NOTHING(lam_detrend(x, 0, true));
    lam_tensor *places = lam_slice_axis(square, 0, 0, 2);
    LEAVES_NOTHING(lam_map_coordinates(square, places, 1, LAM_MAP_MIRROR, 0));
    lam_tensor *points = lam_arange(ctx, LAM_F32, 0, 8, 1), *pairs = lam_slice_axis(square, 1, 0, 2);
    lam_tensor *one = lam_slice_axis(x, 1, 0, 1);
    LEAVES_NOTHING(lam_interpn(LAM_LIST(points, points), square, pairs, NULL));
    LEAVES_NOTHING(lam_interpn(LAM_LIST(points), n, one, &(lam_interpn_options){.nearest = true}));
}
END_TEST

START_TEST(rotations_and_windows) {
    lam_tensor *q = matrix(5, 4), *v = lam_slice_axis(q, 1, 0, 3), *t = lam_index(v, 1, 0), *m = matrix(3, 3);
    lam_tensor *weights = lam_reshape(q, LAM_DIMS(1, 5, 4));
    LEAVES_NOTHING(lam_quat_from_rotvec(v));
    LEAVES_NOTHING(lam_rotvec_from_quat(q));
    LEAVES_NOTHING(lam_matrix_from_quat(q));
    LEAVES_NOTHING(lam_quat_from_matrix(m));
    LEAVES_NOTHING(lam_quat_from_euler("xyz", v));
    LEAVES_NOTHING(lam_euler_from_quat("XYZ", q));
    LEAVES_NOTHING(lam_quat_mul(q, q));
    LEAVES_NOTHING(lam_quat_conj(q));
    LEAVES_NOTHING(lam_quat_rotate(q, v));
    LEAVES_NOTHING(lam_slerp(q, q, t));
    LEAVES_NOTHING(lam_conv_patches(q, &(lam_window_options){.window = LAM_DIMS(2), .padding = LAM_PAD_SAME}));
    LEAVES_NOTHING(lam_conv_local(q, weights, &(lam_window_options){.window = LAM_DIMS(1)}));
}
END_TEST

Suite *suite_primitives_intermediates(void) {
    return SUITE_OF("primitives/intermediates", elementwise_and_neural_ones, integers_and_complex_numbers, random_ones,
                    factorisations_of_integers, reductions_and_sorting, parts_and_convolutions, linear_algebra,
                    ones_without_operands, distributions_and_signals, rotations_and_windows);
}
