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
#include <string.h>

/* Shape parameters, loc and scale together; the variable comes beside them. */
enum { MOST_PARAMETERS = 5 };

/* One call: what a function of the variable needs. */
typedef struct variable {
    const lam__distribution *d;
    lam_tensor *x, *s[MOST_PARAMETERS]; /* as given; shape parameters */
    lam_tensor *loc, *scale;            /* NULL: 0, 1 */
    lam_tensor *possible;               /* where all shape parameters have values they may have; NULL: everywhere */
    uint64_t since;
} variable;

/* Three tables, each with holes where the numbers of the others are. */
static const lam__distribution *row_of(lam_distribution which) {
    const lam__distribution *d = lam__distributions_continuous(which);
    if (!d) d = lam__distributions_bounded(which);
    return d ? d : lam__distributions_discrete(which);
}

/* Where parameter i may have the value it has; NULL: anywhere. NaN may not. */
static lam_tensor *possible_at(const variable *v, int i) {
    lam_tensor *s = v->s[i];
    switch (v->d->shapes[i]) {
    case '+': return lam_gt(s, 0.0);
    case '0': return lam_ge(s, 0.0);
    case '1': return lam_and(lam_ge(s, 0.0), lam_le(s, 1.0));
    case 'p': return lam_and(lam_gt(s, 0.0), lam_le(s, 1.0));
    case 'c': return lam_and(lam_ge(s, 0.0), lam_lt(s, 1.0));
    case '>': return lam_gt(s, v->s[i - 1]);
    default: return NULL;
    }
}

/* The result, NaN where a parameter makes no distribution. It is chosen at the end, so that rows need not look at what
 * they are given. */
static lam_tensor *finished(const variable *v, lam_tensor *out) {
    return lam__scope_only(v->possible ? lam_where(v->possible, out, NAN) : out, v->since);
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
    /* Counts have a loc, but no scale. */
    const size_t shapes = strlen(v->d->shapes), most = shapes + (v->d->discrete ? 1 : 2), count = parameters.count;
    if (count < shapes || count > most || (count && !parameters.items)) {
        *failed = lam__axes_fail(operation, x, LAM_ERR_ARITY, "%s takes %zu to %zu parameters, not %zu", v->d->name,
                                 shapes, most, count);
        return false;
    }
    for (size_t i = 0; i < count; i++) all[i + 1] = parameters.items[i];
    if (!lam__matrices_operands(operation, true, count + 1, all, all, failed)) return false;
    if (lam__dtype_is_complex((int)lam_dtype_of(all[0]))) {
        *failed = lam__axes_fail_with(operation, x, LAM_ERR_DTYPE, "work on lam_real, lam_imag or lam_abs of it",
                                      "not defined for complex numbers");
        return false;
    }
    v->x = all[0];
    v->possible = NULL;
    for (size_t i = 0; i < shapes; i++) {
        v->s[i] = all[i + 1];
        lam_tensor *own = possible_at(v, (int)i);
        v->possible = v->possible && own ? lam_and(v->possible, own) : own ? own : v->possible;
    }
    v->loc = count > shapes ? all[shapes + 1] : NULL;
    v->scale = count > shapes + 1 ? all[shapes + 2] : NULL;
    /* A scale that is none makes all of z NaN, and so the result; a shape parameter that is none might leave a
     * number. */
    if (v->scale) v->scale = lam_where(lam_gt(v->scale, 0.0), v->scale, NAN);
    return true;
}

/* (x - loc)/scale. Without loc or scale nothing is recorded for them. */
static lam_tensor *standard(const variable *v) {
    lam_tensor *z = v->loc ? lam_sub(v->x, v->loc) : v->x;
    return v->scale ? lam_div(z, v->scale) : z;
}

/* z scale + loc */
static lam_tensor *from_standard(const variable *v, lam_tensor *z) {
    if (v->scale) z = lam_mul(z, v->scale);
    return v->loc ? lam_add(z, v->loc) : z;
}

/* The table in stats.h says which have which. */
static lam_tensor *none_of(const char *operation, const variable *v) {
    const char *remedy = v->d->cdf ? "lam_custom_root finds the x with lam_cdf(x) = q" : "integrate lam_pdf";
    return lam__axes_fail_with(operation, v->x, LAM_ERR_RULE, remedy, "%s has no such function", v->d->name);
}

/* Of the standardised variable z. dx is scale dz, so the density by x is over scale. */
static lam_tensor *logpdf(const variable *v, lam_tensor *z) {
    lam_tensor *density = v->d->logpdf(z, v->s);
    return v->scale ? lam_sub(density, lam_log(v->scale)) : density;
}

/* -inf outside the support. */
lam_tensor *lam_logpdf(lam_distribution which, lam_tensor *x, lam_list parameters) {
    variable v;
    lam_tensor *failed;
    if (!read("logpdf", which, x, parameters, &v, &failed)) return failed;
    return lam__scope_named(finished(&v, logpdf(&v, standard(&v))), v.since);
}

/* Where the logarithm is infinite at an end, its exponential has no slope: the row's product stands there, and what the
 * other of both sees in its place is 0.5, so that nothing of it is NaN. */
static lam_tensor *density(const variable *v) {
    const lam__distribution_ends *e = v->d->ends;
    lam_tensor *z = standard(v);
    if (!e) return lam_exp(logpdf(v, z));
    /* Two calls: one whose operand or parameter has the end replaced, one that sees nothing but ends. */
    variable inside = *v, at_end = *v;
    lam_tensor *x = e->of ? v->s[e->of - 1] : z, *end = lam_or(lam_eq(x, e->first), lam_eq(x, e->second));
    lam_tensor *near = lam_where(end, x, 0.5), *far = lam_where(end, 0.5, x);
    if (e->of) at_end.s[e->of - 1] = near, inside.s[e->of - 1] = far;
    lam_tensor *product = e->density(e->of ? z : near, at_end.s);
    if (v->scale) product = lam_div(product, v->scale);
    return lam_where(end, product, lam_exp(logpdf(&inside, e->of ? z : far)));
}

/* 0 outside the support, by the exponential or by the row's product. */
lam_tensor *lam_pdf(lam_distribution which, lam_tensor *x, lam_list parameters) {
    variable v;
    lam_tensor *failed;
    if (!read("pdf", which, x, parameters, &v, &failed)) return failed;
    return lam__scope_named(finished(&v, density(&v)), v.since);
}

/* cdf or sf. A row without it has no elementary one, as the table in stats.h says. */
static lam_tensor *share(const char *operation, const variable *v, lam__distribution_of *f) {
    return f ? finished(v, f(standard(v), v->s)) : none_of(operation, v);
}

/* The logarithm of a share p, where the rest is 1 - p: of what is near 1 by the rest, of what is deep in a tail by a
 * function of its own. Without one, where p is 0, which is outside the support or beyond the least number, the slope is
 * 0 as that of p is. */
static lam_tensor *log_share(const char *operation, const variable *v, lam__distribution_of *f,
                             lam__distribution_of *plain, lam__distribution_of *other, lam__distribution_tail *tail) {
    if (f || !plain) return share(operation, v, f);
    lam_tensor *z = standard(v), *p = plain(z, v->s), *rest = other(z, v->s);
    lam_tensor *none = tail ? lam_lt(p, lam__distributions_least(p)) : lam_eq(p, 0.0);
    lam_tensor *low = lam_lt(p, 0.5), *inside = lam_where(lam_and(low, lam_not(none)), p, 1.0);
    /* Up to 1/2 p has its own digits; above, those of the rest are what tells p from 1. */
    lam_tensor *out = lam_where(low, lam_log(inside), lam_log1p(lam_neg(lam_where(low, 0.0, rest))));
    return finished(v, tail ? lam_where(none, tail(none, z, v->s), out) : lam_where(none, -INFINITY, out));
}

/* 0 below the support and 1 above. */
lam_tensor *lam_cdf(lam_distribution which, lam_tensor *x, lam_list parameters) {
    variable v;
    lam_tensor *failed;
    if (!read("cdf", which, x, parameters, &v, &failed)) return failed;
    return lam__scope_named(share("cdf", &v, v.d->cdf), v.since);
}

/* Deep tails have their own form. */
lam_tensor *lam_logcdf(lam_distribution which, lam_tensor *x, lam_list parameters) {
    variable v;
    lam_tensor *failed;
    if (!read("logcdf", which, x, parameters, &v, &failed)) return failed;
    return lam__scope_named(log_share("logcdf", &v, v.d->logcdf, v.d->cdf, v.d->sf, v.d->low), v.since);
}

lam_tensor *lam_sf(lam_distribution which, lam_tensor *x, lam_list parameters) {
    variable v;
    lam_tensor *failed;
    if (!read("sf", which, x, parameters, &v, &failed)) return failed;
    return lam__scope_named(share("sf", &v, v.d->sf), v.since);
}

lam_tensor *lam_logsf(lam_distribution which, lam_tensor *x, lam_list parameters) {
    variable v;
    lam_tensor *failed;
    if (!read("logsf", which, x, parameters, &v, &failed)) return failed;
    return lam__scope_named(log_share("logsf", &v, v.d->logsf, v.d->sf, v.d->cdf, v.d->high), v.since);
}

/* Here x is a share, and is not standardised; what it is the quantile of is. */
lam_tensor *lam_ppf(lam_distribution which, lam_tensor *q, lam_list parameters) {
    variable v;
    lam_tensor *failed;
    if (!read("ppf", which, q, parameters, &v, &failed)) return failed;
    if (!v.d->ppf) return none_of("ppf", &v);
    return lam__scope_named(finished(&v, from_standard(&v, v.d->ppf(v.x, v.s))), v.since);
}

/* Where a distribution has none of its own, the quantile of the rest. */
lam_tensor *lam_isf(lam_distribution which, lam_tensor *q, lam_list parameters) {
    variable v;
    lam_tensor *failed;
    if (!read("isf", which, q, parameters, &v, &failed)) return failed;
    if (!v.d->ppf) return none_of("isf", &v);
    lam_tensor *z = v.d->isf ? v.d->isf(v.x, v.s) : v.d->ppf(lam_sub(1.0, v.x), v.s);
    return lam__scope_named(finished(&v, from_standard(&v, z)), v.since);
}
