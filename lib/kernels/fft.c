/* Fourier transforms by FFTW. Plans are made by rules of thumb (FFTW_ESTIMATE), which costs microseconds and leaves the
 * arrays alone, and whoever calls may keep them (NOTE [kept plans]). Making and unmaking plans is not safe between
 * threads, so it is done under a lock of the process; contexts of different threads run their transforms at the same
 * time. A host that plans transforms of its own at the same time has to call fftw_make_planner_thread_safe. */
#include "lib/kernels/fft.h"

#include <fftw3.h>
#include <math.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

/* Where an axis goes along, with strides in elements of each side. */
typedef struct layout {
    int transformed, walked;
    fftw_iodim64 along[LAM__MAX_AXES], over[LAM__MAX_AXES];
    int64_t results; /* reals of the result */
} layout;

enum { PART = 1 << 15, LINE = 64 }; /* elements that a part should have; bytes between addresses that are alike */

static atomic_flag planning = ATOMIC_FLAG_INIT;

/* A lock that yields: plans take microseconds, and there is no context here whose mutex could be used. */
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

/* Axes from the last on, each side without gaps. Axes of one element that are not transformed are left out; of those
 * that are, all count, since FFTW takes a transform of one element as it is. */
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

/* Bytes of an element of side x (0) or out (1). */
static int64_t item(lam__fft_kind kind, bool doubles, int side) {
    const bool real = kind == (side ? LAM__FFT_HALF : LAM__FFT_REAL);
    return (real ? 1 : 2) * (int64_t)(doubles ? sizeof(double) : sizeof(float));
}

/* FFTW chooses its way by how many transforms there are side by side, and ways differ in their last bits. So large
 * batches are cut into parts of a size that the operands alone decide, also where one thread does all of them, and each
 * part goes by the same plan. Parts begin at addresses that are alike to FFTW. The axis that is cut is the longest of
 * those that are not transformed. */
static int longest(const layout *l) {
    int best = 0;
    for (int i = 1; i < l->walked; i++)
        if (l->over[i].n > l->over[best].n) best = i;
    return best;
}

/* How much of axis `walked` makes a part; all of it if it is not worth while. */
static int64_t part_of(const lam__fft *f, const fftw_iodim64 *walked, double elements) {
    /* So many along the axis are whole lines on both sides, so every part begins at the same place in its line as
     * the first one. Parts have at most PART elements, unless so many have more. */
    int64_t alike = 1;
    while (alike < LINE && (alike * walked->is * item(f->kind, f->doubles, 0) % LINE ||
                            alike * walked->os * item(f->kind, f->doubles, 1) % LINE))
        alike *= 2;
    const int64_t each = (int64_t)(elements / (double)walked->n), most = PART / (alike * (each ? each : 1));
    const int64_t part = alike * (most > 1 ? most : 1);
    return 2 * part <= walked->n ? part : walked->n;
}

#define T        double
#define FN(name) name##_f64
#define FFTW(f)  fftw_##f
#include "lib/kernels/fft_type.h"

#define T        float
#define FN(name) name##_f32
#define FFTW(f)  fftwf_##f
#include "lib/kernels/fft_type.h"

/* FFTW_ESTIMATE does not touch the arrays, so a plan can be made of memory that holds results already. */
static void *plan(const lam__fft *f, const layout *l) {
    void *x = (void *)(uintptr_t)f->x;
    lock();
    void *made = f->doubles ? (void *)plan_f64(f->kind, l, x, f->out) : (void *)plan_f32(f->kind, l, x, f->out);
    unlock();
    return made;
}

/* FFTW's planner is not for two threads at once, and to destroy is one of its doings. */
static void destroy(bool doubles, void *unit, void *rest) {
    void *const plans[2] = {unit, rest};
    lock();
    for (int i = 0; i < 2; i++) {
        if (plans[i] && doubles) fftw_destroy_plan(plans[i]);
        if (plans[i] && !doubles) fftwf_destroy_plan(plans[i]);
    }
    unlock();
}

/* ---- plans that are kept ----------------------------------------------------------------------------------------- */

/* FFTW knows addresses by where they lie within 16 bytes. */
static int32_t place_of(const void *p) {
    return (int32_t)((uintptr_t)p % 16);
}

/* What makes two calls use the same plans: kind, sizes, axes, and how their memory is aligned. */
static void key_of(const lam__fft *f, int rank, const int64_t *dims, uint32_t set, lam__fft_key *key) {
    *key = (lam__fft_key){.kind = (int32_t)f->kind,
                          .doubles = f->doubles,
                          .rank = rank,
                          .lies = 16 * place_of(f->x) + place_of(f->out),
                          .set = set};
    memcpy(key->dims, dims, (size_t)rank * sizeof *dims);
}

/* Whether there are plans of this key; f has them then. */
static bool find(const lam__fft_plans *plans, const lam__fft_key *key, lam__fft *f) {
    for (int i = 0; i < LAM__FFT_KEPT; i++) {
        if (memcmp(&plans->kept[i].key, key, sizeof *key)) continue;
        f->unit = plans->kept[i].unit;
        f->rest = plans->kept[i].rest;
        f->kept = true;
        return true;
    }
    return false;
}

/* In the place of the plans that have been there longest. */
static void keep(lam__fft_plans *plans, const lam__fft_key *key, lam__fft *f) {
    const int at = plans->next;
    destroy(plans->kept[at].key.doubles, plans->kept[at].unit, plans->kept[at].rest);
    plans->kept[at].key = *key;
    plans->kept[at].unit = f->unit;
    plans->kept[at].rest = f->rest;
    plans->next = (at + 1) % LAM__FFT_KEPT;
    f->kept = true;
}

/* All is as at the beginning then, so the context may go on using what it has. */
void lam__kernels_fft_forget(lam__fft_plans *plans) {
    for (int i = 0; i < LAM__FFT_KEPT; i++)
        destroy(plans->kept[i].key.doubles, plans->kept[i].unit, plans->kept[i].rest);
    memset(plans, 0, sizeof *plans);
}

/* ---- transforms -------------------------------------------------------------------------------------------------- */

/* The plans of parts of `size` along axis `cut` of l (NULL: all is one part), of which `left` are left over. On failure
 * nothing is left to be ended. */
static bool make_plans(lam__fft *f, layout *l, fftw_iodim64 *cut, int64_t size, int64_t left) {
    if (left) {
        cut->n = left;
        if (!(f->rest = plan(f, l))) return false;
    }
    if (cut) cut->n = size;
    if ((f->unit = plan(f, l))) return true;
    lam__kernels_fft_end(f);
    return false;
}

/* Two plans at most: one for parts of full size, one for what is left over. A transform of all axes is one part. */
bool lam__kernels_fft_begin(lam__fft_kind kind, bool doubles, int rank, const int64_t *dims, uint32_t set, double scale,
                            const void *x, void *out, lam__fft_plans *plans, lam__fft *f) {
    layout l;
    lam__fft_key key;
    fftw_iodim64 *cut = NULL;
    int64_t size = 0, left = 0;
    double elements = 1, along = 1, most = 1;
    lay_out(kind, rank, dims, set, &l);
    *f = (lam__fft){.kind = kind, .doubles = doubles, .results = l.results, .scale = scale, .x = x, .out = out};
    if (l.results == 0) return true;
    /* As doubles: products of sizes may not fit an integer. An element costs a unit, and one for each halving. */
    for (int i = 0; i < rank; i++) elements *= (double)dims[i];
    for (int i = 0; i < l.transformed; i++) {
        along *= (double)l.along[i].n;
        if (most < (double)l.along[i].n) most = (double)l.along[i].n;
    }
    f->parts = 1;
    if (l.walked) {
        cut = &l.over[longest(&l)];
        size = part_of(f, cut, elements);
        left = cut->n % size;
        f->parts = (cut->n + size - 1) / size;
        f->step[0] = size * cut->is * item(kind, doubles, 0);
        f->step[1] = size * cut->os * item(kind, doubles, 1);
    }
    f->cost = elements * (1 + log2(along)) / (double)f->parts;
    /* Plans of longer axes are not kept: lam__kernels_fft_end ends them. */
    if (most > LAM__FFT_LONGEST) plans = NULL;
    if (plans) key_of(f, rank, dims, set, &key);
    if (plans && find(plans, &key, f)) return true;
    if (!make_plans(f, &l, cut, size, left)) return false;
    if (plans) keep(plans, &key, f);
    return true;
}

void lam__kernels_fft_part(const lam__fft *f, int64_t part) {
    void *plan = part == f->parts - 1 && f->rest ? f->rest : f->unit;
    void *x = (char *)(uintptr_t)f->x + part * f->step[0], *out = (char *)f->out + part * f->step[1];
    if (f->doubles) execute_f64(f->kind, plan, x, out);
    else execute_f32(f->kind, plan, x, out);
}

/* Counted in reals, so that real and complex results are one case. */
void lam__kernels_fft_scale(const lam__fft *f, int64_t begin, int64_t end) {
    if (f->scale == 1) return;
    if (f->doubles) scale_f64(f->scale, end - begin, (double *)f->out + begin);
    else scale_f32(f->scale, end - begin, (float *)f->out + begin);
}

/* Plans that a context keeps are left to it. */
void lam__kernels_fft_end(lam__fft *f) {
    if (!f->kept) destroy(f->doubles, f->unit, f->rest);
    f->unit = f->rest = NULL;
}
