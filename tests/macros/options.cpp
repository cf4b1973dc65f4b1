/* Options in C++17, with the library itself: written where they are used, or as an object filled by its members; by
 * reference and by pointer. Expected values by hand; the rules of custom functions are wrong by a factor on purpose.
 * Prints `N passed, N failed`; fails if any did. */
#include <lamina/lamina.h>

#include <cstdio>

#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wmissing-field-initializers" /* that the others are the default is the point */
#endif

static int passed, failed;
static lam_ctx *ctx;

static void check(bool holds, const char *what, int line) {
    (holds ? passed : failed)++;
    if (!holds) std::fprintf(stderr, "line %d: %s: %s\n", line, what, lam_error(ctx));
}

#define CHECK(condition) check(condition, #condition, __LINE__)

static lam_fn *function(lam_body body, int inputs, int outputs) {
    lam_fn_options options{};
    options.body = body, options.inputs = inputs, options.outputs = outputs;
    return lam_fn_new(ctx, options);
}

static lam_tensor *matrix() {
    const double x[] = {1, 2, 3, 4, 5, 6};
    return lam_array(ctx, LAM_F64, LAM_DIMS(2, 3), x);
}

static double item(lam_tensor *x, int i) {
    return lam_item(lam_index(x, 0, i));
}

static void test_operations() {
    lam_tensor *columns = lam_sum(matrix(), {LAM_AXES(0), true});
    CHECK(lam_rank(columns) == 2 && item(lam_index(columns, 0, 0), 2) == 9);
    CHECK(lam_item(lam_max_reduce(matrix(), {LAM_AXES(0, 1)})) == 6);
    CHECK(lam_item(lam_sum(matrix(), nullptr)) == 21 && lam_item(lam_sum(matrix(), NULL)) == 21);
    auto rows = LAM_AXES(1);
    lam_reduce_options filled{};
    filled.axes = rows;
    CHECK(item(lam_mean(matrix(), filled), 1) == 5 && item(lam_mean(matrix(), &filled), 1) == 5);
}

static void product(lam_ctx *, lam_tensor *const in[], lam_tensor *out[], void *) {
    out[0] = lam_mul(in[0], in[1]);
}

static void test_transforms() {
    lam_fn *f = function(product, 2, 1);
    lam_tensor *x = lam_scalar(ctx, 3.0), *y = lam_scalar(ctx, 5.0), *both[2];
    CHECK(lam_item(lam_apply(lam_grad(f, {LAM_AXES(1)}), LAM_LIST(x, y))) == 3);
    CHECK(lam_call(lam_value_and_grad(f, {LAM_AXES(-1)}), LAM_LIST(x, y), both, 2) == LAM_OK &&
          lam_item(both[0]) == 15);
    lam_tensor *columns = lam_apply(lam_vmap(f, {LAM_AXES(1), LAM_AXES(1)}), LAM_LIST(matrix(), matrix()));
    CHECK(lam_dim(columns, 0) == 2 && item(lam_index(columns, 0, 1), 0) == 16);
}

/* ---- function.h: rules for functions that exist, and linear systems ---------------------------------------------- */

static void fwd(lam_ctx *, lam_tensor *const in[], lam_tensor *out[], void *) {
    out[0] = lam_mul(in[0], in[1]);
}

/* The nondiff input, then the cotangent: five times the gradient by the second. */
static void bwd(lam_ctx *, lam_tensor *const in[], lam_tensor *out[], void *) {
    out[0] = lam_mul(5.0, lam_mul(in[0], in[1]));
}

static bool null_seen;

/* Seven times the tangent. */
static void rule(lam_ctx *, lam_tensor *const in[], lam_tensor *out[], void *) {
    null_seen = !in[2];
    out[0] = lam_mul(in[0], in[1]);
    out[1] = in[3] ? lam_mul(7.0, lam_mul(in[0], in[3])) : lam_zeros_like(out[0]);
}

/* Tangent, output, inputs: nine times the tangent. */
static void rule_by_second(lam_ctx *, lam_tensor *const in[], lam_tensor *out[], void *) {
    out[0] = lam_mul(9.0, lam_mul(in[0], in[2]));
}

static double by_second(lam_fn *f) {
    return lam_item(lam_apply(lam_grad(f, {LAM_AXES(1)}), LAM_LIST(lam_scalar(ctx, 2.0), lam_scalar(ctx, 3.0))));
}

static void test_rules() {
    lam_fn *f = function(product, 2, 1);
    CHECK(by_second(lam_custom_vjp(f, function(fwd, 2, 1), function(bwd, 2, 1), {LAM_AXES(0)})) == 10);
    lam_custom_options symbolic{};
    symbolic.symbolic_zeros = true;
    CHECK(by_second(lam_custom_jvp(f, function(rule, 4, 2), symbolic)) == 14 && null_seen);
    lam_fn *const rules[] = {nullptr, function(rule_by_second, 4, 1)};
    CHECK(by_second(lam_custom_jvps(f, rules, 2, {LAM_AXES(0)})) == 18);
    CHECK(by_second(lam_custom_jvps(f, rules, 2, nullptr)) == 18);
}

/* linear(v) = a v for a scalar v. */
static lam_tensor *divide(lam_ctx *c, lam_fn *linear, lam_tensor *b, void *env) {
    ++*static_cast<int *>(env);
    return lam_div(b, lam_apply(linear, LAM_LIST(lam_ones(c, LAM_F64, LAM_DIMS0))));
}

static void halve(lam_ctx *, lam_tensor *const in[], lam_tensor *out[], void *) {
    out[0] = lam_mul(0.5, in[0]);
}

static void test_linear_solve() {
    int solved = 0;
    lam_tensor *a = lam_scalar(ctx, 4.0), *b = lam_scalar(ctx, 6.0);
    lam_fn *times = function(product, 2, 1);
    CHECK(lam_item(lam_custom_linear_solve(times, LAM_LIST(a), b, divide, {nullptr, true, &solved})) == 1.5);
    CHECK(solved == 1);
    lam_custom_linear_solve_options by_solver{};
    by_solver.symmetric = true;
    by_solver.solver = function(halve, 1, 1);
    CHECK(lam_item(lam_custom_linear_solve(times, LAM_LIST(a), b, nullptr, by_solver)) == 3);
}

int main() {
    lam_ctx_options options{};
    options.memory_limit = 1 << 24;
    ctx = lam_ctx_new(options);
    test_operations();
    test_transforms();
    test_rules();
    test_linear_solve();
    CHECK(lam_status_of(ctx) == LAM_OK);
    lam_ctx_free(ctx);
    std::printf("%d passed, %d failed\n", passed, failed);
    return failed ? 1 : 0;
}
