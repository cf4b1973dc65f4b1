/* Keys, and what is made of their bits directly. The primitives take keys with any number of leading axes, which is how
 * a batch of keys is one call; public functions take one key. Bits are a function of key and counter alone (Threefry,
 * Salmon et al. 2011), so a sample depends on nothing that happened before it: a function that is run again by a
 * transform sees the same numbers. None of the primitives here has a derivative; samplers are written so that what
 * depends on parameters comes after them. */
#include "lib/primitives/random.h"
#include "lib/primitives/seen.h"

#include "lib/primitives/apply.h"
#include "lib/primitives/axes.h"
#include "lib/primitives/create.h"
#include "lib/primitives/rows.h"
#include "lib/primitives/rules.h"

#include "lib/parallel/parallel.h"
#include "lib/tensor/dtype.h"
#include "lib/tensor/value.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

#include <math.h>

/* ---- random_bits: [keys..., 2] -> [keys..., dims] (pairs: [keys..., dims, 2]) ------------------------------------ */

/* A key is two words of 32 bits, kept as i64[2] so that it is an ordinary tensor. jax.random's raw keys are two u32
 * likewise. */
static bool is_keys(const lam_value *v) {
    return v->dtype == LAM_I64 && v->rank && v->dims[v->rank - 1] == 2;
}

/* A wrong dtype and wrong dims are told apart by the status alone. The message says both. */
static lam_status fail_keys(const lam_call_site *call) {
    lam_status status = call->in[0]->dtype == LAM_I64 ? LAM_ERR_SHAPE : LAM_ERR_DTYPE;
    return lam_rule_fail(call, status, "keys are i64 with 2 elements in the last axis");
}

/* The key's own axis of two goes, and a pair's comes at the end instead. */
static lam_status shape_random_bits(const lam_call_site *call, lam_shape out[]) {
    const lam__bits_params *p = call->params;
    const lam_value *keys = call->in[0];
    int lead = keys->rank - 1;
    if (!is_keys(keys)) return fail_keys(call);
    out->dtype = lam__kernels_random_dtype(p->what.form);
    out->rank = lead + p->rank + (p->what.form == LAM__RANDOM_PAIRS);
    if (out->rank > LAM_INNER_RANK) return lam_rule_fail(call, LAM_ERR_RANK, "%d axes are too many", out->rank);
    if (p->what.form == LAM__RANDOM_PAIRS) out->dims[out->rank - 1] = 2;
    for (int i = 0; i < lead; i++) out->dims[i] = keys->dims[i];
    for (int i = 0; i < p->rank; i++) out->dims[lead + i] = p->dims[i];
    return LAM_OK;
}

/* Each key counts from 0 for itself. The words of a key are its low 32 bits; what stands above them is dropped. So each
 * gives what it gives alone. */
static lam_status eval_random_bits(const lam_call_site *call, lam_value *const out[]) {
    const lam__bits_params *p = call->params;
    lam_value *keys = lam__value_contiguous(call->in[0]);
    if (!keys) return LAM_ERR_MEMORY;
    int64_t count = keys->count / 2, each = count ? out[0]->count / count : 0;
    size_t bytes = (size_t)each * lam__dtype_bytes((lam_dtype)out[0]->dtype);
    if (p->what.form == LAM__RANDOM_PAIRS) each /= 2;
    for (int64_t k = 0; k < count; k++) {
        const int64_t *key = (const int64_t *)keys->data + 2 * k;
        lam__parallel_random(call->ctx->team, &p->what, (uint32_t[]){(uint32_t)key[0], (uint32_t)key[1]}, 0, each,
                             (char *)out[0]->data + (size_t)k * bytes);
    }
    lam__value_release(keys);
    return LAM_OK;
}

/* Only the dims in use are parameters. Two calls of equal dims are then equal bytes, which is what a cache of programs
 * compares. */
static size_t bits_bytes(const lam__bits_params *p) {
    return offsetof(lam__bits_params, dims) + (size_t)p->rank * sizeof *p->dims;
}

/* The batch axis is one more of the axes in front of the keys, so vmap over keys gives what each key gives alone. */
static void batch_random_bits(const lam_rule *r, lam_tensor *out[]) {
    out[0] = lam__apply1(r->primitive, r->params, bits_bytes(r->params), r->in[0]);
}

/* No derivative: bits are integers, and floats made of them are functions of a key. */
const lam_primitive lam__row_random_bits = {
    .name = "random_bits",
    .inputs = 1,
    .shape = shape_random_bits,
    .eval = eval_random_bits,
    .batch = batch_random_bits,
    .layout = "i form, l low, l span, #i rank, l dims[rank]",
};

/* dims are those of one key's elements, without the last axis of pairs. A failed or foreign key is for dispatch to
 * find. */
static lam_tensor *bits_of(lam_tensor *key, const lam__random *what, lam_dims dims) {
    lam__bits_params p = {.what = *what, .rank = dims.rank};
    for (int i = 0; i < dims.rank; i++) p.dims[i] = dims.dims[i];
    return lam__apply1(&lam__row_random_bits, &p, bits_bytes(&p), key);
}

/* ---- fold_in: [keys..., 2] and [keys...] -> [keys..., 2] --------------------------------------------------------- */

/* A number for each key, neither broadcast. */
static lam_status shape_fold_in(const lam_call_site *call, lam_shape out[]) {
    const lam_value *keys = call->in[0], *data = call->in[1];
    if (!is_keys(keys)) return fail_keys(call);
    bool fits = data->dtype == LAM_I64 && data->rank == keys->rank - 1;
    out->dtype = LAM_I64;
    out->rank = keys->rank;
    for (int i = 0; i < keys->rank; i++) {
        out->dims[i] = keys->dims[i];
        fits = fits && (i == data->rank || data->dims[i] == keys->dims[i]);
    }
    return fits ? LAM_OK : lam_rule_fail(call, LAM_ERR_SHAPE, "there must be one i64 number for each key");
}

/* The pair that the key gives at the counter `data`, of which the low 32 bits count. */
static lam_status eval_fold_in(const lam_call_site *call, lam_value *const out[]) {
    static const lam__random pairs = {.form = LAM__RANDOM_PAIRS};
    lam_value *keys = lam__value_contiguous(call->in[0]), *data = keys ? lam__value_contiguous(call->in[1]) : NULL;
    for (int64_t k = 0; data && k < data->count; k++) {
        const int64_t *key = (const int64_t *)keys->data + 2 * k;
        lam__kernels_random(&pairs, (uint32_t[]){(uint32_t)key[0], (uint32_t)key[1]},
                            (uint32_t)((const int64_t *)data->data)[k], 1, (int64_t *)out[0]->data + 2 * k);
    }
    lam_status status = data ? LAM_OK : LAM_ERR_MEMORY;
    lam__value_release(keys);
    lam__value_release(data);
    return status;
}

/* Keys and numbers pair up one to one, so both get the batch axis. */
static void batch_fold_in(const lam_rule *r, lam_tensor *out[]) {
    lam_tensor *in[2] = {lam__rules_with_batch(r, 0), lam__rules_with_batch(r, 1)};
    out[0] = lam__apply(r->primitive, NULL, 0, 2, in);
}

/* Integers in and out. */
const lam_primitive lam__row_fold_in = {
    .name = "fold_in",
    .inputs = 2,
    .shape = shape_fold_in,
    .eval = eval_fold_in,
    .batch = batch_fold_in,
};

/* ---- keys -------------------------------------------------------------------------------------------------------- */

/* Whether t is one key; otherwise records it, unless t is a failed tensor. A batch of keys outside vmap is told how to
 * map over them. */
static bool is_key(const char *operation, lam_tensor *t, lam_tensor **failed) {
    lam_value *v;
    lam_ctx *ctx = lam__scope_operands(operation, 1, &t, &v, failed);
    if (!ctx) return false;
    *failed = &ctx->failed;
    if (v->rank == 1 && is_keys(v)) return true;
    bool many = v->rank > 1 && is_keys(v);
    lam_call_site call = {.ctx = ctx, .primitive = &(lam_primitive){.name = operation}, .inputs = 1, .in = &v};
    lam__error_call(&call, v->dtype == LAM_I64 ? LAM_ERR_SHAPE : LAM_ERR_DTYPE,
                    many ? "map over keys with lam_vmap" : "make one with lam_key, lam_split or lam_fold_in",
                    "operand 0 is not a key: a key is i64[2]");
    return false;
}

/* The seed's upper and lower word, as jax.random.PRNGKey has them with 64 bits. */
lam_tensor *lam_key(lam_ctx *ctx, uint64_t seed) {
    return lam_array(ctx, LAM_I64, LAM_DIMS(2), (int64_t[]){(int64_t)(seed >> 32), (int64_t)(seed & UINT32_MAX)});
}

/* Keys are the pairs at counters 0 to n - 1. A key that was split must not be used for bits as well: both start at the
 * counter 0. */
lam_tensor *lam_split(lam_tensor *key, int64_t n) {
    uint64_t since = lam__scope_now(key);
    lam_tensor *failed;
    if (!is_key("split", key, &failed)) return failed;
    if (n < 0) return lam__axes_fail("split", key, LAM_ERR_VALUE, "%lld keys cannot be made", (long long)n);
    return lam__scope_only(bits_of(key, &(lam__random){.form = LAM__RANDOM_PAIRS}, (lam_dims){1, &n}), since);
}

/* The tensor form, for indices that are mapped by vmap or counted in a loop; any integer dtype will do. */
lam_tensor *(lam_fold_in)(lam_tensor *key, lam_tensor *data) {
    uint64_t since = lam__scope_now(key);
    const char *name = lam__row_fold_in.name;
    lam_tensor *in[2] = {key, data}, *failed;
    lam_value *v[2];
    if (!lam__scope_operands(name, 2, in, v, &failed) || !is_key(name, key, &failed)) return failed;
    if (v[1]->dtype != LAM_I64 && v[1]->dtype != LAM_I32 && v[1]->dtype != LAM_U8)
        return lam__axes_fail_with(name, data, LAM_ERR_DTYPE, "fold in a C integer, or lam_cast it to LAM_I64",
                                   "what is folded in must be an integer");
    in[1] = lam_cast(data, LAM_I64);
    return lam__scope_only(lam__apply(&lam__row_fold_in, NULL, 0, 2, in), since);
}

/* A C number needs no tensor of the user's. The value's reference is taken over by the handle. */
lam_tensor *lam__fold_in_operand(lam_tensor *key, lam__operand data) {
    if (data.kind == LAM__TENSOR) return (lam_fold_in)(key, data.as.tensor);
    lam_tensor *failed;
    if (!is_key("fold_in", key, &failed)) return failed;
    if (data.kind == LAM__FLOATING)
        return lam__axes_fail_with("fold_in", key, LAM_ERR_DTYPE, "fold in a C integer, or lam_cast it to LAM_I64",
                                   "what is folded in must be an integer");
    return (lam_fold_in)(key, lam__scope_handle(key->ctx, lam__value_integer(key->ctx, LAM_I64, data.as.integer)));
}

/* ---- sources ----------------------------------------------------------------------------------------------------- */

/* `which` names the dtypes that can be had. */
static bool fail_dtype(const char *operation, lam_ctx *ctx, lam_dtype dtype, const char *which) {
    lam__error_set(ctx, LAM_ERR_DTYPE, NULL, "%s: dtype %s cannot be had, %s can", operation, lam_dtype_name(dtype),
                   which);
    return false;
}

bool lam__random_floating(const char *operation, lam_ctx *ctx, lam_dtype dtype) {
    return lam__dtype_is_float((int)dtype) || fail_dtype(operation, ctx, dtype, "f64 and f32");
}

/* The order of checks is that of the arguments. */
bool lam__random_source(const char *operation, lam_tensor *key, lam_dtype dtype, lam_dims dims, lam__source *s,
                        lam_tensor **failed) {
    if (!is_key(operation, key, failed)) return false;
    *s = (lam__source){operation, key->ctx, key, dtype, dims};
    return lam__random_floating(operation, key->ctx, dtype) && lam__create_dims_valid(operation, key->ctx, dims);
}

/* Whether x without its last `own` axes broadcasts to dims. An axis of `own` is one of each sample, such as the
 * categories of logits, and is not compared. */
static bool broadcasts(lam_tensor *x, int own, lam_dims dims) {
    lam_dims d = lam_dims_of(x);
    int lead = dims.rank - (d.rank - own);
    if (d.rank < own || lead < 0) return false;
    for (int i = 0; i < d.rank - own; i++)
        if (d.dims[i] != 1 && d.dims[i] != dims.dims[lead + i]) return false;
    return true;
}

/* All parameters are brought to one dtype, which is that of the samples, since a sampler's arithmetic mixes them. */
bool lam__random_parameters(const char *operation, lam_tensor *key, int n, lam_tensor *parameters[], int own,
                            lam_dims dims, lam__source *s, lam_tensor **failed) {
    lam_tensor *in[4] = {key};
    lam_value *v[4];
    for (int i = 0; i < n; i++) in[i + 1] = parameters[i];
    /* The key is looked at together with the parameters, so that the first handle that is wrong is the one named. */
    if (!lam__scope_operands(operation, (size_t)n + 1, in, v, failed)) return false;
    *failed = &key->ctx->failed;
    lam_dtype dtype = (lam_dtype)v[1]->dtype;
    for (int i = 1; i < n; i++) dtype = lam__dtype_promote((int)dtype, v[i + 1]->dtype);
    if (lam__dtype_is_complex((int)dtype)) return fail_dtype(operation, key->ctx, dtype, "f64 and f32");
    if (!lam__dtype_is_float((int)dtype)) dtype = LAM_F64;
    if (!lam__random_source(operation, key, dtype, dims, s, failed)) return false;
    /* One by one, so that the message can say which of them it is. */
    for (int i = 0; i < n; i++) {
        if (!broadcasts(parameters[i], own, dims)) {
            char text[200];
            lam__text to = {text, sizeof text, 0};
            lam__error_append_type(&to, dtype, dims.rank, dims.dims);
            lam__axes_fail_with(operation, parameters[i], LAM_ERR_SHAPE,
                                "the dims given are those of the result; lam_dims_of(parameter) for one of each",
                                "parameter %d does not broadcast to %s", i, text);
            return false;
        }
        parameters[i] = lam_cast(parameters[i], dtype);
    }
    return true;
}

/* The one place where a key and the context's generator part; everything above is written once. */
lam_tensor *lam__random_draw(const lam__source *s, const lam__random *what) {
    return s->key ? bits_of(s->key, what, s->dims) : lam__random_of_context(s, what);
}

/* In [0, 1), of 52 bits or, as f32, of 23. */
lam_tensor *lam__random_unit(const lam__source *s) {
    return lam__random_draw(s, &(lam__random){.form = s->dtype == LAM_F64 ? LAM__RANDOM_UNIT64 : LAM__RANDOM_UNIT32});
}

/* The number as the dtype has it. Bounds of f32 samples are compared and subtracted as f32. */
static double rounded(lam_dtype dtype, double x) {
    return dtype == LAM_F32 ? (float)x : x;
}

/* low + u (high - low), with one rounding by fma. It is kept at or above low, which that rounding could miss. The span
 * is that of the bounds as the dtype has them, as in jax.random.uniform. */
lam_tensor *lam__random_between(const lam__source *s, double low, double high) {
    lam_tensor *least = lam_full(s->ctx, s->dtype, LAM_DIMS0, low);
    lam_tensor *span = lam_full(s->ctx, s->dtype, LAM_DIMS0, rounded(s->dtype, high) - rounded(s->dtype, low));
    return lam_max(least, lam_fma(lam__random_unit(s), span, least));
}

/* One draw a key: a sampler that needs several splits its key. */
lam__source lam__random_with(const lam__source *s, lam_tensor *keys, int64_t i) {
    lam__source other = *s;
    other.key = lam_index(keys, 0, i);
    return other;
}

/* `wide` lives as long as the caller needs the source. */
bool lam__random_append(lam__source *s, int64_t n, int64_t wide[LAM_MAX_RANK]) {
    if (s->dims.rank >= LAM_MAX_RANK) {
        lam__error_set(s->ctx, LAM_ERR_RANK, "give some axes as one", "%s: the result would have %d axes", s->operation,
                       s->dims.rank + 1);
        return false;
    }
    for (int i = 0; i < s->dims.rank; i++) wide[i] = s->dims.dims[i];
    wide[s->dims.rank] = n;
    s->dims = (lam_dims){s->dims.rank + 1, wide};
    return true;
}

/* ---- bits, uniform, integers ------------------------------------------------------------------------------------- */

/* An unknown dtype falls to bytes in the table and is found by comparing what that gives with what was asked. */
lam_tensor *lam_random_bits(lam_tensor *key, lam_dtype dtype, lam_dims dims) {
    uint64_t since = lam__scope_now(key);
    lam_tensor *failed;
    if (!is_key("random_bits", key, &failed) || !lam__create_dims_valid("random_bits", key->ctx, dims)) return failed;
    lam__random what = {.form = dtype == LAM_I64   ? LAM__RANDOM_WIDE
                                : dtype == LAM_I32 ? LAM__RANDOM_NARROW
                                                   : LAM__RANDOM_BYTES};
    if (lam__kernels_random_dtype(what.form) == dtype) return bits_of(key, &what, dims);
    fail_dtype("random_bits", key->ctx, dtype, "i64, i32 and u8");
    return lam__scope_only(failed, since);
}

/* The larger of low and u (high - low) + low, which rounding could bring below it. Bounds are tensors and get
 * derivatives: high gets u, low gets 1 - u. */
lam_tensor *lam_random_uniform(lam_tensor *key, lam_dtype dtype, lam_dims dims,
                               const lam_random_uniform_options *options) {
    uint64_t since = lam__scope_now(key);
    static const lam_random_uniform_options none;
    const lam_random_uniform_options *o = options ? options : &none;
    lam_tensor *failed;
    lam__source s;
    if (!lam__random_source("random_uniform", key, dtype, dims, &s, &failed)) return failed;
    if (!o->low && !o->high) return lam__scope_only(lam__random_unit(&s), since);
    lam_tensor *bounds[2] = {o->low ? o->low : lam_zeros(s.ctx, dtype, LAM_DIMS0),
                             o->high ? o->high : lam_ones(s.ctx, dtype, LAM_DIMS0)};
    if (!lam__random_parameters("random_uniform", key, 2, bounds, 0, dims, &s, &failed)) return failed;
    lam_tensor *low = lam_cast(bounds[0], dtype), *span = lam_sub(lam_cast(bounds[1], dtype), low);
    if (!lam__seen_in_range("random_uniform", "high - low", span, 0, false, (double)INFINITY)) return failed;
    s.dtype = dtype;
    return lam__scope_only(lam_max(low, lam_fma(lam__random_unit(&s), span, low)), since);
}

/* high may be one more than the dtype holds, so that its largest number can be had. The span is counted modulo 2^64
 * (2^32 for narrower ones), where 0 stands for all of them. */
bool lam__random_range(const char *operation, lam_ctx *ctx, lam_dtype dtype, int64_t low, int64_t high,
                       lam__random *what) {
    int64_t least = dtype == LAM_I64 ? INT64_MIN : dtype == LAM_I32 ? INT32_MIN : 0;
    int64_t most = dtype == LAM_I64 ? INT64_MAX : dtype == LAM_I32 ? INT32_MAX : UINT8_MAX;
    if (dtype != LAM_I64 && dtype != LAM_I32 && dtype != LAM_U8)
        return fail_dtype(operation, ctx, dtype, "i64, i32 and u8");
    if (low >= high || low < least || high - 1 > most) {
        lam__error_set(ctx, LAM_ERR_VALUE, NULL, "%s: there are no integers of %s in [%lld, %lld)", operation,
                       lam_dtype_name(dtype), (long long)low, (long long)high);
        return false;
    }
    what->form = dtype == LAM_I64 ? LAM__RANDOM_RANGE64 : dtype == LAM_I32 ? LAM__RANDOM_RANGE32 : LAM__RANDOM_RANGE8;
    what->low = low;
    what->span = (uint64_t)high - (uint64_t)low;
    if (dtype != LAM_I64) what->span &= UINT32_MAX; /* 0 for all of i32 */
    return true;
}

/* The key is split by the kernel into two, whose numbers together are reduced to the range. */
lam_tensor *lam_random_randint(lam_tensor *key, lam_dtype dtype, lam_dims dims, int64_t low, int64_t high) {
    uint64_t since = lam__scope_now(key);
    lam__random what;
    lam_tensor *failed;
    if (!is_key("random_randint", key, &failed) || !lam__create_dims_valid("random_randint", key->ctx, dims) ||
        !lam__random_range("random_randint", key->ctx, dtype, low, high, &what))
        return failed;
    return lam__scope_only(bits_of(key, &what, dims), since);
}
