/* What is made for neural networks and from points: activations, losses, normalisation, attention, curves. Values and
 * first derivatives are those of jax.nn, jax.numpy and jax.scipy 0.10.2 at the same points, or worked out by hand;
 * second derivatives are compared with differences; the edges are those where formulas written down carelessly give
 * NaN. */
#include "tests/support.h"

/* ---- activations ------------------------------------------------------------------------------------------------- */

/* clang-format off */
BODY(of_relu) { out[0] = lam_relu(in[0]); }
BODY(of_relu6) { out[0] = lam_relu6(in[0]); }
BODY(of_leaky_relu) { out[0] = lam_leaky_relu(in[0], 0.1); }
BODY(of_elu) { out[0] = lam_elu(in[0], 1.5); }
BODY(of_celu) { out[0] = lam_celu(in[0], 1.5); }
BODY(of_selu) { out[0] = lam_selu(in[0]); }
BODY(of_gelu) { out[0] = lam_gelu(in[0]); }
BODY(of_gelu_tanh) { out[0] = lam_gelu_tanh(in[0]); }
BODY(of_silu) { out[0] = lam_silu(in[0]); }
BODY(of_mish) { out[0] = lam_mish(in[0]); }
BODY(of_softsign) { out[0] = lam_softsign(in[0]); }
BODY(of_hard_tanh) { out[0] = lam_hard_tanh(in[0]); }
BODY(of_hard_sigmoid) { out[0] = lam_hard_sigmoid(in[0]); }
BODY(of_hard_silu) { out[0] = lam_hard_silu(in[0]); }
/* The inverse, so that the identity comes out. */
BODY(of_logit) { out[0] = lam_logit(lam_logistic(in[0])); }
BODY(of_log_logistic) { out[0] = lam_log_logistic(in[0]); }
/* clang-format on */

enum { POINTS = 4 };

/* At -3, -0.5, 0.25, 2. */
static const struct {
    lam_body body;
    double value[POINTS], slope[POINTS];
} activations[] = {
    {of_relu, {0, 0, 0.25, 2}, {0, 0, 1, 1}},
    {of_relu6, {0, 0, 0.25, 2}, {0, 0, 1, 1}},
    {of_leaky_relu, {-0.3, -0.05, 0.25, 2}, {0.1, 0.1, 1, 1}},
    {of_elu, {-1.4253193974482041, -0.59020401043104975, 0.25, 2}, {0.074680602551795927, 0.90979598956895014, 1, 1}},
    {of_celu, {-1.296997075145081, -0.42520303413931609, 0.25, 2}, {0.1353352832366127, 0.71653131057378927, 1, 1}},
    {of_selu,
     {-1.6705687287671118, -0.69175818780287124, 0.26267524683887011, 2.1014019747109609},
     {0.087530612080264886, 1.0663411530445053, 1.0507009873554805, 1.0507009873554805}},
    {of_gelu,
     {-0.0040496940948902792, -0.15426876936299344, 0.14967658142073093, 1.9544997361036416},
     {-0.01194564720418392, 0.13250487534383715, 0.69537335488363605, 1.0852318010781969}},
    {of_gelu_tanh,
     {-0.0036373920817730188, -0.15428599017485608, 0.149675350701685, 1.954597694087775},
     {-0.011584166630969726, 0.13263009646535769, 0.69535409515106043, 1.0860992566236184}},
    {of_silu,
     {-0.14227761953270035, -0.1887703343990727, 0.14054412522144952, 1.7615941559557646},
     {-0.088104106015169631, 0.26003881269734819, 0.62371002157019761, 1.0907842487848955}},
    {of_mish,
     {-0.14564746127562461, -0.22074377465173001, 0.16957240966381762, 1.9439589595339946},
     {-0.093393114532320798, 0.28951067791351226, 0.75417266772059288, 1.0693179342794896}},
    {of_softsign, {-0.75, -1 / 3., 0.2, 2 / 3.}, {0.0625, 4 / 9., 0.64, 1 / 9.}},
    {of_hard_tanh, {-1, -0.5, 0.25, 1}, {0, 1, 1, 0}},
    {of_hard_sigmoid, {0, 2.5 / 6, 3.25 / 6, 5 / 6.}, {0, 1 / 6., 1 / 6., 1 / 6.}},
    {of_hard_silu, {0, -1.25 / 6, 0.8125 / 6, 10 / 6.}, {0, 1 / 3., 3.5 / 6, 7 / 6.}},
    {of_logit, {-3, -0.5, 0.25, 2}, {1, 1, 1, 1}},
    {of_log_logistic,
     {-3.0485873515737421, -0.97407698418010668, -0.57593941987884356, -0.1269280110429725},
     {0.95257412682243322, 0.62245933120185456, 0.4378234991142019, 0.11920292202211756}},
};

static lam_tensor *slopes(lam_body body, lam_tensor *x) {
    return apply1(lam_vmap(lam_grad(FN(body, 1, 1), NULL), NULL), x);
}

START_TEST(activations_and_their_slopes_are_those_of_jax) {
    lam_tensor *x = VEC(-3, -0.5, 0.25, 2);
    expect_values(__LINE__, apply1(FN(activations[_i].body, 1, 1), x), 2e-15, LAM_DIMS(POINTS), activations[_i].value,
                  POINTS);
    expect_values(__LINE__, slopes(activations[_i].body, x), 4e-15, LAM_DIMS(POINTS), activations[_i].slope, POINTS);
}
END_TEST

START_TEST(activations_have_second_derivatives) {
    lam_fn *f = FN(activations[_i].body, 1, 1);
    lam_status status = lam_check_grads(f, LAM_LIST(VEC(-2.3, -0.6, 0.4, 1.7)), &(lam_check_grads_options){.order = 2});
    ck_assert_msg(status == LAM_OK, "%d: %s", _i, lam_error(ctx));
}
END_TEST

/* Far out, where squares and exponentials overflow, slopes are what they tend to, and so are second ones. */
START_TEST(activations_far_out) {
    static const struct {
        lam_body body;
        double left, right;
    } ends[] = {
        {of_relu, 0, 1}, {of_leaky_relu, 0.1, 1}, {of_elu, 0, 1},      {of_celu, 0, 1}, {of_gelu, 0, 1},
        {of_silu, 0, 1}, {of_gelu_tanh, 0, 1},    {of_softsign, 0, 0}, {of_mish, 0, 1}, {of_log_logistic, 1, 0},
    };
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        lam_tensor *x = VEC(-1e200, 1e200);
        EXPECT_NEAR(slopes(ends[i].body, x), 1e-15, LAM_DIMS(2), ends[i].left, ends[i].right);
        lam_fn *second = lam_grad(lam_grad(FN(ends[i].body, 1, 1), NULL), NULL);
        EXPECT_NEAR(apply1(lam_vmap(second, NULL), x), 1e-15, LAM_DIMS(2), 0, 0);
    }
}
END_TEST

/* Where one form takes over from another slopes are those of both. From 10 on the slope of both forms of gelu differs
 * from 1 by less than 1e-20. */
START_TEST(slopes_where_forms_change) {
    const lam_body forms[] = {of_gelu, of_gelu_tanh};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        for (double x = 10; x <= 100; x++) EXPECT_NEAR(slopes(forms[i], VEC(-x, x)), 1e-15, LAM_DIMS(2), 0, 1);
}
END_TEST

START_TEST(kinks_have_the_slope_of_the_left) {
    EXPECT(slopes(of_relu, VEC(0, INFINITY)), LAM_DIMS(2), 0, 1);
    EXPECT(slopes(of_relu6, VEC(0, 6)), LAM_DIMS(2), 0, 0);
    EXPECT(slopes(of_leaky_relu, VEC(0)), LAM_DIMS(1), 0.1);
    EXPECT(slopes(of_elu, VEC(0)), LAM_DIMS(1), 1.5);
    EXPECT(slopes(of_softsign, VEC(0, INFINITY, -INFINITY)), LAM_DIMS(3), 1, 0, 0);
    EXPECT(lam_relu(VEC(NAN, -0.5)), LAM_DIMS(2), NAN, 0);
}
END_TEST

START_TEST(relu_keeps_the_dtype) {
    lam_tensor *x = lam_cast(VEC(-3, 9), LAM_I32);
    ck_assert_int_eq(lam_dtype_of(lam_relu(x)), LAM_I32);
    EXPECT(lam_cast(lam_relu6(x), LAM_F64), LAM_DIMS(2), 0, 6);
    ck_assert_int_eq(lam_dtype_of(lam_gelu(lam_cast(x, LAM_F32))), LAM_F32);
}
END_TEST

START_TEST(glu_halves_an_axis) {
    lam_tensor *x = MAT(2, 2, 3, 0, 5, 0);
    EXPECT(lam_glu(x, 1), LAM_DIMS(2, 1), 1.5, 2.5);
    EXPECT_NEAR(lam_glu(x, 0), 1e-15, LAM_DIMS(1, 2), 3 / (1 + exp(-5)), 0);
    lam_glu(VEC(1, 2, 3), 0);
    EXPECT_ERROR(LAM_ERR_SHAPE, "glu", "halved");
    lam_glu(x, 2);
    EXPECT_ERROR(LAM_ERR_AXIS, "glu");
}
END_TEST

/* ---- losses ------------------------------------------------------------------------------------------------------ */

static lam_tensor *logits(void) {
    return MAT(2, 3, 1, -2, 0.5, 0, 3, -1);
}

static lam_tensor *distributions(void) {
    return MAT(2, 3, 0.2, 0.3, 0.5, 0, 1, 0);
}

START_TEST(losses_are_those_of_jax) {
    lam_tensor *labels = lam_cast(VEC(2, 0), LAM_I64);
    EXPECT_NEAR(lam_softmax_cross_entropy(logits(), distributions(), -1), 1e-14, LAM_DIMS(2), 1.6545969023422833,
                0.065883903757429113);
    EXPECT_NEAR(lam_softmax_cross_entropy_with_integer_labels(logits(), labels, -1), 1e-14, LAM_DIMS(2),
                1.0045969023422834, 3.0658839037574293);
    EXPECT_NEAR(lam_kl_divergence(lam_log_softmax(logits(), 1), distributions(), 1), 1e-14, LAM_DIMS(2),
                0.62494388827770975, 0.065883903757429113);
    EXPECT_NEAR(lam_sigmoid_binary_cross_entropy(VEC(1, -2, 0.5), VEC(1, 0, 0.25)), 1e-14, LAM_DIMS(3),
                0.31326168751822281, 0.12692801104297249, 0.84907698418010669);
    EXPECT(lam_squared_error(VEC(1, 2), VEC(3, -1)), LAM_DIMS(2), 4, 9);
    EXPECT(lam_huber_loss(VEC(0.5, 4, -4), num(0), 2), LAM_DIMS(3), 0.125, 6, 6);
    EXPECT_NEAR(lam_log_cosh(VEC(1e-9, 0.5, 3, -1e300), num(0)), 1e-15, LAM_DIMS(4), 5e-19, log(cosh(0.5)),
                log(cosh(3)), 1e300);
    EXPECT_NEAR(lam_cosine_similarity(MAT(2, 2, 3, 4, 0, 0), VEC(1, 0), 1), 1e-15, LAM_DIMS(2), 0.6, 0);
    lam_softmax_cross_entropy_with_integer_labels(logits(), lam_cast(VEC(2, 3), LAM_I64), -1);
    EXPECT_ERROR(LAM_ERR_INDEX, "3");
}
END_TEST

BODY(cross_entropy) {
    out[0] = lam_sum(lam_softmax_cross_entropy(in[0], in[1], -1), NULL);
}

BODY(binary_cross_entropy) {
    out[0] = lam_sum(lam_sigmoid_binary_cross_entropy(in[0], VEC(1, 0, 1, 0)), NULL);
}

BODY(huber) {
    out[0] = lam_sum(lam_huber_loss(in[0], num(0.25), 1), NULL);
}

BODY(log_cosh) {
    out[0] = lam_sum(lam_log_cosh(in[0], num(0.25)), NULL);
}

BODY(similarity) {
    out[0] = lam_cosine_similarity(lam_index(in[0], 0, 0), lam_index(in[0], 0, 1), -1);
}

/* Softmax less the labels; a class that is ruled out (logit -inf, label 0) costs nothing and gets nothing. */
START_TEST(gradients_of_losses_are_finite_at_the_edges) {
    lam_list at = LAM_LIST(VEC(0, -INFINITY, 0), VEC(1, 0, 0));
    EXPECT_NEAR(lam_apply(lam_grad(FN(cross_entropy, 2, 1), NULL), at), 1e-15, LAM_DIMS(3), -0.5, 0, 0.5);
    lam_tensor *g = apply1(lam_grad(FN(binary_cross_entropy, 1, 1), NULL), VEC(1e4, 1e4, -1e4, -1e4));
    EXPECT(g, LAM_DIMS(4), 0, 1, -1, 0);
    EXPECT_NEAR(lam_sigmoid_binary_cross_entropy(num(40), num(1)), 1e-30, LAM_DIMS0, exp(-40));
    EXPECT(apply1(lam_grad(FN(huber, 1, 1), NULL), VEC(0.25, 9, -9)), LAM_DIMS(3), 0, 1, -1);
    EXPECT(apply1(lam_jacfwd(FN(similarity, 1, 1), NULL), MAT(2, 2, 0, 0, 2, -1)), LAM_DIMS(2, 2), 0, 0, 0, 0);
    EXPECT(apply1(lam_grad(FN(similarity, 1, 1), NULL), MAT(2, 2, 1, 3, 0, 0)), LAM_DIMS(2, 2), 0, 0, 0, 0);
}
END_TEST

/* ---- normalisation and attention --------------------------------------------------------------------------------- */

START_TEST(normalisations) {
    lam_tensor *x = logits();
    EXPECT_NEAR(lam_layer_norm(x, NULL, NULL, NULL), 1e-14, LAM_DIMS(2, 3), 0.88899830804225033, -1.3969973412092502,
                0.50799903316700012, -0.39223159141458575, 1.3728105699510502, -0.98057897853646425);
    lam_tensor *by_hand = lam_add(lam_mul(lam_layer_norm(x, NULL, NULL, NULL), VEC(1, 2, 3)), VEC(4, 5, 6));
    EXPECT_SAME(lam_layer_norm(x, VEC(1, 2, 3), VEC(4, 5, 6), NULL), by_hand, 1e-15);
    lam_normalize_options exact = {.epsilon = 1e-300};
    EXPECT_NEAR(lam_rms_norm(VEC(3, 4), VEC(1, 10), &exact), 1e-15, LAM_DIMS(2), 3 / sqrt(12.5), 40 / sqrt(12.5));
    EXPECT_NEAR(lam_batch_norm(MAT(2, 2, 1, 5, 3, 9), 1, NULL, NULL, VEC(1, 2), VEC(0, 7), &exact), 1e-15,
                LAM_DIMS(2, 2), -1, 5, 1, 9);
    EXPECT_NEAR(lam_batch_norm(MAT(2, 2, 1, 5, 3, 9), 0, VEC(1, 2), VEC(4, 9), NULL, NULL, &exact), 1e-15,
                LAM_DIMS(2, 2), 0, 2, 1 / 3., 7 / 3.);
    EXPECT_NEAR(lam_batch_norm(MAT(2, 2, 1, 5, 3, 9), 1, VEC(1, 2), VEC(4, 9), VEC(2, 3), VEC(1, -1), &exact), 1e-15,
                LAM_DIMS(2, 2), 1, 2, 3, 6);
}
END_TEST

/* (1, 3) is (-1, 1) when standardised; the dtype is what a product and a sum make of it. Complex numbers scale too. */
START_TEST(scale_and_offset_of_other_dtypes) {
    const lam_normalize_options exact = {.epsilon = 1e-300};
    lam_tensor *x = VEC(1, 3), *low = lam_cast(x, LAM_F32), *turned = lam_complex(VEC(0, 0), VEC(1, 2));
    lam_tensor *wide = lam_layer_norm(low, lam_cast(VEC(2, 5), LAM_I32), VEC(1, 1), &exact);
    lam_tensor *plane = lam_layer_norm(x, turned, VEC(1, 1), &exact);
    EXPECT_NEAR(wide, 1e-6, LAM_DIMS(2), -1, 6);
    ck_assert_int_eq(lam_dtype_of(wide), LAM_F64);
    EXPECT_NEAR(lam_real(plane), 1e-15, LAM_DIMS(2), 1, 1);
    EXPECT_NEAR(lam_imag(plane), 1e-15, LAM_DIMS(2), -1, 2);
    EXPECT_OK();
}
END_TEST

/* Lanes that are worked on in several parts or several at a time, beside the definitions. */
static void check_lanes(lam_dtype dtype, lam_dims dims, int axis, double tolerance) {
    lam_scope *scope = lam_scope_begin(ctx);
    const lam_reduce_options over = {LAM_AXES(axis), true};
    lam_tensor *x = lam_random_normal(lam_key(ctx, 7), LAM_F64, dims), *terms = lam_exp(x);
    lam_tensor *sum = lam_sum(terms, &over), *narrow = lam_cast(x, dtype);
    lam_tensor *away = lam_sub(x, lam_mean(x, &over)), *variance = lam_mean(lam_square(away), &over);
    EXPECT_SAME(lam_cast(lam_softmax(narrow, axis), LAM_F64), lam_div(terms, sum), tolerance);
    lam_tensor *logs = lam_cast(lam_log_softmax(narrow, axis), LAM_F64); /* near 0 the definition cancels digits */
    EXPECT_SAME(lam_add(100.0, logs), lam_add(100.0, lam_sub(x, lam_log(sum))), tolerance);
    const lam_normalize_options o = {LAM_AXES(axis), 0.5};
    lam_tensor *standard = lam_cast(lam_standardize(narrow, &o), LAM_F64); /* near 0 the mean has cancelled digits */
    EXPECT_SAME(lam_add(100.0, standard), lam_add(100.0, lam_div(away, lam_sqrt(lam_add(variance, 0.5)))), tolerance);
    lam_scope_end(scope, NULL, 0);
}

START_TEST(lanes_of_all_lengths) {
    static const int64_t sizes[][3] = {{2, 20000, 1}, {1, 9001, 3}, {2, 600, 70},
                                       {1500, 3, 1},  {3, 2, 2000}, {700, 33, 2}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        check_lanes(LAM_F64, (lam_dims){3, sizes[i]}, 1, 3e-15);
        check_lanes(LAM_F32, (lam_dims){3, sizes[i]}, 1, 2e-6);
    }
}
END_TEST

/* A weighed sum of standardised lanes, by the operation and by its definition. */
BODY(standard_weighed) {
    out[0] = lam_sum(lam_mul(in[1], lam_standardize(in[0], &(lam_normalize_options){.epsilon = 0.5})), NULL);
}

BODY(defined_weighed) {
    const lam_reduce_options over = {LAM_AXES(-1), true};
    lam_tensor *away = lam_sub(in[0], lam_mean(in[0], &over)), *variance = lam_mean(lam_square(away), &over);
    out[0] = lam_sum(lam_mul(in[1], lam_div(away, lam_sqrt(lam_add(variance, 0.5)))), NULL);
}

/* Lanes on both sides of what is summed without its products; both modes, and one over the other. */
START_TEST(long_lanes_have_the_derivatives_of_the_definition) {
    static const int64_t lengths[] = {3, 31, 32, 33, 100};
    lam_fn *f = FN(standard_weighed, 2, 1), *g = FN(defined_weighed, 2, 1);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        const lam_dims dims = LAM_DIMS(5, lengths[i]);
        lam_tensor *x = lam_random_normal(lam_key(ctx, 7), LAM_F64, dims), *w = lam_cos(lam_mul(3.0, x)),
                   *t = lam_sin(x);
        lam_tensor *y[4], *dy[4];
        EXPECT_SAME(apply2(lam_grad(f, NULL), x, w), apply2(lam_grad(g, NULL), x, w), 1e-13);
        lam_fn *each[] = {f, g, lam_grad(f, NULL), lam_grad(g, NULL)};
        for (int k = 0; k < 4; k++)
            ck_assert_int_eq(lam_jvp(each[k], LAM_LIST(x, w), LAM_LIST(t, NULL), &y[k], &dy[k], 1, NULL), LAM_OK);
        EXPECT_SAME(dy[0], dy[1], 1e-12);
        EXPECT_SAME(dy[2], dy[3], 1e-12);
    }
}
END_TEST

START_TEST(axes_apart_are_standardized_together) {
    lam_tensor *x = lam_random_normal(lam_key(ctx, 3), LAM_F64, LAM_DIMS(3, 4, 5));
    lam_tensor *moved = lam_reshape(lam_transpose(x, LAM_AXES(1, 0, 2)), LAM_DIMS(4, 15));
    lam_tensor *want = lam_transpose(lam_reshape(lam_standardize(moved, NULL), LAM_DIMS(4, 3, 5)), LAM_AXES(1, 0, 2));
    EXPECT_SAME(lam_standardize(x, &(lam_normalize_options){.axes = LAM_AXES(0, 2)}), want, 1e-15);
    EXPECT_SAME(lam_standardize(x, &(lam_normalize_options){.axes = LAM_AXES(2, 0)}), want, 1e-15);
    EXPECT_SAME(lam_standardize(x, &(lam_normalize_options){.axes = LAM_AXES(0, 1, 2)}),
                lam_reshape(lam_standardize(lam_reshape(x, LAM_DIMS(60)), NULL), LAM_DIMS(3, 4, 5)), 1e-15);
    EXPECT(lam_standardize(VEC(1, 2), &(lam_normalize_options){.axes = LAM_NO_AXES}), LAM_DIMS(2), 0, 0);
}
END_TEST

BODY(normalised) {
    out[0] = lam_layer_norm(in[0], in[1], in[2], NULL);
}

BODY(batch_normalised) {
    out[0] = lam_batch_norm(in[0], 1, NULL, NULL, in[1], in[2], NULL);
}

BODY(attended) {
    out[0] = lam_attention(in[0], in[1], in[2], NULL);
}

BODY(attended_masked) {
    lam_tensor *mask = lam_cast(MAT(2, 3, 1, 0, 1, 0, 0, 0), LAM_BOOL);
    out[0] = lam_attention(in[0], in[1], in[2], &(lam_attention_options){.mask = mask});
}

static lam_tensor *query(void) {
    return MAT(2, 2, 1, 0.5, -0.25, 2);
}

static lam_tensor *key(void) {
    return MAT(3, 2, 0.5, -1, 1.5, 0.25, 0, 1);
}

static lam_tensor *value(void) {
    return MAT(3, 2, 1, 2, 3, 4, 5, 6);
}

START_TEST(attention_is_that_of_jax) {
    EXPECT_NEAR(lam_attention(query(), key(), value(), NULL), 1e-14, LAM_DIMS(2, 2), 3.1520328288535748,
                4.1520328288535753, 4.4335104482710896, 5.4335104482710888);
    EXPECT_NEAR(lam_attention(query(), key(), value(), &(lam_attention_options){.causal = true}), 1e-14, LAM_DIMS(2, 2),
                1, 2, 2.6615107595417595, 3.6615107595417595);
    EXPECT_NEAR(lam_attention(query(), key(), value(), &(lam_attention_options){.scale = 1e-300}), 1e-14,
                LAM_DIMS(2, 2), 3, 4, 3, 4);
    lam_tensor *bias = VEC(-INFINITY, 0, -INFINITY);
    EXPECT(lam_attention(query(), key(), value(), &(lam_attention_options){.bias = bias}), LAM_DIMS(2, 2), 3, 4, 3, 4);
    lam_attention(VEC(1), key(), value(), NULL);
    EXPECT_ERROR(LAM_ERR_RANK, "attention");
}
END_TEST

/* The second query may look at nothing. */
START_TEST(a_query_without_keys_gives_zero_and_no_gradient) {
    lam_list at = LAM_LIST(query(), key(), value());
    lam_tensor *y = lam_apply(FN(attended_masked, 3, 1), at), *all[3];
    EXPECT(lam_index(y, 0, 1), LAM_DIMS(2), 0, 0);
    lam_fn *jacobian = lam_jacrev(FN(attended_masked, 3, 1), &(lam_jacobian_options){.argnums = LAM_AXES(0, 1, 2)});
    lam_call(jacobian, at, all, 3);
    for (int i = 0; i < 3; i++) {
        EXPECT_NUM(lam_cast(lam_all(lam_is_finite(all[i]), NULL), LAM_F64), 1);
        EXPECT_NUM(lam_sum(lam_abs(lam_index(all[i], 0, 1)), NULL), 0);
    }
}
END_TEST

START_TEST(attention_refuses_by_its_name) {
    lam_tensor *q = lam_zeros(ctx, LAM_F64, LAM_DIMS(4, 3)), *k = lam_zeros(ctx, LAM_F64, LAM_DIMS(5, 3));
    lam_attention(q, lam_zeros(ctx, LAM_F64, LAM_DIMS(5, 2)), k, NULL);
    EXPECT_ERROR(LAM_ERR_SHAPE, "attention", "queries have 3 features, keys 2");
    lam_attention(q, k, q, NULL);
    EXPECT_ERROR(LAM_ERR_SHAPE, "attention", "there are 5 keys and 4 values");
    lam_attention(q, k, lam_zeros(ctx, LAM_F64, LAM_DIMS(5)), NULL);
    EXPECT_ERROR(LAM_ERR_RANK, "attention", "two axes");
}
END_TEST

static const struct {
    lam_body body;
    int inputs;
    bool attention;
} layers[] = {{normalised, 3, false}, {batch_normalised, 3, false}, {attended, 3, true},   {attended_masked, 3, true},
              {huber, 1, false},      {log_cosh, 1, false},         {similarity, 1, false}};

START_TEST(layers_have_second_derivatives) {
    lam_tensor *rows[] = {logits(), VEC(1, 0.5, -1), VEC(0.1, 0.2, 0.3)}, *heads[] = {query(), key(), value()};
    lam_list at = {(size_t)layers[_i].inputs, layers[_i].attention ? heads : rows};
    lam_status status =
        lam_check_grads(FN(layers[_i].body, layers[_i].inputs, 1), at, &(lam_check_grads_options){.order = 2});
    ck_assert_msg(status == LAM_OK, "%d: %s", _i, lam_error(ctx));
}
END_TEST

/* ---- functions given by points
 * --------------------------------------------------------------------------------------- */

BODY(interpolated) {
    out[0] = lam_interp(in[0], in[1], in[2]);
}

BODY(integrated) {
    out[0] = lam_trapezoid(in[0], in[1], 1, 1);
}

BODY(polynomial) {
    out[0] = lam_polyval(in[0], in[1]);
}

START_TEST(curves_are_those_of_numpy) {
    lam_tensor *xp = VEC(0, 1, 3), *fp = VEC(2, -1, 4);
    EXPECT_NEAR(lam_interp(VEC(-1, 0.5, 1, 2.5, 9), xp, fp), 1e-15, LAM_DIMS(5), 2, 0.5, -1, 2.75, 4);
    EXPECT(lam_interp(VEC(-1, 0, 5), VEC(0), VEC(7)), LAM_DIMS(3), 7, 7, 7);
    EXPECT(lam_interp(VEC(NAN, INFINITY, -INFINITY), VEC(0), VEC(7)), LAM_DIMS(3), NAN, 7, 7);
    EXPECT(lam_interp(VEC(NAN, 1, INFINITY), VEC(1, 1), VEC(7, 8)), LAM_DIMS(3), NAN, 8, 8);
    EXPECT_NEAR(lam_trapezoid(logits(), VEC(0, 0.5, 2), 1, 1), 1e-15, LAM_DIMS(2), -1.375, 2.25);
    EXPECT(lam_trapezoid(logits(), NULL, 2, 0), LAM_DIMS(3), 1, 1, -0.5);
    EXPECT(lam_polyval(VEC(2, -1, 0.5), VEC(-3, -0.5, 0.25, 2)), LAM_DIMS(4), 21.5, 1.5, 0.375, 6.5);
    EXPECT(lam_polyval(lam_zeros(ctx, LAM_F64, LAM_DIMS(0)), VEC(1, 2)), LAM_DIMS(2), 0, 0);
    lam_interp(num(0), xp, VEC(1, 2));
    EXPECT_ERROR(LAM_ERR_SHAPE, "interp");
    lam_polyval(num(1), xp);
    EXPECT_ERROR(LAM_ERR_RANK, "polyval");
    lam_trapezoid(VEC(1, 2, 3, 4), VEC(0, 1), 1, 0);
    EXPECT_ERROR(LAM_ERR_SHAPE, "trapezoid", "2 places for 4 samples");
    lam_cumulative_trapezoid(VEC(1, 2, 3, 4), MAT(2, 2, 0, 1, 2, 3), 1, 0);
    EXPECT_ERROR(LAM_ERR_SHAPE, "cumulative_trapezoid", "2 places for 4 samples");
    lam_trapezoid(xp, NULL, 1, 1);
    EXPECT_ERROR(LAM_ERR_AXIS, "trapezoid");
}
END_TEST

/* More points than one block, or one chunk of blocks, holds; whole numbers, so that every step is exact. */
START_TEST(polynomials_at_many_points) {
    enum { N = 9001 };
    lam_dtype dtype = _i ? LAM_F32 : LAM_F64;
    lam_tensor *at = lam_arange(ctx, dtype, 0, N, 1), *y = lam_polyval(lam_cast(VEC(-3, 0.5), dtype), at);
    EXPECT_SAME(y, lam_add(lam_mul(-3.0, at), 0.5), 0);
    y = lam_polyval(lam_cast(VEC(1, -1, 7), dtype), lam_slice_axis(at, 0, 0, 3000));
    for (int i = 0; i < 3000; i++) ck_assert(lam_item(lam_index(y, 0, i)) == i * (i - 1) + 7);
    lam_tensor *sign = lam_where(lam_eq(lam_mod(at, 2), 1), -1.0, lam_ones_like(at));
    EXPECT(lam_cast(lam_power_sums(lam_ones_like(at), sign, 5), LAM_F64), LAM_DIMS(5), N, 1, N, 1, N);
    lam_tensor *some = lam_slice_axis(at, 0, 0, 3001), *turns = lam_slice_axis(sign, 0, 0, 3001);
    EXPECT(lam_cast(lam_power_sums(some, turns, 2), LAM_F64), LAM_DIMS(2), 1500, 4501500);
    EXPECT(lam_polyval(VEC(1, 0), VEC(INFINITY, -INFINITY)), LAM_DIMS(2), INFINITY, -INFINITY);
    EXPECT(lam_polyval(VEC(1), VEC(INFINITY, NAN)), LAM_DIMS(2), 1, 1);
}
END_TEST

START_TEST(curves_have_second_derivatives) {
    const lam_check_grads_options second = {.order = 2};
    lam_tensor *xp = VEC(0, 1, 3), *fp = VEC(2, -1, 4), *x = VEC(-1, 0.5, 2.5, 9);
    ck_assert_int_eq(lam_check_grads(FN(interpolated, 3, 1), LAM_LIST(x, xp, fp), &second), LAM_OK);
    ck_assert_int_eq(lam_check_grads(FN(integrated, 2, 1), LAM_LIST(logits(), xp), &second), LAM_OK);
    ck_assert_int_eq(lam_check_grads(FN(polynomial, 2, 1), LAM_LIST(fp, xp), &second), LAM_OK);
    EXPECT_OK();
}
END_TEST

START_TEST(logarithms_of_sums_and_terms_of_entropy) {
    EXPECT_NEAR(lam_logaddexp2(VEC(3, 1000, -INFINITY), VEC(3, 0, -INFINITY)), 1e-15, LAM_DIMS(3), 4, 1000, -INFINITY);
    EXPECT(lam_xlog1py(VEC(0, 2, 0), VEC(-1, 0, INFINITY)), LAM_DIMS(3), 0, 0, 0);
    EXPECT_NEAR(lam_xlog1py(VEC(3), VEC(1e-20)), 1e-15, LAM_DIMS(1), 3e-20);
    EXPECT_NEAR(lam_entr(VEC(0, 1, 0.5, -1)), 1e-16, LAM_DIMS(4), 0, 0, 0.5 * log(2), -INFINITY);
    EXPECT_NEAR(lam_rel_entr(VEC(0, 2, 1, -1), VEC(0, 1, 0, 1)), 1e-15, LAM_DIMS(4), 0, 2 * log(2), INFINITY, INFINITY);
    EXPECT_NEAR(lam_kl_div(VEC(0, 2), VEC(3, 1)), 1e-15, LAM_DIMS(2), 3, 2 * log(2) - 1);
    EXPECT(lam_kl_div(VEC(1, -INFINITY, 0, 0), VEC(-INFINITY, 1, -INFINITY, INFINITY)), LAM_DIMS(4), INFINITY, INFINITY,
           INFINITY, INFINITY);
}
END_TEST

BODY(slope_of_mish) {
    out[0] = lam_mish_slope(in[0]);
}

/* At 0.5, by mpmath 1.3 at 60 digits; the kernel's orders end with the 15th derivative of mish. */
START_TEST(mish_has_derivatives_of_high_order) {
    static const double want[] = {0.4680533778448866,  -0.5378588376774168, -0.47284111957241654, 2.1810801719968476,
                                  1.3403474703629024,  -17.26099782082511,  -4.168138057176583,   226.19434929308005,
                                  -67.22976366097883,  -4428.727172532023,  4603.849788162234,    120670.51262464929,
                                  -244310.93735122052, -4343869.231529324};
    lam_fn *f = FN(slope_of_mish, 1, 1);
    for (size_t k = 0; k < sizeof want / sizeof want[0]; k++) {
        f = lam_grad(f, NULL);
        EXPECT_NEAR(apply1(f, lam_scalar(ctx, 0.5)), 1e-15, LAM_DIMS0, want[k]);
    }
    ck_assert(lam_failed(apply1(lam_grad(f, NULL), lam_scalar(ctx, 0.5))));
    EXPECT_ERROR(LAM_ERR_RULE, "mish");
}
END_TEST

Suite *suite_primitives_neural(void) {
    Suite *suite = SUITE_OF(
        "primitives/neural", activations_far_out, mish_has_derivatives_of_high_order, slopes_where_forms_change,
        kinks_have_the_slope_of_the_left, relu_keeps_the_dtype, glu_halves_an_axis, losses_are_those_of_jax,
        gradients_of_losses_are_finite_at_the_edges, normalisations, scale_and_offset_of_other_dtypes,
        lanes_of_all_lengths, long_lanes_have_the_derivatives_of_the_definition, axes_apart_are_standardized_together,
        attention_is_that_of_jax, a_query_without_keys_gives_zero_and_no_gradient, attention_refuses_by_its_name,
        curves_are_those_of_numpy, curves_have_second_derivatives, logarithms_of_sums_and_terms_of_entropy);
    const int count = sizeof activations / sizeof *activations;
    suite_loop(suite, polynomials_at_many_points, 2);
    suite_loop(suite, activations_and_their_slopes_are_those_of_jax, count);
    suite_loop(suite, activations_have_second_derivatives, count);
    suite_loop(suite, layers_have_second_derivatives, (int)(sizeof layers / sizeof *layers));
    return suite;
}
