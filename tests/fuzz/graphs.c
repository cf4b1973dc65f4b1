/* Random expressions through random nestings of the transforms: forward, reverse and mixed modes, under checkpoints, in
 * chunks and linearised, against central differences and against each other; vmap against the loop. An expression is
 * a short program over a stack of values, made from a seed, so that a failure names one number. */
#include "tests/custom/styles.h"
#include "tests/support.h"

enum { SIZE = 3, STEPS = 9, ROWS = 3, CASES = 120 };

typedef struct expression {
    uint64_t seed;
} expression;

/* ---- expressions ----------------------------------------------------------------------------------------------- */

/* Operations as custom Functions of any style; STYLE_NONE is one of them. */
static lam_tensor *by_rule(uint64_t *s, lam_tensor *x) {
    style k = (style)random_below(s, STYLES);
    switch (random_below(s, 4)) {
    case 0: return style_sin(k, x);
    case 1: return style_exp(k, lam_neg(style_mul(k, x, x)));
    case 2: return style_log(k, lam_add(style_mul(k, x, x), 1.5));
    default: return style_mul(k, x, lam_mean(x, NULL));
    }
}

/* Smooth functions with small derivatives everywhere, so that differences say something. */
static lam_tensor *bend(uint64_t *s, lam_tensor *x) {
    switch (random_below(s, 13)) {
    case 0: return lam_sin(x);
    case 1: return lam_cos(x);
    case 2: return lam_tanh(x);
    case 3: return lam_logistic(x);
    case 4: return lam_atan(x);
    case 5: return lam_sqrt(lam_add(lam_square(x), 1));
    case 6: return lam_exp(lam_neg(lam_square(x)));
    case 7: return lam_log(lam_add(lam_square(x), 1.5));
    case 8: return lam_integer_pow(lam_sin(x), 3);
    case 9: return lam_neg(x);
    default: return by_rule(s, x);
    }
}

/* Vector to vector of the same size, by layout, reduction and contraction. */
static lam_tensor *turn(uint64_t *s, lam_tensor *x) {
    lam_tensor *tail = lam_slice_axis(x, 0, 1, LAM_END), *head = lam_slice_axis(x, 0, 0, 1);
    lam_tensor *column = lam_reshape(x, LAM_DIMS(SIZE, 1)), *row = lam_expand_dims(x, 0);
    switch (random_below(s, 10)) {
    case 0: return lam_reverse(x, (lam_axes){0, NULL});
    case 1: return lam_concatenate(LAM_LIST(tail, head), 0);
    case 2: return lam_cumsum(x, 0);
    case 3: return lam_softmax(x, 0);
    case 4: return lam_mul(x, lam_mean(x, NULL));
    case 5: return lam_reshape(lam_matmul(lam_sin(lam_mul(column, row)), column), LAM_DIMS(SIZE));
    case 6: return lam_update_slice(x, lam_sum(tail, NULL), LAM_DIMS(0), LAM_DIMS(1), LAM_DIMS0);
    case 7:
        return lam_sum(
            lam_add(lam_broadcast_to(row, LAM_DIMS(2, SIZE)), lam_transpose(lam_mul(column, 0.5), (lam_axes){0, NULL})),
            &(lam_reduce_options){.axes = LAM_AXES(0)});
    case 8: return lam_index(lam_stack(LAM_LIST(lam_mul(x, x), lam_cos(x)), 1), 1, random_below(s, 2));
    default: return lam_sub(lam_pad(tail, LAM_DIMS(0), LAM_DIMS(1), NULL), lam_logsumexp(x, NULL));
    }
}

static lam_tensor *join(uint64_t *s, lam_tensor *x, lam_tensor *y) {
    switch (random_below(s, 6)) {
    case 0: return lam_add(x, y);
    case 1: return lam_mul(x, y);
    case 2: return lam_sub(x, y);
    case 3: return lam_div(x, lam_add(lam_square(y), 2));
    case 4: return lam_where(lam_gt(lam_sum(y, NULL), 0.0), x, lam_sin(y));
    default: return lam_mul(x, lam_dot(x, y));
    }
}

BODY(inner_energy) {
    out[0] = lam_sum(lam_mul(lam_sin(in[0]), lam_sin(in[1])), NULL);
}

/* A derivative by y taken inside the expression, x flowing in from outside: what perturbation confusion would spoil. */
static lam_tensor *derive(uint64_t *s, lam_tensor *x, lam_tensor *y) {
    lam_grad_options by_second = {.argnums = LAM_AXES(1)};
    lam_fn *f = FN(inner_energy, 2, 1);
    if (random_below(s, 2)) return apply2(lam_grad(f, &by_second), x, y);
    return apply2(lam_jacfwd(f, &(lam_jacobian_options){.argnums = LAM_AXES(1)}), x, y);
}

/* in[0] to a vector of the same size. */
BODY(evaluate) {
    uint64_t state = ((const expression *)env)->seed, *s = &state;
    lam_tensor *stack[STEPS + 1] = {in[0]};
    for (int n = 1; n <= STEPS; n++) {
        lam_tensor *x = stack[n - 1], *y = stack[random_below(s, n)];
        int what = random_below(s, 10);
        stack[n] = what < 4 ? bend(s, x) : what < 7 ? turn(s, x) : what < 9 ? join(s, x, y) : derive(s, x, y);
        if (random_below(s, 8) == 0)
            stack[n] = lam_mul(2.0, lam_add_(lam_mul_(lam_alias(stack[n]), stack[n]), y)),
            stack[n] = lam_tanh(stack[n]);
    }
    out[0] = stack[STEPS];
}

BODY(total) {
    lam_tensor *y = apply1(env, in[0]);
    out[0] = lam_sum(lam_mul(y, lam_iota(ctx, LAM_F64, LAM_DIMS(SIZE), 0)), NULL);
}

/* ---- the same derivative in many ways -------------------------------------------------------------------------- */

static lam_tensor *random_rows(uint64_t *s, lam_dims dims) {
    double x[ROWS * SIZE];
    for (int i = 0; i < ROWS * SIZE; i++) x[i] = (double)(int64_t)random_bits(s) * 0x1p-63 * 1.5;
    return lam_array(ctx, LAM_F64, dims, x);
}

/* The Jacobian column by column through lam_linearize, or row by row through a transposed one. */
BODY(by_linearize) {
    lam_tensor *y;
    lam_fn *push;
    lam_linearize(env, LAM_LIST(in[0]), &y, 1, &push, NULL);
    out[0] = apply1(lam_vmap(push, &(lam_vmap_options){.out_axes = LAM_AXES(1)}), lam_eye(ctx, LAM_F64, SIZE, SIZE));
}

BODY(by_transpose) {
    lam_tensor *y;
    lam_fn *push;
    lam_linearize(env, LAM_LIST(in[0]), &y, 1, &push, NULL);
    out[0] = apply1(lam_vmap(lam_linear_transpose(push, LAM_LIST(in[0])), NULL), lam_eye(ctx, LAM_F64, SIZE, SIZE));
}

BODY(by_pullbacks) {
    lam_tensor *y, *rows[SIZE];
    lam_fn *pull;
    lam_vjp(env, LAM_LIST(in[0]), &y, 1, &pull, NULL);
    for (int i = 0; i < SIZE; i++) rows[i] = apply1(pull, lam_index(lam_eye(ctx, LAM_F64, SIZE, SIZE), 0, i));
    out[0] = lam_stack((lam_list){SIZE, rows}, 0);
}

static lam_fn *jacobian_by(int way, lam_fn *f) {
    lam_jacobian_options by_two = {.chunk_size = 2};
    switch (way) {
    case 0: return lam_jacfwd(f, NULL);
    case 1: return lam_jacrev(f, NULL);
    case 2: return lam_jacobian(f, &by_two);
    case 3: return lam_jacrev(lam_checkpoint(f, NULL), &by_two);
    case 4: return lam_jacfwd(lam_checkpoint(f, NULL), &by_two);
    case 5: return FN_ENV(by_linearize, 1, 1, f);
    case 6: return FN_ENV(by_transpose, 1, 1, f);
    default: return FN_ENV(by_pullbacks, 1, 1, f);
    }
}
enum { WAYS = 8 };

static void same(int number, const char *what, int way, lam_tensor *got, lam_tensor *want, double tolerance) {
    ck_assert_msg(lam_status_of(ctx) == LAM_OK, "expression %d, %s %d: %s", number, what, way, lam_error(ctx));
    double scale = fmax(1, lam_item(lam_max_reduce(lam_abs(want), NULL))),
           off = lam_item(lam_max_reduce(lam_abs(lam_sub(got, want)), NULL));
    ck_assert_msg(off <= tolerance * scale, "expression %d, %s %d: off by %g", number, what, way, off / scale);
}

static lam_tensor *central(lam_fn *f, lam_tensor *x, double h) {
    lam_tensor *columns[SIZE];
    for (int i = 0; i < SIZE; i++) {
        lam_tensor *e = lam_mul(h, lam_index(lam_eye(ctx, LAM_F64, SIZE, SIZE), 0, i));
        columns[i] = lam_div(lam_sub(apply1(f, lam_add(x, e)), apply1(f, lam_sub(x, e))), 2 * h);
    }
    return lam_stack((lam_list){SIZE, columns}, 1);
}

/* Richardson's extrapolation: the error is of fourth order, since some of these expressions bend sharply. */
static lam_tensor *difference(lam_fn *f, lam_tensor *x) {
    double h = 0x1p-18;
    return lam_div(lam_sub(lam_mul(4, central(f, x, h / 2)), central(f, x, h)), 3);
}

START_TEST(first_derivatives_agree) {
    for (int number = 0; number < CASES; number++) {
        lam_scope *scope = lam_scope_begin(ctx);
        expression e = {.seed = 1000 + (uint64_t)number};
        uint64_t s = ~e.seed;
        lam_fn *f = FN_ENV(evaluate, 1, 1, &e);
        lam_tensor *x = lam_index(random_rows(&s, LAM_DIMS(ROWS, SIZE)), 0, 0), *want = apply1(jacobian_by(0, f), x);
        same(number, "difference", 0, difference(f, x), want, 1e-6);
        for (int way = 1; way < WAYS; way++) same(number, "way", way, apply1(jacobian_by(way, f), x), want, 1e-12);
        lam_scope_end(scope, NULL, 0);
    }
}
END_TEST

START_TEST(second_derivatives_agree_in_every_pair_of_modes) {
    for (int number = 0; number < CASES / 4; number++) {
        lam_scope *scope = lam_scope_begin(ctx);
        expression e = {.seed = 2000 + (uint64_t)number};
        uint64_t s = ~e.seed;
        lam_fn *f = FN_ENV(total, 1, 1, FN_ENV(evaluate, 1, 1, &e)), *g = lam_grad(f, NULL);
        lam_tensor *x = lam_index(random_rows(&s, LAM_DIMS(ROWS, SIZE)), 0, 0), *want = apply1(lam_hessian(f, NULL), x);
        same(number, "difference", 0, difference(g, x), want, 1e-6);
        same(number, "symmetry", 0, lam_transpose(want, (lam_axes){0, NULL}), want, 1e-12);
        for (int way = 0; way < WAYS; way++)
            same(number, "way over grad", way, apply1(jacobian_by(way, g), x), want, 1e-12);
        same(number, "way over jacfwd", 0, apply1(lam_jacfwd(lam_jacfwd(f, NULL), NULL), x), want, 1e-12);
        same(number, "way over jacfwd", 1, apply1(lam_jacrev(lam_jacfwd(f, NULL), NULL), x), want, 1e-12);
        lam_scope_end(scope, NULL, 0);
    }
}
END_TEST

/* vmap of a random nesting against the loop over it; a batch axis in front, behind, in chunks, and twice. */
START_TEST(batches_agree_with_loops) {
    for (int number = 0; number < CASES / 2; number++) {
        lam_scope *scope = lam_scope_begin(ctx);
        expression e = {.seed = 3000 + (uint64_t)number};
        uint64_t s = ~e.seed;
        lam_fn *f = FN_ENV(evaluate, 1, 1, &e), *nested = f;
        int depth = random_below(&s, 3);
        for (int i = 0; i < depth; i++) {
            if (i == 0) nested = jacobian_by(random_below(&s, WAYS), nested);
            else
                nested = random_below(&s, 2) ? lam_jacfwd(nested, NULL)
                                             : lam_jacrev(nested, &(lam_jacobian_options){.chunk_size = 4});
        }
        lam_tensor *x = random_rows(&s, LAM_DIMS(ROWS, SIZE)), *rows[ROWS],
                   *turned = lam_transpose(x, (lam_axes){0, NULL});
        for (int i = 0; i < ROWS; i++) rows[i] = apply1(nested, lam_index(x, 0, i));
        lam_tensor *want = lam_stack((lam_list){ROWS, rows}, 0),
                   *stacked = lam_stack(LAM_LIST(x, lam_reverse(x, LAM_AXES(0))), 0);
        same(number, "front, depth", depth, apply1(lam_vmap(nested, NULL), x), want, 1e-12);
        same(number, "behind, depth", depth,
             apply1(lam_vmap(nested, &(lam_vmap_options){.in_axes = LAM_AXES(-1)}), turned), want, 1e-12);
        same(number, "chunks, depth", depth, apply1(lam_vmap(nested, &(lam_vmap_options){.chunk_size = 2}), x), want,
             1e-12);
        lam_tensor *twice = apply1(lam_vmap(lam_vmap(nested, NULL), NULL), stacked);
        same(number, "twice, depth", depth, lam_index(twice, 0, 0), want, 1e-12);
        same(number, "twice reversed, depth", depth, lam_reverse(lam_index(twice, 0, 1), LAM_AXES(0)), want, 1e-12);
        lam_scope_end(scope, NULL, 0);
    }
}
END_TEST

/* Differentiating through a batch: the derivative of vmap is vmap of the derivative. */
START_TEST(derivatives_pass_through_batches) {
    for (int number = 0; number < CASES / 2; number++) {
        lam_scope *scope = lam_scope_begin(ctx);
        expression e = {.seed = 4000 + (uint64_t)number};
        uint64_t s = ~e.seed;
        lam_fn *f = FN_ENV(evaluate, 1, 1, &e),
               *mapped = lam_vmap(f, &(lam_vmap_options){.chunk_size = random_below(&s, 3)});
        lam_tensor *x = random_rows(&s, LAM_DIMS(ROWS, SIZE)), *each = apply1(lam_vmap(lam_jacfwd(f, NULL), NULL), x);
        lam_tensor *same_row = lam_reshape(lam_eye(ctx, LAM_F64, ROWS, ROWS), LAM_DIMS(ROWS, 1, ROWS, 1));
        lam_tensor *want = lam_mul(same_row, lam_expand_dims(each, 2));
        for (int way = 0; way < 5; way++)
            same(number, "way through vmap", way, apply1(jacobian_by(way, mapped), x), want, 1e-12);
        lam_scope_end(scope, NULL, 0);
    }
}
END_TEST

Suite *suite_fuzz_graphs(void) {
    return SUITE_OF("fuzz/graphs", first_derivatives_agree, second_derivatives_agree_in_every_pair_of_modes,
                    batches_agree_with_loops, derivatives_pass_through_batches);
}
