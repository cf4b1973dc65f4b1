/* 16-bit operands for every row: the result is that of f32 on the same numbers, rounded, and gradients have the dtype
 * of the operands. A row that refuses f32 operands refuses these. */
#include "tests/primitives/probe.h"
#include "tests/primitives/properties.h"

#include <math.h>

static void operands_as(const probe *p, lam_dtype narrow, lam_dtype dtype, lam_tensor *in[]) {
    for (int i = 0; i < p->inputs; i++) in[i] = p->floating[i] ? lam_cast(lam_cast(p->x[i], narrow), dtype) : p->x[i];
}

static void call_as(const probe *p, lam_dtype narrow, lam_dtype dtype, lam_tensor *out[]) {
    lam_tensor *in[CASES_OPERANDS];
    operands_as(p, narrow, dtype, in);
    cases_call(&p->use, in, out);
}

/* Also where a result is complex, so that what comes back from it is f32. */
static void check_gradients(const probe *p, lam_dtype narrow) {
    lam_tensor *in[CASES_OPERANDS], *out[CASES_OUTPUTS], *g[CASES_OUTPUTS], *gx[CASES_OPERANDS];
    lam_fn *pullback;
    operands_as(p, narrow, narrow, in);
    PROBE_CHECK(p, lam_vjp(p->f, (lam_list){(size_t)p->inputs, in}, out, (size_t)p->outputs, &pullback, NULL) == LAM_OK,
                "vjp failed");
    for (int o = 0; o < p->outputs; o++) g[o] = lam_ones_like(out[o]);
    PROBE_CHECK(p, lam_call(pullback, (lam_list){(size_t)p->outputs, g}, gx, (size_t)p->count) == LAM_OK,
                "the pullback failed");
    for (int i = 0; i < p->count; i++)
        PROBE_CHECK(p, lam_dtype_of(gx[i]) == narrow, "gradient %d is %s", i, lam_dtype_name(lam_dtype_of(gx[i])));
}

/* Elements as f32, beyond the range of f16 as infinities. */
static void read_single(const probe *p, lam_tensor *t, lam_dtype narrow, array *x) {
    bool complex = lam_dtype_of(t) == LAM_C64 || lam_dtype_of(t) == LAM_C128;
    lam_tensor *real = complex ? lam_real(t) : t;
    PROBE_CHECK(p, array_read(x, lam_cast(real, LAM_F32)), "a result cannot be read");
    for (int64_t i = 0; i < x->count; i++)
        if (narrow == LAM_F16 && fabsl(x->data[i]) >= 65520) x->data[i] = copysignl(INFINITY, x->data[i]);
}

static void check_narrow(const probe *p, lam_dtype narrow) {
    static array want, got;
    lam_tensor *wide[CASES_OUTPUTS], *out[CASES_OUTPUTS];
    call_as(p, narrow, LAM_F32, wide);
    lam_status status = lam_status_of(ctx);
    lam_clear_error(ctx);
    call_as(p, narrow, narrow, out);
    PROBE_CHECK(p, lam_status_of(ctx) == status, "status %s, in f32 %s: %s", lam_status_name(lam_status_of(ctx)),
                lam_status_name(status), lam_error(ctx));
    lam_clear_error(ctx);
    for (int o = 0; o < p->outputs && status == LAM_OK; o++) {
        lam_dtype dtype = lam_dtype_of(out[o]), single = lam_dtype_of(wide[o]);
        PROBE_CHECK(p, dtype == single || (single == LAM_F32 && dtype == narrow), "output %d is %s, in f32 %s", o,
                    lam_dtype_name(dtype), lam_dtype_name(single));
        read_single(p, wide[o], narrow, &want);
        read_single(p, out[o], narrow, &got);
        long double step = narrow == LAM_F16 ? 0x1p-11L : 0x1p-8L;
        int64_t at = array_compare(&got, &want, 8 * step, array_largest(&want));
        PROBE_CHECK(p, at < 0, "output %d, element %lld: %Lg, in f32 %Lg", o, (long long)at, at < 0 ? 0 : got.data[at],
                    at < 0 ? 0 : want.data[at]);
    }
    if (status == LAM_OK && p->count) check_gradients(p, narrow);
}

static void visit_half(probe *p) {
    for (int i = 0; i < p->inputs; i++)
        if (p->in[i].dtype == LAM_F64) return; /* the same again, in f32, comes too */
    check_narrow(p, LAM_F16);
    check_narrow(p, LAM_BF16);
}

int property_half(const cases_row *row) {
    return probe_each(row, PLAIN, visit_half);
}
