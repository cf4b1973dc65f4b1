/* A primitive made for tests: the identity on f64, which counts how often its kernel and each of its rules run. It is
 * declared general rather than linear, so that it has rules to count. */
#ifndef LAM_TESTS_DISPATCH_PROBE_H
#define LAM_TESTS_DISPATCH_PROBE_H

#include <lamina/extend.h>

typedef struct probe_counts {
    int eval, jvp, vjp, batch;
} probe_counts;

extern probe_counts probed;

/* x, counted. */
lam_tensor *probe(lam_tensor *x);

#endif
