/* lam_eval_shape: the types of results, for which nothing is computed. */
#include "tests/dispatch/probe.h"
#include "tests/support.h"

static void expect_type(lam_type got, lam_dtype dtype, lam_dims dims) {
    EXPECT_OK();
    ck_assert_str_eq(lam_dtype_name(got.dtype), lam_dtype_name(dtype));
    ck_assert_int_eq(got.rank, dims.rank);
    for (int i = 0; i < LAM_MAX_RANK; i++) ck_assert_int_eq(got.dims[i], i < dims.rank ? dims.dims[i] : 0);
}

BODY(of_all_kinds) {
    out[0] = probe(lam_matmul(in[0], lam_matrix_transpose(in[0])));
    out[1] = lam_argmax(in[0], -1);
    out[2] = lam_gt(lam_cast(in[0], LAM_F32), 0);
    out[3] = in[1];
    out[4] = lam_ones(here, LAM_C64, LAM_DIMS(0, 7));
}

START_TEST(types_of_results) {
    lam_type types[5];
    lam_tensor *x = lam_zeros(ctx, LAM_F64, LAM_DIMS(2, 3)), *n = lam_zeros(ctx, LAM_I32, LAM_DIMS0);
    probed = (probe_counts){0};
    ck_assert_int_eq(lam_eval_shape(FN(of_all_kinds, 2, 5), LAM_LIST(x, n), types, 5), LAM_OK);
    expect_type(types[0], LAM_F64, LAM_DIMS(2, 2));
    expect_type(types[1], LAM_I64, LAM_DIMS(2));
    expect_type(types[2], LAM_BOOL, LAM_DIMS(2, 3));
    expect_type(types[3], LAM_I32, LAM_DIMS0);
    expect_type(types[4], LAM_C64, LAM_DIMS(0, 7));
    ck_assert_int_eq(probed.eval, 0);
}
END_TEST

BODY(wave) {
    out[0] = lam_sum(lam_sin(in[0]), NULL);
}

START_TEST(types_of_transforms) {
    lam_type type;
    lam_fn *f = FN(wave, 1, 1), *rows = lam_vmap(lam_hessian(f, NULL), NULL);
    ck_assert_int_eq(lam_eval_shape(rows, LAM_LIST(lam_zeros(ctx, LAM_F64, LAM_DIMS(5, 3))), &type, 1), LAM_OK);
    expect_type(type, LAM_F64, LAM_DIMS(5, 3, 3));
    ck_assert_int_eq(lam_eval_shape(lam_jit(rows, NULL), LAM_LIST(lam_zeros(ctx, LAM_F32, LAM_DIMS(5, 3))), &type, 1),
                     LAM_OK);
    expect_type(type, LAM_F32, LAM_DIMS(5, 3, 3));
    lam_program *p = lam_trace(f, LAM_LIST(VEC(1, 2, 3)));
    ck_assert_int_eq(lam_eval_shape(lam_grad(p, NULL), LAM_LIST(VEC(0, 0, 0)), &type, 1), LAM_OK);
    expect_type(type, LAM_F64, LAM_DIMS(3));
}
END_TEST

enum { SIDE = 1 << 20 };

BODY(of_large) {
    lam_tensor *square = lam_matmul(lam_exp(in[0]), lam_sin(in[0]));
    out[0] = lam_sort(square, 0);
    out[1] = lam_sum(square, NULL);
}

/* A matrix of 8 TiB, which a number stands for. */
START_TEST(no_size_is_too_large) {
    lam_type types[2];
    lam_tensor *x = lam_broadcast_to(num(1), LAM_DIMS(SIDE, SIDE));
    lam_fn *f = FN(of_large, 1, 2);
    lam_ctx_reset_peak(ctx);
    const size_t before = lam_ctx_peak_bytes(ctx);
    ck_assert_int_eq(lam_eval_shape(f, LAM_LIST(x), types, 2), LAM_OK);
    expect_type(types[0], LAM_F64, LAM_DIMS(SIDE, SIDE));
    expect_type(types[1], LAM_F64, LAM_DIMS0);
    ck_assert_uint_lt(lam_ctx_peak_bytes(ctx) - before, 1 << 16);
}
END_TEST

BODY(scaled_waves) {
    out[0] = lam_mul(lam_sin(lam_mul(in[0], 2.0)), 3.0);
}

BODY(sum_of_waves) {
    scaled_waves(ctx, in, out, env);
    out[0] = lam_sum(out[0], NULL);
}

/* Nor is there an identity of as many rows as a Jacobian. */
START_TEST(no_jacobian_is_too_large) {
    enum { N = 1 << 20 };
    lam_fn *f = FN(scaled_waves, 1, 1), *s = FN(sum_of_waves, 1, 1);
    lam_fn *const fs[] = {lam_jacfwd(f, NULL),
                          lam_jacrev(f, NULL),
                          lam_jacobian(f, NULL),
                          lam_hessian(s, NULL),
                          lam_jacfwd(f, &(lam_jacobian_options){.chunk_size = N / 4}),
                          lam_jacfwd(lam_grad(s, NULL), NULL)};
    lam_tensor *x = lam_broadcast_to(num(1), LAM_DIMS(N));
    for (size_t k = 0; k < sizeof fs / sizeof *fs; k++) {
        lam_type type;
        lam_ctx_reset_peak(ctx);
        const size_t before = lam_ctx_peak_bytes(ctx);
        ck_assert_int_eq(lam_eval_shape(fs[k], LAM_LIST(x), &type, 1), LAM_OK);
        expect_type(type, LAM_F64, LAM_DIMS(N, N));
        ck_assert_uint_lt(lam_ctx_peak_bytes(ctx) - before, 64 * N); /* some rows */
    }
    EXPECT_OK();
}
END_TEST

static void ask_for_jacobians(const void *env) {
    lam_type type;
    (void)env;
    (void)lam_eval_shape(lam_jacrev(FN(scaled_waves, 1, 1), NULL), LAM_LIST(VEC(1, 2)), &type, 1);
    (void)lam_eval_shape(lam_hessian(FN(sum_of_waves, 1, 1), NULL), LAM_LIST(VEC(1, 2)), &type, 1);
}

START_TEST(memory_refused_to_types_of_jacobians) {
    memory_refused_in(ask_for_jacobians, NULL);
}
END_TEST

BODY(rank_of_most) {
    out[0] = lam_exp(in[0]);
}

START_TEST(types_of_the_largest_rank) {
    lam_type type;
    const lam_dims dims = LAM_DIMS(1, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 3);
    ck_assert_int_eq(lam_eval_shape(FN(rank_of_most, 1, 1), LAM_LIST(lam_zeros(ctx, LAM_F64, dims)), &type, 1), LAM_OK);
    expect_type(type, LAM_F64, dims);
}
END_TEST

/* What a call would refuse; a lam_type has no room for it. */
START_TEST(types_of_too_many_axes_are_refused) {
    lam_type types[2];
    const lam_dims half = LAM_DIMS(1, 1, 1, 1, 1, 1, 1, 1, 1);
    lam_fn *f = lam_value_and_jacobian(FN(rank_of_most, 1, 1), NULL);
    ck_assert_int_eq(lam_eval_shape(f, LAM_LIST(lam_zeros(ctx, LAM_F64, half)), types, 2), LAM_ERR_RANK);
    EXPECT_ERROR(LAM_ERR_RANK, "eval_shape: output 1 of 'value_and_jacobian(rank_of_most)'", "18 axes", "more than 16");
    ck_assert(types[0].rank == 0 && types[1].rank == 0);
}
END_TEST

/* Draws of 8 TiB, which are not made: the generator stands where it stood. */
BODY(draws) {
    out[0] = lam_add(in[0], lam_rand(here, LAM_F64, LAM_DIMS(SIDE, SIDE)));
    out[1] = lam_randn(here, LAM_F32, LAM_DIMS(3));
}

START_TEST(draws_are_not_made) {
    lam_type types[2];
    const lam_random_state before = lam_ctx_random_state(ctx);
    ck_assert_int_eq(lam_eval_shape(FN(draws, 1, 2), LAM_LIST(num(1)), types, 2), LAM_OK);
    expect_type(types[0], LAM_F64, LAM_DIMS(SIDE, SIDE));
    expect_type(types[1], LAM_F32, LAM_DIMS(3));
    const lam_random_state after = lam_ctx_random_state(ctx);
    ck_assert_uint_eq(after.draws, before.draws);
    ck_assert_uint_eq(after.seed, before.seed);
}
END_TEST

/* A key of the generator is a pair of numbers. */
BODY(draws_by_key) {
    out[0] = lam_rand_key(here);
    out[1] = lam_random_uniform(lam_rand_key(here), LAM_F64, LAM_DIMS(SIDE), NULL);
}

START_TEST(keys_are_not_made) {
    lam_type types[2];
    ck_assert_int_eq(lam_eval_shape(FN(draws_by_key, 0, 2), LAM_LIST(), types, 2), LAM_OK);
    expect_type(types[0], LAM_I64, LAM_DIMS(2));
    expect_type(types[1], LAM_F64, LAM_DIMS(SIDE));
    ck_assert_uint_eq(lam_ctx_random_state(ctx).draws, 0);
}
END_TEST

static int forwards;

static void forward_halves(UNUSED lam_fctx *fc, lam_tensor *const in[], lam_tensor *out[]) {
    forwards++;
    out[0] = lam_mul(0.5, in[0]);
}

static const lam_function halves = {.name = "halves", .inputs = 1, .outputs = 1, .forward = forward_halves};

BODY(is_positive) {
    out[0] = lam_gt(lam_sum(in[0], NULL), 0);
}

BODY(half) {
    lam_function_apply(here, &halves, NULL, LAM_LIST(in[0]), out, 1);
}

BODY(same) {
    out[0] = in[0];
}

BODY(chooses) {
    lam_tensor *y = NULL;
    lam_cond(apply1(FN(is_positive, 1, 1), in[0]), FN(half, 1, 1), FN(same, 1, 1), LAM_LIST(in[0]), &y, 1);
    lam_while(FN(is_positive, 1, 1), FN(half, 1, 1), LAM_LIST(y), out, 1);
}

START_TEST(types_of_functions_and_control_flow) {
    lam_type type;
    ck_assert_int_eq(lam_eval_shape(FN(half, 1, 1), LAM_LIST(VEC(1, 2)), &type, 1), LAM_OK);
    expect_type(type, LAM_F64, LAM_DIMS(2));
    ck_assert_int_eq(lam_eval_shape(FN(chooses, 1, 1), LAM_LIST(VEC(1, 2, 3)), &type, 1), LAM_OK);
    expect_type(type, LAM_F64, LAM_DIMS(3));
}
END_TEST

/* The sum of the elements, by a loop over them, and their number. */
static void forward_total(lam_fctx *fc, lam_tensor *const in[], lam_tensor *out[]) {
    const double *x = lam_data(lam_contiguous(in[0]));
    double sum = 0;
    forwards++;
    for (int64_t i = 0; x && i < lam_size(in[0]); i++) sum += x[i];
    out[0] = lam_scalar(lam_fctx_ctx(fc), sum);
    out[1] = lam_full(lam_fctx_ctx(fc), LAM_I64, LAM_DIMS0, (double)lam_size(in[0]));
}

static void setup_total(lam_fctx *fc, lam_tensor *const in[], UNUSED lam_tensor *const out[]) {
    lam_fctx_save_for_backward(fc, LAM_LIST(in[0]));
}

static void backward_total(lam_fctx *fc, lam_tensor *const g[], lam_tensor *gx[]) {
    gx[0] = lam_mul(g[0], lam_ones_like(lam_fctx_saved(fc, 0)));
}

static void shape_total(UNUSED lam_fctx *fc, const lam_type in[], lam_type out[]) {
    out[0] = (lam_type){.dtype = in[0].dtype};
    out[1] = (lam_type){.dtype = LAM_I64};
}

static const lam_function total = {.name = "total",
                                   .inputs = 1,
                                   .outputs = 2,
                                   .forward = forward_total,
                                   .setup_context = setup_total,
                                   .backward = backward_total,
                                   .shape = shape_total,
                                   .vmap_by_loop = true};

/* Foreign code that says its types is not run, in derivatives as well. */
START_TEST(functions_say_their_types) {
    lam_fn *f = lam_function_fn(ctx, &total, NULL, 1, 2);
    lam_type types[3];
    forwards = 0;
    ck_assert_int_eq(lam_eval_shape(f, LAM_LIST(VEC(1, 2)), types, 2), LAM_OK);
    expect_type(types[0], LAM_F64, LAM_DIMS0);
    expect_type(types[1], LAM_I64, LAM_DIMS0);
    lam_fn *g = lam_value_and_grad(f, &(lam_grad_options){.has_aux = 1});
    ck_assert_int_eq(lam_eval_shape(g, LAM_LIST(VEC(1, 2)), types, 3), LAM_OK);
    expect_type(types[0], LAM_F64, LAM_DIMS0);
    expect_type(types[1], LAM_F64, LAM_DIMS(2));
    expect_type(types[2], LAM_I64, LAM_DIMS0);
    ck_assert_int_eq(forwards, 0);
}
END_TEST

BODY(branches) {
    out[0] = lam_item(in[0]) > 0 ? in[0] : lam_neg(in[0]);
}

/* After a refusal types are all zero. */
START_TEST(refusals) {
    lam_type types[2] = {{.rank = 3}, {.rank = 4}};
    lam_fn *f = FN(wave, 1, 1);
    ck_assert_int_eq(lam_eval_shape(FN(branches, 1, 1), LAM_LIST(num(1)), types, 1), LAM_ERR_ABSTRACT);
    EXPECT_ERROR(LAM_ERR_ABSTRACT, "'branches'", "lam_where");
    expect_type(types[0], LAM_F64, LAM_DIMS0);
    ck_assert_int_eq(lam_eval_shape(f, LAM_LIST(num(1)), types, 2), LAM_ERR_ARITY);
    EXPECT_OWN(LAM_ERR_ARITY, "2 types", "1 outputs");
    ck_assert_int_eq(lam_eval_shape(f, LAM_LIST(num(1)), NULL, 1), LAM_ERR_ARITY);
    EXPECT_OWN(LAM_ERR_ARITY, "'wave'");
    ck_assert_int_eq(lam_eval_shape(NULL, LAM_LIST(num(1)), types, 1), LAM_ERR_NULL);
    EXPECT_OWN(LAM_ERR_NULL, "eval_shape", "function is NULL");
    lam_fn_drop(f);
    ck_assert_int_eq(lam_eval_shape(f, LAM_LIST(num(1)), types, 1), LAM_ERR_FREED);
    EXPECT_STATUS(LAM_ERR_FREED);
}
END_TEST

/* A failure of before is not its own. */
START_TEST(failures_from_before) {
    lam_type type;
    (void)lam_fail(ctx, LAM_ERR_USER, "before");
    ck_assert_int_eq(lam_eval_shape(FN(wave, 1, 1), LAM_LIST(VEC(1, 2)), &type, 1), LAM_OK);
    ck_assert_int_eq(type.rank, 0);
    EXPECT_STATUS(LAM_ERR_USER);
}
END_TEST

Suite *suite_transforms_eval_shape(void) {
    return SUITE_OF("transforms/eval_shape", types_of_results, types_of_transforms, no_size_is_too_large,
                    no_jacobian_is_too_large, memory_refused_to_types_of_jacobians, types_of_the_largest_rank,
                    types_of_too_many_axes_are_refused, draws_are_not_made, keys_are_not_made,
                    types_of_functions_and_control_flow, functions_say_their_types, refusals, failures_from_before);
}
