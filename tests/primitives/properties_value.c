/* Values against the reference in every layout of the operands, and types: what a shape rule infers from operands
 * without elements is what is made. */
#include "lib/dispatch/dispatch.h" /* first: its inline functions have a parameter ctx, support.h a global one */

#include "tests/primitives/probe.h"
#include "tests/primitives/properties.h"

static void check_values(const probe *p, lam_tensor *const out[]) {
    static array got;
    double ulps = p->use.row->ulps > 0 ? p->use.row->ulps : 2;
    for (int o = 0; o < p->outputs; o++) {
        const array *want = &p->out[o];
        PROBE_CHECK(p, !lam_failed(out[o]) && array_read(&got, out[o]), "output %d failed", o);
        long double scale = p->use.row->normwise ? array_largest(want) : 0;
        int64_t at = array_compare(&got, want, ulps * array_epsilon(want->dtype), scale);
        PROBE_CHECK(p, at != -2, "output %d: rank %d and dtype %s, not %d and %s, or other dims", o, got.rank,
                    lam_dtype_name(got.dtype), want->rank, lam_dtype_name(want->dtype));
        PROBE_CHECK(p, at < 0, "output %d: element %lld is %.17Lg, not %.17Lg", o, (long long)at, got.data[at],
                    want->data[at]);
    }
}

static void visit_value(probe *p) {
    lam_tensor *out[CASES_OUTPUTS];
    cases_call(&p->use, p->x, out);
    check_values(p, out);
}

int property_value(const cases_row *row) {
    return probe_each(row, PLAIN, visit_value);
}

int property_layouts(const cases_row *row) {
    int visits = 0;
    for (layout how = COLUMNS; how < LAYOUTS; how++) visits += probe_each(row, how, visit_value);
    return visits;
}

/* ---- types: a level that looks at each call and lets it through ----------------------------------------------- */

typedef struct witness {
    const probe *p;
    bool seen; /* the row's primitive was called */
} witness;

static lam_value *open_box(const lam__level *level, lam_value *v) {
    return lam__level_owns(level, v) ? lam__payload_of(v)->inner : v;
}

static void check_type(const probe *p, const char *name, int o, const lam_shape *inferred, const lam_value *made) {
    bool same = inferred->dtype == (lam_dtype)made->dtype && inferred->rank == made->rank;
    for (int i = 0; same && i < made->rank; i++) same = inferred->dims[i] == made->dims[i];
    PROBE_CHECK(p, same, "the shape rule of '%s' and its output %d differ", name, o);
}

/* The types that the shape rule gives for operands that have no elements to look at. */
static void infer(const lam_call_site *call, lam_shape shapes[]) {
    lam_value *types[8];
    lam_call_site abstract = *call;
    abstract.in = types;
    ck_assert(call->inputs <= 8);
    for (int i = 0; i < call->inputs; i++) {
        const lam_value *v = call->in[i];
        types[i] = v ? lam__value_abstract(call->ctx, (lam_dtype)v->dtype, v->rank, v->dims) : NULL;
    }
    ck_assert_msg(lam__eval_shape(&abstract, shapes) == LAM_OK, "%s", lam_error(call->ctx));
    for (int i = 0; i < call->inputs; i++) lam__value_release(types[i]);
}

static lam_status look(lam__level *level, const lam_call_site *call, lam_value *out[]) {
    witness *w = level->state;
    lam_value *in[8];
    lam_shape shapes[8]; /* a primitive may have more outputs than its row shows */
    ck_assert(call->inputs <= 8 && call->outputs <= 8);
    bool infers = !call->primitive->call; /* the types that a called function gives are known when it has been called */
    if (infers) infer(call, shapes);
    for (int i = 0; i < call->inputs; i++) in[i] = open_box(level, call->in[i]);
    lam_call_site below = *call;
    below.in = in;
    lam_status status = lam__dispatch(&below, out);
    for (int o = 0; status == LAM_OK && o < call->outputs; o++) {
        if (infers) check_type(w->p, call->primitive->name, o, &shapes[o], out[o]);
        out[o] = lam__value_box(level, (lam_dtype)out[o]->dtype, out[o]->rank, out[o]->dims, out[o]);
    }
    w->seen = w->seen || strcmp(call->primitive->name, w->p->use.row->name) == 0;
    return status;
}

static const lam__interpreter looking = {.name = "look", .process = look};

static void visit_types(probe *p) {
    witness w = {.p = p};
    lam__level level;
    lam_tensor *x[CASES_OPERANDS], *out[CASES_OUTPUTS];
    ck_assert(lam__level_push(ctx, &level, &looking, &w) == LAM_OK);
    for (int i = 0; i < p->inputs; i++) {
        lam_value *v = lam__scope_peek(p->x[i]);
        x[i] =
            lam__scope_handle(ctx, lam__value_box(&level, (lam_dtype)v->dtype, v->rank, v->dims, lam__value_hold(v)));
    }
    cases_call(&p->use, x, out);
    for (int o = 0; o < p->outputs; o++) {
        lam_value *v = lam__scope_peek(out[o]);
        PROBE_CHECK(p, v, "output %d failed", o);
        bool same = v->dtype == p->out[o].dtype && v->rank == p->out[o].rank;
        PROBE_CHECK(p, same, "output %d has another type than the reference gives", o);
    }
    lam__level_pop(&level);
    PROBE_CHECK(p, w.seen, "the row does not call its primitive");
}

int property_types(const cases_row *row) {
    return probe_each(row, PLAIN, visit_types);
}
