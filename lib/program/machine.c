/* See machine.h. The equation becomes a program of its own, and that a function in C with its workspace, which the
 * machine keeps. */
#include "lib/program/machine.h"

#include "lib/base/context.h"
#include "lib/primitives/params.h"
#include "lib/program/emit.h"
#include "lib/program/function.h"
#include "lib/program/library.h"
#include "lib/program/machine_cost.h"
#include "lib/program/nested.h"

#include <string.h>

typedef void machine_run(const void *const in[], void *const out[], void *workspace);

/* The program is the one equation, which says types; the workspace has workspace_bytes, which the text tells when it is
 * written. */
struct lam__machine {
    uint32_t refs;
    lam__program *program;
    lam__library *library; /* held; others may have the same text */
    void *workspace;
    machine_run *run;
    int64_t workspace_bytes;
};

/* ---- making ------------------------------------------------------------------------------------------------------ */

/* Inputs, then results, in the numbering of the program that alone() makes. A result that was left out has no type, so
 * such an equation stays as it is. */
static bool add_types(lam__program *made, const lam__program *p, const lam__equation *e) {
    for (int i = 0; i < e->inputs + e->outputs; i++) {
        const lam_value *v = i >= e->inputs           ? p->types[e->first + i - e->inputs]
                             : e->in[i].variable >= 0 ? p->types[e->in[i].variable]
                                                      : e->in[i].constant;
        if (!v || lam__program_variable(made, (lam_dtype)v->dtype, v->rank, v->dims) < 0) return false;
    }
    return true;
}

/* A program that has just this equation, on inputs. */
static lam__program *alone(const lam__program *p, const lam__equation *e) {
    lam__program *made = lam__program_new(p->ctx, e->inputs, e->outputs);
    const size_t bytes = (size_t)(e->inputs + 1) * sizeof(lam__atom);
    lam__atom *in = lam__alloc_get(&p->ctx->pool, bytes);
    const lam_call_site call = lam__equation_call(p->ctx, e, NULL);
    bool fine = made && in && add_types(made, p, e);
    for (int i = 0; i < e->inputs && fine; i++) in[i] = (lam__atom){i, NULL};
    fine = fine && lam__program_record(made, &call, in, e->inputs) == LAM_OK;
    for (int o = 0; o < e->outputs && fine; o++) made->results[o].variable = e->inputs + o;
    if (in) lam__alloc_put(&p->ctx->pool, in, bytes);
    if (fine && lam__program_finish(made) == LAM_OK) return made;
    lam__program_release(made);
    return NULL;
}

/* The function, and one that takes its arguments in lists. */
static bool write(FILE *file, void *env) {
    lam__machine *m = env;
    const lam__program *p = m->program;
    if (lam__emit_program(p, "lamina_loop", file, true, &m->workspace_bytes) != LAM_OK) return false;
    fputs("void lamina_run(const void *const in[], void *const out[], void *workspace) {\n    lamina_loop(", file);
    for (int i = 0; i < p->inputs; i++) fprintf(file, "in[%d], ", i);
    for (int o = 0; o < p->outputs; o++) fprintf(file, "out[%d], ", o);
    fputs("workspace);\n}\n", file);
    return true;
}

/* Texts are compared by the library, so loops that are alike are compiled once (library.c). */
static bool build(lam__machine *m) {
    lam_ctx *ctx = m->program->ctx;
    m->library = lam__library_get(ctx, write, m);
    void *found = lam__library_find(m->library, "lamina_run");
    memcpy(&m->run, &found, sizeof found);
    if (!found) return false;
    m->workspace = lam__alloc_get(&ctx->pool, (size_t)m->workspace_bytes + 1);
    return m->workspace != NULL;
}

/* NULL: something does not go, or there was no memory. The context is that of the program, so a machine without one
 * cannot be released the usual way. */
static lam__machine *make(const lam__program *p, const lam__equation *e) {
    lam__machine *m = lam__alloc_get(&p->ctx->pool, sizeof *m);
    if (!m) return NULL;
    *m = (lam__machine){.refs = 1, .program = alone(p, e)};
    if (m->program && build(m)) return m;
    if (m->program) {
        lam__machine_release(m);
        return NULL;
    }
    lam__alloc_put(&p->ctx->pool, m, sizeof *m);
    return NULL;
}

/* Nothing is a failure here, neither an operation without a form in C nor memory that is refused: the equation can
 * always be run without. So nothing of it stays on record. */
lam__machine *lam__machine_new(const lam__program *p, const lam__equation *e) {
    const lam__nested *what = lam__nested_of(e);
    if (!lam__machine_is_worth(what->fns, what->count)) return NULL;
    const lam__mark mark = lam__error_mark(p->ctx);
    lam__machine *m = make(p, e);
    lam__error_roll_back(p->ctx, mark);
    return m;
}

/* Most equations have none, so NULL is taken here and by lam__machine_release. */
lam__machine *lam__machine_hold(lam__machine *m) {
    if (m) m->refs++;
    return m;
}

void lam__machine_release(lam__machine *m) {
    if (!m || --m->refs) return;
    lam_ctx *ctx = m->program->ctx;
    if (m->workspace) lam__alloc_put(&ctx->pool, m->workspace, (size_t)m->workspace_bytes + 1);
    lam__library_release(ctx, m->library);
    lam__program_release(m->program);
    lam__alloc_put(&ctx->pool, m, sizeof *m);
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

/* The code takes arrays without gaps and never fails, so all that can fail is done before it. The workspace is the
 * machine's, and one run at a time uses it: code in C calls nothing of the user's that could come back. */
lam_status lam__machine_run(lam__machine *m, lam_value *const in[], lam_value *out[]) {
    const lam__program *p = m->program;
    lam_ctx *ctx = p->ctx;
    lam__scratch_area area;
    const size_t n = (size_t)p->inputs, k = (size_t)p->outputs;
    lam_value **held = lam__scratch_get(&area, ctx, (2 * n + k + 1) * sizeof *held);
    if (!held) return LAM_ERR_MEMORY;
    void **from = (void **)(held + n), **to = from + n;
    memset(held, 0, n * sizeof *held);
    memset(out, 0, k * sizeof *out);
    lam_status status = LAM_OK;
    for (size_t i = 0; i < n && status == LAM_OK; i++) {
        held[i] = lam__value_contiguous(in[i]);
        if (held[i]) from[i] = held[i]->data;
        else status = LAM_ERR_MEMORY;
    }
    for (size_t o = 0; o < k && status == LAM_OK; o++) {
        const lam_value *type = p->types[p->list[0]->first + (int64_t)o];
        out[o] = lam__value_new(ctx, (lam_dtype)type->dtype, type->rank, type->dims);
        if (out[o]) to[o] = out[o]->data;
        else status = LAM_ERR_MEMORY;
    }
    if (status == LAM_OK) m->run((const void *const *)from, to, m->workspace);
    for (size_t i = 0; i < n; i++) lam__value_release(held[i]);
    for (size_t o = 0; o < k && status != LAM_OK; o++) {
        lam__value_release(out[o]);
        out[o] = NULL;
    }
    lam__scratch_put(&area);
    return status;
}
