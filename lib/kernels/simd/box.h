/* Box and Cox's function (x^y - 1)/y of x or of 1 + x and its slopes as vector functions. With l = log(x) as a sum and
 * z = y l it is (exp(z) - 1)/y, where z is small l itself; by y l^2/2 and more, far out ((z - 1) exp(z) + 1)/y^2; by x
 * it is exp((y - 1) l). Nothing is rounded before the last product. f32 goes through f64. */
#ifndef LAM_KERNELS_SIMD_BOX_H
#define LAM_KERNELS_SIMD_BOX_H

#include "lib/kernels/simd/integrals.h"
#include "lib/kernels/simd/logs.h"

#include "lib/kernels/special/special.h"

/* The logarithm, y, and which lanes are as usual; the others have log(x) = 0 and y = 1, and are done one by one. */
typedef struct boxed64 {
    sum64 log;
    V64 y;
    M64 plain;
} boxed64;

ALWAYS_INLINE boxed64 boxed_of(V64 x, V64 y, int plus) {
    const V64 zero = {0}, one = zero + 1;
    /* Of 1 + x without the sum's rounding. */
    const sum64 log = plus ? log1p_anywhere(x) : log_anywhere(x);
    /* z up to 700, so that its exponential is a number; log(x) is finite and y not so large that its square is
     * infinite. */
    const M64 plain =
        (M64)(f64_magnitude(log.hi) <= 1000) & (M64)(f64_magnitude(y) <= 0x1p400) & (M64)(log.hi * y <= 700);
    return (boxed64){either_sum(plain, log, (sum64){zero, zero}), either(plain, y, one), plain};
}

/* Lanes that are not plain. */
static __attribute__((noinline)) V64 box_one_by_one(V64 r, V64 x, V64 y, M64 plain, int64_t code) {
    for (int i = 0; i < LANES64; i++)
        if (!plain[i]) r[i] = lam__special_box_cox(x[i], y[i], code);
    return r;
}

/* z = y l, on the left no further than where its exponential is nothing beside 1. Beyond -60 the exponential is
 * below 2^-86, nothing beside 1. */
ALWAYS_INLINE sum64 turns_of(boxed64 b) {
    const sum64 z = product_of(b.log, b.y);
    const M64 far = (M64)(z.hi < -60);
    return either_sum(far, (sum64){splat64(-60), {0}}, z);
}

/* exp(z) - 1 from that of the first part of z, over y. */
ALWAYS_INLINE V64 box_of(boxed64 b) {
    const sum64 z = turns_of(b);
    /* Where z is nothing beside 1 the function is log(x), and 1 stands for z so that nothing is divided by 0. */
    const M64 small = (M64)(f64_magnitude(z.hi) < 0x1p-60);
    V64 k;
    sum64 e = f64_expm1_parts(either(small, splat64(1), z.hi), &k);
    /* exp(z) - 1 moves by exp(z) times the second part of z. */
    e.lo = madd(z.lo, (e.hi + e.lo) + two_to(most_of(splat64(-200), -k)), e.lo); /* whose parts overlap */
    const sum64 q = quotient(e, (sum64){either(small, splat64(1), b.y), {0}});
    return either(small, b.log.hi, scaled(q.hi + q.lo, k));
}

/* exp((y - 1) log(x)), with y - 1 as a sum: it may cancel. */
ALWAYS_INLINE V64 box_by_x_of(boxed64 b) {
    const sum64 exponent = any_sum(b.y, splat64(-1));
    sum64 e = product_of(b.log, exponent.hi);
    e.lo = madd(b.log.hi, exponent.lo, e.lo);
    return exp_limited(e);
}

/* exprel' of z times l^2, next to 0 by its series. */
ALWAYS_INLINE V64 box_by_y_of(boxed64 b) {
    const sum64 z = turns_of(b);
    /* Near 0 the top is a difference of numbers near 1, so the series takes over; vectors of such lanes have no
     * other part. */
    const M64 near = (M64)(f64_magnitude(z.hi) <= 0.25);
    const V64 w = either(near, z.hi, (V64){0});
    const sum64 square = product_of_sums(b.log, b.log);
    const V64 inner = madd(square.hi * w, POWERS(w, EXPREL_SLOPE), 0.5 * square.lo) + 0.5 * square.hi;
    if (!any64(~near)) return inner;
    V64 k;
    const sum64 e = exp_of(z, &k), less = plus(z, (sum64){splat64(-1), {0}});
    const sum64 top = plus(product_of_sums(e, less), (sum64){two_to(most_of(splat64(-200), -k)), {0}});
    const V64 y = either(near, splat64(1), b.y);
    /* By y^2, of which near lanes have 1. */
    const sum64 q = quotient(top, product(y, y));
    return either(near, inner, scaled(q.hi + q.lo, k));
}

/* A member by its orders, of 1 + x where `plus`. */
ALWAYS_INLINE V64 box_member(V64 x, V64 y, int n, int m, int plus) {
    const boxed64 b = boxed_of(x, y, plus);
    const V64 r = n ? box_by_x_of(b) : m ? box_by_y_of(b) : box_of(b);
    return any64(~b.plain) ? box_one_by_one(r, x, y, b.plain, LAM__BOX_CODE(n, m, plus)) : r;
}

/* One line per member. */
/* clang-format off */
#define MEMBER(name, n, m, plus) \
    ALWAYS_INLINE V64 f64_##name(V64 x, V64 y) { return box_member(x, y, n, m, plus); } \
    ALWAYS_INLINE V32 f32_##name(V32 x, V32 y) { return f32_through2(x, y, f64_##name); }
MEMBER(boxcox, 0, 0, 0)
MEMBER(boxcox_by_x, 1, 0, 0)
MEMBER(boxcox_by_y, 0, 1, 0)
MEMBER(boxcox1p, 0, 0, 1)
MEMBER(boxcox1p_by_x, 1, 0, 1)
MEMBER(boxcox1p_by_y, 0, 1, 1)
#undef MEMBER
/* clang-format on */

#endif
