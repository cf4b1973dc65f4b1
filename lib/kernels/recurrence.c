/* First-order recurrences along the middle axis of [outer, n, inner], contiguous: the linear one, y_i = a_i y_(i-1)
 * + b_i, and the running logarithm of a sum of exponentials. The second keeps the largest term so far apart from the
 * sum of the others relative to it, in double, so that it neither overflows nor loses small terms. */
#include "lib/kernels/cplx.h"
#include "lib/kernels/recurrence_simd.h"

#include <math.h>

/* Where a lane begins and how far its neighbours are, from the front or from the back. Strides in elements; a lane from
 * the back begins at its last one. */
typedef struct lane_walk {
    int64_t start, step;
} lane_walk;

/* From the back the step is negative, so that one loop does both. */
static lane_walk walk_of(int64_t n, int64_t inner, bool reverse) {
    return reverse ? (lane_walk){(n - 1) * inner, -inner} : (lane_walk){0, inner};
}

/* exp(x_0) + exp(x_1) + ... as sum * exp(largest); nothing yet: sum 0. */
typedef struct exp_sum {
    double largest, sum;
} exp_sum;

/* Gives the logarithm of the sum with x in it. A new largest term scales down what there is and counts 1 itself, so no
 * exponential is above 1; -inf adds nothing, and NaN comes through the last branch into the sum and stays. */
static double exp_sum_add(exp_sum *s, double x) {
    if (x > s->largest) {
        s->sum = s->sum * exp(s->largest - x) + 1;
        s->largest = x;
    } else if (x != (double)-INFINITY) {
        s->sum += x == s->largest ? 1 : exp(x - s->largest);
    }
    return s->largest + log(s->sum);
}

#define T        double
#define FN(name) name##_f64
#include "lib/kernels/recurrence_type.h"

#define T        float
#define FN(name) name##_f32
#include "lib/kernels/recurrence_type.h"

/* The set of the elementwise loops. All of them give the same bits. */
static const lam__recurrence_set *loops(void) {
#if defined(LAM__HAVE_X86_64_LEVELS)
    const lam__simd *simd = lam__elementwise_simd();
    if (simd == &lam__simd_v4) return &lam__recurrence_simd_v4;
    if (simd == &lam__simd_v3) return &lam__recurrence_simd_v3;
#endif
    return &lam__recurrence_simd_v1;
}

void lam__kernels_recurrence(lam_dtype dtype, const lam__lanes *s, bool reverse, const void *a, const void *b,
                             void *out) {
    if (s->n == 0) return;
    /* Complex numbers go one by one. */
    if (lam__cplx_is(dtype)) lam__cplx_recurrence(dtype, s, reverse, a, b, out);
    else if (dtype == LAM_F64) loops()->f64(s, reverse, a, b, out);
    else loops()->f32(s, reverse, a, b, out);
}

void lam__kernels_cumlogsumexp(lam_dtype dtype, const lam__lanes *s, bool reverse, const void *x, void *out) {
    if (s->n == 0) return;
    if (dtype == LAM_F64) cumlogsumexp_f64(s, reverse, x, out);
    else cumlogsumexp_f32(s, reverse, x, out);
}
