/* A tensor or function that has failed without a context, as lam_mul(NULL, 2.0) and lam_grad(NULL, NULL) give them, is
 * found by whatever is given it beside something of a context: it is recorded there, and results have failed. */
#include "tests/support.h"

#include <lamina/control.h>
#include <lamina/program.h>

BODY(doubled) {
    out[0] = lam_mul(in[0], 2.0);
}

BODY(sum_of_both) {
    out[0] = lam_add(in[0], in[1]);
}

BODY(is_small) {
    out[0] = lam_lt(lam_sum(in[0], NULL), 1.0);
}

static lam_tensor *divided(lam_ctx *c, lam_fn *linear, lam_tensor *b, void *env) {
    (void)c, (void)linear, (void)env;
    return lam_div(b, 2.0);
}

static lam_tensor *gives_nothing(lam_ctx *c, lam_fn *linear, lam_tensor *b, void *env) {
    (void)c, (void)linear, (void)b, (void)env;
    return lam_mul((lam_tensor *)NULL, 2.0);
}

static void forward(lam_fctx *fc, lam_tensor *const in[], lam_tensor *out[]) {
    (void)fc;
    out[0] = lam_square(in[0]);
}

static void forward_of_nothing(lam_fctx *fc, lam_tensor *const in[], lam_tensor *out[]) {
    (void)fc, (void)in;
    out[0] = lam_mul((lam_tensor *)NULL, 2.0);
}

static const lam_function square = {.name = "square", .inputs = 1, .outputs = 1, .forward = forward},
                          nothing = {.name = "nothing", .inputs = 1, .outputs = 1, .forward = forward_of_nothing};

static lam_tensor *applied(const lam_function *f, lam_tensor *x) {
    lam_tensor *y;
    ck_assert_int_ne(lam_function_apply(ctx, f, NULL, LAM_LIST(x), &y, 1), LAM_OK);
    return y;
}

/* The tensor t in each place where there is one. */
static lam_tensor *with_tensor(int k, lam_tensor *t) {
    lam_tensor *x = VEC(1, 2, 3), *y = NULL;
    lam_fn *f = FN(doubled, 1, 1), *both = FN(sum_of_both, 2, 1);
    switch (k) {
    case 0: return applied(&square, t);
    case 1: return lam_custom_linear_solve(f, LAM_LIST(), t, divided, NULL);
    case 2: return lam_custom_linear_solve(both, LAM_LIST(t), x, divided, NULL);
    case 3: return lam_custom_root(f, t, LAM_LIST(), f, divided, NULL);
    case 4: return lam_custom_root(both, x, LAM_LIST(t), both, divided, NULL);
    case 5: return lam_cg(f, LAM_LIST(), t, NULL);
    case 6: return lam_gmres(f, LAM_LIST(), t, NULL);
    case 7: return lam_at_get(x, LAM_AT(LAM_TENSOR(t)));
    case 8: return lam_at_set(x, LAM_AT(LAM_TENSOR(t)), num(1));
    case 9: return lam_cov_with(lam_eye(ctx, LAM_F64, 2, 3), &(lam_cov_options){.aweights = t});
    case 10: return lam_cov_with(lam_eye(ctx, LAM_F64, 2, 3), &(lam_cov_options){.fweights = t});
    case 11: lam_scan(both, LAM_LIST(t), LAM_LIST(x), &y, 1, NULL); return y;
    default: lam_cond(lam_gt(num(1), 0.0), f, f, LAM_LIST(t), &y, 1); return y;
    }
}
enum { TENSORS = 13 };

START_TEST(failed_tensors_of_no_context) {
    ck_assert(lam_failed(with_tensor(_i, lam_mul((lam_tensor *)NULL, 2.0))));
    EXPECT_ERROR(LAM_ERR_CONTEXT, "is the failed tensor of another context or of none");
}
END_TEST

/* The same with a handle that has been freed: not the handle itself is given back. */
START_TEST(freed_tensors) {
    lam_tensor *gone = VEC(1, 2, 3);
    lam_drop(gone);
    lam_tensor *y = with_tensor(_i, gone);
    ck_assert(lam_failed(y) && y != gone);
    EXPECT_ERROR(LAM_ERR_FREED, "used after it was freed");
}
END_TEST

START_TEST(callbacks_that_give_such_tensors) {
    ck_assert(lam_failed(applied(&nothing, num(1))));
    EXPECT_ERROR(LAM_ERR_CONTEXT, "nothing", "is the failed tensor of another context or of none");
    ck_assert(lam_failed(lam_custom_linear_solve(FN(doubled, 1, 1), LAM_LIST(), num(1), gives_nothing, NULL)));
    EXPECT_ERROR(LAM_ERR_CONTEXT, "linear_solve", "is the failed tensor of another context or of none");
}
END_TEST

/* The function g in each place, NULL or failed. Status and result of one call. */
static lam_status with_function(int k, lam_fn *g, lam_tensor **y) {
    lam_tensor *x = VEC(1, 2, 3), *yes = lam_gt(num(1), 0.0);
    lam_fn *f = FN(doubled, 1, 1);
    lam_type type;
    switch (k) {
    case 0: return lam_cond(yes, g, f, LAM_LIST(x), y, 1);
    case 1: return lam_cond(yes, f, g, LAM_LIST(x), y, 1);
    case 2: return lam_switch(lam_cast(num(0), LAM_I32), (lam_fn *[]){f, g}, 2, LAM_LIST(x), y, 1);
    case 3: return lam_while(g, f, LAM_LIST(x), y, 1);
    case 4: return lam_while(FN(is_small, 1, 1), g, LAM_LIST(x), y, 1);
    case 5: return lam_fori(0, 2, g, LAM_LIST(x), y, 1);
    case 6: return lam_scan(g, LAM_LIST(num(0)), LAM_LIST(x), y, 1, NULL);
    case 7: return lam_map(g, LAM_LIST(x), y, 1, NULL);
    case 8: return lam_associative_scan(g, LAM_LIST(x), 0, false, y, 1);
    case 9: return lam_eval_shape(g, LAM_LIST(x), &type, 1);
    case 10: return lam_check_grads(g, LAM_LIST(x), NULL);
    case 11: *y = lam_reduce(g, x, num(0), NULL); return LAM_ERR_NULL;
    default: *y = lam_cg(f, LAM_LIST(), x, &(lam_iterative_options){.preconditioner = g}); return LAM_ERR_NULL;
    }
}
enum { WITH_FUNCTIONS = 13 };

START_TEST(functions_of_no_context) {
    lam_tensor *y = NULL;
    ck_assert_int_eq(with_function(_i, lam_grad(NULL, NULL), &y), LAM_ERR_NULL);
    ck_assert(!y || lam_failed(y));
    EXPECT_STATUS(LAM_ERR_NULL);
    if (_i == WITH_FUNCTIONS - 1) return; /* a preconditioner may be NULL */
    ck_assert_int_eq(with_function(_i, NULL, &y), LAM_ERR_NULL);
    EXPECT_STATUS(LAM_ERR_NULL);
}
END_TEST

Suite *suite_transforms_no_context(void) {
    Suite *suite = SUITE_OF("transforms/no_context", callbacks_that_give_such_tensors);
    suite_loop(suite, failed_tensors_of_no_context, TENSORS);
    suite_loop(suite, freed_tensors, TENSORS);
    suite_loop(suite, functions_of_no_context, WITH_FUNCTIONS);
    return suite;
}
