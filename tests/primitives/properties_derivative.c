/* Derivatives: forward mode against differences of the reference, reverse against forward by <w, Jv> = <J'w, v>, both
 * by all operands and by each alone, second order in all four pairs of modes against differences; what a rule makes of
 * a tangent or cotangent is linear, so it can be recorded as such and transposed. Operands of an elementwise row
 * without derivative have derivative zero by the same differences, so no row is left out. */
#include "tests/primitives/probe.h"
#include "tests/primitives/properties.h"

#include <math.h>
#include <string.h>

typedef struct directions {
    array v[CASES_OPERANDS];
    const array *list[CASES_OPERANDS]; /* NULL: zero */
    lam_tensor *t[CASES_OPERANDS];
} directions;

/* A tangent for each floating operand, or for number `only` alone. */
static void take_directions(const probe *p, int phase, int only, layout how, directions *d) {
    for (int i = 0; i < p->inputs; i++) {
        bool wanted = p->floating[i] && (only < 0 || only == i);
        d->list[i] = wanted ? &d->v[i] : NULL;
        if (wanted) probe_direction(&p->in[i], phase + i, &d->v[i]);
        d->t[i] = wanted ? array_tensor(ctx, &d->v[i], how) : NULL;
    }
}

static lam_list operands(const probe *p) {
    return (lam_list){(size_t)p->inputs, p->x};
}

/* ---- first order ---------------------------------------------------------------------------------------------- */

static void forward_along(const probe *p, int only) {
    static directions d;
    static array want[CASES_OUTPUTS];
    lam_tensor *out[CASES_OUTPUTS], *dout[CASES_OUTPUTS];
    take_directions(p, 0, only, PLAIN, &d);
    lam_status status =
        lam_jvp(p->f, operands(p), (lam_list){(size_t)p->inputs, d.t}, out, dout, (size_t)p->outputs, NULL);
    PROBE_CHECK(p, status == LAM_OK, "jvp failed");
    probe_difference(p, d.list, want);
    for (int o = 0; o < p->outputs; o++)
        probe_same(p, only < 0 ? "tangent" : "tangent by one operand", o, dout[o], &want[o], probe_tolerance(p, 1),
                   1e-3L);
}

static void visit_forward(probe *p) {
    forward_along(p, -1);
    for (int i = 0; i < p->inputs; i++)
        if (p->floating[i] && p->count > 1) forward_along(p, i);
}

int property_forward(const cases_row *row) {
    return probe_each(row, PLAIN, visit_forward);
}

/* Cotangents of all outputs. */
static void take_weights(const probe *p, layout how, array w[], lam_tensor *t[]) {
    static array type;
    for (int o = 0; o < p->outputs; o++) {
        probe_output_type(p, o, &type);
        probe_direction(&type, 7 + o, &w[o]);
        t[o] = array_tensor(ctx, &w[o], how);
    }
}

static long double inner(const probe *p, lam_tensor *const got[], const array w[], int n, const char *what) {
    static array elements;
    long double sum = 0;
    for (int o = 0; o < n; o++) {
        PROBE_CHECK(p, !lam_failed(got[o]) && array_read(&elements, got[o]), "%s %d failed", what, o);
        PROBE_CHECK(p, elements.count == w[o].count && elements.dtype == w[o].dtype,
                    "%s %d has another type than its operand", what, o);
        sum += array_dot(&elements, &w[o]);
    }
    return sum;
}

/* Inner products of gradients with directions, one per operand that has one. */
static long double inner_gradients(const probe *p, lam_tensor *const gx[], const directions *d) {
    long double sum = 0;
    for (int i = 0, n = 0; i < p->inputs; i++)
        if (d->list[i]) sum += inner(p, &gx[n++], &d->v[i], 1, "gradient of operand");
    return sum;
}

/* What rounding may add to an inner product of so many terms below 1 in size, of derivatives this large. */
static void check_close(const probe *p, const char *what, long double a, long double b, long double tolerance) {
    long double size = fmaxl(1, fmaxl(fabsl(a), fabsl(b)));
    PROBE_CHECK(p, fabsl(a - b) <= tolerance * size, "%s: %.17Lg is not %.17Lg", what, a, b);
}

/* By all floating operands, or by number `only` alone, the others being constants: of these rules know what the row
 * saves, and no more. */
static void reverse_by(const probe *p, int only) {
    static directions d;
    static array w[CASES_OUTPUTS];
    lam_tensor *out[CASES_OUTPUTS], *dout[CASES_OUTPUTS], *t[CASES_OUTPUTS], *gx[CASES_OPERANDS];
    lam_fn *pullback;
    const lam_grad_options by = {.argnums = {1, &only}};
    const layout how = p->how == REPEATED ? PLAIN : p->how;
    const int count = only < 0 ? p->count : 1;
    size_t n = (size_t)p->outputs;
    take_directions(p, 0, only, how, &d);
    take_weights(p, how, w, t);
    PROBE_CHECK(p, lam_jvp(p->f, operands(p), (lam_list){(size_t)p->inputs, d.t}, out, dout, n, NULL) == LAM_OK,
                "jvp failed");
    PROBE_CHECK(p, lam_vjp(p->f, operands(p), out, n, &pullback, only < 0 ? NULL : &by) == LAM_OK, "vjp failed");
    PROBE_CHECK(p, lam_fn_outputs(pullback) == count, "a gradient is missing");
    PROBE_CHECK(p, lam_call(pullback, (lam_list){n, t}, gx, (size_t)count) == LAM_OK, "the pullback failed");
    check_close(p, only < 0 ? "<w, Jv> and <J'w, v>" : "<w, Jv> and <J'w, v> by one operand",
                inner(p, dout, w, p->outputs, "tangent"), inner_gradients(p, gx, &d), 64 * p->epsilon);
}

static void visit_reverse(probe *p) {
    reverse_by(p, -1);
    for (int i = 0; i < p->inputs; i++)
        if (p->floating[i] && p->count > 1) reverse_by(p, i);
}

int property_reverse(const cases_row *row) {
    return probe_each(row, PLAIN, visit_reverse);
}

/* Operands, tangents and cotangents that are not row-major. */
int property_strided_reverse(const cases_row *row) {
    int visits = 0;
    for (layout how = COLUMNS; how < LAYOUTS; how++) visits += probe_each(row, how, visit_reverse);
    return visits;
}

/* ---- second order --------------------------------------------------------------------------------------------- */

/* Operands, then cotangents -> gradients of the floating operands: reverse mode as a function. */
static void body_gradients(lam_ctx *here, lam_tensor *const in[], lam_tensor *out[], void *env) {
    const probe *p = env;
    lam_tensor *values[CASES_OUTPUTS];
    lam_fn *pullback;
    (void)here;
    lam_vjp(p->f, (lam_list){(size_t)p->inputs, in}, values, (size_t)p->outputs, &pullback, NULL);
    lam_call(pullback, (lam_list){(size_t)p->outputs, in + p->inputs}, out, (size_t)p->count);
}

/* Which inputs of a derived function are floating operands of the row: those it is differentiated by. */
static lam_grad_options by_operands(const probe *p, int items[]) {
    int n = 0;
    for (int i = 0; i < p->inputs; i++)
        if (p->floating[i]) items[n++] = i;
    return (lam_grad_options){.argnums = {n, items}};
}

typedef struct second {
    directions u, v;
    array w[CASES_OUTPUTS];
    lam_tensor *t[CASES_OUTPUTS];
    lam_fn *forward, *reverse; /* primals, tangents -> values, tangents; primals, cotangents -> gradients */
    lam_grad_options by;
    int items[CASES_OPERANDS];
} second;

/* Directional derivative of `f` along v by the row's operands: its outputs from number `first` on. */
static void forward_of(const probe *p, const second *s, lam_fn *f, lam_list at, lam_tensor *dout[], int outputs) {
    lam_tensor *out[2 * CASES_OUTPUTS + CASES_OPERANDS], *v[CASES_OPERANDS];
    size_t n = probe_pick(p, s->v.t, v);
    PROBE_CHECK(p, lam_jvp(f, at, (lam_list){n, v}, out, dout, (size_t)outputs, &s->by) == LAM_OK,
                "jvp of a derivative failed");
}

static void reverse_of(const probe *p, const second *s, lam_fn *f, lam_list at, lam_list cotangents, lam_tensor *gx[]) {
    lam_tensor *out[2 * CASES_OUTPUTS + CASES_OPERANDS];
    lam_fn *pullback;
    PROBE_CHECK(p, lam_vjp(f, at, out, cotangents.count, &pullback, &s->by) == LAM_OK, "vjp of a derivative failed");
    PROBE_CHECK(p, lam_call(pullback, cotangents, gx, (size_t)p->count) == LAM_OK,
                "the pullback of a derivative failed");
}

/* w . D^2 f [u, v] by the four pairs of modes. */
static void four_pairs(const probe *p, const second *s, long double pair[4]) {
    lam_tensor *at[2 * CASES_OPERANDS], *d[2 * CASES_OUTPUTS], *gx[CASES_OPERANDS], *with[2 * CASES_OUTPUTS] = {NULL},
                                                                                              *u[CASES_OPERANDS];
    size_t n = (size_t)p->inputs, m = (size_t)p->outputs;
    for (int i = 0; i < p->inputs; i++) at[i] = p->x[i];
    size_t count = probe_pick(p, s->u.t, u);
    for (size_t k = 0; k < count; k++) at[n + k] = u[k];
    for (size_t o = 0; o < m; o++) with[m + o] = s->t[o];
    forward_of(p, s, s->forward, (lam_list){n + count, at}, d, 2 * p->outputs);
    pair[0] = inner(p, d + m, s->w, p->outputs, "second tangent");
    reverse_of(p, s, s->forward, (lam_list){n + count, at}, (lam_list){2 * m, with}, gx);
    pair[1] = inner_gradients(p, gx, &s->v);
    for (size_t o = 0; o < m; o++) at[n + o] = s->t[o];
    forward_of(p, s, s->reverse, (lam_list){n + m, at}, d, p->count);
    pair[2] = inner_gradients(p, d, &s->u);
    reverse_of(p, s, s->reverse, (lam_list){n + m, at}, (lam_list){count, u}, gx);
    pair[3] = inner_gradients(p, gx, &s->v);
}

static void take_second(probe *p, second *s) {
    s->by = by_operands(p, s->items);
    take_directions(p, 0, -1, PLAIN, &s->u);
    take_directions(p, 11, -1, PLAIN, &s->v);
    take_weights(p, PLAIN, s->w, s->t);
    s->forward = lam_jvp_fn(p->f, &s->by);
    s->reverse = lam_fn_new(ctx, &(lam_fn_options){.name = "gradients",
                                                   .body = body_gradients,
                                                   .inputs = p->inputs + p->outputs,
                                                   .outputs = p->count,
                                                   .env = p});
}

static void visit_second(probe *p) {
    static const char *const names[] = {"forward of forward", "reverse of forward", "forward of reverse",
                                        "reverse of reverse"};
    static second s;
    static array want[CASES_OUTPUTS];
    long double pair[4], difference = 0;
    if (!p->count) return; /* nothing to differentiate by: the first order says all */
    take_second(p, &s);
    four_pairs(p, &s, pair);
    probe_difference2(p, s.u.list, s.v.list, want);
    for (int o = 0; o < p->outputs; o++) difference += array_dot(&want[o], &s.w[o]);
    for (int k = 0; k < 4; k++) {
        check_close(p, names[k], pair[k], difference, probe_tolerance(p, 2));
        check_close(p, names[k], pair[k], pair[0], 1024 * p->epsilon);
    }
}

int property_second(const cases_row *row) {
    return probe_each(row, PLAIN, visit_second);
}

/* ---- as linear functions -------------------------------------------------------------------------------------- */

/* The derivative of f, whose last outputs are weighed by `weights`, along v by the row's operands: both modes against
 * lam_linearize and its transpose. */
static void check_linear(const probe *p, const second *s, lam_fn *f, lam_list at, lam_list weights, const array w[]) {
    enum { MOST = 2 * CASES_OUTPUTS + CASES_OPERANDS };
    lam_tensor *out[MOST], *dout[MOST], *again[MOST], *gx[CASES_OPERANDS], *v[CASES_OPERANDS], *with[MOST] = {NULL};
    const size_t n = (size_t)lam_fn_outputs(f), before = n - weights.count;
    const lam_list along = {probe_pick(p, s->v.t, v), v};
    lam_fn *linear;
    for (size_t i = 0; i < weights.count; i++) with[before + i] = weights.items[i];
    PROBE_CHECK(p, lam_jvp(f, at, along, out, dout, n, &s->by) == LAM_OK, "jvp failed");
    PROBE_CHECK(p, lam_linearize(f, at, out, n, &linear, &s->by) == LAM_OK, "linearize failed");
    PROBE_CHECK(p, lam_call(linear, along, again, n) == LAM_OK, "the linear function failed");
    lam_fn *back = lam_linear_transpose(linear, along);
    PROBE_CHECK(p, lam_call(back, (lam_list){n, with}, gx, along.count) == LAM_OK, "the transpose failed");
    const long double by_jvp = inner(p, dout + before, w, (int)weights.count, "tangent");
    const long double by_linear = inner(p, again + before, w, (int)weights.count, "linear function");
    check_close(p, "jvp and linearize", by_jvp, by_linear, 64 * p->epsilon);
    check_close(p, "jvp and the transpose of linearize", by_jvp, inner_gradients(p, gx, &s->v), 1024 * p->epsilon);
}

static void visit_linear(probe *p) {
    static second s;
    static array w[CASES_OPERANDS];
    lam_tensor *at[2 * CASES_OPERANDS + CASES_OUTPUTS], *u[CASES_OPERANDS];
    const size_t n = (size_t)p->inputs, m = (size_t)p->outputs;
    if (!p->count) return;
    take_second(p, &s);
    const size_t count = probe_pick(p, s.u.t, u);
    memcpy(at, p->x, n * sizeof *at);
    check_linear(p, &s, p->f, (lam_list){n, at}, (lam_list){m, s.t}, s.w);
    memcpy(at + n, u, count * sizeof *at);
    check_linear(p, &s, s.forward, (lam_list){n + count, at}, (lam_list){m, s.t}, s.w);
    for (int i = 0, k = 0; i < p->inputs; i++)
        if (p->floating[i]) w[k++] = s.u.v[i];
    memcpy(at + n, s.t, m * sizeof *at);
    check_linear(p, &s, s.reverse, (lam_list){n + m, at}, (lam_list){count, u}, w);
}

int property_linear(const cases_row *row) {
    return probe_each(row, PLAIN, visit_linear);
}
