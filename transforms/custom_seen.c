/* What a function with rules gave when it ran last, which is what its rule has to give for the same inputs. Where a
 * derivative is wanted the rule runs instead of the function, so the two are compared across calls: a rule that gives
 * other types is refused as soon as the function has shown its own, be it in an ordinary call or while a program was
 * recorded. Nothing is run for the comparison's sake. */
#include "transforms/custom.h"

#include "lib/tensor/dtype.h"

#include <lamina/tensor.h>

#include <string.h>

enum { TYPE_TEXT = 256 };

/* Of the inputs, then of the outputs; each as a user sees it. */
struct lam__seen {
    bool known;
    int inputs, outputs;
    lam_type types[];
};

static size_t bytes_of(int inputs, int outputs) {
    return sizeof(lam__seen) + (size_t)(inputs + outputs) * sizeof(lam_type);
}

/* Nothing is known before the function has run, and no type is read until then. */
lam__seen *lam__seen_new(lam_ctx *ctx, int inputs, int outputs) {
    const size_t bytes = bytes_of(inputs, outputs);
    lam__seen *s = lam__alloc_get(&ctx->pool, bytes);
    if (!s) {
        lam__error_memory(ctx, bytes);
        return NULL;
    }
    s->known = false;
    s->inputs = inputs;
    s->outputs = outputs;
    return s;
}

void lam__seen_free(lam_ctx *ctx, lam__seen *s) {
    if (s) lam__alloc_put(&ctx->pool, s, bytes_of(s->inputs, s->outputs));
}

/* Dims are those that a user sees: of a box, without the axis that its level hides. */
static bool is_of(const lam_value *v, const lam_type *t) {
    return v->dtype == (int)t->dtype && v->rank == t->rank &&
           !memcmp(v->dims, t->dims, (size_t)v->rank * sizeof *v->dims);
}

/* Inputs that are left out, or have more axes than a type, make no comparison. */
static bool are_of(int n, lam_tensor *const handles[], const lam_type types[]) {
    for (int i = 0; i < n; i++) {
        const lam_value *v = lam__scope_peek(handles[i]);
        if (!v || v->rank > LAM_MAX_RANK || !is_of(v, &types[i])) return false;
    }
    return true;
}

/* False leaves nothing known: types of an earlier run may be half written over by then. */
static bool note_types(int n, lam_tensor *const handles[], lam_type types[]) {
    for (int i = 0; i < n; i++) {
        const lam_value *v = lam__scope_peek(handles[i]);
        if (!v || v->rank > LAM_MAX_RANK) return false;
        types[i].dtype = (lam_dtype)v->dtype;
        types[i].rank = v->rank;
        memcpy(types[i].dims, v->dims, (size_t)v->rank * sizeof *v->dims);
    }
    return true;
}

/* As a rule a function gives what it gave before, and then nothing is written. */
void lam__seen_note(lam__seen *s, lam_tensor *const in[], lam_tensor *const out[]) {
    lam_type *results = s->types + s->inputs;
    if (s->known && are_of(s->inputs, in, s->types) && are_of(s->outputs, out, results)) return;
    s->known = note_types(s->inputs, in, s->types) && note_types(s->outputs, out, results);
}

/* Gives the text, so that it can stand among the arguments of a message. */
static const char *text_of(lam_dtype dtype, int rank, const int64_t *dims, char text[TYPE_TEXT]) {
    lam__text t = {text, TYPE_TEXT, 0};
    lam__error_append_type(&t, dtype, rank, dims);
    return text;
}

/* Inputs of other types than those of the last run say nothing about the outputs, so they pass. An output that is not
 * there has failed, and its failure is on record. */
lam_status lam__seen_check(const lam_fctx *fc, const lam__seen *s, const lam_fn *rule, lam_tensor *const in[],
                           lam_tensor *const out[]) {
    char got[TYPE_TEXT], expected[TYPE_TEXT];
    if (!s->known || !are_of(s->inputs, in, s->types)) return LAM_OK;
    for (int o = 0; o < s->outputs; o++) {
        const lam_value *v = lam__scope_peek(out[o]);
        const lam_type *t = &s->types[s->inputs + o];
        if (!v || is_of(v, t)) continue;
        return lam__custom_fail(fc, v->dtype == (int)t->dtype ? LAM_ERR_SHAPE : LAM_ERR_DTYPE,
                                "what stands in for a function gives what the function gives, then its own",
                                "output %d of '%s': expected %s, which the function gave for such inputs, got %s", o,
                                rule->name, text_of(t->dtype, t->rank, t->dims, expected),
                                text_of((lam_dtype)v->dtype, v->rank, v->dims, got));
    }
    return LAM_OK;
}
