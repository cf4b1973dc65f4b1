/* Names in quotes: quotes, backslashes and bytes that are not printed are a backslash and two hex digits. */
#ifndef LAM_PROGRAM_QUOTED_H
#define LAM_PROGRAM_QUOTED_H

#include <stddef.h>
#include <stdio.h>

void lam__quoted_print(FILE *file, const char *text);

/* How many bytes are meant by these, which stand between quotes; to (may be NULL) gets them, and an end. */
size_t lam__quoted_copy(const char *quoted, size_t length, char *to);

#endif
