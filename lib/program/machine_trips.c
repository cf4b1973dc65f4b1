/* See machine_trips.h. All functions are one text, which the library knows again. */
#include "lib/program/machine_trips.h"

#include "lib/base/context.h"
#include "lib/program/emit.h"
#include "lib/program/function.h"
#include "lib/program/library.h"
#include "lib/program/machine_cost.h"
#include "lib/program/nested.h"
#include "lib/tensor/dtype.h"

#include <string.h>

/* As the functions of machine_trips.h. */
typedef int64_t run_there(void *const in[], void *const rows[], int64_t made, int64_t room, void *workspace);
typedef void run_back(void *const in[], void *const out[], void *const spare[], int64_t trips, void *workspace);

struct lam__machine_trips {
    lam_ctx *ctx;
    lam__library *library; /* held; others may have the same text */
    void *workspace;
    int64_t workspace_bytes; /* of the function that needs most */
    run_there *there;
    run_back *back;
};

/* ---- text -------------------------------------------------------------------------------------------------------- */

/* The programs, and what the file's writer is to tell. */
typedef struct source {
    const lam__program *p[LAM__MACHINE_FUNCTIONS];
    int carries, rows, gradients; /* rows: of carries and of what is kept */
    int64_t workspace_bytes;
} source;

static long long bytes_of(const lam_value *type) {
    return (long long)type->count * (long long)lam__dtype_bytes((lam_dtype)type->dtype);
}

/* Where trip `trip` has its row, an argument. */
static void write_row(FILE *file, const char *rows, int k, const char *trip, const lam_value *type) {
    fprintf(file, "(void *)((char *)%s[%d] + %s * %lld), ", rows, k, trip, bytes_of(type));
}

/* What the condition and the body take before trip `made`. */
static void write_taken(FILE *file, const source *s) {
    const lam__program *body = s->p[LAM__MACHINE_BODY];
    for (int i = 0; i < body->inputs; i++) {
        if (i < s->carries) write_row(file, "rows", i, "made", body->types[i]);
        else fprintf(file, "in[%d], ", i);
    }
}

static void write_there(FILE *file, const source *s) {
    fputs("int64_t lamina_there(void *const in[], void *const rows[], int64_t made, int64_t room, void *workspace) {\n"
          "    (void)in;\n"
          "    for (; made + 1 < room; made++) {\n"
          "        uint8_t holds;\n"
          "        lamina_condition(",
          file);
    write_taken(file, s);
    fputs("&holds, workspace);\n        if (!holds) return made;\n        lamina_body(", file);
    write_taken(file, s);
    for (int k = 0; k < s->rows; k++)
        write_row(file, "rows", k, k < s->carries ? "(made + 1)" : "made",
                  lam__program_result_type(s->p[LAM__MACHINE_BODY], k));
    fputs("workspace);\n    }\n    return made;\n}\n\n", file);
}

static void write_back(FILE *file, const source *s) {
    const lam__program *back = s->p[LAM__MACHINE_BACK];
    fputs("void lamina_over(void *const in[], void *const out[], void *const spare[], int64_t trips,\n"
          "                 void *workspace) {\n"
          "    void *const *from = in, *const *to = trips % 2 ? out : spare;\n"
          "    for (int64_t t = trips - 1; t >= 0; t--) {\n"
          "        lamina_back(",
          file);
    for (int i = 0; i < back->inputs; i++) {
        if (i < s->gradients) fprintf(file, "from[%d], ", i);
        else if (i < s->gradients + s->rows) write_row(file, "in", i, "t", back->types[i]);
        else fprintf(file, "in[%d], ", i);
    }
    for (int k = 0; k < s->gradients; k++) fprintf(file, "to[%d], ", k);
    fputs("workspace);\n        from = to;\n        to = to == out ? spare : out;\n    }\n}\n", file);
}

/* The functions of one trip and then the loops. What lam_emit_c does not write is not written at all. The shape that
 * lam__library_get asks for. */
static bool write(FILE *file, void *env) {
    static const char *const names[] = {"lamina_condition", "lamina_body", "lamina_back"};
    source *s = env;
    for (int f = 0; f < LAM__MACHINE_FUNCTIONS; f++) {
        int64_t bytes = 0;
        if (lam__emit_program(s->p[f], names[f], file, true, &bytes) != LAM_OK) return false;
        if (bytes > s->workspace_bytes) s->workspace_bytes = bytes;
    }
    write_there(file, s);
    write_back(file, s);
    return true;
}

/* ---- making ------------------------------------------------------------------------------------------------------ */

/* Whether the first `count` results of p are of the types of inputs. */
static bool gives_as_it_takes(const lam__program *p, int count) {
    bool same = count <= p->outputs && count <= p->inputs;
    for (int k = 0; k < count && same; k++) {
        const lam_value *type = lam__program_result_type(p, k);
        same = type && lam__value_same_type(type, p->types[k]);
    }
    return same;
}

/* Whether p takes at `at` what q takes, or gives: `count` types from `first` on. */
static bool takes(const lam__program *p, int at, const lam__program *q, bool results, int first, int count) {
    bool same = at + count <= p->inputs && first + count <= (results ? q->outputs : q->inputs);
    for (int k = 0; k < count && same; k++) {
        const lam_value *type = results ? lam__program_result_type(q, first + k) : q->types[first + k];
        same = type && lam__value_same_type(type, p->types[at + k]);
    }
    return same;
}

/* Whether types are those that the loops in C take for granted. */
static bool fit(const source *s) {
    const lam__program *condition = s->p[LAM__MACHINE_CONDITION], *body = s->p[LAM__MACHINE_BODY],
                       *back = s->p[LAM__MACHINE_BACK];
    const lam_value *truth = lam__program_result_type(condition, 0);
    const int others = body->inputs - s->carries, at = s->gradients + s->rows;
    return truth && truth->dtype == LAM_BOOL && truth->rank == 0 && condition->inputs == body->inputs &&
           takes(condition, 0, body, false, 0, body->inputs) && gives_as_it_takes(body, s->carries) &&
           gives_as_it_takes(back, s->gradients) && back->inputs == at + others &&
           takes(back, s->gradients, body, true, 0, s->rows) && takes(back, at, body, false, s->carries, others);
}

static bool build(lam__machine_trips *m, source *s) {
    m->library = lam__library_get(m->ctx, write, s);
    void *there = lam__library_find(m->library, "lamina_there"), *back = lam__library_find(m->library, "lamina_over");
    memcpy(&m->there, &there, sizeof there);
    memcpy(&m->back, &back, sizeof back);
    if (!there || !back) return false;
    m->workspace_bytes = s->workspace_bytes;
    m->workspace = lam__alloc_get(&m->ctx->pool, (size_t)m->workspace_bytes + 1);
    return m->workspace != NULL;
}

/* Nothing is a failure here, as in lam__machine_new: a loop that has no machine code is run without. */
lam__machine_trips *lam__machine_trips_new(lam_ctx *ctx, lam_fn *const fns[LAM__MACHINE_FUNCTIONS], int carries) {
    source s = {.carries = carries};
    if (!lam__machine_is_worth(fns, LAM__MACHINE_FUNCTIONS)) return NULL;
    for (int f = 0; f < LAM__MACHINE_FUNCTIONS; f++) s.p[f] = lam__program_of(fns[f]);
    s.rows = s.p[LAM__MACHINE_BODY]->outputs;
    s.gradients = s.p[LAM__MACHINE_BACK]->outputs;
    lam__machine_trips *m = fit(&s) ? lam__alloc_get(&ctx->pool, sizeof *m) : NULL;
    if (!m) return NULL;
    *m = (lam__machine_trips){.ctx = ctx};
    const lam__mark mark = lam__error_mark(ctx);
    const bool made = build(m, &s);
    lam__error_roll_back(ctx, mark);
    if (made) return m;
    lam__machine_trips_free(m);
    return NULL;
}

void lam__machine_trips_free(lam__machine_trips *m) {
    if (!m) return;
    lam_ctx *ctx = m->ctx;
    if (m->workspace) lam__alloc_put(&ctx->pool, m->workspace, (size_t)m->workspace_bytes + 1);
    lam__library_release(ctx, m->library);
    lam__alloc_put(&ctx->pool, m, sizeof *m);
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

/* One run at a time uses the workspace: code in C calls nothing of the user's that could come back. */
int64_t lam__machine_trips_there(const lam__machine_trips *m, void *const in[], void *const rows[], int64_t made,
                                 int64_t room) {
    return m->there(in, rows, made, room, m->workspace);
}

void lam__machine_trips_back(const lam__machine_trips *m, void *const in[], int64_t trips, void *const out[],
                             void *const spare[]) {
    m->back(in, out, spare, trips, m->workspace);
}
