/* Norms of vectors along any set of axes. The length is a primitive, because its squares may leave the range where it
 * does not: the kernel calls sum them as they are, and once more of scaled elements where a result says that this was
 * too much or too little. So is the norm of any other order, of elements relative to the largest. Derivatives of all
 * are made of x over its norm, which is at most 1. Where all elements are 0 no direction is distinguished, and the
 * slope is 0 of every order. */
#include "lib/primitives/apply.h"
#include "lib/primitives/cplx.h"
#include "lib/primitives/matrices.h"
#include "lib/primitives/params.h"
#include "lib/primitives/reduce.h"
#include "lib/primitives/rows.h"

#include "lib/parallel/parallel.h"
#include "lib/tensor/dtype.h"
#include "lib/tensor/value.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

#include <float.h>
#include <math.h>

typedef lam__norm_params kind;

/* ---- kernel calls: lengths --------------------------------------------------------------------------------------- */

/* Lengths between `least` and `most` have all their digits from squares as they are. Of shorter and longer ones those
 * of elements times `up` and `down`, powers of 2, have. */
typedef struct scales {
    double least, most, up, down;
} scales;

/* A finite length up to `most` had no square that overflowed. One from `least` on (2^-480) misses squares below 2^-1074
 * only, which are nothing beside a sum of 2^-960. The longest f64 becomes 2^424 and the shortest 2^-474 by scaling,
 * whose squares are far from either end. In f32 likewise. */
static scales scales_of(int dtype) {
    return dtype == LAM_F64 ? (scales){0x1p-480, 0x1p500, 0x1p600, 0x1p-600}
                            : (scales){0x1p-45, 0x1p60, 0x1p100, 0x1p-80};
}

/* out = a loop of x and one number, which is seen everywhere. Its stride is 0 along all axes. */
static void with_number(lam__team *team, lam__loop_id id, const lam_value *x, double number, lam_value *out) {
    static const int64_t none[LAM_INNER_RANK] = {0};
    const lam_dtype dtype = (lam_dtype)x->dtype;
    const size_t item = lam__dtype_bytes(dtype), items[] = {item, item, item};
    double stored[1];
    lam__dtype_store(dtype, stored, number);
    const int64_t *const strides[] = {out->strides, x->strides, none};
    lam__parallel_elementwise(team, id, lam__kernels_loop(id, dtype), 3, x->rank, x->dims, strides,
                              (void *const[]){out->data, x->data, stored}, items, NULL);
}

/* out = the roots of the sums of x^2; roots are taken in place. The sums themselves are pairwise, as all sums are. */
static void lengths(const lam_call_site *call, const lam_value *x, lam_value *out) {
    static const int64_t flat[] = {1, 1};
    lam__team *team = call->ctx->team;
    lam__loop *root = lam__kernels_loop(LAM__LOOP_sqrt, (lam_dtype)out->dtype);
    lam__reduce_squares(lam__reduce_set(call->params), x, NULL, out->data);
    lam__parallel_loop(team, LAM__LOOP_sqrt, (lam_dtype)out->dtype, root, out->count, (void *[]){out->data, out->data},
                       flat, NULL);
}

/* Whether some results are not from `least` to `most`, NaN counting as both. The reduction goes over the results, which
 * are fewer than the elements. */
static bool is_beyond(const lam_value *out, bool above, double bound) {
    char found[sizeof(double)];
    lam__kernels_reduce(above ? LAM__REDUCE_MAX : LAM__REDUCE_MIN, (lam_dtype)out->dtype, 1, &out->count,
                        (const bool[]){true}, out->data, (const int64_t[]){1}, found);
    const double x = lam__dtype_load(out->dtype, found);
    return above ? !(x <= bound) : !(x >= bound);
}

/* Puts the lengths of scaled elements where those in `out` are above (below) the bound. NaN is replaced by what the
 * scaled elements give, which is NaN too. */
static void replace(const lam_value *out, const lam_value *scaled, bool above, double bound, double scale) {
    const int64_t item = (int64_t)lam__dtype_bytes(out->dtype);
    for (int64_t i = 0; i < out->count; i++) {
        const double x = lam__dtype_load(out->dtype, (char *)out->data + i * item);
        if (above ? x <= bound : !(x < bound)) continue;
        lam__dtype_store(out->dtype, (char *)out->data + i * item,
                         lam__dtype_load(out->dtype, (char *)scaled->data + i * item) / scale);
    }
}

/* The lengths of scaled elements where those in `out` are above (below) the bound. All lengths are worked out once more
 * though few may need it, since any at all is rare. Those that overflow by the scaling are not among the ones that are
 * taken. */
static lam_status lengths_again(const lam_call_site *call, bool above, double bound, double scale, lam_value *out) {
    const lam_value *x = call->in[0];
    lam_value *scaled = lam__value_new(call->ctx, (lam_dtype)x->dtype, x->rank, x->dims);
    lam_value *again = lam__value_new(call->ctx, (lam_dtype)x->dtype, out->rank, out->dims);
    const bool both = scaled && again;
    if (both) {
        with_number(call->ctx->team, LAM__LOOP_mul, x, scale, scaled);
        lengths(call, scaled, again);
        replace(out, again, above, bound, scale);
    }
    lam__value_release(scaled);
    lam__value_release(again);
    return both ? LAM_OK : LAM_ERR_MEMORY;
}

/* Of two numbers hypot is right to 1 ULP, which the root of a sum of rounded squares is not. False: not of two. Axes of
 * one element do not count, so the two may lie along any one axis. */
static bool lengths_of_pairs(const lam_call_site *call, const lam_value *x, lam_value *out) {
    const size_t item = lam__dtype_bytes((lam_dtype)x->dtype), items[] = {item, item, item};
    int64_t strides[LAM_INNER_RANK], step = 0, reduced = 1;
    for (int i = 0, n = 0; i < x->rank; i++) {
        if (!lam__reduce_has(lam__reduce_set(call->params), i)) strides[n++] = x->strides[i];
        else if (x->dims[i] != 1) reduced *= x->dims[i], step = x->strides[i];
    }
    if (reduced != 2) return false;
    void *const data[] = {out->data, x->data, (char *)x->data + step * (int64_t)item};
    lam__parallel_elementwise(call->ctx->team, LAM__LOOP_hypot, lam__kernels_loop(LAM__LOOP_hypot, (lam_dtype)x->dtype),
                              3, out->rank, out->dims, (const int64_t *const[]){out->strides, strides, strides}, data,
                              items, NULL);
    return true;
}

/* Short ones first, then long ones. An exact 0 is below the bound too and comes out as 0 again. To hypot an infinity
 * beside a NaN is infinite; to a sum, of any number of squares, it is NaN. */
static lam_status lengths_of_any_size(const lam_call_site *call, const lam_value *x, lam_value *out) {
    const scales s = scales_of(x->dtype);
    lam_status status = LAM_OK;
    if (lengths_of_pairs(call, x, out))
        return out->count && is_beyond(out, true, DBL_MAX) ? lengths_again(call, true, DBL_MAX, 1, out) : LAM_OK;
    lengths(call, x, out);
    for (int above = 0; above < 2 && status == LAM_OK && x->count; above++) {
        const double bound = above ? s.most : s.least, scale = above ? s.down : s.up;
        if (is_beyond(out, above, bound)) status = lengths_again(call, above, bound, scale, out);
    }
    return status;
}

/* ---- kernel calls: any other order ------------------------------------------------------------------------------ */

/* share = the sizes of x over `unit`, which is the largest of them along the axes, or 1 where that is 0 or infinite. An
 * element beside an infinite one is infinite or as it was, and the norm infinite. */
static void shares(lam__team *team, lam__axis_set set, const lam_value *x, lam_value *unit, lam_value *share) {
    const lam_dtype dtype = (lam_dtype)x->dtype;
    const size_t item = lam__dtype_bytes(dtype), items[] = {item, item, item};
    int64_t strides[LAM_INNER_RANK], step = 1;
    lam__parallel_elementwise(team, LAM__LOOP_abs, lam__kernels_loop(LAM__LOOP_abs, dtype), 2, x->rank, x->dims,
                              (const int64_t *const[]){share->strides, x->strides},
                              (void *const[]){share->data, x->data}, items, NULL);
    lam__reduce_into(LAM__REDUCE_MAX, set, share, unit->data);
    /* NaN fails the comparison, so the share of it by 1 is NaN, and so is the norm. */
    double *wide = unit->data;
    float *narrow = unit->data;
    if (dtype == LAM_F64)
        for (int64_t i = 0; i < unit->count; i++) wide[i] = wide[i] > 0 && wide[i] <= DBL_MAX ? wide[i] : 1;
    else
        for (int64_t i = 0; i < unit->count; i++) narrow[i] = narrow[i] > 0 && narrow[i] <= FLT_MAX ? narrow[i] : 1;
    /* Strides of `unit` as seen with the dims of x: 0 along the axes that it lacks. */
    for (int i = x->rank; i-- > 0;) {
        strides[i] = lam__reduce_has(set, i) ? 0 : step;
        if (strides[i]) step *= x->dims[i];
    }
    lam__parallel_elementwise(team, LAM__LOOP_div, lam__kernels_loop(LAM__LOOP_div, dtype), 3, x->rank, x->dims,
                              (const int64_t *const[]){share->strides, share->strides, strides},
                              (void *const[]){share->data, share->data, unit->data}, items, NULL);
}

/* A whole order that few products give, with fewer roundings than the root takes back. The bound of 16 keeps such a
 * power to five products at most. */
static bool is_small_order(double order) {
    return order > 2 && order <= 16 && order == floor(order);
}

/* x^order in place, for x >= 0. The loop takes its order as a parameter, pow as an operand. */
static void raise(lam__team *team, double order, lam_value *x) {
    const lam_dtype dtype = (lam_dtype)x->dtype;
    if (!is_small_order(order)) {
        with_number(team, LAM__LOOP_pow, x, order, x);
        return;
    }
    const int64_t whole = (int64_t)order, flat[] = {1, 1};
    lam__parallel_loop(team, LAM__LOOP_integer_pow, dtype, lam__kernels_loop(LAM__LOOP_integer_pow, dtype), x->count,
                       (void *[]){x->data, x->data}, flat, &whole);
}

/* (sum |x|^p)^(1/p), of sizes relative to the largest, whose powers do not overflow and matter where they are in
 * range. */
static lam_status norms(const lam_call_site *call, const lam_value *x, const kind *k, lam_value *out) {
    lam__team *team = call->ctx->team;
    lam_value *share = lam__value_new(call->ctx, (lam_dtype)x->dtype, x->rank, x->dims);
    lam_value *unit = lam__value_new(call->ctx, (lam_dtype)x->dtype, out->rank, out->dims);
    const bool both = share && unit;
    if (both) {
        shares(team, k->set, x, unit, share);
        raise(team, k->order, share);
        lam__reduce_into(LAM__REDUCE_SUM, k->set, share, out->data);
        /* The root is taken of the sum, and only then is the unit put back: powers of it might leave the range. */
        with_number(team, LAM__LOOP_pow, out, 1 / k->order, out);
        static const int64_t flat[] = {1, 1, 1};
        lam__parallel_loop(team, LAM__LOOP_mul, (lam_dtype)x->dtype,
                           lam__kernels_loop(LAM__LOOP_mul, (lam_dtype)x->dtype), unit->count,
                           (void *[]){out->data, out->data, unit->data}, flat, NULL);
    }
    lam__value_release(share);
    lam__value_release(unit);
    return both ? LAM_OK : LAM_ERR_MEMORY;
}

/* Order 2 has ways of its own, which need no powers and no second array. */
static lam_status eval_norm(const lam_call_site *call, lam_value *const out[]) {
    const kind *k = call->params;
    return k->order == 2 ? lengths_of_any_size(call, call->in[0], out[0]) : norms(call, call->in[0], k, out[0]);
}

/* ---- rules ------------------------------------------------------------------------------------------------------- */

/* What lies as results do, to stand beside the operand. */
static lam_tensor *restored(const lam_rule *r, lam_tensor *t) {
    return lam__reduce_restore(t, lam__reduce_set(r->params), lam_dims_of(r->in[0]));
}

/* A set of axes counted from the end, which stays what it is when vmap puts an axis in front; and back. */
static lam__axis_set turned(lam__axis_set set, int rank) {
    lam__axis_set other = 0;
    for (int i = 0; i < rank; i++)
        if (lam__reduce_has(set, i)) other |= (lam__axis_set)1 << (rank - 1 - i);
    return other;
}

/* x over its norm of an order. */
static lam_tensor *direction(lam_tensor *x, lam_tensor *norm, lam__axis_set set, double order) {
    const kind k = {turned(set, lam_dims_of(x).rank), 0, order};
    return lam__apply_with(&lam__row_norm_slope, &k, sizeof k, 2, (lam_tensor *[]){x, norm});
}

/* What each element of u = x/|x| counts for the norm: sign(u) |u|^(order - 1), which is at most 1 from order 1 on; 0
 * where u is 0, of whatever order. An odd power has the sign by itself. Relative elements have powers in range,
 * whatever the order. */
static lam_tensor *weight(lam_tensor *u, double order) {
    if (order == 2) return u;
    if (is_small_order(order)) {
        const int odd = (int)order % 2;
        lam_tensor *power = lam_integer_pow(u, (int)order - 1 - odd);
        return odd ? lam_mul(u, lam_abs(power)) : power;
    }
    lam_tensor *none = lam_eq(u, 0.0), *size = lam_where(none, 1.0, lam_abs(u));
    return lam_mul(lam_sign(u), lam_pow(size, order - 1));
}

/* The weights of x, which are in range however long x is. */
static lam_tensor *weights(const lam_rule *r, lam_tensor *zero) {
    const kind *k = r->params;
    lam_tensor *norm = restored(r, lam_where(zero, 1.0, r->out[0]));
    return weight(direction(r->in[0], norm, k->set, k->order), k->order);
}

/* |x|' = sum of the weights times x'. At 0 the result is chosen 0, whatever the tangent. */
static void jvp_norm(const lam_rule *r, lam_tensor *const dx[], lam_tensor *dout[]) {
    lam_tensor *zero = lam_eq(r->out[0], 0.0), *terms = lam_mul(weights(r, zero), dx[0]);
    dout[0] = lam_where(zero, 0.0, lam__apply1(&lam__row_sum, r->params, sizeof(lam__axis_set), terms));
}

/* gx = g times the weights, and 0 at 0. */
static void vjp_norm(const lam_rule *r, lam_tensor *const g[], lam_tensor *gx[]) {
    lam_tensor *zero = lam_eq(r->out[0], 0.0);
    gx[0] = lam_mul(restored(r, lam_where(zero, 0.0, g[0])), weights(r, zero));
}

/* A batch in front moves all axes by one. */
static void batch_norm(const lam_rule *r, lam_tensor *out[]) {
    kind k = *(const kind *)r->params;
    k.set <<= 1;
    out[0] = lam__apply1(r->primitive, &k, sizeof k, r->in[0]);
}

/* The result is saved, since slopes are quotients by it. */
const lam_primitive lam__row_norm = {
    .name = "norm",
    .inputs = 1,
    .derivative = LAM_GENERAL,
    .saves = LAM_SAVE_IN(0) | LAM_SAVE_OUT(0),
    .shape = lam__reduce_shape_real,
    .eval = eval_norm,
    .jvp = jvp_norm,
    .vjp = vjp_norm,
    .batch = batch_norm,
    .layout = "A axes, d order",
};

/* ---- directions -------------------------------------------------------------------------------------------------- */

/* The sum over the axes, which stay as axes of one element. By rows and not by lam_sum: sets of axes may have those of
 * levels among them. */
static lam_tensor *sum_restored(lam_tensor *x, lam__axis_set set) {
    return lam__reduce_restore(lam__apply1(&lam__row_sum, &set, sizeof set, x), set, lam_dims_of(x));
}

/* With the weights w of u = x/|x| the derivative of u along t is (t - u (w.t))/|x|, and its transpose gives g the share
 * (g - w (u.g))/|x|; of order 2, where w is u, they are one. The norm has no share of its own. Where an element of u is
 * nearly 1 its own 1 - u w would cancel: it is the sum of the u w of all others, which is taken for an element that has
 * most of the whole sum (of subnormal x not quite 1), of which there is one at most. */
static lam_tensor *along(const lam_rule *r, lam_tensor *t, bool back) {
    const kind *k = r->params;
    lam_tensor *u = r->out[0], *w = weight(u, k->order), *share = lam_mul(u, w);
    const lam__axis_set set = turned(k->set, lam_dims_of(u).rank);
    lam_tensor *most = lam_gt(share, lam_mul(0.75, sum_restored(share, set)));
    lam_tensor *terms = lam_mul(back ? u : w, t), *others = sum_restored(lam_where(most, 0.0, terms), set);
    lam_tensor *sum = lam_where(most, others, sum_restored(terms, set));
    lam_tensor *own = lam_where(most, sum_restored(lam_where(most, 0.0, share), set), 1.0);
    return lam_div(lam_sub(lam_mul(own, t), lam_mul(back ? w : u, sum)), r->in[1]);
}

/* In reverse mode the transpose of what forward mode takes: only of order 2 they are the same. */
static lam_tensor *slope_norm_slope(const lam_rule *r, int i, lam_tensor *t) {
    return i == 0 ? along(r, t, true) : NULL;
}

static void jvp_norm_slope(const lam_rule *r, lam_tensor *const dx[], lam_tensor *dout[]) {
    dout[0] = dx[0] ? along(r, dx[0], false) : NULL;
}

/* x over the norm given with it: the loop is that of div and the parameter is for the slope alone. The norm is no
 * operand for derivatives, as it is a function of x that the slope has taken into account. */
const lam_primitive lam__row_norm_slope = {
    .name = "norm_slope",
    .inputs = 2,
    .elementwise = true,
    .loop = LAM__LOOP_div + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    .slope = slope_norm_slope,
    .jvp = jvp_norm_slope,
    .saves_for = {LAM_SAVE_IN(1) | LAM_SAVE_OUT(0)},
    .layout = "A axes, d order",
};

/* ---- public ------------------------------------------------------------------------------------------------------ */

/* The parts of complex x one behind the other along a reduced axis, as |x|^2 is re^2 + im^2; where no axis is reduced
 * every number has its size. */
static lam_tensor *parts(lam_tensor *x, lam__axis_set set) {
    for (int i = 0; i < lam_rank(x); i++)
        if (lam__reduce_has(set, i)) return lam_concatenate(LAM_LIST(lam_real(x), lam_imag(x)), i);
    return lam_abs(x);
}

/* The row itself, of real x. */
static lam_tensor *apply_norm(lam_tensor *x, lam__axis_set set, double order, bool keepdims) {
    const kind k = {set, 0, order};
    lam_tensor *out = lam__apply1(&lam__row_norm, &k, sizeof k, x);
    return keepdims && !lam_failed(out) ? lam__reduce_restore(out, set, lam_dims_of(x)) : out;
}

/* For operations that are made of a length, as standard deviations are; x is of a floating dtype. */
lam_tensor *lam__norm_length(lam_tensor *x, const lam_reduce_options *over) {
    lam__axis_set set;
    if (!lam__axes_collect_set("norm", x, over->axes, lam_rank(x), &set)) return lam__axes_failed(x);
    return apply_norm(lam__cplx_is(x) ? parts(x, set) : x, set, 2, over->keepdims);
}

/* Real x over its length. Where that is beyond the range both are made 2^-64 times as large: no tensor has elements
 * enough to leave it then. At 0 the length is taken as infinite, so that the direction there and its slope are 0. */
static lam_tensor *unit(lam_tensor *x, lam__axis_set set) {
    lam_tensor *length = apply_norm(lam_stop_gradient(x), set, 2, true);
    x = lam_mul(x, lam_cast(lam_where(lam_is_inf(length), 0x1p-64, 1.0), lam_dtype_of(x)));
    length = apply_norm(x, set, 2, true);
    return direction(x, lam_where(lam_eq(length, 0.0), INFINITY, length), set, 2);
}

/* The parts of complex numbers are one real vector; where no axis is reduced every number is a vector of its own.
 * Slices of the result put the parts back to numbers. */
static lam_tensor *complex_unit(lam_tensor *x, lam__axis_set set) {
    for (int i = 0; i < lam_rank(x); i++) {
        if (!lam__reduce_has(set, i)) continue;
        lam_tensor *u = unit(parts(x, set), set);
        const int64_t n = lam_dim(x, i);
        return lam_complex(lam_slice_axis(u, i, 0, n), lam_slice_axis(u, i, n, LAM_END));
    }
    return lam_sign(x);
}

/* Sums of f16 and bf16 are made in f32 and rounded once, here as in the norm. */
lam_tensor *lam_norm_slope(lam_tensor *x, lam_axes axes) {
    uint64_t since = lam__scope_now(x);
    lam__axis_set set;
    lam_tensor *failed;
    if (!lam__matrices_operands("norm_slope", true, 1, &x, &x, &failed)) return failed;
    if (!lam__axes_collect_set("norm_slope", x, axes, lam_rank(x), &set)) return lam__axes_failed(x);
    const lam_dtype dtype = lam__apply_floats(1, &x);
    lam_tensor *out = lam__cplx_is(x) ? complex_unit(x, set) : unit(x, set);
    return lam__scope_only(lam__apply_narrowed(out, dtype), since);
}

/* Of a negative order, of sizes relative to the least, so that all powers are at most 1. Where the least is 0 or
 * infinite it is the norm, with no slope. That is what NumPy gives for them, too. */
static lam_tensor *norm_below_0(lam_tensor *size, const lam_reduce_options *over, double order) {
    const lam_reduce_options kept = {over->axes, true};
    lam_tensor *least = lam_stop_gradient(lam_min_reduce(size, &kept));
    lam_tensor *usable = lam_and(lam_gt(least, 0.0), lam_lt(least, INFINITY));
    lam_tensor *ratio = lam_where(usable, lam_div(size, lam_where(usable, least, 1.0)), 1.0);
    lam_tensor *sum = lam_pow(lam_sum(lam_pow(ratio, order), over), 1 / order);
    lam_tensor *end = lam_stop_gradient(lam_min_reduce(size, over));
    return lam_where(lam_and(lam_gt(end, 0.0), lam_lt(end, INFINITY)), lam_mul(end, sum), end);
}

/* Orders 1, 2 and the infinite ones have ways of their own, faster and with slopes at 0 that the table in ops.h
 * says. A complex number has its size first, as norms are of sizes. */
lam_tensor *lam_norm(lam_tensor *x, const lam_norm_options *options) {
    uint64_t since = lam__scope_now(x);
    static const lam_norm_options none;
    const lam_norm_options *o = options ? options : &none;
    const lam_reduce_options over = {o->axes, o->keepdims};
    const double order = o->order == 0 ? 2 : o->order;
    lam__axis_set set;
    if (!lam__axes_collect_set("norm", x, o->axes, lam_rank(x), &set)) return lam__axes_failed(x);
    if (isnan(order)) return lam__axes_fail("norm", x, LAM_ERR_OPTION, "there is no norm of order %g", order);
    x = lam__reduce_real(x);
    if (order == 2) return lam__scope_only(lam__norm_length(x, &over), since);
    /* The largest of nothing would be -inf. */
    const bool sums = order == 1 || (order == INFINITY && lam_size(x) == 0);
    if (sums) return lam__scope_only(lam_sum(lam_abs(x), &over), since);
    if (order == INFINITY) return lam__scope_only(lam_max_reduce(lam_abs(x), &over), since);
    if (order == -INFINITY) return lam__scope_only(lam_min_reduce(lam_abs(x), &over), since);
    if (order < 0) return lam__scope_only(norm_below_0(lam_abs(x), &over, order), since);
    return lam__scope_only(apply_norm(lam__cplx_is(x) ? lam_abs(x) : x, set, order, o->keepdims), since);
}
