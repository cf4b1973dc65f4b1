/* Worked examples of custom Functions from the guides of the field: foreign code with rules of other Functions, each by
 * a hand-written and by a generated batching rule. Expected values by hand. Foreign code here is C loops over raw data,
 * so a level that reached it with anything else would show. */
#include "tests/custom/callbacks.h"

#include <stdlib.h>

/* The elements of x, which must be plain. */
static const double *raw(lam_tensor *x) {
    return lam_data(lam_contiguous(x));
}

static lam_tensor *front(lam_tensor *x, int axis) {
    return axis == LAM_UNMAPPED ? x : lam_moveaxis(x, axis, 0);
}

/* ---- sort, whose derivatives are takes --------------------------------------------------------------------------- */

enum { LONGEST = 8 };

typedef struct item {
    double x;
    int64_t from;
} item;

static int compare(const void *a, const void *b) {
    double x = ((const item *)a)->x, y = ((const item *)b)->x;
    return (x > y) - (x < y);
}

static int sorts, takes;

/* Rows of the last axis, sorted; where each element came from, and where each went. */
FORWARD(sort_forward) {
    const double *x = raw(in[0]);
    int64_t n = lam_dim(in[0], -1), rows = n ? lam_size(in[0]) / n : 0;
    double sorted[4 * LONGEST];
    int64_t order[4 * LONGEST], inverse[4 * LONGEST];
    sorts++;
    ck_assert(x && n <= LONGEST && rows <= 4);
    for (int64_t r = 0; r < rows; r++) {
        item row[LONGEST];
        for (int64_t k = 0; k < n; k++) row[k] = (item){x[r * n + k], k};
        qsort(row, (size_t)n, sizeof *row, compare);
        for (int64_t k = 0; k < n; k++) {
            sorted[r * n + k] = row[k].x;
            order[r * n + k] = row[k].from;
            inverse[r * n + row[k].from] = k;
        }
    }
    lam_dims dims = lam_dims_of(in[0]);
    out[0] = lam_array(ctx, LAM_F64, dims, sorted);
    out[1] = lam_array(ctx, LAM_I64, dims, order);
    out[2] = lam_array(ctx, LAM_I64, dims, inverse);
}

SETUP(sort_setup) {
    lam_fctx_mark_non_differentiable(fc, LAM_LIST(out[1], out[2]));
    lam_fctx_save_for_backward(fc, LAM_LIST(out[1], out[2]));
}

/* x, order, inverse -> x[order] along the last axis. */
FORWARD(take_forward) {
    const double *x = raw(in[0]);
    const int64_t *order = lam_data(lam_contiguous(in[1]));
    int64_t n = lam_dim(in[0], -1);
    double y[4 * LONGEST];
    takes++;
    ck_assert(x && order && lam_size(in[0]) <= 4 * LONGEST);
    for (int64_t k = 0; k < lam_size(in[0]); k++) y[k] = x[k / n * n + order[k]];
    out[0] = lam_array(ctx, LAM_F64, lam_dims_of(in[0]), y);
}

SETUP(take_setup) {
    lam_fctx_save_for_backward(fc, LAM_LIST(in[1], in[2]));
}

static lam_tensor *take(lam_tensor *x, lam_tensor *order, lam_tensor *inverse);

/* Taking by a permutation is undone by taking by its inverse, which is also its transpose. */
BACKWARD(undoes) {
    gx[0] = take(g[0], lam_fctx_saved(fc, 1), lam_fctx_saved(fc, 0));
}

JVP(does) {
    dout[0] = take(t[0], lam_fctx_saved(fc, 0), lam_fctx_saved(fc, 1));
}

/* All operands get the batch in front. */
VMAP(take_vmap) {
    lam_tensor *x[3];
    for (int i = 0; i < 3; i++) {
        x[i] = front(in[i], in_axes[i]);
        if (in_axes[i] != LAM_UNMAPPED) continue;
        int64_t dims[LAM_MAX_RANK] = {info->batch_size};
        for (int a = 0; a < lam_rank(in[i]); a++) dims[a + 1] = lam_dim(in[i], a);
        x[i] = lam_broadcast_to(in[i], (lam_dims){lam_rank(in[i]) + 1, dims});
    }
    out[0] = take(x[0], x[1], x[2]);
    out_axes[0] = 0;
}

static lam_tensor *take(lam_tensor *x, lam_tensor *order, lam_tensor *inverse) {
    const lam_function f = {.name = "take",
                            .inputs = 3,
                            .outputs = 1,
                            .forward = take_forward,
                            .setup_context = take_setup,
                            .backward = undoes,
                            .jvp = does,
                            .vmap = take_vmap};
    return call_function(&f, NULL, LAM_LIST(x, order, inverse));
}

static const lam_function sort;

VMAP(sort_vmap) {
    lam_function_apply(ctx, &sort, NULL, LAM_LIST(front(in[0], in_axes[0])), out, 3);
    out_axes[0] = out_axes[1] = out_axes[2] = 0;
}

static const lam_function sort = {.name = "sort",
                                  .inputs = 1,
                                  .outputs = 3,
                                  .forward = sort_forward,
                                  .setup_context = sort_setup,
                                  .backward = undoes,
                                  .jvp = does,
                                  .vmap = sort_vmap};

/* The same of the library's operations, for the generated rule. */
FORWARD(sort_of_operations) {
    out[1] = lam_argsort(in[0], -1);
    out[2] = lam_argsort(out[1], -1);
    out[0] = lam_take_along_axis(in[0], out[1], -1);
}

BACKWARD(undoes_by_operations) {
    gx[0] = lam_take_along_axis(g[0], lam_fctx_saved(fc, 1), -1);
}

JVP(does_by_operations) {
    dout[0] = lam_take_along_axis(t[0], lam_fctx_saved(fc, 0), -1);
}

static const lam_function sort_generated = {.name = "sort",
                                            .inputs = 1,
                                            .outputs = 3,
                                            .forward = sort_of_operations,
                                            .setup_context = sort_setup,
                                            .backward = undoes_by_operations,
                                            .jvp = does_by_operations,
                                            .generate_vmap_rule = true};

BODY(sorted) {
    lam_tensor *y[3];
    lam_function_apply(ctx, env, NULL, LAM_LIST(in[0]), y, 3);
    out[0] = y[0];
}

/* The first element squared plus ten times the second plus a hundred times the third, in order. */
BODY(weighted) {
    lam_tensor *y = apply1(env, in[0]);
    out[0] = lam_add(lam_sum(lam_mul(y, VEC(0, 10, 100)), NULL), lam_square(lam_index(y, -1, 0)));
}

START_TEST(sort_by_foreign_code) {
    const lam_function *const both[] = {&sort, &sort_generated};
    for (int k = 0; k < 2; k++) {
        lam_fn *y = FN_ENV(sorted, 1, 1, (void *)(uintptr_t)both[k]), *f = FN_ENV(weighted, 1, 1, y),
               *g = lam_grad(f, NULL);
        lam_tensor *x = VEC(3, 1, 2), *rows = MAT(2, 3, 3, 1, 2, 7, 9, 8);
        EXPECT(apply1(y, rows), LAM_DIMS(2, 3), 1, 2, 3, 7, 8, 9);
        EXPECT(apply1(g, x), LAM_DIMS(3), 100, 2, 10);
        EXPECT(apply1(lam_jacfwd(f, NULL), x), LAM_DIMS(3), 100, 2, 10);
        EXPECT(apply1(lam_jacrev(y, NULL), x), LAM_DIMS(3, 3), 0, 1, 0, 0, 0, 1, 1, 0, 0);
        EXPECT(apply1(lam_hessian(f, NULL), x), LAM_DIMS(3, 3), 0, 0, 0, 0, 2, 0, 0, 0, 0);
        EXPECT(apply1(lam_jacrev(g, NULL), x), LAM_DIMS(3, 3), 0, 0, 0, 0, 2, 0, 0, 0, 0);
        EXPECT(apply1(lam_vmap(g, NULL), rows), LAM_DIMS(2, 3), 100, 2, 10, 14, 100, 10);
        EXPECT(apply1(lam_vmap(y, &(lam_vmap_options){.in_axes = LAM_AXES(1), .out_axes = LAM_AXES(1)}), rows),
               LAM_DIMS(2, 3), 3, 1, 2, 7, 9, 8);
        EXPECT(apply1(lam_vmap(lam_hessian(f, NULL), NULL), lam_slice_axis(rows, 0, 0, 1)), LAM_DIMS(1, 3, 3), 0, 0, 0,
               0, 2, 0, 0, 0, 0);
        EXPECT(apply1(lam_vmap(lam_vmap(y, NULL), NULL), lam_expand_dims(rows, 1)), LAM_DIMS(2, 1, 3), 1, 2, 3, 7, 8,
               9);
    }
    sorts = takes = 0; /* a batch is one call of the foreign code */
    apply1(lam_vmap(lam_grad(FN_ENV(weighted, 1, 1, FN_ENV(sorted, 1, 1, (void *)(uintptr_t)&sort)), NULL), NULL),
           MAT(2, 3, 3, 1, 2, 7, 9, 8));
    ck_assert_int_eq(sorts, 1);
    ck_assert_int_eq(takes, 1);
}
END_TEST

/* ---- the cube, with its slope as an extra output ----------------------------------------------------------------- */

FORWARD(cube_forward) {
    const double *x = raw(in[0]);
    double y[LONGEST], slope[LONGEST];
    ck_assert(x && lam_size(in[0]) <= LONGEST);
    for (int64_t k = 0; k < lam_size(in[0]); k++) {
        y[k] = x[k] * x[k] * x[k];
        slope[k] = 3 * x[k] * x[k];
    }
    out[0] = lam_array(ctx, LAM_F64, lam_dims_of(in[0]), y);
    out[1] = lam_array(ctx, LAM_F64, lam_dims_of(in[0]), slope);
}

FORWARD(cube_of_operations) {
    out[0] = lam_integer_pow(in[0], 3);
    out[1] = lam_mul(3.0, lam_square(in[0]));
}

SETUP(cube_setup) {
    lam_fctx_save_for_backward(fc, LAM_LIST(in[0], out[1]));
}

BACKWARD(cube_backward) {
    lam_tensor *x = lam_fctx_saved(fc, 0), *slope = lam_fctx_saved(fc, 1);
    gx[0] = lam_add(lam_mul(g[0], slope), lam_mul(g[1], lam_mul(6.0, x)));
}

JVP(cube_jvp) {
    dout[0] = lam_mul(lam_fctx_saved(fc, 1), t[0]);
    dout[1] = lam_mul(lam_mul(6.0, lam_fctx_saved(fc, 0)), t[0]);
}

VMAP(cube_vmap) {
    lam_function again = {.name = "cube",
                          .inputs = 1,
                          .outputs = 2,
                          .forward = cube_forward,
                          .setup_context = cube_setup,
                          .backward = cube_backward,
                          .jvp = cube_jvp,
                          .vmap = cube_vmap};
    lam_function_apply(ctx, &again, NULL, LAM_LIST(in[0]), out, 2);
    out_axes[0] = out_axes[1] = in_axes[0];
}

/* By hand or generated; with both rules or the backward one. */
static lam_function cube(bool generated, bool backward_only) {
    return (lam_function){.name = "cube",
                          .inputs = 1,
                          .outputs = 2,
                          .forward = generated ? cube_of_operations : cube_forward,
                          .setup_context = cube_setup,
                          .backward = cube_backward,
                          .jvp = backward_only ? NULL : cube_jvp,
                          .vmap = generated ? NULL : cube_vmap,
                          .generate_vmap_rule = generated};
}

BODY(cubed) {
    lam_tensor *y[2];
    lam_function_apply(ctx, env, NULL, LAM_LIST(in[0]), y, 2);
    out[0] = y[0];
}

START_TEST(cube_with_its_slope_as_an_output) {
    lam_fn *(*const mode[2])(lam_fn *) = {reverse_of, forward_of};
    for (int k = 0; k < 4; k++) {
        lam_function function = cube(k & 1, k & 2);
        lam_fn *f = FN_ENV(cubed, 1, 1, &function);
        EXPECT(apply1(f, VEC(1, 2)), LAM_DIMS(2), 1, 8);
        for (int path = 0; path < 8; path++) {
            lam_fn *first = mode[path & 1](f), *second = mode[path >> 1 & 1](first),
                   *third = mode[path >> 2 & 1](second);
            EXPECT_NUM(apply1(first, num(2)), 12);
            EXPECT_NUM(apply1(second, num(2)), 12);
            EXPECT_NUM(apply1(third, num(2)), 6);
            EXPECT(apply1(lam_vmap(third, NULL), VEC(2, 3)), LAM_DIMS(2), 6, 6);
        }
        lam_fn *rows = FN_ENV(sum_of, 1, 1, lam_vmap(f, NULL));
        EXPECT(apply1(lam_grad(rows, NULL), VEC(2, 3)), LAM_DIMS(2), 12, 27);
        EXPECT(apply1(lam_hessian(rows, NULL), VEC(2, 3)), LAM_DIMS(2, 2), 12, 0, 0, 18);
    }
}
END_TEST

/* ---- a product of raw numbers, whose backward is itself ---------------------------------------------------------- */

static lam_tensor *product(lam_tensor *x, lam_tensor *y);

FORWARD(product_forward) {
    lam_tensor *both =
        lam_stack(LAM_LIST(lam_add(in[0], lam_zeros_like(in[1])), lam_add(in[1], lam_zeros_like(in[0]))), 0);
    const double *x = raw(both);
    int64_t n = lam_size(both) / 2;
    double z[4 * LONGEST];
    ck_assert(x && n <= 4 * LONGEST);
    for (int64_t k = 0; k < n; k++) z[k] = x[k] * x[n + k];
    out[0] = lam_array(ctx, LAM_F64, lam_dims_of(lam_index(both, 0, 0)), z);
}

SETUP(product_setup) {
    if (lam_fctx_needs_input_grad(fc, 0) || lam_fctx_needs_input_grad(fc, 1))
        lam_fctx_save_for_backward(fc, LAM_LIST(in[0], in[1]));
}

BACKWARD(product_backward) {
    for (int i = 0; i < 2; i++)
        if (lam_fctx_needs_input_grad(fc, i)) gx[i] = product(g[0], lam_fctx_saved(fc, 1 - i));
}

JVP(product_jvp) {
    dout[0] = lam_add(product(t[0], lam_fctx_saved(fc, 1)), product(lam_fctx_saved(fc, 0), t[1]));
}

/* Operands of different rank line up behind the batch axis. */
VMAP(product_vmap) {
    lam_tensor *x[2];
    int rank[2];
    for (int i = 0; i < 2; i++) {
        x[i] = front(in[i], in_axes[i]);
        rank[i] = lam_rank(in[i]) - (in_axes[i] != LAM_UNMAPPED);
    }
    for (int i = 0; i < 2; i++)
        for (int k = rank[i]; k < rank[1 - i] && in_axes[i] != LAM_UNMAPPED; k++) x[i] = lam_expand_dims(x[i], 1);
    out[0] = product(x[0], x[1]);
    out_axes[0] = 0;
}

static lam_tensor *product(lam_tensor *x, lam_tensor *y) {
    const lam_function f = {.name = "product",
                            .inputs = 2,
                            .outputs = 1,
                            .forward = product_forward,
                            .setup_context = product_setup,
                            .backward = product_backward,
                            .jvp = product_jvp,
                            .vmap = product_vmap};
    return call_function(&f, NULL, LAM_LIST(x, y));
}

/* sum(x y y) for a vector x and a number y */
BODY(x_y_y) {
    out[0] = lam_sum(product(product(in[0], in[1]), in[1]), NULL);
}

START_TEST(product_whose_rules_are_itself) {
    lam_fn *f = FN(x_y_y, 2, 1), *by_y = lam_grad(f, &(lam_grad_options){.argnums = LAM_AXES(1)});
    lam_tensor *x = VEC(1, 2), *y = num(3);
    EXPECT_NUM(apply2(f, x, y), 27);
    EXPECT(apply2(lam_grad(f, NULL), x, y), LAM_DIMS(2), 9, 9);
    EXPECT_NUM(apply2(by_y, x, y), 18);
    EXPECT_NUM(apply2(lam_grad(by_y, &(lam_grad_options){.argnums = LAM_AXES(1)}), x, y), 6);
    EXPECT(apply2(lam_jacfwd(by_y, NULL), x, y), LAM_DIMS(2), 6, 6);
    lam_vmap_options only_x = {.in_axes = LAM_AXES(0, LAM_UNMAPPED)}, columns = {.in_axes = LAM_AXES(1, 0)};
    lam_tensor *rows = MAT(2, 2, 1, 2, 3, 4);
    EXPECT(apply2(lam_vmap(by_y, &only_x), rows, y), LAM_DIMS(2), 18, 42);
    EXPECT(apply2(lam_vmap(by_y, &columns), rows, VEC(3, 1)), LAM_DIMS(2), 24, 12);
    EXPECT(apply2(lam_vmap(lam_grad(by_y, &(lam_grad_options){.argnums = LAM_AXES(1)}), &columns), rows, VEC(3, 1)),
           LAM_DIMS(2), 8, 12);
}
END_TEST

/* ---- select, and a scaled gradient: attributes ------------------------------------------------------------------- */

typedef struct place {
    int64_t index;
} place;

FORWARD(select_forward) {
    const place *p = lam_fctx_attrs(fc);
    out[0] = lam_scalar(ctx, raw(in[0])[p->index]);
}

SETUP(select_setup) {
    int64_t n = lam_dim(in[0], 0);
    lam_fctx_set_data(fc, "n", &n, sizeof n);
}

BACKWARD(select_backward) {
    const place *p = lam_fctx_attrs(fc);
    int64_t n = *(const int64_t *)lam_fctx_data(fc, "n", NULL);
    gx[0] = lam_pad(lam_expand_dims(g[0], 0), LAM_DIMS(p->index), LAM_DIMS(n - 1 - p->index), NULL);
}

BODY(product_of_ends) {
    const lam_function f = {.name = "select",
                            .inputs = 1,
                            .outputs = 1,
                            .attrs_size = sizeof(place),
                            .forward = select_forward,
                            .setup_context = select_setup,
                            .backward = select_backward,
                            .vmap_by_loop = true};
    lam_tensor *first = call_function(&f, &(place){0}, LAM_LIST(in[0]));
    out[0] = lam_mul(first, call_function(&f, &(place){2}, LAM_LIST(in[0])));
}

START_TEST(select_by_an_attribute) {
    lam_fn *f = FN(product_of_ends, 1, 1);
    EXPECT_NUM(apply1(f, VEC(2, 3, 5)), 10);
    EXPECT(apply1(lam_grad(f, NULL), VEC(2, 3, 5)), LAM_DIMS(3), 5, 0, 2);
    EXPECT(apply1(lam_jacfwd(f, NULL), VEC(2, 3, 5)), LAM_DIMS(3), 5, 0, 2);
    EXPECT(apply1(lam_hessian(f, NULL), VEC(2, 3, 5)), LAM_DIMS(3, 3), 0, 0, 1, 0, 0, 0, 1, 0, 0);
    EXPECT(apply1(lam_vmap(lam_grad(f, NULL), NULL), MAT(2, 3, 2, 3, 5, 7, 8, 9)), LAM_DIMS(2, 3), 5, 0, 2, 9, 0, 7);
}
END_TEST

FORWARD(identity) {
    out[0] = in[0];
}

BACKWARD(scales) {
    gx[0] = lam_mul(*(const double *)lam_fctx_attrs(fc), g[0]);
}

BODY(square_with_scaled_gradient) {
    const lam_function f = {.name = "scaled",
                            .inputs = 1,
                            .outputs = 1,
                            .attrs_size = sizeof(double),
                            .forward = identity,
                            .backward = scales};
    out[0] = lam_square(call_function(&f, &(double){10}, LAM_LIST(in[0])));
}

/* 2 x, scaled by 10 where it passes; once more where the derivative passes. */
START_TEST(scaled_gradient) {
    lam_fn *f = FN(square_with_scaled_gradient, 1, 1);
    EXPECT_NUM(apply1(f, num(3)), 9);
    EXPECT_NUM(apply1(lam_grad(f, NULL), num(3)), 60);
    EXPECT_NUM(apply1(forward_of(f), num(3)), 60);
    EXPECT_NUM(apply1(lam_grad(lam_grad(f, NULL), NULL), num(3)), 200);
    EXPECT(apply1(lam_vmap(lam_grad(f, NULL), NULL), VEC(1, 2)), LAM_DIMS(2), 20, 40);
}
END_TEST

Suite *suite_custom_worked(void) {
    return SUITE_OF("custom/worked", sort_by_foreign_code, cube_with_its_slope_as_an_output,
                    product_whose_rules_are_itself, select_by_an_attribute, scaled_gradient);
}
