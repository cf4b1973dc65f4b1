/* See measure.h. */
#include "tests/accuracy/measure.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "tests/kernels/oracle.h"

enum { BITS = 240 };

static void truth(const measure_row *row, mpfr_t value, mpfr_t x[]) {
    if (row->truth) row->truth(value, x);
    else oracle_member(row->oracle, row->member, value, x);
}

static void truth_of_slopes(const measure_row *row, mpfr_t value, mpfr_t x[]) {
    if (row->slopes) row->slopes(value, x);
    else truth(row, value, x);
}

/* ---- derivatives ------------------------------------------------------------------------------------------------ */

/* value = derivative by operand `by`; steps of 2^-50 of the operand. */
static void difference(const measure_row *row, mpfr_t value, mpfr_t x[], int by) {
    mpfr_t centre, step, below;
    mpfr_inits2(BITS, centre, step, below, (mpfr_ptr)NULL);
    mpfr_set(centre, x[by], MPFR_RNDN);
    mpfr_div_2ui(step, centre, 50, MPFR_RNDN);
    mpfr_add(x[by], centre, step, MPFR_RNDN);
    truth_of_slopes(row, value, x);
    mpfr_sub(x[by], centre, step, MPFR_RNDN);
    truth_of_slopes(row, below, x);
    mpfr_set(x[by], centre, MPFR_RNDN);
    mpfr_sub(value, value, below, MPFR_RNDN);
    mpfr_div(value, value, step, MPFR_RNDN);
    mpfr_div_2ui(value, value, 1, MPFR_RNDN);
    mpfr_clears(centre, step, below, (mpfr_ptr)NULL);
}

/* Whether a relative change e of any operand changes the derivative by no more than 4 e (the row's condition),
 * relatively.
 */
static bool well_conditioned(const measure_row *row, const mpfr_t value, mpfr_t x[], int by) {
    bool good = true;
    mpfr_t centre, moved;
    mpfr_inits2(BITS, centre, moved, (mpfr_ptr)NULL);
    for (int i = 0; i < row->inputs && good; i++) {
        mpfr_set(centre, x[i], MPFR_RNDN);
        mpfr_mul_d(x[i], x[i], 1 + 0x1p-20, MPFR_RNDN);
        difference(row, moved, x, by);
        mpfr_set(x[i], centre, MPFR_RNDN);
        mpfr_div(moved, moved, value, MPFR_RNDN);
        mpfr_sub_ui(moved, moved, 1, MPFR_RNDN);
        mpfr_set_d(centre, 0x1p-20 * (row->condition > 0 ? row->condition : 4), MPFR_RNDN);
        good = mpfr_cmpabs(moved, centre) <= 0;
    }
    mpfr_clears(centre, moved, (mpfr_ptr)NULL);
    return good;
}

/* ---- sampling --------------------------------------------------------------------------------------------------- */

static double draw(const measure_row *row, int i, lam_dtype dtype, uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    double u = (double)(*state >> 11) * 0x1p-53, low = row->range[i].low, high = row->range[i].high;
    double x = low > 0 ? low * pow(high / low, u) : low + (high - low) * u;
    return dtype == LAM_F64 ? x : (float)x;
}

/* ---- measuring -------------------------------------------------------------------------------------------------- */

typedef struct sample {
    double x[MEASURE_OPERANDS][MEASURE_MOST], y[MEASURE_MOST];
} sample;

/* The generator's start, of the name: rows that come and go draw nothing else anew for others (FNV-1a). */
static uint64_t start_of(const measure_row *row, lam_dtype dtype, int by) {
    uint64_t state = 14695981039346656037u;
    for (const char *c = row->name; *c; c++) state = (state ^ (unsigned char)*c) * 1099511628211u;
    return state + (uint64_t)(dtype * 4) + (unsigned)(by + 1);
}

static void body_of_sum(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    const measure_row *row = env;
    lam_tensor *y;
    row->body(ctx, in, &y, NULL);
    out[0] = lam_sum(y, NULL);
}

static void body_of_row(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    const measure_row *row = env;
    row->body(ctx, in, out, NULL);
}

/* Draws the operands and fills y with the function of them, or with its derivative. */
static bool call(lam_ctx *ctx, const measure_row *row, lam_dtype dtype, int by, int n, sample *s) {
    lam_scope *scope = lam_scope_begin(ctx);
    lam_tensor *x[MEASURE_OPERANDS];
    uint64_t state = start_of(row, dtype, by);
    for (int i = 0; i < row->inputs; i++) {
        for (int k = 0; k < n; k++) s->x[i][k] = draw(row, i, dtype, &state);
        x[i] = lam_cast(lam_array(ctx, LAM_F64, LAM_DIMS(n), s->x[i]), dtype);
    }
    lam_body body = by < 0 ? body_of_row : body_of_sum;
    lam_fn_options options = {.name = row->name, .body = body, .inputs = row->inputs, .outputs = 1, .env = (void *)row};
    lam_fn *f = lam_fn_new(ctx, &options);
    if (by >= 0) f = lam_grad(f, &(lam_grad_options){.argnums = LAM_AXES(by)});
    lam_tensor *y = lam_cast(lam_apply(f, (lam_list){(size_t)row->inputs, x}), LAM_F64);
    bool done = lam_read(y, s->y, (size_t)n * sizeof(double)) == LAM_OK;
    lam_scope_end(scope, NULL, 0);
    return done;
}

/* The error in ulps of the larger of the truth and row->relative_to_1 (values only). */
static double error_of(const measure_row *row, lam_dtype dtype, double got, mpfr_t value, int by) {
    double ulps = oracle_error(dtype, got, value), size = fabs(mpfr_get_d(value, MPFR_RNDN));
    if (by >= 0 || size >= row->relative_to_1 || size == 0) return ulps;
    return ulps * exp2(ilogb(size) - ilogb(row->relative_to_1));
}

measure_result measure(lam_ctx *ctx, const measure_row *row, lam_dtype dtype, int by, int samples) {
    static sample s;
    measure_result worst = {0};
    if (row->costly) samples /= 10;
    if (samples > MEASURE_MOST || !call(ctx, row, dtype, by, samples, &s)) return (measure_result){INFINITY, NAN, 0};
    mpfr_t value, x[MEASURE_OPERANDS];
    mpfr_inits2(BITS, value, x[0], x[1], x[2], (mpfr_ptr)NULL);
    for (int k = 0; k < samples; k++) {
        for (int i = 0; i < row->inputs; i++) mpfr_set_d(x[i], s.x[i][k], MPFR_RNDN);
        if (by < 0) truth(row, value, x);
        else difference(row, value, x, by);
        if (by >= 0 && mpfr_zero_p(value)) continue;
        double ulps = error_of(row, dtype, s.y[k], value, by);
        if (worst.looked && ulps <= worst.ulps) continue; /* what changes nothing need not be well conditioned */
        if (by >= 0 && !well_conditioned(row, value, x, by)) continue;
        worst.looked++;
        if (!(ulps <= worst.ulps)) worst = (measure_result){ulps, s.x[0][k], worst.looked};
    }
    mpfr_clears(value, x[0], x[1], x[2], (mpfr_ptr)NULL);
    return worst;
}
