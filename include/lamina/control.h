/* Control flow that depends on tensors, and named axes. C's own if and for serve wherever their condition is known, as
 * it always is under grad and jvp; these serve where it may be batched, and for loops as a whole. (lam_associative_scan
 * stands with the reductions.) Functions are called with their operands at whatever level these are, so everything
 * nests with every transform, in any order.
 * Where a condition is batched, a function runs for those examples alone that want it: the others cost nothing, and no
 * NaN comes from them. Tensors that such a function uses beside its operands are then to be its `captures`, unless they
 * are the same for all examples and of no level further in than these; else it fails and says so.
 * In a function that lam_jit records, a condition that depends on inputs is looked at when the program is run:
 * lam_cond, lam_switch and lam_while are one operation of it then, and so are lam_scan, lam_map and lam_fori of many
 * trips: in what lam_trace records of more than 8, in what lam_jit compiles of more than 64, or, on tensors of at most
 * 16 elements, 16384, or where all trips together would be more than 131072 operations; and a lam_while of eight times
 * as many trips, or as many operations, whose condition depends on constants alone, unless a derivative is taken of it.
 * What their functions have in env must live as long as the program. */
#ifndef LAMINA_CONTROL_H
#define LAMINA_CONTROL_H

#include <lamina/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* if_true(operands) where pred is true, else if_false(operands); both have one count of inputs and of outputs.
 * Shape   pred: rank 0, a bool or a real number (0: false). out: as the functions' outputs.
 * Fails   LAM_ERR_ARITY for counts that differ, LAM_ERR_SHAPE or LAM_ERR_DTYPE for outputs of two types where both have
 *         run: these name both functions; LAM_ERR_SHAPE or LAM_ERR_DTYPE for another pred; LAM_ERR_CAPTURED as above;
 *         as the function that runs.
 * Owner   out: current scope.
 * Derivative  of the function that ran, for each example. */
LAM_API lam_status lam_cond(lam_tensor *pred, lam_fn *if_true, lam_fn *if_false, lam_list operands, lam_tensor **out,
                            size_t n_out);

/* The function number `index`, which is clamped to 0..count-1.
 * Shape   index: an integer of rank 0. out: as the functions' outputs.
 * Fails   as lam_cond; LAM_ERR_VALUE without functions. Owner: current scope. Derivative: as lam_cond. */
LAM_API lam_status lam_switch(lam_tensor *index, lam_fn *const branches[], size_t count, lam_list operands,
                              lam_tensor **out, size_t n_out);

/* Carries init through body as long as `condition` of them holds. Where it is batched, the loop ends when it has ended
 * for all examples; each keeps what it had then, and takes part no longer.
 * Shape   condition: the carries -> rank 0, as pred of lam_cond. body: the carries -> the same types. out: likewise.
 * Fails   LAM_ERR_ARITY for counts that differ; LAM_ERR_SHAPE or LAM_ERR_DTYPE when body changes a type, with a list of
 *         those that changed; as lam_cond and the functions do.
 * Owner   out: current scope.
 * Derivative  of the trips that were made, in all modes; reverse mode keeps what each of them needs. */
LAM_API lam_status lam_while(lam_fn *condition, lam_fn *body, lam_list init, lam_tensor **out, size_t n_out);

/* Carries init through body for i = lower, ..., upper - 1; none if upper is not above lower. A body that reads i, by
 * lam_item, is recorded trip by trip, however many there are.
 * Shape   body: i (i64, rank 0), the carries -> the carries.
 * Fails   as lam_while. Owner: current scope. Derivative: as lam_while. */
LAM_API lam_status lam_fori(int64_t lower, int64_t upper, lam_fn *body, lam_list init, lam_tensor **out, size_t n_out);

typedef struct lam_scan_options {
    bool reverse;   /* from the last element to the first; results lie as the elements do */
    int64_t length; /* elements; 0: from xs; LAM_ZERO_SIZE: none */
    int64_t unroll; /* trips at once; results do not depend on it, and so far nothing else does; 0: 1 */
} lam_scan_options;

/* Carries init through f along axis 0 of xs, and stacks what f gives beside the carries.
 * Shape   f: the carries, an element of each of xs -> the carries, results. out: the last carries, then the results
 *         with an axis 0 of all elements.
 * Fails   LAM_ERR_ARITY for counts that do not fit; LAM_ERR_SHAPE for lengths that differ, which it lists; for rank 0;
 *         LAM_ERR_OPTION without xs and length, or for impossible options; LAM_ERR_SHAPE, LAM_ERR_DTYPE for results of
 *         other types than those of the first element; as lam_while.
 * Owner   out: current scope. Derivative: as lam_while; length 0: f is asked for its types by a batch of none, in
 *         which nothing is drawn. */
LAM_API lam_status lam_scan(lam_fn *f, lam_list init, lam_list xs, lam_tensor **out, size_t n_out,
                            const lam_scan_options *options);

typedef struct lam_map_options {
    int64_t batch_size; /* elements at once, by vmap, of which the last ones may be fewer; 0: one after the other */
} lam_map_options;

/* f of each element along axis 0 of xs, stacked.
 * Shape   f: an element of each of xs -> results. out: these with an axis 0 of all elements.
 * Fails   as lam_scan; LAM_ERR_OPTION for a negative batch_size. Owner: current scope. Derivative: as f's. */
LAM_API lam_status lam_map(lam_fn *f, lam_list xs, lam_tensor **out, size_t n_out, const lam_map_options *options);

/* ---- named axes -------------------------------------------------------------------------------------------------- */

/* Inside a vmap that has this axis_name, a tensor is one of a batch; these work along the batch. Of nested axes of one
 * name the innermost is meant. What is the same for all examples counts as often as there are examples. Each of them
 * Fails   LAM_ERR_OPTION for a name that no vmap has here, with a list of those there are; for a vmap with chunk_size,
 *         which has not the whole batch at a time; where the function runs for some examples alone.
 * Owner   current scope.
 * Derivative  of the sum over all examples of what each of them gives: that of psum is psum.
 * Source  jax.lax, of which they have names and meaning. */

/* The sum, mean, largest and smallest over the batch, the same for all examples.
 * Shape   as x. Fails and Derivative: see above; of pmax and pmin as lam_max_reduce. */
LAM_API lam_tensor *lam_psum(lam_tensor *x, const char *axis_name);
LAM_API lam_tensor *lam_pmean(lam_tensor *x, const char *axis_name); /* Fails as lam_psum does. */
LAM_API lam_tensor *lam_pmax(lam_tensor *x, const char *axis_name);  /* Fails as lam_psum does. */
LAM_API lam_tensor *lam_pmin(lam_tensor *x, const char *axis_name);  /* Fails as lam_psum does. */

/* The examples one beside the other, the same for all of them.
 * Shape   [size, ...]. Fails as lam_psum does. Derivative: lam_psum_scatter. */
LAM_API lam_tensor *lam_all_gather(lam_tensor *x, const char *axis_name);

/* The sum over the batch, of which each example gets its own part along axis 0: lam_all_gather transposed. As of
 * lam_sum, that of integers and bools is i64.
 * Shape   [size, ...] -> [...]. Fails as lam_psum does; LAM_ERR_SHAPE for another length of axis 0. Derivative:
 *         lam_all_gather. */
LAM_API lam_tensor *lam_psum_scatter(lam_tensor *x, const char *axis_name);

/* From which example to which. */
typedef struct lam_route {
    int64_t from, to;
} lam_route;

/* What example routes[i].from has goes to routes[i].to; who gets nothing gets zeros.
 * Shape   as x.
 * Fails   as lam_psum does; LAM_ERR_INDEX for an example that does not exist; LAM_ERR_VALUE where one sends or gets
 *         twice. Derivative: the other way. */
LAM_API lam_tensor *lam_ppermute(lam_tensor *x, const lam_route routes[], size_t count, const char *axis_name);

/* Part i of each example's x along split_axis goes to example i, which has the parts it got side by side along
 * concat_axis.
 * Shape   as x, whose split_axis has one element for each example, without it, and with an axis of as many elements at
 *         concat_axis.
 * Fails   as lam_psum does; LAM_ERR_AXIS; LAM_ERR_SHAPE for another length of split_axis. Derivative: the other way. */
LAM_API lam_tensor *lam_all_to_all(lam_tensor *x, int split_axis, int concat_axis, const char *axis_name);

/* The place of an example in the batch, an i64 of rank 0. Fails as lam_psum does. Derivative: none. */
LAM_API lam_tensor *lam_axis_index(lam_ctx *ctx, const char *axis_name);

/* How many examples there are; -1 after a failure. Fails as lam_psum does. */
LAM_API int64_t lam_axis_size(lam_ctx *ctx, const char *axis_name);

#ifdef __cplusplus
}
#endif
#endif
