/* The public Fourier transforms: axes, sizes and norm brought to what the rows of fft.c take. No rows, no rules. The
 * real forms along several axes are one along the last and complex ones along the others. Defaults are NumPy's: the
 * one-axis forms take the last axis, the others all; "backward" divides the inverse by the number of elements. */
#include "lib/primitives/apply.h"
#include "lib/primitives/cplx.h"
#include "lib/primitives/fft.h"

#include "lib/tensor/dtype.h"
#include "lib/tensor/value.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

#include <math.h>

/* One request, checked. The last of the axes is the one that the real forms halve. */
typedef struct request {
    int count;
    int axes[LAM_INNER_RANK];
    int64_t sizes[LAM_INNER_RANK]; /* elements, on the longer side */
    double scale;
} request;

/* `what` has one place for a number. A text that shows no number says so by a precision of 0. */
static bool refuse(const char *operation, lam_tensor *x, lam_status status, const char *what, long long number) {
    lam__axes_fail(operation, x, status, what, number);
    return false;
}

/* Axes and the options that go with them, before any size is looked at. The one-axis and the n-dimensional forms share
 * it, `many` telling which. */
static bool collect(const char *operation, lam_tensor *x, bool many, const lam_fft_options *o, request *q) {
    int rank = lam_rank(x);
    if (!lam__axes_collect(operation, x, o->axes, rank, &q->count, q->axes)) return false;
    /* No list: -1, which an empty list is not. */
    if (q->count < 0) {
        q->count = many ? rank : 1;
        for (int i = 0; i < q->count; i++) q->axes[i] = many ? i : rank - 1;
    }
    if (rank == 0 || q->count == 0) return refuse(operation, x, LAM_ERR_AXIS, "there is no axis to transform%.0lld", 0);
    if (!many && q->count > 1)
        return refuse(operation, x, LAM_ERR_OPTION, "%lld axes: the n-dimensional form takes several", q->count);
    if (o->sizes.rank && (o->sizes.rank != q->count || !o->sizes.dims))
        return refuse(operation, x, LAM_ERR_OPTION, "%lld sizes do not go with the axes", o->sizes.rank);
    if ((int)o->norm < 0 || o->norm > LAM_FFT_FORWARD)
        return refuse(operation, x, LAM_ERR_OPTION, "there is no norm %lld", (long long)o->norm);
    return true;
}

/* Fills the request; from_half: x has n/2 + 1 elements along the last of the axes. False after recording why not. The
 * longer side of n/2 + 1 coefficients is taken as even unless sizes say otherwise, since it cannot be told from them.
 * The scale is one factor for all axes together. */
static bool understand(const char *operation, lam_tensor *x, bool many, bool inverse, bool from_half,
                       const lam_fft_options *options, request *q) {
    static const lam_fft_options none;
    const lam_fft_options *o = options ? options : &none;
    double n = 1;
    if (!lam__scope_peek(x)) return lam__axes_fail(operation, x, LAM_ERR_NULL, "the operand is NULL"), false;
    if (!collect(operation, x, many, o, q)) return false;
    for (int i = 0; i < q->count; i++) {
        int64_t own = lam_dim(x, q->axes[i]);
        bool half = from_half && i == q->count - 1;
        q->sizes[i] = o->sizes.rank ? o->sizes.dims[i] : half ? 2 * (own - 1) : own;
        if (q->sizes[i] < 1)
            return refuse(operation, x, LAM_ERR_VALUE, "%lld elements cannot be transformed", (long long)q->sizes[i]);
        n *= (double)q->sizes[i];
    }
    q->scale = o->norm == LAM_FFT_ORTHO ? 1 / sqrt(n) : inverse == (o->norm == LAM_FFT_BACKWARD) ? 1 / n : 1;
    return true;
}

/* x cut or filled with zeros at the end of an axis. Zeros behind, as in NumPy, which makes the spectrum finer and adds
 * nothing to it. A failed x is handed on. */
static lam_tensor *resized(lam_tensor *x, int axis, int64_t size) {
    int64_t own = lam_dim(x, axis), low[LAM_INNER_RANK] = {0}, high[LAM_INNER_RANK] = {0};
    int rank = lam_rank(x);
    if (own == size || lam_failed(x)) return x;
    if (own > size) return lam_slice_axis(x, axis, 0, size);
    high[axis] = size - own;
    return lam_pad(x, (lam_dims){rank, low}, (lam_dims){rank, high}, NULL);
}

/* The first `count` axes of the request. Each is cut or filled by itself; where nothing changes nothing is recorded. */
static lam_tensor *all_resized(lam_tensor *x, const request *q, int count) {
    for (int i = 0; i < count; i++) x = resized(x, q->axes[i], q->sizes[i]);
    return x;
}

/* Those of the first `count` axes of the request. FFTW takes all of them in one plan, in whatever order. */
static lam__axis_set set_of(const request *q, int count) {
    lam__axis_set set = 0;
    for (int i = 0; i < count; i++) set |= 1u << q->axes[i];
    return set;
}

/* The dtype of complex numbers with parts as wide as x. f32 and c64 stay narrow; everything else becomes c128. */
static lam_tensor *as_complex(lam_tensor *x) {
    lam_dtype dtype = lam_dtype_of(x);
    if (!lam__dtype_is_inexact((int)dtype)) dtype = LAM_F64;
    return lam_cast(x, lam__dtype_promote((int)dtype, LAM_C64));
}

/* Real operands are widened to complex ones: who has reals and many of them uses the real form. */
static lam_tensor *complex_form(const char *operation, lam_tensor *x, bool many, bool inverse,
                                const lam_fft_options *options) {
    request q;
    if (!understand(operation, x, many, inverse, false, options, &q)) return lam__axes_failed(x);
    return lam__fft_complex(all_resized(as_complex(x), &q, q.count), set_of(&q, q.count), inverse, q.scale);
}

/* The real transform comes first, since its result is half as large, then the complex one along the other axes. */
static lam_tensor *real_form(const char *operation, lam_tensor *x, bool many, const lam_fft_options *options) {
    request q;
    if (!understand(operation, x, many, false, false, options, &q)) return lam__axes_failed(x);
    if (lam__cplx_is(x))
        return lam__axes_fail_with(operation, x, LAM_ERR_DTYPE, "use lam_fft", "the operand is complex");
    if (!lam__dtype_is_inexact((int)lam_dtype_of(x))) x = lam_cast(x, LAM_F64);
    int others = q.count - 1;
    lam_tensor *half = lam__fft_real(all_resized(x, &q, q.count), q.axes[others], q.scale);
    return others ? lam__fft_complex(half, set_of(&q, others), false, 1) : half;
}

/* The other order: complex axes first, while the last is still half. Imaginary parts of coefficients that are real in a
 * transform of reals are not looked at. */
static lam_tensor *half_form(const char *operation, lam_tensor *x, bool many, const lam_fft_options *options) {
    request q;
    if (!understand(operation, x, many, true, true, options, &q)) return lam__axes_failed(x);
    int others = q.count - 1, axis = q.axes[others];
    x = resized(all_resized(as_complex(x), &q, others), axis, q.sizes[others] / 2 + 1);
    if (others) x = lam__fft_complex(x, set_of(&q, others), true, 1);
    return lam__fft_half(x, axis, q.sizes[others], q.scale);
}

/* One axis, the last unless options name another. */
lam_tensor *lam_fft(lam_tensor *x, const lam_fft_options *options) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_only(complex_form("fft", x, false, false, options), since);
}

lam_tensor *lam_ifft(lam_tensor *x, const lam_fft_options *options) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_only(complex_form("ifft", x, false, true, options), since);
}

/* The derivative of all forms is that of the rows: one transform for each. */
lam_tensor *lam_rfft(lam_tensor *x, const lam_fft_options *options) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_only(real_form("rfft", x, false, options), since);
}

/* Of an odd number of elements only with `sizes`. */
lam_tensor *lam_irfft(lam_tensor *x, const lam_fft_options *options) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_only(half_form("irfft", x, false, options), since);
}

/* The options with the norm of the other direction. So the sums of hfft and its inverse, which run the other way, are
 * divided where their names promise. */
static lam_fft_options turned(const lam_fft_options *options) {
    lam_fft_options o = options ? *options : (lam_fft_options){.norm = LAM_FFT_BACKWARD};
    if (o.norm == LAM_FFT_BACKWARD) o.norm = LAM_FFT_FORWARD;
    else if (o.norm == LAM_FFT_FORWARD) o.norm = LAM_FFT_BACKWARD;
    return o;
}

/* The forward sum is the inverse one of the conjugates. */
lam_tensor *lam_hfft(lam_tensor *x, const lam_fft_options *options) {
    uint64_t since = lam__scope_now(x);
    const lam_fft_options o = turned(options);
    return lam__scope_only(half_form("hfft", lam_conj(x), false, &o), since);
}

/* The other way round: the real transform, conjugated. */
lam_tensor *lam_ihfft(lam_tensor *x, const lam_fft_options *options) {
    uint64_t since = lam__scope_now(x);
    const lam_fft_options o = turned(options);
    return lam__scope_only(lam_conj(real_form("ihfft", x, false, &o)), since);
}

/* Several axes at once are one call of FFTW, not one for each. */
lam_tensor *lam_fftn(lam_tensor *x, const lam_fft_options *options) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_only(complex_form("fftn", x, true, false, options), since);
}

/* The inverse is divided by the product of all sizes. */
lam_tensor *lam_ifftn(lam_tensor *x, const lam_fft_options *options) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_only(complex_form("ifftn", x, true, true, options), since);
}

/* Halves the last of the axes that are named, not the last of x. */
lam_tensor *lam_rfftn(lam_tensor *x, const lam_fft_options *options) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_only(real_form("rfftn", x, true, options), since);
}

/* Complex ones along the others come first, while the last axis is half as long. */
lam_tensor *lam_irfftn(lam_tensor *x, const lam_fft_options *options) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_only(half_form("irfftn", x, true, options), since);
}

/* ---- frequencies ------------------------------------------------------------------------------------------------- */

/* 0, 1, ... of `count`, those from `turn` on less n, over n d. Worked out in f64 and rounded once. */
static lam_tensor *frequencies(const char *operation, lam_ctx *ctx, lam_dtype dtype, int64_t n, int64_t count,
                               int64_t turn, double d) {
    if (n < 1)
        return lam__error_fail(ctx, LAM_ERR_VALUE, "%s: %lld samples have no frequencies", operation, (long long)n);
    if (!lam__dtype_valid((int)dtype) || !lam__dtype_is_float((int)dtype))
        return lam__error_fail(ctx, LAM_ERR_DTYPE, "%s: frequencies are floats, not %s", operation,
                               lam_dtype_name(dtype));
    lam_tensor *k = lam_arange(ctx, LAM_F64, 0, (double)count, 1);
    k = lam_where(lam_lt(k, (double)turn), k, lam_sub(k, (double)n));
    return lam_cast(lam_div(k, (double)n * d), dtype);
}

/* 0 to (n - 1)/2, then the negative ones, over n d: cycles per unit of the spacing d. */
lam_tensor *lam_fftfreq(lam_ctx *ctx, lam_dtype dtype, int64_t n, double d) {
    uint64_t since = lam__scope_now_in(ctx);
    return lam__scope_only(frequencies("fftfreq", ctx, dtype, n, n, n - n / 2, d), since);
}

/* Those that the real transform keeps; for even n the last is positive. So `turn` lies behind all of them. */
lam_tensor *lam_rfftfreq(lam_ctx *ctx, lam_dtype dtype, int64_t n, double d) {
    uint64_t since = lam__scope_now_in(ctx);
    return lam__scope_only(frequencies("rfftfreq", ctx, dtype, n, n / 2 + 1, n, d), since);
}

/* One roll along each axis, by half its elements: frequency 0 goes to the middle, or back for odd sizes too. n/2 rounds
 * down, so the roll back is another number of places from the end. */
static lam_tensor *shifted(const char *operation, lam_tensor *x, lam_axes axes, int sign) {
    lam__axis_set set;
    if (!lam__axes_collect_set(operation, x, axes, lam_rank(x), &set)) return lam__axes_failed(x);
    if (!lam__scope_peek(x)) return lam__axes_fail(operation, x, LAM_ERR_NULL, "the operand is NULL");
    x = lam_alias(x);
    for (int i = 0; i < lam_rank(x); i++)
        if (set >> i & 1u) x = lam_roll(x, sign * (lam_dim(x, i) / 2), i);
    return x;
}

/* Of an odd number of elements lam_ifftshift is another permutation, and undoes this one. */
lam_tensor *lam_fftshift(lam_tensor *x, lam_axes axes) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_only(shifted("fftshift", x, axes, 1), since);
}

lam_tensor *lam_ifftshift(lam_tensor *x, lam_axes axes) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_only(shifted("ifftshift", x, axes, -1), since);
}
