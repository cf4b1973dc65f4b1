/* Fourier transforms by FFTW. In a build without it this file has no implementation and nobody calls it. */
#ifndef LAM_KERNELS_FFT_H
#define LAM_KERNELS_FFT_H

#include "lib/kernels/kernels.h"

typedef enum lam__fft_kind {
    LAM__FFT_FORWARD, /* complex to complex, exp(-i ...) */
    LAM__FFT_INVERSE, /* complex to complex, exp(+i ...) */
    LAM__FFT_REAL,    /* n reals to n/2 + 1 coefficients, along one axis */
    LAM__FFT_HALF     /* n/2 + 1 coefficients to n reals, along one axis; leaves x as it is */
} lam__fft_kind;

/* What a plan depends on: the transform, and where within 16 bytes x and out lie. Without gaps, compared as bytes. */
typedef struct lam__fft_key {
    int32_t kind, doubles, rank, lies; /* rank 0: there is no plan */
    int64_t set, dims[LAM__MAX_AXES];  /* those after `rank` are 0 */
} lam__fft_key;

/* NOTE [kept plans]
 * Making a plan takes longer than a transform of some hundred elements, so a context keeps the plans of its last
 * transforms, the oldest one making room. Those with an axis of more than LAM__FFT_LONGEST elements are not kept, since
 * their tables are as long as the axis and they cost more than their plan: what is kept is bounded. All zero: nothing
 * is kept. */
enum { LAM__FFT_KEPT = 16, LAM__FFT_LONGEST = 1 << 14 };

typedef struct lam__fft_plans {
    struct {
        lam__fft_key key;
        void *unit, *rest;
    } kept[LAM__FFT_KEPT];
    int next; /* what is replaced next */
} lam__fft_plans;

/* A transform in parts that do not depend on each other; fft.c knows. */
typedef struct lam__fft {
    lam__fft_kind kind;
    bool doubles;
    void *unit, *rest; /* plans: of each part, and of what is left over; NULL: nothing is */
    bool kept;         /* the plans belong to a lam__fft_plans */
    int64_t parts;
    double cost;     /* of each, in units of lam__team_run */
    int64_t step[2]; /* bytes from a part to the next one, of x and of out */
    int64_t results; /* reals in out */
    double scale;
    const void *x;
    void *out;
} lam__fft;

/* out = scale * transform of x along the axes of `set`; both contiguous, in doubles or floats. dims are those of the
 * side with n elements, and positive along the axes. Begun and ended by one thread; parts in any order, then the scale
 * for reals [begin, end) of the result. Plans are looked for among `plans`, and kept there, unless that is NULL. False
 * if FFTW makes no plan. */
bool lam__kernels_fft_begin(lam__fft_kind kind, bool doubles, int rank, const int64_t *dims, uint32_t set, double scale,
                            const void *x, void *out, lam__fft_plans *plans, lam__fft *f);
void lam__kernels_fft_part(const lam__fft *f, int64_t part);
void lam__kernels_fft_scale(const lam__fft *f, int64_t begin, int64_t end);
void lam__kernels_fft_end(lam__fft *f);

/* Ends all plans that are kept. */
void lam__kernels_fft_forget(lam__fft_plans *plans);

#endif
