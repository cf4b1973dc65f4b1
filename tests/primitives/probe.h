/* One use of a row of the case table, laid out for the properties: operands as arrays and tensors, the reference's
 * results, the call as a function, and the derivatives of the reference by differences. */
#ifndef LAM_TESTS_PROBE_H
#define LAM_TESTS_PROBE_H

#include "tests/primitives/cases.h"
#include "tests/support.h"

typedef struct probe {
    cases_use use;
    const char *operands; /* of the form */
    lam_dtype dtype;      /* of operands whose form names none */
    layout how;
    int inputs, outputs;
    array in[CASES_OPERANDS], out[CASES_OUTPUTS]; /* out: values of the reference */
    lam_tensor *x[CASES_OPERANDS];
    lam_fn *f; /* the call; outputs that are not floating are cast to f64, so that f has derivatives */
    bool floating[CASES_OPERANDS];
    int count;      /* of floating operands */
    double epsilon; /* of the coarsest floating dtype among operands and outputs */
} probe;

/* Fails the test with the row, form, dtype and layout in front. */
#define PROBE_CHECK(p, condition, ...)                                                                                 \
    do {                                                                                                               \
        if (!(condition)) probe_fail(p, __FILE__, __LINE__, __VA_ARGS__);                                              \
    } while (0)
void probe_fail(const probe *p, const char *file, int line, const char *format, ...) LAM_PRINTF(4, 5);

/* Calls visit for each dtype and form of the row, with operands in this layout; gives how often. Forms whose operands
 * have no such layout are passed over. What a visit makes is freed behind it; a failure it leaves fails the test. */
int probe_each(const cases_row *row, layout how, void (*visit)(probe *p));

/* The body of f; env is the probe. */
void probe_body(lam_ctx *here, lam_tensor *const in[], lam_tensor *out[], void *env);

/* A dry run: only dtypes and forms, no tensors. */
typedef struct probe_form {
    int inputs;
    array in[CASES_OPERANDS];
} probe_form;
bool probe_types(const char *operands, lam_dtype dtype, probe_form *form); /* true if an operand took the given dtype */

/* Another example of the operands: elements of their domains. */
void probe_fill(const probe *p, int i, int phase, array *x);

/* Elements for a tangent of operand i, or a cotangent, in [-1, 1]. */
void probe_direction(const array *like, int phase, array *v);

/* The type of output o as f gives it. */
void probe_output_type(const probe *p, int o, array *out);

/* Directional derivatives of the reference at in[]: dout[o] along dx[i], and second ones along dx and ex. NULL entries
 * are zero. */
void probe_difference(const probe *p, const array *const dx[], array dout[]);
void probe_difference2(const probe *p, const array *const dx[], const array *const ex[], array dout[]);

/* Error allowed to a first or second derivative, relative to its largest element. */
long double probe_tolerance(const probe *p, int order);

/* got is want, up to `tolerance` relative to the largest element of want or to `scale`. */
void probe_same(const probe *p, const char *what, int number, lam_tensor *got, const array *want, long double tolerance,
                long double scale);

/* Floating operands only, in order, from one entry per operand. */
size_t probe_pick(const probe *p, lam_tensor *const all[], lam_tensor *picked[]);

#endif
