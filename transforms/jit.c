/* lam_jit: f is recorded on the trace for each signature of its inputs, and the program made a plan
 * (lib/program/plan.h), which is run on concrete inputs. What cannot be compiled is called as it is, and the report
 * says why: then levels see the operations of f, as they would without jit. */
#include "transforms/arguments.h"
#include "transforms/jit.h"
#include "transforms/nested_trips.h"
#include "transforms/rematerialise.h"
#include "transforms/trace.h"

#include "lib/primitives/apply.h"
#include "lib/program/machine.h"
#include "lib/program/prune.h"
#include "lib/program/residuals.h"

#include <lamina/program.h>

#include <string.h>

enum { USUAL_SIGNATURES = 16 };

/* One signature. plan: NULL where f is always called as it is, because it draws or reads elements. */
typedef struct entry {
    struct entry *next; /* the one used before this one */
    lam__plan *plan;
    lam_value *types[]; /* abstract, one per input */
} entry;

/* Lives as long as the function. The list begins with the entry used last. */
typedef struct cache {
    lam_ctx *ctx;
    lam_jit_options options;
    lam__plan_fusion fusion;
    int inputs, most, count;
    int64_t machines; /* loops and choices of the program recorded last that are machine code */
    bool in_loop;     /* the function is one of a loop */
    entry *first;
    lam_jit_report report;
} cache;

typedef struct jit_env {
    cache *cache;
} jit_env;

static size_t entry_bytes(const cache *c) {
    return sizeof(entry) + (size_t)c->inputs * sizeof(lam_value *);
}

/* Nobody runs its plan: make_room leaves those alone that are, and a function is held while it is called. */
static void entry_free(cache *c, entry *e) {
    lam__plan_free(e->plan);
    lam__arguments_release(c->inputs, e->types);
    lam__alloc_put(&c->ctx->pool, e, entry_bytes(c));
    c->count--;
}

/* With the function, which nobody is calling any more. */
static void jit_free(lam_ctx *ctx, void *env) {
    cache *c = ((jit_env *)env)->cache;
    while (c->first) {
        entry *next = c->first->next;
        entry_free(c, c->first);
        c->first = next;
    }
    lam__alloc_put(&ctx->pool, c, sizeof *c);
}

/* ---- signatures -------------------------------------------------------------------------------------------------- */

/* By types alone: a plan takes operands of any layout, and copies those with gaps that a fused part reads. */
static bool fits(const cache *c, const entry *e, lam_value *const in[]) {
    for (int i = 0; i < c->inputs; i++)
        if (!lam__value_same_type(e->types[i], in[i])) return false;
    return true;
}

/* The entry of these inputs, which becomes the first; NULL. */
static entry *find(cache *c, lam_value *const in[]) {
    for (entry **at = &c->first; *at; at = &(*at)->next) {
        entry *e = *at;
        if (!fits(c, e, in)) continue;
        *at = e->next;
        e->next = c->first;
        return c->first = e;
    }
    return NULL;
}

/* Makes room for one more: the entry used longest ago goes, unless it is being run. */
static void make_room(cache *c) {
    entry **at = &c->first;
    if (c->count < c->most || !*at) return;
    while ((*at)->next) at = &(*at)->next;
    if ((*at)->plan && lam__plan_busy((*at)->plan)) return;
    entry_free(c, *at);
    *at = NULL;
}

/* plan is taken over, also on failure. */
static lam_status add(cache *c, lam_value *const in[], lam__plan *plan) {
    entry *e = lam__alloc_get(&c->ctx->pool, entry_bytes(c));
    if (!e) {
        lam__plan_free(plan);
        return lam__error_memory(c->ctx, entry_bytes(c));
    }
    memset(e, 0, entry_bytes(c));
    e->plan = plan;
    c->count++;
    for (int i = 0; i < c->inputs; i++)
        if (!(e->types[i] = lam__value_abstract(c->ctx, (lam_dtype)in[i]->dtype, in[i]->rank, in[i]->dims))) {
            entry_free(c, e);
            return LAM_ERR_MEMORY;
        }
    e->next = c->first;
    c->first = e;
    return LAM_OK;
}

/* Says in the report how these inputs differ from those used last. */
static void say_cause(cache *c, lam_value *const in[]) {
    lam__text text = {c->report.cause, sizeof c->report.cause, 0};
    c->report.cause[0] = 0;
    if (!c->first) {
        lam__error_append(&text, "first call");
        return;
    }
    for (int i = 0; i < c->inputs; i++) {
        const lam_value *had = c->first->types[i], *has = in[i];
        if (lam__value_same_type(had, has)) continue;
        lam__error_append(&text, "input %d is ", i);
        lam__error_append_type(&text, (lam_dtype)has->dtype, has->rank, has->dims);
        lam__error_append(&text, ", not ");
        lam__error_append_type(&text, (lam_dtype)had->dtype, had->rank, had->dims);
        return;
    }
}

static void say(cache *c, const char *cause) {
    lam__text text = {c->report.cause, sizeof c->report.cause, 0};
    c->report.cause[0] = 0;
    lam__error_append(&text, "%s", cause);
}

/* ---- recording --------------------------------------------------------------------------------------------------- */

/* *f is this one from now on. */
static void replace(lam_fn **f, lam_fn *by) {
    lam__fn_release(*f);
    *f = lam__fn_retain(by);
}

/* Loops that examples leave at different times, so that all of them make trips at once; *done: it is one. */
static lam_status compile_abreast(cache *c, lam__nested *what, bool *done) {
    lam_scope scope;
    lam_fn *made = NULL;
    lam__scope_open(c->ctx, &scope);
    const lam_status status = lam__nested_abreast(what, &c->options, &made);
    *done = made != NULL;
    if (made) replace(&what->fns[0], made);
    lam__scope_close(&scope);
    return status;
}

/* The programs in an equation are compiled as well, each when it is run; what is small as a whole. */
static lam_status compile_nested(cache *c, lam__program *p, lam__equation *e) {
    lam__nested *what = e->params;
    lam_scope scope;
    bool done;
    lam_status status = compile_abreast(c, what, &done);
    if (status != LAM_OK || done) return status;
    if (c->options.native && c->fusion != LAM__PLAN_NONE && !what->trips) what->machine = lam__machine_new(p, e);
    if (what->machine) {
        c->machines++;
        return LAM_OK;
    }
    lam__scope_open(c->ctx, &scope);
    for (int i = 0; i < what->count && status == LAM_OK; i++) {
        lam_fn *compiled = (lam__nested_is_loop(what) ? lam__jit_trip : lam_jit)(what->fns[i], &c->options);
        if (compiled->magic != LAM__FN) {
            status = LAM_ERR_MEMORY;
            continue;
        }
        replace(&what->fns[i], compiled);
    }
    lam__scope_close(&scope);
    return status;
}

/* Whether the operands of a loop are the first ones of its way back. */
static bool same_operands(const lam__equation *loop, const lam__equation *back) {
    bool same = loop->inputs <= back->inputs;
    for (int i = 0; i < loop->inputs && same; i++)
        same = loop->in[i].variable == back->in[i].variable && loop->in[i].constant == back->in[i].constant;
    return same;
}

/* The loop before equation k that `made` goes back through keeps for it what it does. */
static void keep_trips(cache *c, lam__program *p, int64_t k, const lam_fn *made) {
    for (int64_t j = 0; j < k; j++) {
        const lam__equation *e = p->list[j];
        lam__nested *what = e->params;
        if (e->primitive != &lam__row_while || what->trips || !same_operands(e, p->list[k])) continue;
        what->trips = lam__trips_hold(lam__nested_trips_of(made, what));
        if (!what->trips) continue;
        c->machines += what->trips->machine != NULL;
        return;
    }
}

/* The way back through a while, equation k. */
static lam_status compile_back(cache *c, lam__program *p, int64_t k) {
    lam__equation *e = p->list[k];
    lam_scope scope;
    lam_fn **f = lam__checkpoint_function(e->params), *made = NULL;
    lam__scope_open(c->ctx, &scope);
    lam_value **in = (lam_value **)(void *)lam__apply_room(c->ctx, (size_t)e->inputs);
    for (int i = 0; in && i < e->inputs; i++)
        in[i] = e->in[i].variable >= 0 ? p->types[e->in[i].variable] : e->in[i].constant;
    const lam_status status = in ? lam__nested_unwound(*f, in, &c->options, &made) : LAM_ERR_MEMORY;
    if (status == LAM_OK && made) {
        c->machines += lam__nested_unwound_is_machine(made);
        keep_trips(c, p, k, made);
        replace(f, made);
    }
    lam__scope_close(&scope);
    return status;
}

/* Ways back through loops, then choices and loops; all other equations have no programs in them. */
static lam_status compile_all_nested(cache *c, lam__program *p) {
    lam_status status = LAM_OK;
    c->machines = 0;
    for (int64_t k = 0; k < p->equations && status == LAM_OK; k++)
        if (p->list[k]->primitive == &lam__row_control) status = compile_back(c, p, k);
    for (int64_t k = 0; k < p->equations && status == LAM_OK; k++)
        if (lam__nested_of(p->list[k])) status = compile_nested(c, p, p->list[k]);
    return status;
}

/* Why f cannot be recorded though it may be called; NULL: what failed would fail again. A rule is transposed if it is
 * linear, and what it adds may be zero by its elements alone. All branches are recorded, and one that is there to
 * refuse, or that constants make fail, need not be taken; what fails in any case says so when f is called. */
static const char *needs_elements(lam_status status) {
    switch (status) {
    case LAM_ERR_ABSTRACT: return "it reads elements that depend on its inputs";
    case LAM_ERR_LINEAR: return "whether something in it is linear is not known without elements";
    case LAM_ERR_CAPTURED: return "a function in it uses a tensor that is none of its inputs and captures";
    case LAM_ERR_VALUE:
    case LAM_ERR_INDEX:
    case LAM_ERR_NUMERIC:
    case LAM_ERR_USER: return "something in it fails, in a branch that need not be taken or in any case";
    default: return NULL;
    }
}

static lam_status make_plan(const cache *c, lam__program *p, lam__plan **plan) {
    p->native = c->options.native;
    p->in_loop = c->in_loop;
    *plan = lam__plan_new(p, c->fusion, c->options.native);
    return *plan ? LAM_OK : LAM_ERR_MEMORY;
}

/* The plan for these inputs; *plan stays NULL, with the cause said, where f has to be called as it is: `always` so if
 * it draws or needs elements, this time if it has read a box of an open level or knows of a batch around it. Draws that
 * recording made are taken back, and a failure that only says why (NOTE [attempts] in lib/base/error.h). */
static lam_status record(cache *c, lam_fn *f, lam_value *const in[], lam__plan **plan, bool *always) {
    lam_ctx *ctx = f->ctx;
    const lam_random_state before = ctx->random;
    lam__scratch_area area;
    const size_t values = (size_t)(f->inputs + f->outputs);
    lam_value **room = lam__scratch_get(&area, ctx, values * sizeof *room);
    if (!room) return LAM_ERR_MEMORY;
    memset(room, 0, values * sizeof *room);
    lam__mark mark = lam__error_mark(ctx);
    lam__program *p = lam__program_new(ctx, f->inputs, f->outputs);
    if (p) p->keeps_loops = p->unrolls = true;
    if (p) p->native = c->options.native;
    lam_status status = p ? lam__trace_fn(f, p, 0, in, room, room + f->inputs) : LAM_ERR_MEMORY;
    const char *needs = needs_elements(status);
    if (needs) {
        ctx->random = before;
        lam__error_roll_back(ctx, mark);
        *always = true;
        status = LAM_OK;
        say(c, needs);
    } else if (status == LAM_OK) {
        *always = memcmp(&before, &ctx->random, sizeof before) != 0;
        ctx->random = before;
        if (*always) say(c, "it draws from the generator of the context");
        else if (p->sees_batch || !lam__plan_fits(p)) say(c, "it reads values of open levels");
        else if (!(p = lam__program_plain(p)) || !(p = lam__residuals_keep(p))) status = LAM_ERR_MEMORY;
        else if ((status = compile_all_nested(c, p)) == LAM_OK) status = make_plan(c, p, plan);
    }
    lam__program_release(p);
    lam__scratch_put(&area);
    return status;
}

/* `recorded` counts; all else is said of the plan that was made last. */
static void report_plan(cache *c, const lam__plan *plan) {
    const lam__plan_report made = lam__plan_report_of(plan);
    c->report.recorded++;
    c->report.equations = made.equations;
    c->report.fused = made.fused;
    c->report.parts = made.parts;
    c->report.steps = made.steps;
    c->report.lanes = made.lanes;
    c->report.native = made.native + c->machines;
    c->report.bytes = made.bytes;
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

/* NULL, an operand that was left out, has no elements to run on either. */
static bool all_concrete(int n, lam_value *const in[]) {
    for (int i = 0; i < n; i++)
        if (!in[i] || in[i]->kind != LAM__CONCRETE) return false;
    return true;
}

/* *found is the plan to run, NULL for a call as it is. */
static lam_status plan_for(cache *c, lam_fn *f, lam_value *const in[], lam__plan **found) {
    *found = NULL;
    if (!all_concrete(f->inputs, in)) {
        say(c, "an input belongs to an open level");
        return LAM_OK;
    }
    entry *e = find(c, in);
    if (e) {
        *found = e->plan && !lam__plan_busy(e->plan) ? e->plan : NULL;
        return LAM_OK;
    }
    lam__plan *plan = NULL;
    bool always = false;
    say_cause(c, in);
    lam_status status = record(c, f, in, &plan, &always);
    if (status != LAM_OK || (!plan && !always)) return status;
    make_room(c);
    if (plan) report_plan(c, plan);
    *found = plan;
    status = add(c, in, plan);
    if (status != LAM_OK) *found = NULL;
    return status;
}

/* A call is counted before it can fail. What has no plan is called as it is, at the level of the caller. */
static lam_status run(lam_fn *f, cache *c, lam_value *const in[], lam_value *out[]) {
    lam__plan *plan = NULL;
    c->report.calls++;
    lam_status status = plan_for(c, f, in, &plan);
    if (status == LAM_OK && plan) return lam__plan_run(plan, in, out);
    if (status != LAM_OK) return status;
    c->report.direct++;
    return lam__fn_call(f, (size_t)f->inputs, in, (size_t)f->outputs, out);
}

/* Values in, values out: between them no handle is made, but by what is called. */
static void body_jit(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    lam_fn *f = lam__fn_base(env);
    cache *c = ((jit_env *)env)->cache;
    lam__scratch_area area;
    const size_t values = (size_t)(f->inputs + f->outputs);
    lam_value **v = lam__scratch_get(&area, ctx, values * sizeof *v);
    if (!v) return;
    memset(v, 0, values * sizeof *v);
    lam_value **results = v + f->inputs;
    const lam_status status = lam__arguments_values(ctx, f->inputs, in, v) ? run(f, c, v, results) : ctx->error.status;
    lam__arguments_give(ctx, status, f->outputs, results, out);
    lam__scratch_put(&area);
}

bool lam__jit_made(const lam_fn *f) {
    return f->body == body_jit;
}

lam_status lam__jit_call(lam_fn *f, lam_value *const in[], lam_value *out[]) {
    return run(lam__fn_base(f->env), ((jit_env *)f->env)->cache, in, out);
}

lam_status lam__jit_plan(lam_fn *f, lam_value *const in[], lam__plan **plan) {
    return plan_for(((jit_env *)f->env)->cache, lam__fn_base(f->env), in, plan);
}

/* ---- public ------------------------------------------------------------------------------------------------------ */

static lam_fn *fail_option(lam_ctx *ctx, const lam_fn *f, const char *what, int given) {
    lam__error_set(ctx, LAM_ERR_OPTION, NULL, "jit of '%s': %s is %d", f->name, what, given);
    return ctx->failed_fn;
}

/* Nothing is recorded yet: the first call with a signature does that. The cache goes with the function. */
lam_fn *lam_jit(lam_fn *f, const lam_jit_options *options) {
    static const lam__plan_fusion kinds[] = {LAM__PLAN_AUTO, LAM__PLAN_ALL, LAM__PLAN_NONE};
    static const lam_jit_options none;
    const lam_jit_options *o = options ? options : &none;
    lam_ctx *ctx = lam__fn_check("jit", f);
    if (!ctx) return f ? f->ctx->failed_fn : lam__context_failed.failed_fn;
    if (o->signatures < 0) return fail_option(ctx, f, "signatures", o->signatures);
    if ((int)o->fusion < LAM_JIT_AUTO || (int)o->fusion > LAM_JIT_NONE)
        return fail_option(ctx, f, "fusion", (int)o->fusion);
    cache *c = lam__alloc_get(&ctx->pool, sizeof *c);
    if (!c) {
        lam__error_memory(ctx, sizeof *c);
        return ctx->failed_fn;
    }
    *c = (cache){.ctx = ctx,
                 .options = *o,
                 .fusion = kinds[o->fusion],
                 .inputs = f->inputs,
                 .most = o->signatures ? o->signatures : USUAL_SIGNATURES};
    const jit_env env = {c};
    const lam__derived d = {"jit", f, body_jit, f->inputs, f->outputs, &env, sizeof env, jit_free};
    lam_fn *made = lam__fn_derive(ctx, &d);
    if (made->magic == LAM__FN) made->optional = f->optional;
    else lam__alloc_put(&ctx->pool, c, sizeof *c);
    return made;
}

lam_fn *lam__jit_trip(lam_fn *f, const lam_jit_options *options) {
    lam_fn *made = lam_jit(f, options);
    if (made->magic == LAM__FN) ((jit_env *)made->env)->cache->in_loop = true;
    return made;
}

lam_jit_report lam_jit_report_of(lam_fn *jitted) {
    lam_ctx *ctx = lam__fn_check("jit_report_of", jitted);
    if (ctx && jitted->body == body_jit) return ((jit_env *)jitted->env)->cache->report;
    if (ctx)
        lam__error_set(ctx, LAM_ERR_VALUE, "give what lam_jit returned", "jit_report_of: '%s' is not a jitted function",
                       jitted->name);
    return (lam_jit_report){0};
}
