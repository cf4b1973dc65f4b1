/* Functions: named callables of fixed arity from tensors to tensors, with closure data. Transforms map functions to
 * functions. */
#ifndef LAMINA_FN_H
#define LAMINA_FN_H

#include <lamina/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The body of a function: sets every out[i]. in[] holds fresh handles (captures follow the inputs); everything made
 * inside is freed when the body returns, except the outputs. */
typedef void (*lam_body)(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env);

typedef struct lam_fn_options {
    const char *name; /* for messages; copied; NULL: "anonymous" */
    lam_body body;
    int inputs;  /* number of input tensors */
    int outputs; /* number of output tensors */
    void *env;   /* closure data for the body; must stay valid as long as the body may be called; with lam_cg,
                    lam_custom_root etc. that includes later derivatives. Tensors and functions in it are borrowed:
                    lam_hold, lam_fn_hold */
    void (*env_free)(void *env); /* called when the last reference goes; NULL: nothing to do */
    lam_list captures;           /* tensors that the function owns; the body gets them as in[inputs...] */
} lam_fn_options;

/* Makes a function.
 * Fails   LAM_ERR_NULL without a body; LAM_ERR_VALUE for negative arity; for failed captures. Gives the context's
 *         failed function, which every call accepts; env_free has then been called.
 * Owner   current scope; lam_fn_hold makes it outlive the scope. */
LAM_API lam_fn *lam_fn_new(lam_ctx *ctx, const lam_fn_options *options);

/* Adds a reference. Fails as any use of a freed function does. Returns f. */
LAM_API lam_fn *lam_fn_hold(lam_fn *f);

/* Drops a reference that lam_fn_hold added. Fails with LAM_ERR_VALUE if it is not held. */
LAM_API void lam_fn_release(lam_fn *f);

/* Drops the scope's reference before the scope ends. Fails as any use of a freed function does; NULL is accepted. */
LAM_API void lam_fn_drop(lam_fn *f);

/* Arity and name. Fail never: 0 and "failed" for a failed function. Derived names are truncated at about 1,000
 * characters. */
LAM_API int lam_fn_inputs(const lam_fn *f);
LAM_API int lam_fn_outputs(const lam_fn *f);      /* Fails never: 0 for a failed function. */
LAM_API const char *lam_fn_name(const lam_fn *f); /* Fails never. Owner: borrowed from f. */

/* Calls f: in.count must be the number of its inputs, n_out that of its outputs; out[] gets fresh handles. With a
 * failed input the function is not run: its outputs are the failed tensor.
 * Fails   LAM_ERR_ARITY for wrong counts, or an output that the body did not set; LAM_ERR_SCOPE for a scope that the
 *         body left open; whatever the body records. Returns the first failure recorded while it ran, even if no output
 *         depends on it.
 * Owner   out: current scope. */
LAM_API lam_status lam_call(lam_fn *f, lam_list in, lam_tensor **out, size_t n_out);

/* Calls a function of one output.
 * Fails   like lam_call; returns the failed tensor after any failure during the call.
 * Owner   current scope. */
LAM_API lam_tensor *lam_apply(lam_fn *f, lam_list in);

#ifdef __cplusplus
}
#endif
#endif
