/* Derivatives of lam_odeint as programs and as machine code, which take the steps between two times again on the way
 * back and round otherwise there (NOTE [ends at times] in transforms/ode.c): they equal those that are called, however
 * many times there are and however small tolerances. Expected values are differences, or what a call gives, which
 * differences confirm. */
#include "tests/support.h"

enum { SIZE = 3 };

typedef struct setting {
    lam_dtype dtype;
    double tolerance; /* 0: the usual one */
    int64_t times;
    bool native;
} setting;

/* y' = tanh(A y), and a loss of its path. */
BODY(network) {
    out[0] = lam_tanh(lam_matvec(in[2], in[0]));
}

BODY(loss) {
    const setting *s = env;
    const lam_ode_options o = {.rtol = s->tolerance, .atol = s->tolerance};
    lam_tensor *ts = lam_linspace(ctx, s->dtype, 0, 3, s->times);
    out[0] = lam_sum(lam_square(lam_odeint(FN(network, 3, 1), in[0], ts, LAM_LIST(in[1]), NULL, &o)), NULL);
}

/* y0, A, and a direction. */
static lam_list operands(const setting *s, lam_tensor *in[3]) {
    in[0] = lam_cast(VEC(0.7, -0.2, 0.4), s->dtype);
    in[1] = lam_cast(MAT(3, 3, 0.1, 0.5, -0.3, -0.4, 0.2, 0.6, 0.3, -0.5, -0.2), s->dtype);
    in[2] = lam_cast(VEC(1, 0.5, -1), s->dtype);
    return (lam_list){3, in};
}

enum way { GRADIENT, BY_BOTH, PRODUCT, BACK_TWICE, HESSIAN, BATCH, WAYS };

/* Functions of y0 and A, of PRODUCT of a direction too. */
static lam_fn *function_of_way(lam_fn *f, enum way way) {
    const lam_jacobian_options first = {.argnums = LAM_AXES(0)};
    const lam_grad_options by_start = {.argnums = LAM_AXES(0)}, by_both = {.argnums = LAM_AXES(0, 1)};
    lam_fn *gradient = lam_grad(f, way == BY_BOTH ? &by_both : &by_start);
    switch (way) {
    case PRODUCT: return lam_jvp_fn(gradient, &by_start);
    case BACK_TWICE: return lam_jacrev(gradient, &first);
    case HESSIAN: return lam_hessian(f, &first);
    case BATCH: return lam_vmap(gradient, &(lam_vmap_options){.in_axes = LAM_AXES(0, LAM_UNMAPPED)});
    default: return gradient;
    }
}

/* All results in a row, in f64, with 1 added to each: some are small beside the others. */
static lam_tensor *run(lam_fn *f, enum way way, const setting *s) {
    lam_tensor *in[3], *out[2] = {NULL};
    lam_list list = operands(s, in);
    const size_t outputs = way == BY_BOTH || way == PRODUCT ? 2 : 1;
    list.count = way == PRODUCT ? 3 : 2;
    if (way == BATCH) in[0] = lam_stack(LAM_LIST(in[0], in[2], lam_mul(0.1, in[2])), 0);
    lam_call(f, list, out, outputs);
    for (size_t k = 0; k < outputs; k++) out[k] = lam_cast(lam_reshape(out[k], LAM_DIMS(-1)), LAM_F64);
    return lam_add(1.0, lam_concatenate((lam_list){outputs, out}, 0));
}

static const setting settings[] = {
    {LAM_F32, 0, 2, false},  {LAM_F32, 0, 11, false}, {LAM_F32, 0, 40, true},
    {LAM_F64, 0, 11, false}, {LAM_F64, 0, 40, false}, {LAM_F64, 1e-12, 40, false},
};

/* Of f64 to rounding and what tolerances leave of it; of f32 those of f64. */
START_TEST(compiled_ones_are_those_that_are_called) {
    const enum way way = (enum way)_i;
    for (size_t k = 0; k < sizeof settings / sizeof *settings; k++) {
        setting s = settings[k], exact = {.dtype = LAM_F64, .tolerance = 1e-12, .times = s.times};
        const double bound = s.dtype == LAM_F32 ? 1e-4 : 1e-9;
        lam_fn *f = function_of_way(FN_ENV(loss, 2, 1, &s), way), *g = FN_ENV(loss, 2, 1, &exact);
        lam_tensor *called = run(f, way, &s);
        lam_tensor *want = s.dtype == LAM_F32 ? run(function_of_way(g, way), way, &exact) : called;
        EXPECT_SAME(called, want, bound);
        EXPECT_SAME(run(lam_jit(f, &(lam_jit_options){.native = s.native}), way, &s), want, bound);
    }
    EXPECT_OK();
}
END_TEST

/* (f(y0 + h v) - f(y0 - h v)) / 2 h. */
static lam_tensor *difference(lam_fn *f, const setting *s, double h) {
    lam_tensor *in[3];
    (void)operands(s, in);
    lam_tensor *v = lam_mul(h, in[2]);
    return lam_div(lam_sub(apply2(f, lam_add(in[0], v), in[1]), apply2(f, lam_sub(in[0], v), in[1])), 2 * h);
}

/* Along a direction: of the loss that of differences, and of the gradient. */
START_TEST(compiled_ones_are_differences) {
    static const int64_t times[] = {2, 3, 11, 40};
    const setting s = {.dtype = LAM_F64, .tolerance = 1e-12, .times = times[_i]};
    lam_fn *f = FN_ENV(loss, 2, 1, (void *)(uintptr_t)&s), *gradient = function_of_way(f, GRADIENT);
    lam_fn *product = function_of_way(f, PRODUCT);
    lam_tensor *v = VEC(1, 0.5, -1), *slope = difference(f, &s, 1e-4), *bend = difference(gradient, &s, 1e-4);
    for (int native = 0; native < 2; native++) {
        lam_tensor *both = run(lam_jit(product, &(lam_jit_options){.native = native}), PRODUCT, &s);
        both = lam_sub(both, 1.0);
        EXPECT_SAME(lam_dot(v, lam_slice_axis(both, 0, 0, SIZE)), slope, 1e-7);
        EXPECT_SAME(lam_slice_axis(both, 0, SIZE, 2 * SIZE), bend, 1e-7);
    }
    EXPECT_OK();
}
END_TEST

/* By the times themselves, of which some repeat, and by what else there is. */
BODY(loss_by_times) {
    lam_tensor *path = lam_odeint(FN(network, 3, 1), in[1], in[0], LAM_LIST(in[2]), NULL, NULL);
    out[0] = lam_sum(lam_mul(lam_sin(path), lam_add(1.5, path)), NULL);
}

START_TEST(compiled_ones_by_times) {
    lam_tensor *in[4], *want[3], *got[3];
    (void)operands(&(setting){.dtype = LAM_F64}, in + 1);
    in[0] = VEC(0, 0, 0.3, 0.5, 0.5, 0.5, 1, 1.7, 2, 2.1, 2.2, 3);
    const lam_grad_options all = {.argnums = LAM_AXES(0, 1, 2)};
    lam_fn *f = lam_grad(FN(loss_by_times, 3, 1), &all), *twice = lam_hessian(FN(loss_by_times, 3, 1), NULL);
    lam_call(f, (lam_list){3, in}, want, 3);
    lam_tensor *bends = lam_add(1.0, lam_apply(twice, (lam_list){3, in}));
    for (int native = 0; native < 2; native++) {
        lam_call(lam_jit(f, &(lam_jit_options){.native = native}), (lam_list){3, in}, got, 3);
        for (int i = 0; i < 3; i++) EXPECT_SAME(got[i], want[i], 1e-9);
        lam_fn *compiled = lam_jit(twice, &(lam_jit_options){.native = native});
        EXPECT_SAME(lam_add(1.0, lam_apply(compiled, (lam_list){3, in})), bends, 1e-9);
    }
    EXPECT_OK();
}
END_TEST

Suite *suite_transforms_ode_compiled(void) {
    Suite *suite = SUITE_OF("transforms/ode_compiled", compiled_ones_by_times);
    suite_loop(suite, compiled_ones_are_those_that_are_called, WAYS);
    suite_loop(suite, compiled_ones_are_differences, 4);
    return suite;
}
