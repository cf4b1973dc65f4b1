/* One context per curve; each evaluation runs in a scope of its own, so memory stays the same from step to step.
 *
 * The model has one output of rank 0, so its Jacobian is a gradient and costs one sweep whatever the number of
 * parameters: lam_value_and_jacobian sees that by itself. */
#include "curve.h"

bool curve_open(curve *c, const model *row, int points, const double *x) {
    lam_ctx *ctx = lam_ctx_new(NULL);
    *c = (curve){.ctx = ctx, .points = points, .parameters = row->parameters};
    lam_fn *f = lam_fn_new(
        ctx, &(lam_fn_options){.name = row->set, .body = model_body, .inputs = 2, .outputs = 1, .env = (void *)row});
    const lam_vmap_options over_x = {.in_axes = LAM_AXES(LAM_UNMAPPED, 0)};
    c->values = lam_vmap(f, &over_x);
    c->jacobian = lam_vmap(lam_value_and_jacobian(f, NULL), &over_x);
    c->x = lam_array(ctx, LAM_F64, LAM_DIMS(points, row->predictors), x);
    return lam_status_of(ctx) == LAM_OK;
}

bool curve_evaluate(void *env, const double *b, double *f, double *jacobian) {
    curve *c = env;
    lam_scope *scope = lam_scope_begin(c->ctx);
    lam_tensor *out[2] = {NULL, NULL};
    lam_tensor *parameters = lam_array(c->ctx, LAM_F64, LAM_DIMS(c->parameters), b);
    size_t points = (size_t)c->points, outputs = jacobian ? 2 : 1;
    lam_call(jacobian ? c->jacobian : c->values, LAM_LIST(parameters, c->x), out, outputs);
    lam_status status = lam_read(out[0], f, points * sizeof(double));
    if (status == LAM_OK && jacobian)
        status = lam_read(out[1], jacobian, points * (size_t)c->parameters * sizeof(double));
    lam_scope_end(scope, NULL, 0);
    return status == LAM_OK;
}

const char *curve_error(const curve *c) {
    return lam_error(c->ctx);
}

void curve_close(curve *c) {
    lam_ctx_free(c->ctx);
}
