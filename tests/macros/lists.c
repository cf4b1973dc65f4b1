/* Lists in C: what LAM_DIMS, LAM_LIST, LAM_AXES, LAM_RANGE and the tree macros make. Expected values are counted by
 * hand from the text of each list or struct, or follow from the documented encoding of a range. Needs nothing of the
 * library: the tensors are addresses. */
#include <check.h>
#include <lamina/base.h>
#include <stdlib.h>

struct lam_tensor {
    int id;
};

static lam_tensor pool[8];
static lam_tensor *const a = &pool[0], *const b = &pool[1], *const c = &pool[2];

#define EIGHT(x)      x, x, x, x, x, x, x, x
#define SIXTY_FOUR(x) EIGHT(x), EIGHT(x), EIGHT(x), EIGHT(x), EIGHT(x), EIGHT(x), EIGHT(x), EIGHT(x)

static size_t count_of(lam_list list) {
    return list.count;
}

/* The tensor at a position, through a call: what a function of the library sees. */
static lam_tensor *pick(lam_list list, size_t i) {
    return i < list.count ? list.items[i] : NULL;
}

START_TEST(dims_keep_order_and_rank) {
    lam_dims dims = LAM_DIMS(2, 3, 5);
    ck_assert_int_eq(dims.rank, 3);
    ck_assert_int_eq(dims.dims[0], 2);
    ck_assert_int_eq(dims.dims[1], 3);
    ck_assert_int_eq(dims.dims[2], 5);
    ck_assert_int_eq(LAM_DIMS(7).rank, 1);
    ck_assert_int_eq(LAM_DIMS(0, 0).dims[1], 0);
    ck_assert_int_eq(LAM_DIMS(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16).dims[15], 16);
}
END_TEST

START_TEST(dims_take_variables_of_64_bits) {
    int64_t large = INT64_C(1) << 40;
    ck_assert_int_eq(LAM_DIMS(1, large).dims[1], INT64_C(1099511627776));
}
END_TEST

START_TEST(rank_zero) {
    ck_assert_int_eq(LAM_DIMS0.rank, 0);
    ck_assert_int_eq(LAM_DIMS().rank, 0);
}
END_TEST

START_TEST(lists_keep_order_and_holes) {
    lam_list list = LAM_LIST(a, NULL, c);
    ck_assert_uint_eq(list.count, 3);
    ck_assert_ptr_eq(list.items[0], a);
    ck_assert_ptr_null(list.items[1]);
    ck_assert_ptr_eq(list.items[2], c);
    ck_assert_uint_eq(LAM_LIST(NULL).count, 1);
}
END_TEST

START_TEST(empty_lists_are_not_absent) {
    ck_assert_uint_eq(LAM_LIST().count, 0);
    ck_assert_ptr_nonnull(LAM_LIST().items);
    ck_assert_int_eq(LAM_NO_AXES.count, 0);
    ck_assert_ptr_nonnull(LAM_NO_AXES.items);
    ck_assert_int_eq(LAM_AXES().count, 0);
}
END_TEST

/* A first item that begins with a parenthesis is what the test for emptiness could mistake. */
START_TEST(single_items_of_any_spelling_count_as_one) {
    void *untyped = a;
    ck_assert_uint_eq(LAM_LIST((a)).count, 1);
    ck_assert_uint_eq(LAM_LIST((lam_tensor *)untyped).count, 1);
    ck_assert_uint_eq(LAM_LIST(&pool[3]).count, 1);
    ck_assert_uint_eq(LAM_LIST(pick(LAM_LIST(a, b), 1)).count, 1);
    ck_assert_int_eq(LAM_AXES((0)).count, 1);
    ck_assert_int_eq(LAM_AXES(-1).count, 1);
    ck_assert_int_eq(LAM_AXES(-1).items[0], -1);
}
END_TEST

START_TEST(macros_among_the_items_count_as_what_they_expand_to) {
#define PAIR a, b
#define NOTHING
    ck_assert_uint_eq(LAM_LIST(PAIR).count, 2);
    ck_assert_uint_eq(LAM_LIST(PAIR, c).count, 3);
    ck_assert_uint_eq(LAM_LIST(NOTHING).count, 0);
#undef PAIR
#undef NOTHING
}
END_TEST

START_TEST(up_to_sixty_four_items) {
    ck_assert_uint_eq(LAM_LIST(SIXTY_FOUR(b)).count, 64);
    ck_assert_ptr_eq(LAM_LIST(SIXTY_FOUR(b)).items[63], b);
    ck_assert_uint_eq(LAM_LIST(EIGHT(a), EIGHT(b)).count, 16);
    ck_assert_ptr_eq(LAM_LIST(EIGHT(a), EIGHT(b)).items[8], b);
    ck_assert_int_eq(LAM_AXES(EIGHT(EIGHT(4))).count, 64);
}
END_TEST

START_TEST(lists_nest) {
    ck_assert_ptr_eq(pick(LAM_LIST(pick(LAM_LIST(a, pick(LAM_LIST(b, c), 1)), 1), a), 0), c);
    ck_assert_uint_eq(count_of(LAM_LIST(pick(LAM_LIST(a, b, c), 0), b)), 2);
}
END_TEST

static int calls;

static lam_tensor *counted(lam_tensor *x) {
    calls++;
    return x;
}

START_TEST(items_are_evaluated_once) {
    calls = 0;
    ck_assert_ptr_eq(pick(LAM_LIST(counted(a), counted(pick(LAM_LIST(counted(b)), 0))), 1), b);
    ck_assert_int_eq(calls, 3);
}
END_TEST

START_TEST(axes_hold_numbers_sentinels_and_ranges) {
    lam_axes axes = LAM_AXES(0, LAM_UNMAPPED, LAM_RANGE(2, 3), -1);
    ck_assert_int_eq(axes.count, 4);
    ck_assert_int_eq(axes.items[0], 0);
    ck_assert_int_eq(axes.items[1], LAM_UNMAPPED);
    ck_assert(LAM__IS_RANGE(axes.items[2]));
    ck_assert_int_eq(LAM__RANGE_FIRST(axes.items[2]), 2);
    ck_assert_int_eq(LAM__RANGE_COUNT(axes.items[2]), 3);
    ck_assert_int_eq(axes.items[3], -1);
}
END_TEST

START_TEST(every_range_is_read_back) {
    static const int counts[] = {0, 1, 2, 63, 4095, 4096, 8190, 8191};
    for (int first = -4096; first < 4096; first++)
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
            int item = LAM_RANGE(first, counts[i]);
            ck_assert(LAM__IS_RANGE(item));
            ck_assert_int_eq(LAM__RANGE_FIRST(item), first);
            ck_assert_int_eq(LAM__RANGE_COUNT(item), counts[i]);
        }
}
END_TEST

START_TEST(nothing_else_is_a_range) {
    for (int axis = -4096; axis < 4096; axis++) ck_assert(!LAM__IS_RANGE(axis));
    ck_assert(!LAM__IS_RANGE(LAM_UNMAPPED));
    ck_assert(!LAM__IS_RANGE(LAM__RANGE_BAD));
}
END_TEST

START_TEST(impossible_ranges_are_out_of_range_for_every_axis) {
    const int bad[] = {LAM_RANGE(-4097, 1), LAM_RANGE(4096, 1),    LAM_RANGE(0, -1),
                       LAM_RANGE(0, 8192),  LAM_RANGE(INT_MIN, 1), LAM_RANGE(INT_MAX, INT_MAX)};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ck_assert(!LAM__IS_RANGE(bad[i]));
        ck_assert(bad[i] >= 4096);
    }
}
END_TEST

/* Leaves in order: embedding; first.weight, first.bias; rest[0].weight, rest[0].bias, rest[1]...; heads[0..2]. */
struct layer {
    lam_tensor *weight, *bias;
};

struct model {
    lam_tensor *embedding;
    struct layer first, rest[2];
    lam_tensor *heads[3];
};

START_TEST(trees_list_their_leaves_in_order) {
    struct model model = {a, {b, c}, {{&pool[3], NULL}, {&pool[4], &pool[5]}}, {&pool[6], &pool[7], a}};
    lam_tensor *const expected[] = {a, b, c, &pool[3], NULL, &pool[4], &pool[5], &pool[6], &pool[7], a};
    lam_list leaves = LAM_TREE(&model);
    ck_assert_uint_eq(leaves.count, 10);
    for (size_t i = 0; i < 10; i++) ck_assert_ptr_eq(leaves.items[i], expected[i]);
}
END_TEST

START_TEST(trees_take_const_structs_arrays_and_single_tensors) {
    const struct layer layer = {a, b};
    lam_tensor *const pair[2] = {b, c}, *one = a;
    const struct layer *pointer = &layer;
    ck_assert_ptr_eq(pick(LAM_TREE(&layer), 1), b);
    ck_assert_uint_eq(count_of(LAM_TREE(pointer)), 2);
    ck_assert_uint_eq(count_of(LAM_TREE(&pair)), 2);
    ck_assert_ptr_eq(pick(LAM_TREE(&pair), 1), c);
    ck_assert_uint_eq(count_of(LAM_TREE(&one)), 1);
}
END_TEST

/* Like lam_call: sets every output. */
static size_t set_all(lam_list in, lam_tensor **out, size_t n_out) {
    for (size_t i = 0; i < n_out; i++) out[i] = in.items[i % in.count];
    return n_out;
}

START_TEST(outputs_are_written_into_the_struct) {
    struct model grads = {0};
    lam_tensor *y = NULL;
    ck_assert_uint_eq(set_all(LAM_LIST(a, b, c), LAM_OUT(&grads)), 10);
    ck_assert_ptr_eq(grads.embedding, a);
    ck_assert_ptr_eq(grads.first.bias, c);
    ck_assert_ptr_eq(grads.rest[1].bias, a);
    ck_assert_ptr_eq(grads.heads[2], a);
    ck_assert_uint_eq(set_all(LAM_LIST(b), LAM_OUT(&y)), 1);
    ck_assert_ptr_eq(y, b);
}
END_TEST

static void assert_range(int item, int first, int count) {
    ck_assert(LAM__IS_RANGE(item));
    ck_assert_int_eq(LAM__RANGE_FIRST(item), first);
    ck_assert_int_eq(LAM__RANGE_COUNT(item), count);
}

START_TEST(members_are_ranges_of_leaves) {
    assert_range(LAM_LEAVES(struct model, embedding), 0, 1);
    assert_range(LAM_LEAVES(struct model, first), 1, 2);
    assert_range(LAM_LEAVES(struct model, first.bias), 2, 1);
    assert_range(LAM_LEAVES(struct model, rest), 3, 4);
    assert_range(LAM_LEAVES(struct model, rest[1]), 5, 2);
    assert_range(LAM_LEAVES(struct model, rest[1].bias), 6, 1);
    assert_range(LAM_LEAVES(struct model, heads), 7, 3);
    ck_assert_int_eq(LAM_AXES(0, LAM_LEAVES(struct model, heads)).count, 2);
}
END_TEST

START_TEST(leaf_counts_are_constants) {
    enum { LEAVES = LAM_LEAF_COUNT(struct model) };
    ck_assert_int_eq(LEAVES, 10);
    ck_assert_int_eq((int)LAM_LEAF_COUNT(struct layer), 2);
    ck_assert_int_eq((int)LAM_LEAF_COUNT(lam_tensor *[4]), 4);
}
END_TEST

static TCase *list_tests(void) {
    TCase *tests = tcase_create("lists");
    tcase_add_test(tests, dims_keep_order_and_rank);
    tcase_add_test(tests, dims_take_variables_of_64_bits);
    tcase_add_test(tests, rank_zero);
    tcase_add_test(tests, lists_keep_order_and_holes);
    tcase_add_test(tests, empty_lists_are_not_absent);
    tcase_add_test(tests, single_items_of_any_spelling_count_as_one);
    tcase_add_test(tests, macros_among_the_items_count_as_what_they_expand_to);
    tcase_add_test(tests, up_to_sixty_four_items);
    tcase_add_test(tests, lists_nest);
    tcase_add_test(tests, items_are_evaluated_once);
    tcase_add_test(tests, axes_hold_numbers_sentinels_and_ranges);
    tcase_add_test(tests, every_range_is_read_back);
    tcase_add_test(tests, nothing_else_is_a_range);
    tcase_add_test(tests, impossible_ranges_are_out_of_range_for_every_axis);
    return tests;
}

static TCase *tree_tests(void) {
    TCase *tests = tcase_create("trees");
    tcase_add_test(tests, trees_list_their_leaves_in_order);
    tcase_add_test(tests, trees_take_const_structs_arrays_and_single_tensors);
    tcase_add_test(tests, outputs_are_written_into_the_struct);
    tcase_add_test(tests, members_are_ranges_of_leaves);
    tcase_add_test(tests, leaf_counts_are_constants);
    return tests;
}

int main(void) {
    Suite *suite = suite_create("lists");
    suite_add_tcase(suite, list_tests());
    suite_add_tcase(suite, tree_tests());
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
