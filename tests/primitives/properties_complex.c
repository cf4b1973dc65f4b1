/* Complex operands for every row: it refuses them with LAM_ERR_DTYPE, or gives what it gives for the reals when all
 * imaginary parts are 0. No row computes nonsense because it was written with real numbers in mind. */
#include "tests/primitives/probe.h"
#include "tests/primitives/properties.h"

static lam_dtype complex_of(lam_dtype dtype) {
    return dtype == LAM_F64 ? LAM_C128 : dtype == LAM_F32 ? LAM_C64 : dtype;
}

/* The parts of output o: the real ones are the reference's values, the imaginary ones nothing. A result of the row's
 * own real dtype is one that complex operands too have (abs, a predicate). */
static void check_parts(const probe *p, int o, lam_tensor *got) {
    static array zeros;
    const array *want = &p->out[o];
    lam_dtype wide = complex_of(want->dtype);
    long double tolerance = 64 * p->epsilon;
    PROBE_CHECK(p, lam_dtype_of(got) == want->dtype || lam_dtype_of(got) == wide, "complex output %d is %s", o,
                lam_dtype_name(lam_dtype_of(got)));
    probe_same(p, "real part of output", o, lam_real(got), want, tolerance, 0);
    if (lam_dtype_of(got) != wide || wide == want->dtype) return;
    array_like(&zeros, want);
    for (int64_t i = 0; i < zeros.count; i++) zeros.data[i] = 0;
    probe_same(p, "imaginary part of output", o, lam_imag(got), &zeros, tolerance, array_largest(want));
}

static void visit_complex(probe *p) {
    lam_tensor *in[CASES_OPERANDS], *out[CASES_OUTPUTS];
    for (int i = 0; i < p->inputs; i++)
        in[i] = p->floating[i] ? lam_cast(p->x[i], complex_of(p->in[i].dtype)) : p->x[i];
    cases_call(&p->use, in, out);
    if (lam_status_of(ctx) == LAM_OK) {
        for (int o = 0; o < p->outputs; o++) check_parts(p, o, out[o]);
        return;
    }
    PROBE_CHECK(p, lam_failed(out[0]), "a failure gives a result");
    PROBE_CHECK(p, lam_status_of(ctx) == LAM_ERR_DTYPE, "status %s, not LAM_ERR_DTYPE: %s",
                lam_status_name(lam_status_of(ctx)), lam_error(ctx));
    /* Rows of complex numbers make them of parts, which must be real. */
    bool named = strstr(lam_error(ctx), p->use.row->name) || strncmp(lam_error(ctx), "complex:", 8) == 0;
    PROBE_CHECK(p, named, "the refusal does not name the primitive: %s", lam_error(ctx));
    lam_clear_error(ctx);
}

int property_complex_operands(const cases_row *row) {
    return probe_each(row, PLAIN, visit_complex);
}
