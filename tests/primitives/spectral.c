/* Orthogonal factors, eigenvalues, singular values and what is made of them, beyond the case table: numbers from NumPy
 * 2.3, SciPy 1.17 and JAX 0.10.2, closed forms where values repeat or are zero, larger sizes by their residuals,
 * matrices that are not finite, and messages. */
#include "tests/support.h"

#include <lamina/extend.h>

/* clang-format off */
static lam_tensor *square(void) { return MAT(3, 3, 1, 2, -1, 0.5, -3, 2, 4, 1, 0.25); }
static lam_tensor *tall(void) { return MAT(3, 2, 1, 2, 3, -4, 0.5, 6); }
static lam_tensor *turned(lam_tensor *x) { return lam_matrix_transpose(x); }
static lam_tensor *identity(int n) { return lam_eye(ctx, LAM_F64, n, n); }
/* clang-format on */

/* No zeros, nothing that repeats. */
static lam_tensor *wild(int m, int n) {
    lam_tensor *row = lam_arange(ctx, LAM_F64, 0, n, 1),
               *column = lam_expand_dims(lam_arange(ctx, LAM_F64, 0, m, 1), 1);
    lam_tensor *phase = lam_add(lam_mul(lam_add(row, 0.4), lam_mul(1.3, column)), lam_mul(0.7, lam_square(row)));
    return lam_sin(lam_add(phase, 0.3));
}
static lam_tensor *worst(lam_tensor *x) {
    return lam_max_reduce(lam_abs(x), NULL);
}
#define SMALL(x, bound) ck_assert_msg(lam_item(worst(x)) <= (bound), "line %d: %g", __LINE__, lam_item(worst(x)))
#define DIMS22          LAM_DIMS(2, 2)
#define DIMS33          LAM_DIMS(3, 3)

/* ---- numbers of others ------------------------------------------------------------------------------------------- */

START_TEST(values_are_those_of_numpy_and_scipy) {
    lam_tensor *a = square(), *t = tall(), *u, *p;
    EXPECT_NEAR(lam_eigvalsh(a), 1e-14, LAM_DIMS(3), -3.6837757294154247, -0.869896293751275, 2.803672023166699);
    EXPECT_NEAR(lam_svdvals(t), 1e-14, LAM_DIMS(2), 7.55295134442529, 3.0336324742368186);
    EXPECT_NEAR(lam_pinv(t, NULL), 1e-14, LAM_DIMS(2, 3), 0.13333333333333333, 0.26666666666666666, 0.13333333333333333,
                0.05238095238095238, -0.0380952380952381, 0.12380952380952381);
    EXPECT_NEAR(lam_expm(lam_mul(0.5, a)), 1e-14, DIMS33, 1.3532488407450334, 0.5888635289155266, -0.2693928043350602,
                0.9735015662780873, 0.576145144877231, 0.48870768842471385, 2.7301425854386516, 1.0706395282615624,
                0.9508925565121126);
    EXPECT_NEAR(lam_expm_frechet(a, lam_matmul(turned(a), a)), 1e-13, DIMS33, 39.40101240189041, 20.834904218996805,
                -3.721160155237067, 31.15117248608582, 15.118309169067075, -2.245349894327305, 85.07689584935956,
                40.82998161983476, -5.837172033083345);
    ck_assert_int_eq(lam_polar(t, &u, &p), LAM_OK);
    EXPECT_NEAR(u, 1e-14, LAM_DIMS(3, 2), 0.38303673146720135, 0.30228810833733033, 0.8605326404300919,
                -0.4602874396889047, 0.3358071427193562, 0.8347199365191129);
    EXPECT_NEAR(p, 1e-14, DIMS22, 3.1325382241171544, -0.6612142424698274, -0.6612142424698274, 7.454045594544956);
    EXPECT_NEAR(lam_lstsq(t, VEC(1, 2, 3), NULL), 1e-14, LAM_DIMS(2), 1.0666666666666667, 0.3476190476190476);
    EXPECT_NEAR(lam_lstsq(turned(t), VEC(1, 2), NULL), 1e-14, LAM_DIMS(3), 0.23809523809523808, 0.19047619047619047,
                0.38095238095238093);
}
END_TEST

static double norm_of_order(lam_tensor *x, lam_matrix_order order) {
    return lam_item(lam_matrix_norm(x, &(lam_matrix_norm_options){.order = order}));
}

START_TEST(norms_and_conditions_are_those_of_numpy) {
    static const struct {
        lam_matrix_order order;
        double norm, cond;
    } rows[] = {
        {LAM_NORM_DEFAULT, 6.025985396596975, 165.5179655366941},
        {LAM_NORM_FROBENIUS, 6.025985396596975, 215.04938567977806},
        {LAM_NORM_NUCLEAR, 8.513134566083414, 307.84311971267766},
        {LAM_NORM_1, 6, 277.5},
        {LAM_NORM_MINUS_1, 3.25, 0},
        {LAM_NORM_2, 4.638253237003135, 165.5179655366941},
        {LAM_NORM_MINUS_2, 0.028022657371141194, 0.006041640233780589},
        {LAM_NORM_INF, 5.5, 258.5},
        {LAM_NORM_MINUS_INF, 4, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ck_assert_double_eq_tol(norm_of_order(square(), rows[i].order), rows[i].norm, 1e-13);
        if (rows[i].cond > 0)
            ck_assert_double_eq_tol(lam_item(lam_matrix_cond(square(), rows[i].order)), rows[i].cond,
                                    1e-10 * rows[i].cond);
    }
    EXPECT_NUM(lam_matrix_cond(MAT(2, 2, 1, 2, 0, 0), LAM_NORM_2), INFINITY);
    lam_tensor *x = lam_reshape(lam_arange(ctx, LAM_F64, 0, 12, 1), LAM_DIMS(2, 3, 2));
    EXPECT(lam_matrix_norm(x, &(lam_matrix_norm_options){.order = LAM_NORM_1, .axes = LAM_AXES(0, 1)}), LAM_DIMS(2), 14,
           16); /* columns are those of axis 1: [4, 10], [5, 11] have the largest sums */
    EXPECT(lam_matrix_norm(x, &(lam_matrix_norm_options){LAM_NORM_INF, LAM_AXES(1, 0), true}), LAM_DIMS(1, 1, 2), 14,
           16);
}
END_TEST

BODY(through_expm) {
    out[0] = lam_sum(lam_sin(lam_expm(lam_mul(0.5, in[0]))), NULL);
}
BODY(through_svd) {
    lam_tensor *u, *s, *vt;
    lam_svd(in[0], &u, &s, &vt, NULL);
    out[0] = lam_sum(lam_sin(lam_matmul(lam_mul(u, lam_log(s)), vt)), NULL);
}
BODY(through_eigh) {
    lam_tensor *w, *v;
    lam_eigh(in[0], &w, &v);
    out[0] = lam_sum(lam_sin(lam_matmul(lam_mul(v, lam_exp(lam_div(w, 3.0))), turned(v))), NULL);
}
BODY(through_qr) {
    lam_tensor *q, *r;
    lam_qr(in[0], &q, &r, NULL);
    lam_tensor *first = lam_sum(lam_cos(lam_matmul(q, turned(lam_abs(q)))), NULL);
    out[0] = lam_add(first, lam_sum(lam_sin(lam_matmul(turned(r), lam_abs(r))), NULL));
}
BODY(through_pinv) {
    out[0] = lam_sum(lam_sin(lam_pinv(in[0], NULL)), NULL);
}
BODY(condition) {
    out[0] = lam_matrix_cond(in[0], LAM_NORM_2);
}

START_TEST(gradients_are_those_of_jax) {
    EXPECT_NEAR(apply1(lam_grad(FN(through_expm, 1, 1), NULL), square()), 1e-12, DIMS33, -0.24929659583510358,
                0.8875265854339207, 1.2215416242724106, 0.10886286124763475, 0.5562829479615986, 0.9208560874526535,
                -0.42142780175416805, 0.14520788256885853, -0.03308427272287433);
    EXPECT_NEAR(apply1(lam_grad(FN(through_svd, 1, 1), NULL), tall()), 1e-12, LAM_DIMS(3, 2), 0.3053094489531242,
                0.22660226744953205, 0.22197245785383782, 0.09840992021785672, 0.24975571201136412,
                -0.010206037440764412);
    EXPECT_NEAR(apply1(lam_grad(FN(through_eigh, 1, 1), NULL), square()), 1e-12, DIMS33, 0.3144943392437505,
                0.4820193899495385, 0.5512295953628955, 0.4820193899495385, 0.3557508007771945, 0.467846712315707,
                0.5512295953628955, 0.467846712315707, 0.43692885495203376);
    EXPECT_NEAR(apply1(lam_grad(FN(through_qr, 1, 1), NULL), tall()), 1e-12, LAM_DIMS(3, 2), 1.3399214206074028,
                3.4091571392531432, 4.0759152150555575, -6.824830038871401, 0.6788137378796235, 10.24050293848966);
    EXPECT_NEAR(apply1(lam_grad(FN(through_pinv, 1, 1), NULL), tall()), 1e-12, LAM_DIMS(3, 2), -0.07416074340084229,
                -0.019222909393914966, -0.12462371837661648, -0.03313006238492537, -0.1470182921464817,
                -0.03852962503042916);
    EXPECT_NEAR(apply1(lam_grad(FN(condition, 1, 1), NULL), square()), 1e-10, DIMS33, 928.0831042125641,
                -2577.8945409011, -4152.153494459488, 495.7210679665112, -1447.2640001644404, -2292.2251182529644,
                -277.18886893465356, 848.335169143565, 1323.0819670181913);
}
END_TEST

/* ---- derivatives against differences ----------------------------------------------------------------------------- */

BODY(all_norms) {
    lam_tensor *parts[8];
    for (int i = 0; i < 8; i++) {
        lam_matrix_norm_options o = {.order = (lam_matrix_order)(i + 1)};
        parts[i] = lam_matrix_norm(in[0], &o);
    }
    out[0] = lam_stack((lam_list){8, parts}, 0);
}
BODY(least_squares) {
    out[0] = lam_lstsq(in[0], lam_sin(lam_slice_axis(in[0], -1, 0, 1)), NULL);
}
BODY(polar_factors) {
    lam_tensor *u, *p;
    lam_polar(in[0], &u, &p);
    out[0] = lam_add(lam_sum(lam_sin(u), NULL), lam_sum(lam_cos(p), NULL));
}
BODY(full_factors) {
    lam_tensor *u, *s, *vt, *q, *r;
    lam_svd(in[0], &u, &s, &vt, &(lam_svd_options){.full_matrices = true});
    lam_qr(in[0], &q, &r, &(lam_qr_options){.full_matrices = true});
    lam_tensor *rest = lam_slice_axis(u, -1, 2, LAM_END), *beyond = lam_slice_axis(q, -1, 2, LAM_END);
    out[0] = lam_add(lam_matmul(rest, turned(rest)), lam_sin(lam_matmul(beyond, turned(beyond))));
}
BODY(conditions) {
    out[0] = lam_add(lam_matrix_cond(in[0], LAM_NORM_1), lam_matrix_cond(in[0], LAM_NORM_FROBENIUS));
}

/* The tall one has two columns more in full factors: their choice must not matter. */
START_TEST(derivatives_agree_with_differences) {
    static const struct {
        lam_body body;
        int rows, columns;
    } cases[] = {
        {through_expm, 3, 3},  {through_svd, 4, 3},   {through_svd, 3, 4},   {through_eigh, 3, 3},
        {through_qr, 4, 3},    {through_qr, 3, 4},    {through_pinv, 4, 2},  {through_pinv, 2, 4},
        {all_norms, 3, 3},     {all_norms, 2, 4},     {least_squares, 4, 2}, {least_squares, 2, 4},
        {polar_factors, 4, 3}, {polar_factors, 2, 3}, {full_factors, 4, 2},  {conditions, 3, 3},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        lam_fn *f = FN(cases[i].body, 1, 1);
        lam_tensor *x =
            lam_add(wild(cases[i].rows, cases[i].columns), lam_eye(ctx, LAM_F64, cases[i].rows, cases[i].columns));
        ck_assert_msg(lam_check_grads(f, LAM_LIST(x), &(lam_check_grads_options){.order = 2}) == LAM_OK, "case %d: %s",
                      (int)i, lam_error(ctx));
        lam_tensor *two = lam_stack(LAM_LIST(x, lam_mul(2.0, x)), 0), *both = apply1(lam_vmap(f, NULL), two);
        EXPECT_SAME(lam_index(both, 0, 1), apply1(f, lam_mul(2.0, x)), 1e-12);
    }
}
END_TEST

/* ---- where values repeat or are zero ----------------------------------------------------------------------------- */

BODY(nuclear) {
    out[0] = lam_matrix_norm(in[0], &(lam_matrix_norm_options){.order = LAM_NORM_NUCLEAR});
}
BODY(spectral) {
    out[0] = lam_matrix_norm(in[0], &(lam_matrix_norm_options){.order = LAM_NORM_2});
}
BODY(nearest) {
    lam_tensor *p;
    lam_polar(in[0], &out[0], &p);
}
BODY(sines_of_eigenvalues) {
    lam_tensor *w, *v;
    lam_eigh(in[0], &w, &v);
    out[0] = lam_add(lam_sum(lam_sin(w), NULL), lam_sum(lam_sin(lam_eigvalsh(in[0])), NULL));
}

/* At an orthogonal matrix q all singular values are 1. The nuclear norm has the gradient q, whose derivative along e is
 * what of e turns q: (e - q e^T q) / 2. */
START_TEST(norms_at_orthogonal_matrices) {
    lam_tensor *q = MAT(3, 3, 0, 1, 0, 0, 0, 1, 1, 0, 0), *e = wild(3, 3), *x, *dx;
    lam_tensor *turn = lam_mul(0.5, lam_sub(e, lam_matmul(q, lam_matmul(turned(e), q))));
    lam_fn *g = lam_grad(FN(nuclear, 1, 1), NULL);
    EXPECT_SAME(apply1(g, q), q, 1e-14);
    ck_assert_int_eq(lam_jvp(g, LAM_LIST(q), LAM_LIST(e), &x, &dx, 1, NULL), LAM_OK);
    EXPECT_SAME(dx, turn, 1e-14);
    ck_assert_int_eq(lam_jvp(FN(nearest, 1, 1), LAM_LIST(q), LAM_LIST(e), &x, &dx, 1, NULL), LAM_OK);
    EXPECT_SAME(dx, turn, 1e-14);
    lam_fn *pullback;
    ck_assert_int_eq(lam_vjp(g, LAM_LIST(q), &x, 1, &pullback, NULL), LAM_OK);
    EXPECT_SAME(apply1(pullback, e), turn, 1e-14); /* the second derivative is symmetric */
    EXPECT_SAME(apply1(lam_grad(FN(spectral, 1, 1), NULL), q), lam_div(q, 3.0), 1e-14); /* the three share it */
}
END_TEST

START_TEST(eigenvalues_that_repeat) {
    EXPECT_NEAR(apply1(lam_grad(FN(sines_of_eigenvalues, 1, 1), NULL), lam_mul(2.0, identity(3))), 1e-15, DIMS33,
                2 * cos(2.0), 0, 0, 0, 2 * cos(2.0), 0, 0, 0, 2 * cos(2.0));
    EXPECT(apply1(lam_grad(FN(sines_of_eigenvalues, 1, 1), NULL), lam_zeros(ctx, LAM_F64, DIMS22)), DIMS22, 2, 0, 0, 2);
}
END_TEST

/* The projector on the space of the two smallest eigenvalues. */
BODY(projector) {
    lam_tensor *w, *v;
    lam_eigh(in[0], &w, &v);
    v = lam_slice_axis(v, -1, 0, 2);
    out[0] = lam_matmul(v, turned(v));
}

/* x = 1 + 2 a a^T with |a| = 1 has 1 twice: p = 1 - a a^T, dp = (p dx q + q dx p) / (1 - 3) with q = a a^T. */
START_TEST(a_projector_on_equal_eigenvalues_has_its_derivative) {
    lam_tensor *a = lam_div(VEC(2, -1, 2), 3.0), *q = lam_outer(a, a), *p = lam_sub(identity(3), q);
    lam_tensor *x = lam_add(identity(3), lam_mul(2.0, q)), *e = lam_add(wild(3, 3), turned(wild(3, 3))), *y, *dy;
    lam_tensor *mixed = lam_matmul(p, lam_matmul(e, q)), *want = lam_div(lam_add(mixed, turned(mixed)), -2.0);
    lam_fn *f = FN(projector, 1, 1), *pullback;
    ck_assert_int_eq(lam_jvp(f, LAM_LIST(x), LAM_LIST(e), &y, &dy, 1, NULL), LAM_OK);
    EXPECT_SAME(y, p, 1e-14);
    EXPECT_SAME(dy, want, 1e-14);
    ck_assert_int_eq(lam_vjp(f, LAM_LIST(x), &y, 1, &pullback, NULL), LAM_OK);
    EXPECT_SAME(apply1(pullback, e), want, 1e-14); /* the derivative is its own transpose */
}
END_TEST

/* Rank 2 of 3, both singular values 2: along e inside the spans dp = -p e p. */
START_TEST(pseudo_inverses_of_deficient_matrices) {
    lam_tensor *x = MAT(3, 3, 2, 0, 0, 0, 2, 0, 0, 0, 0), *e = MAT(3, 3, 1, 2, 0, -3, 4, 0, 0, 0, 0), *p, *dp;
    lam_fn *f = FN(through_pinv, 1, 1);
    EXPECT_NEAR(lam_pinv(x, NULL), 1e-15, DIMS33, 0.5, 0, 0, 0, 0.5, 0, 0, 0, 0);
    ck_assert_int_eq(lam_jvp(f, LAM_LIST(x), LAM_LIST(e), &p, &dp, 1, NULL), LAM_OK);
    EXPECT_NEAR(dp, 1e-15, LAM_DIMS0, -(cos(0.5) * 5 + 2 - 3) / 4); /* cos of 0 off the diagonal */
    EXPECT(apply1(lam_grad(f, NULL), lam_zeros(ctx, LAM_F64, LAM_DIMS(2, 3))), LAM_DIMS(2, 3), 0, 0, 0, 0, 0, 0);
    lam_tensor *ones = lam_ones(ctx, LAM_F64, DIMS22);
    EXPECT_NEAR(lam_lstsq(ones, VEC(1, 3), NULL), 1e-15, LAM_DIMS(2), 1, 1);
    EXPECT(lam_matrix_rank(lam_stack(LAM_LIST(ones, identity(2), lam_zeros_like(ones)), 0), NULL), LAM_DIMS(3), 1, 2,
           0);
    EXPECT(lam_matrix_rank(MAT(2, 2, 1, 0, 0, 0.1), &(lam_rank_options){.rtol = 0.2}), LAM_DIMS0, 1);
}
END_TEST

BODY(weighted_pinv) {
    lam_tensor *p = lam_pinv(in[0], NULL);
    out[0] = lam_sum(lam_mul(p, wild((int)lam_dim(p, 0), (int)lam_dim(p, 1))), NULL);
}

/* The gradient at s x is that at x over s^2, exactly where s is a power of 2, as long as that is in the range. */
START_TEST(pseudo_inverses_of_every_size) {
    static const double sizes[] = {0x1p-480, 0x1p480};
    for (int k = 0; k < 4; k++) {
        lam_tensor *x = k & 1 ? wild(2, 5) : wild(5, 2), *s = lam_scalar(ctx, sizes[k / 2]);
        lam_fn *f = FN(weighted_pinv, 1, 1), *forms[] = {lam_grad(f, NULL), lam_jacfwd(f, NULL)};
        for (int mode = 0; mode < 2; mode++)
            EXPECT_SAME(lam_mul(s, lam_mul(s, apply1(forms[mode], lam_mul(s, x)))), apply1(forms[mode], x), 1e-12);
    }
}
END_TEST

START_TEST(zero_matrices) {
    lam_tensor *zero = lam_zeros(ctx, LAM_F64, DIMS22), *e = MAT(2, 2, 1, 2, 3, 4), *x, *dx;
    EXPECT(apply1(lam_grad(FN(nuclear, 1, 1), NULL), zero), DIMS22, 0, 0, 0, 0);
    EXPECT(apply1(lam_grad(FN(spectral, 1, 1), NULL), zero), DIMS22, 0, 0, 0, 0);
    EXPECT(lam_expm(zero), DIMS22, 1, 0, 0, 1);
    EXPECT_NEAR(lam_expm_frechet(zero, e), 1e-15, DIMS22, 1, 2, 3, 4);
    EXPECT(lam_expm_frechet(e, zero), DIMS22, 0, 0, 0, 0);
    ck_assert_int_eq(lam_jvp(FN(through_expm, 1, 1), LAM_LIST(zero), LAM_LIST(e), &x, &dx, 1, NULL), LAM_OK);
    EXPECT_NEAR(dx, 1e-15, LAM_DIMS0, (cos(1.0) * 5 + 5) / 2);
}
END_TEST

/* ---- determinants of singular matrices --------------------------------------------------------------------------- */

/* clang-format off */
BODY(determinant) { out[0] = lam_det(in[0]); }
BODY(corner_of_expm) { out[0] = lam_index(lam_index(lam_expm(in[0]), 0, 0), 0, 1); }
/* clang-format on */

/* The product of the other diagonal elements is the cofactor of one; of a minor with two rows gone the second
 * derivative. */
START_TEST(determinants_of_singular_matrices_have_derivatives) {
    lam_fn *f = FN(determinant, 1, 1), *g = lam_grad(f, NULL);
    lam_tensor *x = lam_mul(identity(4), VEC(1, 2, 3, 0)), *two = lam_mul(identity(4), VEC(0, 2, 3, 0)), *y, *dy;
    EXPECT_NEAR(apply1(g, x), 1e-14, LAM_DIMS(4, 4), [15] = 6);
    EXPECT_NEAR(apply1(g, two), 1e-14, LAM_DIMS(4, 4), [15] = 0);
    ck_assert_int_eq(lam_jvp(g, LAM_LIST(two), LAM_LIST(identity(4)), &y, &dy, 1, NULL), LAM_OK);
    EXPECT_NEAR(dy, 1e-14, LAM_DIMS(4, 4), [0] = 6, [15] = 6);
    SMALL(apply1(g, lam_zeros_like(x)), 0);
    for (int rank = 1; rank <= 4; rank++) {
        lam_tensor *low = lam_matmul(wild(4, rank), turned(wild(4, rank)));
        ck_assert_msg(lam_check_grads(f, LAM_LIST(low), &(lam_check_grads_options){.order = 2}) == LAM_OK,
                      "rank %d: %s", rank, lam_error(ctx));
    }
    lam_tensor *one = identity(4); /* all its singular values are equal */
    ck_assert_msg(lam_check_grads(f, LAM_LIST(one), &(lam_check_grads_options){.order = 3}) == LAM_OK, "%s",
                  lam_error(ctx));
}
END_TEST

/* ---- eigenvalues of general matrices ----------------------------------------------------------------------------- */

BODY(spectral_radius_squared) {
    lam_tensor *w = lam_eigvals(in[0]), *re = lam_real(w), *im = lam_imag(w);
    out[0] = lam_max_reduce(lam_add(lam_square(re), lam_square(im)), NULL);
}

/* Values from NumPy. The square of the spectral radius of a similar to [[a, -b], [b, a]] and a smaller c. */
START_TEST(eigenvalues_of_general_matrices) {
    lam_tensor *x = MAT(3, 3, 0, -2, 1, 1, 0.5, -3, 2, 1, 1), *w = lam_eigvals(x), *re = lam_real(w), *im = lam_imag(w);
    ck_assert_int_eq(lam_dtype_of(w), LAM_C128);
    ck_assert_int_eq(lam_dtype_of(lam_eigvals(lam_cast(x, LAM_F32))), LAM_C64);
    lam_tensor *order = lam_argsort(lam_add(re, lam_mul(1e-3, im)), 0);
    EXPECT_NEAR(lam_take(re, order, 0), 1e-8, LAM_DIMS(3), -0.46512362, -0.46512362, 2.43024723);
    EXPECT_NEAR(lam_take(im, order, 0), 1e-8, LAM_DIMS(3), -2.35465301, 2.35465301, 0);
    lam_fn *f = FN(spectral_radius_squared, 1, 1);
    ck_assert_msg(lam_check_grads(f, LAM_LIST(x), &(lam_check_grads_options){.order = 2}) == LAM_OK, "%s",
                  lam_error(ctx));
    lam_tensor *turn = MAT(2, 2, 3, -4, 4, 3); /* 3 +- 4 i: r^2 is the determinant */
    EXPECT_NEAR(apply1(lam_grad(FN(spectral_radius_squared, 1, 1), NULL), turn), 1e-14, DIMS22, 3, -4, 4, 3);
    EXPECT(lam_real(lam_eigvals(lam_mul(2.0, identity(3)))), LAM_DIMS(3), 2, 2, 2);
    lam_eigvals(tall());
    EXPECT_ERROR(LAM_ERR_SHAPE, "eigvals", "square");
}
END_TEST

/* ---- sizes, layouts, dtypes -------------------------------------------------------------------------------------- */

static void check_factors(lam_tensor *x, double bound) {
    lam_tensor *q, *r, *u, *s, *vt, *w, *v, *gram = lam_matmul(x, turned(x));
    for (int full = 0; full < 2; full++) {
        ck_assert_int_eq(lam_qr(x, &q, &r, &(lam_qr_options){full}), LAM_OK);
        SMALL(lam_sub(lam_matmul(q, r), x), bound);
        SMALL(lam_sub(r, lam_triu(r, 0)), 0);
        SMALL(lam_sub(lam_matmul(turned(q), q), lam_eye(ctx, lam_dtype_of(x), lam_dim(q, 1), lam_dim(q, 1))), bound);
        ck_assert_int_eq(lam_svd(x, &u, &s, &vt, &(lam_svd_options){full}), LAM_OK);
        int64_t k = lam_dim(s, 0);
        lam_tensor *u1 = lam_slice_axis(u, 1, 0, k), *v1 = lam_slice_axis(vt, 0, 0, k);
        SMALL(lam_sub(lam_matmul(lam_mul(u1, s), v1), x), bound);
        SMALL(lam_sub(lam_matmul(turned(u), u), lam_eye(ctx, lam_dtype_of(x), lam_dim(u, 1), lam_dim(u, 1))), bound);
        SMALL(lam_sub(lam_matmul(vt, turned(vt)), lam_eye(ctx, lam_dtype_of(x), lam_dim(vt, 0), lam_dim(vt, 0))),
              bound);
        SMALL(lam_sub(lam_svdvals(x), s), bound);
    }
    ck_assert_int_eq(lam_eigh(gram, &w, &v), LAM_OK);
    SMALL(lam_sub(lam_matmul(lam_mul(v, w), turned(v)), gram), 20 * bound);
    SMALL(lam_sub(lam_eigvalsh(gram), w), 20 * bound);
}

START_TEST(larger_matrices_by_their_residuals) {
    static const int sizes[][2] = {{60, 60}, {90, 17}, {17, 90}, {33, 1}, {1, 33}, {30, 18}, {200, 50}, {500, 20}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        lam_tensor *x = wild(sizes[i][0], sizes[i][1]);
        check_factors(x, 1e-12);
        check_factors(turned(lam_contiguous(turned(x))), 1e-12);
        check_factors(lam_cast(x, LAM_F32), 1e-3);
    }
}
END_TEST

/* The product of the pivots leaves the range at either end and comes back; each derivative is 1 over its element. */
START_TEST(determinants_whose_parts_leave_the_range) {
    lam_tensor *scales[] = {VEC(1e200, 1e200, 1e-200, 1e-200), VEC(1e-200, 1e-200, 1e200, 1e200)};
    for (int k = 0; k < 2; k++) {
        lam_tensor *x = lam_mul(identity(4), scales[k]);
        EXPECT_NEAR(lam_det(x), 1e-14, LAM_DIMS0, 1);
        EXPECT_SAME(lam_mul(x, apply1(lam_grad(FN(determinant, 1, 1), NULL), x)), identity(4), 1e-14);
    }
}
END_TEST

/* Squarings as many as the norm asks for would leave no digit. By mpmath, from the closed form of two rows. */
START_TEST(exponentials_far_from_normal) {
    lam_tensor *x = MAT(2, 2, 1, 1e10, 0, -1), *units = MAT(2, 2, 1e10, 1, 1e20, 1e10);
    EXPECT_NEAR(lam_expm(x), 1e-4, DIMS22, exp(1), 1.1752011936438014e10, 0, exp(-1));
    lam_tensor *want = MAT(2, 2, 0.77154031740762189, 1.1752011936438015, 0.18393972058572116, 0.40366087623617957);
    lam_fn *f = FN(corner_of_expm, 1, 1), *forms[] = {lam_grad(f, NULL), lam_jacfwd(f, NULL)};
    for (int mode = 0; mode < 2; mode++) EXPECT_SAME(lam_div(apply1(forms[mode], x), units), want, 1e-12);
}
END_TEST

/* exp(x) exp(-x) = 1 for every number of squarings and every degree; a rotation by 100 turns and a half. */
START_TEST(exponentials_of_every_size) {
    for (double size = 0x1p-10; size < 30; size *= 1.7) {
        lam_tensor *x = lam_mul(size / 10, lam_sub(wild(10, 10), turned(wild(10, 10)))); /* exp is orthogonal */
        SMALL(lam_sub(lam_matmul(lam_expm(x), lam_expm(lam_neg(x))), identity(10)), 1e-12);
        lam_tensor *y = lam_cast(x, LAM_F32), *one = lam_matmul(lam_expm(y), lam_expm(lam_neg(y)));
        SMALL(lam_sub(lam_cast(one, LAM_F64), identity(10)), 1e-3);
    }
    double angle = 201 * acos(-1);
    lam_tensor *turn = MAT(2, 2, 0, -angle, angle, 0);
    SMALL(lam_add(lam_expm(turn), identity(2)), 1e-11);
    EXPECT_NEAR(lam_expm(MAT(1, 1, -700)), 1e-12, LAM_DIMS(1, 1), exp(-700));
    EXPECT_NEAR(lam_expm(MAT(2, 2, 0, 1e6, 0, 0)), 1e-12, DIMS22, 1, 1e6, 0, 1);
}
END_TEST

/* ---- what is not finite, and messages ---------------------------------------------------------------------------- */

static void all_nan(lam_tensor *x, bool want) {
    ck_assert_double_eq(lam_item(lam_all(lam_eq(lam_is_nan(x), lam_full(ctx, LAM_BOOL, LAM_DIMS0, want)), NULL)), 1);
}

START_TEST(matrices_that_are_not_finite_give_nan_and_leave_others_alone) {
    static const double bad[] = {NAN, INFINITY, -INFINITY};
    for (int i = 0; i < 3; i++) {
        lam_tensor *broken = lam_add(square(), MAT(3, 3, 0, 0, 0, 0, 0, 0, bad[i], 0, 0)), *out[14];
        lam_tensor *x = lam_stack(LAM_LIST(square(), broken), 0);
        lam_eigh(x, &out[0], &out[1]);
        lam_svd(x, &out[2], &out[3], &out[4], NULL);
        lam_qr(x, &out[5], &out[6], NULL);
        out[7] = lam_eigvalsh(x);
        out[8] = lam_svdvals(x);
        out[9] = lam_pinv(x, NULL);
        out[10] = lam_expm(x);
        out[11] = lam_expm_frechet(x, x);
        out[12] = lam_real(lam_eigvals(x));
        out[13] = lam_imag(lam_eigvals(x));
        for (int k = 0; k < 14; k++) {
            all_nan(lam_index(out[k], 0, 0), false);
            all_nan(lam_index(out[k], 0, 1), true);
        }
    }
}
END_TEST

START_TEST(mistakes_are_named) {
    lam_tensor *a, *b, *c;
    lam_eigh(tall(), &a, &b);
    EXPECT_ERROR(LAM_ERR_SHAPE, "eigh", "square", "f64[3, 2]");
    lam_svd(VEC(1, 2), &a, &b, &c, NULL);
    EXPECT_ERROR(LAM_ERR_RANK, "svd", "matrix", "f64[2]");
    lam_lstsq(tall(), VEC(1, 2), NULL);
    EXPECT_ERROR(LAM_ERR_SHAPE, "lstsq", "rows", "f64[3, 2]", "f64[2]");
    lam_matrix_norm(tall(), &(lam_matrix_norm_options){.order = (lam_matrix_order)99});
    EXPECT_ERROR(LAM_ERR_OPTION, "matrix_norm", "99");
    lam_matrix_norm(tall(), &(lam_matrix_norm_options){.axes = LAM_AXES(0)});
    EXPECT_ERROR(LAM_ERR_AXIS, "matrix_norm");
    lam_matrix_cond(tall(), LAM_NORM_1);
    EXPECT_ERROR(LAM_ERR_SHAPE, "matrix_cond", "square");
    lam_tensor *large = lam_broadcast_to(num(1), LAM_DIMS(20000, 20000));
    lam_qr(large, &a, &b, NULL);
    EXPECT_ERROR(LAM_ERR_OVERFLOW, "qr", "16384");
    lam_svdvals(lam_fail(ctx, LAM_ERR_USER, "mine"));
    EXPECT_ERROR(LAM_ERR_USER, "mine");
    ck_assert_int_eq(lam_dtype_of(lam_svdvals(lam_cast(tall(), LAM_I32))), LAM_F64);
}
END_TEST

/* The rows, applied directly, refuse what their wrappers would have converted or refused. */
START_TEST(rows_refuse_what_their_kernels_cannot_do) {
    static const char *const names[] = {"det", "cofactor", "slogdet", "qr",      "eigh", "eigvalsh",
                                        "svd", "svdvals",  "pinv",    "eigvals", "expm"};
    static const char params[64]; /* of each row: no option, no tolerance */
    lam_tensor *wrong[] = {lam_cast(square(), LAM_I64), VEC(1, 2), num(1)}, *out[4];
    const lam_status status[] = {LAM_ERR_DTYPE, LAM_ERR_RANK, LAM_ERR_RANK};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        for (const lam_primitive *const *p = lam_primitives(); *p; p++)
            for (int k = 0; k < 3 && strcmp((*p)->name, names[i]) == 0; k++) {
                size_t outputs = (size_t)((*p)->outputs ? (*p)->outputs : 1);
                ck_assert_int_ne(lam_bind(ctx, *p, params, sizeof params, LAM_LIST(wrong[k]), out, outputs), LAM_OK);
                EXPECT_ERROR(status[k], names[i]);
            }
}
END_TEST

Suite *suite_primitives_spectral(void) {
    return SUITE_OF("primitives/spectral", values_are_those_of_numpy_and_scipy, norms_and_conditions_are_those_of_numpy,
                    gradients_are_those_of_jax, derivatives_agree_with_differences, norms_at_orthogonal_matrices,
                    eigenvalues_that_repeat, a_projector_on_equal_eigenvalues_has_its_derivative,
                    pseudo_inverses_of_deficient_matrices, zero_matrices,
                    determinants_of_singular_matrices_have_derivatives, eigenvalues_of_general_matrices,
                    larger_matrices_by_their_residuals, exponentials_of_every_size, pseudo_inverses_of_every_size,
                    determinants_whose_parts_leave_the_range, exponentials_far_from_normal,
                    matrices_that_are_not_finite_give_nan_and_leave_others_alone, mistakes_are_named,
                    rows_refuse_what_their_kernels_cannot_do);
}
