/* Programs as text, read: see text.h. One pass, without looking back: what a line reads has been bound by the lines
 * above it. */
#include "lib/program/layout.h"
#include "lib/program/names.h"
#include "lib/program/number.h"
#include "lib/program/quoted.h"
#include "lib/program/text.h"

#include <lamina/tensor.h>

#include "lib/primitives/rows.h"
#include "lib/tensor/dtype.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { FEW_BYTES = 1024, MOST_OPERANDS = 1 << 24 };

/* list, params: operands and parameters of the equation that is being read. */
typedef struct reader {
    lam_ctx *ctx;
    const char *start, *at;
    lam__program *p;
    lam__names bound;
    lam__atom *list;
    int64_t listed, list_room;
    char *params;
    size_t params_room;
    bool failed;
} reader;

/* ---- tokens ------------------------------------------------------------------------------------------------------ */

static LAM_PRINTF(2, 3) bool fail(reader *r, const char *format, ...) {
    char message[160];
    int line = 1;
    va_list arguments;
    if (r->failed) return false;
    r->failed = true;
    for (const char *c = r->start; c < r->at; c++) line += *c == '\n';
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    for (char *c = message; *c; c++) *c = iscntrl((unsigned char)*c) ? ' ' : *c;
    lam__error_set(r->ctx, LAM_ERR_VALUE, "give the text that lam_program_print has written",
                   "program_read: line %d: %s", line, message);
    return false;
}

static bool fail_memory(reader *r, size_t bytes) {
    lam__error_memory(r->ctx, bytes);
    r->failed = true;
    return false;
}

static void skip(reader *r) {
    while (isspace((unsigned char)*r->at)) r->at++;
}

static bool next_is(reader *r, char c) {
    skip(r);
    if (*r->at != c) return false;
    r->at++;
    return true;
}

static bool expect(reader *r, char c) {
    return next_is(r, c) || fail(r, "'%c' expected, found '%.12s'", c, r->at);
}

static size_t word_at(const char *at) {
    size_t n = 0;
    if (isalpha((unsigned char)*at) || *at == '_')
        while (isalnum((unsigned char)at[n]) || at[n] == '_') n++;
    return n;
}

static bool word(reader *r, const char **name, size_t *length) {
    skip(r);
    *name = r->at;
    *length = word_at(r->at);
    r->at += *length;
    return *length > 0 || fail(r, "a name expected, found '%.12s'", r->at);
}

static bool is_word(const char *name, size_t length, const char *other) {
    return strlen(other) == length && !memcmp(name, other, length);
}

static bool dtype_of(reader *r, lam_dtype *dtype) {
    const char *name;
    size_t length;
    if (!word(r, &name, &length)) return false;
    for (int d = 0; d < LAM_DTYPE_COUNT; d++)
        if (is_word(name, length, lam_dtype_name((lam_dtype)d))) {
            *dtype = (lam_dtype)d;
            return true;
        }
    return fail(r, "'%.*s' is no dtype", (int)length, name);
}

static bool integer(reader *r, int64_t *value) {
    skip(r);
    const char *end = lam__number_read(r->at, LAM_I64, value);
    if (!end) return fail(r, "a whole number expected, found '%.12s'", r->at);
    r->at = end;
    return true;
}

/* "f64[2, 3]" */
static bool type(reader *r, lam_shape *s) {
    s->rank = 0;
    if (!dtype_of(r, &s->dtype) || !expect(r, '[')) return false;
    while (!next_is(r, ']')) {
        if (s->rank == LAM_INNER_RANK) return fail(r, "more than %d axes", LAM_INNER_RANK);
        if (s->rank && !expect(r, ',')) return false;
        if (!integer(r, &s->dims[s->rank])) return false;
        if (s->dims[s->rank++] < 0) return fail(r, "a size is negative");
    }
    return lam__value_count(s->rank, s->dims, lam__dtype_bytes(s->dtype)) >= 0 || fail(r, "the sizes overflow");
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

/* A constant is taken over, also on failure. */
static bool bind(reader *r, const char *name, size_t length, lam__atom atom) {
    if (!lam__names_find(&r->bound, name, length))
        return lam__names_put(&r->bound, name, length, atom) || (r->failed = true, false);
    lam__value_release(atom.constant);
    return fail(r, "'%.*s' is bound twice", (int)length, name);
}

/* "v0: f64[3]" of a new variable. `_` is not bound. */
static bool declare(reader *r) {
    const char *name;
    size_t length;
    lam_shape s;
    if (!word(r, &name, &length) || !expect(r, ':') || !type(r, &s)) return false;
    const int64_t v = lam__program_variable(r->p, s.dtype, s.rank, s.dims);
    if (v < 0) {
        r->failed = true;
        return false;
    }
    return is_word(name, length, "_") || bind(r, name, length, (lam__atom){v, NULL});
}

/* ---- constants --------------------------------------------------------------------------------------------------- */

static bool element(reader *r, const lam_value *v, int64_t i) {
    skip(r);
    char *to = (char *)v->data + i * (int64_t)lam__dtype_bytes(v->dtype);
    const char *end = lam__number_read(r->at, (lam_dtype)v->dtype, to);
    if (!end) return fail(r, "no %s: '%.12s'", lam_dtype_name((lam_dtype)v->dtype), r->at);
    r->at = end;
    return true;
}

static bool elements(reader *r, const lam_value *v) {
    if (!expect(r, '[')) return false;
    for (int64_t i = 0; i < v->count; i++)
        if ((i && !expect(r, ',')) || !element(r, v, i)) return false;
    return expect(r, ']');
}

/* "all 0": one element that is shown everywhere, so that memory is needed only for what stands in the text. NULL after
 * recording what is wrong. */
static lam_value *spread(reader *r, const lam_shape *s) {
    static const int64_t strides[LAM_INNER_RANK];
    lam_value *one = lam__value_new(r->ctx, s->dtype, 0, NULL);
    lam_value *v = one && element(r, one, 0) ? lam__value_view(one, s->rank, s->dims, strides, 0) : NULL;
    lam__value_release(one);
    return v;
}

/* Elements are counted in the text before there is memory for them: each takes two bytes of it at least. */
static lam_value *listed(reader *r, const lam_shape *s) {
    const int64_t count = lam__value_count(s->rank, s->dims, 1);
    if (memchr(r->at, '\0', (size_t)count)) {
        (void)fail(r, "there are not %lld elements", (long long)count);
        return NULL;
    }
    lam_value *v = lam__value_new(r->ctx, s->dtype, s->rank, s->dims);
    if (v && elements(r, v)) return v;
    lam__value_release(v);
    return NULL;
}

/* Behind "c0:" */
static bool constant(reader *r, const char *name, size_t length) {
    lam_shape s;
    if (!type(r, &s) || !expect(r, '=')) return false;
    skip(r);
    if (!strncmp(r->at, "opaque", 6)) return fail(r, "'%.*s' is a value of a level that was open", (int)length, name);
    const bool all = !strncmp(r->at, "all ", 4);
    r->at += all ? 4 : 0;
    lam_value *v = all ? spread(r, &s) : listed(r, &s);
    if (!v) {
        r->failed = true;
        return false;
    }
    return bind(r, name, length, (lam__atom){-1, v});
}

/* ---- equations --------------------------------------------------------------------------------------------------- */

static bool append(reader *r, lam__atom atom) {
    if (r->listed == r->list_room) {
        const int64_t wider = r->list_room ? 2 * r->list_room : 16;
        const size_t bytes = (size_t)wider * sizeof *r->list;
        if (wider > MOST_OPERANDS) return fail(r, "too many operands");
        lam__atom *list = lam__alloc_get(&r->ctx->pool, bytes);
        if (!list) return fail_memory(r, bytes);
        if (r->listed) memcpy(list, r->list, (size_t)r->listed * sizeof *list);
        if (r->list) lam__alloc_put(&r->ctx->pool, r->list, (size_t)r->list_room * sizeof *list);
        r->list = list;
        r->list_room = wider;
    }
    r->list[r->listed++] = atom;
    return true;
}

/* A name, or "2:f64", whose value the table holds under the text itself. */
static bool operand(reader *r, int64_t made) {
    skip(r);
    const char *name = r->at;
    const size_t length = word_at(name);
    const lam__atom *known = lam__names_find(&r->bound, name, length);
    if (known && known->variable < made) {
        r->at += length;
        return append(r, *known);
    }
    if (known) return fail(r, "'%.*s' is read before it is set", (int)length, name);
    const char *colon = name + strcspn(name, ":,()\n");
    if (*colon != ':') return fail(r, "'%.*s' is not bound", (int)strcspn(name, ",) \n"), name);
    lam_dtype dtype;
    r->at = colon + 1;
    if (!dtype_of(r, &dtype)) return false;
    const size_t whole = (size_t)(r->at - name);
    if ((known = lam__names_find(&r->bound, name, whole))) return append(r, *known);
    lam_value *v = lam__value_new(r->ctx, dtype, 0, NULL);
    if (!v) return r->failed = true, false;
    if (lam__number_read(name, dtype, v->data) != colon) {
        lam__value_release(v);
        return fail(r, "no %s: '%.12s'", lam_dtype_name(dtype), name);
    }
    return bind(r, name, whole, (lam__atom){-1, v}) && append(r, (lam__atom){-1, v});
}

/* A list in the text ahead: how many. */
static int64_t ahead(const char *at) {
    int64_t n = 0;
    at += strcspn(at, "[\n");
    if (*at != '[') return 0;
    at += 1 + strspn(at + 1, " ");
    for (; *at && *at != ']' && *at != '\n'; at++) n += n == 0 || *at == ',';
    return n;
}

static bool read_axes(reader *r, uint32_t *set) {
    *set = 0;
    if (!expect(r, '[')) return false;
    while (!next_is(r, ']')) {
        int64_t axis;
        if (*set && !expect(r, ',')) return false;
        if (!integer(r, &axis)) return false;
        if (axis < 0 || axis > 31) return fail(r, "there is no axis %lld", (long long)axis);
        *set |= 1u << axis;
    }
    return true;
}

static bool read_text(reader *r, char *to, size_t room) {
    const size_t length = r->at[0] == '"' ? strcspn(r->at + 1, "\"\n") : 0;
    if (r->at[0] != '"' || r->at[length + 1] != '"' || lam__quoted_copy(r->at + 1, length, NULL) >= room)
        return fail(r, "a text of less than %zu bytes expected", room);
    (void)lam__quoted_copy(r->at + 1, length, to);
    r->at += length + 2;
    return true;
}

static bool read_element(reader *r, const lam__parameter *q, char *params, int64_t i) {
    char *at = params + q->at + (size_t)i * q->step;
    int64_t value = 0;
    skip(r);
    if (q->kind == 's') return read_text(r, at, q->step);
    if (q->kind == 'd') {
        const char *end = lam__number_read(r->at, LAM_F64, at);
        if (end) r->at = end;
        return end || fail(r, "a number expected, found '%.12s'", r->at);
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
        if (!dtype_of(r, &dtype)) return false;
        value = (int64_t)dtype;
    } else if (q->kind == 'b') {
        uint8_t truth;
        const char *end = lam__number_read(r->at, LAM_BOOL, &truth);
        if (!end) return fail(r, "true or false expected, found '%.12s'", r->at);
        r->at = end;
        value = truth;
    } else if (!integer(r, &value)) {
        return false;
    }
    lam__layout_set_integer(q, params, i, value);
    return lam__layout_integer(q, params, i) == value || fail(r, "%lld is too large", (long long)value);
}

/* Room for the parameters in the text ahead, all 0. A number of 8 bytes takes 2 bytes of text at least. */
static bool open_params(reader *r) {
    const size_t room = FEW_BYTES + 8 * strcspn(r->at, "(\n");
    if (room > r->params_room) {
        char *wider = lam__alloc_get(&r->ctx->pool, room);
        if (!wider) return fail_memory(r, room);
        if (r->params) lam__alloc_put(&r->ctx->pool, r->params, r->params_room);
        r->params = wider;
        r->params_room = room;
    }
    memset(r->params, 0, room);
    return true;
}

/* The parameters of a row, if there are any; *bytes of them. */
static bool read_params(reader *r, const lam_primitive *row, size_t *bytes) {
    lam__layout l;
    lam__parameter q;
    *bytes = 0;
    skip(r);
    const size_t length = word_at(r->at), blank = strspn(r->at + length, " ");
    if (is_word(r->at, length, "opaque")) return fail(r, "'%s' is code, which a text does not have", row->name);
    if (!length || r->at[length + blank] != '=') return true;
    if (!open_params(r)) return false;
    if (!lam__layout_open(&l, row)) return fail(r, "'%s' has no parameters", row->name);
    for (bool first = true; lam__layout_next(&l, r->params, &q);) {
        const char *name;
        size_t given;
        if (q.count < 0 || (size_t)q.count > r->params_room || q.at + (size_t)q.count * q.step > r->params_room)
            return fail(r, "'%s': too many of '%.*s'", row->name, q.length, q.name);
        if (q.hidden) {
            lam__layout_set_integer(&q, r->params, 0, ahead(r->at));
            continue;
        }
        if (!first && !expect(r, ',')) return false;
        first = false;
        if (!word(r, &name, &given)) return false;
        if (given != (size_t)q.length || memcmp(name, q.name, given) != 0)
            return fail(r, "'%s' takes '%.*s' here, not '%.*s'", row->name, q.length, q.name, (int)given, name);
        if (!expect(r, '=') || (q.list && !expect(r, '['))) return false;
        for (int64_t i = 0; i < q.count; i++)
            if ((i && !expect(r, ',')) || !read_element(r, &q, r->params, i)) return false;
        if (q.list && !expect(r, ']')) return false;
    }
    *bytes = lam__layout_bytes(&l);
    return *bytes <= r->params_room || fail(r, "'%s': too many parameters", row->name);
}

static const lam_primitive *row_of(const char *name, size_t length) {
    for (const lam_primitive *const *row = lam_primitives(); *row; row++)
        if (is_word(name, length, (*row)->name)) return *row;
    return NULL;
}

/* Behind "=": the row, its operands and parameters. Results are the variables from `first` on. */
static bool application(reader *r, int64_t first) {
    const char *name;
    size_t length;
    if (!expect(r, '=') || !word(r, &name, &length)) return false;
    const lam_primitive *row = row_of(name, length);
    if (!row) return fail(r, "there is no operation '%.*s'", (int)length, name);
    const int outputs = (int)(r->p->variables - first);
    lam_call_site call = {.ctx = r->ctx, .primitive = row, .outputs = outputs};
    if (!expect(r, '(')) return false;
    r->listed = 0;
    while (!next_is(r, ')')) {
        if (r->listed && !expect(r, ',')) return false;
        skip(r);
        const bool none = *r->at == '-' && !isalnum((unsigned char)r->at[1]);
        r->at += none;
        if (!(none ? append(r, (lam__atom){-1, NULL}) : operand(r, first))) return false;
    }
    if (!read_params(r, row, &call.params_bytes)) return false;
    call.params = r->params;
    call.inputs = (int)r->listed;
    r->failed = lam__program_record(r->p, &call, r->list, first) != LAM_OK;
    return !r->failed;
}

/* A line of the body. *done: it was the last one. */
static bool statement(reader *r, bool *done) {
    skip(r);
    const char *name = r->at, *behind;
    const size_t length = word_at(name);
    if ((*done = is_word(name, length, "return"))) {
        r->at += length;
        return true;
    }
    behind = name + length + strspn(name + length, " ");
    if (*name == 'c' && *behind == ':') {
        r->at = behind + 1;
        return constant(r, name, length);
    }
    const int64_t first = r->p->variables;
    do {
        if (next_is(r, '-')) r->failed = lam__program_variable(r->p, LAM_F64, -1, NULL) < 0;
        else (void)declare(r);
    } while (!r->failed && next_is(r, ','));
    return !r->failed && application(r, first);
}

static bool results(reader *r) {
    r->listed = 0;
    while (!next_is(r, '}')) {
        if (r->listed && !expect(r, ',')) return false;
        if (!operand(r, r->p->variables)) return false;
    }
    skip(r);
    if (*r->at) return fail(r, "nothing expected behind the program, found '%.12s'", r->at);
    if (!lam__program_set_outputs(r->p, (int)r->listed)) return r->failed = true, false;
    for (int64_t o = 0; o < r->listed; o++) {
        r->p->results[o] = r->list[o];
        if (r->list[o].constant) lam__value_hold(r->list[o].constant);
    }
    return true;
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

static bool head(reader *r, const char **name, size_t *length) {
    const char *keyword;
    size_t n;
    if (!word(r, &keyword, &n)) return false;
    if (!is_word(keyword, n, "program")) return fail(r, "'program' expected, found '%.*s'", (int)n, keyword);
    skip(r);
    if (*r->at == '"') {
        *name = ++r->at;
        *length = strcspn(r->at, "\"\n");
        r->at += *length;
        if (!expect(r, '"')) return false;
    } else if (!word(r, name, length)) {
        return false;
    }
    if (!expect(r, '(')) return false;
    while (!next_is(r, ')')) {
        if (r->p->variables && !expect(r, ',')) return false;
        if (!declare(r)) return false;
    }
    r->p->inputs = (int)r->p->variables;
    return expect(r, '{');
}

static void close(reader *r) {
    lam__names_close(&r->bound);
    if (r->list) lam__alloc_put(&r->ctx->pool, r->list, (size_t)r->list_room * sizeof *r->list);
    if (r->params) lam__alloc_put(&r->ctx->pool, r->params, r->params_room);
}

lam__program *lam__program_read(lam_ctx *ctx, const char *text, const char **name, size_t *name_length) {
    reader r = {.ctx = ctx, .start = text, .at = text, .p = lam__program_new(ctx, 0, 0), .bound = {.ctx = ctx}};
    bool done = false, read = r.p && head(&r, name, name_length);
    while (read && !done) read = statement(&r, &done);
    read = read && results(&r);
    close(&r);
    char title[64] = "";
    if (read) snprintf(title, sizeof title, "%.*s", (int)*name_length, *name);
    if (read && lam__program_check(r.p, title) == LAM_OK && lam__program_finish(r.p) == LAM_OK) return r.p;
    lam__program_release(r.p);
    return NULL;
}
