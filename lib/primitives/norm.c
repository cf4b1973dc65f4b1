/* Norms of vectors along any set of axes. The length is a primitive, because its squares may leave the range where it
 * does not: the kernel calls sum them as they are, and once more of scaled elements where a result says that this was
 * too much or too little. Where all elements are 0 no direction is distinguished, and the slope is 0 of every order. */
#include "lib/primitives/apply.h"
#include "lib/primitives/cplx.h"
#include "lib/primitives/matrices.h"
#include "lib/primitives/reduce.h"
#include "lib/primitives/rows.h"

#include "lib/parallel/parallel.h"
#include "lib/tensor/dtype.h"
#include "lib/tensor/value.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

#include <math.h>

/* ---- kernel calls ------------------------------------------------------------------------------------------------ */

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

/* scaled = scale x, into memory of its own, through the elementwise kernel, whose second operand is one number seen
 * everywhere. */
static void multiply(lam__team *team, const lam_value *x, double scale, lam_value *scaled) {
    static const int64_t none[LAM_INNER_RANK] = {0};
    const lam_dtype dtype = (lam_dtype)x->dtype;
    const size_t item = lam__dtype_bytes(dtype), items[] = {item, item, item};
    double factor[1];
    lam__dtype_store(dtype, factor, scale);
    const int64_t *const strides[] = {scaled->strides, x->strides, none};
    lam__parallel_elementwise(team, LAM__LOOP_mul, lam__kernels_loop(LAM__LOOP_mul, dtype), 3, x->rank, x->dims,
                              strides, (void *const[]){scaled->data, x->data, factor}, items, NULL);
}

/* out = the roots of the sums of x^2; roots are taken in place. */
static void lengths(const lam_call_site *call, const lam_value *x, lam_value *out) {
    static const int64_t flat[] = {1, 1};
    lam__team *team = call->ctx->team;
    lam__loop *root = lam__kernels_loop(LAM__LOOP_sqrt, (lam_dtype)out->dtype);
    lam__reduce_squares(lam__reduce_set(call->params), x, NULL, out->data);
    lam__parallel_loop(team, LAM__LOOP_sqrt, (lam_dtype)out->dtype, root, out->count, (void *[]){out->data, out->data},
                       flat, NULL);
}

/* Whether some results are not from `least` to `most`, NaN counting as both. */
static bool is_beyond(const lam_value *out, bool above, double bound) {
    char found[sizeof(double)];
    lam__kernels_reduce(above ? LAM__REDUCE_MAX : LAM__REDUCE_MIN, (lam_dtype)out->dtype, 1, &out->count,
                        (const bool[]){true}, out->data, (const int64_t[]){1}, found);
    const double x = lam__dtype_load(out->dtype, found);
    return above ? !(x <= bound) : !(x >= bound);
}

/* Puts the lengths of scaled elements where those in `out` are above (below) the bound. */
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
        multiply(call->ctx->team, x, scale, scaled);
        lengths(call, scaled, again);
        replace(out, again, above, bound, scale);
    }
    lam__value_release(scaled);
    lam__value_release(again);
    return both ? LAM_OK : LAM_ERR_MEMORY;
}

/* Short ones first, then long ones. An exact 0 is below the bound too and comes out as 0 again. */
static lam_status eval_norm(const lam_call_site *call, lam_value *const out[]) {
    const lam_value *x = call->in[0];
    const scales s = scales_of(x->dtype);
    lam_status status = LAM_OK;
    lengths(call, x, out[0]);
    for (int above = 0; above < 2 && status == LAM_OK && x->count; above++) {
        const double bound = above ? s.most : s.least, scale = above ? s.down : s.up;
        if (is_beyond(out[0], above, bound)) status = lengths_again(call, above, bound, scale, out[0]);
    }
    return status;
}

/* ---- rules ------------------------------------------------------------------------------------------------------- */

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

static lam_tensor *direction(lam_tensor *x, lam_tensor *length, lam__axis_set set) {
    const lam__axis_set from_end = turned(set, lam_dims_of(x).rank);
    return lam__apply_with(&lam__row_norm_slope, &from_end, sizeof from_end, 2, (lam_tensor *[]){x, length});
}

/* x over its length, which is at most 1 however long x is. */
static lam_tensor *unit(const lam_rule *r, lam_tensor *zero) {
    return direction(r->in[0], restored(r, lam_where(zero, 1.0, r->out[0])), lam__reduce_set(r->params));
}

/* |x|' = sum of u x', u = x/|x|. At 0 the result is chosen 0, whatever the tangent. */
static void jvp_norm(const lam_rule *r, lam_tensor *const dx[], lam_tensor *dout[]) {
    lam_tensor *zero = lam_eq(r->out[0], 0.0), *terms = lam_mul(unit(r, zero), dx[0]);
    dout[0] = lam_where(zero, 0.0, lam__apply1(&lam__row_sum, r->params, sizeof(lam__axis_set), terms));
}

/* gx = g u, and 0 at 0. */
static void vjp_norm(const lam_rule *r, lam_tensor *const g[], lam_tensor *gx[]) {
    lam_tensor *zero = lam_eq(r->out[0], 0.0);
    gx[0] = lam_mul(restored(r, lam_where(zero, 0.0, g[0])), unit(r, zero));
}

static void batch_norm(const lam_rule *r, lam_tensor *out[]) {
    lam__axis_set set = lam__reduce_set(r->params) << 1;
    out[0] = lam__apply1(r->primitive, &set, sizeof set, r->in[0]);
}

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
};

/* ---- directions -------------------------------------------------------------------------------------------------- */

/* The sum over the axes, which stay as axes of one element. */
static lam_tensor *sum_restored(lam_tensor *x, lam__axis_set set) {
    return lam__reduce_restore(lam__apply1(&lam__row_sum, &set, sizeof set, x), set, lam_dims_of(x));
}

/* NOTE [directions]
 * The derivative of u = x/|x| in the direction t is (t - u (u.t))/|x|, a symmetric matrix, so that one rule serves both
 * modes; the length has no share of its own. Where an element of u is nearly 1 its own 1 - u^2 would cancel: it is the
 * sum of the squares of all others, which is taken for an element that has most of the sum of all squares (of subnormal
 * x not quite 1), of which there is one at most. */
static lam_tensor *slope_norm_slope(const lam_rule *r, int i, lam_tensor *t) {
    if (i == 1) return NULL;
    lam_tensor *u = r->out[0], *square = lam_square(u);
    const lam__axis_set set = turned(lam__reduce_set(r->params), lam_dims_of(u).rank);
    lam_tensor *most = lam_gt(square, lam_mul(0.75, sum_restored(square, set))), *others = lam_where(most, 0.0, u);
    lam_tensor *squares = sum_restored(lam_square(others), set), *with_others = sum_restored(lam_mul(others, t), set);
    lam_tensor *along = lam_where(most, with_others, sum_restored(lam_mul(u, t), set));
    return lam_div(lam_sub(lam_mul(lam_where(most, squares, 1.0), t), lam_mul(u, along)), r->in[1]);
}

/* x over the length given with it: the loop is that of div and the parameter is for the slope alone. The length is no
 * operand for derivatives, as it is a function of x that the slope has taken into account. */
const lam_primitive lam__row_norm_slope = {
    .name = "norm_slope",
    .inputs = 2,
    .elementwise = true,
    .loop = LAM__LOOP_div + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    .slope = slope_norm_slope,
    .saves_for = {LAM_SAVE_IN(1) | LAM_SAVE_OUT(0)},
};

/* At 0 the length is taken as 1, so the direction there is 0. */
lam_tensor *lam_norm_slope(lam_tensor *x, lam_axes axes) {
    uint64_t since = lam__scope_now(x);
    lam__axis_set set;
    lam_tensor *failed;
    if (!lam__matrices_operands("norm_slope", true, 1, &x, &x, &failed)) return failed;
    if (!lam__axes_collect_set("norm_slope", x, axes, lam_rank(x), &set)) return lam__axes_failed(x);
    lam_tensor *length = lam__norm_length(x, &(lam_reduce_options){axes, true});
    return lam__scope_only(direction(x, lam_where(lam_eq(length, 0.0), 1.0, length), set), since);
}

/* ---- of any order ------------------------------------------------------------------------------------------------ */

/* The parts of complex x one behind the other along a reduced axis, as |x|^2 is re^2 + im^2; where no axis is reduced
 * every number has its size. */
static lam_tensor *parts(lam_tensor *x, lam__axis_set set) {
    for (int i = 0; i < lam_rank(x); i++)
        if (lam__reduce_has(set, i)) return lam_concatenate(LAM_LIST(lam_real(x), lam_imag(x)), i);
    return lam_abs(x);
}

lam_tensor *lam__norm_length(lam_tensor *x, const lam_reduce_options *over) {
    lam__axis_set set;
    if (!lam__cplx_is(x)) return lam__reduce_apply(&lam__row_norm, x, over);
    if (!lam__axes_collect_set("norm", x, over->axes, lam_rank(x), &set)) return lam__axes_failed(x);
    return lam__reduce_apply(&lam__row_norm, parts(x, set), over);
}

/* (sum |x|^p)^(1/p). Powers of sizes relative to the largest, which is a constant for the derivative: as a factor that
 * is taken out and put back it has none. Zeros are set apart before and after each power, as 0^p may have no slope. */
static lam_tensor *general(lam_tensor *size, double order, const lam_reduce_options *over) {
    lam_tensor *most = lam_stop_gradient(lam_max_reduce(size, &(lam_reduce_options){over->axes, true}));
    lam_tensor *usable = lam_and(lam_gt(most, 0.0), lam_is_finite(most)), *unit = lam_where(usable, most, 1.0);
    lam_tensor *share = lam_div(size, unit), *none = lam_eq(share, 0.0);
    lam_tensor *powers = lam_where(none, 0.0, lam_pow(lam_where(none, 1.0, share), order));
    lam_tensor *sum = lam_sum(powers, &(lam_reduce_options){over->axes, true}), *zero = lam_eq(sum, 0.0);
    lam_tensor *root = lam_where(zero, 0.0, lam_pow(lam_where(zero, 1.0, sum), 1 / order));
    lam_tensor *length = lam_mul(unit, root); /* with the reduced axes, which hold one element */
    return over->keepdims ? length : lam_sum(length, &(lam_reduce_options){over->axes, false});
}

/* Orders 1, 2 and the infinite ones have ways of their own, faster and with slopes at 0 that the table in ops.h
 * says. */
lam_tensor *lam_norm(lam_tensor *x, const lam_norm_options *options) {
    uint64_t since = lam__scope_now(x);
    static const lam_norm_options none;
    const lam_norm_options *o = options ? options : &none;
    const lam_reduce_options over = {o->axes, o->keepdims};
    const double order = o->order == 0 ? 2 : o->order;
    lam__axis_set set;
    if (!lam__axes_collect_set("norm", x, o->axes, lam_rank(x), &set)) return lam__axes_failed(x);
    if (!(order > 0 || order == -INFINITY))
        return lam__axes_fail("norm", x, LAM_ERR_OPTION, "there is no norm of order %g", order);
    x = lam__reduce_real(x);
    if (order == 2) return lam__scope_only(lam__norm_length(x, &over), since);
    lam_tensor *size = lam_abs(x);
    if (order == 1) return lam__scope_only(lam_sum(size, &over), since);
    if (isinf(order))
        return lam__scope_only(order > 0 ? lam_max_reduce(size, &over) : lam_min_reduce(size, &over), since);
    return lam__scope_only(general(size, order, &over), since);
}
