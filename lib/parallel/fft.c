/* Fourier transforms in the parts that the kernel makes of them; then the scale, where there is one. Only in builds
 * with FFTW. What FFTW cannot plan, for want of memory, is the one failure; then nothing has been written. Plans are
 * found, made and unmade here, by the caller; executing one is safe in any number of threads. The scale is a pass of
 * its own, cut anywhere. */
#include "lib/parallel/fft.h"

static void transform_parts(void *env, int64_t begin, int64_t end, int worker) {
    (void)worker;
    for (int64_t i = begin; i < end; i++) lam__kernels_fft_part(env, i);
}

static void scale_part(void *env, int64_t begin, int64_t end, int worker) {
    (void)worker;
    lam__kernels_fft_scale(env, begin, end);
}

bool lam__parallel_fft(lam__team *team, lam__fft_kind kind, bool doubles, int rank, const int64_t *dims, uint32_t set,
                       double scale, const void *x, void *out, lam__fft_plans *plans) {
    lam__fft f;
    if (!lam__kernels_fft_begin(kind, doubles, rank, dims, set, scale, x, out, plans, &f)) return false;
    lam__team_run(team, f.parts, f.cost, transform_parts, &f);
    if (scale != 1) lam__team_run(team, f.results, 1, scale_part, &f);
    lam__kernels_fft_end(&f);
    return true;
}
