/* Every public function with arguments of all sorts: calls.py reads the headers and writes some thousand calls, which
 * are judged here. Whatever the arguments are, a call comes back soon and touches no memory but its own; what fails is
 * the failed tensor with a message, or a status that says so; no block is left behind. */
#include "tests/support.h"

#include <limits.h>

/* ---- operands ---------------------------------------------------------------------------------------------------- */

/* calls.py reads the names. The first two fifths are chosen more often.
 * KEEP IN STEP: quiet operands (those with which a call may fail without a message of ctx). */
/* clang-format off */
#define OPERANDS \
    OPERAND(MATRIX, MAT(2, 3, 1, -2, 0.5, 3, 0.1, -1)) \
    OPERAND(SQUARE, MAT(3, 3, 4, 1, 0, -1, 5, 2, 0.3, 1, 6)) \
    OPERAND(VECTOR, VEC(0.3, -1.2, 2)) \
    OPERAND(NUMBER, num(0.7)) \
    OPERAND(STACK, lam_reshape(lam_linspace(ctx, LAM_F64, -1, 1, 18), LAM_DIMS(2, 3, 3))) \
    OPERAND(IMAGES, lam_reshape(lam_linspace(ctx, LAM_F64, -1, 1, 24), LAM_DIMS(2, 2, 6))) \
    OPERAND(ACROSS, lam_transpose(lam_ones(ctx, LAM_F64, LAM_DIMS(20, 30)), LAM_AXES(1, 0))) \
    OPERAND(INDICES, lam_array(ctx, LAM_I64, LAM_DIMS(2), (int64_t[]){1, 0})) \
    OPERAND(INDEX, lam_array(ctx, LAM_I64, LAM_DIMS0, (int64_t[]){1})) \
    OPERAND(SINGLES, lam_cast(MAT(2, 3, 1, -2, 0.5, 3, 0.1, -1), LAM_F32)) \
    OPERAND(COMPLEX, lam_complex(MAT(2, 2, 1, 2, 3, 4), MAT(2, 2, 0, 1, 0, -1))) \
    OPERAND(KEY, lam_key(ctx, 3)) \
    OPERAND(INTS, lam_array(ctx, LAM_I32, LAM_DIMS(3), (int32_t[]){0, -1, 2})) \
    OPERAND(BOOLS, lam_gt(MAT(2, 3, 1, -2, 0.5, 3, 0.1, -1), 0.0)) \
    OPERAND(NONE, lam_zeros(ctx, LAM_F64, LAM_DIMS(0))) \
    OPERAND(NO_ROWS, lam_zeros(ctx, LAM_F64, LAM_DIMS(0, 3))) \
    OPERAND(NO_COLUMNS, lam_zeros(ctx, LAM_F64, LAM_DIMS(3, 0))) \
    OPERAND(NO_INDICES, lam_zeros(ctx, LAM_I64, LAM_DIMS(0))) \
    OPERAND(NO_BOOLS, lam_zeros(ctx, LAM_BOOL, LAM_DIMS(0, 2))) \
    OPERAND(HIGHEST_RANK, lam_reshape(num(1), LAM_DIMS(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1))) \
    OPERAND(LARGE, lam_broadcast_to(num(2), LAM_DIMS(1000, 500))) \
    OPERAND(EXTREMES, lam_array(ctx, LAM_I64, LAM_DIMS(3), (int64_t[]){INT64_MAX, INT64_MIN, 7})) \
    OPERAND(BYTES, lam_array(ctx, LAM_U8, LAM_DIMS(3), (uint8_t[]){255, 0, 3})) \
    OPERAND(HALVES, lam_cast(MAT(2, 3, 1, -2, 0.5, 3, 0.1, -1), LAM_F16)) \
    OPERAND(BRAINS, lam_cast(MAT(3, 3, 4, 1, 0, -1, 5, 2, 0.3, 1, 6), LAM_BF16)) \
    OPERAND(COMPLEX_SINGLES, lam_cast(lam_complex(VEC(1, 2, 3), VEC(0, 1, 0)), LAM_C64)) \
    OPERAND(NANS, lam_full(ctx, LAM_F64, LAM_DIMS(3, 3), (double)NAN)) \
    OPERAND(INFINITIES, lam_full(ctx, LAM_F64, LAM_DIMS(2, 3), (double)INFINITY)) \
    OPERAND(BACKWARDS, lam_reverse(MAT(3, 3, 1, 2, 3, 4, 5, 6, 7, 8, 9), LAM_AXES(0, 1))) \
    OPERAND(MISSING, NULL) \
    OPERAND(FREED, freed()) \
    OPERAND(FAILED, failed()) \
    OPERAND(POISONED, poisoned()) \
    OPERAND(ESCAPED, escaped) \
    OPERAND(OF_NO_CONTEXT, lam_scalar(dead, 1)) \
    OPERAND(FOREIGN, lam_scalar(other, 1))
/* clang-format on */

#define OPERAND(name, ...) name,
enum { OPERANDS OPERAND_COUNT };
#undef OPERAND

static lam_ctx *other, *dead;
static lam_tensor *t[OPERAND_COUNT], *results[64], *escaped;

static lam_tensor *freed(void) {
    lam_tensor *x = num(1);
    lam_drop(x);
    return x;
}

static lam_tensor *failed(void) {
    lam_tensor *x = lam_fail(ctx, LAM_ERR_USER, "made for the test");
    lam_clear_error(ctx);
    return x;
}

static lam_tensor *poisoned(void) {
    lam_tensor *x = lam_zeros(ctx, LAM_U8, LAM_DIMS(2));
    lam_add_(x, VEC(1, 2, 3));
    lam_clear_error(ctx);
    return x;
}

/* ---- functions --------------------------------------------------------------------------------------------------- */

BODY(same) {
    out[0] = in[0];
}

BODY(squares) {
    out[0] = lam_sum(lam_square(in[0]), NULL);
}

BODY(two_of_two) {
    out[0] = lam_mul(in[0], in[1]);
    out[1] = lam_sum(in[0], NULL);
}

BODY(sum_of_two) {
    out[0] = lam_add(in[0], in[1]);
}

BODY(sets_nothing) {
}

BODY(says_no) {
    lam_fail(here, LAM_ERR_USER, "the body says no");
}

BODY(overwrites) {
    lam_add_(in[0], in[0]);
    out[0] = in[0];
}

BODY(leaks) {
    escaped = lam_hold(lam_mul(in[0], 2.0));
    out[0] = lam_sum(in[0], NULL);
}

static lam_fn *freed_fn(void) {
    lam_fn *f = FN(same, 1, 1);
    lam_fn_drop(f);
    return f;
}

/* clang-format off */
#define CALLEES \
    CALLEE(SAME, FN(same, 1, 1)) \
    CALLEE(SQUARES, FN(squares, 1, 1)) \
    CALLEE(TWO_OF_TWO, FN(two_of_two, 2, 2)) \
    CALLEE(SUM_OF_TWO, FN(sum_of_two, 2, 1)) \
    CALLEE(SETS_NOTHING, FN(sets_nothing, 1, 1)) \
    CALLEE(SAYS_NO, FN(says_no, 1, 1)) \
    CALLEE(OVERWRITES, FN(overwrites, 1, 1)) \
    CALLEE(GRADIENT, lam_grad(FN(squares, 1, 1), NULL)) \
    CALLEE(BATCH, lam_vmap(FN(squares, 1, 1), NULL)) \
    CALLEE(NO_CALLEE, NULL) \
    CALLEE(FREED_CALLEE, freed_fn())
/* clang-format on */

#define CALLEE(name, ...) name,
enum { CALLEES CALLEE_COUNT };
#undef CALLEE

static lam_fn *f[CALLEE_COUNT], *made;

/* ---- judging ----------------------------------------------------------------------------------------------------- */

static const int one = 1;
static const int64_t twos[LAM_MAX_RANK + 4] = {2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2};
static const double numbers[8] = {1, 2};
static const lam_route routes[8] = {{0, 1}, {1, 0}, {2, 2}};
static char room[4096];

/* The message begins with the operation that was called, which may be made of others: "moveaxis: transpose: ...". What
 * runs functions may fail inside of these, and an operand that is not usable is refused by the first that meets it. */
static void check_name(const char *call) {
    enum { PREFIX = 4 /* lam_ */ };
    size_t length = strcspn(call, "(") - PREFIX;
    if (strstr(call, "f[") || strstr(call, "ESCAPED") || strncmp(call, "lam_at_update", length + PREFIX) == 0) return;
    if (call[PREFIX + length - 1] == '_') length--; /* the form in place of the same operation */
    const char *text = strncmp(lam_error(ctx), "lam_", PREFIX) ? lam_error(ctx) : lam_error(ctx) + PREFIX;
    ck_assert_msg(strncmp(text, call + PREFIX, length) == 0, "%s says: %s", call, text);
}

/* A failure has a message that shows where it was made. Forgets it; tells whether there was one. */
static bool had_failure(bool quiet, const char *call) {
    bool any = lam_error_count(ctx) > 0;
    if (any && !quiet) check_name(call);
    if (any) ck_assert_msg(strstr(lam_error(ctx), "\n  levels: "), "%s says: %s", call, lam_error(ctx));
    ck_assert_msg(any == (lam_status_of(ctx) != LAM_OK), "%s: the status is not that of the count", call);
    lam_clear_error(ctx);
    lam_clear_error(other);
    return any;
}

/* quiet: an operand may have failed before, or belongs to no context that could keep a message. */
static void judge_tensor(bool quiet, lam_tensor *result, const char *call) {
    ck_assert_msg(result != NULL, "%s gives NULL", call);
    bool failure = had_failure(quiet, call);
    ck_assert_msg(lam_failed(result) || !failure, "%s gives a tensor though it failed", call);
    ck_assert_msg(!lam_failed(result) || failure || quiet, "%s fails without a word", call);
    ck_assert_msg(lam_rank(result) >= 0 && lam_rank(result) <= LAM_MAX_RANK, "%s: rank %d", call, lam_rank(result));
}

static void judge_status(bool quiet, lam_status status, const char *call) {
    bool failure = had_failure(quiet, call);
    ck_assert_msg((status != LAM_OK) == failure || quiet, "%s gives %s", call, lam_status_name(status));
}

static void judge_function(bool quiet, lam_fn *result, const char *call) {
    ck_assert_msg(result != NULL, "%s gives NULL", call);
    bool failure = had_failure(quiet, call);
    ck_assert_msg(!lam_failed(result) || failure || quiet, "%s fails without a word", call);
}

#define TENSOR(quiet, call)   (mark_point(), judge_tensor(quiet, call, #call))
#define STATUS(quiet, call)   (mark_point(), judge_status(quiet, call, #call))
#define FUNCTION(quiet, call) (mark_point(), judge_function(quiet, call, #call))
#define OTHER(quiet, call)    (mark_point(), (void)(call), had_failure(quiet, #call))

#include "calls.inc"

/* ---- the test ---------------------------------------------------------------------------------------------------- */

static void make_arguments(void) {
    apply1(lam_grad(FN(leaks, 1, 1), NULL), VEC(1, 2));
#define OPERAND(name, ...) t[name] = __VA_ARGS__;
    OPERANDS
#undef OPERAND
#define CALLEE(name, ...) f[name] = __VA_ARGS__;
    CALLEES
#undef CALLEE
    for (size_t i = 0; i < sizeof results / sizeof *results; i++) results[i] = t[NUMBER];
    made = f[SAME];
    lam_clear_error(ctx);
}

START_TEST(every_function_takes_or_refuses_whatever_it_is_given) {
    lam_ctx *outside = ctx;
    memory counted = {0};
    lam_ctx_options options = memory_options(&counted);
    options.memory_limit = 64 << 20;
    ctx = lam_ctx_new(&options);
    other = lam_ctx_new(&(lam_ctx_options){.memory_limit = 64 << 20});
    dead = lam_ctx_new(&(lam_ctx_options){.threads = -1});
    make_arguments();
    groups[_i]();
    lam_release(escaped);
    had_failure(true, "lam_release");
    EXPECT_NUM(lam_add(num(1), 2), 3);
    lam_ctx_free(other);
    lam_ctx_free(ctx);
    ck_assert_uint_eq(counted.blocks, 0);
    ctx = outside;
}
END_TEST

Suite *suite_fuzz_calls(void) {
    Suite *suite = suite_of("fuzz/calls", NULL, 0);
    suite_loop(suite, every_function_takes_or_refuses_whatever_it_is_given, sizeof groups / sizeof *groups);
    return suite;
}
