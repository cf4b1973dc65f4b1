/* Functions of complex numbers that are composed: logarithms of sums of exponentials and others that have a row for
 * real numbers only. Their rows are those of what they begin or end with, parts of complex numbers. */
#include "tests/primitives/cases_complex.h"

#include <math.h>

static const long double PI = 3.141592653589793238462643383279502884L, LOG_2 = 0.693147180559945309417232121458176568L;

/* clang-format off */
static number f_softplus(number z) { return clogl(1 + cexpl(z)); }
static number f_log_logistic(number z) { return -clogl(1 + cexpl(-z)); }
static number f_mish(number z) { return z * ctanhl(clogl(1 + cexpl(z))); }
static number f_sinc(number z) { return csinl(PI * z) / (PI * z); }
static number f_gelu_tanh(number z) { return z * (1 + ctanhl(sqrtl(2 / PI) * (z + 0.044715L * z * z * z))) / 2; }
static number f_logaddexp(number x, number y) { return clogl(cexpl(x) + cexpl(y)); }
static number f_logaddexp2(number x, number y) { return clogl(cexpl(LOG_2 * x) + cexpl(LOG_2 * y)) / LOG_2; }
static number f_xlogy(number x, number y) { return x * clogl(y); }
static number f_xlog1py(number x, number y) { return x * clogl(1 + y); }
/* clang-format on */

#define ONE_OF(lam, c) ROW(real, of_one, .unary = lam, .of_one = c, .composed = true)
#define TWO_OF(lam, c) ROW(complex, of_two, .binary = lam, .of_two = c, .composed = true)

const cases_row cases_principal[] = {
    ONE_OF(lam_softplus, f_softplus),
    ONE_OF(lam_log_logistic, f_log_logistic),
    ONE_OF(lam_mish, f_mish),
    ONE_OF(lam_sinc, f_sinc),
    ONE_OF(lam_gelu_tanh, f_gelu_tanh),
    TWO_OF((lam_logaddexp), f_logaddexp),
    TWO_OF((lam_logaddexp2), f_logaddexp2),
    TWO_OF((lam_xlogy), f_xlogy),
    TWO_OF((lam_xlog1py), f_xlog1py),
    {0},
};
