/* The transforms: functions to functions. They nest in any order. Every failure of a request (an argnum out of range,
 * an integer input, axes that do not fit, ...) names the transform, the function and the argument. The functions that
 * they return belong to the current scope and keep the functions that they are made of alive. */
#ifndef LAMINA_TRANSFORMS_H
#define LAMINA_TRANSFORMS_H

#include <lamina/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* For grad, value_and_grad, vjp, jvp, linearize, hvp. */
typedef struct lam_grad_options {
    lam_axes argnums; /* inputs to differentiate; negative ones count from the end. No list: see each transform */
    int has_aux;      /* how many of the last outputs are passed through undifferentiated */
    bool holomorphic; /* grad, value_and_grad: the function is holomorphic, from complex to complex (complex.h) */
} lam_grad_options;

/* The meaning of draws from the context's generator (lam_rand and its like) inside vmap; with nested vmaps the
 * innermost decides first. Chunks see the whole batch's draws unless their number depends on the data: a branch or a
 * trip (control.h) that no example of a chunk takes draws nothing in that chunk, so later draws differ. */
typedef enum lam_randomness {
    LAM_RANDOMNESS_ERROR = 0, /* fails */
    LAM_RANDOMNESS_SAME,      /* one draw for all examples */
    LAM_RANDOMNESS_DIFFERENT  /* one for each example: together one draw with the batch axis in front */
} lam_randomness;

typedef struct lam_vmap_options {
    lam_axes in_axes;  /* batch axis of each input, or LAM_UNMAPPED; one entry applies to all; no list: 0 for all */
    lam_axes out_axes; /* batch axis of each output; LAM_UNMAPPED: the output must not be batched; no list: 0 for all */
    int64_t axis_size; /* elements; 0: from the inputs; LAM_ZERO_SIZE: an empty batch */
    const char *axis_name; /* for collectives (control.h) and messages; copied */
    lam_randomness randomness;
    int64_t chunk_size; /* examples at once; 0: all */
} lam_vmap_options;

/* For jacfwd, jacrev, jacobian, hessian and the transforms made of them. */
typedef struct lam_jacobian_options {
    lam_axes argnums;          /* inputs to differentiate; no list: the first */
    int has_aux;               /* how many of the last outputs are passed through undifferentiated */
    int64_t chunk_size;        /* rows (or columns) at once; 0: all */
    lam_randomness randomness; /* of draws inside f in forward mode, which runs f under vmap; if they differ, the values
                                  are those of the first column */
    bool holomorphic;          /* the function is holomorphic, from complex to complex (complex.h) */
} lam_jacobian_options;

/* The gradient of f's first output, which must be a floating tensor of rank 0, or with `holomorphic` a complex one; all
 * other outputs must be auxiliary.
 * Shape   outputs: one gradient per argnum (default: the first input), like that input; then the auxiliary outputs.
 * Fails   at once for argnums out of range, repeated or empty, or a wrong has_aux; when called for an input that is not
 *         floating or an output that is not a scalar. */
LAM_API lam_fn *lam_grad(lam_fn *f, const lam_grad_options *options);

/* The same, preceded by f's value: value, gradients, auxiliary outputs. Fails as lam_grad does. */
LAM_API lam_fn *lam_value_and_grad(lam_fn *f, const lam_grad_options *options);

/* Runs f once; returns its outputs and a pullback: a function from one cotangent per non-auxiliary output (NULL: zero)
 * to one gradient per argnum (default: every floating input). The pullback may be called many times, vmapped and
 * nested, and outlives the levels.
 * Shape   out: as f's outputs, n_out of them. Cotangents: like the outputs. Gradients: like the inputs.
 * Fails   as lam_grad does; for a non-auxiliary output that is not floating. *pullback is then the failed function.
 * Owner   out, pullback: current scope. */
LAM_API lam_status lam_vjp(lam_fn *f, lam_list primals, lam_tensor **out, size_t n_out, lam_fn **pullback,
                           const lam_grad_options *options);

/* Runs f on primals and tangents at once (forward mode). One tangent per argnum (default: every input); NULL is
 * zero, and the only choice for an integer input.
 * Shape   out: f's outputs, n_out of them; tangents_out: n_out - has_aux tangents, like the outputs.
 * Fails   LAM_ERR_ARITY, LAM_ERR_SHAPE, LAM_ERR_DTYPE for tangents that do not fit.
 * Owner   out, tangents_out: current scope. */
LAM_API lam_status lam_jvp(lam_fn *f, lam_list primals, lam_list tangents, lam_tensor **out, lam_tensor **tangents_out,
                           size_t n_out, const lam_grad_options *options);

/* lam_jvp as a function: primals, then tangents -> values, tangents, auxiliary outputs. Fails as lam_jvp does. */
LAM_API lam_fn *lam_jvp_fn(lam_fn *f, const lam_grad_options *options);

/* Runs f once; returns its outputs and its derivative there, a function of tangents only; the primal work is not
 * repeated. One tangent per argnum (default: every floating input); NULL is zero.
 * Shape   as lam_jvp.
 * Fails   as lam_jvp does. *linear is then the failed function.
 * Owner   out, linear: current scope. */
LAM_API lam_status lam_linearize(lam_fn *f, lam_list primals, lam_tensor **out, size_t n_out, lam_fn **linear,
                                 const lam_grad_options *options);

/* The transpose of a function that is linear in all its inputs together; examples give the types of its inputs, their
 * elements are never read.
 * Shape   one cotangent per output of f (NULL: zero) -> one per input.
 * Fails   LAM_ERR_LINEAR naming the operation that is not linear, such as a cast to integers; LAM_ERR_DTYPE for inputs
 *         that are not floating. */
LAM_API lam_fn *lam_linear_transpose(lam_fn *f, lam_list examples);

/* f mapped over a batch: each mapped input loses its batch axis, each output gets one.
 * Fails   at once for impossible options; when called for axes out of range, batch sizes that differ (listed by
 *         argument), no mapped input without axis_size, or an output that is batched although its out_axes is
 *         LAM_UNMAPPED; LAM_ERR_RANK when nested batch axes and the tensor's own axes exceed 32. */
LAM_API lam_fn *lam_vmap(lam_fn *f, const lam_vmap_options *options);

/* Jacobians: jacfwd column by column (forward mode), jacrev row by row (reverse mode), jacobian in whichever mode needs
 * fewer passes, from one linearisation.
 * Shape   outputs: the block of output o and argnum a at o * A + a, dims of the output then of the input; then the
 *         auxiliary outputs. The dtype is that of both promoted.
 * Fails   as lam_grad does (outputs need not be scalars); LAM_ERR_OPTION for a negative chunk_size; LAM_ERR_RANK for a
 *         block of more than LAM_MAX_RANK axes. */
LAM_API lam_fn *lam_jacfwd(lam_fn *f, const lam_jacobian_options *options);
LAM_API lam_fn *lam_jacrev(lam_fn *f, const lam_jacobian_options *options);   /* Fails as lam_jacfwd does. */
LAM_API lam_fn *lam_jacobian(lam_fn *f, const lam_jacobian_options *options); /* Fails as lam_jacfwd does. */

/* Values, blocks, auxiliary outputs, from one run of f. Fails as lam_jacfwd does. */
LAM_API lam_fn *lam_value_and_jacobian(lam_fn *f, const lam_jacobian_options *options);

/* Second derivatives, jacfwd of jacrev.
 * Shape   outputs: block of output o, argnums a and b at (o * A + a) * A + b, dims of the output, of a, of b; then
 *         the auxiliary outputs.
 * Fails   as lam_jacfwd does. */
LAM_API lam_fn *lam_hessian(lam_fn *f, const lam_jacobian_options *options);

/* Value, gradients, Hessian blocks, auxiliary outputs of a scalar function, from one run of f. Fails as lam_grad
 * does. */
LAM_API lam_fn *lam_value_grad_and_hessian(lam_fn *f, const lam_jacobian_options *options);

/* Hessian-vector products of a scalar function: primals, then one tangent per argnum (default: the first input) ->
 * value, gradients, products, auxiliary outputs. Costs a few gradients at any size.
 * Fails   as lam_grad and lam_jvp do. */
LAM_API lam_fn *lam_hvp(lam_fn *f, const lam_grad_options *options);

/* f, an elementwise function of real numbers, as a function of symmetric (Hermitian) matrices: v diag f(w) v^T for (x +
 * x^T) / 2 = v diag(w) v^T. The trace is the sum of f over the eigenvalues; with x^T x that of f(s^2) over the singular
 * values of x. Captures of f are operands that can be batched and differentiated like x; every eigenvalue uses them, so
 * they are numbers, or broadcast as [..., 1].
 * Shape   one input [..., n, n], one output of that type.
 * Fails   LAM_ERR_ARITY unless f has one input and one output; LAM_ERR_SHAPE where f changes dims or dtype; as lam_eigh
 *         does; LAM_ERR_OVERFLOW for derivatives of order above 8.
 * Owner   current scope.
 * Derivative  of every order in all modes, even where eigenvalues repeat: that of order k by x uses f's own derivatives
 *         up to order k + 3, and memory for n^(k + 1) numbers. By captures of f: df/dc of the matrix; in reverse mode
 *         once for each element of c.
 * Source  Daleckii and Krein 1965; Higham, Functions of Matrices, 2008. */
LAM_API lam_fn *lam_spectral(lam_fn *f);

/* The values that a checkpointed function keeps for its derivative, beside its inputs and captures. */
typedef enum lam_checkpoint_policy {
    LAM_CHECKPOINT_NOTHING = 0, /* nothing more: everything is recomputed */
    LAM_CHECKPOINT_NAMED,       /* the values to which lam_checkpoint_name gave one of `names` */
    LAM_CHECKPOINT_CONTRACTIONS /* the results of dot_general (matmul, einsum, ...) */
} lam_checkpoint_policy;

typedef struct lam_checkpoint_options {
    lam_checkpoint_policy policy;
    const char *const *names; /* for LAM_CHECKPOINT_NAMED; up to 31 bytes each; copied */
    int name_count;           /* up to 8 */
} lam_checkpoint_options;

/* f, whose derivative keeps only its inputs and the values that the policy names, and recomputes the rest, at every
 * order. Captures of f are kept and differentiated like inputs. The policy covers values that f itself computes; custom
 * Functions and checkpointed functions that f applies decide for themselves.
 * Shape   as f.
 * Fails   as f does, and if f gives other types when it is rerun; LAM_ERR_OPTION for names that do not fit the
 *         policy. */
LAM_API lam_fn *lam_checkpoint(lam_fn *f, const lam_checkpoint_options *options);

/* x, under a name by which a checkpoint policy can keep it; otherwise the identity.
 * Fails   LAM_ERR_VALUE for no name or one of more than 31 bytes. Derivative: identity. */
LAM_API lam_tensor *lam_checkpoint_name(lam_tensor *x, const char *name);

typedef struct lam_check_grads_options {
    int order;        /* of derivatives, up to 16, each taking twice the time of the previous one; 0: first */
    double step;      /* of the difference, absolute for |x| up to 1, else relative; 0: from the dtype */
    double tolerance; /* relative; 0: chosen from the dtype */
    uint64_t seed;    /* of the random directions */
} lam_check_grads_options;

/* Compares forward mode with central differences along a random direction, and reverse mode with forward mode by
 * <w, Jv> = <J'w, v>, to the given order.
 * Fails   LAM_ERR_VALUE with both numbers if they differ; LAM_ERR_OPTION for impossible options; as f does. */
LAM_API LAM_MUST_USE lam_status lam_check_grads(lam_fn *f, lam_list at, const lam_check_grads_options *options);

#ifdef __cplusplus
}
#endif
#endif
