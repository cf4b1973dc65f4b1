/* One nasty function through every nesting of the transforms to depth 3. Each transform is made an operator on
 * functions from R^4 to R (a derivative is contracted with a direction of its depth, a batch with weights), so that any
 * word of transforms is a function again; its value is computed once by the library and once in plain C on hyper-dual
 * numbers. */
#include "tests/compositions/hyper.h"
#include "tests/custom/styles.h"
#include "tests/support.h"

#include <float.h>

enum { SIZE = 4, DEPTH = 3, BATCH = 3 };

static const double direction[DEPTH][SIZE] = {{1, -0.5, 0.75, 0.25}, {-0.3, 0.8, 0.6, -1}, {0.5, 0.4, -0.9, 0.7}};
static const double captured[3] = {0.7, -1.1, 0.4};
static const double scale[BATCH] = {1, 0.8, -0.6}, shift[BATCH] = {0, 0.3, -0.2}, weight[BATCH] = {0.5, -1.25, 2};

/* ---- the function --------------------------------------------------------------------------------------------- */

/* in: x, and the captured vector c; env: the style in which some of the operations are called. With a = x[0:3] and b =
 * x[3]: q = sin(a) / a where a > 0 (elsewhere that would be NaN at 0), else 1 + b a^2; s = the rows of q (a + b)^T
 * summed with weights c; sum(exp(0.3 s)) + b sum(a) + log(1 + b^2). */
BODY(nasty) {
    style k = *(const style *)env;
    lam_tensor *a = lam_slice_axis(in[0], 0, 0, 3), *b = lam_index(in[0], 0, 3), *c = in[1];
    lam_tensor *positive = lam_gt(a, 0), *safe = lam_where(positive, a, 1);
    lam_tensor *q = lam_where(positive, lam_div(style_sin(k, a), safe), lam_add(1, style_mul(k, b, lam_square(a))));
    lam_tensor *m = style_mul(k, lam_expand_dims(q, 1), lam_add(a, b));
    lam_tensor *s = lam_sum(lam_mul(m, c), &(lam_reduce_options){.axes = LAM_AXES(1)});
    lam_tensor *t = lam_sum(style_exp(k, lam_mul(0.3, s)), NULL);
    out[0] = lam_add(lam_add(t, style_mul(k, b, lam_sum(a, NULL))), style_log(k, lam_add(1, lam_square(b))));
}

/* ---- the same by control flow ---------------------------------------------------------------------------------- */

static lam_fn *with_captures(const char *name, lam_body body, int inputs, void *env, lam_list captures) {
    return lam_fn_new(
        ctx, &(lam_fn_options){
                 .name = name, .body = body, .inputs = inputs, .outputs = 1, .env = env, .captures = captures});
}

BODY(sine_part) {
    out[0] = lam_div(style_sin(*(const style *)env, in[0]), in[0]);
}

BODY(square_part) {
    out[0] = lam_add(1, style_mul(*(const style *)env, in[1], lam_square(in[0])));
}

/* (a_i, b) -> q_i; b is an operand of one function and a capture of the other. */
BODY(chosen_part) {
    lam_fn *f = FN_ENV(sine_part, 1, 1, env);
    lam_fn *g = with_captures("square_part", square_part, 1, env, LAM_LIST(in[1]));
    lam_cond(lam_gt(in[0], 0), f, g, LAM_LIST(in[0]), out, 1);
}

/* s, a_j, c_j; q, b -> s + q (a_j + b) c_j. */
BODY(column) {
    lam_tensor *m = style_mul(*(const style *)env, in[3], lam_add(in[1], in[4]));
    out[0] = lam_add(in[0], lam_mul(m, in[2]));
}

BODY(exp_of_all) {
    out[0] = lam_psum(style_exp(*(const style *)env, lam_mul(0.3, in[0])), "rows");
}

/* i, sum; a -> sum + a_i. */
BODY(element_added) {
    out[0] = lam_add(in[1], lam_take(in[2], in[0], 0));
}

/* y > 1.2, and y / 2 with log(2) more, which together leave the logarithm as it is. */
BODY(large) {
    out[0] = lam_gt(in[0], 1.2);
}

BODY(halve) {
    out[0] = lam_mul(0.5, in[0]);
    out[1] = lam_add(in[1], log(2.0));
}

BODY(nasty_by_control) {
    style k = *(const style *)env;
    lam_tensor *a = lam_slice_axis(in[0], 0, 0, 3), *b = lam_index(in[0], 0, 3), *c = in[1], *s, *sum, *y[2];
    lam_fn *parts = lam_vmap(FN_ENV(chosen_part, 2, 1, env), &(lam_vmap_options){.in_axes = LAM_AXES(0, LAM_UNMAPPED)});
    lam_tensor *q = lam_apply(parts, LAM_LIST(a, b)), *zero = lam_zeros(ctx, LAM_F64, LAM_DIMS0);
    lam_scan(with_captures("column", column, 3, env, LAM_LIST(q, b)), LAM_LIST(lam_zeros_like(q)), LAM_LIST(a, c), &s,
             1, NULL);
    lam_vmap_options rows = {.axis_name = "rows", .out_axes = LAM_AXES(LAM_UNMAPPED)};
    lam_tensor *t = lam_apply(lam_vmap(FN_ENV(exp_of_all, 1, 1, env), &rows), LAM_LIST(s));
    lam_fori(0, 3, with_captures("element_added", element_added, 2, NULL, LAM_LIST(a)), LAM_LIST(zero), &sum, 1);
    lam_while(FN(large, 2, 1), FN(halve, 2, 2), LAM_LIST(lam_add(1, lam_square(b)), zero), y, 2);
    out[0] = lam_add(lam_add(t, style_mul(k, b, sum)), lam_add(style_log(k, y[0]), y[1]));
}

/* ---- the reference --------------------------------------------------------------------------------------------- */

static hyper quotient(hyper a, hyper b) {
    if (a.at[0] > 0) return hyper_mul(hyper_sin(a), hyper_reciprocal(a));
    return hyper_add(hyper_number(1), hyper_mul(b, hyper_mul(a, a)));
}

static hyper nasty_reference(const hyper x[]) {
    hyper b = x[3], sum = hyper_number(0), total = sum, weighted = sum;
    for (int j = 0; j < 3; j++) {
        sum = hyper_add(sum, x[j]);
        weighted = hyper_add(weighted, hyper_scale(captured[j], hyper_add(x[j], b)));
    }
    for (int i = 0; i < 3; i++)
        total = hyper_add(total, hyper_exp(hyper_scale(0.3L, hyper_mul(quotient(x[i], b), weighted))));
    total = hyper_add(total, hyper_mul(b, sum));
    return hyper_add(total, hyper_log(hyper_add(hyper_number(1), hyper_mul(b, b))));
}

/* ---- the operators: env is a link of the word ----------------------------------------------------------------- */

typedef struct link {
    lam_fn *inner;
    lam_tensor *u; /* direction of this depth */
} link;

static lam_tensor *dot(lam_tensor *x, lam_tensor *y) {
    return lam_sum(lam_mul(x, y), NULL);
}

BODY(by_grad) {
    link *l = env;
    out[0] = dot(lam_apply(lam_grad(l->inner, NULL), LAM_LIST(in[0])), l->u);
}

BODY(by_vjp) {
    link *l = env;
    lam_tensor *value;
    lam_fn *pullback;
    lam_vjp(l->inner, LAM_LIST(in[0]), &value, 1, &pullback, NULL);
    out[0] = dot(lam_apply(pullback, LAM_LIST(lam_ones_like(value))), l->u);
}

BODY(by_jvp) {
    link *l = env;
    lam_tensor *value;
    lam_jvp(l->inner, LAM_LIST(in[0]), LAM_LIST(l->u), &value, out, 1, NULL);
}

BODY(by_jvp_fn) {
    link *l = env;
    lam_tensor *both[2];
    lam_call(lam_jvp_fn(l->inner, NULL), LAM_LIST(in[0], l->u), both, 2);
    out[0] = both[1];
}

BODY(by_linearize) {
    link *l = env;
    lam_tensor *value;
    lam_fn *linear;
    lam_linearize(l->inner, LAM_LIST(in[0]), &value, 1, &linear, NULL);
    out[0] = lam_apply(linear, LAM_LIST(l->u));
}

BODY(by_jacfwd) {
    link *l = env;
    out[0] = dot(lam_apply(lam_jacfwd(l->inner, NULL), LAM_LIST(in[0])), l->u);
}

BODY(by_jacrev) {
    link *l = env;
    out[0] = dot(lam_apply(lam_jacrev(l->inner, NULL), LAM_LIST(in[0])), l->u);
}

BODY(by_hessian) {
    link *l = env;
    lam_tensor *h = lam_apply(lam_hessian(l->inner, NULL), LAM_LIST(in[0]));
    out[0] = dot(lam_mul(h, l->u), lam_expand_dims(l->u, 1));
}

BODY(by_hvp) {
    link *l = env;
    lam_tensor *all[3];
    lam_call(lam_hvp(l->inner, NULL), LAM_LIST(in[0], l->u), all, 3);
    out[0] = dot(all[2], l->u);
}

/* Row k of the batch is scale[k] x + shift[k]. */
static lam_tensor *rows(lam_tensor *x) {
    return lam_add(lam_mul(MAT(BATCH, 1, scale[0], scale[1], scale[2]), x),
                   MAT(BATCH, 1, shift[0], shift[1], shift[2]));
}

BODY(by_vmap) {
    link *l = env;
    out[0] = dot(lam_apply(lam_vmap(l->inner, NULL), LAM_LIST(rows(in[0]))), vector_of(weight, BATCH));
}

BODY(by_vmap_of_columns) {
    link *l = env;
    lam_fn *f = lam_vmap(l->inner, &(lam_vmap_options){.in_axes = LAM_AXES(-1)});
    out[0] = dot(lam_apply(f, LAM_LIST(lam_transpose(rows(in[0]), (lam_axes){0, NULL}))), vector_of(weight, BATCH));
}

/* How a letter's value follows from the function behind it. */
typedef enum kind { FIRST, SECOND, BATCHED } kind;

static const struct {
    const char *name;
    lam_body body;
    kind kind;
} letters[] = {
    {"grad", by_grad, FIRST},
    {"vjp", by_vjp, FIRST},
    {"jvp", by_jvp, FIRST},
    {"jvp_fn", by_jvp_fn, FIRST},
    {"jacfwd", by_jacfwd, FIRST},
    {"jacrev", by_jacrev, FIRST},
    {"linearize", by_linearize, FIRST},
    {"hessian", by_hessian, SECOND},
    {"hvp", by_hvp, SECOND},
    {"vmap", by_vmap, BATCHED},
    {"vmap of columns", by_vmap_of_columns, BATCHED},
};

enum { LETTERS = sizeof letters / sizeof letters[0] };

/* ---- a word: letters from the outermost inward ---------------------------------------------------------------- */

typedef struct word {
    int length;
    int letter[DEPTH];
    style style;  /* of the operations of the innermost function */
    bool control; /* it is the one by control flow */
    bool compiled;
} word;

/* x + u (e + e'): units 2 d and 2 d + 1 belong to depth d. */
static hyper reference(const word *w, int depth, const hyper x[]) {
    if (depth == DEPTH || depth == w->length) return nasty_reference(x);
    hyper at[SIZE], sum = hyper_number(0);
    kind k = letters[w->letter[depth]].kind;
    if (k == BATCHED) {
        for (int b = 0; b < BATCH; b++) {
            for (int i = 0; i < SIZE; i++) at[i] = hyper_add(hyper_scale(scale[b], x[i]), hyper_number(shift[b]));
            sum = hyper_add(sum, hyper_scale(weight[b], reference(w, depth + 1, at)));
        }
        return sum;
    }
    for (int i = 0; i < SIZE; i++) {
        hyper e = hyper_number(0);
        e.at[1 << 2 * depth] = direction[depth][i];
        if (k == SECOND) e.at[2 << 2 * depth] = direction[depth][i];
        at[i] = hyper_add(x[i], e);
    }
    hyper first = hyper_part(reference(w, depth + 1, at), 2 * depth);
    return k == SECOND ? hyper_part(first, 2 * depth + 1) : first;
}

static lam_fn *function_from(const word *w, int depth, link links[]) {
    if (depth == DEPTH || depth == w->length) {
        lam_tensor *c = vector_of(captured, 3);
        return lam_fn_new(ctx, &(lam_fn_options){.name = "nasty",
                                                 .body = w->control ? nasty_by_control : nasty,
                                                 .inputs = 1,
                                                 .outputs = 1,
                                                 .env = (void *)(uintptr_t)&w->style,
                                                 .captures = LAM_LIST(c)});
    }
    links[depth].inner = function_from(w, depth + 1, links);
    links[depth].u = vector_of(direction[depth], SIZE);
    return function_of(letters[w->letter[depth]].name, letters[w->letter[depth]].body, 1, 1, &links[depth]);
}

/* Rounding grows with the order of the derivative; the sums have a few hundred terms. */
static void check_word(const word *w, const double point[]) {
    link links[DEPTH];
    hyper x[SIZE];
    lam_scope *scope = lam_scope_begin(ctx);
    for (int i = 0; i < SIZE; i++) x[i] = hyper_number(point[i]);
    long double want = reference(w, 0, x).at[0];
    lam_fn *f = function_from(w, 0, links);
    double got = lam_item(apply1(w->compiled ? lam_jit(f, NULL) : f, vector_of(point, SIZE)));
    const char *names[DEPTH] = {"", "", ""};
    for (int d = 0; d < w->length; d++) names[d] = letters[w->letter[d]].name;
    const char *by = w->control ? ", by control flow" : "";
    ck_assert_msg(lam_status_of(ctx) == LAM_OK, "%s(%s(%s)), style %s%s: %s", names[0], names[1], names[2],
                  style_name(w->style), by, lam_error(ctx));
    ck_assert_msg(fabsl(got - want) <= 1e-11L * fmaxl(1, fabsl(want)), "%s(%s(%s)), style %s%s: %.17g, not %.17Lg",
                  names[0], names[1], names[2], style_name(w->style), by, got, want);
    lam_scope_end(scope, NULL, 0);
}

/* Positive and negative elements, and one at 0, where the branch not taken is NaN. */
static const double points[2][SIZE] = {{0.7, -0.4, 1.3, 0.6}, {0.0, 0.9, -1.1, -0.5}};

static void check_words(int length, int first, style k) {
    int count = 1;
    for (int i = 1; i < length; i++) count *= LETTERS;
    int step = k > STYLE_COMBINED && length == DEPTH ? 4 : 1; /* of the longest words, some */
    for (int code = first % step; code < count; code += step) {
        word w = {.length = length, .letter = {first}, .style = k};
        for (int d = 1, rest = code; d < length; d++, rest /= LETTERS) w.letter[d] = rest % LETTERS;
        check_word(&w, points[code % 2]);
        if (k == STYLE_NONE) check_word(&w, points[(code + 1) % 2]);
    }
}

START_TEST(the_function_itself) {
    check_word(&(word){0}, points[0]);
    check_word(&(word){0}, points[1]);
}
END_TEST

/* Words that begin with letter _i. */
START_TEST(every_transform) {
    check_words(1, _i, STYLE_NONE);
}
END_TEST

START_TEST(every_nesting_of_two) {
    check_words(2, _i, STYLE_NONE);
}
END_TEST

START_TEST(every_nesting_of_three) {
    check_words(3, _i, STYLE_NONE);
}
END_TEST

/* Style _i of custom Functions, through words of every length: the same numbers. With a sanitizer the longest words of
 * each style begin with one letter of five. */
START_TEST(every_style_of_custom_functions) {
    style k = (style)(_i + 1);
    check_word(&(word){.style = k}, points[0]);
    check_word(&(word){.style = k}, points[1]);
    for (int length = 1; length <= DEPTH; length++)
        for (int first = 0; first < LETTERS; first++)
            if (!SANITIZED || length < DEPTH || (first + _i) % 5 == 0) check_words(length, first, k);
}
END_TEST

/* The function by control flow: every word of up to two letters that begins with letter _i, of three some. */
START_TEST(control_flow_in_every_nesting) {
    word w = {.letter = {_i}, .control = true};
    check_word(&w, points[0]);
    check_word(&w, points[1]);
    for (int code = 0; code < LETTERS * LETTERS; code++) {
        w.letter[1] = code % LETTERS;
        w.letter[2] = code / LETTERS;
        w.length = code < LETTERS ? 2 : 3;
        if (w.length == 2 || (code + _i) % 5 == 0) check_word(&w, points[(code + _i) % 2]);
    }
    w.length = 1;
    check_word(&w, points[0]);
    check_word(&w, points[1]);
}
END_TEST

/* The same, recorded and run. */
START_TEST(control_flow_compiled) {
    word w = {.length = 1, .letter = {_i}, .control = true, .compiled = true};
    check_word(&w, points[0]);
    check_word(&w, points[1]);
    w.length = 2;
    for (w.letter[1] = 0; w.letter[1] < LETTERS; w.letter[1]++) check_word(&w, points[w.letter[1] % 2]);
}
END_TEST

/* And of style _i, words of up to two letters. */
START_TEST(control_flow_with_every_style_of_custom_functions) {
    word w = {.style = (style)(_i + 1), .control = true};
    for (int code = 0; code < LETTERS * LETTERS; code++) {
        w.letter[0] = code / LETTERS;
        w.letter[1] = code % LETTERS;
        w.length = code % LETTERS == 0 ? 1 : 2;
        if (w.length == 1 || (code + _i) % 3 == 0) check_word(&w, points[(code + _i) % 2]);
    }
}
END_TEST

Suite *suite_compositions_nestings(void) {
    Suite *suite = SUITE_OF("compositions/nestings", the_function_itself);
    const TTest *const looped[] = {every_transform, every_nesting_of_two, every_nesting_of_three};
    for (size_t k = 0; k < 3; k++) suite_loop(suite, looped[k], LETTERS);
    suite_loop(suite, every_style_of_custom_functions, STYLES - 1);
    suite_loop(suite, control_flow_in_every_nesting, LETTERS);
    suite_loop(suite, control_flow_compiled, LETTERS);
    suite_loop(suite, control_flow_with_every_style_of_custom_functions, STYLES - 1);
    return suite;
}
