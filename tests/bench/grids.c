/* One step of the heat equation on grids, with fixed borders and with joined ones, and the gradient of the sum of
 * squares of what comes out: loops in C (of a gradient two of these steps, which is what it takes with joined borders),
 * the operations one by one, jitted, and jitted with machine code, in turns; the least microseconds of some runs. */
#define _POSIX_C_SOURCE 200809L
#include <lamina/lamina.h>
#include <stdio.h>
#include <string.h>

#include "tests/bench/timing.h"

enum { RUNS = 25, WAYS = 4, MOST = 1 << 18 };

static double in_c[2][MOST];

/* A line of y, of x and of the lines beside it. */
static void line(bool joins, int beside, int64_t n, const double *x, const double *const near[4], double *restrict y) {
    const double all = 2 * (beside / 2 + 1);
    for (int64_t c = 1; c < n - 1; c++) {
        double sum = x[c - 1] + x[c + 1] + near[0][c] + near[1][c];
        if (beside == 4) sum += near[2][c] + near[3][c];
        y[c] = x[c] + 0.1 * (sum - all * x[c]);
    }
    for (int64_t c = 0; c < n; c += n - 1) {
        double sum = x[c ? c - 1 : n - 1] + x[c ? 0 : 1];
        for (int k = 0; k < beside; k++) sum += near[k][c];
        y[c] = joins ? x[c] + 0.1 * (sum - all * x[c]) : x[c];
    }
}

/* y = x + 0.1 times what the neighbours have more. */
static void by_hand(bool joins, int rank, int64_t n, const double *x, double *y) {
    const int64_t lines = rank == 2 ? n : n * n;
    for (int64_t l = 0; l < lines; l++) {
        const double *near[4] = {NULL};
        bool inside = true;
        int k = 0;
        for (int64_t step = 1; step < lines; step *= n) {
            const int64_t at = l / step % n;
            near[k++] = x + (at ? l - step : l + (n - 1) * step) * n;
            near[k++] = x + (at < n - 1 ? l + step : l - (n - 1) * step) * n;
            inside = inside && at && at < n - 1;
        }
        if (joins || inside) line(joins, k, n, x + l * n, near, y + l * n);
        else memcpy(y + l * n, x + l * n, (size_t)n * sizeof *y);
    }
}

static lam_tensor *inside(lam_tensor *x, int axis, int64_t by) {
    const int rank = lam_rank(x);
    for (int i = 0; i < rank; i++) {
        const int64_t first = 1 + (i == axis ? by : 0), n = lam_dim(x, i);
        x = lam_slice_axis(x, i, first, first + n - 2);
    }
    return x;
}

static void step(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    (void)ctx;
    const bool joins = *(const bool *)env;
    const int rank = lam_rank(in[0]);
    lam_tensor *x = in[0], *sum = lam_mul(-2.0 * rank, joins ? x : inside(x, 0, 0));
    for (int axis = 0; axis < rank; axis++) {
        sum = lam_add(sum, joins ? lam_roll(x, 1, axis) : inside(x, axis, -1));
        sum = lam_add(sum, joins ? lam_roll(x, -1, axis) : inside(x, axis, 1));
    }
    const lam_dims around = {rank, (int64_t[]){1, 1, 1}};
    out[0] = lam_add(x, lam_mul(0.1, joins ? sum : lam_pad(sum, around, around, NULL)));
}

static void energy(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    step(ctx, in, out, env);
    out[0] = lam_sum(lam_square(out[0]), NULL);
}

static double run(lam_ctx *ctx, lam_fn *f, lam_tensor *x, int repeats) {
    const double start = timing_now();
    for (int i = 0; i < repeats; i++) {
        lam_scope *scope = lam_scope_begin(ctx);
        lam_apply(f, LAM_LIST(x));
        lam_scope_end(scope, NULL, 0);
    }
    return (timing_now() - start) / repeats;
}

static void compare(lam_ctx *ctx, bool joins, int rank, int64_t n, bool gradient) {
    const int64_t dims[] = {n, n, n}, count = rank == 2 ? n * n : n * n * n;
    const int repeats = (int)(4000000 / count) + 1;
    lam_tensor *x = lam_reshape(lam_linspace(ctx, LAM_F64, 0, 1, count), (lam_dims){rank, dims});
    lam_fn *f = lam_fn_new(
        ctx,
        &(lam_fn_options){.name = "step", .body = gradient ? energy : step, .env = &joins, .inputs = 1, .outputs = 1});
    if (gradient) f = lam_grad(f, NULL);
    lam_fn *ways[WAYS] = {NULL, f, lam_jit(f, NULL), lam_jit(f, &(lam_jit_options){.native = true})};
    double least[WAYS] = {0};
    for (int r = 0; r <= RUNS; r++)
        for (int way = 0; way < WAYS; way++) {
            double now = timing_now();
            for (int i = 0; i < repeats * (1 + gradient) && !way; i++)
                by_hand(joins, rank, n, in_c[i % 2], in_c[!(i % 2)]);
            now = way ? run(ctx, ways[way], x, r ? repeats : 1) : (timing_now() - now) / repeats;
            if (r == 1 || (r && now < least[way])) least[way] = now;
        }
    printf("%d axes of %4lld, %s%s", rank, (long long)n, joins ? "joined" : "fixed ", gradient ? ", gradient" : "");
    for (int way = 0; way < WAYS; way++) printf("%*.2f", way || gradient ? 10 : 20, least[way] / 1e3);
    puts("");
}

int main(void) {
    lam_ctx *ctx = lam_ctx_new(NULL);
    static const int64_t sizes[][2] = {{2, 64}, {2, 256}, {3, 16}, {3, 32}, {3, 64}};
    printf("%50s%10s%10s%10s, microseconds\n", "loops in C", "called", "jitted", "native");
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        for (int joins = 0; joins < 2; joins++)
            for (int gradient = 0; gradient < 2; gradient++)
                compare(ctx, joins, (int)sizes[k][0], sizes[k][1], gradient);
    if (lam_status_of(ctx)) fprintf(stderr, "%s\n", lam_error(ctx));
    lam_ctx_free(ctx);
}
