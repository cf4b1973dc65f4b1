/* jit: programs drawn at random, with axes of one size and of one element, batches of the sizes of other axes, zeros of
 * both signs; compiled in each way against the plain function. */
#include "tests/support.h"

enum { STEPS = 9, PROGRAMS = 160 };

/* ---- steps ------------------------------------------------------------------------------------------------------- */

static lam_tensor *from_zero(lam_tensor *x) {
    return lam_copysign(lam_add(lam_abs(x), 0.25), lam_sub(0.0, x));
}

static lam_tensor *over(lam_tensor *x) {
    return lam_reciprocal(lam_add(lam_square(x), 0.5));
}

static lam_tensor *quartic(lam_tensor *x) {
    return lam_integer_pow(x, 4);
}

static lam_tensor *angle_of(lam_tensor *x) {
    return lam_atan2(x, lam_neg(lam_abs(x)));
}

static lam_tensor *narrow(lam_tensor *x) {
    return lam_cast(lam_cast(lam_mul(8, x), LAM_I32), LAM_F64);
}

static lam_tensor *wave(lam_tensor *x) {
    lam_tensor *sine, *cosine;
    lam_sincos(x, &sine, &cosine);
    return lam_mul(lam_tanh(cosine), sine);
}

static lam_tensor *turned(lam_tensor *x) {
    return lam_reverse(x, LAM_AXES(0));
}

static lam_tensor *crossed(lam_tensor *x) {
    return lam_matrix_transpose(x);
}

static lam_tensor *lower(lam_tensor *x) {
    return lam_tril(x, -1);
}

static lam_tensor *product(lam_tensor *x) {
    return lam_tanh(lam_einsum("ij,kj->ki", LAM_LIST(x, lam_sin(x))));
}

static lam_tensor *rows_less_mean(lam_tensor *x) {
    return lam_sub(x, lam_mean(x, &(lam_reduce_options){.axes = LAM_AXES(1), .keepdims = true}));
}

static lam_tensor *largest(lam_tensor *x) {
    return lam_max(x, lam_max_reduce(x, &(lam_reduce_options){.axes = LAM_AXES(0)}));
}

static lam_tensor *called(lam_tensor *x) {
    return lam_tanh(lam_cumsum(x, 1));
}

static lam_tensor *taken(lam_tensor *x) {
    const int64_t at[] = {-1, 0, -1};
    lam_tensor *rows = lam_array(ctx, LAM_I64, LAM_DIMS(3), at);
    return lam_scatter_add(x, rows, lam_sin(lam_take(x, rows, 0)), 0);
}

/* All keep the dims, but those of `square` matrices alone, which come last. */
static lam_tensor *(*const steps[])(lam_tensor *) = {lam_neg, lam_sin, from_zero, over,    quartic,        angle_of,
                                                     narrow,  wave,    lam_trunc, turned,  rows_less_mean, largest,
                                                     called,  taken,   lower,     product, crossed};
enum { ALL_STEPS = sizeof steps / sizeof *steps, ANY_STEPS = ALL_STEPS - 2 };

/* env: the seed. Operands are what was made before. */
BODY(drawn) {
    uint64_t state = *(const uint64_t *)env;
    const bool square = lam_dim(in[0], 0) == lam_dim(in[0], 1);
    lam_tensor *made[STEPS + 1] = {in[0]};
    for (int i = 1; i <= STEPS; i++) {
        lam_tensor *x = made[random_below(&state, i)], *y = made[i - 1];
        switch (random_below(&state, 6)) {
        case 0: made[i] = lam_sub(x, lam_mul(0.5, y)); break;
        case 1: made[i] = lam_mul(x, lam_cos(y)); break;
        case 2: made[i] = lam_where(lam_gt(x, 0.25), y, lam_neg(x)); break;
        default: made[i] = steps[random_below(&state, square ? ALL_STEPS : ANY_STEPS)](y);
        }
    }
    out[0] = made[STEPS];
}

BODY(drawn_sum) {
    drawn(here, in, out, env);
    out[0] = lam_sum(lam_sin(out[0]), NULL);
}

/* ---- programs ---------------------------------------------------------------------------------------------------- */

/* Elements between -1.5 and 1.5, among them zeros of both signs. */
static lam_tensor *drawn_input(uint64_t *state, lam_dims dims) {
    double x[9 * 5 * 5];
    int64_t count = 1;
    for (int i = 0; i < dims.rank; i++) count *= dims.dims[i];
    for (int64_t i = 0; i < count; i++) {
        const int kind = random_below(state, 8);
        x[i] = kind == 0 ? 0 : kind == 1 ? -0.0 : (double)(random_bits(state) >> 11) * 0x1.8p-52 - 1.5;
    }
    return lam_array(ctx, LAM_F64, dims, x);
}

START_TEST(drawn_programs) {
    static const int64_t batches[] = {1, 2, 3, 5, 8, 9};
    uint64_t seed = (uint64_t)_i, state = seed * 1009 + 7;
    const int64_t rows = 1 + random_below(&state, 5),
                  columns = random_below(&state, 3) ? rows : 1 + random_below(&state, 5);
    const int64_t batch = batches[random_below(&state, 6)];
    lam_tensor *one = drawn_input(&state, LAM_DIMS(rows, columns));
    lam_tensor *many = drawn_input(&state, LAM_DIMS(rows, batch, columns));
    const lam_vmap_options middle = {.in_axes = LAM_AXES(1)};
    lam_fn *f = FN_ENV(drawn, 1, 1, &seed), *df = lam_grad(FN_ENV(drawn_sum, 1, 1, &seed), NULL);
    lam_fn *const functions[] = {f, df, lam_vmap(f, &middle), lam_vmap(df, &middle)};
    for (int k = 0; k < 4; k++)
        for (int fusion = LAM_JIT_AUTO; fusion <= LAM_JIT_NONE; fusion++) {
            lam_fn *jitted = lam_jit(functions[k], &(lam_jit_options){.fusion = (lam_jit_fusion)fusion});
            lam_tensor *x = k < 2 ? one : many, *want = apply1(functions[k], x);
            for (int again = 0; again < 2; again++) EXPECT_SAME(apply1(jitted, x), want, 1e-9);
        }
}
END_TEST

Suite *suite_transforms_jit_drawn(void) {
    Suite *suite = suite_create("transforms/jit_drawn");
    suite_loop(suite, drawn_programs, PROGRAMS);
    return suite;
}
