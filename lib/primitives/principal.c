/* Logarithms of sums of exponentials of complex numbers, and what is made of them. Logarithms are principal ones: their
 * imaginary parts lie in [-pi, pi]. All are composed, so their derivatives are those of their parts; which operand, or
 * which shift, keeps the exponentials in range is a constant to these. */
#include "lib/primitives/plane.h"

#include "lib/base/scope.h"
#include "lib/primitives/matrices.h"

#include <lamina/tensor.h>

#include <math.h>

static const double TURN = 6.28318530717958647692, LOG_2 = 0.69314718055994530942;

/* z less whole turns of its imaginary part, whose number is constant almost everywhere. */
static lam_tensor *principal(lam_tensor *z) {
    lam_tensor *im = lam_imag(z), *turns = lam_round(lam_div(lam_stop_gradient(im), TURN));
    return lam_complex(lam_real(z), lam_sub(im, lam_mul(TURN, turns)));
}

/* Of the operand with the larger real part, and log1p of the quotient of the other exponential by its own. Where the
 * larger one is not finite it is the result, and nothing is computed with it. */
static lam_tensor *sum_of_two(lam_tensor *x, lam_tensor *y) {
    lam_tensor *first = lam_ge(lam_real(x), lam_real(y)), *more = lam_where(first, x, y),
               *less = lam_where(first, y, x);
    lam_tensor *finite = lam_is_finite(more), *a = lam_where(finite, more, 0.0), *b = lam_where(finite, less, 0.0);
    return lam_where(finite, principal(lam_add(a, lam_log1p(lam_exp(lam_sub(b, a))))), more);
}

/* Operands are brought to one complex dtype; the public function has found that one is complex. */
lam_tensor *lam__plane_logaddexp(lam_tensor *x, lam_tensor *y) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *in[2] = {x, y}, *failed;
    if (!lam__matrices_operands("logaddexp", true, 2, in, in, &failed)) return failed;
    return lam__scope_only(sum_of_two(in[0], in[1]), since);
}

/* By natural logarithms, of which those of base 2 are multiples. */
lam_tensor *lam__plane_logaddexp2(lam_tensor *x, lam_tensor *y) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *in[2] = {x, y}, *failed;
    if (!lam__matrices_operands("logaddexp2", true, 2, in, in, &failed)) return failed;
    return lam__scope_only(lam_div(sum_of_two(lam_mul(LOG_2, in[0]), lam_mul(LOG_2, in[1])), LOG_2), since);
}

/* The logarithm of exp(z) + exp(0). */
lam_tensor *lam__plane_softplus(lam_tensor *z) {
    uint64_t since = lam__scope_now(z);
    return lam__scope_only(sum_of_two(z, lam_zeros_like(z)), since);
}

/* By the definition, z tanh(softplus(z)). */
lam_tensor *lam__plane_mish(lam_tensor *z) {
    uint64_t since = lam__scope_now(z);
    return lam__scope_only(lam_mul(z, lam_tanh(lam__plane_softplus(z))), since);
}

/* The largest real part along the axes, which stay; 0 where it is no number, and where there is none. */
static lam_tensor *shift_of(lam_tensor *z, lam_axes axes) {
    lam_tensor *re = lam_stop_gradient(lam_real(z));
    const lam_reduce_options over = {.axes = axes, .keepdims = true};
    /* There is no maximum of none; sums of none are 0 in the dims that are wanted. */
    if (!lam_failed(z) && lam_size(z) == 0) return lam_sum(re, &over);
    lam_tensor *most = lam_max_reduce(re, &over);
    return lam_where(lam_is_finite(most), most, 0.0);
}

/* A result that is put together of a sum and a shift has the dims of the sum. */
lam_tensor *lam__plane_logsumexp(lam_tensor *z, const lam_reduce_options *options) {
    static const lam_reduce_options none;
    uint64_t since = lam__scope_now(z);
    if (!options) options = &none;
    lam_tensor *shift = shift_of(z, options->axes), *sum = lam_sum(lam_exp(lam_sub(z, shift)), options);
    lam_tensor *log = lam_log(sum);
    return lam__scope_only(lam_add(log, lam_reshape(shift, lam_dims_of(log))), since);
}

/* The shift changes no quotient; it keeps exponentials in the range. */
lam_tensor *lam__plane_softmax(lam_tensor *z, int axis) {
    uint64_t since = lam__scope_now(z);
    const lam_axes along = {1, &axis};
    lam_tensor *terms = lam_exp(lam_sub(z, shift_of(z, along)));
    lam_tensor *sum = lam_sum(terms, &(lam_reduce_options){.axes = along, .keepdims = true});
    return lam__scope_only(lam_div(terms, sum), since);
}

/* The axis stays in the sum, so that it is taken from all that it was made of. */
lam_tensor *lam__plane_log_softmax(lam_tensor *z, int axis) {
    uint64_t since = lam__scope_now(z);
    const lam_reduce_options over = {.axes = {1, &axis}, .keepdims = true};
    return lam__scope_only(lam_sub(z, lam__plane_logsumexp(z, &over)), since);
}

/* x times a logarithm that is taken of y or, with `plus`, of 1 + y: at x = 0 a pole counts nothing. Only the pole
 * itself: complex logarithms are finite elsewhere, also left of it. */
lam_tensor *lam__plane_xlogy(lam_tensor *x, lam_tensor *y, bool plus) {
    uint64_t since = lam__scope_now(x);
    const double pole = plus ? -1 : 0, safe = plus ? 0 : 1;
    lam_tensor *in[2] = {x, y}, *failed;
    if (!lam__matrices_operands(plus ? "xlog1py" : "xlogy", true, 2, in, in, &failed)) return failed;
    y = lam_where(lam_and(lam_eq(in[0], 0.0), lam_eq(in[1], pole)), safe, in[1]);
    return lam__scope_only(lam_mul(in[0], plus ? lam_log1p(y) : lam_log(y)), since);
}
