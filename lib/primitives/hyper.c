/* The hypergeometric functions 1F1 and 2F1. Rows whose parameter says how often the derivative is taken by each
 * operand, so that every order is closed under differentiation; by the parameters of the functions there are two
 * orders, of which the kernel knows (lib/kernels/special/hyper.h). Operands come with equal dims: an element has one of
 * each. */
#include "lib/primitives/apply.h"
#include "lib/primitives/axes.h"
#include "lib/primitives/matrices.h"
#include "lib/primitives/rows.h"
#include "lib/primitives/rules.h"

#include "lib/kernels/special/hyper.h"
#include "lib/tensor/dtype.h"
#include "lib/tensor/value.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

enum { MOST = 4 }; /* operands; the last one is x */

static lam_status shape_hyper(const lam_call_site *call, lam_shape out[]) {
    for (int i = 1; i < call->inputs; i++)
        if (!lam__value_same_type(call->in[0], call->in[i]))
            return lam_rule_fail(call, LAM_ERR_SHAPE, "operands must be of one type");
    if (!lam__dtype_is_float(call->in[0]->dtype))
        return lam_rule_fail(call, LAM_ERR_DTYPE, "there is no kernel for this dtype");
    return lam__apply_shape_as(call->in[0], (lam_dtype)call->in[0]->dtype, out);
}

/* What the workers share. */
typedef struct elements {
    const lam_value *in[MOST], *out;
    int inputs;
    lam__hyper_order order;
} elements;

static int64_t some(const void *env, int64_t begin, int64_t end, void *room) {
    const elements *e = env;
    const int dtype = e->out->dtype;
    const int64_t item = (int64_t)lam__dtype_bytes(dtype);
    (void)room;
    for (int64_t k = begin; k < end; k++) {
        double p[MOST];
        for (int i = 0; i < e->inputs; i++) p[i] = lam__dtype_load(dtype, (const char *)e->in[i]->data + k * item);
        lam__dtype_store(dtype, (char *)e->out->data + k * item,
                         e->inputs == 3 ? lam__special_hyp1f1(p[0], p[1], p[2], e->order)
                                        : lam__special_hyp2f1(p[0], p[1], p[2], p[3], e->order));
    }
    return -1;
}

/* A microsecond or more for each element, in units of half a nanosecond. */
static lam_status eval_hyper(const lam_call_site *call, lam_value *const out[]) {
    elements e = {.out = out[0], .inputs = call->inputs, .order = *(const lam__hyper_order *)call->params};
    lam_value *in[MOST] = {NULL};
    lam_status status = LAM_OK;
    int64_t bad;
    for (int i = 0; i < call->inputs; i++) {
        e.in[i] = in[i] = lam__value_contiguous(call->in[i]);
        if (!in[i]) status = LAM_ERR_MEMORY;
    }
    if (status == LAM_OK && out[0]->count)
        status = lam__matrices_each(call->ctx, out[0]->count, 2000, 0, some, &e, &bad);
    for (int i = 0; i < call->inputs; i++) lam__value_release(in[i]);
    return status;
}

/* ---- rules ------------------------------------------------------------------------------------------------------- */

/* t times the derivative by operand i. */
static lam_tensor *slope(const lam_rule *r, int i, lam_tensor *t) {
    lam__hyper_order order = *(const lam__hyper_order *)r->params;
    const int *by = order.by;
    if (i == r->inputs - 1) order.by_x++;
    else order.by[i]++;
    if (by[0] + by[1] + by[2] > LAM__HYPER_ORDERS)
        return lam__axes_fail(r->primitive->name, r->in[0], LAM_ERR_RULE,
                              "derivatives by the parameters end with order %d", LAM__HYPER_ORDERS);
    return lam_mul(t, lam__apply(r->primitive, &order, sizeof order, r->inputs, r->in));
}

static void jvp_hyper(const lam_rule *r, lam_tensor *const dx[], lam_tensor *dout[]) {
    for (int i = 0; i < r->inputs; i++)
        if (dx[i]) dout[0] = lam__matrices_plus(dout[0], slope(r, i, dx[i]));
}

static void vjp_hyper(const lam_rule *r, lam_tensor *const g[], lam_tensor *gx[]) {
    for (int i = 0; i < r->inputs; i++)
        if (r->needs[i]) gx[i] = slope(r, i, g[0]);
}

/* Each example has all operands of its own. */
static void batch_hyper(const lam_rule *r, lam_tensor *out[]) {
    lam_tensor *in[MOST];
    for (int i = 0; i < r->inputs; i++) in[i] = lam__rules_with_batch(r, i);
    out[0] = lam__apply(r->primitive, r->params, sizeof(lam__hyper_order), r->inputs, in);
}

/* How often by each of the parameters, then by x. */
static void print_hyper(FILE *file, const void *params) {
    const lam__hyper_order *o = params;
    fprintf(file, "by=[%d, %d, %d], by_x=%d", o->by[0], o->by[1], o->by[2], o->by_x);
}

const lam_primitive lam__row_hyp1f1 = {
    .name = "hyp1f1",
    .inputs = 3,
    .derivative = LAM_GENERAL,
    .saves = LAM_SAVE_ALL_IN,
    .shape = shape_hyper,
    .eval = eval_hyper,
    .jvp = jvp_hyper,
    .vjp = vjp_hyper,
    .batch = batch_hyper,
    .params_print = print_hyper,
};

const lam_primitive lam__row_hyp2f1 = {
    .name = "hyp2f1",
    .inputs = 4,
    .derivative = LAM_GENERAL,
    .saves = LAM_SAVE_ALL_IN,
    .shape = shape_hyper,
    .eval = eval_hyper,
    .jvp = jvp_hyper,
    .vjp = vjp_hyper,
    .batch = batch_hyper,
    .params_print = print_hyper,
};

/* ---- public ------------------------------------------------------------------------------------------------------ */

/* The dims that n operands broadcast to; false where they do not. */
static bool common(int n, lam_tensor *const in[], int64_t dims[], int *rank) {
    *rank = 0;
    for (int i = 0; i < n; i++) {
        const lam_dims own = lam_dims_of(in[i]);
        for (int k = *rank; k < own.rank; k++) dims[k] = 1;
        if (own.rank > *rank) *rank = own.rank;
    }
    for (int i = 0; i < n; i++) {
        const lam_dims own = lam_dims_of(in[i]);
        for (int k = 0; k < own.rank; k++) {
            int64_t *all = &dims[*rank - own.rank + k];
            if (*all != 1 && own.dims[k] != 1 && *all != own.dims[k]) return false;
            if (own.dims[k] != 1) *all = own.dims[k];
        }
    }
    return true;
}

/* Operands in one real dtype and of equal dims. */
static lam_tensor *call(const lam_primitive *row, lam_tensor *in[]) {
    uint64_t since = lam__scope_now(in[0]);
    static const lam__hyper_order value;
    const int n = row->inputs;
    int64_t dims[LAM_MAX_RANK];
    lam_tensor *failed;
    int rank;
    if (!lam__matrices_ordered(row->name, true, (size_t)n, in, &failed)) return failed;
    if (!common(n, in, dims, &rank))
        return lam__matrices_fail(row->name, (size_t)n, in, LAM_ERR_SHAPE, NULL, "the operands do not broadcast");
    for (int i = 0; i < n; i++) in[i] = lam_broadcast_to(in[i], (lam_dims){rank, dims});
    return lam__scope_only(lam__apply(row, &value, sizeof value, n, in), since);
}

lam_tensor *lam_hyp1f1(lam_tensor *a, lam_tensor *b, lam_tensor *x) {
    return call(&lam__row_hyp1f1, (lam_tensor *[]){a, b, x});
}

lam_tensor *lam_hyp2f1(lam_tensor *a, lam_tensor *b, lam_tensor *c, lam_tensor *x) {
    return call(&lam__row_hyp2f1, (lam_tensor *[]){a, b, c, x});
}
