/* Functions of complex numbers that C lacks, as arrays of their parts (cases_complex.c). References: power series and
 * Stirling's formula far to the right. */
#include "tests/primitives/cases.h"

#include "lib/base/scope.h"

#include <complex.h>
#include <math.h>
#undef I

typedef long double _Complex number;

typedef struct cases_plane {
    lam_tensor *(*call)(lam_tensor *);
    number (*reference)(number);
} plane_function;

static void call_plane(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    const plane_function *p = u->row->more;
    const bool fine = lam__scope_peek(in[0]) != NULL;
    lam_tensor *z = p->call(fine ? lam_complex(lam_index(in[0], -1, 0), lam_index(in[0], -1, 1)) : in[0]);
    out[0] = fine ? lam_stack(LAM_LIST(lam_real(z), lam_imag(z)), -1) : z;
}

static void reference_plane(const cases_use *u, const array in[], array out[]) {
    const plane_function *p = u->row->more;
    array_like(out, in);
    for (int64_t i = 0; i < in->count / 2; i++) {
        number z;
        __real__ z = in->data[2 * i];
        __imag__ z = in->data[2 * i + 1];
        z = p->reference(z);
        out->data[2 * i] = creall(z);
        out->data[2 * i + 1] = cimagl(z);
    }
}

/* The sum of (i z)^n / Gamma(n / 2 + 1), for |z| up to 3. */
static number wofz(number z) {
    number sum = 0, power = 1, turned;
    __real__ turned = -cimagl(z);
    __imag__ turned = creall(z);
    for (int n = 0; n < 150; n++) {
        sum += power / tgammal(n / 2.0L + 1);
        power *= turned;
    }
    return sum;
}

/* How far a number is moved to the right, where six terms of Stirling's series have all digits. */
enum { AWAY = 30 };

static number loggamma(number z) {
    const number far = z + AWAY, inverse = 1 / far, square = inverse * inverse;
    number series = 1.0L / 1680 - square * (1.0L / 1188 - square * 691 / 360360);
    series = inverse * (1.0L / 12 - square * (1.0L / 360 - square * (1.0L / 1260 - square * series)));
    number sum = (far - 0.5L) * clogl(far) - far + 0.918938533204672741780329736405617639861L + series;
    for (int k = 0; k < AWAY; k++) sum -= clogl(z + k);
    return sum;
}

static const cases_form parts[] = {{"[3,2]", {0}}, {"[2,2,2]", {0}}, {"[0,2]", {0}}, CASES_END};

#define PLANE(name_, function, of)                                                                                     \
    {                                                                                                                  \
        .name = #name_, .call = call_plane, .reference = reference_plane, .forms = parts, .least_rank = 1,             \
        .normwise = true, .ulps = 16, .domain = {{0.3, 2}}, .more = &(const plane_function) {                          \
            function, of                                                                                               \
        }                                                                                                              \
    }

const cases_row cases_plane[] = {
    PLANE(wofz, lam_wofz, wofz),
    PLANE(loggamma, lam_loggamma, loggamma),
    {.name = NULL},
};
