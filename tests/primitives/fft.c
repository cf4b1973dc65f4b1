/* Fourier transforms: known values, identities at sizes beyond the case table, options, several threads. */
#include "lib/kernels/fft.h"
#include "tests/support.h"

#include <pthread.h>
#include <stdlib.h>

static lam_tensor *ramp(int64_t n) {
    lam_tensor *k = lam_arange(ctx, LAM_F64, 0, (double)n, 1);
    return lam_complex(lam_sin(lam_square(k)), lam_cos(lam_mul(3.0, k)));
}

static double largest(lam_tensor *x) {
    return lam_item(lam_max_reduce(lam_abs(x), NULL));
}

/* numpy.fft.fft([1, 2, 3, 4]) */
START_TEST(four_numbers) {
    lam_tensor *y = lam_fft(VEC(1, 2, 3, 4), NULL);
    EXPECT_NEAR(lam_real(y), 1e-15, LAM_DIMS(4), 10, -2, -2, -2);
    EXPECT_NEAR(lam_imag(y), 1e-15, LAM_DIMS(4), 0, 2, 0, -2);
    y = lam_rfft(lam_array(ctx, LAM_I32, LAM_DIMS(4), (int32_t[]){1, 2, 3, 4}), NULL);
    EXPECT_NEAR(lam_real(y), 1e-15, LAM_DIMS(3), 10, -2, -2);
    EXPECT_NEAR(lam_irfft(y, NULL), 1e-15, LAM_DIMS(4), 1, 2, 3, 4);
}
END_TEST

/* Sizes that are powers of 2, products and primes; the inverse brings back what was there. */
START_TEST(there_and_back) {
    static const int64_t sizes[] = {1, 2, 3, 97, 1000, 4096, 10007};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        lam_tensor *x = ramp(sizes[i]), *r = lam_real(x);
        ck_assert_double_lt(largest(lam_sub(lam_ifft(lam_fft(x, NULL), NULL), x)), 1e-13);
        lam_fft_options same = {.sizes = {1, &sizes[i]}};
        ck_assert_double_lt(largest(lam_sub(lam_irfft(lam_rfft(r, NULL), &same), r)), 1e-13);
        lam_tensor *narrow = lam_cast(x, LAM_C64), *back = lam_ifft(lam_fft(narrow, NULL), NULL);
        ck_assert_int_eq(lam_dtype_of(back), LAM_C64);
        ck_assert_double_lt(largest(lam_sub(back, narrow)), 1e-5);
    }
}
END_TEST

START_TEST(several_axes) {
    lam_tensor *x = lam_reshape(ramp(4 * 5 * 6), LAM_DIMS(4, 5, 6)), *r = lam_real(x);
    lam_tensor *one = x;
    for (int axis = 0; axis < 3; axis++) one = lam_fft(one, &(lam_fft_options){.axes = LAM_AXES(axis)});
    ck_assert_double_lt(largest(lam_sub(lam_fftn(x, NULL), one)), 1e-12);
    ck_assert_double_lt(largest(lam_sub(lam_ifftn(one, NULL), x)), 1e-13);
    lam_fft_options o = {.axes = LAM_AXES(2, 0), .norm = LAM_FFT_ORTHO}, full = o;
    full.sizes = LAM_DIMS(6, 4);
    lam_tensor *half = lam_rfftn(r, &o);
    ck_assert_int_eq(lam_dim(half, 0), 3); /* the last axis named is the halved one */
    ck_assert_double_lt(largest(lam_sub(lam_slice_axis(lam_fftn(r, &o), 0, 0, 3), half)), 1e-13);
    ck_assert_double_lt(largest(lam_sub(lam_irfftn(half, &full), r)), 1e-13);
}
END_TEST

/* Turns of a wave at 0, 1, ... along an axis, below one: whole numbers are divided, so that nothing is lost of them. */
static lam_tensor *turns(lam_dims dims, int axis, int64_t n, int64_t times) {
    lam_tensor *whole = lam_mul(lam_iota(ctx, LAM_F64, dims, axis), (double)times);
    return lam_div(lam_rem(whole, (double)n), (double)n);
}

/* A wave through axes that are long and far apart (NOTE [crowded axes]) is one number, of the size of all elements. */
START_TEST(waves_along_long_axes) {
    static const int64_t sizes[][3] = {{1, 512, 64}, {2, 256, 256}, {1, 128, 4096}, {3, 2048, 16}};
    for (int i = 0; i < 8; i++) {
        const int64_t *n = sizes[i / 2], at[2] = {3, n[2] - 5}, size = n[1] * n[2];
        const lam_dtype dtype = i % 2 ? LAM_C64 : LAM_C128, real = i % 2 ? LAM_F32 : LAM_F64;
        const double tolerance = i % 2 ? 1e-5 : 1e-13;
        lam_tensor *j = turns(LAM_DIMS(n[1], 1), 0, n[1], at[0]);
        lam_tensor *k = turns(LAM_DIMS(1, n[2]), 1, n[2], at[1]);
        lam_tensor *angle = lam_mul(lam_add(j, k), 6.283185307179586477);
        lam_tensor *wave = lam_cast(lam_complex(lam_cos(angle), lam_sin(angle)), dtype);
        lam_tensor *x = lam_broadcast_to(wave, LAM_DIMS(n[0], n[1], n[2]));
        lam_tensor *row = lam_eq(lam_iota(ctx, LAM_I64, LAM_DIMS(n[1], 1), 0), at[0]);
        lam_tensor *column = lam_eq(lam_iota(ctx, LAM_I64, LAM_DIMS(1, n[2]), 1), at[1]);
        lam_tensor *one = lam_cast(lam_and(row, column), real),
                   *y = lam_fftn(x, &(lam_fft_options){.axes = LAM_AXES(1, 2)});
        ck_assert_double_lt(largest(lam_sub(lam_div(y, (double)size), one)), tolerance);
        ck_assert_double_lt(largest(lam_sub(lam_ifftn(y, &(lam_fft_options){.axes = LAM_AXES(1, 2)}), x)),
                            10 * tolerance);
        y = lam_fft(x, &(lam_fft_options){.axes = LAM_AXES(1)});
        lam_tensor *picked = lam_mul(lam_cast(row, real), lam_index(lam_index(x, 0, 0), 0, 0));
        ck_assert_double_lt(largest(lam_sub(lam_div(y, (double)n[1]), picked)), tolerance);
    }
}
END_TEST

/* Strided operands: a transposed view is transformed along its own axes. */
START_TEST(views) {
    lam_tensor *x = lam_reshape(ramp(12), LAM_DIMS(3, 4)), *t = lam_transpose(x, (lam_axes){0});
    lam_tensor *want = lam_fft(x, &(lam_fft_options){.axes = LAM_AXES(0)});
    ck_assert_double_lt(largest(lam_sub(lam_transpose(lam_fft(t, NULL), (lam_axes){0}), want)), 1e-14);
}
END_TEST

/* A product of transforms is the transform of the circular convolution: here a shift by 2. */
START_TEST(convolution_theorem) {
    lam_tensor *x = ramp(7), *shift = lam_array(ctx, LAM_F64, LAM_DIMS(7), (double[]){0, 0, 1, 0, 0, 0, 0});
    lam_tensor *y = lam_ifft(lam_mul(lam_fft(x, NULL), lam_fft(shift, NULL)), NULL);
    ck_assert_double_lt(largest(lam_sub(y, lam_roll(x, 2, 0))), 1e-14);
}
END_TEST

/* The gradient of the energy of a spectrum: sum |X|^2 = n sum x^2, so it is 2 n x. */
BODY(energy) {
    out[0] = lam_sum(lam_square(lam_abs(lam_fft(in[0], NULL))), NULL);
}

BODY(filtered) {
    lam_tensor *half = lam_rfft(in[0], NULL), *k = lam_rfftfreq(ctx, LAM_F64, 5, 1);
    lam_tensor *kept =
        lam_irfft(lam_div(half, lam_add(lam_mul(3.0, k), 1.0)), &(lam_fft_options){.sizes = LAM_DIMS(5)});
    out[0] = lam_sum(lam_mul(lam_sin(kept), in[0]), NULL);
}

START_TEST(derivatives) {
    lam_tensor *g = apply1(lam_grad(FN(energy, 1, 1), NULL), VEC(1, 2, 4));
    EXPECT_NEAR(g, 1e-14, LAM_DIMS(3), 6, 12, 24);
    lam_tensor *at[] = {VEC(1, -2, 0.5, 3, 0.25)};
    ck_assert_int_eq(lam_check_grads(FN(filtered, 1, 1), (lam_list){1, at}, &(lam_check_grads_options){.order = 2}),
                     LAM_OK);
    lam_tensor *h = apply1(lam_vmap(lam_hessian(FN(filtered, 1, 1), NULL), NULL), lam_reshape(at[0], LAM_DIMS(1, 5)));
    EXPECT_SAME(h, lam_transpose(h, LAM_AXES(0, 2, 1)), 1e-12);
}
END_TEST

/* numpy.fft.fftfreq(5, 0.1), rfftfreq, fftshift([0..4]) */
START_TEST(frequencies) {
    EXPECT_NEAR(lam_fftfreq(ctx, LAM_F64, 5, 0.1), 1e-15, LAM_DIMS(5), 0, 2, 4, -4, -2);
    EXPECT_NEAR(lam_rfftfreq(ctx, LAM_F64, 5, 0.1), 1e-15, LAM_DIMS(3), 0, 2, 4);
    EXPECT_NEAR(lam_rfftfreq(ctx, LAM_F32, 4, 0.25), 0, LAM_DIMS(3), 0, 1, 2);
    lam_tensor *x = VEC(0, 1, 2, 3, 4), *y = lam_fftshift(x, (lam_axes){0});
    EXPECT(y, LAM_DIMS(5), 3, 4, 0, 1, 2);
    EXPECT(lam_ifftshift(y, LAM_AXES(0)), LAM_DIMS(5), 0, 1, 2, 3, 4);
    lam_fftfreq(ctx, LAM_F64, 0, 1);
    EXPECT_ERROR(LAM_ERR_VALUE, "fftfreq");
    lam_fftfreq(ctx, LAM_I64, 4, 1);
    EXPECT_ERROR(LAM_ERR_DTYPE, "fftfreq", "i64");
}
END_TEST

/* numpy.fft.hfft and ihfft. */
START_TEST(conjugates_of_themselves) {
    lam_tensor *x = lam_complex(VEC(1, 2, 0.5, 3), VEC(0, -1, 2, 0)), *y;
    EXPECT_NEAR(lam_hfft(x, NULL), 1e-14, LAM_DIMS(6), 9, 1.2320508075688772, -3.696152422706632, -5, 6.696152422706632,
                -2.2320508075688767);
    EXPECT_NEAR(lam_hfft(x, &(lam_fft_options){.sizes = LAM_DIMS(5)}), 1e-14, LAM_DIMS(5), 6, 1.8760789597044278,
                -6.906847552890403, 3.052745586640718, 0.9780230065452569);
    EXPECT_NEAR(lam_hfft(x, &(lam_fft_options){.norm = LAM_FFT_ORTHO}), 1e-14, LAM_DIMS(6), 3.6742346141747677,
                0.502982635954616, -1.5089479078638484, -2.041241452319315, 2.7336927792554375, -0.9112309264184789);
    y = lam_ihfft(VEC(1, 2, 0, -3, 4), NULL);
    EXPECT_NEAR(lam_real(y), 1e-14, LAM_DIMS(3), 0.8, 1.0562305898749054, -0.9562305898749055);
    EXPECT_NEAR(lam_slice_axis(lam_imag(y), 0, 1, 3), 1e-13, LAM_DIMS(2), -0.02775145514257753, -0.8057480106940814);
    y = lam_ihfft(VEC(1, 2, 0, -3), &(lam_fft_options){.norm = LAM_FFT_FORWARD});
    EXPECT_NEAR(lam_imag(y), 1e-14, LAM_DIMS(3), 0, 5, 0);
    lam_ihfft(x, NULL);
    EXPECT_ERROR(LAM_ERR_DTYPE, "ihfft");
}
END_TEST

START_TEST(bad_requests) {
    lam_tensor *z = ramp(4);
    lam_rfft(z, NULL);
    EXPECT_ERROR(LAM_ERR_DTYPE, "rfft", "lam_fft");
    lam_fft(z, &(lam_fft_options){.axes = LAM_AXES(0, 0)});
    EXPECT_STATUS(LAM_ERR_AXIS);
    lam_fft(lam_reshape(z, LAM_DIMS(2, 2)), &(lam_fft_options){.axes = LAM_AXES(0, 1)});
    EXPECT_ERROR(LAM_ERR_OPTION, "fft", "2 axes");
    lam_fftn(z, &(lam_fft_options){.sizes = LAM_DIMS(4, 4)});
    EXPECT_ERROR(LAM_ERR_OPTION, "fftn", "2 sizes");
    lam_fft(z, &(lam_fft_options){.norm = (lam_fft_norm)7});
    EXPECT_ERROR(LAM_ERR_OPTION, "norm 7");
    lam_irfft(lam_slice_axis(z, 0, 0, 1), NULL);
    EXPECT_ERROR(LAM_ERR_VALUE, "irfft", "0 elements");
}
END_TEST

/* Plans are made under a lock: contexts of several threads transform at once. */
static void *many_transforms(void *env) {
    lam_ctx *own = lam_ctx_new(NULL);
    double *worst = env;
    for (int64_t n = 2; n < 200; n++) {
        lam_scope *scope = lam_scope_begin(own);
        lam_tensor *x = lam_sin(lam_arange(own, LAM_F64, 0, (double)n, 1));
        lam_tensor *back = lam_real(lam_ifft(lam_fft(x, NULL), NULL));
        double error = lam_item(lam_max_reduce(lam_abs(lam_sub(back, x)), NULL));
        if (!(error <= *worst)) *worst = error;
        lam_scope_end(scope, NULL, 0);
    }
    lam_ctx_free(own);
    return NULL;
}

START_TEST(several_threads) {
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    double worst[THREADS] = {0};
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, many_transforms, &worst[i]), 0);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++) ck_assert_double_lt(worst[i], 1e-13);
}
END_TEST

/* The matrix of the transform of n numbers. */
static lam_tensor *matrix_of(int64_t n, lam_dtype dtype) {
    lam_tensor *k = lam_arange(ctx, LAM_I64, 0, (double)n, 1);
    lam_tensor *turns = lam_rem(lam_mul(lam_expand_dims(k, 1), k), n);
    lam_tensor *angle = lam_mul(-2 * 3.14159265358979323846 / (double)n, lam_cast(turns, LAM_F64));
    return lam_cast(lam_complex(lam_cos(angle), lam_sin(angle)), dtype);
}

/* Batches so large that they are transformed in parts, some left over, along either axis: products with the matrix. */
START_TEST(large_batches) {
    static const int64_t sizes[] = {97, 45};
    for (int k = 0; k < 4; k++) {
        const int64_t n = sizes[k % 2], rows = 2003;
        const bool narrow = k > 1;
        const double error = narrow ? 1e-3 : 1e-12;
        lam_tensor *z = lam_cast(lam_reshape(ramp(rows * n), LAM_DIMS(rows, n)), narrow ? LAM_C64 : LAM_C128);
        lam_tensor *m = matrix_of(n, lam_dtype_of(z)), *x = lam_real(z),
                   *turned = lam_contiguous(lam_matrix_transpose(z));
        lam_fft_options last = {.axes = LAM_AXES(-1), .sizes = {1, &n}},
                        first = {.axes = LAM_AXES(0), .sizes = {1, &n}};
        lam_fft_options apart = {.axes = LAM_AXES(0, 2), .norm = LAM_FFT_ORTHO};
        ck_assert_double_lt(largest(lam_sub(lam_fft(z, &last), lam_matmul(z, m))), error);
        ck_assert_double_lt(largest(lam_sub(lam_fft(turned, &first), lam_matmul(m, turned))), error);
        lam_tensor *half = lam_rfft(x, &last), *whole = lam_matmul(lam_cast(x, lam_dtype_of(z)), m);
        ck_assert_double_lt(largest(lam_sub(half, lam_slice_axis(whole, 1, 0, n / 2 + 1))), error);
        ck_assert_double_lt(largest(lam_sub(lam_irfft(half, &last), x)), error);
        half = lam_rfft(lam_real(turned), &first);
        ck_assert_double_lt(largest(lam_sub(lam_irfft(half, &first), lam_real(turned))), error);
        lam_tensor *three = lam_reshape(lam_slice_axis(z, 0, 0, 2000), LAM_DIMS(4, 500, n));
        lam_tensor *both = lam_fft(lam_fft(three, &(lam_fft_options){.axes = LAM_AXES(0), .norm = LAM_FFT_ORTHO}),
                                   &(lam_fft_options){.norm = LAM_FFT_ORTHO});
        ck_assert_double_lt(largest(lam_sub(lam_fftn(three, &apart), both)), error);
    }
}
END_TEST

/* A view that begins between two pairs of doubles has the bits of a copy of it. */
START_TEST(places_in_memory) {
    lam_tensor *all = lam_sin(lam_square(lam_arange(ctx, LAM_F64, 0, 402, 1)));
    for (int64_t n = 2; n < 400; n++) {
        lam_tensor *x = lam_slice_axis(all, 0, 1, n + 1), *y = lam_contiguous(lam_mul(x, 1.0));
        EXPECT_SAME(lam_abs(lam_rfft(x, NULL)), lam_abs(lam_rfft(y, NULL)), 0);
    }
}
END_TEST

/* One transform of n reals with `plans`, into out; what it had. */
static lam__fft transform_with(lam__fft_plans *plans, int64_t n, const double *x, double *out) {
    lam__fft f;
    ck_assert(lam__kernels_fft_begin(LAM__FFT_REAL, true, 1, &n, 1, 1, x, out, plans, &f));
    lam__kernels_fft_part(&f, 0);
    lam__fft was = f;
    lam__kernels_fft_end(&f);
    return was;
}

/* A plan is found again until as many others as are kept have come; long ones are not kept. Kept or not, the bits are
 * the same. */
START_TEST(plans_are_kept) {
    enum { MOST = 2 * LAM__FFT_LONGEST };
    lam__fft_plans plans = {0};
    double *x = malloc(sizeof(double[MOST])), *out = malloc(sizeof(double[MOST + 2])),
           *again = malloc(sizeof(double[99]));
    for (int i = 0; i < MOST; i++) x[i] = i * 37 % 101 - 50;
    for (int64_t n = 2; n < 90; n++) {
        const lam__fft first = transform_with(&plans, n, x, out), second = transform_with(&plans, n, x, again);
        ck_assert(first.kept && second.kept && first.unit && first.unit == second.unit);
        ck_assert(!memcmp(out, again, sizeof(double[2]) * (size_t)(n / 2 + 1)));
        ck_assert(!transform_with(NULL, n, x, again).kept);
        ck_assert(!memcmp(out, again, sizeof(double[2]) * (size_t)(n / 2 + 1)));
    }
    const int next = plans.next;
    transform_with(&plans, 90 - LAM__FFT_KEPT, x, out); /* the oldest one that is there */
    ck_assert_int_eq(plans.next, next);
    transform_with(&plans, 89 - LAM__FFT_KEPT, x, out); /* the one before it has made room */
    ck_assert_int_ne(plans.next, next);
    ck_assert(!transform_with(&plans, MOST, x, out).kept);
    lam__kernels_fft_forget(&plans);
    for (int i = 0; i < LAM__FFT_KEPT; i++) ck_assert(!plans.kept[i].unit && !plans.kept[i].rest);
    free(x), free(out), free(again);
}
END_TEST

/* What a context keeps is no memory in use, and lam_ctx_trim gives it back; then it is made again. Sizes, types and
 * directions alternate, so that each finds the plans of others. */
START_TEST(contexts_keep_plans) {
    lam_ctx *own = lam_ctx_new(NULL);
    size_t before = 0;
    for (int round = 0; round < 6; round++) {
        lam_scope *scope = lam_scope_begin(own);
        for (int64_t n = 2; n < 40; n++) {
            lam_tensor *x = lam_cos(lam_arange(own, n % 3 ? LAM_F64 : LAM_F32, 0, (double)n, 1));
            lam_tensor *back = lam_real(lam_ifft(lam_fft(x, NULL), NULL)), *half = lam_rfft(x, NULL);
            ck_assert_double_lt(largest(lam_sub(back, x)), n % 3 ? 1e-14 : 1e-5);
            back = lam_irfft(half, &(lam_fft_options){.sizes = {1, &n}});
            ck_assert_double_lt(largest(lam_sub(back, x)), n % 3 ? 1e-14 : 1e-5);
        }
        lam_scope_end(scope, NULL, 0);
        if (round == 0) before = lam_ctx_bytes(own);
        ck_assert_uint_eq(lam_ctx_bytes(own), before);
        if (round % 2) lam_ctx_trim(own);
    }
    ck_assert_int_eq(lam_status_of(own), LAM_OK);
    lam_ctx_free(own);
}
END_TEST

Suite *suite_primitives_fft(void) {
    return SUITE_OF("primitives/fft", four_numbers, there_and_back, several_axes, waves_along_long_axes, views,
                    convolution_theorem, derivatives, frequencies, conjugates_of_themselves, bad_requests,
                    several_threads, large_batches, places_in_memory, plans_are_kept, contexts_keep_plans);
}
