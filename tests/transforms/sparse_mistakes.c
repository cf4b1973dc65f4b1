/* What sparsity and sparse derivatives do not take, and what they say to it. */
#include "tests/support.h"
#include "tests/transforms/entries.h"

/* x_(i+1) - x_i^2: five rows, six columns. */
BODY(differences) {
    out[0] = lam_sub(from(in[0], 1), lam_square(but_last(in[0])));
}
BODY(square_of) {
    out[0] = lam_square(in[0]);
}
BODY(two) {
    out[0] = out[1] = in[0];
}
BODY(whole_numbers) {
    out[0] = lam_cast(in[0], LAM_I64);
}
BODY(asks_inside) {
    out[0] = lam_cast(lam_jacobian_sparsity(FN(square_of, 1, 1), LAM_LIST(in[0]), NULL), LAM_F64);
}

/* Its output is all right, and it fails. */
BODY(fails_aside) {
    lam_add(in[0], VEC(1, 2));
    out[0] = lam_sin(in[0]);
}

START_TEST(an_output_beside_a_failure_goes) {
    ck_assert(lam_failed(lam_jacobian_sparsity(FN(fails_aside, 1, 1), LAM_LIST(point()), NULL)));
    EXPECT_ERROR(LAM_ERR_SHAPE, "add");
}
END_TEST

/* By columns, by a row, and by both: a full row and a full column beside the diagonal. */
START_TEST(functions_that_fail_when_they_are_called) {
    const int64_t pairs[] = {1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 0, 0, 0, 1, 0, 2,
                             0, 3, 0, 4, 0, 5, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0};
    const struct { int first, count; } parts[] = {{0, 5}, {5, 6}, {0, 16}};
    lam_fn *f = FN(fails_aside, 1, 1);
    for (int i = 0; i < 3; i++) {
        lam_tensor *where = lam_array(ctx, LAM_I64, LAM_DIMS(parts[i].count, 2), pairs + 2 * parts[i].first);
        lam_fn *sparse = lam_sparse_jacobian(f, where, NULL);
        EXPECT_OK();
        ck_assert(lam_failed(apply1(sparse, point())));
        EXPECT_ERROR(LAM_ERR_SHAPE, "add", "fails_aside");
    }
}
END_TEST

START_TEST(mistakes_of_the_sparsity) {
    lam_fn *f = FN(differences, 1, 1);
    const int64_t far[] = {0, 0, 1, 6}, below[] = {5, 0, 0, 0}, negative[] = {0, 0, -1, 0};
    const int64_t beyond[] = {0, 0, 0, (int64_t)1 << 60};
    ck_assert(lam_failed(lam_sparse_jacobian(f, VEC(1, 2), NULL)));
    EXPECT_ERROR(LAM_ERR_SHAPE, "sparse_jacobian", "'differences'", "f64[2]", "[entries, 2]");
    lam_sparse_hessian(f, lam_array(ctx, LAM_I64, LAM_DIMS(2, 2), negative), NULL);
    EXPECT_ERROR(LAM_ERR_INDEX, "sparse_hessian", "entry 1", "'differences' is at -1", "counted from 0");
    lam_sparse_jacobian(f, lam_array(ctx, LAM_I64, LAM_DIMS(2, 2), beyond), NULL);
    EXPECT_ERROR(LAM_ERR_OVERFLOW, "sparse_jacobian", "entry 1", "1152921504606846976", "below 2^31 - 1");
    lam_fn *beside = lam_sparse_jacobian(f, lam_array(ctx, LAM_I64, LAM_DIMS(2, 2), far), NULL);
    ck_assert(lam_failed(apply1(beside, point())));
    EXPECT_ERROR(LAM_ERR_INDEX, "sparse_jacobian of 'differences'", "entry 1", "row 1 and column 6", "6 columns");
    beside = lam_sparse_jacobian(f, lam_array(ctx, LAM_I64, LAM_DIMS(2, 2), below), NULL);
    ck_assert(lam_failed(apply1(beside, point())));
    EXPECT_ERROR(LAM_ERR_INDEX, "entry 0", "row 5 and column 0", "5 rows");
    ck_assert(lam_failed(lam_sparse_jacobian(f, NULL, NULL)));
    EXPECT_ERROR(LAM_ERR_NULL, "sparse_jacobian of 'differences'", "sparsity");
    ck_assert(lam_failed(lam_sparse_jacobian(NULL, NULL, NULL)) &&
              lam_failed(lam_hessian_sparsity(NULL, (lam_list){0, NULL}, NULL)));
}
END_TEST

START_TEST(mistakes_of_functions_and_options) {
    lam_tensor *pairs = lam_array(ctx, LAM_I64, LAM_DIMS(1, 2), (int64_t[]){0, 0}), *x = point();
    lam_fn *f = FN(differences, 1, 1), *g = FN(whole_numbers, 1, 1);
    lam_jacobian_sparsity(FN(two, 1, 2), LAM_LIST(x), NULL);
    EXPECT_ERROR(LAM_ERR_ARITY, "jacobian_sparsity", "'two'", "2 outputs");
    lam_sparse_jacobian(FN(two, 1, 2), pairs, NULL);
    EXPECT_ERROR(LAM_ERR_ARITY, "sparse_jacobian", "'two'", "2 outputs");
    lam_sparse_jacobian(f, pairs, &(lam_sparse_options){.argnum = 1});
    EXPECT_ERROR(LAM_ERR_OPTION, "sparse_jacobian", "argnum 1");
    lam_sparse_jacobian(f, pairs, &(lam_sparse_options){.chunk_size = -1});
    EXPECT_ERROR(LAM_ERR_OPTION, "chunk_size", "-1");
    lam_sparse_hessian(f, pairs, &(lam_sparse_options){.has_aux = 1});
    EXPECT_ERROR(LAM_ERR_OPTION, "sparse_hessian", "has_aux");
    lam_jacobian_sparsity(f, LAM_LIST(lam_cast(x, LAM_I64)), NULL);
    EXPECT_ERROR(LAM_ERR_DTYPE, "jacobian_sparsity", "i64");
    lam_jacobian_sparsity(f, LAM_LIST(lam_cast(x, LAM_C128)), NULL);
    EXPECT_ERROR(LAM_ERR_DTYPE, "jacobian_sparsity", "c128");
    lam_jacobian_sparsity(g, LAM_LIST(x), NULL);
    EXPECT_ERROR(LAM_ERR_DTYPE, "output 0", "i64");
    apply1(lam_sparse_jacobian(g, pairs, NULL), x);
    EXPECT_STATUS(LAM_ERR_DTYPE);
    apply1(lam_sparse_hessian(f, pairs, NULL), x);
    EXPECT_ERROR(LAM_ERR_SHAPE, "grad", "scalar");
    lam_jacobian_sparsity(f, LAM_LIST(x, x), NULL);
    EXPECT_ERROR(LAM_ERR_ARITY, "jacobian_sparsity of 'differences'", "2 examples given, 1 expected");
}
END_TEST

/* By places that another function has: env is where they are. */
BODY(takes) {
    out[0] = lam_take(in[0], *(lam_tensor **)env, 0);
}
BODY(asks_of_taking) {
    lam_tensor *places = in[0];
    lam_fn *f = FN_ENV(takes, 1, 1, &places);
    out[0] = lam_cast(lam_jacobian_sparsity(f, LAM_LIST(point()), NULL), LAM_F64);
}

START_TEST(examples_that_are_no_numbers) {
    lam_fn *asks = FN(asks_inside, 1, 1);
    ck_assert(lam_failed(apply1(lam_vmap(asks, NULL), point())));
    EXPECT_ERROR(LAM_ERR_BATCHED, "jacobian_sparsity of 'square_of'", "example 0", "outside of other transforms");
    ck_assert(lam_failed(lam_trace(asks, LAM_LIST(point()))));
    EXPECT_ERROR(LAM_ERR_ABSTRACT, "jacobian_sparsity of 'square_of'", "example 0");
    ck_assert(lam_failed(apply1(lam_grad(asks, NULL), point())));
    EXPECT_ERROR(LAM_ERR_VALUE, "jacobian_sparsity of 'square_of'", "example 0");
    lam_tensor *places = lam_array(ctx, LAM_I64, LAM_DIMS(2, 2), (int64_t[]){0, 1, 3, 2});
    ck_assert(lam_failed(apply1(lam_vmap(FN(asks_of_taking, 1, 1), NULL), places)));
    EXPECT_ERROR(LAM_ERR_BATCHED, "take", "its places are not numbers", "outside of other transforms");
}
END_TEST

/* An example of 2^31 elements, of which one is there. */
START_TEST(more_elements_than_can_be_named) {
    double one = 1;
    const int64_t step = 0;
    lam_tensor *x =
        lam_borrow(ctx, LAM_F64, LAM_DIMS((int64_t)1 << 31), &one, &(lam_borrow_options){.strides = {1, &step}});
    ck_assert(lam_failed(lam_jacobian_sparsity(FN(square_of, 1, 1), LAM_LIST(x), NULL)));
    EXPECT_ERROR(LAM_ERR_OVERFLOW, "jacobian_sparsity of 'square_of'", "input 0", "2^31 - 1");
}
END_TEST

Suite *suite_transforms_sparse_mistakes(void) {
    return SUITE_OF("transforms/sparse_mistakes", an_output_beside_a_failure_goes,
                    functions_that_fail_when_they_are_called, mistakes_of_the_sparsity,
                    mistakes_of_functions_and_options, examples_that_are_no_numbers, more_elements_than_can_be_named);
}
