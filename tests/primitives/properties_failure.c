/* Failure: wrong operands and options fail with a message that names the primitive, and every request for memory that
 * is refused in a whole scenario leaves a clean status, no block behind, and a context that works again. */
#include "tests/primitives/probe.h"
#include "tests/primitives/properties.h"

#include <math.h>

/* ---- wrong calls ---------------------------------------------------------------------------------------------- */

/* The first failure since the last one was forgotten has this status and names the primitive; forgets it. */
static void check_failure(const probe *p, const char *what, lam_tensor *const out[], lam_status status) {
    PROBE_CHECK(p, lam_failed(out[0]), "%s gives a result", what);
    PROBE_CHECK(p, lam_status_of(ctx) == status, "%s: status %s, not %s", what, lam_status_name(lam_status_of(ctx)),
                lam_status_name(status));
    PROBE_CHECK(p, strstr(lam_error(ctx), p->use.row->name), "%s: the message does not name the primitive", what);
    lam_clear_error(ctx);
}

/* The form's call with another operand i. */
static void call_with(const probe *p, int i, lam_tensor *x, lam_tensor *out[]) {
    lam_tensor *in[CASES_OPERANDS];
    for (int k = 0; k < p->inputs; k++) in[k] = k == i ? x : p->x[k];
    cases_call(&p->use, in, out);
}

static void visit_wrong_handles(probe *p) {
    lam_tensor *out[CASES_OUTPUTS];
    lam_ctx *other = lam_ctx_new(NULL);
    lam_tensor *foreign[CASES_OPERANDS], *failed = lam_fail(ctx, LAM_ERR_USER, "made to fail");
    for (int i = 0; i < p->inputs; i++) foreign[i] = array_tensor(other, &p->in[i], PLAIN);
    for (int i = 0; i < p->inputs; i++) {
        size_t before = lam_error_count(ctx);
        call_with(p, i, failed, out);
        PROBE_CHECK(p, lam_failed(out[0]) && lam_error_count(ctx) == before,
                    "failed operand %d is not passed on in silence", i);
    }
    lam_clear_error(ctx);
    for (int i = 0; i < p->inputs; i++) {
        lam_tensor *freed = lam_alias(p->x[i]);
        lam_drop(freed);
        call_with(p, i, freed, out);
        check_failure(p, "a freed operand", out, LAM_ERR_FREED);
        call_with(p, i, NULL, out);
        if (p->inputs == 1) { /* nothing tells which context it would belong to */
            PROBE_CHECK(p, lam_failed(out[0]), "no operand at all gives a result");
            continue;
        }
        check_failure(p, "a NULL operand", out, LAM_ERR_NULL);
        call_with(p, i, foreign[i], out);
        PROBE_CHECK(p, lam_failed(out[0]), "operand %d of another context gives a result", i);
        bool here = lam_status_of(ctx) != LAM_OK;
        PROBE_CHECK(p, lam_status_of(here ? ctx : other) == LAM_ERR_CONTEXT, "operand %d of another context", i);
        PROBE_CHECK(p, strstr(lam_error(here ? ctx : other), p->use.row->name),
                    "the message on mixed contexts does not name the primitive");
        lam_clear_error(ctx);
        lam_clear_error(other);
    }
    lam_ctx_free(other);
}

static void check_wrong(const cases_row *row, const cases_wrong *wrong, cases_caller *call) {
    static probe p;
    static probe_form types;
    lam_tensor *out[CASES_OUTPUTS];
    probe_types(wrong->operands, LAM_F64, &types);
    p.use = (cases_use){.row = row, .arg = wrong->arg, .inputs = types.inputs, .ctx = ctx};
    p.operands = wrong->operands;
    p.inputs = types.inputs;
    for (int i = 0; i < p.inputs; i++) {
        p.in[i] = types.in[i];
        probe_fill(&p, i, 0, &p.in[i]);
        p.x[i] = array_tensor(ctx, &p.in[i], PLAIN);
    }
    call(&p.use, p.x, out);
    check_failure(&p, "a wrong call", out, wrong->status);
}

int property_wrong(const cases_row *row) {
    int looked = probe_each(row, PLAIN, visit_wrong_handles);
    for (const cases_wrong *w = row->wrong; w && w->operands; w++, looked++) check_wrong(row, w, cases_call);
    for (const cases_wrong_call *w = row->wrong_calls; w < row->wrong_calls + 2 && w->operands; w++, looked++)
        check_wrong(row, &(cases_wrong){.operands = w->operands, .status = w->status}, w->call);
    return looked;
}

/* ---- memory --------------------------------------------------------------------------------------------------- */

/* Both derivatives and a batch of the row's first form, on operands made anew in the global context. True if all was
 * made; then each example of the batch is what the reference says. */
static bool scenario(const probe *p) {
    static array got;
    lam_tensor *x[CASES_OPERANDS], *t[CASES_OPERANDS] = {NULL}, *out[CASES_OUTPUTS], *dout[CASES_OUTPUTS],
                                   *gx[CASES_OPERANDS];
    lam_fn_options options = {.name = p->use.row->name,
                              .body = probe_body,
                              .inputs = p->inputs,
                              .outputs = p->outputs,
                              .env = (void *)(uintptr_t)p};
    size_t n = (size_t)p->inputs, m = (size_t)p->outputs;
    lam_fn *pullback, *f = lam_fn_new(ctx, &options);
    for (int i = 0; i < p->inputs; i++) {
        x[i] = array_tensor(ctx, &p->in[i], COLUMNS);
        if (p->floating[i]) t[i] = lam_ones_like(x[i]);
    }
    bool made = lam_jvp(f, (lam_list){n, x}, (lam_list){n, t}, out, dout, m, NULL) == LAM_OK;
    made = lam_vjp(f, (lam_list){n, x}, out, m, &pullback, NULL) == LAM_OK && made;
    made = lam_call(pullback, (lam_list){m, out}, gx, (size_t)p->count) == LAM_OK && made;
    for (int i = 0; i < p->inputs; i++) x[i] = lam_stack(LAM_LIST(x[i], x[i]), 0);
    made = lam_call(lam_vmap(f, NULL), (lam_list){n, x}, out, m) == LAM_OK && made;
    if (!made) return false;
    PROBE_CHECK(p, array_read(&got, out[0]) && got.count == 2 * p->out[0].count, "the batch cannot be read");
    for (int64_t e = 0; e < got.count; e++) {
        long double want = p->out[0].data[e % p->out[0].count], size = fmaxl(1, array_largest(&p->out[0]));
        bool near = got.data[e] == want || fabsl(got.data[e] - want) <= 64 * p->epsilon * size;
        PROBE_CHECK(p, near, "element %lld of the batch is %Lg, not %Lg", (long long)e, got.data[e], want);
    }
    return true;
}

/* Runs the scenario in a context of its own whose request number `refuse` is refused; true if it came to that. A
 * request that the library can do without leaves no trace. */
static bool run_refused(const probe *p, size_t refuse, bool from_then_on) {
    memory m = {.refuse = refuse, .from_then_on = from_then_on};
    lam_ctx_options options = memory_options(&m);
    lam_ctx *outside = ctx;
    ctx = lam_ctx_new(&options);
    bool born = lam_status_of(ctx) == LAM_OK, reached;
    lam_scope *scope = lam_scope_begin(ctx);
    bool made = scenario(p) && scope;
    lam_scope_end(scope, NULL, 0);
    lam_status status = lam_status_of(ctx);
    reached = m.requests >= refuse;
    m.refuse = 0;
    lam_clear_error(ctx);
    bool works = !born || (SANITIZED && refuse % 4) || scenario(p);
    lam_ctx_free(ctx);
    ctx = outside;
    PROBE_CHECK(p, status == (made ? LAM_OK : LAM_ERR_MEMORY), "request %zu refused: status %s", refuse,
                lam_status_name(status));
    PROBE_CHECK(p, works, "request %zu refused: the context is of no use afterwards", refuse);
    PROBE_CHECK(p, m.blocks == 0 && !m.wrong_size, "request %zu refused: %zu blocks leak", refuse, m.blocks);
    return reached;
}

static void sweep(const probe *p, bool from_then_on) {
    size_t refuse = 1;
    while (run_refused(p, refuse, from_then_on)) refuse += from_then_on && SANITIZED ? 3 : 1;
    PROBE_CHECK(p, refuse > 4, "the scenario asks for no memory");
}

static bool swept;

static void visit_memory(probe *p) {
    if (swept) return; /* one form of each row: the sweep is quadratic */
    swept = true;
    sweep(p, false);
    sweep(p, true);
}

int property_memory(const cases_row *row) {
    swept = false;
    return probe_each(row, PLAIN, visit_memory);
}
