/* The transforms of fft.c for one type of parts: T, FN(name) and FFTW(name). Included once for each; no guard. */

/* FFTW takes pointers to what it may write; with FFTW_PRESERVE_INPUT it does not write to x. */
static FFTW(plan) FN(plan)(lam__fft_kind kind, const layout *l, void *x, void *out) {
    const unsigned flags = FFTW_ESTIMATE | FFTW_PRESERVE_INPUT;
    if (kind == LAM__FFT_REAL)
        return FFTW(plan_guru64_dft_r2c)(l->transformed, l->along, l->walked, l->over, x, out, flags);
    if (kind == LAM__FFT_HALF)
        return FFTW(plan_guru64_dft_c2r)(l->transformed, l->along, l->walked, l->over, x, out, flags);
    return FFTW(plan_guru64_dft)(l->transformed, l->along, l->walked, l->over, x, out,
                                 kind == LAM__FFT_INVERSE ? FFTW_BACKWARD : FFTW_FORWARD, flags);
}

static bool FN(transform)(lam__fft_kind kind, const layout *l, double scale, const void *x, void *out) {
    lock();
    FFTW(plan) plan = FN(plan)(kind, l, (void *)(uintptr_t)x, out);
    unlock();
    if (!plan) return false;
    FFTW(execute)(plan);
    lock();
    FFTW(destroy_plan)(plan);
    unlock();
    T *to = out;
    const T factor = (T)scale;
    for (int64_t i = 0; scale != 1 && i < l->results; i++) to[i] *= factor;
    return true;
}

#undef T
#undef FN
#undef FFTW
