/* The messages: each kind of mistake, made inside gradients and batches, names the operation, shapes, function, levels
 * and what to do. */
#include "tests/support.h"

#include <lamina/extend.h>

/* f in a batch of gradients, on a batch of two. */
static void fail_inside(lam_body body, const char *name) {
    lam_fn *f = lam_vmap(lam_grad(function_of(name, body, 1, 1, NULL), NULL), NULL);
    ck_assert(lam_failed(apply1(f, MAT(2, 3, 1, 2, 3, 4, 5, 6))));
}

#define FAIL_INSIDE(body) fail_inside(body, #body)
#define LEVELS            "vjp -> vmap(size 2) -> eval"

BODY(bad_shape) {
    out[0] = lam_sum(lam_add(in[0], VEC(1, 2)), NULL);
}

START_TEST(shape_mismatch) {
    FAIL_INSIDE(bad_shape);
    EXPECT_ERROR(LAM_ERR_SHAPE, "add: ", "f64[3], f64[2]", "'bad_shape', called by 'grad(bad_shape)'", LEVELS,
                 "remedy: ");
}
END_TEST

BODY(bad_dtype) {
    out[0] = lam_sum(lam_where(in[0], in[0], 0.0), NULL);
}

START_TEST(dtype_mismatch) {
    FAIL_INSIDE(bad_dtype);
    EXPECT_ERROR(LAM_ERR_DTYPE, "where: ", "f64[3]", "'bad_dtype'", LEVELS, "remedy: ");
}
END_TEST

BODY(bad_axis) {
    out[0] = lam_sum(in[0], &(lam_reduce_options){.axes = LAM_AXES(1)});
}

START_TEST(axis_out_of_range) {
    FAIL_INSIDE(bad_axis);
    EXPECT_ERROR(LAM_ERR_AXIS, "sum: ", "axis 1", "[-1, 1)", "f64[3]", "'bad_axis'", LEVELS);
}
END_TEST

BODY(bad_index) {
    out[0] = lam_index(in[0], 0, 3);
}

START_TEST(index_out_of_range) {
    FAIL_INSIDE(bad_index);
    EXPECT_ERROR(LAM_ERR_INDEX, "3", "f64[3]", "'bad_index'", LEVELS);
}
END_TEST

BODY(bad_reshape) {
    out[0] = lam_reshape(in[0], LAM_DIMS(2, 2));
}

START_TEST(reshape_to_another_size) {
    FAIL_INSIDE(bad_reshape);
    EXPECT_ERROR(LAM_ERR_SHAPE, "reshape: ", "f64[3]", "'bad_reshape'", LEVELS);
}
END_TEST

BODY(unset_output) {
    (void)lam_sum(in[0], NULL);
}

START_TEST(output_not_set) {
    FAIL_INSIDE(unset_output);
    EXPECT_ERROR(LAM_ERR_ARITY, "output 0", "'unset_output'", "not set", LEVELS, "remedy: ");
}
END_TEST

BODY(no_scalar) {
    out[0] = lam_mul(in[0], in[0]);
}

START_TEST(output_that_is_no_scalar) {
    FAIL_INSIDE(no_scalar);
    EXPECT_ERROR(LAM_ERR_SHAPE, "grad: ", "output 0", "'no_scalar'", "f64[3]", "vmap(size 2) -> eval", "remedy: ");
}
END_TEST

/* The first failure is what a call returns, however many follow from it. */
BODY(fails_often) {
    lam_fail(ctx, LAM_ERR_VALUE, "the first one");
    for (int k = 0; k < 200; k++) lam_fail(ctx, LAM_ERR_SHAPE, "one more");
    out[0] = in[0];
}

START_TEST(the_first_of_many_failures) {
    lam_tensor *y;
    ck_assert_int_eq(lam_call(FN(fails_often, 1, 1), LAM_LIST(num(1)), &y, 1), LAM_ERR_VALUE);
    ck_assert_int_eq(lam_status_of(ctx), LAM_ERR_VALUE);
    ck_assert_ptr_nonnull(strstr(lam_error(ctx), "the first one"));
    lam_clear_error(ctx);
}
END_TEST

BODY(too_many_elements) {
    lam_tensor *wide = lam_broadcast_to(lam_sum(in[0], NULL), LAM_DIMS((int64_t)1 << 40, (int64_t)1 << 40));
    out[0] = lam_sum(lam_exp(wide), NULL);
}

START_TEST(size_overflow) {
    FAIL_INSIDE(too_many_elements);
    EXPECT_ERROR(LAM_ERR_OVERFLOW, "1099511627776", "'too_many_elements'", LEVELS, "remedy: ");
}
END_TEST

BODY(too_much_memory) {
    lam_tensor *wide = lam_broadcast_to(lam_sum(in[0], NULL), LAM_DIMS(1 << 20));
    out[0] = lam_sum(lam_exp(wide), NULL);
}

START_TEST(memory_limit) {
    lam_ctx *real = ctx;
    ctx = lam_ctx_new(&(lam_ctx_options){.memory_limit = 1 << 20});
    FAIL_INSIDE(too_much_memory);
    EXPECT_ERROR(LAM_ERR_MEMORY, "exp: ", "memory limit", "1048576", "'too_much_memory'", "vmap(size 2)", "remedy: ");
    lam_ctx_free(ctx);
    ctx = real;
}
END_TEST

/* A user's own primitive whose vjp gives a gradient that does not fit. */
static lam_status shape_same(const lam_call_site *call, lam_shape out[]) {
    if (call->in[0]->rank != 1)
        return lam_rule_fail(call, LAM_ERR_SHAPE, "one axis wanted, %d given", call->in[0]->rank);
    out[0].dtype = (lam_dtype)call->in[0]->dtype;
    out[0].rank = 1;
    out[0].dims[0] = call->in[0]->dims[0];
    return LAM_OK;
}

static lam_status eval_same(const lam_call_site *call, lam_value *const out[]) {
    memcpy(out[0]->data, call->in[0]->data, (size_t)call->in[0]->count * sizeof(double));
    return LAM_OK;
}

static void vjp_refuses(const lam_rule *rule, lam_tensor *const g[], lam_tensor *gx[]) {
    gx[0] = lam_fail(rule->ctx, LAM_ERR_RULE, "no derivative of %s", rule->primitive->name);
    (void)g;
}

static const lam_primitive row_fragile = {.name = "fragile",
                                          .inputs = 1,
                                          .derivative = LAM_GENERAL,
                                          .shape = shape_same,
                                          .eval = eval_same,
                                          .vjp = vjp_refuses};

BODY(applies_fragile) {
    lam_tensor *y = NULL;
    lam_bind(ctx, &row_fragile, NULL, 0, LAM_LIST(in[0]), &y, 1);
    out[0] = lam_sum(y, NULL);
}

START_TEST(a_rule_that_fails) {
    lam_fn *g = lam_grad(FN(applies_fragile, 1, 1), NULL);
    ck_assert(lam_failed(apply1(g, VEC(1, 2))));
    EXPECT_OWN(LAM_ERR_RULE, "no derivative of fragile", "grad(applies_fragile)");
    ck_assert(lam_failed(apply1(g, MAT(1, 2, 1, 2))));
    EXPECT_ERROR(LAM_ERR_SHAPE, "fragile: one axis wanted, 2 given", "f64[1, 2]", "'applies_fragile'", "vjp -> eval");
}
END_TEST

static const lam_primitive row_bare = {
    .name = "bare", .inputs = 1, .derivative = LAM_GENERAL, .shape = shape_same, .eval = eval_same};
static const lam_primitive row_empty = {.name = "empty", .inputs = 1};
static const lam_primitive row_still = {.name = "still", .inputs = 1, .shape = shape_same};
static bool view_of_nothing(const lam_call_site *call, const lam_shape *out, int64_t strides[], int64_t *offset) {
    (void)call, (void)out, (void)strides, (void)offset;
    return false;
}

static const lam_primitive row_blind = {.name = "blind", .inputs = 1, .shape = shape_same, .view = view_of_nothing};
static const lam_primitive row_loopless = {
    .name = "loopless", .inputs = 1, .elementwise = true, .derivative = LAM_ELEMENTWISE};
static const lam_primitive row_beyond = {
    .name = "beyond", .inputs = 1, .elementwise = true, .derivative = LAM_ELEMENTWISE, .loop = 1 << 20};

BODY(applies_env) {
    lam_tensor *y = NULL;
    lam_bind(ctx, env, NULL, 0, LAM_LIST(in[0]), &y, 1);
    out[0] = lam_sum(y, NULL);
}

static void *row(const lam_primitive *p) {
    return (void *)(uintptr_t)p;
}

/* A row is asked only for what is needed. */
START_TEST(a_rule_that_is_missing) {
    lam_fn *f = FN_ENV(applies_env, 1, 1, row(&row_bare));
    lam_tensor *y, *dy;
    EXPECT_NUM(apply1(f, VEC(1, 2)), 3);
    ck_assert(lam_failed(apply1(lam_grad(f, NULL), VEC(1, 2))));
    EXPECT_ERROR(LAM_ERR_RULE, "bare: ", "no vjp rule", "f64[2]", "grad(applies_env)", "remedy: ");
    lam_jvp(f, LAM_LIST(VEC(1, 2)), LAM_LIST(VEC(1, 2)), &y, &dy, 1, NULL);
    EXPECT_ERROR(LAM_ERR_RULE, "bare: ", "no jvp rule", "f64[2]", "'applies_env'", "jvp -> eval", "remedy: ");
    ck_assert(lam_failed(apply1(lam_vmap(f, NULL), MAT(1, 2, 1, 2))));
    EXPECT_ERROR(LAM_ERR_RULE, "bare: ", "no batch rule", "'applies_env'", "vmap(size 1) -> eval", "remedy: ");
    ck_assert(lam_failed(apply1(FN_ENV(applies_env, 1, 1, row(&row_empty)), num(1))));
    EXPECT_ERROR(LAM_ERR_RULE, "'empty'", "no shape rule", "remedy: ");
}
END_TEST

/* Found at whatever level the operand is: by lam_bind, and where a view is made. */
START_TEST(a_row_that_cannot_be_evaluated) {
    const struct {
        const lam_primitive *row;
        const char *says;
    } rows[] = {{&row_still, "'still': its row has no eval and no view"},
                {&row_loopless, "'loopless': its row has no loop"},
                {&row_beyond, "'beyond': its row has no loop"},
                {&row_blind, "blind: its view refuses contiguous memory, and it has no eval"}};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        lam_fn *f = FN_ENV(applies_env, 1, 1, row(rows[k].row));
        ck_assert(lam_failed(apply1(f, VEC(1, 2))));
        EXPECT_ERROR(LAM_ERR_RULE, rows[k].says, "remedy: ");
        ck_assert(lam_failed(apply1(lam_grad(f, NULL), VEC(1, 2))));
        EXPECT_ERROR(LAM_ERR_RULE, rows[k].says, "grad(applies_env)", "remedy: ");
    }
}
END_TEST

BODY(sum_of_nothing) {
    out[0] = lam_add_all((lam_list){0, NULL});
}

/* An empty list names no context, so nothing can be recorded before the tensor comes back to a function. */
START_TEST(a_failed_tensor_of_no_context) {
    FAIL_INSIDE(sum_of_nothing);
    EXPECT_ERROR(LAM_ERR_CONTEXT, "output 0", "'sum_of_nothing'", "of another context or of none", LEVELS, "remedy: ");
}
END_TEST

BODY(calls_env) {
    out[0] = lam_sum(lam_apply(env, LAM_LIST(in[0])), NULL);
}

/* The chain of calls and the chain of levels are both shown, whatever lies between. */
START_TEST(a_failure_deep_inside_shows_the_whole_chain) {
    lam_fn *inner = lam_vmap(FN(bad_shape, 1, 1), NULL), *outer = lam_grad(FN_ENV(calls_env, 1, 1, inner), NULL);
    ck_assert(lam_failed(apply1(outer, MAT(2, 3, 1, 2, 3, 4, 5, 6))));
    EXPECT_ERROR(LAM_ERR_SHAPE, "add: ", "f64[3], f64[2]",
                 "'bad_shape', called by 'vmap(bad_shape)', called by 'calls_env', called by 'grad(calls_env)'",
                 "vmap(size 2) -> vjp -> eval", "remedy: ");
}
END_TEST

START_TEST(transforms_of_a_failed_or_freed_function) {
    lam_fn *f = FN(bad_shape, 1, 1);
    lam_fn_drop(f);
    ck_assert(lam_failed(lam_grad(f, NULL)));
    EXPECT_ERROR(LAM_ERR_FREED, "grad");
    ck_assert(lam_failed(lam_vmap(f, NULL)));
    EXPECT_ERROR(LAM_ERR_FREED, "vmap");
    ck_assert(lam_failed(lam_vmap(lam_grad(lam_fn_new(ctx, NULL), NULL), NULL)));
    ck_assert_uint_eq(lam_error_count(ctx), 1);
    EXPECT_STATUS(LAM_ERR_NULL);
    ck_assert(lam_failed(lam_grad(NULL, NULL)));
}
END_TEST

/* Not what a LAM_RANGE is packed into, nor a list of none. */
START_TEST(lists_of_axes_that_are_impossible) {
    lam_tensor *x = VEC(1, 2, 3);
    ck_assert(lam_failed(lam_sum(x, &(lam_reduce_options){.axes = {-1, (const int[]){0}}})));
    EXPECT_ERROR(LAM_ERR_AXIS, "impossible count");
    ck_assert(lam_failed(lam_sum(x, &(lam_reduce_options){.axes = LAM_AXES(LAM_RANGE(0, -3))})));
    EXPECT_ERROR(LAM_ERR_AXIS, "impossible", "LAM_RANGE");
    ck_assert(lam_failed(lam_vmap(FN(no_scalar, 1, 1), &(lam_vmap_options){.in_axes = LAM_AXES(LAM_RANGE(0, -3))})));
    EXPECT_ERROR(LAM_ERR_OPTION, "in_axes of 'no_scalar'", "LAM_RANGE");
}
END_TEST

BODY(negative) {
    out[0] = lam_neg(in[0]);
}

BODY(is_positive) {
    out[0] = lam_gt(in[0], 0);
}

BODY(step) {
    out[0] = out[1] = lam_add(in[0], in[1]);
}

BODY(trip) {
    out[0] = in[1];
}

/* Choices and loops name the list that the tensor stands in, and run nothing. */
START_TEST(control_flow_with_tensors_of_another_context) {
    lam_ctx *other = lam_ctx_new(NULL);
    lam_tensor *x = num(1), *theirs = lam_scalar(other, 1), *row = lam_ones(other, LAM_F64, LAM_DIMS(2)), *y[2];
    lam_fn *f = FN(negative, 1, 1), *go = FN(is_positive, 1, 1), *g = FN(step, 2, 2), *both[] = {f, f};
#define REFUSED(call, name, list)                                                                                      \
    ck_assert_int_eq(call, LAM_ERR_CONTEXT);                                                                           \
    ck_assert(lam_failed(y[0]));                                                                                       \
    EXPECT_ERROR(LAM_ERR_CONTEXT, name ": mixed contexts: number 0 of the " list, "lam_read")
    REFUSED(lam_cond(lam_gt(x, 0), f, f, LAM_LIST(theirs), y, 1), "cond", "operands");
    REFUSED(lam_cond(lam_gt(theirs, 0), f, f, LAM_LIST(x), y, 1), "cond", "predicates");
    REFUSED(lam_switch(lam_cast(theirs, LAM_I64), both, 2, LAM_LIST(x), y, 1), "switch", "indices");
    REFUSED(lam_switch(lam_cast(x, LAM_I64), both, 2, LAM_LIST(theirs), y, 1), "switch", "operands");
    REFUSED(lam_while(go, f, LAM_LIST(theirs), y, 1), "while", "carries");
    REFUSED(lam_fori(0, 2, FN(trip, 2, 1), LAM_LIST(theirs), y, 1), "fori", "carries");
    REFUSED(lam_scan(g, LAM_LIST(theirs), LAM_LIST(VEC(1, 2)), y, 2, NULL), "scan", "carries");
    REFUSED(lam_scan(g, LAM_LIST(x), LAM_LIST(row), y, 2, NULL), "scan", "xs");
    REFUSED(lam_map(f, LAM_LIST(row), y, 1, NULL), "map", "xs");
#undef REFUSED
    ck_assert_int_eq(lam_status_of(other), LAM_OK);
    lam_ctx_free(other);
}
END_TEST

BODY(added) {
    out[0] = lam_add(in[0], in[1]);
}

enum { FLOWS = 7, MOST = 64 };

/* Operation `which` of 1, or of two elements. */
static lam_status flow(int which, lam_fn *const f[4], lam_tensor *const x[3], lam_tensor *y[2]) {
    lam_fn *const both[] = {f[0], f[0]};
    switch (which) {
    case 0: return lam_cond(x[0], f[0], f[0], LAM_LIST(x[0]), y, 1);
    case 1: return lam_switch(x[1], both, 2, LAM_LIST(x[0]), y, 1);
    case 2: return lam_while(f[1], f[0], LAM_LIST(x[0]), y, 1);
    case 3: return lam_fori(0, 2, f[3], LAM_LIST(x[0]), y, 1);
    case 4: return lam_scan(f[2], LAM_LIST(x[0]), LAM_LIST(x[2]), y, 2, NULL);
    case 5: return lam_map(f[0], LAM_LIST(x[2]), y, 1, NULL);
    default: return lam_associative_scan(f[3], LAM_LIST(x[2]), 0, false, y, 1);
    }
}

/* Memory that refuses blocks of one size, and knows what was asked for last. */
typedef struct picky {
    lam_allocator all;
    size_t last, refuse;
} picky;

static void *picky_get(void *env, size_t bytes, size_t alignment) {
    picky *p = env;
    p->last = bytes;
    return bytes == p->refuse ? NULL : p->all.allocate(p->all.env, bytes, alignment);
}

static void picky_put(void *env, void *block, size_t bytes, size_t alignment) {
    picky *p = env;
    p->all.release(p->all.env, block, bytes, alignment);
}

/* In `ctx`, where handles are used up and then so many given back. An alias is a handle and nothing else, so what its
 * making asks for is memory for handles. */
static lam_status flow_with_handles(int which, int left, picky *p) {
    lam_fn *f[] = {FN(negative, 1, 1), FN(is_positive, 1, 1), FN(step, 2, 2), FN(added, 2, 1)};
    lam_tensor *x[] = {num(1), lam_cast(num(1), LAM_I64), VEC(1, 2)}, *y[2], *t, *spare[MOST];
    int n = 0;
    for (p->last = 0; !p->last;) lam_alias(x[0]);
    p->refuse = p->last;
    for (; !lam_failed(t = lam_alias(x[0])); n++) spare[n % MOST] = t;
    ck_assert_int_ge(n, MOST);
    lam_clear_error(ctx);
    for (int i = 0; i < left; i++) lam_drop(spare[i]);
    const lam_status status = flow(which, f, x, y);
    ck_assert_int_eq(lam_status_of(ctx), status);
    ck_assert(lam_failed(y[0]) == (status != LAM_OK));
    return status;
}

/* Memory for a handle is refused at each moment. Enough handles, and the operation is done. */
START_TEST(control_flow_without_memory_for_handles) {
    lam_ctx *saved = ctx;
    lam_status status = LAM_ERR_MEMORY;
    for (int left = 0; left < MOST && status != LAM_OK; left++) {
        memory m = {0};
        lam_ctx_options options = memory_options(&m);
        picky p = {options.allocator, 0, 0};
        options.allocator = (lam_allocator){picky_get, picky_put, &p};
        ctx = lam_ctx_new(&options);
        status = flow_with_handles(_i, left, &p);
        lam_ctx_free(ctx);
        ctx = saved;
        ck_assert_msg(status == LAM_ERR_MEMORY || (left && status == LAM_OK), "%d handles left: %d", left, status);
        ck_assert_msg(m.blocks == 0 && !m.wrong_size, "%d handles left: %zu blocks are", left, m.blocks);
    }
    ck_assert_int_eq(status, LAM_OK);
}
END_TEST

/* What another context has freed, and a failed tensor of it, are recorded where they are used; transforms too. */
START_TEST(freed_and_failed_tensors_of_another_context) {
    lam_ctx *other = lam_ctx_new(NULL);
    lam_tensor *freed = lam_scalar(other, 1), *failed = lam_fail(other, LAM_ERR_USER, "theirs"), *y = NULL;
    lam_fn *f = FN(negative, 1, 1), *pullback;
    lam_drop(freed);
    ck_assert_int_eq(lam_cond(num(1), f, f, LAM_LIST(freed), &y, 1), LAM_ERR_FREED);
    EXPECT_ERROR(LAM_ERR_FREED, "cond: operand 0");
    ck_assert_int_eq(lam_cond(num(1), f, f, LAM_LIST(failed), &y, 1), LAM_ERR_CONTEXT);
    EXPECT_ERROR(LAM_ERR_CONTEXT, "cond: operand 0", "failed tensor of another context");
    ck_assert_int_eq(lam_vjp(f, LAM_LIST(freed), &y, 1, &pullback, NULL), LAM_ERR_FREED);
    EXPECT_STATUS(LAM_ERR_FREED);
    ck_assert_int_eq(lam_vjp(f, LAM_LIST(failed), &y, 1, &pullback, NULL), LAM_ERR_CONTEXT);
    EXPECT_STATUS(LAM_ERR_CONTEXT);
    ck_assert_int_eq(lam_call(f, LAM_LIST(freed), &y, 1), LAM_ERR_FREED);
    EXPECT_ERROR(LAM_ERR_FREED, "negative: operand 0");
    ck_assert_int_eq(lam_call(f, LAM_LIST(failed), &y, 1), LAM_ERR_CONTEXT);
    EXPECT_ERROR(LAM_ERR_CONTEXT, "negative: operand 0");
    lam_ctx_free(other);
}
END_TEST

/* After any of these the levels are as before: the next call works. */
START_TEST(the_context_works_after_each_failure) {
    static const lam_body bodies[] = {bad_shape, bad_dtype, bad_axis, bad_index, bad_reshape, unset_output, no_scalar};
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        fail_inside(bodies[i], "mistaken");
        lam_clear_error(ctx);
        lam_fn *g = lam_grad(FN_ENV(calls_env, 1, 1, FN(no_scalar, 1, 1)), NULL);
        EXPECT(apply1(lam_vmap(g, NULL), MAT(1, 2, 3, 4)), LAM_DIMS(1, 2), 6, 8);
    }
}
END_TEST

BODY(fails) {
    out[0] = lam_fail(ctx, LAM_ERR_USER, "here");
}

BODY(narrows) {
    out[0] = lam_cast(in[0], LAM_F32);
}

/* Control flow gives the first failure of the call, not that of an earlier one, whose text stays. */
START_TEST(the_status_of_control_flow_is_that_of_the_call) {
    lam_tensor *x = num(1), *v = VEC(1, 2, 3), *y[2];
    lam_add(v, VEC(1, 2));
    ck_assert_int_eq(lam_cond(x, NULL, FN(fails, 1, 1), LAM_LIST(x), y, 1), LAM_ERR_NULL);
    ck_assert_int_eq(lam_cond(x, FN(fails, 1, 1), FN(fails, 1, 1), LAM_LIST(x), y, 1), LAM_ERR_USER);
    ck_assert_int_eq(lam_scan(FN(fails, 2, 1), LAM_LIST(x), LAM_LIST(v), NULL, 1, NULL), LAM_ERR_NULL);
    ck_assert_int_eq(lam_scan(FN(narrows, 2, 1), LAM_LIST(x), LAM_LIST(v), y, 1, NULL), LAM_ERR_DTYPE);
    ck_assert_int_eq(lam_associative_scan(FN(fails, 2, 1), LAM_LIST(v), 0, false, y, 1), LAM_ERR_USER);
    ck_assert_int_eq(lam_associative_scan(FN(narrows, 2, 1), LAM_LIST(v), 0, false, y, 1), LAM_ERR_DTYPE);
    ck_assert_int_eq(lam_associative_scan(FN(fails, 2, 1), LAM_LIST(v), 7, false, y, 1), LAM_ERR_AXIS);
    EXPECT_ERROR(LAM_ERR_SHAPE, "add: ");
}
END_TEST

BODY(sums_parts) {
    out[0] = lam_sum(in[0], NULL);
}

/* Of two things that do not go together both are shown, also where the operation is made of others. */
START_TEST(both_that_do_not_fit_are_shown) {
    lam_tensor *v = VEC(1, 2, 3), *m = lam_eye(ctx, LAM_F64, 2, 2), *start = lam_cast(num(0), LAM_I64), *y;
    lam_update_slice(m, v, LAM_DIMS(0, 0), LAM_DIMS(2, 1), LAM_DIMS0);
    EXPECT_ERROR(LAM_ERR_SHAPE, "update_slice", "f64[3]", "the part of x that it replaces, f64[2, 1]");
    lam_dynamic_update_slice(m, v, LAM_LIST(start, start));
    EXPECT_ERROR(LAM_ERR_SHAPE, "dynamic_update_slice: the update has rank 1, x has rank 2", "f64[2, 2], f64[3]");
    lam_bincount(lam_arange(ctx, LAM_I64, 0, 2, 1), v, 2);
    EXPECT_ERROR(LAM_ERR_SHAPE, "bincount", "i64[2], f64[3]");
    lam_lexsort(LAM_LIST(v, m), 0);
    EXPECT_ERROR(LAM_ERR_SHAPE, "lexsort: key 1", "f64[3], f64[2, 2]");
    lam_interp(num(1), v, m);
    EXPECT_ERROR(LAM_ERR_SHAPE, "interp", "f64[], f64[3], f64[2, 2]");
    lam_reduce(FN(sums_parts, 2, 1), v, m, NULL);
    EXPECT_ERROR(LAM_ERR_SHAPE, "reduce: init", "f64[3], f64[2, 2]");
    lam_associative_scan(FN(sums_parts, 2, 1), LAM_LIST(v), 0, false, &y, 1);
    EXPECT_ERROR(LAM_ERR_SHAPE, "result 0 of 'sums_parts'", "operand 0", "f64[1], f64[]", "element by element");
    const lam_window_options windows = {.window = LAM_DIMS(2), .strides = LAM_DIMS(2)};
    lam_select_and_scatter_add(v, v, false, &windows);
    EXPECT_ERROR(LAM_ERR_SHAPE, "select_and_scatter_add", "one number for each window", "i64[1], f64[3]");
}
END_TEST

Suite *suite_transforms_failure(void) {
    Suite *suite = SUITE_OF("transforms/failure", shape_mismatch, dtype_mismatch, axis_out_of_range, index_out_of_range,
                            reshape_to_another_size, output_not_set, the_first_of_many_failures,
                            output_that_is_no_scalar, size_overflow, memory_limit, a_rule_that_fails,
                            a_rule_that_is_missing, a_row_that_cannot_be_evaluated, a_failed_tensor_of_no_context,
                            a_failure_deep_inside_shows_the_whole_chain, transforms_of_a_failed_or_freed_function,
                            lists_of_axes_that_are_impossible, control_flow_with_tensors_of_another_context,
                            freed_and_failed_tensors_of_another_context, the_context_works_after_each_failure,
                            the_status_of_control_flow_is_that_of_the_call, both_that_do_not_fit_are_shown);
    suite_loop(suite, control_flow_without_memory_for_handles, FLOWS);
    return suite;
}
