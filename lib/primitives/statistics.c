/* What is made of reductions: means and variances. The variance of real elements is a primitive: two passes that read
 * and leave nothing between them, and as few on the way back; so is the mean of small integers, one pass. A standard
 * deviation is a norm, which has a slope at 0 and squares that stay in range. */
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

/* Of small integers and bools alone, whose sums the kernel makes without copies; all others are sums that are
 * divided. */
static lam_status shape_mean(const lam_call_site *call, lam_shape out[]) {
    const lam_value *x = call->in[0];
    if (!lam__reduce_is_tallied(x->dtype))
        return lam__error_call(call, LAM_ERR_DTYPE, "cast it first", "not a small integer");
    out->dtype = LAM_F64;
    out->rank = 0;
    for (int i = 0; i < x->rank; i++)
        if (!lam__reduce_has(lam__reduce_set(call->params), i)) out->dims[out->rank++] = x->dims[i];
    return LAM_OK;
}

/* Sums that become means where they lie. */
typedef struct shares {
    double *out, by;
    lam__loop *loop; /* that makes one of a sum and `by` */
} shares;

/* By a product where the reciprocal is exact, and with it each mean: divisions take as long as all else. */
static shares shares_of(double *out, double n) {
    int exponent;
    const bool exact = frexp(n, &exponent) == 0.5;
    return (shares){out, exact ? 1 / n : n, lam__kernels_loop(exact ? LAM__LOOP_mul : LAM__LOOP_div, LAM_F64)};
}

/* i64 divided, in f64; some at a time, which stay in the first cache. */
static void divide_sums(void *env, const int64_t *start, const int64_t *dims, int worker) {
    enum { SOME = 1024 };
    static const int64_t one[] = {1}, flat[] = {1, 1, 0};
    shares *s = env;
    double room[SOME];
    (void)worker;
    for (int64_t i = 0; i < *dims; i += SOME) {
        const int64_t some = *dims - i < SOME ? *dims - i : SOME;
        double *out = s->out + *start + i;
        lam__kernels_copy(1, &some, LAM_F64, room, one, LAM_I64, out, one);
        s->loop(some, (void *[]){out, room, &s->by}, flat, NULL);
    }
}

/* Sums are made where their means will be. Without a team some rows at a time, so that these are near when they are
 * divided. Sums of small integers are exact in i64, unless there are more than 2^31. */
static lam_status eval_mean(const lam_call_site *call, lam_value *const out[]) {
    enum { NEAR = 2048 };
    const lam__axis_set set = lam__reduce_set(call->params);
    const lam_value *x = call->in[0];
    lam__team *team = lam__value_team(x);
    const bool parts = x->rank > 0 && !lam__reduce_has(set, 0) && !team && out[0]->count > NEAR;
    const int64_t rows = parts ? x->dims[0] : 1, each = out[0]->count / rows,
                  step = parts && each < NEAR ? NEAR / each : 1;
    shares s = shares_of(out[0]->data, elements(set, x->rank, x->dims));
    for (int64_t i = 0; i < rows; i += step) {
        const int64_t some = rows - i < step ? rows - i : step, results = some * each;
        lam__reduce_rows_into(LAM__REDUCE_TALLY, set, x, i, parts ? some : -1, s.out);
        lam__parallel_boxes(team, 1, 1, &results, 4 * (double)results, divide_sums, &s);
        s.out += results;
    }
    return LAM_OK;
}

static void batch_mean(const lam_rule *r, lam_tensor *out[]) {
    lam__axis_set set = lam__reduce_set(r->params) << 1;
    out[0] = lam__apply1(r->primitive, &set, sizeof set, r->in[0]);
}

/* Of bools, u8 and i32, whose mean is f64: not differentiable. */
const lam_primitive lam__row_mean = {
    .name = "mean",
    .inputs = 1,
    .shape = shape_mean,
    .eval = eval_mean,
    .batch = batch_mean,
    .layout = "A axes",
};

/* Of no elements 0/0, NaN, as in NumPy. */
lam_tensor *lam_mean(lam_tensor *x, const lam_reduce_options *options) {
    uint64_t since = lam__scope_now(x);
    static const lam_reduce_options none;
    double n;
    if (!extent("mean", x, (options ? options : &none)->axes, &n)) return lam__axes_failed(x);
    const int dtype = (int)lam_dtype_of(x);
    const bool counted = lam__reduce_is_tallied(dtype) || !lam__scope_peek(x); /* what is none is named by the row */
    if (counted && n <= INT32_MAX) return lam__scope_only(lam__reduce_apply(&lam__row_mean, x, options), since);
    lam_tensor *mean = lam_div(lam_sum(lam__reduce_wide(lam__reduce_real(x)), options), n);
    return lam__scope_only(lam__dtype_is_half(dtype) ? lam_cast(mean, (lam_dtype)dtype) : mean, since);
}

/* What sums of squares are divided by. NaN where ddof leaves no divisor, which makes NaN of them and their slopes. */
static double divisor_of(double n, double ddof) {
    return n > ddof ? n - ddof : NAN;
}

/* What is left of x without its mean. False after recording that the axes are wrong. */
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

/* In place, by a loop whose second operand is one number. */
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
    lam_value *means = lam__value_new(call->ctx, (lam_dtype)x->dtype, out[0]->rank, out[0]->dims);
    if (!means) return LAM_ERR_MEMORY;
    lam__reduce_into(LAM__REDUCE_SUM, v->set, x, means->data);
    divide(means, means->data, n);
    lam__reduce_squares(v->set, x, means->data, out[0]->data);
    divide(out[0], out[0]->data, divisor_of(n, v->ddof));
    lam__value_release(means);
    return LAM_OK;
}

static lam_tensor *sum_over(lam_tensor *x, lam__axis_set set) {
    return lam__apply1(&lam__row_sum, &set, sizeof set, x);
}

/* What is left of x without its mean, and by what its products are multiplied in derivatives. Worked out anew on the
 * way back: keeping it would keep an array of the size of x for each variance on the tape. */
static lam_tensor *away_from_mean(const lam_rule *r, double *factor) {
    const variance *v = r->params;
    const lam_dims own = lam_dims_of(r->in[0]);
    const double n = elements(v->set, own.rank, own.dims);
    *factor = 2 / divisor_of(n, v->ddof);
    return lam_sub(r->in[0], lam__reduce_restore(lam_div(sum_over(r->in[0], v->set), n), v->set, own));
}

/* d var = 2/(n - ddof) sum((x - mean) dx). The change of the mean has no share, as the differences add up to 0. */
static void jvp_var(const lam_rule *r, lam_tensor *const dx[], lam_tensor *dout[]) {
    double factor;
    lam_tensor *away = away_from_mean(r, &factor);
    dout[0] = lam_mul(sum_over(lam_mul(away, dx[0]), lam__reduce_set(r->params)), factor);
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

/* The operand alone is kept; its mean is made again on the way back. */
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
 * inf. */
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
