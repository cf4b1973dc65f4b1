/* Reductions and scans with a function of the user's. Neighbours are combined by the function, all pairs at once, then
 * neighbours of these: a tree of logarithmic depth that keeps the order of the elements. Made of public calls, so that
 * derivatives are those of the function, to any order. The function must be associative, since nothing says where the
 * tree is cut; it need not be commutative. */
#include "transforms/control.h"

#include "lib/primitives/apply.h"
#include "lib/primitives/axes.h"
#include "lib/primitives/matrices.h"

#include <lamina/fn.h>
#include <lamina/ops.h>
#include <lamina/tensor.h>
#include <lamina/transforms.h>

/* One round along axis 0: pairs are combined, an odd one at the end stays. x is [n, m]; the pairs of all m columns make
 * one batch, so a round is one call. What the function gives is checked here, at the first call, where its type is
 * known. Neighbours lie side by side in [pairs, 2, columns], so both operands are views of it. */
static lam_tensor *combine_pairs(lam_fn *pairs, lam_tensor *x) {
    if (lam_failed(x)) return x;
    int64_t n = lam_dim(x, 0), even = n - n % 2;
    lam_dims own = lam_dims_of(x);
    int64_t dims[2] = {even / 2 * own.dims[1], 1}, back[2] = {even / 2, own.dims[1]};
    int64_t two[3] = {even / 2, 2, own.dims[1]};
    lam_tensor *both = lam__apply_reshape(lam_slice_axis(x, 0, 0, even), 3, two);
    lam_tensor *left = lam__apply_reshape(lam_index(both, 1, 0), 1, dims);
    lam_tensor *right = lam__apply_reshape(lam_index(both, 1, 1), 1, dims);
    lam_tensor *made = lam_apply(pairs, LAM_LIST(left, right));
    if (lam_failed(made)) return made;
    if (lam_rank(made) != 1 || lam_dtype_of(made) != lam_dtype_of(x))
        return lam__axes_fail("reduce", made, lam_rank(made) != 1 ? LAM_ERR_SHAPE : LAM_ERR_DTYPE,
                              "the function must give an element of rank 0 and of the dtype of x");
    made = lam__apply_reshape(made, 2, back);
    return even == n ? made : lam_concatenate(LAM_LIST(made, lam_slice_axis(x, 0, even, n)), 0);
}

/* x as [elements over the axes of the set, all others]. Axes that go come first and keep their order, so elements are
 * met in row-major order of those. */
static lam_tensor *as_rows(lam_tensor *x, lam__axis_set set, lam_dims *kept, int64_t dims[]) {
    lam_dims own = lam_dims_of(x);
    int order[LAM_INNER_RANK], n = 0, rank = 0;
    int64_t two[2] = {1, 1};
    for (int i = 0; i < own.rank; i++)
        if (set >> i & 1u) order[n++] = i, two[0] *= own.dims[i];
    for (int i = 0; i < own.rank; i++)
        if (!(set >> i & 1u)) order[n++] = i, two[1] *= dims[rank++] = own.dims[i];
    *kept = (lam_dims){rank, dims};
    return lam__apply_reshape(lam_transpose(x, (lam_axes){own.rank, order}), 2, two);
}

/* init is combined in front of the result, once: f(init, x0 x1 ...). Without elements the result is init itself;
 * without columns there is nothing to call f for. f is mapped once for all rounds. Each round halves the elements, so
 * there are as many calls as their number has bits. */
static lam_tensor *reduce_rows(lam_fn *f, lam_tensor *x, lam_tensor *init) {
    lam_fn *pairs = lam_vmap(f, NULL);
    if (lam_failed(x)) return x;
    if (lam_dim(x, 1) == 0) return lam_broadcast_to(init, LAM_DIMS(0));
    while (!lam_failed(x) && lam_dim(x, 0) > 1) x = combine_pairs(pairs, x);
    if (lam_failed(x)) return x;
    lam_tensor *first = lam_broadcast_to(init, LAM_DIMS(1, lam_dim(x, 1)));
    return lam_dim(x, 0) == 0 ? lam_index(first, 0, 0)
                              : lam_index(combine_pairs(pairs, lam_concatenate(LAM_LIST(first, x), 0)), 0, 0);
}

/* Whether f combines two elements to one, which nobody else asks where there are none. */
static bool combines(lam_fn *f, lam_tensor *x) {
    if (!lam__control_check_fn(lam_ctx_of(x), "reduce", f, 0)) return false;
    if (f->inputs == 2 && f->outputs == 1) return true;
    lam__axes_fail("reduce", x, LAM_ERR_ARITY, "'%s' takes %d and gives %d, where it is to make one element of two",
                   f->name, f->inputs, f->outputs);
    return false;
}

/* `kept` and `dims` are the axes that stay; with keepdims the others stay as axes of one element. The set is collected
 * before f is called, so that an axis that is not there costs no call. */
lam_tensor *lam_reduce(lam_fn *f, lam_tensor *x, lam_tensor *init, const lam_reduce_options *options) {
    static const lam_reduce_options none;
    const lam_reduce_options *o = options ? options : &none;
    lam_tensor *in[2] = {x, init}, *failed;
    lam_value *values[2];
    int64_t dims[LAM_INNER_RANK];
    lam__axis_set set;
    lam_dims kept, own = lam_dims_of(x);
    if (!lam__scope_operands("reduce", 2, in, values, &failed)) return failed;
    if (!combines(f, x) || !lam__axes_collect_set("reduce", x, o->axes, own.rank, &set)) return lam__axes_failed(x);
    if (lam_rank(init) != 0 || lam_dtype_of(init) != lam_dtype_of(x))
        return lam__matrices_fail("reduce", 2, (lam_tensor *[]){x, init},
                                  lam_rank(init) ? LAM_ERR_SHAPE : LAM_ERR_DTYPE, NULL,
                                  "init must be of rank 0 and have the dtype of x");
    lam_tensor *out = reduce_rows(f, as_rows(x, set, &kept, dims), init);
    if (lam_failed(out)) return out;
    for (int i = 0; o->keepdims && i < own.rank; i++) dims[i] = set >> i & 1u ? 1 : own.dims[i];
    return lam__apply_reshape(out, o->keepdims ? own.rank : kept.rank, dims);
}

/* ---- scans ------------------------------------------------------------------------------------------------------- */

/* What stays the same on all levels of the tree: several tensors are scanned together, along one axis. f is called with
 * all left operands, then all right ones. */
typedef struct scan {
    lam_ctx *ctx;
    lam_fn *f;
    size_t count;
    int axis;
} scan;

/* Every second element of the axis from `first` on, `count` of them. Slices of none are written as such, since a stop
 * before the start would be an error. */
static lam_tensor *every_second(lam_tensor *x, int axis, int64_t first, int64_t count) {
    int64_t starts[LAM_INNER_RANK] = {0}, stops[LAM_INNER_RANK], steps[LAM_INNER_RANK];
    const int rank = lam_rank(x);
    if (count == 0 || lam_failed(x)) return lam_slice_axis(x, axis, 0, 0);
    for (int i = 0; i < rank; i++) stops[i] = LAM_END, steps[i] = 1;
    starts[axis] = first;
    stops[axis] = first + 2 * count - 1;
    steps[axis] = 2;
    return lam_slice(x, (lam_dims){rank, starts}, (lam_dims){rank, stops}, (lam_dims){rank, steps});
}

/* f of the left and the right operands, which must give what has the type of these. It is the first place where the
 * types that f gives are known. */
static bool combined(const scan *s, lam_tensor *both[], lam_tensor *out[]) {
    if (lam_call(s->f, (lam_list){2 * s->count, both}, out, s->count) != LAM_OK) return false;
    for (size_t i = 0; i < s->count; i++) {
        lam_dims got = lam_dims_of(out[i]), want = lam_dims_of(both[i]);
        bool same = got.rank == want.rank;
        for (int k = 0; same && k < got.rank; k++) same = got.dims[k] == want.dims[k];
        if (same && lam_dtype_of(out[i]) == lam_dtype_of(both[i])) continue;
        lam__matrices_fail(
            "associative_scan", 2, (lam_tensor *[]){both[i], out[i]}, same ? LAM_ERR_DTYPE : LAM_ERR_SHAPE,
            "it is given parts of the operands, with the axis, and works element by element along it",
            "result %zu of '%s' has not the type of the parts of operand %zu that it was given", i, s->f->name, i);
        return false;
    }
    return true;
}

/* a0 b0 a1 b1 ...: b has as many elements as a, or one fewer. Stacked along an axis behind this one and flattened,
 * pairs are side by side; the odd one out comes last. Tensors of the most axes there may be have no room for another
 * one, so axes on either side are one meanwhile. */
static lam_tensor *interleaved(lam_tensor *a, lam_tensor *b, int axis) {
    const int64_t n = lam_dim(b, axis);
    const lam_dims own = lam_dims_of(b);
    const bool full = own.rank >= LAM_MAX_RANK;
    int64_t dims[LAM_INNER_RANK], three[3] = {1, n, 1};
    for (int i = 0; i < own.rank; i++) {
        dims[i] = i == axis ? 2 * n : own.dims[i];
        if (i != axis) three[i < axis ? 0 : 2] *= own.dims[i];
    }
    lam_tensor *even = lam_slice_axis(a, axis, 0, n);
    if (full) {
        even = lam__apply_reshape(even, 3, three);
        b = lam__apply_reshape(b, 3, three);
    }
    lam_tensor *out = lam__apply_reshape(lam_stack(LAM_LIST(even, b), full ? 2 : axis + 1), own.rank, dims);
    return lam_dim(a, axis) == n ? out : lam_concatenate(LAM_LIST(out, lam_slice_axis(a, axis, n, n + 1)), axis);
}

/* The scan of the pairs is that of every second element; each of the others is one step from it. The recursion is as
 * deep as a number of elements has bits. Blelloch's and Ladner and Fischer's way: about 2 n calls of f for elements, in
 * 2 log n calls of batches, where a plain scan takes n one after the other. */
static bool scan_all(const scan *s, lam_tensor *x[], lam_tensor *out[]) {
    const int64_t n = lam_dim(x[0], s->axis), half = n / 2, others = (n - 1) / 2;
    const size_t k = s->count;
    for (size_t i = 0; i < k; i++) out[i] = x[i];
    if (n < 2) return true;
    lam_tensor **room = lam__apply_room(s->ctx, 5 * k);
    if (!room) return false;
    lam_tensor **both = room, **odd = room + 2 * k, **even = room + 3 * k, **pairs = room + 4 * k;
    for (size_t i = 0; i < k; i++) {
        both[i] = every_second(x[i], s->axis, 0, half);
        both[k + i] = every_second(x[i], s->axis, 1, half);
    }
    if (!combined(s, both, pairs) || !scan_all(s, pairs, odd)) return false;
    for (size_t i = 0; i < k; i++) {
        both[i] = lam_slice_axis(odd[i], s->axis, 0, others);
        both[k + i] = every_second(x[i], s->axis, 2, others);
    }
    if (others > 0 && !combined(s, both, even)) return false;
    for (size_t i = 0; i < k; i++) {
        lam_tensor *first = lam_slice_axis(x[i], s->axis, 0, 1);
        even[i] = others > 0 ? lam_concatenate(LAM_LIST(first, even[i]), s->axis) : first;
        out[i] = interleaved(even[i], odd[i], s->axis);
        if (lam_failed(out[i])) return false;
    }
    return true;
}

/* Whether f and the operands go together; the axis is brought to 0..rank-1. in[] gets the operands. All operands go
 * along one axis, counted in the first of them. */
static bool prepare(lam__control *c, scan *s, lam_list x, lam_tensor *in[]) {
    const size_t n = c->n_out;
    if (!n || x.count != n || (size_t)s->f->inputs != 2 * n || (size_t)s->f->outputs != n) {
        lam__error_set(c->ctx, LAM_ERR_ARITY, "f takes every operand twice, and gives every one once",
                       "%s of '%s': it takes %d and gives %d; there are %zu operands, and room for %zu results",
                       c->what, s->f->name, s->f->inputs, s->f->outputs, x.count, n);
        return false;
    }
    if (!lam__control_operands(c, "operands", x, in)) return false;
    if (!lam__apply_axis(c->what, in[0], lam_rank(in[0]), &s->axis)) return false;
    for (size_t i = 1; i < n; i++) {
        if (lam_rank(in[i]) > s->axis && lam_dim(in[i], s->axis) == lam_dim(in[0], s->axis)) continue;
        lam__matrices_fail(c->what, 2, (lam_tensor *[]){in[0], in[i]}, LAM_ERR_SHAPE,
                           "all have the same size along the axis", "operands 0 and %zu differ in size along axis %d",
                           i, s->axis);
        return false;
    }
    return true;
}

/* A view, also on the way back. */
static void turn_over(size_t n, lam_tensor *x[], int axis) {
    for (size_t i = 0; i < n; i++) x[i] = lam_reverse(x[i], LAM_AXES(axis));
}

/* In reverse the elements are turned over before and after. f gets them in the order in which the scan meets them. */
lam_status lam_associative_scan(lam_fn *f, lam_list x, int axis, bool reverse, lam_tensor **out, size_t n_out) {
    lam__control c;
    lam_status status;
    if (!lam__control_begin(&c, "associative_scan", 1, &f, x, out, n_out, &status)) return status;
    scan s = {c.ctx, f, n_out, axis};
    lam_tensor **in = lam__apply_room(c.ctx, 2 * n_out), **made = in ? in + n_out : NULL;
    bool fine = in && prepare(&c, &s, x, in);
    if (fine && reverse) turn_over(n_out, in, s.axis);
    fine = fine && scan_all(&s, in, made);
    if (fine && reverse) turn_over(n_out, made, s.axis);
    return lam__control_end(&c, fine ? made : NULL);
}
