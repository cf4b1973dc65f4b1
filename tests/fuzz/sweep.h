/* A scenario again and again while memory is refused: its first, second, third, ... request, once and from then on, or
 * what passes a limit that grows. Whatever happens, the status is right, nothing leaks, and the context gives the
 * correct result afterwards. */
#ifndef LAM_TESTS_FUZZ_SWEEP_H
#define LAM_TESTS_FUZZ_SWEEP_H

#include "tests/support.h"

typedef struct scenario {
    const char *name;
    double (*run)(void); /* in the global ctx; finite and not 0 when nothing is refused */
} scenario;

/* Refuses every request in turn. */
void sweep_requests(const scenario *s);

/* Runs under every limit, until one is enough. */
void sweep_limits(const scenario *s);

#endif
