/* Numbers as text that is read back to the same bits, in as few digits as that takes, whatever the locale. */
#ifndef LAM_PROGRAM_NUMBER_H
#define LAM_PROGRAM_NUMBER_H

#include <lamina/base.h>

enum { LAM__NUMBER_TEXT = 96 }; /* bytes for one element */

/* One element in as few digits as give it again: 0.1, -inf, nan, true, 1+2i. What a NaN carries is lost. */
void lam__number_print(char text[LAM__NUMBER_TEXT], lam_dtype dtype, const void *at);

/* Reads one; behind it, or NULL where there is none of this dtype. */
const char *lam__number_read(const char *text, lam_dtype dtype, void *at);

#endif
