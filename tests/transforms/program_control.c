/* Programs with choices and loops in them: each function, through every nesting of two transforms, recorded, printed
 * and read back, against the same nesting of forward mode, reverse mode and vmap as it is, in which nothing is
 * recorded. Points are such that branches, trips and lanes differ. */
#define _POSIX_C_SOURCE 200809L /* open_memstream */
#include "tests/support.h"

#include <stdio.h>
#include <stdlib.h>

enum { N = 3, POINTS = 3, TRIPS = 70 };

static const double points[POINTS][N] = {{0.3, -0.2, 0.4}, {-0.5, 0.1, -0.3}, {0.9, 0.2, -0.1}};

/* ---- functions --------------------------------------------------------------------------------------------------- */

BODY(is_positive) {
    out[0] = lam_gt(lam_sum(in[0], NULL), 0.1);
}

BODY(half) {
    out[0] = lam_mul(0.5, in[0]);
}

BODY(plus_sine) {
    out[0] = lam_add(in[0], lam_sin(in[0]));
}

BODY(cube) {
    out[0] = lam_mul(in[0], lam_square(in[0]));
}

BODY(is_small) {
    out[0] = lam_lt(lam_sum(lam_square(in[0]), NULL), 9.0);
}

BODY(grows) {
    out[0] = lam_add(lam_mul(1.3, in[0]), lam_mul(0.1, lam_cos(in[0])));
}

/* The last input is a capture. */
BODY(scaled_step) {
    out[0] = lam_add(lam_mul(in[2], in[0]), lam_sin(in[1]));
    out[1] = lam_mul(out[0], in[1]);
}

BODY(chooses) {
    lam_tensor *y = NULL;
    lam_cond(apply1(FN(is_positive, 1, 1), in[0]), FN(cube, 1, 1), FN(plus_sine, 1, 1), LAM_LIST(in[0]), &y, 1);
    out[0] = lam_sum(y, NULL);
}

BODY(switches) {
    lam_tensor *y = NULL, *which = lam_cast(lam_floor(lam_mul(2.0, lam_sum(in[0], NULL))), LAM_I64);
    lam_fn *branches[] = {FN(cube, 1, 1), FN(plus_sine, 1, 1), FN(half, 1, 1)};
    lam_switch(which, branches, 3, LAM_LIST(in[0]), &y, 1);
    out[0] = lam_sum(lam_mul(y, in[0]), NULL);
}

BODY(loops) {
    lam_tensor *y = NULL;
    lam_while(FN(is_small, 1, 1), FN(grows, 1, 1), LAM_LIST(in[0]), &y, 1);
    out[0] = lam_sum(lam_square(y), NULL);
}

BODY(loops_where_chosen) {
    lam_tensor *y = NULL;
    lam_cond(apply1(FN(is_positive, 1, 1), in[0]), FN(loops, 1, 1), FN(chooses, 1, 1), LAM_LIST(in[0]), &y, 1);
    out[0] = lam_mul(0.25, y);
}

BODY(scans) {
    lam_tensor *y[2], *sum = lam_sum(in[0], NULL);
    lam_fn_options step = {"scaled_step", scaled_step, 2, 2, .captures = LAM_LIST(lam_mul(0.9, lam_cos(sum)))};
    lam_tensor *xs = lam_mul(lam_broadcast_to(sum, LAM_DIMS(TRIPS)), lam_linspace(here, LAM_F64, 0, 1, TRIPS));
    lam_scan(lam_fn_new(here, &step), LAM_LIST(sum), LAM_LIST(xs), y, 2, NULL);
    out[0] = lam_add(y[0], lam_sum(y[1], NULL));
}

static const struct {
    const char *name;
    lam_body body;
} functions[] = {{"chooses", chooses},
                 {"switches", switches},
                 {"loops", loops},
                 {"loops_where_chosen", loops_where_chosen},
                 {"scans", scans}};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

/* ---- transforms, of a function of N numbers to a number, to another such ----------------------------------------- */

static lam_tensor *weights(void) {
    return VEC(1, -0.5, 0.25);
}

BODY(gradient) {
    out[0] = lam_sum(lam_mul(apply1(lam_grad(env, NULL), in[0]), weights()), NULL);
}

BODY(tangent) {
    lam_tensor *y;
    lam_jvp(env, LAM_LIST(in[0]), LAM_LIST(weights()), &y, &out[0], 1, NULL);
}

BODY(batch) {
    lam_tensor *rows = lam_stack(LAM_LIST(in[0], lam_mul(-0.7, in[0]), lam_mul(0.3, in[0])), 0);
    out[0] = lam_sum(lam_mul(apply1(lam_vmap(env, NULL), rows), weights()), NULL);
}

BODY(recomputed) {
    out[0] = apply1(lam_checkpoint(env, NULL), in[0]);
}

BODY(jitted) {
    out[0] = apply1(lam_jit(env, NULL), in[0]);
}

BODY(traced) {
    out[0] = apply1(lam_trace(env, LAM_LIST(in[0])), in[0]);
}

BODY(linearized) {
    lam_tensor *y;
    lam_fn *linear;
    lam_linearize(env, LAM_LIST(in[0]), &y, 1, &linear, NULL);
    out[0] = apply1(linear, weights());
}

BODY(transposed) {
    lam_tensor *y;
    lam_fn *linear;
    lam_linearize(env, LAM_LIST(in[0]), &y, 1, &linear, NULL);
    out[0] = lam_sum(lam_mul(apply1(lam_linear_transpose(linear, LAM_LIST(in[0])), num(1)), weights()), NULL);
}

/* plain: what gives the same and records nothing; NULL: the function itself. */
static const struct {
    const char *name;
    lam_body body, plain;
} transforms[] = {{"gradient", gradient, gradient},
                  {"tangent", tangent, tangent},
                  {"batch", batch, batch},
                  {"recomputed", recomputed, NULL},
                  {"jitted", jitted, NULL},
                  {"traced", traced, NULL},
                  {"linearized", linearized, tangent},
                  {"transposed", transposed, gradient}};
enum { TRANSFORMS = sizeof transforms / sizeof *transforms, NESTINGS = TRANSFORMS * TRANSFORMS };

static lam_fn *nested(int f, int nesting, bool plain) {
    lam_fn *made = function_of(functions[f].name, functions[f].body, 1, 1, NULL);
    for (int i = 0; i < 2; i++, nesting /= TRANSFORMS) {
        const int t = nesting % TRANSFORMS;
        const lam_body body = plain ? transforms[t].plain : transforms[t].body;
        if (body) made = function_of(transforms[t].name, body, 1, 1, made);
    }
    return made;
}

/* ---- the comparison ---------------------------------------------------------------------------------------------- */

/* The function of the program's text; NULL where a part of it is code that has none, as recomputation has. */
static lam_program *read_back(lam_program *program) {
    char *text = NULL, *again = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    ck_assert_int_eq(lam_program_print(file, program), LAM_OK);
    fclose(file);
    lam_program *read = strstr(text, "opaque") ? NULL : lam_program_read(ctx, text);
    if (read) {
        file = open_memstream(&again, &size);
        ck_assert_int_eq(lam_program_print(file, read), LAM_OK);
        fclose(file);
        ck_assert_msg(!strcmp(text, again), "%.400s\nis read as\n%.400s", text, again);
    }
    free(text);
    free(again);
    return read;
}

static void compare(int f, int nesting) {
    lam_scope *scope = lam_scope_begin(ctx);
    lam_fn *g = nested(f, nesting, false), *plain = nested(f, nesting, true);
    lam_program *program = lam_trace(g, LAM_LIST(VEC(0, 0, 0))), *read = read_back(program);
    lam_type type;
    ck_assert_int_eq(lam_eval_shape(g, LAM_LIST(VEC(0, 0, 0)), &type, 1), LAM_OK);
    ck_assert_int_eq(type.rank, 0);
    for (int k = 0; k < POINTS; k++) {
        lam_tensor *x = vector_of(points[k], N), *want = apply1(plain, x);
        EXPECT_SAME(apply1(g, x), want, 1e-10);
        EXPECT_SAME(apply1(program, x), want, 1e-10);
        if (read) EXPECT_SAME(apply1(read, x), apply1(program, x), 0);
    }
    ck_assert_int_eq(lam_scope_end(scope, NULL, 0), LAM_OK);
}

/* Nesting _i of each function. */
START_TEST(every_nesting_of_two) {
    for (int f = 0; f < FUNCTIONS; f++) compare(f, _i);
}
END_TEST

BODY(cosine_of_second) {
    out[0] = lam_cos(in[1]);
}

BODY(sine_of_second) {
    out[0] = lam_sin(in[1]);
}

/* The first input, which it is differentiated by, chooses and is handed on, and no branch uses it. */
BODY(chooses_of_second) {
    lam_fn *f = FN(cosine_of_second, 2, 1), *g = FN(sine_of_second, 2, 1);
    lam_cond(apply1(FN(is_positive, 1, 1), in[0]), f, g, LAM_LIST(in[0], in[1]), out, 1);
}

START_TEST(jacobians_by_what_no_branch_uses_are_zero) {
    lam_fn *f = lam_jacobian(FN(chooses_of_second, 2, 1), NULL);
    lam_program *p = lam_trace(f, LAM_LIST(VEC(0, 0), num(0)));
    EXPECT(apply2(f, VEC(1, 2), num(3)), LAM_DIMS(2), 0, 0);
    EXPECT(apply2(p, VEC(1, 2), num(3)), LAM_DIMS(2), 0, 0);
}
END_TEST

BODY(is_below_one) {
    out[0] = lam_lt(in[0], 1.0);
}

BODY(plus_capture) {
    out[0] = lam_add(in[0], in[1]);
}

/* The last input is a capture: where the loop begins. The other is the step. */
BODY(steps_from) {
    lam_fn *step = lam_fn_new(here, &(lam_fn_options){"plus_capture", plus_capture, 1, 1, .captures = LAM_LIST(in[0])});
    lam_while(FN(is_below_one, 1, 1), step, LAM_LIST(in[1]), out, 1);
}

/* The program of steps_from, and its derivative by the step, which is the number of trips. */
BODY(program_of_steps) {
    lam_fn_options f = {"steps_from", steps_from, 1, 1, .captures = LAM_LIST(in[0])};
    lam_program *p = lam_trace(lam_fn_new(here, &f), LAM_LIST(num(0)));
    lam_type type;
    if (lam_eval_shape(lam_fn_new(here, &f), LAM_LIST(num(0)), &type, 1) != LAM_OK || type.rank) return;
    out[0] = apply1(p, num(0.75));
    out[1] = apply1(lam_grad(p, NULL), num(0.75));
}

/* Of each example it is known whether a first trip is made, but not what comes after it. */
START_TEST(examples_know_of_their_first_trips_alone) {
    lam_tensor *y[2];
    lam_call(lam_vmap(FN(program_of_steps, 1, 2), NULL), LAM_LIST(VEC(0.125, 0.5, -0.25, 1.5)), y, 2);
    EXPECT(y[0], LAM_DIMS(4), 1.625, 1.25, 1.25, 1.5);
    EXPECT(y[1], LAM_DIMS(4), 2, 1, 2, 0);
}
END_TEST

Suite *suite_transforms_program_control(void) {
    Suite *suite = SUITE_OF("transforms/program_control", jacobians_by_what_no_branch_uses_are_zero,
                            examples_know_of_their_first_trips_alone);
    suite_loop(suite, every_nesting_of_two, NESTINGS);
    return suite;
}
