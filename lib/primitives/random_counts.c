/* Samples that are counts: Poisson, binomial, multinomial and geometric variables. The rows take one key for all the
 * elements of their parameters, which are told apart by their places. Counts have no derivatives. */
#include "lib/primitives/random.h"
#include "lib/primitives/seen.h"

#include "lib/parallel/parallel.h"
#include "lib/primitives/apply.h"
#include "lib/primitives/axes.h"
#include "lib/primitives/rows.h"
#include "lib/primitives/rules.h"

#include "lib/tensor/dtype.h"
#include "lib/tensor/value.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

#include <math.h>

/* ---- rows of keys and parameters --------------------------------------------------------------------------------- */

/* The most that a row has beside its key. */
enum { PARAMETERS = 2 };

/* Strides may differ: operands are made contiguous before a kernel sees them. */
static bool alike(const lam_value *a, const lam_value *b) {
    bool same = a->dtype == b->dtype && a->rank == b->rank;
    for (int i = 0; same && i < a->rank; i++) same = a->dims[i] == b->dims[i];
    return same;
}

/* Parameters stand behind the axes of the keys, those of each key in a row of its own. */
lam_status lam__random_keyed_shape(const lam_call_site *call, lam_shape out[]) {
    const lam_value *keys = call->in[0], *a = call->in[1];
    int lead = keys->rank - 1;
    bool fits = keys->dtype == LAM_I64 && lead >= 0 && keys->dims[lead] == 2 && a->rank >= lead;
    for (int i = 0; fits && i < lead; i++) fits = a->dims[i] == keys->dims[i];
    lam_status status = keys->dtype == LAM_I64 ? LAM_ERR_SHAPE : LAM_ERR_DTYPE;
    if (!fits) return lam_rule_fail(call, status, "each key, of 2 i64, must have parameters of its own");
    for (int i = 2; i < call->inputs; i++)
        if (!alike(a, call->in[i])) return lam_rule_fail(call, LAM_ERR_SHAPE, "the parameters must be of one type");
    return lam__apply_shape_as(a, (lam_dtype)a->dtype, out);
}

/* The keys one after the other, each shared among threads within itself: each sample has bits of its own, so cuts
 * between samples change nothing. */
lam_status lam__random_keyed_eval(const lam_call_site *call, lam_value *out, lam__random_kernel *run) {
    lam_value *in[1 + PARAMETERS] = {NULL};
    bool all = true;
    for (int i = 0; all && i < call->inputs; i++) all = (in[i] = lam__value_contiguous(call->in[i])) != NULL;
    int64_t count = all ? in[0]->count / 2 : 0, each = count ? out->count / count : 0;
    for (int64_t k = 0; k < count; k++) {
        const int64_t *key = (const int64_t *)in[0]->data + 2 * k;
        const void *at[PARAMETERS] = {NULL};
        for (int i = 1; i < call->inputs; i++)
            at[i - 1] = (const char *)in[i]->data + (size_t)(k * each) * lam__dtype_bytes((lam_dtype)in[i]->dtype);
        run(call, (uint32_t[]){(uint32_t)key[0], (uint32_t)key[1]}, each, at,
            (char *)out->data + (size_t)(k * each) * lam__dtype_bytes((lam_dtype)out->dtype));
    }
    for (int i = 0; i < call->inputs; i++) lam__value_release(in[i]);
    return all ? LAM_OK : LAM_ERR_MEMORY;
}

/* Keys of a batch are more keys, so that an example draws what it would draw alone; what is not mapped is repeated,
 * since each key needs parameters of its own. */
static void batch_keyed(const lam_rule *r, lam_tensor *out[]) {
    lam_tensor *in[1 + PARAMETERS];
    for (int i = 0; i < r->inputs; i++) in[i] = lam__rules_with_batch(r, i);
    out[0] = lam__apply(r->primitive, NULL, 0, (size_t)r->inputs, in);
}

/* ---- poisson ----------------------------------------------------------------------------------------------------- */

/* The rate is f32 whatever the user's, as in jax.random: its samples hang on comparisons of f32 numbers. */
static lam_status shape_random_poisson(const lam_call_site *call, lam_shape out[]) {
    if (call->in[1]->dtype != LAM_F32) return lam_rule_fail(call, LAM_ERR_DTYPE, "the rate must be f32");
    lam_status status = lam__random_keyed_shape(call, out);
    out->dtype = LAM_I64;
    return status;
}

/* The kernel gives -1 for rates that the wrapper cannot refuse, as those in a trace: lam__seen_in_range sees no
 * elements there. */
static void run_poisson(const lam_call_site *call, const uint32_t key[2], int64_t n, const void *const in[],
                        void *out) {
    lam__parallel_random_poisson(call->ctx->team, key, n, in[0], out);
}

static lam_status eval_random_poisson(const lam_call_site *call, lam_value *const out[]) {
    return lam__random_keyed_eval(call, out[0], run_poisson);
}

/* No derivative: a count does not move with its rate. */
const lam_primitive lam__row_random_poisson = {
    .name = "random_poisson",
    .inputs = 2,
    .shape = shape_random_poisson,
    .eval = eval_random_poisson,
    .batch = batch_keyed,
};

/* Rates above 2^62 would not fit the result. What is sampled has dims, so the rate is repeated before the row, which
 * gives one sample for each element of it. */
lam_tensor *lam_random_poisson(lam_tensor *key, lam_tensor *rate, lam_dims dims) {
    uint64_t since = lam__scope_now(key);
    const char *name = "random_poisson";
    lam_tensor *failed;
    lam__source s;
    if (!lam__random_parameters(name, key, 1, &rate, 0, dims, &s, &failed) ||
        !lam__seen_in_range(name, "the rate", rate, 0, false, 0x1p62))
        return failed;
    lam_tensor *in[2] = {key, lam_broadcast_to(lam_cast(rate, LAM_F32), dims)};
    return lam__scope_only(lam__apply(&lam__row_random_poisson, NULL, 0, 2, in), since);
}

/* ---- binomial: how many of n come with probability p ------------------------------------------------------------- */

/* Counts are floats, so parameters decide the dtype. */
static lam_status shape_random_binomial(const lam_call_site *call, lam_shape out[]) {
    if (!lam__dtype_is_float(call->in[1]->dtype))
        return lam_rule_fail(call, LAM_ERR_DTYPE, "the parameters must be floating");
    return lam__random_keyed_shape(call, out);
}

static void run_binomial(const lam_call_site *call, const uint32_t key[2], int64_t n, const void *const in[],
                         void *out) {
    lam__parallel_random_binomial(call->ctx->team, (lam_dtype)call->in[1]->dtype, key, n, in[0], in[1], out);
}

static lam_status eval_random_binomial(const lam_call_site *call, lam_value *const out[]) {
    return lam__random_keyed_eval(call, out[0], run_binomial);
}

const lam_primitive lam__row_random_binomial = {
    .name = "random_binomial",
    .inputs = 3,
    .shape = shape_random_binomial,
    .eval = eval_random_binomial,
    .batch = batch_keyed,
};

/* One element of each operand for every sample, as the row wants it. */
static lam_tensor *sample_binomial(lam_tensor *key, lam_tensor *n, lam_tensor *p, lam_dims dims) {
    lam_tensor *in[3] = {key, lam_broadcast_to(n, dims), lam_broadcast_to(p, dims)};
    return lam__apply(&lam__row_random_binomial, NULL, 0, 3, in);
}

/* Samples are floats, as those of jax.random. */
lam_tensor *lam_random_binomial(lam_tensor *key, lam_tensor *n, lam_tensor *p, lam_dims dims) {
    uint64_t since = lam__scope_now(key);
    const char *name = "random_binomial";
    lam_tensor *in[2] = {n, p}, *failed;
    lam__source s;
    if (!lam__random_parameters(name, key, 2, in, 0, dims, &s, &failed) ||
        !lam__seen_in_range(name, "the number of trials", in[0], 0, false, 0x1p62) ||
        !lam__seen_in_range(name, "the probability", in[1], 0, false, 1))
        return failed;
    return lam__scope_only(sample_binomial(key, in[0], in[1], dims), since);
}

/* ---- multinomial ------------------------------------------------------------------------------------------------- */

/* Each category takes a binomial part of what those before it have left, at its share of what they have left. The last
 * one that has a weight takes all that is left, its share being 1; where nothing is left, 0 / 1 stands for the
 * share. */
static lam_tensor *shared_out(lam_tensor *key, lam_tensor *n, lam_tensor *p, lam_dims dims) {
    const int64_t k = lam_dim(p, -1);
    lam_tensor *left = lam_cumsum_reverse(p, -1), **counts = lam__apply_room(lam_ctx_of(p), (size_t)k);
    lam_tensor *share = lam_clamp(lam_div(p, lam_where(lam_eq(left, 0), 1, left)), 0.0, 1.0), *keys = lam_split(key, k);
    /* A key for each category: under one key they would hang on the same random numbers. */
    for (int64_t i = 0; counts && i < k; i++) {
        counts[i] = sample_binomial(lam_index(keys, 0, i), n, lam_index(share, -1, i), dims);
        n = lam_sub(n, counts[i]);
    }
    return counts ? lam_stack((lam_list){(size_t)k, counts}, -1) : &lam_ctx_of(p)->failed;
}

/* Shares and what is left are computed from n and p, which therefore are made constants here: counts have no
 * derivative. */
lam_tensor *lam_random_multinomial(lam_tensor *key, lam_tensor *n, lam_tensor *p, lam_dims dims) {
    uint64_t since = lam__scope_now(key);
    const char *name = "random_multinomial";
    lam_tensor *failed;
    lam__source s, of_p;
    int64_t wide[LAM_MAX_RANK];
    /* n belongs to dims alone, p has an axis of its own behind them; the dtype is that of both together. */
    if (!lam__random_parameters(name, key, 1, &n, 0, dims, &s, &failed) ||
        !lam__random_parameters(name, key, 1, &p, 1, dims, &of_p, &failed) ||
        !lam__seen_in_range(name, "the number of trials", n, 0, false, 0x1p62) ||
        !lam__seen_in_range(name, "a probability", p, 0, false, (double)INFINITY) ||
        !lam__random_append(&of_p, lam_dim(p, -1), wide))
        return failed;
    if (!lam_dim(p, -1)) return lam__axes_fail(name, p, LAM_ERR_VALUE, "there are no categories");
    lam_dtype dtype = lam__dtype_promote((int)s.dtype, (int)of_p.dtype);
    n = lam_stop_gradient(lam_cast(n, dtype));
    p = lam_stop_gradient(lam_cast(p, dtype));
    return lam__scope_only(shared_out(key, n, p, dims), since);
}

/* ---- geometric --------------------------------------------------------------------------------------------------- */

/* The quantile of a uniform number, in which 1 stands for 0. Of p = 1 the logarithm below is -inf and the quotient 0,
 * so the first trial is the one. A cast gives the largest integer for what is beyond it, to which no 1 can be added. */
lam_tensor *lam_random_geometric(lam_tensor *key, lam_tensor *p, lam_dims dims) {
    uint64_t since = lam__scope_now(key);
    const char *name = "random_geometric";
    lam_tensor *failed;
    lam__source s;
    if (!lam__random_parameters(name, key, 1, &p, 0, dims, &s, &failed) ||
        !lam__seen_in_range(name, "the probability", p, 0, true, 1))
        return failed;
    lam_tensor *u = lam__random_unit(&s), *log_u = lam_log(lam_where(lam_eq(u, 0), 1, u));
    lam_tensor *trials = lam_floor(lam_div(log_u, lam_log1p(lam_neg(lam_stop_gradient(p)))));
    lam_tensor *before = lam_min(lam_cast(lam_broadcast_to(trials, dims), LAM_I64), INT64_MAX - 1);
    return lam__scope_only(lam_add(before, 1), since);
}
