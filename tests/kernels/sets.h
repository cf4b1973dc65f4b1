/* What the tests of elementwise kernels share: the instruction sets this machine can run, the registry of loops as
 * data, and elements of any dtype drawn from everywhere (tests/kernels/oracle.h) and compared bit by bit. */
#ifndef TESTS_KERNELS_SETS_H
#define TESTS_KERNELS_SETS_H

#include "lib/kernels/reference/reference.h"
#include "lib/kernels/simd/simd.h"

#include "tests/kernels/real.h"
#include "tests/sanitized.h"

enum { SETS = 3, OPERANDS = 4 };

typedef enum loop_kind {
    KIND_REAL,
    KIND_FLOAT,
    KIND_ELEMENTARY,
    KIND_COMPARE,
    KIND_LOGIC,
    KIND_TEST,
    KIND_SELECT,
    KIND_FAMILY,
    KIND_SPECIAL,
    KIND_INTEGER,
    KIND_COMPLEX
} loop_kind;

typedef struct loop_row {
    const char *name;
    int inputs;
    loop_kind kind;
} loop_row;

extern const loop_row sets_rows[LAM__LOOP_COUNT];

/* The sets this machine runs, the baseline first; returns how many. */
int sets_of_machine(const lam__simd *sets[SETS]);

/* The loop as lam__kernels_loop would choose it if `set` were the machine's. */
lam__loop *sets_loop(const lam__simd *set, lam__loop_id id, lam_dtype dtype);

size_t sets_item(lam_dtype dtype);                                 /* bytes */
lam_dtype sets_input(lam__loop_id id, lam_dtype dtype, int input); /* dtype of input 0, 1, ... */
lam_dtype sets_output(lam__loop_id id, lam_dtype dtype);

/* n elements of every kind: special, ordinary, any bits. */
void sets_fill(lam_dtype dtype, void *x, int64_t n, uint64_t *state);

/* Same bits, or both NaN. */
bool sets_same(lam_dtype dtype, const void *x, const void *y);

/* For messages: element as a double. */
double sets_show(lam_dtype dtype, const void *x);

/* Check notes each assert that it passes, which is slow where there are millions of them: these leave no note. */
#define EXPECT_THAT(condition, ...)                                                                                    \
    do {                                                                                                               \
        if (!(condition)) ck_abort_msg(__VA_ARGS__);                                                                   \
    } while (0)

#endif
