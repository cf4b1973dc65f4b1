/* A distribution and one of its functions, as a function of the argument and the parameters. */
#ifndef TESTS_PRIMITIVES_SUBJECT_H
#define TESTS_PRIMITIVES_SUBJECT_H

#include "tests/support.h"

typedef struct subject {
    lam_tensor *(*f)(lam_distribution, lam_tensor *, lam_list);
    lam_distribution which;
    int count;
} subject;

BODY(of_all) {
    const subject *s = env;
    out[0] = s->f(s->which, in[0], (lam_list){(size_t)s->count, in + 1});
}

#endif
