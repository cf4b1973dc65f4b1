/* Programs as text, read: see text.h. One pass, without looking back: what a line reads has been bound by the lines
 * above it. */
#include "lib/program/layout.h"
#include "lib/program/number.h"
#include "lib/program/text.h"

#include <lamina/tensor.h>

#include "lib/primitives/rows.h"
#include "lib/tensor/dtype.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { PARAMS_BYTES = 8192, MOST_OPERANDS = 1 << 16 };

typedef struct binding {
    const char *name;
    size_t length;
    lam__atom atom;
} binding;

/* bound: a hash table of `room` entries, a power of 2, less than half full. list: operands of the equation that is
 * being read. */
typedef struct reader {
    lam_ctx *ctx;
    const char *start, *at;
    lam__program *p;
    binding *bound;
    int64_t count, room;
    lam__atom *list;
    int64_t listed, list_room;
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

static uint64_t hash(const char *name, size_t length) {
    uint64_t h = 1469598103934665603u;
    for (size_t i = 0; i < length; i++) h = (h ^ (uint8_t)name[i]) * 1099511628211u;
    return h;
}

/* Where a name is, or may be put. */
static binding *slot(const reader *r, const char *name, size_t length) {
    const uint64_t mask = (uint64_t)r->room - 1;
    uint64_t i = hash(name, length) & mask;
    while (r->bound[i].name && (r->bound[i].length != length || memcmp(r->bound[i].name, name, length) != 0))
        i = (i + 1) & mask;
    return &r->bound[i];
}

static bool widen(reader *r) {
    reader wider = *r;
    wider.room = r->room ? 2 * r->room : 64;
    const size_t bytes = (size_t)wider.room * sizeof *r->bound;
    wider.bound = lam__alloc_get(&r->ctx->pool, bytes);
    if (!wider.bound) return fail_memory(r, bytes);
    memset(wider.bound, 0, bytes);
    for (int64_t i = 0; i < r->room; i++)
        if (r->bound[i].name) *slot(&wider, r->bound[i].name, r->bound[i].length) = r->bound[i];
    if (r->bound) lam__alloc_put(&r->ctx->pool, r->bound, (size_t)r->room * sizeof *r->bound);
    r->bound = wider.bound;
    r->room = wider.room;
    return true;
}

/* A constant is held by the table. */
static bool bind(reader *r, const char *name, size_t length, lam__atom atom) {
    if (2 * r->count >= r->room && !widen(r)) return false;
    binding *b = slot(r, name, length);
    if (b->name) return fail(r, "'%.*s' is bound twice", (int)length, name);
    *b = (binding){name, length, atom};
    r->count++;
    return true;
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

static bool elements(reader *r, const lam_value *v) {
    const size_t bytes = lam__dtype_bytes(v->dtype);
    const bool all = !strncmp(r->at, "all ", 4);
    r->at += all ? 4 : 0;
    if (!all && !expect(r, '[')) return false;
    for (int64_t i = 0; i < v->count; i++) {
        char *to = (char *)v->data + i * (int64_t)bytes;
        if (all && i) {
            memcpy(to, v->data, bytes);
            continue;
        }
        if (i && !expect(r, ',')) return false;
        skip(r);
        const char *end = lam__number_read(r->at, (lam_dtype)v->dtype, to);
        if (!end) return fail(r, "no %s: '%.12s'", lam_dtype_name((lam_dtype)v->dtype), r->at);
        r->at = end;
    }
    return all || expect(r, ']');
}

/* Behind "c0:" */
static bool constant(reader *r, const char *name, size_t length) {
    lam_shape s;
    if (!type(r, &s) || !expect(r, '=')) return false;
    skip(r);
    if (!strncmp(r->at, "opaque", 6)) return fail(r, "'%.*s' is a value of a level that was open", (int)length, name);
    lam_value *v = lam__value_new(r->ctx, s.dtype, s.rank, s.dims);
    if (!v) {
        r->failed = true;
        return false;
    }
    if (elements(r, v) && bind(r, name, length, (lam__atom){-1, v})) return true;
    lam__value_release(v);
    return false;
}

/* ---- equations --------------------------------------------------------------------------------------------------- */

static bool append(reader *r, lam__atom atom) {
    if (r->listed == r->list_room) {
        const int64_t wider = r->list_room ? 2 * r->list_room : 16;
        const size_t bytes = (size_t)wider * sizeof *r->list;
        lam__atom *list = wider > MOST_OPERANDS ? NULL : lam__alloc_get(&r->ctx->pool, bytes);
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
    if (length && r->room) {
        const binding *b = slot(r, name, length);
        if (b->name && b->atom.variable < made) {
            r->at += length;
            return append(r, b->atom);
        }
        if (b->name) return fail(r, "'%.*s' is read before it is set", (int)length, name);
    }
    const char *colon = name + strcspn(name, ":,()\n");
    if (*colon != ':') return fail(r, "'%.*s' is not bound", (int)strcspn(name, ",) \n"), name);
    lam_dtype dtype;
    r->at = colon + 1;
    if (!dtype_of(r, &dtype)) return false;
    const size_t whole = (size_t)(r->at - name);
    if (r->room && slot(r, name, whole)->name) return append(r, slot(r, name, whole)->atom);
    lam_value *v = lam__value_new(r->ctx, dtype, 0, NULL);
    if (!v) return r->failed = true, false;
    if (lam__number_read(name, dtype, v->data) != colon) (void)fail(r, "no %s: '%.12s'", lam_dtype_name(dtype), name);
    if (!r->failed && bind(r, name, whole, (lam__atom){-1, v})) return append(r, (lam__atom){-1, v});
    lam__value_release(v);
    return false;
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

static bool read_text(reader *r, char *at, size_t room) {
    const size_t length = r->at[0] == '"' ? strcspn(r->at + 1, "\"\n") : room;
    if (length >= room || r->at[length + 1] != '"') return fail(r, "a text of less than %zu bytes expected", room);
    memcpy(at, r->at + 1, length);
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

/* The parameters of a row, if there are any; *bytes of them. */
static bool read_params(reader *r, const lam_primitive *row, char *params, size_t *bytes) {
    lam__layout l;
    lam__parameter q;
    *bytes = 0;
    skip(r);
    const size_t length = word_at(r->at), blank = strspn(r->at + length, " ");
    if (is_word(r->at, length, "opaque")) return fail(r, "'%s' is code, which a text does not have", row->name);
    if (!length || r->at[length + blank] != '=') return true;
    memset(params, 0, PARAMS_BYTES);
    if (!lam__layout_open(&l, row)) return fail(r, "'%s' has no parameters", row->name);
    for (bool first = true; lam__layout_next(&l, params, &q);) {
        const char *name;
        size_t given;
        if (q.count < 0 || q.count > PARAMS_BYTES || q.at + (size_t)q.count * q.step > PARAMS_BYTES)
            return fail(r, "'%s': too many of '%.*s'", row->name, q.length, q.name);
        if (q.hidden) {
            lam__layout_set_integer(&q, params, 0, ahead(r->at));
            continue;
        }
        if (!first && !expect(r, ',')) return false;
        first = false;
        if (!word(r, &name, &given)) return false;
        if (given != (size_t)q.length || memcmp(name, q.name, given) != 0)
            return fail(r, "'%s' takes '%.*s' here, not '%.*s'", row->name, q.length, q.name, (int)given, name);
        if (!expect(r, '=') || (q.list && !expect(r, '['))) return false;
        for (int64_t i = 0; i < q.count; i++)
            if ((i && !expect(r, ',')) || !read_element(r, &q, params, i)) return false;
        if (q.list && !expect(r, ']')) return false;
    }
    *bytes = lam__layout_bytes(&l);
    return *bytes <= PARAMS_BYTES || fail(r, "'%s': too many parameters", row->name);
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
    char params[PARAMS_BYTES];
    if (!expect(r, '=') || !word(r, &name, &length)) return false;
    const lam_primitive *row = row_of(name, length);
    if (!row) return fail(r, "there is no operation '%.*s'", (int)length, name);
    const int outputs = (int)(r->p->variables - first);
    lam_call_site call = {.ctx = r->ctx, .primitive = row, .params = params, .outputs = outputs};
    if (!expect(r, '(')) return false;
    r->listed = 0;
    while (!next_is(r, ')')) {
        if (r->listed && !expect(r, ',')) return false;
        skip(r);
        const bool none = *r->at == '-' && !isalnum((unsigned char)r->at[1]);
        r->at += none;
        if (!(none ? append(r, (lam__atom){-1, NULL}) : operand(r, first))) return false;
    }
    if (!read_params(r, row, params, &call.params_bytes)) return false;
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
    for (int64_t i = 0; i < r->room; i++)
        if (r->bound[i].name) lam__value_release(r->bound[i].atom.constant);
    if (r->bound) lam__alloc_put(&r->ctx->pool, r->bound, (size_t)r->room * sizeof *r->bound);
    if (r->list) lam__alloc_put(&r->ctx->pool, r->list, (size_t)r->list_room * sizeof *r->list);
}

lam__program *lam__program_read(lam_ctx *ctx, const char *text, const char **name, size_t *name_length) {
    reader r = {.ctx = ctx, .start = text, .at = text, .p = lam__program_new(ctx, 0, 0)};
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
