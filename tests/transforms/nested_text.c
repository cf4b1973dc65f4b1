/* Texts of programs with choices and loops: what they look like, and what is refused. That all are read back is shown
 * by nested.c. */
#define _GNU_SOURCE /* open_memstream */
#include "tests/support.h"
#include "tests/transforms/build.h"

#include <lamina/control.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

BODY(wave) {
    out[0] = lam_sin(lam_mul(in[0], in[1]));
}

BODY(root) {
    out[0] = lam_mul(lam_sqrt(in[0]), in[1]);
}

/* A root on one side only, where it has a slope. */
BODY(choice) {
    lam_tensor *y;
    lam_cond(lam_gt(lam_sum(in[0], NULL), 1.0), FN(wave, 2, 1), FN(root, 2, 1), LAM_LIST(in[0], in[1]), &y, 1);
    out[0] = lam_sum(lam_mul(y, in[1]), NULL);
}

START_TEST(a_choice_as_text) {
    char *text = printed_text(lam_trace(FN(choice, 2, 1), LAM_LIST(VEC(0.5, 0.7, 0.9), VEC(0.3, 0.2, 0.4))));
    ck_assert_str_eq(text, "program choice(v0: f64[3], v1: f64[3]) {\n"
                           "    v2: f64[] = sum(v0) axes=[0]\n"
                           "    v3: bool[] = gt(v2, 1:f64)\n"
                           "    v4: i64[] = cast(v3) dtype=i64\n"
                           "    v5: f64[3] = switch(v4, v0, v1) {\n"
                           "        program root(v0: f64[3], v1: f64[3]) {\n"
                           "            v2: f64[3] = sqrt(v0)\n"
                           "            v3: f64[3] = mul(v2, v1)\n"
                           "            return v3\n"
                           "        }\n"
                           "        program wave(v0: f64[3], v1: f64[3]) {\n"
                           "            v2: f64[3] = mul(v0, v1)\n"
                           "            v3: f64[3] = sin(v2)\n"
                           "            return v3\n"
                           "        }\n"
                           "    }\n"
                           "    v6: f64[3] = mul(v5, v1)\n"
                           "    v7: f64[] = sum(v6) axes=[0]\n"
                           "    return v7\n"
                           "}\n");
    free(text);
}
END_TEST

BODY(tenfold) {
    out[0] = lam_mul(lam_sin(in[0]), in[1]);
    out[1] = lam_exp(out[0]);
    out[2] = lam_cos(in[1]);
}

BODY(last_of_tenfold) {
    lam_tensor *y[3];
    lam_scan(FN(tenfold, 2, 3), LAM_LIST(in[0]), LAM_LIST(lam_exp(in[1])), y, 3, NULL);
    out[0] = y[0];
}

/* What trips give beside the carry, and what that is made of. */
START_TEST(what_nobody_reads_of_a_loop_is_not_there) {
    lam_fn *f = FN(last_of_tenfold, 2, 1);
    lam_list at = LAM_LIST(num(0.5), lam_linspace(ctx, LAM_F64, 1, 2, 70));
    char *text = printed_text(lam_trace(f, at));
    ck_assert_str_eq(text,
                     "program last_of_tenfold(v0: f64[], v1: f64[70]) {\n"
                     "    v2: f64[70] = exp(v1)\n"
                     "    v3: f64[] = scan(v0, v2) carries=1, elements=1, length=70, reverse=false, batch=false {\n"
                     "        program tenfold(v0: f64[], v1: f64[]) {\n"
                     "            v2: f64[] = sin(v0)\n"
                     "            v3: f64[] = mul(v2, v1)\n"
                     "            return v3\n"
                     "        }\n"
                     "    }\n"
                     "    return v3\n"
                     "}\n");
    free(text);
}
END_TEST

BODY(first) {
    out[0] = lam_sin(in[0]);
}

BODY(by_second) {
    out[0] = lam_mul(in[0], in[1]);
}

/* A function of two inputs, of which its rule reads the second. */
BODY(with_rule) {
    lam_custom_options by_first = {.nondiff = LAM_AXES(1)};
    lam_fn *f = lam_custom_vjp(FN(first, 2, 1), FN(first, 2, 1), FN(by_second, 2, 1), &by_first);
    out[0] = lam_apply(f, LAM_LIST(in[0], lam_exp(in[1])));
}

/* Outside of the choice, and in one of its functions. */
BODY(choice_with_rule) {
    lam_tensor *x = lam_apply(FN(with_rule, 2, 1), LAM_LIST(in[0], in[1]));
    lam_cond(lam_gt(x, 0), FN(with_rule, 2, 1), FN(wave, 2, 1), LAM_LIST(x, in[1]), out, 1);
}

/* The text has what results need. What only a rule reads is none of it, though derivatives of the program do need it:
 * those of the two sines are exp(2) by the rule. */
START_TEST(what_only_a_rule_reads_is_not_there) {
    lam_list at = LAM_LIST(num(0.5), num(2));
    lam_fn *p = lam_trace(FN(choice_with_rule, 2, 1), at);
    char *text = printed_text(p), *again = printed_text(lam_program_read(ctx, text));
    EXPECT_OK();
    ck_assert_str_eq(text, "program choice_with_rule(v0: f64[], v1: f64[]) {\n"
                           "    v2: f64[] = sin(v0)\n"
                           "    v3: bool[] = gt(v2, 0:f64)\n"
                           "    v4: i64[] = cast(v3) dtype=i64\n"
                           "    v5: f64[] = switch(v4, v2, v1) {\n"
                           "        program wave(v0: f64[], v1: f64[]) {\n"
                           "            v2: f64[] = mul(v0, v1)\n"
                           "            v3: f64[] = sin(v2)\n"
                           "            return v3\n"
                           "        }\n"
                           "        program with_rule(v0: f64[], v1: f64[]) {\n"
                           "            v2: f64[] = sin(v0)\n"
                           "            return v2\n"
                           "        }\n"
                           "    }\n"
                           "    return v5\n"
                           "}\n");
    ck_assert_str_eq(again, text);
    ck_assert_ptr_null(strstr(emitted_text(p, NULL), "exp("));
    EXPECT_NEAR(lam_apply(lam_grad(p, NULL), at), 1e-14, LAM_DIMS0, exp(4));
    free(again);
    free(text);
}
END_TEST

BODY(is_small) {
    out[0] = lam_lt(in[0], 100.0);
}

BODY(twice) {
    out[0] = lam_mul(in[0], lam_add(in[0], 1.0));
}

BODY(grown) {
    lam_while(FN(is_small, 1, 1), FN(twice, 1, 1), LAM_LIST(in[0]), out, 1);
}

/* What was printed is no mistake of whoever gives it back. */
START_TEST(the_way_back_through_a_while_cannot_be_read) {
    char *text = printed_text(lam_trace(lam_grad(FN(grown, 1, 1), NULL), LAM_LIST(num(2))));
    ck_assert_ptr_nonnull(strstr(text, "opaque"));
    lam_program_read(ctx, text);
    EXPECT_ERROR(LAM_ERR_VALUE, "'control' is opaque: code in C", "lam_while", "by lam_trace");
    free(text);
}
END_TEST

#define SCAN(parameters, body)                                                                                         \
    "program f(v0: f64[], v1: f64[4]) {\n v2: f64[], v3: f64[4] = scan(v0, v1) " parameters " {\n" body " }\n"         \
    " return v2, v3\n}\n"
#define BODY_TEXT "program g(v0: f64[], v1: f64[]) {\n v2: f64[] = add(v0, v1)\n return v2, v1\n}\n"
#define RIGHT     "carries=1, elements=1, length=4, reverse=false, batch=false"

START_TEST(texts_of_loops_that_are_wrong_are_refused) {
    static const struct {
        const char *text, *message;
        lam_status status;
    } rows[] = {
        {SCAN("carries=1, elements=1, length=5, reverse=false, batch=false", BODY_TEXT), "another length",
         LAM_ERR_SHAPE},
        {SCAN("carries=0, elements=1, length=4, reverse=false, batch=false", BODY_TEXT), "scan", LAM_ERR_SHAPE},
        {SCAN("carries=3, elements=1, length=4, reverse=false, batch=false", BODY_TEXT), "in number", LAM_ERR_ARITY},
        {SCAN("carries=-1, elements=1, length=4, reverse=false, batch=false", BODY_TEXT), "in number", LAM_ERR_ARITY},
        {SCAN("carries=1, elements=1, length=4, reverse=false, batch=true", BODY_TEXT), "in number", LAM_ERR_ARITY},
        {SCAN(RIGHT, ""), "in number", LAM_ERR_ARITY},
        {SCAN(RIGHT, BODY_TEXT BODY_TEXT), "in number", LAM_ERR_ARITY},
        {SCAN(RIGHT, "program g(v0: f64[]) {\n return v0, v0\n}\n"), "another number of inputs", LAM_ERR_ARITY},
        {SCAN(RIGHT, "program g(v0: f32[], v1: f64[]) {\n return v0, v1\n}\n"), "another type", LAM_ERR_DTYPE},
        {SCAN(RIGHT, "program g(v0: f64[], v1: f64[]) {\n return v0\n}\n"), "number of outputs", LAM_ERR_ARITY},
        {SCAN(RIGHT, "program g(v0: f64[], v1: f64[]) {\n return 1:f32, v1\n}\n"), "carry 0 is f64[] and becomes f32[]",
         LAM_ERR_DTYPE},
        {SCAN(RIGHT, "program g(v0: f64[], v1: f64[]) {\n return v0, v9\n}\n"), "'v9' is not bound", LAM_ERR_VALUE},
        {SCAN(RIGHT, "program g(v0: f64[], v1: f64[]) {\n v2: f64[3] = sin(v0)\n return v0, v1\n}\n"), "'g'",
         LAM_ERR_SHAPE},
        {"program f(v0: i64[]) {\n v1: f64[] = switch(v0)\n return v1\n}\n", "'{' expected", LAM_ERR_VALUE},
        {"program f(v0: i64[]) {\n v1: f64[] = switch(v0) {\n program a() {\n return 1:f64\n }\n program b() {\n"
         " return 1:i64\n }\n }\n return v1\n}\n",
         "output 0 of 'a' is f64[], that of 'b' is i64[]", LAM_ERR_DTYPE},
        {"program f(v0: f64[]) {\n v1: f64[] = switch(v0) {\n program a() {\n return 1:f64\n }\n }\n return v1\n}\n",
         "not an i64 of rank 0", LAM_ERR_SHAPE},
        {"program f(v0: f64[]) {\n v1: f64[] = while(v0) carries=1 {\n program a(v0: f64[]) {\n return v0\n }\n }\n"
         " return v1\n}\n",
         "in number", LAM_ERR_ARITY},
        {"program f(v0: f64[2]) {\n v1: f64[2] = while(v0) carries=1 {\n program a(v0: f64[2]) {\n return v0\n }\n"
         " program b(v0: f64[2]) {\n return v0\n }\n }\n return v1\n}\n",
         "'a' gives no bool of rank 0", LAM_ERR_SHAPE},
    };
    lam_tensor *y[2];
    lam_call(lam_program_read(ctx, SCAN(RIGHT, BODY_TEXT)), LAM_LIST(num(1), VEC(1, 2, 3, 4)), y, 2);
    EXPECT_NUM(y[0], 11);
    EXPECT(y[1], LAM_DIMS(4), 1, 2, 3, 4);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ck_assert_msg(lam_failed(lam_program_read(ctx, rows[i].text)), "%s", rows[i].text);
        EXPECT_ERROR(rows[i].status, rows[i].message);
    }
}
END_TEST

/* Programs around programs, deeper than any are. */
START_TEST(programs_that_are_too_deep_are_refused) {
    enum { DEPTH = 1000 };
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    for (int i = 0; i < DEPTH; i++) fputs("program f(v0: i64[]) {\n v1: i64[] = switch(v0, v0) {\n", file);
    ck_assert_int_eq(fclose(file), 0);
    ck_assert(lam_failed(lam_program_read(ctx, text)));
    EXPECT_ERROR(LAM_ERR_VALUE, "programs around one");
    free(text);
}
END_TEST

/* i, x, a, b -> a x + b */
BODY(drawn_in) {
    out[0] = lam_add(lam_mul(in[2], in[1]), in[3]);
}

BODY(drawn_on) {
    const int64_t *trips = env;
    lam_fn_options o = {.name = "drawn_in", .body = drawn_in, .inputs = 2, .outputs = 1};
    o.captures = LAM_LIST(in[1], in[2]);
    lam_fori(0, *trips, lam_fn_new(ctx, &o), LAM_LIST(in[0]), out, 1);
}

/* A loop is one in the text and in C, though it works on numbers alone, and so is its gradient: that is as long for ten
 * trips as for thousands. By b it is (1 - a^n) / (1 - a). */
START_TEST(loops_stay_loops) {
    static const int64_t trips[] = {10, 5000};
    size_t bytes[2][2];
    for (int k = 0; k < 2; k++) {
        int64_t n = trips[k];
        lam_fn *f = lam_grad(FN_ENV(drawn_on, 3, 1, &n), &(lam_grad_options){.argnums = LAM_AXES(2)});
        lam_program *p = lam_trace(f, LAM_LIST(num(1), num(0.5), num(2)));
        char *text = printed_text(p);
        ck_assert_ptr_nonnull(strstr(text, " = scan("));
        bytes[k][0] = strlen(text);
        bytes[k][1] = strlen(emitted_text(p, NULL));
        free(text);
        EXPECT_SAME(lam_apply(p, LAM_LIST(num(1), num(0.999), num(2))), num((1 - pow(0.999, n)) / (1 - 0.999)), 1e-10);
    }
    for (int i = 0; i < 2; i++) ck_assert_uint_lt(bytes[1][i], bytes[0][i] + 100);
    ck_assert_uint_lt(bytes[1][1], 4096);
    EXPECT_OK();
}
END_TEST

/* Each byte of a text of loops in turn is another one: it is read, or refused, and what is read can be checked. */
START_TEST(texts_of_loops_with_a_wrong_byte) {
    lam_fn *f = lam_grad(FN(choice, 2, 1), NULL);
    char *text = printed_text(lam_trace(f, LAM_LIST(VEC(0.5, 0.7, 0.9), VEC(0.3, 0.2, 0.4))));
    uint64_t state = 1;
    for (size_t i = 0; text[i]; i++) {
        const char was = text[i];
        text[i] = "0123456789{}()[]=:,-vcif \n\""[random_below(&state, 27)];
        lam_program *read = lam_program_read(ctx, text);
        if (!lam_failed(read)) ck_assert_int_eq(lam_program_check(read), LAM_OK);
        lam_clear_error(ctx);
        text[i] = was;
    }
    free(text);
}
END_TEST

/* How often a word stands in a text. */
static int times_of(const char *text, const char *word) {
    int times = 0;
    for (const char *at = text; (at = strstr(at, word)); at++) times++;
    return times;
}

BODY(below_ten) {
    out[0] = lam_lt(in[1], 10);
}

/* The number of a trip goes with what is squashed in it; w is found outside. */
BODY(squash) {
    lam_tensor *w = env;
    out[0] = lam_tanh(lam_mul(w, in[0]));
    out[1] = lam_add(in[1], 1);
}

BODY(squashed_often) {
    lam_tensor *y[2], *start = lam_cast(lam_ge(in[0], 1e6), LAM_I64);
    lam_while(FN(below_ten, 2, 1), FN_ENV(squash, 2, 2, in[1]), LAM_LIST(in[0], start), y, 2);
    out[0] = lam_square(y[0]);
}

/* Trips give a number and an integer. */
BODY(squash_and_tell) {
    out[0] = lam_tanh(lam_mul(in[1], in[0]));
    out[1] = lam_square(out[0]);
    out[2] = lam_cast(lam_mul(out[0], 10), LAM_I64);
}

BODY(squashed_by_each) {
    lam_tensor *y[3];
    lam_scan(FN(squash_and_tell, 2, 3), LAM_LIST(in[0]), LAM_LIST(lam_mul(in[1], lam_linspace(ctx, LAM_F64, 1, 2, 70))),
             y, 3, NULL);
    out[0] = lam_add(lam_sum(lam_mul(y[1], y[2]), NULL), y[0]);
}

BODY(stay_and_tell) {
    out[0] = in[0];
    out[1] = in[1];
    out[2] = lam_cast(in[0], LAM_I64);
}

BODY(squashed_or_not) {
    lam_tensor *y[3];
    lam_cond(lam_gt(in[0], 0.1), FN(squash_and_tell, 2, 3), FN(stay_and_tell, 2, 3), LAM_LIST(in[0], in[1]), y, 3);
    out[0] = lam_add(lam_mul(y[1], y[2]), y[0]);
}

/* Values are those that the loop of derivatives gives; one for values alone would be a second one, which might make
 * other trips. */
START_TEST(forward_mode_has_one_loop) {
    static const struct {
        lam_body body;
        const char *word;
    } of[] = {{squashed_often, " = while("}, {squashed_by_each, " = scan("}, {squashed_or_not, " = switch("}};
    lam_list at = LAM_LIST(num(0.7), num(1.3)), with = LAM_LIST(num(0.7), num(1.3), num(1), num(0.5));
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        lam_fn *f = function_of("f", of[k].body, 2, 1, NULL), *twice = lam_jvp_fn(f, NULL);
        lam_fn *made[] = {twice, lam_jacfwd(f, NULL), lam_jacfwd(lam_jacfwd(f, NULL), NULL), lam_jacfwd(twice, NULL)};
        for (int i = 0; i < 4; i++) {
            lam_list in = i == 1 || i == 2 ? at : with;
            lam_program *p = lam_trace(made[i], in);
            char *text = printed_text(p);
            lam_tensor *want[4], *got[4];
            const size_t n = i == 0 || i == 3 ? 2 : 1;
            ck_assert_int_eq(times_of(text, of[k].word), 1);
            free(text);
            ck_assert_int_eq(lam_call(made[i], in, want, n), LAM_OK);
            ck_assert_int_eq(lam_call(p, in, got, n), LAM_OK);
            for (size_t o = 0; o < n; o++) EXPECT_SAME(got[o], want[o], 1e-13);
        }
    }
    EXPECT_OK();
}
END_TEST

/* Where tangents alone are recorded, values stay values: C code may read them. */
START_TEST(values_of_a_linearised_loop_are_known) {
    lam_tensor *y, *value = NULL;
    lam_fn *linear, *f = FN(squashed_often, 2, 1);
    lam_list at = LAM_LIST(num(0.7), num(1.3));
    lam_program *p = lam_trace(f, at);
    ck_assert_int_eq(lam_linearize(p, at, &value, 1, &linear, NULL), LAM_OK);
    ck_assert_double_eq_tol(lam_item(value), lam_item(lam_apply(f, at)), 1e-15);
    y = lam_apply(linear, LAM_LIST(num(1), num(0.5)));
    EXPECT_SAME(y,
                lam_add(lam_apply(lam_jacfwd(f, NULL), at),
                        lam_mul(0.5, lam_apply(lam_jacfwd(f, &(lam_jacobian_options){.argnums = LAM_AXES(1)}), at))),
                1e-13);
    EXPECT_OK();
}
END_TEST

Suite *suite_transforms_nested_text(void) {
    return SUITE_OF("transforms/nested_text", a_choice_as_text, what_nobody_reads_of_a_loop_is_not_there,
                    what_only_a_rule_reads_is_not_there, texts_of_loops_that_are_wrong_are_refused, loops_stay_loops,
                    the_way_back_through_a_while_cannot_be_read, programs_that_are_too_deep_are_refused,
                    texts_of_loops_with_a_wrong_byte, forward_mode_has_one_loop, values_of_a_linearised_loop_are_known);
}
