/* What the public headers say of an operation: its parameters and the failures that its docstring names. Tests derive
 * from that which wrong arguments an operation can be given, so that none has to be listed by hand. */
#ifndef LAM_TESTS_DOCUMENTED_H
#define LAM_TESTS_DOCUMENTED_H

#include <lamina/lamina.h>

#include <stdbool.h>

#define DOCUMENTED_BIT(status) (1ull << (status))

/* The failures of lam_<operation>, a bit for each status; where its docstring says "as lam_other does", those too. */
unsigned long long documented_failures(const char *operation);

/* Whether the text occurs among the parameters of lam_<operation>, those where results go left out. */
bool documented_takes(const char *operation, const char *text);

#endif
