/* Functions: callables of fixed arity, tensors to tensors, with a name and an env.
 * Transforms map functions to functions. */
#ifndef LAMINA_FN_H
#define LAMINA_FN_H

#include <lamina/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a function does: sets every out[i]. in[] are fresh handles (captures follow the inputs); everything made inside
 * is freed when the body returns, except the outputs. */
typedef void (*lam_body)(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env);

typedef struct lam_fn_options {
    const char *name; /* for messages; copied; NULL: "anonymous" */
    lam_body body;
    int inputs;  /* tensors taken */
    int outputs; /* tensors given */
    void *env; /* closure data for the body, for as long as it may be called: derivatives of lam_cg, lam_custom_root and
                  their like do so after the call. Tensors and functions in it are borrowed: lam_hold, lam_fn_hold */
    void (*env_free)(void *env); /* called with the last reference; NULL: nothing to do */
    lam_list captures;           /* tensors that the function owns; the body gets them as in[inputs...] */
} lam_fn_options;

/* Makes a function.
 * Fails   LAM_ERR_NULL without a body; LAM_ERR_VALUE for negative arity; failed captures. env_free has then been
 *         called. Gives the context's failed function, which every call accepts.
 * Owner   current scope; lam_fn_hold makes it outlive the scope. */
LAM_API lam_fn *lam_fn_new(lam_ctx *ctx, const lam_fn_options *options);

/* Adds a reference. Fails as any use of a freed function does. Returns f. */
LAM_API lam_fn *lam_fn_hold(lam_fn *f);

/* Drops a reference that lam_fn_hold added. Fails LAM_ERR_VALUE when it is not held. */
LAM_API void lam_fn_release(lam_fn *f);

/* Drops the scope's reference before the scope ends. Fails as any use of a freed function does; NULL is accepted. */
LAM_API void lam_fn_drop(lam_fn *f);

/* Arity and name. Fail never: 0 and "failed" for a failed function. What a transform makes of a name is cut behind some
 * thousand characters. */
LAM_API int lam_fn_inputs(const lam_fn *f);
LAM_API int lam_fn_outputs(const lam_fn *f);      /* Fails never: 0 for a failed function. */
LAM_API const char *lam_fn_name(const lam_fn *f); /* Fails never. Owner: borrowed from f. */

/* Calls f: in.count must be its inputs and n_out its outputs; out[] gets fresh handles. A function that is given a
 * failed input is not run: its outputs are the failed tensor.
 * Fails   LAM_ERR_ARITY wrong counts, or an output the body left unset; LAM_ERR_SCOPE for a scope that the body left
 *         open; whatever the body records. Returns the first failure recorded while it ran, even if no output
 *         depends on it.
 * Owner   out: current scope. */
LAM_API lam_status lam_call(lam_fn *f, lam_list in, lam_tensor **out, size_t n_out);

/* Calls a function of one output.
 * Fails   like lam_call; gives the failed tensor, also where the output does not depend on what failed.
 * Owner   current scope. */
LAM_API lam_tensor *lam_apply(lam_fn *f, lam_list in);

#ifdef __cplusplus
}
#endif
#endif
