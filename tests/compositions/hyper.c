/* Numbers with nilpotent units: see hyper.h. Functions use their Taylor series about the real part, which ends with the
 * power UNITS since every further power of the rest is zero. */
#include "tests/compositions/hyper.h"

#include <math.h>

hyper hyper_number(long double v) {
    hyper x = {{v}};
    return x;
}

hyper hyper_add(hyper x, hyper y) {
    for (int s = 0; s < SETS; s++) x.at[s] += y.at[s];
    return x;
}

hyper hyper_scale(long double factor, hyper x) {
    for (int s = 0; s < SETS; s++) x.at[s] *= factor;
    return x;
}

/* Each set is split in all ways between the factors. */
hyper hyper_mul(hyper x, hyper y) {
    hyper out;
    for (int s = 0; s < SETS; s++) {
        out.at[s] = 0;
        for (int part = s;; part = (part - 1) & s) {
            out.at[s] += x.at[part] * y.at[s & ~part];
            if (!part) break;
        }
    }
    return out;
}

hyper hyper_part(hyper x, int k) {
    hyper out;
    for (int s = 0; s < SETS; s++) out.at[s] = s >> k & 1 ? 0 : x.at[s | 1 << k];
    return out;
}

/* The series with coefficients c about the real part of x (Horner). */
static hyper series(hyper x, const long double c[UNITS + 1]) {
    hyper rest = x, sum = hyper_number(c[UNITS]);
    rest.at[0] = 0;
    for (int n = UNITS - 1; n >= 0; n--) sum = hyper_add(hyper_number(c[n]), hyper_mul(sum, rest));
    return sum;
}

hyper hyper_reciprocal(hyper x) {
    long double c[UNITS + 1] = {1 / x.at[0]};
    for (int n = 1; n <= UNITS; n++) c[n] = -c[n - 1] / x.at[0];
    return series(x, c);
}

hyper hyper_exp(hyper x) {
    long double c[UNITS + 1] = {expl(x.at[0])};
    for (int n = 1; n <= UNITS; n++) c[n] = c[n - 1] / n;
    return series(x, c);
}

hyper hyper_sin(hyper x) {
    long double c[UNITS + 1] = {sinl(x.at[0]), cosl(x.at[0])};
    for (int n = 2; n <= UNITS; n++) c[n] = -c[n - 2] / (n * (n - 1));
    return series(x, c);
}

hyper hyper_log(hyper x) {
    long double c[UNITS + 1] = {logl(x.at[0])}, power = 1;
    for (int n = 1; n <= UNITS; n++) {
        power /= x.at[0];
        c[n] = (n % 2 ? power : -power) / n;
    }
    return series(x, c);
}
