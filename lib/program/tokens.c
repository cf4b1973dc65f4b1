/* Tokens: see tokens.h. There is no list of them: whoever reads asks for what it expects where the text is, and blanks
 * are skipped before each. Nothing is read beyond the end of the text, which ends with a 0. */
#include "lib/program/tokens.h"

#include "lib/program/number.h"

#include <lamina/tensor.h>

#include "lib/tensor/dtype.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Reading goes forward, so each byte is looked at once however often somebody asks. */
int lam__tokens_line(lam__tokens *t) {
    if (!t->counted) {
        t->counted = t->start;
        t->lines = 1;
    }
    for (; t->counted < t->at; t->counted++) t->lines += *t->counted == '\n';
    return t->lines;
}

/* Only the first failure counts: all others come of it. What the message shows of the text may be anything, so control
 * characters are blanks in it. */
static bool fail(lam__tokens *t, const char *remedy, const char *format, va_list arguments) {
    char message[160];
    if (t->failed) return false;
    t->failed = true;
    vsnprintf(message, sizeof message, format, arguments);
    for (char *c = message; *c; c++) *c = iscntrl((unsigned char)*c) ? ' ' : *c;
    lam__error_set(t->ctx, LAM_ERR_VALUE, remedy, "program_read: line %d: %s", lam__tokens_line(t), message);
    return false;
}

/* The remedy of nearly all faults: what is printed is right. */
bool lam__tokens_fail(lam__tokens *t, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fail(t, "give the text that lam_program_print has written", format, arguments);
    va_end(arguments);
    return false;
}

/* The text is as it was written, so another text would not help: there is none of such a program. */
LAM_PRINTF(2, 3) static bool fail_opaque(lam__tokens *t, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fail(t, "record the function again, by lam_trace", format, arguments);
    va_end(arguments);
    return false;
}

/* The word is looked for as print_params in print.c puts it, behind a blank, anywhere in what is left of the line. */
bool lam__tokens_no_operation(lam__tokens *t, const char *name, size_t length) {
    static const char word[] = " opaque";
    const size_t line = strcspn(t->at, "\n");
    for (size_t i = 0; i + sizeof word - 1 <= line; i++)
        if (!memcmp(t->at + i, word, sizeof word - 1))
            return fail_opaque(t,
                               "'%.*s' is opaque: code in C, as the way back through lam_while is, which no text has",
                               (int)length, name);
    return lam__tokens_fail(t, "there is no operation '%.*s'", (int)length, name);
}

/* Like a fault of the text to whoever reads on, but with a status of its own. */
bool lam__tokens_memory(lam__tokens *t, size_t bytes) {
    lam__error_memory(t->ctx, bytes);
    t->failed = true;
    return false;
}

/* New lines are blanks too; only parameters have to stand in one line (open_params in read.c, and
 * lam__tokens_listed). */
void lam__tokens_skip(lam__tokens *t) {
    while (isspace((unsigned char)*t->at)) t->at++;
}

/* Records nothing, since what comes next may be this mark or another. */
bool lam__tokens_next(lam__tokens *t, char c) {
    lam__tokens_skip(t);
    if (*t->at != c) return false;
    t->at++;
    return true;
}

/* Of what stands there instead a dozen bytes are shown: a text may be one long line. */
bool lam__tokens_expect(lam__tokens *t, char c) {
    return lam__tokens_next(t, c) || lam__tokens_fail(t, "'%c' expected, found '%.12s'", c, t->at);
}

/* 0 where none begins: a word begins with no digit, so that numbers are not words. */
size_t lam__tokens_word_at(const char *at) {
    size_t n = 0;
    if (isalpha((unsigned char)*at) || *at == '_')
        while (isalnum((unsigned char)at[n]) || at[n] == '_') n++;
    return n;
}

/* The name is not copied and has no end: it lies in the text, for as long as that is there. */
bool lam__tokens_word(lam__tokens *t, const char **name, size_t *length) {
    lam__tokens_skip(t);
    *name = t->at;
    *length = lam__tokens_word_at(t->at);
    t->at += *length;
    return *length > 0 || lam__tokens_fail(t, "a name expected, found '%.12s'", t->at);
}

/* Words are parts of the text and have no end of their own. */
bool lam__tokens_is(const char *name, size_t length, const char *other) {
    return strlen(other) == length && !memcmp(name, other, length);
}

/* By the names that lam_dtype_name gives, so a new dtype is read without a change here. */
bool lam__tokens_dtype(lam__tokens *t, lam_dtype *dtype) {
    const char *name;
    size_t length;
    if (!lam__tokens_word(t, &name, &length)) return false;
    for (int d = 0; d < LAM_DTYPE_COUNT; d++)
        if (lam__tokens_is(name, length, lam_dtype_name((lam_dtype)d))) {
            *dtype = (lam_dtype)d;
            return true;
        }
    return lam__tokens_fail(t, "'%.*s' is not a dtype", (int)length, name);
}

/* One that 64 bits do not hold is none. */
bool lam__tokens_integer(lam__tokens *t, int64_t *value) {
    lam__tokens_skip(t);
    const char *end = lam__number_read(t->at, LAM_I64, value);
    if (!end) return lam__tokens_fail(t, "a whole number expected, found '%.12s'", t->at);
    t->at = end;
    return true;
}

/* "f64[2, 3]" Sizes are checked against overflow here, so that counts of elements and bytes of whatever is declared are
 * numbers. Axes may be as many as values inside can have, since a program that was recorded below a batch has its axis
 * too. */
bool lam__tokens_type(lam__tokens *t, lam_shape *s) {
    s->rank = 0;
    if (!lam__tokens_dtype(t, &s->dtype) || !lam__tokens_expect(t, '[')) return false;
    while (!lam__tokens_next(t, ']')) {
        if (s->rank == LAM_INNER_RANK) return lam__tokens_fail(t, "more than %d axes", LAM_INNER_RANK);
        if (s->rank && !lam__tokens_expect(t, ',')) return false;
        if (!lam__tokens_integer(t, &s->dims[s->rank])) return false;
        if (s->dims[s->rank++] < 0) return lam__tokens_fail(t, "a size is negative");
    }
    return lam__value_count(s->rank, s->dims, lam__dtype_bytes(s->dtype)) >= 0 ||
           lam__tokens_fail(t, "the sizes overflow");
}

/* Commas are counted, and whatever stands before the first one. Whether these are elements is seen when they are read,
 * each against its own parameter. */
int64_t lam__tokens_listed(const lam__tokens *t) {
    int64_t n = 0;
    const char *at = t->at + strcspn(t->at, "[\n");
    if (*at != '[') return 0;
    at += 1 + strspn(at + 1, " ");
    for (; *at && *at != ']' && *at != '\n'; at++) n += n == 0 || *at == ',';
    return n;
}
