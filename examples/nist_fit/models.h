/* The models of the NIST data sets as Lamina functions of (parameters, one x), and the table of them.
 *
 * A formula is written for one observation, with the names of NIST's pages: b[1] is b1, x[1] is x (or x1), and all of
 * them are tensors of rank 0. How many observations there are, and which derivatives are wanted, is decided by the
 * transforms of curve.c and by nothing in here. */
#ifndef NIST_FIT_MODELS_H
#define NIST_FIT_MODELS_H

#include <lamina/lamina.h>

typedef lam_tensor *(*model_formula)(lam_tensor *const b[], lam_tensor *const x[]);

typedef struct model {
    const char *set; /* name of the data set that the model is for: "MGH09" */
    model_formula formula;
    int parameters, predictors; /* counts */
    bool has_log_response;      /* the formula gives log y */
} model;

/* The model of that data set, or NULL: there is none. Case matters. */
const model *model_of(const char *set);

/* Row `index` of the table, in alphabetical order; NULL behind the last one. */
const model *model_at(size_t index);

/* A lam_body of two inputs, parameters[p] and x[k], and one output of rank 0; env is a model. */
void model_body(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env);

#endif
