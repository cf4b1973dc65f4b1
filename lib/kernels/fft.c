/* Fourier transforms by FFTW. A plan is made for each call by rules of thumb (FFTW_ESTIMATE), which costs microseconds
 * and leaves the arrays alone. Making and unmaking plans is not safe between threads, so it is done under a lock of the
 * process; contexts of different threads run their transforms at the same time. A host that plans transforms of its own
 * at the same time has to call fftw_make_planner_thread_safe. */
#include "lib/kernels/fft.h"

#include "lib/kernels/kernels.h"

#include <fftw3.h>
#include <sched.h>
#include <stdatomic.h>

/* Where an axis goes along, with strides in elements of each side. */
typedef struct layout {
    int transformed, walked;
    fftw_iodim64 along[LAM__MAX_AXES], over[LAM__MAX_AXES];
    int64_t results; /* reals of the result */
} layout;

static atomic_flag planning = ATOMIC_FLAG_INIT;

static void lock(void) {
    while (atomic_flag_test_and_set_explicit(&planning, memory_order_acquire)) sched_yield();
}

static void unlock(void) {
    atomic_flag_clear_explicit(&planning, memory_order_release);
}

/* Elements along axis i of the side of x (0) or out (1). */
static int64_t extent(lam__fft_kind kind, int side, int64_t n, bool transformed) {
    bool half = transformed && kind == (side ? LAM__FFT_REAL : LAM__FFT_HALF);
    return half ? n / 2 + 1 : n;
}

static void lay_out(lam__fft_kind kind, int rank, const int64_t *dims, uint32_t set, layout *l) {
    int64_t step[2] = {1, 1};
    l->transformed = l->walked = 0;
    for (int i = rank - 1; i >= 0; i--) {
        bool transformed = set >> i & 1u;
        fftw_iodim64 axis = {dims[i], step[0], step[1]};
        if (transformed) l->along[l->transformed++] = axis;
        else if (dims[i] != 1) l->over[l->walked++] = axis;
        for (int side = 0; side < 2; side++) step[side] *= extent(kind, side, dims[i], transformed);
    }
    l->results = kind == LAM__FFT_HALF ? step[1] : 2 * step[1];
}

#define T        double
#define FN(name) name##_f64
#define FFTW(f)  fftw_##f
#include "lib/kernels/fft_type.h"

#define T        float
#define FN(name) name##_f32
#define FFTW(f)  fftwf_##f
#include "lib/kernels/fft_type.h"

bool lam__kernels_fft(lam__fft_kind kind, bool doubles, int rank, const int64_t *dims, uint32_t set, double scale,
                      const void *x, void *out) {
    layout l;
    lay_out(kind, rank, dims, set, &l);
    if (l.results == 0) return true;
    return doubles ? transform_f64(kind, &l, scale, x, out) : transform_f32(kind, &l, scale, x, out);
}
