/* The counting primitive: see probe.h. */
#include "tests/dispatch/probe.h"

#include <lamina/lamina.h>

#include <string.h>

probe_counts probed;

static lam_status shape_probe(const lam_call_site *call, lam_shape out[]) {
    const lam_value *x = call->in[0];
    if (x->dtype != LAM_F64) return lam_rule_fail(call, LAM_ERR_DTYPE, "only f64 is probed");
    out[0].dtype = LAM_F64;
    out[0].rank = x->rank;
    for (int i = 0; i < x->rank; i++) out[0].dims[i] = x->dims[i];
    return LAM_OK;
}

static lam_status eval_probe(const lam_call_site *call, lam_value *const out[]) {
    probed.eval++;
    if (call->in[0]->contiguous) memcpy(out[0]->data, call->in[0]->data, (size_t)call->in[0]->count * sizeof(double));
    return call->in[0]->contiguous ? LAM_OK : lam_rule_fail(call, LAM_ERR_VALUE, "only contiguous memory is probed");
}

static void jvp_probe(const lam_rule *rule, lam_tensor *const dx[], lam_tensor *dout[]) {
    (void)rule;
    probed.jvp++;
    dout[0] = probe(dx[0]);
}

static void vjp_probe(const lam_rule *rule, lam_tensor *const g[], lam_tensor *gx[]) {
    (void)rule;
    probed.vjp++;
    gx[0] = g[0] ? probe(g[0]) : NULL;
}

static void batch_probe(const lam_rule *rule, lam_tensor *out[]) {
    probed.batch++;
    out[0] = probe(rule->in[0]);
}

static const lam_primitive row_probe = {
    .name = "probe",
    .inputs = 1,
    .derivative = LAM_GENERAL,
    .shape = shape_probe,
    .eval = eval_probe,
    .jvp = jvp_probe,
    .vjp = vjp_probe,
    .batch = batch_probe,
};

lam_tensor *probe(lam_tensor *x) {
    lam_tensor *out = NULL;
    lam_bind(lam_ctx_of(x), &row_probe, NULL, 0, (lam_list){1, &x}, &out, 1);
    return out;
}
