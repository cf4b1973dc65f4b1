/* Programs as C: the workspace, several programs in one build, what is refused, files that fail. That each
 * operation has the values it should have is shown by primitives/emitted.c. */
#define _GNU_SOURCE /* mkdtemp, open_memstream */

#include "tests/support.h"
#include "tests/transforms/build.h"

#include <dlfcn.h>
#include <lamina/program.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef void unary(const double *, double *);
typedef void unary_in_room(const double *, double *, void *);

/* ---- functions --------------------------------------------------------------------------------------------------- */

enum { N = 4 };
static const double point[N] = {0.3, -0.7, 1.1, 2.5};

static lam_tensor *at_point(void) {
    return lam_array(ctx, LAM_F64, LAM_DIMS(N), point);
}

/* A sum of products with another order of the elements: it needs room for what is between. */
BODY(mixed) {
    lam_tensor *order = lam_argsort(lam_sin(in[0]), 0), *sorted = lam_take(in[0], order, 0);
    out[0] = lam_cumsum(lam_mul(sorted, lam_reverse(in[0], (lam_axes){0, NULL})), 0);
}

BODY(plain) {
    out[0] = lam_mul(2.0, in[0]);
}

BODY(by_logm) {
    out[0] = lam_norm(lam_logm(lam_reshape(lam_exp(in[0]), LAM_DIMS(2, 2))), NULL);
}

static lam_program *traced(lam_fn *f) {
    return lam_trace(f, LAM_LIST(at_point()));
}

static void check_results(const double got[], lam_fn *f) {
    double want[N];
    ck_assert_int_eq(lam_read(lam_apply(f, LAM_LIST(at_point())), want, sizeof want), LAM_OK);
    for (int i = 0; i < N; i++) ck_assert_double_eq_tol(got[i], want[i], 1e-14);
}

/* ---- the workspace ----------------------------------------------------------------------------------------------- */

/* The number in the comment on top is enough, and calls with rooms of their own do not meet. */
START_TEST(the_workspace_is_static_or_the_callers) {
    build b;
    lam_fn *f = FN(mixed, 1, 1);
    lam_program *p = traced(f);
    build_begin(&b);
    build_add(&b, "fixed", p, &(lam_emit_options){.name = "fixed"});
    build_add(&b, "given", p, &(lam_emit_options){.name = "given", .reentrant = true});
    const char *text = emitted_text(p, &(lam_emit_options){.name = "given", .reentrant = true});
    const char *number = strstr(text, "#define given_WORKSPACE ");
    ck_assert_ptr_nonnull(number);
    const size_t bytes = (size_t)strtoll(number + strlen("#define given_WORKSPACE "), NULL, 10);
    ck_assert(bytes >= N * sizeof(double) && bytes < 1024);
    ck_assert_ptr_nonnull(strstr(text, "void *workspace"));
    build_end(&b);
    unary *fixed;
    unary_in_room *given;
    double out[N];
    void *rooms[2] = {malloc(bytes), malloc(bytes)};
    build_find(&b, "fixed", &fixed);
    build_find(&b, "given", &given);
    fixed(point, out);
    check_results(out, f);
    for (int i = 0; i < 2; i++) {
        memset(out, 0, sizeof out);
        given(point, out, rooms[i]);
        check_results(out, f);
        free(rooms[i]);
    }
    ck_assert_ptr_nonnull(strstr(emitted_text(traced(FN(plain, 1, 1)), NULL), "\n#define plain_WORKSPACE 0\n"));
    dlclose(b.library);
}
END_TEST

/* Memory is used again: the values of a long chain take no more than those of a short one. */
static int links;
BODY(chain) {
    out[0] = in[0];
    for (int i = 0; i < links; i++) out[0] = lam_cumsum(lam_sin(out[0]), 0);
}

static size_t chain_bytes(int n) {
    links = n;
    const char *text = emitted_text(traced(FN(chain, 1, 1)), NULL);
    const char *number = strstr(text, "The workspace of ");
    ck_assert_ptr_nonnull(number);
    const size_t bytes = (size_t)strtoll(number + strlen("The workspace of "), NULL, 10);
    return bytes;
}

START_TEST(memory_is_used_again) {
    ck_assert_uint_eq(chain_bytes(20), chain_bytes(3));
}
END_TEST

/* Long programs are several functions, which share the workspace. */
BODY(long_chain) {
    out[0] = in[0];
    for (int i = 0; i < 100; i++) out[0] = lam_add(in[0], lam_cumsum(lam_mul(0.1, lam_sin(out[0])), 0));
}

START_TEST(long_programs_are_several_functions) {
    build b;
    lam_fn *f = FN(long_chain, 1, 1);
    lam_program *p = traced(f);
    build_begin(&b);
    build_add(&b, "fixed", p, &(lam_emit_options){.name = "fixed"});
    build_add(&b, "given", p, &(lam_emit_options){.name = "given", .reentrant = true});
    ck_assert_ptr_nonnull(strstr(emitted_text(p, NULL), "static void long_chain__part2("));
    build_end(&b);
    unary *fixed;
    unary_in_room *given;
    double out[N], room[64];
    build_find(&b, "fixed", &fixed);
    build_find(&b, "given", &given);
    fixed(point, out);
    check_results(out, f);
    memset(out, 0, sizeof out);
    given(point, out, room);
    check_results(out, f);
    dlclose(b.library);
}
END_TEST

/* ---- several programs -------------------------------------------------------------------------------------------- */

/* The same program, from its text. */
static lam_program *read_back(lam_program *program) {
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    ck_assert_int_eq(lam_program_print(file, program), LAM_OK);
    fclose(file);
    lam_program *read = lam_program_read(ctx, text);
    free(text);
    return read;
}

START_TEST(several_programs_are_linked_together) {
    build b;
    lam_fn *f = FN(mixed, 1, 1), *g = FN(plain, 1, 1);
    char path[BUILD_PATH + 32];
    build_begin(&b);
    build_add(&b, "one", traced(f), &(lam_emit_options){.name = "one"});
    snprintf(path, sizeof path, "%s/others.c", b.directory);
    FILE *file = fopen(path, "w");
    ck_assert_int_eq(lam_emit_c(traced(f), file, &(lam_emit_options){.name = "two"}), LAM_OK);
    ck_assert_int_eq(lam_emit_c(traced(g), file, &(lam_emit_options){.name = "three"}), LAM_OK);
    ck_assert_int_eq(lam_emit_c(read_back(traced(f)), file, &(lam_emit_options){.name = "four"}), LAM_OK);
    fclose(file);
    build_end(&b);
    static const char *const names[] = {"one", "two", "three", "four"};
    for (int i = 0; i < 4; i++) {
        unary *call;
        double out[N];
        build_find(&b, names[i], &call);
        call(point, out);
        check_results(out, i == 2 ? g : f);
    }
    dlclose(b.library);
}
END_TEST

/* ---- a model ----------------------------------------------------------------------------------------------------- */

enum { ROWS = 8, WIDTH = 5, CLASSES = 3 };

/* The loss of a network of one hidden layer: weights, weights, examples; classes are a constant. */
BODY(loss) {
    lam_tensor *hidden = lam_tanh(lam_matmul(in[2], in[0]));
    lam_tensor *logits = lam_log_softmax(lam_matmul(hidden, in[1]), 1);
    lam_tensor *wanted = lam_eq(lam_rem(lam_iota(ctx, LAM_I64, LAM_DIMS(ROWS, CLASSES), 0), 3),
                                lam_iota(ctx, LAM_I64, LAM_DIMS(ROWS, CLASSES), 1));
    out[0] = lam_neg(lam_mean(lam_where(wanted, logits, 0.0), NULL));
}

static lam_tensor *filled(int64_t rows, int64_t columns, double seed) {
    return lam_reshape(lam_sin(lam_mul(seed, lam_arange(ctx, LAM_F64, 1, (double)(rows * columns + 1), 1))),
                       LAM_DIMS(rows, columns));
}

START_TEST(the_gradient_of_a_model_is_that_of_lamina) {
    build b;
    lam_tensor *in[3] = {filled(N, WIDTH, 0.7), filled(WIDTH, CLASSES, 1.3), filled(ROWS, N, 2.1)}, *want[3];
    lam_fn *f = lam_value_and_grad(FN(loss, 3, 1), &(lam_grad_options){.argnums = LAM_AXES(0, 1)});
    build_begin(&b);
    build_add(&b, "model", lam_trace(f, (lam_list){3, in}), &(lam_emit_options){.name = "model"});
    build_end(&b);
    void (*model)(const double *, const double *, const double *, double *, double *, double *);
    build_find(&b, "model", &model);
    double value, first[N * WIDTH], second[WIDTH * CLASSES], expected[N * WIDTH];
    model(lam_data(in[0]), lam_data(in[1]), lam_data(in[2]), &value, first, second);
    ck_assert_int_eq(lam_call(f, (lam_list){3, in}, want, 3), LAM_OK);
    ck_assert_double_eq_tol(value, lam_item(want[0]), 1e-14);
    for (int i = 1; i < 3; i++) {
        const double *got = i == 1 ? first : second;
        ck_assert_int_eq(lam_read(want[i], expected, (size_t)lam_size(want[i]) * sizeof(double)), LAM_OK);
        for (int64_t k = 0; k < lam_size(want[i]); k++) ck_assert_double_eq_tol(got[k], expected[k], 1e-14);
    }
    dlclose(b.library);
}
END_TEST

/* ---- sums -------------------------------------------------------------------------------------------------------- */

enum { LONG = 300, SHORT = 3, SUMS = SHORT + LONG + 1 };

/* Sums of values that are made in the same loops, of which one is needed again: over either axis, and over both. */
BODY(sums) {
    lam_tensor *y = lam_add(lam_square(in[0]), 1.0);
    lam_tensor *first = lam_sum(y, &(lam_reduce_options){.axes = LAM_AXES(0)});
    lam_tensor *second = lam_max_reduce(lam_sub(lam_div(1.0, y), in[0]), &(lam_reduce_options){.axes = LAM_AXES(1)});
    lam_tensor *both = lam_sum(lam_mul(y, in[0]), NULL);
    out[0] = lam_concatenate(LAM_LIST(first, second, lam_reshape(both, LAM_DIMS(1))), 0);
}

START_TEST(sums_are_made_in_the_loops_of_their_terms) {
    build b;
    double got[SUMS], want[SUMS];
    lam_tensor *x = lam_reshape(lam_linspace(ctx, LAM_F64, -2, 3, LONG * SHORT), LAM_DIMS(LONG, SHORT));
    build_begin(&b);
    build_add(&b, "sums", lam_trace(FN(sums, 1, 1), LAM_LIST(x)), NULL);
    build_end(&b);
    unary *call;
    build_find(&b, "sums", &call);
    call(lam_data(x), got);
    ck_assert_int_eq(lam_read(apply1(FN(sums, 1, 1), x), want, sizeof want), LAM_OK);
    for (int i = 0; i < SUMS; i++) ck_assert_double_eq_tol(got[i], want[i], 1e-14 * fabs(want[i]) + 1e-12);
    dlclose(b.library);
}
END_TEST

/* ---- special values ---------------------------------------------------------------------------------------------- */

enum { SPECIAL = 14, PAIRS = SPECIAL * SPECIAL, EXACT = 14 };
static const double special[SPECIAL] = {0.0,       -0.0, 1,         -1,         2.5,      -3.5,      INFINITY,
                                        -INFINITY, NAN,  0x1p-1074, -0x1p-1070, 0x1p1023, -0x1p1000, 0x1p-1022};

/* What rounds once, or does not. */
BODY(exact) {
    lam_tensor *x = in[0], *y = in[1];
    lam_tensor *all[EXACT] = {
        lam_max(x, y),
        lam_min(x, y),
        lam_mul(x, y),
        lam_div(x, y),
        lam_clamp(x, y, lam_square(y)),
        lam_copysign(x, y),
        lam_nextafter(x, y),
        lam_where(lam_le(x, y), lam_neg(x), lam_abs(y)),
        lam_rem(x, y),
        lam_sign(x),
        lam_round(x),
        lam_fma(x, y, x),
        lam_nan_to_num(x, NULL),
        lam_cast(lam_add(lam_cast(x, LAM_I64), lam_cast(lam_cast(y, LAM_I32), LAM_I64)), LAM_F64)};
    out[0] = lam_stack((lam_list){EXACT, all}, 0);
}

/* Zeros of either sign are told apart; NaN is NaN. */
START_TEST(special_values_have_the_same_bits) {
    build b;
    double in[2][PAIRS], want[EXACT * PAIRS], got[EXACT * PAIRS];
    for (int i = 0; i < PAIRS; i++) {
        in[0][i] = special[i / SPECIAL];
        in[1][i] = special[i % SPECIAL];
    }
    lam_tensor *x = lam_array(ctx, LAM_F64, LAM_DIMS(PAIRS), in[0]),
               *y = lam_array(ctx, LAM_F64, LAM_DIMS(PAIRS), in[1]);
    build_begin(&b);
    build_add(&b, "exact", lam_trace(FN(exact, 2, 1), LAM_LIST(x, y)), NULL);
    build_end(&b);
    void (*call)(const double *, const double *, double *);
    build_find(&b, "exact", &call);
    call(in[0], in[1], got);
    ck_assert_int_eq(lam_read(apply2(FN(exact, 2, 1), x, y), want, sizeof want), LAM_OK);
    for (int i = 0; i < EXACT * PAIRS; i++)
        ck_assert_msg((isnan(got[i]) && isnan(want[i])) || memcmp(&got[i], &want[i], sizeof *got) == 0,
                      "result %d of %a and %a is %a, not %a", i / PAIRS, in[0][i % PAIRS], in[1][i % PAIRS], got[i],
                      want[i]);
    dlclose(b.library);
}
END_TEST

BODY(running) {
    out[0] = lam_stack(LAM_LIST(lam_cummax(in[0], 0), lam_cummin(in[0], 0)), 0);
}

/* A running extreme is the last of the elements up to there that are equal to it: zeros have the sign of that. */
START_TEST(running_extremes_have_the_signs_of_the_last) {
    static const double x[N] = {0.0, -0.0, 0.0, -0.0};
    build b;
    double got[2 * N];
    lam_program *p = lam_trace(FN(running, 1, 1), LAM_LIST(lam_array(ctx, LAM_F64, LAM_DIMS(N), x)));
    build_begin(&b);
    build_add(&b, "running", p, NULL);
    build_end(&b);
    unary *call;
    build_find(&b, "running", &call);
    for (int with = 0; with < 2; with++) {
        if (with) ck_assert_int_eq(lam_read(apply1(p, lam_array(ctx, LAM_F64, LAM_DIMS(N), x)), got, sizeof got), 0);
        else call(x, got);
        for (int i = 0; i < 2 * N; i++) ck_assert(got[i] == 0 && !signbit(got[i]) == !signbit(x[i % N]));
    }
    dlclose(b.library);
}
END_TEST

/* The largest of each row, and where it stands, beside it. */
BODY(largest) {
    lam_tensor *where, *x = lam_reshape(in[0], LAM_DIMS(2, N / 2)), *top = lam_top_k(x, 1, &where);
    out[0] = lam_concatenate(LAM_LIST(top, lam_cast(where, LAM_F64)), 1);
}

/* One element of an order has no loop of its own, though the rows that are sorted have more. */
START_TEST(one_element_of_an_order_is_written) {
    static const double want[N] = {0.3, 0, 2.5, 1};
    build b;
    double got[N];
    build_begin(&b);
    build_add(&b, "largest", traced(FN(largest, 1, 1)), NULL);
    build_end(&b);
    unary *call;
    build_find(&b, "largest", &call);
    call(point, got);
    for (int i = 0; i < N; i++) ck_assert_double_eq(got[i], want[i]);
    dlclose(b.library);
}
END_TEST

/* ---- warnings ---------------------------------------------------------------------------------------------------- */

enum { COMPARISONS = 8 };

/* Numbers with themselves, and bytes with the ends of their range. */
BODY(compared) {
    lam_tensor *x = in[0], *y = env ? in[0] : lam_zeros_like(x);
    out[0] = lam_stack(LAM_LIST(lam_cast(lam_eq(x, y), LAM_I64), lam_cast(lam_ne(x, y), LAM_I64),
                                lam_cast(lam_lt(x, y), LAM_I64), lam_cast(lam_le(x, y), LAM_I64),
                                lam_cast(lam_gt(x, y), LAM_I64), lam_cast(lam_ge(x, y), LAM_I64),
                                lam_cast(lam_max(x, y), LAM_I64), lam_cast(lam_min(x, y), LAM_I64)),
                       0);
}

static lam_fn *compared_with(bool itself) {
    return FN_ENV(compared, 1, 1, itself ? ctx : NULL);
}

BODY(added) {
    out[0] = lam_add(in[1], lam_cast(in[0], LAM_F64));
}

BODY(recurrence) {
    out[0] = lam_linear_recurrence(in[0], in[1], 0, false);
}

BODY(second) {
    out[0] = in[1];
}

BODY(around) {
    out[0] = lam_convolve(lam_broadcast_to(lam_index(in[0], 0, 0), LAM_DIMS(N)), in[0], LAM_CONVOLVE_SAME);
}

/* A recurrence of one element in a function of a choice: its factor, an argument of that, has no say. */
BODY(of_one) {
    lam_tensor *x = lam_slice_axis(in[0], 0, 0, 1), *y = lam_slice_axis(in[0], 0, 1, 2);
    lam_cond(lam_gt(lam_sum(in[0], NULL), 0.0), FN(recurrence, 2, 1), FN(second, 2, 1), LAM_LIST(x, y), &y, 1);
    out[0] = lam_add(in[0], y);
}

/* A choice and a loop whose results have no elements. */
BODY(of_nothing) {
    lam_tensor *none = lam_slice_axis(in[0], 0, 0, 0), *positive = lam_gt(lam_sum(in[0], NULL), 0.0), *y;
    lam_cond(positive, FN(plain, 1, 1), FN(chain, 1, 1), LAM_LIST(none), &y, 1);
    lam_fori(0, 100, FN(added, 2, 1), LAM_LIST(y), &y, 1);
    out[0] = lam_add(in[0], lam_sum(y, NULL));
}

/* Builds take warnings for errors. Of those that other compilers have it is seen that there is no reason. */
START_TEST(compilers_have_nothing_to_warn_of) {
    static const int64_t same[] = {1, 0, 0, 1, 0, 1, 7, 7}, with_zero[] = {0, 1, 0, 0, 1, 1, 7, 0};
    build b;
    const int64_t x = 7;
    const uint8_t byte = 7;
    int64_t got[COMPARISONS];
    lam_tensor *whole = lam_array(ctx, LAM_I64, LAM_DIMS0, &x), *small = lam_array(ctx, LAM_U8, LAM_DIMS0, &byte);
    build_begin(&b);
    build_add(&b, "whole", lam_trace(compared_with(true), LAM_LIST(whole)), &(lam_emit_options){.name = "whole"});
    build_add(&b, "small", lam_trace(compared_with(true), LAM_LIST(small)), &(lam_emit_options){.name = "small"});
    build_add(&b, "zero", lam_trace(compared_with(false), LAM_LIST(small)), &(lam_emit_options){.name = "zero"});
    build_add(&b, "around", traced(FN(around, 1, 1)), NULL);
    build_add(&b, "of_nothing", traced(FN(of_nothing, 1, 1)), NULL);
    build_add(&b, "of_one", traced(FN(of_one, 1, 1)), NULL);
    build_end(&b);
    void (*of_whole)(const int64_t *, int64_t *), (*of_small)(const uint8_t *, int64_t *);
    build_find(&b, "whole", &of_whole);
    of_whole(&x, got);
    for (int i = 0; i < COMPARISONS; i++) ck_assert_int_eq(got[i], same[i]);
    for (int zero = 0; zero < 2; zero++) {
        build_find(&b, zero ? "zero" : "small", &of_small);
        of_small(&byte, got);
        for (int i = 0; i < COMPARISONS; i++) ck_assert_int_eq(got[i], zero ? with_zero[i] : same[i]);
    }
    const char *text = emitted_text(lam_trace(compared_with(true), LAM_LIST(whole)), NULL);
    ck_assert_ptr_null(strstr(text, "in0[0] == in0[0]"));
    ck_assert_ptr_nonnull(strstr(text, "equal_i64(in0[0], in0[0])"));
    unary *call;
    double out[N];
    build_find(&b, "of_nothing", &call);
    call(point, out);
    for (int i = 0; i < N; i++) ck_assert_double_eq(out[i], point[i]);
    build_find(&b, "of_one", &call);
    call(point, out);
    for (int i = 0; i < N; i++) ck_assert_double_eq(out[i], point[i] + point[1]);
    dlclose(b.library);
}
END_TEST

/* ---- what is refused --------------------------------------------------------------------------------------------- */

START_TEST(what_has_no_form_is_named_and_nothing_is_written) {
    FILE *file = tmpfile();
    ck_assert_int_eq(lam_emit_c(traced(FN(by_logm, 1, 1)), file, NULL), LAM_ERR_RULE);
    EXPECT_ERROR(LAM_ERR_RULE, "emit_c of 'by_logm': logm has no form in C");
    ck_assert_int_eq(ftell(file), 0);
    fclose(file);
}
END_TEST

START_TEST(what_is_no_program_is_refused) {
    FILE *file = tmpfile();
    ck_assert_int_eq(lam_emit_c(FN(plain, 1, 1), file, NULL), LAM_ERR_VALUE);
    EXPECT_ERROR(LAM_ERR_VALUE, "emit_c: 'plain' is not a program");
    ck_assert_int_eq(lam_emit_c(NULL, file, NULL), LAM_ERR_NULL);
    ck_assert_int_eq(lam_emit_c(traced(FN(plain, 1, 1)), NULL, NULL), LAM_ERR_NULL);
    EXPECT_ERROR(LAM_ERR_NULL, "emit_c of 'plain': no file");
    fclose(file);
}
END_TEST

START_TEST(a_file_that_fails_is_reported) {
    FILE *full = fopen("/dev/full", "w");
    if (!full) full = fopen("/dev/null", "r"); /* which cannot be written either */
    ck_assert_ptr_nonnull(full);
    ck_assert_int_eq(lam_emit_c(traced(FN(plain, 1, 1)), full, NULL), LAM_ERR_VALUE);
    EXPECT_ERROR(LAM_ERR_VALUE, "the file cannot be written");
    fclose(full);
}
END_TEST

/* A constant that belongs to a level is different at each run. */
BODY(captures) {
    out[0] = lam_mul(in[0], in[1]);
}

BODY(emits_inside) {
    FILE *file = tmpfile();
    lam_fn *f = lam_fn_new(
        ctx, &(lam_fn_options){
                 .name = "captures", .body = captures, .inputs = 1, .outputs = 1, .captures = LAM_LIST(in[0])});
    lam_emit_c(lam_trace(f, LAM_LIST(lam_scalar(ctx, 2))), file, NULL);
    out[0] = in[0];
    fclose(file);
}

START_TEST(values_of_open_levels_are_refused) {
    lam_apply(lam_grad(FN(emits_inside, 1, 1), NULL), LAM_LIST(lam_scalar(ctx, 3)));
    EXPECT_ERROR(LAM_ERR_RULE, "uses a value of an open level");
}
END_TEST

Suite *suite_transforms_emit(void) {
    return SUITE_OF("transforms/emit", the_workspace_is_static_or_the_callers, memory_is_used_again,
                    long_programs_are_several_functions, several_programs_are_linked_together,
                    the_gradient_of_a_model_is_that_of_lamina, sums_are_made_in_the_loops_of_their_terms,
                    special_values_have_the_same_bits, compilers_have_nothing_to_warn_of,
                    running_extremes_have_the_signs_of_the_last, one_element_of_an_order_is_written,
                    what_has_no_form_is_named_and_nothing_is_written, what_is_no_program_is_refused,
                    a_file_that_fails_is_reported, values_of_open_levels_are_refused);
}
