/* Bessel's J_0, J_1 and J_2 as vector functions, below 1 ULP in f64 of the larger of the result and the size that they
 * have between zeros: below 8 the distances from the zeros that lie there, times what is left; beyond it the size and
 * the cosine of the phase (A&S 9.2.17), both smooth in 1/x, where the phase is reduced by quarters of the turn before
 * it is rounded. f32 goes through f64. */
#ifndef LAM_KERNELS_SIMD_BESSEL_J_H
#define LAM_KERNELS_SIMD_BESSEL_J_H

#include "lib/kernels/simd/gamma.h"
#include "lib/kernels/simd/trig.h"

/* Sine and cosine as sums. */
typedef struct waves64 {
    sum64 sine, cosine;
} waves64;

/* Sine and cosine share the powers of what quarters leave. */
ALWAYS_INLINE waves64 waves_of(f64_turned r) {
    /* Of an odd number of quarters sine and cosine change places; the signs follow from the quarter. */
    const V64 square = r.hi * r.hi;
    const sum64 bend = f64_bend(r);
    const V64 sine = f64_sine_rest(r, square, bend), cosine = f64_cosine_rest(square, bend);
    const M64 odd = -(r.quarters & 1), first = f64_sign_of_turn(r.quarters), second = f64_sign_of_turn(r.quarters + 1);
    return (waves64){{(V64)((M64)either(odd, bend.hi, r.hi) ^ first), (V64)((M64)either(odd, cosine, sine) ^ first)},
                     {(V64)((M64)either(odd, r.hi, bend.hi) ^ second), (V64)((M64)either(odd, sine, cosine) ^ second)}};
}

/* r times the distance of x from a zero that is given in two parts. */
ALWAYS_INLINE sum64 with_zero(sum64 r, V64 x, double zero, double rest) {
    const sum64 away = any_sum(x, splat64(-zero));
    return product_of_sums(r, (sum64){away.hi, away.lo - rest});
}

/* For 0 <= x < 8. */
ALWAYS_INLINE V64 bessel_j_inside(int n, V64 x) {
    /* Half a unit a piece. */
    const place p = place_of(madd(x, splat64(2), splat64(-0.5)));
    sum64 r;
    if (n == 0) {
        r = with_zero(VALUE(p, lam__table_bessel_j_0), x, 0x1.33d152e971b4p+1, -0x1.0f539d7da258ep-53);
        r = with_zero(r, x, 0x1.6148f5b2c2e45p+2, 0x1.75054cd60a517p-54);
    } else if (n == 1) {
        r = with_zero(VALUE(p, lam__table_bessel_j_1), x, 0x1.ea75575af6f09p+1, -0x1.60155a9d1b256p-53);
        r = product_of(with_zero(r, x, 0x1.c0ff5f3b4725p+2, -0x1.b226d9d243827p-54), x);
    } else {
        r = with_zero(VALUE(p, lam__table_bessel_j_2), x, 0x1.48ae0929c0e4fp+2, -0x1.1b0d5ffbcb2b5p-52);
        r = product_of(product_of(r, x), x);
    }
    return r.hi + r.lo;
}

#define OF_ORDER(n, p, table) ((n) == 0 ? VALUE(p, table##_0) : (n) == 1 ? VALUE(p, table##_1) : VALUE(p, table##_2))

/* For x >= 8: the phase is x - n pi/2 - pi/4 and a little, and its cosine the sine a quarter further on. Of what
 * quarters leave of x, pi/4 is taken off, or given back where that would be less than -pi/4. */
ALWAYS_INLINE V64 bessel_j_beyond(int n, V64 x) {
    /* The little more keeps x = 8 inside of the table. */
    const sum64 shifted = any_sum(x, splat64(0x1p-20)), inverse = inverse_of(shifted);
    const place p = place_of_inverse(15.5 - 0x1p-30, 128, inverse);
    const sum64 size = quotient(OF_ORDER(n, p, lam__table_bessel_size), root_of(shifted));
    const f64_turned turned = f64_turned_of(x);
    const sum64 bend = product_of_sums(OF_ORDER(n, p, lam__table_bessel_phase), inverse);
    const sum64 angle = plus((sum64){turned.hi, turned.lo}, bend);
    /* -1 where pi/4 is given back: the wave is then one of a quarter less. */
    const M64 back = (M64)(angle.hi < 0), sign = ~back & (M64)(-(V64){0});
    const sum64 eighth = {(V64)((M64)splat64(0x1.921fb54442d18p-1) ^ sign),
                          (V64)((M64)splat64(0x1.1a62633145c07p-55) ^ sign)};
    const sum64 phase = plus(angle, eighth);
    const sum64 wave = waves_of((f64_turned){phase.hi, phase.lo, turned.quarters + (1 - n) + back}).sine;
    const sum64 r = product_of_sums(size, wave);
    return r.hi + r.lo;
}

/* Next to nothing and far out one by one. */
ALWAYS_INLINE V64 f64_bessel_j(V64 x, int n) {
    const V64 size = f64_magnitude(x), eight = splat64(8);
    /* Below 2^-400 powers of x would underflow, and beyond 2^900 the reduction is done one by one. */
    const M64 plain = ((M64)(size >= 0x1p-400) & (M64)(size <= 0x1p900)) | (M64)(x == 0), inside = (M64)(size < 8);
    const V64 y = either(plain, size, eight);
    V64 r = {0};
    /* Vectors whose lanes are on one side alone leave out the other. */
    if (any64(inside)) r = bessel_j_inside(n, either(inside, y, (V64){0}));
    if (any64(~inside)) r = either(inside, r, bessel_j_beyond(n, either(inside, eight, y)));
    if (n & 1) r = (V64)((M64)r ^ ((M64)x & (M64)(-(V64){0})));
    return patch_special(r, x, ~plain, lam__special_integrals, LAM__INTEGRAL_CODE(LAM__BESSEL_J, n));
}

/* One line per member. */
/* clang-format off */
ALWAYS_INLINE V64 f64_bessel_j0(V64 x) { return f64_bessel_j(x, 0); }
ALWAYS_INLINE V64 f64_bessel_j1(V64 x) { return f64_bessel_j(x, 1); }
ALWAYS_INLINE V64 f64_bessel_j2(V64 x) { return f64_bessel_j(x, 2); }
ALWAYS_INLINE V32 f32_bessel_j0(V32 x) { return f32_through1(x, f64_bessel_j0); }
ALWAYS_INLINE V32 f32_bessel_j1(V32 x) { return f32_through1(x, f64_bessel_j1); }
ALWAYS_INLINE V32 f32_bessel_j2(V32 x) { return f32_through1(x, f64_bessel_j2); }
/* clang-format on */

#endif
