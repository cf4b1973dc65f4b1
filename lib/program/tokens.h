/* What a text of a program is made of: names, numbers, types, marks. The first thing that is wrong is recorded with its
 * line; then nothing more is. */
#ifndef LAM_PROGRAM_TOKENS_H
#define LAM_PROGRAM_TOKENS_H

#include "lib/tensor/value.h"

typedef struct lam__tokens {
    lam_ctx *ctx;
    const char *start, *at; /* the text, and what comes next in it */
    const char *counted;    /* lines up to here are counted; NULL: none is */
    int lines;
    bool failed; /* something was wrong: whoever reads on gives up too */
} lam__tokens;

/* The number of the line that comes next. */
int lam__tokens_line(lam__tokens *t);

/* Both record and give false. */
LAM_PRINTF(2, 3) bool lam__tokens_fail(lam__tokens *t, const char *format, ...);

/* The same for an operation of a name that no row has. Where the line has the word `opaque` behind it, the text is one
 * that cannot be read, and not one that is wrong. */
bool lam__tokens_no_operation(lam__tokens *t, const char *name, size_t length);
bool lam__tokens_memory(lam__tokens *t, size_t bytes);

void lam__tokens_skip(lam__tokens *t);

/* Whether this mark comes next, which is stepped over; lam__tokens_expect fails where it does not. */
bool lam__tokens_next(lam__tokens *t, char c);
bool lam__tokens_expect(lam__tokens *t, char c);

/* Bytes of the name that begins here; 0: none does. */
size_t lam__tokens_word_at(const char *at);
bool lam__tokens_is(const char *name, size_t length, const char *other);

bool lam__tokens_word(lam__tokens *t, const char **name, size_t *length);
bool lam__tokens_dtype(lam__tokens *t, lam_dtype *dtype);
bool lam__tokens_integer(lam__tokens *t, int64_t *value);

/* "f64[2, 3]" */
bool lam__tokens_type(lam__tokens *t, lam_shape *s);

/* How many the list has that is ahead in this line; 0: there is none. It is read later, with its own parameter. */
int64_t lam__tokens_listed(const lam__tokens *t);

#endif
