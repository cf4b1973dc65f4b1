/* What the suites share: see support.h. Blocks of the counted memory carry their size in front, so that a release with
 * another size than the request is seen. What is fresh and what is given up holds rubbish, so that a read before the
 * first write or after the last is seen as well. */
#include "tests/support.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* What stands in front of a block. */
typedef struct head {
    size_t bytes;
    void *start; /* what the C library gave */
} head;

lam_ctx *ctx;
static memory of_test;

/* ---- memory ------------------------------------------------------------------------------------------------------ */

/* Bytes of a block that become rubbish: all but of large ones, whose pages should not be touched for it. A sanitizer
 * fills what is fresh itself (the first 4096 bytes), and sees who looks at what was given up. */
static size_t spoilt(size_t bytes) {
    return bytes < 65536 ? bytes : 65536;
}

/* Aligned here: the C library's own aligned blocks take several times as long. */
static void *memory_get(void *env, size_t bytes, size_t alignment) {
    memory *m = env;
    m->requests++;
    if (m->refuse && (m->requests == m->refuse || (m->from_then_on && m->requests > m->refuse))) return NULL;
    char *start = bytes < SIZE_MAX / 2 ? malloc(sizeof(head) + alignment + bytes) : NULL;
    if (!start) return NULL;
    char *block = start + sizeof(head) + alignment - ((uintptr_t)start + sizeof(head)) % alignment;
    ((head *)(void *)block)[-1] = (head){bytes, start};
    m->blocks++;
    m->bytes += bytes;
    return SANITIZED ? block : memset(block, 0xA5, spoilt(bytes));
}

static void memory_put(void *env, void *block, size_t bytes, size_t alignment) {
    memory *m = env;
    const head h = ((head *)block)[-1];
    if (h.bytes != bytes || (uintptr_t)block % alignment) m->wrong_size = true;
    m->blocks--;
    m->bytes -= bytes;
    if (!SANITIZED) memset(block, 0x5A, spoilt(bytes));
    free(h.start);
}

lam_ctx_options memory_options(memory *m) {
    return (lam_ctx_options){.allocator = {memory_get, memory_put, m}, .plain_memory = true};
}

void memory_refused_in(void (*work)(const void *env), const void *env) {
    lam_ctx *saved = ctx;
    bool reached = true;
    int failed = 0;
    for (size_t refuse = 1; reached; refuse++) {
        memory m = {.refuse = refuse};
        const lam_ctx_options options = memory_options(&m);
        ctx = lam_ctx_new(&options);
        work(env);
        const lam_status status = lam_status_of(ctx);
        lam_ctx_free(ctx);
        ctx = saved;
        reached = m.requests >= refuse;
        failed += status == LAM_ERR_MEMORY;
        ck_assert_msg(m.blocks == 0 && !m.wrong_size, "request %zu refused: %zu blocks are left", refuse, m.blocks);
        ck_assert_msg(status == LAM_OK || (reached && status == LAM_ERR_MEMORY), "request %zu: %d", refuse, status);
    }
    ck_assert_int_gt(failed, 10);
}

/* ---- the context of the test ------------------------------------------------------------------------------------- */

static void begin(void) {
    of_test = (memory){0};
    lam_ctx_options options = memory_options(&of_test);
    ctx = lam_ctx_new(&options);
}

static void end(void) {
    lam_status status = lam_status_of(ctx);
    char text[512];
    snprintf(text, sizeof text, "%s", lam_error(ctx));
    lam_ctx_free(ctx);
    ctx = NULL;
    ck_assert_msg(status == LAM_OK, "a failure was left: %s", text);
    ck_assert_msg(of_test.blocks == 0, "%zu blocks of %zu bytes leak", of_test.blocks, of_test.bytes);
    ck_assert_msg(!of_test.wrong_size, "a block was released with another size than it was asked for");
}

void warm_up(void) {
    for (int round = 0; round < 4; round++) {
        lam_scope *outer = lam_scope_begin(ctx), *inner[31];
        for (int i = 0; i < 300; i++) lam_scalar(ctx, 0);
        for (int i = 0; i < 31; i++) inner[i] = lam_scope_begin(ctx);
        for (int i = 30; i >= 0; i--) lam_scope_end(inner[i], NULL, 0);
        lam_scope_end(outer, NULL, 0);
    }
}

Suite *suite_of(const char *name, const TTest *const tests[], size_t count) {
    Suite *suite = suite_create(name);
    TCase *group = tcase_create(name);
    tcase_add_checked_fixture(group, begin, end);
    for (size_t i = 0; i < count; i++) tcase_add_test(group, tests[i]);
    suite_add_tcase(suite, group);
    return suite;
}

void suite_loop(Suite *suite, const TTest *test, int count) {
    suite_loop_from(suite, test->name, test, 0, count);
}

void suite_loop_from(Suite *suite, const char *name, const TTest *test, int first, int last) {
    TCase *group = tcase_create(name);
    tcase_add_checked_fixture(group, begin, end);
    tcase_set_timeout(group, 0);
    tcase_add_loop_test(group, test, first, last);
    suite_add_tcase(suite, group);
}

size_t requests_made(void) {
    return of_test.requests;
}

/* ---- functions and tensors --------------------------------------------------------------------------------------- */

lam_fn *function_of(const char *name, lam_body body, int inputs, int outputs, void *env) {
    return lam_fn_new(ctx,
                      &(lam_fn_options){.name = name, .body = body, .inputs = inputs, .outputs = outputs, .env = env});
}

lam_tensor *vector_of(const double *x, size_t count) {
    return lam_array(ctx, LAM_F64, LAM_DIMS((int64_t)count), x);
}

lam_tensor *num(double x) {
    return lam_scalar(ctx, x);
}

lam_tensor *apply1(lam_fn *f, lam_tensor *x) {
    return lam_apply(f, LAM_LIST(x));
}

lam_tensor *apply2(lam_fn *f, lam_tensor *x, lam_tensor *y) {
    return lam_apply(f, LAM_LIST(x, y));
}

/* ---- checks ------------------------------------------------------------------------------------------------------ */

static bool near(double got, double want, double tolerance) {
    if (isnan(want)) return isnan(got);
    if (isinf(want) || tolerance == 0) return got == want;
    return fabs(got - want) <= tolerance * (want == 0 ? 1 : fabs(want));
}

static double *elements(lam_tensor *t) {
    size_t count = (size_t)lam_size(t);
    double *x = malloc((count + 1) * sizeof *x);
    lam_scope *scope = lam_scope_begin(ctx);
    lam_status status = lam_read(lam_dtype_of(t) == LAM_F64 ? t : lam_cast(t, LAM_F64), x, count * sizeof *x);
    lam_scope_end(scope, NULL, 0);
    if (status == LAM_OK) return x;
    free(x);
    return NULL;
}

uint64_t random_bits(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

int random_below(uint64_t *state, int n) {
    return (int)(random_bits(state) % (uint64_t)n);
}

void expect_values(int line, lam_tensor *t, double tolerance, lam_dims dims, const double *want, size_t count) {
    ck_assert_msg(lam_status_of(ctx) == LAM_OK, "line %d: %s", line, lam_error(ctx));
    ck_assert_msg(lam_rank(t) == dims.rank, "line %d: rank %d, not %d", line, lam_rank(t), dims.rank);
    for (int i = 0; i < dims.rank; i++)
        ck_assert_msg(lam_dim(t, i) == dims.dims[i], "line %d: axis %d has %lld elements, not %lld", line, i,
                      (long long)lam_dim(t, i), (long long)dims.dims[i]);
    ck_assert_msg((size_t)lam_size(t) == count, "line %d: the test lists %zu elements of %lld", line, count,
                  (long long)lam_size(t));
    double *got = elements(t);
    ck_assert_msg(got != NULL, "line %d: %s", line, lam_error(ctx));
    size_t right = 0; /* one assertion for all, since Check writes to a file at each */
    while (right < count && near(got[right], want[right], tolerance)) right++;
    ck_assert_msg(right == count, "line %d: element %zu is %.17g, not %.17g", line, right, got[right], want[right]);
    free(got);
}

void expect_same(int line, lam_tensor *a, lam_tensor *b, double tolerance) {
    ck_assert_msg(lam_status_of(ctx) == LAM_OK, "line %d: %s", line, lam_error(ctx));
    ck_assert_msg(lam_dtype_of(a) == lam_dtype_of(b), "line %d: dtypes differ", line);
    double *want = elements(b);
    ck_assert_msg(want != NULL, "line %d: %s", line, lam_error(ctx));
    expect_values(line, a, tolerance, lam_dims_of(b), want, (size_t)lam_size(b));
    free(want);
}

void expect_error(int line, lam_status status, const char *remedy, const char *const texts[]) {
    ck_assert_msg(lam_status_of(ctx) == status, "line %d: %s, not %s: %s", line, lam_status_name(lam_status_of(ctx)),
                  lam_status_name(status), lam_error(ctx));
    for (; *texts; texts++)
        ck_assert_msg(strstr(lam_error(ctx), *texts) != NULL, "line %d: '%s' is not in: %s", line, *texts,
                      lam_error(ctx));
    ck_assert_msg(status == LAM_ERR_USER || strstr(lam_error(ctx), remedy) != NULL, "line %d: no remedy: %s", line,
                  lam_error(ctx));
    lam_clear_error(ctx);
}
