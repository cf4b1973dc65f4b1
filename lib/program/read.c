/* Programs as text, read: NOTE [text] in text.h is the language. One pass, without looking back: what a line reads has
 * been bound by the lines above it. */
#include "lib/program/function.h"
#include "lib/program/layout.h"
#include "lib/program/names.h"
#include "lib/program/nested.h"
#include "lib/program/number.h"
#include "lib/program/quoted.h"
#include "lib/program/text.h"
#include "lib/program/tokens.h"

#include <lamina/tensor.h>

#include "lib/parallel/parallel.h"
#include "lib/primitives/rows.h"
#include "lib/tensor/dtype.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* Limits that no program which was printed reaches; a text that would is refused before it takes memory or stack. */
enum { FEW_BYTES = 1024, MOST_OPERANDS = 1 << 24, DEEPEST = 32, MOST_FUNCTIONS = 256 };

/* list, params: operands and parameters of the equation that is being read; title: the program, for messages. */
typedef struct reader {
    lam__tokens t;
    char title[64];
    const lam_primitive *const *rows; /* beside those of lam_primitives */
    int depth;                        /* programs around this one */
    lam__program *p;
    lam__names bound;
    lam__atom *list;
    int64_t listed, list_room;
    char *params;
    size_t params_room;
} reader;

/* ---- names ------------------------------------------------------------------------------------------------------- */

/* A constant is taken over, also on failure. */
static bool bind(reader *r, const char *name, size_t length, lam__atom atom) {
    if (!lam__names_find(&r->bound, name, length))
        return lam__names_put(&r->bound, name, length, atom) || (r->t.failed = true, false);
    lam__value_release(atom.constant);
    return lam__tokens_fail(&r->t, "'%.*s' is bound twice", (int)length, name);
}

/* "v0: f64[3]" of a new variable. `_` is not bound. */
static bool declare(reader *r) {
    const char *name;
    size_t length;
    lam_shape s;
    if (!lam__tokens_word(&r->t, &name, &length) || !lam__tokens_expect(&r->t, ':') || !lam__tokens_type(&r->t, &s))
        return false;
    const int64_t v = lam__program_variable(r->p, s.dtype, s.rank, s.dims);
    if (v < 0) {
        r->t.failed = true;
        return false;
    }
    return lam__tokens_is(name, length, "_") || bind(r, name, length, (lam__atom){v, NULL});
}

/* ---- constants --------------------------------------------------------------------------------------------------- */

/* Element i, in the memory of v, which is new and has no gaps. */
static bool element(reader *r, const lam_value *v, int64_t i) {
    lam__tokens_skip(&r->t);
    char *to = (char *)v->data + i * (int64_t)lam__dtype_bytes(v->dtype);
    const char *end = lam__number_read(r->t.at, (lam_dtype)v->dtype, to);
    if (!end) return lam__tokens_fail(&r->t, "no %s: '%.12s'", lam_dtype_name((lam_dtype)v->dtype), r->t.at);
    r->t.at = end;
    return true;
}

/* As many as the dims say, in a row, whatever the rank. */
static bool elements(reader *r, const lam_value *v) {
    if (!lam__tokens_expect(&r->t, '[')) return false;
    for (int64_t i = 0; i < v->count; i++)
        if ((i && !lam__tokens_expect(&r->t, ',')) || !element(r, v, i)) return false;
    return lam__tokens_expect(&r->t, ']');
}

/* "all 0" and "spread 0": behind the word. Of the second there is one element, which is shown in all places; it lies in
 * a buffer, since a small view of what lies in a value would be a copy. NULL after recording what is wrong. */
static lam_value *alike(reader *r, const lam_shape *s, bool spread) {
    static const int64_t strides[LAM_INNER_RANK], beyond = LAM__INLINE_BYTES + 1;
    lam_value *one = lam__value_new(r->t.ctx, s->dtype, spread, &beyond), *v = NULL;
    if (one && element(r, one, 0))
        v = spread ? lam__value_view(one, s->rank, s->dims, strides, 0)
                   : lam__value_new(r->t.ctx, s->dtype, s->rank, s->dims);
    if (v && !spread) lam__parallel_fill(r->t.ctx->team, s->dtype, v->data, v->count, one->data);
    lam__value_release(one);
    return v;
}

/* Elements are counted in the text before there is memory for them: each takes two bytes of it at least. */
static lam_value *listed(reader *r, const lam_shape *s) {
    const int64_t count = lam__value_count(s->rank, s->dims, 1);
    if (memchr(r->t.at, '\0', (size_t)count)) {
        (void)lam__tokens_fail(&r->t, "there are not %lld elements", (long long)count);
        return NULL;
    }
    lam_value *v = lam__value_new(r->t.ctx, s->dtype, s->rank, s->dims);
    if (v && elements(r, v)) return v;
    lam__value_release(v);
    return NULL;
}

/* Behind "c0:". The value of a level had no elements to print, so it cannot come back. */
static bool constant(reader *r, const char *name, size_t length) {
    lam_shape s;
    if (!lam__tokens_type(&r->t, &s) || !lam__tokens_expect(&r->t, '=')) return false;
    lam__tokens_skip(&r->t);
    if (!strncmp(r->t.at, "opaque", 6))
        return lam__tokens_fail(&r->t, "'%.*s' is a value of a level that was open", (int)length, name);
    const size_t word = lam__tokens_word_at(r->t.at);
    const bool all = lam__tokens_is(r->t.at, word, "all"), spread = lam__tokens_is(r->t.at, word, "spread");
    r->t.at += all || spread ? word : 0;
    lam_value *v = all || spread ? alike(r, &s, spread) : listed(r, &s);
    if (!v) {
        r->t.failed = true;
        return false;
    }
    return bind(r, name, length, (lam__atom){-1, v});
}

/* ---- equations --------------------------------------------------------------------------------------------------- */

/* The list serves all equations: it only grows, and its atoms are borrowed from the names. */
static bool append(reader *r, lam__atom atom) {
    if (r->listed == r->list_room) {
        const int64_t wider = r->list_room ? 2 * r->list_room : 16;
        const size_t bytes = (size_t)wider * sizeof *r->list;
        if (wider > MOST_OPERANDS) return lam__tokens_fail(&r->t, "too many operands");
        lam__atom *list = lam__alloc_get(&r->t.ctx->pool, bytes);
        if (!list) return lam__tokens_memory(&r->t, bytes);
        if (r->listed) memcpy(list, r->list, (size_t)r->listed * sizeof *list);
        if (r->list) lam__alloc_put(&r->t.ctx->pool, r->list, (size_t)r->list_room * sizeof *list);
        r->list = list;
        r->list_room = wider;
    }
    r->list[r->listed++] = atom;
    return true;
}

/* A name, or "2:f64", whose value the table holds under the text itself. `made`: variables that are set before this
 * line, whose own results are bound already. */
static bool operand(reader *r, int64_t made) {
    lam__tokens_skip(&r->t);
    const char *name = r->t.at;
    const size_t length = lam__tokens_word_at(name);
    const lam__atom *known = lam__names_find(&r->bound, name, length);
    if (known && known->variable < made) {
        r->t.at += length;
        return append(r, *known);
    }
    if (known) return lam__tokens_fail(&r->t, "'%.*s' is read before it is set", (int)length, name);
    const char *colon = name + strcspn(name, ":,()\n");
    if (*colon != ':') return lam__tokens_fail(&r->t, "'%.*s' is not bound", (int)strcspn(name, ",) \n"), name);
    lam_dtype dtype;
    r->t.at = colon + 1;
    if (!lam__tokens_dtype(&r->t, &dtype)) return false;
    const size_t whole = (size_t)(r->t.at - name);
    if ((known = lam__names_find(&r->bound, name, whole))) return append(r, *known);
    lam_value *v = lam__value_new(r->t.ctx, dtype, 0, NULL);
    if (!v) return r->t.failed = true, false;
    if (lam__number_read(name, dtype, v->data) != colon) {
        lam__value_release(v);
        return lam__tokens_fail(&r->t, "no %s: '%.12s'", lam_dtype_name(dtype), name);
    }
    return bind(r, name, whole, (lam__atom){-1, v}) && append(r, (lam__atom){-1, v});
}

/* Printed in ascending order, taken in any: it is a set. */
static bool read_axes(reader *r, uint32_t *set) {
    *set = 0;
    if (!lam__tokens_expect(&r->t, '[')) return false;
    while (!lam__tokens_next(&r->t, ']')) {
        int64_t axis;
        if (*set && !lam__tokens_expect(&r->t, ',')) return false;
        if (!lam__tokens_integer(&r->t, &axis)) return false;
        if (axis < 0 || axis > 31) return lam__tokens_fail(&r->t, "there is no axis %lld", (long long)axis);
        *set |= 1u << axis;
    }
    return true;
}

/* A quote within is written as a backslash and two digits (quoted.h), so the next one ends the text. */
static bool read_text(reader *r, char *to, size_t room) {
    const size_t length = r->t.at[0] == '"' ? strcspn(r->t.at + 1, "\"\n") : 0;
    if (r->t.at[0] != '"' || r->t.at[length + 1] != '"' || lam__quoted_copy(r->t.at + 1, length, NULL) >= room)
        return lam__tokens_fail(&r->t, "a text of less than %zu bytes expected", room);
    (void)lam__quoted_copy(r->t.at + 1, length, to);
    r->t.at += length + 2;
    return true;
}

/* What print_element in print.c writes. A number that the member has no room for is refused, not cut. */
static bool read_element(reader *r, const lam__parameter *q, char *params, int64_t i) {
    char *at = params + q->at + (size_t)i * q->step;
    int64_t value = 0;
    lam__tokens_skip(&r->t);
    if (q->kind == 's') return read_text(r, at, q->step);
    if (q->kind == 'd') {
        const char *end = lam__number_read(r->t.at, LAM_F64, at);
        if (end) r->t.at = end;
        return end || lam__tokens_fail(&r->t, "a number expected, found '%.12s'", r->t.at);
    }
    if (q->kind == 'A') {
        uint32_t set;
        if (!read_axes(r, &set)) return false;
        value = (int64_t)set;
        lam__layout_set_integer(q, params, i, value);
        return true;
    }
    if (q->kind == 'T') {
        lam_dtype dtype;
        if (!lam__tokens_dtype(&r->t, &dtype)) return false;
        value = (int64_t)dtype;
    } else if (q->kind == 'b') {
        uint8_t truth;
        const char *end = lam__number_read(r->t.at, LAM_BOOL, &truth);
        if (!end) return lam__tokens_fail(&r->t, "true or false expected, found '%.12s'", r->t.at);
        r->t.at = end;
        value = truth;
    } else if (!lam__tokens_integer(&r->t, &value)) {
        return false;
    }
    lam__layout_set_integer(q, params, i, value);
    return lam__layout_integer(q, params, i) == value || lam__tokens_fail(&r->t, "%lld is too large", (long long)value);
}

/* Room for the parameters in the text ahead, all 0. A number of 8 bytes takes 2 bytes of text at least. */
static bool open_params(reader *r) {
    const size_t room = FEW_BYTES + 8 * strcspn(r->t.at, "(\n");
    if (room > r->params_room) {
        char *wider = lam__alloc_get(&r->t.ctx->pool, room);
        if (!wider) return lam__tokens_memory(&r->t, room);
        if (r->params) lam__alloc_put(&r->t.ctx->pool, r->params, r->params_room);
        r->params = wider;
        r->params_room = room;
    }
    memset(r->params, 0, room);
    return true;
}

/* "name=value" or "name=[value, ...]" of the parameter whose turn it is. */
static bool read_parameter(reader *r, const lam_primitive *row, const lam__parameter *q) {
    const char *name;
    size_t given;
    if (!lam__tokens_word(&r->t, &name, &given)) return false;
    if (given != (size_t)q->length || memcmp(name, q->name, given) != 0)
        return lam__tokens_fail(&r->t, "'%s' takes '%.*s' here, not '%.*s'", row->name, q->length, q->name, (int)given,
                                name);
    if (!lam__tokens_expect(&r->t, '=') || (q->list && !lam__tokens_expect(&r->t, '['))) return false;
    for (int64_t i = 0; i < q->count; i++)
        if ((i && !lam__tokens_expect(&r->t, ',')) || !read_element(r, q, r->params, i)) return false;
    return !q->list || lam__tokens_expect(&r->t, ']');
}

/* The parameters of a row, if there are any; *bytes of them. What is hidden is not in the text: how many a list has. */
static bool read_params(reader *r, const lam_primitive *row, size_t *bytes) {
    lam__layout l;
    lam__parameter q;
    *bytes = 0;
    lam__tokens_skip(&r->t);
    const size_t length = lam__tokens_word_at(r->t.at), blank = strspn(r->t.at + length, " ");
    if (lam__tokens_is(r->t.at, length, "opaque"))
        return lam__tokens_fail(&r->t, "'%s' is code, which a text does not have", row->name);
    if (!length || r->t.at[length + blank] != '=') return true;
    if (!open_params(r)) return false;
    if (!lam__layout_open(&l, row)) return lam__tokens_fail(&r->t, "'%s' has no parameters", row->name);
    for (bool first = true; lam__layout_next(&l, r->params, &q);) {
        if (q.count < 0 || (size_t)q.count > r->params_room || q.at + (size_t)q.count * q.step > r->params_room)
            return lam__tokens_fail(&r->t, "'%s': too many of '%.*s'", row->name, q.length, q.name);
        if (q.hidden) {
            lam__layout_set_integer(&q, r->params, 0, lam__tokens_listed(&r->t));
            continue;
        }
        if (!first && !lam__tokens_expect(&r->t, ',')) return false;
        first = false;
        if (!read_parameter(r, row, &q)) return false;
    }
    *bytes = lam__layout_bytes(&l);
    return *bytes <= r->params_room || lam__tokens_fail(&r->t, "'%s': too many parameters", row->name);
}

/* Names are few enough to be looked for one by one: a text is read once. */
static const lam_primitive *row_of(const reader *r, const char *name, size_t length) {
    const lam_primitive *const *lists[] = {lam_primitives(), r->rows};
    for (int i = 0; i < 2; i++)
        for (const lam_primitive *const *row = lists[i]; *row; row++)
            if (lam__tokens_is(name, length, (*row)->name)) return *row;
    return NULL;
}

/* ---- programs in equations --------------------------------------------------------------------------------------- */

static lam_fn *program_within(reader *outer);

/* The functions behind the parameters of a row that has some; the parameters are those that were read, with them. They
 * belong to the scope around the reading until the equation holds them. */
static bool read_nested(reader *r, lam_call_site *call) {
    lam_fn *fns[MOST_FUNCTIONS];
    lam__nested *what = NULL;
    int count = 0;
    if (r->depth == DEEPEST) return lam__tokens_fail(&r->t, "more than %d programs around one", DEEPEST);
    if (!lam__tokens_expect(&r->t, '{')) return false;
    while (!lam__tokens_next(&r->t, '}')) {
        if (count == MOST_FUNCTIONS)
            return lam__tokens_fail(&r->t, "more than %d programs in one operation", MOST_FUNCTIONS);
        fns[count] = program_within(r);
        if (fns[count++]->magic != LAM__FN) return r->t.failed = true, false;
    }
    what = lam__alloc_get(&r->t.ctx->pool, lam__nested_bytes(count));
    if (!what) return lam__tokens_memory(&r->t, lam__nested_bytes(count));
    memset(what, 0, lam__nested_bytes(count));
    if (call->params_bytes) memcpy(what, call->params, call->params_bytes);
    what->kept = false;
    what->count = count;
    if (count) memcpy(what->fns, fns, (size_t)count * sizeof *fns);
    call->params = what;
    call->params_bytes = lam__nested_bytes(count);
    return true;
}

/* Behind "=": the row, its operands and parameters. Results are the variables from `first` on. */
static bool application(reader *r, int64_t first) {
    const char *name;
    size_t length;
    if (!lam__tokens_expect(&r->t, '=') || !lam__tokens_word(&r->t, &name, &length)) return false;
    const lam_primitive *row = row_of(r, name, length);
    if (!row) return lam__tokens_no_operation(&r->t, name, length);
    const int outputs = (int)(r->p->variables - first);
    lam_call_site call = {.ctx = r->t.ctx, .primitive = row, .outputs = outputs};
    if (!lam__tokens_expect(&r->t, '(')) return false;
    r->listed = 0;
    while (!lam__tokens_next(&r->t, ')')) {
        if (r->listed && !lam__tokens_expect(&r->t, ',')) return false;
        lam__tokens_skip(&r->t);
        const bool none = *r->t.at == '-' && !isalnum((unsigned char)r->t.at[1]);
        r->t.at += none;
        if (!(none ? append(r, (lam__atom){-1, NULL}) : operand(r, first))) return false;
    }
    if (!read_params(r, row, &call.params_bytes)) return false;
    call.params = r->params;
    call.inputs = (int)r->listed;
    const bool nested = row->staged && row->staged->nested;
    if (nested && !read_nested(r, &call)) return false;
    r->t.failed = lam__program_record(r->p, &call, r->list, first) != LAM_OK;
    if (nested) lam__alloc_put(&r->t.ctx->pool, (void *)call.params, call.params_bytes);
    if (!r->t.failed) r->t.failed = lam__program_check_equation(r->p, r->title, r->p->equations - 1) != LAM_OK;
    return !r->t.failed;
}

/* A line of the body. *done: it was the last one. */
static bool statement(reader *r, bool *done) {
    lam__tokens_skip(&r->t);
    const char *name = r->t.at, *behind;
    const size_t length = lam__tokens_word_at(name);
    if ((*done = lam__tokens_is(name, length, "return"))) {
        r->t.at += length;
        return true;
    }
    behind = name + length + strspn(name + length, " ");
    if (*name == 'c' && *behind == ':') {
        r->t.at = behind + 1;
        return constant(r, name, length);
    }
    const int64_t first = r->p->variables;
    do {
        if (lam__tokens_next(&r->t, '-')) r->t.failed = lam__program_variable(r->p, LAM_F64, -1, NULL) < 0;
        else (void)declare(r);
    } while (!r->t.failed && lam__tokens_next(&r->t, ','));
    return !r->t.failed && application(r, first);
}

/* What shape rules and memory refuse is told as of a call from this line, with those around it where this program is
 * nested. */
static bool line(reader *r, bool *done) {
    lam_ctx *ctx = r->t.ctx;
    char part[24];
    lam__tokens_skip(&r->t);
    snprintf(part, sizeof part, "line %d", lam__tokens_line(&r->t));
    lam__frame frame = {.name = r->title,
                        .part = part,
                        .parent = ctx->frame,
                        .start = ctx->clock,
                        .level = ctx->current,
                        .levels = ctx->levels};
    ctx->frame = &frame;
    const bool read = statement(r, done);
    ctx->frame = frame.parent;
    return read;
}

/* Results are the last to be known, so the program has begun without any. */
static bool results(reader *r) {
    r->listed = 0;
    while (!lam__tokens_next(&r->t, '}')) {
        if (r->listed && !lam__tokens_expect(&r->t, ',')) return false;
        if (!operand(r, r->p->variables)) return false;
    }
    if (!lam__program_set_outputs(r->p, (int)r->listed)) return r->t.failed = true, false;
    for (int64_t o = 0; o < r->listed; o++) {
        r->p->results[o] = r->list[o];
        if (r->list[o].constant) lam__value_hold(r->list[o].constant);
    }
    return true;
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

/* `program name(v0: type, ...) {`; each input is the variable of its place. */
static bool head(reader *r, const char **name, size_t *length) {
    const char *keyword;
    size_t n;
    if (!lam__tokens_word(&r->t, &keyword, &n)) return false;
    if (!lam__tokens_is(keyword, n, "program"))
        return lam__tokens_fail(&r->t, "'program' expected, found '%.*s'", (int)n, keyword);
    lam__tokens_skip(&r->t);
    if (*r->t.at == '"') {
        *name = ++r->t.at;
        *length = strcspn(r->t.at, "\"\n");
        r->t.at += *length;
        if (!lam__tokens_expect(&r->t, '"')) return false;
    } else if (!lam__tokens_word(&r->t, name, length)) {
        return false;
    }
    if (!lam__tokens_expect(&r->t, '(')) return false;
    while (!lam__tokens_next(&r->t, ')')) {
        if (r->p->variables && !lam__tokens_expect(&r->t, ',')) return false;
        if (!declare(r)) return false;
    }
    r->p->inputs = (int)r->p->variables;
    return lam__tokens_expect(&r->t, '{');
}

/* What is left is the program alone; constants live on in its equations, which hold them. */
static void close(reader *r) {
    lam__names_close(&r->bound);
    if (r->list) lam__alloc_put(&r->t.ctx->pool, r->list, (size_t)r->list_room * sizeof *r->list);
    if (r->params) lam__alloc_put(&r->t.ctx->pool, r->params, r->params_room);
}

/* One program from "program" to "}", finished; one reference. Its equations were checked one by one. */
static lam__program *whole(reader *r, const char **name, size_t *name_length) {
    bool done = false, read = (r->p = lam__program_new(r->t.ctx, 0, 0)) && head(r, name, name_length);
    if (read) snprintf(r->title, sizeof r->title, "%.*s", (int)*name_length, *name);
    while (read && !done) read = line(r, &done);
    read = read && results(r);
    close(r);
    if (read && lam__program_finish(r->p) == LAM_OK) return r->p;
    lam__program_release(r->p);
    return NULL;
}

/* Its name may be quoted. */
static lam_fn *named(lam_ctx *ctx, lam__program *p, const char *name, size_t length) {
    lam__scratch_area area;
    char *title = lam__scratch_get(&area, ctx, length + 1);
    if (!title) {
        lam__program_release(p);
        return ctx->failed_fn;
    }
    (void)lam__quoted_copy(name, length, title);
    lam_fn *made = lam__program_fn(ctx, p, title);
    lam__scratch_put(&area);
    return made;
}

/* A reader of its own, since names of the outer program are not those of this one; only the place in the text is
 * shared. */
static lam_fn *program_within(reader *outer) {
    const char *name;
    size_t length;
    reader r = {.t = outer->t, .rows = outer->rows, .depth = outer->depth + 1, .bound = {.ctx = outer->t.ctx}};
    lam__program *p = whole(&r, &name, &length);
    outer->t.at = r.t.at;
    return p ? named(r.t.ctx, p, name, length) : r.t.ctx->failed_fn;
}

/* The functions of equations are the equations' own (params_hold), so the scope that they were made in may end. */
lam_fn *lam__program_read(lam_ctx *ctx, const char *text, const lam_primitive *const *rows) {
    const char *name;
    size_t length;
    reader r = {.t = {.ctx = ctx, .start = text, .at = text}, .rows = rows, .bound = {.ctx = ctx}};
    lam_scope scope;
    lam__scope_open(ctx, &scope); /* of the functions in it */
    lam__program *p = whole(&r, &name, &length);
    lam__tokens_skip(&r.t);
    if (p && *r.t.at) {
        (void)lam__tokens_fail(&r.t, "nothing expected behind the program, found '%.12s'", r.t.at);
        lam__program_release(p);
        p = NULL;
    }
    lam__scope_close(&scope);
    return p ? named(ctx, p, name, length) : ctx->failed_fn;
}
