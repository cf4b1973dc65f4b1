/* Programs as functions: see function.h. A program is run by dispatch, equation for equation, so that levels see it as
 * they see any other function. */
#include "lib/program/function.h"

#include "lib/primitives/apply.h"
#include "lib/program/prune.h"
#include "lib/program/text.h"

#include <lamina/program.h>

#include <string.h>

/* Types are part of a program: its parameters were chosen for them. Nothing is cast or broadcast; the message says both
 * types. */
static lam_status check_input(const lam__program *p, const char *name, int i, const lam_value *v) {
    if (lam__value_same_type(v, p->types[i])) return LAM_OK;
    char message[256];
    lam__text text = {message, sizeof message, 0};
    lam__error_append_type(&text, (lam_dtype)v->dtype, v->rank, v->dims);
    lam__error_append(&text, ", not ");
    lam__error_append_type(&text, (lam_dtype)p->types[i]->dtype, p->types[i]->rank, p->types[i]->dims);
    return lam__error_set(p->ctx, v->dtype == p->types[i]->dtype ? LAM_ERR_SHAPE : LAM_ERR_DTYPE,
                          "record it again for these types", "program '%s': input %d is %s", name, i, message);
}

/* Outputs are handed on only after all of the program has run: after a failure there are none, and out[] stays as it
 * was, which the call reports. Values are borrowed from the handles in in[]. The name is that of the running frame,
 * since a program has none of its own. */
static void body_program(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    const lam__program *p = env;
    const char *name = ctx->frame ? ctx->frame->name : "";
    lam__scratch_area area;
    const size_t n = (size_t)(p->inputs + p->outputs);
    lam_tensor *failed;
    lam_value **v = lam__scratch_get(&area, ctx, (n + 1) * sizeof *v);
    if (!v) return;
    lam_status status = LAM_OK;
    if (p->inputs && !lam__scope_operands(name, (size_t)p->inputs, in, v, &failed)) status = LAM_ERR_VALUE;
    for (int i = 0; i < p->inputs && status == LAM_OK; i++) status = check_input(p, name, i, v[i]);
    lam_value **results = v + p->inputs;
    if (status == LAM_OK) status = lam__program_run(p, v, results);
    for (int o = 0; o < p->outputs && status == LAM_OK; o++) out[o] = lam__scope_handle(ctx, results[o]);
    lam__scratch_put(&area);
}

static void program_free(void *env) {
    lam__program_release(env);
}

/* The function takes the program over, also where it cannot be made: env_free is called then. The number of references
 * of p stays: the function has the caller's. */
lam_fn *lam__program_fn(lam_ctx *ctx, lam__program *p, const char *name) {
    return lam_fn_new(ctx, &(lam_fn_options){.name = name,
                                             .body = body_program,
                                             .inputs = p->inputs,
                                             .outputs = p->outputs,
                                             .env = p,
                                             .env_free = program_free});
}

/* By the body, since names are the user's and any function may have an env. */
lam__program *lam__program_of(const lam_fn *f) {
    return f->body == body_program ? f->env : NULL;
}

/* lam__fn_check has recorded what is wrong with a function that is NULL, freed or failed, so one record is made in any
 * case. */
lam__program *lam__program_given(const char *what, lam_fn *f) {
    lam_ctx *ctx = lam__fn_check(what, f);
    lam__program *p = ctx ? lam__program_of(f) : NULL;
    if (ctx && !p)
        lam__error_set(ctx, LAM_ERR_VALUE, "give what lam_trace or lam_program_read returned",
                       "%s: '%s' is not a program", what, f->name);
    return p;
}

/* ---- public ------------------------------------------------------------------------------------------------------ */

/* Where there is no program, what is on record says why; a NULL has no context to record in. */
static lam_status status_of(const lam_program *program) {
    const lam_ctx *ctx = program ? program->ctx : &lam__context_failed;
    return ctx->error.status != LAM_OK ? ctx->error.status : LAM_ERR_NULL;
}

/* Writing is checked once, behind it all: stdio remembers a failure. What only rules read is not in the text.
 * lam__program_plain takes a reference over, which is why one is made for it. Only what fails after the mark is
 * reported, however the context was before. */
lam_status lam_program_print(FILE *file, lam_program *program) {
    lam__program *p = lam__program_given("program_print", program);
    if (!p) return status_of(program);
    lam_ctx *ctx = p->ctx;
    if (!file) return lam__error_set(ctx, LAM_ERR_NULL, NULL, "program_print of '%s': no file", program->name);
    const lam__mark mark = lam__error_mark(ctx);
    p->refs++;
    p = lam__program_plain(p);
    if (p) lam__program_print(file, p, program->name);
    lam__program_release(p);
    const lam_status status = lam__error_since(ctx, mark);
    /* What is still in the buffer may find no room either. */
    if (status == LAM_OK && (fflush(file) != 0 || ferror(file)))
        return lam__error_set(ctx, LAM_ERR_VALUE, "see that there is room for it",
                              "program_print of '%s': the file cannot be written", program->name);
    return status;
}

lam_status lam_program_check(lam_program *program) {
    const lam__program *p = lam__program_given("program_check", program);
    return p ? lam__program_check(p, program->name) : status_of(program);
}
