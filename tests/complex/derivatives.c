/* Derivatives of complex functions: the conventions of NOTE [complex derivatives] in complex.h, on functions whose
 * derivatives are known by hand, through every transform. jax.grad, jvp, vjp and jacrev of JAX 0.10.2 give the same. */
#include "tests/support.h"

static const lam_c128 z0 = {1.5, -0.75};

static lam_tensor *point(void) {
    return lam_scalar_complex(ctx, z0.re, z0.im);
}

#define EXPECT_COMPLEX(t, re, im) expect_complex(__LINE__, t, re, im)
static void expect_complex(int line, lam_tensor *t, double re, double im) {
    lam_c128 got = lam_item_complex(t);
    ck_assert_msg(fabs(got.re - re) <= 1e-13 && fabs(got.im - im) <= 1e-13,
                  "line %d: %.17g %+.17g i, not %.17g %+.17g i", line, got.re, got.im, re, im);
}

BODY(size_squared) {
    out[0] = lam_sum(lam_square(lam_abs(in[0])), NULL);
}

BODY(real_of_square) {
    out[0] = lam_real(lam_square(in[0]));
}

BODY(size) {
    out[0] = lam_abs(in[0]);
}

BODY(real_parts_of_direction) {
    out[0] = lam_sum(lam_real(lam_norm_slope(in[0], (lam_axes){0})), NULL);
}

BODY(exponential) {
    out[0] = lam_exp(in[0]);
}

BODY(conjugate) {
    out[0] = lam_conj(in[0]);
}

/* ---- gradients --------------------------------------------------------------------------------------------------- */

/* df/da - i df/db: of a^2 + b^2 it is 2a - 2ib, of Re z^2 = a^2 - b^2 it is 2a + 2ib = 2z. */
START_TEST(the_gradient_of_a_real_function_is_that_of_jax) {
    EXPECT_COMPLEX(apply1(lam_grad(FN(size_squared, 1, 1), NULL), point()), 2 * z0.re, -2 * z0.im);
    EXPECT_COMPLEX(apply1(lam_grad(FN(real_of_square, 1, 1), NULL), point()), 2 * z0.re, 2 * z0.im);
    double r = hypot(z0.re, z0.im);
    EXPECT_COMPLEX(apply1(lam_grad(FN(size, 1, 1), NULL), point()), z0.re / r, -z0.im / r);
}
END_TEST

/* Of (3, 4i), whose length L is 5, and f = (a1 + a2)/L: df/da is 1/L - 3 a/L^3 and df/db is -3 b/L^3. */
START_TEST(directions_of_complex_vectors_have_slopes) {
    lam_tensor *z = lam_complex(VEC(3, 0), VEC(0, 4));
    lam_fn *f = FN(real_parts_of_direction, 1, 1), *slope = lam_grad(f, NULL);
    lam_tensor *g = apply1(slope, z), *y, *dy;
    EXPECT_COMPLEX(lam_index(g, 0, 0), 0.128, 0);
    EXPECT_COMPLEX(lam_index(g, 0, 1), 0.2, 0.096);
    ck_assert_int_eq(lam_jvp(f, LAM_LIST(z), LAM_LIST(lam_complex(VEC(1, 2), VEC(3, 4))), &y, &dy, 1, NULL), LAM_OK);
    EXPECT_NEAR(dy, 1e-15, LAM_DIMS0, 0.128 + 2 * 0.2 - 4 * 0.096);
    g = apply1(slope, point()); /* a/|z|: by a it is b^2/|z|^3, by b -ab/|z|^3 */
    double r = hypot(z0.re, z0.im);
    EXPECT_COMPLEX(g, z0.im * z0.im / (r * r * r), z0.re * z0.im / (r * r * r));
    EXPECT_COMPLEX(lam_index(apply1(slope, lam_mul(z, 0.0)), 0, 0), 0, 0);
}
END_TEST

START_TEST(the_gradient_of_the_size_at_zero_is_zero) {
    EXPECT_COMPLEX(apply1(lam_grad(FN(size, 1, 1), NULL), lam_scalar_complex(ctx, 0, 0)), 0, 0);
}
END_TEST

/* Going against the conjugate of the gradient is steepest descent. */
START_TEST(descent_along_the_conjugate_reaches_the_minimum) {
    lam_tensor *z = point();
    lam_fn *gradient = lam_grad(FN(size_squared, 1, 1), NULL);
    for (int i = 0; i < 60; i++) z = lam_sub(z, lam_mul(0.25, lam_conj(apply1(gradient, z))));
    ck_assert_double_lt(lam_item(lam_abs(z)), 1e-12);
}
END_TEST

START_TEST(a_complex_output_needs_holomorphic) {
    lam_fn *f = FN(exponential, 1, 1);
    apply1(lam_grad(f, NULL), point());
    EXPECT_ERROR(LAM_ERR_DTYPE, "grad", "exponential", "c128", "holomorphic");
    double e = exp(z0.re);
    lam_grad_options holomorphic = {.holomorphic = true};
    EXPECT_COMPLEX(apply1(lam_grad(f, &holomorphic), point()), e * cos(z0.im), e * sin(z0.im));
    EXPECT_COMPLEX(apply1(lam_grad(lam_grad(f, &holomorphic), &holomorphic), point()), e * cos(z0.im), e * sin(z0.im));
}
END_TEST

START_TEST(holomorphic_needs_complex_in_and_out) {
    lam_grad_options holomorphic = {.holomorphic = true};
    apply1(lam_grad(FN(exponential, 1, 1), &holomorphic), num(1));
    EXPECT_ERROR(LAM_ERR_DTYPE, "grad", "input 0", "f64", "holomorphic");
    apply1(lam_grad(FN(size, 1, 1), &holomorphic), point());
    EXPECT_ERROR(LAM_ERR_DTYPE, "grad", "output 0", "f64", "holomorphic");
}
END_TEST

/* A real operand beside a complex one has a real gradient: of |x z|^2 it is 2 x |z|^2. */
BODY(mixed) {
    out[0] = lam_square(lam_abs(lam_mul(in[0], in[1])));
}

START_TEST(real_operands_have_real_gradients) {
    lam_tensor *g = apply2(lam_grad(FN(mixed, 2, 1), NULL), num(3), point());
    ck_assert_int_eq(lam_dtype_of(g), LAM_F64);
    ck_assert_double_eq_tol(lam_item(g), 6 * (z0.re * z0.re + z0.im * z0.im), 1e-13);
    lam_tensor *narrow = lam_cast(num(3), LAM_F32), *z = lam_cast(point(), LAM_C64);
    ck_assert_int_eq(lam_dtype_of(apply2(lam_grad(FN(mixed, 2, 1), NULL), narrow, z)), LAM_F32);
    lam_fn *by_z = lam_grad(FN(mixed, 2, 1), &(lam_grad_options){.argnums = LAM_AXES(1)});
    ck_assert_int_eq(lam_dtype_of(apply2(by_z, narrow, z)), LAM_C64);
}
END_TEST

/* ---- vjp and jvp ------------------------------------------------------------------------------------------------- */

/* Of conj: the tangent and the cotangent are conjugated; of exp both are multiplied by exp(z). */
START_TEST(vjp_does_not_conjugate) {
    lam_tensor *t = lam_scalar_complex(ctx, 0.5, 2), *y, *dy, *gx;
    lam_tensor *primals[] = {point()};
    lam_fn *pullback;
    ck_assert_int_eq(lam_jvp(FN(conjugate, 1, 1), (lam_list){1, primals}, LAM_LIST(t), &y, &dy, 1, NULL), LAM_OK);
    EXPECT_COMPLEX(dy, 0.5, -2);
    ck_assert_int_eq(lam_vjp(FN(conjugate, 1, 1), (lam_list){1, primals}, &y, 1, &pullback, NULL), LAM_OK);
    gx = apply1(pullback, t);
    EXPECT_COMPLEX(gx, 0.5, -2);
    ck_assert_int_eq(lam_vjp(FN(exponential, 1, 1), (lam_list){1, primals}, &y, 1, &pullback, NULL), LAM_OK);
    lam_c128 e = lam_item_complex(y);
    EXPECT_COMPLEX(apply1(pullback, t), e.re * 0.5 - e.im * 2, e.re * 2 + e.im * 0.5);
    apply1(pullback, num(1));
    EXPECT_ERROR(LAM_ERR_DTYPE, "f64", "c128");
}
END_TEST

BODY(many) {
    lam_tensor *z = in[0], *w = lam_div(lam_mul(lam_conj(z), lam_exp(in[1])), lam_add(z, lam_complex(in[2], in[2])));
    out[0] = lam_sum(lam_abs(lam_sub(w, lam_tanh(z))), NULL);
    out[1] = lam_cumprod(lam_pow(w, lam_conj(z)), 0);
}

static void three(lam_tensor *at[3], lam_dtype real, lam_dtype complex) {
    at[0] = lam_cast(lam_complex(VEC(0.5, -1.25, 2), VEC(1, 0.75, -0.5)), complex);
    at[1] = lam_cast(lam_complex(num(0.25), VEC(-0.5, 0.5, 1)), complex);
    at[2] = lam_cast(VEC(1, 2, 3), real);
}

START_TEST(check_grads_knows_complex_numbers) {
    lam_tensor *at[3];
    three(at, LAM_F64, LAM_C128);
    lam_fn *f = FN(many, 3, 2);
    ck_assert_msg(lam_check_grads(f, (lam_list){3, at}, &(lam_check_grads_options){.order = 2}) == LAM_OK, "%s",
                  lam_error(ctx));
    three(at, LAM_F32, LAM_C64);
    ck_assert_msg(lam_check_grads(f, (lam_list){3, at}, NULL) == LAM_OK, "%s", lam_error(ctx));
}
END_TEST

START_TEST(linearize_and_transpose) {
    lam_tensor *primals[] = {point()}, *y;
    lam_fn *linear;
    ck_assert_int_eq(lam_linearize(FN(exponential, 1, 1), (lam_list){1, primals}, &y, 1, &linear, NULL), LAM_OK);
    lam_c128 e = lam_item_complex(y);
    EXPECT_COMPLEX(apply1(linear, lam_scalar_complex(ctx, 0, 1)), -e.im, e.re);
    lam_fn *back = lam_linear_transpose(linear, (lam_list){1, primals});
    EXPECT_COMPLEX(apply1(back, lam_scalar_complex(ctx, 0, 1)), -e.im, e.re);
}
END_TEST

/* ---- Jacobians --------------------------------------------------------------------------------------------------- */

/* Of (t, t^2) cos + i sin: real to complex goes by columns. */
BODY(on_the_circle) {
    out[0] = lam_exp(lam_complex(lam_zeros_like(in[0]), in[0]));
}

static void expect_circle(lam_tensor *j) {
    EXPECT_OK();
    EXPECT_NEAR(lam_real(j), 1e-14, LAM_DIMS(2, 2), -sin(0.5), 0, 0, -sin(2));
    EXPECT_NEAR(lam_imag(j), 1e-14, LAM_DIMS(2, 2), cos(0.5), 0, 0, cos(2));
}

START_TEST(real_to_complex_by_columns) {
    lam_fn *f = FN(on_the_circle, 1, 1);
    expect_circle(apply1(lam_jacfwd(f, NULL), VEC(0.5, 2)));
    expect_circle(apply1(lam_jacobian(f, NULL), VEC(0.5, 2)));
    apply1(lam_jacrev(f, NULL), VEC(0.5, 2));
    EXPECT_ERROR(LAM_ERR_DTYPE, "jacrev", "output 0", "c128");
}
END_TEST

BODY(sizes_squared) {
    out[0] = lam_square(lam_abs(in[0]));
}

static void expect_sizes(lam_tensor *j) {
    EXPECT_OK();
    EXPECT_NEAR(lam_real(j), 1e-14, LAM_DIMS(2, 2), 2, 0, 0, 6);
    EXPECT_NEAR(lam_imag(j), 1e-14, LAM_DIMS(2, 2), -4, 0, 0, -8);
}

START_TEST(complex_to_real_by_rows) {
    lam_tensor *z = lam_complex(VEC(1, 3), VEC(2, 4));
    lam_fn *f = FN(sizes_squared, 1, 1);
    expect_sizes(apply1(lam_jacrev(f, NULL), z));
    expect_sizes(apply1(lam_jacobian(f, NULL), z));
    apply1(lam_jacfwd(f, NULL), z);
    EXPECT_ERROR(LAM_ERR_DTYPE, "jacfwd", "input 0", "c128", "holomorphic");
}
END_TEST

BODY(squares) {
    out[0] = lam_square(in[0]);
}

static void expect_squares(lam_tensor *j) {
    EXPECT_OK();
    EXPECT_NEAR(lam_real(j), 1e-14, LAM_DIMS(2, 2), 2, 0, 0, 6);
    EXPECT_NEAR(lam_imag(j), 1e-14, LAM_DIMS(2, 2), 4, 0, 0, 8);
}

START_TEST(holomorphic_jacobians) {
    lam_jacobian_options o = {.holomorphic = true};
    lam_tensor *z = lam_complex(VEC(1, 3), VEC(2, 4));
    lam_fn *f = FN(squares, 1, 1);
    expect_squares(apply1(lam_jacfwd(f, &o), z));
    expect_squares(apply1(lam_jacrev(f, &o), z));
    expect_squares(apply1(lam_jacobian(f, &o), z));
    lam_tensor *h = apply1(lam_hessian(FN(exponential, 1, 1), &o), point());
    EXPECT_COMPLEX(h, exp(z0.re) * cos(z0.im), exp(z0.re) * sin(z0.im));
    apply1(lam_jacobian(f, NULL), z);
    EXPECT_ERROR(LAM_ERR_DTYPE, "jacobian", "c128", "holomorphic");
}
END_TEST

/* ---- vmap, checkpoint
 * ------------------------------------------------------------------------------------------------ */

START_TEST(gradients_per_example) {
    lam_tensor *z = lam_complex(MAT(2, 2, 1, 2, 3, 4), MAT(2, 2, 5, 6, 7, 8));
    lam_tensor *g = apply1(lam_vmap(lam_grad(FN(size_squared, 1, 1), NULL), NULL), z);
    EXPECT_NEAR(lam_real(g), 1e-14, LAM_DIMS(2, 2), 2, 4, 6, 8);
    EXPECT_NEAR(lam_imag(g), 1e-14, LAM_DIMS(2, 2), -10, -12, -14, -16);
    lam_fn *again = lam_vmap(lam_grad(lam_checkpoint(FN(size_squared, 1, 1), NULL), NULL), NULL);
    EXPECT_SAME(lam_imag(apply1(again, z)), lam_imag(g), 0);
}
END_TEST

/* Hessian-vector product of a^2 + b^2 along v: forward over reverse gives 2 conj(v). */
START_TEST(hessian_vector_products) {
    lam_tensor *in[] = {point(), lam_scalar_complex(ctx, 1, 3)}, *out[3];
    ck_assert_int_eq(lam_call(lam_hvp(FN(size_squared, 1, 1), NULL), (lam_list){2, in}, out, 3), LAM_OK);
    EXPECT_COMPLEX(out[2], 2, -6);
}
END_TEST

static void expect_list(int line, lam_tensor *t, int count, const lam_c128 want[]) {
    for (int i = 0; i < count; i++) expect_complex(line, lam_index(t, 0, i), want[i].re, want[i].im);
}

/* in[0] times in[1] at the places of env. */
BODY(multiplied) {
    out[0] = lam_scatter_mul(in[0], lam_array(ctx, LAM_I64, LAM_DIMS(5), env), in[1], 0, LAM_INDEX_FILL);
}

/* Places 0 and 1 are named twice. What jax.vjp and jax.jvp give of (x0 u0 u2, x1 u1 u3, x2 u4), which is the same: of
 * two updates of place 1 one is zero, then the other too. */
START_TEST(products_at_places_that_are_named_twice) {
    int64_t places[] = {0, 1, 0, 1, -1};
    lam_fn *pullback, *f = FN_ENV(multiplied, 2, 1, places);
    lam_tensor *x = lam_complex(VEC(1, 3, 0), VEC(2, -1, 2)), *g = lam_complex(VEC(1, 2, 0), VEC(1, -1, 1));
    lam_tensor *dx = lam_complex(VEC(0, 1, 2), VEC(1, 0, 0)), *y, *dy, *gx[2];
    lam_tensor *du = lam_complex(VEC(1, 0, 1, 3, 0), VEC(0, 2, -1, 0, 1));
    for (int both = 0; both < 2; both++) {
        lam_tensor *u = lam_complex(VEC(2, 0, 1, both ? 0 : 2, 0), VEC(-1, 0, 1, both ? 0 : 1, 3));
        ck_assert_int_eq(lam_vjp(f, LAM_LIST(x, u), &y, 1, &pullback, NULL), LAM_OK);
        ck_assert_int_eq(lam_call(pullback, LAM_LIST(g), gx, 2), LAM_OK);
        ck_assert_int_eq(lam_jvp(f, LAM_LIST(x, u), LAM_LIST(dx, du), &y, &dy, 1, NULL), LAM_OK);
        expect_list(__LINE__, y, 3, (lam_c128[]){{1, 7}, {0, 0}, {-6, 0}});
        expect_list(__LINE__, dy, 3, (lam_c128[]){{5, 5}, {both ? 0 : -2, both ? 0 : 14}, {-2, 6}});
        expect_list(__LINE__, gx[0], 3, (lam_c128[]){{2, 4}, {0, 0}, {-3, 0}});
        const lam_c128 other = {both ? 0 : 15, both ? 0 : -5};
        expect_list(__LINE__, gx[1], 5, (lam_c128[]){{-4, 2}, other, {1, 7}, {0, 0}, {-2, 0}});
    }
}
END_TEST

Suite *suite_complex_derivatives(void) {
    return SUITE_OF("complex/derivatives", the_gradient_of_a_real_function_is_that_of_jax,
                    directions_of_complex_vectors_have_slopes, the_gradient_of_the_size_at_zero_is_zero,
                    descent_along_the_conjugate_reaches_the_minimum, a_complex_output_needs_holomorphic,
                    holomorphic_needs_complex_in_and_out, real_operands_have_real_gradients, vjp_does_not_conjugate,
                    check_grads_knows_complex_numbers, linearize_and_transpose, real_to_complex_by_columns,
                    complex_to_real_by_rows, holomorphic_jacobians, gradients_per_example, hessian_vector_products,
                    products_at_places_that_are_named_twice);
}
