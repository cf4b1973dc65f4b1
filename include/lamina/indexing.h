/* Operations by index: taking, adding and setting elements that a tensor of indices names, and sorting. Indices are
 * integers of any dtype; negative ones count from the end. The opening comment of ops.h applies here too. */
#ifndef LAMINA_INDEXING_H
#define LAMINA_INDEXING_H

#include <lamina/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The meaning of an index outside [-n, n). */
typedef enum lam_index_mode {
    LAM_INDEX_ERROR = 0, /* fails with LAM_ERR_INDEX, naming the index */
    LAM_INDEX_CLIP,      /* the nearest element; as LAM_INDEX_FILL where there is none */
    LAM_INDEX_FILL       /* taking gives NaN, for signed integers the least, for u8 255, for bools true; adding and
                            setting ignore it */
} lam_index_mode;

/* Rebinds x as lam_set_ of lam_stack(list, axis) does, without the intermediate stack if x's own memory can be written:
 * the way to put columns side by side into a large tensor, part by part. axis: of the part, which has the rank of x.
 * Shape   the dims of each tensor in the list, with axis added, are those of the part, or broadcast to them.
 * Fails   as lam_stack and lam_set_. Returns x. Derivative: as of these two. */
LAM_API lam_tensor *lam_set_stack_(lam_tensor *x, lam_list list, int axis, lam_dims starts, lam_dims stops,
                                   lam_dims steps);

/* The elements of an axis that the indices name.
 * Shape   dims of x with the axis replaced by the dims of indices.
 * Fails   LAM_ERR_AXIS; LAM_ERR_DTYPE for indices that are not integers; LAM_ERR_INDEX. Derivative: the same of dx. */
LAM_API lam_tensor *lam_take(lam_tensor *x, lam_tensor *indices, int axis);

/* lam_take with a mode for indices that lie outside.
 * Fails   as lam_take does; LAM_ERR_OPTION for an invalid mode. */
LAM_API lam_tensor *lam_take_mode(lam_tensor *x, lam_tensor *indices, int axis, lam_index_mode mode);

/* Along one axis, the elements that indices name at the same place of the other axes: applies the result of
 * lam_argsort.
 * Shape   that of indices, whose rank is that of x; the other axes broadcast against those of x.
 * Fails   as lam_take does; LAM_ERR_SHAPE. Derivative: the same of dx. */
LAM_API lam_tensor *lam_take_along_axis(lam_tensor *x, lam_tensor *indices, int axis);

/* x with updates added to the elements of an axis that the indices name; repeated ones add up, in their order.
 * Shape   that of x; updates have the dims that lam_take would give, or broadcast to them. They get the dtype of x.
 * Fails   as lam_take does; LAM_ERR_SHAPE. Derivative: by x 1; by updates lam_take. */
LAM_API lam_tensor *lam_scatter_add(lam_tensor *x, lam_tensor *indices, lam_tensor *updates, int axis);

/* lam_scatter_add with a mode for indices that lie outside.
 * Fails   as lam_scatter_add does; LAM_ERR_OPTION for an invalid mode. */
LAM_API lam_tensor *lam_scatter_add_mode(lam_tensor *x, lam_tensor *indices, lam_tensor *updates, int axis,
                                         lam_index_mode mode);

/* x with the elements of an axis that the indices name multiplied by updates, or replaced by the smaller or the larger
 * of both; repeated indices all take part. NaN wins.
 * Shape   as lam_scatter_add.
 * Fails   as lam_scatter_add_mode does; LAM_ERR_DTYPE for the smaller or the larger of complex numbers. Derivative: for
 *         the product, by each factor the product of the others, without division, and linear in x; for the smaller and
 *         the larger 1 to the chosen element, shared equally among those that tie. */
LAM_API lam_tensor *lam_scatter_mul(lam_tensor *x, lam_tensor *indices, lam_tensor *updates, int axis,
                                    lam_index_mode mode);
LAM_API lam_tensor *lam_scatter_min(lam_tensor *x, lam_tensor *indices, lam_tensor *updates, int axis,
                                    lam_index_mode mode); /* Fails as lam_scatter_mul does. */
LAM_API lam_tensor *lam_scatter_max(lam_tensor *x, lam_tensor *indices, lam_tensor *updates, int axis,
                                    lam_index_mode mode); /* Fails as lam_scatter_mul does. */

/* x with the elements of an axis that the indices name replaced by updates; for repeated ones the last stays.
 * Shape   as lam_scatter_add.
 * Fails   as lam_scatter_add does. Derivative: by x 1 where it is kept, by updates 1 where they are kept. */
LAM_API lam_tensor *lam_put(lam_tensor *x, lam_tensor *indices, lam_tensor *updates, int axis);

/* lam_put with a mode for indices that lie outside.
 * Fails   as lam_put does; LAM_ERR_OPTION for an invalid mode. */
LAM_API lam_tensor *lam_put_mode(lam_tensor *x, lam_tensor *indices, lam_tensor *updates, int axis,
                                 lam_index_mode mode);

/* Along one axis, updates in place of the elements that indices name at the same place of the other axes.
 * Shape   that of x, broadcast on the other axes; indices as for lam_take_along_axis; updates broadcast to these.
 * Fails   as lam_take_along_axis does. Derivative: as lam_put. */
LAM_API lam_tensor *lam_put_along_axis(lam_tensor *x, lam_tensor *indices, lam_tensor *updates, int axis);

/* The indices as numbers in [0, n): negative ones count from the end.
 * Shape   that of indices, i64.
 * Fails   LAM_ERR_INDEX for an index outside [-n, n); LAM_ERR_DTYPE; LAM_ERR_VALUE for a negative n.
 *         Derivative: none. */
LAM_API lam_tensor *lam_wrap_index(lam_tensor *indices, int64_t n);

/* ---- bags of rows ------------------------------------------------------------------------------------------------ */

/* Weighted sums of rows of x: out[b] = the sum over t of weights[b, t] * x[indices[b, t]], without making the rows that
 * lam_take would. It is the product of x with a sparse matrix given by the entries of its rows: blend skinning,
 * interpolation, messages along the edges of a graph, embeddings of words.
 * Shape   x [rows, items...]; indices [bags..., terms]; weights broadcast to these; out [bags..., items...].
 * Fails   LAM_ERR_INDEX; LAM_ERR_DTYPE for indices that are not integers; LAM_ERR_SHAPE; LAM_ERR_RANK for rank 0.
 *         Derivative: by x lam_bag_spread, by the weights lam_bag_dots.
 * Source  torch.nn.functional.embedding_bag(mode="sum"). */
LAM_API lam_tensor *lam_embedding_bag(lam_tensor *x, lam_tensor *indices, lam_tensor *weights);

/* The transpose of lam_embedding_bag: out[r] = the sum of weights[b, t] * y[b] over the entries whose index is r.
 * Shape   y [bags..., items...]; indices [bags..., terms]; weights broadcast to these; out [rows, items...].
 * Fails   as lam_embedding_bag does; LAM_ERR_VALUE for a negative number of rows. Derivative: by y lam_embedding_bag,
 *         by the weights lam_bag_dots. */
LAM_API lam_tensor *lam_bag_spread(lam_tensor *y, lam_tensor *indices, lam_tensor *weights, int64_t rows);

/* Scores of the rows that indices name: out[b, t] = the sum over the items of x[indices[b, t]] * y[b], a few entries of
 * the product y x'.
 * Shape   x [rows, items...]; y [bags..., items...]; out: that of indices, [bags..., terms].
 * Fails   as lam_embedding_bag does. Derivative: by x lam_bag_spread, by y lam_embedding_bag. */
LAM_API lam_tensor *lam_bag_dots(lam_tensor *x, lam_tensor *indices, lam_tensor *y);

/* ---- NumPy's indexing -------------------------------------------------------------------------------------------- */

/* One item of LAM_AT; made by the macros below. */
typedef struct lam_at_item {
    int kind;
    int64_t start, stop, step; /* elements */
    lam_tensor *tensor;
} lam_at_item;

/* An index expression. */
typedef struct lam_at {
    int count;
    const lam_at_item *items;
} lam_at;

enum { LAM__AT_ELEMENT, LAM__AT_SLICE, LAM__AT_TENSOR, LAM__AT_NEW, LAM__AT_REST };

LAM__INLINE lam_at_item lam__at_item(int kind, int64_t start, int64_t stop, int64_t step, lam_tensor *tensor) {
    lam_at_item made;
    made.kind = kind;
    made.start = start;
    made.stop = stop;
    made.step = step;
    made.tensor = tensor;
    return made;
}

/* NumPy's index expressions: x[2:, i, None, ..., -1] is x at LAM_AT(LAM_SLICE(2, LAM_END, 1), LAM_TENSOR(i),
 * LAM_NEW_AXIS, LAM_REST, LAM_ELEMENT(-1)). Axes that are not named are taken whole. Tensors hold integers and
 * broadcast; their dims take the place of the first of them, or come first if other axes, or LAM_REST, even for no
 * axes, come between them.
 * Owner   the enclosing block (C++: the full expression). */
#ifdef __cplusplus
extern "C++" {
namespace lam__cxx {
template <std::size_t N> constexpr auto at(const lam_at_item (&items)[N]) {
    return keep<lam_at, lam_at_item>(items, std::make_index_sequence<N>{});
}
} // namespace lam__cxx
}
#define LAM_AT(...) (::lam__cxx::at({lam_at_item{}, __VA_ARGS__}))
#else
#define LAM_AT(...) ((lam_at){(int)LAM__COUNT(__VA_ARGS__), (const lam_at_item[]){{0, 0, 0, 0, NULL}, __VA_ARGS__} + 1})
#endif
#define LAM_ELEMENT(index)           lam__at_item(LAM__AT_ELEMENT, index, 0, 0, NULL)     /* one; its axis goes */
#define LAM_SLICE(start, stop, step) lam__at_item(LAM__AT_SLICE, start, stop, step, NULL) /* as lam_slice */
#define LAM_ALL                      lam__at_item(LAM__AT_SLICE, 0, LAM_END, 1, NULL)     /* the axis whole */
#define LAM_TENSOR(indices)          lam__at_item(LAM__AT_TENSOR, 0, 0, 0, indices)       /* those named */
#define LAM_NEW_AXIS                 lam__at_item(LAM__AT_NEW, 0, 0, 0, NULL)             /* of one element */
#define LAM_REST                     lam__at_item(LAM__AT_REST, 0, 0, 0, NULL)            /* all other axes */

/* The elements at an index expression. A view where it holds no tensors.
 * Fails   LAM_ERR_INDEX; LAM_ERR_RANK for too many axes; LAM_ERR_SHAPE where tensors do not broadcast; LAM_ERR_DTYPE
 *         for tensors that do not hold integers; LAM_ERR_VALUE for a step of 0; LAM_ERR_OPTION. Derivative:
 *         identity. */
LAM_API lam_tensor *lam_at_get(lam_tensor *x, lam_at at);

/* lam_at_get with a mode for indices that lie outside.
 * Fails   as lam_at_get does; LAM_ERR_OPTION for an invalid mode. */
LAM_API lam_tensor *lam_at_get_mode(lam_tensor *x, lam_at at, lam_index_mode mode);

typedef enum lam_at_op {
    LAM_AT_SET = 0, /* of elements named more than once the last value stays */
    LAM_AT_ADD,
    LAM_AT_MUL,
    LAM_AT_MIN,
    LAM_AT_MAX
} lam_at_op;

/* x with the elements at an index expression replaced by values, or combined with them, which broadcast to what
 * lam_at_get gives and are cast to the dtype of x. Elements that are named more than once are combined with each.
 * Shape   that of x.
 * Fails   as lam_at_get does. Derivative: as lam_put and lam_scatter_add, _mul, _min, _max. */
LAM_API lam_tensor *lam_at_set(lam_tensor *x, lam_at at, lam_tensor *values);
LAM_API lam_tensor *lam_at_add(lam_tensor *x, lam_at at, lam_tensor *values); /* Fails as lam_at_set does. */
LAM_API lam_tensor *lam_at_mul(lam_tensor *x, lam_at at, lam_tensor *values); /* Fails as lam_at_set does. */
LAM_API lam_tensor *lam_at_min(lam_tensor *x, lam_at at, lam_tensor *values); /* Fails as lam_at_set does. */
LAM_API lam_tensor *lam_at_max(lam_tensor *x, lam_at at, lam_tensor *values); /* Fails as lam_at_set does. */

/* All of these, with a mode for indices that lie outside.
 * Fails   as lam_at_set does; LAM_ERR_OPTION for an invalid update or mode. */
LAM_API lam_tensor *lam_at_update(lam_tensor *x, lam_at at, lam_tensor *values, lam_at_op op, lam_index_mode mode);

/* ---- windows that start where a tensor says ---------------------------------------------------------------------- */

/* The elements from starts[i] on, sizes.dims[i] of them, along each axis. Starts are integers of rank 0; negative ones
 * count from the end; they are moved so that the slice lies within x. If all starts are known, at no level, the result
 * is a view, as from lam_slice.
 * Shape   sizes.
 * Fails   LAM_ERR_SHAPE unless there is one start and one size per axis; LAM_ERR_DTYPE for other starts;
 *         LAM_ERR_VALUE for a size larger than the axis. Derivative: identity. */
LAM_API lam_tensor *lam_dynamic_slice(lam_tensor *x, lam_list starts, lam_dims sizes);

/* x with the elements that lam_dynamic_slice would select replaced by update, which is cast to the dtype of x.
 * Fails   as lam_dynamic_slice does. Derivative: by x 1 elsewhere, by update 1. */
LAM_API lam_tensor *lam_dynamic_update_slice(lam_tensor *x, lam_tensor *update, lam_list starts);

/* The dimension numbers of lax.gather. Its result has the axes of starts but the last one, and those of the window. */
typedef struct lam_gather_options {
    lam_axes offset_axes;       /* axes of the result that are those of the window, in their order; no list: none */
    lam_axes collapsed_axes;    /* axes of x that the result lacks: their window has one element; no list: none */
    lam_axes index_axes;        /* axes of x that the elements of a start are for; no list: none */
    lam_axes batch_axes;        /* axes of x that are iterated together with axes of starts; no list: none */
    lam_axes starts_batch_axes; /* these axes of starts */
    lam_dims window;            /* elements, one number per axis of x */
    lam_index_mode mode;        /* of windows that do not lie within x: fail, are moved inside, or give NaN and are left
                                   out */
} lam_gather_options;

/* Windows of x, one for each start along the last axis of starts.
 * Fails   LAM_ERR_AXIS, LAM_ERR_SHAPE, LAM_ERR_VALUE for numbers that do not fit; LAM_ERR_INDEX; LAM_ERR_DTYPE for
 *         starts that are not integers; LAM_ERR_OPTION. Derivative: identity.
 * Source  XLA operation semantics, Gather and Scatter. */
LAM_API lam_tensor *lam_gather(lam_tensor *x, lam_tensor *starts, const lam_gather_options *options);

/* x with updates, which have the dims that lam_gather gives, put into its windows or combined with them.
 * Fails   as lam_gather does; LAM_ERR_SHAPE for other updates. Derivative: as lam_at_update. */
LAM_API lam_tensor *lam_scatter(lam_tensor *x, lam_tensor *starts, lam_tensor *updates, lam_at_op op,
                                const lam_gather_options *options);

/* ---- counting ---------------------------------------------------------------------------------------------------- */

/* For each position on an axis of n elements, the number of the last index that names it; -1 if none does.
 * Shape   dims of indices with the last one replaced by n; i64.
 * Fails   LAM_ERR_RANK for rank 0; LAM_ERR_VALUE for a negative n; LAM_ERR_DTYPE; LAM_ERR_INDEX. Derivative: none. */
LAM_API lam_tensor *lam_index_inverse(lam_tensor *indices, int64_t n);

/* 1 at the position that the index names, 0 at the n - 1 others; only zeros for an index outside [0, n).
 * Shape   dims of indices, then n.
 * Fails   LAM_ERR_DTYPE for indices that are not integers, or an invalid dtype; LAM_ERR_VALUE for a negative n.
 *         Derivative: none. */
LAM_API lam_tensor *lam_one_hot(lam_tensor *indices, int64_t n, lam_dtype dtype);

/* The positions where x is not 0: out[axis] gets the index along each axis of the first `size` such elements, in
 * row-major order, followed by -1 if there are fewer.
 * Shape   out: one i64 vector of `size` for each axis of x.
 * Fails   LAM_ERR_RANK for rank 0; LAM_ERR_VALUE for a negative size; LAM_ERR_NULL. For a failed x nothing is set,
 *         since its rank is not known. Owner: current scope. Derivative: none. */
LAM_API lam_status lam_nonzero(lam_tensor *x, int64_t size, lam_tensor **out);

/* The distinct elements of x in ascending order, with one NaN; if there are fewer than `size`, the first repeated, if
 * more, the smallest. inverse, if not NULL, gets the position among them of each element of x; counts, if not NULL, how
 * often each occurs.
 * Shape   [size]; inverse: that of x, i64; counts: [size], i64.
 * Fails   LAM_ERR_VALUE for a negative size, and for one above 0 when x is empty. Derivative: that of taking. */
LAM_API lam_tensor *lam_unique(lam_tensor *x, int64_t size, lam_tensor **inverse, lam_tensor **counts);

/* lam_unique of the rows of x along its first axis, in lexicographic order; NaN equals NaN here.
 * Shape   [size, items...]; inverse: [rows], counts: [size]; both i64.
 * Fails   LAM_ERR_RANK for rank 0; as lam_unique does; LAM_ERR_DTYPE for complex numbers.
 *         Derivative: that of taking. */
LAM_API lam_tensor *lam_unique_rows(lam_tensor *x, int64_t size, lam_tensor **inverse, lam_tensor **counts);

/* Whether each element of x is one of the elements of the other tensor; NaN never is.
 * Shape   that of x; bool.
 * Fails   LAM_ERR_DTYPE for complex operands. Derivative: none. */
LAM_API lam_tensor *lam_is_in(lam_tensor *x, lam_tensor *elements);

/* How often each of 0, 1, ..., length - 1 occurs in x, or the sum of the weights (NULL: none) there; other numbers are
 * left out.
 * Shape   [length], i64 or the dtype of the weights, which have the dims of x.
 * Fails   LAM_ERR_DTYPE unless x holds integers; LAM_ERR_VALUE for a negative length; LAM_ERR_SHAPE.
 *         Derivative: by the weights 1. */
LAM_API lam_tensor *lam_bincount(lam_tensor *x, lam_tensor *weights, int64_t length);

/* How many elements of x lie in [edges i, edges i + 1), in the last bin also on its right edge, or the sum of their
 * weights (NULL: none).
 * Shape   one element less than edges.
 * Fails   LAM_ERR_RANK unless edges is a vector; LAM_ERR_SHAPE for less than 2 edges; LAM_ERR_VALUE unless they ascend,
 *         equal ones being allowed and NaN not. If elements cannot be read, nothing is refused and any of the counts
 *         may be wrong. Derivative: by the weights 1. */
LAM_API lam_tensor *lam_histogram(lam_tensor *x, lam_tensor *edges, lam_tensor *weights);

/* The same for points with several coordinates; the list holds the edges for each.
 * Shape   x [points, coordinates], weights [points] to one axis per coordinate, with one element less than its edges.
 * Fails   LAM_ERR_ARITY without edges; LAM_ERR_RANK unless edges are vectors; LAM_ERR_SHAPE; LAM_ERR_OVERFLOW;
 *         LAM_ERR_VALUE as lam_histogram does. Derivative: by the weights 1. */
LAM_API lam_tensor *lam_histogram_nd(lam_tensor *x, lam_list edges, lam_tensor *weights);

/* Edges of `bins` equal bins from the least element of x to its greatest; half a unit to both sides if these are equal,
 * from 0 to 1 without elements. Integers are taken as f64.
 * Shape   [bins + 1].
 * Fails   LAM_ERR_VALUE for less than one bin; LAM_ERR_DTYPE for complex operands. Derivative: by x. */
LAM_API lam_tensor *lam_histogram_edges(lam_tensor *x, int64_t bins);

/* ---- sorting -------------------------------------------------------------------------------------------------- */

/* The indices that put an axis in ascending order; equal elements keep theirs, NaN comes last.
 * Shape   that of x, i64.
 * Fails   LAM_ERR_AXIS. Derivative: none. */
LAM_API lam_tensor *lam_argsort(lam_tensor *x, int axis);

/* The elements of an axis in ascending order, NaN last.
 * Shape   that of x.
 * Fails   LAM_ERR_AXIS. Derivative: dx in the same order. */
LAM_API lam_tensor *lam_sort(lam_tensor *x, int axis);

/* The indices that put an axis in ascending order of several keys of equal dims, the last being the most significant;
 * i64.
 * Shape   that of the keys.
 * Fails   LAM_ERR_ARITY without keys; LAM_ERR_SHAPE unless they have equal dims; LAM_ERR_AXIS. Derivative: none. */
LAM_API lam_tensor *lam_lexsort(lam_list keys, int axis);

/* The k largest elements of the last axis in descending order, NaN first; indices, if not NULL, gets their positions.
 * Shape   that of x with k in the last place, both.
 * Fails   LAM_ERR_AXIS for rank 0; LAM_ERR_VALUE for k outside [0, n]. Derivative: that of the elements taken. */
LAM_API lam_tensor *lam_top_k(lam_tensor *x, int64_t k, lam_tensor **indices);

/* How many elements of an ascending vector lie before each value (right: or are equal to it); NaN is beyond all else.
 * Shape   that of values, i64.
 * Fails   LAM_ERR_RANK unless sorted is a vector. Derivative: none. */
LAM_API lam_tensor *lam_searchsorted(lam_tensor *sorted, lam_tensor *values, bool right);

/* ---- made of the above ------------------------------------------------------------------------------------------ */

/* x repeated as a whole, repeats.dims[i] times along axis i. Numbers and axes are matched from the last on, as in
 * NumPy: axes without a number stay as they are, numbers without an axis make new ones in front.
 * Shape   sizes multiplied.
 * Fails   LAM_ERR_RANK beyond LAM_MAX_RANK; LAM_ERR_VALUE for a negative number. Derivative: identity. */
LAM_API lam_tensor *lam_tile(lam_tensor *x, lam_dims repeats);

/* Each element of an axis `count` times.
 * Shape   that of x with the axis count times as long.
 * Fails   LAM_ERR_AXIS; LAM_ERR_VALUE for a negative count. Derivative: identity. */
LAM_API lam_tensor *lam_repeat(lam_tensor *x, int64_t count, int axis);

/* The elements of an axis moved by `shift` places towards its end; those that fall off reappear at the start.
 * Fails   LAM_ERR_AXIS. Derivative: identity. */
LAM_API lam_tensor *lam_roll(lam_tensor *x, int64_t shift, int axis);

/* The same with the shift given as an integer tensor of rank 0.
 * Fails   LAM_ERR_AXIS; LAM_ERR_RANK; LAM_ERR_DTYPE unless shift is an integer. Derivative: identity. */
LAM_API lam_tensor *lam_roll_by(lam_tensor *x, lam_tensor *shift, int axis);

/* Two axes exchanged.
 * Fails   LAM_ERR_AXIS. Derivative: identity. */
LAM_API lam_tensor *lam_swapaxes(lam_tensor *x, int axis1, int axis2);

/* The plane of two axes turned by `times` quarters from axis1 to axis2.
 * Shape   an odd number of quarters exchanges the sizes.
 * Fails   LAM_ERR_AXIS, also for one axis twice. Derivative: identity. */
LAM_API lam_tensor *lam_rot90(lam_tensor *x, int times, int axis1, int axis2);

/* Each vector along its own axis of a common grid: out[i] has at [i0, i1, ...] element ii of vector i.
 * Shape   out: the sizes of all vectors, in their order (numpy.meshgrid with indexing="ij").
 * Fails   LAM_ERR_RANK unless all are vectors; LAM_ERR_ARITY unless n_out is their number. Owner: current scope.
 *         Derivative: identity. */
LAM_API lam_status lam_meshgrid(lam_list vectors, lam_tensor **out, size_t n_out);

/* For a vector, the matrix with it on diagonal `offset` and zeros elsewhere; for a matrix, that diagonal.
 * Shape   [n] to a square of n + |offset|; [m, n] to the length of the diagonal.
 * Fails   LAM_ERR_RANK otherwise; LAM_ERR_OVERFLOW. Derivative: identity. */
LAM_API lam_tensor *lam_diag(lam_tensor *x, int64_t offset);

#ifdef __cplusplus
}
#endif
#endif
