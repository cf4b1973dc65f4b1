/* Primitives that call functions. The function is x y sin(x) + y^2, so that no derivative of it vanishes. */
#include "tests/primitives/cases.h"

#include <math.h>

static void product(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    (void)ctx, (void)env;
    out[0] = lam_add(lam_mul(lam_mul(in[0], in[1]), lam_sin(in[0])), lam_square(in[1]));
}

static void call_checkpoint(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    lam_ctx *ctx = lam_ctx_of(in[0] ? in[0] : in[1]);
    lam_fn *f = lam_fn_new(ctx, &(lam_fn_options){.name = "product", .body = product, .inputs = 2, .outputs = 1});
    (void)u;
    out[0] = lam_apply(lam_checkpoint(f, NULL), LAM_LIST(in[0], in[1]));
}

static void reference_checkpoint(const cases_use *u, const array in[], array out[]) {
    out->dtype = cases_promote(in[0].dtype, in[1].dtype);
    cases_broadcast(u->inputs, in, out);
    for (int64_t e = 0; e < out->count; e++) {
        long double x = cases_broadcast_element(&in[0], out, e), y = cases_broadcast_element(&in[1], out, e);
        out->data[e] = x * y * sinl(x) + y * y;
    }
}

static const cases_form forms[] = {{"[2,3] [3]", {0}}, {"[] []", {0}}, {"[0] [1]", {0}}, {"[4] []", {0}}, CASES_END};

static void call_unnamed(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    (void)u;
    lam_ctx *ctx = lam_ctx_of(in[0]);
    lam_fn *f = lam_fn_new(ctx, &(lam_fn_options){.name = "product", .body = product, .inputs = 2, .outputs = 1});
    f = lam_checkpoint(f, &(lam_checkpoint_options){.policy = LAM_CHECKPOINT_NAMED});
    out[0] = lam_apply(f, LAM_LIST(in[0], in[1]));
}

const cases_row cases_function[] = {
    {.name = "checkpoint",
     .call = call_checkpoint,
     .reference = reference_checkpoint,
     .forms = forms,
     .wrong_calls = {{"[2] [2]", LAM_ERR_OPTION, call_unnamed}},
     .ulps = 8,
     .normwise = true},
    {.name = NULL},
};
