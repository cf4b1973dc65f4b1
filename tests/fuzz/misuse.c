/* Public functions given what they must refuse: NULL, failed, stale, freed, poisoned and escaped tensors, those of
 * another context, the failed context, failed and freed functions. None may crash; each gives a failure, and the
 * context works on. */
#include "tests/support.h"

#include <lamina/extend.h>

#include <stdlib.h>

typedef lam_tensor *unary(lam_tensor *);
typedef lam_tensor *binary(lam_tensor *, lam_tensor *);
typedef lam_tensor *reduction(lam_tensor *, const lam_reduce_options *);
typedef lam_tensor *along(lam_tensor *, int);

static unary *const unaries[] = {
    lam_abs,           lam_acos,         lam_acosh,    lam_alias,      lam_asin,       lam_asinh,
    lam_atan,          lam_atanh,        lam_cbrt,     lam_ceil,       lam_cholesky,   lam_contiguous,
    lam_cos,           lam_cosh,         lam_det,      lam_empty_like, lam_erf,        lam_erfc,
    lam_exp,           lam_exp2,         lam_expm1,    lam_floor,      lam_hold,       lam_inv,
    lam_is_finite,     lam_is_nan,       lam_log,      lam_log10,      lam_log1p,      lam_log2,
    lam_logistic,      lam_neg,          lam_not,      lam_ones_like,  lam_reciprocal, lam_round,
    lam_rsqrt,         lam_sign,         lam_sin,      lam_sinh,       lam_sqrt,       lam_square,
    lam_stop_gradient, lam_tan,          lam_tanh,     lam_trunc,      lam_zeros_like, lam_digamma,
    lam_entr,          lam_erf_inv,      lam_erfcx,    lam_gelu,       lam_gelu_tanh,  lam_hard_sigmoid,
    lam_hard_silu,     lam_hard_tanh,    lam_i0,       lam_i0e,        lam_i1,         lam_i1e,
    lam_lgamma,        lam_log_logistic, lam_log_ndtr, lam_logit,      lam_mish,       lam_ndtr,
    lam_ndtri,         lam_relu,         lam_relu6,    lam_selu,       lam_silu,       lam_softplus,
    lam_softsign,
};

static binary *const binaries[] = {
    (lam_add),
    lam_add_,
    lam_and,
    lam_assign_,
    (lam_atan2),
    lam_cho_solve,
    (lam_copysign),
    (lam_div),
    lam_div_,
    lam_dot,
    (lam_eq),
    (lam_ge),
    (lam_gt),
    (lam_hypot),
    (lam_le),
    (lam_logaddexp),
    (lam_lt),
    lam_matmul,
    (lam_max),
    (lam_min),
    (lam_mul),
    lam_mul_,
    (lam_ne),
    lam_or,
    lam_outer,
    (lam_pow),
    (lam_rem),
    lam_solve,
    (lam_sub),
    lam_sub_,
    (lam_xlogy),
    lam_xor,
    (lam_betaln),
    (lam_igamma),
    (lam_igammac),
    (lam_logaddexp2),
    (lam_nextafter),
    (lam_shift_left),
    (lam_shift_right_arithmetic),
    (lam_shift_right_logical),
    (lam_xlog1py),
    lam_kl_div,
    lam_rel_entr,
    lam_log_cosh,
    lam_squared_error,
    lam_sigmoid_binary_cross_entropy,

};

static reduction *const reductions[] = {
    lam_all, lam_any, lam_logsumexp, lam_max_reduce, lam_mean, lam_min_reduce, lam_prod, lam_sum,
};

static along *const axes[] = {
    lam_argmax,      lam_argmin,         lam_cumlogsumexp, lam_cumlogsumexp_reverse, lam_cummax, lam_cummax_reverse,
    lam_cummin,      lam_cummin_reverse, lam_cumprod,      lam_cumprod_reverse,      lam_cumsum, lam_cumsum_reverse,
    lam_expand_dims, lam_log_softmax,    lam_softmax,
};

#define COUNT(table) (sizeof(table) / sizeof(table)[0])

/* ---- tensors that must be refused ------------------------------------------------------------------------------ */

enum kind { MISSING, FAILED, STALE, FREED, POISONED, ESCAPED, OF_NO_CONTEXT, FOREIGN, KINDS };
static const char *const kind_names[KINDS] = {"NULL",     "failed",  "stale",         "freed",
                                              "poisoned", "escaped", "of no context", "foreign"};
static lam_tensor *bad[KINDS];
static lam_ctx *other;

BODY(leak_input) {
    *(lam_tensor **)env = lam_hold(in[0]);
    out[0] = in[0];
}

static void make_bad(void) {
    lam_ctx_options impossible = {.threads = -1};
    lam_ctx *none = lam_ctx_new(&impossible);
    other = lam_ctx_new(NULL);
    bad[MISSING] = NULL;
    bad[STALE] = bad[FAILED] = lam_fail(ctx, LAM_ERR_USER, "made for the test");
    bad[FREED] = num(1);
    lam_drop(bad[FREED]);
    bad[POISONED] = VEC(1, 2);
    lam_add_(bad[POISONED], VEC(1, 2, 3));
    lam_clear_error(ctx);
    apply1(lam_grad(FN_ENV(leak_input, 1, 1, &bad[ESCAPED]), NULL), num(1));
    bad[OF_NO_CONTEXT] = lam_scalar(none, 1);
    bad[FOREIGN] = lam_array(other, LAM_F64, LAM_DIMS(2, 2), (double[]){2, 1, 1, 2});
    EXPECT_OK();
}

static void drop_bad(void) {
    lam_release(bad[ESCAPED]);
    lam_ctx_free(other);
    lam_clear_error(ctx);
}

static lam_tensor *good(void) {
    return MAT(2, 2, 2, 1, 1, 2);
}

/* What is done with one kind: a failed tensor is used while its failure stands. */
static void before(enum kind kind) {
    if (kind == FAILED) lam_fail(ctx, LAM_ERR_USER, "stands");
    if (kind == FREED) lam_drop(bad[FREED] = num(1)); /* fresh: freed handles are reused in the end */
}

static void refused(enum kind kind, lam_tensor *result, const char *what, size_t number) {
    ck_assert_msg(lam_failed(result), "%s %zu took a %s tensor", what, number, kind_names[kind]);
    ck_assert_msg(lam_status_of(ctx) != LAM_OK || kind == OF_NO_CONTEXT || kind == MISSING,
                  "%s %zu says nothing of a %s tensor", what, number, kind_names[kind]);
    lam_clear_error(ctx);
    ck_assert_msg(lam_item((lam_add)(num(1), num(2))) == 3, "%s %zu of a %s tensor leaves the context broken", what,
                  number, kind_names[kind]);
}

/* ---- the tables ------------------------------------------------------------------------------------------------ */

START_TEST(unaries_refuse) {
    make_bad();
    for (enum kind k = 0; k < FOREIGN; k++) {
        bool like = k == ESCAPED; /* only what uses elements or levels must see that it escaped */
        for (size_t i = 0; i < COUNT(unaries); i++) {
            if (like && (unaries[i] == lam_hold || unaries[i] == lam_alias || unaries[i] == lam_zeros_like ||
                         unaries[i] == lam_ones_like || unaries[i] == lam_empty_like))
                continue;
            before(k);
            refused(k, unaries[i](bad[k]), "unary", i);
        }
        for (size_t i = 0; i < COUNT(reductions); i++) {
            before(k);
            refused(k, reductions[i](bad[k], NULL), "reduction", i);
            refused(k, reductions[i](bad[k], &(lam_reduce_options){.axes = LAM_AXES(0), .keepdims = true}), "reduction",
                    i);
        }
        for (size_t i = 0; i < COUNT(axes); i++) {
            before(k);
            refused(k, axes[i](bad[k], 0), "axis operation", i);
            refused(k, axes[i](bad[k], 7), "axis operation", i);
        }
    }
    drop_bad();
}
END_TEST

START_TEST(binaries_refuse_on_either_side) {
    make_bad();
    for (enum kind k = 0; k < KINDS; k++)
        for (size_t i = 0; i < COUNT(binaries); i++) {
            before(k);
            if (!(k == ESCAPED && binaries[i] == lam_assign_))
                refused(k, binaries[i](good(), bad[k]), "right of binary", i);
            before(k);
            lam_tensor *left = k == FOREIGN && binaries[i] == lam_assign_ ? NULL : binaries[i](bad[k], good());
            if (k != FOREIGN) refused(k, left, "left of binary", i);
            lam_clear_error(ctx);
            lam_clear_error(other);
        }
    drop_bad();
}
END_TEST

/* Operations with lists and options. t is bad, x is not. */
static void use_layout(enum kind k, lam_tensor *t, lam_tensor *x) {
    lam_dims two = LAM_DIMS(0, 0), none = {2, NULL};
    lam_tensor *results[] = {
        lam_reshape(t, LAM_DIMS(4)),
        lam_reshape(t, none),
        lam_transpose(t, LAM_AXES(1, 0)),
        lam_moveaxis(t, 0, 1),
        lam_broadcast_to(t, LAM_DIMS(2, 2)),
        lam_broadcast_to(t, none),
        lam_squeeze(t, LAM_AXES(0)),
        lam_slice(t, two, LAM_DIMS(1, 1), LAM_DIMS0),
        lam_slice(t, none, none, none),
        lam_slice_axis(t, 0, 0, 1),
        lam_index(t, 0, 0),
        lam_reverse(t, (lam_axes){0, NULL}),
        lam_update_slice(t, x, two, two, LAM_DIMS0),
        lam_update_slice(x, t, two, two, LAM_DIMS0),
        lam_set_(t, x, two, two, LAM_DIMS0),
        lam_concatenate(LAM_LIST(t, x), 0),
        lam_concatenate(LAM_LIST(x, t), 0),
        lam_stack(LAM_LIST(t, x), 0),
        lam_stack(LAM_LIST(x, t), 0),
        lam_pad(t, two, two, NULL),
        lam_pad(t, none, none, NULL),
        lam_cast(t, LAM_F32),
        lam_cast(t, (lam_dtype)77),
        lam_integer_pow(t, 3),
        lam_add_all(LAM_LIST(t, x)),
        lam_add_all(LAM_LIST(x, t)),
        (lam_where)(lam_gt(x, 0), x, t),
        (lam_where)(lam_gt(x, 0), t, x),
        (lam_where)(t, x, x),
        (lam_clamp)(t, x, x),
        (lam_clamp)(x, t, x),
        (lam_clamp)(x, x, t),
        lam_add(t, 1),
        lam_mul(2.0, t),
        lam_where(t, 1.0, 2.0),
        lam_clamp(t, 0, 1),
        lam_tril(t, 0),
        lam_triu(t, 0),
        lam_diagonal(t, 0, 0, 1),
        lam_matrix_trace(t, 0, 0, 1),
    };
    for (size_t i = 0; i < COUNT(results); i++)
        ck_assert_msg(lam_failed(results[i]), "layout %zu took a %s tensor", i, kind_names[k]);
}

static void use_contractions(enum kind k, lam_tensor *t, lam_tensor *x) {
    lam_tensor *i = lam_array(ctx, LAM_I64, LAM_DIMS(1), (int64_t[]){0}), *a = NULL, *b = NULL, *c = NULL;
    lam_tensor *results[] = {
        lam_dot_general(t, x, NULL),
        lam_dot_general(x, t, NULL),
        lam_einsum("ij,jk->ik", LAM_LIST(t, x)),
        lam_einsum("ij,jk->ik", LAM_LIST(x, t)),
        lam_einsum(NULL, LAM_LIST(x, t)),
        lam_tensordot(t, x, LAM_AXES(0), LAM_AXES(0)),
        lam_tensordot(x, t, LAM_AXES(0), LAM_AXES(0)),
        lam_vecdot(t, x, 0),
        lam_vecdot(x, t, 0),
        lam_triangular_solve(t, x, NULL),
        lam_triangular_solve(x, t, NULL),
        lam_norm(t, NULL),
        lam_var(t, NULL),
        lam_std(t, NULL),
        lam_take(t, i, 0),
        lam_take(x, t, 0),
        lam_take_mode(t, i, 0, (lam_index_mode)99),
        lam_take_along_axis(t, x, 0),
        lam_take_along_axis(x, t, 0),
        lam_put(t, i, x, 0),
        lam_put(x, t, x, 0),
        lam_put(x, i, t, 0),
        lam_scatter_add(t, i, x, 0),
        lam_scatter_add(x, t, x, 0),
        lam_scatter_add(x, i, t, 0),
        lam_one_hot(t, 3, LAM_F64),
        lam_linear_recurrence(t, x, 0, false),
        lam_linear_recurrence(x, t, 0, false),
        lam_index_inverse(t, 3),
        lam_checkpoint_name(t, "name"),
        lam_on_gradient(t, NULL, NULL),
    };
    for (size_t n = 0; n < COUNT(results); n++)
        ck_assert_msg(lam_failed(results[n]), "contraction %zu took a %s tensor", n, kind_names[k]);
    ck_assert_int_ne(lam_lu(t, &a, &b, &c), LAM_OK);
    ck_assert(lam_failed(a) && lam_failed(b) && lam_failed(c));
    ck_assert_int_ne(lam_slogdet(t, &a, &b), LAM_OK);
    ck_assert(lam_failed(a) && lam_failed(b));
}

START_TEST(operations_with_lists_refuse) {
    make_bad();
    for (enum kind k = 0; k < FOREIGN; k++) {
        before(k);
        use_layout(k, bad[k], good());
        before(k);
        use_contractions(k, bad[k], good());
        refused(k, &(*lam_fail(ctx, LAM_ERR_USER, "looked at")), "lists", 0);
    }
    drop_bad();
}
END_TEST

START_TEST(accessors_are_safe) {
    char text[64];
    FILE *file = tmpfile();
    make_bad();
    for (enum kind k = 0; k < FOREIGN; k++) {
        lam_tensor *t = bad[k];
        before(k);
        ck_assert(isnan(lam_item(t)));
        ck_assert_int_ne(lam_read(t, text, sizeof text), LAM_OK);
        ck_assert_int_ne(lam_read_strided(t, text, LAM_DIMS0), LAM_OK);
        ck_assert_ptr_null(lam_data(t));
        ck_assert_int_eq(lam_rank(t), 0);
        ck_assert_int_eq(lam_dim(t, 0), -1);
        ck_assert_int_eq(lam_size(t), 1);
        ck_assert_int_eq(lam_dims_of(t).rank, 0);
        ck_assert_int_eq(lam_dtype_of(t), LAM_F64);
        ck_assert_ptr_nonnull(lam_ctx_of(t));
        lam_print(file, t);
        lam_clear_error(ctx);
    }
    lam_print(NULL, num(1));
    lam_print_levels(NULL, ctx);
    lam_print_levels(file, NULL);
    fclose(file);
    drop_bad();
}
END_TEST

/* ---- contexts -------------------------------------------------------------------------------------------------- */

static void use_context(lam_ctx *c) {
    double x = 1;
    lam_dims none = {2, NULL};
    lam_tensor *out;
    lam_tensor *made[] = {
        lam_scalar(c, 1),
        lam_array(c, LAM_F64, LAM_DIMS(1), &x),
        lam_borrow(c, LAM_F64, LAM_DIMS(1), &x, NULL),
        lam_zeros(c, LAM_F64, LAM_DIMS(2)),
        lam_ones(c, LAM_F64, none),
        lam_full(c, LAM_F64, LAM_DIMS(2), 1),
        lam_eye(c, LAM_F64, 2, 2),
        lam_arange(c, LAM_F64, 0, 3, 1),
        lam_linspace(c, LAM_F64, 0, 1, 3),
        lam_iota(c, LAM_F64, LAM_DIMS(2), 0),
        lam_fail(c, LAM_ERR_USER, "%s", "text"),
    };
    for (size_t i = 0; i < COUNT(made); i++) ck_assert_msg(lam_failed(made[i]), "maker %zu", i);
    lam_fn *f = lam_fn_new(c, &(lam_fn_options){.body = leak_input, .inputs = 1, .outputs = 1});
    ck_assert(lam_failed(f));
    ck_assert(lam_failed(lam_fn_new(c, NULL)));
    ck_assert(lam_failed(lam_function_fn(c, NULL, NULL, 1, 1)));
    ck_assert_int_ne(lam_function_apply(c, NULL, NULL, LAM_LIST(made[0]), &out, 1), LAM_OK);
    ck_assert_int_ne(lam_bind(c, NULL, NULL, 0, LAM_LIST(made[0]), &out, 1), LAM_OK);
    ck_assert_ptr_null(lam_scope_begin(c));
    ck_assert_int_eq(lam_scope_end(NULL, made, 3), LAM_OK);
    ck_assert_int_ne(lam_status_of(c), LAM_OK);
    ck_assert_int_gt(strlen(lam_error(c)), 0);
    lam_clear_error(c);
    lam_ctx_reset_peak(c);
    lam_ctx_trim(c);
    ck_assert(lam_ctx_bytes(c) == 0 && lam_ctx_peak_bytes(c) == 0);
    lam_ctx_free(c);
}

START_TEST(contexts_that_are_none) {
    use_context(NULL);
    use_context(lam_ctx_new(&(lam_ctx_options){.threads = -1}));
    use_context(lam_ctx_new(&(lam_ctx_options){
        .allocator = {.allocate = NULL, .release = (void (*)(void *, void *, size_t, size_t))abort}}));
    lam_drop(NULL);
    lam_release(NULL);
    lam_hook_remove(NULL);
    ck_assert_str_eq(lam_status_name((lam_status)-3), "LAM_ERR_?");
    ck_assert_str_eq(lam_status_name((lam_status)999), "LAM_ERR_?");
    ck_assert_str_eq(lam_dtype_name((lam_dtype)-1), "?");
    ck_assert_int_eq(lam_dtype_bytes((lam_dtype)99), 0);
}
END_TEST

/* ---- functions ------------------------------------------------------------------------------------------------- */

BODY(identity) {
    out[0] = in[0];
}

static void use_function(lam_fn *f) {
    lam_tensor *x = num(1), *out[2], *tangents[2];
    lam_fn *made;
    lam_fn *derived[] = {
        lam_grad(f, NULL),
        lam_value_and_grad(f, NULL),
        lam_jvp_fn(f, NULL),
        lam_vmap(f, NULL),
        lam_jacfwd(f, NULL),
        lam_jacrev(f, NULL),
        lam_jacobian(f, NULL),
        lam_value_and_jacobian(f, NULL),
        lam_hessian(f, NULL),
        lam_value_grad_and_hessian(f, NULL),
        lam_hvp(f, NULL),
        lam_checkpoint(f, NULL),
        lam_linear_transpose(f, LAM_LIST(x)),
        lam_custom_vjp(f, f, f, NULL),
        lam_custom_jvp(f, f, NULL),
        lam_custom_jvps(f, NULL, 0, NULL),
        lam_custom_vmap(f, NULL, NULL),
        lam_fn_hold(f),
    };
    for (size_t i = 0; i < COUNT(derived); i++) ck_assert_msg(lam_failed(derived[i]), "transform %zu", i);
    ck_assert(lam_failed(lam_apply(f, LAM_LIST(x))));
    ck_assert_int_ne(lam_call(f, LAM_LIST(x), out, 1), LAM_OK);
    ck_assert_int_ne(lam_call(f, LAM_LIST(x), NULL, 1), LAM_OK);
    ck_assert_int_ne(lam_vjp(f, LAM_LIST(x), out, 1, &made, NULL), LAM_OK);
    ck_assert(lam_failed(made) && lam_failed(out[0]));
    ck_assert_int_ne(lam_vjp(f, LAM_LIST(x), NULL, 1, NULL, NULL), LAM_OK);
    ck_assert_int_ne(lam_jvp(f, LAM_LIST(x), LAM_LIST(x), out, tangents, 1, NULL), LAM_OK);
    ck_assert_int_ne(lam_jvp(f, LAM_LIST(x), LAM_LIST(x), NULL, NULL, 1, NULL), LAM_OK);
    ck_assert_int_ne(lam_linearize(f, LAM_LIST(x), out, 1, &made, NULL), LAM_OK);
    ck_assert_int_ne(lam_linearize(f, LAM_LIST(x), NULL, 1, NULL, NULL), LAM_OK);
    ck_assert_int_ne(lam_check_grads(f, LAM_LIST(x), NULL), LAM_OK);
    ck_assert(lam_failed(lam_on_gradient(x, f, NULL)));
    ck_assert_int_eq(lam_fn_inputs(f), 0);
    ck_assert_int_eq(lam_fn_outputs(f), 0);
    ck_assert_str_eq(lam_fn_name(f), "failed");
    lam_fn_release(f);
    lam_fn_drop(f);
    lam_clear_error(ctx);
    EXPECT_NUM(apply1(lam_grad(FN(identity, 1, 1), NULL), num(2)), 1);
}

START_TEST(functions_that_are_none) {
    lam_fn *freed = FN(identity, 1, 1);
    lam_fn_drop(freed);
    use_function(NULL);
    use_function(freed);
    lam_fn *failed = lam_fn_new(ctx, NULL);
    EXPECT_STATUS(LAM_ERR_NULL);
    use_function(failed);
}
END_TEST

/* Lists whose counts and items contradict each other, at every place a list goes. */
START_TEST(lists_that_lie) {
    lam_fn *f = FN(identity, 1, 1), *made;
    lam_tensor *x = num(1), *out[1], *tangents[1], *null = NULL;
    const lam_list lists[] = {
        {1, NULL}, {0, NULL}, {2, (lam_tensor *[]){x, x}}, {1, &null}, {SIZE_MAX / 16, (lam_tensor *[]){x}}};
    for (size_t i = 0; i < COUNT(lists); i++) {
        bool absent = i == 3; /* NULL is a zero tangent or cotangent */
        ck_assert_int_ne(lam_call(f, lists[i], out, 1), LAM_OK);
        ck_assert(lam_failed(lam_apply(lam_grad(f, NULL), lists[i])));
        ck_assert_int_ne(lam_vjp(f, lists[i], out, 1, &made, NULL), LAM_OK);
        ck_assert_int_ne(lam_linearize(f, lists[i], out, 1, &made, NULL), LAM_OK);
        ck_assert_int_ne(lam_jvp(f, lists[i], LAM_LIST(x), out, tangents, 1, NULL), LAM_OK);
        ck_assert_int_ne(lam_check_grads(f, lists[i], NULL), LAM_OK);
        ck_assert(lam_failed(lam_linear_transpose(f, lists[i])));
        lam_clear_error(ctx);
        ck_assert(absent == (lam_jvp(f, LAM_LIST(x), lists[i], out, tangents, 1, NULL) == LAM_OK));
        lam_clear_error(ctx);
        ck_assert_int_eq(lam_vjp(f, LAM_LIST(x), out, 1, &made, NULL), LAM_OK);
        ck_assert(absent == (lam_call(made, lists[i], out, 1) == LAM_OK));
        lam_clear_error(ctx);
        if (i == 2 || i == 4) continue;
        ck_assert(lam_failed(lam_concatenate(lists[i], 0)) && lam_failed(lam_stack(lists[i], 0)) &&
                  lam_failed(lam_add_all(lists[i])));
        lam_clear_error(ctx);
    }
}
END_TEST

Suite *suite_fuzz_misuse(void) {
    return SUITE_OF("fuzz/misuse", unaries_refuse, binaries_refuse_on_either_side, operations_with_lists_refuse,
                    accessors_are_safe, contexts_that_are_none, functions_that_are_none, lists_that_lie);
}
