/* The sparsity of choices and loops in programs of which each example of a batch goes its own way, and of the way back
 * through a loop: entries are those of all ways, wherever they were looked for. Where they are follows from what the
 * functions are; values are compared with whole Jacobians and Hessians. */
#define _POSIX_C_SOURCE 200809L /* open_memstream */
#include "tests/support.h"
#include "tests/transforms/entries.h"

#include <stdlib.h>

/* Two rows of three: the first has a positive sum at the example, the second at the point after it, both at none. */
static lam_tensor *point_number(int k) {
    static const double at[3][6] = {
        {0.3, 1.2, 0.7, -1.1, 0.4, -2.2}, {-0.3, -1.2, 0.4, 1.1, 0.4, 2.2}, {-0.3, 0.1, -0.7, -0.1, 0.4, -0.6}};
    return vector_of(at[k], 6);
}

/* ---- functions of a row ------------------------------------------------------------------------------------------ */

BODY(square_of) {
    out[0] = lam_square(in[0]);
}
BODY(turned) {
    out[0] = lam_reverse(in[0], LAM_AXES(0));
}
/* One diagonal or the other: five places of nine. */
BODY(diagonals) {
    lam_cond(lam_gt(lam_sum(in[0], NULL), 0.0), FN(square_of, 1, 1), FN(turned, 1, 1), LAM_LIST(in[0]), out, 1);
}

BODY(below_four) {
    out[0] = lam_lt(lam_sum(in[0], NULL), 4.0);
}
BODY(turned_and_more) {
    out[0] = lam_add(lam_reverse(in[0], LAM_AXES(0)), 1.5);
}
/* One diagonal or the other, by the number of trips; of a loop that ends by a condition nothing is known, so all. */
BODY(turns) {
    lam_while(FN(below_four, 1, 1), FN(turned_and_more, 1, 1), LAM_LIST(in[0]), out, 1);
}

static const struct known {
    lam_body body;
    const char *name;
    int64_t count; /* of two rows, which have nothing to do with each other */
} rows[] = {{diagonals, "diagonals", 10}, {turns, "turns", 18}};
enum { ROWS = sizeof rows / sizeof rows[0] };

/* ---- functions of both ------------------------------------------------------------------------------------------- */

static lam_tensor *row_of(int k) {
    return lam_slice_axis(point_number(k), 0, 0, 3);
}

/* The text of a program, read. */
static lam_fn *read_back(lam_fn *program) {
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    ck_assert(file && lam_program_print(file, program) == LAM_OK);
    fclose(file);
    lam_fn *read = lam_program_read(ctx, text);
    free(text);
    return read;
}

static lam_tensor *both(lam_fn *f, lam_tensor *x) {
    return lam_reshape(apply1(f, lam_reshape(x, LAM_DIMS(2, 3))), LAM_DIMS(6));
}
static lam_fn *program_of(void *env) {
    const struct known *k = env;
    return lam_trace(function_of(k->name, k->body, 1, 1, NULL), LAM_LIST(row_of(0)));
}
BODY(batch_of_a_program) {
    out[0] = both(lam_vmap(program_of(env), NULL), in[0]);
}
BODY(batch_of_a_text) {
    out[0] = both(lam_vmap(read_back(program_of(env)), NULL), in[0]);
}
BODY(program_of_a_batch) {
    const struct known *k = env;
    lam_fn *batch = lam_vmap(function_of(k->name, k->body, 1, 1, NULL), NULL);
    out[0] = both(lam_trace(batch, LAM_LIST(lam_reshape(point_number(0), LAM_DIMS(2, 3)))), in[0]);
}
BODY(batches_in_a_batch) {
    lam_fn *f = lam_vmap(lam_vmap(program_of(env), NULL), NULL);
    out[0] = lam_reshape(apply1(f, lam_reshape(in[0], LAM_DIMS(2, 1, 3))), LAM_DIMS(6));
}
BODY(remembered_batch) {
    out[0] = both(lam_checkpoint(lam_vmap(program_of(env), NULL), NULL), in[0]);
}
BODY(slope_of_a_batch) {
    lam_tensor *x = lam_reshape(in[0], LAM_DIMS(2, 3)), *value;
    lam_jvp(lam_vmap(program_of(env), NULL), LAM_LIST(x), LAM_LIST(lam_sin(x)), &value, &out[0], 1, NULL);
    out[0] = lam_reshape(out[0], LAM_DIMS(6));
}

static const lam_body mapped[] = {batch_of_a_program, batch_of_a_text,  program_of_a_batch,
                                  batches_in_a_batch, remembered_batch, slope_of_a_batch};
enum { MAPPED = sizeof mapped / sizeof mapped[0] };

/* ---- their entries ----------------------------------------------------------------------------------------------- */

/* At the example and at two points where the rows go other ways. */
static void expect_jacobians(lam_fn *f, lam_tensor *pairs) {
    for (int k = 0; k < 3; k++)
        EXPECT_SAME(dense(pairs, apply1(lam_sparse_jacobian(f, pairs, NULL), point_number(k)), 6, 6),
                    apply1(lam_jacobian(f, NULL), point_number(k)), 1e-14);
    EXPECT_OK();
}

START_TEST(examples_that_go_their_own_way_have_the_entries_of_all_ways) {
    const struct known *k = &rows[_i % ROWS];
    lam_fn *f = function_of(k->name, mapped[_i / ROWS], 1, 1, (void *)(uintptr_t)k);
    lam_tensor *pairs = lam_jacobian_sparsity(f, LAM_LIST(point_number(0)), NULL);
    if (mapped[_i / ROWS] == slope_of_a_batch) ck_assert(lam_dim(pairs, 0) >= k->count); /* of a derived function */
    else ck_assert_int_eq(lam_dim(pairs, 0), k->count);
    expect_jacobians(f, pairs);
    EXPECT_SAME(lam_jacobian_sparsity(f, LAM_LIST(point_number(2)), NULL), pairs, 0);
}
END_TEST

/* A batch with a name may be seen by its functions, so the whole of it is one call and everything depends on
 * everything. */
BODY(batch_with_a_name) {
    out[0] = both(lam_vmap(program_of(env), &(lam_vmap_options){.axis_name = "rows"}), in[0]);
}

START_TEST(batches_with_a_name_have_all_entries) {
    lam_fn *f = FN_ENV(batch_with_a_name, 1, 1, (void *)(uintptr_t)&rows[_i]);
    lam_tensor *pairs = lam_jacobian_sparsity(f, LAM_LIST(point_number(0)), NULL);
    ck_assert_int_eq(lam_dim(pairs, 0), 36);
    expect_jacobians(f, pairs);
}
END_TEST

BODY(batch_as_given) {
    out[0] = apply1(lam_vmap(program_of(env), NULL), in[0]);
}

START_TEST(a_batch_of_none_has_no_entries) {
    lam_fn *f = FN_ENV(batch_as_given, 1, 1, (void *)(uintptr_t)&rows[_i]);
    lam_tensor *none = lam_zeros(ctx, LAM_F64, LAM_DIMS(0, 3)), *pairs = lam_jacobian_sparsity(f, LAM_LIST(none), NULL);
    EXPECT_EMPTY(lam_cast(pairs, LAM_F64), LAM_DIMS(0, 2));
    EXPECT_EMPTY(apply1(lam_sparse_jacobian(f, pairs, NULL), none), LAM_DIMS(0));
    EXPECT_OK();
}
END_TEST

/* Of what operations do, and not of a program, entries are those of the example: two rows of three. */
START_TEST(choices_of_no_program_are_those_of_the_example) {
    lam_fn *f = lam_vmap(FN(diagonals, 1, 1), NULL);
    lam_tensor *x = lam_reshape(point_number(0), LAM_DIMS(2, 3));
    ck_assert_int_eq(lam_dim(lam_jacobian_sparsity(f, LAM_LIST(x), NULL), 0), 6);
    EXPECT_OK();
}
END_TEST

/* ---- the way back ------------------------------------------------------------------------------------------------ */

BODY(below_twenty) {
    out[0] = lam_lt(lam_sum(in[0], NULL), 20.0);
}
BODY(times_next) {
    out[0] = lam_mul(in[0], lam_add(1.5, lam_roll(in[0], 1, 0)));
}
/* Each trip brings neighbours together that are one place further apart. */
BODY(sum_of_products) {
    lam_tensor *y;
    lam_while(FN(below_twenty, 1, 1), FN(times_next, 1, 1), LAM_LIST(in[0]), &y, 1);
    out[0] = lam_sum(y, NULL);
}

START_TEST(a_hessian_through_a_loop_has_the_entries_of_all_its_trips) {
    lam_tensor *few = VEC(3, 3, 3, 3, 3, 4), *many = VEC(0.1, 0.2, 0.3, 0.4, 0.5, 0.6);
    lam_fn *f = lam_trace(FN(sum_of_products, 1, 1), LAM_LIST(few));
    lam_tensor *pairs = lam_hessian_sparsity(f, LAM_LIST(few), NULL);
    ck_assert_int_eq(lam_dim(pairs, 0), 36);
    EXPECT_SAME(dense(pairs, apply1(lam_sparse_hessian(f, pairs, NULL), many), 6, 6),
                apply1(lam_hessian(f, NULL), many), 1e-12);
    pairs = lam_jacobian_sparsity(lam_trace(lam_grad(f, NULL), LAM_LIST(few)), LAM_LIST(few), NULL);
    ck_assert_int_eq(lam_dim(pairs, 0), 36);
    EXPECT_OK();
}
END_TEST

Suite *suite_transforms_sparse_choices(void) {
    Suite *suite = SUITE_OF("transforms/sparse_choices", choices_of_no_program_are_those_of_the_example,
                            a_hessian_through_a_loop_has_the_entries_of_all_its_trips);
    suite_loop(suite, examples_that_go_their_own_way_have_the_entries_of_all_ways, ROWS * MAPPED);
    suite_loop(suite, batches_with_a_name_have_all_entries, ROWS);
    suite_loop(suite, a_batch_of_none_has_no_entries, ROWS);
    return suite;
}
