/* A derivative for a build without Lamina: the sum of squared residuals of a decay, y = a exp(-b t) + c, and its
 * gradient by the three parameters, recorded and written as one C function. What is printed is that file: it needs
 * <math.h> and nothing else, allocates nothing, and says how large its workspace is. A call with the same numbers gives
 * what lam_call gives. */
#include <lamina/lamina.h>

#include <stdio.h>

enum { SAMPLES = 8 };

/* Parameters [a, b, c] and samples taken at the times 0, 0.5, 1, ... */
static void misfit(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    (void)env;
    lam_tensor *a = lam_slice_axis(in[0], 0, 0, 1), *b = lam_slice_axis(in[0], 0, 1, 2),
               *c = lam_slice_axis(in[0], 0, 2, 3);
    lam_tensor *time = lam_linspace(ctx, LAM_F64, 0, 0.5 * (SAMPLES - 1), SAMPLES);
    lam_tensor *curve = lam_add(lam_mul(a, lam_exp(lam_neg(lam_mul(b, time)))), c);
    out[0] = lam_sum(lam_square(lam_sub(curve, in[1])), NULL);
}

int main(void) {
    lam_ctx *ctx = lam_ctx_new(NULL);
    lam_fn *f = lam_fn_new(ctx, &(lam_fn_options){.name = "misfit", .body = misfit, .inputs = 2, .outputs = 1});
    lam_fn *both = lam_value_and_grad(f, NULL);

    /* Only the types of the examples matter. */
    lam_tensor *parameters = lam_zeros(ctx, LAM_F64, LAM_DIMS(3)),
               *samples = lam_zeros(ctx, LAM_F64, LAM_DIMS(SAMPLES));
    lam_program *program = lam_trace(both, LAM_LIST(parameters, samples));
    lam_emit_c(program, stdout, &(lam_emit_options){.name = "misfit_and_gradient"});

    if (lam_status_of(ctx)) fprintf(stderr, "%s\n", lam_error(ctx));
    lam_ctx_free(ctx);
    return 0;
}
