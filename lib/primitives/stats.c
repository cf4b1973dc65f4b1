/* The functions of distributions: operands brought to one floating dtype, standardised, given to the row of the
 * distribution (distributions.c, _bounded.c, _discrete.c), and brought back. Rows say what they have; the rest is made
 * of it here. */
#include "lib/primitives/axes.h"
#include "lib/primitives/distributions.h"
#include "lib/primitives/matrices.h"
#include "lib/tensor/dtype.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

#include <math.h>

enum { MOST_PARAMETERS = 5 };

/* One call: what a function of the variable needs. */
typedef struct variable {
    const lam__distribution *d;
    lam_tensor *x, *s[MOST_PARAMETERS]; /* as given; shape parameters */
    lam_tensor *loc, *scale;            /* NULL: 0, 1 */
    uint64_t since;
} variable;

static const lam__distribution *row_of(lam_distribution which) {
    const lam__distribution *d = lam__distributions_continuous(which);
    if (!d) d = lam__distributions_bounded(which);
    return d ? d : lam__distributions_discrete(which);
}

/* False: *failed is the result. The operation is named after the function, the distribution in the message. */
static bool read(const char *operation, lam_distribution which, lam_tensor *x, lam_list parameters, variable *v,
                 lam_tensor **failed) {
    lam_tensor *all[MOST_PARAMETERS + 1] = {x};
    v->since = lam__scope_now(x);
    v->d = row_of(which);
    if (!v->d) {
        *failed = lam__axes_fail(operation, x, LAM_ERR_VALUE, "there is no distribution of the number %d", (int)which);
        return false;
    }
    const int shapes = v->d->shapes, most = shapes + (v->d->discrete ? 1 : 2), count = (int)parameters.count;
    if (count < shapes || count > most || (count && !parameters.items)) {
        *failed = lam__axes_fail(operation, x, LAM_ERR_ARITY, "%s takes %d to %d parameters, not %d", v->d->name,
                                 shapes, most, count);
        return false;
    }
    for (int i = 0; i < count; i++) all[i + 1] = parameters.items[i];
    if (!lam__matrices_operands(operation, true, (size_t)count + 1, all, all, failed)) return false;
    if (lam__dtype_is_complex((int)lam_dtype_of(all[0]))) {
        *failed = lam__axes_fail_with(operation, x, LAM_ERR_DTYPE, "work on lam_real, lam_imag or lam_abs of it",
                                      "not defined for complex numbers");
        return false;
    }
    v->x = all[0];
    for (int i = 0; i < shapes; i++) v->s[i] = all[i + 1];
    v->loc = count > shapes ? all[shapes + 1] : NULL;
    v->scale = count > shapes + 1 ? all[shapes + 2] : NULL;
    if (v->scale) v->scale = lam_where(lam_gt(v->scale, 0.0), v->scale, NAN);
    return true;
}

/* (x - loc)/scale */
static lam_tensor *standard(const variable *v) {
    lam_tensor *z = v->loc ? lam_sub(v->x, v->loc) : v->x;
    return v->scale ? lam_div(z, v->scale) : z;
}

static lam_tensor *from_standard(const variable *v, lam_tensor *z) {
    if (v->scale) z = lam_mul(z, v->scale);
    return v->loc ? lam_add(z, v->loc) : z;
}

static lam_tensor *none_of(const char *operation, const variable *v) {
    return lam__axes_fail(operation, v->x, LAM_ERR_RULE, "%s has no such function", v->d->name);
}

static lam_tensor *logpdf(const variable *v) {
    lam_tensor *density = v->d->logpdf(standard(v), v->s);
    return v->scale ? lam_sub(density, lam_log(v->scale)) : density;
}

lam_tensor *lam_logpdf(lam_distribution which, lam_tensor *x, lam_list parameters) {
    variable v;
    lam_tensor *failed;
    if (!read("logpdf", which, x, parameters, &v, &failed)) return failed;
    return lam__scope_only(logpdf(&v), v.since);
}

lam_tensor *lam_pdf(lam_distribution which, lam_tensor *x, lam_list parameters) {
    variable v;
    lam_tensor *failed;
    if (!read("pdf", which, x, parameters, &v, &failed)) return failed;
    return lam__scope_only(lam_exp(logpdf(&v)), v.since);
}

/* f at the standardised variable, or the logarithm of `plain` where there is no f. */
static lam_tensor *share(const char *operation, const variable *v, lam__distribution_of *f,
                         lam__distribution_of *plain) {
    if (f) return lam__scope_only(f(standard(v), v->s), v->since);
    if (!plain) return none_of(operation, v);
    return lam__scope_only(lam_log(plain(standard(v), v->s)), v->since);
}

lam_tensor *lam_cdf(lam_distribution which, lam_tensor *x, lam_list parameters) {
    variable v;
    lam_tensor *failed;
    return read("cdf", which, x, parameters, &v, &failed) ? share("cdf", &v, v.d->cdf, NULL) : failed;
}

lam_tensor *lam_logcdf(lam_distribution which, lam_tensor *x, lam_list parameters) {
    variable v;
    lam_tensor *failed;
    return read("logcdf", which, x, parameters, &v, &failed) ? share("logcdf", &v, v.d->logcdf, v.d->cdf) : failed;
}

lam_tensor *lam_sf(lam_distribution which, lam_tensor *x, lam_list parameters) {
    variable v;
    lam_tensor *failed;
    return read("sf", which, x, parameters, &v, &failed) ? share("sf", &v, v.d->sf, NULL) : failed;
}

lam_tensor *lam_logsf(lam_distribution which, lam_tensor *x, lam_list parameters) {
    variable v;
    lam_tensor *failed;
    return read("logsf", which, x, parameters, &v, &failed) ? share("logsf", &v, v.d->logsf, v.d->sf) : failed;
}

lam_tensor *lam_ppf(lam_distribution which, lam_tensor *q, lam_list parameters) {
    variable v;
    lam_tensor *failed;
    if (!read("ppf", which, q, parameters, &v, &failed)) return failed;
    if (!v.d->ppf) return none_of("ppf", &v);
    return lam__scope_only(from_standard(&v, v.d->ppf(v.x, v.s)), v.since);
}

lam_tensor *lam_isf(lam_distribution which, lam_tensor *q, lam_list parameters) {
    variable v;
    lam_tensor *failed;
    if (!read("isf", which, q, parameters, &v, &failed)) return failed;
    if (!v.d->ppf) return none_of("isf", &v);
    lam_tensor *z = v.d->isf ? v.d->isf(v.x, v.s) : v.d->ppf(lam_sub(1.0, v.x), v.s);
    return lam__scope_only(from_standard(&v, z), v.since);
}
