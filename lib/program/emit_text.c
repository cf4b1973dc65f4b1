/* Programs as C, the text: lines, numbers, templates, loops and elements. See emit_writer.h. Nothing here depends on
 * the locale: numbers are written digit by digit. */
#include "lib/program/emit_writer.h"

#include "lib/tensor/dtype.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- lines ------------------------------------------------------------------------------------------------------- */

/* Nothing is written on a dry walk. Failures of the file are not looked at here: stdio remembers them, and
 * lam__emit_program asks at the end. */
void lam__emit_put(lam__emit *e, const char *format, ...) {
    if (!e->file) return;
    va_list arguments;
    va_start(arguments, format);
    vfprintf(e->file, format, arguments);
    va_end(arguments);
}

void lam__emit_indent(lam__emit *e) {
    for (int i = 0; i < e->depth; i++) lam__emit_put(e, "    ");
}

/* What goes out is text that is finished; templates go through lam__emit_statement. */
void lam__emit_line(lam__emit *e, const char *format, ...) {
    if (!e->file) return;
    va_list arguments;
    lam__emit_indent(e);
    va_start(arguments, format);
    vfprintf(e->file, format, arguments);
    va_end(arguments);
    lam__emit_put(e, "\n");
}

/* ---- types and numbers ------------------------------------------------------------------------------------------- */

/* The C type, the suffix of helpers, that of libm's functions, and $U: unsigned of the same size, the type of a part of
 * complex numbers. f16 and bf16 have none. Functions on double have no suffix in libm, integers no functions. bool is a
 * byte of 0 or 1, as in memory. */
static const struct {
    const char *type, *suffix, *math, *bits;
} dtypes[LAM_DTYPE_COUNT] = {
    [LAM_F64] = {"double", "f64", "", "uint64_t"},
    [LAM_F32] = {"float", "f32", "f", "uint32_t"},
    [LAM_I64] = {"int64_t", "i64", "", "uint64_t"},
    [LAM_I32] = {"int32_t", "i32", "", "uint32_t"},
    [LAM_U8] = {"uint8_t", "u8", "", "uint8_t"},
    [LAM_BOOL] = {"uint8_t", "bool", "", "uint8_t"},
    [LAM_C128] = {"double _Complex", "c128", "", "double"},
    [LAM_C64] = {"float _Complex", "c64", "f", "float"},
};

const char *lam__emit_type(lam_dtype dtype) {
    return dtypes[dtype].type;
}

const char *lam__emit_suffix(lam_dtype dtype) {
    return dtypes[dtype].suffix;
}

/* Small sixteenths as people write them, exactly; others as their digits in hexadecimal and a power of 2. */
void lam__emit_real(lam_dtype dtype, double x, char text[LAM__EMIT_NUMBER]) {
    const char *suffix = dtypes[dtype].math;
    int exponent;
    if (isnan(x) || isinf(x)) {
        snprintf(text, LAM__EMIT_NUMBER, isnan(x) ? "NAN" : x > 0 ? "INFINITY" : "(-INFINITY)");
        return;
    }
    /* Brackets, since what stands in front may be a minus. */
    const char *open = signbit(x) ? "(-" : "", *close = signbit(x) ? ")" : "";
    const double size = fabs(x);
    /* A sixteenth has four places at most, which are cut back to those that say something. */
    if (size < 1e5 && size * 16 == floor(size * 16)) {
        const int whole = (int)size, rest = (int)((size - whole) * 1e4);
        const int places = rest % 10 ? 4 : rest % 100 ? 3 : rest % 1000 ? 2 : 1;
        const int shown = places == 4 ? rest : places == 3 ? rest / 10 : places == 2 ? rest / 100 : rest / 1000;
        snprintf(text, LAM__EMIT_NUMBER, "%s%d.%0*d%s%s", open, whole, places, shown, suffix, close);
        return;
    }
    /* 53 bits are all that a double has, so the digits are exact. */
    int64_t digits = (int64_t)ldexp(frexp(size, &exponent), 53);
    for (exponent -= 53; !(digits & 15); exponent += 4) digits >>= 4;
    snprintf(text, LAM__EMIT_NUMBER, "%s0x%llxp%d%s%s", open, (unsigned long long)digits, exponent, suffix, close);
}

/* The least integer has no constant in C. What 32 bits do not hold says its width. */
static void write_whole(int64_t x, char text[LAM__EMIT_NUMBER]) {
    if (x == INT64_MIN) snprintf(text, LAM__EMIT_NUMBER, "INT64_MIN");
    else if (x > INT32_MAX || x < -INT32_MAX) snprintf(text, LAM__EMIT_NUMBER, "INT64_C(%lld)", (long long)x);
    else snprintf(text, LAM__EMIT_NUMBER, x < 0 ? "(%lld)" : "%lld", (long long)x);
}

/* CMPLX and not a sum with I, which would make NaN of infinite parts. */
void lam__emit_element(lam_dtype dtype, const void *data, int64_t i, char text[2 * LAM__EMIT_NUMBER + 16]) {
    char im[LAM__EMIT_NUMBER];
    switch (dtype) {
    case LAM_F64: lam__emit_real(dtype, ((const double *)data)[i], text); break;
    case LAM_F32: lam__emit_real(dtype, (double)((const float *)data)[i], text); break;
    case LAM_I64: write_whole(((const int64_t *)data)[i], text); break;
    case LAM_I32: write_whole(((const int32_t *)data)[i], text); break;
    case LAM_C128:
    case LAM_C64: {
        const bool wide = dtype == LAM_C128;
        char re[LAM__EMIT_NUMBER];
        lam__emit_real(dtype, wide ? ((const double *)data)[2 * i] : (double)((const float *)data)[2 * i], re);
        lam__emit_real(dtype, wide ? ((const double *)data)[2 * i + 1] : (double)((const float *)data)[2 * i + 1], im);
        snprintf(text, 2 * LAM__EMIT_NUMBER + 16, "CMPLX%s(%s, %s)", wide ? "" : "F", re, im);
        break;
    }
    default: write_whole(((const uint8_t *)data)[i], text);
    }
}

/* ---- templates --------------------------------------------------------------------------------------------------- */

static const lam__emit_helper *const families[] = {lam__emit_scalars, lam__emit_orders,  lam__emit_factors,
                                                   lam__emit_randoms, lam__emit_fourier, lam__emit_spectra};

/* Names differ in all families: the first that fits is taken. The name has no end of its own: it stands within a
 * text. */
static const lam__emit_helper *find_helper(const char *name, size_t length) {
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        for (const lam__emit_helper *h = families[i]; h->name; h++)
            if (strlen(h->name) == length && strncmp(h->name, name, length) == 0) return h;
    return NULL;
}

/* A helper's name in the file has the suffix of a dtype behind it. For emit_names.c: a program must not be called what
 * a helper may be. */
bool lam__emit_is_helper(const char *name) {
    const char *suffix = strrchr(name, '_');
    bool known = false;
    for (int d = 0; suffix && d < LAM_DTYPE_COUNT; d++)
        known = known || (dtypes[d].suffix && strcmp(dtypes[d].suffix, suffix + 1) == 0);
    return known && find_helper(name, (size_t)(suffix - name));
}

/* Notes that a helper is used, behind those that it uses itself. All are known after the dry walk. Helpers are few, so
 * they are looked through. The text is expanded to nowhere, for what it names itself; a helper that calls itself names
 * itself without an @ (fft). */
static void use_helper(lam__emit *e, const lam__emit_helper *helper, lam_dtype dtype) {
    for (int64_t i = 0; i < e->use_count; i++)
        if (e->uses[i].helper == helper && e->uses[i].dtype == dtype) return;
    FILE *file = e->file;
    e->file = NULL;
    lam__emit_expand(e, helper->text, dtype, NULL);
    e->file = file;
    lam__emit_use *uses = lam__arena_grow(&e->arena, e->uses, e->use_count, &e->use_room, sizeof *uses);
    if (!uses) return; /* the arena knows */
    e->uses = uses;
    e->uses[e->use_count++] = (lam__emit_use){helper, dtype};
}

/* No suffix is the beginning of another. */
static lam_dtype dtype_named(const char *text) {
    for (int d = 0; d < LAM_DTYPE_COUNT; d++)
        if (dtypes[d].suffix && strncmp(text, dtypes[d].suffix, strlen(dtypes[d].suffix)) == 0) return (lam_dtype)d;
    return LAM_F64;
}

static size_t word_length(const char *text) {
    return strspn(text, "abcdefghijklmnopqrstuvwxyz_0123456789");
}

/* "name" or "f64:name", behind the @. What is hushed uses none. */
static const char *expand_helper(lam__emit *e, const char *text, lam_dtype dtype) {
    size_t length = word_length(text);
    if (text[length] == ':') {
        dtype = dtype_named(text);
        text += length + 1;
        length = word_length(text);
    }
    const lam__emit_helper *helper = find_helper(text, length);
    if (helper && !e->hushed) use_helper(e, helper, dtype);
    lam__emit_put(e, "%.*s_%s", (int)length, text, dtypes[dtype].suffix);
    return text + length;
}

/* What stands for $c. Whole numbers are never NaN. "0 && (" of what is an argument compiles for any type and is
 * false. */
static const char *word_of(char c, lam_dtype dtype, const char *const arguments[]) {
    switch (c) {
    case 'T': return dtypes[dtype].type;
    case 'S': return dtypes[dtype].suffix;
    case 'f': return dtypes[dtype].math;
    case 'U': return dtypes[dtype].bits;
    case 'N': return lam__dtype_is_float(dtype) ? "isnan" : "0 && ";
    default: return arguments[c - '0'];
    }
}

/* Written piece by piece, so a text may be as long as it likes. A $ or @ has always a word behind it. */
void lam__emit_expand(lam__emit *e, const char *text, lam_dtype dtype, const char *const arguments[]) {
    while (*text) {
        const size_t plain = strcspn(text, "$@");
        lam__emit_put(e, "%.*s", (int)plain, text);
        text += plain;
        if (*text == '@') {
            text = expand_helper(e, text + 1, dtype);
        } else if (*text == '$') {
            lam__emit_put(e, "%s", word_of(text[1], dtype, arguments));
            text += 2;
        }
    }
}

/* One line: a template of several is split by its writer, so that each is indented. */
void lam__emit_statement(lam__emit *e, const char *text, lam_dtype dtype, const char *const arguments[]) {
    lam__emit_indent(e);
    lam__emit_expand(e, text, dtype, arguments);
    lam__emit_put(e, "\n");
}

/* ---- loops and elements ------------------------------------------------------------------------------------------ */

/* Without names an index is called by its axis. */
static int name_of(const int names[], int axis) {
    return names ? names[axis] : axis;
}

/* An axis of one element has no loop, and no element names its index (lam__emit_at). */
int lam__emit_loops(lam__emit *e, int rank, const int64_t dims[], const int names[]) {
    int opened = 0;
    for (int axis = 0; axis < rank; axis++) {
        if (dims[axis] == 1) continue;
        const int name = name_of(names, axis);
        lam__emit_line(e, "for (int64_t i%d = 0; i%d < %lld; i%d++) {", name, name, (long long)dims[axis], name);
        e->depth++;
        opened++;
    }
    return opened;
}

void lam__emit_close(lam__emit *e, int count) {
    while (count--) {
        e->depth--;
        lam__emit_line(e, "}");
    }
}

/* An array of constants is in the file if an element of it is named. Bases are told apart by their first letter: w, in
 * and out, or c with a number. On the dry walk `block` is the number of a request, which does not matter since nothing
 * is written. */
void lam__emit_at(lam__emit *e, const lam__emit_place *x, const int names[], char text[LAM__EMIT_TEXT]) {
    const int64_t block = x->root >= 0 ? e->memory_at[x->root] : -1, offset = x->offset + (block > 0 ? block : 0);
    if (!e->hushed && x->constant >= 0) e->constants[x->constant].used = true;
    if (!e->hushed && x->base[0] == 'w') e->works = true;
    if (!e->hushed && x->base[0] == 'i') e->read[strtol(x->base + 2, NULL, 10)] = true;
    size_t at = (size_t)snprintf(text, LAM__EMIT_TEXT, "%s%s%s[", x->constant >= 0 ? e->name : "",
                                 x->constant >= 0 ? "__" : "", x->base);
    bool any = false;
    if (offset) {
        at += (size_t)snprintf(text + at, LAM__EMIT_TEXT - at, "%lld", (long long)offset);
        any = true;
    }
    for (int axis = 0; axis < x->rank; axis++) {
        const long long step = x->strides[axis];
        if (x->dims[axis] == 1 || step == 0) continue;
        at += (size_t)snprintf(text + at, LAM__EMIT_TEXT - at, "%s%si%d", any ? " " : "",
                               step < 0 ? (any ? "- " : "-")
                               : any    ? "+ "
                                        : "",
                               name_of(names, axis));
        if (step != 1 && step != -1)
            at += (size_t)snprintf(text + at, LAM__EMIT_TEXT - at, " * %lld", step < 0 ? -step : step);
        any = true;
    }
    snprintf(text + at, LAM__EMIT_TEXT - at, any ? "]" : "0]");
}

void lam__emit_address(lam__emit *e, const lam__emit_place *x, char text[LAM__EMIT_TEXT]) {
    char element[LAM__EMIT_TEXT];
    lam__emit_at(e, x, NULL, element);
    snprintf(text, LAM__EMIT_TEXT, "&%.*s", LAM__EMIT_TEXT - 2, element);
}

/* A constant that is one element everywhere is written as a number, which compilers fold, and is no array in the
 * file. */
void lam__emit_value(lam__emit *e, const lam__emit_place *x, const int names[], char text[LAM__EMIT_TEXT]) {
    if (x->constant >= 0 && e->constants[x->constant].count == 1)
        lam__emit_element(x->dtype, e->constants[x->constant].value->data, 0, text);
    else lam__emit_at(e, x, names, text);
}

/* Both are seen by the same indices, so either may have any strides. */
void lam__emit_copy(lam__emit *e, const lam__emit_place *x, const lam__emit_place *out) {
    char to[LAM__EMIT_TEXT], from[LAM__EMIT_TEXT];
    const int loops = lam__emit_loops(e, x->rank, x->dims, NULL);
    lam__emit_at(e, out, NULL, to);
    lam__emit_value(e, x, NULL, from);
    lam__emit_line(e, "%s = %s;", to, from);
    lam__emit_close(e, loops);
}
