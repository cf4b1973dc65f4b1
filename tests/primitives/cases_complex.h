/* What the rows of complex numbers share: operands are arrays of reals whose last axis has two elements, the parts. */
#ifndef TESTS_PRIMITIVES_CASES_COMPLEX_H
#define TESTS_PRIMITIVES_CASES_COMPLEX_H

#include "tests/primitives/cases.h"

#include "lib/base/scope.h"

#include <complex.h>
#undef I

typedef long double _Complex number;

/* What a row of this family does: one of the operations, one of the references. */
typedef struct cases_complex {
    lam_tensor *(*unary)(lam_tensor *);
    lam_tensor *(*binary)(lam_tensor *, lam_tensor *);
    number (*of_one)(number);
    number (*of_two)(number, number);
    bool gives_real, composed; /* composed: of real and others, so that its row is one of real */
} cases_complex;

/* ---- between arrays, complex tensors and numbers ---------------------------------------------------------------- */

static inline bool usable(int n, lam_tensor *const in[]) {
    for (int i = 0; i < n; i++)
        if (!lam__scope_peek(in[i]) || lam_ctx_of(in[i]) != lam_ctx_of(in[0])) return false;
    return true;
}

static inline lam_tensor *joined(lam_tensor *x) {
    return lam_complex(lam_index(x, -1, 0), lam_index(x, -1, 1));
}

static inline lam_tensor *split(lam_tensor *z) {
    return lam_stack(LAM_LIST(lam_real(z), lam_imag(z)), -1);
}

static inline number number_at(const array *x, int64_t i) {
    number z;
    __real__ z = x->data[2 * i];
    __imag__ z = x->data[2 * i + 1];
    return z;
}

static inline void put(array *x, int64_t i, number z) {
    x->data[2 * i] = creall(z);
    x->data[2 * i + 1] = cimagl(z);
}

static inline void call_elementwise(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    const cases_complex *c = u->row->more;
    bool fine = usable(u->inputs, in);
    lam_tensor *x = fine ? joined(in[0]) : in[0], *y = fine && u->inputs == 2 ? joined(in[1]) : in[u->inputs - 1];
    lam_tensor *parts = !fine && c->composed ? c->unary ? lam_real(x) : lam_complex(x, y) : NULL;
    lam_tensor *z = parts ? parts : c->unary ? c->unary(x) : c->binary(x, y);
    out[0] = c->gives_real || !fine ? z : split(z);
}

static inline void reference_elementwise(const cases_use *u, const array in[], array out[]) {
    const cases_complex *c = u->row->more;
    array_shape(out, in[0].dtype, in[0].rank - c->gives_real, in[0].dims);
    for (int64_t i = 0; i < in[0].count / 2; i++) {
        number x = number_at(&in[0], i), z = c->of_one ? c->of_one(x) : c->of_two(x, number_at(&in[1], i));
        if (c->gives_real) out->data[i] = creall(z);
        else put(out, i, z);
    }
}

static const cases_form of_one[] = {{"[3,2]", {0}}, {"[2,2,2]", {0}}, {"[0,2]", {0}}, CASES_END};
static const cases_form of_two[] = {{"[3,2] [3,2]", {0}}, {"[0,2] [0,2]", {0}}, CASES_END};

/* Values are right in the norm of each number, so errors are measured against the largest. */
#define ROW(name_, forms_, operation, reference_, ...)                                                                 \
    {                                                                                                                  \
        .name = #name_, .forms = forms_, .call = call_elementwise, .reference = reference_elementwise,                 \
        .least_rank = 1, .normwise = true, .ulps = 8, .more = &(const cases_complex) {                                 \
            operation, reference_, __VA_ARGS__                                                                         \
        }                                                                                                              \
    }
#define ONE(name_, lam, c)      ROW(name_, of_one, .unary = lam, .of_one = c, 0)
#define ONE_REAL(name_, lam, c) ROW(name_, of_one, .unary = lam, .of_one = c, .gives_real = true)
#define TWO(name_, lam, c)      ROW(name_, of_two, .binary = lam, .of_two = c, 0)

#endif
