/* Programs: the call, its batch and its gradient, and gradients of its batch, against the same functions as they are:
 * as jitted functions, fused wherever that can be done, and a second time, when nothing is recorded any more; and as
 * text, read back. */
#define _POSIX_C_SOURCE 200809L /* open_memstream */
#include "tests/primitives/probe.h"
#include "tests/primitives/properties.h"

#include <stdlib.h>
#include <string.h>

enum { EXAMPLES = 3 };

/* Sums that became steps are added in another order. */
static const double MOST_ULPS = 64;

typedef void comparison(const probe *p, const char *what, lam_fn *plain, lam_list in, size_t outputs);

static void compare_compiled(const probe *p, const char *what, lam_fn *plain, lam_list in, size_t outputs) {
    static array wanted;
    lam_tensor *want[2 * CASES_OPERANDS + CASES_OUTPUTS], *got[2 * CASES_OPERANDS + CASES_OUTPUTS];
    lam_fn *jitted = lam_jit(plain, &(lam_jit_options){.fusion = LAM_JIT_ALL});
    PROBE_CHECK(p, lam_call(plain, in, want, outputs) == LAM_OK, "%s fails as it is", what);
    for (int again = 0; again < 2; again++) {
        PROBE_CHECK(p, lam_call(jitted, in, got, outputs) == LAM_OK, "%s fails compiled", what);
        for (size_t o = 0; o < outputs; o++) {
            PROBE_CHECK(p, array_read(&wanted, want[o]), "%s: output %zu cannot be read", what, o);
            probe_same(p, what, (int)o, got[o], &wanted, MOST_ULPS * p->epsilon, 0);
        }
    }
    const lam_jit_report r = lam_jit_report_of(jitted);
    PROBE_CHECK(p, r.calls == 2 && r.recorded + r.direct > 0 && r.recorded < 2, "%s is recorded %lld times", what,
                (long long)r.recorded);
}

static char *text_of(const probe *p, const char *what, lam_program *program) {
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    PROBE_CHECK(p, file && lam_program_print(file, program) == LAM_OK, "%s cannot be printed", what);
    if (file) fclose(file);
    return text;
}

/* What was read has the text and the bits of what was printed. */
static void compare_text(const probe *p, const char *what, lam_fn *plain, lam_list in, size_t outputs) {
    static array wanted;
    lam_tensor *want[2 * CASES_OPERANDS + CASES_OUTPUTS], *got[2 * CASES_OPERANDS + CASES_OUTPUTS];
    lam_program *recorded = lam_trace(plain, in);
    PROBE_CHECK(p, lam_program_check(recorded) == LAM_OK, "%s is no right program", what);
    char *text = text_of(p, what, recorded);
    lam_program *read = lam_program_read(ctx, text);
    PROBE_CHECK(p, lam_call(recorded, in, want, outputs) == LAM_OK, "%s fails recorded", what);
    PROBE_CHECK(p, lam_call(read, in, got, outputs) == LAM_OK, "%s fails read back", what);
    for (size_t o = 0; o < outputs; o++) {
        PROBE_CHECK(p, array_read(&wanted, want[o]), "%s: output %zu cannot be read", what, o);
        probe_same(p, what, (int)o, got[o], &wanted, 0, 0);
    }
    char *again = text_of(p, what, read);
    PROBE_CHECK(p, text && again && !strcmp(text, again), "%s has another text when it is read back", what);
    free(text);
    free(again);
}

/* The operands of the form, and examples of them side by side. */
static lam_tensor *stacked(const probe *p, int i) {
    static array part[EXAMPLES], whole;
    const array *parts[EXAMPLES];
    for (int k = 0; k < EXAMPLES; k++) {
        array_like(&part[k], &p->in[i]);
        probe_fill(p, i, 16 * k, &part[k]);
        parts[k] = &part[k];
    }
    array_stack(&whole, EXAMPLES, parts, false);
    return array_tensor(ctx, &whole, PLAIN);
}

/* The sum of all real outputs, each element with a weight of its own. */
static void body_total(lam_ctx *here, lam_tensor *const in[], lam_tensor *out[], void *env) {
    const probe *p = env;
    lam_tensor *y[CASES_OUTPUTS];
    lam_call(p->f, (lam_list){(size_t)p->inputs, in}, y, (size_t)p->outputs);
    out[0] = lam_full(here, LAM_F64, LAM_DIMS0, 0);
    for (int o = 0; o < p->outputs; o++) {
        if (lam_failed(y[o])) continue;
        lam_tensor *flat = lam_reshape(lam_abs(y[o]), LAM_DIMS(-1));
        lam_tensor *weights = lam_linspace(here, LAM_F64, 0.5, 1.5, lam_dim(flat, 0));
        out[0] = lam_add(out[0], lam_sum(lam_mul(weights, lam_cast(flat, LAM_F64)), NULL));
    }
}

static void visit(probe *p, comparison *compare) {
    lam_tensor *batch[CASES_OPERANDS];
    int floating[CASES_OPERANDS], count = 0;
    compare(p, "the call", p->f, (lam_list){(size_t)p->inputs, p->x}, (size_t)p->outputs);
    for (int i = 0; i < p->inputs; i++) {
        batch[i] = stacked(p, i);
        if (p->floating[i]) floating[count++] = i;
    }
    if (p->inputs)
        compare(p, "its batch", lam_vmap(p->f, NULL), (lam_list){(size_t)p->inputs, batch}, (size_t)p->outputs);
    if (!count) return;
    lam_fn *total = lam_fn_new(ctx, &(lam_fn_options){"total", body_total, p->inputs, 1, .env = p});
    const lam_grad_options by = {.argnums = {(size_t)count, floating}};
    compare(p, "its gradient", lam_grad(total, &by), (lam_list){(size_t)p->inputs, p->x}, (size_t)count);
    compare(p, "gradients of its batch", lam_vmap(lam_grad(total, &by), NULL), (lam_list){(size_t)p->inputs, batch},
            (size_t)count);
}

static void visit_compiled(probe *p) {
    visit(p, compare_compiled);
}

static void visit_text(probe *p) {
    visit(p, compare_text);
}

int property_compiled(const cases_row *row) {
    return probe_each(row, PLAIN, visit_compiled);
}

int property_text(const cases_row *row) {
    return probe_each(row, PLAIN, visit_text);
}
