/* Control flow that depends on tensors, and named axes. C's own `if` and `for` work wherever their condition can be
 * read as a number, as it always can under grad and jvp; the calls here also work where it is batched, and treat a loop
 * as a whole. (lam_associative_scan is with the reductions.) Functions are called with their operands at whatever level
 * these are, so everything nests with every transform, in any order.
 * Where a condition is batched, a function runs only for the examples that chose it: the others cost nothing, and no
 * NaN comes from them. Tensors that such a function uses beside its operands must then be its `captures`, unless they
 * are the same for all examples and of no level further in than the operands; otherwise it fails and says so.
 * In a function that lam_jit or lam_trace records, a condition that depends on inputs is read when the program is run:
 * lam_cond, lam_switch and lam_while are then one operation, and so are lam_scan, lam_map and lam_fori of many trips:
 *   lam_trace                                     more than 8 trips
 *   lam_jit                                       more than 64 trips
 *   lam_jit, on tensors of at most 16 elements    more than 16384 trips
 *   lam_jit, all trips together                   more than 131072 operations
 * A lam_while whose condition depends on constants alone is one operation beyond eight times these numbers, unless a
 * derivative of it is taken. The data that their functions have in env must live as long as the program. */
#ifndef LAMINA_CONTROL_H
#define LAMINA_CONTROL_H

#include <lamina/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* if_true(operands) where pred is true, else if_false(operands); both have the same numbers of inputs and outputs.
 * Shape   pred: rank 0, a bool or a real number (0: false). out: as the functions' outputs.
 * Fails   LAM_ERR_ARITY for counts that differ, LAM_ERR_SHAPE or LAM_ERR_DTYPE, naming both functions, if both ran and
 *         their outputs have different types; LAM_ERR_SHAPE or LAM_ERR_DTYPE for another pred; LAM_ERR_CAPTURED as
 *         above; as the function that runs.
 * Owner   out: current scope.
 * Derivative  that of the function that ran, for each example. */
LAM_API lam_status lam_cond(lam_tensor *pred, lam_fn *if_true, lam_fn *if_false, lam_list operands, lam_tensor **out,
                            size_t n_out);

/* branches[index](operands); the index is clamped to 0..count-1.
 * Shape   index: an integer of rank 0. out: as the functions' outputs.
 * Fails   as lam_cond; LAM_ERR_VALUE without functions. Owner: current scope. Derivative: as lam_cond. */
LAM_API lam_status lam_switch(lam_tensor *index, lam_fn *const branches[], size_t count, lam_list operands,
                              lam_tensor **out, size_t n_out);

/* Starting with init, applies body to the carries while condition(carries) holds. In a batch the loop ends when it has
 * ended for every example; a finished example keeps its carries and is no longer computed.
 * Shape   condition: the carries -> rank 0, as pred of lam_cond. body: the carries -> the same types. out: likewise.
 * Fails   LAM_ERR_ARITY for counts that differ; LAM_ERR_SHAPE or LAM_ERR_DTYPE if body changes a type, with a list of
 *         the changes; as lam_cond and the functions do.
 * Owner   out: current scope.
 * Derivative  that of the trips that were made, in all modes; reverse mode keeps the values that each trip needs. */
LAM_API lam_status lam_while(lam_fn *condition, lam_fn *body, lam_list init, lam_tensor **out, size_t n_out);

/* Starting with init, applies body to i and the carries for i = lower, ..., upper - 1; returns init if upper is not
 * above lower. A body that reads i with lam_item is always recorded trip by trip.
 * Shape   body: i (i64, rank 0), the carries -> the carries.
 * Fails   as lam_while. Owner: current scope. Derivative: as lam_while. */
LAM_API lam_status lam_fori(int64_t lower, int64_t upper, lam_fn *body, lam_list init, lam_tensor **out, size_t n_out);

typedef struct lam_scan_options {
    bool reverse;   /* from the last element to the first; results are in the order of the elements */
    int64_t length; /* elements; 0: from xs; LAM_ZERO_SIZE: none */
    int64_t unroll; /* trips at once; so far without any effect; 0: 1 */
} lam_scan_options;

/* Applies f to the carries, starting with init, and each element along axis 0 of xs; stacks the results that f returns
 * beside the carries.
 * Shape   f: the carries, an element of each of xs -> the carries, results. out: the final carries, then the results,
 *         stacked along axis 0.
 * Fails   LAM_ERR_ARITY for counts that do not fit; LAM_ERR_SHAPE for lengths that differ, with a list of them, and for
 *         rank 0; LAM_ERR_OPTION without xs and length, or for impossible options; LAM_ERR_SHAPE, LAM_ERR_DTYPE for
 *         results of other types than those of the first element; as lam_while.
 * Owner   out: current scope. Derivative: as lam_while; for length 0 the types of f's results come from an empty batch,
 *         in which nothing is drawn. */
LAM_API lam_status lam_scan(lam_fn *f, lam_list init, lam_list xs, lam_tensor **out, size_t n_out,
                            const lam_scan_options *options);

typedef struct lam_map_options {
    int64_t batch_size; /* elements at once, by vmap; the last batch may be smaller; 0: one after the other */
} lam_map_options;

/* f of each element along axis 0 of xs, stacked.
 * Shape   f: an element of each of xs -> results. out: these, stacked along axis 0.
 * Fails   as lam_scan; LAM_ERR_OPTION for a negative batch_size. Owner: current scope. Derivative: as f's. */
LAM_API lam_status lam_map(lam_fn *f, lam_list xs, lam_tensor **out, size_t n_out, const lam_map_options *options);

/* ---- named axes -------------------------------------------------------------------------------------------------- */

/* Inside a vmap with this axis_name, a tensor is one example of a batch; these calls work along the batch. If nested
 * axes have the same name, the innermost is meant. A value that is the same for all examples counts once per example.
 * For each of them:
 * Fails   LAM_ERR_OPTION for a name that no vmap has here, with a list of the names; for a vmap with chunk_size, which
 *         does not have the whole batch at once; where the function runs for some examples only.
 * Owner   current scope.
 * Derivative  that of the sum of the results over all examples: the derivative of psum is psum.
 * Source  jax.lax, whose names and meaning they have. */

/* The sum, mean, largest and smallest over the batch, the same for all examples.
 * Shape   as x. Fails and Derivative: see above; for pmax and pmin as lam_max_reduce. */
LAM_API lam_tensor *lam_psum(lam_tensor *x, const char *axis_name);
LAM_API lam_tensor *lam_pmean(lam_tensor *x, const char *axis_name); /* Fails as lam_psum does. */
LAM_API lam_tensor *lam_pmax(lam_tensor *x, const char *axis_name);  /* Fails as lam_psum does. */
LAM_API lam_tensor *lam_pmin(lam_tensor *x, const char *axis_name);  /* Fails as lam_psum does. */

/* The examples stacked, the same for all of them.
 * Shape   [size, ...]. Fails as lam_psum does. Derivative: lam_psum_scatter. */
LAM_API lam_tensor *lam_all_gather(lam_tensor *x, const char *axis_name);

/* The sum over the batch, of which each example gets its own part along axis 0: the transpose of lam_all_gather. As
 * with lam_sum, the sum of integers and bools is i64.
 * Shape   [size, ...] -> [...]. Fails as lam_psum does; LAM_ERR_SHAPE for another length of axis 0. Derivative:
 *         lam_all_gather. */
LAM_API lam_tensor *lam_psum_scatter(lam_tensor *x, const char *axis_name);

/* From which example to which. */
typedef struct lam_route {
    int64_t from, to;
} lam_route;

/* Sends the x of example routes[i].from to example routes[i].to; an example that receives nothing gets zeros.
 * Shape   as x.
 * Fails   as lam_psum does; LAM_ERR_INDEX for an example that does not exist; LAM_ERR_VALUE if one sends or receives
 *         twice. Derivative: the reverse routes. */
LAM_API lam_tensor *lam_ppermute(lam_tensor *x, const lam_route routes[], size_t count, const char *axis_name);

/* Part i of each example's x along split_axis goes to example i, which has the parts it received side by side along
 * concat_axis.
 * Shape   as x without split_axis, which has one element per example, and with an axis of as many elements at
 *         concat_axis.
 * Fails   as lam_psum does; LAM_ERR_AXIS; LAM_ERR_SHAPE for another length of split_axis. Derivative: the reverse
 *         exchange. */
LAM_API lam_tensor *lam_all_to_all(lam_tensor *x, int split_axis, int concat_axis, const char *axis_name);

/* The position of an example in the batch, an i64 of rank 0. Fails as lam_psum does. Derivative: none. */
LAM_API lam_tensor *lam_axis_index(lam_ctx *ctx, const char *axis_name);

/* The number of examples; -1 after a failure. Fails as lam_psum does. */
LAM_API int64_t lam_axis_size(lam_ctx *ctx, const char *axis_name);

#ifdef __cplusplus
}
#endif
#endif
