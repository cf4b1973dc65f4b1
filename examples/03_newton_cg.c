/* Newton's method without a matrix: conjugate gradients on Hessian-vector products.
 *
 * lam_hvp gives the value, the gradient and H v of a function for the price of a few gradients, so that a Newton
 * step in 100 dimensions needs no Hessian of 10,000 elements. The inner loop is ordinary C: it reads numbers with
 * lam_item and branches on them. */
#include <lamina/lamina.h>

#include <math.h>

enum { SIZE = 100 };

static void rosenbrock(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    (void)ctx, (void)env;
    lam_tensor *a = lam_slice_axis(in[0], 0, 0, -1), *b = lam_slice_axis(in[0], 0, 1, LAM_END);
    lam_tensor *valley = lam_mul(100.0, lam_square(lam_sub(b, lam_square(a))));
    out[0] = lam_sum(lam_add(valley, lam_square(lam_sub(1.0, a))), NULL);
}

static double dot(lam_tensor *a, lam_tensor *b) {
    return lam_item(lam_sum(lam_mul(a, b), NULL));
}

/* value, gradient and H v at x. */
static lam_tensor *product(lam_fn *hvp, lam_tensor *x, lam_tensor *v) {
    lam_tensor *out[3];
    lam_call(hvp, LAM_LIST(x, v), out, 3);
    return out[2];
}

/* A direction p with H p about -g, by conjugate gradients; stops early where H is not positive along the search. */
static lam_tensor *newton_direction(lam_fn *hvp, lam_tensor *x, lam_tensor *g, int *products) {
    lam_tensor *p = lam_zeros_like(x), *r = lam_neg(g), *d = r;
    double rr = dot(r, r), enough = rr * fmin(0.25, sqrt(rr)); /* a rough answer will do far from the minimum */
    for (int k = 0; k < SIZE && rr > enough; k++, ++*products) {
        lam_tensor *hd = product(hvp, x, d);
        double curvature = dot(d, hd), before = rr;
        if (curvature <= 0) return k ? p : r;
        p = lam_add(p, lam_mul(rr / curvature, d));
        r = lam_sub(r, lam_mul(rr / curvature, hd));
        rr = dot(r, r);
        d = lam_add(r, lam_mul(rr / before, d));
    }
    return p;
}

/* Halves the step until the function falls enough, then moves x there. */
static void line_search(lam_fn *f, lam_tensor *x, lam_tensor *p, double value, double slope) {
    for (double t = 1; t > 1e-12; t /= 2) {
        lam_tensor *next = lam_add(x, lam_mul(t, p));
        if (lam_item(lam_apply(f, LAM_LIST(next))) > value + 1e-4 * t * slope) continue;
        lam_assign_(x, next);
        return;
    }
}

int main(void) {
    lam_ctx *ctx = lam_ctx_new(NULL);
    lam_fn *f = lam_fn_new(ctx, &(lam_fn_options){.name = "rosenbrock", .body = rosenbrock, .inputs = 1, .outputs = 1});
    lam_fn *with_gradient = lam_value_and_grad(f, NULL), *hvp = lam_hvp(f, NULL);
    lam_tensor *x = lam_full(ctx, LAM_F64, LAM_DIMS(SIZE), 0);
    double length = INFINITY;
    int steps = 0, products = 0;
    for (; steps < 500 && length > 1e-8; steps++) {
        lam_scope *scope = lam_scope_begin(ctx);
        lam_tensor *out[2];
        lam_call(with_gradient, LAM_LIST(x), out, 2);
        length = sqrt(dot(out[1], out[1]));
        if (steps == 0) printf("start: value %.6g, gradient length %.6g\n", lam_item(out[0]), length);
        lam_tensor *p = newton_direction(hvp, x, out[1], &products);
        line_search(f, x, p, lam_item(out[0]), dot(out[1], p));
        lam_scope_end(scope, NULL, 0);
    }
    printf("end: gradient below 1e-8: %s, value below 1e-12: %s\n", length <= 1e-8 ? "yes" : "no",
           lam_item(lam_apply(f, LAM_LIST(x))) < 1e-12 ? "yes" : "no");
    printf("Hessian-vector products per step: %.1f, where the Hessian has %d columns\n", (double)products / steps,
           SIZE);
    printf("x[0] = %.6f, x[%d] = %.6f\n", lam_item(lam_index(x, 0, 0)), SIZE - 1, lam_item(lam_index(x, 0, -1)));

    int failed = lam_status_of(ctx) != LAM_OK;
    if (failed) fprintf(stderr, "%s\n", lam_error(ctx));
    lam_ctx_free(ctx);
    return failed;
}
