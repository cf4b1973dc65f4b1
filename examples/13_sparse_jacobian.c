/* Newton's method on a boundary value problem with 99,999 unknowns: Bratu's equation u'' + exp(u) = 0 with u(0) = u(1)
 * = 0, on a grid. Each equation has three unknowns in it, which lam_jacobian_sparsity finds out, so that three
 * directions give all of the Jacobian, however long the grid is.
 * Source of the solution: u(x) = -2 log(cosh(theta (x - 1/2) / 2) / cosh(theta / 4)), where theta is sqrt(2) cosh(theta
 * / 4), which is 0.14053921440 in the middle. */
#include <lamina/lamina.h>

#include <math.h>

enum { CELLS = 100000, UNKNOWNS = CELLS - 1 };

/* (u_(i-1) - 2 u_i + u_(i+1)) + h^2 exp(u_i), where u is 0 beyond both ends. */
static void bratu(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    (void)env;
    const double h = 1.0 / CELLS;
    lam_tensor *end = lam_zeros(ctx, LAM_F64, LAM_DIMS(1));
    lam_tensor *left = lam_concatenate(LAM_LIST(end, lam_slice_axis(in[0], 0, 0, -1)), 0);
    lam_tensor *right = lam_concatenate(LAM_LIST(lam_slice_axis(in[0], 0, 1, LAM_END), end), 0);
    lam_tensor *second = lam_add(lam_sub(left, lam_mul(2, in[0])), right);
    out[0] = lam_add(second, lam_mul(h * h, lam_exp(in[0])));
}

static lam_tensor *column_of(lam_tensor *pairs, int64_t k) {
    return lam_slice_axis(pairs, 1, k, k + 1);
}

/* Where in [lower, main, upper] each entry of a matrix with three diagonals goes: row i of diagonal column - row. */
static lam_tensor *places(lam_tensor *pairs) {
    lam_tensor *row = column_of(pairs, 0), *column = column_of(pairs, 1);
    lam_tensor *diagonal = lam_add(lam_sub(column, row), 1);
    return lam_reshape(lam_add(lam_mul(diagonal, UNKNOWNS), row), LAM_DIMS(lam_dim(pairs, 0)));
}

int main(void) {
    lam_ctx *ctx = lam_ctx_new(NULL);
    lam_fn *f = lam_fn_new(ctx, &(lam_fn_options){.name = "bratu", .body = bratu, .inputs = 1, .outputs = 1});
    lam_tensor *u = lam_zeros(ctx, LAM_F64, LAM_DIMS(UNKNOWNS)),
               *none = lam_zeros(ctx, LAM_F64, LAM_DIMS(3 * UNKNOWNS));
    lam_tensor *pairs = lam_jacobian_sparsity(f, LAM_LIST(u), NULL), *to = places(pairs);
    lam_fn *jacobian = lam_sparse_jacobian(f, pairs, NULL);
    printf("%lld entries of %d unknowns\n", (long long)lam_dim(pairs, 0), UNKNOWNS);
    double step = 1;
    for (int k = 0; k < 20 && step > 1e-6; k++) {
        lam_scope *scope = lam_scope_begin(ctx);
        lam_tensor *bands = lam_scatter_add(none, to, lam_apply(jacobian, LAM_LIST(u)), 0), *diagonals[3];
        lam_unstack(lam_reshape(bands, LAM_DIMS(3, UNKNOWNS)), 0, diagonals, 3);
        lam_tensor *residual = lam_apply(f, LAM_LIST(u));
        lam_tensor *du = lam_tridiagonal_solve(diagonals[0], diagonals[1], diagonals[2], residual);
        step = lam_item(lam_max_reduce(lam_abs(du), NULL));
        lam_assign_(u, lam_sub(u, du));
        lam_scope_end(scope, NULL, 0);
        printf("step %d: %.0e\n", k + 1, step);
    }
    printf("u(1/2) = %.6f\n", lam_item(lam_slice_axis(u, 0, CELLS / 2 - 1, CELLS / 2)));
    if (lam_status_of(ctx)) fprintf(stderr, "%s\n", lam_error(ctx));
    int failed = lam_status_of(ctx) != LAM_OK;
    lam_ctx_free(ctx);
    return failed;
}
