/* Cosine transforms, convolutions of tensors and planes, trends, interpolation on grids: composed of Fourier
 * transforms, lam_conv_general and indices that are constants. */
#include "lib/primitives/apply.h"
#include "lib/primitives/axes.h"
#include "lib/primitives/matrices.h"
#include "lib/tensor/dtype.h"

#include <lamina/bits.h>
#include <lamina/ops.h>
#include <lamina/signal.h>
#include <lamina/tensor.h>

#include <math.h>

#define PI   3.14159265358979323846
#define MOST 0x1p62 /* how far away a place may lie, beyond which it is taken to lie there */

/* A whole-number ramp 0, 1, ..., n - 1 beside x. Integers, since they index or are compared. */
static lam_tensor *ramp(lam_tensor *x, int64_t n) {
    return lam_iota(lam_ctx_of(x), LAM_I64, LAM_DIMS(n), 0);
}

/* Records that complex operands have no meaning here, and is true then. */
static bool is_complex(const char *operation, lam_tensor *x, lam_tensor **failed) {
    if (!lam__dtype_is_complex((int)lam_dtype_of(x))) return false;
    *failed = lam__axes_fail_with(operation, x, LAM_ERR_DTYPE, "work on lam_real and lam_imag of it",
                                  "not defined for complex numbers");
    return true;
}

/* ---- cosine transforms ------------------------------------------------------------------------------------------- */

/* Even places in rising order, then odd ones in falling order (Makhoul 1980): place j of the sequence whose Fourier
 * transform is wanted. One Fourier transform of length n does what would take one of 2 n. */
static lam_tensor *folded(lam_tensor *x, int64_t n) {
    lam_tensor *j = ramp(x, n), *twice = lam_mul(j, 2);
    return lam_where(lam_lt(twice, lam_full_like(j, (double)n)), twice, lam_sub(2 * n - 1, twice));
}

/* Its inverse: even i come from i/2, odd ones from n - (i + 1)/2. */
static lam_tensor *unfolded(lam_tensor *x, int64_t n) {
    lam_tensor *i = ramp(x, n), *half = lam_shift_right_logical(lam_add(i, 1), 1), *odd = lam_eq(lam_rem(i, 2), 1);
    return lam_where(odd, lam_sub(n, half), half);
}

/* cos and sin of pi k / (2 n), of x's dtype. Angles are computed in f64, so that those of large k keep their digits. */
static void quarter_turns(lam_tensor *x, int64_t n, lam_tensor **cosine, lam_tensor **sine) {
    lam_tensor *angle = lam_mul(PI / (2 * (double)n), lam_cast(ramp(x, n), LAM_F64)), *s, *c;
    lam_sincos(angle, &s, &c);
    *cosine = lam_cast(c, lam_dtype_of(x));
    *sine = lam_cast(s, lam_dtype_of(x));
}

/* What makes the rows of the transform unit vectors. The first row is constant, and longer than the others by the root
 * of 2. */
static lam_tensor *unit_scale(lam_tensor *x, int64_t n) {
    lam_tensor *first = lam_eq(ramp(x, n), 0);
    return lam_where(first, sqrt(0.25 / (double)n),
                     lam_full_like(lam_cast(first, lam_dtype_of(x)), sqrt(0.5 / (double)n)));
}

/* Along the last axis: 2 Re(exp(-i pi k / (2 n)) V_k), V the Fourier transform of the folded sequence. */
static lam_tensor *forward(lam_tensor *x, bool ortho) {
    const int64_t n = lam_dim(x, -1);
    lam_tensor *c, *s, *v = lam_fft(lam_take(x, folded(x, n), -1), NULL);
    /* The product's real part alone, so no complex product is made. */
    quarter_turns(x, n, &c, &s);
    lam_tensor *y = lam_mul(2.0, lam_add(lam_mul(lam_real(v), c), lam_mul(lam_imag(v), s)));
    return ortho ? lam_mul(y, unit_scale(x, n)) : y;
}

/* V_k = exp(i pi k / (2 n)) (y_k - i y_(n-k)) / 2 with y_n = 0, back to the sequence, unfolded. What `forward` does,
 * undone step by step. */
static lam_tensor *backward(lam_tensor *x, bool ortho) {
    const int64_t n = lam_dim(x, -1);
    lam_tensor *c, *s, *y = ortho ? lam_div(x, unit_scale(x, n)) : x;
    lam_tensor *rest = lam_reverse(lam_slice_axis(y, -1, 1, n), LAM_AXES(-1)), *first = lam_slice_axis(y, -1, 0, 1);
    lam_tensor *mirror = lam_concatenate(LAM_LIST(lam_zeros_like(first), rest), -1);
    quarter_turns(x, n, &c, &s);
    lam_tensor *re = lam_add(lam_mul(c, y), lam_mul(s, mirror)), *im = lam_sub(lam_mul(s, y), lam_mul(c, mirror));
    lam_tensor *v = lam_real(lam_ifft(lam_mul(0.5, lam_complex(re, im)), NULL));
    return lam_take(v, unfolded(x, n), -1);
}

/* Along each of the axes in turn; `many` takes all of them where there is no list. The axis in hand is moved to the
 * end, where rows are read in order. */
static lam_tensor *cosine(const char *operation, lam_tensor *x, lam_axes axes, bool many, bool ortho,
                          lam_tensor *transform(lam_tensor *, bool)) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *failed, *given = x;
    int count, list[LAM_INNER_RANK];
    if (!lam__matrices_operands(operation, true, 1, &x, &x, &failed) || is_complex(operation, given, &failed))
        return failed;
    if (!lam__axes_collect(operation, x, axes, lam_rank(x), &count, list)) return lam__axes_failed(x);
    if (count < 0) {
        count = lam_rank(x);
        for (int i = 0; i < count; i++) list[i] = i;
    }
    if (!many && count == 0) return lam__axes_fail(operation, given, LAM_ERR_AXIS, "there is no axis to transform");
    for (int i = 0; i < count; i++) {
        if (lam_dim(x, list[i]) == 0)
            return lam__axes_fail(operation, given, LAM_ERR_SHAPE, "axis %d has no elements", list[i]);
        x = lam_moveaxis(transform(lam_moveaxis(x, list[i], -1), ortho), -1, list[i]);
    }
    return lam__scope_only(x == given ? lam_alias(x) : x, since);
}

/* Types 2 and 3, which are each other's inverse. */
lam_tensor *lam_dct(lam_tensor *x, int axis, bool ortho) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_named(cosine("dct", x, LAM_AXES(axis), false, ortho, forward), since);
}

/* Type 3, scaled so that it undoes dct. */
lam_tensor *lam_idct(lam_tensor *x, int axis, bool ortho) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_named(cosine("idct", x, LAM_AXES(axis), false, ortho, backward), since);
}

lam_tensor *lam_dctn(lam_tensor *x, lam_axes axes, bool ortho) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_named(cosine("dctn", x, axes, true, ortho, forward), since);
}

lam_tensor *lam_idctn(lam_tensor *x, lam_axes axes, bool ortho) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_named(cosine("idctn", x, axes, true, ortho, backward), since);
}

/* ---- convolutions ------------------------------------------------------------------------------------------------ */

/* Which part of the full convolution is kept along an axis. */
typedef struct part {
    int64_t start, size;
} part;

/* As SciPy: SAME is the middle, of the size of the first operand. */
static part part_of(lam_convolve_mode mode, int64_t m, int64_t n) {
    const int64_t least = m < n ? m : n;
    if (mode == LAM_CONVOLVE_SAME) return (part){(n - 1) / 2, m};
    return mode == LAM_CONVOLVE_VALID ? (part){least - 1, (m > n ? m - n : n - m) + 1} : (part){0, m + n - 1};
}

/* Operands of one dtype and rank, with elements, of which one holds the other where the mode asks for it. The larger
 * may be either for VALID, but for all axes the same one. */
static bool fit(const char *operation, lam_tensor *in[2], int rank, lam_convolve_mode mode, lam_tensor **failed) {
    if (!lam__matrices_operands(operation, true, 2, in, in, failed)) return false;
    const int own = lam_rank(in[0]);
    bool longer = true, shorter = true, empty = false;
    if (own == 0 || own != lam_rank(in[1]) || (rank && own != rank)) {
        *failed = lam__matrices_fail(operation, 2, in, LAM_ERR_RANK, "give both the same number of axes",
                                     rank ? "two matrices are needed" : "two tensors of one rank are needed");
        return false;
    }
    for (int i = 0; i < own; i++) {
        const int64_t m = lam_dim(in[0], i), n = lam_dim(in[1], i);
        longer = longer && m >= n;
        shorter = shorter && m <= n;
        empty = empty || m == 0 || n == 0;
    }
    if ((int)mode < 0 || mode > LAM_CONVOLVE_VALID)
        *failed = lam__axes_fail(operation, in[0], LAM_ERR_OPTION, "there is no mode %d", (int)mode);
    else if (empty) *failed = lam__matrices_fail(operation, 2, in, LAM_ERR_SHAPE, NULL, "an axis has no elements");
    else if (mode == LAM_CONVOLVE_VALID && !longer && !shorter)
        *failed = lam__matrices_fail(operation, 2, in, LAM_ERR_SHAPE, "take another mode",
                                     "neither lies within the other along all axes");
    else return true;
    return false;
}

/* Transforms are as long as the full convolution, so that nothing comes round the ends; the part that is wanted is cut
 * out. Longer ones that FFTW is faster for are not looked for. */
lam_tensor *lam_fftconvolve(lam_tensor *x, lam_tensor *y, lam_convolve_mode mode) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *in[2] = {x, y}, *failed;
    if (!fit("fftconvolve", in, 0, mode, &failed)) return failed;
    const int rank = lam_rank(in[0]);
    int64_t sizes[LAM_MAX_RANK], starts[LAM_MAX_RANK], stops[LAM_MAX_RANK];
    for (int i = 0; i < rank; i++) {
        const part kept = part_of(mode, lam_dim(in[0], i), lam_dim(in[1], i));
        sizes[i] = lam_dim(in[0], i) + lam_dim(in[1], i) - 1;
        starts[i] = kept.start;
        stops[i] = kept.start + kept.size;
    }
    /* Of real operands half of the coefficients tell all. */
    const bool complex = lam__dtype_is_complex((int)lam_dtype_of(in[0]));
    const lam_fft_options o = {.sizes = {rank, sizes}};
    lam_tensor *full = complex ? lam_ifftn(lam_mul(lam_fftn(in[0], &o), lam_fftn(in[1], &o)), NULL)
                               : lam_irfftn(lam_mul(lam_rfftn(in[0], &o), lam_rfftn(in[1], &o)), &o);
    return lam__scope_only(lam_slice(full, (lam_dims){rank, starts}, (lam_dims){rank, stops}, LAM_DIMS0), since);
}

/* Products of x with y turned over, the windows beginning so far before x that exactly the wanted part is made. Padding
 * is negative in no mode. */
static lam_tensor *plane(const char *operation, lam_tensor *x, lam_tensor *y, lam_convolve_mode mode, bool turned) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *in[2] = {x, y}, *failed;
    if (!fit(operation, in, 2, mode, &failed)) return failed;
    int64_t low[2], high[2];
    for (int i = 0; i < 2; i++) {
        const int64_t m = lam_dim(in[0], i), n = lam_dim(in[1], i);
        part kept = part_of(mode, m, n);
        if (turned && mode == LAM_CONVOLVE_SAME) kept.start = n / 2; /* the middle as seen from the other end */
        low[i] = n - 1 - kept.start;
        high[i] = kept.size - low[i] - m + n - 1;
    }
    lam_tensor *window = turned ? lam_conj(in[1]) : lam_reverse(in[1], LAM_AXES(0, 1));
    const lam_conv_options o = {.pad_low = {2, low}, .pad_high = {2, high}};
    lam_tensor *out = lam_conv_general(lam_expand_dims(lam_expand_dims(in[0], 0), 0),
                                       lam_expand_dims(lam_expand_dims(window, 0), 0), &o);
    return lam__scope_only(lam_squeeze(out, LAM_AXES(0, 1)), since);
}

/* Turned over is what tells a convolution from a correlation. */
lam_tensor *lam_convolve2d(lam_tensor *x, lam_tensor *y, lam_convolve_mode mode) {
    return plane("convolve2d", x, y, mode, false);
}

lam_tensor *lam_correlate2d(lam_tensor *x, lam_tensor *y, lam_convolve_mode mode) {
    return plane("correlate2d", x, y, mode, true);
}

/* ---- trends ------------------------------------------------------------------------------------------------------ */

/* The line of least squares: with places t from the middle on, it is mean(x) + t sum(t x) / sum(t^2). As t is
 * orthogonal to a constant, both are found one by one. */
lam_tensor *lam_detrend(lam_tensor *x, int axis, bool linear) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *failed;
    if (!lam__matrices_operands("detrend", true, 1, &x, &x, &failed)) return failed;
    if (!lam__apply_axis("detrend", x, lam_rank(x), &axis)) return lam__axes_failed(x);
    const lam_reduce_options along = {.axes = LAM_AXES(-1), .keepdims = true};
    const lam_dtype dtype = lam_dtype_of(x);
    if (lam__dtype_is_half((int)dtype)) x = lam_cast(x, LAM_F32); /* sums of many leave the range of f16 */
    lam_tensor *last = lam_moveaxis(x, axis, -1), *flat = lam_sub(last, lam_mean(last, &along));
    const double n = (double)lam_dim(x, axis), squares = n * (n * n - 1) / 12; /* of the places about their middle */
    if (linear && n > 1) {
        lam_tensor *place = lam_cast(lam_sub(lam_cast(ramp(x, (int64_t)n), LAM_F64), (n - 1) / 2), lam_dtype_of(x));
        lam_tensor *slope = lam_div(lam_sum(lam_mul(flat, place), &along), squares);
        flat = lam_sub(flat, lam_mul(slope, place));
    }
    flat = lam_moveaxis(flat, -1, axis);
    return lam__scope_only(lam__dtype_is_half((int)dtype) ? lam_cast(flat, dtype) : flat, since);
}

/* ---- interpolation on grids -------------------------------------------------------------------------------------- */

/* The index within [0, n) that stands for i, which is a whole number of any size. Where the mode is a constant the
 * nearest one stands in, and is replaced later. */
static lam_tensor *index_in(lam_tensor *i, int64_t n, lam_map_mode mode) {
    if (mode == LAM_MAP_WRAP) return lam_mod(i, n);
    if (mode == LAM_MAP_MIRROR && n > 1) { /* period 2 n - 2 */
        lam_tensor *k = lam_mod(i, 2 * n - 2);
        return lam_min(k, lam_sub(2 * n - 2, k));
    }
    if (mode == LAM_MAP_REFLECT) { /* period 2 n */
        lam_tensor *k = lam_mod(i, 2 * n);
        return lam_min(k, lam_sub(2 * n - 1, k));
    }
    return lam_clamp(i, 0, n - 1);
}

/* Elements and weights of all corners around each place: bit k of `corner` chooses the upper neighbour along axis k.
 * The element numbers are flat, so that taking is one gather of a corner. */
typedef struct grid {
    lam_tensor *x; /* as one row */
    int rank;
    int64_t sizes[LAM_INNER_RANK];
    lam_tensor *lower[LAM_INNER_RANK], *weight[LAM_INNER_RANK]; /* of the upper neighbour; NULL: there is none */
    lam_map_mode mode;
    double cval;
} grid;

/* One of the 2^rank elements around each place, times the product of its weights along the axes. `inside` is false
 * where an index was brought back into x, which a constant stands for. Elements of the flat x are numbered by Horner's
 * rule. */
static lam_tensor *corner_of(const grid *g, unsigned corner) {
    lam_tensor *at = NULL, *inside = NULL, *weight = NULL;
    for (int k = 0; k < g->rank; k++) {
        const bool upper = corner >> k & 1u;
        lam_tensor *i = upper ? lam_add(g->lower[k], 1) : g->lower[k];
        lam_tensor *own = index_in(i, g->sizes[k], g->mode), *within = lam_eq(i, own);
        at = at ? lam_add(lam_mul(at, g->sizes[k]), own) : own;
        inside = inside ? lam_and(inside, within) : within;
        lam_tensor *w = !g->weight[k] ? NULL : upper ? g->weight[k] : lam_sub(1.0, g->weight[k]);
        weight = weight && w ? lam_mul(weight, w) : w;
    }
    lam_tensor *value = lam_take(g->x, at, 0);
    if (g->mode == LAM_MAP_CONSTANT) value = lam_where(inside, value, g->cval);
    return weight ? lam_mul(value, weight) : value;
}

/* The whole number nearest to c, halves away from 0; or the one below. What is no number is some whole number. Casts of
 * NaN are not defined, hence its replacement. */
static lam_tensor *whole(lam_tensor *c, int order) {
    lam_tensor *safe = lam_where(lam_is_nan(c), 0.0, lam_stop_gradient(c));
    return lam_cast(order ? lam_floor(safe) : lam_round_away(safe), LAM_I64);
}

/* Order 0 takes one corner, order 1 all of them. Places have a derivative by the weights alone; where one is NaN the
 * weights make NaN, and order 0 has to be told. */
lam_tensor *lam_map_coordinates(lam_tensor *x, lam_tensor *coordinates, int order, lam_map_mode mode, double cval) {
    const char *operation = "map_coordinates";
    uint64_t since = lam__scope_now(x);
    lam_tensor *c = coordinates, *failed;
    if (!lam__matrices_operands(operation, true, 1, &x, &x, &failed)) return failed;
    if (!lam__matrices_operands(operation, true, 1, &c, &c, &failed) || is_complex(operation, c, &failed))
        return failed;
    grid g = {.rank = lam_rank(x), .mode = mode, .cval = cval};
    if (order != 0 && order != 1)
        return lam__axes_fail(operation, x, LAM_ERR_VALUE, "there is no order %d, but 0 and 1", order);
    if ((int)mode < 0 || mode > LAM_MAP_REFLECT)
        return lam__axes_fail(operation, x, LAM_ERR_VALUE, "there is no mode %d", (int)mode);
    if (g.rank == 0 || lam_size(x) == 0 || lam_rank(c) == 0 || lam_dim(c, 0) != g.rank)
        return lam__matrices_fail(operation, 2, (lam_tensor *[]){x, c}, LAM_ERR_SHAPE,
                                  "coordinates have one row for each axis of x",
                                  lam_size(x) == 0 ? "x has no elements" : "there are not as many coordinates as axes");
    if (lam__dtype_is_half((int)lam_dtype_of(c))) c = lam_cast(c, LAM_F32); /* which holds MOST */
    lam_tensor *unknown = NULL;
    g.x = lam_reshape(x, LAM_DIMS(lam_size(x)));
    for (int k = 0; k < g.rank; k++) {
        lam_tensor *own = lam_clamp(lam_take(c, lam_full(lam_ctx_of(x), LAM_I64, LAM_DIMS0, k), 0), -MOST, MOST);
        lam_tensor *none = lam_is_nan(own);
        unknown = unknown ? lam_or(unknown, none) : none;
        g.sizes[k] = lam_dim(x, k);
        g.lower[k] = whole(own, order);
        if (order)
            g.weight[k] =
                lam_cast(lam_sub(own, lam_cast(g.lower[k], lam_dtype_of(c))), lam__matrices_real(lam_dtype_of(x)));
    }
    lam_tensor *sum = corner_of(&g, 0);
    for (unsigned corner = 1; order && corner < 1u << g.rank; corner++) sum = lam_add(sum, corner_of(&g, corner));
    return lam__scope_only(order ? sum : lam_where(unknown, NAN, sum), since);
}
