/* What is made of reductions: means and variances. The variance of real elements is a primitive: two passes that read
 * and leave nothing between them, and as few on the way back; so is the mean, one pass. A standard deviation is a norm,
 * which has a slope at 0 and squares that stay in range. */
#include "lib/primitives/params.h"
#include "lib/primitives/reduce.h"

#include "lib/primitives/apply.h"
#include "lib/primitives/cplx.h"
#include "lib/primitives/rows.h"

#include "lib/parallel/parallel.h"
#include "lib/tensor/dtype.h"
#include "lib/tensor/value.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

#include <math.h>

/* How many elements each result is made of. False after recording that the axes are wrong. As a number of the C side,
 * since dims are known wherever a function is traced. */
static bool extent(const char *operation, lam_tensor *x, lam_axes axes, double *n) {
    lam_dims own = lam_dims_of(x);
    lam__axis_set set;
    if (!lam__axes_collect_set(operation, x, axes, own.rank, &set)) return false;
    *n = 1;
    for (int i = 0; i < own.rank; i++)
        if (set >> i & 1u) *n *= (double)own.dims[i];
    return true;
}

/* ---- mean, variance --------------------------------------------------------------------------------------------- */

/* Elements of each result. */
static double elements(lam__axis_set set, int rank, const int64_t *dims) {
    double n = 1;
    for (int i = 0; i < rank; i++)
        if (lam__reduce_has(set, i)) n *= (double)dims[i];
    return n;
}

/* Of integers f64. The axes that are reduced go. */
static lam_status shape_mean(const lam_call_site *call, lam_shape out[]) {
    const lam_value *x = call->in[0];
    out->dtype = lam__dtype_is_inexact(x->dtype) ? (lam_dtype)x->dtype : LAM_F64;
    out->rank = 0;
    for (int i = 0; i < x->rank; i++)
        if (!lam__reduce_has(lam__reduce_set(call->params), i)) out->dims[out->rank++] = x->dims[i];
    return LAM_OK;
}

/* Each sum is divided where it is made. Those of small integers are exact in i64; each i64 is rounded to f64 first. */
static lam_status eval_mean(const lam_call_site *call, lam_value *const out[]) {
    const lam__axis_set set = lam__reduce_set(call->params);
    const lam_value *x = call->in[0];
    lam__reduce_mean_into(set, x, elements(set, x->rank, x->dims), out[0]->data);
    return LAM_OK;
}

/* An equal share of g for each element. Halves, which do not hold every n, are divided in f32. */
static void vjp_mean(const lam_rule *r, lam_tensor *const g[], lam_tensor *gx[]) {
    const lam_dims own = lam_dims_of(r->in[0]);
    lam_tensor *share = lam_div(lam__reduce_wide(g[0]), elements(lam__reduce_set(r->params), own.rank, own.dims));
    gx[0] = lam__reduce_repeated(r, lam_cast(share, lam_dtype_of(g[0])));
}

/* A batch in front moves all axes by one. */
static void batch_mean(const lam_rule *r, lam_tensor *out[]) {
    lam__axis_set set = lam__reduce_set(r->params) << 1;
    out[0] = lam__apply1(r->primitive, &set, sizeof set, r->in[0]);
}

/* As the sum: nothing but the dims of the operand is kept. */
const lam_primitive lam__row_mean = {
    .name = "mean",
    .inputs = 1,
    .takes_complex = true,
    .derivative = LAM_LINEAR,
    .linear = 1u,
    .shape = shape_mean,
    .eval = eval_mean,
    .vjp = vjp_mean,
    .batch = batch_mean,
    .layout = "A axes",
};

/* NaN, a constant, of floats and complex numbers: the derivative is that of the sum, 0 where 0/0 would be NaN too.
 * Integers have their mean by the row, where 0/0 is NaN and nothing is differentiated. */
static lam_tensor *mean_of_none(lam_tensor *x, const lam_reduce_options *options) {
    double n;
    if (!extent("mean", x, options ? options->axes : (lam_axes){0, NULL}, &n)) return lam__axes_failed(x);
    if (n > 0) return lam__reduce_apply(&lam__row_mean, x, options); /* there is no result */
    lam_tensor *sum = lam_sum(x, options), *nan = lam_scalar(lam_ctx_of(x), NAN);
    return lam_add(sum, lam_cast(lam__cplx_is(x) ? lam_complex(nan, nan) : nan, lam_dtype_of(sum)));
}

/* Of no elements NaN, as in NumPy. Sums of i32 in i64 cannot wrap unless there are more than 2^32 of them. */
lam_tensor *lam_mean(lam_tensor *x, const lam_reduce_options *options) {
    const lam_value *v = lam__scope_peek(x);
    if (!v || !(v->count ? v->count > (int64_t)1 << 32 && v->dtype == LAM_I32 : lam__dtype_is_inexact(v->dtype)))
        return lam__reduce_apply(&lam__row_mean, x, options);
    uint64_t since = lam__scope_now(x);
    if (!v->count) return lam__scope_only(mean_of_none(x, options), since);
    return lam__scope_only(lam__reduce_apply(&lam__row_mean, lam_cast(x, LAM_F64), options), since);
}

/* What sums of squares are divided by. NaN where ddof leaves no divisor, which makes NaN of them and their slopes. */
static double divisor_of(double n, double ddof) {
    return n > ddof ? n - ddof : NAN;
}

/* What is left of x without its mean. False after recording that the axes are wrong. The mean keeps its axes, so that
 * it broadcasts against x. */
static bool deviations(const char *operation, lam_tensor *x, const lam_var_options *o, lam_tensor **away,
                       double *divisor) {
    double n;
    if (!extent(operation, x, o->axes, &n)) return false;
    *away = lam_sub(x, lam_mean(x, &(lam_reduce_options){o->axes, true}));
    *divisor = divisor_of(n, o->ddof);
    return true;
}

/* ---- the variance of real elements ------------------------------------------------------------------------------ */

typedef lam__variance_params variance;

/* In place, by a loop whose second operand is one number. The third operand's stride is 0: a number for all. */
static void divide(const lam_value *like, void *x, double by) {
    static const int64_t flat[] = {1, 1, 0};
    const lam_dtype dtype = (lam_dtype)like->dtype;
    double number[1];
    lam__dtype_store(dtype, number, by);
    lam__parallel_loop(lam__value_team(like), LAM__LOOP_div, dtype, lam__kernels_loop(LAM__LOOP_div, dtype),
                       like->count, (void *[]){x, x, number}, flat, NULL);
}

/* Two passes, sum and sum of squared differences from the mean: those of squares alone would cancel for data far from
 * 0. */
static lam_status eval_var(const lam_call_site *call, lam_value *const out[]) {
    const lam_value *x = call->in[0];
    const variance *v = call->params;
    const double n = elements(v->set, x->rank, x->dims);
    /* Results and means lie alike, so one serves as the centres of the other. */
    lam_value *means = lam__value_new(call->ctx, (lam_dtype)x->dtype, out[0]->rank, out[0]->dims);
    if (!means) return LAM_ERR_MEMORY;
    lam__reduce_mean_into(v->set, x, n, means->data);
    lam__reduce_squares(v->set, x, means->data, out[0]->data);
    divide(out[0], out[0]->data, divisor_of(n, v->ddof));
    lam__value_release(means);
    return LAM_OK;
}

/* What is left of x without its mean, and by what its products are multiplied in derivatives. Worked out anew on the
 * way back: keeping it would keep an array of the size of x for each variance on the tape. */
static lam_tensor *away_from_mean(const lam_rule *r, double *factor) {
    const variance *v = r->params;
    const lam_dims own = lam_dims_of(r->in[0]);
    const double n = elements(v->set, own.rank, own.dims);
    *factor = 2 / divisor_of(n, v->ddof);
    lam_tensor *mean = lam__apply1(&lam__row_mean, &v->set, sizeof v->set, r->in[0]);
    return lam_sub(r->in[0], lam__reduce_restore(mean, v->set, own));
}

/* d var = 2/(n - ddof) sum((x - mean) dx). The change of the mean has no share, as the differences add up to 0. */
static void jvp_var(const lam_rule *r, lam_tensor *const dx[], lam_tensor *dout[]) {
    double factor;
    lam_tensor *away = away_from_mean(r, &factor);
    dout[0] = lam_mul(lam__reduce_sum(lam_mul(away, dx[0]), lam__reduce_set(r->params)), factor);
}

/* gx = 2/(n - ddof) (x - mean) g. */
static void vjp_var(const lam_rule *r, lam_tensor *const g[], lam_tensor *gx[]) {
    double factor;
    lam_tensor *away = away_from_mean(r, &factor);
    gx[0] = lam_mul(away, lam__reduce_restore(lam_mul(g[0], factor), lam__reduce_set(r->params), lam_dims_of(away)));
}

/* A batch in front moves all axes by one. */
static void batch_var(const lam_rule *r, lam_tensor *out[]) {
    variance v = *(const variance *)r->params;
    v.set <<= 1;
    out[0] = lam__apply1(r->primitive, &v, sizeof v, r->in[0]);
}

/* The operand alone is kept; its mean is made again on the way back. ddof is a number of C: nothing is differentiated
 * by it. */
const lam_primitive lam__row_var = {
    .name = "var",
    .inputs = 1,
    .derivative = LAM_GENERAL,
    .saves = LAM_SAVE_IN(0),
    .shape = lam__reduce_shape_real,
    .eval = eval_var,
    .jvp = jvp_var,
    .vjp = vjp_var,
    .batch = batch_var,
    .layout = "A axes, d ddof",
};

/* ---- of any dtype ------------------------------------------------------------------------------------------------ */

/* The same of complex elements. |x - mean|^2 is real, and so is its mean. */
static lam_tensor *complex_var(lam_tensor *x, const lam_var_options *o) {
    lam_tensor *away;
    double divisor;
    if (!deviations("var", x, o, &away, &divisor)) return lam__axes_failed(x);
    return lam_div(lam_sum(lam__cplx_size(away), &(lam_reduce_options){o->axes, o->keepdims}), divisor);
}

/* Complex elements have two passes of operations, as there is no kernel for them. */
lam_tensor *lam_var(lam_tensor *x, const lam_var_options *options) {
    uint64_t since = lam__scope_now(x);
    static const lam_var_options none;
    const lam_var_options *o = options ? options : &none;
    variance v = {.ddof = o->ddof};
    if (lam__cplx_is(x)) return lam__scope_only(complex_var(x, o), since);
    if (!lam__axes_collect_set("var", x, o->axes, lam_rank(x), &v.set)) return lam__axes_failed(x);
    lam_tensor *wide = lam__reduce_wide(lam__reduce_real(x)), *out = lam__apply1(&lam__row_var, &v, sizeof v, wide);
    if (o->keepdims && !lam_failed(out)) out = lam__reduce_restore(out, v.set, lam_dims_of(x));
    return lam__scope_only(lam__dtype_is_half((int)lam_dtype_of(x)) ? lam_cast(out, lam_dtype_of(x)) : out, since);
}

/* |x - mean| / sqrt(n - ddof): the norm's slope is 0 where all elements are equal, where that of a root would be
 * inf. Halves go through f32 as a whole. */
lam_tensor *lam_std(lam_tensor *x, const lam_var_options *options) {
    uint64_t since = lam__scope_now(x);
    static const lam_var_options none;
    const lam_var_options *o = options ? options : &none;
    lam_tensor *away, *wide = lam__reduce_wide(x);
    double divisor;
    if (wide != x) return lam__scope_only(lam_cast(lam_std(wide, o), lam_dtype_of(x)), since);
    if (!deviations("std", x, o, &away, &divisor)) return lam__axes_failed(x);
    lam_tensor *length = lam__norm_length(away, &(lam_reduce_options){o->axes, o->keepdims});
    return lam__scope_only(lam_div(length, sqrt(divisor)), since);
}
