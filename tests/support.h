/* What the suites of the machine and of the transforms share: a context for each test whose memory is counted, short
 * ways to make functions and tensors, and checks of values and of failures. The teardown of every test fails it when a
 * failure was recorded that the test did not look at, or when freeing the context leaves a single block behind. */
#ifndef LAM_TESTS_SUPPORT_H
#define LAM_TESTS_SUPPORT_H

#include <lamina/lamina.h>

#include <math.h>
#include <string.h>

#include "tests/sanitized.h"
#include "tests/unmarked.h"

/* How many times less is done with a sanitizer. */
#define LESS (SANITIZED ? 32 : 1)

/* ---- memory that is counted and can refuse ----------------------------------------------------------------------- */

typedef struct memory {
    size_t blocks, bytes; /* alive */
    size_t requests;      /* made so far */
    size_t refuse;        /* number of the request to refuse, counted from 1; 0: none */
    bool from_then_on;    /* refuse all after it as well */
    bool wrong_size;      /* a block came back with another size than it went out with */
} memory;

/* Options of a context that takes every block from `m`. */
lam_ctx_options memory_options(memory *m);

/* Refuses the first request of `work`, which runs in a context of its own, then the second alone, and so on to its end:
 * that is said each time, and nothing is lost. */
void memory_refused_in(void (*work)(const void *env), const void *env);

/* ---- the context of the test ------------------------------------------------------------------------------------- */

extern lam_ctx *ctx;

/* Makes and drops handles and scopes, so that a test which counts bytes does not meet those that wait for reuse. */
void warm_up(void);

/* Requests for memory that `ctx` has made: each value it makes is at least one. */
size_t requests_made(void);

/* A suite whose tests each run with a fresh `ctx`. */
Suite *suite_of(const char *name, const TTest *const tests[], size_t count);
#define SUITE_OF(name, ...)                                                                                            \
    suite_of(name, (const TTest *const[]){__VA_ARGS__}, sizeof((const TTest *const[]){__VA_ARGS__}) / sizeof(TTest *))

/* Adds a test that runs with _i from 0 to count - 1, each time with a fresh `ctx`. */
void suite_loop(Suite *suite, const TTest *test, int count);

/* The same with _i from `first` to last - 1 as a case of its own name, which CK_RUN_CASE can choose. */
void suite_loop_from(Suite *suite, const char *name, const TTest *test, int first, int last);

/* ---- functions and tensors --------------------------------------------------------------------------------------- */

#ifdef __GNUC__
#define UNUSED __attribute__((unused))
#else
#define UNUSED
#endif

/* The head of a body. Bodies of these tests use the global ctx. */
#define BODY(name)                                                                                                     \
    static void name(UNUSED lam_ctx *here, UNUSED lam_tensor *const in[], UNUSED lam_tensor *out[], UNUSED void *env)

/* A function named like its body. */
#define FN(body, inputs, outputs)          function_of(#body, body, inputs, outputs, NULL)
#define FN_ENV(body, inputs, outputs, env) function_of(#body, body, inputs, outputs, env)
lam_fn *function_of(const char *name, lam_body body, int inputs, int outputs, void *env);

/* An f64 vector of the arguments. */
#define VEC(...) vector_of((double[]){__VA_ARGS__}, sizeof((double[]){__VA_ARGS__}) / sizeof(double))
lam_tensor *vector_of(const double *x, size_t count);

/* An f64 matrix, row-major. */
#define MAT(rows, columns, ...) lam_array(ctx, LAM_F64, LAM_DIMS(rows, columns), (double[]){__VA_ARGS__})

lam_tensor *num(double x);
lam_tensor *apply1(lam_fn *f, lam_tensor *x);
lam_tensor *apply2(lam_fn *f, lam_tensor *x, lam_tensor *y);

/* ---- random numbers ---------------------------------------------------------------------------------------------- */

/* Steele, Lea and Flood's splitmix64: any seed gives a good sequence. And a number in [0, n). */
uint64_t random_bits(uint64_t *state);
int random_below(uint64_t *state, int n);

/* ---- checks ------------------------------------------------------------------------------------------------------ */

/* dims and elements of t, to a relative error of `tolerance` (absolute where the wanted element is 0). */
#define EXPECT_NEAR(t, tolerance, dims, ...)                                                                           \
    expect_values(__LINE__, t, tolerance, dims, (double[]){__VA_ARGS__},                                               \
                  sizeof((double[]){__VA_ARGS__}) / sizeof(double))
#define EXPECT(t, dims, ...)  EXPECT_NEAR(t, 0, dims, __VA_ARGS__)
#define EXPECT_NUM(t, x)      EXPECT_NEAR(t, 0, LAM_DIMS0, x)
#define EXPECT_EMPTY(t, dims) expect_values(__LINE__, t, 0, dims, NULL, 0)
void expect_values(int line, lam_tensor *t, double tolerance, lam_dims dims, const double *want, size_t count);

/* Same dtype, dims and elements, to the tolerance. */
#define EXPECT_SAME(a, b, tolerance) expect_same(__LINE__, a, b, tolerance)
void expect_same(int line, lam_tensor *a, lam_tensor *b, double tolerance);

/* The first failure has this status and a message that holds each of these texts and, unless it is one that a body
 * or rule has recorded itself, a remedy; it is then cleared. */
#define EXPECT_ERROR(status, ...) expect_error(__LINE__, status, "remedy: ", (const char *const[]){__VA_ARGS__, NULL})
#define EXPECT_OWN(status, ...)   expect_error(__LINE__, status, "", (const char *const[]){__VA_ARGS__, NULL})
#define EXPECT_STATUS(status)     EXPECT_ERROR(status, "")
void expect_error(int line, lam_status status, const char *remedy, const char *const texts[]);

#define EXPECT_OK() ck_assert_msg(lam_status_of(ctx) == LAM_OK, "line %d: %s", __LINE__, lam_error(ctx))

#endif
