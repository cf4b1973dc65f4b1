/* From public operations to dispatch: see apply.h. What is common runs straight through: live handles of one context
 * whose values need neither conversion nor checks. Everything else, wrong or merely mixed, goes to the long way, which
 * checks all and records what it finds; the short ways record nothing and leave nothing half done, so that they may be
 * given up at any point (NOTE [short ways] in lib/base/inline.h). */
#include "lib/primitives/apply.h"

#include "lib/base/inline.h"
#include "lib/dispatch/dispatch.h"
#include "lib/dispatch/fn.h"
#include "lib/primitives/axes.h"
#include "lib/primitives/rows.h"
#include "lib/tensor/dtype.h"
#include "lib/tensor/value.h"

#include <lamina/tensor.h>

#include <assert.h>
#include <math.h>
#include <string.h>

enum { FEW = 3 }; /* operands of the elementwise rows */

lam_status lam__apply_shape_as(const lam_value *x, lam_dtype dtype, lam_shape *out) {
    out->dtype = dtype;
    out->rank = x->rank;
    for (int i = 0; i < x->rank; i++) out->dims[i] = x->dims[i];
    return LAM_OK;
}

/* Applies a call whose operands have been checked; the result, or the failed tensor, in the innermost scope. The
 * reference that dispatch gives goes into the handle. */
static lam_tensor *finish(const lam_call_site *call) {
    lam_value *out = NULL;
    return lam__dispatch_checked(call, &out) == LAM_OK ? lam__scope_handle(call->ctx, out) : &call->ctx->failed;
}

/* A concrete operand is evaluated at once: no level has to be looked for, and evaluation checks its type anyway. */
lam_tensor *lam__apply1(const lam_primitive *p, const void *params, size_t bytes, lam_tensor *x) {
    if (!x || x->magic != LAM__LIVE) return lam__apply(p, params, bytes, 1, &x);
    lam_value *value = x->value, *out = NULL;
    lam_call_site call = {.ctx = x->ctx,
                          .primitive = p,
                          .params = params,
                          .params_bytes = bytes,
                          .inputs = 1,
                          .outputs = 1,
                          .in = &value};
    bool plain = value->kind == LAM__CONCRETE;
    lam_status status = plain ? lam__eval(&call, &out) : lam__dispatch_checked(&call, &out);
    return status == LAM_OK ? lam__scope_handle(x->ctx, out) : &x->ctx->failed;
}

/* Room for eight operands lies in the C frame; lists (concatenate, stack) may be longer. Without a first handle there
 * is no context to take memory from, and lam__scope_operands stops at that operand before it writes beyond the
 * frame. */
lam_tensor *lam__apply(const lam_primitive *p, const void *params, size_t bytes, size_t n, lam_tensor *const in[]) {
    lam__scratch_area area;
    lam_value *few[8], **values = few;
    lam_tensor *failed = &lam__context_failed.failed;
    if (n > 8 && in[0]) {
        values = lam__scratch_get(&area, in[0]->ctx, n * sizeof *values);
        if (!values) return &in[0]->ctx->failed;
    }
    lam_ctx *ctx = lam__scope_operands(p->name, n, in, values, &failed);
    lam_tensor *out = failed;
    if (ctx) {
        lam_call_site call = {.ctx = ctx,
                              .primitive = p,
                              .params = params,
                              .params_bytes = bytes,
                              .inputs = (int)n,
                              .outputs = 1,
                              .in = values};
        out = finish(&call);
    }
    if (values != few) lam__scratch_put(&area);
    return out;
}

/* What a row cannot be evaluated without and does not have; NULL: nothing. Rules of derivatives and batches are asked
 * for when they are needed, and not before. */
static const char *missing_kernel(const lam_primitive *p) {
    if (p->call) return NULL;
    if (p->elementwise) return p->loop > 0 && p->loop <= LAM__LOOP_COUNT ? NULL : "loop";
    if (!p->shape) return "shape rule";
    return p->eval || p->view ? NULL : "eval and no view";
}

/* The one way in for rows that users write, so it checks what the library's own wrappers know of their rows: that the
 * number of operands fits, and that the row can be evaluated at all. Each out[] is set before anything can fail. */
lam_status lam_bind(lam_ctx *ctx, const lam_primitive *p, const void *params, size_t bytes, lam_list in,
                    lam_tensor **out, size_t n_out) {
    lam_tensor *failed;
    if (!ctx) ctx = &lam__context_failed;
    for (size_t o = 0; out && o < n_out; o++) out[o] = &ctx->failed;
    if (ctx == &lam__context_failed) return ctx->error.status;
    if (!p || (!out && n_out) || (!in.items && in.count) || (!params && bytes))
        return lam__error_set(ctx, LAM_ERR_NULL, NULL,
                              "lam_bind of '%s': NULL where a row, a list or parameters are needed",
                              p ? p->name : "NULL");
    if ((p->inputs >= 0 && in.count != (size_t)p->inputs) ||
        (p->outputs >= 0 && n_out != (size_t)(p->outputs ? p->outputs : 1)))
        return lam__error_set(ctx, LAM_ERR_ARITY, NULL, "lam_bind of '%s': %zu inputs and %zu outputs do not fit",
                              p->name, in.count, n_out);
    const char *missing = missing_kernel(p);
    if (missing)
        return lam__error_set(ctx, LAM_ERR_RULE, "complete the row of this primitive",
                              "lam_bind of '%s': its row has no %s", p->name, missing);
    lam__scratch_area area;
    lam_value **values = lam__scratch_get(&area, ctx, (in.count + n_out) * sizeof *values);
    if (!values) return LAM_ERR_MEMORY;
    lam_value **results = values + in.count; /* room for both lists at once */
    const lam__mark mark = lam__error_mark(ctx);
    lam_status status;
    if (in.count && !lam__scope_operands(p->name, in.count, in.items, values, &failed)) {
        /* An operand that had failed before records nothing here. */
        status = lam__error_since_or(ctx, mark, ctx->error.status != LAM_OK ? ctx->error.status : LAM_ERR_CONTEXT);
    } else {
        lam_call_site call = {.ctx = ctx,
                              .primitive = p,
                              .params = params,
                              .params_bytes = bytes,
                              .inputs = (int)in.count,
                              .outputs = (int)n_out,
                              .in = values};
        status = lam__dispatch_checked(&call, results);
        for (size_t o = 0; o < n_out && status == LAM_OK; o++) out[o] = lam__scope_handle(ctx, results[o]);
    }
    lam__scratch_put(&area);
    return status;
}

/* ---- elementwise: one dtype for all --------------------------------------------------------------------- */

/* v as dtype: one new reference, or NULL. Checked like any call of a user's, so that a conversion that does not exist
 * is named as a cast. The value is of the level that the operand has, so a conversion is differentiated like any
 * operation. */
static lam_value *converted(lam_ctx *ctx, lam_value *v, lam_dtype dtype) {
    if (v->dtype == dtype) return lam__value_hold(v);
    lam__cast_params params = {dtype};
    lam_value *out = NULL;
    lam_call_site call = {.ctx = ctx,
                          .primitive = &lam__row_cast,
                          .params = &params,
                          .params_bytes = sizeof params,
                          .inputs = 1,
                          .outputs = 1,
                          .in = &v};
    return lam__dispatch_checked(&call, &out) == LAM_OK ? out : NULL;
}

/* Operands in front that have a dtype of their own: the condition of a select. Other bools are numbers. An f64
 * condition is a number that is or is not 0, and is converted with the others. */
static inline int conditions(const lam_primitive *p, lam_value *const v[]) {
    return p == &lam__row_where && v[0]->dtype == LAM_BOOL;
}

/* The dtype in which p works on these operands; a select's condition has no say. */
static lam_dtype common(const lam_primitive *p, int n, lam_value *const v[]) {
    const int first = conditions(p, v);
    lam_dtype dtype = (lam_dtype)v[first]->dtype;
    for (int i = first + 1; i < n; i++) dtype = lam__dtype_promote(dtype, v[i]->dtype);
    return p->real && !lam__dtype_is_inexact(dtype) ? LAM_F64 : dtype;
}

/* Operands of several dtypes: each is converted to `dtype` by an application of cast, which is recorded and
 * differentiated like any other, so that gradients come back in the dtype of the operand. */
static lam_tensor *elementwise_mixed(const lam_call_site *call, lam_dtype dtype) {
    lam_value *values[FEW] = {NULL};
    bool all = true;
    const int first = conditions(call->primitive, call->in);
    for (int i = 0; i < call->inputs && all; i++) {
        values[i] = i < first ? lam__value_hold(call->in[i]) : converted(call->ctx, call->in[i], dtype);
        all = values[i] != NULL;
    }
    lam_call_site same = *call;
    same.in = values;
    lam_tensor *out = all ? finish(&same) : &call->ctx->failed;
    for (int i = 0; i < call->inputs; i++) lam__value_release(values[i]);
    return out;
}

/* The long way for checked operands: brings them to one dtype if they are not of one. Which dtype that is does not
 * depend on where they stand. */
static lam_tensor *elementwise(const lam_call_site *call) {
    int n = call->inputs;
    lam_dtype dtype = common(call->primitive, n, call->in);
    for (int i = conditions(call->primitive, call->in); i < n; i++)
        if (call->in[i]->dtype != dtype) return elementwise_mixed(call, dtype);
    return finish(call);
}

/* The long way: lam__scope_operands says what is wrong with a handle; shapes are checked by dispatch. It is also where
 * short ways end that could not go on: nothing has been done then. */
static lam_tensor *elementwise_checked(const lam_primitive *p, const void *params, size_t bytes, int n,
                                       lam_tensor *const in[]) {
    lam_value *values[FEW];
    lam_tensor *failed;
    lam_call_site call = {
        .primitive = p, .params = params, .params_bytes = bytes, .inputs = n, .outputs = 1, .in = values};
    call.ctx = lam__scope_operands(p->name, (size_t)n, in, values, &failed);
    return call.ctx ? elementwise(&call) : failed;
}

/* One operand (then y is x) or two. */
LAM__APART static lam_tensor *few_checked(const lam_primitive *p, const void *params, size_t bytes, lam_tensor *x,
                                          lam_tensor *y) {
    lam_tensor *in[2] = {x, y};
    return elementwise_checked(p, params, bytes, p->inputs, in);
}

/* Whether x and y have equal dims, or one of them is a number, so that no shape is wrong. A scalar goes with
 * everything. */
static inline bool fits(const lam_value *x, const lam_value *y) {
    return !x->rank || !y->rank || lam__value_same_dims(x, y);
}

/* The short way for boxes, or a box and another value, that need neither conversion nor checks. Dims need no check
 * where they are equal or one operand is a number, and dtypes none where both are one floating dtype, which every
 * differentiable elementwise row has a loop for. */
LAM__APART static lam_tensor *few_boxes(const lam_primitive *p, const void *params, size_t bytes, lam_tensor *x,
                                        lam_tensor *y) {
    lam_value *values[2] = {x->value, y->value}, *out = NULL;
    const int dtype = values[0]->dtype;
    bool known = p->derivative == LAM_ELEMENTWISE || p->predicate; /* all these have loops for floats */
    if (!known || !lam__dtype_is_float(dtype) || values[1]->dtype != dtype || !fits(values[0], values[1]))
        return few_checked(p, params, bytes, x, y);
    lam_ctx *ctx = x->ctx;
    lam_call_site call = {.ctx = ctx,
                          .primitive = p,
                          .params = params,
                          .params_bytes = bytes,
                          .inputs = p->inputs,
                          .outputs = 1,
                          .in = values};
    /* The level is looked for here, where there are two values, and not once more in dispatch. */
    lam__level *level = lam__dispatch_level(ctx, 2, values);
    lam_status status = level ? lam__dispatch_at(level, &call, &out) : lam__dispatch_any(&call, &out);
    return status == LAM_OK ? lam__scope_handle(ctx, out) : &ctx->failed;
}

/* One operand (then y is x) or two; the short way for live handles of one context whose values need neither conversion
 * nor checks. Concrete values are tried on the spot; whatever the quick way cannot do it gives back untouched. */
LAM__UNROLLED lam_tensor *apply_few(const lam_primitive *p, const void *params, size_t bytes, lam_tensor *x,
                                    lam_tensor *y) {
    if (!x || !y || x->magic != LAM__LIVE || y->magic != LAM__LIVE || x->ctx != y->ctx)
        return few_checked(p, params, bytes, x, y);
    if (x->value->kind == LAM__BOX || y->value->kind == LAM__BOX) return few_boxes(p, params, bytes, x, y);
    lam_value *out = lam__elementwise_pair(p, x->value, y->value, params);
    return out ? lam__scope_handle(x->ctx, out) : few_checked(p, params, bytes, x, y);
}

/* n is 1, 2 or 3; params must live until this returns, whoever keeps them copies them. Of one operand both arguments
 * below are the same handle. */
lam_tensor *lam__apply_with(const lam_primitive *p, const void *params, size_t bytes, int n, lam_tensor *const in[]) {
    return n <= 2 ? apply_few(p, params, bytes, in[0], in[n - 1]) : elementwise_checked(p, params, bytes, n, in);
}

lam_tensor *lam__apply_coded(const lam_primitive *p, int64_t code, int n, lam_tensor *const in[]) {
    return lam__apply_with(p, &code, sizeof code, n, in);
}

lam_tensor *lam__apply_unary(const lam_primitive *p, lam_tensor *x) {
    return apply_few(p, NULL, 0, x, x);
}

lam_tensor *lam__apply_binary(const lam_primitive *p, lam_tensor *x, lam_tensor *y) {
    return apply_few(p, NULL, 0, x, y);
}

/* Whether a handle is alive and of this context. Freed and failed handles have another first word. */
static inline bool is_live(const lam_tensor *x, const lam_ctx *ctx) {
    return x && x->magic == LAM__LIVE && x->ctx == ctx;
}

/* The short way for three, of one floating dtype but for a condition, and equal dims but for numbers; else NULL, with
 * nothing done. Checked as in few_boxes. */
static lam_tensor *three_alike(const lam_primitive *p, lam_ctx *ctx, lam_value *const values[]) {
    const lam_value *x = values[0], *y = values[1], *z = values[2];
    const int dtype = z->dtype, first = p == &lam__row_where ? LAM_BOOL : dtype;
    if (p->derivative != LAM_ELEMENTWISE || !lam__dtype_is_float(dtype) || x->dtype != first || y->dtype != dtype)
        return NULL;
    if (!fits(x, y) || !fits(x, z) || !fits(y, z)) return NULL;
    lam_value *out = NULL;
    lam_call_site call = {.ctx = ctx, .primitive = p, .inputs = 3, .outputs = 1, .in = values};
    lam_status status = lam__dispatch_below(&call, 3, values, &out);
    return status == LAM_OK ? lam__scope_handle(ctx, out) : &ctx->failed;
}

/* Of where the condition is bool and has no say in the dtype; else all three are of one. */
lam_tensor *lam__apply_ternary(const lam_primitive *p, lam_tensor *x, lam_tensor *y, lam_tensor *z) {
    lam_tensor *in[3] = {x, y, z}, *out = NULL;
    if (x && is_live(x, x->ctx) && is_live(y, x->ctx) && is_live(z, x->ctx))
        out = three_alike(p, x->ctx, (lam_value *[]){x->value, y->value, z->value});
    return out ? out : elementwise_checked(p, NULL, 0, 3, in);
}

/* ---- literals ---------------------------------------------------------------------------------------------- */

/* Whether a number is finite as an element of dtype, which may round it. The largest f16 is 65504. A float may round up
 * to infinity what is next to the largest number, so the conversion itself is asked. */
static bool finite_as(lam_dtype dtype, double number) {
    char element[16]; /* of any dtype */
    if (fabs(number) <= lam__dtype_largest(lam__dtype_part(dtype))) return true;
    lam__dtype_store(dtype, element, number);
    return isfinite(lam__dtype_load(dtype, element));
}

/* Whether an integer of this size exists in dtype (a float may round it). bool holds 0 and 1. */
static bool representable(lam_dtype dtype, int64_t integer) {
    static const int64_t least[LAM_DTYPE_COUNT] = {[LAM_I64] = INT64_MIN, [LAM_I32] = INT32_MIN};
    static const int64_t most[LAM_DTYPE_COUNT] = {
        [LAM_I64] = INT64_MAX, [LAM_I32] = INT32_MAX, [LAM_U8] = UINT8_MAX, [LAM_BOOL] = 1};
    if (lam__dtype_is_inexact(dtype)) return finite_as(dtype, (double)integer);
    return integer >= least[dtype] && integer <= most[dtype];
}

/* A number takes the dtype of the tensor beside it, so that x + 1 and x * 0.5 keep an f32 f32. A floating number beside
 * integers is f64, which promotion then spreads; an integer that the dtype cannot hold is a failure rather than a
 * silent wrap or infinity: 300 beside u8, 70000 beside f16. */
lam_value *lam__apply_literal(const char *operation, lam_tensor *beside, lam__operand number) {
    lam_value *x;
    lam_tensor *failed;
    lam_ctx *ctx = lam__scope_operands(operation, 1, &beside, &x, &failed);
    if (!ctx) return NULL;
    lam_dtype dtype = (lam_dtype)x->dtype;
    if (number.kind == LAM__FLOATING)
        return lam__value_scalar(ctx, lam__dtype_is_inexact(dtype) ? dtype : LAM_F64, number.as.floating);
    bool wide = number.kind == LAM__UNSIGNED && number.as.natural > INT64_MAX, inexact = lam__dtype_is_inexact(dtype);
    if (wide && inexact && finite_as(dtype, (double)number.as.natural))
        return lam__value_scalar(ctx, dtype, (double)number.as.natural);
    if (!wide && representable(dtype, number.as.integer)) return lam__value_integer(ctx, dtype, number.as.integer);
    char text[32];
    /* Both kinds are 64 bits in one union: the format says how they are read. */
    snprintf(text, sizeof text, wide ? "%llu" : "%lld", number.as.natural);
    lam__error_set(ctx, LAM_ERR_VALUE,
                   wide && !inexact ? "write it as a floating number" : "cast the tensor to a wider dtype first",
                   "%s: %s does not fit dtype %s", operation, text, lam_dtype_name(dtype));
    return NULL;
}

/* ---- in place ---------------------------------------------------------------------------------------------- */

/* A failed in-place form leaves nothing that could be mistaken for a result. The handle stays valid, so using it
 * further fails in order and lam_drop still frees it. */
static lam_tensor *poison(lam_tensor *x) {
    if (x->magic == LAM__LIVE) {
        lam__value_release(x->value);
        x->value = NULL;
        x->magic = LAM__FAILED;
    }
    return x;
}

/* A failed or missing operand passes, for the operation to name. */
lam_tensor *lam__apply_in_dtype_of(const char *operation, lam_tensor *x, lam_tensor *part) {
    if (!lam__scope_peek(x) || !lam__scope_peek(part)) return part;
    lam_dtype own = lam_dtype_of(x), given = lam_dtype_of(part);
    if (own == given) return part;
    if (lam__dtype_is_complex(given) && !lam__dtype_is_complex(own))
        return lam__axes_fail(operation, part, LAM_ERR_DTYPE, "complex numbers do not fit into %s",
                              lam_dtype_name(own));
    return lam_cast(part, own);
}

lam_status lam__apply_status(size_t n, lam_tensor *const made[]) {
    for (size_t i = 0; i < n; i++)
        if (lam_failed(made[i])) return lam__error_last(lam_ctx_of(made[i]));
    return LAM_OK;
}

bool lam__apply_given(const char *operation, size_t n, lam_tensor *const in[], lam_tensor **failed) {
    enum { MOST = 4 };
    lam_value *values[MOST];
    assert(n <= MOST);
    return lam__scope_operands(operation, n, in, values, failed);
}

/* The parts of complex numbers say how wide integers become, which stay real beside them. Halves are widened by casts,
 * which their gradients come back through. */
lam_dtype lam__apply_floats(int n, lam_tensor *io[]) {
    int dtype = LAM_BOOL;
    for (int i = 0; i < n; i++)
        if (io[i]) dtype = lam__dtype_promote(dtype, (int)lam_dtype_of(io[i]));
    if (!lam__dtype_is_inexact(dtype)) dtype = LAM_F64;
    const lam_dtype wide = lam__dtype_is_half(dtype) ? LAM_F32 : lam__dtype_part(dtype);
    for (int i = 0; i < n; i++) {
        const lam_value *v = lam__scope_peek(io[i]);
        if (v && lam__dtype_is_half(v->dtype)) io[i] = lam_cast(io[i], LAM_F32);
        else if (v && !lam__dtype_is_inexact(v->dtype)) io[i] = lam_cast(io[i], wide);
    }
    return (lam_dtype)dtype;
}

lam_tensor *lam__apply_narrowed(lam_tensor *out, lam_dtype dtype) {
    return lam__dtype_is_half((int)dtype) ? lam_cast(out, dtype) : out;
}

/* Rebinding a captured handle would let a function change what its caller sees, which no interpreter would know of: the
 * gradient would be that of another function. */
bool lam__apply_may_rebind(const char *operation, lam_tensor *x) {
    if (lam__fn_made_here(x->ctx, x)) return true;
    lam__error_set(x->ctx, LAM_ERR_CAPTURED, "work on lam_alias(x), and return it as an output",
                   "%s: the tensor to rebind was made outside the function that is being called", operation);
    return false;
}

/* x keeps its handle and takes another value; those who hold the old value keep it. Dtype and dims must stay, since
 * code that holds x has read them. After a failure x itself is failed, so that its old value cannot be taken for the
 * new one. */
lam_tensor *lam__apply_rebind(const char *operation, lam_tensor *x, lam_tensor *result) {
    lam_tensor *in[2] = {x, result}, *failed;
    lam_value *v[2];
    /* Without a live x there is nothing to rebind: what is wrong with it is recorded, and a failed x stays so. */
    if (!x || x->magic != LAM__LIVE) return lam__scope_operands(operation, 1, in, v, &failed) ? x : failed;
    if (!lam__apply_may_rebind(operation, x)) return x;
    if (!lam__scope_operands(operation, 2, in, v, &failed)) return poison(x);
    /* A box of a level that has ended, or is hidden, is no value to take. */
    if (!lam__level_lives(x->ctx, operation, 2, v, 1)) return poison(x);
    lam_call_site call = {
        .ctx = x->ctx, .primitive = &(lam_primitive){.name = operation}, .inputs = 2, .outputs = 1, .in = v};
    if (v[0]->dtype != v[1]->dtype) {
        lam__error_call(&call, LAM_ERR_DTYPE, "cast the value first", "an in-place form keeps the dtype");
        return poison(x);
    }
    if (!lam__value_same_dims(v[0], v[1])) {
        lam__error_call(&call, LAM_ERR_SHAPE, "use the form without underscore", "an in-place form keeps the dims");
        return poison(x);
    }
    /* Held before the old one goes: they may be one. */
    lam__value_hold(v[1]);
    lam__value_release(v[0]);
    x->value = v[1];
    return x;
}

/* x op y written over x's own memory, if x is concrete, nobody else sees it, and y has its dtype. x's own handle must
 * be the only holder; a tape that has saved the value is one more. */
static bool over_itself(const lam_primitive *p, lam_tensor *x, lam_tensor *y) {
    lam_tensor *in[2] = {x, y};
    /* The operand may not be x itself, whose elements would change while they are read. */
    if (!y || y->magic != LAM__LIVE || y->ctx != x->ctx || x == y) return false;
    lam_value *values[2] = {in[0]->value, in[1]->value};
    lam_call_site call = {.ctx = x->ctx, .primitive = p, .inputs = 2, .outputs = 1, .in = values};
    return lam__elementwise_into_first(&call);
}

/* Either over x's memory, when that is only a matter of speed since nobody can see the difference, or as a new value
 * that x is rebound to. The scope around the second frees the handle of the result, not the value that x took. */
lam_tensor *lam__apply_binary_(const lam_primitive *p, lam_tensor *x, lam_tensor *y) {
    if (!x || x->magic != LAM__LIVE) return lam__apply_binary(p, x, y);
    if (!lam__apply_may_rebind(p->name, x) || over_itself(p, x, y)) return x;
    lam_scope scope;
    lam__scope_open(x->ctx, &scope);
    lam_tensor *out = lam__apply_rebind(p->name, x, lam__apply_binary(p, x, y));
    lam__scope_close(&scope);
    return out;
}

/* The value is shared, not copied: values never change. */
lam_tensor *lam_assign_(lam_tensor *x, lam_tensor *value) {
    return lam__apply_rebind("lam_assign_", x, value);
}

/* The room is the memory of a tensor of the scope's: nothing else has to know of it. It goes with the scope, so nobody
 * frees it. More than can be counted is refused as what no memory holds. */
lam_tensor **lam__apply_rooms(lam_ctx *ctx, int64_t lists, int64_t each) {
    _Static_assert(sizeof(lam_tensor *) <= sizeof(int64_t), "a handle fits a word");
    const bool fits = !lists || each <= (int64_t)(SIZE_MAX / 2 / sizeof(int64_t)) / lists;
    if (!fits) return lam__error_memory(ctx, SIZE_MAX), NULL;
    const int64_t words = lists && each ? lists * each : 1;
    lam_tensor *t = lam__scope_handle(ctx, lam__value_new(ctx, LAM_I64, 1, &words));
    return lam_failed(t) ? NULL : t->value->data;
}

/* ---- small helpers ----------------------------------------------------------------------------------------- */

/* Bit 31 stands for all operands from 31 on, as in concatenate. */
bool lam__rules_linear_in(const lam_primitive *p, int i) {
    return (p->linear >> (i < 31 ? i : 31)) & 1u;
}

/* The message is made by hand, since there is no row to make it for; its operand is x. */
bool lam__apply_axis(const char *operation, lam_tensor *x, int rank, int *axis) {
    lam_value *v = lam__scope_peek(x);
    if (!v) *axis = 0; /* the operation itself says what is wrong with x, and loops up to its axis are short */
    if (!v) return true;
    if (*axis >= -rank && *axis < rank) {
        if (*axis < 0) *axis += rank;
        return true;
    }
    lam_call_site call = {
        .ctx = x->ctx, .primitive = &(lam_primitive){.name = operation}, .inputs = 1, .outputs = 1, .in = &v};
    lam__error_call(&call, LAM_ERR_AXIS, rank ? "axes count from 0, from the end from -1" : "a scalar has no axes",
                    "axis %d is out of range [-%d, %d)", *axis, rank, rank);
    return false;
}
