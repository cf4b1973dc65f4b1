/* Uses of rows: see probe.h. */
#include "tests/primitives/probe.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

/* ---- messages ------------------------------------------------------------------------------------------------- */

void probe_fail(const probe *p, const char *file, int line, const char *format, ...) {
    char text[768];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    ck_abort_msg("%s:%d: %s(%s) in %s, %s, args %lld %lld %lld %lld: %s [%s]", file, line, p->use.row->name,
                 p->operands, lam_dtype_name(p->dtype), layout_names[p->how], (long long)p->use.arg[0],
                 (long long)p->use.arg[1], (long long)p->use.arg[2], (long long)p->use.arg[3], text, lam_error(ctx));
}

/* ---- laying out ----------------------------------------------------------------------------------------------- */

void probe_body(lam_ctx *here, lam_tensor *const in[], lam_tensor *out[], void *env) {
    const probe *p = env;
    (void)here;
    cases_call(&p->use, in, out);
    for (int o = 0; o < p->outputs; o++)
        if (!array_is_float(&p->out[o])) out[o] = lam_cast(out[o], LAM_F64);
}

void probe_fill(const probe *p, int i, int phase, array *x) {
    double low = p->use.row->domain[i].low, high = p->use.row->domain[i].high;
    bool usual = low == 0 && high == 0;
    array_fill(x, usual ? -1.7 : low, usual ? 1.9 : high, phase + 3 * i);
    if (p->use.row->fill) p->use.row->fill(&p->use, i, x);
}

bool probe_types(const char *operands, lam_dtype dtype, probe_form *form) {
    bool follows = false;
    form->inputs = 0;
    while (*operands) {
        bool named;
        operands = array_type(&form->in[form->inputs++], operands, dtype, &named);
        follows = follows || !named;
    }
    return follows;
}

static bool can_repeat(const probe *p) {
    bool any = false;
    for (int i = 0; i < p->inputs; i++) any = any || (p->in[i].rank && p->in[i].dims[0] > 1);
    return any && !p->use.row->fill;
}

static double coarsest(const probe *p) {
    double epsilon = DBL_EPSILON;
    for (int i = 0; i < p->inputs; i++) epsilon = fmax(epsilon, array_epsilon(p->in[i].dtype));
    for (int o = 0; o < p->outputs; o++) epsilon = fmax(epsilon, array_epsilon(p->out[o].dtype));
    return epsilon;
}

static bool lay_out(probe *p) {
    if (p->how == REPEATED && !can_repeat(p)) return false;
    p->count = 0;
    for (int i = 0; i < p->inputs; i++) {
        probe_fill(p, i, 0, &p->in[i]);
        if (p->how == REPEATED) array_repeat(&p->in[i]);
        p->floating[i] = array_is_float(&p->in[i]);
        p->count += p->floating[i];
        p->x[i] = array_tensor(ctx, &p->in[i], p->how);
    }
    for (int o = 0; o < p->outputs; o++) p->out[o].dtype = p->in[0].dtype;
    cases_reference(&p->use, p->in, p->out);
    p->epsilon = coarsest(p);
    p->f = lam_fn_new(
        ctx, &(lam_fn_options){
                 .name = p->use.row->name, .body = probe_body, .inputs = p->inputs, .outputs = p->outputs, .env = p});
    return true;
}

int probe_each(const cases_row *row, layout how, void (*visit)(probe *p)) {
    static probe p;
    static probe_form types;
    unsigned dtypes = row->dtypes ? row->dtypes : CASES_FLOATS;
    int visits = 0, first = 1;
    for (int d = 0; d < LAM_DTYPE_COUNT; d++) {
        if (!(dtypes >> d & 1u)) continue;
        for (const cases_form *form = row->forms; form->operands; form++) {
            bool follows = probe_types(form->operands, (lam_dtype)d, &types);
            if (!follows && !first) continue; /* it would be the same again */
            p.use = (cases_use){.row = row, .arg = form->arg, .inputs = types.inputs, .ctx = ctx};
            p.operands = form->operands;
            p.dtype = (lam_dtype)d;
            p.how = how;
            p.inputs = types.inputs;
            p.outputs = row->outputs ? row->outputs : 1;
            for (int i = 0; i < p.inputs; i++) array_like(&p.in[i], &types.in[i]);
            lam_scope *scope = lam_scope_begin(ctx);
            if (lay_out(&p)) {
                visit(&p);
                visits++;
                PROBE_CHECK(&p, lam_status_of(ctx) == LAM_OK, "a failure was left");
            }
            lam_scope_end(scope, NULL, 0);
        }
        first = 0;
    }
    return visits;
}

/* ---- derivatives of the reference ----------------------------------------------------------------------------- */

void probe_direction(const array *like, int phase, array *v) {
    array_like(v, like);
    array_fill(v, -1, 1, phase + 40);
}

void probe_output_type(const probe *p, int o, array *out) {
    array_like(out, &p->out[o]);
    if (!array_is_float(out)) out->dtype = LAM_F64;
}

/* The step of the differences below. Their error is step^4 / 30 times a fifth derivative, and rounding 1e-19 / step;
 * that of the second ones the square of the latter. Where long double is a plain double both are about 1e-9. */
#define STEP 0x1p-12L

/* The classical differences with error of fourth order. */
static const struct {
    int at;
    long double weight;
} stencil[] = {{-2, 1 / 12.L}, {-1, -8 / 12.L}, {1, 8 / 12.L}, {2, -1 / 12.L}};

static void move(const probe *p, array at[], const array *const dx[], int steps) {
    for (int i = 0; i < p->inputs; i++)
        for (int64_t e = 0; dx[i] && e < at[i].count; e++) at[i].data[e] += (long double)steps * STEP * dx[i]->data[e];
}

/* What is infinite at the point stays so around it: its derivative is 0. */
static void accumulate(const probe *p, const array value[], long double weight, array dout[]) {
    for (int o = 0; o < p->outputs; o++)
        for (int64_t e = 0; e < dout[o].count && !p->use.row->no_gradient; e++)
            if (isfinite(p->out[o].data[e])) dout[o].data[e] += weight * value[o].data[e];
}

/* One term of the difference; ex NULL: of the first. */
static void add_term(const probe *p, const array *const dx[], int a, const array *const ex[], int b, array dout[]) {
    static array at[CASES_OPERANDS], value[CASES_OUTPUTS];
    for (int i = 0; i < p->inputs; i++) at[i] = p->in[i];
    for (int o = 0; o < p->outputs; o++) value[o].dtype = at[0].dtype;
    move(p, at, dx, stencil[a].at);
    if (ex) move(p, at, ex, stencil[b].at);
    cases_reference(&p->use, at, value);
    accumulate(p, value, stencil[a].weight / STEP * (ex ? stencil[b].weight / STEP : 1), dout);
}

static void start_at_zero(const probe *p, array dout[]) {
    for (int o = 0; o < p->outputs; o++) {
        probe_output_type(p, o, &dout[o]);
        for (int64_t e = 0; e < dout[o].count; e++) dout[o].data[e] = 0;
    }
}

static bool any_of(const probe *p, const array *const dx[]) {
    bool any = false;
    for (int i = 0; i < p->inputs; i++) any = any || dx[i];
    return any;
}

void probe_difference(const probe *p, const array *const dx[], array dout[]) {
    start_at_zero(p, dout);
    if (!any_of(p, dx)) return;
    for (int a = 0; a < 4; a++) add_term(p, dx, a, NULL, 0, dout);
}

void probe_difference2(const probe *p, const array *const dx[], const array *const ex[], array dout[]) {
    start_at_zero(p, dout);
    for (int a = 0; a < 4; a++)
        for (int b = 0; b < 4; b++) add_term(p, dx, a, ex, b, dout);
}

/* ---- comparing ------------------------------------------------------------------------------------------------ */

/* Differences are right to 1e-12 and 1e-10 in long double; the rest is what derivative formulas of f64 and f32 lose. */
long double probe_tolerance(const probe *p, int order) {
    bool wide = LDBL_MANT_DIG > DBL_MANT_DIG && 1 + LDBL_EPSILON != 1;
    if (p->epsilon > DBL_EPSILON) return order == 1 ? 1e-5L : 1e-4L;
    return order == 1 ? (wide ? 1e-11L : 1e-9L) : wide ? 1e-9L : 1e-6L;
}

void probe_same(const probe *p, const char *what, int number, lam_tensor *got, const array *want, long double tolerance,
                long double scale) {
    static array elements;
    PROBE_CHECK(p, !lam_failed(got), "%s %d failed", what, number);
    PROBE_CHECK(p, array_read(&elements, got), "%s %d cannot be read", what, number);
    long double largest = array_largest(want);
    int64_t at = array_compare(&elements, want, tolerance, largest > scale ? largest : scale);
    PROBE_CHECK(p, at != -2, "%s %d: rank %d and dtype %s, not %d and %s, or other dims", what, number, elements.rank,
                lam_dtype_name(elements.dtype), want->rank, lam_dtype_name(want->dtype));
    PROBE_CHECK(p, at < 0, "%s %d: element %lld is %.17Lg, not %.17Lg (largest %.3Lg)", what, number, (long long)at,
                elements.data[at], want->data[at], largest);
}

size_t probe_pick(const probe *p, lam_tensor *const all[], lam_tensor *picked[]) {
    size_t n = 0;
    for (int i = 0; i < p->inputs; i++)
        if (p->floating[i]) picked[n++] = all[i];
    return n;
}
