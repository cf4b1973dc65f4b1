/* Batching: vmap of the call against the loop over examples, for every mapping of every operand (first axis, last axis,
 * none) at one and at two levels; and derivatives: of the batched call and batched ones of the call, against those of
 * each example; and that no loop over examples is hidden anywhere. */
#include "tests/primitives/probe.h"
#include "tests/primitives/properties.h"

#include <math.h>

enum { OUTER = 2, INNER = 3 };

/* Where an operand has a batch axis at one level. */
typedef enum place { NOWHERE, FIRST, LAST, PLACES } place;

static const int axis_at[PLACES] = {LAM_UNMAPPED, 0, -1};

/* f of one example of each operand, told by a number with a digit for each. */
typedef struct outcome {
    int examples;
    lam_tensor *out[CASES_OUTPUTS];
} outcome;

enum { OUTCOMES = OUTER * INNER * OUTER * INNER * OUTER * INNER }; /* all there are of three operands */

/* Examples of the operands, [outer][inner]; operand i of the form with places a (outer) and b (inner), made when
 * needed. What f makes of them is kept: mappings share it. */
typedef struct batch {
    const probe *p;
    array example[OUTER][INNER][CASES_OPERANDS];
    lam_tensor *single[OUTER][INNER][CASES_OPERANDS];
    lam_tensor *stacked[PLACES][PLACES][CASES_OPERANDS];
    outcome known[OUTCOMES];
} batch;

static batch all;

static int power(int base, int n) {
    return n ? base * power(base, n - 1) : 1;
}

static void digits(int code, int base, int n, int out[]) {
    for (int i = 0; i < n; i++, code /= base) out[i] = code % base;
}

static lam_tensor *stack(const batch *s, int i, place outer, place inner) {
    static array part[OUTER], whole;
    const array *parts[OUTER], *examples[INNER];
    for (int a = 0; a < OUTER; a++) {
        for (int b = 0; b < INNER; b++) examples[b] = &s->example[a][b][i];
        if (inner != NOWHERE) array_stack(&part[a], INNER, examples, inner == LAST);
        parts[a] = inner != NOWHERE ? &part[a] : examples[0];
    }
    if (outer == NOWHERE) return array_tensor(ctx, parts[0], PLAIN);
    array_stack(&whole, OUTER, parts, outer == LAST);
    return array_tensor(ctx, &whole, PLAIN);
}

static void gather_examples(const probe *p) {
    all.p = p;
    for (int k = 0; k < OUTCOMES; k++) all.known[k].examples = -1;
    for (int i = 0; i < p->inputs; i++) {
        for (int a = 0; a < OUTER; a++)
            for (int b = 0; b < INNER; b++) {
                array *x = &all.example[a][b][i];
                array_like(x, &p->in[i]);
                probe_fill(p, i, 16 * (a * INNER + b), x);
                all.single[a][b][i] = array_tensor(ctx, x, PLAIN);
            }
        for (int outer = 0; outer < PLACES; outer++)
            for (int inner = 0; inner < PLACES; inner++)
                all.stacked[outer][inner][i] = stack(&all, i, (place)outer, (place)inner);
    }
}

/* ---- values --------------------------------------------------------------------------------------------------- */

/* f on the examples that a mapping pairs: an operand without batch axis is the first example everywhere. */
static lam_tensor *const *one_example(const probe *p, const int outer[], const int inner[], int a, int b) {
    lam_tensor *in[CASES_OPERANDS];
    int examples = 0;
    for (int i = p->inputs - 1; i >= 0; i--) {
        const int from_outer = outer[i] ? a : 0, from_inner = inner[i] ? b : 0;
        in[i] = all.single[from_outer][from_inner][i];
        examples = (examples * OUTER + from_outer) * INNER + from_inner;
    }
    outcome *known = &all.known[examples % OUTCOMES];
    if (known->examples == examples) return known->out;
    known->examples = examples;
    PROBE_CHECK(p, lam_call(p->f, (lam_list){(size_t)p->inputs, in}, known->out, (size_t)p->outputs) == LAM_OK,
                "an example failed");
    return known->out;
}

/* Tensors of one type as one array, in front. */
static void join(const probe *p, const char *what, lam_tensor *const parts[], int n, array *out) {
    static array part;
    for (int k = 0; k < n; k++) {
        PROBE_CHECK(p, array_read(&part, parts[k]), "%s of example %d cannot be read", what, k);
        for (int64_t e = 0; e < part.count; e++) out->data[k * part.count + e] = part.data[e];
    }
    out->dtype = part.dtype;
    out->rank = part.rank;
    for (int i = 0; i < part.rank; i++) out->dims[i] = part.dims[i];
    out->count = part.count * n;
}

/* The joined array with its batch axes in front. */
static void add_axes(array *x, int n, const int64_t sizes[]) {
    int64_t dims[ARRAY_RANK];
    for (int i = 0; i < n; i++) dims[i] = sizes[i];
    for (int i = 0; i < x->rank; i++) dims[n + i] = x->dims[i];
    array_shape(x, x->dtype, x->rank + n, dims);
}

static lam_fn *mapped(lam_fn *f, int n, const int places[], int64_t size) {
    int axes[2 * CASES_OPERANDS + CASES_OUTPUTS];
    for (int i = 0; i < n; i++) axes[i] = axis_at[places[i]];
    return lam_vmap(f, &(lam_vmap_options){.in_axes = {n, axes}, .axis_size = size});
}

static void check_mapping(const probe *p, const int outer[], const int inner[], bool two) {
    static array want;
    lam_tensor *in[CASES_OPERANDS], *got[CASES_OUTPUTS], *out[OUTER * INNER][CASES_OUTPUTS], *parts[OUTER * INNER];
    int many = two ? OUTER : 1;
    for (int k = 0; k < many * INNER; k++)
        memcpy(out[k], one_example(p, outer, inner, k / INNER, k % INNER), sizeof out[k]);
    lam_scope *scope = lam_scope_begin(ctx);
    for (int i = 0; i < p->inputs; i++) in[i] = all.stacked[outer[i]][inner[i]][i];
    lam_fn *f = mapped(p->f, p->inputs, inner, INNER);
    if (two) f = mapped(f, p->inputs, outer, OUTER);
    PROBE_CHECK(p, lam_call(f, (lam_list){(size_t)p->inputs, in}, got, (size_t)p->outputs) == LAM_OK, "vmap failed");
    for (int o = 0; o < p->outputs; o++) {
        for (int k = 0; k < many * INNER; k++) parts[k] = out[k][o];
        join(p, "output", parts, many * INNER, &want);
        add_axes(&want, two ? 2 : 1, two ? (const int64_t[]){OUTER, INNER} : (const int64_t[]){INNER});
        probe_same(p, "batched output", o, got[o], &want, 16 * p->epsilon, 0);
    }
    lam_scope_end(scope, NULL, 0);
}

static void visit_batch(probe *p) {
    int inner[CASES_OPERANDS], outer[CASES_OPERANDS] = {0};
    gather_examples(p);
    for (int code = 1; code < power(PLACES, p->inputs); code++) {
        digits(code, PLACES, p->inputs, inner);
        check_mapping(p, outer, inner, false);
    }
}

int property_batch(const cases_row *row) {
    return probe_each(row, PLAIN, visit_batch);
}

/* Of three operands one of 5 pairs, of more one of 31: neither has a factor in common with the number of places and
 * both are less than that of mappings, so that each mapping occurs at either level, in ever other company. Sanitizers
 * look at so few of one operand less. */
static void visit_batch_twice(probe *p) {
    int inner[CASES_OPERANDS], outer[CASES_OPERANDS], most = power(PLACES, p->inputs);
    const int many = p->inputs + SANITIZED, step = many < 3 ? 1 : many == 3 ? 5 : 31;
    gather_examples(p);
    for (int code = 1; code < most * most; code += step) {
        digits(code % most, PLACES, p->inputs, inner);
        digits(code / most, PLACES, p->inputs, outer);
        check_mapping(p, outer, inner, true);
    }
}

int property_batch_twice(const cases_row *row) {
    return probe_each(row, PLAIN, visit_batch_twice);
}

/* ---- derivatives ---------------------------------------------------------------------------------------------- */

typedef struct derived {
    const probe *p;
    int places[CASES_OPERANDS];
    array direction[INNER][CASES_OPERANDS], weight[INNER][CASES_OUTPUTS];
    lam_tensor *t[CASES_OPERANDS],
        *w[CASES_OUTPUTS]; /* batched: tangents where the operand is mapped, cotangents in front */
    lam_tensor *in[CASES_OPERANDS];
    lam_tensor *dout[CASES_OUTPUTS][INNER]; /* of each example */
    lam_tensor *gx[CASES_OPERANDS][INNER];
} derived;

static lam_tensor *batched(const array parts[], int stride, place where) {
    static array whole;
    const array *list[INNER];
    for (int b = 0; b < INNER; b++) list[b] = &parts[b * stride];
    if (where == NOWHERE) return array_tensor(ctx, list[0], PLAIN);
    array_stack(&whole, INNER, list, where == LAST);
    return array_tensor(ctx, &whole, PLAIN);
}

static void lay_out_derived(derived *d) {
    static array type;
    const probe *p = d->p;
    for (int i = 0; i < p->inputs; i++) {
        for (int b = 0; b < INNER; b++) probe_direction(&p->in[i], 5 * b + i, &d->direction[b][i]);
        d->t[i] = p->floating[i] ? batched(&d->direction[0][i], CASES_OPERANDS, (place)d->places[i]) : NULL;
        d->in[i] = all.stacked[NOWHERE][d->places[i]][i];
    }
    for (int o = 0; o < p->outputs; o++) {
        probe_output_type(p, o, &type);
        for (int b = 0; b < INNER; b++) probe_direction(&type, 3 * b + o + 9, &d->weight[b][o]);
        d->w[o] = batched(&d->weight[0][o], CASES_OUTPUTS, FIRST);
    }
}

/* Both derivatives of each example. */
static void derive_examples(derived *d) {
    const probe *p = d->p;
    for (int b = 0; b < INNER; b++) {
        lam_tensor *in[CASES_OPERANDS], *dx[CASES_OPERANDS], *w[CASES_OUTPUTS], *out[CASES_OUTPUTS],
            *dout[CASES_OUTPUTS], *gx[CASES_OPERANDS];
        lam_fn *pullback;
        for (int i = 0; i < p->inputs; i++) {
            in[i] = all.single[0][d->places[i] ? b : 0][i];
            dx[i] = p->floating[i] ? array_tensor(ctx, &d->direction[d->places[i] ? b : 0][i], PLAIN) : NULL;
        }
        for (int o = 0; o < p->outputs; o++) w[o] = array_tensor(ctx, &d->weight[b][o], PLAIN);
        lam_list at = {(size_t)p->inputs, in};
        size_t m = (size_t)p->outputs;
        PROBE_CHECK(p, lam_jvp(p->f, at, (lam_list){(size_t)p->inputs, dx}, out, dout, m, NULL) == LAM_OK,
                    "jvp of an example failed");
        PROBE_CHECK(p, lam_vjp(p->f, at, out, m, &pullback, NULL) == LAM_OK, "vjp of an example failed");
        PROBE_CHECK(p, lam_call(pullback, (lam_list){m, w}, gx, (size_t)p->count) == LAM_OK,
                    "the pullback of an example failed");
        for (int o = 0; o < p->outputs; o++) d->dout[o][b] = dout[o];
        for (int k = 0; k < p->count; k++) d->gx[k][b] = gx[k];
    }
}

static void check_tangents(const derived *d, const char *what, lam_tensor *const got[]) {
    static array want;
    for (int o = 0; o < d->p->outputs; o++) {
        join(d->p, "tangent", d->dout[o], INNER, &want);
        add_axes(&want, 1, (const int64_t[]){INNER});
        probe_same(d->p, what, o, got[o], &want, 64 * d->p->epsilon, 1e-3L);
    }
}

/* The gradients as the batched call has them: along the operand's batch axis, summed where it has none. */
static void expected_gradient(const derived *d, int k, place where, array *want) {
    static array part[INNER];
    const array *parts[INNER];
    for (int b = 0; b < INNER; b++) {
        PROBE_CHECK(d->p, array_read(&part[b], d->gx[k][b]), "gradient %d of example %d cannot be read", k, b);
        parts[b] = &part[b];
    }
    if (where != NOWHERE) {
        array_stack(want, INNER, parts, where == LAST);
        return;
    }
    array_like(want, &part[0]);
    for (int64_t e = 0; e < want->count; e++) want->data[e] = part[0].data[e] + part[1].data[e] + part[2].data[e];
}

static void forward_and_batch(const derived *d) {
    const probe *p = d->p;
    int items[CASES_OPERANDS], places[2 * CASES_OPERANDS], n = 0;
    lam_tensor *out[2 * CASES_OUTPUTS], *dout[CASES_OUTPUTS], *in[2 * CASES_OPERANDS];
    size_t inputs = (size_t)p->inputs, m = (size_t)p->outputs;
    lam_fn *f = mapped(p->f, p->inputs, d->places, INNER);
    PROBE_CHECK(p, lam_jvp(f, (lam_list){inputs, d->in}, (lam_list){inputs, d->t}, out, dout, m, NULL) == LAM_OK,
                "jvp of vmap failed");
    check_tangents(d, "tangent of vmap", dout);
    for (int i = 0; i < p->inputs; i++) {
        in[i] = d->in[i];
        places[i] = d->places[i];
        if (!p->floating[i]) continue;
        in[p->inputs + n] = d->t[i];
        places[p->inputs + n] = d->places[i];
        items[n++] = i;
    }
    lam_fn *g = mapped(lam_jvp_fn(p->f, &(lam_grad_options){.argnums = {n, items}}), p->inputs + n, places, INNER);
    PROBE_CHECK(p, lam_call(g, (lam_list){inputs + (size_t)n, in}, out, 2 * m) == LAM_OK, "vmap of jvp failed");
    check_tangents(d, "tangent inside vmap", out + m);
}

static void body_gradients(lam_ctx *here, lam_tensor *const in[], lam_tensor *out[], void *env) {
    const probe *p = env;
    lam_tensor *values[CASES_OUTPUTS];
    lam_fn *pullback;
    (void)here;
    lam_vjp(p->f, (lam_list){(size_t)p->inputs, in}, values, (size_t)p->outputs, &pullback, NULL);
    lam_call(pullback, (lam_list){(size_t)p->outputs, in + p->inputs}, out, (size_t)p->count);
}

static void reverse_and_batch(const derived *d) {
    static array want;
    const probe *p = d->p;
    size_t inputs = (size_t)p->inputs, m = (size_t)p->outputs, count = (size_t)p->count;
    lam_tensor *out[CASES_OUTPUTS], *gx[CASES_OPERANDS], *in[CASES_OPERANDS + CASES_OUTPUTS];
    int places[CASES_OPERANDS + CASES_OUTPUTS];
    lam_fn *pullback, *f = mapped(p->f, p->inputs, d->places, INNER);
    PROBE_CHECK(p, lam_vjp(f, (lam_list){inputs, d->in}, out, m, &pullback, NULL) == LAM_OK, "vjp of vmap failed");
    PROBE_CHECK(p, lam_call(pullback, (lam_list){m, d->w}, gx, count) == LAM_OK, "the pullback of vmap failed");
    for (int i = 0, k = 0; i < p->inputs; i++) {
        if (!p->floating[i]) continue;
        expected_gradient(d, k, (place)d->places[i], &want);
        probe_same(p, "gradient of vmap, by operand", i, gx[k++], &want, 64 * p->epsilon, 1e-3L);
    }
    for (int i = 0; i < p->inputs; i++) in[i] = d->in[i], places[i] = d->places[i];
    for (int o = 0; o < p->outputs; o++) in[p->inputs + o] = d->w[o], places[p->inputs + o] = FIRST;
    lam_fn_options gradients = {.name = "gradients",
                                .body = body_gradients,
                                .inputs = p->inputs + p->outputs,
                                .outputs = p->count,
                                .env = (void *)(uintptr_t)p};
    lam_fn *g = mapped(lam_fn_new(ctx, &gradients), p->inputs + p->outputs, places, INNER);
    PROBE_CHECK(p, lam_call(g, (lam_list){inputs + m, in}, gx, count) == LAM_OK, "vmap of vjp failed");
    for (int k = 0; k < p->count; k++) {
        expected_gradient(d, k, FIRST, &want);
        probe_same(p, "gradient inside vmap", k, gx[k], &want, 64 * p->epsilon, 1e-3L);
    }
}

/* Of four operands and more, with a sanitizer of three, one of five mappings: each operand is mapped in each way. */
static void visit_batch_derivative(probe *p) {
    static derived d;
    if (!p->count) return; /* nothing to differentiate by */
    d.p = p;
    gather_examples(p);
    for (int code = 1; code < power(PLACES, p->inputs); code += p->inputs + SANITIZED < 4 ? 1 : 5) {
        lam_scope *scope = lam_scope_begin(ctx);
        digits(code, PLACES, p->inputs, d.places);
        lay_out_derived(&d);
        derive_examples(&d);
        forward_and_batch(&d);
        reverse_and_batch(&d);
        lam_scope_end(scope, NULL, 0);
    }
}

int property_batch_derivative(const cases_row *row) {
    return probe_each(row, PLAIN, visit_batch_derivative);
}

/* ---- cost ------------------------------------------------------------------------------------------------------- */

enum { FEW = 80, MANY = 160 };

/* How often memory is asked for while f works on a batch of the same example. A value holds up to 64 bytes
 * inline, which is one request less: `size` is to be more than that. */
static size_t requests_of_batch(const probe *p, lam_fn *f, int64_t size) {
    lam_tensor *in[CASES_OPERANDS], *out[CASES_OUTPUTS];
    lam_scope *scope = lam_scope_begin(ctx);
    for (int i = 0; i < p->inputs; i++) {
        lam_dims own = lam_dims_of(p->x[i]);
        int64_t dims[ARRAY_RANK + 1] = {size};
        for (int k = 0; k < own.rank; k++) dims[1 + k] = own.dims[k];
        in[i] = lam_contiguous(lam_broadcast_to(p->x[i], (lam_dims){own.rank + 1, dims}));
    }
    size_t before = requests_made();
    lam_status status = lam_call(f, (lam_list){(size_t)p->inputs, in}, out, (size_t)p->outputs);
    size_t requests = requests_made() - before;
    lam_scope_end(scope, NULL, 0);
    PROBE_CHECK(p, status == LAM_OK, "a batch of %d failed", (int)size);
    return requests;
}

/* A loop over examples, wherever it is hidden, makes values in proportion to their number. */
static void visit_batch_without_loop(probe *p) {
    lam_fn *f = lam_vmap(p->f, NULL);
    for (int i = 0; i < 4; i++) requests_of_batch(p, f, FEW); /* until the handles and scopes that wait suffice */
    size_t few = requests_of_batch(p, f, FEW), many = requests_of_batch(p, f, MANY);
    PROBE_CHECK(p, few == many, "%zu requests for memory for %d examples, %zu for %d", few, FEW, many, MANY);
}

int property_batch_without_loop(const cases_row *row) {
    return probe_each(row, PLAIN, visit_batch_without_loop);
}
