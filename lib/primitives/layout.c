/* Layout: primitives that give the same elements under other dims. All but cast are views of their operand, so they
 * cost nothing per element and know nothing of dtypes; a kernel that cannot work with strides copies what it needs. All
 * are linear, so that each is its own jvp, reads no elements on the way back, and has a transpose for vjp. Public forms
 * check what users give; rules call the lam__apply_ forms, whose ranks may be those of levels beside the user's. */
#include "lib/primitives/apply.h"
#include "lib/primitives/axes.h"
#include "lib/primitives/cplx.h"
#include "lib/primitives/rows.h"
#include "lib/primitives/rules.h"

#include "lib/parallel/parallel.h"
#include "lib/tensor/dtype.h"
#include "lib/tensor/value.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

#include <string.h>

/* Fills what a shape rule gives. Of a view nothing but these changes. */
static void set_dims(lam_shape *out, int dtype, int rank, const int64_t *dims) {
    out->dtype = (lam_dtype)dtype;
    out->rank = rank;
    for (int i = 0; i < rank; i++) out->dims[i] = dims[i];
}

/* ---- cast -------------------------------------------------------------------------------------------------- */

/* Conversion as in C, but a float beyond the range of an integer saturates and NaN gives 0, where C leaves it
 * undefined. The one row here that touches elements. */
static lam_status eval_cast(const lam_call_site *call, lam_value *const out[]) {
    const lam_value *x = call->in[0];
    lam__parallel_copy(call->ctx->team, x->rank, x->dims, (lam_dtype)out[0]->dtype, out[0]->data, out[0]->strides,
                       (lam_dtype)x->dtype, x->data, x->strides);
    return LAM_OK;
}

/* To a real dtype there is no conversion that is not a choice, of the real part or the modulus: the user has to make
 * it. */
static lam_status shape_cast(const lam_call_site *call, lam_shape out[]) {
    const lam__cast_params *p = call->params;
    if (lam__dtype_is_complex(call->in[0]->dtype) && !lam__dtype_is_complex(p->dtype))
        return lam__error_call(call, LAM_ERR_DTYPE, "take lam_real, lam_imag or lam_abs of it",
                               "complex numbers cannot become %s", lam_dtype_name((lam_dtype)p->dtype));
    set_dims(out, p->dtype, call->in[0]->rank, call->in[0]->dims);
    return LAM_OK;
}

/* The transpose of a conversion is the conversion back. From reals to complex numbers it is an embedding, whose
 * transpose takes the real part. g is complex where the result was; the operand tells which part of it is wanted. */
static void vjp_cast(const lam_rule *r, lam_tensor *const g[], lam_tensor *gx[]) {
    gx[0] = lam_cast(lam__cplx_is(r->in[0]) ? g[0] : lam_real(g[0]), lam_dtype_of(r->in[0]));
}

/* Element by element, so a batch axis changes nothing. The parameter says nothing of axes. */
static void batch_cast(const lam_rule *r, lam_tensor *out[]) {
    out[0] = lam_cast(r->in[0], (lam_dtype)((const lam__cast_params *)r->params)->dtype);
}

/* Linear for every pair of dtypes, though rounding to integers is not: what comes of integers has no tangent to
 * convert. */
const lam_primitive lam__row_cast = {
    .name = "cast",
    .inputs = 1,
    .takes_complex = true,
    .derivative = LAM_LINEAR,
    .linear = 1u,
    .shape = shape_cast,
    .eval = eval_cast,
    .vjp = vjp_cast,
    .batch = batch_cast,
    .layout = "T dtype",
};

/* Without a change of dtype no row is applied: tapes of programs that cast generously stay short. */
lam_tensor *lam_cast(lam_tensor *x, lam_dtype dtype) {
    if (!lam__dtype_valid((int)dtype))
        return lam__axes_fail_with("cast", x, LAM_ERR_DTYPE, "name one of enum lam_dtype", "there is no dtype %d",
                                   (int)dtype);
    if (lam__scope_peek(x) && x->value->dtype == dtype) return lam__scope_alias("cast", x);
    lam__cast_params params = {(int32_t)dtype};
    return lam__apply1(&lam__row_cast, &params, sizeof params, x);
}

/* Where an operand is a half its cotangent becomes one too, so sums of cotangents are of one dtype. */
lam_tensor *lam__rules_narrowed(lam_tensor *g, const lam_value *x) {
    return g && lam__dtype_is_half(x->dtype) ? lam_cast(g, (lam_dtype)x->dtype) : g;
}

/* ---- broadcast ----------------------------------------------------------------------------------------------- */

/* As NumPy broadcasts: lined up from the last axis, an axis of one element stretches, new axes come in front. */
static lam_status shape_broadcast_to(const lam_call_site *call, lam_shape out[]) {
    const lam__dims_params *p = call->params;
    const lam_value *x = call->in[0];
    set_dims(out, x->dtype, p->rank, p->dims);
    /* An operand with more axes than the result fits nothing, whatever its sizes. */
    int lead = p->rank - x->rank;
    for (int i = 0; i < x->rank; i++)
        if (lead < 0 || (x->dims[i] != 1 && x->dims[i] != p->dims[lead + i])) {
            char text[256];
            lam__text t = {text, sizeof text, 0};
            lam__error_append_type(&t, (lam_dtype)x->dtype, p->rank, p->dims);
            return lam__error_call(call, LAM_ERR_SHAPE, "sizes must be equal or 1, lined up from the last axis",
                                   "cannot broadcast to %s", text);
        }
    return LAM_OK;
}

/* Stretched axes get stride 0, so a broadcast of any size takes no memory. Such a view is not contiguous, and is never
 * written to in place since its elements share a place. */
static bool view_broadcast_to(const lam_call_site *call, const lam_shape *out, int64_t strides[], int64_t *offset) {
    const lam_value *x = call->in[0];
    int lead = out->rank - x->rank;
    *offset = 0;
    for (int i = 0; i < out->rank; i++) strides[i] = i < lead || x->dims[i - lead] == 1 ? 0 : x->strides[i - lead];
    return true;
}

/* The transpose of repeating is summing. */
static void vjp_broadcast_to(const lam_rule *r, lam_tensor *const g[], lam_tensor *gx[]) {
    gx[0] = lam__rules_sum_to(g[0], lam_dims_of(r->in[0]));
}

/* The batch axis stays in front: axes of one element go between it and the operand's own, since broadcasting lines up
 * from the last axis and would else take the batch axis for one of the example's. */
static void batch_broadcast_to(const lam_rule *r, lam_tensor *out[]) {
    const lam__dims_params *p = r->params;
    lam_dims own = lam_dims_of(r->in[0]);
    int64_t narrow[LAM_INNER_RANK], wide[LAM_INNER_RANK];
    narrow[0] = wide[0] = r->size;
    int lead = p->rank - (own.rank - 1);
    for (int i = 0; i < p->rank; i++) {
        narrow[1 + i] = i < lead ? 1 : own.dims[1 + i - lead];
        wide[1 + i] = p->dims[i];
    }
    /* Only where the result has more axes does anything stand between. */
    lam_tensor *even = lead ? lam__apply_reshape(r->in[0], p->rank + 1, narrow) : r->in[0];
    out[0] = lam__apply_broadcast(even, p->rank + 1, wide);
}

/* Views take complex operands too, since they move no parts apart. */
const lam_primitive lam__row_broadcast_to = {
    .name = "broadcast_to",
    .inputs = 1,
    .takes_complex = true,
    .derivative = LAM_LINEAR,
    .linear = 1u,
    .shape = shape_broadcast_to,
    .view = view_broadcast_to,
    .vjp = vjp_broadcast_to,
    .batch = batch_broadcast_to,
    .layout = "#i rank, l dims[rank]",
};

/* dims of a user: rank and sizes are possible. `least` is the least size: 0, or -1 where that stands for one to be
 * inferred. */
static bool dims_valid(const char *operation, lam_tensor *x, lam_dims dims, int64_t least) {
    if (dims.rank < 0 || dims.rank > LAM_MAX_RANK) {
        lam__axes_fail(operation, x, LAM_ERR_RANK, "rank %d is not in [0, %d]", dims.rank, LAM_MAX_RANK);
        return false;
    }
    for (int i = 0; i < dims.rank; i++)
        if (!dims.dims || dims.dims[i] < least) {
            lam__axes_fail(operation, x, LAM_ERR_VALUE, "size %lld of axis %d is impossible",
                           dims.dims ? (long long)dims.dims[i] : 0LL, i);
            return false;
        }
    return true;
}

/* What has these dims already is left as it is, under another handle. -1 is the rank of no tensor, which the row then
 * names. */
static bool has_dims(lam_tensor *x, int rank, const int64_t *dims) {
    const lam_dims own = lam__scope_peek(x) ? lam_dims_of(x) : (lam_dims){-1, NULL};
    bool same = own.rank == rank;
    for (int i = 0; i < rank && same; i++) same = own.dims[i] == dims[i];
    return same;
}

/* Only the dims in use become parameters: a tape copies them. */
static lam_tensor *broadcast(lam_tensor *x, int rank, const int64_t *dims) {
    lam__dims_params params = {.rank = rank};
    for (int i = 0; i < rank; i++) params.dims[i] = dims[i];
    return lam__apply1(&lam__row_broadcast_to, &params, lam__axes_dims_bytes(rank), x);
}

/* A handle of its own, even where nothing is repeated. */
lam_tensor *lam__apply_broadcast(lam_tensor *x, int rank, const int64_t *dims) {
    return has_dims(x, rank, dims) ? lam__scope_alias("broadcast_to", x) : broadcast(x, rank, dims);
}

/* From the last axis on, in which all line up. */
bool lam__apply_common(lam_list list, int *rank, int64_t dims[]) {
    *rank = 0;
    for (size_t i = 0; i < list.count; i++)
        if (lam_rank(list.items[i]) > *rank) *rank = lam_rank(list.items[i]);
    for (int k = 1; k <= *rank; k++) {
        int64_t size = 1;
        for (size_t i = 0; i < list.count; i++) {
            /* One element goes with any size, also with 0. */
            const int64_t own = lam_rank(list.items[i]) >= k ? lam_dim(list.items[i], -k) : 1;
            if (own != 1 && size != 1 && own != size) return false;
            if (own != 1) size = own;
        }
        dims[*rank - k] = size;
    }
    return true;
}

/* More axes than a user may have come from rules, below levels that have axes of their own: what is too many there is
 * for lam__eval_check_rank to say, which knows the levels. */
lam_tensor *lam_broadcast_to(lam_tensor *x, lam_dims dims) {
    bool inner = lam__scope_peek(x) && dims.dims && dims.rank > LAM_MAX_RANK && dims.rank <= LAM_INNER_RANK;
    if (!inner && !dims_valid("broadcast_to", x, dims, 0)) return lam__axes_failed(x);
    return broadcast(x, dims.rank, dims.dims);
}

/* ---- reshape ------------------------------------------------------------------------------------------------ */

/* The count is what has to agree; an overflow of the new sizes gives -1, which agrees with nothing. */
static lam_status shape_reshape(const lam_call_site *call, lam_shape out[]) {
    const lam__dims_params *p = call->params;
    set_dims(out, call->in[0]->dtype, p->rank, p->dims);
    if (lam__value_count(p->rank, p->dims, 1) == call->in[0]->count) return LAM_OK;
    char text[256];
    lam__text t = {text, sizeof text, 0};
    lam__error_append_type(&t, out->dtype, p->rank, p->dims);
    return lam__error_call(call, LAM_ERR_SHAPE, "the number of elements must stay the same",
                           "cannot reshape %lld elements to %s", (long long)call->in[0]->count, text);
}

/* Strides of the result's axes from first on, up to before `last`, without gaps in front of one of this step. */
static void lay_out(const lam_shape *out, int first, int last, int64_t step, int64_t strides[]) {
    for (int i = last - 1; i >= first; i--) {
        strides[i] = step;
        step *= out->dims[i];
    }
}

/* The end of the runs that begin at axis *a of dims and *o of the result: as few axes as have equal products, and those
 * of one element behind them in the result. False: there are none. */
static bool match_run(const int64_t dims[], const lam_shape *out, int *a, int *o) {
    int64_t have = dims[(*a)++], want = 1;
    while (want != have || (*o < out->rank && out->dims[*o] == 1)) {
        if (want > have) have *= dims[(*a)++];
        else if (*o == out->rank) return false;
        else want *= out->dims[(*o)++];
    }
    return true;
}

/* Matches runs of axes with equal products on both sides; a run can keep its strides if its axes lie without gaps. This
 * is the method of NumPy's _attempt_nocopy_reshape. Axes of one element have no stride that matters and are left out;
 * those of the result join the run before them. Tensors without elements are contiguous always, so that no product is 0
 * in the runs. False means that only a copy can do it: for example a transposed matrix as one axis. */
static bool view_reshape(const lam_call_site *call, const lam_shape *out, int64_t strides[], int64_t *offset) {
    const lam_value *x = call->in[0];
    int64_t dims[LAM_INNER_RANK], from[LAM_INNER_RANK];
    int rank = 0;
    *offset = 0;
    for (int i = 0; i < x->rank && !x->contiguous; i++)
        if (x->dims[i] != 1) {
            dims[rank] = x->dims[i];
            from[rank++] = x->strides[i];
        }
    /* A contiguous operand, and one of single elements, lies as a result without gaps does. */
    if (rank == 0) lay_out(out, 0, out->rank, 1, strides);
    for (int a = 0, o = 0; a < rank;) {
        const int first_a = a, first_o = o;
        if (!match_run(dims, out, &a, &o)) return false;
        for (int i = first_a; i + 1 < a; i++)
            if (from[i] != from[i + 1] * dims[i + 1]) return false;
        lay_out(out, first_o, o, from[a - 1], strides);
    }
    return true;
}

/* The transpose is the reshape back to the operand's own dims. */
static void vjp_reshape(const lam_rule *r, lam_tensor *const g[], lam_tensor *gx[]) {
    lam_dims own = lam_dims_of(r->in[0]);
    gx[0] = lam__apply_reshape(g[0], own.rank, own.dims);
}

/* Parameters are dims per example, so the size of the batch goes in front. The count stays equal, as both sides grow by
 * the size of the batch. */
static void batch_reshape(const lam_rule *r, lam_tensor *out[]) {
    const lam__dims_params *p = r->params;
    int64_t dims[LAM_INNER_RANK];
    dims[0] = r->size;
    for (int i = 0; i < p->rank; i++) dims[1 + i] = p->dims[i];
    out[0] = lam__apply_reshape(r->in[0], p->rank + 1, dims);
}

/* A view where strides allow it; the machine makes the operand contiguous where they do not (view returns false). */
const lam_primitive lam__row_reshape = {
    .name = "reshape",
    .inputs = 1,
    .takes_complex = true,
    .derivative = LAM_LINEAR,
    .linear = 1u,
    .shape = shape_reshape,
    .view = view_reshape,
    .vjp = vjp_reshape,
    .batch = batch_reshape,
    .layout = "#i rank, l dims[rank]",
};

/* For sizes that are known to fit and hold no -1; the shape rule checks the count all the same. */
lam_tensor *lam__apply_reshape(lam_tensor *x, int rank, const int64_t *dims) {
    lam__dims_params params = {.rank = rank};
    if (has_dims(x, rank, dims)) return lam__scope_alias("reshape", x);
    for (int i = 0; i < rank; i++) params.dims[i] = dims[i];
    return lam__apply1(&lam__row_reshape, &params, lam__axes_dims_bytes(rank), x);
}

/* A size of -1 is inferred here, from the elements that the user sees; as a parameter it would mean another size below
 * vmap, where there are more. With another size 0 any number would do, so none is inferred. */
lam_tensor *lam_reshape(lam_tensor *x, lam_dims dims) {
    if (lam__scope_peek(x) && dims.dims && dims.rank > LAM_MAX_RANK && dims.rank <= LAM_INNER_RANK)
        return lam__apply_reshape(x, dims.rank, dims.dims);
    if (!dims_valid("reshape", x, dims, -1)) return lam__axes_failed(x);
    int64_t own[LAM_MAX_RANK], known = 1;
    int open = -1;
    for (int i = 0; i < dims.rank; i++) {
        own[i] = dims.dims[i];
        if (own[i] == -1 && open >= 0) return lam__axes_fail("reshape", x, LAM_ERR_VALUE, "only one size may be -1");
        if (own[i] == -1) open = i;
        /* A size of 0 makes the product 0 and is no divisor. */
        else if (own[i] && known > INT64_MAX / own[i])
            return lam__axes_fail("reshape", x, LAM_ERR_OVERFLOW, "the sizes overflow");
        else known *= own[i];
    }
    if (open >= 0 && lam__scope_peek(x)) {
        if (known == 0) return lam__axes_fail("reshape", x, LAM_ERR_SHAPE, "beside a size of 0 none can be inferred");
        if (x->value->count % known)
            return lam__axes_fail("reshape", x, LAM_ERR_SHAPE,
                                  "%lld elements are not a multiple of the %lld that the sizes beside -1 make",
                                  (long long)x->value->count, (long long)known);
        own[open] = x->value->count / known;
    }
    return lam__apply_reshape(x, dims.rank, own);
}

/* The new axis may stand behind the last one, so it is resolved against one axis more. An unusable x goes to the row as
 * it is: dispatch then records what is wrong with it, and no parameters are read. */
lam_tensor *lam_expand_dims(lam_tensor *x, int axis) {
    uint64_t since = lam__scope_now(x);
    lam_dims own = lam_dims_of(x);
    if (!lam__scope_peek(x)) return lam__scope_named(lam__apply1(&lam__row_reshape, NULL, 0, x), since);
    if (!lam__apply_axis("expand_dims", x, own.rank + 1, &axis)) return lam__axes_failed(x);
    /* Levels add axes up to that number; a user sees fewer, and the message says how many. */
    if (own.rank >= LAM_INNER_RANK)
        return lam__axes_fail("expand_dims", x, LAM_ERR_RANK, "more than %d axes", LAM_MAX_RANK);
    int64_t dims[LAM_INNER_RANK];
    for (int i = 0; i <= own.rank; i++) dims[i] = i == axis ? 1 : own.dims[i - (i > axis)];
    return lam__scope_named(lam_reshape(x, (lam_dims){own.rank + 1, dims}), since);
}

/* No list means all axes of one element; an axis that is named must be one, since a named axis is a claim. */
lam_tensor *lam_squeeze(lam_tensor *x, lam_axes axes) {
    uint64_t since = lam__scope_now(x);
    lam_dims own = lam_dims_of(x);
    lam__axis_set set;
    if (!lam__axes_collect_set("squeeze", x, axes, own.rank, &set)) return lam__axes_failed(x);
    /* An empty list that is given names no axis, and none goes. */
    bool all = !axes.count && !axes.items;
    int64_t dims[LAM_INNER_RANK];
    int rank = 0;
    for (int i = 0; i < own.rank; i++) {
        bool named = set >> i & 1u;
        if (named && !all && own.dims[i] != 1)
            return lam__axes_fail("squeeze", x, LAM_ERR_SHAPE, "axis %d has %lld elements, not one", i,
                                  (long long)own.dims[i]);
        if (!named || own.dims[i] != 1) dims[rank++] = own.dims[i];
    }
    return lam__scope_named(lam__apply_reshape(x, rank, dims), since);
}

/* ---- transpose ----------------------------------------------------------------------------------------------- */

/* The order is one of all axes, each once: the public form and rules see to it. It is not checked again: a wrong one
 * could only be the library's. */
static lam_status shape_transpose(const lam_call_site *call, lam_shape out[]) {
    const lam__order_params *p = call->params;
    out->dtype = (lam_dtype)call->in[0]->dtype;
    out->rank = p->rank;
    for (int i = 0; i < p->rank; i++) out->dims[i] = call->in[0]->dims[p->order[i]];
    return LAM_OK;
}

/* Strides change places and nothing moves. */
static bool view_transpose(const lam_call_site *call, const lam_shape *out, int64_t strides[], int64_t *offset) {
    const lam__order_params *p = call->params;
    *offset = 0;
    for (int i = 0; i < out->rank; i++) strides[i] = call->in[0]->strides[p->order[i]];
    return true;
}

/* The transpose of a permutation is its inverse. */
static void vjp_transpose(const lam_rule *r, lam_tensor *const g[], lam_tensor *gx[]) {
    const lam__order_params *p = r->params;
    int inverse[LAM_INNER_RANK];
    for (int i = 0; i < p->rank; i++) inverse[p->order[i]] = i;
    gx[0] = lam_transpose(g[0], (lam_axes){p->rank, inverse});
}

/* The batch axis stays first, the others follow in their order. */
static void batch_transpose(const lam_rule *r, lam_tensor *out[]) {
    const lam__order_params *p = r->params;
    int order[LAM_INNER_RANK] = {0};
    for (int i = 0; i < p->rank; i++) order[1 + i] = p->order[i] + 1;
    out[0] = lam_transpose(r->in[0], (lam_axes){p->rank + 1, order});
}

/* A view; nothing but the order is needed on the way back. */
const lam_primitive lam__row_transpose = {
    .name = "transpose",
    .inputs = 1,
    .takes_complex = true,
    .derivative = LAM_LINEAR,
    .linear = 1u,
    .shape = shape_transpose,
    .view = view_transpose,
    .vjp = vjp_transpose,
    .batch = batch_transpose,
    .layout = "#i rank, c order[rank]",
};

/* No list turns all axes round, as in NumPy. Below a batch rule the list names all axes, the batch axis among them. An
 * order has a byte for each axis. */
lam_tensor *lam_transpose(lam_tensor *x, lam_axes axes) {
    int rank = lam_rank(x), count, list[LAM_INNER_RANK];
    if (!lam__axes_collect("transpose", x, axes, rank, &count, list)) return lam__axes_failed(x);
    if (count >= 0 && count != rank && lam__scope_peek(x))
        return lam__axes_fail("transpose", x, LAM_ERR_AXIS, "%d axes are named, of %d", count, rank);
    lam__order_params params = {.rank = rank};
    for (int i = 0; i < rank; i++) params.order[i] = (int8_t)(count < 0 ? rank - 1 - i : list[i]);
    return lam__apply1(&lam__row_transpose, &params, offsetof(lam__order_params, order) + (size_t)rank, x);
}

/* The other axes keep their order: n runs over them and passes by the one that moves. */
lam_tensor *lam_moveaxis(lam_tensor *x, int from, int to) {
    uint64_t since = lam__scope_now(x);
    int rank = lam_rank(x), order[LAM_INNER_RANK], n = 0;
    if (!lam__apply_axis("moveaxis", x, rank, &from) || !lam__apply_axis("moveaxis", x, rank, &to))
        return lam__axes_failed(x);
    for (int i = 0; i < rank; i++) {
        if (n == from && i != to) n++;
        order[i] = i == to ? from : n++;
    }
    return lam__scope_named(lam_transpose(x, (lam_axes){rank, order}), since);
}
