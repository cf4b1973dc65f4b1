/* Custom Functions: operations with a forward, derivative rules and a batching rule of the user's own. A Function is
 * used like any operation, at every level and in every nesting of the transforms.
 *
 * Every callback sees plain values of the level it serves and runs with the level below that one current; it sets its
 * results and returns nothing. Everything else that it makes is freed afterwards. A failure inside names the Function
 * and the callback.
 *
 * Which callback may call what:
 *                                  forward      forward     setup_   backward  jvp   vmap  shape
 *                                  (separate)   (combined)  context
 *   lam_fctx_ctx, _attrs           yes          yes         yes      yes       yes   yes   yes
 *   lam_fctx_save_for_backward     no           yes         yes      no        no    no    no
 *   lam_fctx_save_for_forward      no           yes         yes      no        no    no    no
 *   lam_fctx_saved, _saved_count   no           no          no       yes       yes   no    no
 *   lam_fctx_set_data              no           yes         yes      no        no    no    no
 *   lam_fctx_data                  no           yes         yes      yes       yes   no    no
 *   lam_fctx_mark_dirty            yes          yes         no       no        no    yes   no
 *   lam_fctx_mark_absent           yes          yes         no       no        no    yes   yes
 *   lam_fctx_mark_non_diff...      no           yes         yes      no        no    no    no
 *   lam_fctx_set_materialize_...   no           yes         yes      no        no    no    no
 *   lam_fctx_needs_input_grad      no           yes         yes      yes       yes   no    no
 * "Separate" is a Function with setup_context, "combined" one without. A call marked "no" fails with LAM_ERR_RULE,
 * except that lam_fctx_saved_count, lam_fctx_data and lam_fctx_needs_input_grad never fail. lam_fctx_inputs and
 * lam_fctx_outputs are allowed everywhere.
 */
#ifndef LAMINA_FUNCTION_H
#define LAMINA_FUNCTION_H

#include <lamina/base.h>
#include <lamina/transforms.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lam_fctx lam_fctx; /* one application of a Function at one level */

/* The batch, as a vmap rule sees it. */
typedef struct lam_vmap_info {
    int64_t batch_size;        /* elements of the batch axis */
    lam_randomness randomness; /* the meaning of draws in this batch */
} lam_vmap_info;

/* A Function. All callbacks except forward may be NULL. */
typedef struct lam_function {
    const char *name; /* for messages and prints; copied; NULL: "anonymous" */
    /* Numbers of inputs and outputs, or LAM_VARIADIC: any. An input may be NULL (an optional tensor). */
    int inputs, outputs;
    size_t attrs_size; /* bytes of the plain arguments (an axis, a count, a mode), which the application copies */
    /* Sets every out[o], except those that it leaves out (lam_fctx_mark_absent). The separate style may read raw data
     * (lam_data); other tensors that it makes must not be used elsewhere. */
    void (*forward)(lam_fctx *fc, lam_tensor *const in[], lam_tensor *out[]);
    /* Saves for the derivative; runs once per derivative level. NULL: forward saves (combined style). */
    void (*setup_context)(lam_fctx *fc, lam_tensor *const in[], lam_tensor *const out[]);
    /* Cotangents of the outputs to those of the inputs; one left NULL is zero, one with broadcast dims is summed to the
     * input's. */
    void (*backward)(lam_fctx *fc, lam_tensor *const grad_out[], lam_tensor *grad_in[]);
    /* Tangents of the inputs to those of the outputs; one left NULL is zero. */
    void (*jvp)(lam_fctx *fc, lam_tensor *const tangents_in[], lam_tensor *tangents_out[]);
    /* The batched call: in[i] has the batch axis at in_axes[i], or LAM_UNMAPPED; sets every out[o] and out_axes[o]. */
    void (*vmap)(lam_fctx *fc, const lam_vmap_info *info, const int in_axes[], lam_tensor *const in[],
                 lam_tensor *out[], int out_axes[]);
    /* Types of the outputs from those of the inputs (rank -1: no tensor); for lam_eval_shape, which then does not run
     * forward, for empty batches in vmap_by_loop, and for linear Functions in foreign code under lam_linearize,
     * lam_linear_transpose, lam_jacobian and inside rules whose transpose is derived: with shape, setup_context and
     * backward, a Function that is_linear is not traced there. */
    void (*shape)(lam_fctx *fc, const lam_type in[], lam_type out[]);
    bool generate_vmap_rule;  /* batch by mapping the other callbacks; the default of the combined style */
    bool vmap_by_loop;        /* batch example by example */
    bool once_differentiable; /* backward and jvp cannot be differentiated: a second derivative that reaches them
                                 fails */
    bool is_linear;           /* forward is linear in all floating inputs together; it is its own jvp if none is given,
                                 with the same draws; a backward is its transpose */
} lam_function;

/* Applies a Function to in.count inputs (NULL: left out) for n_out outputs (NULL if forward leaves one out). attrs:
 * attrs_size bytes, copied.
 * Fails   LAM_ERR_ARITY for counts that do not fit; LAM_ERR_NULL for a Function without forward; LAM_ERR_RULE for one
 *         with two batching rules; with what the callbacks record.
 * Owner   out: current scope.
 * Derivative  that of the Function's rules. */
LAM_API lam_status lam_function_apply(lam_ctx *ctx, const lam_function *function, const void *attrs, lam_list in,
                                      lam_tensor **out, size_t n_out);

/* The Function with these attributes as a function of n_in inputs and n_out outputs.
 * Fails   as lam_function_apply does; gives the failed function. When called: LAM_ERR_ARITY for an output that is left
 *         out.
 * Owner   current scope. */
LAM_API lam_fn *lam_function_fn(lam_ctx *ctx, const lam_function *function, const void *attrs, size_t n_in,
                                size_t n_out);

/* Prints, one line per transform, which rule a Function would use, or which is missing.
 * Fails   never. */
LAM_API void lam_function_print_rules(FILE *file, const lam_function *function);

/* ---- inside callbacks ------------------------------------------------------------------------------------------- */

/* The context. Fails never. */
LAM_API lam_ctx *lam_fctx_ctx(const lam_fctx *fc);

/* The copied attributes; NULL without. Fails never. Owner: borrowed from fc. */
LAM_API const void *lam_fctx_attrs(const lam_fctx *fc);

/* The numbers of inputs and outputs of this application. Fail never. */
LAM_API int lam_fctx_inputs(const lam_fctx *fc);
LAM_API int lam_fctx_outputs(const lam_fctx *fc); /* Fails never. */

/* Keeps tensors (NULL entries too) for backward, or for jvp; the other reads them as well if nothing was saved for it.
 * Inputs, outputs and values that setup_context or a combined forward computes from them keep their derivatives. An
 * input that a combined forward returns unchanged is saved as the input; if it returns lam_alias of it, as the output.
 * Nothing is copied.
 * Fails   LAM_ERR_RULE if something was saved already, where it may not be called, and for an intermediate that a
 *         separate forward hid (return it as an output); LAM_ERR_CONTEXT for a tensor of another context. */
LAM_API lam_status lam_fctx_save_for_backward(lam_fctx *fc, lam_list list);
LAM_API lam_status lam_fctx_save_for_forward(lam_fctx *fc, lam_list list); /* Fails likewise. */

/* Saved tensor i; NULL if NULL was saved.
 * Fails   LAM_ERR_RULE out of range, and where it may not be called: gives the failed tensor.
 * Owner   current scope, which is the callback's. */
LAM_API lam_tensor *lam_fctx_saved(lam_fctx *fc, int i);

/* The number of saved tensors. Fails never: 0. */
LAM_API int lam_fctx_saved_count(const lam_fctx *fc);

/* Keeps `size` bytes of plain data under a name; the same name again replaces it.
 * Units   size: bytes.
 * Fails   LAM_ERR_RULE where it may not be called; LAM_ERR_MEMORY. */
LAM_API lam_status lam_fctx_set_data(lam_fctx *fc, const char *name, const void *bytes, size_t size);

/* The data kept under a name; *size (may be NULL) gets their number of bytes.
 * Fails   never: NULL if there is none.
 * Owner   borrowed from fc. */
LAM_API const void *lam_fctx_data(const lam_fctx *fc, const char *name, size_t *size);

/* Says that forward rebound these inputs (lam_add_ and its kin) and returns them as outputs: the caller's handles show
 * the new values. setup_context sees the old values as inputs and the new ones as outputs.
 * Fails   LAM_ERR_RULE for a tensor that is not an input, or where it may not be called. */
LAM_API lam_status lam_fctx_mark_dirty(lam_fctx *fc, lam_list list);

/* Says that these outputs, by their numbers (ranges and LAM_LEAVES too), are left out of this application: they stay
 * NULL, and are NULL for the caller at every level. They have no derivative: their cotangents and tangents are NULL.
 * Forward, a vmap rule and shape must each mark the same outputs; an unmarked output that stays NULL is an error.
 * Fails   LAM_ERR_RULE for a number out of range, or where it may not be called; later, for a marked output that is
 *         set, and if two of them disagree. */
LAM_API lam_status lam_fctx_mark_absent(lam_fctx *fc, lam_axes outputs);

/* Says that these outputs have no derivative. Integer outputs have none anyway. Call it when the outputs are set.
 * Fails   LAM_ERR_RULE for a tensor that is not an output, or where it may not be called. */
LAM_API lam_status lam_fctx_mark_non_differentiable(lam_fctx *fc, lam_list list);

/* Whether missing cotangents and tangents are passed as zeros (the default) or as NULL. Those of outputs without a
 * derivative and of integer inputs are always NULL.
 * Fails   LAM_ERR_RULE where it may not be called. */
LAM_API lam_status lam_fctx_set_materialize_grads(lam_fctx *fc, bool materialize);

/* Whether the level being served wants the derivative by input i.
 * Fails   never: false out of range or without a derivative. */
LAM_API bool lam_fctx_needs_input_grad(const lam_fctx *fc, int i);

/* ---- hooks on gradients ----------------------------------------------------------------------------------------- */

typedef struct lam_hook lam_hook; /* a callback that can be removed */

/* x as a new tensor; in the backward pass its cotangent goes through `callback` (one input, one output), which may
 * record it or replace it by another of the same type. Values and forward mode are unchanged. Captures of the callback
 * are batched with x.
 * Fails   LAM_ERR_ARITY for a callback of other arity. *hook (may be NULL) is then NULL.
 * Owner   result and *hook: current scope.
 * Derivative  identity, except for the changes that the callback makes to cotangents. */
LAM_API lam_tensor *lam_on_gradient(lam_tensor *x, lam_fn *callback, lam_hook **hook);

/* Makes lam_on_gradient the identity in both directions, in existing pullbacks too.
 * Fails   never; NULL is accepted. */
LAM_API void lam_hook_remove(lam_hook *hook);

/* ---- rules for existing functions ------------------------------------------------------------------------------- */

typedef struct lam_custom_options {
    lam_axes nondiff;    /* inputs not differentiated by: bwd gets them first; a derivative by one is an error */
    bool symbolic_zeros; /* cotangents and tangents that are zero are passed as NULL */
} lam_custom_options;

/* f with a reverse rule: where a derivative is wanted, fwd runs instead of f and gives f's outputs, then any number of
 * residuals; bwd gets the nondiff inputs, the residuals, and one cotangent per output, and gives one cotangent per
 * input that is not nondiff; one left NULL is zero. Forward mode transposes bwd. An outer derivative of the outputs
 * differentiates fwd: if it should use the rule again, fwd calls the function that lam_custom_vjp returned. Declared
 * captures of the three functions are batched as inputs are; a rule has no cotangent for them, so a derivative by one
 * is an error (LAM_ERR_CAPTURED): pass values to be differentiated as inputs.
 * Fails   LAM_ERR_ARITY for counts that do not fit; gives the failed function. When differentiated: LAM_ERR_SHAPE,
 *         LAM_ERR_DTYPE, naming the output and both types, for a cotangent of bwd that does not have the type of its
 *         input (unlike those of a lam_function, they are not summed), and for outputs of fwd whose types differ from
 *         those f gave when it last ran, if that was with inputs of these types.
 * Owner   current scope. */
LAM_API lam_fn *lam_custom_vjp(lam_fn *f, lam_fn *fwd, lam_fn *bwd, const lam_custom_options *options);

/* f with a forward rule: where a derivative is wanted, rule runs instead of f; it gets all inputs, then one tangent per
 * input that is not nondiff, and gives f's outputs, then their tangents, which must be linear in the tangents given;
 * those left NULL are zero. Reverse mode runs it for the outputs with zero tangents, and transposes it; a second run
 * draws the same from the context's generator as the first. An outer derivative of the outputs differentiates the rule;
 * captures are treated as by lam_custom_vjp.
 * Fails   LAM_ERR_ARITY for counts that do not fit; gives the failed function. When differentiated: LAM_ERR_SHAPE,
 *         LAM_ERR_DTYPE for outputs of other types than f's, as lam_custom_vjp, and for tangents of other types than
 *         the outputs.
 * Owner   current scope. */
LAM_API lam_fn *lam_custom_jvp(lam_fn *f, lam_fn *rule, const lam_custom_options *options);

/* f with one forward rule per input (NULL: derivative zero): rules[i] gets the tangent of input i, f's outputs and all
 * inputs, and gives one tangent per output (NULL: zero); they are added. The outputs are f's, and an outer derivative
 * of them uses the rules again: a derivative by a capture is an error where it reaches them, which in forward mode it
 * does at once.
 * Fails   as lam_custom_jvp does. Owner: current scope. */
LAM_API lam_fn *lam_custom_jvps(lam_fn *f, lam_fn *const rules[], size_t count, const lam_custom_options *options);

/* A batching rule: in[i] has the batch axis in front where mapped[i]; sets out[o], and out_mapped[o] (false before)
 * where it has the batch axis in front. Captures of the function follow the inputs. */
typedef void (*lam_vmap_rule)(lam_ctx *ctx, const lam_vmap_info *info, const bool mapped[], lam_tensor *const in[],
                              lam_tensor *out[], bool out_mapped[], void *env);

/* f with a batching rule. env is borrowed. Derivatives are those of f's operations, or of the rule's if vmap is inside;
 * by captures of f too.
 * Fails   LAM_ERR_NULL without a rule; gives the failed function.
 * Owner   current scope. */
LAM_API lam_fn *lam_custom_vmap(lam_fn *f, lam_vmap_rule rule, void *env);

/* ---- implicit derivatives --------------------------------------------------------------------------------------- */

/* Solves a linear system: returns v with linear(v) = b, where linear has one input and one output of b's type. It is
 * also called with the transposed function, and under every level. The functions of its loops and choices may call
 * linear, whose captures need not be declared. env is the caller's. */
typedef lam_tensor *(*lam_solve_rule)(lam_ctx *ctx, lam_fn *linear, lam_tensor *b, void *env);

typedef struct lam_custom_linear_solve_options {
    lam_solve_rule transpose_solve; /* for the transposed function; NULL: no reverse mode by b, unless symmetric or
                                       transpose_solver is given */
    bool symmetric;                 /* the function is its own transpose: solve, or solver, serves both */
    void *env;                      /* for the rules; borrowed for as long as a derivative may be asked for */
    lam_fn *solver;                 /* instead of solve: b -> x, one input and one output; its captures, such as
                                       factors, may be of any level, and are held for as long */
    lam_fn *transpose_solver;       /* the same instead of transpose_solve */
} lam_custom_linear_solve_options;

/* x with matvec(parameters..., x) = b, where matvec is linear in x. solve is a rule; or it is NULL, and the option
 * solver is a function that solves, for example with factors that are computed once and used for all derivatives too.
 * Nothing is differentiated through rules and solvers, nor by captures of solvers.
 * Shape   x: as b.
 * Fails   LAM_ERR_ARITY unless matvec has one input more than there are parameters and one output, and a solver one of
 *         each; LAM_ERR_NULL for neither solve nor solver; LAM_ERR_OPTION for both, or both of the transposed system;
 *         LAM_ERR_RULE if reverse mode needs a transpose_solve or transpose_solver and there is none.
 * Owner   current scope.
 * Derivative  by b, the parameters and the captures of matvec, of any order, by solving again; also by values hidden in
 *             functions that matvec is or calls, such as a result of lam_linearize. lam_linearize and
 *             lam_linear_transpose treat it as linear in b, whatever rules and solvers do; these may be foreign
 *             code. */
LAM_API lam_tensor *lam_custom_linear_solve(lam_fn *matvec, lam_list parameters, lam_tensor *b, lam_solve_rule solve,
                                            const lam_custom_linear_solve_options *options);

typedef struct lam_iterative_options {
    double tol, atol;       /* done when the residual is no longer than the larger of tol times the right side and atol;
                               tol 0: 1e-5, negative: none */
    int64_t maxiter;        /* limit on iterations, for gmres of `restart` products each; 0: 10 for each element */
    int64_t restart;        /* for gmres: products before it restarts, 64 at most; 0: 20 */
    bool must_converge;     /* whether the call fails if a residual stays longer, here and in derivatives */
    lam_tensor *x0;         /* where to start, of b's type; NULL: 0. The right side is then the residual b -
                               matvec(x0) */
    lam_fn *preconditioner; /* an approximate inverse of matvec: one input and one output of b's type; not
                               differentiated; NULL: none */
} lam_iterative_options;

/* x with matvec(parameters..., x) = b by conjugate gradients, for a symmetric (Hermitian) positive definite matvec, and
 * preconditioner. When the iterations end, even without success, x is the last iterate unless `must_converge`, or NaN
 * if the residual is; each example of a batch ends separately. lam_jit and lam_trace record a loop that ends in the
 * same way; instead of a failure for `must_converge`, x is NaN where a system is not solved.
 * Shape   x: as b, of any rank.
 * Fails   as lam_custom_linear_solve does; LAM_ERR_DTYPE unless b is floating; LAM_ERR_VALUE for a negative maxiter or
 *         restart, or NaN; LAM_ERR_SHAPE if a function or x0 does not have b's type; with `must_converge`
 *         LAM_ERR_NUMERIC if one system of a batch is not solved.
 * Owner   current scope.
 * Derivative  as lam_custom_linear_solve: by b, the parameters and the captures of matvec, of any order, to the
 *         tolerance of the solution. None by x0.
 * Source  Golub and Van Loan, Matrix Computations, 11.5. */
LAM_API lam_tensor *lam_cg(lam_fn *matvec, lam_list parameters, lam_tensor *b, const lam_iterative_options *options);

/* The same for any invertible matvec, by stabilised bi-conjugate gradients. Fails as lam_cg does. The preconditioner
 * serves the transposed system too.
 * Source  van der Vorst 1992. */
LAM_API lam_tensor *lam_bicgstab(lam_fn *matvec, lam_list parameters, lam_tensor *b,
                                 const lam_iterative_options *options);

/* The same by generalised minimal residuals, preconditioned from the right. Fails as lam_cg does.
 * Source  Saad and Schultz 1986. */
LAM_API lam_tensor *lam_gmres(lam_fn *matvec, lam_list parameters, lam_tensor *b, const lam_iterative_options *options);

/* x with f(x, parameters...) = 0. solve gets x0 and the parameters and gives x; it may do anything, since it is not
 * differentiated. tangent_solve solves with the derivative of f by x, and with its transpose.
 * Shape   x: as x0; f's output too.
 * Fails   LAM_ERR_ARITY unless f and solve have one input more than there are parameters and one output;
 *         LAM_ERR_CAPTURED under a derivative if f uses a tensor that has one and is neither among these nor a capture.
 * Owner   current scope.
 * Derivative  by the parameters and the captures of f, of any order (implicit function theorem); zero by x0. Captures
 *             of functions are operands here automatically, so closures need no conversion first. */
LAM_API lam_tensor *lam_custom_root(lam_fn *f, lam_tensor *x0, lam_list parameters, lam_fn *solve,
                                    lam_solve_rule tangent_solve, void *env);

#ifdef __cplusplus
}
#endif
#endif
