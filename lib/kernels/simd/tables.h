/* Functions of one number as polynomials in pieces, for the vector functions of this room: coefficients that are the
 * same for every instruction set, aligned to the widest vectors of them. A table has a row for each power, highest
 * first, and in each row an entry for each piece (simd/exact.h). They are Chebyshev interpolations at 60 digits written
 * out in powers of the distance from the middle of the piece, mostly in units of its width; above each stands what it
 * holds. */
#ifndef LAM_KERNELS_SIMD_TABLES_H
#define LAM_KERNELS_SIMD_TABLES_H

enum { LAM__PIECES = 16 };

/* log over [0.703125, 1.40625): 1/c, rounded to 10 bits behind the point, and -log of that as two numbers, of which
 * the first is a multiple of 2^-42. */
extern const double lam__table_log[3][LAM__PIECES];

/* The same in units of log(2) and log(10). */
extern const double lam__table_log2[3][LAM__PIECES], lam__table_log10[3][LAM__PIECES];

/* Tangents next to k/15, of ten bits behind the point, and their arcs as two numbers. */
extern const double lam__table_atan[3][LAM__PIECES];

/* x^(-1/3) as a polynomial in x for x from 1/4 to 4, by the last bits of the exponent and the first two of the
 * fraction; the rest below 2^-13 of it */
extern const double lam__table_cbrt[3][LAM__PIECES];

/* 2^(k/16) as two numbers, the first rounded to a double. */
extern const double lam__table_exp[2][LAM__PIECES];

/* tanh(x) for x from 0 to 19.2, in x less the middles of the pieces that simd/pow.h describes, the first of them in the
 * thirteenth entry; in the first two pieces tanh(x)/x - 1; the rest below 2^-55.9 of the result. */
extern const double lam__table_tanh[16][LAM__PIECES];

/* log Gamma(x) / ((x - 1)(x - 2)) for x from 1 to 9, in 2 x - 2.5; the rest below 2^-58 */
extern const double lam__table_lgamma[18][LAM__PIECES];

/* digamma(x) / (x - x0), where x0 is its zero, for x from 1 to 9, in 2 x - 2.5; the rest below 2^-58 */
extern const double lam__table_digamma[19][LAM__PIECES];

/* polygamma(1, x) for x from 1 to 9, in 2 x - 2.5; the rest below 2^-58 */
extern const double lam__table_trigamma[20][LAM__PIECES];

/* erf(x) in 2.5 |x|, in the first three pieces erf(x)/x - 1; the rest below 2^-60 */
extern const double lam__table_erf[15][LAM__PIECES];

/* s erfcx(z) for z >= 0, s = z + 0.5 + 2^-20, in 15.5 - 2^-30 - 8/s; the rest below 2^-57 */
extern const double lam__table_erfcx[14][LAM__PIECES];

/* erfcx(z) for z from 0 to 27.6, in pieces whose widths double, from 1.84375/4 on: the slopes in the middles as
 * two numbers too; the rest below 2^-59 of it */
enum { LAM__ERFCX_SLOPES = 16 };
extern const double lam__table_erfcx_near[LAM__ERFCX_SLOPES + 2][LAM__PIECES];

/* sqrt(s) exp(-x) I_0(x) for x >= 0, s = x + 2 + 2^-20, in 15.5 - 2^-30 - 32/s; the rest below 2^-58 */
extern const double lam__table_bessel_0[14][LAM__PIECES];

/* s^(3/2) exp(-x) I_1(x)/x likewise; the rest below 2^-58 */
extern const double lam__table_bessel_1[14][LAM__PIECES];

/* s^(5/2) exp(-x) I_2(x)/x^2 likewise; the rest below 2^-57 */
extern const double lam__table_bessel_2[14][LAM__PIECES];

/* s^(3/2) exp(-x) (I_0(x) - I_1(x)) likewise; s^(5/2) exp(-x) (I_0(x) - I_1(x) - I_1(x)/x)/(x - z) for the zero z of
 * that; the rest below 2^-64 */
extern const double lam__table_bessel_slope_0[18][LAM__PIECES];
extern const double lam__table_bessel_slope_1[18][LAM__PIECES];

/* J_n(x)/x^n over the distances of x from its zeros below 8 (two, two and one), for x from 0 to 8, in 2 x - 0.5; the
 * root of s (J_n(x)^2 + Y_n(x)^2), and s times what the phase of J_n(x) + i Y_n(x) has beyond x - n pi/2 - pi/4, for
 * x >= 8, s = x + 2^-20, in 15.5 - 2^-30 - 128/s; the rest below 2^-59 */
extern const double lam__table_bessel_j_0[12][LAM__PIECES], lam__table_bessel_j_1[12][LAM__PIECES],
    lam__table_bessel_j_2[12][LAM__PIECES];
extern const double lam__table_bessel_size_0[8][LAM__PIECES], lam__table_bessel_size_1[8][LAM__PIECES],
    lam__table_bessel_size_2[8][LAM__PIECES];
extern const double lam__table_bessel_phase_0[10][LAM__PIECES], lam__table_bessel_phase_1[10][LAM__PIECES],
    lam__table_bessel_phase_2[10][LAM__PIECES];

/* s^2 (1/sqrt(pi) - z erfcx(z)) as erfcx; the rest below 2^-58 */
extern const double lam__table_erfcx_slope[16][LAM__PIECES];

/* s exp(x) E_1(x) for x >= 0.5, s = x + 0.5 + 2^-20, in 15.5 - 2^-30 - 16/s; s exp(-x) Ei(x) for x >= 1,
 * s = x + 1 + 2^-20, in 15.5 - 2^-30 - 32/s; the rest below 2^-58 */
extern const double lam__table_exp1[17][LAM__PIECES], lam__table_expi[20][LAM__PIECES];

/* Li2(1 - x)/(1 - x) for x from 0.5 to 2.5, in 8 x - 4.5; the rest below 2^-59 */
extern const double lam__table_spence[14][LAM__PIECES];

/* Si(x)/x and (gamma + log(x) - Ci(x))/x^2 for x from 0 to 4, in 4 x - 0.5; s f(x) and s^2 g(x) for x >= 4, s = x +
 * 2^-20, in 15.5 - 2^-30 - 64/s, where Si(x) is pi/2 - f(x) cos(x) - g(x) sin(x) and Ci(x) f(x) sin(x) - g(x) cos(x);
 * the rest below 2^-58 */
extern const double lam__table_si[10][LAM__PIECES], lam__table_ci[10][LAM__PIECES];
extern const double lam__table_si_f[13][LAM__PIECES], lam__table_si_g[13][LAM__PIECES];

/* pi s f(x) and pi^2 s^3 g(x) for x >= 1, s = x + 2^-20, in 15.5 - 2^-30 - 16/s, where with v = pi/2 x^2 Fresnel's
 * S(x) is 1/2 - f(x) cos(v) - g(x) sin(v) and C(x) 1/2 + f(x) sin(v) - g(x) cos(v); the rest below 2^-59 */
extern const double lam__table_fresnel_f[13][LAM__PIECES], lam__table_fresnel_g[13][LAM__PIECES];

/* s F(x)/x of Dawson's integral F, s^2 F'(x)/(u - u1) and s^3 F''(x)/(x (u - u2)) for x >= 0, where u = x^2, u1 and u2
 * are what it is at zeros, s = u + 8 + 2^-20, in 15.5 - 2^-30 - 128/s; the slopes in the middles as two numbers too;
 * the rest below 2^-57 of it */
extern const double lam__table_dawson[14][LAM__PIECES], lam__table_dawson_slope[15][LAM__PIECES],
    lam__table_dawson_bend[16][LAM__PIECES];

/* y - L where erfc(y) = exp(-L^2), for L from 0.83 to 14.4, in 16.57 - 32/(L + 1.05) with these as doubles; the
 * rest below 2^-55. The last entry goes on to 28 with fewer digits, and is not asked for. */
extern const double lam__table_erfc_inv[15][LAM__PIECES];

/* erf_inv(x)/x for |x| < 1, in -log(1 - x^2) from 0 to 36.05, in pieces whose widths double, from 2.40625/4 on; the
 * rest below 2^-61 of it */
extern const double lam__table_erf_inv[15][LAM__PIECES];

/* 2^(32 j) 2/pi for j = 0, 1, ..., less a multiple of 4, as four numbers: what tells the quarter of the turn in which a
 * huge number lies. */
enum { LAM__TURNS = 31 };
extern const double lam__table_turns[LAM__TURNS][4];

/* Where an integral over the half line is evaluated, and by what the values are multiplied: 3/2 exp(u/2 - exp(-u)) for
 * equally spaced u, and the step times the derivative. Steps of 1/4 from -3.625 on, for f32 of 0.42 from -3.1 on. */
typedef struct lam__nodes {
    int count;
    const double *at, *weight;
} lam__nodes;

extern const lam__nodes lam__nodes_f64, lam__nodes_f32;

#endif
