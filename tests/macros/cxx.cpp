/* The same names in C++17: lists that live to the end of the full expression or as long as the object kept by auto,
 * trees whose every member is checked, overloads for literals and for options. Expected values are counted by hand or
 * follow from the docstrings; the mock stands for the library. Prints `N passed, N failed`; fails if any did. */
#include "mock.h"
#include <cstdio>
#include <cstring>

/* A call with options as a header of Lamina declares it, and the one line it adds for C++: NOTE [options in C++]. */
extern "C" {
struct lam_mock_options {
    lam_axes axes;
    bool keepdims;
};

static int lam_mock(lam_tensor *x, const lam_mock_options *options) {
    if (!x || !options) return -1;
    int sum = options->keepdims ? 1000 : 0;
    for (int i = 0; i < options->axes.count; i++) sum += options->axes.items[i];
    return sum;
}
}

static inline int lam_mock(lam_tensor *x, const lam_mock_options &options) {
    return lam_mock(x, &options);
}

static int passed, failed;

static void check(bool holds, const char *what, int line) {
    (holds ? passed : failed)++;
    if (!holds) std::fprintf(stderr, "line %d: %s\n", line, what);
}

#define CHECK(condition)         check(condition, #condition, __LINE__)
#define IS(expression, expected) check(std::strcmp(mock_text(expression), expected) == 0, expected, __LINE__)

/* Through calls, as the library sees lists: the arrays are read while the temporaries live. */
static std::size_t count_of(lam_list list) {
    return list.count;
}

static lam_tensor *pick(lam_list list, std::size_t i) {
    return i < list.count ? list.items[i] : nullptr;
}

static int rank_of(lam_dims dims) {
    return dims.rank;
}

static std::int64_t size_at(lam_dims dims, int i) {
    return i < dims.rank ? dims.dims[i] : -1;
}

static int axes_count(lam_axes axes) {
    return axes.items ? axes.count : -1;
}

static int axis_at(lam_axes axes, int i) {
    return i < axes.count ? axes.items[i] : -9;
}

static void test_dims() {
    std::size_t rows = 7;
    unsigned char columns = 3;
    CHECK(rank_of(LAM_DIMS(2, 3)) == 2);
    CHECK(size_at(LAM_DIMS(2, 3), 1) == 3);
    CHECK(size_at(LAM_DIMS(rows, columns), 0) == 7);
    CHECK(size_at(LAM_DIMS(INT64_C(1) << 40), 0) == INT64_C(1099511627776));
    CHECK(rank_of(LAM_DIMS0) == 0);
    CHECK(rank_of(LAM_DIMS()) == 0);
}

static void test_lists(lam_tensor *a, lam_tensor *b) {
    CHECK(count_of(LAM_LIST(a, nullptr, b)) == 3);
    CHECK(count_of(LAM_LIST(a, NULL)) == 2);
    CHECK(pick(LAM_LIST(a, NULL, b), 1) == nullptr);
    CHECK(pick(LAM_LIST(a, NULL, b), 2) == b);
    CHECK(count_of(LAM_LIST()) == 0);
    CHECK(count_of(LAM_LIST((a))) == 1);
    CHECK(pick(LAM_LIST(pick(LAM_LIST(a, pick(LAM_LIST(b), 0)), 1), a), 0) == b);
    auto kept = LAM_LIST(a, b);
    lam_list list = kept;
    CHECK(list.count == 2 && list.items[1] == b);
}

static void test_axes() {
    CHECK(axes_count(LAM_AXES(0, LAM_UNMAPPED, LAM_RANGE(2, 3))) == 3);
    CHECK(axis_at(LAM_AXES(0, LAM_UNMAPPED), 1) == LAM_UNMAPPED);
    CHECK(LAM__RANGE_FIRST(axis_at(LAM_AXES(0, LAM_RANGE(-2, 3)), 1)) == -2);
    CHECK(LAM__RANGE_COUNT(axis_at(LAM_AXES(0, LAM_RANGE(-2, 3)), 1)) == 3);
    CHECK(axes_count(LAM_NO_AXES) == 0);
    CHECK(axes_count(LAM_AXES()) == 0);
}

struct layer {
    lam_tensor *weight, *bias;
};

struct model {
    lam_tensor *embedding = nullptr;
    layer first, rest[2];
    lam_tensor *heads[3];
};

static std::size_t set_all(lam_tensor *value, lam_tensor **out, std::size_t n_out) {
    for (std::size_t i = 0; i < n_out; i++) out[i] = value;
    return n_out;
}

static bool is_range(int item, int first, int count) {
    return LAM__IS_RANGE(item) && LAM__RANGE_FIRST(item) == first && LAM__RANGE_COUNT(item) == count;
}

static void test_trees(lam_tensor *a, lam_tensor *b) {
    const layer fixed = {a, b};
    model grads = {};
    lam_tensor *pair[2] = {a, b}, *one = a;
    CHECK(pick(LAM_TREE(&fixed), 1) == b);
    CHECK(count_of(LAM_TREE(&grads)) == 10);
    CHECK(count_of(LAM_TREE(&pair)) == 2);
    CHECK(count_of(LAM_TREE(&one)) == 1);
    CHECK(set_all(b, LAM_OUT(&grads)) == 10);
    CHECK(grads.embedding == b && grads.rest[1].bias == b && grads.heads[2] == b);
    static_assert(LAM_LEAF_COUNT(model) == 10, "a constant");
    CHECK(is_range(LAM_LEAVES(model, embedding), 0, 1));
    CHECK(is_range(LAM_LEAVES(model, rest), 3, 4));
    CHECK(is_range(LAM_LEAVES(model, rest[1].bias), 6, 1));
    CHECK(is_range(LAM_LEAVES(model, heads), 7, 3));
}

static void test_literals(lam_tensor *x, lam_tensor *y) {
    enum { TEN = 10 };
    enum wide : unsigned long long { MOST = ULLONG_MAX };
    IS(lam_mul(x, y), "mul(x, y)");
    IS(lam_mul(x, nullptr), "mul(x, NULL)");
    IS(lam_mul(nullptr, 2), "mul(NULL, 2i)");
    IS(lam_sub(x, 2.5), "sub(x, 2.5r)");
    IS(lam_sub(2.5f, x), "sub(2.5r, x)");
    IS(lam_sub(2.0L, x), "sub(2r, x)");
    IS(lam_pow(x, 0), "pow(x, 0i)");
    IS(lam_pow(0, x), "pow(0i, x)");
    IS(lam_add(x, true), "add(x, 1i)");
    IS(lam_add('A', x), "add(65i, x)");
    IS(lam_add(x, 4294967295u), "add(x, 4294967295i)");
    IS(lam_add(LLONG_MIN, x), "add(-9223372036854775808i, x)");
    IS(lam_add(x, ULLONG_MAX), "add(x, 18446744073709551615u)");
    IS(lam_add(ULONG_MAX, x), "add(18446744073709551615u, x)");
    IS(lam_add(x, TEN), "add(x, 10i)");
    IS(lam_add(MOST, x), "add(18446744073709551615u, x)");
}

static void test_every_name(lam_tensor *x) {
#define CALL(name) IS(lam_##name(x, 2), #name "(x, 2i)"), IS(lam_##name(0.5, x), #name "(0.5r, x)");
    LAM__LITERAL_NAMES(CALL)
#undef CALL
}

static void test_three_operands(lam_tensor *c, lam_tensor *x) {
    IS(lam_add_(x, c), "add_(x, y)");
    IS(lam_add_(x, nullptr), "add_(x, NULL)");
    IS(lam_sub_(x, 2), "sub_(x, 2i)");
    IS(lam_mul_(x, 0.5f), "mul_(x, 0.5r)");
    IS(lam_div_(x, ULLONG_MAX), "div_(x, 18446744073709551615u)");
    IS(lam_where(c, x, x), "where(y, x, x)");
    IS(lam_where(c, x, 0.0), "where(y, x, 0r)");
    IS(lam_where(c, 1, nullptr), "where(y, 1i, NULL)");
    IS(lam_where(c, 0, 0), "where(y, 0i, 0i)");
    IS(lam_clamp(x, x, ULLONG_MAX), "clamp(x, x, 18446744073709551615u)");
    IS(lam_clamp(x, -1.5f, 1), "clamp(x, -1.5r, 1i)");
    IS(lam_fma(x, x, 1.5f), "fma(x, x, 1.5r)");
}

static void test_ordinary_functions(lam_tensor *x, lam_tensor *y) {
    lam_tensor *(*pointer)(lam_tensor *, lam_tensor *) = &lam_mul;
    IS((lam_mul)(x, y), "mul(x, y)");
    IS(pointer(x, y), "mul(x, y)");
    IS(lam_add(lam_mul(100.0, lam_pow(lam_sub(y, lam_mul(x, x)), 2)), lam_pow(lam_sub(1.0, x), 2)),
       "add(mul(100r, pow(sub(y, mul(x, x)), 2i)), pow(sub(1r, x), 2i))");
}

/* Members filled one by one: the list outlives the expression that made it because auto keeps it. */
static void test_options(lam_tensor *x) {
    CHECK(lam_mock(x, nullptr) == -1);
    CHECK(lam_mock(x, {LAM_AXES(3, 4), true}) == 1007);
    CHECK(lam_mock(x, lam_mock_options{LAM_NO_AXES, false}) == 0);
    auto axes = LAM_AXES(5, 6);
    lam_mock_options options = {};
    options.axes = axes;
    CHECK(lam_mock(x, options) == 11);
    CHECK(lam_mock(x, &options) == 11);
}

int main() {
    mock_reset();
    lam_tensor *x = mock_new("x"), *y = mock_new("y");
    test_dims();
    test_lists(x, y);
    test_axes();
    test_trees(x, y);
    test_literals(x, y);
    test_every_name(x);
    test_three_operands(y, x);
    test_ordinary_functions(x, y);
    test_options(x);
    std::printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
