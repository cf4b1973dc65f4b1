/* Polynomials: which of the compiled sets serves this machine. The loops are those of simd/polynomial.c. */
#include "lib/kernels/polynomial.h"

#include "lib/kernels/simd/simd.h"

#include <string.h>

extern const lam__polynomials lam__polynomials_v1;
#if defined(LAM__HAVE_X86_64_LEVELS)
extern const lam__polynomials lam__polynomials_v3, lam__polynomials_v4;
#endif

/* The set of the elementwise loops: what chooses those chooses these. */
static const lam__polynomials *chosen(void) {
#if defined(LAM__HAVE_X86_64_LEVELS)
    const lam__simd *simd = lam__elementwise_simd();
    if (simd == &lam__simd_v4) return &lam__polynomials_v4;
    if (simd == &lam__simd_v3) return &lam__polynomials_v3;
#endif
    return &lam__polynomials_v1;
}

/* There are two, of f64 and of f32; whoever calls has brought other dtypes to one of these. */
lam__loop *lam__kernels_polynomial(lam_dtype dtype) {
    return chosen()->value[dtype == LAM_F32];
}

/* A vector of sums for each power, of whichever width. */
size_t lam__kernels_power_sums_bytes(int64_t count) {
    enum { WIDEST = 64 }; /* bytes of a vector */
    return (size_t)count * WIDEST;
}

/* Sums of no elements are 0, so out is cleared whatever n is. */
void lam__kernels_power_sums(lam_dtype dtype, int64_t n, const void *g, const void *x, int64_t count, void *out,
                             void *room) {
    memset(out, 0, (size_t)count * (dtype == LAM_F32 ? sizeof(float) : sizeof(double)));
    if (count) chosen()->sums[dtype == LAM_F32](n, g, x, count, out, room);
}
