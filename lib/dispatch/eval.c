/* Level 0: allocates outputs and calls the kernel, or makes a view. Operands are concrete here; a box would have been
 * taken by its level before. A row is evaluated by the loop of its class, by a view of its first operand, or by its own
 * eval; one that has both of the latter decides by the strides. */
#include "lib/dispatch/dispatch.h"

#include "lib/dispatch/fn.h"
#include "lib/dispatch/half.h"

#include "lib/tensor/dtype.h"

const lam__interpreter lam__interpreter_eval = {.name = "eval"};

/* Rows are written for real numbers unless they say otherwise: none computes nonsense on complex ones. What runs a
 * user's code has no opinion. Elementwise rows never come here: whether they take a dtype is whether there is a loop
 * for it. */
static lam_status shape_of(const lam_call_site *call, lam_shape out[]) {
    bool takes_all = call->primitive->takes_complex || call->primitive->call;
    for (int i = 0; i < call->inputs && !takes_all; i++)
        if (call->in[i] && lam__dtype_is_complex(call->in[i]->dtype))
            return lam__error_call(call, LAM_ERR_DTYPE, "work on lam_real, lam_imag or lam_abs of it",
                                   "not defined for complex numbers");
    return call->primitive->shape(call, out);
}

/* Types only: operands may be boxes or abstract values, so rules that a level runs can ask it as well. */
lam_status lam__eval_shape(const lam_call_site *call, lam_shape out[]) {
    if (lam__half_concerns(call)) return lam__half_shape(call, out);
    return call->primitive->elementwise ? lam__elementwise_shape(call, out) : shape_of(call, out);
}

/* Users' tensors have at most LAM_MAX_RANK axes. What rules make may have more, up to what is left beside the axes that
 * levels hide, so that a rule need not count. A scope that is `of_rule` tells. Above level 0 the same is allowed, since
 * an interpreter at work for a rule looks no different here from a user's call. */
int lam__eval_most_axes(const lam_ctx *ctx) {
    return ctx->scope->of_rule || ctx->current != ctx->ground ? LAM_INNER_RANK - ctx->current->hidden : LAM_MAX_RANK;
}

lam_status lam__eval_check_rank(const lam_call_site *call, const lam_shape shapes[]) {
    int most = lam__eval_most_axes(call->ctx);
    for (int o = 0; o < call->outputs; o++)
        if (shapes[o].rank > most)
            return lam__error_call(call, LAM_ERR_RANK, "make some axes one with lam_reshape",
                                   "the result would have %d axes, more than %d%s", shapes[o].rank, most,
                                   call->ctx->current->hidden ? " left inside these batches" : "");
    return LAM_OK;
}

/* What a call gives to whoever called: Jacobians and programs have worked at levels of their own, where more is
 * allowed. What is refused is released. */
lam_status lam__eval_check_results(const lam_fn *f, lam_value *out[]) {
    int most = lam__eval_most_axes(f->ctx);
    lam_status status = LAM_OK;
    for (int o = 0; o < f->outputs; o++) {
        if (!out[o] || out[o]->rank <= most) continue;
        status = lam__error_set(f->ctx, LAM_ERR_RANK, "make some axes one with lam_reshape",
                                "output %d of '%s' would have %d axes, more than %d", o, f->name, out[o]->rank, most);
        lam__value_release(out[o]);
        out[o] = NULL;
    }
    return status;
}

/* A rule read elements that its row did not say it would: the tape kept a type in their place. The remedy is for the
 * author of the row. */
static lam_status fail_abstract(const lam_call_site *call, int operand) {
    return lam__error_call(call, LAM_ERR_ABSTRACT, "name it in `saves` of the row whose rule this is",
                           "the elements of operand %d are not known here: only its type was kept", operand);
}

/* A mistake in the row: contiguous memory has a view, or the row has an eval. */
static lam_status fail_view(const lam_call_site *call) {
    return lam__error_call(call, LAM_ERR_RULE, "complete the row of this primitive",
                           "its view refuses contiguous memory, and it has no eval");
}

/* Where strides do not allow a view, one of a contiguous copy is made. The copy lives on in the view: its buffer is
 * shared, and small elements lie in the view itself. */
static lam_status eval_view(const lam_call_site *call, const lam_shape *shape, lam_value **out) {
    int64_t strides[LAM_INNER_RANK], offset = 0;
    lam_value *x = call->in[0];
    if (call->primitive->view(call, shape, strides, &offset)) {
        *out = lam__value_view(x, shape->rank, shape->dims, strides, offset);
        return *out ? LAM_OK : LAM_ERR_MEMORY;
    }
    lam_value *dense = lam__value_contiguous(x);
    if (!dense) return LAM_ERR_MEMORY;
    lam_call_site again = *call;
    again.in = &dense;
    offset = 0;
    const bool views = call->primitive->view(&again, shape, strides, &offset);
    if (views) *out = lam__value_view(dense, shape->rank, shape->dims, strides, offset);
    lam__value_release(dense);
    if (!views) return fail_view(call);
    return *out ? LAM_OK : LAM_ERR_MEMORY;
}

/* Outputs are allocated, not cleared: eval writes every element. All or none are given. */
static lam_status eval_kernel(const lam_call_site *call, const lam_shape shapes[], lam_value *out[]) {
    lam_status status = LAM_OK;
    for (int o = 0; o < call->outputs && status == LAM_OK; o++) {
        out[o] = lam__value_new(call->ctx, shapes[o].dtype, shapes[o].rank, shapes[o].dims);
        if (!out[o]) status = LAM_ERR_MEMORY;
    }
    if (status == LAM_OK) status = call->primitive->eval(call, out);
    for (int o = 0; o < call->outputs && status != LAM_OK; o++) {
        lam__value_release(out[o]);
        out[o] = NULL;
    }
    return status;
}

/* Views of in[0] where the row finds them good, else what its eval makes. All outputs are views or none is. Strides and
 * offsets of all are asked for at once, since a split gives each output another part of the same memory. */
static lam_status eval_parts(const lam_call_site *call, const lam_shape shapes[], lam_value *out[]) {
    typedef struct place {
        int64_t strides[LAM_INNER_RANK];
    } place;
    lam__scratch_area area;
    size_t n = (size_t)call->outputs;
    place *at = lam__scratch_get(&area, call->ctx, n * (sizeof *at + sizeof(int64_t)));
    if (!at) return LAM_ERR_MEMORY;
    int64_t *offset = (int64_t *)(void *)(at + n);
    lam_status status = LAM_OK;
    bool views = call->primitive->view(call, shapes, at->strides, offset);
    for (size_t o = 0; o < n && views && status == LAM_OK; o++) {
        out[o] = lam__value_view(call->in[0], shapes[o].rank, shapes[o].dims, at[o].strides, offset[o]);
        if (!out[o]) status = LAM_ERR_MEMORY;
    }
    lam__scratch_put(&area);
    if (!views) return eval_kernel(call, shapes, out);
    for (size_t o = 0; o < n && status != LAM_OK; o++) {
        lam__value_release(out[o]);
        out[o] = NULL;
    }
    return status;
}

/* By the view or the eval of the row, of which one that has both decides. */
static inline lam_status eval_as(const lam_call_site *call, const lam_shape shapes[], lam_value *out[]) {
    const lam_primitive *p = call->primitive;
    if (!p->view) return eval_kernel(call, shapes, out);
    return p->eval ? eval_parts(call, shapes, out) : eval_view(call, shapes, out);
}

/* Any row that is not elementwise. */
static lam_status eval_shaped(const lam_call_site *call, lam_value *out[]) {
    lam__scratch_area area;
    lam_shape *shapes = lam__scratch_get(&area, call->ctx, (size_t)call->outputs * sizeof *shapes);
    lam_status status = shapes ? shape_of(call, shapes) : LAM_ERR_MEMORY;
    if (status == LAM_OK) status = lam__eval_check_rank(call, shapes);
    if (status == LAM_OK) status = eval_as(call, shapes, out);
    lam__scratch_put(&area);
    return status;
}

/* Shape rules have been asked before, for operands of these types. */
lam_status lam__eval_known(const lam_call_site *call, const lam_shape *type, lam_value **out) {
    const lam_call_site *caller = call->ctx->calling;
    *out = NULL;
    call->ctx->calling = call;
    const lam_status status = eval_as(call, type, out);
    call->ctx->calling = caller;
    return status;
}

/* A function that fails behind the first of its results has given that one. */
lam_status lam__eval_called(const lam_call_site *call, lam_value *out[]) {
    for (int o = 0; o < call->outputs; o++) out[o] = NULL;
    const lam_status status = call->primitive->call(call, out);
    for (int o = 0; o < call->outputs && status != LAM_OK; o++) {
        lam__value_release(out[o]);
        out[o] = NULL;
    }
    return status;
}

/* Everything but the short way. Primitives that call functions come before the question of dtypes, which is that of the
 * operations inside. `calling` names the primitive where an allocation fails. */
static lam_status eval_any(const lam_call_site *call, lam_value *out[]) {
    lam_ctx *ctx = call->ctx;
    const lam_primitive *p = call->primitive;
    for (int o = 0; o < call->outputs; o++) out[o] = NULL;
    for (int i = 0; i < call->inputs; i++)
        if (call->in[i] && call->in[i]->kind != LAM__CONCRETE) return fail_abstract(call, i);
    if (p->call) return lam__eval_called(call, out);
    if (lam__half_concerns(call)) return lam__half_eval(call, out);
    const lam_call_site *caller = ctx->calling;
    ctx->calling = call;
    lam_status status = p->elementwise ? lam__elementwise_eval(call, out) : eval_shaped(call, out);
    ctx->calling = caller;
    return status;
}

/* The short way first; it takes no call site and records nothing. */
lam_status lam__eval(const lam_call_site *call, lam_value *out[]) {
    const lam_primitive *p = call->primitive;
    if (p->elementwise && (out[0] = lam__elementwise_quick(call->ctx, p, call->inputs, call->in, call->params)))
        return LAM_OK;
    return eval_any(call, out);
}
