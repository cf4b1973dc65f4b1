/* What the way back through a loop reads of the way there (lib/program/residuals.h): programs do it once, and give what
 * operations one by one give, which keep all of it on a tape. */
#define _GNU_SOURCE /* open_memstream */

#include "lib/program/function.h"
#include "lib/program/prune.h"
#include "lib/program/residuals.h"

#include "tests/support.h"

#include <lamina/control.h>
#include <lamina/program.h>

#include <stdlib.h>
#include <string.h>

enum { N = 6, TRIPS = 12 };

/* A trip makes of a carry x of f64[6], a matrix, and an element of f64[6] the next x. */
typedef lam_tensor *step(lam_tensor *x, lam_tensor *matrix, lam_tensor *element);

static lam_tensor *network(lam_tensor *x, lam_tensor *matrix, lam_tensor *element) {
    return lam_tanh(lam_add(lam_matvec(matrix, x), element));
}

/* The way back reads the cosine, which the way there does not make. */
static lam_tensor *wave(lam_tensor *x, lam_tensor *matrix, lam_tensor *element) {
    return lam_sin(lam_add(lam_matvec(matrix, x), element));
}

static lam_tensor *shares(lam_tensor *x, lam_tensor *matrix, lam_tensor *element) {
    return lam_mul(lam_softmax(lam_matvec(matrix, x), 0), element);
}

static lam_tensor *solution(lam_tensor *x, lam_tensor *matrix, lam_tensor *element) {
    return lam_add(element,
                   lam_tanh(lam_solve(lam_add(matrix, lam_diag(lam_full(ctx, LAM_F64, LAM_DIMS(N), 4), 0)), x)));
}

BODY(root_of_it) {
    out[0] = lam_sqrt(lam_add(1.0, lam_square(lam_matvec(in[1], in[0]))));
}

BODY(power_of_it) {
    out[0] = lam_exp(lam_mul(-0.5, lam_square(lam_matvec(in[1], in[0]))));
}

/* A choice in the trip, and a choice on the way back. */
static lam_tensor *chosen(lam_tensor *x, lam_tensor *matrix, lam_tensor *element) {
    lam_tensor *y, *holds = lam_gt(lam_sum(x, NULL), 0.3);
    lam_cond(holds, FN(root_of_it, 2, 1), FN(power_of_it, 2, 1), LAM_LIST(x, matrix), &y, 1);
    return lam_sub(y, element);
}

BODY(inner) {
    out[0] = lam_tanh(lam_add(lam_matvec(in[2], in[1]), 0.1));
}

/* A loop in the trip. */
static lam_tensor *looped(lam_tensor *x, lam_tensor *matrix, lam_tensor *element) {
    lam_tensor *y;
    lam_fn *f = lam_fn_new(
        ctx,
        &(lam_fn_options){.name = "inner", .body = inner, .inputs = 2, .outputs = 1, .captures = LAM_LIST(matrix)});
    lam_fori(0, 10, f, LAM_LIST(x), &y, 1);
    return lam_add(y, element);
}

/* Nothing is worth a place. */
static lam_tensor *cheap(lam_tensor *x, lam_tensor *matrix, lam_tensor *element) {
    return lam_sub(lam_mul(x, element), lam_mul(0.5, lam_index(matrix, 0, 1)));
}

BODY(network_of_it) {
    out[0] = network(in[0], in[1], in[2]);
}

/* What is to spare memory keeps nothing. */
static lam_tensor *spared(lam_tensor *x, lam_tensor *matrix, lam_tensor *element) {
    return lam_apply(lam_checkpoint(FN(network_of_it, 3, 1), NULL), LAM_LIST(x, matrix, element));
}

/* What all trips share has a function of its own in each. */
static lam_tensor *weights(lam_tensor *x, lam_tensor *matrix, lam_tensor *element) {
    return lam_mul(lam_matvec(lam_exp(lam_neg(lam_square(matrix))), x), lam_mul(0.3, element));
}

typedef struct trip_case {
    const char *name;
    step *step;
    bool reverse;
    const char *row; /* of which the gradient's program has so many fewer then */
    int fewer;
} trip_case;

static const trip_case cases[] = {
    {"network", network, false, "tanh", 1},  {"network, its products", network, true, "dot_general", 1},
    {"wave", wave, false, "dot_general", 1}, {"shares", shares, false, "dot_general", 1},
    {"solution", solution, true, "lu", 1},   {"chosen", chosen, false, "scan", 0},
    {"looped", looped, false, "tanh", 0},    {"weights", weights, false, "exp", 1},
    {"cheap", cheap, false, "mul", 0},       {"spared", spared, false, "tanh", 0},
};
enum { CASES = sizeof cases / sizeof *cases };

BODY(trip) {
    const trip_case *k = env;
    out[0] = k->step(in[0], in[2], in[1]);
    out[1] = lam_sum(lam_sin(out[0]), NULL);
}

/* x, matrix, elements -> a number in which the last x and what all trips give have part. */
BODY(loss) {
    const trip_case *k = env;
    lam_tensor *y[2];
    lam_fn *f = lam_fn_new(
        ctx, &(lam_fn_options){
                 .name = "trip", .body = trip, .inputs = 2, .outputs = 2, .env = env, .captures = LAM_LIST(in[1])});
    lam_scan(f, LAM_LIST(in[0]), LAM_LIST(in[2]), y, 2, &(lam_scan_options){.reverse = k->reverse});
    out[0] = lam_add(lam_sum(lam_square(y[0]), NULL), lam_dot(y[1], lam_cos(y[1])));
}

static lam_list operands(void) {
    static lam_tensor *in[3];
    lam_tensor *wide = lam_sin(lam_mul(1.7, lam_arange(ctx, LAM_F64, 0, N * (N + TRIPS + 1), 1)));
    in[0] = lam_slice_axis(wide, 0, 0, N);
    in[1] = lam_mul(0.4, lam_reshape(lam_slice_axis(wide, 0, N, N + N * N), LAM_DIMS(N, N)));
    in[2] = lam_reshape(lam_slice_axis(wide, 0, N + N * N, N * (N + TRIPS + 1)), LAM_DIMS(TRIPS, N));
    return (lam_list){3, in};
}

static lam_fn *loss_of(const trip_case *k) {
    return FN_ENV(loss, 3, 1, (void *)(uintptr_t)k);
}

static lam_fn *gradient_of(const trip_case *k) {
    return lam_grad(loss_of(k), &(lam_grad_options){.argnums = LAM_AXES(0, 1, 2)});
}

/* ---- programs ---------------------------------------------------------------------------------------------------- */

/* How often a row stands in the text of a program, and of those in it. */
static int count_of(lam_program *program, const char *row) {
    char *text = NULL, name[64];
    size_t bytes = 0;
    int count = 0;
    snprintf(name, sizeof name, "= %s", row);
    FILE *file = open_memstream(&text, &bytes);
    ck_assert_int_eq(lam_program_print(file, program), LAM_OK);
    fclose(file);
    for (const char *at = text; (at = strstr(at, name)); at += strlen(name)) count++;
    free(text);
    return count;
}

/* The gradient's program before, and with what is kept. */
static void programs_of(const trip_case *k, lam_program *programs[2]) {
    programs[0] = lam_trace(gradient_of(k), operands());
    lam__program *p = lam__program_of(programs[0]);
    ck_assert_msg(p != NULL, "%s", lam_error(ctx));
    p->refs++;
    p = lam__residuals_keep(lam__program_plain(p));
    ck_assert_ptr_nonnull(p);
    programs[1] = lam__program_fn(ctx, p, "kept");
}

START_TEST(what_is_kept_is_done_once) {
    const trip_case *k = &cases[_i];
    lam_program *programs[2];
    programs_of(k, programs);
    const int before = count_of(programs[0], k->row), now = count_of(programs[1], k->row);
    ck_assert_msg(before > 0 && before - now == k->fewer, "%s: %d of %s, %d before", k->name, now, k->row, before);
}
END_TEST

START_TEST(programs_give_the_same) {
    lam_program *programs[2];
    lam_tensor *want[3], *got[3];
    programs_of(&cases[_i], programs);
    ck_assert_int_eq(lam_program_check(programs[1]), LAM_OK);
    lam_call(gradient_of(&cases[_i]), operands(), want, 3);
    for (int w = 0; w < 2; w++) {
        ck_assert_msg(lam_call(programs[w], operands(), got, 3) == LAM_OK, "%s", lam_error(ctx));
        for (int o = 0; o < 3; o++) EXPECT_SAME(got[o], want[o], 1e-12);
    }
}
END_TEST

/* Where the way back is run again nothing is found any more. */
START_TEST(what_is_kept_is_kept_once) {
    lam_program *programs[2];
    programs_of(&cases[_i], programs);
    lam__program *p = lam__program_of(programs[1]);
    p->refs++;
    ck_assert_ptr_eq(lam__residuals_keep(p), p);
    lam__program_release(p);
}
END_TEST

/* ---- compiled ---------------------------------------------------------------------------------------------------- */

/* The n results for each of so many lists of operands, by what is compiled once. */
static void compare_all(const char *name, lam_fn *f, size_t lists, const lam_list *in, size_t n) {
    lam_tensor *want[6], *got[6];
    for (int native = 0; native < 2; native++) {
        lam_fn *jitted = lam_jit(f, &(lam_jit_options){.native = native});
        for (size_t k = 0; k < lists; k++) {
            ck_assert_msg(lam_call(f, in[k], want, n) == LAM_OK, "%s: %s", name, lam_error(ctx));
            ck_assert_msg(lam_call(jitted, in[k], got, n) == LAM_OK, "%s: %s", name, lam_error(ctx));
            for (size_t o = 0; o < n; o++) EXPECT_SAME(got[o], want[o], 1e-10);
        }
        ck_assert_msg(lam_jit_report_of(jitted).direct == 0, "%s is not compiled", name);
    }
}

static void compare(const char *name, lam_fn *f, lam_list in, size_t n) {
    compare_all(name, f, 1, &in, n);
}

START_TEST(gradients_compiled) {
    compare(cases[_i].name, gradient_of(&cases[_i]), operands(), 3);
}
END_TEST

/* Second derivatives, where the way back of a way back is one too, and batches. */
START_TEST(transforms_of_gradients_compiled) {
    const trip_case *k = &cases[_i];
    const lam_grad_options first = {.argnums = LAM_AXES(0)};
    lam_list in = operands();
    lam_tensor *many = lam_stack(LAM_LIST(in.items[0], lam_mul(0.5, in.items[0]), lam_neg(in.items[0])), 0);
    compare(k->name, lam_hessian(loss_of(k), &(lam_jacobian_options){.argnums = LAM_AXES(0)}), in, 1);
    compare(k->name, lam_jvp_fn(gradient_of(k), &first), LAM_LIST(in.items[0], in.items[1], in.items[2], in.items[0]),
            6);
    compare(k->name, lam_vmap(gradient_of(k), &(lam_vmap_options){.in_axes = LAM_AXES(0, LAM_UNMAPPED, LAM_UNMAPPED)}),
            LAM_LIST(many, in.items[1], in.items[2]), 3);
}
END_TEST

/* Several of each kind, alike in type: two carries, two elements, three matrices. */
BODY(trip_of_many) {
    lam_tensor *x = in[0], *y = in[1], *e = in[2], *g = in[3];
    out[0] = lam_mul(lam_tanh(lam_add(lam_matvec(in[4], x), e)), lam_cos(lam_matvec(in[5], y)));
    out[1] = lam_sub(lam_exp(lam_mul(-0.5, lam_square(lam_matvec(in[6], y)))), lam_sin(g));
    out[2] = lam_mul(lam_tanh(lam_matvec(in[5], e)), x);
    out[3] = lam_mul(lam_tanh(lam_matvec(in[5], g)), y);
}

BODY(loss_of_many) {
    (void)env;
    lam_tensor *y[4], *turned = lam_transpose(in[1], LAM_AXES(1, 0)), *half = lam_mul(0.5, in[1]);
    lam_fn *f = lam_fn_new(ctx, &(lam_fn_options){.name = "trip",
                                                  .body = trip_of_many,
                                                  .inputs = 4,
                                                  .outputs = 4,
                                                  .captures = LAM_LIST(in[1], turned, half)});
    lam_list carries = LAM_LIST(in[0], lam_cos(in[0])), elements = LAM_LIST(in[2], lam_reverse(in[2], LAM_AXES(0)));
    lam_scan(f, carries, elements, y, 4, NULL);
    out[0] = lam_add(lam_dot(y[0], y[1]), lam_sum(lam_mul(y[2], lam_square(y[3])), NULL));
}

START_TEST(several_of_each_kind) {
    lam_fn *f = FN(loss_of_many, 3, 1);
    compare("many", lam_grad(f, &(lam_grad_options){.argnums = LAM_AXES(0, 1, 2)}), operands(), 3);
    compare("many", lam_hessian(f, &(lam_jacobian_options){.argnums = LAM_AXES(0)}), operands(), 1);
}
END_TEST

/* ---- loops that end by a condition ------------------------------------------------------------------------------- */

/* in: trips left, x, a matrix, an element. */
BODY(is_left) {
    out[0] = lam_gt(in[0], 0);
}

BODY(counted_trip) {
    const trip_case *k = env;
    out[0] = lam_sub(in[0], 1);
    out[1] = k->step(in[1], in[2], in[3]);
}

BODY(path_of_a_while) {
    lam_tensor *y[2];
    lam_fn *f = lam_fn_new(ctx, &(lam_fn_options){.name = "trip",
                                                  .body = counted_trip,
                                                  .inputs = 2,
                                                  .outputs = 2,
                                                  .env = env,
                                                  .captures = LAM_LIST(in[2], in[3])});
    lam_while(FN(is_left, 2, 1), f, LAM_LIST(in[0], in[1]), y, 2);
    out[0] = y[1];
}

BODY(loss_of_a_while) {
    lam_tensor *path;
    path_of_a_while(ctx, in, &path, env);
    out[0] = lam_sum(lam_square(path), NULL);
}

/* Of no trip, one, and more than there is room for at first. */
START_TEST(whiles_compiled) {
    enum { RUNS = 4 };
    static const int64_t trips[RUNS] = {0, 1, 6, 31};
    const trip_case *k = &cases[_i];
    lam_fn *f = FN_ENV(loss_of_a_while, 4, 1, (void *)(uintptr_t)k);
    lam_list all = operands();
    lam_tensor *operands_of[RUNS][4];
    lam_list in[RUNS];
    for (int r = 0; r < RUNS; r++) {
        operands_of[r][0] = lam_array(ctx, LAM_I64, LAM_DIMS0, &trips[r]);
        operands_of[r][1] = all.items[0], operands_of[r][2] = all.items[1];
        operands_of[r][3] = lam_index(all.items[2], 0, 3);
        in[r] = (lam_list){4, operands_of[r]};
    }
    compare_all(k->name, lam_grad(f, &(lam_grad_options){.argnums = LAM_AXES(1, 2, 3)}), RUNS, in, 3);
    compare_all(k->name, lam_hessian(f, &(lam_jacobian_options){.argnums = LAM_AXES(1)}), RUNS, in, 1);
}
END_TEST

/* A batch of cotangents has one way there. */
START_TEST(rows_of_jacobians_compiled) {
    const trip_case *k = &cases[_i];
    const int64_t trips = 7;
    lam_list all = operands();
    lam_list in =
        LAM_LIST(lam_array(ctx, LAM_I64, LAM_DIMS0, &trips), all.items[0], all.items[1], lam_index(all.items[2], 0, 3));
    lam_fn *f = FN_ENV(path_of_a_while, 4, 1, (void *)(uintptr_t)k);
    compare(k->name, lam_jacrev(f, &(lam_jacobian_options){.argnums = LAM_AXES(1, 2)}), in, 2);
}
END_TEST

/* in: trips left, x. Sorting is a call, which asks for memory. */
BODY(sorting_trip) {
    out[0] = lam_sub(in[0], 1);
    out[1] = lam_mul(0.9, lam_sort(lam_sin(in[1]), 0));
}

/* Of y, what the loop gives: the sum, whose way back does not read y, or that of squares. */
BODY(sorting_loss) {
    lam_tensor *y[2];
    lam_while(FN(is_left, 2, 1), FN(sorting_trip, 2, 2), LAM_LIST(in[0], in[1]), y, 2);
    out[0] = lam_sum(*(const bool *)env ? lam_square(y[1]) : y[1], NULL);
}

/* Requests for memory of a call with so many trips, of which one has been made before. */
static double requests_of(lam_fn *f, int64_t trips) {
    lam_tensor *left = lam_array(ctx, LAM_I64, LAM_DIMS0, &trips), *x = lam_index(operands().items[2], 0, 0);
    size_t before = 0;
    for (int run = 0; run < 2; run++) {
        before = requests_made();
        EXPECT_SAME(lam_sum(apply2(f, left, x), NULL), lam_sum(apply2(f, left, x), NULL), 0);
    }
    return (double)(requests_made() - before);
}

static double requests_of_trip(lam_fn *f) {
    lam_fn *jitted = lam_jit(f, NULL);
    return (requests_of(jitted, 60) - requests_of(jitted, 20)) / 80;
}

/* A gradient that reads what the loop gives makes it for that and for the way back at once. */
START_TEST(the_loop_is_made_once) {
    static const bool square = true, plain = false;
    const lam_grad_options o = {.argnums = LAM_AXES(1)};
    lam_fn *squares = FN_ENV(sorting_loss, 2, 1, (void *)(uintptr_t)&square);
    lam_fn *sum = FN_ENV(sorting_loss, 2, 1, (void *)(uintptr_t)&plain);
    const double there = requests_of_trip(squares), both = requests_of_trip(lam_grad(squares, &o)),
                 back = requests_of_trip(lam_grad(sum, &o)); /* and there, for itself */
    ck_assert_double_ge(there, 1);
    ck_assert_double_lt(both, back + there / 2);
}
END_TEST

/* ---- memory ------------------------------------------------------------------------------------------------------ */

/* What takes more memory than a few times what is there anyway is computed again: products of small carries with what
 * makes them large. */
BODY(large_trip) {
    lam_tensor *wide = lam_exp(lam_mul(in[0], in[1]));
    out[0] = lam_add(in[0], lam_mul(1e-7, lam_sum(wide, NULL)));
}

BODY(large_loss) {
    lam_fn *f = lam_fn_new(
        ctx,
        &(lam_fn_options){.name = "trip", .body = large_trip, .inputs = 1, .outputs = 1, .captures = LAM_LIST(in[1])});
    lam_scan(f, LAM_LIST(in[0]), LAM_LIST(), out, 1, &(lam_scan_options){.length = 300});
}

START_TEST(what_is_large_is_made_again) {
    lam_tensor *x = num(0.5), *wide = lam_linspace(ctx, LAM_F64, -1, 1, 20000);
    lam_program *program = lam_trace(lam_grad(FN(large_loss, 2, 1), NULL), LAM_LIST(x, wide));
    lam__program *p = lam__program_of(program);
    ck_assert_msg(p != NULL, "%s", lam_error(ctx));
    const int before = count_of(program, "exp");
    p->refs++;
    p = lam__residuals_keep(lam__program_plain(p));
    ck_assert_ptr_nonnull(p);
    ck_assert_int_eq(before, 2);
    ck_assert_int_eq(count_of(lam__program_fn(ctx, p, "kept"), "exp"), 2);
}
END_TEST

/* What the loop has kept for its way back, which is some hundred kilobytes, goes with that. */
START_TEST(rows_are_given_up) {
    static const bool square = true;
    const int64_t trips = 5000;
    lam_tensor *left = lam_array(ctx, LAM_I64, LAM_DIMS0, &trips), *x = lam_index(operands().items[2], 0, 0);
    lam_fn *f = FN_ENV(sorting_loss, 2, 1, (void *)(uintptr_t)&square);
    lam_fn *jitted = lam_jit(lam_grad(f, &(lam_grad_options){.argnums = LAM_AXES(1)}), NULL);
    size_t bytes[2];
    for (int run = 0; run < 2; run++) {
        lam_drop(apply2(jitted, left, x));
        bytes[run] = lam_ctx_bytes(ctx);
    }
    EXPECT_OK();
    ck_assert_uint_eq(bytes[0], bytes[1]);
    ck_assert_uint_lt(bytes[0], 5000 * N * sizeof(double));
}
END_TEST

/* Of large rows there is room for few trips before they are made. */
START_TEST(rows_of_no_trips) {
    static const bool square = true;
    const int64_t none = 0, elements = 100000;
    lam_tensor *left = lam_array(ctx, LAM_I64, LAM_DIMS0, &none), *x = lam_full(ctx, LAM_F64, LAM_DIMS(elements), 0.5);
    lam_fn *f = FN_ENV(sorting_loss, 2, 1, (void *)(uintptr_t)&square);
    lam_fn *jitted = lam_jit(lam_grad(f, &(lam_grad_options){.argnums = LAM_AXES(1)}), NULL);
    EXPECT_SAME(apply2(jitted, left, x), lam_mul(2.0, x), 0);
    lam_ctx_reset_peak(ctx);
    const size_t before = lam_ctx_bytes(ctx);
    EXPECT_SAME(apply2(jitted, left, x), lam_mul(2.0, x), 0);
    EXPECT_OK();
    ck_assert_uint_lt(lam_ctx_peak_bytes(ctx) - before, 10 * (size_t)elements * sizeof(double));
}
END_TEST

static void compiled_gradient(const void *env) {
    lam_tensor *out[3];
    lam_list in = operands();
    if (lam_failed(in.items[2])) return;
    (void)lam_call(lam_jit(gradient_of(env), NULL), in, out, 3);
}

static void compiled_while(const void *env) {
    const int64_t trips = 3;
    lam_tensor *out[3];
    lam_list all = operands();
    lam_fn *f = FN_ENV(loss_of_a_while, 4, 1, (void *)(uintptr_t)env);
    lam_list in =
        LAM_LIST(lam_array(ctx, LAM_I64, LAM_DIMS0, &trips), all.items[0], all.items[1], lam_index(all.items[2], 0, 3));
    (void)lam_call(lam_jit(lam_grad(f, &(lam_grad_options){.argnums = LAM_AXES(1, 2, 3)}), NULL), in, out, 3);
}

START_TEST(memory_refused_where_it_is_kept) {
    memory_refused_in(_i ? compiled_while : compiled_gradient, &cases[2]);
}
END_TEST

Suite *suite_transforms_residuals(void) {
    Suite *suite = SUITE_OF("transforms/residuals", what_is_large_is_made_again, several_of_each_kind,
                            the_loop_is_made_once, rows_are_given_up, rows_of_no_trips);
    suite_loop(suite, what_is_kept_is_done_once, CASES);
    suite_loop(suite, programs_give_the_same, CASES);
    suite_loop(suite, what_is_kept_is_kept_once, CASES);
    suite_loop(suite, gradients_compiled, CASES);
    suite_loop(suite, transforms_of_gradients_compiled, CASES);
    suite_loop(suite, whiles_compiled, CASES);
    suite_loop(suite, rows_of_jacobians_compiled, CASES);
    suite_loop(suite, memory_refused_where_it_is_kept, 2);
    return suite;
}
