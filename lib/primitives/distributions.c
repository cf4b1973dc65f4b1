/* Distributions on the whole line: rows of stats.c. Each is written for the standardised variable. Tails are computed
 * as tails, never as differences from 1, and logarithms of them without the exponential where there is a form. */
#include "lib/primitives/distributions.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

#include <math.h>

#define ROOT_2PI_LOG 0.91893853320467274178 /* log(2 pi)/2 */
#define LOG_2        0.69314718055994530942
#define PI           3.14159265358979323846

/* 1/2 exp(-|z|), the smaller tail of Laplace's distribution, and the like: the side of z chooses. What is small on one
 * side of 0 is 1 less it on the other, so both functions of a symmetric distribution come of one tail. */
static lam_tensor *by_side(lam_tensor *z, lam_tensor *tail, bool upper) {
    return lam_where(upper ? lam_gt(z, 0.0) : lam_lt(z, 0.0), tail, lam_sub(1.0, tail));
}

/* log(1 + z^2/n), whose square would leave the range far out, where it is 2 log|z| - log n to all digits. */
static lam_tensor *log_of_rise(lam_tensor *z, lam_tensor *n) {
    /* From 1e9 on the 1 is lost in the rounding of z^2/n, which is 1e18 there. */
    lam_tensor *far = lam_gt(lam_abs(lam_div(z, lam_sqrt(n))), 1e9), *near = lam_where(far, 0.0, z);
    lam_tensor *beyond = lam_sub(lam_mul(2.0, lam_log(lam_abs(lam_where(far, z, 1.0)))), lam_log(n));
    return lam_where(far, beyond, lam_log1p(lam_div(lam_square(near), n)));
}

/* ---- normal ------------------------------------------------------------------------------------------------------ */

/* -z^2 / 2 - log(2 pi) / 2 */
static lam_tensor *norm_logpdf(lam_tensor *z, lam_tensor *const s[]) {
    (void)s;
    return lam_sub(lam_mul(-0.5, lam_square(z)), ROOT_2PI_LOG);
}

/* ndtr has the digits of a small share, so each tail is asked on the side where it is one. */
static lam_tensor *norm_cdf(lam_tensor *z, lam_tensor *const s[]) {
    (void)s;
    return lam_ndtr(z);
}

static lam_tensor *norm_sf(lam_tensor *z, lam_tensor *const s[]) {
    (void)s;
    return lam_ndtr(lam_neg(z));
}

/* In the tail, where the share is 0, it is a parabola. */
static lam_tensor *norm_logcdf(lam_tensor *z, lam_tensor *const s[]) {
    (void)s;
    return lam_log_ndtr(z);
}

static lam_tensor *norm_logsf(lam_tensor *z, lam_tensor *const s[]) {
    (void)s;
    return lam_log_ndtr(lam_neg(z));
}

static lam_tensor *norm_ppf(lam_tensor *q, lam_tensor *const s[]) {
    (void)s;
    return lam_ndtri(q);
}

/* By symmetry, with the digits of q. */
static lam_tensor *norm_isf(lam_tensor *q, lam_tensor *const s[]) {
    (void)s;
    return lam_neg(lam_ndtri(q));
}

/* ---- Laplace, logistic ------------------------------------------------------------------------------------------- */

/* exp(-|z|) / 2 */
static lam_tensor *laplace_logpdf(lam_tensor *z, lam_tensor *const s[]) {
    (void)s;
    return lam_neg(lam_add(lam_abs(z), LOG_2));
}

/* |z| as a line on each side: abs itself has the slope 0 where the two meet, which the distribution has not. */
static lam_tensor *distance(lam_tensor *z) {
    return lam_where(lam_lt(z, 0.0), lam_neg(z), z);
}

static lam_tensor *laplace_cdf(lam_tensor *z, lam_tensor *const s[]) {
    (void)s;
    return by_side(z, lam_mul(0.5, lam_exp(lam_neg(distance(z)))), false);
}

/* What lies above z lies below -z. So it is for all symmetric distributions here. */
static lam_tensor *laplace_sf(lam_tensor *z, lam_tensor *const s[]) {
    return laplace_cdf(lam_neg(z), s);
}

/* The logarithm of the tail is a line. */
static lam_tensor *laplace_logcdf(lam_tensor *z, lam_tensor *const s[]) {
    (void)s;
    lam_tensor *size = distance(z), *rest = lam_log1p(lam_mul(-0.5, lam_exp(lam_neg(size))));
    return lam_where(lam_lt(z, 0.0), lam_neg(lam_add(size, LOG_2)), rest);
}

static lam_tensor *laplace_logsf(lam_tensor *z, lam_tensor *const s[]) {
    return laplace_logcdf(lam_neg(z), s);
}

/* The tail of q turned round: log(2 q) below the middle, and its mirror image above. */
static lam_tensor *laplace_ppf(lam_tensor *q, lam_tensor *const s[]) {
    (void)s;
    lam_tensor *low = lam_lt(q, 0.5), *tail = lam_where(low, q, lam_sub(1.0, q)), *l = lam_log(lam_mul(2.0, tail));
    return lam_where(low, l, lam_neg(l));
}

static lam_tensor *laplace_isf(lam_tensor *q, lam_tensor *const s[]) {
    return lam_neg(laplace_ppf(q, s));
}

/* The derivative of the logistic function l is l (1 - l). */
static lam_tensor *logistic_logpdf(lam_tensor *z, lam_tensor *const s[]) {
    (void)s;
    return lam_add(lam_log_logistic(z), lam_log_logistic(lam_neg(z)));
}

/* The share itself is the logistic function, and its logarithm has a row of its own. */
static lam_tensor *logistic_cdf(lam_tensor *z, lam_tensor *const s[]) {
    (void)s;
    return lam_logistic(z);
}

/* By symmetry, as 1 - l would round. */
static lam_tensor *logistic_sf(lam_tensor *z, lam_tensor *const s[]) {
    (void)s;
    return lam_logistic(lam_neg(z));
}

static lam_tensor *logistic_logcdf(lam_tensor *z, lam_tensor *const s[]) {
    (void)s;
    return lam_log_logistic(z);
}

static lam_tensor *logistic_logsf(lam_tensor *z, lam_tensor *const s[]) {
    (void)s;
    return lam_log_logistic(lam_neg(z));
}

static lam_tensor *logistic_ppf(lam_tensor *q, lam_tensor *const s[]) {
    (void)s;
    return lam_logit(q);
}

static lam_tensor *logistic_isf(lam_tensor *q, lam_tensor *const s[]) {
    (void)s;
    return lam_neg(lam_logit(q));
}

/* ---- Cauchy, Gumbel ---------------------------------------------------------------------------------------------- */

/* 1 / (pi (1 + z^2)) */
static lam_tensor *cauchy_logpdf(lam_tensor *z, lam_tensor *const s[]) {
    (void)s;
    lam_tensor *one = lam_cast(lam_scalar(lam_ctx_of(z), 1), lam_dtype_of(z));
    return lam_neg(lam_add(log_of_rise(z, one), 1.14472988584940017414)); /* log(pi) */
}

/* The angle from the left, which is small in the left tail: 1/2 + atan(z)/pi would cancel there. So is the other one
 * from the right. */
static lam_tensor *cauchy_cdf(lam_tensor *z, lam_tensor *const s[]) {
    (void)s;
    return lam_div(lam_atan2(1.0, lam_neg(z)), PI);
}

/* The same angle without the sign. */
static lam_tensor *cauchy_sf(lam_tensor *z, lam_tensor *const s[]) {
    (void)s;
    return lam_div(lam_atan2(1.0, z), PI);
}

/* tan(pi (q - 1/2)), next to an end by the cotangent of the distance from it. */
static lam_tensor *cauchy_ppf(lam_tensor *q, lam_tensor *const s[]) {
    (void)s;
    q = lam_where(lam_or(lam_lt(q, 0.0), lam_gt(q, 1.0)), NAN, q);
    lam_tensor *low = lam_lt(q, 0.25), *high = lam_gt(q, 0.75);
    lam_tensor *end = lam_where(low, q, lam_where(high, lam_sub(1.0, q), 0.25));
    lam_tensor *far = lam_reciprocal(lam_tan(lam_mul(PI, end)));
    lam_tensor *near = lam_tan(lam_mul(PI, lam_sub(lam_where(lam_or(low, high), 0.5, q), 0.5)));
    return lam_where(low, lam_neg(far), lam_where(high, far, near));
}

static lam_tensor *cauchy_isf(lam_tensor *q, lam_tensor *const s[]) {
    return lam_neg(cauchy_ppf(q, s));
}

/* exp(-z - exp(-z)), of whose integral exp(-exp(-z)) the logarithm is the simple one. */
static lam_tensor *gumbel_r_logpdf(lam_tensor *z, lam_tensor *const s[]) {
    (void)s;
    return lam_neg(lam_add(z, lam_exp(lam_neg(z))));
}

static lam_tensor *gumbel_r_logcdf(lam_tensor *z, lam_tensor *const s[]) {
    (void)s;
    return lam_neg(lam_exp(lam_neg(z)));
}

/* Below -80 both shares are what they are at -80, with slopes of 0: those of an infinite exponential would be NaN. */
static lam_tensor *gumbel_r_cdf(lam_tensor *z, lam_tensor *const s[]) {
    return lam_exp(gumbel_r_logcdf(lam_max(z, -80.0), s));
}

/* 1 - exp(-exp(-z)): far to the right a small number, which expm1 keeps. */
static lam_tensor *gumbel_r_sf(lam_tensor *z, lam_tensor *const s[]) {
    return lam_neg(lam_expm1(gumbel_r_logcdf(lam_max(z, -80.0), s)));
}

/* log(1/q) by log_ratio: minus log(q) would be a negative zero at q = 1, where the slope is its reciprocal. */
static lam_tensor *gumbel_r_ppf(lam_tensor *q, lam_tensor *const s[]) {
    (void)s;
    return lam_neg(lam_log(lam_log_ratio(lam_ones_like(q), q)));
}

/* -log(-log(1 - q)); log1p keeps a small q. */
static lam_tensor *gumbel_r_isf(lam_tensor *q, lam_tensor *const s[]) {
    (void)s;
    return lam_neg(lam_log(lam_neg(lam_log1p(lam_neg(q)))));
}

/* The mirror image. */
static lam_tensor *gumbel_l_logpdf(lam_tensor *z, lam_tensor *const s[]) {
    return gumbel_r_logpdf(lam_neg(z), s);
}

/* What lies below z in the mirror image lies above -z here. */
static lam_tensor *gumbel_l_cdf(lam_tensor *z, lam_tensor *const s[]) {
    return gumbel_r_sf(lam_neg(z), s);
}

static lam_tensor *gumbel_l_sf(lam_tensor *z, lam_tensor *const s[]) {
    return gumbel_r_cdf(lam_neg(z), s);
}

static lam_tensor *gumbel_l_logsf(lam_tensor *z, lam_tensor *const s[]) {
    return gumbel_r_logcdf(lam_neg(z), s);
}

static lam_tensor *gumbel_l_ppf(lam_tensor *q, lam_tensor *const s[]) {
    return lam_neg(gumbel_r_isf(q, s));
}

static lam_tensor *gumbel_l_isf(lam_tensor *q, lam_tensor *const s[]) {
    return lam_neg(gumbel_r_ppf(q, s));
}

/* ---- Student's t, generalised normal ----------------------------------------------------------------------------- */

/* 1/(sqrt(n) B(n/2, 1/2)) (1 + z^2/n)^(-(n + 1)/2) */
static lam_tensor *t_logpdf(lam_tensor *z, lam_tensor *const s[]) {
    lam_tensor *half = lam_mul(0.5, s[0]), *rise = lam_mul(lam_add(half, 0.5), log_of_rise(z, s[0]));
    lam_tensor *unit = lam_add(lam_betaln(half, 0.5), lam_mul(0.5, lam_log(s[0])));
    return lam_neg(lam_add(rise, unit));
}

enum { MIDDLE_TERMS = 6 }; /* of the series below: the first that is left out is less than 1e-12/9360 */
#define MIDDLE_REACH 0.01  /* of the factor from one term to the next */

/* The integral of (1 + z^2/n)^-b from 0 to z, for b = (n + 1)/2 and small z: z times the sum of (b)_k (-u)^k /
 * (k! (2 k + 1)) for u = z^2/n. */
static lam_tensor *t_middle(lam_tensor *z, lam_tensor *u, lam_tensor *b) {
    lam_tensor *sum = lam_full_like(u, 1.0 / (2 * MIDDLE_TERMS - 1));
    for (int k = MIDDLE_TERMS - 1; k > 0; k--) /* the tail of the sum over its first factor, term by term inwards */
        sum = lam_sub(1.0 / (2 * k - 1), lam_mul(lam_mul(u, lam_div(lam_add(b, k - 1), k)), sum));
    return lam_mul(z, sum);
}

/* The tail is I(n/2, 1/2) at n/(n + z^2), halved, which is 1 - I(1/2, n/2) at z^2/(n + z^2): of the two arguments the
 * one below 1/2 has all its digits, and the tail keeps them either way. About z = 0, where derivatives are made of
 * powers of z that are infinite there, the series; nothing at infinity. */
static lam_tensor *t_tail(lam_tensor *z, lam_tensor *const s[], bool upper) {
    lam_tensor *size = lam_abs(z), *end = lam_eq(size, INFINITY), *b = lam_mul(0.5, lam_add(s[0], 1.0));
    lam_tensor *half = lam_mul(0.5, s[0]), *root = lam_sqrt(s[0]), *is_near = lam_lt(size, root);
    lam_tensor *u = lam_square(lam_div(lam_where(is_near, z, 0.0), root));
    lam_tensor *is_middle = lam_and(is_near, lam_lt(lam_mul(u, lam_add(b, MIDDLE_TERMS)), MIDDLE_REACH));
    lam_tensor *inner = lam_where(lam_or(is_middle, end), root, size);
    lam_tensor *ratio = lam_div(lam_where(is_near, inner, root), lam_where(is_near, root, inner));
    lam_tensor *square = lam_square(ratio), *share = lam_div(square, lam_add(square, 1.0));
    lam_tensor *near = lam_betaincc(lam_full_like(half, 0.5), lam_where(is_near, half, 1.0), share);
    lam_tensor *far = lam_betainc(lam_where(is_near, 1.0, half), lam_full_like(half, 0.5), share);
    lam_tensor *density = lam_exp(t_logpdf(lam_full_like(z, 0), s)), *zero = lam_full_like(z, 0);
    lam_tensor *part = t_middle(lam_where(is_middle, z, zero), lam_where(is_middle, u, zero), b);
    lam_tensor *middle = lam_add(lam_mul(upper ? lam_neg(part) : part, density), 0.5);
    lam_tensor *tail = lam_where(end, 0.0, lam_mul(0.5, lam_where(is_near, near, far)));
    return lam_where(is_middle, middle, by_side(z, tail, upper));
}

static lam_tensor *t_cdf(lam_tensor *z, lam_tensor *const s[]) {
    return t_tail(z, s, false);
}

static lam_tensor *t_sf(lam_tensor *z, lam_tensor *const s[]) {
    return t_tail(z, s, true);
}

/* With a beta variable x of n/2 twice it is sqrt(n) (x - 1/2) / sqrt(x (1 - x)). The variable is odd about 1/2, so the
 * middle is exact, and both tails keep their digits. */
static lam_tensor *t_quantile(lam_tensor *q, lam_tensor *const s[], bool upper) {
    lam_tensor *half = lam_mul(0.5, s[0]);
    return lam_mul(lam_sqrt(s[0]), lam__distributions_odd_beta(upper, half, half, q));
}

static lam_tensor *t_ppf(lam_tensor *q, lam_tensor *const s[]) {
    return t_quantile(q, s, false);
}

static lam_tensor *t_isf(lam_tensor *q, lam_tensor *const s[]) {
    return t_quantile(q, s, true);
}

/* |z|^p by the power of a line on each side, whose derivatives at 0 are those of both: abs has none beyond the first.
 * Up to p = 1 they meet in a cusp, where the slope is 0 as that of abs. */
static lam_tensor *gennorm_logpdf(lam_tensor *z, lam_tensor *const s[]) {
    lam_tensor *unit = lam_sub(lam_log(lam_mul(0.5, s[0])), lam_lgamma(lam_reciprocal(s[0])));
    lam_tensor *cusp = lam_and(lam_eq(z, 0.0), lam_le(s[0], 1.0)), *size = lam_where(cusp, 1.0, distance(z));
    return lam_sub(unit, lam_where(cusp, 0.0, lam_pow(size, s[0])));
}

/* The share between 0 and z for small w = |z|^p, signed: z/(2 Gamma(a)) times the sum of (-w)^k / (k! (a + k)) for
 * a = 1/p. */
static lam_tensor *gennorm_middle(lam_tensor *z, lam_tensor *w, lam_tensor *a) {
    lam_tensor *sum = lam_reciprocal(lam_add(a, MIDDLE_TERMS));
    for (int k = MIDDLE_TERMS; k > 0; k--)
        sum = lam_sub(lam_reciprocal(lam_add(a, k - 1)), lam_mul(lam_mul(w, 1.0 / k), sum));
    return lam_mul(lam_mul(0.5, z), lam_mul(sum, lam_exp(lam_neg(lam_lgamma(a)))));
}

/* The tail is that of a gamma variable, halved. About z = 0, where derivatives are made of infinite powers of z that
 * cancel, the series: its powers of |z| are constants at 0, but for the square, which is smooth. */
static lam_tensor *gennorm_share(lam_tensor *z, lam_tensor *const s[], bool upper) {
    lam_tensor *a = lam_reciprocal(s[0]), *smooth = lam_eq(s[0], 2.0), *zero = lam_eq(z, 0.0);
    lam_tensor *power = lam_pow(lam_where(zero, 1.0, lam_abs(z)), s[0]);
    lam_tensor *w = lam_where(smooth, lam_square(z), lam_where(zero, 0.0, power));
    lam_tensor *is_middle = lam_lt(w, MIDDLE_REACH), *part = gennorm_middle(z, lam_where(is_middle, w, 0.0), a);
    lam_tensor *middle = lam_add(0.5, upper ? lam_neg(part) : part);
    lam_tensor *tail = lam_mul(0.5, lam_igammac(a, lam_where(is_middle, 1.0, w)));
    return lam_where(is_middle, middle, by_side(z, tail, upper));
}

static lam_tensor *gennorm_cdf(lam_tensor *z, lam_tensor *const s[]) {
    return gennorm_share(z, s, false);
}

static lam_tensor *gennorm_sf(lam_tensor *z, lam_tensor *const s[]) {
    return gennorm_share(z, s, true);
}

/* The tail again. In the very middle, where the power of a gamma variable that is 0 has no derivative, the line. Its
 * slope is minus one over the density there, 1 / (2 Gamma(1 + a)). */
static lam_tensor *gennorm_tail(lam_tensor *q, lam_tensor *const s[]) {
    lam_tensor *a = lam_reciprocal(s[0]), *middle = lam_eq(q, 0.5), *below = lam_le(q, 0.5);
    lam_tensor *twice = lam_mul(2.0, lam_where(below, q, lam_sub(1.0, q)));
    lam_tensor *size = lam_pow(lam_igammac_inv(a, lam_where(middle, 0.5, twice)), a);
    lam_tensor *line = lam_mul(lam_sub(1.0, lam_mul(2.0, q)), lam_gamma(lam_add(a, 1.0)));
    return lam_where(middle, line, lam_where(below, size, lam_neg(size)));
}

static lam_tensor *gennorm_ppf(lam_tensor *q, lam_tensor *const s[]) {
    return lam_neg(gennorm_tail(q, s));
}

static lam_tensor *gennorm_isf(lam_tensor *q, lam_tensor *const s[]) {
    return gennorm_tail(q, s);
}

/* ---- on the circle ----------------------------------------------------------------------------------------------- */

/* exp(k cos z) / (2 pi I_0(k)), where the largest exponent is taken out of both. */
static lam_tensor *vonmises_logpdf(lam_tensor *z, lam_tensor *const s[]) {
    lam_tensor *rise = lam_mul(-2.0, lam_square(lam_sin(lam_mul(0.5, z))));
    return lam_sub(lam_mul(s[0], rise), lam_add(lam_log(lam_i0e(s[0])), 2 * ROOT_2PI_LOG));
}

/* Steps with derivatives each square what is missing: from a constant they give derivatives up to order 7. */
enum { NODES = 32, SEARCHES = 7, STEPS = 3 };

/* Gauss's rule on [0, 1]: where there is a value, and what it counts for. */
static const double nodes[NODES] = {
    0.001368069075259215, 0.007194244227365809, 0.017618872206246805, 0.03254696203113017, 0.051839422116973954,
    0.07531619313371501,  0.10275810201602881,  0.13390894062985514,  0.16847786653489238, 0.20614212137961885,
    0.24655004553388532,  0.28932436193468236,  0.33406569885893617,  0.38035631887393145, 0.42776401920860174,
    0.4758461671561308,   0.5241538328438692,   0.5722359807913983,   0.6196436811260685,  0.6659343011410639,
    0.7106756380653176,   0.7534499544661146,   0.7938578786203812,   0.8315221334651076,  0.8660910593701449,
    0.8972418979839711,   0.924683806866285,    0.948160577883026,    0.9674530379688698,  0.9823811277937532,
    0.9928057557726342,   0.9986319309247408};
static const double weights[NODES] = {
    0.003509305004735253, 0.008137197365452872, 0.012696032654631012, 0.017136931456510882, 0.021417949011113418,
    0.025499029631188046, 0.029342046739267783, 0.03291111138818084,  0.03617289705442417,  0.039096947893535114,
    0.041655962113473353, 0.04382604650220189,  0.04558693934788189,  0.046922199540402255, 0.047819360039637354,
    0.04827004425736383,  0.04827004425736383,  0.047819360039637354, 0.046922199540402255, 0.04558693934788189,
    0.04382604650220189,  0.041655962113473353, 0.039096947893535114, 0.03617289705442417,  0.03291111138818084,
    0.029342046739267783, 0.025499029631188046, 0.021417949011113418, 0.017136931456510882, 0.012696032654631012,
    0.008137197365452872, 0.003509305004735253};

/* f64 constants in the dtype of the call. */
static lam_tensor *of_nodes(const double values[], lam_tensor *like) {
    return lam_cast(lam_array(lam_ctx_of(like), LAM_F64, LAM_DIMS(NODES), values), lam_dtype_of(like));
}

static lam_tensor *vonmises_density(lam_tensor *z, lam_tensor *k) {
    return lam_exp(vonmises_logpdf(z, (lam_tensor *[]){k}));
}

/* The share between z and half a turn, for z from 0 to there: the density over its value at 0, as far as it is at least
 * exp(-40) of that at z, where Gauss's rule has all digits. No derivative goes through how far that is. */
static lam_tensor *vonmises_beyond(lam_tensor *z, lam_tensor *k) {
    /* 20/k more of sin^2 are 40 less in the exponent; up to k = 20 that reaches to half a turn. */
    lam_tensor *square = lam_add(lam_square(lam_sin(lam_mul(0.5, z))), lam_div(20.0, lam_max(k, 20.0)));
    lam_tensor *far = lam_mul(2.0, lam_asin(lam_sqrt(lam_min(square, 1.0)))),
               *width = lam_sub(lam_stop_gradient(far), z);
    lam_tensor *t = lam_add(lam_expand_dims(z, -1), lam_mul(lam_expand_dims(width, -1), of_nodes(nodes, z)));
    lam_tensor *fall = lam_mul(lam_mul(-2.0, lam_expand_dims(k, -1)), lam_square(lam_sin(lam_mul(0.5, t))));
    lam_tensor *mean = lam_matmul(lam_exp(fall), of_nodes(weights, z));
    return lam_div(lam_mul(mean, width), lam_mul(2 * PI, lam_i0e(k)));
}

static lam_tensor *vonmises_cdf(lam_tensor *z, lam_tensor *const s[]) {
    /* Beyond half a turn on either side nothing is left, so z is put at 0 before the integral sees it. */
    lam_tensor *below = lam_lt(z, -PI), *above = lam_gt(z, PI), *left = lam_lt(z, 0.0);
    lam_tensor *size = lam_where(left, lam_neg(z), z);
    lam_tensor *tail = vonmises_beyond(lam_where(lam_or(below, above), 0.0, size), s[0]);
    return lam_where(below, 0.0, lam_where(above, 1.0, lam_where(left, tail, lam_sub(1.0, tail))));
}

static lam_tensor *vonmises_sf(lam_tensor *z, lam_tensor *const s[]) {
    return vonmises_cdf(lam_neg(z), s);
}

/* One step towards the z beyond which p lies, held between low and high: Newton's for the share where that is nearly
 * straight, as it is towards half a turn, and for its logarithm in a tail; halving where it leads astray. */
static lam_tensor *vonmises_search(lam_tensor *z, lam_tensor *p, lam_tensor *k, lam_tensor **low, lam_tensor **high) {
    lam_tensor *t = vonmises_beyond(z, k), *f = vonmises_density(z, k), *more = lam_gt(t, p);
    *low = lam_where(more, z, *low);
    *high = lam_where(more, *high, z);
    /* Next to half a turn the share is about the density times what is left of the arc. */
    lam_tensor *straight = lam_ge(t, lam_mul(0.7, lam_mul(f, lam_sub(PI, z))));
    lam_tensor *by_log = lam_mul(t, lam_log(lam_div(t, p))), *step = lam_where(straight, lam_sub(t, p), by_log);
    lam_tensor *next = lam_add(z, lam_div(step, f)), *middle = lam_mul(0.5, lam_add(*low, *high));
    return lam_where(lam_and(lam_ge(next, *low), lam_le(next, *high)), next, middle);
}

/* The z beyond which p lies, up to 1/2: searched for without derivatives from that of the normal distribution, or of
 * even shares, and then by steps of Newton with them, each of which makes twice as many orders right. */
static lam_tensor *vonmises_place(lam_tensor *p, lam_tensor *k) {
    lam_tensor *q = lam_stop_gradient(p), *c = lam_stop_gradient(k), *low = lam_zeros_like(q),
               *high = lam_full_like(q, PI);
    /* Of a large k the variable 2 sqrt(k) sin(z/2) is nearly normal. */
    lam_tensor *bell = lam_div(lam_neg(lam_ndtri(q)), lam_mul(2.0, lam_sqrt(lam_max(c, 1.0))));
    lam_tensor *arc = lam_mul(2.0, lam_asin(lam_min(bell, 1.0))), *even = lam_mul(PI, lam_sub(1.0, lam_mul(2.0, q)));
    lam_tensor *z = lam_where(lam_gt(c, 1.0), arc, even);
    for (int i = 0; i < SEARCHES; i++) z = vonmises_search(z, q, c, &low, &high);
    z = lam_stop_gradient(z);
    for (int i = 0; i < STEPS; i++) z = lam_add(z, lam_div(lam_sub(vonmises_beyond(z, k), p), vonmises_density(z, k)));
    return z;
}

/* By the smaller of q and 1 - q, whose digits it has, and the sign of the side. */
static lam_tensor *vonmises_ppf(lam_tensor *q, lam_tensor *const s[]) {
    lam_tensor *left = lam_le(q, 0.5), *inside = lam_and(lam_ge(q, 0.0), lam_le(q, 1.0));
    lam_tensor *z = vonmises_place(lam_where(left, q, lam_sub(1.0, q)), s[0]);
    return lam_where(inside, lam_where(left, lam_neg(z), z), NAN);
}

static lam_tensor *vonmises_isf(lam_tensor *q, lam_tensor *const s[]) {
    return lam_neg(vonmises_ppf(q, s));
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* clang-format off */
static const lam__distribution rows[] = {
    [LAM_NORM] = {"norm", "", false, norm_logpdf, norm_cdf, norm_sf, norm_logcdf, norm_logsf, norm_ppf, norm_isf,
                  NULL, NULL, NULL},
    [LAM_LAPLACE] = {"laplace", "", false, laplace_logpdf, laplace_cdf, laplace_sf, laplace_logcdf,
                     laplace_logsf, laplace_ppf, laplace_isf, NULL, NULL, NULL},
    [LAM_LOGISTIC] = {"logistic", "", false, logistic_logpdf, logistic_cdf, logistic_sf, logistic_logcdf,
                      logistic_logsf, logistic_ppf, logistic_isf, NULL, NULL, NULL},
    [LAM_CAUCHY] = {"cauchy", "", false, cauchy_logpdf, cauchy_cdf, cauchy_sf, NULL, NULL, cauchy_ppf, cauchy_isf,
                    NULL, NULL, NULL},
    [LAM_GUMBEL_R] = {"gumbel_r", "", false, gumbel_r_logpdf, gumbel_r_cdf, gumbel_r_sf, gumbel_r_logcdf, NULL,
                      gumbel_r_ppf, gumbel_r_isf, NULL, NULL, NULL},
    [LAM_GUMBEL_L] = {"gumbel_l", "", false, gumbel_l_logpdf, gumbel_l_cdf, gumbel_l_sf, NULL, gumbel_l_logsf,
                      gumbel_l_ppf, gumbel_l_isf, NULL, NULL, NULL},
    [LAM_T] = {"t", "+", false, t_logpdf, t_cdf, t_sf, NULL, NULL, t_ppf, t_isf, NULL, NULL, NULL},
    [LAM_GENNORM] = {"gennorm", "+", false, gennorm_logpdf, gennorm_cdf, gennorm_sf, NULL, NULL, gennorm_ppf,
                     gennorm_isf, NULL, NULL, NULL},
    [LAM_VONMISES] = {"vonmises", "0", false, vonmises_logpdf, vonmises_cdf, vonmises_sf, NULL, NULL, vonmises_ppf,
                      vonmises_isf, NULL, NULL, NULL},
};
/* clang-format on */

const lam__distribution *lam__distributions_continuous(lam_distribution which) {
    return (size_t)which < sizeof rows / sizeof *rows && rows[which].name ? &rows[which] : NULL;
}
