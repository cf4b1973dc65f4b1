// The quick start in C++17: the same names, checked by the same headers.
//
// Numbers stand for tensors by overloads instead of _Generic, a lambda without captures is a body, and lists such as
// LAM_LIST(x) live to the end of the expression they are written in. Nothing is thrown and nothing needs a destructor;
// a context in a unique_ptr is freed, with all it owns, on every way out.
#include <lamina/lamina.h>

#include <cstdio>
#include <memory>
#include <vector>

static lam_fn *rosenbrock(lam_ctx *ctx) {
    lam_fn_options options{};
    options.name = "rosenbrock";
    options.inputs = options.outputs = 1;
    options.body = [](lam_ctx *, lam_tensor *const in[], lam_tensor *out[], void *) {
        lam_tensor *a = lam_slice_axis(in[0], 0, 0, -1), *b = lam_slice_axis(in[0], 0, 1, LAM_END);
        lam_tensor *valley = lam_mul(100.0, lam_square(lam_sub(b, lam_square(a))));
        out[0] = lam_sum(lam_add(valley, lam_square(lam_sub(1, a))), nullptr);
    };
    return lam_fn_new(ctx, options);
}

int main() {
    std::unique_ptr<lam_ctx, decltype(&lam_ctx_free)> owner(lam_ctx_new(nullptr), lam_ctx_free);
    lam_ctx *ctx = owner.get();
    lam_fn *f = rosenbrock(ctx);
    const std::vector<double> start{-1.2, 1, 0.5, 2};
    lam_tensor *x = lam_array(ctx, LAM_F64, LAM_DIMS(start.size()), start.data());

    std::printf("gradient: ");
    lam_print(stdout, lam_apply(lam_grad(f, nullptr), LAM_LIST(x)));
    std::printf("Hessian: ");
    lam_print(stdout, lam_apply(lam_hessian(f, nullptr), LAM_LIST(x)));

    // Options are plain structs: name the fields that are not the default. `columns` keeps its list alive.
    auto columns = LAM_AXES(1);
    lam_vmap_options options{};
    options.in_axes = columns;
    lam_tensor *points =
        lam_array(ctx, LAM_F64, LAM_DIMS(4, 2), std::vector<double>{-1.2, 1, 1, 1, 0.5, 1, 2, 1}.data());
    std::printf("gradient at each column: ");
    lam_print(stdout, lam_apply(lam_vmap(lam_grad(f, nullptr), options), LAM_LIST(points)));

    if (lam_status_of(ctx) != LAM_OK) std::fprintf(stderr, "%s\n", lam_error(ctx));
    return lam_status_of(ctx) == LAM_OK ? 0 : 1;
}
