/* Printing of values, for lam_print and for what interpreters say of their boxes. Nothing is allocated. */
#ifndef LAM_TENSOR_PRINT_H
#define LAM_TENSOR_PRINT_H

#include "lib/tensor/value.h"

/* A value in a few words and without newline: dtype, dims, and the elements of what is small enough for a line. */
void lam__print_brief(FILE *file, const lam_value *v);

/* "f64[5, 3]". */
void lam__print_type(FILE *file, const lam_value *v);

#endif
