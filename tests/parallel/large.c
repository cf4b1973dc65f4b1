/* Large operations give the same bits in contexts of 1, 2, 3 and 7 threads: what is cut only where it is larger than
 * the cases of primitives/properties_threads.c. */
#include "lib/base/context.h" /* first: support.h has a global ctx */

#include "tests/support.h"

#include <stdlib.h>

/* Numbers of both signs without pattern. */
static lam_tensor *numbers(lam_ctx *c, lam_dtype dtype, lam_dims dims) {
    return lam_random_normal(lam_key(c, 7), dtype, dims);
}

static lam_tensor *sum_over(lam_tensor *x, lam_axes axes) {
    return lam_sum(x, &(lam_reduce_options){.axes = axes});
}

/* ---- what is computed -------------------------------------------------------------------------------------------- */

static lam_tensor *loops(lam_ctx *c) {
    lam_tensor *x = numbers(c, LAM_F64, LAM_DIMS(500, 401));
    return lam_where(lam_gt(x, 0.0), lam_exp(x), lam_div(lam_sin(x), lam_slice_axis(x, 0, 3, 4)));
}

static lam_tensor *strided(lam_ctx *c) {
    lam_tensor *x = numbers(c, LAM_F32, LAM_DIMS(601, 403));
    return lam_contiguous(
        lam_add(lam_transpose(x, LAM_AXES(1, 0)), lam_reverse(lam_transpose(x, LAM_AXES(1, 0)), LAM_AXES(0))));
}

static lam_tensor *whole_sum(lam_ctx *c) {
    return lam_sum(numbers(c, LAM_F64, LAM_DIMS(1000003)), NULL);
}

static lam_tensor *whole_sum_of_rows(lam_ctx *c) {
    lam_tensor *x = numbers(c, LAM_F32, LAM_DIMS(37, 5, 2049));
    return lam_sum(lam_transpose(x, LAM_AXES(1, 2, 0)), NULL);
}

static lam_tensor *sums_of_columns(lam_ctx *c) {
    return sum_over(numbers(c, LAM_F64, LAM_DIMS(100003, 5)), LAM_AXES(0));
}

static lam_tensor *sums_of_many_columns(lam_ctx *c) {
    return sum_over(numbers(c, LAM_F32, LAM_DIMS(151, 4001)), LAM_AXES(0));
}

static lam_tensor *sums_of_rows(lam_ctx *c) {
    return sum_over(numbers(c, LAM_F64, LAM_DIMS(301, 2003)), LAM_AXES(1));
}

static lam_tensor *sums_between(lam_ctx *c) {
    return sum_over(numbers(c, LAM_F64, LAM_DIMS(3, 40001, 4)), LAM_AXES(1));
}

static lam_tensor *means_of_columns(lam_ctx *c) {
    return lam_mean(numbers(c, LAM_F32, LAM_DIMS(100003, 5)), &(lam_reduce_options){.axes = LAM_AXES(0)});
}

static lam_tensor *means_between(lam_ctx *c) {
    return lam_mean(numbers(c, LAM_F32, LAM_DIMS(3001, 7, 33)), &(lam_reduce_options){.axes = LAM_AXES(1)});
}

static lam_tensor *means_of_integers(lam_ctx *c) {
    lam_tensor *x = lam_cast(lam_mul(1e6, numbers(c, LAM_F64, LAM_DIMS(3001, 7, 33))), LAM_I64);
    return lam_mean(x, &(lam_reduce_options){.axes = LAM_AXES(1)});
}

static lam_tensor *largest(lam_ctx *c) {
    return lam_max_reduce(numbers(c, LAM_F32, LAM_DIMS(400001)), NULL);
}

static lam_tensor *complex_sum(lam_ctx *c) {
    lam_tensor *x = numbers(c, LAM_F64, LAM_DIMS(200003));
    return lam_sum(lam_complex(x, lam_square(x)), NULL);
}

/* Elements of modulus near 1, so that the product of many is a number. */
static lam_tensor *unit_complex(lam_ctx *c, lam_dims dims) {
    lam_tensor *x = numbers(c, LAM_F64, dims);
    return lam_complex(lam_cos(x), lam_sin(x));
}

static lam_tensor *complex_sums_between(lam_ctx *c) {
    return sum_over(unit_complex(c, LAM_DIMS(50001, 2, 3)), LAM_AXES(0, 2));
}

static lam_tensor *complex_factors(lam_ctx *c) {
    return lam_prod(unit_complex(c, LAM_DIMS(200003)), NULL);
}

static lam_tensor *complex_factors_of_columns(lam_ctx *c) {
    return lam_prod(unit_complex(c, LAM_DIMS(40001, 5)), &(lam_reduce_options){.axes = LAM_AXES(0)});
}

static lam_tensor *running(lam_ctx *c) {
    return lam_cumsum(numbers(c, LAM_F64, LAM_DIMS(97, 2001)), 1);
}

static lam_tensor *running_down(lam_ctx *c) {
    return lam_cumsum(numbers(c, LAM_F64, LAM_DIMS(2001, 97)), 0);
}

static lam_tensor *running_back_between(lam_ctx *c) {
    lam_tensor *x = lam_mul(1.001, lam_cast(numbers(c, LAM_F32, LAM_DIMS(3, 501, 33)), LAM_F64));
    return lam_cumprod_reverse(lam_complex(x, lam_square(x)), 1);
}

static lam_tensor *places(lam_ctx *c) {
    return lam_argmax(numbers(c, LAM_F32, LAM_DIMS(50, 31, 200)), 1);
}

static lam_tensor *soft(lam_ctx *c) {
    return lam_softmax(numbers(c, LAM_F64, LAM_DIMS(300, 1001)), 1);
}

static lam_tensor *soft_down(lam_ctx *c) {
    return lam_log_softmax(numbers(c, LAM_F32, LAM_DIMS(7, 301, 129)), 1);
}

static lam_tensor *standard(lam_ctx *c) {
    return lam_standardize(numbers(c, LAM_F64, LAM_DIMS(3001, 99)), NULL);
}

static lam_tensor *halves(lam_ctx *c) {
    return lam_cast(lam_exp(lam_cast(numbers(c, LAM_F32, LAM_DIMS(300001)), LAM_BF16)), LAM_F32);
}

static lam_tensor *full(lam_ctx *c) {
    return lam_full(c, LAM_F64, LAM_DIMS(700, 700), 3.5);
}

BODY(cost) {
    out[0] = lam_sum(lam_square(lam_logistic(lam_tanh(lam_mul(in[0], in[0])))), NULL);
}

static lam_tensor *gradient(lam_ctx *c) {
    lam_fn *f = lam_fn_new(c, &(lam_fn_options){.name = "cost", .body = cost, .inputs = 1, .outputs = 1});
    return lam_apply(lam_grad(f, NULL), LAM_LIST(numbers(c, LAM_F64, LAM_DIMS(300, 500))));
}

static lam_tensor *product(lam_ctx *c) {
    return lam_matmul(numbers(c, LAM_F64, LAM_DIMS(1003, 301)), numbers(c, LAM_F64, LAM_DIMS(301, 207)));
}

/* Blocks of 3072 rows and a few more. */
static lam_tensor *long_product(lam_ctx *c) {
    return lam_matmul(numbers(c, LAM_F32, LAM_DIMS(6150, 131)), numbers(c, LAM_F32, LAM_DIMS(131, 140)));
}

static lam_tensor *thin_product(lam_ctx *c) {
    return lam_matmul(numbers(c, LAM_F64, LAM_DIMS(20001, 31)), numbers(c, LAM_F64, LAM_DIMS(31, 33)));
}

static lam_tensor *turned_product(lam_ctx *c) {
    lam_tensor *x = numbers(c, LAM_F64, LAM_DIMS(700, 801));
    return lam_matmul(lam_transpose(x, LAM_AXES(1, 0)),
                      lam_slice(x, LAM_DIMS(0, 0), LAM_DIMS(700, 801), LAM_DIMS(1, 2)));
}

static lam_tensor *complex_product(lam_ctx *c) {
    lam_tensor *x = numbers(c, LAM_F64, LAM_DIMS(500, 120));
    return lam_matmul(lam_complex(x, lam_square(x)),
                      lam_complex(lam_transpose(x, LAM_AXES(1, 0)), lam_reshape(x, LAM_DIMS(120, 500))));
}

/* NOTE [long sums in parts]: every layout of an operand, one and several results. */
static lam_tensor *gram(lam_ctx *c) {
    lam_tensor *x = numbers(c, LAM_F64, LAM_DIMS(200001, 9));
    return lam_matmul(lam_matrix_transpose(x), lam_slice_axis(x, 1, 0, 7));
}

static lam_tensor *long_rows(lam_ctx *c) {
    lam_tensor *x = numbers(c, LAM_F32, LAM_DIMS(6, 400003));
    return lam_matmul(x, lam_matrix_transpose(lam_reverse(x, LAM_AXES(1))));
}

static lam_tensor *columns_times_vector(lam_ctx *c) {
    return lam_matmul(numbers(c, LAM_F64, LAM_DIMS(500009)), numbers(c, LAM_F64, LAM_DIMS(500009, 12)));
}

static lam_tensor *long_dot(lam_ctx *c) {
    return lam_vecdot(numbers(c, LAM_F64, LAM_DIMS(2000003)), numbers(c, LAM_F64, LAM_DIMS(2000003)), 0);
}

static lam_tensor *complex_dot(lam_ctx *c) {
    lam_tensor *x = numbers(c, LAM_F64, LAM_DIMS(1000003));
    return lam_matmul(lam_complex(x, lam_square(x)), lam_complex(lam_square(x), x));
}

static lam_tensor *integer_product(lam_ctx *c) {
    lam_tensor *x = lam_iota(c, LAM_I64, LAM_DIMS(300, 200), 0);
    return lam_matmul(x, lam_reshape(x, LAM_DIMS(200, 300)));
}

static lam_tensor *products(lam_ctx *c) {
    return lam_matmul(numbers(c, LAM_F64, LAM_DIMS(500, 33, 17)), numbers(c, LAM_F64, LAM_DIMS(500, 17, 35)));
}

static lam_tensor *small_products(lam_ctx *c) {
    return lam_matmul(numbers(c, LAM_F32, LAM_DIMS(20001, 3, 4)), numbers(c, LAM_F32, LAM_DIMS(20001, 4, 5)));
}

/* The batch becomes rows, since all share one operand. */
static lam_tensor *folded_products(lam_ctx *c) {
    return lam_matmul(numbers(c, LAM_F64, LAM_DIMS(11, 100, 200)), numbers(c, LAM_F64, LAM_DIMS(200, 150)));
}

static lam_tensor *matrix_vector(lam_ctx *c) {
    return lam_matmul(numbers(c, LAM_F64, LAM_DIMS(2051, 777)), numbers(c, LAM_F64, LAM_DIMS(777)));
}

static lam_tensor *vector_matrix(lam_ctx *c) {
    return lam_matmul(numbers(c, LAM_F32, LAM_DIMS(777)), numbers(c, LAM_F32, LAM_DIMS(777, 2051)));
}

static lam_tensor *wide_vector_matrix(lam_ctx *c) {
    return lam_matmul(numbers(c, LAM_F64, LAM_DIMS(777)), numbers(c, LAM_F64, LAM_DIMS(777, 2057)));
}

static lam_tensor *turned_matrix_vector(lam_ctx *c) {
    lam_tensor *x = lam_matrix_transpose(numbers(c, LAM_F32, LAM_DIMS(777, 2049)));
    return lam_matmul(x, numbers(c, LAM_F32, LAM_DIMS(777)));
}

static lam_tensor *vector_turned_matrix(lam_ctx *c) {
    lam_tensor *x = lam_matrix_transpose(numbers(c, LAM_F32, LAM_DIMS(2049, 777)));
    return lam_matmul(numbers(c, LAM_F32, LAM_DIMS(777)), x);
}

/* Symmetric positive definite matrices. */
static lam_tensor *definite(lam_ctx *c, lam_dtype dtype, int64_t batch, int64_t n) {
    lam_tensor *x = numbers(c, dtype, LAM_DIMS(batch, n, n));
    return lam_add(lam_matmul(x, lam_transpose(x, LAM_AXES(0, 2, 1))), lam_mul((double)n, lam_eye(c, dtype, n, n)));
}

static lam_tensor *factors(lam_ctx *c) {
    return lam_cholesky(definite(c, LAM_F64, 40, 30));
}

static lam_tensor *solutions(lam_ctx *c) {
    return lam_solve(numbers(c, LAM_F64, LAM_DIMS(60, 45, 45)), numbers(c, LAM_F64, LAM_DIMS(60, 45, 7)));
}

static lam_tensor *few_solutions(lam_ctx *c) {
    return lam_solve(numbers(c, LAM_F32, LAM_DIMS(300, 5, 5)), numbers(c, LAM_F32, LAM_DIMS(300, 5, 1)));
}

static lam_tensor *eigenvalues(lam_ctx *c) {
    return lam_eigvalsh(definite(c, LAM_F64, 30, 20));
}

static lam_tensor *singular_values(lam_ctx *c) {
    return lam_svdvals(numbers(c, LAM_F32, LAM_DIMS(50, 12, 20)));
}

static lam_tensor *complex_singular_values(lam_ctx *c) {
    lam_tensor *x = numbers(c, LAM_F64, LAM_DIMS(50, 9, 12));
    return lam_svdvals(lam_complex(x, lam_square(x)));
}

static lam_tensor *complex_eigenvalues(lam_ctx *c) {
    lam_tensor *x = numbers(c, LAM_F32, LAM_DIMS(50, 9, 9)), *y = lam_transpose(x, LAM_AXES(0, 2, 1));
    return lam_eigvalsh(lam_complex(lam_add(x, y), lam_sub(x, y)));
}

/* Features fill vectors; a stride, so that its gradient by x goes by phases. */
static lam_tensor *convolved(lam_ctx *c) {
    lam_conv_options o = {.strides = LAM_DIMS(2, 1), .padding = LAM_PAD_SAME};
    return lam_conv_general(numbers(c, LAM_F32, LAM_DIMS(3, 17, 40, 37)), numbers(c, LAM_F32, LAM_DIMS(50, 17, 3, 3)),
                            &o);
}

static lam_tensor *convolved_by_channel(lam_ctx *c) {
    lam_conv_options o = {.padding = LAM_PAD_SAME, .feature_groups = 30};
    return lam_conv_general(numbers(c, LAM_F64, LAM_DIMS(2, 30, 61, 63)), numbers(c, LAM_F64, LAM_DIMS(60, 1, 3, 3)),
                            &o);
}

/* Short lines and steps: groups lie side by side in vectors. */
static lam_tensor *convolved_by_channel_in_steps(lam_ctx *c) {
    lam_conv_options o = {.strides = LAM_DIMS(2, 3), .padding = LAM_PAD_SAME, .feature_groups = 61};
    return lam_conv_general(numbers(c, LAM_F32, LAM_DIMS(3, 122, 41, 43)), numbers(c, LAM_F32, LAM_DIMS(122, 2, 3, 3)),
                            &o);
}

static lam_tensor *convolved_signal(lam_ctx *c) {
    return lam_convolve(numbers(c, LAM_F64, LAM_DIMS(100003)), numbers(c, LAM_F64, LAM_DIMS(25)), LAM_CONVOLVE_SAME);
}

BODY(convolution) {
    lam_conv_options o = {.strides = LAM_DIMS(2, 2), .padding = LAM_PAD_SAME};
    if (lam_dim(in[1], 1) == 1) o.feature_groups = lam_dim(in[0], 1);
    out[0] = lam_sum(lam_square(lam_conv_general(in[0], in[1], &o)), NULL);
}

/* Both gradients, side by side in one vector. */
static lam_tensor *convolution_gradients(lam_ctx *c, lam_tensor *x, lam_tensor *w) {
    lam_fn *f = lam_fn_new(c, &(lam_fn_options){.name = "convolution", .body = convolution, .inputs = 2, .outputs = 1});
    lam_tensor *g[2];
    lam_call(lam_grad(f, &(lam_grad_options){.argnums = LAM_AXES(0, 1)}), LAM_LIST(x, w), g, 2);
    for (int i = 0; i < 2; i++) g[i] = lam_reshape(g[i], LAM_DIMS(lam_size(g[i])));
    return lam_concatenate(LAM_LIST(g[0], g[1]), 0);
}

static lam_tensor *convolution_slopes(lam_ctx *c) {
    return convolution_gradients(c, numbers(c, LAM_F32, LAM_DIMS(2, 20, 33, 30)),
                                 numbers(c, LAM_F32, LAM_DIMS(40, 20, 3, 3)));
}

/* Few features of x: its gradient is gathered from products. */
static lam_tensor *convolution_slopes_of_few_features(lam_ctx *c) {
    return convolution_gradients(c, numbers(c, LAM_F64, LAM_DIMS(3, 3, 91, 90)),
                                 numbers(c, LAM_F64, LAM_DIMS(24, 3, 3, 3)));
}

/* Short lines of many examples, which lie side by side. */
static lam_tensor *convolution_slopes_of_small_images(lam_ctx *c) {
    return convolution_gradients(c, numbers(c, LAM_F32, LAM_DIMS(300, 18, 7, 8)),
                                 numbers(c, LAM_F32, LAM_DIMS(5, 18, 3, 3)));
}

static lam_tensor *convolution_slopes_by_channel(lam_ctx *c) {
    return convolution_gradients(c, numbers(c, LAM_F64, LAM_DIMS(3, 16, 41, 40)),
                                 numbers(c, LAM_F64, LAM_DIMS(16, 1, 3, 3)));
}

static lam_tensor *orders(lam_ctx *c) {
    return lam_argsort(numbers(c, LAM_F32, LAM_DIMS(100, 301)), 1);
}

static lam_tensor *taken(lam_ctx *c) {
    lam_tensor *at = lam_cast(lam_mul(lam_abs(numbers(c, LAM_F64, LAM_DIMS(40000))), 200.0), LAM_I64);
    return lam_take(numbers(c, LAM_F64, LAM_DIMS(1300, 5)), at, 0);
}

static lam_tensor *samples(lam_ctx *c) {
    return lam_random_gamma(lam_key(c, 3), lam_abs(numbers(c, LAM_F64, LAM_DIMS(3001))), LAM_DIMS(3001));
}

static lam_tensor *exponentials(lam_ctx *c) {
    return lam_expm(numbers(c, LAM_F64, LAM_DIMS(100, 5, 5)));
}

#if defined(LAM__HAVE_FFTW)
static lam_tensor *transforms(lam_ctx *c) {
    lam_tensor *x = numbers(c, LAM_F32, LAM_DIMS(3001, 75));
    return lam_irfft(lam_rfft(x, NULL), NULL);
}

static lam_tensor *transforms_of_columns(lam_ctx *c) {
    lam_tensor *x = numbers(c, LAM_F64, LAM_DIMS(120, 1003));
    return lam_ifft(lam_complex(x, lam_square(x)), &(lam_fft_options){.axes = LAM_AXES(0)});
}
#endif

#define WORK(name)                                                                                                     \
    { #name, name }
static const struct {
    const char *name;
    lam_tensor *(*work)(lam_ctx *c);
} works[] = {
    WORK(loops),
    WORK(strided),
    WORK(whole_sum),
    WORK(whole_sum_of_rows),
    WORK(sums_of_columns),
    WORK(sums_of_many_columns),
    WORK(sums_of_rows),
    WORK(sums_between),
    WORK(means_of_columns),
    WORK(means_between),
    WORK(means_of_integers),
    WORK(largest),
    WORK(complex_sum),
    WORK(complex_sums_between),
    WORK(complex_factors),
    WORK(complex_factors_of_columns),
    WORK(running),
#if defined(LAM__HAVE_FFTW)
    WORK(transforms),
    WORK(transforms_of_columns),
#endif
    WORK(running_down),
    WORK(running_back_between),
    WORK(places),
    WORK(soft),
    WORK(soft_down),
    WORK(standard),
    WORK(halves),
    WORK(full),
    WORK(gradient),
    WORK(product),
    WORK(long_product),
    WORK(gram),
    WORK(long_rows),
    WORK(columns_times_vector),
    WORK(long_dot),
    WORK(complex_dot),
    WORK(thin_product),
    WORK(turned_product),
    WORK(complex_product),
    WORK(integer_product),
    WORK(products),
    WORK(small_products),
    WORK(folded_products),
    WORK(matrix_vector),
    WORK(vector_matrix),
    WORK(wide_vector_matrix),
    WORK(turned_matrix_vector),
    WORK(vector_turned_matrix),
    WORK(factors),
    WORK(solutions),
    WORK(few_solutions),
    WORK(eigenvalues),
    WORK(singular_values),
    WORK(complex_singular_values),
    WORK(complex_eigenvalues),
    WORK(convolved),
    WORK(convolved_by_channel),
    WORK(convolved_by_channel_in_steps),
    WORK(convolved_signal),
    WORK(convolution_slopes),
    WORK(convolution_slopes_of_few_features),
    WORK(convolution_slopes_of_small_images),
    WORK(convolution_slopes_by_channel),
    WORK(orders),
    WORK(taken),
    WORK(samples),
    WORK(exponentials),
};

enum { WORKS = sizeof works / sizeof *works };

/* ---- the comparison ---------------------------------------------------------------------------------------------- */

static unsigned char *bytes_of(lam_tensor *t, size_t *size) {
    *size = lam_dtype_bytes(lam_dtype_of(t));
    for (int i = 0; i < lam_rank(t); i++) *size *= (size_t)lam_dim(t, i);
    unsigned char *bytes = malloc(*size);
    ck_assert(bytes && lam_read(t, bytes, *size) == LAM_OK);
    return bytes;
}

/* least: units of work that make a piece; 0: as built. */
static unsigned char *result_of(int number, int threads, double least, size_t *size) {
    lam_ctx *c = lam_ctx_new(&(lam_ctx_options){.threads = threads});
    ck_assert_int_eq(lam_ctx_threads(c), threads);
    if (c->team && least > 0) lam__team_set_least(c->team, least);
    lam_tensor *t = works[number].work(c);
    ck_assert_msg(lam_status_of(c) == LAM_OK, "%s: %s", works[number].name, lam_error(c));
    unsigned char *bytes = bytes_of(t, size);
    lam_ctx_free(c);
    return bytes;
}

START_TEST(bits_do_not_depend_on_the_number_of_threads) {
    static const int threads[] = {2, 3, 7};
    static const double least[] = {0, 100, 1e-9};
    size_t size, other;
    unsigned char *want = result_of(_i, 1, 0, &size);
    for (int k = 0; k < 9; k += SANITIZED ? 4 : 1) {
        unsigned char *got = result_of(_i, threads[k % 3], least[k / 3], &other);
        ck_assert_uint_eq(size, other);
        ck_assert_msg(memcmp(want, got, size) == 0, "%s with %d threads", works[_i].name, threads[k % 3]);
        free(got);
    }
    free(want);
}
END_TEST

/* The matrix that is named is the first of those that have no factor, whoever comes to it first. */
START_TEST(the_first_matrix_that_fails_is_named) {
    static const int64_t bad[] = {73, 21, 190, 22};
    for (int threads = 1; threads < 8; threads += 2) {
        lam_ctx *c = lam_ctx_new(&(lam_ctx_options){.threads = threads});
        if (c->team) lam__team_set_least(c->team, 1);
        double *x = calloc(200 * 64, sizeof *x);
        for (int i = 0; i < 200; i++)
            for (int k = 0; k < 8; k++) x[i * 64 + k * 9] = 1;
        for (int k = 0; k < 4; k++) x[bad[k] * 64] = -1;
        lam_tensor *l = lam_cholesky(lam_array(c, LAM_F64, LAM_DIMS(200, 8, 8), x));
        ck_assert(lam_failed(l));
        ck_assert_msg(strstr(lam_error(c), "[21]"), "%d threads: %s", threads, lam_error(c));
        ck_assert_uint_eq(lam_error_count(c), 1);
        free(x);
        lam_ctx_free(c);
    }
}
END_TEST

Suite *suite_parallel_large(void) {
    Suite *suite = SUITE_OF("parallel/large", the_first_matrix_that_fails_is_named);
    suite_loop(suite, bits_do_not_depend_on_the_number_of_threads, WORKS);
    return suite;
}
