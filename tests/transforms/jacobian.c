/* Jacobians, Hessians and Hessian-vector products, all modes against each other and against derivatives worked out
 * by hand. */
#include "tests/support.h"

#include <lamina/extend.h>

typedef lam_fn *make(lam_fn *f, const lam_jacobian_options *options);

static make *const modes[] = {lam_jacfwd, lam_jacrev, lam_jacobian};
enum { MODES = 3 };

/* (x0 x1, x1^2, 3 x0): rows (x1, x0), (0, 2 x1), (3, 0). */
BODY(three_of_two) {
    lam_tensor *a = lam_index(in[0], 0, 0), *b = lam_index(in[0], 0, 1);
    out[0] = lam_stack(LAM_LIST(lam_mul(a, b), lam_square(b), lam_mul(3.0, a)), 0);
}

START_TEST(the_modes_agree) {
    for (int i = 0; i < MODES; i++)
        EXPECT(apply1(modes[i](FN(three_of_two, 1, 1), NULL), VEC(5, 7)), LAM_DIMS(3, 2), 7, 5, 0, 14, 3, 0);
}
END_TEST

BODY(outer) {
    out[0] = lam_mul(lam_reshape(in[0], LAM_DIMS(2, 1)), in[1]);
    out[1] = lam_sum(in[1], NULL);
}

/* Outputs [2, 2] and []; inputs [2] and [2]. d(x_i y_j)/dx_k = [i = k] y_j, by y_k: [j = k] x_i. */
START_TEST(blocks_are_output_major_with_dims_of_output_then_input) {
    lam_tensor *b[4];
    lam_jacobian_options o = {.argnums = LAM_AXES(1, 0)};
    for (int i = 0; i < MODES; i++) {
        lam_call(modes[i](FN(outer, 2, 2), &o), LAM_LIST(VEC(2, 3), VEC(5, 7)), b, 4);
        EXPECT(b[0], LAM_DIMS(2, 2, 2), 2, 0, 0, 2, 3, 0, 0, 3);
        EXPECT(b[1], LAM_DIMS(2, 2, 2), 5, 0, 7, 0, 0, 5, 0, 7);
        EXPECT(b[2], LAM_DIMS(2), 1, 1);
        EXPECT(b[3], LAM_DIMS(2), 0, 0);
    }
}
END_TEST

BODY(scalar_to_scalar) {
    out[0] = lam_integer_pow(in[0], 3);
}

START_TEST(rank_0_in_and_out) {
    for (int i = 0; i < MODES; i++) EXPECT_NUM(apply1(modes[i](FN(scalar_to_scalar, 1, 1), NULL), num(2)), 12);
    EXPECT_NUM(apply1(lam_hessian(FN(scalar_to_scalar, 1, 1), NULL), num(2)), 12);
}
END_TEST

BODY(mixed_dtypes) {
    out[0] = lam_mul(in[0], lam_cast(in[1], LAM_F64));
}

START_TEST(dtypes_of_blocks_are_promoted) {
    lam_tensor *y = lam_full(ctx, LAM_F32, LAM_DIMS0, 3), *b[2];
    for (int i = 0; i < MODES; i++) {
        lam_call(modes[i](FN(mixed_dtypes, 2, 1), &(lam_jacobian_options){.argnums = LAM_AXES(0, 1)}),
                 LAM_LIST(VEC(1, 2), y), b, 2);
        EXPECT(b[0], LAM_DIMS(2, 2), 3, 0, 0, 3);
        EXPECT(b[1], LAM_DIMS(2), 1, 2);
        ck_assert_int_eq(lam_dtype_of(b[1]), LAM_F64);
    }
}
END_TEST

BODY(three_of_none) {
    out[0] = lam_add(VEC(1, 2, 3), lam_sum(in[0], NULL));
}

START_TEST(chunks_equal_the_whole) {
    for (int i = 0; i < MODES; i++)
        for (int chunk = 1; chunk <= 4; chunk++) {
            lam_fn *j = modes[i](FN(three_of_two, 1, 1), &(lam_jacobian_options){.chunk_size = chunk});
            EXPECT(apply1(j, VEC(5, 7)), LAM_DIMS(3, 2), 7, 5, 0, 14, 3, 0);
        }
}
END_TEST

enum { WIDE_IN = 16, WIDE = 2000 };

/* Sums of the rows of sin(x_i k / WIDE), k < WIDE: each of its steps makes WIDE_IN times WIDE elements. */
BODY(wide_inside) {
    lam_tensor *k = lam_mul(1.0 / WIDE, lam_arange(ctx, LAM_F64, 0, WIDE, 1));
    out[0] = lam_sum(lam_sin(lam_mul(lam_reshape(in[0], LAM_DIMS(WIDE_IN, 1)), k)),
                     &(lam_reduce_options){.axes = LAM_AXES(1)});
}

/* What is alive at most beyond what was there before, in intermediates of one row. */
static double peak_of_rows(lam_fn *jacobian, lam_tensor *x) {
    size_t bytes = lam_ctx_bytes(ctx);
    lam_ctx_reset_peak(ctx);
    lam_drop(apply1(jacobian, x));
    return (double)(lam_ctx_peak_bytes(ctx) - bytes) / (WIDE_IN * WIDE * sizeof(double));
}

/* Beside the values of the function itself and what the tape saves of them (5 at most), a chunk of k rows has the
 * operand and the result of one step: 2 k, and in forward mode the derivative on its way. */
START_TEST(a_chunk_holds_the_intermediates_of_its_rows_and_no_more) {
    lam_tensor *x = lam_full(ctx, LAM_F64, LAM_DIMS(WIDE_IN), 0.5);
    for (int i = 0; i < MODES; i++) {
        double whole = peak_of_rows(modes[i](FN(wide_inside, 1, 1), NULL), x);
        ck_assert_msg(whole >= 2 * WIDE_IN, "mode %d: %g", i, whole);
        for (int chunk = 1; chunk <= 4; chunk++) {
            double rows =
                peak_of_rows(modes[i](FN(wide_inside, 1, 1), &(lam_jacobian_options){.chunk_size = chunk}), x);
            ck_assert_msg(rows <= 5 + 3 * chunk, "mode %d: %g of chunks of %d", i, rows, chunk);
        }
    }
}
END_TEST

/* 2 x as a primitive without batching rule: in chunks of one it needs none. */
static lam_status shape_twice(const lam_call_site *call, lam_shape out[]) {
    out[0].dtype = (lam_dtype)call->in[0]->dtype;
    out[0].rank = call->in[0]->rank;
    for (int i = 0; i < out[0].rank; i++) out[0].dims[i] = call->in[0]->dims[i];
    return LAM_OK;
}

static lam_status eval_twice(const lam_call_site *call, lam_value *const out[]) {
    for (int64_t i = 0; i < call->in[0]->count; i++)
        ((double *)out[0]->data)[i] = 2 * ((const double *)call->in[0]->data)[i];
    return LAM_OK;
}

static lam_tensor *twice(const lam_primitive *row, lam_tensor *x) {
    lam_tensor *y = NULL;
    lam_bind(ctx, row, NULL, 0, LAM_LIST(x), &y, 1);
    return y;
}

static void vjp_twice(const lam_rule *r, lam_tensor *const g[], lam_tensor *gx[]) {
    gx[0] = twice(r->primitive, g[0]);
}

static const lam_primitive row_twice = {.name = "twice",
                                        .inputs = 1,
                                        .derivative = LAM_LINEAR,
                                        .linear = 1u,
                                        .shape = shape_twice,
                                        .eval = eval_twice,
                                        .vjp = vjp_twice};

BODY(doubled_squares) {
    out[0] = twice(&row_twice, lam_square(in[0]));
}

START_TEST(chunks_of_one_need_no_batching_rule) {
    lam_tensor *none = lam_zeros(ctx, LAM_F64, LAM_DIMS(0));
    lam_fn *f = FN(doubled_squares, 1, 1);
    for (int i = 0; i < MODES; i++) {
        lam_fn *j = modes[i](f, &(lam_jacobian_options){.chunk_size = 1});
        EXPECT(apply1(j, VEC(3, 5)), LAM_DIMS(2, 2), 12, 0, 0, 20);
        EXPECT_NUM(apply1(j, num(3)), 12);
        EXPECT_EMPTY(apply1(modes[i](FN(three_of_none, 1, 1), &(lam_jacobian_options){.chunk_size = 1}), none),
                     LAM_DIMS(3, 0));
        apply1(modes[i](f, NULL), VEC(3, 5));
        EXPECT_ERROR(LAM_ERR_RULE, "twice: ", "no batch rule", "doubled_squares");
    }
}
END_TEST

START_TEST(bad_options_are_refused) {
    lam_fn *f = FN(three_of_two, 1, 1);
    for (int i = 0; i < MODES; i++) {
        ck_assert(lam_failed(modes[i](f, &(lam_jacobian_options){.chunk_size = -1})));
        EXPECT_ERROR(LAM_ERR_OPTION, "chunk_size", "three_of_two", "-1");
        ck_assert(lam_failed(modes[i](f, &(lam_jacobian_options){.argnums = LAM_AXES(1)})));
        EXPECT_ERROR(LAM_ERR_OPTION, "argnum 1", "three_of_two");
        ck_assert(lam_failed(modes[i](f, &(lam_jacobian_options){.has_aux = 1})));
        EXPECT_ERROR(LAM_ERR_OPTION, "has_aux", "three_of_two");
    }
}
END_TEST

BODY(with_aux) {
    out[0] = lam_square(in[0]);
    out[1] = lam_gt(in[0], 0);
}

START_TEST(auxiliary_outputs_and_values) {
    lam_tensor *b[3];
    lam_jacobian_options o = {.has_aux = 1};
    for (int i = 0; i < MODES; i++) {
        lam_call(modes[i](FN(with_aux, 1, 2), &o), LAM_LIST(VEC(1, 2)), b, 2);
        EXPECT(b[0], LAM_DIMS(2, 2), 2, 0, 0, 4);
        EXPECT(b[1], LAM_DIMS(2), 1, 1);
    }
    lam_call(lam_value_and_jacobian(FN(with_aux, 1, 2), &o), LAM_LIST(VEC(1, 2)), b, 3);
    EXPECT(b[0], LAM_DIMS(2), 1, 4);
    EXPECT(b[1], LAM_DIMS(2, 2), 2, 0, 0, 4);
    EXPECT(b[2], LAM_DIMS(2), 1, 1);
}
END_TEST

/* Also of no and of many elements, in chunks of one, and where every direction has to be taken. */
START_TEST(outputs_without_derivative_are_refused_unless_auxiliary) {
    for (int i = 0; i < MODES; i++)
        for (int k = 0; k < 3; k++) {
            lam_tensor *b[2];
            lam_fn *jacobian = modes[i](FN(with_aux, 1, 2), &(lam_jacobian_options){.chunk_size = k == 2});
            lam_tensor *x = k == 0 ? lam_zeros(ctx, LAM_F64, LAM_DIMS(0)) : VEC(1, 2);
            ck_assert_int_eq(lam_call(jacobian, LAM_LIST(x), b, 2), LAM_ERR_DTYPE);
            EXPECT_ERROR(LAM_ERR_DTYPE, "output 1 of 'with_aux' is bool, which has no derivative", "has_aux");
        }
    lam_tensor *b[4];
    ck_assert_int_eq(lam_call(lam_value_and_jacobian(FN(with_aux, 1, 2), NULL), LAM_LIST(num(1)), b, 4), LAM_ERR_DTYPE);
    EXPECT_ERROR(LAM_ERR_DTYPE, "output 1 of 'with_aux'");
}
END_TEST

START_TEST(vmap_over_jacobian_and_jacobian_of_jacobian) {
    for (int i = 0; i < MODES; i++) {
        lam_fn *j = modes[i](FN(three_of_two, 1, 1), NULL);
        EXPECT(apply1(lam_vmap(j, NULL), MAT(2, 2, 5, 7, 1, 2)), LAM_DIMS(2, 3, 2), 7, 5, 0, 14, 3, 0, 2, 1, 0, 4, 3,
               0);
        for (int k = 0; k < MODES; k++)
            EXPECT(apply1(modes[k](j, NULL), VEC(5, 7)), LAM_DIMS(3, 2, 2), 0, 1, 1, 0, 0, 0, 0, 2, 0, 0, 0, 0);
    }
}
END_TEST

/* x0^2 x1 + x1^3: gradient (2 x0 x1, x0^2 + 3 x1^2), Hessian ((2 x1, 2 x0), (2 x0, 6 x1)). */
BODY(cubic) {
    lam_tensor *a = lam_index(in[0], 0, 0), *b = lam_index(in[0], 0, 1);
    out[0] = lam_add(lam_mul(lam_square(a), b), lam_integer_pow(b, 3));
}

START_TEST(hessian_equals_each_pair_of_modes) {
    lam_fn *f = FN(cubic, 1, 1);
    EXPECT(apply1(lam_hessian(f, NULL), VEC(2, 3)), LAM_DIMS(2, 2), 6, 4, 4, 18);
    for (int i = 0; i < MODES; i++)
        for (int k = 0; k < MODES; k++)
            EXPECT(apply1(modes[i](modes[k](f, NULL), NULL), VEC(2, 3)), LAM_DIMS(2, 2), 6, 4, 4, 18);
    EXPECT(apply1(lam_vmap(lam_hessian(f, NULL), NULL), MAT(2, 2, 2, 3, 0, 1)), LAM_DIMS(2, 2, 2), 6, 4, 4, 18, 2, 0, 0,
           6);
    EXPECT(apply1(lam_hessian(f, &(lam_jacobian_options){.chunk_size = 1}), VEC(2, 3)), LAM_DIMS(2, 2), 6, 4, 4, 18);
}
END_TEST

START_TEST(value_gradient_and_hessian_from_one_call) {
    lam_tensor *b[3];
    lam_call(lam_value_grad_and_hessian(FN(cubic, 1, 1), NULL), LAM_LIST(VEC(2, 3)), b, 3);
    EXPECT_NUM(b[0], 39);
    EXPECT(b[1], LAM_DIMS(2), 12, 31);
    EXPECT(b[2], LAM_DIMS(2, 2), 6, 4, 4, 18);
}
END_TEST

START_TEST(hessian_vector_products) {
    lam_tensor *b[3];
    lam_call(lam_hvp(FN(cubic, 1, 1), NULL), LAM_LIST(VEC(2, 3), VEC(1, 10)), b, 3);
    EXPECT_NUM(b[0], 39);
    EXPECT(b[1], LAM_DIMS(2), 12, 31);
    EXPECT(b[2], LAM_DIMS(2), 46, 184);
}
END_TEST

BODY(two_arguments) {
    out[0] = lam_sum(lam_mul(lam_square(in[0]), in[1]), NULL);
}

/* sum x^2 y: blocks xx diag(2 y), xy = yx diag(2 x), yy 0. */
START_TEST(hessian_blocks_of_several_arguments) {
    lam_tensor *b[4];
    lam_fn *h = lam_hessian(FN(two_arguments, 2, 1), &(lam_jacobian_options){.argnums = LAM_AXES(0, 1)});
    lam_call(h, LAM_LIST(VEC(2, 3), VEC(5, 7)), b, 4);
    EXPECT(b[0], LAM_DIMS(2, 2), 10, 0, 0, 14);
    EXPECT(b[1], LAM_DIMS(2, 2), 4, 0, 0, 6);
    EXPECT(b[2], LAM_DIMS(2, 2), 4, 0, 0, 6);
    EXPECT(b[3], LAM_DIMS(2, 2), 0, 0, 0, 0);
}
END_TEST

BODY(two_arguments_and_aux) {
    out[0] = lam_sum(lam_mul(lam_square(in[0]), in[1]), NULL);
    out[1] = lam_mul(2, in[0]);
}

/* The same function, y before x: gradients x^2 and 2 x y, blocks yy 0, yx = xy diag(2 x), xx diag(2 y). */
START_TEST(second_derivatives_by_chosen_arguments_with_auxiliary_outputs) {
    lam_tensor *b[8], *x = VEC(2, 3), *y = VEC(5, 7);
    lam_fn *f = FN(two_arguments_and_aux, 2, 2);
    lam_jacobian_options options = {.argnums = LAM_AXES(-1, 0), .has_aux = 1};
    lam_call(lam_value_grad_and_hessian(f, &options), LAM_LIST(x, y), b, 8);
    EXPECT_NUM(b[0], 83);
    EXPECT(b[1], LAM_DIMS(2), 4, 9);
    EXPECT(b[2], LAM_DIMS(2), 20, 42);
    EXPECT(b[3], LAM_DIMS(2, 2), 0, 0, 0, 0);
    EXPECT(b[4], LAM_DIMS(2, 2), 4, 0, 0, 6);
    EXPECT(b[5], LAM_DIMS(2, 2), 4, 0, 0, 6);
    EXPECT(b[6], LAM_DIMS(2, 2), 10, 0, 0, 14);
    EXPECT(b[7], LAM_DIMS(2), 4, 6);
    lam_grad_options chosen = {.argnums = LAM_AXES(1, 0), .has_aux = 1};
    lam_call(lam_hvp(f, &chosen), LAM_LIST(x, y, VEC(1, 0), VEC(0, 1)), b, 6);
    EXPECT_NUM(b[0], 83);
    EXPECT(b[1], LAM_DIMS(2), 4, 9);
    EXPECT(b[2], LAM_DIMS(2), 20, 42);
    EXPECT(b[3], LAM_DIMS(2), 0, 6);
    EXPECT(b[4], LAM_DIMS(2), 4, 14);
    EXPECT(b[5], LAM_DIMS(2), 4, 6);
}
END_TEST

BODY(all_sines) {
    out[0] = lam_sin(in[0]);
}

BODY(all_sines_summed) {
    out[0] = lam_sum(lam_sin(in[0]), NULL);
}

/* 9 axes of the output and 9 of the input would be 18, whoever computes them. Eight and eight are as many as there may
 * be: cos(0) = 1. */
START_TEST(blocks_of_too_many_axes_are_refused) {
    lam_tensor *nine = lam_zeros(ctx, LAM_F64, LAM_DIMS(1, 1, 1, 1, 1, 1, 1, 1, 1)), *eight = lam_index(nine, 0, 0);
    lam_fn *f = FN(all_sines, 1, 1), *g = FN(all_sines_summed, 1, 1);
    for (int i = 0; i < MODES; i++) {
        lam_tensor *block = apply1(modes[i](f, NULL), eight);
        ck_assert_int_eq(lam_rank(block), 16);
        EXPECT_NUM(lam_sum(block, NULL), 1);
        ck_assert(lam_failed(apply1(modes[i](f, NULL), nine)));
        EXPECT_ERROR(LAM_ERR_RANK, "output 0", "all_sines", "18 axes", "more than 16");
        ck_assert(lam_failed(apply1(lam_jit(modes[i](f, NULL), NULL), nine)));
        EXPECT_ERROR(LAM_ERR_RANK, "18 axes", "more than 16");
    }
    ck_assert(lam_failed(apply1(lam_hessian(g, NULL), nine)));
    EXPECT_ERROR(LAM_ERR_RANK, "18 axes", "more than 16");
    lam_tensor *out[3];
    ck_assert_int_eq(lam_call(lam_value_grad_and_hessian(g, NULL), LAM_LIST(nine), out, 3), LAM_ERR_RANK);
    EXPECT_ERROR(LAM_ERR_RANK, "output 1", "18 axes");
}
END_TEST

BODY(noise) {
    out[0] = lam_mul(in[0], lam_rand(ctx, LAM_F64, LAM_DIMS(2)));
}

BODY(noise_twice) {
    lam_tensor *y = lam_mul(in[0], lam_rand(ctx, LAM_F64, LAM_DIMS(2)));
    out[0] = lam_concatenate(LAM_LIST(y, y), 0);
}

/* f is run once to be recorded, and has drawn then: the next draw is another one. */
START_TEST(a_record_leaves_the_generator_where_f_does) {
    lam_fn *const fns[] = {FN(noise, 1, 1), FN(noise_twice, 1, 1)};
    for (int i = 0; i < 2; i++) {
        lam_ctx_seed(ctx, 3);
        lam_tensor *r = lam_rand(ctx, LAM_F64, LAM_DIMS(2)), *next = lam_rand(ctx, LAM_F64, LAM_DIMS(2)), *out[2];
        lam_ctx_seed(ctx, 3);
        lam_tensor *jacobian = apply1(lam_jacobian(fns[i], NULL), VEC(1, 2));
        EXPECT_SAME(lam_diagonal(jacobian, 0, 0, 1), r, 0);
        EXPECT_SAME(lam_rand(ctx, LAM_F64, LAM_DIMS(2)), next, 0);
        lam_ctx_seed(ctx, 3);
        lam_call(lam_value_and_jacobian(fns[i], NULL), LAM_LIST(VEC(1, 2)), out, 2);
        EXPECT_SAME(lam_rand(ctx, LAM_F64, LAM_DIMS(2)), next, 0);
    }
}
END_TEST

/* d(x_i r_ki)/dx_k, the draw r with an axis of columns in front; by jacrev inside, second derivatives of sum r x^2. */
BODY(squares_and_noise) {
    out[0] = lam_sum(lam_mul(lam_square(in[0]), lam_rand(ctx, LAM_F64, LAM_DIMS(2))), NULL);
    out[1] = lam_add(out[0], 1);
}

START_TEST(columns_may_have_draws_of_their_own) {
    lam_jacobian_options each = {.randomness = LAM_RANDOMNESS_DIFFERENT}, aux = each;
    lam_ctx_seed(ctx, 3);
    lam_tensor *r = lam_rand(ctx, LAM_F64, LAM_DIMS(2, 2)), *own = lam_diagonal(r, 0, 0, 1), *x = VEC(1, 2), *out[2];
    for (each.chunk_size = 0; each.chunk_size < 3; each.chunk_size += 2) {
        lam_ctx_seed(ctx, 3);
        EXPECT_SAME(lam_diagonal(apply1(lam_jacfwd(FN(noise, 1, 1), &each), x), 0, 0, 1), own, 0);
        ck_assert_uint_eq(lam_ctx_random_state(ctx).draws, 1);
    }
    aux.has_aux = 1;
    lam_ctx_seed(ctx, 3);
    lam_call(lam_hessian(FN(squares_and_noise, 1, 2), &aux), LAM_LIST(x), out, 2);
    EXPECT_SAME(lam_diagonal(out[0], 0, 0, 1), lam_mul(2.0, own), 0);
    EXPECT_SAME(out[1], lam_add(lam_dot(lam_index(r, 0, 0), lam_square(x)), 1.0), 1e-15);
}
END_TEST

Suite *suite_transforms_jacobian(void) {
    return SUITE_OF(
        "transforms/jacobian", the_modes_agree, blocks_are_output_major_with_dims_of_output_then_input,
        rank_0_in_and_out, dtypes_of_blocks_are_promoted, chunks_equal_the_whole,
        a_chunk_holds_the_intermediates_of_its_rows_and_no_more, chunks_of_one_need_no_batching_rule,
        bad_options_are_refused, auxiliary_outputs_and_values, outputs_without_derivative_are_refused_unless_auxiliary,
        vmap_over_jacobian_and_jacobian_of_jacobian, hessian_equals_each_pair_of_modes,
        value_gradient_and_hessian_from_one_call, hessian_vector_products, hessian_blocks_of_several_arguments,
        second_derivatives_by_chosen_arguments_with_auxiliary_outputs, blocks_of_too_many_axes_are_refused,
        a_record_leaves_the_generator_where_f_does, columns_may_have_draws_of_their_own);
}
