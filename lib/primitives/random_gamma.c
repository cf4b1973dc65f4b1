/* Gamma variables and what is made of them. A sample x of Gamma(a) is a smooth function of a at fixed bits only if x
 * keeps its place in the distribution, P(a, x) = constant, so its derivative is taken as -(dP/da) / (dP/dx) ("implicit
 * reparameterisation gradients", Figurnov, Mohamed, Mnih 2018), which is unbiased. */
#include "lib/primitives/random.h"
#include "lib/primitives/seen.h"

#include "lib/parallel/parallel.h"
#include "lib/primitives/apply.h"
#include "lib/primitives/rows.h"
#include "lib/primitives/rules.h"

#include "lib/kernels/special/special.h"
#include "lib/tensor/dtype.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

#include <math.h>

/* ---- gamma: the parameter says whether the logarithm is wanted --------------------------------------------------- */

/* Small a give samples below the least float: at a = 1e-3 half of them are less than 1e-300. Their logarithm is a fine
 * number, and what beta and Dirichlet variables are made of. */
static bool is_logarithm(const void *params) {
    return *(const int32_t *)params != 0;
}

/* The parameter is 32 bits, as the row's layout has it. */
static lam_tensor *apply_gamma(lam_tensor *key, lam_tensor *a, int32_t logarithm) {
    lam_tensor *in[2] = {key, a};
    return lam__apply(&lam__row_random_gamma, &logarithm, sizeof logarithm, 2, in);
}

static lam_status shape_random_gamma(const lam_call_site *call, lam_shape out[]) {
    if (!lam__dtype_is_float(call->in[1]->dtype))
        return lam_rule_fail(call, LAM_ERR_DTYPE, "the parameter must be floating");
    return lam__random_keyed_shape(call, out);
}

/* Marsaglia and Tsang's method, for as many elements as one key has. */
static void run_gamma(const lam_call_site *call, const uint32_t key[2], int64_t n, const void *const a[], void *out) {
    lam__parallel_random_gamma(call->ctx->team, (lam_dtype)call->in[1]->dtype, key, n, a[0], is_logarithm(call->params),
                               out);
}

static lam_status eval_random_gamma(const lam_call_site *call, lam_value *const out[]) {
    return lam__random_keyed_eval(call, out[0], run_gamma);
}

/* Below this x the distribution is x^a / Gamma(a + 1) to all digits: the next term of P(a, x) is smaller by a factor
 * x. */
static const double LEAST = 1e-30;

/* d log(x)/da = -(dP/da) / (x dP/dx); near 0 it is (psi(a + 1) - log(x)) / a, which goes on where x itself is 0. x is
 * one that the caller has made harmless where it is too small, so the branch that is not taken stays finite. Both
 * derivatives of P are members of the family igamma, so this can be differentiated again. */
static lam_tensor *slope_of_logarithm(lam_tensor *a, lam_tensor *x, lam_tensor *log_x) {
    lam_tensor *in[2] = {a, x};
    lam_tensor *by_a = lam__apply_coded(&lam__row_igamma, LAM__SPECIAL_CODE(1, 0, 0), 2, in);
    lam_tensor *by_x = lam__apply_coded(&lam__row_igamma, LAM__SPECIAL_CODE(0, 0, 1), 2, in);
    lam_tensor *small = lam_div(lam_sub(lam_digamma(lam_add(a, 1.0)), log_x), a);
    return lam_where(lam_lt(x, LEAST), small, lam_neg(lam_div(by_a, lam_mul(x, by_x))));
}

/* t dx/da, with dx/da = x d log(x)/da unless the result is a logarithm itself. As one number per element it serves both
 * modes. A sample that has underflowed to 0 keeps the slope 0. */
static lam_tensor *tangent_gamma(const lam_rule *r, lam_tensor *t) {
    lam_tensor *a = r->in[1], *y = r->out[0];
    if (is_logarithm(r->params)) {
        lam_tensor *x = lam_exp(y);
        return lam_mul(t, slope_of_logarithm(a, lam_where(lam_lt(x, LEAST), LEAST / 2, x), y));
    }
    lam_tensor *zero = lam_eq(y, 0.0), *x = lam_where(zero, LEAST / 2, y);
    return lam_mul(t, lam_mul(y, slope_of_logarithm(a, x, lam_log(x))));
}

/* Only the parameter has a tangent; a key is made of integers. */
static void jvp_random_gamma(const lam_rule *r, lam_tensor *const dx[], lam_tensor *dout[]) {
    dout[0] = dx[1] ? tangent_gamma(r, dx[1]) : NULL;
}

/* The same number as in forward mode: each element hangs on its own parameter. */
static void vjp_random_gamma(const lam_rule *r, lam_tensor *const g[], lam_tensor *gx[]) {
    gx[1] = g[0] && r->needs[1] ? tangent_gamma(r, g[0]) : NULL;
}

/* Each example has a key of its own or shares one, and a parameter of its own in any case. */
static void batch_random_gamma(const lam_rule *r, lam_tensor *out[]) {
    lam_tensor *in[2] = {lam__rules_with_batch(r, 0), lam__rules_with_batch(r, 1)};
    out[0] = apply_gamma(in[0], in[1], is_logarithm(r->params));
}

/* Parameter and sample are kept; the bits are not drawn again. */
const lam_primitive lam__row_random_gamma = {
    .name = "random_gamma",
    .inputs = 2,
    .derivative = LAM_GENERAL,
    .saves = LAM_SAVE_IN(1) | LAM_SAVE_OUT(0),
    .shape = shape_random_gamma,
    .eval = eval_random_gamma,
    .jvp = jvp_random_gamma,
    .vjp = vjp_random_gamma,
    .batch = batch_random_gamma,
    .layout = "i logarithm",
};

/* The parameter in the dims of the sample, since the row pairs them element by element. */
static lam_tensor *sample_gamma(const lam__source *s, lam_tensor *a, bool logarithm) {
    return apply_gamma(s->key, lam_broadcast_to(a, s->dims), logarithm);
}

/* For samplers that need the logarithm of a gamma variable and no more of it. */
lam_tensor *lam__random_loggamma(const lam__source *s, lam_tensor *a) {
    return sample_gamma(s, a, true);
}

/* a = 0 has no gamma distribution, so the range is open at 0. */
static lam_tensor *gamma_of(const char *name, lam_tensor *key, lam_tensor *a, lam_dims dims, bool logarithm) {
    lam_tensor *failed;
    lam__source s;
    if (!lam__random_parameters(name, key, 1, &a, 0, dims, &s, &failed) ||
        !lam__seen_in_range(name, "the parameter", a, 0, true, (double)INFINITY))
        return failed;
    return sample_gamma(&s, a, logarithm);
}

lam_tensor *lam_random_gamma(lam_tensor *key, lam_tensor *a, lam_dims dims) {
    uint64_t since = lam__scope_now(key);
    return lam__scope_only(gamma_of("random_gamma", key, a, dims, false), since);
}

lam_tensor *lam_random_loggamma(lam_tensor *key, lam_tensor *a, lam_dims dims) {
    uint64_t since = lam__scope_now(key);
    return lam__scope_only(gamma_of("random_loggamma", key, a, dims, true), since);
}

/* x / (x + y) of gamma variables x and y, from their logarithms. With a and b small, x + y may be 0 in floats, where
 * log(x) - log(y) has all its digits. The key is split so that the two are independent. */
lam_tensor *lam_random_beta(lam_tensor *key, lam_tensor *a, lam_tensor *b, lam_dims dims) {
    uint64_t since = lam__scope_now(key);
    const char *name = "random_beta";
    lam_tensor *in[2] = {a, b}, *failed, *y[2];
    lam__source s;
    if (!lam__random_parameters(name, key, 2, in, 0, dims, &s, &failed)) return failed;
    lam_tensor *keys = lam_split(key, 2);
    for (int i = 0; i < 2; i++) {
        if (!lam__seen_in_range(name, "a parameter", in[i], 0, true, (double)INFINITY)) return failed;
        lam__source own = lam__random_with(&s, keys, i);
        y[i] = lam__random_loggamma(&own, in[i]);
    }
    return lam__scope_only(lam_logistic(lam_sub(y[0], y[1])), since);
}

/* Gamma variables, from their logarithms, divided by their sum. softmax of the logarithms is that quotient, without a
 * sum that may be 0, and gives the derivative too. */
lam_tensor *lam_random_dirichlet(lam_tensor *key, lam_tensor *alpha, lam_dims dims) {
    uint64_t since = lam__scope_now(key);
    const char *name = "random_dirichlet";
    lam_tensor *failed;
    lam__source s;
    int64_t wide[LAM_MAX_RANK];
    if (!lam__random_parameters(name, key, 1, &alpha, 1, dims, &s, &failed) ||
        !lam__seen_in_range(name, "alpha", alpha, 0, true, (double)INFINITY))
        return failed;
    if (!lam__random_append(&s, lam_dim(alpha, -1), wide)) return failed;
    return lam__scope_only(lam_softmax(lam__random_loggamma(&s, alpha), -1), since);
}
