/* The transforms of fft.c for one type of parts: T, FN(name) and FFTW(name). Included once for each; no guard. */

/* FFTW takes pointers to what it may write; with FFTW_PRESERVE_INPUT it does not write to x. The guru interface takes
 * any axes with any strides in one plan; complex to real along one axis only, since FFTW cannot keep the input of such
 * a transform along several. */
static FFTW(plan) FN(plan)(lam__fft_kind kind, const layout *l, void *x, void *out) {
    const unsigned flags = FFTW_ESTIMATE | FFTW_PRESERVE_INPUT;
    if (kind == LAM__FFT_REAL)
        return FFTW(plan_guru64_dft_r2c)(l->transformed, l->along, l->walked, l->over, x, out, flags);
    if (kind == LAM__FFT_HALF)
        return FFTW(plan_guru64_dft_c2r)(l->transformed, l->along, l->walked, l->over, x, out, flags);
    return FFTW(plan_guru64_dft)(l->transformed, l->along, l->walked, l->over, x, out,
                                 kind == LAM__FFT_INVERSE ? FFTW_BACKWARD : FFTW_FORWARD, flags);
}

static void FN(execute)(lam__fft_kind kind, void *plan, void *x, void *out) {
    if (kind == LAM__FFT_REAL) FFTW(execute_dft_r2c)(plan, x, out);
    else if (kind == LAM__FFT_HALF) FFTW(execute_dft_c2r)(plan, x, out);
    else FFTW(execute_dft)(plan, x, out);
}

/* After the transform and not within it: FFTW's are without a factor. */
static void FN(scale)(double scale, int64_t n, T *x) {
    const T factor = (T)scale;
    for (int64_t i = 0; i < n; i++) x[i] *= factor;
}

#undef T
#undef FN
#undef FFTW
