/* Spectra of overlapping pieces of a signal: stft and its inverse, Welch's estimate and cross densities. A piece is a
 * row of constant indices into the last axis, so forward is a gather and backward a scatter. */
#include "lib/primitives/axes.h"
#include "lib/primitives/matrices.h"
#include "lib/tensor/dtype.h"

#include <lamina/ops.h>
#include <lamina/signal.h>
#include <lamina/tensor.h>

/* As in scipy.signal. */
enum { PIECE = 256 };

/* The options with their defaults taken. */
typedef struct plan {
    double fs;
    int64_t piece, step, transform;
    lam_tensor *window; /* [piece], of the signal's dtype */
} plan;

/* sin(pi j / n)^2: one period of it, without the 0 at the other end, as transforms want it. */
static lam_tensor *hann(lam_tensor *x, int64_t n) {
    lam_tensor *j = lam_iota(lam_ctx_of(x), LAM_F64, LAM_DIMS(n), 0);
    return lam_square(lam_sin(lam_mul(3.14159265358979323846 / (double)n, j)));
}

/* For n elements of x (negative: of unknown number). Defaults are SciPy's: pieces as long as the window or PIECE, cut
 * to what x has, of which half are shared. 0 stands for a default everywhere, so a negative noverlap is what says
 * none. */
static bool understand(const char *operation, lam_tensor *x, int64_t n, const lam_stft_options *options, plan *p,
                       lam_tensor **failed) {
    static const lam_stft_options none;
    const lam_stft_options *o = options ? options : &none;
    const int64_t usual = n >= 0 && n < PIECE ? n : PIECE;
    lam_value *unused;
    if (o->window && !lam__scope_operands(operation, 1, &o->window, &unused, failed)) return false;
    if (o->window && lam_rank(o->window) != 1)
        return *failed = lam__axes_fail(operation, o->window, LAM_ERR_SHAPE, "a window is a vector"), false;
    p->fs = o->fs == 0 ? 1 : o->fs;
    p->piece = o->nperseg ? o->nperseg : o->window ? lam_size(o->window) : usual;
    const int64_t shared = o->noverlap < 0 ? 0 : o->noverlap ? o->noverlap : p->piece / 2;
    /* A step of 0 stands for one that is not above 0; it is refused below, with the numbers that the user gave. */
    p->step = p->piece < shared ? 0 : p->piece - shared;
    p->transform = o->nfft ? o->nfft : p->piece;
    *failed = NULL;
    if (o->window && lam_size(o->window) != p->piece)
        *failed = lam__axes_fail(operation, o->window, LAM_ERR_SHAPE, "the window is not one of %lld elements",
                                 (long long)p->piece);
    else if (!(p->fs > 0)) *failed = lam__axes_fail(operation, x, LAM_ERR_VALUE, "%g samples in a unit of time", p->fs);
    else if (p->piece < 1 || p->step < 1 || p->transform < p->piece || (n >= 0 && p->piece > n))
        *failed = lam__axes_fail(operation, x, LAM_ERR_VALUE,
                                 "pieces of %lld elements, %lld of them shared, transforms of %lld do not go together",
                                 (long long)p->piece, (long long)shared, (long long)p->transform);
    if (*failed) return false;
    /* Windows are real also where the signal is complex, as that of lam_istft is. */
    p->window = lam_cast(o->window ? o->window : hann(x, p->piece), lam__matrices_real(lam_dtype_of(x)));
    if (lam_failed(p->window)) *failed = p->window;
    return !*failed;
}

/* A real signal of floating dtype with a last axis. */
static bool signal_of(const char *operation, lam_tensor **x, lam_tensor **failed) {
    lam_tensor *given = *x;
    if (!lam__matrices_operands(operation, true, 1, x, x, failed)) return false;
    if (lam__dtype_is_complex((int)lam_dtype_of(*x)))
        *failed = lam__axes_fail_with(operation, given, LAM_ERR_DTYPE, "work on lam_real and lam_imag of it",
                                      "not defined for complex numbers");
    else if (lam_rank(*x) == 0) *failed = lam__axes_fail(operation, given, LAM_ERR_RANK, "a signal has an axis");
    else if (lam_dim(*x, -1) == 0)
        *failed = lam__axes_fail(operation, given, LAM_ERR_SHAPE, "the last axis has no elements");
    else return true;
    return false;
}

/* Where the elements of piece f lie: f step + j. Of constants, so that in a trace and in a batch the places are
 * known. */
static lam_tensor *places(lam_tensor *x, const plan *p, int64_t pieces) {
    lam_dims dims = LAM_DIMS(pieces, p->piece);
    lam_tensor *f = lam_iota(lam_ctx_of(x), LAM_I64, dims, 0), *j = lam_iota(lam_ctx_of(x), LAM_I64, dims, 1);
    return lam_add(lam_mul(f, p->step), j);
}

/* [..., n] to [..., pieces, nfft/2 + 1]; with `flat` each piece less its mean. lam_rfft fills pieces up with zeros to
 * the length of the transform. */
static lam_tensor *spectra_of(lam_tensor *x, const plan *p, bool flat) {
    const int64_t n = lam_dim(x, -1), size[1] = {p->transform};
    lam_tensor *pieces = lam_take(x, places(x, p, (n - p->piece) / p->step + 1), -1);
    if (flat) pieces = lam_detrend(pieces, -1, false);
    return lam_rfft(lam_mul(pieces, p->window), &(lam_fft_options){.sizes = {1, size}});
}

/* x with zeros before and behind its last axis. */
static lam_tensor *padded(lam_tensor *x, int64_t low, int64_t high) {
    int64_t before[LAM_MAX_RANK] = {0}, behind[LAM_MAX_RANK] = {0};
    const int rank = lam_rank(x);
    before[rank - 1] = low;
    behind[rank - 1] = high;
    return lam_pad(x, (lam_dims){rank, before}, (lam_dims){rank, behind}, NULL);
}

/* As scipy.signal.stft: half a piece of zeros on both sides, behind them as many as the last piece needs, and spectra
 * over the sum of the window. */
lam_tensor *lam_stft(lam_tensor *x, const lam_stft_options *options) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *failed;
    plan p;
    if (!signal_of("stft", &x, &failed) || !understand("stft", x, lam_dim(x, -1), options, &p, &failed))
        return lam__scope_named(failed, since);
    /* Elements beyond the last whole step; they would belong to no piece. */
    const int64_t edge = p.piece / 2, over = (lam_dim(x, -1) + 2 * edge - p.piece) % p.step;
    lam_tensor *all = padded(x, edge, edge + (over ? p.step - over : 0));
    lam_tensor *spectra = lam_div(spectra_of(all, &p, false), lam_sum(p.window, NULL));
    return lam__scope_only(lam_moveaxis(spectra, -1, -2), since);
}

/* Pieces times the window, added where they lie, over the sum of squared windows there: least squares. */
lam_tensor *lam_istft(lam_tensor *spectra, const lam_stft_options *options) {
    uint64_t since = lam__scope_now(spectra);
    lam_tensor *x = spectra, *failed;
    lam_stft_options o = options ? *options : (lam_stft_options){0};
    plan p;
    if (!lam__matrices_operands("istft", true, 1, &x, &x, &failed)) return failed;
    if (lam_rank(x) < 2) return lam__axes_fail("istft", spectra, LAM_ERR_RANK, "spectra have two axes");
    /* A spectrum does not tell whether its transform was odd: k frequencies are taken for 2 (k - 1) elements. */
    if (!o.nperseg && !o.window) o.nperseg = o.nfft ? o.nfft : 2 * (lam_dim(x, -2) - 1);
    if (!understand("istft", x, -1, &o, &p, &failed)) return lam__scope_named(failed, since);
    const int64_t pieces = lam_dim(x, -1), size[1] = {p.transform}, edge = p.piece / 2;
    if (lam_dim(x, -2) != p.transform / 2 + 1 || pieces == 0)
        return lam__axes_fail("istft", spectra, LAM_ERR_SHAPE, "%lld frequencies are expected, and a piece at least",
                              (long long)(p.transform / 2 + 1));
    const int64_t n = (pieces - 1) * p.step + p.piece, kept = n - 2 * edge, all = pieces * p.piece;
    lam_tensor *waves = lam_irfft(lam_moveaxis(x, -1, -2), &(lam_fft_options){.sizes = {1, size}});
    /* lam_stft has divided by the sum of the window, which comes back here. */
    lam_tensor *cut = lam_mul(lam_slice_axis(waves, -1, 0, p.piece), lam_mul(p.window, lam_sum(p.window, NULL)));
    lam_dims lead = lam_dims_of(cut);
    /* Everything in front of the last two axes, as rows: the scatter goes along one axis of a matrix. */
    const int64_t rows = all ? lam_size(cut) / all : 0;
    lam_tensor *at = lam_reshape(places(x, &p, pieces), LAM_DIMS(all));
    lam_tensor *values = lam_transpose(lam_reshape(cut, LAM_DIMS(rows, all)), LAM_AXES(1, 0));
    lam_tensor *empty = lam_zeros(lam_ctx_of(x), lam_dtype_of(values), LAM_DIMS(n, rows));
    lam_tensor *squares = lam_reshape(lam_broadcast_to(lam_square(p.window), LAM_DIMS(pieces, p.piece)), LAM_DIMS(all));
    lam_tensor *none = lam_zeros(lam_ctx_of(x), lam_dtype_of(values), LAM_DIMS(n));
    /* No window reaches such a place, which would be 0 / 0; the bound is SciPy's. */
    lam_tensor *weight = lam_scatter_add(none, at, squares, 0), *thin = lam_le(weight, 1e-10);
    lam_tensor *sum = lam_transpose(lam_scatter_add(empty, at, values, 0), LAM_AXES(1, 0));
    lam_tensor *middle = lam_slice_axis(lam_div(sum, lam_where(thin, 1.0, weight)), -1, edge, edge + kept);
    if (lam_failed(middle)) return lam__scope_only(middle, since);
    int64_t dims[LAM_INNER_RANK];
    for (int i = 0; i + 2 < lead.rank; i++) dims[i] = lead.dims[i];
    dims[lead.rank - 2] = kept;
    return lam__scope_only(lam_reshape(middle, (lam_dims){lead.rank - 1, dims}), since);
}

/* ---- densities --------------------------------------------------------------------------------------------------- */

/* The mean over pieces of products of spectra, one-sided: twice what lies between 0 and the highest frequency, of which
 * an even transform has one of its own. */
static lam_tensor *density(lam_tensor *products, const plan *p) {
    const int64_t n = p->transform / 2 + 1;
    lam_tensor *mean = lam_mean(products, &(lam_reduce_options){.axes = LAM_AXES(-2)});
    lam_tensor *k = lam_iota(lam_ctx_of(products), LAM_I64, LAM_DIMS(n), 0), *single = lam_eq(k, 0);
    if (p->transform % 2 == 0) single = lam_or(single, lam_eq(k, n - 1));
    /* Power for a unit of frequency: what SciPy calls the scaling "density". */
    lam_tensor *unit = lam_reciprocal(lam_mul(p->fs, lam_sum(lam_square(p->window), NULL)));
    return lam_mul(mean, lam_where(single, unit, lam_mul(2.0, unit)));
}

/* Welch's method (1967): squares of spectra of overlapping pieces, each less its mean, averaged. */
lam_tensor *lam_welch(lam_tensor *x, const lam_stft_options *options) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *failed;
    plan p;
    if (!signal_of("welch", &x, &failed) || !understand("welch", x, lam_dim(x, -1), options, &p, &failed))
        return failed;
    lam_tensor *s = spectra_of(x, &p, true);
    return lam__scope_only(density(lam_add(lam_square(lam_real(s)), lam_square(lam_imag(s))), &p), since);
}

/* The conjugate of x's spectra times y's, as scipy.signal.csd has it. Both are checked together first, so that they are
 * of one dtype, then each as a signal. */
lam_tensor *lam_csd(lam_tensor *x, lam_tensor *y, const lam_stft_options *options) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *in[2] = {x, y}, *failed;
    plan p;
    if (!lam__matrices_operands("csd", true, 2, in, in, &failed)) return failed;
    if (!signal_of("csd", &in[0], &failed) || !signal_of("csd", &in[1], &failed)) return failed;
    if (lam_dim(in[0], -1) != lam_dim(in[1], -1))
        return lam__matrices_fail("csd", 2, in, LAM_ERR_SHAPE, "cut the longer one", "the signals have other lengths");
    if (!understand("csd", in[0], lam_dim(in[0], -1), options, &p, &failed)) return failed;
    lam_tensor *products = lam_mul(lam_conj(spectra_of(in[0], &p, true)), spectra_of(in[1], &p, true));
    return lam__scope_only(density(products, &p), since);
}
