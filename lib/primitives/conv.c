/* Convolution: one bilinear primitive on x [groups, n, c, axes...] and w [groups, o, c, axes...], giving [groups, n, o,
 * axes...]; or on x [n, c, axes...] and w [o, c, axes...], which needs no views where there are no groups. Feature
 * groups and batch groups of users are both `groups` here, as is the batch axis of vmap where both operands have one;
 * where only one has, it joins n or o. Both transposes are the same primitive on operands seen in another order: by x
 * with stride and dilation of x exchanged, by w with those of the window. */
#include "lib/parallel/conv.h"
#include "lib/primitives/apply.h"
#include "lib/primitives/axes.h"
#include "lib/primitives/cplx.h"
#include "lib/primitives/lent.h"
#include "lib/primitives/matrices.h"
#include "lib/primitives/params.h"
#include "lib/primitives/rows.h"
#include "lib/primitives/windows.h"

#include "lib/tensor/value.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

#include <string.h>

enum { AXES = LAM__CONV_AXES, FRONT = 3 }; /* window axes at most; axes in front of them at most */

typedef lam__conv_params conv_params;

/* Operands have the row's order of axes here. */
static lam_tensor *apply(lam_tensor *x, lam_tensor *w, const conv_params *p) {
    lam_tensor *in[2] = {x, w};
    return lam__apply(&lam__row_conv_general, p, sizeof *p, 2, in);
}

/* Groups and features must agree and the window be the one that the parameters were made for; places of the result
 * follow from them alone. The axis of features is gone: it is what is summed over. */
static lam_status shape_conv_general(const lam_call_site *call, lam_shape out[]) {
    const conv_params *p = call->params;
    const lam_value *x = call->in[0], *w = call->in[1];
    const int front = p->front, n = front - 2, c = front - 1;
    if (x->dtype != w->dtype)
        return lam__error_call(call, LAM_ERR_DTYPE, "cast one of them", "the operands have two dtypes");
    bool fits = x->rank == front + p->rank && w->rank == x->rank && x->dims[c] == w->dims[c];
    /* Groups stand in front, as many of one operand as of the other. */
    if (fits && front == FRONT) fits = x->dims[0] == w->dims[0];
    for (int i = 0; fits && i < p->rank; i++) fits = w->dims[front + i] == p->at[i].window;
    if (!fits) return lam__error_call(call, LAM_ERR_SHAPE, NULL, "the window does not fit the operand");
    out->dtype = (lam_dtype)x->dtype;
    out->rank = x->rank;
    out->dims[0] = x->dims[0];
    out->dims[n] = x->dims[n];
    /* w has its output features where x has its examples. */
    out->dims[c] = w->dims[n];
    for (int i = 0; i < p->rank; i++) out->dims[front + i] = p->at[i].out;
    return LAM_OK;
}

/* What the kernel is told; window axes are its last ones, and there is one group where none are. */
static lam__conv_case shape_for(const conv_params *p, const lam_value *x, const lam_value *w, const lam_value *out) {
    const int front = p->front, lead = FRONT - front;
    /* Without an axis of groups their step is left 0, and there is one. */
    lam__conv_case s = {.groups = lead ? 1 : x->dims[0]};
    s.n = x->dims[front - 2];
    s.c = x->dims[front - 1];
    s.o = w->dims[front - 2];
    for (int i = 0; i < front; i++) {
        s.x_step[lead + i] = x->strides[i];
        s.w_step[lead + i] = w->strides[i];
        s.out_step[lead + i] = out->strides[i];
    }
    /* Axes that there are not have one place and one element. */
    for (int i = 0; i < AXES; i++) s.axis[i] = (lam__conv_axis){1, 1, 1, 0, 1, 1, 1};
    for (int i = 0; i < p->rank; i++) {
        const lam__window_axis *a = &p->at[i];
        int at = AXES - p->rank + i;
        s.x_step[FRONT + at] = x->strides[front + i];
        s.w_step[FRONT + at] = w->strides[front + i];
        s.out_step[FRONT + at] = out->strides[front + i];
        s.axis[at] = (lam__conv_axis){x->dims[front + i], a->window, a->stride, a->low, a->gap, a->spread, a->out};
    }
    return s;
}

/* Operands of any strides, since rules give transposed and reversed ones. A kernel of any way may ask for room, which
 * is given back here. */
static lam_status eval_conv_general(const lam_call_site *call, lam_value *const out[]) {
    const lam_value *x = call->in[0], *w = call->in[1];
    lam__lent memory = {.ctx = call->ctx};
    lam__conv_case s = shape_for(call->params, x, w, out[0]);
    bool done = lam__parallel_conv(call->ctx->team, (lam_dtype)x->dtype, &s, x->data, w->data, out[0]->data,
                                   lam__lent_get, &memory);
    lam__lent_return(&memory);
    return done ? LAM_OK : LAM_ERR_MEMORY;
}

/* ---- derivative -------------------------------------------------------------------------------------------------- */

/* w with its features exchanged and its window turned over, along axes where that is another one. Where the window has
 * one element along an axis, turning it would be a view for nothing. */
static lam_tensor *turned(lam_tensor *w, const conv_params *p) {
    int axes[AXES], count = 0;
    for (int i = 0; i < p->rank; i++)
        if (p->at[i].window > 1) axes[count++] = p->front + i;
    return lam_moveaxis(count ? lam_reverse(w, (lam_axes){count, axes}) : w, p->front - 2, p->front - 1);
}

/* The transpose by x: each element gathers from the places whose windows covered it, which is a convolution of g with
 * the turned window, where stride and dilation of x change places. */
static lam_tensor *gradient_x(const lam_rule *r, lam_tensor *g) {
    const conv_params *p = r->params;
    conv_params q = {.rank = p->rank, .front = p->front};
    for (int i = 0; i < p->rank; i++) q.at[i] = lam__windows_transposed(&p->at[i], lam_dim(r->in[0], p->front + i));
    return apply(g, turned(r->in[1], p), &q);
}

/* The window's place k meets element t of the cotangent where that met k: what the window was for x, g is now. Examples
 * are what is summed over, so they take the part of features, and both operands and the result have these axes
 * exchanged. */
static lam_tensor *gradient_w(const lam_rule *r, lam_tensor *g) {
    const conv_params *p = r->params;
    const int n = p->front - 2, c = p->front - 1;
    conv_params q = {.rank = p->rank, .front = p->front};
    for (int i = 0; i < p->rank; i++) {
        /* As a window g has the places of the result, dilated by the stride; its steps are those that the window had
         * inside. */
        const lam__window_axis *a = &p->at[i];
        q.at[i] = (lam__window_axis){a->out, a->spread, a->low, a->gap, a->stride, a->window};
    }
    return lam_moveaxis(apply(lam_moveaxis(r->in[0], n, c), lam_moveaxis(g, n, c), &q), n, c);
}

/* Bilinear, so each needs the other operand and its own dims. The parameters carry no sizes of x, so both rules ask its
 * dims. */
static void vjp_conv_general(const lam_rule *r, lam_tensor *const g[], lam_tensor *gx[]) {
    if (r->needs[0]) gx[0] = gradient_x(r, g[0]);
    if (r->needs[1]) gx[1] = gradient_w(r, g[0]);
}

/* ---- batch ------------------------------------------------------------------------------------------------------- */

/* The batch axis in front of x made part of axis k (of x without it), as its slower part. Slower, so that the examples
 * of one group are neighbours and `split` can part them again. */
static lam_tensor *merge(lam_tensor *x, int k) {
    lam_dims own = lam_dims_of(x);
    int64_t dims[LAM_INNER_RANK];
    for (int i = 1; i < own.rank; i++) dims[i - 1] = own.dims[i] * (i - 1 == k ? own.dims[0] : 1);
    return lam__apply_reshape(lam_moveaxis(x, 0, k), own.rank - 1, dims);
}

/* The reverse: `size` examples in axis k, each of n elements, get an axis in front. A failed x has no axes. */
static lam_tensor *split(lam_tensor *x, int k, int64_t size, int64_t n) {
    if (lam_failed(x)) return x;
    lam_dims own = lam_dims_of(x);
    int64_t dims[LAM_INNER_RANK];
    for (int i = 0; i <= own.rank; i++)
        dims[i] = i < k ? own.dims[i] : i == k ? size : i == k + 1 ? n : own.dims[i - 1];
    return lam_moveaxis(lam__apply_reshape(x, own.rank + 1, dims), k, 0);
}

/* Mapped on both sides, examples are groups that do not mix; x alone joins its examples to n, w alone to o. One kernel
 * call in each case. */
static void batch_conv_general(const lam_rule *r, lam_tensor *out[]) {
    const conv_params *p = r->params;
    bool x = r->mapped[0], w = r->mapped[1];
    lam_tensor *in[2] = {r->in[0], r->in[1]};
    if (x && w && p->front < FRONT) {
        /* Operands without an axis of groups get the batch axis as that. */
        conv_params q = *p;
        q.front = FRONT;
        out[0] = apply(in[0], in[1], &q);
        return;
    }
    int n = p->front - 2, into = x && w ? 0 : n, from = x && w ? 0 : x ? n : n + 1;
    /* What one example has along the axis that the batch joins. */
    int64_t own = lam_dim(r->in[x ? 0 : 1], 1 + into);
    for (int i = 0; i < 2; i++)
        if (r->mapped[i]) in[i] = merge(in[i], into);
    out[0] = split(apply(in[0], in[1], p), from, r->size, own);
}

const lam_primitive lam__row_conv_general = {
    .name = "conv_general",
    .inputs = 2,
    .derivative = LAM_BILINEAR,
    .linear = 3u,
    .bilinear = true,
    .saves = LAM_SAVE_TYPES,
    .saves_for = {LAM_SAVE_IN(1), LAM_SAVE_IN(0)},
    .shape = shape_conv_general,
    .eval = eval_conv_general,
    .vjp = vjp_conv_general,
    .batch = batch_conv_general,
    .layout = "#i rank, i front, {l window, l stride, l low, l gap, l spread, l out}[rank<3]",
};

/* ---- public ------------------------------------------------------------------------------------------------------ */

/* One call of a user's. */
typedef struct conv_call {
    const char *operation;
    lam_tensor *in[2]; /* x and w, then with their axes in the usual order */
    lam_conv_options o;
    int rank;            /* window axes */
    int order[AXES + 2]; /* of the result: axis i of it is axis order[i] of [n, o, axes...] */
} conv_call;

/* The message shows x and w. As they stand when it is made: after `arrange` in the usual order. */
static lam_tensor *refuse(const conv_call *c, lam_status status, const char *remedy, const char *what) {
    return lam__matrices_fail(c->operation, 2, c->in, status, remedy, "%s", what);
}

/* Where each letter of `wanted` stands in `layout`; false unless they are the same letters, each once. A layout with a
 * letter that nobody asks for is too long, so it is found by its length. */
static bool find_axes(const char *layout, const char *wanted, int rank, int order[]) {
    if ((int)strlen(layout) != rank) return false;
    for (int i = 0; i < rank; i++) {
        const char *at = strchr(layout, wanted[i]);
        if (!at || strchr(at + 1, wanted[i])) return false;
        order[i] = (int)(at - layout);
    }
    return true;
}

/* The letters of a layout in the usual order: the two features first, then the window axes as they come in x. False if
 * there are more or fewer letters than axes. */
static bool usual_order(const char *layout, char first, char second, char letters[]) {
    int n = 0;
    letters[n++] = first;
    letters[n++] = second;
    for (const char *at = layout; *at && n < AXES + 2; at++)
        if (*at != 'N' && *at != 'C') letters[n++] = *at;
    letters[n] = 0;
    return strlen(layout) == (size_t)n;
}

/* Brings x and w into the usual order of axes, and finds that of the result. The window's axes stand in the order in
 * which the layout of x names them. */
static bool arrange(conv_call *c) {
    for (int i = 0; i < AXES + 2; i++) c->order[i] = i;
    /* No layouts, as nearly always: nothing is looked for. */
    if (!c->o.layout_x && !c->o.layout_w && !c->o.layout_out) return true;
    static const char *const usual[] = {"NC", "NCW", "NCHW", "NCDHW"};
    const char *layout = c->o.layout_x ? c->o.layout_x : usual[c->rank];
    const char *result = c->o.layout_out ? c->o.layout_out : layout;
    char letters[AXES + 3];
    int order[AXES + 2], rank = c->rank + 2, inverse[AXES + 2];
    if (!usual_order(layout, 'N', 'C', letters) || !find_axes(layout, letters, rank, order)) return false;
    /* What fails from here on fails by a letter, so a transpose that is of no use does no harm. */
    c->in[0] = lam_transpose(c->in[0], (lam_axes){rank, order});
    if (!find_axes(result, letters, rank, inverse)) return false;
    for (int i = 0; i < rank; i++) c->order[inverse[i]] = i;
    usual_order(layout, 'O', 'I', letters);
    if (!c->o.layout_w) return true;
    if (!find_axes(c->o.layout_w, letters, rank, order)) return false;
    c->in[1] = lam_transpose(c->in[1], (lam_axes){rank, order});
    return true;
}

/* x [n, groups c, ...] or, for a batch group, [groups n, c, ...] as [groups, n, c, ...]. Examples of a group are
 * neighbours along the axis, as lax has them. */
static lam_tensor *grouped(lam_tensor *x, int axis, int64_t groups) {
    lam_dims own = lam_dims_of(x);
    int64_t dims[AXES + 3];
    for (int i = 0; i <= own.rank; i++)
        dims[i] = i < axis ? own.dims[i] : i == axis ? groups : own.dims[i - 1] / (i == axis + 1 ? groups : 1);
    return lam_moveaxis(lam_reshape(x, (lam_dims){own.rank + 1, dims}), axis, 0);
}

/* The result [groups, n, o, ...] as [n, groups o, ...]. Features of a group are neighbours in the result, too. */
static lam_tensor *ungrouped(lam_tensor *out) {
    lam_dims own = lam_dims_of(out);
    if (lam_failed(out)) return out;
    int64_t dims[AXES + 2];
    for (int i = 1; i < own.rank; i++) dims[i - 1] = own.dims[i] * (i == 2 ? own.dims[0] : 1);
    return lam_reshape(lam_moveaxis(out, 0, 1), (lam_dims){own.rank - 1, dims});
}

/* The result [n, o, ...] in the order of axes that the user wants. */
static lam_tensor *in_order(const conv_call *c, lam_tensor *out) {
    const int rank = c->rank + 2;
    bool there = true;
    for (int i = 0; i < rank; i++) there = there && c->order[i] == i;
    return there || lam_failed(out) ? out : lam_transpose(out, (lam_axes){rank, c->order});
}

/* Complex ones are four real convolutions. Complex operands could do with three, at the cost of digits. */
static lam_tensor *apply_any(lam_tensor *x, lam_tensor *w, const conv_params *p) {
    if (!lam__cplx_is(x)) return apply(x, w, p);
    lam_tensor *re_x = lam_real(x), *im_x = lam_imag(x), *re_w = lam_real(w), *im_w = lam_imag(w);
    return lam_complex(lam_sub(apply(re_x, re_w, p), apply(im_x, im_w, p)),
                       lam_add(apply(re_x, im_w, p), apply(im_x, re_w, p)));
}

/* The convolution of operands in the usual order. Groups of features and of examples exclude each other, so one number
 * serves: x is split along the axis that is grouped, w along its output features. */
static lam_tensor *convolve(conv_call *c) {
    lam_conv_options *o = &c->o;
    lam_tensor *x = c->in[0], *w = c->in[1];
    int64_t features = o->feature_groups ? o->feature_groups : 1, batches = o->batch_groups ? o->batch_groups : 1;
    int64_t groups = features > 1 ? features : batches;
    if (features < 1 || batches < 1 || (features > 1 && batches > 1))
        return refuse(c, LAM_ERR_OPTION, NULL, "feature_groups and batch_groups must be positive, one of them 1");
    if (lam_dim(x, 1) % features || lam_dim(x, 0) % batches || lam_dim(w, 0) % groups)
        return refuse(c, LAM_ERR_SHAPE, NULL, "the groups do not divide the operands");
    if (lam_dim(x, 1) / features != lam_dim(w, 1))
        return refuse(c, LAM_ERR_SHAPE, "w is [output features, input features / feature_groups, window...]",
                      "x and w have different numbers of input features");
    /* Groups are one more axis in front of both operands. */
    conv_params p = {.rank = c->rank, .front = groups > 1 ? FRONT : FRONT - 1};
    lam__windows_how how = {c->operation, x,           o->padding,        o->strides,
                            o->pad_low,   o->pad_high, o->input_dilation, o->window_dilation};
    if (!lam__windows_collect(&how, c->rank, lam_dims_of(x).dims + 2, lam_dims_of(w).dims + 2, p.at))
        return lam__axes_failed(x);
    if (groups == 1) return in_order(c, apply_any(x, w, &p));
    return in_order(c, ungrouped(apply_any(grouped(x, features > 1, groups), grouped(w, 0, groups), &p)));
}

/* Operands of one dtype and of a possible rank, in the usual order. False: *failed is what the operation returns. */
static bool begin(const char *operation, lam_tensor *x, lam_tensor *w, const lam_conv_options *options, conv_call *c,
                  lam_tensor **failed) {
    lam_tensor *in[2] = {x, w};
    *c = (conv_call){.operation = operation};
    if (options) c->o = *options;
    if (!lam__matrices_operands(operation, false, 2, in, c->in, failed)) return false;
    c->rank = lam_rank(c->in[0]) - 2;
    if (c->rank < 0 || c->rank > AXES || lam_rank(c->in[1]) != c->rank + 2)
        *failed = refuse(c, LAM_ERR_RANK, NULL, "x and w must both have 2 to 5 axes, and as many");
    else if (!arrange(c)) *failed = refuse(c, LAM_ERR_OPTION, NULL, "a layout does not name each axis once");
    else *failed = lam_failed(c->in[0]) ? c->in[0] : c->in[1]; /* turned, of which memory may have been refused */
    return !lam_failed(*failed);
}

lam_tensor *lam_conv_general(lam_tensor *x, lam_tensor *w, const lam_conv_options *options) {
    uint64_t since = lam__scope_now(x);
    conv_call c;
    lam_tensor *failed;
    return lam__scope_only(begin(lam__row_conv_general.name, x, w, options, &c, &failed) ? convolve(&c) : failed,
                           since);
}

/* Padding of the dilated operand that undoes a strided convolution's. As lax.conv_transpose: the result then has size
 * times stride elements for SAME, and every product is kept for VALID. False: the numbers leave the range. */
static bool undo_padding(conv_call *c, int64_t low[], int64_t high[]) {
    for (int i = 0; i < c->rank; i++) {
        int64_t step = c->o.strides.rank ? c->o.strides.dims[i] : 1, spread = 1;
        if (c->o.window_dilation.rank) spread = c->o.window_dilation.dims[i];
        int64_t k = lam_dim(c->in[1], 2 + i);
        if (step < 1 || spread < 1 || step > INT32_MAX || k > INT32_MAX || spread > INT32_MAX) return false;
        k = k ? (k - 1) * spread + 1 : 0;
        bool same = c->o.padding != LAM_PAD_VALID;
        int64_t all = k + step - 2 + (!same && k > step ? k - step : 0);
        low[i] = !same || step > k - 1 ? k - 1 : (all + 1) / 2;
        high[i] = all - low[i];
    }
    return true;
}

/* A convolution of x with zeros between its elements (input dilation) at stride 1. With transpose_window the window is
 * turned over and its features exchanged, which makes it the gradient of a convolution. */
lam_tensor *lam_conv_transpose(lam_tensor *x, lam_tensor *w, const lam_conv_options *options) {
    uint64_t since = lam__scope_now(x);
    const char *operation = "conv_transpose";
    int64_t low[AXES], high[AXES];
    int axes[AXES] = {2, 3, 4};
    /* Window axes stand behind the two features, three at most. */
    conv_call c;
    lam_tensor *failed;
    if (!begin(operation, x, w, options, &c, &failed)) return failed;
    lam_conv_options *o = &c.o;
    if (o->input_dilation.rank || o->feature_groups > 1 || o->batch_groups > 1)
        return refuse(&c, LAM_ERR_OPTION, "use lam_conv_general", "input_dilation and groups are not for this");
    if ((o->strides.rank && (o->strides.rank != c.rank || !o->strides.dims)) ||
        (o->window_dilation.rank && (o->window_dilation.rank != c.rank || !o->window_dilation.dims)))
        return refuse(&c, LAM_ERR_SHAPE, NULL, "a list has not one number for each window axis");
    if (o->transpose_window) {
        if (c.rank) c.in[1] = lam_reverse(c.in[1], (lam_axes){c.rank, axes});
        c.in[1] = lam_moveaxis(c.in[1], 0, 1);
    }
    if (o->padding == LAM_PAD_SAME || o->padding == LAM_PAD_VALID) {
        if (!undo_padding(&c, low, high)) return refuse(&c, LAM_ERR_VALUE, NULL, "impossible strides or dilations");
        o->padding = LAM_PAD_GIVEN;
        o->pad_low = (lam_dims){c.rank, low};
        o->pad_high = (lam_dims){c.rank, high};
    }
    /* The strides of the convolution that is turned round are dilations here. */
    o->input_dilation = o->strides;
    o->strides = LAM_DIMS0;
    return lam__scope_only(convolve(&c), since);
}

/* ---- vectors ----------------------------------------------------------------------------------------------------- */

/* The full result is made and cut: SAME from its middle, of the longer length, VALID where both overlap fully.
 * Convolution turns the second vector, correlation conjugates it, as in NumPy. */
static lam_tensor *vectors(const char *operation, lam_tensor *x, lam_tensor *y, lam_convolve_mode mode, bool turn) {
    lam_tensor *in[2] = {x, y}, *failed;
    if (!lam__matrices_operands(operation, false, 2, in, in, &failed)) return failed;
    if (lam_rank(in[0]) != 1 || lam_rank(in[1]) != 1)
        return lam__matrices_fail(operation, 2, in, LAM_ERR_RANK, NULL, "two vectors are needed");
    int64_t m = lam_dim(in[0], 0), n = lam_dim(in[1], 0), shorter = m < n ? m : n, longer = m < n ? n : m;
    if (shorter == 0) return lam__matrices_fail(operation, 2, in, LAM_ERR_SHAPE, NULL, "a vector is empty");
    if ((unsigned)mode > LAM_CONVOLVE_VALID)
        return lam__matrices_fail(operation, 2, in, LAM_ERR_OPTION, NULL, "there is no mode %d", (int)mode);
    int64_t from = mode == LAM_CONVOLVE_SAME ? (shorter - 1) / 2 : mode == LAM_CONVOLVE_VALID ? shorter - 1 : 0;
    /* By `around` zeros on both sides x meets each place of the window. */
    int64_t count = mode == LAM_CONVOLVE_SAME ? longer : m + n - 1 - 2 * from, around = n - 1;
    if (turn && n > m && mode == LAM_CONVOLVE_SAME) from = shorter / 2; /* the middle, seen from the other end */
    lam_tensor *w = turn ? lam_conj(in[1]) : lam_reverse(in[1], LAM_AXES(0));
    lam_tensor *full = lam_conv_general(lam_reshape(in[0], LAM_DIMS(1, 1, m)), lam_reshape(w, LAM_DIMS(1, 1, n)),
                                        &(lam_conv_options){.pad_low = {1, &around}, .pad_high = {1, &around}});
    return lam_slice_axis(lam_reshape(full, LAM_DIMS(m + n - 1)), 0, from, from + count);
}

lam_tensor *lam_convolve(lam_tensor *x, lam_tensor *y, lam_convolve_mode mode) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_only(vectors("convolve", x, y, mode, false), since);
}

lam_tensor *lam_correlate(lam_tensor *x, lam_tensor *y, lam_convolve_mode mode) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_only(vectors("correlate", x, y, mode, true), since);
}
