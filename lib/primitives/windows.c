/* Reductions over windows. The largest element of a window is found again for its derivative: where it stands is a row
 * of its own, by which tangents are taken and to which cotangents are added. Sums are linear; their transpose is a sum
 * over windows with the roles of stride and dilation exchanged. Axes in front of the windowed ones are gone through as
 * they are, so that a batch axis is one more of these. */
#include "lib/primitives/windows.h"

#include "lib/parallel/parallel.h"
#include "lib/primitives/apply.h"
#include "lib/primitives/axes.h"
#include "lib/primitives/cplx.h"
#include "lib/primitives/index.h"
#include "lib/primitives/matrices.h"
#include "lib/primitives/params.h"
#include "lib/primitives/reduce.h"
#include "lib/primitives/rows.h"

#include "lib/tensor/dtype.h"
#include "lib/tensor/value.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

/* ---- geometry ---------------------------------------------------------------------------------------------------- */

static const int64_t most = INT64_MAX / 16; /* of any number that is added or multiplied here */

/* An absent list (rank 0) means the default for every axis. One list after the other, so the message names the first
 * that is wrong. Numbers beyond `most` are refused here, so that sums of a few cannot overflow later; products are
 * checked where they are made. */
static bool list_fits(const lam__windows_how *how, const char *what, lam_dims list, int n, int64_t least) {
    if (list.rank == 0) return true;
    if (list.rank != n) {
        lam__axes_fail(how->operation, how->x, LAM_ERR_SHAPE, "%d %s for windows over %d axes", list.rank, what, n);
        return false;
    }
    for (int i = 0; i < n; i++) {
        int64_t item = list.dims ? list.dims[i] : 0;
        lam_status status = !list.dims                    ? LAM_ERR_NULL
                            : item < least                ? LAM_ERR_VALUE
                            : item > most || item < -most ? LAM_ERR_OVERFLOW
                                                          : LAM_OK;
        if (status == LAM_OK) continue;
        lam__axes_fail(how->operation, how->x, status, "the %s of window axis %d cannot be %lld", what, i,
                       (long long)item);
        return false;
    }
    return true;
}

/* Item i of a list that was found to fit, or the default of an absent one. So callers need not ask whether there is a
 * list. */
static int64_t item_of(lam_dims list, int i, int64_t otherwise) {
    return list.rank ? list.dims[i] : otherwise;
}

/* Elements put in front and behind. `have` and `need` are the dilated sizes of the axis and of the window. SAME gives
 * ceil(have / stride) places and puts the odd element behind, SAME_LOWER in front, as in lax. Without elements there is
 * nothing to pad. */
static void padding_of(const lam__windows_how *how, int i, int64_t have, int64_t need, int64_t stride, int64_t *low,
                       int64_t *high) {
    *low = *high = 0;
    if (how->padding == LAM_PAD_GIVEN) {
        *low = item_of(how->low, i, 0);
        *high = item_of(how->high, i, 0);
    } else if (how->padding != LAM_PAD_VALID && have > 0) {
        int64_t all = ((have + stride - 1) / stride - 1) * stride + need - have;
        if (all < 0) all = 0;
        *low = how->padding == LAM_PAD_SAME ? all / 2 : all - all / 2;
        *high = all - *low;
    }
}

/* n - 1 steps of `step` behind the first of n elements; 0 of none. Dilation puts step - 1 places between neighbours. */
static int64_t dilated(int64_t n, int64_t step) {
    return n ? (n - 1) * step + 1 : 0;
}

/* Products are checked before they are made; everything after adds numbers below `most`. Without room for a window
 * there are no places. The window may be longer than all of the axis. */
static bool collect_axis(const lam__windows_how *how, int i, int64_t size, int64_t window, lam__window_axis *a) {
    int64_t low, high;
    *a = (lam__window_axis){.window = window,
                            .stride = item_of(how->strides, i, 1),
                            .gap = item_of(how->gap, i, 1),
                            .spread = item_of(how->spread, i, 1)};
    if (size > most / a->gap || window > most / a->spread) {
        lam__axes_fail(how->operation, how->x, LAM_ERR_OVERFLOW, "the dilated size of window axis %d overflows", i);
        return false;
    }
    int64_t have = dilated(size, a->gap), need = dilated(window, a->spread);
    padding_of(how, i, have, need, a->stride, &low, &high);
    a->low = low;
    /* Negative paddings may leave less than a window needs. */
    int64_t room = have + low + high - need;
    a->out = room < 0 ? 0 : room / a->stride + 1;
    return true;
}

/* Options first, then lists, then sizes: what is wrong with the first two can be said without knowing the axis. */
bool lam__windows_collect(const lam__windows_how *how, int n, const int64_t size[], const int64_t window[],
                          lam__window_axis at[]) {
    if ((unsigned)how->padding > LAM_PAD_SAME_LOWER) {
        lam__axes_fail(how->operation, how->x, LAM_ERR_OPTION, "there is no padding %d", (int)how->padding);
        return false;
    }
    if (how->padding != LAM_PAD_GIVEN && (how->low.rank || how->high.rank)) {
        lam__axes_fail(how->operation, how->x, LAM_ERR_OPTION, "padding is both given and named");
        return false;
    }
    /* Strides and dilations are 1 at least. Paddings may be negative, which cuts elements off. */
    if (!list_fits(how, "strides", how->strides, n, 1) || !list_fits(how, "input dilations", how->gap, n, 1) ||
        !list_fits(how, "window dilations", how->spread, n, 1) ||
        !list_fits(how, "low paddings", how->low, n, INT64_MIN) ||
        !list_fits(how, "high paddings", how->high, n, INT64_MIN))
        return false;
    for (int i = 0; i < n; i++)
        if (!collect_axis(how, i, size[i], window[i], &at[i])) return false;
    return true;
}

/* Stride and input dilation change places, the window keeps its dilation and is read from its other end, which moves
 * `low`. For a sum nothing else changes, since all its weights are 1. */
lam__window_axis lam__windows_transposed(const lam__window_axis *a, int64_t size) {
    return (lam__window_axis){.window = a->window,
                              .stride = a->gap,
                              .gap = a->stride,
                              .spread = a->spread,
                              .low = (a->window - 1) * a->spread - a->low,
                              .out = size};
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

typedef lam__window_params window_params;

/* Only the axes in use are copied as parameters. */
static lam_tensor *apply(const lam_primitive *row, const window_params *p, lam_tensor *x) {
    return lam__apply1(row, p, offsetof(window_params, at) + (size_t)p->rank * sizeof p->at[0], x);
}

/* A copy that may be changed: the parameters of a rule are only as long as they need to be. Reading the whole struct
 * would read beyond the parameters' end. */
static window_params copy_of(const window_params *p) {
    window_params q = {p->lead, p->rank, {{0}}};
    for (int i = 0; i < p->rank; i++) q.at[i] = p->at[i];
    return q;
}

/* Axes in front keep their sizes, the windowed ones get their number of places. Stride, dilation and padding are all in
 * that number. */
static lam_status shape_window(const lam_call_site *call, lam_shape out[]) {
    const window_params *p = call->params;
    const lam_value *x = call->in[0];
    out->dtype = (lam_dtype)x->dtype;
    out->rank = x->rank;
    for (int i = 0; i < x->rank; i++) out->dims[i] = i < p->lead ? x->dims[i] : p->at[i - p->lead].out;
    return LAM_OK;
}

/* One more axis in front, which the windows do not see. */
static void batch_window(const lam_rule *r, lam_tensor *out[]) {
    window_params p = copy_of(r->params);
    p.lead++;
    out[0] = apply(r->primitive, &p, r->in[0]);
}

/* One axis after the other; the axes before it have their new sizes already. A window over several axes is the window
 * along one of the windows along the others, so its cost is the sum of their lengths and not the product. Results in
 * between are given back as soon as they are read. */
static lam_status slide(const lam_call_site *call, const lam_value *x, lam_value *out, lam__reduce_id id) {
    const window_params *p = call->params;
    const lam_value *from = x;
    lam_value *made = NULL;
    for (int i = 0; i < p->rank; i++) {
        int axis = p->lead + i;
        lam__lanes s = {lam__axes_product(out->dims, 0, axis), x->dims[axis],
                        lam__axes_product(x->dims, axis + 1, x->rank)};
        /* Results in between are dense and have no dims of their own: lanes tell all that a kernel needs. */
        int64_t count = s.outer * p->at[i].out * s.inner;
        lam_value *to = i + 1 < p->rank ? lam__value_new(call->ctx, (lam_dtype)x->dtype, 1, &count) : out;
        bool known =
            to && lam__parallel_window(call->ctx->team, id, (lam_dtype)x->dtype, &s, &p->at[i], from->data, to->data);
        lam__value_release(made);
        made = to == out ? NULL : to;
        from = to;
        if (!to) return LAM_ERR_MEMORY;
        /* The first axis finds that out, before anything else was made. */
        if (known) continue;
        lam__value_release(made);
        return lam__error_call(call, LAM_ERR_DTYPE, NULL, "not for this dtype");
    }
    return LAM_OK;
}

/* The kernels run along lanes of contiguous memory. Padding is no copy: the kernel knows where elements begin. */
static lam_status eval_window(const lam_call_site *call, lam_value *out, lam__reduce_id id) {
    lam_value *x = lam__value_contiguous(call->in[0]);
    lam_status status = x ? slide(call, x, out, id) : LAM_ERR_MEMORY;
    lam__value_release(x);
    return status;
}

/* ---- sums -------------------------------------------------------------------------------------------------------- */

static lam_status eval_reduce_window_sum(const lam_call_site *call, lam_value *const out[]) {
    return eval_window(call, out[0], LAM__REDUCE_SUM);
}

/* The transpose of each axis is a sum over windows again, and the order of axes does not matter. */
static void vjp_reduce_window_sum(const lam_rule *r, lam_tensor *const g[], lam_tensor *gx[]) {
    window_params p = copy_of(r->params);
    for (int i = 0; i < p.rank; i++) p.at[i] = lam__windows_transposed(&p.at[i], lam_dim(r->in[0], p.lead + i));
    gx[0] = apply(r->primitive, &p, g[0]);
}

/* Of real numbers and integers; complex ones are taken apart by the public form. */
const lam_primitive lam__row_reduce_window_sum = {
    .name = "reduce_window_sum",
    .inputs = 1,
    .derivative = LAM_LINEAR,
    .linear = 1u,
    .shape = shape_window,
    .eval = eval_reduce_window_sum,
    .vjp = vjp_reduce_window_sum,
    .batch = batch_window,
    .layout = "i lead, #i rank, {l window, l stride, l low, l gap, l spread, l out}[rank]",
};

/* ---- where the largest and the smallest stand ------------------------------------------------------------------- */

/* Places like the values, numbered by i64. */
static lam_status shape_reduce_window_arg(const lam_call_site *call, lam_shape out[]) {
    lam_status status = shape_window(call, out);
    out->dtype = LAM_I64;
    return status;
}

/* Over all axes at once, since the first of those that tie is meant in row-major order of all. So it takes the product
 * of the lengths of the window, where the values take their sum. */
static lam_status eval_reduce_window_arg(const lam_call_site *call, lam_value *const out[]) {
    const window_params *p = call->params;
    lam_value *x = lam__value_contiguous(call->in[0]);
    if (!x) return LAM_ERR_MEMORY;
    lam__windows w = {p->rank, x->dims + p->lead, p->at};
    bool known = lam__kernels_window_arg(call->primitive == &lam__row_reduce_window_argmax, (lam_dtype)x->dtype,
                                         lam__axes_product(x->dims, 0, p->lead), &w, x->data, out[0]->data);
    lam__value_release(x);
    return known ? LAM_OK : lam__error_call(call, LAM_ERR_DTYPE, NULL, "not for this dtype");
}

/* Positions among the windowed axes of an example, so rules can take by them whatever axes stand in front. */
const lam_primitive lam__row_reduce_window_argmax = {
    .name = "reduce_window_argmax",
    .inputs = 1,
    .shape = shape_reduce_window_arg,
    .eval = eval_reduce_window_arg,
    .batch = batch_window,
    .layout = "i lead, #i rank, {l window, l stride, l low, l gap, l spread, l out}[rank]",
};

const lam_primitive lam__row_reduce_window_argmin = {
    .name = "reduce_window_argmin",
    .inputs = 1,
    .shape = shape_reduce_window_arg,
    .eval = eval_reduce_window_arg,
    .batch = batch_window,
    .layout = "i lead, #i rank, {l window, l stride, l low, l gap, l spread, l out}[rank]",
};

/* ---- the largest and the smallest -------------------------------------------------------------------------------- */

/* A NaN in a window is its largest. */
static lam_status eval_reduce_window_max(const lam_call_site *call, lam_value *const out[]) {
    return eval_window(call, out[0], LAM__REDUCE_MAX);
}

/* The smallest likewise: NaN wins in both. */
static lam_status eval_reduce_window_min(const lam_call_site *call, lam_value *const out[]) {
    return eval_window(call, out[0], LAM__REDUCE_MIN);
}

/* x with its windowed axes as one, the last: the form in which positions count. A failed x has no axes. */
static lam_tensor *in_rows(const window_params *p, lam_tensor *x) {
    if (lam_failed(x)) return x;
    lam_dims own = lam_dims_of(x);
    int64_t dims[LAM_INNER_RANK];
    for (int i = 0; i < p->lead; i++) dims[i] = own.dims[i];
    dims[p->lead] = lam__axes_product(own.dims, p->lead, own.rank);
    return lam__apply_reshape(x, p->lead + 1, dims);
}

/* The positions are found anew and not kept by the forward pass: who wants no gradient does not pay for them. A window
 * without elements has a position beyond all, which takes 0 and to which nothing is added. Both rows have the same
 * parameters, so the places are those that the values were taken from. */
static lam_tensor *chosen(const lam_rule *r) {
    window_params p = copy_of(r->params);
    bool maximum = r->primitive == &lam__row_reduce_window_max;
    return in_rows(&p, apply(maximum ? &lam__row_reduce_window_argmax : &lam__row_reduce_window_argmin, &p, r->in[0]));
}

/* The tangent of the element that was chosen. Tangents of what was not chosen are not read. */
static void jvp_window(const lam_rule *r, lam_tensor *const dx[], lam_tensor *dout[]) {
    if (!dx[0]) return;
    lam_dims own = lam_dims_of(r->out[0]);
    dout[0] = lam__apply_reshape(lam__index_take_rows(in_rows(r->params, dx[0]), chosen(r)), own.rank, own.dims);
}

/* The transpose: each cotangent to the element that was chosen. Places of a cotangent are positions in rows of the
 * operand, so both are seen as rows. */
static void vjp_window(const lam_rule *r, lam_tensor *const g[], lam_tensor *gx[]) {
    lam_dims own = lam_dims_of(r->in[0]);
    lam_tensor *rows = in_rows(r->params, lam_zeros_like(r->in[0]));
    gx[0] = lam__apply_reshape(lam__index_add_rows(rows, chosen(r), in_rows(r->params, g[0])), own.rank, own.dims);
}

/* The operand is saved, not the result: positions are found from it. */
const lam_primitive lam__row_reduce_window_max = {
    .name = "reduce_window_max",
    .inputs = 1,
    .derivative = LAM_GENERAL,
    .saves = LAM_SAVE_IN(0),
    .shape = shape_window,
    .eval = eval_reduce_window_max,
    .jvp = jvp_window,
    .vjp = vjp_window,
    .batch = batch_window,
    .layout = "i lead, #i rank, {l window, l stride, l low, l gap, l spread, l out}[rank]",
};

const lam_primitive lam__row_reduce_window_min = {
    .name = "reduce_window_min",
    .inputs = 1,
    .derivative = LAM_GENERAL,
    .saves = LAM_SAVE_IN(0),
    .shape = shape_window,
    .eval = eval_reduce_window_min,
    .jvp = jvp_window,
    .vjp = vjp_window,
    .batch = batch_window,
    .layout = "i lead, #i rank, {l window, l stride, l low, l gap, l spread, l out}[rank]",
};

/* ---- public ------------------------------------------------------------------------------------------------------ */

/* Parameters for a call of a user's; false after recording what is wrong with them. Options are a user's, so every list
 * may be absent or wrong; a window must be given. */
bool lam__windows_params(const char *operation, lam_tensor *x, const lam_window_options *o, window_params *p) {
    lam_dims own = lam_dims_of(x);
    if (!o || !o->window.rank || !o->window.dims) {
        lam__axes_fail(operation, x, LAM_ERR_OPTION, "no window is given");
        return false;
    }
    if (o->window.rank < 0 || o->window.rank > own.rank) {
        lam__axes_fail(operation, x, LAM_ERR_RANK, "a window over %d axes", o->window.rank);
        return false;
    }
    lam__windows_how how = {operation,  x,           o->padding,        o->strides,
                            o->pad_low, o->pad_high, o->input_dilation, o->window_dilation};
    p->rank = o->window.rank;
    p->lead = own.rank - p->rank;
    /* The sizes of the window are a list like the others, but one that has to be there. */
    return list_fits(&how, "window sizes", o->window, p->rank, 1) &&
           lam__windows_collect(&how, p->rank, own.dims + p->lead, o->window.dims, p->at);
}

/* Windows are over the last axes; those in front are gone through. The name for messages is that of the row. */
static lam_tensor *reduction(const lam_primitive *row, lam_tensor *x, const lam_window_options *o) {
    window_params p;
    if (!lam__scope_peek(x)) return lam__axes_fail(row->name, x, LAM_ERR_NULL, "the operand is NULL");
    return lam__windows_params(row->name, x, o, &p) ? apply(row, &p, x) : lam__axes_failed(x);
}

/* Bools are counted. Complex sums are those of the parts. */
lam_tensor *lam_reduce_window_sum(lam_tensor *x, const lam_window_options *options) {
    uint64_t since = lam__scope_now(x);
    const lam_primitive *row = &lam__row_reduce_window_sum;
    if (lam__scope_peek(x) && lam_dtype_of(x) == LAM_BOOL) x = lam_cast(x, LAM_I64);
    if (lam__cplx_is(x)) {
        lam_tensor *re = reduction(row, lam_real(x), options), *im = reduction(row, lam_imag(x), options);
        return lam__scope_only(lam_complex(re, im), since);
    }
    return lam__scope_only(reduction(row, x, options), since);
}

/* In padding there are no elements: it never wins, whatever the others are. */
lam_tensor *lam_reduce_window_max(lam_tensor *x, const lam_window_options *options) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_only(reduction(&lam__row_reduce_window_max, x, options), since);
}

lam_tensor *lam_reduce_window_min(lam_tensor *x, const lam_window_options *options) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_only(reduction(&lam__row_reduce_window_min, x, options), since);
}

/* Without elements in a window, as padding alone may be, the number of elements stands for none. */
lam_tensor *lam_reduce_window_argmax(lam_tensor *x, const lam_window_options *options) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_only(reduction(&lam__row_reduce_window_argmax, x, options), since);
}

/* Of the first that is smallest. */
lam_tensor *lam_reduce_window_argmin(lam_tensor *x, const lam_window_options *options) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_only(reduction(&lam__row_reduce_window_argmin, x, options), since);
}

/* The transpose of the largest or smallest element of windows, with places that are those of another operand. It is
 * what the derivative of a maximum does, for cotangents of any operand. */
lam_tensor *lam_select_and_scatter_add(lam_tensor *x, lam_tensor *source, bool smallest,
                                       const lam_window_options *options) {
    uint64_t since = lam__scope_now(x);
    const char *name = "select_and_scatter_add";
    lam_tensor *in[2] = {x, source}, *failed;
    lam_value *v[2];
    window_params p;
    if (!lam__scope_operands(name, 2, in, v, &failed)) return failed;
    if (!lam__windows_params(name, x, options, &p)) return lam__axes_failed(x);
    lam_tensor *at = apply(smallest ? &lam__row_reduce_window_argmin : &lam__row_reduce_window_argmax, &p, x);
    if (lam_failed(at)) return lam__scope_only(at, since);
    const lam_dims own = lam_dims_of(x), places = lam_dims_of(at), given = lam_dims_of(source);
    bool fits = given.rank == places.rank;
    for (int i = 0; fits && i < places.rank; i++) fits = given.dims[i] == places.dims[i];
    if (!fits)
        return lam__matrices_fail(name, 2, (lam_tensor *[]){at, source}, LAM_ERR_SHAPE, NULL,
                                  "there is to be one number for each window");
    /* The dtype is that of what is added. */
    lam_tensor *zeros = lam_cast(lam_zeros_like(x), lam_dtype_of(source));
    lam_tensor *sums = lam__index_add_rows(in_rows(&p, zeros), in_rows(&p, at), in_rows(&p, source));
    return lam__scope_only(lam__apply_reshape(sums, own.rank, own.dims), since);
}

/* By default windows stand side by side. As PyTorch has it; the reductions themselves move by one. */
static lam_window_options pooling(const lam_window_options *options) {
    lam_window_options o = {.padding = LAM_PAD_GIVEN};
    if (options) o = *options;
    if (o.strides.rank == 0) o.strides = o.window;
    return o;
}

/* The maximum over windows that stand side by side unless strides are given. Integers keep their dtype. */
lam_tensor *lam_max_pool(lam_tensor *x, const lam_window_options *options) {
    uint64_t since = lam__scope_now(x);
    lam_window_options o = pooling(options);
    return lam__scope_only(lam_reduce_window_max(x, &o), since);
}

/* Divided by the window's size, or by the number of elements in it that are no padding, which is the same sum over
 * ones. A mean of f16 is in range where the sum is not. Where padding counts, the size is that of the window, the same
 * everywhere. */
lam_tensor *lam_avg_pool(lam_tensor *x, const lam_window_options *options) {
    uint64_t since = lam__scope_now(x);
    lam_window_options o = pooling(options);
    const lam_dtype dtype = lam__apply_floats(1, &x);
    lam_tensor *sum = lam_reduce_window_sum(x, &o), *mean;
    if (lam_failed(sum)) return lam__scope_only(sum, since);
    double size = 1;
    for (int i = 0; i < o.window.rank; i++) size *= (double)o.window.dims[i];
    mean = o.exclude_padding ? lam_div(sum, lam_reduce_window_sum(lam_ones_like(x), &o)) : lam_div(sum, size);
    return lam__scope_only(lam__apply_narrowed(mean, dtype), since);
}
